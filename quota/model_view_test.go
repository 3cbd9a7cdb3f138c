package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// reconcile makes a view that mostly agrees with the ledger.
func (m *model) reconcile() {
	if m.large() {
		return
	}
	view, jobs := m.view(m.IntN(3) == 0)
	deleted := map[string]bool{}
	for range m.IntN(2) {
		view.Deleted = append(view.Deleted, m.taskID(true))
	}
	for _, id := range view.Deleted {
		deleted[id] = true
	}
	got, err := m.l.Reconcile(view)
	if err != nil {
		m.fatal("%v", err)
	}
	want := m.g.reconcile(goldView{view.Partial, jobs, deleted})
	m.compareReports(&got, &want)
	if view.Partial {
		m.what = "Reconcile, partial"
	}
	m.countIf(want.Changed)
	m.end(want.Changed, "")
	want.Over = m.over()
	if !slices.Equal(got.Over, want.Over) {
		m.fatal("over %+v, want %+v", got.Over, want.Over)
	}
	m.compareRecords("")
	if again, err := m.l.Reconcile(view); err != nil || again.Changed || again.Seq != got.Seq {
		m.fatal("the same view again: %+v, %v", again, err)
	}
	m.events = m.events[:0]
}

// large reports whether an amount is so large that sums of a few could be too
// large: what a view asks for is then estimated only.
func (m *model) large() bool {
	for queue := range m.g.queues {
		for dim := range m.g.dims {
			if m.g.sum(queue, dim).full() > 1<<50 {
				return true
			}
		}
	}
	return false
}

func (m *model) over() (list []Overage) {
	for _, queue := range slices.Sorted(maps.Keys(m.g.queues)) {
		for dim, name := range m.g.dims {
			limit, s := m.g.limit(queue, dim), m.g.sum(queue, dim)
			if used := max(s.allocated, s.floor()); limit != Unlimited && used > limit {
				list = append(list, Overage{queue, name, used, limit, used - limit})
			}
		}
	}
	return list
}

func (m *model) compareReports(got, want *Report) {
	m.Helper()
	for i := range got.Failed {
		got.Failed[i].Detail = ""
	}
	text := func(r *Report) string {
		return fmt.Sprint(r.Seq, r.Changed, "\nimported ", r.Imported, "\ncorrected ", r.Corrected, "\nrolled back ", r.RolledBack,
			"\nreleased ", r.Released, "\nunseen ", r.Unseen, "\nmismatched ", r.Mismatched, "\nfailed ", r.Failed)
	}
	if g, w := text(got), text(want); g != w {
		m.fatal("got\n%s\nwant\n%s", g, w)
	}
}

// view makes a view, as the ledger takes it and as the golden one does.
func (m *model) view(partial bool) (view View, jobs []*goldViewJob) {
	view.Partial = partial
	byID := map[string]*goldViewJob{}
	job := func(id, queue string) *goldViewJob {
		if byID[id] == nil {
			byID[id] = &goldViewJob{id: id, queue: queue}
			jobs = append(jobs, byID[id])
		}
		return byID[id]
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
			v.listed = m.IntN(8) > 0 && !(partial && m.IntN(2) == 0)
		}
		for _, t := range j.tasks {
			if m.IntN(6) > 0 {
				v := job(id, queue)
				v.tasks = append(v.tasks, m.viewTask(m.taskAgain(t), v.queue))
			}
		}
	}
	for range m.IntN(4) {
		v := job(fmt.Sprint("j", m.IntN(14)), m.queue())
		v.listed = v.listed || m.IntN(2) == 0
		r := goldRequest{id: m.taskID(false), job: v.id, plain: [2]int64{m.small(), m.small()}, items: m.wants(m.IntN(3), true)}
		if !slices.ContainsFunc(jobs, func(v *goldViewJob) bool {
			return slices.ContainsFunc(v.tasks, func(t *goldViewTask) bool { return t.id == r.id })
		}) {
			v.tasks = append(v.tasks, m.viewTask(r, v.queue))
		}
	}
	jobs = slices.DeleteFunc(jobs, func(v *goldViewJob) bool { return !v.listed && len(v.tasks) == 0 })
	for _, v := range jobs {
		var tasks []Task
		for _, t := range v.tasks {
			tasks = append(tasks, m.taskOfView(t))
		}
		if !v.listed {
			view.Tasks = append(view.Tasks, tasks...)
			continue
		}
		view.Jobs = append(view.Jobs, m.jobOfView(v, tasks))
	}
	return view, jobs
}

// small is an amount of cpu or memory that is never large.
func (m *model) small() int64 { return int64(m.IntN(4)) * max(m.card/2, 1) }

// taskAgain is a request for what a task is charged, or for something like it.
func (m *model) taskAgain(t *goldTask) goldRequest {
	r := goldRequest{id: t.id, job: t.job, plain: [2]int64{t.plain[0].amount, t.plain[1].amount}}
	for _, c := range t.charges {
		r.items = append(r.items, goldWant{cards: c.cards, milli: c.milli})
	}
	if m.IntN(12) == 0 {
		r.plain[m.IntN(2)] = m.small()
	}
	if m.IntN(12) == 0 {
		r.items = m.wants(m.IntN(3), true)
	}
	return r
}

// viewTask gives a request a place in a view: a status and a node. What a pod asks
// for is in whole cards that are known.
func (m *model) viewTask(r goldRequest, queue string) *goldViewTask {
	t := &goldViewTask{goldRequest: r}
	t.queue = queue
	var wants []goldWant
	for _, want := range t.items {
		if goldOutput(want.cards[0]) {
			wants = append(wants, want)
			continue
		}
		if m.card > 1 {
			want.milli = (want.milli + 999) / 1000 * 1000
		}
		if !slices.ContainsFunc(want.cards, func(card string) bool { return !m.g.known[card] }) {
			wants = append(wants, want)
		}
	}
	t.items = wants
	t.isPod = t.goldRequest.cards() == 1 && m.card > 1 && m.IntN(2) == 0
	if t.invalid = m.IntN(40) == 0; t.invalid {
		t.items, t.plain, t.isPod = nil, [2]int64{}, false
	}
	if m.g.cfg.UnlimitedCPUMemory && t.goldRequest.cards() > 0 {
		t.plain = [2]int64{}
	}
	t.node = cmp.Or(m.oneOf(append(modelNodes, "gone", "")...))
	if len(t.items) > 0 && m.IntN(4) > 0 {
		for node, cards := range m.g.nodes {
			if slices.Contains(cards, t.items[0].cards[0]) {
				t.node = min(t.node, node)
			}
		}
	}
	switch n := m.IntN(20); {
	case n < 12:
		t.class = classAllocated
	case n < 15:
		t.class = classPending
	case n < 16:
		t.class = classAside
	case n < 18:
		t.class = classEnded
	default:
		t.class = classAllocated
	}
	return t
}

// taskOfView is a task as the ledger takes it.
func (m *model) taskOfView(t *goldViewTask) Task {
	task := Task{
		ID: t.id, Job: t.job, Queue: t.queue, Node: t.node,
		Request: t.goldRequest.requests(), // the same cards whether a pod or a list says so
	}
	allocated := []TaskPhase{TaskAllocated, "Binding", "Bound", TaskRunning}
	ended := []TaskPhase{TaskSucceeded, TaskFailed}
	aside := []TaskPhase{TaskPipelined}
	if m.g.cfg.CountReleasing {
		allocated = append(allocated, TaskReleasing, TaskPipelined)
	} else {
		ended = append(ended, TaskReleasing)
	}
	switch t.class {
	case classAllocated:
		task.Phase = allocated[m.IntN(len(allocated))]
	case classEnded:
		task.Phase = ended[m.IntN(len(ended))]
	case classPending:
		task.Phase = TaskPending
	case classAside:
		if m.g.cfg.CountReleasing {
			t.class, task.Phase = classPending, TaskPending
		} else {
			task.Phase = aside[0]
		}
	}
	switch {
	case t.invalid:
		task.Cards = []Item{{Alternatives: []string{"Ghost"}, Milli: 1000}}
	case t.isPod:
		count := *resource.NewQuantity(t.items[0].milli/1000, resource.DecimalSI)
		task.Pod = &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": count}},
		}}}}
		task.Pod.Annotations = map[string]string{NameAnnotation: goldKey(t.items[0].cards)}
	default:
		task.Cards = []Item{}
		for _, want := range t.items {
			if !goldOutput(want.cards[0]) {
				task.Cards = append(task.Cards, Item{Alternatives: want.cards, Milli: want.milli})
			}
		}
	}
	if t.over = task.Phase.ended(); t.over { // nobody looks what it asked for
		t.items, t.plain, t.invalid = nil, [2]int64{}, false
	}
	return task
}

// requests is what a task requests without its cards; outputs are made of what has their names.
func (r *goldRequest) requests() corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(r.plain[0], resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(r.plain[1], resource.DecimalSI),
	}
	for _, want := range r.items {
		if goldOutput(want.cards[0]) {
			list[corev1.ResourceName(want.cards[0])] = *resource.NewQuantity(want.milli, resource.DecimalSI)
		}
	}
	return list
}

// jobOfView is a job as the ledger takes it, with a min that the golden one gets,
// too.
func (m *model) jobOfView(v *goldViewJob, tasks []Task) Job {
	v.phase = []Phase{PhaseInqueue, PhaseInqueue, PhaseRunning, PhaseRunning, PhaseRunning, PhasePending, PhaseUnknown, "Completed"}[m.IntN(8)]
	v.minMember = m.IntN(3)
	r := &goldRequest{id: v.id, queue: v.queue, anyMix: m.g.cfg.AnyMix}
	if j := m.g.jobs[v.id]; j != nil && m.IntN(4) > 0 {
		r.anyMix, r.plain = j.anyMix, [2]int64{j.plain[0].min, j.plain[1].min}
		for _, it := range j.items {
			r.items = append(r.items, goldWant{it.cards, it.min, it.unit})
		}
	} else {
		r.plain, r.items = [2]int64{m.small(), m.small()}, m.wants(m.IntN(3), false)
	}
	r.items = slices.DeleteFunc(r.items, func(want goldWant) bool {
		return want.milli == 0 || want.milli%want.unit != 0 || slices.ContainsFunc(want.cards, func(card string) bool { return !m.g.known[card] && !goldOutput(card) })
	})
	job := Job{
		ID: v.id, Queue: v.queue, AnyMix: &r.anyMix, Tasks: tasks, Min: &Min{CPU: r.plain[0], Memory: r.plain[1]},
		Phase: v.phase, MinMember: int32(v.minMember), MinUnknown: m.IntN(6) == 0,
	}
	for _, want := range r.items {
		if !goldOutput(want.cards[0]) {
			job.Min.Items = append(job.Min.Items, Item{want.cards, want.milli, want.unit})
			continue
		}
		if job.Min.Outputs == nil {
			job.Min.Outputs = map[corev1.ResourceName]int64{}
		}
		job.Min.Outputs[corev1.ResourceName(want.cards[0])] = want.milli
	}
	if v.min = m.minOf(v, r); job.MinUnknown {
		v.min, v.invalid = nil, false
	}
	return job
}

// minOf is a min as decisions need it, nil if some task can't be told.
func (m *model) minOf(v *goldViewJob, r *goldRequest) *goldRequest {
	var free, all [2]int64
	asked := map[string]int64{} // of outputs
	ended := false
	for _, t := range v.tasks {
		v.invalid = v.invalid || t.invalid
		ended = ended || t.over
		for _, want := range t.items {
			if goldOutput(want.cards[0]) {
				asked[want.cards[0]] += want.milli
			}
		}
		for dim, amount := range t.plain {
			all[dim] += amount
			if t.goldRequest.cards() == 0 {
				free[dim] += amount
			}
		}
	}
	if v.invalid {
		return nil
	}
	var items []goldWant
	for _, want := range r.items {
		if !r.anyMix || len(want.cards) == 1 {
			want.unit = 1000
		}
		at := slices.IndexFunc(items, func(it goldWant) bool { return goldKey(it.cards) == goldKey(want.cards) && it.unit == want.unit })
		if at >= 0 {
			items[at].milli += want.milli
			continue
		}
		items = append(items, want)
	}
	for dim := range r.plain {
		if m.g.cfg.UnlimitedCPUMemory && r.cards() > 0 {
			r.plain[dim] = min(r.plain[dim], free[dim])
		}
		if ended {
			r.plain[dim] = min(r.plain[dim], all[dim])
		}
	}
	for i, it := range items {
		if ended && goldOutput(it.cards[0]) {
			items[i].milli = min(it.milli, asked[it.cards[0]])
		}
	}
	items = slices.DeleteFunc(items, func(it goldWant) bool { return it.milli == 0 })
	slices.SortFunc(items, func(a, b goldWant) int {
		return cmp.Or(
			cmp.Compare(goldKind(a.cards), goldKind(b.cards)),
			strings.Compare(goldKey(a.cards), goldKey(b.cards)),
			cmp.Compare(a.unit, b.unit))
	})
	r.items = items
	return r
}
