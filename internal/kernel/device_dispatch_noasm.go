//go:build !amd64 || purego

package kernel

// groupSizes is groupSizesGeneric.
func groupSizes(offsets []int32) (most, signs int32) { return groupSizesGeneric(offsets) }

// DeviceScores sets dst[r] to the score of every selected row; other elements
// are not touched. The columns of the entries stand in matrices and have an
// element per element of dst. Their amounts are whole, and of magnitudes up to
// DeviceExact.
func DeviceScores(dst []int64, most bool, entries []DeviceEntry, rows []uint64) {
	deviceScoresGeneric(dst, most, entries, rows)
}

// DeviceSums sets dst[k] to the sum of the rows offsets[k] to offsets[k+1]-1 for
// every selected k; other elements are not touched. The sums, also of parts of
// the rows, must be whole numbers below 2^53. offsets has an element more than
// dst.
func DeviceSums(dst, column []float64, offsets []int32, groups []uint64) {
	deviceSumsGeneric(dst, column, offsets, groups)
}

// DeviceBound returns the greatest magnitude of the selected rows of a column,
// which stands in a matrix, or NaN when one of them is not a whole number.
func DeviceBound(column []float64, rows []uint64) float64 {
	return deviceBoundGeneric(column, rows)
}
