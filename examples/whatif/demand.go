package main

import (
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang/provision"
)

// A demand is what pods that fit nowhere need in new nodes. Free amounts only
// shrink while a queue is placed, so none of these pods fits on any node that is
// there, and all of them need new ones.
type demand struct {
	*cluster
	more  []addition // new nodes that are there already
	pods  []int      // those that fit on a new node of some shape
	never []int      // those that fit on none, even if nothing else runs there
}

// demandOf returns what the pods need that an outcome leaves out.
func (c *cluster) demandOf(o *outcome) *demand {
	d := &demand{cluster: c, more: o.more}
	for _, pod := range o.unplaced() {
		r := c.requests[pod]
		if !slices.ContainsFunc(c.shapes, func(s shape) bool { return r.Requested.FitsIn(s.room()) }) {
			d.never = append(d.never, pod)
			continue
		}
		d.pods = append(d.pods, pod)
	}
	return d
}

// requestMatrix has a row for each of some pods.
func (c *cluster) requestMatrix(pods []int) *vector.Matrix {
	requests := c.m.NewMatrix(0)
	for _, pod := range pods {
		requests.AppendRow(c.requests[pod].Requested)
	}
	return requests
}

// A need is how many new nodes of one shape its pods need when there are no
// others.
type need struct {
	shape *shape
	pods  []int // those that fit on one; without any, the rest is 0

	plan provision.Plan // for these pods, packed for that purpose; at a cost of 1 a node

	// With so many from the start the scores place all of them, perhaps on older
	// nodes that others leave alone then; 0 when not even a node per pod sufficed.
	scheduled int
}

// packed and proved return on how many nodes the pods fit, and on fewer than how many not.
func (n *need) packed() int { return int(n.plan.Cost) }
func (n *need) proved() int { return int(n.plan.AtLeast) }

// alone returns what is needed of one shape.
func (d *demand) alone(s *shape, tie vector.Tie) (need, error) {
	n := need{shape: s}
	room := s.room()
	for _, pod := range d.pods {
		if d.requests[pod].Requested.FitsIn(room) {
			n.pods = append(n.pods, pod)
		}
	}
	if len(n.pods) == 0 {
		return n, nil
	}
	var err error
	if n.plan, err = provision.Cheapest([]provision.Shape{{Room: room, Cost: 1}}, d.requestMatrix(n.pods)); err != nil {
		return n, err
	}
	n.scheduled, err = d.scheduled(&n, tie)
	return n, err
}

// scheduled returns how many new nodes make the scores place every pod of a need,
// and all that were placed without them: enough, where one less is not.
func (d *demand) scheduled(n *need, tie vector.Tie) (int, error) {
	mayWait := make([]bool, len(d.queue))
	for _, pod := range slices.Concat(d.pods, d.never) {
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
	hi := n.packed()
	for step := 1; ; step *= 2 {
		ok, err := enough(hi)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if hi == len(n.pods) {
			return 0, nil
		}
		hi = min(hi+step, len(n.pods))
	}
	for lo := 1; lo < hi; {
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
func (d *demand) mix() (provision.Plan, error) {
	var shapes []provision.Shape
	for i := range d.shapes {
		shapes = append(shapes, provision.Shape{Room: d.shapes[i].room(), Cost: d.shapes[i].cost})
	}
	return provision.Cheapest(shapes, d.requestMatrix(d.pods))
}
