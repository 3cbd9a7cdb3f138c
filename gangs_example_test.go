package resvec_test

import (
	"fmt"
	"iter"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

// The code of docs/gangs.md, in the order of the page.

// pod is a pod that runs on the node of a row.
type pod struct {
	row     int
	request vector.ResourceVector
}

func Example_gangs() {
	resources, err := vectormap.New([]string{"nvidia.com/gpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	gpus := func(n float64) vector.ResourceVector {
		v := resources.NewVector()
		v[vectormap.GPU] = n
		return v
	}
	free, requests := resources.NewMatrix(3), resources.NewMatrix(2)
	free.SetRow(2, gpus(4))
	for member := range 2 {
		requests.SetRow(member, gpus(8))
	}
	victims := []pod{{0, gpus(4)}, {1, gpus(8)}, {0, gpus(4)}}

	var proof gang.Proof
	var packer gang.Packer
	var last gang.Infeasibility
	overlay, simulations := vector.NewOverlay(free), 0
	simulate := func(overlay *vector.Overlay) ([]int32, bool) {
		simulations++
		return packer.Place(nil, overlay.Matrix(), requests, nil)
	}
	try := func(victims []pod) (nodes []int32, err error) {
		nodes, last, err = makeRoomForGang(&proof, overlay, requests, nil, victims, simulate)
		return nodes, err
	}

	nodes, err := try(victims[:2])
	fmt.Println(nodes, err, simulations, explain(last, resources))

	overlay.Rollback(vector.Mark{})
	nodes, err = try(victims)
	fmt.Println(nodes, err, simulations)

	overlay.Rollback(vector.Mark{})
	needed, moving, err := search(&packer, overlay, requests, nil, func(yield func(int, vector.ResourceVector) bool) {
		for _, victim := range victims {
			if !yield(victim.row, victim.request) {
				return
			}
		}
	})
	fmt.Println(needed, moving, err)
	// Output:
	// [] <nil> 0 there are places for 1 of 2 members
	// [0 1] <nil> 1
	// 3 false <nil>
}

// makeRoomForGang evicts until the gang has room.
func makeRoomForGang(proof *gang.Proof, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask, victims []pod,
	simulate func(*vector.Overlay) ([]int32, bool)) (nodes []int32, last gang.Infeasibility, err error) {
	evict := func() ([]int32, error) {
		proof.Reset(overlay.Matrix(), requests, rows) // once for each gang
		for _, victim := range victims {
			if err := release(proof, overlay, victim); err != nil {
				return nil, err
			}
			if why, impossible := proof.Infeasible(); impossible {
				last = why
				continue
			}
			if nodes, ok := simulate(overlay); ok {
				return nodes, nil
			}
		}
		return nil, nil
	}
	nodes, err = evict()
	return nodes, last, err
}

func release(proof *gang.Proof, overlay *vector.Overlay, victim pod) error {
	if err := overlay.AddToRow(victim.row, victim.request); err != nil {
		return err
	}
	return proof.Release(victim.row, victim.request)
}

// Example_takeBack takes a victim back that did not help.
func Example_takeBack() {
	free, requests := vector.NewMatrix(vector.Schema{}, 2, 1), vector.NewMatrix(vector.Schema{}, 1, 1)
	requests.SetRow(0, vector.ResourceVector{8})
	overlay, proof := vector.NewOverlay(free), new(gang.Proof)
	proof.Reset(overlay.Matrix(), requests, nil)

	before, tried := proof.Mark(), overlay.Mark()
	if err := release(proof, overlay, pod{0, vector.ResourceVector{8}}); err != nil {
		fmt.Println(err)
	}
	_, impossible := proof.Infeasible()
	fmt.Println(overlay.Matrix().At(0, 0), impossible)

	proof.Rollback(before)
	overlay.Rollback(tried)

	_, impossible = proof.Infeasible()
	fmt.Println(overlay.Matrix().At(0, 0), impossible)
	// Output:
	// 8 false
	// 0 true
}

func explain(why gang.Infeasibility, resources *vectormap.ResourceVectorMap) string {
	switch why.Reason {
	case gang.InfeasibleAggregate:
		return fmt.Sprintf("all nodes together have %v of %s, the gang needs %v", why.Available, resources.Name(why.Column), why.Needed)
	case gang.InfeasibleMember:
		return fmt.Sprintf("no node has %v of %s for member %d", why.Needed, resources.Name(why.Column), why.Member)
	default: // InfeasibleCopies, InfeasibleLeader
		return fmt.Sprintf("there are places for %v of %v members", why.Available, why.Needed)
	}
}

// search asks for all victims at once. moving says whether moving them could help.
func search(packer *gang.Packer, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask,
	victims iter.Seq2[int, vector.ResourceVector]) (needed int, could bool, err error) {
	why, _ := packer.Infeasible(overlay.Matrix(), requests, rows)
	moving := why.Reason != gang.InfeasibleAggregate // moving pods could help

	scenario, err := packer.Filter(nil, overlay, requests, rows, victims)
	return scenario.Prefix, moving, err
}
