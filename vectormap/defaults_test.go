package vectormap

import (
	"github.com/resvec/resvec/internal/testkit"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

func limited(limits, requests corev1.ResourceList) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Limits: limits, Requests: requests}}
}

// A pod that no API server has seen counts as the API server would make it. The
// cases are compared with Kubernetes' own code in examples/kubescheduler.
func TestAPIServerDefaults(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := limited(rl("nvidia.com/gpu", "2"), nil)
	sidecar.RestartPolicy = &always
	podLevel := func(r corev1.ResourceRequirements, containers ...corev1.Container) corev1.PodSpec {
		return corev1.PodSpec{Resources: &r, Containers: containers}
	}
	for _, c := range []struct {
		what string
		spec corev1.PodSpec
		opts PodOptions
		want corev1.ResourceList
	}{
		{"as GPUs are mostly written", corev1.PodSpec{Containers: []corev1.Container{limited(rl("nvidia.com/gpu", "2", "memory", "4Gi"), rl("cpu", "1"))}},
			PodOptions{}, rl("nvidia.com/gpu", "2", "memory", "4Gi", "cpu", "1")},
		{"what is requested stays", corev1.PodSpec{Containers: []corev1.Container{limited(rl("cpu", "4", "memory", "4Gi"), rl("cpu", "0"))}},
			PodOptions{}, rl("cpu", "0", "memory", "4Gi")},
		{"each container by itself", corev1.PodSpec{Containers: []corev1.Container{limited(rl("cpu", "4"), nil), limited(rl("cpu", "4"), rl("cpu", "1"))}},
			PodOptions{}, rl("cpu", "5")},
		{"init containers, sidecars, overhead", corev1.PodSpec{
			InitContainers: []corev1.Container{limited(rl("nvidia.com/gpu", "7"), nil), sidecar, limited(rl("nvidia.com/gpu", "4"), nil)},
			Containers:     []corev1.Container{limited(rl("nvidia.com/gpu", "1"), nil)},
			Overhead:       rl("cpu", "250m")}, PodOptions{}, rl("nvidia.com/gpu", "7", "cpu", "250m")},
		{"a sidecar counts for good", corev1.PodSpec{
			InitContainers: []corev1.Container{sidecar}, Containers: []corev1.Container{limited(rl("nvidia.com/gpu", "6"), nil)}},
			PodOptions{}, rl("nvidia.com/gpu", "8")},
		{"the whole pod, nothing in its container", podLevel(corev1.ResourceRequirements{Limits: rl("cpu", "4", "memory", "8Gi")}, limited(nil, nil)),
			PodOptions{}, rl("cpu", "4", "memory", "8Gi")},
		{"the whole pod, where its containers request", podLevel(corev1.ResourceRequirements{Limits: rl("cpu", "4", "memory", "8Gi")},
			limited(rl("cpu", "2"), nil), limited(nil, rl("cpu", "500m"))), PodOptions{}, rl("cpu", "2500m", "memory", "8Gi")},
		{"the whole pod, requests stay", podLevel(corev1.ResourceRequirements{Limits: rl("cpu", "4"), Requests: rl("cpu", "3")}, limited(nil, rl("cpu", "1"))),
			PodOptions{}, rl("cpu", "3")},
		{"the whole pod has requests only", podLevel(corev1.ResourceRequirements{Requests: rl("cpu", "3")}, limited(rl("memory", "1Gi"), nil)),
			PodOptions{}, rl("cpu", "3", "memory", "1Gi")},
		{"the whole pod, no resource of one", podLevel(corev1.ResourceRequirements{Limits: rl("nvidia.com/gpu", "4")}, limited(rl("nvidia.com/gpu", "1"), nil)),
			PodOptions{}, rl("nvidia.com/gpu", "1")},
		{"the whole pod, skipped", podLevel(corev1.ResourceRequirements{Limits: rl("cpu", "4")}, limited(rl("cpu", "2"), nil)),
			PodOptions{SkipPodLevelResources: true}, rl("cpu", "2")},
		{"huge pages are not shared: the limit", podLevel(corev1.ResourceRequirements{Limits: rl("hugepages-2Mi", "8Mi", "memory", "1Gi")},
			limited(rl("hugepages-2Mi", "4Mi"), nil)), PodOptions{}, rl("hugepages-2Mi", "8Mi", "memory", "1Gi")},
		{"huge pages of the containers", podLevel(corev1.ResourceRequirements{Requests: rl("memory", "1Gi")},
			limited(rl("hugepages-2Mi", "4Mi"), nil), limited(rl("hugepages-2Mi", "2Mi"), nil)), PodOptions{}, rl("hugepages-2Mi", "6Mi", "memory", "1Gi")},
		{"huge pages, requested", podLevel(corev1.ResourceRequirements{Requests: rl("hugepages-2Mi", "8Mi")}, limited(rl("hugepages-2Mi", "4Mi"), nil)),
			PodOptions{}, rl("hugepages-2Mi", "8Mi")},
		{"scored: the defaults fill what is left", corev1.PodSpec{Containers: []corev1.Container{limited(rl("cpu", "2"), nil), limited(nil, nil)}},
			PodOptions{KubeScoringDefaults: true}, rl("cpu", "2100m", "memory", "400Mi")},
		{"scored: not where the whole pod requests", podLevel(corev1.ResourceRequirements{Limits: rl("memory", "1Gi")}, limited(nil, rl("cpu", "1")), limited(nil, nil)),
			PodOptions{KubeScoringDefaults: true}, rl("cpu", "1", "memory", "1Gi")},
		{"scored: not where the whole pod requests and a container does", podLevel(corev1.ResourceRequirements{Requests: rl("memory", "1Gi")}, limited(nil, rl("cpu", "1")), limited(nil, nil)),
			PodOptions{KubeScoringDefaults: true}, rl("cpu", "1", "memory", "1Gi")},
		{"scored: where the whole pod requests and no container does", podLevel(corev1.ResourceRequirements{Requests: rl("memory", "1Gi")}, limited(nil, nil), limited(nil, rl("memory", "1Mi"))),
			PodOptions{KubeScoringDefaults: true}, rl("cpu", "200m", "memory", "1Gi")},
		{"scored: everywhere, the whole pod skipped", podLevel(corev1.ResourceRequirements{Requests: rl("memory", "1Gi")}, limited(nil, rl("cpu", "1")), limited(nil, nil)),
			PodOptions{KubeScoringDefaults: true, SkipPodLevelResources: true}, rl("cpu", "1100m", "memory", "400Mi")},
		{"nothing", corev1.PodSpec{}, PodOptions{}, rl()},
		{"an empty list of the whole pod", podLevel(corev1.ResourceRequirements{}, limited(nil, rl("cpu", "1"))), PodOptions{}, rl("cpu", "1")},
	} {
		p := pod(c.spec)
		before := p.DeepCopy()
		c.opts.APIServerDefaults = true
		got := PodRequests(p, c.opts)
		if !apiequality.Semantic.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		if !apiequality.Semantic.DeepEqual(p, before) {
			t.Errorf("%s: the pod has changed", c.what)
		}
		// A pod that has them already is the same pod.
		if again := PodRequests(defaulted(p, !c.opts.SkipPodLevelResources), c.opts); !apiequality.Semantic.DeepEqual(again, got) {
			t.Errorf("%s, twice: %v, want %v", c.what, again, got)
		}
		if c.opts.KubeScoringDefaults {
			continue
		}
		if requests, _ := PodTotals(p, c.opts); !apiequality.Semantic.DeepEqual(requests, c.want) {
			t.Errorf("%s: PodTotals %v, want %v", c.what, requests, c.want)
		}
		b := NewBuilder()
		b.AddPod(p)
		m := testkit.Must(b.Build())
		v, err := m.PodRequest(nil, p, c.opts, nil)
		both, scored, errBoth := m.PodRequestBoth(nil, nil, p, c.opts, nil)
		opts := c.opts
		opts.KubeScoringDefaults = true
		want, errWant := m.PodRequest(nil, p, opts, nil)
		if err != nil || errBoth != nil || errWant != nil || !same(v, both) || !same(scored, want) {
			t.Errorf("%s: %v, %v and %v, want %v: %v, %v, %v", c.what, v, both, scored, want, err, errBoth, errWant)
		}
		list, _, err := m.ResourceList(v)
		delete(list, "pods")
		if err != nil || !sameList(list, withoutZeros(c.want)) {
			t.Errorf("%s: %v, %v", c.what, list, err)
		}
	}

	// Quotas and transformations take the pod's limits, whoever has seen it.
	p := pod(corev1.PodSpec{Containers: []corev1.Container{limited(rl("nvidia.com/gpu", "2", "cpu", "4"), rl("cpu", "1"))}})
	for _, seen := range []bool{false, true} {
		if _, limits := PodTotals(p, PodOptions{APIServerDefaults: seen}); !sameList(limits, rl("nvidia.com/gpu", "2", "cpu", "4")) {
			t.Errorf("limits %v", limits)
		}
	}
	if got := PodRequests(p, PodOptions{}); !sameList(got, rl("cpu", "1")) {
		t.Errorf("without the option: %v", got)
	}

	// A pod that was seen costs no copy.
	whole := pod(corev1.PodSpec{Containers: []corev1.Container{limited(rl("nvidia.com/gpu", "2"), rl("nvidia.com/gpu", "2", "cpu", "1"))}})
	if defaulted(whole, true) != whole {
		t.Error("a pod with nothing to add was copied")
	}
	// Nor minutes, where amounts are out of all proportion.
	far := corev1.ResourceList{"memory": *resource.NewScaledQuantity(1, 99_999_999), "hugepages-2Mi": *resource.NewScaledQuantity(1, 99_999_999)}
	absurd := corev1.PodSpec{Containers: []corev1.Container{limited(far, nil), limited(far, nil)}, Overhead: rl("memory", "1"),
		Resources: &corev1.ResourceRequirements{Limits: rl("cpu", "1")}}
	got := PodRequests(pod(absurd), PodOptions{APIServerDefaults: true})
	if q := got["memory"]; q.Cmp(resource.MustParse("1e999")) <= 0 {
		t.Errorf("%.40v", got)
	}
}

func same(a, b vec) bool {
	for i := range max(len(a), len(b)) {
		if a.Get(i) != b.Get(i) {
			return false
		}
	}
	return true
}

func withoutZeros(list corev1.ResourceList) corev1.ResourceList {
	rest := corev1.ResourceList{}
	for name, q := range list {
		if !q.IsZero() {
			rest[name] = q
		}
	}
	return rest
}

// A node that no API server has seen has what it says of its capacity.
func TestNodeWithoutAllocatable(t *testing.T) {
	m := must(t, names("nvidia.com/gpu"))
	node := &corev1.Node{Status: corev1.NodeStatus{Capacity: rl("cpu", "4", "nvidia.com/gpu", "8")}}
	if v, err := m.NodeAllocatable(nil, node, nil); err != nil || v[CPU] != 4000 || v[GPU] != 8 {
		t.Errorf("%v, %v", v, err)
	}
	node.Status.Allocatable = rl()
	if v, err := m.NodeAllocatable(nil, node, nil); err != nil || v[CPU] != 0 {
		t.Errorf("a node that has nothing to allocate: %v, %v", v, err)
	}
}
