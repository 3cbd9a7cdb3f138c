//go:build !amd64 || purego

package kernel

// ArgMaxFloat64 returns the first selected row with the greatest value, or -1
// when there is none.
func ArgMaxFloat64(values []float64, rows []uint64) int {
	return argMaxGeneric(values, rows)
}

// ArgMinFloat64 returns the first selected row with the least value, or -1
// when there is none.
func ArgMinFloat64(values []float64, rows []uint64) int {
	return argMinGeneric(values, rows)
}

// ArgMaxInt64 returns the first selected row with the greatest value, or -1
// when there is none.
func ArgMaxInt64(values []int64, rows []uint64) int {
	return argMaxGeneric(values, rows)
}

// ArgMinInt64 returns the first selected row with the least value, or -1
// when there is none.
func ArgMinInt64(values []int64, rows []uint64) int {
	return argMinGeneric(values, rows)
}

// MaskGEFloat64 sets dst to the selected rows whose value is >= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
//
// Inlined into other packages, a type-parametric twin makes its arguments
// escape.
//
//go:noinline
func MaskGEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	maskGEGeneric(dst, values, rows, limit)
}

// MaskLEFloat64 sets dst to the selected rows whose value is <= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
//
//go:noinline
func MaskLEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	maskLEGeneric(dst, values, rows, limit)
}

// MaskGEInt64 sets dst to the selected rows whose value is >= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
//
//go:noinline
func MaskGEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	maskGEGeneric(dst, values, rows, limit)
}

// MaskLEInt64 sets dst to the selected rows whose value is <= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
//
//go:noinline
func MaskLEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	maskLEGeneric(dst, values, rows, limit)
}
