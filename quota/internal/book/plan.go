package book

import "slices"

// To reserve a job that has charges already, these are drawn against the new min first, in
// commit order: they cover it as far as they go, and only the rest is to be held. That is
// worked out in a plan. The records change when the plan is carried out, so a refusal
// leaves no trace.

// Plan is a new min of a job: its items with their holds, and how the charges
// that are there already are drawn against them. Its memory serves many jobs.
type Plan struct {
	next    Job             // the job with its new min: its items, and then the implicit ones
	items   []*Item         // those with a min
	draws   []Coverage      // the amounts of the job's tasks, in their order
	covers  map[place]int64 // what these cover of the items
	changes []change        // by dimension
	changed []int32         // the dimensions that have one
}

// change is what a plan makes of a job in a dimension.
type change struct {
	floor   int64 // what its part of the floor grows by
	held    int64 // what is held for it now
	vacated int64 // the part of that which the items of the plan, so far, don't hold again
}

// covered returns what charges cover of the min of an item of a plan. The rest is held, or is
// to be.
func (it *Item) covered() int64 { return it.Min - it.Held }

// change returns the change of a dimension.
func (p *Plan) change(dim int32) *change {
	if n := int(dim) + 1 - len(p.changes); n > 0 {
		p.changes = append(p.changes, make([]change, n)...)
	}
	return &p.changes[dim]
}

// grow changes what a dimension gets. Only a few of many have a change, and only these are
// cleared for the next job.
func (p *Plan) grow(dim int32, floor, held, vacated int64) {
	c := p.change(dim)
	c.floor, c.held, c.vacated = c.floor+floor, c.held+held, c.vacated+vacated
	p.changed = append(p.changed, dim)
}

// Start begins the plan of a min, and draws the charges of the job, which
// may be nil. After that Held of an item is the part of its Min that no charge covers.
// fill finds the cards for it.
func (p *Plan) Start(m *Min, j *Job) {
	p.next = Job{AnyMix: m.AnyMix, Min: m.Plain, Held: m.Plain, Items: p.next.Items[:0]}
	p.draws = p.draws[:0]
	clear(p.covers)
	for _, dim := range p.changed {
		p.changes[dim] = change{}
	}
	p.changed = p.changed[:0]
	for _, is := range m.Items {
		p.list(is, m.AnyMix).Held = is.Amount
	}
	p.items = p.next.Items
	if j == nil {
		return
	}
	for t := j.First; t != nil; t = t.Next {
		p.redraw(t)
	}
	j.Each(func(dim int32, allocated, held, elastic int64) { p.grow(dim, elastic-allocated-held, held, held) })
}

// list adds an item, in the plan's memory.
func (p *Plan) list(is MinItem, anyMix bool) *Item {
	n := len(p.next.Items)
	p.next.Items = slices.Grow(p.next.Items, 1)[:n+1]
	if p.next.Items[n] == nil { // else it is one of another job's plan
		p.next.Items[n] = new(Item)
	}
	p.next.Items[n].set(is, anyMix)
	return p.next.Items[n]
}

// redraw draws the charges of a task. A job of A:2 with 3 A charged gets a min of A:4,
// say: the 3 are covered then, and 1 is held.
func (p *Plan) redraw(t *Task) {
	for dim, d := range t.Plain {
		d.Covered = min(d.Amount, p.next.Held[dim])
		p.next.Held[dim] -= d.Covered
		p.draws = append(p.draws, d)
	}
	var taken uint64
	for _, c := range t.Charges { // as Charge would make them, one after the other
		c.Item, c.Covered = nil, 0
		it := p.next.match(c.Alts, c.Amount, &taken)
		if it == nil && p.next.Binds(c.Alts) {
			it = p.list(MinItem{Alts: c.Alts}, false)
		}
		// Else it covers nothing: an earlier charge has bound the item to another card.
		if it != nil && it.Accept(&c) {
			c.Covered = min(c.Amount, it.Held)
			it.Held -= c.Covered
			if p.covers == nil {
				p.covers = map[place]int64{}
			}
			p.covers[place{it, c.Card}] += c.Covered
		}
		p.draws = append(p.draws, c.Coverage)
	}
}

// take counts what an item holds, and what charges cover of it. Those behind it find the rest.
func (p *Plan) take(it *Item) {
	for at, card := range it.Alts.Cards {
		if held, covered := it.HeldAt(at), p.covers[place{it, card}]; held+covered > 0 {
			p.grow(card, held+covered, 0, -held) // what the job has there now is out of it already
		}
	}
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
		*it = planned.clone()
		items = append(items, it)
	}
	j.Items = items
	draws := p.draws
	j.uses(func(_ int32, d *Coverage) {
		*d, draws = draws[0], draws[1:]
		if at := slices.Index(p.next.Items, d.Item); at >= 0 {
			d.Item = items[at]
		}
	})
}
