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

// WhatFits counts how many copies of a job or a task would be admitted now, and says
// what stops the next one. It changes nothing.
//
// Copies of a job are new jobs, reserved one after the other as by
// [Ledger.ReserveMany]. Copies of a task are new tasks of its job, committed together
// as by [Ledger.CommitAll], with what is held for the job. A job that another queue has
// is an [ErrConflict]. Only limits count: a sum may reach 2^53. The work grows with the
// number of alternatives, and with the logarithm of the number of copies. A nil shape
// panics.
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
	l      *Ledger
	task   *TaskRequest
	job    *job
	answer Answer // of copies that are taken back
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
	return &trial{l: l, task: one, job: j}
}

// run commits copies, most at most, until one is refused, and returns how many
// were not; a is the answer to the last one. Copies that change the same are not
// made one by one.
func (tr *trial) run(a *Answer, limit *cardSet, only *alternatives, most int64) (n int64) {
	for n < most {
		var u journal
		if !tr.commit(a, limit, only, &u) {
			if limit != nil && only == nil {
				(&gang{l: tr.l}).reconsider(a, tr.task)
			}
			return n
		}
		if n += 1 + tr.repeat(u.effects(), limit, only, most-n-1); n >= limitExact {
			return most // no limit is as large
		}
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

// effect is what a copy did: to a dimension of a queue and of those above it, to what
// is held for an item, or on one of its alternatives, or to what is held for a job of
// cpu or memory.
type effect struct {
	q   *queue
	j   *job
	dim int32 // of q and j

	it *item
	at int // of an item that spreads: the alternative; else -1

	allocated, held, elastic int64
}

// effects lists what a copy did.
func (u *journal) effects() (effects []effect) {
	for _, c := range u.cells {
		effects = append(effects, effect{q: c.q, dim: c.dim, allocated: c.allocated, held: c.held, elastic: c.elastic})
	}
	for _, b := range u.needs {
		effects = append(effects, effect{j: b.j, dim: b.dim, held: b.j.held[b.dim] - b.held})
	}
	for i, b := range u.items {
		if slices.ContainsFunc(u.items[:i], func(earlier itemBefore) bool { return earlier.it == b.it }) {
			continue
		}
		effects = append(effects, effect{it: b.it, at: -1, held: b.it.held - b.was.held})
		for at, was := range b.spread {
			effects = append(effects, effect{it: b.it, at: at, held: b.it.spread[at] - was})
		}
	}
	return slices.DeleteFunc(effects, func(e effect) bool { return e.allocated == 0 && e.held == 0 })
}

// repeat makes the effect n times more; of negative n, it takes it back.
func (e *effect) repeat(n int64) {
	switch {
	case e.q != nil:
		e.q.add(e.dim, n*e.allocated, n*e.held, n*e.elastic)
	case e.j != nil:
		e.j.held[e.dim] += n * e.held
	case e.at < 0:
		e.it.held += n * e.held
	default:
		e.it.spread[e.at] += n * e.held
	}
}

// repeat makes the effects of a copy again, as often as further copies would have the
// same, most at most, and returns how often.
//
// Copies have the same effects up to one of them, and from then on others: every copy
// takes the same from the cards that it is charged on, and a card that was passed over
// keeps its room or gets more. So steps that double, and then halve, find that copy.
func (tr *trial) repeat(effects []effect, limit *cardSet, only *alternatives, most int64) (n int64) {
	add := func(n int64) {
		for i := range effects {
			effects[i].repeat(n)
		}
	}
	// same reports whether step copies more have these effects, of which the last does
	// if all do.
	same := func(step int64) bool {
		if step > most-n {
			return false
		}
		var u journal
		add(step - 1)
		same := tr.commit(&tr.answer, limit, only, &u) && slices.Equal(u.effects(), effects)
		tr.l.undo(&u)
		add(1 - step)
		return same
	}
	step := int64(1)
	for ; n < limitExact && same(step); step *= 2 {
		add(step)
		n += step
	}
	for step /= 2; step > 0; step /= 2 {
		if same(step) {
			add(step)
			n += step
		}
	}
	return n
}
