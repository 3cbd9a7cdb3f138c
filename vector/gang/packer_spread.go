package gang

import "math"

// surveySets takes the rows of full sets out of the rows that fit, so that no placement has to
// ask. Sets fill up only where a member is put.
func (p *Packer) surveySets(rows int) {
	p.inSet = resized(p.inSet, p.spread.sets)
	clear(p.inSet)
	for r := range rows {
		if p.spread.roomIn(p.spread.set(r)) == 0 {
			for k := range p.fits {
				p.fits[k].Clear(r)
			}
		}
	}
}

// putInSet notes that a set of the Spread has taken a member. When it takes no other, its rows are
// out of the masks at once, and not one by one when they are chosen.
func (p *Packer) putInSet(set int) {
	if p.inSet[set]++; p.inSet[set] < p.spread.roomIn(set) {
		return
	}
	for _, r := range p.spread.rowsOf(set) {
		for k := range p.masks {
			p.masks[k].Clear(int(r))
		}
	}
}

// chooseEven is choose where no set may be skewed: a row of the set with the fewest pods that
// has one. That fills the lowest sets first, which is what makes the answer exact: see
// docs/proofs.md. Rows in no set of the Spread come last: they raise no set.
func (p *Packer) chooseEven(k int32) int {
	s := &p.spread
	pods := func(set int) int64 { return s.runs(set) + int64(p.inSet[set]) }
	fewest := int64(math.MaxInt64)
	for set := range s.given {
		fewest = min(fewest, pods(set))
	}
	chosen, least, cursor := -1, int64(math.MaxInt64), position(p.options.BestFit)
	for set := range s.given {
		if n := pods(set); n < least && n+1-fewest <= s.skew {
			if r := p.rowIn(set, k); r >= 0 {
				chosen, least = r, n
			}
			// Several rows are looked at, and only the one that is taken may turn the tie.
			reposition(p.options.BestFit, cursor)
		}
	}
	for r := 0; chosen < 0 && s.given < s.sets && r < len(s.setOf); r++ {
		if int(s.setOf[r]) >= s.given && p.masks[k].Test(r) {
			chosen = r
		}
	}
	if chosen >= 0 {
		reposition(p.options.BestFit, (chosen+1)%len(p.slots))
	}
	return chosen
}

// rowIn returns the row of a set of the Spread that is chosen for a member of kind k, or -1.
func (p *Packer) rowIn(set int, k int32) int {
	rows := p.spread.rowsOf(set)
	if p.options.bestFit() {
		return p.bestOf(rows, k)
	}
	for _, r := range rows {
		if p.masks[k].Test(int(r)) {
			return int(r)
		}
	}
	return -1
}
