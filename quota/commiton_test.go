package quota

import (
	"fmt"
	"testing"
)

// The card of a node is charged, even if another one comes first; on a node
// without cards nothing is.
func TestCommitOn(t *testing.T) {
	m, err := NewMap([]string{"A", "B"})
	if err != nil {
		t.Fatal(err)
	}
	nodes := cluster(map[string]string{"a": "A:4", "b": "B:4", "cpu": ""})
	l, err := New(Config{}, m, nodes, []Queue{q(m, "q", "cpu:1 A:2 B:1")})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, l}
	for _, c := range []struct{ task, items, node, want string }{
		{"1", "A|B:1", "b", "B"},
		{"1", "A|B:1", "b", "repeat"},
		{"1", "A|B:1", "a", `quota: id is in use with other content: task "1": it is charged on B, which is not among the cards of this commit`},
		{"2", "A|B:1", "b", "Scalar 0 of 1000 at q"},
		{"3", "A|B:1", "cpu", "GetTask"},
		{"4", "A|B:1", "nowhere", "GetTask"},
		{"5", "cpu:1", "cpu", "yes"},
		{"6", "A:1", "a", "A"},
	} {
		a, err := w.CommitOn(w.task(c.task, "j"+c.task, "q", c.items), c.node)
		got := say(a, err)
		if got == "yes" && len(a.Charged) > 0 {
			got = a.Charged[0]
		}
		if got != c.want {
			t.Errorf("task %s of %s on node %s: got %q, want %q", c.task, c.items, c.node, got, c.want)
		}
	}
	w.want(w.state("q", "B"), "1000/0/0")
}

// TestGangOfBoundTasks: tasks that are bound to nodes go on cards of their nodes, also
// where the gang would have chosen another card.
func TestGangOfBoundTasks(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:9 B:3")
	var gang []*TaskRequest
	for _, id := range []string{"1", "2"} {
		r, _, err := w.ResolveTask(Task{ID: id, Job: "j", Queue: "q", Node: "b", Cards: []Item{{Alternatives: []string{"A", "B"}, Milli: 1000}}})
		if err != nil || r.Invalid() != "" {
			t.Fatal(r.Invalid(), err)
		}
		gang = append(gang, r)
	}
	w.want(w.copies(gang[0]), "3, then Scalar 0 of 3000 at q")
	a, err := w.CommitAll(gang)
	w.want(fmt.Sprint(say(a, err), " ", a.Charged), "yes [B B]")
}
