package kernel

import (
	"math"
	"math/bits"
)

// EachRow calls f for the rows below n that a mask selects, nil for all, in their
// order.
func EachRow(n int, rows []uint64, f func(row int)) {
	if rows == nil {
		for row := range n {
			f(row)
		}
		return
	}
	for lo := 0; lo < n; lo += Block {
		for word := rows[lo/Block]; word != 0; word &= word - 1 {
			if row := lo + bits.TrailingZeros64(word); row < n {
				f(row)
			}
		}
	}
}

// isNot0 returns all bits set if x is not 0, and 0 if it is.
func isNot0(x float64) uint64 {
	n := math.Float64bits(x) << 1 // without the sign
	return uint64(int64(n|-n) >> 63)
}

// keep returns x if all bits of the mask are set, and 0 if none is.
func keep(x float64, mask uint64) float64 { return math.Float64frombits(math.Float64bits(x) & mask) }
