//go:build (!amd64 && !arm64) || purego

package kernel

// The kernels that have assembly for amd64 and for arm64: NAME_amd64.go says what they
// do. Without assembly every kernel is its twin. Those with a type parameter, or whose
// twin has one, stay calls: inlined into another package they would make their
// arguments escape.

func assembly() []Impl { return nil }

//go:noinline
func AndGE(dst []uint64, data []float64, lower32 []float32, stride, lo int, list *RequestList) {
	andGERequest(dst, data, lower32, stride, lo, list)
}

func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andLEGeneric(dst, data, stride, cols, vals)
}

func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	andSumGEGeneric(dst, a, aStride, b, bStride, cols, vals)
}

func AndRowsLE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRowsLEGeneric(dst, a, aStride, b, bStride, cols)
}

func AndRowsFit(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRowsFitGeneric(dst, a, aStride, b, bStride, cols)
}

//go:noinline
func ArgMax[T Number](values []T, rows []uint64) int { return argMaxGeneric(values, rows) }

//go:noinline
func ArgMin[T Number](values []T, rows []uint64) int { return argMinGeneric(values, rows) }

func NormalizedSum(dst, data []float64, stride int, cols []int32, total []float64, _ bool) {
	normalizedSumGeneric(dst, data, stride, cols, total)
}

func DominantShare(dst, data []float64, stride int, cols []int32, total []float64, _ bool) {
	dominantShareGeneric(dst, data, stride, cols, total)
}

func Copies(dst []int64, data []float64, stride int, cols []int32, request []float64, _ bool) {
	copiesGeneric(dst, data, stride, cols, request)
}

func WeightedSum(dst, data []float64, stride int, cols []int32, weights []float64) {
	weightedSumGeneric(dst, data, stride, cols, weights)
}
