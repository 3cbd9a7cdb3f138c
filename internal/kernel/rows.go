package kernel

import "math/bits"

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
