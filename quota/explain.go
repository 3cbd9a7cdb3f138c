package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
)

// The details of refusals.
const (
	noneOnNode   = "the node has none of the cards"
	queueRemoved = "removed"
)

// answerCommit makes the answer to a commit. The decision is made then, so no text delays
// or changes it.
func (l *Ledger) answerCommit(s *scratch, r *TaskRequest, is commitOutcome, q *book.Queue, t *task) (a Answer, err error) {
	l.begin(&a)
	switch is {
	case charged:
		l.fillTask(&a, &s.answer, r, q)
		a.Seq, a.Charged = t.seq, l.chargedCards(t)
	case repeated:
		a.Repeat, a.Charged = true, l.chargedCards(t)
	case refused:
		l.fillTask(&a, &s.answer, r, q)
	default:
		return Answer{Seq: l.seq}, l.errorOf(r, is, t)
	}
	return a, nil
}

// noteNode notes which node has none of the cards, for the message. on are the cards that it
// has.
func (r *Refusal) noteNode(node string, on *book.Set) {
	// The book knows sets of cards only. Which node they are of the caller has said.
	if node != "" && r.Detail == noneOnNode {
		r.facts.node, r.facts.bare = node, on == noCards
	}
}

// chargedCards returns the cards that a task is charged on.
func (l *Ledger) chargedCards(t *task) (names []string) {
	// By item, as the request lists them, without outputs, which are on no card.
	for _, c := range t.onCards() {
		names = append(names, l.cards[c.Card])
	}
	return names
}

// fillTask makes a the answer of the book on a task. The book knows items by index; here
// the refused one gets its cards.
func (l *Ledger) fillTask(a *Answer, is *book.Answer, t *TaskRequest, q *book.Queue) {
	l.fill(a, is, q, t.queue, &t.fault, func(item int) *book.Alternatives { return t.use.Items[item].Alts })
}

// fillJob makes a the answer of the book on a job.
func (l *Ledger) fillJob(a *Answer, is *book.Answer, r *JobRequest, q *book.Queue) {
	l.fill(a, is, q, r.queue, &r.fault, func(item int) *book.Alternatives { return r.min.Items[item].Alts })
}

// room makes a Headroom of an option. Sums over alternatives have no dimension, and so no quota
// that could be missing.
func (l *Ledger) room(o *book.Option) Headroom {
	r := Headroom{Item: o.Item, Room: Amount(o.Room), Level: queueName(o.Level), Limit: Amount(o.Limit)}
	if o.Dim < 0 {
		r.Why = reasons[o.Why].reason
		return r
	}
	if r.Resource = l.cards[o.Dim]; r.Resource == "" {
		r.Item, r.Resource = 0, l.resource(int(o.Dim))
	}
	if o.Why != book.Yes {
		r.Why = l.why(o)
	}
	return r
}

// why returns what leaves too little room. That is NoQuota or UnreadableQuota if the level
// with the least room has no quota for the dimension, or one that can't be read. To the
// book a quota that is missing, or can't be read, is a limit of 0, as one that was written.
// For whoever reads the refusal the difference is what to do: write a quota, correct one,
// or ask for less.
func (l *Ledger) why(o *book.Option) Reason {
	why := reasons[o.Why].reason
	if o.Why == book.FirmElsewhere || o.Why == book.NotAllowed || o.Why == book.NotTogether || o.Why == book.TooLarge || o.Limit != 0 {
		return why
	}
	// The limit is 0, and so is the capability, but where guarantees are enforced.
	spec := &recordOf(o.Level).spec
	if l.cfg.EnforceGuarantee && amountAt(spec.Capability, int(o.Dim)) > 0 {
		return why
	}
	switch text, denied := spec.denied[int(o.Dim)]; {
	case !denied:
		return ReasonNoQuota
	case text != "":
		return ReasonUnreadableQuota
	}
	return why
}

// fill makes a the answer of the book. queue is the name that was asked for, which may be of
// none; wrong is what is wrong with the request, and alts returns the cards of an item.
func (l *Ledger) fill(a *Answer, is *book.Answer, q *book.Queue, queue string, wrong *fault, alts func(item int) *book.Alternatives) {
	l.begin(a)
	for i := range is.Options {
		if o := &is.Options[i]; l.cards[o.Dim] != "" { // else an output, behind all cards
			a.Options = append(a.Options, l.room(o))
		}
	}
	if is.OK() {
		return
	}
	// Where no amounts count, the reason is all there is to say.
	reason := reasons[is.Reason].reason
	a.OK, a.Refusal = false, Refusal{Reason: reason, Queue: queue, Headroom: Headroom{Why: reason}}
	f := &a.Refusal
	switch is.Reason {
	case book.NoQueue:
		f.Detail = wrong.meant
	case book.NotOpen:
		level := recordOf(q)
		// The queue itself may be open, and one above it not.
		for level.spec.State == StateOpen {
			level = recordOf(level.Queue.Parent)
		}
		f.Level, f.Detail = level.spec.Name, string(level.spec.State)
		if level.Orphan {
			f.Detail = queueRemoved
		}
	case book.Invalid:
		f.Detail = wrong.invalid
	case book.NotOnCard:
		f.Item, f.Resource, f.Why, f.Detail = is.Lack.Item, keyOf(alts(is.Lack.Item)), ReasonNotOnNode, noneOnNode
	case book.Empty:
		// A quota that was written, and counts for nothing, should not be taken for a
		// missing one.
		f.Detail = recordOf(q).spec.fault()
	case book.LacksCPU, book.LacksMemory:
		l.fillLack(f, &is.Lack)
	case book.LacksCards:
		l.fillLack(f, &is.Lack)
		alts := alts(is.Lack.Item)
		f.Resource, f.output = keyOf(alts), isOutput(alts)
		if alts.Multi() {
			// Of several alternatives the numbers are of one or sums: the reader has to know
			// which.
			l.fillItem(a, is)
		}
	}
}

// fillLack fills in numbers.
func (l *Ledger) fillLack(f *Refusal, lack *book.Lack) {
	f.Headroom, f.Requested = l.room(&lack.Option), Amount(lack.Requested)
	if lack.Dim >= 0 && lack.Why != book.TooLarge {
		l.noteTotal(&f.facts, lack.Level, lack.Dim)
	}
	if f.Why == ReasonUnreadableQuota {
		f.Detail = recordOf(lack.Level).spec.denied[int(lack.Dim)]
	}
}

// noteTotal notes if guarantees, and what there is, make a limit less than the capability,
// and of which total they do. Where no guarantee is enforced a limit is what somebody
// wrote, and needs no explanation.
func (l *Ledger) noteTotal(f *facts, level *book.Queue, dim int32) {
	less := func(q *book.Queue) bool { return q.Real[dim] < l.capability(recordOf(q), int(dim)) }
	if !l.cfg.EnforceGuarantee || !less(level) {
		return
	}
	// A parent's limit may be what a total leaves, too.
	for level.Parent != nil && less(level.Parent) {
		level = level.Parent
	}
	f.left, f.total = true, Amount(l.total(int(dim)))
	if level.Parent != nil {
		f.total, f.above = Amount(level.Parent.Real[dim]), queueName(level.Parent)
	}
}

// fillItem says of an item with several alternatives, whose options a has, which one the
// numbers are of, and what is wrong with quotas. Without AnyMix it is the alternative with
// the most room, since that is the closest to being admitted; with it the numbers are sums
// over all, and no single card is at fault.
func (l *Ledger) fillItem(a *Answer, is *book.Answer) {
	f, sums := &a.Refusal, is.Lack.Dim < 0
	none, unread, unreadable := true, true, -1 // no quota of any; or none that can be read; the first that can't
	// Backwards: the first one with a fault is found last.
	for i := len(a.Options) - 1; i >= 0; i-- {
		o := &a.Options[i]
		if o.Item != is.Lack.Item {
			continue
		}
		none = none && o.Why == ReasonNoQuota
		unread = unread && (o.Why == ReasonNoQuota || o.Why == ReasonUnreadableQuota)
		if o.Why == ReasonUnreadableQuota {
			unreadable = i
		}
		if sums {
			var of facts
			l.noteTotal(&of, is.Options[i].Level, is.Options[i].Dim)
			f.facts.some = f.facts.some || of.left
		}
	}
	if !sums {
		f.Best = l.cards[is.Lack.Dim]
	} else if unread {
		f.Why = ReasonNoQuota
		if unreadable >= 0 {
			f.Why = ReasonUnreadableQuota
		}
	}
	switch {
	case none:
		f.Detail = noQuotaOfAny
	case unreadable >= 0 && (sums || f.Why != ReasonUnreadableQuota):
		o := &is.Options[unreadable]
		f.Detail = recordOf(o.Level).spec.denied[int(o.Dim)]
	}
}

// fault returns what is wrong with the quota or, of entries that can't be read, the first by
// name; empty: nothing.
func (q *builtQueue) fault() string {
	// Neither maps nor dimensions have an order that lasts, and the text must be the same each
	// time, also after a restart.
	return cmp.Or(append([]string{q.unreadable}, slices.Sorted(maps.Values(q.denied))...)...)
}

// errorOf returns the error of a commit; nil if it has none.
func (l *Ledger) errorOf(r *TaskRequest, is commitOutcome, t *task) error {
	switch is {
	case otherTask:
		was := &TaskRequest{job: t.job, queue: queueName(t.Job.Queue)}
		was.use.Plain = book.Plain{t.Plain[dimCPU].Amount, t.Plain[dimMemory].Amount}
		for _, c := range t.Charges {
			// The record keeps charges, not the request: both are written as items.
			was.use.Add(book.UseItem{Alts: c.Alts, Amount: c.Amount})
		}
		return &conflictError{ErrConflict, "task", r.id, func() string { return "charged is " + was.words() + ", requested " + r.words() }}
	case onOtherCards:
		cards := l.chargedCards(t)
		return &conflictError{ErrConflict, "task", r.id, func() string {
			return fmt.Sprintf("it is charged on %s, which is not among the cards of this commit", some(cards))
		}}
	case inOtherQueue:
		return elsewhere(r.job, l.jobs[r.job].record(), r.queue)
	}
	return nil
}
