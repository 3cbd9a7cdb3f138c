package resvecfit

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/resvec/resvec/internal/testkit"
)

// newReplacements makes the plugins of a scheduler with two nodes of two zones.
func newReplacements(t *testing.T) (*Plugin, *TopologySpread, *InterPodAffinity, []fwk.NodeInfo) {
	t.Helper()
	h := &gangHandle{fakeHandle: fakeHandle{dra: fakeClasses{}}, factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	for _, zone := range []string{"a", "b"} {
		node := &nodeWith{fakeNode: newNode("node-"+zone, amounts("cpu", "8"), nil)}
		node.node.Labels = map[string]string{"zone": zone}
		h.nodes = append(h.nodes, node)
	}
	ctx := context.Background()
	fit := testkit.Must(New(ctx, nil, h)).(*Plugin)
	spread := testkit.Must(NewTopologySpread(ctx, nil, h)).(*TopologySpread)
	affinity := testkit.Must(NewInterPodAffinity(ctx, nil, h)).(*InterPodAffinity)
	h.factory.Start(t.Context().Done())
	h.factory.WaitForCacheSync(t.Context().Done())
	return fit, spread, affinity, h.nodes
}

// kin returns a pod that keeps apart from its kin by zones, and spreads over them.
func kin(name string) *corev1.Pod {
	pod := newPod(name, nil)
	pod.Labels = map[string]string{"app": "web"}
	of := &metav1.LabelSelector{MatchLabels: pod.Labels}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of}}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: of}}}}
	return pod
}

// TestReplacementsInStep: from the first question on every pod that came to a node counts, also
// on nodes that PreFilter would not look at for amounts.
func TestReplacementsInStep(t *testing.T) {
	fit, spread, affinity, nodes := newReplacements(t)
	ctx := context.Background()
	come := func(i int, name string) {
		node := nodes[i].(*nodeWith)
		node.running = append(node.running, &podInfo{pod: kin(name)})
		node.take(nil)
	}
	pod := kin("new")
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, pod.Spec.TopologySpreadConstraints[0])
	pod.Spec.TopologySpreadConstraints[1].WhenUnsatisfiable = corev1.ScheduleAnyway
	for range 2 { // in the second, rows may be behind
		if _, status := fit.PreFilter(ctx, newCycle(), pod, nodes); !status.IsSuccess() {
			t.Fatal(status)
		}
		come(0, fmt.Sprint("early-", len(nodes[0].GetPods())))
	}
	for step, want := range []string{"node-b", "", ""} {
		cycle := newCycle()
		_, status := fit.PreFilter(ctx, cycle, pod, nodes)
		_, second := spread.PreFilter(ctx, cycle, pod, nodes)
		_, third := affinity.PreFilter(ctx, cycle, pod, nodes)
		if !status.IsSuccess() || !second.IsSuccess() || !third.IsSuccess() {
			t.Fatal(status, second, third)
		}
		var fits []string
		for _, node := range nodes {
			if spread.Filter(ctx, cycle, pod, node).IsSuccess() && affinity.Filter(ctx, cycle, pod, node).IsSuccess() {
				fits = append(fits, node.Node().Name)
			}
		}
		if got := strings.Join(fits, " "); got != want {
			t.Errorf("step %d: the pod fits on %q, want %q", step, got, want)
		}
		if status := spread.PreScore(ctx, cycle, pod, nodes); !status.IsSuccess() {
			t.Errorf("step %d: %v", step, status)
		}
		if s := cycle.data[stateKey].(*state); s.behind != (step == 0) {
			t.Errorf("step %d: rows are left behind: %v", step, s.behind)
		}
		come(1, fmt.Sprint("late-", step))
	}
}

// TestReplacementsAlone: without ResvecFit before them the plugins fail, and say why; so does
// a cycle in which they weren't asked at preFilter or preScore.
func TestReplacementsAlone(t *testing.T) {
	fit, spread, affinity, nodes := newReplacements(t)
	ctx, pod := context.Background(), kin("new")
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway})
	is := func(what string, status *fwk.Status, want string) {
		t.Helper()
		if status.Code() != fwk.Error || !strings.Contains(status.Message(), want) {
			t.Errorf("%s: %v, want %q", what, status, want)
		}
	}
	const needs = " needs ResvecFit before it at preFilter"
	_, status := spread.PreFilter(ctx, newCycle(), pod, nodes)
	is("spread", status, TopologySpreadName+needs)
	_, status = affinity.PreFilter(ctx, newCycle(), pod, nodes)
	is("affinity", status, InterPodAffinityName+needs)
	is("spread's scores", spread.PreScore(ctx, newCycle(), pod, nodes), TopologySpreadName+needs)
	is("affinity's scores", affinity.PreScore(ctx, newCycle(), pod, nodes), InterPodAffinityName+needs)
	const absent = "from cycleState"
	info := &podInfo{pod: kin("other")}
	is("filter", spread.Filter(ctx, newCycle(), pod, nodes[0]), absent)
	is("add", spread.AddPod(ctx, newCycle(), pod, info, nodes[0]), absent)
	is("remove", affinity.RemovePod(ctx, newCycle(), pod, info, nodes[0]), absent)
	is("normalize", spread.NormalizeScore(ctx, newCycle(), pod, nil), absent)
	_, status = spread.Score(ctx, newCycle(), pod, nodes[0])
	is("score", status, absent)

	cycle := newCycle()
	if _, status := fit.PreFilter(ctx, cycle, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	if status := spread.PreScore(ctx, cycle, pod, nodes[:1]); !status.IsSuccess() {
		t.Fatal(status)
	}
	_, status = spread.Score(ctx, cycle, pod, nodes[1])
	is("a node that was not given", status, "PreScore was not given")
	is("an unknown node", spread.PreScore(ctx, cycle, pod, []fwk.NodeInfo{&nodeWith{fakeNode: newNode("c", nil, nil)}}), "not in the snapshot")
}

// TestReplacementsResized: a pod that is resized in place is on its node already.
func TestReplacementsResized(t *testing.T) {
	_, spread, affinity, nodes := newReplacements(t)
	pod := kin("new")
	pod.Spec.NodeName = "node-a"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonDeferred}}
	for _, plugin := range []fwk.PreFilterPlugin{spread, affinity} {
		if _, status := plugin.PreFilter(context.Background(), newCycle(), pod, nodes); !status.IsSkip() {
			t.Error(plugin.Name(), status)
		}
	}
}

func TestReplacementArgs(t *testing.T) {
	h := &gangHandle{factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}
	constraint := func(more string) string {
		return `{"defaultingType":"List","defaultConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"` + more + `}]}`
	}
	type factory = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error)
	for name, c := range map[string]struct {
		factory   factory
		arguments map[string]string
	}{
		TopologySpreadName: {NewTopologySpread, map[string]string{
			``:                                "",
			`{}`:                              "",
			`{"defaultingType":"List"}`:       "",
			constraint(``):                    "",
			constraint(`,"labelSelector":{}`): "defaultConstraints[0].labelSelector: Forbidden",
			constraint(`},{"maxSkew":0,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"`): "defaultConstraints[1].maxSkew: Invalid value: 0",
			constraint(`},{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"`): "defaultConstraints[1]: Duplicate value",
			strings.Replace(constraint(``), "List", "System", 1):                                  "defaultConstraints: Forbidden: only with defaultingType List",
			`{"defaultingType":"list"}`: `defaultingType: Unsupported value: "list"`,
			`{"defaultConstraint":[]}`:  `unknown field "defaultConstraint"`,
			`[]`:                        "args: ",
		}},
		InterPodAffinityName: {NewInterPodAffinity, map[string]string{
			``: "",
			`{"hardPodAffinityWeight":0,"ignorePreferredTermsOfExistingPods":true}`: "",
			`{"hardPodAffinityWeight":101}`:                                         "hardPodAffinityWeight: Invalid value: 101",
			`{"weight":1}`:                                                          `unknown field "weight"`,
		}},
	} {
		for arguments, want := range c.arguments {
			_, err := c.factory(context.Background(), &runtime.Unknown{Raw: []byte(arguments)}, h)
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", name, arguments, err, want)
			}
		}
		if _, err := c.factory(context.Background(), nil, &fakeHandle{}); err == nil {
			t.Errorf("%s is made without informers", name)
		}
	}
}

func TestReplacementWarnings(t *testing.T) {
	_, spread, _, _ := newReplacements(t)
	at := func(names ...string) (p point) {
		for _, name := range names {
			p.Enabled = append(p.Enabled, enabled{Name: name})
		}
		return p
	}
	both := at(Name, TopologySpreadName)
	for what, c := range map[string]struct {
		lists lists
		want  string
	}{
		"as it should be":        {lists{PreFilter: both, Filter: both, PreScore: both, Score: both}, ""},
		"the original beside it": {lists{PreFilter: both, Filter: at("PodTopologySpread", TopologySpreadName)}, "PodTopologySpread is enabled beside ResvecTopologySpread at filter"},
		"no ResvecFit":           {lists{PreFilter: at(TopologySpreadName)}, "needs ResvecFit at preFilter before it"},
		"ResvecFit after it":     {lists{PreFilter: at(TopologySpreadName, Name)}, "needs ResvecFit at preFilter before it"},
		"only at filter":         {lists{PreFilter: at(Name), Filter: both}, "at filter, but not at preFilter"},
		"only at score":          {lists{PreFilter: both, Score: both}, "at score, but not at preScore"},
	} {
		got := strings.Join(spread.warnings(&c.lists), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// TestReplacementHints: what can't matter to a pod doesn't have it tried again.
func TestReplacementHints(t *testing.T) {
	_, spread, affinity, _ := newReplacements(t)
	pod, placed := kin("new"), kin("old")
	placed.Spec.NodeName = "node-a"
	other := placed.DeepCopy()
	other.Labels = map[string]string{"app": "db"}
	foreign := placed.DeepCopy()
	foreign.Namespace = "foreign"
	waiting := kin("waiting")
	bare := newPod("bare", nil)
	tolerant := pod.DeepCopy()
	tolerant.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	honoring := pod.DeepCopy()
	honor := corev1.NodeInclusionPolicyHonor
	honoring.Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = &honor
	broken := pod.DeepCopy()
	broken.Spec.TopologySpreadConstraints[0].LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Operator: "?"}}}
	zone := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a"}}}
	moved := zone.DeepCopy()
	moved.Labels["zone"] = "b"
	rack := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"rack": "1"}}}
	for i, c := range []struct {
		hint        fwk.QueueingHintFn
		pod         *corev1.Pod
		before, now any
		want        fwk.QueueingHint
	}{
		{spread.afterPod, pod, nil, placed, fwk.Queue},
		{spread.afterPod, pod, placed, nil, fwk.Queue},
		{spread.afterPod, pod, nil, other, fwk.QueueSkip},
		{spread.afterPod, pod, placed, other, fwk.Queue},
		{spread.afterPod, pod, placed, placed, fwk.QueueSkip},
		{spread.afterPod, pod, nil, foreign, fwk.QueueSkip},
		{spread.afterPod, pod, nil, waiting, fwk.QueueSkip},
		{spread.afterPod, pod, pod, tolerant, fwk.QueueSkip},
		{spread.afterPod, honoring, pod, tolerant, fwk.Queue},
		{spread.afterPod, bare, nil, other, fwk.Queue}, // by services, which aren't asked
		{spread.afterPod, broken, nil, placed, fwk.Queue},
		{spread.afterNode, pod, nil, zone, fwk.Queue},
		{spread.afterNode, pod, nil, rack, fwk.QueueSkip},
		{spread.afterNode, pod, rack, nil, fwk.QueueSkip},
		{spread.afterNode, pod, zone, moved, fwk.Queue},
		{spread.afterNode, pod, zone, zone, fwk.QueueSkip},
		{spread.afterNode, bare, zone, zone, fwk.Queue},
		{affinity.afterPod, pod, placed, nil, fwk.Queue},
		{affinity.afterPod, pod, other, nil, fwk.Queue}, // whose anti-affinity rejected it
		{affinity.afterPod, pod, nil, placed, fwk.QueueSkip},
		{affinity.afterPod, pod, placed, other, fwk.Queue},
		{affinity.afterPod, pod, pod, pod, fwk.Queue},
		{affinity.afterPod, pod, waiting, nil, fwk.QueueSkip},
		{affinity.afterNode, pod, nil, rack, fwk.Queue},
		{affinity.afterNode, pod, zone, rack, fwk.Queue},
		{affinity.afterNode, pod, rack, zone, fwk.QueueSkip},
		{affinity.afterNode, bare, nil, zone, fwk.QueueSkip},
		{affinity.afterNode, pod, zone, 1, fwk.Queue}, // with an error
	} {
		if got, _ := c.hint(klog.Background(), c.pod, c.before, c.now); got != c.want {
			t.Errorf("case %d: %v, want %v", i, got, c.want)
		}
	}
}
