package kernel_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// goldenSum returns the sum in order, and whether every order gives it: all values are
// whole and their magnitudes add up to less than 2^53.
func goldenSum(values []float64) (sum float64, one bool) {
	magnitude := new(big.Float).SetPrec(2200)
	one = true
	for _, x := range values {
		sum += x
		if x != math.Trunc(x) || math.IsInf(x, 0) {
			one = false
			continue
		}
		magnitude.Add(magnitude, new(big.Float).SetFloat64(math.Abs(x)))
	}
	return sum, one && magnitude.Cmp(big.NewFloat(1<<53)) < 0
}

// checkSum compares with the golden model.
func checkSum(t *testing.T, values []float64) (exact bool) {
	t.Helper()
	want, one := goldenSum(values)
	got, exact := kernel.SumWhole(values)
	if exact && (!one || !testkit.Same(got, want)) {
		t.Errorf("%d values: SumWhole %v, in order %v; one sum %v", len(values), got, want, one)
	}
	return exact
}

// TestSum: sums of whole numbers, between pages that must not be read. Assembly can see
// that these have one sum.
func TestSum(t *testing.T) {
	r := testkit.Rand(1)
	for name, draw := range map[string]func() float64{
		"bytes":     func() float64 { return float64(r.Int64N(1 << 40)) },
		"negative":  func() float64 { return float64(r.Int64N(1<<40) - 1<<39) },
		"small":     func() float64 { return float64(r.IntN(3)) },
		"cancelled": func() float64 { return float64(1 - 2*r.IntN(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			for n := range 5000 {
				if n > 129 && n%997 != 0 {
					continue
				}
				for _, values := range [][]float64{testkit.Guarded[float64](t, n), testkit.GuardedFront[float64](t, n)} {
					for i := range values {
						values[i] = draw()
					}
					testkit.EachImpl(t, func(t *testing.T) {
						if exact := checkSum(t, values); exact != (kernel.Active() >= kernel.AVX2) {
							t.Errorf("%d values: exact %v", n, exact)
						}
					})
				}
			}
		})
	}
}

// TestSumOrdered: what has no sum that every order gives is never called exact, wherever
// among small numbers it stands.
func TestSumOrdered(t *testing.T) {
	values := make([]float64, 5000)
	testkit.EachImpl(t, func(t *testing.T) {
		allocates(t, func() { kernel.SumWhole(values) })
		for _, x := range append(testkit.Specials(), 0.5, 1<<52+1, 1<<53-1, 1-1<<53, 1<<51+0.5, 1<<52-0.5) {
			for _, at := range []int{0, 1, 31, 32, 63, 127, 4095, 4096, 4991, 4992, 4999} {
				values[at] = x
				checkSum(t, values)
				checkSum(t, values[:at+1])
				values[at] = 1
				values[0] = 1
			}
		}
		for _, c := range []struct{ x, y float64 }{{1<<53 - 2, 1}, {1<<53 - 1, 1}, {1 << 52, 1 << 52}, {1<<53 - 1, -1}, {math.Inf(1), math.Inf(-1)}} {
			clear(values)
			values[40], values[4100] = c.x, c.y
			checkSum(t, values)
		}
	})
}

func FuzzSum(f *testing.F) {
	f.Add(testkit.BytesOf(testkit.Specials()), uint16(90))
	f.Add(testkit.BytesOf([]float64{1, 1 << 52, -3}), uint16(70))
	f.Add(testkit.BytesOf([]float64{5, 7}), uint16(4200))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		values := make([]float64, n%8192)
		testkit.FloatsOf(values, data)
		testkit.EachImpl(t, func(t *testing.T) { checkSum(t, values) })
	})
}
