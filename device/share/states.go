package share

import (
	"iter"
	"math"

	"github.com/resvec/resvec/device"
)

// States returns what the devices of a node have, all of it free, in their order:
// the start of a scheduler's account. A device has 100 percent of what its kind
// is measured in, and a GPU its memory if that is known. MIG instances, GPUs in
// MIG mode, and devices that several pods share ([device.Device.Sharing]) are left out,
// whatever the resource that they are requested by: they are counted by card. So a
// node whose GPUs are all of this sort, time-sliced ones for example, has no states
// of their kind, and neither [Scorer.FitNodes] nor [Scorer.Allocate] finds any there;
// whether it can hold a pod is for its allocatable amounts to say.
//
// A minor that isn't known, or that another device of the kind has, becomes the
// next one that is not in use. [DeviceOf] finds the device of a State again.
func States(n *device.Node) []State {
	if n == nil {
		panic(panicNode)
	}
	var states []State
	for d, minor := range accounted(n) {
		s := State{Kind: d.Kind, Minor: minor, NUMANode: d.NUMANode, PCIeRoot: d.PCIeRoot, Health: d.Health}
		s.Total = totalOf(d)
		s.Free = Free{}
		for name, amount := range s.Total {
			s.Free[name] = amount
		}
		states = append(states, s)
	}
	return states
}

// DeviceOf returns the device that is the [State] of this kind and minor in
// [States], such as one of an [Allocation] for the node: its UUID, its name in
// a ResourceSlice. It is part of the node, not a copy. The minor is not that of
// the device where that is unknown.
func DeviceOf(n *device.Node, kind string, minor int32) (*device.Device, bool) {
	if n == nil {
		panic(panicNode)
	}
	for d, m := range accounted(n) {
		if d.Kind == kind && m == minor {
			return d, true
		}
	}
	return nil, false
}

// accounted returns an iterator over the devices that have a State, with its minor.
func accounted(n *device.Node) iter.Seq2[*device.Device, int32] {
	type minor struct {
		kind   string
		number int32
	}
	return func(yield func(*device.Device, int32) bool) {
		last, known, used := map[string]int32{}, map[minor]bool{}, map[minor]bool{}
		for i := range n.Devices {
			d := &n.Devices[i]
			last[d.Kind] = max(last[d.Kind], d.Minor)
			known[minor{d.Kind, d.Minor}] = true
		}
		for i := range n.Devices {
			d := &n.Devices[i]
			if d.MIGEnabled || d.Sharing != device.SharingNone || (d.Profile != device.Profile{}) {
				continue
			}
			m := minor{d.Kind, d.Minor}
			if m.number < 0 || used[m] {
				m.number = last[d.Kind]
				for known[m] {
					m.number = (m.number + 1) & math.MaxInt32
				}
				last[d.Kind], known[m] = m.number, true
			}
			used[m] = true
			if !yield(d, m.number) {
				return
			}
		}
	}
}

// totalOf returns what a whole device has.
func totalOf(d *device.Device) Total {
	switch d.Kind {
	case device.KindRDMA:
		return Total{RDMA: 100}
	case device.KindFPGA:
		return Total{FPGA: 100}
	}
	total := Total{GPUCore: 100, GPUMemoryRatio: 100}
	if d.MemoryBytes > 0 {
		total[GPUMemory] = d.MemoryBytes
	}
	return total
}

// AllocRequest returns the request for the devices of a requirement, first fit. It
// shares PerInstance with r.
func (r Requirement) AllocRequest() AllocRequest {
	return AllocRequest{Kind: r.Kind, PerInstance: r.PerInstance, Count: r.Count, Partial: r.Partial}
}
