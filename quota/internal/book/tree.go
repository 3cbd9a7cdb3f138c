package book

import "slices"

// The queues change: limits, parents, dimensions. Then the tree is linked anew, and all
// sums are made from the records.

// Below returns a test whether a queue is q or below it. However many queues it is asked
// about, it goes from each to its parent once.
func (q *Queue) Below() func(*Queue) bool {
	known := map[*Queue]bool{q: true, nil: false}
	return func(other *Queue) bool {
		var path []*Queue
		is, ok := known[other]
		for !ok {
			path = append(path, other)
			other = other.Parent
			is, ok = known[other]
		}
		for _, other := range path {
			known[other] = is
		}
		return is
	}
}

// Depth returns how many queues are above.
func (q *Queue) Depth() (n int) {
	for p := q.Parent; p != nil; p = p.Parent {
		n++
	}
	return n
}

// Link makes the tree of queues, whose Parent and Orphan are set.
func (b *Book) Link(queues []*Queue) {
	b.Queues = queues
	for _, q := range queues {
		q.Children = q.Children[:0]
	}
	for _, q := range queues {
		if q.Parent != nil {
			q.Parent.Children = append(q.Parent.Children, q)
		}
	}
	b.TopDown, b.Levels = b.top(), 0
	// Level by level: sums go through TopDown backwards, limits forwards.
	for from, to := 0, len(b.TopDown); from < to; from, to = to, len(b.TopDown) {
		b.Levels++
		for _, q := range b.TopDown[from:to] {
			b.TopDown = append(b.TopDown, q.Children...)
		}
	}
	// A queue whose only children are orphans takes jobs again: orphans wait for their end.
	for _, q := range queues {
		q.Leaf = !slices.ContainsFunc(q.Children, func(child *Queue) bool { return !child.Orphan })
	}
}

// top returns the queues without a parent.
func (b *Book) top() (top []*Queue) {
	for _, q := range b.Queues {
		if q.Parent == nil {
			top = append(top, q)
		}
	}
	return top
}

// Widen gives every queue the cells of so many dimensions.
func (b *Book) Widen(dims int) {
	b.Dims = dims
	for _, q := range b.Queues {
		q.Cells = append(q.Cells, make([]Cell, dims-len(q.Cells))...)
	}
}

// Prune removes the orphans that have no records of their own any more, and returns
// them. What is below one comes below the nearest queue above it that stays, where it
// counts already.
func (b *Book) Prune() (gone []*Queue) {
	for _, q := range b.emptied {
		if q.Orphan && q.Jobs == 0 && !q.Gone {
			q.Gone = true
			gone = append(gone, q)
		}
	}
	b.emptied = b.emptied[:0]
	if len(gone) == 0 {
		return nil
	}
	isGone := func(q *Queue) bool { return q.Gone }
	b.Queues = slices.DeleteFunc(b.Queues, isGone)
	for _, q := range b.TopDown {
		if q.Parent != nil && q.Parent.Gone { // it came before, and is below one that stays
			q.Parent = q.Parent.Parent
		}
		q.Children = q.Children[:0]
	}
	b.TopDown = slices.DeleteFunc(b.TopDown, isGone)
	for _, q := range b.Queues {
		if q.Parent != nil {
			q.Parent.Children = append(q.Parent.Children, q)
		}
	}
	return gone
}

// Total makes the sums of every queue from the records of jobs: those of a leaf first, and
// then, from the bottom up, those of its children for every parent.
func (b *Book) Total(jobs func(yield func(*Job) bool)) {
	for _, q := range b.Queues {
		for i := range q.Cells {
			c := &q.Cells[i]
			c.Allocated, c.Held, c.Elastic = 0, 0, 0
		}
		q.over, q.Holders = nil, 0
	}
	for j := range jobs {
		// Queues count jobs with a hold, so each job remembers whether it is counted.
		if j.holding = j.Holds(); j.holding {
			j.Queue.Holders++
		}
		j.Each(func(dim int32, allocated, held, uncovered int64) {
			c := &j.Queue.Cells[dim]
			c.Allocated += allocated
			c.Held += held
			if j.Reserved {
				c.Elastic += uncovered
			}
		})
	}
	for _, q := range slices.Backward(b.TopDown) {
		if q.Parent != nil {
			q.Parent.Holders += q.Holders
			for dim := range q.Cells {
				q.Parent.Cells[dim].raise(&q.Cells[dim], &Cell{})
			}
		}
	}
}

// SumAfter takes the tree apart while do changes amounts, each of which then counts in its
// own queue only, and sums them up in the end. It is for so many changes that going up
// with each of them is more work. do must not ask for room.
func (b *Book) SumAfter(do func()) {
	type before struct {
		parent  *Queue
		holders int
		cells   []Cell
	}
	was := make([]before, len(b.TopDown))
	cells := make([]Cell, 0, len(b.TopDown)*b.Dims)
	for i, q := range b.TopDown {
		from := len(cells)
		cells = append(cells, q.Cells...)
		was[i] = before{q.Parent, q.Holders, cells[from:]}
		q.Parent = nil
	}
	do()
	for i, q := range slices.Backward(b.TopDown) {
		if q.Parent = was[i].parent; q.Parent != nil {
			q.Parent.Holders += q.Holders - was[i].holders
			for dim := range q.Cells {
				q.Parent.Cells[dim].raise(&q.Cells[dim], &was[i].cells[dim])
			}
		}
		q.over = nil
		q.MarkAll()
	}
}
