package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang/provision"
)

// A demand is the question which new nodes make room for pods that fit nowhere. What an outcome
// placed has to find a place, too, but may go elsewhere: to a new node, or to an old one that
// another pod leaves.
type demand struct {
	*cluster
	more    []addition // new nodes that are there already
	allowed map[*verdict]*mayGo

	start  *placement.State // before the queue is placed, but for pods that may go to one node alone
	left   *placement.State // when it is placed
	placed []int            // pods that have a node, and may go to several or to new ones

	pods     []int // those that fit on a new node of some shape
	there    []int // of gangs, those that fit on a node that is there alone: they are placed in left
	attached []int // those that stay with a node by its name, which no new one has
	never    []int // those that fit on none, even if nothing else runs there
	waiting  []int // those whose gang lacks pods that are not here, or fit nowhere
}

// demandOf returns what the pods need that an outcome leaves out.
func (c *cluster) demandOf(o *outcome) *demand {
	d := &demand{cluster: c, more: o.more, allowed: o.allowed, left: o.final}
	d.findStart(o)
	fits, room := make(map[likeness]bool), make(map[likeness]bool) // on a new node, on one that is there
	possible := make(map[*gangOfPods]int)                          // pods of a gang that fit on either
	for _, pod := range o.unplaced() {
		like := c.likeness(pod)
		if _, known := fits[like]; !known {
			fits[like] = slices.ContainsFunc(c.shapeIndices(), func(i int) bool { return c.fits(pod, i) })
			room[like] = o.fitsNow(c, pod)
		}
		switch {
		case fits[like]:
			d.pods = append(d.pods, pod)
		case room[like] && c.gangOf[pod] != nil:
			d.there = append(d.there, pod)
		case c.isAttached(pod):
			d.attached = append(d.attached, pod)
		default:
			d.never = append(d.never, pod)
		}
		if fits[like] || room[like] {
			possible[c.gangOf[pod]]++
		}
	}
	d.placeThere(possible)
	waits := func(pod int) bool {
		g := c.gangOf[pod]
		_, broken := o.partial[g]
		return broken && possible[g] < g.least
	}
	for _, pods := range []*[]int{&d.pods, &d.there} {
		*pods = slices.DeleteFunc(*pods, func(pod int) bool {
			if !waits(pod) {
				return false
			}
			d.waiting = append(d.waiting, pod)
			return true
		})
	}
	slices.Sort(d.waiting)
	return d
}

// findStart sets what is free before the queue is placed. Pods that may go to one node alone are
// there in any case.
func (d *demand) findStart(o *outcome) {
	d.start, _, _ = d.with(o.more) // an outcome had them
	choices := make(map[*verdict]int)
	for v, may := range o.allowed {
		choices[v] = may.rows.Count()
		for _, refusal := range v.shapes {
			if refusal.Reason == "" {
				choices[v]++
			}
		}
	}
	for pod, row := range o.rows {
		switch {
		case row < 0:
		case choices[d.verdicts[pod]] == 1 && d.start.Assume(row, d.requests[pod]) == nil:
		default:
			d.placed = append(d.placed, pod)
		}
	}
}

// placeThere places pods of gangs that fit on no new node on those that are there, the first
// that fits. One that finds none leaves its gang a pod short.
func (d *demand) placeThere(possible map[*gangOfPods]int) {
	if len(d.there) == 0 {
		return
	}
	d.left = d.left.Clone()
	d.there = slices.DeleteFunc(d.there, func(pod int) bool {
		decision, err := d.left.Decide(d.requests[pod], d.allowed[d.verdicts[pod]].rows)
		row := decision.Fits.First()
		if err == nil && row >= 0 && d.left.Assume(row, d.requests[pod]) == nil {
			return false
		}
		possible[d.gangOf[pod]]--
		d.waiting = append(d.waiting, pod)
		return true
	})
}

// shapeIndices returns the index of each shape.
func (c *cluster) shapeIndices() []int {
	all := make([]int, len(c.shapes))
	for i := range all {
		all[i] = i
	}
	return all
}

// isAttached reports whether a pod stays with a node by its name: of a DaemonSet, or by its
// affinity.
func (c *cluster) isAttached(pod int) bool {
	_, daemon := daemonOf(c.queue[pod])
	return daemon || placement.NameOf(c.queue[pod].Pod) != ""
}

// A likeness is what pods have in common that fit nowhere for the same reason.
type likeness struct {
	request *vector.PodAmounts
	verdict *verdict
	gang    *gangOfPods
}

// likeness returns what decides about a pod of the queue.
func (c *cluster) likeness(pod int) likeness {
	return likeness{c.requests[pod], c.verdicts[pod], c.gangOf[pod]}
}

// A packing is a problem of package provision, whose pods are grouped.
type packing struct {
	provision.Problem
	shapes []int // of the cluster, which can be bought
	order  []int // the pods of the queue, as the problem numbers them
}

// packing asks which new nodes of some shapes hold pods, besides what is free in a state.
func (d *demand) packing(state *placement.State, shapes []int, pods []int) *packing {
	p := &packing{shapes: shapes}
	p.Free = state.Nodes().Free()
	for _, i := range shapes {
		p.Shapes = append(p.Shapes, provision.Shape{Room: d.shapes[i].room(), Cost: d.shapes[i].cost})
	}
	type groupKey struct{ rows, shapes string }
	keys := make(map[*verdict]groupKey)
	index := make(map[groupKey]int)
	var members [][]int
	for _, pod := range pods {
		v := d.verdicts[pod]
		key, known := keys[v]
		if !known {
			may := make([]bool, len(shapes))
			for k, i := range shapes {
				may[k] = v.shapes[i].Reason == ""
			}
			key = groupKey{fmt.Sprint(d.allowed[v].rows.Words()), fmt.Sprint(may)}
			keys[v] = key
			if _, known := index[key]; !known {
				index[key] = len(members)
				members = append(members, nil)
				p.Pods = append(p.Pods, provision.Pods{Requests: d.m.NewMatrix(0), Rows: d.allowed[v].rows, Shapes: may})
			}
		}
		i := index[key]
		members[i] = append(members[i], pod)
		p.Pods[i].Requests.AppendRow(d.requests[pod].Requested)
	}
	p.order = slices.Concat(members...)
	return p
}

// may reports whether pods of a group, of any for -1, may go to a shape of the cluster.
func (p *packing) may(group, shape int) bool {
	k := slices.Index(p.shapes, shape)
	for i, pods := range p.Pods {
		if (group < 0 || group == i) && pods.Shapes[k] {
			return true
		}
	}
	return false
}

// A plan is new nodes for pods that fit nowhere. Its bound is one for the whole question: no
// cheaper nodes make room for these pods and for those that are placed, wherever all of them go.
type plan struct {
	provision.Plan
	whole *packing // the whole question
}

// plan looks for cheap new nodes of some shapes for pods.
func (d *demand) plan(shapes, pods []int) (p plan, err error) {
	if p.Plan, err = d.packing(d.left, shapes, pods).Cheapest(); err != nil {
		return p, err
	}
	p.whole = d.packing(d.start, shapes, slices.Concat(d.placed, pods))
	p.Bound, err = p.whole.AtLeast()
	p.AtLeast = min(p.AtLeast, p.Cost)
	return p, err
}

// A need is how many new nodes of one shape its pods need when there are no
// others.
type need struct {
	shape *shape
	pods  []int // those that fit on one; without any, the rest is 0

	plan plan // at the cost of the shape

	// With so many from the start the scores place all of them, perhaps on older
	// nodes that others leave alone then; 0 when not even a node per pod sufficed.
	scheduled int
}

// packed returns how many new nodes hold the pods, with what is free. The scores are a way
// to pack, too.
func (n *need) packed() int {
	count := n.count(n.plan.Cost)
	if n.scheduled > 0 {
		count = min(count, n.scheduled)
	}
	return count
}

// proved returns on fewer than how many the pods can't be.
func (n *need) proved() int { return n.count(n.plan.AtLeast) }

// count returns how many nodes of the shape have a cost.
func (n *need) count(cost float64) int { return int(math.Round(cost / n.shape.cost)) }

// alone returns what is needed of one shape.
func (d *demand) alone(s *shape, tie vector.Tie) (need, error) {
	n := need{shape: s}
	i := d.indexOf(s)
	for _, pod := range d.pods {
		if d.fits(pod, i) {
			n.pods = append(n.pods, pod)
		}
	}
	if len(n.pods) == 0 {
		return n, nil
	}
	var err error
	if n.plan, err = d.plan([]int{i}, n.pods); err != nil {
		return n, err
	}
	n.scheduled, err = d.scheduled(&n, tie)
	return n, err
}

// scheduled returns how many new nodes make the scores place every pod of a need,
// and all that were placed without them: enough, where one less is not.
func (d *demand) scheduled(n *need, tie vector.Tie) (int, error) {
	mayWait := make([]bool, len(d.queue))
	for _, pod := range slices.Concat(d.pods, d.there, d.attached, d.never, d.waiting) {
		mayWait[pod] = true
	}
	for _, pod := range n.pods {
		mayWait[pod] = false
	}
	enough := func(nodes int) (bool, error) {
		o, err := d.simulate(append(slices.Clip(d.more), addition{n.shape, nodes}), tie)
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(o.unplaced(), func(pod int) bool { return !mayWait[pod] }), nil
	}
	lo := max(n.proved(), 1) // without new nodes the pods fit nowhere
	hi := max(n.packed(), lo)
	for step := 1; ; step *= 2 {
		ok, err := enough(hi)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if hi >= len(n.pods) {
			return 0, nil
		}
		lo = hi + 1
		hi = min(hi+step, len(n.pods))
	}
	for lo < hi {
		mid := (lo + hi) / 2
		ok, err := enough(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return hi, nil
}

// mix looks for a cheap mix of shapes.
func (d *demand) mix() (plan, error) { return d.plan(d.shapeIndices(), d.pods) }
