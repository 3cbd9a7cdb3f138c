package share

import (
	"fmt"
	"strings"

	"github.com/resvec/resvec/device"
)

// Allocation is what a pod gets of one kind of devices on a node. The zero value is
// nothing. It shares nothing with the account, and can be kept as long as the pod
// runs.
type Allocation struct {
	Kind    string
	Devices []Allocated // by minor, each once
}

// Allocated is what a pod gets of one device. [Account.Commit] and [Account.Release] find
// the device by its UUID where it and the account's device have one, else by its minor: the
// driver numbers devices anew when one is gone.
type Allocated struct {
	Minor      int32
	UUID, Name string // of the device; empty: unknown
	Amounts    Amounts
}

// Minors returns the minors of the devices, ascending.
func (a Allocation) Minors() []int32 {
	minors := make([]int32, len(a.Devices))
	for i := range a.Devices {
		minors[i] = a.Devices[i].Minor
	}
	return minors
}

// Commit takes allocations, such as both of [Bound.AllocateJoint], from what is free
// on a node. It is the counterpart of [Account.Release].
//
// An allocation may have devices that the node no longer has, where the allocations of
// running pods are committed again after [Account.Set]. What is left of it is taken all
// the same, since the pod still has it, and the error is a *[GoneError]. With any other
// error nothing is taken. A *[NotEnoughError] is for the first allocation of which a
// device has too little free. Health doesn't matter: a pod keeps what it has. Before that,
// a negative amount is an error that wraps [ErrInvalidUnit], and an unknown kind is an
// error. It allocates nothing but errors on nodes of up to 32 devices.
func (a *Account) Commit(node int, allocations ...Allocation) error {
	return a.change(node, allocations, 1)
}

// Release gives back what [Account.Commit] took. Of devices that the node no longer has
// nothing is left to give back: the error is a *[GoneError], and the others are given
// back. With any other error nothing is. It wraps [ErrInvalidUnit] for a negative amount,
// and where more would be free than there is: the pod was released twice.
func (a *Account) Release(node int, allocations ...Allocation) error {
	return a.change(node, allocations, -1)
}

// GoneError lists the devices of allocations that a node no longer has. What is left of
// the allocations was committed, or released.
type GoneError struct {
	Allocations []Allocation // with the devices that are gone alone
}

// Error names the devices.
func (e *GoneError) Error() string {
	var b strings.Builder
	b.WriteString("share: the node no longer has")
	separator := " "
	for _, a := range e.Allocations {
		for _, d := range a.Devices {
			fmt.Fprintf(&b, "%s%s %d", separator, a.Kind, d.Minor)
			if d.UUID != "" {
				fmt.Fprintf(&b, " (%s)", d.UUID)
			}
			separator = ", "
		}
	}
	return b.String()
}

// change is Commit for sign 1, and Release for -1. All is tried on a copy of the node's
// devices, so that an error leaves the account as it was.
func (a *Account) change(node int, allocations []Allocation, sign int32) error {
	a.Rows(node) // panics if there is no such node
	if err := checkAllocations(allocations); err != nil {
		return err
	}
	var buf [typicalDevices]State
	devices := a.States(buf[:0], node)
	var gone []Allocation
	for i := range allocations {
		if missing := allocations[i].gone(devices); len(missing) > 0 {
			gone = append(gone, Allocation{Kind: allocations[i].Kind, Devices: missing})
		}
		var err error
		if sign > 0 {
			err = allocations[i].take(devices)
		} else {
			err = allocations[i].giveBack(devices)
		}
		if err != nil {
			return err
		}
	}
	a.writeFree(node, devices, allocations, sign)
	if gone != nil {
		return &GoneError{gone}
	}
	return nil
}

// writeFree writes what is free of the devices of a node that allocations name. They
// come for sign 1, and go for -1.
func (a *Account) writeFree(node int, devices []State, allocations []Allocation, sign int32) {
	from, _ := a.Rows(node)
	gpus := false
	for i := range allocations {
		for k := range allocations[i].Devices {
			if at := allocations[i].find(devices, k); at >= 0 {
				var buf [resources]float64
				a.free.SetRow(from+at, vectorOf(&buf, devices[at].Free))
				a.mark(from + at)
			}
		}
		if allocations[i].Kind == device.KindGPU && len(allocations[i].Devices) > 0 {
			a.countPod(node, devices, &allocations[i], sign)
			gpus = true
		}
	}
	if gpus {
		a.followNode(node)
	}
}

// countPod counts a pod with an allocation of GPUs that comes, for sign 1, or goes.
func (a *Account) countPod(node int, devices []State, allocation *Allocation, sign int32) {
	class := len(allocation.Devices)
	if class == 1 && !allocation.takesWhole(devices) {
		class = 0
	}
	if pods := a.podsOf(node); class < len(pods) {
		pods[class] = max(pods[class]+sign, 0)
	}
}

// takesWhole reports whether the first device of the allocation gives all that it has of
// something.
func (a *Allocation) takesWhole(devices []State) bool {
	at := a.find(devices, 0)
	if at < 0 {
		return false
	}
	for r, x := range a.Devices[0].Amounts {
		if total := devices[at].Total[r]; total > 0 && x >= total {
			return true
		}
	}
	return false
}

// checkAllocations looks for kinds and amounts that no allocation has.
func checkAllocations(allocations []Allocation) error {
	for i := range allocations {
		a := &allocations[i]
		if len(a.Devices) == 0 {
			continue
		}
		if _, fault := kindNamed(a.Kind); fault != nil {
			return fmt.Errorf("share: %w", fault)
		}
		for k := range a.Devices {
			for r, x := range a.Devices[k].Amounts {
				if x < 0 {
					return fmt.Errorf("%w: %s %d: %v: %d: must be 0 %s or more", ErrInvalidUnit, a.Kind, a.Devices[k].Minor, Resource(r), x, Resource(r).unit())
				}
			}
		}
	}
	return nil
}

// find returns the index of a device of the allocation among the devices of a node, -1 if
// it is gone. Where both have a UUID, no minor makes up for another one.
func (a *Allocation) find(devices []State, k int) int {
	d, byMinor := &a.Devices[k], -1
	for i := range devices {
		switch own := &devices[i]; {
		case own.Kind != a.Kind:
		case d.UUID != "" && own.UUID != "":
			if own.UUID == d.UUID {
				return i
			}
		case own.Minor == d.Minor:
			byMinor = i
		}
	}
	return byMinor
}

// gone returns the devices of the allocation that the node does not have.
func (a *Allocation) gone(devices []State) (missing []Allocated) {
	for k := range a.Devices {
		if a.find(devices, k) < 0 {
			missing = append(missing, a.Devices[k])
		}
	}
	return missing
}

// take takes the allocation from what is free of devices, but for those that are gone.
func (a *Allocation) take(devices []State) error {
	var reasons []Reason
	got, present := 0, 0
	for k := range a.Devices {
		want := &a.Devices[k].Amounts
		at := a.find(devices, k)
		if at < 0 {
			continue
		}
		present++
		if short := insufficient(want, &devices[at].Free); len(short) > 0 {
			reasons = countReasons(reasons, short)
			continue
		}
		got++
		for r, x := range want {
			devices[at].Free[r] -= x
		}
	}
	if got < present {
		return &NotEnoughError{Kind: a.Kind, Want: int64(present), Got: int64(got), Reasons: reasons}
	}
	return nil
}

// giveBack gives the allocation back to what is free of devices, but for those that are
// gone.
func (a *Allocation) giveBack(devices []State) error {
	for k := range a.Devices {
		amounts := &a.Devices[k].Amounts
		at := a.find(devices, k)
		if at < 0 {
			continue
		}
		d := &devices[at]
		for i, x := range amounts {
			if r := Resource(i); x > 0 && x > d.Total[r]-d.Free[r] { // both below 2^53
				return fmt.Errorf("%w: %s %d: %v: %s given back to %s free: must come to at most the total of %s: released twice, or never committed", ErrInvalidUnit, a.Kind, d.Minor, r,
					r.text(x), r.text(d.Free[r]), r.text(d.Total[r]))
			}
		}
		for r, x := range amounts {
			d.Free[r] += x
		}
	}
	return nil
}
