package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
)

// TestWhatIf has random clusters with spread constraints, pod affinity, host ports, services and
// owners placed as examples/whatif does, and the filters and scores of the real scheduler asked
// on the way: both admit the same nodes, for the same reasons, and with -like default each pod
// is on one of the best.
func TestWhatIf(t *testing.T) {
	clusters := 300
	if os.Getenv("RESVEC_LONG") != "" {
		clusters = 10_000
	}
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	t.Cleanup(cancel)
	j := newJudge(ctx, t)
	n := struct{ placed, left, refused, tied, best int }{}
	for seed := range uint64(clusters) {
		like := seed%2 == 0
		v := newVillage(rand.New(rand.NewPCG(seed, 23)))
		l := v.library(t, like)
		j.settle(v)
		for _, pod := range v.queued {
			filter, rows, others := placement.NewFilter(pod), vector.NewMask(len(v.hosts)), make(map[string]int)
			for row := range v.hosts {
				if refusal := filter.Refuse(&v.hosts[row]); refusal.Reason == "" {
					rows.Set(row)
				} else {
					others[refusal.Reason]++
				}
			}
			d := testkit.Must(l.state.Decide(pod, l.of(pod), rows))
			feasible, reasons, totals := j.rule(pod)
			for row, node := range v.nodes {
				if feasible[node.Name] != d.Fits.Test(row) {
					t.Fatalf("cluster %d, %s on %s: %v here, %v by the scheduler\n%+v", seed, pod.Name, node.Name, d.Fits.Test(row), feasible[node.Name], pod.Spec)
				}
			}
			n.refused += len(v.nodes) - len(totals)
			row := d.Choose(vector.TieSeeded(seed))
			if row < 0 {
				if got := l.state.Explain(pod, l.of(pod), rows, others); reasons != "" && got != reasons {
					t.Fatalf("cluster %d, %s: got %s, want %s", seed, pod.Name, got, reasons)
				}
				n.left++
				continue
			}
			most := slices.Max(slices.Collect(maps.Values(totals)))
			if like && totals[v.nodes[row].Name] != most {
				t.Fatalf("cluster %d, %s is on %s, of %v", seed, pod.Name, v.nodes[row].Name, totals)
			}
			if n.placed++; totals[v.nodes[row].Name] == most {
				n.best++
			}
			if like && len(totals) > 1 && slices.Min(slices.Collect(maps.Values(totals))) == most {
				n.tied++
			}
			testkit.Check(l.state.Assume(row, pod, l.of(pod)))
			j.place(bound(pod.DeepCopy(), v.nodes[row].Name))
		}
		j.clear()
	}
	t.Logf("%d clusters: %+v", clusters, n)
	if n.placed < clusters*2 || n.left < clusters/4 || n.refused < clusters || n.best < n.placed/2 || n.best == n.placed || n.tied > n.placed/4 {
		t.Error("a dull test")
	}
}

// A village is a random cluster, and pods that are to be placed. Some of its nodes are new ones.
type village struct {
	snapshot
	hosts  []placement.Host // of the nodes
	others []any
}

func newVillage(r *rand.Rand) *village {
	w := &town{Rand: r}
	v := &village{}
	for range images {
		w.sizes = append(w.sizes, w.Int64N(1<<w.IntN(34)))
	}
	for _, name := range spaces[:3] {
		v.others = append(v.others, w.namespace(name))
	}
	known := make(map[string]bool)
	for range w.IntN(10) {
		group := w.group()
		meta := group.(interface {
			GetName() string
			GetNamespace() string
		})
		if key := fmt.Sprintf("%T %s/%s", group, meta.GetNamespace(), meta.GetName()); !known[key] {
			known[key] = true
			v.others = append(v.others, group)
		}
	}
	for range 1 + w.IntN(8) {
		node := w.node(w.name("node"))
		cordoned := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
		if node.Spec.Unschedulable && !cordoned { // a controller adds it
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		v.nodes = append(v.nodes, node)
		for range w.IntN(4) {
			v.bound = append(v.bound, bound(w.pod(), node.Name))
		}
	}
	v.hosts = testkit.Must(placement.Hosts(v.nodes))
	for range w.IntN(3) {
		like := w.IntN(len(v.nodes))
		host := v.hosts[like].New()
		object := host.Object(w.name("a new node"))
		object.Status.Allocatable = v.nodes[like].Status.Allocatable
		v.nodes, v.hosts = append(v.nodes, object), append(v.hosts, host)
	}
	shape := w.pod()
	for range 10 {
		if w.chance(40) {
			if shape = w.pod(); w.chance(60) {
				shape.Spec.NodeSelector = nil
			}
		}
		pod := shape.DeepCopy()
		pod.Name = w.name("new")
		pod.UID = types.UID(pod.Name)
		v.queued = append(v.queued, pod)
	}
	return v
}

// library returns a state that observes the objects of a village.
func (v *village) library(t *testing.T, like bool) *library {
	l := newLibrary(t, &v.snapshot)
	testkit.Check(l.state.Observe(profile.Config{Minor: minor()}, like, v.others...))
	for row, node := range v.nodes {
		var on []*corev1.Pod
		for _, pod := range v.bound {
			if pod.Spec.NodeName == node.Name {
				on = append(on, pod)
			}
		}
		testkit.Check(l.state.SetObjects(row, v.hosts[row].Object(node.Name), on))
	}
	return l
}

// A judge is kube-scheduler's default profile, without informers.
type judge struct {
	t         *testing.T
	ctx       context.Context
	scheduler *scheduler.Scheduler
	framework framework.Framework
	stores    map[string]cache.Indexer // by type
	village   *village
	placed    []*corev1.Pod
}

func newJudge(ctx context.Context, t *testing.T) *judge {
	c := loadConfig(t, builtin)
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	j := &judge{t: t, ctx: ctx, stores: make(map[string]cache.Indexer)}
	j.scheduler = testkit.Must(scheduler.New(ctx, fake.NewClientset(), factory, nil, func(string) events.EventRecorderLogger { return nil },
		scheduler.WithComponentConfigVersion(c.TypeMeta.APIVersion), scheduler.WithProfiles(c.Profiles...), scheduler.WithParallelism(1)))
	j.framework = j.scheduler.Profiles[corev1.DefaultSchedulerName]
	core, apps := factory.Core().V1(), factory.Apps().V1()
	for object, informer := range map[any]cache.SharedIndexInformer{
		&corev1.Namespace{}: core.Namespaces().Informer(), &corev1.Service{}: core.Services().Informer(),
		&corev1.ReplicationController{}: core.ReplicationControllers().Informer(),
		&appsv1.ReplicaSet{}:            apps.ReplicaSets().Informer(), &appsv1.StatefulSet{}: apps.StatefulSets().Informer(),
	} {
		j.stores[fmt.Sprintf("%T", object)] = informer.GetIndexer()
	}
	return j
}

// settle tells the scheduler of a village.
func (j *judge) settle(v *village) {
	j.village = v
	for _, object := range v.others {
		testkit.Check(j.stores[fmt.Sprintf("%T", object)].Add(object))
	}
	for _, node := range v.nodes {
		j.scheduler.Cache.AddNode(logr.Discard(), node)
	}
	for _, node := range v.nodes { // once more: now they know how many nodes have an image
		j.scheduler.Cache.UpdateNode(logr.Discard(), node, node)
	}
	for _, pod := range v.bound {
		j.place(pod)
	}
}

func (j *judge) place(pod *corev1.Pod) {
	testkit.Check(j.scheduler.Cache.AddPod(logr.Discard(), pod))
	j.placed = append(j.placed, pod)
}

// clear makes the scheduler forget the village.
func (j *judge) clear() {
	for _, pod := range j.placed {
		testkit.Check(j.scheduler.Cache.RemovePod(logr.Discard(), pod))
	}
	for _, node := range j.village.nodes {
		testkit.Check(j.scheduler.Cache.RemoveNode(logr.Discard(), node))
	}
	for _, store := range j.stores {
		testkit.Check(store.Replace(nil, ""))
	}
	j.placed = nil
}

// rule returns the feasible nodes, the totals of each, and in kube-scheduler's words why there is
// none: "" where there is one, or a plugin rejects the pod before it looks at nodes.
func (j *judge) rule(pod *corev1.Pod) (feasible map[string]bool, reasons string, totals map[string]int64) {
	feasible, totals = make(map[string]bool), make(map[string]int64)
	snapshot := j.framework.SnapshotSharedLister().(*schedulercache.Snapshot)
	testkit.Check(j.scheduler.Cache.UpdateSnapshot(logr.Discard(), snapshot))
	state := framework.NewCycleState()
	if _, status, _ := j.framework.RunPreFilterPlugins(j.ctx, state, pod); !status.IsSuccess() {
		return feasible, "", totals
	}
	all := testkit.Must(snapshot.List())
	var nodes []fwk.NodeInfo
	counts := make(map[string]int)
	for _, node := range all {
		status := j.framework.RunFilterPlugins(j.ctx, state, pod, node)
		if status.IsSuccess() {
			feasible[node.Node().Name] = true
			nodes = append(nodes, node)
			continue
		}
		for _, reason := range status.Reasons() {
			counts[reason]++
		}
	}
	if len(nodes) == 0 {
		var texts []string
		for reason, n := range counts {
			texts = append(texts, fmt.Sprint(n, " ", reason))
		}
		slices.Sort(texts)
		return feasible, fmt.Sprintf("0/%d nodes are available: %s.", len(all), strings.Join(texts, ", ")), totals
	}
	if status := j.framework.RunPreScorePlugins(j.ctx, state, pod, nodes); !status.IsSuccess() {
		j.t.Fatal(status)
	}
	scores, status := j.framework.RunScorePlugins(j.ctx, state, pod, nodes)
	if !status.IsSuccess() {
		j.t.Fatal(status)
	}
	for _, s := range scores {
		totals[s.Name] = s.TotalScore
	}
	return feasible, "", totals
}
