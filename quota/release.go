package quota

// Rollback takes commits back, in the given order: what they had of their job's
// min is held again on that card, unless later charges of the same item on it
// were uncovered and draw on it first. It reports whether all ids were of charged
// tasks; others are left alone.
func (l *Ledger) Rollback(tasks ...string) bool {
	return l.giveBack(RolledBack, tasks)
}

// Release ends tasks: their charges go, and their job's min shrinks by what they
// had of it. It reports whether all ids were of charged tasks, or of tasks that were
// pending in the last view, which are no longer; others are left alone.
func (l *Ledger) Release(tasks ...string) bool {
	return l.giveBack(Released, tasks)
}

func (l *Ledger) giveBack(kind Kind, ids []string) bool {
	l.lock()
	var events []Event
	known, changed := true, false
	for _, id := range ids {
		t := l.tasks[id]
		if t == nil {
			if w := l.waiting[id]; w != nil && kind == Released {
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
		l.discharge(t, kind == RolledBack)
		changed = true
	}
	l.unlock(changed, events)
	return known
}

// discharge takes a task's charges away. What they covered of the min is held
// again, or leaves the min.
func (l *Ledger) discharge(t *task, again bool) {
	j := t.job
	j.undrawPlain(dimCPU, &j.cpu, t, again)
	j.undrawPlain(dimMemory, &j.mem, t, again)
	for i := range t.charges {
		j.uncharge(t, &t.charges[i], again)
	}
	j.remove(t)
	delete(l.tasks, t.id)
	l.settle(j)
}

// plain returns what a task has of cpu or memory.
func (t *task) plain(dim int32) *draw {
	if dim == dimCPU {
		return &t.cpu
	}
	return &t.mem
}

func (j *job) undrawPlain(dim int32, n *need, t *task, again bool) {
	d := t.plain(dim)
	if d.amount == 0 {
		return
	}
	if !again {
		n.min -= d.covered
		j.put(dim, -d.amount, 0, -(d.amount - d.covered), nil)
		return
	}
	free := d.covered
	for next := t.next; n.loose && next != nil && free > 0; next = next.next {
		e := next.plain(dim)
		drawn := min(free, e.amount-e.covered)
		e.covered += drawn
		free -= drawn
	}
	n.held += free
	j.put(dim, -d.amount, free, -(d.amount - free), nil) // in one step: what is over stays marked
}

func (j *job) uncharge(t *task, c *charge, again bool) {
	it := c.item
	if it != nil {
		it.charges--
	}
	if it == nil || !again {
		j.put(c.card, -c.milli, 0, -(c.milli - c.covered), nil)
		if it != nil {
			it.min -= c.covered
		}
		return
	}
	free := c.covered
	for next := t.next; it.loose && next != nil && free > 0; next = next.next {
		for i := range next.charges {
			e := &next.charges[i]
			if e.item != it || e.card != c.card {
				continue
			}
			drawn := min(free, e.milli-e.covered)
			e.covered += drawn
			free -= drawn
		}
	}
	it.hold(int(c.at), free)
	j.put(c.card, -c.milli, free, -(c.milli - free), nil)
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
	j.items = kept
	if !j.reserved && j.tasks == 0 {
		l.drop(j)
	}
}

// drop removes the record of a job without charges and holds, and its queue if
// that is an orphan and this was its last.
func (l *Ledger) drop(j *job) {
	j.gone = true
	delete(l.jobs, j.id)
	q := j.queue
	q.jobs--
	l.prune(q)
}

// ReleaseJob takes a job's reservation and all its charges away. It reports
// whether there was any.
func (l *Ledger) ReleaseJob(id string) bool {
	l.lock()
	j := l.jobs[id]
	if j == nil {
		l.unlock(false, nil)
		return false
	}
	events := l.jobEvent(Released, l.seq+1, j)
	l.releaseJob(j)
	l.unlock(true, events)
	return true
}

func (l *Ledger) releaseJob(j *job) {
	l.undoHolds(j)
	j.reserved = false
	j.cpu, j.mem, j.items = need{}, need{}, nil
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

// Expire takes the holds of jobs that were reserved before the change with this
// number and that Reconcile has never seen, and returns their ids, sorted. What
// their tasks are charged stays.
func (l *Ledger) Expire(seq uint64) []string {
	l.lock()
	var expired []string
	var events []Event
	for _, j := range l.sortedJobs() {
		if !j.reserved || j.seen || j.seq >= seq || j.tasks > 0 && !j.holds() {
			continue
		}
		expired = append(expired, j.id)
		events = append(events, l.jobEvent(Expired, l.seq+1, j)...)
		l.forfeit(j)
	}
	l.unlock(len(expired) > 0, events)
	return expired
}

// forfeit takes a job's holds: its min is what its charges cover of it. A job
// without charges goes.
func (l *Ledger) forfeit(j *job) {
	j.cpu.min -= j.cpu.held
	j.mem.min -= j.mem.held
	j.put(dimCPU, 0, -j.cpu.held, 0, nil)
	j.put(dimMemory, 0, -j.mem.held, 0, nil)
	j.cpu.held, j.mem.held = 0, 0
	for _, it := range j.items {
		for at, dim := range it.alts.cards {
			if held := it.heldOn(at); held > 0 {
				it.hold(at, -held)
				it.min -= held
				j.put(dim, 0, -held, 0, nil)
			}
		}
	}
	if j.tasks == 0 {
		l.drop(j)
	}
}
