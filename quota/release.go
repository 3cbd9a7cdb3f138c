package quota

// Rollback takes commits back, in the given order. What a task had of its job's min is
// held again, on the same card. If the job charged more than its min on that card since,
// these charges use it up first. known reports whether all ids were of charged tasks;
// others are left alone. seq is the number of the change or, if nothing changed, of the
// state.
func (l *Ledger) Rollback(tasks ...string) (seq uint64, known bool) {
	return l.giveBack(EventRolledBack, tasks)
}

// Release ends tasks: their charges go, and their job's min shrinks by what they had of
// it. known reports whether all ids were of charged tasks, or of tasks that were pending
// by the views and are forgotten; others are left alone. seq is as of [Ledger.Rollback].
func (l *Ledger) Release(tasks ...string) (seq uint64, known bool) {
	return l.giveBack(EventReleased, tasks)
}

func (l *Ledger) giveBack(kind EventKind, ids []string) (seq uint64, known bool) {
	l.lock()
	var events []Event
	var again []*task
	known = true
	changed := false
	for _, id := range ids {
		t := l.tasks[id]
		if t == nil {
			if w := l.waiting[id]; w != nil && kind == EventReleased {
				delete(l.waiting, id)
				changed = true
				if l.cfg.OnEvent != nil { // nothing was charged
					events = append(events, Event{Seq: l.seq + 1, Kind: kind, Queue: w.queue, Job: w.job, Task: id})
				}
				continue
			}
			known = false
			continue
		}
		events = append(events, l.taskEvent(kind, l.seq+1, t)...)
		changed = true
		if kind == EventReleased {
			l.end(t)
			continue
		}
		delete(l.tasks, id)
		again = append(again, t)
	}
	l.rollBack(again...)
	return l.unlock(changed, events), known
}

// end takes an ended task's charges away; what they covered leaves the min.
func (l *Ledger) end(t *task) {
	j := t.job
	j.min[dimCPU] -= t.cpu.covered
	j.min[dimMemory] -= t.mem.covered
	j.discharge(dimCPU, t.cpu, 0)
	j.discharge(dimMemory, t.mem, 0)
	for i := range t.charges {
		c := &t.charges[i]
		j.discharge(c.card, draw{c.milli, c.covered}, 0)
		if c.item != nil {
			c.item.charges--
			c.item.min -= c.covered
		}
	}
	l.remove(t)
}

// discharge takes a charge out of the cells and puts a hold in its place, in one step:
// what is over stays marked.
func (j *job) discharge(dim int32, d draw, held int64) {
	if d.amount > 0 {
		j.put(dim, -d.amount, held, -(d.amount - d.covered), nil)
	}
}

// remove takes a task that has no charges any more out of the records.
func (l *Ledger) remove(t *task) {
	t.job.remove(t)
	delete(l.tasks, t.id)
	l.settle(t.job)
}

// taskLeaving is the state of a task while it is rolled back.
const taskLeaving = taskConfirmed + 1

// rollBack takes the charges of tasks away as if they had never been. What they
// covered goes to the charges after them that lack it, and the rest is held. The
// order of the tasks doesn't matter: who lacks something gets it from those before it,
// whoever of them goes first. So the work grows with the number of tasks, and not with
// that times those of their job.
func (l *Ledger) rollBack(tasks ...*task) {
	for _, t := range tasks {
		t.state = taskLeaving
		t.unfold()
	}
	for _, t := range tasks {
		if !t.feeds() { // no other charge, or they were fed with those of another task
			continue
		}
		from := t
		if len(tasks) > 1 {
			from = t.job.first
		}
		t.job.redraw(from, len(tasks))
	}
	for _, t := range tasks {
		t.job.recount()
		l.remove(t)
	}
}

// unfold makes what a task's charges cover a hold again.
func (t *task) unfold() {
	j := t.job
	j.held[dimCPU] += t.cpu.covered
	j.held[dimMemory] += t.mem.covered
	j.discharge(dimCPU, t.cpu, t.cpu.covered)
	j.discharge(dimMemory, t.mem, t.mem.covered)
	for i := range t.charges {
		c := &t.charges[i]
		if c.item != nil {
			c.item.charges--
			c.item.hold(int(c.at), c.covered)
		}
		j.discharge(c.card, draw{c.milli, c.covered}, c.covered)
	}
}

// feeds reports whether other charges may lack what the task covers.
func (t *task) feeds() bool {
	j := t.job
	if j.loose[dimCPU] && t.cpu.covered > 0 || j.loose[dimMemory] && t.mem.covered > 0 {
		return true
	}
	for i := range t.charges {
		if c := &t.charges[i]; c.covered > 0 && c.item.loose {
			return true
		}
	}
	return false
}

// redraw lets charges draw on what the leaving tasks before them covered, from a task
// on. leaving is how many of these there are at most.
func (j *job) redraw(from *task, leaving int) {
	type place struct {
		it *item // nil: cpu and memory
		at int32
	}
	var free int64 // everywhere
	pools := map[place]int64{}
	// A draw takes from its pool what it lacks; that of a leaving task fills it.
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
	for t := from; t != nil && (leaving > 0 || free > 0); t = t.next {
		leaves := t.state == taskLeaving
		if leaves {
			leaving--
		}
		j.held[dimCPU] -= draw(place{at: dimCPU}, leaves, dimCPU, t.cpu.amount, &t.cpu.covered)
		j.held[dimMemory] -= draw(place{at: dimMemory}, leaves, dimMemory, t.mem.amount, &t.mem.covered)
		for i := range t.charges {
			if c := &t.charges[i]; c.item != nil {
				c.item.hold(int(c.at), -draw(place{c.item, c.at}, leaves, c.card, c.milli, &c.covered))
			}
		}
	}
}

// settle drops what a job no longer needs: items that bound its tasks, and the
// record itself when nothing is left of it.
func (l *Ledger) settle(j *job) {
	kept := j.items[:0]
	for _, it := range j.items {
		if !it.implicit || it.charges > 0 {
			kept = append(kept, it)
		}
	}
	clear(j.items[len(kept):])
	j.list(kept)
	if !j.reserved && j.tasks == 0 {
		l.drop(j)
	}
}

// drop removes the record of a job without charges and holds.
func (l *Ledger) drop(j *job) {
	j.gone = true
	delete(l.jobs, j.id)
	l.leave(j.queue)
}

// leave counts a record that leaves a queue. An orphan goes with its last one, when the
// change ends.
func (l *Ledger) leave(q *queue) {
	if q.jobs--; q.jobs == 0 && q.orphan {
		l.emptied = append(l.emptied, q)
	}
}

// ReleaseJob takes a job's reservation and all its charges away. known reports
// whether there was any, seq is as of [Ledger.Rollback].
func (l *Ledger) ReleaseJob(id string) (seq uint64, known bool) {
	l.lock()
	j := l.jobs[id]
	if j == nil {
		return l.unlock(false, nil), false
	}
	events := l.jobEvent(EventReleased, l.seq+1, j)
	l.releaseJob(j)
	return l.unlock(true, events), true
}

func (l *Ledger) releaseJob(j *job) {
	l.undoHolds(j)
	j.reserved = false
	j.held, j.min, j.loose = [2]int64{}, [2]int64{}, [2]bool{}
	j.list(nil)
	j.recount()
	for t := j.first; t != nil; t = t.next {
		for i := range t.charges {
			t.charges[i].item = nil
		}
	}
	for j.first != nil {
		l.takeOut(j.first)
	}
	l.drop(j)
}

// takeOut removes a task of a job without items.
func (l *Ledger) takeOut(t *task) {
	j := t.job
	j.put(dimCPU, -t.cpu.amount, 0, 0, nil)
	j.put(dimMemory, -t.mem.amount, 0, 0, nil)
	for i := range t.charges {
		j.put(t.charges[i].card, -t.charges[i].milli, 0, 0, nil)
	}
	j.remove(t)
	delete(l.tasks, t.id)
}

// Expire takes the holds of jobs that were reserved before the change with the number
// before, and that Reconcile has never seen. It returns their ids, sorted. The charges of
// their tasks stay. seq is as of [Ledger.Rollback].
func (l *Ledger) Expire(before uint64) (expired []string, seq uint64) {
	l.lock()
	var events []Event
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		if !j.reserved || j.seen || j.seq >= before || j.tasks > 0 && !j.holds() {
			continue
		}
		expired = append(expired, id)
		events = append(events, l.jobEvent(EventExpired, l.seq+1, j)...)
		l.forfeit(j)
	}
	return expired, l.unlock(len(expired) > 0, events)
}

// forfeit takes a job's holds: its min is what its charges cover of it. A job
// without charges goes.
func (l *Ledger) forfeit(j *job) {
	j.min[dimCPU] -= j.held[dimCPU]
	j.min[dimMemory] -= j.held[dimMemory]
	j.put(dimCPU, 0, -j.held[dimCPU], 0, nil)
	j.put(dimMemory, 0, -j.held[dimMemory], 0, nil)
	j.held = [2]int64{}
	for _, it := range j.items {
		for at, dim := range it.alts.cards {
			if held := it.heldOn(at); held > 0 {
				it.hold(at, -held)
				it.min -= held
				j.put(dim, 0, -held, 0, nil)
			}
		}
	}
	j.recount()
	if j.tasks == 0 {
		l.drop(j)
	}
}
