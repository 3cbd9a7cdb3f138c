package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// dra are the objects of dynamic resource allocation, by name or namespace/name.
type dra struct {
	classes   map[string]*resourcev1.DeviceClass
	claims    map[string]*resourcev1.ResourceClaim
	templates map[string]resourcev1.ResourceClaimSpec
	slices    []*resourcev1.ResourceSlice
}

// driver is the one whose devices and claims this program understands.
const driver = "gpu.nvidia.com"

// A criterion is which devices of NVIDIA's driver a claim accepts; empty accepts any.
type criterion struct {
	kind    string // gpu or mig
	product string
	profile string
}

// notInName matches what a name of a resource can't have.
var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// name returns the criterion for the name of a resource.
func (c criterion) name() string {
	parts := slices.DeleteFunc([]string{c.kind, c.product, c.profile}, func(part string) bool { return part == "" })
	return cmp.Or(notInName.ReplaceAllString(strings.Join(parts, "."), "."), "device")
}

// accepts reports whether a device meets a criterion.
func (c criterion) accepts(d *device.Device) bool {
	kind, profile := "gpu", ""
	if d.Sharing == device.SharingMIG {
		kind, profile = "mig", d.Profile.String()
	}
	return d.Allocatable() && d.Health != device.Unhealthy && (c.kind == "" || c.kind == kind) &&
		(c.product == "" || c.product == d.Product) && (c.profile == "" || c.profile == profile)
}

// standard are the classes that NVIDIA's driver installs, for files that lack them.
var standard = map[string]criterion{"gpu.nvidia.com": {kind: "gpu"}, "mig.nvidia.com": {kind: "mig"}}

// A pool is devices that are counted together, as a resource.
type pool struct {
	name corev1.ResourceName
	has  []bool // by device
}

// includes reports whether a pool has all devices of another one.
func (p *pool) includes(other *pool) bool {
	for i, has := range other.has {
		if has && !p.has[i] {
			return false
		}
	}
	return true
}

// union returns the devices of two pools, unless they have none in common, or one includes
// the other.
func (p *pool) union(other *pool) (u pool, ok bool) {
	u.has = slices.Clone(p.has)
	for i, has := range other.has {
		ok = ok || has && p.has[i]
		u.has[i] = has || p.has[i]
	}
	u.name = p.name + ".or." + other.name
	return u, ok && !p.includes(other) && !other.includes(p)
}

// mostPools bounds the pools. So many criteria that overlap in part are not of a real cluster.
const mostPools = 100

// poolsOf returns a pool for each criterion and, where two overlap in part, one for both
// together. All requests to a node can be met at once where no pool has less than those ask
// for that none but its devices meet: by Hall's theorem, as for sets that don't overlap it is
// enough to look at each.
func poolsOf(criteria []criterion, devices []*device.Device) []pool {
	var pools []pool
	for _, c := range criteria {
		p := pool{name: corev1.ResourceName(c.name())}
		for _, d := range devices {
			p.has = append(p.has, c.accepts(d))
		}
		pools = append(pools, p)
	}
	for i := 0; i < len(pools); i++ {
		for k := range i {
			u, ok := pools[i].union(&pools[k])
			if ok && len(pools) < mostPools && !slices.ContainsFunc(pools, func(p pool) bool { return slices.Equal(p.has, u.has) }) {
				pools = append(pools, u)
			}
		}
	}
	taken := make(map[corev1.ResourceName]bool)
	for i := range pools {
		p := &pools[i]
		if len(p.name) > 63 || taken[p.name] { // a name has at most 63 bytes
			p.name = corev1.ResourceName(fmt.Sprintf("%s.%d", p.name[:min(len(p.name), 59)], i))
		}
		taken[p.name] = true
		p.name = "gpu.nvidia.com/" + p.name
	}
	return pools
}

// countClaims turns the claims of pods that it understands into requests, and the devices of
// ResourceSlices into what nodes announce: a resource for each pool. Claims that it does not
// understand stay with the pod.
func (s *snapshot) countClaims(d *dra) error {
	drivers := slices.DeleteFunc(device.DefaultDrivers(), func(d device.Driver) bool { return d.Name != driver })
	inventory, err := device.FromResourceSlices(d.slices, drivers, device.Options{})
	if err != nil {
		return err
	}
	allocated := d.allocated()
	var devices []*device.Device // that no claim has by its status
	on := make(map[string][]int) // node to its devices
	for i := range inventory.Nodes {
		n := &inventory.Nodes[i]
		for k := range n.Devices {
			if allocated[n.Name+"/"+n.Devices[k].Name] {
				continue
			}
			on[n.Name] = append(on[n.Name], len(devices))
			devices = append(devices, &n.Devices[k])
		}
	}
	for name, problem := range inventory.AllProblems() {
		s.problems = append(s.problems, strings.TrimPrefix(name+": ", ": ")+problem.String())
	}
	for _, slice := range d.slices {
		if slice.Spec.NodeName != nil {
			put(&s.sliced, *slice.Spec.NodeName, true)
		}
	}
	requests := d.requests(slices.Concat(s.running, s.queue))
	wanted := make(map[criterion]bool)
	for _, sum := range requests {
		for c := range sum {
			wanted[c] = true
		}
	}
	criteria := slices.SortedFunc(maps.Keys(wanted), func(a, b criterion) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.product, b.product), cmp.Compare(a.profile, b.profile))
	})
	pools := poolsOf(criteria, devices)
	counts := make([][]criterion, len(pools)) // whose requests count in each pool
	for i := range pools {
		for own, c := range criteria {
			if own == i || pools[i].includes(&pools[own]) {
				counts[i] = append(counts[i], c)
			}
		}
	}
	for p, sum := range requests {
		if len(p.Spec.Containers) == 0 {
			p.Spec.Containers = make([]corev1.Container, 1)
		}
		list := cloneAmounts(p.Spec.Containers[0].Resources.Requests)
		for i := range pools {
			n := int64(0)
			for _, c := range counts[i] {
				n += sum[c]
			}
			if n > 0 {
				list[pools[i].name] = *resource.NewQuantity(n, resource.DecimalSI)
			}
		}
		p.Spec.Containers[0].Resources.Requests = list
	}
	for i := range s.nodes {
		s.nodes[i].announce(pools, on[s.nodes[i].Name])
	}
	return nil
}

// announce counts the devices of a node in each pool.
func (n *node) announce(pools []pool, devices []int) {
	if len(pools) == 0 || len(devices) == 0 {
		return
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = cloneAmounts(n.Status.Capacity)
	}
	for _, p := range pools {
		count := int64(0)
		for _, i := range devices {
			if p.has[i] {
				count++
			}
		}
		if count > 0 {
			n.Status.Allocatable[p.name] = *resource.NewQuantity(count, resource.DecimalSI)
		}
	}
}

// cloneAmounts returns a list that can be written to.
func cloneAmounts(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return make(corev1.ResourceList)
	}
	return maps.Clone(list)
}

// requests takes the claims that it understands away from pods, and returns how many devices
// they request by which criteria.
func (d *dra) requests(pods []pod) map[*corev1.Pod]map[criterion]int64 {
	users := make(map[string]int) // of claims by name
	for _, p := range pods {
		for _, claim := range p.Spec.ResourceClaims {
			users[claimName(p.Pod, claim)]++
		}
	}
	requests := make(map[*corev1.Pod]map[criterion]int64)
	for _, p := range pods {
		sum := make(map[criterion]int64)
		p.Spec.ResourceClaims = slices.DeleteFunc(p.Spec.ResourceClaims, func(claim corev1.PodResourceClaim) bool {
			name := claimName(p.Pod, claim)
			if object := d.claims[name]; object != nil && object.Status.Allocation != nil {
				return p.Spec.NodeName != "" // it has its devices; who waits with them is bound to their node
			}
			counts, ok := d.read(p.Namespace, claim, name, users)
			for c, n := range counts {
				sum[c] += n
			}
			return ok
		})
		if len(sum) > 0 {
			requests[p.Pod] = sum
		}
	}
	return requests
}

// claimName returns the ResourceClaim that a pod has for a claim, by namespace/name; "" where
// it was not made yet.
func claimName(p *corev1.Pod, claim corev1.PodResourceClaim) string {
	name := claim.ResourceClaimName
	for _, status := range p.Status.ResourceClaimStatuses {
		if status.Name == claim.Name && name == nil {
			name = status.ResourceClaimName
		}
	}
	if name == nil {
		return ""
	}
	return p.Namespace + "/" + *name
}

// allocated returns the devices that claims have by their status, as node/device.
func (d *dra) allocated() map[string]bool {
	nodes := make(map[string]string) // of pools
	for _, s := range d.slices {
		if s.Spec.Driver == driver && s.Spec.NodeName != nil {
			nodes[s.Spec.Pool.Name] = *s.Spec.NodeName
		}
	}
	devices := make(map[string]bool)
	for _, claim := range d.claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.Driver == driver && (r.AdminAccess == nil || !*r.AdminAccess) {
				devices[nodes[r.Pool]+"/"+r.Device] = true
			}
		}
	}
	return devices
}

// read returns how many devices a claim of a name requests by which criteria; ok is false where
// it says more than this program understands, or several pods share it.
func (d *dra) read(namespace string, claim corev1.PodResourceClaim, name string, users map[string]int) (counts map[criterion]int64, ok bool) {
	var spec resourcev1.ResourceClaimSpec
	switch object := d.claims[name]; {
	case object != nil && users[name] > 1:
		return nil, false
	case object != nil:
		spec, ok = object.Spec, true
	case claim.ResourceClaimTemplateName != nil:
		spec, ok = d.templates[namespace+"/"+*claim.ResourceClaimTemplateName]
	}
	if !ok || len(spec.Devices.Constraints) > 0 {
		return nil, false
	}
	counts = make(map[criterion]int64)
	for _, r := range spec.Devices.Requests {
		exactly := r.Exactly
		if exactly == nil || exactly.AllocationMode != "" && exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount ||
			exactly.AdminAccess != nil && *exactly.AdminAccess || exactly.Capacity != nil || len(exactly.Tolerations) > 0 {
			return nil, false
		}
		var c criterion
		var selectors []resourcev1.DeviceSelector
		if class := d.classes[exactly.DeviceClassName]; class != nil {
			selectors = class.Spec.Selectors
		} else if c, ok = standard[exactly.DeviceClassName]; !ok {
			return nil, false
		}
		isNVIDIA := c.kind != ""
		for _, s := range slices.Concat(selectors, exactly.Selectors) {
			if s.CEL == nil || !c.restrict(s.CEL.Expression, &isNVIDIA) {
				return nil, false
			}
		}
		if !isNVIDIA {
			return nil, false
		}
		counts[c] += max(exactly.Count, 1)
	}
	return counts, true
}

// comparison matches what this program understands of CEL: that an attribute of NVIDIA's
// driver is a string.
var comparison = regexp.MustCompile(`^\s*device\.(driver|attributes\[["']gpu\.nvidia\.com["']\]\.(type|productName|profile))\s*==\s*["']([^"'\\]*)["']\s*$`)

// restrict restricts a criterion by an expression. isNVIDIA is set where it names the
// driver, or an attribute of it.
func (c *criterion) restrict(expression string, isNVIDIA *bool) bool {
	for part := range strings.SplitSeq(expression, "&&") {
		m := comparison.FindStringSubmatch(part)
		if m == nil {
			return false
		}
		field, value := &c.kind, m[3]
		switch m[2] {
		case "":
			if value != driver {
				return false
			}
			*isNVIDIA = true
			continue
		case "productName":
			field, value = &c.product, strings.ReplaceAll(value, " ", "-")
		case "profile":
			field = &c.profile
		}
		if *field != "" && *field != value {
			return false // no device is both
		}
		*field, *isNVIDIA = value, true
	}
	return true
}

// addDRA adds an object of dynamic resource allocation.
func (d *dra) addDRA(kind, key string, decode func(into any, another func() any) error) (err error) {
	switch kind {
	case "DeviceClass":
		x := new(resourcev1.DeviceClass)
		if err = decode(x, func() any { return new(resourcev1.DeviceClass) }); err == nil {
			put(&d.classes, x.Name, x)
		}
	case "ResourceClaim":
		x := new(resourcev1.ResourceClaim)
		if err = decode(x, func() any { return new(resourcev1.ResourceClaim) }); err == nil {
			put(&d.claims, key, x)
		}
	case "ResourceClaimTemplate":
		x := new(resourcev1.ResourceClaimTemplate)
		if err = decode(x, func() any { return new(resourcev1.ResourceClaimTemplate) }); err == nil {
			put(&d.templates, key, x.Spec.Spec)
		}
	case "ResourceSlice":
		x := new(resourcev1.ResourceSlice)
		if err = decode(x, func() any { return new(resourcev1.ResourceSlice) }); err == nil {
			d.slices = append(d.slices, x)
		}
	default:
		return fmt.Errorf("kind: got %q of apiVersion %q, want DeviceClass, ResourceClaim, ResourceClaimTemplate or ResourceSlice", kind, resourcev1.SchemeGroupVersion)
	}
	return err
}

// with returns the objects of both.
func (d *dra) with(other *dra) *dra {
	sum := &dra{slices: slices.Concat(d.slices, other.slices)}
	for _, x := range []*dra{d, other} {
		for key, class := range x.classes {
			put(&sum.classes, key, class)
		}
		for key, claim := range x.claims {
			put(&sum.claims, key, claim)
		}
		for key, template := range x.templates {
			put(&sum.templates, key, template)
		}
	}
	return sum
}

// put sets a value in a map that is made when it is needed.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}
