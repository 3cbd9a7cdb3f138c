package vector_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestSetColumnPart sets a column in pieces and at once, and compares the amounts,
// what depends on the tame flag, and what counts as changed.
func TestSetColumnPart(t *testing.T) {
	const rows = 200
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(5)
		for range 50 {
			whole, parts := vector.NewMatrix(none, rows, 3), vector.NewMatrix(none, rows, 3)
			for range 3 {
				column := make([]float64, rows)
				testkit.Fill(r, column)
				whole.SetColumn(1, column)
				for lo := 0; lo < rows; {
					n := min(r.IntN(100), rows-lo)
					version := parts.Version()
					parts.SetColumnPart(1, lo, column[lo:lo+n])
					if _, all := parts.Changed(nil, version); !all {
						t.Fatal("not every row counts as changed")
					}
					lo += n
				}
				for row := range rows {
					if !testkit.Same(parts.At(row, 1), whole.At(row, 1)) {
						t.Fatalf("row %d: %v, want %v", row, parts.At(row, 1), whole.At(row, 1))
					}
				}
				if err := vector.Invariants(parts); err != nil {
					t.Fatal(err)
				}
				a, b := make([]float64, rows), make([]float64, rows)
				vector.NormalizedSum(a, parts, vec{1, 3, 7})
				vector.NormalizedSum(b, whole, vec{1, 3, 7})
				if row := testkit.Difference(a, b); row >= 0 {
					t.Fatalf("row %d: sum %v, want %v", row, a[row], b[row])
				}
			}
		}
	})
}

func TestSetColumnPartPanics(t *testing.T) {
	m := vector.NewMatrix(none, 5, 2)
	for what, f := range map[string]func(){
		"column":    func() { m.SetColumnPart(2, 0, nil) },
		"before":    func() { m.SetColumnPart(0, -1, make([]float64, 2)) },
		"behind":    func() { m.SetColumnPart(0, 6, nil) },
		"too long":  func() { m.SetColumnPart(0, 3, make([]float64, 3)) },
		"read-only": func() { m.Slice(0, 5).SetColumnPart(0, 0, make([]float64, 1)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(string); !ok {
					t.Errorf("%s: no panic", what)
				}
			}()
			f()
		}()
	}
	m.SetColumnPart(0, 5, nil)
	if s := fmt.Sprint(m.Column(0)); s != "[0 0 0 0 0]" {
		t.Error(s)
	}
}
