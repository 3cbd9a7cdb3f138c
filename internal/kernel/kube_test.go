package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// kubeTypes are the formulas by name.
var kubeTypes = []struct {
	name string
	kernel.KubeType
}{
	{"Least", kernel.KubeLeast}, {"Most", kernel.KubeMost}, {"Ratio", kernel.KubeRatio}, {"Balanced", kernel.KubeBalanced},
}

// kubeCase is the arguments of a kube kernel but for dst.
type kubeCase struct {
	entries []kernel.KubeEntry
	table   kernel.KubeTable
	rows    []uint64
	want    []int64
}

// newKubeCase returns a case whose columns are cut out of buffers, filled with
// amounts that make every branch likely.
func newKubeCase(r *rand.Rand, rows, cols int, column func(n int) []float64) kubeCase {
	stride := (rows + 63) / 64 * 64
	c := kubeCase{want: make([]int64, rows)}
	data := column(2 * stride * cols)
	for k := range cols {
		c.entries = append(c.entries, kernel.KubeEntry{
			Used: data[2*k*stride:][:rows], Allocatable: data[(2*k+1)*stride:][:rows],
			Weight: float64(1 + r.IntN(100)), Scale: [...]float64{1, 1, 1, 1000}[r.IntN(4)],
		})
		fillKube(r, &c.entries[k])
	}
	for v := range 101 {
		c.table[v] = uint8(min(r.IntN(120), 100))
		if r.IntN(3) == 0 {
			c.table[v] = 0
		}
	}
	if r.IntN(4) > 0 {
		c.keep(r)
	}
	if r.IntN(4) > 0 {
		c.rows = make([]uint64, (rows+63)/64)
		testkit.FillMask(r, c.rows)
		testkit.TrimMask(c.rows, rows)
	}
	return c
}

// keep gives reciprocals to the entries that may have them, which it makes of most
// entries of scale 1.
func (c *kubeCase) keep(r *rand.Rand) {
	for k := range c.entries {
		e := &c.entries[k]
		if e.Scale != 1 {
			continue
		}
		if r.IntN(4) > 0 {
			for i, a := range e.Allocatable {
				if !(a >= 0 && a <= 1<<44) {
					e.Allocatable[i] = float64(r.Int64N(1<<44+1) >> r.IntN(45))
				} else {
					e.Allocatable[i] = math.Floor(a)
				}
			}
		}
		reciprocals := testkit.Matrix((len(e.Allocatable)+63)/64*64, 1)[:len(e.Allocatable)]
		if kernel.Reciprocals(reciprocals, e.Allocatable) {
			e.Reciprocals = reciprocals
		}
	}
}

// fillKube overwrites the amounts of an entry: small ones, ones of up to 2^46
// around every whole percentage, ones of up to 2^63, fractions and bad ones.
func fillKube(r *rand.Rand, e *kernel.KubeEntry) {
	e.Request = float64(r.Int64N(1<<46) >> r.IntN(47))
	if r.IntN(16) == 0 {
		e.Request = math.Ldexp(r.Float64(), 40+r.IntN(25))
		e.Request = math.Floor(e.Request)
	}
	specials := testkit.Specials()
	for i := range e.Used {
		most := int64(1) << 46
		if r.IntN(32) == 0 {
			most = math.MaxInt64
		}
		a := r.Int64N(most) >> r.IntN(47)
		u := a - int64(min(e.Request, 1<<62)) - a/100*r.Int64N(101) - a%100*r.Int64N(101)/100 + r.Int64N(3) - 1
		if u < 0 {
			u = r.Int64N(a + 2)
		}
		e.Allocatable[i], e.Used[i] = float64(a)*e.Scale, float64(u)*e.Scale
		switch r.IntN(64) {
		case 0:
			e.Used[i] = specials[r.IntN(len(specials))]
		case 1:
			e.Allocatable[i] = specials[r.IntN(len(specials))]
		case 2, 3, 4, 5, 6, 7:
			e.Allocatable[i] = 0
		case 8, 9, 10:
			e.Used[i] -= r.Float64()
		case 11, 12, 13:
			e.Allocatable[i] += r.Float64()
		}
	}
}

// golden sets want for a formula.
func (c *kubeCase) golden(t kernel.KubeType) {
	amounts := make([]testkit.KubeAmounts, len(c.entries))
	for row := range c.want {
		for k, e := range c.entries {
			amounts[k] = testkit.KubeAmounts{
				Used: e.Used[row], Allocatable: e.Allocatable[row],
				Request: e.Request, Weight: int64(e.Weight), Scale: e.Scale,
			}
		}
		c.want[row] = testkit.KubeScore(t, amounts, func(v int64) int64 { return int64(c.table[v]) })
	}
}

// check runs both kernels of a formula and compares the selected rows; the
// others must stay as they are.
func (c *kubeCase) check(t *testing.T, formula kernel.KubeType, floats []float64, ints []int64) {
	t.Helper()
	for i := range floats {
		floats[i], ints[i] = -7, -7
	}
	kernel.Kube(floats, formula, c.entries, &c.table, c.rows)
	kernel.Kube(ints, formula, c.entries, &c.table, c.rows)
	for row, want := range c.want {
		if c.rows != nil && c.rows[row/64]>>(row%64)&1 == 0 {
			want = -7
		}
		if ints[row] != want || floats[row] != float64(want) {
			t.Fatalf("%d rows, row %d: got %d and %v, want %d: %s", len(floats), row, ints[row], floats[row], want, c.describe(row))
		}
	}
}

func (c *kubeCase) describe(row int) string {
	s := ""
	for _, e := range c.entries {
		s += fmt.Sprintf("\n%v + %v of %v, weight %v, scale %v", e.Used[row], e.Request, e.Allocatable[row], e.Weight, e.Scale)
	}
	return s
}

// TestKube holds every formula against its golden model, for all numbers of
// rows and of entries, between pages that fault.
func TestKube(t *testing.T) {
	shapes := []ratioShape{{testkit.Amount(t, 577, 1089, 5000), 8}, {testkit.Amount(t, 513, 4097, 4097), 1}, {300, 32}, {300, 33}, {300, 40}}
	for rows := 0; rows < 130; rows += testkit.Amount(t, 3, 1, 1) {
		shapes = append(shapes, ratioShape{rows, rows % 5})
	}
	for cols := 0; cols < 33; cols += testkit.Amount(t, 3, 1, 1) {
		shapes = append(shapes, ratioShape{71, cols})
	}
	for _, formula := range kubeTypes {
		t.Run(formula.name, func(t *testing.T) {
			testkit.EachImpl(t, func(t *testing.T) {
				r := testkit.Rand(7)
				for _, front := range []bool{false, true} {
					column := guardedSlices[float64](t, front, 1<<17)
					floats, ints := guardedSlices[float64](t, front, 5000), guardedSlices[int64](t, front, 5000)
					for _, shape := range shapes {
						c := newKubeCase(r, shape.rows, shape.cols, column)
						c.golden(formula.KubeType)
						c.check(t, formula.KubeType, floats(shape.rows), ints(shape.rows))
					}
				}
			})
		})
	}
}

// TestKubeSpecials pairs every special value with every other.
func TestKubeSpecials(t *testing.T) {
	specials := testkit.Specials()
	stride := (len(specials) + 63) / 64 * 64
	data := testkit.Matrix(stride, 4)
	c := kubeCase{want: make([]int64, len(specials))}
	for k := range 2 {
		c.entries = append(c.entries, kernel.KubeEntry{
			Used: data[2*k*stride:][:len(specials)], Allocatable: data[(2*k+1)*stride:][:len(specials)], Weight: float64(k + 1), Scale: 1,
		})
	}
	for v := range 101 {
		c.table[v] = uint8(100 - v)
	}
	floats, ints := make([]float64, len(specials)), make([]int64, len(specials))
	testkit.EachImpl(t, func(t *testing.T) {
		for _, scale := range []float64{1, 1000} {
			for i, x := range specials {
				c.entries[0].Scale, c.entries[1].Request = scale, float64(i%3)
				for row := range specials {
					c.entries[0].Used[row], c.entries[0].Allocatable[row] = x, specials[row]
					c.entries[1].Used[row], c.entries[1].Allocatable[row] = 3, 7
				}
				for _, formula := range kubeTypes {
					c.golden(formula.KubeType)
					c.check(t, formula.KubeType, floats, ints)
				}
			}
		}
	})
}

// TestKubeWholePercentages has nodes with reciprocals at and around whole
// percentages, most of them with as much as there may be.
func TestKubeWholePercentages(t *testing.T) {
	const rows = 2048
	columns := testkit.Matrix(rows, 3)
	e := kernel.KubeEntry{
		Used: columns[:rows], Allocatable: columns[rows:][:rows], Reciprocals: columns[2*rows:][:rows], Weight: 1, Scale: 1,
	}
	floats, ints := make([]float64, rows), make([]int64, rows)
	r := testkit.Rand(10)
	for round := range testkit.Amount(t, 5, 50, 500) {
		e.Request = float64(r.IntN(3))
		for i := range rows {
			a := 1<<44 - r.Int64N(1000)
			if round%2 == 1 {
				a = 1 + r.Int64N(1<<44)>>r.IntN(44)
			}
			percent := r.Int64N(102)
			e.Allocatable[i] = float64(a)
			e.Used[i] = float64(max(a/100*percent+(a%100*percent+99)/100-int64(e.Request)-r.Int64N(2), 0))
		}
		if !kernel.Reciprocals(e.Reciprocals, e.Allocatable) {
			t.Fatal("not whole")
		}
		c := kubeCase{entries: []kernel.KubeEntry{e}, want: make([]int64, rows)}
		for v := range 101 {
			c.table[v] = uint8(100 - v)
		}
		for _, formula := range kubeTypes {
			c.golden(formula.KubeType)
			testkit.EachImpl(t, func(t *testing.T) { c.check(t, formula.KubeType, floats, ints) })
		}
	}
}

// TestKubeSteps checks the integer steps where the product takes 128 bits.
func TestKubeSteps(t *testing.T) {
	for _, test := range []struct{ requested, capacity, least, most int64 }{
		{0, 0, 0, 0},
		{5, 0, 0, 0},
		{5, -1, 0, 0},
		{-5, 10, 100, 0},
		{0, 10, 100, 0},
		{1, 3, 66, 33},
		{10, 10, 0, 100},
		{11, 10, 0, 100},
		{1, 1 << 57, 99, 0},
		{1<<57 - 1, 1 << 57, 0, 99},
		{1396115884484854, 4503599627370497, 69, 30},
		{math.MaxInt64 - 1, math.MaxInt64, 0, 99},
		{math.MaxInt64, math.MaxInt64, 0, 100},
		{1, math.MaxInt64, 99, 0},
		{math.MinInt64, math.MaxInt64, 100, 0},
	} {
		if got := kernel.KubeLeastStep(test.requested, test.capacity); got != test.least {
			t.Errorf("least of %d, %d: %d, want %d", test.requested, test.capacity, got, test.least)
		}
		if got := kernel.KubeMostStep(test.requested, test.capacity); got != test.most {
			t.Errorf("most of %d, %d: %d, want %d", test.requested, test.capacity, got, test.most)
		}
	}
}

func FuzzKube(f *testing.F) {
	for _, cols := range []uint8{0, 1, 2, 3, 8, 33} {
		f.Add(testkit.BytesOf(testkit.Specials()), uint64(cols), cols, uint8(100))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, cols, rows uint8) {
		c := newKubeCase(testkit.Rand(seed), int(rows), int(cols%40), func(n int) []float64 {
			return testkit.Matrix((n+63)/64*64, 1)[:n]
		})
		for k := range c.entries {
			if k%2 == 0 {
				testkit.FloatsOf(c.entries[k].Used, data)
				testkit.FloatsOf(c.entries[k].Allocatable, data[len(data)/2:])
				c.entries[k].Reciprocals = nil
			}
		}
		c.keep(testkit.Rand(seed))
		floats, ints := make([]float64, rows), make([]int64, rows)
		for _, formula := range kubeTypes {
			c.golden(formula.KubeType)
			testkit.EachImpl(t, func(t *testing.T) { c.check(t, formula.KubeType, floats, ints) })
		}
	})
}
