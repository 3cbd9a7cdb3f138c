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
	claims    map[string]resourcev1.ResourceClaimSpec
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

// name returns the resource as which devices are counted that meet a criterion.
func (c criterion) name() corev1.ResourceName {
	var parts []string
	for _, part := range []string{c.kind, c.product, c.profile} {
		if part != "" {
			parts = append(parts, notInName.ReplaceAllString(part, "."))
		}
	}
	name := cmp.Or(strings.Join(parts, "."), "device")
	return corev1.ResourceName("gpu.nvidia.com/" + strings.Trim(name[:min(len(name), 63)], "-_."))
}

// notInName matches what a name of a resource can't have.
var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

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

// countClaims turns the claims of pods that it understands into requests, and the devices of
// ResourceSlices into what nodes announce: a resource for each criterion. A device counts in
// each that it meets, and a request in its own and in all that accept no device less. So
// nothing is given away twice where of two criteria one always includes the other, or
// neither has a device of the other. Claims that it does not understand stay with the pod.
func (s *snapshot) countClaims(d *dra) error {
	drivers := slices.DeleteFunc(device.DefaultDrivers(), func(d device.Driver) bool { return d.Name != driver })
	inventory, err := device.FromResourceSlices(d.slices, drivers, device.SliceOptions{})
	if err != nil {
		return err
	}
	var devices []*device.Device
	for i := range inventory.Nodes {
		for k := range inventory.Nodes[i].Devices {
			devices = append(devices, &inventory.Nodes[i].Devices[k])
		}
	}
	for name, problem := range inventory.AllProblems() {
		s.problems = append(s.problems, strings.TrimPrefix(name+": ", ": ")+problem.String())
	}
	users := make(map[string]int) // of claims by name
	for _, pods := range [][]pod{s.running, s.queue} {
		for _, p := range pods {
			for _, claim := range p.Spec.ResourceClaims {
				if claim.ResourceClaimName != nil {
					users[p.Namespace+"/"+*claim.ResourceClaimName]++
				}
			}
		}
	}
	wanted := make(map[criterion]bool)
	requests := make(map[*corev1.Pod]map[criterion]int64)
	for _, pods := range [][]pod{s.running, s.queue} {
		for _, p := range pods {
			sum := make(map[criterion]int64)
			p.Spec.ResourceClaims = slices.DeleteFunc(p.Spec.ResourceClaims, func(claim corev1.PodResourceClaim) bool {
				counts, ok := d.read(p.Namespace, claim, users)
				for c, n := range counts {
					sum[c] += n
					wanted[c] = true
				}
				return ok
			})
			if len(sum) > 0 {
				requests[p.Pod] = sum
			}
		}
	}
	// includes reports whether a meets all that b meets.
	includes := func(a, b criterion) bool {
		return !slices.ContainsFunc(devices, func(d *device.Device) bool { return b.accepts(d) && !a.accepts(d) })
	}
	for p, sum := range requests {
		if len(p.Spec.Containers) == 0 {
			p.Spec.Containers = make([]corev1.Container, 1)
		}
		list := maps.Clone(p.Spec.Containers[0].Resources.Requests)
		if list == nil {
			list = make(corev1.ResourceList)
		}
		for c := range wanted {
			n := int64(0)
			for own, count := range sum {
				if own == c || includes(c, own) {
					n += count
				}
			}
			if n > 0 {
				list[c.name()] = *resource.NewQuantity(n, resource.DecimalSI)
			}
		}
		p.Spec.Containers[0].Resources.Requests = list
	}
	for i := range s.nodes {
		s.nodes[i].announce(inventory, wanted)
	}
	return nil
}

// announce counts the devices of a node for each criterion.
func (n *node) announce(inventory *device.Inventory, wanted map[criterion]bool) {
	of, ok := inventory.Node(n.Name)
	if !ok || len(wanted) == 0 {
		return
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = maps.Clone(n.Status.Capacity)
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = make(corev1.ResourceList)
	}
	for c := range wanted {
		count := int64(0)
		for i := range of.Devices {
			if c.accepts(&of.Devices[i]) {
				count++
			}
		}
		if count > 0 {
			n.Status.Allocatable[c.name()] = *resource.NewQuantity(count, resource.DecimalSI)
		}
	}
}

// read returns how many devices a claim requests by which criteria; ok is false where it
// says more than this program understands, or several pods share it.
func (d *dra) read(namespace string, claim corev1.PodResourceClaim, users map[string]int) (counts map[criterion]int64, ok bool) {
	var spec resourcev1.ResourceClaimSpec
	switch {
	case claim.ResourceClaimName != nil:
		key := namespace + "/" + *claim.ResourceClaimName
		if spec, ok = d.claims[key]; users[key] > 1 {
			return nil, false
		}
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
			put(&d.claims, key, x.Spec)
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
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = value
}
