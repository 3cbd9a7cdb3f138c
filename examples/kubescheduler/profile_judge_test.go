package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"sigs.k8s.io/yaml"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
)

// TestProfile compares package scoring/profile with the plugins of kube-scheduler's default
// profile, in random clusters that change: the verdict about every node with its code and
// reason, the scores of every feasible node plugin by plugin, the totals and the choice. The
// package is fed in both ways, by rows and by events. RESVEC_LONG makes it 100,000 decisions,
// RESVEC_SEED is the first seed.
func TestProfile(t *testing.T) {
	decisions := 2000
	if os.Getenv("RESVEC_LONG") != "" {
		decisions = 100_000
	}
	var n tally
	client := fake.NewClientset()
	for seed := testkit.Environment(t, "RESVEC_SEED", 1); n.decisions < decisions; seed++ {
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { newTrial(t, client, seed, &n).run() }) {
			break
		}
	}
	t.Logf("%+v", n)
	if t.Failed() {
		return
	}
	for reason := profile.Unschedulable; reason <= profile.ExistingAntiAffinity; reason++ {
		if n.reasons[reason.String()] == 0 {
			t.Errorf("no node was refused since %q", reason)
		}
	}
	if n.errors < n.decisions/400 || n.raw < n.decisions || n.nowhere < n.decisions/20 || n.feasible < n.decisions || n.partly < n.decisions/50 || n.moves < n.decisions/2 {
		t.Error("a dull test")
	}
	// A sum of squares of many terms is about normal.
	if far := (n.squares - n.degrees) / math.Sqrt(2*n.degrees); far > 5 {
		t.Errorf("choices among ties: chi-square %.0f with %.0f degrees of freedom, %.1f deviations too much", n.squares, n.degrees, far)
	}
}

// TestProfileEdges is TestProfile for clusters in which the order of operations decides.
func TestProfileEdges(t *testing.T) {
	client := fake.NewClientset()
	for name, build := range map[string]func(x *trial) *corev1.Pod{
		// 29 of 50 is 57 percent by the quotient, and 58 by the product.
		"InterPodAffinity divides first": func(x *trial) *corev1.Pod {
			pod := aPod("new", 0)
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
			for i, weight := range []int32{0, 29, 50} {
				node := aNode(fmt.Sprint("node-", i), "z", "pods=10")
				node.Labels[corev1.LabelHostname] = node.Name
				x.setNode(node)
				if weight == 0 {
					continue
				}
				there := bound(aPod(fmt.Sprint("old-", i), 0), node.Name)
				there.Labels = map[string]string{"app": there.Name}
				x.bind(there)
				preferred := &pod.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
				*preferred = append(*preferred, corev1.WeightedPodAffinityTerm{Weight: weight, PodAffinityTerm: corev1.PodAffinityTerm{
					TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: there.Labels}}})
			}
			return pod
		},
		// 7 of 10 nodes have the image: that share of its size is 1 byte less than 7 times
		// the size by 10, and 90 percent, not 91.
		"ImageLocality divides first": func(x *trial) *corev1.Pod {
			for i := range 10 {
				node := aNode(fmt.Sprint("node-", i), "z", "pods=10")
				if i < 7 {
					node.Status.Images = []corev1.ContainerImage{{Names: []string{"edge:v1"}, SizeBytes: 1_366_249_590}}
				}
				x.setNode(node)
			}
			pod := aPod("new", 0)
			pod.Spec.Containers[0].Image = "edge:v1"
			return pod
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTrial(t, client, 1, &tally{})
			pod := build(x)
			x.sync()
			x.decide(pod)
		})
	}
}

// tally says what the test has looked at.
type tally struct {
	decisions, feasible, nowhere, partly, errors int
	reasons                                      map[string]int

	moves, checks int // of Spread and Affinity
	raw           int // scores before they are normalized

	squares, degrees float64 // of choices among ties
}

// trial is a cluster, as a scheduler sees it and as the library does.
type trial struct {
	*town
	*testing.T
	ctx context.Context
	n   *tally

	scheduler *scheduler.Scheduler
	framework framework.Framework
	stores    map[string]cache.Indexer // by type
	spread    preFilterer
	affinity  preFilterer

	// fresh: what nodes say of images is always of this moment, as when events come. Else
	// the number of nodes with an image may be old, and the library is fed by rows only.
	fresh bool
	sides []*side
	copy  *side // of the last

	nodes  []*corev1.Node
	pods   []*corev1.Pod // on nodes
	shapes []*corev1.Pod // that come again
}

// side is the library, fed in one of two ways, or a copy.
type side struct {
	name        string
	table       *resvecfit.NodeTable
	nodes       *vector.Nodes // of table, or a copy of them
	cluster     *profile.Cluster
	profile     *profile.Profile
	generations map[string]int64 // by rows: of the nodes
}

// discarded is a context without a log.
func discarded() context.Context { return klog.NewContext(context.Background(), logr.Discard()) }

// minor returns the minor version of the scheduler that is compiled in.
func minor() int {
	if _, known := utilfeature.DefaultMutableFeatureGate.GetAll()[hostnameGate]; known {
		return 37
	}
	return 36
}

const (
	comparisonGate = "TaintTolerationComparisonOperators"
	hostnameGate   = "InterPodAffinityHostnameFastPath" // from v1.37 on
)

func newTrial(t *testing.T, client *fake.Clientset, seed uint64, n *tally) *trial {
	if n.reasons == nil {
		n.reasons = map[string]int{}
	}
	w := &town{Rand: rand.New(rand.NewPCG(seed, 11)), comparisons: seed%8 == 3}
	x := &trial{town: w, T: t, n: n, fresh: seed%3 != 0}
	if x.fresh {
		for range images {
			w.sizes = append(w.sizes, w.Int64N(1<<w.IntN(34)))
		}
	}
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, comparisonGate, w.comparisons)
	if w.unique = minor() > 36 && seed%8 == 5; minor() > 36 {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, hostnameGate, w.unique)
	}
	c := loadConfig(t, builtin)
	cfg, weights := x.configure(&c.Profiles[0], seed)
	x.start(client, c)
	x.learn(&c.Profiles[0])
	bind := func(s *side) *side {
		terms := testkit.Must(profile.DefaultTerms(s.table.Map(), s.nodes))
		for i := range terms {
			terms[i].Weight = weights[terms[i].Plugin]
		}
		s.profile = testkit.Must(profile.Bind(cfg, s.cluster, terms...))
		if seed%5 == 4 {
			s.profile.LimitCache(8 << 10)
		}
		return s
	}
	var last *side
	for _, name := range []string{"by rows", "by events"} {
		table := testkit.Must(resvecfit.NewNodeTable("nvidia.com/gpu"))
		last = bind(&side{name: name, table: table, nodes: table.Nodes(), cluster: profile.NewCluster(table.Nodes()), generations: map[string]int64{}})
		if x.sides = append(x.sides, last); !x.fresh {
			break
		}
	}
	nodes := &vector.Nodes{}
	copied := profile.NewCluster(nodes)
	last.cluster.Snapshot(copied)
	x.copy = bind(&side{name: last.name + ", copied", table: last.table, nodes: nodes, cluster: copied})
	return x
}

// configure draws a configuration of the scheduler and returns that of the library.
func (x *trial) configure(c *config.KubeSchedulerProfile, seed uint64) (cfg profile.Config, weights map[profile.Plugin]int64) {
	cfg = profile.Config{Minor: minor(), ComparisonOperators: x.comparisons}
	weights = map[profile.Plugin]int64{profile.NodeResourcesFit: 1, profile.NodeResourcesBalancedAllocation: 1}
	if seed%2 == 1 {
		return cfg, weights // by default
	}
	if x.chance(30) {
		cfg.Weights = map[profile.Plugin]int64{}
		for i := range c.Plugins.MultiPoint.Enabled {
			plugin := &c.Plugins.MultiPoint.Enabled[i]
			if plugin.Weight == 0 {
				continue
			}
			plugin.Weight = 1 + x.Int32N(9)
			switch name := profile.Plugin(plugin.Name); name {
			case profile.NodeResourcesFit, profile.NodeResourcesBalancedAllocation:
				weights[name] = int64(plugin.Weight)
			case profile.TaintToleration, profile.NodeAffinity, profile.PodTopologySpread, profile.InterPodAffinity, profile.ImageLocality:
				cfg.Weights[name] = int64(plugin.Weight)
			}
		}
	}
	for _, plugin := range c.PluginConfig {
		switch args := plugin.Args.(type) {
		case *config.PodTopologySpreadArgs:
			if x.chance(50) {
				args.DefaultingType, args.DefaultConstraints = config.ListDefaulting, []corev1.TopologySpreadConstraint{}
				for _, key := range x.some(corev1.LabelTopologyZone, corev1.LabelHostname, rackKey) {
					c := x.constraint()
					c.TopologyKey, c.LabelSelector, c.MatchLabelKeys, c.MinDomains = key, nil, nil, nil
					args.DefaultConstraints = append(args.DefaultConstraints, c)
				}
				cfg.DefaultConstraints = args.DefaultConstraints
			}
		case *config.InterPodAffinityArgs:
			if x.chance(50) {
				args.HardPodAffinityWeight = []int32{0, 1, 7, 100}[x.IntN(4)]
				cfg.HardPodAffinityWeight = &args.HardPodAffinityWeight
			}
			args.IgnorePreferredTermsOfExistingPods = x.chance(40)
			cfg.IgnorePreferredTermsOfExistingPods = args.IgnorePreferredTermsOfExistingPods
		case *config.NodeAffinityArgs:
			if x.chance(40) {
				args.AddedAffinity = x.nodeAffinity(false)
				cfg.AddedAffinity = args.AddedAffinity
			}
		}
	}
	return cfg, weights
}

// start makes the scheduler. Its informers stay off: the trial writes what they would.
func (x *trial) start(client *fake.Clientset, c *config.KubeSchedulerConfiguration) {
	ctx, cancel := context.WithCancel(discarded())
	x.Cleanup(cancel)
	x.ctx = ctx
	factory := informers.NewSharedInformerFactory(client, 0)
	x.scheduler = testkit.Must(scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return nil },
		scheduler.WithComponentConfigVersion(c.TypeMeta.APIVersion), scheduler.WithProfiles(c.Profiles...), scheduler.WithParallelism(1)))
	x.framework = x.scheduler.Profiles[corev1.DefaultSchedulerName]
	core, apps := factory.Core().V1(), factory.Apps().V1()
	x.stores = map[string]cache.Indexer{}
	for object, informer := range map[any]cache.SharedIndexInformer{
		&corev1.Namespace{}: core.Namespaces().Informer(), &corev1.Service{}: core.Services().Informer(),
		&corev1.ReplicationController{}: core.ReplicationControllers().Informer(),
		&appsv1.ReplicaSet{}:            apps.ReplicaSets().Informer(), &appsv1.StatefulSet{}: apps.StatefulSets().Informer(),
	} {
		x.stores[fmt.Sprintf("%T", object)] = informer.GetIndexer()
	}
}

func (x *trial) run() {
	for _, name := range spaces[:3] {
		x.event(x.namespace(name))
	}
	for range x.IntN(12) {
		x.event(x.group())
	}
	for range 1 + x.IntN([]int{3, 8, 8, 30, 30, 150}[x.IntN(6)]) {
		x.setNode(x.node(x.name("node")))
	}
	for range x.IntN(1 + 4*len(x.nodes)) {
		x.addPod()
	}
	for range 1 + x.IntN(6) {
		x.shapes = append(x.shapes, x.pod())
	}
	x.sync()
	for range 40 {
		for range x.IntN(4) {
			x.happen()
		}
		x.sync()
		pod := x.arriving()
		if node := x.decide(pod); node != "" && x.chance(40) {
			x.place(pod, node)
		}
	}
}

// arriving returns a pod, mostly of a shape that has come before.
func (x *trial) arriving() *corev1.Pod {
	i := x.IntN(len(x.shapes))
	if x.chance(25) {
		if x.shapes[i] = x.pod(); x.chance(50) {
			x.plain(x.shapes[i])
		}
		if x.chance(2) {
			x.spoil(x.shapes[i])
		}
		if x.chance(3) && len(x.nodes) > 0 {
			x.shapes[i].Spec.NodeName = x.nodes[x.IntN(len(x.nodes))].Name
		}
	}
	pod := x.shapes[i].DeepCopy()
	pod.Name = x.name("new")
	pod.UID = types.UID(pod.Name)
	return pod
}

// happen has one thing happen.
func (x *trial) happen() {
	switch k := x.IntN(100); {
	case k < 30 || len(x.pods) == 0 || len(x.nodes) == 0:
		x.addPod()
	case k < 45:
		x.dropPod(x.IntN(len(x.pods)))
	case k < 60:
		i := x.IntN(len(x.pods))
		pod := x.pods[i].DeepCopy()
		switch {
		case x.chance(20):
			pod.Status.Phase = corev1.PodPhase(x.pick("Succeeded", "Failed"))
			x.dropPod(i, pod)
			return
		case x.chance(30):
			pod.DeletionTimestamp = &metav1.Time{}
		default:
			pod.Labels = x.labels()
		}
		testkit.Check(x.scheduler.Cache.UpdatePod(logr.Discard(), x.pods[i], pod))
		x.pods[i] = pod
		x.tell(pod, true)
	case k < 72:
		i := x.IntN(len(x.nodes))
		node := x.nodes[i].DeepCopy()
		x.change(node)
		x.setNode(node)
	case k < 76:
		x.setNode(x.node(x.name("node")))
	case k < 80:
		x.dropNode(x.IntN(len(x.nodes)))
	case k < 83:
		name := fmt.Sprint("node-", 1+x.IntN(x.made)) // maybe one that was there before
		x.setNode(x.node(name))
	case k < 90:
		x.event(x.namespace(x.pick(spaces[:3]...)))
	default:
		x.event(x.group())
	}
}

// event adds or replaces an object that is neither a node nor a pod, or deletes it.
func (x *trial) event(object any) {
	store := x.stores[fmt.Sprintf("%T", object)]
	if _, there, _ := store.Get(object); there && x.chance(40) {
		testkit.Check(store.Delete(object))
		x.tellAll(object, false)
		return
	}
	testkit.Check(store.Add(object))
	x.tellAll(object, true)
}

// tell tells the library that is fed by events of an object, tellAll both.
func (x *trial) tell(object any, there bool) {
	if x.fresh {
		x.sides[1].tell(object, there)
	}
}

func (x *trial) tellAll(object any, there bool) {
	for _, s := range x.sides {
		s.tell(object, there)
	}
}

func (s *side) tell(object any, there bool) {
	if there {
		testkit.Check(s.cluster.Set(object))
	} else {
		testkit.Check(s.cluster.Delete(object))
	}
}

func (x *trial) addPod() {
	pod := x.pod()
	name := "gone"
	if len(x.nodes) > 0 {
		name = x.nodes[x.IntN(len(x.nodes))].Name
	}
	if x.chance(2) {
		name = fmt.Sprint("node-", 1+x.IntN(x.made)) // maybe one that comes later
	}
	if x.chance(1) {
		x.spoil(pod)
	}
	if x.chance(10) {
		pod.DeletionTimestamp = &metav1.Time{}
	}
	if slices.ContainsFunc(x.pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == name }) {
		// Where two pods have a port, kube-scheduler takes it for free when one of them goes.
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				list[i].Ports = nil
			}
		}
	}
	if x.chance(10) && !slices.ContainsFunc(x.pods, func(p *corev1.Pod) bool { return p.Name == "twin" && p.Namespace == pod.Namespace }) {
		pod.Name = "twin"
	}
	x.bind(bound(pod, name))
}

// bind adds a pod on a node, as an event does.
func (x *trial) bind(pod *corev1.Pod) {
	testkit.Check(x.scheduler.Cache.AddPod(logr.Discard(), pod))
	x.pods = append(x.pods, pod)
	x.tell(pod, true)
}

func (x *trial) dropPod(i int, done ...*corev1.Pod) {
	testkit.Check(x.scheduler.Cache.RemovePod(logr.Discard(), x.pods[i]))
	if len(done) > 0 {
		x.tell(done[0], true)
	} else {
		x.tell(x.pods[i], false)
	}
	x.pods = slices.Delete(x.pods, i, i+1)
}

func (x *trial) setNode(node *corev1.Node) {
	i := slices.IndexFunc(x.nodes, func(n *corev1.Node) bool { return n.Name == node.Name })
	if i < 0 {
		x.scheduler.Cache.AddNode(logr.Discard(), node)
		x.nodes = append(x.nodes, node)
	} else {
		x.scheduler.Cache.UpdateNode(logr.Discard(), x.nodes[i], node)
		x.nodes[i] = node
	}
	x.refreshImages()
	if x.chance(50) { // the nodes have the row first
		x.refresh()
	}
	x.tell(node, true)
}

func (x *trial) dropNode(i int) {
	node := x.nodes[i]
	testkit.Check(x.scheduler.Cache.RemoveNode(logr.Discard(), node))
	x.nodes = slices.Delete(x.nodes, i, i+1)
	x.refreshImages()
	if x.chance(50) {
		x.refresh()
	}
	x.tellAll(node, false)
	delete(x.sides[0].generations, node.Name)
}

// refreshImages has the nodes know how many nodes have an image.
func (x *trial) refreshImages() {
	if x.fresh {
		for _, node := range x.nodes {
			x.scheduler.Cache.UpdateNode(logr.Discard(), node, node)
		}
	}
}

// refresh brings the amounts in step.
func (x *trial) refresh() []fwk.NodeInfo {
	nodes := x.snapshot()
	for _, s := range x.sides {
		testkit.Check(s.table.Refresh(nodes))
	}
	return nodes
}

func (x *trial) snapshot() []fwk.NodeInfo {
	snapshot := x.framework.SnapshotSharedLister().(*schedulercache.Snapshot)
	testkit.Check(x.scheduler.Cache.UpdateSnapshot(logr.Discard(), snapshot))
	return testkit.Must(snapshot.List())
}

// sync brings the amounts in step, and the rows.
func (x *trial) sync() {
	byRows := x.sides[0]
	for _, node := range x.refresh() {
		object := node.Node()
		if byRows.generations[object.Name] == node.GetGeneration() {
			continue
		}
		byRows.generations[object.Name] = node.GetGeneration()
		pods := make([]*corev1.Pod, len(node.GetPods()))
		for i, pod := range node.GetPods() {
			pods[i] = pod.GetPod()
		}
		states := node.GetImageStates()
		testkit.Check(byRows.cluster.SetRow(object, pods, func(name string) (int64, int, bool) {
			state, ok := states[name]
			if !ok {
				return 0, 0, false
			}
			return state.Size, state.NumNodes, true
		}))
	}
}

// place assumes a pod on a node, and either forgets it or has it bound.
func (x *trial) place(pod *corev1.Pod, node string) {
	placed := bound(pod.DeepCopy(), node)
	testkit.Check(x.scheduler.Cache.AssumePod(logr.Discard(), placed))
	x.snapshot()
	for _, s := range x.sides {
		row, _ := s.table.Nodes().Row(node)
		testkit.Check(s.cluster.Assume(row, pod, s.table.Pod(pod)))
	}
	if x.fresh {
		x.decide(x.arriving()) // by what was assumed alone
	} else {
		x.sync() // the node has newer states of images
	}
	if x.chance(40) {
		testkit.Check(x.scheduler.Cache.ForgetPod(logr.Discard(), placed))
		x.snapshot()
		for _, s := range x.sides {
			row, _ := s.table.Nodes().Row(node)
			testkit.Check(s.cluster.Forget(row, pod, s.table.Pod(pod)))
		}
		x.decide(x.arriving())
		return
	}
	x.bind(placed)
}

// ruling is what the scheduler's plugins say about a pod.
type ruling struct {
	unparsed *fwk.Status            // why the pod can't be parsed; then nothing else is set
	unread   bool                   // or not all of it was read
	statuses map[string]*fwk.Status // by node
	scores   map[string]fwk.NodePluginScores
	most     int64 // total
}

// rule has the plugins look at a pod, and score the feasible nodes among some.
func (x *trial) rule(pod *corev1.Pod, nodes []fwk.NodeInfo, among map[string]bool) (r ruling) {
	state := framework.NewCycleState()
	_, status, _ := x.framework.RunPreFilterPlugins(x.ctx, state, pod)
	if r.unread = !status.IsSuccess() || len(nodes) == 0; !r.unread {
		status = x.framework.RunPreScorePlugins(x.ctx, state.Clone(), pod, nodes)
	}
	if status.Code() == fwk.Error || !status.IsSuccess() && status.Plugin() == names.InterPodAffinity {
		r.unparsed = status
		return r
	}
	r.statuses, r.scores = map[string]*fwk.Status{}, map[string]fwk.NodePluginScores{}
	var feasible []fwk.NodeInfo
	for _, node := range nodes {
		name := node.Node().Name
		status := x.framework.RunFilterPlugins(x.ctx, state, pod, node)
		if r.statuses[name] = status; status.IsSuccess() && (among == nil || among[name]) {
			feasible = append(feasible, node)
		}
	}
	if len(feasible) == 0 {
		return r
	}
	if status := x.framework.RunPreScorePlugins(x.ctx, state, pod, feasible); !status.IsSuccess() {
		x.Fatal(status)
	}
	scores, status := x.framework.RunScorePlugins(x.ctx, state, pod, feasible)
	if !status.IsSuccess() {
		x.Fatal(status)
	}
	r.most = math.MinInt64
	for _, s := range scores {
		r.scores[s.Name] = s
		r.most = max(r.most, s.TotalScore)
	}
	return r
}

// decide compares the decisions about a pod, and returns one of the best nodes.
func (x *trial) decide(pod *corev1.Pod) (best string) {
	x.n.decisions++
	nodes := testkit.Must(x.framework.SnapshotSharedLister().NodeInfos().List())
	var among map[string]bool
	if x.chance(15) {
		among = map[string]bool{}
		for _, node := range nodes {
			if x.chance(70) {
				among[node.Node().Name] = true
			}
		}
	}
	r := x.rule(pod, nodes, among)
	if r.unparsed == nil {
		switch n := len(r.scores); {
		case n == 0:
			x.n.nowhere++
		case n < len(nodes):
			x.n.partly++
		}
		x.n.feasible += len(r.scores)
	}
	sides := x.sides
	if x.chance(40) {
		sides[len(sides)-1].cluster.Snapshot(x.copy.cluster)
		sides = append(slices.Clip(sides), x.copy)
	}
	for _, s := range sides {
		best = x.compare(s, pod, r, among)
		if among == nil && r.unparsed == nil && !r.unread && x.chance(15) {
			x.compareHard(s, pod, nodes)
			x.compareRaw(s, pod, nodes)
		}
	}
	return best
}

func (x *trial) compare(s *side, pod *corev1.Pod, r ruling, among map[string]bool) (best string) {
	fail := func(format string, args ...any) {
		x.Helper()
		x.Fatalf("decision %d, %s, pod %s: %s\n%s", x.n.decisions, s.name, pod.Name, fmt.Sprintf(format, args...), x.describe(pod))
	}
	table := s.nodes
	q := profile.Question{Pod: pod, Amounts: s.table.Pod(pod)}
	if among != nil {
		q.Rows = vector.NewMask(table.Len())
		for name := range among {
			row, _ := table.Row(name)
			q.Rows.Set(row)
		}
	}
	var feasible vector.Mask
	err := s.profile.Feasible(&feasible, q)
	if r.unparsed != nil {
		if err == nil {
			fail("the scheduler can't parse the pod: %v", r.unparsed)
		}
		x.n.errors++
	}
	if r.unparsed != nil || r.unread && err != nil {
		return ""
	}
	if err != nil {
		fail("%v", err)
	}
	if table.Len() != len(r.statuses) {
		fail("%d rows, %d nodes", table.Len(), len(r.statuses))
	}
	refused := map[string]int{}
	for row := range table.Len() {
		name := table.Name(row)
		status, asked := r.statuses[name], among == nil || among[name]
		if feasible.Test(row) != (status.IsSuccess() && asked) {
			fail("node %s: the scheduler says %v, feasible is %v", name, status, feasible.Test(row))
		}
		if !asked {
			continue
		}
		why := testkit.Must(s.profile.Explain(q, row))
		if reason := reasonOf(status); reason != why.Reason.String() {
			fail("node %s: the scheduler says %q, %q is explained", name, reason, why.Reason)
		} else if !status.IsSuccess() {
			refused[reason]++
			if status.Plugin() != names.NodeResourcesFit && why.Reason.Resolvable() != (status.Code() == fwk.Unschedulable) {
				fail("node %s: the scheduler says %v, resolvable is %v", name, status.Code(), why.Reason.Resolvable())
			}
		}
		x.comparePlugins(fail, name, r.scores[name], why)
	}
	for reason, nodes := range refused {
		x.n.reasons[reason] += nodes
	}
	for _, rejection := range testkit.Must(s.profile.Rejections(q)) {
		if refused[rejection.Reason.String()] != rejection.Rows {
			fail("%d nodes are rejected by %q, want %d", rejection.Rows, rejection.Reason, refused[rejection.Reason.String()])
		}
		delete(refused, rejection.Reason.String())
	}
	if len(refused) > 0 {
		fail("more nodes are rejected: %v", refused)
	}
	totals := make([]int64, table.Len())
	testkit.Check(s.profile.Totals(totals, &feasible, q))
	var tied []int32
	var order []int64
	for row := range feasible.All() {
		score := r.scores[table.Name(row)]
		if totals[row] != score.TotalScore {
			fail("node %s: total %d, want %v", table.Name(row), totals[row], score)
		}
		if order = append(order, totals[row]); totals[row] == r.most {
			tied = append(tied, int32(row))
		}
	}
	row, ok, err := s.profile.Best(q, vector.TieSeeded(x.Uint64()))
	if err != nil || ok != (len(tied) > 0) || ok && !slices.Contains(tied, int32(row)) {
		fail("row %d %v %v is chosen, want one of %v", row, ok, err, tied)
	}
	k := 1 + x.IntN(6)
	top := testkit.Must(s.profile.TopK(nil, q, k, vector.TieSeeded(x.Uint64())))
	slices.SortFunc(order, func(a, b int64) int { return int(b - a) })
	if len(top) != min(k, len(order)) {
		fail("%d nodes are the best %d of %d", len(top), k, len(order))
	}
	for i, row := range top {
		if totals[row] != order[i] || slices.Contains(top[:i], row) {
			fail("the best %d are %v: the totals are %v", k, top, order)
		}
	}
	if len(tied) > 1 && len(tied) < 9 && x.chance(10) {
		x.lots(s, q, tied)
	}
	if !ok {
		return ""
	}
	return table.Name(row)
}

// comparePlugins compares the scores of a node by the plugins.
func (x *trial) comparePlugins(fail func(string, ...any), name string, want fwk.NodePluginScores, why profile.Explanation) {
	x.Helper()
	if want.Name == "" {
		return // not feasible
	}
	if why.Total != want.TotalScore {
		fail("node %s: the total is explained as %d %+v, want %v", name, why.Total, why.Plugins, want)
	}
	for _, plugin := range why.Plugins {
		i := slices.IndexFunc(want.Scores, func(p fwk.PluginScore) bool { return p.Name == string(plugin.Plugin) })
		if i < 0 && plugin.Score != 0 || i >= 0 && plugin.Score*plugin.Weight != want.Scores[i].Score {
			fail("node %s: %+v, want %v", name, plugin, want.Scores)
		}
	}
}

// reasonOf returns the reason of a status in the words of profile.Reason.
func reasonOf(status *fwk.Status) string {
	switch {
	case status.IsSuccess():
		return profile.Fits.String()
	case status.Plugin() == names.NodeResourcesFit:
		return profile.ResourcesShort.String()
	}
	return strings.Join(status.Reasons(), ", ")
}

// lots draws among equal nodes many times.
func (x *trial) lots(s *side, q profile.Question, tied []int32) {
	drawn := map[int32]int{}
	const each = 30
	for range each * len(tied) {
		row, _, _ := s.profile.Best(q, vector.TieSeeded(x.Uint64()))
		drawn[int32(row)]++
	}
	for _, row := range tied {
		d := float64(drawn[row] - each)
		x.n.squares += d * d / each
	}
	x.n.degrees += float64(len(tied) - 1)
}

// describe returns what a failure needs to be understood: all, if that isn't much.
func (x *trial) describe(pod *corev1.Pod) string {
	objects := []any{pod.ObjectMeta, pod.Spec}
	if len(x.nodes) <= 8 && len(x.pods) <= 30 {
		for _, node := range x.nodes {
			objects = append(objects, node.ObjectMeta, node.Spec, node.Status.Images)
		}
		for _, pod := range x.pods {
			objects = append(objects, pod.ObjectMeta, pod.Spec)
		}
		for _, store := range x.stores {
			objects = append(objects, store.List()...)
		}
	}
	var text strings.Builder
	for _, object := range objects {
		fmt.Fprintf(&text, "--- %T\n%s", object, testkit.Must(yaml.Marshal(object)))
	}
	return text.String()
}
