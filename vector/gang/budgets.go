package gang

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/vector"
)

// Budgets say how much may be released of each owner of victims, for example what each
// queue has above its share. A set of victims is permitted when it releases, of every owner
// and in every column, at most the owner's limit. The zero value permits every set.
type Budgets struct {
	// Limits has a row for each owner and a column for each resource. +Inf is no limit.
	Limits *vector.Matrix

	// LastMayPass permits one victim more of each owner, however large, when the others of
	// the owner are within the limits: a scheduler that evicts as long as they are lets the
	// last victim cross them.
	LastMayPass bool

	// Owners has the owner of each victim of a [Packer], in the order in which they come: a row
	// of Limits, or -1 for none, as have the victims after the last. A [Proof] does not look at
	// it: see [Proof.ReleaseOf].
	Owners []int32
}

// Limit makes p prove that no permitted set of the victims makes room: from now on
// [Proof.Infeasible] is also true for a gang that all victims together would make room for,
// but none of the sets that b permits. Call it after [Proof.Reset], which ends it. Limits
// are copied. It costs their size.
//
// It is an error, and p has no budgets, when a limit is negative or NaN. It panics when
// Limits has another width or schema than the rows, before Reset, or when p has changed since.
func (p *Proof) Limit(b Budgets) error {
	free := p.overlay.Matrix()
	if free.Version() != p.began {
		panic("gang: budgets after a change")
	}
	if b.Limits != nil {
		if p.asked == 0 {
			panic("gang: Limit before Reset")
		}
		checkSame(free, b.Limits)
	}
	p.budget.end()
	var err error
	if b.Limits != nil {
		if err = checkLimits(b.Limits); err == nil {
			p.budget.take(b)
		}
	}
	p.forget() // also after an error: budgets before that had conditions of their own
	return err
}

// checkLimits returns what is wrong with limits.
func checkLimits(limits *vector.Matrix) error {
	for j := range limits.Cols() {
		for owner, x := range limits.Column(j) {
			if x >= 0 {
				continue
			}
			err := refusal(limits, owner, j, x, "is negative: want 0 or more", vector.ErrNegative)
			if math.IsNaN(x) {
				err = refusal(limits, owner, j, x, "is not a number", vector.ErrNotRepresentable)
			}
			return fmt.Errorf("limits: %w", err)
		}
	}
	return nil
}

// ReleaseOf is [Proof.Release] of a victim that counts in the budget of its owner, a row of
// Limits. It releases the victim whatever is left of the budget: the question is then about
// the permitted sets of all victims released. Release stands for a victim without an owner,
// which always may go.
//
// An owner that does not exist is [vector.ErrShape]. Without budgets owner means nothing.
func (p *Proof) ReleaseOf(owner, row int, amounts vector.ResourceVector) error {
	b := &p.budget
	if !b.on {
		owner = b.owners
	} else if uint(owner) >= uint(b.owners) {
		return fmt.Errorf("no owner %d among %d: %w", owner, b.owners, vector.ErrShape)
	}
	return p.release(owner, row, amounts)
}

// budget is what a Proof knows of the owners of victims. Only victims on selected rows
// count: others make no room.
//
// In every column, a permitted set makes at most so much room: what the rows had at Reset, and
// of each owner the lesser of what was released and what may be. docs/proofs.md says why that is
// enough, also when a row has less than nothing.
type budget struct {
	on          bool
	lastMayPass bool
	owners      int
	cols        int            // 0 without budgets: for each there is a condition after the sums of the columns
	accounts    []account      // cols per owner, then of victims without one; the rest says moved and within
	columns     []columnBudget // per column
	changes     int            // that moved something since Reset

	// The journal has an account row as it was, once between two marks.
	stage  uint64
	saved  []uint64 // per row of accounts: the stage in which the journal got it last
	rows   []int32
	former []account // cols for each
}

// account is what one owner has in one column. The row after all others has what was moved
// in all; its greatest is 1 when that has a fraction, else 0. Of an owner, greatest counts only
// where the last may pass.
type account struct{ limit, released, greatest float64 }

// add counts what a victim releases. The greatest is noted also where the last may not pass: that
// is cheaper than to ask.
func (a *account) add(x float64) {
	a.released += x
	a.greatest = max(a.greatest, x)
}

// columnBudget is what counts for one column.
type columnBudget struct {
	kept    bool
	surplus exactSum // of what rows had at Reset and what counts of the owners, less what is needed

	measured bool    // the rest is
	volume   float64 // sum of the magnitudes at Reset
	whole    bool    // all are whole numbers
}

// take makes b keep budgets.
func (b *budget) take(budgets Budgets) {
	limits := budgets.Limits
	b.on, b.lastMayPass, b.owners, b.cols = true, budgets.LastMayPass, limits.Rows(), limits.Cols()
	b.accounts = resized(b.accounts, (b.owners+2)*b.cols)
	for k := range b.accounts {
		b.accounts[k] = account{limit: math.Inf(1)}
	}
	b.columns = grown(b.columns, b.cols)
	for j := range b.columns {
		for owner, x := range limits.Column(j) {
			b.accounts[owner*b.cols+j].limit = x
		}
		b.columns[j].kept, b.columns[j].measured = false, false
	}
	b.stage++
	b.saved = resized(b.saved, b.owners+2)
	clear(b.saved)
}

// end makes b keep nothing.
func (b *budget) end() {
	b.on, b.cols, b.changes, b.rows, b.former = false, 0, 0, b.rows[:0], b.former[:0]
}

// released counts a victim of an owner, or of none for the number of owners.
func (b *budget) released(owner int, amounts vector.ResourceVector) {
	b.save(owner)
	accounts := b.row(owner)
	for j, x := range amounts {
		a, s := &accounts[j], &b.columns[j]
		// As long as nobody asks, a victim costs two additions a column.
		if !s.kept {
			a.add(x)
			continue
		}
		was := b.counts(a)
		a.add(x)
		// Most owners soon have no more to give.
		if is := b.counts(a); is != was {
			s.surplus.replace(was, is)
		}
	}
	b.moved(amounts)
}

// moved counts amounts for the rounding of the sums that they are part of.
func (b *budget) moved(amounts vector.ResourceVector) {
	b.changes++
	b.save(b.owners + 1)
	all := b.row(b.owners + 1)[:len(amounts)]
	for j, x := range amounts {
		a := &all[j]
		a.released += x
		if float64(int64(x)) != x { // or more than 2^63, for which it does not matter
			a.greatest = 1
		}
	}
}

// add counts amounts in a row of accounts. Who keeps a sum of them has to follow.
func (b *budget) add(i int, amounts vector.ResourceVector) {
	accounts := b.row(i)
	for j, x := range amounts {
		accounts[j].add(x)
	}
}

// counts returns how much room an owner can make at most.
func (b *budget) counts(a *account) float64 {
	most := a.limit
	if b.lastMayPass {
		most += a.greatest // rounded, but never below the whole amounts that may go
	}
	return min(a.released, most)
}

// clear empties a row of accounts.
func (b *budget) clear(i int) {
	b.save(i)
	accounts := b.row(i)
	for j := range accounts {
		accounts[j].released, accounts[j].greatest = 0, 0
	}
}

// open appends a row of accounts with the limits of an owner, and returns its index.
func (b *budget) open(owner int) int {
	for _, a := range b.row(owner) {
		b.accounts = append(b.accounts, account{limit: a.limit})
	}
	b.saved = append(b.saved, 0)
	return len(b.saved) - 1
}

// row returns a row of accounts.
func (b *budget) row(i int) []account { return b.accounts[i*b.cols:][:b.cols] }

// save journals a row of accounts.
func (b *budget) save(i int) {
	if b.saved[i] == b.stage {
		return
	}
	b.saved[i] = b.stage
	b.rows = append(b.rows, int32(i))
	b.former = append(b.former, b.row(i)...)
}

// budgetMark is a point in the history of a budget.
type budgetMark struct{ saves, changes int }

// mark returns the present point.
func (b *budget) mark() budgetMark {
	b.stage++ // a row that changes again is journalled again
	return budgetMark{len(b.rows), b.changes}
}

// rollback goes back to a point. The surpluses that are kept go with it: to add up all owners
// again would cost more than the few that have changed. The last row is in no surplus.
func (b *budget) rollback(mark budgetMark) {
	if !b.on {
		return
	}
	for k := len(b.rows) - 1; k >= mark.saves; k-- {
		i := int(b.rows[k])
		now := b.row(i)
		for j, former := range b.former[k*b.cols:][:b.cols] {
			if b.columns[j].kept && i <= b.owners {
				b.columns[j].surplus.replace(b.counts(&now[j]), b.counts(&former))
			}
			now[j] = former
		}
	}
	b.rows, b.former = b.rows[:mark.saves], b.former[:mark.saves*b.cols]
	b.changes = mark.changes
	b.stage++
}

// budgetHolds is holds for the budgets in column j.
func (p *Proof) budgetHolds(j int) bool {
	b := &p.budget
	s := &b.columns[j]
	if !s.kept || s.surplus.overflow {
		s.surplus = p.bounds.surplus(&p.start, p.selected, j)
		for owner := range b.owners + 1 {
			s.surplus.add(b.counts(&b.row(owner)[j]))
		}
		s.kept = true
	}
	return s.surplus.plus(p.slack(j)) >= 0
}

// slack returns how much the sums in column j can be wrong: those of the bound, of the rows
// and of whoever keeps the limits. It is 0 for whole amounts.
func (p *Proof) slack(j int) float64 {
	b, s := &p.budget, &p.budget.columns[j]
	if b.changes == 0 {
		return 0
	}
	if !s.measured {
		s.measured, s.whole, s.volume = true, true, 0
		start := p.start.Column(j)
		eachRow(p.selected, len(start), func(r int) bool {
			if x := math.Abs(start[r]); x >= 0 { // a NaN makes no room
				s.whole = s.whole && x == math.Trunc(x)
				s.volume += x
			}
			return true
		})
	}
	moved := &b.row(b.owners + 1)[j]
	volume := s.volume + moved.released
	if s.whole && moved.greatest == 0 && volume < 1<<53 {
		return 0
	}
	// A change rounds four sums, each by at most 2^-53 of the volume: the row, the row and the
	// owner here, and the owner of whoever keeps the limits. Twice that has room for this product.
	return float64(b.changes) * volume * 0x1p-50
}
