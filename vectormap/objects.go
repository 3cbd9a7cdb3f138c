package vectormap

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// allocatable returns what the node has.
func allocatable(node *corev1.Node) corev1.ResourceList {
	switch {
	case node.Status.Allocatable == nil:
		return node.Status.Capacity
	}
	return node.Status.Allocatable
}

// amountsOf goes through the lists of amounts that a total may read.
func amountsOf(pod *corev1.Pod, limits, status bool) iter.Seq[corev1.ResourceList] {
	return func(yield func(corev1.ResourceList) bool) {
		both := func(r *corev1.ResourceRequirements) bool {
			return r == nil || yield(r.Requests) && (!limits || yield(r.Limits))
		}
		for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range containers {
				if !both(&containers[i].Resources) {
					return
				}
			}
		}
		if !both(pod.Spec.Resources) || !yield(pod.Spec.Overhead) || !status {
			return
		}
		for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range statuses {
				if !both(statuses[i].Resources) || !yield(statuses[i].AllocatedResources) {
					return
				}
			}
		}
		_ = both(pod.Status.Resources) && yield(pod.Status.AllocatedResources)
	}
}
