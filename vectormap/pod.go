package vectormap

import (
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"
)

// PodOptions says how a pod's requests are totalled. The zero value is what a
// scheduler without in-place resize compares with a node.
type PodOptions struct {
	// APIServerDefaults counts a pod that no API server has seen, such as one read
	// from a manifest, as the API server would make it: a container, an init container
	// or a sidecar requests what it limits and does not request, as GPUs are mostly
	// written, and the pod as a whole what it limits and none of its containers
	// request. Without it such a pod requests no GPU. A pod that an API server has
	// seen has these requests already, so the option changes nothing. The rules are
	// SetDefaults_Pod of Kubernetes 1.34 and later (pkg/apis/core/v1/defaults.go); what
	// a LimitRange or a RuntimeClass adds is not among them.
	APIServerDefaults bool

	// UseStatusResources takes what the pod's status reports into account, of its
	// containers and of the pod as a whole. While a pod is resized in place, it counts
	// with the greatest of wanted, allocated and actual; if the resize is infeasible,
	// of allocated and actual.
	UseStatusResources bool

	// SkipPodLevelResources ignores requests that are set for the whole pod.
	SkipPodLevelResources bool

	// KubeScoringDefaults counts 100m cpu and 200 MiB memory for every container
	// that does not request them; where the pod as a whole has requests, only of what
	// neither it nor any container requests. That is what kube-scheduler scores with;
	// it never filters with it. [ResourceVectorMap.PodRequestBoth] ignores it.
	KubeScoringDefaults bool

	// Scratch is working space: a list that is cleared and overwritten. Reusing
	// one saves the map that the total is made in.
	Scratch corev1.ResourceList
}

// scoringDefaults are kube-scheduler's DefaultMilliCPURequest and
// DefaultMemoryRequest (pkg/scheduler/util/pod_resources.go).
func scoringDefaults() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(100, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(200<<20, resource.DecimalSI),
	}
}

// PodRequests returns what the pod as a whole requests, as a list: the total over
// containers, init containers, sidecars, overhead and pod-level resources of
// k8s.io/component-helpers/resource. It is opts.Scratch, or else new. It is what
// transformations are fed with; set opts.APIServerDefaults unless all pods come from
// an API server.
func PodRequests(pod *corev1.Pod, opts PodOptions) corev1.ResourceList {
	return podTotal(pod, opts, opts.KubeScoringDefaults)
}

// PodRequest converts the total of [PodRequests], and 1 of pods. dst, unknown and the
// errors are as in [ResourceVectorMap.RequestVector].
func (m *ResourceVectorMap) PodRequest(dst vector.ResourceVector, pod *corev1.Pod, opts PodOptions, unknown *[]string) (vector.ResourceVector, error) {
	v, err := m.fromList(dst, podRequests(pod, opts, opts.KubeScoringDefaults), up, unknown)
	return v, asWritten(err, pod, opts)
}

// PodRequestBoth converts the pod twice: request is what it takes from a node,
// scoring is the same with the defaults of PodOptions.KubeScoringDefaults. The
// pod is totalled a second time only where the two may differ. The destinations
// must not overlap. On error both results are nil and neither is changed.
func (m *ResourceVectorMap) PodRequestBoth(request, scoring vector.ResourceVector, pod *corev1.Pod, opts PodOptions, unknown *[]string) (vector.ResourceVector, vector.ResourceVector, error) {
	var buf, bufScoring [entriesOnStack]entry
	var scored []entry
	if opts.APIServerDefaults {
		pod, opts.APIServerDefaults = defaulted(pod, !opts.SkipPodLevelResources), false
	}
	twice := opts.UseStatusResources || lacksDefaults(pod)
	if twice {
		// The other list has these names, but for cpu and memory, and says which
		// are unknown.
		var ignored *[]string // nil where unknown names are errors, here too
		if unknown != nil {
			ignored = new([]string)
		}
		var err error
		if scored, err = m.readList(bufScoring[:0], podRequests(pod, opts, true), up, ignored); err != nil {
			return nil, nil, asWritten(err, pod, opts)
		}
	}
	entries, err := m.readList(buf[:0], podRequests(pod, opts, false), up, unknown)
	if err != nil {
		return nil, nil, asWritten(err, pod, opts)
	}
	if !twice {
		scored = entries
	}
	return m.write(request, entries), m.write(scoring, scored), nil
}

// podRequests is the total of the pod's requests, with 1 of pods.
func podRequests(pod *corev1.Pod, opts PodOptions, defaults bool) corev1.ResourceList {
	list := podTotal(pod, opts, defaults)
	list[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return list
}

// podTotal is PodRequests with the defaults or without.
func podTotal(pod *corev1.Pod, opts PodOptions, defaults bool) corev1.ResourceList {
	if opts.APIServerDefaults {
		pod = defaulted(pod, !opts.SkipPodLevelResources)
	}
	o := podresource.PodResourcesOptions{
		Reuse:                 opts.Scratch,
		UseStatusResources:    opts.UseStatusResources,
		SkipPodLevelResources: opts.SkipPodLevelResources,
	}
	pod = boundedPod(pod, false, opts.UseStatusResources)
	if defaults {
		o.NonMissingContainerRequests = missingDefaults(pod, o)
	}
	return totalOf(pod, o)
}

// missingDefaults are the scoringDefaults of the pod's containers. Where the pod as a
// whole has requests, only names count that its total lacks, as in
// getNonMissingContainerRequests of kube-scheduler (pkg/scheduler/framework/types.go).
func missingDefaults(pod *corev1.Pod, o podresource.PodResourcesOptions) corev1.ResourceList {
	missing := scoringDefaults()
	if !o.SkipPodLevelResources && podresource.IsPodLevelRequestsSet(pod) {
		for name := range totalOf(pod, o) {
			delete(missing, name)
		}
	}
	return missing
}

// totalOf is podresource.PodRequests in a time linear in what the pod wants. It leaves
// the pod as it is: component-helpers add the overhead to the pod's own inf.Dec.
func totalOf(pod *corev1.Pod, o podresource.PodResourcesOptions) corev1.ResourceList {
	if r := pod.Spec.Resources; r != nil && len(pod.Spec.Overhead) > 0 && !o.SkipPodLevelResources {
		other := *pod
		other.Spec.Resources = r.DeepCopy()
		pod = &other
	}
	o.UseStatusResources = o.UseStatusResources && reports(pod)
	if !o.UseStatusResources {
		pod = condensed(pod, o.NonMissingContainerRequests, false)
	}
	// A status has amounts of the whole pod only where the kubelet resizes these, so
	// there is no second switch.
	o.InPlacePodLevelResourcesVerticalScalingEnabled = o.UseStatusResources && !o.SkipPodLevelResources
	return podresource.PodRequests(pod, o)
}

// reports reports whether the pod's status may change its total.
func reports(pod *corev1.Pod) bool {
	if pod.Status.Resources != nil {
		return true
	}
	said := func(s corev1.ContainerStatus) bool { return s.Resources != nil || s.AllocatedResources != nil }
	return slices.ContainsFunc(pod.Status.ContainerStatuses, said) ||
		slices.ContainsFunc(pod.Status.InitContainerStatuses, said) ||
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
}

// fewInitContainers is how many init containers cost little to add up the plain way.
const fewInitContainers = 16

// condensed returns a pod with the same total of requests, whose containers request
// the defaults at least, and if asked for with the same total of limits: pod itself if
// it has few init containers, or else a copy that has two. For every init container
// component-helpers copies what all sidecars until then have, which takes the product
// of the containers and their resources. Here the first has for each resource the most
// that is in use at a time, and the second, a sidecar, what all of them keep. The
// status must not count.
func condensed(pod *corev1.Pod, defaults corev1.ResourceList, limits bool) *corev1.Pod {
	if len(pod.Spec.InitContainers) <= fewInitContainers {
		return pod
	}
	always := corev1.ContainerRestartPolicyAlways
	peak, kept := corev1.Container{}, corev1.Container{RestartPolicy: &always}
	peak.Resources.Requests, kept.Resources.Requests = peakOf(pod.Spec.InitContainers, func(c *corev1.Container) corev1.ResourceList {
		return union(c.Resources.Requests, defaults)
	})
	if limits {
		peak.Resources.Limits, kept.Resources.Limits = peakOf(pod.Spec.InitContainers, func(c *corev1.Container) corev1.ResourceList {
			return c.Resources.Limits
		})
	}
	other := *pod
	other.Spec.InitContainers = []corev1.Container{peak}
	if slices.ContainsFunc(pod.Spec.InitContainers, isSidecar) {
		other.Spec.InitContainers = append(other.Spec.InitContainers, kept)
	}
	return &other
}

func isSidecar(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// peakOf returns the most that init containers use at a time, and what the sidecars
// among them keep. While one starts, it and the sidecars before it use something:
// KEP-753, "Resources calculation for scheduling and pod admission".
func peakOf(containers []corev1.Container, amounts func(*corev1.Container) corev1.ResourceList) (peak, kept corev1.ResourceList) {
	peak, kept = corev1.ResourceList{}, corev1.ResourceList{}
	for i := range containers {
		sidecar := isSidecar(containers[i])
		// What the container does not name is in use as much as before.
		for name, q := range amounts(&containers[i]) {
			before, some := kept[name]
			switch {
			case some && sidecar:
				q = sum(before, q)
			case some:
				q = sum(q, before)
			}
			if sidecar {
				kept[name] = q
			}
			if most, ok := peak[name]; !ok || q.Cmp(most) > 0 {
				peak[name] = q
			}
		}
	}
	return peak, kept
}

// sum returns a + b and leaves both as they are.
func sum(a, b resource.Quantity) resource.Quantity {
	a = a.DeepCopy()
	a.Add(b)
	return a
}

// lacksDefaults reports whether some container of the spec requests no cpu or
// no memory.
func lacksDefaults(pod *corev1.Pod) bool {
	for _, cs := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range cs {
			_, cpu := cs[i].Resources.Requests[corev1.ResourceCPU]
			_, memory := cs[i].Resources.Requests[corev1.ResourceMemory]
			if !cpu || !memory {
				return true
			}
		}
	}
	return false
}

// PodTotals returns what the pod as a whole requests, and what it may use. For the latter
// each container, and the pod itself, counts with its limit of a resource or, without a
// limit, with its request. Both are totalled as in [ResourceVectorMap.PodRequest],
// without the 1 of pods. Of devices, which Kubernetes neither shares nor overcommits,
// limits is what the pod gets, also without the option APIServerDefaults. The lists are
// new. Of opts, KubeScoringDefaults and Scratch are ignored, and UseStatusResources
// counts for requests only. Amounts of 10^1000 and more count as 10^1000: written as an
// exponent, as in 1e99999999, their sum takes minutes.
func PodTotals(pod *corev1.Pod, opts PodOptions) (requests, limits corev1.ResourceList) {
	o := podresource.PodResourcesOptions{
		UseStatusResources:    opts.UseStatusResources,
		SkipPodLevelResources: opts.SkipPodLevelResources,
	}
	pod = boundedPod(pod, true, opts.UseStatusResources)
	if opts.APIServerDefaults {
		pod = defaulted(pod, !opts.SkipPodLevelResources)
	}
	requests = totalOf(pod, o)
	bounded := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:     boundedContainers(pod.Spec.Containers),
		InitContainers: boundedContainers(pod.Spec.InitContainers),
		Overhead:       pod.Spec.Overhead,
	}}
	if r := pod.Spec.Resources; r != nil {
		bounded.Spec.Resources = &corev1.ResourceRequirements{Requests: bounds(r)}
	}
	o.UseStatusResources = false
	return requests, totalOf(bounded, o)
}

// defaulted returns pod as the API server would make it, with or without resources
// of the whole pod: pod itself where it is so, else a copy that shares what it can.
func defaulted(pod *corev1.Pod, podLevel bool) *corev1.Pod {
	initContainers, first := requestingLimits(pod.Spec.InitContainers)
	containers, second := requestingLimits(pod.Spec.Containers)
	podLevel = podLevel && pod.Spec.Resources != nil
	if !first && !second && !podLevel {
		return pod
	}
	other := *pod
	other.Spec.InitContainers, other.Spec.Containers = initContainers, containers
	if podLevel {
		other.Spec.Resources = requestingPodLimits(&other)
	}
	return &other
}

// requestingLimits returns containers that request what they limit, and whether
// these are others than the given ones.
func requestingLimits(containers []corev1.Container) (requesting []corev1.Container, changed bool) {
	for i := range containers {
		r := containers[i].Resources
		if !lacksAny(r.Requests, r.Limits) {
			continue
		}
		if !changed {
			containers, changed = slices.Clone(containers), true
		}
		containers[i].Resources.Requests = union(r.Requests, r.Limits)
	}
	return containers, changed
}

// requestingPodLimits returns the resources of the whole pod, whose containers are
// defaulted, with requests for what is limited. Of cpu and memory, which containers
// may share, the pod requests what its containers do, or else the limit. Of huge
// pages, which they may not, it requests the limit, which is the total of its containers
// where it has none itself.
func requestingPodLimits(pod *corev1.Pod) *corev1.ResourceRequirements {
	r := pod.Spec.Resources
	if len(r.Limits)+len(r.Requests) == 0 {
		return r
	}
	isHuge := func(name corev1.ResourceName) bool {
		return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	}
	bounded := condensed(boundedPod(pod, true, false), nil, true)
	huge := podresource.AggregateContainerLimits(bounded, podresource.PodResourcesOptions{})
	maps.DeleteFunc(huge, func(name corev1.ResourceName, _ resource.Quantity) bool {
		_, requested := r.Requests[name]
		return requested || !isHuge(name)
	})
	limits := union(r.Limits, huge)
	if len(limits) == 0 {
		return r
	}
	shared := podresource.AggregateContainerRequests(bounded, podresource.PodResourcesOptions{})
	maps.DeleteFunc(shared, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return isHuge(name) || !podresource.IsSupportedPodLevelResource(name)
	})
	limited := maps.Clone(limits)
	maps.DeleteFunc(limited, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return !podresource.IsSupportedPodLevelResource(name)
	})
	other := *r
	other.Requests, other.Limits = union(union(r.Requests, shared), limited), limits
	return &other
}

// lacksAny reports whether list lacks a name of other.
func lacksAny(list, other corev1.ResourceList) bool {
	for name := range other {
		if _, ok := list[name]; !ok {
			return true
		}
	}
	return false
}

// union returns list and what it lacks of other, in a new list where there is any.
func union(list, other corev1.ResourceList) corev1.ResourceList {
	if !lacksAny(list, other) {
		return list
	}
	all := maps.Clone(other)
	maps.Copy(all, list)
	return all
}

// boundedPod returns pod, or a copy without the amounts that take minutes to add.
// Those that are too large for a vector stay so. Limits and the status are looked
// at where they are read.
func boundedPod(pod *corev1.Pod, limits, status bool) *corev1.Pod {
	for list := range amountsOf(pod, limits, status) {
		for _, q := range list {
			if quantity.Far(&q) {
				return withoutFar(pod.DeepCopy())
			}
		}
	}
	return pod
}

// withoutFar changes the pod.
func withoutFar(pod *corev1.Pod) *corev1.Pod {
	for list := range amountsOf(pod, true, true) {
		for name, q := range list {
			list[name] = quantity.Bounded(q)
		}
	}
	return pod
}

// asWritten returns the error of a pod's total, with amounts as they are in the pod
// where boundedPod has put others in their place.
func asWritten(err error, pod *corev1.Pod, opts PodOptions) error {
	faults := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		faults = joined.Unwrap()
	}
	for _, fault := range faults {
		if e, ok := fault.(*vector.AmountError); ok {
			for list := range amountsOf(pod, opts.APIServerDefaults, opts.UseStatusResources) {
				if q, ok := list[corev1.ResourceName(e.Resource)]; ok && quantity.Far(&q) && q.Sign() != 0 {
					if bound := quantity.Bounded(q); bound.CmpInt64(1) > 0 || bound.CmpInt64(-1) < 0 {
						e.Amount = quantity.Text(q)
						break
					}
				}
			}
		}
	}
	return err
}

// boundedContainers returns containers that request what may be used.
func boundedContainers(containers []corev1.Container) []corev1.Container {
	list := make([]corev1.Container, len(containers))
	for i := range containers {
		list[i].RestartPolicy = containers[i].RestartPolicy
		list[i].Resources.Requests = bounds(&containers[i].Resources)
	}
	return list
}

// bounds returns the limits, and the requests of what has none.
func bounds(r *corev1.ResourceRequirements) corev1.ResourceList {
	if len(r.Limits) == 0 {
		return r.Requests
	}
	return union(r.Limits, r.Requests)
}
