package share_test

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labeled is a node as GPU feature discovery labels it.
func labeled(name string, gpus string) corev1.Node {
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

// From the nodes of a cluster to the devices that a pod gets.
func Example() {
	list := []corev1.Node{labeled("node-b", "4"), labeled("node-a", "8")}

	// What is there, sorted by name.
	inventory, err := device.FromNodes(list, nil, device.Options{})
	if err != nil {
		panic(err)
	}
	for _, node := range inventory.Nodes {
		fmt.Println(node.Name, node.Cards, node.Problems)
	}

	// The account: what each device has, and what of it is free. Its rows are the rows of nodes.
	resources, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	nodes := resources.NewNodes()
	var account share.Account
	for i := range list {
		amounts, err := resources.NodeAllocatable(nil, &list[i], nil)
		if err != nil {
			panic(err)
		}
		row, _, err := nodes.Set(list[i].Name, 1, vector.NodeAmounts{Allocatable: amounts})
		if err != nil {
			panic(err)
		}
		d, _ := inventory.Node(list[i].Name)
		if err := account.Set(row, share.States(d)); err != nil {
			panic(err)
		}
	}
	// FillMemory keeps percent and bytes of GPU memory in step.
	scorer, err := share.NewScorer(share.Config{Type: share.MostAllocated, FillMemory: true})
	if err != nil {
		panic(err)
	}
	devices := scorer.Bind(&account)

	// What a pod needs: two GPUs.
	needs, err := share.Normalize(corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")})
	if err != nil {
		panic(err)
	}

	// Which nodes can hold it, and how good they are: 2 of 4 devices used, or 2 of 8.
	var fits vector.Mask
	if err := devices.Fit(&fits, needs); err != nil {
		panic(err)
	}
	scores := make([]int64, account.Len())
	if err := devices.Score(scores, needs, &fits); err != nil {
		panic(err)
	}
	best := vector.ArgMax(scores, &fits, vector.TieLowest())
	fmt.Println(scores, nodes.Name(best))

	// Which devices on it.
	request := share.AllocRequest{Requirement: needs[0], Policy: share.PackTopology}
	chosen, err := devices.Allocate(best, request)
	if err != nil {
		panic(err)
	}
	if err := account.Commit(best, chosen); err != nil {
		panic(err)
	}
	fmt.Println("devices", chosen.Minors())

	// Too much: the refusal has numbers.
	request.Count = 3
	_, err = devices.Allocate(best, request)
	var refusal *share.NotEnoughError
	if errors.As(err, &refusal) {
		fmt.Println("got", refusal.Got, "of", refusal.Want)
	}

	// Output:
	// node-a [{NVIDIA-A100-SXM4-40GB nvidia.com/gpu 8}] []
	// node-b [{NVIDIA-A100-SXM4-40GB nvidia.com/gpu 4}] []
	// [50 25] node-b
	// devices [0 1]
	// got 2 of 3
}

// read converts a pod: what it requests of nodes, and what it needs of devices.
func read(m *vectormap.ResourceVectorMap, pod *corev1.Pod) (amounts vector.ResourceVector, needs []share.Requirement, err error) {
	options := vectormap.PodOptions{APIServerDefaults: true}
	var unknown []string // no columns: no node that made the map announces them
	if amounts, err = m.PodRequest(nil, pod, options, &unknown); err != nil {
		return nil, nil, err
	}
	for _, name := range unknown {
		_, counted := share.ResourceNamed(name) // by the account
		if !counted && name != "koordinator.sh/gpu" && name != "koordinator.sh/gpu.shared" {
			return nil, nil, fmt.Errorf("no node has %s", name)
		}
	}
	needs, err = share.Normalize(vectormap.PodRequests(pod, options))
	return amounts, needs, err
}

// Parts of GPUs are no amounts of nodes. A misspelled name is found all the same.
func Example_names() {
	node := labeled("node-a", "8")
	b := vectormap.NewBuilder()
	b.AddNode(&node)
	m, err := b.Build()
	if err != nil {
		panic(err)
	}
	for _, name := range []corev1.ResourceName{"nvidia.com/gpu", "koordinator.sh/gpu", "koordinator.sh/gpu-cores"} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Limits: corev1.ResourceList{name: resource.MustParse("50")},
		}}}}}
		amounts, needs, err := read(m, pod)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(name, amounts.Get(vectormap.GPU), needs[0].Count, needs[0].PerInstance)
	}
	// Output:
	// nvidia.com/gpu 50 50 koordinator.sh/gpu-core 100, koordinator.sh/gpu-memory-ratio 100
	// koordinator.sh/gpu 0 1 koordinator.sh/gpu-core 50, koordinator.sh/gpu-memory-ratio 50
	// no node has koordinator.sh/gpu-cores
}

// takeShare takes a pod's part of a GPU where the fewest fragments stay behind. With an
// error nothing is taken.
func takeShare(scores *gpu.Bound, devices *share.Bound, nodes *vector.Nodes, account *share.Account, pod vector.PodAmounts, need share.Requirement) (row int, chosen share.Allocation, err error) {
	req, err := account.GPURequest(pod.Requested, need)
	if err != nil {
		return -1, chosen, err
	}
	row, ok := scores.Best(&req, nil, vector.TieLowest())
	if !ok {
		return -1, chosen, errors.New(scores.Rejections(&req, nil).String())
	}
	minors := account.Minors(nil, row, scores.ChooseDevices(nil, &req, row))
	chosen, err = devices.Allocate(row, share.AllocRequest{Requirement: need, Required: minors})
	if err != nil {
		return -1, chosen, err
	}
	if err := account.Commit(row, chosen); err != nil {
		return -1, chosen, err
	}
	if err := nodes.Assume(row, pod); err != nil {
		return -1, chosen, errors.Join(err, account.Release(row, chosen)) // undo
	}
	return row, chosen, nil
}

// giveBack undoes takeShare, when binding failed or the pod has ended.
func giveBack(nodes *vector.Nodes, account *share.Account, row int, pod vector.PodAmounts, chosen share.Allocation) error {
	return errors.Join(nodes.Forget(row, pod), account.Release(row, chosen))
}

// A pod that takes 40 percent of a GPU goes where the fewest fragments stay behind, node
// and device by the same measure.
func ExampleAccount_GPUs() {
	m, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	nodes := m.NewNodes()
	var account share.Account
	for _, used := range [][]int64{{40, 30}, {0, 60}} { // percent, by GPU
		var devices []share.State
		for minor, percent := range used {
			devices = append(devices, share.State{
				Kind: device.KindGPU, Minor: int32(minor), UUID: fmt.Sprintf("GPU-%d%d", nodes.Len(), minor),
				Product: "NVIDIA-A100-SXM4-40GB",
				Total:   share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
				Free:    share.Amounts{share.GPUCore: 100 - percent, share.GPUMemoryRatio: 100 - percent},
			})
		}
		row, _, err := nodes.Set(fmt.Sprint("node-", nodes.Len()), 1, vector.NodeAmounts{Allocatable: vector.ResourceVector{32000, 128 << 30}})
		if err != nil {
			panic(err)
		}
		if err := account.Set(row, devices); err != nil {
			panic(err)
		}
	}

	// Once: what pods are like, and the scorers.
	typical, err := gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 50},
		{CPU: 8000, Count: 1, Milli: 1000, Pods: 30},
	}, 0.95)
	if err != nil {
		panic(err)
	}
	fgd, err := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	if err != nil {
		panic(err)
	}
	scores := gpu.Bind(fgd, nodes, account.GPUs())
	var scorer *share.Scorer // only the devices that FGD chooses are allocated
	devices := scorer.Bind(&account)

	// For each pod.
	pod := vector.PodAmounts{Requested: vector.ResourceVector{4000, 16 << 30}}
	needs, err := share.Normalize(corev1.ResourceList{"koordinator.sh/gpu": resource.MustParse("40")})
	if err != nil {
		panic(err)
	}
	row, chosen, err := takeShare(scores, devices, nodes, &account, pod, needs[0])
	if err != nil {
		panic(err)
	}
	fmt.Println(nodes.Name(row), chosen.Devices[0].UUID, "left", account.GPUs().Devices(row))
	if err := giveBack(nodes, &account, row, pod, chosen); err != nil {
		panic(err)
	}
	fmt.Println("given back:", account.GPUs().Devices(row))
	// Output:
	// node-1 GPU-11 left [1000 0]
	// given back: [1000 400]
}

// takeGang takes devices for all members or none. scores and devices are bound to trial,
// on which the members are placed one after the other; account changes when all are.
func takeGang(scores *gpu.Bound, devices *share.Bound, nodes *vector.Nodes, trial, account *share.Account, members int, pod vector.PodAmounts, need share.Requirement) (rows []int, chosen []share.Allocation, err error) {
	trial.CopyFrom(account)
	for len(rows) < members {
		row, one, refusal := takeShare(scores, devices, nodes, trial, pod, need)
		if refusal != nil {
			err = fmt.Errorf("member %d: %w", len(rows), refusal)
			break
		}
		rows, chosen = append(rows, row), append(chosen, one)
	}
	if err == nil {
		for i, row := range rows {
			if err := account.Commit(row, chosen[i]); err != nil {
				panic(err) // was possible in the copy
			}
		}
		return rows, chosen, nil
	}
	for i := len(rows) - 1; i >= 0; i-- { // only nodes were written
		err = errors.Join(err, nodes.Forget(rows[i], pod))
	}
	return nil, nil, err
}

// A gang of pods with half a GPU each: three of them fit, four don't.
func Example_gang() {
	m, err := vectormap.New(nil)
	if err != nil {
		panic(err)
	}
	nodes := m.NewNodes()
	var account, trial share.Account
	for _, free := range []int64{100, 50} { // percent, of the one GPU of each node
		row, _, err := nodes.Set(fmt.Sprint("node-", nodes.Len()), 1, vector.NodeAmounts{Allocatable: vector.ResourceVector{32000, 128 << 30}})
		if err != nil {
			panic(err)
		}
		if err := account.Set(row, []share.State{{
			Kind:  device.KindGPU,
			Total: share.Amounts{share.GPUCore: 100, share.GPUMemoryRatio: 100},
			Free:  share.Amounts{share.GPUCore: free, share.GPUMemoryRatio: free},
		}}); err != nil {
			panic(err)
		}
	}
	scores := gpu.Bind(gpu.NewPacking(m), nodes, trial.GPUs())
	var scorer *share.Scorer
	devices := scorer.Bind(&trial)

	pod := vector.PodAmounts{Requested: vector.ResourceVector{4000, 16 << 30}}
	needs, err := share.Normalize(corev1.ResourceList{"koordinator.sh/gpu": resource.MustParse("50")})
	if err != nil {
		panic(err)
	}
	for _, members := range []int{4, 3} {
		rows, _, err := takeGang(scores, devices, nodes, &trial, &account, members, pod, needs[0])
		fmt.Println(members, "members:", rows, err)
	}
	fmt.Println("cpu used:", nodes.Requested().Column(vectormap.CPU))
	// Output:
	// 4 members: [] member 3: 0/2 nodes fit: 2 without enough GPUs left
	// 3 members: [1 0 0] <nil>
	// cpu used: [8000 4000]
}
