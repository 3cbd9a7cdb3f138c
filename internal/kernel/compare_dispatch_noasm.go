//go:build !amd64 || purego

package kernel

// AndGE clears the bits of dst whose rows fail data[cols[k]*stride+r] >=
// vals[k] for some k. The mask covers len(dst) blocks.
//
// Inlined into other packages, a type-parametric twin makes its arguments
// escape.
//
//go:noinline
func AndGE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andGEGeneric(dst, data, stride, cols, vals)
}

// AndGE32 clears the bits of dst whose rows fail codes[cols[k]*stride+r] >=
// vals[k] for some k. It is AndGE for half the bytes.
//
//go:noinline
func AndGE32(dst []uint64, codes []float32, stride int, cols []int32, vals []float32) {
	andGEGeneric(dst, codes, stride, cols, vals)
}

// AndLE clears the bits of dst whose rows fail data[cols[k]*stride+r] <=
// vals[k] for some k.
func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andLEGeneric(dst, data, stride, cols, vals)
}

// AndSumGE clears the bits of dst whose rows fail a+b >= vals[k] in column
// cols[k] for some k.
func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	andSumGEGeneric(dst, a, aStride, b, bStride, cols, vals)
}

// AndRowsLE clears the bits of dst whose rows fail a <= b in one of the first
// cols columns.
func AndRowsLE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRowsLEGeneric(dst, a, aStride, b, bStride, cols)
}

// AndRowsFit clears the bits of dst whose rows fail (a <= b or a <= 0) in one
// of the first cols columns.
func AndRowsFit(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRowsFitGeneric(dst, a, aStride, b, bStride, cols)
}
