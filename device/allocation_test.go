package device_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/device"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestCommitRelease(t *testing.T) {
	s := allocScorer(t, device.LeastAllocated, false)
	node := append(allocGPUs(100, 50), allocNIC(0, 100, -1, ""), allocNIC(1, 100, -1, ""))
	before := cloneStates(node)
	copied := node[0]

	a, err := s.Allocate(device.AllocRequest{Kind: device.KindGPU, PerInstance: device.Request{device.GPUCore: 30, device.RDMA: 0}, Count: 2}, node)
	if err != nil {
		t.Fatal(err)
	}
	want := device.Allocation{Kind: device.KindGPU, Devices: []device.Allocated{
		{Minor: 0, Amounts: device.Request{device.GPUCore: 30}},
		{Minor: 1, Amounts: device.Request{device.GPUCore: 30}},
	}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if err := a.Commit(node); err != nil {
		t.Fatal(err)
	}
	if node[0].Free[device.GPUCore] != 70 || node[1].Free[device.GPUCore] != 20 || node[2].Free[device.RDMA] != 100 {
		t.Errorf("committed: %v", node)
	}
	if copied.Free[device.GPUCore] != 100 {
		t.Error("Commit wrote into a map that a copy of the State has too")
	}

	committed := cloneStates(node)
	var refusal *device.NotEnoughError
	if err := a.Commit(node); !errors.As(err, &refusal) {
		t.Errorf("second Commit: error %v", err)
	} else if diff := cmp.Diff(&device.NotEnoughError{Kind: "gpu", Want: 2, Got: 1, Reasons: []device.Reason{
		{Cause: device.CauseInsufficient, Resource: device.GPUCore, Devices: 1, Want: 30, Free: 20}}}, refusal); diff != "" {
		t.Errorf("second Commit: %s", diff)
	}
	gone := cloneStates(node[1:])
	if err := a.Commit(gone); !errors.As(err, &refusal) || refusal.Reasons[0].Cause != device.CauseAbsent {
		t.Errorf("Commit to a device that is gone: error %v", err)
	}
	var fault *field.Error
	if err := a.Release(gone); !errors.As(err, &fault) || fault.Type != field.ErrorTypeNotFound {
		t.Errorf("Release of a device that is gone: error %v", err)
	}
	if diff := cmp.Diff(committed, node) + cmp.Diff(committed[1:], gone); diff != "" {
		t.Errorf("refused, but changed: %s", diff)
	}

	if err := a.Release(node); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, node); diff != "" {
		t.Errorf("released: %s", diff)
	}
	if err := a.Release(node); !errors.Is(err, device.ErrInvalidUnit) {
		t.Errorf("second Release: error %v", err)
	}
	if diff := cmp.Diff(before, node); diff != "" {
		t.Errorf("refused, but changed: %s", diff)
	}
}

func TestReleaseLimits(t *testing.T) {
	a := device.Allocation{Kind: "gpu", Devices: []device.Allocated{{Minor: 0, Amounts: device.Request{device.GPUCore: 100}}}}
	full := []device.State{{Kind: "gpu", Total: device.Total{device.GPUCore: 100}}} // nil is nothing free
	if err := a.Release(full); err != nil || full[0].Free[device.GPUCore] != 100 {
		t.Errorf("free %v, error %v", full[0].Free, err)
	}
	a.Devices[0].Amounts[device.GPUCore] = math.MaxInt64
	if err := a.Release(full); !errors.Is(err, device.ErrInvalidUnit) {
		t.Errorf("more than an int64: error %v", err)
	}
	if err := (device.Allocation{}).Commit(nil); err != nil {
		t.Errorf("nothing committed: error %v", err)
	}
	if err := (device.Allocation{}).Release(nil); err != nil {
		t.Errorf("nothing released: error %v", err)
	}
}
