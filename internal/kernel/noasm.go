//go:build (!amd64 && !arm64) || purego

package kernel

// Without assembly there is one implementation, and every kernel is its twin.

func assembly() []Impl { return nil }

// Inlined into other packages, a type-parametric twin makes its arguments escape.
//
//go:noinline
func andListed(t test, dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andListedGeneric(t, dst, data, stride, cols, vals)
}

func andSum(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	andSumGEGeneric(dst, a, aStride, b, bStride, cols, vals)
}

//go:noinline
func andCodes(dst []uint64, data []float32, stride int, cols []int32, vals []float32) {
	andGEGeneric(dst, data, stride, cols, vals)
}

func andRows(t test, dst []uint64, a []float64, aStride int, b []float64, bStride, cols int) {
	andRowsGeneric(t, dst, a, aStride, b, bStride, cols)
}

func firstBest[T Number](values []T, rows []uint64, greatest bool) int {
	return firstBestGeneric(values, rows, greatest)
}

func foldColumns(f fold, dst, data []float64, stride int, cols []int32, numbers []float64, _ bool) {
	foldColumnsGeneric(f, dst, data, stride, cols, numbers)
}

func copies(dst []int64, data []float64, stride int, cols []int32, request []float64, _ bool) {
	copiesGeneric(dst, data, stride, cols, request)
}
