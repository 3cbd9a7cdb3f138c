package book

// What is counted: for every queue and dimension four numbers, in a Cell. An example is a
// limit of 8 cards, a job that needs 4 of which 1 is charged, and another job that needs 1
// and is charged 3:
//
//	Limit 8, Allocated 1+3, Held 3, Elastic 2
//	floor = 4 - 2 + 3 = 5, what both jobs need: a job of 3 may still be reserved
//	full  = 4 + 3     = 7, what is charged or held: one card may still be charged
//	                    beyond what is held

// Unlimited is the limit and the room where there is none.
const Unlimited = int64(1<<63 - 1)

// Every single amount is below LimitExact, where integers stop being exact in a float64.
// Sums are larger only where that keeps one queue from another's way, see Option.count.
const (
	LimitExact = int64(1) << 53
	ownExact   = LimitExact / 2   // what a queue may come to, whatever others have
	mostForced = int64(1)<<60 - 1 // what runs already in one queue
	MostSum    = int64(1)<<62 - 1 // any sum; two of them are an int64
)

// The dimensions of cpu and memory. All others are cards.
const (
	CPU    = int32(0)
	Memory = int32(1)
)

// Book is a tree of queues.
type Book struct {
	Dims int // how many dimensions there are

	top     []*Queue // those without a parent
	emptied []*Queue // that may be orphans without records by the end of a change
}

// Cell is what one queue has and uses in one dimension.
type Cell struct {
	Limit     int64 // Unlimited: none
	Allocated int64 // sum of the charges
	Held      int64 // sum of the holds
	Elastic   int64 // the part of Allocated that no job's min covers, of reserved jobs
}

// Floor is what jobs need: what they use of their mins, and what is held for them.
func (c *Cell) Floor() int64 { return c.Allocated - c.Elastic + c.Held }

// Full is what tasks use, and what is held for jobs.
func (c *Cell) Full() int64 { return c.Allocated + c.Held }

// Over reports whether the queue uses more than its limit, or promised to: the limit was
// lowered, or pods ran already.
func (c *Cell) Over() bool {
	return c.Limit != Unlimited && (c.Allocated > c.Limit || c.Floor() > c.Limit)
}

// addSaturated adds amounts of records that nobody has added up yet. So Check sees a sum that
// is too large also where it is no int64.
func (c *Cell) addSaturated(allocated, held, elastic int64) {
	c.Allocated = AddSaturated(c.Allocated, allocated)
	c.Held = AddSaturated(c.Held, held)
	c.Elastic = AddSaturated(c.Elastic, elastic)
}

// Queue is a node of the tree. Amounts of a leaf count in every queue above.
type Queue struct {
	// What a change reads comes first: it is one cache line.
	Cells  []Cell
	Parent *Queue
	Open   bool // it and every queue above
	Leaf   bool
	Gone   bool // no longer in the book; handles may still point here
	Empty  bool // nothing of its capability was configured
	Orphan bool // left out by the queues that came last, and kept for its records
	Tag    any  // package quota's record

	Real     []int64 // see SetLimits
	Deserved []int64

	Children []*Queue // in no order
	at       int      // among the children of its parent
	Jobs     int      // records
	Holders  int      // jobs with a hold, here and in the queues below
}

// add changes the amounts of a dimension at every level.
func (q *Queue) add(dim int32, allocated, held, elastic int64) {
	for ; q != nil; q = q.Parent {
		c := &q.Cells[dim]
		c.Allocated += allocated
		c.Held += held
		c.Elastic += elastic
	}
}

// root returns the queue at the top, which sums at least what those below it do.
func (q *Queue) root() *Queue {
	for q.Parent != nil {
		q = q.Parent
	}
	return q
}

// AddSaturated adds two amounts, [Unlimited] at most.
func AddSaturated(a, b int64) int64 {
	if b > 0 && a > Unlimited-b {
		return Unlimited
	}
	return a + b
}
