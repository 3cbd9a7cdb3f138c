package resvec_test

import (
	"errors"
	"fmt"
	"iter"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

// The code of docs/gangs.md, and what the page says in words.

// pod is a pod of a queue that runs on the node of a row.
type pod struct {
	queue, row int
	request    vector.ResourceVector
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
	victims := []pod{{0, 0, gpus(4)}, {1, 1, gpus(8)}, {0, 0, gpus(4)}}

	var proof gang.Proof
	var packer gang.Packer
	var last gang.Infeasibility
	overlay, simulations := vector.NewOverlay(free), 0
	simulate := func(overlay *vector.Overlay) ([]int32, bool) {
		simulations++
		nodes, _, ok := packer.Place(nil, overlay.Matrix(), requests, nil, nil)
		return nodes, ok
	}
	try := func(victims []pod) (nodes []int32, err error) {
		nodes, last, err = makeRoomForGang(&proof, overlay, requests, nil, victims, simulate)
		return nodes, err
	}

	nodes, err := try(victims[:2])
	fmt.Println(nodes, err, simulations)
	fmt.Println(resources.ExplainInfeasible(last)) // of 2 pods there is room for 1
	fmt.Println(reasons(resources, overlay.Matrix(), gpus(8), nil))

	overlay.Rollback(vector.Mark{})
	nodes, err = try(victims)
	fmt.Println(nodes, err, simulations)

	overlay.Rollback(vector.Mark{})
	needed, moving, err := search(overlay, requests, nil, func(yield func(int, vector.ResourceVector) bool) {
		for _, victim := range victims {
			if !yield(victim.row, victim.request) {
				return
			}
		}
	})
	fmt.Println(needed, moving, err)

	limits := resources.NewMatrix(2) // the second queue may lose nothing
	limits.SetRow(0, gpus(8))
	nodes, err = evictWithin(&proof, overlay, requests, nil, victims, limits, &last)
	fmt.Println(nodes, err, resources.ExplainInfeasible(last))

	nodes, err = apart(&proof, overlay, requests, nil, &last)
	fmt.Println(nodes, err, resources.ExplainInfeasible(last))

	topology, err := gang.NewTopology("rack")
	for row := range 3 {
		err = errors.Join(err, topology.Set(row, fmt.Sprint("node", row), []string{"a", "a", "b"}[row]))
	}
	overlay.Rollback(vector.Mark{})
	fmt.Println(evictInRack(&proof, overlay, requests, nil, victims, topology))

	proof.Reset(free, requests, nil)
	for _, victim := range victims {
		err = errors.Join(err, proof.Release(victim.row, victim.request))
	}
	scenarios := []*vector.Mask{vector.NewMask(3), vector.NewMask(3)}
	scenarios[0].Set(1) // one job, or the other
	scenarios[1].Set(0)
	scenarios[1].Set(2)
	fmt.Println(choose(&proof, scenarios, func(*vector.Mask) ([]int32, bool) { return nil, true }), err)
	// Output:
	// [] <nil> 0
	// of 2 pods there is room for 1
	// 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.
	// [0 1] <nil> 1
	// 3 false <nil>
	// [] <nil> the pods request 16 of nvidia.com/gpu, all nodes together have 12, with all that may be released
	// [] <nil> of 2 pods there is room for 1, as they must be apart
	// 3 0 <nil>
	// [] <nil>
}

// choose tries sets of victims.
func choose(proof *gang.Proof, scenarios []*vector.Mask, simulate func(*vector.Mask) ([]int32, bool)) []int32 {
	for _, scenario := range scenarios { // masks: bit i is the victim that was released as the i-th
		proof.Choose(scenario)
		if _, impossible := proof.Infeasible(); impossible {
			continue
		}
		if nodes, ok := simulate(scenario); ok {
			return nodes
		}
	}
	return nil
}

// apart says why two members cannot be on different nodes when one node is empty.
func apart(proof *gang.Proof, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask,
	last *gang.Infeasibility) ([]int32, error) {
	gpus := make(vector.ResourceVector, overlay.Matrix().Cols())
	gpus[vectormap.GPU] = 16
	overlay.Rollback(vector.Mark{})
	if err := overlay.AddToRow(2, gpus); err != nil {
		return nil, err
	}

	proof.Reset(overlay.Matrix(), requests, rows)
	if err := proof.Spread(gang.Spread{Most: 1}); err != nil { // one on a node
		return nil, err
	}

	*last, _ = proof.Infeasible()
	return nil, nil
}

// evictInRack returns how many victims have to go before one rack may hold the gang, and which.
func evictInRack(proof *gang.Proof, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask, victims []pod,
	topology *gang.Topology) (gone, rack int, err error) {
	var racks gang.Domains
	err = topology.Domains(&racks, "rack")
	if err != nil {
		return 0, -1, err
	}
	proof.Reset(overlay.Matrix(), requests, rows)
	proof.Within(&racks)
	for gone, victim := range victims {
		why, impossible := proof.Infeasible()
		if !impossible {
			return gone, why.Domain, nil
		}
		if err := proof.Release(victim.row, victim.request); err != nil {
			return gone, -1, err
		}
	}
	why, _ := proof.Infeasible()
	return len(victims), why.Domain, nil
}

// evictWithin says why no victims make room that the limits permit.
func evictWithin(proof *gang.Proof, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask, victims []pod,
	limits *vector.Matrix, last *gang.Infeasibility) ([]int32, error) {
	proof.Reset(overlay.Matrix(), requests, rows)
	// limits has a row for each queue: what it may lose. +Inf is no limit.
	if err := proof.Limit(gang.Budgets{Limits: limits}); err != nil {
		return nil, err
	}
	for _, victim := range victims { // all of them, whatever is left of the budget
		if err := proof.ReleaseOf(victim.queue, victim.row, victim.request); err != nil {
			return nil, err
		}
	}
	if why, never := proof.Infeasible(); never {
		*last = why
	}
	return nil, nil
}

// makeRoomForGang evicts until the gang has room.
func makeRoomForGang(proof *gang.Proof, overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask, victims []pod,
	simulate func(*vector.Overlay) ([]int32, bool)) (nodes []int32, last gang.Infeasibility, err error) {
	evict := func() ([]int32, error) {
		proof.Reset(overlay.Matrix(), requests, rows) // once for each gang
		before := proof.Mark()
		for _, victim := range victims { // in any order: don't sort them for this
			if err := proof.Release(victim.row, victim.request); err != nil {
				return nil, err
			}
		}
		if why, never := proof.Infeasible(); never {
			last = why
			return nil, nil
		}
		proof.Rollback(before)

		for _, victim := range victims { // in the order of eviction
			if err := overlay.AddToRow(victim.row, victim.request); err != nil {
				return nil, err
			}
			if err := proof.Release(victim.row, victim.request); err != nil {
				return nil, err
			}
			if _, impossible := proof.Infeasible(); impossible {
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

// reasons returns what the user of a pod reads.
func reasons(resources *vectormap.ResourceVectorMap, free *vector.Matrix, request vector.ResourceVector, rows *vector.Mask) string {
	lacking := vector.Rejections(nil, free, request, rows) // of one pod
	return resources.ExplainRejections(free.Rows(), lacking)
}

// node is a node as a scheduler keeps it: its generation moves on with every change.
type node struct {
	generation int64
	free       vector.ResourceVector
}

func refresh(free *vector.Matrix, nodes []node, written []int64) {
	for row := range nodes {
		if n := &nodes[row]; n.generation != written[row] {
			free.SetRow(row, n.free)
			written[row] = n.generation
		}
	}
}

// Example_generations asks about nodes of which one has changed.
func Example_generations() {
	free, requests := vector.NewMatrix(vector.Schema{}, 2, 1), vector.NewMatrix(vector.Schema{}, 1, 1)
	requests.SetRow(0, vector.ResourceVector{8})
	nodes := []node{{1, vector.ResourceVector{4}}, {1, vector.ResourceVector{2}}}
	written := make([]int64, len(nodes))
	var proof gang.Proof
	for range 2 {
		refresh(free, nodes, written)
		proof.Reset(free, requests, nil)
		_, impossible := proof.Infeasible()
		fmt.Println(impossible)
		nodes[1] = node{2, vector.ResourceVector{8}} // a pod has finished
	}
	// Output:
	// true
	// false
}

// search returns how many victims the simulation has to start with. moving says whether
// moving them could help.
func search(overlay *vector.Overlay, requests *vector.Matrix, rows *vector.Mask,
	victims iter.Seq2[int, vector.ResourceVector]) (needed int, could bool, err error) {
	packer := gang.NewPacker(gang.Options{Search: gang.SearchBound})
	scenario, err := packer.Filter(nil, overlay, requests, rows, nil, victims)
	first := scenario.LowerBound // fewer victims are never enough

	why, _ := packer.Infeasible(overlay.Matrix(), requests, nil, nil) // nil: they may move out of rows
	moving := why.Reason != gang.InfeasibleAggregate                  // moving pods could help
	return first, moving, err
}
