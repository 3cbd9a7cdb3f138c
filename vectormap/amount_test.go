package vectormap

import (
	"math"
	"math/big"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestNearestAmount: what has an exact amount has that, everything else the nearest
// float64.
func TestNearestAmount(t *testing.T) {
	for _, c := range []struct {
		quantity    string
		whole, fine float64
	}{
		{"0", 0, 0},
		{"1", 1, 1000},
		{"1500m", 2, 1500},
		{"1n", 1, 1},
		{"9007199254740991", 1<<53 - 1, (1<<53 - 1) * 1000.0},
		{"9007199254740993", 9007199254740992, 9007199254740993000},
		{"9007199254740995", 9007199254740996, 9007199254740995000},
		{"8Pi", 1 << 53, 1000 << 53},
		{"9223372036854775807", 1 << 63, 9223372036854775807000},
		{"123456789012345678901234567890", 123456789012345678901234567890, 123456789012345678901234567890000},
		{"1e307", 1e307, math.MaxFloat64},
		{"1e2000000000", math.MaxFloat64, math.MaxFloat64},
		{"-1", -1, -1000},
		{"-500m", -0.5, -500},
	} {
		q := resource.MustParse(c.quantity)
		if whole, fine := nearestAmount(&q, 1), nearestAmount(&q, 1000); whole != c.whole || fine != c.fine {
			t.Errorf("%s: %v, %v; want %v, %v", c.quantity, whole, fine, c.whole, c.fine)
		}
	}
}

// TestQuantityAmount is the table of rounding: whole units and thousandths, up
// and down.
func TestQuantityAmount(t *testing.T) {
	const max = limit - 1
	for _, c := range []struct {
		quantity                               string
		wholeUp, wholeDown, milliUp, milliDown int64 // -1: too large
	}{
		{"0", 0, 0, 0, 0},
		{"0n", 0, 0, 0, 0},
		{"0e2000000000", 0, 0, 0, 0},
		{"1", 1, 1, 1000, 1000},
		{"4", 4, 4, 4000, 4000},
		{"1k", 1000, 1000, 1000000, 1000000},
		{"500m", 1, 0, 500, 500},
		{"0.5", 1, 0, 500, 500},
		{"1500m", 2, 1, 1500, 1500},
		{"1000m", 1, 1, 1000, 1000},
		{"2.000", 2, 2, 2000, 2000},
		{"999m", 1, 0, 999, 999},
		{"1001m", 2, 1, 1001, 1001},
		{"1n", 1, 0, 1, 0},
		{"1u", 1, 0, 1, 0},
		{"999999n", 1, 0, 1, 0},
		{"1000001n", 1, 0, 2, 1},
		{"1999999999n", 2, 1, 2000, 1999},
		{"0.000000000000000001", 1, 0, 1, 0}, // parsed as 1n
		{"64Ki", 65536, 65536, 65536000, 65536000},
		{"1.5Gi", 1610612736, 1610612736, 1610612736000, 1610612736000},
		{"0.1Ki", 103, 102, 102400, 102400},
		{"1.1Ki", 1127, 1126, 1126400, 1126400},
		{"1.0000001Ki", 1025, 1024, 1024001, 1024000},
		{"12e6", 12000000, 12000000, 12000000000, 12000000000},
		{"12e-1", 2, 1, 1200, 1200},
		{"128974848000m", 128974848, 128974848, 128974848000, 128974848000},
		{"9007199254740991", max, max, -1, -1},
		{"9007199254740992", -1, -1, -1, -1},
		{"9007199254740993", -1, -1, -1, -1},
		{"9007199254740990.5", max, max - 1, -1, -1},
		{"9007199254740991.000", max, max, -1, -1},
		{"9007199254740991.001", -1, max, -1, -1},
		{"9007199254740.991", 9007199254741, 9007199254740, max, max},
		{"9007199254740.992", 9007199254741, 9007199254740, -1, -1},
		{"9007199254740.9911", 9007199254741, 9007199254740, -1, max},
		{"9007199254741", 9007199254741, 9007199254741, -1, -1},
		{"8Pi", -1, -1, -1, -1},
		{"8589934591Mi", 8589934591 << 20, 8589934591 << 20, -1, -1},
		{"9223372036854775807", -1, -1, -1, -1},
		{"92233720368547758080", -1, -1, -1, -1},
		{"1E", -1, -1, -1, -1},
		{"1e18", -1, -1, -1, -1},
		{"1e400", -1, -1, -1, -1},
		{"1e2000000000", -1, -1, -1, -1},
		{"1e-400", 1, 0, 1, 0},
		{"123456789012345678901234567890", -1, -1, -1, -1},
		{"123456789.123456789", 123456790, 123456789, 123456789124, 123456789123},
	} {
		q := resource.MustParse(c.quantity)
		before := q.DeepCopy()
		for _, w := range []struct {
			scale int64
			r     rounding
			want  int64
		}{{1, up, c.wholeUp}, {1, down, c.wholeDown}, {1000, up, c.milliUp}, {1000, down, c.milliDown}} {
			want, wantWhy := w.want, fine
			if want < 0 {
				want, wantWhy = 0, reasonTooLarge
			}
			got, why := quantityAmount(&q, w.scale, w.r)
			if got != want || why != wantWhy {
				t.Errorf("%s, scale %d, up %t: %d %d, want %d %d", c.quantity, w.scale, w.r, got, why, want, wantWhy)
			}
		}
		if q != before && q.Cmp(before) != 0 {
			t.Errorf("%s was changed", c.quantity)
		}
	}
	for _, s := range []string{"-1", "-1n", "-500m", "-1e400", "-9223372036854775808", "-1.5Gi"} {
		q := resource.MustParse(s)
		if got, why := quantityAmount(&q, 1, up); got != 0 || why != reasonNegative {
			t.Errorf("%s: %d %d", s, got, why)
		}
	}
}

func TestIsWhole(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "1": true, "1000m": true, "500m": false, "1n": false, "1.5Gi": true, "0.1Ki": false, "1e30": true,
		"1e400": true, "1e-400": false, "2.000": true, "123456789012345678901234567890": true, "-500m": false, "-2": true,
	} {
		q := resource.MustParse(s)
		if isWhole(&q) != want {
			t.Errorf("isWhole(%s) = %t", s, !want)
		}
	}
}

// goldenAmount is quantityAmount by exact rational arithmetic; -1 is too large.
func goldenAmount(q resource.Quantity, scale int64, r rounding) *big.Int {
	d := q.DeepCopy()
	dec := d.AsDec()
	x := new(big.Rat).SetInt(dec.UnscaledBig())
	ten := func(n int64) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil))
	}
	if s := int64(dec.Scale()); s >= 0 {
		x.Quo(x, ten(s))
	} else {
		x.Mul(x, ten(-s))
	}
	x.Mul(x, new(big.Rat).SetInt64(scale))
	whole, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if r == up && rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if whole.Cmp(big.NewInt(limit)) >= 0 {
		return big.NewInt(-1)
	}
	return whole
}

func checkAgainstGolden(t *testing.T, q resource.Quantity) {
	t.Helper()
	if q.Sign() < 0 {
		return
	}
	for _, scale := range []int64{1, 1000} {
		for _, r := range []rounding{up, down} {
			got, reason := quantityAmount(&q, scale, r)
			if reason == reasonTooLarge {
				got = -1
			}
			if want := goldenAmount(q, scale, r); want.Cmp(big.NewInt(got)) != 0 {
				t.Errorf("%s, scale %d, up %t: %d, want %d", q.String(), scale, r, got, want)
			}
		}
	}
	if want := goldenAmount(q, 1, up).Cmp(goldenAmount(q, 1, down)) == 0; goldenAmount(q, 1, up).Sign() >= 0 && isWhole(&q) != want {
		t.Errorf("isWhole(%s) = %t", q.String(), !want)
	}
}

func FuzzQuantityAmount(f *testing.F) {
	for _, m := range []int64{0, 1, 5, 999, 1001, limit - 1, limit, limit + 1, 1 << 62, -7} {
		for _, e := range []int16{-400, -20, -9, -3, -1, 0, 1, 3, 15, 400} {
			f.Add(m, e, e%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, mantissa int64, exponent int16, dec bool) {
		q := resource.NewScaledQuantity(mantissa, resource.Scale(exponent%500))
		if dec {
			q.ToDec()
		}
		checkAgainstGolden(t, *q)
	})
}
