package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

// strategy is a scoring strategy in the two forms.
type strategy struct {
	Type      string         `json:"type"`
	Resources []resourceSpec `json:"resources"`
	Ratio     *ratio         `json:"requestedToCapacityRatio,omitempty"`
}

type resourceSpec struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

type ratio struct {
	Shape []shapePoint `json:"shape"`
}

type shapePoint struct {
	Utilization int32 `json:"utilization"`
	Score       int32 `json:"score"`
}

func (s *strategy) specs() []config.ResourceSpec {
	var specs []config.ResourceSpec
	for _, r := range s.Resources {
		specs = append(specs, config.ResourceSpec{Name: r.Name, Weight: r.Weight})
	}
	return specs
}

// scoredNames are what strategies may name. Resources of a DeviceClass are not
// among them: NodeResourcesFit counts the devices in ResourceSlices for those.
var scoredNames = []string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "amd.com/gpu", "hugepages-2Mi",
	"attachable-volumes-csi-a", "ignored.example.com/a", "nobody.example.com/a", "unqualified"}

func (w *world) strategy(kind config.ScoringStrategyType) strategy {
	s := strategy{Type: string(kind)}
	for i, at := range w.Perm(len(scoredNames))[:1+w.IntN(5)] {
		r := resourceSpec{Name: scoredNames[at], Weight: 1 + w.Int64N(100)}
		if kind == balanced {
			r.Weight = 1
		}
		if i == 0 && w.chance(50) {
			r.Name = "cpu"
		}
		if !slices.ContainsFunc(s.Resources, func(x resourceSpec) bool { return x.Name == r.Name }) {
			s.Resources = append(s.Resources, r)
		}
	}
	if kind == config.RequestedToCapacityRatio {
		s.Ratio = &ratio{}
		for utilization := w.Int32N(20); utilization <= 100; utilization += 1 + w.Int32N(60) {
			s.Ratio.Shape = append(s.Ratio.Shape, shapePoint{utilization, w.Int32N(11)})
		}
	}
	return s
}

const balanced config.ScoringStrategyType = "BalancedAllocation"

// upstream are the built-in plugins that the plugin is compared with.
type upstream interface {
	fwk.PreScorePlugin
	fwk.ScorePlugin
}

// twins are the built-in plugins and ours with one configuration.
type twins struct {
	fit    *noderesources.Fit
	scorer upstream // fit, or a BalancedAllocation
	ours   *resvecfit.Plugin
	scores upstream // ours, or a Balanced
}

func newTwins(t *testing.T, s strategy, handle fwk.Handle) twins {
	t.Helper()
	ctx := context.Background()
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	args := &config.NodeResourcesFitArgs{
		IgnoredResources:      []string{"ignored.example.com/a"},
		IgnoredResourceGroups: []string{"group.example.com"},
		ScoringStrategy:       &config.ScoringStrategy{Type: config.ScoringStrategyType(s.Type)},
	}
	if args.ScoringStrategy.Resources = s.specs(); s.Type == string(balanced) {
		args.ScoringStrategy.Type = config.LeastAllocated
	}
	if s.Ratio != nil {
		args.ScoringStrategy.RequestedToCapacityRatio = &config.RequestedToCapacityRatioParam{}
		for _, p := range s.Ratio.Shape {
			args.ScoringStrategy.RequestedToCapacityRatio.Shape = append(args.ScoringStrategy.RequestedToCapacityRatio.Shape,
				config.UtilizationShapePoint{Utilization: p.Utilization, Score: p.Score})
		}
	}
	fit := testkit.Must(noderesources.NewFit(ctx, args, handle, gates))
	w := twins{fit: fit.(*noderesources.Fit), scorer: fit.(upstream)}
	document := map[string]any{"ignoredResources": args.IgnoredResources, "ignoredResourceGroups": args.IgnoredResourceGroups, "events": false}
	if s.Type != string(balanced) {
		document["scoring"] = []any{map[string]any{"kube": s}}
	}
	ours := testkit.Must(resvecfit.New(ctx, raw(t, document), handle))
	w.ours = ours.(*resvecfit.Plugin)
	w.scores = w.ours
	if s.Type == string(balanced) {
		w.scorer, w.scores = newBalanced(t, s, handle, false)
	}
	return w
}

// newBalanced returns the plugins for balanced allocation, the built-in one and ours.
func newBalanced(t *testing.T, s strategy, handle fwk.Handle, addToFit bool) (theirs, ours upstream) {
	t.Helper()
	ctx := context.Background()
	gates := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	builtin := testkit.Must(noderesources.NewBalancedAllocation(ctx, &config.NodeResourcesBalancedAllocationArgs{Resources: s.specs()}, handle, gates))
	plugin := testkit.Must(resvecfit.NewBalanced(ctx, raw(t, map[string]any{"resources": s.Resources, "addToFit": addToFit}), handle))
	return builtin.(upstream), plugin.(upstream)
}

// raw returns the arguments of a plugin as kube-scheduler hands them over.
func raw(t *testing.T, arguments any) *runtime.Unknown {
	t.Helper()
	text := testkit.Must(json.Marshal(arguments))
	return &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON}
}

// verdict is what a filter says, in a form to compare.
func verdict(s *fwk.Status) string {
	reasons := slices.Clone(reasonsOf(s))
	slices.Sort(reasons)
	return fmt.Sprintf("%v %q", s.Code(), reasons)
}

// TestEquivalence compares the plugin with the built-in ones: verdict, code and
// reasons of the filter, and the scores, for every pair of a random pod and a node
// of a random cluster, and for copies of nodes that hold other pods. RESVEC_PAIRS is
// how many pairs it looks at, and RESVEC_SEED the first seed of it and of TestSum.
func TestEquivalence(t *testing.T) {
	types := []config.ScoringStrategyType{config.LeastAllocated, config.MostAllocated, config.RequestedToCapacityRatio, balanced}
	var n counts
	pairs := int(min(testkit.Environment(t, "RESVEC_PAIRS", 200_000), math.MaxInt))
	for seed := testkit.Environment(t, "RESVEC_SEED", 1); n.pairs < pairs; seed++ {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), huge: seed%5 == 0}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { compareCluster(t, w, types[seed%4], &n) })
		if t.Failed() {
			break
		}
	}
	t.Logf("%+v", n)
	for what, count := range map[string]int{"fits": n.fits, "unschedulable": n.unschedulable, "unresolvable": n.unresolvable, "scores": n.scores, "copies": n.copies} {
		if count < n.pairs/200 {
			t.Errorf("%s: %d of %d pairs: the test looks at too few", what, count, n.pairs)
		}
	}
}

// counts says what the test has looked at.
type counts struct {
	pairs, fits, unschedulable, unresolvable, scores, copies int
}

// compareCluster compares the plugins on one cluster, which changes in between.
func compareCluster(t *testing.T, w *world, kind config.ScoringStrategyType, n *counts) {
	nodes, handle := w.cluster(t)
	twins := newTwins(t, w.strategy(kind), handle)
	for range len(nodes) * 2 {
		nodes[w.IntN(len(nodes))].AddPodInfo(newPodInfo(w.pod()))
	}
	for range 12 {
		twins.compare(t, w, w.pod(), nodes, n)
		for range w.IntN(4) {
			nodes[w.IntN(len(nodes))].AddPodInfo(newPodInfo(w.pod()))
		}
		if len(nodes) > 1 && w.chance(30) { // one is deleted, one is added
			i := w.IntN(len(nodes))
			nodes = slices.Delete(slices.Clone(nodes), i, i+1)
			if w.chance(50) {
				node := framework.NewNodeInfo()
				node.SetNode(w.node(1000 + w.pods))
				nodes = append(nodes, node)
			}
		}
	}
}

// cluster returns the snapshot of an idle cluster, and a framework for plugins.
func (w *world) cluster(t *testing.T) ([]fwk.NodeInfo, fwk.Handle) {
	t.Helper()
	var objects []*corev1.Node
	for i := range 1 + w.IntN([]int{5, 70, 500}[w.IntN(3)]) {
		objects = append(objects, w.node(i))
	}
	snapshot := cache.NewSnapshot(nil, objects)
	nodes := testkit.Must(snapshot.List())
	handle := testkit.Must(frameworkruntime.NewFramework(context.Background(), nil, nil,
		frameworkruntime.WithSnapshotSharedLister(snapshot), frameworkruntime.WithSharedDRAManager(classes{})))
	return nodes, handle
}

func newPodInfo(pod *corev1.Pod) fwk.PodInfo {
	return testkit.Must(framework.NewPodInfo(pod))
}

// compare compares the plugins for one pod.
func (x *twins) compare(t *testing.T, w *world, pod *corev1.Pod, nodes []fwk.NodeInfo, n *counts) {
	ctx := context.Background()
	theirs, ours := framework.NewCycleState(), framework.NewCycleState()
	if _, status := x.fit.PreFilter(ctx, theirs, pod, nodes); !status.IsSuccess() {
		t.Fatal(status)
	}
	result, status := x.ours.PreFilter(ctx, ours, pod, nodes)
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		name := node.Node().Name
		want := x.fit.Filter(ctx, theirs, pod, node)
		x.compareFilter(t, pod, node, want, x.ours.Filter(ctx, ours, pod, node))
		if !result.AllNodes() && !result.NodeNames.Has(name) && want.IsSuccess() {
			t.Fatalf("pod %s: node %s can hold it and is left out", pod.Name, name)
		}
		n.pairs++
		switch want.Code() {
		case fwk.Success:
			n.fits++
		case fwk.Unschedulable:
			n.unschedulable++
		default:
			n.unresolvable++
		}
		if w.chance(10) {
			n.copies++
			changed := node.Snapshot()
			if pods := changed.GetPods(); len(pods) > 0 && w.chance(50) {
				testkit.Check(changed.RemovePod(klog.Background(), pods[0].GetPod()))
			} else {
				changed.AddPodInfo(newPodInfo(w.pod()))
			}
			x.compareFilter(t, pod, changed, x.fit.Filter(ctx, theirs, pod, changed), x.ours.Filter(ctx, ours, pod, changed))
		}
	}
	for range 3 { // the same object, after it was looked at
		node := nodes[w.IntN(len(nodes))]
		node.AddPodInfo(newPodInfo(w.pod()))
		x.compareFilter(t, pod, node, x.fit.Filter(ctx, theirs, pod, node), x.ours.Filter(ctx, ours, pod, node))
	}
	if !w.huge {
		x.compareScores(t, w, theirs, ours, pod, nodes, n)
	}
}

func (x *twins) compareFilter(t *testing.T, pod *corev1.Pod, node fwk.NodeInfo, want, got *fwk.Status) {
	if verdict(want) != verdict(got) {
		t.Fatalf("pod %s, node %s: NodeResourcesFit says %s, ours %s\n%v\n%v", pod.Name, node.Node().Name,
			verdict(want), verdict(got), pod.Spec, node.Node().Status.Allocatable)
	}
}

func (x *twins) compareScores(t *testing.T, w *world, theirs, ours fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo, n *counts) {
	ctx := context.Background()
	want, got := x.scorer.PreScore(ctx, theirs, pod, nodes), x.scores.PreScore(ctx, ours, pod, nodes)
	if want.Code() != got.Code() {
		t.Fatalf("pod %s: PreScore says %v, ours %v", pod.Name, want, got)
	}
	if !want.IsSuccess() {
		return
	}
	same := func(node fwk.NodeInfo) {
		n.scores++
		want, status := x.scorer.Score(ctx, theirs, pod, node)
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		if got, status := x.scores.Score(ctx, ours, pod, node); !status.IsSuccess() || want != got {
			t.Fatalf("pod %s, node %s: score %d, ours %d %v\n%v\n%v", pod.Name, node.Node().Name, want, got, status, pod.Spec, node)
		}
	}
	for _, node := range nodes {
		same(node)
		if w.chance(10) {
			changed := node.Snapshot()
			changed.AddPodInfo(newPodInfo(w.pod()))
			same(changed)
		}
	}
}

// TestSum: where the scores of both plugins are added up, the sums of any two nodes
// differ by as much as with the built-in plugins.
func TestSum(t *testing.T) {
	types := []config.ScoringStrategyType{config.LeastAllocated, config.MostAllocated, config.RequestedToCapacityRatio}
	times := map[bool]int{}
	first := testkit.Environment(t, "RESVEC_SEED", 1)
	for seed := first; seed < first+100; seed++ {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 8))}
		nodes, handle := w.cluster(t)
		x := sums{twins: newTwins(t, w.strategy(types[seed%3]), handle)}
		x.builtin, x.added = newBalanced(t, w.strategy(balanced), handle, true)
		for range 5 {
			for range len(nodes) {
				nodes[w.IntN(len(nodes))].AddPodInfo(newPodInfo(w.pod()))
			}
			times[x.compare(t, w.pod(), nodes)]++
		}
	}
	t.Logf("added %d times, not added %d times", times[true], times[false])
	if times[true] < 100 || times[false] == 0 {
		t.Error("the test looks at too few")
	}
}

// sums are the plugins for both scores.
type sums struct {
	twins
	builtin, added upstream
}

// compare compares the sums of the nodes that can hold a pod. It reports whether
// ours are by fewer plugins.
func (x *sums) compare(t *testing.T, pod *corev1.Pod, nodes []fwk.NodeInfo) bool {
	t.Helper()
	ctx := context.Background()
	theirs, ours := framework.NewCycleState(), framework.NewCycleState()
	x.fit.PreFilter(ctx, theirs, pod, nodes)
	x.ours.PreFilter(ctx, ours, pod, nodes)
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(node fwk.NodeInfo) bool {
		return !x.fit.Filter(ctx, theirs, pod, node).IsSuccess()
	})
	want, most := total(t, theirs, pod, nodes, x.scorer, x.builtin)
	got, plugins := total(t, ours, pod, nodes, x.scores, x.added)
	for i, node := range nodes {
		if got[i]-got[0] != want[i]-want[0] {
			t.Fatalf("pod %s: nodes %s and %s differ by %d, ours by %d", pod.Name, nodes[0].Node().Name, node.Node().Name,
				want[i]-want[0], got[i]-got[0])
		}
	}
	return plugins < most
}

// total returns the sum of the scores of each node, and by how many plugins.
func total(t *testing.T, cycle fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo, plugins ...upstream) ([]int64, int) {
	t.Helper()
	ctx := context.Background()
	plugins = slices.DeleteFunc(plugins, func(plugin upstream) bool {
		status := plugin.PreScore(ctx, cycle, pod, nodes)
		if !status.IsSuccess() && !status.IsSkip() {
			t.Fatal(status)
		}
		return status.IsSkip()
	})
	sums := make([]int64, len(nodes))
	for i, node := range nodes {
		for _, plugin := range plugins {
			score, status := plugin.Score(ctx, cycle, pod, node)
			if !status.IsSuccess() || score < fwk.MinScore || score > fwk.MaxScore {
				t.Fatal(score, status)
			}
			sums[i] += score
		}
	}
	return sums, len(plugins)
}

func reasonsOf(s *fwk.Status) []string {
	if s == nil {
		return nil
	}
	return s.Reasons()
}
