package gang

import (
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
	memo     []int32      // per row, without a Spread: the copies of the count that it had last
	memoOf   []int32      // per row: which count, -1 for none
	open     int          // sets in which every condition holds
	before   []float64    // per set of one row: what the row contributed, see release

	// Of why: one set.
	only     vector.Mask
	onlyRows vector.Matrix
	row      vector.ResourceVector

	// With a Spread: the copies in each of its sets that were counted last. Only where there is one
	// set of every row are they kept; those of a set of Domains are counted again.
	spread *spread
	inSet  []int64
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
		c.memoOf[r] = -1
	}
	for d := range c.at {
		c.at[d] = waiting{condition: int32(b.firstToFollow())}
	}
	if c.spread = b.spread; c.spread.on {
		c.inSet = resized(c.inSet, c.spread.sets)
	}
}

// gain returns how many more workers the set counted last holds with the leader on row r.
func (c *progress) gain(r int) float64 {
	_, gain := c.bounds.gang.leading.on(c.free, r)
	if c.spread.on {
		set := c.spread.set(r)
		gain = c.spread.gain(set, c.inSet[set], gain)
	}
	return gain
}

// firstToFollow returns the condition to start with. Where members are counted, the
// last condition implies the others: it is the definition of a placement itself.
func (b *bounds) firstToFollow() int {
	if b.gang.counted() && b.gang.members > 0 && !(b.gang.hasLeader() && b.skewed(0)) {
		return b.conditions - 1
	}
	return 0
}

// isOpen reports whether every condition holds in set d.
func (c *progress) isOpen(d int) bool { return int(c.at[d].condition) == c.bounds.conditions }

// advance brings set d to its first condition that fails, from the present one on. The
// ones before it hold for good, since amounts only grow.
func (c *progress) advance(d int) {
	w := &c.at[d]
	for ; int(w.condition) < c.bounds.conditions; w.condition++ {
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
	k := condition - c.free.Cols()
	if k < 0 {
		return c.bounds.needed[condition] == 0 || !c.sum(c.free, d, condition).negative()
	}
	w := &c.at[d]
	w.places = c.places(d, k)
	w.known = false // a gain may be from before a victim came back
	return c.suffices(d, k)
}

// suffices reports whether the places of the count with index k are enough in set d.
func (c *progress) suffices(d, k int) bool {
	if k < len(c.bounds.counts) {
		return c.at[d].places >= c.bounds.counts[k].need
	}
	return c.leaderFits(d)
}

// sum sums up column j of free in set d, less what is needed.
func (c *progress) sum(free *vector.Matrix, d, j int) *exactSum {
	s, column := &c.surplus[d], free.Column(j)
	if c.sets.whole() {
		*s = c.bounds.surplus(free, c.sets.selected, j)
		return s
	}
	s.reset()
	s.add(-c.bounds.needed[j])
	for _, r := range c.sets.rowsOf(d) {
		if c.sets.eligible(int(r)) {
			s.add(positive(column[r]))
		}
	}
	return s
}

// counter returns the counter of the count with index k; the one of the workers comes last.
func (c *progress) counter(k int) *rowCounter {
	if k < len(c.bounds.counts) {
		return &c.counters[k]
	}
	return &c.bounds.gang.leading.counter
}

// places counts the copies of the count with index k in set d, with a Spread those that have a
// place.
func (c *progress) places(d, k int) (sum int64) {
	if c.sets.whole() && k < len(c.bounds.counts) {
		// Mostly there are enough, and counting stops early.
		places := c.bounds.places(c.free, c.sets.selected, k)
		if !c.spread.on || places >= c.bounds.counts[k].need {
			return places
		}
	}
	switch {
	case c.spread.on:
		return c.spread.placesIn(c.inSet, c.free, c.sets, d, c.counter(k), c.bounds.skewed(k))
	case c.sets.whole():
		return c.sets.copies(c.free, d, c.counter(k))
	}
	counter := c.counter(k)
	for _, r := range c.sets.rowsOf(d) {
		if c.sets.eligible(int(r)) {
			copies := counter.on(c.free, int(r))
			c.memo[r], c.memoOf[r] = int32(copies), int32(k) // the next victim of the row asks what it was
			sum += copies
		}
	}
	return sum
}

// leaderFits reports whether the leader leaves room for all workers somewhere in set
// d. It looks at the rows as far as it has to.
func (c *progress) leaderFits(d int) bool {
	w, l := &c.at[d], &c.bounds.gang.leading
	if w.places < l.workers { // a leader only takes room
		return false
	}
	if !w.known {
		// Rows after the first that suffices may have a greater gain. That is of no
		// use until this one changes, and then known is false.
		w.gain, w.best, w.known = noLeader, -1, true
		c.sets.each(d, c.free.Rows(), func(r int) bool {
			if gain := c.gain(r); gain > w.gain {
				w.gain, w.best = gain, int32(r)
			}
			return float64(w.places)+w.gain < float64(l.workers)
		})
	}
	return float64(w.places)+w.gain >= float64(l.workers)
}

// contribution returns what row r contributes to the condition that set d waits at.
func (c *progress) contribution(d, r int) float64 {
	condition := int(c.at[d].condition)
	if k := condition - c.free.Cols(); k >= 0 {
		if !c.spread.on && int(c.memoOf[r]) == k { // with a Spread, places keeps no rows
			return float64(c.memo[r])
		}
		return float64(c.counter(k).on(c.free, r))
	}
	return positive(at(c.free, r, condition))
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
	k := int(w.condition) - c.free.Cols()
	if k < 0 {
		s := &c.surplus[d] // exact, so that it does not matter in which order rows grow
		s.add(c.contribution(d, r))
		s.add(-before)
		return !s.negative()
	}
	copies := c.counter(k).on(c.free, r)
	c.memo[r], c.memoOf[r] = int32(copies), int32(k)
	change := copies - int64(before)
	switch s := c.spread; {
	case !s.on:
		w.places += change
	case !c.sets.whole() && !s.grouped && k < len(c.bounds.counts) && !c.bounds.skewed(k):
		w.places += s.change(r, int64(before), copies) // the row is a set of its own
	case !c.sets.whole():
		w.places = c.places(d, k)
	default:
		set := s.set(r)
		was := c.inSet[set]
		c.inSet[set] += change
		// What the lowest set has decides how many places all others have.
		if w.places += s.change(set, was, was+change); c.bounds.skewed(k) {
			w.places = s.taken(c.inSet, true)
		}
	}
	if k == len(c.bounds.counts) && w.known {
		_, gain := c.bounds.gang.leading.on(c.free, r)
		switch {
		case c.spread.on: // the gain has changed on other rows, too
			w.known = false
		case gain >= w.gain:
			w.gain, w.best = gain, int32(r)
		case int(w.best) == r: // more room for workers can mean a greater loss to the leader
			w.known = false
		}
	}
	return c.suffices(d, k)
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
	if c.spread.on && !c.sets.whole() { // what was counted last is another set
		w.places = c.places(d, len(c.bounds.counts))
	}
	gain := noLeader // of all rows: what leaderFits keeps is the first that was enough
	c.sets.each(d, c.free.Rows(), func(r int) bool {
		gain = max(gain, c.gain(r))
		return true
	})
	return max(float64(w.places)+gain, 0)
}

// why explains why set d cannot hold the gang. It copies the rows of a set of Domains, which are
// few of many: the loop of an eviction asks after each victim.
func (c *progress) why(d int) Infeasibility {
	if d < 0 {
		return Infeasibility{Domain: d}
	}
	free, selected := c.free, c.sets.selected
	switch {
	case c.sets.whole():
	case c.spread.on: // its sets are rows of the whole matrix
		c.only.Reset(free.Rows())
		c.sets.each(d, free.Rows(), func(r int) bool {
			c.only.Set(r)
			return true
		})
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
	why.Domain = d
	return why
}
