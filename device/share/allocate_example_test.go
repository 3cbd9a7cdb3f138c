package share_test

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
)

// exampleNode has four GPUs on two PCIe roots, with a NIC each.
func exampleNode() []share.State {
	var node []share.State
	for minor := range int32(4) {
		node = append(node, share.State{
			Kind: device.KindGPU, Minor: minor, NUMANode: 0, PCIeRoot: fmt.Sprintf("pci%d", minor/2),
			Total: share.Total{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Free:  share.Free{share.GPUCore: 100, share.GPUMemoryRatio: 100},
		})
	}
	for minor := range int32(2) {
		node = append(node, share.State{
			Kind: device.KindRDMA, Minor: minor, NUMANode: 0, PCIeRoot: fmt.Sprintf("pci%d", minor),
			Total: share.Total{share.RDMA: 100}, Free: share.Free{share.RDMA: 100},
		})
	}
	return node
}

// A scheduler chooses devices, takes them, and gives them back when the pod ends.
func ExampleScorer_Allocate() {
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated})
	if err != nil {
		panic(err)
	}
	node := exampleNode()

	pod := share.AllocRequest{
		Kind:        device.KindGPU,
		PerInstance: share.Request{share.GPUCore: 50, share.GPUMemoryRatio: 50},
		Count:       1,
		Partial:     true,
		Preferred:   []int32{2},
	}
	first, err := scorer.Allocate(pod, node)
	if err != nil {
		panic(err)
	}
	if err := first.Commit(node); err != nil {
		panic(err)
	}
	fmt.Println("preferred:", first.Minors())

	pod.Preferred = nil
	second, err := scorer.Allocate(pod, node)
	if err != nil {
		panic(err)
	}
	fmt.Println("most allocated:", second.Minors())

	if err := first.Release(node); err != nil {
		panic(err)
	}
	again, err := scorer.Allocate(pod, node)
	if err != nil {
		panic(err)
	}
	fmt.Println("all idle:", again.Minors())

	// Output:
	// preferred: [2]
	// most allocated: [2]
	// all idle: [0]
}

// A refusal says in numbers what is missing.
func ExampleNotEnoughError() {
	node := exampleNode()
	node[0].Health = device.Unhealthy
	node[1].Free = share.Free{share.GPUCore: 40, share.GPUMemoryRatio: 100}

	var scorer *share.Scorer // all scores are 0
	_, err := scorer.Allocate(share.AllocRequest{
		Kind:        device.KindGPU,
		PerInstance: share.Request{share.GPUCore: 100, share.GPUMemoryRatio: 100},
		Count:       4,
	}, node)
	var refusal *share.NotEnoughError
	if errors.As(err, &refusal) {
		fmt.Println("got", refusal.Got, "of", refusal.Want)
		for _, r := range refusal.Reasons {
			fmt.Println("-", r)
		}
	}

	// Output:
	// got 2 of 4
	// - 1 unhealthy
	// - 1 insufficient koordinator.sh/gpu-core (want 100, 40 free)
}

// A GPU is in use, so the pod gets the pair that is idle, and the NIC beside it.
func ExampleScorer_AllocateJoint() {
	node := exampleNode()
	node[1].Free = nil

	var scorer *share.Scorer
	gpus, nics, err := scorer.AllocateJoint(
		share.AllocRequest{
			Kind:        device.KindGPU,
			PerInstance: share.Request{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Count:       2,
			Policy:      share.PackTopology,
		},
		share.AllocRequest{
			Kind:        device.KindRDMA,
			PerInstance: share.Request{share.RDMA: 50},
			Count:       1,
		},
		node, share.RequireSamePCIe)
	fmt.Println(gpus.Minors(), nics.Minors(), err)

	// Output:
	// [2 3] [1] <nil>
}

// Half of the pods want half a GPU, and half of them a whole one.
func ExampleScorer_ExplainAllocation() {
	node := exampleNode()
	node[1].Free = share.Free{share.GPUCore: 50, share.GPUMemoryRatio: 50}
	node[2].Free = share.Free{share.GPUCore: 30, share.GPUMemoryRatio: 30}
	node[3].Health = device.Unhealthy

	scorer, err := share.NewScorer(share.Config{})
	if err != nil {
		panic(err)
	}
	e, err := scorer.ExplainAllocation(share.AllocRequest{
		Kind:        device.KindGPU,
		PerInstance: share.Request{share.GPUCore: 30, share.GPUMemoryRatio: 30},
		Count:       1,
		Partial:     true,
		Policy:      share.LeastFragmentation,
		Mix:         []share.Share{{Ratio: 50, Weight: 1}, {Ratio: 100, Weight: 1}},
	}, node)
	if err != nil {
		panic(err)
	}
	fmt.Print(e)

	// Output:
	// LeastFragmentation: 1 from the node
	//   minor  NUMA  PCIe  preferred  change  score  verdict
	//   2      0     pci1  no         -60     100    chosen
	//   1      0     pci0  no         -10     80     not needed
	//   0      0     pci0  no         70      30     not needed
	//   3      0     pci1  -          -       -      unhealthy
}

func ExampleOrderByPCIe() {
	nics := []share.Candidate{
		{Minor: 1, PCIeRoot: "pci0"}, {Minor: 2, PCIeRoot: "pci0"}, {Minor: 3, PCIeRoot: "pci1", Score: 80},
		{Minor: 4, PCIeRoot: "pci1"}, {Minor: 5, PCIeRoot: "pci2", Score: 99},
	}
	share.OrderByPCIe(nics, []string{"pci0", "pci1"})
	for _, n := range nics {
		fmt.Print(n.Minor, " ")
	}

	// Output:
	// 3 1 2 4 5
}
