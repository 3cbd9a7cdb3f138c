package provision

import (
	"cmp"
	"math"
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// A bound is what must be paid at least for nodes of some of the shapes.
type bound struct {
	cost   float64
	shapes []bool // those that supply it
	why    gang.Infeasibility
}

// leastCost returns a cost that each plan has at least. What is requested of a resource
// has to be bought from shapes that have it, and each pod of a kind from shapes that hold
// it, a whole node at a time. Bounds with no shape in common add up: it returns those
// that do, too.
func (p *problem) leastCost() (most float64, why []gang.Infeasibility) {
	var bounds []bound
	for j, amount := range vector.SumColumns(nil, p.requests, nil) {
		if amount >= 1<<53 { // the sum may be rounded up
			amount *= 1 - float64(p.requests.Rows()+2)/(1<<51)
		}
		if amount > 0 {
			bounds = append(bounds, p.bound(gang.Infeasibility{Reason: gang.InfeasibleAggregate, Column: j, Member: -1, Needed: amount},
				func(s *Shape) float64 { return s.Room[j] }))
		}
	}
	for _, k := range p.kinds {
		bounds = append(bounds, p.bound(gang.Infeasibility{Reason: gang.InfeasibleCopies, Column: -1, Member: k.pods[0], Needed: float64(len(k.pods))},
			func(s *Shape) float64 { return float64(k.request.CopiesFit(s.Room)) }))
	}
	byCost := func(a, b bound) int { return cmp.Compare(b.cost, a.cost) }
	bySuppliers := func(a, b bound) int { return cmp.Compare(suppliers(a), suppliers(b)) }
	// Which of the overlapping bounds to add up is a problem of its own. Two greedy orders do:
	// the dearest first, or those first that leave most shapes to others.
	for _, order := range []func(a, b bound) int{byCost, bySuppliers} {
		slices.SortStableFunc(bounds, order)
		taken := make([]bool, len(p.shapes))
		sum := 0.0
		var parts []gang.Infeasibility
		for _, b := range bounds {
			if overlap(taken, b.shapes) {
				continue
			}
			sum += b.cost
			parts = append(parts, b.why)
			for i := range taken {
				taken[i] = taken[i] || b.shapes[i]
			}
		}
		if sum > most {
			most, why = sum, parts
		}
	}
	return most, why
}

// bound returns what is to be paid for what is needed, given how much of it a node has.
func (p *problem) bound(why gang.Infeasibility, supply func(*Shape) float64) bound {
	b := bound{shapes: make([]bool, len(p.shapes)), cost: math.Inf(1), why: why}
	nodes, cheapest, dearest := math.Inf(1), math.Inf(1), 0.0
	whole := true // costs are whole numbers
	for i := range p.shapes {
		s := &p.shapes[i]
		has := supply(s)
		if has <= 0 {
			continue
		}
		b.shapes[i] = true
		whole = whole && s.Cost == math.Trunc(s.Cost)
		cheapest, dearest = min(cheapest, s.Cost), max(dearest, s.Cost)
		nodes = min(nodes, math.Ceil(why.Needed/has))
		price := float64(s.Cost * why.Needed)
		if price >= 1<<53 { // it may be rounded up
			price *= 1 - 1.0/(1<<51)
		}
		b.cost = min(b.cost, price/has)
		b.why.Available = max(b.why.Available, has/s.Cost)
	}
	if whole { // then every plan costs a whole number
		b.cost = math.Ceil(b.cost)
	}
	if cheapest == dearest { // the number of nodes decides, and it is a whole one
		b.cost = float64(cheapest * nodes)
	}
	b.cost = max(b.cost, cheapest) // a node at least
	return b
}

func suppliers(b bound) (n int) {
	for _, in := range b.shapes {
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
