//go:build !amd64 || purego

package kernel

// LoadSum sets dst[r], for every selected row, to the weighted sum of
// (used+request)/allocatable in the given form, as LoadRow does.
func LoadSum(dst []float64, dims []LoadDim, form LoadForm, rows []uint64) {
	loadSumGeneric(dst, dims, form, rows)
}

// LoadSumFixed is LoadSum with the capacities of the dimensions.
func LoadSumFixed(dst []float64, dims []LoadDim, form LoadForm, rows []uint64) {
	loadSumFixedGeneric(dst, dims, form, rows)
}

// LoadGreatest is LoadSum with the greatest quotient.
func LoadGreatest(dst []float64, dims []LoadDim, form LoadForm, rows []uint64) {
	loadGreatestGeneric(dst, dims, form, rows)
}

// LoadGreatestFixed is LoadGreatest with the capacities of the dimensions.
func LoadGreatestFixed(dst []float64, dims []LoadDim, form LoadForm, rows []uint64) {
	loadGreatestFixedGeneric(dst, dims, form, rows)
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
