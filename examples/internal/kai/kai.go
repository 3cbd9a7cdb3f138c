// Package kai reads which part of a GPU a pod asks KAI-Scheduler for. Annotations say it, and the
// pod's requests have nothing of it.
package kai

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// GPU is the resource of which a pod gets a part.
const GPU corev1.ResourceName = "nvidia.com/gpu"

// The annotations, as of KAI-Scheduler 0.17. Instances of MIG have the name of their resource.
const (
	fraction = "gpu-fraction"             // of one GPU, more than 0 and at most 1
	memory   = "gpu-memory"               // MiB of one GPU, in the place of a fraction
	devices  = "gpu-fraction-num-devices" // how many GPUs the pod gets such a part of
	mig      = "nvidia.com/mig-"
)

// PartOfGPUs returns how many GPUs a pod gets together, such as 500m of [GPU]. ok is false for a pod
// that asks for no part. The error names the annotation that can't be read, or of which the amount
// can't be told without a node.
func PartOfGPUs(pod *corev1.Pod) (q resource.Quantity, ok bool, err error) {
	for _, name := range slices.Sorted(maps.Keys(pod.Annotations)) {
		if strings.HasPrefix(name, mig) || name == memory {
			return q, true, fmt.Errorf("annotation %s: %q: how much of a GPU that is depends on the node", name, pod.Annotations[name])
		}
	}
	text, hasFraction := pod.Annotations[fraction]
	count, hasCount := pod.Annotations[devices]
	switch {
	case !hasFraction && !hasCount:
		return q, false, nil
	case !hasFraction:
		return q, true, fmt.Errorf("annotation %s: %q: there is no %s", devices, count, fraction)
	}
	if q, err = resource.ParseQuantity(text); err != nil || q.Sign() <= 0 || q.Cmp(resource.MustParse("1")) > 0 {
		return q, true, fmt.Errorf("annotation %s: %q: want a number above 0 and at most 1", fraction, text)
	}
	if hasCount {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n < 1 || !q.Mul(n) {
			return q, true, fmt.Errorf("annotation %s: %q: want a whole number of 1 or more", devices, count)
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
				if gpus := list[GPU]; !gpus.IsZero() {
					return q, true, errors.New("annotation " + fraction + ": container " + c.Name + " asks for " + string(GPU) + ", too")
				}
			}
		}
	}
	return q, true, nil
}
