package vectormap_test

import (
	"errors"
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// A map, a node and a pod of it, and why the pod does not fit.
func Example() {
	node := &corev1.Node{Status: corev1.NodeStatus{
		Allocatable: list("cpu", "4", "memory", "16Gi", "nvidia.com/gpu", "1", "pods", "110"),
	}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: list("cpu", "4500m", "memory", "8Gi", "nvidia.com/gpu", "2")},
	}}}}

	b := vectormap.NewBuilder()
	b.AddNode(node)
	b.AddPod(pod)
	m, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	allocatable, _ := m.NodeAllocatable(nil, node, nil)
	request, _ := m.PodRequest(nil, pod, vectormap.PodOptions{}, nil)

	fmt.Println(m)
	fmt.Println(request.FitsIn(allocatable))
	fmt.Println(m.Explain(request, nil, allocatable))
	// Output:
	// cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole
	// false
	// Insufficient cpu (requested 4500m, used 0 of 4, free 4), Insufficient nvidia.com/gpu (requested 2, used 0 of 1, free 1)
}

// A second vendor in one cluster is a decision that only the user can make.
func ExampleNew() {
	names := []string{"nvidia.com/gpu", "amd.com/gpu"}

	_, err := vectormap.New(names)
	fmt.Println(err)

	m, _ := vectormap.New(names, vectormap.NoFold())
	fmt.Println(m)
	// Output:
	// vectormap: gpu would stand for amd.com/gpu and nvidia.com/gpu: use NoFold or FoldVendors
	// cpu=milli-cpu memory=byte gpu=whole pods=whole amd.com/gpu=whole nvidia.com/gpu=whole
}

// Shares of a GPU are exact when they are counted in thousandths.
func ExampleMilli() {
	whole, _ := vectormap.New([]string{"nvidia.com/gpu"})
	milli, _ := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))

	half := list("nvidia.com/gpu", "500m")
	a, _ := whole.RequestVector(nil, half, nil)
	b, _ := milli.RequestVector(nil, half, nil)
	fmt.Println(a[vectormap.GPU], b[vectormap.GPU])
	// Output:
	// 1 500
}

// When nodes with new resources join, old matrices are widened.
func ExampleResourceVectorMap_Extend() {
	m, _ := vectormap.New([]string{"nvidia.com/gpu"})
	free := m.NewMatrix(1)
	free.SetRow(0, vector.ResourceVector{4000, 8e9, 2, 110})

	wider, _ := m.Extend([]string{"example.com/nic", "example.com/fpga"})
	fmt.Println(wider.Widen(free))
	fmt.Println(wider)
	fmt.Println(free.Row(nil, 0))
	// Output:
	// <nil>
	// cpu=milli-cpu memory=byte gpu=whole(nvidia.com/gpu) pods=whole example.com/fpga=whole example.com/nic=whole
	// [4000 8e+09 2 110 0 0]
}

// Names that the map does not have are an error, or a list.
func ExampleResourceVectorMap_RequestVector() {
	m, _ := vectormap.New(nil)
	requests := list("cpu", "250m", "example.com/fpga", "1")

	_, err := m.RequestVector(nil, requests, nil)
	fmt.Println(err, errors.Is(err, vectormap.ErrUnknownResource))

	var unknown []string
	v, err := m.RequestVector(nil, requests, &unknown)
	fmt.Println(v, unknown, err)
	// Output:
	// vectormap: unknown resource "example.com/fpga": the map has cpu, memory, gpu, pods true
	// [250 0 0 0] [example.com/fpga] <nil>
}

func ExampleResourceVectorMap_ResourceList() {
	m, _ := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Literal(vectormap.UnitMilli, "card:A100"))
	l, notes, err := m.ResourceList(vector.ResourceVector{1500, 2 << 30, 0.5, 0, 2000})
	for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
		q := l[name]
		fmt.Println(name, q.String())
	}
	for _, n := range notes {
		fmt.Println(n)
	}
	fmt.Println(err)
	// Output:
	// cpu 1500m
	// memory 2Gi
	// nvidia.com/gpu 500m
	// gpu: fraction in a column of whole units
	// card:A100: literal dimension left out
	// <nil>
}

// What kube-scheduler filters with and what it scores with.
func ExampleResourceVectorMap_PodRequestBoth() {
	m, _ := vectormap.New(nil)
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: list("cpu", "1")},
	}}}}
	request, scoring, err := m.PodRequestBoth(nil, nil, pod, vectormap.PodOptions{}, nil)
	fmt.Println(request, scoring, err)
	// Output:
	// [1000 0 0 1] [1000 2.097152e+08 0 1] <nil>
}

func ExampleResourceVectorMap_MIGSlices() {
	m, _ := vectormap.New([]string{"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"})
	fmt.Println(m.MIGSlices(vector.ResourceVector{0, 0, 1, 0, 4, 1}))
	// Output:
	// 8
}

func ExampleParseMIG() {
	p, shared, err := vectormap.ParseMIG("nvidia.com/mig-1g.5gb.me")
	fmt.Printf("%s, %d slice, %d GB, %t, %v\n", p, p.G, p.MemGB, shared, err)
	// Output:
	// 1g.5gb+me, 1 slice, 5 GB, false, <nil>
}

// A scheduler that keeps structs turns to vectors one call at a time.
func ExampleResourceRequirements() {
	m, _ := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	r := vectormap.ResourceRequirements{MilliCPU: 1000, Memory: 4e9, GPUCount: 2, GPUPortion: 0.5}
	v, err := r.ToVector(nil, m)
	fmt.Println(v, err)

	var canonical vectormap.ResourceRequirements
	err = canonical.FromVector(m, v)
	fmt.Println(canonical.GPUCount, canonical.GPUPortion, err)
	// Output:
	// [1000 4e+09 1000 0] <nil>
	// 1 1 <nil>
}

func ExampleResource() {
	m, _ := vectormap.New([]string{"nvidia.com/gpu", "example.com/nic"})
	idle := vectormap.Resource{MilliCPU: 4000, Memory: 16e9, GPUs: 1.5, Scalars: map[corev1.ResourceName]float64{"example.com/nic": 2}}
	v, err := idle.ToVector(nil, m)
	fmt.Println(v, m.Fractional(v), err)
	// Output:
	// [4000 1.6e+10 1.5 0 2] [gpu: fraction in a column of whole units] <nil>
}

func ExampleExactNormalizer() {
	n := vectormap.DefaultNormalizer()
	n["habana.ai/gaudi"] = "gpu"
	m, _ := vectormap.New([]string{"habana.ai/gaudi"}, vectormap.WithNormalizer(n))
	fmt.Println(m)
	// Output:
	// cpu=milli-cpu memory=byte gpu=whole(habana.ai/gaudi) pods=whole
}
