package device_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A node with a GPU, a MIG instance of a second one, and an instance that a third
// one could be cut into.
func ExampleFromResourceSlices() {
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	amount := func(s string) resourcev1.DeviceCapacity {
		return resourcev1.DeviceCapacity{Value: resource.MustParse(s)}
	}
	type attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	type capacities = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity

	node := "node-1"
	slice := resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver:   "gpu.nvidia.com",
		NodeName: &node,
		Pool:     resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{
			Name: "gpu-0",
			Attributes: attributes{
				"type": text("gpu"), "productName": text("NVIDIA A100-SXM4-40GB"), "uuid": text("GPU-0"),
			},
			Capacity: capacities{"memory": amount("40Gi")},
		}, {
			Name: "gpu-1-mig-3g20gb-9-4",
			Attributes: attributes{
				"type": text("mig"), "productName": text("NVIDIA A100-SXM4-40GB"), "uuid": text("MIG-0"),
				"profile": text("3g.20gb"), "parentUUID": text("GPU-1"),
			},
			Capacity: capacities{
				"memory":       amount("19968Mi"),
				"memorySlice4": amount("1"), "memorySlice5": amount("1"), "memorySlice6": amount("1"), "memorySlice7": amount("1"),
			},
		}, {
			Name: "gpu-2-mig-3g20gb-9-0",
			Attributes: attributes{
				"type": text("mig"), "productName": text("NVIDIA A100-SXM4-40GB"), "profile": text("3g.20gb"),
			},
			ConsumesCounters: []resourcev1.DeviceCounterConsumption{{
				CounterSet: "gpu-2", Counters: map[string]resourcev1.Counter{"multiprocessors": {Value: resource.MustParse("42")}},
			}},
		}},
	}}

	inventory, err := device.FromResourceSlices([]resourcev1.ResourceSlice{slice}, nil, device.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range inventory.Nodes {
		for _, card := range n.Cards {
			fmt.Println(card.Count, card.Name)
		}
		for _, d := range n.Devices {
			fmt.Println(d.Name, d.MemoryBytes>>20, "MiB, starts at", d.Start)
		}
		for _, p := range n.Potential {
			fmt.Println(p.Name, "could be made of", p.Counters)
		}
	}
	// Output:
	// 1 NVIDIA-A100-SXM4-40GB
	// 1 NVIDIA-A100-SXM4-40GB/mig-3g.20gb-mixed
	// gpu-1-mig-3g20gb-9-4 19968 MiB, starts at 4
	// gpu-0 40960 MiB, starts at -1
	// gpu-2-mig-3g20gb-9-0 could be made of [{gpu-2 multiprocessors 42}]
}

// Another vendor's driver is configuration: the names that its slices use.
func ExampleDriver() {
	nics := device.Driver{
		Name: "nic.example.com", Vendor: "example.com", Kind: device.KindRDMA,
		Product: "model", PCIeRoot: "resource.kubernetes.io/pcieRoot", MinorPrefix: "rdma-",
	}
	node, model, root := "node-1", "ConnectX 7", "pci0000:64"
	slice := resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver:   "nic.example.com",
		NodeName: &node,
		Pool:     resourcev1.ResourcePool{Name: "nics-of-node-1", Generation: 1, ResourceSliceCount: 2},
		Devices: []resourcev1.Device{{
			Name: "rdma-3",
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"nic.example.com/model":           {StringValue: &model},
				"resource.kubernetes.io/pcieRoot": {StringValue: &root},
			},
		}},
	}}
	inventory, err := device.FromResourceSlices([]resourcev1.ResourceSlice{slice},
		append(device.DefaultDrivers(), nics), device.Options{AllowIncomplete: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	n := inventory.Nodes[0]
	fmt.Println(n.Devices[0].Kind, n.Devices[0].Minor, n.Devices[0].PCIeRoot)
	fmt.Println(n.Cards[0].Name, n.Cards[0].Count)
	fmt.Println(n.Problems[0].Code, n.Problems[0].Detail)
	// Output:
	// rdma 3 pci0000:64
	// ConnectX-7 1
	// incomplete-pool nic.example.com: 1 slices of generation 1: resourceSliceCount says 2
}
