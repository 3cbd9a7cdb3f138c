package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestGrowth: what is read, and what is changed at once, costs no more than its size.
// The inputs are long, deep or wide: what a user can write, and what comes of it.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		prepare func(t *testing.T, n int) func()
	}{
		"a job of many tasks":                {1000, largeJob},
		"restore many jobs":                  {500, restoreRecords},
		"restore a chain with jobs below":    {500, restoreChain},
		"restore a job of many items":        {1000, restoreItems},
		"restore many alternatives":          {1000, restoreAlternatives},
		"read snapshots that are no ledger":  {1000, restoreFaults},
		"view each task of a job alone":      {500, reconcileEach},
		"reconcile many jobs and queues":     {1000, reconcileMany},
		"reconcile jobs that are gone":       {2000, reconcileGone},
		"roll back each task of a job alone": {500, rollBackEach},
		"release orphans one by one":         {2000, releaseOrphans},
		"reconcile a job of many keys":       {2000, reconcileKeys},
		"reconcile tasks that wait":          {300, reconcileWaiting},
		"replace a chain of queues":          {500, replaceChain},
		"replace queues side by side":        {500, replaceStar},
		"validate a cycle":                   {2000, validateCycle},
		"build a queue of bad names":         {500, buildBadNames},
		"build a queue of unknown resources": {500, buildResources},
		"build a queue of unreadable text":   {1000, buildUnreadable},
		"parse alternatives":                 {1000, parseLong},
		"a pod of many containers":           {100, resolveContainers},
		"a pod of many resources":            {200, resolveResources},
		"a job of many names":                {500, resolveNames},
		"a task of many claims":              {1000, resolveClaims},
		"many cards on many nodes":           {300, discover},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, c.n, func(n int) func() { return c.prepare(t, n) })
		})
	}
}

// numbered joins n texts.
func numbered(n int, format, separator string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(separator)
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// names returns n names.
func names(n int, format string) []string { return strings.Split(numbered(n, format, "\n"), "\n") }

// chainOf returns n queues, each below the one before it, q0 at the top.
func chainOf(n int) []builtQueue {
	queues := []builtQueue{{Name: "q0"}}
	for i := 1; i < n; i++ {
		queues = append(queues, builtQueue{Name: fmt.Sprint("q", i), Parent: fmt.Sprint("q", i-1)})
	}
	return queues
}

// treesOf makes n queues, each below the one before it, but every eighth at the top: what is
// charged takes as long as it has levels above it.
func treesOf(n int) []builtQueue {
	queues := chainOf(n)
	for i := 0; i < n; i += 8 {
		queues[i].Parent = ""
	}
	return queues
}

// withRoom gives a queue room for everything.
func withRoom(m *vectormap.ResourceVectorMap, q builtQueue) builtQueue {
	q.Capability = m.NewVector()
	for i := range q.Capability {
		q.Capability[i] = inf
	}
	return q
}

// largeJob does to one job with many tasks what can be done to it.
func largeJob(t *testing.T, n int) func() {
	w := newWorld(t, Config{}, "q", "cpu:inf A:inf B:inf")
	w.want(w.reserve("j", "q", fmt.Sprintf("cpu:%d A:%d", n, n)), "yes")
	tasks, ids := make([]*TaskRequest, n), make([]string, n)
	for i := range n {
		ids[i] = fmt.Sprint(i)
		tasks[i] = w.task(ids[i], "j", "q", "cpu:1 A:1")
	}
	return func() {
		_, _ = w.CommitAll(tasks)
		w.Rollback(ids...)
		_, _ = w.CommitAll(tasks)
		_, _ = w.Resize(w.job("j", "q", "cpu:5 A:7"))
		w.Release(ids...)
		if len(w.tasks) > 0 {
			t.Errorf("%d tasks are left", len(w.tasks))
		}
	}
}

// restoreRecords takes a snapshot of many reserved jobs, with a task each, and restores it.
func restoreRecords(t *testing.T, n int) func() {
	w := gpus(t, Config{}, "q", "A:inf")
	for i := range n {
		id := fmt.Sprint(i)
		w.reserve(id, "q", "A:2")
		w.commit(id, id, "q", "A:1")
	}
	return func() { w.again() }
}

// restores returns the work of restoring a snapshot, with no other fault than the
// given one.
func restores(t *testing.T, cfg Config, fields, fault string) func() {
	var doc snapshotDoc
	testkit.Check(json.Unmarshal(snapshotWith(t, fields), &doc))
	doc.Config.Mix = mixNames[cfg.AnyMix]
	text := string(testkit.Must(json.Marshal(doc)))
	for key, empty := range map[string]string{
		"known": "[]", "queues": "[]", "jobs": "[]", "tasks": "[]", "resources": "[]", "items": "[]", "charges": "[]",
		"capability": "{}", "deserved": "{}", "guarantee": "{}", "holds": "{}",
	} {
		text = strings.ReplaceAll(text, `"`+key+`":null`, `"`+key+`":`+empty)
	}
	data := []byte(text)
	return func() {
		l, err := Restore(cfg, nil, data)
		switch {
		case fault != "" && (err == nil || !strings.Contains(err.Error(), fault)), fault == "" && err != nil:
			t.Errorf("%.200v", err)
		case err == nil:
			l.Snapshot()
		}
	}
}

// restoreChain restores orphans below orphans, with all jobs at the end.
func restoreChain(t *testing.T, n int) func() {
	var text strings.Builder
	text.WriteString(`"queues":[{"name":"q000000","state":"open"}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, `,{"name":"q%06d","parent":"q%06d","state":"closed"}`, i, i-1)
	}
	text.WriteString(`],"jobs":[{"id":"j000000","queue":"q000000","policy":"same-card","reserved":true}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, `,{"id":"j%06d","queue":"q%06d","policy":"same-card","reserved":true,"min":{"cpu":1}}`, i, n)
	}
	text.WriteString("]")
	return restores(t, Config{}, text.String(), "")
}

// restoreItems restores a job with more items than any job has.
func restoreItems(t *testing.T, n int) func() {
	text := `"queues":[{"name":"q","state":"open"}],"jobs":[{"id":"j","queue":"q","policy":"any-mix","reserved":true,"items":[` +
		numbered(n, `{"key":"A|B","unit":1%06d}`, ",") + "]}]"
	return restores(t, anyMix, text, "want at most 64")
}

// restoreAlternatives restores an item that may be on any of many cards, and is on all.
func restoreAlternatives(t *testing.T, n int) func() {
	text := `"queues":[{"name":"q","state":"open"}],"jobs":[{"id":"j","queue":"q","policy":"any-mix","reserved":true,"items":[{"key":"` +
		numbered(n, "c%d", "|") + `","unit":1,"min":` + fmt.Sprint(n) + `,"holds":{` + numbered(n, `"c%d":1`, ",") + `}}]}]`
	return restores(t, anyMix, text, "")
}

// restoreFaults restores what is nothing but long.
func restoreFaults(t *testing.T, n int) func() {
	work := []func(){
		restores(t, Config{}, `"known":[`+numbered(n, `{"card":"c%06d"}`, ",")+`,{"card":"c000000"}]`, "want each card once"),
		restores(t, Config{}, `"queues":[`+numbered(n, `{"name":"q%d","parent":"q0","state":"open"}`, ",")+`]`, "cycle"),
		restores(t, Config{}, `"queues":[`+strings.Repeat(`{"name":"q","state":"open"},`, n)+`{"name":"q","state":"open"}]`, "Duplicate value"),
		restores(t, Config{}, `"queues":[`+numbered(n, `{"name":"q%d","parent":"p%[1]d","state":"open"}`, ",")+`]`, "there is no queue"),
		restores(t, Config{}, `"queues":[{"name":"q","state":"open","denied":{`+numbered(n, `"card:c%d":"bad"`, ",")+`}}]`, ""),
		restores(t, Config{}, `"queues":[{"name":"q","state":"open","capability":{`+numbered(n, `"card:c%d":1`, ",")+`}}]`, ""),
		restores(t, Config{}, `"tasks":[`+numbered(n, `{"id":"%d","job":"j","queue":"q","state":"pending"}`, ",")+`,{"id":"0","job":"j","queue":"q","state":"pending"}]`, "twice"),
	}
	return func() {
		for _, restore := range work {
			restore()
		}
	}
}

// reconcileMany makes and releases the charges of many jobs among many queues.
func reconcileMany(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A", "B"}))
	queues := treesOf(n)
	for i := range queues {
		queues[i] = withRoom(m, queues[i])
	}
	l := testkit.Must(newBuilt(Config{}, m, cluster(map[string]string{"n": "A:10"}), queues))
	view := View{}
	leaf := queues[n-1].Name
	for i := range n {
		id := fmt.Sprint(i)
		view.Jobs = append(view.Jobs, Job{
			ID: id, Queue: leaf, Min: &Min{CPU: 1, Items: []Item{{Alternatives: []string{"A"}, Milli: 3000}}}, Phase: PhaseInqueue,
		})
		view.Jobs[i].Tasks = []Task{{ID: id, Node: "n", Phase: TaskAllocated, Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}}}
	}
	return func() {
		testkit.Must(l.Reconcile(view))
		testkit.Must(l.Reconcile(view))
		for range l.Jobs("q1") {
			break
		}
		if _, ok := l.Queue("q0"); !ok {
			t.Error("the queue isn't there")
		}
		for range l.Samples() {
			break
		}
		testkit.Must(l.Reconcile(View{}))
		if len(l.tasks) > 0 {
			t.Errorf("%d tasks are left", len(l.tasks))
		}
	}
}

// reconcileGone takes the last jobs of many orphans.
func reconcileGone(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A"}))
	l := testkit.Must(newBuilt(Config{}, m, cluster(map[string]string{"n": "A:10"}), nil))
	queues, view := treesOf(n), View{}
	for i := range queues {
		queues[i] = withRoom(m, queues[i])
	}
	(&world{t, l}).replace(queues...)
	for i := range n {
		view.Tasks = append(view.Tasks, Task{ID: fmt.Sprint(i), Job: fmt.Sprint(i), Queue: queues[i].Name, Node: "n", Phase: TaskAllocated})
	}
	testkit.Must(l.Reconcile(view))
	return func() {
		if orphans, _, err := l.setBuilt(nil, nil); err != nil || len(orphans) != n {
			t.Errorf("%d orphans, %v", len(orphans), err)
		}
		testkit.Must(l.Reconcile(View{}))
		if len(l.queues) > 0 {
			t.Errorf("%d queues are left", len(l.queues))
		}
	}
}

// rollBackEach rolls back every task of a job and commits it again, while others lack what
// it covers, and some lack what nothing covers.
func rollBackEach(t *testing.T, n int) func() {
	w, tasks := elastic(t, n)
	return func() {
		for i := range n {
			rollBack(t, w, tasks[i])
		}
	}
}

// elastic is a job of n tasks, half of which have no part of its min.
func elastic(t testing.TB, n int) (*Ledger, []*TaskRequest) {
	w := newWorld(new(testing.T), Config{}, "q", "cpu:inf mem:inf A:inf")
	if a, err := w.Reserve(w.job("j", "q", fmt.Sprintf("cpu:%d mem:1 A:%d", n/2, n/2))); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	tasks := make([]*TaskRequest, n)
	for i := range tasks {
		tasks[i] = w.task(fmt.Sprint(i), "j", "q", "cpu:1 mem:1 A:1")
		commit(t, w.Ledger, tasks[i])
	}
	return w.Ledger, tasks
}

func commit(t testing.TB, l *Ledger, r *TaskRequest) {
	if a, err := l.Commit(r); err != nil || !a.OK || a.Repeat {
		t.Fatal(a, err)
	}
}

// rollBack rolls a task back and commits it again. Others take its part of the min at once.
func rollBack(t testing.TB, l *Ledger, r *TaskRequest) {
	_, known := l.Rollback(r.id)
	if j := l.jobs[r.job]; !known || j.Holds() {
		t.Fatalf("task %s: %+v", r.id, j.Job)
	}
	commit(t, l, r)
}

// releaseOrphans takes the last jobs of many orphans, each in a change of its own.
func releaseOrphans(t *testing.T, n int) func() {
	l := orphans(t, n)
	return func() {
		for i := range n {
			l.ReleaseJob(fmt.Sprint("q", i))
		}
		if len(l.queues) > 1 {
			t.Errorf("%d queues are left", len(l.queues))
		}
	}
}

// orphans makes n orphans below a queue, each with a job by its name.
func orphans(t testing.TB, n int) *Ledger {
	m := testkit.Must(testMap(nil))
	queues := []builtQueue{withRoom(m, builtQueue{Name: "org"})}
	for i := range n {
		queues = append(queues, withRoom(m, builtQueue{Name: fmt.Sprint("q", i), Parent: "org"}))
	}
	l := testkit.Must(newBuilt(Config{}, m, nil, queues))
	for i := range n {
		name := fmt.Sprint("q", i)
		if a, err := l.Reserve(&JobRequest{id: name, queue: name, min: book.Min{Plain: book.Plain{dimCPU: 1}}}); err != nil || !a.OK {
			t.Fatal(a, err)
		}
	}
	if orphans, _, err := l.setBuilt(queues[:1], nil); err != nil || len(orphans) != n {
		t.Fatalf("%d orphans, %v", len(orphans), err)
	}
	return l
}

// keys returns n lists of alternatives among ten cards, no two alike.
func keys(n int) (lists [][]string) {
	for i := range n {
		cards := strings.Split("A B C D E F G H I J", " ")
		for k, rest := len(cards), i; k > 1; k-- { // the i-th permutation
			at := rest % k
			rest /= k
			cards[at], cards[k-1] = cards[k-1], cards[at]
		}
		lists = append(lists, cards)
	}
	return lists
}

// reconcileKeys makes and releases charges of a job whose tasks all list other cards.
func reconcileKeys(t *testing.T, n int) func() {
	m := testkit.Must(testMap(strings.Split("A B C D E F G H I J", " ")))
	l := testkit.Must(newBuilt(Config{}, m, cluster(map[string]string{"n": "A:10 B:1 C:1 D:1 E:1 F:1 G:1 H:1 I:1 J:1"}), []builtQueue{withRoom(m, builtQueue{Name: "q"})}))
	view := View{Jobs: []Job{{ID: "j", Queue: "q", Phase: PhaseRunning, MinUnknown: true}}}
	for i, cards := range keys(n) {
		view.Jobs[0].Tasks = append(view.Jobs[0].Tasks, Task{ID: fmt.Sprint(i), Node: "n", Phase: TaskAllocated, Cards: []Item{{Alternatives: cards, Milli: 1000}}})
	}
	return func() {
		testkit.Must(l.Reconcile(view))
		testkit.Must(Restore(Config{}, l.source.catalog, l.Snapshot()))
		testkit.Must(l.Reconcile(View{}))
		if len(l.tasks) > 0 {
			t.Errorf("%d tasks are left", len(l.tasks))
		}
	}
}

// reconcileWaiting has many pending tasks below many queues, and asks for them.
func reconcileWaiting(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A"}))
	l := testkit.Must(newBuilt(Config{}, m, cluster(map[string]string{"n": "A:10"}), chainOf(n)))
	view := View{}
	for i := range n {
		view.Tasks = append(view.Tasks, Task{ID: fmt.Sprint(i), Job: fmt.Sprint(i), Queue: fmt.Sprint("q", n-1), Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}})
	}
	return func() {
		testkit.Must(l.Reconcile(view))
		s, _ := l.Queue("q0")
		if got := s.Usage("A").Request; got != Amount(1000*n) {
			t.Errorf("%d are requested", got)
		}
		for s := range l.Samples() {
			if s.Cards[0].Request != Amount(1000*n) {
				t.Errorf("%s: %v", s.Name, s.Cards)
			}
		}
	}
}

// replaceChain puts a chain of queues upside down.
func replaceChain(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A"}))
	queues := chainOf(n)
	l := testkit.Must(newBuilt(Config{EnforceGuarantee: true}, m, nil, queues))
	down := slices.Clone(queues)
	for i := range down {
		down[i].Parent = fmt.Sprint("q", i+1)
	}
	down[n-1].Parent = ""
	return func() {
		for _, tree := range [][]builtQueue{down, queues} {
			if errs, _ := new(Config).validateBuilt(tree, m, nil); len(errs) > 0 {
				t.Error(errs[0])
			}
			if _, _, err := l.setBuilt(tree, nil); err != nil {
				t.Error(err)
			}
			testkit.Check(l.Check())
		}
	}
}

// replaceStar replaces queues below one by others.
func replaceStar(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A"}))
	trees := [2][]builtQueue{{{Name: "q"}}, {{Name: "q"}}}
	for i := range n {
		trees[0] = append(trees[0], builtQueue{Name: fmt.Sprint("a", i), Parent: "q"})
		trees[1] = append(trees[1], builtQueue{Name: fmt.Sprint("b", i), Parent: "q"})
	}
	l := testkit.Must(newBuilt(Config{}, m, nil, nil))
	catalog := cluster(map[string]string{"n": "A:10"})
	return func() {
		for _, tree := range trees {
			if errs, _ := new(Config).validateBuilt(tree, m, catalog); len(errs) > 0 {
				t.Error(errs[0])
			}
			if _, _, err := l.setBuilt(tree, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// validateCycle has a cycle of all queues, and then every queue many times.
func validateCycle(t *testing.T, n int) func() {
	m := testkit.Must(testMap([]string{"A"}))
	cycle := chainOf(n)
	cycle[0].Parent = cycle[n-1].Name
	many := append(chainOf(n), chainOf(n)...)
	for i := range n {
		many = append(many, builtQueue{Name: fmt.Sprint("x", i), Parent: fmt.Sprint("y", i)})
	}
	return func() {
		if errs, _ := new(Config).validateBuilt(cycle, m, nil); len(errs) != 1 {
			t.Errorf("%d faults", len(errs))
		}
		errs, _ := new(Config).validateBuilt(many, m, nil)
		if len(errs) != 2*n {
			t.Errorf("%d faults", len(errs))
		}
		for _, err := range errs {
			_ = err.Error()
		}
	}
}

// builds returns the work of building a queue.
func builds(t *testing.T, cfg Config, cards []string, spec Queue, faults int) func() {
	m := testkit.Must(testMap(cards))
	spec.Name = "q"
	return func() {
		_, found, err := cfg.buildQueue(m, spec)
		if err != nil || len(found) != faults {
			t.Errorf("%d faults, want %d; %v", len(found), faults, err)
		}
		cfg.namedCards([]Queue{spec})
	}
}

func buildBadNames(t *testing.T, n int) func() {
	return builds(t, Config{}, names(n, "c%d"), Queue{Annotations: quotaOf("{" + numbered(n, `"a%d|b":1,"x%[1]d":-1,"  ":1`, ",") + "}")}, 3*n)
}

func buildResources(t *testing.T, n int) func() {
	many := corev1.ResourceList{}
	for _, name := range names(n, "example.com/r%d") {
		many[corev1.ResourceName(name)] = resource.MustParse("1")
	}
	return builds(t, Config{}, nil, Queue{Capability: many, Guarantee: many, Deserved: many}, 3*n)
}

func buildUnreadable(t *testing.T, n int) func() {
	return builds(t, Config{}, names(n, "c%d"), Queue{Annotations: quotaOf("{" + numbered(n, `"c%d":1`, ",") + ",}")}, 1)
}

// parseLong reads long names and long lists of them.
func parseLong(t *testing.T, n int) func() {
	texts := []string{
		numbered(n, "a%d", "|"), strings.Repeat("|", n), strings.Repeat("a|", n), strings.Repeat(strings.Repeat("x", n/64)+"|", 64),
		`{"` + strings.Repeat("x", n) + `":` + strings.Repeat("9", n) + "}", "{" + numbered(n, `"a":%d`, ",") + "}",
		"{" + numbered(n, `"a%d|b|a%[1]d":{"b":[[1]]}`, ",") + "}", `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}",
	}
	return func() {
		for _, text := range texts {
			parseAlternatives(text)
			for _, cfg := range []Config{{}, {FailToZero: true}} {
				parseQuota(text, cfg.FailToZero)
				parseRequest(text, cfg.FailToZero)
			}
		}
	}
}

// resolves returns the work of resolving a task, and a job that consists of it.
func resolves(t *testing.T, l *Ledger, task Task) func() {
	task.ID, task.Job, task.Queue = "1", "j", "q"
	return func() {
		resolved(l.ResolveTask(task))
		resolved(l.ResolveJob(Job{ID: "j", Queue: "q", Tasks: []Task{task}}))
	}
}

// resolveContainers has a pod with many containers of all kinds, each with a resource
// of its own.
func resolveContainers(t *testing.T, n int) func() {
	l := gpus(t, Config{}, "q", "A:inf").Ledger
	pod, always := podOf("A", "gpu:1"), corev1.ContainerRestartPolicyAlways
	for i := range n {
		list := corev1.ResourceList{corev1.ResourceName(fmt.Sprint("example.com/r", i)): resource.MustParse("1")}
		c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
		sidecar := c
		sidecar.RestartPolicy = &always
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c, sidecar)
	}
	return resolves(t, l, Task{Pod: pod})
}

// resolveResources has a pod with many resources that carry cards.
func resolveResources(t *testing.T, n int) func() {
	nodes := map[string]string{"n": numbered(n, "c%d@r/c%[1]d:1", " ")}
	l := testkit.Must(New(Config{}, cluster(nodes), []Queue{{Name: "q"}}))
	pod := podOf("A", "")
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{}
	for i := range n {
		pod.Spec.Containers[0].Resources.Limits[corev1.ResourceName(fmt.Sprint("r/c", i))] = resource.MustParse("1")
	}
	return resolves(t, l, Task{Pod: pod})
}

// resolveNames has a job whose annotation lists many cards.
func resolveNames(t *testing.T, n int) func() {
	var all []func()
	for _, cfg := range []Config{{}, {FailToZero: true}} {
		l := testkit.Must(New(cfg, cluster(map[string]string{"n": numbered(n, "c%d:1", " ")}), []Queue{{Name: "q"}}))
		for _, text := range []string{
			`{"` + numbered(n, "c%d", "|") + `":1}`, `{"` + numbered(n, "x%d", "|") + `":1}`, "{" + numbered(n, `"c%d":1`, ",") + "}", "{" + numbered(n, `"c%d|x":1`, ",") + "}",
			`{"` + strings.Repeat("c1|", n) + `c0":1}`,
		} {
			all = append(all, func() {
				resolved(l.ResolveJob(Job{ID: "j", Queue: "q", Annotations: asks(text)}))
			})
		}
	}
	return func() {
		for _, one := range all {
			one()
		}
	}
}

// resolveClaims has a task with many lists of cards.
func resolveClaims(t *testing.T, n int) func() {
	m := testkit.Must(testMap(names(2*n, "c%d")))
	l := testkit.Must(newBuilt(Config{}, m, cluster(map[string]string{"n": numbered(2*n, "c%d:1", " ")}), []builtQueue{withRoom(m, builtQueue{Name: "q"})}))
	task := Task{Cards: []Item{}, ID: "1", Job: "j", Queue: "q", Node: "n", Phase: TaskAllocated}
	for i := range n {
		task.Cards = append(task.Cards, Item{Alternatives: []string{fmt.Sprint("c", 2*i), fmt.Sprint("c", 2*i+1)}, Milli: 1000})
	}
	resolve := resolves(t, l, task)
	return func() {
		resolve()
		testkit.Must(l.Reconcile(View{Tasks: []Task{task}}))
		testkit.Must(l.Reconcile(View{}))
	}
}

// discover has as many cards as nodes, one on each.
func discover(t *testing.T, n int) func() {
	var inv device.Inventory
	for i, card := range names(n, "c%d") {
		inv.Nodes = append(inv.Nodes, device.Node{Name: fmt.Sprint("n", i), Cards: []device.Card{{Name: card, Resource: "nvidia.com/gpu", Count: 1}}})
	}
	return func() {
		l := testkit.Must(New(Config{}, inv.Catalog(), nil))
		var cards []device.Card
		for _, card := range names(n, "c%d") {
			cards = append(cards, device.Card{Name: card})
		}
		testkit.Must(l.Declare(cards))
	}
}

// reconcileEach views the tasks of one job one by one. They run, each for itself, and end.
func reconcileEach(t *testing.T, n int) func() {
	w := newWorld(t, Config{}, "q", "cpu:inf A:inf")
	view := func(i int, phase TaskPhase) {
		task := Task{ID: fmt.Sprint(i), Job: "j", Queue: "q", Pod: podOf("", "cpu:1"), Node: "n", Phase: phase}
		if rep, err := w.Reconcile(View{Partial: true, Tasks: []Task{task}}); err != nil || len(rep.Failed) > 0 {
			t.Fatal(rep, err)
		}
	}
	return func() {
		for i := range n {
			view(i, TaskAllocated)
		}
		for i := range n {
			view(i, TaskSucceeded)
		}
		if len(w.jobs) > 0 {
			t.Error("there is something left")
		}
	}
}
