package gang

import (
	"slices"

	"github.com/resvec/resvec/vector"
)

// progress follows the necessary conditions of a gang while victims are released, for
// each of many row sets. Free amounts only grow, so that a condition that holds
// stays true: a set waits at its first condition that fails, and only that is kept
// up to date.
type progress struct {
	bounds *bounds
	free   *vector.Matrix
	sets   *rowSets

	at       []waiting    // per set
	surplus  []exactSum   // per set, of its column
	counters []rowCounter // per count, when it was needed
	memo     []int32      // per row: the copies of a count
	memoOf   []int32      // per row: which count
	open     int          // sets in which every condition holds
	before   []float64    // per set of one row: what the row contributed, see release

	// Of why: one set.
	only     vector.Mask
	onlyRows vector.Matrix
	row      vector.ResourceVector

	// With a Spread: the parts of its sets within each set. A part is known by its first element
	// in Domains.Rows, or by the set of the Spread where there is one set of every row.
	spread *spread
	parts  []int32 // per element of Domains.Rows: its part
	inPart []int64 // per part: the copies that the condition counts
	last   []int32 // per set of the Spread: its last part; scratch
}

// waiting is where one set is.
type waiting struct {
	condition int32 // the first that fails, or their number
	tried     bool  // for a placement, since it changed last
	known     bool  // gain is
	best      int32 // the row that it is on
	places    int64
	gain      float64 // see leading
}

// start takes the conditions of b to free. No set is looked at before advance: an answer
// that the first set gives must not cost a look at all of them.
func (c *progress) start(b *bounds, free *vector.Matrix, sets *rowSets) {
	c.bounds, c.free, c.sets, c.open = b, free, sets, 0
	c.at = resized(c.at, sets.n)
	c.surplus = grown(c.surplus, sets.n)
	c.counters = grown(c.counters, len(b.counts))
	// A counter finds the columns requested once, and not for every row.
	for k := range c.counters {
		c.counters[k].take(b.request(k), b.counts[k].need)
	}
	c.memo, c.memoOf = resized(c.memo, free.Rows()), resized(c.memoOf, free.Rows())
	for r := range c.memoOf {
		c.memoOf[r] = -1 // counts of different requests share the memo
	}
	for d := range c.at {
		c.at[d] = waiting{condition: int32(b.firstToFollow())}
	}
	if c.spread = b.spread; c.spread.on {
		c.findParts()
	}
}

// findParts finds the parts: each pair of sets would be too much memory, and most have no
// row in common.
func (c *progress) findParts() {
	if c.sets.whole() {
		c.inPart = resized(c.inPart, c.spread.sets)
		return
	}
	rows := c.sets.domains.Rows
	c.parts, c.inPart = resized(c.parts, len(rows)), resized(c.inPart, len(rows))
	c.last = resized(c.last, c.spread.sets)
	for set := range c.last {
		c.last[set] = -1
	}
	// The last part of a set of the Spread is of this d only if it begins within d: so that
	// nothing has to be cleared between two sets.
	for d := range c.sets.n {
		first := c.sets.domains.Offsets[d]
		for k, r := range c.sets.rowsOf(d) {
			part := &c.last[c.spread.set(int(r))]
			if *part < first {
				*part = first + int32(k)
			}
			c.parts[int(first)+k] = *part
		}
	}
}

// part returns the part of row r in set d.
func (c *progress) part(d, r int) int {
	if c.sets.whole() {
		return c.spread.set(r)
	}
	k, _ := slices.BinarySearch(c.sets.rowsOf(d), int32(r))
	return int(c.parts[int(c.sets.domains.Offsets[d])+k])
}

// grewBy adds copies to the part of row r in set d, and returns how many of them have a
// place: all without a Spread.
func (c *progress) grewBy(d, r int, copies int64) (places int64) {
	if !c.spread.on {
		return copies
	}
	part := c.part(d, r)
	was := c.inPart[part]
	c.inPart[part] += copies
	return c.spread.change(c.spread.set(r), was, was+copies)
}

// placesApart counts the places in set d, where a row has so many copies.
func (c *progress) placesApart(d int, copies func(r int) int64) (places int64) {
	if c.sets.whole() {
		clear(c.inPart)
	} else {
		clear(c.inPart[c.sets.domains.Offsets[d]:c.sets.domains.Offsets[d+1]])
	}
	c.sets.each(d, c.free.Rows(), func(r int) bool {
		places += c.grewBy(d, r, copies(r))
		return true
	})
	return places
}

// placesEven is placesApart without skew. It looks at all sets of the Spread, since the one with
// the fewest pods need not have a row in set d.
func (c *progress) placesEven(d int, copies func(r int) int64) (places int64) {
	s := c.spread
	s.sums = resized(s.sums, s.sets)
	clear(s.sums)
	c.sets.each(d, c.free.Rows(), func(r int) bool {
		s.sums[s.set(r)] += copies(r)
		return true
	})
	return s.taken(s.sums, true)
}

// recountEven returns the places of the count with index k in set d without skew, when row r has
// so many more.
func (c *progress) recountEven(d, k, r int, more int64) int64 {
	if c.sets.whole() {
		c.inPart[c.spread.set(r)] += more
		return c.spread.taken(c.inPart, true)
	}
	return c.placesEven(d, func(r int) int64 { return c.copiesOn(k, r) })
}

// gain returns how many more workers set d holds with the leader on row r.
func (c *progress) gain(d, r int) float64 {
	_, gain := c.bounds.leading.on(c.free, r)
	if c.spread.on {
		gain = c.spread.gain(c.spread.set(r), c.inPart[c.part(d, r)], gain)
	}
	return gain
}

// firstToFollow returns the condition to start with. Where members are counted, the
// last condition implies the others: it is the definition of a placement itself.
func (b *bounds) firstToFollow() int {
	if b.gang.counted() && b.gang.members > 0 && !(b.hasLeader && b.skewed(0)) {
		return b.conditions() - 1
	}
	return 0
}

// isOpen reports whether every condition holds in set d.
func (c *progress) isOpen(d int) bool { return int(c.at[d].condition) == c.bounds.conditions() }

// advance brings set d to its first condition that fails, from the present one on. The
// ones before it hold for good, since amounts only grow.
func (c *progress) advance(d int) {
	w := &c.at[d]
	for ; int(w.condition) < c.bounds.conditions(); w.condition++ {
		if !c.look(d, int(w.condition)) {
			return
		}
	}
	c.open++
}

// mayHold reports whether set d may hold the gang, without a look at conditions that
// cost as much as placing it. A caller that places the gang next learns the rest from
// that.
func (c *progress) mayHold(d int) bool {
	if first := c.bounds.firstToFollow(); first > 0 {
		return c.look(d, first)
	}
	for j := range c.free.Cols() {
		if !c.look(d, j) {
			return false
		}
	}
	return true
}

// look reports whether a condition holds in set d. When it does not, what the rows
// contribute is known from then on.
func (c *progress) look(d, condition int) bool {
	w, cols := &c.at[d], c.free.Cols()
	switch k := condition - cols; {
	case k < 0:
		return c.bounds.needed[condition] == 0 || !c.sum(c.free, d, condition).negative()
	case k < len(c.bounds.counts):
		w.places = c.places(d, k)
		return w.places >= c.bounds.counts[k].need
	}
	// A gain that is known may be from before a victim came back.
	l := &c.bounds.leading
	if w.known = false; c.spread.on {
		w.places = c.placesApart(d, func(r int) int64 { return l.counter.on(c.free, r) })
	} else {
		w.places = l.placesIn(c.free, c.sets, d)
	}
	return c.leaderFits(d, l)
}

// sum sums up column j of free in set d, less what is needed.
func (c *progress) sum(free *vector.Matrix, d, j int) *exactSum {
	s, column := &c.surplus[d], free.Column(j)
	if c.sets.whole() {
		*s = c.bounds.surplus(free, c.sets.selected, j)
		return s
	}
	s.n, s.infinite = 0, false
	s.add(-c.bounds.needed[j])
	for _, r := range c.sets.rowsOf(d) {
		if c.sets.eligible(int(r)) {
			s.add(positive(column[r]))
		}
	}
	return s
}

// places counts the copies of the count with index k in set d.
func (c *progress) places(d, k int) int64 {
	if c.sets.whole() {
		// Mostly there are enough, and counting stops early. What each row has is needed
		// only where there are not.
		need := c.bounds.counts[k].need
		if places := c.bounds.places(c.free, c.sets.selected, k); places >= need {
			return places
		}
		for r := range c.memoOf {
			c.memoOf[r] = int32(k)
		}
		places := copiesInto(c.memo, c.free, c.sets.selected, c.bounds.request(k), need)
		if c.spread.on {
			places = c.spread.sum(c.inPart, c.memo, c.bounds.skewed(k))
		}
		return places
	}
	count := func(r int) int64 { // the memo may be from before the row grew
		c.memo[r], c.memoOf[r] = int32(c.counters[k].on(c.free, r)), int32(k)
		return int64(c.memo[r])
	}
	if c.bounds.skewed(k) {
		return c.placesEven(d, count)
	}
	if c.spread.on {
		return c.placesApart(d, count)
	}
	var sum int64
	for _, r := range c.sets.rowsOf(d) {
		if c.sets.eligible(int(r)) {
			sum += count(int(r))
		}
	}
	return sum
}

// copiesOn returns the copies of the count with index k on row r.
func (c *progress) copiesOn(k, r int) int64 {
	if int(c.memoOf[r]) != k {
		c.memo[r], c.memoOf[r] = int32(c.counters[k].on(c.free, r)), int32(k)
	}
	return int64(c.memo[r])
}

// leaderFits reports whether the leader leaves room for all workers somewhere in set
// d. It looks at the rows as far as it has to.
func (c *progress) leaderFits(d int, l *leading) bool {
	w := &c.at[d]
	if w.places < l.workers { // a leader only takes room
		return false
	}
	if !w.known {
		// Rows after the first that suffices may have a greater gain. That is of no
		// use until this one changes, and then known is false.

		w.gain, w.best, w.known = noLeader, -1, true
		c.sets.each(d, c.free.Rows(), func(r int) bool {
			if gain := c.gain(d, r); gain > w.gain {
				w.gain, w.best = gain, int32(r)
			}
			return float64(w.places)+w.gain < float64(l.workers)
		})
	}
	return float64(w.places)+w.gain >= float64(l.workers)
}

// contribution returns what row r contributes to the condition that set d waits at.
func (c *progress) contribution(d, r int) float64 {
	switch k := int(c.at[d].condition) - c.free.Cols(); {
	case k < 0:
		return positive(at(c.free, r, int(c.at[d].condition)))
	case k < len(c.bounds.counts):
		return float64(c.copiesOn(k, r))
	}
	return float64(c.bounds.leading.counter.on(c.free, r))
}

// release adds what a victim releases to the overlay of free, and brings the sets of its row up
// to date. What the row contributed before is asked for first: to keep it for every row and set
// would take their product in memory, and each set waits at a condition of its own. An open set
// has none left to follow.
func (c *progress) release(o *vector.Overlay, row int, amounts vector.ResourceVector) error {
	sets := c.sets.of(row)
	c.before = resized(c.before, len(sets))
	for i, d := range sets {
		if !c.isOpen(int(d)) {
			c.before[i] = c.contribution(int(d), row)
		}
	}
	if err := o.AddToRow(row, amounts); err != nil {
		return err
	}
	for i, d := range sets {
		w := &c.at[d]
		w.tried = false // the set may hold a placement now
		if !c.isOpen(int(d)) && c.grew(int(d), row, c.before[i]) {
			w.condition++
			c.advance(int(d))
		}
	}
	return nil
}

// grew brings the condition of set d up to date when row r has grown, and reports whether it
// holds now.
func (c *progress) grew(d, r int, before float64) bool {
	w := &c.at[d]
	switch k := int(w.condition) - c.free.Cols(); {
	case k < 0:
		s := &c.surplus[d] // exact, so that it does not matter in which order rows grow
		s.add(c.contribution(d, r))
		s.add(-before)
		return !s.negative()
	case k < len(c.bounds.counts):
		places := c.counters[k].on(c.free, r)
		c.memo[r], c.memoOf[r] = int32(places), int32(k)
		if c.bounds.skewed(k) {
			w.places = c.recountEven(d, k, r, places-int64(before))
		} else {
			w.places += c.grewBy(d, r, places-int64(before))
		}
		return w.places >= c.bounds.counts[k].need
	}
	l := &c.bounds.leading
	places, gain := l.on(c.free, r)
	w.places += c.grewBy(d, r, places-int64(before))
	switch {
	case !w.known:
	case c.spread.on: // the gain has changed on other rows, too
		w.known = false
	case gain >= w.gain:
		w.gain, w.best = gain, int32(r)
	case int(w.best) == r: // more room for workers can mean a greater loss to the leader
		w.known = false
	}
	return c.leaderFits(d, l)
}

// closest returns the set that comes closest to holding the gang, when none can: the
// one with the most places, where members are counted, and otherwise the one whose
// first condition that fails is the last, then the one that has the most of what that
// asks for. Ties go to the first. It is -1 when there is no set.
func (c *progress) closest() int {
	closest, most := -1, 0.0
	for d := range c.sets.n {
		has := c.has(d)
		if closest < 0 || c.at[d].condition > c.at[closest].condition ||
			c.at[d].condition == c.at[closest].condition && has > most {
			closest, most = d, has
		}
	}
	return closest
}

// has returns how much set d has of what its condition asks for.
func (c *progress) has(d int) float64 {
	w := &c.at[d]
	switch k := int(w.condition) - c.free.Cols(); {
	case k < 0:
		return c.surplus[d].plus(c.bounds.needed[w.condition])
	case k < len(c.bounds.counts):
		return float64(w.places)
	}
	gain := noLeader // of all rows: what leaderFits keeps is the first that was enough
	c.sets.each(d, c.free.Rows(), func(r int) bool {
		gain = max(gain, c.gain(d, r))
		return true
	})
	return max(float64(w.places)+gain, 0)
}

// why explains why set d cannot hold the gang. It copies the rows of a set of Domains, which are
// few of many: the loop of an eviction asks after each victim.
func (c *progress) why(d int) Infeasibility {
	if d < 0 {
		return Infeasibility{}
	}
	free, selected := c.free, c.sets.selected
	switch {
	case c.sets.whole():
	case c.spread.on: // its sets are rows of the whole matrix
		c.only.Reset(free.Rows())
		for _, r := range c.sets.rowsOf(d) {
			if c.sets.eligible(int(r)) {
				c.only.Set(int(r))
			}
		}
		selected = c.only.Words()
	default:
		n := 0
		c.onlyRows.Reset(vector.Schema{}, len(c.sets.rowsOf(d)), free.Cols())
		for _, r := range c.sets.rowsOf(d) {
			if c.sets.eligible(int(r)) {
				c.row = free.Row(c.row, int(r))
				c.onlyRows.SetRow(n, c.row)
				n++
			}
		}
		c.onlyRows.Resize(n)
		free, selected = &c.onlyRows, nil
	}
	first := int(c.at[d].condition)
	if c.bounds.firstToFollow() > 0 { // it implies others that fail, too, and are easier to explain
		first = 0
	}
	why, _ := c.bounds.why(first, free, selected)
	return why
}
