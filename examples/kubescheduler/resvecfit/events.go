package resvecfit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// EventsToRegister returns the events that may make room for a pod: pods that go
// or shrink, nodes that come or grow, DeviceClasses that provide a resource. With a
// predicate for idle devices pods that are placed do so, too. kube-scheduler calls it once,
// when the plugins of all profiles have been made, so that it also logs likely mistakes in
// the profile.
func (p *Plugin) EventsToRegister(ctx context.Context) ([]fwk.ClusterEventWithHint, error) {
	if l := listsOf(p.handle); l != nil {
		warn(ctx, Name, p.warnings(l))
	}
	events := []fwk.ClusterEventWithHint{
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Delete | fwk.UpdatePodScaleDown},
			QueueingHintFn: p.afterPod,
		},
		{
			Event:          fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable},
			QueueingHintFn: p.afterNode,
		},
	}
	if p.classes != nil {
		events = append(events, fwk.ClusterEventWithHint{
			Event:          fwk.ClusterEvent{Resource: fwk.DeviceClass, ActionType: fwk.Add | fwk.Update},
			QueueingHintFn: p.afterDeviceClass,
		})
	}
	if p.proportionalConfig != nil {
		events = append(events, fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add}})
	}
	if p.args.GangScheduling {
		events = append(events,
			fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Add}, QueueingHintFn: p.afterMember},
			fwk.ClusterEventWithHint{Event: fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add}})
	}
	if p.ledger != nil {
		events = append(events, p.ledger.Events()...)
	}
	return events, nil
}

// objects returns the objects of an event; either may be nil.
func objects[T any](before, after any) (old, now T, err error) {
	if gone, ok := before.(cache.DeletedFinalStateUnknown); ok {
		before = gone.Obj
	}
	var ok bool
	if before != nil {
		if old, ok = before.(T); !ok {
			return old, now, fmt.Errorf("want %T, got %T", old, before)
		}
	}
	if after != nil {
		if now, ok = after.(T); !ok {
			return old, now, fmt.Errorf("want %T, got %T", now, after)
		}
	}
	return old, now, nil
}

// isPlaced reports whether a pod is on a node, or nominated to one.
func isPlaced(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != ""
}

func queueIf(may bool) fwk.QueueingHint {
	if may {
		return fwk.Queue
	}
	return fwk.QueueSkip
}

// afterPod says whether a pod that went, or shrank, may make room.
func (p *Plugin) afterPod(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Pod](before, after)
	if err != nil {
		return fwk.Queue, err
	}
	switch {
	case now == nil:
		return queueIf(isPlaced(old)), nil
	case now.UID == pod.UID:
		return fwk.Queue, nil
	case now.Spec.NodeName == "":
		return fwk.QueueSkip, nil
	}
	opts := resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
	was, is := resource.PodRequests(old, opts), resource.PodRequests(now, opts)
	for name, quantity := range resource.PodRequests(pod, opts) {
		if left := is[name]; !quantity.IsZero() && left.Cmp(was[name]) < 0 {
			return fwk.Queue, nil
		}
	}
	return fwk.QueueSkip, nil
}

// afterMember says whether a pod that came is of the same gang: another may be smaller.
func (p *Plugin) afterMember(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	_, now, err := objects[*corev1.Pod](before, after)
	if err != nil {
		return fwk.Queue, err
	}
	mine := pod.Spec.SchedulingGroup
	if now == nil || mine == nil || mine.PodGroupName == nil || now.Namespace != pod.Namespace {
		return fwk.QueueSkip, nil
	}
	if its := now.Spec.SchedulingGroup; its != nil && its.PodGroupName != nil && *its.PodGroupName == *mine.PodGroupName {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// afterNode says whether a node that came, or changed, could hold the pod when it
// is empty, and has more than before of something that the pod requests.
func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*corev1.Node](before, after)
	if err != nil || now == nil {
		return fwk.Queue, err
	}
	r := p.requestOf(pod)
	amounts := allocatableOf(now)
	if why := r.compare(capacity{allocatable: amounts, used: &amountsOf{}}); len(why.reasons) > 0 {
		return fwk.QueueSkip, nil
	}
	if old == nil || r.grew(allocatableOf(old), amounts) {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// grew reports whether a node has more than before of what is requested, or
// allows more pods.
func (r *request) grew(before, after fwk.Resource) bool {
	if after.GetAllowedPodNumber() > before.GetAllowedPodNumber() ||
		r.cpu > 0 && after.GetMilliCPU() > before.GetMilliCPU() ||
		r.memory > 0 && after.GetMemory() > before.GetMemory() ||
		r.storage > 0 && after.GetEphemeralStorage() > before.GetEphemeralStorage() {
		return true
	}
	for i := range r.scalars {
		s := &r.scalars[i]
		has := after.GetScalarResources()[s.name]
		if has > before.GetScalarResources()[s.name] || s.delegated && has <= 0 {
			return true
		}
	}
	return false
}

// afterDeviceClass says whether a DeviceClass provides what the pod requests, and
// did not before.
func (p *Plugin) afterDeviceClass(_ klog.Logger, pod *corev1.Pod, before, after any) (fwk.QueueingHint, error) {
	old, now, err := objects[*resourcev1.DeviceClass](before, after)
	if err != nil || now == nil {
		return fwk.Queue, err
	}
	requests := resource.PodRequests(pod, resource.PodResourcesOptions{})
	wanted := func(name string) bool {
		_, ok := requests[corev1.ResourceName(name)]
		return ok
	}
	name := now.Spec.ExtendedResourceName
	if old == nil && wanted(resourcev1.ResourceDeviceClassPrefix+now.Name) {
		return fwk.Queue, nil
	}
	if name == nil || !wanted(*name) || old != nil && old.Spec.ExtendedResourceName != nil && *old.Spec.ExtendedResourceName == *name {
		return fwk.QueueSkip, nil
	}
	return fwk.Queue, nil
}

// amountsOf are the allocatable amounts of a node object. It is a fwk.Resource.
type amountsOf struct {
	cpu, memory, storage int64
	pods                 int
	scalars              map[corev1.ResourceName]int64
}

func (a *amountsOf) GetMilliCPU() int64                                { return a.cpu }
func (a *amountsOf) GetMemory() int64                                  { return a.memory }
func (a *amountsOf) GetEphemeralStorage() int64                        { return a.storage }
func (a *amountsOf) GetAllowedPodNumber() int                          { return a.pods }
func (a *amountsOf) GetScalarResources() map[corev1.ResourceName]int64 { return a.scalars }

// SetMaxResource raises the amounts to a list's.
func (a *amountsOf) SetMaxResource(list corev1.ResourceList) {
	for name, quantity := range list {
		switch name {
		case corev1.ResourceCPU:
			a.cpu = max(a.cpu, quantity.MilliValue())
		case corev1.ResourceMemory:
			a.memory = max(a.memory, quantity.Value())
		case corev1.ResourceEphemeralStorage:
			a.storage = max(a.storage, quantity.Value())
		case corev1.ResourcePods:
			a.pods = max(a.pods, int(quantity.Value()))
		default:
			if isScalar(name) {
				if a.scalars == nil {
					a.scalars = map[corev1.ResourceName]int64{}
				}
				a.scalars[name] = max(a.scalars[name], quantity.Value())
			}
		}
	}
}

func allocatableOf(node *corev1.Node) *amountsOf {
	a := &amountsOf{}
	a.SetMaxResource(node.Status.Allocatable)
	return a
}
