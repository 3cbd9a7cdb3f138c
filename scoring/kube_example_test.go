package scoring_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// printKube prints the scores of three nodes of 4, 8 and 16 CPUs, with 16 GiB
// each and half of the CPUs in use, for a pod that asks for 2 CPUs and 4 GiB.
func printKube(cfg scoring.KubeConfig) {
	m, err := vectormap.New([]string{"cpu", "memory"})
	if err != nil {
		panic(err)
	}
	kube, err := scoring.CompileKube(cfg, m)
	if err != nil {
		panic(err)
	}
	nodes := m.NewNodes()
	for _, cpus := range []float64{4, 8, 16} {
		setNode(nodes, fmt.Sprint(cpus), vector.ResourceVector{cpus * 1000, 16 << 30}, vector.ResourceVector{cpus * 500, 0})
	}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{2000, 4 << 30}}
	scores := make([]int64, 3)
	if err := scoring.Bind(kube, nodes).ScorePercent(scores, pod, nil); err != nil {
		panic(err)
	}
	fmt.Println(scores)
}

var cpuAndMemory = []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}

func ExampleCompileKube_leastAllocated() {
	printKube(scoring.KubeConfig{Type: scoring.LeastAllocated, Resources: cpuAndMemory})
	// Output: [37 50 56]
}

func ExampleCompileKube_mostAllocated() {
	printKube(scoring.KubeConfig{Type: scoring.MostAllocated, Resources: cpuAndMemory})
	// Output: [62 50 43]
}

func ExampleCompileKube_requestedToCapacityRatio() {
	printKube(scoring.KubeConfig{
		Type:      scoring.RequestedToCapacityRatio,
		Resources: cpuAndMemory,
		Shape:     []scoring.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 100, Score: 0}},
	})
	// Output: [35 60 62]
}

func ExampleCompileKube_balancedAllocation() {
	printKube(scoring.KubeConfig{Type: scoring.BalancedAllocation, Resources: cpuAndMemory})
	// Output: [68 75 78]
}

func ExampleKube_Explain() {
	m, err := vectormap.New([]string{"cpu", "memory"})
	if err != nil {
		panic(err)
	}
	kube, err := scoring.CompileKube(scoring.KubeConfig{Type: scoring.LeastAllocated, Resources: cpuAndMemory}, m)
	if err != nil {
		panic(err)
	}
	explanation, err := kube.Explain(
		vector.ResourceVector{2000, 4 << 30}, vector.ResourceVector{4000, 0}, vector.ResourceVector{8000, 16 << 30})
	if err != nil {
		panic(err)
	}
	for _, d := range explanation.Terms[0].Dims {
		fmt.Printf("%s: %.4g points, %v\n", d.Name, d.Contribution, d.Status)
	}
	fmt.Println("total:", explanation.Total)
	// Output:
	// cpu: 12.5 points, Scored
	// memory: 37.5 points, Scored
	// total: 50
}
