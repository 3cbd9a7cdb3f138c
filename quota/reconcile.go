package quota

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
)

// Reconcile makes the ledger agree with what an informer sees, without losing what it
// hasn't seen yet, as one change; the same view again is none. No limit refuses anything. It
// takes as long as the view and the ledger are large, times the levels of the tree.
//   - An allocated task is charged on the cards that its node has. One that has ended or is
//     Deleted is released, and so is a confirmed one that the view doesn't have. A confirmed
//     one that is pending or pipelined is rolled back.
//   - A charge that no view has confirmed is kept, and so is a reservation until a view
//     has its job in another phase than Pending. Then it goes with the job.
//   - A job's min is that of the view. Its charges are drawn against it, and the rest is held
//     as by Reserve in PhaseInqueue, and in PhaseRunning while MinMember tasks are charged;
//     what doesn't fit, on the first alternative. Else its min is what its charges cover.
//
// An [ErrConflict] is a job or task that is there twice, or a task in another queue than
// its job. Other faults are Failed, alone.
func (l *Ledger) Reconcile(view View) (Report, error) {
	l.made()
	r := reconciler{l: l, partial: view.Partial, byID: map[string]*sightJob{}, tasks: map[string]*sightTask{}, gone: map[string]bool{}}
	// The view is resolved before the lock: that parses pods.
	if err := r.look(&view); err != nil {
		return Report{}, err
	}
	l.lock()
	r.ids = r.concerned()
	r.assign()
	r.run()
	if r.rep.Changed && l.cfg.OnEvent != nil {
		l.events.add(Event{Seq: l.seq + 1, Kind: EventReconciled})
	}
	r.rep.Seq = l.unlock(r.rep.Changed)
	r.rep.sort()
	return r.rep, nil
}

// concerned returns the ids of the jobs that the view may change: all, unless it is
// partial; else its own, and those that have tasks of it.
func (r *reconciler) concerned() []string {
	l, ids := r.l, make(map[string]bool, len(r.jobs))
	for _, v := range r.jobs {
		ids[v.ID] = true
	}
	if !r.partial {
		for id := range l.jobs {
			ids[id] = true
		}
		return sorted(ids)
	}
	r.touched = map[string][]*task{}
	r.taskIDs(func(id string) {
		if t := l.tasks[id]; t != nil {
			ids[t.job] = true
			r.touched[t.job] = append(r.touched[t.job], t)
		}
	})
	for id, tasks := range r.touched { // as they were committed, and once
		slices.SortFunc(tasks, func(a, b *task) int { return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.id, b.id)) })
		// A task may be in the view and in Deleted.
		r.touched[id] = slices.Compact(tasks)
	}
	return sorted(ids)
}

// records calls do with the records of the jobs that the view may change, by id.
func (r *reconciler) records(do func(j *job)) {
	for _, id := range r.ids {
		if j := r.l.jobs[id]; j != nil {
			do(j)
		}
	}
}

// tasksOf returns the tasks of a job that may change: all, or those that a partial view says
// something of. A view of one task is no more work in a job that has many.
func (r *reconciler) tasksOf(j *job) iter.Seq[*task] {
	// Only what the view names, so that an event of one pod costs no more in a large job.
	if r.leaves(j.id) {
		return slices.Values(r.touched[j.id])
	}
	return j.tasks()
}

// run changes the ledger. What goes comes before what comes, and charges before holds. A view
// is no request: nobody asks whether something fits, and a queue may be over its limit then.
func (r *reconciler) run() {
	l := r.l
	// First, so that what has ended takes no room from what is charged and held then.
	r.giveBack()
	for _, j := range r.jobs {
		r.place(j)
	}
	r.giveUp()
	l.relimit() // holds look for room
	// After every charge of every job: what runs can't give way, and a hold can go where
	// there is room then.
	for _, j := range r.jobs {
		r.admit(j)
	}
	r.wait()
	// What is over is reported by the queues and the limits that this change leaves.
	l.prune()
	l.relimit()
}

// did notes a change of a task or, without one, of a job.
func (r *reconciler) did(list *[]Ref, job, task string) {
	*list = append(*list, Ref{Job: job, Task: task})
	r.rep.Changed = true
}

// giveBack releases what has ended and rolls back what waits again.
//
// A task that has ended is released: its job's min shrinks. One that waits again is rolled
// back: its job is still promised what it had.
func (r *reconciler) giveBack() {
	l := r.l
	r.records(func(j *job) {
		var ended, again []*task
		for t := range r.tasksOf(j) {
			switch given, rolledBack := r.givesBack(t); {
			case rolledBack && given:
				again = append(again, t)
			case given:
				ended = append(ended, t)
			}
		}
		// Before rollbacks, whose cover would else go to a charge that is about to end, and
		// leave the min with it.
		for _, t := range ended {
			l.taskEvent(EventReleased, t)
			r.did(&r.rep.Released, j.id, t.id)
			l.end(t)
		}
		for _, t := range again {
			l.taskEvent(EventRolledBack, t)
			r.did(&r.rep.RolledBack, j.id, t.id)
		}
		// Together, as by Rollback: none draws on what another gives back.
		l.rollBack(again...)
		for t := range r.tasksOf(j) {
			if v := r.tasks[t.id]; l.tasks[t.id] == t && t.state == taskCommitted && (v == nil && !r.leaves(j.id) || v != nil && v.class != classAllocated) {
				r.rep.Unseen = append(r.rep.Unseen, Ref{Job: j.id, Task: t.id, Seq: t.seq})
			}
		}
	})
}

// givesBack reports whether a charge goes, and whether it is as if it had never been. A
// charge that no view has confirmed stays: its pod is on the way to the informer.
func (r *reconciler) givesBack(t *task) (given, again bool) {
	v := r.tasks[t.id]
	confirmed := t.state == taskConfirmed
	switch {
	case r.gone[t.id], v != nil && v.class == classEnded:
		return true, false
	case v == nil:
		return confirmed && !r.leaves(t.job), false
	case v.class == classAllocated:
		return false, false
	}
	// It is pending or pipelined: unconfirmed, the view may be older than the commit.
	return confirmed, true
}

// place makes the charges of a job's allocated tasks, and sees that it is in its
// queue.
func (r *reconciler) place(v *sightJob) {
	l := r.l
	q := l.queues[v.Queue]
	if v.lost = q == nil; v.lost {
		r.rep.fail(v.ID, "", ReasonUnknownQueue, v.Queue)
		return
	}
	if j := l.jobs[v.ID]; j != nil && recordOf(j.Queue) != q && v.moves {
		if v.lost = !book.MayMove(&j.Job, &q.Queue); v.lost {
			r.rep.fail(v.ID, "", ReasonTooLarge, fmt.Sprintf("queue %q can't count what it has", brief(v.Queue)))
			return
		}
		// Its pending tasks have to go along, see wait.
		v.moved = true
		l.book.Move(&j.Job, &q.Queue)
		r.did(&r.rep.Corrected, v.ID, "")
	}
	r.charges(q, v)
}

// charges makes, corrects or confirms the charges of a job's allocated tasks. Those to
// be corrected go first, all of them: tasks that moved to another card together don't
// bind each other to the one that they left.
func (r *reconciler) charges(q *queue, v *sightJob) {
	l := r.l
	var wrong []*task
	var missing []*sightTask
	for vt := range r.allocated(v) {
		switch t := vt.was; {
		case t == nil:
			missing = append(missing, vt)
		case !vt.matches(t):
			wrong, missing = append(wrong, t), append(missing, vt)
		default:
			// It is charged as the view has it, and counts as seen from now on.
			r.confirm(t, vt.req.node)
		}
	}
	l.rollBack(wrong...)
	for _, vt := range missing {
		var is book.Answer
		switch t := vt.was; {
		// No limit stops what runs, but a sum that could not be counted does, of this task
		// alone.
		case !book.MayForce(&is, &q.Queue, &vt.req.use, vt.cards):
			var a Answer
			l.fillTask(&a, &is, vt.req, &q.Queue)
			r.rep.fail(v.ID, vt.req.id, a.Refusal.Reason, a.Refusal.Message())
			// Its old charge is gone by now, and no new one takes its place: to the host it
			// waits again.
			if t != nil {
				l.taskEvent(EventRolledBack, t)
				r.did(&r.rep.RolledBack, v.ID, vt.req.id)
			}
			continue
		case t != nil:
			r.did(&r.rep.Corrected, v.ID, vt.req.id)
		default:
			r.did(&r.rep.Imported, v.ID, vt.req.id)
		}
		r.charge(q, vt)
	}
}

// confirm notes that a view has a charge, and on which node, if it says so.
func (r *reconciler) confirm(t *task, node string) {
	// A view that doesn't know the node doesn't take it back.
	if moved := node != "" && len(t.onCards()) > 0 && (t.site == nil || t.site.node != node); moved {
		r.l.put(t, node, true)
		r.rep.Changed = true
	}
	// From now on its absence from a view of its job means that it has gone.
	if t.state != taskConfirmed {
		t.state = taskConfirmed
		r.rep.Changed = true
	}
}

// allocated returns the tasks of a job in the view that are to be charged.
func (r *reconciler) allocated(v *sightJob) iter.Seq[*sightTask] {
	return func(yield func(*sightTask) bool) {
		for _, vt := range v.tasks {
			if vt.class == classAllocated && !r.gone[vt.req.id] && !yield(vt) {
				return
			}
		}
	}
}

// charge makes the charge of an allocated task. If the job's other tasks are bound to
// another card, it counts against no item of the job until the job gets another min.
func (r *reconciler) charge(q *queue, v *sightTask) {
	l := r.l
	j := l.jobs[v.req.job]
	if j == nil {
		j = l.newJob(v.req.job, &q.Queue)
	}
	// Forced, whatever the limits say: it runs.
	t := newTask(v.req.id, v.req.job, &j.Job, l.seq+1, taskConfirmed)
	t.Force(&v.req.use, v.cards)
	l.tasks[t.id] = t
	l.put(t, v.req.node, true)
	l.taskEvent(EventReconciled, t)
}

// assign finds the charge that each allocated task of the view has already, and the cards
// that it is to be charged on: where it is charged already if its node has that card, else
// those of the view. Where the view knows none, because the node has no card of that
// resource, the charge stays where it is or, without one, goes on the first card that is
// listed: it must count somewhere.
func (r *reconciler) assign() {
	for _, v := range r.jobs {
		for vt := range r.allocated(v) {
			vt.was = r.l.tasks[vt.req.id]
			for i := range vt.cards {
				alts, was := vt.req.use.Items[i].Alts, int32(-1)
				// By what it asks for, since a pod may list its items in another order by now.
				if vt.was != nil {
					if at := slices.IndexFunc(vt.was.Charges, func(c book.Charge) bool { return c.Alts == alts }); at >= 0 {
						was = vt.was.Charges[at].Card
					}
				}
				switch {
				case was >= 0 && (vt.cards[i] < 0 || vt.on.Has(was) && alts.Index(was) >= 0):
					vt.cards[i] = was
				case vt.cards[i] < 0:
					vt.cards[i] = alts.Cards[0]
				}
			}
		}
	}
}

// matches reports whether a task is charged what the view says, on the view's cards.
func (v *sightTask) matches(t *task) bool {
	return t.job == v.req.job && t.Is(&v.req.use) && slices.EqualFunc(t.Charges, v.cards, func(c book.Charge, card int32) bool { return c.Card == card })
}

// giveUp takes the reservations of jobs that have gone or wait to be admitted
// again, and the holds of those that don't keep them. A reservation is seen once the view
// has its job in another phase than Pending; before that the informer may be late.
func (r *reconciler) giveUp() {
	l := r.l
	r.records(func(j *job) {
		v := r.listed(j.id)
		switch {
		// There is nothing to take, or the view doesn't say anything of it that could be
		// acted on.
		case !j.Reserved || v != nil && v.lost || r.leaves(j.id):
		case v != nil && v.Phase != PhasePending:
			if !v.holds(j) {
				r.agreeMin(v, j)
			}
		case !j.Seen:
			r.rep.Unseen = append(r.rep.Unseen, Ref{Job: j.id, Seq: j.seq})
		default:
			l.jobEvent(EventReleased, j)
			r.did(&r.rep.Released, j.id, "")
			j.Seen, j.seq = false, 0
			l.book.Unreserve(&j.Job, l.cfg.AnyMix)
			l.forget(j)
		}
	})
}

// holds reports whether a job keeps what its min has beyond its charges. The
// record may be nil.
func (v *sightJob) holds(j *job) bool {
	return v.Phase == PhaseInqueue || v.Phase == PhaseRunning && j != nil && int(j.Tasks) >= int(v.MinMember)
}

// admit sees that a job in the view has the min that it should have.
func (r *reconciler) admit(v *sightJob) {
	j := r.l.jobs[v.ID]
	if !v.listed || v.lost || v.Phase == PhasePending || j == nil && v.Phase != PhaseInqueue {
		return
	}
	r.agreeMin(v, j)
	if j = r.l.jobs[v.ID]; j != nil && j.Reserved && !j.Seen {
		j.Seen = true
		r.rep.Changed = true
	}
}

// agreeMin makes the min of a job that of the view, with or without what its
// charges don't cover. The record may be nil. A job that keeps no holds has what its
// charges cover as its min, and none at all without charges.
func (r *reconciler) agreeMin(v *sightJob, j *job) {
	l := r.l
	var needs *book.Min
	if v.min != nil {
		needs = &v.min.min
	}
	reserved, keeps := j != nil && j.Reserved, v.holds(j)
	switch {
	case needs == nil && (keeps || !reserved):
		return
	// To plan the same min anew could move its holds.
	case reserved && keeps && j.Has(needs):
		return
	// Without a hold and without a charge nothing is left of the job.
	case !keeps && j.Tasks == 0:
		l.jobEvent(EventReleased, j)
		r.did(&r.rep.Released, j.id, "")
		l.releaseJob(j)
		return
	// The view has no min, or none that can be read, so that of the ledger is cut.
	case needs == nil:
		needs = j.MinNow()
	}
	var p book.Plan
	var is book.Answer
	q, counts := &l.queues[v.Queue].Queue, true
	// A plan first: if it agrees with what the job has, nothing has changed.
	p.Start(needs, j.record())
	if keeps {
		counts = p.FillAll(&is, q)
	} else {
		p.Cut()
	}
	// The same view again is no change, and no number.
	if reserved && p.Agrees(&j.Job) {
		return
	}
	if !counts {
		var a Answer
		l.fillJob(&a, &is, &JobRequest{id: v.ID, queue: v.Queue, min: *needs}, q)
		r.rep.fail(v.ID, "", a.Refusal.Reason, a.Refusal.Message())
		return
	}
	list := &r.rep.Corrected
	if j == nil {
		j = l.newJob(v.ID, q)
	}
	// A new reservation has the number of this change, by which Expire goes.
	if !reserved {
		list, j.seq = &r.rep.Imported, l.seq+1
	}
	j.Reserve(&p)
	r.did(list, j.id, "")
	l.jobEvent(EventReconciled, j)
}

// wait makes the pending tasks those of the view. What a partial one leaves goes with
// its job to another queue.
func (r *reconciler) wait() {
	l, all := r.l, !r.partial
	waiting := make(map[string]*TaskRequest, len(r.tasks))
	for _, v := range r.jobs {
		all = all || v.listed || v.moved
		for _, vt := range v.tasks {
			t := vt.req
			if vt.class == classPending && t.invalid == "" && l.tasks[t.id] == nil && !r.gone[t.id] {
				// What it was made of is not kept: nobody asks for it, and there may be many. So the
				// items are copied: they may be in the memory of the request.
				w := &TaskRequest{id: t.id, job: t.job, queue: t.queue, use: t.use}
				w.use.Items = slices.Clone(w.use.Items)
				waiting[t.id] = w
			}
		}
	}
	drop := func(id string) {
		if l.waiting[id] != nil && waiting[id] == nil {
			delete(l.waiting, id)
			r.rep.Changed = true
		}
	}
	r.taskIDs(drop)
	if all { // else no task is concerned that the view doesn't have
		for id, old := range l.waiting {
			if v := r.byID[old.job]; !r.leaves(old.job) {
				drop(id)
			} else if v != nil && v.moved {
				old.queue = v.Queue
			}
		}
	}
	for id, w := range waiting {
		// What asks for the same is no change: the same view twice has one number. Lists of
		// alternatives are one value per key.
		if old := l.waiting[id]; old == nil || old.job != w.job || old.queue != w.queue || old.use.Plain != w.use.Plain || !slices.Equal(old.use.Items, w.use.Items) {
			l.waiting[id] = w
			r.rep.Changed = true
		}
	}
}
