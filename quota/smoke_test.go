package quota

import (
	"math"
	"testing"
)

var inf = math.Inf(1)

func TestSmoke(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:5")
	w.want(w.reserve("j", "q", "A:4"), "yes")
	w.want(w.state("q", "A"), "0/4000/0")
	for _, id := range []string{"1", "2", "3", "4"} {
		w.want(w.commit(id, "j", "q", "A:1"), "A")
	}
	w.want(w.state("q", "A"), "4000/0/0")
	w.want(w.reserve("k", "q", "A:2"), "Scalar 1000 of 5000 at q")
	w.want(w.commit("5", "x", "q", "A:1"), "A")
	w.want(w.commit("6", "x", "q", "A:1"), "Scalar 0 of 5000 at q")

	w = newWorld(t, Config{}, "q", "A:4 B:4")
	w.want(w.reserve("j", "q", "A|B:3"), "yes")
	w.want(w.may("1", "j", "q", "A|B:1"), "A B")
	w.want(w.commit("1", "j", "q", "A|B:1", "B"), "B")
	w.want(w.state("q", "B"), "1000/2000/0")
	w.want(w.state("q", "A"), "0/0/0")
	w.want(w.may("2", "j", "q", "A|B:1"), "B")
	w.Rollback("1")
	w.want(w.may("2", "j", "q", "A|B:1"), "A B")
	w.want(w.state("q", "B"), "0/3000/0")
	w.want(w.reserve("k", "q", "B:1"), "yes")
	w.want(w.may("2", "j", "q", "A|B:1"), "A B")

	w = newWorld(t, Config{Mix: AnyMix}, "q", "A:4 B:4")
	w.want(w.reserve("j", "q", "A|B:6"), "yes")
	w.want(w.probe("q", "A:2"), "Scalar 0 of 4000 at q")
	w.want(w.probe("q", "B:2"), "yes")
	w.want(w.reserve("k", "q", "B:1"), "yes")
	w.want(w.commit("1", "j", "q", "A|B:1"), "A")
	w.want(w.commit("2", "j", "q", "A|B:1", "B"), "B")
	w.want(w.commit("3", "j", "q", "A|B:1", "B"), "B")
	w.want(w.may("4", "j", "q", "A|B:1"), "A B")
	w.want(w.commit("4", "j", "q", "A|B:1", "B"), "B")
	w.want(w.state("q", "A"), "1000/2000/0")
	w.want(w.state("q", "B"), "3000/1000/0")
	w.want(w.may("5", "j", "q", "A|B:1"), "A")

	w = newWorld(t, Config{Mix: AnyMix}, "q", "A:3 B:5")
	w.want(w.reserve("j", "q", "A|B:8/2"), "Scalar 6000 of 8000 at q")
	w.want(w.reserve("j", "q", "A|B:6/2"), "yes")
	w.want(w.state("q", "A"), "0/2000/0")

	w = newWorld(t, Config{Mix: AnyMix}, "q", "A:1 B:1")
	gang := func(items ...string) string {
		var tasks []*TaskRequest
		for i, text := range items {
			tasks = append(tasks, w.task(string(rune('a'+i)), "j", "q", text))
		}
		a, err := w.CommitAll(tasks)
		if s := say(a, err); s != "yes" {
			return s
		}
		s := ""
		for _, c := range a.Charged {
			s += c
		}
		return s
	}
	w.want(gang("A|B:1", "A:1", "A:1"), "Scalar 0 of 1000 at q")
	w.want(w.state("q", "A"), "0/0/0")
	if len(w.jobs)+len(w.tasks) > 0 {
		t.Error("something left")
	}
	w.want(gang("A|B:1", "A:1"), "BA")

	w = newWorld(t, Config{}, "q", "A:2 B:4")
	w.want(gang("A|B:1", "A|B:1", "A|B:1"), "BBB")

	w = newWorld(t, Config{}, "q", "A:1 B:3")
	w.want(w.commit("1", "g", "q", "A|B:1"), "A")
	w.want(w.may("2", "g", "q", "A|B:1"), "Scalar 0 of 1000 at q")
	w.want(w.commit("2", "h", "q", "A|B:1"), "B")

	w = newWorld(t, Config{}, "org", "A:6", "x < org", "A:4", "y < org", "A:4")
	w.want(w.reserve("j", "x", "A:4"), "yes")
	w.want(w.reserve("k", "y", "A:3"), "Scalar 2000 of 6000 at org")
	w.want(w.reserve("k", "y", "A:2"), "yes")
	w.want(w.probe("org", "A:1"), "QueueNotLeaf")
}
