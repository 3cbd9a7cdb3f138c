package vector_test

import (
	"fmt"

	"github.com/resvec/resvec/vector"
)

// Three nodes with free cpu and gpu, and a gang of a launcher and two workers.
func ExamplePacker_Place() {
	free := vector.NewMatrix(vector.Schema{}, 3, 2)
	free.SetRow(0, vector.ResourceVector{8, 1})
	free.SetRow(1, vector.ResourceVector{32, 4})
	free.SetRow(2, vector.ResourceVector{40, 8})

	gang := vector.NewMatrix(vector.Schema{}, 3, 2)
	gang.SetRow(0, vector.ResourceVector{4, 0})
	gang.SetRow(1, vector.ResourceVector{16, 4})
	gang.SetRow(2, vector.ResourceVector{16, 4})

	packer := vector.NewPacker(vector.PackOptions{
		Total:  vector.SumColumns(nil, free, nil),
		Order:  vector.OrderNormalizedSum,
		Choice: vector.BestFit,
		Tie:    vector.TieLowest(),
	})
	placement, ok := packer.Place(nil, free, gang, nil)
	fmt.Println(placement, ok)
	// Output: [0 1 2] true
}

// Two nodes with room for three workers each do not make room for seven.
func ExamplePacker_Infeasible() {
	free := vector.NewMatrix(vector.Schema{}, 2, 2)
	free.SetRow(0, vector.ResourceVector{60, 7})
	free.SetRow(1, vector.ResourceVector{60, 8})

	gang := vector.NewMatrix(vector.Schema{}, 7, 2)
	for i := range gang.Rows() {
		gang.SetRow(i, vector.ResourceVector{16, 2})
	}

	var packer vector.Packer
	why, infeasible := packer.Infeasible(free, gang, nil)
	fmt.Println(infeasible, why.Reason)
	fmt.Printf("%g members, %g places\n", why.Needed, why.Available)
	// Output:
	// true copies
	// 7 members, 6 places
}

// How many of the running pods have to go, lowest priority first, for two
// workers with four GPUs each?
func Example_scenarioFilter() {
	free := vector.NewMatrix(vector.Schema{}, 2, 2)
	free.SetRow(0, vector.ResourceVector{10, 1})
	free.SetRow(1, vector.ResourceVector{20, 3})

	running := vector.Victims{
		Rows:    []int32{0, 1, 0, 1},
		Amounts: vector.NewMatrix(vector.Schema{}, 4, 2),
	}
	for i, gpus := range []float64{1, 1, 2, 4} {
		running.Amounts.SetRow(i, vector.ResourceVector{8, gpus})
	}

	gang := vector.NewMatrix(vector.Schema{}, 2, 2)
	gang.SetRow(0, vector.ResourceVector{16, 4})
	gang.SetRow(1, vector.ResourceVector{16, 4})

	packer := vector.NewPacker(vector.PackOptions{Total: vector.ResourceVector{64, 16}})
	overlay := vector.NewOverlay(free)
	answer, err := packer.Filter(nil, overlay, gang, nil, running)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("evict", answer.Prefix, "minimal", answer.Minimal)
	for i, row := range answer.Placement {
		fmt.Println("worker", i, "on node", row)
	}
	// Output:
	// evict 3 minimal true
	// worker 0 on node 0
	// worker 1 on node 1
}
