package fairshare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// What the benchmarks compare with: the data structure of KAI's proportion plugin
// (pkg/scheduler/plugins/proportion), a map of structs by queue name with a map of
// shares by resource, and its rounds of float64. Volcano's proportion plugin pours in rounds
// over maps of amounts, too.

type portShare struct {
	deserved, fairShare, limit, weight, allocated, requested float64
}

type portQueue struct {
	name     string
	parent   string
	priority int
	created  int64
	children []string
	shares   map[string]*portShare
}

type port struct {
	queues    map[string]*portQueue
	resources []string
}

// portOf returns what a tree has, as the port keeps it. It is made once, outside of loops.
func portOf(t *Tree) *port {
	p := &port{queues: map[string]*portQueue{"": {shares: map[string]*portShare{}}}}
	for j := range t.cols {
		name := fmt.Sprint("resource-", j)
		p.resources = append(p.resources, name)
		p.queues[""].shares[name] = &portShare{fairShare: float64(t.total[j])}
	}
	for name, row := range t.All() {
		q := &portQueue{name: name, parent: t.Name(t.Parent(row)), priority: int(t.rows[row].priority), created: t.rows[row].rank, shares: map[string]*portShare{}}
		for j, r := range p.resources {
			i := int32(row)
			q.shares[r] = &portShare{
				deserved: open(t.used(i, deserved)[j]), limit: open(t.used(i, limit)[j]), weight: float64(t.used(i, weight)[j]) / 1000,
				allocated: float64(t.used(i, allocated)[j]), requested: float64(t.used(i, wanted)[j]),
			}
		}
		p.queues[name] = q
		p.queues[q.parent].children = append(p.queues[q.parent].children, name)
	}
	return p
}

func (p *port) divide(name string) {
	siblings := map[string]*portQueue{}
	for _, c := range p.queues[name].children {
		siblings[c] = p.queues[c]
	}
	if len(siblings) == 0 {
		return
	}
	for _, r := range p.resources {
		p.divideResource(siblings, r, p.queues[name].shares[r].fairShare)
	}
	for c := range siblings {
		p.divide(c)
	}
}

func (p *port) divideResource(siblings map[string]*portQueue, r string, amount float64) {
	byPriority := map[int]map[string]*portQueue{}
	for name, q := range siblings {
		s := q.shares[r]
		s.fairShare = min(s.deserved, s.limit, s.requested)
		amount -= s.fairShare
		if byPriority[q.priority] == nil {
			byPriority[q.priority] = map[string]*portQueue{}
		}
		byPriority[q.priority][name] = q
	}
	// As there, each round makes the weights of those that want more, and notes the fractions
	// that it rounded away; the odd units go by these.
	type rest struct {
		q      *portQueue
		amount float64
	}
	order := slices.Sorted(maps.Keys(byPriority))
	odd := map[int]map[string]*rest{}
	for _, priority := range slices.Backward(order) {
		queues := byPriority[priority]
		rests := map[string]*rest{}
		for again := true; again && amount > 0; {
			again = false
			all, weights := 0.0, map[string]float64{}
			for _, q := range queues {
				if q.wantsMore(r) > 0 {
					all += q.shares[r].weight
				}
			}
			for name, q := range queues {
				if q.wantsMore(r) > 0 {
					weights[name] = q.shares[r].weight / all
				}
			}
			inRound := amount
			for name, q := range queues {
				wants := q.wantsMore(r)
				if wants <= 0 || amount == 0 || weights[name] == 0 {
					continue
				}
				fair := inRound * weights[name]
				give := wants
				if wants <= fair {
					delete(rests, name)
				} else if give = math.Floor(fair); fair > give {
					rests[name] = &rest{q, fair - give}
				}
				q.shares[r].fairShare += give
				amount -= give
				again = again || wants < fair
			}
		}
		odd[priority] = rests
	}
	for _, priority := range slices.Backward(order) {
		list := slices.SortedFunc(maps.Values(odd[priority]), func(a, b *rest) int {
			return cmp.Or(cmp.Compare(b.amount, a.amount), cmp.Compare(a.q.created, b.q.created))
		})
		for _, x := range list {
			if amount >= 1 {
				x.q.shares[r].fairShare++
				amount--
			}
		}
	}
}

func (q *portQueue) wantsMore(r string) float64 {
	return max(0, min(q.shares[r].requested, q.shares[r].limit)-q.shares[r].fairShare)
}

// amounts is a resource of Volcano's: a map of scalars, cloned and compared as a whole.
type portAmounts map[string]float64

func (a portAmounts) plus(b portAmounts, times float64) portAmounts {
	sum := maps.Clone(a)
	for r, x := range b {
		sum[r] += x * times
	}
	return sum
}

func (a portAmounts) least(b portAmounts) portAmounts {
	for r, x := range b {
		a[r] = min(a[r], x)
	}
	return a
}

// proportion is the division of Volcano's plugin: all of what remains by weight, in rounds,
// until no queue gets more.
func (p *port) proportion(name string) {
	parent := p.queues[name]
	if len(parent.children) == 0 {
		return
	}
	remaining, deserved, most := portAmounts{}, map[string]portAmounts{}, map[string]portAmounts{}
	for _, r := range p.resources {
		remaining[r] = parent.shares[r].fairShare
	}
	for _, c := range parent.children {
		deserved[c], most[c] = portAmounts{}, portAmounts{}
		for r, s := range p.queues[c].shares {
			most[c][r] = min(s.requested, s.limit)
		}
	}
	met := map[string]portAmounts{}
	for again := true; again; {
		again = false
		weights := portAmounts{}
		for _, c := range parent.children {
			for r, s := range p.queues[c].shares {
				if met[c] == nil || met[c][r] == 0 {
					weights[r] += s.weight
				}
			}
		}
		given := portAmounts{}
		for _, c := range parent.children {
			before := maps.Clone(deserved[c])
			part := portAmounts{}
			for r, s := range p.queues[c].shares {
				if weights[r] > 0 && (met[c] == nil || met[c][r] == 0) {
					part[r] = remaining[r] * (s.weight / weights[r])
				}
			}
			deserved[c] = deserved[c].plus(part, 1).least(most[c])
			for r, x := range deserved[c] {
				if x >= most[c][r] && (met[c] == nil || met[c][r] == 0) {
					if met[c] == nil {
						met[c] = portAmounts{}
					}
					met[c][r], again = 1, true
				}
			}
			given = given.plus(deserved[c].plus(before, -1), 1)
		}
		remaining = remaining.plus(given, -1)
	}
	for _, c := range parent.children {
		for r, s := range p.queues[c].shares {
			s.fairShare = deserved[c][r]
		}
		p.proportion(c)
	}
}

// dominant returns KAI's dominant share of a queue with more of everything.
func (p *port) dominant(q *portQueue, more map[string]float64) float64 {
	most := 0.0
	for r, s := range q.shares {
		entitled := min(s.limit, max(s.deserved, s.fairShare))
		a := s.allocated + more[r]
		if entitled == 0 {
			most = max(most, a*1000)
		} else {
			most = max(most, a/entitled)
		}
	}
	return most
}

// next sorts the siblings of every level anew, and returns the first leaf.
func (p *port) next(jobs map[string]map[string]float64) string {
	name := ""
	for {
		q := p.queues[name]
		if len(q.children) == 0 {
			return name
		}
		list := slices.Clone(q.children)
		slices.SortFunc(list, func(a, b string) int { return p.compare(p.queues[a], p.queues[b], jobs[a], jobs[b]) })
		name = list[0]
	}
}

func (p *port) compare(a, b *portQueue, jobA, jobB map[string]float64) int {
	over := func(q *portQueue) bool {
		for _, s := range q.shares {
			if s.allocated <= s.fairShare {
				return false
			}
		}
		return true
	}
	within := func(q *portQueue, job map[string]float64) bool {
		for r, s := range q.shares {
			if s.allocated+job[r] > s.deserved {
				return false
			}
		}
		return true
	}
	lacks := func(q *portQueue, job map[string]float64) bool {
		for r, s := range q.shares {
			if s.allocated+job[r] > 0 && min(s.limit, max(s.deserved, s.fairShare)) == 0 {
				return true
			}
		}
		return false
	}
	no := func(x, y bool) int {
		switch {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	}
	if c := cmp.Or(no(over(a), over(b)), -no(within(a, jobA), within(b, jobB)), cmp.Compare(b.priority, a.priority), no(lacks(a, jobA), lacks(b, jobB))); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(p.dominant(a, jobA), p.dominant(b, jobB)), cmp.Compare(p.dominant(a, nil), p.dominant(b, nil)), cmp.Compare(a.created, b.created))
}

// reclaimable asks whether p may take one victim of q, as KAI does: what is left to each
// queue is a map, made for the question.
func (p *port) reclaimable(taker, giver string, request, victim map[string]float64) bool {
	for r, s := range p.queues[taker].shares {
		if s.allocated+request[r] > s.fairShare {
			return false
		}
	}
	path := func(name string) []string {
		list := []string{}
		for name != "" {
			list = append(list, name)
			name = p.queues[name].parent
		}
		slices.Reverse(list)
		return list
	}
	remaining := map[string]map[string]float64{}
	for _, name := range append(path(taker), path(giver)...) {
		amounts := map[string]float64{}
		for r, s := range p.queues[name].shares {
			amounts[r] = s.allocated
		}
		remaining[name] = amounts
	}
	takers, givers := path(taker), path(giver)
	for i := 0; i < min(len(takers), len(givers)); i++ {
		a, b := p.queues[takers[i]], p.queues[givers[i]]
		if a == b {
			continue
		}
		above, within, aboveDeserved := false, true, false
		for r, s := range b.shares {
			above = above || remaining[b.name][r] > min(s.limit, max(s.deserved, s.fairShare))
			aboveDeserved = aboveDeserved || remaining[b.name][r] > s.deserved
		}
		for r, s := range a.shares {
			within = within && remaining[a.name][r]+request[r] <= s.deserved
		}
		if !above && !(within && aboveDeserved) {
			return false
		}
		break
	}
	for _, name := range givers { // for the victims that follow
		for r, x := range victim {
			remaining[name][r] -= x
		}
	}
	return true
}
