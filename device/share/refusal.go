package share

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/document"
)

// NotEnoughError says that a node has fewer devices for a request than it needs, and
// counts the others by cause. It is a refusal: nothing was allocated or changed.
type NotEnoughError struct {
	Kind    string // of the devices
	Want    int64  // instances, each on a device of its own
	Got     int64  // how many there is room for
	Reasons []Reason
}

// Error gives the numbers of the refusal and of all reasons.
func (e *NotEnoughError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "share: %s: want %d, got %d", e.Kind, e.Want, e.Got)
	separator := ": "
	for _, r := range e.Reasons {
		b.WriteString(separator)
		b.WriteString(r.String())
		separator = ", "
	}
	return b.String()
}

// Reason counts the devices that can't be taken for one cause. A device has one cause,
// but counts for each resource that it has too little of. Reasons are sorted by cause and
// resource. With [CauseNoneOfKind] there is no device to count.
type Reason struct {
	Cause    Cause
	Resource Resource // with [CauseInsufficient]
	Devices  int64

	// Want and Free are, with [CauseInsufficient], the amount for an instance and
	// the amount free of the device that misses least.
	Want, Free int64
}

// String returns the reason as a phrase, such as "2 unhealthy" or
// "7 insufficient koordinator.sh/gpu-memory (want 16Gi, at most 12Gi free)".
func (r Reason) String() string {
	if r.Devices == 0 {
		return r.phrase()
	}
	return fmt.Sprintf("%d %s", r.Devices, r.phrase())
}

// phrase returns the reason without the number of devices.
func (r *Reason) phrase() string {
	if r.Cause == CauseInsufficient {
		most := ""
		if r.Devices > 1 {
			most = "at most "
		}
		want, free := r.Resource.texts(r.Want, r.Free)
		return fmt.Sprintf("insufficient %s (want %s, %s%s free)", r.Resource, want, most, free)
	}
	return r.Cause.String()
}

// missing returns how much is missing; the difference of two int64 always fits.
func (r *Reason) missing() uint64 { return uint64(r.Want) - uint64(r.Free) }

// Cause says why a device can't be taken: the first of the list that applies.
type Cause uint8

const (
	CauseNoneOfKind      Cause = iota + 1 // the node has no device of the kind
	CauseOutsideRequired                  // not one of the required devices
	CauseUnhealthy                        // its health is device.Unhealthy
	CauseNoCapacity                       // its total is all zero
	CauseExhausted                        // nothing of it is free
	CauseInsufficient                     // too little of a resource is free
	CauseApart                            // it fits, but too few of the other kind do on its PCIe root; only of [SeekSamePCIe]
	CauseOutsideScope                     // it fits, but elsewhere in the topology
)

// String returns the cause in words.
func (c Cause) String() string {
	return document.EnumName(int(c), "none", "no device of the kind", "outside required", "unhealthy", "without capacity",
		"exhausted", "insufficient", "apart from the other kind", "outside scope")
}

// countReasons adds the reasons of one device to the reasons of many, which it returns
// sorted.
func countReasons(all, one []Reason) []Reason {
	for _, r := range one {
		i, found := slices.BinarySearchFunc(all, r, func(a, b Reason) int {
			return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Resource, b.Resource))
		})
		if !found {
			all = slices.Insert(all, i, r)
			continue
		}
		if r.missing() < all[i].missing() {
			all[i].Want, all[i].Free = r.Want, r.Free
		}
		all[i].Devices += r.Devices
	}
	return all
}

// insufficient returns what too little is free of, by resource.
func insufficient(amounts *Amounts, free *Amounts) []Reason {
	var reasons []Reason
	for r, want := range amounts {
		if want > 0 && free[r] < want {
			reasons = append(reasons, Reason{CauseInsufficient, Resource(r), 1, want, free[r]})
		}
	}
	return reasons
}

// fits reports whether amounts are free.
func fits(amounts *Amounts, free *Amounts) bool {
	for r, want := range amounts {
		if want > 0 && free[r] < want {
			return false
		}
	}
	return true
}
