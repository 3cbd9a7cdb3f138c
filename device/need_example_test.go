package device_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A pod that asks for two halves of a GPU, and for a NIC.
func ExampleNormalize() {
	needs, err := device.Normalize(corev1.ResourceList{
		device.GPUShared:      resource.MustParse("2"),
		device.GPUCore:        resource.MustParse("100"),
		device.GPUMemoryRatio: resource.MustParse("100"),
		device.RDMA:           resource.MustParse("100"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range needs {
		fmt.Println(n.Kind, n.Count, n.PerInstance, n.Partial)
	}
	// Output:
	// gpu 2 map[koordinator.sh/gpu-core:50 koordinator.sh/gpu-memory-ratio:50] true
	// rdma 1 map[koordinator.sh/rdma:100] false
}

// One NIC out of each of those that match a hint, three here.
func ExampleRequirement_WithHint() {
	need := device.Requirement{Kind: device.KindRDMA, PerInstance: device.Request{device.RDMA: 1}, Count: 1}
	all, err := need.WithHint(device.ApplyForAll, 3)
	fmt.Println(all.Count, all.PerInstance[device.RDMA], err)

	// Output:
	// 3 1 <nil>
}

// A request in bytes, in percent of a GPU of 32Gi.
func ExampleFillRequest() {
	req, err := device.FillRequest(device.Request{device.GPUMemory: 16 << 30}, device.Total{device.GPUMemory: 32 << 30})
	fmt.Println(req[device.GPUMemoryRatio], err)

	// Output:
	// 50 <nil>
}

func ExampleParseScoringStrategy() {
	cfg, err := device.ParseScoringStrategy([]byte(`
scoringStrategy:
  type: MostAllocated
  resources:
  - name: koordinator.sh/gpu-memory-ratio
    weight: 2
  - name: koordinator.sh/rdma
    weight: 1
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := device.NewScorer(*cfg)
	fmt.Println(s.Columns(), err)

	// Output:
	// [koordinator.sh/gpu-memory-ratio koordinator.sh/rdma] <nil>
}

// Half a GPU, on a node with one idle GPU and one of which a quarter is in use.
func ExampleScorer_ScoreNode() {
	s, err := device.NewScorer(device.Config{}, device.FillMemory)
	if err != nil {
		fmt.Println(err)
		return
	}
	needs := []device.Requirement{{Kind: device.KindGPU, PerInstance: device.Request{device.GPUMemory: 8 << 30}, Count: 1, Partial: true}}
	total := device.Total{device.GPUMemoryRatio: 100, device.GPUMemory: 16 << 30}
	devices := []device.State{
		{Kind: device.KindGPU, Minor: 0, Total: total, Free: device.Free(total)},
		{Kind: device.KindGPU, Minor: 1, Total: total, Free: device.Free{device.GPUMemoryRatio: 75, device.GPUMemory: 12 << 30}},
	}
	score, err := s.ScoreNode(needs, devices)
	fmt.Println(score, err)
	explanation, _ := s.ExplainNode(needs, devices)
	fmt.Print(explanation)

	// Output:
	// 62 <nil>
	// score 62 LeastAllocated
	// gpu: 62, devices: 2
	//   resource                         weight  request  total  free  used  score
	//   koordinator.sh/gpu-memory-ratio  1       50       200    175   75    62
	//   koordinator.sh/gpu-memory        0       8Gi      32Gi   28Gi  12Gi  no weight
}
