//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./linear -out ../linear_amd64.s -stubs ../linear_stubs_amd64.go -pkg kernel

func linear(acc []float64, op linearOp, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	if active == Generic || len(terms) > mostTerms {
		linearGeneric(acc, op, more, terms, kept, over, unit, pods)
		return
	}
	raceLinear(acc, terms, kept, pods)
	list, n, step := (*byte)(unsafe.Pointer(unsafe.SliceData(terms))), len(terms), chunkRows(2*len(terms)+4)
	add, divide, units := flag(more), flag(over != 1), flag(unit != 1)
	k, p := unsafe.SliceData(kept), unsafe.SliceData(pods)
	for lo := 0; lo < len(acc); lo += step {
		part := acc[lo:min(lo+step, len(acc))]
		switch wide := active == AVX512; {
		case wide && op == linearSum:
			linearSumAVX512(&part[0], len(part), lo, list, n)
		case wide && op == linearAmount:
			linearAmountAVX512(&part[0], len(part), lo, add, list, n, k, over, divide)
		case wide:
			linearChargeAVX512(&part[0], len(part), lo, add, list, n, k, over, divide, unit, units, p)
		case op == linearSum:
			linearSumAVX2(&part[0], len(part), lo, list, n)
		case op == linearAmount:
			linearAmountAVX2(&part[0], len(part), lo, add, list, n, k, over, divide)
		default:
			linearChargeAVX2(&part[0], len(part), lo, add, list, n, k, over, divide, unit, units, p)
		}
	}
}

// mostTerms is how many terms assembly takes. Each reads two columns, and what
// becomes of the sum reads two more and divides twice.
const mostTerms = mostColumns/2 - 2

// flag returns 1 for true.
func flag(x bool) int {
	if x {
		return 1
	}
	return 0
}

// raceLinear tells the race detector what a linear kernel reads and writes.
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
