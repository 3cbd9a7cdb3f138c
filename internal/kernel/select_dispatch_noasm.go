//go:build !amd64 || purego

package kernel

// MaxFloat64 returns the greatest selected value, -Inf when there is none.
func MaxFloat64(values []float64, rows []uint64) float64 {
	return maxFloat64Generic(values, rows)
}

// MinFloat64 returns the least selected value, +Inf when there is none.
func MinFloat64(values []float64, rows []uint64) float64 {
	return minFloat64Generic(values, rows)
}

// MaxInt64 returns the greatest selected value, math.MinInt64 when there is
// none.
func MaxInt64(values []int64, rows []uint64) int64 {
	return maxInt64Generic(values, rows)
}

// MinInt64 returns the least selected value, math.MaxInt64 when there is none.
func MinInt64(values []int64, rows []uint64) int64 {
	return minInt64Generic(values, rows)
}

// IndexFloat64 returns the first selected row whose value equals x, or -1.
func IndexFloat64(values []float64, rows []uint64, x float64) int {
	return indexGeneric(values, rows, x)
}

// IndexInt64 returns the first selected row whose value equals x, or -1.
func IndexInt64(values []int64, rows []uint64, x int64) int {
	return indexGeneric(values, rows, x)
}

// MaskGEFloat64 sets dst to the selected rows whose value is >= limit.
func MaskGEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	maskGEGeneric(dst, values, rows, limit)
}

// MaskLEFloat64 sets dst to the selected rows whose value is <= limit.
func MaskLEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	maskLEGeneric(dst, values, rows, limit)
}

// MaskGEInt64 sets dst to the selected rows whose value is >= limit.
func MaskGEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	maskGEGeneric(dst, values, rows, limit)
}

// MaskLEInt64 sets dst to the selected rows whose value is <= limit.
func MaskLEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	maskLEGeneric(dst, values, rows, limit)
}
