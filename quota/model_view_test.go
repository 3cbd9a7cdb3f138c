package quota

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// reconcile makes a view that mostly agrees with the ledger.
func (m *model) reconcile() modelOp {
	view, seen := m.view(m.IntN(3) == 0)
	for range m.IntN(2) {
		id := m.taskID(true)
		view.Deleted, seen.deleted[id] = append(view.Deleted, id), true
	}
	m.Shuffle(len(view.Jobs), func(a, b int) { view.Jobs[a], view.Jobs[b] = view.Jobs[b], view.Jobs[a] })
	m.Shuffle(len(view.Tasks), func(a, b int) { view.Tasks[a], view.Tasks[b] = view.Tasks[b], view.Tasks[a] })
	if view.Partial {
		m.what = "Reconcile, partial"
	}
	return modelOp{func() modelResult {
		rep, err := m.l.Reconcile(view)
		for i := range rep.Failed {
			rep.Failed[i].Detail = ""
		}
		// A min that was too large to be counted may fit once mins behind it have shrunk.
		uncounted := slices.ContainsFunc(rep.Failed, func(f Ref) bool { return f.Task == "" })
		if m.leaves == nil && !uncounted {
			if again, err := m.l.Reconcile(view); err != nil || again.Changed || again.Seq != rep.Seq {
				m.fatal("the same view again: %+v, %v", again, err)
			}
		}
		return modelResult{text: modelReport(&rep), err: err, seq: rep.Seq, changed: rep.Changed}
	}, func(g *golden) modelResult {
		rep := g.reconcile(seen)
		return modelResult{text: modelReport(&rep), seq: rep.Seq, changed: rep.Changed}
	}}
}

func modelReport(r *Report) string {
	return fmt.Sprint(r.Seq, r.Changed, "\nimported ", r.Imported, "\ncorrected ", r.Corrected, "\nrolled back ", r.RolledBack,
		"\nreleased ", r.Released, "\nunseen ", r.Unseen, "\nmismatched ", r.Mismatched, "\nfailed ", r.Failed)
}

// view makes a view, as the ledger takes it and as the golden one does.
func (m *model) view(partial bool) (view View, seen goldView) {
	view.Partial = partial
	seen = goldView{partial: partial, views: map[string]*goldViewJob{}, listed: map[string]*goldViewJob{}, seen: map[string]*goldViewTask{}, deleted: map[string]bool{}}
	var jobs []*goldViewJob
	job := func(id, queue string) *goldViewJob {
		if seen.views[id] == nil {
			seen.views[id] = &goldViewJob{Job: Job{ID: id, Queue: queue}}
			jobs = append(jobs, seen.views[id])
		}
		return seen.views[id]
	}
	task := func(v *goldViewJob, r goldRequest) {
		t := m.viewTask(r, v.Queue)
		v.tasks, seen.seen[r.id] = append(v.tasks, t), t
	}
	for _, id := range slices.Sorted(maps.Keys(m.g.jobs)) {
		j := m.g.jobs[id]
		queue := j.queue
		if partial && m.IntN(3) > 0 {
			continue
		}
		if m.IntN(20) == 0 {
			queue = m.queue()
		}
		if m.IntN(5) > 0 || j.seen {
			v := job(id, queue)
			if m.IntN(8) > 0 && !(partial && m.IntN(2) == 0) {
				seen.listed[id] = v
			}
		}
		for _, t := range j.tasks {
			if m.IntN(6) > 0 {
				v := job(id, queue)
				task(v, m.taskAgain(id, t))
			}
		}
	}
	for range m.IntN(4) {
		v := job(fmt.Sprint("j", m.IntN(14)), m.queue())
		if seen.listed[v.ID] != nil || m.IntN(2) == 0 {
			seen.listed[v.ID] = v
		}
		r := goldRequest{id: m.taskID(false), job: v.ID, items: append(goldPlains(m.small(), m.small()), m.wants(m.IntN(3), true)...)}
		if seen.seen[r.id] == nil {
			task(v, r)
		}
	}
	for _, v := range jobs {
		var tasks []Task
		for _, t := range v.tasks {
			tasks = append(tasks, m.taskOfView(t))
		}
		switch {
		case seen.listed[v.ID] != nil:
			view.Jobs = append(view.Jobs, m.jobOfView(v, tasks))
		case len(tasks) == 0: // nothing is seen of it
			delete(seen.views, v.ID)
		default:
			view.Tasks = append(view.Tasks, tasks...)
		}
	}
	return view, seen
}

// small is an amount of cpu or memory that is rarely large.
func (m *model) small() int64 {
	if m.large && m.IntN(20) == 0 {
		return m.huge()
	}
	return int64(m.IntN(4)) * max(m.card/2, 1)
}

// taskAgain is a request for what a task is charged, or for something like it.
func (m *model) taskAgain(job string, t goldTask) goldRequest {
	r := goldRequest{id: t.id, job: job, items: goldWants(t.charges)}
	cpu, memory := r.items[0].amount, r.items[1].amount
	switch m.IntN(24) {
	case 0:
		cpu = m.small()
	case 1:
		memory = m.small()
	}
	counted := r.items[2:]
	if m.IntN(12) == 0 {
		counted = m.wants(m.IntN(3), true)
	}
	r.items = append(goldPlains(cpu, memory), counted...)
	return r
}

// viewTask gives a request a place in a view: a status and a node. What a pod asks
// for is in whole cards that are known.
func (m *model) viewTask(r goldRequest, queue string) *goldViewTask {
	t := &goldViewTask{goldRequest: r}
	t.queue = queue
	var wants []goldItem
	for _, want := range t.items {
		if !goldCard(want.cards[0]) {
			wants = append(wants, want)
			continue
		}
		if m.card > 1 {
			want.amount = min((want.amount+999)/1000, maxCards) * 1000
		}
		if !slices.ContainsFunc(want.cards, func(card string) bool { return !m.g.known[card] }) {
			wants = append(wants, want)
		}
	}
	t.items = wants
	cards := goldCards(t.items)
	t.isPod = len(cards) == 1 && m.card > 1 && m.IntN(2) == 0
	if t.invalid = m.IntN(40) == 0; t.invalid {
		t.items, cards, t.isPod = goldPlains(0, 0), nil, false
	}
	if m.g.cfg.UnlimitedCPUMemory && len(cards) > 0 {
		t.items = append(goldPlains(0, 0), t.items[2:]...)
	}
	t.node = m.oneOf(append(modelNodes, "gone", "")...)
	if len(cards) > 0 && m.IntN(4) > 0 {
		for node, on := range m.g.nodes {
			if on[cards[0].cards[0]] > 0 {
				t.node = min(t.node, node)
			}
		}
	}
	rare := []class{classPending, classPending, classPending, classAside, classEnded, classEnded}
	if n := m.IntN(20); n < len(rare) {
		t.class = rare[n]
	} else {
		t.class = classAllocated
	}
	if t.class == classAside && m.g.cfg.CountReleasing {
		t.class = classPending
	}
	return t
}

// taskOfView is a task as the ledger takes it.
func (m *model) taskOfView(t *goldViewTask) Task {
	task := Task{
		ID: t.id, Job: t.job, Queue: t.queue, Node: t.node,
		Request: t.goldRequest.requests(), // the same cards whether a pod or a list says so
	}
	phases := map[class][]TaskPhase{
		classAllocated: {TaskAllocated, "Binding", "Bound", TaskAllocated},
		classPending:   {TaskPending},
		classAside:     {TaskPipelined},
		classEnded:     {TaskSucceeded, TaskFailed},
	}
	releasing := classEnded
	if m.g.cfg.CountReleasing {
		releasing = classAllocated
		phases[releasing] = append(phases[releasing], TaskPipelined)
	}
	phases[releasing] = append(phases[releasing], TaskReleasing)
	task.Phase = phases[t.class][m.IntN(len(phases[t.class]))]
	switch {
	case t.invalid:
		task.Cards = []Item{{Alternatives: []string{"Ghost"}, Milli: 1000}}
	case t.isPod:
		count := *resource.NewQuantity(goldCards(t.items)[0].amount/1000, resource.DecimalSI)
		task.Pod = &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": count}},
		}}}}
		task.Pod.Annotations = map[string]string{NameAnnotation: goldKey(goldCards(t.items)[0].cards)}
	default:
		task.Cards = []Item{}
		for _, want := range goldCards(t.items) {
			task.Cards = append(task.Cards, Item{Alternatives: want.cards, Milli: want.amount})
		}
	}
	if t.over = task.Phase.ended(); t.over { // nobody looks what it asked for
		t.items, t.invalid = goldPlains(0, 0), false
	}
	return task
}

// requests is what a task requests without its cards; outputs are made of what has their names.
func (r *goldRequest) requests() corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(r.items[0].amount, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(r.items[1].amount, resource.DecimalSI),
	}
	for _, want := range r.items {
		if goldOutput(want.cards[0]) {
			list[corev1.ResourceName(want.cards[0])] = *resource.NewQuantity(want.amount, resource.DecimalSI)
		}
	}
	return list
}

// jobOfView is a job as the ledger takes it, with a min that the golden one gets,
// too.
func (m *model) jobOfView(v *goldViewJob, tasks []Task) Job {
	v.Phase = []Phase{PhaseInqueue, PhaseInqueue, PhaseRunning, PhaseRunning, PhaseRunning, PhasePending, "Unknown", "Completed"}[m.IntN(8)]
	v.MinMember = int32(m.IntN(3))
	r := &goldRequest{id: v.ID, queue: v.Queue, anyMix: m.g.cfg.AnyMix}
	if j := m.g.jobs[v.ID]; j != nil && m.IntN(4) > 0 {
		r.anyMix, r.items = j.anyMix, slices.Clone(j.items)
	} else {
		r.items = append(goldPlains(m.small(), m.small()), m.wants(m.IntN(3), false)...)
	}
	r.items = slices.DeleteFunc(r.items, func(want goldItem) bool {
		return want.amount == 0 && !goldPlain(want.cards[0]) || want.amount%want.unit != 0 || slices.ContainsFunc(want.cards, func(card string) bool { return !m.g.known[card] && goldCard(card) })
	})
	v.AnyMix, v.Tasks, v.MinUnknown = &r.anyMix, tasks, m.IntN(6) == 0
	v.Min = &Min{CPU: r.items[0].amount, Memory: r.items[1].amount}
	for _, want := range r.items[2:] {
		if !goldOutput(want.cards[0]) {
			v.Min.Items = append(v.Min.Items, Item{want.cards, want.amount, want.unit})
			continue
		}
		if v.Min.Outputs == nil {
			v.Min.Outputs = map[corev1.ResourceName]int64{}
		}
		v.Min.Outputs[corev1.ResourceName(want.cards[0])] = want.amount
	}
	if v.min = m.minOf(v, r); v.MinUnknown {
		v.min, v.invalid = nil, false
	}
	return v.Job
}

// minOf is a min as decisions need it, nil if some task can't be resolved.
func (m *model) minOf(v *goldViewJob, r *goldRequest) *goldRequest {
	free, all := map[string]int64{}, map[string]int64{} // what tasks request, and those without cards
	ended := false
	for _, t := range v.tasks {
		v.invalid = v.invalid || t.invalid
		ended = ended || t.over
		for _, want := range t.items {
			all[want.cards[0]] += want.amount
			if len(goldCards(t.items)) == 0 {
				free[want.cards[0]] += want.amount
			}
		}
	}
	if v.invalid = v.invalid || free["cpu"] >= limitExact || free["memory"] >= limitExact; v.invalid {
		return nil
	}
	hasCards := len(goldCards(r.items)) > 0
	var items []goldItem
	for _, want := range r.items {
		dim := want.cards[0]
		if goldPlain(dim) && m.g.cfg.UnlimitedCPUMemory && hasCards {
			want.amount = min(want.amount, free[dim])
		}
		if ended && !goldCard(dim) {
			want.amount = min(want.amount, all[dim])
		}
		if goldCard(dim) && (!r.anyMix || len(want.cards) == 1) {
			want.unit = 1000
		}
		at := slices.IndexFunc(items, func(it goldItem) bool { return it.compare(want) == 0 })
		if at >= 0 {
			if items[at].amount += want.amount; items[at].amount >= limitExact {
				v.invalid = true
				return nil
			}
		} else if want.amount > 0 || goldPlain(dim) {
			items = append(items, want)
		}
	}
	slices.SortFunc(items, goldItem.compare)
	r.items = items
	return r
}

// goldCards are the items that are cards.
func goldCards(items []goldItem) []goldItem {
	return slices.DeleteFunc(slices.Clone(items), func(it goldItem) bool { return !goldCard(it.cards[0]) })
}
