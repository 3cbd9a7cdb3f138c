package resvecfit

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
)

// request is what a pod takes from a node, as NodeResourcesFit counts it. The pod
// itself is not among the amounts.
type request struct {
	cpu, memory, storage int64
	scalars              []scalar // sorted by name, without those that are 0
}

// scalar is a resource that not every node has.
type scalar struct {
	name   corev1.ResourceName
	amount int64

	// ignored resources are not compared.
	ignored bool

	// delegated resources are compared on nodes that have them in their
	// allocatable amounts only: on others they are devices of a DeviceClass, which
	// the plugin DynamicResources allocates.
	delegated bool
}

// requestOf returns what a pod takes.
func (p *Plugin) requestOf(pod *corev1.Pod) request {
	list := resource.PodRequests(pod, resource.PodResourcesOptions{SkipPodLevelResources: !p.args.podLevelResources()})
	return p.requestOfList(list)
}

// requestOfList is requestOf for the total of a pod's requests.
func (p *Plugin) requestOfList(list corev1.ResourceList) request {
	var r request
	for name, quantity := range list {
		switch name {
		case corev1.ResourceCPU:
			r.cpu = quantity.MilliValue()
		case corev1.ResourceMemory:
			r.memory = quantity.Value()
		case corev1.ResourceEphemeralStorage:
			r.storage = quantity.Value()
		default:
			if amount := quantity.Value(); amount > 0 && isScalar(name) {
				s := scalar{name: name, amount: amount, ignored: p.ignores(name)}
				s.delegated = !s.ignored && p.delegates(name)
				r.scalars = append(r.scalars, s)
			}
		}
	}
	slices.SortFunc(r.scalars, func(a, b scalar) int { return cmp.Compare(a.name, b.name) })
	return r
}

// ignores reports whether the configuration excepts a resource.
func (p *Plugin) ignores(name corev1.ResourceName) bool {
	if p.ignored.Len() == 0 && p.ignoredGroups.Len() == 0 || !isExtended(name) {
		return false
	}
	group, _, _ := strings.Cut(string(name), "/")
	return p.ignored.Has(string(name)) || p.ignoredGroups.Has(group)
}

// delegates reports whether a DeviceClass provides a resource.
func (p *Plugin) delegates(name corev1.ResourceName) bool {
	return p.classes != nil && p.classes.GetDeviceClass(name) != nil
}

// isDelegated reports whether a resource of the request is provided by a
// DeviceClass.
func (r *request) isDelegated() bool {
	return slices.ContainsFunc(r.scalars, func(s scalar) bool { return s.delegated })
}

// insufficient is why a node can't hold a pod.
type insufficient struct {
	reasons      []string
	unresolvable bool // removing pods from the node does not help
}

func (n *insufficient) add(reason string, unresolvable bool) {
	n.reasons = append(n.reasons, reason)
	n.unresolvable = n.unresolvable || unresolvable
}

// status returns the refusal, nil when there is none.
func (n *insufficient) status() *fwk.Status {
	switch {
	case len(n.reasons) == 0:
		return nil
	case n.unresolvable:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, n.reasons...)
	}
	return fwk.NewStatus(fwk.Unschedulable, n.reasons...)
}

// capacity is what a node has and what its pods take.
type capacity struct {
	allocatable, used fwk.Resource
	pods              int
}

func capacityOf(node fwk.NodeInfo) capacity {
	return capacity{node.GetAllocatable(), node.GetRequested(), len(node.GetPods())}
}

// compare compares a request with a node exactly, in int64: the scalar form of
// the comparison that the table does for all nodes.
func (r *request) compare(c capacity) insufficient {
	var n insufficient
	if c.pods+1 > c.allocatable.GetAllowedPodNumber() {
		n.add("Too many pods", false)
	}
	n.compare("Insufficient cpu", r.cpu, c.allocatable.GetMilliCPU(), c.used.GetMilliCPU())
	n.compare("Insufficient memory", r.memory, c.allocatable.GetMemory(), c.used.GetMemory())
	n.compare("Insufficient ephemeral-storage", r.storage, c.allocatable.GetEphemeralStorage(), c.used.GetEphemeralStorage())
	for i := range r.scalars {
		s := &r.scalars[i]
		has := c.allocatable.GetScalarResources()[s.name]
		if !s.ignored && !(s.delegated && has <= 0) && s.amount > has-c.used.GetScalarResources()[s.name] {
			n.add("Insufficient "+string(s.name), s.amount > has)
		}
	}
	return n
}

func (n *insufficient) compare(reason string, amount, allocatable, used int64) {
	if amount > 0 && amount > allocatable-used {
		n.add(reason, amount > allocatable)
	}
}
