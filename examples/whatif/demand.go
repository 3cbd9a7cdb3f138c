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

	waiting []int // those whose gang lacks pods that are not here, or fit nowhere
}

// demandOf returns what the pods need that an outcome leaves out.
func (c *cluster) demandOf(o *outcome) *demand {
	d := &demand{cluster: c, more: o.more}
	possible := make(map[*gangOfPods]int) // pods of a gang that fit on a new node, or have room on one that is there
	for _, pod := range o.unplaced() {
		fits := false
		for i := range c.shapes {
			fits = fits || c.fits(pod, i)
		}
		if fits {
			d.pods = append(d.pods, pod)
		} else {
			d.never = append(d.never, pod)
		}
		if fits || c.hasRoom(o, pod) {
			possible[c.gangOf[pod]]++
		}
	}
	d.pods = slices.DeleteFunc(d.pods, func(pod int) bool {
		g := c.gangOf[pod]
		if _, broken := o.partial[g]; !broken || possible[g] >= g.least {
			return false
		}
		d.waiting = append(d.waiting, pod)
		return true
	})
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
	room, i := s.room(), d.indexOf(s)
	for _, pod := range d.pods {
		if d.fits(pod, i) {
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
	for _, pod := range slices.Concat(d.pods, d.never, d.waiting) {
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

// mix looks for a cheap mix of shapes. Pods that may not go to all shapes request a place
// more, which only the shapes that they may go to have: a column for each set of shapes.
func (d *demand) mix() (provision.Plan, error) {
	var shapes []provision.Shape
	for i := range d.shapes {
		shapes = append(shapes, provision.Shape{Room: d.shapes[i].room(), Cost: d.shapes[i].cost})
	}
	sets, setOf := d.restrictions()
	for _, set := range sets {
		for i := range shapes {
			places := 0.0
			if set.may[i] {
				places = float64(set.pods)
			}
			shapes[i].Room = append(shapes[i].Room, places)
		}
	}
	width := d.m.Len()
	requests := vector.NewMatrix(vector.Schema{}, 0, width+len(sets))
	for i, pod := range d.pods {
		row := make(vector.ResourceVector, width+len(sets))
		copy(row, d.requests[pod].Requested)
		if setOf[i] >= 0 {
			row[width+setOf[i]] = 1
		}
		requests.AppendRow(row)
	}
	return provision.Cheapest(shapes, requests)
}

// A restriction is shapes to which alone some pods may go.
type restriction struct {
	may  []bool // by shape
	pods int    // how many
}

// restrictions returns the sets of shapes to which alone pods may go, and for each pod its
// set; -1 for all shapes.
func (d *demand) restrictions() (sets []restriction, setOf []int) {
	for _, pod := range d.pods {
		may := make([]bool, len(d.shapes))
		for i, refusal := range d.verdicts[pod].shapes {
			may[i] = refusal.Reason == ""
		}
		at := -1
		if slices.Contains(may, false) {
			if at = slices.IndexFunc(sets, func(s restriction) bool { return slices.Equal(s.may, may) }); at < 0 {
				at = len(sets)
				sets = append(sets, restriction{may: may})
			}
			sets[at].pods++
		}
		setOf = append(setOf, at)
	}
	return sets, setOf
}
