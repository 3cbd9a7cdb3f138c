package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

// replacing is the configuration of the example with PodTopologySpread and InterPodAffinity
// replaced, as the README says.
func replacing(t testing.TB, arguments ...string) string {
	t.Helper()
	_, section, _ := strings.Cut(string(testkit.Must(os.ReadFile("README.md"))), "## Spreading and pod affinity\n")
	_, rest, _ := strings.Cut(section, "```yaml\n")
	plugins, _, _ := strings.Cut(rest, "```\n")
	text := example(t, arguments...)
	_, rest, _ = strings.Cut(text, "    multiPoint:\n")
	lists, _, _ := strings.Cut(rest, "    filter:")
	return replaced(t, text, "    multiPoint:\n"+lists, plugins)
}

// TestReplacing: with the README's configuration the plugins run behind ResvecFit, those that
// they replace nowhere, and pods are spread.
func TestReplacing(t *testing.T) {
	objects := append(emptyZone("a", 2), emptyZone("b", 2)...)
	objects = append(objects, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}})
	for _, object := range objects {
		if node, ok := object.(*corev1.Node); ok {
			node.Labels[corev1.LabelHostname], node.Labels[corev1.LabelTopologyZone] = node.Name, node.Labels["zone"]
		}
	}
	sim := simulate(t, replacing(t), nil, objects...)
	plugins := sim.Profiles["default-scheduler"].ListPlugins()
	ours := []string{resvecfit.TopologySpreadName, resvecfit.InterPodAffinityName}
	for point, set := range map[string]config.PluginSet{"preFilter": plugins.PreFilter, "filter": plugins.Filter, "preScore": plugins.PreScore, "score": plugins.Score} {
		names := namesOf(set)
		if slices.Contains(names, "PodTopologySpread") || slices.Contains(names, "InterPodAffinity") {
			t.Errorf("%s: %v", point, names)
		}
		for _, name := range ours {
			if slices.Index(names, resvecfit.Name) > slices.Index(names, name) {
				t.Errorf("%s: %v", point, names)
			}
		}
	}
	sim.run(t)
	for i := range 4 {
		pod := aPod(fmt.Sprint("web-", i), 0, "cpu=100m")
		pod.Labels = map[string]string{"app": "web"}
		sim.create(t, pod)
		eventually(t, "a pod is placed", func() bool { return sim.pods(t)[pod.Name] != "" })
	}
	if on := slices.Compact(slices.Sorted(maps.Values(sim.pods(t)))); len(on) != 4 {
		t.Errorf("four pods of a service are on %v", on)
	}
}

// counted says what TestReplacements has looked at.
type counted struct {
	decisions, statuses, skips, faults, scores, zeros, moves, victims, placed, unplaced int
	reasons                                                                             map[string]int
	events, queued, queuedMore                                                          int
	late                                                                                int // decisions that waited for events
}

// TestReplacements compares the plugins that replace PodTopologySpread and InterPodAffinity
// with these, in random clusters that change: each method of each plugin by itself, then
// preemption and whole cycles of a profile with them. RESVEC_LONG makes it 20,000 decisions,
// RESVEC_SEED is the first seed.
func TestReplacements(t *testing.T) {
	decisions := 300
	if os.Getenv("RESVEC_LONG") != "" {
		decisions = 20_000
	}
	n := counted{reasons: map[string]int{}}
	for seed := testkit.Environment(t, "RESVEC_SEED", 1); n.decisions < decisions; seed++ {
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { newStage(t, seed, &n).run() }) {
			break
		}
	}
	t.Logf("%+v", n)
	if t.Failed() {
		return
	}
	for _, reason := range []string{
		podtopologyspread.ErrReasonNodeLabelNotMatch, podtopologyspread.ErrReasonConstraintsNotMatch, interpodaffinity.ErrReasonAffinityRulesNotMatch,
		interpodaffinity.ErrReasonAntiAffinityRulesNotMatch, interpodaffinity.ErrReasonExistingAntiAffinityRulesNotMatch,
	} {
		if n.reasons[reason] == 0 {
			t.Errorf("no node was refused since %q", reason)
		}
	}
	for what, count := range map[string]int{
		"skips": n.skips, "scores": n.scores, "moves": n.moves, "victims": n.victims, "placed": n.placed, "queued": n.queued,
	} {
		if count < n.decisions/5 {
			t.Errorf("%s: %d in %d decisions: the test looks at too few", what, count, n.decisions)
		}
	}
	if n.late > n.decisions/10 {
		t.Errorf("%d of %d decisions waited for events", n.late, n.decisions)
	}
	if n.faults == 0 || n.zeros == 0 || n.unplaced == 0 || n.queuedMore > n.events/4 {
		t.Error("a dull test")
	}
}

// whole is a plugin of all the points that the two have.
type whole interface {
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.PreScorePlugin
	fwk.ScorePlugin
	fwk.SignPlugin
	fwk.EnqueueExtensions
}

// stage is a cluster with a scheduler of two profiles, and the plugins once more, to be asked
// alone.
type stage struct {
	*town
	*testing.T
	ctx context.Context
	n   *counted
	sim *simulation

	stock, ours framework.Framework
	fit         fwk.PreFilterPlugin
	pairs       [2]struct{ theirs, ours whole }

	nodes  []*corev1.Node
	placed []*corev1.Pod
	told   time.Time // when an object that selects pods has changed
	broken bool      // the pod that arrived has a selector that can't be parsed
}

func newStage(t *testing.T, seed uint64, n *counted) *stage {
	x := &stage{town: &town{Rand: rand.New(rand.NewPCG(seed, 12))}, T: t, n: n, ctx: klog.NewContext(context.Background(), logr.Discard())}
	spread, affinity := map[string]any{}, map[string]any{}
	if x.chance(50) {
		list := []corev1.TopologySpreadConstraint{}
		for _, key := range x.some(corev1.LabelTopologyZone, corev1.LabelHostname, rackKey) {
			c := x.constraint()
			c.TopologyKey, c.LabelSelector, c.MatchLabelKeys, c.MinDomains = key, nil, nil, nil
			list = append(list, c)
		}
		spread = map[string]any{"defaultingType": "List", "defaultConstraints": list}
		affinity = map[string]any{"hardPodAffinityWeight": []int{0, 1, 7, 100}[x.IntN(4)], "ignorePreferredTermsOfExistingPods": x.chance(50)}
	}
	text := replacing(t, "visitPercent: 0")
	for name, args := range map[string]any{resvecfit.TopologySpreadName: spread, resvecfit.InterPodAffinityName: affinity} {
		text += fmt.Sprintf("  - {name: %s, args: %s}\n", name, testkit.Must(json.Marshal(args)))
	}
	text += "- schedulerName: stock\n  pluginConfig:\n"
	for name, args := range map[string]any{"PodTopologySpread": spread, "InterPodAffinity": affinity} {
		text += fmt.Sprintf("  - {name: %s, args: %s}\n", name, testkit.Must(json.Marshal(args)))
	}
	text += "percentageOfNodesToScore: 100\n"
	var objects []runtime.Object
	for _, name := range spaces[:3] {
		objects = append(objects, x.namespace(name))
	}
	x.sim = simulate(t, text, nil, objects...)
	x.stock, x.ours = x.sim.Profiles["stock"], x.sim.Profiles[corev1.DefaultSchedulerName]
	x.fit = testkit.Must(resvecfit.New(x.ctx, raw(t, map[string]any{"visitPercent": 0, "events": false}), x.ours)).(fwk.PreFilterPlugin)
	x.pairs[0].ours = testkit.Must(resvecfit.NewTopologySpread(x.ctx, raw(t, spread), x.ours)).(whole)
	x.pairs[1].ours = testkit.Must(resvecfit.NewInterPodAffinity(x.ctx, raw(t, affinity), x.ours)).(whole)
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	for _, profile := range loadConfig(t, text).Profiles {
		for _, plugin := range profile.PluginConfig {
			switch args := plugin.Args.(type) {
			case *config.PodTopologySpreadArgs:
				if profile.SchedulerName == "stock" {
					x.pairs[0].theirs = testkit.Must(podtopologyspread.New(x.ctx, args, x.stock, gates)).(whole)
				}
			case *config.InterPodAffinityArgs:
				if profile.SchedulerName == "stock" {
					x.pairs[1].theirs = testkit.Must(interpodaffinity.New(x.ctx, args, x.stock, gates)).(whole)
				}
			}
		}
	}
	return x
}

func (x *stage) run() {
	for range x.IntN(10) {
		x.tell(x.group().(runtime.Object))
	}
	for range 1 + x.IntN([]int{3, 8, 20, 60}[x.IntN(4)]) {
		x.addNode()
	}
	for range x.IntN(1 + 4*len(x.nodes)) {
		x.place(x.town.pod(), x.nodes[x.IntN(len(x.nodes))].Name)
	}
	for range 25 {
		for range x.IntN(4) {
			x.happen()
		}
		x.decide(x.arriving())
	}
}

// arriving returns a pod to be scheduled, seldom with a term that can't be parsed.
func (x *stage) arriving() *corev1.Pod {
	pod := x.town.pod()
	priority := int32(50)
	pod.Spec.Priority = &priority
	if x.chance(50) {
		x.plain(pod)
	}
	broken := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn}}}
	a := pod.Spec.Affinity
	x.broken = true
	switch k := x.IntN(100); {
	case k < 4 && len(pod.Spec.TopologySpreadConstraints) > 0:
		pod.Spec.TopologySpreadConstraints[x.IntN(len(pod.Spec.TopologySpreadConstraints))].LabelSelector = broken
	case k < 8 && a != nil && a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0:
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector = broken
	case k < 12 && a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0:
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = broken
	default:
		x.broken = false
	}
	return pod
}

// happen has one thing happen.
func (x *stage) happen() {
	cache := x.sim.Cache
	switch k := x.IntN(100); {
	case k < 40 || len(x.placed) == 0:
		x.place(x.town.pod(), x.nodes[x.IntN(len(x.nodes))].Name)
	case k < 55:
		i := x.IntN(len(x.placed))
		testkit.Check(cache.RemovePod(logr.Discard(), x.placed[i]))
		x.placed = slices.Delete(x.placed, i, i+1)
	case k < 70:
		i := x.IntN(len(x.placed))
		pod := x.placed[i].DeepCopy()
		if pod.Labels = x.labels(); x.chance(30) {
			pod.DeletionTimestamp = &metav1.Time{}
		}
		testkit.Check(cache.UpdatePod(logr.Discard(), x.placed[i], pod))
		x.placed[i] = pod
	case k < 80:
		i := x.IntN(len(x.nodes))
		node := x.nodes[i].DeepCopy()
		x.change(node)
		cache.UpdateNode(logr.Discard(), x.nodes[i], node)
		x.nodes[i] = node
	case k < 85:
		x.addNode()
	case k < 88 && len(x.nodes) > 1:
		i := x.IntN(len(x.nodes))
		testkit.Check(cache.RemoveNode(logr.Discard(), x.nodes[i]))
		x.nodes = slices.Delete(x.nodes, i, i+1)
	case k < 93:
		x.tell(x.namespace(x.pick(spaces[:3]...)))
	default:
		x.tell(x.group().(runtime.Object))
	}
}

func (x *stage) addNode() {
	node := x.node(x.name("node"))
	x.sim.Cache.AddNode(logr.Discard(), node)
	x.nodes = append(x.nodes, node)
}

func (x *stage) place(pod *corev1.Pod, node string) {
	pod = bound(pod.DeepCopy(), node)
	priority := x.Int32N(100)
	pod.Spec.Priority = &priority
	if x.chance(10) {
		pod.DeletionTimestamp = &metav1.Time{}
	}
	testkit.Check(x.sim.Cache.AddPod(logr.Discard(), pod))
	x.placed = append(x.placed, pod)
}

// tell adds an object, replaces it, or deletes it where it is there.
func (x *stage) tell(object runtime.Object) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	testkit.Check(err)
	resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
	o := object.(metav1.Object)
	tracker := x.sim.client.Tracker()
	x.told = time.Now()
	switch _, err := tracker.Get(resource, o.GetNamespace(), o.GetName()); {
	case err != nil:
		testkit.Check(tracker.Create(resource, object, o.GetNamespace()))
	case x.chance(40):
		testkit.Check(tracker.Delete(resource, o.GetNamespace(), o.GetName()))
	default:
		testkit.Check(tracker.Update(resource, object, o.GetNamespace()))
	}
}

// decide compares all that is said about a pod. What selects pods comes to the plugins by
// events, which take a moment: then they are asked again.
func (x *stage) decide(pod *corev1.Pod) {
	x.sim.update(x.ctx, x)
	nodes := testkit.Must(x.ours.SnapshotSharedLister().NodeInfos().List())
	x.n.decisions++
	seed := x.Uint64()
	difference := x.compare(pod, nodes, seed)
	if difference != "" {
		x.n.late++
	}
	for difference != "" && time.Since(x.told) < 10*time.Second {
		time.Sleep(5 * time.Millisecond)
		difference = x.compare(pod, nodes, seed)
	}
	if difference != "" {
		x.Fatalf("decision %d, pod %s: %s\n%s", x.n.decisions, pod.Name, difference, testkit.Must(json.Marshal(pod)))
	}
	x.compareHints(pod)
}

// compare compares what plugins say of a pod.
func (x *stage) compare(pod *corev1.Pod, nodes []fwk.NodeInfo, seed uint64) string {
	w := &town{Rand: rand.New(rand.NewPCG(seed, 1))}
	ours := framework.NewCycleState()
	if _, status := x.fit.PreFilter(x.ctx, ours, pod, nodes); !status.IsSuccess() {
		x.Fatal(status)
	}
	var passed [2]fwk.CycleState
	var failed [2]bool
	for k, pair := range x.pairs {
		theirs := framework.NewCycleState()
		_, want := pair.theirs.PreFilter(x.ctx, theirs, pod, nodes)
		_, got := pair.ours.PreFilter(x.ctx, ours, pod, nodes)
		if verdict(want) != verdict(got) {
			return fmt.Sprintf("%s at preFilter: %s, ours %s", pair.theirs.Name(), verdict(want), verdict(got))
		}
		switch {
		case want.IsSkip():
			x.n.skips++
		case want.IsSuccess():
			passed[k] = theirs
		default:
			x.n.faults++
			failed[k] = true
		}
	}
	for k, pair := range x.pairs {
		if passed[k] == nil {
			continue
		}
		same := func(theirs, ours fwk.CycleState) string {
			for _, node := range nodes {
				want, got := pair.theirs.Filter(x.ctx, theirs, pod, node), pair.ours.Filter(x.ctx, ours, pod, node)
				if verdict(want) != verdict(got) {
					return fmt.Sprintf("%s, node %s: %s, ours %s", pair.theirs.Name(), node.Node().Name, verdict(want), verdict(got))
				}
				x.n.statuses++
				for _, reason := range reasonsOf(want) {
					x.n.reasons[reason]++
				}
			}
			return ""
		}
		if difference := same(passed[k], ours); difference != "" {
			return difference
		}
		for range 2 {
			if difference := x.move(w, pair.theirs, pair.ours, passed[k].Clone(), ours.Clone(), pod, nodes, same); difference != "" {
				return difference
			}
		}
		if difference := same(passed[k], ours); difference != "" {
			return "after moves in copies: " + difference
		}
	}
	some := slices.DeleteFunc(slices.Clone(nodes), func(fwk.NodeInfo) bool { return w.chance(40) })
	for k := range x.pairs {
		if failed[k] {
			continue
		}
		for _, list := range [][]fwk.NodeInfo{nodes, some} {
			if difference := x.compareScores(k, ours, pod, list); difference != "" {
				return difference
			}
		}
		theirs, ours := x.pairs[k].theirs, x.pairs[k].ours
		want, status := theirs.SignPod(x.ctx, pod)
		got, own := ours.SignPod(x.ctx, pod)
		if verdict(status) != verdict(own) || fmt.Sprint(want) != fmt.Sprint(got) {
			return fmt.Sprintf("%s signs %v %v, ours %v %v", theirs.Name(), want, status, got, own)
		}
	}
	if x.broken {
		return ""
	}
	return x.compareCycles(pod, nodes)
}

// move compares what filters say while pods come to a node and go.
func (x *stage) move(w *town, theirs, ours whole, theirState, ourState fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo,
	same func(theirs, ours fwk.CycleState) string) string {
	if len(nodes) == 0 {
		return ""
	}
	node := nodes[w.IntN(len(nodes))].Snapshot()
	story := ""
	for range 1 + w.IntN(3) {
		x.n.moves++
		var want, got *fwk.Status
		if pods := node.GetPods(); len(pods) > 0 && w.chance(50) {
			gone := pods[w.IntN(len(pods))]
			story += fmt.Sprintf("; pod %s leaves %s", gone.GetPod().Name, node.Node().Name)
			testkit.Check(node.RemovePod(logr.Discard(), gone.GetPod()))
			want = theirs.PreFilterExtensions().RemovePod(x.ctx, theirState, pod, gone, node)
			got = ours.PreFilterExtensions().RemovePod(x.ctx, ourState, pod, gone, node)
		} else {
			come := newPodInfo(bound(w.pod(), node.Node().Name))
			story += fmt.Sprintf("; pod %s comes to %s", testkit.Must(json.Marshal(come.GetPod())), node.Node().Name)
			node.AddPodInfo(come)
			want = theirs.PreFilterExtensions().AddPod(x.ctx, theirState, pod, come, node)
			got = ours.PreFilterExtensions().AddPod(x.ctx, ourState, pod, come, node)
		}
		if verdict(want) != verdict(got) {
			return fmt.Sprintf("%s: %s, ours %s%s", theirs.Name(), verdict(want), verdict(got), story)
		}
		if difference := same(theirState, ourState); difference != "" {
			return difference + story
		}
	}
	return ""
}

func (x *stage) compareScores(k int, ours fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) string {
	pair, theirs := x.pairs[k], framework.NewCycleState()
	want, got := pair.theirs.PreScore(x.ctx, theirs, pod, nodes), pair.ours.PreScore(x.ctx, ours, pod, nodes)
	if verdict(want) != verdict(got) {
		return fmt.Sprintf("%s at preScore: %s, ours %s", pair.theirs.Name(), verdict(want), verdict(got))
	}
	if !want.IsSuccess() {
		return ""
	}
	lists := [2]fwk.NodeScoreList{}
	for _, node := range nodes {
		want, status := pair.theirs.Score(x.ctx, theirs, pod, node)
		got, own := pair.ours.Score(x.ctx, ours, pod, node)
		if !status.IsSuccess() || !own.IsSuccess() || want != got {
			return fmt.Sprintf("%s scores %s %d %v, ours %d %v", pair.theirs.Name(), node.Node().Name, want, status, got, own)
		}
		lists[0] = append(lists[0], fwk.NodeScore{Name: node.Node().Name, Score: want})
		lists[1] = append(lists[1], fwk.NodeScore{Name: node.Node().Name, Score: got})
		x.n.scores++
	}
	status := pair.theirs.ScoreExtensions().NormalizeScore(x.ctx, theirs, pod, lists[0])
	own := pair.ours.ScoreExtensions().NormalizeScore(x.ctx, ours, pod, lists[1])
	if !status.IsSuccess() || !own.IsSuccess() || !slices.Equal(lists[0], lists[1]) {
		return fmt.Sprintf("%s normalizes %v %v, ours %v %v", pair.theirs.Name(), lists[0], status, lists[1], own)
	}
	for _, score := range lists[0] {
		if k == 0 && score.Score == 0 {
			x.n.zeros++
		}
	}
	return ""
}

// compareCycles compares the profiles: which pods would be preempted on which node, and
// where a whole cycle puts the pod.
func (x *stage) compareCycles(pod *corev1.Pod, nodes []fwk.NodeInfo) string {
	theirs, ours := framework.NewCycleState(), framework.NewCycleState()
	_, want, _ := x.stock.RunPreFilterPlugins(x.ctx, theirs, pod)
	_, got, _ := x.ours.RunPreFilterPlugins(x.ctx, ours, pod)
	if want.Code() != got.Code() {
		return fmt.Sprintf("the profile at preFilter: %v, ours %v", want, got)
	}
	if !want.IsSuccess() || len(nodes) == 0 {
		return ""
	}
	refused := slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool {
		return x.stock.RunFilterPlugins(x.ctx, theirs, pod, node).IsSuccess()
	})
	victims, own := x.victims(x.stock, theirs, pod, refused), x.victims(x.ours, ours, pod, refused)
	if victims != own {
		return fmt.Sprintf("victims are %s, ours %s", victims, own)
	}
	x.n.victims += strings.Count(victims, ":")
	totals := x.totals(theirs, pod, nodes)
	result, err := x.sim.SchedulePod(x.ctx, x.ours, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: testkit.Must(framework.NewPodInfo(pod))})
	switch {
	case len(totals) == 0 && err != nil:
		x.n.unplaced++
	case len(totals) == 0 || err != nil:
		return fmt.Sprintf("feasible nodes are %v, ours: %v %v", totals, result, err)
	case totals[result.SuggestedHost] != slices.Max(slices.Collect(maps.Values(totals))):
		return fmt.Sprintf("totals are %v, ours chooses %s", totals, result.SuggestedHost)
	default:
		x.n.placed++
	}
	return ""
}

// victims returns the pods to be preempted on each node where that makes room.
func (x *stage) victims(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) string {
	if len(nodes) == 0 {
		return ""
	}
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	args := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 1000}
	plugin := testkit.Must(defaultpreemption.New(x.ctx, args, profile, gates))
	candidates, _, err := plugin.Evaluator.DryRunPreemption(x.ctx, state, pod, nodes, nil, 0, int32(len(nodes)))
	found := make([]string, 0, len(nodes))
	for _, c := range candidates {
		var names []string
		for _, victim := range c.Victims().Pods {
			names = append(names, victim.Name)
		}
		slices.Sort(names)
		found = append(found, c.Name()+": "+strings.Join(names, " "))
	}
	slices.Sort(found)
	return fmt.Sprint(found, err)
}

// totals returns the scores of the feasible nodes by the stock profile.
func (x *stage) totals(state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) map[string]int64 {
	feasible := slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool {
		return !x.stock.RunFilterPlugins(x.ctx, state, pod, node).IsSuccess()
	})
	totals := map[string]int64{}
	if len(feasible) == 0 {
		return totals
	}
	testkit.Check(x.stock.RunPreScorePlugins(x.ctx, state, pod, feasible).AsError())
	scores, status := x.stock.RunScorePlugins(x.ctx, state, pod, feasible)
	testkit.Check(status.AsError())
	for i := range scores {
		totals[scores[i].Name] = scores[i].TotalScore
	}
	return totals
}

// compareHints asks for which events a pod is tried again: for each that the built-in plugin
// names, too.
func (x *stage) compareHints(pod *corev1.Pod) {
	const assigned, target = fwk.EventResource("AssignedPod"), fwk.EventResource("TargetPod")
	other := bound(x.town.pod(), "somewhere")
	if x.chance(70) {
		other.Namespace = pod.Namespace
	}
	if x.chance(10) {
		other.Spec.NodeName = ""
	}
	changed := other.DeepCopy()
	changed.Labels = x.labels()
	own := pod.DeepCopy()
	own.Labels, own.Spec.Tolerations = x.labels(), append(own.Spec.Tolerations, x.toleration())
	node := x.node("new")
	renewed := node.DeepCopy()
	x.change(renewed)
	for _, e := range []struct {
		resource    fwk.EventResource
		action      fwk.ActionType
		before, now any
	}{
		{assigned, fwk.Add, nil, other}, {assigned, fwk.Delete, other, nil}, {assigned, fwk.UpdatePodLabel, other, changed},
		{target, fwk.UpdatePodLabel, pod, own}, {target, fwk.UpdatePodToleration, pod, own},
		{fwk.Node, fwk.Add, nil, node}, {fwk.Node, fwk.Delete, node, nil},
		{fwk.Node, fwk.UpdateNodeLabel, node, renewed}, {fwk.Node, fwk.UpdateNodeTaint, node, renewed},
	} {
		for _, pair := range x.pairs {
			want, got := x.queues(pair.theirs, e.resource, e.action, pod, e.before, e.now), x.queues(pair.ours, e.resource, e.action, pod, e.before, e.now)
			if want && !got {
				x.Fatalf("%s has pod %s tried again after %v of %s, ours not\n%+v\n%+v\n%+v", pair.theirs.Name(), pod.Name, e.action, e.resource,
					testkit.Must(json.Marshal(pod)), testkit.Must(json.Marshal(e.before)), testkit.Must(json.Marshal(e.now)))
			}
			x.n.events++
			if want {
				x.n.queued++
			} else if got {
				x.n.queuedMore++
			}
		}
	}
}

// queues reports whether a plugin has a pod tried again after an event.
func (x *stage) queues(plugin whole, resource fwk.EventResource, action fwk.ActionType, pod *corev1.Pod, before, now any) bool {
	for _, e := range testkit.Must(plugin.EventsToRegister(x.ctx)) {
		of := e.Event.Resource
		if of != resource && !(of == fwk.Pod && resource != fwk.Node) || e.Event.ActionType&action == 0 {
			continue
		}
		if hint, _ := e.QueueingHintFn(logr.Discard(), pod, before, now); hint == fwk.Queue {
			return true
		}
	}
	return false
}
