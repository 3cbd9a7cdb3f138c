package gang

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Within makes the gang of p stay within one of the sets of domains: [Proof.Infeasible] then says
// whether it provably fits in none. Nil domains are one set of every row. Call it after
// [Proof.Reset], which ends it. It panics when p has changed since Reset. Domains are kept until
// the next Reset, and must not change.
//
// A change then costs the columns of its row for each set that has the row. What is rolled back
// costs the rows of these sets once more, when the next question comes to them. So does each
// change with a Spread over Domains, with Skew, or for a gang with a leader and a Spread.
func (p *Proof) Within(domains *Domains) {
	free := p.overlay.Matrix()
	if free.Version() != p.began {
		panic("gang: domains after a change")
	}
	p.forget()
	w := &p.within
	if w.on = false; domains != nil {
		w.sets.take(domains, p.selected, free.Rows())
		w.on = true
	}
}

// within follows the conditions of a Proof in each of many sets. A set of which something is
// known waits at its first condition that fails, as in a progress, and after those at the first
// column in which budgets leave too little. What only grows is followed; a set that loses
// something is forgotten and counted again.
type within struct {
	on, begun bool
	sets      rowSets
	progress  progress

	look    []uint64 // sets that may hold the gang, as far as is known
	unknown []bool   // per set: nothing is known. The progress has it as open, so as not to follow it
	seen    int      // changes to the budget, when sets were looked at
	columns []int32  // per set in which all conditions hold: the first column that fails, or their number; -1 not known

	// The set that comes closest, and why it is not close enough.
	found     bool
	closest   int
	rank      int
	has       float64
	why       Infeasibility
	explained bool
	moved     []uint64 // sets that have changed since

	// With budgets: an account for each owner with victims in a set.
	pairs map[pair]int32 // row of accounts in the budget
	first []int32        // per set: its first account, -1 for none
	next  []int32        // per account after those of the budget: the next of the set
}

// pair is an owner with victims in a set.
type pair struct{ set, owner int32 }

// infeasible is Infeasible within domains.
func (w *within) infeasible(p *Proof) (why Infeasibility, infeasible bool) {
	w.begin(p)
	w.slacken(p)
	// Sets that were looked at and have not changed since fail as before: their bits are clear.
	for i := range w.look {
		for ; w.look[i] != 0; w.look[i] &= w.look[i] - 1 {
			if d := i*kernel.Block + bits.TrailingZeros64(w.look[i]); w.holds(p, d) {
				p.proofs.note(false)
				return Infeasibility{Domain: d}, false
			}
		}
	}
	p.proofs.note(true)
	w.find(p)
	return w.why, true
}

// begin makes w know nothing of any set, once after forget.
func (w *within) begin(p *Proof) {
	if w.begun {
		return
	}
	free := p.overlay.Matrix()
	w.begun, w.found = true, false
	w.sets.index(free.Rows())
	w.progress.start(&p.bounds, free, &w.sets)
	n := w.sets.n
	w.look, w.moved = resized(w.look, wordsFor(n)), resized(w.moved, wordsFor(n))
	clear(w.look)
	clear(w.moved)
	w.unknown, w.columns, w.first = resized(w.unknown, n), resized(w.columns, n), resized(w.first, n)
	// They are counted when a question comes to them: most never are.
	for d := range n {
		w.first[d] = -1
		w.forget(d)
	}
	clear(w.pairs)
	w.next, w.seen = w.next[:0], 0
}

// forget makes w know nothing of set d.
func (w *within) forget(d int) {
	w.unknown[d], w.columns[d] = true, -1
	w.progress.at[d].condition = int32(w.progress.bounds.conditions)
	w.look[d/kernel.Block] |= 1 << (d % kernel.Block)
}

// move notes that set d has changed.
func (w *within) move(d int) {
	w.look[d/kernel.Block] |= 1 << (d % kernel.Block)
	w.moved[d/kernel.Block] |= 1 << (d % kernel.Block)
}

// release adds what a victim releases to the free amounts of p.
func (w *within) release(p *Proof, row int, amounts vector.ResourceVector) error {
	w.begin(p)
	if err := w.progress.release(&p.overlay, row, amounts); err != nil {
		return err
	}
	for _, d := range w.sets.of(row) {
		w.move(int(d))
	}
	return nil
}

// budgeted reports whether budgets are what set d waits for.
func (w *within) budgeted(p *Proof, d int) bool {
	return w.columns[d] >= 0 && int(w.columns[d]) < p.gang.cols
}

// shrank forgets the sets of a row that may have lost something.
func (w *within) shrank(p *Proof, row int) {
	if !w.begun {
		return
	}
	for _, d := range w.sets.of(row) {
		w.forget(int(d))
	}
}

// changedSince forgets the sets of all rows that have changed after a version.
func (w *within) changedSince(p *Proof, version uint64) {
	if !w.begun {
		return
	}
	rows, all := p.changesSince(version, true)
	w.seen = -1
	if all {
		for d := range w.sets.n {
			w.forget(d)
		}
	}
	for _, r := range rows {
		w.shrank(p, int(r))
	}
}

// holds reports whether set d may hold the gang.
func (w *within) holds(p *Proof, d int) bool {
	if w.unknown[d] {
		w.unknown[d] = false
		w.progress.at[d] = waiting{condition: int32(p.bounds.firstToFollow())}
		w.progress.advance(d)
		w.moved[d/kernel.Block] |= 1 << (d % kernel.Block)
		w.found = w.found && d != w.closest // it may have been closer
	}
	return w.progress.isOpen(d) && (!p.budget.on || w.budgetHolds(p, d))
}

// slacken looks again at every set that waits for budgets, where their sums are rounded: each
// change anywhere allows for more.
func (w *within) slacken(p *Proof) {
	if !p.budget.on || w.seen == p.budget.changes {
		return
	}
	w.seen = p.budget.changes
	for j, needed := range p.bounds.needed {
		// One such column is enough to look at all: each set waits at one of its own.
		if needed > 0 && p.slack(j) > 0 {
			for d := range w.sets.n {
				if w.budgeted(p, d) {
					w.look[d/kernel.Block] |= 1 << (d % kernel.Block)
				}
			}
			return
		}
	}
}

// find finds the set that comes closest when none holds the gang, as the progress does, and why
// it does not.
func (w *within) find(p *Proof) {
	// All are compared once. Later only sets that have changed can come closer.
	if !w.found {
		w.found, w.closest, w.explained = true, -1, false
		for d := range w.sets.n {
			w.compare(p, d)
		}
		clear(w.moved)
	}
	for i := range w.moved {
		for ; w.moved[i] != 0; w.moved[i] &= w.moved[i] - 1 {
			w.compare(p, i*kernel.Block+bits.TrailingZeros64(w.moved[i]))
		}
	}
	if w.explained {
		return
	}
	w.explained = true
	if d := w.closest; d >= 0 && w.budgeted(p, d) {
		w.why = p.bounds.shortOf(int(w.columns[d]), &w.progress.surplus[d])
		w.why.Reason, w.why.Domain = InfeasibleBudget, d
	} else {
		w.why = w.progress.why(d)
	}
}

// compare makes set d the closest when it is, or was already.
func (w *within) compare(p *Proof, d int) {
	rank, has := int(w.progress.at[d].condition), 0.0
	if w.budgeted(p, d) {
		rank += int(w.columns[d])
		has = w.progress.surplus[d].plus(p.bounds.needed[w.columns[d]])
	} else {
		has = w.progress.has(d)
	}
	if w.closest < 0 || d == w.closest || rank > w.rank ||
		rank == w.rank && (has > w.has || has == w.has && d < w.closest) {
		w.closest, w.rank, w.has, w.explained = d, rank, has, false
	}
}

// released counts a victim of an owner in the sets of its row.
func (w *within) released(p *Proof, owner, row int, amounts vector.ResourceVector) {
	b := &p.budget
	for _, d := range w.sets.of(row) {
		i := w.account(b, d, owner)
		b.save(i)
		accounts := b.row(i)
		j, was := -1, 0.0
		// Only then does the surplus of the set have owners in it.
		if w.budgeted(p, int(d)) {
			j = int(w.columns[d])
			was = b.counts(&accounts[j])
		}
		b.add(i, amounts)
		if j >= 0 {
			if is := b.counts(&accounts[j]); is != was {
				w.progress.surplus[d].replace(was, is)
			}
		}
	}
}

// account returns the account of an owner in a set, a row of the budget.
func (w *within) account(b *budget, set int32, owner int) int {
	key := pair{set, int32(owner)}
	i, ok := w.pairs[key]
	if !ok {
		if w.pairs == nil {
			w.pairs = make(map[pair]int32)
		}
		i = int32(b.open(owner))
		w.pairs[key] = i
		w.next = append(w.next, w.first[set])
		w.first[set] = i
	}
	return int(i)
}

// budgetHolds reports whether the budgets leave enough in set d, where all other conditions
// hold.
func (w *within) budgetHolds(p *Proof, d int) bool {
	s, counted := &w.progress.surplus[d], w.columns[d] >= 0
	for w.columns[d] = max(w.columns[d], 0); int(w.columns[d]) < p.gang.cols; w.columns[d]++ {
		if j := int(w.columns[d]); p.bounds.needed[j] > 0 {
			if !counted {
				w.sum(p, d, j)
			}
			if s.plus(p.slack(j)) < 0 {
				return false
			}
		}
		counted = false
	}
	return true
}

// sum sums up what the budgets leave in column j of set d, less what is needed.
func (w *within) sum(p *Proof, d, j int) {
	s, b := w.progress.sum(&p.start, d, j), &p.budget
	for i := w.first[d]; i >= 0; i = w.next[int(i)-b.owners-2] {
		s.add(b.counts(&b.row(int(i))[j]))
	}
}
