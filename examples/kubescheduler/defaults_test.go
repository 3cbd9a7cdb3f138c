package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
)

// A pod counts with vectormap's APIServerDefaults as it does without them when
// Kubernetes has defaulted it.
func TestAPIServerDefaults(t *testing.T) {
	// From v1.37 on this gate has the same defaults set later, after admission.
	const later = "PodLevelResourcesFixDefaulting"
	if _, known := utilfeature.DefaultMutableFeatureGate.GetAll()[later]; known {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, later, false)
	}
	r := testkit.Rand(1)
	for range 20_000 {
		pod := randomPodSpec(r)
		seen := pod.DeepCopy()
		corev1defaults.SetDefaults_Pod(seen)
		for _, opts := range []vectormap.PodOptions{{}, {KubeScoringDefaults: true}, {UseStatusResources: true}} {
			want := vectormap.PodRequests(seen, opts)
			opts.APIServerDefaults = true
			for what, p := range map[string]*corev1.Pod{"not seen": pod, "seen": seen} {
				if got := vectormap.PodRequests(p, opts); !apiequality.Semantic.DeepEqual(got, want) {
					t.Fatalf("%s, %+v: %v, want %v: %+v", what, opts, got, want, pod.Spec)
				}
			}
		}
	}
}

func randomPodSpec(r *rand.Rand) *corev1.Pod {
	list := func() corev1.ResourceList {
		var list corev1.ResourceList
		for _, name := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu"} {
			if r.IntN(3) == 0 {
				if list == nil {
					list = corev1.ResourceList{}
				}
				list[name] = *resource.NewQuantity(int64(r.IntN(5)), resource.DecimalSI)
			}
		}
		if list == nil && r.IntN(2) == 0 {
			list = corev1.ResourceList{}
		}
		return list
	}
	requirements := func() corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: list(), Requests: list()}
	}
	var pod corev1.Pod
	always := corev1.ContainerRestartPolicyAlways
	for i := range r.IntN(3) {
		c := corev1.Container{Name: fmt.Sprint("init", i), Resources: requirements()}
		if r.IntN(2) == 0 {
			c.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for i := range 1 + r.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Resources: requirements()})
	}
	if r.IntN(2) == 0 {
		whole := requirements()
		pod.Spec.Resources = &whole
	}
	if r.IntN(3) == 0 {
		pod.Spec.Overhead = list()
	}
	if r.IntN(3) == 0 {
		resources := requirements()
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c0", Resources: &resources, AllocatedResources: list()}}
	}
	return &pod
}
