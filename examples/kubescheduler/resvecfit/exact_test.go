package resvecfit

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/profile"
	"github.com/resvec/resvec/vector"
)

// TestPendingEvents: of objects that come and go before the first cycle nothing stays, and
// nothing at all once events are stopped.
func TestPendingEvents(t *testing.T) {
	e := testkit.Must(newObjectEvents(&gangHandle{factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}))
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}}
	want := func(what string, pending int) {
		t.Helper()
		if len(e.pending) != pending {
			t.Errorf("%s: %d events are pending, want %d", what, len(e.pending), pending)
		}
	}
	e.add(service, false)
	want("it came", 1)
	e.add(service, true)
	want("and went", 0)
	testkit.Check(e.apply(profile.NewCluster(vector.NewNodes(vector.Schema{}, 1))))
	e.add(service, true)
	want("it went after the first cycle", 1)
	testkit.Check(e.stop())
	e.add(service, false)
	want("stopped", 0)
}

// nominating is a handle whose scheduler has nominated pods, to all nodes.
type nominating struct {
	gangHandle
	pods []fwk.PodInfo
}

func (h *nominating) NominatedPodsForNode(string) []fwk.PodInfo { return h.pods }

// TestNominatedForgotten: a nomination that the informer never shows is forgotten when the
// scheduler forgets it.
func TestNominatedForgotten(t *testing.T) {
	h := &nominating{gangHandle: gangHandle{factory: informers.NewSharedInformerFactory(fake.NewClientset(), 0)}}
	var n nominated
	testkit.Check(n.follow(h))
	c := &cluster{nodes: []fwk.NodeInfo{newNode("node", nil, nil)}}
	want := func(what string, above bool) {
		t.Helper()
		if n.above(h, c, newPod("pod", nil)) != above {
			t.Errorf("%s: above is not %t", what, above)
		}
	}
	h.pods = []fwk.PodInfo{&podInfo{pod: newPod("waits", nil)}}
	want("before PostFilter", false)
	n.scan = true
	want("after it", true)
	want("as long as it waits", true)
	h.pods = nil
	want("no longer", false)
}

// TestAttemptsOfDeleted: a pod that is deleted while it is being bound is not remembered.
func TestAttemptsOfDeleted(t *testing.T) {
	pod, old := newPod("pod", nil), newPod("pod", nil)
	old.UID = "old"
	h := &gangHandle{factory: informers.NewSharedInformerFactory(fake.NewClientset(pod), 0)}
	h.factory.Core().V1().Pods().Informer()
	h.factory.Start(t.Context().Done())
	h.factory.WaitForCacheSync(t.Context().Done())
	a := attempts{pods: sets.New[types.UID]()}
	for _, p := range []*corev1.Pod{pod, old, newPod("gone", nil)} {
		if a.addExisting(h, p); a.has(p.UID) != (p == pod) {
			t.Errorf("%s %s: %t", p.Name, p.UID, a.has(p.UID))
		}
	}
}
