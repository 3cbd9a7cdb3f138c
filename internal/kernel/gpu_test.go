package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// gpuKernel is a GPU kernel with its golden model for one row that fits.
type gpuKernel struct {
	name   string
	run    func(dst []float64, g *kernel.GPURows, rows []uint64)
	golden func(g *kernel.GPURows, row int) float64
}

var gpuKernels = []gpuKernel{
	{
		"GPUDotProduct", kernel.GPUDotProduct,
		func(g *kernel.GPURows, row int) float64 {
			cpu, gpu := g.CPU[row]/g.SizeCPU*g.ByCPU, g.Total[row]/g.SizeGPU*g.ByGPU
			half := (float64(cpu) + float64(gpu)) / 2
			return math.Trunc(100 * (1 - half))
		},
	},
	{
		"GPUBestFit", kernel.GPUBestFit,
		func(g *kernel.GPURows, row int) float64 {
			cpu, gpu := (g.CPU[row]-g.ByCPU)/g.SizeCPU*0.5, (g.Total[row]-g.ByGPU)/g.SizeGPU*0.5
			sum := float64(cpu) + float64(gpu)
			return math.Trunc((1 - sum) * 100)
		},
	},
	{
		"GPUClustering", kernel.GPUClustering,
		func(g *kernel.GPURows, row int) float64 {
			score := math.Trunc(25 * math.Max(0, g.SizeGPU-g.Total[row]) / g.SizeGPU)
			held := g.Classes[row]
			switch own, others := held&g.Class != 0, held&^g.Class != 0; {
			case own && !others:
				return score + 75
			case own:
				return score + 50
			case !others:
				return score + 25
			}
			return score
		},
	},
	{
		"GPUPacking", kernel.GPUPacking,
		func(g *kernel.GPURows, row int) float64 {
			var left, fitting []float64 // greatest first
			for _, column := range g.Ranks {
				if x := column[row]; x >= 0 {
					left = append(left, x)
				}
				if x := column[row]; x >= g.NeedMilli {
					fitting = append(fitting, x)
				}
			}
			n := float64(len(left))
			switch {
			case n > 0 && slices.Min(left) == 1000:
				return math.Max(33-n, n)
			case len(fitting) > 0 && slices.Min(fitting) == 1000:
				return g.Taken
			case len(fitting) == 0:
				return 100
			}
			percent := math.Trunc(slices.Min(fitting) * 100 / 1000)
			return math.Max(100-math.Trunc(percent/10), 50)
		},
	},
}

// gpuWorld returns random nodes of at most that many devices, and a mask of them, in
// some cases nil. What is left of the CPU is anything, and of the devices whole numbers,
// as the kernels ask for.
func gpuWorld(r *rand.Rand, rows, devices int) (g *kernel.GPURows, mask []uint64) {
	g = &kernel.GPURows{CPU: make([]float64, rows), Total: make([]float64, rows), Classes: make([]uint64, rows)}
	for range devices {
		g.Ranks = append(g.Ranks, make([]float64, rows))
	}
	if testkit.Fill(r, g.CPU); r.IntN(2) == 0 {
		for row := range g.CPU {
			g.CPU[row] = float64(1000 * r.IntN(128))
		}
	}
	left := make([]float64, devices)
	for row := range rows {
		for k := range left {
			left[k] = []float64{-1, 0, 1000, 1000, float64(r.IntN(1001))}[r.IntN(5)]
		}
		slices.Sort(left)
		slices.Reverse(left)
		for k, x := range left {
			g.Ranks[k][row] = x
			g.Total[row] += max(x, 0)
		}
		g.Classes[row] = []uint64{0, 1, 1 << 63, r.Uint64() & r.Uint64() & r.Uint64()}[r.IntN(4)]
	}
	g.GPUTerms = kernel.GPUTerms{
		NeedCPU: float64(1000 * r.IntN(16)), NeedMilli: float64([]int{1000, r.IntN(1000)}[r.IntN(2)]),
		SizeCPU: 128000, SizeGPU: float64(1000 * (1 + r.IntN(16))),
		ByCPU: 9 * r.Float64(), ByGPU: 9 * r.Float64(),
		Taken: float64(33 + r.IntN(17)), Class: 1 << []int{0, 1, 63}[r.IntN(3)],
	}
	g.Enough = g.Total
	if devices > 0 {
		g.Enough = g.Ranks[r.IntN(devices)]
	}
	if r.IntN(4) > 0 {
		mask = make([]uint64, (rows+63)/64)
		testkit.FillMask(r, mask)
		testkit.TrimMask(mask, rows)
	}
	return g, mask
}

// checkGPU runs every kernel, and compares selected rows with the golden model
// and other elements of dst with what they were.
func checkGPU(t *testing.T, dst []float64, g *kernel.GPURows, rows []uint64) {
	t.Helper()
	const untouched = -12345
	for _, k := range gpuKernels {
		for row := range dst {
			dst[row] = untouched
		}
		k.run(dst, g, rows)
		for row, got := range dst {
			want := 0.0
			switch {
			case rows != nil && rows[row/64]>>(row%64)&1 == 0:
				want = untouched
			case g.CPU[row] >= g.NeedCPU && g.Enough[row] >= g.NeedMilli:
				want = k.golden(g, row)
			}
			if !testkit.Same(got, want) {
				t.Fatalf("%s, %d rows of %d devices, row %d: got %v, want %v", k.name, len(dst), len(g.Ranks), row, got, want)
			}
		}
	}
}

// TestGPU holds every GPU kernel against its golden model, for all lengths and
// masks of any kind.
func TestGPU(t *testing.T) {
	r := testkit.Rand(9)
	for rows := range 130 {
		g, mask := gpuWorld(r, rows, rows%10)
		checkGPU(t, make([]float64, rows), g, mask)
	}
	for devices := range 20 {
		g, mask := gpuWorld(r, 1000+devices, devices)
		dst := make([]float64, len(g.CPU))
		checkGPU(t, dst, g, mask)
		for _, k := range gpuKernels {
			allocates(t, func() { k.run(dst, g, mask) })
		}
	}
}
