package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// sums is the arguments of the linear kernels: a matrix of columns, of which the
// first is kept, and plain sums.
type sums struct {
	data       []float64
	stride     int
	terms      []kernel.LinearTerm // with columns that belong to no matrix
	before     []float64           // acc
	more       bool                // acc holds a sum
	keeps      bool
	over, unit float64
	pods       []float64 // nil: none
}

// column returns column c, as short as the rows.
func (a *sums) column(c int) []float64 { return a.data[c*a.stride:][:len(a.before):len(a.before)] }

func (a *sums) kept() []float64 {
	if !a.keeps {
		return nil
	}
	return a.column(0)
}

// bind gives the terms their columns: one each, and the next one as the multiplier
// of every other term.
func (a *sums) bind() {
	cols := max(len(a.data)/max(a.stride, 1), 1) // one that is empty without rows
	for k := range a.terms {
		t := &a.terms[k]
		t.Input, t.Multiplier = a.column(k%cols), nil
		if k%2 == 1 {
			t.Multiplier = a.column((k + 1) % cols)
		}
	}
}

// linearKernel is a linear kernel with its golden model for one row.
type linearKernel struct {
	name   string
	run    func(acc []float64, a *sums)
	golden func(a *sums, row int) float64
}

var linearKernels = []linearKernel{
	{
		"LinearSum",
		func(acc []float64, a *sums) { kernel.LinearSum(acc, a.terms) },
		func(a *sums, row int) float64 { return a.sum(a.before[row], row) },
	},
	{
		"LinearAmount",
		func(acc []float64, a *sums) { kernel.LinearAmount(acc, a.more, a.terms, a.kept(), a.over) },
		func(a *sums, row int) float64 {
			y := a.generated(row)
			if a.keeps {
				y += a.column(0)[row]
			}
			return positive(y)
		},
	},
	{
		"LinearCharge",
		func(acc []float64, a *sums) {
			kernel.LinearCharge(acc, a.more, a.terms, a.kept(), a.over, a.unit, a.pods)
		},
		(*sums).charge,
	},
}

// sum is the golden model of LinearSum.
func (a *sums) sum(sum float64, row int) float64 {
	for _, t := range a.terms {
		product := t.Input[row]
		if t.Multiplier != nil {
			times := t.Multiplier[row]
			if times == 0 {
				times = t.Absent
			}
			product *= times
		}
		product *= t.Factor
		sum += float64(product)
	}
	return sum
}

// generated is the quotient of a sum, at least 0.
func (a *sums) generated(row int) float64 {
	before := 0.0
	if a.more {
		before = a.before[row]
	}
	y := a.sum(before, row) / a.over
	if y <= 0 {
		return 0
	}
	return y
}

// charge is the golden model of LinearCharge.
func (a *sums) charge(row int) float64 {
	generated, kept, pods := a.generated(row), 0.0, 1.0
	if a.keeps {
		kept = a.column(0)[row]
	}
	if a.pods != nil {
		pods = a.pods[row]
	}
	units := math.Ceil(generated) + kept
	if kept != math.Trunc(kept) {
		units = math.Ceil(generated + kept)
	}
	units = math.Ceil(units/a.unit) * a.unit
	switch {
	case math.IsNaN(units):
		return units
	case pods == 0 || units <= 0:
		return positive(0 * pods)
	case units >= 1<<53 || units*pods >= 1<<53:
		return math.Inf(1)
	}
	return units * pods
}

// positive returns x, or +0 for -0.
func positive(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}

// fill overwrites the numbers of a with anything, or with amounts that are plain.
func (a *sums) fill(r *rand.Rand) {
	plain := r.IntN(2) == 0
	values := func(dst []float64) {
		if testkit.Fill(r, dst); plain {
			for i := range dst {
				dst[i] = float64(r.IntN(90)-20) / float64(1+r.IntN(2))
			}
		}
	}
	values(a.data)
	values(a.before)
	for k := range a.terms {
		a.terms[k].Factor, a.terms[k].Absent = float64(r.IntN(9)-3), float64(r.IntN(3)*500)
	}
	for i := range a.pods {
		a.pods[i] = []float64{0, 1, 2, 7, 1 << 40, 1 << 62}[r.IntN(6)]
	}
	a.keeps, a.more = r.IntN(2) == 0, r.IntN(2) == 0
	a.over, a.unit = []float64{1, 2, 1000, 3e9}[r.IntN(4)], []float64{1, 1000}[r.IntN(2)]
	a.bind()
}

// check runs every kernel and compares with the golden model.
func (a *sums) check(t *testing.T, acc []float64, what any) {
	t.Helper()
	for _, k := range linearKernels {
		copy(acc, a.before)
		k.run(acc, a)
		for row, got := range acc {
			if want := k.golden(a, row); !testkit.Same(got, want) {
				t.Fatalf("%s, %v, row %d of %d: got %v, want %v (of %v, kept %v)", k.name, what, row, len(acc), got, want, a.before[row], a.keeps)
			}
		}
	}
}

// TestLinear holds every linear kernel against its golden model, for all lengths
// and numbers of terms, between pages that fault.
func TestLinear(t *testing.T) {
	const mostRows, mostMatrix = 1<<15 + 67, 1 << 17
	shapes := ratioShapes()
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(20)
		for _, front := range []bool{false, true} {
			data, acc, pods := guardedSlices[float64](t, front, mostMatrix), guardedSlices[float64](t, front, mostRows), guardedSlices[float64](t, front, mostRows)
			for _, shape := range shapes {
				stride := (shape.rows + 63) / 64 * 64
				a := sums{
					data: data(stride * (1 + shape.cols%3)), stride: stride, terms: make([]kernel.LinearTerm, shape.cols),
					before: make([]float64, shape.rows), pods: pods(shape.rows),
				}
				if r.IntN(4) == 0 {
					a.pods = nil
				}
				a.fill(r)
				a.check(t, acc(shape.rows), shape)
			}
		}
	})
}

// TestLinearAlignment writes to sums of every alignment and of every length below
// two vectors.
func TestLinearAlignment(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r, buffer, pods := testkit.Rand(21), make([]float64, 40), make([]float64, 40)
		for offset := range 8 {
			for n := range 18 {
				a := sums{data: testkit.Matrix(64, 2), stride: 64, terms: make([]kernel.LinearTerm, 3), before: make([]float64, n), pods: pods[offset:][:n]}
				a.fill(r)
				for i := range buffer {
					buffer[i] = 77
				}
				a.check(t, buffer[offset:][:n], offset)
				for i, x := range buffer {
					if (i < offset || i >= offset+n) && x != 77 {
						t.Fatalf("%d rows from %d on: element %d is written", n, offset, i)
					}
				}
			}
		}
	})
}

// TestLinearSpecials puts every pair of special values into one row.
func TestLinearSpecials(t *testing.T) {
	specials := testkit.Specials()
	n := len(specials)
	testkit.EachImpl(t, func(t *testing.T) {
		acc := make([]float64, n)
		for i, x := range specials {
			a := sums{data: testkit.Matrix(128, 2), stride: 128, terms: make([]kernel.LinearTerm, 2), before: make([]float64, n), keeps: true, more: true, pods: make([]float64, n)}
			a.bind()
			for row := range n {
				a.data[row], a.data[128+row], a.before[row], a.pods[row] = specials[row], x, x, float64(row%3)
			}
			for k := range a.terms {
				a.terms[k].Factor, a.terms[k].Absent = float64(i%5-2), float64(i%2)
			}
			for _, over := range []float64{1, 3} {
				for _, unit := range []float64{1, 1000} {
					a.over, a.unit = over, unit
					a.check(t, acc, x)
					copy(a.before, specials)
					a.keeps, a.more = !a.keeps, a.keeps
					a.check(t, acc, x)
				}
			}
		}
	})
}

func FuzzLinear(f *testing.F) {
	for _, terms := range []uint8{0, 1, 8, 33} {
		f.Add(testkit.BytesOf(testkit.Specials()), terms, uint8(100), terms)
	}
	f.Fuzz(func(t *testing.T, data []byte, terms, rows, kind uint8) {
		stride := (int(rows) + 63) / 64 * 64
		a := sums{
			data: testkit.Matrix(stride, 3), stride: stride, terms: make([]kernel.LinearTerm, terms%40),
			before: make([]float64, rows), pods: make([]float64, rows),
		}
		a.fill(testkit.Rand(uint64(kind)))
		testkit.FloatsOf(a.data, data)
		testkit.FloatsOf(a.before, data[len(data)/2:])
		testkit.EachImpl(t, func(t *testing.T) {
			a.check(t, make([]float64, rows), kind)
		})
	})
}
