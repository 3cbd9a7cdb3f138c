package scorecache

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// shape is what a cache keeps for one request.
type shape struct {
	key          []uint64
	hash         uint64
	next         *shape // with the same bucket
	newer, older *shape // by use
	bytes        int64  // as counted last
	waits        int32  // for so many visits until its scores are brought up to date; see Worth

	time     uint64 // of the rowClock, up to which the scores hold
	whole    bool   // rows came from a nil mask
	rows     vector.Mask
	feasible vector.Mask

	// The scores of the terms of a combination, by row. Only scores of feasible
	// rows mean something.
	terms [][]float64

	laid    uint64 // version of the order that the scores are in, 0 for none
	Ranking        // without terms
}

// shapeOverhead is what a shape takes without its lists.
const shapeOverhead = int64(unsafe.Sizeof(shape{})) + 2*8 // and its share of the buckets

// size returns the bytes that s holds on to: capacities, which is what a bound on memory
// is about.
func (s *shape) size() int64 {
	words := cap(s.key) + cap(s.rows.Words()) + cap(s.feasible.Words()) + cap(s.ranked) + cap(s.best) + cap(s.dirty.Words())
	for _, t := range s.terms {
		words += cap(t) + 3
	}
	return shapeOverhead + 8*int64(words) + 4*int64(cap(s.bestAt))
}

// resize sets the number of rows. What was there stays.
func (s *shape) resize(n int, scratch *[]uint64) {
	resizeMask(&s.rows, n, scratch)
	resizeMask(&s.feasible, n, scratch)
	for k, t := range s.terms {
		s.terms[k] = slices.Grow(t, max(n-len(t), 0))[:n]
	}
	s.whole = false
}

// resizeMask sets the length of m and keeps its rows. The bits beyond a shorter length are
// cleared, as a mask has them.
func resizeMask(m *vector.Mask, n int, scratch *[]uint64) {
	kept := append((*scratch)[:0], m.Words()...)
	*scratch = kept
	m.Reset(n)
	words := m.Words()
	copy(words, kept)
	if last := n % kernel.Block; last != 0 {
		words[len(words)-1] &= 1<<last - 1
	}
}

// resized returns s with length n and undefined elements.
func resized[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}

// lay sets all scores, given by row, in an order.
func (s *shape) lay(scores []float64, o *Order) {
	s.laid = o.version
	s.Lay(scores, o)
}

// shapeTable finds shapes by their key and keeps them in the order of use.
type shapeTable struct {
	buckets        []*shape // a power of two
	count          int
	bytes          int64
	newest, oldest *shape
}

// Hash returns a hash of a key. Both halves of the product count, since amounts are
// floats whose low bits are mostly 0.
func Hash(key []uint64) uint64 {
	h := uint64(len(key))
	for _, w := range key {
		hi, lo := bits.Mul64(h^w^0xD6E8FEB86659FD93, 0x9E3779B97F4A7C15)
		h = hi ^ lo
	}
	return h
}

// find returns the shape with a key and makes it the newest, or returns nil.
func (t *shapeTable) find(key []uint64, hash uint64) *shape {
	if t.count == 0 {
		return nil
	}
	for s := t.buckets[hash&uint64(len(t.buckets)-1)]; s != nil; s = s.next {
		if s.hash == hash && slices.Equal(s.key, key) {
			if t.newest != s {
				t.leave(s)
				t.enter(s)
			}
			return s
		}
	}
	return nil
}

// enter makes s the newest.
func (t *shapeTable) enter(s *shape) {
	s.newer, s.older = nil, t.newest // a list through the shapes: no allocation by use
	if t.newest != nil {
		t.newest.newer = s
	} else {
		t.oldest = s
	}
	t.newest = s
}

// leave takes s out of the order of use.
func (t *shapeTable) leave(s *shape) {
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		t.newest = s.older
	}
	if s.older != nil {
		s.older.newer = s.newer
	} else {
		t.oldest = s.newer
	}
	s.newer, s.older = nil, nil
}

// add takes s in.
func (t *shapeTable) add(s *shape) {
	if t.count >= len(t.buckets) {
		t.rehash(max(16, 2*len(t.buckets)))
	}
	t.hang(s)
	t.enter(s)
	t.count++
	s.bytes = 0
	t.weigh(s)
}

// weigh counts the bytes of s again, after its lists have grown.
func (t *shapeTable) weigh(s *shape) {
	now := s.size()
	t.bytes += now - s.bytes
	s.bytes = now
}

// hang puts s into its bucket.
func (t *shapeTable) hang(s *shape) {
	b := &t.buckets[s.hash&uint64(len(t.buckets)-1)]
	s.next, *b = *b, s
}

// rehash sets the number of buckets. The list of use has every shape once.
func (t *shapeTable) rehash(n int) {
	t.buckets = make([]*shape, n)
	for s := t.newest; s != nil; s = s.older {
		t.hang(s)
	}
}

// remove takes s out.
func (t *shapeTable) remove(s *shape) {
	p := &t.buckets[s.hash&uint64(len(t.buckets)-1)]
	for *p != s {
		p = &(*p).next
	}
	*p, s.next = s.next, nil
	t.leave(s)
	t.count--
	t.bytes -= s.bytes
}
