package gang_test

import (
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// Three nodes with free cpu and gpu, and a gang of a launcher and two workers.
func ExamplePacker_Place() {
	free := vector.NewMatrix(vector.Schema{}, 3, 2)
	free.SetRow(0, vector.ResourceVector{8, 1})
	free.SetRow(1, vector.ResourceVector{32, 4})
	free.SetRow(2, vector.ResourceVector{40, 8})

	requests := vector.NewMatrix(vector.Schema{}, 3, 2)
	requests.SetRow(0, vector.ResourceVector{4, 0})
	requests.SetRow(1, vector.ResourceVector{16, 4})
	requests.SetRow(2, vector.ResourceVector{16, 4})

	packer := gang.NewPacker(gang.Options{
		Total:   vector.SumColumns(nil, free, nil),
		BestFit: vector.TieLowest(),
	})
	placement, _, ok := packer.Place(nil, free, requests, nil, nil)
	fmt.Println(placement, ok)
	// Output: [0 1 2] true
}

// Two nodes with room for three workers each do not make room for seven.
func ExamplePacker_Infeasible() {
	free := vector.NewMatrix(vector.Schema{}, 2, 2)
	free.SetRow(0, vector.ResourceVector{60, 7})
	free.SetRow(1, vector.ResourceVector{60, 8})

	requests := vector.NewMatrix(vector.Schema{}, 7, 2)
	for i := range requests.Rows() {
		requests.SetRow(i, vector.ResourceVector{16, 2})
	}

	var packer gang.Packer
	why, infeasible := packer.Infeasible(free, requests, nil, nil)
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

	running := []struct {
		node  int
		usage vector.ResourceVector
	}{{0, vector.ResourceVector{8, 1}}, {1, vector.ResourceVector{8, 1}}, {0, vector.ResourceVector{8, 2}}, {1, vector.ResourceVector{8, 4}}}
	victims := func(yield func(int, vector.ResourceVector) bool) {
		for _, pod := range running {
			if !yield(pod.node, pod.usage) {
				return
			}
		}
	}

	requests := vector.NewMatrix(vector.Schema{}, 2, 2)
	requests.SetRow(0, vector.ResourceVector{16, 4})
	requests.SetRow(1, vector.ResourceVector{16, 4})

	packer := gang.NewPacker(gang.Options{Total: vector.ResourceVector{64, 16}})
	overlay := vector.NewOverlay(free)
	answer, err := packer.Filter(nil, overlay, requests, nil, nil, victims)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("evict", answer.Prefix, "minimal", answer.Prefix == answer.LowerBound)
	for i, row := range answer.Placement {
		fmt.Println("worker", i, "on node", row)
	}
	// Output:
	// evict 3 minimal true
	// worker 0 on node 0
	// worker 1 on node 1
}

// An eviction loop asks after every victim whether a simulation could succeed.
func ExampleProof() {
	free := vector.NewMatrix(vector.Schema{}, 2, 2)
	free.SetRow(0, vector.ResourceVector{10, 1})
	free.SetRow(1, vector.ResourceVector{20, 3})

	requests := vector.NewMatrix(vector.Schema{}, 2, 2)
	requests.SetRow(0, vector.ResourceVector{16, 4})
	requests.SetRow(1, vector.ResourceVector{16, 4})

	var proof gang.Proof
	proof.Reset(free, requests, nil)
	for _, victim := range []struct {
		node  int
		usage vector.ResourceVector
	}{{0, vector.ResourceVector{8, 1}}, {1, vector.ResourceVector{8, 2}}, {0, vector.ResourceVector{8, 2}}} {
		if err := proof.Release(victim.node, victim.usage); err != nil {
			fmt.Println(err)
			return
		}
		if why, impossible := proof.Infeasible(); impossible {
			fmt.Printf("%v: %g of %g\n", why.Reason, why.Available, why.Needed)
			continue
		}
		fmt.Println("simulate")
	}
	proof.Rollback(gang.Mark{})
	why, _ := proof.Infeasible()
	fmt.Println("rolled back:", why.Reason)
	// Output:
	// aggregate: 5 of 8
	// aggregate: 7 of 8
	// simulate
	// rolled back: aggregate
}

// Two queues run on two nodes of 4 GPUs. One may lose 3 GPUs, the other nothing.
func ExampleProof_Limit() {
	free := vector.NewMatrix(vector.Schema{}, 2, 1)
	requests := vector.NewMatrix(vector.Schema{}, 2, 1)
	requests.SetRow(0, vector.ResourceVector{4})
	requests.SetRow(1, vector.ResourceVector{4})
	limits := vector.NewMatrix(vector.Schema{}, 2, 1)
	limits.SetRow(0, vector.ResourceVector{3})

	var proof gang.Proof
	proof.Reset(free, requests, nil)
	if err := proof.Limit(gang.Budgets{Limits: limits}); err != nil {
		fmt.Println(err)
		return
	}
	for _, victim := range []struct {
		queue, node int
		gpus        float64
	}{{0, 0, 2}, {0, 0, 2}, {0, 1, 2}, {1, 1, 2}} {
		if err := proof.ReleaseOf(victim.queue, victim.node, vector.ResourceVector{victim.gpus}); err != nil {
			fmt.Println(err)
			return
		}
	}
	why, impossible := proof.Infeasible()
	fmt.Println(impossible, why.Reason, why.Available, "of", why.Needed)
	// Output: true budget 3 of 8
}

// A gang that has to stay in one of two racks.
func ExamplePacker_Place_domains() {
	free := vector.NewMatrix(vector.Schema{}, 4, 1)
	for i, gpus := range []float64{4, 8, 3, 8} {
		free.SetRow(i, vector.ResourceVector{gpus})
	}
	racks := &gang.Domains{
		Rows:    []int32{0, 2, 1, 3}, // the first rack has nodes 0 and 2
		Offsets: vector.Offsets{0, 2, 4},
	}
	requests := vector.NewMatrix(vector.Schema{}, 4, 1) // a leader and three workers
	for i, gpus := range []float64{1, 4, 4, 4} {
		requests.SetRow(i, vector.ResourceVector{gpus})
	}

	var packer gang.Packer
	placement, rack, _ := packer.Place(nil, free, requests, nil, racks)
	fmt.Println("rack", rack, "nodes", placement)

	free.SetRow(3, vector.ResourceVector{4})
	why, _ := packer.Infeasible(free, requests, nil, racks)
	fmt.Printf("rack %d: %v, %g of %g\n", why.Domain, why.Reason, why.Available, why.Needed)
	// Output:
	// rack 1 nodes [1 1 3 3]
	// rack 1: aggregate, 12 of 13
}

// Three members, each in a zone of its own, where one zone has a pod of them already.
func ExamplePacker_Spread() {
	free, requests := vector.NewMatrix(vector.Schema{}, 5, 1), vector.NewMatrix(vector.Schema{}, 3, 1)
	for i, gpus := range []float64{8, 8, 0, 8, 8} {
		free.SetRow(i, vector.ResourceVector{gpus})
	}
	for member := range 3 {
		requests.SetRow(member, vector.ResourceVector{4})
	}
	zones := &gang.Domains{Rows: []int32{0, 1, 2, 3, 4}, Offsets: vector.Offsets{0, 2, 3, 5}}

	var packer gang.Packer
	for _, spread := range []gang.Spread{
		{Most: 1, Domains: zones},
		{Most: 2, Domains: zones, Running: []int{1, 0, 0}},
		{Skew: 1, Domains: zones}, // zone 1 stays empty
	} {
		if err := packer.Spread(spread); err != nil {
			fmt.Println(err)
			return
		}
		placement, _, ok := packer.Place(nil, free, requests, nil, nil)
		why, _ := packer.Infeasible(free, requests, nil, nil)
		fmt.Println(ok, placement, why.Reason, why.Available, "of", why.Needed)
	}
	// Output:
	// false [] spread 2 of 3
	// true [0 3 3] not proved 0 of 0
	// false [] spread 2 of 3
}
