package quota

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// notUTF8 is a name that JSON can't have.
const notUTF8 = "a\xff"

// TestForeignRequests: what a ledger can't use panics before anything is locked.
func TestForeignRequests(t *testing.T) {
	w, other := newWorld(t, Config{}, "q", "A:4"), newWorld(t, Config{}, "q", "A:4")
	resolve := func(l *Ledger) (*JobRequest, *TaskRequest) {
		job := resolved(l.ResolveJob(Job{ID: "j", Queue: "q", Min: &Min{Items: []Item{{Alternatives: []string{"A"}, Milli: 1000}}}}))
		task := resolved(l.ResolveTask(Task{ID: "1", Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}}))
		return job, task
	}
	job, task := resolve(other.Ledger)
	own, ownTask := resolve(w.Ledger)
	for name, call := range map[string]func(){
		"Enqueueable":   func() { w.Enqueueable(nil, job) },
		"Allocatable":   func() { w.Allocatable(nil, task) },
		"AllocatableOn": func() { w.AllocatableOn(nil, task, "n") },
		"NodeScore":     func() { w.NodeScore(task, "n") },
		"Reserve":       func() { _, _ = w.Reserve(job) },
		"Resize":        func() { _, _ = w.Resize(job) },
		"ReserveMany":   func() { _, _ = w.ReserveMany([]*JobRequest{own, job}) },
		"Commit":        func() { _, _ = w.Commit(task) },
		"CommitOn":      func() { _, _ = w.CommitOn(task, "n") },
		"CommitAll":     func() { _, _ = w.CommitAll([]*TaskRequest{ownTask, task}) },
		"of jobs":       func() { w.EnqueueableBatch(new(vector.Mask), []*JobRequest{own, job}) },
		"of tasks":      func() { w.AllocatableBatch(new(vector.Mask), []*TaskRequest{ownTask, task}) },
		"JobCopies":     func() { _, _ = w.JobCopies(job) },
		"TaskCopies":    func() { _, _ = w.TaskCopies(task) },
	} {
		if got := testkit.Recovered(call); got != "quota: request of another ledger" {
			t.Errorf("%s: panic %v", name, got)
		}
	}
	w.want(w.state("q", "A"), "0/0/0")
	w.want(w.reserve("j", "q", "A:4"), "yes") // nothing is locked

	// The zero values are of no queue.
	a, err := w.Reserve(&JobRequest{})
	w.want(say(a, err), "UnknownQueue")
	a, err = w.Commit(&TaskRequest{})
	w.want(say(a, err), "UnknownQueue")
}

// TestNamesAreUTF8: what a snapshot would change is refused, and changes nothing.
func TestNamesAreUTF8(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:4")
	before := string(w.Snapshot())
	task := func(x Task) error { _, _, err := w.ResolveTask(x); return err }
	job := func(j Job) error { _, _, err := w.ResolveJob(j); return err }
	set := func(q Queue) error { _, _, err := w.SetQueues([]Queue{q}); return err }
	last := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"task":             task(Task{ID: notUTF8, Job: "j", Queue: "q"}),
		"job of a task":    task(Task{ID: "1", Job: notUTF8, Queue: "q"}),
		"queue of a task":  task(Task{ID: "1", Job: "j", Queue: notUTF8}),
		"job":              job(Job{ID: notUTF8, Queue: "q"}),
		"queue of a job":   job(Job{ID: "j", Queue: notUTF8}),
		"queue":            set(Queue{Name: notUTF8}),
		"ignored resource": set(Queue{Name: "q", Capability: corev1.ResourceList{notUTF8: resource.MustParse("1")}}),
		"card":             set(Queue{Name: "q", Cards: map[string]int64{notUTF8: 1}}),
		"New":              last(New(Config{Outputs: []corev1.ResourceName{notUTF8}}, nil, nil)),
		"quota key":        last(New(Config{QuotaKey: notUTF8}, nil, nil)),
		"deserved key":     last(New(Config{DeservedKey: notUTF8}, nil, nil)),
		"guarantee key":    last(New(Config{GuaranteeKey: notUTF8}, nil, nil)),
		"request key":      last(New(Config{RequestKey: notUTF8}, nil, nil)),
		"name key":         last(New(Config{NameKey: notUTF8}, nil, nil)),
		"catalog":          last(w.SetCatalog(cluster(map[string]string{"n": notUTF8 + ":1"}))),
		"Declare":          last(w.Declare([]device.Card{{Name: notUTF8}})),
		"view":             last(w.Reconcile(View{Jobs: []Job{{ID: notUTF8, Queue: "q"}}})),
		"task in a view":   last(w.Reconcile(View{Tasks: []Task{{ID: notUTF8, Job: "j", Queue: "q"}}})),
		"resource":         last(w.SetCatalog(cluster(map[string]string{"n": "A@" + notUTF8 + ":1"}))),
	} {
		if !errors.Is(err, ErrBadName) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if errs, _ := new(Config).validateBuilt([]builtQueue{{Name: notUTF8}}, w.m, nil); len(errs) != 1 || errs[0].Error() != `queues[0].name: Invalid value: "a\xff": want UTF-8` {
		t.Errorf("Validate: %v", errs)
	}
	w.want(string(w.Snapshot()), before)

	// Any other name comes back.
	strange := "<\"\\\u2028\x00é\ufffd\U0001F642>"
	w.replace(q(w.m, strange, "A:4"), builtQueue{Name: "s", State: "other"})
	w.want(w.reserve(strange+"j", strange, "A:2"), "yes")
	w.want(w.commit(strange+"1", strange+"j", strange, "A:1"), "A")
	again := testkit.Must(Restore(w.cfg, w.source.catalog, w.Snapshot()))
	w.want(string(again.Snapshot()), string(w.Snapshot()))
	if !known(again.Release(strange + "1")) {
		t.Error("the task isn't there")
	}
}

// TestAlternativesAreForgotten: users choose the keys, and a ledger keeps those that
// something uses.
func TestAlternativesAreForgotten(t *testing.T) {
	names := strings.Split("A B C H K V", " ")
	w := newWorld(t, anyMix, "q", "A:4 B:4 C:4 H:4 K:4 V:4")
	w.want(w.reserve("j", "q", "V|A:2"), "yes")
	kept := w.alts("V|A")
	rng := rand.New(rand.NewPCG(1, 2))
	keys := map[string]bool{}
	for len(keys) < 700 { // of 6! = 720
		rng.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		key := strings.Join(names, "|")
		keys[key] = true
		resolved(w.ResolveTask(Task{ID: "1", Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{key}, Milli: 1000}}}))
		if len(keys)%50 == 0 {
			runtime.GC()
		}
	}
	if n := len(w.interned.byKey); n > 600 {
		t.Errorf("%d keys are kept", n)
	}
	runtime.GC()
	w.interned.sweep()
	if n := len(w.interned.byKey); n > 20 {
		t.Errorf("%d keys are kept that nothing uses", n)
	}
	if w.alts("V|A") != kept || w.jobs["j"].Items[0].Alts != kept {
		t.Error("a key in use was forgotten")
	}
}

// TestDeclareKeepsTheCatalog: cards may be declared while the catalog is replaced.
func TestDeclareKeepsTheCatalog(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:4")
	small, large := cluster(map[string]string{"n": "A:1"}), cluster(map[string]string{"n": "A:1", "m": "A:1"})
	for range 200 {
		testkit.Must(w.SetCatalog(small))
		var both sync.WaitGroup
		both.Go(func() { _, _ = w.Declare([]device.Card{{Name: "B"}}) })
		both.Go(func() { _, _ = w.SetCatalog(large) })
		both.Wait()
		if w.source.catalog != large || w.source.totals[int(w.dims["A"])] != 2000 {
			t.Fatal("the catalog before is back")
		}
	}
}

// TestHostileLoad: hundreds of goroutines do everything at once, to the same ids, and
// the books are right at any time.
func TestHostileLoad(t *testing.T) {
	for _, cfg := range []Config{{}, {AnyMix: true, EnforceGuarantee: true, CountReleasing: true}} {
		var events sync.Map
		cfg.OnEvent = func(e Event) { events.Store(e.Kind, e.Seq) }
		w := newWorld(t, cfg, "p", "A:20 B:20", "q < p", "cpu:9 A:9 B:9 C:3", "r < p", "cpu:9 A:9 B:15", "s", "cpu:5 A:3")
		trees := [][]string{
			{"p", "A:20 B:20", "q < p", "cpu:9 A:9 B:9 C:3", "r < p", "cpu:9 A:9 B:15", "s", "cpu:5 A:3"},
			{"p", "A:4", "q < p", "cpu:3 A:9 B:1", "s", "A:3", "r < s", "A:9"},
			{"q", "A:9 B:9", "r < q", "A:2 B:1 C:inf"},
			{"q", "cpu:inf A:inf B:inf C:inf"},
		}
		catalogs := []*device.Catalog{
			cluster(map[string]string{"n": "A:10 B:10 C:10", "m": "B:4"}), cluster(map[string]string{"n": "B:1"}), cluster(nil),
		}
		h := hostile{w: w, trees: trees, catalogs: catalogs}
		var all sync.WaitGroup
		for g := range 200 {
			all.Go(func() { h.run(rand.New(rand.NewPCG(uint64(g), 7)), 60) })
		}
		all.Wait()
		if v := w.Check(); v != nil {
			t.Fatalf("%v", v)
		}
		for _, kind := range []EventKind{EventReserved, EventCommitted, EventRolledBack, EventReleased, EventRefused, EventReconciled} {
			if _, ok := events.Load(kind); !ok {
				t.Errorf("no event %v", kind)
			}
		}
		text := w.Snapshot()
		l := testkit.Must(Restore(cfg, w.source.catalog, text))
		if string(l.Snapshot()) != string(text) {
			t.Error("restored otherwise")
		}
		for _, id := range sorted(w.jobs) {
			w.ReleaseJob(id)
		}
		if v := w.Check(); v != nil || len(w.jobs)+len(w.tasks) > 0 {
			t.Errorf("%v", v)
		}
		for _, queue := range w.queues {
			for dim := range queue.Cells {
				if c := queue.Cells[dim]; c.Full() != 0 || c.Elastic != 0 {
					t.Errorf("%s keeps %v", queue.spec.Name, c)
				}
			}
		}
	}
}

// hostile is a load on one ledger.
type hostile struct {
	w        *world
	trees    [][]string
	catalogs []*device.Catalog
}

func (h *hostile) run(rng *rand.Rand, n int) {
	w := h.w
	id := func(most int) string { return fmt.Sprint(rng.IntN(most)) }
	queue := func() string { return []string{"p", "q", "q", "r", "s", "nope"}[rng.IntN(6)] }
	alternatives := func() []string { return [][]string{{"A"}, {"B"}, {"A", "B"}, {"B", "A"}, {"A", "B", "C"}}[rng.IntN(5)] }
	job := func() *JobRequest {
		r := resolved(w.ResolveJob(Job{ID: id(40), Queue: queue(), Min: &Min{CPU: int64(rng.IntN(2) * rng.IntN(3000)), Items: []Item{
			{Alternatives: alternatives(), Milli: 1000 * int64(rng.IntN(4))},
		}}}))
		return r
	}
	task := func() *TaskRequest {
		j := id(40)
		r := resolved(w.ResolveTask(Task{ID: j + "-" + id(8), Job: j, Queue: queue(), Cards: []Item{{Alternatives: alternatives(), Milli: 1000 * int64(rng.IntN(3))}}}))
		return r
	}
	var a Answer
	for range n {
		switch rng.IntN(26) {
		case 0, 1, 2:
			_, _ = w.Reserve(job())
		case 3:
			_, _ = w.Resize(job())
		case 4:
			_, _ = w.ReserveMany([]*JobRequest{job(), job(), job()})
		case 5, 6, 7, 8:
			_, _ = w.Commit(task())
		case 9:
			_, _ = w.CommitOn(task(), "n")
		case 10, 11:
			_, _ = w.CommitAll([]*TaskRequest{task(), task(), task()})
		case 12:
			w.Rollback(task().id, task().id)
		case 13:
			w.Release(task().id)
		case 14:
			w.ReleaseJob(id(40))
		case 15:
			w.Enqueueable(&a, job())
			w.Expire(a.Seq / 2)
		case 16:
			w.replace(qs(w.m, h.trees[rng.IntN(len(h.trees))]...)...)
		case 17:
			testkit.Must(w.SetCatalog(h.catalogs[rng.IntN(len(h.catalogs))]))
			_, _ = w.Declare([]device.Card{{Name: "K", Resource: "r/k"}})
		case 18:
			h.reconcile(rng)
		case 19:
			text := w.Snapshot()
			if l, err := Restore(w.cfg, h.catalogs[0], text); err != nil {
				w.Error(err)
			} else if string(l.Snapshot()) != string(text) && !slices.Contains(w.Over(), Headroom{}) {
				h.differs(string(l.Snapshot()), string(text))
			}
		case 20:
			if v := w.Check(); v != nil {
				w.Errorf("%v", v)
			}
		case 21:
			_, _ = w.JobCopies(job())
			_, _ = w.TaskCopies(task())
		case 22:
			for s := range w.Samples() {
				w.Queue(s.Name)
			}
			w.CompareQueues(queue(), queue())
			w.Over()
		default:
			w.Enqueueable(nil, job())
			w.Allocatable(&a, task())
			w.AllocatableOn(nil, task(), "m")
			w.NodeScore(task(), "n")
		}
	}
}

// differs compares snapshots of which the second one knows fewer cards.
func (h *hostile) differs(restored, text string) {
	cut := func(s string) string {
		before, rest, _ := strings.Cut(s, `"known":`)
		_, after, _ := strings.Cut(rest, `"queues":`)
		return before + after
	}
	if cut(restored) != cut(text) {
		h.w.Errorf("restored otherwise:\n%s\n%s", restored, text)
	}
}

func (h *hostile) reconcile(rng *rand.Rand) {
	view := View{Partial: rng.IntN(2) == 0}
	for i := range 20 {
		id := fmt.Sprint(rng.IntN(2)*20 + i)
		job := Job{ID: id, Queue: []string{"q", "r"}[i%2], Phase: allPhases[rng.IntN(5)], MinMember: int32(rng.IntN(3)), MinUnknown: rng.IntN(2) == 0}
		for k := range rng.IntN(4) {
			job.Tasks = append(job.Tasks, Task{
				ID: fmt.Sprint(id, "-", k), Node: []string{"", "n", "m"}[rng.IntN(3)], Phase: allTaskPhases[rng.IntN(9)],
				Cards: []Item{{Alternatives: []string{"A", "B"}[:1+rng.IntN(2)], Milli: 1000 * int64(rng.IntN(3))}},
			})
		}
		if rng.IntN(2) == 0 {
			view.Jobs = append(view.Jobs, job)
		}
	}
	testkit.Must(h.w.Reconcile(view))
}

// TestQuestionsDoNotAllocate has all kinds of requests and answers.
func TestQuestionsDoNotAllocate(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("sync.Pool forgets at random then")
	}
	for _, cfg := range []Config{{}, anyMix} {
		w := newWorld(t, cfg, "org", "A:9 B:9", "q < org", "cpu:9 A:4 B:4", "r < org", "cpu:9 A:4 B:4")
		w.want(w.reserve("j", "q", "cpu:2 A:2 A|B:2"), "yes")
		w.want(w.commit("1", "j", "q", "cpu:1 A:1"), "A")
		for i, cards := range []string{"B|A", "A|B", "A|B|C", "A", "B|A"} {
			w.commit(fmt.Sprint("x", i), "x", "r", cards+":500m")
		}
		w.want(fmt.Sprint(w.jobs["x"].Tasks), "5")
		bound := w.task("4", "j", "q", "A|B:1")
		bound.bound = w.source.on("n").cards
		jobs := []*JobRequest{
			w.job("k", "q", "cpu:1 A:1 B:1 A|B:1"), w.job("l", "r", "A|B|C:9"), w.job("m", "r", "cpu:99"), w.job("n", "nope", "A:1"),
			w.job("j", "q", "cpu:2 A:2 A|B:2"),
			w.job("x", "r", "cpu:1 A:1"), w.job("x", "r", ""), // with charges that match none of the items
		}
		tasks := []*TaskRequest{
			w.task("2", "j", "q", "cpu:1 A:1 A|B:1"), w.task("3", "x", "r", "B|A|C:9"), w.task("5", "x", "nope", "A:1"), bound,
		}
		var a Answer
		var mask vector.Mask
		ask := func(dst *Answer) {
			for _, job := range jobs {
				w.Enqueueable(dst, job)
			}
			w.EnqueueableBatch(&mask, jobs)
			w.AllocatableBatch(&mask, tasks)
			for _, task := range tasks {
				w.Allocatable(dst, task)
				w.AllocatableOn(dst, task, "n")
				w.NodeScore(task, "n")
			}
		}
		for _, dst := range []*Answer{&a, nil} {
			ask(dst)
			if n := testing.AllocsPerRun(100, func() { ask(dst) }); n != 0 {
				t.Errorf("%v, %v: %v allocations", cfg.AnyMix, dst != nil, n)
			}
		}
	}
}

// Errors name the field that is wrong and its value, the same one whenever there are
// several.
func TestErrorsNameFieldAndValue(t *testing.T) {
	w := newWorld(t, Config{}, "q", "cpu:inf A:inf B:inf")
	const most = int64(1<<53 - 1)
	job := func(j Job) error { _, _, err := w.ResolveJob(j); return err }
	task := func(x Task) error { _, _, err := w.ResolveTask(x); return err }
	set := func(queues ...Queue) error { _, _, err := w.SetQueues(queues); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{job(Job{Queue: "q"}), `quota: name is empty or not UTF-8: id of job "" is ""`},
		{job(Job{ID: "j"}), `quota: name is empty or not UTF-8: queue of job "j" is ""`},
		{job(Job{ID: "j", Queue: "\xff"}), `quota: name is empty or not UTF-8: queue of job "j" is "\xff"`},
		{task(Task{Job: "j", Queue: "q"}), `quota: name is empty or not UTF-8: id of task "" is ""`},
		{task(Task{ID: "1", Queue: "q"}), `quota: name is empty or not UTF-8: job of task "1" is ""`},
		{task(Task{ID: "1", Job: "\xff"}), `quota: name is empty or not UTF-8: job of task "1" is "\xff"`},
		{task(Task{ID: "1", Job: "j"}), `quota: name is empty or not UTF-8: queue of task "1" is ""`},
		{job(Job{ID: "j", Queue: "q", Min: &Min{CPU: -1, Memory: -2}}), `quota: bad amount: job "j": min of cpu is -1: want 0 to less than 2^53 milli-cores`},
		{job(Job{ID: "j", Queue: "q", Min: &Min{Memory: 1 << 53}}), `quota: bad amount: job "j": min of memory is 9007199254740992: want 0 to less than 2^53 bytes`},
		{job(Job{ID: "j", Queue: "q", Min: &Min{Items: []Item{{[]string{"A"}, most, 1}, {[]string{"A"}, 7, 1}}}}),
			`quota: bad amount: sum too large: job "j": 0.007 cards of A: want sums below 2^53 milli-cards`},
		{set(Queue{Name: "a"}, Queue{}), "queues[1].name: Required value: a queue needs a name"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}
