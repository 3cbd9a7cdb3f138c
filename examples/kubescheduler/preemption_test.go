package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

// scenario is a cluster, and pods that arrive one after another, each when the one
// before is placed.
type scenario struct {
	objects func() []runtime.Object
	arrive  func() []*corev1.Pod
	want    map[string]string // where the pods end; pods that are missing are victims
}

// fullZone returns n nodes of a zone, each full with one pod of little priority,
// the more the higher its number.
func fullZone(zone string, n int) []runtime.Object {
	var list []runtime.Object
	for i := range n {
		node := fmt.Sprintf("%s%d", zone, i)
		list = append(list, aNode(node, zone, "cpu=4", "memory=8Gi", "pods=10"))
		list = append(list, bound(aPod("old-"+node, int32(10+i), "cpu=3", "memory=4Gi"), node))
	}
	return list
}

func emptyZone(zone string, n int) []runtime.Object {
	var list []runtime.Object
	for i := range n {
		list = append(list, aNode(fmt.Sprintf("%s%d", zone, i), zone, "cpu=4", "memory=8Gi", "pods=10"))
	}
	return list
}

func inZone(pod *corev1.Pod, zone string) *corev1.Pod {
	pod.Spec.NodeSelector = map[string]string{"zone": zone}
	return pod
}

// pinned pins a pod to a node as the controller of DaemonSets does.
func pinned(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
	return pod
}

// spreading spreads pods of its kind over zones.
func spreading(pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{"app": "spread"}
	pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
	}}
	return pod
}

// apart keeps pods of its kind in zones of their own.
func apart(pod *corev1.Pod) *corev1.Pod {
	pod.Labels = map[string]string{"app": "apart"}
	pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}},
	}}}
	return pod
}

// scenarios have one right answer each.
var scenarios = map[string]scenario{
	"no node has room: the pod of least priority goes": {
		objects: func() []runtime.Object { return fullZone("a", 8) },
		arrive:  func() []*corev1.Pod { return []*corev1.Pod{aPod("new", 100, "cpu=2")} },
		want:    survivors("a", 8, 0, map[string]string{"new": "a0"}),
	},
	// The nodes that have room are the ones named, and another plugin rejects all of
	// them: preemption has to see the others.
	"the nodes with room are of the wrong zone": {
		objects: func() []runtime.Object { return append(fullZone("a", 10), emptyZone("b", 2)...) },
		arrive:  func() []*corev1.Pod { return []*corev1.Pod{inZone(aPod("new", 100, "cpu=2"), "a")} },
		want:    survivors("a", 10, 0, map[string]string{"new": "a0"}),
	},
	// NodeAffinity names one node, and the plugin others: nothing is left.
	"pinned to a full node": {
		objects: func() []runtime.Object { return append(fullZone("a", 10), emptyZone("b", 2)...) },
		arrive:  func() []*corev1.Pod { return []*corev1.Pod{pinned(aPod("new", 100, "cpu=2"), "a7")} },
		want:    survivors("a", 10, 7, map[string]string{"new": "a7"}),
	},
	"one pod too many in the zone": {
		objects: func() []runtime.Object {
			return append(emptyZone("a", 1), spreading(bound(aPod("one", 10, "cpu=1"), "a0")), bound(aPod("other", 5, "cpu=1"), "a0"),
				emptyZone("b", 1)[0], bound(aPod("full", 500, "cpu=4"), "b0"))
		},
		arrive: func() []*corev1.Pod { return []*corev1.Pod{spreading(aPod("new", 100, "cpu=1"))} },
		want:   map[string]string{"new": "a0", "other": "a0", "full": "b0"},
	},
	"apart from a pod of less priority": {
		objects: func() []runtime.Object {
			return append(emptyZone("a", 1), apart(bound(aPod("one", 10, "cpu=1"), "a0")), bound(aPod("other", 5, "cpu=1"), "a0"))
		},
		arrive: func() []*corev1.Pod { return []*corev1.Pod{apart(aPod("new", 100, "cpu=1"))} },
		want:   map[string]string{"new": "a0", "other": "a0"},
	},
	"too large for the nodes of one zone, even when empty": {
		objects: func() []runtime.Object {
			return append(fullZone("a", 10), aNode("b0", "b", "cpu=8", "memory=8Gi", "pods=10"),
				bound(aPod("old-b0", 50, "cpu=6"), "b0"))
		},
		arrive: func() []*corev1.Pod { return []*corev1.Pod{aPod("new", 100, "cpu=5")} },
		want: func() map[string]string {
			all := survivors("a", 10, -1, map[string]string{"new": "b0"})
			return all
		}(),
	},
	"two in a row": {
		objects: func() []runtime.Object { return append(fullZone("a", 10), emptyZone("b", 1)...) },
		arrive: func() []*corev1.Pod {
			return []*corev1.Pod{inZone(aPod("first", 100, "cpu=3"), "a"), inZone(aPod("second", 100, "cpu=3"), "a"), aPod("third", 0, "cpu=3")}
		},
		want: func() map[string]string {
			all := survivors("a", 10, 0, map[string]string{"first": "a0", "second": "a1", "third": "b0"})
			delete(all, "old-a1")
			return all
		}(),
	},
}

// survivors returns where the pods of a full zone are when one of them is gone.
func survivors(zone string, n, gone int, others map[string]string) map[string]string {
	for i := range n {
		if node := fmt.Sprintf("%s%d", zone, i); i != gone {
			others["old-"+node] = node
		}
	}
	return others
}

// schedulers are the configurations that have to agree.
func schedulers(t *testing.T) map[string]string {
	const exact = "exact: true"
	return map[string]string{
		"built-in": builtin, "ResvecFit": example(t), "ResvecFit, all nodes visited": example(t, "visitPercent: 0"),
		"exact": example(t, exact, "exactArgs: {checkOneIn: 1}"), "replacements": replacing(t), "exact, replacements": replacing(t, exact, "exactArgs: {checkOneIn: 1}"),
	}
}

// TestPreemption runs the scenarios with the built-in plugins and with ours: same
// victims, same placement.
func TestPreemption(t *testing.T) {
	for name, s := range scenarios {
		for scheduler, configuration := range schedulers(t) {
			t.Run(name+"/"+scheduler, func(t *testing.T) {
				t.Parallel()
				sim := running(t, configuration, nil, s.objects()...)
				for _, pod := range s.arrive() {
					sim.create(t, pod)
					eventually(t, "pod "+pod.Name+" is placed", func() bool { return sim.pods(t)[pod.Name] != "" })
				}
				if got := sim.pods(t); !maps.Equal(got, s.want) {
					t.Errorf("pods are %v\nwant %v", got, s.want)
				}
			})
		}
	}
}

// TestNominated holds a victim's deletion back: until it goes, its node is
// promised to the pod that preempts it, and another pod of less priority must not
// take what is free there.
func TestNominated(t *testing.T) {
	for scheduler, configuration := range schedulers(t) {
		t.Run(scheduler, func(t *testing.T) {
			t.Parallel()
			sim := simulate(t, configuration, nil,
				aNode("a0", "a", "cpu=4", "memory=8Gi", "pods=10"), bound(aPod("victim", 1, "cpu=2"), "a0"))
			var released atomic.Bool
			sim.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return !released.Load(), nil, nil
			})
			sim.run(t)
			sim.create(t, aPod("new", 100, "cpu=4"))
			eventually(t, "the pod is nominated", func() bool {
				pod, err := sim.client.CoreV1().Pods("default").Get(context.Background(), "new", metav1.GetOptions{})
				return err == nil && pod.Status.NominatedNodeName == "a0"
			})
			sim.create(t, aPod("small", 50, "cpu=1"))
			eventually(t, "the small pod was refused", func() bool { return refused(t, sim, "small") })
			released.Store(true)
			err := sim.client.CoreV1().Pods("default").Delete(context.Background(), "victim", metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] == "a0" })
			if node := sim.pods(t)["small"]; node != "" {
				t.Errorf("the small pod is on %s", node)
			}
		})
	}
}

// refused reports whether a pod was found unschedulable.
func refused(t *testing.T, sim *simulation, name string) bool {
	t.Helper()
	pod := testkit.Must(sim.client.CoreV1().Pods("default").Get(context.Background(), name, metav1.GetOptions{}))
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

// TestLateCompletion leaves the plugin out at postFilter: preemption then comes
// with the second attempt, which the deletion of some pod brings about.
func TestLateCompletion(t *testing.T) {
	configuration := example(t)
	configuration = replaced(t, configuration, "enabled: [{name: ResvecFit}, {name: DynamicResources}, {name: DefaultPreemption}]",
		"disabled: [{name: ResvecFit}]")
	objects := append(fullZone("a", 10), emptyZone("b", 2)...)
	objects = append(objects, bound(aPod("other", 500, "cpu=1"), "b0"))
	sim := running(t, configuration, nil, objects...)
	sim.create(t, inZone(aPod("new", 100, "cpu=2"), "a"))
	eventually(t, "the pod was refused", func() bool { return refused(t, sim, "new") })
	if n := len(sim.pods(t)); n != 12 {
		t.Fatalf("%d pods: the first attempt has preempted", n)
	}
	testkit.Check(sim.client.CoreV1().Pods("default").Delete(context.Background(), "other", metav1.DeleteOptions{}))
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] == "a0" })
	if want := survivors("a", 10, 0, map[string]string{"new": "a0"}); !maps.Equal(sim.pods(t), want) {
		t.Errorf("pods are %v\nwant %v", sim.pods(t), want)
	}
}

// TestTopK has the best nodes rejected by another plugin: the pod must be tried
// again with the others, without victims.
func TestTopK(t *testing.T) {
	objects := fullZone("a", 3) // a pod of one cpu fits there, and scores less
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			pod.Spec.Containers[0].Resources.Requests = resources([]string{"cpu=2"})
		}
	}
	objects = append(objects, emptyZone("b", 2)...)
	sim := running(t, example(t, "topK: 1"), nil, objects...)
	began := time.Now()
	sim.create(t, inZone(aPod("new", 100, "cpu=1"), "a"))
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] != "" })
	if node := sim.pods(t)["new"]; node[0] != 'a' || len(sim.pods(t)) != 4 {
		t.Errorf("pods are %v", sim.pods(t))
	}
	t.Logf("placed after %v", time.Since(began))
}

// TestEmptyTable covers a scheduler that starts without nodes.
func TestEmptyTable(t *testing.T) {
	sim := running(t, example(t), nil)
	sim.create(t, aPod("new", 0, "cpu=1", "new.example.com/device=1"))
	eventually(t, "the pod was refused", func() bool { return refused(t, sim, "new") })
	for _, node := range []*corev1.Node{aNode("a0", "a", "cpu=4", "pods=10"), aNode("a1", "a", "cpu=4", "pods=10", "new.example.com/device=1")} {
		testkit.Must(sim.client.CoreV1().Nodes().Create(context.Background(), node, metav1.CreateOptions{}))
	}
	eventually(t, "the pod is placed", func() bool { return sim.pods(t)["new"] == "a1" })
}

// oneCard is a ledger that lets one pod at a time have a card.
type oneCard struct{ holder atomic.Pointer[string] }

func (*oneCard) Admit(context.Context, *corev1.Pod, []fwk.NodeInfo) *fwk.Status { return nil }

func (*oneCard) Filter(context.Context, *corev1.Pod, string) *fwk.Status { return nil }

func (l *oneCard) Reserve(_ context.Context, pod *corev1.Pod, _ string) *fwk.Status {
	if !l.holder.CompareAndSwap(nil, &pod.Name) {
		return fwk.NewStatus(fwk.Unschedulable, "the queue has 1 card, "+*l.holder.Load()+" has it")
	}
	return nil
}

func (l *oneCard) Unreserve(_ context.Context, pod *corev1.Pod, _ string) {
	if holder := l.holder.Load(); holder != nil && *holder == pod.Name {
		l.holder.CompareAndSwap(holder, nil)
	}
}

func (*oneCard) Events() []fwk.ClusterEventWithHint { return nil }
func (*oneCard) Sign(*corev1.Pod) (any, bool)       { return nil, false }

var _ resvecfit.Ledger = (*oneCard)(nil)

// TestRefusals looks at the events of refusals: by the nodes, by the predicate for
// idle devices, and by a ledger.
func TestRefusals(t *testing.T) {
	const proportional = "proportional: {enable: true, resources: nvidia.com/gpu, resourceProportion: {nvidia.com/gpu.cpu: 2, nvidia.com/gpu.memory: 1}}"
	sim := running(t, example(t, proportional), &oneCard{},
		aNode("a0", "a", "cpu=8", "memory=64Gi", "pods=10", "nvidia.com/gpu=2"))
	for _, c := range []struct{ pod, want string }{
		{"large", "0/1 nodes are available: 1 Insufficient cpu."},
		{"idle", "0/1 nodes are available. 1 have the room, but keep it for idle devices."},
		{"holder", ""},
		{"late", "the queue has 1 card, holder has it"},
	} {
		pod := aPod(c.pod, 0, map[string]string{"large": "cpu=9", "idle": "cpu=5", "holder": "nvidia.com/gpu=1", "late": "nvidia.com/gpu=1"}[c.pod])
		sim.create(t, pod)
		if c.want == "" {
			eventually(t, c.pod+" is placed", func() bool { return sim.pods(t)[c.pod] != "" })
			continue
		}
		eventually(t, c.pod+" was refused: "+c.want, func() bool { return sim.hasEvent(t, c.pod, c.want) })
	}
}

// hasEvent reports whether there is an event of ours about a pod with this text.
func (s *simulation) hasEvent(t *testing.T, pod, note string) bool {
	t.Helper()
	list := testkit.Must(s.client.EventsV1().Events("").List(context.Background(), metav1.ListOptions{}))
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Name == pod && e.Reason == "ResourcesRefused" && e.Note == note {
			return true
		}
	}
	return false
}
