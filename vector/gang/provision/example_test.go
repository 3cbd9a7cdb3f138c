package provision_test

import (
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang/provision"
)

// Ten pods wait: eight of 4 cpu, two of 8 cpu and 4 GPUs.
func ExampleCheapest() {
	shapes := []provision.Shape{
		{Room: vector.ResourceVector{16, 0}, Cost: 1},
		{Room: vector.ResourceVector{16, 8}, Cost: 12},
	}
	requests := vector.NewMatrix(vector.Schema{}, 0, 2)
	for range 8 {
		requests.AppendRow(vector.ResourceVector{4, 0})
	}
	for range 2 {
		requests.AppendRow(vector.ResourceVector{8, 4})
	}
	plan, err := provision.Cheapest(shapes, requests)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("nodes:", plan.Counts)
	fmt.Println("pods on:", plan.Placement)
	fmt.Printf("cost %g, and no plan costs less than %g\n", plan.Cost, plan.AtLeast)
	// Output:
	// nodes: [2 1]
	// pods on: [0 0 0 0 1 1 1 1 2 2]
	// cost 14, and no plan costs less than 12
}

// Three pods of 4 GPUs wait, of which two have room on a node that is there. Another may go to
// a new node only.
func ExampleProblem_Cheapest() {
	requests := func(pods int) *vector.Matrix {
		m := vector.NewMatrix(vector.Schema{}, 0, 1)
		for range pods {
			m.AppendRow(vector.ResourceVector{4})
		}
		return m
	}
	free := vector.NewMatrix(vector.Schema{}, 0, 1)
	free.AppendRow(vector.ResourceVector{8})
	problem := provision.Problem{
		Shapes: []provision.Shape{{Room: vector.ResourceVector{8}, Cost: 12}},
		Free:   free,
		Pods:   []provision.Pods{{Requests: requests(3)}, {Requests: requests(1), Rows: vector.NewMask(1)}},
	}
	plan, err := problem.Cheapest()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("new nodes:", plan.Counts)
	fmt.Println("pods on:", plan.Placement) // 0 is the node that is there
	fmt.Printf("cost %g, and no plan costs less than %g\n", plan.Cost, plan.AtLeast)
	// Output:
	// new nodes: [1]
	// pods on: [0 0 1 1]
	// cost 12, and no plan costs less than 12
}
