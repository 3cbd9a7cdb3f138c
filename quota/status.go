package quota

import (
	"iter"
	"maps"
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
)

// QueueStatus is a queue as it stands, with what the queues below it use.
type QueueStatus struct {
	Name         string            `json:"name"`                 // empty in the first of [Ledger.Samples]: rejections in queues that weren't there
	Parent       string            `json:"parent,omitempty"`     // the queue above, in which it counts: of an orphan the nearest former one; empty at the top
	Share        float64           `json:"share"`                // the greatest Allocated / Deserved; 0 if nothing is deserved
	Reservations int               `json:"reservations"`         // jobs with a hold
	CPU          Usage             `json:"cpu"`                  // in milli-cores
	Memory       Usage             `json:"memory"`               // in bytes
	Cards        []Usage           `json:"cards,omitempty"`      // in milli-cards, by name
	Outputs      []Usage           `json:"outputs,omitempty"`    // in whole units, all by name
	Rejections   map[Reason]uint64 `json:"rejections,omitempty"` // events of kind EventRefused since the queue came, or the ledger was made
}

// Usage is how a queue stands in one resource. Capabilities may be [Unlimited]. The sum is
// over the queue and its siblings; total is the parent's or the cluster's, where of a card
// a node counts with the greater of what it has and what is charged.
// [Config.EnforceGuarantee] makes RealCapability the limit.
type Usage struct {
	Resource       string `json:"resource"`       // cpu, memory, the card or the output
	Capability     Amount `json:"capability"`     // of this queue alone
	RealCapability Amount `json:"realCapability"` // min(capability, max(0, total - Σ guarantees) + guarantee)
	Guarantee      Amount `json:"guarantee"`
	Deserved       Amount `json:"deserved"`  // as configured, at most RealCapability and at least Guarantee
	Allocated      Amount `json:"allocated"` // the charges of tasks
	Inqueue        Amount `json:"inqueue"`   // the holds of jobs
	Elastic        Amount `json:"elastic"`   // the part of Allocated beyond the min of its job
	Request        Amount `json:"request"`   // Allocated, and what pending tasks ask for: of alternatives what their job holds, or the first
}

// Usage returns that of cpu, memory, a card or an output; 0 if it isn't there.
func (s QueueStatus) Usage(resource string) Usage {
	// Cpu and memory first, should a card have such a name.
	for _, list := range [][]Usage{{s.CPU, s.Memory}, s.Cards, s.Outputs} {
		for i := range list {
			if list[i].Resource == resource {
				return list[i]
			}
		}
	}
	return Usage{Resource: resource}
}

// Queue returns how a queue stands, with all cards; false if it isn't there.
func (l *Ledger) Queue(name string) (QueueStatus, bool) {
	l.rlock()
	defer l.mu.RUnlock()
	q := l.queues[name]
	if q == nil {
		return QueueStatus{}, false
	}
	waiting := l.waitingAmounts(&q.Queue)[&q.Queue]
	s := l.status(q, waiting)
	s.Cards = l.appendCards(nil, q, waiting, true)
	return s, true
}

// Samples returns all queues by name, with the cards that have a quota or use.
func (l *Ledger) Samples() iter.Seq[QueueStatus] {
	l.made()
	return func(yield func(QueueStatus) bool) { slices.Values(l.samples())(yield) }
}

// samples copies what there is to show. Collectors may be slow, and must not hold the lock.
func (l *Ledger) samples() []QueueStatus {
	l.rlock()
	defer l.mu.RUnlock()
	samples := make([]QueueStatus, 0, len(l.queues)+1)
	// Names that aren't there share one sample: users write them.
	if l.refusals != nil {
		samples = append(samples, QueueStatus{Rejections: maps.Clone(l.refusals)})
	}
	waiting := l.waitingAmounts(nil)
	var cards []Usage
	for q := range l.byName() {
		s := l.status(q, waiting[&q.Queue])
		first := len(cards)
		// One list for all queues: ten thousand small ones cost more.
		cards = l.appendCards(cards, q, waiting[&q.Queue], false)
		s.Cards = slices.Clip(cards[first:])
		samples = append(samples, s)
	}
	return samples
}

// status returns how a queue stands, without its cards. waiting is what pending tasks
// ask for, by dimension; nil: nothing.
func (l *Ledger) status(q *queue, waiting []int64) QueueStatus {
	s := QueueStatus{
		Name: q.spec.Name, Parent: queueName(q.Parent), Share: q.Share(), Reservations: q.Holders,
		CPU: l.usage(q, int(dimCPU), waiting), Memory: l.usage(q, int(dimMemory), waiting),
	}
	for _, alts := range l.outs.alts {
		s.Outputs = append(s.Outputs, l.usage(q, int(alts.Cards[0]), waiting))
	}
	// A copy: the ledger goes on to count in its own.
	s.Rejections = maps.Clone(q.refusals)
	return s
}

// usage returns how a queue stands in a dimension.
func (l *Ledger) usage(q *queue, dim int, waiting []int64) Usage {
	c := &q.Cells[dim]
	u := Usage{
		Resource: l.resource(dim), Capability: Amount(l.capability(q, dim)), RealCapability: Amount(q.Real[dim]),
		Guarantee: Amount(q.spec.guarantee(dim)), Deserved: Amount(q.Deserved[dim]),
		Allocated: Amount(c.Allocated), Inqueue: Amount(c.Held), Elastic: Amount(c.Elastic), Request: Amount(c.Allocated),
	}
	// What waits was let in by nobody, so its sums may be of any size: they saturate.
	if waiting != nil {
		u.Request = Amount(book.AddSaturated(c.Allocated, waiting[dim]))
	}
	return u
}

// appendCards appends how a queue stands in cards: all, or those with a quota or another
// amount. A cluster may have a hundred cards and ten thousand queues: series of zeros would
// be most of what a collector keeps.
func (l *Ledger) appendCards(to []Usage, q *queue, waiting []int64, all bool) []Usage {
	// By name, and not by dimension, which goes by when a card was found.
	for _, dim := range l.order {
		if l.cards[dim] == "" {
			continue
		}
		c := &q.Cells[dim]
		if all || q.Deserved[dim] != 0 || c.Held != 0 || c.Allocated != 0 || waiting != nil && waiting[dim] != 0 || q.spec.mentions(int(dim)) {
			to = append(to, l.usage(q, int(dim), waiting))
		}
	}
	return to
}

// waitingAmounts returns what waits in a queue and below it, by dimension, of that queue alone
// or, with nil, of every one; nothing for queues without. Pending tasks are few, and are in no sum: they are
// counted when somebody asks. Of alternatives the first counts that the task's job holds for
// it, or else the first.
func (l *Ledger) waitingAmounts(of *book.Queue) map[*book.Queue][]int64 {
	if len(l.waiting) == 0 {
		return nil
	}
	var below map[*book.Queue]bool
	if of != nil {
		below = of.Below()
	}
	waiting := map[*book.Queue][]int64{}
	add := func(q *book.Queue, dim int32, amount int64) {
		if waiting[q] == nil {
			waiting[q] = make([]int64, len(q.Cells))
		}
		waiting[q][dim] = book.AddSaturated(waiting[q][dim], amount)
	}
	for _, w := range l.waiting {
		// A view may have tasks of queues that the ledger hasn't got yet.
		q := l.queues[w.queue]
		if q == nil || of != nil && !below[&q.Queue] {
			continue
		}
		to := &q.Queue
		if of != nil {
			to = of
		}
		for dim, amount := range w.use.Plain {
			add(to, int32(dim), amount)
		}
		// A task that lists several cards asks for one of them: the one that its job was
		// promised, if any.
		book.HeldFirst(l.jobs[w.job].record().In(&q.Queue), &w.use, func(item int, card int32) {
			add(to, card, w.use.Items[item].Amount)
		})
	}
	if of != nil {
		return waiting
	}
	// From the bottom up: a queue passes on what it got from those below it. To go up with
	// each task would cost the depth of the tree for each.
	for _, q := range slices.Backward(l.book.TopDown()) {
		if q.Parent == nil {
			continue
		}
		for dim, amount := range waiting[q] {
			add(q.Parent, int32(dim), amount)
		}
	}
	return waiting
}
