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
	invalid   bool         // the min can't be told
	tasks     []*goldViewTask
}

type goldViewTask struct {
	goldRequest
	class class
	over  bool // succeeded or failed
	node  string
	cards []string // by item, of a task to be charged
	isPod bool     // whose resource says which cards it could have
}

// goldView is a view. What a partial one doesn't have of a job stays as it is, unless
// the job is listed.
type goldView struct {
	partial bool
	jobs    []*goldViewJob
	deleted map[string]bool
}

// reconcile makes the ledger agree with a view, and reports it.
func (g *golden) reconcile(view goldView) (rep Report) {
	jobs := slices.Clone(view.jobs)
	slices.SortFunc(jobs, func(a, b *goldViewJob) int { return cmp.Compare(a.id, b.id) })
	r := goldReconciler{golden: g, rep: &rep, tasks: map[string]*goldViewTask{}, deleted: view.deleted, leaves: map[string]bool{}}
	if view.partial {
		for id := range g.jobs {
			r.leaves[id] = true
		}
		for _, t := range g.waiting {
			r.leaves[t.job] = true
		}
	}
	for _, v := range jobs {
		if v.listed {
			delete(r.leaves, v.id)
		}
		for _, t := range v.tasks {
			r.tasks[t.id] = t
			if t.invalid {
				r.fail(v.id, t.id, ReasonGetTaskRequestResourceFailed)
			}
			for _, want := range t.items {
				if card, allowed := r.card(t, want, ""); t.class == classAllocated && !allowed {
					rep.Mismatched = append(rep.Mismatched, Ref{Job: v.id, Task: t.id, Card: card})
				}
			}
		}
		if v.listed && v.invalid {
			r.fail(v.id, "", ReasonGetTaskRequestResourceFailed)
		}
	}
	g.keepOrphans = true
	r.giveBack()
	for _, v := range jobs {
		r.place(v)
	}
	r.giveUp(jobs)
	for _, v := range jobs {
		r.admit(v)
	}
	r.wait(jobs)
	g.keepOrphans = false
	g.prune()
	g.changed()
	rep.sort()
	rep.Seq = g.seq
	if rep.Changed {
		rep.Seq++
	}
	return rep
}

type goldReconciler struct {
	*golden
	rep     *Report
	tasks   map[string]*goldViewTask
	deleted map[string]bool
	leaves  map[string]bool // jobs of which tasks stay that the view doesn't have
}

func (r *goldReconciler) fail(job, task string, reason Reason) {
	r.rep.Failed = append(r.rep.Failed, Ref{Job: job, Task: task, Reason: reason})
}

func (r *goldReconciler) did(list *[]Ref, job, task string) {
	*list = append(*list, Ref{Job: job, Task: task})
	r.rep.Changed = true
}

// giveBack is (2), (3) and (4) of the description, for tasks.
func (r *goldReconciler) giveBack() {
	var released, rolledBack []string
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		for _, t := range r.jobs[id].tasks {
			seen, confirmed := r.tasks[t.id], t.state == taskConfirmed
			switch {
			case r.leaves[id] && seen == nil && !r.deleted[t.id]:
			case r.deleted[t.id] || seen != nil && seen.class == classEnded || seen == nil && confirmed:
				released = append(released, t.id)
				r.did(&r.rep.Released, id, t.id)
			case seen != nil && seen.class == classAllocated:
			case confirmed:
				rolledBack = append(rolledBack, t.id)
				r.did(&r.rep.RolledBack, id, t.id)
			default:
				r.rep.Unseen = append(r.rep.Unseen, Ref{Job: id, Task: t.id, Seq: t.seq})
			}
		}
	}
	r.golden.giveBack(true, released)
	r.golden.giveBack(false, rolledBack)
}

// place is (1): allocated tasks are charged, in the queue that the view says.
func (r *goldReconciler) place(v *goldViewJob) {
	if r.queues[v.queue] == nil {
		r.fail(v.id, "", ReasonUnknownQueue)
		return
	}
	moves := v.listed || slices.ContainsFunc(v.tasks, func(t *goldViewTask) bool { return t.class == classAllocated && !r.deleted[t.id] })
	if j := r.jobs[v.id]; j != nil && j.queue != v.queue && moves {
		j.queue = v.queue
		for id, t := range r.waiting {
			if t.job == v.id {
				moved := *t
				moved.queue = v.queue
				r.waiting[id] = &moved
			}
		}
		r.changed()
		r.did(&r.rep.Corrected, v.id, "")
	}
	tasks := slices.Clone(v.tasks)
	slices.SortFunc(tasks, func(a, b *goldViewTask) int { return cmp.Compare(a.id, b.id) })
	var wrong []string
	var missing []*goldViewTask
	for _, t := range tasks {
		if t.class != classAllocated || r.deleted[t.id] || r.confirms(t) {
			continue
		}
		missing = append(missing, t)
		if r.golden.tasks[t.id] != nil {
			wrong = append(wrong, t.id)
			r.did(&r.rep.Corrected, t.job, t.id)
		} else {
			r.did(&r.rep.Imported, t.job, t.id)
		}
	}
	r.golden.giveBack(false, wrong)
	for _, t := range missing {
		r.charge(t)
	}
}

// card returns the card that an item of an allocated task is on, and whether the
// task allows it.
func (r *goldReconciler) card(v *goldViewTask, want goldWant, was string) (card string, allowed bool) {
	if goldOutput(want.cards[0]) {
		return want.cards[0], true
	}
	on := r.nodes[v.node]
	if was != "" && slices.Contains(on, was) && slices.Contains(want.cards, was) {
		return was, true
	}
	for _, card := range want.cards {
		if slices.Contains(on, card) {
			return card, true
		}
	}
	if v.isPod && len(on) > 0 {
		return on[0], false
	}
	return cmp.Or(was, want.cards[0]), true
}

// confirms confirms the charge of a task if that is what the view has, and else sets
// the cards that it should be on.
func (r *goldReconciler) confirms(v *goldViewTask) bool {
	t := r.golden.tasks[v.id]
	wants := v.goldRequest
	wants.invalid = false // charged is what could be told
	same := t != nil && r.golden.charges(t, &wants)
	v.cards = nil
	for i, want := range v.items {
		was := ""
		if t != nil && i < len(t.charges) && goldKey(t.charges[i].cards) == goldKey(want.cards) {
			was = t.charges[i].card
		}
		card, _ := r.card(v, want, was)
		v.cards = append(v.cards, card)
		same = same && card == was
	}
	if same && t.state != taskConfirmed {
		t.state = taskConfirmed
		r.rep.Changed = true
	}
	return same
}

// charge charges what the view has, in the job's own order.
func (r *goldReconciler) charge(v *goldViewTask) {
	j := r.jobs[v.job]
	if j == nil {
		j = &goldJob{id: v.job, queue: v.queue, anyMix: r.cfg.AnyMix}
		r.jobs[v.job] = j
	}
	t := &goldTask{id: v.id, job: v.job, seq: r.seq + 1, state: taskConfirmed}
	for dim, amount := range v.plain {
		covered := min(amount, j.plain[dim].hold)
		j.plain[dim].hold -= covered
		t.plain[dim] = goldDraw{amount, covered}
	}
	free := slices.Clone(j.items)
	for i, want := range v.items {
		it := j.match(want, free)
		free = slices.DeleteFunc(free, func(other *goldItem) bool { return other == it })
		t.charges = append(t.charges, j.charged(want, it, v.cards[i]))
	}
	j.tasks = append(j.tasks, t)
	r.golden.tasks[t.id] = t
	r.changed()
}

// charged charges an item on a card, as a commit does or, where a commit couldn't,
// against nothing.
func (j *goldJob) charged(want goldWant, it *goldItem, card string) *goldCharge {
	firm := j.firmKey(want.cards)
	listed := want.cards
	if it != nil {
		firm, listed = j.firm(it), it.cards
	}
	if !slices.Contains(listed, card) || firm != "" && firm != card {
		return &goldCharge{cards: want.cards, card: card, milli: want.milli}
	}
	return j.charge(want, it, card)
}

// holds reports whether a job keeps what its charges don't cover of its min.
func (v *goldViewJob) holds(j *goldJob) bool {
	return v.phase == PhaseInqueue || v.phase == PhaseRunning && j != nil && len(j.tasks) >= v.minMember
}

// giveUp takes reservations of jobs that have gone, and holds.
func (r *goldReconciler) giveUp(jobs []*goldViewJob) {
	for _, id := range slices.Sorted(maps.Keys(r.jobs)) {
		j := r.jobs[id]
		if !j.reserved || r.leaves[id] {
			continue
		}
		var v *goldViewJob
		for _, other := range jobs {
			if other.id == id && other.listed {
				v = other
			}
		}
		switch {
		case v != nil && r.queues[v.queue] == nil:
		case v != nil && v.phase != PhasePending:
			if !v.holds(j) {
				r.settle(v)
			}
		case !j.seen:
			r.rep.Unseen = append(r.rep.Unseen, Ref{Job: id, Seq: j.seq})
		default:
			r.did(&r.rep.Released, id, "")
			if len(j.tasks) == 0 {
				r.drop(j)
				continue
			}
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
	r.settle(v)
	if j := r.jobs[v.id]; j != nil && j.reserved && !j.seen {
		j.seen = true
		r.rep.Changed = true
	}
}

// settle makes the min of a job the view's, or what its charges cover of it.
func (r *goldReconciler) settle(v *goldViewJob) {
	j, want := r.jobs[v.id], v.min
	reserved, keeps := j != nil && j.reserved, v.holds(j)
	switch {
	case want == nil && (keeps || !reserved):
		return
	case reserved && keeps && j.asks(want):
		return
	case !keeps && len(j.tasks) == 0:
		r.did(&r.rep.Released, v.id, "")
		r.drop(j)
		return
	case want == nil:
		want = &goldRequest{id: v.id, queue: v.queue, anyMix: j.anyMix, plain: [2]int64{j.plain[0].min, j.plain[1].min}}
		for _, it := range j.items {
			want.items = append(want.items, goldWant{it.cards, it.min, it.unit})
		}
	}
	own, next := r.own(j), r.drawn(want, j)
	for dim := range next.plain {
		if !keeps {
			next.plain[dim].min -= next.plain[dim].hold
			next.plain[dim].hold = 0
		}
	}
	for i, it := range next.items {
		if !keeps {
			it.min -= next.left(it)
			continue
		}
		if r.fill(&Answer{}, v.queue, i, next, it, own) {
			continue
		}
		first := cmp.Or(next.firm(it), it.cards[0])
		it.add(first, next.left(it)-it.held())
	}
	if reserved && next.describe() == j.describe() {
		return
	}
	list := &r.rep.Corrected
	if !reserved {
		list = &r.rep.Imported
	}
	r.put(next)
	r.did(list, v.id, "")
}

// wait notes what is pending.
func (r *goldReconciler) wait(jobs []*goldViewJob) {
	waiting := map[string]*goldRequest{}
	for id, t := range r.waiting {
		if r.leaves[t.job] && r.tasks[id] == nil && !r.deleted[id] {
			waiting[id] = t
		}
	}
	for _, v := range jobs {
		for _, t := range v.tasks {
			if t.class == classPending && !t.invalid && r.golden.tasks[t.id] == nil && !r.deleted[t.id] {
				waiting[t.id] = &t.goldRequest
			}
		}
	}
	if !maps.EqualFunc(waiting, r.waiting, (*goldRequest).equal) {
		r.rep.Changed = true
	}
	r.golden.waiting = waiting
}

func (r *goldRequest) equal(other *goldRequest) bool {
	return r.job == other.job && r.queue == other.queue && r.plain == other.plain &&
		slices.EqualFunc(r.items, other.items, func(a, b goldWant) bool {
			return goldKey(a.cards) == goldKey(b.cards) && a.milli == b.milli
		})
}
