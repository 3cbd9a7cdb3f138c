package vectormap

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

func container(name string, requests corev1.ResourceList) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: requests}}
}

func sidecar(name string, requests corev1.ResourceList) corev1.Container {
	c, always := container(name, requests), corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func pod(spec corev1.PodSpec) *corev1.Pod { return &corev1.Pod{Spec: spec} }

// TestPodRequestsList: the list that PodRequest converts, without the 1 of pods.
func TestPodRequestsList(t *testing.T) {
	p := pod(corev1.PodSpec{Containers: []corev1.Container{
		container("a", rl("cpu", "1", "example.com/x", "9007199254740993")), container("b", nil)}})
	scratch := rl("memory", "7")
	for _, c := range []struct {
		opts PodOptions
		want corev1.ResourceList
	}{
		{PodOptions{}, rl("cpu", "1", "example.com/x", "9007199254740993")},
		{PodOptions{Scratch: scratch}, rl("cpu", "1", "example.com/x", "9007199254740993")},
		{PodOptions{KubeScoringDefaults: true}, rl("cpu", "1100m", "memory", "400Mi", "example.com/x", "9007199254740993")},
	} {
		if got := PodRequests(p, c.opts); !sameList(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.opts, got, c.want)
		}
	}
	if !sameList(scratch, rl("cpu", "1", "example.com/x", "9007199254740993")) {
		t.Errorf("the scratch has %v", scratch)
	}
}

func TestPodRequest(t *testing.T) {
	const mib = 1 << 20
	m := must(t, names("nvidia.com/gpu", "hugepages-2Mi"))
	resized := func(conditions ...corev1.PodCondition) *corev1.Pod {
		p := pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "1", "memory", "1Gi"))}})
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:               "a",
			AllocatedResources: rl("cpu", "2", "memory", "512Mi"),
			Resources:          &corev1.ResourceRequirements{Requests: rl("cpu", "3", "memory", "256Mi")},
		}}
		p.Status.Conditions = conditions
		return p
	}
	shrinking := func(conditions ...corev1.PodCondition) *corev1.Pod {
		p := pod(corev1.PodSpec{
			Containers: []corev1.Container{container("a", rl("cpu", "1", "memory", "1Gi"))},
			Resources:  &corev1.ResourceRequirements{Requests: rl("cpu", "4")},
			Overhead:   rl("cpu", "250m"),
		})
		has := rl("cpu", "1", "memory", "1Gi")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", AllocatedResources: has, Resources: &corev1.ResourceRequirements{Requests: has}}}
		p.Status.AllocatedResources = rl("cpu", "6", "memory", "1Gi")
		p.Status.Resources = &corev1.ResourceRequirements{Requests: rl("cpu", "5", "memory", "1Gi")}
		p.Status.Conditions = conditions
		return p
	}
	infeasible := corev1.PodCondition{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}
	growing := shrinking(infeasible)
	growing.Spec.Resources.Requests = rl("cpu", "12")
	podLevel := pod(corev1.PodSpec{
		Containers: []corev1.Container{container("a", rl("cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "1"))},
		Resources:  &corev1.ResourceRequirements{Requests: rl("cpu", "4", "hugepages-2Mi", "4Mi")},
		Overhead:   rl("cpu", "250m"),
	})
	for _, c := range []struct {
		what    string
		pod     *corev1.Pod
		opts    PodOptions
		want    vec
		scoring vec // nil: the same
	}{
		{"best effort", pod(corev1.PodSpec{Containers: []corev1.Container{container("a", nil)}}), PodOptions{},
			vec{0, 0, 0, 1, 0}, vec{100, 200 * mib, 0, 1, 0}},
		{"no containers", pod(corev1.PodSpec{}), PodOptions{}, vec{0, 0, 0, 1, 0}, nil},
		{"containers add up", pod(corev1.PodSpec{Containers: []corev1.Container{
			container("a", rl("cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "2")), container("b", rl("cpu", "500m", "memory", "1Mi"))}}), PodOptions{},
			vec{1500, 1025 * mib, 2, 1, 0}, nil},
		{"an explicit 0 is no missing request", pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "0", "memory", "0"))}}), PodOptions{},
			vec{0, 0, 0, 1, 0}, nil},
		{"a default per container that lacks it", pod(corev1.PodSpec{Containers: []corev1.Container{
			container("a", rl("cpu", "1")), container("b", rl("memory", "1Mi")), container("c", rl("cpu", "1", "memory", "1Mi"))}}), PodOptions{},
			vec{2000, 2 * mib, 0, 1, 0}, vec{2100, 202 * mib, 0, 1, 0}},
		{"the largest init container", pod(corev1.PodSpec{
			Containers:     []corev1.Container{container("a", rl("cpu", "1", "memory", "1Mi"))},
			InitContainers: []corev1.Container{container("i", rl("cpu", "4", "memory", "1Ki")), container("j", rl("cpu", "2", "memory", "2Mi"))}}), PodOptions{},
			vec{4000, 2 * mib, 0, 1, 0}, nil},
		{"an init container that lacks memory", pod(corev1.PodSpec{
			Containers:     []corev1.Container{container("a", rl("cpu", "1", "memory", "1Mi"))},
			InitContainers: []corev1.Container{container("i", rl("cpu", "1"))}}), PodOptions{},
			vec{1000, mib, 0, 1, 0}, vec{1000, 200 * mib, 0, 1, 0}},
		{"sidecars stay", pod(corev1.PodSpec{
			Containers:     []corev1.Container{container("a", rl("cpu", "1", "memory", "1Mi"))},
			InitContainers: []corev1.Container{sidecar("s", rl("cpu", "1", "memory", "1Mi")), container("i", rl("cpu", "1500m", "memory", "1Ki"))}}), PodOptions{},
			vec{2500, 2 * mib, 0, 1, 0}, nil},
		{"overhead", pod(corev1.PodSpec{
			Containers: []corev1.Container{container("a", rl("cpu", "1", "memory", "1Mi"))},
			Overhead:   rl("cpu", "250m", "memory", "1Mi")}), PodOptions{},
			vec{1250, 2 * mib, 0, 1, 0}, nil},
		{"pod level", podLevel, PodOptions{}, vec{4250, 1024 * mib, 1, 1, 4 * mib}, nil},
		{"pod level skipped", podLevel, PodOptions{SkipPodLevelResources: true}, vec{1250, 1024 * mib, 1, 1, 0}, nil},
		{"resize ignored", resized(), PodOptions{}, vec{1000, 1024 * mib, 0, 1, 0}, nil},
		{"resize: the greatest of wanted, actuated, allocated", resized(), PodOptions{UseStatusResources: true}, vec{3000, 1024 * mib, 0, 1, 0}, nil},
		{"resize infeasible: what it has", resized(infeasible),
			PodOptions{UseStatusResources: true}, vec{3000, 512 * mib, 0, 1, 0}, nil},
		{"resize of the pod ignored", shrinking(), PodOptions{}, vec{4250, 1024 * mib, 0, 1, 0}, nil},
		{"resize of the pod", shrinking(), PodOptions{UseStatusResources: true}, vec{6250, 1024 * mib, 0, 1, 0}, nil},
		{"resize of the pod infeasible", growing, PodOptions{UseStatusResources: true}, vec{6250, 1024 * mib, 0, 1, 0}, nil},
		{"resize of the pod skipped", shrinking(), PodOptions{UseStatusResources: true, SkipPodLevelResources: true}, vec{1250, 1024 * mib, 0, 1, 0}, nil},
		{"rounded up", pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "1n", "memory", "1m", "nvidia.com/gpu", "100m"))}}), PodOptions{},
			vec{1, 1, 1, 1, 0}, nil},
		{"thirds of a device add up before rounding", pod(corev1.PodSpec{Containers: []corev1.Container{
			container("a", rl("cpu", "0", "memory", "0", "nvidia.com/gpu", "300m")), container("b", rl("cpu", "0", "memory", "0", "nvidia.com/gpu", "700m"))}}), PodOptions{},
			vec{0, 0, 1, 1, 0}, nil},
		{"a pod asks for pods", pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "0", "memory", "0", "pods", "7"))}}), PodOptions{},
			vec{0, 0, 0, 1, 0}, nil},
	} {
		if c.scoring == nil {
			c.scoring = c.want
		}
		scratch := rl("left", "1")
		for range 2 {
			if got, err := m.PodRequest(vec{9, 9, 9}, c.pod, c.opts, nil); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, %v; want %v", c.what, got, err, c.want)
			}
			defaults := c.opts
			defaults.KubeScoringDefaults = true
			if got, err := m.PodRequest(nil, c.pod, defaults, nil); err != nil || !slices.Equal(got, c.scoring) {
				t.Errorf("%s, scoring: %v, %v; want %v", c.what, got, err, c.scoring)
			}
			request, scoring, err := m.PodRequestBoth(nil, vec{9, 9, 9, 9, 9, 9}, c.pod, c.opts, nil)
			if err != nil || !slices.Equal(request, c.want) || !slices.Equal(scoring, c.scoring) {
				t.Errorf("%s, both: %v, %v, %v", c.what, request, scoring, err)
			}
			c.opts.Scratch = scratch
		}
	}
}

func TestPodRequestFaults(t *testing.T) {
	m := must(t, nil)
	unlisted := pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "1", "x.io/y", "1"))}})
	negative := pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "-1", "memory", "1"))}})

	request, scoring := vec{1, 2, 3, 4}, vec{5, 6, 7, 8}
	for _, p := range []*corev1.Pod{unlisted, negative} {
		a, b, err := m.PodRequestBoth(request, scoring, p, PodOptions{}, nil)
		if a != nil || b != nil || err == nil || !slices.Equal(request, vec{1, 2, 3, 4}) || !slices.Equal(scoring, vec{5, 6, 7, 8}) {
			t.Errorf("%v %v %v", a, b, err)
		}
		if v, err := m.PodRequest(request, p, PodOptions{}, nil); v != nil || err == nil || request[0] != 1 {
			t.Errorf("%v %v", v, err)
		}
	}
	if _, err := m.PodRequest(nil, unlisted, PodOptions{}, nil); !errors.Is(err, ErrUnknownResource) {
		t.Error(err)
	}
	if _, err := m.PodRequest(nil, negative, PodOptions{}, nil); !errors.Is(err, vector.ErrNegative) {
		t.Error(err)
	}
	var unknown []string
	a, b, err := m.PodRequestBoth(nil, nil, unlisted, PodOptions{}, &unknown)
	if err != nil || a[CPU] != 1000 || b[Memory] != 200<<20 || !slices.Equal(unknown, names("x.io/y")) {
		t.Error(a, b, unknown, err)
	}
	// The total fits, the total with defaults does not.
	huge := pod(corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "1", "memory", "9007199254740991")), container("b", rl("cpu", "1"))}})
	if a, b, err := m.PodRequestBoth(request, scoring, huge, PodOptions{}, nil); a != nil || b != nil || !errors.Is(err, vector.ErrNotRepresentable) || request[0] != 1 {
		t.Error(a, b, err)
	}
	var zero ResourceVectorMap
	if _, err := zero.PodRequest(nil, pod(corev1.PodSpec{}), PodOptions{}, nil); !errors.Is(err, ErrUnknownResource) {
		t.Errorf("the zero value has no pods: %v", err)
	}
}

func TestPodRequestBothReportsAllFaults(t *testing.T) {
	m := must(t, names("efa"))
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: rl("foo.io/x", "1", "efa", "9007199254740993")},
	}}}}
	_, want := m.PodRequest(nil, pod, PodOptions{}, nil)
	_, _, got := m.PodRequestBoth(nil, nil, pod, PodOptions{}, nil)
	if want == nil || got == nil || got.Error() != want.Error() || !errors.Is(got, ErrUnknownResource) {
		t.Errorf("got %v, want %v", got, want)
	}
	unknown := []string{"kept"}
	if _, _, err := m.PodRequestBoth(nil, nil, pod, PodOptions{}, &unknown); err == nil || unknown[0] != "kept" {
		t.Errorf("%v, unknown %v", err, unknown)
	}
}

func TestPodTotals(t *testing.T) {
	both := func(requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	always := corev1.ContainerRestartPolicyAlways
	restarting := both(nil, rl("gpu", "2"))
	restarting.RestartPolicy = &always
	resized := pod(corev1.PodSpec{Containers: []corev1.Container{both(rl("cpu", "1"), rl("cpu", "2"))}})
	resized.Spec.Containers[0].Name = "a"
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "a", Resources: &corev1.ResourceRequirements{Requests: rl("cpu", "3")}}}
	podResized := pod(corev1.PodSpec{Resources: &corev1.ResourceRequirements{Requests: rl("cpu", "4"), Limits: rl("cpu", "5")}})
	podResized.Status.AllocatedResources = rl("cpu", "6")
	podResized.Status.Resources = &corev1.ResourceRequirements{Requests: rl("cpu", "6")}
	for _, c := range []struct {
		what             string
		pod              *corev1.Pod
		opts             PodOptions
		requests, limits corev1.ResourceList
	}{
		{"no containers", pod(corev1.PodSpec{}), PodOptions{}, rl(), rl()},
		{"requests stand for limits", pod(corev1.PodSpec{Containers: []corev1.Container{
			both(rl("cpu", "1", "gpu", "1"), nil), both(rl("cpu", "1"), rl("cpu", "3", "gpu", "2"))}}), PodOptions{},
			rl("cpu", "2", "gpu", "1"), rl("cpu", "4", "gpu", "3")},
		{"a limit of 0 is one", pod(corev1.PodSpec{Containers: []corev1.Container{both(rl("gpu", "1"), rl("gpu", "0"))}}), PodOptions{},
			rl("gpu", "1"), rl("gpu", "0")},
		{"init containers, sidecars, overhead", pod(corev1.PodSpec{
			Containers:     []corev1.Container{both(nil, rl("gpu", "1"))},
			InitContainers: []corev1.Container{restarting, both(nil, rl("gpu", "4"))},
			Overhead:       rl("cpu", "250m")}), PodOptions{},
			rl("cpu", "250m"), rl("cpu", "250m", "gpu", "6")},
		{"pod level", pod(corev1.PodSpec{
			Containers: []corev1.Container{both(rl("cpu", "1"), rl("gpu", "1"))},
			Resources:  &corev1.ResourceRequirements{Requests: rl("cpu", "4", "memory", "1"), Limits: rl("cpu", "8")}}), PodOptions{},
			rl("cpu", "4", "memory", "1"), rl("cpu", "8", "memory", "1", "gpu", "1")},
		{"pod level skipped", pod(corev1.PodSpec{
			Containers: []corev1.Container{both(rl("cpu", "1"), rl("gpu", "1"))},
			Resources:  &corev1.ResourceRequirements{Limits: rl("cpu", "8")}}), PodOptions{SkipPodLevelResources: true},
			rl("cpu", "1"), rl("cpu", "1", "gpu", "1")},
		{"resize ignored", resized, PodOptions{}, rl("cpu", "1"), rl("cpu", "2")},
		{"resize counts for requests", resized, PodOptions{UseStatusResources: true}, rl("cpu", "3"), rl("cpu", "2")},
		{"resize of the pod counts for requests", podResized, PodOptions{UseStatusResources: true}, rl("cpu", "6"), rl("cpu", "5")},
	} {
		before := c.pod.DeepCopy()
		requests, limits := PodTotals(c.pod, c.opts)
		if !apiequality.Semantic.DeepEqual(requests, c.requests) || !apiequality.Semantic.DeepEqual(limits, c.limits) {
			t.Errorf("%s: %v, %v; want %v, %v", c.what, requests, limits, c.requests, c.limits)
		}
		if !apiequality.Semantic.DeepEqual(c.pod, before) {
			t.Errorf("%s: the pod has changed", c.what)
		}
	}
}

// TestPodRequestFar: 1e99999999 is a quantity that Kubernetes parses at once, and
// adds in minutes.
func TestPodRequestFar(t *testing.T) {
	m := must(t, names("efa"))
	far, tiny, none := *resource.NewScaledQuantity(1, 99_999_999), *resource.NewScaledQuantity(1, -99_999_999), *resource.NewScaledQuantity(0, 2_000_000_000)
	spec := func(name corev1.ResourceName, q resource.Quantity) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{container("a", rl("cpu", "1")), container("b", corev1.ResourceList{name: q})}}
	}
	for _, name := range []corev1.ResourceName{"cpu", "memory", "efa"} {
		p := pod(spec(name, far))
		before := p.DeepCopy()
		p.Spec.Overhead = rl("cpu", "1", "memory", "1", "efa", "1")
		v, err := m.PodRequest(nil, p, PodOptions{}, nil)
		if fault := (*vector.AmountError)(nil); v != nil || !errors.As(err, &fault) || fault.Resource != string(name) || fault.Amount != "1e99999999" {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		limited := pod(corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{name: far}}}}})
		_, _, err = m.PodRequestBoth(nil, nil, limited, PodOptions{APIServerDefaults: true}, nil)
		if fault := (*vector.AmountError)(nil); !errors.As(err, &fault) || fault.Amount != "1e99999999" {
			t.Errorf("%s is limited: %v", name, err)
		}
		if !reflect.DeepEqual(p.Spec.Containers, before.Spec.Containers) {
			t.Errorf("%s: the pod has changed", name)
		}
		if v, err := m.PodRequest(nil, pod(spec(name, tiny)), PodOptions{}, nil); err != nil || v[CPU] < 1000 || v[CPU] > 1001 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if v, err := m.PodRequest(nil, pod(spec(name, none)), PodOptions{}, nil); err != nil || v[CPU] != 1000 || v[Memory] != 0 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	everywhere := pod(corev1.PodSpec{
		InitContainers: []corev1.Container{container("i", corev1.ResourceList{"cpu": far})},
		Containers:     []corev1.Container{container("c", rl("cpu", "1"))},
		Overhead:       corev1.ResourceList{"memory": far},
		Resources:      &corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": far}},
	})
	everywhere.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": far}}}}
	requests, limits := PodTotals(everywhere, PodOptions{UseStatusResources: true})
	for _, q := range []resource.Quantity{requests["cpu"], requests["memory"], limits["cpu"], limits["memory"]} {
		if q.Cmp(resource.MustParse("1e999")) <= 0 {
			t.Errorf("%.60s", q.AsDec())
		}
	}
}
