package share

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// What a wrong operand panics with.
const (
	panicNodeRange = "share: node out of range"
	panicKind      = "share: unknown kind"
)

// State is a device of a node as an [Account] keeps it: what it has, and what of that is
// free. The caller counts amounts as free that are reserved for a pod, or that it may
// preempt.
type State struct {
	Kind       string  // device.KindGPU, KindRDMA or KindFPGA
	Minor      int32   // distinct among the devices of a kind on a node
	UUID, Name string  // of the device, as in its [device.Device]; empty: unknown
	Product    string  // the same; empty: unknown
	Total      Amounts // only of resources that devices of the kind have
	Free       Amounts
	NUMANode   int32  // below 0: unknown
	PCIeRoot   string // empty: unknown
	Health     device.Health
}

// States returns the devices of a node that can be given away, all of it free, in
// their order. A device has 100 percent of what its kind is measured in, and a GPU
// its memory if that is known.
//
// MIG instances, GPUs in MIG mode, and devices that several pods share ([device.Device]'s
// Sharing) are left out, whatever the resource that they are requested by: they are
// counted by card. On a node that has no others the allocatable amounts decide whether it
// can hold a pod; see [Account.Without].
//
// An inventory from labels has no devices for a node on which only Koordinator's
// resources are allocatable, such as koordinator.sh/gpu-core. Make its States from
// Koordinator's Device object of the node, one for each device: [FromResourceList] reads
// the Total of each, and Free is the same until pods are committed.
//
// A minor that is unknown, or that another device of the kind has, becomes the next
// one that is not in use. UUID and Name find the device again.
func States(n *device.Node) []State {
	type minor struct {
		kind   string
		number int32
	}
	last, known, used := map[string]int32{}, map[minor]bool{}, map[minor]bool{}
	for i := range n.Devices {
		d := &n.Devices[i]
		last[d.Kind] = max(last[d.Kind], d.Minor)
		known[minor{d.Kind, d.Minor}] = true
	}
	var states []State
	for i := range n.Devices {
		d := &n.Devices[i]
		if d.MIGEnabled || d.Sharing != device.SharingNone || (d.Profile != vectormap.MIGProfile{}) {
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
		s := State{
			Kind: d.Kind, Minor: m.number, UUID: d.UUID, Name: d.Name, Product: d.Product, Total: totalOf(d),
			NUMANode: d.NUMANode, PCIeRoot: d.PCIeRoot, Health: d.Health,
		}
		s.Free = s.Total
		states = append(states, s)
	}
	return states
}

// totalOf returns what a whole device has.
func totalOf(d *device.Device) (total Amounts) {
	switch d.Kind {
	case device.KindRDMA:
		total[RDMA] = 100
	case device.KindFPGA:
		total[FPGA] = 100
	default:
		total[GPUCore], total[GPUMemoryRatio], total[GPUMemory] = 100, 100, max(d.MemoryBytes, 0)
	}
	return total
}

// Account is the devices of all nodes: what they have, and what of it is free. Nodes
// are numbered from 0. Number them as the rows of [vector.Nodes] are, if you have these: an
// inventory is sorted by name, and rows are not.
//
//	row, _, err := nodes.Set(name, generation, amounts)
//	d, ok := inventory.Node(name)
//	err = account.Set(row, share.States(d)) // not ok: account.Set(row, nil)
//
// [vector.Nodes] and the account count separately. Nodes count amounts, nvidia.com/gpu
// among them; the account has the devices. A pod that requests GPUs by Koordinator's
// names has none in the column of nvidia.com/gpu: the account decides. A pod that
// requests nvidia.com/gpu has to fit both, and is counted in both.
//
// The zero value has no nodes. An Account keeps its amounts in two matrices, a row
// for each device and a column for each [Resource]; every question reads them, and
// [Account.Commit] and [Account.Release] write them. It takes 300 to 450 bytes for each
// device, and [Account.GPUs] up to 400 for each node of eight GPUs.
//
// One goroutine writes while nobody reads; [Account.CopyFrom] makes copies for
// readers and for trials. Methods panic where a node is out of range.
type Account struct {
	total, free vector.Matrix
	offsets     vector.Offsets      // node k has the rows offsets[k] to offsets[k+1]-1
	devices     []identity          // of each row
	usable      [kindCount][]uint64 // bit r: something of row r, of this kind, can be given away
	products    []string            // that devices have had, by number
	pods        []int32             // of all nodes, see podsOf
	gpus        *gpu.State          // nil: not asked for yet

	// bound[r] is at least the sum of the magnitudes of r over the devices of any
	// node, now or later, as long as nothing is Set. It is below 2^53.
	bound [resources]float64
}

// identity is what an account knows of a device besides its amounts.
type identity struct {
	uuid, name, pcieRoot string
	minor, numaNode      int32
	product              int32 // its number; noProduct: unknown
	kind                 kind
	health               device.Health
}

// mostAmount is the limit of what is exact in a float64.
const mostAmount = 1 << 53

// Len returns the number of nodes.
func (a *Account) Len() int {
	return max(len(a.offsets)-1, 0)
}

// Devices returns the number of devices of all nodes.
func (a *Account) Devices() int {
	return len(a.devices)
}

// Rows returns where the devices of a node stand in lists of all devices, such as
// [Bound.ScoreDevices] fills: from from to to-1, in their order.
func (a *Account) Rows(node int) (from, to int) {
	if uint(node) >= uint(a.Len()) {
		panic(panicNodeRange)
	}
	return int(a.offsets[node]), int(a.offsets[node+1])
}

// Set replaces the devices of a node, in their order. A node equal to Len is appended.
// Where the number of devices changes, the devices of all later nodes move, which takes
// time in proportion. For [Account.GPUs] the node has no pods after it: commit those that
// run there again.
//
// The error names the device, and nothing has changed: an unknown kind, a minor that an
// earlier device of the kind has, an amount of a resource that devices of the kind don't
// have ([ErrInvalidCombination]), amounts of 2^53 or more, added up over the node
// ([vector.ErrNotRepresentable]). It allocates only what a larger account takes.
//
// A refused node that would have been appended is not there, and the row of the next one
// is out of range. So in a load of many rows set nil for it, or check its devices before
// it gets a row, with an account of its own: new(share.Account).Set(0, devices).
func (a *Account) Set(node int, devices []State) error {
	if uint(node) > uint(a.Len()) {
		panic(panicNodeRange)
	}
	sums, err := sumStates(devices)
	if err != nil {
		return fmt.Errorf("share: node %d: %w", node, err)
	}
	if a.total.Cols() == 0 {
		a.total.Reset(vector.Schema{}, 0, resources)
		a.free.Reset(vector.Schema{}, 0, resources)
		a.offsets = append(a.offsets[:0], 0)
	}
	before := -1
	if node == a.Len() {
		a.offsets = append(a.offsets, int32(len(a.devices)))
	} else {
		before = int(a.offsets[node+1] - a.offsets[node])
	}
	from, to := a.Rows(node)
	a.makePods(node, from, before, len(devices))
	a.move(node, to, len(devices)-(to-from))
	for i := range devices {
		a.write(from+i, &devices[i])
	}
	for r := range sums {
		a.bound[r] = max(a.bound[r], float64(sums[r]))
	}
	a.followNode(node)
	return nil
}

// sumStates checks the devices of a node, and returns the sums of the magnitudes
// of their amounts.
func sumStates(devices []State) (sums Amounts, err error) {
	for i := range devices {
		d := &devices[i]
		k, fault := kindNamed(d.Kind)
		if fault != nil {
			return sums, fault
		}
		for _, amounts := range [...]Amounts{d.Total, d.Free} {
			if r, ok := foreign(amounts, k); ok {
				return sums, fmt.Errorf("%s %d: %v: %s: must be 0 of this kind: %w", d.Kind, d.Minor, r, r.text(amounts[r]), ErrInvalidCombination)
			}
		}
		from, to := k.columns()
		for r := from; r < to; r++ {
			total, free := d.Total[r], d.Free[r]
			if !isExact(total) || !isExact(free) {
				return sums, fmt.Errorf("%s %d: %v: total %d, free %d: must be below 2^53: %w", d.Kind, d.Minor, r, total, free, vector.ErrNotRepresentable)
			}
			sums[r] += max(total, -total, free, -free)
			if !isExact(sums[r]) {
				return sums, fmt.Errorf("%v: the sum over the devices must be below 2^53: %w", r, vector.ErrNotRepresentable)
			}
		}
	}
	if d := twin(devices); d != nil {
		return sums, fmt.Errorf("two devices of kind %s with minor %d: minors must be distinct", d.Kind, d.Minor)
	}
	return sums, nil
}

// isExact reports whether an amount is exact in a float64.
func isExact(x int64) bool { return -mostAmount < x && x < mostAmount }

// twin returns a device whose kind and minor an earlier one has, nil if there is
// none.
func twin(devices []State) *State {
	const few = 32 // as many are compared in less time than a map takes
	if len(devices) > few {
		return twinOfMany(devices)
	}
	for i := range devices {
		for k := range i {
			if devices[i].Minor == devices[k].Minor && devices[i].Kind == devices[k].Kind {
				return &devices[i]
			}
		}
	}
	return nil
}

func twinOfMany(devices []State) *State {
	type key struct {
		kind  string
		minor int32
	}
	seen := make(map[key]bool, len(devices))
	for i := range devices {
		k := key{devices[i].Kind, devices[i].Minor}
		if seen[k] {
			return &devices[i]
		}
		seen[k] = true
	}
	return nil
}

// move makes room for more rows at a row, where the devices of a node end, or takes
// some away that are before it.
func (a *Account) move(node, row, more int) {
	if more == 0 {
		return
	}
	rows := len(a.devices)
	if more > 0 {
		a.total.Resize(rows + more)
		a.free.Resize(rows + more)
		a.devices = slices.Grow(a.devices, more)[:rows+more]
		for i := rows - 1; i >= row; i-- {
			a.copyRow(i+more, i)
		}
	} else {
		for i := row; i < rows; i++ {
			a.copyRow(i+more, i)
		}
		a.total.Resize(rows + more)
		a.free.Resize(rows + more)
		clear(a.devices[rows+more:])
		a.devices = a.devices[:rows+more]
	}
	for k := node + 1; k < len(a.offsets); k++ {
		a.offsets[k] += int32(more)
	}
	words := (rows + more + 63) / 64
	for k := range a.usable {
		for len(a.usable[k]) < words {
			a.usable[k] = append(a.usable[k], 0)
		}
		a.usable[k] = a.usable[k][:words]
	}
	for i := row + min(more, 0); i < rows+more; i++ {
		a.mark(i)
	}
}

// copyRow makes a row one that there is.
func (a *Account) copyRow(to, from int) {
	var buf [resources]float64
	a.total.SetRow(to, a.total.Row(buf[:0], from))
	a.free.SetRow(to, a.free.Row(buf[:0], from))
	a.devices[to] = a.devices[from]
}

// write makes a row a device.
func (a *Account) write(row int, d *State) {
	k, _ := kindNamed(d.Kind)
	a.devices[row] = identity{
		uuid: d.UUID, name: d.Name, pcieRoot: d.PCIeRoot,
		minor: d.Minor, numaNode: max(d.NUMANode, -1), kind: k, health: d.Health,
		product: a.productNumber(d.Product),
	}
	var buf [resources]float64
	a.total.SetRow(row, vectorOf(&buf, d.Total))
	a.free.SetRow(row, vectorOf(&buf, d.Free))
	a.mark(row)
}

// vectorOf writes amounts to buf.
func vectorOf(buf *[resources]float64, amounts Amounts) vector.ResourceVector {
	for r, x := range amounts {
		buf[r] = float64(x)
	}
	return buf[:]
}

// mark notes whether something of a device can be given away.
func (a *Account) mark(row int) {
	d, bit := &a.devices[row], uint64(1)<<(row%64)
	for k := range a.usable {
		a.usable[k][row/64] &^= bit
	}
	if d.health != device.Unhealthy && hasSome(&a.total, row) && hasSome(&a.free, row) {
		a.usable[d.kind][row/64] |= bit
	}
}

// hasSome reports whether a row has an amount other than 0.
func hasSome(m *vector.Matrix, row int) bool {
	for r := range resources {
		if m.At(row, r) != 0 {
			return true
		}
	}
	return false
}

// Delete takes a node away. The last node takes its number, as in [vector.Nodes],
// unless it was the last itself.
func (a *Account) Delete(node int) {
	from, to := a.Rows(node)
	last := a.Len() - 1
	if a.gpus != nil {
		a.gpus.RemoveRow(node)
	}
	if node != last {
		gpus := a.gpus
		a.gpus = nil // it knows
		var buf [typicalDevices]State
		if err := a.Set(node, a.States(buf[:0], last)); err != nil {
			panic(err) // what was Set before
		}
		a.gpus = gpus
		copy(a.podsOf(node), a.podsOf(last))
		from, to = a.Rows(last)
	}
	a.pods = a.pods[:from+last]
	a.move(last, to, from-to)
	a.offsets = a.offsets[:last+1]
}

// typicalDevices is how many devices a node has without memory being allocated.
const typicalDevices = 32

// States appends the devices of a node to dst and returns it. They are copies.
func (a *Account) States(dst []State, node int) []State {
	from, to := a.Rows(node)
	dst = slices.Grow(dst, to-from)
	for row := from; row < to; row++ {
		d := &a.devices[row]
		dst = append(dst, State{
			Kind: kindNames[d.kind], Minor: d.minor, UUID: d.uuid, Name: d.name, Product: a.product(d.product),
			NUMANode: d.numaNode, PCIeRoot: d.pcieRoot, Health: d.health,
		})
	}
	states := dst[len(dst)-(to-from):]
	for r := range resources {
		total, free := a.total.Column(r)[from:to], a.free.Column(r)[from:to]
		for i := range states {
			states[i].Total[r], states[i].Free[r] = int64(total[i]), int64(free[i])
		}
	}
	return dst
}

// Without sets dst to the nodes that have no device of a kind in the account. Nothing can
// be allocated there. They are nodes whose devices only the allocatable amounts count, and
// those that have none. So they can hold a pod if it fits [vector.Nodes] by an amount of such
// devices, as of nvidia.com/gpu; they can't if it has none there, as with Koordinator's names.
// dst is resized. It panics on an unknown kind.
func (a *Account) Without(dst *vector.Mask, kind string) {
	nodes := a.Len()
	k, fault := kindNamed(kind)
	if fault != nil {
		panic(panicKind)
	}
	dst.Reset(nodes)
	dst.SetAll()
	for node := range nodes {
		for row := a.offsets[node]; row < a.offsets[node+1]; row++ {
			if a.devices[row].kind == k {
				dst.Clear(node)
				break
			}
		}
	}
}

// CopyFrom makes a a copy of src, reusing its memory. Copying again from the same
// source copies only the amounts that changed in between. A copy is for readers
// while src goes on, and for trials: what could be allocated if a pod were gone.
func (a *Account) CopyFrom(src *Account) {
	if a == src {
		return
	}
	a.total.CopyFrom(&src.total)
	a.free.CopyFrom(&src.free)
	a.offsets = append(a.offsets[:0], src.offsets...)
	a.devices = append(a.devices[:0], src.devices...)
	for k := range a.usable {
		a.usable[k] = append(a.usable[k][:0], src.usable[k]...)
	}
	a.bound = src.bound
	a.products = append(a.products[:0], src.products...)
	a.pods = append(a.pods[:0], src.pods...)
	a.followCopy(src.gpus)
}
