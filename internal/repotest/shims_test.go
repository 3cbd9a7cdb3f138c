package repotest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types and functions of this file that are no tests are adapters to KAI-Scheduler and
// Volcano, to which docs/migration.md links.

// kaiVector is KAI's ResourceVector: its methods have the same names here.
type kaiVector = vector.ResourceVector

// kaiMap is KAI's ResourceVectorMap. It grows while vectors of it exist.
type kaiMap struct{ m *vectormap.ResourceVectorMap }

func newKAIMap() (*kaiMap, error) {
	m, err := vectormap.New(nil, vectormap.FoldVendors(), vectormap.Lenient())
	return &kaiMap{m}, err
}

// AddResourceList adds names. Indices that are there stay: a vector made before is one
// that is shorter.
func (k *kaiMap) AddResourceList(list corev1.ResourceList) error {
	var names []string
	for name := range list {
		if _, ok := k.m.Index(string(name)); !ok {
			names = append(names, string(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	m, err := k.m.Extend(names)
	if err == nil {
		k.m = m
	}
	return err
}

func (k *kaiMap) Len() int                             { return k.m.Len() }
func (k *kaiMap) ResourceAt(i int) corev1.ResourceName { return corev1.ResourceName(k.m.Name(i)) }

func (k *kaiMap) GetIndex(name corev1.ResourceName) int {
	if i, ok := k.m.Index(string(name)); ok {
		return i
	}
	return -1
}

func (k *kaiMap) NewResourceVector() kaiVector { return k.m.NewVector() }

// NewResourceVectorFromResourceList drops names that the map doesn't have, as KAI does.
func (k *kaiMap) NewResourceVectorFromResourceList(list corev1.ResourceList) (kaiVector, error) {
	var dropped []string
	return k.m.RequestVector(nil, list, &dropped)
}

// The shapes that Volcano's plugin meets: api.TaskInfo, api.NodeInfo and
// framework.Session.
type (
	volcanoTask struct {
		Pod      *corev1.Pod
		Resreq   *volcanoResource
		NodeName string
	}
	volcanoNode struct {
		Name              string
		Allocatable, Used *volcanoResource
	}
	volcanoSession interface {
		Nodes() []*volcanoNode
		AddPredicateFn(plugin string, fn func(*volcanoTask, *volcanoNode) error)
		AddBatchNodeOrderFn(plugin string, fn func(*volcanoTask, []*volcanoNode) (map[string]float64, error))
		AddEventHandler(allocate, deallocate func(*volcanoTask) error)
	}
)

const strategyFit = "resource-strategy-fit"

// openSession is OnSessionOpen of the plugin. m has the names of all nodes and tasks.
func openSession(ssn volcanoSession, arguments []byte, m *vectormap.ResourceVectorMap) error {
	const shipped = scoring.Lenient | scoring.WildcardLiteral | scoring.AllowUnknown
	cfg, _, err := scoring.ParseArguments(arguments, shipped)
	if err != nil {
		return err
	}
	strategy, err := scoring.CompileStrategy(*cfg, m, shipped)
	if err != nil {
		return err
	}
	amounts := func(r *volcanoResource) (vector.ResourceVector, error) {
		converted := fromVolcano(m, r)
		return converted.ToVector(nil, m)
	}
	nodes := m.NewNodes()
	for _, node := range ssn.Nodes() {
		allocatable, err := amounts(node.Allocatable)
		if err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
		used, err := amounts(node.Used)
		if err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
		if _, _, err := nodes.Set(node.Name, 1, vector.NodeAmounts{Allocatable: allocatable, Requested: used}); err != nil {
			return err
		}
	}
	scores := scoring.Bind(strategy, nodes)
	var all []float64

	ssn.AddBatchNodeOrderFn(strategyFit, func(task *volcanoTask, candidates []*volcanoNode) (map[string]float64, error) {
		request, err := amounts(task.Resreq)
		if err != nil {
			return nil, err
		}
		override, _, err := scoring.ParsePodOverride(task.Pod.Annotations, m, shipped)
		if err != nil {
			return nil, err
		}
		all = append(all[:0], make([]float64, nodes.Len())...)
		if err := scores.WithOverride(override).Score(all, vector.PodAmounts{Requested: request}, nil); err != nil {
			return nil, err
		}
		byName := make(map[string]float64, len(candidates))
		for _, node := range candidates {
			if row, ok := nodes.Row(node.Name); ok {
				byName[node.Name] = all[row]
			}
		}
		return byName, nil
	})
	if proportional := strategy.Proportional(); proportional.Enabled() {
		ssn.AddPredicateFn(strategyFit, func(task *volcanoTask, node *volcanoNode) error {
			request, err := amounts(task.Resreq)
			if err != nil {
				return err
			}
			row, ok := nodes.Row(node.Name)
			if !ok {
				return fmt.Errorf("node %s is gone", node.Name)
			}
			result, err := proportional.Check(request, nodes.Requested().Row(nil, row), nodes.Allocatable().Row(nil, row))
			if err == nil && !result.OK {
				err = fmt.Errorf("%s is kept for idle devices: needs %v, leaves %v", m.Name(result.Secondary), result.Needed, result.Left)
			}
			return err
		})
	}
	move := func(change func(row int, pod vector.PodAmounts) error) func(*volcanoTask) error {
		return func(task *volcanoTask) error {
			request, err := amounts(task.Resreq)
			if err != nil {
				return err
			}
			row, ok := nodes.Row(task.NodeName)
			if !ok {
				return fmt.Errorf("node %s is gone", task.NodeName)
			}
			return change(row, vector.PodAmounts{Requested: request})
		}
	}
	ssn.AddEventHandler(move(nodes.Assume), move(nodes.Forget))
	return nil
}

// TestShimKAI compares the adapter with amounts in maps, while its map grows.
func TestShimKAI(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []corev1.ResourceName{"cpu", "memory", "pods", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "rdma/hca", "example.com/a", "example.com/b"}
	fits := 0
	for range 300 {
		k := testkit.Must(newKAIMap())
		var lists []corev1.ResourceList
		var vectors []kaiVector
		for range 4 {
			list := corev1.ResourceList{}
			for _, name := range names {
				if r.IntN(3) == 0 {
					list[name] = *resource.NewQuantity(r.Int64N(4), resource.DecimalSI)
				}
			}
			testkit.Check(k.AddResourceList(list))
			v := testkit.Must(k.NewResourceVectorFromResourceList(list))
			lists, vectors = append(lists, list), append(vectors, v)
		}
		amount := func(list corev1.ResourceList, name corev1.ResourceName) float64 {
			q := list[name]
			if name == "cpu" {
				return float64(q.MilliValue())
			}
			return float64(q.Value())
		}
		for i := range lists {
			for j := range lists {
				want, sum, most := true, vectors[i].Clone(), vectors[i].Clone()
				sum.Add(vectors[j])
				most.SetMax(vectors[j])
				for _, name := range names {
					a, b, at := amount(lists[i], name), amount(lists[j], name), k.GetIndex(name)
					want = want && a <= b
					if sum.Get(at) != a+b || most.Get(at) != max(a, b) {
						t.Fatalf("%s: %v and %v: sum %v, most %v", name, a, b, sum, most)
					}
				}
				if got := vectors[i].LessEqual(vectors[j]); got != want {
					t.Fatalf("%v <= %v: %t, want %t", vectors[i], vectors[j], got, want)
				}
				if want {
					fits++
				}
			}
		}
	}
	if fits < 1500 {
		t.Errorf("only %d fit", fits)
	}
	k := testkit.Must(newKAIMap())
	if at := k.GetIndex("example.com/a"); at != -1 {
		t.Errorf("an unknown name has index %d", at)
	}
	v, err := k.NewResourceVectorFromResourceList(corev1.ResourceList{"example.com/a": resource.MustParse("1"), "amd.com/gpu": resource.MustParse("2")})
	if err != nil || v.Get(k.GetIndex("nvidia.com/gpu")) != 2 || len(v) != len(k.NewResourceVector()) || k.Len() != len(v) {
		t.Errorf("%v, %v: an unknown name is dropped, and vendors share an index", v, err)
	}
	if name := k.ResourceAt(k.GetIndex("memory")); name != "memory" {
		t.Errorf("%s", name)
	}
}

// fakeSession keeps what a plugin adds.
type fakeSession struct {
	nodes      []*volcanoNode
	predicate  func(*volcanoTask, *volcanoNode) error
	order      func(*volcanoTask, []*volcanoNode) (map[string]float64, error)
	allocate   func(*volcanoTask) error
	deallocate func(*volcanoTask) error
}

func (s *fakeSession) Nodes() []*volcanoNode { return s.nodes }
func (s *fakeSession) AddPredicateFn(_ string, fn func(*volcanoTask, *volcanoNode) error) {
	s.predicate = fn
}
func (s *fakeSession) AddBatchNodeOrderFn(_ string, fn func(*volcanoTask, []*volcanoNode) (map[string]float64, error)) {
	s.order = fn
}
func (s *fakeSession) AddEventHandler(allocate, deallocate func(*volcanoTask) error) {
	s.allocate, s.deallocate = allocate, deallocate
}

func volcanoAmounts(cpu, memory, gpus float64) *volcanoResource {
	r := &volcanoResource{MilliCPU: cpu, Memory: memory}
	if gpus > 0 {
		r.ScalarResources = map[corev1.ResourceName]float64{"nvidia.com/gpu": 1000 * gpus}
	}
	return r
}

// TestShimVolcano: a session asks for scores, allocates, asks again and takes it back.
func TestShimVolcano(t *testing.T) {
	m := testkit.Must(vectormap.New([]string{"nvidia.com/gpu"}))
	ssn := &fakeSession{nodes: []*volcanoNode{
		{Name: "gpu", Allocatable: volcanoAmounts(32_000, 100e9, 4), Used: volcanoAmounts(8_000, 50e9, 1)},
		{Name: "cpu", Allocatable: volcanoAmounts(32_000, 100e9, 0), Used: volcanoAmounts(16_000, 25e9, 0)},
	}}
	arguments := []byte(`
resourceStrategyFitWeight: 1
resources:
  cpu: {type: LeastAllocated, weight: 1}
  memory: {type: LeastAllocated, weight: 1}
  nvidia.com/gpu: {type: MostAllocated, weight: 2}
sra: {enable: true, weight: 1, resources: nvidia.com/gpu}
proportional: {enable: true, resources: nvidia.com/gpu, resourceProportion: {nvidia.com/gpu.cpu: 6, nvidia.com/gpu.memory: 1}}
`)
	testkit.Check(openSession(ssn, arguments, m))
	task := func(amounts *volcanoResource, annotations map[string]string) *volcanoTask {
		return &volcanoTask{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}, Resreq: amounts, NodeName: "gpu"}
	}
	check := func(what string, asks *volcanoTask, want map[string]float64) {
		t.Helper()
		if got, err := ssn.order(asks, ssn.nodes); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	gpuTask, cpuTask := task(volcanoAmounts(8_000, 25e9, 1), nil), task(volcanoAmounts(8_000, 25e9, 0), nil)
	// (1/2 + 1/4 + 2 * 1/2) / 4 * 100: half of the cpu, a quarter of the memory and half of the GPUs.
	// Of the node without GPUs the weight of 2 counts, and nothing else of it.
	check("a GPU", gpuTask, map[string]float64{"gpu": 43.75, "cpu": 18.75})
	// (1/2 + 1/4) / 2 on the one, (1/4 + 1/2) / 2 on the other, where 100 are for scarce GPUs.
	check("no GPU", cpuTask, map[string]float64{"gpu": 37.5, "cpu": 137.5})
	override := map[string]string{scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"cpu": 1}`}
	check("rules of the pod", task(volcanoAmounts(8_000, 25e9, 0), override), map[string]float64{"gpu": 50, "cpu": 175})

	if err := ssn.predicate(gpuTask, ssn.nodes[0]); err != nil {
		t.Error(err)
	}
	if err := ssn.predicate(cpuTask, ssn.nodes[0]); err == nil {
		t.Error("a node keeps 18 cores for three idle GPUs, and 16 would be left")
	}
	testkit.Check(ssn.allocate(gpuTask))
	check("after another", cpuTask, map[string]float64{"gpu": 12.5, "cpu": 137.5})
	testkit.Check(ssn.deallocate(gpuTask))
	check("taken back", cpuTask, map[string]float64{"gpu": 37.5, "cpu": 137.5})
	if err := openSession(ssn, []byte("resources: [1]"), m); err == nil {
		t.Error("bad arguments are no error")
	}
}
