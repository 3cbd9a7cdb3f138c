package kernel

import "math"

// Reciprocals sets dst to the reciprocals of src, which is as long. Kernels that
// have them next to the amounts that they divide by need no division, for the same
// bits (docs/proofs.md). A reciprocal is
//
//   - 1/x rounded, for 2^-400 <= x <= 2^400,
//   - 0 for 0 and for finite negative numbers, which nothing is divided by,
//   - NaN for other numbers, where the kernels divide.
//
// whole reports whether all of src are whole numbers from 0 to 2^44, which the
// kube kernels ask for.
func Reciprocals(dst, src []float64) (whole bool) {
	whole = true
	for i, x := range src[:len(dst)] {
		switch {
		case x >= 0x1p-400 && x <= 0x1p400:
			dst[i] = 1 / x
			whole = whole && x <= 1<<44 && x == float64(int64(x))
		case x <= 0 && x >= -math.MaxFloat64:
			dst[i] = 0
			whole = whole && x == 0
		default:
			dst[i], whole = math.NaN(), false
		}
	}
	return whole
}

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
			dst[r] = greater(dst[r], x/t)
		}
	}
	for r := range dst {
		if dst[r] == dst[r] {
			continue
		}
		dst[r] = 0
		for k, c := range cols {
			if q := data[int(c)*stride+r] / total[k]; q > dst[r] {
				dst[r] = q
			}
		}
	}
}

// greater returns y if it is more than x, which is +0 or more, and else x. It has no
// branch, which shares in no order would mispredict: from +0 on, numbers are in the order
// of their bits. So is a NaN without a sign, which is the result.
func greater(x, y float64) float64 {
	return math.Float64frombits(uint64(max(int64(math.Float64bits(x)), int64(math.Float64bits(y)))))
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
				dst[r] = greater(dst[r], x/t)
			}
		}
	}
	for r := range dst {
		if dst[r] == dst[r] {
			continue
		}
		dst[r] = 0
		for c := range cols {
			if t := total[c*totalStride+r]; t > 0 {
				if q := data[c*stride+r] / t; q > dst[r] {
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
	var least [Block]float64
	for lo := 0; lo < len(dst); lo += Block {
		copies := dst[lo:min(lo+Block, len(dst))]
		for i := range least {
			least[i] = math.Inf(1)
		}
		for k, c := range cols {
			column, t := data[int(c)*stride+lo:][:len(copies)], request[k]
			for i, x := range column {
				least[i%Block] = min(least[i%Block], x/t) // NaN, once there is one
			}
		}
		for i := range copies {
			copies[i] = Floor(least[i%Block])
		}
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
	n := len(dst)
	for len(cols) >= 4 { // four columns for one load and store of the sum
		c, w := (*[4]int32)(cols), (*[4]float64)(weights)
		column0, column1 := data[int(c[0])*stride:][:n], data[int(c[1])*stride:][:n]
		column2, column3 := data[int(c[2])*stride:][:n], data[int(c[3])*stride:][:n]
		w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
		for r, sum := range dst {
			sum += float64(column0[r] * w0)
			sum += float64(column1[r] * w1)
			sum += float64(column2[r] * w2)
			dst[r] = sum + float64(column3[r]*w3)
		}
		cols, weights = cols[4:], weights[4:]
	}
	for k, c := range cols {
		column, w := data[int(c)*stride:][:n], weights[k]
		for r, x := range column {
			dst[r] += float64(x * w)
		}
	}
}
