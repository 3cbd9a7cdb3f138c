package gang

import (
	"fmt"
	"iter"
	"slices"

	"github.com/resvec/resvec/vector"
)

// Scenario is the answer of [Packer.Filter].
type Scenario struct {
	// Prefix is how many victims have to go for the placement that was found, victims 0 to
	// Prefix-1; -1 without one. Where it equals LowerBound no shorter prefix exists, as always
	// when the members request the same, or all but a leader, unless [Packer.Limit] lets some
	// stay or a leader has a Skew.
	Prefix int

	// Victims are, with [Packer.Limit], the ones of the prefix that go, by index in ascending
	// order; nil without. They are valid until p is asked again.
	Victims []int32

	// Placement is the row of each member, in the order of requests; empty where none was
	// found.
	Placement []int32

	// LowerBound is a proved bound: no prefix shorter than it lets the gang
	// fit, however it is placed. It is the number of victims plus 1 when even
	// all of them are not enough.
	LowerBound int

	// Infeasible says why the gang does not fit even when all victims are gone;
	// its Reason is NotProved otherwise. Without a proof and without a
	// placement the answer is open.
	Infeasible Infeasibility

	// Domain is the set of the placement, or the one that Infeasible is about; -1 when the
	// answer is open or there is no set. It is 0 without domains.
	Domain int
}

// Filter says how short a prefix of the victims makes the gang placeable on the
// selected rows within one of the sets of domains, given the free amounts in o: the scenario
// filter of preemption and consolidation. Nil domains are one set of every row. A victim is a
// row, on which it runs, and amounts, padded with zeros, which it releases there. Victims come
// in the order in which they would be evicted. One on a row that is not selected counts in the
// prefix and makes no room.
//
// Filter takes the victims one by one, and none after its answer is known. The lower
// bound is the shortest prefix that [Packer.Infeasible] does not reject. Up to it, a
// victim costs what a change costs a Proof: see [Proof.Within]. When all members request the same, or all but a
// leader, the lower bound is the answer. Otherwise Filter looks for a placement from
// there on as [Options.Search] says. Placeability by a heuristic is not monotone (one
// more victim can break first fit), so the prefix found need not be the shortest one.
//
// The error says which victim cannot be released, when no answer is found before it: it
// is [vector.ErrShape] for a row that does not exist, and an [*vector.AmountError] for a
// negative amount, or one that [vector.Overlay.AddToRow] refuses. Filter takes no victim
// after that one. An answer that needs fewer victims stands. Filter panics when a victim
// has more amounts than columns.
//
// dst is overwritten, grown when its capacity is short, and becomes the
// Placement. The changes that o holds are kept and part of the free amounts;
// what Filter does itself is rolled back, so that o holds the same bits as
// before. To go on from the answer, add the released amounts of the prefix and
// subtract the members. The amounts of a victim are read before the next is asked
// for. victims must not use p or o; nil stands for none.
func (p *Packer) Filter(dst []int32, o *vector.Overlay, requests *vector.Matrix, rows *vector.Mask, domains *Domains, victims iter.Seq2[int, vector.ResourceVector]) (Scenario, error) {
	free := o.Matrix()
	p.prepare(free, requests, rows, domains)
	p.sets.index(free.Rows())
	s := &p.search
	if s.yield == nil {
		s.packer, s.yield = p, s.victim
	}
	p.bounds.take(&p.gang, &p.spread)
	if p.allowance.on {
		p.limited(free, requests, rows, domains)
	}
	s.overlay = o
	s.begin(free)
	defer o.Rollback(o.Mark()) // also when victims panics
	if victims != nil && !s.done {
		victims(s.yield)
	}
	answer, err := s.finish()
	found := err == nil && answer.Prefix >= 0
	p.filters.note(found)
	if !found {
		answer.Placement = dst[:0]
		return answer, err
	}
	answer.Placement = append(dst[:0], p.placement...)
	if p.allowance.on {
		answer.Victims = p.allowance.chosen(answer.Prefix, func(row int) bool {
			return slices.Contains(p.sets.of(row), int32(answer.Domain))
		})
	}
	return answer, nil
}

// search is a Filter on its way through the victims: first up to the lower bound,
// then from try to try.
type search struct {
	packer  *Packer
	yield   func(row int, amounts vector.ResourceVector) bool // victim, as a value that is made once
	overlay *vector.Overlay
	free    *vector.Matrix
	cursor  int // of a round-robin tie, at the start

	released int
	lower    int // -1 while it is not reached
	failed   int // the longest prefix that was tried in vain, -1 for none
	found    int // the shortest that has a placement, -1 for none
	domain   int // its set
	next     int // the prefix to try next
	done     bool
	fault    error

	after   vector.Mark // of failed
	victims released    // after failed, for bisection; in row -1 one that stays
}

// begin looks at the free amounts as they are.
func (s *search) begin(free *vector.Matrix) {
	p := s.packer
	*s = search{
		packer: p, yield: s.yield, overlay: s.overlay, free: free, cursor: position(p.options.BestFit),
		lower: -1, failed: -1, found: -1, victims: s.victims,
	}
	s.victims.start(free.Cols())
	p.progress.start(&p.bounds, free, &p.sets)
	for d := range p.sets.n {
		p.progress.advance(d)
	}
	s.look()
}

// victim takes the next victim and reports whether it wants another.
func (s *search) victim(row int, amounts vector.ResourceVector) bool {
	if s.done {
		return false
	}
	err, goes := checkVictim(s.free, row, amounts), true
	if err == nil && s.packer.allowance.on {
		goes, err = s.packer.release(s.released, row, amounts)
	}
	// One that stays counts in the prefix and makes no room.
	if err == nil && goes {
		err = s.packer.progress.release(s.overlay, row, amounts)
	}
	if err != nil {
		s.fault, s.done = fmt.Errorf("victim %d: %w", s.released, err), true
		return false
	}
	if s.lower >= 0 && s.packer.options.Search == SearchBisect { // bisection may release it again
		if !goes {
			row = -1
		}
		s.victims.add(0, row, amounts)
	}
	s.released++
	s.look()
	return !s.done
}

// look goes on from a prefix that has just been reached. Below the lower bound a placement
// would fail for sure.
func (s *search) look() {
	if s.lower < 0 {
		p := s.packer
		infeasible := p.progress.open == 0
		if p.allowance.on {
			_, infeasible = p.proof.Infeasible()
		}
		if infeasible {
			return
		}
		s.lower, s.next = s.released, s.released
	}
	if s.released == s.next {
		s.try()
	}
}

// try looks for a placement with the victims released so far, and says which prefix
// is next.
func (s *search) try() {
	if s.place() {
		s.found, s.done = s.released, true
		return
	}
	switch s.packer.options.Search {
	case SearchBound:
		s.done = true
	case SearchLinear:
		s.next = s.released + 1
	default:
		step := 1
		if s.failed >= 0 {
			step = 2 * (s.released - s.failed)
		}
		s.next = s.released + step
		// Bisection never goes back behind this prefix, so the victims up to it need not be kept.
		s.failed, s.after = s.released, s.overlay.Mark()
		s.victims.start(s.free.Cols())
	}
}

// place looks for a placement in the sets that may hold one, in order, and keeps it.
func (s *search) place() bool {
	p := s.packer
	p.survey(s.free)
	for d := range p.sets.n {
		w := &p.progress.at[d]
		if !p.progress.isOpen(d) || w.tried {
			continue
		}
		var ok bool
		if p.trial, ok = p.place(p.trial, s.free, d); ok {
			p.trial, p.placement = p.placement, p.trial
			s.domain = d
			return true
		}
		w.tried = p.options.Search == SearchLinear
	}
	return false
}

// finish gives the answer when there is no victim left or none is needed.
func (s *search) finish() (Scenario, error) {
	if s.lower >= 0 && s.found < 0 && s.packer.options.Search == SearchBisect && s.released > s.failed {
		s.try() // the victims ran out before the next prefix
	}
	s.done = true
	p := s.packer
	switch {
	case s.found >= 0:
		if s.failed >= 0 {
			s.bisect()
		}
		return Scenario{Prefix: s.found, LowerBound: s.lower, Domain: s.domain}, nil
	case s.fault != nil: // nobody knows what the victims after it would make possible
		return Scenario{Prefix: -1}, s.fault
	case s.lower >= 0: // neither a placement nor a proof
		open := Scenario{Prefix: -1, LowerBound: s.lower}
		if !p.sets.whole() {
			open.Domain = -1
		}
		return open, nil
	}
	answer := Scenario{Prefix: -1, LowerBound: s.released + 1}
	if p.allowance.on {
		answer.Infeasible, _ = p.proof.Infeasible()
	} else {
		answer.Infeasible = p.progress.why(p.progress.closest())
	}
	answer.Domain = answer.Infeasible.Domain
	return answer, nil
}

// bisect shortens the prefix that was found until the one before it fails. Each try takes
// the cursor of a round-robin tie from where it was at the start, as a Place of its own would.
func (s *search) bisect() {
	tie := s.packer.options.BestFit
	after := position(tie)
	first := s.failed // of the victims kept
	for s.found-s.failed > 1 {
		s.overlay.Rollback(s.after)
		middle := s.failed + (s.found-s.failed)/2
		for i := s.failed - first; i < middle-first; i++ {
			if row := int(s.victims.rows[i]); row >= 0 {
				_ = s.overlay.AddToRow(row, s.victims.amountsOf(int32(i))) // accepted before
			}
		}
		reposition(tie, s.cursor)
		if s.place() {
			s.found, after = middle, position(tie)
			continue
		}
		// The victims up to here stay released: the next try is about longer prefixes only.
		s.failed, s.after = middle, s.overlay.Mark()
	}
	reposition(tie, after)
}
