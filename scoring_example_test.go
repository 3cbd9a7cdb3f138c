package resvec_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// The blocks of docs/scoring.md are among the functions and configurations below;
// TestDocs keeps the two the same. Example_scoring runs them one after the
// other.

// schedule assumes a pod on the best node, and says which it is and why.
func schedule(nodes *vector.Nodes, scores *scoring.Bound, predicate *scoring.Proportional, m *vectormap.ResourceVectorMap, pod *corev1.Pod) (node, why string, err error) {
	request, err := m.PodRequest(nil, pod, vectormap.PodOptions{}, nil)
	if err != nil {
		return "", "", err
	}
	var rows vector.Mask // keep it from pod to pod

	// A nil predicate lets all nodes pass.
	if err := predicate.Filter(&rows, nodes, request, nil); err != nil {
		return "", "", err
	}
	amounts := vector.PodAmounts{Requested: request}
	row, ok := scores.Best(amounts, &rows, vector.TieSeeded(42))
	if !ok {
		return "", m.ExplainRejections(nodes.Len(), vector.Rejections(nil, nodes.Free(), request, nil)), nil
	}
	e, err := scores.Explain(amounts, row, &rows)
	if err != nil {
		return "", "", err
	}
	return nodes.Name(row), e.Format(m), nodes.Assume(row, amounts)
}

const volcanoArguments = `
resourceStrategyFitWeight: 10
resources:
  nvidia.com/gpu-v100: {type: MostAllocated, weight: 3}
  nvidia.com/gpu/*: {type: MostAllocated, weight: 2}
  cpu: {type: LeastAllocated, weight: 1}
sra:
  enable: true
  resources: nvidia.com/gpu-v100, example.com/fpga
  weight: 10
  resourceWeight:
    example.com/fpga: 2
proportional:
  enable: true
  resources: nvidia.com/gpu-v100
  resourceProportion:
    nvidia.com/gpu-v100.cpu: 4
    nvidia.com/gpu-v100.memory: 8
`

func compile(arguments []byte, m *vectormap.ResourceVectorMap) (*scoring.Strategy, error) {
	config, warnings, err := scoring.ParseArguments(arguments)
	for _, w := range warnings { // with an error, too
		fmt.Println("warning:", w)
	}
	if err != nil {
		return nil, err // all faults of the document at once
	}
	strategy, err := scoring.CompileStrategy(*config, m)
	if err != nil {
		return nil, err // all names that the map does not have, and what else needs the map
	}
	for _, w := range strategy.Warnings() {
		fmt.Println("warning:", w)
	}
	return strategy, nil
}

// faults returns a line for each thing that is wrong with a configuration, which
// stands at path in another one; nil if it is one by itself.
func faults(path *field.Path, err error) (lines []string) {
	for _, fault := range vectormap.Faults(path, err) { // each a *field.Error
		lines = append(lines, fault.Error())
	}
	return lines
}

// ownRules are the annotations of a pod.
const ownRules = `
metadata:
  annotations:
    volcano.sh/resource-strategy-scoring-type: LeastAllocated
    volcano.sh/resource-strategy-weight: '{"nvidia.com/gpu-v100": 1}'
`

func forPod(scores *scoring.Bound, annotations map[string]string, m *vectormap.ResourceVectorMap) (*scoring.Bound, error) {
	override, _, err := scoring.ParsePodOverride(annotations, m)
	if err != nil {
		return nil, err
	}
	return scores.WithOverride(override), nil // scores itself without annotations
}

const kubeStrategy = `
type: RequestedToCapacityRatio
resources:
- {name: nvidia.com/gpu-v100, weight: 5}
- {name: cpu, weight: 1}
requestedToCapacityRatio:
  shape:
  - {utilization: 0, score: 0}
  - {utilization: 80, score: 10}
  - {utilization: 100, score: 5}
`

func kube(scoringStrategy []byte, m *vectormap.ResourceVectorMap) (*scoring.Kube, error) {
	config, err := scoring.ParseScoringStrategy(scoringStrategy)
	if err != nil {
		return nil, err
	}
	return scoring.CompileKube(*config, m)
}

// bonus is a strategy that likes nodes with a local disk more.
type bonus struct {
	*scoring.Strategy
	disk   int // the column
	points float64
}

func (b bonus) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	score, err := b.Strategy.Score(request, requested, allocatable)
	if allocatable.Get(b.disk) > 0 {
		score += b.points
	}
	return score, err
}

func Example_bonus() {
	m, err := vectormap.New([]string{"example.com/disk"})
	if err != nil {
		log.Fatal(err)
	}
	nodes, disk := m.NewNodes(), m.Len()-1
	for name, disks := range map[string]float64{"plain": 0, "local": 1} {
		has := m.NewVector()
		has[vectormap.CPU], has[disk] = 4000, disks
		if _, _, err := nodes.Set(name, 1, vector.NodeAmounts{Allocatable: has}); err != nil {
			log.Fatal(err)
		}
	}
	strategy, err := scoring.CompileStrategy(scoring.StrategyConfig{}, m)
	if err != nil {
		log.Fatal(err)
	}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{vectormap.CPU: 1000}}
	row, _ := scoring.Bind(bonus{strategy, disk, 50}, nodes).Best(pod, nil, vector.TieLowest())
	fmt.Println(nodes.Name(row))
	// Output:
	// local
}

// asKube scores as kube-scheduler does by default: by a strategy of NodeResourcesFit,
// which sees default amounts, and by BalancedAllocation, which sees the true ones.
func asKube(strategy, balanced scoring.Scorer) (scoring.Scorer, error) {
	return scoring.Combine([]scoring.Term{
		{Scorer: strategy, Weight: 1, Scored: true},
		{Scorer: balanced, Weight: 1},
	})
}

func balanced(m *vectormap.ResourceVectorMap) (*scoring.Kube, error) {
	return scoring.CompileKube(scoring.KubeConfig{
		Type:      scoring.BalancedAllocation,
		Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}},
	}, m)
}

func shareGPU(fgd *gpu.Bound, request *gpu.Request, nodes *vector.Nodes, gpus *gpu.State) (row int, devices []int32, err error) {
	row, ok := fgd.Best(request, nil, vector.TieSeeded(42))
	if !ok {
		return -1, nil, errors.New(fgd.Rejections(request, nil).String())
	}
	devices = fgd.ChooseDevices(nil, request, row)
	if err := gpus.Place(row, request, devices); err != nil {
		return -1, nil, err
	}
	return row, devices, nodes.Assume(row, vector.PodAmounts{Requested: request.Amounts})
}

func add(scores, others []float64, weight float64, fits *vector.Mask) {
	scoring.NormalizeScores(scores, fits, scoring.NormalizeMinMax)
	scoring.NormalizeScores(others, fits, scoring.NormalizeMinMax)
	for row := range fits.All() {
		scores[row] += weight * others[row]
	}
}

func combine(strategy, ratio scoring.Scorer) (scoring.Scorer, error) {
	return scoring.Combine([]scoring.Term{
		{Scorer: strategy, Weight: 0.5, Normalize: scoring.NormalizeMinMax},
		{Scorer: ratio, Weight: 2.5},
	})
}

// must panics: an example has no test to fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func Example_scoring() {
	m := must(vectormap.New([]string{"nvidia.com/gpu-v100", "nvidia.com/gpu-a100", "example.com/fpga"}))
	v100, _ := m.Index("nvidia.com/gpu-v100")
	a100, _ := m.Index("nvidia.com/gpu-a100")
	node := func(cpu, v100s, a100s float64) vector.ResourceVector {
		row := m.NewVector()
		row[vectormap.CPU], row[v100], row[a100] = cpu, v100s, a100s
		return row
	}
	nodes := m.NewNodes(vector.WithScored())
	for i, n := range []vector.NodeAmounts{
		{Allocatable: node(64_000, 0, 0), Requested: node(16_000, 0, 0)},
		{Allocatable: node(64_000, 8, 0), Requested: node(16_000, 2, 0)},
		{Allocatable: node(64_000, 8, 0), Requested: node(16_000, 5, 0)},
		{Allocatable: node(64_000, 8, 8), Requested: node(16_000, 0, 0)},
	} {
		n.Allocatable[vectormap.Memory], n.Allocatable[vectormap.Pods] = 512e9, 110
		if _, _, err := nodes.Set(fmt.Sprint("node-", i), 1, n); err != nil {
			panic(err)
		}
	}
	cpuPod, gpuPod := node(24_000, 0, 0), node(16_000, 2, 0)

	strategy := must(compile([]byte(volcanoArguments), m))
	predicate := strategy.Proportional()
	show := func(name string, scores *scoring.Bound, request vector.ResourceVector) {
		var rows vector.Mask
		must(0, predicate.Filter(&rows, nodes, request, nil))
		vector.FitAmong(&rows, nodes.Free(), request, &rows)
		pod, list := vector.PodAmounts{Requested: request}, make([]float64, nodes.Len())
		must(0, scores.Score(list, pod, &rows))
		row, _ := scores.Best(pod, &rows, vector.TieSeeded(42))
		fmt.Printf("%s: node %d of %.1f\n", name, row, list)
	}
	scores := scoring.Bind(strategy, nodes)
	show("cpu pod", scores, cpuPod)
	show("gpu pod", scores, gpuPod)

	var pod corev1.Pod
	must(0, yaml.Unmarshal([]byte(ownRules), &pod))
	pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		"cpu": resource.MustParse("16"),
	}}}}
	show("own rules", must(forPod(scores, pod.Annotations, m)), gpuPod)

	ratio := must(kube([]byte(kubeStrategy), m))
	show("ratio", scoring.Bind(ratio, nodes), gpuPod)
	show("balanced", scoring.Bind(must(balanced(m)), nodes), gpuPod)
	show("as kube", scoring.Bind(must(asKube(ratio, must(balanced(m)))), nodes), gpuPod)

	both := scoring.Bind(must(combine(strategy, ratio)), nodes)
	show("combined", both, gpuPod)
	fmt.Print(must(both.Explain(vector.PodAmounts{Requested: gpuPod}, 1, nil)).Format(m))

	for _, gpus := range []string{"2", "9"} {
		pod.Spec.Containers[0].Resources.Requests["nvidia.com/gpu-v100"] = resource.MustParse(gpus)
		name, why, err := schedule(nodes, scores, predicate, m, &pod)
		if err != nil {
			panic(err)
		}
		fmt.Printf("\na pod of %s goes to %q\n%s\n", gpus, name, strings.TrimSpace(why))
	}
	fmt.Println()

	_, err := compile([]byte("resources: {cpu: {type: Most, weight: 0.5}, nvidia.com/h100: {type: MostAllocated, weight: -1}}"), m)
	fmt.Println(strings.Join(faults(nil, err), "\n"))
	_, err = compile([]byte("resources: {nvidia.com/h100: {type: MostAllocated}}"), m)
	fmt.Println(strings.Join(faults(field.NewPath("args", "scoring"), err), "\n"))

	typical := must(gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4000, Count: 1, Milli: 500, Pods: 7},
		{CPU: 8000, Count: 1, Milli: 1000, Pods: 3},
	}, 0.95))
	fgd := must(gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m))
	gpus := gpu.NewState([]gpu.Node{
		{Left: []float64{1000, 1000}},
		{Left: []float64{1000, 400}, Pods: []int32{1}},
	})
	sharing := m.NewNodes()
	for i := range gpus.Rows() {
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{32_000, 128 << 30}}
		if _, _, err := sharing.Set(fmt.Sprint("sharing-", i), 1, amounts); err != nil {
			panic(err)
		}
	}
	hosts, points := vector.NewMask(gpus.Rows()), make([]float64, gpus.Rows())
	shared := gpu.Bind(fgd, sharing, gpus)
	for range 2 {
		request := &gpu.Request{CPU: 4000, Count: 1, Milli: 400, Amounts: vector.ResourceVector{4000, 16 << 30}}
		shared.Fit(hosts, request, nil)
		must(0, shared.Score(points, request, hosts))
		row, devices, err := shareGPU(shared, request, sharing, gpus)
		if err != nil {
			panic(err)
		}
		fmt.Printf("shared: node %d, devices %d of %.0f\n", row, devices, points)
	}
	add(points, []float64{20, 60}, 0.5, hosts)
	fmt.Printf("added: %.0f\n", points)
	_, _, err = shareGPU(shared, &gpu.Request{Count: 3, Milli: 1000}, sharing, gpus)
	fmt.Println(err)

	// Output:
	// cpu pod: node 0 of [1375.0 1041.7 1041.7 0.0]
	// gpu pod: node 2 of [0.0 1166.7 1447.9 979.2]
	// own rules: node 3 of [0.0 1166.7 791.7 1416.7]
	// ratio: node 2 of [0.0 62.0 80.0 36.0]
	// balanced: node 1 of [0.0 69.0 69.0 69.0]
	// as kube: node 2 of [0.0 131.0 149.0 105.0]
	// combined: node 2 of [0.0 175.0 250.0 90.0]
	// total                     175
	// StrategyFit+SRA           1166.67 -> 40  x 0.5
	//   resource                request        used  allocatable  rule                        weight  points    status
	//   cpu                     16             16    64           StrategyFit LeastAllocated  1       13.3333   Scored
	//   nvidia.com/gpu-a100     0              0     0            StrategyFit MostAllocated   2       0         NotRequested
	//   nvidia.com/gpu-v100     2              2     8            StrategyFit MostAllocated   3       40        Scored
	//   cpu                     16             16    64           SRA                         0       0         NotConfigured
	//   example.com/fpga        0              0     0            SRA Scarce                  2       71.1111   Scored
	//   nvidia.com/gpu-v100     2              2     8            SRA Scarce                  1       0         Scored
	//   normalization                                             MinMax                      1       -104.444  Scored
	// RequestedToCapacityRatio  62             x 2.5
	//   resource                request        used  allocatable  rule                      weight  points   status
	//   nvidia.com/gpu-v100     2              2     8            RequestedToCapacityRatio  5       129.167  Scored
	//   cpu                     16             16    64           RequestedToCapacityRatio  1       25.8333  Scored
	//
	// a pod of 2 goes to "node-2"
	// total                  1447.92
	// StrategyFit            781.25   x 1
	//   resource             request  used  allocatable  rule            weight  points  status
	//   cpu                  16       16    64           LeastAllocated  1       125     Scored
	//   pods                 1        0     110                          0       0       NotConfigured
	//   nvidia.com/gpu-a100  0        0     0            MostAllocated   2       0       NotRequested
	//   nvidia.com/gpu-v100  2        5     8            MostAllocated   3       656.25  Scored
	// SRA                    666.667  x 1
	//   resource             request  used  allocatable  rule    weight  points   status
	//   cpu                  16       16    64                   0       0        NotConfigured
	//   pods                 1        0     110                  0       0        NotConfigured
	//   example.com/fpga     0        0     0            Scarce  2       666.667  Scored
	//   nvidia.com/gpu-v100  2        5     8            Scarce  1       0        Scored
	//
	// a pod of 9 goes to ""
	// 0/4 nodes are available: 4 Insufficient nvidia.com/gpu-v100.
	//
	// warning: resources["nvidia.com/h100"].weight: Invalid value: -1: replaced by 1
	// resources["cpu"].type: Unsupported value: "Most": supported values: "LeastAllocated", "MostAllocated"
	// resources["cpu"].weight: Invalid value: 0.5: must be an integer
	// args.scoring: Not found: "nvidia.com/h100": unknown resource: the map has cpu, memory, gpu, pods, example.com/fpga, nvidia.com/gpu-a100, nvidia.com/gpu-v100
	// shared: node 1, devices [1] of [45 59]
	// shared: node 1, devices [0] of [45 45]
	// added: [0 50]
	// 0/2 nodes fit: 2 without enough GPUs left
}
