package scorecache

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// Ranking are the scores of a request in an order of the rows, NaN where a row cannot be
// chosen, and for every block of 64 places the greatest score and the first place that has
// it. In a dirty block no score is greater than best, but otherwise nothing is known. The
// zero value has no scores.
type Ranking struct {
	ranked []float64
	best   []float64 // NaN: no place can be chosen
	bestAt []int32
	dirty  vector.Mask // blocks
}

// Lay sets all scores, given by row, NaN for rows that cannot be chosen.
func (s *Ranking) Lay(scores []float64, o *Order) {
	n := len(o.rows)
	s.ranked = resized(s.ranked, n)
	if o.plain {
		copy(s.ranked, scores)
	} else {
		for p, r := range o.rows {
			s.ranked[p] = scores[r]
		}
	}
	blocks := (n + kernel.Block - 1) / kernel.Block
	s.best, s.bestAt = resized(s.best, blocks), resized(s.bestAt, blocks)
	s.dirty.Reset(blocks)
	s.forget()
}

// forget makes all blocks dirty, after changes that Place does not know.
func (s *Ranking) forget() {
	for b := range s.best {
		s.best[b] = math.Inf(1)
	}
	s.dirty.SetAll()
}

// take sets dst, by row, to the scores of s in the order o that they are in. Rows
// that the order lacks get NaN, and what it has more is left out.
func (s *Ranking) take(dst []float64, o *Order) {
	for r := len(o.rows); r < len(dst); r++ {
		dst[r] = nan
	}
	for p, r := range o.rows {
		if int(r) < len(dst) {
			dst[r] = s.ranked[p]
		}
	}
}

// Place notes that the score at a place is x. A worse best only makes its block dirty:
// another change or a better block often spares the search for the next best.
func (s *Ranking) Place(p int32, x float64) {
	s.ranked[p] = x
	b := p / kernel.Block
	best := s.best[b]
	switch {
	case x > best || best != best && x == x: // greater than all others, or the only one
		s.best[b], s.bestAt[b] = x, p
		s.dirty.Clear(int(b))
	case s.dirty.Test(int(b)):
	case x == best:
		s.bestAt[b] = min(s.bestAt[b], p)
	case p == s.bestAt[b]: // the best became worse
		s.dirty.Set(int(b))
	}
}

// clean finds the best place of the dirty blocks.
func (s *Ranking) clean() {
	for b := range s.dirty.All() {
		s.cleanBlock(b)
	}
	s.dirty.Reset(s.dirty.Len())
}

// cleanBlock finds the best place of a block. ArgMax returns the first of equals, as the
// order of the tie asks for.
func (s *Ranking) cleanBlock(b int) {
	lo := b * kernel.Block
	block := s.ranked[lo:min(lo+kernel.Block, len(s.ranked))]
	if i := kernel.ArgMax(block, nil); i >= 0 {
		s.best[b], s.bestAt[b] = block[i], int32(lo+i)
	} else {
		s.best[b], s.bestAt[b] = nan, -1
	}
}

// First returns the first place with the greatest score, or -1. It looks into
// dirty blocks only as far as these may have it.
func (s *Ranking) First() int {
	for {
		b := kernel.ArgMax(s.best, nil)
		if b < 0 {
			return -1
		}
		if !s.dirty.Test(b) {
			return int(s.bestAt[b])
		}
		if math.IsInf(s.best[b], 1) { // and so may be many more
			s.clean()
			continue
		}
		s.cleanBlock(b)
		s.dirty.Clear(b)
	}
}

// firstFrom returns the first place at or after start, cyclically, with the
// greatest score, or -1. All blocks must be clean.
func (s *Ranking) firstFrom(start int) int {
	b := kernel.ArgMax(s.best, nil)
	if b < 0 {
		return -1
	}
	best := s.best[b]
	own := start / kernel.Block // the block of start
	end := min((own+1)*kernel.Block, len(s.ranked))
	// bestAt is the first best of a block, which may be before start.
	for p := start; p < end; p++ {
		if s.ranked[p] == best {
			return p
		}
	}
	for b := own + 1; b < len(s.best); b++ {
		if s.best[b] == best {
			return int(s.bestAt[b])
		}
	}
	return int(s.bestAt[b])
}
