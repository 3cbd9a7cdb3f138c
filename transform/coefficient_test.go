package transform

import (
	"github.com/resvec/resvec/internal/testkit"
	"testing"
)

// TestCoefficientFacts is T26.
func TestCoefficientFacts(t *testing.T) {
	tr := compile(rules(seven), Options{})
	in := newMap(t, "cpu memory M1 M2 M4")
	out := testkit.Must(tr.OutMap(in))
	l := bind(tr, in, out, BindOptions{})
	var got [][]float64
	for _, o := range []string{"cpu", "memory", "ACC", "CR"} {
		var row []float64
		for _, i := range []string{"cpu", "memory", "M1", "M2", "M4"} {
			a, _ := out.Index(string(long(o)))
			b, _ := in.Index(string(long(i)))
			row = append(row, l.Coefficient(nil, a, b))
		}
		got = append(got, row)
	}
	want := [][]float64{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 5e9, 1e10, 2e10}, {0.001, 0, 10, 15, 30}}
	wantEqual(t, "", want, got)
	if r, c := l.Dims(); r != out.Len() || c != in.Len() {
		t.Errorf("dimensions %d and %d", r, c)
	}
	for _, at := range [][2]int{{-1, 0}, {out.Len(), 0}, {0, -1}, {0, in.Len()}} {
		wantPanic(t, panicIndex, func() { l.Coefficient(nil, at[0], at[1]) })
	}
	wantPanic(t, panicColumns, func() { l.Coefficient(make(vec, in.Len()+1), 0, 0) })
}

// TestCoefficientMultipliers: without a vector rules with a multiplier count
// nothing; in an empty one all multipliers are absent.
func TestCoefficientMultipliers(t *testing.T) {
	tr := compile(rules("a Replace x cpu: b 3; g Retain: g 5"), Options{})
	in, out := newMap(t, "a g"), newMap(t, "b g")
	l := bind(tr, in, out, BindOptions{})
	a, g := 4, 5 // of in; b and g of out
	for _, c := range []struct {
		l    *Linear
		src  vec
		want float64
	}{{l, nil, 0}, {l, vec{}, 3}, {l, vec{500}, 1.5}, {bind(tr, in, out, BindOptions{ZeroMultiplier: AsZero}), vec{}, 0}} {
		if got := c.l.Coefficient(c.src, 4, a); got != c.want {
			t.Errorf("got %v, want %v", got, c.want)
		}
		if got := c.l.Coefficient(c.src, 5, g); got != 6 {
			t.Errorf("kept and produced: %v", got)
		}
	}
}

func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	if got := testkit.Recovered(f); got != want {
		t.Errorf("recovered %v, want %q", got, want)
	}
}
