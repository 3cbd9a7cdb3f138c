package vector_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

type vec = vector.ResourceVector

var (
	nan  = math.NaN()
	inf  = math.Inf(1)
	zero = math.Copysign(0, -1) // the other zero
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

// members returns the rows in m, never nil.
func members(m *vector.Mask) []int { return append([]int{}, slices.Collect(m.All())...) }

// same reports whether a and b have the same length and, NaN aside, bits.
func same(a, b []float64) bool {
	return len(a) == len(b) && testkit.Difference(a, b) < 0
}

// contents returns the rows of m.
func contents(m *vector.Matrix) [][]float64 {
	rows := make([][]float64, m.Rows())
	for i := range rows {
		rows[i] = m.Row(nil, i)
	}
	return rows
}

// differs describes the first difference of m from the rows want, "" for none.
func differs(m *vector.Matrix, want [][]float64) string {
	if m.Rows() != len(want) {
		return fmt.Sprintf("%d rows, want %d", m.Rows(), len(want))
	}
	for i, row := range want {
		if got := m.Row(nil, i); !same(got, row) {
			return fmt.Sprintf("row %d is %v, want %v", i, got, row)
		}
	}
	return ""
}

// wantMatrix fails the test when m does not hold the rows want or its storage
// is not in order.
func wantMatrix(t *testing.T, what string, m *vector.Matrix, want [][]float64) {
	t.Helper()
	if d := differs(m, want); d != "" {
		t.Fatalf("%s: %s", what, d)
	}
	if err := vector.Invariants(m); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// wantPanic fails the test unless f panics with exactly this string.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	if got := testkit.Recovered(f); got != want {
		t.Errorf("recovered %v, want %q", got, want)
	}
}

// wantAmountError fails the test unless err refuses this amount and names it.
func wantAmountError(t *testing.T, what string, err error, row int, resource, amount string) {
	t.Helper()
	var got *vector.AmountError
	switch {
	case !errors.As(err, &got) || !errors.Is(err, vector.ErrNotRepresentable):
		t.Errorf("%s: error %v", what, err)
	case got.Row != row || got.Resource != resource || got.Amount != amount:
		t.Errorf("%s: error %+v, want row %d, %s, %s", what, got, row, resource, amount)
	case err.Error() != fmt.Sprintf("row %d: %s: amount %s %s", row, resource, amount, got.Reason) || got.Reason == "":
		t.Errorf("%s: error %q", what, err)
	}
}

// rowMasks returns the kinds of row mask over rows rows: nil, none, all and a
// random choice.
func rowMasks(rows int) map[string]*vector.Mask {
	all, some := vector.NewMask(rows), vector.NewMask(rows)
	all.SetAll()
	testkit.FillMask(testkit.Rand(uint64(rows)), some.Words())
	testkit.TrimMask(some.Words(), rows)
	return map[string]*vector.Mask{"nil": nil, "none": vector.NewMask(rows), "all": all, "some": some}
}

// selects returns what a row mask selects.
func selects(rows *vector.Mask) func(row int) bool {
	if rows == nil {
		return testkit.All
	}
	return rows.Test
}
