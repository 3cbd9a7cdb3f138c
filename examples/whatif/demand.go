package main

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/resvec/resvec/vector"
)

// A demand is what pods that fit nowhere need in new nodes. Free amounts only
// shrink while a queue is placed, so none of these pods fits on any node that is
// there, and all of them need new ones.
type demand struct {
	*cluster
	more  []addition // new nodes that are there already
	pods  []int      // those that fit on a new node of some shape
	never []int      // those that fit on none, even if nothing else runs there
	kinds []kind     // of pods
}

// A kind is a request and how many pods make it.
type kind struct {
	*vector.PodAmounts
	pods  int
	hosts int // shapes on which one fits
}

// demandOf returns what the pods need that an outcome leaves out.
func (c *cluster) demandOf(o *outcome) *demand {
	d := &demand{cluster: c, more: o.more}
	index := make(map[*vector.PodAmounts]int)
	for _, pod := range o.unplaced() {
		r := c.requests[pod]
		hosts := 0
		for i := range c.shapes {
			if r.Requested.FitsIn(c.shapes[i].room()) {
				hosts++
			}
		}
		if hosts == 0 {
			d.never = append(d.never, pod)
			continue
		}
		d.pods = append(d.pods, pod)
		i, known := index[r]
		if !known {
			i = len(d.kinds)
			index[r] = i
			d.kinds = append(d.kinds, kind{PodAmounts: r, hosts: hosts})
		}
		d.kinds[i].pods++
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

// restarts is how many other orders of the pods are tried where one does not do.
const restarts = 8

// packerOf returns a packer for requests. Their sum is the scale: what all of them
// together want most of decides which is large, and needs fewer nodes than a scale of
// what nodes have.
func packerOf(requests *vector.Matrix) *vector.Packer {
	return vector.NewPacker(vector.PackOptions{
		Total: vector.SumColumns(nil, requests, nil), Order: vector.OrderDominantResource,
		BestFit: vector.TieLowest(), Restarts: restarts, Seed: 1,
	})
}

// A need is how many new nodes of one shape its pods need when there are no
// others.
type need struct {
	shape *shape
	pods  []int // those that fit on one; without any, the rest is 0

	packed int                  // on so many they fit, packed for that purpose
	proved int                  // on fewer they don't
	why    vector.Infeasibility // of one less than proved, if that is any

	// With so many from the start the scores place all of them, perhaps on older
	// nodes that others leave alone then; 0 when not even a node per pod sufficed.
	scheduled int
}

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
	requests := d.requestMatrix(n.pods)
	free := d.m.NewMatrix(0)
	with := func(nodes int) *vector.Matrix {
		free.Resize(min(nodes, free.Rows()))
		for free.Rows() < nodes {
			free.AppendRow(room)
		}
		return free
	}
	packer := packerOf(requests)
	rows, _ := packer.Place(nil, with(len(n.pods)), requests, nil) // there is a node for each pod
	n.packed = int(slices.Max(rows)) + 1
	n.proved = 1 + sort.Search(n.packed-1, func(less int) bool {
		_, infeasible := packer.Infeasible(with(1+less), requests, nil)
		return !infeasible
	})
	if n.proved > 1 {
		n.why, _ = packer.Infeasible(with(n.proved-1), requests, nil)
	}
	for lo := n.proved; lo < n.packed; { // whatever fits is an answer, also where fewer would do
		mid := (lo + n.packed) / 2
		if _, ok := packer.Place(nil, with(mid), requests, nil); ok {
			n.packed = mid
		} else {
			lo = mid + 1
		}
	}
	var err error
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
	hi := n.packed
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

// A mix is new nodes of several shapes on which all pods fit when they are packed
// for that purpose.
type mix struct {
	counts []int // by shape
	cost   float64
	proved float64 // no mix costs less
	bounds []bound // that add up to it, unless cost is less
}

// mix looks for a cheap mix: it opens the node that takes most of what is left,
// by its cost, until nothing is left; takes nodes away as long as the pods can be
// packed on the others; and compares with each shape alone.
func (d *demand) mix(needs []need) mix {
	best := mix{counts: d.open()}
	d.prune(&best)
	for _, n := range needs {
		if alone := float64(float64(n.packed) * n.shape.cost); len(n.pods) == len(d.pods) && alone < best.cost {
			best = mix{counts: make([]int, len(d.shapes)), cost: alone}
			for i := range d.shapes {
				if &d.shapes[i] == n.shape {
					best.counts[i] = n.packed
				}
			}
		}
	}
	best.proved, best.bounds = d.leastCost()
	best.proved = min(best.proved, best.cost)
	return best
}

// open opens nodes until all pods have room.
func (d *demand) open() []int {
	left := slices.Clone(d.kinds)
	total := d.m.NewVector() // what is left, added up
	for _, k := range left {
		for j, amount := range k.Requested {
			total[j] += float64(amount * float64(k.pods))
		}
	}
	slices.SortStableFunc(left, func(a, b kind) int { // the choosiest first, then the largest
		return cmp.Or(cmp.Compare(a.hosts, b.hosts), cmp.Compare(b.Requested.NormalizedSum(total), a.Requested.NormalizedSum(total)))
	})
	counts := make([]int, len(d.shapes))
	for pods := len(d.pods); pods > 0; {
		var taken []int
		best, most := -1, 0.0
		for i := range d.shapes {
			take, size := fill(d.shapes[i].room(), left, total)
			if size/d.shapes[i].cost > most {
				best, most, taken = i, size/d.shapes[i].cost, take
			}
		}
		counts[best]++
		for k, n := range taken {
			left[k].pods -= n
			pods -= n
		}
	}
	return counts
}

// fill returns how many pods of each kind a new node takes, in the order of the
// kinds, and how much of the total they are.
func fill(room vector.ResourceVector, left []kind, total vector.ResourceVector) (taken []int, size float64) {
	taken = make([]int, len(left))
	for k := range left {
		n := min(int64(left[k].pods), left[k].Requested.CopiesFit(room))
		for j, amount := range left[k].Requested {
			room[j] -= float64(amount * float64(n))
		}
		taken[k] = int(n)
		size += float64(left[k].Requested.NormalizedSum(total) * float64(n))
	}
	return taken, size
}

// prune takes away nodes that are not needed, the dearest shape first, and sets
// the cost.
func (d *demand) prune(x *mix) {
	order := make([]int, len(d.shapes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.shapes[b].cost, d.shapes[a].cost) })
	requests := d.requestMatrix(d.pods)
	packer := packerOf(requests)
	for _, i := range order {
		for x.counts[i] > 0 {
			x.counts[i]--
			if _, ok := packer.Place(nil, d.rooms(x.counts), requests, nil); !ok {
				x.counts[i]++
				break
			}
		}
	}
	for i, n := range x.counts {
		x.cost += float64(float64(n) * d.shapes[i].cost)
	}
}

// rooms returns what so many new nodes of each shape have for pods.
func (d *demand) rooms(counts []int) *vector.Matrix {
	free := d.m.NewMatrix(0)
	for i, n := range counts {
		for range n {
			free.AppendRow(d.shapes[i].room())
		}
	}
	return free
}

// leastCost returns a bound below which no mix costs. Whatever is requested of a
// resource has to be bought from shapes that have it, and every pod of a kind from
// shapes that hold it, a whole node at a time. Bounds of shapes that are not the
// same ones add up: it returns those that do, too.
func (d *demand) leastCost() (most float64, chosen []bound) {
	var bounds []bound
	from := func(column int, amount float64, supply func(*shape) float64) {
		b := bound{shape: make([]bool, len(d.shapes)), cost: math.Inf(1), column: column, amount: amount}
		whole, least := math.Inf(1), math.Inf(1)
		same := true
		for i := range d.shapes {
			s := &d.shapes[i]
			if supply(s) <= 0 {
				continue
			}
			b.shape[i] = true
			same = same && (math.IsInf(least, 1) || s.cost == least)
			least = min(least, s.cost)
			whole = min(whole, math.Ceil(amount/supply(s)))
			b.cost = min(b.cost, float64(s.cost*amount)/supply(s))
		}
		if same {
			b.cost = float64(least * whole)
		}
		b.cost = max(b.cost, least)
		bounds = append(bounds, b)
	}
	for j, amount := range vector.SumColumns(nil, d.requestMatrix(d.pods), nil) {
		if amount > 0 {
			from(j, amount, func(s *shape) float64 { return s.room()[j] })
		}
	}
	for _, k := range d.kinds {
		from(-1, float64(k.pods), func(s *shape) float64 { return float64(k.Requested.CopiesFit(s.room())) })
	}
	byCost := func(a, b bound) int { return cmp.Compare(b.cost, a.cost) }
	bySuppliers := func(a, b bound) int { return cmp.Compare(count(a.shape), count(b.shape)) }
	for _, order := range []func(a, b bound) int{byCost, bySuppliers} {
		slices.SortStableFunc(bounds, order)
		taken := make([]bool, len(d.shapes))
		sum := 0.0
		var parts []bound
		for _, b := range bounds {
			if overlap(taken, b.shape) {
				continue
			}
			sum += b.cost
			parts = append(parts, b)
			for i := range taken {
				taken[i] = taken[i] || b.shape[i]
			}
		}
		if sum > most {
			most, chosen = sum, parts
		}
	}
	return most, chosen
}

// A bound is what must be paid at least for some of the shapes.
type bound struct {
	cost   float64
	shape  []bool
	column int     // of what is requested, -1 for pods of a kind
	amount float64 // of it
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
