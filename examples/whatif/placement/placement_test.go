package placement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Random clusters and queues, pod after pod: the nodes that fit, their scores and
// the best of them are the same as by a loop over maps of whole numbers, and stay so as
// pods are placed.
func TestAgainstNaive(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			compare(t, newWorld(r, 1+r.IntN(120), 60), seed)
		}
	})
}

func TestLargeAgainstNaive(t *testing.T) {
	if testing.Short() {
		t.Skip("a large cluster takes a while")
	}
	compare(t, newWorld(rand.New(rand.NewPCG(99, 1)), 1500, 250), 99)
}

// compare places the pods of a world and fails at the first difference.
func compare(t *testing.T, w *world, seed uint64) {
	t.Helper()
	state := w.state(t)
	naive := newNaive(w)
	var best vector.Mask
	refused := 0
	for i, request := range w.requests {
		pod := w.pods[i]
		d := testkit.Must(state.Decide(nil, request, nil))
		d.Best(&best)
		scores := naive.scores(pod)
		greatest := slices.Max(scores)
		for row, want := range scores {
			fits := want >= 0
			if d.Fits.Test(row) != fits {
				t.Fatalf("seed %d, %s on %s: fits %v, want %v", seed, pod.Name, state.Name(row), !fits, fits)
			}
			if fits && d.Scores[row] != float64(want) {
				t.Fatalf("seed %d, %s on %s: score %v, want %d", seed, pod.Name, state.Name(row), d.Scores[row], want)
			}
			if isBest := fits && want == greatest; best.Test(row) != isBest {
				t.Fatalf("seed %d, %s on %s: best %v, want %v", seed, pod.Name, state.Name(row), !isBest, isBest)
			}
		}
		row := d.Choose(vector.TieSeeded(seed))
		if row < 0 {
			refused++
			if got, want := state.Explain(nil, request, nil, nil), naive.explain(pod); got != want {
				t.Fatalf("seed %d, %s: got %q, want %q", seed, pod.Name, got, want)
			}
			continue
		}
		if !best.Test(row) {
			t.Fatalf("seed %d, %s: row %d is chosen and not among the best", seed, pod.Name, row)
		}
		testkit.Check(state.Assume(row, nil, request))
		naive.assume(row, pod)
	}
	if refused == len(w.requests) {
		t.Errorf("seed %d: all pods are refused", seed)
	}
}

// naive holds a cluster as maps of whole numbers: thousandths of a CPU, and units
// of everything else.
type naive struct{ allocatable, used, scored []map[string]int64 }

func newNaive(w *world) *naive {
	n := new(naive)
	index := make(map[string]int)
	for i, node := range w.nodes {
		index[node.Name] = i
		n.allocatable = append(n.allocatable, plain(node.Status.Allocatable))
		n.used = append(n.used, map[string]int64{})
		n.scored = append(n.scored, map[string]int64{})
	}
	for _, pod := range w.bound {
		n.assume(index[pod.Spec.NodeName], pod)
	}
	return n
}

func plain(list corev1.ResourceList) map[string]int64 {
	amounts := make(map[string]int64)
	for name, quantity := range list {
		amounts[string(name)] = quantity.Value()
		if name == corev1.ResourceCPU {
			amounts["cpu"] = quantity.MilliValue()
		}
	}
	return amounts
}

// requestOf returns the sum over the containers, or what an init container needs
// if that is more, and the overhead.
func requestOf(pod *corev1.Pod, defaults bool) map[string]int64 {
	of := func(c corev1.Container) map[string]int64 {
		amounts := plain(c.Resources.Requests)
		for name, amount := range map[string]int64{"cpu": 100, "memory": 200 << 20} {
			if _, has := amounts[name]; !has && defaults {
				amounts[name] = amount
			}
		}
		return amounts
	}
	sum := make(map[string]int64)
	for _, c := range pod.Spec.Containers {
		for name, amount := range of(c) {
			sum[name] += amount
		}
	}
	for _, c := range pod.Spec.InitContainers {
		for name, amount := range of(c) {
			sum[name] = max(sum[name], amount)
		}
	}
	for name, amount := range plain(pod.Spec.Overhead) {
		sum[name] += amount
	}
	sum["pods"] = 1
	return sum
}

func (n *naive) assume(row int, pod *corev1.Pod) {
	for name, amount := range requestOf(pod, false) {
		n.used[row][name] += amount
	}
	for name, amount := range requestOf(pod, true) {
		n.scored[row][name] += amount
	}
}

// lacks returns the reasons why a pod doesn't fit on a node.
func (n *naive) lacks(row int, pod *corev1.Pod) (reasons []string) {
	for name, amount := range requestOf(pod, false) {
		if amount > 0 && amount > n.allocatable[row][name]-n.used[row][name] {
			reason := "Insufficient " + name
			if name == "pods" {
				reason = "Too many pods"
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// scores returns LeastAllocated plus BalancedAllocation of each node, and -1 for
// those on which the pod does not fit.
func (n *naive) scores(pod *corev1.Pod) []int64 {
	scores := make([]int64, len(n.allocatable))
	request, withDefaults := requestOf(pod, false), requestOf(pod, true)
	isBestEffort := request["cpu"] == 0 && request["memory"] == 0
	for row := range scores {
		if len(n.lacks(row, pod)) > 0 {
			scores[row] = -1
			continue
		}
		least := int64(0)
		var with, without [2]float64
		for i, name := range []string{"cpu", "memory"} {
			have := n.allocatable[row][name]
			if asked := n.scored[row][name] + withDefaults[name]; asked <= have {
				least += (have - asked) * 100 / have
			}
			with[i] = min(1, float64(n.used[row][name]+request[name])/float64(have))
			without[i] = min(1, float64(n.used[row][name])/float64(have))
		}
		balance := func(f [2]float64) int64 { return int64((1 - math.Abs((f[0]-f[1])/2)) * 100) }
		scores[row] = least / 2
		if !isBestEffort {
			scores[row] += 50 + (50+balance(with)-balance(without))/2
		}
	}
	return scores
}

func (n *naive) explain(pod *corev1.Pod) string {
	counts := make(map[string]int)
	for row := range n.allocatable {
		for _, reason := range n.lacks(row, pod) {
			counts[reason]++
		}
	}
	var reasons []string
	for reason, count := range counts {
		reasons = append(reasons, fmt.Sprint(count, " ", reason))
	}
	slices.Sort(reasons)
	text := fmt.Sprintf("0/%d nodes are available: ", len(n.allocatable))
	for i, reason := range reasons {
		if i > 0 {
			text += ", "
		}
		text += reason
	}
	return text + "."
}

// two returns a state of two equal nodes with 4 CPUs, 8 GiB and 10 pods.
func two(t *testing.T, terms bool) (*placement.State, *vector.PodAmounts) {
	t.Helper()
	have := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}
	w := new(world)
	for _, name := range []string{"a", "b"} {
		w.nodes = append(w.nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: have}})
	}
	w.pods = []*corev1.Pod{{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("3")}}}}}}}
	s := w.state(t)
	if !terms {
		s = newState(w.m, nil)
		for _, node := range w.nodes {
			testkit.Check(s.AddNode(node))
		}
	}
	return s, w.requests[0]
}

func mustMap() *vectormap.ResourceVectorMap {
	return testkit.Must(placement.NewMap(nil, nil))
}

func TestTiesAndForget(t *testing.T) {
	state, request := two(t, true)
	best := func(s *placement.State) (rows []int) {
		d := testkit.Must(s.Decide(nil, request, nil))
		var mask vector.Mask
		d.Best(&mask)
		return slices.Collect(mask.All())
	}
	assume := func(s *placement.State, row int) {
		testkit.Check(s.Assume(row, nil, request))
	}
	if got := best(state); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("two empty nodes: the best are %v", got)
	}
	assume(state, 0)
	if got := best(state); !slices.Equal(got, []int{1}) {
		t.Errorf("one is full: the best are %v", got)
	}
	other := state.Clone()
	assume(other, 1)
	if got := best(other); got != nil {
		t.Errorf("both are full: the best are %v", got)
	}
	if got, want := other.Explain(nil, request, nil, map[string]int{"node(s) were unschedulable": 1}), "0/2 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := best(state); !slices.Equal(got, []int{1}) {
		t.Errorf("a change of the clone shows: the best are %v", got)
	}
	testkit.Check(state.Forget(0, nil, request))
	if got := best(state); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("forgotten: the best are %v", got)
	}
}

func TestNoTerms(t *testing.T) {
	state, request := two(t, false)
	d, err := state.Decide(nil, request, nil)
	if err != nil || d.Scores[0] != 0 || d.Scores[1] != 0 || d.Fits.Count() != 2 {
		t.Errorf("got %v of %v, error %v", d.Scores, d.Fits, err)
	}
}

// TestBestEffortIsNotBalanced: NodeResourcesBalancedAllocation of kube-scheduler
// v1.36 skips pods that request none of its resources (balanced_allocation.go,
// PreScore, and Score where that has not run).
func TestBestEffortIsNotBalanced(t *testing.T) {
	state, running := two(t, true) // 3 of 4 CPUs and no memory
	testkit.Check(state.Bind(running, "a"))
	m := mustMap()
	terms := testkit.Must(placement.KubeTerms(m, placement.DefaultStrategy(), 0, 1))
	balanced := newState(m, terms)
	for row := range state.Len() {
		testkit.Check(balanced.AddAmounts(state.Name(row), state.Nodes().Allocatable().Row(nil, row)))
	}
	testkit.Check(balanced.Bind(running, "a"))
	for _, c := range []struct {
		requests corev1.ResourceList
		want     []float64
	}{
		{nil, []float64{0, 0}},
		{corev1.ResourceList{"cpu": resource.MustParse("0")}, []float64{0, 0}},
		{corev1.ResourceList{"memory": resource.MustParse("8Gi")}, []float64{87, 50}},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: c.requests}}}}}
		d, err := balanced.Decide(nil, request(m, pod), nil)
		if err != nil || !slices.Equal(d.Scores, c.want) {
			t.Errorf("%v: scores %v, %v; want %v", c.requests, d.Scores, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	state, request := two(t, true)
	if err := state.AddAmounts("a", nil); err == nil {
		t.Error("a second node of a name is no error")
	}
	if err := state.Bind(request, "c"); err == nil {
		t.Error("a pod on a node that isn't there is no error")
	}
	if got, want := newState(mustMap(), nil).Explain(nil, request, nil, nil), "no nodes available to schedule pods"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := placement.NewState(mustMap(), []scoring.Term{{Weight: 1}}); err == nil {
		t.Error("a term without a scorer is no error")
	}
	if _, err := placement.KubeTerms(mustMap(), scoring.KubeConfig{Type: "Best"}, 1, 1); err == nil {
		t.Error("a type that doesn't exist is no error")
	}
	unknown := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"example.com/x": resource.MustParse("1")}}}}}}
	if _, err := placement.RequestOf(mustMap(), unknown); err == nil {
		t.Error("a name that the map doesn't have is no error")
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	w := newWorld(rand.New(rand.NewPCG(3, 4)), 200, 5)
	state := w.state(t)
	testkit.Must(state.Decide(nil, w.requests[0], nil))
	n := testing.AllocsPerRun(100, func() {
		d := testkit.Must(state.Decide(nil, w.requests[0], nil))
		if row := d.Choose(vector.TieLowest()); row >= 0 {
			testkit.Check(state.Assume(row, nil, w.requests[0]))
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
