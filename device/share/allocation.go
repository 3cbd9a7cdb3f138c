package share

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

// Commit takes the allocation from what is free of the node's devices, as
// [CommitAll] does.
func (a Allocation) Commit(devices []State) error { return CommitAll(devices, a) }

// Release gives the allocation back to what is free of the node's devices, as
// [ReleaseAll] does.
func (a Allocation) Release(devices []State) error { return ReleaseAll(devices, a) }

// CommitAll takes allocations, such as both of [Scorer.AllocateJoint], from what
// is free of the node's devices: all of them or, with an error, none. It is for
// the scheduler's own copy of the devices, and the counterpart of [ReleaseAll].
// The Free of a device that it changes is replaced by a new map, so that copies
// of the State keep what they had.
//
// If a device is gone, or has too little free after the allocations before, it is
// a *[NotEnoughError] for the first allocation that this is so of, and no device
// is changed. Health doesn't matter, for what a pod has it keeps. A negative amount
// is an error that wraps [ErrInvalidUnit], and two devices of a kind with one minor
// are an error too, before anything else.
func CommitAll(devices []State, allocations ...Allocation) error {
	if err := checkAllocations(devices, allocations); err != nil {
		return err
	}
	l := ledger{devices: devices}
	for i := range allocations {
		if refusal := l.commit(&allocations[i]); refusal != nil {
			return refusal
		}
	}
	l.write()
	return nil
}

// ReleaseAll gives allocations back to what is free of the node's devices, as
// [CommitAll] took them: all of them or, with an error, none. If a device is gone
// it is a *[field.Error], and if more of it would be free than there is, which
// happens when a pod is released twice, or an amount is negative, an error that
// wraps [ErrInvalidUnit]; two devices of a kind with one minor are an error too. No
// device is changed then.
func ReleaseAll(devices []State, allocations ...Allocation) error {
	if err := checkAllocations(devices, allocations); err != nil {
		return err
	}
	l := ledger{devices: devices}
	for i := range allocations {
		if err := l.release(&allocations[i]); err != nil {
			return err
		}
	}
	l.write()
	return nil
}

// checkAllocations looks for devices that can't be told apart, and for amounts that
// no allocation has.
func checkAllocations(devices []State, allocations []Allocation) error {
	if err := checkStates(devices); err != nil {
		return err
	}
	for i := range allocations {
		if len(allocations[i].Devices) > 0 {
			if err := checkKind(allocations[i].Kind); err != nil {
				return err
			}
		}
		for k := range allocations[i].Devices {
			d := &allocations[i].Devices[k]
			if name, negative := firstNegative(d.Amounts); negative {
				return fmt.Errorf("%w: %s %d: %s: %d: must be 0 %s or more", ErrInvalidUnit, allocations[i].Kind, d.Minor, name, d.Amounts[name], unitOf(name))
			}
		}
	}
	return nil
}

// ledger is what will be free of devices.
type ledger struct {
	devices []State
	changed map[int]Free // by index
}

// free returns what will be free of a device, by index.
func (l *ledger) free(i int) Free {
	if free, ok := l.changed[i]; ok {
		return free
	}
	return l.devices[i].Free
}

// add adds amounts, times sign, to what will be free of a device.
func (l *ledger) add(i int, amounts Request, sign int64) {
	if l.changed == nil {
		l.changed = map[int]Free{}
	}
	free, ok := l.changed[i]
	if !ok {
		free = make(Free, len(amounts))
		maps.Copy(free, l.devices[i].Free)
		l.changed[i] = free
	}
	for name, amount := range amounts {
		if amount != 0 {
			free[name] += sign * amount
		}
	}
}

// write makes the changes.
func (l *ledger) write() {
	for i, free := range l.changed {
		l.devices[i].Free = free
	}
}

// commit takes an allocation.
func (l *ledger) commit(a *Allocation) *NotEnoughError {
	refusal := &NotEnoughError{Kind: a.Kind, Want: int64(len(a.Devices))}
	for _, d := range a.Devices {
		i := a.find(l.devices, d.Minor)
		reasons := []Reason{{Cause: CauseAbsent, Devices: 1}}
		if i >= 0 {
			reasons = insufficient(d.Amounts, l.free(i))
		}
		if len(reasons) == 0 {
			refusal.Got++
			l.add(i, d.Amounts, -1)
		}
		refusal.Reasons = countReasons(refusal.Reasons, reasons)
	}
	if refusal.Got < refusal.Want {
		return refusal
	}
	return nil
}

// release gives an allocation back.
func (l *ledger) release(a *Allocation) error {
	for _, d := range a.Devices {
		i := a.find(l.devices, d.Minor)
		if i < 0 {
			return fmt.Errorf("share: %w", field.NotFound(field.NewPath("devices"), fmt.Sprintf("%s %d", a.Kind, d.Minor)))
		}
		total, left := l.devices[i].Total, l.free(i)
		for _, name := range slices.Sorted(maps.Keys(d.Amounts)) {
			amount, free := d.Amounts[name], left[name]
			if amount != 0 && (free > math.MaxInt64-amount || free+amount > total[name]) {
				return fmt.Errorf("%w: %s %d: %s: %s given back to %s free: must come to at most the total of %s", ErrInvalidUnit, a.Kind, d.Minor, name,
					amountText(name, amount), amountText(name, free), amountText(name, total[name]))
			}
		}
		l.add(i, d.Amounts, +1)
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
