package share_test

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelled is a node as GPU feature discovery labels it.
func labelled(name string, gpus string) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB",
			"nvidia.com/gpu.count":   gpus,
			"nvidia.com/gpu.memory":  "40960",
		}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"nvidia.com/gpu": resource.MustParse(gpus),
		}},
	}
}

// From the nodes of a cluster to the device that a pod gets.
func Example() {
	nodes := []corev1.Node{labelled("node-a", "8"), labelled("node-b", "4")}

	// What is there: once per change of a node.
	inventory, err := device.FromNodes(nodes, nil, device.LabelOptions{})
	if err != nil {
		panic(err)
	}
	for _, node := range inventory.Nodes {
		fmt.Println(node.Name, node.Cards, node.Problems)
	}

	// The scheduler's account: what each device has, and what of it is free.
	states := make([][]share.State, len(inventory.Nodes))
	for k := range inventory.Nodes {
		states[k] = share.States(&inventory.Nodes[k])
	}
	// FillMemory keeps percent and bytes of GPU memory in step.
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated}, share.FillMemory)
	if err != nil {
		panic(err)
	}
	batch, err := scorer.NewBatch(device.KindGPU, states)
	if err != nil {
		panic(err)
	}

	// What a pod needs: two GPUs.
	needs, err := share.Normalize(corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")})
	if err != nil {
		panic(err)
	}
	need := needs[0]

	// Which nodes can hold it, and how good they are: 2 of 8 devices used, or 2 of 4.
	var fits, devices vector.Mask
	if err := scorer.FitNodes(&fits, &devices, batch, need); err != nil {
		panic(err)
	}
	scores := make([]int64, len(states))
	if err := scorer.ScoreNodes(scores, batch, need, &fits); err != nil {
		panic(err)
	}
	best := vector.ArgMax(scores, &fits, vector.TieLowest())
	fmt.Println(scores, inventory.Nodes[best].Name)

	// Which devices on it. The account and the batch follow.
	request := need.AllocRequest()
	request.Policy = share.PackTopology
	chosen, err := scorer.Allocate(request, states[best])
	if err != nil {
		panic(err)
	}
	if err := chosen.Commit(states[best]); err != nil {
		panic(err)
	}
	if err := batch.Update(best, states[best]); err != nil {
		panic(err)
	}
	fmt.Println("devices", chosen.Minors())

	// Too much: the refusal has numbers.
	request.Count = 3
	_, err = scorer.Allocate(request, states[best])
	var refusal *share.NotEnoughError
	if errors.As(err, &refusal) {
		fmt.Println("got", refusal.Got, "of", refusal.Want)
	}

	// Output:
	// node-a [{NVIDIA-A100-SXM4-40GB nvidia.com/gpu 8}] []
	// node-b [{NVIDIA-A100-SXM4-40GB nvidia.com/gpu 4}] []
	// [25 50] node-b
	// devices [0 1]
	// got 2 of 3
}

// In a cluster where only some nodes give their GPUs away one by one.
func Example_sharedNodes() {
	shared := labelled("node-c", "4")
	shared.Labels["nvidia.com/gpu.product"] = "Tesla-T4-SHARED"
	shared.Labels["nvidia.com/gpu.count"] = "1"
	shared.Labels["nvidia.com/gpu.replicas"] = "4"
	nodes := []corev1.Node{labelled("node-a", "8"), labelled("node-b", "4"), shared}
	inventory, err := device.FromNodes(nodes, nil, device.LabelOptions{})
	if err != nil {
		panic(err)
	}
	resources, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.NoFold())
	if err != nil {
		panic(err)
	}

	// What is free of all resources, by node, and of devices.
	free := resources.NewMatrix(len(nodes))
	states := make([][]share.State, len(nodes))
	for k := range nodes {
		amounts, err := resources.NodeAllocatable(nil, &nodes[k], nil)
		if err != nil {
			panic(err)
		}
		free.SetRow(k, amounts)
		states[k] = share.States(&inventory.Nodes[k])
	}
	var scorer *share.Scorer // enough to ask what fits
	batch, err := scorer.NewBatch(device.KindGPU, states)
	if err != nil {
		panic(err)
	}
	counted := vector.NewMask(len(nodes)) // nodes whose GPUs are only a number
	for k := range nodes {
		if batch.Offsets[k] == batch.Offsets[k+1] {
			counted.Set(k)
		}
	}
	states[0][0].Free = share.Free{} // seven of eight are left
	if err := batch.Update(0, states[0]); err != nil {
		panic(err)
	}

	for _, gpus := range []string{"1", "8"} {
		pod := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}
		request, err := resources.RequestVector(nil, pod, nil)
		if err != nil {
			panic(err)
		}
		needs, err := share.Normalize(pod)
		if err != nil {
			panic(err)
		}

		// The amounts decide everywhere, the devices where there are any.
		var fits, byDevice, devices vector.Mask
		vector.Fit(&fits, free, request)
		if err := scorer.FitNodes(&byDevice, &devices, batch, needs[0]); err != nil {
			panic(err)
		}
		byDevice.Or(&byDevice, counted)
		fits.And(&fits, &byDevice)
		for k := range fits.All() {
			fmt.Println(gpus, "on", nodes[k].Name)
		}
	}

	// Output:
	// 1 on node-a
	// 1 on node-b
	// 1 on node-c
}
