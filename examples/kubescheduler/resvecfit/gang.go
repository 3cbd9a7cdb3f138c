package resvecfit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// gangKey is the key of a gangState in the state of a pod group's cycle.
const gangKey fwk.StateKey = "Gang" + Name

// gangState is what was proved of a gang.
type gangState struct {
	cluster  *cluster
	version  uint64 // of the cluster; another one asks for another proof
	preempts bool   // preemption for one of its pods may follow
	why      string // why the gang fits nowhere; empty: nothing is proved
}

// Clone returns s, which is not written once it is kept.
func (s *gangState) Clone() fwk.StateData { return s }

// prover has the memory for proofs.
type prover struct {
	packer   gang.Packer
	room     vector.Matrix
	requests vector.Matrix
}

// proveGang refuses a member of a gang that fits nowhere as a whole, whatever
// preemption does, so that no node is looked at for any of its members. It answers once
// for each state of the nodes.
func (p *Plugin) proveGang(cycle fwk.CycleState, pod *corev1.Pod) *fwk.Status {
	group := pod.Spec.SchedulingGroup
	if !p.args.GangScheduling || !cycle.IsPodGroupSchedulingCycle() || group == nil || group.PodGroupName == nil {
		return nil
	}
	shared := cycle.GetPodGroupSchedulingCycle()
	groups, whole := p.podGroups()
	if shared == nil || groups == nil {
		return nil
	}
	preempts := !whole && !cycle.ShouldSkipAllPostFilterPlugins()
	old, _ := shared.Read(gangKey)
	s, ok := old.(*gangState)
	if !ok || s.cluster != p.cluster || s.version != p.cluster.version || s.preempts != preempts {
		s = &gangState{cluster: p.cluster, version: p.cluster.version, preempts: preempts,
			why: p.whyImpossible(groups, pod.Namespace, *group.PodGroupName, preempts)}
		shared.Write(gangKey, s)
	}
	if s.why == "" || preempts && !skipPostFilter(cycle) {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, s.why)
}

// podGroups returns the pod groups that the scheduler reads, nil for none. Their API has
// another version in each minor version of Kubernetes. whole says that preemption is for
// a group as a whole, after its cycle, and tries it in a cycle of its own: so it is from
// v1.37 on (k8s.io/kubernetes/pkg/scheduler, podGroupCycle).
func (p *Plugin) podGroups() (groups cache.GenericLister, whole bool) {
	factory := p.handle.SharedInformerFactory()
	if factory == nil {
		return nil, false
	}
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		resource := schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: version, Resource: "podgroups"}
		// In a pod group's cycle the scheduler itself has this informer.
		if informer, err := factory.ForResource(resource); err == nil {
			return informer.Lister(), version == "v1beta1"
		}
	}
	return nil, false
}

// gangSize returns how many pods of a group have to run, 0 for a group that is no gang.
// It reads the fields by their names in the API, which all versions share.
func gangSize(group runtime.Object) int {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(group)
	if err != nil {
		return 0
	}
	n, _, _ := unstructured.NestedInt64(fields, "spec", "schedulingPolicy", "gang", "minCount")
	return int(n)
}

// skipPostFilter keeps the framework from looking for victims: where a gang has no room
// when all of them are gone, there are none. It reports whether it could.
func skipPostFilter(cycle fwk.CycleState) bool {
	state, ok := cycle.(interface{ SetSkipAllPostFilterPlugins(bool) })
	if ok {
		state.SetSkipAllPostFilterPlugins(true)
	}
	return ok
}

// whyImpossible says why a gang fits nowhere; it returns nothing where that is not
// proved. Where preemption may follow, pods that can be its victims don't count.
func (p *Plugin) whyImpossible(groups cache.GenericLister, namespace, name string, preempts bool) string {
	c := p.cluster
	missing, members := p.missingMembers(groups, namespace, name)
	if missing <= 0 || missing > len(members) || len(c.large) > 0 || !p.setRequests(members, missing) {
		return ""
	}
	why, impossible := p.prover.packer.Infeasible(c.table.Free(), &p.prover.requests, nil, nil)
	if impossible && preempts {
		if priority, can := preemptionPriority(members); can {
			if c.setRoom(&p.prover.room, priority) != nil {
				return ""
			}
			why, impossible = p.prover.packer.Infeasible(&p.prover.room, &p.prover.requests, nil, nil)
		}
	}
	if !impossible {
		return ""
	}
	return fmt.Sprintf("pod group %s needs %d more pods: %s", klog.KRef(namespace, name), missing, c.m.ExplainInfeasible(why))
}

// missingMembers returns how many pods a gang needs besides its placed pods, and
// the pods that are not. For a group that is no gang it returns none.
func (p *Plugin) missingMembers(groups cache.GenericLister, namespace, name string) (missing int, members []*corev1.Pod) {
	group, err := groups.ByNamespace(namespace).Get(name)
	if err != nil {
		return 0, nil
	}
	size := gangSize(group)
	if size == 0 {
		return 0, nil
	}
	state, err := p.handle.SnapshotSharedLister().PodGroupStates().Get(namespace, name)
	if err != nil {
		return 0, nil
	}
	for _, pod := range state.UnscheduledPods() {
		members = append(members, pod)
	}
	slices.SortFunc(members, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return size - state.ScheduledPodsCount(), members
}

// setRequests sets a row of the requests for each pod that has to be placed. Where the
// gang has more pods than it needs, each row is the least that any of them requests. It
// reports false when an amount is not exact.
func (p *Plugin) setRequests(members []*corev1.Pod, missing int) bool {
	c, requests := p.cluster, &p.prover.requests
	requests.Reset(c.m.Schema(), missing, c.m.Len())
	var least vector.ResourceVector
	for i, pod := range members {
		s := &state{request: p.requestOf(pod), plugin: p}
		if exact, _ := s.setAmounts(c); !exact { // an unknown resource is left out
			return false
		}
		switch {
		case missing == len(members):
			requests.SetRow(i, s.amounts)
		case least == nil:
			least = s.amounts
		default:
			for k, x := range s.amounts {
				least[k] = min(least[k], x)
			}
		}
	}
	if least != nil {
		for i := range missing {
			requests.SetRow(i, least)
		}
	}
	return true
}

// preemptionPriority returns the greatest priority of the pods that may preempt others.
func preemptionPriority(members []*corev1.Pod) (priority int32, can bool) {
	for _, pod := range members {
		if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
			continue
		}
		if x := corev1helpers.PodPriority(pod); !can || x > priority {
			priority, can = x, true
		}
	}
	return priority, can
}

// setRoom sets dst to what is free when all pods of less priority are gone.
func (c *cluster) setRoom(dst *vector.Matrix, priority int32) error {
	dst.CopyFrom(c.table.Free())
	amounts := c.m.NewVector()
	for i, node := range c.nodes {
		clear(amounts)
		for _, info := range node.GetPods() {
			if corev1helpers.PodPriority(info.GetPod()) < priority {
				c.addPod(amounts, info.CalculateResource().Resource)
			}
		}
		if err := dst.AddToRow(int(c.rows[i]), amounts); err != nil {
			return err
		}
	}
	return nil
}

// addPod adds what a pod takes.
func (c *cluster) addPod(amounts vector.ResourceVector, r fwk.Resource) {
	amounts[vectormap.CPU] += float64(r.GetMilliCPU())
	amounts[vectormap.Memory] += float64(r.GetMemory())
	amounts[vectormap.Pods]++
	amounts[c.storage] += float64(r.GetEphemeralStorage())
	for name, x := range r.GetScalarResources() {
		if column, ok := c.columns[name]; ok {
			amounts[column] += float64(x)
		}
	}
}
