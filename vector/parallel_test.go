package vector_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/vector"
)

// Kernels and views read one matrix from many goroutines at a time.
func TestParallelReaders(t *testing.T) {
	const rows, workers = 1000, 4
	m := vector.NewMatrix(none, rows, 5)
	for i := range rows {
		m.SetRow(i, vec{float64(i % 7), float64(i % 11), 3, float64(i), nan})
	}
	request, total := vec{3, 4, 0, 500}, vec{7, 11, 3, 1000}
	var wantFit vector.Mask
	wantSum, wantCopies := make([]float64, rows), make([]int64, rows)
	vector.Fit(&wantFit, m, request)
	vector.NormalizedSum(wantSum, m, total)
	vector.Copies(wantCopies, m, request)

	sum, copies := make([]float64, rows), make([]int64, rows)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() { // the whole matrix
			var fit vector.Mask
			o := vector.NewOverlay(m)
			for range 20 {
				vector.Fit(&fit, m, request)
				if !fit.Equal(&wantFit) {
					t.Error("another Fit")
				}
				o.SetRow(w, nil)
				o.Reset(m)
				if vector.SumCopies(m, request, &fit) != vector.SumCopies(o.Matrix(), request, nil) {
					t.Error("another SumCopies")
				}
			}
		})
		group.Go(func() { // its own part
			lo := w * 256
			hi := min(lo+256, rows)
			part := m.Slice(lo, hi)
			vector.NormalizedSum(sum[lo:hi], part, total)
			vector.Copies(copies[lo:hi], part, request)
		})
	}
	group.Wait()
	if !same(sum, wantSum) || !slices.Equal(copies, wantCopies) {
		t.Error("parts differ from the whole")
	}
}
