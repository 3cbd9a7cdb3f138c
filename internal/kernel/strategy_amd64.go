//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./strategy -out ../strategy_amd64.s -stubs ../strategy_stubs_amd64.go -pkg kernel

// StrategyFit sets dst to (sum / weights) * points, where sum adds what the
// terms say, and to 0 in rows that a term refuses. weights is the sum of their
// weights, and there is at least one term.
func StrategyFit(dst []float64, lo int, terms []StrategyTerm, weights, points float64, rows []uint64) {
	if active == Generic || len(terms) > mostColumns/3 {
		strategyFitGeneric(dst, lo, terms, weights, points, rows)
		return
	}
	raceTerms(terms, lo, len(dst))
	raceSelected(dst, rows)
	t, n, step := (*byte)(unsafe.Pointer(&terms[0])), len(terms), chunkRows(3*len(terms))
	kept, inverse := keptTerms(terms, len(dst)), 1/weights
	for i := 0; i < len(dst); {
		part := dst[i:min(i+step, len(dst))]
		if kept {
			word, next := maskFrom(rows, i)
			var done int
			if active == AVX512 {
				done = strategyFitKeptAVX512(&part[0], len(part), lo+i, t, n, weights, inverse, points, word, next)
			} else {
				done = strategyFitKeptAVX2(&part[0], len(part), lo+i, t, n, weights, inverse, points, word, next)
			}
			i += done
			if done == len(part) {
				continue
			}
			part = dst[i:min(i+Block, len(dst))]
		}
		word, next := maskFrom(rows, i)
		if active == AVX512 {
			strategyFitAVX512(&part[0], len(part), lo+i, t, n, weights, points, word, next)
		} else {
			strategyFitAVX2(&part[0], len(part), lo+i, t, n, weights, points, word, next)
		}
		i += len(part)
	}
}

// keptTerms reports whether all terms have reciprocals that may be used, and that are
// worth it for so many rows.
func keptTerms(terms []StrategyTerm, rows int) bool {
	for k := range terms {
		if !terms[k].kept() {
			return false
		}
	}
	return rows*len(terms) <= cachedQuotients
}

// StrategySum sets dst to what StrategyFit does, plus base in rows that have more
// than 0 of every term and of every column.
func StrategySum(dst []float64, lo int, terms []StrategyTerm, weights, points float64, base []float64, columns [][]float64, rows []uint64) {
	if active == Generic || 3*len(terms)+len(columns)+1 > mostColumns {
		strategySumGeneric(dst, lo, terms, weights, points, base, columns, rows)
		return
	}
	raceTerms(terms, lo, len(dst))
	raceColumnsOf(columns, lo, len(dst))
	raceReadSelected(base[:len(dst)], rows)
	raceSelected(dst, rows)
	t, n, step := (*byte)(unsafe.Pointer(&terms[0])), len(terms), chunkRows(3*len(terms)+len(columns)+1)
	c, others := (*byte)(unsafe.Pointer(unsafe.SliceData(columns))), len(columns)
	kept, inverse := keptTerms(terms, len(dst)), 1/weights
	for i := 0; i < len(dst); {
		part := dst[i:min(i+step, len(dst))]
		if kept {
			word, next := maskFrom(rows, i)
			var done int
			if active == AVX512 {
				done = strategySumKeptAVX512(&part[0], len(part), lo+i, t, n, weights, inverse, points, &base[i], c, others, word, next)
			} else {
				done = strategySumKeptAVX2(&part[0], len(part), lo+i, t, n, weights, inverse, points, &base[i], c, others, word, next)
			}
			i += done
			if done == len(part) {
				continue
			}
			part = dst[i:min(i+Block, len(dst))]
		}
		word, next := maskFrom(rows, i)
		if active == AVX512 {
			strategySumAVX512(&part[0], len(part), lo+i, t, n, weights, points, &base[i], c, others, word, next)
		} else {
			strategySumAVX2(&part[0], len(part), lo+i, t, n, weights, points, &base[i], c, others, word, next)
		}
		i += len(part)
	}
}

// StrategyPeaks sets dst, of an element per block of rows, to the greatest score that a
// selected row of the block can have, approximately: of what StrategyFit adds up, multiplied
// out, plus base unless that is nil. It is -Inf where no row is selected.
//
// It promises something of selected rows of which the row holds the request of every
// term: their score is not above their block's peak by more than a 2^-44th of points
// plus the greatest base; docs/proofs.md says why. It reports false, and dst is of no
// use, when it can't: there is a term without reciprocals, one whose reciprocal is NaN
// or whose used amount has a sign in a row of a block with a selected one, or too many.
func StrategyPeaks(dst []float64, rows int, terms []StrategyTerm, weights, points float64, base []float64, selected []uint64) bool {
	var lines [mostPeaks]peakTerm
	start, ok := peakTerms(&lines, terms, weights, points)
	switch {
	case !ok:
		return false
	case active == Generic || rows == 0:
		return strategyPeaksGeneric(dst, rows, lines[:len(terms)], start, base, selected)
	}
	dst = dst[:(rows+Block-1)/Block]
	racePeaks(dst, rows, lines[:len(terms)], base, selected)
	t, n, step := (*byte)(unsafe.Pointer(&lines)), len(terms), chunkRows(2*len(terms)+1)
	for lo := 0; lo < rows; lo += step {
		word, next := maskFrom(selected, lo)
		var from *float64
		if base != nil {
			from = &base[lo]
		}
		doubt := 0
		if part := min(step, rows-lo); active == AVX512 {
			doubt = strategyPeaksAVX512(&dst[lo/Block], part, lo, t, n, start, from, word, next)
		} else {
			doubt = strategyPeaksAVX2(&dst[lo/Block], part, lo, t, n, start, from, word, next)
		}
		if doubt != 0 {
			return false
		}
	}
	return true
}

// raceTerms informs the race detector that rows of the terms' columns are read.
func raceTerms(terms []StrategyTerm, lo, rows int) {
	for k := range terms {
		raceRead(terms[k].Used[lo:][:rows])
		raceRead(terms[k].Allocatable[lo:][:rows])
		if r := terms[k].Reciprocals; r != nil {
			raceRead(r[lo:][:rows])
		}
	}
}

// racePeaks informs the race detector what strategyPeaks reads and writes.
func racePeaks(dst []float64, rows int, terms []peakTerm, base []float64, selected []uint64) {
	for k := range terms {
		raceRead(terms[k].Used[:rows])
		raceRead(terms[k].Reciprocals[:rows])
	}
	if base != nil {
		raceReadSelected(base[:rows], selected)
	}
	raceWrite(dst)
}

// raceColumnsOf informs the race detector that rows of columns are read.
func raceColumnsOf(columns [][]float64, lo, rows int) {
	for _, column := range columns {
		raceRead(column[lo:][:rows])
	}
}

// ScarceBase sets dst to (scale * sum) / total, where sum adds to start the
// weights of the terms of which the row has not more than 0. Numbers are whole,
// total and scale positive, and scale*total is at most 2^53.
func ScarceBase(dst []float64, lo int, terms []ScarceTerm, start, scale, total float64, rows []uint64) {
	if active == Generic || len(terms) > mostColumns {
		scarceBaseGeneric(dst, lo, terms, start, scale, total, rows)
		return
	}
	for k := range terms {
		raceRead(terms[k].Allocatable[lo:][:len(dst)])
	}
	raceSelected(dst, rows)
	t, n, step := (*byte)(unsafe.Pointer(unsafe.SliceData(terms))), len(terms), chunkRows(len(terms))
	for i := 0; i < len(dst); i += step {
		part := dst[i:min(i+step, len(dst))]
		word, next := maskFrom(rows, i)
		if active == AVX512 {
			scarceBaseAVX512(&part[0], len(part), lo+i, t, n, start, scale, total, word, next)
		} else {
			scarceBaseAVX2(&part[0], len(part), lo+i, t, n, start, scale, total, word, next)
		}
	}
}

// SetPresent sets dst to base in rows that have more than 0 of every column,
// and to 0 in the others. dst may be base.
func SetPresent(dst, base []float64, lo int, columns [][]float64, rows []uint64) {
	if active == Generic || len(columns) > mostColumns {
		setPresentGeneric(dst, base, lo, columns, rows)
		return
	}
	raceColumnsOf(columns, lo, len(dst))
	raceReadSelected(base[:len(dst)], rows)
	raceSelected(dst, rows)
	c, n, step := (*byte)(unsafe.Pointer(unsafe.SliceData(columns))), len(columns), chunkRows(len(columns)+1)
	for i := 0; i < len(dst); i += step {
		part, from := dst[i:min(i+step, len(dst))], base[i:]
		word, next := maskFrom(rows, i)
		if active == AVX512 {
			setPresentAVX512(&part[0], &from[0], len(part), lo+i, c, n, word, next)
		} else {
			setPresentAVX2(&part[0], &from[0], len(part), lo+i, c, n, word, next)
		}
	}
}

// AndReserve clears the bits of dst whose rows fail the rule.
func AndReserve(dst []uint64, rule *ReserveRule) {
	if active == Generic {
		andReserveGeneric(dst, rule)
		return
	}
	raceRead(rule.Primary)
	raceRead(rule.PrimaryUsed)
	raceRead(rule.Secondary)
	raceRead(rule.SecondaryUsed)
	raceWrite(dst)
	const words = callQuotients / 4 / Block
	part := *rule
	for len(dst) > 0 {
		n := min(words, len(dst))
		if active == AVX512 {
			andReserveAVX512(&dst[0], n, (*byte)(unsafe.Pointer(&part)))
		} else {
			andReserveAVX2(&dst[0], n, (*byte)(unsafe.Pointer(&part)))
		}
		if dst = dst[n:]; len(dst) > 0 {
			part.skip(n * Block)
		}
	}
}

// skip drops the first rows.
func (rule *ReserveRule) skip(rows int) {
	rule.Primary, rule.PrimaryUsed = rule.Primary[rows:], rule.PrimaryUsed[rows:]
	rule.Secondary, rule.SecondaryUsed = rule.Secondary[rows:], rule.SecondaryUsed[rows:]
}
