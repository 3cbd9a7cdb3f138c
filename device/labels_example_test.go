package device_test

import (
	"fmt"

	"github.com/resvec/resvec/device"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// exampleLabels makes a node of labels and of one allocatable resource.
func exampleLabels(name string, labels map[string]string, allocatable corev1.ResourceName, count int64) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			allocatable: *resource.NewQuantity(count, resource.DecimalSI),
		}},
	}
}

// One GPU of eight is broken: allocatable counts.
func ExampleFromNodes() {
	nodes := []corev1.Node{exampleLabels("n1", map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
		"nvidia.com/gpu.count":   "8",
		"nvidia.com/gpu.memory":  "81559",
	}, "nvidia.com/gpu", 7)}

	inv, err := device.FromNodes(nodes, nil, device.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n := inv.Nodes[0]
	fmt.Println(len(n.Devices), "devices of", n.Devices[0].MemoryBytes, "bytes")
	for _, card := range n.Cards {
		fmt.Println(card.Count, card.Name)
	}
	for _, problem := range n.Problems {
		fmt.Println(problem.Code, problem.Key, "-", problem.Detail)
	}
	// Output:
	// 7 devices of 85520809984 bytes
	// 7 NVIDIA-H100-80GB-HBM3
	// count-mismatch nvidia.com/gpu - 7 allocatable, but 8 devices by label
}

// A vendor that the default rules don't know needs no code.
func ExampleRule() {
	rules := append([]device.Rule{{
		Name:       "intel",
		Vendor:     "intel.com",
		Product:    "gpu.intel.com/product",
		Memory:     "gpu.intel.com/memory.max",
		MemoryUnit: "Quantity",
		Whole:      []corev1.ResourceName{"gpu.intel.com/i915", "gpu.intel.com/xe"},
	}}, device.DefaultRules()...)
	nodes := []corev1.Node{exampleLabels("n1", map[string]string{
		"gpu.intel.com/product":    "Max_1100",
		"gpu.intel.com/memory.max": "51539607552",
	}, "gpu.intel.com/xe", 4)}

	inv, err := device.FromNodes(nodes, rules, device.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(inv.Nodes[0].Cards)

	rules[0].Memory = "not a label"
	_, err = device.FromNodes(nodes, rules[:1], device.Options{})
	fmt.Println(err != nil)
	// Output:
	// [{Max_1100 gpu.intel.com/xe 4}]
	// true
}

func ExampleInventory_Catalog() {
	v100 := map[string]string{
		"nvidia.com/gpu.product":  "Tesla-V100-SXM2-32GB",
		"nvidia.com/gpu.count":    "2",
		"nvidia.com/gpu.memory":   "32768",
		"nvidia.com/gpu.replicas": "4",
	}
	inv, err := device.FromNodes([]corev1.Node{
		exampleLabels("n1", v100, "nvidia.com/gpu.shared", 8),
		exampleLabels("n2", v100, "nvidia.com/gpu.shared", 8),
	}, nil, device.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog := inv.Catalog()
	for _, card := range catalog.Totals().Cards {
		name, err := catalog.Resource(card.Name)
		fmt.Println(card.Name, card.Milli, name, err)
	}
	_, err = catalog.Resource("A100")
	fmt.Println(err)
	// Output:
	// Tesla-V100-SXM2-32GB/mps-32g*1/4 16000 nvidia.com/gpu.shared <nil>
	// device: unknown card: "A100": must be one of "Tesla-V100-SXM2-32GB/mps-32g*1/4"
}

// The driver finds a GPU less than the labels say.
func ExampleAgree() {
	labels, err := device.FromNodes([]corev1.Node{exampleLabels("n1", map[string]string{
		"nvidia.com/gpu.product": "NVIDIA-A30",
		"nvidia.com/gpu.count":   "2",
		"nvidia.com/gpu.memory":  "24576",
	}, "nvidia.com/gpu", 2)}, nil, device.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	driver := device.NewNode("n1", device.SourceNVML, []device.Device{
		{Kind: device.KindGPU, Product: "NVIDIA A30", UUID: "GPU-0", MemoryBytes: 24 << 30, Start: -1, NUMANode: -1},
	}, device.Names{})
	for _, difference := range device.Agree(labels.Nodes[0], driver) {
		fmt.Println(difference)
	}
	// Output:
	// NVIDIA-A30: cards "2" and "1"
	// gpu: devices "2" and "1"
}
