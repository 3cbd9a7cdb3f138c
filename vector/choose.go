package vector

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
)

// Score is the element type of scores. NaN is never chosen, and -0 equals 0.
type Score interface{ float64 | int64 }

// Tie says which of equal scores comes first. Choosing by a zero Tie panics.
type Tie struct {
	rule   tieRule
	seed   uint64
	rank   []int32
	cursor *int
}

// tieRule is how equal scores are ordered. There is no default: which of many equal nodes
// is taken decides how a cluster fills.
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

// TieSeeded prefers rows in a pseudo-random order: ascending mix(seed +
// (r+1)*0x9E3779B97F4A7C15), where mix is SplitMix64's finalizer (2014).
func TieSeeded(seed uint64) Tie { return Tie{rule: tieSeeded, seed: seed} }

// TieRank prefers the smallest rank[r], and the lowest row of equals. rank has one
// element per score, and must not change while the tie is in use.
func TieRank(rank []int32) Tie { return Tie{rule: tieRank, rank: rank} }

// TieRoundRobin prefers the first row from *cursor on, cyclically, and moves the cursor
// behind it. Calls that share one must not run concurrently.
func TieRoundRobin(cursor *int) Tie { return Tie{rule: tieRoundRobin, cursor: cursor} }

// Key orders n rows: the smallest key comes first, and of equals the lowest.
func (t *Tie) Key(r, n int) uint64 {
	switch t.rule {
	case tieSeeded:
		// Hashing the row needs no state, so that the order does not depend on who asked before.
		z := t.seed + (uint64(r)+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return z ^ z>>31
	case tieRank:
		return uint64(uint32(t.rank[r]) ^ 1<<31) // order of int32 as unsigned
	case tieRoundRobin:
		// A cursor of the caller may point anywhere, also after rows went.
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

// Check panics unless t is a rule that can order n rows.
func (t *Tie) Check(n int) {
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
	if t.rule == tieRoundRobin {
		*t.cursor = (first + 1) % n
	}
}

// Same reports whether t and u have one rule, and one seed, rank or cursor.
func (t Tie) Same(u Tie) bool {
	return t.rule == u.rule && t.seed == u.seed && t.cursor == u.cursor &&
		len(t.rank) == len(u.rank) && unsafe.SliceData(t.rank) == unsafe.SliceData(u.rank)
}

// Cursor returns the cursor of [TieRoundRobin], or nil. Who uses Key moves it.
func (t Tie) Cursor() *int { return t.cursor }

// Order sets dst to the rows 0 to n-1 in the order of t.
func (t Tie) Order(dst []int32, n int) []int32 {
	switch {
	case n < 0:
		panic(panicNegative)
	case n > maxRows:
		panic(panicLarge)
	}
	t.Check(n)
	dst = resized(dst, n)
	for r := range dst {
		dst[r] = int32(r)
	}
	// Keys may be equal (ranks are the caller's), so the row decides last.
	if t.rule != tieLowest {
		slices.SortFunc(dst, func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.Key(int(a), n), t.Key(int(b), n)), cmp.Compare(a, b))
		})
	}
	return dst
}

// ArgMax returns the selected row with the greatest score, or -1, ties by tie.
func ArgMax[T Score](scores []T, rows *Mask, tie Tie) int {
	tie.Check(len(scores))
	selected := selection(rows, len(scores))
	return firstTied(scores, selected, kernel.ArgMax(scores, selected), tie, false)
}

// ArgMin returns the selected row with the least score, or -1, ties by tie.
func ArgMin[T Score](scores []T, rows *Mask, tie Tie) int {
	tie.Check(len(scores))
	selected := selection(rows, len(scores))
	return firstTied(scores, selected, kernel.ArgMin(scores, selected), tie, true)
}

// firstTied returns the row that comes first by tie among the rows with the score of first,
// the lowest of them, or -1 if that is -1.
func firstTied[T Score](scores []T, selected []uint64, first int, tie Tie, least bool) int {
	// A second pass is for other tie rules only, from the block of that row on.
	if first < 0 || tie.rule == tieLowest {
		return first
	}
	best, n := scores[first], len(scores)
	row, key := first, tie.Key(first, n)
	eachTied(scores, selected, first/kernel.Block*kernel.Block, best, least, func(r int) {
		if k := tie.Key(r, n); k < key {
			row, key = r, k
		}
	})
	tie.chosen(row, n)
	return row
}

// TopK sets dst to the best selected rows, at most k, the best first.
func TopK[T Score](dst []int32, scores []T, rows *Mask, k int, tie Tie) []int32 {
	n := len(scores)
	if n > maxRows {
		panic(panicLarge)
	}
	tie.Check(n)
	selected := selection(rows, n)
	// The loops below have a limit once they have k rows, so k is no more than there are.
	k = max(min(k, n), 0)
	dst = resized(dst, k)[:0]
	if k == 0 {
		return dst
	}
	// The heap, or the list, is on the stack: dst is its storage.
	h := ranking[T]{rows: dst, k: k, scores: scores, tie: tie}
	if n <= fewScores || kernel.Active() < kernel.AVX2 { // the masks have assembly for amd64 only
		h.walk(selected)
	} else {
		h.sift(selected)
	}
	// A heap has only its last choice in place.
	h.finish()
	if len(h.rows) > 0 {
		tie.chosen(int(h.rows[0]), n)
	}
	return h.rows
}

// fewScores is how many scores are walked over, as long as making and reading a mask of
// them takes.
const fewScores = 32

// walk offers the selected rows one by one. In Go that takes less time than a mask of
// those that reach a limit.
func (h *ranking[T]) walk(selected []uint64) {
	limit := leastScore[T]() // which no NaN reaches
	for lo := 0; lo < len(h.scores); lo += kernel.Block {
		block := h.scores[lo:min(lo+kernel.Block, len(h.scores))]
		word := ^uint64(0) >> (kernel.Block - len(block))
		if selected != nil {
			word &= selected[lo/kernel.Block]
		}
		for ; word != 0; word &= word - 1 {
			if i := bits.TrailingZeros64(word); block[i] >= limit {
				h.offer(int32(lo + i))
				if len(h.rows) == h.k {
					limit = h.limit()
				}
			}
		}
	}
}

// sift offers the selected rows that reach a limit.
func (h *ranking[T]) sift(selected []uint64) {
	limit, n := leastScore[T](), len(h.scores)
	// A limit from the greatest scores of all groups of rows leaves a few more than k. They
	// are ranked against each other without a branch, so a list of up to 32 takes no heap.
	if h.k <= shortList*3/4 && n <= farScores {
		limit = threshold(h.scores, selected, h.k)
		if h.tie.rule == tieLowest && h.sort(selected, limit) {
			return
		}
	}
	// Chunks that double find a limit early that spares most of the rest.
	first := kernel.Block
	if limit > leastScore[T]() {
		first = scoreChunk
	}
	var buffer [scoreChunk / kernel.Block]uint64
	for lo := 0; lo < n; {
		hi := min(max(2*lo, first), lo+scoreChunk, n)
		words := buffer[:wordsFor(hi-lo)]
		maskScores(words, h.scores[lo:hi], chunkOf(selected, lo, len(words)), limit, false)
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				h.offer(int32(lo + w*kernel.Block + bits.TrailingZeros64(word)))
			}
		}
		// The limit only rises, so each chunk has fewer rows to offer than the one before.
		if len(h.rows) == h.k {
			limit = max(limit, h.limit())
		}
		lo = hi
	}
}

// farScores is from how many scores on a pass over them to find a limit takes longer
// than the rows that it spares.
const farScores = 1 << 15

// threshold returns a score that at least k selected rows reach, and not many more: a
// lower bound of the scores of the best k. It is the least score if there is none.
func threshold[T Score](scores []T, selected []uint64, k int) T {
	limit := leastScore[T]()
	var tops [kernel.TopGroups]T
	kernel.Tops(&tops, scores, selected)
	// Each of the k greatest is the score of another row. The k-th is the one with most
	// above it, but less than k.
	var ranks [kernel.TopGroups]int64
	kernel.Ranks(&ranks, &tops, len(tops))
	rank := int64(-1)
	for i, r := range ranks {
		if r > rank && r < int64(k) {
			rank, limit = r, tops[i]
		}
	}
	return limit
}

// sort sets the rows to the best ones, ties to the lowest row, from among those that
// reach a limit. It reports false, and does nothing, if they are more than a list takes.
func (h *ranking[T]) sort(selected []uint64, limit T) bool {
	var list [shortList]int32
	n := 0
	var buffer [scoreChunk / kernel.Block]uint64
	for lo := 0; lo < len(h.scores); lo += scoreChunk {
		chunk := h.scores[lo:min(lo+scoreChunk, len(h.scores))]
		words := buffer[:wordsFor(len(chunk))]
		maskScores(words, chunk, chunkOf(selected, lo, len(words)), limit, false)
		for w, word := range words {
			if n+bits.OnesCount64(word) > shortList {
				return false
			}
			for ; word != 0; word &= word - 1 {
				r := w*kernel.Block + bits.TrailingZeros64(word)
				list[n%shortList], h.listed[n%shortList] = int32(lo+r), chunk[r]
				n++
			}
		}
	}
	if n == 0 {
		return true
	}
	var ranks [shortList]int64
	kernel.Ranks(&ranks, &h.listed, n)
	h.rows = h.rows[:min(n, h.k)]
	taken := uint32(0) // the places of equal scores follow each other
	for i, r := range list[:n] {
		// A rank says how many scores are greater; equals share it and take the places behind it in
		// the order of the list, which is the order of rows.
		at := int(ranks[i])
		at += bits.TrailingZeros32(^(taken >> at))
		taken |= 1 << at
		if at < len(h.rows) {
			h.rows[at] = r
		}
	}
	return true
}

// ranking collects the best k rows: few of them as a list in the order of
// choice, with the scores at hand, many as a binary heap with the last choice on
// top.
type ranking[T Score] struct {
	rows   []int32
	k      int
	scores []T
	tie    Tie
	listed [shortList]T // scores[rows[i]] of a list
}

// shortList is how many rows a list takes: as many as fit the bits of a uint32.
const shortList = 32

// limit returns the score below which no row can be among the best k, once that
// many were collected.
func (h *ranking[T]) limit() T {
	if h.k <= shortList {
		return h.listed[h.k-1]
	}
	return h.scores[h.rows[0]]
}

// after reports whether row a is chosen after row b.
func (h *ranking[T]) after(a, b int32) bool {
	x, y := h.scores[a], h.scores[b]
	return x < y || x == y && h.tieAfter(a, b)
}

// tieAfter is after for equal scores.
func (h *ranking[T]) tieAfter(a, b int32) bool {
	if h.tie.rule == tieLowest {
		return a > b
	}
	x, y := h.tie.Key(int(a), len(h.scores)), h.tie.Key(int(b), len(h.scores))
	return x > y || x == y && a > b
}

// offer adds row r when it belongs to the best k.
func (h *ranking[T]) offer(r int32) {
	n := len(h.rows)
	// Until there are k rows, everyone is among the best.
	if n < h.k {
		h.rows = h.rows[:n+1] // not append, which would make dst escape
		if h.k <= shortList {
			h.insert(r, n)
		} else {
			h.rows[n] = r
			h.up(n)
		}
		return
	}
	if h.k <= shortList {
		if x, y := h.scores[r], h.listed[n-1]; x > y || x == y && h.tieAfter(h.rows[n-1], r) {
			h.insert(r, n-1)
		}
	} else if h.after(h.rows[0], r) {
		h.rows[0] = r
		h.down(0, n)
	}
}

// insert puts row r where it belongs among the first n entries of a list, over
// the one behind them.
func (h *ranking[T]) insert(r int32, n int) {
	x := h.scores[r]
	// Shifting a short list in one line of the cache is faster than a heap of the same size.
	rows, listed := h.rows[:n+1], h.listed[:n+1]
	for ; n > 0; n-- {
		if y := listed[n-1]; x < y || x == y && h.tieAfter(r, rows[n-1]) {
			break
		}
		rows[n], listed[n] = rows[n-1], listed[n-1]
	}
	rows[n], listed[n] = r, x
}

// up restores the heap above i.
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

// finish puts the rows into the order of choice.
func (h *ranking[T]) finish() {
	if h.k <= shortList {
		return
	}
	for n := len(h.rows) - 1; n > 0; n-- {
		h.rows[0], h.rows[n] = h.rows[n], h.rows[0]
		h.down(0, n)
	}
}

// scoreChunk is how many scores are compared at a time.
const scoreChunk = 4096

// eachTied calls f in ascending order for the selected rows from lo on with the
// best score: the greatest, or the least when least is set. lo is a multiple of
// 64.
func eachTied[T Score](scores []T, selected []uint64, lo int, best T, least bool, f func(r int)) {
	var buffer [scoreChunk / kernel.Block]uint64
	for ; lo < len(scores); lo += scoreChunk {
		chunk := scores[lo:min(lo+scoreChunk, len(scores))]
		words := buffer[:wordsFor(len(chunk))]
		maskScores(words, chunk, chunkOf(selected, lo, len(words)), best, least)
		for w, word := range words {
			for ; word != 0; word &= word - 1 {
				f(lo + w*kernel.Block + bits.TrailingZeros64(word))
			}
		}
	}
}

// chunkOf returns n words of a selection, from the one of row lo on.
func chunkOf(selected []uint64, lo, n int) []uint64 {
	if selected == nil {
		return nil
	}
	return selected[lo/kernel.Block:][:n]
}

// maskScores sets dst to the selected rows whose score is at least limit, or at
// most limit when least is set.
func maskScores[T Score](dst []uint64, scores []T, selected []uint64, limit T, least bool) {
	if least {
		kernel.MaskLE(dst, scores, selected, limit)
	} else {
		kernel.MaskGE(dst, scores, selected, limit)
	}
}

// leastScore returns the least score there is.
func leastScore[T Score]() T {
	// The conversion of a constant would not compile for both types.
	var zero T
	if _, ok := any(zero).(int64); ok {
		least := int64(math.MinInt64)
		return T(least)
	}
	return T(math.Inf(-1))
}
