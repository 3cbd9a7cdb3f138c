package book

import "slices"

// To charge a task. MayCharge has found room. For every amount three things change, in the
// queue and in all queues above it:
//
//   - Allocated grows by the amount.
//   - Held shrinks by what the job's hold covers of it.
//   - Elastic grows by the rest, if the job is reserved.
//
// If the hold is on another card, it moves first: all of it, or of an item that spreads
// what the charge lacks.
//
// For example job j has a min of 3 A, and 1 is charged: Allocated 1, Held 2. Its next task
// of 3 A is covered by 2 and lacks 1: Allocated 4, Held 0, Elastic 1.

// Charge makes the charges of a task that [MayCharge] has found room for, and appends it
// to its job. undo, if not nil, learns what to do to take it back.
func (t *Task) Charge(u *Use, picks []Pick, undo *Journal) {
	j := t.Job
	t.CPU = j.chargePlain(CPU, u.CPU, undo)
	t.Memory = j.chargePlain(Memory, u.Memory, undo)
	t.Charges = t.buf[:0]
	for i, p := range picks {
		t.Charges = append(t.Charges, j.charge(u.Items[i].Alts, u.Items[i].Amount, p, undo))
	}
	j.appendTask(t)
	j.recount()
	undo.newTask(t)
}

// chargePlain charges cpu or memory.
func (j *Job) chargePlain(dim int32, amount int64, undo *Journal) Coverage {
	covered := min(amount, j.Held[dim])
	if amount > 0 {
		undo.need(j, dim)
		j.Held[dim] -= covered
		j.put(dim, amount, -covered, amount-covered, undo)
	}
	return Coverage{amount, covered}
}

// charge charges an item of a task on the picked card.
func (j *Job) charge(alts *Alternatives, amount int64, p Pick, undo *Journal) Charge {
	c := Charge{Alts: alts, Item: p.it, Card: p.Card, Coverage: Coverage{Amount: amount}}
	it := p.it
	if it == nil { // nothing is held for it, and the first charge may bind the next ones
		if it = j.bind(alts); it != nil {
			c.Item = it
			undo.newItem(j)
			it.At, it.Charges = int32(alts.Index(p.Card)), 1
		}
		j.put(p.Card, amount, 0, amount, undo)
		return c
	}
	undo.item(it)
	if !it.Spreads {
		if from := int(it.At); from != p.at {
			j.move(it, from, p.at, it.Held, undo)
			it.At = int32(p.at)
		}
	} else {
		j.gather(it, p.at, amount, undo)
	}
	it.Charges++
	c.Covered = min(amount, it.HeldAt(p.at))
	it.Hold(p.at, -c.Covered)
	j.put(p.Card, amount, -c.Covered, amount-c.Covered, undo)
	return c
}

// gather moves to an alternative what a charge lacks there, from the rightmost
// ones that hold: those are the least preferred. MayCharge has found room for it there.
func (j *Job) gather(it *Item, to int, amount int64, undo *Journal) {
	lack := amount - it.Spread[to]
	for from := len(it.Spread) - 1; from >= 0 && lack > 0; from-- {
		if from == to || it.Spread[from] == 0 {
			continue
		}
		n := min(lack, it.Spread[from])
		j.move(it, from, to, n, undo)
		it.Spread[from] -= n
		it.Spread[to] += n
		lack -= n
	}
}

// move moves a hold between cards in the cells.
func (j *Job) move(it *Item, from, to int, amount int64, undo *Journal) {
	if amount > 0 {
		j.put(it.Alts.Cards[from], 0, -amount, 0, undo)
		j.put(it.Alts.Cards[to], 0, amount, 0, undo)
	}
}

// put changes the cells of the job's queue, and of those above. uncovered is elastic if
// the job is reserved: else nobody knows what it could do without.
func (j *Job) put(dim int32, allocated, held, uncovered int64, undo *Journal) {
	if !j.Reserved {
		uncovered = 0
	}
	undo.cell(j.Queue, dim, allocated, held, uncovered)
	j.Queue.add(dim, allocated, held, uncovered)
}

// count adds every amount of the job's records to its queue, times sign.
func (j *Job) count(sign int64) {
	j.Each(func(dim int32, allocated, held, uncovered int64) {
		j.put(dim, sign*allocated, sign*held, sign*uncovered, nil)
	})
}

// A gang is all or nothing: its tasks are charged one after the other, and if one is
// refused, the journal takes the charges back. It restores amounts, holds and marks,
// which RollBack wouldn't: a hold that has moved would stay where it is.

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
