package quota

import (
	"cmp"
	"maps"
	"slices"
)

// goldViewJob is a job of a view, or one of which a view has tasks.
type goldViewJob struct {
	Job
	min     *goldRequest // nil: not known
	invalid bool         // nobody knows its min
	tasks   []*goldViewTask
}

type goldViewTask struct {
	goldRequest
	class class
	over  bool // succeeded or failed
	isPod bool // whose resource says which cards it could have
}

// goldView is a view, and makes a ledger agree with it. What a partial one doesn't have of a job
// stays as it is, unless the job is listed.
type goldView struct {
	partial bool
	views   map[string]*goldViewJob
	listed  map[string]*goldViewJob
	seen    map[string]*goldViewTask
	deleted map[string]bool

	*golden
	rep Report
}

// reconcile makes the ledger agree with a view, and reports it (7; numbers below are of its
// row there).
func (g *golden) reconcile(r goldView) Report {
	before, ids := g.state(), slices.Sorted(maps.Keys(r.views))
	r.golden = g
	r.takeBack()
	for _, id := range ids {
		r.place(r.views[id])
	}
	r.giveUp()
	for _, id := range ids {
		r.admit(r.views[id])
	}
	r.wait()
	g.prune()
	r.rep.sort()
	if r.rep.Seq, r.rep.Changed = g.seq, g.state() != before; r.rep.Changed {
		r.rep.Seq++
	}
	return r.rep
}

// leaves reports whether what the view doesn't have of a job stays.
func (r *goldView) leaves(job string) bool { return r.partial && r.listed[job] == nil }

func (r *goldView) fail(job, task string, reason Reason) {
	r.rep.Failed = append(r.rep.Failed, Ref{Job: job, Task: task, Reason: reason})
}

// takeBack is (2), (3) and (4) of the specification, for tasks.
func (r *goldView) takeBack() {
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		for _, t := range r.jobs[id].tasks {
			seen, confirmed := r.seen[t.id], t.state == taskConfirmed
			switch {
			case seen == nil && r.leaves(id) && !r.deleted[t.id]:
			case r.deleted[t.id] || seen != nil && seen.class == classEnded || seen == nil && confirmed:
				r.rep.Released = append(r.rep.Released, Ref{Job: id, Task: t.id})
			case seen != nil && seen.class == classAllocated:
			case confirmed:
				r.rep.RolledBack = append(r.rep.RolledBack, Ref{Job: id, Task: t.id})
			default:
				r.rep.Unseen = append(r.rep.Unseen, Ref{Job: id, Task: t.id, Seq: t.seq})
			}
		}
	}
	for _, ref := range r.rep.Released {
		r.uncharge(ref.Task, true)
	}
	for _, ref := range r.rep.RolledBack {
		r.uncharge(ref.Task, false)
	}
}

// place is (1): allocated tasks are charged, in the queue that the view says. It reports what is
// wrong with the job and its tasks, too.
func (r *goldView) place(v *goldViewJob) {
	if v.invalid {
		r.fail(v.ID, "", ReasonGetTaskRequestResourceFailed)
	}
	var allocated []*goldViewTask
	for _, t := range slices.SortedFunc(slices.Values(v.tasks), func(a, b *goldViewTask) int { return cmp.Compare(a.id, b.id) }) {
		if t.invalid {
			r.fail(v.ID, t.id, ReasonGetTaskRequestResourceFailed)
		}
		for _, want := range t.items {
			if card, allowed := r.card(t, want, ""); t.class == classAllocated && !allowed {
				r.rep.Mismatched = append(r.rep.Mismatched, Ref{Job: v.ID, Task: t.id, Detail: card})
			}
		}
		if t.class == classAllocated && !r.deleted[t.id] {
			allocated = append(allocated, t)
		}
	}
	if r.queues[v.Queue] == nil {
		r.fail(v.ID, "", ReasonUnknownQueue)
		return
	}
	if j := r.jobs[v.ID]; j != nil && j.queue != v.Queue && (r.listed[v.ID] != nil || len(allocated) > 0) {
		j.queue = v.Queue
		for id, t := range r.waiting {
			if t.job == v.ID {
				t.queue = v.Queue
				r.waiting[id] = t
			}
		}
		r.rep.Corrected = append(r.rep.Corrected, Ref{Job: v.ID})
	}
	missing := map[*goldViewTask][]string{} // the cards that they are on
	for _, t := range allocated {
		cards, confirmed := r.confirms(t)
		switch {
		case confirmed:
			continue
		case r.uncharge(t.id, false):
			r.rep.Corrected = append(r.rep.Corrected, Ref{Job: t.job, Task: t.id})
		default:
			r.rep.Imported = append(r.rep.Imported, Ref{Job: t.job, Task: t.id})
		}
		missing[t] = cards
	}
	for _, t := range allocated {
		if on, is := missing[t]; is {
			r.charge(&t.goldRequest, goldTask{id: t.id, node: t.node, seq: r.seq + 1, state: taskConfirmed}, on)
		}
	}
}

// card returns the card that an item of an allocated task is on, and whether the
// task allows it.
func (r *goldView) card(v *goldViewTask, want goldItem, was string) (card string, allowed bool) {
	if !goldCard(want.cards[0]) {
		return want.cards[0], true
	}
	on := slices.Sorted(maps.Keys(r.nodes[v.node]))
	for _, card := range slices.Insert(slices.Clone(want.cards), 0, was) {
		if slices.Contains(on, card) && slices.Contains(want.cards, card) {
			return card, true
		}
	}
	if v.isPod && len(on) > 0 {
		return on[0], false
	}
	return cmp.Or(was, want.cards[0]), true
}

// confirms confirms the charge of a task if that is what the view has. It returns the cards
// that the task should be on.
func (r *goldView) confirms(v *goldViewTask) (cards []string, same bool) {
	j, t := r.task(v.id)
	same = t != nil && j.has(t, &v.goldRequest)
	for _, want := range v.items {
		was := ""
		if t != nil {
			if at := slices.IndexFunc(t.charges, want.same); at >= 0 {
				was = t.charges[at].card
			}
		}
		card, _ := r.card(v, want, was)
		cards, same = append(cards, card), same && card == was
	}
	if same {
		t.state = taskConfirmed
		if len(t.cards()) > 0 { // else it is on no node
			t.node = cmp.Or(v.node, t.node)
		}
	}
	return cards, same
}

// holds reports whether a job keeps what its charges don't cover of its min.
func (v *goldViewJob) holds(j *goldJob) bool {
	return v.Phase == PhaseInqueue || v.Phase == PhaseRunning && len(j.tasks) >= int(v.MinMember)
}

// giveUp takes reservations of jobs that have gone, and holds.
func (r *goldView) giveUp() {
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		j, v := r.jobs[id], r.listed[id]
		switch {
		case !j.reserved || r.leaves(id) || v != nil && r.queues[v.Queue] == nil:
		case v != nil && v.Phase != PhasePending:
			if !v.holds(j) {
				r.setMin(v)
			}
		case !j.seen:
			r.rep.Unseen = append(r.rep.Unseen, Ref{Job: id, Seq: j.seq})
		default:
			r.rep.Released = append(r.rep.Released, Ref{Job: id})
			next := r.drawn(&goldRequest{anyMix: r.cfg.AnyMix, items: goldPlains(0, 0)}, j)
			next.reserved, next.seen, next.seq = false, false, 0
			r.put(next)
		}
	}
}

// admit is (5): the job gets the min that the view says.
func (r *goldView) admit(v *goldViewJob) {
	if r.listed[v.ID] == nil || v.Phase == PhasePending || r.queues[v.Queue] == nil || r.jobs[v.ID] == nil && v.Phase != PhaseInqueue {
		return
	}
	r.setMin(v)
	if j := r.jobs[v.ID]; j != nil && j.reserved {
		j.seen = true
	}
}

// setMin makes the min of a job the view's or, if it loses its holds, what its charges cover of
// it. What doesn't fit goes on the first alternative, if it can be counted (15).
func (r *goldView) setMin(v *goldViewJob) {
	j, want := r.record(v.Queue, v.ID), v.min
	keeps := v.holds(j)
	switch {
	case want == nil && (keeps || !j.reserved), j.reserved && keeps && j.asks(want):
		return
	case !keeps && len(j.tasks) == 0:
		r.rep.Released = append(r.rep.Released, Ref{Job: v.ID})
		delete(r.jobs, v.ID)
		return
	case want == nil:
		want = &j.goldRequest
	}
	next, tooLarge := r.drawn(want, j), Reason("")
	for i := 0; keeps && i < len(next.items); i++ {
		it := &next.items[i]
		if !r.fill(&Answer{}, j, next, i) {
			it.add(cmp.Or(next.firm(*it, i), it.cards[0]), next.left(i)-it.held())
		}
		for card, held := range it.hold {
			room := r.within(held, Headroom{Resource: card, Room: Unlimited}, next.queue, j.vacated(next, i, card), 0)
			if room.Why == ReasonTooLarge {
				tooLarge = cmp.Or(tooLarge, goldRefuseAmount(v.Queue, *it, room).Reason)
			}
		}
	}
	if !keeps {
		next.cut()
	}
	switch {
	case j.reserved && next.text() == j.text():
		return
	case tooLarge != "":
		r.fail(v.ID, "", tooLarge)
		return
	case j.reserved:
		r.rep.Corrected = append(r.rep.Corrected, Ref{Job: v.ID})
	default:
		r.rep.Imported = append(r.rep.Imported, Ref{Job: v.ID})
	}
	r.put(next)
}

// wait notes what is pending.
func (r *goldView) wait() {
	maps.DeleteFunc(r.waiting, func(id string, t goldRequest) bool {
		return !r.leaves(t.job) || r.seen[id] != nil || r.deleted[id]
	})
	for id, t := range r.seen {
		if _, charged := r.task(id); t.class == classPending && !t.invalid && charged == nil && !r.deleted[id] {
			r.waiting[id] = goldRequest{id: id, job: t.job, queue: t.queue, items: goldWants(t.items)}
		}
	}
}
