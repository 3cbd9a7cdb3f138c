package scoring_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// The arguments of Volcano's plugin, with two mistakes that lenient mode puts
// right.
func ExampleParseArguments() {
	const arguments = `
resourceStrategyFitWeight: 10
resources:
  nvidia.com/gpu/*: {type: MostAllocated, weight: 2}
  cpu: {type: LeastAllocated, weight: 1.5}
  "*": {type: MostAllocated}
sra:
  enable: true
  resources: nvidia.com/t4, nvidia.com/a10
  weight: 3
  resourceWeight: {nvidia.com/a10: 2}
`
	_, _, err := scoring.ParseArguments([]byte(arguments))
	fmt.Println(err)

	cfg, warnings, err := scoring.ParseArguments([]byte(arguments), scoring.Lenient)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range warnings {
		fmt.Println("warning:", w.Field)
	}
	fmt.Println(cfg.Fit.Resources)
	fmt.Println(*cfg.SRA)
	// Output:
	// scoring: from line 5 on: [resources["*"]: Invalid value: "*": a pattern needs something before its *, resources["cpu"].weight: Invalid value: 1.5: must be an integer]
	// warning: resources["*"]
	// warning: resources["cpu"].weight
	// map[cpu:{LeastAllocated 1} nvidia.com/gpu/*:{MostAllocated 2}]
	// {3 [nvidia.com/t4 nvidia.com/a10] map[nvidia.com/a10:2 nvidia.com/t4:1]}
}

// A whole configuration of Volcano's scheduler, compiled.
func ExampleParseSchedulerConf() {
	const conf = `
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: gang
- plugins:
  - name: resource-strategy-fit
    arguments:
      resources:
        nvidia.com/gpu: {type: MostAllocated, weight: 2}
        cpu: {type: LeastAllocated, weight: 1}
`
	cfg, _, err := scoring.ParseSchedulerConf([]byte(conf))
	if err != nil {
		log.Fatal(err)
	}
	m, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := scoring.CompileStrategy(*cfg, m)
	if err != nil {
		log.Fatal(err)
	}
	request, used, allocatable := m.NewVector(), m.NewVector(), m.NewVector()
	request[vectormap.GPU] = 2
	used[vectormap.GPU] = 4
	allocatable[vectormap.GPU] = 8
	score, err := strategy.Score(request, used, allocatable)
	fmt.Println(score, err)
	// Output: 750 <nil>
}

// A master pod that spreads over CPUs where the cluster packs GPUs.
func ExampleParsePodOverride() {
	m, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := scoring.CompileStrategy(scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{
		Resources: map[string]scoring.FitRule{"nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 1}},
	}}, m)
	if err != nil {
		log.Fatal(err)
	}
	override, warnings, err := scoring.ParsePodOverride(map[string]string{
		scoring.ScoringTypeAnnotation: "LeastAllocated",
		scoring.WeightAnnotation:      `{"cpu": 1, "vendor.com/fpga": 2}`,
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range warnings {
		fmt.Println("warning:", w)
	}
	nodes, scores := m.NewNodes(), make([]float64, 1)
	if _, _, err := nodes.Set("a", 1, vector.NodeAmounts{Allocatable: vector.ResourceVector{64000}}); err != nil {
		log.Fatal(err)
	}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{8000}}
	err = scoring.Bind(fit, nodes).WithOverride(override).Score(scores, pod, nil)
	fmt.Println(scores, err)
	// Output:
	// warning: metadata.annotations["volcano.sh/resource-strategy-weight"]["vendor.com/fpga"]: Not found: "vendor.com/fpga"
	// [875] <nil>
}

// The scoringStrategy of kube-scheduler's NodeResourcesFitArgs.
func ExampleParseScoringStrategy() {
	cfg, err := scoring.ParseScoringStrategy([]byte(`
type: RequestedToCapacityRatio
resources:
- name: cpu
  weight: 3
- name: memory
requestedToCapacityRatio:
  shape:
  - {utilization: 0, score: 0}
  - {utilization: 100, score: 10}
`))
	fmt.Println(*cfg, err)
	// Output: {RequestedToCapacityRatio [{cpu 3} {memory 1}] [{0 0} {100 10}]} <nil>
}
