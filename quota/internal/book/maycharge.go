package book

// MayCharge decides on a task of a job, which may be nil. With cards not nil only these
// count. For every item it appends to picks the first alternative with room, and to
// the options all alternatives. The refusal is of what fails first: cpu, memory, and
// then the items in order.
func MayCharge(a *Answer, q *Queue, j *Job, u *Use, cards *Set, picks []Pick) []Pick {
	a.Begin()
	if reason := q.Admits(); reason != Yes {
		a.Reason = reason
		return picks
	}
	if u.Invalid {
		a.Reason = Invalid
		return picks
	}
	if u.CPU == 0 && u.Memory == 0 && len(u.Items) == 0 {
		return picks
	}
	if q.Empty {
		a.Reason = Empty
		return picks
	}
	j = j.In(q)
	var cpu, mem int64
	if j != nil {
		cpu, mem = j.Held[CPU], j.Held[Memory]
	}
	a.decidePlain(q, LacksCPU, CPU, u.CPU, cpu)
	if a.OK() {
		a.decidePlain(q, LacksMemory, Memory, u.Memory, mem)
	}
	var taken uint64
	for i := range u.Items {
		ui := &u.Items[i]
		p := Pick{Card: -1}
		if j != nil {
			p.it = j.matchNext(ui, &taken)
		}
		a.decideItem(q, i, ui, cards, &p)
		picks = append(picks, p)
	}
	return picks
}

// Pick is the alternative that an item of a task is to be charged on.
type Pick struct {
	it   *Item // of the job; may be nil
	at   int   // index of the card in it.Alts
	Card int32 // -1: none
}

// decidePlain decides on cpu or memory.
func (a *Answer) decidePlain(q *Queue, reason Reason, dim int32, amount, held int64) {
	if amount == 0 {
		return
	}
	if r, why := q.chargeRoom(dim, held); amount > r.amount {
		a.lacks(reason, 0, dim, amount, r, why)
	}
}

// decideItem decides on one item of a task: which of its alternatives have room.
func (a *Answer) decideItem(q *Queue, index int, ui *UseItem, cards *Set, p *Pick) {
	var best room
	bestDim, allowed := int32(-1), false
	for k, dim := range ui.Alts.Cards {
		o := a.option(index, dim)
		if cards != nil && !cards.Has(dim) {
			o.Why = NotAllowed
			continue
		}
		allowed = true
		at := p.it.index(ui.Alts, k)
		r, why := q.itemRoom(p.it, at, dim)
		o.Level, o.Room, o.Limit = r.level, r.amount, r.limit(dim)
		if why == FirmElsewhere || ui.Amount > r.amount {
			o.Why = why
		} else if p.Card < 0 {
			p.Card, p.at = dim, at
		}
		if best.level == nil || r.amount > best.amount {
			best, bestDim = r, dim
		}
	}
	switch {
	case p.Card >= 0 || !a.OK():
	case !allowed:
		a.Reason, a.Lack.Item = NotOnCard, index
	default:
		a.lacksCards(index, bestDim, ui.Amount, best)
	}
}

// itemRoom returns the room for a charge on a card that counts against an item
// of the job, and what it is that limits it. at is the card's index in the item.
func (q *Queue) itemRoom(it *Item, at int, dim int32) (r room, why Why) {
	var held int64
	switch {
	case it == nil:
	case it.Spreads:
		held = it.Spread[at]
	case at == int(it.At):
		held = it.Held
	case it.Charges > 0:
		return room{0, q}, FirmElsewhere
	case it.Held > 0:
		return q.moveRoom(dim, it.Held)
	}
	return q.chargeRoom(dim, held)
}

// chargeRoom returns how much may be charged when held of it is promised to the
// job already: allocated stays within the limit, and so does what is allocated
// and promised. why says which of them is the narrower at the level.
func (q *Queue) chargeRoom(dim int32, held int64) (r room, why Why) {
	r, why = room{Unlimited, q}, OverCapacity
	for ; q != nil; q = q.Parent {
		c := &q.Cells[dim]
		if c.Limit == Unlimited {
			continue
		}
		hard, free := c.Limit-c.Allocated, c.Limit-c.Full()
		if held > 0 {
			free = held + max(free, 0)
		}
		limited := OverCapacity
		if free < hard {
			hard, limited = free, Promised
		}
		if hard < r.amount {
			r, why = room{hard, q}, limited
		}
	}
	return r, why
}

// moveRoom returns how much may be charged on a card that a hold of another card
// has to move to: there must be room for the hold as well. why is what limits it.
func (q *Queue) moveRoom(dim int32, held int64) (r room, why Why) {
	r = room{Unlimited, q}
	for ; q != nil; q = q.Parent {
		c := &q.Cells[dim]
		if c.Limit == Unlimited {
			continue
		}
		hard, free := c.Limit-c.Allocated, c.Limit-c.Full()
		limited := OverCapacity
		if free < hard {
			limited = Promised
		}
		if held > hard && free > 0 {
			limited = HoldTooLarge
		}
		if held > free {
			free = min(free, 0)
		}
		if free < r.amount { // never more than hard
			r, why = room{free, q}, limited
		}
	}
	return r, why
}

// matchNext returns the item of the job that the next item of a task counts
// against. taken has a bit for each item that the task already counts against.
func (j *Job) matchNext(ui *UseItem, taken *uint64) *Item {
	it, at := j.Match(ui.Alts, ui.Amount, *taken)
	if uint(at) < 64 {
		*taken |= 1 << at
	}
	return it
}

// Match returns the item that a task's alternatives count against: the one with
// the same list, of the same unit if there are several; else the one with the
// fewest alternatives that contain them all, items with a hold first, the first of
// equals. A firm item counts only for tasks that accept its card. taken has a bit
// for each item that the task already counts against with another of its own.
func (j *Job) Match(alts *Alternatives, unit int64, taken uint64) (best *Item, at int) {
	if j.alone && j.one.Alts == alts && taken == 0 {
		return &j.one, 0
	}
	at = -1
	for i, it := range j.Items {
		if i < 64 && taken>>i&1 != 0 || it.Implicit && it.Alts != alts || !it.Alts.contains(alts) {
			continue
		}
		if it.Alts != alts && it.Bound() && alts.Index(it.Alts.Cards[it.At]) < 0 {
			continue
		}
		if best == nil || it.before(best, alts, unit) {
			best, at = it, i
		}
	}
	return best, at
}

// before reports whether a task with these alternatives counts against it rather
// than against other, which comes before it.
func (it *Item) before(other *Item, alts *Alternatives, unit int64) bool {
	if it.Implicit != other.Implicit {
		return other.Implicit
	}
	if same := it.Alts == alts; same != (other.Alts == alts) {
		return same
	} else if same {
		if fits := it.Unit == unit; fits != (other.Unit == unit) {
			return fits
		}
	}
	if holds := it.Held > 0; holds != (other.Held > 0) {
		return holds
	}
	return len(it.Alts.Cards) < len(other.Alts.Cards)
}

// HeldFirst calls do for every item of a task of a job, which may be nil, with the first
// alternative that the job holds for it, or else the first.
func HeldFirst(j *Job, u *Use, do func(item int, card int32)) {
	var taken uint64
	for i := range u.Items {
		do(i, j.heldFirst(&u.Items[i], &taken))
	}
}

func (j *Job) heldFirst(ui *UseItem, taken *uint64) int32 {
	if j == nil {
		return ui.Alts.Cards[0]
	}
	it := j.matchNext(ui, taken)
	for _, dim := range ui.Alts.Cards {
		if it != nil && it.heldIn(dim) > 0 {
			return dim
		}
	}
	return ui.Alts.Cards[0]
}

// TooLarge looks for a sum that the charges of a task would raise to [LimitExact]. It
// returns the amount of that dimension.
func (u *Use) TooLarge(q *Queue, j *Job, picks []Pick) (dim int32, amount int64, is bool) {
	for dim, amount := range [...]int64{CPU: u.CPU, Memory: u.Memory} {
		if dim := int32(dim); amount > 0 && !q.CanAdd(dim, max(amount-j.heldOn(dim), 0)) {
			return dim, amount, true
		}
	}
	for i := range picks {
		if p := &picks[i]; !q.CanAdd(p.Card, p.adds(u.Items[i].Amount)) {
			return p.Card, u.Items[i].Amount, true
		}
	}
	return 0, 0, false
}

// adds returns what a charge adds to what its card has allocated and promised.
func (p *Pick) adds(amount int64) int64 {
	switch {
	case p.it == nil:
		return amount
	case !p.it.Spreads && p.at != int(p.it.At):
		return max(amount, p.it.Held) // the hold moves here
	}
	return max(amount-p.it.HeldOn(p.at), 0)
}
