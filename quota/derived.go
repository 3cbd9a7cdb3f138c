package quota

import (
	"cmp"
	"strings"
)

// entitlement is what follows for a queue, by dimension, from the cluster, its
// capability, and the guarantees of all queues.
type entitlement struct {
	// real is the capability without what other queues' guarantees keep free.
	real []int64

	// deserved is what was configured, at most real, at least the guarantee.
	deserved []int64
}

// limit makes the limits of every queue, and marks what exceeds them.
func (l *Ledger) limit() {
	cluster := make([]int64, l.m.Len())
	for dim := range cluster {
		cluster[dim] = l.source.total(dim)
	}
	l.limitLevel(l.topLevel(), cluster)
	for _, q := range l.topDown {
		l.limitLevel(q.children, q.entitled.real)
	}
	for _, q := range l.ordered {
		q.over = nil
		q.markAll()
	}
}

// limitLevel makes the limits of the queues that share a total.
func (l *Ledger) limitLevel(siblings []*queue, total []int64) {
	guaranteed := make([]int64, len(total))
	for _, q := range siblings {
		for dim := range guaranteed {
			guaranteed[dim] = addSaturated(guaranteed[dim], q.spec.guarantee(dim))
		}
	}
	for _, q := range siblings {
		q.guarded = l.cfg.EnforceGuarantee
		q.entitled.real = make([]int64, len(total))
		q.entitled.deserved = make([]int64, len(total))
		for dim := range total {
			limit := l.capability(q, dim)
			guarantee := q.spec.guarantee(dim)
			real := realCapability(limit, total[dim], guaranteed[dim], guarantee)
			if l.cfg.EnforceGuarantee {
				limit = real
			}
			q.cells[dim].limit = limit
			q.entitled.real[dim] = real
			q.entitled.deserved[dim] = max(min(amountAt(q.spec.Deserved, dim), real), guarantee)
		}
	}
}

// realCapability is the smaller of a queue's capability and what its siblings'
// guarantees leave of a total, its own guarantee added: the formula of Volcano's
// capacity plugin, with the min that its design has and its code lacks.
func realCapability(capability, total, guaranteed, guarantee int64) int64 {
	if total == Unlimited {
		return capability
	}
	return min(capability, max(0, total-guaranteed)+guarantee)
}

// share returns how much of what it deserves a queue uses, in the dimension where
// that is most. Holds don't count.
func (q *queue) share() (share float64) {
	for dim, deserved := range q.entitled.deserved {
		if deserved > 0 && q.cells[dim].allocated > 0 {
			share = max(share, float64(q.cells[dim].allocated)/float64(deserved))
		}
	}
	return share
}

// Share returns allocated / deserved in the dimension where that is greatest, with what
// the queues below use. It may be more than 1; it is 0 for a queue that deserves
// nothing. Holds don't count. ok is false for a queue that isn't there.
func (l *Ledger) Share(queue string) (share float64, ok bool) {
	l.rlock()
	defer l.mu.RUnlock()
	q := l.queues[queue]
	if q == nil {
		return 0, false
	}
	return q.share(), true
}

// CompareQueues says which of two queues comes first, negative for a: the one of higher
// priority, then of lower share, then of smaller name. If their parents differ, the
// queues above them that are children of the same queue are compared. A queue comes
// before those below it. Queues that aren't there come last, by name. On one state it is
// a total order.
func (l *Ledger) CompareQueues(a, b string) int {
	l.rlock()
	defer l.mu.RUnlock()
	qa, qb := l.queues[a], l.queues[b]
	switch {
	case qa == nil && qb == nil:
		return strings.Compare(a, b)
	case qa == nil:
		return 1
	case qb == nil:
		return -1
	}
	return compareQueues(qa, qb)
}

func compareQueues(a, b *queue) int {
	deeper := a.depth() - b.depth()
	for range deeper {
		a = a.parent
	}
	for range -deeper {
		b = b.parent
	}
	if a == b {
		return deeper
	}
	for a.parent != b.parent {
		a, b = a.parent, b.parent
	}
	return cmp.Or(
		cmp.Compare(b.spec.Priority, a.spec.Priority),
		cmp.Compare(a.share(), b.share()),
		strings.Compare(a.spec.Name, b.spec.Name),
	)
}

// depth returns how many queues are above.
func (q *queue) depth() (n int) {
	for p := q.parent; p != nil; p = p.parent {
		n++
	}
	return n
}

// holds reports whether anything is held for the job.
func (j *job) holds() bool {
	if j.held != [2]int64{} {
		return true
	}
	for _, it := range j.items {
		if it.held > 0 {
			return true
		}
	}
	return false
}

// recount counts the job among the holders of its queue and those above, or no longer,
// after a change of what is held for it.
func (j *job) recount() {
	holds := j.holds()
	if holds == j.holding {
		return
	}
	j.holding = holds
	n := -1
	if holds {
		n = 1
	}
	for q := j.queue; q != nil; q = q.parent {
		q.holders += n
	}
}

// countWaiting calls add with everything that tasks ask for that are pending by the
// views, in the queue that they are in. Of alternatives the first counts that the task's
// job holds for it, or else the first.
func (l *Ledger) countWaiting(add func(q *queue, dim int32, amount int64)) {
	for _, w := range l.waiting {
		if q := l.queues[w.queue]; q != nil {
			l.countTask(q, w, add)
		}
	}
}

func (l *Ledger) countTask(q *queue, w *waitingTask, add func(q *queue, dim int32, amount int64)) {
	j := l.jobs[w.job].in(q)
	add(q, dimCPU, w.cpu)
	add(q, dimMemory, w.mem)
	var taken uint64
	for i := range w.items {
		ti := &w.items[i]
		add(q, j.heldFirst(ti, &taken), ti.milli)
	}
}

// heldFirst returns the first alternative of a task's item that the job, which
// may be nil, holds for it; the first one if there is none. taken is as for
// match.
func (j *job) heldFirst(ti *taskItem, taken *uint64) int32 {
	if j == nil {
		return ti.alts.cards[0]
	}
	it := j.matchNext(ti, taken)
	for _, dim := range ti.alts.cards {
		if it != nil {
			if at := it.alts.index(dim); at >= 0 && it.heldOn(at) > 0 {
				return dim
			}
		}
	}
	return ti.alts.cards[0]
}
