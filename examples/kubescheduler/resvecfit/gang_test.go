package resvecfit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	fwk "k8s.io/kube-scheduler/framework"
)

// gangHandle is a scheduler with one pod group.
type gangHandle struct {
	fakeHandle
	fwk.SharedLister
	factory informers.SharedInformerFactory
	state   groupState
}

func (h *gangHandle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }
func (h *gangHandle) SnapshotSharedLister() fwk.SharedLister                 { return h }
func (h *gangHandle) NodeInfos() fwk.NodeInfoLister                          { return fakeLister{nodes: h.nodes} }
func (h *gangHandle) StorageInfos() fwk.StorageInfoLister                    { return nil }
func (h *gangHandle) PodGroupStates() fwk.PodGroupStateLister                { return h }
func (h *gangHandle) Get(string, string) (fwk.PodGroupState, error)          { return h.state, nil }

// groupState are the pods of a group.
type groupState struct {
	fwk.PodGroupState
	waiting map[string]*corev1.Pod
	placed  int
}

func (s groupState) UnscheduledPods() map[string]*corev1.Pod { return s.waiting }
func (s groupState) ScheduledPodsCount() int                 { return s.placed }

// gangCycle is the cycle of a member.
type gangCycle struct {
	*fakeCycle
	group   *fakeCycle // nil: of a pod alone
	trial   bool
	skipped bool
}

func (c *gangCycle) IsPodGroupSchedulingCycle() bool { return c.group != nil }
func (c *gangCycle) GetPodGroupSchedulingCycle() fwk.PodGroupCycleState {
	return groupCycle{cycle: c.group}
}
func (c *gangCycle) ShouldSkipAllPostFilterPlugins() bool  { return c.trial }
func (c *gangCycle) SetSkipAllPostFilterPlugins(skip bool) { c.skipped = skip }

// groupCycle is the state that the cycles of all members share.
type groupCycle struct {
	fwk.PodGroupCycleState
	cycle *fakeCycle
}

func (c groupCycle) Read(key fwk.StateKey) (fwk.StateData, error) { return c.cycle.Read(key) }
func (c groupCycle) Write(key fwk.StateKey, data fwk.StateData)   { c.cycle.Write(key, data) }

// podInfo is a pod that runs.
type podInfo struct {
	fwk.PodInfo
	pod  *corev1.Pod
	uses amountsOf
}

func (p *podInfo) GetPod() *corev1.Pod { return p.pod }
func (p *podInfo) CalculateResource() fwk.PodResource {
	return fwk.PodResource{Resource: &p.uses}
}

// nodeWith is a node with pods.
type nodeWith struct {
	*fakeNode
	running []fwk.PodInfo
}

func (n *nodeWith) GetPods() []fwk.PodInfo                            { return n.running }
func (n *nodeWith) GetImageStates() map[string]*fwk.ImageStateSummary { return nil }

// gangCase is a gang on two nodes of 8 cores.
type gangCase struct {
	name     string
	minCount int32
	placed   int
	waiting  []string   // cores of each pod that waits
	running  [2][]int32 // priorities of the pods on each node, of two cores each
	never    bool       // the gang never preempts
	trial    bool
	want     string // contained in why; empty: not refused

	// whole is want where preemption is for a gang as a whole, if that is another.
	whole string
}

var gangCases = []gangCase{
	{name: "room for all", minCount: 4, waiting: []string{"4", "4", "4", "4"}},
	{name: "one too many", minCount: 5, waiting: []string{"4", "4", "4", "4", "4"}, want: "needs 5 more pods: the pods request 20 of cpu, all nodes together have 16"},
	{name: "room, in pieces", minCount: 3, waiting: []string{"5", "5", "5"}, want: "of 3 pods there is room for 2"},
	{name: "one is too large", minCount: 1, waiting: []string{"9"}, want: "a pod requests 9 of cpu, no node has more than 8"},
	{name: "fewer would do", minCount: 4, waiting: []string{"4", "4", "4", "4", "4"}},
	{name: "fewer would do, the least count", minCount: 2, waiting: []string{"8", "8", "9"}},
	{name: "fewer are needed, and do not fit", minCount: 3, waiting: []string{"6", "6", "6", "6"}, want: "needs 3 more pods: the pods request 18 of cpu, all nodes together have 16"},
	{name: "some are placed", minCount: 5, placed: 1, waiting: []string{"4", "4", "4", "4"}},
	{name: "enough are placed", minCount: 2, placed: 2, waiting: []string{"9"}},
	{name: "too few pods, which is not ours to say", minCount: 4, waiting: []string{"9"}},
	{name: "victims make room", minCount: 2, waiting: []string{"8", "8"}, running: [2][]int32{{1}, {1}}, whole: "all nodes together have 12"},
	{name: "victims of the same priority do not", minCount: 2, waiting: []string{"8", "8"}, running: [2][]int32{{1}, {10}}, want: "all nodes together have 14", whole: "all nodes together have 12"},
	{name: "no preemption in a trial", minCount: 2, waiting: []string{"8", "8"}, running: [2][]int32{{1}, {1}}, trial: true, want: "the pods request 16 of cpu, all nodes together have 12"},
	{name: "never preempts", minCount: 2, waiting: []string{"8", "8"}, running: [2][]int32{{1}, {1}}, never: true, want: "all nodes together have 12"},
}

func (c gangCase) plugin(t *testing.T, arguments string) (*Plugin, []*corev1.Pod) {
	t.Helper()
	h := &gangHandle{fakeHandle: fakeHandle{dra: fakeClasses{}}, state: groupState{waiting: map[string]*corev1.Pod{}, placed: c.placed}}
	for i, priorities := range c.running {
		node := &nodeWith{fakeNode: newNode(fmt.Sprint("n", i), amounts("cpu", "8", "memory", "64Gi"), nil)}
		for _, priority := range priorities {
			info := &podInfo{pod: newPod("old", nil)}
			info.pod.Spec.Priority = &priority
			info.uses.SetMaxResource(amounts("cpu", "2"))
			node.running = append(node.running, info)
			node.used.cpu += 2000
		}
		h.nodes = append(h.nodes, node)
	}
	name, priority, never := "g", int32(10), corev1.PreemptNever
	var pods []*corev1.Pod
	for i, cores := range c.waiting {
		pod := newPod(fmt.Sprint("p", i), amounts("cpu", cores))
		pod.Spec.SchedulingGroup, pod.Spec.Priority = &corev1.PodSchedulingGroup{PodGroupName: &name}, &priority
		if c.never {
			pod.Spec.PreemptionPolicy = &never
		}
		h.state.waiting[pod.Name] = pod
		pods = append(pods, pod)
	}
	version, group := podGroup(t, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "default"},
		"spec": {"schedulingPolicy": {"gang": {"minCount": %d}}}}`, name, c.minCount))
	h.factory = informers.NewSharedInformerFactory(fake.NewClientset(group), 0)
	testkit.Must(h.factory.ForResource(version.WithResource("podgroups")))
	h.factory.Start(t.Context().Done())
	h.factory.WaitForCacheSync(t.Context().Done())
	plugin := testkit.Must(New(context.Background(), &runtime.Unknown{Raw: []byte(arguments)}, h))
	return plugin.(*Plugin), pods
}

// podGroup returns a pod group, in the version of the API that kube-scheduler reads.
func podGroup(t *testing.T, text string) (schema.GroupVersion, runtime.Object) {
	t.Helper()
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		api := schema.GroupVersion{Group: "scheduling.k8s.io", Version: version}
		group, err := scheme.Scheme.New(api.WithKind("PodGroup"))
		if err != nil {
			continue
		}
		testkit.Check(json.Unmarshal([]byte(text), group))
		return api, group
	}
	t.Fatal("this version of Kubernetes has no pod groups that the plugin knows")
	return schema.GroupVersion{}, nil
}

// preFilter asks for one member.
func (c gangCase) preFilter(p *Plugin, pod *corev1.Pod, group *fakeCycle) (*fwk.Status, *gangCycle) {
	cycle := &gangCycle{fakeCycle: newCycle(), group: group, trial: c.trial}
	_, status := p.PreFilter(context.Background(), cycle, pod, p.handle.(*gangHandle).nodes)
	return status, cycle
}

func TestProveGang(t *testing.T) {
	for _, c := range gangCases {
		t.Run(c.name, func(t *testing.T) {
			p, pods := c.plugin(t, `{"gangScheduling": true}`)
			_, whole := p.podGroups()
			want := c.want
			if whole && c.whole != "" {
				want = c.whole
			}
			group := newCycle()
			for _, pod := range pods {
				status, cycle := c.preFilter(p, pod, group)
				if want == "" {
					if !status.IsSuccess() {
						t.Errorf("refused: %s", status.Message())
					}
					continue
				}
				if status.Code() != fwk.Unschedulable || !strings.Contains(status.Message(), want) {
					t.Errorf("%v: %s, want it to say %q", status.Code(), status.Message(), want)
				}
				if cycle.skipped == (c.trial || whole) {
					t.Errorf("preemption is skipped: %t", cycle.skipped)
				}
			}
		})
	}
}

// A proof holds for one state of the nodes.
func TestProveGangAgain(t *testing.T) {
	c := gangCase{minCount: 2, waiting: []string{"8", "8"}, running: [2][]int32{{10}, {10}}}
	p, pods := c.plugin(t, `{"gangScheduling": true}`)
	group := newCycle()
	if status, _ := c.preFilter(p, pods[0], group); status.IsSuccess() {
		t.Fatal("not refused")
	}
	for _, node := range p.handle.(*gangHandle).nodes {
		node := node.(*nodeWith)
		node.running = nil
		node.take(nil)
	}
	if status, _ := c.preFilter(p, pods[1], group); !status.IsSuccess() {
		t.Errorf("refused after the nodes have become empty: %s", status.Message())
	}
}

// Nothing is proved unless the argument says that gangs are on, and the cycle is of one.
func TestProveGangOff(t *testing.T) {
	c := gangCases[1]
	p, pods := c.plugin(t, `{}`)
	if status, _ := c.preFilter(p, pods[0], newCycle()); !status.IsSuccess() {
		t.Errorf("refused without the argument: %s", status.Message())
	}
	p, pods = c.plugin(t, `{"gangScheduling": true}`)
	if status, _ := c.preFilter(p, pods[0], nil); !status.IsSuccess() {
		t.Errorf("refused in the cycle of a pod alone: %s", status.Message())
	}
}
