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
		"koordinator.sh/gpu.shared":       resource.MustParse("2"),
		"koordinator.sh/gpu-core":         resource.MustParse("100"),
		"koordinator.sh/gpu-memory-ratio": resource.MustParse("100"),
		"koordinator.sh/rdma":             resource.MustParse("100"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range needs {
		fmt.Printf("%s %d x %v\n", n.Kind, n.Count, n.PerInstance)
	}
	// Output:
	// gpu 2 x koordinator.sh/gpu-core 50, koordinator.sh/gpu-memory-ratio 50
	// rdma 1 x koordinator.sh/rdma 100
}

// One NIC out of each of those that match a hint, three here.
func ExampleRequirement_WithHint() {
	need := share.Requirement{Kind: device.KindRDMA, PerInstance: share.Amounts{share.RDMA: 1}, Count: 1}
	all, err := need.WithHint(share.ApplyForAll, 3)
	fmt.Println(all.Count, all.PerInstance[share.RDMA], err)

	// Output:
	// 3 1 <nil>
}

// A request in bytes, in percent of a GPU of 32Gi.
func ExampleFillRequest() {
	req, err := share.FillRequest(share.Amounts{share.GPUMemory: 16 << 30}, share.Amounts{share.GPUMemory: 32 << 30})
	fmt.Println(req[share.GPUMemoryRatio], err)

	// Output:
	// 50 <nil>
}

// The resources of a GPU as Koordinator's Device has them.
func ExampleFromResourceList() {
	total, unknown, err := share.FromResourceList(corev1.ResourceList{
		"koordinator.sh/gpu-core":         resource.MustParse("100"),
		"koordinator.sh/gpu-memory":       resource.MustParse("80Gi"),
		"koordinator.sh/gpu-memory-ratio": resource.MustParse("100"),
		"example.com/gpu-decoders":        resource.MustParse("7"),
	})
	fmt.Println(total, unknown, err)

	// Output:
	// koordinator.sh/gpu-core 100, koordinator.sh/gpu-memory 80Gi, koordinator.sh/gpu-memory-ratio 100 [example.com/gpu-decoders] <nil>
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
	fmt.Println(cfg.Type, cfg.Resources, err)

	// Output:
	// MostAllocated [{koordinator.sh/gpu-memory-ratio 2} {koordinator.sh/rdma 1}] <nil>
}

// Half a GPU, on a node with one idle GPU and one of which a quarter is in use.
func ExampleBound_Explain() {
	scorer, err := share.NewScorer(share.Config{FillMemory: true})
	if err != nil {
		panic(err)
	}
	total := share.Amounts{share.GPUMemoryRatio: 100, share.GPUMemory: 16 << 30}
	var account share.Account
	if err := account.Set(0, []share.State{
		{Kind: device.KindGPU, Minor: 0, Total: total, Free: share.Amounts(total)},
		{Kind: device.KindGPU, Minor: 1, Total: total, Free: share.Amounts{share.GPUMemoryRatio: 75, share.GPUMemory: 12 << 30}},
	}); err != nil {
		panic(err)
	}
	needs := []share.Requirement{{Kind: device.KindGPU, PerInstance: share.Amounts{share.GPUMemory: 8 << 30}, Count: 1}}
	explanation, err := scorer.Bind(&account).Explain(0, needs)
	if err != nil {
		panic(err)
	}
	fmt.Print(explanation)

	// Output:
	// score 62 LeastAllocated
	// gpu: 62, devices: 2
	//   resource                         weight  request  total  free  used  score
	//   koordinator.sh/gpu-memory-ratio  1       50       200    175   75    62
	//   koordinator.sh/gpu-memory        0       8Gi      32Gi   28Gi  12Gi  no weight
}
