package profile

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// space is a namespace with what selects its pods. It never changes: what changes is
// another space.
type space struct {
	known    bool // there is a Namespace object
	labels   labels.Set
	services map[string]labels.Set // the selectors by name, of services that have one
	owners   map[ownerKey]ownerOf  // ReplicaSets, StatefulSets, ReplicationControllers
}

// ownerKey names an owner of pods in its namespace.
type ownerKey struct {
	kind schema.GroupVersionKind
	name string
}

// ownerOf is the selector of an owner: labels of a ReplicationController, requirements of
// the others.
type ownerOf struct {
	labels       labels.Set
	source       *metav1.LabelSelector
	requirements labels.Requirements
}

var (
	controllerKind  = corev1.SchemeGroupVersion.WithKind("ReplicationController")
	replicaSetKind  = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
)

var noSpace = &space{}

func (c *Cluster) space(name string) *space {
	if s := c.spaces[name]; s != nil {
		return s
	}
	return noSpace
}

func (c *Cluster) putSpace(name string, s space) {
	if c.moved.spaces++; !s.known && len(s.services) == 0 && len(s.owners) == 0 {
		delete(c.spaces, name)
		return
	}
	c.spaces[name] = &s
}

func (c *Cluster) setNamespace(name string, set labels.Set, known bool) {
	s := *c.space(name)
	if s.known == known && maps.Equal(s.labels, set) {
		return
	}
	s.known, s.labels = known, set
	c.moved.namespaces++
	c.putSpace(name, s)
}

// setOwner sets or deletes what selects pods. An update of its status changes nothing.
func (c *Cluster) setOwner(obj any, set bool) error {
	o, ok := obj.(metav1.Object)
	if !ok || isNil(obj) || o.GetName() == "" {
		return badObject(obj)
	}
	s := *c.space(o.GetNamespace())
	if service, ok := obj.(*corev1.Service); ok {
		old, known := s.services[service.Name]
		now := labels.Set(service.Spec.Selector)
		set = set && now != nil // without a selector it selects nothing
		if known == set && (!set || maps.Equal(old, now)) {
			return nil
		}
		s.services = replaced(s.services, service.Name, now, set)
		c.putSpace(service.Namespace, s)
		return nil
	}
	key, now := ownerSelector(obj)
	old, known := s.owners[key]
	same := maps.Equal(old.labels, now.labels) && equality.Semantic.DeepEqual(old.source, now.source)
	if known == set && (!set || same) {
		return nil
	}
	s.owners = replaced(s.owners, key, now, set)
	c.putSpace(o.GetNamespace(), s)
	return nil
}

func isNil(obj any) bool {
	switch o := obj.(type) {
	case *corev1.Service:
		return o == nil
	case *corev1.ReplicationController:
		return o == nil
	case *appsv1.ReplicaSet:
		return o == nil
	case *appsv1.StatefulSet:
		return o == nil
	}
	return true
}

// replaced returns a copy of a map with or without a key.
func replaced[K comparable, V any](m map[K]V, key K, value V, set bool) map[K]V {
	m = maps.Clone(m)
	if !set {
		delete(m, key)
		return m
	}
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

func ownerSelector(obj any) (ownerKey, ownerOf) {
	switch o := obj.(type) {
	case *corev1.ReplicationController:
		return ownerKey{controllerKind, o.Name}, ownerOf{labels: o.Spec.Selector}
	case *appsv1.ReplicaSet:
		return ownerKey{replicaSetKind, o.Name}, requirementsOf(o.Spec.Selector)
	default:
		o2 := obj.(*appsv1.StatefulSet)
		return ownerKey{statefulSetKind, o2.Name}, requirementsOf(o2.Spec.Selector)
	}
}

// requirementsOf returns a selector's requirements: none where it selects nothing, or can't
// be parsed, as in kube-scheduler.
func requirementsOf(selector *metav1.LabelSelector) ownerOf {
	o := ownerOf{source: selector}
	if parsed, err := metav1.LabelSelectorAsSelector(selector); err == nil {
		o.requirements, _ = parsed.Requirements()
	}
	return o
}

// defaultSelector returns the selector that default constraints have for a pod: the merged
// selectors of the services that select the pod, and that of its controller.
func (s *space) defaultSelector(pod *corev1.Pod) labels.Selector {
	merged := labels.Set{}
	for _, name := range slices.Sorted(maps.Keys(s.services)) {
		if of := s.services[name]; of.AsSelectorPreValidated().Matches(labels.Set(pod.Labels)) {
			maps.Copy(merged, of)
		}
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return merged.AsSelector()
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return merged.AsSelector()
	}
	of, ok := s.owners[ownerKey{version.WithKind(owner.Kind), owner.Name}]
	if !ok {
		return merged.AsSelector()
	}
	maps.Copy(merged, of.labels)
	selector := merged.AsSelector()
	if of.requirements != nil {
		selector = selector.Add(of.requirements...)
	}
	return selector
}
