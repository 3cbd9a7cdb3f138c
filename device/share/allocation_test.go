package share_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestRenumbered: a GPU fell off, and the driver numbers the others anew. Devices are found
// by their UUID where both sides have one, else by their minor.
func TestRenumbered(t *testing.T) {
	gpu := func(minor int32, uuid string) share.State {
		return share.State{Kind: device.KindGPU, Minor: minor, UUID: uuid, Total: allocWhole, Free: allocWhole}
	}
	pod := func(minor int32, uuid string) share.Allocation {
		return share.Allocation{Kind: device.KindGPU, Devices: []share.Allocated{{Minor: minor, UUID: uuid, Amounts: allocWhole}}}
	}
	nic := share.State{Kind: device.KindRDMA, Minor: 1, UUID: "B", Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: 100}}
	for _, c := range []struct {
		name  string
		node  []share.State
		pod   share.Allocation
		taken int // the device that is no longer free; -1: it is gone
	}{
		{"renumbered", []share.State{gpu(0, "B"), gpu(1, "C")}, pod(1, "B"), 0},
		{"gone, and another one has its minor", []share.State{gpu(0, "B"), gpu(1, "C")}, pod(0, "A"), -1},
		{"moved behind others", []share.State{gpu(0, "B"), gpu(1, "C"), gpu(2, "A")}, pod(0, "A"), 2},
		{"an allocation without a UUID", []share.State{gpu(0, "B"), gpu(1, "C")}, pod(1, ""), 1},
		{"a node without UUIDs", []share.State{gpu(0, ""), gpu(1, "")}, pod(1, "B"), 1},
		{"a node with some, found by UUID", []share.State{gpu(0, ""), gpu(1, "A")}, pod(0, "A"), 1},
		{"a node with some, found by minor", []share.State{gpu(0, ""), gpu(1, "C")}, pod(0, "A"), 0},
		{"another kind", []share.State{nic, gpu(0, "C")}, pod(1, "B"), -1},
	} {
		account := accountOf(t, c.node)
		var gone *share.GoneError
		err := account.Commit(0, c.pod)
		if isGone := errors.As(err, &gone); isGone != (c.taken < 0) || err != nil && !isGone {
			t.Errorf("%s: error %v", c.name, err)
		}
		for i, d := range account.States(nil, 0) {
			if free := d.Free == d.Total; free == (i == c.taken) {
				t.Errorf("%s: device %d has %v free", c.name, i, d.Free)
			}
		}
		if c.taken >= 0 && account.GPUs().Pods(0)[1] != 1 {
			t.Errorf("%s: pods %v", c.name, account.GPUs().Pods(0))
		}
		if err := account.Release(0, c.pod); err != nil && c.taken >= 0 {
			t.Errorf("%s: error %v", c.name, err)
		}
		if diff := cmp.Diff(c.node, account.States(nil, 0)); diff != "" {
			t.Errorf("%s, released: %s", c.name, diff)
		}
	}
	account := accountOf(t, []share.State{gpu(0, "B"), gpu(1, "C")})
	if err := account.Commit(0, pod(0, "A")); err == nil || err.Error() != "share: the node no longer has gpu 0 (A)" {
		t.Errorf("error %v", err)
	}
}
