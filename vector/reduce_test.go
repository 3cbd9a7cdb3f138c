package vector_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// plain returns rows as the golden models take them.
func plain(rows []vec) [][]float64 {
	p := make([][]float64, len(rows))
	for i, v := range rows {
		p[i] = v
	}
	return p
}

// reductions are the column reductions and their golden models.
var reductions = []struct {
	name   string
	kernel func(dst vector.ResourceVector, m *vector.Matrix, rows *vector.Mask) vector.ResourceVector
	golden func(m [][]float64, cols int, selected func(row int) bool) []float64
}{
	{"SumColumns", vector.SumColumns, testkit.ColumnSums},
	{"MaxColumns", vector.MaxColumns, testkit.ColumnMaxima},
	{"MinColumns", vector.MinColumns, testkit.ColumnMinima},
}

func TestColumnReductions(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		var dst vec
		eachOperands(t, func(t *testing.T, o *operands) {
			rows := plain(o.rowsA)
			for name, mask := range rowMasks(o.rows()) {
				for _, k := range reductions {
					dst = k.kernel(dst, o.a, mask)
					if want := k.golden(rows, o.a.Cols(), selects(mask)); !same(dst, want) {
						t.Errorf("%s %s, mask %s: %v, want %v", k.name, o.name, name, dst, want)
					}
				}
			}
		})
	})
}

func TestColumnReductionsWorked(t *testing.T) {
	m := matrixOf(6,
		vec{1, zero, nan, -inf, large, nan},
		vec{2, zero, 5, 1, large, nan},
		vec{-3, 0, 4, inf, 1, nan})
	for _, c := range []struct {
		rows          *vector.Mask
		sum, max, min vec
	}{
		{nil, vec{0, 0, nan, nan, inf, nan}, vec{2, 0, 5, inf, large, -inf}, vec{-3, 0, 4, -inf, 1, inf}},
		{maskOf(3, 0), vec{1, 0, nan, -inf, large, nan}, vec{1, 0, -inf, -inf, large, -inf}, vec{1, 0, inf, -inf, large, inf}},
		{maskOf(3, 1, 2), vec{-1, 0, 9, inf, large, nan}, vec{2, 0, 5, inf, large, -inf}, vec{-3, 0, 4, 1, 1, inf}},
		{maskOf(3), vec{0, 0, 0, 0, 0, 0}, vec{-inf, -inf, -inf, -inf, -inf, -inf}, vec{inf, inf, inf, inf, inf, inf}},
	} {
		for k, want := range []vec{c.sum, c.max, c.min} {
			if got := reductions[k].kernel(nil, m, c.rows); !same(got, want) {
				t.Errorf("%s, rows %v: %v, want %v", reductions[k].name, c.rows, got, want)
			}
		}
	}
	dst := vec{7, 7, 7}
	for _, k := range reductions {
		if got := k.kernel(dst, matrixOf(2, vec{4, 5}), nil); !same(got, vec{4, 5}) || &got[0] != &dst[0] || dst[2] != 7 {
			t.Errorf("%s = %v in %v", k.name, got, dst)
		}
	}
}

func TestSegmentSumWorked(t *testing.T) {
	schema := columns("cpu", "gpu")
	m := vector.NewMatrix(schema, 5, 2)
	for i := range 5 {
		m.SetRow(i, vec{float64(i + 1), 10})
	}
	dst := matrixOf(4, vec{9, 9, 9, 9})
	for _, c := range []struct {
		offsets []int32
		want    [][]float64
	}{
		{nil, nil},
		{[]int32{3}, nil},
		{[]int32{0, 5}, [][]float64{{15, 50}}},
		{[]int32{0, 2, 2, 5}, [][]float64{{3, 20}, {0, 0}, {12, 30}}},
		{[]int32{1, 2, 3}, [][]float64{{2, 10}, {3, 10}}},
		{[]int32{5, 5}, [][]float64{{0, 0}}},
		{[]int32{0, 0, 0}, [][]float64{{0, 0}, {0, 0}}},
	} {
		vector.SegmentSum(dst, m, c.offsets)
		wantMatrix(t, fmt.Sprint(c.offsets), dst, c.want)
		if dst.Schema() != schema || dst.Cols() != 2 {
			t.Errorf("%v: another schema or width", c.offsets)
		}
	}
	negative := matrixOf(1, vec{zero}, vec{zero})
	vector.SegmentSum(dst, negative, []int32{0, 2})
	wantMatrix(t, "sums start from +0", dst, [][]float64{{0}})
}
