package device

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
)

// sliceV1 returns a slice as v1 has it, with all that is read of it, and the version of its
// type. p points at a resourceSlice of any type.
func sliceV1(p any) (s *resourcev1.ResourceSlice, version string) {
	switch p := p.(type) {
	case *resourcev1.ResourceSlice:
		return p, resourcev1.SchemeGroupVersion.String()
	case **resourcev1.ResourceSlice:
		return *p, resourcev1.SchemeGroupVersion.String()
	case *resourcev1beta1.ResourceSlice:
		return fromV1beta1(p), resourcev1beta1.SchemeGroupVersion.String()
	case **resourcev1beta1.ResourceSlice:
		return fromV1beta1(*p), resourcev1beta1.SchemeGroupVersion.String()
	case *resourcev1beta2.ResourceSlice:
		return fromV1beta2(p), resourcev1beta2.SchemeGroupVersion.String()
	}
	return fromV1beta2(*p.(**resourcev1beta2.ResourceSlice)), resourcev1beta2.SchemeGroupVersion.String()
}

// fromV1beta1 converts a slice whose devices have their fields under basic.
func fromV1beta1(s *resourcev1beta1.ResourceSlice) *resourcev1.ResourceSlice {
	out := &resourcev1.ResourceSlice{TypeMeta: s.TypeMeta}
	out.Name = s.Name
	out.Spec = resourcev1.ResourceSliceSpec{
		Driver: s.Spec.Driver, NodeName: &s.Spec.NodeName,
		Pool:                   resourcev1.ResourcePool(s.Spec.Pool),
		PerDeviceNodeSelection: s.Spec.PerDeviceNodeSelection,
		Devices:                make([]resourcev1.Device, len(s.Spec.Devices)),
	}
	for i := range s.Spec.Devices {
		d := &out.Spec.Devices[i]
		d.Name = s.Spec.Devices[i].Name
		basic := s.Spec.Devices[i].Basic
		if basic == nil {
			continue // it has no attributes, and so no type
		}
		d.Attributes = convertMap[resourcev1.QualifiedName](basic.Attributes, func(a resourcev1beta1.DeviceAttribute) resourcev1.DeviceAttribute {
			return resourcev1.DeviceAttribute(a)
		})
		d.Capacity = convertMap[resourcev1.QualifiedName](basic.Capacity, func(c resourcev1beta1.DeviceCapacity) resourcev1.DeviceCapacity {
			return resourcev1.DeviceCapacity{Value: c.Value}
		})
		for _, c := range basic.ConsumesCounters {
			d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{
				CounterSet: c.CounterSet,
				Counters:   convertMap[string](c.Counters, func(c resourcev1beta1.Counter) resourcev1.Counter { return resourcev1.Counter(c) }),
			})
		}
		for _, t := range basic.Taints {
			d.Taints = append(d.Taints, resourcev1.DeviceTaint{Effect: resourcev1.DeviceTaintEffect(t.Effect)})
		}
		d.NodeName, d.AllowMultipleAllocations = basic.NodeName, basic.AllowMultipleAllocations
	}
	return out
}

// fromV1beta2 converts a slice that has the fields of v1 in other types.
func fromV1beta2(s *resourcev1beta2.ResourceSlice) *resourcev1.ResourceSlice {
	out := &resourcev1.ResourceSlice{TypeMeta: s.TypeMeta}
	out.Name = s.Name
	out.Spec = resourcev1.ResourceSliceSpec{
		Driver: s.Spec.Driver, NodeName: s.Spec.NodeName,
		Pool:                   resourcev1.ResourcePool(s.Spec.Pool),
		PerDeviceNodeSelection: s.Spec.PerDeviceNodeSelection,
		Devices:                make([]resourcev1.Device, len(s.Spec.Devices)),
	}
	for i := range s.Spec.Devices {
		d, old := &out.Spec.Devices[i], &s.Spec.Devices[i]
		d.Name = old.Name
		d.Attributes = convertMap[resourcev1.QualifiedName](old.Attributes, func(a resourcev1beta2.DeviceAttribute) resourcev1.DeviceAttribute {
			return resourcev1.DeviceAttribute(a)
		})
		d.Capacity = convertMap[resourcev1.QualifiedName](old.Capacity, func(c resourcev1beta2.DeviceCapacity) resourcev1.DeviceCapacity {
			return resourcev1.DeviceCapacity{Value: c.Value}
		})
		for _, c := range old.ConsumesCounters {
			d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{
				CounterSet: c.CounterSet,
				Counters:   convertMap[string](c.Counters, func(c resourcev1beta2.Counter) resourcev1.Counter { return resourcev1.Counter(c) }),
			})
		}
		for _, t := range old.Taints {
			d.Taints = append(d.Taints, resourcev1.DeviceTaint{Effect: resourcev1.DeviceTaintEffect(t.Effect)})
		}
		d.NodeName, d.AllowMultipleAllocations = old.NodeName, old.AllowMultipleAllocations
	}
	return out
}

// convertMap converts the names and values of a map.
func convertMap[K2, K1 ~string, V1, V2 any](in map[K1]V1, convert func(V1) V2) map[K2]V2 {
	out := make(map[K2]V2, len(in))
	for name, v := range in {
		out[K2(name)] = convert(v)
	}
	return out
}
