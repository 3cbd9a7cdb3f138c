package quota

import (
	"cmp"
	"fmt"
	"slices"
)

// Violation is something in a ledger that can't be: a fault of this package, or
// of memory.
type Violation struct {
	Rule     Rule
	Queue    string // empty where only a task or job is concerned
	Job      string
	Task     string
	Resource string // cpu, memory, a card or a key of alternatives; empty if none
	Got      int64
	Want     int64 // what it should be, or the limit
}

// Rule is what a [Violation] is against.
type Rule uint8

const (
	SumsAgree   Rule = iota // what a queue counts is the sum of the records and of its children
	NotNegative             // no amount is below 0, and no covered part above its amount
	WithinLimit             // nothing exceeds a limit that isn't marked as over, and nothing else is marked
	MinIsHeld               // what charges cover and what is held add up to the min
	OneCard                 // the charges and the hold of an item are on one of its cards, with SameCard on the same
	Belongs                 // every charge has its job and every job its queue
)

var ruleNames = [...]string{"SumsAgree", "NotNegative", "WithinLimit", "MinIsHeld", "OneCard", "Belongs"}

// String returns the name of the constant.
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return fmt.Sprintf("Rule(%d)", r)
}

// String describes the violation in one line; amounts are in milli-cores, bytes and
// milli-cards.
func (v Violation) String() string {
	text := v.Rule.String()
	for _, of := range [...]struct{ what, name string }{{"queue", v.Queue}, {"job", v.Job}, {"task", v.Task}, {"resource", v.Resource}} {
		if of.name != "" {
			text += fmt.Sprintf(", %s %q", of.what, brief(of.name))
		}
	}
	return fmt.Sprintf("%s: got %d, want %d", text, v.Got, v.Want)
}

// Check recomputes everything from the records of jobs and charges and returns
// what doesn't agree, sorted by queue, job, task and resource. It is always
// empty: a violation is a fault of this package.
func (l *Ledger) Check() []Violation {
	l.rlock()
	defer l.mu.RUnlock()
	return l.check()
}

func (l *Ledger) check() []Violation {
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
		c.found = append(c.found, Violation{Rule: Belongs, Got: int64(len(l.tasks)), Want: int64(tasks)})
	}
	for _, id := range sorted(l.waiting) {
		if l.tasks[id] != nil || l.waiting[id].id != id {
			c.found = append(c.found, Violation{Rule: Belongs, Task: id})
		}
	}
	c.rollUp()
	for _, q := range l.ordered {
		c.queue(q)
	}
	slices.SortStableFunc(c.found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Rule, b.Rule))
	})
	return c.found
}

// checker is the work of one Check.
type checker struct {
	l     *Ledger
	sums  map[*queue][]cell // of the records
	jobs  map[*queue]int
	holds map[*queue]int // jobs with a hold
	found []Violation
}

// job checks a job and its tasks, and adds them to the sums of its queue.
func (c *checker) job(id string, j *job) {
	v := Violation{Queue: j.queue.spec.Name, Job: id}
	sums := c.sums[j.queue]
	if sums == nil || c.l.queues[j.queue.spec.Name] != j.queue || j.id != id || j.gone || !j.reserved && j.tasks == 0 {
		v.Rule = Belongs
		c.found = append(c.found, v)
		sums = make([]cell, c.l.m.Len())
	}
	c.jobs[j.queue]++
	if j.holds() {
		c.holds[j.queue]++
	}
	if j.holds() != j.holding {
		v := v
		v.Rule = SumsAgree
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
	c.equal(v, Belongs, "", int64(n), int64(j.tasks))
	c.need(v, "cpu", j.min[dimCPU], j.held[dimCPU], cpu)
	c.need(v, "memory", j.min[dimMemory], j.held[dimMemory], mem)
	sums[dimCPU].held += j.held[dimCPU]
	sums[dimMemory].held += j.held[dimMemory]
	for _, it := range j.items {
		c.item(v, it, of[it], sums)
	}
	if !j.reserved {
		c.equal(v, MinIsHeld, "", j.min[dimCPU]+j.min[dimMemory], 0)
	}
}

// itemSum is what the charges of an item come to.
type itemSum struct {
	covered   int64
	charges   int32
	elsewhere int32 // on another card than the item's
}

func (c *checker) task(v Violation, t *task, sums []cell, of map[*item]*itemSum) {
	j := t.job
	v.Task = t.id
	if c.l.tasks[t.id] != t || c.l.jobs[v.Job] != j || t.state == taskPending {
		v.Rule = Belongs
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
			c.equal(v, MinIsHeld, ch.alts.key, ch.covered, 0)
			continue
		case sum == nil:
			c.equal(v, Belongs, ch.alts.key, 0, 1)
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

func (c *checker) draw(v Violation, resource string, d draw) {
	if d.amount < 0 || d.covered < 0 || d.covered > d.amount {
		v.Rule, v.Resource, v.Got, v.Want = NotNegative, resource, d.covered, d.amount
		c.found = append(c.found, v)
	}
}

// loose checks that a charge that isn't covered wholly is known to be there.
func (c *checker) loose(v Violation, resource string, known bool, d draw) {
	if !known {
		c.equal(v, MinIsHeld, resource, d.covered, d.amount)
	}
}

func (c *checker) need(v Violation, resource string, min, held, covered int64) {
	c.draw(v, resource, draw{min, held})
	c.equal(v, MinIsHeld, resource, covered+held, min)
}

func (c *checker) item(v Violation, it *item, sum *itemSum, sums []cell) {
	key := it.alts.key
	c.need(v, key, it.min, it.held, sum.covered)
	c.equal(v, Belongs, key, int64(it.charges), int64(sum.charges))
	c.equal(v, OneCard, key, int64(sum.elsewhere), 0)
	var held int64
	for at, dim := range it.alts.cards {
		amount := it.heldOn(at)
		if amount < 0 {
			c.draw(v, c.l.cardName(dim), draw{0, amount})
		}
		held += amount
		sums[dim].held += amount
	}
	c.equal(v, OneCard, key, held, it.held)
	if it.implicit {
		c.equal(v, MinIsHeld, key, it.min, 0)
	}
}

func (c *checker) equal(v Violation, rule Rule, resource string, got, want int64) {
	if got != want {
		v.Rule, v.Resource, v.Got, v.Want = rule, resource, got, want
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
	v := Violation{Queue: q.spec.Name}
	c.equal(v, Belongs, "", int64(q.jobs), int64(c.jobs[q]))
	c.equal(v, SumsAgree, "", int64(q.holders), int64(c.holds[q]))
	if c.l.queues[q.spec.Name] != q || q.gone || q.spec.Parent != "" && q.parent != c.l.queues[q.spec.Parent] {
		v.Rule = Belongs
		c.found = append(c.found, v)
	}
	for dim := range q.cells {
		got, want, name := &q.cells[dim], &c.sums[q][dim], c.l.resource(dim)
		c.equal(v, SumsAgree, name, got.allocated, want.allocated)
		c.equal(v, SumsAgree, name, got.held, want.held)
		c.equal(v, SumsAgree, name, got.elastic, want.elastic)
		if least := min(got.allocated, got.held, got.elastic, got.floor(), got.limit); least < 0 {
			c.equal(v, NotNegative, name, least, 0)
		}
		if got.exceeded() != q.over[int32(dim)] {
			v.Rule, v.Resource, v.Got, v.Want = WithinLimit, name, max(got.allocated, got.floor()), got.limit
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

// Overage is a limit that is exceeded, because it was lowered or because
// [Ledger.Reconcile] found more in use than was decided here. Nothing that would
// raise it is admitted.
type Overage struct {
	Queue    string
	Resource string // cpu, memory or a card
	Used     int64  // max(allocated, allocated - elastic + inqueue), see [QueueStatus]
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
