// Quickstart places three pods on four nodes: which nodes can hold a pod, how
// full is each, which one takes it, and what the others lack.
package main

import (
	"fmt"
	"log"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// The matrices of the cluster.
const (
	allocatable = iota
	used
	free
	matrices
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
	cluster := resources.NewTable(matrices)
	plain := vector.ResourceVector{vectormap.CPU: 64_000, vectormap.Memory: 256 << 30, vectormap.Pods: 110}
	withGPUs := plain.Clone()
	withGPUs[vectormap.GPU] = 4_000
	cluster.Upsert("cpu-1", 1, plain, nil, plain)
	cluster.Upsert("gpu-1", 1, withGPUs, nil, withGPUs)
	cluster.Upsert("gpu-2", 1, withGPUs, nil, withGPUs)
	cluster.Upsert("gpu-3", 1, withGPUs, nil, withGPUs)

	place(resources, cluster, "notebook", vector.ResourceVector{
		vectormap.CPU: 4_000, vectormap.Memory: 16 << 30, vectormap.GPU: 500, vectormap.Pods: 1})
	place(resources, cluster, "training", vector.ResourceVector{
		vectormap.CPU: 32_000, vectormap.Memory: 128 << 30, vectormap.GPU: 2_000, vectormap.Pods: 1})
	place(resources, cluster, "giant", vector.ResourceVector{
		vectormap.CPU: 64_000, vectormap.Memory: 64 << 30, vectormap.GPU: 8_000, vectormap.Pods: 1})
}

// place puts a pod on the fullest node that can hold it.
func place(resources *vectormap.ResourceVectorMap, cluster *vector.Table, pod string, request vector.ResourceVector) {
	// Filter: the rows whose free amounts cover the request.
	var fits vector.Mask
	vector.Fit(&fits, cluster.Matrix(free), request)
	if !fits.Any() {
		// Why not: how many rows each resource rejects.
		rejections := vector.Rejections(nil, cluster.Matrix(free), request, nil)
		fmt.Printf("%s stays pending: %s\n", pod, resources.ExplainRejections(cluster.Len(), rejections))
		return
	}

	// Score: how full each node is, the sum of the used shares of its resources.
	scores := make([]float64, cluster.Len())
	vector.NormalizedSumRows(scores, cluster.Matrix(used), cluster.Matrix(allocatable))

	// Select: the highest score, the lowest row among equals.
	row := vector.ArgMax(scores, &fits, vector.TieLowest())
	fmt.Printf("%s fits on %d of %d nodes and goes to %s, in use: %.3f\n",
		pod, fits.Count(), cluster.Len(), cluster.Name(row), scores[row])

	// Assume it: the request moves from free to used.
	if err := cluster.Move(free, used, row, request); err != nil {
		log.Fatal(err)
	}
}
