package vector_test

import (
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// The kernels that give one float64 per row, and their scalar definitions.
var floatKernels = []struct {
	name   string
	kernel func(dst []float64, o *operands)
	scalar func(o *operands, i int) float64
}{
	{
		"NormalizedSum",
		func(dst []float64, o *operands) { vector.NormalizedSum(dst, o.a, o.request) },
		func(o *operands, i int) float64 { return o.rowsA[i].NormalizedSum(o.request) },
	},
	{
		"DominantResource",
		func(dst []float64, o *operands) { vector.DominantResource(dst, o.a, o.request) },
		func(o *operands, i int) float64 { return o.rowsA[i].DominantResource(o.request) },
	},
	{
		"NormalizedSumRows",
		func(dst []float64, o *operands) { vector.NormalizedSumRows(dst, o.a, o.b) },
		func(o *operands, i int) float64 { return o.rowsA[i].NormalizedSum(o.rowsB[i]) },
	},
	{
		"DominantResourceRows",
		func(dst []float64, o *operands) { vector.DominantResourceRows(dst, o.a, o.b) },
		func(o *operands, i int) float64 { return o.rowsA[i].DominantResource(o.rowsB[i]) },
	},
	{
		"WeightedSum",
		func(dst []float64, o *operands) { vector.WeightedSum(dst, o.a, o.request) },
		func(o *operands, i int) float64 { return testkit.WeightedRow(o.rowsA[i], o.request) },
	},
}

func TestFloatKernels(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		room := newDestination[float64](t)
		eachOperands(t, func(t *testing.T, o *operands) {
			for _, k := range floatKernels {
				dst := room.take(o.rows(), o.rows()%2 == 0)
				k.kernel(dst, o)
				for i := range o.rows() {
					if want := k.scalar(o, i); !testkit.Same(dst[i], want) {
						t.Errorf("%s %s: row %v with %v: %v, want %v", k.name, o.name, o.rowsA[i], o.request, dst[i], want)
					}
				}
				if !intact(dst, o.rows()) {
					t.Errorf("%s %s: wrote beyond the rows", k.name, o.name)
				}
			}
		})
	})
}

func TestSumCopiesSaturates(t *testing.T) {
	free := matrixOf(1, vec{0x1p62}, vec{0x1p62}, vec{7}, vec{inf}, vec{-1})
	for _, c := range []struct {
		rows *vector.Mask
		want int64
	}{
		{maskOf(5), 0},
		{maskOf(5, 4), 0},
		{maskOf(5, 2, 4), 7},
		{maskOf(5, 0, 2), 1<<62 + 7},
		{maskOf(5, 0, 1), math.MaxInt64},
		{maskOf(5, 0, 1, 2), math.MaxInt64},
		{maskOf(5, 3), math.MaxInt64},
		{maskOf(5, 2, 3), math.MaxInt64},
		{nil, math.MaxInt64},
	} {
		if got := vector.SumCopies(free, vec{1}, c.rows); got != c.want {
			t.Errorf("rows %v: %d, want %d", c.rows, got, c.want)
		}
	}
	if got := vector.SumCopies(free, nil, nil); got != math.MaxInt64 {
		t.Errorf("nothing requested: %d", got)
	}
	if got := vector.SumCopies(vector.NewMatrix(none, 0, 1), nil, nil); got != 0 {
		t.Errorf("no rows: %d", got)
	}
}

// Columns of weight 0 are not read, so their NaN stays out; others' do not.
func TestWeightedSumWorked(t *testing.T) {
	m := matrixOf(3, vec{1, nan, 3}, vec{-1, inf, 0.5})
	dst := make([]float64, 2)
	for _, c := range []struct{ weights, want vec }{
		{nil, vec{0, 0}},
		{vec{2, 0, 10}, vec{32, 3}},
		{vec{2, zero, -1}, vec{-1, -2.5}},
		{vec{0, 1}, vec{nan, inf}},
		{vec{nan}, vec{nan, nan}},
		{vec{inf, 0, inf}, vec{inf, nan}},
	} {
		vector.WeightedSum(dst, m, c.weights)
		if !same(dst, c.want) {
			t.Errorf("weights %v: %v, want %v", c.weights, dst, c.want)
		}
	}
}
