package book

import "slices"

// How many copies of a job, or of a task, would be admitted? They are reserved or charged
// on copies of the queue and those above it, many at a time: as long as no room and no
// hold runs out, each copy does the same as the one before. So the work doesn't grow with
// their number: a queue with room for a million copies takes a few rounds.

// Copies is how many copies of something would be admitted.
type Copies struct {
	N       int64    // Unlimited if no limit stops them
	Options []Option // the room before the first copy: cpu, memory, and each alternative of the items
	Next    Answer   // to one copy more
}

// note adds the room for an amount.
func (f *Copies) note(item int, amount int64, r Option) {
	r.Item = item
	if amount <= r.Room {
		r.Why = Yes
	}
	f.Options = append(f.Options, r)
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
		for dim, amount := range m.Plain {
			f.note(0, amount, q.minRoom(int32(dim), amount, 0, nil, nil))
		}
		for i := range m.Items {
			for _, dim := range m.Items[i].Alts.Cards {
				f.note(i, m.Items[i].Amount, q.minRoom(dim, m.Items[i].Amount, 0, nil, nil))
			}
		}
	}
	for {
		var p Plan
		if !MayReserve(&f.Next, q, m, nil, &p) {
			f.endless(q, &m.Plain)
			return f
		}
		for dim, amount := range m.Plain {
			p.add(int32(dim), amount)
		}
		n := Unlimited // how often the same plan fits
		for dim, amount := range p.sums {
			if amount > 0 {
				n = min(n, q.minRoom(int32(dim), Unlimited, 0, nil, nil).Room/amount)
			}
		}
		if n == Unlimited {
			f.N = Unlimited
			return f
		}
		for dim, amount := range p.sums {
			q.add(int32(dim), 0, n*amount, 0)
		}
		f.N += n
	}
}

// fewCopies is how many copies a sum may stop. That is for amounts that no cluster has. If
// it takes more, no limit stops them.
const fewCopies = 1 << 10

// endless forgets what stopped many copies, unless there is a limit that would have, too:
// of cpu, of memory, or of all alternatives of an item that can be used.
func (f *Copies) endless(q *Queue, plain *Plain) {
	if f.Next.OK() || f.N < fewCopies {
		return
	}
	open := map[int]bool{} // by item, from 0 on; cpu and memory come before
	for i, o := range f.Options {
		item := o.Item
		if i < len(plain) {
			item = i - len(plain)
		}
		r, _ := q.floorRoom(o.Dim, nil, nil)
		usable := o.Why != FirmElsewhere && o.Why != NotAllowed
		open[item] = open[item] || usable && r.Room == Unlimited || item < 0 && plain[i] == 0
	}
	for _, unlimited := range open {
		if !unlimited {
			return
		}
	}
	f.N = Unlimited
	f.Next.clear()
}

// ChargeCopies counts how many tasks of a job, which may be nil, could be charged
// together on cards, nil for all. A gang of one chooses its cards freely; of a larger
// one each list of alternatives is used on one card, unless the job spreads: the first
// that has room for all.
func ChargeCopies(q *Queue, j *Job, anyMix bool, u *Use, cards *Set) (f Copies) {
	c := copier{q: q, job: j, anyMix: anyMix, use: u, cards: cards}
	first := c.trial()
	MayCharge(&f.Next, first.Queue, first, u, cards, nil)
	if q.Admits() == Yes {
		for dim, amount := range u.Plain {
			f.note(0, amount, q.chargeRoom(int32(dim), amount, first.Held[dim], 0))
		}
		f.Options = append(f.Options, f.Next.Options...)
	}
	most := int64(1) // copies for which the same cards are chosen
	if anyMix || !slices.ContainsFunc(u.Items, func(it UseItem) bool { return it.Alts.Multi() }) {
		most = Unlimited
	}
	if f.N = c.charge(&f.Next, cards, most); f.N == 1 && most == 1 {
		// Up to most copies the gang chooses the same cards. A larger one may choose others, and
		// is charged anew.
		times := c.times()
		for f.N == most && most != Unlimited {
			var chosen *Set
			chosen, most = c.cardsFor(times, f.N+1)
			f.N = max(f.N, c.charge(&f.Next, new(Set).Both(chosen, cards), most))
		}
		f.Next.NotTogether(f.Options[len(u.Plain):])
	}
	f.endless(q, &u.Plain)
	return f
}

// times counts how often each item of the task could be charged on each of its alternatives.
func (c *copier) times() [][]int64 {
	times := make([][]int64, len(c.use.Items))
	for i, it := range c.use.Items {
		for _, card := range it.Alts.Cards {
			times[i] = append(times[i], c.itemTimes(i, card))
		}
	}
	return times
}

// cardsFor returns the cards that a gang of a size uses, and the size up to which it
// uses the same: the first card of each item that takes all, or else the most.
func (c *copier) cardsFor(times [][]int64, size int64) (cards *Set, same int64) {
	cards, same = new(Set), Unlimited
	for i, most := range times {
		best := 0
		for at := range most {
			if min(most[at], size) > min(most[best], size) {
				best = at
			}
		}
		cards.Add(c.use.Items[i].Alts.Cards[best])
		if most[best] >= size {
			same = min(same, most[best])
		}
	}
	return cards, same
}

// copier charges copies of a task on copies of its job and queues.
type copier struct {
	q      *Queue
	job    *Job // may be nil
	anyMix bool
	use    *Use
	cards  *Set
}

// clone returns a copy of the job and of its items. It has the tasks of the job.
func (j *Job) clone() *Job {
	c := *j
	c.Items = make([]*Item, len(j.Items))
	for i, it := range j.Items {
		was := *it
		was.Spread = slices.Clone(it.Spread)
		c.Items[i] = &was
	}
	return &c
}

// trial returns a copy of the job, in a copy of the queue.
func (c *copier) trial() *Job {
	j := &Job{AnyMix: c.anyMix}
	if old := c.job.In(c.q); old != nil {
		j = old.clone()
	}
	j.Queue = c.q.aside()
	return j
}

// charge charges copies on cards, most at most, until one is refused, and returns how
// many were not; a is the answer to the last one.
func (c *copier) charge(a *Answer, cards *Set, most int64) (n int64) {
	j := c.trial()
	for n < most {
		picks := MayCharge(a, j.Queue, j, c.use, cards, nil)
		if !a.OK() {
			// The gang excluded cards. The refusal is of all that the task lists.
			if cards != c.cards {
				a.Reconsider(j.Queue, j, c.use, c.cards)
			}
			return n
		}
		n += j.chargeAlike(c.use, picks, most-n)
		if n >= LimitExact {
			return most // no limit is as large
		}
	}
	return n
}

// itemTimes counts how often an item of the task could be charged on a card, if the task asked
// for nothing else.
func (c *copier) itemTimes(item int, card int32) (n int64) {
	only := new(Set)
	only.Add(card)
	only = new(Set).Both(only, c.cards)
	j, a := c.trial(), Answer{}
	for n < LimitExact {
		picks := MayCharge(&a, j.Queue, j, c.use, only, nil)[item : item+1]
		if picks[0].Card < 0 {
			return n
		}
		n += j.chargeAlike(&Use{Items: c.use.Items[item : item+1]}, picks, Unlimited)
	}
	return Unlimited
}

// chargeAlike charges copies of a task on the same picks, most at most, and returns how
// many. It stops where room ends, and where a hold runs out: the next copy may then count
// against another item, or go to another card. So many copies are one charge of so many
// times the amounts.
func (j *Job) chargeAlike(u *Use, picks []Pick, most int64) int64 {
	n := min(most, LimitExact)
	atMost := func(amount, of int64) {
		if of > 0 && amount != Unlimited {
			n = min(n, max(amount/of, 1))
		}
	}
	for dim, amount := range u.Plain {
		atMost(j.Queue.chargeRoom(int32(dim), Unlimited, j.Held[dim], 0).Room, amount)
	}
	for i := range picks {
		p, amount := &picks[i], u.Items[i].Amount
		atMost(j.Queue.itemRoom(p.it, p.at, p.Card, Unlimited).Room, amount)
		if p.it != nil && p.it.Held > 0 {
			atMost(p.alike(u, picks, amount), amount)
		}
	}
	for dim, amount := range u.Plain {
		j.chargePlain(int32(dim), n*amount)
	}
	for i, p := range picks {
		j.charge(u.Items[i].Alts, n*u.Items[i].Amount, p)
	}
	return n
}

// alike returns how much can be charged on a pick by charges of an amount each that draw
// alike on what is held for the item: on its hold, on what is held on the card, or on
// what is held on another card.
func (p *Pick) alike(u *Use, picks []Pick, amount int64) int64 {
	it := p.it
	switch {
	case !it.Spreads:
		return it.Held
	case it.Spread[p.at] > 0:
		return it.Spread[p.at]
	}
	for from, held := range slices.Backward(it.Spread) {
		if held > 0 && !passedOver(u, picks, it.Alts.Cards[from], it) {
			return held
		} else if held > 0 {
			break // that card has more room then
		}
	}
	return amount
}

// passedOver reports whether an item of a task lists a card before that of its pick, unless it
// counts against an item of the job that holds the card: what moves of a hold makes no more room
// for who could use it there.
func passedOver(u *Use, picks []Pick, card int32, holds *Item) bool {
	for i, p := range picks {
		alts := u.Items[i].Alts
		if at := alts.Index(card); p.it != holds && at >= 0 && at < alts.Index(p.Card) {
			return true
		}
	}
	return false
}
