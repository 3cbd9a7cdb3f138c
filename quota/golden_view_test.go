package quota

import (
	"cmp"
	"maps"
	"slices"
)

// goldViewJob is a job of a view, or one of which a view has tasks.
type goldViewJob struct {
	id, queue string
	listed    bool
	phase     Phase
	minMember int
	min       *goldRequest // nil: not known
	invalid   bool         // nobody knows its min
	tasks     []*goldViewTask
}

type goldViewTask struct {
	goldRequest
	class class
	over  bool // succeeded or failed
	node  string
	isPod bool // whose resource says which cards it could have
}

// goldView is a view. What a partial one doesn't have of a job stays as it is, unless
// the job is listed.
type goldView struct {
	partial bool
	views   []*goldViewJob
	deleted map[string]bool
}

// goldReconciler makes a ledger agree with a view.
type goldReconciler struct {
	*golden
	goldView
	rep    *Report
	listed map[string]*goldViewJob
	seen   map[string]*goldViewTask
}

// reconcile makes the ledger agree with a view, and reports it (7; numbers below are of its
// row there).
func (g *golden) reconcile(view goldView) (rep Report) {
	r := goldReconciler{g, view, &rep, map[string]*goldViewJob{}, map[string]*goldViewTask{}}
	r.views = slices.SortedFunc(slices.Values(view.views), func(a, b *goldViewJob) int { return cmp.Compare(a.id, b.id) })
	for _, v := range r.views {
		if v.listed {
			r.listed[v.id] = v
		}
		if v.invalid {
			r.fail(v.id, "", ReasonGetTaskRequestResourceFailed)
		}
		for _, t := range v.tasks {
			r.seen[t.id] = t
			if t.invalid {
				r.fail(v.id, t.id, ReasonGetTaskRequestResourceFailed)
			}
			for _, want := range t.items {
				if card, allowed := r.card(t, want, ""); t.class == classAllocated && !allowed {
					rep.Mismatched = append(rep.Mismatched, Ref{Job: v.id, Task: t.id, Detail: card})
				}
			}
		}
	}
	r.takeBack()
	for _, v := range r.views {
		r.place(v)
	}
	r.giveUp()
	for _, v := range r.views {
		r.admit(v)
	}
	r.wait()
	g.prune()
	rep.sort()
	if rep.Seq = g.seq; rep.Changed {
		rep.Seq++
	}
	return rep
}

// leaves reports whether what the view doesn't have of a job stays.
func (r *goldReconciler) leaves(job string) bool { return r.partial && r.listed[job] == nil }

func (r *goldReconciler) fail(job, task string, reason Reason) {
	r.rep.Failed = append(r.rep.Failed, Ref{Job: job, Task: task, Reason: reason})
}

func (r *goldReconciler) did(list *[]Ref, job, task string) {
	*list = append(*list, Ref{Job: job, Task: task})
	r.rep.Changed = true
}

// takeBack is (2), (3) and (4) of the specification, for tasks.
func (r *goldReconciler) takeBack() {
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		for _, t := range r.jobs[id].tasks {
			seen, confirmed := r.seen[t.id], t.state == taskConfirmed
			switch {
			case seen == nil && r.leaves(id) && !r.deleted[t.id]:
			case r.deleted[t.id] || seen != nil && seen.class == classEnded || seen == nil && confirmed:
				r.did(&r.rep.Released, id, t.id)
			case seen != nil && seen.class == classAllocated:
			case confirmed:
				r.did(&r.rep.RolledBack, id, t.id)
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

// place is (1): allocated tasks are charged, in the queue that the view says.
func (r *goldReconciler) place(v *goldViewJob) {
	if r.queues[v.queue] == nil {
		r.fail(v.id, "", ReasonUnknownQueue)
		return
	}
	allocated := slices.DeleteFunc(slices.Clone(v.tasks), func(t *goldViewTask) bool { return t.class != classAllocated || r.deleted[t.id] })
	slices.SortFunc(allocated, func(a, b *goldViewTask) int { return cmp.Compare(a.id, b.id) })
	if j := r.jobs[v.id]; j != nil && j.queue != v.queue && (v.listed || len(allocated) > 0) {
		j.queue = v.queue
		for id, t := range r.waiting {
			if t.job == v.id {
				t.queue = v.queue
				r.waiting[id] = t
			}
		}
		r.did(&r.rep.Corrected, v.id, "")
	}
	missing := map[*goldViewTask][]string{} // the cards that they are on
	for _, t := range allocated {
		cards, confirmed := r.confirms(t)
		switch {
		case confirmed:
			continue
		case r.uncharge(t.id, false):
			r.did(&r.rep.Corrected, t.job, t.id)
		default:
			r.did(&r.rep.Imported, t.job, t.id)
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
func (r *goldReconciler) card(v *goldViewTask, want goldWant, was string) (card string, allowed bool) {
	if !goldCard(want.cards[0]) {
		return want.cards[0], true
	}
	on := r.cardsOf(v.node)
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
func (r *goldReconciler) confirms(v *goldViewTask) (cards []string, same bool) {
	j, t := r.task(v.id)
	same = t != nil && j.charged(t, &v.goldRequest)
	for _, want := range v.items {
		was := ""
		for i := 0; t != nil && i < len(t.charges); i++ {
			if t.charges[i].same(want) {
				was = t.charges[i].card
			}
		}
		card, _ := r.card(v, want, was)
		cards = append(cards, card)
		same = same && card == was
	}
	node := v.node
	if same && len(t.cards()) == 0 { // it is on no card
		node = ""
	}
	if same && (t.state != taskConfirmed || node != "" && node != t.node) {
		t.state, t.node = taskConfirmed, cmp.Or(node, t.node)
		r.rep.Changed = true
	}
	return cards, same
}

// holds reports whether a job keeps what its charges don't cover of its min.
func (v *goldViewJob) holds(j *goldJob) bool {
	return v.phase == PhaseInqueue || v.phase == PhaseRunning && len(j.tasks) >= v.minMember
}

// giveUp takes reservations of jobs that have gone, and holds.
func (r *goldReconciler) giveUp() {
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		j := r.jobs[id]
		v := r.listed[id]
		switch {
		case !j.reserved || r.leaves(id) || v != nil && r.queues[v.queue] == nil:
		case v != nil && v.phase != PhasePending:
			if !v.holds(j) {
				r.setMin(v)
			}
		case !j.seen:
			r.rep.Unseen = append(r.rep.Unseen, Ref{Job: id, Seq: j.seq})
		default:
			r.did(&r.rep.Released, id, "")
			next := r.drawn(&goldRequest{id: id, queue: j.queue, anyMix: r.cfg.AnyMix}, j)
			next.reserved, next.seen, next.seq = false, false, 0
			r.put(next)
		}
	}
}

// admit is (5): the job gets the min that the view says.
func (r *goldReconciler) admit(v *goldViewJob) {
	j := r.jobs[v.id]
	if !v.listed || v.phase == PhasePending || r.queues[v.queue] == nil || j == nil && v.phase != PhaseInqueue {
		return
	}
	r.setMin(v)
	if j := r.jobs[v.id]; j != nil && j.reserved && !j.seen {
		j.seen = true
		r.rep.Changed = true
	}
}

// setMin makes the min of a job the view's or, if it loses its holds, what its charges cover of
// it. What doesn't fit goes on the first alternative, if it can be counted (15).
func (r *goldReconciler) setMin(v *goldViewJob) {
	j, want := r.record(v.queue, v.id), v.min
	keeps := v.holds(j)
	switch {
	case want == nil && (keeps || !j.reserved):
		return
	case j.reserved && keeps && j.asks(want):
		return
	case !keeps && len(j.tasks) == 0:
		r.did(&r.rep.Released, v.id, "")
		delete(r.jobs, v.id)
		return
	case want == nil:
		want = j.request()
	}
	next, tooLarge := r.drawn(want, j), Reason("")
	for i := 0; keeps && i < len(next.items); i++ {
		it := &next.items[i]
		if !r.fill(&Answer{}, j, next, i) {
			it.add(cmp.Or(next.firm(it.goldWant, i), it.cards[0]), next.left(i)-it.held())
		}
		for card, held := range it.hold {
			room := r.within(held, Headroom{Resource: card, Room: Unlimited}, next.queue, j.vacated(next, i, card), 0)
			if room.Why == ReasonTooLarge {
				tooLarge = cmp.Or(tooLarge, goldRefuseAmount(v.queue, 0, it.goldWant, room).Reason)
			}
		}
	}
	if !keeps {
		next.cut()
	}
	list := &r.rep.Imported
	if j.reserved {
		list = &r.rep.Corrected
	}
	switch {
	case j.reserved && next.text() == j.text():
	case tooLarge != "":
		r.fail(v.id, "", tooLarge)
	default:
		r.put(next)
		r.did(list, v.id, "")
	}
}

// wait notes what is pending.
func (r *goldReconciler) wait() {
	waiting := map[string]goldRequest{}
	for id, t := range r.waiting {
		if r.leaves(t.job) && r.seen[id] == nil && !r.deleted[id] {
			waiting[id] = t
		}
	}
	for id, t := range r.seen {
		if _, charged := r.task(id); t.class == classPending && !t.invalid && charged == nil && !r.deleted[id] {
			waiting[id] = t.goldRequest
		}
	}
	same := func(a, b goldRequest) bool {
		return a.job == b.job && a.queue == b.queue && goldSame(a.items, b.items)
	}
	if !maps.EqualFunc(waiting, r.waiting, same) {
		r.rep.Changed = true
	}
	r.waiting = waiting
}
