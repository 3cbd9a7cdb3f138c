package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// score is the element type of the selection kernels.
type score interface{ float64 | int64 }

// placeKernel finds the first selected row that no other beats.
type placeKernel[T score] struct {
	name  string
	run   func(values []T, rows []uint64) int
	beats func(x, y T) bool
}

// limitKernel marks the selected rows that keep says yes to.
type limitKernel[T score] struct {
	name string
	run  func(dst []uint64, values []T, rows []uint64, limit T)
	keep func(x, limit T) bool
}

func above[T score](x, y T) bool   { return x > y }
func below[T score](x, y T) bool   { return x < y }
func atLeast[T score](x, y T) bool { return x >= y }
func atMost[T score](x, y T) bool  { return x <= y }

var (
	floatPlaces = []placeKernel[float64]{
		{"ArgMax float64", kernel.ArgMax[float64], above[float64]},
		{"ArgMin float64", kernel.ArgMin[float64], below[float64]},
	}
	intPlaces = []placeKernel[int64]{
		{"ArgMax int64", kernel.ArgMax[int64], above[int64]},
		{"ArgMin int64", kernel.ArgMin[int64], below[int64]},
	}
	floatLimits = []limitKernel[float64]{
		{"MaskGE float64", kernel.MaskGE[float64], atLeast[float64]},
		{"MaskLE float64", kernel.MaskLE[float64], atMost[float64]},
	}
	intLimits = []limitKernel[int64]{
		{"MaskGE int64", kernel.MaskGE[int64], atLeast[int64]},
		{"MaskLE int64", kernel.MaskLE[int64], atMost[int64]},
	}
)

// golden returns the first selected row such that no selected row beats it. A
// NaN neither beats nor is chosen.
func (k placeKernel[T]) golden(values []T, rows []uint64) int {
	found := -1
	for r, x := range values {
		if (rows == nil || rows[r/64]>>(r%64)&1 == 1) && x == x {
			if found < 0 || k.beats(x, values[found]) {
				found = r
			}
		}
	}
	return found
}

// golden returns the words of the mask.
func (k limitKernel[T]) golden(values []T, rows []uint64, limit T) []uint64 {
	words := make([]uint64, (len(values)+63)/64)
	for r, x := range values {
		if (rows == nil || rows[r/64]>>(r%64)&1 == 1) && k.keep(x, limit) {
			words[r/64] |= 1 << (r % 64)
		}
	}
	return words
}

// fillInts overwrites dst with integers of all sizes, many of them equal and
// some at the ends of the range.
func fillInts(r *rand.Rand, dst []int64) {
	for i := range dst {
		switch r.IntN(8) {
		case 0:
			dst[i] = []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, math.MaxInt64}[r.IntN(4)]
		case 1:
			dst[i] = int64(r.Uint64()) >> r.IntN(64)
		default:
			dst[i] = r.Int64N(16) - 8
		}
	}
}

// TestSelect holds every selection kernel against its golden model, for all
// lengths between pages that fault: values of any alignment, masks of any kind.
func TestSelect(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		testSelect(t, testkit.Fill, floatPlaces, floatLimits)
		testSelect(t, fillInts, intPlaces, intLimits)
	})
}

func testSelect[T score](t *testing.T, fill func(*rand.Rand, []T), places []placeKernel[T], limits []limitKernel[T]) {
	lengths := []int{1000, 1<<15 - 1, 1 << 15, 1<<16 + 67} // the last takes three calls
	for n := range 130 {
		lengths = append(lengths, n, n, n)
	}
	const most = 1<<16 + 67
	r := testkit.Rand(6)
	for _, front := range []bool{false, true} {
		valuesOf := guardedSlices[T](t, front, most)
		rowsOf := guardedSlices[uint64](t, front, (most+63)/64)
		dstOf := guardedSlices[uint64](t, front, (most+63)/64)
		for _, n := range lengths {
			values, rows, dst := valuesOf(n), rowsOf((n+63)/64), dstOf((n+63)/64)
			fill(r, values)
			switch r.IntN(6) {
			case 0:
				rows = nil
			case 1:
				clear(rows)
			case 2:
				oneValue(values, values)
			default:
				testkit.FillMask(r, rows)
			}
			testkit.TrimMask(rows, n)
			checkPlaces(t, places, values, rows)
			if n > 0 {
				checkLimits(t, limits, dst, values, rows, values[r.IntN(n)])
			}
		}
	}
}

// oneValue overwrites dst with the first of values, if there is one.
func oneValue[T score](dst, values []T) {
	for i := range dst {
		dst[i] = values[0]
	}
}

func checkPlaces[T score](t *testing.T, places []placeKernel[T], values []T, rows []uint64) {
	t.Helper()
	for _, k := range places {
		if got, want := k.run(values, rows), k.golden(values, rows); got != want {
			t.Fatalf("%s of %d values: got row %d, want %d", k.name, len(values), got, want)
		}
	}
}

func checkLimits[T score](t *testing.T, limits []limitKernel[T], dst []uint64, values []T, rows []uint64, limit T) {
	t.Helper()
	for _, k := range limits {
		for w := range dst {
			dst[w] = ^uint64(0)
		}
		k.run(dst, values, rows, limit)
		if want := k.golden(values, rows, limit); !slices.Equal(dst, want) {
			t.Fatalf("%s %v of %d values:\n got %x\nwant %x", k.name, limit, len(values), dst, want)
		}
	}
}

// TestSelectPlaces puts the best value, once and twice, at every row among
// worse ones: every lane, vector and block finds it, and the first one wins.
func TestSelectPlaces(t *testing.T) {
	const n = 200
	testkit.EachImpl(t, func(t *testing.T) {
		for first := range n {
			for _, second := range []int{first, (first + 1) % n, (first + 8) % n, (first + 64) % n, n - 1} {
				for _, worst := range []float64{0, math.Inf(-1), math.NaN()} {
					values := make([]float64, n)
					oneValue(values, []float64{worst})
					values[first], values[second] = 1, 1
					if got, want := kernel.ArgMax(values, nil), min(first, second); got != want {
						t.Fatalf("among %g: got row %d, want %d", worst, got, want)
					}
				}
				values := make([]int64, n)
				oneValue(values, []int64{math.MaxInt64})
				values[first], values[second] = -1, -1
				if got, want := kernel.ArgMin(values, nil), min(first, second); got != want {
					t.Fatalf("got row %d, want %d", got, want)
				}
			}
		}
	})
}

// TestSelectSpecials compares every pair of special values, and chooses where
// nothing but one special value is left: an infinity can be chosen, a NaN can't.
func TestSelectSpecials(t *testing.T) {
	specials := testkit.Specials()
	testkit.EachImpl(t, func(t *testing.T) {
		dst := make([]uint64, (len(specials)+63)/64)
		for _, x := range specials {
			checkLimits(t, floatLimits, dst, specials, nil, x)
			for _, n := range []int{1, 63, 64, 100} {
				values := make([]float64, n)
				oneValue(values, []float64{x})
				checkPlaces(t, floatPlaces, values, nil)
				values[0], values[n-1] = math.NaN(), -x
				checkPlaces(t, floatPlaces, values, nil)
			}
		}
	})
}

// TestSelectExtremes checks the values that stand for nothing, and the sign of
// zero.
func TestSelectExtremes(t *testing.T) {
	negativeZero, nan := math.Copysign(0, -1), math.NaN()
	testkit.EachImpl(t, func(t *testing.T) {
		for _, c := range []struct {
			values      []float64
			rows        []uint64
			least, most float64
		}{
			{nil, nil, math.Inf(1), math.Inf(-1)},
			{[]float64{nan, nan}, nil, math.Inf(1), math.Inf(-1)},
			{[]float64{1, 2}, []uint64{0}, math.Inf(1), math.Inf(-1)},
			{[]float64{nan, 1, 2, -3}, nil, -3, 2},
			{[]float64{nan, 1, 2, -3}, []uint64{3}, 1, 1},
			{[]float64{negativeZero}, nil, 0, 0},
		} {
			if got := kernel.Min(c.values, c.rows); !testkit.Same(got, c.least) {
				t.Errorf("least of %v, %x: got %v, want %v", c.values, c.rows, got, c.least)
			}
			if got := kernel.Max(c.values, c.rows); !testkit.Same(got, c.most) {
				t.Errorf("greatest of %v, %x: got %v, want %v", c.values, c.rows, got, c.most)
			}
		}
	})
}

// TestSelectInPlace writes the mask over the row mask.
func TestSelectInPlace(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(7)
		values, rows := make([]float64, 500), make([]uint64, 8)
		for range 20 {
			testkit.Fill(r, values)
			testkit.FillMask(r, rows)
			testkit.TrimMask(rows, len(values))
			for _, k := range floatLimits {
				got := slices.Clone(rows)
				k.run(got, values, got, 7)
				if want := k.golden(values, rows, 7); !slices.Equal(got, want) {
					t.Fatalf("%s: got %x, want %x", k.name, got, want)
				}
			}
		}
	})
}

func allocates(t *testing.T, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(10, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSelectFloat64(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint64(math.MaxUint64), uint8(100), 1.0)
	f.Add(testkit.BytesOf([]float64{3, 1, 2}), uint64(6), uint8(3), math.Inf(-1))
	f.Fuzz(func(t *testing.T, data []byte, mask uint64, n uint8, limit float64) {
		values := make([]float64, n)
		testkit.FloatsOf(values, data)
		fuzzSelect(t, floatPlaces, floatLimits, values, mask, limit)
	})
}

func FuzzSelectInt64(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint64(math.MaxUint64), uint8(100), int64(1))
	f.Add(testkit.BytesOf([]float64{3, 1, 2}), uint64(6), uint8(3), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, data []byte, mask uint64, n uint8, limit int64) {
		floats, values := make([]float64, n), make([]int64, n)
		testkit.FloatsOf(floats, data)
		for i, x := range floats {
			values[i] = int64(math.Float64bits(x))
		}
		fuzzSelect(t, intPlaces, intLimits, values, mask, limit)
	})
}

func fuzzSelect[T score](t *testing.T, places []placeKernel[T], limits []limitKernel[T], values []T, mask uint64, limit T) {
	rows := make([]uint64, (len(values)+63)/64)
	for w := range rows {
		rows[w] = mask>>w | mask<<(64-w)
	}
	testkit.TrimMask(rows, len(values))
	testkit.EachImpl(t, func(t *testing.T) {
		for _, selected := range [][]uint64{nil, rows} {
			checkPlaces(t, places, values, selected)
			checkLimits(t, limits, make([]uint64, len(rows)), values, selected, limit)
		}
	})
}

// TestTops holds Tops against a loop, for all lengths between pages that fault.
func TestTops(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		testTops(t, testkit.Fill, math.Inf(-1))
		testTops(t, fillInts, math.MinInt64)
	})
}

func testTops[T score](t *testing.T, fill func(*rand.Rand, []T), least T) {
	const most = 1<<15 + 1
	lengths := []int{1000, 1 << 15, most}
	for n := range 130 {
		lengths = append(lengths, n, n)
	}
	r := testkit.Rand(7)
	for _, front := range []bool{false, true} {
		valuesOf, rowsOf := guardedSlices[T](t, front, most), guardedSlices[uint64](t, front, (most+63)/64)
		for i, n := range lengths {
			values, rows := valuesOf(n), rowsOf((n+63)/64)
			fill(r, values)
			if testkit.FillMask(r, rows); i%4 == 0 {
				rows = nil
			}
			testkit.TrimMask(rows, n)
			var got, want [kernel.TopGroups]T
			oneValue(want[:], []T{least})
			kernel.EachRow(n, rows, func(row int) {
				if g := row % len(want); values[row] > want[g] {
					want[g] = values[row]
				}
			})
			if kernel.Tops(&got, values, rows); got != want {
				t.Fatalf("%d values:\n got %v\nwant %v", n, got, want)
			}
			allocates(t, func() {
				var dst [kernel.TopGroups]T
				kernel.Tops(&dst, values, rows)
			})
		}
	}
}

// TestRanks holds Ranks against a loop, between pages that fault.
func TestRanks(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		testRanks(t, testkit.Fill)
		testRanks(t, fillInts)
	})
}

func testRanks[T score](t *testing.T, fill func(*rand.Rand, []T)) {
	r := testkit.Rand(8)
	for _, front := range []bool{false, true} {
		values := (*[kernel.TopGroups]T)(guardedSlices[T](t, front, kernel.TopGroups)(kernel.TopGroups))
		got := (*[kernel.TopGroups]int64)(guardedSlices[int64](t, front, kernel.TopGroups)(kernel.TopGroups))
		for n := 1; n <= len(values); n++ {
			fill(r, values[:])
			var want [kernel.TopGroups]int64
			for i, x := range values {
				for _, y := range values[:n] {
					if y > x {
						want[i]++
					}
				}
			}
			if kernel.Ranks(got, values, n); *got != want {
				t.Fatalf("%d of %v:\n got %v\nwant %v", n, values, got, want)
			}
			allocates(t, func() { kernel.Ranks(got, values, n) })
		}
	}
}
