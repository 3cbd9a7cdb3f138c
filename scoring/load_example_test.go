package scoring_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// loadNodes returns two nodes with amounts in the order cpu (thousandths), memory
// (bytes), gpu.
func loadNodes() (m *vectormap.ResourceVectorMap, nodes *vector.Nodes) {
	m, err := vectormap.New([]string{"cpu", "memory", "nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	nodes = m.NewNodes()
	setNode(nodes, "a", vector.ResourceVector{10000, 40e9, 8}, vector.ResourceVector{2000, 10e9, 6})
	setNode(nodes, "b", vector.ResourceVector{10000, 20e9}, vector.ResourceVector{6000, 5e9})
	return m, nodes
}

// How full the nodes would be with a pod of 2 CPUs and 10 GB.
func ExampleCompileLoad() {
	m, nodes := loadNodes()
	pack, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Pack}, m)
	if err != nil {
		log.Fatal(err)
	}
	scores := scoring.Bind(pack, nodes)
	pod, list := vector.PodAmounts{Requested: vector.ResourceVector{2000, 10e9}}, make([]float64, 2)
	if err := scores.Score(list, pod, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4g\n", list)
	explanation, err := scores.Explain(pod, 1, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(explanation)
	// Output:
	// [55 77.5]
	// total          77.5
	// NormalizedSum  77.5         x 1
	//   resource     request      used        allocatable  rule  weight  points  status
	//   cpu          2000         6000        10000        Pack  1       40      Scored
	//   memory       10000000000  5000000000  20000000000  Pack  1       37.5    Scored
}

// The next job is from the queue with the least share. The first queue may use
// all of the cluster's cpu, and is not entitled to GPUs.
func ExampleCompileDRF() {
	m, err := vectormap.New([]string{"cpu", "memory", "nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	unlimited := -1.0
	drf, err := scoring.CompileDRF(scoring.DRFConfig{
		Unlimited:  &unlimited,
		Fallback:   vector.ResourceVector{100, 100, 10}, // what the cluster has
		ZeroFactor: 1000,
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	queues := m.NewNodes() // a row per queue: what it is entitled to, and what it has
	setNode(queues, "research", vector.ResourceVector{unlimited, 50, 0}, vector.ResourceVector{20, 5, 0})
	setNode(queues, "serving", vector.ResourceVector{10, 10, 4}, vector.ResourceVector{1, 1, 2})
	shares := make([]float64, 2)
	if err := scoring.Bind(drf, queues).Score(shares, vector.PodAmounts{}, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(shares, "next:", queues.Name(vector.ArgMin(shares, nil, vector.TieLowest())))
	// Output:
	// [0.2 0.5] next: research
}

// Packing, with a preference for nodes without GPUs: both from 0 to 100 over the
// nodes at hand.
func ExampleCombine() {
	m, nodes := loadNodes()
	pack, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Pack}, m)
	if err != nil {
		log.Fatal(err)
	}
	gpus, err := scoring.CompileLoad(scoring.LoadConfig{
		Direction: scoring.Raw,
		Weights:   map[string]float64{"nvidia.com/gpu": 1},
		Capacity:  vector.ResourceVector{2: 8},
	}, m)
	if err != nil {
		log.Fatal(err)
	}
	both, err := scoring.Combine([]scoring.Term{
		{Name: "packing", Scorer: pack, Weight: 1},
		{Name: "no GPUs", Scorer: gpus, Weight: 2, Normalize: scoring.NormalizeReverse},
	})
	if err != nil {
		log.Fatal(err)
	}
	pod, scores := vector.PodAmounts{Requested: vector.ResourceVector{2000, 10e9}}, make([]float64, 2)
	if err := scoring.Bind(both, nodes).Score(scores, pod, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4g\n", scores)
	// Output:
	// [55 277.5]
}

func ExampleNormalizeScores() {
	scores := []int64{62, 34, 79}
	scoring.NormalizeScores(scores, nil, scoring.NormalizeMinMax)
	fmt.Println(scores)
	// Output:
	// [62 0 100]
}
