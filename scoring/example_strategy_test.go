package scoring_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// exampleCluster returns a map and the amounts of two nodes with 64 cores and 8
// GPUs each, of which node a has half in use.
func exampleCluster() (m *vectormap.ResourceVectorMap, used, allocatable *vector.Matrix) {
	m, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	used, allocatable = m.NewMatrix(2), m.NewMatrix(2)
	used.SetRow(0, examplePod(m, 32000, 4))
	for row := range 2 {
		allocatable.SetRow(row, examplePod(m, 64000, 8))
	}
	return m, used, allocatable
}

// examplePod returns amounts of cpu and GPUs.
func examplePod(m *vectormap.ResourceVectorMap, cpu, gpus float64) vector.ResourceVector {
	v := m.NewVector()
	for name, x := range map[string]float64{"cpu": cpu, "nvidia.com/gpu": gpus} {
		i, _ := m.Index(name)
		v[i] = x
	}
	return v
}

func ExampleStrategyFit() {
	m, used, allocatable := exampleCluster()
	fit, err := scoring.CompileStrategyFit(scoring.StrategyFitConfig{
		Resources: map[string]scoring.FitRule{
			"nvidia.com/*": {Type: scoring.MostAllocated, Weight: 2}, // fill up nodes with GPUs
			"cpu":          {Type: scoring.LeastAllocated, Weight: 1},
		},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	scores := make([]float64, 2)
	if err := fit.ScoreBatch(scores, examplePod(m, 8000, 2), used, allocatable, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f, best is row %d\n", scores, vector.ArgMax(scores, nil, vector.TieLowest()))
	// Output: [625.00 458.33], best is row 0
}

func ExampleStrategyFit_Explain() {
	m, used, allocatable := exampleCluster()
	fit, err := scoring.CompileStrategyFit(scoring.StrategyFitConfig{}, m) // the defaults
	if err != nil {
		log.Fatal(err)
	}
	e, err := fit.Explain(examplePod(m, 8000, 2), used.Row(nil, 0), allocatable.Row(nil, 0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Total)
	for _, d := range e.Terms[0].Dims {
		fmt.Println(d.Name, d.Type, d.Contribution, d.Status)
	}
	// Output:
	// 375
	// cpu LeastAllocated 375 Scored
	// memory LeastAllocated 0 NotRequested
	// gpu  0 NotConfigured
}

// Volcano's plugin binpack scores 100 * weight * sum((U + q) * w / A) / sum(w).
// A strategy fit whose rules are all MostAllocated gives the same.
func ExampleStrategyFit_binpack() {
	m, used, allocatable := exampleCluster()
	weight, weights := int64(1), map[string]int64{"cpu": 1, "nvidia.com/gpu": 2}
	cfg := scoring.StrategyFitConfig{Weight: &weight, Resources: map[string]scoring.FitRule{}}
	for name, w := range weights {
		cfg.Resources[name] = scoring.FitRule{Type: scoring.MostAllocated, Weight: w}
	}
	fit, err := scoring.CompileStrategyFit(cfg, m)
	if err != nil {
		log.Fatal(err)
	}
	request := examplePod(m, 8000, 2)
	scores := make([]float64, 2)
	if err := fit.ScoreBatch(scores, request, used, allocatable, nil); err != nil {
		log.Fatal(err)
	}
	for row, score := range scores {
		sum, total := 0.0, 0.0
		for name, w := range weights {
			i, _ := m.Index(name)
			sum += (used.At(row, i) + request[i]) * float64(w) / allocatable.At(row, i)
			total += float64(w)
		}
		fmt.Printf("fit %.8f binpack %.8f\n", score, 100*float64(weight)*sum/total)
	}
	// Output:
	// fit 70.83333333 binpack 70.83333333
	// fit 20.83333333 binpack 20.83333333
}

// A job whose master needs cpu only and whose workers need GPUs spreads the
// master and packs the workers, by annotations of its pods.
func ExampleStrategyFit_WithOverride() {
	m, used, allocatable := exampleCluster()
	fit, err := scoring.CompileStrategyFit(scoring.StrategyFitConfig{}, m)
	if err != nil {
		log.Fatal(err)
	}
	for _, pod := range []struct {
		name, kind, weights string
		request             vector.ResourceVector
	}{
		{"master", "LeastAllocated", `{"cpu":1}`, examplePod(m, 8000, 0)},
		{"worker", "MostAllocated", `{"nvidia.com/gpu":1}`, examplePod(m, 8000, 2)},
	} {
		override, err := scoring.ParsePodOverride(map[string]string{
			"volcano.sh/resource-strategy-scoring-type": pod.kind,
			"volcano.sh/resource-strategy-weight":       pod.weights,
		}, m)
		if err != nil {
			log.Fatal(err)
		}
		scores := make([]float64, 2)
		if err := fit.WithOverride(override).ScoreBatch(scores, pod.request, used, allocatable, nil); err != nil {
			log.Fatal(err)
		}
		fmt.Println(pod.name, scores, "best is row", vector.ArgMax(scores, nil, vector.TieLowest()))
	}
	// Output:
	// master [375 875] best is row 1
	// worker [750 250] best is row 0
}

func ExampleSRA() {
	m, used, allocatable := exampleCluster()
	allocatable.AppendRow(examplePod(m, 64000, 0)) // a node without GPUs
	used.AppendRow(nil)
	sra, err := scoring.CompileSRA(scoring.SRAConfig{Weight: 10, Resources: []string{"nvidia.com/gpu"}}, m)
	if err != nil {
		log.Fatal(err)
	}
	base := make([]float64, 3)
	if err := sra.Base(base, allocatable, nil); err != nil { // once, until a node changes
		log.Fatal(err)
	}
	scores := make([]float64, 3)
	for _, gpus := range []float64{0, 1} {
		if err := sra.ScoreFromBase(scores, examplePod(m, 8000, gpus), base, allocatable, nil); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("a pod with %v GPUs: %v\n", gpus, scores)
	}
	// Output:
	// a pod with 0 GPUs: [0 0 1000]
	// a pod with 1 GPUs: [0 0 0]
}

func ExampleProportional() {
	m, used, allocatable := exampleCluster()
	p, err := scoring.CompileProportional(scoring.ProportionalConfig{
		Resources:  []string{"nvidia.com/gpu"},
		Proportion: map[string]float64{"nvidia.com/gpu.cpu": 6, "nvidia.com/gpu.memory": 0},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	var rows vector.Mask
	request := examplePod(m, 10000, 0)
	if err := p.FilterBatch(&rows, request, used, allocatable, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println("nodes that pass:", rows.Count())
	result, err := p.Check(request, used.Row(nil, 0), allocatable.Row(nil, 0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("row 0: %s for idle %s: needed %v, left %v\n", m.Name(result.Secondary), m.Name(result.Primary), result.Needed, result.Left)
	// Output:
	// nodes that pass: 1
	// row 0: cpu for idle gpu: needed 24000, left 22000
}

// A whole decision: which nodes fit, how good each is, and the best of them.
func ExampleStrategy() {
	m, used, allocatable := exampleCluster()
	strategy, err := scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: map[string]scoring.FitRule{
			"nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 2},
			"cpu":            {Type: scoring.LeastAllocated, Weight: 1},
		}},
		SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{"nvidia.com/gpu"}},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	allocatable.AppendRow(examplePod(m, 64000, 0)) // a node without GPUs
	used.AppendRow(examplePod(m, 16000, 0))
	free := new(vector.Matrix)
	free.CopyFrom(allocatable)
	for row := range free.Rows() {
		if err := free.SubRow(row, used.Row(nil, row)); err != nil {
			log.Fatal(err)
		}
	}
	base, scores := make([]float64, 3), make([]float64, 3)
	if err := strategy.SRA().Base(base, allocatable, nil); err != nil {
		log.Fatal(err)
	}
	var rows vector.Mask
	for _, gpus := range []float64{0, 1} {
		request := examplePod(m, 8000, gpus)
		vector.Fit(&rows, free, request)
		clear(scores)
		if err := strategy.ScoreFromBase(scores, request, base, used, allocatable, &rows); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("a pod with %v GPUs: %.2f, best is row %d\n", gpus, scores, vector.ArgMax(scores, &rows, vector.TieLowest()))
	}
	// Output:
	// a pod with 0 GPUs: [375.00 875.00 1625.00], best is row 2
	// a pod with 1 GPUs: [541.67 375.00 0.00], best is row 0
}
