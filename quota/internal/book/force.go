package book

import "slices"

// What runs already is charged whatever the limits say: the cluster is right, and the book
// follows. The queue may then be over a limit, and nothing is admitted that would raise the
// amount that exceeds it.

// Even what runs must be counted. Only a queue where pods of absurd amounts were bound by
// hand comes as far, and it takes no more than its own part of what can be counted.

// mayForce notes the first amount that can't come to a queue.
func (a *Answer) mayForce(q *Queue, reason Reason, item int, dim int32, amount int64) {
	there, r := q.root().Cells[dim].Full(), Option{Item: item, Dim: dim, Why: TooLarge, Level: q, Limit: mostForced}
	if r.Room = min(mostForced-q.Cells[dim].Full(), MostSum/2-there); a.OK() && amount > r.Room {
		a.lacks(reason, amount, r)
	}
}

// MayForce reports whether a task can be counted on cards, one for each item.
func MayForce(a *Answer, q *Queue, u *Use, cards []int32) bool {
	a.clear()
	for dim, amount := range u.Plain {
		a.mayForce(q, lacksPlain[dim], 0, int32(dim), amount)
	}
	for i, card := range cards {
		a.mayForce(q, LacksCards, i, card, u.Items[i].Amount)
	}
	return a.OK()
}

// MayMove reports whether a job's amounts can be counted in another queue.
func MayMove(j *Job, q *Queue) bool {
	sums := make([]int64, len(q.Cells))
	j.Each(func(dim int32, allocated, held, _ int64) { sums[dim] += allocated + held })
	var a Answer
	for dim, sum := range sums {
		a.mayForce(q, LacksCards, 0, int32(dim), sum)
	}
	return a.OK()
}

// Move takes a job's record to another queue, with its charges and holds. The new queue
// need not have room.
func (b *Book) Move(j *Job, q *Queue) {
	j.count(-1)
	b.leave(j.Queue)
	b.AddJob(j, q)
	j.count(1)
}

// Force charges a task on cards, one for each item, whatever the limits say. Off the card
// that the job's item is bound to, or on one that it doesn't list, the charge counts
// against none: it covers nothing of the min, and the job's other tasks still find their
// hold.
func (t *Task) Force(u *Use, cards []int32) {
	picks := make([]Pick, len(cards))
	var taken uint64
	for i, card := range cards {
		alts := u.Items[i].Alts
		it := t.Job.match(alts, u.Items[i].Amount, &taken)
		if it != nil {
			alts = it.Alts
		}
		at := alts.Index(card)
		if it != nil && (at < 0 || it.Bound() && at != int(it.At)) {
			it, at = nil, -1
		}
		picks[i] = Pick{it, at, card}
	}
	t.Charge(u, picks, nil)
}

// Unreserve makes a job's min unknown, and anyMix its policy. Its charges stay; a job without
// charges goes.
func (b *Book) Unreserve(j *Job, anyMix bool) {
	var p Plan // of no min: it finds which implicit items the charges need
	p.Start(&Min{AnyMix: anyMix}, j)
	j.adopt(&p, false)
	if j.Tasks == 0 {
		b.Drop(j)
	}
}

// FillAll finds room for the items of a plan, and puts what has none on the first
// alternative, or the one that the item is bound to. It is for jobs that the cluster has
// admitted already: their min is promised, so it has to be held somewhere. It reports whether
// all of it can be counted in the queue.
func (p *Plan) FillAll(a *Answer, q *Queue) bool {
	a.clear()
	for dim, held := range p.next.Held {
		amount, r := p.next.Min[dim], Option{Dim: int32(dim), Room: Unlimited}
		if r.count(q, amount, amount-held+p.change(r.Dim).vacated, 0); a.OK() && held > 0 && r.Why == TooLarge {
			a.lacks(lacksPlain[dim], amount, r)
		}
	}
	for i, it := range p.items {
		if found := it.Alts.Multi() && new(Answer).fill(q, i, it, p); !found && it.Spreads {
			left := it.Held
			for _, held := range it.Spread {
				left -= held
			}
			it.Spread[0] += left
		}
		for at, card := range it.Alts.Cards {
			held, r := it.HeldAt(at), Option{Item: i, Dim: card, Room: Unlimited}
			if r.count(q, held, p.change(card).vacated, 0); a.OK() && held > 0 && r.Why == TooLarge {
				r.Room += it.Min - held // what the whole item may have
				a.lacks(LacksCards, it.Min, r)
			}
		}
		p.take(it)
	}
	return a.OK()
}

// Cut makes the min of a plan what charges cover of it: nothing is held any more.
func (p *Plan) Cut() { p.next.dropHolds() }

// Agrees reports whether the job is as the plan would make it. Then the same view again
// changes nothing, and the ledger's number stays. The order of items doesn't matter.
func (p *Plan) Agrees(j *Job) bool {
	next := &p.next
	if j.AnyMix != next.AnyMix || j.Min != next.Min || j.Held != next.Held || len(j.Items) != len(next.Items) {
		return false
	}
	for _, it := range next.Items {
		if !slices.ContainsFunc(j.Items, it.equal) {
			return false
		}
	}
	draws, agree := p.draws, true
	j.uses(func(_ int32, d *Coverage) {
		agree = agree && d.Covered == draws[0].Covered && d.Item.equal(draws[0].Item)
		draws = draws[1:]
	})
	return agree
}

// equal reports whether two items, which may be nil, have the same holds for the same. Of the
// items of a job no two are equal.
func (it *Item) equal(other *Item) bool {
	if it == nil || other == nil {
		return it == other
	}
	return it.Alts == other.Alts && it.Unit == other.Unit && it.Min == other.Min && it.Held == other.Held &&
		it.Charges == other.Charges && it.Implicit == other.Implicit && slices.Equal(it.Spread, other.Spread) &&
		(it.Held == 0 && it.Charges == 0 || it.At == other.At)
}
