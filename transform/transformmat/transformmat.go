// Package transformmat lets gonum read a [transform.Linear] as a matrix: a row per
// index of the output map, a column per index of the input map. Products, norms
// and formatting from gonum.org/v1/gonum/mat work on a [View].
package transformmat

import (
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"gonum.org/v1/gonum/mat"
)

// View is a [transform.Linear] as gonum sees it. Its elements are
// what [transform.Linear.Coefficient] returns; nothing is stored twice. It is for reading and
// safe for concurrent use. A View is made by [New] or [At]; the zero View has no
// elements.
type View struct {
	l   *transform.Linear
	src vector.ResourceVector // nil: without rules with a multiplier
}

var _ mat.Matrix = View{}

// New returns a view of the linear part of l, without the rules that have a
// multiplier. If [transform.Linear.IsLinear], the matrix times a request without
// negative amounts is what Apply returns, up to the rounding of the elements. The
// product of two such matrices chains two transformations; package transform never
// does that.
func New(l *transform.Linear) View {
	return View{l, nil}
}

// At is [New] with the multipliers as they are in src, so that the matrix times src
// is what Apply returns for it before negative sums become 0. src is copied; nil
// means that all multipliers are absent. It panics when src is longer than the
// input map.
func At(l *transform.Linear, src vector.ResourceVector) View {
	v := New(l)
	if _, inputs := v.Dims(); len(src) > inputs {
		panic(panicColumns)
	}
	v.src = append(vector.ResourceVector{}, src...)
	return v
}

const panicColumns = "transformmat: vector longer than the input map"

// Dims returns the lengths of the output and of the input map.
func (v View) Dims() (r, c int) {
	if v.l == nil {
		return 0, 0
	}
	return v.l.Dims()
}

// At returns what output i gets of one unit of input j. It panics with gonum's
// errors when they are out of range.
func (v View) At(i, j int) float64 {
	r, c := v.Dims()
	if i < 0 || i >= r {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || j >= c {
		panic(mat.ErrColAccess)
	}
	return v.l.Coefficient(v.src, i, j)
}

// T returns the transpose, without copying.
func (v View) T() mat.Matrix { return mat.Transpose{Matrix: v} }
