package book

import "slices"

// A gang is all or nothing: its tasks are charged one after the other, and if one is
// refused, the journal takes the charges back. It restores amounts, holds and marks,
// which RollBack wouldn't: a hold that has moved would stay where it is. Only Job.partial
// may stay set: then RollBack looks for charges that lack something, and finds none.

// Journal learns what it takes to undo the commits of a gang. A nil journal
// learns nothing.
type Journal struct {
	cells []cellChange
	items []itemBefore
	needs []needBefore
	binds []*Job // that got an implicit item
	tasks []*Task
}

type cellChange struct {
	q                        *Queue
	dim                      int32
	allocated, held, elastic int64
	over                     []*Queue // levels that were marked before: the charge may have cleared a mark
}

type itemBefore struct {
	it     *Item
	was    Item
	spread []int64
}

type needBefore struct {
	j    *Job
	dim  int32
	held int64
}

func (u *Journal) cell(q *Queue, dim int32, allocated, held, elastic int64) {
	if u == nil {
		return
	}
	change := cellChange{q: q, dim: dim, allocated: allocated, held: held, elastic: elastic}
	for ; q != nil; q = q.Parent {
		if q.over[dim] {
			change.over = append(change.over, q)
		}
	}
	u.cells = append(u.cells, change)
}

func (u *Journal) item(it *Item) {
	if u != nil {
		u.items = append(u.items, itemBefore{it, *it, slices.Clone(it.Spread)})
	}
}

func (u *Journal) need(j *Job, dim int32) {
	if u != nil {
		u.needs = append(u.needs, needBefore{j, dim, j.Held[dim]})
	}
}

func (u *Journal) newItem(j *Job) {
	if u != nil {
		u.binds = append(u.binds, j)
	}
}

func (u *Journal) newTask(t *Task) {
	if u != nil {
		u.tasks = append(u.tasks, t)
	}
}

// Undo takes back everything since the journal was empty, the latest first.
func (u *Journal) Undo() {
	for _, t := range slices.Backward(u.tasks) {
		t.Job.remove(t)
	}
	for _, b := range slices.Backward(u.items) { // the slice of holds stays, its amounts come back
		b.was.Spread = b.it.Spread
		copy(b.it.Spread, b.spread)
		*b.it = b.was
	}
	for _, b := range slices.Backward(u.needs) {
		b.j.Held[b.dim] = b.held
	}
	for _, j := range slices.Backward(u.binds) {
		j.Items = j.Items[:len(j.Items)-1]
	}
	for _, c := range slices.Backward(u.cells) {
		c.q.add(c.dim, -c.allocated, -c.held, -c.elastic)
		for _, q := range c.over {
			q.mark(c.dim)
		}
	}
	for _, t := range u.tasks {
		t.Job.recount()
	}
	*u = Journal{}
}
