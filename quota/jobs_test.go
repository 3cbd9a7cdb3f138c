package quota

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/quota/internal/book"
)

func TestJobs(t *testing.T) {
	w := newWorld(t, Config{}, "org", "", "x < org", "cpu:8 A:4 B:4", "y < org", "A:4")
	w.reserve("b", "x", "cpu:2 A|B:2")
	for i := range 3 {
		w.want(w.commit(fmt.Sprint("t", i), "b", "x", "cpu:1 A|B:1"), "A")
	}
	w.reserve("a", "x", "B:2")
	w.commit("n", "none", "y", "A:1")
	text := func(s JobStatus) string {
		text := fmt.Sprint(s.ID, " in ", s.Queue, " ", s.Reserved, " min ", s.Min, " held ", s.Held, " charged ", s.Charged, " elastic ", s.Elastic, " ", s.Tasks)
		return strings.ReplaceAll(text, " map[]", "") // no cards, no outputs
	}
	const (
		a    = "a in x true min {0 0 [{[B] 2000 1000}]} held {0 0 map[B:2000]} charged {0 0} elastic {0 0} []"
		b    = "b in x true min {2000 0 [{[A B] 2000 1000}]} held {0 0} charged {3000 0 map[A:3000]} elastic {1000 0 map[A:1000]} [t0 t1 t2]"
		none = "none in y false min {0 0 []} held {0 0} charged {0 0 map[A:1000]} elastic {0 0} [n]"
	)
	for queue, want := range map[string][]string{"org": {a, b, none}, "x": {a, b}, "y": {none}, "nope": nil} {
		var got []string
		for s := range w.Jobs(queue) {
			got = append(got, text(s))
			one, ok := w.Job(s.ID)
			if !ok || text(one) != text(s) {
				t.Errorf("job %s: %v", s.ID, one)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", queue, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for range w.Jobs("org") {
		break
	}
	if _, ok := w.Job("nope"); ok {
		t.Error("a job that isn't there")
	}
}

// set is a set of one card.
func (w *world) set(card string) *book.Set {
	s := new(book.Set)
	s.Add(w.dims[card])
	return s
}

// TestRefusalOfOneCard: a card that the job can't use any more explains a refusal only where
// there is no other. What is held may be for another item of the job. What the rest of a gang excludes has the numbers from before the gang.
func TestRefusalOfOneCard(t *testing.T) {
	for _, c := range []struct {
		what string
		do   func(w *world) Answer
		want string
	}{
		{"the job's card is full", func(w *world) (a Answer) {
			w.reserve("j", "q", "A|B:2")
			w.want(w.commit("t1", "j", "q", "A|B:2", "B"), "B")
			w.Allocatable(&a, w.task("t2", "j", "q", "A|B:1"))
			return a
		}, `queue "q": insufficient quota of card A|B: requested 1 card, room on B for 0 cards of 2 cards, the total would be 3 cards`},
		{"the node has not the job's card", func(w *world) (a Answer) {
			w.reserve("j", "q", "A|B:2")
			w.want(w.commit("t1", "j", "q", "A|B:1", "B"), "B")
			t2 := w.task("t2", "j", "q", "A|B:1")
			t2.bound = w.set("A")
			w.Allocatable(&a, t2)
			return a
		}, `queue "q": insufficient quota of card A|B: requested 1 card, the job's other tasks are on another card than A`},
		{"all is held for another item of the job", func(w *world) (a Answer) {
			w.want(w.reserve("j", "q", "A:2 A|B:2"), "yes")
			w.Allocatable(&a, w.task("t", "j", "q", "A:3"))
			return a
		}, `queue "q": insufficient quota of card A: requested 3 cards, room for 2 cards of 4 cards, the total would be 5 cards; part of the limit is held for other jobs, or for other items of this one`},
		{"a gang, one of which is on a node without its card", func(w *world) Answer {
			t1, t2 := w.task("t1", "j", "q", "A|B:2"), w.task("t2", "j", "q", "A|B:2")
			t2.bound = w.set("B") // the gang is on A, where B has room for t1 alone as well
			a, err := w.CommitAll([]*TaskRequest{t1, t2})
			if err != nil || len(a.Options) != 2 || a.Options[1].Room != a.Refusal.Room || a.Options[1].Limit != a.Refusal.Limit {
				w.Errorf("%+v, %v", a, err)
			}
			return a
		}, `queue "q": the tasks of the gang must be on one card: insufficient quota of card A|B: requested 2 cards, room on B for 2 cards of 2 cards; that is before the gang`},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t, Config{}, "q", "A:4 B:2")
			w.want(c.do(w).Refusal.Message(), c.want)
		})
	}
}

// Of alternatives a refusal names the one that its numbers are of, and of a queue
// that was removed just that.
func TestRefusalDetails(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:1 B:3")
	var a Answer
	w.Allocatable(&a, w.task("t", "j", "q", "A|B:4"))
	if a.Refusal.Best != "B" || a.Refusal.Room != 3000 {
		t.Errorf("%+v", a.Refusal)
	}
	w.reserve("j", "q", "A:1")
	w.replace()
	w.Allocatable(&a, w.task("t", "j", "q", "A:1"))
	if a.Refusal.Reason != ReasonQueueNotOpen || a.Refusal.Detail != queueRemoved {
		t.Errorf("%+v", a.Refusal)
	}
}
