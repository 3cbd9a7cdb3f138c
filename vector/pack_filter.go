package vector

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
)

// Victims are running pods that a scenario may evict, in the order in which it
// would: victim i runs on row Rows[i] and releases row i of Amounts there. Rows
// may repeat. Amounts has no rows, but is not nil, when there are no victims. Its
// elements must be at least 0 and finite, and whole numbers below 2^53 in the
// integral columns of the overlay's schema.
type Victims struct {
	Rows    []int32
	Amounts *Matrix
}

// VictimError reports an amount that a victim cannot release. It wraps
// [ErrNotRepresentable].
type VictimError struct {
	Victim   int     // index of the victim
	Column   int     // index of the column
	Resource string  // name of the column, empty without a schema
	Amount   float64 // the amount refused
}

// Error names the victim, the resource and the amount.
func (e *VictimError) Error() string {
	resource := e.Resource
	if resource == "" {
		resource = fmt.Sprintf("column %d", e.Column)
	}
	return fmt.Sprintf("vector: victim %d: %s: cannot release %v", e.Victim, resource, e.Amount)
}

// Unwrap returns [ErrNotRepresentable].
func (e *VictimError) Unwrap() error { return ErrNotRepresentable }

// Scenario is the answer of [Packer.Filter].
type Scenario struct {
	// Feasible says that a placement was found, and Prefix how many victims
	// have to go for it: victims 0 to Prefix-1. Prefix is -1 otherwise.
	Feasible bool
	Prefix   int

	// Placement is the row of each member, in the order of requests; empty when
	// not feasible.
	Placement []int32

	// LowerBound is a proved bound: no prefix shorter than it lets the gang
	// fit, however it is placed. It is the number of victims plus 1 when even
	// all of them are not enough.
	LowerBound int

	// Minimal says that Prefix equals LowerBound, so that no shorter prefix
	// exists. It is always set for a feasible gang whose members all request
	// the same.
	Minimal bool

	// Infeasible says why the gang does not fit even when all victims are gone;
	// its Reason is NotProved otherwise. Without a proof and without a
	// placement the answer is open.
	Infeasible Infeasibility
}

// Filter says how short a prefix of the victims makes the gang placeable on the
// selected rows, given the free amounts in o: the scenario filter of preemption
// and consolidation. Victims on rows that are not selected count in the prefix
// and make no room.
//
// When all members request the same, the prefix is the smallest there is: the
// number of copies that fit grows with every victim, so Filter walks the victims
// once, counting again only the row that changes. Otherwise it walks them the
// same way up to the lower bound, the shortest prefix that [Packer.Infeasible]
// does not reject, and looks for a placement from there on as
// [PackOptions.Search] says. Placeability by a heuristic is not monotone (one
// more victim can break first fit), so the prefix found need not be the smallest
// one; Minimal says when it is. The time is linear in the victims walked and
// their columns, plus one placement per prefix tried.
//
// The error is a [*VictimError] when no answer is found before a victim whose
// amounts cannot be released. Victims from there on are never released, and an
// answer that needs fewer of them stands. Filter panics when
// victims.Rows and victims.Amounts have different lengths or name a row out of
// range.
//
// dst is overwritten, grown when its capacity is short, and becomes the
// Placement. The changes that o holds are kept and part of the free amounts;
// what Filter does itself is rolled back, so that o holds the same bits as
// before. To go on from the answer, add the released amounts of the prefix and
// subtract the members.
func (p *Packer) Filter(dst []int32, o *Overlay, requests *Matrix, rows *Mask, victims Victims) (Scenario, error) {
	free := &o.matrix
	checkSame(free, victims.Amounts)
	p.prepare(free, requests, rows)
	victims.checkRows(free.rows)
	p.bounds.take(&p.gang)
	p.saved = resized(p.saved, free.rows)
	clear(p.saved)
	p.stale.Resize(free.rows)
	w := walk{
		overlay: o, victims: victims, end: len(victims.Rows),
		rows: rows, selected: selection(rows, free.rows), saved: p.saved, stale: &p.stale,
	}
	before := w.mark()
	answer := p.filter(&w)
	o.Rollback(before)
	if !answer.Feasible && w.end < len(victims.Rows) {
		return Scenario{}, victims.error(free, w.end)
	}
	if answer.Feasible {
		answer.Placement = append(dst[:0], p.placement...)
		answer.Minimal = answer.Prefix == answer.LowerBound
	} else {
		answer.Placement = dst[:0]
	}
	return answer, nil
}

// checkRows panics unless there is one row per victim, in range.
func (v *Victims) checkRows(rows int) {
	if len(v.Rows) != v.Amounts.rows {
		panic("vector: victims have another number of rows than amounts")
	}
	for _, r := range v.Rows {
		if uint(r) >= uint(rows) {
			panic(panicRow)
		}
	}
}

// error returns what is wrong with the first amount of victim i that cannot be
// released into free.
func (v *Victims) error(free *Matrix, i int) error {
	for j := range v.Amounts.cols {
		x := v.Amounts.At(i, j)
		if x >= 0 && x <= math.MaxFloat64 && (whole(x) || !slices.Contains(free.integral, int32(j))) {
			continue
		}
		e := &VictimError{Victim: i, Column: j, Amount: x}
		if columns := free.schema.Columns(); columns != nil {
			e.Resource = columns[j].Name
		}
		return e
	}
	return nil
}

// victimTile is how many victims are checked at a time, a whole number of
// blocks: few enough for eight columns to stay in the first-level cache until
// they are released.
const victimTile = 512

// sound returns the first victim from lo on whose amounts cannot be released
// into free, or hi when there is none before it. lo is a multiple of 64, and hi
// at most victimTile more.
func (v *Victims) sound(free *Matrix, lo, hi int) int {
	m := v.Amounts
	var buffer [victimTile / kernel.Block]uint64
	words := buffer[:wordsFor(hi-lo)]
	setAll(words)
	for j := range int32(m.cols) {
		column, data := [1]int32{j}, m.data[lo:]
		kernel.AndGE(words, data, m.stride, column[:], []float64{0})
		if m.wild[j] {
			kernel.AndLE(words, data, m.stride, column[:], []float64{math.MaxFloat64})
		}
	}
	for w, word := range words {
		if word != ^uint64(0) {
			hi = min(hi, lo+w*kernel.Block+bits.TrailingZeros64(^word))
			break
		}
	}
	for _, j := range free.integral {
		for i, x := range m.Column(int(j))[lo:hi] {
			if !whole(x) {
				hi = lo + i
				break
			}
		}
	}
	return hi
}

// whole reports whether an integral column takes x, which is not negative.
func whole(x float64) bool { return x < 1<<53 && x == math.Trunc(x) }

// walk is an overlay on its way through the victims.
type walk struct {
	overlay  *Overlay
	victims  Victims
	rows     *Mask    // the eligible rows
	selected []uint64 // their words
	released int      // the victims released so far
	checked  int      // the victims that are sound, as far as it is known
	end      int      // the first victim that is not sound, or all of them

	// saved[r] is the stage in which the overlay's journal got row r last. One
	// copy per stage is enough to roll back to its start.
	saved []uint64
	stage uint64

	stale *Mask // rows whose writes are not complete
}

// sound returns prefix, or the longest shorter prefix of sound victims.
func (w *walk) sound(prefix int) int {
	for w.checked < min(prefix, w.end) {
		tile := min(w.checked+victimTile, w.end)
		w.checked = w.victims.sound(&w.overlay.matrix, w.checked, tile)
		if w.checked < tile {
			w.end = w.checked
		}
	}
	return min(prefix, w.end)
}

// more reports whether there are victims left.
func (w *walk) more() bool {
	return w.released < w.checked || w.sound(w.released+1) > w.released
}

// next returns the row of the next victim, and whether it is eligible.
func (w *walk) next() (row int, eligible bool) {
	row = int(w.victims.Rows[w.released])
	return row, w.rows == nil || w.rows.Test(row)
}

// mark returns a point to roll back to with the victims released so far.
func (w *walk) mark() Mark {
	w.stage++
	return w.overlay.Mark()
}

// rollback goes back to a mark and the number of victims released then.
func (w *walk) rollback(mark Mark, released int) {
	w.overlay.Rollback(mark)
	w.stale.ClearAll() // those rows were journalled since
	w.released = released
	w.stage++
}

// release releases the next victim.
func (w *walk) release() {
	row := w.victims.Rows[w.released]
	if w.saved[row] != w.stage {
		w.saved[row] = w.stage
		w.overlay.save(int(row))
	}
	m := &w.overlay.matrix
	data, stride := m.data, m.stride
	amounts, step := w.victims.Amounts.data, w.victims.Amounts.stride
	at, from := int(row), w.released
	for j := range m.wild {
		x := data[at] + amounts[from]
		if !kernel.Tame(x) {
			m.wild[j] = true
		}
		data[at] = x
		at += stride
		from += step
	}
	w.stale.Set(int(row))
	w.released++
}

// refresh completes the writes of release, before anything but the counting of
// copies and sums looks at the matrix: a row that several victims were on is
// completed once.
func (w *walk) refresh() {
	m := &w.overlay.matrix
	for row := range w.stale.All() {
		p := row
		for range m.cols {
			m.codes[p] = kernel.Floor32(m.data[p])
			p += m.stride
		}
		m.log.record(row)
	}
	w.stale.ClearAll()
}

// to releases victims up to a prefix.
func (w *walk) to(prefix int) {
	for w.released < prefix {
		w.release()
	}
}

// filter is Filter for the gang and the bounds taken. It leaves the victims
// released and the placement in p.placement.
func (p *Packer) filter(w *walk) Scenario {
	if !p.toLowerBound(w) {
		why, _ := p.bounds.check(&w.overlay.matrix, w.rows)
		return Scenario{Prefix: -1, LowerBound: w.released + 1, Infeasible: why}
	}
	answer := Scenario{LowerBound: w.released}
	if p.options.Search == SearchLinear || p.gang.identical() {
		answer.Prefix = p.linear(w)
	} else {
		answer.Prefix = p.bisect(w)
	}
	answer.Feasible = answer.Prefix >= 0
	return answer
}

// try looks for a placement with the victims released so far, and keeps it.
func (p *Packer) try(w *walk) bool {
	w.refresh()
	var ok bool
	p.trial, ok = p.place(p.trial, &w.overlay.matrix, w.rows)
	if ok {
		p.trial, p.placement = p.placement, p.trial
	}
	return ok
}

// linear returns the first prefix from w's on that has a placement, or -1.
func (p *Packer) linear(w *walk) int {
	for !p.try(w) {
		if !w.more() {
			return -1
		}
		w.release()
	}
	return w.released
}

// bisect returns a prefix from w's on that has a placement while the one before
// it has none, or -1 when it meets none.
func (p *Packer) bisect(w *walk) int {
	cursor := p.options.Tie.position()
	if p.try(w) {
		return w.released
	}
	failed, mark := w.released, w.mark()
	for step := 1; ; step *= 2 {
		if !w.more() {
			return -1
		}
		w.to(w.sound(w.released + step))
		if p.try(w) {
			break
		}
		failed, mark = w.released, w.mark()
	}
	found, after := w.released, p.options.Tie.position()
	for found-failed > 1 {
		w.rollback(mark, failed)
		w.to(failed + (found-failed)/2)
		p.options.Tie.reposition(cursor)
		if p.try(w) {
			found, after = w.released, p.options.Tie.position()
		} else {
			failed, mark = w.released, w.mark()
		}
	}
	p.options.Tie.reposition(after)
	return found
}

// toLowerBound releases victims until every necessary condition holds, and
// reports whether they do before the victims run out. The conditions are taken
// one after the other: each stays true as victims go. The sum needs no look
// when counting copies implies it.
func (p *Packer) toLowerBound(w *walk) bool {
	for j, needed := range p.bounds.needed {
		if needed > 0 && !p.gang.identical() && !p.bounds.sumUp(w, j) {
			return false
		}
	}
	for c := range p.bounds.counts {
		if !p.countUp(w, c) {
			return false
		}
	}
	return true
}

// sumUp releases victims until column j holds what is needed, and reports
// whether it does.
func (b *bounds) sumUp(w *walk, j int) bool {
	column := w.overlay.matrix.Column(j)
	surplus := b.surplus(&w.overlay.matrix, w.selected, j)
	for surplus.negative() && w.more() {
		row, eligible := w.next()
		before := column[row]
		w.release()
		if eligible {
			surplus.add(positive(column[row]))
			surplus.add(-positive(before))
		}
	}
	return !surplus.negative()
}

// countUp releases victims until condition c holds, and reports whether it
// does.
func (p *Packer) countUp(w *walk, c int) bool {
	b, free := &p.bounds, &w.overlay.matrix
	need := b.counts[c].need
	if b.places(free, w.selected, c) >= need {
		return true
	}
	p.counted = resized(p.counted, free.rows)
	Copies(p.counted, free, b.request(c))
	sum := sumUpTo(p.counted, w.selected, 0, need)
	counter := b.counter(c)
	for sum < need && w.more() {
		row, eligible := w.next()
		w.release()
		if eligible {
			copies := counter.on(free, row)
			sum += copies - min(p.counted[row], need)
			p.counted[row] = copies
		}
	}
	return sum >= need
}

// rowCounter counts the copies of a request on one row at a time.
type rowCounter struct {
	request ResourceVector
	columns []int32   // those requested; nil when an amount is not a finite number
	amounts []float64 // what is requested there
	most    int64     // where to stop counting
}

// counter returns the counter for condition c. It is valid until the next.
func (b *bounds) counter(c int) rowCounter {
	b.columns, b.columnAmounts = b.columns[:0], b.columnAmounts[:0]
	counter := rowCounter{request: b.request(c), most: b.counts[c].need}
	for j, x := range counter.request {
		if !(x <= math.MaxFloat64) {
			return counter
		}
		if x > 0 {
			b.columns = append(b.columns, int32(j))
			b.columnAmounts = append(b.columnAmounts, x)
		}
	}
	counter.columns, counter.amounts = b.columns, b.columnAmounts
	return counter
}

// on returns how many copies row r holds, as CopiesFit does, at most c.most.
func (c *rowCounter) on(free *Matrix, r int) int64 {
	if c.columns == nil {
		return min(free.rowCopies(r, c.request), c.most)
	}
	least := float64(c.most)
	for k, j := range c.columns {
		q := free.data[int(j)*free.stride+r] / c.amounts[k]
		if !(q >= 1) {
			return 0
		}
		least = min(least, q)
	}
	return int64(least)
}
