package vectormap

import (
	"github.com/resvec/resvec/internal/testkit"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// benchObjects are a node and a pod as GPU clusters have them.
func benchObjects(tb testing.TB) (*ResourceVectorMap, *corev1.Node, *corev1.Pod) {
	node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: rl("cpu", "95500m", "memory", "1055600Mi", "nvidia.com/gpu", "8",
		"pods", "110", "ephemeral-storage", "857Gi", "hugepages-2Mi", "0", "hugepages-1Gi", "0", "rdma/hca", "8")}}
	p := pod(corev1.PodSpec{Containers: []corev1.Container{
		container("main", rl("cpu", "4", "memory", "32Gi", "nvidia.com/gpu", "1")),
		container("log", rl("cpu", "100m", "memory", "64Mi")),
	}})
	b := NewBuilder()
	b.AddNode(node)
	b.AddPod(p)
	b.AddNames("nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb", "nvidia.com/mig-3g.20gb")
	m := testkit.Must(b.Build())
	return m, node, p
}

// TestAllocations pins what the comments claim: no allocation into a vector
// that is long enough.
func TestAllocations(t *testing.T) {
	m, node, p := benchObjects(t)
	fold := must(t, names("nvidia.com/gpu", "amd.com/gpu"), FoldVendors())
	foldList := rl("nvidia.com/gpu", "500m", "amd.com/gpu", "2", "cpu", "1n")
	v, free, w := m.NewVector(), m.NewVector(), fold.NewVector()
	opts := PodOptions{Scratch: corev1.ResourceList{}}
	unknown := make([]string, 0, 4)
	r := Resource{MilliCPU: 1, GPUs: 2}
	for what, f := range map[string]func(){
		"NodeAllocatable":        func() { v, _ = m.NodeAllocatable(v, node, nil) },
		"NodeAllocatable, list":  func() { v, _ = m.NodeAllocatable(v, node, &unknown) },
		"RequestVector, folding": func() { w, _ = fold.RequestVector(w, foldList, nil) },
		"MIGSlices":              func() { m.MIGSlices(v) },
		"ParseMIG":               func() { _, _, _ = ParseMIG("nvidia.com/mig-1c.3g.20gb.me.all.shared") },
		"Index":                  func() { m.Index("nvidia.com/gpu") },
		"Schema and Equal":       func() { _ = m.Schema() == fold.Schema() || m.Equal(fold) },
		"Fractional":             func() { m.Fractional(v) },
		"Explain, nothing short": func() { m.Explain(v, nil, v) },
		"Resource.FromVector":    func() { _ = r.FromVector(fold, w) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
	// Totalling a pod is the work of component-helpers, allocations included;
	// converting the total adds none.
	total := testing.AllocsPerRun(100, func() { podRequests(p, opts, false) })
	for what, f := range map[string]func(){
		"PodRequest":     func() { v, _ = m.PodRequest(v, p, opts, nil) },
		"PodRequestBoth": func() { v, free, _ = m.PodRequestBoth(v, free, p, opts, nil) },
	} {
		if n := testing.AllocsPerRun(100, f); n != total {
			t.Errorf("%s: %v allocations, the total takes %v", what, n, total)
		}
	}
}
