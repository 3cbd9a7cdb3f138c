package quota

import (
	"cmp"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
)

// limit makes the limits of every queue. It follows each change of the tree, of quotas and
// of the catalog.
func (l *Ledger) limit() {
	l.stale = l.stale[:0]
	for dim := range l.m.Len() {
		l.stale = append(l.stale, dim)
	}
	l.relimit()
}

// total returns what the cluster has of a dimension.
func (l *Ledger) total(dim int) int64 {
	if l.output(int32(dim)) != "" || !l.source.counts {
		return Unlimited // a cluster has what its pods make, and nobody knows what it has otherwise
	}
	// Devices that were lost under a pod still count, see site.go.
	return book.AddSaturated(l.source.totals[dim], l.lost[dim])
}

// relimit makes the limits whose totals have changed. Limits hang on totals, and totals on
// what runs on lost devices. Most changes touch none, and cost nothing here.
func (l *Ledger) relimit() {
	if len(l.stale) == 0 {
		return
	}
	l.book.SetLimits(l.stale, l.total, l.cfg.EnforceGuarantee, func(q *book.Queue, dim int) book.Quota {
		is := recordOf(q)
		return book.Quota{Capability: l.capability(is, dim), Guarantee: is.spec.guarantee(dim), Deserved: amountAt(is.spec.Deserved, dim)}
	})
	l.stale = l.stale[:0]
}

// capability returns what a queue's capability says about a dimension. A 0 that was written
// always limits. What was not written limits in a leaf only, so that a tree needs numbers
// only where they matter.
func (l *Ledger) capability(q *queue, dim int) int64 {
	amount := amountAt(q.spec.Capability, dim)
	_, denied := q.spec.denied[dim]
	switch {
	case amount > 0:
		return amount
	case denied, q.Orphan:
		return 0
	// A parent that is silent limits nobody. A leaf without any quota leaves it to the queues
	// above that have one.
	case !q.Leaf, q.limited != nil && (q.limited.Has(int32(dim)) || q.unreadable && l.cards[dim] != ""):
		return Unlimited
	case l.cfg.MissingUnlimited && (dim == vectormap.CPU || dim == vectormap.Memory), l.output(int32(dim)) != "":
		return Unlimited
	}
	return 0
}

// CompareQueues is negative if queue a comes before b: by higher priority, lower share or
// smaller name, of those above them with the same parent. A queue comes before those below
// it, an unknown one last: a total order.
func (l *Ledger) CompareQueues(a, b string) int {
	l.rlock()
	defer l.mu.RUnlock()
	qa, qb := l.queues[a], l.queues[b]
	switch {
	// Unknown names have an order, too, so that a list with some of them can be sorted.
	case qa == nil && qb == nil:
		return strings.Compare(a, b)
	case qa == nil:
		return 1
	case qb == nil:
		return -1
	}
	return compareQueues(&qa.Queue, &qb.Queue)
}

// Of org/a/x and org/b/y it compares a with b.
func compareQueues(a, b *book.Queue) int {
	// Queues compare with their siblings, so both go up to where their parents are the same.
	deeper := a.Depth() - b.Depth()
	for range deeper {
		a = a.Parent
	}
	for range -deeper {
		b = b.Parent
	}
	// One is above the other, and comes first.
	if a == b {
		return deeper
	}
	for a.Parent != b.Parent {
		a, b = a.Parent, b.Parent
	}
	// Shares compare exactly: with a tolerance a could equal b, and b c, but a not c.
	return cmp.Or(
		cmp.Compare(recordOf(b).spec.Priority, recordOf(a).spec.Priority),
		cmp.Compare(a.Share(), b.Share()),
		strings.Compare(queueName(a), queueName(b)),
	)
}
