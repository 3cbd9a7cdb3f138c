package gang_test

import (
	"fmt"
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// exampleCluster returns the cluster of docs/topology.md: two blocks of two racks, and
// the GPUs that are free on each host.
func exampleCluster() (*gang.Topology, *vector.Matrix) {
	topology, err := gang.NewTopology("block", "rack", "host")
	if err != nil {
		panic(err)
	}
	free := vector.NewMatrix(vector.Schema{}, 0, 1)
	for _, host := range []struct {
		path string
		gpus float64
	}{
		{"b1 r1 h1", 4}, {"b1 r1 h2", 3}, {"b1 r2 h3", 2}, {"b2 r3 h4", 5}, {"b2 r3 h5", 1}, {"b2 r4 h6", 4},
	} {
		path := strings.Fields(host.path)
		row := free.AppendRow(vector.ResourceVector{host.gpus})
		if err := topology.Set(row, path[2], path...); err != nil {
			panic(err)
		}
	}
	return topology, free
}

// printPlacement prints where the pods of a gang go, or why they do not.
func printPlacement(topology *gang.Topology, placement gang.TopologyPlacement, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	if !placement.Fits {
		fmt.Printf("refused: %s could take %d; %d hosts lack GPUs\n",
			strings.Join(topology.Path(nil, placement.Domain), "/"), placement.Could, placement.Rejections[0])
		return
	}
	var hosts []string
	for _, row := range placement.Placement {
		hosts = append(hosts, topology.Path(nil, topology.Domain(int(row), 2))[2])
	}
	fmt.Printf("%d %s: %s\n", placement.Domains, topology.Levels()[placement.Level], strings.Join(hosts, " "))
}

// All pods in one rack, or a refusal.
func ExamplePacker_PlaceTopology_required() {
	topology, free := exampleCluster()
	var packer gang.Packer
	for _, pods := range []int{5, 8} {
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: pods, Request: vector.ResourceVector{1}, Required: "rack",
		}, nil, topology)
		printPlacement(topology, placement, err)
	}
	// Output:
	// 1 rack: h4 h4 h4 h4 h4
	// refused: b1/r1 could take 7; 0 hosts lack GPUs
}

// One rack if there is one, else one block, else as few blocks as can be.
func ExamplePacker_PlaceTopology_preferred() {
	topology, free := exampleCluster()
	var packer gang.Packer
	for _, pods := range []int{7, 8, 12} {
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: pods, Request: vector.ResourceVector{1}, Preferred: "rack",
		}, nil, topology)
		printPlacement(topology, placement, err)
	}
	// Output:
	// 1 rack: h1 h1 h1 h1 h2 h2 h2
	// 1 block: h1 h1 h1 h1 h2 h2 h2 h3
	// 2 block: h1 h1 h1 h1 h2 h2 h2 h4 h4 h4 h4 h4
}

// As few hosts as can be, wherever they are; or those with the fewest free GPUs first,
// which keeps large gaps for others.
func ExamplePacker_PlaceTopology_unconstrained() {
	topology, free := exampleCluster()
	var packer gang.Packer
	for _, leastFree := range []bool{false, true} {
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: 6, Request: vector.ResourceVector{1}, LeastFree: leastFree,
		}, nil, topology)
		printPlacement(topology, placement, err)
	}
	// Output:
	// 2 host: h4 h4 h4 h4 h4 h5
	// 3 host: h2 h2 h2 h3 h3 h5
}

// One rack if there is one, else one block, or a refusal.
func ExamplePacker_PlaceTopology_requiredAndPreferred() {
	topology, free := exampleCluster()
	var packer gang.Packer
	for _, pods := range []int{7, 8, 12} {
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: pods, Request: vector.ResourceVector{1}, Preferred: "rack", Required: "block",
		}, nil, topology)
		printPlacement(topology, placement, err)
	}
	// Output:
	// 1 rack: h1 h1 h1 h1 h2 h2 h2
	// 1 block: h1 h1 h1 h1 h2 h2 h2 h3
	// refused: b2 could take 10; 0 hosts lack GPUs
}

// Groups of two pods that talk a lot to each other: each group within a rack. The last
// group may be smaller.
func ExamplePacker_PlaceTopology_slices() {
	topology, free := exampleCluster()
	var packer gang.Packer
	for _, pods := range []int{14, 15} {
		placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: pods, Request: vector.ResourceVector{1}, Preferred: "block", Slices: map[string]int{"rack": 2}, Tail: true,
		}, nil, topology)
		printPlacement(topology, placement, err)
	}
	// Output:
	// 2 block: h1 h1 h1 h1 h2 h2 h3 h3 h4 h4 h4 h4 h4 h5
	// 2 block: h1 h1 h1 h1 h2 h2 h2 h3 h3 h4 h4 h4 h4 h4 h5
}

// A leader that needs two GPUs, and four workers of one each, in one rack.
func ExamplePacker_PlaceTopology_leader() {
	topology, free := exampleCluster()
	var packer gang.Packer
	placement, err := packer.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
		Count: 4, Request: vector.ResourceVector{1}, Leader: vector.ResourceVector{2}, Required: "rack",
	}, nil, topology)
	printPlacement(topology, placement, err)
	fmt.Println("leader on", topology.Path(nil, topology.Domain(placement.Leader, 2)))
	// Output:
	// 1 rack: h4 h4 h4 h5
	// leader on [b2 r3 h4]
}

// Which of the running pods have to go for eight pods in one rack?
func ExamplePacker_FilterTopology() {
	topology, free := exampleCluster()
	victims := func(yield func(row int, amounts vector.ResourceVector) bool) {
		for _, row := range []int{5, 0, 5, 1} { // two GPUs each, in the order in which they would go
			if !yield(row, vector.ResourceVector{2}) {
				return
			}
		}
	}
	var packer gang.Packer
	placement, err := packer.FilterTopology(gang.TopologyPlacement{}, vector.NewOverlay(free), gang.TopologyRequest{
		Count: 8, Request: vector.ResourceVector{1}, Required: "rack", Reprieve: true,
	}, nil, topology, victims)
	printPlacement(topology, placement, err)
	fmt.Println("of the first", placement.Prefix, "evict", placement.Victims)
	// Output:
	// 1 rack: h1 h1 h1 h1 h1 h1 h2 h2
	// of the first 2 evict [1]
}
