package kernel_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// goldenCode is the greatest float32 not above x: rounded toward negative infinity
// with a wide range of exponents, and then the range of float32.
func goldenCode(x float64) float32 {
	switch {
	case math.IsNaN(x), math.IsInf(x, 0), x == 0:
		return float32(x)
	case x > math.MaxFloat32:
		return math.MaxFloat32
	case x < -math.MaxFloat32:
		return float32(math.Inf(-1))
	case math.Abs(x) < 0x1p-126: // whole multiples of the smallest float32
		return float32(math.Floor(x*0x1p149) * 0x1p-149)
	}
	down, _ := new(big.Float).SetPrec(24).SetMode(big.ToNegativeInf).SetFloat64(x).Float32()
	return down
}

func goldenTame(x float64) bool { return x == 0 || math.Abs(x) >= 0x1p-500 && math.Abs(x) < 0x1p500 }

func same32(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b || a == 0 && b == 0 && goldenSign(a) == goldenSign(b)
}

func goldenSign(x float32) bool { return math.Signbit(float64(x)) }

// checkCodes compares with the golden model, and checks that nothing else is
// written.
func checkCodes(t *testing.T, dst []float32, src []float64) {
	t.Helper()
	for i := range dst {
		dst[i] = 77
	}
	outOfRange := kernel.Codes(dst[:len(src)], src)
	want := false
	for i, x := range src {
		if got := dst[i]; !same32(got, goldenCode(x)) || !same32(kernel.Floor32(x), goldenCode(x)) {
			t.Fatalf("element %d of %d: the code of %v is %v, want %v", i, len(src), x, got, goldenCode(x))
		}
		if kernel.Tame(x) != goldenTame(x) {
			t.Fatalf("%v is tame: %v", x, kernel.Tame(x))
		}
		want = want || !goldenTame(x)
	}
	if outOfRange != want {
		t.Fatalf("%d elements are outOfRange: %v, want %v", len(src), outOfRange, want)
	}
	for i, x := range dst[len(src):] {
		if x != 77 {
			t.Fatalf("%d elements: element %d is written", len(src), len(src)+i)
		}
	}
}

// TestCodes holds Codes against its golden model, for all lengths, with pages around them
// that fault.
func TestCodes(t *testing.T) {
	const most = 1<<15 + 67
	lengths := []int{1000, 1<<14 - 1, 1 << 14, 1<<14 + 1, most}
	for n := range 130 {
		lengths = append(lengths, n)
	}
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(22)
		for _, front := range []bool{false, true} {
			src, dst := guardedSlices[float64](t, front, most), guardedSlices[float32](t, front, most)
			for _, n := range lengths {
				testkit.Fill(r, src(n))
				checkCodes(t, dst(n), src(n))
				testkit.FillTame(r, src(n))
				checkCodes(t, dst(n), src(n))
			}
		}
	})
}

// TestCodesSpecials puts every special value into every lane, one outOfRange value at a
// time.
func TestCodesSpecials(t *testing.T) {
	var specials []float64
	for _, x := range testkit.Specials() {
		specials = append(specials, x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1)), x*0x1p-149, x*0x1p100)
	}
	testkit.EachImpl(t, func(t *testing.T) {
		checkCodes(t, make([]float32, len(specials)), specials)
		dst := make([]float32, 50)
		for _, x := range specials {
			for lane := range 45 {
				src := make([]float64, 45)
				src[lane] = x
				checkCodes(t, dst, src)
			}
		}
	})
}

func FuzzCodes(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint8(90))
	f.Add(testkit.BytesOf([]float64{1, 0.1, -1e300}), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		src := make([]float64, n)
		testkit.FloatsOf(src, data)
		testkit.EachImpl(t, func(t *testing.T) {
			checkCodes(t, make([]float32, int(n)+9), src)
		})
	})
}

// goldenLack is what request lacks.
func goldenLack(request, free float64) float64 {
	lack := 0.0
	if !(request <= free) {
		lack = request - free
	}
	if math.IsNaN(lack) {
		lack = math.Inf(1)
	}
	return lack
}

// checkLacks compares with the golden model, and checks that nothing else is written.
func checkLacks(t *testing.T, dst []float64, codes []float32, src []float64, request float64) {
	t.Helper()
	for i := range dst {
		dst[i], codes[i] = 77, 77
	}
	n := len(src)
	outOfRange, want := kernel.Lacks(dst[:n], codes[:n], src, request), false
	for i, x := range src {
		lack := goldenLack(request, x)
		want = want || !goldenTame(lack)
		if math.Float64bits(dst[i]) != math.Float64bits(lack) || !same32(codes[i], goldenCode(lack)) {
			t.Fatalf("element %d of %d: %v lacks %v, want %v, code %v, want %v", i, n, request, dst[i], lack, codes[i], goldenCode(lack))
		}
	}
	if outOfRange != want {
		t.Fatalf("%d elements are outOfRange: %v, want %v", n, outOfRange, want)
	}
	for i, x := range dst[n:] {
		if x != 77 || codes[n+i] != 77 {
			t.Fatalf("%d elements: element %d is written", n, n+i)
		}
	}
}

// TestLacks holds Lacks against its golden model, for all lengths, between pages that
// fault.
func TestLacks(t *testing.T) {
	const most = 1<<14 + 67
	lengths := []int{1000, 1<<13 - 1, 1 << 13, 1<<13 + 1, most}
	for n := range 130 {
		lengths = append(lengths, n)
	}
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(23)
		for _, front := range []bool{false, true} {
			src, dst, codes := guardedSlices[float64](t, front, most), guardedSlices[float64](t, front, most), guardedSlices[float32](t, front, most)
			for _, n := range lengths {
				testkit.Fill(r, src(n))
				checkLacks(t, dst(n), codes(n), src(n), []float64{1, 15, math.NaN(), math.Inf(1), 1e-200, 0x1p-1074}[n%6])
				testkit.FillTame(r, src(n))
				checkLacks(t, dst(n), codes(n), src(n), 8)
				for i := range src(n) {
					src(n)[i] = float64(r.IntN(9))
				}
				checkLacks(t, dst(n), codes(n), src(n), 5)
			}
		}
	})
}

// TestLacksSpecials tries every special value as a request of every other.
func TestLacksSpecials(t *testing.T) {
	specials := testkit.Specials()
	testkit.EachImpl(t, func(t *testing.T) {
		for _, x := range specials {
			if !(x <= 0) {
				checkLacks(t, make([]float64, len(specials)+5), make([]float32, len(specials)+5), specials, x)
			}
		}
	})
}

func FuzzLacks(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint8(90), 1.0)
	f.Add(testkit.BytesOf([]float64{1, 0.1, -1e300}), uint8(7), math.Inf(1))
	f.Fuzz(func(t *testing.T, data []byte, n uint8, request float64) {
		if request <= 0 {
			return
		}
		src := make([]float64, n)
		testkit.FloatsOf(src, data)
		testkit.EachImpl(t, func(t *testing.T) {
			checkLacks(t, make([]float64, int(n)+9), make([]float32, int(n)+9), src, request)
		})
	})
}

func goldenWhole(x float64) bool { return math.Trunc(x) == x && math.Abs(x) < 1<<53 }

// checkAddRow compares with the golden model, and checks that nothing else is written.
func checkAddRow(t *testing.T, data []float64, codes []float32, stride int, v []float64, sign float64) {
	t.Helper()
	for i, x := range data {
		codes[i] = kernel.Floor32(x)
	}
	want, ok := append([]float64(nil), data...), true
	for j, x := range v {
		want[j*stride] += sign * x
		ok = ok && goldenWhole(x) && goldenWhole(want[j*stride])
	}
	if !ok {
		copy(want, data)
	}
	if got := kernel.AddRow(data, codes, stride, v, sign); got != ok {
		t.Fatalf("%v added %v times: %v, want %v", v, sign, got, ok)
	}
	for i, x := range want {
		if math.Float64bits(data[i]) != math.Float64bits(x) || !same32(codes[i], goldenCode(x)) {
			t.Fatalf("element %d with stride %d: %v with code %v, want %v", i, stride, data[i], codes[i], x)
		}
	}
}

// TestAddRow holds AddRow against its golden model, for rows of all lengths, between
// pages that fault.
func TestAddRow(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(24)
		for _, front := range []bool{false, true} {
			for _, stride := range []int{1, 3, 64} {
				const mostCols = 300
				most := (mostCols-1)*stride + 1
				data, codes, v := guardedSlices[float64](t, front, most), guardedSlices[float32](t, front, most), guardedSlices[float64](t, front, mostCols)
				for cols := range mostCols + 1 {
					if cols > 33 && cols < mostCols-45 {
						continue
					}
					n := max((cols-1)*stride+1, 0)
					for k := range 4 {
						for i := range data(n) {
							data(n)[i] = float64(r.Int64N(1<<53)) * float64(1-2*r.IntN(2))
							if k > 0 {
								data(n)[i] = float64(r.Int64N(1 << 40))
							}
						}
						for j := range v(cols) {
							v(cols)[j] = float64(r.Int64N(1<<30) << (10 * k % 20))
						}
						if k == 2 && cols > 0 { // an amount that is refused
							v(cols)[r.IntN(cols)] = []float64{0.5, math.NaN(), math.Inf(1), 1 << 53, -0.25, 0x1p-1074}[r.IntN(6)]
						}
						checkAddRow(t, data(n), codes(n), stride, v(cols), float64(1-2*r.IntN(2)))
					}
				}
			}
		}
	})
}

// TestAddRowSpecials adds every special value to every other.
func TestAddRowSpecials(t *testing.T) {
	specials := append(testkit.Specials(), 1<<53, 1<<53-1, -1<<53, 1-1<<53, 1<<52+0.5, 1<<63, -1<<63)
	testkit.EachImpl(t, func(t *testing.T) {
		for _, x := range specials {
			for _, y := range specials {
				for lane := range 6 {
					data, v := []float64{1, 2, 3, 4, 5, 6}, []float64{6, 5, 4, 3, 2, 1}
					data[lane], v[lane] = x, y
					checkAddRow(t, data, make([]float32, 6), 1, v, 1)
					data[lane] = x
					checkAddRow(t, data, make([]float32, 6), 1, v, -1)
				}
			}
		}
		allocates(t, func() {
			var data, v [8]float64
			var codes [8]float32
			kernel.AddRow(data[:], codes[:], 1, v[:], 1)
		})
	})
}
