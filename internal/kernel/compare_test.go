package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// operands are the arguments of a compare kernel: matrices of the same shape,
// and a column list or, for the kernels without one, a width.
type operands struct {
	a, b   []float64
	stride int
	cols   []int32
	vals   []float64
	codes  []float32 // in the place of a
	limits []float32 // in the place of vals
}

// round sets codes and limits to the nearest of a and vals.
func (o *operands) round() {
	for i, x := range o.a {
		o.codes[i] = float32(x)
	}
	o.limits = make([]float32, len(o.vals))
	for k, x := range o.vals {
		o.limits[k] = float32(x)
	}
}

// compareKernel is a compare kernel with its golden model.
type compareKernel struct {
	name   string
	run    func(dst []uint64, o operands)
	golden func(o operands) func(row int) bool
}

var compareKernels = []compareKernel{
	{
		"AndGE",
		func(dst []uint64, o operands) { andGE(dst, o, o.vals, true) },
		func(o operands) func(int) bool { return testkit.GE(o.a, o.stride, o.cols, o.vals) },
	},
	{
		"AndGE32",
		func(dst []uint64, o operands) { andGE(dst, o, o.limits, false) },
		func(o operands) func(int) bool { return testkit.GE(o.codes, o.stride, o.cols, o.limits) },
	},
	{
		"AndLE",
		func(dst []uint64, o operands) { kernel.AndLE(dst, o.a, o.stride, o.cols, o.vals) },
		func(o operands) func(int) bool { return testkit.LE(o.a, o.stride, o.cols, o.vals) },
	},
	{
		"AndSumGE",
		func(dst []uint64, o operands) { kernel.AndSumGE(dst, o.a, o.stride, o.b, o.stride, o.cols, o.vals) },
		func(o operands) func(int) bool { return testkit.SumGE(o.a, o.stride, o.b, o.stride, o.cols, o.vals) },
	},
	{
		"AndRowsLE",
		func(dst []uint64, o operands) { kernel.AndRowsLE(dst, o.a, o.stride, o.b, o.stride, len(o.cols)) },
		func(o operands) func(int) bool { return testkit.RowsLE(o.a, o.stride, o.b, o.stride, len(o.cols)) },
	},
	{
		"AndRowsFit",
		func(dst []uint64, o operands) { kernel.AndRowsFit(dst, o.a, o.stride, o.b, o.stride, len(o.cols)) },
		func(o operands) func(int) bool { return testkit.RowsFit(o.a, o.stride, o.b, o.stride, len(o.cols)) },
	},
}

// andGE runs AndGE, with several lists when there are many columns.
func andGE[F float32 | float64](dst []uint64, o operands, amounts []F, exact bool) {
	for lo := 0; lo < len(o.cols); lo += kernel.ListSize {
		var list kernel.RequestList
		for k := lo; k < min(lo+kernel.ListSize, len(o.cols)); k++ {
			list.Add(int(o.cols[k]), float64(amounts[k]), exact)
		}
		kernel.AndGE(dst, o.a, o.codes, o.stride, 0, &list)
	}
}

// fillOperands overwrites both matrices so that b mostly equals a and a row
// fails now and then, and returns a limit per column that most values of the
// column meet, whichever way they are compared.
func fillOperands(r *rand.Rand, a, b []float64, cols int) []float64 {
	testkit.Fill(r, a)
	testkit.Fill(r, b)
	for i := range a {
		if r.IntN(16) != 0 {
			b[i] = a[i]
		}
	}
	vals := make([]float64, cols)
	testkit.Fill(r, vals)
	for k := range vals {
		switch r.IntN(4) {
		case 0:
			vals[k] = []float64{math.Inf(-1), -1, 0, 15, math.Inf(1)}[r.IntN(5)]
		case 1:
			vals[k] = -1
		}
	}
	return vals
}

// place cuts n elements out of a buffer, at the page that faults.
type place struct {
	name   string
	matrix func(t testing.TB, stride, cols int) []float64
	codes  func(t testing.TB, n int) []float32
	mask   func(t testing.TB, n int) []uint64
	cut    func(length, n int) (from int)
}

var places = []place{
	{"end", testkit.GuardedMatrix, testkit.Guarded[float32], testkit.Guarded[uint64], func(length, n int) int { return length - n }},
	{"front", testkit.GuardedMatrixFront, testkit.GuardedFront[float32], testkit.GuardedFront[uint64], func(_, _ int) int { return 0 }},
}

// TestCompare holds every compare kernel against its golden model, for masks
// of every number of words and lists of every number of columns, with pages around them
// that fault.
func TestCompare(t *testing.T) {
	const mostWords, mostCols, widest = 129, 33, 6 * 129 // 23*33 and 129*5 are at most 6*129
	var shapes [][2]int
	for words := range mostWords + 1 {
		shapes = append(shapes, [2]int{words, words % 4})
	}
	for cols := range mostCols + 1 {
		shapes = append(shapes, [2]int{1, cols}, [2]int{2 + cols%3, cols})
	}
	// Several calls into assembly, the last one short.
	shapes = append(shapes, [2]int{23, mostCols}, [2]int{mostWords, 5}, [2]int{1, widest}, [2]int{2, widest / 2})

	testkit.EachImpl(t, func(t *testing.T) {
		for _, p := range places {
			r := testkit.Rand(1)
			a := p.matrix(t, mostWords*kernel.Block, 6)
			b := p.matrix(t, mostWords*kernel.Block, 6)
			codes := p.codes(t, len(a))
			dst := p.mask(t, mostWords)
			width := fillOperands(r, a, b, widest)
			for _, shape := range shapes {
				words, cols := shape[0], shape[1]
				o := operands{stride: words * kernel.Block, vals: width[:cols]}
				from := p.cut(len(a), o.stride*cols)
				o.a, o.b = a[from:][:o.stride*cols], b[from:][:o.stride*cols]
				o.codes = codes[from:][:len(o.a)]
				o.round()
				for range cols {
					o.cols = append(o.cols, int32(r.IntN(cols)))
				}
				for _, k := range compareKernels {
					testkit.FillMask(r, dst)
					want := slices.Clone(dst)
					from := p.cut(len(dst), words)
					k.run(dst[from:][:words], o)
					testkit.Keep(want[from:][:words], k.golden(o))
					if !slices.Equal(dst, want) {
						t.Fatalf("%s at the %s, %d words, %d columns:\n got %x\nwant %x", k.name, p.name, words, cols, dst, want)
					}
				}
			}
		}
	})
}

// TestCompareFar holds every compare kernel against its golden model in a pass
// that no cache holds.
func TestCompareFar(t *testing.T) {
	if testing.Short() {
		t.Skip("8 MiB and more")
	}
	const words, cols = 1<<10 + 7, 33
	o := operands{
		a: testkit.Matrix(words*kernel.Block, cols), b: testkit.Matrix(words*kernel.Block, cols),
		codes: testkit.Matrix32(words*kernel.Block, cols), stride: words * kernel.Block,
	}
	r := testkit.Rand(3)
	o.vals = fillOperands(r, o.a, o.b, cols)
	for c := range cols {
		o.cols = append(o.cols, int32(c))
	}
	o.round()
	for _, k := range compareKernels {
		want := make([]uint64, words)
		testkit.FillMask(r, want)
		before := slices.Clone(want)
		testkit.Keep(want, k.golden(o))
		for _, impl := range kernel.Available() {
			restore := kernel.Use(impl)
			got := slices.Clone(before)
			k.run(got, o)
			restore()
			if !slices.Equal(got, want) {
				t.Errorf("%s, %v: wrong", k.name, impl)
			}
		}
	}
}

// TestCompareSpecials holds every compare kernel against its golden model for
// all pairs of special values.
func TestCompareSpecials(t *testing.T) {
	specials := testkit.Specials()
	words := (len(specials) + kernel.Block - 1) / kernel.Block
	o := operands{stride: words * kernel.Block, cols: []int32{0}}
	o.a, o.b, o.codes = testkit.Matrix(o.stride, 1), testkit.Matrix(o.stride, 1), testkit.Matrix32(o.stride, 1)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, x := range specials {
			copy(o.a, specials)
			for i := range o.b {
				o.b[i] = x
			}
			o.vals = []float64{x}
			o.round()
			for _, k := range compareKernels {
				got, want := make([]uint64, words), make([]uint64, words)
				for w := range got {
					got[w], want[w] = math.MaxUint64, math.MaxUint64
				}
				k.run(got, o)
				testkit.Keep(want, k.golden(o))
				if !slices.Equal(got, want) {
					t.Errorf("%s against %g: got %x, want %x", k.name, x, got, want)
				}
			}
		}
	})
}

// TestComparePools holds every compare kernel against its golden model on runs
// of blocks that fail in the first column, in a later one or not at all: the
// early exits.
func TestComparePools(t *testing.T) {
	const words, cols = 41, 3
	o := operands{stride: words * kernel.Block, cols: []int32{0, 1, 2}, vals: []float64{1, 1, 1}}
	o.a, o.b, o.codes = testkit.Matrix(o.stride, cols), testkit.Matrix(o.stride, cols), testkit.Matrix32(o.stride, cols)
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(2)
		for range 20 {
			for _, k := range compareKernels {
				for w := range words {
					pool := r.IntN(2 + w%4)
					for c := range cols {
						for i := range kernel.Block {
							row := c*o.stride + w*kernel.Block + i
							o.a[row], o.b[row] = 1, 1
							if c == pool-1 && i != r.IntN(64) {
								o.a[row] = float64(r.IntN(3))
								o.b[row] = 2 - o.a[row]
							}
						}
					}
				}
				o.round()
				got := slices.Repeat([]uint64{math.MaxUint64}, words)
				want := slices.Clone(got)
				k.run(got, o)
				testkit.Keep(want, k.golden(o))
				if !slices.Equal(got, want) {
					t.Fatalf("%s:\n got %x\nwant %x", k.name, got, want)
				}
			}
		}
	})
}

// fuzzCompare holds a kernel against its golden model: data gives the bits of
// the matrices and the limits.
func fuzzCompare(f *testing.F, name string) {
	k := compareKernels[slices.IndexFunc(compareKernels, func(k compareKernel) bool { return k.name == name })]
	for _, cols := range []uint8{0, 1, 7, 8, 33} {
		f.Add(testkit.BytesOf(testkit.Specials()), uint64(math.MaxUint64)>>cols, cols, uint8(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, mask uint64, cols, words uint8) {
		cols, words = cols%40, words%8
		o := operands{stride: int(words) * kernel.Block, vals: make([]float64, cols), limits: make([]float32, cols)}
		o.a, o.b = testkit.Matrix(o.stride, int(cols)), testkit.Matrix(o.stride, int(cols))
		o.codes = testkit.Matrix32(o.stride, int(cols))
		testkit.FloatsOf(o.a, data)
		testkit.FloatsOf(o.b, data[len(data)/3:])
		testkit.FloatsOf(o.vals, data[len(data)/2:])
		testkit.FloatsOf(o.codes, data)
		testkit.FloatsOf(o.limits, data[len(data)/2:])
		for c := range o.vals {
			o.cols = append(o.cols, int32(c))
		}
		want := slices.Repeat([]uint64{mask}, int(words))
		testkit.Keep(want, k.golden(o))
		for _, impl := range kernel.Available() {
			restore := kernel.Use(impl)
			got := slices.Repeat([]uint64{mask}, int(words))
			k.run(got, o)
			restore()
			if !slices.Equal(got, want) {
				t.Errorf("%v: got %x, want %x", impl, got, want)
			}
		}
	})
}

func FuzzAndGE(f *testing.F)      { fuzzCompare(f, "AndGE") }
func FuzzAndGE32(f *testing.F)    { fuzzCompare(f, "AndGE32") }
func FuzzAndLE(f *testing.F)      { fuzzCompare(f, "AndLE") }
func FuzzAndSumGE(f *testing.F)   { fuzzCompare(f, "AndSumGE") }
func FuzzAndRowsLE(f *testing.F)  { fuzzCompare(f, "AndRowsLE") }
func FuzzAndRowsFit(f *testing.F) { fuzzCompare(f, "AndRowsFit") }

// goldenFew returns the rows of data that hold a request.
func goldenFew(data []float64, stride int, request []float64, rows int) (fits uint64) {
	for r := range rows {
		fits |= 1 << r
		for j, x := range request {
			if !(x <= 0 || data[j*stride+r] >= x) {
				fits &^= 1 << r
			}
		}
	}
	return fits
}

// TestFitFew holds FitFew against its golden model, for all numbers of rows and
// columns, between pages that fault.
func TestFitFew(t *testing.T) {
	const mostCols = 300 // more than one call into assembly takes
	testkit.EachImpl(t, func(t *testing.T) {
		for _, p := range places {
			r := testkit.Rand(4)
			data := p.matrix(t, kernel.Block, mostCols)
			for cols := range mostCols + 1 {
				if cols > 33 && cols < mostCols-50 {
					continue
				}
				rows := r.IntN(kernel.FewRows + 1)
				testkit.Fill(r, data)
				request := make([]float64, cols)
				testkit.Fill(r, request)
				from := 0
				if cols > 0 {
					from = p.cut(len(data), (cols-1)*kernel.Block+kernel.FewRows)
				}
				for range 4 {
					got := kernel.FitFew(data[from:], kernel.Block, request, rows)
					if want := goldenFew(data[from:], kernel.Block, request, rows); got&(1<<rows-1) != want {
						t.Fatalf("%s: %d rows, %d columns: got %x, want %x", p.name, rows, cols, got, want)
					}
					for j := range request { // so that some rows fit
						request[j] = min(request[j], float64(r.IntN(3)-1))
					}
				}
			}
		}
	})
}

// TestFitFewSpecials tries every special value as a request of every other.
func TestFitFewSpecials(t *testing.T) {
	specials := testkit.Specials()
	data := testkit.Matrix(kernel.Block, 1)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, x := range specials {
			for _, y := range specials {
				data[3] = y
				if got, want := kernel.FitFew(data, kernel.Block, []float64{x}, 4)>>3&1 != 0, x <= 0 || y >= x; got != want {
					t.Errorf("%v in %v: %v, want %v", x, y, got, want)
				}
			}
		}
		allocates(t, func() {
			var request [5]float64
			kernel.FitFew(data, 0, request[:], 3)
		})
	})
}
