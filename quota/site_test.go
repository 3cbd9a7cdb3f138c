package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
)

// sites is a world of nodes with A, whose queue q may use 32 and is guaranteed 8.
func sites(t *testing.T, nodes map[string]string) *world {
	t.Helper()
	m := testkit.Must(testMap([]string{"A", "B"}))
	queue := q(m, "q", "A:32 B:32")
	queue.Guarantee, _ = vectorOf(m, "A:8")
	l := testkit.Must(newBuilt(Config{EnforceGuarantee: true}, m, cluster(nodes), []builtQueue{queue, q(m, "other", "A:32")}))
	return &world{t, l}
}

// fill commits tasks of one card on a node, or says that they run there.
func (w *world) fill(node string, n int, runs bool) {
	w.Helper()
	var tasks []Task
	for i := range n {
		id := fmt.Sprintf("%s-%d", node, i)
		if runs {
			tasks = append(tasks, Task{ID: id, Job: "j", Queue: "q", Node: node, Phase: TaskAllocated, Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}})
			continue
		}
		if a, err := w.CommitOn(w.task(id, "j", "q", "A:1"), node); err != nil || !a.OK {
			w.Fatalf("%s: %s, %v", id, a.Refusal.Message(), err)
		}
	}
	if runs {
		testkit.Must(w.Reconcile(View{Partial: true, Tasks: tasks}))
	}
}

func (w *world) catalog(nodes map[string]string) {
	w.Helper()
	testkit.Must(w.SetCatalog(cluster(nodes)))
}

// limit is the limit of q in A.
func (w *world) limit() int64 { return w.queues["q"].Cells[w.dims["A"]].Limit }

// TestDeadDevice: a device that dies under a pod takes nothing from others.
func TestDeadDevice(t *testing.T) {
	healthy := map[string]string{"a": "A:8", "b": "A:8", "c": "A:8", "d": "A:8"}
	one := map[string]string{"a": "A:7", "b": "A:8", "c": "A:8", "d": "A:8"}
	for _, runs := range []bool{false, true} {
		w := sites(t, healthy)
		w.fill("a", 8, runs)
		w.fill("b", 8, runs)
		w.catalog(one)
		w.want(w.probe("q", "A:16"), "yes")
		w.want(w.probe("q", "A:17"), "Scalar 16000 of 32000 at q")
		w.want(w.probe("other", "A:25"), "Scalar 24000 of 24000 at other") // of 32, less the guarantee
		restored := testkit.Must(Restore(w.cfg, cluster(one), w.Snapshot()))
		(&world{t, restored}).want((&world{t, restored}).probe("q", "A:16"), "yes")

		// The pod ends, and with it the device.
		w.Release("a-3")
		w.want(w.probe("q", "A:17"), "Scalar 16000 of 31000 at q")
		testkit.Check(w.Check())
		// A node that goes does so with its pods.
		w.catalog(map[string]string{"b": "A:8", "c": "A:8", "d": "A:8"})
		w.want(w.probe("q", "A:17"), "Scalar 16000 of 31000 at q")
		w.ReleaseJob("j")
		w.want(w.probe("q", "A:25"), "Scalar 24000 of 24000 at q")
		w.catalog(healthy)
		w.want(w.probe("q", "A:32"), "yes")
	}
}

// TestSiteOfTask: by which calls a ledger learns of the node.
func TestSiteOfTask(t *testing.T) {
	healthy := map[string]string{"a": "A:10 B:10", "b": "A:10 B:10"}
	dead := map[string]string{"b": "A:10 B:10"}
	card := []Item{{Alternatives: []string{"A"}, Milli: 10000}}
	bound := func(w *world) *TaskRequest {
		return resolved(w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Node: "a", Cards: card}))
	}
	for _, c := range []struct {
		what  string
		do    func(w *world)
		limit int64
	}{
		{"Commit without a node", func(w *world) { w.commit("t", "j", "q", "A:10") }, 10000},
		{"Commit of a bound task", func(w *world) { _, _ = w.Commit(bound(w)) }, 20000},
		{"CommitAll of a bound task", func(w *world) { _, _ = w.CommitAll([]*TaskRequest{bound(w)}) }, 20000},
		{"a gang that fails", func(w *world) { _, _ = w.CommitAll([]*TaskRequest{bound(w), w.task("u", "j", "q", "A:40")}) }, 10000},
		{"CommitOn", func(w *world) { _, _ = w.CommitOn(w.task("t", "j", "q", "A:10"), "a") }, 20000},
		{"a view of what was committed without a node", func(w *world) {
			w.commit("t", "j", "q", "A:10")
			view := View{Tasks: []Task{{ID: "t", Job: "j", Queue: "q", Node: "a", Phase: TaskAllocated, Cards: card}}}
			for i := range 2 {
				if rep, err := w.Reconcile(view); err != nil || rep.Changed != (i == 0) {
					w.Errorf("%+v, %v", rep, err)
				}
			}
		}, 20000},
		{"Rollback", func(w *world) { _, _ = w.CommitOn(w.task("t", "j", "q", "A:10"), "a"); w.Rollback("t") }, 10000},
		{"another card", func(w *world) { _, _ = w.CommitOn(w.task("t", "j", "q", "B:10"), "a") }, 10000},
	} {
		w := sites(t, healthy)
		c.do(w)
		w.catalog(dead)
		if w.limit() != c.limit {
			t.Errorf("%s: a limit of %d, want %d", c.what, w.limit(), c.limit)
		}
		if err := w.Check(); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if restored, err := Restore(w.cfg, cluster(dead), w.Snapshot()); err != nil || restored.queues["q"].Cells[restored.dims["A"]].Limit != c.limit {
			t.Errorf("%s: restored: %v", c.what, err)
		}
		if _, err := w.Declare([]device.Card{{Name: "B"}}); err != nil || w.limit() != c.limit {
			t.Errorf("%s: declared: %d, %v", c.what, w.limit(), err)
		}
	}
}

// TestTotalInRefusal: a limit that nobody wrote says where it comes from, also below a parent.
func TestTotalInRefusal(t *testing.T) {
	m := testkit.Must(testMap([]string{"A", "B"}))
	org, y := q(m, "org", "A:10 B:10"), q(m, "y < org", "A:10")
	y.Guarantee, _ = vectorOf(m, "A:4")
	queues := []builtQueue{org, q(m, "x < org", "A:10 B:10"), y}
	for _, c := range []struct {
		nodes   string
		job     string
		anyMix  bool
		message string
	}{
		{"A:20 B:20", "A:7", false, `room for 6 cards of 6 cards, the total would be 7 cards; the limit is what guarantees leave of the 10 cards that queue "org" may use`},
		{"A:8 B:20", "A:7", false, `room for 4 cards of 4 cards, the total would be 7 cards; the limit is what guarantees leave of the 8 cards that the cluster has`},
		{"A:8 B:9", "B:10", false, `room for 9 cards of 9 cards, the total would be 10 cards; the limit is what the cluster has, 9 cards`},
		{"A:8 B:10", "B:11", false, `room for 10 cards of 10 cards, the total would be 11 cards`},
		{"A:8 B:10", "A|B:20", true, `room for 14 cards of 14 cards, the total would be 20 cards; of some of them the limit is what guarantees leave of the cluster's`},
	} {
		l := testkit.Must(newBuilt(Config{EnforceGuarantee: true, AnyMix: c.anyMix}, m, cluster(map[string]string{"n": c.nodes}), queues))
		var a Answer
		w := &world{t, l}
		l.Enqueueable(&a, w.job("j", "x", c.job))
		if got := a.Refusal.Message(); !strings.HasSuffix(got, c.message) {
			t.Errorf("%s on %s: %s", c.job, c.nodes, got)
		}
	}
}
