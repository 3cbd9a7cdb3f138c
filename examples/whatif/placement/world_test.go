package placement_test

import (
	"fmt"
	"math/rand/v2"
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

// A world is a random cluster and the kinds of pods that come to it.
type world struct {
	nodes    []*corev1.Node
	bound    []*corev1.Pod // pods that run, by spec.nodeName
	pods     []*corev1.Pod // one of each kind
	m        *vectormap.ResourceVectorMap
	requests []*vector.PodAmounts // of pods
}

func newWorld(r *rand.Rand, nodes, kinds int) *world {
	w := new(world)
	for i := range nodes {
		w.nodes = append(w.nodes, randomNode(r, fmt.Sprintf("node-%d", i)))
		for j := range r.IntN(4) {
			pod := randomPod(r, fmt.Sprintf("bound-%d-%d", i, j))
			pod.Spec.NodeName = w.nodes[i].Name
			w.bound = append(w.bound, pod)
		}
	}
	for i := range kinds {
		w.pods = append(w.pods, randomPod(r, fmt.Sprintf("pod-%d", i)))
	}
	return w
}

func newState(m *vectormap.ResourceVectorMap, terms []scoring.Term) *placement.State {
	return testkit.Must(placement.NewState(m, terms))
}

// state returns the state of the world before a pod is placed.
func (w *world) state(t testing.TB) *placement.State {
	t.Helper()
	var err error
	if w.m, err = placement.NewMap(w.nodes, append(w.bound[:len(w.bound):len(w.bound)], w.pods...)); err != nil {
		t.Fatal(err)
	}
	terms := testkit.Must(placement.KubeTerms(w.m, placement.DefaultStrategy(), 1, 1))
	s := newState(w.m, terms)
	for _, node := range w.nodes {
		testkit.Check(s.AddNode(node))
	}
	for _, pod := range w.bound {
		testkit.Check(s.Bind(request(w.m, pod), pod.Spec.NodeName))
	}
	w.requests = nil
	for _, pod := range w.pods {
		w.requests = append(w.requests, request(w.m, pod))
	}
	return s
}

func request(m *vectormap.ResourceVectorMap, pod *corev1.Pod) *vector.PodAmounts {
	return testkit.Must(placement.RequestOf(m, pod))
}

// randomNode returns a plain node, one with GPUs or one with MIG instances.
func randomNode(r *rand.Rand, name string) *corev1.Node {
	size := int64(1) << r.IntN(4)
	have := corev1.ResourceList{
		"cpu":               *resource.NewMilliQuantity(size*4000-80, resource.DecimalSI),
		"memory":            *resource.NewQuantity(size<<34-7<<20, resource.BinarySI),
		"ephemeral-storage": *resource.NewQuantity(100<<30, resource.BinarySI),
		"pods":              *resource.NewQuantity(int64(3+r.IntN(40)), resource.DecimalSI),
	}
	switch r.IntN(4) {
	case 0:
		have["nvidia.com/gpu"] = *resource.NewQuantity(size, resource.DecimalSI)
	case 1:
		have["nvidia.com/mig-1g.10gb"] = *resource.NewQuantity(7, resource.DecimalSI)
		have["nvidia.com/mig-3g.40gb"] = *resource.NewQuantity(2, resource.DecimalSI)
	}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: have}}
}

// randomPod returns a pod of up to two containers, some of which request nothing,
// sometimes with an init container and overhead.
func randomPod(r *rand.Rand, name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	for range 1 + r.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, randomContainer(r))
	}
	if r.IntN(4) == 0 {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, randomContainer(r))
	}
	if r.IntN(8) == 0 {
		pod.Spec.Overhead = corev1.ResourceList{"memory": resource.MustParse("120Mi")}
	}
	return pod
}

func randomContainer(r *rand.Rand) corev1.Container {
	want := corev1.ResourceList{}
	if r.IntN(5) > 0 {
		want["cpu"] = *resource.NewMilliQuantity(int64(r.IntN(4000)), resource.DecimalSI)
	}
	if r.IntN(5) > 0 {
		want["memory"] = *resource.NewQuantity(r.Int64N(16<<30), resource.BinarySI)
	}
	switch r.IntN(12) {
	case 0:
		want["nvidia.com/gpu"] = *resource.NewQuantity(int64(r.IntN(3)), resource.DecimalSI)
	case 1:
		want["nvidia.com/mig-1g.10gb"] = *resource.NewQuantity(1, resource.DecimalSI)
	case 2:
		want["ephemeral-storage"] = *resource.NewQuantity(r.Int64N(40<<30), resource.BinarySI)
	case 3:
		if r.IntN(8) == 0 {
			want["example.com/nobody-has-it"] = *resource.NewQuantity(1, resource.DecimalSI)
		}
	}
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: want}}
}
