package resvecfit

import (
	"context"
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// fakeNode is a node with what its pods take.
type fakeNode struct {
	fwk.NodeInfo
	node            *corev1.Node
	has, used, asIf amountsOf
	pods            int
	generation      int64
	looks           int // at the generation
}

func (n *fakeNode) Node() *corev1.Node                { return n.node }
func (n *fakeNode) GetPods() []fwk.PodInfo            { return make([]fwk.PodInfo, n.pods) }
func (n *fakeNode) GetAllocatable() fwk.Resource      { return &n.has }
func (n *fakeNode) GetRequested() fwk.Resource        { return &n.used }
func (n *fakeNode) GetNonZeroRequested() fwk.Resource { return &n.asIf }
func (n *fakeNode) GetGeneration() int64              { n.looks++; return n.generation }

var generation int64

// newNode returns a node that allows 100 pods.
func newNode(name string, has, used corev1.ResourceList) *fakeNode {
	n := &fakeNode{node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	n.node.Status.Allocatable = has
	n.has.SetMaxResource(has)
	n.has.pods = 100
	n.take(used)
	return n
}

// take sets what the pods of the node take.
func (n *fakeNode) take(used corev1.ResourceList) {
	n.used = amountsOf{}
	n.used.SetMaxResource(used)
	n.asIf = n.used
	generation++
	n.generation = generation
}

// amounts returns a list; it takes names and quantities in turn.
func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func newPod(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
	}
}

// fakeHandle is as much of a scheduler as a plugin needs to be made, and a snapshot.
type fakeHandle struct {
	fwk.Handle
	dra        fwk.SharedDRAManager
	nodes      []fwk.NodeInfo
	postFilter []string // the plugins enabled there
	activated  int      // pods
}

// ListPlugins returns lists with the fields of kube-scheduler's.
func (h *fakeHandle) ListPlugins() any {
	var l lists
	for _, name := range h.postFilter {
		l.PostFilter.Enabled = append(l.PostFilter.Enabled, enabled{Name: name})
	}
	return &l
}

func (h *fakeHandle) Activate(_ klog.Logger, pods map[string]*corev1.Pod) { h.activated += len(pods) }

func (h *fakeHandle) SharedDRAManager() fwk.SharedDRAManager                 { return h.dra }
func (h *fakeHandle) SharedInformerFactory() informers.SharedInformerFactory { return nil }
func (h *fakeHandle) EventRecorder() events.EventRecorderLogger              { return nil }
func (h *fakeHandle) SnapshotSharedLister() fwk.SharedLister                 { return fakeLister{nodes: h.nodes} }

type fakeLister struct {
	fwk.SharedLister
	fwk.NodeInfoLister
	nodes []fwk.NodeInfo
}

func (l fakeLister) NodeInfos() fwk.NodeInfoLister    { return l }
func (l fakeLister) List() ([]fwk.NodeInfo, error)    { return l.nodes, nil }
func (l fakeLister) Get(string) (fwk.NodeInfo, error) { return nil, fmt.Errorf("not used") }

// fakeClasses resolves one resource, class.example.com/a.
type fakeClasses struct{ fwk.SharedDRAManager }

func (c fakeClasses) DeviceClassResolver() fwk.DeviceClassResolver { return c }

func (fakeClasses) GetDeviceClass(name corev1.ResourceName) *resourcev1.DeviceClass {
	if name == "class.example.com/a" {
		return &resourcev1.DeviceClass{}
	}
	return nil
}

// fakeCycle is the state of a cycle.
type fakeCycle struct {
	fwk.CycleState
	data  map[fwk.StateKey]fwk.StateData
	group bool
}

func newCycle() *fakeCycle { return &fakeCycle{data: map[fwk.StateKey]fwk.StateData{}} }

func (c *fakeCycle) Read(key fwk.StateKey) (fwk.StateData, error) {
	if data, ok := c.data[key]; ok {
		return data, nil
	}
	return nil, fwk.ErrNotFound
}

func (c *fakeCycle) Write(key fwk.StateKey, data fwk.StateData) { c.data[key] = data }
func (c *fakeCycle) IsPodGroupSchedulingCycle() bool            { return c.group }

// newPlugin makes a plugin from arguments in JSON.
func newPlugin(t *testing.T, arguments string, nodes ...fwk.NodeInfo) *Plugin {
	t.Helper()
	plugin := testkit.Must(New(context.Background(), &runtime.Unknown{Raw: []byte(arguments)}, &fakeHandle{dra: fakeClasses{}, nodes: nodes, postFilter: []string{Name}}))
	return plugin.(*Plugin)
}
