package scoring_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// benchWorld is the openb cluster, some times over, 60 % full by FGD, and the
// requests of its pods.
func benchWorld(b *testing.B, times int) (gpus *scoring.GPUState, cpuLeft []float64, pods []scoring.TypicalPod, typical *scoring.Typical) {
	typical = openbTypical(b, "derived_pod_shapes.csv")
	fgd := gpuCompile(b, scoring.CompileFGD, scoring.FGDConfig{Typical: typical})
	gpus, cpuLeft = openbCluster(b, times)
	pods = openbPods(b, "derived_pod_shapes.csv")
	var trace []scoring.GPURequest
	for _, p := range pods {
		for range p.Pods {
			trace = append(trace, scoring.GPURequest{CPU: p.CPU, Count: p.Count, Milli: p.Milli, Models: p.Models})
		}
	}
	r := testkit.Rand(1)
	scores := make([]float64, gpus.Rows())
	order := make([]int32, gpus.Rows())
	for i, row := range r.Perm(len(order)) {
		order[i] = int32(row)
	}
	var rows vector.Mask
	for range 4500 * times {
		req := &trace[r.IntN(len(trace))]
		gpus.Fit(&rows, req, cpuLeft, nil)
		if err := fgd.ScoreBatch(scores, req, cpuLeft, gpus, &rows); err != nil {
			b.Fatal(err)
		}
		row := vector.ArgMax(scores, &rows, vector.TieRank(order))
		if row < 0 {
			continue
		}
		if err := gpus.Place(row, req, fgd.ChooseDevices(row, req, cpuLeft, gpus, nil)); err != nil {
			b.Fatal(err)
		}
		cpuLeft[row] -= req.CPU
	}
	return gpus, cpuLeft, pods, typical
}

func benchScorers(b *testing.B, typical *scoring.Typical) map[string]scoring.GPUScorer {
	return map[string]scoring.GPUScorer{
		"FGD":           gpuCompile(b, scoring.CompileFGD, scoring.FGDConfig{Typical: typical}),
		"DotProduct":    gpuCompile(b, scoring.CompileDotProduct, scoring.DotProductConfig{}),
		"BestFit":       gpuCompile(b, scoring.CompileBestFit, scoring.BestFitConfig{Raw: true}),
		"GPUPacking":    gpuCompile(b, scoring.CompileGPUPacking, scoring.GPUPackingConfig{}),
		"GPUClustering": gpuCompile(b, scoring.CompileGPUClustering, scoring.GPUClusteringConfig{}),
	}
}

var gpuBenchRequests = map[string]scoring.GPURequest{
	"share": {CPU: 3152, Count: 1, Milli: 810},
	"whole": {CPU: 11900, Count: 1, Milli: 1000},
	"cpu":   {CPU: 4000},
}

// BenchmarkGPU scores rows that fit, in nanoseconds per row.
func BenchmarkGPU(b *testing.B) {
	gpus, cpuLeft, _, typical := benchWorld(b, 4)
	n := gpus.Rows()
	dst := make([]float64, n)
	for name, scorer := range benchScorers(b, typical) {
		for kind, req := range gpuBenchRequests {
			var rows vector.Mask
			gpus.Fit(&rows, &req, cpuLeft, nil)
			list := make([]int, 0, n)
			for row := range rows.All() {
				list = append(list, row)
			}
			b.Run(fmt.Sprintf("scorer=%s/pod=%s/op=row", name, kind), func(b *testing.B) {
				i := 0
				for b.Loop() {
					if _, err := scorer.Score(list[i], &req, cpuLeft, gpus); err != nil {
						b.Fatal(err)
					}
					if i++; i == len(list) {
						i = 0
					}
				}
			})
			b.Run(fmt.Sprintf("scorer=%s/pod=%s/op=batch", name, kind), func(b *testing.B) {
				testkit.EachImplB(b, func(b *testing.B) {
					for b.Loop() {
						if err := scorer.ScoreBatch(dst, &req, cpuLeft, gpus, &rows); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/row")
				})
			})
		}
	}
}

// BenchmarkGPUPlace places a pod and releases it.
func BenchmarkGPUPlace(b *testing.B) {
	gpus := scoring.NewGPUState([]scoring.GPUNode{{Left: gpuDevices(8, 1000)}})
	req, list := scoring.GPURequest{Count: 1, Milli: 100}, []int32{3}
	for b.Loop() {
		if gpus.Place(0, &req, list) != nil || gpus.Release(0, &req, list) != nil {
			b.Fatal("refused")
		}
	}
}
