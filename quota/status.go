package quota

import (
	"math"

	"github.com/resvec/resvec/vector"
)

// QueueStatus is a queue as it stands. The vectors are of the ledger's map, see
// [Queue], and belong to the caller; +Inf is unlimited. What queues below use
// counts in those above.
type QueueStatus struct {
	Name, Parent string
	Priority     int32
	State        State
	Open         bool // the state is Open, here and in every queue above
	Leaf         bool // it takes jobs
	Orphan       bool // SetQueues left it out while it still had jobs

	Seq          uint64  // of the state that this was read on
	Share        float64 // see [Ledger.Share]
	Reservations int     // jobs with a hold

	// RealCapability is the smaller of Capability and what the guarantees of the
	// queue's siblings leave of the cluster's total or, below a parent, of the
	// parent's RealCapability; the queue's own guarantee comes on top of that:
	//
	//	min(capability, max(0, total - Σ guarantees) + guarantee)
	//
	// The sum is over the queue and its siblings. It is a limit only with
	// [Config.EnforceGuarantee]; else Capability is the limit. Both are those of
	// this queue alone: the queues above have limits of their own.
	Capability, RealCapability vector.ResourceVector

	// Deserved is what was configured, at most RealCapability, and at least
	// Guarantee.
	Guarantee, Deserved vector.ResourceVector

	Allocated vector.ResourceVector // the charges of tasks
	Inqueue   vector.ResourceVector // the holds of jobs
	Elastic   vector.ResourceVector // the part of Allocated that is beyond the min of its job

	// Request is Allocated and what tasks ask for that are pending by the views: of
	// alternatives the first that is held for the task's job, or else the first.
	Request vector.ResourceVector

	cards map[string]int32 // dimensions
}

// Card returns how the queue stands in a card, in milli-cards; all is 0 for a card
// that the ledger's map doesn't have.
func (s *QueueStatus) Card(name string) CardSample {
	if s == nil {
		panic("quota: nil status")
	}
	c := CardSample{Card: name}
	dim, ok := s.cards[name]
	if !ok {
		return c
	}
	if c.Capability = Unlimited; !math.IsInf(s.Capability[dim], 1) {
		c.Capability = int64(s.Capability[dim])
	}
	c.Deserved, c.Allocated = int64(s.Deserved[dim]), int64(s.Allocated[dim])
	c.Inqueue, c.Request = int64(s.Inqueue[dim]), int64(s.Request[dim])
	return c
}

// Queue returns how a queue stands; false if it isn't there. The work grows with
// the number of tasks that are pending by the views.
func (l *Ledger) Queue(name string) (QueueStatus, bool) {
	l.rlock()
	defer l.mu.RUnlock()
	q := l.queues[name]
	if q == nil {
		return QueueStatus{}, false
	}
	s := QueueStatus{
		Name: name, Parent: q.spec.Parent, Priority: q.spec.Priority, State: q.spec.State,
		Open: q.open, Leaf: q.leaf, Orphan: q.orphan, Seq: l.seq, Share: q.share(),
		Reservations: q.holders, cards: l.dims,
	}
	for _, v := range []*vector.ResourceVector{
		&s.Capability, &s.RealCapability, &s.Guarantee, &s.Deserved, &s.Allocated, &s.Inqueue, &s.Elastic, &s.Request,
	} {
		*v = l.m.NewVector()
	}
	for dim := range q.cells {
		c := &q.cells[dim]
		s.Capability[dim] = floatOf(l.capability(q, dim))
		s.RealCapability[dim] = floatOf(q.entitled.real[dim])
		s.Guarantee[dim] = float64(q.spec.guarantee(dim))
		s.Deserved[dim] = float64(q.entitled.deserved[dim])
		s.Allocated[dim] = float64(c.allocated)
		s.Inqueue[dim] = float64(c.held)
		s.Elastic[dim] = float64(c.elastic)
		s.Request[dim] = float64(c.allocated)
	}
	isBelow := q.below()
	l.countWaiting(func(at *queue, dim int32, amount int64) {
		if isBelow(at) {
			s.Request[dim] += float64(amount)
		}
	})
	return s, true
}

// floatOf returns an amount as vectors have it.
func floatOf(amount int64) float64 {
	if amount == Unlimited {
		return math.Inf(1)
	}
	return float64(amount)
}
