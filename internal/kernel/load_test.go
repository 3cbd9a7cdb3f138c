package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// loads is the arguments of the load kernels but for dst: two matrices, and
// plain columns of scores.
type loads struct {
	used, allocatable []float64
	stride            int
	dims              []kernel.LoadDim // without columns
	form              kernel.LoadForm
	rule              kernel.ShareRule
	scores            [][]float64
	weights           []float64 // of the scores, any
	low, span         float64
	reverse           bool
	rows              []uint64
}

// list returns the dimensions with their columns.
func (a *loads) list(rows int) []kernel.LoadDim {
	var list []kernel.LoadDim
	for c, d := range a.dims {
		d.Used = a.used[c*a.stride:][:rows:rows]
		d.Allocatable = a.allocatable[c*a.stride:][:rows:rows]
		list = append(list, d)
	}
	return list
}

func (a *loads) selected(row int) bool { return a.rows == nil || a.rows[row/64]>>(row%64)&1 == 1 }

// resources returns a row for the golden models, with its own capacities or fixed ones.
func (a *loads) resources(row int, fixed bool) (list []testkit.Load) {
	for c, d := range a.dims {
		r := testkit.Load{Used: a.used[c*a.stride+row], Request: d.Request, Capacity: a.allocatable[c*a.stride+row], Weight: d.Weight}
		if fixed {
			r.Capacity = d.Capacity
		}
		list = append(list, r)
	}
	return list
}

// share is the golden model of Share.
func (a *loads) share(row int) float64 {
	list := a.resources(row, false)
	for c := range list {
		if list[c].Capacity == a.rule.Unlimited {
			list[c].Capacity = a.dims[c].Capacity
		}
	}
	return testkit.DominantShare(list, a.rule.ZeroFactor)
}

// loadKernel is a kernel with its golden model for one row.
type loadKernel struct {
	name   string
	run    func(dst []float64, a *loads)
	golden func(a *loads, row int) float64
}

var loadKernels = []loadKernel{
	{
		"LoadSum",
		func(dst []float64, a *loads) {
			kernel.Load(dst, a.list(len(dst)), kernel.LoadRule{Form: a.form}, a.rows)
		},
		func(a *loads, row int) float64 { return testkit.LoadScore(a.resources(row, false), false, a.form) },
	},
	{
		"LoadSumFixed",
		func(dst []float64, a *loads) {
			kernel.Load(dst, a.list(len(dst)), kernel.LoadRule{Fixed: true, Form: a.form}, a.rows)
		},
		func(a *loads, row int) float64 { return testkit.LoadScore(a.resources(row, true), false, a.form) },
	},
	{
		"LoadGreatest",
		func(dst []float64, a *loads) {
			kernel.Load(dst, a.list(len(dst)), kernel.LoadRule{Greatest: true, Form: a.form}, a.rows)
		},
		func(a *loads, row int) float64 { return testkit.LoadScore(a.resources(row, false), true, a.form) },
	},
	{
		"LoadGreatestFixed",
		func(dst []float64, a *loads) {
			kernel.Load(dst, a.list(len(dst)), kernel.LoadRule{Greatest: true, Fixed: true, Form: a.form}, a.rows)
		},
		func(a *loads, row int) float64 { return testkit.LoadScore(a.resources(row, true), true, a.form) },
	},
	{
		"Share",
		func(dst []float64, a *loads) { kernel.Share(dst, a.list(len(dst)), a.rule, a.rows) },
		(*loads).share,
	},
	{
		"Combine",
		func(dst []float64, a *loads) { kernel.Combine(dst, a.scores, a.weights, a.rows) },
		func(a *loads, row int) float64 {
			sum := 0.0
			for k, w := range a.weights {
				product := a.scores[k][row] * w
				sum += float64(product)
			}
			return sum
		},
	},
	{
		"Rescale",
		func(dst []float64, a *loads) { kernel.Rescale(dst, a.scores[0], a.low, a.span, a.reverse, a.rows) },
		func(a *loads, row int) float64 { return a.rescaled(a.scores[0][row]) },
	},
}

func (a *loads) rescaled(x float64) float64 {
	product := (x - a.low) * 100
	x = product / a.span
	if a.reverse {
		x = 100 - x
	}
	return x
}

// fill overwrites the numbers of a: amounts that are plain or anything, and
// weights and requests as the kernels ask for.
func (a *loads) fill(r *rand.Rand) {
	plain := r.IntN(2) == 0
	values := func(dst []float64) {
		if testkit.Fill(r, dst); plain {
			for i := range dst {
				dst[i] = float64(r.IntN(9) - 2)
			}
		}
	}
	values(a.used)
	values(a.allocatable)
	for _, s := range a.scores {
		values(s)
	}
	values(a.weights)
	for c := range a.dims {
		a.dims[c] = kernel.LoadDim{Request: 9 * r.Float64(), Weight: 1 + float64(r.IntN(3)), Capacity: float64(r.IntN(6)) - 1}
	}
	a.form = kernel.LoadForm(r.IntN(3))
	a.rule = kernel.ShareRule{Unlimited: []float64{-1, 0, math.Inf(1), math.NaN()}[r.IntN(4)], ZeroFactor: []float64{0, 1000}[r.IntN(2)]}
	a.low, a.span, a.reverse = float64(r.IntN(9)), float64(1+r.IntN(9)), r.IntN(2) == 0
}

// check runs every kernel, and compares selected rows with the golden model and
// other elements of dst with what they were.
func (a *loads) check(t *testing.T, dst []float64, what any) {
	t.Helper()
	const untouched = -12345
	for _, k := range loadKernels {
		for i := range dst {
			dst[i] = untouched
		}
		k.run(dst, a)
		for row, got := range dst {
			want := float64(untouched)
			if a.selected(row) {
				want = k.golden(a, row)
			}
			if !testkit.Same(got, want) {
				t.Fatalf("%s, %v, row %d of %d: got %v, want %v", k.name, what, row, len(dst), got, want)
			}
		}
	}
}

// TestLoad holds every load kernel against its golden model, for all lengths and
// numbers of columns and masks of any kind, between pages that fault.
func TestLoad(t *testing.T) {
	const mostRows, mostMatrix = 1<<15 + 67, 1 << 17
	shapes := ratioShapes()
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(8)
		for _, front := range []bool{false, true} {
			used, allocatable := guardedSlices[float64](t, front, mostMatrix), guardedSlices[float64](t, front, mostMatrix)
			score, dst := guardedSlices[float64](t, front, mostRows), guardedSlices[float64](t, front, mostRows)
			rows := guardedSlices[uint64](t, front, (mostRows+63)/64)
			for _, shape := range shapes {
				stride := (shape.rows + 63) / 64 * 64
				a := loads{
					used: used(stride * shape.cols), allocatable: allocatable(stride * shape.cols), stride: stride,
					dims: make([]kernel.LoadDim, shape.cols), scores: [][]float64{score(shape.rows)},
					weights: make([]float64, max(1, shape.cols)), rows: rows((shape.rows + 63) / 64),
				}
				for len(a.scores) < len(a.weights) {
					a.scores = append(a.scores, make([]float64, shape.rows))
				}
				a.fill(r)
				testkit.FillMask(r, a.rows)
				testkit.TrimMask(a.rows, shape.rows)
				if r.IntN(4) == 0 {
					a.rows = nil
				}
				a.check(t, dst(shape.rows), shape)
			}
		}
	})
}

// TestLoadAlignment writes to a dst of every alignment, with every selection of
// eight rows.
func TestLoadAlignment(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(9)
		const rows, cols = 72, 3
		a := loads{
			used: testkit.Matrix(128, cols), allocatable: testkit.Matrix(128, cols), stride: 128,
			dims: make([]kernel.LoadDim, cols), weights: make([]float64, 2), rows: make([]uint64, 2),
		}
		buffer := make([]float64, rows+8)
		for selection := range uint64(256) {
			offset := int(selection % 8)
			a.scores = [][]float64{make([]float64, rows+8)[offset:][:rows], make([]float64, rows)}
			a.fill(r)
			a.rows[0], a.rows[1] = selection<<(selection%57), selection
			a.check(t, buffer[offset:][:rows], selection)
		}
	})
}

// TestLoadSpecials puts every pair of special values into one dimension.
func TestLoadSpecials(t *testing.T) {
	specials := testkit.Specials()
	n := len(specials)
	testkit.EachImpl(t, func(t *testing.T) {
		dst := make([]float64, n)
		for i, x := range specials {
			a := loads{
				used: testkit.Matrix(128, 1), allocatable: testkit.Matrix(128, 1), stride: 128,
				dims:   []kernel.LoadDim{{Request: float64(i % 2), Weight: 1 + float64(i%3), Capacity: x}},
				scores: [][]float64{specials}, weights: []float64{x}, low: specials[(i+1)%n], span: x, reverse: i%2 == 0,
			}
			copy(a.used, specials)
			for row := range dst {
				a.allocatable[row] = x
			}
			for form := range kernel.LoadSpread + 1 {
				a.form = form
				for _, unlimited := range []float64{math.NaN(), x, -1} {
					a.rule = kernel.ShareRule{Unlimited: unlimited, ZeroFactor: float64(1000 * (i % 2))}
					a.check(t, dst, x)
				}
			}
		}
	})
}

// TestRescaleInPlace writes the scores over the scores.
func TestRescaleInPlace(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		scores := make([]float64, 100)
		testkit.Fill(testkit.Rand(10), scores)
		a := loads{low: 1, span: 7, reverse: true, rows: []uint64{0xF0F, 1 << 20}}
		want := append([]float64(nil), scores...)
		for row, x := range want {
			if a.selected(row) {
				want[row] = a.rescaled(x)
			}
		}
		kernel.Rescale(scores, scores, a.low, a.span, a.reverse, a.rows)
		if i := testkit.Difference(scores, want); i >= 0 {
			t.Errorf("row %d: got %v, want %v", i, scores[i], want[i])
		}
	})
}

// TestLoadAllocates nothing.
func TestLoadAllocates(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		matrix, scores := testkit.Matrix(128, 2), make([]float64, 128)
		allocates(t, func() {
			var dst [100]float64
			var rows [2]uint64
			rows[1] = 5
			dims := [2]kernel.LoadDim{
				{Weight: 1, Capacity: 1, Used: matrix[:128], Allocatable: matrix[128:]},
				{Weight: 1, Capacity: 1, Used: matrix[128:], Allocatable: matrix[:128]},
			}
			kernel.Load(dst[:], dims[:], kernel.LoadRule{Form: kernel.LoadRaw}, rows[:])
			kernel.Load(dst[:], dims[:], kernel.LoadRule{Fixed: true, Form: kernel.LoadPack}, nil)
			kernel.Load(dst[:], dims[:], kernel.LoadRule{Greatest: true, Form: kernel.LoadSpread}, rows[:])
			kernel.Load(dst[:], dims[:], kernel.LoadRule{Greatest: true, Fixed: true, Form: kernel.LoadRaw}, nil)
			kernel.Share(dst[:], dims[:], kernel.ShareRule{}, rows[:])
			terms, weights := [2][]float64{scores, scores}, [2]float64{1, 2}
			kernel.Combine(dst[:], terms[:], weights[:], rows[:])
			kernel.Rescale(dst[:], scores, 1, 2, true, rows[:])
		})
	})
}

func FuzzLoad(f *testing.F) {
	for _, cols := range []uint8{0, 1, 8, 33} {
		f.Add(testkit.BytesOf(testkit.Specials()), uint64(math.MaxUint64), cols, uint8(100), uint8(cols))
	}
	f.Fuzz(func(t *testing.T, data []byte, mask uint64, cols, rows, kind uint8) {
		cols %= 40
		stride, r := (int(rows)+63)/64*64, testkit.Rand(uint64(kind))
		a := loads{
			used: testkit.Matrix(stride, int(cols)), allocatable: testkit.Matrix(stride, int(cols)), stride: stride,
			dims: make([]kernel.LoadDim, cols), weights: make([]float64, int(cols)+1), rows: make([]uint64, stride/64),
		}
		for range a.weights {
			a.scores = append(a.scores, make([]float64, rows))
		}
		a.fill(r)
		testkit.FloatsOf(a.used, data)
		testkit.FloatsOf(a.allocatable, data[len(data)/3:])
		testkit.FloatsOf(a.weights, data[len(data)/2:])
		for k, s := range a.scores {
			testkit.FloatsOf(s, data[min(8*k, len(data)):])
		}
		for w := range a.rows {
			a.rows[w] = mask>>w | mask<<(64-w)
		}
		testkit.TrimMask(a.rows, int(rows))
		if kind >= 128 {
			a.rows = nil
		}
		testkit.EachImpl(t, func(t *testing.T) {
			a.check(t, make([]float64, rows), kind)
		})
	})
}
