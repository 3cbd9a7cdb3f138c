package book

import "slices"

// The queues change: limits, parents, dimensions. Then the tree is linked anew, and all
// sums are made from the records.

// Below returns the queue and those below it.
func (q *Queue) Below() map[*Queue]bool {
	below := map[*Queue]bool{}
	for _, q := range topDown([]*Queue{q}) {
		below[q] = true
	}
	return below
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
	b.top = nil
	for _, q := range queues {
		q.Children = q.Children[:0]
	}
	for _, q := range queues {
		b.link(q)
	}
	// A queue whose only children are orphans takes jobs again: orphans wait for their end.
	for _, q := range queues {
		q.Leaf = !slices.ContainsFunc(q.Children, func(child *Queue) bool { return !child.Orphan })
	}
}

// siblings returns the children of the queue's parent, or the queues at the top.
func (b *Book) siblings(q *Queue) *[]*Queue {
	if q.Parent == nil {
		return &b.top
	}
	return &q.Parent.Children
}

// link puts a queue below its parent.
func (b *Book) link(q *Queue) {
	siblings := b.siblings(q)
	q.at = len(*siblings)
	*siblings = append(*siblings, q)
}

// TopDown returns the queues level by level: sums go through them backwards, limits forwards.
func (b *Book) TopDown() []*Queue { return topDown(slices.Clone(b.top)) }

func topDown(queues []*Queue) []*Queue {
	for i := 0; i < len(queues); i++ {
		queues = append(queues, queues[i].Children...)
	}
	return queues
}

// Widen gives every queue the cells of so many dimensions.
func (b *Book) Widen(dims int) {
	b.Dims = dims
	for _, q := range b.TopDown() {
		q.Cells = append(q.Cells, make([]Cell, dims-len(q.Cells))...)
	}
}

// Prune removes the orphans that have no records of their own any more, and returns
// them. What is below one comes below the queue above it, where it counts already. Other
// queues are not looked at: orphans may be many, and go one by one.
func (b *Book) Prune() (gone []*Queue) {
	for _, q := range b.emptied {
		if !q.Orphan || q.Jobs > 0 || q.Gone {
			continue
		}
		q.Gone = true
		gone = append(gone, q)
		siblings := b.siblings(q)
		n := len(*siblings) - 1
		last := (*siblings)[n]
		(*siblings)[q.at], last.at = last, q.at
		*siblings = slices.Delete(*siblings, n, n+1)
		for _, child := range q.Children {
			child.Parent = q.Parent
			b.link(child)
		}
	}
	b.emptied = b.emptied[:0]
	return gone
}

// Total makes the sums of every queue from the records of jobs: those of a leaf first, and
// then, from the bottom up, those of its children for every parent.
func (b *Book) Total(jobs func(yield func(*Job) bool)) { addUp(b.TopDown(), jobs) }

func addUp(queues []*Queue, jobs func(yield func(*Job) bool)) {
	for _, q := range queues {
		for i := range q.Cells {
			q.Cells[i] = Cell{Limit: q.Cells[i].Limit}
		}
		q.Holders = 0
	}
	for j := range jobs {
		// Queues count jobs with a hold, so each job remembers whether it is counted.
		if j.holding = j.Holds(); j.holding {
			j.Queue.Holders++
		}
		j.Each(func(dim int32, allocated, held, elastic int64) {
			j.Queue.Cells[dim].addSaturated(allocated, held, elastic)
		})
	}
	for _, q := range slices.Backward(queues) {
		if q.Parent != nil {
			q.Parent.Holders += q.Holders
			for dim, c := range q.Cells {
				q.Parent.Cells[dim].addSaturated(c.Allocated, c.Held, c.Elastic)
			}
		}
	}
}
