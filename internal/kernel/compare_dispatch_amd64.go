//go:build amd64 && !purego

package kernel

// AndGE clears the bits of dst whose rows fail data[cols[k]*stride+r] >=
// vals[k] for some k. The mask covers len(dst) blocks.
func AndGE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andGEGeneric(dst, data, stride, cols, vals)
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
