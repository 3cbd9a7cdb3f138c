package book

// Reason says why a request is refused.
type Reason uint8

const (
	Yes       Reason = iota // it is not
	NoQueue                 // there is no queue
	NotLeaf                 // the queue has children, so it takes no jobs
	NotOpen                 // the queue, or a queue above it, is not open
	Invalid                 // the request is invalid, and has no amounts
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
	OverCapacity      // the charges would exceed a limit; for a job, the charges that count (see [Cell.Floor]) and the holds
	Promised          // the rest is held for other jobs or, of a task, other items of its job; a job would fit without these holds, a task need not
	FirmElsewhere     // other tasks of the job are on another card already
	NotAllowed        // the card is not among those that the caller allows
	HoldTooLarge      // the job's hold would have to move here as a whole, and doesn't fit beside the charges
	NotTogether       // the tasks of a gang must be on one card, and it hasn't room for all: the room is that before the gang
)

// Answer is the answer to a question. Its memory serves many questions.
type Answer struct {
	Reason  Reason
	Lack    Lack     // of LacksCPU, LacksMemory and LacksCards; of NotOnCard only its Item
	Options []Option // the alternatives that were looked at
	Brief   bool     // set by who asks for the reason only: Options stays empty
}

// Lack is the numbers of what has too little room.
type Lack struct {
	Item      int   // the index of the item; 0 for cpu and memory
	Dim       int32 // cpu, memory, or the alternative with the most room; -1: the numbers are sums of all alternatives
	Why       Why
	Requested int64
	Room      int64
	Level     *Queue // with the least room; of sums, that of the roomiest alternative
	Limit     int64  // of Level; of sums, the sum of the alternatives'
}

// Option is an alternative of an item, and the room there.
type Option struct {
	Item  int // its index
	Dim   int32
	Why   Why // Fits: the alternative has room; MayReserve doesn't note it of an item that spreads
	Room  int64
	Level *Queue // with the least room; nil if the card isn't allowed
	Limit int64  // of Level
}

// OK reports whether the answer is yes.
func (a *Answer) OK() bool { return a.Reason == Yes }

// begin clears an answer for another question.
func (a *Answer) begin() { a.Reason, a.Lack, a.Options = Yes, Lack{}, a.Options[:0] }

func (a *Answer) refuse(reason Reason) bool {
	a.Reason = reason
	return false
}

// lacks refuses an amount for want of room.
func (a *Answer) lacks(reason Reason, item int, requested int64, r room) bool {
	a.Reason = reason
	a.Lack = Lack{Item: item, Dim: r.dim, Why: r.why, Requested: requested, Room: r.amount, Level: r.level, Limit: r.limit()}
	return false
}

// note adds an option. why is Fits if it has room.
func (a *Answer) note(item int, r room, why Why) {
	if a.Brief {
		return
	}
	n := len(a.Options)
	if n < cap(a.Options) {
		a.Options = a.Options[:n+1]
	} else {
		a.Options = append(a.Options, Option{})
	}
	a.Options[n] = Option{Item: item, Dim: r.dim, Why: why, Room: r.amount, Level: r.level, Limit: r.limit()}
}

// room is the most that can be had in one dimension.
type room struct {
	amount int64  // negative if a limit is exceeded
	level  *Queue // that leaves the least
	dim    int32
	why    Why // what limits it there
}

// take makes r the smaller of itself and an amount at a level.
func (r *room) take(amount int64, level *Queue, why Why) {
	if r.level == nil || amount < r.amount {
		r.amount, r.level, r.why = amount, level, why
	}
}

// roomier reports whether there is more room than in best, which may be zero.
func (r *room) roomier(best *room) bool { return best.level == nil || r.amount > best.amount }

func (r *room) limit() int64 {
	if r.level == nil {
		return 0
	}
	return r.level.Cells[r.dim].Limit
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
