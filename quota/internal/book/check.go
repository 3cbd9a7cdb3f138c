package book

// The invariants of the package comment, as code. The sums are made anew from the records,
// and compared with those that the operations have kept.

// Rule is an invariant. The order is that of the package comment, which has their texts.
type Rule uint8

const (
	SumsAgree Rule = iota
	InRange
	WithinLimit
	MinIsHeld
	OneCard
	Belongs
)

// Violation is something in a book that can't be.
type Violation struct {
	Rule  Rule
	Queue *Queue // nil where only a task or job is concerned
	Job   *Job
	Task  *Task
	Dim   int32         // -1: none
	Alts  *Alternatives // nil: none
	Got   int64
	Want  int64 // what it should be, or the limit
}

// Check recomputes everything from the records, and returns what doesn't agree. The queues
// and jobs are those that the caller has.
func (b *Book) Check(queues []*Queue, jobs func(yield func(*Job) bool)) []Violation {
	c := checker{b: b, sums: make(map[*Queue][]Cell, len(queues)), jobs: make(map[*Queue]int, len(queues)), holds: map[*Queue]int{}}
	linked := len(b.top)
	for _, q := range queues {
		c.sums[q] = make([]Cell, len(q.Cells))
		linked += len(q.Children)
	}
	c.equal(Violation{Dim: -1}, Belongs, int64(linked), int64(len(queues)))
	for j := range jobs {
		c.job(j)
	}
	c.rollUp(queues)
	for _, q := range queues {
		c.queue(q)
	}
	return c.found
}

// checker is the work of one Check.
type checker struct {
	b     *Book
	sums  map[*Queue][]Cell // of the records
	jobs  map[*Queue]int
	holds map[*Queue]int // jobs with a hold

	listed map[listed]bool // what the job remembers to lack something; false: out of order
	found  []Violation
}

type listed struct {
	place
	*Coverage
}

func (c *checker) is(v Violation, against Rule) {
	v.Rule = against
	c.found = append(c.found, v)
}

func (c *checker) equal(v Violation, against Rule, got, want int64) {
	if got != want {
		v.Got, v.Want = got, want
		c.is(v, against)
	}
}

// A record is described by a Violation that is filled in step by step: of a job first, then
// of one of its tasks, and then of an amount. Each step makes a copy.

// onDim returns the violation as one of a dimension.
func (v Violation) onDim(dim int32) Violation {
	v.Dim = dim
	return v
}

// onAlts returns the violation as one of a list of alternatives.
func (v Violation) onAlts(alts *Alternatives) Violation {
	v.Alts = alts
	return v
}

// job checks a job and its tasks, and adds them to the sums of its queue.
//
// Any number of a record may be wrong. A list of tasks that runs in a circle ends at the
// number of tasks, and a queue that the book doesn't have gets sums of its own.
func (c *checker) job(j *Job) {
	v := Violation{Queue: j.Queue, Job: j, Dim: -1}
	sums := c.sums[j.Queue]
	if sums == nil || j.Gone || !j.Reserved && j.Tasks == 0 {
		c.is(v, Belongs)
		if sums == nil {
			sums = make([]Cell, c.b.Dims)
		}
	}
	c.jobs[j.Queue]++
	if j.Holds() {
		c.holds[j.Queue]++
	}
	if j.Holds() != j.holding {
		c.is(v, SumsAgree)
	}
	// What is covered is added up here, and compared with what the record says.
	var plain Plain
	perItem := make(map[*Item]*itemSum, len(j.Items))
	for _, it := range j.Items {
		perItem[it] = &itemSum{}
	}
	c.listed = map[listed]bool{}
	for at, lacks := range j.lacks {
		for i, l := range lacks {
			c.listed[listed{at, l.Coverage}] = i == 0 || lacks[i-1].order <= l.order
		}
	}
	n := 0
	var before *Task
	for t := j.First; t != nil; before, t = t, t.Next {
		if n++; n > int(j.Tasks) {
			break
		}
		// The list runs in both directions: taking a task out follows either.
		if t.prev != before || before != nil && before.order >= t.order || t.leaving {
			v := v
			v.Task = t
			c.is(v, Belongs)
		}
		c.task(v, t, sums, perItem)
		for dim := range plain {
			plain[dim] += t.Plain[dim].Covered
		}
	}
	if n == int(j.Tasks) && j.last != before {
		c.is(v, Belongs)
	}
	c.equal(v, Belongs, int64(n), int64(j.Tasks))
	for dim, covered := range plain {
		c.need(v.onDim(int32(dim)), j.Min[dim], j.Held[dim], covered)
		sums[dim].Held += j.Held[dim]
	}
	for _, it := range j.Items {
		c.item(v.onAlts(it.Alts), it, perItem[it], sums)
	}
	if !j.Reserved {
		c.equal(v, MinIsHeld, j.Min[CPU]+j.Min[Memory], 0)
	}
}

// itemSum is what the charges of an item come to.
type itemSum struct {
	covered   int64
	charges   int32
	elsewhere int32 // on another card than the item's
}

// task checks a task, and adds its charges to the sums of the queue and of the items that
// they count against.
func (c *checker) task(v Violation, t *Task, sums []Cell, perItem map[*Item]*itemSum) {
	j := t.Job
	v.Task = t
	if v.Job != j {
		c.is(v, Belongs)
	}
	for dim := range t.Plain {
		d := &t.Plain[dim]
		c.draw(v.onDim(int32(dim)), *d)
		c.remembered(v.onDim(int32(dim)), j, place{nil, int32(dim)}, d)
		sums[dim].charge(j, *d)
	}
	for i := range t.Charges {
		ch := &t.Charges[i]
		v := v.onAlts(ch.Alts)
		if ch.Card < 0 || int(ch.Card) >= len(sums) {
			c.equal(v, Belongs, int64(ch.Card), -1) // the book has no such card
			continue
		}
		c.draw(v.onAlts(nil).onDim(ch.Card), ch.Coverage)
		sums[ch.Card].charge(j, ch.Coverage)
		sum := perItem[ch.Item]
		switch {
		// No item, no min: so nothing of the charge can be covered.
		case ch.Item == nil:
			c.equal(v, MinIsHeld, ch.Covered, 0)
			continue
		// The item is of another job, or was replaced when the job got another min.
		case sum == nil:
			c.equal(v, Belongs, 0, 1)
			continue
		case ch.Item.Alts.Index(ch.Card) < 0, !ch.Item.Spreads && ch.Item.Alts.Cards[ch.Item.At] != ch.Card:
			sum.elsewhere++
		}
		c.remembered(v, j, place{ch.Item, ch.Card}, &ch.Coverage)
		sum.covered += ch.Covered
		sum.charges++
	}
}

// charge adds a charge of a job.
func (c *Cell) charge(j *Job, d Coverage) {
	c.Allocated += d.Amount
	if j.Reserved {
		c.Elastic += d.Amount - d.Covered
	}
}

// draw checks that an amount covers no more than itself.
func (c *checker) draw(v Violation, d Coverage) {
	if d.Amount < 0 || d.Covered < 0 || d.Covered > d.Amount {
		v.Got, v.Want = d.Covered, d.Amount
		c.is(v, InRange)
	}
}

// remembered checks that the job remembers a charge that its min could cover, and doesn't.
func (c *checker) remembered(v Violation, j *Job, at place, d *Coverage) {
	if *j.minOf(at.it, at.dim) > 0 && !c.listed[listed{at, d}] {
		c.equal(v, MinIsHeld, d.Covered, d.Amount)
	}
}

// need checks that what is held and what charges cover add up to the min.
func (c *checker) need(v Violation, needed, held, covered int64) {
	c.draw(v, Coverage{needed, held})
	c.equal(v, MinIsHeld, covered+held, needed)
}

// item checks an item, and adds what it holds to the sums of the queue, card by card.
func (c *checker) item(v Violation, it *Item, sum *itemSum, sums []Cell) {
	c.need(v, it.Min, it.Held, sum.covered)
	c.equal(v, Belongs, int64(it.Charges), int64(sum.charges))
	c.equal(v, OneCard, int64(sum.elsewhere), 0)
	var held int64
	for at, dim := range it.Alts.Cards {
		amount := it.HeldAt(at)
		if amount < 0 {
			c.draw(v.onAlts(nil).onDim(dim), Coverage{0, amount})
		}
		held += amount
		sums[dim].Held += amount
	}
	c.equal(v, OneCard, held, it.Held)
	if it.Implicit || !v.Job.Reserved {
		c.equal(v, MinIsHeld, it.Min, 0)
	}
}

// rollUp adds the sums of every queue to those of the queues above it. It doesn't use
// TopDown, which the operations use: a fault there shows as a difference.
func (c *checker) rollUp(queues []*Queue) {
	waits := make(map[*Queue]int, len(queues)) // children that aren't added yet
	for _, q := range queues {
		if q.Parent != nil {
			waits[q.Parent]++
		}
	}
	for _, q := range queues {
		if len(q.Children) > 0 {
			continue
		}
		for p := q.Parent; p != nil; q, p = p, p.Parent {
			c.holds[p] += c.holds[q]
			for dim, s := range c.sums[q] {
				sum := &c.sums[p][dim]
				sum.Allocated += s.Allocated
				sum.Held += s.Held
				sum.Elastic += s.Elastic
			}
			// Another child is still to come, and goes on from here.
			if waits[p]--; waits[p] > 0 {
				break
			}
		}
	}
}

// queue compares what a queue counts with the sums, and with its limits.
func (c *checker) queue(q *Queue) {
	v := Violation{Queue: q, Dim: -1}
	c.equal(v, Belongs, int64(q.Jobs), int64(c.jobs[q]))
	c.equal(v, SumsAgree, int64(q.Holders), int64(c.holds[q]))
	if siblings := *c.b.siblings(q); q.Gone || q.at >= len(siblings) || siblings[q.at] != q {
		c.is(v, Belongs)
	}
	for dim := range q.Cells {
		got, want, v := &q.Cells[dim], &c.sums[q][dim], v.onDim(int32(dim))
		c.equal(v, SumsAgree, got.Allocated, want.Allocated)
		c.equal(v, SumsAgree, got.Held, want.Held)
		c.equal(v, SumsAgree, got.Elastic, want.Elastic)
		if least := min(got.Allocated, got.Held, got.Elastic, got.Floor(), got.Limit); least < 0 {
			c.equal(v, InRange, least, 0)
		}
		if got.Full() > MostSum {
			c.equal(v, InRange, got.Full(), MostSum)
		}
		// A limit may be exceeded, but not unmarked: a mark is what keeps others out.
		if got.exceeded() != q.over[int32(dim)] {
			v.Got, v.Want = max(got.Allocated, got.Floor()), got.Limit
			c.is(v, WithinLimit)
		}
	}
}
