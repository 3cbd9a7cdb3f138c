package device

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Allocation is what a pod gets of one kind of devices. The zero value is
// nothing. It shares nothing with the request and the devices it was made from,
// and can be kept as long as the pod runs.
type Allocation struct {
	Kind    string
	Devices []Allocated // by minor, each once
}

// Allocated is what a pod gets of one device.
type Allocated struct {
	Minor   int32
	Amounts Request // all above 0
}

// Minors returns the minors of the devices, ascending.
func (a Allocation) Minors() []int32 {
	minors := make([]int32, len(a.Devices))
	for i := range a.Devices {
		minors[i] = a.Devices[i].Minor
	}
	return minors
}

// Commit takes the allocation from what is free of the node's devices. It is for
// the scheduler's own copy of them, and the counterpart of [Allocation.Release].
// The Free of a device that it changes is replaced by a new map, so that copies
// of the State keep what they had. If a device is gone, or has too little free
// now, it is a *[NotEnoughError], and no device is changed. Health doesn't
// matter, for what a pod has it keeps.
func (a Allocation) Commit(devices []State) error {
	refusal := &NotEnoughError{Kind: a.Kind, Want: int64(len(a.Devices))}
	at := make([]int, len(a.Devices))
	for i, d := range a.Devices {
		at[i] = a.find(devices, d.Minor)
		reasons := []Reason{{Cause: CauseAbsent, Devices: 1}}
		if at[i] >= 0 {
			reasons = insufficient(d.Amounts, devices[at[i]].Free)
		}
		if len(reasons) == 0 {
			refusal.Got++
		}
		refusal.Reasons = countReasons(refusal.Reasons, reasons)
	}
	if refusal.Got < refusal.Want {
		return refusal
	}
	for i, d := range a.Devices {
		free := maps.Clone(devices[at[i]].Free)
		for name, amount := range d.Amounts {
			if amount > 0 {
				free[name] -= amount
			}
		}
		devices[at[i]].Free = free
	}
	return nil
}

// Release gives the allocation back to what is free of the node's devices, as
// [Allocation.Commit] took it. If a device is gone it is a *[field.Error], and
// if more of it would be free than there is, which happens when a pod is
// released twice, an error that wraps [ErrInvalidUnit]; no device is changed
// then.
func (a Allocation) Release(devices []State) error {
	at := make([]int, len(a.Devices))
	for i, d := range a.Devices {
		if at[i] = a.find(devices, d.Minor); at[i] < 0 {
			return fmt.Errorf("device: %w", field.NotFound(field.NewPath("devices"), fmt.Sprintf("%s %d", a.Kind, d.Minor)))
		}
		state := &devices[at[i]]
		for _, name := range slices.Sorted(maps.Keys(d.Amounts)) {
			amount, free := d.Amounts[name], state.Free[name]
			if amount > 0 && (free > math.MaxInt64-amount || free+amount > state.Total[name]) {
				return fmt.Errorf("%w: %s %d: %s: %d given back to %d free of %d",
					ErrInvalidUnit, a.Kind, d.Minor, name, amount, free, state.Total[name])
			}
		}
	}
	for i, d := range a.Devices {
		free := make(Free, len(d.Amounts))
		maps.Copy(free, devices[at[i]].Free)
		for name, amount := range d.Amounts {
			if amount > 0 {
				free[name] += amount
			}
		}
		devices[at[i]].Free = free
	}
	return nil
}

// find returns the index of a device of this kind, -1 if there is none.
func (a *Allocation) find(devices []State, minor int32) int {
	return slices.IndexFunc(devices, func(d State) bool { return d.Kind == a.Kind && d.Minor == minor })
}

// insufficient returns, by name, what too little is free of.
func insufficient(amounts Request, free Free) []Reason {
	var reasons []Reason
	for name, want := range amounts {
		if want > 0 && free[name] < want {
			reasons = append(reasons, Reason{CauseInsufficient, name, 1, want, free[name]})
		}
	}
	return countReasons(nil, reasons)
}

// withoutZeros returns a copy of a request that has amounts above 0 only.
func withoutZeros(r Request) Request {
	c := maps.Clone(r)
	maps.DeleteFunc(c, func(_ corev1.ResourceName, amount int64) bool { return amount == 0 })
	return c
}
