package provision

import (
	"cmp"
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// A kindLeft is what is left of a kind.
type kindLeft struct {
	index int
	pods  []int
	hosts int // shapes on which one fits
}

// open fills what is free, and opens nodes of one shape, or of all for -1, until all pods have
// room. Each pod must fit on one of them.
func (q *question) open(only int) Plan {
	left, total := q.left()
	plan := Plan{Counts: make([]int, len(q.shapes)), Placement: make([]int32, q.pods)}
	q.fillFree(left, plan.Placement)
	opened := make([][][]int, len(q.shapes)) // the pods of each node of each shape
	for {
		left = slices.DeleteFunc(left, func(k kindLeft) bool { return len(k.pods) == 0 })
		if len(left) == 0 {
			break
		}
		best, taken, nodes := q.next(left, total, only)
		for range nodes {
			var node []int
			for k, n := range taken {
				node = append(node, left[k].pods[:n]...)
				left[k].pods = left[k].pods[n:]
			}
			opened[best] = append(opened[best], node)
		}
	}
	row := int32(q.free.Rows())
	for i, nodes := range opened {
		plan.Counts[i] = len(nodes)
		for _, node := range nodes {
			for _, pod := range node {
				plan.Placement[pod] = row
			}
			row++
		}
	}
	q.price(&plan)
	return plan
}

// price sets the cost of a plan.
func (q *question) price(plan *Plan) {
	plan.Cost = 0
	for i, n := range plan.Counts {
		plan.Cost += float64(float64(n) * q.shapes[i].Cost)
	}
}

// left returns all pods by kind in the order in which they are placed, and what they request.
func (q *question) left() (left []kindLeft, total vector.ResourceVector) {
	total = make(vector.ResourceVector, q.free.Cols())
	for i := range q.kinds {
		k := &q.kinds[i]
		hosts := 0
		for s := range q.shapes {
			if q.fits(i, s) {
				hosts++
			}
		}
		left = append(left, kindLeft{i, k.pods, hosts})
		for j, amount := range k.request {
			total[j] += float64(amount * float64(len(k.pods)))
		}
	}
	// The choosiest come first: others fit into what these leave, and not the other way. Then
	// the largest, as in first fit decreasing.
	slices.SortStableFunc(left, func(a, b kindLeft) int {
		return cmp.Or(cmp.Compare(a.hosts, b.hosts),
			cmp.Compare(q.kinds[b.index].request.NormalizedSum(total), q.kinds[a.index].request.NormalizedSum(total)))
	})
	return left, total
}

// fillFree places pods on what is free, kind after kind and row after row.
func (q *question) fillFree(left []kindLeft, placement []int32) {
	if q.free.Rows() == 0 {
		return
	}
	free := vector.NewMatrix(q.free.Schema(), 0, q.free.Cols())
	free.CopyFrom(q.free)
	var rows vector.Mask
	var room vector.ResourceVector
	for i := range left {
		k := &left[i]
		request := q.kinds[k.index].request
		vector.Fit(&rows, free, request)
		rows.And(&rows, q.groups[q.kinds[k.index].group].rows)
		for row := range rows.All() {
			room = free.Row(room, row)
			n := int(min(int64(len(k.pods)), request.CopiesFit(room)))
			take(room, request, n)
			free.SetRow(row, room)
			for _, pod := range k.pods[:n] {
				placement[pod] = int32(row)
			}
			if k.pods = k.pods[n:]; len(k.pods) == 0 {
				break
			}
		}
	}
}

// take takes so many requests from a room.
func take(room, request vector.ResourceVector, n int) {
	for j, amount := range request {
		room[j] -= float64(amount * float64(n))
	}
}

// next returns the shape to open next, how many pods of each kind a node takes, and how many
// nodes in a row take the same. The shape is the one that takes most for its cost, and the
// cheapest where no size is left.
func (q *question) next(left []kindLeft, total vector.ResourceVector, only int) (best int, taken []int, nodes int) {
	best, most := -1, 0.0
	atMost := make([]int, len(left)) // of all shapes: with more left than that each takes the same again
	for i, s := range q.shapes {
		if only >= 0 && i != only {
			continue
		}
		takes, size, pods := q.fill(i, left, total)
		if pods == 0 {
			continue
		}
		for k, n := range takes {
			atMost[k] = max(atMost[k], n)
		}
		value := size / s.Cost // it may underflow to 0; then the cheapest decides, too
		if best < 0 || value > most || value == 0 && most == 0 && s.Cost < q.shapes[best].Cost {
			best, most, taken = i, value, takes
		}
	}
	nodes = math.MaxInt
	for k, n := range taken {
		if n > 0 {
			nodes = min(nodes, 1+(len(left[k].pods)-atMost[k])/n)
		}
	}
	return best, taken, nodes
}

// fill returns how many pods of each kind a new node takes, in the order of the kinds,
// how much of the total they are, and how many.
func (q *question) fill(shape int, left []kindLeft, total vector.ResourceVector) (taken []int, size float64, pods int) {
	room := q.shapes[shape].Room.Clone()
	taken = make([]int, len(left))
	for i, k := range left {
		kind := &q.kinds[k.index]
		if !q.groups[kind.group].shapes[shape] {
			continue
		}
		n := int(min(int64(len(k.pods)), kind.request.CopiesFit(room)))
		take(room, kind.request, n)
		taken[i] = n
		size += float64(kind.request.NormalizedSum(total) * float64(n))
		pods += n
	}
	return taken, size, pods
}

// mostWork is how many pairs of pod and node are looked at to pack all pods once. Where there
// are more, what open finds is the plan.
const mostWork = 1 << 25

// restarts is how many other orders of the pods are tried where one does not do.
const restarts = 8

// pack looks for a placement of all pods on what is free and so many new nodes of each shape.
func (q *question) pack(counts []int) (placement []int32, ok bool) {
	free := vector.NewMatrix(q.free.Schema(), 0, q.free.Cols())
	free.CopyFrom(q.free)
	for i, n := range counts {
		for range n {
			free.AppendRow(q.shapes[i].Room)
		}
	}
	if q.pods*free.Rows() > mostWork {
		return nil, false
	}
	order := indices(q.groups)
	choices := func(i int) (n int) {
		for s, may := range q.groups[i].shapes {
			if may {
				n += counts[s]
			}
		}
		return n + q.groups[i].rows.Count()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(choices(a), choices(b)) })
	placement = make([]int32, q.pods)
	for _, i := range order {
		g := &q.groups[i]
		packer := q.packer(g)
		found, _, ok := packer.Place(nil, free, g.requests, q.rowsOf(g, counts), nil)
		if !ok {
			return nil, false
		}
		copy(placement[g.first:], found)
		if len(q.groups) == 1 {
			break
		}
		for pod, row := range found {
			room := free.Row(nil, int(row))
			take(room, g.requests.Row(nil, pod), 1)
			free.SetRow(int(row), room)
		}
	}
	return placement, true
}

// rowsOf returns to which rows a group may go, with so many new nodes.
func (q *question) rowsOf(g *group, counts []int) *vector.Mask {
	total := q.free.Rows()
	for _, n := range counts {
		total += n
	}
	rows := vector.NewMask(total)
	for row := range g.rows.All() {
		rows.Set(row)
	}
	row := q.free.Rows()
	for i, n := range counts {
		for range n {
			if g.shapes[i] {
				rows.Set(row)
			}
			row++
		}
	}
	return rows
}

// packer returns a packer of the pods of a group. Their sum is the scale: what all of them
// together want most of decides which is large, and needs fewer nodes than a scale of what
// nodes have.
func (q *question) packer(g *group) *gang.Packer {
	return gang.NewPacker(gang.Options{
		Total: vector.SumColumns(nil, g.requests, nil), ByDominantShare: true,
		BestFit: vector.TieLowest(), Restarts: restarts, Seed: 1,
	})
}

// alone returns a plan of one shape, on which each pod fits: the least number of nodes, between
// what is proved and what open found, for which packing succeeds.
func (q *question) alone(shape int) Plan {
	plan := q.open(shape)
	one := *q
	one.shapes = q.shapes[shape : shape+1]
	one.groups = slices.Clone(q.groups)
	for i := range one.groups {
		one.groups[i].shapes = q.groups[i].shapes[shape : shape+1]
	}
	least := int(one.bound().AtLeast / one.shapes[0].Cost)
	counts := make([]int, len(q.shapes))
	for lo, hi := least, plan.Counts[shape]; lo < hi; { // whatever fits is an answer, also where fewer would do
		counts[shape] = (lo + hi) / 2
		if placement, ok := q.pack(counts); ok {
			hi = counts[shape]
			plan.Counts[shape], plan.Placement = hi, placement
		} else {
			lo = counts[shape] + 1
		}
	}
	q.price(&plan)
	return plan
}

// prune takes away nodes that are not needed, the dearest shape first. The last node of each
// shape that was opened is often almost empty, and packing all pods anew finds room for its
// pods on others.
func (q *question) prune(plan Plan) Plan {
	order := indices(q.shapes)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.shapes[b].Cost, q.shapes[a].Cost) })
	plan.Counts = slices.Clone(plan.Counts)
	for _, i := range order {
		for plan.Counts[i] > 0 {
			plan.Counts[i]--
			placement, ok := q.pack(plan.Counts)
			if !ok {
				plan.Counts[i]++
				break
			}
			plan.Placement = placement
		}
	}
	q.price(&plan)
	return plan
}
