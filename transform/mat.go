package transform

import (
	"slices"

	"github.com/resvec/resvec/vector"
	"gonum.org/v1/gonum/mat"
)

// Mat returns a read-only view of the linear part as a gonum matrix: a row per
// index of the output map, a column per index of the input map. An element is the
// sum of the coefficients without a multiplier, rounded, plus 1 where the input
// is kept as the output. If [Linear.IsLinear], the matrix times a request without
// negative amounts is what Apply returns, up to that rounding. Multiplying two
// such matrices chains two transformations; this package never does.
func (l *Linear) Mat() mat.Matrix { return view{l, nil} }

// MatAt is Mat with the multipliers as they are in src, so that the matrix times
// src is what Apply returns for it before negative sums become 0. src is kept,
// not copied. It panics when src is longer than the input map.
func (l *Linear) MatAt(src vector.ResourceVector) mat.Matrix {
	if len(src) > l.in.Len() {
		panic(panicColumns)
	}
	if src == nil {
		src = vector.ResourceVector{}
	}
	return view{l, src}
}

// view is a Linear as a matrix; src is nil where rules with a multiplier are left
// out.
type view struct {
	l   *Linear
	src vector.ResourceVector
}

// Dims returns the lengths of the output and of the input map.
func (v view) Dims() (r, c int) { return v.l.out.Len(), v.l.in.Len() }

// T returns the transpose.
func (v view) T() mat.Matrix { return mat.Transpose{Matrix: v} }

// At returns what output o gets of one unit of input i.
func (v view) At(o, i int) float64 {
	if i < 0 || i >= v.l.in.Len() {
		panic(mat.ErrColAccess)
	}
	if o < 0 || o >= v.l.out.Len() {
		panic(mat.ErrRowAccess)
	}
	c, x := &v.l.columns[o], 0.0
	if k, ok := slices.BinarySearchFunc(c.terms, i, func(t addend, i int) int { return t.input - i }); ok {
		x = v.coefficient(&c.terms[k]) / c.over
	}
	if c.kept == i {
		x++
	}
	return x
}

// coefficient returns the factor of a term times its multiplier, 0 for a term
// that is left out.
func (v view) coefficient(t *addend) float64 {
	switch {
	case t.multiplier < 0:
		return t.factor
	case v.src == nil:
		return 0
	}
	return t.times(v.src) * t.factor
}
