package provision

import (
	"cmp"
	"slices"

	"github.com/resvec/resvec/vector"
)

// mix looks for a cheap plan of several shapes. Opening nodes one by one is good where the
// pods differ, and a shape alone where one shape is the best for most of them. Neither is
// always better, so both are tried.
func (p *problem) mix() Plan {
	best := p.open()
	p.prune(&best)
	for i, s := range p.shapes {
		if slices.ContainsFunc(p.kinds, func(k kind) bool { return !k.request.FitsIn(s.Room) }) {
			continue
		}
		if alone := p.alone(i); alone.Cost < best.Cost {
			best = alone
		}
	}
	best.AtLeast, best.Why = p.leastCost()
	best.AtLeast = min(best.AtLeast, best.Cost) // they are rounded differently
	return best
}

// A kindLeft is what is left of a kind.
type kindLeft struct {
	kind
	hosts int // shapes on which one fits
}

// open opens nodes until all pods have room. The plan has no cost yet.
func (p *problem) open() Plan {
	left := make([]kindLeft, len(p.kinds))
	total := make(vector.ResourceVector, p.requests.Cols()) // what is left, added up
	pods := 0
	for i, k := range p.kinds {
		left[i].kind = k
		for _, s := range p.shapes {
			if k.request.FitsIn(s.Room) {
				left[i].hosts++
			}
		}
		for j, amount := range k.request {
			total[j] += float64(amount * float64(len(k.pods)))
		}
		pods += len(k.pods)
	}
	// The choosiest come first: others fit into what these leave, and not the other way. Then
	// the largest, as in first fit decreasing.
	slices.SortStableFunc(left, func(a, b kindLeft) int {
		return cmp.Or(cmp.Compare(a.hosts, b.hosts), cmp.Compare(b.request.NormalizedSum(total), a.request.NormalizedSum(total)))
	})
	opened := make([][][]int, len(p.shapes)) // the pods of each node of each shape
	for pods > 0 {
		best, taken := p.next(left, total)
		var node []int
		for k, n := range taken {
			node = append(node, left[k].pods[:n]...)
			left[k].pods = left[k].pods[n:]
		}
		pods -= len(node)
		opened[best] = append(opened[best], node)
	}
	x := Plan{Counts: make([]int, len(p.shapes)), Placement: make([]int32, p.requests.Rows())}
	row := int32(0)
	for i, nodes := range opened {
		x.Counts[i] = len(nodes)
		for _, node := range nodes {
			for _, pod := range node {
				x.Placement[pod] = row
			}
			row++
		}
	}
	return x
}

// next returns the shape of the node to open, and how many pods of each kind it takes. It
// is the one that takes most for its cost, and the cheapest where no size is left.
func (p *problem) next(left []kindLeft, total vector.ResourceVector) (best int, taken []int) {
	best, most := -1, 0.0
	for i, s := range p.shapes {
		take, size := fill(s.Room.Clone(), left, total)
		if count(take) == 0 {
			continue
		}
		value := size / s.Cost // it may underflow to 0; then the cheapest decides, too
		if best < 0 || value > most || value == 0 && most == 0 && s.Cost < p.shapes[best].Cost {
			best, most, taken = i, value, take
		}
	}
	return best, taken
}

// fill returns how many pods of each kind a new node takes, in the order of the kinds,
// and how much of the total they are.
func fill(room vector.ResourceVector, left []kindLeft, total vector.ResourceVector) (taken []int, size float64) {
	taken = make([]int, len(left))
	for k := range left {
		n := min(int64(len(left[k].pods)), left[k].request.CopiesFit(room))
		for j, amount := range left[k].request {
			room[j] -= float64(amount * float64(n))
		}
		taken[k] = int(n)
		size += float64(left[k].request.NormalizedSum(total) * float64(n))
	}
	return taken, size
}

func count(taken []int) (pods int) {
	for _, n := range taken {
		pods += n
	}
	return pods
}

// prune takes away nodes that are not needed, the dearest shape first, and sets the cost.
// The last node of each shape that was opened is often almost empty, and packing all pods
// anew finds room for its pods on others.
func (p *problem) prune(x *Plan) {
	order := make([]int, len(p.shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.shapes[b].Cost, p.shapes[a].Cost) })
	packer := p.packer()
	for _, i := range order {
		for x.Counts[i] > 0 {
			x.Counts[i]--
			if placement, _, ok := packer.Place(nil, p.rooms(x.Counts), p.requests, nil, nil); ok {
				x.Placement = placement
			} else {
				x.Counts[i]++
				break
			}
		}
	}
	for i, n := range x.Counts {
		x.Cost += float64(float64(n) * p.shapes[i].Cost)
	}
}

// rooms returns what so many new nodes of each shape have for pods.
func (p *problem) rooms(counts []int) *vector.Matrix {
	free := vector.NewMatrix(p.requests.Schema(), 0, p.requests.Cols())
	for i, n := range counts {
		for range n {
			free.AppendRow(p.shapes[i].Room)
		}
	}
	return free
}
