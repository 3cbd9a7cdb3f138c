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
// to its job. undo, which may be nil, can take it back.
func (t *Task) Charge(u *Use, picks []Pick, undo *Journal) {
	undo.keep(t)
	j := t.Job
	for dim, amount := range u.Plain {
		t.Plain[dim] = j.chargePlain(int32(dim), amount)
	}
	t.Charges = make([]Charge, 0, len(picks))
	for i, p := range picks {
		t.Charges = append(t.Charges, j.charge(u.Items[i].Alts, u.Items[i].Amount, p))
	}
	j.appendTask(t)
	j.recount()
}

// chargePlain charges cpu or memory.
func (j *Job) chargePlain(dim int32, amount int64) Coverage {
	covered := min(amount, j.Held[dim])
	if amount > 0 {
		j.Held[dim] -= covered
		j.put(dim, amount, -covered, amount-covered)
	}
	return Coverage{Amount: amount, Covered: covered}
}

// charge charges an item of a task on the picked card.
func (j *Job) charge(alts *Alternatives, amount int64, p Pick) Charge {
	it := p.it
	if it == nil && p.at >= 0 && j.Binds(alts) {
		it = NewImplicit(alts) // nothing is held for it, and the first charge may bind the next ones
		j.Items = append(j.Items, it)
	}
	c := Charge{Alts: alts, Card: p.Card, Coverage: Coverage{Amount: amount, Item: it}}
	if it != nil {
		if it.Spreads {
			j.gather(it, p.at, amount)
		} else {
			j.move(it, int(it.At), p.at, it.Held)
			it.At = int32(p.at)
		}
		it.Charges++
		c.Covered = min(amount, it.HeldAt(p.at))
		it.Hold(p.at, -c.Covered)
	}
	j.put(p.Card, amount, -c.Covered, c.lack())
	return c
}

// gather moves to an alternative what a charge lacks there, from the rightmost
// ones that hold: those are the least preferred. MayCharge has found room for it there.
func (j *Job) gather(it *Item, to int, amount int64) {
	for from, held := range slices.Backward(it.Spread) {
		if n := min(amount-it.Spread[to], held); n > 0 && from != to {
			j.move(it, from, to, n)
			it.Spread[from] -= n
			it.Spread[to] += n
		}
	}
}

// move moves a hold between cards in the cells.
func (j *Job) move(it *Item, from, to int, amount int64) {
	if amount > 0 && from != to {
		j.put(it.Alts.Cards[from], 0, -amount, 0)
		j.put(it.Alts.Cards[to], 0, amount, 0)
	}
}

// put changes the cells of the job's queue, and of those above.
func (j *Job) put(dim int32, allocated, held, uncovered int64) {
	j.Queue.add(dim, allocated, held, j.elastic(uncovered))
}

// elastic returns what the job could do without of an uncovered amount. Nobody knows unless it
// is reserved.
func (j *Job) elastic(uncovered int64) int64 {
	if j.Reserved {
		return uncovered
	}
	return 0
}

// count adds every amount of the job's records to its queue, times sign: it comes or goes.
func (j *Job) count(sign int64) {
	j.uses(func(dim int32, d *Coverage) { j.put(dim, sign*d.Amount, 0, sign*d.lack()) })
	j.countHolds(sign)
}

// countHolds adds what is held for the job to its queue, times sign.
func (j *Job) countHolds(sign int64) {
	j.eachHold(func(dim int32, held int64) { j.put(dim, 0, sign*held, 0) })
	j.hold(sign > 0 && j.Holds())
}

// A gang is all or nothing: its tasks are charged one after the other, and if one is
// refused, the journal takes the charges back. RollBack wouldn't do: a hold that has moved
// would stay where it is.

// Journal keeps what there was before the tasks of a gang were charged. A nil one keeps
// nothing.
type Journal struct {
	tasks []*Task
	jobs  map[*Job]*Job
}

// keep keeps what the charge of a task is going to change.
func (u *Journal) keep(t *Task) {
	if u == nil {
		return
	}
	if u.tasks = append(u.tasks, t); u.jobs == nil {
		u.jobs = map[*Job]*Job{}
	}
	if j := t.Job; u.jobs[j] == nil {
		u.jobs[j] = j.clone()
	}
}

// Undo takes everything back since the journal was empty.
func (u *Journal) Undo() {
	for _, t := range u.tasks {
		t.each(func(dim int32, d *Coverage) { t.Job.put(dim, -d.Amount, 0, -d.lack()) })
		t.Job.remove(t)
	}
	for j, was := range u.jobs {
		j.countHolds(-1)
		j.Held, j.Items = was.Held, j.Items[:len(was.Items)]
		for i, it := range was.Items {
			*j.Items[i] = *it
		}
		j.countHolds(1)
	}
	*u = Journal{}
}
