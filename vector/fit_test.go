package vector_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// The compare kernels and their scalar definitions.
var compareKernels = []struct {
	name   string
	kernel func(dst *vector.Mask, o *operands)
	scalar func(o *operands, i int) bool
}{
	{
		"LessEqual",
		func(dst *vector.Mask, o *operands) { vector.LessEqual(dst, o.a, o.request) },
		func(o *operands, i int) bool { return o.rowsA[i].LessEqual(o.request) },
	},
	{
		"Fit",
		func(dst *vector.Mask, o *operands) { vector.Fit(dst, o.a, o.request) },
		func(o *operands, i int) bool { return o.request.FitsIn(o.rowsA[i]) },
	},
	{
		"FitStrict",
		func(dst *vector.Mask, o *operands) { vector.FitStrict(dst, o.a, o.request) },
		func(o *operands, i int) bool { return o.request.LessEqual(o.rowsA[i]) },
	},
	{
		"FitSum",
		func(dst *vector.Mask, o *operands) { vector.FitSum(dst, o.a, o.b, o.request) },
		func(o *operands, i int) bool { return o.request.FitsInSum(o.rowsA[i], o.rowsB[i]) },
	},
	{
		"FitSumStrict",
		func(dst *vector.Mask, o *operands) { vector.FitSumStrict(dst, o.a, o.b, o.request) },
		func(o *operands, i int) bool {
			sum := o.rowsA[i].Clone()
			sum.Add(o.rowsB[i])
			return o.request.LessEqual(sum)
		},
	},
	{
		"LessEqualRows",
		func(dst *vector.Mask, o *operands) { vector.LessEqualRows(dst, o.a, o.b) },
		func(o *operands, i int) bool { return o.rowsA[i].LessEqual(o.rowsB[i]) },
	},
	{
		"FitRows",
		func(dst *vector.Mask, o *operands) { vector.FitRows(dst, o.a, o.b) },
		func(o *operands, i int) bool { return o.rowsB[i].FitsIn(o.rowsA[i]) },
	},
}

func TestCompareKernels(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		var dst, want vector.Mask // reused: a dst keeps nothing of the last call
		eachOperands(t, func(t *testing.T, o *operands) {
			for _, k := range compareKernels {
				k.kernel(&dst, o)
				want.Reset(o.rows())
				for i := range o.rows() {
					if k.scalar(o, i) {
						want.Set(i)
					}
				}
				if !dst.Equal(&want) {
					t.Errorf("%s %s with %v:\n got %v\nwant %v", k.name, o.name, o.request, dst.Words(), want.Words())
				}
			}
		})
	})
}

// Few rows are asked one by one, many by the kernel.
func TestFitAmong(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		var dst, want, few vector.Mask
		eachOperands(t, func(t *testing.T, o *operands) {
			masks := rowMasks(o.rows())
			few.Reset(o.rows())
			for i := len(o.request) % 7; i < o.rows(); i += 97 {
				few.Set(i)
			}
			masks["few"] = &few
			for name, rows := range masks {
				want.Reset(o.rows())
				for i := range o.rows() {
					if selects(rows)(i) && o.request.FitsIn(o.rowsA[i]) {
						want.Set(i)
					}
				}
				vector.FitAmong(&dst, o.a, o.request, rows)
				if !dst.Equal(&want) {
					t.Errorf("%s, mask %s, with %v:\n got %v\nwant %v", o.name, name, o.request, dst.Words(), want.Words())
				}
				if rows != nil {
					if vector.FitAmong(rows, o.a, o.request, rows); !rows.Equal(&want) {
						t.Errorf("%s, mask %s in place, with %v:\n got %v\nwant %v", o.name, name, o.request, rows.Words(), want.Words())
					}
				}
			}
		})
	})
}

func TestFitMatrix(t *testing.T) {
	counts := []int{0, 1, 2, 15, 16, 17, 33}
	testkit.EachImpl(t, func(t *testing.T) {
		var requests vector.Matrix
		dst := make([]vector.Mask, slices.Max(counts)+1)
		eachOperands(t, func(t *testing.T, o *operands) {
			count, repeat := counts[o.rows()%len(counts)], 1+o.rows()%3
			count = min(count, o.rows()*repeat)
			requests.Reset(none, count, o.a.Cols())
			for k := range count {
				requests.SetRow(k, o.rowsB[k/repeat]) // some requests come repeat times
			}
			beyond := &dst[count]
			beyond.Reset(3)
			beyond.SetAll()
			vector.FitMatrix(dst, o.a, &requests)
			var want vector.Mask
			for k := range count {
				if k%repeat == 0 {
					vector.Fit(&want, o.a, o.rowsB[k/repeat])
				}
				if !dst[k].Equal(&want) {
					t.Errorf("%s, request %d, %v: other rows than Fit", o.name, k, o.rowsB[k/repeat])
				}
			}
			if beyond.Len() != 3 || beyond.Count() != 3 {
				t.Errorf("%s: a mask beyond the requests was written", o.name)
			}
		})
	})
}

func TestFailingColumns(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		room := newDestination[uint64](t)
		eachOperands(t, func(t *testing.T, o *operands) {
			if o.a.Cols() > 64 {
				return
			}
			dst := room.take(o.rows(), o.rows()%2 == 0)
			vector.FailingColumns(dst, o.a, o.request)
			for i, row := range o.rowsA {
				var want uint64
				for j, x := range o.request {
					if !(vec{x}).FitsIn(row[j : j+1]) {
						want |= 1 << j
					}
				}
				if dst[i] != want || (want == 0) != o.request.FitsIn(row) {
					t.Errorf("%s: row %v, request %v: columns %b, want %b", o.name, row, o.request, dst[i], want)
				}
			}
			if !intact(dst, o.rows()) {
				t.Errorf("%s: wrote beyond the rows", o.name)
			}
		})
	})
}

func TestRejections(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		var got []int
		eachOperands(t, func(t *testing.T, o *operands) {
			for name, rows := range rowMasks(o.rows()) {
				got = vector.Rejections(got, o.a, o.request, rows)
				want := make([]int, o.a.Cols())
				for i, row := range o.rowsA {
					for j, x := range o.request {
						if selects(rows)(i) && !(vec{x}).FitsIn(row[j:j+1]) {
							want[j]++
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, mask %s: %v, want %v", o.name, name, got, want)
				}
			}
		})
	})
}

// The kernels read a view of some rows like a matrix of those rows.
func TestKernelsOnViews(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(1)
		pool := make([]float64, 1<<14)
		testkit.Fill(r, pool)
		o := operands{a: new(vector.Matrix), b: new(vector.Matrix)}
		o.rowsA = load(o.a, 300, 5, pool, r, nil)
		o.rowsB = load(o.b, 300, 5, pool, r, nil)
		for _, c := range [][2]int{{0, 300}, {64, 300}, {128, 129}, {192, 256}, {256, 300}, {64, 64}} {
			lo, hi := c[0], c[1]
			checkKernels(t, &operands{
				name: fmt.Sprintf("rows %d to %d", lo, hi), request: vec{3, 0, 2, 1},
				a: o.a.Slice(lo, hi), b: o.b.Slice(lo, hi), rowsA: o.rowsA[lo:hi], rowsB: o.rowsB[lo:hi],
			})
		}
	})
}

func TestFitWorked(t *testing.T) {
	nodes := matrixOf(3, vec{4000, 8e9, 1}, vec{1000, 8e9, 0}, vec{4000, 1e9, -1}, vec{4000, nan, 1})
	for _, c := range []struct {
		name    string
		request vec
		fit     []int
		strict  []int
		columns []uint64
		rejects []int
	}{
		{"nothing", nil, []int{0, 1, 2, 3}, []int{0, 1}, []uint64{0, 0, 0, 0}, []int{0, 0, 0}},
		{"cpu", vec{2000}, []int{0, 2, 3}, []int{0}, []uint64{0, 1, 0, 0}, []int{1, 0, 0}},
		{"all", vec{1000, 2e9, 1}, []int{0}, []int{0}, []uint64{0, 4, 6, 2}, []int{0, 2, 2}},
		{"negative", vec{-1, -1, -1}, []int{0, 1, 2, 3}, []int{0, 1, 2}, []uint64{0, 0, 0, 0}, []int{0, 0, 0}},
		{"NaN", vec{nan}, []int{}, []int{}, []uint64{1, 1, 1, 1}, []int{4, 0, 0}},
		{"infinite", vec{0, 0, inf}, []int{}, []int{}, []uint64{4, 4, 4, 4}, []int{0, 0, 4}},
	} {
		var fit, strict vector.Mask
		vector.Fit(&fit, nodes, c.request)
		vector.FitStrict(&strict, nodes, c.request)
		if got := members(&fit); !slices.Equal(got, c.fit) {
			t.Errorf("%s: Fit = %v, want %v", c.name, got, c.fit)
		}
		if got := members(&strict); !slices.Equal(got, c.strict) {
			t.Errorf("%s: FitStrict = %v, want %v", c.name, got, c.strict)
		}
		columns := make([]uint64, 4)
		vector.FailingColumns(columns, nodes, c.request)
		if !slices.Equal(columns, c.columns) {
			t.Errorf("%s: FailingColumns = %v, want %v", c.name, columns, c.columns)
		}
		if got := vector.Rejections(nil, nodes, c.request, nil); !slices.Equal(got, c.rejects) {
			t.Errorf("%s: Rejections = %v, want %v", c.name, got, c.rejects)
		}
	}
}

func TestRejectionsReusesDst(t *testing.T) {
	dst := []int{9, 9, 9, 9}
	got := vector.Rejections(dst, matrixOf(2, vec{1}, nil), vec{1, 1}, nil)
	if !slices.Equal(got, []int{1, 2}) || &got[0] != &dst[0] || dst[2] != 9 {
		t.Errorf("%v in %v", got, dst)
	}
}

func TestShortfallTakesShapeAndSchema(t *testing.T) {
	schema := columns("a", "b")
	free := vector.NewMatrix(schema, 3, 2)
	free.SetRow(1, vec{5, 1})
	dst := matrixOf(5, vec{1, 2, 3, 4, 5})
	vector.Shortfall(dst, free, vec{3})
	wantMatrix(t, "shortfall", dst, [][]float64{{3, 0}, {0, 0}, {3, 0}})
	if dst.Schema() != schema {
		t.Error("another schema")
	}
}
