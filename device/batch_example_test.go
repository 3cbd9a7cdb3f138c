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

// Filter before you score: which nodes can give two idle GPUs.
func ExampleScorer_FitNodes() {
	gpu := func(minor int32, free int64) device.State {
		return device.State{
			Kind: device.KindGPU, Minor: minor,
			Total: device.Total{device.GPUMemoryRatio: 100}, Free: device.Free{device.GPUMemoryRatio: free},
		}
	}
	scorer, err := device.NewScorer(device.Config{Type: device.MostAllocated})
	if err != nil {
		panic(err)
	}
	batch, err := scorer.NewBatch(device.KindGPU, [][]device.State{
		{gpu(0, 100), gpu(1, 0)}, {gpu(0, 100), gpu(1, 100)}, {gpu(0, 0), gpu(1, 50)},
	})
	if err != nil {
		panic(err)
	}
	need := device.Requirement{Kind: device.KindGPU, PerInstance: device.Request{device.GPUMemoryRatio: 100}, Count: 2}
	var nodes, devices vector.Mask
	if err := scorer.FitNodes(&nodes, &devices, batch, need); err != nil {
		panic(err)
	}
	for node := range nodes.All() {
		fmt.Println("node", node)
	}
	fmt.Println(devices.Count(), "devices")

	// Output:
	// node 1
	// 3 devices
}
