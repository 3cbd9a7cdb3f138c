package vector_test

import (
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

func TestOverlayZeroValue(t *testing.T) {
	var o vector.Overlay
	if m := o.Matrix(); m.Rows() != 0 || m.Cols() != 0 {
		t.Error("the zero overlay is not empty")
	}
	wantPanic(t, "vector: write to a read-only matrix", func() { o.Matrix().Resize(1) })
	o.Rollback(o.Mark())
	o.Rollback(vector.Mark{})
	o.Reset(matrixOf(2, vec{1, 2}))
	wantMatrix(t, "after Reset", o.Matrix(), [][]float64{{1, 2}})
}

func TestOverlayChanges(t *testing.T) {
	src := matrixOf(1, vec{1}, vec{2}, vec{3})
	o := vector.NewOverlay(src)
	m := o.Matrix()
	changed := func(what string, since uint64, want ...int32) {
		t.Helper()
		if rows, all := m.Changed(nil, since); all || !slices.Equal(rows, want) {
			t.Errorf("%s: Changed = %v, %v, want %v", what, rows, all, want)
		}
	}
	start := m.Version()
	o.SetRow(2, vec{5})
	changed("a change", start, 2)
	at := m.Version()
	o.Rollback(vector.Mark{})
	changed("its rollback", at, 2)

	// Resetting to the same source copies what either side changed.
	o.SetRow(0, vec{7})
	src.SetRow(1, vec{8})
	at = m.Version()
	o.Reset(src)
	changed("Reset", at, 0, 1)
	wantMatrix(t, "Reset", m, [][]float64{{1}, {8}, {3}})
	at = m.Version()
	o.Reset(src)
	changed("Reset without a change", at)

	o.Reset(matrixOf(2, vec{1, 2}))
	wantMatrix(t, "Reset to another matrix", m, [][]float64{{1, 2}})
	if _, all := m.Changed(nil, at); !all {
		t.Error("Reset to another matrix does not count as a change of all rows")
	}
}

func TestOverlayOfView(t *testing.T) {
	src := vector.NewMatrix(none, 100, 2)
	src.SetRow(70, vec{1, 2})
	o := vector.NewOverlay(src.Slice(64, 100))
	o.SetRow(6, vec{3, 4})
	if o.Matrix().At(6, 1) != 4 || src.At(70, 1) != 2 {
		t.Error("the overlay shares elements with the view")
	}
	o.Rollback(vector.Mark{})
	wantMatrix(t, "rolled back", o.Matrix(), contents(src)[64:])
	src.SetRow(71, vec{5})
	o.Reset(src.Slice(64, 100))
	wantMatrix(t, "Reset", o.Matrix(), contents(src)[64:])
}
