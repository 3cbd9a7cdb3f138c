// Package packing says which new nodes hold pods: how few of one shape, or a cheap mix of
// several, and below which number or cost it can't be done.
package packing

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// A Shape is a kind of node, of which any number can be added.
type Shape struct {
	Room vector.ResourceVector // what a new one has for the pods
	Cost float64               // more than 0
}

// A Kind is a request and the pods that make it.
type Kind struct {
	Request vector.ResourceVector
	Pods    []int // their rows among the requests
}

// A Problem is pods and the shapes of which nodes can be added for them. Each pod requests
// something, if only its place among the pods, and fits on a new node of some shape.
type Problem struct {
	Shapes   []Shape
	Kinds    []Kind         // of the pods
	Requests *vector.Matrix // a row for each pod
}

// restarts is how many other orders of the pods are tried where one does not do.
const restarts = 8

// packerOf returns a packer for requests. Their sum is the scale: what all of them
// together want most of decides which is large, and needs fewer nodes than a scale of
// what nodes have.
func packerOf(requests *vector.Matrix) *gang.Packer {
	return gang.NewPacker(gang.Options{
		Total: vector.SumColumns(nil, requests, nil), ByDominantShare: true,
		BestFit: vector.TieLowest(), Restarts: restarts, Seed: 1,
	})
}

// An Alone is how many new nodes of one shape hold pods.
type Alone struct {
	Rows   []int32            // the node of each pod
	Nodes  int                // on so many they fit
	Proved int                // on fewer they don't
	Why    gang.Infeasibility // of one less than proved, if that is any
}

// PackAlone packs pods, of which each fits into the room of a new node: best fit with a
// node for each pod, a search for the least number that isn't proved to be too few, and
// a search between. Without pods it returns the zero value.
func PackAlone(requests *vector.Matrix, room vector.ResourceVector) (a Alone) {
	if requests.Rows() == 0 {
		return a
	}
	free := vector.NewMatrix(requests.Schema(), 0, len(room))
	with := func(nodes int) *vector.Matrix {
		free.Resize(min(nodes, free.Rows()))
		for free.Rows() < nodes {
			free.AppendRow(room)
		}
		return free
	}
	packer := packerOf(requests)
	a.Rows, _ = packer.Place(nil, with(requests.Rows()), requests, nil) // there is a node for each pod
	a.Nodes = int(slices.Max(a.Rows)) + 1
	a.Proved = 1 + sort.Search(a.Nodes-1, func(less int) bool {
		_, infeasible := packer.Infeasible(with(1+less), requests, nil)
		return !infeasible
	})
	if a.Proved > 1 {
		a.Why, _ = packer.Infeasible(with(a.Proved-1), requests, nil)
	}
	for lo := a.Proved; lo < a.Nodes; { // whatever fits is an answer, also where fewer would do
		mid := (lo + a.Nodes) / 2
		if rows, ok := packer.Place(nil, with(mid), requests, nil); ok {
			a.Rows, a.Nodes = rows, mid
		} else {
			lo = mid + 1
		}
	}
	return a
}

// A Mix is new nodes of several shapes on which all pods fit.
type Mix struct {
	Counts []int   // by shape
	Rows   []int32 // the node of each pod; the nodes of the first shape come first
	Cost   float64
	Proved float64 // no mix costs less
	Bounds []Bound // that add up to it, unless the cost is less
}

// Pack looks for a cheap mix: it opens the node that takes most of what is left, by its
// cost, until nothing is left; takes nodes away as long as the pods can be packed on the
// others; and compares with each shape alone, of which some may be given, by shape.
func (p *Problem) Pack(alone []Alone) Mix {
	best := p.open()
	p.prune(&best)
	for i, a := range alone {
		if cost := float64(float64(a.Nodes) * p.Shapes[i].Cost); len(a.Rows) == p.Requests.Rows() && cost < best.Cost {
			best = Mix{Counts: make([]int, len(p.Shapes)), Rows: a.Rows, Cost: cost}
			best.Counts[i] = a.Nodes
		}
	}
	best.Proved, best.Bounds = p.leastCost()
	best.Proved = min(best.Proved, best.Cost)
	return best
}

// A kindLeft is what is left of a kind.
type kindLeft struct {
	Kind
	hosts int // shapes on which one fits
}

// open opens nodes until all pods have room. The mix has no cost yet.
func (p *Problem) open() Mix {
	left := make([]kindLeft, len(p.Kinds))
	total := make(vector.ResourceVector, p.Requests.Cols()) // what is left, added up
	pods := 0
	for i, k := range p.Kinds {
		left[i].Kind = k
		for _, s := range p.Shapes {
			if k.Request.FitsIn(s.Room) {
				left[i].hosts++
			}
		}
		for j, amount := range k.Request {
			total[j] += float64(amount * float64(len(k.Pods)))
		}
		pods += len(k.Pods)
	}
	slices.SortStableFunc(left, func(a, b kindLeft) int { // the choosiest first, then the largest
		return cmp.Or(cmp.Compare(a.hosts, b.hosts), cmp.Compare(b.Request.NormalizedSum(total), a.Request.NormalizedSum(total)))
	})
	opened := make([][][]int, len(p.Shapes)) // the pods of each node of each shape
	for pods > 0 {
		var taken []int
		best, most := -1, 0.0
		for i, s := range p.Shapes {
			take, size := fill(s.Room.Clone(), left, total)
			if size/s.Cost > most {
				best, most, taken = i, size/s.Cost, take
			}
		}
		var node []int
		for k, n := range taken {
			node = append(node, left[k].Pods[:n]...)
			left[k].Pods = left[k].Pods[n:]
		}
		pods -= len(node)
		opened[best] = append(opened[best], node)
	}
	x := Mix{Counts: make([]int, len(p.Shapes)), Rows: make([]int32, p.Requests.Rows())}
	row := int32(0)
	for i, nodes := range opened {
		x.Counts[i] = len(nodes)
		for _, node := range nodes {
			for _, pod := range node {
				x.Rows[pod] = row
			}
			row++
		}
	}
	return x
}

// fill returns how many pods of each kind a new node takes, in the order of the
// kinds, and how much of the total they are.
func fill(room vector.ResourceVector, left []kindLeft, total vector.ResourceVector) (taken []int, size float64) {
	taken = make([]int, len(left))
	for k := range left {
		n := min(int64(len(left[k].Pods)), left[k].Request.CopiesFit(room))
		for j, amount := range left[k].Request {
			room[j] -= float64(amount * float64(n))
		}
		taken[k] = int(n)
		size += float64(left[k].Request.NormalizedSum(total) * float64(n))
	}
	return taken, size
}

// prune takes away nodes that are not needed, the dearest shape first, and sets
// the cost.
func (p *Problem) prune(x *Mix) {
	order := make([]int, len(p.Shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Shapes[b].Cost, p.Shapes[a].Cost) })
	packer := packerOf(p.Requests)
	for _, i := range order {
		for x.Counts[i] > 0 {
			x.Counts[i]--
			if rows, ok := packer.Place(nil, p.Rooms(x.Counts), p.Requests, nil); ok {
				x.Rows = rows
			} else {
				x.Counts[i]++
				break
			}
		}
	}
	for i, n := range x.Counts {
		x.Cost += float64(float64(n) * p.Shapes[i].Cost)
	}
}

// Rooms returns what so many new nodes of each shape have for pods.
func (p *Problem) Rooms(counts []int) *vector.Matrix {
	free := vector.NewMatrix(p.Requests.Schema(), 0, p.Requests.Cols())
	for i, n := range counts {
		for range n {
			free.AppendRow(p.Shapes[i].Room)
		}
	}
	return free
}

// leastCost returns a bound below which no mix costs. Whatever is requested of a
// resource has to be bought from shapes that have it, and every pod of a kind from
// shapes that hold it, a whole node at a time. Bounds of shapes that are not the
// same ones add up: it returns those that do, too.
func (p *Problem) leastCost() (most float64, chosen []Bound) {
	var bounds []Bound
	from := func(column int, amount float64, supply func(*Shape) float64) {
		b := Bound{Shapes: make([]bool, len(p.Shapes)), Cost: math.Inf(1), Column: column, Amount: amount}
		whole, least := math.Inf(1), math.Inf(1)
		same := true
		for i := range p.Shapes {
			s := &p.Shapes[i]
			if supply(s) <= 0 {
				continue
			}
			b.Shapes[i] = true
			same = same && (math.IsInf(least, 1) || s.Cost == least)
			least = min(least, s.Cost)
			whole = min(whole, math.Ceil(amount/supply(s)))
			b.Cost = min(b.Cost, float64(s.Cost*amount)/supply(s))
		}
		if same {
			b.Cost = float64(least * whole)
		}
		b.Cost = max(b.Cost, least)
		bounds = append(bounds, b)
	}
	for j, amount := range vector.SumColumns(nil, p.Requests, nil) {
		if amount > 0 {
			from(j, amount, func(s *Shape) float64 { return s.Room[j] })
		}
	}
	for _, k := range p.Kinds {
		from(-1, float64(len(k.Pods)), func(s *Shape) float64 { return float64(k.Request.CopiesFit(s.Room)) })
	}
	byCost := func(a, b Bound) int { return cmp.Compare(b.Cost, a.Cost) }
	bySuppliers := func(a, b Bound) int { return cmp.Compare(count(a.Shapes), count(b.Shapes)) }
	for _, order := range []func(a, b Bound) int{byCost, bySuppliers} {
		slices.SortStableFunc(bounds, order)
		taken := make([]bool, len(p.Shapes))
		sum := 0.0
		var parts []Bound
		for _, b := range bounds {
			if overlap(taken, b.Shapes) {
				continue
			}
			sum += b.Cost
			parts = append(parts, b)
			for i := range taken {
				taken[i] = taken[i] || b.Shapes[i]
			}
		}
		if sum > most {
			most, chosen = sum, parts
		}
	}
	return most, chosen
}

// A Bound is what must be paid at least for some of the shapes.
type Bound struct {
	Cost   float64
	Shapes []bool  // those
	Column int     // of what is requested, -1 for pods of a kind
	Amount float64 // of it
}

func count(set []bool) (n int) {
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

func overlap(a, b []bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}
