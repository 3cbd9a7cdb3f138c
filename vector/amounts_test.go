package vector_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
)

// Every call that adds to a row or subtracts from it refuses what could not be
// taken back, in every column, and nothing has changed then: no amount, no
// version, no journal.
func TestRefusedAmounts(t *testing.T) {
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu", Integral: true}, {Name: "free"}})
	const most = 1<<53 - 1
	start := vec{large, most, inf}
	for _, c := range []struct {
		name     string
		v        vec
		sign     float64 // of the calls that refuse it; 0: of all
		resource string
	}{
		{"NaN", vec{nan}, 0, "cpu"},
		{"+Inf", vec{inf}, 0, "cpu"},
		{"-Inf", vec{-inf}, 0, "cpu"},
		{"NaN, integral", vec{0, nan}, 0, "gpu"},
		{"+Inf, integral", vec{0, inf}, 0, "gpu"},
		{"NaN onto unlimited", vec{0, 0, nan}, 0, "free"},
		{"+Inf onto unlimited", vec{0, 0, inf}, 0, "free"},
		{"-Inf onto unlimited", vec{0, 0, -inf}, 0, "free"},
		{"good, then bad", vec{1, 1, nan}, 0, "free"},
		{"a fraction", vec{0, 0.5}, 0, "gpu"},
		{"nearly 1", vec{0, 1 - 0x1p-53}, 0, "gpu"},
		{"the least", vec{0, tiny}, 0, "gpu"},
		{"2^53", vec{0, 1 << 53}, 0, "gpu"},
		{"-2^53", vec{0, -(1 << 53)}, 0, "gpu"},
		{"a sum beyond float64", vec{large}, 1, "cpu"},
		{"a sum of 2^53", vec{0, 1}, 1, "gpu"},
		{"a negative amount, a sum beyond float64", vec{-large}, -1, "cpu"},
		{"a negative amount, a sum of 2^53", vec{0, -1}, -1, "gpu"},
	} {
		for _, call := range mutations {
			if c.sign != 0 && call.sign != 0 && c.sign != call.sign {
				continue
			}
			what := fmt.Sprintf("%s of %s", call.name, c.name)
			f := newMutated(schema, start)
			before := f.state()
			err := call.call(f, c.v)
			wantAmountError(t, what, err, 0, c.resource, decimal.Format(c.v[columnOf(schema, c.resource)]))
			if after := f.state(); after != before {
				t.Errorf("%s: something was written:\n%s\nbefore:\n%s", what, after, before)
			}
		}
	}
	// What can be taken back is.
	for _, v := range []vec{{0}, {1, 1, 1}, {large, -1, -large}, {-large, 1}, {tiny, most, tiny}} {
		for _, call := range mutations {
			f := newMutated(schema, vec{0, 0, inf})
			if err := call.call(f, v); err != nil {
				t.Errorf("%s of %v: %v", call.name, v, err)
			}
			if err := call.call(f, negated(v)); err != nil {
				t.Errorf("%s of %v and back: %v", call.name, v, err)
			}
			wantMatrix(t, call.name, f.of(call.name), [][]float64{{0, 0, inf}})
		}
	}
}

func columnOf(s vector.Schema, name string) int {
	for j, c := range s.Columns() {
		if c.Name == name {
			return j
		}
	}
	return -1
}

func negated(v vec) vec {
	n := v.Clone()
	for i := range n {
		n[i] = -n[i]
	}
	return n
}

// mutated is what mutations write to: one row, the same in all of them.
type mutated struct {
	m       *vector.Matrix
	overlay *vector.Overlay
}

func newMutated(schema vector.Schema, row vec) *mutated {
	f := &mutated{m: vector.NewMatrix(schema, 1, 3)}
	f.m.SetRow(0, row)
	f.overlay = vector.NewOverlay(f.m)
	return f
}

func (f *mutated) state() string {
	var s string
	for _, m := range []*vector.Matrix{f.m, f.overlay.Matrix()} {
		s += fmt.Sprintln(m.Version(), contents(m))
	}
	return s
}

// of returns the matrix that a mutation writes.
func (f *mutated) of(mutation string) *vector.Matrix {
	switch mutation {
	case "Matrix.AddToRow", "Matrix.SubFromRow":
		return f.m
	}
	return f.overlay.Matrix()
}

// mutations are the calls that change a row in place, with the sign that an amount
// gets.
var mutations = []struct {
	name string
	sign float64
	call func(f *mutated, v vec) error
}{
	{"Matrix.AddToRow", 1, func(f *mutated, v vec) error { return f.m.AddToRow(0, v) }},
	{"Matrix.SubFromRow", -1, func(f *mutated, v vec) error { return f.m.SubFromRow(0, v) }},
	{"Overlay.AddToRow", 1, func(f *mutated, v vec) error { return f.overlay.AddToRow(0, v) }},
	{"Overlay.SubFromRow", -1, func(f *mutated, v vec) error { return f.overlay.SubFromRow(0, v) }},
}
