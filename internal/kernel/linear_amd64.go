//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./linear -out ../linear_amd64.s -stubs ../linear_stubs_amd64.go -pkg kernel

// LinearSum adds the terms to acc, in their order.
func LinearSum(acc []float64, terms []LinearTerm) {
	if active == Generic || len(terms) > mostTerms {
		linearSumGeneric(acc, terms)
		return
	}
	raceLinear(acc, terms, nil, nil)
	list, n, step := linearList(terms)
	for lo := 0; lo < len(acc); lo += step {
		part := acc[lo:min(lo+step, len(acc))]
		if active == AVX512 {
			linearSumAVX512(&part[0], len(part), lo, list, n)
		} else {
			linearSumAVX2(&part[0], len(part), lo, list, n)
		}
	}
}

// LinearAmount sets acc to the sum of the terms, and of acc itself if more is set,
// over over, at least 0, plus kept, unless that is nil.
func LinearAmount(acc []float64, more bool, terms []LinearTerm, kept []float64, over float64) {
	if active == Generic || len(terms) > mostTerms {
		linearAmountGeneric(acc, more, terms, kept, over)
		return
	}
	raceLinear(acc, terms, kept, nil)
	list, n, step := linearList(terms)
	add, divide, k := flag(more), flag(over != 1), unsafe.SliceData(kept)
	for lo := 0; lo < len(acc); lo += step {
		part := acc[lo:min(lo+step, len(acc))]
		if active == AVX512 {
			linearAmountAVX512(&part[0], len(part), lo, add, list, n, k, over, divide)
		} else {
			linearAmountAVX2(&part[0], len(part), lo, add, list, n, k, over, divide)
		}
	}
}

// LinearCharge is LinearAmount for charges: rounded up to a multiple of unit, and
// times pods, unless that is nil.
func LinearCharge(acc []float64, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	if active == Generic || len(terms) > mostTerms {
		linearChargeGeneric(acc, more, terms, kept, over, unit, pods)
		return
	}
	raceLinear(acc, terms, kept, pods)
	list, n, step := linearList(terms)
	add, divide, units := flag(more), flag(over != 1), flag(unit != 1)
	k, p := unsafe.SliceData(kept), unsafe.SliceData(pods)
	for lo := 0; lo < len(acc); lo += step {
		part := acc[lo:min(lo+step, len(acc))]
		if active == AVX512 {
			linearChargeAVX512(&part[0], len(part), lo, add, list, n, k, over, divide, unit, units, p)
		} else {
			linearChargeAVX2(&part[0], len(part), lo, add, list, n, k, over, divide, unit, units, p)
		}
	}
}

// linearList returns the address and the number of terms, and how many rows one call
// into assembly takes.
func linearList(terms []LinearTerm) (list *byte, count, step int) {
	return (*byte)(unsafe.Pointer(unsafe.SliceData(terms))), len(terms), chunkRows(2*len(terms) + 4)
}

// mostTerms is how many terms assembly takes. Each reads two columns, and what
// becomes of the sum reads two more and divides twice.
const mostTerms = mostColumns/2 - 2

// raceLinear informs the race detector what a linear kernel reads and writes.
func raceLinear(acc []float64, terms []LinearTerm, kept, pods []float64) {
	for k := range terms {
		raceRead(terms[k].Input[:len(acc)])
		if terms[k].Multiplier != nil {
			raceRead(terms[k].Multiplier[:len(acc)])
		}
	}
	if kept != nil {
		raceRead(kept[:len(acc)])
	}
	if pods != nil {
		raceRead(pods[:len(acc)])
	}
	raceWrite(acc)
}

// flag returns 1 for true.
func flag(x bool) int {
	if x {
		return 1
	}
	return 0
}
