package quota

import "slices"

// plan is a new min of a job: its items with their holds, and how the charges
// that are there already are drawn against them. Its memory serves many jobs.
type plan struct {
	cpu, mem draw // min, and what charges cover of it
	items    []placement
	implicit []*item // behind those of items in next
	redraws  []redraw
	sums     []pending // what the floor of each card is about to get, charges included

	store   []item  // behind items
	binds   []*item // behind implicit, and spare ones
	bound   int     // how many of them are used
	amounts []int64 // behind their slices
	charges []charge
	next    job // what the charges are drawn against
}

// placement is an item of a plan.
type placement struct {
	*item
	covered   int64   // of min, by charges
	coveredOn []int64 // by alternative; of spread items only
}

// redraw is what a task's charges come to under a plan.
type redraw struct {
	task     *task
	cpu, mem int64 // covered
	charges  []charge
}

// pending is what a job is about to have of a dimension.
type pending struct {
	dim    int32
	amount int64
}

// sum returns what the plan has of a card so far.
func (p *plan) sum(dim int32) int64 {
	for i := range p.sums {
		if p.sums[i].dim == dim {
			return p.sums[i].amount
		}
	}
	return 0
}

func (p *plan) add(dim int32, amount int64) {
	for i := range p.sums {
		if p.sums[i].dim == dim {
			p.sums[i].amount += amount
			return
		}
	}
	p.sums = append(p.sums, pending{dim, amount})
}

// spreads reports whether an item with these alternatives may be on several.
func (a *alternatives) spreads(mix Mix) bool { return mix == AnyMix && a.multi() }

// newItem returns an item without holds.
func newItem(alts *alternatives, milli, unit int64, mix Mix) *item {
	it := &item{alts: alts, min: milli, unit: unit}
	if alts.spreads(mix) {
		it.spread, it.spreads = make([]int64, len(alts.cards)), true
	}
	return it
}

// start begins the plan of a request, and draws the charges of the job, which
// may be nil, in commit order. Until an item is filled, its held is the part of
// min that no charge covers.
func (p *plan) start(r *JobRequest, j *job) {
	p.list(r)
	if j == nil || j.first == nil {
		return
	}
	p.next.mix, p.next.items = r.mix, p.next.items[:0]
	for i := range p.items {
		it := &p.items[i]
		p.next.items = append(p.next.items, it.item)
		if it.spreads {
			it.coveredOn = p.slice(len(it.spread))
		}
	}
	for t := j.first; t != nil; t = t.next {
		p.redraw(t)
	}
	p.implicit = p.next.items[len(p.items):]
}

// list makes the plan one of the items of a request, without holds.
func (p *plan) list(r *JobRequest) {
	p.cpu, p.mem = draw{amount: r.cpu}, draw{amount: r.mem}
	p.store, p.items = resized(p.store, len(r.items)), resized(p.items, len(r.items))
	p.implicit, p.redraws, p.sums, p.amounts, p.charges = nil, p.redraws[:0], p.sums[:0], p.amounts[:0], p.charges[:0]
	p.bound = 0
	for i := range r.items {
		want := &r.items[i]
		p.store[i] = item{alts: want.alts, min: want.milli, unit: want.unit, held: want.milli}
		p.items[i] = placement{item: &p.store[i]}
		if want.alts.spreads(r.mix) {
			p.store[i].spread, p.store[i].spreads = p.slice(len(want.alts.cards)), true
		}
	}
}

// resized returns a slice of n elements, in the memory of s if there is enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// slice returns n amounts of the plan's memory, all 0. What was handed out before
// stays as it is, even if there has to be new memory.
func (p *plan) slice(n int) []int64 {
	at := len(p.amounts)
	p.amounts = slices.Grow(p.amounts, n)[:at+n]
	s := p.amounts[at:]
	clear(s)
	return s
}

// redraw draws the charges of a task.
func (p *plan) redraw(t *task) {
	at := len(p.charges)
	p.charges = append(p.charges, t.charges...)
	d := redraw{task: t, charges: p.charges[at:]}
	d.cpu = min(t.cpu.amount, p.cpu.amount-p.cpu.covered)
	d.mem = min(t.mem.amount, p.mem.amount-p.mem.covered)
	p.cpu.covered += d.cpu
	p.mem.covered += d.mem
	var taken uint64
	for i := range d.charges {
		c := &d.charges[i]
		c.item, c.at, c.covered = nil, 0, 0
		it, at := p.next.match(c.alts, c.milli, taken)
		if it != nil && at < 64 {
			taken |= 1 << at
		}
		if it == nil {
			it = p.bind(c.alts)
		}
		if it == nil || !it.accept(c) {
			continue
		}
		c.covered = min(c.milli, it.held)
		it.held -= c.covered
		it.loose = it.loose || c.covered < c.milli
		if at >= 0 && at < len(p.items) {
			p.items[at].covered += c.covered
			if it.spreads {
				p.items[at].coveredOn[c.at] += c.covered
			}
		}
	}
	p.redraws = append(p.redraws, d)
}

// keep makes the plan's items those of the job, and its charges count against
// them.
func (p *plan) keep(j *job) {
	items := make([]*item, 0, len(p.items)+len(p.implicit))
	for i := range p.items {
		it := &j.one
		if i > 0 {
			it = new(item)
		}
		*it = *p.items[i].item
		it.spread = slices.Clone(it.spread)
		items = append(items, it)
	}
	for _, implicit := range p.implicit {
		it := *implicit
		items = append(items, &it)
	}
	j.list(items)
	for i := range p.redraws {
		d := &p.redraws[i]
		d.task.cpu.covered, d.task.mem.covered = d.cpu, d.mem
		copy(d.task.charges, d.charges)
		for k := range d.task.charges {
			c := &d.task.charges[k]
			if at := slices.Index(p.next.items, c.item); at >= 0 {
				c.item = j.items[at]
			}
		}
	}
}

// bind is that of a job, in the plan's memory.
func (p *plan) bind(alts *alternatives) *item {
	if !p.next.binds(alts) {
		return nil
	}
	if p.bound == len(p.binds) {
		p.binds = append(p.binds, new(item))
	}
	it := p.binds[p.bound]
	p.bound++
	*it = implicitItem(alts)
	p.next.list(append(p.next.items, it))
	return it
}

// binds reports whether tasks of the job that list alternatives which no item of it
// covers must use one card. There is an end to the lists that users can think of.
func (j *job) binds(alts *alternatives) bool {
	return j.mix == SameCard && alts.multi() && len(j.items) < 2*maxJobItems
}

// implicitItem returns an item that binds the tasks of a key.
func implicitItem(alts *alternatives) item { return item{alts: alts, implicit: true, loose: true} }

// bind gives the job an implicit item for alternatives that no item of it covers,
// and returns it; nil where it needs none.
func (j *job) bind(alts *alternatives) *item {
	if !j.binds(alts) {
		return nil
	}
	it := implicitItem(alts)
	j.items = append(j.items, &it)
	return &it
}

// accept makes a charge count against the item, and reports whether it can: not
// if other charges bind the item to another card.
func (it *item) accept(c *charge) bool {
	at := it.alts.index(c.card)
	if it.bound() && at != int(it.at) || at < 0 {
		return false
	}
	if !it.spreads {
		it.at = int32(at)
	}
	it.charges++
	c.item, c.at = it, int32(at)
	return true
}
