package vector

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// Score is the element type of scores. A float64 NaN is never chosen, and -0
// equals 0.
type Score interface{ float64 | int64 }

// Tie says which of the rows with equal scores comes first. It is always given
// explicitly, because it decides results: integer scores tie most of the time,
// and spreading ties instead of filling up costs a GPU cluster several points
// of allocation (Weng et al., USENIX ATC 2023, measured again by
// examples/replay). The zero Tie is not a rule; choosing with it panics.
type Tie struct {
	rule   tieRule
	seed   uint64
	rank   []int32
	cursor *int
}

type tieRule uint8

const (
	tieNone tieRule = iota
	tieLowest
	tieSeeded
	tieRank
	tieRoundRobin
)

// TieLowest prefers the lowest row.
func TieLowest() Tie { return Tie{rule: tieLowest} }

// TieSeeded prefers rows in a fixed pseudo-random order that depends on seed
// alone: ascending mix(seed + (r+1)*0x9E3779B97F4A7C15), where mix is the
// finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
func TieSeeded(seed uint64) Tie { return Tie{rule: tieSeeded, seed: seed} }

// TieRank prefers the row with the smallest rank[r], a permutation that the
// caller supplies, such as a fixed node order; equal ranks fall back to the
// lowest row. rank must have one element per score. It is kept, not copied.
func TieRank(rank []int32) Tie { return Tie{rule: tieRank, rank: rank} }

// TieRoundRobin prefers the first row at or after *cursor, cyclically. When
// rows are returned, *cursor moves to the row after the first of them; it stays
// otherwise. A cursor out of range counts modulo the number of scores. The
// caller owns the cursor, and calls that share one must not run concurrently.
func TieRoundRobin(cursor *int) Tie { return Tie{rule: tieRoundRobin, cursor: cursor} }

// key returns the place of row r of n in the tie order; the smallest comes
// first.
func (t *Tie) key(r, n int) uint64 {
	switch t.rule {
	case tieSeeded:
		z := t.seed + (uint64(r)+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	case tieRank:
		return uint64(uint32(t.rank[r]) ^ 1<<31) // order of int32 as unsigned
	case tieRoundRobin:
		c := *t.cursor % n
		if c < 0 {
			c += n
		}
		if r < c {
			r += n
		}
		return uint64(r - c)
	}
	return uint64(r)
}

// check panics unless t can order n rows.
func (t *Tie) check(n int) {
	switch {
	case t.rule == tieNone:
		panic("vector: tie rule not given")
	case t.rule == tieRank && len(t.rank) != n:
		panic("vector: rank has another number of rows")
	case t.rule == tieRoundRobin && t.cursor == nil:
		panic("vector: round-robin tie without a cursor")
	}
}

// chosen moves the cursor of a round-robin tie after first was returned.
func (t *Tie) chosen(first, n int) {
	if t.rule == tieRoundRobin && first >= 0 {
		*t.cursor = (first + 1) % n
	}
}

// ArgMax returns the selected row with the greatest score, or -1 when no row
// can be chosen. Ties are exact equality and go by tie. A mask must have one
// row per score.
func ArgMax[T Score](scores []T, rows *Mask, tie Tie) int {
	return extreme(scores, rows, tie, false)
}

// ArgMin returns the selected row with the least score; otherwise it is
// [ArgMax].
func ArgMin[T Score](scores []T, rows *Mask, tie Tie) int {
	return extreme(scores, rows, tie, true)
}

// extreme is ArgMax, or ArgMin when least is set.
func extreme[T Score](scores []T, rows *Mask, tie Tie, least bool) int {
	n := len(scores)
	tie.check(n)
	selected := selection(rows, n)
	best := extremeScore(scores, selected, least)
	first := indexScore(scores, selected, best)
	if first < 0 || tie.rule == tieLowest {
		return first
	}
	row, key := first, tie.key(first, n)
	eachBeyond(scores, selected, first/kernel.Block*kernel.Block, n, best, least, func(r int) {
		if k := tie.key(r, n); k < key {
			row, key = r, k
		}
	})
	tie.chosen(row, n)
	return row
}

// TopK sets dst to up to k selected rows by descending score, rows with equal
// scores in the order of tie, and returns it. It is empty when no row can be
// chosen or k <= 0. A mask must have one row per score. dst is overwritten and
// grown when its capacity is short.
func TopK[T Score](dst []int32, scores []T, rows *Mask, k int, tie Tie) []int32 {
	n := len(scores)
	tie.check(n)
	selected := selection(rows, n)
	k = max(min(k, n), 0)
	if cap(dst) < k {
		dst = make([]int32, k)
	}
	dst = dst[:0]
	if k == 0 {
		return dst
	}
	h := ranking[T]{rows: dst, scores: scores, tie: tie}
	limit := leastScore[T]()
	for lo := 0; lo < n; {
		// A short first chunk finds a threshold that spares most of the rest.
		hi := min(lo+scoreChunk, n)
		if lo == 0 {
			hi = min(kernel.Block, n)
		}
		eachBeyond(scores, selected, lo, hi, limit, false, func(r int) { h.offer(int32(r), k) })
		if len(h.rows) == k {
			limit = scores[h.rows[0]]
		}
		lo = hi
	}
	h.sort()
	if len(h.rows) > 0 {
		tie.chosen(int(h.rows[0]), n)
	}
	return h.rows
}

// ranking is a binary heap of rows with the last choice on top.
type ranking[T Score] struct {
	rows   []int32
	scores []T
	tie    Tie
}

// after reports whether row a is chosen after row b.
func (h *ranking[T]) after(a, b int32) bool {
	if x, y := h.scores[a], h.scores[b]; x != y {
		return x < y
	}
	x, y := h.tie.key(int(a), len(h.scores)), h.tie.key(int(b), len(h.scores))
	return x > y || x == y && a > b
}

// offer adds row r when it belongs to the best k.
func (h *ranking[T]) offer(r int32, k int) {
	if len(h.rows) < k {
		i := len(h.rows)
		h.rows = h.rows[:i+1] // not append, which would make dst escape
		h.rows[i] = r
		h.up(i)
	} else if h.after(h.rows[0], r) {
		h.rows[0] = r
		h.down(0, k)
	}
}

func (h *ranking[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.after(h.rows[i], h.rows[parent]) {
			return
		}
		h.rows[i], h.rows[parent] = h.rows[parent], h.rows[i]
		i = parent
	}
}

// down restores the heap of the first n rows below i.
func (h *ranking[T]) down(i, n int) {
	for {
		child := 2*i + 1
		if child >= n {
			return
		}
		if child+1 < n && h.after(h.rows[child+1], h.rows[child]) {
			child++
		}
		if !h.after(h.rows[child], h.rows[i]) {
			return
		}
		h.rows[i], h.rows[child] = h.rows[child], h.rows[i]
		i = child
	}
}

// sort turns the heap into the order of choice.
func (h *ranking[T]) sort() {
	for n := len(h.rows) - 1; n > 0; n-- {
		h.rows[0], h.rows[n] = h.rows[n], h.rows[0]
		h.down(0, n)
	}
}

// scoreChunk is how many scores are compared at a time.
const scoreChunk = 512

// eachBeyond calls f for the selected rows from lo to hi-1 whose score is at
// least limit, or at most limit when least is set, in ascending order. lo is a
// multiple of 64.
func eachBeyond[T Score](scores []T, selected []uint64, lo, hi int, limit T, least bool, f func(r int)) {
	var buffer [scoreChunk / kernel.Block]uint64
	for ; lo < hi; lo += scoreChunk {
		chunk := scores[lo:min(lo+scoreChunk, hi)]
		words := buffer[:wordsFor(len(chunk))]
		var of []uint64
		if selected != nil {
			of = selected[lo/kernel.Block:][:len(words)]
		}
		maskScores(words, chunk, of, limit, least)
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				f(lo + w*kernel.Block + bits.TrailingZeros64(word))
			}
		}
	}
}

// The functions below pick the kernel for the type of the scores. In each, only
// the case of T's own type can run, so no conversion changes a value.

// extremeScore returns the greatest selected score, or the least.
func extremeScore[T Score](scores []T, selected []uint64, least bool) T {
	switch s := any(scores).(type) {
	case []float64:
		if least {
			return T(kernel.MinFloat64(s, selected))
		}
		return T(kernel.MaxFloat64(s, selected))
	case []int64:
		if least {
			return T(kernel.MinInt64(s, selected))
		}
		return T(kernel.MaxInt64(s, selected))
	}
	panic("unreachable")
}

// indexScore returns the first selected row with this score, or -1.
func indexScore[T Score](scores []T, selected []uint64, score T) int {
	switch s := any(scores).(type) {
	case []float64:
		return kernel.IndexFloat64(s, selected, float64(score))
	case []int64:
		return kernel.IndexInt64(s, selected, int64(score))
	}
	panic("unreachable")
}

// maskScores sets dst to the selected rows whose score is at least limit, or at
// most limit when least is set.
func maskScores[T Score](dst []uint64, scores []T, selected []uint64, limit T, least bool) {
	switch s := any(scores).(type) {
	case []float64:
		if least {
			kernel.MaskLEFloat64(dst, s, selected, float64(limit))
		} else {
			kernel.MaskGEFloat64(dst, s, selected, float64(limit))
		}
	case []int64:
		if least {
			kernel.MaskLEInt64(dst, s, selected, int64(limit))
		} else {
			kernel.MaskGEInt64(dst, s, selected, int64(limit))
		}
	}
}

// leastScore returns the least score there is.
func leastScore[T Score]() T {
	var zero T
	if _, ok := any(zero).(int64); ok {
		least := int64(math.MinInt64)
		return T(least)
	}
	return T(math.Inf(-1))
}
