package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/quota/internal/book"
)

// TestCheckFinds: what the book finds comes with its names, and what the book doesn't
// know is found as well.
func TestCheckFinds(t *testing.T) {
	type faulty struct {
		*world
		j, k *job
		t1   *task
		q    *queue
	}
	names := map[book.Rule]string{
		book.SumsAgree: "SumsAgree", book.InRange: "InRange",
		book.MinIsHeld: "MinIsHeld", book.OneCard: "OneCard", book.Belongs: "Belongs",
	}
	for _, c := range []struct {
		name  string
		fault func(w faulty)
		rules string
	}{
		{"nothing", func(faulty) {}, ""},
		{"held of a parent", func(w faulty) { w.queues["org"].Cells[dimCPU].Held-- }, "SumsAgree org cpu"},
		{"covered", func(w faulty) { w.t1.Charges[0].Covered += 1 }, "InRange t1 B, MinIsHeld j A|B"},
		{"a hold", func(w faulty) { w.j.Held[dimCPU]++ }, "MinIsHeld j cpu, SumsAgree q cpu"},
		{"a card", func(w faulty) { w.j.Items[len(w.j.Items)-1].At = 0 }, "OneCard t1 B"},
		{"a task", func(w faulty) { delete(w.tasks, "t1") }, "Belongs t1, Belongs "},
		{"another task", func(w faulty) { w.tasks["t9"] = w.t1 }, "Belongs "},
		{"a job", func(w faulty) { delete(w.jobs, "k") }, "Belongs q, Belongs "},
		{"a list", func(w faulty) { w.k.First.Next = w.k.First }, "Belongs k"},
		{"a waiting task", func(w faulty) { w.waiting["t1"] = &TaskRequest{id: "t1"} }, "Belongs t1"},
	} {
		w := gpus(t, Config{}, "org", "A:9 cpu:inf", "q < org", "A:4 B:9 cpu:8")
		w.reserve("j", "q", "cpu:2 A|B:3 A:1")
		w.commit("t1", "j", "q", "cpu:1 A|B:1", "B")
		w.commit("t2", "k", "q", "A:1")
		w.want(fmt.Sprint(w.Check()), "<nil>")
		c.fault(faulty{w, w.jobs["j"], w.jobs["k"], w.tasks["t1"], w.queues["q"]})
		found := ""
		for _, v := range w.check() {
			id := v.queue
			if v.task != "" {
				id = v.task
			} else if v.job != "" {
				id = v.job
			}
			found += fmt.Sprintf("%s %s %s;", names[v.rule], id, v.resource)
			if err := w.Check(); err == nil || !strings.Contains(err.Error(), v.String()) {
				t.Errorf("%v: not in %v", v, err)
			}
		}
		for rule := range strings.SplitSeq(c.rules, ", ") {
			if !strings.Contains(found, rule) {
				t.Errorf("%s: %s, want %s", c.name, found, rule)
			}
		}
		if (found == "") != (c.rules == "") {
			t.Errorf("%s: %s", c.name, found)
		}
	}
}

// TestCheckOfLargeSums: a parent may count 2^53 and more, since each of its queues may come to
// 2^52. What the check says of a larger sum is what it looks at.
func TestCheckOfLargeSums(t *testing.T) {
	queues := []Queue{{Name: "org"}}
	for i := range 4 {
		queues = append(queues, Queue{Name: fmt.Sprint(i), Parent: "org"})
	}
	w := worldFrom(t, Config{MissingUnlimited: true}, nil, queues...)
	for _, q := range queues[1:] {
		a, err := w.Reserve(resolved(w.ResolveJob(Job{ID: q.Name, Queue: q.Name, Min: &Min{CPU: 1<<52 - 1}})))
		w.want(say(a, err), "yes")
	}
	org := w.queues["org"]
	w.want(fmt.Sprint(org.Cells[dimCPU].Full() >= 1<<53, w.Check()), "true <nil>")
	w.again()
	org.Cells[dimCPU].Held = book.MostSum + 1
	if err := w.Check(); err == nil || !strings.Contains(err.Error(), `queue "org", resource "cpu", 4611686018427387904 instead of 4611686018427387903: no amount is below 0, `) ||
		!strings.Contains(err.Error(), "use and holds of a queue are together below 2^62") {
		t.Error(err)
	}
}

func TestOrphan(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:4", "r", "A:1")
	w.reserve("j", "q", "A:2")
	w.commit("1", "j", "q", "A:1")
	orphans, _, err := w.setBuilt([]builtQueue{q(w.m, "r", "A:5")}, nil)
	w.want(fmt.Sprint(orphans, err, w.Over()), "[q] <nil> [{0 A OverCapacity -2000 q 0}]")
	for range 2 {
		w.want(w.commit("2", "j", "q", "A:1"), "QueueNotOpen")
		w.want(w.reserve("k", "q", "A:1"), "QueueNotOpen")
		w.want(w.probe("r", "A:5"), "yes")
		w = w.again()
	}
	w.want(w.reconcile("j@q Inqueue A:2; 1 Running@b A|B:1"), "corrected j j/1, over q B 1000")
	w.ReleaseJob("j")
	w.want(w.probe("q", "A:1"), "UnknownQueue")
	w.want(w.commit("2", "j", "q", "A:1"), "UnknownQueue")
	w.again()
}

// TestOrphansOneByOne: whichever of them have gone, what is left stays in order, and so a
// restored ledger has it. Their places in the order don't pile up.
func TestOrphansOneByOne(t *testing.T) {
	const n = 40
	w := gpus(t, Config{}, "q", "A:4")
	queues := []builtQueue{q(w.m, "q", "A:4")}
	for i := range n {
		queues = append(queues, q(w.m, fmt.Sprintf("o%02d < q", i), "A:1"))
	}
	w.replace(queues...)
	for i := range n {
		id := fmt.Sprintf("o%02d", i)
		w.want(w.reserve(id, id, "cpu:0"), "yes")
	}
	w.replace(queues[:1]...)
	left := map[string]bool{"q": true}
	for _, q := range queues {
		left[q.Name] = true
	}
	for i := range n {
		id := fmt.Sprintf("o%02d", i*7%n)
		w.ReleaseJob(id)
		delete(left, id)
		var names []string
		for s := range w.Samples() {
			names = append(names, s.Name)
		}
		w.want(fmt.Sprint(names), fmt.Sprint(sorted(left)))
		w.again()
		if err := w.Check(); err != nil || len(w.ordered) > 2*len(left) {
			t.Errorf("%d places for %d queues; %v", len(w.ordered), len(left), err)
		}
	}
}
