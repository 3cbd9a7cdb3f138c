package book

// May a job be promised its min? At every level the floor has to have room for it:
// what jobs use of their mins, and what is held for them. What jobs use beyond their mins
// doesn't count: it could go.
//
// So a job may be admitted, and its tasks be refused for a while. For example a queue may
// use 4 A, and one job with a min of 2 is charged all 4. The floor is 2, and another job
// of 2 is promised 2. Its first task finds hard = 4 - 4 = 0 (chargeRoom). It has to wait
// until a task of the first job ends, or is evicted.
//
// A job may also be refused although cards are free: they are held for jobs that came
// before, and whose pods don't run yet. minRoom then says Promised.

// MayReserve decides on a job's min, and works out into p where it is to be held.
// A job that the queue has already, own, is asked for a new min: its present part
// of the floor doesn't count, and its charges are drawn against the min first.
func MayReserve(a *Answer, q *Queue, m *Min, own *Job, p *Plan) bool {
	decided := a.begin(q, m.Invalid, m.Plain == Plain{} && len(m.Items) == 0)
	if a.OK() {
		p.Start(m, own) // also for a min of nothing: it may replace another one
	}
	if decided {
		return a.OK()
	}
	for dim, amount := range m.Plain {
		if amount == 0 {
			continue
		}
		if r := q.minRoom(int32(dim), amount, amount-p.next.Held[dim], p); amount > r.Room {
			return a.lacks(lacksPlain[dim], amount, r)
		}
	}
	// The items stand in the order in which they are decided on: single cards, then lists.
	// Each is on top of those before it, and what they have got is not reconsidered.
	for i, it := range p.items {
		if !a.fill(q, i, it, p) {
			return false
		}
		p.take(it)
	}
	return true
}

// fill finds room for an item, left to right, on top of what the plan has. An
// item that charges bind to a card stays there.
func (a *Answer) fill(q *Queue, index int, it *Item, p *Plan) bool {
	if it.Spreads {
		return a.fillAny(q, index, it, p)
	}
	var best Option
	for at, card := range it.Alts.Cards {
		if it.Bound() && at != int(it.At) {
			continue
		}
		r := q.minRoom(card, it.Min, it.covered(), p)
		if it.Min <= r.Room {
			it.At = int32(at)
			a.Options = a.Options[:0] // only a refused item has options
			return true
		}
		a.option(index, r, &best)
	}
	return a.lacks(LacksCards, it.Min, best)
}

// fillAny is fill for an item that spreads: whole units on every alternative, on top of
// what charges cover there already. With units of 2 cards and room for 3 A and 5 B, an
// item A|B of 6 is held as 2 A and 4 B; one of 8 is refused, and its room is 6.
//
// For the reason it decides a second time, as if nothing were held for other jobs. If the
// item then fits, it is the holds that are in the way.
func (a *Answer) fillAny(q *Queue, index int, it *Item, p *Plan) bool {
	var best Option
	left, unheldLeft := it.Held, it.Held // unheldLeft: if nothing were held for other jobs
	sum, limits := int64(0), int64(0)
	over, unheldOver := false, false // whether charges cover more than there is room for
	tooLarge := false                // whether more can't be counted on some alternative
	for at, card := range it.Alts.Cards {
		covered := p.covers[place{it, card}]
		r, unheld := q.floorRoom(card, p)
		over, unheldOver = over || covered > max(r.Room, 0), unheldOver || covered > max(unheld, 0)
		whole, unheldWhole := wholeUnits(r.Room, covered, it.Unit), wholeUnits(unheld, covered, it.Unit)
		if min(left+covered, unheldWhole) > whole {
			r.Why = Promised
		}
		if more := min(left, whole-min(covered, whole)); more > 0 {
			r.count(q, covered+more, covered+p.change(card).vacated, 0)
			if r.Why == TooLarge {
				whole, tooLarge = wholeUnits(r.Room, covered, it.Unit), true
			}
		}
		it.Spread[at] = min(left, whole-min(covered, whole)) // covered is there already
		left -= it.Spread[at]
		unheldLeft -= min(unheldLeft, unheldWhole-min(covered, unheldWhole))
		sum, limits = AddSaturated(sum, whole), AddSaturated(limits, r.Limit)
		a.option(index, r, &best)
	}
	if left > 0 || over {
		best.Why = OverCapacity
		switch {
		case tooLarge:
			best.Why = TooLarge
		case unheldLeft == 0 && !unheldOver:
			best.Why = Promised
		}
		a.lacks(LacksCards, it.Min, best)
		a.Lack.Dim, a.Lack.Room, a.Lack.Limit = -1, sum, limits
		return false
	}
	a.Options = a.Options[:0]
	return true
}

// wholeUnits returns how much of room can be had: what charges have of it, and
// whole units beyond. A unit is what one task needs, so a rest is of no use.
func wholeUnits(room, covered, unit int64) int64 {
	if room == Unlimited {
		return Unlimited
	}
	free := max(room-covered, 0)
	return max(min(covered, room), 0) + free - free%unit
}

// minRoom is floorRoom for an amount of which charges cover a part, with why it has less.
func (q *Queue) minRoom(dim int32, amount, covered int64, p *Plan) Option {
	r, unheld := q.floorRoom(dim, p)
	if amount > r.Room && amount <= unheld {
		r.Why = Promised
	}
	r.count(q, amount, covered+p.change(dim).vacated, 0)
	return r
}

// floorRoom returns how much of a dimension an item of a new min may have: what the floor
// leaves of the limit. Of the floor that is without what the job has there now, and with what
// the plan has so far. The queue that leaves the least is the level of the refusal, the lowest
// one of equals: the walk goes up, and take keeps the first. unheld is the room if nothing were
// held for other jobs.
func (q *Queue) floorRoom(dim int32, p *Plan) (r Option, unheld int64) {
	r, unheld = Option{Dim: dim}, Unlimited
	own := p.change(dim)
	for ; q != nil; q = q.Parent {
		c, free := &q.Cells[dim], Unlimited
		if c.Limit != Unlimited {
			free = c.Limit - c.Floor() - own.floor
			unheld = min(unheld, free+c.Held-own.held)
		}
		r.take(free, q, OverCapacity)
	}
	return r, unheld
}
