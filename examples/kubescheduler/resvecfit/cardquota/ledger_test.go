package cardquota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"sigs.k8s.io/yaml"
)

// queues is a tree of quotas.
const queues = `
queueLabel: queue
jobLabels: [job]
missing: Unlimited
queues:
- {name: lab, cards: {H100: 4, A100: 4}}
- {name: a, parent: lab, cards: {H100: 2, A100: 4}}
- {name: b, parent: lab, cards: {H100: 4}}
- {name: cpu, capability: {cpu: "2"}}
`

func parse(t testing.TB, text string) *Config {
	t.Helper()
	cfg := &Config{}
	testkit.Check(yaml.UnmarshalStrict([]byte(text), cfg))
	return cfg
}

// cluster is a ledger with a cluster that it follows.
type cluster struct {
	*Ledger
	client *fake.Clientset
	nodes  []fwk.NodeInfo
	known  cache.Store // of pods
}

// nodeInfo is a node of a snapshot.
type nodeInfo struct {
	fwk.NodeInfo
	node       *corev1.Node
	generation int64
}

func (n *nodeInfo) Node() *corev1.Node   { return n.node }
func (n *nodeInfo) GetGeneration() int64 { return n.generation }

// touch has the snapshot show that something on a node has changed.
func (c *cluster) touch(name string) {
	for _, info := range c.nodes {
		if info := info.(*nodeInfo); info.node.Name == name {
			info.generation++
		}
	}
}

// relabel gives node h cards of another name.
func (c *cluster) relabel(product string) {
	for i, info := range c.nodes {
		if info.Node().Name == "h" {
			c.nodes[i] = &nodeInfo{node: newNode("h", product), generation: info.GetGeneration() + 1}
		}
	}
}

// newCluster has three nodes: h, a and c.
func newCluster(t testing.TB, text string, objects ...runtime.Object) *cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	ledger := testkit.Must(New(parse(t, text), factory))
	// The fake client loses what happens after an informer's list and before its watch.
	watching := make(chan struct{})
	started := sync.OnceFunc(func() { close(watching) })
	client.PrependWatchReactor("pods", func(action clienttesting.Action) (bool, watch.Interface, error) {
		var options metav1.ListOptions
		if a, ok := action.(clienttesting.WatchActionImpl); ok {
			options = a.ListOptions
		}
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace(), options)
		started()
		return true, w, err
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	<-watching
	c := &cluster{Ledger: ledger, client: client, known: factory.Core().V1().Pods().Informer().GetStore()}
	for name, product := range map[string]string{"h": "H100", "a": "A100", "c": ""} {
		c.nodes = append(c.nodes, &nodeInfo{node: newNode(name, product)})
	}
	return c
}

func newNode(name, product string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	node.Status.Allocatable = amounts("cpu", "64")
	if product != "" {
		node.Labels = map[string]string{"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "40960"}
		node.Status.Allocatable = amounts("cpu", "64", "nvidia.com/gpu", "8")
	}
	return node
}

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// newPod returns a pod with a cpu and GPUs on cards of these names.
func newPod(name, queue, gpus, cards string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Labels: map[string]string{}}}
	list := amounts("cpu", "1")
	if gpus != "" {
		list = amounts("cpu", "1", "nvidia.com/gpu", gpus)
	}
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list}}}
	if queue != "" {
		pod.Labels["queue"] = queue
	}
	if cards != "" {
		pod.Annotations = map[string]string{"volcano.sh/card.name": cards}
	}
	return pod
}

func ofJob(pod *corev1.Pod, job string) *corev1.Pod {
	pod.Labels["job"] = job
	return pod
}

func bound(pod *corev1.Pod, node string) *corev1.Pod {
	pod.Spec.NodeName = node
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// arrive lets the informer know of a pod, and checks what the cycle answers.
func (c *cluster) arrive(t *testing.T, pod *corev1.Pod, node, want string) {
	t.Helper()
	testkit.Check(c.known.Add(pod))
	c.wants(t, pod, node, want)
}

// place does what a scheduling cycle does, and returns why it ended without a node.
func (c *cluster) place(pod *corev1.Pod, node string) string {
	ctx := context.Background()
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	c.touch(node)
	for _, status := range []func() *fwk.Status{
		func() *fwk.Status { return c.Admit(ctx, pod, c.nodes) },
		func() *fwk.Status { return c.Filter(ctx, pod, node) },
		func() *fwk.Status { return c.Reserve(ctx, assumed, node) },
	} {
		if s := status(); !s.IsSuccess() {
			return s.Code().String() + ": " + s.Message()
		}
	}
	return ""
}

// wants checks what a scheduling cycle answers; "": the pod is placed.
func (c *cluster) wants(t *testing.T, pod *corev1.Pod, node, want string) {
	t.Helper()
	if got := c.place(pod, node); !says(got, want) {
		t.Errorf("%s on %s: %s\nwant %s", pod.Name, node, got, want)
	}
}

// full is a refusal by queue a, for a card or alternatives. The words between the
// parts are package quota's.
func full(card, requested string) string {
	return refusal("a", "card "+card, requested)
}

const noCard = "UnschedulableAndUnresolvable: node(s) had none of the cards that the pod takes"

func refusal(queue, what, requested string) string {
	return fmt.Sprintf(`UnschedulableAndUnresolvable: queue %q: insufficient quota of %s: requested %s, …`, queue, what, requested)
}

// says reports whether a text is another one, or begins with it where that ends in
// an ellipsis.
func says(text, want string) bool {
	if part, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(text, part)
	}
	return text == want
}

// TestDecisions: pods that come one after the other, where they are put, and what
// is said.
func TestDecisions(t *testing.T) {
	type step struct {
		pod        *corev1.Pod
		node, want string
	}
	for what, steps := range map[string][]step{
		"a card, and no more than there are": {
			{newPod("1", "a", "1", "H100"), "h", ""},
			{newPod("2", "a", "2", "H100"), "h", full("H100", "2 cards")},
			{newPod("3", "a", "1", "H100"), "h", ""},
			{newPod("4", "a", "1", "H100"), "h", full("H100", "1 card")},
		},
		"the queue above is full": {
			{newPod("1", "b", "3", "H100"), "h", ""},
			{newPod("2", "a", "2", "H100"), "h", full("H100", "2 cards")},
		},
		"another node for another card": {
			{newPod("1", "a", "1", "H100"), "a", noCard},
			{newPod("2", "a", "1", "H100"), "c", noCard},
			{newPod("3", "a", "2", "H100|A100"), "h", ""},
			{newPod("4", "a", "2", "H100|A100"), "h", full("H100|A100", "2 cards")},
			{newPod("4", "a", "2", "H100|A100"), "a", ""},
		},
		"no card is named": {
			{newPod("1", "b", "1", ""), "a", refusal("b", "card A100|H100", "1 card")},
			{newPod("2", "b", "1", ""), "h", ""},
		},
		"a job is on one card": {
			{ofJob(newPod("1", "a", "1", "H100|A100"), "j"), "a", ""},
			{ofJob(newPod("2", "a", "1", "H100|A100"), "j"), "h", full("H100|A100", "1 card")},
			{ofJob(newPod("3", "a", "1", "H100|A100"), "j"), "a", ""},
			{ofJob(newPod("4", "a", "1", "H100|A100"), "other"), "h", ""},
			{ofJob(newPod("5", "b", "1", "H100|A100"), "j"), "h", ""}, // of another queue
		},
		"cpu": {
			{newPod("1", "cpu", "", ""), "c", ""},
			{newPod("2", "cpu", "", ""), "c", ""},
			{newPod("3", "cpu", "", ""), "c", refusal("cpu", "cpu", "1 core")},
		},
		"other queues": {
			{newPod("1", "", "8", "H100"), "h", ""},
			{newPod("2", "x", "1", "H100"), "h", `UnschedulableAndUnresolvable: there is no queue "x"`},
			{newPod("3", "lab", "1", "H100"), "h", `UnschedulableAndUnresolvable: queue "lab" has queues below it and takes no jobs: use one of those`},
		},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCluster(t, queues)
			for _, s := range steps {
				c.arrive(t, s.pod, s.node, s.want)
			}
			testkit.Check(c.account.Check())
		})
	}
}

// TestFollows: what comes and goes without the scheduler.
func TestFollows(t *testing.T) {
	ctx := context.Background()
	running := bound(newPod("running", "a", "2", "H100"), "h")
	late := newPod("late", "a", "1", "H100")
	ended := bound(newPod("ended", "a", "2", "H100"), "h")
	ended.Status.Phase = corev1.PodSucceeded
	c := newCluster(t, queues, running, ended)
	c.arrive(t, late, "h", full("H100", "1 card"))
	eventually := func(what, want string, pod *corev1.Pod, node string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			got := c.place(pod, node)
			if says(got, want) {
				return
			}
			c.Unreserve(ctx, pod, node)
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s\nwant %s", what, got, want)
			}
		}
	}
	pods := c.client.CoreV1().Pods("default")

	testkit.Check(pods.Delete(ctx, "running", metav1.DeleteOptions{}))
	eventually("a pod is gone", "", late, "h")
	c.Unreserve(ctx, late, "h")
	c.Unreserve(ctx, late, "h") // a second time changes nothing

	foreign := bound(newPod("foreign", "a", "2", "H100"), "h")
	testkit.Must(pods.Create(ctx, foreign, metav1.CreateOptions{}))
	eventually("another scheduler has bound a pod", full("H100", "1 card"), late, "h")

	foreign = foreign.DeepCopy()
	foreign.Status.Phase = corev1.PodFailed
	testkit.Must(pods.UpdateStatus(ctx, foreign, metav1.UpdateOptions{}))
	eventually("a pod has failed", "", late, "h")

	other := newPod("other", "a", "1", "A100")
	c.wants(t, other, "new", noCard) // not there
	c.nodes = append(c.nodes, &nodeInfo{node: newNode("new", "")})
	c.wants(t, other, "new", noCard)
	c.nodes[3] = &nodeInfo{node: newNode("new", "A100")}
	c.wants(t, other, "new", "")

	testkit.Check(c.account.Check())
}

// TestChanges: a pod that is charged, what becomes of it, and where another pod then
// has room. The informer's handler may come late: the cache has what it will hear of.
func TestChanges(t *testing.T) {
	change := func(edit func(*corev1.Pod)) func(*corev1.Pod) *corev1.Pod {
		return func(pod *corev1.Pod) *corev1.Pod {
			pod = pod.DeepCopy()
			edit(pod)
			return pod
		}
	}
	bind := change(func(pod *corev1.Pod) { bound(pod, "h") })
	same := change(func(*corev1.Pod) {})
	gone := func(*corev1.Pod) *corev1.Pod { return nil }
	toB := change(func(pod *corev1.Pod) { bound(pod, "h").Labels["queue"] = "b" })
	toNone := change(func(pod *corev1.Pod) { delete(bound(pod, "h").Labels, "queue") })
	one := change(func(pod *corev1.Pod) {
		bound(pod, "h").Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
	})
	other := change(func(pod *corev1.Pod) { bound(pod, "a") })
	renewed := change(func(pod *corev1.Pod) { pod.UID = "another" })
	waits := change(func(pod *corev1.Pod) { pod.UID, pod.Spec.NodeName = "another", "" })

	inA, inB := full("H100", "2 cards"), refusal("b", "card H100", "3 cards")
	for what, x := range map[string]struct {
		becomes []func(*corev1.Pod) *corev1.Pod
		a, b    string // what 2 cards in queue a, and 3 in b, are answered
	}{
		"nothing":                    {nil, inA, inB},
		"it is bound":                {[]func(*corev1.Pod) *corev1.Pod{bind, same}, inA, inB},
		"another queue":              {[]func(*corev1.Pod) *corev1.Pod{bind, toB}, "", inB},
		"another queue, while bound": {[]func(*corev1.Pod) *corev1.Pod{toB}, "", inB},
		"no queue":                   {[]func(*corev1.Pod) *corev1.Pod{bind, toNone}, "", ""},
		"fewer cards":                {[]func(*corev1.Pod) *corev1.Pod{bind, one}, inA, ""},
		"someone else's node":        {[]func(*corev1.Pod) *corev1.Pod{other}, "", ""},
		"gone":                       {[]func(*corev1.Pod) *corev1.Pod{bind, gone}, "", ""},
		"another of its name, bound": {[]func(*corev1.Pod) *corev1.Pod{bind, renewed}, inA, inB},
		"another of its name, waits": {[]func(*corev1.Pod) *corev1.Pod{bind, waits}, "", ""},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/late=%v", what, late), func(t *testing.T) {
				c := newCluster(t, queues)
				pod := newPod("pod", "a", "2", "H100|A100")
				c.arrive(t, pod, "h", "")
				for _, becomes := range x.becomes {
					next := becomes(pod)
					c.see(pod, next, late)
					pod = next
				}
				for queue, want := range map[string]string{"a": x.a, "b": x.b} {
					waiting := newPod("waiting", queue, map[string]string{"a": "2", "b": "3"}[queue], "H100")
					c.wants(t, waiting, "h", want)
					c.Unreserve(context.Background(), waiting, "h")
				}
				testkit.Check(c.account.Check())
			})
		}
	}
}

// see changes a pod in the informer's cache, where nil takes it out, and notifies the
// handler unless that is late.
func (c *cluster) see(before, after *corev1.Pod, late bool) {
	testkit.Check(c.known.Delete(before))
	now := any(nil)
	if after != nil {
		testkit.Check(c.known.Add(after))
		now = after
	}
	c.touch("h")
	if !late {
		c.podChanged(before, now)
	}
}

// wantFull checks that queue a has no room for another H100.
func (c *cluster) wantFull(t *testing.T) {
	t.Helper()
	c.wants(t, newPod("waiting", "a", "1", "H100"), "h", full("H100", "1 card"))
}

// TestBoundAllTheSame: a pod that is bound although its binding failed is charged,
// whichever is heard of first.
func TestBoundAllTheSame(t *testing.T) {
	for _, first := range []bool{false, true} {
		c := newCluster(t, queues)
		pod := newPod("pod", "a", "2", "H100")
		c.arrive(t, pod, "h", "")
		if first {
			c.see(pod, bound(pod.DeepCopy(), "h"), false)
		}
		c.Unreserve(context.Background(), pod, "h")
		if !first {
			c.see(pod, bound(pod.DeepCopy(), "h"), false)
		}
		c.wants(t, newPod("waiting", "a", "1", "H100"), "h", full("H100", "1 card"))
	}
}

// TestCardsComeToBeKnown: when nodes bring cards, pods elsewhere that take them are
// charged on them.
func TestCardsComeToBeKnown(t *testing.T) {
	c := newCluster(t, queues)
	all := c.nodes
	c.nodes = slices.DeleteFunc(slices.Clone(all), func(info fwk.NodeInfo) bool { return info.Node().Name != "c" })
	pod := bound(newPod("pod", "a", "2", "H100"), "elsewhere")
	c.see(pod, pod, false)
	c.place(newPod("any", "cpu", "", ""), "c")
	c.nodes = all
	c.wantFull(t)
}

// TestAbsurd: a pod whose amounts can't be added up keeps no others from being charged
// and admitted, and its own charge doesn't outlive it.
func TestAbsurd(t *testing.T) {
	c := newCluster(t, queues)
	waiting := newPod("waiting", "a", "2", "H100|A100")
	c.arrive(t, waiting, "h", "")
	absurd := func(name string) *corev1.Pod {
		pod := bound(newPod(name, "cpu", "", ""), "c")
		pod.Spec.Containers[0].Resources.Requests = amounts("cpu", "5000000000000")
		return pod
	}
	for _, pod := range []*corev1.Pod{absurd("one"), absurd("two"), bound(newPod("pod", "b", "1", "H100"), "h")} {
		c.see(pod, pod, false)
	}
	c.relabel("A100")
	if got := c.place(newPod("other", "b", "1", "H100"), "c"); strings.Contains(got, "sum too large") {
		t.Error(got)
	}
	if q, _ := c.account.Queue("b"); q.Usage("A100").Allocated+q.Usage("H100").Allocated != 1000 {
		t.Error("the pod of queue b is not charged")
	}
	c.Unreserve(context.Background(), waiting, "h")
	c.place(newPod("any", "a", "1", "A100"), "c")
	if q, _ := c.account.Queue("a"); q.CPU.Allocated != 0 {
		t.Error("a pod that waits is charged")
	}
}

// TestExpectedBinding: the binding of a pod that was charged is no news.
func TestExpectedBinding(t *testing.T) {
	c := newCluster(t, queues)
	pod := newPod("pod", "a", "1", "H100")
	c.arrive(t, pod, "h", "")
	if c.see(pod, bound(pod.DeepCopy(), "h"), false); len(c.unsettled) > 0 {
		t.Error("the pod on its node is taken for another's")
	}
	if c.see(pod, bound(pod.DeepCopy(), "a"), false); len(c.unsettled) == 0 {
		t.Error("the pod on another node is taken for the one that was charged")
	}
}

// TestVague: a pod that is bound to a node whose cards are not known is charged on
// them once they are.
func TestVague(t *testing.T) {
	c := newCluster(t, queues, bound(newPod("pod", "a", "4", "A100|H100"), "new"))
	pod := newPod("waiting", "b", "4", "H100")
	c.arrive(t, pod, "h", "")
	c.Unreserve(context.Background(), pod, "h")
	c.nodes = append(c.nodes, &nodeInfo{node: newNode("new", "H100")})
	c.wants(t, pod, "h", refusal("b", "card H100", "4 cards"))
}

// TestHints: which events have a refused pod tried again.
func TestHints(t *testing.T) {
	c := newCluster(t, queues)
	waiting, holder := newPod("waiting", "a", "2", "H100"), newPod("holder", "a", "2", "H100")
	c.wants(t, holder, "h", "")
	hints := c.Events()
	if len(hints) != 2 {
		t.Fatal(hints)
	}
	free, moved := newPod("free", "", "2", "H100"), newPod("waiting", "b", "2", "H100")
	unbound, holder := holder, bound(holder.DeepCopy(), "h")
	elsewhere := bound(newPod("holder", "b", "2", "H100"), "h")
	resized := holder.DeepCopy() // to less: its status still has what it had
	resized.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", "1")}
	resized.Status.AllocatedResources = amounts("cpu", "2")
	resized.Status.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu", "2")}
	shrunk := resized.DeepCopy()
	shrunk.Status.AllocatedResources = amounts("cpu", "1")
	shrunk.Status.Resources.Requests = amounts("cpu", "1")
	for _, x := range []struct {
		what          string
		hint          fwk.QueueingHintFn
		pod           *corev1.Pod
		before, after any
		want          fwk.QueueingHint
	}{
		{"a pod without a queue has gone", hints[0].QueueingHintFn, waiting, bound(free.DeepCopy(), "h"), nil, fwk.QueueSkip},
		{"a pod that waited has gone", hints[0].QueueingHintFn, waiting, unbound, nil, fwk.QueueSkip},
		{"another pod has changed", hints[0].QueueingHintFn, waiting, holder, holder, fwk.QueueSkip},
		{"another pod will shrink", hints[0].QueueingHintFn, waiting, resized, resized.DeepCopy(), fwk.QueueSkip},
		{"another pod has shrunk", hints[0].QueueingHintFn, waiting, resized, shrunk, fwk.Queue},
		{"another pod has another queue", hints[0].QueueingHintFn, waiting, holder, elsewhere, fwk.Queue},
		{"a pod has gone, and nobody knows which", hints[0].QueueingHintFn, waiting, nil, nil, fwk.Queue},
		{"the pod has changed", hints[0].QueueingHintFn, waiting, waiting, moved, fwk.Queue},
		{"a pod without a queue waits", hints[0].QueueingHintFn, free, holder, nil, fwk.QueueSkip},
		{"a node for a pod without a queue", hints[1].QueueingHintFn, free, nil, newNode("n", "H100"), fwk.QueueSkip},
		{"a node", hints[1].QueueingHintFn, waiting, nil, newNode("n", "H100"), fwk.Queue},
		{"a pod has gone", hints[0].QueueingHintFn, waiting, holder, nil, fwk.Queue},
	} {
		if got, err := x.hint(klog.Background(), x.pod, x.before, x.after); err != nil || got != x.want {
			t.Errorf("%s: %v %v", x.what, got, err)
		}
	}
	if _, ok := c.Sign(waiting); ok {
		t.Error("a pod of a queue is signed")
	}
	if _, ok := c.Sign(free); !ok {
		t.Error("a pod without a queue is not signed")
	}
}

// TestJob: what a pod is a part of.
func TestJob(t *testing.T) {
	c := newCluster(t, queues)
	plain := newPod("p", "a", "1", "")
	group := ofJob(newPod("p", "a", "1", ""), "j")
	name := "g"
	group.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	for want, pod := range map[string]*corev1.Pod{
		"a/default/pod/p": plain, "a/default/job/j": ofJob(newPod("p", "a", "1", ""), "j"), "a/default/group/g": group,
	} {
		if got := c.jobOf(pod); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestValidate: faults are named with the path of the field.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{queues, nil},
		{"queues: [{name: a, cards: {H100: 1}}]\ndefaultQueue: a", nil},
		{"{}", []string{"q.queues: Required value"}},
		{"queues: [{name: a}, {name: a}, {cards: {x: 1}}]", []string{`q.queues[1].name: Duplicate value: "a"`, "q.queues[2].name: Required value"}},
		{"queues: [{name: a, parent: x}]\ndefaultQueue: z", []string{`q.queues[0].parent: Not found: "x"`, `q.defaultQueue: Not found: "z"`}},
		{"queues: [{name: a}, {name: b, parent: a}]\ndefaultQueue: a", []string{`q.defaultQueue: Invalid value: "a"`}},
		{"queues: [{name: a, cards: {H100: -1, x|y: 2}}]", []string{`q.queues[0].cards[H100]: Invalid value: -1: queue "a": want a whole number of cards from 0 to 9007199254740, in digits`, `q.queues[0].cards[x|y]: Invalid value: "x|y": queue "a": a quota is of one card, not of alternatives: write an entry for each card`}},
		{`queues: [{name: a, capability: {cpu: "-1", nvidia.com/gpu: 1, memory: -2}}]`, []string{`q.queues[0].capability[cpu]: Invalid value: "-1"`, `q.queues[0].capability[memory]: Invalid value: "-2"`, `q.queues[0].capability[nvidia.com/gpu]: Unsupported value`}},
		{"queues: [{name: a b}]", []string{`q.queues[0].name: Invalid value: "a b"`}},
		{"queues: [{name: a, parent: b}, {name: b, parent: a}]", []string{`q.queues[0].parent: Invalid value: "b": queue "a": queues are parents of each other in a cycle: a, b`}},
		{"queues: [{name: a, capability: {cpu: 1e20}}]", nil}, // more than can be counted is no limit
		{"queues: [{name: a}]\nmissing: x\nqueueLabel: a b\njobLabels: [c d]", []string{`q.missing: Unsupported value: "x"`, `q.queueLabel: Invalid value: "a b"`, `q.jobLabels[0]: Invalid value: "c d"`}},
	} {
		faults := parse(t, c.text).Validate(field.NewPath("q"))
		if len(faults) != len(c.want) {
			t.Errorf("%s: %v", c.text, faults)
			continue
		}
		all := faults.ToAggregate()
		for _, want := range c.want {
			if !strings.Contains(all.Error(), want) {
				t.Errorf("%s: %v\nlacks %s", c.text, all, want)
			}
		}
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	if _, err := New(parse(t, "queues: [{name: a, parent: b}, {name: b, parent: a}]"), factory); err == nil {
		t.Error("queues in a circle are accepted")
	}
	if _, err := New(parse(t, queues), nil); err == nil {
		t.Error("a scheduler without informers is accepted")
	}
}

// BenchmarkFilter measures what the quota adds to the Filter of a node.
func BenchmarkFilter(b *testing.B) {
	c := newCluster(b, queues)
	ctx, pod := context.Background(), newPod("pod", "a", "1", "H100|A100")
	if status := c.Admit(ctx, pod, c.nodes); !status.IsSuccess() {
		b.Fatal(status)
	}
	for b.Loop() {
		if status := c.Filter(ctx, pod, "a"); !status.IsSuccess() {
			b.Fatal(status)
		}
	}
}

// crowd is a cluster of 10,000 pods, bound to one node.
func crowd(b *testing.B) *cluster {
	c := newCluster(b, "queueLabel: queue\nmissing: Unlimited\nqueues: [{name: b, cards: {H100: 10001}}]")
	for i := range 10_000 {
		testkit.Check(c.known.Add(bound(newPod(fmt.Sprint("p", i), "b", "1", "H100"), "h")))
	}
	return c
}

// BenchmarkAdmit measures what the quota adds to a cycle with 10,000 pods that are
// charged, for a pod that is admitted, one that takes another card, too, of which the
// queue has none, and one that is refused.
func BenchmarkAdmit(b *testing.B) {
	c := crowd(b)
	for what, pod := range map[string]*corev1.Pod{
		"admitted": newPod("one", "b", "1", "H100"), "any": newPod("one", "b", "1", ""), "refused": newPod("two", "b", "2", "H100"),
	} {
		b.Run(what, func(b *testing.B) {
			c.Admit(context.Background(), pod, c.nodes) // charges what is bound
			for b.Loop() {
				if status := c.Admit(context.Background(), pod, c.nodes); status.IsSuccess() == (what == "refused") {
					b.Fatal(status)
				}
			}
		})
	}
}

// BenchmarkForeign measures a cycle with 10,000 pods that are charged, of which one
// was resized by others.
func BenchmarkForeign(b *testing.B) {
	c := crowd(b)
	sizes := []*corev1.Pod{bound(newPod("p7", "b", "1", "H100"), "h"), bound(newPod("p7", "b", "2", "H100"), "h")}
	large, small := newPod("large", "b", "2", "H100"), newPod("small", "b", "1", "H100")
	c.Admit(context.Background(), small, c.nodes) // charges what is bound
	for i := 0; b.Loop(); i++ {
		before, now := sizes[i%2], sizes[1-i%2]
		testkit.Check(c.known.Update(now))
		c.podChanged(before, now)
		if status := c.Admit(context.Background(), large, c.nodes); status.IsSuccess() {
			b.Fatal("room for two cards")
		}
		if status := c.Admit(context.Background(), small, c.nodes); status.IsSuccess() == (i%2 == 0) {
			b.Fatal(status)
		}
	}
}
