package quota

import "testing"

// score is the score of a node for a pod.
func (w *world) score(cards, limits, node string) float64 {
	w.Helper()
	r := resolved(w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: podOf(cards, limits)}))
	return w.NodeScore(r, node)
}

func TestNodeScore(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:2 H100:1 M:4", "closed", "")
	for _, c := range []struct {
		cards, limits, node string
		want                float64
	}{
		{"", "cpu:1", "a", 0},
		{"A100", "gpu:1", "a", 0},
		{"A100|H100", "gpu:1", "a", 100},
		{"A100|H100", "gpu:1", "h", 50},
		{"A100|H100", "gpu:1", "both", 100},
		{"A100|H100", "gpu:1", "gone", 0},
		{"H100|A100", "gpu:1", "a", 50},
		{"A100|A100|H100", "gpu:1", "h", 50}, // the cleaned list counts
		{"|A100|H100", "gpu:1", "h", 50},

		// Only cards with room.
		{"A100|H100", "gpu:2", "a", 100},
		{"A100|H100", "gpu:2", "h", 0},
		{"H100|A100", "gpu:2", "both", 50},
		{"A100|H100", "gpu:3", "both", 0},

		// Cards that nobody knows, or that the pod can't have, keep their place.
		{"Ghost|A100", "gpu:1", "a", 50},
		{"A100|Ghost", "gpu:1", "a", 100},
		{"Ghost|Spook|A100|H100", "gpu:1", "h", 12.5},
		{"M|H100", "gpu:1", "h", 50},
		{"Ghost|Spook", "gpu:1", "a", 0},

		// As if all cards were written; items with one card are no preference.
		{"", "gpu:1", "h", 50},
		{"A100|H100", "gpu:1 mig-1g.5gb:4", "a", 100},
	} {
		if got := w.score(c.cards, c.limits, c.node); got != c.want {
			t.Errorf("%s, %s on %s: %v, want %v", c.cards, c.limits, c.node, got, c.want)
		}
	}

	w = fleet(t, Config{}, "q", "H100:4")
	if got := w.score("A100|H100", "gpu:1", "a"); got != 0 {
		t.Errorf("A100 only, room only on H100: %v", got)
	}
	w = worldOf(t, Config{}, map[string]string{"a": "A:1", "b": "B:1", "c": "C:1", "two": "B:1 D@nvidia.com/other:1 E@nvidia.com/other:1"}, "q", "A:9 B:9 C:9 D:9 E:9")
	for node, want := range map[string]float64{"a": 100, "b": 50, "c": 25} {
		if got := w.score("A|B|C", "gpu:1", node); got != want {
			t.Errorf("%s: %v, want %v", node, got, want)
		}
	}
	if got := w.score("A|B|C", "gpu:1 other:1", "two"); got != 75 { // 50 and, of D|E, 100
		t.Errorf("two items: %v", got)
	}

	// What the job has counts: its holds, and the card that its tasks are on.
	w = fleet(t, Config{}, "q", "A100:2 H100:2")
	w.want(w.commit("1", "j", "q", "A100|H100:1", "H100"), "H100")
	if got := w.score("A100|H100", "gpu:1", "both"); got != 50 {
		t.Errorf("firm on H100: %v", got)
	}
	w = fleet(t, Config{}, "q", "A100:2 H100:2")
	w.want(w.reserve("j", "q", "A100:2"), "yes")
	if a, h := w.score("A100|H100", "gpu:1", "a"), w.score("A100|H100", "gpu:1", "both"); a != 0 || h != 50 {
		t.Errorf("A100 is promised to another item: %v %v", a, h)
	}

	// A queue that admits nothing, or isn't there.
	w = fleet(t, Config{}, "p", "A100:2", "q < p", "A100:2 H100:2", "r < q", "A100:1")
	if got := w.score("A100|H100", "gpu:1", "a"); got != 0 {
		t.Errorf("no leaf: %v", got)
	}
	w = fleet(t, Config{})
	if got := w.score("A100|H100", "gpu:1", "a"); got != 0 {
		t.Errorf("no queue: %v", got)
	}
}

func TestNodeScoreBound(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:2 H100:2")
	pod := podOf("H100|A100", "gpu:1")
	pod.Spec.NodeName = "a"
	r, _, _ := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
	if a, both := w.NodeScore(r, "a"), w.NodeScore(r, "both"); a != 50 || both != 50 {
		t.Errorf("%v %v, want only A100 to count", a, both)
	}
}
