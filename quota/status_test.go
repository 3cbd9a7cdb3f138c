package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/quota/internal/book"
)

// sampled writes the samples in short: a line per queue, amounts in milli-cards as
// capability, deserved, allocated, inqueue and request.
func (w *world) sampled() string {
	var lines []string
	for s := range w.Samples() {
		line := fmt.Sprintf("%q share %v reservations %d", s.Name, s.Share, s.Reservations)
		for _, c := range s.Cards {
			capability := fmt.Sprint(c.Capability)
			if c.Capability == Unlimited {
				capability = "inf"
			}
			line += fmt.Sprintf(", %s %s %d %d %d %d", c.Resource, capability, c.Deserved, c.Allocated, c.Inqueue, c.Request)
		}
		for _, reason := range slices.Sorted(maps.Keys(s.Rejections)) {
			line += fmt.Sprintf(", %s %d", reason, s.Rejections[reason])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSamples(t *testing.T) {
	w := newWorld(t, Config{}, "org", "", "x < org", "A:4 B:0", "y < org", "C:inf")
	w.reserve("j", "x", "A:3")
	w.reserve("k", "x", "A:1")
	w.commit("1", "j", "x", "A:1")
	w.commit("2", "z", "x", "A:1")
	w.commit("3", "z", "nope", "A:1")
	w.reserve("z", "x", "A:2")
	w.reserve("z", "x", "cpu:1")
	r := w.task("4", "y", "y", "H|K:2")
	w.waiting["4"] = &TaskRequest{id: "4", job: "y", queue: "y", use: book.Use{Items: r.use.Items}}
	w.want(w.sampled(), `"" share 0 reservations 0, UnknownQueue 1
"org" share 0 reservations 2, A inf 0 1000 3000 1000, H inf 0 0 0 2000
"x" share 0 reservations 2, A 4000 0 1000 3000 1000, B 0 0 0 0 0, InsufficientCPUQuota 1, InsufficientScalarQuota 2
"y" share 0 reservations 0, C inf 0 0 0 0, H 0 0 0 0 2000`)

	// What isn't 0 is a quota, and an orphan has none.
	w.replace(q(w.m, "x", "A:4"))
	w.waiting = nil
	w.ReleaseJob("k")
	w.want(w.sampled(), `"" share 0 reservations 0, UnknownQueue 1
"x" share 0 reservations 1, A 4000 0 1000 2000 1000, InsufficientCPUQuota 1, InsufficientScalarQuota 2`)
	w.replace(q(w.m, "y", ""))
	w.want(w.sampled(), `"" share 0 reservations 0, UnknownQueue 1
"x" share 0 reservations 1, A 0 0 1000 2000 1000, InsufficientCPUQuota 1, InsufficientScalarQuota 2
"y" share 0 reservations 0`)
}

// TestSamplesOneState changes the ledger during a walk: the walk shows what was
// there when it began, holds no lock, and may be left.
func TestSamplesOneState(t *testing.T) {
	w := newWorld(t, Config{}, "a", "A:4", "b", "A:4")
	walk := w.Samples()
	w.reserve("j", "b", "A:1")
	for s := range walk {
		w.reserve("k", "b", "A:1")
		if s.Name == "b" && s.Reservations != 1 {
			t.Errorf("%d reservations", s.Reservations)
		}
	}
	for s := range walk {
		if s.Name == "b" {
			t.Error("went on")
		}
		break
	}
	w.want(w.sampled(), "\"a\" share 0 reservations 0, A 4000 0 0 0 0\n\"b\" share 0 reservations 2, A 4000 0 0 2000 0")
}

// TestParent: a queue counts in the one above; an orphan in the nearest former one that is there.
func TestParent(t *testing.T) {
	w := newWorld(t, Config{}, "org", "A:5", "team < org", "A:5", "leaf < team", "A:5")
	w.want(w.reserve("j", "leaf", "A:1"), "yes")
	for _, queues := range [][]string{{"org", "A:5", "team < org", "A:5"}, {"org", "A:5"}, {"org", "A:5", "team", "A:5", "leaf < team", "A:5"}} {
		w.replace(qs(w.m, queues...)...)
		status, _ := w.Queue("leaf")
		if want := map[int]string{2: "org", 4: "team", 6: "team"}[len(queues)]; status.Parent != want {
			t.Errorf("below %q of %q, want %q", status.Parent, queues, want)
		}
	}
}
