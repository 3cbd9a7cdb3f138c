package main

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// kind is how the amounts of a resource are drawn.
type kind struct {
	name  corev1.ResourceName
	unit  int64 // amounts of nodes are 0 to 20 units, amounts of pods 0 to 8 units
	core  bool  // every node has it
	core2 bool  // most pods request it
}

// kinds are all kinds of names that kube-scheduler distinguishes.
var kinds = []kind{
	{name: corev1.ResourceMemory, unit: 1 << 28, core: true, core2: true},
	{name: corev1.ResourceEphemeralStorage, unit: 1 << 28, core: true},
	{name: "hugepages-2Mi", unit: 2 << 20},
	{name: "hugepages-1Gi", unit: 1 << 30},
	{name: "attachable-volumes-csi-a", unit: 1},
	{name: "nvidia.com/gpu", unit: 1},
	{name: "amd.com/gpu", unit: 1},
	{name: "nvidia.com/mig-1g.5gb", unit: 1},
	{name: "batch.kubernetes.io/cpu", unit: 1},
	{name: "ignored.example.com/a", unit: 1},
	{name: "group.example.com/a", unit: 1},
	{name: "group.example.com/b", unit: 1},
	{name: "class.example.com/everywhere", unit: 1}, // a DeviceClass; no node has it
	{name: "class.example.com/mixed", unit: 1},      // a DeviceClass, and some nodes have it
	{name: "deviceclass.resource.kubernetes.io/implicit", unit: 1},
	{name: "nobody.example.com/a", unit: 1},
	{name: "unqualified", unit: 1}, // kube-scheduler counts it nowhere
}

// onNode reports whether nodes can have a resource.
func onNode(name corev1.ResourceName) bool {
	switch name {
	case "class.example.com/everywhere", "deviceclass.resource.kubernetes.io/implicit", "nobody.example.com/a":
		return false
	}
	return true
}

// classes resolves the resources above that a DeviceClass provides. It is all of
// the DRA manager that filters need.
type classes struct{ fwk.SharedDRAManager }

func (c classes) DeviceClassResolver() fwk.DeviceClassResolver { return c }

func (classes) GetDeviceClass(name corev1.ResourceName) *resourcev1.DeviceClass {
	switch name {
	case "class.example.com/everywhere", "class.example.com/mixed", "deviceclass.resource.kubernetes.io/implicit":
		return &resourcev1.DeviceClass{}
	}
	return nil
}

// world makes random clusters and pods.
type world struct {
	*rand.Rand
	huge bool // some amounts are 2^53 and more
	pods int
}

func (w *world) chance(percent int) bool { return w.IntN(100) < percent }

func (w *world) node(i int) *corev1.Node {
	list := corev1.ResourceList{
		corev1.ResourceCPU:  *resource.NewMilliQuantity(500*w.Int64N(33), resource.DecimalSI),
		corev1.ResourcePods: *resource.NewQuantity(w.Int64N(9), resource.DecimalSI),
	}
	for _, k := range kinds {
		if onNode(k.name) && (k.core && w.chance(95) || w.chance(40)) {
			list[k.name] = w.quantity(k.unit, 20)
		}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)},
		Status:     corev1.NodeStatus{Allocatable: list},
	}
}

// quantity returns 0 to most units, sometimes a little more.
func (w *world) quantity(unit, most int64) resource.Quantity {
	amount := unit * w.Int64N(most+1)
	switch {
	case w.huge && w.chance(4):
		return *resource.NewQuantity(1<<53+w.Int64N(3), resource.BinarySI)
	case w.chance(10):
		amount += w.Int64N(7)
	}
	return *resource.NewQuantity(amount, resource.BinarySI)
}

// requests returns the requests of a container, few in number.
func (w *world) requests() corev1.ResourceList {
	list := corev1.ResourceList{}
	if w.chance(80) {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(w.Int64N(4000), resource.DecimalSI)
	}
	for _, k := range kinds {
		if k.core2 && w.chance(75) || w.chance(7) {
			list[k.name] = w.quantity(k.unit, 5)
		}
	}
	return list
}

func (w *world) container() corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: w.requests()}}
}

func (w *world) pod() *corev1.Pod {
	w.pods++
	name := fmt.Sprintf("pod-%d", w.pods)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	if w.chance(5) {
		pod.Spec.Containers = []corev1.Container{{}} // requests nothing
		return pod
	}
	for range 1 + w.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, w.container())
	}
	for w.chance(25) {
		init := w.container()
		if w.chance(50) {
			always := corev1.ContainerRestartPolicyAlways
			init.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, init)
	}
	if w.chance(15) {
		pod.Spec.Overhead = corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}
	}
	if w.chance(15) {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewMilliQuantity(w.Int64N(8000), resource.DecimalSI),
		}}
		if w.chance(50) {
			pod.Spec.Resources.Requests[corev1.ResourceMemory] = w.quantity(1<<28, 10)
		}
	}
	return pod
}
