package share

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// NotEnoughError says that a node has fewer devices for a request than it needs,
// and how many devices fell out for which cause. It is a refusal: nothing was
// allocated or changed.
type NotEnoughError struct {
	Kind    string // of the devices; empty: there were none and the request names none
	Want    int64  // instances, each on a device of its own
	Got     int64  // how many there is room for
	Reasons []Reason
}

// anyKind stands for a kind that nobody named.
const anyKind = "any kind"

// Error gives the numbers of the refusal and of all reasons.
func (e *NotEnoughError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "share: %s: want %d, got %d", cmp.Or(e.Kind, anyKind), e.Want, e.Got)
	separator := ": "
	for _, r := range e.Reasons {
		b.WriteString(separator)
		b.WriteString(r.String())
		separator = ", "
	}
	return b.String()
}

// Reason counts the devices that fell out for one cause. A device has one cause
// only, but may be counted for several resources that it has too little of.
// Reasons are sorted by cause and resource. With [CauseNoneOfKind] there is no
// device to count.
type Reason struct {
	Cause    Cause
	Resource corev1.ResourceName // with [CauseInsufficient], else empty
	Devices  int64

	// Want and Free are, with [CauseInsufficient], the amount for an instance and
	// the amount free of that device which misses least.
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
		return fmt.Sprintf("insufficient %s (want %s, %s%s free)",
			r.Resource, amountText(r.Resource, r.Want), most, amountText(r.Resource, r.Free))
	}
	return r.Cause.String()
}

// missing returns how much is missing; the difference of two int64 always fits.
func (r *Reason) missing() uint64 { return uint64(r.Want) - uint64(r.Free) }

// Cause says why a device can't be taken. The first of the list that applies is
// the cause.
type Cause uint8

const (
	CauseAbsent          Cause = iota + 1 // no such device on the node; only of [CommitAll]
	CauseNoneOfKind                       // the node has no device of the kind
	CauseOutsideRequired                  // not one of the required devices
	CauseUnhealthy                        // its health is [device.Unhealthy]
	CauseNoCapacity                       // its total is all zero
	CauseExhausted                        // nothing of it is free
	CauseInsufficient                     // too little of a resource is free
	CauseApart                            // it fits, but none of the other kind does on its PCIe root, or too few, or other roots have more; only of [SeekSamePCIe]
	CauseOutsideScope                     // it fits, but is elsewhere in the topology than those counted
)

// String returns the cause in words.
func (c Cause) String() string {
	return enumName(int(c), "none", "absent", "no device of the kind", "outside required", "unhealthy", "without capacity",
		"exhausted", "insufficient", "apart from the other kind", "outside scope")
}

// countReasons adds the reasons of one device to those of many, which it returns
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
