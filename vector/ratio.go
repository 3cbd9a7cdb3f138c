package vector

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// ratioListSize is how many columns the ratio kernels take in one call. Sums
// must run in column order without a break, so more columns with a positive
// total go row by row, with the same result and several times the time.
const ratioListSize = 64

// ratioList is a columnList for the ratio kernels.
type ratioList struct {
	n       int
	columns [ratioListSize]int32
	amounts [ratioListSize]float64
	tame    bool // no listed amount or column is outside the range of tame
	over    bool // more columns than fit
}

// take lists the columns of m whose amount is positive.
func (l *ratioList) take(m *Matrix, amounts ResourceVector) {
	l.tame = true
	for j, x := range amounts {
		// A total of 0 or NaN has no share of it: the column counts for nothing.
		if !(x > 0) {
			continue
		}
		if l.n == ratioListSize {
			l.over = true
			return
		}
		l.columns[l.n], l.amounts[l.n] = int32(j), x
		l.n++
		// Out of range the kernel divides; in range it multiplies and corrects.
		if m.outOfRange[j] || !kernel.Tame(x) {
			l.tame = false
		}
	}
}

// NormalizedSum sets dst[i] to the normalized sum of row i of m over total.
func NormalizedSum(dst []float64, m *Matrix, total ResourceVector) {
	dst = m.checkDst(dst)
	m.checkVector(total)
	var list ratioList
	list.take(m, total)
	// Sums run in column order, so a second call could not go on where the first ended.
	if list.over {
		for i := range dst {
			dst[i] = m.rowNormalizedSum(i, total)
		}
		return
	}
	kernel.NormalizedSum(dst, m.data, m.stride, list.columns[:list.n], list.amounts[:list.n], list.tame)
}

// DominantResource sets dst[i] to the dominant share of row i of m over total.
func DominantResource(dst []float64, m *Matrix, total ResourceVector) {
	dst = m.checkDst(dst)
	m.checkVector(total)
	var list ratioList
	list.take(m, total)
	// A greatest share could go on in a second call, but so wide a total is too rare for code of
	// its own.
	if list.over {
		for i := range dst {
			dst[i] = m.rowDominantResource(i, total)
		}
		return
	}
	kernel.DominantShare(dst, m.data, m.stride, list.columns[:list.n], list.amounts[:list.n], list.tame)
}

// rowNormalizedSum is NormalizedSum for one row.
func (m *Matrix) rowNormalizedSum(i int, total ResourceVector) float64 {
	// In the order of columns, as the kernel adds: the same bits.
	sum := 0.0
	for j, t := range total {
		if t > 0 {
			sum += m.data[j*m.stride+i] / t
		}
	}
	return sum
}

// rowDominantResource is DominantResource for one row.
func (m *Matrix) rowDominantResource(i int, total ResourceVector) float64 {
	share := 0.0
	for j, t := range total {
		if t > 0 {
			// NaN is greater than nothing, so it never becomes the share.
			if q := m.data[j*m.stride+i] / t; q > share {
				share = q
			}
		}
	}
	return share
}

// NormalizedSumRows is [NormalizedSum] of each row over the same row of total.
func NormalizedSumRows(dst []float64, m, total *Matrix) {
	checkSameRows(m, total)
	dst = m.checkDst(dst)
	kernel.NormalizedSumRows(dst, m.data, m.stride, total.data, m.reciprocalsOf(total), total.stride, m.cols)
}

// DominantResourceRows is [DominantResource], row by row over total.
func DominantResourceRows(dst []float64, m, total *Matrix) {
	checkSameRows(m, total)
	dst = m.checkDst(dst)
	kernel.DominantShareRows(dst, m.data, m.stride, total.data, m.reciprocalsOf(total), total.stride, m.cols)
}

// Copies sets dst[i] to how many copies of request row i of free holds.
func Copies(dst []int64, free *Matrix, request ResourceVector) {
	free.checkVector(request)
	if len(dst) < free.rows {
		panic(panicDstShort)
	}
	plan := kernel.PlanCopies(request, free.Tame)
	// Dividing a row costs most. The plan multiplies by reciprocals in tame columns, and asks
	// nothing of columns that are not requested.
	plan.Copies(dst[:free.rows], free.data, free.stride, 0)
}

// SumCopies returns the sum of [Copies] over rows, at most math.MaxInt64.
func SumCopies(free *Matrix, request ResourceVector, rows *Mask) int64 {
	free.checkVector(request)
	selected := selection(rows, free.rows)
	plan := kernel.PlanCopies(request, free.Tame)
	// Chunks of copies stay in the first-level cache and on the stack.
	const chunk = 512
	var buffer [chunk]int64
	var sum int64
	for lo := 0; lo < free.rows; lo += chunk {
		copies := buffer[:min(chunk, free.rows-lo)]
		plan.Copies(copies, free.data, free.stride, lo)
		// All rows need no look at a mask.
		if selected == nil {
			for _, n := range copies {
				sum = saturatingAdd(sum, n)
			}
			continue
		}
		// Copies of rows that are not selected are computed and left out: the kernel takes whole
		// blocks faster than single rows.
		for w, word := range selected[lo/kernel.Block:][:wordsFor(len(copies))] {
			for ; word != 0; word &= word - 1 {
				sum = saturatingAdd(sum, copies[w*kernel.Block+bits.TrailingZeros64(word)])
			}
		}
	}
	return sum
}

// saturatingAdd returns a+b for non-negative counts, at most MaxInt64.
func saturatingAdd(a, b int64) int64 {
	// Two counts overflow into the sign, never beyond it.
	if s := a + b; s >= 0 {
		return s
	}
	return math.MaxInt64
}

// checkDst returns dst cut to one element per row of m.
func (m *Matrix) checkDst(dst []float64) []float64 {
	if len(dst) < m.rows {
		panic(panicDstShort)
	}
	return dst[:m.rows]
}
