package scoring_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Pods with equal requests come one after the other. Each changes one node, and
// only that is scored again for the next.
func ExampleCache() {
	m, _ := vectormap.New(nil)
	most, _ := scoring.CompileStrategyFit(scoring.StrategyFitConfig{
		Resources: map[string]scoring.FitRule{"cpu": {Type: scoring.MostAllocated}},
	}, m)

	const nodes = 1000
	free := vector.NewMatrix(m.Schema(), nodes, m.Len())
	used := vector.NewMatrix(m.Schema(), nodes, m.Len())
	allocatable := vector.NewMatrix(m.Schema(), nodes, m.Len())
	for i := range nodes {
		free.SetRow(i, vector.ResourceVector{4000})
		allocatable.SetRow(i, vector.ResourceVector{4000})
	}

	cache := scoring.NewCache(most, scoring.CacheOptions{})
	request := vector.ResourceVector{1500}
	for range 3 {
		query := &scoring.Query{Request: request, Free: free, Used: used, Allocatable: allocatable}
		row, score, err := cache.Best(query, vector.TieLowest())
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = free.SubRow(row, request)
		_ = used.AddRow(row, request)
		fmt.Printf("node %d, %.1f points\n", row, score)
	}
	stats := cache.Stats()
	fmt.Printf("%d rows scored for %d pods\n", stats.Rescored, stats.Hits+stats.Misses)
	// Output:
	// node 0, 375.0 points
	// node 0, 750.0 points
	// node 1, 375.0 points
	// 1002 rows scored for 3 pods
}

// A pod that wants half a GPU, and the device it gets.
func ExampleGPUCache() {
	m, _ := vectormap.New(nil)
	packing, _ := scoring.CompileGPUPacking(scoring.GPUPackingConfig{}, m)
	free := vector.NewMatrix(m.Schema(), 2, m.Len())
	free.SetRow(0, vector.ResourceVector{8000, 64 << 30})
	free.SetRow(1, vector.ResourceVector{8000, 64 << 30})
	gpus := scoring.NewGPUState([]scoring.GPUNode{
		{Left: []float64{1000, 1000}},
		{Left: []float64{1000, 600}, Pods: []int32{1}},
	})

	cache := scoring.NewGPUCache(packing, scoring.CacheOptions{})
	query := &scoring.GPUQuery{
		Request: scoring.GPURequest{CPU: 2000, Count: 1, Milli: 500},
		Amounts: vector.ResourceVector{2000, 16 << 30},
		Free:    free,
		GPUs:    gpus,
	}
	row, score, err := cache.Best(query, vector.TieLowest())
	if err != nil {
		fmt.Println(err)
		return
	}
	devices := packing.ChooseDevices(row, &query.Request, free.Column(vectormap.CPU), gpus, nil)
	_ = gpus.Place(row, &query.Request, devices)
	_ = free.SubRow(row, query.Amounts)
	fmt.Printf("node %d, device %d, %v points\n", row, devices[0], score)
	// Output: node 1, device 1, 94 points
}
