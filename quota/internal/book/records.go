package book

import (
	"cmp"
	"slices"
)

// The records: jobs, their items, and the charges of their tasks. An example is a job that
// needs three cards, each an A or a B. It is reserved, and one of its tasks is charged:
//
//	Job   Reserved, Items: one
//	Item  Alts A|B, Min 3000, Held 2000, At 1 (B), Charges 1
//	Task  Charges: Card B, Amount 1000, Covered 1000, of that Item
//
// The min is always covered or held: 1000 + 2000. What a task is charged beyond the min of
// its job is not covered. That part is elastic: the job could do without.

// Job is a reservation, or the charges of a job without one.
type Job struct {
	// What decisions read comes first: of a job of one item it is two cache lines.
	Queue    *Queue
	Held     Plain    // the part of Min that no charge covers
	Tasks    int32    // how many there are
	Gone     bool     // no longer in the book; handles may still point here
	Reserved bool     // its min is known
	Seen     bool     // package quota's; the book doesn't read it
	AnyMix   bool     // items with alternatives may be spread over several of them
	Items    []*Item  // those of the min in its order, and then implicit ones
	buf      [1]*Item // behind Items
	one      Item     // the first of Items, if it came with a min

	Min         Plain
	First, last *Task            // in commit order
	holding     bool             // it counts among the holders of its queue
	made        int64            // tasks that there have been
	left        int32            // tasks that have gone since lacking was made
	lacking     map[place][]lack // see place
}

// Item is what a job needs of one list of alternatives. What its charges don't cover of
// Min is held. All of it is on one card, unless the item spreads:
//
//   - While nothing is charged, the hold may move to another of the cards, together with
//     the first charge.
//   - From the first charge on the item is firm: its tasks must use the same card.
//   - An item that spreads is never firm. Its hold is on several cards, and each task may
//     use another one.
type Item struct {
	Alts    *Alternatives
	Held    int64
	Charges int32 // how many count against the item
	At      int32 // the alternative that all of Held is on, unless it spreads

	// Implicit items have no min. A job gets one for a list of alternatives that its min
	// doesn't have: the tasks with this list then use one card.
	Implicit bool

	Spreads bool
	Spread  []int64 // what is held on each alternative, if it spreads
	Min     int64
	Unit    int64 // of an item that spreads: how much has to be on one card
}

// Task is what a task is charged.
type Task struct {
	Tag        any // package quota's record
	Job        *Job
	Plain      [2]Coverage // of cpu and memory
	Charges    []Charge    // one for each item of the task
	prev, Next *Task       // in commit order
	order      int64       // more than that of the task before
	leaving    bool        // it has gone, or is about to
}

// Coverage is an amount that a task uses, and the part that its job's min covers.
type Coverage struct {
	Amount, Covered int64

	// Item is what the amount counts against: nil for cpu and memory, and where it counts
	// against none of the job's, and nothing is covered.
	Item *Item
}

// Charge is what a task uses of one card.
type Charge struct {
	Alts *Alternatives // as the task listed them
	Card int32
	Coverage
}

// lack returns what isn't covered.
func (d *Coverage) lack() int64 { return d.Amount - d.Covered }

// each calls do with every amount of the task.
func (t *Task) each(do func(dim int32, d *Coverage)) {
	for dim := range t.Plain {
		do(int32(dim), &t.Plain[dim])
	}
	for i := range t.Charges {
		do(t.Charges[i].Card, &t.Charges[i].Coverage)
	}
}

// uses calls do with every amount of the job's tasks.
func (j *Job) uses(do func(dim int32, d *Coverage)) {
	for t := j.First; t != nil; t = t.Next {
		t.each(do)
	}
}

// NewItem returns an item without holds. Without a unit it is an implicit one.
func NewItem(is MinItem, anyMix bool) *Item {
	it := new(Item)
	it.set(is, anyMix)
	return it
}

// set makes an item one without holds, in its memory.
func (it *Item) set(is MinItem, anyMix bool) {
	*it = Item{Alts: is.Alts, Min: is.Amount, Unit: is.Unit, Implicit: is.Unit == 0, Spreads: anyMix && is.Alts.Multi(), Spread: it.Spread[:0]}
	if it.Spreads {
		it.Spread = append(it.Spread, make([]int64, len(is.Alts.Cards))...)
	}
}

// clone returns a copy.
func (it *Item) clone() Item {
	c := *it
	c.Spread = slices.Clone(it.Spread)
	return c
}

// NewImplicit returns an item that binds the tasks of a list.
func NewImplicit(alts *Alternatives) *Item { return NewItem(MinItem{Alts: alts}, false) }

// HeldAt returns what is held on an alternative; nothing on -1.
func (it *Item) HeldAt(at int) int64 {
	switch {
	case it.Spreads && at >= 0:
		return it.Spread[at]
	case int(it.At) == at:
		return it.Held
	}
	return 0
}

// Hold changes what is held on an alternative. An item that doesn't spread must be
// on that one.
func (it *Item) Hold(at int, amount int64) {
	it.Held += amount
	if it.Spreads {
		it.Spread[at] += amount
	}
}

// Bound reports whether tasks that count against the item must use one card.
func (it *Item) Bound() bool { return !it.Spreads && it.Charges > 0 }

// Accept makes a charge count against the item, and reports whether it can: not if other
// charges bind the item to another card. What is held for the item stays as it is.
func (it *Item) Accept(c *Charge) bool {
	at := it.Alts.Index(c.Card)
	if it.Bound() && at != int(it.At) || at < 0 {
		return false
	}
	if !it.Spreads {
		it.At = int32(at)
	}
	it.Charges++
	c.Item = it
	return true
}

// MaxItems is how many items the min of a job may have, and half of how many it may have
// with the implicit ones.
const MaxItems = 64

// Binds reports whether a task needs an implicit item, for alternatives that no item of
// the job covers. The number of items has a limit, since users write the lists.
func (j *Job) Binds(alts *Alternatives) bool {
	return !j.AnyMix && alts.Multi() && len(j.Items) < 2*MaxItems
}

// appendTask adds a task at the end of the commit order.
func (j *Job) appendTask(t *Task) {
	t.prev, t.Next = j.last, nil
	if j.last == nil {
		j.First = t
	} else {
		j.last.Next = t
	}
	j.last = t
	j.Tasks++
	j.made++
	t.order = j.made
	j.list(t)
}

// Restore appends a task whose charges are made, and takes what they cover of cpu and
// memory out of what is held.
func (j *Job) Restore(t *Task) {
	for dim := range t.Plain {
		j.Held[dim] -= t.Plain[dim].Covered
	}
	j.appendTask(t)
}

// remove takes a task out of the commit order.
func (j *Job) remove(t *Task) {
	if t.prev == nil {
		j.First = t.Next
	} else {
		t.prev.Next = t.Next
	}
	if t.Next == nil {
		j.last = t.prev
	} else {
		t.Next.prev = t.prev
	}
	t.prev, t.Next, t.leaving = nil, nil, true
	j.Tasks--
	if j.left++; j.left > j.Tasks {
		j.relist()
	}
}

// The job remembers which charges its min could cover and doesn't, by what they lack: they
// get what a task gives back that is rolled back. To look for them among all tasks would make
// that the slower, the larger the job is.

// place is what a charge is covered of: an item on one card, or cpu or memory without one.
type place struct {
	it  *Item
	dim int32
}

// lack is a charge that isn't covered wholly, or wasn't.
type lack struct {
	*Task
	*Coverage
}

// lacks reports whether the min could cover an amount, and doesn't.
func (j *Job) lacks(dim int32, d *Coverage) bool {
	m := j.minOf(dim, d)
	return m != nil && *m > 0 && d.lack() > 0
}

// find returns where the charge of a task is in a list, or would be.
func find(lacks []lack, order int64) (at int, found bool) {
	return slices.BinarySearchFunc(lacks, order, func(l lack, order int64) int { return cmp.Compare(l.order, order) })
}

// list notes what a task lacks, which is the last in commit order.
func (j *Job) list(t *Task) {
	t.each(func(dim int32, d *Coverage) {
		if j.lacks(dim, d) {
			if j.lacking == nil {
				j.lacking = map[place][]lack{}
			}
			at := place{d.Item, dim}
			j.lacking[at] = append(j.lacking[at], lack{t, d})
		}
	})
}

// relist lists all tasks anew, once the charges are covered otherwise, or more tasks have
// gone than there are. So the lists, where they stay, are never much longer than needed.
func (j *Job) relist() {
	j.lacking, j.left = nil, 0
	for t := j.First; t != nil; t = t.Next {
		j.list(t)
	}
}

// minOf returns the min that an amount counts against: of its item or, without one, of cpu or
// memory; nil of others.
func (j *Job) minOf(dim int32, d *Coverage) *int64 {
	switch {
	case d.Item != nil:
		return &d.Item.Min
	case dim <= Memory:
		return &j.Min[dim]
	}
	return nil
}

// Each calls add with every amount of a job's records.
func (j *Job) Each(add func(dim int32, allocated, held, elastic int64)) {
	j.uses(func(dim int32, d *Coverage) { add(dim, d.Amount, 0, j.elastic(d.lack())) })
	j.eachHold(func(dim int32, held int64) { add(dim, 0, held, 0) })
}

// eachHold calls add with everything that is held for a job.
func (j *Job) eachHold(add func(dim int32, held int64)) {
	for dim, held := range j.Held {
		add(int32(dim), held)
	}
	for _, it := range j.Items {
		for at, dim := range it.Alts.Cards {
			if held := it.HeldAt(at); held != 0 {
				add(dim, held)
			}
		}
	}
}

// Holds reports whether anything is held for the job.
func (j *Job) Holds() (holds bool) {
	j.eachHold(func(_ int32, held int64) { holds = holds || held != 0 })
	return holds
}

// recount brings the holders of the queue, and of those above, up to date after a change
// of what is held for the job.
func (j *Job) recount() { j.hold(j.Holds()) }

// hold makes the job one that counts among the holders, or one that doesn't.
func (j *Job) hold(holds bool) {
	n := 1
	if !holds {
		n = -1
	}
	for q := j.Queue; q != nil && holds != j.holding; q = q.Parent {
		q.Holders += n
	}
	j.holding = holds
}

// MinNow returns the min that the job has. It is less than the reserved one if tasks have
// ended.
func (j *Job) MinNow() *Min {
	m := &Min{Plain: j.Min, AnyMix: j.AnyMix}
	for _, it := range j.Items {
		if !it.Implicit {
			m.Items = append(m.Items, MinItem{it.Alts, it.Min, it.Unit})
		}
	}
	return m
}

// Has reports whether a min is the one that the job has. Items of which nothing is left
// don't count.
func (j *Job) Has(m *Min) bool {
	now := j.MinNow()
	now.Items = slices.DeleteFunc(now.Items, func(it MinItem) bool { return it.Amount == 0 })
	return !m.Invalid && now.Plain == m.Plain && now.AnyMix == m.AnyMix && slices.Equal(now.Items, m.Items)
}

// Is reports whether the task is charged what a use says.
func (t *Task) Is(u *Use) bool {
	return !u.Invalid && u.Plain == Plain{t.Plain[CPU].Amount, t.Plain[Memory].Amount} &&
		slices.EqualFunc(t.Charges, u.Items, func(c Charge, it UseItem) bool { return c.Alts == it.Alts && c.Amount == it.Amount })
}

// Within reports whether all charges are on these cards.
func (t *Task) Within(cards *Set) bool {
	return !slices.ContainsFunc(t.Charges, func(c Charge) bool { return !c.Alts.Anywhere && !cards.Has(c.Card) })
}
