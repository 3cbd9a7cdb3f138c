package share_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
)

// The devices of all nodes stand in two matrices, node after node: a column is
// taken at a time, and nothing is allocated.
func ExampleScorer_ScoreNodes() {
	scorer, err := share.NewScorer(share.Config{}) // LeastAllocated over gpu-memory-ratio
	if err != nil {
		panic(err)
	}
	batch := share.Batch{
		Total:   vector.NewMatrix(vector.Schema{}, 6, 1),
		Free:    vector.NewMatrix(vector.Schema{}, 6, 1),
		Offsets: vector.Offsets{0, 2, 5, 5, 6}, // nodes with 2, 3, 0 and 1 devices
	}
	batch.Total.SetColumn(0, []float64{100, 100, 100, 100, 100, 100})
	batch.Free.SetColumn(0, []float64{100, 100, 100, 50, 0, 25})

	half := share.Request{share.GPUMemoryRatio: 50}
	nodes, devices := make([]int64, 4), make([]int64, 6)
	if err := scorer.ScoreNodes(nodes, &batch, share.Requirement{Kind: device.KindGPU, PerInstance: half, Count: 2}, nil); err != nil {
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
	gpu := func(minor int32, free int64) share.State {
		return share.State{
			Kind: device.KindGPU, Minor: minor,
			Total: share.Total{share.GPUMemoryRatio: 100}, Free: share.Free{share.GPUMemoryRatio: free},
		}
	}
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated})
	if err != nil {
		panic(err)
	}
	batch, err := scorer.NewBatch(device.KindGPU, [][]share.State{
		{gpu(0, 100), gpu(1, 0)}, {gpu(0, 100), gpu(1, 100)}, {gpu(0, 0), gpu(1, 50)},
	})
	if err != nil {
		panic(err)
	}
	need := share.Requirement{Kind: device.KindGPU, PerInstance: share.Request{share.GPUMemoryRatio: 100}, Count: 2}
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
