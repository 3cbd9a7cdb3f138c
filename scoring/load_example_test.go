package scoring_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// loadNodes returns two nodes with what they have and what is used of it, in the order cpu
// (thousandths), memory (bytes), gpu.
func loadNodes() (m *vectormap.ResourceVectorMap, used, allocatable *vector.Matrix) {
	m, err := vectormap.New([]string{"cpu", "memory", "nvidia.com/gpu"})
	if err != nil {
		log.Fatal(err)
	}
	used, allocatable = m.NewMatrix(2), m.NewMatrix(2)
	allocatable.SetRow(0, vector.ResourceVector{10000, 40e9, 8})
	used.SetRow(0, vector.ResourceVector{2000, 10e9, 6})
	allocatable.SetRow(1, vector.ResourceVector{10000, 20e9})
	used.SetRow(1, vector.ResourceVector{6000, 5e9})
	return m, used, allocatable
}

// How full the nodes would be with a pod of 2 CPUs and 10 GB.
func ExampleCompileLoad() {
	m, used, allocatable := loadNodes()
	pack, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Pack}, m)
	if err != nil {
		log.Fatal(err)
	}
	pod, scores := vector.ResourceVector{2000, 10e9}, make([]float64, 2)
	if err := pack.ScoreBatch(scores, pod, used, allocatable, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4g\n", scores)
	explanation, err := pack.Explain(pod, used.Row(nil, 1), allocatable.Row(nil, 1))
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

// The next job is that of the queue with the least share. The first queue may use
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
	allocated, entitled := m.NewMatrix(2), m.NewMatrix(2)
	entitled.SetRow(0, vector.ResourceVector{unlimited, 50, 0})
	allocated.SetRow(0, vector.ResourceVector{20, 5, 0})
	entitled.SetRow(1, vector.ResourceVector{10, 10, 4})
	allocated.SetRow(1, vector.ResourceVector{1, 1, 2})
	shares := make([]float64, 2)
	if err := drf.ScoreBatch(shares, nil, allocated, entitled, nil); err != nil {
		log.Fatal(err)
	}
	fmt.Println(shares, "next:", vector.ArgMin(shares, nil, vector.TieLowest()))
	// Output:
	// [0.2 0.5] next: 0
}

// Packing, with a preference for nodes without GPUs: both from 0 to 100 over the
// nodes at hand.
func ExampleCombine() {
	m, used, allocatable := loadNodes()
	pack, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Pack}, m)
	if err != nil {
		log.Fatal(err)
	}
	gpus, err := scoring.CompileLoad(scoring.LoadConfig{
		Weights:  map[string]float64{"nvidia.com/gpu": 1},
		Capacity: vector.ResourceVector{2: 8},
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
	pod, scores := vector.ResourceVector{2000, 10e9}, make([]float64, 2)
	if err := both.ScoreBatch(scores, pod, used, allocatable, nil); err != nil {
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
