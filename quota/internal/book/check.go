package book

import "slices"

// The invariants of the package comment, as code. The sums are made anew from the records,
// and compared with those that the operations have kept.

// Rule is an invariant. The order is that of the package comment, which has their texts.
type Rule uint8

const (
	SumsAgree Rule = iota
	InRange
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
	Want  int64 // what it should be
}

// Check recomputes everything from the records, and returns what doesn't agree. The queues
// and jobs are those that the caller has.
func (b *Book) Check(queues []*Queue, jobs func(yield func(*Job) bool)) []Violation {
	c := checker{Book: b, want: make(map[*Queue]*Queue, len(queues))}
	linked := b.TopDown()
	c.equal(Violation{Dim: -1}, Belongs, int64(len(linked)), int64(len(queues)))
	for i, q := range linked {
		want := *q
		want.Cells, want.Parent, want.Jobs = slices.Clone(q.Cells), c.want[q.Parent], 0
		c.want[q], linked[i] = &want, &want
	}
	sound := true
	addUp(linked, func(yield func(*Job) bool) {
		for j := range jobs {
			if !c.job(j) {
				sound = false
				continue
			}
			own := *j
			own.Queue = c.want[j.Queue]
			own.Queue.Jobs++
			yield(&own)
		}
	})
	if !sound { // no sum can be right
		return c.found
	}
	for _, q := range queues {
		c.queue(q)
	}
	return c.found
}

// checker is the work of one Check.
type checker struct {
	*Book
	want  map[*Queue]*Queue // with the sums of the records
	found []Violation
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

// draw checks that an amount covers no more than itself.
func (c *checker) draw(v Violation, d Coverage) {
	if d.Amount < 0 || d.Covered < 0 || d.Covered > d.Amount {
		v.Got, v.Want = d.Covered, d.Amount
		c.is(v, InRange)
	}
}

// need checks that what is held and what charges cover add up to the min.
func (c *checker) need(v Violation, needed, held, covered int64) {
	c.draw(v, Coverage{Amount: needed, Covered: held})
	c.equal(v, MinIsHeld, covered+held, needed)
}

// job checks a job, and reports whether its amounts can be added up: its queue is there, and
// its list of tasks ends.
func (c *checker) job(j *Job) bool {
	v, found := Violation{Queue: j.Queue, Job: j, Dim: -1}, len(c.found)
	if c.want[j.Queue] == nil || j.Gone || !j.Reserved && j.Tasks == 0 {
		c.is(v, Belongs)
	}
	n := int32(0)
	var last *Task
	for t := j.First; t != nil && n <= j.Tasks; last, t = t, t.Next {
		n++
		v := v
		v.Task = t
		// The list runs in both directions: taking a task out follows either.
		if t.Job != j || t.prev != last || last != nil && last.order >= t.order || t.leaving {
			c.is(v, Belongs)
		}
		for _, d := range t.Charges {
			if v.Alts = d.Alts; d.Card < 0 || int(d.Card) >= c.Dims { // the book has no such card
				c.is(v, Belongs)
			}
		}
	}
	if n == j.Tasks && j.last != last {
		c.is(v, Belongs)
	}
	if c.equal(v, Belongs, int64(n), int64(j.Tasks)); len(c.found) > found {
		return false
	}
	c.amounts(v, j)
	return true
}

// amounts checks what the tasks of a job are charged, and what is held for it.
func (c *checker) amounts(v Violation, j *Job) {
	if j.Holds() != j.holding {
		c.is(v, SumsAgree)
	}
	var plain Plain           // what charges cover
	sums := map[*Item]*Item{} // of each item: what its charges cover, and how many these are
	for _, it := range j.Items {
		sums[it] = new(Item)
	}
	for t := j.First; t != nil; t = t.Next {
		v := v
		v.Task = t
		t.each(func(dim int32, d *Coverage) {
			v.Dim = dim
			it := d.Item
			c.draw(v, *d)
			// What the min could cover is remembered, where a rollback looks for it.
			listed := j.lacking[place{it, dim}]
			if at, found := find(listed, t.order); j.lacks(dim, d) && (!found || listed[at].Coverage != d) {
				c.equal(v, MinIsHeld, d.Covered, d.Amount)
			}
			switch sum := sums[it]; {
			case sum != nil:
				at := it.Alts.Index(dim)
				if at < 0 || !it.Spreads && at != int(it.At) {
					c.is(v, OneCard)
				}
				sum.Min = AddSaturated(sum.Min, d.Covered)
				sum.Charges++
			// The item is of another job, or was replaced when the job got another min.
			case it != nil:
				c.is(v, Belongs)
			case dim <= Memory:
				plain[dim] = AddSaturated(plain[dim], d.Covered)
			default: // no item, no min: so nothing of the charge can be covered
				c.equal(v, MinIsHeld, d.Covered, 0)
			}
		})
	}
	for dim, covered := range plain {
		v := v
		v.Dim = int32(dim)
		c.need(v, j.Min[dim], j.Held[dim], covered)
		if !j.Reserved {
			c.equal(v, MinIsHeld, j.Min[dim], 0)
		}
	}
	for _, it := range j.Items {
		v := v
		v.Alts = it.Alts
		c.need(v, it.Min, it.Held, sums[it].Min)
		c.equal(v, Belongs, int64(it.Charges), int64(sums[it].Charges))
		held := int64(0)
		for at := range it.Alts.Cards {
			held += it.HeldAt(at)
			c.equal(v, InRange, min(it.HeldAt(at), 0), 0)
		}
		c.equal(v, OneCard, held, it.Held)
		if it.Implicit || !j.Reserved {
			c.equal(v, MinIsHeld, it.Min, 0)
		}
	}
}

// queue compares what a queue counts with the sums.
func (c *checker) queue(q *Queue) {
	v, want := Violation{Queue: q, Dim: -1}, c.want[q]
	if siblings := *c.siblings(q); want == nil || q.Gone || q.at >= len(siblings) || siblings[q.at] != q {
		c.is(v, Belongs)
	}
	// An orphan is kept for its jobs, and nothing was put below it.
	if q.Orphan && q.Jobs == 0 || !q.Orphan && q.Parent != nil && q.Parent.Orphan {
		c.is(v, Belongs)
	}
	if want == nil {
		return
	}
	c.equal(v, Belongs, int64(q.Jobs), int64(want.Jobs))
	c.equal(v, SumsAgree, int64(q.Holders), int64(want.Holders))
	for dim := range q.Cells {
		got, want := &q.Cells[dim], &want.Cells[dim]
		v.Dim = int32(dim)
		c.equal(v, SumsAgree, got.Allocated, want.Allocated)
		c.equal(v, SumsAgree, got.Held, want.Held)
		c.equal(v, SumsAgree, got.Elastic, want.Elastic)
		if least := min(got.Allocated, got.Held, got.Elastic, got.Floor(), got.Limit); least < 0 {
			c.equal(v, InRange, least, 0)
		}
		if full := AddSaturated(got.Allocated, got.Held); full > MostSum {
			c.equal(v, InRange, full, MostSum)
		}
	}
}
