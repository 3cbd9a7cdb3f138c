package quota

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
)

// Check recomputes everything from the records. An error lists the first things that don't
// agree: a fault of this package, or of memory.
func (l *Ledger) Check() error {
	l.rlock()
	defer l.mu.RUnlock()
	found := l.check()
	if len(found) == 0 {
		return nil
	}
	// All of them are found and sorted first: the few that are shown are then the same on
	// every call.
	texts := make([]string, len(found))
	for i := range found {
		texts[i] = found[i].String()
	}
	return fmt.Errorf("quota: the ledger contradicts itself: %s", some(texts))
}

// violation is something in a ledger that can't be.
type violation struct {
	rule     book.Rule
	queue    string // empty where only a task or job is concerned
	job      string
	task     string
	resource string // cpu, memory, a card or a key of alternatives; empty if none
	got      int64
	want     int64 // what it should be
}

// ruleTexts say the invariants in one line each. The book's package comment has them in full.
var ruleTexts = [...]string{
	book.SumsAgree: "a queue counts the sum of its records and of its children",
	book.InRange:   "no amount is below 0, none covers more than itself, and use and holds of a queue are together below 2^62",
	book.MinIsHeld: "what charges cover and what is held add up to the min",
	book.OneCard:   "the charges and the hold of an item are on its cards, without AnyMix on one",
	book.Belongs:   "every charge has its job, every job its queue, every orphan a job and only orphans below it",
}

// String describes the violation in one line.
func (v violation) String() string {
	text := ""
	// Whatever is concerned, from the queue down.
	for _, of := range [...]struct{ what, name string }{{"queue", v.queue}, {"job", v.job}, {"task", v.task}, {"resource", v.resource}} {
		if of.name != "" {
			text += fmt.Sprintf("%s %q, ", of.what, brief(of.name))
		}
	}
	// Some rules are of no amount.
	if v.got != v.want {
		text += fmt.Sprintf("%d instead of %d, ", v.got, v.want)
	}
	return strings.TrimSuffix(text, ", ") + ": " + ruleTexts[v.rule]
}

// check returns what doesn't agree, in the book or between it and the names, in order. The
// book knows no names: that each record is in its map, under its own name and once, is
// checked here.
func (l *Ledger) check() (found []violation) {
	belongs := func(v violation) {
		v.rule = book.Belongs
		found = append(found, v)
	}
	tasks := 0
	// By the map, since the record's own name may be what is wrong.
	names := make(map[*book.Job]string, len(l.jobs))
	for id, j := range l.jobs {
		names[&j.Job] = id
		if j.id != id || l.queues[queueName(j.Queue)] != recordOf(j.Queue) {
			belongs(violation{job: id})
		}
		// By the book's own count, which the book checks.
		tasks += int(j.Tasks)
		n := 0
		// A list that runs in a circle must not keep the walk here.
		for t := range j.tasks() {
			if n++; n > int(j.Tasks) {
				break // the book finds it
			}
			if l.tasks[t.id] != t || t.job != id || t.state == taskPending {
				belongs(violation{job: id, task: t.id})
			}
		}
	}
	// Each task of a job was found in the map, so a larger map has one that no job has.
	if tasks != len(l.tasks) {
		belongs(violation{got: int64(len(l.tasks)), want: int64(tasks)})
	}
	// A task waits or is charged: as both it would count twice in what queues request.
	for id, w := range l.waiting {
		if l.tasks[id] != nil || w.id != id {
			belongs(violation{task: id})
		}
	}
	// What is charged on a node is summed up as tasks come and go.
	placed := map[*site]*site{}
	for _, t := range l.tasks {
		if p := t.site; p != nil {
			if placed[p] == nil {
				placed[p] = &site{charged: map[int32]int64{}}
			}
			placed[p].tasks++
			for _, c := range t.onCards() {
				placed[p].charged[c.Card] += min(c.Amount, mostPlaced)
			}
		}
	}
	for p, sum := range placed {
		agrees := l.sites[p.node] == p && p.tasks == sum.tasks
		for dim, charged := range p.charged {
			agrees = agrees && charged == sum.charged[dim]
		}
		if !agrees {
			belongs(violation{got: int64(p.tasks), want: int64(sum.tasks)})
		}
	}
	// Summed up anew, as the others: it is a part of totals, and so of limits.
	if len(placed) != len(l.sites) || !slices.Equal(l.lostCards(), l.lost) {
		belongs(violation{got: int64(len(l.sites)), want: int64(len(placed))})
	}
	// The list by name is apart from the map, and loses what has gone later: what is in one
	// must be in the other.
	queues := make([]*book.Queue, 0, len(l.queues))
	for q := range l.byName() {
		queues = append(queues, &q.Queue)
		if l.queues[q.spec.Name] != q {
			belongs(violation{queue: q.spec.Name})
		}
	}
	if len(queues) != len(l.queues) {
		belongs(violation{got: int64(len(queues)), want: int64(len(l.queues))})
	}
	// The book names records by pointers. Here they get their names.
	for _, v := range l.book.Check(queues, l.records()) {
		is := violation{rule: v.Rule, queue: queueName(v.Queue), got: v.Got, want: v.Want}
		if v.Job != nil {
			is.job = names[v.Job]
		}
		if v.Task != nil {
			is.task = taskOf(v.Task).id
		}
		switch {
		case v.Alts != nil:
			is.resource = keyOf(v.Alts)
		case v.Dim >= 0:
			is.resource = l.resource(int(v.Dim))
		}
		found = append(found, is)
	}
	// Jobs and tasks come out of maps, in another order each time.
	slices.SortFunc(found, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.queue, b.queue), cmp.Compare(a.job, b.job), cmp.Compare(a.task, b.task),
			cmp.Compare(a.resource, b.resource), cmp.Compare(a.rule, b.rule), cmp.Compare(a.got, b.got), cmp.Compare(a.want, b.want))
	})
	return found
}

// Over lists the limits that are exceeded, by queue, each with a Room below 0.
func (l *Ledger) Over() (list []Headroom) {
	l.rlock()
	defer l.mu.RUnlock()
	for q := range l.byName() {
		for _, dim := range l.order {
			if c := &q.Cells[dim]; c.Over() {
				// Either may exceed the limit alone: tasks that run already, or promises
				// above a lowered limit.
				used := max(c.Allocated, c.Floor())
				list = append(list, Headroom{Resource: l.resource(int(dim)), Why: ReasonOverCapacity, Room: Amount(c.Limit - used), Level: q.spec.Name, Limit: Amount(c.Limit)})
			}
		}
	}
	return list
}
