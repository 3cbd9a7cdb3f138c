//go:build amd64 && !purego && race

package kernel_test

import (
	"strings"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// raceStrategies runs the strategy kernels over 100 rows of 128, every other one
// of which is selected.
func raceStrategies() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, k := range scoreKernels {
		s := &strategy{
			stride: stride, cols: 2, numbers: []float64{1, 1}, least: []bool{true, false}, base: make([]float64, stride),
			used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), reciprocals: testkit.Matrix(stride, 2),
			rows: []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)},
		}
		dst := make([]float64, stride)
		run := func() { k.run(dst[:rows], s) }
		cases = append(cases,
			raceCase{k.name + " allocatable", run, func() { s.allocatable[rows-1] = 1 }, true},
			raceCase{k.name + " dst", run, func() { dst[rows-2] = 1 }, true},
			raceCase{k.name + " reciprocals", run, func() { s.reciprocals[rows-1] = 1 }, strings.HasPrefix(k.name, "Strategy")},
			raceCase{k.name + " others", run, func() { s.allocatable[rows], s.used[rows], s.base[rows-1], dst[rows-1] = 1, 1, 1, 1 }, false})
	}
	s := &strategy{
		stride: stride, cols: 2, numbers: []float64{1, 1}, least: []bool{true, false}, base: make([]float64, stride),
		used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), reciprocals: testkit.Matrix(stride, 2),
		rows: []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)},
	}
	peaks := make([]float64, 3)
	find := func() {
		terms, weights := s.terms(rows)
		kernel.StrategyPeaks(peaks, rows, terms, weights, testPoints, s.base[:rows], s.rows)
	}
	cases = append(cases,
		raceCase{"StrategyPeaks used", find, func() { s.used[rows-1] = 1 }, true},
		raceCase{"StrategyPeaks reciprocals", find, func() { s.reciprocals[rows-1] = 1 }, true},
		raceCase{"StrategyPeaks base", find, func() { s.base[rows-2] = 1 }, true},
		raceCase{"StrategyPeaks dst", find, func() { peaks[1] = 1 }, true},
		raceCase{"StrategyPeaks others", find, func() { s.used[rows], s.base[rows-1], peaks[2] = 1, 1, 1 }, false})
	columns := func() []float64 { return testkit.Matrix(stride, 1)[:rows] }
	rule := &kernel.ReserveRule{
		Primary: columns(), PrimaryUsed: columns(), Secondary: columns(), SecondaryUsed: columns(), PerUnit: 1, Scale: 1,
	}
	dst := []uint64{1, 1, 1}
	run := func() { kernel.AndReserve(dst[:2], rule) }
	return append(cases,
		raceCase{"AndReserve primary", run, func() { rule.Primary[rows-1] = 1 }, true},
		raceCase{"AndReserve secondary used", run, func() { rule.SecondaryUsed[0] = 1 }, true},
		raceCase{"AndReserve dst", run, func() { dst[1] = 1 }, true},
		raceCase{"AndReserve others", run, func() { dst[2] = 1 }, false})
}
