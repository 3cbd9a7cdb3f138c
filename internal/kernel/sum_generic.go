//go:build amd64 && !purego

package kernel

import "math"

// sumWholeGeneric returns the sum of the values, their greatest magnitude, and bits that
// are 0 if all of them are whole and at most 2^52 in magnitude. Without assembly nobody
// asks: adding in order is as fast.
func sumWholeGeneric(values []float64) (sum, largest float64, fraction uint64) {
	for _, x := range values {
		sum += x
		x = math.Abs(x)
		largest = max(largest, x)
		whole := (x + 1<<52) - 1<<52 // a number from 2^52 to 2^53 has no fraction
		fraction |= math.Float64bits(x) ^ math.Float64bits(whole)
	}
	return sum, largest, fraction
}
