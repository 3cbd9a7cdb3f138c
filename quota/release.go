package quota

import "github.com/resvec/resvec/quota/internal/book"

// Rollback takes commits back, in any order. What a task had of its job's min is held again
// on that card, after later charges of the job there beyond the min. known: all ids were of
// charged tasks; others are left alone.
func (l *Ledger) Rollback(tasks ...string) (seq uint64, known bool) {
	return l.giveBack(EventRolledBack, tasks)
}

// Release ends tasks: their charges go, and their job's min shrinks by their part, which
// the first committed have. Only ReleaseJob ends a job. Pending tasks are forgotten. known:
// all ids were of either; others are left alone.
func (l *Ledger) Release(tasks ...string) (seq uint64, known bool) {
	return l.giveBack(EventReleased, tasks)
}

// giveBack is Rollback or Release. A rollback is as if the commit had never been; what has
// ended has been, and its part of the min is needed no more.
func (l *Ledger) giveBack(kind EventKind, ids []string) (uint64, bool) {
	l.lock()
	var again []*task
	changed, known := false, true
	for _, id := range ids {
		t, w := l.tasks[id], l.waiting[id]
		switch ended := kind == EventReleased; {
		// While the task is still charged: the event says how much.
		case t != nil && ended:
			l.taskEvent(kind, t)
			l.end(t)
		// They go together: what one gives back must not go to another that is taken back, too.
		case t != nil:
			l.taskEvent(kind, t)
			again = append(again, t)
			delete(l.tasks, id)
		// It waits by a view. Only what queues request changes.
		case w != nil && ended:
			delete(l.waiting, id)
			if l.cfg.OnEvent != nil { // nothing was charged
				l.events.add(Event{Seq: l.seq + 1, Kind: kind, Queue: w.queue, Job: w.job, Task: id})
			}
		// No error: a host that starts again may give back twice.
		default:
			known = false
			continue
		}
		changed = true
	}
	l.rollBack(again...)
	return l.unlock(changed), known
}

// end takes an ended task's charges away; what they covered leaves the min.
func (l *Ledger) end(t *task) {
	// Its node first: what is charged there is found by the task's charges.
	l.takeOff(t)
	delete(l.tasks, t.id)
	if l.book.End(&t.Task) {
		delete(l.jobs, t.job)
	}
}

// rollBack takes the charges of tasks away, and the jobs that nothing is left of.
func (l *Ledger) rollBack(tasks ...*task) {
	records := make([]*book.Task, len(tasks))
	for i, t := range tasks {
		l.takeOff(t)
		delete(l.tasks, t.id)
		records[i] = &t.Task
	}
	l.book.RollBack(records...)
	for _, t := range tasks {
		if t.Job.Gone {
			delete(l.jobs, t.job)
		}
	}
}

// ReleaseJob ends a job: its reservation and all its charges go.
func (l *Ledger) ReleaseJob(id string) (seq uint64, known bool) {
	l.lock()
	j := l.jobs[id]
	if j == nil {
		return l.unlock(false), false
	}
	l.jobEvent(EventReleased, j)
	l.releaseJob(j)
	return l.unlock(true), true
}

// releaseJob takes a job away with the records of its tasks.
func (l *Ledger) releaseJob(j *job) {
	// While the records have their charges, by which the nodes are found.
	for t := range j.tasks() {
		l.takeOff(t)
		delete(l.tasks, t.id)
	}
	l.book.ReleaseJob(&j.Job)
	l.forget(j)
}

// Expire takes the holds, not the charges, of jobs reserved with a Seq below before that
// Reconcile has never seen, and returns their ids, sorted.
func (l *Ledger) Expire(before uint64) (expired []string, seq uint64) {
	l.lock()
	// By id, so that equal ledgers give equal lists and events.
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		// A job whose tasks use its whole min has nothing to lose. One without tasks goes as a
		// whole.
		if !j.Reserved || j.Seen || j.seq >= before || j.Tasks > 0 && !j.Holds() {
			continue
		}
		expired = append(expired, id)
		l.jobEvent(EventExpired, j)
		l.book.ReleaseHolds(&j.Job)
		l.forget(j)
	}
	return expired, l.unlock(len(expired) > 0)
}
