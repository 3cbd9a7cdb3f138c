package gang

import (
	"math"
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// countCopies returns how many copies of request the selected rows of free hold, at most most a
// row. It stops counting when there are enough. It sets dst[r], unless dst is nil, to what row r
// contributes, 0 where it is not selected. The kernel counts in chunks that stay in the first
// cache, and on the stack.
func countCopies(dst []int32, free *vector.Matrix, selected []uint64, request vector.ResourceVector, most, enough int64) (sum int64) {
	plan := kernel.PlanCopies(request, free.Tame)
	const chunk = 512
	var buffer [chunk]int64
	for lo := 0; lo < free.Rows() && sum < enough; lo += chunk {
		copies := buffer[:min(chunk, free.Rows()-lo)]
		plan.Copies(copies, free.Elements(), free.Stride(), lo)
		if dst == nil {
			sum += sumUpTo(copies, selected, lo, most)
			continue
		}
		out := dst[lo:]
		for i, n := range copies {
			if !isSelected(selected, lo+i) {
				n = 0
			}
			n = min(n, most)
			out[i] = int32(n)
			sum += n
		}
	}
	return sum
}

// sumUpTo adds up the selected copies of the rows from lo on, counting at most
// most for each, so that the sum of unlimited rows does not overflow.
func sumUpTo(copies []int64, selected []uint64, lo int, most int64) int64 {
	var sum int64
	if selected == nil {
		for _, n := range copies {
			sum += min(n, most)
		}
		return sum
	}
	for w, word := range selected[lo/kernel.Block:][:wordsFor(len(copies))] {
		for ; word != 0; word &= word - 1 {
			sum += min(copies[w*kernel.Block+bits.TrailingZeros64(word)], most)
		}
	}
	return sum
}

// rowCounter counts the copies of a request on one row at a time.
type rowCounter struct {
	request vector.ResourceVector
	most    int64                 // where to stop counting
	finite  bool                  // every amount is a finite number, so that what follows stands for it
	columns []int32               // those requested
	amounts []float64             // what is requested there
	row     vector.ResourceVector // scratch
}

// take makes c count request, at most most copies a row. It keeps request.
func (c *rowCounter) take(request vector.ResourceVector, most int64) {
	c.request, c.most, c.finite = request, most, finite(request)
	c.columns, c.amounts = c.columns[:0], c.amounts[:0]
	for j, x := range request {
		if x > 0 {
			c.columns = append(c.columns, int32(j))
			c.amounts = append(c.amounts, x)
		}
	}
}

// finite reports whether every amount is a finite number.
func finite(v vector.ResourceVector) bool {
	for _, x := range v {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// on returns how many copies row r holds, as CopiesFit does, at most c.most. The least
// quotient is cut to a whole number once: the floor of the least is the least floor.
func (c *rowCounter) on(free *vector.Matrix, r int) int64 {
	if !c.finite { // a quotient of infinities says nothing
		c.row = free.Row(c.row, r)
		return min(c.request.CopiesFit(c.row), c.most)
	}
	least := float64(c.most)
	for k, j := range c.columns {
		q := at(free, r, int(j)) / c.amounts[k]
		if !(q >= 1) { // also where the free amount is a NaN
			return 0
		}
		least = min(least, q)
	}
	return int64(least)
}

// withLeader counts on a row that also holds one copy of other, which fits there. It asks for each
// column by itself: what is left of a row has no vector of its own.
func (c *rowCounter) withLeader(free *vector.Matrix, r int, other vector.ResourceVector) int64 {
	least := float64(c.most)
	for j, x := range c.request {
		if x == 0 {
			continue
		}
		room := at(free, r, j)
		if !math.IsInf(room, 1) { // unlimited room stays unlimited
			room -= other[j]
		}
		if !c.finite { // CopiesFit says what infinities mean
			left := [1]float64{room}
			least = min(least, float64(min(c.request[j:j+1].CopiesFit(left[:]), c.most)))
			continue
		}
		q := room / x
		if !(q >= 1) {
			return 0
		}
		least = min(least, q)
	}
	return int64(least)
}

// fitsRow reports whether row r of free holds request, by the rule of FitsIn.
func fitsRow(free *vector.Matrix, r int, request vector.ResourceVector) bool {
	for j, x := range request {
		if !(x <= 0 || x <= at(free, r, j)) {
			return false
		}
	}
	return true
}
