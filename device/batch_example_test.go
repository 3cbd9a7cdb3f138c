package device_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vector"
)

// The devices of all nodes stand in two matrices, node after node: a column is
// taken at a time, and nothing is allocated.
func ExampleScorer_ScoreNodes() {
	scorer, err := device.NewScorer(device.Config{}) // LeastAllocated over gpu-memory-ratio
	if err != nil {
		panic(err)
	}
	batch := device.Batch{
		Total:   vector.NewMatrix(vector.Schema{}, 6, 1),
		Free:    vector.NewMatrix(vector.Schema{}, 6, 1),
		Offsets: vector.Offsets{0, 2, 5, 5, 6}, // nodes with 2, 3, 0 and 1 devices
	}
	batch.Total.SetColumn(0, []float64{100, 100, 100, 100, 100, 100})
	batch.Free.SetColumn(0, []float64{100, 100, 100, 50, 0, 25})

	half := device.Request{device.GPUMemoryRatio: 50}
	nodes, devices := make([]int64, 4), make([]int64, 6)
	if err := scorer.ScoreNodes(nodes, &batch, device.Requirement{Kind: device.KindGPU, PerInstance: half, Count: 2}, nil); err != nil {
		panic(err)
	}
	if err := scorer.ScoreDevices(devices, &batch, half, nil); err != nil {
		panic(err)
	}
	fmt.Println(nodes, devices)
	// Output: [50 16 0 0] [50 50 50 0 0 0]
}
