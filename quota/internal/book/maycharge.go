package book

import "slices"

// May a task be charged? A task may be refused although its queue has a card free. For
// example org may use 5 A. Of these 4 are charged in the queues below it, and 1 is held
// for job j. One card is free. A task of j gets it: the hold covers it. A task of another
// job does not: the card is promised to j (chargeRoom).
//
// A [Reason] says what is in the way. They stand about in the order in which MayCharge looks
// for them. Outputs of the transformation, such as credits, are items behind the cards.
//
// The limit may be less than the capability. With EnforceGuarantee it is at most what the
// siblings' guarantees leave of what the cluster has, or of the limit above (SetLimits). It
// is 0 where a queue without children has no quota for the card, or one that can't be read:
// package quota says which. For cpu and memory it is 0 likewise, but with MissingUnlimited.
//
// The amount may be more than it seems. 1.5 cards of a pod count as 2. All of an item must
// fit on one card: room for 1 A and 1 B is none for 2 of A|B. And a card counts in one item
// only, so another item with the same card has lost it.

// Reason says why a request is refused or, from OverCapacity on, what leaves too little
// room.
type Reason uint8

const (
	Yes     Reason = iota // it is not; there is room
	NoQueue               // there is no queue
	NotLeaf               // the queue has children, so it takes no jobs
	NotOpen               // the queue, or a queue above it, is not open; an orphan isn't

	// The request is invalid, and has no amounts. Package quota says why: an amount or an
	// annotation can't be read, none of the cards is known, the pod requests no resource
	// that stands for one of them, another item has them all, the node that the task is
	// bound to has none, the pod names no card (UnnamedRefuse), or the transformation
	// demands a quota that there is not (BlockUndeclared). The cards may be known since: a
	// request says what was known when it was resolved.
	Invalid

	NotOnCard // none of the alternatives is among the cards that the caller allows
	Empty     // the queue's capability was never configured
	LacksCPU
	LacksMemory
	LacksCards

	// What leaves too little room.

	OverCapacity  // the charges would exceed a limit; for a job, the charges that count (see [Cell.Floor]) and the holds
	Promised      // the rest is held for other jobs or, of a task, other items of its job; a job would fit without these holds, a task need not
	FirmElsewhere // other tasks of the job are on another card already
	NotAllowed    // the card is not among those of the node, of the caller, or of the task's gang
	HoldTooLarge  // the job's hold would have to move here as a whole, and doesn't fit beside the charges
	NotTogether   // the tasks of a gang must be on one card, and it hasn't room for all: the room is that before the gang (maytogether.go)
	TooLarge      // no limit is in the way, but a sum of the tree would reach LimitExact
)

// lacksPlain are the reasons by dimension.
var lacksPlain = [...]Reason{CPU: LacksCPU, Memory: LacksMemory}

// Answer is the answer to a question. Its memory serves many questions.
type Answer struct {
	Reason  Reason
	Lack    Lack     // of LacksCPU, LacksMemory and LacksCards; of NotOnCard only its Item
	Options []Option // the alternatives that were looked at
}

// Option is an alternative of an item, and the room there: the most that can be had.
type Option struct {
	Item  int // its index; 0 for cpu and memory, but in Copies -2 and -1
	Dim   int32
	Why   Reason // what limits the room; Yes: it is enough. MayReserve doesn't note Yes of an item that spreads
	Room  int64  // negative if a limit is exceeded
	Level *Queue // that leaves the least; nil if the card isn't allowed
	Limit int64  // of Level; of TooLarge: the sum that it may come to
}

// Lack is what has too little room: cpu, memory, or the alternative with the most. With Dim -1
// Room and Limit are sums of all alternatives, and Level is that of the roomiest.
type Lack struct {
	Option
	Requested int64
}

// OK reports whether the answer is yes.
func (a *Answer) OK() bool { return a.Reason == Yes }

// clear clears an answer for another question.
func (a *Answer) clear() { a.Reason, a.Lack, a.Options = Yes, Lack{}, a.Options[:0] }

// begin clears an answer for a request to a queue, which may be nil, and reports whether
// that is decided without a look at amounts.
func (a *Answer) begin(q *Queue, invalid, nothing bool) (decided bool) {
	a.clear()
	switch a.Reason = q.Admits(); {
	case a.Reason != Yes:
	case invalid:
		a.Reason = Invalid
	case nothing:
	case q.Empty:
		a.Reason = Empty
	default:
		return false
	}
	return true
}

// lacks refuses an amount for want of room.
func (a *Answer) lacks(reason Reason, requested int64, r Option) bool {
	a.Reason, a.Lack = reason, Lack{r, requested}
	return false
}

// take makes r the smaller of itself and an amount at a level.
func (r *Option) take(amount int64, level *Queue, why Reason) {
	if r.Level == nil || amount < r.Room {
		r.Room, r.Level, r.Why, r.Limit = amount, level, why, level.Cells[r.Dim].Limit
	}
}

// roomier reports whether there is more room than in best, which may be zero.
func (r *Option) roomier(best *Option) bool { return best.Level == nil || r.Room > best.Room }

// option notes an alternative of an item, and in best the roomiest so far.
func (a *Answer) option(item int, r Option, best *Option) {
	r.Item = item
	a.Options = append(a.Options, r)
	if r.roomier(best) {
		*best = r
	}
}

// MayCharge decides on a task of a job, which may be nil. If cards is not nil, only these
// count. It appends to picks, for every item, the first alternative with room, and to the
// options all alternatives. The refusal is of what fails first: cpu, memory, and then the
// items in order.
func MayCharge(a *Answer, q *Queue, j *Job, u *Use, cards *Set, picks []Pick) []Pick {
	if a.begin(q, u.Invalid, u.Plain == Plain{} && len(u.Items) == 0) {
		return picks
	}
	var held Plain
	if j = j.In(q); j != nil { // what the job holds in another queue covers nothing here
		held = j.Held
	}
	for dim, amount := range u.Plain {
		if amount == 0 || !a.OK() {
			continue
		}
		if r := q.chargeRoom(int32(dim), amount, held[dim], 0); amount > r.Room {
			a.lacks(lacksPlain[dim], amount, r)
		}
	}
	// Items share no card, so each is decided on the state before the task. All of them are
	// looked at, also after a refusal: the options list every alternative.
	var taken uint64
	for i := range u.Items {
		it := j.match(u.Items[i].Alts, u.Items[i].Amount, &taken)
		picks = append(picks, a.mayChargeItem(q, i, &u.Items[i], it, cards))
	}
	return picks
}

// Admits makes the checks of a queue, which may be nil, that every request goes through.
func (q *Queue) Admits() Reason {
	switch {
	case q == nil:
		return NoQueue
	case !q.Leaf:
		return NotLeaf
	case !q.Open:
		return NotOpen
	}
	return Yes
}

// In returns the job if it is in the queue, and nil otherwise: what a job has in
// another queue doesn't help it.
func (j *Job) In(q *Queue) *Job {
	if j == nil || j.Queue != q {
		return nil
	}
	return j
}

// Pick is the alternative that an item of a task is to be charged on.
type Pick struct {
	it   *Item // of the job, that the charge is to count against; nil: none that it has
	at   int   // index of the card in it.Alts or, if it is nil, in what the task lists; -1: it isn't listed
	Card int32 // -1: none has room
}

// mayChargeItem decides on one item of a task, which counts against it: which of its
// alternatives have room.
func (a *Answer) mayChargeItem(q *Queue, index int, ui *UseItem, it *Item, cards *Set) Pick {
	p := Pick{it: it, Card: -1}
	var best Option
	for k, card := range ui.Alts.Cards {
		if cards != nil && !ui.Alts.Anywhere && !cards.Has(card) {
			a.Options = append(a.Options, Option{Item: index, Dim: card, Why: NotAllowed})
			continue
		}
		at := it.index(ui.Alts, k)
		r := q.itemRoom(it, at, card, ui.Amount)
		r.Item = index
		firm := r.Why == FirmElsewhere
		if firm && best.Level == nil || !firm && (best.Why == FirmElsewhere || r.roomier(&best)) {
			best = r // a card that the job can't use explains only where there is no other
		}
		if !firm && ui.Amount <= r.Room {
			r.Why = Yes
			if p.Card < 0 {
				p.Card, p.at = card, at
			}
		}
		a.Options = append(a.Options, r)
	}
	switch {
	case p.Card >= 0 || !a.OK(): // it has room, or something before it failed first
	case best.Level == nil: // no alternative is among cards
		a.Reason, a.Lack.Item = NotOnCard, index
	default:
		a.lacks(LacksCards, ui.Amount, best)
	}
	return p
}

// index returns where the card at an index of alternatives stands in the item, which has
// all of them; without an item, in the alternatives.
func (it *Item) index(alts *Alternatives, at int) int {
	if it == nil || it.Alts == alts {
		return at
	}
	return it.Alts.Index(alts.Cards[at])
}

// itemRoom returns the room for an amount on a card that counts against an item of the
// job, which may be nil. at is the card's index in the item.
func (q *Queue) itemRoom(it *Item, at int, card int32, amount int64) Option {
	var held, moving int64
	switch {
	case it == nil: // the job needs no such card: nothing is held for the task
	case it.Spreads: // what is held on other cards may stay there
		held = it.Spread[at]
	case at == int(it.At): // the hold is here
		held = it.Held
	case it.Charges > 0: // the first of the job's tasks has chosen another card
		return Option{Dim: card, Why: FirmElsewhere, Level: q, Limit: q.Cells[card].Limit}
	default: // this task would be the first: the hold comes with it
		moving = it.Held
	}
	return q.chargeRoom(card, amount, held, moving)
}

// count limits r to what can be counted in a queue, whatever the limits are. It does so only
// for an amount that can't be: others keep the room that limits leave. held is a part of the
// amount that the queue has already, and what is moving comes as a whole or not at all.
// Without it one queue could ask for so much, of what nothing limits, that the sums of all
// are no numbers any more. So
//
//   - the sum of a tree stays below LimitExact: a request for more is refused;
//   - but a queue may always come to ownExact, whatever the others have. So what one queue
//     has got never refuses another one what a cluster can have.
func (r *Option) count(q *Queue, amount, held, moving int64) {
	root := q.root()
	there := root.Cells[r.Dim].Full()
	room, level, limit := LimitExact-1-there, root, LimitExact-1
	if own := min(ownExact-1-q.Cells[r.Dim].Full(), MostSum-there); own > room {
		room, level, limit = own, q, ownExact-1
	}
	if held > 0 {
		room = max(room, 0)
	}
	room += held
	if moving > room { // all or nothing
		room = min(room, 0)
	}
	if amount > room && room < r.Room {
		r.Why, r.Room, r.Level, r.Limit = TooLarge, room, level, limit
	}
}

// chargeRoom returns how much may be charged if the job holds some of it already, when an
// amount is asked for. At every level the limit is compared with two amounts:
//
//   - hard: what is charged stays within the limit;
//   - fullFree: so does what is charged and held together. What the job holds is part of
//     that already, so only what it charges beyond its hold needs free room.
//
// The second is more than the invariants demand, which let elastic charges be where
// another job's hold is. A task may not take a promised card; a job may be promised one
// that another uses beyond its min, and gets it when that one ends.
//
// In the example at the top of this file hard is 5 - 4 = 1, and fullFree 5 - (4 + 1) = 0. The
// room of a task of j is min(1, 1 + 0) = 1, that of other tasks min(1, 0) = 0.
//
// A hold that is moving comes here from another card, and there must be free room for all of
// it. A job holds 3 on A, say. Its first task asks for 1 B. Then its other tasks must be on B,
// too, so 3 B have to be free: with 2 the task is refused, although it asks for 1.
func (q *Queue) chargeRoom(dim int32, amount, held, moving int64) Option {
	r := Option{Dim: dim, Why: OverCapacity, Room: Unlimited, Level: q, Limit: Unlimited}
	for level := q; level != nil; level = level.Parent {
		c := &level.Cells[dim]
		if c.Limit == Unlimited {
			continue
		}
		hard, fullFree, why := c.Limit-c.Allocated, c.Limit-c.Full(), OverCapacity
		if held > 0 {
			// fullFree is negative where others use more than their mins, or the limit was
			// lowered. That takes nothing from the hold: to charge it raises no sum.
			fullFree = held + max(fullFree, 0)
		}
		if fullFree < hard { // the cards are there, and held for other jobs or items
			why = Promised
		}
		if moving > 0 && moving > hard && fullFree > 0 {
			why = HoldTooLarge
		}
		if moving > fullFree { // all or nothing
			fullFree = min(fullFree, 0)
		}
		r.take(min(hard, fullFree), level, why)
	}
	r.count(q, amount, held, moving)
	return r
}

// match returns the item of the job, which may be nil, that the next item of a task counts
// against; nil if there is none. It is one whose list has all of the task's alternatives; of
// an implicit item it must be the same list. Of several it is, by the first rule that decides:
//
//   - an item of the min rather than an implicit one;
//   - one with the same list and, of those, the same unit;
//   - one with a hold;
//   - the one with the fewest alternatives;
//   - the first.
//
// A job needs A:2 and A|B:3, say. A task of A counts against the first item, and one of
// A|B against the second. One of B counts against the second, too: its list has B. One of
// B|C counts against none, since no list has both.
//
// An item whose charges are on a card that the task doesn't list is passed over. So are
// those that the task counts against already: taken has a bit for each, of the first 64.
func (j *Job) match(alts *Alternatives, unit int64, taken *uint64) (best *Item) {
	if j == nil {
		return nil // nothing is held for the task
	}
	at := 0
	for i, it := range j.Items {
		if i < 64 && *taken>>i&1 != 0 || it.Implicit && it.Alts != alts || !it.Alts.contains(alts) {
			continue
		}
		if it.Alts != alts && it.Bound() && alts.Index(it.Alts.Cards[it.At]) < 0 {
			continue
		}
		if best == nil || it.before(best, alts, unit) {
			best, at = it, i
		}
	}
	if best != nil && at < 64 {
		*taken |= 1 << at
	}
	return best
}

// before reports whether a task with these alternatives counts against it rather
// than against other, which stands before it in the job.
func (it *Item) before(other *Item, alts *Alternatives, unit int64) bool {
	if it.Implicit != other.Implicit {
		return other.Implicit
	}
	if same := it.Alts == alts; same != (other.Alts == alts) {
		return same
	} else if same && (it.Unit == unit) != (other.Unit == unit) {
		return it.Unit == unit
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
	for i, is := range u.Items {
		it := j.match(is.Alts, is.Amount, &taken)
		held := slices.IndexFunc(is.Alts.Cards, func(card int32) bool { return it != nil && it.HeldAt(it.Alts.Index(card)) > 0 })
		do(i, is.Alts.Cards[max(held, 0)])
	}
}
