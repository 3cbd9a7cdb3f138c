package quota

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/quota/internal/book"

	"github.com/resvec/resvec/internal/testkit"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// upWorld is a cluster that the plugin and the ledger both see. It goes from
// cycle to cycle; within one, only decisions are made, and the ledger's hold.
type upWorld struct {
	*testing.T
	cfg        Config
	l          *Ledger
	nodes      map[string][]string // cards
	ever       map[string]bool     // cards that some node had
	queues     map[string]*upQueue
	jobs       map[string]*upJob
	opened     map[string]*upJob // as the cycle began
	events     []upEvent         // of the cycle
	relabelled bool              // a node has other cards than when tasks came
	chosen     map[string]bool   // tasks that are not on the first of their cards that the node has
	past       map[string]bool   // jobs whose holds don't follow from present amounts alone
	seen       map[upDiff]int    // divergences
	same       int               // decisions that the plugin makes alike
	checked    int               // cycles after which the amounts were compared
	log        []string
}

// newUpWorld makes a world of a cluster and its jobs, and begins a cycle.
func newUpWorld(t *testing.T, cfg Config, nodes string, queues []upQueue, jobs ...*upJob) *upWorld {
	t.Helper()
	w := &upWorld{
		T: t, cfg: cfg, nodes: map[string][]string{}, ever: map[string]bool{},
		queues: map[string]*upQueue{}, jobs: map[string]*upJob{}, seen: map[upDiff]int{}, past: map[string]bool{}, chosen: map[string]bool{},
	}
	for _, node := range strings.Fields(nodes) {
		name, cards, _ := strings.Cut(node, ":")
		w.nodes[name] = strings.Split(cards, ",")
	}
	m, err := NewMap([]string{"A", "B", "H", "M"})
	if err != nil {
		t.Fatal(err)
	}
	var list []Queue
	for i := range queues {
		w.queues[queues[i].name] = &queues[i]
	}
	for _, name := range sorted(w.queues) {
		q := w.queues[name]
		spec := QueueSpec{Name: q.name, Parent: q.parent, Priority: q.priority, Annotations: map[string]string{QuotaAnnotation: q.quota}}
		if q.closed {
			spec.State = StateClosed
		}
		if q.cpu >= 0 {
			spec.Capability = upList(q.cpu)
		}
		spec.Deserved, spec.Guarantee = upList(q.deserve), upList(q.ensure)
		built, _, err := cfg.BuildQueue(m, spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, built)
	}
	if w.l, err = New(cfg, m, nil, list); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		w.jobs[j.id] = j
	}
	w.begin()
	return w
}

func upList(cpu int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(cpu, resource.DecimalSI)}
}

// begin begins a cycle: the ledger sees what the plugin builds its state of.
func (w *upWorld) begin() {
	w.Helper()
	var inv device.Inventory
	for _, name := range sorted(w.nodes) {
		n := device.Node{Name: name, CPUMilli: 16_000}
		for _, card := range w.nodes[name] {
			w.ever[card] = true
			n.Cards = append(n.Cards, device.Card{Name: card, Resource: corev1.ResourceName("nvidia.com/" + upResource(card)), Count: 4})
		}
		inv.Nodes = append(inv.Nodes, n)
	}
	if _, err := w.l.SetCatalog(inv.Catalog(), nil); err != nil {
		w.Fatal(err)
	}
	var v View
	w.opened, w.events = map[string]*upJob{}, nil
	for _, id := range sorted(w.jobs) {
		j := w.jobs[id]
		w.opened[id] = j.clone()
		job := w.job(j)
		job.Phase, job.MinMember = j.phase, int32(j.minMember)
		v.Jobs = append(v.Jobs, job)
	}
	if _, err := w.l.Reconcile(v); err != nil {
		w.Fatal(err)
	}
	for _, j := range w.jobs {
		w.look(j)
	}
}

// look notes what is remarkable of a job's cards.
func (w *upWorld) look(j *upJob) {
	m := upModel{w, upAnnotation}
	w.past[j.id] = w.past[j.id] || m.strewn(j)
	for _, t := range j.tasks {
		record := w.l.tasks[t.id]
		items, _, _ := m.running(t, false)
		for i := range items {
			if it := &items[i]; t.allocated() && record != nil && i < len(record.Charges) && it.multi() {
				card := m.charged(it, t.node)
				if w.nodeHas(t.node, card) && w.l.cards[record.Charges[i].Card] != card {
					w.chosen[t.id], w.past[j.id] = true, true
				}
			}
		}
	}
}

// job makes the ledger's form of a job.
func (w *upWorld) job(j *upJob) Job {
	job := Job{ID: j.id, Queue: j.queue, Annotations: map[string]string{RequestAnnotation: j.request}, MinResources: upList(j.cpu)}
	for _, t := range j.tasks {
		job.Tasks = append(job.Tasks, w.task(j, t))
	}
	return job
}

// task makes the ledger's form of a task.
func (w *upWorld) task(j *upJob, t *upTask) Task {
	limits := upList(t.cpu)
	for name, n := range map[string]int64{"gpu": t.gpu, "mig": t.mig} {
		if n > 0 {
			limits[corev1.ResourceName("nvidia.com/"+name)] = *resource.NewQuantity(n, resource.DecimalSI)
		}
	}
	pod := podOf(t.card, "")
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: limits, Requests: limits}
	return Task{ID: t.id, Job: j.id, Queue: j.queue, Pod: pod, Node: t.node, Status: t.status, Gated: t.gated}
}

func (w *upWorld) onSomeNode(card string) bool {
	for name := range w.nodes {
		if w.nodeHas(name, card) {
			return true
		}
	}
	return false
}

func (w *upWorld) nodeHas(node, card string) bool { return slices.Contains(w.nodes[node], card) }

// total returns what the cluster has.
func (w *upWorld) total(dim string) (sum int64) {
	for name := range w.nodes {
		switch {
		case dim == "cpu":
			sum += 16_000
		case w.nodeHas(name, dim):
			sum += 4_000
		}
	}
	return sum
}

// path returns a queue and those above it.
func (w *upWorld) path(queue string) (path []*upQueue) {
	for q := w.queues[queue]; q != nil; q = w.queues[q.parent] {
		path = append(path, q)
	}
	return path
}

func (w *upWorld) depth(q *upQueue) int { return len(w.path(q.name)) }

func (w *upWorld) isParent(queue string) bool {
	for _, q := range w.queues {
		if q.parent == queue {
			return true
		}
	}
	return false
}

func (w *upWorld) hasJobs(queue string) bool {
	for _, j := range w.jobs {
		if j.queue == queue {
			return true
		}
	}
	return false
}

// ledgerItem returns the item of a job's record that an item of a task counts
// against.
func (w *upWorld) ledgerItem(record *job, it *upItem) *book.Item {
	var dims []int32
	for _, name := range it.names {
		dims = append(dims, w.l.dims[name])
	}
	found, _ := record.Match(w.l.intern(dims), it.milli, 0)
	return found
}

// ledgerHolds returns what the ledger holds for a job, and what the job has
// beyond its min, by item.
func (w *upWorld) ledgerHolds(id string) (held, elastic map[string]int64) {
	held, elastic = map[string]int64{}, map[string]int64{}
	j := w.l.jobs[id]
	if j == nil || !j.Reserved {
		return held, elastic
	}
	m := upModel{w, upDiffs}
	key := func(alts *book.Alternatives, unit int64) string {
		it := upItem{names: strings.Split(keyOf(alts), "|")}
		it.unit = m.unit(&it, unit)
		return it.unitKey()
	}
	held["cpu"] = j.Held[dimCPU]
	for _, it := range j.Items {
		held[key(it.Alts, it.Unit)] += it.Held
	}
	for t := range j.tasks() {
		elastic["cpu"] += t.CPU.Amount - t.CPU.Covered
		for _, c := range t.Charges {
			elastic[key(c.Alts, c.Amount)] += c.Amount - c.Covered
		}
	}
	return held, elastic
}

// settle compares a decision of the ledger with the plugin's, and names the
// difference that a divergence is due to: the one from whose repair on the
// model decides as the ledger. With all repaired it must.
func (w *upWorld) settle(what, ours string, model func(upModel) string) (theirs, name string) {
	w.Helper()
	theirs = model(upModel{w, 0})
	w.log = append(w.log, fmt.Sprintf("%s: plugin %s, ledger %s", what, theirs, ours))
	d := upDiffs
	if repaired := model(upModel{w, d}); repaired != ours {
		w.Errorf("%s: the ledger says %s, the repaired plugin %s\n%s", what, ours, repaired, w)
		return theirs, "unnamed"
	}
	if theirs == ours {
		w.same++
		return theirs, ""
	}
	for d--; model(upModel{w, d}) == ours; d-- {
	}
	w.seen[d]++
	return theirs, upNames[d]
}

// String lists the world, for failures.
func (w *upWorld) String() string {
	s := fmt.Sprintf("nodes %v\n", w.nodes)
	for _, name := range sorted(w.queues) {
		s += fmt.Sprintf("%+v\n", *w.queues[name])
	}
	for _, id := range sorted(w.jobs) {
		j := *w.jobs[id]
		s += fmt.Sprintf("%s@%s phase %s member %d cpu %d %s\n", j.id, j.queue, j.phase, j.minMember, j.cpu, j.request)
		for _, t := range j.tasks {
			s += fmt.Sprintf("\t%+v\n", *t)
		}
	}
	return s + strings.Join(w.log, "\n") + "\n" + string(w.l.Snapshot())
}

// upSay is the model's word for an answer.
func upSay(a *Answer) string {
	switch {
	case a.OK:
		return "yes"
	case a.Refusal.Reason == ReasonQueueNotLeaf:
		return "parent"
	case a.Refusal.Reason == ReasonQueueNotOpen:
		return "closed"
	}
	text, _, _ := strings.Cut(say(*a, nil), " ")
	return text
}

// enqueue asks whether a job may start, and starts it if so.
func (w *upWorld) enqueue(id string) (theirs, ours, name string) {
	w.Helper()
	j := w.jobs[id]
	req, _, err := w.l.ResolveJob(w.job(j))
	if err != nil {
		w.Fatal(err)
	}
	var a Answer
	w.l.Enqueueable(&a, req)
	ours = upSay(&a)
	theirs, name = w.settle("enqueue "+id, ours, func(m upModel) string { return m.enqueueable(j) })
	if a.OK {
		if a, err := w.l.Reserve(req); err != nil || !a.OK {
			w.Fatal("enqueueable, but", a, err)
		}
		j.phase = PhaseInqueue
		w.events = append(w.events, upEvent{kind: upEnqueued, job: id})
	}
	return theirs, ours, name
}

// place asks whether a task may go to a node, and puts it there if so. With no
// node it only asks.
func (w *upWorld) place(id, task, node string) (theirs, ours, name string) {
	w.Helper()
	j := w.jobs[id]
	t := j.task(task)
	req, _, err := w.l.ResolveTask(w.task(j, t))
	if err != nil {
		w.Fatal(err)
	}
	var a Answer
	if node == "" {
		w.l.Allocatable(&a, req)
	} else {
		w.l.AllocatableOn(&a, req, node)
	}
	ours = upSay(&a)
	theirs, name = w.settle("place "+task+" on "+node, ours, func(m upModel) string { return m.allocatable(j, t, node) })
	if a.OK && node != "" {
		if a, err := w.l.Commit(req, w.nodes[node]...); err != nil || !a.OK {
			w.Fatal("allocatable, but", a, err)
		}
		t.status, t.node = TaskRunning, node
		w.look(j)
		w.events = append(w.events, upEvent{upAllocated, id, task, node})
	}
	return theirs, ours, name
}

// evict takes a task from its node.
func (w *upWorld) evict(id, task string) {
	w.Helper()
	t := w.jobs[id].task(task)
	w.log = append(w.log, "evict "+task)
	if _, beyond := w.ledgerHolds(id); !upEqual(beyond, nil) {
		w.past[id] = true // which tasks are beyond the min depends on their order
	}
	if !known(w.l.Rollback(task)) {
		w.Fatal("not charged: " + task)
	}
	w.events = append(w.events, upEvent{upDeallocated, id, task, t.node})
	t.status, t.node = TaskPending, ""
}

// score asks how much a task likes a node.
func (w *upWorld) score(id, task, node string) (theirs, ours, name string) {
	w.Helper()
	j := w.jobs[id]
	t := j.task(task)
	req, _, err := w.l.ResolveTask(w.task(j, t))
	if err != nil {
		w.Fatal(err)
	}
	ours = fmt.Sprint(w.l.NodeScore(req, node))
	theirs, name = w.settle("score "+task+" on "+node, ours, func(m upModel) string { return fmt.Sprint(m.score(j, t, node)) })
	return theirs, ours, name
}

// share asks for a queue's share.
func (w *upWorld) share(queue string) (theirs, ours, name string) {
	w.Helper()
	share, _ := w.l.Share(queue)
	ours = fmt.Sprint(share)
	theirs, name = w.settle("share "+queue, ours, func(m upModel) string { return fmt.Sprint(m.share(w.queues[queue])) })
	return theirs, ours, name
}

// compare asks which queue comes first.
func (w *upWorld) compare(a, b string) (theirs, ours, name string) {
	w.Helper()
	ours = []string{"first", "tie", "second"}[w.l.CompareQueues(a, b)+1]
	theirs, name = w.settle("compare "+a+" "+b, ours, func(m upModel) string { return m.compare(w.queues[a], w.queues[b]) })
	return theirs, ours, name
}

// check compares what the model says of the queues with what the ledger has.
// While every task is on a card that it asked for, those of an item that binds
// them are on one, and no task was evicted from a job with more than its min, the
// model needs nothing of the ledger's for that but the cards of holds.
func (w *upWorld) check() {
	w.Helper()
	m := upModel{w, upAnnotation}
	for id, j := range w.jobs {
		if w.relabelled || w.past[id] || m.misplaced(j) || m.misplaced(w.opened[j.id]) {
			return
		}
	}
	s := m.state()
	for name, q := range w.l.queues {
		for dim, c := range q.Cells {
			card := w.l.cards[dim]
			if dim == int(dimCPU) {
				card = "cpu"
			}
			if card != "" && (s.allocated[name][card] != c.Allocated || s.inqueue[name][card] != c.Held || s.elastic[name][card] != c.Elastic) {
				w.Fatalf("%s in %s: %d allocated, %d held, %d elastic, the ledger %+v\n%s", card, name,
					s.allocated[name][card], s.inqueue[name][card], s.elastic[name][card], c, w)
			}
		}
	}
	w.checked++
}

// finish ends a cycle: jobs with enough tasks run.
func (w *upWorld) finish() {
	w.Helper()
	w.check()
	for _, j := range w.jobs {
		if j.phase == PhaseInqueue && j.allocated() >= j.minMember {
			j.phase = PhaseRunning
		}
	}
}

// upRandom is a random world and what happens in it.
type upRandom struct {
	*upWorld
	*rand.Rand
	moves bool // nodes change their cards
	next  int
}

// pickOf returns one of several values.
func pickOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// quota makes an annotation of a queue.
func (r *upRandom) quota() string {
	if r.IntN(10) == 0 {
		return pickOf(r.Rand, `{"A":4,"B":2.5}`, `{"A":3,"B":"3"}`, `{"A":2,"A":4,"H":2}`, `{"A":4,"H":-1}`, `{"A":`)
	}
	counts := map[string]int{}
	for _, card := range []string{"A", "B", "H", "M"} {
		if r.IntN(4) > 0 {
			counts[card] = r.IntN(7)
		}
	}
	text, _ := json.Marshal(counts)
	return string(text)
}

// cards makes an annotation of a task.
func (r *upRandom) cards() string {
	if r.IntN(12) == 0 {
		return pickOf(r.Rand, "Ghost|A", "A |B", "B|Ghost", " A", "Ghost", "A|M", "M|A", "A||B")
	}
	return pickOf(r.Rand, "A", "A", "B", "H", "M", "A|B", "A|B", "B|A", "A|B|H", "H|A")
}

// newTask makes a task, mostly one with cards.
func (r *upRandom) newTask(job string) *upTask {
	r.next++
	t := &upTask{id: fmt.Sprintf("%s-%d", job, r.next), cpu: int64(r.IntN(4)) * 1000}
	switch r.IntN(8) {
	case 0:
	case 1:
		t.gpu = 1
	default:
		t.card, t.gpu = r.cards(), int64(1+r.IntN(2))
		if strings.Contains(t.card, "M") {
			t.mig = t.gpu
			if !strings.Contains(t.card, "A") {
				t.gpu = int64(r.IntN(4) / 3)
			}
		}
	}
	t.gated = r.IntN(12) == 0
	return t
}

// newJob makes a job with tasks, or with none yet and an annotation.
func (r *upRandom) newJob(queue string) *upJob {
	r.next++
	j := &upJob{id: fmt.Sprintf("j%03d", r.next), queue: queue, cpu: int64(r.IntN(6)) * 1000, minMember: 1 + r.IntN(3)}
	if r.IntN(3) == 0 {
		j.request = fmt.Sprintf(`{%q:%d}`, pickOf(r.Rand, "A", "B", "A|B", "B|H", "M"), r.IntN(5))
		switch r.IntN(8) {
		case 0:
			j.request = pickOf(r.Rand, `{"A":1,"B":2.5}`, `{"A|B":"2"}`, `{"A":2,"A":3}`)
		case 1:
			j.request = `{"A":1,"A|B":2,"B|H":1}`
		}
		return j
	}
	r.addTasks(j)
	return j
}

// addTasks gives a job one or two kinds of tasks.
func (r *upRandom) addTasks(j *upJob) {
	for range 1 + r.IntN(2) {
		t := r.newTask(j.id)
		for range 1 + r.IntN(3) {
			r.next++
			copied := *t
			copied.id = fmt.Sprintf("%s-%d", j.id, r.next)
			j.tasks = append(j.tasks, &copied)
		}
	}
}

// imported makes some of a new job's tasks run already.
func (r *upRandom) imported(nodes map[string][]string, j *upJob) *upJob {
	j.phase = pickOf(r.Rand, PhaseInqueue, PhaseRunning)
	where := map[string]string{}
	for _, t := range j.tasks {
		if r.IntN(3) == 0 || t.gated {
			continue
		}
		t.status = pickOf(r.Rand, TaskRunning, TaskRunning, TaskBound, TaskSucceeded)
		if where[t.card] == "" {
			where[t.card] = pickOf(r.Rand, sorted(nodes)...)
			for _, name := range sorted(nodes) {
				if r.IntN(5) > 0 && slices.Contains(strings.Split(t.card, "|"), nodes[name][0]) {
					where[t.card] = name
				}
			}
		}
		t.node = where[t.card]
	}
	return j
}

// upHistogram adds up what divergences were due to.
type upHistogram struct {
	seen          map[upDiff]int
	same, checked int
}

// runRandom runs one random world.
func (h *upHistogram) runRandom(t *testing.T, seed uint64) bool {
	r := &upRandom{Rand: rand.New(rand.NewPCG(seed, 4706))}
	cfg := Config{UnlimitedCPUMemory: r.IntN(2) == 0, AnyMix: r.IntN(2) == 1}
	nodes := pickOf(r.Rand, "n1:A n2:B n3:H,A n4:M", "n1:A,M n2:A n3:B,H", "n1:A n2:B,M n3:H n4:A,B")
	queues := []upQueue{{name: "q"}, {name: "r"}, {name: "s"}}
	if r.IntN(3) == 0 {
		queues = append(queues, upQueue{name: "org"})
		queues[0].parent, queues[1].parent = "org", "org"
	}
	for i := range queues {
		q := &queues[i]
		q.cpu, q.deserve, q.ensure = int64(r.IntN(8)-1)*2000, int64(r.IntN(4))*4000, int64(r.IntN(2))*2000
		if q.cpu < 0 {
			q.cpu = -1
		}
		q.quota, q.priority, q.closed = r.quota(), int32(r.IntN(5)/4), r.IntN(12) == 0
		if q.cpu < 0 && r.IntN(2) == 0 {
			q.quota = ""
		}
	}
	var jobs []*upJob
	byNode := map[string][]string{}
	for _, node := range strings.Fields(nodes) {
		name, cards, _ := strings.Cut(node, ":")
		byNode[name] = strings.Split(cards, ",")
	}
	for range 1 + r.IntN(2) {
		jobs = append(jobs, r.imported(byNode, r.newJob(pickOf(r.Rand, "q", "r"))))
	}
	r.upWorld = newUpWorld(t, cfg, nodes, queues, jobs...)
	r.moves = r.IntN(3) == 0
	for range 4 {
		r.cycle()
		r.finish()
		r.change()
		r.begin()
	}
	for d, n := range r.seen {
		h.seen[d] += n
	}
	h.same += r.same
	h.checked += r.checked
	return !t.Failed()
}

// cycle makes the decisions of a cycle.
func (r *upRandom) cycle() {
	queues := sorted(r.queues)
	for range 8 {
		id := pickOf(r.Rand, sorted(r.jobs)...)
		j := r.jobs[id]
		if j.phase == PhasePending {
			r.enqueue(id)
			continue
		}
		switch r.IntN(10) {
		case 0:
			r.compare(pickOf(r.Rand, queues...), pickOf(r.Rand, queues...))
			continue
		case 1:
			if q := pickOf(r.Rand, queues...); !r.isParent(q) {
				r.share(q)
			}
			continue
		}
		if len(j.tasks) == 0 {
			continue
		}
		t := pickOf(r.Rand, j.tasks...)
		node := pickOf(r.Rand, append(sorted(r.nodes), "")...)
		switch {
		case t.status == TaskPending && !t.gated && r.IntN(6) == 0:
			r.score(id, t.id, pickOf(r.Rand, sorted(r.nodes)...))
		case t.status == TaskPending && !t.gated:
			r.place(id, t.id, node)
		case t.allocated() && r.IntN(3) == 0 && r.l.tasks[t.id] != nil:
			r.evict(id, t.id)
		}
	}
}

// change changes what there is between two cycles.
func (r *upRandom) change() {
	for _, id := range sorted(r.jobs) {
		j := r.jobs[id]
		if len(j.tasks) == 0 && r.IntN(2) == 0 {
			if j.phase != PhasePending {
				r.addTasks(j)
			}
		}
		for _, t := range j.tasks {
			switch {
			case (t.allocated() || j.phase == PhasePending) && r.IntN(6) == 0:
				t.status = pickOf(r.Rand, TaskSucceeded, TaskFailed)
			case t.gated && r.IntN(3) == 0:
				t.gated = false
			}
		}
	}
	if len(r.jobs) < 8 {
		for range 1 + r.IntN(2) {
			j := r.newJob(pickOf(r.Rand, "q", "q", "q", "r", "r", "r", "r", sorted(r.queues)[0]))
			r.jobs[j.id] = j
		}
	}
	if r.moves && r.IntN(3) == 0 {
		name := pickOf(r.Rand, sorted(r.nodes)...)
		r.nodes[name] = []string{pickOf(r.Rand, "A", "B", "H", "M")}
		r.relabelled = true
		r.log = append(r.log, fmt.Sprint("node ", name, r.nodes[name]))
	}
	r.log = append(r.log, "--- cycle")
}

// Every decision that the ledger makes differently is due to a difference that
// is documented, and every documented one occurs.
func TestUpstreamRandom(t *testing.T) {
	h := upHistogram{seen: map[upDiff]int{}}
	worlds := testkit.Amount(t, 50, 250, 1000)
	for seed := range uint64(worlds) {
		if !h.runRandom(t, seed) {
			t.Fatalf("seed %d", seed)
		}
	}
	diverged := 0
	for d := range upDiffs {
		t.Logf("%6d %s", h.seen[d], upNames[d])
		diverged += h.seen[d]
		if h.seen[d] == 0 && worlds >= 250 {
			t.Errorf("never: %s", upNames[d])
		}
	}
	t.Logf("%6d decisions alike, %d not; %d cycles checked", h.same, diverged, h.checked)
}

// Short forms for the cases below.
func upTasks(n int, id, card string, gpu, cpu int64) (tasks []*upTask) {
	for i := range n {
		tasks = append(tasks, &upTask{id: fmt.Sprint(id, i), card: card, gpu: gpu, cpu: cpu})
	}
	return tasks
}

// on puts all tasks of a job on a node.
func (j *upJob) on(node string) *upJob {
	j.phase = PhaseRunning
	for _, t := range j.tasks {
		t.status, t.node = TaskRunning, node
	}
	return j
}

// For every difference the smallest case that we know: what the plugin says, what
// the ledger says.
func TestUpstreamDifferences(t *testing.T) {
	flag := Config{UnlimitedCPUMemory: true}
	one := func(cpu int64, quota string) []upQueue { return []upQueue{{name: "q", cpu: cpu, quota: quota}} }
	ask := func(id string) func(*upWorld) (string, string, string) {
		return func(w *upWorld) (string, string, string) { return w.enqueue(id) }
	}
	place := func(task, node string) func(*upWorld) (string, string, string) {
		return func(w *upWorld) (string, string, string) { return w.place("a", task, node) }
	}
	for _, c := range []struct {
		diff           upDiff
		cfg            Config
		queues         []upQueue
		jobs           []*upJob
		do             func(*upWorld) (string, string, string)
		plugin, ledger string
	}{
		{upNegativePanic, Config{}, one(8000, ""), []*upJob{
			(&upJob{id: "a", tasks: upTasks(1, "a", "", 0, 4000)}).on("n1"), {id: "b", cpu: 1000},
		}, func(w *upWorld) (string, string, string) { w.evict("a", "a0"); return w.enqueue("b") }, "panic", "yes"},
		{upNoJobsPanic, Config{}, []upQueue{{name: "q", priority: 1}, {name: "r"}}, []*upJob{{id: "a"}},
			func(w *upWorld) (string, string, string) { return w.compare("q", "r") }, "panic", "first"},
		{upVanished, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "A", 1, 0)}},
			func(w *upWorld) (string, string, string) {
				w.nodes["n1"] = []string{"B"}
				w.begin()
				return w.place("a", "a0", "")
			}, "GetTask", "yes"},
		{upFirstName, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "Ghost|A", 1, 0)}},
			place("a0", "n1"), "GetTask", "yes"},
		{upBadEntry, Config{}, one(0, `{"A":4,"B":2.5}`), []*upJob{{id: "a", request: `{"A":1}`}}, ask("a"), "Scalar", "yes"},
		{upBadEntry, Config{}, one(1000, `{"A":4}`), []*upJob{{id: "a", cpu: 1000, request: `{"A":1,"B":2.5}`}}, ask("a"), "yes", "GetTask"},
		{upUnnamed, Config{}, one(0, ""), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "", 1, 0)}},
			place("a0", "n1"), "yes", "Scalar"},
		{upUnresolvable, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: append(upTasks(1, "a", "A", 1, 0), upTasks(1, "b", "Ghost", 1, 0)...)}},
			ask("a"), "yes", "GetTask"},
		{upGated, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: append(upTasks(1, "a", "A", 1, 0), &upTask{id: "b", card: "A", gpu: 1, gated: true})}},
			ask("a"), "Scalar", "yes"},
		{upFlagLate, flag, one(10000, `{"A":4}`), []*upJob{
			(&upJob{id: "a", cpu: 8000, tasks: upTasks(1, "a", "A", 1, 8000)}).on("n1"), {id: "b", cpu: 4000},
		}, ask("b"), "CPU", "yes"},
		{upFlagAll, flag, one(2000, `{"A":4}`), []*upJob{{id: "a", cpu: 4000, tasks: append(upTasks(1, "a", "A", 1, 0), upTasks(1, "b", "", 0, 4000)...)}},
			ask("a"), "yes", "CPU"},
		{upFlagZero, flag, one(2000, `{"A":4}`), []*upJob{{id: "a", cpu: 4000, request: `{"A":0}`}}, ask("a"), "yes", "CPU"},
		{upLate, Config{}, one(0, `{"A":4}`), []*upJob{{id: "a", tasks: upTasks(2, "a", "A", 1, 0)}, {id: "b", request: `{"A":2}`}},
			func(w *upWorld) (string, string, string) {
				w.enqueue("a")
				w.place("a", "a0", "n1")
				w.place("a", "a1", "n1")
				return w.enqueue("b")
			}, "Scalar", "yes"},
		{upFinished, Config{}, one(0, `{"A":2}`), []*upJob{
			{id: "a", phase: PhaseRunning, tasks: []*upTask{
				{id: "a0", card: "A", gpu: 1, status: TaskRunning, node: "n1"}, {id: "a1", card: "A", gpu: 1, status: TaskSucceeded, node: "n1"},
			}}, {id: "b", request: `{"A":1}`},
		}, ask("b"), "Scalar", "yes"},
		{upEnded, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: append(upTasks(1, "a", "A", 1, 0), &upTask{id: "b", card: "A", gpu: 1, status: TaskFailed})}},
			ask("a"), "Scalar", "yes"},
		{upLiteralKey, Config{}, one(0, `{"A":4}`), []*upJob{{id: "a", phase: PhaseInqueue, request: `{"A|B":4}`}, {id: "b", request: `{"A":1}`}},
			ask("b"), "yes", "Scalar"},
		{upJobSums, Config{}, one(0, `{"A":3,"B":3}`), []*upJob{{id: "a", request: `{"A|B":4}`}}, ask("a"), "yes", "Scalar"},
		{upAnnotation, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "A", 1, 0)}},
			place("a0", "n2"), "yes", "GetTask"},
		{upEachAlone, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "A|B", 1, 0)}},
			place("a0", "n2"), "yes", "Scalar"},
		{upNoPromise, Config{}, one(0, `{"A":2}`), []*upJob{
			{id: "b", phase: PhaseInqueue, request: `{"A":2}`}, {id: "a", phase: PhaseRunning, minMember: 1, tasks: upTasks(1, "a", "A", 1, 0)},
		}, place("a0", "n1"), "yes", "Scalar"},
		{upNotEmpty, Config{}, one(-1, ""), []*upJob{{id: "a", cpu: 1000}}, ask("a"), "CPU", "Empty"},
		{upNoMin, Config{}, []upQueue{{name: "q", cpu: 2000, deserve: 20000}}, []*upJob{(&upJob{id: "a", tasks: upTasks(1, "a", "", 0, 2000)}).on("n1")},
			func(w *upWorld) (string, string, string) { return w.share("q") }, "0.1", "1"},
		{upPresence, Config{}, one(0, `{"B":2}`), []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", "A|B", 1, 0)}},
			func(w *upWorld) (string, string, string) { return w.score("a", "a0", "n1") }, "100", "0"},
		{upTies, Config{}, []upQueue{{name: "q"}, {name: "r"}}, []*upJob{{id: "a"}, {id: "b", queue: "r"}},
			func(w *upWorld) (string, string, string) { return w.compare("q", "r") }, "tie", "first"},
		{upFlat, Config{}, []upQueue{{name: "org", quota: `{"A":1}`}, {name: "q", parent: "org", quota: `{"A":4}`}}, []*upJob{{id: "a", request: `{"A":2}`}},
			ask("a"), "yes", "Scalar"},
	} {
		t.Run(upNames[c.diff], func(t *testing.T) {
			for _, j := range c.jobs {
				j.queue = cmp.Or(j.queue, "q")
			}
			w := newUpWorld(t, c.cfg, "n1:A n2:B", c.queues, c.jobs...)
			plugin, ledger, name := c.do(w)
			if plugin != c.plugin || ledger != c.ledger || name != upNames[c.diff] {
				t.Errorf("plugin %s, ledger %s, %s; want %s, %s", plugin, ledger, name, c.plugin, c.ledger)
			}
		})
	}
}

// The seed's own examples come out alike.
func TestUpstreamSeed(t *testing.T) {
	queues := []upQueue{
		{name: "a", cpu: 100000, quota: `{"A":10,"H":5}`}, {name: "b", cpu: 100000, quota: `{"B":20,"A":3}`}, {name: "q", cpu: 100000, quota: `{"A":5}`},
	}
	w := newUpWorld(t, Config{}, "n1:A n2:A n3:B n4:H", queues,
		&upJob{id: "story1", queue: "b", request: `{"A":4}`},
		&upJob{id: "story4", queue: "b", request: `{"B":20}`},
		&upJob{id: "api1", queue: "a", tasks: upTasks(8, "api", "A", 1, 0)},
		&upJob{id: "api2", queue: "a", request: `{"A":8}`},
		&upJob{id: "example1", queue: "q", minMember: 4, tasks: upTasks(4, "e", "A", 1, 1000)},
		&upJob{id: "more", queue: "q", request: `{"A":2}`},
		&upJob{id: "bare", queue: "q", phase: PhaseRunning, minMember: 1, tasks: upTasks(2, "x", "A", 1, 0)},
	)
	both := func(want string) func(string, string, string) {
		return func(theirs, ours, name string) {
			t.Helper()
			if theirs != want || ours != want || name != "" {
				t.Errorf("plugin %s, ledger %s, %q; want %s", theirs, ours, name, want)
			}
		}
	}
	both("Scalar")(w.enqueue("story1"))
	both("yes")(w.enqueue("story4"))
	both("yes")(w.enqueue("api1"))
	both("Scalar")(w.enqueue("api2"))
	both("yes")(w.enqueue("example1"))
	for i := range 4 {
		both("yes")(w.place("example1", fmt.Sprint("e", i), fmt.Sprint("n", 1+i/2)))
	}
	w.finish()
	w.begin()
	both("Scalar")(w.enqueue("more"))
	both("yes")(w.place("bare", "x0", "n1"))
	both("Scalar")(w.place("bare", "x1", "n1"))

	w = newUpWorld(t, Config{}, "n1:A n2:H", []upQueue{{name: "q", quota: `{"A":5}`}}, &upJob{id: "example2", queue: "q", request: `{"A|H":4}`})
	both("yes")(w.enqueue("example2"))
}
