package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
)

// crowd is a cluster of 5,000 nodes with 24 pods each, of 200 apps in turn. An app is a
// Deployment behind a Service.
type crowd struct {
	nodes  []*corev1.Node
	pods   []*corev1.Pod
	groups []runtime.Object // services and ReplicaSets
}

const (
	crowdNodes = 5000
	crowdPods  = 24 // of a node
	crowdApps  = 200
	newApps    = 100 // without pods
)

// newCrowd makes the objects. With apart set, a tenth of the apps prefer to be apart.
func newCrowd(apart bool) *crowd {
	c := &crowd{}
	for app := range crowdApps + newApps {
		name := fmt.Sprint("app-", app)
		meta := metav1.ObjectMeta{Name: name, Namespace: "default"}
		c.groups = append(c.groups,
			&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": name}}},
			&appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labelsOf(app)}}})
	}
	for i := range crowdNodes {
		name := "node-" + strconv.Itoa(i)
		node := aNode(name, strconv.Itoa(i%3), "cpu=32", "memory=128Gi", "pods=110", "ephemeral-storage=100Gi", "nvidia.com/gpu=8")
		node.Labels[corev1.LabelHostname] = name
		node.Labels[corev1.LabelTopologyZone] = node.Labels["zone"]
		node.Labels["pool"] = []string{"general", "batch"}[i%2]
		if i%5 == 0 {
			node.Labels["disk"] = "ssd"
		}
		if i%50 == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoSchedule}}
		}
		if i%10 == 0 {
			node.Status.Images = []corev1.ContainerImage{{Names: []string{"model:v1"}, SizeBytes: 4 << 30}}
		}
		c.nodes = append(c.nodes, node)
		for k := range crowdPods {
			app := (i*crowdPods + k) % crowdApps
			c.pods = append(c.pods, bound(ofApp(aPod(fmt.Sprintf("old-%d-%d", i, k), 0,
				fmt.Sprintf("cpu=%dm", 400+200*(app%5)), fmt.Sprint("memory=", 1+app%4, "Gi")), app, apart), name))
		}
	}
	return c
}

func labelsOf(app int) map[string]string {
	return map[string]string{"app": fmt.Sprint("app-", app), "pod-template-hash": fmt.Sprint("hash-", app)}
}

// ofApp makes a pod one of an app.
func ofApp(pod *corev1.Pod, app int, apart bool) *corev1.Pod {
	controls := true
	pod.Labels = labelsOf(app)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprint("app-", app), Controller: &controls}}
	if apart && app%10 == 0 {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}},
			}}},
		}}
	}
	return pod
}

// deployed returns the nth pod of Deployments, with one wish after another.
func deployed(n int, wishes ...func(*corev1.Pod)) *corev1.Pod {
	app := n % crowdApps
	pod := ofApp(aPod(fmt.Sprint("new-", n), 0, fmt.Sprintf("cpu=%dm", 400+200*(app%5)), fmt.Sprint("memory=", 1+app%4, "Gi")), app, false)
	for _, wish := range wishes {
		wish(pod)
	}
	return pod
}

func preferringDisks(pod *corev1.Pod) {
	term := func(key, value string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}},
		}}
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 10, Preference: term("disk", "ssd")}, {Weight: 5, Preference: term("zone", "1")}},
	}}
}

func ofPool(pod *corev1.Pod) {
	pod.Spec.NodeSelector = map[string]string{"pool": "general"}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
}

func acrossZones(pod *corev1.Pod) {
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}}}
}

// ordinary are the kinds of pods that arrive, the nth of each.
var ordinary = []struct {
	name  string
	apart bool // in a cluster where a tenth of the apps prefer to be apart
	pod   func(n int) *corev1.Pod
}{
	{"bare", false, func(n int) *corev1.Pod { return aPod(fmt.Sprint("new-", n), 0, "cpu=1", "memory=4Gi") }},
	{"deployment", false, func(n int) *corev1.Pod { return deployed(n) }},
	{"preferences", false, func(n int) *corev1.Pod { return deployed(n, preferringDisks) }},
	{"selector", false, func(n int) *corev1.Pod { return deployed(n, preferringDisks, ofPool) }},
	{"zones", false, func(n int) *corev1.Pod { return deployed(n, acrossZones) }},
	{"gpu", false, func(n int) *corev1.Pod {
		pod := aPod(fmt.Sprint("new-", n), 0, "cpu=2", "memory=8Gi", "nvidia.com/gpu=1")
		controls := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", Controller: &controls}}
		pod.Labels = map[string]string{"job-name": "train"}
		pod.Spec.Containers[0].Image = "model:v1"
		return pod
	}},
	{"first", false, func(n int) *corev1.Pod { return ofApp(deployed(n), crowdApps+n%newApps, false) }},
	{"apart", true, func(n int) *corev1.Pod { return ofApp(deployed(n), n%crowdApps, true) }},
}

// BenchmarkProfile measures one SchedulePod of the default profile in a cluster of 5,000
// nodes with 24 pods each, for pods as clusters have them, of schedulers in turn; and the
// library called alone, with the upkeep of the row that the pod before was bound to. It
// reports medians in milliseconds. Pods of Deployments are of 200 in turn, each of which
// was seen before; in "first" none was. Each pod is bound to a node that the first scheduler
// chose.
func BenchmarkProfile(b *testing.B) {
	for _, apart := range []bool{false, true} {
		crowd := newCrowd(apart)
		for _, percentage := range []int{0, 100} {
			b.Run(fmt.Sprintf("apart=%v/percentage=%d", apart, percentage), func(b *testing.B) {
				setting := fmt.Sprintf("\npercentageOfNodesToScore: %d\n", percentage)
				r := newRace(b, crowd, []competitor{
					{"default", builtin + setting},
					{"resvecfit", example(b) + setting},
					{"replacements", replacing(b) + setting},
					{"exact", replacing(b, "exact: true") + setting},
				})
				for _, kind := range ordinary {
					if kind.apart == apart {
						b.Run("pod="+kind.name, func(b *testing.B) { r.run(b, kind.pod, kind.name != "first") })
					}
				}
			})
		}
	}
}

// race is schedulers, and the library, in one state.
type race struct {
	names   []string
	all     []*contestant
	library *librarian
	random  *rand.Rand
	n       int // pods that arrived
}

func newRace(b *testing.B, c *crowd, competitors []competitor) *race {
	b.Helper()
	r := &race{random: rand.New(rand.NewPCG(1, 2))}
	logger := klog.Background()
	for _, x := range competitors {
		one := &contestant{simulation: simulate(b, x.configuration, nil, c.groups...)}
		for _, node := range c.nodes {
			one.Cache.AddNode(logger, node)
		}
		for _, pod := range c.pods {
			testkit.Check(one.Cache.AddPod(logger, pod))
		}
		r.names, r.all = append(r.names, x.name), append(r.all, one)
	}
	r.library = newLibrarian(b, r.all[0].simulation, c.groups)
	return r
}

// run has pods of a kind scheduled, when those of each shape were if warm is set.
func (r *race) run(b *testing.B, kind func(n int) *corev1.Pod, warm bool) {
	ctx := klog.NewContext(context.Background(), logr.Discard())
	if warm {
		for n := range crowdApps {
			r.library.choose(b, kind(n))
			for i, c := range r.all {
				if keeps(r.names[i]) {
					c.decides(ctx, b, queued(kind(n)))
				}
			}
		}
	}
	first := r.n
	arrive := func() *framework.QueuedPodInfo {
		r.n++
		return queued(kind(r.n))
	}
	before := counters(b)
	for range 3 { // which also warms the others
		r.round(ctx, b, arrive())
		r.check(ctx, b, kind(r.n))
	}
	exact := len(slices.DeleteFunc(slices.Clone(r.names), func(name string) bool { return !isExact(name) }))
	if got := changed(before, counters(b)); got[`cycles_total{mode="exact"}`] != float64(2*3*exact) {
		b.Fatalf("exact leaves pods to the others: %v", got)
	}
	for _, c := range append(r.all, &r.library.contestant) {
		c.took = nil
	}
	for b.Loop() {
		r.round(ctx, b, arrive())
	}
	if !warm && r.n-first > newApps {
		b.Fatalf("%d pods are not of new shapes: run with -benchtime=50x", r.n-first-newApps)
	}
	b.ReportMetric(0, "ns/op")
	for i, c := range append(r.all, &r.library.contestant) {
		slices.Sort(c.took)
		b.ReportMetric(float64(c.took[len(c.took)/2].Nanoseconds())/1e6, append(r.names, "library")[i]+"-ms")
	}
}

var arrived int // pods, so that each has an id of its own

func queued(pod *corev1.Pod) *framework.QueuedPodInfo {
	arrived++
	pod.UID = types.UID(fmt.Sprint(pod.Name, "-", arrived))
	return &framework.QueuedPodInfo{PodInfo: testkit.Must(framework.NewPodInfo(pod))}
}

// keeps reports whether a scheduler keeps what it finds out of a shape of pods.
func keeps(name string) bool { return name == "replacements" || isExact(name) }

// isExact reports whether a scheduler chooses a best node of all.
func isExact(name string) bool { return strings.HasPrefix(name, "exact") }

// decides chooses a node for a pod, which is not bound yet.
func (c *contestant) decides(ctx context.Context, b *testing.B, pod *framework.QueuedPodInfo) (node string) {
	b.Helper()
	profile, state := c.update(ctx, b), framework.NewCycleState()
	start := time.Now()
	result, err := c.SchedulePod(ctx, profile, state, pod)
	c.took = append(c.took, time.Since(start))
	if err != nil {
		b.Fatal(err)
	}
	return result.SuggestedHost
}

// round has each decide about a pod, in random order, and then bound.
func (r *race) round(ctx context.Context, b *testing.B, pod *framework.QueuedPodInfo) {
	var node string
	for _, i := range r.random.Perm(len(r.all) + 1) {
		// The label separates the schedulers in a profile.
		pprof.Do(ctx, pprof.Labels("scheduler", append(r.names, "library")[i]), func(ctx context.Context) {
			if i == len(r.all) {
				r.library.choose(b, pod.Pod)
			} else if chosen := r.all[i].decides(ctx, b, pod); i == 0 {
				node = chosen
			}
		})
	}
	placed := bound(pod.Pod.DeepCopy(), node)
	for _, c := range r.all {
		testkit.Check(c.Cache.AddPod(klog.FromContext(ctx), placed))
	}
	r.library.last = placed
}

// check compares the choices of the exact ones with the totals of the first scheduler.
func (r *race) check(ctx context.Context, b *testing.B, pod *corev1.Pod) {
	b.Helper()
	pod.Name += "-checked"
	best, totals, _ := r.all[0].totals(ctx, b, pod, r.random)
	chosen := map[string]string{"library": r.library.choose(b, pod)}
	for i, c := range r.all {
		if isExact(r.names[i]) {
			chosen[r.names[i]] = c.decides(ctx, b, queued(pod))
		}
	}
	for name, node := range chosen {
		if totals[node] != totals[best] {
			b.Fatalf("%s chooses %s of %d points, %s has %d", name, node, totals[node], best, totals[best])
		}
	}
}

// librarian is the library alone.
type librarian struct {
	contestant // without a scheduler
	table      *resvecfit.NodeTable
	cluster    *profile.Cluster
	profile    *profile.Profile
	last       *corev1.Pod // that was bound since it was asked last
}

// newLibrarian knows what the scheduler has in its cache.
func newLibrarian(b *testing.B, sim *simulation, groups []runtime.Object) *librarian {
	b.Helper()
	nodes := testkit.Must(sim.update(context.Background(), b).SnapshotSharedLister().NodeInfos().List())
	l := &librarian{table: testkit.Must(resvecfit.NewNodeTable("nvidia.com/gpu"))}
	testkit.Check(l.table.Refresh(nodes))
	l.cluster = profile.NewCluster(l.table.Nodes())
	for _, group := range groups {
		testkit.Check(l.cluster.Set(group))
	}
	for _, node := range nodes {
		var pods []*corev1.Pod
		for _, pod := range node.GetPods() {
			pods = append(pods, pod.GetPod())
		}
		testkit.Check(l.cluster.SetRow(node.Node(), pods, nil))
	}
	l.profile = testkit.Must(profile.Bind(profile.Config{Minor: minor()}, l.cluster, testkit.Must(profile.DefaultTerms(l.table.Map(), l.table.Nodes()))...))
	return l
}

// choose chooses a node, once it knows of the last pod that was bound.
func (l *librarian) choose(b *testing.B, pod *corev1.Pod) (node string) {
	q := profile.Question{Pod: pod, Amounts: l.table.Pod(pod)}
	var amounts vector.PodAmounts
	at := -1
	if l.last != nil {
		at, _ = l.table.Nodes().Row(l.last.Spec.NodeName)
		amounts = l.table.Pod(l.last)
	}
	start := time.Now()
	if at >= 0 {
		testkit.Check(l.cluster.Assume(at, l.last, amounts))
	}
	row, ok, err := l.profile.Best(q, vector.TieSeeded(uint64(len(l.took))))
	l.took = append(l.took, time.Since(start))
	if err != nil || !ok {
		b.Fatal(ok, err)
	}
	l.last = nil
	return l.table.Nodes().Name(row)
}

// BenchmarkProfileUpkeep measures what the library does again for a pod of a Deployment, of
// which it knows: nothing has changed; pods of others were bound to some nodes; a pod of its
// own was.
func BenchmarkProfileUpkeep(b *testing.B) {
	c := newCrowd(false)
	r := newRace(b, c, []competitor{{"default", builtin}})
	l, nodes := r.library, r.library.table.Nodes()
	for _, way := range []struct {
		name  string
		bound int // pods between two questions
		own   bool
	}{{"nothing", 0, false}, {"other", 1, false}, {"others", 10, false}, {"own", 1, true}} {
		b.Run("bound="+way.name, func(b *testing.B) {
			pod := deployed(1)
			q := profile.Question{Pod: pod, Amounts: l.table.Pod(pod)}
			best := func() {
				if _, ok, err := l.profile.Best(q, vector.TieLowest()); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
			best()
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				others := make([]*corev1.Pod, way.bound)
				amounts := make([]vector.PodAmounts, way.bound)
				for i := range others {
					app := 2 + n%100
					if way.own {
						app = 1
					}
					others[i] = deployed(app)
					others[i].Name = fmt.Sprint("other-", i)
					amounts[i] = l.table.Pod(others[i])
				}
				at := func(i int) int { return (n + 37*i) % nodes.Len() }
				start := time.Now()
				for i, other := range others {
					testkit.Check(l.cluster.Assume(at(i), other, amounts[i]))
				}
				best()
				took = append(took, time.Since(start))
				for i, other := range others {
					testkit.Check(l.cluster.Forget(at(i), other, amounts[i]))
				}
				best()
			}
			slices.Sort(took)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "µs")
		})
	}
}
