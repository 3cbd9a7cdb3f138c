package gpu

import (
	"math"
	"math/big"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

const expPrecision = 200 // bits

// bigExp is e^x by its definition, the sum of x^i/i!, for x halved until it is
// small and then squared as often.
func bigExp(x float64) *big.Float {
	const halvings = 16
	float := func() *big.Float { return new(big.Float).SetPrec(expPrecision) }
	small := float().SetMantExp(float().SetFloat64(x), -halvings)
	sum, term := float().SetInt64(1), float().SetInt64(1)
	for i := int64(1); i < 40; i++ {
		term.Mul(term, small)
		term.Quo(term, float().SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps returns how far got is from want, in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	exponent := max(want.MantExp(nil)-53, -1074)
	off := new(big.Float).SetPrec(expPrecision).SetFloat64(got)
	off.Sub(off, want)
	n, _ := off.SetMantExp(off, -exponent).Float64()
	return math.Abs(n)
}

// TestExp checks that exp is within 1 ulp: all over its range, around 0, at the
// borders between two steps, and where results are denormal.
func TestExp(t *testing.T) {
	r := testkit.Rand(1)
	worst, at := 0.0, 0.0
	check := func(x float64) {
		if off := ulps(exp(x), bigExp(x)); off > worst {
			worst, at = off, x
		}
	}
	for range testkit.Amount(t, 500, 2500, 10_000) {
		check(r.Float64()*1454 - 745)
		check(r.Float64()*40 - 20)
		check(r.Float64()*2 - 1)
		check(math.Ldexp(r.Float64()-0.5, -r.IntN(60)))
		check(-708 - r.Float64()*37)
		border := (math.Floor(r.Float64()*2000-1000) + 0.5) / expScale
		check(border * (1 + (r.Float64()-0.5)*0x1p-50))
	}
	t.Logf("within %.4f ulp, worst at %v", worst, at)
	if !(worst <= 1) {
		t.Errorf("exp(%v) = %v is off by %v ulp", at, exp(at), worst)
	}
}

func TestExpSpecials(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ x, want float64 }{
		{0, 1},
		{math.Copysign(0, -1), 1},
		{1, math.E},
		{inf, inf},
		{-inf, 0},
		{math.MaxFloat64, inf},
		{-math.MaxFloat64, 0},
		{709.782712893384, 0x1.fffffffffff2ap1023},
		{709.7827128933841, inf},
		{-745.133, math.SmallestNonzeroFloat64},
		{-745.134, 0},
		{math.SmallestNonzeroFloat64, 1},
		{math.NaN(), math.NaN()},
	} {
		if got := exp(test.x); !testkit.Same(got, test.want) {
			t.Errorf("exp(%v) = %x, want %x", test.x, got, test.want)
		}
	}
}

// TestExpTable computes the table of powers again.
func TestExpTable(t *testing.T) {
	root := new(big.Float).SetPrec(expPrecision).SetInt64(2)
	for range 6 {
		root.Sqrt(root)
	}
	power := new(big.Float).SetPrec(expPrecision).SetInt64(1)
	for j, got := range expPowers {
		high, _ := power.Float64()
		rest := new(big.Float).SetPrec(expPrecision).SetFloat64(high)
		low, _ := rest.Sub(power, rest).Float64()
		if got != [2]float64{high, low} {
			t.Errorf("2^(%d/64) = %x, want %x, %x", j, got, high, low)
		}
		power.Mul(power, root)
	}
}
