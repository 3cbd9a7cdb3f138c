package decimal

import (
	"math"
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
