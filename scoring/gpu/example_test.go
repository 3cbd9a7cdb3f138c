package gpu_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Two nodes could take a pod that wants 40 % of a GPU. The second one has a
// device that hardly any other pod can use.
func ExampleBind() {
	m, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	typical, err := gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 50},
		{CPU: 8000, Count: 1, Milli: 1000, Pods: 30},
		{CPU: 2000, Pods: 20},
	}, 0.95)
	if err != nil {
		panic(err)
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	if err != nil {
		panic(err)
	}

	nodes, gpus := m.NewNodes(), new(gpu.State)
	for i, left := range [][]float64{{600, 700}, {1000, 400}} {
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{32000, 128 << 30, 2}}
		if _, _, err := nodes.Set(fmt.Sprint("node-", i), 1, amounts); err != nil {
			panic(err)
		}
		gpus.AppendNode(gpu.Node{Model: -1, Left: left})
	}
	pod := gpu.Request{CPU: 4000, Count: 1, Milli: 400, Amounts: vector.ResourceVector{4000, 16 << 30}}

	bound := gpu.Bind(fgd, nodes, gpus)
	row, ok := bound.Best(&pod, nil, vector.TieLowest())
	if !ok {
		panic(bound.Rejections(&pod, nil))
	}
	devices := bound.ChooseDevices(nil, &pod, row)
	scores := make([]float64, nodes.Len())
	if err := bound.Score(scores, &pod, nil); err != nil {
		panic(err)
	}
	fmt.Println("scores", scores)

	if err := gpus.Place(row, &pod, devices); err != nil {
		panic(err)
	}
	if err := nodes.Assume(row, vector.PodAmounts{Requested: pod.Amounts}); err != nil {
		panic(err)
	}
	fmt.Println("row", row, "devices", devices, "left", gpus.Devices(row))
	// Output:
	// scores [52 59]
	// row 1 devices [1] left [1000 0]
}

func ExampleTypical_FNode() {
	typical, err := gpu.WeightedPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Weight: 0.5},
		{CPU: 8000, Count: 1, Milli: 1000, Weight: 0.3},
		{CPU: 2000, Weight: 0.2},
	})
	if err != nil {
		panic(err)
	}
	left := []float64{1000, 400}
	fmt.Println("32 CPUs left:", typical.FNode(32000, left, -1))
	fmt.Println("6 CPUs left:", typical.FNode(6000, left, -1))
	// Output:
	// 32 CPUs left: 600
	// 6 CPUs left: 900
}

// The policies that FGD is compared with, for one pod.
func ExampleScorer() {
	m, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	dot, err := gpu.CompileDotProduct(gpu.DotProductConfig{}, m)
	if err != nil {
		panic(err)
	}
	fit, err := gpu.CompileBestFit(gpu.BestFitConfig{Raw: true}, m)
	if err != nil {
		panic(err)
	}
	packing := gpu.NewPacking(m)
	clustering, err := gpu.CompileClustering(gpu.ClusteringConfig{}, m)
	if err != nil {
		panic(err)
	}

	// A node with two idle GPUs of eight, and pods that have a GPU each.
	node := gpu.Node{Left: []float64{1000, 1000, 0, 0, 0, 0, 0, 0}, Pods: []int32{0, 6}}
	pod := gpu.Request{CPU: 4000, Count: 1, Milli: 1000}
	for _, p := range []struct {
		name   string
		scorer *gpu.Scorer
	}{{"DotProduct", dot}, {"BestFit", fit}, {"Packing", packing}, {"Clustering", clustering}} {
		score, err := p.scorer.Score(&pod, 16000, node)
		if err != nil {
			panic(err)
		}
		fmt.Println(p.name, score)
	}
	// Output:
	// DotProduct 98
	// BestFit 89
	// Packing 49
	// Clustering 93
}

// The cluster as vectors, and why a pod stays pending.
func ExampleRequestOf() {
	m, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		panic(err)
	}
	nodes, gpus := m.NewNodes(), new(gpu.State)
	for i, allocatable := range []vector.ResourceVector{{64000, 0, 2}, {64000, 0, 1}, {64000}} {
		node, err := gpu.NodeOf(m, allocatable, -1)
		if err != nil {
			panic(err)
		}
		gpus.AppendNode(node)
		if _, _, err := nodes.Set(fmt.Sprint("node-", i), 1, vector.NodeAmounts{Allocatable: allocatable}); err != nil {
			panic(err)
		}
	}
	part, err := gpu.RequestOf(m, vector.ResourceVector{4000, 0, 0.3})
	if err != nil {
		panic(err)
	}
	if err := gpus.Place(0, &part, []int32{1}); err != nil {
		panic(err)
	}
	pair, err := gpu.RequestOf(m, vector.ResourceVector{4000, 0, 2})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d x %.0f, %d x %.0f\n", part.Count, part.Milli, pair.Count, pair.Milli)
	fmt.Println(gpu.Bind(gpu.NewPacking(m), nodes, gpus).Rejections(&pair, nil))

	_, err = gpu.RequestOf(m, vector.ResourceVector{4000, 0, 1.5})
	fmt.Println(err)
	// Output:
	// 1 x 300, 2 x 1000
	// 0/3 nodes fit: 3 without enough GPUs left
	// gpu: request: gpu: amount 1.5 must be a whole number of GPUs, or less than one
}

// Fragments fall from 600 to 200 thousandths of a GPU when the pod takes what is
// left of device 1.
func ExampleScorer_Explain() {
	m, err := vectormap.New(nil, vectormap.Milli("gpu"))
	if err != nil {
		panic(err)
	}
	typical, err := gpu.WeightedPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Weight: 0.5},
		{CPU: 8000, Count: 1, Milli: 1000, Weight: 0.3},
		{CPU: 2000, Weight: 0.2},
	})
	if err != nil {
		panic(err)
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	if err != nil {
		panic(err)
	}
	node := gpu.Node{Model: -1, Left: []float64{1000, 400}}
	e, err := fgd.Explain(&gpu.Request{CPU: 4000, Count: 1, Milli: 400}, 32000, node)
	if err != nil {
		panic(err)
	}
	fmt.Print(e.Format(m))
	// Output:
	// total       59
	// FGD         59       x 1
	//   resource  request  used  allocatable  rule           weight  points  status
	//   cpu       4        0     32           fragmentation  1       0       Scored
	//   gpu       400m     0     1400m        fragmentation  1       59      Scored
	//   device 1  400m     600m  1            chosen         0       0       Scored
	//   F before  0        0     600m         fragments      0       0       Scored
	//   F after   0        0     200m         fragments      0       0       Scored
}

// Scores of GPUs are added to others by hand: started devices first, and half as
// important a cpu with much left.
func ExampleScorer_combined() {
	m, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	packing := gpu.NewPacking(m)
	load, err := scoring.CompileLoad(scoring.LoadConfig{Metric: scoring.NormalizedSum, Direction: scoring.Spread}, m)
	if err != nil {
		panic(err)
	}
	nodes := m.NewNodes()
	for i, requested := range []float64{48000, 16000, 32000} {
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{64000}, Requested: vector.ResourceVector{requested}}
		if _, _, err := nodes.Set(fmt.Sprint("node-", i), 1, amounts); err != nil {
			panic(err)
		}
	}
	gpus := gpu.NewState([]gpu.Node{
		{Left: []float64{1000, 0}}, {Left: []float64{1000, 1000}}, {Left: []float64{500, 0}},
	})
	pod := gpu.Request{CPU: 4000, Count: 1, Milli: 500, Amounts: vector.ResourceVector{4000}}

	var rows vector.Mask
	devices := gpu.Bind(packing, nodes, gpus)
	devices.Fit(&rows, &pod, nil)
	scores, others := make([]float64, 3), make([]float64, 3)
	if err := devices.Score(scores, &pod, &rows); err != nil {
		panic(err)
	}
	if err := scoring.Bind(load, nodes).Score(others, vector.PodAmounts{Requested: pod.Amounts}, &rows); err != nil {
		panic(err)
	}
	scoring.NormalizeScores(scores, &rows, scoring.NormalizeMinMax)
	scoring.NormalizeScores(others, &rows, scoring.NormalizeMinMax)
	for row := range rows.All() {
		scores[row] += 0.5 * others[row]
	}
	fmt.Printf("%.0f\n", scores)
	fmt.Println("row", vector.ArgMax(scores, &rows, vector.TieLowest()))
	// Output:
	// [28 50 125]
	// row 2
}
