package resvecfit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// succeeds panics with a status that is no success.
func succeeds(status *fwk.Status) {
	if !status.IsSuccess() {
		panic(status)
	}
}

// success returns a value with a status, which succeeds.
func success[T any](v T, status *fwk.Status) T {
	succeeds(status)
	return v
}

// scoresOf runs a cycle and returns the scores by node of the nodes that can hold
// the pod.
func scoresOf(t *testing.T, p *Plugin, pod *corev1.Pod) map[string]int64 {
	t.Helper()
	ctx, cycle := context.Background(), newCycle()
	nodes := p.handle.(*fakeHandle).nodes
	success(p.PreFilter(ctx, cycle, pod, nodes))
	var feasible []fwk.NodeInfo
	for _, node := range nodes {
		if p.Filter(ctx, cycle, pod, node).IsSuccess() {
			feasible = append(feasible, node)
		}
	}
	succeeds(p.PreScore(ctx, cycle, pod, feasible))
	scores := map[string]int64{}
	for _, node := range feasible {
		scores[node.Node().Name] = success(p.Score(ctx, cycle, pod, node))
	}
	return scores
}

// TestScoring: the terms, their scale, and their sum.
func TestScoring(t *testing.T) {
	nodes := []fwk.NodeInfo{
		newNode("idle", amounts("cpu", "10", "memory", "10Gi"), nil),
		newNode("busy", amounts("cpu", "10", "memory", "10Gi"), amounts("cpu", "6", "memory", "2Gi")),
		newNode("gpu", amounts("cpu", "10", "memory", "10Gi", "nvidia.com/gpu", "4"), amounts("cpu", "2", "memory", "2Gi")),
		newNode("full", amounts("cpu", "10", "memory", "10Gi"), amounts("cpu", "10")),
	}
	pod := newPod("pod", amounts("cpu", "2", "memory", "2Gi"))
	for _, c := range []struct {
		terms string
		want  map[string]int64
	}{
		{`[{"kube":{"type":"LeastAllocated","resources":[{"name":"cpu"}]}}]`, map[string]int64{"idle": 80, "busy": 20, "gpu": 60}},
		{`[{"kube":{"type":"MostAllocated","resources":[{"name":"cpu"}]}}]`, map[string]int64{"idle": 20, "busy": 80, "gpu": 40}},
		// Volcano's score is 10 times the percentage; the greatest one becomes 100.
		{`[{"strategy":{"resources":{"cpu":{"type":"MostAllocated","weight":1}}}}]`, map[string]int64{"idle": 25, "busy": 100, "gpu": 50}},
		{`[{"strategy":{"resources":{"cpu":{"type":"MostAllocated","weight":1}}},"normalize":"MinMax"}]`, map[string]int64{"idle": 0, "busy": 100, "gpu": 33}},
		// The node with the scarce resource comes last.
		{`[{"strategy":{"resourceStrategyFitWeight":0,"sra":{"enable":true,"weight":10,"resources":"nvidia.com/gpu"}}}]`, map[string]int64{"idle": 100, "busy": 100, "gpu": 0}},
		{`[{"load":{"metric":"DominantResource","direction":"Pack"}}]`, map[string]int64{"idle": 20, "busy": 80, "gpu": 40}},
		// (80·3 + 20·1) / 4, and so on.
		{`[{"weight":3,"kube":{"type":"LeastAllocated","resources":[{"name":"cpu"}]}},{"load":{"metric":"DominantResource","direction":"Pack"}}]`,
			map[string]int64{"idle": 65, "busy": 35, "gpu": 55}},
	} {
		if got := scoresOf(t, newPlugin(t, `{"scoring":`+c.terms+`}`, nodes...), pod); !maps.Equal(got, c.want) {
			t.Errorf("%s\n%v, want %v", c.terms, got, c.want)
		}
	}
}

// TestAddToFit: the scores of both plugins are given as one plugin's scores, less the least
// sum, where no two sums differ by more than 100.
func TestAddToFit(t *testing.T) {
	has := amounts("cpu", "10", "memory", "10Gi")
	nodes := []*fakeNode{ // which the pod balances by 60, 90 and 60
		newNode("idle", has, nil),
		newNode("memory", has, amounts("memory", "6Gi")),
		newNode("cpu", has, amounts("cpu", "4")),
	}
	ratio := func(at60, at100 string) string {
		return `{"kube":{"type":"RequestedToCapacityRatio","resources":[{"name":"cpu"}],"requestedToCapacityRatio":{"shape":[` +
			`{"utilization":60,"score":` + at60 + `},{"utilization":100,"score":` + at100 + `}]}}}`
	}
	for _, c := range []struct {
		scoring string
		scores  [3]int64
		added   bool
	}{
		{`{"kube":{"type":"LeastAllocated","resources":[{"name":"cpu"}]}}`, [3]int64{40, 70, 0}, true}, // 40+60, 40+90, 0+60
		{ratio("0", "10"), [3]int64{0, 30, 100}, true},
		{ratio("10", "0"), [3]int64{100, 100, 0}, false}, // 160, 190, 60
		{`{"load":{"weights":{"cpu":1}}}`, [3]int64{40, 40, 0}, false},
	} {
		ctx, cycle, pod := context.Background(), newCycle(), newPod("pod", amounts("cpu", "6"))
		all := []fwk.NodeInfo{nodes[0], nodes[1], nodes[2]}
		p := newPlugin(t, `{"scoring":[`+c.scoring+`]}`, all...)
		balanced := testkit.Must(NewBalanced(ctx, &runtime.Unknown{Raw: []byte(`{"addToFit":true}`)}, p.handle))
		success(p.PreFilter(ctx, cycle, pod, all))
		succeeds(p.PreScore(ctx, cycle, pod, all))
		if status := balanced.(*Balanced).PreScore(ctx, cycle, pod, all); status.IsSkip() != c.added {
			t.Errorf("%s: %v", c.scoring, status)
		}
		for i, node := range nodes {
			clone := *node
			asked := []fwk.NodeInfo{node, &clone}
			if !c.added {
				asked = asked[:1]
			}
			for _, node := range asked {
				if got, status := p.Score(ctx, cycle, pod, node); got != c.scores[i] || !status.IsSuccess() {
					t.Errorf("%s: node %s: %d %v, want %d", c.scoring, node.Node().Name, got, status, c.scores[i])
				}
			}
		}
	}
}

// TestOverride: annotations of a pod replace the rules of a strategy.
func TestOverride(t *testing.T) {
	p := newPlugin(t, `{"scoring":[{"strategy":{"resources":{"cpu":{"type":"MostAllocated","weight":1}}}}]}`,
		newNode("a", amounts("cpu", "10"), nil), newNode("b", amounts("cpu", "10"), amounts("cpu", "6")))
	pod := newPod("pod", amounts("cpu", "2"))
	if got, want := scoresOf(t, p, pod), map[string]int64{"a": 25, "b": 100}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	rescored := rescores
	defer func() { rescores = rescored }()
	rescores = false
	plain := signatureOf(t, p, pod)
	pod.Annotations = map[string]string{scoring.ScoringTypeAnnotation: "LeastAllocated", scoring.WeightAnnotation: `{"cpu":1}`}
	if got, want := scoresOf(t, p, pod), map[string]int64{"a": 100, "b": 25}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if signatureOf(t, p, pod) == plain {
		t.Error("the annotations are not in the signature")
	}
	rescores = true
	if _, status := p.SignPod(context.Background(), pod); status.Code() != fwk.Unschedulable {
		t.Errorf("normalized scores are signed, and batching compares them: %v", status)
	}
}

func signatureOf(t *testing.T, p *Plugin, pod *corev1.Pod) string {
	t.Helper()
	fragments := success(p.SignPod(context.Background(), pod))
	return string(testkit.Must(json.Marshal(fragments)))
}

// TestSignPod: pods that are scheduled alike have one signature.
func TestSignPod(t *testing.T) {
	p := newPlugin(t, "")
	base := signatureOf(t, p, newPod("a", amounts("cpu", "1", "nvidia.com/gpu", "2", "hugepages-2Mi", "4Mi")))
	if other := signatureOf(t, p, newPod("b", amounts("hugepages-2Mi", "4Mi", "cpu", "1000m", "nvidia.com/gpu", "2"))); other != base {
		t.Errorf("%s\n%s", base, other)
	}
	if other := signatureOf(t, p, newPod("c", amounts("cpu", "1", "nvidia.com/gpu", "1", "hugepages-2Mi", "4Mi"))); other == base {
		t.Error("another request, the same signature")
	}
	if _, status := p.SignPod(context.Background(), newPod("d", amounts("class.example.com/a", "1"))); status.Code() != fwk.Unschedulable {
		t.Error(status)
	}
}

// TestResized: a pod that waits on its node for room to grow is not taken for a new one.
func TestResized(t *testing.T) {
	node := newNode("a", amounts("cpu", "10"), amounts("cpu", "4"))
	p := newPlugin(t, "", node)
	pod := newPod("pod", amounts("cpu", "8"))
	pod.Spec.NodeName = "a"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonDeferred}}
	if _, status := p.PreFilter(context.Background(), newCycle(), pod, []fwk.NodeInfo{node}); status.Code() != fwk.UnschedulableAndUnresolvable {
		t.Error(status)
	}
}

// TestProportional: the predicate refuses where idle devices need the rest, with a
// reason of its own, and the scalar form agrees with the table.
func TestProportional(t *testing.T) {
	node := newNode("a", amounts("cpu", "10", "memory", "64G", "nvidia.com/gpu", "2"), amounts("cpu", "3"))
	p := newPlugin(t, `{"proportional":{"enable":true,"resources":"nvidia.com/gpu","resourceProportion":{"nvidia.com/gpu.cpu":2,"nvidia.com/gpu.memory":8}}}`, node)
	for _, c := range []struct {
		request corev1.ResourceList
		want    string
	}{
		{amounts("cpu", "3"), ""}, // 4 are left for 2 devices
		{amounts("cpu", "3001m"), "Unschedulable [Too little cpu left for idle nvidia.com/gpu]"},
		{amounts("cpu", "1", "memory", "49G"), "Unschedulable [Too little memory left for idle nvidia.com/gpu]"},
		{amounts("cpu", "7", "nvidia.com/gpu", "1"), ""},
		{amounts("cpu", "8"), "Unschedulable [Insufficient cpu]"},
		{amounts("cpu", "11"), "UnschedulableAndUnresolvable [Insufficient cpu]"},
	} {
		ctx, cycle, pod := context.Background(), newCycle(), newPod("pod", c.request)
		success(p.PreFilter(ctx, cycle, pod, []fwk.NodeInfo{node}))
		again := *node // another object, without a row
		for _, n := range []fwk.NodeInfo{node, &again} {
			got := ""
			if status := p.Filter(ctx, cycle, pod, n); !status.IsSuccess() {
				got = fmt.Sprint(status.Code(), " ", status.Reasons())
			}
			if got != c.want {
				t.Errorf("%v: %s, want %s", c.request, got, c.want)
			}
		}
	}
}

// TestRestriction: which nodes are named.
func TestRestriction(t *testing.T) {
	var nodes []fwk.NodeInfo
	for i := range 40 {
		used := amounts("cpu", "8")
		if i%10 == 0 {
			used = amounts("cpu", "2")
		}
		has := amounts("cpu", "8")
		if i%10 == 1 {
			has = amounts("cpu", "16")
			used = amounts("cpu", "16")
		}
		nodes = append(nodes, newNode(fmt.Sprint(i), has, used))
	}
	for _, c := range []struct {
		what      string
		arguments string
		request   string
		failed    bool // an attempt before has failed
		group     bool
		want      []string // nil: all nodes
	}{
		{"few can hold it", ``, "4", false, false, []string{"0", "10", "20", "30"}},
		{"few can hold it, second attempt", ``, "4", true, false, nil},
		{"few can hold it, in a pod group", ``, "4", false, true, nil},
		{"few can hold it, but more than allowed", `{"visitPercent":9}`, "4", false, false, nil},
		{"as many as allowed", `{"visitPercent":10}`, "4", false, false, []string{"0", "10", "20", "30"}},
		{"never", `{"visitPercent":0}`, "4", false, false, nil},
		{"none can, few could", ``, "12", false, false, []string{"1", "11", "21", "31"}},
		{"none can, few could, second attempt", ``, "12", true, false, []string{"1", "11", "21", "31"}},
		{"none can, all could", ``, "8", false, false, nil},
		{"none could", ``, "17", false, false, nil},
		{"the best two, packed", `{"topK":2,"visitPercent":0,"scoring":[{"kube":{"type":"MostAllocated","resources":[{"name":"cpu"}]}}]}`, "1", false, false, []string{"0", "10"}},
	} {
		p := newPlugin(t, c.arguments, nodes...)
		pod, cycle := newPod("pod", amounts("cpu", c.request)), newCycle()
		cycle.group = c.group
		if c.failed {
			p.attempts.add(pod.UID)
		}
		result := success(p.PreFilter(context.Background(), cycle, pod, nodes))
		var got []string
		if !result.AllNodes() {
			got = slices.Sorted(maps.Keys(result.NodeNames))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestPadded: so many nodes are named that kube-scheduler looks for as many as fit, or as it
// looks for among all. The numbers are those of its rule: at least 100, by default
// (50 − n/125) % of n.
func TestPadded(t *testing.T) {
	for _, c := range []struct {
		nodes, fit, possible int // of those that could, all that fit
		failed               bool
		want                 int
	}{
		{1000, 100, 100, false, 100},
		{1000, 101, 101, false, 207},
		{1000, 200, 200, false, 426}, // 47 % of them are 200
		{1000, 200, 240, true, 426},
		{1000, 240, 240, false, 0}, // it would take 522
		{1000, 0, 240, false, 240},
		{1000, 50, 240, true, 240},
		{5000, 1250, 1250, false, 1250}, // 500 of them, as of 5,000
		{5000, 1000, 1000, false, 1220}, // 41 % of them are 500
		{12000, 600, 600, false, 1579},  // 38 % of them are 600, as are 5 % of 12,000
	} {
		nodes := make([]fwk.NodeInfo, c.nodes)
		for i := range nodes {
			has, used := amounts("cpu", "4"), amounts("cpu", "4")
			switch {
			case i < c.fit:
				used = nil
			case i >= c.possible:
				has = amounts("cpu", "1")
			}
			nodes[i] = newNode(fmt.Sprint(i), has, used)
		}
		p, pod := newPlugin(t, "", nodes...), newPod("pod", amounts("cpu", "2"))
		if c.failed {
			p.attempts.add(pod.UID)
		}
		result := success(p.PreFilter(context.Background(), newCycle(), pod, nodes))
		if result.AllNodes() {
			result = &fwk.PreFilterResult{}
		}
		if got := len(result.NodeNames); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
		if c.want == 0 {
			continue
		}
		for i := range max(c.fit, c.possible) {
			if !result.NodeNames.Has(fmt.Sprint(i)) {
				t.Errorf("%+v: node %d is left out", c, i)
			}
		}
	}
}

// TestPlenty: while there is plenty of room, PreFilter looks at no node, and nodes that
// have changed are noticed when they are visited; nodes are named again when few fit.
func TestPlenty(t *testing.T) {
	for _, arguments := range []string{``, `{"scoring":[{"strategy":{"resources":{"cpu":{"type":"LeastAllocated","weight":1}}}}]}`} {
		nodes := make([]fwk.NodeInfo, 100)
		for i := range nodes {
			nodes[i] = newNode(fmt.Sprint(i), amounts("cpu", "4"), nil)
		}
		at := func(i int) *fakeNode { return nodes[i].(*fakeNode) }
		p := newPlugin(t, arguments, nodes...)
		pod, ctx := newPod("pod", amounts("cpu", "2")), context.Background()

		// cycle places a pod: it visits the nodes from one on until three can hold it.
		// It returns how many nodes PreFilter looked at and named, how many were visited,
		// and the scores.
		cycle := func(from int) (looks, named, visited int, scores map[string]int64) {
			t.Helper()
			state := newCycle()
			for i := range nodes {
				at(i).looks = 0
			}
			result := success(p.PreFilter(ctx, state, pod, nodes))
			for i := range nodes {
				looks += at(i).looks
			}
			if !result.AllNodes() {
				named = len(result.NodeNames)
			}
			var feasible []fwk.NodeInfo
			for i := 0; i < len(nodes) && len(feasible) < 3; i++ {
				node := at((from + i) % len(nodes))
				if named > 0 && !result.NodeNames.Has(node.node.Name) {
					continue
				}
				visited++
				fits := node.used.cpu+2000 <= node.has.cpu
				if status := p.Filter(ctx, state, pod, node); status.IsSuccess() != fits {
					t.Errorf("node %s: %v, fits %v", node.node.Name, status, fits)
				}
				if fits {
					feasible = append(feasible, node)
				}
			}
			succeeds(p.PreScore(ctx, state, pod, feasible))
			scores = map[string]int64{}
			for _, node := range feasible {
				scores[node.Node().Name] = success(p.Score(ctx, state, pod, node))
			}
			return looks, named, visited, scores
		}
		check := func(what string, from, wantNamed, wantVisited int, look bool, want map[string]int64) {
			t.Helper()
			looks, named, visited, scores := cycle(from)
			if named != wantNamed || visited != wantVisited || look != (looks >= len(nodes)) || !look && looks > 3 {
				t.Errorf("%s: looked at %d, named %d, visited %d", what, looks, named, visited)
			}
			if arguments == "" && !maps.Equal(scores, want) {
				t.Errorf("%s: %v, want %v", what, scores, want)
			}
		}
		check("the first", 0, 0, 3, true, map[string]int64{"0": 50, "1": 50, "2": 50})
		check("nothing has changed", 0, 0, 3, false, map[string]int64{"0": 50, "1": 50, "2": 50})
		at(1).take(amounts("cpu", "1"))
		check("one has less room", 0, 0, 3, false, map[string]int64{"0": 50, "1": 25, "2": 50})
		at(1).take(amounts("cpu", "4"))
		check("one has no room", 0, 0, 4, false, map[string]int64{"0": 50, "2": 50, "3": 50})
		at(1).take(nil)
		at(2).has.cpu = 16000
		at(2).take(nil)
		check("one has room again, one has grown", 0, 0, 3, false, map[string]int64{"0": 50, "1": 50, "2": 87})
		for i := 3; i < len(nodes); i++ {
			at(i).take(amounts("cpu", "4"))
		}
		check("the others are full, which nobody has seen", 3, 0, 100, false, map[string]int64{"0": 50, "1": 50, "2": 87})
		check("which was seen", 3, 3, 3, true, map[string]int64{"0": 50, "1": 50, "2": 87})
		for i := range nodes {
			at(i).take(nil)
		}
		check("all are empty, which nobody has seen", 0, 0, 3, true, map[string]int64{"0": 50, "1": 50, "2": 87})
		at(0).has.SetMaxResource(amounts("example.com/new", "1"))
		at(0).take(nil)
		check("one has a resource that none had", 0, 0, 3, false, map[string]int64{"0": 50, "1": 50, "2": 87})
		check("and has it still", 0, 0, 3, false, map[string]int64{"0": 50, "1": 50, "2": 87})
		nodes = slices.Clone(nodes)
		nodes[5] = newNode("5", amounts("cpu", "4"), amounts("cpu", "4"))
		check("another node of the same name", 4, 0, 4, true, map[string]int64{"4": 50, "6": 50, "7": 50})
	}
}

// TestCluster: rows follow nodes that change, come and go.
func TestCluster(t *testing.T) {
	p := newPlugin(t, "")
	a, b := newNode("a", amounts("cpu", "4"), nil), newNode("b", amounts("cpu", "4"), amounts("cpu", "3"))
	pod := newPod("pod", amounts("cpu", "2"))
	gpu := newPod("gpu", amounts("cpu", "2", "nvidia.com/gpu", "1"))
	check := func(what string, pod *corev1.Pod, nodes []fwk.NodeInfo, want ...string) {
		t.Helper()
		cycle := newCycle()
		success(p.PreFilter(context.Background(), cycle, pod, nodes))
		var got []string
		for _, node := range nodes {
			if p.Filter(context.Background(), cycle, pod, node).IsSuccess() {
				got = append(got, node.Node().Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	check("two nodes", pod, []fwk.NodeInfo{a, b}, "a")
	b.take(nil)
	check("one has changed", pod, []fwk.NodeInfo{a, b}, "a", "b")
	check("one is gone", pod, []fwk.NodeInfo{b}, "b")
	check("no node has it", gpu, []fwk.NodeInfo{b})
	c := newNode("c", amounts("cpu", "8", "nvidia.com/gpu", "1"), nil)
	check("one with a new resource", gpu, []fwk.NodeInfo{c, b, a}, "c")
	d := newNode("a", amounts("cpu", "1"), nil)
	check("another of the same name", pod, []fwk.NodeInfo{c, b, d}, "c", "b")
	check("none", pod, nil)
	check("back again", pod, []fwk.NodeInfo{a, c}, "a", "c")
}

// TestCopy: a node with the same generation in another object, and the same object
// with another generation, are compared by themselves.
func TestCopy(t *testing.T) {
	node := newNode("a", amounts("cpu", "4"), nil)
	p := newPlugin(t, "", node)
	ctx, cycle, pod := context.Background(), newCycle(), newPod("pod", amounts("cpu", "2"))
	success(p.PreFilter(ctx, cycle, pod, []fwk.NodeInfo{node}))
	full := *node
	full.used = amountsOf{cpu: 3000}
	if p.Filter(ctx, cycle, pod, &full).IsSuccess() {
		t.Error("a copy is taken for the node")
	}
	if node.take(amounts("cpu", "3")); p.Filter(ctx, cycle, pod, node).IsSuccess() {
		t.Error("a node that has changed is taken for what it was")
	}
}

// TestOddResource: a node that counts a resource by a name that pods are not
// compared by. The others decide.
func TestOddResource(t *testing.T) {
	odd := newNode("odd", amounts("cpu", "4", "memory", "4Gi"), nil)
	odd.has.scalars = map[corev1.ResourceName]int64{"odd": 1}
	p := newPlugin(t, `{}`, odd)
	if got := scoresOf(t, p, newPod("pod", amounts("cpu", "1", "memory", "1Gi"))); len(got) != 1 {
		t.Error(got)
	}
}

// TestAfterPod: a pod that shrinks makes room when it has shrunk, not when it should.
func TestAfterPod(t *testing.T) {
	waiting, before := newPod("waiting", amounts("cpu", "2")), newPod("running", nil)
	before.Spec.NodeName = "n"
	before.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", "6")}
	before.Status.AllocatedResources = amounts("cpu", "6")
	before.Status.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", "6")}
	wanted := before.DeepCopy()
	wanted.Spec.Resources.Requests = amounts("cpu", "4")
	allocated := wanted.DeepCopy()
	allocated.Status.AllocatedResources = amounts("cpu", "4")
	shrunk := allocated.DeepCopy()
	shrunk.Status.Resources.Requests = amounts("cpu", "4")
	for _, x := range []struct {
		what          string
		before, after *corev1.Pod
		want          fwk.QueueingHint
	}{
		{"less is wanted", before, wanted, fwk.QueueSkip},
		{"less is allocated", wanted, allocated, fwk.QueueSkip},
		{"it has less", allocated, shrunk, fwk.Queue},
	} {
		if got, err := (&Plugin{}).afterPod(klog.Background(), waiting, x.before, x.after); err != nil || got != x.want {
			t.Errorf("%s: %v, %v", x.what, got, err)
		}
	}
}
