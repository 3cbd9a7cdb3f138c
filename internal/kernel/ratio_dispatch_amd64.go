//go:build amd64 && !purego

package kernel

// NormalizedSum sets dst[r] to the sum of data/total over the listed columns;
// every total is > 0. tame promises that every value of the listed columns and
// every total is 0 or has a magnitude in [2^-500, 2^500].
func NormalizedSum(dst []float64, data []float64, stride int, cols []int32, total []float64, _ bool) {
	normalizedSumGeneric(dst, data, stride, cols, total)
}

// DominantShare sets dst[r] to the greatest of 0 and data/total over the
// listed columns; arguments as for NormalizedSum.
func DominantShare(dst []float64, data []float64, stride int, cols []int32, total []float64, _ bool) {
	dominantShareGeneric(dst, data, stride, cols, total)
}

// NormalizedSumRows sets dst[r] to the sum of data/total over the first cols
// columns where the row's total is > 0.
func NormalizedSumRows(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	normalizedSumRowsGeneric(dst, data, stride, total, totalStride, cols)
}

// DominantShareRows sets dst[r] to the greatest of 0 and data/total over the
// first cols columns where the row's total is > 0.
func DominantShareRows(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	dominantShareRowsGeneric(dst, data, stride, total, totalStride, cols)
}

// Copies sets dst[r] to the least floor(data/request) over the listed columns,
// in 0..MaxInt64; every request is > 0 and finite. tame as for NormalizedSum.
func Copies(dst []int64, data []float64, stride int, cols []int32, request []float64, _ bool) {
	copiesGeneric(dst, data, stride, cols, request)
}

// WeightedSum sets dst[r] to the sum of data*weights over the listed columns.
func WeightedSum(dst []float64, data []float64, stride int, cols []int32, weights []float64) {
	weightedSumGeneric(dst, data, stride, cols, weights)
}
