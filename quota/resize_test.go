package quota

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resizedPod is a pod on node n whose spec requests one amount of cpu, and that has
// another: of its container, or as a whole.
func resizedPod(wants, has string, whole bool, conditions ...corev1.PodCondition) *corev1.Pod {
	pod := podOf("", "cpu:"+wants)
	pod.Spec.NodeName, pod.Status.Phase, pod.Status.Conditions = "n", corev1.PodRunning, conditions
	actual := &corev1.ResourceRequirements{Requests: resourceList("cpu:" + has)}
	if whole {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: resourceList("cpu:" + wants)}
		pod.Status.AllocatedResources, pod.Status.Resources = resourceList("cpu:"+has), actual
		return pod
	}
	pod.Spec.Containers[0].Name = "main"
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: resourceList("cpu:" + has), Resources: actual}}
	return pod
}

// TestResizedInPlace: a pod that is resized is charged what the scheduler counts on its
// node, the greatest of wanted, allocated and actual.
func TestResizedInPlace(t *testing.T) {
	infeasible := corev1.PodCondition{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}
	for _, c := range []struct {
		what  string
		pod   *corev1.Pod
		cfg   Config
		want  Amount
		other string // what comes of another pod with cpu 6
	}{
		{"shrinks", resizedPod("4", "8", false), Config{}, 8000, "CPU 2000 of 10000 at q"},
		{"shrinks as a whole", resizedPod("4", "8", true), Config{}, 8000, "CPU 2000 of 10000 at q"},
		{"grows", resizedPod("8", "4", false), Config{}, 8000, "CPU 2000 of 10000 at q"},
		{"can't grow", resizedPod("12", "8", false, infeasible), Config{}, 8000, "CPU 2000 of 10000 at q"},
		{"can't grow as a whole", resizedPod("12", "8", true, infeasible), Config{}, 8000, "CPU 2000 of 10000 at q"},
		{"only its spec counts", resizedPod("4", "8", false), Config{SpecOnly: true}, 4000, "yes"},
	} {
		w := newWorld(t, c.cfg, "q", "cpu:10 A:4")
		rep, err := w.Reconcile(View{Tasks: []Task{{ID: "t", Job: "j", Queue: "q", Pod: c.pod}}})
		if status, _ := w.Queue("q"); err != nil || len(rep.Failed) > 0 || status.CPU.Allocated != c.want {
			t.Errorf("%s: %d is charged, %v, %v", c.what, status.CPU.Allocated, rep.Failed, err)
		}
		other := resolved(w.ResolveTask(Task{ID: "other", Job: "other", Queue: "q", Pod: podOf("", "cpu:6")}))
		if got := say(w.Commit(other)); got != c.other {
			t.Errorf("%s: another pod: %s, want %s", c.what, got, c.other)
		}
	}
}

// TestResizedBadly: what is wrong in a pod's status makes a request invalid, unless only
// the spec counts.
func TestResizedBadly(t *testing.T) {
	for _, whole := range []bool{false, true} {
		pod := resizedPod("4", "-1", whole)
		field := "status.allocatedResources[cpu]"
		if !whole {
			field = "status.containerStatuses[0].allocatedResources[cpu]"
		}
		w := newWorld(t, Config{}, "q", "cpu:10")
		r, _, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
		if want := field + " is -1: want 0 or more"; err != nil || r.Invalid() != want {
			t.Errorf("%q, %v; want %q", r.Invalid(), err, want)
		}
		w = newWorld(t, Config{SpecOnly: true}, "q", "cpu:10")
		if r, _, err := w.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod}); err != nil || r.Invalid() != "" {
			t.Error(r.Invalid(), err)
		}
	}
}

// TestPodsAreCounted: a pod is one of resource pods, where a rule or a queue is of it.
func TestPodsAreCounted(t *testing.T) {
	const counts = "transformations:\n- {input: pods, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 3}}\n"
	const times = "transformations:\n- {input: cpu, multiplyBy: pods, strategy: Retain, outputs: {kueue.x-k8s.io/credits: 3}}\n"
	for _, c := range []struct {
		what, rules string
		output      corev1.ResourceName
		limit, each int64
	}{
		{"as an output", "transformations: []", corev1.ResourcePods, 2, 1},
		{"by a rule", counts, credits, 6, 3},
		{"as a multiplier", times, credits, 6, 3},
	} {
		cfg := Config{Transformation: compiled(t, c.rules), MissingUnlimited: true}
		m := testkit.Must(testMap(nil, c.output))
		spec := Queue{Name: "q", Capability: corev1.ResourceList{c.output: *resource.NewQuantity(c.limit, resource.DecimalSI)}}
		queue, faults, err := cfg.buildQueue(m, spec)
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		l := testkit.Must(newBuilt(cfg, m, nil, []builtQueue{queue}))
		p := &pool{t, l, cfg}
		if need := p.job("j", "q", "cpu:1", 3).Need(); need.Outputs[c.output] != 3*c.each {
			t.Errorf("%s: three pods need %v", c.what, need.Outputs)
		}
		a, err := l.CommitAll([]*TaskRequest{p.task("1", "j", "q", "cpu:1"), p.task("2", "j", "q", "cpu:1")})
		if got := say(a, err); got != "yes" {
			t.Errorf("%s: two pods: %s", c.what, got)
		}
		a, err = l.Commit(p.task("3", "j", "q", "cpu:1"))
		if a.OK || err != nil || a.Refusal.Resource != string(c.output) || a.Refusal.Room != 0 {
			t.Errorf("%s: the third pod: %+v, %v", c.what, a, err)
		}
	}
	// Without either a limit of pods is none, and noted.
	m := testkit.Must(testMap(nil))
	if _, notes, err := new(Config).buildQueue(m, Queue{Name: "q", Capability: resourceList("pods:2")}); err != nil || codes(notes) != "pods IgnoredResource" {
		t.Error(codes(notes), err)
	}
}
