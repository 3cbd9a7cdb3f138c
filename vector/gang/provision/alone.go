package provision

import (
	"slices"
	"sort"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// alone packs the pods on nodes of one shape, which each of them fits: best fit with a
// node for each pod, a search for the least number that isn't proved to be too few, and a
// search between.
func (p *problem) alone(shape int) Plan {
	room := p.shapes[shape].Room
	free := vector.NewMatrix(p.requests.Schema(), 0, len(room))
	// The search asks about many numbers of nodes, so one matrix grows and shrinks.
	with := func(nodes int) *vector.Matrix {
		free.Resize(min(nodes, free.Rows()))
		for free.Rows() < nodes {
			free.AppendRow(room)
		}
		return free
	}
	packer := p.packer()
	placement, _, _ := packer.Place(nil, with(p.requests.Rows()), p.requests, nil, nil) // there is a node for each pod
	nodes := int(slices.Max(placement)) + 1
	// What is proved for some nodes holds for fewer: Infeasible is monotone.
	proved := 1 + sort.Search(nodes-1, func(less int) bool {
		_, infeasible := packer.Infeasible(with(1+less), p.requests, nil, nil)
		return !infeasible
	})
	var why []gang.Infeasibility
	if proved > 1 {
		w, _ := packer.Infeasible(with(proved-1), p.requests, nil, nil)
		why = append(why, w)
	}
	for lo := proved; lo < nodes; { // whatever fits is an answer, also where fewer would do
		mid := (lo + nodes) / 2
		if found, _, ok := packer.Place(nil, with(mid), p.requests, nil, nil); ok {
			placement, nodes = found, mid
		} else {
			lo = mid + 1
		}
	}
	counts := make([]int, len(p.shapes))
	counts[shape] = nodes
	cost := p.shapes[shape].Cost
	return Plan{Counts: counts, Placement: placement, Cost: float64(float64(nodes) * cost), AtLeast: float64(float64(proved) * cost), Why: why}
}
