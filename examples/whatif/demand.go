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
	added   []*shape   // of each of these
	allowed map[*verdict]*mayGo

	start  *placement.State // before the queue is placed, but for pods that may go to one node alone
	left   *placement.State // when it is placed
	placed []int            // pods that have a node, and may go to several or to new ones

	pods     []int   // those that fit on a new node of some shape
	onShape  [][]int // and of each shape
	extra    []exclusion
	there    []int // of gangs, those that fit on a node that is there alone: they are placed in left
	attached []int // those that stay with a node by its name, which no new one has
	never    []int // those that fit on none, even if nothing else runs there
	refused  []int // those that other pods keep from all new nodes that were tried
	waiting  []int // those whose gang lacks pods that are not here, or fit nowhere
}

// demandOf returns what the pods need that an outcome leaves out.
func (c *cluster) demandOf(o *outcome) (*demand, error) {
	d := &demand{cluster: c, more: o.more, added: o.added, allowed: o.allowed, left: o.final}
	if err := d.findStart(o); err != nil {
		return nil, err
	}
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
	for i := range d.shapes {
		d.onShape = append(d.onShape, slices.DeleteFunc(slices.Clone(d.pods), func(pod int) bool { return !d.fits(pod, i) }))
	}
	if !d.state.Observes() || len(d.pods) == 0 {
		return d, nil
	}
	err := d.findRefused()
	d.extra = d.exclusions(d.pods)
	return d, err
}

// mostTried is how many new nodes are tried at once.
const mostTried = 10_000

// findRefused takes the pods from each shape, and from all, that other pods keep from the new nodes,
// by spread constraints, affinity or ports, even where there is a new node for each pod.
func (d *demand) findRefused() error {
	rest := make(map[int]bool)
	for _, pod := range d.pods {
		rest[pod] = true
	}
	for i := range d.shapes {
		if len(d.onShape[i]) == 0 {
			continue
		}
		refused, err := d.try([]int{i}, d.onShape[i])
		if err != nil {
			return err
		}
		d.onShape[i] = slices.DeleteFunc(d.onShape[i], func(pod int) bool { return refused[pod] })
		for _, pod := range d.onShape[i] {
			delete(rest, pod)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	refused, err := d.try(d.shapeIndices(), d.pods)
	d.pods = slices.DeleteFunc(d.pods, func(pod int) bool {
		if !rest[pod] || !refused[pod] {
			return false
		}
		d.refused = append(d.refused, pod)
		return true
	})
	return err
}

// withNodeEach places the queue with a new node of each of some shapes for each of some pods.
func (d *demand) withNodeEach(shapes, pods []int) (*outcome, error) {
	add := slices.Clip(d.more)
	for _, i := range shapes {
		add = append(add, addition{&d.shapes[i], min(len(pods), max(mostTried/len(shapes), 1))})
	}
	return d.simulate(add, vector.TieLowest())
}

// try returns which of some pods are left out, though a node has room, where there is a new node of
// each of some shapes for each of them.
func (d *demand) try(shapes, pods []int) (refused map[int]bool, err error) {
	o, err := d.withNodeEach(shapes, pods)
	if err != nil {
		return nil, err
	}
	refused = make(map[int]bool)
	var room vector.Mask
	for _, pod := range pods {
		if o.rows[pod] >= 0 {
			continue
		}
		vector.FitAmong(&room, o.final.Nodes().Free(), d.requests[pod].Requested, o.allowed[d.verdicts[pod]].rows)
		refused[pod] = room.Any()
	}
	return refused, nil
}

// findStart sets what is free before the queue is placed. Pods that may go to one node alone are
// there in any case.
func (d *demand) findStart(o *outcome) error {
	before, err := d.join(d.state, nil, o.more)
	if err != nil {
		return err
	}
	d.start = before.final
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
		case choices[d.verdicts[pod]] == 1 && d.start.Assume(row, d.objects[pod], d.requests[pod]) == nil:
		default:
			d.placed = append(d.placed, pod)
		}
	}
	return nil
}

// placeThere places pods of gangs that fit on no new node on those that are there, the first
// that fits. One that finds none leaves its gang a pod short.
func (d *demand) placeThere(possible map[*gangOfPods]int) {
	if len(d.there) == 0 {
		return
	}
	d.left = d.left.Clone()
	d.there = slices.DeleteFunc(d.there, func(pod int) bool {
		decision, err := d.left.Decide(d.objects[pod], d.requests[pod], d.allowed[d.verdicts[pod]].rows)
		row := decision.Fits.First()
		if err == nil && row >= 0 && d.left.Assume(row, d.objects[pod], d.requests[pod]) == nil {
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
	alike   int
}

// likeness returns what decides about a pod of the queue.
func (c *cluster) likeness(pod int) likeness {
	return likeness{c.requests[pod], c.verdicts[pod], c.gangOf[pod], c.alike[pod]}
}

// A packing is a problem of package provision, whose pods are grouped. Behind the columns of the
// map it has one for each exclusion.
type packing struct {
	provision.Problem
	shapes []int // of the cluster, which can be bought
	order  []int // the pods of the queue, as the problem numbers them
	extra  []exclusion
}

// packing asks which new nodes of some shapes hold pods, besides what is free in a state.
func (d *demand) packing(state *placement.State, shapes []int, pods []int) *packing {
	p := &packing{shapes: shapes, extra: d.extra}
	free := state.Nodes().Free()
	schema := free.Schema()
	for _, x := range d.extra {
		schema = schema.Append(vector.SchemaColumn{Name: x.why, Integral: true})
	}
	matrix := func() *vector.Matrix { return vector.NewMatrix(schema, 0, free.Cols()+len(d.extra)) }
	if p.Free = free; len(d.extra) > 0 {
		p.Free = matrix()
		for row := range free.Rows() {
			amounts := free.Row(nil, row)
			for i := range d.extra {
				amounts = append(amounts, d.extra[i].free(state, row))
			}
			p.Free.AppendRow(amounts)
		}
	}
	for _, i := range shapes {
		room := d.shapes[i].room()
		for k := range d.extra {
			room = append(room, d.extra[k].places(d.shapes[i].agents))
		}
		p.Shapes = append(p.Shapes, provision.Shape{Room: room, Cost: d.shapes[i].cost})
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
				p.Pods = append(p.Pods, provision.Pods{Requests: matrix(), Rows: d.allowed[v].rows, Shapes: may})
			}
		}
		i := index[key]
		members[i] = append(members[i], pod)
		request := d.requests[pod].Requested
		if len(d.extra) > 0 {
			request = slices.Clone(request)
			for k := range d.extra {
				one := 0.0
				if d.extra[k].pods[pod] {
					one = 1
				}
				request = append(request, one)
			}
		}
		p.Pods[i].Requests.AppendRow(request)
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

// exclusion returns the one that a column counts, nil for a resource and for -1.
func (p *packing) exclusion(column int) *exclusion {
	if k := column - (len(p.Shapes[0].Room) - len(p.extra)); k >= 0 {
		return &p.extra[k]
	}
	return nil
}

// A plan is new nodes for pods that fit nowhere. Its bound is one for the whole question: no
// cheaper nodes make room for these pods and for those that are placed, wherever all of them go.
type plan struct {
	provision.Plan
	found bool     // the nodes take the pods: nothing that the packing doesn't know keeps them away
	whole *packing // the whole question
}

// plan looks for cheap new nodes of some shapes for pods.
func (d *demand) plan(shapes, pods []int) (p plan, err error) {
	left := d.packing(d.left, shapes, pods)
	if p.Plan, err = left.Cheapest(); err != nil {
		return p, err
	}
	p.whole = d.packing(d.start, shapes, slices.Concat(d.placed, pods))
	p.Bound, err = p.whole.AtLeast()
	if p.AtLeast = min(p.AtLeast, p.Cost); err != nil {
		return p, err
	}
	planned := make(map[int]int)
	for i, row := range p.Placement {
		planned[left.order[i]] = int(row)
	}
	p.found, err = d.holds(shapes, p.Counts, pods, planned)
	return p, err
}

// mostPasses bounds how often pods are tried that had no place before others had one.
const mostPasses = 32

// holds reports whether so many new nodes of shapes, and what is left, really take pods, one after
// the other. Each goes where it is planned, or else to the first node that takes it. Where amounts
// alone decide, a plan does.
func (d *demand) holds(shapes, counts, pods []int, planned map[int]int) (bool, error) {
	if !d.state.Observes() {
		return true, nil
	}
	var add []addition
	for k, i := range shapes {
		add = append(add, addition{&d.shapes[i], counts[k]})
	}
	o, err := d.join(d.left, d.added, add)
	if err != nil {
		return false, err
	}
	left, elsewhere := slices.Sorted(slices.Values(pods)), false
	for range mostPasses {
		before := len(left)
		left = slices.DeleteFunc(left, func(pod int) bool {
			decision, err := o.final.Decide(d.objects[pod], d.requests[pod], o.allowed[d.verdicts[pod]].rows)
			row, is := planned[pod]
			if err != nil || !decision.Fits.Any() {
				return false
			}
			if !is || !decision.Fits.Test(row) {
				if row = decision.Fits.First(); is && !elsewhere {
					return false
				}
			}
			return o.final.Assume(row, d.objects[pod], d.requests[pod]) == nil
		})
		switch {
		case len(left) == 0:
			return true, nil
		case len(left) < before:
		case elsewhere:
			return false, nil
		default:
			elsewhere = true // what is planned for the others can't be
		}
	}
	return false, nil
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

// packed returns how many new nodes hold the pods, with what is free, and whether such a number
// was found. The scores are a way to pack, too.
func (n *need) packed() (count int, found bool) {
	count = n.count(n.plan.Cost)
	if n.scheduled > 0 && (!n.plan.found || n.scheduled < count) {
		return n.scheduled, true
	}
	return count, n.plan.found || len(n.pods) == 0
}

// proved returns on fewer than how many the pods can't be.
func (n *need) proved() int { return n.count(n.plan.AtLeast) }

// count returns how many nodes of the shape have a cost.
func (n *need) count(cost float64) int { return int(math.Round(cost / n.shape.cost)) }

// alone returns what is needed of one shape.
func (d *demand) alone(s *shape, tie vector.Tie) (need, error) {
	i := d.indexOf(s)
	n := need{shape: s, pods: d.onShape[i]}
	if len(n.pods) == 0 {
		return n, nil
	}
	var err error
	if n.plan, err = d.plan([]int{i}, n.pods); err != nil {
		return n, err
	}
	if n.scheduled, err = d.scheduled(&n, tie); err != nil || n.plan.found {
		return n, err
	}
	return n, d.findMore(i, &n)
}

// mostMore is how many numbers of nodes are tried where a plan doesn't hold.
const mostMore = 32

// findMore looks for a number of nodes of a shape that holds what a plan doesn't.
func (d *demand) findMore(shape int, n *need) error {
	most := len(n.pods)
	if n.scheduled > 0 {
		most = n.scheduled - 1
	}
	first := n.count(n.plan.Cost)
	for nodes := first; nodes <= min(most, first+mostMore); nodes++ {
		ok, err := d.holds([]int{shape}, []int{nodes}, n.pods, nil)
		if err != nil {
			return err
		}
		if ok {
			n.plan.Counts, n.plan.Cost, n.plan.found = []int{nodes}, float64(float64(nodes)*n.shape.cost), true
			return nil
		}
	}
	return nil
}

// scheduled returns how many new nodes make the scores place every pod of a need,
// and all that were placed without them: enough, where one less is not.
func (d *demand) scheduled(n *need, tie vector.Tie) (int, error) {
	mayWait := make([]bool, len(d.queue))
	for _, pod := range slices.Concat(d.pods, d.there, d.attached, d.never, d.refused, d.waiting) {
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
	hi, _ := n.packed()
	hi = max(hi, lo)
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

// mix looks for a cheap mix of shapes. Where the plan doesn't hold, it begins with what the scores
// use of a new node of each shape for each pod, and takes away nodes.
func (d *demand) mix() (plan, error) {
	p, err := d.plan(d.shapeIndices(), d.pods)
	if err != nil || p.found {
		return p, err
	}
	p.Cost, p.Counts = math.Inf(1), make([]int, len(d.shapes))
	return p, d.trim(&p)
}

// trim is the second part of mix.
func (d *demand) trim(p *plan) error {
	shapes := d.shapeIndices()
	o, err := d.withNodeEach(shapes, d.pods)
	if err != nil {
		return err
	}
	used := make(map[int]bool)
	counts := make([]int, len(d.shapes))
	for _, pod := range d.pods {
		if row := o.rows[pod]; row >= len(d.hosts)+len(d.added) && !used[row] {
			used[row] = true
			counts[d.indexOf(o.added[row-len(d.hosts)])]++
		}
	}
	holds := func() bool {
		ok, fault := d.holds(shapes, counts, d.pods, nil)
		if fault != nil {
			err = fault
		}
		return ok && err == nil
	}
	if p.found = holds(); !p.found {
		return err
	}
	for i := range counts {
		for step := counts[i]; step > 0; step /= 2 {
			for counts[i] >= step {
				if counts[i] -= step; !holds() {
					counts[i] += step
					break
				}
			}
		}
	}
	p.Counts, p.Cost = counts, 0
	for i, n := range counts {
		p.Cost += float64(float64(n) * d.shapes[i].cost)
	}
	return err
}
