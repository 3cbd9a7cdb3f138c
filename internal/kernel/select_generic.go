package kernel

import "math"

// Number is the element type of scores.
type Number interface{ float64 | int64 }

// The selection kernels read values of any alignment and any length. rows is a
// mask of (len(values)+63)/64 words without bits beyond the length, or nil for
// all rows. A NaN is never selected; -0 equals 0.

func selected(rows []uint64, r int) bool {
	return rows == nil || rows[r/Block]>>(r%Block)&1 != 0
}

// maxFloat64Generic returns the greatest selected value, -Inf when there is
// none. A zero result is +0.
func maxFloat64Generic(values []float64, rows []uint64) float64 {
	greatest := math.Inf(-1)
	for r, x := range values {
		if selected(rows, r) && x > greatest {
			greatest = x
		}
	}
	return greatest + 0
}

// minFloat64Generic returns the least selected value, +Inf when there is none.
// A zero result is +0.
func minFloat64Generic(values []float64, rows []uint64) float64 {
	least := math.Inf(1)
	for r, x := range values {
		if selected(rows, r) && x < least {
			least = x
		}
	}
	return least + 0
}

// maxInt64Generic returns the greatest selected value, MinInt64 when there is
// none.
func maxInt64Generic(values []int64, rows []uint64) int64 {
	greatest := int64(math.MinInt64)
	for r, x := range values {
		if selected(rows, r) && x > greatest {
			greatest = x
		}
	}
	return greatest
}

// minInt64Generic returns the least selected value, MaxInt64 when there is
// none.
func minInt64Generic(values []int64, rows []uint64) int64 {
	least := int64(math.MaxInt64)
	for r, x := range values {
		if selected(rows, r) && x < least {
			least = x
		}
	}
	return least
}

// indexGeneric returns the first selected row whose value equals x, or -1.
func indexGeneric[T Number](values []T, rows []uint64, x T) int {
	for r, v := range values {
		if v == x && selected(rows, r) {
			return r
		}
	}
	return -1
}

// maskGEGeneric sets bit r of dst when row r is selected and values[r] >=
// limit, and clears the other bits. dst has (len(values)+63)/64 words and may
// be rows itself.
func maskGEGeneric[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	for w := range dst {
		var keep uint64
		for i, x := range values[w*Block : min((w+1)*Block, len(values))] {
			keep |= bit(x >= limit) << i
		}
		if rows != nil {
			keep &= rows[w]
		}
		dst[w] = keep
	}
}

// maskLEGeneric is maskGEGeneric with values[r] <= limit.
func maskLEGeneric[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	for w := range dst {
		var keep uint64
		for i, x := range values[w*Block : min((w+1)*Block, len(values))] {
			keep |= bit(x <= limit) << i
		}
		if rows != nil {
			keep &= rows[w]
		}
		dst[w] = keep
	}
}
