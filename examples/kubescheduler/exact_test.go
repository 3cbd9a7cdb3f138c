package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/internal/testkit"
)

// schedule has a scheduler decide about a pod that nobody binds, and returns the node.
func (s *simulation) schedule(t testing.TB, pod *corev1.Pod) (node string, err error) {
	t.Helper()
	ctx := klog.NewContext(context.Background(), logr.Discard())
	if pod.UID == "" {
		pod.UID = types.UID(pod.Name)
	}
	info := &framework.QueuedPodInfo{PodInfo: testkit.Must(framework.NewPodInfo(pod))}
	result, err := s.SchedulePod(ctx, s.update(ctx, t), framework.NewCycleState(), info)
	return result.SuggestedHost, err
}

// with returns a pod with a change.
func with(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	change(pod)
	return pod
}

// TestExactFallbacks: pods that exact can't answer for are left to the other plugins, and it
// is counted why.
func TestExactFallbacks(t *testing.T) {
	volume := func(source corev1.VolumeSource) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}} }
	}
	small := func(change func(*corev1.Pod)) *corev1.Pod { return with(aPod("pod", 0, "cpu=1"), change) }
	waiting := func(pod *corev1.Pod) { // a gate keeps it where it is
		pod.UID, pod.Status.NominatedNodeName = "waits", "a1"
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "gate"}}
	}
	const decided = ""
	for _, c := range []struct {
		what    string
		pod     *corev1.Pod
		objects []runtime.Object
		want    string
	}{
		{"nothing special", small(func(*corev1.Pod) {}), nil, decided},
		{"volumes that every node has", small(volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})), nil, decided},
		{"a disk", small(volume(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "disk"}})), nil, "volumes"},
		{"a volume of a kind", small(volume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "p"}})), nil, "volumes"},
		{"too large", aPod("pod", 0, "cpu=5"), nil, "infeasible"},
		{"of a zone that isn't there", inZone(aPod("pod", 0, "cpu=1"), "z"), nil, "infeasible"},
		{"it is nominated", small(func(pod *corev1.Pod) { pod.Status.NominatedNodeName = "a0" }), nil, "own_nominee"},
		{"another of its priority is nominated", small(func(*corev1.Pod) {}), []runtime.Object{
			with(aPod("waits", 0, "cpu=1"), waiting),
		}, "nominated"},
		{"one of less priority is nominated", aPod("pod", 5, "cpu=1"), []runtime.Object{
			with(aPod("waits", 0, "cpu=1"), waiting),
		}, decided},
		{"a pod group", small(func(pod *corev1.Pod) {
			name := "group"
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
		}), nil, "pod_group"},
		{"a node with amounts beyond 2^53", small(func(*corev1.Pod) {}), []runtime.Object{aNode("vast", "a", "cpu=1", "memory=9007199254740993", "pods=9")}, "large"},
	} {
		t.Run(c.what, func(t *testing.T) {
			sim := running(t, example(t, "exact: true", "exactArgs: {checkOneIn: 1}"), nil, append(emptyZone("a", 3), c.objects...)...)
			before := counters(t)
			sim.create(t, c.pod)
			eventually(t, "the pod has had its turn", func() bool { return sim.pods(t)["pod"] != "" || refused(t, sim, "pod") })
			got := changed(before, counters(t))
			if c.want == decided {
				if got[`cycles_total{mode="exact"}`] != 1 || got["exact_checks_total"] != 1 || got["exact_differences_total"] != 0 || sim.pods(t)["pod"] == "" {
					t.Errorf("%v, and the pod is on %q", got, sim.pods(t)["pod"])
				}
			} else if got[fmt.Sprintf("exact_fallbacks_total{reason=%q}", c.want)] != 1 || got[`cycles_total{mode="exact"}`] != 0 {
				t.Errorf("%v, want the reason %s", got, c.want)
			}
		})
	}
}

// TestExactChecks: arguments of another plugin that exact wasn't told of are found by the
// first check, which turns it off.
func TestExactChecks(t *testing.T) {
	const other = `
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 100}
  - name: ResvecFit`
	requires := func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"app": "web"}
		pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		}}}}
	}
	for _, c := range []struct {
		what, arguments string
		differs         bool
	}{
		{"not told", "exactArgs: {checkOneIn: 1, ignorePreferredTermsOfExistingPods: true}", true},
		{"told", "exactArgs: {checkOneIn: 1, hardPodAffinityWeight: 100}", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			configuration := replaced(t, example(t, "exact: true", c.arguments), "\n  - name: ResvecFit", other)
			sim := simulate(t, configuration, nil, append(emptyZone("a", 2), emptyZone("b", 2)...)...)
			sim.run(t)
			sim.create(t, with(aPod("old", 0, "cpu=1"), requires))
			eventually(t, "the pod is placed", func() bool { return sim.pods(t)["old"] != "" })
			before := counters(t)
			for i := range 2 {
				name := fmt.Sprint("new-", i)
				sim.create(t, with(aPod(name, 0, "cpu=1"), func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web"} }))
				eventually(t, "the pod is placed", func() bool { return sim.pods(t)[name] != "" })
			}
			got := changed(before, counters(t))
			if c.differs != (got["exact_differences_total"] == 1) || c.differs != (got[`exact_fallbacks_total{reason="off"}`] > 0) {
				t.Error(got)
			}
		})
	}
}

// TestExactChecksRejected: a difference is found, too, where another plugin rejects the node that
// exact has named, so that Filter isn't called for it.
func TestExactChecksRejected(t *testing.T) {
	const other = `
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]
  - name: ResvecFit`
	configuration := replaced(t, example(t, "exact: true", "exactArgs: {checkOneIn: 1}"), "\n  - name: ResvecFit", other)
	configuration = replaced(t, configuration, "enabled: [{name: ResvecFit}]\n", "enabled: [{name: NodeAffinity}, {name: ResvecFit}]\n")
	sim := simulate(t, configuration, nil, emptyZone("a", 2)...)
	sim.run(t)
	before := counters(t)
	sim.create(t, aPod("pod", 0, "cpu=1"))
	eventually(t, "the pod is refused", func() bool { return refused(t, sim, "pod") })
	if got := changed(before, counters(t)); got["exact_checks_total"] != 1 || got["exact_differences_total"] != 1 {
		t.Error(got)
	}
}

// TestExactProfiles: the command does not start with exact where it can't answer for the
// profile; another scheduler works without it.
func TestExactProfiles(t *testing.T) {
	for what, c := range map[string]struct{ configuration, want string }{
		"as the example": {example(t, "exact: true"), ""},
		"evicts first": {replaced(t, example(t, "exact: true"), postFilter, "enabled: [{name: DefaultPreemption}, {name: ResvecFit}]\n      disabled: [{name: '*'}]"),
			"exact: Forbidden: ResvecFit has to come before DefaultPreemption at postFilter"},
		"no spread": {replaced(t, example(t, "exact: true"), "disabled: [{name: NodeResourcesFit}", "disabled: [{name: PodTopologySpread}, {name: NodeResourcesFit}"),
			"exact: Forbidden: PodTopologySpread is not enabled at filter"},
		"built-in scores": {replaced(t, example(t, "exact: true"), "disabled: [{name: NodeResourcesFit}, ", "disabled: ["),
			"exact: Forbidden: NodeResourcesFit scores beside ResvecFit"},
		"a wrong constraint": {example(t, "exact: true", "exactArgs: {defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}"),
			"exactArgs.defaultConstraints[0].maxSkew: Invalid value: 0"},
		"an unknown type":      {example(t, "exactArgs: {defaultingType: list}"), `exactArgs.defaultingType: Unsupported value: "list"`},
		"constraints for none": {example(t, "exactArgs: {defaultConstraints: [{maxSkew: 1}]}"), "exactArgs.defaultConstraints: Forbidden"},
		"checks none":          {example(t, "exactArgs: {checkOneIn: 0}"), "exactArgs.checkOneIn: Invalid value: 0"},
		"a resource":           {example(t, "exact: true", "exactArgs: {balancedResources: [{name: pods}]}"), "exactArgs.balancedResources.resources[0].name"},
		"a typing mistake":     {example(t, "exactArgs: {checkOnceIn: 1}"), `unknown field "exactArgs.checkOnceIn"`},
	} {
		t.Run(what, func(t *testing.T) {
			err := setUp(t, c.configuration)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestExactTowns has pods arrive in random clusters. Each decision of exact is checked by the
// plugins themselves, here and by kube-scheduler's own profile: the node is one of the best
// of all. Where no node is feasible, the scheduler says what it says without exact.
func TestExactTowns(t *testing.T) {
	seeds, ctx := uint64(12), discarded()
	if os.Getenv("RESVEC_LONG") != "" {
		seeds = 400
	}
	before, decisions := counters(t), 0
	for seed := range seeds {
		w := &town{Rand: rand.New(rand.NewPCG(testkit.Environment(t, "RESVEC_SEED", 1), seed))}
		var objects []runtime.Object
		seen := map[string]bool{}
		add := func(object any) {
			meta := object.(metav1.Object)
			if key := fmt.Sprintf("%T %s %s", object, meta.GetNamespace(), meta.GetName()); !seen[key] {
				seen[key] = true
				objects = append(objects, object.(runtime.Object))
			}
		}
		for _, name := range spaces[:3] {
			add(w.namespace(name))
		}
		for range 10 {
			add(w.group())
		}
		var nodes []*corev1.Node
		for range 1 + w.IntN(40) {
			node := w.node(w.name("node"))
			add(node)
			nodes = append(nodes, node)
		}
		for range w.IntN(4 * len(nodes)) {
			add(bound(w.pod(), nodes[w.IntN(len(nodes))].Name))
		}
		const setting = "\npercentageOfNodesToScore: 100\n"
		// Nodes that can't hold a pod would be left out, which PostFilter completes.
		ours := simulate(t, example(t, "visitPercent: 0", "exact: true", "exactArgs: {checkOneIn: 1}")+setting, nil, objects...)
		theirs := simulate(t, builtin+setting, nil, objects...)
		today := simulate(t, example(t, "visitPercent: 0")+setting, nil, objects...)
		for range 25 {
			pod := w.pod()
			if w.chance(50) {
				w.plain(pod)
			}
			judge := &trial{T: t, ctx: ctx, framework: theirs.update(ctx, t)}
			all := testkit.Must(judge.framework.SnapshotSharedLister().NodeInfos().List())
			want := judge.rule(pod, all, nil)
			_, refusal := today.schedule(t, pod)
			node, err := ours.schedule(t, pod)
			if (err == nil) != (refusal == nil) || err != nil && len(all) > 0 && err.Error() != refusal.Error() {
				t.Fatalf("seed %d, pod %s: %v\nwithout exact: %v", seed, pod.Name, err, refusal)
			}
			if err != nil {
				continue
			}
			decisions++
			if got := want.scores[node].TotalScore; got != want.most {
				t.Fatalf("seed %d, pod %s: node %s of %d points, the best has %d", seed, pod.Name, node, got, want.most)
			}
			if w.chance(60) {
				placed := bound(pod.DeepCopy(), node)
				for _, sim := range []*simulation{ours, theirs, today} {
					testkit.Check(sim.Cache.AddPod(klog.FromContext(ctx), placed))
				}
			}
		}
	}
	got := changed(before, counters(t))
	exact := got[`cycles_total{mode="exact"}`]
	if got["exact_differences_total"] > 0 || got["exact_checks_total"] != exact || exact < float64(decisions)*.7 || decisions < int(seeds)*5 {
		t.Errorf("%d decisions, %v", decisions, got)
	}
	t.Logf("%d decisions, %v", decisions, got)
}
