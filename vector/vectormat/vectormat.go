// Package vectormat lets gonum read a [vector.Matrix] without copying it:
// products, norms, factorizations and formatting from gonum.org/v1/gonum/mat
// work on a [View].
package vectormat

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/resvec/resvec/vector"
)

// View is a [vector.Matrix] as gonum sees it: one row per entity, one column
// per resource. It shares the matrix's elements and sees later writes and
// changes of shape. It is for reading; gonum writes to its own receivers only.
//
// A matrix stored by column is the transpose of one stored by row, and View
// says so to gonum ([View.Untranspose]), so that products run in BLAS. BLAS
// adds in an order of its own: use the kernels of package vector where bits
// matter.
//
// A View is made by [New]; the zero View shows an empty matrix. It may be used
// concurrently while nobody writes to the matrix.
type View struct{ m *vector.Matrix }

var (
	_ mat.Matrix       = View{}
	_ mat.Untransposer = View{}
	_ mat.RawMatrixer  = transposed{}
)

// New returns a view of m. A nil m panics.
func New(m *vector.Matrix) View {
	if m == nil {
		panic("vectormat: nil matrix")
	}
	return View{m}
}

// matrix returns the matrix of a view, an empty one for the zero View.
func (v View) matrix() *vector.Matrix {
	if v.m == nil {
		return new(vector.Matrix)
	}
	return v.m
}

// Dims returns the numbers of rows and columns.
func (v View) Dims() (r, c int) { return v.matrix().Rows(), v.matrix().Cols() }

// At returns the element in row i, column j. It panics when they are out of
// range, as [vector.Matrix.At] does.
func (v View) At(i, j int) float64 { return v.matrix().At(i, j) }

// T returns the transpose, without copying.
func (v View) T() mat.Matrix { return transposed{v} }

// Untranspose returns the matrix that v is the transpose of, which is stored by
// row. gonum calls it to find storage that BLAS can read.
func (v View) Untranspose() mat.Matrix { return transposed{v} }

// transposed is the transpose of a View: a matrix stored by row.
type transposed struct{ v View }

func (t transposed) Dims() (r, c int)    { return t.v.matrix().Cols(), t.v.matrix().Rows() }
func (t transposed) At(i, j int) float64 { return t.v.At(j, i) }
func (t transposed) T() mat.Matrix       { return t.v }

// RawMatrix returns the elements as BLAS wants them.
func (t transposed) RawMatrix() blas64.General {
	m := t.v.matrix()
	g := blas64.General{Rows: m.Cols(), Cols: m.Rows(), Stride: max(m.Stride(), 1)}
	if g.Rows > 0 && g.Cols > 0 {
		// The columns of a Matrix lie in one allocation, Stride elements apart.
		first := unsafe.SliceData(m.Column(0))
		g.Data = unsafe.Slice(first, (g.Rows-1)*g.Stride+g.Cols)
	}
	return g
}
