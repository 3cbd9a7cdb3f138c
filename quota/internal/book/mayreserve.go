package book

import "slices"

// MayReserve decides on a job's min, and works out into p where it is to be held.
// A job that the queue has already, own, is asked for a new min: its present part
// of the floor doesn't count, and its charges are drawn against the min first.
func MayReserve(a *Answer, q *Queue, m *Min, own *Job, p *Plan) bool {
	a.Begin()
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
	if !a.decideMin(q, LacksCPU, CPU, m.CPU, own) || !a.decideMin(q, LacksMemory, Memory, m.Memory, own) {
		return false
	}
	for i := range p.items {
		if !a.fill(q, i, &p.items[i], own, p) {
			return false
		}
	}
	return true
}

// decideMin decides on cpu or memory.
func (a *Answer) decideMin(q *Queue, reason Reason, dim int32, amount int64, own *Job) bool {
	if amount == 0 {
		return true
	}
	if r := q.floorRoom(dim, own.inFloor(dim)); amount > r.amount {
		return a.lacks(reason, 0, dim, amount, r, q.whyMin(dim, amount, own, 0))
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
	bestDim := int32(-1)
	for at, dim := range it.Alts.Cards {
		if it.Bound() && at != int(it.At) {
			continue
		}
		r := q.floorRoom(dim, own.inFloor(dim)-p.sum(dim))
		if it.Min <= r.amount {
			it.At, it.Held = int32(at), it.Min-it.covered
			p.add(dim, it.Min)
			a.Options = a.Options[:0]
			return true
		}
		o := a.option(index, dim)
		o.Why, o.Level, o.Room, o.Limit = q.whyMin(dim, it.Min, own, p.sum(dim)), r.level, r.amount, r.limit(dim)
		if best.level == nil || r.amount > best.amount {
			best, bestDim = r, dim
		}
	}
	return a.lacksCards(index, bestDim, it.Min, best)
}

// fillAny is fill for an item that spreads: whole units on top of what charges cover
// already.
func (a *Answer) fillAny(q *Queue, index int, it *placement, own *Job, p *Plan) bool {
	var best room
	left, sum, limits, over := it.Min-it.covered, int64(0), int64(0), false
	for at, dim := range it.Alts.Cards {
		covered := it.coveredAt(at)
		r := q.floorRoom(dim, own.inFloor(dim)-p.sum(dim))
		over = over || covered > max(r.amount, 0)
		whole := wholeUnits(r.amount, covered, it.Unit)
		it.Spread[at] = min(left, whole-min(covered, whole))
		left -= it.Spread[at]
		o := a.option(index, dim)
		o.Why, o.Level, o.Room, o.Limit = OverCapacity, r.level, r.amount, r.limit(dim)
		sum, limits = AddSaturated(sum, whole), AddSaturated(limits, o.Limit)
		if best.level == nil || r.amount > best.amount {
			best = r
		}
	}
	if left > 0 || over {
		a.lacks(LacksCards, index, it.Alts.Cards[0], it.Min, best, whyAny(a.Options, q, it, own, p))
		a.Lack.Dim, a.Lack.Room, a.Lack.Limit = -1, sum, limits
		return false
	}
	a.Options = a.Options[:0]
	it.Held = it.Min - it.covered
	for at, dim := range it.Alts.Cards {
		if amount := it.Spread[at] + it.coveredAt(at); amount > 0 {
			p.add(dim, amount)
		}
	}
	return true
}

// whyMin returns why a min has too little room in a dimension. own is what the job
// has there already, and planned what it is to have; see floorRoom.
func (q *Queue) whyMin(dim int32, amount int64, own *Job, planned int64) Why {
	if amount <= q.unheldRoom(dim, own.inFloor(dim)-own.heldOn(dim)-planned) {
		return Promised
	}
	return OverCapacity
}

// whyAny returns why an item that spreads has no room. Of the options, its alternatives,
// those are promised where more of it would be without what is held for other jobs.
func whyAny(options []Option, q *Queue, it *placement, own *Job, p *Plan) Why {
	left, unheld, over := it.Min-it.covered, int64(0), false
	for at, dim := range it.Alts.Cards {
		o, covered := &options[at], it.coveredAt(at)
		free := q.unheldRoom(dim, own.inFloor(dim)-own.heldOn(dim)-p.sum(dim))
		whole := wholeUnits(free, covered, it.Unit)
		if min(left+covered, whole) > wholeUnits(o.Room, covered, it.Unit) {
			o.Why = Promised
		}
		left -= it.Spread[at]
		unheld, over = AddSaturated(unheld, whole), over || covered > max(free, 0)
	}
	if it.Min <= unheld && !over {
		return Promised
	}
	return OverCapacity
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

// floorRoom returns how much a new min may be: of the limit, what the floor
// leaves. own is what the job itself has in the floor, less what it is about to
// have; both count alike at every level.
func (q *Queue) floorRoom(dim int32, own int64) (r room) {
	for ; q != nil; q = q.Parent {
		free := q.Cells[dim].free()
		if free != Unlimited {
			free += own
		}
		r.take(free, q)
	}
	return r
}

// unheldRoom is floorRoom if nothing were held for any job, without the level. Of own
// nothing is held either.
func (q *Queue) unheldRoom(dim int32, own int64) int64 {
	amount := Unlimited
	for ; q != nil; q = q.Parent {
		if c := &q.Cells[dim]; c.Limit != Unlimited {
			amount = min(amount, c.Limit-c.Allocated+c.Elastic+own)
		}
	}
	return amount
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

// sum returns what the plan has of a card so far.
func (p *Plan) sum(dim int32) int64 {
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
