package fairshare

import (
	"cmp"
	"math/bits"
	"slices"
)

// fill is the part of its share that a queue has of a column: amount/share, at most 1. Where the
// share is 0 it is always 1. The zero fill is of no queue.
type fill struct {
	isPlenty      bool // the column isn't short below the parent of the queue
	amount, share int64
	row, column   int32
}

// compare compares fills as the sorted list has them: those of short columns first, then the
// smaller. The one of no queue comes last.
func (x *fill) compare(y *fill) int {
	if x.share == 0 || y.share == 0 {
		return cmp.Compare(number(x.share == 0), number(y.share == 0))
	}
	if x.isPlenty != y.isPlenty {
		return cmp.Compare(number(x.isPlenty), number(y.isPlenty))
	}
	hi1, lo1 := bits.Mul64(uint64(x.amount), uint64(y.share))
	hi2, lo2 := bits.Mul64(uint64(y.amount), uint64(x.share))
	return compare128(hi1, lo1, hi2, lo2)
}

// lower makes x the one of both that comes first in the list.
func (x *fill) lower(y *fill) {
	if y.share > 0 && x.isAfter(y.isPlenty, y.amount, y.share) {
		*x = *y
	}
}

// isAfter reports whether x comes after a fill of a queue: before the latter is written down.
func (x *fill) isAfter(isPlenty bool, amount, share int64) bool {
	if x.share == 0 || x.isPlenty != isPlenty {
		return x.share == 0 || x.isPlenty
	}
	return less(amount, x.share, x.amount, share)
}

// fills are what a claim knows of fills by Leximin. A claim is allowed that makes the list of all
// fills greater, as words are compared, and likewise, at each parent of a queue on the path some of
// whose siblings gave, the list of these and of that queue. Fills that stay what they were change
// nothing. So it is nearly always enough to compare two: the least, before, of those that rise, and
// the least, after, of those that fall.
type fills struct {
	rows   []int32 // the path, the top, all at and above leaves that gave, and parents that were looked at
	at     []int32 // per row of the tree: its number in rows, from 1; 0 where it isn't there
	before []int64 // what each had at the beginning, a row each
	short  []bool  // which columns were short below each then

	levels []levelOfPath
	least  fill // the least to which a queue fell that isn't on the path

	onlyShare bool // whether all but the shares of the claim's side allowed the last victim

	was, is []fill // scratch
	sums    []int64
}

// levelOfPath is a queue of the path among its siblings. What it says of the queue counts the job.
type levelOfPath struct {
	gave         bool // whether any sibling did
	least        fill // the least to which one of them fell
	rises, falls fill // what change says of the queue
	allRise      fill // the least of rises down to the leaf
	allFall      fill // the least of falls down to the leaf
	isWithin     bool // whether the queue and all below it on the path are within their shares of what the job asks for
}

// beginFills remembers what the path has.
func (c *Claim) beginFills() {
	f := &c.fills
	c.forget(0)
	f.least = fill{}
	f.at = grown(f.at, len(c.t.rows))
	f.levels = resized(f.levels, len(c.path))
	clear(f.levels)
	c.remember(c.leaf)
	c.look(0)
}

// look looks at the path from a step on: what its queues have has changed.
func (c *Claim) look(from int) {
	for step := from; step < len(c.path); step++ {
		at := &c.fills.levels[step]
		at.rises, at.falls = c.change(step, nil)
		at.allRise, at.allFall, at.isWithin = at.rises, at.falls, c.isWithinShare(c.path[step])
		if step > 0 {
			below := &c.fills.levels[step-1]
			at.allRise.lower(&below.allRise)
			at.allFall.lower(&below.allFall)
			at.isWithin = at.isWithin && below.isWithin
		}
	}
}

// remember remembers what a row and those above it have, where it hasn't yet. Wants are remembered
// as well: who gives still wants what it gave.
func (c *Claim) remember(row int32) {
	for f, t := &c.fills, c.t; row >= 0 && f.at[row] == 0; row = t.rows[row].parent {
		f.rows = append(f.rows, row)
		f.at[row] = int32(len(f.rows))
		f.before = append(f.before, t.used(row, allocated)...)
		f.short = t.shortOf(f.short, row)
	}
}

// forget forgets all but the first rows.
func (c *Claim) forget(n int) {
	f := &c.fills
	for _, row := range f.rows[n:] {
		f.at[row] = 0
	}
	f.rows, f.before, f.short = f.rows[:n], f.before[:n*c.t.cols], f.short[:n*c.t.cols]
}

// shortOf returns which columns were short below a row at the beginning.
func (c *Claim) shortOf(row int32) []bool {
	c.remember(row) // if it isn't yet, nobody below it has given
	return c.fills.short[int(c.fills.at[row]-1)*c.t.cols:][:c.t.cols]
}

// lowerByLoss lowers x to the least fill to which a row falls that gives amounts, or has given them.
func (c *Claim) lowerByLoss(x *fill, row int32, amounts []int64, hasGiven bool) {
	t := c.t
	a, gets, short := t.used(row, allocated), t.used(row, share), c.shortOf(t.rows[row].parent)
	for j, amount := range amounts {
		if amount == 0 {
			continue
		}
		has := a[j]
		if !hasGiven {
			has -= amount
		}
		if has < gets[j] && x.isAfter(!short[j], has, gets[j]) {
			*x = fill{!short[j], has, gets[j], row, int32(j)}
		}
	}
}

// leastLosses returns the least to which a giver falls, and the least of all from the leaf up to it.
func (c *Claim) leastLosses(giver, leaf int32, amounts []int64, hasGiven bool) (ofGiver, ofAll fill) {
	for row := leaf; row != giver; row = c.t.rows[row].parent {
		c.lowerByLoss(&ofAll, row, amounts, hasGiven)
	}
	c.lowerByLoss(&ofGiver, giver, amounts, hasGiven)
	ofAll.lower(&ofGiver)
	return ofGiver, ofAll
}

// noteLoss notes what fell when a leaf gave amounts.
func (c *Claim) noteLoss(of sides, leaf int32, amounts []int64) {
	f := &c.fills
	ofGiver, ofAll := c.leastLosses(of.giver, leaf, amounts, true)
	f.levels[of.step].gave = true
	f.levels[of.step].least.lower(&ofGiver)
	f.least.lower(&ofAll)
	c.look(of.step + 1)
}

// askLeximin allows taking c.v from a leaf if that makes fills greater, and leaves the claim's side
// within its shares. Levels below the giver's are what they were, and have been allowed.
func (c *Claim) askLeximin(of sides, leaf int32) (why Refusal) {
	f := &c.fills
	down, falls := c.leastLosses(of.giver, leaf, c.v, false)
	at := &f.levels[of.step]
	down.lower(&at.least)
	down.lower(&at.falls)
	if !c.isAllowed(&at.rises, &down, leaf, of.step) {
		why = c.whyNot(of.step, &at.rises, &down)
	}
	rises := at.allRise
	falls.lower(&f.least)
	falls.lower(&at.allFall)
	for step := of.step + 1; step < len(c.path); step++ {
		up, down := c.change(step, c.v)
		rises.lower(&up)
		falls.lower(&down)
		at := &f.levels[step]
		if !at.gave || why.Reason != Allowed {
			continue
		}
		if down.lower(&at.least); !c.isAllowed(&up, &down, leaf, step) {
			why = c.whyNot(step, &up, &down)
		}
	}
	if why.Reason == Allowed && !c.isAllowed(&rises, &falls, leaf, -1) {
		why = c.whyNot(0, &rises, &falls)
	}
	// Those above the giver's level were within their shares, if they had to be, and have less now.
	f.onlyShare = why.Reason == Allowed
	if !at.isWithin {
		return c.aboveShare(of.step, of.giver)
	}
	return why
}

// endLeximin asks what askLeximin asked, of those that are taken now: some were given back.
func (c *Claim) endLeximin() Refusal {
	f, highest := &c.fills, 0
	if len(c.taken) == 0 {
		return Refusal{}
	}
	clear(f.levels)
	f.least = fill{}
	c.look(0)
	for i, x := range c.taken {
		c.noteLoss(x.sides, x.leaf, c.amounts[i*c.t.cols:][:c.t.cols])
		highest = max(highest, x.step)
	}
	if !f.levels[highest].isWithin {
		return c.aboveShare(highest, -1)
	}
	for step := range c.path {
		at := &f.levels[step]
		if down := at.falls; at.gave {
			if down.lower(&at.least); !c.isAllowed(&at.rises, &down, -1, step) {
				return c.whyNot(step, &at.rises, &down)
			}
		}
	}
	at := &f.levels[len(c.path)-1]
	if f.least.lower(&at.allFall); !c.isAllowed(&at.allRise, &f.least, -1, -1) {
		return c.whyNot(0, &at.allRise, &f.least)
	}
	return Refusal{}
}

// change returns the least fill, before, of a queue of the path that rises with the job, and the
// least, after, that falls: whoever is below the queue lowers it, and so do amounts.
func (c *Claim) change(step int, less []int64) (rises, falls fill) {
	t, x := c.t, c.path[step]
	a, gets, short := t.used(x, allocated), t.used(x, share), c.shortOf(t.rows[x].parent)
	for j, was := range c.had(step) {
		is := a[j] + c.asks[j]
		if less != nil {
			is -= less[j]
		}
		switch {
		case is > was && was < gets[j] && rises.isAfter(!short[j], was, gets[j]):
			rises = fill{!short[j], was, gets[j], x, int32(j)}
		case is < was && is < gets[j] && falls.isAfter(!short[j], is, gets[j]):
			falls = fill{!short[j], is, gets[j], x, int32(j)}
		}
	}
	return rises, falls
}

// isAllowed reports whether something rises, and nothing falls below all that rises. Only where
// something falls just as low all fills have to be compared, of the step or, with -1, of all queues.
func (c *Claim) isAllowed(rises, falls *fill, leaf int32, step int) bool {
	if rises.share == 0 {
		return false
	}
	order := falls.compare(rises)
	return order > 0 || order == 0 && c.isBetterWith(leaf, step)
}

// whyNot returns the refusal of what lets rows rise and fall so; the one of a step should rise.
func (c *Claim) whyNot(step int, rises, falls *fill) Refusal {
	if rises.share == 0 {
		return c.refusal(NotMore, c.path[step], -1, -1, 0, 0)
	}
	reason := BelowTaker
	switch {
	case falls.compare(rises) == 0:
		reason = AsLowAsTaker
	case falls.isPlenty != rises.isPlenty:
		reason = ShortBelowShare
	}
	why := c.comparison(reason, rises.row, falls.row, over(rises.amount, rises.share), over(falls.amount, falls.share))
	why.Resource, why.OtherResource = c.t.columns[rises.column], c.t.columns[falls.column]
	return why
}

// isBetterWith is isBetter if a leaf gave c.v, too; -1 is none.
func (c *Claim) isBetterWith(leaf int32, step int) bool {
	if leaf < 0 {
		return c.isBetter(step)
	}
	mark, known := c.t.Mark(), len(c.fills.rows)
	c.remember(leaf)
	c.give(leaf, c.v, -1)
	isBetter := c.isBetter(step)
	c.t.Rollback(mark)
	c.edits = c.t.journal.edits
	c.forget(known) // a victim that is refused costs the next one nothing
	return isBetter
}

// isBetter reports whether the fills of a queue of the path and of its siblings that gave are
// greater than before, or those of all queues, with step -1. If they are the same, more of the
// shares has to be used: less in no column, and more in one.
func (c *Claim) isBetter(step int) bool {
	t, f := c.t, &c.fills
	f.was, f.is, f.sums = f.was[:0], f.is[:0], resized(f.sums, t.cols)
	clear(f.sums)
	for i, row := range f.rows {
		isOnPath := i < len(c.path)
		if row == 0 || step >= 0 && (t.rows[row].parent != t.rows[c.path[step]].parent || isOnPath && i != step) {
			continue
		}
		for j, was := range f.before[i*t.cols:][:t.cols] {
			limit, is := t.used(row, share)[j], t.used(row, allocated)[j]
			if isOnPath {
				is += c.asks[j]
			}
			if was, is = min(was, limit), min(is, limit); was != is {
				isPlenty := !c.shortOf(t.rows[row].parent)[j]
				f.was = append(f.was, fill{isPlenty, was, limit, row, int32(j)})
				f.is = append(f.is, fill{isPlenty, is, limit, row, int32(j)})
				f.sums[j] += is - was
			}
		}
	}
	compare := func(x, y fill) int { return x.compare(&y) }
	slices.SortFunc(f.was, compare)
	slices.SortFunc(f.is, compare)
	if order := slices.CompareFunc(f.is, f.was, compare); order != 0 {
		return order > 0
	}
	return slices.Min(f.sums) >= 0 && slices.Max(f.sums) > 0
}

// isWithinShare reports whether a queue of the path is within its share with the job.
func (c *Claim) isWithinShare(x int32) bool {
	gets := c.t.used(x, share)
	for j, has := range c.t.used(x, allocated) {
		if q := c.asks[j]; q > 0 && has+q > gets[j] {
			return false
		}
	}
	return true
}

// aboveShare returns the refusal of the first queue of the path, up to a step, that isn't.
func (c *Claim) aboveShare(highest int, giver int32) Refusal {
	t := c.t
	for _, x := range c.path[:highest+1] {
		for j, q := range c.asks {
			if has, f := t.used(x, allocated)[j]+q, t.used(x, share)[j]; q > 0 && has > f {
				return c.refusal(AboveShare, x, giver, j, has, f)
			}
		}
	}
	return Refusal{}
}
