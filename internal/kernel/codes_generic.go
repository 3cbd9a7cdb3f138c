package kernel

import "math"

// Codes sets dst to the Floor32 of src, which is as long, and reports whether a
// value is not Tame.
func Codes(dst []float32, src []float64) (wild bool) {
	return codes(dst, src[:len(dst)])
}

// codesGeneric sets dst to the Floor32 of src, which is as long, and reports
// whether a value is not Tame.
func codesGeneric(dst []float32, src []float64) (wild bool) {
	for i, x := range src[:len(dst)] {
		dst[i] = Floor32(x)
		wild = wild || !Tame(x)
	}
	return wild
}

// Tame reports whether x is 0 or 2^-500 <= |x| < 2^500, the range in which the
// division kernels may use a corrected reciprocal (docs/proofs.md).
func Tame(x float64) bool {
	b := math.Float64bits(x) << 1
	return b-(1023-500)<<53 < 1000<<53 || b == 0
}

// Floor32 returns the greatest float32 that is not above x; a NaN stays one.
// For every x and every q that is a float32, x >= q exactly when Floor32(x) >=
// q, so requests that are float32 values, as nearly all are, can be compared
// with the codes alone.
func Floor32(x float64) float32 {
	f := float32(x)
	b := math.Float32bits(f)
	// When f is above x, go one down: to the next smaller magnitude where f is
	// positive, to the next greater one where it is negative or -0.
	var above uint32
	if float64(f) > x {
		above = 1
	}
	down := uint32(-1 - 2*(int32(b)>>31))
	return math.Float32frombits(b + above*down)
}
