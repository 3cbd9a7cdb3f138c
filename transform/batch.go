package transform

import (
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

const (
	panicSchema  = "transform: matrix of another schema"
	panicColumns = "transform: vector longer than the map"
	panicRows    = "transform: matrices have different numbers of rows"
	panicIndex   = "transform: index outside of the map"
	panicOverlap = "transform: dst and src overlap"
	panicPods    = "transform: number of pods per row is negative or missing"
)

// Apply returns the charge of a request. dst is overwritten, grown when its
// capacity is short of the output map, and returned; it must not overlap src. A
// src shorter than the input map counts as padded with zeros. A longer one, or
// overlap, panics. NaN makes NaN of every output that uses it; infinities follow
// IEEE rules; a zero is +0. Nothing is allocated when dst is large enough.
func (l *Linear) Apply(dst, src vector.ResourceVector) vector.ResourceVector {
	if len(src) > l.in.Len() {
		panic(panicColumns)
	}
	n := l.out.Len()
	if cap(dst) < n {
		dst = make(vector.ResourceVector, n)
	}
	dst = dst[:n]
	if overlap(dst, src) {
		panic(panicOverlap)
	}
	for j := range l.columns {
		dst[j] = l.columns[j].of(src)
	}
	return dst
}

// of computes one amount.
func (c *column) of(src vector.ResourceVector) float64 {
	sum := 0.0
	for k := range c.terms {
		t := &c.terms[k]
		x := src.Get(t.input)
		if t.multiplier >= 0 {
			x = float64(x * t.times(src))
		}
		sum += float64(x * t.factor) // the conversion keeps arm64 from fusing both operations
	}
	y := sum / c.over
	if y < 0 {
		y = 0
	}
	if c.kept >= 0 {
		y = src.Get(c.kept) + y
	}
	return y + 0 // -0 becomes +0
}

// times returns the amount of the multiplier.
func (t *addend) times(src vector.ResourceVector) float64 {
	if k := src.Get(t.multiplier); k != 0 {
		return k
	}
	return t.absent
}

// ApplyBatch sets row r of dst to the charge of row r of src, the same bits as
// [Linear.Apply] row by row. dst must have as many rows, and the schema of the output
// map; src the schema of the input map. Of a matrix without a schema only the number of
// columns is checked. They must not overlap. Anything else panics. Nothing is allocated.
func (l *Linear) ApplyBatch(dst, src *vector.Matrix) {
	l.check(dst, src)
	l.batch(dst, src, false, nil)
}

// ChargeBatch sets row r of dst to what a workload of pods[r] pods with the
// request of row r is charged: [Linear.ApplyBatch], then per amount at least 0,
// rounded up to thousandths of a CPU or a whole unit of anything else, then times
// the pods. nil pods count 1 each. dst stays in the units of the output map.
//
// It equals [Charge] where Apply equals the exact path and what is kept is whole: it
// rounds the exact sum, not the float64 one. A request read by vectormap is rounded up to
// the unit of its column before: declare inputs that come in fractions Milli, or 500m is
// charged as 1. 2^53 and more is +Inf, which fits no finite limit; 0 pods are charged 0;
// NaN stays.
//
// Quota is checked on charges: one vector.LessEqual says which workloads fit it,
// each by itself, with +Inf in the limit for what has no quota. Multiplying the
// result of ApplyBatch by the pods instead would take 0.5 credits for 3 pods as
// 1.5.
//
// It takes the operands of ApplyBatch, and a count per row; a negative count panics.
func (l *Linear) ChargeBatch(dst, src *vector.Matrix, pods []int64) {
	l.check(dst, src)
	if pods != nil && len(pods) != src.Rows() {
		panic(panicPods)
	}
	for _, n := range pods {
		if n < 0 {
			panic(panicPods)
		}
	}
	l.batch(dst, src, true, pods)
}

// Sizes of the pieces in which a batch is computed: rows that stay in the first
// cache, and terms that fit on the stack.
const (
	batchRows  = 512
	batchTerms = 32
)

// batch computes all columns, as charges or as amounts. A piece of each column is computed
// to its end before the next column: a sum of many terms then stays in the first cache.
func (l *Linear) batch(dst, src *vector.Matrix, charge bool, pods []int64) {
	rows := src.Rows()
	var buffer, counts [batchRows]float64
	var list [batchTerms]kernel.LinearTerm
	for lo := 0; lo < rows; lo += batchRows {
		acc := buffer[:min(batchRows, rows-lo)]
		part := podsPart(&counts, pods, lo, len(acc))
		for j := range l.columns {
			c := &l.columns[j]
			terms, more := c.terms, len(c.terms) > batchTerms
			if more {
				clear(acc)
			}
			for len(terms) > batchTerms {
				kernel.LinearSum(acc, gather(&list, terms[:batchTerms], src, lo))
				terms = terms[batchTerms:]
			}
			last, kept := gather(&list, terms, src, lo), []float64(nil)
			if c.kept >= 0 {
				kept = src.Column(c.kept)[lo:]
			}
			if charge {
				kernel.LinearCharge(acc, more, last, kept, c.over, c.unit, part)
			} else {
				kernel.LinearAmount(acc, more, last, kept, c.over)
			}
			dst.SetColumn(j, lo, acc)
		}
	}
}

// gather returns the terms with their columns of src, from row lo on.
func gather(list *[batchTerms]kernel.LinearTerm, terms []addend, src *vector.Matrix, lo int) []kernel.LinearTerm {
	for k := range terms {
		t := &terms[k]
		list[k] = kernel.LinearTerm{Input: src.Column(t.input)[lo:], Absent: t.absent, Factor: t.factor}
		if t.multiplier >= 0 {
			list[k].Multiplier = src.Column(t.multiplier)[lo:]
		}
	}
	return list[:len(terms)]
}

// podsPart returns the pods of n rows from lo on as float64s, nil for nil. Counts
// of 2^53 and more, which may be rounded, charge +Inf or 0 either way.
func podsPart(buffer *[batchRows]float64, pods []int64, lo, n int) []float64 {
	if pods == nil {
		return nil
	}
	part := buffer[:n]
	for r := range part {
		part[r] = float64(pods[lo+r])
	}
	return part
}

// check panics unless the operands of a batch are right.
func (l *Linear) check(dst, src *vector.Matrix) {
	for _, x := range [...]struct {
		m  *vector.Matrix
		of *vectormap.ResourceVectorMap
	}{{dst, l.out}, {src, l.in}} {
		if s := x.m.Schema(); s != x.of.Schema() && s != (vector.Schema{}) || x.m.Cols() != x.of.Len() {
			panic(panicSchema)
		}
	}
	if dst.Rows() != src.Rows() {
		panic(panicRows)
	}
	if dst == src || dst.Rows() > 0 && overlap(span(dst), span(src)) {
		panic(panicOverlap)
	}
}

// span returns all elements of a matrix, and what lies between its columns. Views of one
// matrix have their own slices, so only memory says whether two of them overlap.
func span(m *vector.Matrix) []float64 {
	return unsafe.Slice(unsafe.SliceData(m.Column(0)), m.Stride()*(m.Cols()-1)+m.Rows())
}

// overlap reports whether two slices share an element.
func overlap(a, b []float64) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	first := func(x []float64) uintptr { return uintptr(unsafe.Pointer(&x[0])) }
	last := func(x []float64) uintptr { return uintptr(unsafe.Pointer(&x[len(x)-1])) }
	return first(a) <= last(b) && first(b) <= last(a)
}
