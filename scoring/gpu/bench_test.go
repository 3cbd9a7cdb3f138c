package gpu_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// benchWorld is the openb cluster, some times over, 60 % full by FGD, and the
// requests of its pods.
func benchWorld(b *testing.B, times int) (nodes *vector.Nodes, gpus *gpu.State, typical *gpu.Typical) {
	typical = openbTypical(b, "derived_pod_shapes.csv")
	fgd := gpuCompile(b, gpu.CompileFGD, gpu.FGDConfig{Typical: typical})
	gpus, cpuLeft := openbCluster(b, times)
	nodes = nodesOf(cpuLeft)
	pods := openbPods(b, "derived_pod_shapes.csv")
	var trace []gpu.Request
	for _, p := range pods {
		for range p.Pods {
			trace = append(trace, gpu.Request{CPU: p.CPU, Count: p.Count, Milli: p.Milli, Models: p.Models, Amounts: vector.ResourceVector{p.CPU}})
		}
	}
	r := testkit.Rand(1)
	order := make([]int32, gpus.Rows())
	for i, row := range r.Perm(len(order)) {
		order[i] = int32(row)
	}
	bound := gpu.Bind(fgd, nodes, gpus)
	for range 4500 * times {
		req := &trace[r.IntN(len(trace))]
		row, ok := bound.Best(req, nil, vector.TieRank(order))
		if !ok {
			continue
		}
		if err := gpus.Place(row, req, bound.ChooseDevices(nil, req, row)); err != nil {
			b.Fatal(err)
		}
		if err := nodes.Assume(row, vector.PodAmounts{Requested: req.Amounts}); err != nil {
			b.Fatal(err)
		}
	}
	return nodes, gpus, typical
}

func benchScorers(b *testing.B, typical *gpu.Typical) map[string]*gpu.Scorer {
	return map[string]*gpu.Scorer{
		"FGD":        gpuCompile(b, gpu.CompileFGD, gpu.FGDConfig{Typical: typical}),
		"DotProduct": gpuCompile(b, gpu.CompileDotProduct, gpu.DotProductConfig{}),
		"BestFit":    gpuCompile(b, gpu.CompileBestFit, gpu.BestFitConfig{Raw: true}),
		"Packing":    gpu.NewPacking(gpuMap(b)),
		"Clustering": gpuCompile(b, gpu.CompileClustering, gpu.ClusteringConfig{}),
	}
}

var gpuBenchRequests = map[string]gpu.Request{
	"share": {CPU: 3152, Count: 1, Milli: 810},
	"whole": {CPU: 11900, Count: 1, Milli: 1000},
	"cpu":   {CPU: 4000},
}

// BenchmarkGPU scores rows that fit, in nanoseconds per row.
func BenchmarkGPU(b *testing.B) {
	nodes, gpus, typical := benchWorld(b, 4)
	defer gpu.KeepScores(1 << 30)()
	n := gpus.Rows()
	dst := make([]float64, n)
	for name, scorer := range benchScorers(b, typical) {
		for kind, req := range gpuBenchRequests {
			var rows vector.Mask
			bound := gpu.Bind(scorer, nodes, gpus)
			bound.Fit(&rows, &req, nil)
			list := make([]int, 0, n)
			for row := range rows.All() {
				list = append(list, row)
			}
			b.Run(fmt.Sprintf("scorer=%s/pod=%s/op=row", name, kind), func(b *testing.B) {
				i := 0
				for b.Loop() {
					if _, err := scorer.Score(&req, nodes.Free().At(list[i], 0), gpu.Node{Model: gpus.Model(list[i]), Left: gpus.Devices(list[i]), Pods: gpus.Pods(list[i])}); err != nil {
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
						if err := bound.Score(dst, &req, &rows); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/row")
				})
			})
		}
	}
}

// BenchmarkPlace places a pod and releases it.
func BenchmarkPlace(b *testing.B) {
	gpus := gpu.NewState([]gpu.Node{{Left: gpuDevices(8, 1000)}})
	req, list := gpu.Request{Count: 1, Milli: 100}, []int32{3}
	for b.Loop() {
		if gpus.Place(0, &req, list) != nil || gpus.Release(0, &req, list) != nil {
			b.Fatal("refused")
		}
	}
}
