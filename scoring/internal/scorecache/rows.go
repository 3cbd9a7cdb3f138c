package scorecache

import (
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Source is what a score depends on and keeps a log of its changes: a
// matrix, or the state of GPUs.
type Source interface {
	Version() uint64
	Changed(dst []int32, since uint64) (rows []int32, all bool)
}

// Sources are the operands of a query, nil where there is none.
type Sources [3]Source

// rowClock says which rows changed after a time. Times count the changes that it
// learned of; the logs of the sources are read once, and however long ago a
// reader last looked, it finds each changed row once.
type rowClock struct {
	sources  Sources
	versions [len(Sources{})]uint64 // up to which the logs were read
	now      uint64
	all      uint64 // when every row may have changed

	// A list of rows, the last changed first; -1 ends it. A reader follows it until the
	// rows that it knows, so that its cost is of what has changed and not of all rows.
	first   int32
	next    []int32
	prev    []int32
	changed []uint64 // when; 0: not in the list

	buffer []int32 // for what a log returns
}

// sync takes in what has changed in the sources, which have n rows each. Other
// sources than before are a change of every row.
func (c *rowClock) sync(sources Sources, n int) {
	if sources != c.sources {
		c.restart(sources, n)
		return
	}
	c.resize(n)
	now := c.now + 1
	for i, source := range c.sources {
		if source == nil {
			continue
		}
		rows, all := source.Changed(c.buffer, c.versions[i])
		c.buffer, c.versions[i] = rows, source.Version()
		if all { // the log was not long enough
			c.now, c.all = now, now
		}
		for _, r := range rows {
			c.touch(r, now)
		}
	}
}

// restart begins with other sources. Their logs say nothing of how they differ from the
// old ones, so every row has changed.
func (c *rowClock) restart(sources Sources, n int) {
	c.sources = sources
	for i, source := range sources {
		if source != nil {
			c.versions[i] = source.Version()
		}
	}
	c.now++
	c.all = c.now
	c.resize(0) // no times of rows of other sources
	c.first = -1
	c.resize(n)
}

// resize sets the number of rows. Rows that are new are in the logs.
func (c *rowClock) resize(n int) {
	if len(c.changed) == n {
		return
	}
	for r := n; r < len(c.changed); r++ {
		if c.changed[r] != 0 {
			c.unlink(int32(r))
		}
	}
	// Slices keep their storage: rows come and go all the time in a cluster.
	old := min(n, len(c.changed))
	grow := max(n-old, 0)
	c.next = slices.Grow(c.next[:old], grow)[:n]
	c.prev = slices.Grow(c.prev[:old], grow)[:n]
	c.changed = slices.Grow(c.changed[:old], grow)[:n]
	clear(c.changed[old:])
}

// touch notes a change of row r.
func (c *rowClock) touch(r int32, now uint64) {
	c.now = now
	switch c.changed[r] {
	case now: // by another source, or twice in one log
		return
	case 0:
	default:
		c.unlink(r)
	}
	c.changed[r], c.next[r], c.prev[r] = now, c.first, -1
	if c.first >= 0 {
		c.prev[c.first] = r
	}
	c.first = r
}

// unlink takes row r out of the list.
func (c *rowClock) unlink(r int32) {
	next, prev := c.next[r], c.prev[r]
	if prev >= 0 {
		c.next[prev] = next
	} else {
		c.first = next
	}
	if next >= 0 {
		c.prev[next] = prev
	}
	c.changed[r] = 0
}

// mark sets dst, a mask over the rows, to the rows that changed after a time.
func (c *rowClock) mark(dst *vector.Mask, since uint64) {
	if _, ok := c.markFew(dst, since, len(c.changed)); !ok {
		dst.SetAll()
	}
}

// markFew is mark where at most limit rows have changed, and returns how many fewer.
// Where more have, dst is undefined.
func (c *rowClock) markFew(dst *vector.Mask, since uint64, limit int) (rest int, ok bool) {
	dst.Reset(len(c.changed))
	if since < c.all { // the list lacks the rows that changed with all others
		return 0, false
	}
	words, next, changed := dst.Words(), c.next, c.changed
	for r := c.first; r >= 0 && changed[r] > since; r = next[r] {
		if limit--; limit < 0 {
			return 0, false
		}
		words[r/kernel.Block] |= 1 << (r % kernel.Block)
	}
	return limit, true
}
