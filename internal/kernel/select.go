package kernel

import "math"

// MaxFloat64 returns the greatest selected value, -Inf when there is none. A
// zero is +0.
func MaxFloat64(values []float64, rows []uint64) float64 {
	if r := ArgMaxFloat64(values, rows); r >= 0 {
		return values[r] + 0
	}
	return math.Inf(-1)
}

// MinFloat64 returns the least selected value, +Inf when there is none. A zero
// is +0.
func MinFloat64(values []float64, rows []uint64) float64 {
	if r := ArgMinFloat64(values, rows); r >= 0 {
		return values[r] + 0
	}
	return math.Inf(1)
}
