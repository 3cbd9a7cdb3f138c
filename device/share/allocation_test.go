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

// A negative amount is refused before anything changes.
func TestCommitNegative(t *testing.T) {
	negative := share.Allocation{Kind: "gpu", Devices: []share.Allocated{{Minor: 1, Amounts: share.Amounts{share.GPUCore: -50}}}}
	taken := share.Allocation{Kind: "gpu", Devices: []share.Allocated{{Minor: 0, Amounts: share.Amounts{share.GPUCore: 50}}}}
	const want = "share: invalid amount: gpu 1: koordinator.sh/gpu-core: -50: must be 0 percent of a device or more"
	for call, do := range map[string]func([]share.State, ...share.Allocation) error{"Commit": commit, "Release": release} {
		devices := allocGPUs(100, 50)
		if err := do(devices, taken, negative); err == nil || err.Error() != want {
			t.Errorf("%s: error %v", call, err)
		}
		if diff := cmp.Diff(allocGPUs(100, 50), devices); diff != "" {
			t.Errorf("%s: %s", call, diff)
		}
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

// All of several allocations or none, amounts of one device after each other.
func TestCommitAll(t *testing.T) {
	take := func(kind string, minor int32, r share.Resource, amount int64) share.Allocation {
		return share.Allocation{Kind: kind, Devices: []share.Allocated{{Minor: minor, Amounts: amountOf(r, amount)}}}
	}
	node := append(allocGPUs(100, 50), allocNIC(0, 100, -1, ""))
	before := slices.Clone(node)
	gpu, half, nic := take(device.KindGPU, 0, share.GPUCore, 60), take(device.KindGPU, 0, share.GPUCore, 40), take(device.KindRDMA, 0, share.RDMA, 30)

	for _, all := range [][]share.Allocation{{gpu, half, nic}, {nic, half, gpu}, {}} {
		if err := commit(node, all...); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{0, 50, 70} {
			name := []share.Resource{share.GPUCore, share.GPUCore, share.RDMA}[i]
			if len(all) == 0 {
				want = before[i].Free[name]
			}
			if node[i].Free[name] != want {
				t.Errorf("%v: %d free of device %d, want %d", all, node[i].Free[name], i, want)
			}
		}
		if err := release(node, all...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, node); diff != "" {
			t.Errorf("released: %s", diff)
		}
	}

	var refusal *share.NotEnoughError
	if err := commit(node, nic, gpu, gpu, take(device.KindFPGA, 0, share.FPGA, 1)); !errors.As(err, &refusal) {
		t.Errorf("one too many: error %v", err)
	} else if diff := cmp.Diff(&share.NotEnoughError{Kind: "gpu", Want: 1, Reasons: []share.Reason{
		{Cause: share.CauseInsufficient, Resource: share.GPUCore, Devices: 1, Want: 60, Free: 40}}}, refusal); diff != "" {
		t.Errorf("one too many: %s", diff)
	}
	if err := commit(node, gpu); err != nil {
		t.Fatal(err)
	}
	committed := slices.Clone(node)
	if err := release(node, gpu, half); !errors.Is(err, share.ErrInvalidUnit) {
		t.Errorf("one too many: error %v", err)
	}
	memory := share.Allocation{Kind: device.KindGPU, Devices: []share.Allocated{{Minor: 1, Amounts: share.Amounts{share.GPUMemory: 8 * allocGiB}}}}
	err := release(node, gpu, memory)
	if want := "share: invalid amount: gpu 1: koordinator.sh/gpu-memory: 8Gi given back to 4Gi free: must come to at most the total of 8Gi: released twice, or never committed"; err == nil || err.Error() != want {
		t.Errorf("text %v", err)
	}
	if diff := cmp.Diff(committed, node); diff != "" {
		t.Errorf("refused, but changed: %s", diff)
	}
}

// amountOf is a request for one resource.
func amountOf(r share.Resource, amount int64) (req share.Amounts) {
	req[r] = amount
	return req
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
