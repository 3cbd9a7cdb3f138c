package schedulerplugins

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	"github.com/resvec/resvec/benchmarks/internal/peer"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/vectormap"
)

const gpu = "nvidia.com/gpu"

// amounts are milli-cores, bytes and GPUs.
type amounts [3]int64

func (a amounts) list(names int) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(a[0], resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(a[1], resource.BinarySI),
		gpu:                   *resource.NewQuantity(a[2], resource.DecimalSI),
	}
	if names < 3 {
		delete(list, gpu)
	}
	return list
}

// team is a namespace with an elastic quota: what it may use at most, and what it adds
// to the amount that all namespaces together may use.
type team struct {
	least, most amounts
	anyGPUs     bool // no limit of GPUs
}

// both are the same quotas on both sides. The rule of the plugin is a tree of two levels:
// a queue for each namespace, limited by max, below one that is limited by the sum of all
// mins.
type both struct {
	their  plugin
	ledger *quota.Ledger
	teams  []team
}

func name(i int) string { return fmt.Sprintf("team-%03d", i) }

func newBoth(t testing.TB, teams []team) *both {
	t.Helper()
	var theirs []v1alpha1.ElasticQuota
	sum := amounts{}
	for i, team := range teams {
		names := 3
		if team.anyGPUs {
			names = 2
		}
		theirs = append(theirs, elasticQuota(name(i), team.least.list(3), team.most.list(names)))
		for d, x := range team.least {
			sum[d] += x
		}
	}
	// A limit of 0 is meant.
	limit := func(q *quota.Queue, most amounts, unlimited bool) {
		q.Capability = most.list(2)
		q.Cards = map[string]int64{"GPU": most[2]}
		if unlimited {
			q.Cards["GPU"] = quota.Unlimited
		}
	}
	queues := make([]quota.Queue, 1+len(teams))
	queues[0].Name = "all"
	limit(&queues[0], sum, false)
	for i, team := range teams {
		queues[1+i].Name, queues[1+i].Parent = name(i), "all"
		limit(&queues[1+i], team.most, team.anyGPUs)
	}
	inventory := device.Inventory{Nodes: []device.Node{{Name: "node", Cards: []device.Card{{Name: "GPU", Resource: gpu, Count: 8}}}}}
	ledger, err := quota.New(quota.Config{}, inventory.Catalog(), queues)
	if err != nil {
		t.Fatal(err)
	}
	return &both{their: newPlugin(t, theirs), ledger: ledger, teams: teams}
}

// charge asks the plugin, and charges a pod that passes.
func charge(p plugin, pod *corev1.Pod) bool {
	ctx, state := context.Background(), framework.NewCycleState()
	if _, status := p.PreFilter(ctx, state, pod, nil); !status.IsSuccess() {
		return false
	}
	if status := p.Reserve(ctx, state, pod, "node"); !status.IsSuccess() {
		panic(status.AsError())
	}
	return true
}

func (b *both) resolve(pod *corev1.Pod) *quota.TaskRequest {
	task, _, err := b.ledger.ResolveTask(quota.Task{ID: pod.Name, Job: pod.Namespace, Queue: pod.Namespace, Pod: pod})
	if err != nil {
		panic(err)
	}
	if task.Invalid() != "" {
		panic(task.Invalid())
	}
	return task
}

func (b *both) commit(pod *corev1.Pod) quota.Answer {
	answer, err := b.ledger.Commit(b.resolve(pod))
	if err != nil {
		panic(err)
	}
	return answer
}

// drawTeams returns quotas whose mins add up to less than their maxes, so
// that namespaces borrow from each other. Amounts of 0 are among them.
func drawTeams(r peer.Random, count int) []team {
	teams := make([]team, count)
	for i := range teams {
		t := &teams[i]
		t.least = amounts{2000 * r.Int64N(8), r.Int64N(32) << 30, r.Int64N(5)}
		for d, x := range t.least {
			t.most[d] = x * (1 + r.Int64N(3))
		}
		t.anyGPUs = r.Chance(20)
	}
	return teams
}

// drawPod returns a pod with containers, init containers and overhead.
func drawPod(r peer.Random, i, namespaces int) *corev1.Pod {
	pod := r.Pod(fmt.Sprintf("pod-%d", i), func() corev1.ResourceList {
		list := corev1.ResourceList{}
		if r.Chance(80) {
			list[corev1.ResourceCPU] = *resource.NewMilliQuantity(250*r.Int64N(5), resource.DecimalSI)
		}
		if r.Chance(80) {
			list[corev1.ResourceMemory] = *resource.NewQuantity(r.Int64N(5)<<29, resource.BinarySI)
		}
		if r.Chance(15) {
			list[gpu] = *resource.NewQuantity(r.Int64N(3), resource.DecimalSI)
		}
		return list
	})
	pod.Namespace = name(r.IntN(namespaces))
	// The plugin counts sidecars as init containers that end, and no requests of whole
	// pods: TestSidecar.
	for j := range pod.Spec.InitContainers {
		pod.Spec.InitContainers[j].RestartPolicy = nil
	}
	pod.Spec.Resources = nil
	return pod
}

// TestStory: pods come and go in namespaces that borrow from each other. Both let the
// same ones pass.
func TestStory(t *testing.T) {
	const namespaces, steps = 12, 500
	verdicts := map[bool]int{}
	var b *both
	step, known := steps, []*corev1.Pod{}
	peer.Cases(t, func(r peer.Random) error {
		if step == steps {
			step, b, known = 0, newBoth(t, drawTeams(r, namespaces)), nil
		}
		step++
		if len(known) > 0 && r.Chance(35) {
			i := r.IntN(len(known))
			pod := known[i]
			known[i] = known[len(known)-1]
			known = known[:len(known)-1]
			b.their.Unreserve(context.Background(), framework.NewCycleState(), pod, "node")
			if _, ok := b.ledger.Release(pod.Name); !ok {
				return fmt.Errorf("%s isn't known here", pod.Name)
			}
			return nil
		}
		pod := drawPod(r, step, namespaces)
		their, answer := charge(b.their, pod), b.commit(pod)
		if their != answer.OK {
			return fmt.Errorf("pod %v in %s: %v there, %v here, %s", vectormap.PodRequests(pod, vectormap.PodOptions{}), pod.Namespace, their, answer.OK, answer.Refusal.Message())
		}
		verdicts[their]++
		if their {
			known = append(known, pod)
		}
		return nil
	})
	t.Logf("%d admitted, %d refused", verdicts[true], verdicts[false])
}

// TestSidecar: a sidecar runs along with the containers and counts with them. The plugin
// takes it for an init container, and does not look at requests of the pod as a whole.
func TestSidecar(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	container := func(cores int64) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: amounts{1000 * cores, 1 << 30, 0}.list(2)}}
	}
	b := newBoth(t, []team{{least: amounts{3000, 8 << 30, 0}, most: amounts{3000, 8 << 30, 0}}})
	for _, c := range []struct {
		name string
		spec corev1.PodSpec
	}{
		{"sidecar", corev1.PodSpec{Containers: []corev1.Container{container(2)}, InitContainers: []corev1.Container{container(2)}}},
		{"whole", corev1.PodSpec{Containers: []corev1.Container{container(2)}, Resources: &corev1.ResourceRequirements{Requests: amounts{4000, 1 << 30, 0}.list(2)}}},
	} {
		for i := range c.spec.InitContainers {
			c.spec.InitContainers[i].RestartPolicy = &always
		}
		pod := &corev1.Pod{Spec: c.spec}
		pod.Name, pod.Namespace = c.name, name(0)
		if their, our := ask(b.their, pod), b.ledger.Allocatable(nil, b.resolve(pod)); !their || our {
			t.Errorf("%s: 4 of 3 cores: %v there, %v here", c.name, their, our)
		}
	}
}

// BenchmarkStory: 10,000 pods in 100 namespaces, one after the other; with -short 1,000.
func BenchmarkStory(b *testing.B) {
	const namespaces = 100
	pods := 10_000
	if testing.Short() {
		pods = 1_000
	}
	r := peer.NewRandom(1)
	teams := make([]team, namespaces)
	for i := range teams {
		// Together they have what seven of ten pods need, and each may have twice its part.
		n := int64(pods/namespaces*7) / 10
		teams[i] = team{least: amounts{500 * n, n << 30, n / 8}, most: amounts{1000 * n, 2 * n << 30, n / 4}}
	}
	all := make([]*corev1.Pod, pods)
	for i := range all {
		all[i] = drawPod(r, i, namespaces)
	}
	both := newBoth(b, teams)
	plugins := peer.Row{Peer: "scheduler-plugins", Module: "sigs.k8s.io/scheduler-plugins", Equal: "verdicts"}

	their, our := make([]bool, pods), make([]bool, pods)
	same := func(int) error {
		for i, ok := range their {
			if ok != our[i] {
				return fmt.Errorf("pod %d: %v here, %v there", i, our[i], ok)
			}
		}
		return nil
	}
	story := plugins
	story.Function, story.Ours, story.Questions, story.Goal = "CapacityScheduling: PreFilter, Reserve, Unreserve", "Ledger: ResolveTask, Commit, Release", 1, 20
	story.Work = fmt.Sprintf("%d pods in %d queues: each asked for, charged, released", pods, namespaces)
	story.Remark = "there all quotas are copied for each pod; here resolving allocates"
	story.Allocates = float64(60 * pods)
	story.Their = func(int) {
		for i, pod := range all {
			their[i] = charge(both.their, pod)
		}
		for i, pod := range all {
			if their[i] {
				both.their.Unreserve(context.Background(), framework.NewCycleState(), pod, "node")
			}
		}
	}
	story.Our = func(int) {
		for i, pod := range all {
			our[i] = both.commit(pod).OK
		}
		for i, pod := range all {
			if our[i] {
				both.ledger.Release(pod.Name)
			}
		}
	}
	story.Same = same
	b.Run("Story", story.Bench)

	// The question alone, with half of the pods in place.
	tasks := make([]*quota.TaskRequest, pods)
	for i, pod := range all {
		tasks[i] = both.resolve(pod)
		if i%2 == 0 {
			if charge(both.their, pod) != both.commit(pod).OK {
				b.Fatalf("pod %d", i)
			}
		}
	}
	var passes, room bool
	question := plugins
	question.Function, question.Ours, question.Questions, question.Goal = "CapacityScheduling.PreFilter", "Ledger.Allocatable", 64, 20
	question.Work = fmt.Sprintf("one pod, %d queues, %d pods charged before", namespaces, pods/2)
	question.Remark = "the same copies; here the pod is resolved before"
	question.Their = func(k int) { passes = ask(both.their, all[2*k+1]) }
	question.Our = func(k int) { room = both.ledger.Allocatable(nil, tasks[2*k+1]) }
	question.Same = func(int) error {
		if passes != room {
			return fmt.Errorf("%v here, %v there", room, passes)
		}
		return nil
	}
	b.Run("PreFilter", question.Bench)
}
