package vector_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// What is promised not to allocate, with destinations that were used before.
func TestAllocs(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	const rows, cols = 1000, 20
	schema := columns(make([]string, cols)...)
	m, other, out := vector.NewMatrix(schema, rows, cols), vector.NewMatrix(schema, rows, cols), new(vector.Matrix)
	for i := range rows {
		m.SetRow(i, vec{float64(i), 5, 5, 5})
	}
	requests := vector.NewMatrix(schema, 3, cols)
	request, total := vec{1, 0, 2}, vec{1000, 5, 5}
	v, w := make(vec, cols), make(vec, cols)
	var mask, dst vector.Mask
	mask.Reset(rows)
	mask.Set(7)
	masks := make([]vector.Mask, 3)
	floats, ints, words := make([]float64, rows), make([]int64, rows), make([]uint64, rows)
	counts, top := make([]int, cols), make([]int32, rows)
	rank, cursor := make([]int32, rows), 0
	overlay, copied := vector.NewOverlay(m), new(vector.Matrix)
	sum := 0
	for name, f := range map[string]func(){
		"vector": func() {
			v.Add(w)
			v.Sub(w)
			v.SetMax(w)
			v.Set(0, v.Get(1))
			v = v.Shortfall(v, w)
			if v.LessEqual(w) && v.FitsIn(w) && v.FitsInSum(w, w) && v.IsZero() {
				sum += int(v.NormalizedSum(w) + v.DominantResource(w) + float64(v.CopiesFit(w)))
			}
		},
		"mask": func() {
			dst.And(&mask, &mask)
			dst.Or(&mask, &mask)
			dst.AndNot(&mask, &mask)
			dst.CopyFrom(&mask)
			dst.SetAll()
			for r := range dst.All() {
				sum += r
			}
			dst.Reset(10)
			sum += dst.Count() + dst.First()
		},
		"LessEqual":     func() { vector.LessEqual(&dst, m, request) },
		"Fit":           func() { vector.Fit(&dst, m, request) },
		"FitAmong":      func() { vector.FitAmong(&dst, m, request, &mask) },
		"FitStrict":     func() { vector.FitStrict(&dst, m, request) },
		"FitSum":        func() { vector.FitSum(&dst, m, other, request) },
		"FitSumStrict":  func() { vector.FitSumStrict(&dst, m, other, request) },
		"LessEqualRows": func() { vector.LessEqualRows(&dst, m, other) },
		"FitRows":       func() { vector.FitRows(&dst, m, other) },
		"FitMatrix":     func() { vector.FitMatrix(masks, m, requests) },
		"Shortfall":     func() { vector.Shortfall(out, m, request) },
		"SegmentSum":    func() { vector.SegmentSum(out, m, []int32{0, 10, rows}) },
		"FailingColumns": func() {
			vector.FailingColumns(words, m, request)
		},
		"Rejections":           func() { counts = vector.Rejections(counts, m, request, &mask) },
		"NormalizedSum":        func() { vector.NormalizedSum(floats, m, total) },
		"DominantResource":     func() { vector.DominantResource(floats, m, total) },
		"NormalizedSumRows":    func() { vector.NormalizedSumRows(floats, m, other) },
		"DominantResourceRows": func() { vector.DominantResourceRows(floats, m, other) },
		"WeightedSum":          func() { vector.WeightedSum(floats, m, total) },
		"Copies":               func() { vector.Copies(ints, m, request) },
		"Copies, not finite":   func() { vector.Copies(ints, m, vec{inf, nan}) },
		"SumCopies":            func() { sum += int(vector.SumCopies(m, request, &mask)) },
		"SumColumns":           func() { v = vector.SumColumns(v, m, nil) },
		"MaxColumns":           func() { v = vector.MaxColumns(v, m, &mask) },
		"MinColumns":           func() { v = vector.MinColumns(v, m, nil) },
		"ArgMax":               func() { sum += vector.ArgMax(floats, nil, vector.TieSeeded(1)) },
		"ArgMin":               func() { sum += vector.ArgMin(ints, &mask, vector.TieRank(rank)) },
		"Order":                func() { top = vector.TieSeeded(3).Order(top, rows) },
		"TopK":                 func() { top = vector.TopK(top, floats, &mask, 16, vector.TieRoundRobin(&cursor)) },
		"TopK, int64":          func() { top = vector.TopK(top, ints, nil, rows, vector.TieLowest()) },
		"matrix": func() {
			other.SetRow(3, v)
			_ = other.AddToRow(3, vec{1})
			_ = other.SubFromRow(3, vec{1})
			other.SetColumn(0, 0, m.Column(1))
			other.RemoveRow(other.AppendRow(v))
			w = other.Row(w, 3)
			sum += int(other.At(1, 1))
		},
		"Changed": func() {
			m.SetRow(5, vec{1})
			top, _ = m.Changed(top, m.Version()-1)
		},
		"CopyFrom":       func() { copied.CopyFrom(m) },
		"CopyFrom, full": func() { m.SetColumn(0, 0, m.Column(1)); copied.CopyFrom(m) },
		"Reset":          func() { out.Reset(schema, rows, cols) },
		"overlay": func() {
			mark := overlay.Mark()
			overlay.SetRow(3, v)
			_ = overlay.AddToRow(4, vec{1})
			overlay.Rollback(mark)
			overlay.Reset(m)
		},
	} {
		testkit.EachImpl(t, func(t *testing.T) {
			if n := testing.AllocsPerRun(20, f); n != 0 {
				t.Errorf("%s allocates %v times", name, n)
			}
		})
	}
	if sum == 0 {
		t.Error("nothing was computed")
	}
}
