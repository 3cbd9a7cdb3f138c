package share_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A pod that asks for two halves of a GPU, and for a NIC.
func ExampleNormalize() {
	needs, err := share.Normalize(corev1.ResourceList{
		share.GPUShared:      resource.MustParse("2"),
		share.GPUCore:        resource.MustParse("100"),
		share.GPUMemoryRatio: resource.MustParse("100"),
		share.RDMA:           resource.MustParse("100"),
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
	need := share.Requirement{Kind: device.KindRDMA, PerInstance: share.Request{share.RDMA: 1}, Count: 1}
	all, err := need.WithHint(share.ApplyForAll, 3)
	fmt.Println(all.Count, all.PerInstance[share.RDMA], err)

	// Output:
	// 3 1 <nil>
}

// A request in bytes, in percent of a GPU of 32Gi.
func ExampleFillRequest() {
	req, err := share.FillRequest(share.Request{share.GPUMemory: 16 << 30}, share.Total{share.GPUMemory: 32 << 30})
	fmt.Println(req[share.GPUMemoryRatio], err)

	// Output:
	// 50 <nil>
}

func ExampleParseScoringStrategy() {
	cfg, err := share.ParseScoringStrategy([]byte(`
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
	s, err := share.NewScorer(*cfg)
	fmt.Println(s.Columns(), err)

	// Output:
	// [koordinator.sh/gpu-memory-ratio koordinator.sh/rdma] <nil>
}

// Half a GPU, on a node with one idle GPU and one of which a quarter is in use.
func ExampleScorer_ScoreNode() {
	s, err := share.NewScorer(share.Config{}, share.FillMemory)
	if err != nil {
		fmt.Println(err)
		return
	}
	needs := []share.Requirement{{Kind: device.KindGPU, PerInstance: share.Request{share.GPUMemory: 8 << 30}, Count: 1, Partial: true}}
	total := share.Total{share.GPUMemoryRatio: 100, share.GPUMemory: 16 << 30}
	devices := []share.State{
		{Kind: device.KindGPU, Minor: 0, Total: total, Free: share.Free(total)},
		{Kind: device.KindGPU, Minor: 1, Total: total, Free: share.Free{share.GPUMemoryRatio: 75, share.GPUMemory: 12 << 30}},
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
