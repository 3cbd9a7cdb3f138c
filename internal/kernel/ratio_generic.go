package kernel

import "math"

// The ratio kernels write one result per row, len(dst) of them, columns added
// or compared in list order. A quotient is the IEEE quotient; no product is
// fused into a sum.

// normalizedSumGeneric sets dst[r] to the sum of data/total over the listed
// columns, starting from +0. Every total is > 0.
func normalizedSumGeneric(dst []float64, data []float64, stride int, cols []int32, total []float64) {
	clear(dst)
	for k, c := range cols {
		column, t := data[int(c)*stride:][:len(dst)], total[k]
		for r, x := range column {
			dst[r] += x / t
		}
	}
}

// dominantShareGeneric sets dst[r] to the greatest of data/total over the
// listed columns, starting from +0; a NaN quotient never wins. Every total
// is > 0.
func dominantShareGeneric(dst []float64, data []float64, stride int, cols []int32, total []float64) {
	clear(dst)
	for k, c := range cols {
		column, t := data[int(c)*stride:][:len(dst)], total[k]
		for r, x := range column {
			if q := x / t; q > dst[r] {
				dst[r] = q
			}
		}
	}
}

// normalizedSumRowsGeneric sets dst[r] to the sum of data/total over the first
// cols columns where the row's own total is > 0.
func normalizedSumRowsGeneric(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	clear(dst)
	for c := range cols {
		column, totals := data[c*stride:][:len(dst)], total[c*totalStride:][:len(dst)]
		for r, x := range column {
			if t := totals[r]; t > 0 {
				dst[r] += x / t
			}
		}
	}
}

// dominantShareRowsGeneric is dominantShareGeneric with the row's own totals;
// columns whose total is not > 0 are skipped.
func dominantShareRowsGeneric(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	clear(dst)
	for c := range cols {
		column, totals := data[c*stride:][:len(dst)], total[c*totalStride:][:len(dst)]
		for r, x := range column {
			if t := totals[r]; t > 0 {
				if q := x / t; q > dst[r] {
					dst[r] = q
				}
			}
		}
	}
}

// copiesGeneric sets dst[r] to the least floor(data/request) over the listed
// columns, at least 0, saturating at MaxInt64, which is also the result for an
// empty list. Every request is > 0 and finite. A NaN amount gives 0.
func copiesGeneric(dst []int64, data []float64, stride int, cols []int32, request []float64) {
	for r := range dst {
		least := math.Inf(1)
		for k, c := range cols {
			q := data[int(c)*stride+r] / request[k]
			if q != q {
				q = 0
			}
			if q < least {
				least = q
			}
		}
		dst[r] = Floor(least)
	}
}

// Floor returns the floor of a count of copies as an int64: NaN and negative
// values give 0, values of 2^63 and more MaxInt64.
func Floor(q float64) int64 {
	switch {
	case q >= 1<<63:
		return math.MaxInt64
	case q >= 1:
		return int64(q)
	}
	return 0
}

// weightedSumGeneric sets dst[r] to the sum of data*weights over the listed
// columns, starting from +0, each product rounded before it is added.
func weightedSumGeneric(dst []float64, data []float64, stride int, cols []int32, weights []float64) {
	clear(dst)
	for k, c := range cols {
		column, w := data[int(c)*stride:][:len(dst)], weights[k]
		for r, x := range column {
			dst[r] += float64(x * w)
		}
	}
}
