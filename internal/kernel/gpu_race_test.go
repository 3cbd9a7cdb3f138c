//go:build amd64 && !purego && race

package kernel_test

import (
	"github.com/resvec/resvec/internal/testkit"
)

// raceGPUs runs the GPU kernels over 100 rows, one of the last 36 not selected.
func raceGPUs() []raceCase {
	const rows, out = 100, 90
	var cases []raceCase
	for _, k := range gpuKernels {
		columns := func() func(n int) []float64 {
			return func(n int) []float64 { return testkit.Matrix(128, 1)[:n] }
		}
		b := gpuBuffers{
			cpu: columns(), column: columns(), ranks: []func(n int) []float64{columns(), columns()},
			classes: func(n int) []uint64 { return make([]uint64, n) },
			rows:    func(n int) []uint64 { return make([]uint64, n) },
		}
		g, _ := b.world(testkit.Rand(1), rows, 2)
		mask := []uint64{1<<64 - 1, (1<<(rows-64) - 1) &^ (1 << (out - 64))}
		dst := make([]float64, rows+1)
		add := func(what string, other func(), race bool) {
			cases = append(cases, raceCase{k.name + " " + what, func() { k.run(dst[:rows], g, mask) }, other, race})
		}
		add("dst", func() { dst[rows-1] = 1 }, true)
		add("cpu", func() { g.CPU[rows-1] = 1 }, true)
		add("enough", func() { g.Enough[rows-1] = 1 }, true)
		add("beside", func() { dst[rows], dst[out], g.CPU[out], g.Total[out] = 1, 1, 1, 1 }, false)
		switch k.name {
		case "GPUClustering":
			add("classes", func() { g.Classes[rows-1] = 1 }, true)
		case "GPUPacking":
			add("ranks", func() { g.Ranks[0][rows-1], g.Ranks[1][rows-1] = 1, 1 }, true)
			continue
		}
		add("total", func() { g.Total[rows-1] = 1 }, true)
	}
	return cases
}
