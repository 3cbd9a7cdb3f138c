package share_test

import (
	"testing"

	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
)

// accountOf returns an account of nodes.
func accountOf(t testing.TB, nodes ...[]share.State) *share.Account {
	t.Helper()
	var a share.Account
	for k, devices := range nodes {
		testkit.Check(a.Set(k, devices))
	}
	return &a
}

// bind binds a scorer to an account of one node.
func bind(s *share.Scorer, devices []share.State) (*share.Bound, *share.Account, error) {
	var a share.Account
	if err := a.Set(0, devices); err != nil {
		return nil, nil, err
	}
	return s.Bind(&a), &a, nil
}

// The functions below ask about the devices of one node.

func scoreNode(s *share.Scorer, needs []share.Requirement, devices []share.State) (int64, error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return 0, err
	}
	scores := make([]int64, 1)
	err = b.Score(scores, needs, nil)
	return scores[0], err
}

func explainNode(s *share.Scorer, needs []share.Requirement, devices []share.State) (string, error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return "", err
	}
	return b.Explain(0, needs)
}

func allocate(s *share.Scorer, req share.AllocRequest, devices []share.State) (share.Allocation, error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return share.Allocation{}, err
	}
	return b.Allocate(0, req)
}

func explainAllocation(s *share.Scorer, req share.AllocRequest, devices []share.State) (share.AllocationExplanation, error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return share.AllocationExplanation{}, err
	}
	return b.AllocationExplained(0, req)
}

func allocateJoint(s *share.Scorer, primary, secondary share.AllocRequest, devices []share.State, joint share.Joint) (first, second share.Allocation, err error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return first, second, err
	}
	return b.AllocateJoint(0, primary, secondary, joint)
}

func explainJoint(s *share.Scorer, primary, secondary share.AllocRequest, devices []share.State, joint share.Joint) (share.JointExplanation, error) {
	b, _, err := bind(s, devices)
	if err != nil {
		return share.JointExplanation{}, err
	}
	return b.JointExplained(0, primary, secondary, joint)
}

// commit and release write what is left to devices.

func commit(devices []share.State, allocations ...share.Allocation) error {
	return change(devices, (*share.Account).Commit, allocations)
}

func release(devices []share.State, allocations ...share.Allocation) error {
	return change(devices, (*share.Account).Release, allocations)
}

func change(devices []share.State, do func(*share.Account, int, ...share.Allocation) error, allocations []share.Allocation) error {
	_, a, err := bind(nil, devices)
	if err != nil {
		return err
	}
	err = do(a, 0, allocations...)
	a.States(devices[:0], 0)
	return err
}
