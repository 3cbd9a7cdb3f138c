package kernel

import (
	"math"
	"math/bits"
)

// The load kernels write one score per selected row, dimensions and terms in list
// order. A quotient is the IEEE quotient; no product is fused into a sum. The
// columns of a LoadDim belong to a matrix: whole blocks of them are read. dst,
// terms and src are plain slices. rows selects, nil all rows; elements of other
// rows are not written.

// LoadForm is what the load of a row is turned into.
type LoadForm uint8

const (
	LoadRaw    LoadForm = iota // as it is
	LoadPack                   // a percentage, more for a fuller row
	LoadSpread                 // a percentage, more for an emptier row
)

// LoadDim is one dimension of a load: two columns of a matrix, and the numbers
// that all rows share.
type LoadDim struct {
	Request float64 // finite
	Weight  float64 // > 0 and finite

	// Capacity is the capacity of all rows when Allocatable is not used, or stands for an
	// unlimited one.
	Capacity float64

	Used, Allocatable []float64
}

// LoadRow accumulates the dimensions of one row, in ascending order. The zero
// value is a row without dimensions.
type LoadRow struct {
	sum, weight float64
	greatest    float64
	bad         bool // a quotient is NaN
}

// Add counts the amount v of the capacity c, if that is positive.
func (l *LoadRow) Add(v, c, weight float64) {
	if c > 0 {
		l.add(float64(v/c) * weight)
		l.weight += weight
	}
}

func (l *LoadRow) add(term float64) {
	l.sum += float64(term)
	if term > l.greatest {
		l.greatest = term
	}
	if term != term {
		l.bad = true
	}
}

// Sum returns the weighted sum of the quotients in the given form, where it is
// divided by the sum of the weights unless it is raw. NaN becomes 0.
func (l *LoadRow) Sum(form LoadForm) float64 {
	if form == LoadRaw {
		if l.sum != l.sum {
			return 0
		}
		return l.sum
	}
	return percentage(l.sum/l.weight, form)
}

// Greatest returns the greatest weighted quotient, 0 at least, in the given
// form; 0 when one was NaN or when there is none.
func (l *LoadRow) Greatest(form LoadForm) float64 {
	switch {
	case l.bad || l.weight == 0:
		return 0
	case form == LoadRaw:
		return l.greatest
	}
	return percentage(l.greatest, form)
}

// percentage returns 100*m, or 100*(1-m) for LoadSpread, from 0 to 100; 0 for
// NaN.
func percentage(m float64, form LoadForm) float64 {
	if form == LoadSpread {
		m = 1 - m
	}
	x := 100 * m
	switch {
	case !(x > 0):
		return 0
	case !(x < 100):
		return 100
	}
	return x
}

// ShareRule says how the share of a queue treats capacities that are no plain
// numbers.
type ShareRule struct {
	Unlimited  float64 // replaced by the capacity of the LoadDim; NaN for none
	ZeroFactor float64 // the factor in the place of a division by 0; 0 for none
}

// Term returns the weighted share of the amount v in the capacity c, and whether
// it counts. fallback takes the place of an unlimited capacity; a negative one
// does not count.
func (s *ShareRule) Term(v, c, weight, fallback float64) (term float64, counts bool) {
	if c == s.Unlimited {
		c = fallback
	}
	switch {
	case c < 0 || c == 0 && s.ZeroFactor == 0:
		return 0, false
	case c == 0:
		return float64(v*s.ZeroFactor) * weight, true
	}
	return float64(v/c) * weight, true
}

// Add counts the Term, if it counts.
func (s *ShareRule) Add(l *LoadRow, v, c, weight, fallback float64) {
	if term, counts := s.Term(v, c, weight, fallback); counts {
		l.add(term)
	}
}

// Share returns the greatest share, 0 at least; +Inf when one was NaN.
func (l *LoadRow) Share() float64 {
	if l.bad {
		return math.Inf(1)
	}
	return l.greatest
}

// LoadRule says what becomes of the quotients of a row.
type LoadRule struct {
	Greatest bool // the greatest one counts, and not their sum
	Fixed    bool // every row has the capacities of the dimensions
	Form     LoadForm
}

// loadGeneric sets dst[r] to the load of row r.
func loadGeneric(dst []float64, dims []LoadDim, rule LoadRule, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		word := blockRows(rows, lo, len(dst))
		if bits.OnesCount64(word) > loadFew {
			loadBlock(dst[lo:min(lo+Block, len(dst))], lo, dims, rule, word)
			continue
		}
		for ; word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			var l LoadRow
			for k := range dims {
				d := &dims[k]
				c := d.Capacity
				if !rule.Fixed {
					c = d.Allocatable[r]
				}
				l.Add(d.Used[r]+d.Request, c, d.Weight)
			}
			dst[r] = l.result(rule)
		}
	}
}

// result returns what the rule makes of the row.
func (l *LoadRow) result(rule LoadRule) float64 {
	if rule.Greatest {
		return l.Greatest(rule.Form)
	}
	return l.Sum(rule.Form)
}

// loadFew is how many selected rows of a block are computed one by one, as long as a
// pass over the whole block takes.
const loadFew = 24

// loadBlock is loadGeneric for the rows of word, in a block.
func loadBlock(dst []float64, lo int, dims []LoadDim, rule LoadRule, word uint64) {
	var fixed, weights [Block]float64
	var kept [Block]float64 // sums, or the greatest terms
	n := len(dst)
	for k := range dims {
		d := &dims[k]
		used, capacities := d.Used[lo:lo+n], fixed[:n]
		if rule.Fixed {
			for i := range capacities {
				capacities[i] = d.Capacity
			}
		} else {
			capacities = d.Allocatable[lo : lo+n]
		}
		if rule.Greatest {
			for i, c := range capacities {
				if c > 0 {
					kept[i%Block] = max(kept[i%Block], float64((used[i]+d.Request)/c)*d.Weight) // NaN, once there is one
					weights[i%Block] += d.Weight
				}
			}
			continue
		}
		for i, c := range capacities {
			if c > 0 {
				kept[i%Block] += float64(float64((used[i]+d.Request)/c) * d.Weight)
				weights[i%Block] += d.Weight
			}
		}
	}
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(word)
		l := LoadRow{sum: kept[i], weight: weights[i], greatest: kept[i], bad: kept[i] != kept[i]}
		dst[i] = l.result(rule)
	}
}

// shareGeneric sets dst[r] to the share of row r.
func shareGeneric(dst []float64, dims []LoadDim, rule ShareRule, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		word := blockRows(rows, lo, len(dst))
		if bits.OnesCount64(word) > loadFew {
			shareBlock(dst[lo:min(lo+Block, len(dst))], lo, dims, rule, word)
			continue
		}
		for ; word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			var l LoadRow
			for k := range dims {
				d := &dims[k]
				rule.Add(&l, d.Used[r]+d.Request, d.Allocatable[r], d.Weight, d.Capacity)
			}
			dst[r] = l.Share()
		}
	}
}

// shareBlock is shareGeneric for the rows of word, in a block.
func shareBlock(dst []float64, lo int, dims []LoadDim, rule ShareRule, word uint64) {
	var greatest [Block]float64
	for k := range dims {
		d := &dims[k]
		used := d.Used[lo : lo+len(dst)]
		for i, c := range d.Allocatable[lo : lo+len(dst)] {
			if term, counts := rule.Term(used[i]+d.Request, c, d.Weight, d.Capacity); counts {
				greatest[i%Block] = max(greatest[i%Block], term) // NaN, once there is one
			}
		}
	}
	for ; word != 0; word &= word - 1 {
		i := bits.TrailingZeros64(word)
		l := LoadRow{greatest: greatest[i], bad: greatest[i] != greatest[i]}
		dst[i] = l.Share()
	}
}

// combineGeneric sets dst[r] to the sum of terms[k][r]*weights[k], starting from
// +0.
func combineGeneric(dst []float64, terms [][]float64, weights []float64, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		for word := blockRows(rows, lo, len(dst)); word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			sum := 0.0
			for k, w := range weights {
				sum += float64(terms[k][r] * w)
			}
			dst[r] = sum
		}
	}
}

// rescaleGeneric sets dst[r] to ((src[r]-low)*100)/span, or to 100 minus that.
// dst may be src.
func rescaleGeneric(dst, src []float64, low, span float64, reverse bool, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		for word := blockRows(rows, lo, len(dst)); word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			x := float64((src[r]-low)*100) / span
			if reverse {
				x = 100 - x
			}
			dst[r] = x
		}
	}
}
