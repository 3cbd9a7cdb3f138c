package gpu_test

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// A pod that wants half a GPU, and the device it gets.
func ExampleCache() {
	m, _ := vectormap.New(nil)
	packing := gpu.NewPacking(m)
	free := vector.NewMatrix(m.Schema(), 2, m.Len())
	free.SetRow(0, vector.ResourceVector{8000, 64 << 30})
	free.SetRow(1, vector.ResourceVector{8000, 64 << 30})
	gpus := gpu.NewState([]gpu.Node{
		{Left: []float64{1000, 1000}},
		{Left: []float64{1000, 600}, Pods: []int32{1}},
	})

	cache := gpu.NewCache(packing, scoring.CacheOptions{})
	query := &gpu.Query{
		Request: gpu.Request{CPU: 2000, Count: 1, Milli: 500},
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
