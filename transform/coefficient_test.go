package transform

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/internal/testkit"
)

// TestCoefficientFacts is T26.
func TestCoefficientFacts(t *testing.T) {
	tr := compile(t, rules(seven), Options{})
	in := newMap(t, "cpu memory M1 M2 M4")
	out, err := tr.OutMap(in)
	if err != nil {
		t.Fatal(err)
	}
	l := bind(t, tr, in, out, BindOptions{})
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r, c := l.Dims(); r != out.Len() || c != in.Len() {
		t.Errorf("dimensions %d and %d", r, c)
	}
	for _, at := range [][2]int{{-1, 0}, {out.Len(), 0}, {0, -1}, {0, in.Len()}} {
		wantPanic(t, panicIndex, func() { l.Coefficient(nil, at[0], at[1]) })
	}
	wantPanic(t, panicColumns, func() { l.Coefficient(make(vec, in.Len()+1), 0, 0) })
}

// TestCoefficientAgainstApply: the sum of coefficients times amounts is the result
// where that is linear, and with the multipliers of the request wherever no sum is
// negative.
func TestCoefficientAgainstApply(t *testing.T) {
	isClose := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }
	linear := 0
	for seed := range uint64(100) {
		d := dice{testkit.Rand(seed)}
		b := newBound(t, d, d.whole())
		v := b.in.NewVector()
		for i := range v {
			v[i] = float64(d.IntN(100))
		}
		sum := func(src vec, output int) (y float64) {
			for i, x := range v {
				y += x * b.linear.Coefficient(src, output, i)
			}
			return y
		}
		if b.linear.IsLinear() {
			linear++
		}
		for j, want := range b.linear.Apply(nil, v) {
			generated, _ := b.intermediates(j, v)
			if got := sum(v, j); generated.Sign() >= 0 && !isClose(got, want) {
				t.Errorf("seed %d, column %d: %v with the multipliers, want %v", seed, j, got, want)
			}
			if got := sum(nil, j); b.linear.IsLinear() && !isClose(got, want) {
				t.Errorf("seed %d, column %d: %v, want %v", seed, j, got, want)
			}
		}
	}
	if linear == 0 {
		t.Error("nothing was linear")
	}
}

// TestCoefficientMultipliers: without a vector rules with a multiplier count
// nothing; in an empty one all multipliers are absent.
func TestCoefficientMultipliers(t *testing.T) {
	tr := compile(t, rules("a Replace x cpu: b 3; g Retain: g 5"), Options{})
	in, out := newMap(t, "a g"), newMap(t, "b g")
	l := bind(t, tr, in, out, BindOptions{})
	a, g := 4, 5 // of in; b and g of out
	for _, c := range []struct {
		l    *Linear
		src  vec
		want float64
	}{{l, nil, 0}, {l, vec{}, 3}, {l, vec{500}, 1.5}, {bind(t, tr, in, out, BindOptions{ZeroMultiplier: AsZero}), vec{}, 0}} {
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
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("recovered %v, want %q", got, want)
		}
	}()
	f()
}
