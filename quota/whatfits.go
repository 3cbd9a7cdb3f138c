package quota

import "slices"

// Fits is how many copies of something would be admitted.
type Fits struct {
	// Copies is how many there would be, [Unlimited] if no limit stops them.
	Copies int64

	// CPU, Memory and Cards are the room before the first copy; zero if the queue takes
	// nothing. Cards has each alternative of each item.
	CPU, Memory Room
	Cards       []Room

	// Next is the answer to one copy more; OK if no limit stops them. Its Task is
	// empty.
	Next Answer
}

// Shape is what [Ledger.WhatFits] counts copies of: a [*JobRequest] or a
// [*TaskRequest].
type Shape interface {
	of(l *Ledger)
	fits(l *Ledger) (Fits, error)
}

// WhatFits counts how many copies of a job or a task would be admitted now, and
// says what stops the next one. It changes nothing.
//
// Copies of a job are jobs of their own, under ids that the ledger doesn't know,
// reserved one after the other as by [Ledger.ReserveMany]. Copies of a task are
// tasks of its job, under ids that the ledger doesn't know, committed together as
// by [Ledger.CommitAll], with what is held for the job; a job that is known in
// another queue is an [ErrConflict]. Limits alone count: that sums must stay below
// 2^53 does not. The work grows with the number of alternatives, not of copies. A
// nil shape panics.
func (l *Ledger) WhatFits(shape Shape) (Fits, error) {
	if shape == nil {
		panic("quota: nil shape")
	}
	shape.of(l)
	l.rlock()
	defer l.mu.RUnlock()
	return shape.fits(l)
}

// of makes a Room of the room for an amount of a dimension. why is what limits it.
func (r room) of(dim int32, amount int64, why Reason) Room {
	if amount <= r.amount {
		why = ReasonNone
	}
	return Room{OK: why == ReasonNone, Why: why, Amount: r.amount, Level: r.level.spec.Name, Limit: r.limit(dim)}
}

// aside returns a copy of the queue and of those above it, to change amounts of.
func (q *queue) aside() *queue {
	if q == nil {
		return nil
	}
	c := *q
	c.cells, c.over, c.parent = slices.Clone(q.cells), nil, q.parent.aside()
	return &c
}

// change is what one copy adds to a dimension, at every level.
type change struct {
	dim                      int32
	allocated, held, elastic int64

	// promised is what came to allocated and held together. It had to have room
	// before anything left them.
	promised int64
}

// repeats returns how many times more a change can be made until a limit above
// the queue stops it.
func (q *queue) repeats(c change) int64 {
	n := Unlimited
	for full := c.allocated + c.held; q != nil; q = q.parent {
		at := &q.cells[c.dim]
		if at.limit == Unlimited {
			continue
		}
		if c.allocated > 0 {
			n = min(n, (at.limit-at.allocated)/c.allocated)
		}
		if free := at.limit - at.full() - c.promised; full > 0 && free < 0 {
			return 0
		} else if full > 0 {
			n = min(n, free/full+1)
		}
	}
	return max(n, 0)
}

// fits reserves copies on a copy of the queues. A copy finds no more room than the
// one before it left at the same place, so alternatives that were passed over once
// stay so: the holds are the same again until something that they use is used up.
func (r *JobRequest) fits(l *Ledger) (f Fits, err error) {
	one := &JobRequest{queue: r.queue, mix: r.mix, cpu: r.cpu, mem: r.mem, items: r.items, invalid: r.invalid}
	q := l.queueOf(&r.queueAt, r.queue)
	if q != nil {
		q = q.aside()
		one.queueAt.Store(q)
	}
	if q.admits() == ReasonNone {
		cpu, mem := q.floorRoom(dimCPU, 0), q.floorRoom(dimMemory, 0)
		f.CPU = cpu.of(dimCPU, r.cpu, q.whyMin(cpu, dimCPU, r.cpu, nil, 0))
		f.Memory = mem.of(dimMemory, r.mem, q.whyMin(mem, dimMemory, r.mem, nil, 0))
		f.Cards = r.options(l, q)
	}
	for {
		var p plan
		l.begin(&f.Next)
		if !l.decideJob(&f.Next, one, q, nil, &p) {
			return f, nil
		}
		p.add(dimCPU, r.cpu)
		p.add(dimMemory, r.mem)
		n := Unlimited
		for _, s := range p.sums {
			n = min(n, q.floorRepeats(s))
		}
		if n == Unlimited {
			f.Copies = Unlimited
			return f, nil
		}
		for _, s := range p.sums {
			q.add(s.dim, 0, n*s.amount, 0)
		}
		f.Copies += n
	}
}

// floorRepeats returns how often an amount can be held.
func (q *queue) floorRepeats(s pending) int64 {
	r := q.floorRoom(s.dim, 0)
	if s.amount == 0 || r.amount == Unlimited {
		return Unlimited
	}
	return r.amount / s.amount
}

// options returns the room of each alternative of each item, as if it were alone.
func (r *JobRequest) options(l *Ledger, q *queue) (options []Room) {
	for i, it := range r.items {
		for _, dim := range it.alts.cards {
			free := q.floorRoom(dim, 0)
			o := free.of(dim, it.milli, q.whyMin(free, dim, it.milli, nil, 0))
			o.Item, o.Card = i, l.cardName(dim)
			options = append(options, o)
		}
	}
	return options
}

// fits finds the largest gang. A gang of one chooses its cards freely; of a larger
// one each list of alternatives is used on one card, which depends on how many
// tasks there are.
func (t *TaskRequest) fits(l *Ledger) (f Fits, err error) {
	if j := l.jobOf(t); j != nil && j.queue.spec.Name != t.queue {
		return f, elsewhere(j, t.queue)
	}
	first := newTrial(l, t)
	if j := first.job; j.queue.admits() == ReasonNone {
		cpu, why := j.queue.chargeRoom(dimCPU, j.held[dimCPU])
		f.CPU = cpu.of(dimCPU, t.cpu, cpu.why(dimCPU, why))
		mem, why := j.queue.chargeRoom(dimMemory, j.held[dimMemory])
		f.Memory = mem.of(dimMemory, t.mem, mem.why(dimMemory, why))
	}
	l.begin(&f.Next)
	l.decideTask(&f.Next, first.task, nil, nil)
	f.Cards = slices.Clone(f.Next.Options)
	if l.mixOf(t) == AnyMix || t.multiKeys() == "" {
		f.Copies = first.run(&f.Next, nil, nil, Unlimited)
		return f, nil
	}
	most := int64(1)
	if f.Copies = first.run(&f.Next, nil, nil, most); f.Copies == 0 {
		return f, nil
	}
	choices := t.choices(l)
	for f.Copies == most && most != Unlimited {
		var limit *cardSet
		limit, most = cardsFor(choices, f.Copies+1)
		copies := newTrial(l, t).run(&f.Next, limit, nil, most)
		f.Copies = max(f.Copies, copies)
	}
	f.Next.notTogether(f.Cards)
	return f, nil
}

// choice is how many tasks could use each of an item's alternatives.
type choice struct {
	cards []int32
	most  []int64
}

func (t *TaskRequest) choices(l *Ledger) (choices []choice) {
	for i := range t.items {
		c := choice{cards: t.items[i].alts.cards, most: []int64{Unlimited}}
		if len(c.cards) > 1 {
			c.most = c.most[:0]
			for _, dim := range c.cards {
				only := new(cardSet)
				only.add(dim)
				var a Answer
				c.most = append(c.most, newTrial(l, t).run(&a, only, t.items[i].alts, Unlimited))
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// cardsFor returns the cards that a gang of a size uses, and the size up to which it
// uses the same: the first card of each item that takes all, or else the most.
func cardsFor(choices []choice, size int64) (limit *cardSet, same int64) {
	limit, same = new(cardSet), Unlimited
	for _, c := range choices {
		best := 0
		for at := range c.cards {
			if min(c.most[at], size) > min(c.most[best], size) {
				best = at
			}
		}
		limit.add(c.cards[best])
		if c.most[best] >= size {
			same = min(same, c.most[best])
		}
	}
	return limit, same
}

// trial commits copies of a task on a copy of its job and queues.
type trial struct {
	l    *Ledger
	task *TaskRequest
	job  *job
}

func newTrial(l *Ledger, t *TaskRequest) *trial {
	q := l.queueOf(&t.queueAt, t.queue)
	j := &job{mix: l.cfg.Mix}
	if old := l.jobOf(t).in(q); old != nil {
		*j = *old
		items := make([]*item, len(old.items))
		for i, it := range old.items {
			was := *it
			was.spread = slices.Clone(it.spread)
			items[i] = &was
		}
		j.list(items)
	}
	one := &TaskRequest{queue: t.queue, cpu: t.cpu, mem: t.mem, items: t.items, bound: t.bound, invalid: t.invalid}
	if j.queue = q.aside(); q != nil {
		one.queueAt.Store(j.queue)
	}
	one.jobAt.Store(j)
	return &trial{l, one, j}
}

// run commits copies, most at most, until one is refused, and returns how many
// were not; a is the answer to the last one. A copy that does what the one before
// it did is not made again: it is counted how often it could be.
func (tr *trial) run(a *Answer, limit *cardSet, only *alternatives, most int64) (n int64) {
	for n < most {
		var u journal
		if !tr.commit(a, limit, only, &u) {
			if limit != nil && only == nil {
				(&gang{l: tr.l}).reconsider(a, tr.task)
			}
			return n
		}
		n++
		changes := u.changes()
		more := tr.repeats(a, &u, changes)
		if more == Unlimited {
			return most
		}
		more = min(more, most-n)
		tr.repeat(&u, changes, more)
		n += more
	}
	return n
}

// commit commits a copy, or of the copy only the item with some alternatives.
func (tr *trial) commit(a *Answer, limit *cardSet, only *alternatives, u *journal) bool {
	j, t := tr.job, tr.task
	tr.l.begin(a)
	if only != nil {
		return tr.l.chargeItem(a, j, t, only, limit, u)
	}
	picks := tr.l.decideTask(a, t, limit, nil)
	if !a.OK {
		return false
	}
	j.drawPlain(dimCPU, t.cpu, u)
	j.drawPlain(dimMemory, t.mem, u)
	for i, p := range picks {
		j.charge(t.items[i].alts, t.items[i].milli, p, u)
	}
	return true
}

// changes adds up what a copy changed.
func (u *journal) changes() (changes []change) {
	for _, c := range u.cells {
		at := slices.IndexFunc(changes, func(other change) bool { return other.dim == c.dim })
		if at < 0 {
			at, changes = len(changes), append(changes, change{dim: c.dim})
		}
		changes[at].allocated += c.allocated
		changes[at].held += c.held
		changes[at].elastic += c.elastic
		changes[at].promised += max(c.allocated+c.held, 0)
	}
	return changes
}

// repeats returns how many more copies would, for certain, do what the last one
// did: while the holds that it drew on last, nothing that it used is used up, and
// nothing that was passed over gets free. What is bound to a card was so before.
func (tr *trial) repeats(a *Answer, u *journal, changes []change) int64 {
	if len(u.binds) > 0 {
		return 0
	}
	n := Unlimited
	for _, b := range u.items {
		if b.it.at != b.was.at || b.it.bound() != b.was.bound() {
			return 0
		}
		n = min(n, lasts(b.was.held, b.it.held))
		for at, was := range b.spread {
			n = min(n, lasts(was, b.it.spread[at]))
		}
	}
	for _, b := range u.needs {
		n = min(n, lasts(b.held, b.j.held[b.dim]))
	}
	for _, c := range changes {
		n = min(n, tr.job.queue.repeats(c), tr.passes(a, c))
	}
	return n
}

// lasts returns how often a hold can shrink again as it just did.
func lasts(before, after int64) int64 {
	if after >= before {
		return Unlimited
	}
	return after / (before - after)
}

// passes returns how often a change can be repeated before an alternative that was
// refused could have room, because holds leave its card.
func (tr *trial) passes(a *Answer, c change) int64 {
	n, freed := Unlimited, -(c.allocated + c.held)
	if freed <= 0 {
		return n
	}
	for _, o := range a.Options {
		milli := tr.task.items[o.Item].milli
		if o.OK || o.Why == ReasonFirmElsewhere || o.Why == ReasonNotOnNode || tr.l.dims[o.Card] != c.dim ||
			tr.job.queue.uncharged(c.dim) < milli {
			continue
		}
		n = min(n, (milli-o.Amount-1)/freed)
	}
	return n
}

// uncharged returns what the charges leave of the limits.
func (q *queue) uncharged(dim int32) int64 {
	n := Unlimited
	for ; q != nil; q = q.parent {
		if c := &q.cells[dim]; c.limit != Unlimited {
			n = min(n, c.limit-c.allocated)
		}
	}
	return n
}

// repeat makes the changes of a copy again, n times.
func (tr *trial) repeat(u *journal, changes []change, n int64) {
	for _, c := range changes {
		tr.job.queue.add(c.dim, n*c.allocated, n*c.held, n*c.elastic)
	}
	for _, b := range u.items {
		b.it.held += n * (b.it.held - b.was.held)
		for at, was := range b.spread {
			b.it.spread[at] += n * (b.it.spread[at] - was)
		}
	}
	for _, b := range u.needs {
		b.j.held[b.dim] += n * (b.j.held[b.dim] - b.held)
	}
}
