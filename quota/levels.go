package quota

// cell is what one queue has and uses in one dimension. It is half a cache line.
type cell struct {
	limit     int64 // Unlimited: none
	allocated int64 // sum of the charges
	held      int64 // sum of the holds: what the seed calls inqueue
	elastic   int64 // the part of allocated that no job's min covers, of jobs whose min is known
}

func (c *cell) floor() int64 { return c.allocated - c.elastic + c.held }
func (c *cell) full() int64  { return c.allocated + c.held }

// free returns what the limit leaves of the floor.
func (c *cell) free() int64 {
	if c.limit == Unlimited {
		return Unlimited
	}
	return c.limit - c.floor()
}

// exceeded reports whether the queue uses more than its limit, or promised to.
func (c *cell) exceeded() bool {
	return c.limit != Unlimited && (c.allocated > c.limit || c.floor() > c.limit)
}

// queue is a node of the tree. Amounts of a leaf count in every queue above. What
// every decision reads comes first, up to the name: it is a cache line.
type queue struct {
	cells   []cell
	parent  *queue
	open    bool // it and every queue above
	leaf    bool
	gone    bool // no longer in the ledger; handles may still point here
	empty   bool // nothing of its capability was configured
	orphan  bool
	guarded bool   // its limits leave room for guarantees, see Config.EnforceGuarantee
	arrived uint64 // the ledger's count of arrivals when a record came here last
	spec    Queue  // its name first

	entitled entitlement
	children []*queue
	jobs     int            // records, pending tasks' jobs included
	holders  int            // jobs with a hold, here and in the queues below
	over     map[int32]bool // dimensions where the limit is exceeded by what was not decided here
	refused  *[reasons]uint64
	named    *cardSet // what the quota of it or of a queue above mentions; nil: everything
	_        [16]byte // keeps the next queue's first line one line
}

// room is the most that can be had in one dimension, and the level that leaves
// the least.
type room struct {
	amount int64
	level  *queue
}

// take makes r the smaller of itself and amount at level.
func (r *room) take(amount int64, level *queue) {
	if r.level == nil || amount < r.amount {
		r.amount, r.level = amount, level
	}
}

func (r *room) limit(dim int32) int64 { return r.level.cells[dim].limit }

// floorRoom returns how much a new min may be: of the limit, what the floor
// leaves. own is what the job itself has in the floor, and what it is about to
// have; both count alike at every level.
func (q *queue) floorRoom(dim int32, own int64) (r room) {
	for ; q != nil; q = q.parent {
		free := q.cells[dim].free()
		if free != Unlimited {
			free += own
		}
		r.take(free, q)
	}
	return r
}

// unheldRoom is floorRoom if nothing were held for any job, without the level. Of own
// nothing is held either.
func (q *queue) unheldRoom(dim int32, own int64) int64 {
	amount := Unlimited
	for ; q != nil; q = q.parent {
		if c := &q.cells[dim]; c.limit != Unlimited {
			amount = min(amount, c.limit-c.allocated+c.elastic+own)
		}
	}
	return amount
}

// leastFree returns what the limits leave of the floor: floorRoom of a job that isn't
// there yet, without the level.
func (q *queue) leastFree(dim int32) int64 {
	free := q.cells[dim].free()
	for q = q.parent; q != nil; q = q.parent {
		free = min(free, q.cells[dim].free())
	}
	return free
}

// chargeRoom returns how much may be charged when held of it is promised to the
// job already: allocated stays within the limit, and so does what is allocated
// and promised. why says which of them is the narrower at the level.
func (q *queue) chargeRoom(dim int32, held int64) (r room, why Reason) {
	r, why = room{Unlimited, q}, ReasonOverCapacity
	for ; q != nil; q = q.parent {
		c := &q.cells[dim]
		if c.limit == Unlimited {
			continue
		}
		hard, free := c.limit-c.allocated, c.limit-c.full()
		if held > 0 {
			free = held + max(free, 0)
		}
		limited := ReasonOverCapacity
		if free < hard {
			hard, limited = free, ReasonPromised
		}
		if hard < r.amount {
			r, why = room{hard, q}, limited
		}
	}
	return r, why
}

// takes reports whether an amount may be charged, without the room that chargeRoom
// returns. It may deny an amount of 0.
func (q *queue) takes(dim int32, amount, held int64) bool {
	for ; q != nil; q = q.parent {
		c := &q.cells[dim]
		if hard := c.limit - c.allocated; amount > hard || amount > held && amount-held > hard-c.held {
			return false
		}
	}
	return true
}

// moveRoom returns how much may be charged on a card that a hold of another card
// has to move to: there must be room for the hold as well. why is what limits it.
func (q *queue) moveRoom(dim int32, held int64) (r room, why Reason) {
	r = room{Unlimited, q}
	for ; q != nil; q = q.parent {
		c := &q.cells[dim]
		if c.limit == Unlimited {
			continue
		}
		hard, free := c.limit-c.allocated, c.limit-c.full()
		limited := ReasonOverCapacity
		if free < hard {
			limited = ReasonPromised
		}
		if held > hard && free > 0 {
			limited = ReasonHoldTooLarge
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

// add changes the amounts of a dimension at every level.
func (q *queue) add(dim int32, allocated, held, elastic int64) {
	for ; q != nil; q = q.parent {
		c := &q.cells[dim]
		c.allocated += allocated
		c.held += held
		c.elastic += elastic
		if len(q.over) > 0 && q.over[dim] && !c.exceeded() {
			delete(q.over, dim)
		}
	}
}

// canAdd reports whether the sums stay below 2^53 when amount comes to them.
func (q *queue) canAdd(dim int32, amount int64) bool {
	for q.parent != nil {
		q = q.parent // every level sums at least what those below it do
	}
	return q.cells[dim].full()+amount < limitExact
}

// limitExact is where integers stop being exact in a float64.
const limitExact = int64(1) << 53
