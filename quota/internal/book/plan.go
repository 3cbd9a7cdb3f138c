package book

import "slices"

// To reserve a job that has charges already, these are drawn against the new min first, in
// commit order: they cover it as far as they go, and only the rest is to be held. That is
// worked out in a plan. The records change when the plan is carried out, so a refusal
// leaves no trace.

// Plan is a new min of a job: its items with their holds, and how the charges
// that are there already are drawn against them. Its memory serves many jobs.
type Plan struct {
	next    Job     // the job with its new min: its items, and then the implicit ones
	items   []*Item // those with a min
	tasks   []taskPlan
	charges []Charge // of all tasks
	sums    []int64  // by dimension: what the floor is about to get, charges included

	store []*Item // behind the items of next, and spare ones
}

// covered returns what charges cover of the min of an item of a plan. The rest is held, or is
// to be.
func (it *Item) covered() int64 { return it.Min - it.Held }

// coveredAt returns what charges cover of an item on a card.
func (p *Plan) coveredAt(it *Item, card int32) (sum int64) {
	for i := range p.charges {
		if c := &p.charges[i]; c.Item == it && c.Card == card {
			sum += c.Covered
		}
	}
	return sum
}

// taskPlan is what a task's charges come to under a plan.
type taskPlan struct {
	task    *Task
	plain   [2]Coverage
	charges []Charge
}

// add adds to what the floor of a dimension is about to get.
func (p *Plan) add(dim int32, amount int64) {
	if n := int(dim) + 1 - len(p.sums); n > 0 {
		p.sums = append(p.sums, make([]int64, n)...)
	}
	p.sums[dim] += amount
}

// Start begins the plan of a min, and draws the charges of the job, which
// may be nil. After that Held of an item is the part of its Min that no charge covers.
// fill finds the cards for it.
func (p *Plan) Start(m *Min, j *Job) {
	p.next = Job{AnyMix: m.AnyMix, Min: m.Plain, Held: m.Plain, Items: p.next.Items[:0]}
	p.tasks, p.charges = p.tasks[:0], p.charges[:0]
	clear(p.sums)
	for _, is := range m.Items {
		p.list(is, m.AnyMix).Held = is.Amount
	}
	p.items = p.next.Items
	if j != nil {
		for t := j.First; t != nil; t = t.Next {
			p.redraw(t)
		}
	}
}

// list adds an item, in the plan's memory.
func (p *Plan) list(is MinItem, anyMix bool) *Item {
	n := len(p.next.Items)
	if n == len(p.store) {
		p.store = append(p.store, new(Item))
	}
	it := p.store[n]
	it.set(is, anyMix)
	p.next.Items = append(p.next.Items, it)
	return it
}

// redraw draws the charges of a task. A job of A:2 with 3 A charged gets a min of A:4,
// say: the 3 are covered then, and 1 is held.
func (p *Plan) redraw(t *Task) {
	from := len(p.charges)
	p.charges = append(p.charges, t.Charges...)
	d := taskPlan{t, t.Plain, p.charges[from:]}
	for dim := range d.plain {
		d.plain[dim].Covered = min(d.plain[dim].Amount, p.next.Held[dim])
		p.next.Held[dim] -= d.plain[dim].Covered
	}
	var taken uint64
	for i := range d.charges { // as Charge would make them, one after the other
		c := &d.charges[i]
		c.Item, c.Covered = nil, 0
		it := p.next.match(c.Alts, c.Amount, &taken)
		if it == nil && p.next.binds(c.Alts) {
			it = p.list(MinItem{Alts: c.Alts}, false)
			it.Implicit = true
		}
		if it == nil || !it.Accept(c) {
			continue // it covers nothing: an earlier charge has bound the item to another card
		}
		c.Covered = min(c.Amount, it.Held)
		it.Held -= c.Covered
	}
	p.tasks = append(p.tasks, d)
}

// keep makes the plan's items those of the job, and its charges count against
// them.
func (p *Plan) keep(j *Job) {
	// The plan's memory is used again, so the job gets copies.
	items := j.buf[:0]
	for i, planned := range p.next.Items {
		it := &j.one
		if i > 0 {
			it = new(Item)
		}
		*it = *planned
		it.Spread = append([]int64(nil), it.Spread...)
		items = append(items, it)
	}
	j.Items = items
	for i := range p.tasks {
		d := &p.tasks[i]
		d.task.Plain = d.plain
		copy(d.task.Charges, d.charges)
		for k := range d.task.Charges {
			c := &d.task.Charges[k]
			if at := slices.Index(p.next.Items, c.Item); at >= 0 {
				c.Item = j.Items[at]
			}
		}
	}
}
