package book

import "slices"

// Copies is how many copies of something would be admitted.
type Copies struct {
	N           int64  // Unlimited if no limit stops them
	CPU, Memory Option // the room before the first copy
	Items       []Option
	Next        Answer // to one copy more
}

// option makes an option of the room for an amount of a dimension. why is what limits it.
func (r room) option(item int, dim int32, amount int64, why Why) Option {
	if amount <= r.amount {
		why = Fits
	}
	return Option{Item: item, Dim: dim, Why: why, Room: r.amount, Level: r.level, Limit: r.limit(dim)}
}

// aside returns a copy of the queue and of those above it, to change amounts of.
func (q *Queue) aside() *Queue {
	if q == nil {
		return nil
	}
	c := *q
	c.Cells, c.over, c.Parent = slices.Clone(q.Cells), nil, q.Parent.aside()
	return &c
}

// ReserveCopies counts how many new jobs with a min could be reserved, one after the
// other. A copy finds no more room than the one before it left at the same place, so
// alternatives that were passed over once stay so: the holds are the same again until
// something that they use is used up.
func ReserveCopies(q *Queue, m *Min) (f Copies) {
	q = q.aside()
	if q.Admits() == Yes {
		f.CPU, f.Memory = q.minOption(0, CPU, m.CPU), q.minOption(0, Memory, m.Memory)
		for i := range m.Items {
			for _, dim := range m.Items[i].Alts.Cards {
				f.Items = append(f.Items, q.minOption(i, dim, m.Items[i].Amount))
			}
		}
	}
	for {
		var p Plan
		if !MayReserve(&f.Next, q, m, nil, &p) {
			return f
		}
		p.add(CPU, m.CPU)
		p.add(Memory, m.Memory)
		n := Unlimited
		for _, s := range p.sums {
			n = min(n, q.floorRepeats(s))
		}
		if n == Unlimited {
			f.N = Unlimited
			return f
		}
		for _, s := range p.sums {
			q.add(s.dim, 0, n*s.amount, 0)
		}
		f.N += n
	}
}

// minOption returns the room for an amount of a new job's min, as if it were alone.
func (q *Queue) minOption(item int, dim int32, amount int64) Option {
	return q.floorRoom(dim, 0).option(item, dim, amount, q.whyMin(dim, amount, nil, 0))
}

// floorRepeats returns how often an amount can be held.
func (q *Queue) floorRepeats(s pending) int64 {
	r := q.floorRoom(s.dim, 0)
	if s.amount == 0 || r.amount == Unlimited {
		return Unlimited
	}
	return r.amount / s.amount
}

// ChargeCopies counts how many tasks of a job, which may be nil, could be charged
// together. A gang of one chooses its cards freely; of a larger one each list of
// alternatives is used on one card, which depends on how many tasks there are.
func ChargeCopies(q *Queue, j *Job, anyMix bool, u *Use) (f Copies) {
	first := newTrial(q, j, anyMix, u)
	if q.Admits() == Yes {
		t := first.job
		cpu, why := t.Queue.chargeRoom(CPU, t.Held[CPU])
		f.CPU = cpu.option(0, CPU, u.CPU, why)
		mem, why := t.Queue.chargeRoom(Memory, t.Held[Memory])
		f.Memory = mem.option(0, Memory, u.Memory, why)
	}
	MayCharge(&f.Next, first.job.Queue, first.job, u, nil, nil)
	f.Items = slices.Clone(f.Next.Options)
	if anyMix || !u.multi() {
		f.N = first.run(&f.Next, nil, nil, Unlimited)
		return f
	}
	most := int64(1)
	if f.N = first.run(&f.Next, nil, nil, most); f.N == 0 {
		return f
	}
	choices := choicesOf(q, j, anyMix, u)
	for f.N == most && most != Unlimited {
		var limit *Set
		limit, most = cardsFor(choices, f.N+1)
		copies := newTrial(q, j, anyMix, u).run(&f.Next, limit, nil, most)
		f.N = max(f.N, copies)
	}
	f.Next.NotTogether(f.Items)
	return f
}

// multi reports whether an item has several alternatives.
func (u *Use) multi() bool {
	return slices.ContainsFunc(u.Items, func(it UseItem) bool { return it.Alts.Multi() })
}

// choice is how many tasks could use each of an item's alternatives.
type choice struct {
	cards []int32
	most  []int64
}

func choicesOf(q *Queue, j *Job, anyMix bool, u *Use) (choices []choice) {
	for i := range u.Items {
		c := choice{cards: u.Items[i].Alts.Cards, most: []int64{Unlimited}}
		if len(c.cards) > 1 {
			c.most = c.most[:0]
			for _, dim := range c.cards {
				only := new(Set)
				only.Add(dim)
				var a Answer
				c.most = append(c.most, newTrial(q, j, anyMix, u).run(&a, only, u.Items[i].Alts, Unlimited))
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// cardsFor returns the cards that a gang of a size uses, and the size up to which it
// uses the same: the first card of each item that takes all, or else the most.
func cardsFor(choices []choice, size int64) (limit *Set, same int64) {
	limit, same = new(Set), Unlimited
	for _, c := range choices {
		best := 0
		for at := range c.cards {
			if min(c.most[at], size) > min(c.most[best], size) {
				best = at
			}
		}
		limit.Add(c.cards[best])
		if c.most[best] >= size {
			same = min(same, c.most[best])
		}
	}
	return limit, same
}

// trial commits copies of a task on a copy of its job and queues.
type trial struct {
	use    *Use
	job    *Job
	answer Answer // of copies that are taken back
}

func newTrial(q *Queue, j *Job, anyMix bool, u *Use) *trial {
	c := &Job{AnyMix: anyMix}
	if old := j.In(q); old != nil {
		*c = *old
		items := make([]*Item, len(old.Items))
		for i, it := range old.Items {
			was := *it
			was.Spread = slices.Clone(it.Spread)
			items[i] = &was
		}
		c.SetItems(items)
	}
	c.Queue = q.aside()
	return &trial{use: u, job: c}
}

// run commits copies, most at most, until one is refused, and returns how many
// were not; a is the answer to the last one. Copies that change the same are not
// made one by one.
func (tr *trial) run(a *Answer, limit *Set, only *Alternatives, most int64) (n int64) {
	for n < most {
		var u Journal
		if !tr.commit(a, limit, only, &u) {
			if limit != nil && only == nil {
				a.Reconsider(tr.job.Queue, tr.job, tr.use)
			}
			return n
		}
		if n += 1 + tr.repeat(u.effects(), limit, only, most-n-1); n >= LimitExact {
			return most // no limit is as large
		}
	}
	return n
}

// commit commits a copy, or of the copy only the item with some alternatives.
func (tr *trial) commit(a *Answer, limit *Set, only *Alternatives, u *Journal) bool {
	j := tr.job
	if only != nil {
		a.Begin()
		return chargeItem(a, j, tr.use, only, limit, u)
	}
	picks := MayCharge(a, j.Queue, j, tr.use, limit, nil)
	if !a.OK() {
		return false
	}
	j.drawPlain(CPU, tr.use.CPU, u)
	j.drawPlain(Memory, tr.use.Memory, u)
	for i, p := range picks {
		j.charge(tr.use.Items[i].Alts, tr.use.Items[i].Amount, p, u)
	}
	return true
}

// effect is what a copy did: to a dimension of a queue and of those above it, to what
// is held for an item, or on one of its alternatives, or to what is held for a job of
// cpu or memory.
type effect struct {
	q   *Queue
	j   *Job
	dim int32 // of q and j

	it *Item
	at int // of an item that spreads: the alternative; else -1

	allocated, held, elastic int64
}

// effects lists what a copy did.
func (u *Journal) effects() (effects []effect) {
	for _, c := range u.cells {
		effects = append(effects, effect{q: c.q, dim: c.dim, allocated: c.allocated, held: c.held, elastic: c.elastic})
	}
	for _, b := range u.needs {
		effects = append(effects, effect{j: b.j, dim: b.dim, held: b.j.Held[b.dim] - b.held})
	}
	for i, b := range u.items {
		if slices.ContainsFunc(u.items[:i], func(earlier itemBefore) bool { return earlier.it == b.it }) {
			continue
		}
		effects = append(effects, effect{it: b.it, at: -1, held: b.it.Held - b.was.Held})
		for at, was := range b.spread {
			effects = append(effects, effect{it: b.it, at: at, held: b.it.Spread[at] - was})
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
		e.j.Held[e.dim] += n * e.held
	case e.at < 0:
		e.it.Held += n * e.held
	default:
		e.it.Spread[e.at] += n * e.held
	}
}

// repeat makes the effects of a copy again, as often as further copies would have the
// same, most at most, and returns how often.
//
// Copies have the same effects up to one of them, and from then on others: every copy
// takes the same from the cards that it is charged on, and a card that was passed over
// keeps its room or gets more. So steps that double, and then halve, find that copy.
func (tr *trial) repeat(effects []effect, limit *Set, only *Alternatives, most int64) (n int64) {
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
		var u Journal
		add(step - 1)
		same := tr.commit(&tr.answer, limit, only, &u) && slices.Equal(u.effects(), effects)
		u.Undo()
		add(1 - step)
		return same
	}
	step := int64(1)
	for ; n < LimitExact && same(step); step *= 2 {
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
