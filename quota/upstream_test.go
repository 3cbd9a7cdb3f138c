package quota

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// upDiff is a difference between Volcano's capacity-card plugin (volcano-sh/volcano,
// pull request 4706) and the ledger. Its text says what the plugin does.
type upDiff string

const (
	upNegativePanic upDiff = "panics on a negative result"
	upNoJobsPanic   upDiff = "panics on a queue without jobs"
	upVanished      upDiff = "vanished cards are forgotten"
	upFirstName     upDiff = "only the first, untrimmed name of a multi is looked up"
	upBadEntry      upDiff = "one bad entry drops the whole annotation"
	upUnnamed       upDiff = "pods that name no card are free"
	upUnresolvable  upDiff = "unresolvable tasks are skipped"
	upGated         upDiff = "cards of gated tasks stay"
	upFlagLate      upDiff = "the flag is read after the state is built"
	upFlagAll       upDiff = "the flag drops all of the job's cpu and memory"
	upFlagZero      upDiff = "an entry of 0 counts as a card"
	upLate          upDiff = "inqueue shrinks a cycle late"
	upFinished      upDiff = "a finished pod is reserved again"
	upEnded         upDiff = "ended tasks count"
	upLiteralKey    upDiff = "a multi's amounts sit under its literal key"
	upJobSums       upDiff = "a job check compares sums over all alternatives"
	upAnnotation    upDiff = "the annotation is trusted over the node"
	upEachAlone     upDiff = "a task check looks at each alternative alone"
	upNoPromise     upDiff = "no promise rule"
	upNotEmpty      upDiff = "EmptyQueueCapability is never raised"
	upNoMin         upDiff = "realCapability has no min"
	upPresence      upDiff = "node order by presence"
	upTies          upDiff = "share ties undecided"
	upFlat          upDiff = "flat queues only"
)

// For each difference the smallest case that we know: what the plugin says, what
// the ledger says. Queue q is on nodes n1 with card A and n2 with card B.
func TestUpstreamDifferences(t *testing.T) {
	flag := Config{UnlimitedCPUMemory: true}
	one := func(cpu int64, quota string) []upQueue { return []upQueue{{name: "q", cpu: cpu, quota: quota}} }
	two := []upQueue{{name: "q", priority: 1}, {name: "r"}}
	compare := func(w *upWorld) (string, string) { return w.compare("q", "r") }
	ask := func(id string) func(*upWorld) (string, string) {
		return func(w *upWorld) (string, string) { return w.enqueue(w.jobs[id]) }
	}
	place := func(task, node string) func(*upWorld) (string, string) {
		return func(w *upWorld) (string, string) { return w.place(w.jobs["a"], task, node) }
	}
	inqueue := func(card string, gpu int64) []*upJob {
		return []*upJob{{id: "a", phase: PhaseInqueue, tasks: upTasks(1, "a", card, gpu, 0)}}
	}
	with := func(t *upTask, more ...*upTask) []*upTask { return append([]*upTask{t}, more...) }
	a := func(id string) *upTask { return &upTask{id: id, card: "A", gpu: 1} }
	for _, c := range []struct {
		diff           upDiff
		cfg            Config
		queues         []upQueue
		jobs           []*upJob
		ask            func(*upWorld) (string, string)
		plugin, ledger string
	}{
		{upNegativePanic, Config{}, one(8000, ""), []*upJob{(&upJob{id: "a", tasks: upTasks(1, "a", "", 0, 4000)}).on("n1"), {id: "b", cpu: 1000}},
			func(w *upWorld) (string, string) { w.evict("a0"); return w.enqueue(w.jobs["b"]) }, "panic", "yes"},
		{upNoJobsPanic, Config{}, two, []*upJob{{id: "a"}}, compare, "panic", "first"},
		{upVanished, Config{}, one(0, `{"A":1}`), inqueue("A", 1),
			func(w *upWorld) (string, string) {
				w.nodes["n1"] = []string{"B"}
				w.begin()
				return w.place(w.jobs["a"], "a0", "")
			}, "GetTask", "yes"},
		{upFirstName, Config{}, one(0, `{"A":1}`), inqueue("Ghost|A", 1), place("a0", "n1"), "GetTask", "yes"},
		{upBadEntry, Config{}, one(0, `{"A":4,"B":2.5}`), []*upJob{{id: "a", request: `{"A":1}`}}, ask("a"), "Scalar", "yes"},
		{upBadEntry, Config{}, one(1000, `{"A":4}`), []*upJob{{id: "a", cpu: 1000, request: `{"A":1,"B":2.5}`}}, ask("a"), "yes", "GetTask"},
		{upUnnamed, Config{}, one(0, ""), inqueue("", 1), place("a0", "n1"), "yes", "Scalar"},
		{upUnresolvable, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: with(a("a0"), upTasks(1, "b", "Ghost", 1, 0)...)}}, ask("a"), "yes", "GetTask"},
		{upGated, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: with(a("a0"), &upTask{id: "b", card: "A", gpu: 1, gated: true})}}, ask("a"), "Scalar", "yes"},
		{upFlagLate, flag, one(10000, `{"A":4}`), []*upJob{(&upJob{id: "a", cpu: 8000, tasks: upTasks(1, "a", "A", 1, 8000)}).on("n1"), {id: "b", cpu: 4000}},
			ask("b"), "CPU", "yes"},
		{upFlagAll, flag, one(2000, `{"A":4}`), []*upJob{{id: "a", cpu: 4000, tasks: with(a("a0"), upTasks(1, "b", "", 0, 4000)...)}}, ask("a"), "yes", "CPU"},
		{upFlagZero, flag, one(2000, `{"A":4}`), []*upJob{{id: "a", cpu: 4000, request: `{"A":0}`}}, ask("a"), "yes", "CPU"},
		{upLate, Config{}, one(0, `{"A":4}`), []*upJob{{id: "a", tasks: upTasks(2, "a", "A", 1, 0)}, {id: "b", request: `{"A":2}`}},
			func(w *upWorld) (string, string) {
				w.enqueue(w.jobs["a"])
				w.place(w.jobs["a"], "a0", "n1")
				w.place(w.jobs["a"], "a1", "n1")
				return w.enqueue(w.jobs["b"])
			}, "Scalar", "yes"},
		{upFinished, Config{}, one(0, `{"A":2}`), []*upJob{{id: "a", phase: PhaseRunning, tasks: []*upTask{
			{id: "a0", card: "A", gpu: 1, status: TaskAllocated, node: "n1"}, {id: "a1", card: "A", gpu: 1, status: TaskSucceeded, node: "n1"},
		}}, {id: "b", request: `{"A":1}`}}, ask("b"), "Scalar", "yes"},
		{upEnded, Config{}, one(0, `{"A":1}`), []*upJob{{id: "a", tasks: with(a("a0"), &upTask{id: "b", card: "A", gpu: 1, status: TaskFailed})}}, ask("a"), "Scalar", "yes"},
		{upLiteralKey, Config{}, one(0, `{"A":4}`), []*upJob{{id: "a", phase: PhaseInqueue, request: `{"A|B":4}`}, {id: "b", request: `{"A":1}`}}, ask("b"), "yes", "Scalar"},
		{upJobSums, Config{}, one(0, `{"A":3,"B":3}`), []*upJob{{id: "a", request: `{"A|B":4}`}}, ask("a"), "yes", "Scalar"},
		{upAnnotation, Config{}, one(0, `{"A":1}`), inqueue("A", 1), place("a0", "n2"), "yes", "GetTask"},
		{upEachAlone, Config{}, one(0, `{"A":1}`), inqueue("A|B", 1), place("a0", "n2"), "yes", "Scalar"},
		{upNoPromise, Config{}, one(0, `{"A":2}`), []*upJob{{id: "b", phase: PhaseInqueue, request: `{"A":2}`}, {id: "a", phase: PhaseRunning, minMember: 1, tasks: with(a("a0"))}},
			place("a0", "n1"), "yes", "Scalar"},
		{upNotEmpty, Config{}, one(-1, ""), []*upJob{{id: "a", cpu: 1000}}, ask("a"), "CPU", "Empty"},
		{upNoMin, Config{}, []upQueue{{name: "q", cpu: 2000, deserve: 20000}}, []*upJob{(&upJob{id: "a", tasks: upTasks(1, "a", "", 0, 2000)}).on("n1")},
			func(w *upWorld) (string, string) { return w.share("q") }, "0.1", "1"},
		{upPresence, Config{}, one(0, `{"B":2}`), inqueue("A|B", 1), func(w *upWorld) (string, string) { return w.score(w.jobs["a"], "a0", "n1") }, "100", "0"},
		{upTies, Config{}, []upQueue{{name: "q"}, {name: "r"}}, []*upJob{{id: "a"}, {id: "b", queue: "r"}}, compare, "tie", "first"},
		{upFlat, Config{}, []upQueue{{name: "org", quota: `{"A":1}`}, {name: "q", parent: "org", quota: `{"A":4}`}}, []*upJob{{id: "a", request: `{"A":2}`}},
			ask("a"), "yes", "Scalar"},
	} {
		t.Run(string(c.diff), func(t *testing.T) {
			for _, j := range c.jobs {
				j.queue = cmp.Or(j.queue, "q")
			}
			w := newUpWorld(t, c.cfg, map[string][]string{"n1": {"A"}, "n2": {"B"}}, c.queues, c.jobs...)
			if plugin, ledger := c.ask(w); plugin != c.plugin || ledger != c.ledger {
				t.Errorf("plugin %s, ledger %s; want %s, %s", plugin, ledger, c.plugin, c.ledger)
			}
		})
	}
}

// Plugin and ledger decide alike on random clusters that have nothing which a difference
// is about. With one such thing in them, each divergence is due to its difference, and
// each difference occurs.
func TestUpstreamRandom(t *testing.T) {
	seen, alike := map[upDiff]int{}, map[string]int{}
	worlds := testkit.Amount(t, 3, 12, 200)
	for _, with := range []upDiff{
		"", upNoJobsPanic, upVanished, upFirstName, upBadEntry, upUnnamed, upUnresolvable, upGated, upFlagLate, upFlagAll, upFlagZero,
		upLate, upFinished, upEnded, upLiteralKey, upAnnotation, upNoPromise, upNotEmpty, upNoMin, upTies, upFlat,
	} {
		for seed := range uint64(worlds) {
			r := newUpRandom(t, with, seed)
			for range 40 {
				what, theirs, ours := r.step()
				switch due := r.dueTo(what, theirs); {
				case theirs == ours && with == "":
					alike[what+" "+ours]++
				case theirs != ours && with == "":
					t.Fatalf("seed %d: %s: the plugin says %s, the ledger %s, and nothing is different\n%s", seed, what, theirs, ours, r)
				case theirs != ours:
					seen[due]++
				}
			}
		}
	}
	t.Logf("alike %v, different %v", alike, seen)
	if worlds < 12 {
		return
	}
	for _, name := range []string{"enqueue yes", "enqueue CPU", "enqueue Scalar", "enqueue closed", "place yes", "place Scalar", "share 0.5", "compare first"} {
		if alike[name] == 0 {
			t.Errorf("never alike: %s", name)
		}
	}
	if len(seen) != 24 {
		t.Errorf("%d of 24 differences occurred", len(seen))
	}
}

// What there is in a cluster. Amounts are in thousandths; memory, which is
// treated as cpu, is left out.
type (
	upQueue struct {
		name, parent    string
		priority        int32
		closed          bool
		cpu             int64 // -1: not mentioned
		deserve, ensure int64 // of cpu
		quota           string
	}
	upJob struct {
		id, queue string
		phase     Phase
		minMember int
		cpu       int64  // of the min resources
		request   string // the annotation
		tasks     []*upTask
	}
	upTask struct {
		id, card string // the annotation
		gpu, cpu int64  // gpu in whole devices
		status   TaskPhase
		node     string
		gated    bool
	}
)

// upTasks makes tasks that differ in their ids alone.
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
		t.status, t.node = TaskAllocated, node
	}
	return j
}

func (t *upTask) allocated() bool { return t.status >= TaskAllocated && t.status <= TaskAllocated }

// admitted reports whether the job has been let in; its phase begins as empty.
func (j *upJob) admitted() bool { return j.phase != "" && j.phase != PhasePending }

func (j *upJob) allocated() (n int) {
	for _, t := range j.tasks {
		if t.allocated() {
			n++
		}
	}
	return n
}

// upWorld is a cluster that the plugin and the ledger both see. It goes from cycle to
// cycle; within one, only decisions are made.
type upWorld struct {
	*testing.T
	cfg    Config
	l      *Ledger
	plugin upPlugin
	nodes  map[string][]string // cards
	queues map[string]*upQueue
	jobs   map[string]*upJob
}

// newUpWorld makes a world of a cluster and its jobs, and begins a cycle.
func newUpWorld(t *testing.T, cfg Config, nodes map[string][]string, queues []upQueue, jobs ...*upJob) *upWorld {
	t.Helper()
	w := &upWorld{T: t, cfg: cfg, nodes: nodes, queues: map[string]*upQueue{}, jobs: map[string]*upJob{}}
	m, err := NewMap([]string{"A", "B", "H"})
	if err != nil {
		t.Fatal(err)
	}
	var list []Queue
	for i := range queues {
		q := &queues[i]
		w.queues[q.name] = q
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

// begin begins a cycle: jobs with enough tasks run, and both look at the cluster.
func (w *upWorld) begin() {
	w.Helper()
	var inv device.Inventory
	for _, name := range sorted(w.nodes) {
		n := device.Node{Name: name, CPUMilli: 16_000}
		for _, card := range w.nodes[name] {
			n.Cards = append(n.Cards, device.Card{Name: card, Resource: "nvidia.com/gpu", Count: 4})
		}
		inv.Nodes = append(inv.Nodes, n)
	}
	if _, err := w.l.SetCatalog(inv.Catalog(), nil); err != nil {
		w.Fatal(err)
	}
	var v View
	for _, id := range sorted(w.jobs) {
		j := w.jobs[id]
		if j.phase == PhaseInqueue && j.minMember > 0 && j.allocated() >= j.minMember {
			j.phase = PhaseRunning
		}
		v.Jobs = append(v.Jobs, w.job(j))
	}
	if _, err := w.l.Reconcile(v); err != nil {
		w.Fatal(err)
	}
	w.plugin.open(w)
}

// job makes the ledger's form of a job.
func (w *upWorld) job(j *upJob) Job {
	job := Job{
		ID: j.id, Queue: j.queue, Annotations: map[string]string{RequestAnnotation: j.request}, MinResources: upList(j.cpu),
		Phase: j.phase, MinMember: int32(j.minMember),
	}
	for _, t := range j.tasks {
		job.Tasks = append(job.Tasks, w.task(j, t))
	}
	return job
}

// task makes the ledger's form of a task.
func (w *upWorld) task(j *upJob, t *upTask) Task {
	limits := upList(t.cpu)
	if t.gpu > 0 {
		limits["nvidia.com/gpu"] = *resource.NewQuantity(t.gpu, resource.DecimalSI)
	}
	pod := podOf(t.card, "")
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: limits, Requests: limits}
	return Task{ID: t.id, Job: j.id, Queue: j.queue, Pod: pod, Node: t.node, Phase: t.status, Gated: t.gated}
}

// find returns a task of a job, and what the ledger makes of it.
func (w *upWorld) find(j *upJob, task string) (*upTask, *TaskRequest) {
	t := j.tasks[slices.IndexFunc(j.tasks, func(t *upTask) bool { return t.id == task })]
	req, _, err := w.l.ResolveTask(w.task(j, t))
	if err != nil {
		w.Fatal(err)
	}
	return t, req
}

func (w *upWorld) nodeHas(node, card string) bool { return slices.Contains(w.nodes[node], card) }

// upSay is the plugin's word for an answer of the ledger.
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

// enqueue asks whether a job may start, and starts it if the ledger says so.
func (w *upWorld) enqueue(j *upJob) (theirs, ours string) {
	w.Helper()
	req, _, err := w.l.ResolveJob(w.job(j))
	if err != nil {
		w.Fatal(err)
	}
	theirs = w.plugin.enqueueable(j)
	a, err := w.l.Reserve(req)
	if err != nil {
		w.Fatal(err)
	}
	if a.OK {
		j.phase = PhaseInqueue
		w.plugin.count(w.plugin.inqueue, j.queue, w.plugin.min(j, w.cfg.UnlimitedCPUMemory), 1)
	}
	return theirs, upSay(&a)
}

// place asks whether a task may go to a node, and puts it there if the ledger says so.
// With no node it only asks.
func (w *upWorld) place(j *upJob, task, node string) (theirs, ours string) {
	w.Helper()
	t, req := w.find(j, task)
	theirs = w.plugin.allocatable(j, t)
	var a Answer
	if node == "" {
		w.l.Allocatable(&a, req)
		return theirs, upSay(&a)
	}
	if w.l.AllocatableOn(&a, req, node); a.OK {
		if a, err := w.l.Commit(req, w.nodes[node]...); err != nil || !a.OK {
			w.Fatal("allocatable, but", a, err)
		}
		t.status, t.node = TaskAllocated, node
		w.plugin.count(w.plugin.allocated, j.queue, w.plugin.uses(t, w.cfg.UnlimitedCPUMemory), 1)
	}
	return theirs, upSay(&a)
}

// evict takes a task from its node.
func (w *upWorld) evict(task string) {
	w.Helper()
	for _, j := range w.jobs {
		for _, t := range j.tasks {
			if t.id == task && known(w.l.Rollback(task)) {
				w.plugin.count(w.plugin.allocated, j.queue, w.plugin.uses(t, w.cfg.UnlimitedCPUMemory), -1)
				t.status, t.node = "", ""
			}
		}
	}
}

// score asks how much a task likes a node.
func (w *upWorld) score(j *upJob, task, node string) (theirs, ours string) {
	w.Helper()
	t, req := w.find(j, task)
	return fmt.Sprint(w.plugin.score(t, node)), fmt.Sprint(w.l.NodeScore(req, node))
}

// share asks for a queue's share.
func (w *upWorld) share(queue string) (theirs, ours string) {
	q, _ := w.l.Queue(queue)
	return fmt.Sprint(w.plugin.share(w.queues[queue])), fmt.Sprint(q.Share)
}

// compare asks which of two queues comes first.
func (w *upWorld) compare(a, b string) (theirs, ours string) {
	ours = []string{"first", "tie", "second"}[w.l.CompareQueues(a, b)+1]
	return w.plugin.compare(w.queues[a], w.queues[b]), ours
}

// String lists the world, for failures.
func (w *upWorld) String() string {
	s := fmt.Sprintf("nodes %v\n", w.nodes)
	for _, name := range sorted(w.queues) {
		s += fmt.Sprintf("%+v\n", *w.queues[name])
	}
	for _, id := range sorted(w.jobs) {
		s += fmt.Sprintf("%+v\n", *w.jobs[id])
		for _, t := range w.jobs[id].tasks {
			s += fmt.Sprintf("\t%+v\n", *t)
		}
	}
	return fmt.Sprintf("%sallocated %v, inqueue %v, elastic %v\n%s", s, w.plugin.allocated, w.plugin.inqueue, w.plugin.elastic, w.l.Snapshot())
}

// upPlugin is a model of the plugin by maps, as its sources describe the rules. It has
// the sums of a cycle: built when the cycle opens, changed by what happens in it.
type upPlugin struct {
	*upWorld
	allocated, inqueue, elastic upSums
}

// upSums are amounts by queue, and by cpu, card or key.
type upSums map[string]map[string]int64

func (p *upPlugin) count(to upSums, queue string, amounts map[string]int64, sign int64) {
	if to[queue] == nil {
		to[queue] = map[string]int64{}
	}
	for name, amount := range amounts {
		to[queue][name] += sign * amount
	}
}

// open builds the state. The flag is read later, so nothing in it heeds it.
func (p *upPlugin) open(w *upWorld) {
	*p = upPlugin{w, upSums{}, upSums{}, upSums{}}
	for _, j := range w.jobs {
		need, mine := p.min(j, false), map[string]int64{}
		for _, t := range j.tasks {
			if t.allocated() {
				for name, amount := range p.uses(t, false) {
					mine[name] += amount
				}
			}
		}
		p.count(p.allocated, j.queue, mine, 1)
		p.count(p.elastic, j.queue, excessOf(mine, need), 1)
		switch {
		case j.phase == PhaseInqueue:
			p.count(p.inqueue, j.queue, need, 1)
		case j.phase == PhaseRunning && j.allocated() >= j.minMember:
			p.count(p.inqueue, j.queue, excessOf(need, mine), 1)
		}
	}
}

// excessOf returns max(0, a - b) by name.
func excessOf(a, b map[string]int64) map[string]int64 {
	over := map[string]int64{}
	for name, amount := range a {
		over[name] = max(amount-b[name], 0)
	}
	return over
}

// resolve returns what a task asks for, by key; false: its card isn't known, or the
// pod has no device.
func (p *upPlugin) resolve(t *upTask, flag bool) (asks map[string]int64, ok bool) {
	first, _, _ := strings.Cut(t.card, "|")
	onSomeNode := func(card string) bool {
		for name := range p.nodes {
			if p.nodeHas(name, card) {
				return true
			}
		}
		return false
	}
	switch {
	case t.card == "":
		return map[string]int64{"cpu": t.cpu}, true
	case t.gpu == 0 || !onSomeNode(first):
		return nil, false
	case flag:
		return map[string]int64{t.card: 1000 * t.gpu}, true
	}
	return map[string]int64{"cpu": t.cpu, t.card: 1000 * t.gpu}, true
}

// uses returns what a task on a node is charged.
func (p *upPlugin) uses(t *upTask, flag bool) map[string]int64 {
	asks, _ := p.resolve(t, flag)
	for _, name := range strings.Split(t.card, "|") {
		if amount := asks[t.card]; amount > 0 && name != t.card && p.nodeHas(t.node, name) {
			delete(asks, t.card)
			asks[name] = amount
			break
		}
	}
	return asks
}

// min returns what a job needs.
func (p *upPlugin) min(j *upJob, flag bool) map[string]int64 {
	need, hasCards, gated := map[string]int64{}, false, int64(0)
	for _, t := range j.tasks {
		asks, _ := p.resolve(t, flag)
		for name, amount := range asks {
			if name != "cpu" {
				need[name] += amount
				hasCards = true
			}
		}
		if t.gated {
			gated += asks["cpu"]
		}
	}
	if !hasCards {
		for key, count := range upDecode(j.request) {
			need[key] = 1000 * count
			hasCards = true
		}
	}
	if need["cpu"] = max(j.cpu-gated, 0); flag && hasCards {
		need["cpu"] = 0
	}
	return need
}

// upDecode is how the plugin reads annotations.
func upDecode(text string) map[string]int64 {
	var counts map[string]int64
	if json.Unmarshal([]byte(text), &counts) != nil {
		return nil
	}
	return counts
}

// limit returns the capability of a queue.
func (q *upQueue) limit(name string) int64 {
	if name == "cpu" {
		return max(q.cpu, 0)
	}
	return 1000 * upDecode(q.quota)[name]
}

// floor is what a job check goes by.
func (p *upPlugin) floor(queue, name string) int64 {
	return p.allocated[queue][name] - p.elastic[queue][name] + p.inqueue[queue][name]
}

// enqueueable decides on a job.
func (p *upPlugin) enqueueable(j *upJob) string {
	q, need := p.queues[j.queue], p.min(j, p.cfg.UnlimitedCPUMemory)
	if q.closed {
		return "closed"
	}
	asked := false
	for _, amount := range need {
		asked = asked || amount > 0
	}
	if !asked {
		return "yes"
	}
	for name := range p.elastic[q.name] {
		if p.floor(q.name, name)+need[name] < 0 {
			return "panic" // amounts must not fall below 0
		}
	}
	if need["cpu"] > 0 && p.floor(q.name, "cpu")+need["cpu"] > q.limit("cpu") {
		return "CPU"
	}
	for key, amount := range need {
		if key == "cpu" {
			continue
		}
		used, limit := int64(0), int64(0)
		if strings.Contains(key, "|") {
			used = amount
		}
		for _, name := range strings.Split(key, "|") {
			used += p.floor(q.name, name) + need[name]
			limit += q.limit(name)
		}
		if amount > 0 && used > limit {
			return "Scalar"
		}
	}
	return "yes"
}

// allocatable decides on a task. The node doesn't matter.
func (p *upPlugin) allocatable(j *upJob, t *upTask) string {
	q := p.queues[j.queue]
	if q.closed {
		return "closed"
	}
	fits := func(name string, amount int64) bool { return p.allocated[q.name][name]+amount <= q.limit(name) }
	asks, ok := p.resolve(t, p.cfg.UnlimitedCPUMemory)
	switch {
	case !ok:
		return "GetTask"
	case asks["cpu"] > 0 && !fits("cpu", asks["cpu"]):
		return "CPU"
	case t.card == "" || slices.ContainsFunc(strings.Split(t.card, "|"), func(name string) bool { return fits(name, asks[t.card]) }):
		return "yes"
	}
	return "Scalar"
}

// score says how much a task likes a node.
func (p *upPlugin) score(t *upTask, node string) float64 {
	names := strings.Split(t.card, "|")
	for rank, name := range names {
		if len(names) > 1 && p.nodeHas(node, name) {
			return 100 / float64(int(1)<<rank)
		}
	}
	return 0
}

// share returns the share of a queue.
func (p *upPlugin) share(q *upQueue) (share float64) {
	for _, name := range []string{"cpu", "A", "B", "H"} {
		total, guaranteed := int64(0), int64(0)
		for node := range p.nodes {
			if name == "cpu" {
				total += 16_000
			} else if p.nodeHas(node, name) {
				total += 4_000
			}
		}
		guarantee := func(q *upQueue) int64 {
			if name == "cpu" {
				return q.ensure
			}
			return q.limit(name)
		}
		for _, other := range p.queues {
			guaranteed += guarantee(other)
		}
		real, deserved := max(0, total-guaranteed)+guarantee(q), q.deserve
		if name != "cpu" {
			deserved = q.limit(name)
		}
		if deserved = max(min(deserved, real), guarantee(q)); deserved > 0 {
			share = max(share, float64(p.allocated[q.name][name])/float64(deserved))
		}
	}
	return share
}

// compare says which of two queues comes first.
func (p *upPlugin) compare(a, b *upQueue) string {
	jobs := map[string]bool{}
	for _, j := range p.jobs {
		jobs[j.queue] = true
	}
	if !jobs[a.name] || !jobs[b.name] {
		return "panic"
	}
	return []string{"first", "tie", "second"}[1+cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(p.share(a), p.share(b)))]
}

// upRandom is a random world. with is what it has that plugin and ledger treat
// differently.
type upRandom struct {
	*upWorld
	*rand.Rand
	with  upDiff
	asked string // the queue of the last job that asked
	next  int
}

// has reports, one time in n, whether a difference is in the world.
func (r *upRandom) has(d upDiff, n int) bool { return r.with == d && r.IntN(n) == 0 }

// newUpRandom makes a world of three queues, some with jobs that run.
func newUpRandom(t *testing.T, with upDiff, seed uint64) *upRandom {
	r := &upRandom{Rand: rand.New(rand.NewPCG(seed, 4706)), with: with}
	flag := with == upFlagLate || with == upFlagAll || with == upFlagZero
	queues := []upQueue{{name: "q"}, {name: "r"}, {name: "s"}}
	for i := range queues {
		q := &queues[i]
		q.cpu, q.priority, q.closed = int64(1+r.IntN(5))*2000, int32(r.IntN(5)/4), r.IntN(15) == 0
		q.deserve = min(int64(r.IntN(4))*2000, q.cpu)
		q.quota = fmt.Sprintf(`{"A":%d,"B":%d}`, 2+r.IntN(6), 1+r.IntN(4))
		switch {
		case r.has(upBadEntry, 2):
			q.quota = pickOf(r.Rand, `{"A":4,"B":2.5}`, `{"A":3,"B":"3"}`, `{"A":2,"A":4,"H":2}`, `{"A":4,"H":-1}`, `{"A":`)
		case r.has(upNotEmpty, 2):
			q.cpu, q.quota = -1, ""
		case r.has(upNoMin, 1):
			q.deserve, q.ensure = 9000, 1000
		case with == upFlat && q.name != "s":
			q.parent = "org"
		}
	}
	if with == upFlat {
		queues = append(queues, upQueue{name: "org", cpu: 5000, quota: `{"A":2,"B":2}`})
	}
	r.upWorld = newUpWorld(t, Config{UnlimitedCPUMemory: flag}, map[string][]string{"n1": {"A"}, "n2": {"B"}, "n3": {"A"}}, queues)
	for range 6 {
		r.addJob()
	}
	for _, id := range sorted(r.jobs) {
		if j := r.jobs[id]; len(j.tasks) > 0 && !j.tasks[0].gated && r.IntN(2) == 0 {
			j.phase, j.tasks[0].status, j.tasks[0].node = PhaseRunning, TaskAllocated, r.node(j.tasks[0])
		}
	}
	r.begin()
	return r
}

// addJob adds a job with tasks, or with none yet and an annotation.
func (r *upRandom) addJob() {
	r.next++
	j := &upJob{id: fmt.Sprint("j", r.next), queue: pickOf(r.Rand, "q", "q", "r", "s"), minMember: 1}
	r.jobs[j.id] = j
	if r.with == upNoJobsPanic {
		j.queue = "q"
	}
	if r.IntN(4) == 0 {
		card := pickOf(r.Rand, "A", "B")
		j.request, j.cpu = fmt.Sprintf(`{%q:%d}`, card, 1+r.IntN(3)), int64(r.IntN(3))*1000
		switch {
		case r.has(upBadEntry, 2):
			j.request = pickOf(r.Rand, `{"A":1,"B":2.5}`, `{"A|B":"2"}`, `{"A":2,"A":3}`)
		case r.has(upLiteralKey, 2):
			j.request = pickOf(r.Rand, `{"A|B":6}`, `{"A":1,"A|B":2}`)
		case r.has(upFlagZero, 2):
			j.request, j.cpu = `{"A":0}`, 4000
		case r.cfg.UnlimitedCPUMemory:
			j.cpu = 0
		}
		return
	}
	card, gpu, cpu := pickOf(r.Rand, "A", "A", "B", ""), int64(1+r.IntN(2)), int64(r.IntN(3))*1000
	if card == "" {
		gpu = 0
	}
	switch {
	case r.has(upFirstName, 2):
		card, gpu = pickOf(r.Rand, "Ghost|A", " A", "A |B"), 1
	case r.has(upLiteralKey, 2):
		card, gpu = pickOf(r.Rand, "A|B", "B|A", "A|H"), 1
	case r.has(upUnnamed, 2):
		card, gpu = "", 1
	case card != "" && (r.with == upFlagAll || r.with == upFlagZero):
		cpu = 0
	}
	j.tasks = upTasks(1+r.IntN(3), j.id+"-", card, gpu, cpu)
	switch {
	case r.has(upUnresolvable, 2):
		j.tasks[0].card, j.tasks[0].gpu = "Ghost", 1
	case r.has(upEnded, 2):
		j.tasks = append(j.tasks, &upTask{id: j.id + "-ended", card: card, gpu: gpu, cpu: cpu, status: TaskFailed})
	case r.has(upFlagAll, 2):
		j.tasks = append(j.tasks, &upTask{id: j.id + "-free", cpu: 4000})
	}
	j.tasks[0].gated = r.has(upGated, 2)
	for _, t := range j.tasks {
		if !t.gated && !t.status.ended() && (!r.cfg.UnlimitedCPUMemory || t.card == "") {
			j.cpu += t.cpu
		}
	}
	if r.with == upLate || r.with == upNoPromise {
		j.cpu = j.cpu * int64(r.IntN(2)) // tasks use more than the min
	}
}

// node returns a node for a task: one of its cards is there.
func (r *upRandom) node(t *upTask) string {
	return pickOf(r.Rand, slices.DeleteFunc(append(sorted(r.nodes), ""), func(node string) bool {
		has := func(name string) bool { return r.nodeHas(node, strings.TrimSpace(name)) }
		return node != "" && t.card != "" && t.card != "Ghost" && r.with != upAnnotation && !slices.ContainsFunc(strings.Split(t.card, "|"), has)
	})...)
}

// step makes a decision. Then a cycle ends, in worlds of late amounts only sometimes.
func (r *upRandom) step() (what, theirs, ours string) {
	defer func() {
		if r.with != upLate || r.IntN(6) == 0 {
			r.change()
			r.begin()
		}
	}()
	for len(r.jobs) < 6 {
		r.addJob()
	}
	n := r.IntN(10)
	switch n {
	case 0:
		a, b := pickOf(r.Rand, "q", "r"), pickOf(r.Rand, "r", "s")
		theirs, ours = r.compare(a, b)
		if a == b || theirs == "tie" && r.with != upTies || theirs == "panic" && r.with != upNoJobsPanic {
			return "compare", ours, ours
		}
		return "compare", theirs, ours
	case 1:
		theirs, ours = r.share(pickOf(r.Rand, sorted(r.queues)...))
		return "share", theirs, ours
	}
	ids := sorted(r.jobs)
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids {
		j := r.jobs[id]
		if !j.admitted() {
			r.asked = j.queue
			if theirs, ours = r.enqueue(j); ours != "yes" {
				delete(r.jobs, id)
			}
			return "enqueue", theirs, ours
		}
		for _, t := range j.tasks {
			switch {
			case t.allocated() && r.has(upLate, 3):
				r.evict(t.id)
				return "evict", "", ""
			case t.gated || t.status.ended() || t.allocated():
			case n == 2:
				theirs, ours = r.score(j, t.id, pickOf(r.Rand, sorted(r.nodes)...))
				return "score", theirs, ours
			default:
				node := ""
				if n > 3 {
					node = r.node(t)
				}
				theirs, ours = r.place(j, t.id, node)
				return "place", theirs, ours
			}
		}
	}
	return "nothing", "", ""
}

// change changes what there is between two cycles.
func (r *upRandom) change() {
	used := false
	for _, id := range sorted(r.jobs) {
		if r.IntN(40) == 0 && r.jobs[id].admitted() {
			r.l.ReleaseJob(id)
			delete(r.jobs, id)
			continue
		}
		for _, t := range r.jobs[id].tasks {
			used = used || t.allocated() && t.node == "n2"
			switch {
			case t.allocated() && r.has(upFinished, 3):
				t.status = TaskSucceeded
			case t.gated && r.has(upGated, 6):
				t.gated = false
			}
		}
	}
	if r.has(upVanished, 4) && !used {
		r.nodes["n2"] = []string{"A"}
	}
}

// dueTo names the difference that a divergence is due to.
func (r *upRandom) dueTo(what, theirs string) upDiff {
	switch {
	case r.with == upLate && theirs == "panic":
		return upNegativePanic
	case r.with == upLiteralKey && what == "score":
		return upPresence
	case r.with == upLiteralKey && what == "place":
		return upEachAlone
	case r.with == upLiteralKey && what == "enqueue":
		for key, amount := range r.plugin.inqueue[r.asked] {
			if strings.Contains(key, "|") && amount > 0 {
				return upLiteralKey
			}
		}
		return upJobSums
	}
	return r.with
}

// pickOf returns one of several values.
func pickOf[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
