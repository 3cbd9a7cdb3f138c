//go:build amd64 && !purego

package kernel

import (
	"math"
	"unsafe"
)

//go:generate env GOWORK=off go -C _asm run ./load -out ../load_amd64.s -stubs ../load_stubs_amd64.go -pkg kernel

// Load sets dst[r], for every selected row, to what the rule makes of the weighted
// quotients (used+request)/allocatable, as LoadRow does.
func Load(dst []float64, dims []LoadDim, rule LoadRule, rows []uint64) {
	if active == Generic || len(dims) > mostColumns {
		loadGeneric(dst, dims, rule, rows)
		return
	}
	raceLoad(dst, dims, !rule.Fixed, rows)
	d, count, step := loadList(dims)
	form := int(rule.Form)
	for lo := 0; lo < len(dst); lo += step {
		part := dst[lo:min(lo+step, len(dst))]
		word, next := maskFrom(rows, lo)
		switch wide := active == AVX512; {
		case wide && rule.Greatest && rule.Fixed:
			loadGreatestFixedAVX512(&part[0], len(part), lo, d, count, form, word, next)
		case wide && rule.Greatest:
			loadGreatestAVX512(&part[0], len(part), lo, d, count, form, word, next)
		case wide && rule.Fixed:
			loadSumFixedAVX512(&part[0], len(part), lo, d, count, form, word, next)
		case wide:
			loadSumAVX512(&part[0], len(part), lo, d, count, form, word, next)
		case rule.Greatest && rule.Fixed:
			loadGreatestFixedAVX2(&part[0], len(part), lo, d, count, form, word, next)
		case rule.Greatest:
			loadGreatestAVX2(&part[0], len(part), lo, d, count, form, word, next)
		case rule.Fixed:
			loadSumFixedAVX2(&part[0], len(part), lo, d, count, form, word, next)
		default:
			loadSumAVX2(&part[0], len(part), lo, d, count, form, word, next)
		}
	}
}

// Share sets dst[r], for every selected row, to the greatest weighted share of
// its capacities, as ShareRule does.
func Share(dst []float64, dims []LoadDim, rule ShareRule, rows []uint64) {
	if active == Generic || len(dims) > mostColumns {
		shareGeneric(dst, dims, rule, rows)
		return
	}
	raceLoad(dst, dims, true, rows)
	least := 0.0 // of the capacities that count
	if rule.ZeroFactor == 0 {
		least = math.SmallestNonzeroFloat64
	}
	d, count, step := loadList(dims)
	for lo := 0; lo < len(dst); lo += step {
		part := dst[lo:min(lo+step, len(dst))]
		word, next := maskFrom(rows, lo)
		if active == AVX512 {
			shareAVX512(&part[0], len(part), lo, d, count, rule.Unlimited, rule.ZeroFactor, least, word, next)
		} else {
			shareAVX2(&part[0], len(part), lo, d, count, rule.Unlimited, rule.ZeroFactor, least, word, next)
		}
	}
}

// Combine sets dst[r], for every selected row, to the sum of
// terms[k][r]*weights[k], starting from +0.
func Combine(dst []float64, terms [][]float64, weights []float64, rows []uint64) {
	if active == Generic || len(terms) > mostColumns {
		combineGeneric(dst, terms, weights, rows)
		return
	}
	for _, t := range terms {
		raceReadSelected(t[:len(dst)], rows)
	}
	raceSelected(dst, rows)
	weights = weights[:len(terms)]
	t, w := (*byte)(unsafe.Pointer(unsafe.SliceData(terms))), unsafe.SliceData(weights)
	step := chunkRows(len(terms))
	for lo := 0; lo < len(dst); lo += step {
		part := dst[lo:min(lo+step, len(dst))]
		word, next := maskFrom(rows, lo)
		if active == AVX512 {
			combineAVX512(&part[0], len(part), lo, t, len(terms), w, word, next)
		} else {
			combineAVX2(&part[0], len(part), lo, t, len(terms), w, word, next)
		}
	}
}

// Rescale sets dst[r], for every selected row, to ((src[r]-low)*100)/span, or to
// 100 minus that. dst may be src.
func Rescale(dst, src []float64, low, span float64, reverse bool, rows []uint64) {
	if active == Generic {
		rescaleGeneric(dst, src, low, span, reverse, rows)
		return
	}
	raceReadSelected(src[:len(dst)], rows)
	raceSelected(dst, rows)
	for lo := 0; lo < len(dst); lo += callQuotients {
		part, from := dst[lo:min(lo+callQuotients, len(dst))], src[lo:]
		word, next := maskFrom(rows, lo)
		if active == AVX512 {
			rescaleAVX512(&part[0], &from[0], len(part), lo, low, span, flag(reverse), word, next)
		} else {
			rescaleAVX2(&part[0], &from[0], len(part), lo, low, span, flag(reverse), word, next)
		}
	}
}

// loadList returns the address and the number of dimensions, and how many rows
// one call into assembly takes.
func loadList(dims []LoadDim) (list *byte, count, step int) {
	return (*byte)(unsafe.Pointer(unsafe.SliceData(dims))), len(dims), chunkRows(len(dims))
}

// raceLoad informs the race detector what a load kernel reads and writes.
func raceLoad(dst []float64, dims []LoadDim, allocatable bool, rows []uint64) {
	for k := range dims {
		raceRead(dims[k].Used[:len(dst)])
		if allocatable {
			raceRead(dims[k].Allocatable[:len(dst)])
		}
	}
	raceSelected(dst, rows)
}
