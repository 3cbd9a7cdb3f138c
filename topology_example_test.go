package resvec_test

import (
	"fmt"
	"iter"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The code of docs/topology.md, and what the page says in words.

// topologyNodes returns six nodes in two blocks, by the GPUs that they have.
func topologyNodes() (nodes []*corev1.Node) {
	for _, n := range []struct{ block, rack, host, gpus string }{
		{"b1", "r1", "h1", "4"}, {"b1", "r1", "h2", "3"}, {"b1", "r2", "h3", "2"},
		{"b2", "r3", "h4", "5"}, {"b2", "r3", "h5", "1"}, {"b2", "r4", "h6", "4"},
	} {
		nodes = append(nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.host, Labels: map[string]string{
				"example.com/block": n.block, "example.com/rack": n.rack, "kubernetes.io/hostname": n.host,
			}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				"nvidia.com/gpu": resource.MustParse(n.gpus), corev1.ResourcePods: resource.MustParse("110"),
			}},
		})
	}
	return nodes
}

func Example_topology() {
	nodes := topologyNodes()

	levels := []string{"example.com/block", "example.com/rack", "kubernetes.io/hostname"}
	topology, notes, err := vectormap.NewTopology(levels, nodes) // row i is nodes[i]
	if err != nil || len(notes) > 0 {
		fmt.Println(notes, err)
		return
	}

	resources, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	free := resources.NewMatrix(0)
	for _, node := range nodes {
		amounts, err := resources.NodeAllocatable(nil, node, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		free.AppendRow(amounts)
	}
	request := resources.NewVector()
	request[vectormap.GPU], request[vectormap.Pods] = 1, 1

	placement, err := placeNear(free, nil, topology, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(placement.Placement)

	placement, err = new(gang.Packer).PlaceTopology(placement, free, gang.TopologyRequest{
		Count: 8, Request: request, Required: "example.com/rack",
	}, nil, topology)
	if err != nil {
		fmt.Println(err)
		return
	}
	refuse(topology, placement, func(level string, path []string, could int, rejections []int) {
		fmt.Println(level, path, "could take", could)
	})

	victims := func(yield func(int, vector.ResourceVector) bool) {
		for _, row := range []int{5, 0, 1} { // two GPUs each
			if !yield(row, vector.ResourceVector{vectormap.GPU: 2}) {
				return
			}
		}
	}
	evict, err := makeRoom(placement, vector.NewOverlay(free), nil, topology, gang.TopologyRequest{
		Count: 8, Request: request, Required: "example.com/rack",
	}, victims)
	fmt.Println("evict", evict, err)

	if err := nodesChange(topology, nodes); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0 0 0 0 1 1 1 2]
	// example.com/rack [b1 r1] could take 7
	// evict [1] <nil>
}

// nodesChange is what follows the nodes of a cluster.
func nodesChange(topology *gang.Topology, nodes []*corev1.Node) error {
	node, row := nodes[2], 2
	node.Labels["example.com/rack"] = "r1"

	missing := vectormap.SetTopology(topology, row, node) // a new node or new labels
	if missing != "" {
		return fmt.Errorf("no label %s", missing)
	}
	moved := topology.RemoveRow(row) // as vector.Matrix.RemoveRow does
	if moved != 5 {
		return fmt.Errorf("row %d moved", moved)
	}
	return nil
}

func placeNear(free *vector.Matrix, rows *vector.Mask, topology *gang.Topology, request vector.ResourceVector) (placement gang.TopologyPlacement, err error) {
	var pods []int32
	bind := func(rows []int32) { pods = rows }

	var packer gang.Packer // one per worker
	placement, err = packer.PlaceTopology(placement, free, gang.TopologyRequest{
		Count: 8, Request: request, // eight pods that are alike
		Preferred: "example.com/rack",
	}, rows, topology)
	if placement.Fits {
		bind(placement.Placement) // the row of each pod
	}
	if len(pods) != 8 {
		return placement, fmt.Errorf("%d pods", len(pods))
	}
	return placement, err
}

func refuse(topology *gang.Topology, placement gang.TopologyPlacement, report func(level string, path []string, could int, rejections []int)) {
	if !placement.Fits {
		// rack b1/r1 could take 7 of 8
		level, path := topology.Levels()[placement.Level], topology.Path(nil, placement.Domain)
		report(level, path, placement.Could, placement.Rejections)
	}
}

func makeRoom(placement gang.TopologyPlacement, overlay *vector.Overlay, rows *vector.Mask, topology *gang.Topology, request gang.TopologyRequest, victims iter.Seq2[int, vector.ResourceVector]) ([]int32, error) {
	var packer gang.Packer
	request.Reprieve = true // victims that the gang does not need stay
	placement, err := packer.FilterTopology(placement, overlay, request, rows, topology, victims)
	evict := placement.Victims // their indices; placement.Fits is false if all are not enough
	return evict, err
}
