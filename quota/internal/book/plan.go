package book

import "slices"

// To reserve a job that has charges already, these are drawn against the new min first, in
// commit order: they cover it as far as they go, and only the rest is to be held. That is
// worked out in a plan. The records change when the plan is carried out, so a refusal
// leaves no trace.

// Plan is a new min of a job: its items with their holds, and how the charges
// that are there already are drawn against them. Its memory serves many jobs.
type Plan struct {
	plain    [2]Coverage // min, and what charges cover of it
	items    []placement
	implicit []*Item // behind those of items in next
	tasks    []taskPlan
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
	coveredOn []int64 // by alternative; of items that spread, and nil without charges
}

// covered returns what charges cover of the min. The rest is held, or is to be.
func (it *placement) covered() int64 { return it.Min - it.Held }

// coveredAt returns what charges cover on an alternative.
func (it *placement) coveredAt(at int) int64 {
	if it.coveredOn == nil {
		return 0
	}
	return it.coveredOn[at]
}

// taskPlan is what a task's charges come to under a plan.
type taskPlan struct {
	task    *Task
	covered Plain
	charges []Charge
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

// add adds to what the plan has of a card. Plans have few cards: a list is faster than a map.
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
// may be nil. After that Held of an item is the part of its Min that no charge covers.
// fill finds the cards for it.
func (p *Plan) Start(m *Min, j *Job) {
	p.list(m)
	if j == nil || j.First == nil {
		return
	}
	p.next.Items = p.next.Items[:0]
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
	p.next.AnyMix = m.AnyMix
	p.plain = [...]Coverage{CPU: {Amount: m.Plain[CPU]}, Memory: {Amount: m.Plain[Memory]}}
	p.store, p.items = resized(p.store, len(m.Items)), resized(p.items, len(m.Items))
	p.implicit, p.tasks, p.sums, p.amounts, p.charges = nil, p.tasks[:0], p.sums[:0], p.amounts[:0], p.charges[:0]
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

// redraw draws the charges of a task. A job of A:2 with 3 A charged gets a min of A:4,
// say: the 3 are covered then, and 1 is held.
func (p *Plan) redraw(t *Task) {
	from := len(p.charges)
	p.charges = append(p.charges, t.Charges...)
	d := taskPlan{task: t, charges: p.charges[from:]}
	for dim := range p.plain {
		d.covered[dim] = min(t.Plain[dim].Amount, p.plain[dim].lack())
		p.plain[dim].Covered += d.covered[dim]
	}
	var taken uint64
	for i := range d.charges { // as Charge would make them, one after the other
		c := &d.charges[i]
		c.Item, c.Covered = nil, 0
		it, at := p.next.matchNext(c.Alts, c.Amount, &taken)
		if it == nil {
			it = p.bind(c.Alts)
		}
		if it == nil || !it.Accept(c) {
			continue // it covers nothing: an earlier charge has bound the item to another card
		}
		c.Covered = min(c.Amount, it.Held)
		it.Held -= c.Covered
		if it.Spreads {
			p.items[at].coveredOn[it.Alts.Index(c.Card)] += c.Covered
		}
	}
	p.tasks = append(p.tasks, d)
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
	p.next.Items = append(p.next.Items, it)
	return it
}

// keep makes the plan's items those of the job, and its charges count against
// them.
func (p *Plan) keep(j *Job) {
	// The plan's memory is used again, so the job gets copies.
	items := j.buf[:0]
	for i := range p.items {
		it := &j.one
		if i > 0 {
			it = new(Item)
		}
		*it = *p.items[i].Item
		it.Spread = slices.Clone(it.Spread)
		items = append(items, it)
	}
	for _, implicit := range p.implicit {
		it := *implicit
		items = append(items, &it)
	}
	j.Items = items
	for i := range p.tasks {
		d := &p.tasks[i]
		for dim, covered := range d.covered {
			d.task.Plain[dim].Covered = covered
		}
		copy(d.task.Charges, d.charges)
		for k := range d.task.Charges {
			c := &d.task.Charges[k]
			if at := slices.Index(p.next.Items, c.Item); at >= 0 {
				c.Item = j.Items[at]
			}
		}
	}
}
