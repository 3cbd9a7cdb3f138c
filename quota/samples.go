package quota

import (
	"iter"
	"slices"
)

// QueueSample is what monitoring shows of a queue. Amounts are in milli-cards;
// what queues below use counts in those above.
type QueueSample struct {
	Queue        string // empty: refusals of queues that weren't there, and nothing else
	Share        float64
	Reservations int // jobs with a hold
	Cards        []CardSample
	Rejections   []Rejection
}

// CardSample is what monitoring shows of a card in a queue; see [QueueStatus].
type CardSample struct {
	Card       string
	Capability int64 // [Unlimited] if it isn't limited
	Deserved   int64
	Allocated  int64
	Inqueue    int64
	Request    int64
}

// Rejection is how often operations on a queue were refused for a reason: those
// that make an event of kind [EventRefused], whether or not anyone listens. It starts
// at 0 when a queue comes and with every [New] or [Restore].
type Rejection struct {
	Reason Reason
	Count  uint64
}

// Samples returns a sequence of all queues by name. Each walk over it shows the
// one state that the ledger had when the walk began, and holds no lock. A card is
// among those of a queue while the queue has a quota for it or any of its other
// amounts is not 0, and the order is that of the map's dimensions; rejections are
// those that happened, by reason. If an operation named a queue that wasn't
// there, the first sample has an empty name.
func (l *Ledger) Samples() iter.Seq[QueueSample] {
	l.made()
	return func(yield func(QueueSample) bool) {
		for _, s := range l.samples() {
			if !yield(s) {
				return
			}
		}
	}
}

// samples copies what there is to show.
func (l *Ledger) samples() []QueueSample {
	l.rlock()
	defer l.mu.RUnlock()
	samples := make([]QueueSample, 0, len(l.ordered)+1)
	if rejections := rejectionsOf(&l.refusedU); rejections != nil {
		samples = append(samples, QueueSample{Rejections: rejections})
	}
	waiting := l.waitingCards()
	var cards []CardSample
	for _, q := range l.ordered {
		s := QueueSample{Queue: q.spec.Name, Share: q.share(), Reservations: q.holders}
		if q.refused != nil {
			s.Rejections = rejectionsOf(q.refused)
		}
		first := len(cards)
		cards = l.appendCards(cards, q, waiting[q])
		s.Cards = slices.Clip(cards[first:])
		samples = append(samples, s)
	}
	return samples
}

// waitingCards returns what pending tasks ask for, by queue, and then by
// dimension; nothing for queues without.
func (l *Ledger) waitingCards() map[*queue][]int64 {
	waiting := map[*queue][]int64{}
	add := func(q *queue, dim int32, amount int64) {
		sums := waiting[q]
		if sums == nil {
			sums = make([]int64, len(q.cells))
			waiting[q] = sums
		}
		sums[dim] = addSaturated(sums[dim], amount)
	}
	l.countWaiting(add)
	for _, q := range slices.Backward(l.topDown) {
		if sums := waiting[q]; sums != nil && q.parent != nil {
			for dim, amount := range sums {
				add(q.parent, int32(dim), amount)
			}
		}
	}
	return waiting
}

// appendCards appends the samples of a queue's cards. waiting may be nil.
func (l *Ledger) appendCards(to []CardSample, q *queue, waiting []int64) []CardSample {
	for dim, card := range l.cards {
		if card == "" {
			continue
		}
		c := &q.cells[dim]
		s := CardSample{
			Card: card, Deserved: q.entitled.deserved[dim], Allocated: c.allocated, Inqueue: c.held, Request: c.allocated,
		}
		if waiting != nil {
			s.Request = addSaturated(s.Request, waiting[dim])
		}
		if s.Deserved != 0 || s.Inqueue != 0 || s.Request != 0 || q.spec.hasEntry(dim) {
			s.Capability = l.capability(q, dim)
			to = append(to, s)
		}
	}
	return to
}

// hasEntry reports whether there is a quota for a card: an amount that isn't 0, or
// a 0 where it is known that it was written.
func (q *Queue) hasEntry(dim int) bool {
	amount, ok := q.mentions(dim)
	return ok && (q.Mentioned != nil || amount > 0)
}

// rejectionsOf returns the counts that are not 0, by reason.
func rejectionsOf(counts *[reasons]uint64) (rejections []Rejection) {
	for reason, count := range counts {
		if count > 0 {
			rejections = append(rejections, Rejection{Reason(reason), count})
		}
	}
	return rejections
}
