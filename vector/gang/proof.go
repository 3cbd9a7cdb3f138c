package gang

import (
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
)

// Proof keeps the answer of [Packer.Infeasible] up to date while amounts are released. It is
// what an eviction loop asks before it simulates: it releases one victim, asks, releases the
// next.
//
// A Proof has a private copy of the free amounts. Changes are journalled as in an
// [vector.Overlay], so [Proof.Rollback] goes back to any earlier point, to the bit.
//
// A change costs the columns of one row. A question looks at the conditions in order up
// to the first that fails, and brings that one up to date with the rows that have changed
// since. Conditions that hold are skipped until a victim comes back. So a change and a
// question cost at most the columns times the conditions, and mostly the columns of one.
// Counting a condition for the first time costs a pass over the rows, as does a condition
// that lags far behind.
//
// Victims can have owners, which may not lose more than [Proof.Limit] says, and the gang can
// have to stay within one of the sets of [Proof.Within].
//
// The zero value has no rows and no members; [Proof.Reset] gives it some, and reuses
// the memory. Nothing allocates once that has grown. A Proof must not be copied, and is for
// one goroutine.
type Proof struct {
	overlay  vector.Overlay
	start    vector.Matrix // the amounts at Reset
	began    uint64        // its version
	mask     vector.Mask
	selected []uint64 // nil: every row

	gang   gang
	bounds bounds
	spread spread
	budget budget

	counter rowCounter
	rows    []int32 // scratch: those that have changed

	asked int          // how often the conditions have changed
	first int          // the conditions before it hold
	known []known      // per condition
	sums  []columnSum  // per column
	best  []columnBest // per column
	gains []float64    // per row: of the leader; noLeader where not selected
	gain  peaks        // the greatest of them

	within  within
	victims released

	proofs counts
}

// known is what a Proof knows about one condition.
type known struct {
	asked  bool
	kept   bool    // what the rows contribute is kept
	upTo   uint64  // it covers the changes up to this version of the matrix
	places []int32 // per row: copies, at most those needed; 0 where not selected
	sum    int64   // of places
	inSet  []int64 // per set of the Spread: of places
	apart  int64   // how many places the sets take; sum without a Spread
}

// columnSum is what the rows contribute to the sum of a column.
type columnSum struct {
	amounts []float64 // per row: the positive amount; 0 where not selected
	surplus exactSum  // of them, less what is needed
}

// columnBest is the greatest amount of a column.
type columnBest struct {
	kept bool
	upTo uint64
	peaks
}

// Reset makes p a proof about the gang in requests on the selected rows of free, as
// [Packer.Infeasible] takes them. Marks taken before are void. Resetting to the same matrix
// again costs the rows that it or p changed in between. It panics as Infeasible does.
func (p *Proof) Reset(free, requests *vector.Matrix, rows *vector.Mask) {
	checkSame(free, requests)
	selected := selection(rows, free.Rows())
	// The caller may change its mask for the next gang.
	if p.selected = selected; rows != nil {
		p.mask.CopyFrom(rows)
		p.selected = p.mask.Words()
	}
	p.overlay.Reset(free)
	p.start.CopyFrom(free) // budgets and choices count from here
	p.began = p.overlay.Matrix().Version()
	p.gang.take(requests)
	p.spread.on = false
	p.budget.end()
	p.within.on = false
	p.victims.start(free.Cols())
	p.sums, p.best = grown(p.sums, free.Cols()), grown(p.best, free.Cols())
	for j := range p.best {
		p.best[j].kept = false
	}
	p.takeBounds()
}

// takeBounds derives the conditions, of which p then knows nothing.
func (p *Proof) takeBounds() {
	p.spread.over(p.overlay.Matrix().Rows())
	p.bounds.take(&p.gang, &p.spread)
	p.forget()
}

// forget makes p know nothing of any condition.
func (p *Proof) forget() {
	if p.bounds.gang == nil { // never reset
		p.bounds.take(&p.gang, &p.spread)
	}
	p.first, p.within.begun = 0, false
	p.asked++
	p.known = grown(p.known, p.bounds.conditions+p.budget.cols)
	for c := range p.known {
		p.known[c].asked, p.known[c].kept = false, false
	}
}

// Release adds amounts, padded with zeros, to what is free on a row: a victim goes.
// Nothing has changed when there is an error: [vector.ErrShape] when there is no such row,
// an [*vector.AmountError] when an amount is negative, or one that
// [vector.Overlay.AddToRow] refuses. It panics when amounts are longer than rows are wide.
func (p *Proof) Release(row int, amounts vector.ResourceVector) error {
	return p.release(p.budget.owners, row, amounts)
}

// release releases a victim of an owner, or of none for the number of owners.
func (p *Proof) release(owner, row int, amounts vector.ResourceVector) error {
	if err := checkVictim(p.overlay.Matrix(), row, amounts); err != nil {
		return err
	}
	// What is known of sets is brought up to date at once: the row shows what it had only now.
	if p.within.on {
		if err := p.within.release(p, row, amounts); err != nil {
			return err
		}
	} else if err := p.overlay.AddToRow(row, amounts); err != nil {
		return err
	}
	// Victims on other rows are in the list, too: Choose counts them by index.
	p.victims.add(owner, row, amounts)
	if p.budget.on && isSelected(p.selected, row) {
		p.budget.released(owner, amounts)
		if p.within.on {
			p.within.released(p, owner, row, amounts)
		}
	}
	return nil
}

// Mark is a point in the history of a [Proof] to roll back to. Marks nest.
type Mark struct {
	overlay vector.Mark
	budget  budgetMark
	victims releasedMark
	first   int // the conditions before it held
	asked   int // which conditions those are: see Proof.asked
}

// Mark returns the present point of the history, to go back to with
// [Proof.Rollback]. Marks nest.
func (p *Proof) Mark() Mark {
	return Mark{p.overlay.Mark(), p.budget.mark(), p.victims.mark(), p.first, p.asked}
}

// Rollback takes back every change made since mark was taken; the zero Mark takes
// back all of them. It costs the rows that were changed. It panics when the mark is
// void: taken before the last Reset, or at a point that was rolled back itself.
func (p *Proof) Rollback(mark Mark) {
	version := p.overlay.Matrix().Version()
	p.overlay.Rollback(mark.overlay)
	p.budget.rollback(mark.budget)
	p.victims.rollback(mark.victims)
	p.within.changedSince(p, version)
	if p.first = mark.first; mark.asked != p.asked {
		p.first = 0
	}
}

// Matrix returns the free amounts as they are now, to be read by any kernel or
// [Packer]. It is read-only and follows later changes.
func (p *Proof) Matrix() *vector.Matrix { return p.overlay.Matrix() }

// Infeasible returns what [Packer.Infeasible] returns for the domains of [Proof.Within] and the
// amounts as they are now: whether the gang provably has no valid placement, and why.
//
// With budgets it is also true where no permitted set of the victims makes room. That is tested
// after the sums of the columns and before copies are counted. Within domains, only the victims
// on the rows of a set make room there, and budgets are tested last: a set that lacks nothing
// else comes closest.
func (p *Proof) Infeasible() (why Infeasibility, infeasible bool) {
	if p.within.on {
		return p.within.infeasible(p)
	}
	for ; p.first < len(p.known); p.first++ {
		if !p.holds(p.first) {
			p.proofs.note(true)
			return p.why(p.first), true
		}
	}
	p.proofs.note(false)
	return Infeasibility{}, false
}

// holds says whether condition c holds. When it is asked for the first time it only
// counts as far as it has to. From the second time on it keeps what each row
// contributes.
func (p *Proof) holds(c int) bool {
	k, c, aboutBudget := p.condition(c)
	if aboutBudget {
		return p.bounds.needed[c] == 0 || p.budgetHolds(c)
	}
	if !k.asked { // many conditions are asked once: don't keep anything for them
		k.asked = true
		if _, fails := p.bounds.fails(c, p.overlay.Matrix(), p.selected); !fails {
			return true
		}
	}
	count := c - p.gang.cols
	switch {
	case count < 0:
		return p.bounds.needed[c] == 0 || p.columnHolds(c, k)
	case count < len(p.bounds.counts):
		return p.placesSuffice(count, k)
	}
	return p.leaderFits(k) // the last, since it looks at the most
}

// condition returns what is known of condition c, and the column whose budgets it is about,
// or its index in bounds.
func (p *Proof) condition(c int) (k *known, index int, aboutBudget bool) {
	k = &p.known[c]
	switch cols := p.gang.cols; {
	case c < cols:
		return k, c, false
	case c-cols < p.budget.cols:
		return k, c - cols, true
	}
	return k, c - p.budget.cols, false
}

// changesSince returns the selected rows that have changed after a version, or all when
// they are not known: nothing was kept, or the matrix has forgotten changes that old.
func (p *Proof) changesSince(version uint64, kept bool) (rows []int32, all bool) {
	if !kept {
		return nil, true
	}
	p.rows, all = p.overlay.Matrix().Changed(p.rows, version)
	if p.selected != nil {
		p.rows = slices.DeleteFunc(p.rows, func(r int32) bool { return !isSelected(p.selected, int(r)) })
	}
	return p.rows, all
}

// columnHolds is holds for the sum of column j.
func (p *Proof) columnHolds(j int, k *known) bool {
	s, column := &p.sums[j], p.overlay.Matrix().Column(j)
	rows, all := p.changesSince(k.upTo, k.kept)
	for _, r := range rows {
		s.set(int(r), positive(column[r]))
	}
	if all || s.surplus.overflow { // then it no longer says what it is
		s.take(column, p.selected, p.bounds.needed[j])
	}
	k.kept, k.upTo = !s.surplus.overflow, p.overlay.Matrix().Version()
	return !s.surplus.negative()
}

// take sums up the selected rows of a column. It keeps what each row has, to take it away when
// the row changes.
func (s *columnSum) take(column []float64, selected []uint64, needed float64) {
	s.amounts = resized(s.amounts, len(column))
	clear(s.amounts)
	s.surplus.reset()
	s.surplus.add(-needed)
	eachRow(selected, len(column), func(r int) bool {
		s.set(r, positive(column[r]))
		return true
	})
}

// set replaces what row r contributes.
func (s *columnSum) set(r int, x float64) {
	if old := s.amounts[r]; x != old {
		s.surplus.replace(old, x)
		s.amounts[r] = x
	}
}

// placesSuffice is holds for the count with index c. A row counts at most as many copies as
// are needed, so that an unlimited one does not drown the others in the sum.
func (p *Proof) placesSuffice(c int, k *known) bool {
	need, free := p.bounds.counts[c].need, p.overlay.Matrix()
	p.counter.take(p.bounds.request(c), need)
	rows, all := p.changesSince(k.upTo, k.kept)
	if all {
		k.places = resized(k.places, free.Rows())
		k.sum = countCopies(k.places, free, p.selected, p.counter.request, need, math.MaxInt64)
		k.apart = p.placesApart(k)
	}
	for _, r := range rows {
		p.setPlaces(k, int(r), p.counter.on(free, int(r)))
	}
	// What the lowest set has decides how many places all others have.
	if p.bounds.skewed(c) {
		k.apart = p.spread.taken(k.inSet, true)
	}
	k.kept, k.upTo = true, p.overlay.Matrix().Version()
	return k.apart >= need
}

// placesApart returns how many of all places the sets of the Spread take.
func (p *Proof) placesApart(k *known) int64 {
	if !p.spread.on {
		return k.sum
	}
	k.inSet = resized(k.inSet, p.spread.sets)
	return p.spread.sum(k.inSet, k.places, false)
}

// setPlaces sets the places on row r.
func (p *Proof) setPlaces(k *known, r int, places int64) {
	change := places - int64(k.places[r])
	k.places[r] = int32(places)
	k.sum += change
	if p.spread.on {
		set := p.spread.set(r)
		was := k.inSet[set]
		k.inSet[set] += change
		change = p.spread.change(set, was, was+change)
	}
	k.apart += change
}

// leaderFits is holds for the leader. The gains of all rows are kept, since a victim that
// comes back can lower the best one.
func (p *Proof) leaderFits(k *known) bool {
	l, free := &p.gang.leading, p.overlay.Matrix()
	rows, all := p.changesSince(k.upTo, k.kept)
	if all { // one look at a row gives both numbers
		k.places, p.gains = resized(k.places, free.Rows()), resized(p.gains, free.Rows())
		k.sum = 0
		for r := range free.Rows() {
			places, gain := int64(0), noLeader
			if isSelected(p.selected, r) {
				places, gain = l.on(free, r)
			}
			k.sum += places
			k.places[r], p.gains[r] = int32(places), gain
		}
		p.gain.take(p.gains, nil)
		k.apart = p.placesApart(k)
	}
	for _, r := range rows {
		places, gain := l.on(free, int(r))
		p.setPlaces(k, int(r), places)
		p.gains[r] = gain
		p.gain.changed(p.gains, nil, int(r))
	}
	k.kept, k.upTo = true, p.overlay.Matrix().Version()
	_, short := l.shortOf(k.sum, p.gain.top())
	// Gains apart depend on the sets, so no peak is kept of them.
	if !short && p.spread.on {
		_, short = l.shortOf(k.apart, p.gainApart(k))
	}
	return !short
}

// gainApart is the best gain where the sets of the Spread take no more than their room. A set
// that changes changes it for all its rows, so all are looked at, until one suffices.
func (p *Proof) gainApart(k *known) float64 {
	best, need := noLeader, float64(p.gang.leading.workers-k.apart)
	for r, gain := range p.gains {
		set := p.spread.set(r)
		if best = max(best, p.spread.gain(set, k.inSet[set], gain)); best >= need {
			break
		}
	}
	return best
}

// why explains that condition c, which is up to date, does not hold.
func (p *Proof) why(c int) Infeasibility {
	k, c, aboutBudget := p.condition(c)
	if aboutBudget {
		why := p.bounds.shortOf(c, &p.budget.columns[c].surplus)
		why.Reason = InfeasibleBudget
		return why
	}
	count := c - p.gang.cols
	switch {
	case count < 0:
		return p.bounds.shortOf(c, &p.sums[c].surplus)
	case count < len(p.bounds.counts):
		return p.bounds.shortOfPlaces(count, k.apart, k.sum, p.bestOf)
	}
	why, short := p.gang.leading.shortOf(k.sum, p.gain.top())
	if !short { // then only the sets are in the way
		why, _ = p.gang.leading.shortOf(k.apart, p.gainApart(k))
		why = why.apart()
	}
	return why
}

// bestOf returns the greatest amount of column j. Only explanations ask for it, so it is
// brought up to date when one does.
func (p *Proof) bestOf(j int) float64 {
	b, column := &p.best[j], p.overlay.Matrix().Column(j)
	rows, all := p.changesSince(b.upTo, b.kept)
	if all {
		b.take(column, p.selected)
	}
	for _, r := range rows {
		b.changed(column, p.selected, int(r))
	}
	b.kept, b.upTo = true, p.overlay.Matrix().Version()
	return b.top()
}
