package share_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/internal/testkit"
)

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
		pod := testkit.Must(bound.Allocate(0, whole))
		testkit.Check(account.Commit(0, pod))
		pods = append(pods, pod)
	}

	testkit.Check(account.Set(0, node[:7]))
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
