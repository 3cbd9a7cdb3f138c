package decimal

import (
	"math"
	"strconv"
	"testing"
)

func TestFormat(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "-0", 1.5: "1.5", -0.3: "-0.3", 1 << 53: "9007199254740992",
		1e20: "100000000000000000000", 1e21: "1e+21", 1e-6: "0.000001", 9e-7: "9e-07",
		math.Inf(1): "+Inf", math.Inf(-1): "-Inf", math.MaxFloat64: "1.7976931348623157e+308",
	} {
		if got := Format(x); got != want {
			t.Errorf("%g is written %q, want %q", x, got, want)
		}
	}
	if got := Format(math.NaN()); got != "NaN" {
		t.Error(got)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, want     string
		x              int64
		isWhole, isInt bool
		float          float64
	}{
		{"0", "0", 0, true, true, 0}, {"-0", "0", 0, true, true, 0}, {"0.000e99", "0", 0, true, true, 0}, {"0e99999999999999999999", "0", 0, true, true, 0},
		{"1", "1e0", 1, true, true, 1}, {"+1.", "1e0", 1, true, true, 1}, {"0010", "1e1", 10, true, true, 10}, {"-.5", "-5e-1", 0, false, true, -0.5},
		{"1e3", "1e3", 1000, true, true, 1000}, {"1.50E+2", "15e1", 150, true, true, 150}, {"12.5", "125e-1", 12, false, true, 12.5},
		{"-1200e-2", "-12e0", -12, true, true, -12}, {"-99.99", "-9999e-2", -99, false, true, -99.99},
		{"9007199254740993.0", "9007199254740993e0", 9007199254740993, true, true, 9007199254740992},
		{"1.00000000000000000000001", "100000000000000000000001e-23", 1, false, true, 1},
		{"9223372036854775807.9", "92233720368547758079e-1", math.MaxInt64, false, true, 1 << 63},
		{"-9223372036854775808", "-9223372036854775808e0", math.MinInt64, true, true, -1 << 63},
		{"9223372036854775808", "9223372036854775808e0", 0, true, false, 1 << 63},
		{"1e19", "1e19", 0, true, false, 1e19}, {"1e18", "1e18", 1e18, true, true, 1e18},
		{"1e-400", "1e-400", 0, false, true, 0}, {"1e400", "1e400", 0, true, false, math.Inf(1)}, {"-1e400", "-1e400", 0, true, false, math.Inf(-1)},
		{"1e99999999", "1e99999999", 0, true, false, math.Inf(1)}, {"1e-99999999", "1e-99999999", 0, false, true, 0},
		{"1e99999999999999999999", "1e1152921504606846976", 0, true, false, math.Inf(1)},
		{"-1.5e-99999999999999999999", "-15e-1152921504606846977", 0, false, true, math.Copysign(0, -1)},
	} {
		n, ok := Parse(c.text)
		x, isWhole, isInt := n.Int64()
		if !isInt {
			x = 0
		}
		if !ok || n.String() != c.want || x != c.x || isWhole != c.isWhole || isInt != c.isInt || n.Float64() != c.float {
			t.Errorf("%s: %v, %v, %d, %v, %v, %g", c.text, n, ok, x, isWhole, isInt, n.Float64())
		}
	}
	for _, text := range []string{"", ".", "-", "e5", "1e", "0x10", "1_0", "1 ", "Inf", "NaN", "--1", "1.2.3", "1e5.5"} {
		if n, ok := Parse(text); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}

// Numbers of a machine are read as what they are.
func FuzzParse(f *testing.F) {
	f.Add(int64(5), 1.5)
	f.Fuzz(func(t *testing.T, x int64, y float64) {
		n, ok := Parse(strconv.FormatInt(x, 10))
		if got, isWhole, isInt := n.Int64(); !ok || got != x || !isWhole || !isInt {
			t.Errorf("%d is %v", x, n)
		}
		if y-y != 0 {
			return
		}
		for _, format := range []byte("gfe") {
			n, ok := Parse(strconv.FormatFloat(y, format, -1, 64))
			if !ok || n.Float64() != y {
				t.Errorf("%g is %v", y, n)
			}
			whole := math.Trunc(y)
			if got, isWhole, isInt := n.Int64(); isWhole != (whole == y) || isInt != (math.Abs(y) < 1<<63 || y == -1<<63) || isInt && got != int64(whole) {
				t.Errorf("%g is %d, %v, %v", y, got, isWhole, isInt)
			}
		}
	})
}
