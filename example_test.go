package resvec_test

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func Example() {
	// The columns: cpu, memory, gpu and pods are always there. GPUs count in thousandths.
	resources, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	if err != nil {
		log.Fatal(err)
	}
	pack, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Pack}, resources)
	if err != nil {
		log.Fatal(err)
	}
	nodes := resources.NewNodes()       // a row for each; NodeAllocatable reads a corev1.Node
	scores := scoring.Bind(pack, nodes) // follows the nodes
	for i, has := range []vector.ResourceVector{{64_000, 256 << 30, 0, 110}, {48_000, 128 << 30, 4_000, 110}} {
		if _, _, err := nodes.Set(fmt.Sprint("node-", i), 1, vector.NodeAmounts{Allocatable: has}); err != nil {
			log.Fatal(err)
		}
	}
	// Four cores, 16 GiB, two and a half GPUs; PodRequest reads a corev1.Pod.
	pod := vector.PodAmounts{Requested: vector.ResourceVector{4_000, 16 << 30, 2_500, 1}}
	for range 2 {
		row, ok := scores.Best(pod, nil, vector.TieSeeded(42)) // fit, score, choose
		if !ok {
			rejected := vector.Rejections(nil, nodes.Free(), pod.Requested, nil)
			fmt.Println("the pod waits:", resources.ExplainRejections(nodes.Len(), rejected))
			continue
		}
		if err := nodes.Assume(row, pod); err != nil { // less is free for the next one
			log.Fatal(err)
		}
		fmt.Println("the pod goes to", nodes.Name(row))
	}

	// Output:
	// the pod goes to node-1
	// the pod waits: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
}
