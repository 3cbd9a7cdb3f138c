package book

// To give back. A task goes in one of two ways:
//
//   - End: it has ended. Its charges go, and the min of its job shrinks by what they
//     covered: the job needs that no more.
//   - RollBack: its charges go, and the min of its job stays. What they covered is needed
//     again. Later tasks of the job that lack something get it first, and the rest is held.
//     It is held on the card of the charge, also where the hold was on another card before.
//
// An example: a job needs two cards and uses three, so the third task is not covered. If
// the first task ends, one card is free, and the third task is still not covered. If the
// first task is rolled back, what it had covers the third one.
//
// A job goes in three ways: ReleaseJob takes all of it, ReleaseHolds takes its holds, and
// Unreserve (force.go) forgets its min.

// End takes an ended task's charges away; what they covered leaves the min. gone reports
// whether the job's record went with it.
func (b *Book) End(t *Task) (gone bool) {
	j := t.Job
	j.Min[CPU] -= t.CPU.Covered
	j.Min[Memory] -= t.Memory.Covered
	j.discharge(CPU, t.CPU, 0)
	j.discharge(Memory, t.Memory, 0)
	for i := range t.Charges {
		c := &t.Charges[i]
		j.discharge(c.Card, Coverage{c.Amount, c.Covered}, 0)
		if c.Item != nil {
			c.Item.Charges--
			c.Item.Min -= c.Covered
		}
	}
	return b.remove(t)
}

// discharge takes a charge out of the cells and puts a hold in its place, in one step:
// what is over stays marked.
func (j *Job) discharge(dim int32, d Coverage, held int64) {
	if d.Amount > 0 {
		j.put(dim, -d.Amount, held, -(d.Amount - d.Covered), nil)
	}
}

// remove takes a task that has no charges any more out of the records.
func (b *Book) remove(t *Task) (gone bool) {
	t.Job.remove(t)
	return b.tidy(t.Job)
}

// RollBack takes the charges of tasks away. What they covered goes to the charges after
// them that lack it, and the rest is held, on the card where it was charged. Jobs that
// nothing is left of are Gone.
//
// The order of the tasks doesn't matter: a charge that lacks something gets it from those
// before it, whichever of them goes first. So one walk over the tasks of a job serves all
// that leave it.
func (b *Book) RollBack(tasks ...*Task) {
	for _, t := range tasks {
		t.leaving = true
		t.returnHolds()
	}
	for _, t := range tasks {
		if !t.othersLack() { // nothing lacks it, or the walk for another task was here
			continue
		}
		from := t
		if len(tasks) > 1 {
			from = t.Job.First
		}
		t.Job.coverLater(from, len(tasks))
	}
	for _, t := range tasks {
		t.Job.recount()
		b.remove(t)
	}
}

// returnHolds makes what a task's charges cover a hold again.
func (t *Task) returnHolds() {
	j := t.Job
	j.Held[CPU] += t.CPU.Covered
	j.Held[Memory] += t.Memory.Covered
	j.discharge(CPU, t.CPU, t.CPU.Covered)
	j.discharge(Memory, t.Memory, t.Memory.Covered)
	for i := range t.Charges {
		c := &t.Charges[i]
		if c.Item != nil {
			c.Item.Charges--
			c.Item.Hold(int(c.at), c.Covered)
		}
		j.discharge(c.Card, Coverage{c.Amount, c.Covered}, c.Covered)
	}
}

// othersLack reports whether other charges may lack what the task covers.
func (t *Task) othersLack() bool {
	j := t.Job
	if j.partial[CPU] && t.CPU.Covered > 0 || j.partial[Memory] && t.Memory.Covered > 0 {
		return true
	}
	for i := range t.Charges {
		if c := &t.Charges[i]; c.Covered > 0 && c.Item.partial {
			return true
		}
	}
	return false
}

// coverLater lets charges draw on what the leaving tasks before them covered, from a task
// on. leaving is how many of these there are at most.
func (j *Job) coverLater(from *Task, leaving int) {
	type place struct {
		it *Item // nil: cpu and memory
		at int32
	}
	var free int64 // everywhere
	pools := map[place]int64{}
	// A charge that stays takes what it lacks from the pool of its item and card. A
	// charge that leaves fills the pool.
	draw := func(at place, leaves bool, dim int32, amount int64, covered *int64) (drawn int64) {
		if leaves {
			pools[at] += *covered
			free += *covered
			*covered = 0
			return 0
		}
		if drawn = min(pools[at], amount-*covered); drawn > 0 {
			pools[at] -= drawn
			free -= drawn
			*covered += drawn
			j.put(dim, 0, -drawn, -drawn, nil)
		}
		return drawn
	}
	for t := from; t != nil && (leaving > 0 || free > 0); t = t.Next {
		if t.leaving {
			leaving--
		}
		j.Held[CPU] -= draw(place{at: CPU}, t.leaving, CPU, t.CPU.Amount, &t.CPU.Covered)
		j.Held[Memory] -= draw(place{at: Memory}, t.leaving, Memory, t.Memory.Amount, &t.Memory.Covered)
		for i := range t.Charges {
			if c := &t.Charges[i]; c.Item != nil {
				c.Item.Hold(int(c.at), -draw(place{c.Item, c.at}, t.leaving, c.Card, c.Amount, &c.Covered))
			}
		}
	}
}

// tidy drops what a job no longer needs: items that bound its tasks, and the
// record itself when nothing is left of it.
func (b *Book) tidy(j *Job) (gone bool) {
	kept := j.Items[:0]
	for _, it := range j.Items {
		if !it.Implicit || it.Charges > 0 {
			kept = append(kept, it)
		}
	}
	clear(j.Items[len(kept):])
	j.Items = kept
	if !j.Reserved && j.Tasks == 0 {
		b.Drop(j)
	}
	return j.Gone
}

// ReleaseJob takes a job's reservation and all its charges away, and drops its record.
func (b *Book) ReleaseJob(j *Job) {
	j.undoHolds()
	j.Reserved = false
	j.Held, j.Min, j.partial = [2]int64{}, [2]int64{}, [2]bool{}
	j.Items = nil
	j.recount()
	for j.First != nil {
		t := j.First
		j.put(CPU, -t.CPU.Amount, 0, 0, nil)
		j.put(Memory, -t.Memory.Amount, 0, 0, nil)
		for i := range t.Charges {
			t.Charges[i].Item = nil
			j.put(t.Charges[i].Card, -t.Charges[i].Amount, 0, 0, nil)
		}
		j.remove(t)
	}
	b.Drop(j)
}

// ReleaseHolds takes a job's holds: its min is what its charges cover of it. A job
// without charges goes.
func (b *Book) ReleaseHolds(j *Job) {
	j.Min[CPU] -= j.Held[CPU]
	j.Min[Memory] -= j.Held[Memory]
	j.put(CPU, 0, -j.Held[CPU], 0, nil)
	j.put(Memory, 0, -j.Held[Memory], 0, nil)
	j.Held = [2]int64{}
	for _, it := range j.Items {
		for at, dim := range it.Alts.Cards {
			if held := it.HeldAt(at); held > 0 {
				it.Hold(at, -held)
				it.Min -= held
				j.put(dim, 0, -held, 0, nil)
			}
		}
	}
	j.recount()
	if j.Tasks == 0 {
		b.Drop(j)
	}
}
