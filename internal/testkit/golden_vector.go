package testkit

import "math"

// The golden models of the column and row reductions. m is a list of rows, all
// cols long; selected says which rows count.

// All selects every row.
func All(int) bool { return true }

// ColumnSums adds the selected rows in ascending order, starting from +0.
func ColumnSums(m [][]float64, cols int, selected func(row int) bool) []float64 {
	sums := make([]float64, cols)
	for i, row := range m {
		for j, x := range row {
			if selected(i) {
				sums[j] += x
			}
		}
	}
	return sums
}

// ColumnMaxima returns the greatest selected value of each column, NaN aside;
// -Inf without one; zeros are +0.
func ColumnMaxima(m [][]float64, cols int, selected func(row int) bool) []float64 {
	return extremes(m, cols, selected, math.Inf(-1), func(a, b float64) bool { return a > b })
}

// ColumnMinima returns the least selected value of each column, NaN aside; +Inf
// without one; zeros are +0.
func ColumnMinima(m [][]float64, cols int, selected func(row int) bool) []float64 {
	return extremes(m, cols, selected, math.Inf(1), func(a, b float64) bool { return a < b })
}

func extremes(m [][]float64, cols int, selected func(row int) bool, none float64, better func(a, b float64) bool) []float64 {
	found := make([]float64, cols)
	for j := range found {
		found[j] = none
		for i, row := range m {
			if selected(i) && better(row[j], found[j]) {
				found[j] = row[j]
			}
		}
		if found[j] == 0 {
			found[j] = 0 // not -0
		}
	}
	return found
}

// WeightedRow returns the sum of row times weights over the weights that are
// not 0, in index order, starting from +0, each product rounded.
func WeightedRow(row, weights []float64) float64 {
	sum := 0.0
	for j, w := range weights {
		if w != 0 {
			product := float64(row[j] * w)
			sum += product
		}
	}
	return sum
}

// SegmentSums returns one row per group: group k is the rows offsets[k] to
// offsets[k+1]-1 of m.
func SegmentSums(m [][]float64, cols int, offsets []int32) [][]float64 {
	var sums [][]float64
	for k := 1; k < len(offsets); k++ {
		sums = append(sums, ColumnSums(m[offsets[k-1]:offsets[k]], cols, All))
	}
	return sums
}
