package kernel

import "math"

// CopiesPlan prepares a request for [Copies] once, for many parts of a matrix. A plan
// lives on the stack of its caller.
type CopiesPlan struct {
	n       int
	columns [PlanColumns]int32 // those with a positive amount
	amounts [PlanColumns]float64
	tame    bool
	request []float64 // nil unless Copies does not cover it
}

// PlanColumns is how many columns one call of [Copies] takes from a plan.
const PlanColumns = 64

// PlanCopies returns the plan of a request. tame reports whether all elements of a
// column are, as for [NormalizedSum]. A request with a NaN, an infinite amount or too
// many positive ones is counted row by row; the plan keeps it.
func PlanCopies(request []float64, tame func(column int) bool) (p CopiesPlan) {
	p.tame = true
	for j, x := range request {
		switch {
		case x <= 0:
		case !(x <= math.MaxFloat64) || p.n == PlanColumns:
			p.request = request
			return p
		default:
			p.columns[p.n], p.amounts[p.n] = int32(j), x
			p.n++
			p.tame = p.tame && Tame(x) && tame(j)
		}
	}
	return p
}

// Copies sets dst to the copies for the rows from lo on.
func (p *CopiesPlan) Copies(dst []int64, data []float64, stride, lo int) {
	data = data[min(lo, len(data)):] // of a matrix without columns there is none
	if p.request == nil {
		Copies(dst, data, stride, p.columns[:p.n], p.amounts[:p.n], p.tame)
		return
	}
	for i := range dst {
		least := math.Inf(1)
		for j, x := range p.request {
			least = min(least, Quotient(x, data[j*stride+i]))
		}
		dst[i] = Floor(least)
	}
}

// Quotient returns how many copies of an amount fit, before rounding down: +Inf without
// a request or with unlimited room, and 0 where either is NaN.
func Quotient(request, free float64) float64 {
	if request <= 0 || math.IsInf(free, 1) && request == request {
		return math.Inf(1)
	}
	if q := free / request; q == q {
		return q
	}
	return 0
}
