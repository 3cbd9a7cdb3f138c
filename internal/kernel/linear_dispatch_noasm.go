//go:build !amd64 || purego

package kernel

// LinearSum adds the terms to acc, in their order.
func LinearSum(acc []float64, terms []LinearTerm) { linearSumGeneric(acc, terms) }

// LinearAmount sets acc to the sum of the terms, and of acc itself if more is set,
// over over, at least 0, plus kept, unless that is nil.
func LinearAmount(acc []float64, more bool, terms []LinearTerm, kept []float64, over float64) {
	linearAmountGeneric(acc, more, terms, kept, over)
}

// LinearCharge is LinearAmount for charges: rounded up to a multiple of unit, and
// times pods, unless that is nil.
func LinearCharge(acc []float64, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	linearChargeGeneric(acc, more, terms, kept, over, unit, pods)
}
