package provision

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// A family is a set of pods, and all nodes and shapes to which any of them may go. A bound for a
// family is one for the whole question: the other pods only take room.
type family struct {
	group    int // see Bound.Why
	requests *vector.Matrix
	members  []int        // the number of each pod
	rows     *vector.Mask // on which one of the pods fits
	shapes   []bool
}

// mostFamilies bounds the families, of which each costs a pass over the nodes.
const mostFamilies = 256

// families returns all pods, and for each group its pods with those that may go nowhere else.
func (q *question) families() (all []*family) {
	fits := make([]*vector.Mask, len(q.groups)) // the rows on which a pod of each group fits
	var some vector.Mask
	for i := range q.groups {
		fits[i] = vector.NewMask(q.free.Rows())
	}
	if q.free.Rows() > 0 {
		for _, k := range q.kinds {
			vector.Fit(&some, q.free, k.request)
			some.And(&some, q.groups[k.group].rows)
			fits[k.group].Or(fits[k.group], &some)
		}
	}
	if len(q.groups) > 1 {
		all = append(all, q.family(-1, indices(q.groups), fits))
	}
	for i := range q.groups {
		if len(all) == mostFamilies {
			break
		}
		var within []int
		for k := range q.groups {
			if k == i || q.groups[k].within(&q.groups[i]) {
				within = append(within, k)
			}
		}
		all = append(all, q.family(i, within, fits))
	}
	return all
}

// within reports whether the pods of a group may go nowhere but where those of another may.
func (g *group) within(other *group) bool {
	for i, may := range g.shapes {
		if may && !other.shapes[i] {
			return false
		}
	}
	words := other.rows.Words()
	for i, w := range g.rows.Words() {
		if w&^words[i] != 0 {
			return false
		}
	}
	return true
}

// family returns the pods of some groups.
func (q *question) family(group int, groups []int, fits []*vector.Mask) *family {
	f := &family{group: group, rows: vector.NewMask(q.free.Rows()), shapes: make([]bool, len(q.shapes)),
		requests: vector.NewMatrix(q.free.Schema(), 0, q.free.Cols())}
	for _, i := range groups {
		g := &q.groups[i]
		f.rows.Or(f.rows, fits[i])
		for s, may := range g.shapes {
			f.shapes[s] = f.shapes[s] || may
		}
		for row := range g.requests.Rows() {
			f.requests.AppendRow(g.requests.Row(nil, row))
			f.members = append(f.members, g.first+row)
		}
	}
	return f
}

// bound returns what every plan costs at least.
func (q *question) bound() Bound {
	switch {
	case q.pods == 0:
		return Bound{}
	case len(q.shapes) == 1:
		return q.leastNodes()
	}
	return q.leastCost()
}

// leastNodes is bound for one shape.
func (q *question) leastNodes() (most Bound) {
	packer := gang.NewPacker(gang.Options{})
	free := vector.NewMatrix(q.free.Schema(), 0, q.free.Cols())
	nodes := -1
	for _, f := range q.families() {
		free.Resize(0)
		for row := range f.rows.All() {
			free.AppendRow(q.free.Row(nil, row))
		}
		old := free.Rows()
		short := func(nodes int) (gang.Infeasibility, bool) {
			free.Resize(min(old+nodes, free.Rows()))
			for free.Rows() < old+nodes {
				free.AppendRow(q.shapes[0].Room)
			}
			why, infeasible := packer.Infeasible(free, f.requests, nil, nil)
			if infeasible {
				why.Domain = f.group
				if why.Member >= 0 {
					why.Member = f.members[why.Member]
				}
			}
			return why, infeasible
		}
		// A node for each pod is enough, or no number is.
		limit := 0
		if f.shapes[0] {
			limit = f.requests.Rows()
		}
		if why, never := short(limit); never {
			return Bound{AtLeast: math.Inf(1), Why: []gang.Infeasibility{why}}
		}
		// What is proved for some nodes holds for fewer: Infeasible is monotone.
		from := max(nodes, 0)
		least := from + sort.Search(max(limit-from, 0), func(more int) bool {
			_, infeasible := short(from + more)
			return !infeasible
		})
		if least <= nodes {
			continue
		}
		nodes, most = least, Bound{}
		if least > 1 || least == 1 && q.free.Rows() > 0 {
			why, _ := short(least - 1)
			most.Why = []gang.Infeasibility{why}
		}
	}
	most.AtLeast = float64(float64(nodes) * q.shapes[0].Cost)
	return most
}

// A part is what must be paid at least for nodes of some of the shapes.
type part struct {
	cost   float64
	shapes []bool // those that supply it
	why    gang.Infeasibility
}

// leastCost is bound for several shapes. What is requested of a resource, and more than is
// free, has to be bought from shapes that have it, and each pod of a kind from shapes that
// hold it, a whole node at a time. Parts with no shape in common add up.
func (q *question) leastCost() (most Bound) {
	parts := q.parts()
	byCost := func(a, b part) int { return cmp.Compare(b.cost, a.cost) }
	bySuppliers := func(a, b part) int { return cmp.Compare(suppliers(a), suppliers(b)) }
	// Which of the overlapping parts to add up is a problem of its own. Two greedy orders do:
	// the dearest first, or those first that leave most shapes to others.
	for _, order := range []func(a, b part) int{byCost, bySuppliers} {
		slices.SortStableFunc(parts, order)
		taken := make([]bool, len(q.shapes))
		var sum Bound
		for _, b := range parts {
			if overlap(taken, b.shapes) {
				continue
			}
			sum.AtLeast += b.cost
			sum.Why = append(sum.Why, b.why)
			for i := range taken {
				taken[i] = taken[i] || b.shapes[i]
			}
		}
		if sum.AtLeast > most.AtLeast {
			most = sum
		}
	}
	return most
}

// parts returns what must be bought.
func (q *question) parts() (all []part) {
	for _, f := range q.families() {
		free := vector.SumColumns(nil, q.positive(f.rows), nil)
		for j, amount := range vector.SumColumns(nil, f.requests, nil) {
			if amount >= 1<<53 { // the sum may be rounded up
				amount *= 1 - float64(f.requests.Rows()+2)/(1<<51)
			}
			supply := free[j]
			if supply >= 1<<53 { // the sum may be rounded down
				supply *= 1 + float64(q.free.Rows()+2)/(1<<51)
			}
			if amount -= supply; amount > 0 {
				why := gang.Infeasibility{Reason: gang.InfeasibleAggregate, Domain: f.group, Column: j, Member: -1, Needed: amount}
				all = append(all, q.part(f, why, func(s *Shape) float64 { return s.Room[j] }))
			}
		}
		for i := range q.kinds { // of all pods together none: each is of a group
			k := &q.kinds[i]
			if k.group != f.group {
				continue
			}
			missing := int64(len(k.pods))
			if q.free.Rows() > 0 {
				missing -= min(missing, vector.SumCopies(q.free, k.request, f.rows))
			}
			if missing > 0 {
				why := gang.Infeasibility{Reason: gang.InfeasibleCopies, Domain: f.group, Column: -1, Member: k.pods[0], Needed: float64(missing)}
				all = append(all, q.part(f, why, func(s *Shape) float64 { return float64(k.request.CopiesFit(s.Room)) }))
			}
		}
	}
	return all
}

// positive returns some rows of what is free; an amount below 0 has room for nothing.
func (q *question) positive(rows *vector.Mask) *vector.Matrix {
	m := vector.NewMatrix(q.free.Schema(), 0, q.free.Cols())
	zero := make(vector.ResourceVector, q.free.Cols())
	for row := range rows.All() {
		room := q.free.Row(nil, row)
		room.SetMax(zero)
		m.AppendRow(room)
	}
	return m
}

// part returns what is to be paid for what is needed, given how much of it a node has.
func (q *question) part(f *family, why gang.Infeasibility, supply func(*Shape) float64) part {
	b := part{shapes: make([]bool, len(q.shapes)), cost: math.Inf(1), why: why}
	nodes, cheapest, dearest := math.Inf(1), math.Inf(1), 0.0
	whole := true // costs are whole numbers
	for i := range q.shapes {
		s := &q.shapes[i]
		has := supply(s)
		if has <= 0 || !f.shapes[i] {
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

func suppliers(b part) (n int) {
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
