//go:build amd64 && !purego && race

package kernel_test

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// raceLoads runs the load kernels over 100 rows, one of the last 36 not selected.
func raceLoads() []raceCase {
	const stride, rows, out = 128, 100, 90
	var cases []raceCase
	for _, k := range loadKernels {
		a := loads{
			used: testkit.Matrix(stride, 2), allocatable: testkit.Matrix(stride, 2), stride: stride,
			dims:   []kernel.LoadDim{{Weight: 1}, {Weight: 1}},
			scores: [][]float64{make([]float64, stride), make([]float64, stride)}, weights: []float64{1, 1}, span: 1,
			rows: []uint64{1<<64 - 1, (1<<(rows-64) - 1) &^ (1 << (out - 64))},
		}
		dst := make([]float64, stride)
		add := func(what string, other func(), race bool) {
			cases = append(cases, raceCase{k.name + " " + what, func() { k.run(dst[:rows], &a) }, other, race})
		}
		add("dst", func() { dst[rows-1] = 1 }, true)
		add("others", func() {
			dst[rows], dst[out] = 1, 1
			a.used[stride+rows], a.allocatable[stride+rows] = 1, 1
			a.scores[0][out], a.scores[0][rows] = 1, 1
		}, false)
		switch k.name {
		case "Combine", "Rescale":
			add("scores", func() { a.scores[0][rows-1] = 1 }, true)
			continue
		case "LoadSum", "LoadGreatest", "Share":
			add("allocatable", func() { a.allocatable[stride+rows-1] = 1 }, true)
		}
		add("used", func() { a.used[stride+rows-1] = 1 }, true)
	}
	return cases
}
