package book

import "slices"

// How many copies of a job, or of a task, would be admitted? They are reserved or charged
// on copies of the queue and those above it, many at a time: as long as no room and no
// hold runs out, each copy does the same as the one before. So the work doesn't grow with
// their number: a queue with room for a million copies takes a few rounds.

// Copies is how many copies of something would be admitted.
type Copies struct {
	N       int64    // Unlimited if no limit stops them
	Options []Option // the room before the first copy: cpu and memory, items -2 and -1, and each alternative of the items
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
	c.Cells, c.Parent = slices.Clone(q.Cells), q.Parent.aside()
	return &c
}

// ReserveCopies counts how many new jobs with a min could be reserved, one after the
// other. A copy finds no more room than the one before it left at the same place, so
// alternatives that were passed over once stay so: the holds are the same again until
// something that they use is used up.
func ReserveCopies(q *Queue, m *Min) (f Copies) {
	q = q.aside()
	var p, none Plan
	if q.Admits() == Yes {
		for dim, amount := range m.Plain {
			f.note(dim-len(m.Plain), amount, q.minRoom(int32(dim), amount, 0, &none))
		}
		for i, it := range m.Items {
			for _, dim := range it.Alts.Cards {
				f.note(i, it.Amount, q.minRoom(dim, it.Amount, 0, &none))
			}
		}
	}
	for {
		if !MayReserve(&f.Next, q, m, nil, &p) {
			f.endless(q, &m.Plain)
			return f
		}
		for dim, amount := range m.Plain {
			p.grow(int32(dim), amount, 0, 0)
		}
		n := Unlimited // how often the same plan fits
		for dim, c := range p.changes {
			if c.floor > 0 {
				n = min(n, q.minRoom(int32(dim), Unlimited, 0, &none).Room/c.floor)
			}
		}
		if n == Unlimited {
			f.N = Unlimited
			return f
		}
		for dim, c := range p.changes {
			q.add(int32(dim), 0, n*c.floor, 0)
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
	open := map[int]bool{} // by item
	for _, o := range f.Options {
		r, _ := q.floorRoom(o.Dim, new(Plan))
		usable := o.Why != FirmElsewhere && o.Why != NotAllowed
		open[o.Item] = open[o.Item] || usable && r.Room == Unlimited || o.Item < 0 && plain[o.Dim] == 0
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
	first := trial(q, j, anyMix)
	MayCharge(&f.Next, first.Queue, first, u, cards, nil)
	if q.Admits() == Yes {
		for dim, amount := range u.Plain {
			f.note(dim-len(u.Plain), amount, q.chargeRoom(int32(dim), amount, first.Held[dim], 0))
		}
		f.Options = append(f.Options, f.Next.Options...)
	}
	m := Member{u, cards, 1} // copies for which the same cards are chosen
	if anyMix || !slices.ContainsFunc(u.Items, func(it UseItem) bool { return it.Alts.Multi() }) {
		m.N = Unlimited
	}
	if f.N = m.charge(&f.Next, first, nil); f.N == 1 && m.N == 1 {
		// Up to N copies the gang chooses the same cards. A larger one may choose others, and
		// is charged anew.
		times := times(q, j, []Member{{u, cards, Unlimited}})
		for f.N == m.N && m.N != Unlimited {
			var chosen *Set
			chosen, m.N = roomiest(u, times, f.N+1)
			f.N = max(f.N, m.charge(&f.Next, trial(q, j, false), chosen))
		}
		f.Next.NotTogether(f.Options[len(u.Plain):])
	}
	f.endless(q, &u.Plain)
	return f
}

// clone returns a copy of the job and of its items. It has the tasks of the job.
func (j *Job) clone() *Job {
	c := *j
	c.Items = make([]*Item, len(j.Items))
	for i, it := range j.Items {
		was := it.clone()
		c.Items[i] = &was
	}
	return &c
}

// trial returns a copy of the job, which may be nil, in a copy of the queue.
func trial(q *Queue, old *Job, anyMix bool) *Job {
	j := &Job{AnyMix: anyMix}
	if old = old.In(q); old != nil {
		j = old.clone()
	}
	j.Queue = q.aside()
	return j
}

// charge charges tasks to a job until one is refused, and returns how many were not; a is the
// answer to the last one. chosen are the cards that their gang has chosen, nil for all.
func (m *Member) charge(a *Answer, j *Job, chosen *Set) (n int64) {
	for n < m.N {
		picks := MayCharge(a, j.Queue, j, m.Use, new(Set).Both(chosen, m.Cards), nil)
		if !a.OK() {
			a.Reconsider(j.Queue, j, m.Use, m.Cards)
			return n
		}
		if n += j.chargeAlike(m.Use, picks, m.N-n); n >= LimitExact {
			return m.N // no limit is as large
		}
	}
	return n
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
