package share_test

import (
	"errors"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestAllocates: nothing allocates but Allocate, which makes the list that it returns.
func TestAllocates(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	r := testkit.Rand(33)
	devices := allocEight(3)
	account, reader := accountOf(t, nil, devices, devices), new(share.Account)
	account.GPUs() // is kept in step from now on
	reader.CopyFrom(account)
	states, minors := account.States(nil, 1), []int32{}
	taken := share.Allocation{Kind: device.KindGPU, Devices: []share.Allocated{{Minor: 5, Amounts: allocHalf}, {Minor: 6, Amounts: allocHalf}}}
	request := share.AllocRequest{Requirement: share.Requirement{Kind: device.KindGPU, PerInstance: allocHalf, Count: 2}, Preferred: []int32{3}}
	scorer := allocScorer(t, share.MostAllocated, true)
	bound := scorer.Bind(account)
	allocate := func(policy share.Policy) func() error {
		return func() error {
			request.Policy = policy
			_, err := bound.Allocate(1, request)
			return err
		}
	}
	calls := map[string]func() error{
		"Commit and Release": func() error { return errors.Join(account.Commit(1, taken), account.Release(1, taken)) },
		"States":             func() error { states = account.States(states[:0], 1); return nil },
		"Set":                func() error { return account.Set(1, devices) },
		"CopyFrom":           func() error { reader.CopyFrom(account); return nil },
		"Minors":             func() error { minors = account.Minors(minors, 1, []int32{3, 1}); return nil },
		"Allocate, by score": allocate(share.ByScore),
		"Allocate, packed":   allocate(share.PackTopology),
		"ScoreDevice": func() error {
			_, err := scorer.ScoreDevice(allocHalf, devices[0].Total, devices[0].Free)
			return err
		},
	}
	for _, large := range []int{0, 38} {
		c := newBoundCase(t, r, 100, 8, large)
		account := accountOf(t, c.nodes...)
		b := c.scorer.Bind(account)
		nodes, devices := make([]int64, len(c.nodes)), make([]int64, account.Devices())
		var fits vector.Mask
		calls[map[bool]string{false: "kernels", true: "no kernels"}[large > 0]] = func() error {
			_, _, best := b.Best(c.needs, nil, vector.TieLowest())
			return errors.Join(b.Score(nodes, c.needs, nil), b.ScoreDevices(devices, c.needs[0].PerInstance, nil), b.Fit(&fits, c.needs), best)
		}
	}
	testkit.EachImpl(t, func(t *testing.T) {
		for name, call := range calls {
			most := 0.0
			if name[0] == 'A' {
				most = 1
			}
			if n := testing.AllocsPerRun(10, func() {
				if err := call(); err != nil {
					t.Error(name, err)
				}
			}); n > most {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}
