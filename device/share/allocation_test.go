package share_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
)

func TestCommitRelease(t *testing.T) {
	s := allocScorer(t, share.LeastAllocated, false)
	node := append(allocGPUs(100, 50), allocNIC(0, 100, -1, ""), allocNIC(1, 100, -1, ""))
	before := slices.Clone(node)

	a, err := allocate(s, share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUCore: 30}, Count: 2}}, node)
	if err != nil {
		t.Fatal(err)
	}
	want := share.Allocation{Kind: device.KindGPU, Devices: []share.Allocated{
		{Minor: 0, Amounts: share.Amounts{share.GPUCore: 30}},
		{Minor: 1, Amounts: share.Amounts{share.GPUCore: 30}},
	}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if err := commit(node, a); err != nil {
		t.Fatal(err)
	}
	if node[0].Free[share.GPUCore] != 70 || node[1].Free[share.GPUCore] != 20 || node[2].Free[share.RDMA] != 100 {
		t.Errorf("committed: %v", node)
	}

	committed := slices.Clone(node)
	var refusal *share.NotEnoughError
	if err := commit(node, a); !errors.As(err, &refusal) {
		t.Errorf("second Commit: error %v", err)
	} else if diff := cmp.Diff(&share.NotEnoughError{Kind: "gpu", Want: 2, Got: 1, Reasons: []share.Reason{
		{Cause: share.CauseInsufficient, Resource: share.GPUCore, Devices: 1, Want: 30, Free: 20}}}, refusal); diff != "" {
		t.Errorf("second Commit: %s", diff)
	}
	if diff := cmp.Diff(committed, node); diff != "" {
		t.Errorf("refused, but changed: %s", diff)
	}

	if err := release(node, a); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, node); diff != "" {
		t.Errorf("released: %s", diff)
	}
	if err := release(node, a); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("second Release: error %v", err)
	}
	if diff := cmp.Diff(before, node); diff != "" {
		t.Errorf("refused, but changed: %s", diff)
	}
}

func TestReleaseLimits(t *testing.T) {
	a := share.Allocation{Kind: "gpu", Devices: []share.Allocated{{Minor: 0, Amounts: share.Amounts{share.GPUCore: 100}}}}
	full := []share.State{{Kind: "gpu", Total: share.Amounts{share.GPUCore: 100}}} // nothing free
	if err := release(full, a); err != nil || full[0].Free[share.GPUCore] != 100 {
		t.Errorf("free %v, error %v", full[0].Free, err)
	}
	a.Devices[0].Amounts[share.GPUCore] = math.MaxInt64
	if err := release(full, a); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("more than an int64: error %v", err)
	}
	if err := commit(nil, share.Allocation{}); err != nil {
		t.Errorf("nothing committed: error %v", err)
	}
	if err := release(nil, share.Allocation{}); err != nil {
		t.Errorf("nothing released: error %v", err)
	}
}

// TestGone: what is left of an allocation stays taken when devices are gone.
func TestGone(t *testing.T) {
	whole := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocWhole, Count: 4}}
	node := allocEight()
	account := accountOf(t, node)
	bound := (*share.Scorer)(nil).Bind(account)
	var pods []share.Allocation
	for range 2 {
		pod, err := bound.Allocate(0, whole)
		if err != nil {
			t.Fatal(err)
		}
		if err := account.Commit(0, pod); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	}

	if err := account.Set(0, node[:7]); err != nil {
		t.Fatal(err)
	}
	if err := account.Commit(0, pods[0]); err != nil {
		t.Error(err)
	}
	var gone *share.GoneError
	if err := account.Commit(0, pods[1]); !errors.As(err, &gone) || err.Error() != "share: the node no longer has gpu 7" || !slices.Equal(gone.Allocations[0].Minors(), []int32{7}) {
		t.Errorf("error %v", err)
	}
	whole.Count = 1
	if _, err := bound.Allocate(0, whole); err == nil {
		t.Error("a device was given again")
	}
	if err := account.Release(0, pods[1]); !errors.As(err, &gone) {
		t.Errorf("error %v", err)
	}
	whole.Count = 3
	if got, err := bound.Allocate(0, whole); err != nil || !slices.Equal(got.Minors(), []int32{4, 5, 6}) {
		t.Errorf("%v, error %v", got.Minors(), err)
	}
	if err := account.Release(0, pods[1]); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("released twice: error %v", err)
	}
	if err := account.Commit(0, pods[1], pods[0]); !errors.As(err, new(*share.NotEnoughError)) { // nothing of the first either
		t.Errorf("error %v", err)
	}
	if got, err := bound.Allocate(0, whole); err != nil || !slices.Equal(got.Minors(), []int32{4, 5, 6}) {
		t.Errorf("%v, error %v", got.Minors(), err)
	}
}
