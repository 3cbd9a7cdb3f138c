package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// demandIn returns what the queue of a text needs.
func demandIn(t *testing.T, text string) *demand {
	t.Helper()
	c := mustAsk(both + text)
	c.findGangs(nil)
	o := testkit.Must(c.simulate(nil, vector.TieLowest()))
	return testkit.Must(c.demandOf(o))
}

// packed is need.packed, -1 where no number was found.
func packed(n *need) int {
	count, found := n.packed()
	if !found {
		return -1
	}
	return count
}

// gangOf returns pods of a gang.
func gangOf(n int, gang, requests string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(podYAML(fmt.Sprintf("%s-%d-%d", gang, i, len(requests)), requests, "schedulingGroup: {podGroupName: "+gang+"}"))
	}
	return b.String()
}

func repeat(n int, name, requests string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(podYAML(fmt.Sprintf("%s-%d", name, i), requests, ""))
	}
	return b.String()
}

func TestDemand(t *testing.T) {
	small := nodeYAML("s", "small", "cpu: 4, memory: 8Gi, pods: 3", "unschedulable: true")
	large := nodeYAML("l", "large", "cpu: 16, memory: 32Gi, pods: 100", "unschedulable: true")
	gpu := nodeYAML("g", "gpu", "cpu: 8, memory: 32Gi, pods: 100, nvidia.com/gpu: 2", "unschedulable: true")
	for _, c := range []struct {
		name, text string
		never      int
		alone      []answer // by shape
		mix        string   // nodes by shape, cost and its bound
	}{
		{"all fit", nodeYAML("full", "", "cpu: 4, pods: 9", "") + repeat(2, "p", "cpu: 1"), 0, nil, ""},
		{"by cpu", small + repeat(5, "p", "cpu: 2"), 0, []answer{{5, 3, 3, 3}}, "[3] 3 3"},
		{"by the number of pods", small + repeat(7, "p", "cpu: 1m"), 0, []answer{{7, 3, 3, 3}}, "[3] 3 3"},
		{"one each", large + repeat(3, "p", "cpu: 9"), 0, []answer{{3, 3, 3, 3}}, "[3] 3 3"},
		{"a shape that is too small", small + large + repeat(2, "p", "cpu: 8"), 0, []answer{{}, {2, 1, 1, 1}}, "[0 1] 1 1"},
		{"some fit on none", small + repeat(2, "p", "cpu: 4") + repeat(1, "q", "cpu: 5"), 1, []answer{{2, 2, 2, 2}}, "[2] 2 2"},
		{"all fit on none", small + repeat(2, "p", "cpu: 5"), 2, []answer{{}}, ""},
		{"two kinds of device", small + gpu + repeat(3, "g", "nvidia.com/gpu: 1") + repeat(4, "p", "cpu: 4"), 0,
			[]answer{{4, 4, 4, 4}, {7, 2, 2, 2}}, "[0 2] 2 2"},
		// The scores spread the small ones over all nodes, and then no node is whole.
		{"scores that spread", large + repeat(4, "p", "cpu: 4") + repeat(2, "q", "cpu: 16"), 0, []answer{{6, 3, 3, 6}}, "[3] 3 3"},
		{"what is there is full", nodeYAML("full", "", "cpu: 4, pods: 9", "") + repeat(1, "a", "cpu: 3") + repeat(1, "b", "cpu: 3"), 0, []answer{{1, 1, 1, 1}}, "[1] 1 1"},
		{"a gang of which a part has room", nodeYAML("g", "", "x/gpu: 8, pods: 9", "") + gangOf(3, "g", "x/gpu: 4"), 0, []answer{{3, 1, 1, 1}}, "[1] 1 1"},
		{"two gangs that share what is free", nodeYAML("g", "", "x/gpu: 8, pods: 9", "") + gangOf(3, "g", "x/gpu: 4") + gangOf(3, "h", "x/gpu: 4"), 0, []answer{{6, 2, 2, 2}}, "[2] 2 2"},
		{"a gang with a pod that has room on an old node alone", nodeYAML("old", "", "cpu: 2, pods: 9, x/key: 1", "") + large + podYAML("a", "x/key: 1", "schedulingGroup: {podGroupName: g}, "+attached("old")) + gangOf(1, "g", "cpu: 9"), 0,
			[]answer{{}, {1, 1, 1, 1}}, "[0 1] 1 1"},
		// With a new node the small pod goes there, and the old one has room for the large one.
		{"room that a placed pod leaves", nodeYAML("old", "", "cpu: 8, pods: 9", "") + nodeYAML("s", "s", "cpu: 4, pods: 9", "unschedulable: true") +
			podYAML("a", "cpu: 1", "") + podYAML("b", "cpu: 8", "") + podYAML("c", "cpu: 4", ""), 0, []answer{{1, 1, 1, 1}, {0, 0, 0, 0}}, "[1 0] 1 1"},
		{"a pod on a full node that its DaemonSet waits for", nodeYAML("n1", "t", "cpu: 4, pods: 9", "") + podYAML("r", "cpu: 4", "nodeName: n1") + daemonYAML("d", "d", "cpu: 1", attached("n1")), 0, []answer{{}}, ""},
		{"a DaemonSet that waits", nodeYAML("n1", "t", "cpu: 4, pods: 9", "") + podYAML("r", "cpu: 4", "nodeName: n1") + daemonYAML("d", "d", "cpu: 1", attached("n1")) + repeat(3, "p", "cpu: 2"), 0,
			[]answer{{3, 3, 3, 3}}, "[3] 3 3"},
		{"two pods of one DaemonSet", nodeYAML("n1", "t", "cpu: 4, pods: 9", "") + podYAML("r", "cpu: 1", "nodeName: n1") +
			daemonYAML("d1", "d", "cpu: 1", "nodeName: n1") + daemonYAML("d2", "d", "cpu: 1500m", "nodeName: n1") + podYAML("p", "cpu: 2500m", ""), 0, []answer{{1, 1, 1, 1}}, "[1] 1 1"},
		{"two static pods", nodeYAML("n1", "t", "cpu: 4, pods: 9", "") + daemonYAML("d1", "", "cpu: 1", "nodeName: n1") + daemonYAML("d2", "", "cpu: 1500m", "nodeName: n1") + podYAML("p", "cpu: 2500m", ""), 1, []answer{{}}, ""},
	} {
		d := demandIn(t, c.text)
		if len(d.never) != c.never {
			t.Errorf("%s: %d pods fit on none, want %d", c.name, len(d.never), c.never)
		}
		checkDemand(t, c.name, d, c.alone, c.mix)
	}
}

// answer is what a shape alone takes.
type answer struct{ pods, packed, proved, scheduled int }

// checkDemand compares what each shape alone takes, and the mix, "" where no pod needs a node.
func checkDemand(t *testing.T, name string, d *demand, alone []answer, mix string) {
	t.Helper()
	for i, want := range alone {
		n := testkit.Must(d.alone(&d.shapes[i], vector.TieLowest()))
		if got := (answer{len(n.pods), packed(&n), n.proved(), n.scheduled}); got != want {
			t.Errorf("%s: %s: got %+v, want %+v", name, n.shape.name, got, want)
		}
	}
	if mix == "" {
		if len(d.pods) > 0 {
			t.Errorf("%s: %d pods need nodes", name, len(d.pods))
		}
		return
	}
	x := testkit.Must(d.mix())
	if got := fmt.Sprint(x.Counts, x.Cost, x.AtLeast); got != mix || !x.found {
		t.Errorf("%s: mix %s %v, want %s", name, got, x.found, mix)
	}
}

// Pods need new nodes of shapes that they may go to: a new node has the taints and labels
// of those that are there, but none that says how a node is at present.
func TestRestrictedDemand(t *testing.T) {
	labeled := func(name, pool, spec string) string {
		return fmt.Sprintf("- {apiVersion: v1, kind: Node, metadata: {name: %s, labels: {node.kubernetes.io/instance-type: m, pool: %s}}, spec: {unschedulable: true, %s}, status: {allocatable: {cpu: 4, pods: 9}}}\n", name, pool, spec)
	}
	d := demandIn(t, labeled("a1", "a", "")+labeled("a2", "a", "")+labeled("b1", "b", "")+labeled("c1", "c", "taints: [{key: team, effect: NoSchedule}]")+
		podYAML("any-1", "cpu: 1", "")+podYAML("any-2", "cpu: 1", "")+
		podYAML("a-1", "cpu: 3", "nodeSelector: {pool: a}")+podYAML("a-2", "cpu: 3", "nodeSelector: {pool: a}")+
		podYAML("c-1", "cpu: 3", "tolerations: [{key: team}], nodeSelector: {pool: c}")+
		podYAML("never", "cpu: 1", "nodeSelector: {pool: c}"))
	var got []string
	for i := range d.shapes {
		n := testkit.Must(d.alone(&d.shapes[i], vector.TieLowest()))
		got = append(got, fmt.Sprintf("%s: %d on %d", n.shape.name, len(n.pods), packed(&n)))
	}
	if got, want := strings.Join(got, ", "), "m as a1: 4 on 2, m as b1: 2 on 1, m as c1: 1 on 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	x, err := d.mix()
	if err != nil || fmt.Sprint(x.Counts, x.Cost, x.AtLeast) != "[2 0 1] 3 3" || len(d.never) != 1 {
		t.Errorf("got %+v, %v; %d pods fit on none", x, err, len(d.never))
	}
}
