package kernel

import "math"

// codesGeneric sets dst to the Floor32 of src, which is as long, and reports
// whether a value is not Tame.
func codesGeneric(dst []float32, src []float64) (outOfRange bool) {
	for i, x := range src[:len(dst)] {
		dst[i] = Floor32(x)
		outOfRange = outOfRange || !Tame(x)
	}
	return outOfRange
}

// lacksGeneric is Lacks. It has no branch that depends on an amount: the CPU can't
// predict which rows lack something.
func lacksGeneric(dst []float64, codes []float32, src []float64, request float64) (outOfRange bool) {
	const infinite = 0x7FF << 52
	codes, src = codes[:len(dst)], src[:len(dst)]
	most, least := uint64(0), ^uint64(0) // of the bits, the least but for 0 and less 1
	for i, x := range src {
		b := math.Float64bits(request-x) & (bit(request <= x) - 1)
		b = min(b, infinite) // positive numbers compare as their bits do, and a NaN is above
		most, least = max(most, b), min(least, b-1)
		dst[i], codes[i] = math.Float64frombits(b), float32(math.Float64frombits(b&^(1<<29-1)))
	}
	// Between 2^-126 and 2^127 values are tame, and their codes are their upper bits.
	if most < (1023+127)<<52 && least >= (1023-126)<<52-1 {
		return false
	}
	return codesGeneric(codes, dst)
}

func addRowGeneric(data []float64, codes []float32, stride int, v []float64, sign float64) (ok bool) {
	p := 0
	for _, x := range v {
		sum := data[p] + float64(x*sign)
		if !(exactWhole(x) && exactWhole(sum)) {
			return false
		}
		p += stride
	}
	p = 0
	for _, x := range v {
		sum := data[p] + float64(x*sign)
		data[p], codes[p] = sum, Floor32(sum)
		p += stride
	}
	return true
}

// exactWhole reports whether x is a whole number below 2^53 in magnitude.
func exactWhole(x float64) bool {
	n := int64(x) // of others too, something
	return float64(n) == x && uint64(n+1<<53-1) < 1<<54-1
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
