package book

import "slices"

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
	b.discharge(t, false)
	return t.Job.Gone
}

// RollBack takes the charges of tasks away. What they covered goes to the charges after
// them that lack it, and the rest is held, on the card where it was charged. Jobs that
// nothing is left of are Gone.
//
// The order of the tasks doesn't matter: a charge that lacks something gets it from those
// before it, whichever of them goes first.
func (b *Book) RollBack(tasks ...*Task) {
	for _, t := range tasks {
		t.leaving = true // and gets nothing from the others
	}
	for _, t := range tasks {
		b.discharge(t, true)
	}
}

// discharge takes a task and its charges away. again says that what they covered is needed
// again.
func (b *Book) discharge(t *Task, again bool) {
	j := t.Job
	t.each(func(dim int32, d *Coverage) {
		var held, others int64 // of what it covered: what is held now, and what covers others
		switch m := j.minOf(dim, d); {
		case m == nil: // it covered nothing
		case !again:
			*m -= d.Covered
		default:
			others = j.coverLater(t, place{d.Item, dim}, d.Covered)
			held = d.Covered - others
			if d.Item != nil {
				d.Item.Hold(d.Item.Alts.Index(dim), held)
			} else {
				j.Held[dim] += held
			}
		}
		if d.Item != nil {
			d.Item.Charges--
		}
		if d.Amount > 0 {
			j.put(dim, -d.Amount, held, -d.lack()-others)
		}
	})
	j.recount()
	j.remove(t)
	b.tidy(j)
}

// coverLater covers with an amount what charges after a leaving task lack, and returns how
// much they take.
func (j *Job) coverLater(t *Task, at place, amount int64) (taken int64) {
	lacks := j.lacking[at]
	if amount == 0 || len(lacks) == 0 {
		return 0
	}
	from, _ := find(lacks, t.order)
	to := from
	for ; to < len(lacks); to++ {
		l := lacks[to]
		if l.leaving {
			continue
		}
		n := min(amount-taken, l.lack())
		l.Covered += n
		if taken += n; l.lack() > 0 {
			break
		}
	}
	// Those before are most often none.
	if from == 0 {
		lacks = lacks[to:]
	} else {
		lacks = slices.Delete(lacks, from, to)
	}
	j.lacking[at] = lacks
	return taken
}

// tidy drops what a job no longer needs: items that bound its tasks, and the
// record itself when nothing is left of it.
func (b *Book) tidy(j *Job) {
	j.Items = slices.DeleteFunc(j.Items, func(it *Item) bool { return it.Implicit && it.Charges == 0 })
	if !j.Reserved && j.Tasks == 0 {
		b.Drop(j)
	}
}

// ReleaseJob takes a job's reservation and all its charges away, and drops its record.
func (b *Book) ReleaseJob(j *Job) {
	j.count(-1)
	j.Reserved, j.Held, j.Min, j.Items = false, Plain{}, Plain{}, nil
	for j.First != nil {
		j.remove(j.First)
	}
	b.Drop(j)
}

// ReleaseHolds takes a job's holds: its min is what its charges cover of it. A job
// without charges goes.
func (b *Book) ReleaseHolds(j *Job) {
	j.countHolds(-1)
	j.dropHolds()
	if j.Tasks == 0 {
		b.Drop(j)
	}
}

// dropHolds makes the min of a job what its charges cover of it.
func (j *Job) dropHolds() {
	for dim, held := range j.Held {
		j.Min[dim] -= held
	}
	j.Held = Plain{}
	for _, it := range j.Items {
		it.Min, it.Held = it.covered(), 0
		clear(it.Spread)
	}
}
