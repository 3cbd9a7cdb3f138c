package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// everyNode has all nodes looked at, by one worker.
const everyNode = "\nparallelism: 1\npercentageOfNodesToScore: 100\n"

// decision is what a scheduler says about a pod: a node, or none.
type decision struct {
	pod  *corev1.Pod
	node string
}

// recorder notes the decisions of a scheduler in their order.
type recorder struct {
	mu        sync.Mutex
	decisions []decision
}

func (r *recorder) watch(sim *simulation) {
	schedule := sim.SchedulePod
	sim.SchedulePod = func(ctx context.Context, profile framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		result, err := schedule(ctx, profile, state, pod)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.decisions = append(r.decisions, decision{pod.Pod, result.SuggestedHost})
		return result, err
	}
}

func (r *recorder) all() []decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decisions
}

// snapshot is a cluster, and pods that are to be placed.
type snapshot struct {
	nodes         []*corev1.Node
	bound, queued []*corev1.Pod
}

func (s *snapshot) objects() []runtime.Object {
	var list []runtime.Object
	for _, node := range s.nodes {
		list = append(list, node)
	}
	for _, pod := range s.bound {
		list = append(list, pod)
	}
	return list
}

// library places pods with package resvec alone.
type library struct {
	t     testing.TB
	state *placement.State
	of    func(*corev1.Pod) *vector.PodAmounts
}

// newLibrary makes a state that scores as kube-scheduler does by default.
func newLibrary(t testing.TB, s *snapshot) *library {
	t.Helper()
	m := testkit.Must(placement.NewMap(s.nodes, append(append([]*corev1.Pod{}, s.bound...), s.queued...)))
	terms := testkit.Must(placement.KubeTerms(m, placement.DefaultStrategy(), 1, 1))
	state := testkit.Must(placement.NewState(m, terms))
	l := &library{t: t, state: state}
	l.of = func(pod *corev1.Pod) *vector.PodAmounts {
		return testkit.Must(placement.RequestOf(m, pod))
	}
	for _, node := range s.nodes {
		testkit.Check(l.state.AddNode(node))
	}
	for _, pod := range s.bound {
		l.put(pod, pod.Spec.NodeName)
	}
	return l
}

func (l *library) put(pod *corev1.Pod, node string) {
	testkit.Check(l.state.Bind(l.of(pod), node))
}

// best returns the rows of the best nodes for a pod; none when it fits nowhere.
func (l *library) best(pod *corev1.Pod) *vector.Mask {
	d := testkit.Must(l.state.Decide(pod, l.of(pod), nil))
	var best vector.Mask
	d.Best(&best)
	if best.Any() != d.Fits.Any() {
		l.t.Fatalf("%s fits on %d nodes, of which %d are best", pod.Name, d.Fits.Count(), best.Count())
	}
	return &best
}

// randomSnapshot has nodes of a few sizes, some of them with GPUs, partly full.
func randomSnapshot(w *rand.Rand, nodes, queued int) *snapshot {
	s := &snapshot{}
	for i := range nodes {
		amounts := []string{fmt.Sprintf("cpu=%d", 4+4*w.IntN(8)), fmt.Sprintf("memory=%dGi", 8+8*w.IntN(12)), "pods=20"}
		if w.IntN(3) == 0 {
			amounts = append(amounts, "nvidia.com/gpu=4")
		}
		name := fmt.Sprintf("node-%d", i)
		s.nodes = append(s.nodes, aNode(name, "z", amounts...))
		for k := range w.IntN(3) {
			s.bound = append(s.bound, bound(aPod(fmt.Sprintf("old-%d-%d", i, k), 0, fmt.Sprintf("cpu=%dm", 250*w.IntN(5)), "memory=1Gi"), name))
		}
	}
	for i := range queued {
		s.queued = append(s.queued, randomPod(w, i))
	}
	return s
}

// randomPod returns a pod of one or two containers. Some request GPUs, some nothing
// but memory, some neither that nor CPUs, and some more than any node has.
func randomPod(w *rand.Rand, i int) *corev1.Pod {
	var amounts []string
	if w.IntN(5) > 0 {
		amounts = append(amounts, fmt.Sprintf("memory=%dMi", 64*(1+w.IntN(64))))
	}
	if w.IntN(4) > 0 {
		amounts = append(amounts, fmt.Sprintf("cpu=%dm", 50*(1+w.IntN(60))))
	}
	if w.IntN(5) == 0 {
		amounts = append(amounts, fmt.Sprintf("nvidia.com/gpu=%d", 1+w.IntN(2)))
	}
	if w.IntN(40) == 0 {
		amounts = append(amounts, "cpu=64")
	}
	pod := aPod(fmt.Sprintf("new-%d", i), 0, amounts...)
	if w.IntN(3) == 0 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "idle"})
	}
	return pod
}

// TestPlacement replays the decisions of the scheduler against the library, which
// computes them without a scheduler: every node that was chosen is one of the best,
// and a pod that got none fits nowhere.
func TestPlacement(t *testing.T) {
	for name, configuration := range map[string]string{"built-in": builtin, "ResvecFit": example(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := randomSnapshot(rand.New(rand.NewPCG(1, 2)), 60, 500)
			objects := s.objects()
			for _, pod := range s.queued {
				objects = append(objects, pod)
			}
			sim := simulate(t, configuration+everyNode, nil, objects...)
			var r recorder
			r.watch(sim)
			sim.run(t)
			eventually(t, "all pods are decided on", func() bool { return len(r.all()) >= len(s.queued) })
			l := newLibrary(t, s)
			placed, ties := 0, 0
			for _, d := range r.all() {
				best := l.best(d.pod)
				if d.node == "" {
					if best.Any() {
						t.Errorf("%s got no node and fits on %d", d.pod.Name, best.Count())
					}
					continue
				}
				row, ok := l.state.Row(d.node)
				if !ok || !best.Test(row) {
					t.Errorf("%s got %s, which is not among the best %d", d.pod.Name, d.node, best.Count())
				}
				if placed++; best.Count() > 1 {
					ties++
				}
				l.put(d.pod, d.node)
			}
			t.Logf("%d decisions, %d pods placed, %d of them on one of several best nodes", len(r.all()), placed, ties)
			if placed == 0 || placed == len(r.all()) || ties == 0 {
				t.Error("the snapshot doesn't cover pods that fit nowhere, or that have several best nodes")
			}
		})
	}
}

// TestPlacementNames has a queue in which every pod has one best node at most: the
// scheduler names the nodes that the library names.
func TestPlacementNames(t *testing.T) {
	w := rand.New(rand.NewPCG(3, 4))
	s := randomSnapshot(w, 12, 0)
	s.queued = []*corev1.Pod{aPod("names", 0, "cpu=1", "memory=1", "nvidia.com/gpu=1")} // for the map
	l := newLibrary(t, s)
	s.queued = nil
	want := map[string]string{}
	for n := 0; len(s.queued) < 60 && n < 100000; n++ {
		pod := randomPod(w, len(s.queued))
		best := l.best(pod)
		if best.Count() > 1 {
			continue
		}
		want[pod.Name] = ""
		for row := range best.All() {
			want[pod.Name] = l.state.Name(row)
			l.put(pod, want[pod.Name])
		}
		s.queued = append(s.queued, pod)
	}
	if len(s.queued) < 60 {
		t.Fatalf("only %d pods have one best node", len(s.queued))
	}
	for name, configuration := range map[string]string{"built-in": builtin, "ResvecFit": example(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := simulate(t, configuration+everyNode, nil, s.objects()...)
			var r recorder
			r.watch(sim)
			sim.run(t)
			for i, pod := range s.queued {
				sim.create(t, pod.DeepCopy())
				eventually(t, pod.Name+" is decided on", func() bool { return len(r.all()) > i })
				if got := r.all()[i]; got.pod.Name != pod.Name || got.node != want[pod.Name] {
					t.Fatalf("%s got %q, want %s on %q", got.pod.Name, got.node, pod.Name, want[pod.Name])
				}
			}
		})
	}
}

// BenchmarkPlacement places a queue of pods on nodes that hold a few: with the
// scheduler, counting nothing but SchedulePod, and with the library, from the pod
// objects to the nodes.
func BenchmarkPlacement(b *testing.B) {
	const pods = 200
	for _, nodes := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s := randomSnapshot(rand.New(rand.NewPCG(5, 6)), nodes, pods)
			var inScheduler, inLibrary time.Duration
			for b.Loop() {
				inScheduler += placeByScheduler(b, s)
				inLibrary += placeByLibrary(b, s)
			}
			b.ReportMetric(0, "ns/op")
			perSecond := func(took time.Duration) float64 { return float64(pods*b.N) / took.Seconds() }
			b.ReportMetric(perSecond(inScheduler), "scheduler-pods/s")
			b.ReportMetric(perSecond(inLibrary), "library-pods/s")
			b.ReportMetric(inScheduler.Seconds()/inLibrary.Seconds(), "ratio")
		})
	}
}

// placeByScheduler returns how long SchedulePod took for all pods of the queue.
func placeByScheduler(b *testing.B, s *snapshot) (took time.Duration) {
	sim := simulate(b, builtin+"\npercentageOfNodesToScore: 100\n", nil)
	logger := klog.Background()
	for _, node := range s.nodes {
		sim.Cache.AddNode(logger, node)
	}
	for _, pod := range s.bound {
		testkit.Check(sim.Cache.AddPod(logger, pod))
	}
	ctx := klog.NewContext(context.Background(), logr.Discard())
	for _, pod := range s.queued {
		info := testkit.Must(framework.NewPodInfo(pod))
		profile, state := sim.update(ctx, b), framework.NewCycleState()
		began := time.Now()
		result, err := sim.SchedulePod(ctx, profile, state, &framework.QueuedPodInfo{PodInfo: info})
		took += time.Since(began)
		if err == nil {
			testkit.Check(sim.Cache.AddPod(logger, bound(pod.DeepCopy(), result.SuggestedHost)))
		}
	}
	return took
}

// placeByLibrary returns how long the library took.
func placeByLibrary(b *testing.B, s *snapshot) time.Duration {
	l := newLibrary(b, s)
	began := time.Now()
	for _, pod := range s.queued {
		request := l.of(pod)
		d := testkit.Must(l.state.Decide(pod, request, nil))
		if row := d.Choose(vector.TieLowest()); row >= 0 {
			testkit.Check(l.state.Assume(row, pod, request))
		}
	}
	return time.Since(began)
}
