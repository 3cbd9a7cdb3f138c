package repotest

import (
	"fmt"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The functions below are the steps of docs/migration.md, which shows some of them;
// TestDocs keeps these the same. Example_migration runs all of them.

func buildMap(nodes []*corev1.Node, pods []*corev1.Pod) (*vectormap.ResourceVectorMap, error) {
	b := vectormap.NewBuilder(vectormap.Milli("nvidia.com/gpu"))
	for _, node := range nodes {
		b.AddNode(node)
	}
	for _, pod := range pods {
		b.AddPod(pod)
	}
	return b.Build()
}

// oldNodeInfo is what a scheduler has today.
type oldNodeInfo struct {
	Name string
	Idle vectormap.Resource
}

func idleMatrix(m *vectormap.ResourceVectorMap, nodes []oldNodeInfo) (*vector.Matrix, error) {
	idle := m.NewMatrix(0)
	var row vector.ResourceVector
	for i := range nodes {
		var err error
		if row, err = nodes[i].Idle.ToVector(row, m); err != nil {
			return nil, fmt.Errorf("node %s: %w", nodes[i].Name, err)
		}
		idle.AppendRow(row)
	}
	return idle, nil
}

type volcanoResource struct {
	MilliCPU, Memory float64
	ScalarResources  map[corev1.ResourceName]float64
}

func fromVolcano(m *vectormap.ResourceVectorMap, old *volcanoResource) vectormap.Resource {
	r := vectormap.Resource{MilliCPU: old.MilliCPU, Memory: old.Memory, Scalars: map[corev1.ResourceName]float64{}}
	for name, amount := range old.ScalarResources {
		i, ok := m.Index(string(name))
		isMilli := ok && m.Unit(i) == vectormap.UnitMilli
		if !isMilli && name != corev1.ResourcePods {
			amount /= 1000
		}
		r.Scalars[name] = amount
	}
	return r
}

type kubeResource struct {
	MilliCPU, Memory, EphemeralStorage int64
	AllowedPodNumber                   int
	ScalarResources                    map[corev1.ResourceName]int64
}

// freeOfKubeScheduler is what a NodeInfo with so many pods has left.
func freeOfKubeScheduler(m *vectormap.ResourceVectorMap, allocatable, requested *kubeResource, pods int) vectormap.Resource {
	r := vectormap.Resource{
		MilliCPU: float64(allocatable.MilliCPU - requested.MilliCPU),
		Memory:   float64(allocatable.Memory - requested.Memory),
		Scalars: map[corev1.ResourceName]float64{
			corev1.ResourceEphemeralStorage: float64(allocatable.EphemeralStorage - requested.EphemeralStorage),
			corev1.ResourcePods:             float64(allocatable.AllowedPodNumber - pods),
		},
	}
	for name, amount := range allocatable.ScalarResources {
		scale := int64(1)
		if i, ok := m.Index(string(name)); ok {
			scale = m.Unit(i).Scale()
		}
		r.Scalars[name] = float64((amount - requested.ScalarResources[name]) * scale)
	}
	return r
}

func feasible(m *vectormap.ResourceVectorMap, idle *vector.Matrix, old *vectormap.ResourceRequirements) (*vector.Mask, error) {
	request, err := old.ToVector(nil, m)
	if err != nil {
		return nil, err
	}
	fits := new(vector.Mask)
	vector.Fit(fits, idle, request)
	return fits, nil
}

func backToStruct(m *vectormap.ResourceVectorMap, idle *vector.Matrix, row int) (vectormap.Resource, error) {
	var r vectormap.Resource
	err := r.FromVector(m, idle.Row(nil, row))
	return r, err
}

// refresh brings the row of one node up to date. generation is a number that
// moves with the node and with every pod on it, as in kube-scheduler's
// NodeInfo. It costs a map lookup when nothing moved.
func refresh(nodes *vector.Nodes, m *vectormap.ResourceVectorMap, node *corev1.Node, requested vector.ResourceVector, generation int64) error {
	if nodes.Current(node.Name, generation) {
		return nil
	}
	allocatable, err := m.NodeAllocatable(nil, node, nil)
	if err != nil {
		return fmt.Errorf("node %s: %w", node.Name, err)
	}
	_, _, err = nodes.Set(node.Name, generation, vector.NodeAmounts{Allocatable: allocatable, Requested: requested})
	return err
}

// filter is a Filter extension point for all nodes at once.
func filter(fits *vector.Mask, nodes *vector.Nodes, m *vectormap.ResourceVectorMap, pod *corev1.Pod) error {
	request, err := m.PodRequest(nil, pod, vectormap.PodOptions{UseStatusResources: true}, nil)
	if err != nil {
		return err
	}
	vector.Fit(fits, nodes.Free(), request)
	return nil
}

// place assumes a pod on the best of a worker's nodes, and says where. scores is bound
// to the worker's snapshot.
func place(nodes, snapshot *vector.Nodes, scores *scoring.Bound, pod vector.PodAmounts) (string, error) {
	best, ok := scores.Best(pod, nil, vector.TieLowest())
	if !ok {
		return "", nil
	}
	name := snapshot.Name(best)
	row, ok := nodes.Row(name) // rows move when nodes are deleted
	if !ok {
		return "", fmt.Errorf("node %s is gone", name)
	}
	return name, nodes.Assume(row, pod)
}

// forget takes an assumption back: the binding failed.
func forget(nodes *vector.Nodes, name string, pod vector.PodAmounts) error {
	if row, ok := nodes.Row(name); ok {
		return nodes.Forget(row, pod)
	}
	return nil
}

func Example_migration() {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-1"}}
	node.Status.Allocatable = corev1.ResourceList{
		"cpu":            resource.MustParse("32"),
		"memory":         resource.MustParse("128Gi"),
		"nvidia.com/gpu": resource.MustParse("8"),
		"pods":           resource.MustParse("110"),

		"ephemeral-storage": resource.MustParse("100G"),
	}
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		"cpu":            resource.MustParse("500m"),
		"nvidia.com/gpu": resource.MustParse("2"),
	}}}}

	m, err := buildMap([]*corev1.Node{node}, []*corev1.Pod{pod})
	if err != nil {
		panic(err)
	}
	fmt.Println(m)

	idle, err := idleMatrix(m, []oldNodeInfo{
		{"a", vectormap.Resource{MilliCPU: 4000, Memory: 8 << 30, GPUs: 0.5}},
		{"b", vectormap.Resource{MilliCPU: 4000, Memory: 8 << 30, GPUs: 2}},
	})
	if err != nil {
		panic(err)
	}
	fits, err := feasible(m, idle, &vectormap.ResourceRequirements{MilliCPU: 1000, GPUCount: 2, GPUPortion: 0.5})
	if err != nil {
		panic(err)
	}
	fmt.Println("struct request fits on row", fits.First())
	old, err := backToStruct(m, idle, 0)
	fmt.Println(old.MilliCPU, old.GPUs, err)

	volcano := fromVolcano(m, &volcanoResource{MilliCPU: 4000, Memory: 8 << 30, ScalarResources: map[corev1.ResourceName]float64{
		"nvidia.com/gpu": 500, "pods": 110, "ephemeral-storage": 100e12}})
	fmt.Println(volcano.ToVector(nil, m))
	kube := freeOfKubeScheduler(m,
		&kubeResource{MilliCPU: 32_000, Memory: 8 << 30, EphemeralStorage: 100e9, AllowedPodNumber: 110,
			ScalarResources: map[corev1.ResourceName]int64{"nvidia.com/gpu": 8}},
		&kubeResource{MilliCPU: 1000, ScalarResources: map[corev1.ResourceName]int64{"nvidia.com/gpu": 2}}, 3)
	fmt.Println(kube.ToVector(nil, m))

	nodes := m.NewNodes()
	if err := refresh(nodes, m, node, vector.ResourceVector{1000}, 1); err != nil {
		panic(err)
	}
	var snapshot vector.Nodes
	nodes.Snapshot(&snapshot)
	if err := filter(fits, &snapshot, m, pod); err != nil {
		panic(err)
	}
	fmt.Println("pod fits on", snapshot.Name(fits.First()))

	load, err := scoring.CompileLoad(scoring.LoadConfig{Metric: scoring.NormalizedSum}, m)
	if err != nil {
		panic(err)
	}
	amounts := vector.PodAmounts{Requested: vector.ResourceVector{vectormap.CPU: 500, vectormap.GPU: 2000}}
	name, err := place(nodes, &snapshot, scoring.Bind(load, &snapshot), amounts)
	fmt.Println("pod goes to", name, nodes.Free().Row(nil, 0), err)
	err = forget(nodes, name, amounts)
	fmt.Println("forgotten", nodes.Free().Row(nil, 0), err)

	// Output:
	// cpu=milli-cpu memory=byte gpu=milli(nvidia.com/gpu) pods=whole ephemeral-storage=byte
	// struct request fits on row 1
	// 4000 0.5 <nil>
	// [4000 8.589934592e+09 500 110 1e+11] <nil>
	// [31000 8.589934592e+09 6000 107 1e+11] <nil>
	// pod fits on gpu-1
	// pod goes to gpu-1 [30500 1.37438953472e+11 6000 110 1e+11] <nil>
	// forgotten [31000 1.37438953472e+11 8000 110 1e+11] <nil>
}
