package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
)

// TestUpstreamDifferences has the smallest case of each difference from Volcano's
// capacity-card plugin (volcano-sh/volcano, pull request 4706): what the plugin says by its
// sources, and what the ledger says. Behind them are cases in which both say the same.
// Queue q is on nodes n1 with card A and n2 with card B.
//
// Steps are as [world.do] takes them, or as [world.upstream] does.
func TestUpstreamDifferences(t *testing.T) {
	flag := Config{UnlimitedCPUMemory: true}
	q := func(lists, quota string) []Queue {
		return []Queue{{Name: "q", Capability: list(lists), Annotations: quotaOf(quota)}}
	}
	qr := []Queue{{Name: "q", Priority: 1}, {Name: "r"}}
	for _, c := range []struct {
		plugin, says string // what the plugin does, and what it says
		cfg          Config
		queues       []Queue
		steps        string // the last one asks
		want         string
	}{
		{"panics on a negative result", "panic", Config{}, q("cpu=8", ""), "view a@q Running; a0 Running@n1 cpu:4\nrollback a0\njob b@q Pending cpu:1", "yes"},
		{"panics on a queue without jobs", "panic", Config{}, qr, "view a@q Pending\ncompare q r", "-1"},
		{"vanished cards are forgotten", "GetTask", Config{}, q("", `{"A":1}`), "view a@q Inqueue; a0 Pending A:1\nnodes n1=B:4 n2=B:4\ntask - a@q Inqueue; a0 Pending A:1", "yes"},
		{"only the first, untrimmed name of a multi is looked up", "GetTask", Config{}, q("", `{"A":1}`), "task n1 a@q Inqueue; a0 Pending Ghost|A:1", "yes"},
		{"one bad entry drops the whole annotation of a queue", "Scalar", Config{}, q("", `{"A":4,"B":2.5}`), "job a@q Pending A:1", "yes"},
		{"one bad entry drops the whole annotation of a job", "yes", Config{}, q("cpu=1", `{"A":4}`), "job a@q Pending cpu:1 A:1 B:2.5", "GetTask"},
		{"pods that name no card are free", "yes", Config{}, q("cpu=0", ""), "task n1 a@q Inqueue; a0 Pending :1", "Scalar"},
		{"unresolvable tasks are skipped", "yes", Config{}, q("", `{"A":1}`), "job a@q Pending; a0 Pending A:1; b Pending Ghost:1", "GetTask"},
		{"cards of gated tasks stay", "Scalar", Config{}, q("", `{"A":1}`), "job a@q Pending; a0 Pending A:1; gated Pending A:1", "yes"},
		{"the flag is read after the state is built", "CPU", flag, q("cpu=10", `{"A":4}`), "view a@q Running cpu:8; a0 Running@n1 cpu:8 A:1\njob b@q Pending cpu:4", "yes"},
		{"the flag drops all of the job's cpu and memory", "yes", flag, q("cpu=2", `{"A":4}`), "job a@q Pending cpu:4; a0 Pending A:1; b Pending cpu:4", "CPU"},
		{"an entry of 0 counts as a card", "yes", flag, q("cpu=2", `{"A":4}`), "job a@q Pending cpu:4 A:0", "CPU"},
		{"inqueue shrinks a cycle late", "Scalar", Config{}, q("", `{"A":4}`), "reserve a q A:2\ncommit a0 a q A:1\ncommit a1 a q A:1\njob b@q Pending A:2", "yes"},
		{"a finished pod is reserved again", "Scalar", Config{}, q("", `{"A":2}`), "view a@q Running; a0 Running@n1 A:1; a1 Succeeded@n1 A:1\njob b@q Pending A:1", "yes"},
		{"ended tasks count", "Scalar", Config{}, q("", `{"A":1}`), "job a@q Pending; a0 Pending A:1; b Failed A:1", "yes"},
		{"a multi's amounts sit under its literal key", "yes", Config{}, q("", `{"A":4}`), "view a@q Inqueue A|B:4\njob b@q Pending A:1", "Scalar"},
		{"a job check compares sums over all alternatives", "yes", Config{}, q("", `{"A":3,"B":3}`), "job a@q Pending A|B:4", "Scalar"},
		{"the annotation is trusted over the node", "yes", Config{}, q("", `{"A":1}`), "task n2 a@q Inqueue; a0 Pending A:1", "GetTask"},
		{"a task check looks at each alternative alone", "yes", Config{}, q("", `{"A":1}`), "task n2 a@q Inqueue; a0 Pending A|B:1", "Scalar"},
		{"no promise rule", "yes", Config{}, q("", `{"A":2}`), "view b@q Inqueue A:2\ntask n1 a@q Running/1; a0 Pending A:1", "Scalar"},
		{"EmptyQueueCapability is never raised", "CPU", Config{}, q("", ""), "job a@q Pending cpu:1", "Empty"},
		{"realCapability has no min", "0.1", Config{}, []Queue{{Name: "q", Capability: list("cpu=2"), Deserved: list("cpu=20")}}, "view a@q Running; a0 Running@n1 cpu:2\nshare q", "1"},
		{"node order by presence", "100", Config{}, q("", `{"B":2}`), "score n1 a@q Inqueue; a0 Pending A|B:1", "0"},
		{"share ties undecided", "0", Config{}, []Queue{{Name: "q"}, {Name: "r"}}, "view a@q Pending, b@r Pending\ncompare q r", "-1"},
		{"flat queues only", "yes", Config{}, []Queue{{Name: "org", Annotations: quotaOf(`{"A":1}`)}, {Name: "q", Parent: "org", Annotations: quotaOf(`{"A":4}`)}}, "job a@q Pending A:2", "Scalar"},

		{"a job with room", "", Config{}, q("cpu=4", `{"A":2}`), "job a@q Pending cpu:4 A:2", "yes"},
		{"a job without cpu", "", Config{}, q("cpu=4", `{"A":2}`), "view b@q Inqueue cpu:2\njob a@q Pending cpu:3 A:1", "CPU"},
		{"a job without cards", "", Config{}, q("cpu=4", `{"A":2}`), "view b@q Running/1; b0 Running@n1 A:1\njob a@q Pending A:2", "Scalar"},
		{"a closed queue", "", Config{}, []Queue{{Name: "q", State: StateClosed, Annotations: quotaOf(`{"A":2}`)}}, "job a@q Pending A:1", "QueueNotOpen"},
		{"a task with room", "", Config{}, q("", `{"A":2}`), "task n1 a@q Inqueue; a0 Pending A:1", "yes"},
		{"a task without cards", "", Config{}, q("", `{"A":1}`), "view b@q Running/1; b0 Running@n1 A:1\ntask n1 a@q Inqueue; a0 Pending A:1", "Scalar"},
		{"elastic amounts are free for jobs", "", Config{}, q("cpu=4", ""), "view b@q Running/1 cpu:1; b0 Running@n1 cpu:3\njob a@q Pending cpu:3", "yes"},
		{"a share", "", Config{}, []Queue{{Name: "q", Capability: list("cpu=8"), Deserved: list("cpu=4")}}, "view a@q Running/1; a0 Running@n1 cpu:2\nshare q", "0.5"},
	} {
		t.Run(c.plugin, func(t *testing.T) {
			nodes := device.Inventory{Nodes: []device.Node{
				{Name: "n1", CPUMilli: 16_000, Cards: []device.Card{{Name: "A", Resource: "nvidia.com/gpu", Count: 4}}},
				{Name: "n2", CPUMilli: 16_000, Cards: []device.Card{{Name: "B", Resource: "nvidia.com/gpu", Count: 4}}},
			}}
			w := worldFrom(t, c.cfg, nodes.Catalog(), c.queues...)
			got := ""
			for step := range strings.SplitSeq(c.steps, "\n") {
				got = w.upstream(step)
			}
			if got, _, _ = strings.Cut(got, " "); got != c.want || got == c.says {
				t.Errorf("the ledger says %s, want %s; the plugin says %s", got, c.want, c.says)
			}
		})
	}
}

// upstream carries out one step:
//
//	view LINE, LINE     reconciles with lines of viewOf
//	nodes n1=A:4        sets the catalog
//	job LINE            Enqueueable, of the job of a line
//	task NODE LINE      AllocatableOn, of its first task; Allocatable if the node is -
//	score NODE LINE     NodeScore, of its first task
//	share q, compare q r
//
// A task with the id gated is.
func (w *world) upstream(step string) string {
	w.Helper()
	op, rest, _ := strings.Cut(step, " ")
	task := func() (*TaskRequest, string) {
		node, line, _ := strings.Cut(rest, " ")
		job := viewOf(line).Jobs[0]
		job.Tasks[0].Job, job.Tasks[0].Queue = job.ID, job.Queue
		r, _, err := w.ResolveTask(job.Tasks[0])
		return testkit.Must(r, err), node
	}
	var a Answer
	switch op {
	case "view":
		testkit.Must(w.Reconcile(viewOf(strings.Split(rest, ", ")...)))
	case "nodes":
		nodes := map[string]string{}
		for _, field := range strings.Fields(rest) {
			name, cards, _ := strings.Cut(field, "=")
			nodes[name] = cards
		}
		testkit.Must(w.SetCatalog(cluster(nodes)))
	case "job":
		job := viewOf(rest).Jobs[0]
		for i := range job.Tasks {
			if job.Tasks[i].ID == "gated" {
				job.Tasks[i].Pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
			}
		}
		r, _, err := w.ResolveJob(job)
		w.Enqueueable(&a, testkit.Must(r, err))
		return say(a, nil)
	case "task":
		if r, node := task(); node == "-" {
			w.Allocatable(&a, r)
		} else {
			w.AllocatableOn(&a, r, node)
		}
		return say(a, nil)
	case "score":
		r, node := task()
		return fmt.Sprint(w.NodeScore(r, node))
	case "share":
		return fmt.Sprint(w.status(rest).Share)
	case "compare":
		a, b, _ := strings.Cut(rest, " ")
		return fmt.Sprint(w.CompareQueues(a, b))
	default:
		return w.do(step)
	}
	return ""
}
