package device

// States returns what the devices of a node have, all of it free, in their order:
// the start of a scheduler's account. A device has 100 percent of what its kind
// is measured in, and a GPU its memory if that is known. MIG instances, GPUs in
// MIG mode, and devices that pods share through a resource of their own are left
// out: they are counted by card. A minor that isn't known, or that another device of
// the kind has, becomes the next one that is not in use.
func (n *Node) States() []State {
	type minor struct {
		kind   string
		number int32
	}
	next, used := map[string]int32{}, map[minor]bool{}
	for i := range n.Devices {
		d := &n.Devices[i]
		next[d.Kind] = max(next[d.Kind], d.Minor+1)
	}
	var states []State
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.MIGEnabled || d.Sharing != SharingNone || (d.Profile != Profile{}) {
			continue
		}
		s := State{Kind: d.Kind, Minor: d.Minor, NUMANode: d.NUMANode, PCIeRoot: d.PCIeRoot, Health: d.Health}
		if s.Minor < 0 || used[minor{s.Kind, s.Minor}] {
			s.Minor = next[d.Kind]
			next[d.Kind]++
		}
		used[minor{s.Kind, s.Minor}] = true
		s.Total = totalOf(d)
		s.Free = Free{}
		for name, amount := range s.Total {
			s.Free[name] = amount
		}
		states = append(states, s)
	}
	return states
}

// totalOf returns what a whole device has.
func totalOf(d *Device) Total {
	switch d.Kind {
	case KindRDMA:
		return Total{RDMA: 100}
	case KindFPGA:
		return Total{FPGA: 100}
	}
	total := Total{GPUCore: 100, GPUMemoryRatio: 100}
	if d.MemoryBytes > 0 {
		total[GPUMemory] = d.MemoryBytes
	}
	return total
}

// AllocRequest returns the request for the devices of a requirement, first fit.
func (r Requirement) AllocRequest() AllocRequest {
	return AllocRequest{Kind: r.Kind, PerInstance: r.PerInstance, Count: r.Count, Partial: r.Partial}
}
