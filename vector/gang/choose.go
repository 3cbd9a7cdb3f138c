package gang

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Choose makes set the victims that are gone, and all others stay. Bit i is the victim that was
// released as the i-th since Reset, from 0 on, whatever was chosen in between. So one Proof
// answers for scenarios in any order: release all victims, ask, then go from set to set. The
// amounts are, to the bit, those after Reset and the releases of set in their order.
//
// It costs the victims on the rows in which set differs from the last one, with budgets those of
// their owners too, and after a release all victims once. A choice can be rolled back. Choose
// panics when set has another length than there are victims.
func (p *Proof) Choose(set *vector.Mask) {
	v := &p.victims
	if set.Len() != len(v.rows) {
		panic("gang: mask lengths differ")
	}
	free := p.overlay.Matrix()
	v.group(free.Rows(), p.budget.owners+1)
	v.changedRows.Reset(free.Rows())
	v.changedOwners.Reset(p.budget.owners + 1)
	for w, word := range set.Words() {
		if v.gone[w]&^word != 0 {
			p.first = 0 // a victim comes back, so that a condition that held may fail now
		}
		for differ := v.gone[w] ^ word; differ != 0; differ &= differ - 1 {
			i := w*kernel.Block + bits.TrailingZeros64(differ)
			v.changedRows.Set(int(v.rows[i]))
			v.changedOwners.Set(int(v.owners[i]))
		}
		if word != v.gone[w] {
			v.save(w)
			v.gone[w] = word
		}
	}
	for r := range v.changedRows.All() {
		v.restore(&p.overlay, &p.start, r)
		p.within.shrank(p, r)
	}
	if p.budget.on {
		for owner := range v.changedOwners.All() {
			p.recount(owner)
		}
	}
}

// recount counts what an owner loses by the victims that are gone, in their order as when they
// were released. All of the owner's are counted again, also those that stay gone: the greatest of
// them, by which the last may pass, can't be taken away from a sum.
func (p *Proof) recount(owner int) {
	b, v := &p.budget, &p.victims
	v.row = v.row[:0]
	for j := range b.row(owner) {
		v.row = append(v.row, b.counts(&b.row(owner)[j]))
	}
	b.clear(owner)
	// The owner has an account in each set of rows. All are emptied before one is counted.
	if p.within.on {
		for _, i := range v.byOwner.of(int32(owner)) {
			for _, d := range p.within.sets.of(int(v.rows[i])) {
				b.clear(p.within.account(b, d, owner))
			}
		}
	}
	for _, i := range v.byOwner.of(int32(owner)) {
		row := int(v.rows[i])
		if !v.isGone(i) || !isSelected(p.selected, row) {
			continue
		}
		b.add(owner, v.amountsOf(i))
		if p.within.on {
			for _, d := range p.within.sets.of(row) {
				b.add(p.within.account(b, d, owner), v.amountsOf(i))
			}
		}
	}
	for j, was := range v.row {
		if is := b.counts(&b.row(owner)[j]); is != was && b.columns[j].kept {
			b.columns[j].surplus.replace(was, is)
		}
	}
}

// released are victims that were released, in their order.
type released struct {
	rows, owners []int32
	amounts      []float64 // cols for each
	cols         int
	gone         []uint64 // those that are chosen

	// The journal has a word of gone as it was, once between two marks.
	stage  uint64
	saved  []uint64 // per word: the stage in which the journal got it last
	words  []int32
	former []uint64

	// To choose among them.
	grouped                    bool // all victims are in the groups
	byRow, byOwner             groups
	changedRows, changedOwners vector.Mask
	row                        vector.ResourceVector
}

// start makes v no victims, in rows of so many columns.
func (v *released) start(cols int) {
	v.cols = cols
	v.rollback(releasedMark{})
}

// add adds a victim, which is gone.
func (v *released) add(owner, row int, amounts vector.ResourceVector) {
	i := len(v.rows)
	v.rows, v.owners = append(v.rows, int32(row)), append(v.owners, int32(owner))
	v.amounts = append(v.amounts, amounts...)
	for range v.cols - len(amounts) {
		v.amounts = append(v.amounts, math.Copysign(0, -1)) // added to what is free it leaves all bits, those of -0 too
	}
	if i%kernel.Block == 0 {
		v.gone, v.saved = append(v.gone, 0), append(v.saved, 0)
	}
	v.gone[i/kernel.Block] |= 1 << (i % kernel.Block)
	v.grouped = false
}

// amountsOf returns what victim i releases.
func (v *released) amountsOf(i int32) vector.ResourceVector {
	return v.amounts[int(i)*v.cols:][:v.cols]
}

func (v *released) isGone(i int32) bool { return isSelected(v.gone, int(i)) }

// restore makes row r of o what the victims leave that are gone. It adds up from the start: to take
// amounts away and add others would be less work, and with fractions leave other bits than the
// releases of the same victims alone.
func (v *released) restore(o *vector.Overlay, start *vector.Matrix, r int) {
	v.row = start.Row(v.row, r)
	for _, i := range v.byRow.of(int32(r)) {
		if v.isGone(i) {
			v.row.Add(v.amountsOf(i))
		}
	}
	o.SetRow(r, v.row)
}

// group groups the victims by row and by owner.
func (v *released) group(rows, owners int) {
	if v.grouped {
		return
	}
	v.grouped = true
	v.byRow.take(v.rows, rows)
	v.byOwner.take(v.owners, owners)
}

// save journals a word of gone.
func (v *released) save(w int) {
	if v.saved[w] != v.stage {
		v.saved[w] = v.stage
		v.words, v.former = append(v.words, int32(w)), append(v.former, v.gone[w])
	}
}

// releasedMark is a point in the history of released.
type releasedMark struct{ victims, words int }

// mark returns the present point.
func (v *released) mark() releasedMark {
	v.stage++ // a word that changes again is journalled again
	return releasedMark{len(v.rows), len(v.words)}
}

// rollback goes back to a point: first what was chosen since, then what was released.
func (v *released) rollback(mark releasedMark) {
	for k := len(v.words) - 1; k >= mark.words; k-- {
		v.gone[v.words[k]] = v.former[k]
	}
	v.words, v.former = v.words[:mark.words], v.former[:mark.words]
	v.stage++
	n := mark.victims
	v.grouped = v.grouped && n == len(v.rows)
	v.rows, v.owners, v.amounts = v.rows[:n], v.owners[:n], v.amounts[:n*v.cols]
	if v.gone, v.saved = v.gone[:wordsFor(n)], v.saved[:wordsFor(n)]; n%kernel.Block != 0 {
		v.gone[n/kernel.Block] &= 1<<(n%kernel.Block) - 1 // the others come after mark
	}
}
