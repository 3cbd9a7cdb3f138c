package kernel_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// ratio is the arguments of a ratio kernel but for dst: a matrix and a column
// list, or two matrices and a width.
type ratio struct {
	data, totals        []float64
	reciprocals         []float64 // of totals, or nil
	stride, totalStride int
	cols                []int32
	amounts             []float64
	tame                bool
}

// ratioKernel is a ratio kernel with its golden model for one row.
type ratioKernel[T float64 | int64] struct {
	name   string
	run    func(dst []T, a ratio)
	golden func(a ratio, row int) T
}

var ratioKernels = []ratioKernel[float64]{
	{
		"NormalizedSum",
		func(dst []float64, a ratio) { kernel.NormalizedSum(dst, a.data, a.stride, a.cols, a.amounts, a.tame) },
		func(a ratio, row int) float64 {
			sum := 0.0
			for k, c := range a.cols {
				sum += a.data[int(c)*a.stride+row] / a.amounts[k]
			}
			return sum
		},
	},
	{
		"DominantShare",
		func(dst []float64, a ratio) { kernel.DominantShare(dst, a.data, a.stride, a.cols, a.amounts, a.tame) },
		func(a ratio, row int) float64 {
			share := 0.0
			for k, c := range a.cols {
				if q := a.data[int(c)*a.stride+row] / a.amounts[k]; q > share {
					share = q
				}
			}
			return share
		},
	},
	{
		"NormalizedSumRows",
		func(dst []float64, a ratio) {
			kernel.NormalizedSumRows(dst, a.data, a.stride, a.totals, nil, a.totalStride, len(a.cols))
		},
		func(a ratio, row int) float64 {
			sum := 0.0
			for c := range a.cols {
				if t := a.totals[c*a.totalStride+row]; t > 0 {
					sum += a.data[c*a.stride+row] / t
				}
			}
			return sum
		},
	},
	{
		"DominantShareRows",
		func(dst []float64, a ratio) {
			kernel.DominantShareRows(dst, a.data, a.stride, a.totals, nil, a.totalStride, len(a.cols))
		},
		func(a ratio, row int) float64 {
			share := 0.0
			for c := range a.cols {
				t := a.totals[c*a.totalStride+row]
				if q := a.data[c*a.stride+row] / t; t > 0 && q > share {
					share = q
				}
			}
			return share
		},
	},
	{
		"WeightedSum",
		func(dst []float64, a ratio) { kernel.WeightedSum(dst, a.data, a.stride, a.cols, a.amounts) },
		func(a ratio, row int) float64 {
			sum := 0.0
			for k, c := range a.cols {
				product := a.data[int(c)*a.stride+row] * a.amounts[k]
				sum += float64(product)
			}
			return sum
		},
	},
}

// keptKernels are the kernels with totals of the rows, and reciprocals of these.
var keptKernels = []ratioKernel[float64]{
	{
		"NormalizedSumRows kept",
		func(dst []float64, a ratio) {
			kernel.NormalizedSumRows(dst, a.data, a.stride, a.totals, a.reciprocals, a.totalStride, len(a.cols))
		},
		ratioKernels[2].golden,
	},
	{
		"DominantShareRows kept",
		func(dst []float64, a ratio) {
			kernel.DominantShareRows(dst, a.data, a.stride, a.totals, a.reciprocals, a.totalStride, len(a.cols))
		},
		ratioKernels[3].golden,
	},
}

var copiesKernels = []ratioKernel[int64]{{
	"Copies",
	func(dst []int64, a ratio) { kernel.Copies(dst, a.data, a.stride, a.cols, a.amounts, a.tame) },
	func(a ratio, row int) int64 {
		least := int64(math.MaxInt64)
		for k, c := range a.cols {
			q := math.Floor(a.data[int(c)*a.stride+row] / a.amounts[k])
			switch {
			case !(q > 0):
				least = 0
			case q < 1<<63:
				least = min(least, int64(q))
			}
		}
		return least
	},
}}

// sameNumber is testkit.Same for floats, and equality for counts.
func sameNumber[T float64 | int64](x, y T) bool {
	return testkit.Same(float64(x), float64(y)) && (x == y || x != x)
}

// guardedSlices returns a function that cuts n elements out of a buffer, right
// before a page that faults or, for front, right behind one.
func guardedSlices[T testkit.Plain](t testing.TB, front bool, most int) func(n int) []T {
	if front {
		buffer := testkit.GuardedFront[T](t, most)
		return func(n int) []T { return buffer[:n:n] }
	}
	buffer := testkit.Guarded[T](t, most)
	return func(n int) []T { return buffer[most-n:] }
}

// ratioShape is a number of rows and of columns.
type ratioShape struct{ rows, cols int }

// ratioShapes has every number of rows up to 129, every number of columns up to
// 33, shapes that take several calls into assembly, the last one short, and
// widths on both sides of the most that assembly takes.
func ratioShapes() []ratioShape {
	shapes := []ratioShape{{1<<15 + 67, 1}, {1003, 33}, {500, 65}, {5000, 8}, {70, 256}, {70, 257}}
	for rows := range 130 {
		shapes = append(shapes, ratioShape{rows, rows % 5})
	}
	for cols := range 34 {
		shapes = append(shapes, ratioShape{71, cols}, ratioShape{40 + cols, cols})
	}
	return shapes
}

// fill overwrites the numbers of a with tame ones of both signs, or with
// anything. The amounts are as the kernels ask for: positive, and finite.
func (a *ratio) fill(r *rand.Rand) {
	for _, values := range [][]float64{a.data, a.totals, a.amounts} {
		if !a.tame {
			testkit.Fill(r, values)
			continue
		}
		testkit.FillTame(r, values)
		for i := range values {
			if r.IntN(8) == 0 {
				values[i] = -values[i]
			}
		}
	}
	for k, x := range a.amounts {
		a.amounts[k] = math.Abs(x)
		if !(a.amounts[k] > 0 && a.amounts[k] <= math.MaxFloat64) {
			a.amounts[k] = float64(1 + r.IntN(9))
		}
	}
}

// keep sets the reciprocals, in a buffer as large as the totals, if the amounts are
// tame, and to nil otherwise.
func (a *ratio) keep(buffer []float64) {
	if a.reciprocals = nil; tame(a.data) {
		a.reciprocals = buffer
		kernel.Reciprocals(a.reciprocals, a.totals)
	}
}

// TestRatio holds every ratio kernel against its golden model, for all lengths
// and numbers of columns, between pages that fault.
func TestRatio(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		testRatio(t, ratioKernels)
		testRatio(t, keptKernels)
		testRatio(t, copiesKernels)
	})
}

func testRatio[T float64 | int64](t *testing.T, kernels []ratioKernel[T]) {
	const mostRows, mostMatrix = 1<<15 + 67, 1 << 17
	r := testkit.Rand(2)
	for _, front := range []bool{false, true} {
		data := guardedSlices[float64](t, front, mostMatrix)
		totals := guardedSlices[float64](t, front, mostMatrix)
		reciprocals := guardedSlices[float64](t, front, mostMatrix)
		dst := guardedSlices[T](t, front, mostRows)
		for _, shape := range ratioShapes() {
			stride := (shape.rows + 63) / 64 * 64
			a := ratio{
				data: data(stride * shape.cols), stride: stride,
				totals: totals((stride + 64) * shape.cols), totalStride: stride + 64,
				amounts: make([]float64, shape.cols), tame: r.IntN(2) == 0,
			}
			for range shape.cols {
				a.cols = append(a.cols, int32(r.IntN(shape.cols)))
			}
			a.fill(r)
			if r.IntN(4) == 0 {
				testkit.Fill(r, a.totals)
			}
			a.keep(reciprocals(len(a.totals)))
			for _, k := range kernels {
				got := dst(shape.rows)
				k.run(got, a)
				for row, x := range got {
					if want := k.golden(a, row); !sameNumber(x, want) {
						t.Fatalf("%s, front %t, tame %t, %+v, row %d: got %v, want %v", k.name, front, a.tame, shape, row, x, want)
					}
				}
			}
		}
	}
}

// TestRatioAlignment writes to a dst of every alignment between elements that
// must stay as they are.
func TestRatioAlignment(t *testing.T) {
	const cols = 3
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(3)
		a := ratio{
			data: testkit.Matrix(128, cols), stride: 128, totals: testkit.Matrix(128, cols), totalStride: 128,
			cols: []int32{2, 0, 1}, amounts: make([]float64, cols), tame: true,
		}
		a.fill(r)
		a.keep(testkit.Matrix(128, cols))
		for offset := range 8 {
			for rows := range 81 {
				testAlignment(t, ratioKernels, a, offset, rows)
				testAlignment(t, keptKernels, a, offset, rows)
				testAlignment(t, copiesKernels, a, offset, rows)
			}
		}
	})
}

func testAlignment[T float64 | int64](t *testing.T, kernels []ratioKernel[T], a ratio, offset, rows int) {
	const margin, canary = 16, -12345
	buffer := make([]T, 2*margin+8+rows)
	for _, k := range kernels {
		for i := range buffer {
			buffer[i] = canary
		}
		k.run(buffer[margin+offset:][:rows], a)
		for i, x := range buffer {
			want, row := T(canary), i-margin-offset
			if row >= 0 && row < rows {
				want = k.golden(a, row)
			}
			if !sameNumber(x, want) {
				t.Fatalf("%s, offset %d, %d rows, row %d: got %v, want %v", k.name, offset, rows, row, x, want)
			}
		}
	}
}

// TestRatioSpecials divides every special value by every positive one, with a
// shared total and with totals of the rows.
func TestRatioSpecials(t *testing.T) {
	specials := testkit.Specials()
	const stride = 128
	a := ratio{
		data: testkit.Matrix(stride, 2), stride: stride, totals: testkit.Matrix(stride, 2), totalStride: stride,
		cols: []int32{0}, amounts: make([]float64, 1),
	}
	copy(a.data, specials)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, total := range specials {
			for i := range stride {
				a.totals[i] = total
			}
			testSpecials(t, ratioKernels[2:4], a, len(specials))
			b := a
			b.data = slices.Clone(a.data)
			for i, x := range b.data {
				if !tame([]float64{x}) {
					b.data[i] = 1
				}
			}
			b.keep(testkit.Matrix(stride, 2))
			testSpecials(t, keptKernels, b, len(specials))
			if total > 0 && total <= math.MaxFloat64 {
				a.amounts[0] = total
				testSpecials(t, ratioKernels, a, len(specials))
				testSpecials(t, copiesKernels, a, len(specials))
			}
		}
	})
}

func testSpecials[T float64 | int64](t *testing.T, kernels []ratioKernel[T], a ratio, rows int) {
	dst := make([]T, rows)
	for _, k := range kernels {
		k.run(dst, a)
		for row, got := range dst {
			if want := k.golden(a, row); !sameNumber(got, want) {
				t.Errorf("%s of %g over %g: got %v, want %v", k.name, a.data[row], a.totals[row], got, want)
			}
		}
	}
}

// TestQuotients checks that the division of tame numbers is the IEEE division, by
// a shared total and by totals of the rows: random quotients, and quotients as close
// as possible to the middle between two neighbours, where a result that is merely
// close rounds the wrong way. RESVEC_QUOTIENTS says how many.
func TestQuotients(t *testing.T) {
	const rows = 2048
	n := int(testkit.Environment(t, "RESVEC_QUOTIENTS", 1_000_000))
	data, totals, reciprocals := testkit.Matrix(rows, 1), testkit.Matrix(rows, 1), testkit.Matrix(rows, 1)
	dst := make([]float64, rows)
	check := func(t *testing.T, what string) {
		for i, q := range dst {
			if want := data[i] / totals[i]; math.Float64bits(q) != math.Float64bits(want) {
				t.Fatalf("%s: %x / %x: got %x, want %x", what, data[i], totals[i], q, want)
			}
		}
	}
	testkit.EachImpl(t, func(t *testing.T) {
		if kernel.Active() == kernel.Generic {
			t.Skip("divides by the division operator")
		}
		r := testkit.Rand(4)
		for range (n + rows - 1) / rows {
			shared := divisorMantissa(r)
			scale := r.IntN(1001-53) - 500
			for i := range data {
				totals[i] = math.Ldexp(float64(shared), scale)
				data[i] = dividend(r, shared)
			}
			kernel.NormalizedSum(dst, data, rows, []int32{0}, totals[:1], true)
			check(t, "shared")
			for i := range data {
				mantissa := divisorMantissa(r)
				totals[i] = math.Ldexp(float64(mantissa), r.IntN(801-53)-400)
				data[i] = dividend(r, mantissa)
			}
			kernel.Reciprocals(reciprocals, totals)
			kernel.NormalizedSumRows(dst, data, rows, totals, reciprocals, rows, 1)
			check(t, "NormalizedSumRows")
			kernel.DominantShareRows(dst, data, rows, totals, reciprocals, rows, 1)
			check(t, "DominantShareRows")
		}
	})
}

// dividend returns a tame number to divide by a multiple of b: any, or such a one
// that the quotient is next to the middle between two floats.
func dividend(r *rand.Rand, b uint64) float64 {
	if r.IntN(2) == 0 {
		return math.Ldexp(1+r.Float64(), r.IntN(1000)-500)
	}
	return math.Ldexp(nearMidpoint(r, b), r.IntN(1000-53)-500)
}

// TestQuotientsOfSmallFormats divides as the kernels do in floats of few bits: every
// number by every number. float64 holds all steps of it exactly.
func TestQuotientsOfSmallFormats(t *testing.T) {
	for bits := 2; bits <= 10; bits++ {
		one := 1 << (bits - 1)
		round := func(x float64) float64 {
			if x == 0 {
				return 0
			}
			_, exponent := math.Frexp(x)
			return math.Ldexp(math.RoundToEven(math.Ldexp(x, bits-exponent)), exponent-bits)
		}
		for b := one; b < 2*one; b++ {
			divisor := float64(b)
			z := round(1 / divisor) // 53 bits are enough for the second rounding to do no harm
			for x := one; x < 2*one; x++ {
				q := round(float64(x) * z)
				rest := round(float64(x) - divisor*q)
				if got, want := round(q+rest*z), round(float64(x)/divisor); got != want {
					t.Fatalf("%d bits: %d / %d: got %v, want %v", bits, x, b, got, want)
				}
			}
		}
	}
}

// TestReciprocals lists what stands for which number.
func TestReciprocals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		x, want float64
		whole   bool
	}{
		{1, 1, true}, {3, 1.0 / 3, true}, {1 << 44, 0x1p-44, true}, {1<<44 + 1, 1 / float64(1<<44+1), false},
		{0.5, 2, false}, {2.5, 0.4, false}, {0, 0, true}, {math.Copysign(0, -1), 0, true}, {-1, 0, false},
		{-math.MaxFloat64, 0, false}, {-inf, nan, false}, {inf, nan, false}, {nan, nan, false},
		{0x1p-400, 0x1p400, false}, {0x1p400, 0x1p-400, false},
		{math.Nextafter(0x1p-400, 0), nan, false}, {math.Nextafter(0x1p400, inf), nan, false}, {math.SmallestNonzeroFloat64, nan, false},
	} {
		var got [1]float64
		if whole := kernel.Reciprocals(got[:], []float64{test.x}); !testkit.Same(got[0], test.want) || whole != test.whole {
			t.Errorf("%v: got %v, whole %t, want %v, %t", test.x, got[0], whole, test.want, test.whole)
		}
	}
	if kernel.Reciprocals(make([]float64, 3), []float64{1, 1.5, 2}) {
		t.Error("a fraction is whole")
	}
}

// divisorMantissa returns an odd number below 2^53: mostly of 53 bits, some of
// them at the ends, now and then shorter.
func divisorMantissa(r *rand.Rand) uint64 {
	switch r.IntN(8) {
	case 0:
		return 1<<53 - 1 - 2*r.Uint64N(64)
	case 1:
		return 1<<52 + 1 + 2*r.Uint64N(64)
	case 2:
		return 1 + r.Uint64N(1<<52)>>r.IntN(52) | 1
	}
	return 1<<52 | r.Uint64N(1<<52) | 1
}

// nearMidpoint returns an integer of 53 bits that, divided by b, is next to the
// middle between two neighbouring floats: x*2^k = m*b + d, where m is odd and
// of 54 bits and d, odd and small, is all that keeps x/b from m/2^k. It solves
// m*b = -d modulo 2^k. A few b have no such x; they get a random one.
func nearMidpoint(r *rand.Rand, b uint64) float64 {
	inverse := b // of b, modulo 2^3, and twice the bits by every step of Newton's
	for range 5 {
		inverse *= 2 - b*inverse
	}
	for range 16 {
		d := 2*r.Int64N(8) - 7
		k := bits.Len64(b) + r.IntN(2)
		low := uint64(1)<<k - 1
		m := -uint64(d)*inverse&low | (1<<53|r.Uint64N(1<<53))&^low
		high, product := bits.Mul64(m, b)
		product, carry := bits.Add64(product, uint64(d), 0)
		high += uint64(d>>63) + carry
		x := product>>k | high<<(64-k)
		if bits.Len64(m) == 54 && bits.Len64(x) == 53 {
			return float64(x)
		}
	}
	return float64(1<<52 | r.Uint64N(1<<52))
}

// TestCopiesIntegers counts copies of integers around the multiples of the
// request, where the quotient is nearly an integer.
func TestCopiesIntegers(t *testing.T) {
	const rows = 1024
	data, dst := testkit.Matrix(rows, 1), make([]int64, rows)
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(5)
		for range 200 {
			request := 1 + r.Int64N(1<<53)>>r.IntN(53)
			for i := range data {
				multiple := request * r.Int64N(1<<53/request+1)
				data[i] = float64(min(max(multiple+r.Int64N(3)-1, 0), 1<<53-1))
			}
			kernel.Copies(dst, data, rows, []int32{0}, []float64{float64(request)}, true)
			for i, got := range dst {
				if want := int64(data[i]) / request; got != want {
					t.Fatalf("%.0f / %d: got %d, want %d", data[i], request, got, want)
				}
			}
		}
	})
}

func fuzzRatio[T float64 | int64](f *testing.F, k ratioKernel[T]) {
	for _, cols := range []uint8{0, 1, 8, 33} {
		f.Add(testkit.BytesOf(testkit.Specials()), cols, uint8(100))
	}
	f.Fuzz(func(t *testing.T, data []byte, cols, rows uint8) {
		cols %= 40
		stride := (int(rows) + 63) / 64 * 64
		a := ratio{
			data: testkit.Matrix(stride, int(cols)), stride: stride,
			totals: testkit.Matrix(stride, int(cols)), totalStride: stride,
			amounts: make([]float64, cols),
		}
		testkit.FloatsOf(a.data, data)
		testkit.FloatsOf(a.totals, data[len(data)/3:])
		testkit.FloatsOf(a.amounts, data[len(data)/2:])
		a.tame = tame(a.data)
		for c, x := range a.amounts {
			a.cols = append(a.cols, int32(c))
			if a.amounts[c] = math.Abs(x); !(x != 0 && a.amounts[c] <= math.MaxFloat64) {
				a.amounts[c] = 3
			}
		}
		a.tame = a.tame && tame(a.amounts)
		a.keep(testkit.Matrix(stride, int(cols)))
		testkit.EachImpl(t, func(t *testing.T) {
			dst := make([]T, rows)
			k.run(dst, a)
			for row, got := range dst {
				if want := k.golden(a, row); !sameNumber(got, want) {
					t.Errorf("row %d: got %v, want %v", row, got, want)
				}
			}
		})
	})
}

// tame reports whether every value is 0 or has a magnitude in [2^-500, 2^500].
func tame(values []float64) bool {
	for _, x := range values {
		if x = math.Abs(x); x != 0 && !(x >= 0x1p-500 && x <= 0x1p500) {
			return false
		}
	}
	return true
}

func FuzzNormalizedSum(f *testing.F)         { fuzzRatio(f, ratioKernels[0]) }
func FuzzDominantShare(f *testing.F)         { fuzzRatio(f, ratioKernels[1]) }
func FuzzNormalizedSumRows(f *testing.F)     { fuzzRatio(f, ratioKernels[2]) }
func FuzzDominantShareRows(f *testing.F)     { fuzzRatio(f, ratioKernels[3]) }
func FuzzNormalizedSumRowsKept(f *testing.F) { fuzzRatio(f, keptKernels[0]) }
func FuzzDominantShareRowsKept(f *testing.F) { fuzzRatio(f, keptKernels[1]) }
func FuzzWeightedSum(f *testing.F)           { fuzzRatio(f, ratioKernels[4]) }
func FuzzCopies(f *testing.F)                { fuzzRatio(f, copiesKernels[0]) }
