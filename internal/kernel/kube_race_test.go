//go:build amd64 && !purego && race

package kernel_test

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// raceKube runs the kube kernels over 100 rows of 128, every other one of which
// is selected.
func raceKube() []raceCase {
	const stride, rows = 128, 100
	var cases []raceCase
	for _, formula := range kubeTypes {
		column := func() []float64 { return testkit.Matrix(stride, 1) }
		used, allocatable, reciprocals, dst := column(), column(), column(), make([]float64, stride)
		entries := []kernel.KubeEntry{{Used: used[:rows], Allocatable: allocatable[:rows], Reciprocals: reciprocals[:rows], Weight: 1, Scale: 1}}
		mask := []uint64{0x5555555555555555, 0x5555555555555555 >> (stride - rows)}
		table := new(kernel.KubeTable)
		run := func() { kernel.Kube(dst[:rows], formula.KubeType, entries, table, mask) }
		cases = append(cases,
			raceCase{formula.name + " used", run, func() { used[rows-2] = 1 }, true},
			raceCase{formula.name + " allocatable", run, func() { allocatable[0] = 1 }, true},
			raceCase{formula.name + " reciprocals", run, func() { reciprocals[0] = 1 }, true},
			raceCase{formula.name + " dst", run, func() { dst[rows-2] = 1 }, true},
			raceCase{formula.name + " others", run, func() { used[rows-1], allocatable[rows], dst[1], dst[rows] = 1, 1, 1, 1 }, false})
	}
	return cases
}
