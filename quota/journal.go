package quota

import "slices"

// journal learns what it takes to undo the commits of a gang. A nil journal
// learns nothing.
type journal struct {
	cells []cellChange
	items []itemBefore
	needs []needBefore
	jobs  []*job // records that were made
	binds []*job // that got an implicit item
	tasks []*task
	waits []*waitingTask // that were charged
}

type cellChange struct {
	q                        *queue
	dim                      int32
	allocated, held, elastic int64
	over                     []*queue // levels that were marked before
}

type itemBefore struct {
	it     *item
	was    item
	spread []int64
}

type needBefore struct {
	j    *job
	dim  int32
	held int64
}

func (u *journal) cell(q *queue, dim int32, allocated, held, elastic int64) {
	if u == nil {
		return
	}
	change := cellChange{q: q, dim: dim, allocated: allocated, held: held, elastic: elastic}
	for ; q != nil; q = q.parent {
		if q.over[dim] {
			change.over = append(change.over, q)
		}
	}
	u.cells = append(u.cells, change)
}

func (u *journal) item(it *item) {
	if u != nil {
		u.items = append(u.items, itemBefore{it, *it, slices.Clone(it.spread)})
	}
}

func (u *journal) need(j *job, dim int32) {
	if u != nil {
		u.needs = append(u.needs, needBefore{j, dim, j.held[dim]})
	}
}

func (u *journal) newJob(j *job) {
	if u != nil {
		u.jobs = append(u.jobs, j)
	}
}

func (u *journal) newItem(j *job) {
	if u != nil {
		u.binds = append(u.binds, j)
	}
}

func (u *journal) newTask(t *task, waited *waitingTask) {
	if u == nil {
		return
	}
	u.tasks = append(u.tasks, t)
	if waited != nil {
		u.waits = append(u.waits, waited)
	}
}

// undo takes back everything since the journal was empty, the latest first.
func (l *Ledger) undo(u *journal) {
	for _, t := range slices.Backward(u.tasks) {
		t.job.remove(t)
		delete(l.tasks, t.id)
	}
	for _, w := range u.waits {
		l.waiting[w.id] = w
	}
	for _, b := range slices.Backward(u.items) {
		b.was.spread = b.it.spread
		copy(b.it.spread, b.spread)
		*b.it = b.was
	}
	for _, b := range slices.Backward(u.needs) {
		b.j.held[b.dim] = b.held
	}
	for _, j := range slices.Backward(u.binds) {
		j.list(j.items[:len(j.items)-1])
	}
	for _, c := range slices.Backward(u.cells) {
		c.q.add(c.dim, -c.allocated, -c.held, -c.elastic)
		for _, q := range c.over {
			q.mark(c.dim)
		}
	}
	for _, t := range u.tasks {
		t.job.recount()
	}
	for _, j := range slices.Backward(u.jobs) {
		l.drop(j)
	}
	*u = journal{}
}

// mark marks a dimension as over, if it is.
func (q *queue) mark(dim int32) {
	if q.cells[dim].exceeded() {
		if q.over == nil {
			q.over = map[int32]bool{}
		}
		q.over[dim] = true
	}
}

// markAll marks every dimension that is over.
func (q *queue) markAll() {
	for dim := range q.cells {
		q.mark(int32(dim))
	}
}
