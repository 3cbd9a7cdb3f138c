package transform

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/resvec/resvec/internal/testkit"
	"gonum.org/v1/gonum/mat"
)

// TestMatFacts is T26.
func TestMatFacts(t *testing.T) {
	tr := compile(t, rules(seven), Options{})
	in := newMap(t, "cpu memory M1 M2 M4")
	out, err := tr.OutMap(in)
	if err != nil {
		t.Fatal(err)
	}
	m := bind(t, tr, in, out, BindOptions{}).Mat()
	var got [][]float64
	for _, o := range []string{"cpu", "memory", "ACC", "CR"} {
		var row []float64
		for _, i := range []string{"cpu", "memory", "M1", "M2", "M4"} {
			a, _ := out.Index(string(long(o)))
			b, _ := in.Index(string(long(i)))
			row = append(row, m.At(a, b))
			if m.T().At(b, a) != m.At(a, b) {
				t.Error("the transpose differs")
			}
		}
		got = append(got, row)
	}
	want := [][]float64{{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 5e9, 1e10, 2e10}, {0.001, 0, 10, 15, 30}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r, c := m.Dims(); r != out.Len() || c != in.Len() {
		t.Errorf("dimensions %d and %d", r, c)
	}
	for _, at := range [][2]int{{-1, 0}, {out.Len(), 0}, {0, -1}, {0, in.Len()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("element %v exists", at)
				}
			}()
			m.At(at[0], at[1])
		}()
	}
}

// TestMatAgainstApply: the matrix times a request is the result where that is
// linear, and with the multipliers of the request wherever no sum is negative.
func TestMatAgainstApply(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }
	linear := 0
	for seed := range uint64(100) {
		d := dice{testkit.Rand(seed)}
		b := newBound(t, d, d.whole())
		v := b.in.NewVector()
		for i := range v {
			v[i] = float64(d.IntN(100))
		}
		product := func(m mat.Matrix) *mat.VecDense {
			y := new(mat.VecDense)
			y.MulVec(m, mat.NewVecDense(len(v), v))
			return y
		}
		at, plain, applied := product(b.linear.MatAt(v)), product(b.linear.Mat()), b.linear.Apply(nil, v)
		if b.linear.IsLinear() {
			linear++
		}
		for j, want := range applied {
			sum, _ := b.intermediates(j, v)
			if sum.Sign() >= 0 && !near(at.AtVec(j), want) {
				t.Errorf("seed %d, column %d: MatAt gives %v, want %v", seed, j, at.AtVec(j), want)
			}
			if b.linear.IsLinear() && !near(plain.AtVec(j), want) {
				t.Errorf("seed %d, column %d: Mat gives %v, want %v", seed, j, plain.AtVec(j), want)
			}
		}
	}
	if linear == 0 {
		t.Error("nothing was linear")
	}
}

// TestMatMultipliers: Mat leaves rules with a multiplier out, MatAt without a
// vector counts all of them as absent.
func TestMatMultipliers(t *testing.T) {
	tr := compile(t, rules("a Replace x cpu: b 3; g Retain: g 5"), Options{})
	in, out := newMap(t, "a g"), newMap(t, "b g")
	l := bind(t, tr, in, out, BindOptions{})
	a, g := 4, 5 // of in; b and g of out
	for _, c := range []struct {
		m    mat.Matrix
		want float64
	}{{l.Mat(), 0}, {l.MatAt(nil), 3}, {l.MatAt(vec{500}), 1.5}, {bind(t, tr, in, out, BindOptions{ZeroMultiplier: AsZero}).MatAt(vec{}), 0}} {
		if got := c.m.At(4, a); got != c.want {
			t.Errorf("got %v, want %v", got, c.want)
		}
		if got := c.m.At(5, g); got != 6 {
			t.Errorf("kept and produced: %v", got)
		}
	}
}
