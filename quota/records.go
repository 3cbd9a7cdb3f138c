package quota

// alternatives is an ordered list of acceptable cards. A ledger keeps one per
// key, so that equal keys are equal pointers.
type alternatives struct {
	key   string
	cards []int32 // their dimensions, in the user's order
	buf   [6]int32
}

func (a *alternatives) multi() bool { return len(a.cards) > 1 }

// index returns where a card stands, -1 if it isn't one of them.
func (a *alternatives) index(card int32) int {
	for i, c := range a.cards {
		if c == card {
			return i
		}
	}
	return -1
}

// places is index for many cards of long lists.
func (a *alternatives) places() func(card int32) int {
	places := make(map[int32]int, len(a.cards))
	for at, card := range a.cards {
		places[card] = at
	}
	return func(card int32) int {
		if at, ok := places[card]; ok {
			return at
		}
		return -1
	}
}

// contains reports whether every card of b is one of a.
func (a *alternatives) contains(b *alternatives) bool {
	if a == b {
		return true
	}
	if len(a.cards) < len(b.cards) {
		return false
	}
	for _, card := range b.cards {
		if a.index(card) < 0 {
			return false
		}
	}
	return true
}

// item is what a job needs of one list of alternatives. The part of min that no
// charge covers is held: on one card, or with AnyMix on several. What decisions read
// comes first, see job.
type item struct {
	alts    *alternatives
	held    int64
	charges int32 // that count against the item; while there are any, a SameCard item is firm
	at      int32 // the alternative that all of held is on, unless it spreads

	// implicit items have no min. They bind the tasks of a job that has no
	// reservation for their key to one card.
	implicit bool
	loose    bool // there may be charges that it doesn't cover wholly
	spreads  bool // may be held on several alternatives

	spread []int64 // what is held on each alternative, if it spreads
	min    int64
	unit   int64
}

// index returns where the card at an index of alternatives stands in the item, which
// may be nil; -1 if it isn't one of its own.
func (it *item) index(alts *alternatives, at int) int {
	switch {
	case it == nil:
		return -1
	case it.alts == alts:
		return at
	}
	return it.alts.index(alts.cards[at])
}

// heldOn returns what is held on an alternative.
func (it *item) heldOn(at int) int64 {
	switch {
	case it.spreads:
		return it.spread[at]
	case int(it.at) == at:
		return it.held
	}
	return 0
}

// heldIn returns what is held on a card.
func (it *item) heldIn(dim int32) int64 {
	if at := it.alts.index(dim); at >= 0 {
		return it.heldOn(at)
	}
	return 0
}

// hold changes what is held on an alternative. An item that isn't spread must be
// on that one.
func (it *item) hold(at int, amount int64) {
	it.held += amount
	if it.spreads {
		it.spread[at] += amount
	}
}

// bound reports whether tasks that count against the item must use one card.
func (it *item) bound() bool { return !it.spreads && it.charges > 0 }

// job is a reservation, or the charges of a job without one. There are more of them
// than caches hold, and decisions come to them in no order: what these read is in the
// first cache line, up to the first fields of one, and the rest is no larger than
// keeps the next job's so.
type job struct {
	queue    *queue
	held     [2]int64 // of cpu and memory: the part of min that no charge covers
	tasks    int32
	alone    bool // one is all that items has
	gone     bool // no longer in the ledger; handles may still point here
	reserved bool // its min is known
	seen     bool // by Reconcile
	one      item // the first of items, if it came with a min

	items       []*item
	min         [2]int64 // of cpu and memory
	id          string
	seq         uint64
	first, last *task   // in commit order
	loose       [2]bool // there may be charges of cpu, of memory, that min doesn't cover wholly
	mix         Mix
	holding     bool // it counts among the holders of its queue
}

// task is a charge, or with state taskPending what a pending task asks for.
type task struct {
	id         string
	job        *job
	seq        uint64
	state      taskState
	cpu, mem   draw
	charges    []charge
	prev, next *task
	buf        [1]charge
}

type taskState uint8

const (
	taskPending   taskState = iota // seen by Reconcile; counts in request only
	taskCommitted                  // charged, not yet seen
	taskConfirmed                  // charged and seen
)

// draw is what a task uses of cpu or memory, and the part that its job's min
// covers.
type draw struct{ amount, covered int64 }

// charge is what a task uses of one card.
type charge struct {
	alts    *alternatives // as the task wrote them
	item    *item         // of the job, that the charge counts against; may be nil
	card    int32
	at      int32 // index of the card among the alternatives of item
	milli   int64
	covered int64
}

// in returns the job if it is in the queue, and nil otherwise: what a job has in
// another queue doesn't help it.
func (j *job) in(q *queue) *job {
	if j == nil || j.queue != q {
		return nil
	}
	return j
}

// list makes the items of the job these.
func (j *job) list(items []*item) {
	j.items, j.alone = items, len(items) == 1 && items[0] == &j.one
}

// append adds a task at the end of the commit order.
func (j *job) append(t *task) {
	t.prev, t.next = j.last, nil
	if j.last == nil {
		j.first = t
	} else {
		j.last.next = t
	}
	j.last = t
	j.tasks++
}

// remove takes a task out of the commit order.
func (j *job) remove(t *task) {
	if t.prev == nil {
		j.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		j.last = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next = nil, nil
	j.tasks--
}

// each calls add with every amount of a job's records.
func (j *job) each(add func(dim int32, allocated, held, uncovered int64)) {
	for t := j.first; t != nil; t = t.next {
		add(dimCPU, t.cpu.amount, 0, t.cpu.amount-t.cpu.covered)
		add(dimMemory, t.mem.amount, 0, t.mem.amount-t.mem.covered)
		for i := range t.charges {
			c := &t.charges[i]
			add(c.card, c.milli, 0, c.milli-c.covered)
		}
	}
	add(dimCPU, 0, j.held[dimCPU], 0)
	add(dimMemory, 0, j.held[dimMemory], 0)
	for _, it := range j.items {
		for at, dim := range it.alts.cards {
			if held := it.heldOn(at); held > 0 {
				add(dim, 0, held, 0)
			}
		}
	}
}

// match returns the item that a task's alternatives count against: the one with
// the same key, of the same unit if there are several; else the one with the
// fewest alternatives that contain them all, items with a hold first, by key and
// unit. A firm item counts only for tasks that accept its card. taken has a bit
// for each item that the task already counts against with another of its own.
func (j *job) match(alts *alternatives, unit int64, taken uint64) (best *item, at int) {
	if j.alone && j.one.alts == alts && taken == 0 {
		return &j.one, 0
	}
	return j.matchAny(alts, unit, taken)
}

func (j *job) matchAny(alts *alternatives, unit int64, taken uint64) (best *item, at int) {
	at = -1
	for i, it := range j.items {
		if i < 64 && taken>>i&1 != 0 || it.implicit && it.alts != alts || !it.alts.contains(alts) {
			continue
		}
		if it.alts != alts && it.bound() && alts.index(it.alts.cards[it.at]) < 0 {
			continue
		}
		if best == nil || it.before(best, alts, unit) {
			best, at = it, i
		}
	}
	return best, at
}

// before reports whether a task with these alternatives counts against it rather
// than against other.
func (it *item) before(other *item, alts *alternatives, unit int64) bool {
	if it.implicit != other.implicit {
		return other.implicit
	}
	if same := it.alts == alts; same != (other.alts == alts) {
		return same
	} else if same {
		if fits := it.unit == unit; fits != (other.unit == unit) {
			return fits
		}
	}
	if holds := it.held > 0; holds != (other.held > 0) {
		return holds
	}
	if len(it.alts.cards) != len(other.alts.cards) {
		return len(it.alts.cards) < len(other.alts.cards)
	}
	if it.alts.key != other.alts.key {
		return it.alts.key < other.alts.key
	}
	return it.unit < other.unit
}
