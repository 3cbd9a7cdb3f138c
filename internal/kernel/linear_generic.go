package kernel

import "math"

// The linear kernels make one column of a transformation: a sum of products of
// columns, and the amount or the charge that it is turned into. The columns, kept
// among them, belong to a matrix, from the start of a block on: whole blocks of
// them are read. acc and pods are plain slices. Every product and sum is rounded by
// itself, in the order of the terms.

// LinearTerm is one term of a transformed column: Input times Factor, or Input
// times Multiplier times Factor, where a multiplier of 0 counts as Absent.
type LinearTerm struct {
	Input      []float64
	Multiplier []float64 // nil: none
	Absent     float64
	Factor     float64
}

// linearSumGeneric adds the terms to acc.
func linearSumGeneric(acc []float64, terms []LinearTerm) {
	for _, t := range terms {
		input := t.Input[:len(acc)]
		if t.Multiplier == nil {
			for r, x := range input {
				acc[r] += float64(x * t.Factor)
			}
			continue
		}
		for r, k := range t.Multiplier[:len(acc)] {
			if k == 0 {
				k = t.Absent
			}
			acc[r] += float64(float64(input[r]*k) * t.Factor)
		}
	}
}

// linearAmountGeneric adds the terms to acc, or to 0 unless more is set, divides by
// over, raises what is negative to 0 and adds kept, unless that is nil. A zero
// becomes +0.
func linearAmountGeneric(acc []float64, more bool, terms []LinearTerm, kept []float64, over float64) {
	if !more {
		clear(acc)
	}
	linearSumGeneric(acc, terms)
	for r, y := range acc {
		y /= over
		if y < 0 {
			y = 0
		}
		if kept != nil {
			y = kept[r] + y
		}
		acc[r] = y + 0
	}
}

// linearChargeGeneric is linearAmountGeneric for a charge: the quotient by over, at
// least 0, plus kept, rounded up to a multiple of unit, at least 0, times pods,
// unless that is nil. A whole kept amount is added after the rounding of the
// quotient, so that no sum rounds a fraction away. 2^53 and more is +Inf; a count of
// 0 gives 0 unless the amount is NaN.
func linearChargeGeneric(acc []float64, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	if !more {
		clear(acc)
	}
	linearSumGeneric(acc, terms)
	for r, y := range acc {
		y /= over
		if y < 0 {
			y = 0
		}
		switch {
		case kept == nil:
			y = math.Ceil(y)
		case kept[r] == math.Floor(kept[r]):
			y = kept[r] + math.Ceil(y)
		default:
			y = math.Ceil(kept[r] + y)
		}
		if y < 0 {
			y = 0
		}
		if unit != 1 {
			y = math.Ceil(y/unit) * unit
		}
		y = bounded(y)
		if pods != nil && y == y {
			if pods[r] == 0 {
				y = 0
			}
			y = bounded(y * pods[r])
		}
		acc[r] = y + 0
	}
}

// bounded returns x, or +Inf when it is 2^53 or more.
func bounded(x float64) float64 {
	if x >= 1<<53 {
		return math.Inf(1)
	}
	return x
}
