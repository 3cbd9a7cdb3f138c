package vectormap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestGrowth: what objects say is read in a time linear in what they say.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		prepare func(t *testing.T, n int) func()
	}{
		"a pod of many containers":       {100, growPod},
		"a pod before it runs":           {100, growScheduled},
		"a pod with one resource":        {300, growSameResource},
		"a node of many resources":       {300, growNode},
		"nodes of many vendors":          {200, growVendors},
		"resources that are not known":   {300, growUnknown},
		"names that are malformed":       {300, growMalformed},
		"one malformed name, everywhere": {300, growOneMalformed},
		"amounts that are wrong":         {200, growAmounts},
		"a long name":                    {20_000, growLongName},
		"labels of nodes":                {300, growLabels},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, c.n, func(n int) func() { return c.prepare(t, n) })
		})
	}
}

// growing returns a list of n resources, and their names.
func growing(n int, format, amount string) (corev1.ResourceList, []string) {
	list, all := make(corev1.ResourceList, n), make([]string, n)
	for i := range n {
		all[i] = fmt.Sprintf(format, i)
		list[corev1.ResourceName(all[i])] = resource.MustParse(amount)
	}
	return list, all
}

// totals is all that is made of a pod.
func totals(t *testing.T, p *corev1.Pod, status bool) func() {
	return func() {
		b := NewBuilder()
		b.AddPod(p)
		m := testkit.Must(b.Build())
		for _, defaults := range []bool{false, true} {
			opts := PodOptions{APIServerDefaults: defaults, UseStatusResources: status}
			if _, _, err := m.PodRequestBoth(nil, nil, p, opts, nil); err != nil {
				t.Error(err)
			}
			PodTotals(p, opts)
		}
	}
}

// manyContainers has n containers of each kind, with these resources.
func manyContainers(n int, name string) *corev1.Pod {
	p := pod(corev1.PodSpec{Overhead: rl("cpu", "1"), Resources: &corev1.ResourceRequirements{Limits: rl("memory", "1Gi", "hugepages-2Mi", "2Mi")}})
	for i := range n {
		list := corev1.ResourceList{corev1.ResourceName(strings.ReplaceAll(name, "#", fmt.Sprint(i))): resource.MustParse("1")}
		with := func(c corev1.Container) corev1.Container {
			c.Name += fmt.Sprint(i)
			c.Resources.Limits = list
			return c
		}
		p.Spec.Containers = append(p.Spec.Containers, with(container("c", list)))
		p.Spec.InitContainers = append(p.Spec.InitContainers, with(container("i", nil)), with(sidecar("s", list)))
	}
	return p
}

func growPod(t *testing.T, n int) func() { return totals(t, manyContainers(n, "example.com/r#"), true) }

func growSameResource(t *testing.T, n int) func() {
	return totals(t, manyContainers(n, "example.com/r"), true)
}

// growScheduled has the status of a pod before any container runs, and huge pages.
func growScheduled(t *testing.T, n int) func() {
	p := manyContainers(n, "hugepages-#Mi")
	for i := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: p.Spec.Containers[i].Name})
	}
	for range n {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled})
	}
	return totals(t, p, true)
}

func growNode(t *testing.T, n int) func() {
	list, all := growing(n, "nvidia.com/mig-%dg.5gb.shared", "1")
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: list}}
	return func() {
		b := NewBuilder()
		b.AddNode(node)
		m := testkit.Must(b.Build())
		v, err := m.NodeAllocatable(nil, node, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = m.ResourceList(v, all...)
		m.MIGSlices(v)
		_ = m.Explain(v, nil, nil).String()
		_, _ = m.String(), m.Notes()
		if err != nil {
			t.Error(err)
		}
	}
}

// vendors folds what is called alike.
type vendors struct{}

func (vendors) Normalize(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
func (vendors) Targets() []string            { return nil }

func growVendors(t *testing.T, n int) func() {
	all, several := growing(n, "v%d.com/gpu", "1")
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: all}}
	return func() {
		if _, err := New(several, WithNormalizer(vendors{})); !errors.As(err, new(*OriginalsError)) {
			t.Error(err)
		}
		m := testkit.Must(New(several, WithNormalizer(vendors{}), FoldVendors()))
		if v, err := m.NodeAllocatable(nil, node, nil); err != nil || v[GPU] != float64(n) {
			t.Error(v, err)
		}
		if v, err := must(t, nil, WithNormalizer(vendors{}), FoldVendors()).NodeAllocatable(nil, node, nil); err != nil || v[GPU] != float64(n) {
			t.Error(v, err)
		}
		if _, err := must(t, nil, WithNormalizer(vendors{})).NodeAllocatable(nil, node, nil); !errors.As(err, new(*OriginalsError)) {
			t.Error(err)
		}
	}
}

func growUnknown(t *testing.T, n int) func() {
	list, all := growing(n, "example.com/r%d", "1")
	m := must(t, nil)
	r := Resource{Scalars: map[corev1.ResourceName]float64{}}
	for _, name := range all {
		r.Scalars[corev1.ResourceName(name)] = 1
	}
	return func() {
		_, err := m.RequestVector(nil, list, nil)
		if faults := Faults(field.NewPath("request"), err); len(faults) != n {
			t.Error(len(faults))
		}
		var unknown []string
		if _, err := m.RequestVector(nil, list, &unknown); err != nil || len(unknown) != n {
			t.Error(err)
		}
		if _, err := r.ToVector(nil, m); !errors.Is(err, ErrUnknownResource) {
			t.Error(err)
		}
		m.NearestVector(nil, list)
	}
}

func growMalformed(t *testing.T, n int) func() {
	list, all := growing(n, "-%d", "1")
	p := pod(corev1.PodSpec{Containers: []corev1.Container{container("c", list)}})
	return func() {
		for _, opts := range [][]Option{nil, {Lenient()}} {
			b := NewBuilder(opts...)
			b.AddPod(p)
			b.AddNames(all...)
			m, err := b.Build()
			if lenient := opts != nil; lenient && (err != nil || len(m.Notes()) != n) {
				t.Error(err)
			} else if !lenient && (err == nil || len(err.Error()) < 2*n) {
				t.Error(err)
			}
		}
	}
}

func growOneMalformed(t *testing.T, n int) func() {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = pod(corev1.PodSpec{Containers: []corev1.Container{container("c", rl("-", "1")), container("d", rl("-", "1"))}})
		pods[i].Name = fmt.Sprint(i % (n/2 + 1))
	}
	return func() {
		b := NewBuilder(Lenient())
		for _, p := range pods {
			b.AddPod(p)
		}
		if m, err := b.Build(); err != nil || len(m.Notes()) != 1 {
			t.Error(err)
		}
	}
}

func growAmounts(t *testing.T, n int) func() {
	list, all := growing(n, "example.com/r%d", "-1")
	m := must(t, all)
	return func() {
		if _, err := m.RequestVector(nil, list, nil); !errors.Is(err, vector.ErrNegative) || len(err.Error()) < 10*n {
			t.Error(err)
		}
		m.NearestVector(nil, list)
	}
}

func growLongName(t *testing.T, n int) func() {
	long := "nvidia.com/mig-" + strings.Repeat("1", n) + "g.5gb"
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: rl(long, "1")}}
	m := must(t, nil)
	return func() {
		for range 100 {
			b := NewBuilder(Lenient())
			b.AddNode(node)
			if _, err := b.Build(); err != nil {
				t.Error(err)
			}
			_, _ = m.NodeAllocatable(nil, node, nil)
			_, _, _ = ParseMIG(long)
		}
	}
}

func growLabels(t *testing.T, n int) func() {
	nodes := make([]*corev1.Node, n)
	for i := range nodes {
		nodes[i] = &corev1.Node{}
		nodes[i].Name = fmt.Sprint("n", i)
		nodes[i].Labels = map[string]string{"zone": fmt.Sprint(i / 100), "rack": fmt.Sprint(i / 3), "block": fmt.Sprint(i)}
		if i%5 == 0 {
			delete(nodes[i].Labels, "rack")
		}
	}
	return func() {
		if _, notes, err := NewTopology([]string{"zone", "rack", "block"}, nodes); err != nil || len(notes) != (n+4)/5 {
			t.Error(err)
		}
	}
}
