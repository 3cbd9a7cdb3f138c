package vectormap

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"
)

// randomPod has up to so many containers of a kind, and few resources. Its amounts
// are such as Kubernetes has: also zeros, fractions, large ones and negative ones.
func randomPod(rng *rand.Rand, most int) *corev1.Pod {
	resources := []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi", "example.com/a", "example.com/b"}
	amounts := []string{"0", "0", "1", "2", "3", "1500m", "1Ki", "4Gi", "1e3", "7n", "9223372036854775807", "12e20", "-1", "-2500m"}
	list := func() corev1.ResourceList {
		var l corev1.ResourceList
		for _, name := range resources {
			if rng.IntN(3) == 0 {
				if l == nil {
					l = corev1.ResourceList{}
				}
				l[name] = resource.MustParse(amounts[rng.IntN(len(amounts))])
			}
		}
		return l
	}
	always := corev1.ContainerRestartPolicyAlways
	containers := func(sidecars bool) (all []corev1.Container) {
		for i := range rng.IntN(most + 1) {
			c := corev1.Container{Name: fmt.Sprint(sidecars, i)}
			c.Resources = corev1.ResourceRequirements{Requests: list(), Limits: list()}
			if sidecars && rng.IntN(2) == 0 {
				c.RestartPolicy = &always
			}
			all = append(all, c)
		}
		return all
	}
	p := pod(corev1.PodSpec{Containers: containers(false), InitContainers: containers(rng.IntN(4) > 0)})
	if rng.IntN(2) == 0 {
		p.Spec.Overhead = list()
	}
	if rng.IntN(2) == 0 {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: list(), Limits: list()}
	}
	if rng.IntN(2) == 0 {
		statuses := func(of []corev1.Container) (all []corev1.ContainerStatus) {
			for i := range of {
				s := corev1.ContainerStatus{Name: of[i].Name}
				if rng.IntN(2) == 0 {
					s.Resources = &corev1.ResourceRequirements{Requests: list()}
				}
				if rng.IntN(2) == 0 {
					s.AllocatedResources = list()
				}
				all = append(all, s)
			}
			return all
		}
		p.Status.ContainerStatuses, p.Status.InitContainerStatuses = statuses(p.Spec.Containers), statuses(p.Spec.InitContainers)
	}
	if rng.IntN(4) == 0 {
		p.Status.AllocatedResources, p.Status.Resources = list(), &corev1.ResourceRequirements{Requests: list()}
	}
	if rng.IntN(4) == 0 {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled}, {Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
	}
	return p
}

// TestTotalsAreThoseOfKubernetes: a pod of many init containers has the total that
// component-helpers says.
func TestTotalsAreThoseOfKubernetes(t *testing.T) {
	rng, many := rand.New(rand.NewPCG(1, 2)), 0
	for range 1_500 {
		p := randomPod(rng, 2*fewInitContainers+8)
		before := p.DeepCopy()
		opts := PodOptions{UseStatusResources: rng.IntN(2) == 0, SkipPodLevelResources: rng.IntN(2) == 0, KubeScoringDefaults: rng.IntN(2) == 0}
		o := podresource.PodResourcesOptions{
			UseStatusResources:                             opts.UseStatusResources,
			SkipPodLevelResources:                          opts.SkipPodLevelResources,
			InPlacePodLevelResourcesVerticalScalingEnabled: !opts.SkipPodLevelResources,
		}
		if opts.KubeScoringDefaults {
			missing := scoringDefaults()
			if !o.SkipPodLevelResources && podresource.IsPodLevelRequestsSet(p) {
				for name := range podresource.PodRequests(p.DeepCopy(), o) {
					delete(missing, name)
				}
			}
			o.NonMissingContainerRequests = missing
		}
		if got, want := PodRequests(p, opts), podresource.PodRequests(p.DeepCopy(), o); !sameList(got, want) {
			t.Fatalf("%+v: %v, want %v of\n%v", opts, got, want, p.Spec)
		}
		o.NonMissingContainerRequests = nil
		requests, limits := PodTotals(p, opts)
		if want := podresource.PodRequests(p.DeepCopy(), o); !sameList(requests, want) {
			t.Fatalf("%+v: %v, want %v of\n%v", opts, requests, want, p.Spec)
		}
		if want := limitsOf(p, opts); !sameList(limits, want) {
			t.Fatalf("%+v: limits %v, want %v of\n%v", opts, limits, want, p.Spec)
		}
		if got, want := podresource.AggregateContainerLimits(condensed(p, nil, true), podresource.PodResourcesOptions{}),
			podresource.AggregateContainerLimits(p, podresource.PodResourcesOptions{}); !sameList(got, want) {
			t.Fatalf("limits %v, want %v of\n%v", got, want, p.Spec)
		}
		if !apiequality.Semantic.DeepEqual(p, before) {
			t.Fatal("the pod has changed")
		}
		if len(p.Spec.InitContainers) > fewInitContainers {
			many++
		}
	}
	if many == 0 {
		t.Error("no pod has many init containers")
	}
}

// limitsOf is what a pod may use, by component-helpers alone.
func limitsOf(p *corev1.Pod, opts PodOptions) corev1.ResourceList {
	p = p.DeepCopy()
	of := func(r *corev1.ResourceRequirements) {
		for name, q := range r.Limits {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = q.DeepCopy()
		}
	}
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			of(&containers[i].Resources)
		}
	}
	if p.Spec.Resources != nil {
		of(p.Spec.Resources)
	}
	return podresource.PodRequests(p, podresource.PodResourcesOptions{SkipPodLevelResources: opts.SkipPodLevelResources})
}

// TestEmptyInitContainers: those that want nothing change nothing, however many they
// are and whatever the API server adds.
func TestEmptyInitContainers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1_000 {
		p := randomPod(rng, fewInitContainers/2)
		opts := PodOptions{APIServerDefaults: true, SkipPodLevelResources: rng.IntN(2) == 0}
		long := p.DeepCopy()
		for range fewInitContainers {
			long.Spec.InitContainers = append(long.Spec.InitContainers, corev1.Container{})
		}
		if got, want := PodRequests(long, opts), PodRequests(p, opts); !sameList(got, want) {
			t.Fatalf("%v, want %v of\n%v", got, want, p.Spec)
		}
		requests, limits := PodTotals(long, opts)
		if r, l := PodTotals(p, opts); !sameList(requests, r) || !sameList(limits, l) {
			t.Fatalf("%v, %v, want %v, %v of\n%v", requests, limits, r, l, p.Spec)
		}
	}
}

// TestCondensedIsWrittenAlike: a total keeps the suffix that its amounts have.
func TestCondensedIsWrittenAlike(t *testing.T) {
	p := pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("memory", "1Gi", "cpu", "100m"))}})
	for range fewInitContainers {
		p.Spec.InitContainers = append(p.Spec.InitContainers, sidecar("s", rl("memory", "64Mi", "cpu", "10m")), container("i", rl("memory", "1Gi", "gpu", "0")))
	}
	got, want := PodRequests(p, PodOptions{}), podresource.PodRequests(p, podresource.PodResourcesOptions{})
	for name, q := range want {
		if of := got[name]; of.String() != q.String() || of.Format != q.Format {
			t.Errorf("%s: %v, want %v", name, of, q)
		}
	}
}
