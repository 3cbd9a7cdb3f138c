package device

import (
	"fmt"

	"github.com/resvec/resvec/vector"
)

// States returns what the devices of a node have, all of it free, in their order:
// the start of a scheduler's account. A device has 100 percent of what its kind
// is measured in, and a GPU its memory if that is known. MIG instances, GPUs in
// MIG mode, and devices that pods share through a resource of their own are left
// out: they are counted by card. A minor that isn't known becomes the next one
// that is not in use.
func (n *Node) States() []State {
	next := map[string]int32{}
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
		if s.Minor < 0 {
			s.Minor = next[d.Kind]
			next[d.Kind]++
		}
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

// NewBatch makes a batch of the devices of one kind, nodes[k] being those of node
// k, in their order. Devices of other kinds are left out, and unhealthy ones count
// like others, as in [Scorer.ScoreNode]. An amount that is not exact in a float64
// is an [ErrNotRepresentable]. A nil Scorer makes a batch without columns.
func (s *Scorer) NewBatch(kind string, nodes [][]State) (*Batch, error) {
	columns := s.Columns()
	schema := make([]vector.SchemaColumn, len(columns))
	for j, name := range columns {
		schema[j] = vector.SchemaColumn{Name: string(name), Integral: true}
	}
	b := &Batch{kind: kind, columns: columns, Offsets: make(vector.Offsets, 1, len(nodes)+1)}
	rows := int32(0)
	for k := range nodes {
		for i := range nodes[k] {
			if nodes[k][i].Kind == kind {
				rows++
			}
		}
		b.Offsets = append(b.Offsets, rows)
	}
	common := vector.NewSchema(schema)
	b.Total = vector.NewMatrix(common, int(rows), len(columns))
	b.Free = vector.NewMatrix(common, int(rows), len(columns))
	for k := range nodes {
		if err := b.Update(k, nodes[k]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Update sets the devices of node k of a batch that [Scorer.NewBatch] made to
// states: after an [Allocation] was committed or released, or a device became
// something else. The node must have as many devices of the kind as before, else
// it is a [vector.ErrShape], and a new batch is due. On error nothing changes.
func (b *Batch) Update(k int, states []State) error {
	if k < 0 || k+1 >= len(b.Offsets) {
		return batchShapeError("node %d of %d", k, max(len(b.Offsets)-1, 0))
	}
	row, n := int(b.Offsets[k]), 0
	for i := range states {
		if states[i].Kind != b.kind {
			continue
		}
		n++
		for _, name := range b.columns {
			if total, free := states[i].Total[name], states[i].Free[name]; !batchExact(total) || !batchExact(free) {
				return fmt.Errorf("device: node %d: %s %d: %s: total %d, free %d: %w", k, b.kind, states[i].Minor, name, total, free, ErrNotRepresentable)
			}
		}
	}
	if want := int(b.Offsets[k+1]) - row; n != want {
		return batchShapeError("node %d has %d devices of kind %s, and had %d", k, n, b.kind, want)
	}
	total, free := make(vector.ResourceVector, len(b.columns)), make(vector.ResourceVector, len(b.columns))
	for i := range states {
		if states[i].Kind != b.kind {
			continue
		}
		for j, name := range b.columns {
			total[j], free[j] = float64(states[i].Total[name]), float64(states[i].Free[name])
		}
		b.Total.SetRow(row, total)
		b.Free.SetRow(row, free)
		row++
	}
	return nil
}

// AllocRequest returns the request for the devices of a requirement, first fit.
func (r Requirement) AllocRequest() AllocRequest {
	return AllocRequest{Kind: r.Kind, PerInstance: r.PerInstance, Count: r.Count, Partial: r.Partial}
}
