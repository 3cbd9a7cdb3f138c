package resvec_test

import (
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func Example() {
	// The schema: cpu, memory, gpu and pods are always there; GPUs are shared here,
	// so they count in thousandths.
	resources, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	if err != nil {
		panic(err)
	}

	// The cluster: one row per node. NodeAllocatable makes one from a corev1.Node.
	free := resources.NewMatrix(0)
	free.AppendRow(vector.ResourceVector{64_000, 256 << 30, 0, 110})
	free.AppendRow(vector.ResourceVector{16_000, 64 << 30, 4_000, 110})
	free.AppendRow(vector.ResourceVector{48_000, 128 << 30, 500, 110})

	// The pod: four cores, 16 GiB, half a GPU. PodRequest makes it from a corev1.Pod.
	request := vector.ResourceVector{4_000, 16 << 30, 500, 1}

	var fits vector.Mask
	vector.Fit(&fits, free, request) // which nodes can hold it

	idle := make([]float64, free.Rows())
	vector.NormalizedSum(idle, free, vector.MaxColumns(nil, free, nil)) // how much is left

	node := vector.ArgMin(idle, &fits, vector.TieLowest()) // the fullest one that fits
	fmt.Println(fits.Count(), "nodes fit, the pod goes to node", node)

	fmt.Println("node 0:", resources.Explain(request, nil, free.Row(nil, 0)))

	// Output:
	// 2 nodes fit, the pod goes to node 2
	// node 0: Insufficient nvidia.com/gpu (requested 500m, used 0 of 0, free 0)
}
