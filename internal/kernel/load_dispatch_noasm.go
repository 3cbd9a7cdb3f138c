//go:build !amd64 || purego

package kernel

// load does what loadGeneric does.
func load(dst []float64, dims []LoadDim, fixed, greatest bool, form LoadForm, rows []uint64) {
	loadGeneric(dst, dims, fixed, greatest, form, rows)
}

// Share sets dst[r], for every selected row, to the greatest weighted share of
// its capacities, as ShareRule does.
func Share(dst []float64, dims []LoadDim, rule ShareRule, rows []uint64) {
	shareGeneric(dst, dims, rule, rows)
}

// Combine sets dst[r], for every selected row, to the sum of
// terms[k][r]*weights[k], starting from +0.
func Combine(dst []float64, terms [][]float64, weights []float64, rows []uint64) {
	combineGeneric(dst, terms, weights, rows)
}

// Rescale sets dst[r], for every selected row, to ((src[r]-low)*100)/span, or to
// 100 minus that. dst may be src.
func Rescale(dst, src []float64, low, span float64, reverse bool, rows []uint64) {
	rescaleGeneric(dst, src, low, span, reverse, rows)
}
