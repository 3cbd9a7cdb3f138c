package book

// Reason says why a request is refused.
type Reason uint8

const (
	Yes       Reason = iota // it is not
	NoQueue                 // there is no queue
	NotLeaf                 // the queue has children, so it takes no jobs
	NotOpen                 // the queue, or a queue above it, is not open
	Invalid                 // it can't be told what is requested
	NotOnCard               // none of the alternatives is among the cards that the caller allows
	Empty                   // the queue's capability was never configured
	LacksCPU
	LacksMemory
	LacksCards
)

// Why says what leaves too little room.
type Why uint8

const (
	Fits          Why = iota
	OverCapacity      // the charges would exceed a limit; for a job, the charges and the holds
	Promised          // the rest is held for other jobs; without these holds a job would fit
	FirmElsewhere     // other tasks of the job are on another card already
	NotAllowed        // the card is not among those that the caller allows
	HoldTooLarge      // the job's hold would have to move here as a whole, and doesn't fit beside the charges
	NotTogether       // the tasks of a gang must be on one card, and it hasn't room for all
)

// Answer is the answer to a question. Its memory serves many questions.
type Answer struct {
	Reason  Reason
	Lack    Lack // of LacksCPU, LacksMemory and LacksCards; of NotOnCard its Item
	Options []Option
}

// Lack is the numbers of what has too little room.
type Lack struct {
	Item      int   // the index of the item; of cards
	Dim       int32 // the alternative with the most room, whose numbers these are; cpu or memory; -1: they are sums of all alternatives
	Why       Why
	Requested int64
	Room      int64
	Level     *Queue // with the least room
	Limit     int64  // of Level
}

// Option is an alternative of an item, and the room there.
type Option struct {
	Item  int // its index
	Dim   int32
	Why   Why
	Room  int64
	Level *Queue // with the least room; nil if it isn't allowed
	Limit int64  // of Level
}

// OK reports whether the answer is yes.
func (a *Answer) OK() bool { return a.Reason == Yes }

// Begin clears an answer for another question.
func (a *Answer) Begin() { a.Reason, a.Lack, a.Options = Yes, Lack{}, a.Options[:0] }

func (a *Answer) refuse(reason Reason) bool {
	a.Reason = reason
	return false
}

// lacks refuses for want of room.
func (a *Answer) lacks(reason Reason, item int, dim int32, requested int64, r room, why Why) bool {
	a.Reason = reason
	a.Lack = Lack{Item: item, Dim: dim, Why: why, Requested: requested, Room: r.amount, Level: r.level, Limit: r.limit(dim)}
	return false
}

// lacksCards refuses for want of room on any alternative of the item whose options are
// the last ones. The numbers are those of its roomiest alternative.
func (a *Answer) lacksCards(item int, dim int32, requested int64, r room) bool {
	var why Why
	for i := len(a.Options) - 1; i >= 0 && a.Options[i].Item == item; i-- {
		if a.Options[i].Dim == dim {
			why = a.Options[i].Why
		}
	}
	return a.lacks(LacksCards, item, dim, requested, r, why)
}

// option adds an option.
func (a *Answer) option(item int, dim int32) *Option {
	n := len(a.Options)
	if n < cap(a.Options) {
		a.Options = a.Options[:n+1]
	} else {
		a.Options = append(a.Options, Option{})
	}
	o := &a.Options[n]
	*o = Option{Item: item, Dim: dim}
	return o
}

// room is the most that can be had in one dimension, and the level that leaves
// the least.
type room struct {
	amount int64
	level  *Queue
}

// take makes r the smaller of itself and amount at level.
func (r *room) take(amount int64, level *Queue) {
	if r.level == nil || amount < r.amount {
		r.amount, r.level = amount, level
	}
}

func (r *room) limit(dim int32) int64 { return r.level.Cells[dim].Limit }

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
