package share

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
)

// batchAccount is what a batch knows of its devices besides what scores need.
type batchAccount struct {
	kind        string
	columns     []corev1.ResourceName // of the batch
	names       []corev1.ResourceName // of all that the devices have, sorted
	total, free *vector.Matrix        // a row per device, a column per name
	usable      *vector.Mask          // devices that are healthy, with something, and something free
	ratio, mem  int                   // the columns of these names; -1: none
}

// NewBatch makes a batch of the devices of one kind, nodes[k] being those of node
// k, in their order; devices of other kinds are left out. It can be asked which
// devices and nodes fit, and brought up to date. For scores unhealthy devices
// count like others, as in [Scorer.ScoreNode]; they fit nothing. An amount that is
// not exact in a float64 is an [ErrNotRepresentable]; a kind that isn't one of
// [device.KindGPU], [device.KindRDMA] and [device.KindFPGA], here or of a device, is an error, and so are
// two devices of a kind with one minor on a node. A nil Scorer makes a batch without scored
// columns.
func (s *Scorer) NewBatch(kind string, nodes [][]State) (*Batch, error) {
	if err := checkKind(kind); err != nil {
		return nil, err
	}
	a := &batchAccount{kind: kind, columns: s.Columns(), usable: vector.NewMask(0)}
	b := &Batch{Offsets: make(vector.Offsets, 1, len(nodes)+1), account: a}
	rows := int32(0)
	for k := range nodes {
		for i := range nodes[k] {
			if d := &nodes[k][i]; d.Kind == kind {
				rows++
				a.collect(d)
			}
		}
		b.Offsets = append(b.Offsets, rows)
	}
	slices.Sort(a.names)
	a.ratio, a.mem = slices.Index(a.names, GPUMemoryRatio), slices.Index(a.names, GPUMemory)
	b.Total, b.Free = amountMatrix(a.columns, int(rows)), amountMatrix(a.columns, int(rows))
	a.total, a.free = amountMatrix(a.names, int(rows)), amountMatrix(a.names, int(rows))
	a.usable.Resize(int(rows))
	for k := range nodes {
		if err := b.Update(k, nodes[k]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// isOf checks that a need is for the devices of the batch. A batch that was made
// by hand has no kind.
func (a *batchAccount) isOf(kind string) error {
	if a != nil && kind != a.kind {
		return fmt.Errorf("%w: kind: %q: must be %q, which the batch is of", ErrInvalidCombination, kind, a.kind)
	}
	return nil
}

// collect adds the names of what a device has.
func (a *batchAccount) collect(d *State) {
	for name := range d.Total {
		if !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
		}
	}
	for name := range d.Free {
		if !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
		}
	}
}

func amountMatrix(names []corev1.ResourceName, rows int) *vector.Matrix {
	return vector.NewMatrix(amountSchema(names), rows, len(names))
}

// amountSchema returns the schema of whole amounts of these names.
func amountSchema(names []corev1.ResourceName) vector.Schema {
	columns := make([]vector.SchemaColumn, len(names))
	for j, name := range names {
		columns[j] = vector.SchemaColumn{Name: string(name), Integral: true}
	}
	return vector.NewSchema(columns)
}

// Update sets the devices of node k of a batch that [Scorer.NewBatch] made to
// states: after an [Allocation] was committed or released, or a device became
// something else. The node must have as many devices of the kind as before, and
// no resource that no device had, else it is a [vector.ErrShape], and a new batch
// is due; so it is for a nil b, and for a batch that was made otherwise. Other errors
// are those of NewBatch. On error nothing changes. It must not run while others use
// the batch. It allocates nothing for up to 32 devices, of whatever kinds.
func (b *Batch) Update(k int, states []State) error {
	if b == nil || b.account == nil {
		return batchShapeError("the batch is not one of NewBatch: must be")
	}
	a := b.account
	switch {
	case b.Total == nil || b.Free == nil:
		return batchShapeError("a matrix of the batch is nil: must be as NewBatch made it")
	// Not all offsets, as in accounted: a look at each would take longer than the rest.
	case k < 0 || k >= len(b.Offsets)-1:
		return batchShapeError("node %d: must be below %d", k, max(len(b.Offsets)-1, 0))
	case b.Offsets[k] < 0 || int(b.Offsets[k+1]) > a.free.Rows():
		return batchShapeError("Offsets: must ascend within %d rows", a.free.Rows())
	}
	if fault := statesFault(states); fault != nil {
		return fmt.Errorf("share: node %d: %w", k, fault)
	}
	row, n := int(b.Offsets[k]), 0
	for i := range states {
		if states[i].Kind != a.kind {
			continue
		}
		n++
		if err := a.check(k, &states[i]); err != nil {
			return err
		}
	}
	if want := int(b.Offsets[k+1]) - row; n != want {
		return batchShapeError("node %d: %d devices of kind %s: must be %d, as before", k, n, a.kind, want)
	}
	for i := range states {
		if states[i].Kind == a.kind {
			b.set(row, &states[i])
			row++
		}
	}
	return nil
}

// accounted returns the account of a batch of NewBatch whose offsets are still
// those of its devices.
func (b *Batch) accounted() (*batchAccount, error) {
	if b == nil || b.account == nil {
		return nil, batchShapeError("the batch is not one of NewBatch: must be")
	}
	if _, ok := kernel.Groups(b.Offsets, b.account.free.Rows()); !ok || len(b.Offsets) == 0 {
		return nil, batchShapeError("Offsets: must ascend within %d rows", b.account.free.Rows())
	}
	return b.account, nil
}

// check looks for amounts that the batch has no place for.
func (a *batchAccount) check(node int, d *State) error {
	known := 0
	for _, name := range a.names {
		total, hasTotal := d.Total[name]
		free, hasFree := d.Free[name]
		if !batchExact(total) || !batchExact(free) {
			return fmt.Errorf("share: node %d: %s %d: %s: total %d, free %d: must be below 2^53: %w", node, d.Kind, d.Minor, name, total, free, ErrNotRepresentable)
		}
		known += count(hasTotal) + count(hasFree)
	}
	if known != len(d.Total)+len(d.Free) {
		return batchShapeError("node %d: %s %d: must have no resource that no device had before", node, d.Kind, d.Minor)
	}
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// set writes the rows of a device.
func (b *Batch) set(row int, d *State) {
	a := b.account
	var buf [2][16]float64
	total, free := vector.ResourceVector(buf[0][:0]), vector.ResourceVector(buf[1][:0])
	for _, name := range a.columns {
		total, free = append(total, float64(d.Total[name])), append(free, float64(d.Free[name]))
	}
	b.Total.SetRow(row, total)
	b.Free.SetRow(row, free)
	total, free = total[:0], free[:0]
	for _, name := range a.names {
		total, free = append(total, float64(d.Total[name])), append(free, float64(d.Free[name]))
	}
	a.total.SetRow(row, total)
	a.free.SetRow(row, free)
	if d.Health == device.Unhealthy || allZero(d.Total) || allZero(d.Free) {
		a.usable.Clear(row)
	} else {
		a.usable.Set(row)
	}
}

// FitDevices sets dst to the devices of a batch of [Scorer.NewBatch] that can take
// an instance now, by the rules of [Scorer.Allocate] without Required: healthy,
// with all requested amounts free, completed by [FillMemory] if that is set. dst
// is resized to a bit per device. Errors, which leave dst alone, are a
// [vector.ErrShape] for another batch and an [ErrInvalidUnit] for a negative
// request. It allocates nothing but dst's first words, where devices have up to 16
// resources.
func (s *Scorer) FitDevices(dst *vector.Mask, b *Batch, perInstance Request) error {
	if dst == nil {
		panic(panicMask)
	}
	if err := checkRequest(perInstance); err != nil {
		return err
	}
	a, err := b.accounted()
	if err != nil {
		return err
	}
	var buf [16]float64
	request := vector.ResourceVector(buf[:0])
	known := 0
	for _, name := range a.names {
		request = append(request, float64(perInstance[name]))
		known += count(perInstance[name] > 0)
	}
	for _, amount := range perInstance {
		known -= count(amount > 0)
	}
	if known < 0 { // something that no device has
		dst.Resize(a.free.Rows())
		dst.ClearAll()
		return nil
	}
	vector.Fit(dst, a.free, request)
	dst.And(dst, a.usable)
	if s != nil && s.options&FillMemory != 0 {
		a.fillMemory(dst, perInstance)
	}
	return nil
}

// fillMemory clears the devices on which the other one of gpu-memory-ratio and
// gpu-memory doesn't fit that a request for one of them comes to.
func (a *batchAccount) fillMemory(dst *vector.Mask, perInstance Request) {
	from, to, amount := a.ratio, a.mem, perInstance[GPUMemoryRatio]
	if amount == 0 {
		from, to, amount = to, from, perInstance[GPUMemory]
	}
	if from < 0 || to < 0 || amount == 0 || perInstance[GPUMemoryRatio] != 0 && perInstance[GPUMemory] != 0 {
		return
	}
	totalFrom, totalTo, free := a.total.Column(from), a.total.Column(to), a.free.Column(to)
	for row := range dst.All() {
		if totalFrom[row] > 0 && totalTo[row] > 0 {
			// What is too much for an int64 is too much for the device.
			// A completion of nothing asks for nothing, also where less than that is free.
			if filled, _ := mulDiv(amount, int64(totalTo[row]), int64(totalFrom[row])); filled > 0 && filled > int64(free[row]) {
				dst.Clear(row)
			}
		}
	}
}

// FitNodes sets dst to the nodes of a batch that can take all instances of a
// need, each on a device of its own, and devices to the devices that can take one:
// it is what filters nodes before [Scorer.ScoreNodes], whose scores say nothing
// about whether a pod fits. A need for no instance fits everywhere. Scopes and
// PCIe roots don't count: [Scorer.Allocate] may still refuse for them. Nor do
// vendors and products: nodes that lack the resource that the pod asks for, such as
// nvidia.com/gpu, have to be left out by their allocatable amounts. Both masks are
// resized; they must not be the same, or it panics. An [ErrInvalidCombination] is for
// a need of another kind; other errors and allocations are those of
// [Scorer.FitDevices].
func (s *Scorer) FitNodes(dst, devices *vector.Mask, b *Batch, need Requirement) error {
	if dst == nil || devices == nil {
		panic(panicMask)
	}
	if err := checkNeeds([]Requirement{need}); err != nil {
		return err
	}
	if dst == devices {
		panic("share: one mask for nodes and devices")
	}
	if b != nil {
		if err := b.account.isOf(need.Kind); err != nil {
			return err
		}
	}
	if err := s.FitDevices(devices, b, need.PerInstance); err != nil {
		return err
	}
	dst.Resize(len(b.Offsets) - 1)
	dst.ClearAll()
	words := devices.Words()
	for k := range len(b.Offsets) - 1 {
		if countBits(words, int(b.Offsets[k]), int(b.Offsets[k+1])) >= need.Count {
			dst.Set(k)
		}
	}
	return nil
}

// countBits counts the bits from lo to hi-1.
func countBits(words []uint64, lo, hi int) (n int64) {
	for lo < hi {
		part := words[lo>>6] >> (lo & 63)
		width := min(64-lo&63, hi-lo)
		n += int64(bits.OnesCount64(part << (64 - width)))
		lo += width
	}
	return n
}
