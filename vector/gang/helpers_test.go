package gang_test

import (
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

type vec = vector.ResourceVector

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

const (
	tiny  = math.SmallestNonzeroFloat64
	large = math.MaxFloat64
)

// none is the schema of matrices that have none.
var none vector.Schema

// matrixOf returns the matrix with these rows. Shorter ones are padded with
// zeros.
func matrixOf(cols int, rows ...vec) *vector.Matrix {
	m := vector.NewMatrix(none, len(rows), cols)
	for i, v := range rows {
		m.SetRow(i, v)
	}
	return m
}

// maskOf returns the mask of these rows.
func maskOf(rows int, set ...int) *vector.Mask {
	m := vector.NewMask(rows)
	for _, r := range set {
		m.Set(r)
	}
	return m
}

// contents returns the rows of m.
func contents(m *vector.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows())
	for i := range rows {
		rows[i] = m.Row(nil, i)
	}
	return rows
}

// rowsOf returns the rows of m as vectors.
func rowsOf(m *vector.Matrix) []vec {
	rows := make([]vec, m.Rows())
	for i := range rows {
		rows[i] = m.Row(nil, i)
	}
	return rows
}

// wantNoAllocations fails the test when f, which has run once, allocates. The race detector does.
func wantNoAllocations(t *testing.T, runs int, f func(), what ...any) {
	t.Helper()
	if testkit.RaceEnabled {
		return
	}
	if n := testing.AllocsPerRun(runs, f); n != 0 {
		t.Errorf("%v: %v allocations", what, n)
	}
}

// wantMatrix fails the test when m does not hold the rows want.
func wantMatrix(t *testing.T, what string, m *vector.Matrix, want [][]float64) {
	t.Helper()
	if got := contents(m); !slices.EqualFunc(got, want, func(a, b []float64) bool {
		return len(a) == len(b) && testkit.Difference(a, b) < 0
	}) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// wantPanic fails the test unless f panics with exactly this string.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	if got := testkit.Recovered(f); got != want {
		t.Errorf("recovered %v, want %q", got, want)
	}
}
