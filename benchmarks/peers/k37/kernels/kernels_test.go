// Package kernels compares the kernels of package vector with gonum's and vek's.
package kernels

import (
	"fmt"
	"math"
	"testing"

	"github.com/viterin/vek"
	"gonum.org/v1/gonum/floats"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/vector"
)

// columns is a matrix of whole numbers, and the same numbers as gonum and vek take
// them: by column, and by row.
type columns struct {
	matrix  *vector.Matrix
	columns [][]float64
	rows    [][]float64
}

func newColumns(r peer.Random, rows, cols int, amount func() float64) *columns {
	schema := make([]vector.SchemaColumn, cols)
	for j := range schema {
		schema[j] = vector.SchemaColumn{Name: fmt.Sprint("resource-", j), Integral: true}
	}
	c := &columns{matrix: vector.NewMatrix(vector.NewSchema(schema), rows, cols)}
	for j := range cols {
		column := make([]float64, rows)
		for i := range column {
			column[i] = amount()
		}
		c.columns = append(c.columns, column)
		c.matrix.SetColumn(j, 0, column)
	}
	for i := range rows {
		c.rows = append(c.rows, c.matrix.Row(nil, i))
	}
	return c
}

// small amounts have sums and products that are exact in any order.
func small(r peer.Random) func() float64 { return func() float64 { return float64(r.IntN(1 << 20)) } }

// close reports whether two sums of so many terms, with the given sum of magnitudes,
// differ by rounding only.
func close(x, y, magnitudes float64, terms int) bool {
	return math.Abs(x-y) <= float64(terms)*0x1p-52*magnitudes
}

// TestKernels: whatever the length and the amounts, gonum, vek and this library agree
// within the rounding of their own order of additions.
func TestKernels(t *testing.T) {
	peer.Cases(t, func(r peer.Random) error {
		rows, cols := 1+r.IntN(200), 1+r.IntN(9)
		amount := small(r)
		if r.Chance(50) {
			amount = func() float64 { return (r.Float64() - 0.5) * math.Ldexp(1, r.IntN(60)) }
		}
		c := newColumns(r, rows, cols, amount)
		weights, limit := make(vector.ResourceVector, cols), make(vector.ResourceVector, cols)
		for j := range weights {
			weights[j], limit[j] = float64(r.IntN(4)), c.columns[j][r.IntN(rows)]
		}

		sums := vector.SumColumns(nil, c.matrix, nil)
		largest, least := vector.MaxColumns(nil, c.matrix, nil), vector.MinColumns(nil, c.matrix, nil)
		for j, column := range c.columns {
			magnitudes := floats.Norm(column, 1)
			for name, sum := range map[string]float64{"floats.Sum": floats.Sum(column), "vek.Sum": vek.Sum(column)} {
				if !close(sums[j], sum, magnitudes, rows) {
					return fmt.Errorf("%s: %v, SumColumns %v", name, sum, sums[j])
				}
			}
			if got := [4]float64{floats.Max(column), vek.Max(column), floats.Min(column), vek.Min(column)}; got != [4]float64{largest[j], largest[j], least[j], least[j]} {
				return fmt.Errorf("floats.Max, vek.Max, floats.Min, vek.Min: %v, MaxColumns %v, MinColumns %v", got, largest[j], least[j])
			}
		}

		weighted := make([]float64, rows)
		vector.WeightedSum(weighted, c.matrix, weights)
		scaled := make([]float64, rows)
		addScaled(scaled, c.columns, weights)
		for i, row := range c.rows {
			magnitudes := 0.0
			for j, x := range row {
				magnitudes += math.Abs(x * weights[j])
			}
			for name, sum := range map[string]float64{"floats.Dot": floats.Dot(row, weights), "vek.Dot": vek.Dot(row, weights), "floats.AddScaled": scaled[i]} {
				if !close(weighted[i], sum, magnitudes, cols) {
					return fmt.Errorf("row %d: %s %v, WeightedSum %v", i, name, sum, weighted[i])
				}
			}
		}

		// One column: which rows have at least so much.
		j := r.IntN(cols)
		request := make(vector.ResourceVector, cols)
		request[j] = limit[j]
		fits := vector.NewMask(rows)
		vector.Fit(fits, c.matrix, request)
		for i, atLeast := range vek.GteNumber(c.columns[j], limit[j]) {
			// An amount that is not positive is not requested.
			if want := atLeast || limit[j] <= 0; fits.Test(i) != want {
				return fmt.Errorf("vek.GteNumber(%v, %v): %v, Fit %v", c.columns[j][i], limit[j], atLeast, fits.Test(i))
			}
		}
		return nil
	})
}

func addScaled(dst []float64, columns [][]float64, weights []float64) {
	clear(dst)
	for j, column := range columns {
		floats.AddScaled(dst, weights[j], column)
	}
}

func mulAdd(dst, product []float64, columns [][]float64, weights []float64) {
	clear(dst)
	for j, column := range columns {
		vek.Add_Inplace(dst, vek.MulNumber_Into(product, column, weights[j]))
	}
}

// Remarks about what only this side does.
const (
	ordered = "exact in any order"
	first   = "first such row; NaN ignored"
)

// BenchmarkKernels: numbers whose sums are exact, so that all answers are the same.
func BenchmarkKernels(b *testing.B) {
	const rows, cols, questions = 5000, 8, 16
	r := peer.NewRandom(1)
	// A question is another table, so that all read the same amount of memory.
	var one, wide [questions]*columns
	for k := range questions {
		one[k], wide[k] = newColumns(r, rows, 1, small(r)), newColumns(r, rows, cols, small(r))
	}
	weights := make(vector.ResourceVector, cols)
	for j := range weights {
		weights[j] = float64(1 + r.IntN(9))
	}
	request := vector.ResourceVector{1 << 19}

	var their, our float64
	dst := make(vector.ResourceVector, 1)
	theirs, ours, product := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	bools, mask := make([]bool, rows), vector.NewMask(rows)
	sameNumber := func(int) error {
		if their != our {
			return fmt.Errorf("%v here, %v there", our, their)
		}
		return nil
	}
	sameNumbers := func(int) error {
		if !floats.Equal(theirs, ours) {
			return fmt.Errorf("%v here, %v there", ours, theirs)
		}
		return nil
	}
	gonum := peer.Row{Peer: "gonum", Module: "gonum.org/v1/gonum", Questions: questions, Goal: 1}
	vekRow := peer.Row{Peer: "vek", Module: "github.com/viterin/vek", Questions: questions, Goal: 1}

	for _, c := range []struct {
		row            peer.Row
		function, ours string
		work           string
		remark         string
		their, our     func(k int)
		same           func(k int) error
	}{
		{
			row: gonum, function: "floats.Sum", ours: "SumColumns", work: "1 column of 5,000", remark: ordered,
			their: func(k int) { their = floats.Sum(one[k].columns[0]) },
			our:   func(k int) { our = vector.SumColumns(dst, one[k].matrix, nil)[0] },
			same:  sameNumber,
		},
		{
			row: vekRow, function: "Sum", ours: "SumColumns", work: "1 column of 5,000", remark: ordered,
			their: func(k int) { their = vek.Sum(one[k].columns[0]) },
			our:   func(k int) { our = vector.SumColumns(dst, one[k].matrix, nil)[0] },
			same:  sameNumber,
		},
		{
			row: gonum, function: "floats.Max", ours: "MaxColumns", work: "1 column of 5,000", remark: first,
			their: func(k int) { their = floats.Max(one[k].columns[0]) },
			our:   func(k int) { our = vector.MaxColumns(dst, one[k].matrix, nil)[0] },
			same:  sameNumber,
		},
		{
			row: vekRow, function: "Max", ours: "MaxColumns", work: "1 column of 5,000", remark: first,
			their: func(k int) { their = vek.Max(one[k].columns[0]) },
			our:   func(k int) { our = vector.MaxColumns(dst, one[k].matrix, nil)[0] },
			same:  sameNumber,
		},
		{
			row: gonum, function: "floats.Dot", ours: "WeightedSum", work: "5,000 rows of 8", remark: "a call for each row",
			their: func(k int) {
				for i, row := range wide[k].rows {
					theirs[i] = floats.Dot(row, weights)
				}
			},
			our:  func(k int) { vector.WeightedSum(ours, wide[k].matrix, weights) },
			same: sameNumbers,
		},
		{
			row: vekRow, function: "Dot", ours: "WeightedSum", work: "5,000 rows of 8", remark: "a call for each row",
			their: func(k int) {
				for i, row := range wide[k].rows {
					theirs[i] = vek.Dot(row, weights)
				}
			},
			our:  func(k int) { vector.WeightedSum(ours, wide[k].matrix, weights) },
			same: sameNumbers,
		},
		{
			row: gonum, function: "floats.AddScaled", ours: "WeightedSum", work: "8 columns of 5,000", remark: "a call for each column",
			their: func(k int) { addScaled(theirs, wide[k].columns, weights) },
			our:   func(k int) { vector.WeightedSum(ours, wide[k].matrix, weights) },
			same:  sameNumbers,
		},
		{
			row: vekRow, function: "MulNumber_Into, Add_Inplace", ours: "WeightedSum", work: "8 columns of 5,000", remark: "two calls for each column",
			their: func(k int) { mulAdd(theirs, product, wide[k].columns, weights) },
			our:   func(k int) { vector.WeightedSum(ours, wide[k].matrix, weights) },
			same:  sameNumbers,
		},
		{
			row: vekRow, function: "GteNumber_Into", ours: "Fit", work: "1 column of 5,000", remark: "bytes there, bits here",
			their: func(k int) { vek.GteNumber_Into(bools, one[k].columns[0], request[0]) },
			our:   func(k int) { vector.Fit(mask, one[k].matrix, request) },
			same: func(int) error {
				for i, fits := range bools {
					if mask.Test(i) != fits {
						return fmt.Errorf("row %d: %v here", i, mask.Test(i))
					}
				}
				return nil
			},
		},
	} {
		b.Run(c.row.Peer+"/"+c.function, func(b *testing.B) {
			row := c.row
			row.Function, row.Ours, row.Work, row.Remark = c.function, c.ours, c.work, c.remark
			row.Their, row.Our, row.Same = c.their, c.our, c.same
			row.Bench(b)
		})
	}
}
