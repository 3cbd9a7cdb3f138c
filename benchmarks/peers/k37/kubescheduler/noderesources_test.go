package kubescheduler

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// noClasses is a cluster without device classes.
type noClasses struct{ fwk.SharedDRAManager }

func (c noClasses) DeviceClassResolver() fwk.DeviceClassResolver                  { return c }
func (noClasses) GetDeviceClass(name corev1.ResourceName) *resourcev1.DeviceClass { return nil }

func newHandle(t testing.TB) fwk.Handle {
	t.Helper()
	handle, err := frameworkruntime.NewFramework(context.Background(), nil, nil, frameworkruntime.WithSharedDRAManager(noClasses{}))
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

// kubePlugin is a plugin of kube-scheduler that scores.
type kubePlugin interface {
	fwk.PreScorePlugin
	fwk.ScorePlugin
}

// kubeScorers are NodeResourcesFit or NodeResourcesBalancedAllocation and the same here.
type kubeScorers struct {
	fit    *noderesources.Fit
	plugin kubePlugin
	ours   *scoring.Kube
}

var kubeTypes = []scoring.ScoringType{scoring.LeastAllocated, scoring.MostAllocated, scoring.RequestedToCapacityRatio, scoring.BalancedAllocation}

func newKubeScorers(t testing.TB, handle fwk.Handle, cfg scoring.KubeConfig, m *vectormap.ResourceVectorMap) *kubeScorers {
	t.Helper()
	ctx, gates := context.Background(), feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	strategy := &config.ScoringStrategy{Type: config.ScoringStrategyType(cfg.Type)}
	for _, r := range cfg.Resources {
		strategy.Resources = append(strategy.Resources, config.ResourceSpec{Name: r.Name, Weight: r.Weight})
	}
	balanced := &config.NodeResourcesBalancedAllocationArgs{Resources: strategy.Resources}
	switch cfg.Type {
	case scoring.RequestedToCapacityRatio:
		strategy.RequestedToCapacityRatio = &config.RequestedToCapacityRatioParam{}
		for _, p := range cfg.Shape {
			strategy.RequestedToCapacityRatio.Shape = append(strategy.RequestedToCapacityRatio.Shape, config.UtilizationShapePoint{Utilization: int32(p.Utilization), Score: int32(p.Score)})
		}
	case scoring.BalancedAllocation:
		strategy = &config.ScoringStrategy{Type: config.LeastAllocated, Resources: strategy.Resources}
	}
	plugin, err := noderesources.NewFit(ctx, &config.NodeResourcesFitArgs{ScoringStrategy: strategy}, handle, gates)
	if err != nil {
		t.Fatal(err)
	}
	s := &kubeScorers{fit: plugin.(*noderesources.Fit), plugin: plugin.(kubePlugin)}
	if cfg.Type == scoring.BalancedAllocation {
		if plugin, err = noderesources.NewBalancedAllocation(ctx, balanced, handle, gates); err != nil {
			t.Fatal(err)
		}
		s.plugin = plugin.(kubePlugin)
	}
	if s.ours, err = scoring.CompileKube(cfg, m); err != nil {
		t.Fatal(err)
	}
	return s
}

// podAmounts are what kube-scheduler compares with a node, and what it scores with:
// NodeResourcesFit with least amounts per container, whatever the pod as a whole
// requests, NodeResourcesBalancedAllocation with what is compared.
func (s *kubeScorers) podAmounts(t testing.TB, m *vectormap.ResourceVectorMap, pod *corev1.Pod) (compared, scored vector.ResourceVector) {
	t.Helper()
	compared = podVector(t, m, pod, vectormap.PodOptions{})
	if s.plugin != kubePlugin(s.fit) {
		return compared, compared
	}
	return compared, podVector(t, m, pod, vectormap.PodOptions{KubeScoringDefaults: true, SkipPodLevelResources: true})
}

func podVector(t testing.TB, m *vectormap.ResourceVectorMap, pod *corev1.Pod, options vectormap.PodOptions) vector.ResourceVector {
	t.Helper()
	v, err := m.PodRequest(nil, pod, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// kubeCluster are nodes with pods in both forms.
type kubeCluster struct {
	m     *vectormap.ResourceVectorMap
	infos []fwk.NodeInfo
	nodes *vector.Nodes // scored with least amounts per container
	plain *vector.Nodes // scored with what is compared
}

func newKubeCluster(t testing.TB, m *vectormap.ResourceVectorMap, nodes []*corev1.Node, pods [][]*corev1.Pod) *kubeCluster {
	t.Helper()
	c := &kubeCluster{m: m, nodes: m.NewNodes(), plain: m.NewNodes()}
	for i, node := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(node)
		requested, scored := m.NewVector(), m.NewVector()
		for _, pod := range pods[i] {
			// Of a pod with a fractional amount of its own, component-helpers add the overhead
			// to that amount: each side gets a pod for itself.
			podInfo, err := framework.NewPodInfo(pod.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			info.AddPodInfo(podInfo)
			requested.Add(podVector(t, m, pod, vectormap.PodOptions{}))
			scored.Add(podVector(t, m, pod, vectormap.PodOptions{KubeScoringDefaults: true}))
		}
		c.infos = append(c.infos, info)
		allocatable, err := m.NodeAllocatable(nil, node, nil)
		if err != nil {
			t.Fatal(err)
		}
		for nodes, used := range map[*vector.Nodes]vector.ResourceVector{c.plain: requested, c.nodes: scored} {
			if _, _, err := nodes.Set(node.Name, 1, vector.NodeAmounts{Allocatable: allocatable, Requested: used}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// scoredNodes are those with the amounts that s scores with.
func (c *kubeCluster) scoredNodes(s *kubeScorers) *vector.Nodes {
	if s.plugin != kubePlugin(s.fit) {
		return c.plain
	}
	return c.nodes
}

// compare compares verdicts and scores of all nodes for a pod.
func (c *kubeCluster) compare(t testing.TB, s *kubeScorers, pod *corev1.Pod, counts map[string]int) error {
	ctx, cycle := context.Background(), framework.NewCycleState()
	if _, status := s.fit.PreFilter(ctx, cycle, pod.DeepCopy(), c.infos); !status.IsSuccess() {
		return status.AsError()
	}
	compared, scored := s.podAmounts(t, c.m, pod)
	var fits vector.Mask
	vector.Fit(&fits, c.plain.Free(), compared)
	for i, info := range c.infos {
		if status := s.fit.Filter(ctx, cycle, pod.DeepCopy(), info); status.IsSuccess() != fits.Test(i) {
			return fmt.Errorf("node %v with %v: NodeResourcesFit says %v, ours %t for %v", info.Node().Status.Allocatable, info.GetRequested(), status, fits.Test(i), compared)
		}
		counts[fmt.Sprintf("fits=%t", fits.Test(i))]++
	}
	scores := make([]int64, len(c.infos))
	if err := scoring.Bind(s.ours, c.scoredNodes(s)).ScorePercent(scores, vector.PodAmounts{Requested: scored}, nil); err != nil {
		return err
	}
	if status := s.plugin.PreScore(ctx, cycle, pod.DeepCopy(), c.infos); status.IsSkip() {
		counts["skipped"]++ // the same as 0 for every node
		if slices.Max(scores) != 0 {
			return fmt.Errorf("scores %v where kube-scheduler gives none", scores)
		}
		return nil
	} else if !status.IsSuccess() {
		return status.AsError()
	}
	for i, info := range c.infos {
		want, status := s.plugin.Score(ctx, cycle, pod.DeepCopy(), info)
		if !status.IsSuccess() {
			return status.AsError()
		}
		if want != scores[i] {
			return fmt.Errorf("node %v with %v: score %d, ours %d for %v", info.Node().Status.Allocatable, info.GetRequested(), want, scores[i], scored)
		}
		counts["scores"]++
	}
	return nil
}

// kubeQuantity returns an amount of a resource, of a node or a container: often small
// against the amounts of nodes, sometimes with a suffix or a fraction of its own.
func kubeQuantity(r peer.Random, name corev1.ResourceName, most int64) resource.Quantity {
	if r.Chance(15) {
		if q := r.Quantity(); q.CmpInt64(1<<40) < 0 {
			return q
		}
	}
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(r.Int64N(500*most), resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "hugepages-2Mi":
		return *resource.NewQuantity(r.Int64N(most)<<30+r.Int64N(2)*r.Int64N(1<<30), resource.BinarySI)
	}
	return *resource.NewQuantity(r.Int64N(most), resource.DecimalSI)
}

// whole returns an amount of a node in the unit of the scheduler. It rounds fractions of
// what a node has up; here they are rounded down (docs/upstreams.md).
func whole(name corev1.ResourceName, q resource.Quantity) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI)
	}
	return *resource.NewQuantity(q.Value(), resource.BinarySI)
}

func randomPod(r peer.Random) *corev1.Pod {
	return r.Pod("pod", func() corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range peer.Names {
			if name != corev1.ResourcePods && r.Chance(25) {
				list[name] = kubeQuantity(r, name, 8)
			}
		}
		return list
	})
}

func randomKubeConfig(r peer.Random) scoring.KubeConfig {
	cfg := scoring.KubeConfig{Type: kubeTypes[r.IntN(len(kubeTypes))]}
	names := slices.DeleteFunc(slices.Clone(peer.Names), func(name corev1.ResourceName) bool { return name == corev1.ResourcePods })
	for _, at := range r.Perm(len(names))[:1+r.IntN(4)] {
		weight := 1 + r.Int64N(100)
		if cfg.Type == scoring.BalancedAllocation {
			weight = 1
		}
		cfg.Resources = append(cfg.Resources, scoring.KubeResource{Name: string(names[at]), Weight: weight})
	}
	if cfg.Type == scoring.RequestedToCapacityRatio {
		for utilization := r.Int64N(20); utilization <= 100; utilization += 1 + r.Int64N(60) {
			cfg.Shape = append(cfg.Shape, scoring.ShapePoint{Utilization: utilization, Score: r.Int64N(11)})
		}
	}
	return cfg
}

// TestNodeResources compares the verdicts of NodeResourcesFit with Fit, and its scores
// and NodeResourcesBalancedAllocation's with a Kube.
func TestNodeResources(t *testing.T) {
	handle, m, counts := newHandle(t), peer.NewMap(t), map[string]int{}
	peer.Cases(t, func(r peer.Random) error {
		cfg := randomKubeConfig(r)
		s := newKubeScorers(t, handle, cfg, m)
		var nodes []*corev1.Node
		var pods [][]*corev1.Pod
		for i := range 1 + r.IntN(6) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{}}}
			for _, name := range peer.Names {
				if r.Chance(85) {
					node.Status.Allocatable[name] = whole(name, kubeQuantity(r, name, 40))
				}
			}
			var on []*corev1.Pod
			for range r.IntN(3) {
				on = append(on, randomPod(r))
			}
			nodes, pods = append(nodes, node), append(pods, on)
		}
		c := newKubeCluster(t, m, nodes, pods)
		for range 2 {
			if err := c.compare(t, s, randomPod(r), counts); err != nil {
				return fmt.Errorf("%+v: %w", cfg, err)
			}
		}
		return nil
	})
	t.Log(counts)
}

// BenchmarkNodeResources asks about pods on 5,000 nodes, which are half full, without the
// framework around the plugins. What depends on the pod alone is computed before, on
// both sides: PreFilter and PreScore there.
func BenchmarkNodeResources(b *testing.B) {
	const nodes = 5000
	r, m, handle := peer.NewRandom(1), peer.NewMap(b), newHandle(b)
	pod := func(most int64) *corev1.Pod {
		request := corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(1+r.Int64N(most*1000), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(1+r.Int64N(most<<32), resource.BinarySI),
			"nvidia.com/gpu":      *resource.NewQuantity(r.Int64N(most/4), resource.DecimalSI),
		}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: request}}}},
		}
	}
	var objects []*corev1.Node
	var pods [][]*corev1.Pod
	for i := range nodes {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("64"),
			corev1.ResourceMemory:           resource.MustParse("256Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
			corev1.ResourcePods:             resource.MustParse("110"),
			"nvidia.com/gpu":                resource.MustParse("8"),
			"rdma/hca":                      resource.MustParse("4"),
		}}})
		pods = append(pods, []*corev1.Pod{pod(16), pod(16), pod(16), pod(16)})
	}
	c := newKubeCluster(b, m, objects, pods)
	const questions = 8
	var ask [questions]*corev1.Pod
	for k := range ask {
		ask[k] = pod(32)
	}
	resources := []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}, {Name: "nvidia.com/gpu", Weight: 1}}
	row := peer.Row{Peer: "kube-scheduler", Module: "k8s.io/kubernetes", Work: "one pod, 5,000 nodes, 3 resources", Goal: 50, Questions: questions}
	ctx := context.Background()

	b.Run("Filter", func(b *testing.B) {
		s := newKubeScorers(b, handle, scoring.KubeConfig{Type: scoring.LeastAllocated, Resources: resources}, m)
		var cycles [questions]fwk.CycleState
		var requests [questions]vector.ResourceVector
		for k, pod := range ask {
			cycles[k] = framework.NewCycleState()
			if _, status := s.fit.PreFilter(ctx, cycles[k], pod, c.infos); !status.IsSuccess() {
				b.Fatal(status)
			}
			requests[k], _ = s.podAmounts(b, m, pod)
		}
		row, theirs := row, make([]bool, nodes)
		var fits vector.Mask
		row.Function, row.Ours = "NodeResourcesFit: Filter", "Fit"
		row.Remark = "`Filter` also says why not"
		row.Their = func(k int) {
			for i, info := range c.infos {
				theirs[i] = s.fit.Filter(ctx, cycles[k], ask[k], info).IsSuccess()
			}
		}
		row.Our = func(k int) { vector.Fit(&fits, c.plain.Free(), requests[k]) }
		row.Same = func(int) error {
			for i, fit := range theirs {
				if fit != fits.Test(i) {
					return fmt.Errorf("node %d: kube-scheduler %t, ours %t", i, fit, fits.Test(i))
				}
			}
			return nil
		}
		row.Bench(b)
	})
	for _, kind := range kubeTypes {
		b.Run("Score/"+string(kind), func(b *testing.B) {
			cfg := scoring.KubeConfig{Type: kind, Resources: resources}
			if kind == scoring.RequestedToCapacityRatio {
				cfg.Shape = []scoring.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 100, Score: 3}}
			}
			s := newKubeScorers(b, handle, cfg, m)
			scores := scoring.Bind(s.ours, c.scoredNodes(s))
			scores.LimitCache(0) // no scores of requests that come again
			var cycles [questions]fwk.CycleState
			var requests [questions]vector.PodAmounts
			for k, pod := range ask {
				cycles[k] = framework.NewCycleState()
				if status := s.plugin.PreScore(ctx, cycles[k], pod, c.infos); !status.IsSuccess() {
					b.Fatal(status)
				}
				_, requests[k].Requested = s.podAmounts(b, m, pod)
			}
			row, theirs, ours := row, make([]int64, nodes), make([]int64, nodes)
			row.Function, row.Ours = "NodeResourcesFit: Score, "+string(kind), "Bound.ScorePercent"
			if kind == scoring.BalancedAllocation {
				row.Function = "NodeResourcesBalancedAllocation: Score"
			}
			row.Their = func(k int) {
				for i, info := range c.infos {
					var status *fwk.Status
					if theirs[i], status = s.plugin.Score(ctx, cycles[k], ask[k], info); !status.IsSuccess() {
						panic(status)
					}
				}
			}
			row.Our = func(k int) {
				if err := scores.ScorePercent(ours, requests[k], nil); err != nil {
					panic(err)
				}
			}
			row.Same = func(int) error {
				for i := range theirs {
					if theirs[i] != ours[i] {
						return fmt.Errorf("node %d: kube-scheduler %d, ours %d", i, theirs[i], ours[i])
					}
				}
				return nil
			}
			row.Bench(b)
		})
	}
}
