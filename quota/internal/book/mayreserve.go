package book

import "slices"

// May a job be promised its min? At every level the floor has to have room for it:
// what jobs use of their mins, and what is held for them. What jobs use beyond their mins
// doesn't count: it could go.

// MayReserve decides on a job's min, and works out into p where it is to be held.
// A job that the queue has already, own, is asked for a new min: its present part
// of the floor doesn't count, and its charges are drawn against the min first.
func MayReserve(a *Answer, q *Queue, m *Min, own *Job, p *Plan) bool {
	a.begin()
	if reason := q.Admits(); reason != Yes {
		return a.refuse(reason)
	}
	if m.Invalid {
		return a.refuse(Invalid)
	}
	p.Start(m, own)
	if m.CPU == 0 && m.Memory == 0 && len(m.Items) == 0 {
		return true
	}
	if q.Empty {
		return a.refuse(Empty)
	}
	if !a.mayReservePlain(q, LacksCPU, CPU, m.CPU, own) || !a.mayReservePlain(q, LacksMemory, Memory, m.Memory, own) {
		return false
	}
	for i := range p.items {
		if !a.fill(q, i, &p.items[i], own, p) {
			return false
		}
	}
	return true
}

// mayReservePlain decides on cpu or memory.
func (a *Answer) mayReservePlain(q *Queue, reason Reason, dim int32, amount int64, own *Job) bool {
	if amount == 0 {
		return true
	}
	if r := q.floorRoom(dim, own, nil); amount > r.amount {
		r.why = q.whyMin(dim, amount, own, nil)
		return a.lacks(reason, 0, amount, r)
	}
	return true
}

// fill finds room for an item, left to right, on top of what the plan has. An
// item that charges bind to a card stays there.
func (a *Answer) fill(q *Queue, index int, it *placement, own *Job, p *Plan) bool {
	if it.Spreads {
		return a.fillAny(q, index, it, own, p)
	}
	var best room
	for at, card := range it.Alts.Cards {
		if it.Bound() && at != int(it.At) {
			continue
		}
		r := q.floorRoom(card, own, p)
		if it.Min <= r.amount {
			it.At, it.Held = int32(at), it.Min-it.covered
			p.add(card, it.Min)
			a.Options = a.Options[:0]
			return true
		}
		r.why = q.whyMin(card, it.Min, own, p)
		a.note(index, r, r.why)
		if r.roomier(&best) {
			best = r
		}
	}
	return a.lacks(LacksCards, index, it.Min, best)
}

// fillAny is fill for an item that spreads: whole units on every alternative, on top of
// what charges cover there already.
func (a *Answer) fillAny(q *Queue, index int, it *placement, own *Job, p *Plan) bool {
	var best room
	left, unheldLeft := it.Min-it.covered, it.Min-it.covered // unheldLeft: if nothing were held for other jobs
	sum, limits := int64(0), int64(0)
	over, unheldOver := false, false // whether charges cover more than there is room for
	for at, card := range it.Alts.Cards {
		covered := it.coveredAt(at)
		r := q.floorRoom(card, own, p)
		unheld := q.unheldRoom(card, own, p)
		over, unheldOver = over || covered > max(r.amount, 0), unheldOver || covered > max(unheld, 0)
		whole, unheldWhole := wholeUnits(r.amount, covered, it.Unit), wholeUnits(unheld, covered, it.Unit)
		if min(left+covered, unheldWhole) > whole {
			r.why = Promised
		}
		it.Spread[at] = min(left, whole-min(covered, whole))
		left -= it.Spread[at]
		unheldLeft -= min(unheldLeft, unheldWhole-min(covered, unheldWhole))
		a.note(index, r, r.why)
		sum, limits = AddSaturated(sum, whole), AddSaturated(limits, r.limit())
		if r.roomier(&best) {
			best = r
		}
	}
	if left > 0 || over {
		best.why = OverCapacity
		if unheldLeft == 0 && !unheldOver {
			best.why = Promised
		}
		a.lacks(LacksCards, index, it.Min, best)
		a.Lack.Dim, a.Lack.Room, a.Lack.Limit = -1, sum, limits
		return false
	}
	a.Options = a.Options[:0]
	it.Held = it.Min - it.covered
	for at, card := range it.Alts.Cards {
		if amount := it.Spread[at] + it.coveredAt(at); amount > 0 {
			p.add(card, amount)
		}
	}
	return true
}

// wholeUnits returns how much of room can be had: what charges have of it, and
// whole units beyond.
func wholeUnits(room, covered, unit int64) int64 {
	if room == Unlimited {
		return Unlimited
	}
	free := max(room-covered, 0)
	return max(min(covered, room), 0) + free - free%unit
}

// floorRoom returns how much of a dimension an item of a new min may have: what the floor
// leaves of the limit. Of the floor that is without what the job, own, has there now, and
// with what the plan has so far; either may be nil.
func (q *Queue) floorRoom(dim int32, own *Job, p *Plan) room {
	r, change := room{dim: dim}, own.inFloor(dim)-p.sum(dim)
	for ; q != nil; q = q.Parent {
		free := q.Cells[dim].free()
		if free != Unlimited {
			free += change
		}
		r.take(free, q, OverCapacity)
	}
	return r
}

// unheldRoom is floorRoom if nothing were held for any job, without the level.
func (q *Queue) unheldRoom(dim int32, own *Job, p *Plan) int64 {
	amount, change := Unlimited, own.inFloor(dim)-own.heldOn(dim)-p.sum(dim)
	for ; q != nil; q = q.Parent {
		if c := &q.Cells[dim]; c.Limit != Unlimited {
			amount = min(amount, c.Limit-c.Allocated+c.Elastic+change)
		}
	}
	return amount
}

// whyMin returns why there is less room than an amount of a min.
func (q *Queue) whyMin(dim int32, amount int64, own *Job, p *Plan) Why {
	if amount <= q.unheldRoom(dim, own, p) {
		return Promised
	}
	return OverCapacity
}

// Plan is a new min of a job: its items with their holds, and how the charges
// that are there already are drawn against them. Its memory serves many jobs.
type Plan struct {
	cpu, mem Draw // min, and what charges cover of it
	items    []placement
	implicit []*Item // behind those of items in next
	redraws  []redraw
	sums     []pending // what the floor of each card is about to get, charges included

	store   []Item  // behind items
	binds   []*Item // behind implicit, and spare ones
	bound   int     // how many of them are used
	amounts []int64 // behind their slices
	charges []Charge
	next    Job // what the charges are drawn against
}

// placement is an item of a plan.
type placement struct {
	*Item
	covered   int64   // of Min, by charges
	coveredOn []int64 // by alternative; of items that spread, and nil without charges
}

func (it *placement) coveredAt(at int) int64 {
	if it.coveredOn == nil {
		return 0
	}
	return it.coveredOn[at]
}

// redraw is what a task's charges come to under a plan.
type redraw struct {
	task     *Task
	cpu, mem int64 // covered
	charges  []Charge
}

// pending is what a job is about to have of a dimension.
type pending struct {
	dim    int32
	amount int64
}

// sum returns what the plan, which may be nil, has of a card so far.
func (p *Plan) sum(dim int32) int64 {
	if p == nil {
		return 0
	}
	for i := range p.sums {
		if p.sums[i].dim == dim {
			return p.sums[i].amount
		}
	}
	return 0
}

func (p *Plan) add(dim int32, amount int64) {
	for i := range p.sums {
		if p.sums[i].dim == dim {
			p.sums[i].amount += amount
			return
		}
	}
	p.sums = append(p.sums, pending{dim, amount})
}

// Start begins the plan of a min, and draws the charges of the job, which
// may be nil, in commit order. Until an item is filled, its Held is the part of
// Min that no charge covers.
func (p *Plan) Start(m *Min, j *Job) {
	p.list(m)
	if j == nil || j.First == nil {
		return
	}
	p.next.AnyMix, p.next.Items = m.AnyMix, p.next.Items[:0]
	for i := range p.items {
		it := &p.items[i]
		p.next.Items = append(p.next.Items, it.Item)
		if it.Spreads {
			it.coveredOn = p.slice(len(it.Spread))
		}
	}
	for t := j.First; t != nil; t = t.Next {
		p.redraw(t)
	}
	p.implicit = p.next.Items[len(p.items):]
}

// list makes the plan one of the items of a min, without holds.
func (p *Plan) list(m *Min) {
	p.cpu, p.mem = Draw{Amount: m.CPU}, Draw{Amount: m.Memory}
	p.store, p.items = resized(p.store, len(m.Items)), resized(p.items, len(m.Items))
	p.implicit, p.redraws, p.sums, p.amounts, p.charges = nil, p.redraws[:0], p.sums[:0], p.amounts[:0], p.charges[:0]
	p.bound = 0
	for i := range m.Items {
		want := &m.Items[i]
		p.store[i] = Item{Alts: want.Alts, Min: want.Amount, Unit: want.Unit, Held: want.Amount}
		p.items[i] = placement{Item: &p.store[i]}
		if want.Alts.spreads(m.AnyMix) {
			p.store[i].Spread, p.store[i].Spreads = p.slice(len(want.Alts.Cards)), true
		}
	}
}

// resized returns a slice of n elements, in the memory of s if there is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// slice returns n amounts of the plan's memory, all 0. What was handed out before
// stays as it is, even if there has to be new memory.
func (p *Plan) slice(n int) []int64 {
	at := len(p.amounts)
	p.amounts = slices.Grow(p.amounts, n)[:at+n]
	s := p.amounts[at:]
	clear(s)
	return s
}

// redraw draws the charges of a task.
func (p *Plan) redraw(t *Task) {
	at := len(p.charges)
	p.charges = append(p.charges, t.Charges...)
	d := redraw{task: t, charges: p.charges[at:]}
	d.cpu = min(t.CPU.Amount, p.cpu.Amount-p.cpu.Covered)
	d.mem = min(t.Memory.Amount, p.mem.Amount-p.mem.Covered)
	p.cpu.Covered += d.cpu
	p.mem.Covered += d.mem
	var taken uint64
	for i := range d.charges {
		c := &d.charges[i]
		c.Item, c.at, c.Covered = nil, 0, 0
		it, at := p.next.Match(c.Alts, c.Amount, taken)
		if it != nil && at < 64 {
			taken |= 1 << at
		}
		if it == nil {
			it = p.bind(c.Alts)
		}
		if it == nil || !it.accept(c) {
			continue
		}
		c.Covered = min(c.Amount, it.Held)
		it.Held -= c.Covered
		it.loose = it.loose || c.Covered < c.Amount
		if at >= 0 && at < len(p.items) {
			p.items[at].covered += c.Covered
			if it.Spreads {
				p.items[at].coveredOn[c.at] += c.Covered
			}
		}
	}
	p.redraws = append(p.redraws, d)
}

// bind is that of a job, in the plan's memory.
func (p *Plan) bind(alts *Alternatives) *Item {
	if !p.next.binds(alts) {
		return nil
	}
	if p.bound == len(p.binds) {
		p.binds = append(p.binds, new(Item))
	}
	it := p.binds[p.bound]
	p.bound++
	*it = *NewImplicit(alts)
	p.next.SetItems(append(p.next.Items, it))
	return it
}

// TooLarge looks for a sum that the plan would raise to [LimitExact], in the queue where
// the job, which may be nil, has it. It returns the amount of that dimension.
func (p *Plan) TooLarge(q *Queue, j *Job) (dim int32, amount int64, is bool) {
	for dim, d := range [...]Draw{CPU: p.cpu, Memory: p.mem} {
		if dim := int32(dim); d.Amount > 0 && !q.CanAdd(dim, d.Amount-d.Covered-j.heldOn(dim)) {
			return dim, d.Amount, true
		}
	}
	for _, s := range p.sums {
		held := -j.heldOn(s.dim)
		for i := range p.items {
			held += p.items[i].heldIn(s.dim)
		}
		if !q.CanAdd(s.dim, held) {
			return s.dim, s.amount, true
		}
	}
	return 0, 0, false
}
