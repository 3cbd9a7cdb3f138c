package scoring_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// exampleCluster returns a map and two nodes with 64 cores and 8 GPUs each, of which
// node a has half in use.
func exampleCluster() (m *vectormap.ResourceVectorMap, nodes *vector.Nodes) {
	m, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	nodes = m.NewNodes()
	setNode(nodes, "a", examplePod(m, 64000, 8), examplePod(m, 32000, 4))
	setNode(nodes, "b", examplePod(m, 64000, 8), nil)
	return m, nodes
}

func setNode(nodes *vector.Nodes, name string, allocatable, requested vector.ResourceVector) {
	if _, _, err := nodes.Set(name, 1, vector.NodeAmounts{Allocatable: allocatable, Requested: requested}); err != nil {
		log.Fatal(err)
	}
}

// printScores prints the scores of all nodes, and the best of those that can hold a pod.
func printScores(what string, scores *scoring.Bound, nodes *vector.Nodes, request vector.ResourceVector) {
	pod, list := vector.PodAmounts{Requested: request}, make([]float64, nodes.Len())
	if err := scores.Score(list, pod, nil); err != nil {
		log.Fatal(err)
	}
	row, _ := scores.Best(pod, nil, vector.TieLowest())
	fmt.Printf("%s: %.2f, best is %s\n", what, list, nodes.Name(row))
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

func ExampleCompileStrategy() {
	m, nodes := exampleCluster()
	fit, err := scoring.CompileStrategy(scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{
		Resources: map[string]scoring.FitRule{
			"nvidia.com/*": {Type: scoring.MostAllocated, Weight: 2}, // fill up nodes with GPUs
			"cpu":          {Type: scoring.LeastAllocated, Weight: 1},
		},
	}}, m)
	if err != nil {
		log.Fatal(err)
	}
	printScores("a pod with 2 GPUs", scoring.Bind(fit, nodes), nodes, examplePod(m, 8000, 2))
	// Output: a pod with 2 GPUs: [625.00 458.33], best is a
}

func ExampleBound_Explain() {
	m, nodes := exampleCluster()
	fit, err := scoring.CompileStrategy(scoring.StrategyConfig{}, m) // the defaults
	if err != nil {
		log.Fatal(err)
	}
	pod := vector.PodAmounts{Requested: examplePod(m, 8000, 2)}
	e, err := scoring.Bind(fit, nodes).Explain(pod, 0, nil)
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
func ExampleStrategyFitConfig_binpack() {
	m, nodes := exampleCluster()
	weight, weights := int64(1), map[string]int64{"cpu": 1, "nvidia.com/gpu": 2}
	cfg := scoring.StrategyFitConfig{Weight: &weight, Resources: map[string]scoring.FitRule{}}
	for name, w := range weights {
		cfg.Resources[name] = scoring.FitRule{Type: scoring.MostAllocated, Weight: w}
	}
	fit, err := scoring.CompileStrategy(scoring.StrategyConfig{Fit: cfg}, m)
	if err != nil {
		log.Fatal(err)
	}
	request := examplePod(m, 8000, 2)
	scores := make([]float64, 2)
	if err := scoring.Bind(fit, nodes).Score(scores, vector.PodAmounts{Requested: request}, nil); err != nil {
		log.Fatal(err)
	}
	for row, score := range scores {
		sum, total := 0.0, 0.0
		for name, w := range weights {
			i, _ := m.Index(name)
			sum += (nodes.Requested().At(row, i) + request[i]) * float64(w) / nodes.Allocatable().At(row, i)
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
func ExampleBound_WithOverride() {
	m, nodes := exampleCluster()
	fit, err := scoring.CompileStrategy(scoring.StrategyConfig{}, m)
	if err != nil {
		log.Fatal(err)
	}
	scores := scoring.Bind(fit, nodes)
	for _, pod := range []struct {
		name, kind, weights string
		request             vector.ResourceVector
	}{
		{"master", "LeastAllocated", `{"cpu":1}`, examplePod(m, 8000, 0)},
		{"worker", "MostAllocated", `{"nvidia.com/gpu":1}`, examplePod(m, 8000, 2)},
	} {
		override, _, err := scoring.ParsePodOverride(map[string]string{
			"volcano.sh/resource-strategy-scoring-type": pod.kind,
			"volcano.sh/resource-strategy-weight":       pod.weights,
		}, m)
		if err != nil {
			log.Fatal(err)
		}
		printScores(pod.name, scores.WithOverride(override), nodes, pod.request)
	}
	// Output:
	// master: [375.00 875.00], best is b
	// worker: [750.00 250.00], best is a
}

func ExampleSRAConfig() {
	m, nodes := exampleCluster()
	setNode(nodes, "without", examplePod(m, 64000, 0), nil)
	sra, err := scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: new(int64)}, // off
		SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{"nvidia.com/gpu"}},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	scores := scoring.Bind(sra, nodes)
	printScores("a pod without GPUs", scores, nodes, examplePod(m, 8000, 0))
	printScores("a pod with a GPU", scores, nodes, examplePod(m, 8000, 1))
	// Output:
	// a pod without GPUs: [0.00 0.00 1000.00], best is without
	// a pod with a GPU: [0.00 0.00 0.00], best is a
}

func ExampleProportional() {
	m, nodes := exampleCluster()
	p, err := scoring.CompileProportional(scoring.ProportionalConfig{
		Resources:  []string{"nvidia.com/gpu"},
		Proportion: map[string]float64{"nvidia.com/gpu.cpu": 6, "nvidia.com/gpu.memory": 0},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	var rows vector.Mask
	request := examplePod(m, 10000, 0)
	if err := p.Filter(&rows, nodes, request, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println("nodes that pass:", rows.Count())
	result, err := p.Check(request, nodes.Requested().Row(nil, 0), nodes.Allocatable().Row(nil, 0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("row 0: %s for idle %s: needed %v, left %v\n", m.Name(result.Secondary), m.Name(result.Primary), result.Needed, result.Left)
	// Output:
	// nodes that pass: 1
	// row 0: cpu for idle gpu: needed 24000, left 22000
}

// Whole decisions: which nodes fit, how good each is, the best of them, and what it has
// less for the next pod.
func ExampleStrategy() {
	m, nodes := exampleCluster()
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
	setNode(nodes, "without", examplePod(m, 64000, 0), examplePod(m, 16000, 0))
	scores := scoring.Bind(strategy, nodes)
	for _, gpus := range []float64{0, 1} {
		pod := vector.PodAmounts{Requested: examplePod(m, 8000, gpus)}
		row, ok := scores.Best(pod, nil, vector.TieLowest())
		if !ok {
			log.Fatal("no node can hold the pod")
		}
		if err := nodes.Assume(row, pod); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("a pod with %v GPUs goes to %s\n", gpus, nodes.Name(row))
	}
	// Output:
	// a pod with 0 GPUs goes to without
	// a pod with 1 GPUs goes to a
}
