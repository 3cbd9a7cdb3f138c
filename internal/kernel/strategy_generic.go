package kernel

import (
	"math"
	"math/bits"
)

// The strategy kernels score len(dst) rows from row lo, a multiple of Block, on.
// dst, base and rows begin with row lo, columns with row 0. rows selects among
// the rows, nil all of them; elements of dst and base in other rows are neither
// read nor written. Columns belong to a matrix: whole blocks of them are read.

// StrategyTerm is a resource that a strategy fit scores.
type StrategyTerm struct {
	Used, Allocatable []float64 // columns
	Reciprocals       []float64 // of Allocatable, or nil; see the function of this name

	Request float64 // positive and finite
	Weight  float64 // of the rule; a whole number, 1 or more
	Least   uint64  // all ones for LeastAllocated, 0 for MostAllocated
}

// peakTerms sets lines to what StrategyPeaks adds to start for each term. It reports
// false when a term has no reciprocals that may be used, or there are too many.
func peakTerms(lines *[mostPeaks]peakTerm, terms []StrategyTerm, weights, points float64) (start float64, ok bool) {
	if len(terms) > len(lines) {
		return 0, false
	}
	for k := range terms {
		t := &terms[k]
		if !t.kept() {
			return 0, false
		}
		most := float64(t.Weight*points) / weights
		if t.Least != 0 {
			start += most
			most = -most
		}
		lines[k] = peakTerm{t.Used, t.Reciprocals, most, float64(most * t.Request)}
	}
	return start, true
}

// mostPeaks is how many terms StrategyPeaks takes.
const mostPeaks = 16

// peakTerm adds (used*factor + offset) * reciprocal.
type peakTerm struct {
	Used, Reciprocals []float64 // columns
	Factor, Offset    float64
}

// kept reports whether t has reciprocals that may be used; see docs/proofs.md.
func (t *StrategyTerm) kept() bool {
	return t.Reciprocals != nil && t.Weight >= 1 && t.Weight <= 1<<64 && Tame(t.Request)
}

// ScarceTerm is a resource whose absence counts.
type ScarceTerm struct {
	Allocatable []float64 // a column
	Weight      float64   // a whole number, 0 or more
}

// ReserveRule keeps some of a secondary resource for every idle unit of a
// primary.
type ReserveRule struct {
	Primary, PrimaryUsed     []float64 // columns
	Secondary, SecondaryUsed []float64
	Request                  float64 // of the secondary
	PerUnit, Scale           float64 // 0 or more; 1 or 1000
}

// strategyFitGeneric sets dst to (sum / weights) * points, where sum adds, for
// every term whose allocatable is not 0, ((allocatable - x) * weight) /
// allocatable or (x * weight) / allocatable, x being used + request. It is 0 in
// a row where one of these terms has not 0 <= used, x <= allocatable and a
// finite allocatable.
func strategyFitGeneric(dst []float64, lo int, terms []StrategyTerm, weights, points float64, rows []uint64) {
	for w := 0; w < len(dst); w += Block {
		strategyFitBlock(dst[w:min(w+Block, len(dst))], lo+w, terms, weights, points, blockRows(rows, w, len(dst)))
	}
}

// strategyFitBlock is strategyFitGeneric for the rows of word, in a block. It returns
// those that have not more than 0 of some term.
func strategyFitBlock(dst []float64, lo int, terms []StrategyTerm, weights, points float64, word uint64) (lacking uint64) {
	if bits.OnesCount64(word) <= strategyFew {
		some := word
		for k := range terms {
			some = havingSome(some, terms[k].Allocatable, lo, len(dst))
		}
		lacking = word &^ some
		for ; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			dst[i] = strategyFitRow(lo+i, terms, weights, points)
		}
		return lacking
	}
	var sums [Block]float64
	var refused uint64
	for k := range terms {
		r, l := terms[k].add(&sums, lo, len(dst))
		refused, lacking = refused|r, lacking|l
	}
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(word)
		dst[i] = keep(float64(sums[i]/weights)*points, refused>>i&1-1)
	}
	return lacking
}

// strategyFew is how many rows of a block are scored one by one, as long as a pass over
// the whole block takes.
const strategyFew = 16

// add adds what the term says of n rows to their sums. It returns the rows that it
// refuses, and those that have not more than 0. It equals StrategyPart.
func (t *StrategyTerm) add(sums *[Block]float64, lo, n int) (refused, lacking uint64) {
	const most = 0x7fef_ffff_ffff_ffff // the bits of math.MaxFloat64
	used, allocatable := t.Used[lo:lo+n], t.Allocatable[lo:lo+n]
	request, weight, least := t.Request, t.Weight, t.Least
	for i, a := range allocatable {
		if a == 0 {
			lacking |= 1 << i
			continue
		}
		// Without a branch, since rows that are full come in no order: room has a sign, or
		// is infinite or a NaN, unless 0 <= x <= a <= math.MaxFloat64. A used -0 is fine.
		u := used[i]
		x := u + request
		room := a - x
		left := math.Float64bits(room)
		refused |= (math.Float64bits(u+0) | left | (most - left)) >> 63 << (i % Block)
		if least != 0 {
			x = room
		}
		sums[i%Block] += float64(x*weight) / a
	}
	for rest := refused; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		lacking |= bit(!(allocatable[i] > 0)) << i
	}
	return refused, lacking
}

// strategySumGeneric is strategyFitGeneric plus base in rows that have more than
// 0 of every term and of every column.
func strategySumGeneric(dst []float64, lo int, terms []StrategyTerm, weights, points float64, base []float64, columns [][]float64, rows []uint64) {
	for w := 0; w < len(dst); w += Block {
		word := blockRows(rows, w, len(dst))
		block := dst[w:min(w+Block, len(dst))]
		word &^= strategyFitBlock(block, lo+w, terms, weights, points, word)
		for _, column := range columns {
			word = havingSome(word, column, lo+w, len(block))
		}
		for ; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			block[i] += base[w+i]
		}
	}
}

// havingSome returns the rows of word, from row lo on, n at most, that have more than 0
// of a column.
func havingSome(word uint64, column []float64, lo, n int) uint64 {
	if word == 0 {
		return 0
	}
	return word & wordGE(column[lo:lo+n], math.SmallestNonzeroFloat64)
}

func strategyFitRow(r int, terms []StrategyTerm, weights, points float64) float64 {
	sum := 0.0
	for k := range terms {
		t := &terms[k]
		part, ok := StrategyPart(t.Used[r], t.Allocatable[r], t.Request, t.Weight, t.Least != 0)
		if !ok {
			return 0
		}
		sum += part
	}
	return float64(float64(sum/weights) * points) // strategySumGeneric adds to it
}

// StrategyPart returns what a term adds to the sum in a row with these amounts,
// and false where the row scores 0.
func StrategyPart(used, allocatable, request, weight float64, least bool) (part float64, ok bool) {
	if allocatable == 0 {
		return 0, true
	}
	x := used + request
	if !(used >= 0 && x <= allocatable && allocatable <= math.MaxFloat64) {
		return 0, false
	}
	if least {
		x = allocatable - x
	}
	return float64(x*weight) / allocatable, true
}

// strategyPeaksGeneric sets dst to the greatest sum of the selected rows of each block:
// start, what the terms add, and base unless that is nil. It reports false when one of
// these sums is NaN, and when a used amount in a block with a selected row has a sign.
// It may report false for a sum that is infinite, or for a row in the block of a selected one.
func strategyPeaksGeneric(dst []float64, rows int, terms []peakTerm, start float64, base []float64, selected []uint64) bool {
	signs, odd := uint64(0), 0.0
	for w := 0; w < rows; w += Block {
		word, peak := blockRows(selected, w, rows), math.Inf(-1)
		if word != 0 {
			var sums [Block]float64
			for i := range sums {
				sums[i] = start
			}
			for k := range terms {
				signs |= terms[k].add(&sums, w, min(Block, rows-w))
			}
			for ; word != 0; word &= word - 1 {
				i := bits.TrailingZeros64(word)
				x := sums[i]
				if base != nil {
					x += base[w+i]
				}
				odd += x
				if x > peak {
					peak = x
				}
			}
		}
		dst[w/Block] = peak
	}
	return signs>>63 == 0 && odd == odd
}

// add adds what the term says of n rows. The highest bit of the result is set when a
// used amount has a sign.
func (t *peakTerm) add(sums *[Block]float64, lo, n int) (signs uint64) {
	used := t.Used[lo : lo+n]
	reciprocals, factor, offset := t.Reciprocals[lo:][:len(used)], t.Factor, t.Offset
	for i, u := range used {
		signs |= math.Float64bits(u)
		sums[i%Block] += float64(float64(float64(u*factor)+offset) * reciprocals[i])
	}
	return signs
}

// scarceBaseGeneric sets dst to (scale * sum) / total, where sum adds to start
// the weights of the terms of which the row has not more than 0. Numbers are
// whole, total and scale positive, and scale*total is at most 2^53.
func scarceBaseGeneric(dst []float64, lo int, terms []ScarceTerm, start, scale, total float64, rows []uint64) {
	var sums [Block]float64
	for w := 0; w < len(dst); w += Block {
		word := blockRows(rows, w, len(dst))
		if word == 0 {
			continue
		}
		for i := range sums {
			sums[i] = start
		}
		for k := range terms {
			weight := terms[k].Weight
			for i, a := range terms[k].Allocatable[lo+w:][:min(Block, len(dst)-w)] {
				sums[i%Block] += keep(weight, bit(a > 0)-1)
			}
		}
		for ; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			dst[w+i] = float64(scale*sums[i]) / total
		}
	}
}

// setPresentGeneric sets dst to base in rows that have more than 0 of every
// column, and to 0 in the others. dst may be base.
func setPresentGeneric(dst, base []float64, lo int, columns [][]float64, rows []uint64) {
	for w := 0; w < len(dst); w += Block {
		word := blockRows(rows, w, len(dst))
		some := word
		for _, column := range columns {
			some = havingSome(some, column, lo+w, min(Block, len(dst)-w))
		}
		for ; word != 0; word &= word - 1 {
			i := bits.TrailingZeros64(word)
			dst[w+i] = keep(base[w+i], -(some >> i & 1))
		}
	}
}

// andReserveGeneric clears the bits of dst whose rows fail the rule.
func andReserveGeneric(dst []uint64, rule *ReserveRule) {
	p, pu := rule.Primary, rule.PrimaryUsed
	for w, word := range dst {
		if word == 0 {
			continue
		}
		var fail uint64
		for r := w * Block; r < min((w+1)*Block, len(p)); r++ {
			_, _, ok := rule.Check(p[r], pu[r], rule.Secondary[r], rule.SecondaryUsed[r])
			fail |= bit(!ok) << (r % Block)
		}
		dst[w] = word &^ fail
	}
}

// Check returns what a row with these amounts needs of the secondary, what it
// has left, and whether that is enough. A row without the primary needs
// nothing; a NaN is never enough.
func (rule *ReserveRule) Check(primary, primaryUsed, secondary, secondaryUsed float64) (needed, left float64, ok bool) {
	return rule.CheckIdle(primary, primary-primaryUsed, secondary-secondaryUsed)
}

// CheckIdle is Check for amounts that are idle.
func (rule *ReserveRule) CheckIdle(primary, idle, secondaryIdle float64) (needed, left float64, ok bool) {
	left = secondaryIdle - rule.Request
	switch {
	case primary <= 0:
		return 0, left, true
	case primary != primary:
		idle = primary
	case idle < 0:
		idle = 0
	}
	needed = float64(idle*rule.PerUnit) / rule.Scale
	return needed, left, left >= needed
}
