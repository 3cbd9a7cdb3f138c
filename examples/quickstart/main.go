// Quickstart places three pods on four nodes: which node takes a pod, how full it is,
// and, where none can hold the pod, what the nodes lack. It takes no flags. The exit status
// is 1 when something fails.
package main

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func main() {
	// The schema gives every resource an index and a unit. GPUs count in
	// thousandths, so that shares of them add up exactly.
	resources, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	if err != nil {
		log.Fatal(err)
	}

	// The cluster has one row per node. Amounts are in the units of the schema:
	// milli-CPU, bytes, thousandths of a GPU, pods.
	nodes := resources.NewNodes()
	for _, name := range []string{"cpu-1", "gpu-1", "gpu-2", "gpu-3"} {
		allocatable := vector.ResourceVector{vectormap.CPU: 64_000, vectormap.Memory: 256 << 30, vectormap.Pods: 110}
		if name != "cpu-1" {
			allocatable[vectormap.GPU] = 4_000
		}
		if _, _, err := nodes.Set(name, 1, vector.NodeAmounts{Allocatable: allocatable}); err != nil {
			log.Fatal(err)
		}
	}

	// The scorer says how full a node would be with the pod: the sum of the requested
	// shares of its resources. It is compiled once, and bound to the nodes once.
	load, err := scoring.CompileLoad(scoring.LoadConfig{Direction: scoring.Raw}, resources)
	if err != nil {
		log.Fatal(err)
	}
	c := &cluster{resources: resources, nodes: nodes, scores: scoring.Bind(load, nodes)}

	c.place("notebook", vector.ResourceVector{
		vectormap.CPU: 4_000, vectormap.Memory: 16 << 30, vectormap.GPU: 500, vectormap.Pods: 1})
	c.place("training", vector.ResourceVector{
		vectormap.CPU: 32_000, vectormap.Memory: 128 << 30, vectormap.GPU: 2_000, vectormap.Pods: 1})
	c.place("giant", vector.ResourceVector{
		vectormap.CPU: 64_000, vectormap.Memory: 64 << 30, vectormap.GPU: 8_000, vectormap.Pods: 1})
}

type cluster struct {
	resources *vectormap.ResourceVectorMap
	nodes     *vector.Nodes
	scores    *scoring.Bound
}

// place puts a pod on the fullest node that can hold it.
func (c *cluster) place(name string, request vector.ResourceVector) {
	pod := vector.PodAmounts{Requested: request}

	// Filter, score and select: the node with the greatest score among those that can
	// hold the pod.
	row, ok := c.scores.Best(pod, nil, vector.TieSeeded(42))
	if !ok {
		// Why not: how many nodes each resource rejects.
		rejections := vector.Rejections(nil, c.nodes.Free(), request, nil)
		fmt.Printf("%s stays pending: %s\n", name, c.resources.ExplainRejections(c.nodes.Len(), rejections))
		return
	}
	why, err := c.scores.Explain(pod, row, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s goes to %s, then in use: %.3f\n", name, c.nodes.Name(row), why.Total)

	// Assume it: the node has so much less free for the next pod.
	if err := c.nodes.Assume(row, pod); err != nil {
		log.Fatal(err)
	}
}
