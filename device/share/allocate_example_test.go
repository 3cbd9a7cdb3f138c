package share_test

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/scoring/gpu"
)

// exampleNode has four GPUs on two PCIe roots, with a NIC each.
func exampleNode() []share.State {
	var node []share.State
	for minor := range int32(4) {
		node = append(node, share.State{
			Kind: device.KindGPU, Minor: minor, NUMANode: 0, PCIeRoot: fmt.Sprintf("pci%d", minor/2),
			Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Free:  share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
		})
	}
	for minor := range int32(2) {
		node = append(node, share.State{
			Kind: device.KindRDMA, Minor: minor, NUMANode: 0, PCIeRoot: fmt.Sprintf("pci%d", minor),
			Total: share.Amounts{share.RDMA: 100}, Free: share.Amounts{share.RDMA: 100},
		})
	}
	return node
}

// accountOfNode is the account of one node.
func accountOfNode(devices []share.State) *share.Account {
	account := new(share.Account)
	if err := account.Set(0, devices); err != nil {
		panic(err)
	}
	return account
}

// What pods of the examples need.
var (
	halfGPU = share.Requirement{
		Kind: device.KindGPU, Count: 1,
		PerInstance: share.Amounts{share.GPUCore: 50, share.GPUMemoryRatio: 50},
	}
	wholeGPU = share.Requirement{
		Kind: device.KindGPU, Count: 1,
		PerInstance: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
	}
)

// A scheduler chooses devices, takes them, and gives them back when the pod ends.
func ExampleBound_Allocate() {
	account := accountOfNode(exampleNode())
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated})
	if err != nil {
		panic(err)
	}
	devices := scorer.Bind(account)

	first, err := devices.Allocate(0, share.AllocRequest{Requirement: halfGPU, Preferred: []int32{2}})
	if err != nil {
		panic(err)
	}
	if err := account.Commit(0, first); err != nil {
		panic(err)
	}
	fmt.Println("preferred:", first.Minors())

	second, err := devices.Allocate(0, share.AllocRequest{Requirement: halfGPU})
	if err != nil {
		panic(err)
	}
	fmt.Println("most allocated:", second.Minors())

	if err := account.Release(0, first); err != nil {
		panic(err)
	}
	again, err := devices.Allocate(0, share.AllocRequest{Requirement: halfGPU})
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
	node[1].Free[share.GPUCore] = 40
	account := accountOfNode(node)
	var scorer *share.Scorer // all scores are 0

	four := wholeGPU
	four.Count = 4
	_, err := scorer.Bind(account).Allocate(0, share.AllocRequest{Requirement: four})
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

// A GPU is in use, so the pod gets the pair that is idle, and the NIC on its root.
func ExampleBound_AllocateJoint() {
	node := exampleNode()
	node[1].Free = share.Amounts{}
	account := accountOfNode(node)
	var scorer *share.Scorer

	two := wholeGPU
	two.Count = 2
	nic := share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 50}, Count: 1}
	gpus, nics, err := scorer.Bind(account).AllocateJoint(0,
		share.AllocRequest{Requirement: two, Policy: share.PackTopology},
		share.AllocRequest{Requirement: nic},
		share.RequireSamePCIe)
	fmt.Println(gpus.Minors(), nics.Minors(), err)

	// Output:
	// [2 3] [1] <nil>
}

// Half of the pods want half a GPU, and half of them a whole one.
func ExampleBound_ExplainAllocation() {
	node := exampleNode()
	node[1].Free = share.Amounts{share.GPUCore: 50, share.GPUMemoryRatio: 50}
	node[2].Free = share.Amounts{share.GPUCore: 30, share.GPUMemoryRatio: 30}
	node[3].Health = device.Unhealthy
	account := accountOfNode(node)
	scorer, err := share.NewScorer(share.Config{})
	if err != nil {
		panic(err)
	}

	small := halfGPU
	small.PerInstance = share.Amounts{share.GPUCore: 30, share.GPUMemoryRatio: 30}
	e, err := scorer.Bind(account).ExplainAllocation(0, share.AllocRequest{
		Requirement: small,
		Policy:      share.LeastFragmentation,
		Mix:         []gpu.TypicalPod{{Count: 1, Milli: 500, Pods: 1}, {Count: 1, Milli: 1000, Pods: 1}},
	})
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

// A pod is preempted only if that helps: a copy of the account answers that.
func ExampleAccount_CopyFrom() {
	account, trial := accountOfNode(exampleNode()), new(share.Account)
	var scorer *share.Scorer
	devices, tried := scorer.Bind(account), scorer.Bind(trial)
	four := wholeGPU
	four.Count = 4
	victim, err := devices.Allocate(0, share.AllocRequest{Requirement: four})
	if err != nil {
		panic(err)
	}
	if err := account.Commit(0, victim); err != nil {
		panic(err)
	}

	trial.CopyFrom(account)
	if err := trial.Release(0, victim); err != nil {
		panic(err)
	}
	_, before := devices.Allocate(0, share.AllocRequest{Requirement: wholeGPU})
	chosen, after := tried.Allocate(0, share.AllocRequest{Requirement: wholeGPU})
	fmt.Println(before)
	fmt.Println(chosen.Minors(), after)

	// Output:
	// share: gpu: want 1, got 0: 4 exhausted
	// [0] <nil>
}
