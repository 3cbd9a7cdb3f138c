package mig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// slicedNode reads a node with a GPU, an A100 of 40 GB, and MIG instances of it
// from a ResourceSlice.
func slicedNode(t testing.TB, instances ...resourcev1.Device) *device.Node {
	t.Helper()
	node := "n"
	gpu := sliceDevice("gpu-0", "40Gi", "type=gpu", "uuid=GPU-0")
	slice := resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver:   "gpu.nvidia.com",
		Pool:     resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
		NodeName: &node,
		Devices:  append(instances, gpu),
	}}
	inv := testkit.Must(device.FromResourceSlices([]resourcev1.ResourceSlice{slice}, nil, device.Options{}))
	return &inv.Nodes[0]
}

// sliceInstance is a MIG instance that declares memory slots.
func sliceInstance(name, profile string, slots ...int) resourcev1.Device {
	d := sliceDevice(name, "4864Mi", "type=mig", "profile="+profile, "parentUUID=GPU-0")
	for _, s := range slots {
		d.Capacity[resourcev1.QualifiedName(fmt.Sprintf("memorySlice%d", s))] = resourcev1.DeviceCapacity{Value: resource.MustParse("1")}
	}
	return d
}

// sliceDevice is a device of a slice with attributes, written name=value.
func sliceDevice(name, memory string, attributes ...string) resourcev1.Device {
	d := resourcev1.Device{
		Name:       name,
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(memory)}},
	}
	for _, pair := range append(attributes, "productName=NVIDIA A100-SXM4-40GB") {
		key, value, _ := strings.Cut(pair, "=")
		d.Attributes[resourcev1.QualifiedName(key)] = resourcev1.DeviceAttribute{StringValue: &value}
	}
	return d
}
