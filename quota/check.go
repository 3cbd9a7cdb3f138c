package quota

import (
	"cmp"
	"fmt"
	"slices"
)

// Check recomputes everything from the records of jobs and charges. It returns nil, or
// an error that lists the first things that don't agree, sorted by queue, job, task and resource, in
// milli-cores, bytes and milli-cards. An error is a fault of this package, or of memory.
func (l *Ledger) Check() error {
	l.rlock()
	defer l.mu.RUnlock()
	found := l.check()
	if len(found) == 0 {
		return nil
	}
	texts := make([]string, len(found))
	for i := range found {
		texts[i] = found[i].String()
	}
	return fmt.Errorf("quota: the ledger contradicts itself: %s", some(texts))
}

// violation is something in a ledger that can't be.
type violation struct {
	rule     rule
	queue    string // empty where only a task or job is concerned
	job      string
	task     string
	resource string // cpu, memory, a card or a key of alternatives; empty if none
	got      int64
	want     int64 // what it should be, or the limit
}

// rule is what a violation is against: an invariant of the ledger.
type rule string

const (
	sumsAgree   rule = "a queue counts the sum of its records and of its children"
	notNegative rule = "no amount is below 0, and none covers more than itself"
	withinLimit rule = "what exceeds its limit is marked as over, and nothing else is"
	minIsHeld   rule = "what charges cover and what is held add up to the min"
	oneCard     rule = "the charges and the hold of an item are on its cards, with SameCard on one"
	belongs     rule = "every charge has its job, and every job its queue"
)

// String describes the violation in one line.
func (v violation) String() string {
	text := ""
	for _, of := range [...]struct{ what, name string }{{"queue", v.queue}, {"job", v.job}, {"task", v.task}, {"resource", v.resource}} {
		if of.name != "" {
			text += fmt.Sprintf("%s %q, ", of.what, brief(of.name))
		}
	}
	return fmt.Sprintf("%s%d instead of %d: %s", text, v.got, v.want, v.rule)
}

// check returns what doesn't agree, in order.
func (l *Ledger) check() []violation {
	c := checker{l: l, sums: make(map[*queue][]cell, len(l.ordered)), jobs: make(map[*queue]int, len(l.ordered)), holds: map[*queue]int{}}
	for _, q := range l.ordered {
		c.sums[q] = make([]cell, len(q.cells))
	}
	tasks := 0
	for _, id := range sorted(l.jobs) {
		c.job(id, l.jobs[id])
		tasks += int(l.jobs[id].tasks)
	}
	if tasks != len(l.tasks) {
		c.found = append(c.found, violation{rule: belongs, got: int64(len(l.tasks)), want: int64(tasks)})
	}
	for _, id := range sorted(l.waiting) {
		if l.tasks[id] != nil || l.waiting[id].id != id {
			c.found = append(c.found, violation{rule: belongs, task: id})
		}
	}
	c.rollUp()
	for _, q := range l.ordered {
		c.queue(q)
	}
	slices.SortStableFunc(c.found, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.job, b.job), cmp.Compare(a.task, b.task),
			cmp.Compare(a.resource, b.resource), cmp.Compare(a.rule, b.rule))
	})
	return c.found
}

// checker is the work of one Check.
type checker struct {
	l     *Ledger
	sums  map[*queue][]cell // of the records
	jobs  map[*queue]int
	holds map[*queue]int // jobs with a hold
	found []violation
}

// job checks a job and its tasks, and adds them to the sums of its queue.
func (c *checker) job(id string, j *job) {
	v := violation{queue: j.queue.spec.Name, job: id}
	sums := c.sums[j.queue]
	if sums == nil || c.l.queues[j.queue.spec.Name] != j.queue || j.id != id || j.gone || !j.reserved && j.tasks == 0 {
		v.rule = belongs
		c.found = append(c.found, v)
		sums = make([]cell, c.l.m.Len())
	}
	c.jobs[j.queue]++
	if j.holds() {
		c.holds[j.queue]++
	}
	if j.holds() != j.holding {
		v := v
		v.rule = sumsAgree
		c.found = append(c.found, v)
	}
	var cpu, mem int64
	of := make(map[*item]*itemSum, len(j.items))
	for _, it := range j.items {
		of[it] = &itemSum{}
	}
	n := 0
	for t := j.first; t != nil; t = t.next {
		if n++; n > int(j.tasks) {
			break
		}
		c.task(v, t, sums, of)
		cpu += t.cpu.covered
		mem += t.mem.covered
	}
	c.equal(v, belongs, "", int64(n), int64(j.tasks))
	c.need(v, "cpu", j.min[dimCPU], j.held[dimCPU], cpu)
	c.need(v, "memory", j.min[dimMemory], j.held[dimMemory], mem)
	sums[dimCPU].held += j.held[dimCPU]
	sums[dimMemory].held += j.held[dimMemory]
	for _, it := range j.items {
		c.item(v, it, of[it], sums)
	}
	if !j.reserved {
		c.equal(v, minIsHeld, "", j.min[dimCPU]+j.min[dimMemory], 0)
	}
}

// itemSum is what the charges of an item come to.
type itemSum struct {
	covered   int64
	charges   int32
	elsewhere int32 // on another card than the item's
}

func (c *checker) task(v violation, t *task, sums []cell, of map[*item]*itemSum) {
	j := t.job
	v.task = t.id
	if c.l.tasks[t.id] != t || c.l.jobs[v.job] != j || t.state == taskPending {
		v.rule = belongs
		c.found = append(c.found, v)
	}
	c.draw(v, "cpu", t.cpu)
	c.draw(v, "memory", t.mem)
	c.loose(v, "cpu", j.loose[dimCPU], t.cpu)
	c.loose(v, "memory", j.loose[dimMemory], t.mem)
	sums[dimCPU].charge(j, t.cpu)
	sums[dimMemory].charge(j, t.mem)
	for i := range t.charges {
		ch := &t.charges[i]
		c.draw(v, c.l.cardName(ch.card), draw{ch.milli, ch.covered})
		sums[ch.card].charge(j, draw{ch.milli, ch.covered})
		sum := of[ch.item]
		switch {
		case ch.item == nil:
			c.equal(v, minIsHeld, ch.alts.key, ch.covered, 0)
			continue
		case sum == nil:
			c.equal(v, belongs, ch.alts.key, 0, 1)
			continue
		case int(ch.at) >= len(ch.item.alts.cards) || ch.item.alts.cards[ch.at] != ch.card,
			!ch.item.spreads && ch.at != ch.item.at:
			sum.elsewhere++
		}
		c.loose(v, ch.alts.key, ch.item.loose, draw{ch.milli, ch.covered})
		sum.covered += ch.covered
		sum.charges++
	}
}

// charge adds a charge of a job.
func (c *cell) charge(j *job, d draw) {
	c.allocated += d.amount
	if j.reserved {
		c.elastic += d.amount - d.covered
	}
}

func (c *checker) draw(v violation, resource string, d draw) {
	if d.amount < 0 || d.covered < 0 || d.covered > d.amount {
		v.rule, v.resource, v.got, v.want = notNegative, resource, d.covered, d.amount
		c.found = append(c.found, v)
	}
}

// loose checks that a charge that isn't covered wholly is known to be there.
func (c *checker) loose(v violation, resource string, known bool, d draw) {
	if !known {
		c.equal(v, minIsHeld, resource, d.covered, d.amount)
	}
}

func (c *checker) need(v violation, resource string, min, held, covered int64) {
	c.draw(v, resource, draw{min, held})
	c.equal(v, minIsHeld, resource, covered+held, min)
}

func (c *checker) item(v violation, it *item, sum *itemSum, sums []cell) {
	key := it.alts.key
	c.need(v, key, it.min, it.held, sum.covered)
	c.equal(v, belongs, key, int64(it.charges), int64(sum.charges))
	c.equal(v, oneCard, key, int64(sum.elsewhere), 0)
	var held int64
	for at, dim := range it.alts.cards {
		amount := it.heldOn(at)
		if amount < 0 {
			c.draw(v, c.l.cardName(dim), draw{0, amount})
		}
		held += amount
		sums[dim].held += amount
	}
	c.equal(v, oneCard, key, held, it.held)
	if it.implicit {
		c.equal(v, minIsHeld, key, it.min, 0)
	}
}

func (c *checker) equal(v violation, against rule, resource string, got, want int64) {
	if got != want {
		v.rule, v.resource, v.got, v.want = against, resource, got, want
		c.found = append(c.found, v)
	}
}

// rollUp adds the sums of every queue to those of the queues above it.
func (c *checker) rollUp() {
	waits := make(map[*queue]int, len(c.l.ordered)) // children that aren't added yet
	for _, q := range c.l.ordered {
		if q.parent != nil {
			waits[q.parent]++
		}
	}
	for _, q := range c.l.ordered {
		if len(q.children) > 0 {
			continue
		}
		for p := q.parent; p != nil; q, p = p, p.parent {
			c.holds[p] += c.holds[q]
			for dim, s := range c.sums[q] {
				sum := &c.sums[p][dim]
				sum.allocated += s.allocated
				sum.held += s.held
				sum.elastic += s.elastic
			}
			if waits[p]--; waits[p] > 0 {
				break
			}
		}
	}
}

// queue compares what a queue counts with the sums, and with its limits.
func (c *checker) queue(q *queue) {
	v := violation{queue: q.spec.Name}
	c.equal(v, belongs, "", int64(q.jobs), int64(c.jobs[q]))
	c.equal(v, sumsAgree, "", int64(q.holders), int64(c.holds[q]))
	if c.l.queues[q.spec.Name] != q || q.gone || q.spec.Parent != "" && q.parent != c.l.queues[q.spec.Parent] {
		v.rule = belongs
		c.found = append(c.found, v)
	}
	for dim := range q.cells {
		got, want, name := &q.cells[dim], &c.sums[q][dim], c.l.resource(dim)
		c.equal(v, sumsAgree, name, got.allocated, want.allocated)
		c.equal(v, sumsAgree, name, got.held, want.held)
		c.equal(v, sumsAgree, name, got.elastic, want.elastic)
		if least := min(got.allocated, got.held, got.elastic, got.floor(), got.limit); least < 0 {
			c.equal(v, notNegative, name, least, 0)
		}
		if got.exceeded() != q.over[int32(dim)] {
			v.rule, v.resource, v.got, v.want = withinLimit, name, max(got.allocated, got.floor()), got.limit
			c.found = append(c.found, v)
		}
	}
}

// resource returns what a dimension is called in results: cpu, memory, or the
// card's name.
func (l *Ledger) resource(dim int) string {
	if l.cards[dim] != "" {
		return l.cards[dim]
	}
	return l.m.Name(dim)
}

// Overage is a limit that is exceeded. It was lowered, or [Ledger.Reconcile] found more
// in use than was decided here. Nothing that would raise it is admitted.
type Overage struct {
	Queue    string
	Resource string // cpu, memory or a card
	Used     int64  // max(allocated, allocated - elastic + inqueue), see [Usage]
	Limit    int64
	Amount   int64 // Used - Limit
}

// Over lists the limits that are exceeded, by queue and then by dimension.
func (l *Ledger) Over() []Overage {
	l.rlock()
	defer l.mu.RUnlock()
	return l.overages()
}

func (l *Ledger) overages() (list []Overage) {
	for _, q := range l.ordered {
		if len(q.over) == 0 {
			continue
		}
		for dim := range q.cells {
			if c := &q.cells[dim]; q.over[int32(dim)] {
				used := max(c.allocated, c.floor())
				list = append(list, Overage{q.spec.Name, l.resource(dim), used, c.limit, used - c.limit})
			}
		}
	}
	return list
}
