package quota

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// viewOf makes a view. A line is a job and its tasks:
//
//	"j@q Inqueue/2 cpu:6 A|B:2; t1 Pending cpu:3 A:1; t2 Running@n A:1"
//
// A job's amounts are its min resources and its annotation; its number is the min
// member; "?" leaves its min unknown, and without a phase it isn't in the view
// itself. A line "deleted t1 t2" lists tasks, and a line "partial" says that there is
// more.
func viewOf(lines ...string) (v View) {
	for _, line := range lines {
		parts := strings.Split(line, "; ")
		words := strings.Fields(parts[0])
		switch words[0] {
		case "deleted":
			v.Deleted = words[1:]
			continue
		case "partial":
			v.Partial = true
			continue
		}
		j := Job{}
		j.ID, j.Queue, _ = strings.Cut(words[0], "@")
		var tasks []Task
		for _, text := range parts[1:] {
			tasks = append(tasks, viewTask(text))
		}
		if len(words) == 1 {
			for _, t := range tasks {
				t.Job, t.Queue = j.ID, j.Queue
				v.Tasks = append(v.Tasks, t)
			}
			continue
		}
		phase, members, _ := strings.Cut(words[1], "/")
		j.Phase = Phase(phase)
		if members != "" {
			n := testkit.Must(strconv.Atoi(members))
			j.MinMember = int32(n)
		}
		var plain, cards []string
		for _, word := range words[2:] {
			switch {
			case word == "?":
				j.MinUnknown = true
			case strings.HasPrefix(word, "cpu:") || strings.HasPrefix(word, "mem:"):
				plain = append(plain, word)
			default:
				name, count, _ := strings.Cut(word, ":")
				cards = append(cards, fmt.Sprintf("%q:%s", name, count))
			}
		}
		j.MinResources = resourceList(strings.Join(plain, " "))
		j.Annotations = map[string]string{RequestAnnotation: "{" + strings.Join(cards, ",") + "}"}
		j.Tasks = tasks
		v.Jobs = append(v.Jobs, j)
	}
	return v
}

// viewTask makes a task of "t1 Running@n cpu:3 A|B:1".
func viewTask(text string) Task {
	words := strings.Fields(text)
	status, node, _ := strings.Cut(words[1], "@")
	t := Task{ID: words[0], Node: node}
	t.Phase = TaskPhase(status)
	cards, limits := "", ""
	for _, word := range words[2:] {
		if !strings.HasPrefix(word, "cpu:") && !strings.HasPrefix(word, "mem:") {
			name, count, _ := strings.Cut(word, ":")
			cards, word = name, "gpu:"+count
		}
		limits += word + " "
	}
	t.Pod = podOf(cards, limits)
	return t
}

// reconcile reconciles and lists what was reported. The same view again must
// change nothing, whether or not the ledger was restored in between.
func (w *world) reconcile(lines ...string) string {
	w.Helper()
	rep, err := w.Reconcile(viewOf(lines...))
	if err != nil {
		return err.Error()
	}
	if rep.Seq != w.seq {
		w.Errorf("seq %d, ledger %d", rep.Seq, w.seq)
	}
	for _, l := range []*Ledger{w.again().Ledger, w.Ledger} {
		before := string(l.Snapshot())
		again := testkit.Must(l.Reconcile(viewOf(lines...)))
		if after := string(l.Snapshot()); after != before || again.Changed || again.Seq != rep.Seq {
			w.Errorf("the same view again: %+v\n%s\n%s", again, before, after)
		}
	}
	var parts []string
	for _, list := range []struct {
		name string
		refs []Ref
	}{
		{"imported", rep.Imported}, {"corrected", rep.Corrected}, {"rolled back", rep.RolledBack},
		{"released", rep.Released}, {"unseen", rep.Unseen},
	} {
		if len(list.refs) > 0 {
			var names []string
			for _, ref := range list.refs {
				names = append(names, strings.TrimSuffix(ref.Job+"/"+ref.Task, "/"))
			}
			parts = append(parts, list.name+" "+strings.Join(names, " "))
		}
	}
	for _, m := range rep.Mismatched {
		parts = append(parts, "mismatch "+m.Task+" "+m.Detail)
	}
	for _, f := range rep.Failed {
		parts = append(parts, fmt.Sprintf("failed %s/%s %v", f.Job, f.Task, f.Reason))
	}
	for _, o := range w.Over() {
		parts = append(parts, fmt.Sprintf("over %s %s %d", o.Level, o.Resource, -o.Room))
	}
	if !rep.Changed {
		parts = append(parts, "no change")
	}
	return strings.Join(parts, ", ")
}

// gpus is a ledger over nodes a, b, ab and k that have cards of these names.
func gpus(t *testing.T, cfg Config, pairs ...string) *world {
	return worldOf(t, cfg, map[string]string{"a": "A:8", "b": "B:8", "ab": "A:4 B:4", "k": "K:8"}, pairs...)
}

// TestReconcileQueue is the table of a queue's amounts after a first view.
func TestReconcileQueue(t *testing.T) {
	w := worldOf(t, Config{}, map[string]string{"n": "H200:8"}, "q", "cpu:40 mem:80 H200:8")
	w.want(w.reconcile(
		"job1@q Running/2 cpu:4 mem:8Gi H200:4; 1a Running@n cpu:3 mem:6Gi H200:1; 1b Running@n cpu:3 mem:6Gi H200:1; 1c Running@n cpu:3 mem:6Gi H200:1",
		"job2@q Inqueue/2 cpu:6 mem:12Gi; 2a Pending cpu:3 mem:6Gi H200:1; 2b Pending cpu:3 mem:6Gi H200:1",
	), "imported job1 job1/1a job1/1b job1/1c job2")
	s, _ := w.Queue("q")
	for _, c := range []struct {
		name string
		v    []float64
		want string
	}{
		{"allocated", w.amounts(s, "Allocated"), "cpu:9 mem:18 H200:3"},
		{"request", w.amounts(s, "Request"), "cpu:15 mem:30 H200:5"},
		{"elastic", w.amounts(s, "Elastic"), "cpu:5 mem:10"},
		{"inqueue", w.amounts(s, "Inqueue"), "cpu:6 mem:12 H200:2"},
	} {
		if want, _ := vectorOf(w.m, c.want); !slices.Equal(c.v, want) {
			t.Errorf("%s: %v, want %v", c.name, c.v, want)
		}
	}
}

// TestReconcileTasks is the table of what a task's status does to a charge that is
// there, and that the view has or hasn't confirmed.
func TestReconcileTasks(t *testing.T) {
	for _, c := range []struct {
		status               string
		none, committed, was string // without a charge, with a new one, with a confirmed one
	}{
		{"Running@a", "imported j/t 1000/0 1000", "1000/1000 1000", "no change 1000/1000 1000"},
		{"Binding@a", "imported j/t 1000/0 1000", "1000/1000 1000", "no change 1000/1000 1000"},
		{"Pending", "0/0 1000", "unseen j/t, no change 1000/1000 1000", "rolled back j/t 0/2000 1000"},
		{"Pipelined", "no change 0/0 0", "unseen j/t, no change 1000/1000 1000", "rolled back j/t 0/2000 0"},
		{"Releasing@a", "no change 0/0 0", "released j/t 0/1000 0", "released j/t 0/1000 0"},
		{"Succeeded", "no change 0/0 0", "released j/t 0/1000 0", "released j/t 0/1000 0"},
		{"Failed", "no change 0/0 0", "released j/t 0/1000 0", "released j/t 0/1000 0"},
		{"", "no change 0/0 0", "unseen j/t, no change 1000/1000 1000", "released j/t 0/1000 0"},
		{"deleted", "no change 0/0 0", "released j/t 0/1000 0", "released j/t 0/1000 0"},
	} {
		var view []string
		switch c.status {
		case "":
		case "deleted":
			view = []string{"deleted t", "j@q; t Running@a A:1"}
		default:
			view = []string{"j@q; t " + c.status + " A:1"}
		}
		for i, want := range []string{c.none, c.committed, c.was} {
			w := gpus(t, Config{}, "q", "A:4")
			if i > 0 {
				w.reserve("j", "q", "A:2")
				w.commit("t", "j", "q", "A:1")
			}
			if i > 1 {
				w.reconcile("j@q; t Running@a A:1")
			}
			got := strings.Replace(w.reconcile(view...), "unseen j, ", "", 1)
			got = strings.Replace(strings.TrimSuffix(got, ", unseen j"), "unseen j j/t", "unseen j/t", 1)
			if got == "unseen j" {
				got = ""
			}
			s, _ := w.Queue("q")
			got = strings.TrimSpace(fmt.Sprintf("%s %s %v", got, strings.TrimSuffix(w.state("q", "A"), "/0"), s.Usage("A").Request))
			if got != want {
				t.Errorf("%q, %d: %s, want %s", c.status, i, got, want)
			}
		}
	}
	w := gpus(t, Config{CountReleasing: true}, "q", "A:4")
	w.want(w.reconcile("j@q; 1 Releasing@a A:1; 2 Pipelined@a A:1; 3 Failed@a A:1"), "imported j/1 j/2")
}

// TestReconcileCards is the table of the cards that running tasks are charged on.
func TestReconcileCards(t *testing.T) {
	for _, c := range []struct {
		name, before, view, report, a, b string
	}{
		{"node of the first", "", "j@q; t Running@ab A|B:1", "imported j/t", "1000/0/0", "0/0/0"},
		{"node of the second", "", "j@q; t Running@b A|B:1", "imported j/t", "0/0/0", "1000/0/0"},
		{"the node counts", "", "j@q; t Running@b A:1", "imported j/t, mismatch t B", "0/0/0", "1000/0/0"},
		{"unknown node", "", "j@q; t Running@gone B|A:1", "imported j/t", "0/0/0", "1000/0/0"},
		{"a charge stays on a node that has it", "B", "j@q; t Running@ab A|B:1", "unseen j", "0/0/0", "1000/1000/0"},
		{"a charge stays on an unknown node", "B", "j@q; t Running@gone A|B:1", "unseen j", "0/0/0", "1000/1000/0"},
		{"a charge goes with its hold", "B", "j@q; t Running@a A|B:1", "corrected j/t, unseen j", "1000/1000/0", "0/0/0"},
		{"another amount", "B", "j@q; t Running@b A|B:3", "corrected j/t, unseen j", "0/0/0", "3000/0/1000"},
		{"off the firm card", "A", "j@q; t Running@a A|B:1; u Running@b A|B:1", "imported j/u, unseen j", "1000/1000/0", "1000/0/1000"},
		{"off the firm card, corrected", "A", "j@q; t Running@a A|B:1; u Running@b A|B:1; v Running@a A|B:1",
			"imported j/u j/v, unseen j", "2000/0/0", "1000/0/1000"},
		{"card that nobody knows", "", "j@q; t Running@b Ghost:2", "imported j/t, mismatch t B", "0/0/0", "2000/0/0"},
	} {
		w := gpus(t, Config{}, "q", "A:4 B:4")
		if c.before != "" {
			w.reserve("j", "q", "A|B:2")
			w.commit("t", "j", "q", "A|B:1", c.before)
		}
		got := fmt.Sprint(w.reconcile(c.view), "; ", w.state("q", "A"), " ", w.state("q", "B"))
		if want := fmt.Sprint(c.report, "; ", c.a, " ", c.b); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// A task keeps its card when the view lists the item at another place.
func TestReconcileCardOrder(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:4 B:4")
	ab := Item{Alternatives: []string{"A", "B"}, Milli: 1000}
	task := Task{ID: "t", Job: "j", Queue: "q", Request: corev1.ResourceList{}, Cards: []Item{ab}, Phase: TaskAllocated}
	req := resolved(w.ResolveTask(task))
	if a, err := w.Commit(req, "B"); say(a, err) != "yes" {
		t.Fatal(say(a, err))
	}
	task.Node, task.Cards = "gone", []Item{{Alternatives: []string{"K"}, Milli: 2000}, ab}
	for range 2 {
		testkit.Must(w.Reconcile(View{Tasks: []Task{task}}))
		if a, b := w.state("q", "A"), w.state("q", "B"); a != "0/0/0" || b != "1000/0/0" {
			t.Errorf("A %s, B %s", a, b)
		}
	}
}

// Tasks of a job that are all on another card than they were charged on, because their
// node has another now, take the hold along; one that is there alone doesn't.
func TestReconcileMoved(t *testing.T) {
	for _, c := range []struct{ name, view, report, a, b string }{
		{"all", "j@q; t Running@b A|B:1; u Running@b A|B:1", "corrected j/t j/u, unseen j", "0/0/0", "2000/1000/0"},
		{"the first", "j@q; t Running@b A|B:1; u Running@a A|B:1", "corrected j/t, unseen j", "1000/2000/0", "1000/0/1000"},
		{"the second", "j@q; t Running@a A|B:1; u Running@b A|B:1", "corrected j/u, unseen j", "1000/2000/0", "1000/0/1000"},
		{"and one that is new", "j@q; s Running@b A|B:1; t Running@b A|B:1; u Running@b A|B:1", "imported j/s, corrected j/t j/u, unseen j", "0/0/0", "3000/0/0"},
	} {
		w := gpus(t, Config{}, "q", "A:4 B:4")
		w.want(w.reserve("j", "q", "A|B:3"), "yes")
		w.commit("t", "j", "q", "A|B:1", "A")
		w.commit("u", "j", "q", "A|B:1", "A")
		got := fmt.Sprint(w.reconcile(c.view), "; ", w.state("q", "A"), " ", w.state("q", "B"))
		if want := fmt.Sprint(c.report, "; ", c.a, " ", c.b); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// TestReconcileJobs is the table of what a job's phase does to its reservation.
func TestReconcileJobs(t *testing.T) {
	const reserved, charged = "reserved", "charged" // A:3 reserved and seen; one task of it charged and confirmed
	for _, c := range []struct{ name, before, view, report, state string }{
		{"admitted", "", "j@q Inqueue A:3", "imported j", "0/3000/0"},
		{"admitted above the quota", "", "j@q Inqueue A:5", "imported j, over q A 1000", "0/5000/0"},
		{"admitted, of no queue", "", "j@x Inqueue A:3", "failed j/ UnknownQueue, no change", "0/0/0"},
		{"not to be told", "", "j@q Inqueue Ghost:1", "failed j/ GetTaskRequestResourceFailed, no change", "0/0/0"},
		{"not admitted", "", "j@q Pending A:3", "no change", "0/0/0"},
		{"admitted as reserved", reserved, "j@q Inqueue A:3", "no change", "0/3000/0"},
		{"another min", reserved, "j@q Inqueue A:2", "corrected j", "0/2000/0"},
		{"min unknown", reserved, "j@q Inqueue ?", "no change", "0/3000/0"},
		{"waits again", reserved, "j@q Pending A:3", "released j", "0/0/0"},
		{"gone", reserved, "k@q Pending", "released j", "0/0/0"},
		{"completed", reserved, "j@q Completed A:3", "released j", "0/0/0"},
		{"runs without tasks", reserved, "j@q Running/1 A:3", "released j", "0/0/0"},
		{"runs", charged, "j@q Running/1 A:3; t Running@a A:1; u Pending A:2", "no change", "1000/2000/0"},
		{"runs with too few", charged, "j@q Running/2 A:3; t Running@a A:1; u Pending A:2", "corrected j", "1000/0/0"},
		{"runs with too few, min unknown", charged, "j@q Running/2 ?; t Running@a A:1; u Pending A:2", "corrected j", "1000/0/0"},
		{"unknown", charged, "j@q Unknown/1 A:3; t Running@a A:1; u Pending A:2", "corrected j", "1000/0/0"},
		{"runs, one more pod", charged, "j@q Running/1 A:3; t Running@a A:1; u Running@a A:2; v Running@a A:1", "imported j/u j/v, corrected j", "4000/0/0"},
		{"waits again, charged", charged, "j@q Pending A:3; t Running@a A:1", "released j", "1000/0/0"},
		{"gone, charged", charged, "j@q; t Running@a A:1", "released j", "1000/0/0"},
		{"moved", charged, "j@r Running/1 A:3; t Running@a A:1; u Pending A:2", "corrected j", "0/0/0"},
		{"moved, another min", charged, "j@r Running/1 A:2; t Running@a A:1; u Pending A:2", "corrected j", "0/0/0"},
		{"to no queue", charged, "j@x Running/1 A:3; t Running@a A:1", "failed j/ UnknownQueue", "1000/2000/0"},
	} {
		w := gpus(t, Config{}, "q", "A:4 cpu:4", "r", "A:9")
		switch c.before {
		case reserved:
			w.reserve("j", "q", "A:3")
			w.reconcile("j@q Inqueue A:3")
		case charged:
			w.reserve("j", "q", "A:3")
			w.commit("t", "j", "q", "A:1")
			w.reconcile("j@q Inqueue A:3; t Running@a A:1; u Pending A:2")
		}
		if got := w.reconcile(c.view) + "; " + w.state("q", "A"); got != c.report+"; "+c.state {
			t.Errorf("%s: %s, want %s; %s", c.name, got, c.report, c.state)
		}
	}
}

// TestReconcileMins is the table of mins that come with a view: of a running job
// what its charges don't cover is held, what has ended isn't held again.
func TestReconcileMins(t *testing.T) {
	for _, c := range []struct {
		name, view, cpu string
	}{
		{"outstanding", "j@q Running/1 cpu:4; 1 Running@a cpu:1; 2 Pending cpu:3", "1000/3000/0"},
		{"elastic", "j@q Running/1 cpu:1; 1 Running@a cpu:1; 2 Running@a cpu:3", "4000/0/3000"},
		{"too few, still elastic", "j@q Running/3 cpu:1; 1 Running@a cpu:1; 2 Running@a cpu:3", "4000/0/3000"},
		{"ended", "j@q Running/1 cpu:4; 1 Running@a cpu:1; 2 Succeeded cpu:3", "1000/0/0"},
		{"ended, another to come", "j@q Running/1 cpu:4; 1 Running@a cpu:1; 2 Succeeded cpu:2; 3 Pending cpu:1", "1000/1000/0"},
	} {
		w := gpus(t, Config{}, "q", "cpu:9")
		w.reconcile(c.view)
		s := w.queues["q"].Cells[dimCPU]
		if got := fmt.Sprintf("%d/%d/%d", s.Allocated, s.Held, s.Elastic); got != c.cpu {
			t.Errorf("%s: %s, want %s", c.name, got, c.cpu)
		}
	}

	w := gpus(t, Config{}, "q", "A:2 B:1")
	w.want(w.reconcile("j@q Inqueue A|B:3", "k@q Inqueue A|B:1"), "imported j k, over q A 1000")
	w.want(w.state("q", "A")+" "+w.state("q", "B"), "0/3000/0 0/1000/0")
	w = gpus(t, Config{AnyMix: true}, "q", "A:2 B:1")
	w.want(w.reconcile("j@q Inqueue A|B:5"), "imported j, over q A 2000")
	w.want(w.state("q", "A")+" "+w.state("q", "B"), "0/4000/0 0/1000/0")

	w = gpus(t, Config{UnlimitedCPUMemory: true}, "q", "cpu:10 A:4")
	w.reconcile("j@q Running/1 cpu:8; 1 Running@a cpu:8 A:1")
	w.want(w.reserve("k", "q", "cpu:4"), "yes")
	w.want(fmt.Sprint(w.queues["q"].Cells[dimCPU].Allocated), "0")
}

// TestReconcilePartial: what a partial view doesn't have stays as it is.
func TestReconcilePartial(t *testing.T) {
	w := gpus(t, Config{}, "q", "A:4 B:2", "r", "A:4")
	w.reconcile("j@q Inqueue A:2; 1 Running@a A:1; 2 Pending A:1", "k@r; 3 Running@a A:1; 4 Pending A:1")
	w.want(w.reserve("l", "r", "A:1"), "yes")
	w.want(w.commit("5", "l", "r", "A:1", "A"), "A")
	w.want(w.reconcile("partial"), "no change")

	// Single tasks, of jobs that the ledger has, and of one that it doesn't.
	w.want(w.reconcile("partial", "m@q; 6 Bound@a A:3"), "imported m/6, over q A 1000")
	w.want(w.reconcile("partial", "m@q; 6 Bound@b A|B:1"), "corrected m/6")
	w.want(w.reconcile("partial", "l@r; 5 Bound@a A:1", "k@r; 4 Bound@a A:1"), "imported k/4")
	w.want(w.reconcile("partial", "j@q; 1 Succeeded"), "released j/1")
	w.want(w.reconcile("partial", "deleted 2 3 6"), "released k/3 m/6")
	w.want(w.reconcile("partial", "k@r; 4 Pending A:1"), "rolled back k/4")
	w.want(w.reconcile("partial", "k@r; 7 Pending A:1"), "")
	w.want(w.state("q", "A")+" "+w.state("r", "A"), "0/1000/0 1000/0/0")
	w.want(fmt.Sprint(sorted(w.waiting)), "[4 7]")

	// A job that is listed comes with all of its tasks.
	w.want(w.reconcile("partial", "k@r Pending; 7 Pending A:1"), "")
	w.want(fmt.Sprint(sorted(w.waiting)), "[7]")
	w.want(w.reconcile("partial", "l@r Running/1 A:1"), "released l l/5")
	w.want(w.reconcile("partial", "j@q Pending"), "released j")

	// A job is in one queue: where an allocated task of it is, but not where it is said
	// that one has ended or waits.
	w.reconcile("partial", "p@q; 11 Running@a A:1; 12 Running@a A:1; 13 Pending A:1")
	w.want(w.reconcile("partial", "p@r; 14 Succeeded"), "no change")
	w.want(w.reconcile("partial", "p@r; 15 Pending A:1"), "")
	w.want(queueName(w.jobs["p"].Queue)+w.waiting["13"].queue+w.waiting["15"].queue, "qqr")
	w.want(w.reconcile("partial", "p@r; 11 Running@a A:1"), "corrected p")
	w.want(queueName(w.jobs["p"].Queue)+w.waiting["13"].queue, "rr")
	w.want(w.state("q", "A")+" "+w.state("r", "A"), "0/0/0 2000/0/0")
	w.want(w.reconcile("partial", "p@r Pending", "deleted 11 12"), "released p/11 p/12")
	w.want(fmt.Sprint(sorted(w.waiting)), "[7]")

	// What moves to another job leaves the one that it was of.
	w.reconcile("partial", "n@q; 8 Running@a A:1; 9 Running@a A:1")
	w.want(w.reconcile("partial", "o@q; 8 Running@a A:1"), "corrected o/8")
	w.want(fmt.Sprint(sorted(w.jobs)), "[n o]")
	w.want(w.reconcile("k@r; 7 Pending A:1"), "released n/9 o/8")
}

// TestReconcilePartialLarge: what runs is charged, also on top of more than a sum should come to.
func TestReconcilePartialLarge(t *testing.T) {
	w := gpus(t, Config{}, "org", "cpu:4", "q < org", "cpu:4", "r < org", "cpu:4")
	w.reconcile("j@q; 1 Running@a cpu:5000000000000")
	w.want(w.reconcile("partial", "k@r; 2 Running@a cpu:5000000000000"),
		"imported k/2, over org cpu 9999999999996000, over q cpu 4999999999996000, over r cpu 4999999999996000")
	w.want(w.reconcile("partial", "deleted 2"), "released k/2, over org cpu 4999999999996000, over q cpu 4999999999996000")
	w.want(w.reconcile("partial", "j@q; 1 Running@a cpu:6000000000000"), "corrected j/1, over org cpu 5999999999996000, over q cpu 5999999999996000")
	w.want(w.reconcile("partial", "k@r; 1 Running@a cpu:7000000000000"), "corrected k/1, over org cpu 6999999999996000, over r cpu 6999999999996000")
}

// TestReconcileRefused is the table of views that can't be.
func TestReconcileRefused(t *testing.T) {
	for _, c := range []struct{ view, want string }{
		{"j@q Inqueue A:1 && j@q Inqueue A:1", `id is in use with other content: job "j": it is in the view twice`},
		{"j@q; 1 Running@a A:1; 1 Running@a A:1", `id is in use with other content: task "1": it is in the view twice`},
		{"j@q; 1 Running@a A:1 && k@q; 1 Running@a A:1", `id is in use with other content: task "1": it is in the view twice`},
		{"j@q Inqueue && j@r; 1 Running@a A:1", `id is in use with other content: task "1": it is in queue "r", its job in "q"`},
		{"@q Inqueue A:1", `name is empty or not UTF-8: id of job "" is ""`},
	} {
		w := gpus(t, Config{}, "q", "cpu:4 A:4")
		before := string(w.Snapshot())
		if _, err := w.Reconcile(viewOf(strings.Split(c.view, " && ")...)); err == nil || err.Error() != "quota: "+c.want {
			t.Errorf("%s: %v, want %s", c.view, err, c.want)
		}
		w.want(string(w.Snapshot()), before)
	}
	one := Job{ID: "j", Queue: "q", Phase: PhaseInqueue}
	other, unnamed := one, one
	other.Tasks = []Task{{ID: "1", Job: "k"}}
	unnamed.Tasks = []Task{{}}
	for _, c := range []struct {
		view View
		want error
	}{
		{View{Jobs: []Job{other}}, ErrConflict},
		{View{Jobs: []Job{unnamed}}, ErrBadName},
		{View{Tasks: []Task{{ID: "1"}}}, ErrBadName},
	} {
		w := gpus(t, Config{}, "q", "cpu:4 A:4")
		if _, err := w.Reconcile(c.view); !errors.Is(err, c.want) || w.seq != 0 {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// TestReconcileEvents: one event per job or task that changed, and one for the
// view.
func TestReconcileEvents(t *testing.T) {
	var events []string
	cfg := Config{OnEvent: func(e Event) {
		events = append(events, strings.TrimSpace(fmt.Sprintf("%d %v %s/%s %v", e.Seq, e.Kind, e.Job, e.Task, e.Cards)))
	}}
	w := gpus(t, cfg, "q", "A:9")
	for _, c := range []struct{ view, want string }{
		{"j@q Inqueue A:2; 1 Running@a A:1; 2 Running@a A:1; 3 Pending A:1",
			"[1 Reconciled j/1 map[A:1000] 1 Reconciled j/2 map[A:1000] 1 Reconciled j/ map[A:1000] 1 Reconciled / map[]]"},
		{"j@q Inqueue A:2; 1 Running@a A:1; 2 Running@a A:1; 3 Pending A:1", "[]"},
		{"j@q Inqueue ?; 1 Pending A:1; 2 Succeeded A:1; 3 Pending A:1",
			"[2 Released j/2 map[A:1000] 2 RolledBack j/1 map[A:1000] 2 Reconciled / map[]]"},
		{"k@q; 4 Pending A:1", "[3 Released j/ map[A:2000] 3 Reconciled / map[]]"},
	} {
		events = nil
		testkit.Must(w.Reconcile(viewOf(c.view)))
		w.want(fmt.Sprint(events), c.want)
	}
}

// Without a status a task is where its pod is.
func TestTaskStatusOfPod(t *testing.T) {
	deleted := &metav1.Time{}
	for _, c := range []struct {
		node    string
		phase   corev1.PodPhase
		deleted *metav1.Time
		want    TaskPhase
	}{
		{"", "", nil, TaskPending},
		{"", corev1.PodPending, nil, TaskPending},
		{"n", "", nil, TaskAllocated},
		{"n", corev1.PodPending, nil, TaskAllocated},
		{"n", corev1.PodUnknown, nil, TaskAllocated},
		{"n", corev1.PodRunning, nil, TaskAllocated},
		{"n", corev1.PodRunning, deleted, TaskReleasing},
		{"", "", deleted, TaskReleasing},
		{"n", corev1.PodSucceeded, deleted, TaskSucceeded},
		{"n", corev1.PodFailed, nil, TaskFailed},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node}, Status: corev1.PodStatus{Phase: c.phase}}
		pod.DeletionTimestamp = c.deleted
		if got := (&Task{Pod: pod}).phase(); got != c.want {
			t.Errorf("node %q, %q, deleted %v: %v, want %v", c.node, c.phase, c.deleted != nil, got, c.want)
		}
		if got := (&Task{Pod: pod, Phase: TaskPipelined}).phase(); got != TaskPipelined {
			t.Errorf("a status that is set: %v", got)
		}
	}
	if got := (&Task{Node: "n"}).phase(); got != TaskPending {
		t.Errorf("without a pod: %v", got)
	}
}
