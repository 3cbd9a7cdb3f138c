package vector

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// Nodes is the cluster as one object: a row per node, with what it has (allocatable),
// what its pods request (requested), and the difference (free). A row takes 28 bytes per
// column, and 8 more for scored amounts.
//
// Every row has a generation: a number of the caller that moves whenever the node or a
// pod on it does, such as kube-scheduler's of a NodeInfo. In between [Nodes.Assume] adds
// pods, until a Set with a new generation replaces the row.
//
// One goroutine writes. Others read copies ([Nodes.Snapshot]); of the Nodes that are
// written they may call Len, Row, Name, Names and Current. Rows move when nodes are
// deleted: look up names again. The zero value can become a copy.
type Nodes struct {
	mu    sync.RWMutex
	names directory
	log   changeLog // every write, whatever it was to
	kind  nodesKind

	allocatable, requested, scored, free Matrix

	hasScored   bool
	reciprocals atomic.Pointer[reciprocals] // nil: none are kept

	copied  copied    // what Snapshot copied last
	changed []int32   // scratch of refresh
	saved   []float64 // scratch of AssumeAll: the amounts before
}

// nodesKind says who writes. Nodes that NewNodes made never become a copy, and a copy takes
// no pods: what the one writer added the other would overwrite.
type nodesKind uint8

const (
	noNodes nodesKind = iota // the zero value
	writtenNodes
	copiedNodes
)

// NodeAmounts are the amounts of a node.
type NodeAmounts struct {
	Allocatable ResourceVector // what the node has; +Inf is unlimited
	Requested   ResourceVector // what its pods request
	Scored      ResourceVector // what scores count as requested; nil: Requested
}

// PodAmounts are the amounts of a pod.
type PodAmounts struct {
	Requested ResourceVector // what is subtracted from what the node has free
	Scored    ResourceVector // what scores count as requested; nil: Requested
}

// NodesOption changes what [NewNodes] makes.
type NodesOption func(*Nodes)

// WithScored keeps what scores count as requested, where that differs.
func WithScored() NodesOption {
	return func(n *Nodes) { n.hasScored = true }
}

const (
	panicNodesKind   = "vector: write to nodes that NewNodes did not make"
	panicNodesScored = "vector: scored amounts for nodes that keep none"
	panicNodesDst    = "vector: snapshot onto nodes that are written"
	panicNodesPods   = "vector: not one row per pod"
)

// NewNodes returns Nodes without rows. A schema must have cols columns.
func NewNodes(schema Schema, cols int, opts ...NodesOption) *Nodes {
	n := &Nodes{kind: writtenNodes}
	for _, o := range opts {
		if o == nil {
			panic("vector: option is nil")
		}
		o(n)
	}
	n.log.recordAll()
	n.start()
	n.allocatable.reshape(schema, 0, cols)
	n.requested.reshape(schema, 0, cols)
	n.free.reshape(schema, 0, cols)
	if n.hasScored {
		n.scored.reshape(schema, 0, cols)
	}
	return n
}

// start makes the matrices what they are: written through n only, rounded down, too, only what
// Fit reads, and with reciprocals what is divided by.
func (n *Nodes) start() {
	n.allocatable.readOnly, n.requested.readOnly, n.scored.readOnly, n.free.readOnly = true, true, true, true
	n.allocatable.withoutLower32, n.requested.withoutLower32, n.scored.withoutLower32 = true, true, true
	n.allocatable.reciprocals = &n.reciprocals
}

// rlock locks n for reading. A copy needs it, too: Snapshot may be writing it.
func (n *Nodes) rlock() {
	n.mu.RLock()
}

// lock locks n for a change.
func (n *Nodes) lock() {
	// A copy has one writer, Snapshot; a pod that was assumed in it would be lost.
	n.mu.Lock()
	if n.kind != writtenNodes {
		n.mu.Unlock()
		panic(panicNodesKind)
	}
}

// Len returns the number of rows.
func (n *Nodes) Len() int {
	n.rlock()
	defer n.mu.RUnlock()
	return n.free.rows
}

// Cols returns the number of columns.
func (n *Nodes) Cols() int {
	n.rlock()
	defer n.mu.RUnlock()
	return n.free.cols
}

// Schema returns the schema of the columns.
func (n *Nodes) Schema() Schema {
	n.rlock()
	defer n.mu.RUnlock()
	return n.free.schema
}

// Row returns the row of name.
func (n *Nodes) Row(name string) (row int, ok bool) {
	n.rlock()
	defer n.mu.RUnlock()
	return n.row(name)
}

// row is Row with the lock held. A copy has only the index of its names.
func (n *Nodes) row(name string) (row int, ok bool) {
	if n.kind == writtenNodes {
		return n.names.row(name)
	}
	return n.names.names.Load().Row(name)
}

// Name returns the name of a row.
func (n *Nodes) Name(row int) string {
	n.rlock()
	defer n.mu.RUnlock()
	return n.names.name(row)
}

// Names returns the names as they are now, for lookups without a lock. The pointer stays
// the same until a row comes, goes or moves.
func (n *Nodes) Names() *Names {
	n.rlock()
	defer n.mu.RUnlock()
	return n.names.now()
}

// All iterates over the names and rows without a lock: for the writer.
func (n *Nodes) All() iter.Seq2[string, int] {
	return n.names.all()
}

// Current reports whether name has a row of this generation.
func (n *Nodes) Current(name string, generation int64) bool {
	n.rlock()
	defer n.mu.RUnlock()
	row, ok := n.row(name)
	return ok && n.names.rows[row].current(generation)
}

// Allocatable returns what the nodes have, read-only as all matrices of n.
func (n *Nodes) Allocatable() *Matrix {
	return &n.allocatable
}

// Requested returns what the pods of the nodes request.
func (n *Nodes) Requested() *Matrix {
	return &n.requested
}

// Scored returns what scores count as requested: Requested without [WithScored].
func (n *Nodes) Scored() *Matrix {
	if !n.hasScored {
		return &n.requested
	}
	return &n.scored
}

// Free returns allocatable - requested, negative where that is more.
func (n *Nodes) Free() *Matrix {
	return &n.free
}

// Version returns a number that every write to n moves up.
func (n *Nodes) Version() uint64 { return n.log.version }

// Changed is [Matrix.Changed] for amounts, generations and names.
func (n *Nodes) Changed(dst []int32, since uint64) (rows []int32, all bool) {
	return n.log.changed(dst, since, n.free.rows)
}

// Set writes the row of name and appends one for a new name. With the generation that the
// row has already it costs one map lookup, and changed is false. Matrices in which the
// row stays what it was do not change. An [*AmountError] changes nothing: allocatable
// that is NaN or -Inf, requested or scored not finite or from 2^53 on, any not whole in
// an integral column.
func (n *Nodes) Set(name string, generation int64, amounts NodeAmounts) (row int, changed bool, err error) {
	n.lock()
	defer n.mu.Unlock()
	n.checkWidth(amounts.Allocatable, amounts.Requested, amounts.Scored)
	row, known := n.names.row(name)
	if known && n.names.rows[row].current(generation) {
		return row, false, nil
	}
	if err := n.checkNode(name, amounts); err != nil {
		return row, false, err
	}
	if known {
		n.names.rows[row] = namedRow{name: name, generation: generation}
	} else {
		row = n.appendRow(name, generation)
	}
	n.setRow(row, amounts)
	n.log.record(row)
	n.refresh()
	return row, true, nil
}

// appendRow adds a row of zeros for a new name.
func (n *Nodes) appendRow(name string, generation int64) (row int) {
	// All matrices grow together, or the first of them panics and none has.
	row = n.free.appendRow(nil) // the first that panics when there are too many
	n.allocatable.appendRow(nil)
	n.requested.appendRow(nil)
	if n.hasScored {
		n.scored.appendRow(nil)
	}
	n.names.add(name, generation)
	return row
}

// setRow writes the amounts of a row.
func (n *Nodes) setRow(row int, amounts NodeAmounts) {
	moved := n.allocatable.update(row, amounts.Allocatable)
	moved = n.requested.update(row, amounts.Requested) || moved
	// A row that stays what it was keeps its version, so nobody scores it again.
	if moved {
		n.recompute(row)
		n.free.log.record(row)
	}
	if n.hasScored {
		n.scored.update(row, orElse(amounts.Scored, amounts.Requested))
	}
}

// orElse returns scored amounts, or what counts where there are none.
func orElse(scored, requested ResourceVector) ResourceVector {
	if scored == nil {
		return requested
	}
	return scored
}

// update sets row i to v, padded with zeros, with 0 for -0, where that makes a
// difference, and reports whether it does.
func (m *Matrix) update(i int, v ResourceVector) (changed bool) {
	p := i
	for j := range m.cols {
		// Adding 0 makes -0 a 0, so that equal amounts have equal bits.
		if x := v.Get(j) + 0; m.data[p] != x {
			m.store(p, j, x)
			changed = true
		}
		p += m.stride
	}
	if changed {
		m.log.record(i)
	}
	return changed
}

// recompute sets what is free in a row.
func (n *Nodes) recompute(row int) {
	// Free is computed anew and never added to. So equal states have equal bits, in whatever
	// order their pods came and went.
	for j := range n.free.cols {
		left := n.allocatable.data[j*n.allocatable.stride+row] - n.requested.data[j*n.requested.stride+row]
		n.free.store(j*n.free.stride+row, j, left)
	}
}

// checkWidth checks the lengths of vectors and whether scored ones are kept.
func (n *Nodes) checkWidth(allocatable, requested, scored ResourceVector) {
	n.free.checkVector(allocatable)
	n.free.checkVector(requested)
	n.free.checkVector(scored)
	if scored != nil && !n.hasScored {
		panic(panicNodesScored)
	}
}

// The amounts of a node, as errors call them.
const (
	partAllocatable = "allocatable"
	partRequested   = "requested"
	partScored      = "scored"
)

// checkNode checks the amounts of Set.
func (n *Nodes) checkNode(name string, amounts NodeAmounts) error {
	for j, x := range amounts.Allocatable {
		switch {
		case !(x >= -math.MaxFloat64):
			return n.refuse(name, partAllocatable, -1, j, x, reasonTotal)
		case n.free.takesWhole(j) && x != math.Trunc(x):
			return n.refuse(name, partAllocatable, -1, j, x, reasonWhole)
		}
	}
	if reason, j := n.requestFault(amounts.Requested); reason != "" {
		return n.refuse(name, partRequested, -1, j, amounts.Requested[j], reason)
	}
	if reason, j := n.requestFault(amounts.Scored); reason != "" {
		return n.refuse(name, partScored, -1, j, amounts.Scored[j], reason)
	}
	return nil
}

// requestFault returns why a requested amount of v is refused, and which, or "".
func (n *Nodes) requestFault(v ResourceVector) (reason string, j int) {
	for j, x := range v {
		switch {
		case !(math.Abs(x) <= math.MaxFloat64):
			return reasonFinite, j
		case !exact(x):
			return reasonLarge, j
		case n.free.takesWhole(j) && x != math.Trunc(x):
			return reasonWhole, j
		}
	}
	return "", 0
}

// takesWhole reports whether column j takes whole numbers only.
func (m *Matrix) takesWhole(j int) bool {
	for _, i := range m.integral {
		if int(i) == j {
			return true
		}
	}
	return false
}

// refuse makes the error of an amount, by the name of the node: rows move.
func (n *Nodes) refuse(name, part string, row, j int, x float64, reason string) error {
	return fmt.Errorf("%s: %s: %w", name, part, n.free.refusal(row, j, x, reason))
}

// Delete removes the row of name, if there; the last row takes its place.
func (n *Nodes) Delete(name string) bool {
	n.lock()
	defer n.mu.Unlock()
	row, ok := n.names.remove(name)
	if !ok {
		return false
	}
	n.allocatable.removeRow(row)
	n.requested.removeRow(row)
	n.free.removeRow(row)
	if n.hasScored {
		n.scored.removeRow(row)
	}
	n.log.record(row)
	n.refresh()
	return true
}

// Widen is [Matrix.Widen]; no generation is current then.
func (n *Nodes) Widen(schema Schema, cols int) {
	n.lock()
	defer n.mu.Unlock()
	n.free.widen(schema, cols) // panics before anything is written
	n.allocatable.widen(schema, cols)
	n.requested.widen(schema, cols)
	if n.hasScored {
		n.scored.widen(schema, cols)
	}
	n.names.widened()
	n.log.recordAll()
	n.refresh()
}

// Assume adds a pod to what a row requests, whether it fits or not. An [*AmountError]
// changes nothing: amounts not finite, sums of 2^53 or more, in integral columns
// what is not whole. So whole amounts are forgotten exactly.
func (n *Nodes) Assume(row int, pod PodAmounts) error { return n.move(row, pod, 1) }

// Forget takes a pod off a row: the reverse of [Nodes.Assume], with its errors.
func (n *Nodes) Forget(row int, pod PodAmounts) error { return n.move(row, pod, -1) }

// move adds a pod, sign times: 1 or -1.
func (n *Nodes) move(row int, pod PodAmounts, sign float64) error {
	n.lock()
	defer n.mu.Unlock()
	n.checkPod(row, pod)
	// Everything is checked before anything is written, so an error takes nothing back.
	if err := n.checkMove(row, pod, sign); err != nil {
		return err
	}
	n.add(row, pod, sign)
	n.moved(row)
	return nil
}

// AssumeAll assumes pods[i] on rows[i], all or none. Rows may repeat.
func (n *Nodes) AssumeAll(rows []int32, pods []PodAmounts) error { return n.moveAll(rows, pods, 1) }

// ForgetAll takes a gang off again: the reverse of [Nodes.AssumeAll].
func (n *Nodes) ForgetAll(rows []int32, pods []PodAmounts) error { return n.moveAll(rows, pods, -1) }

// moveAll adds pods, sign times, or none of them.
func (n *Nodes) moveAll(rows []int32, pods []PodAmounts, sign float64) error {
	n.lock()
	defer n.mu.Unlock()
	if len(rows) != len(pods) {
		panic(panicNodesPods)
	}
	// Wrong calls panic before the first pod is added.
	for i, row := range rows {
		n.checkPod(int(row), pods[i])
	}
	// Pods of a gang may share rows: each is checked with the ones before it in place. An
	// error restores the old bits; to subtract again could round.
	n.saved = n.saved[:0]
	for i, row := range rows {
		if err := n.checkMove(int(row), pods[i], sign); err != nil {
			n.restore(rows[:i])
			return fmt.Errorf("pod %d: %w", i, err)
		}
		n.save(int(row))
		n.add(int(row), pods[i], sign)
	}
	for _, row := range rows {
		n.moved(int(row))
	}
	return nil
}

// save keeps what is requested in a row.
func (n *Nodes) save(row int) {
	for _, m := range [...]*Matrix{&n.requested, &n.scored} {
		for j := range m.cols { // none of scored amounts that are not kept
			n.saved = append(n.saved, m.data[j*m.stride+row])
		}
	}
}

// restore writes back what was saved of the rows, the last first.
func (n *Nodes) restore(rows []int32) {
	// A row that several pods share ends with the bits of its first save.
	for i := len(rows) - 1; i >= 0; i-- {
		row := int(rows[i])
		saved := n.saved[i*(n.requested.cols+n.scored.cols):]
		for _, m := range [...]*Matrix{&n.requested, &n.scored} {
			for j := range m.cols {
				m.data[j*m.stride+row] = saved[j]
			}
			saved = saved[m.cols:]
		}
		n.recompute(row)
	}
}

// checkPod panics on a row or vectors that cannot be.
func (n *Nodes) checkPod(row int, pod PodAmounts) {
	n.free.checkRow(row)
	n.checkWidth(nil, pod.Requested, pod.Scored)
}

// checkMove checks the amounts of a pod and the sums.
func (n *Nodes) checkMove(row int, pod PodAmounts, sign float64) error {
	if reason, j := n.sumFault(&n.requested, row, pod.Requested, sign); reason != "" {
		return n.refuse(n.names.name(row), partRequested, row, j, pod.Requested[j], reason)
	}
	if n.hasScored {
		v := orElse(pod.Scored, pod.Requested)
		if reason, j := n.sumFault(&n.scored, row, v, sign); reason != "" {
			return n.refuse(n.names.name(row), partScored, row, j, v[j], reason)
		}
	}
	return nil
}

// sumFault returns why an amount of v cannot be added to a row of m, sign times, and
// which, or "".
func (n *Nodes) sumFault(m *Matrix, row int, v ResourceVector, sign float64) (reason string, j int) {
	if reason, j = n.requestFault(v); reason != "" {
		return reason, j
	}
	p := row
	for j, x := range v {
		if !exact(m.data[p] + float64(x*sign)) {
			return reasonSum, j
		}
		p += m.stride
	}
	return "", 0
}

// add adds a pod that was checked to a row, sign times.
func (n *Nodes) add(row int, pod PodAmounts, sign float64) {
	for j, x := range pod.Requested {
		if x == 0 {
			continue
		}
		p := j*n.requested.stride + row
		// x*sign is exact, so the sum is rounded once, fused or not.
		x = n.requested.data[p] + float64(x*sign)
		n.requested.store(p, j, x)
		n.free.store(j*n.free.stride+row, j, n.allocatable.data[j*n.allocatable.stride+row]-x)
	}
	if n.hasScored {
		for j, x := range orElse(pod.Scored, pod.Requested) {
			p := j*n.scored.stride + row
			n.scored.store(p, j, n.scored.data[p]+float64(x*sign))
		}
	}
}

// moved notes that a pod came to a row or left it.
func (n *Nodes) moved(row int) {
	// What nodes have is the same as before: who scores by it alone need not look.
	n.requested.log.record(row)
	n.free.log.record(row)
	if n.hasScored {
		n.scored.log.record(row)
	}
	n.log.record(row)
}

// Snapshot makes dst, zero Nodes or a copy, a copy of n without reciprocals. Only rows
// that changed are copied and count so. Nobody may read dst then.
func (n *Nodes) Snapshot(dst *Nodes) {
	if n == dst {
		panic(panicDstInput)
	}
	n.mu.RLock()
	// n is only read, so that workers may copy at the same time. dst is locked for writing:
	// its Row and Names wait until its rows agree with its names again.
	defer n.mu.RUnlock()
	dst.mu.Lock()
	defer dst.mu.Unlock()
	if dst.kind == writtenNodes {
		panic(panicNodesDst)
	}
	if dst.kind == noNodes {
		dst.start()
		dst.kind = copiedNodes
	}
	dst.hasScored = n.hasScored
	dst.allocatable.copyFrom(&n.allocatable)
	dst.requested.copyFrom(&n.requested)
	dst.scored.copyFrom(&n.scored)
	dst.free.copyFrom(&n.free)
	dst.copyNames(n)
	dst.refresh()
}

// copyNames copies which row each name has, and its generation.
func (n *Nodes) copyNames(src *Nodes) {
	from, to := &src.names, &n.names
	// Names are shared and not copied: they never change.
	if n.copied.misses(&src.log, &n.log) {
		to.rows = append(to.rows[:0], from.rows...)
		n.log.recordAll()
	} else {
		rows := len(from.rows)
		clear(to.rows[min(rows, len(to.rows)):])
		to.rows = slices.Grow(to.rows[:min(rows, len(to.rows))], rows)[:rows]
		for v := n.copied.source; v < src.log.version; v++ {
			i := src.log.row(v + 1)
			if int(i) < rows {
				to.rows[i] = from.rows[i]
			}
			n.log.record(int(i))
		}
	}
	n.copied.now(&src.log, &n.log)
	to.naming = from.naming
	to.names.Store(from.now())
}
