package share

import (
	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
)

// Hint says how a request for rdma or fpga is spread over devices: the
// allocateStrategy of Koordinator's device-allocate-hint.
type Hint uint8

const (
	ApplyForAll       Hint = iota + 1 // the amount on each of the matching devices
	RequestsAsCount                   // the amount is a number of instances, of 1 each
	RequestsAsDevices                 // the same with whole devices, where the hint is exclusive per device
)

// String returns the name of the constant.
func (h Hint) String() string {
	return enumName(int(h), "none", "ApplyForAll", "RequestsAsCount", "RequestsAsDevices")
}

const panicHint = "share: unknown hint"

// WithHint returns the requirement that a hint makes of r, which comes from
// [Normalize]. matching is how many devices of the node match the hint; only
// ApplyForAll looks at it. A hint changes only one instance of rdma or fpga: kind
// gpu, and requests above 100, stay as they are. What stays shares PerInstance with
// r.
//
// The error is a [*NotEnoughError] when ApplyForAll finds no device. It panics on
// a hint that there isn't.
func (r Requirement) WithHint(h Hint, matching int) (Requirement, error) {
	if h < ApplyForAll || h > RequestsAsDevices {
		panic(panicHint)
	}
	name, ok := map[string]corev1.ResourceName{device.KindRDMA: RDMA, device.KindFPGA: FPGA}[r.Kind]
	if !ok || r.Count != 1 {
		return r, nil
	}
	amount := r.PerInstance[name]
	switch h {
	case ApplyForAll:
		if matching <= 0 {
			return Requirement{}, &NotEnoughError{Kind: r.Kind, Want: 1}
		}
		r.Count = int64(matching)
		return r, nil
	case RequestsAsCount:
		r.PerInstance = Request{name: 1}
	case RequestsAsDevices:
		r.PerInstance = Request{name: 100}
	}
	r.Count = amount
	return r, nil
}
