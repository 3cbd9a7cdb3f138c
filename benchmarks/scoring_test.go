package benchmarks

import (
	"errors"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

var (
	strategyFit              = operation{"StrategyFit", scoringShapes, scoringRatios, newStrategyFit}
	sra                      = operation{"SRA", scoringShapes, scoringRatios, newSRA}
	proportional             = operation{"Proportional", scoringShapes, scoringRatios, newProportional}
	leastAllocated           = operation{"LeastAllocated", scoringShapes, scoringRatios, kubeSubject(scoring.LeastAllocated)}
	balanced                 = operation{"Balanced", scoringShapes, scoringRatios, kubeSubject(scoring.BalancedAllocation)}
	requestedToCapacityRatio = operation{"RequestedToCapacityRatio", scoringShapes, scoringRatios, kubeSubject(scoring.RequestedToCapacityRatio)}
	load                     = operation{"Load", scoringShapes, scoringRatios, newLoad}
	drf                      = operation{"DRF", scoringShapes, scoringRatios, newDRF}

	// The columns of Fragmentation are the devices of a node.
	fragmentation = operation{"Fragmentation", scoringRatios, shapes(slices.Concat(smallNodes, []int{1000, 5000}), 8), newFragmentation}

	// decision is filter, score and pick: the pod requests cpu, memory, GPUs and
	// pods, and cpu and GPUs are scored; or it requests all eight, and all are.
	decision = operation{"Decision", decisionShapes, decisionShapes, newDecision}

	// decisionOnePass is decision against the leanest form with structs.
	decisionOnePass = operation{"DecisionOnePass", decisionShapes, decisionShapes, newDecisionOnePass}
)

var (
	scoringNodes   = slices.Concat(smallNodes, []int{1000, 5000, 20000})
	scoringShapes  = slices.Concat(shapes(smallNodes, 8), shapes([]int{1000, 5000, 20000}, 4, 8, 16))
	scoringRatios  = shapes(scoringNodes, 8)
	decisionShapes = slices.Concat(fewRequested(scoringNodes, 8, 4), scoringRatios)

	scoringOperations = []operation{
		strategyFit, sra, proportional, leastAllocated, balanced, requestedToCapacityRatio, load, drf,
		fragmentation, decision, decisionOnePass,
	}
)

// BenchmarkScoringRatio is [BenchmarkRatio] for package scoring. The row loop
// has slices of amounts per node, the struct form fields and maps, as the
// scheduler keeps them that the scorer comes from: Volcano's api.Resource,
// kube-scheduler's framework.Resource, NodeResource of the simulator of the
// paper on fragmentation.
func BenchmarkScoringRatio(b *testing.B) { ratios(b, "scorer", scoringOperations) }

// pluginWeight is the weight of every plugin here.
const pluginWeight = 10

// fitRules are the rules of a benchmark for the first columns of a map, in all
// forms: MostAllocated for odd columns, weights 1 to 3. GPUs come before memory.
type fitRules struct {
	config  scoring.StrategyFitConfig
	volcano map[resourceName]volcanoRule
	rows    []rowRule
}

func newFitRules(names []resourceName, columns ...int) *fitRules {
	weight := int64(pluginWeight)
	f := &fitRules{
		config:  scoring.StrategyFitConfig{Weight: &weight, Resources: map[string]scoring.FitRule{}},
		volcano: map[resourceName]volcanoRule{},
	}
	for k, j := range columns {
		kind, weight := scoring.LeastAllocated, 1+k%3
		if k%2 == 1 {
			kind = scoring.MostAllocated
		}
		f.config.Resources[string(names[j])] = scoring.FitRule{Type: kind, Weight: int64(weight)}
		f.volcano[names[j]] = volcanoRule{string(kind), weight}
		f.rows = append(f.rows, rowRule{j, kind == scoring.MostAllocated, float64(weight)})
	}
	return f
}

// scored is a scorer whose forms write a score for each node.
func scored[T float64 | int64](s shape, elements int, kernel, rowloop, structmap func(dst []T, k int)) *subject {
	got, want, structGot := make([]T, s.nodes), make([]T, s.nodes), make([]T, s.nodes)
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  elements,
		kernel:    func(k int) { kernel(got, k) },
		rowloop:   func(k int) { rowloop(want, k) },
		structmap: func(k int) { structmap(structGot, k) },
		check: func() error {
			return errors.Join(
				same("the kernel", s.nodes, at(got), at(want)),
				same("structmap", s.nodes, at(structGot), at(want)))
		},
	}
}

func newStrategyFit(s shape) *subject {
	c := newCluster(100, s, everything)
	pods, rules := c.newPods(allColumns(s.cols)...), newFitRules(c.names, allColumns(s.cols)...)
	fit := scoring.Bind(testkit.Must(scoring.CompileStrategy(scoring.StrategyConfig{Fit: rules.config}, c.m)), c.nodes)
	plugin := &volcanoPlugin{weight: pluginWeight, resources: rules.volcano}
	return scored(s, 2*s.elements(),
		func(dst []float64, k int) { testkit.Check(fit.Score(dst, pods.amounts(k), nil)) },
		func(dst []float64, k int) { rowsStrategyFit(dst, c.rows, pods.requests[k], rules.rows, pluginWeight) },
		func(dst []float64, k int) { plugin.fitAll(dst, pods.volcano[k], c.volcano) })
}

// scarceWeights are the weights of the columns that are scarce, GPUs and what
// comes after pods, in all forms.
type scarceWeights struct {
	config  scoring.SRAConfig
	volcano map[resourceName]int
	rows    []float64
	total   int
}

func newScarceWeights(names []resourceName) *scarceWeights {
	w := &scarceWeights{
		config:  scoring.SRAConfig{Weight: pluginWeight, ResourceWeight: map[string]int64{}},
		volcano: map[resourceName]int{},
		rows:    make([]float64, len(names)),
	}
	for j, name := range names {
		if j != vectormap.GPU && j <= vectormap.Pods {
			continue
		}
		weight := 1 + j%3
		w.config.Resources = append(w.config.Resources, string(name))
		w.config.ResourceWeight[string(name)] = int64(weight)
		w.volcano[name] = weight
		w.rows[j] = float64(weight)
		w.total += weight
	}
	return w
}

func newSRA(s shape) *subject {
	c := newCluster(101, s, mixed)
	pods, weights := c.newPods(vectormap.CPU, vectormap.Memory, vectormap.GPU, vectormap.Pods), newScarceWeights(c.names)
	scorer := scoring.Bind(testkit.Must(scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Weight: new(int64)}, SRA: &weights.config,
	}, c.m)), c.nodes)
	plugin := &volcanoPlugin{sraWeight: pluginWeight, sraTotal: weights.total, scarce: weights.volcano}
	prepareSRA(c, weights, plugin)
	return scored(s, s.elements(),
		func(dst []float64, k int) { testkit.Check(scorer.Score(dst, pods.amounts(k), nil)) },
		func(dst []float64, k int) { rowsSRA(dst, c.rows, pods.requests[k]) },
		func(dst []float64, k int) { plugin.sraAll(dst, pods.volcano[k], c.volcano) })
}

// newProportional reserves cpu and memory for idle GPUs and, where there are
// more columns, for idle devices of the next one. No pod asks for either.
func newProportional(s shape) *subject {
	const cores, gigabytes = 0.5, 2
	c := newCluster(102, s, mixed)
	pods := c.newPods(vectormap.CPU, vectormap.Memory, vectormap.Pods)
	config := scoring.ProportionalConfig{Proportion: map[string]float64{}}
	plugin := &volcanoPlugin{proportional: map[resourceName]volcanoRates{}}
	var reserves []rowReserve
	for _, j := range []int{vectormap.GPU, vectormap.Pods + 1} {
		if j < s.cols {
			name := c.names[j]
			config.Resources = append(config.Resources, string(name))
			config.Proportion[string(name)+".cpu"], config.Proportion[string(name)+".memory"] = cores, gigabytes
			plugin.proportional[name] = volcanoRates{cores * 1000, gigabytes * 1e9}
			reserves = append(reserves, rowReserve{j, cores * 1000, gigabytes * 1e9})
		}
	}
	filter := testkit.Must(scoring.CompileProportional(config, c.m))
	var got vector.Mask
	want, structGot := make([]bool, s.nodes), make([]bool, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: 2 * shape{s.nodes, s.cols, 2 + len(reserves)}.elements(),
		kernel:   func(k int) { testkit.Check(filter.Filter(&got, c.nodes, pods.requests[k], nil)) },
		rowloop:  func(k int) { rowsProportional(want, c.rows, pods.requests[k], reserves) },
		structmap: func(k int) {
			plugin.proportionalAll(structGot, pods.volcano[k], c.volcano)
		},
		check: func() error {
			return errors.Join(
				same("Proportional", s.nodes, got.Test, at(want)),
				same("structmap", s.nodes, at(structGot), at(want)))
		},
	}
}

// kubeSubject scores every column but pods, which kube-scheduler never scores.
func kubeSubject(kind scoring.ScoringType) func(shape) *subject {
	return func(s shape) *subject {
		c := newCluster(103, s, everything)
		pods := c.newPods(allColumns(s.cols)...)
		config, entries, rowEntries := kubeRules(kind, c.names)
		plugin := newKubePlugin(entries, kubeShape)
		scorer := scoring.Bind(testkit.Must(scoring.CompileKube(config, c.m)), c.nodes)
		rows, node := kubeLoops(kind)
		return scored(s, 2*shape{s.nodes, s.cols, len(entries)}.elements(),
			func(dst []int64, k int) { testkit.Check(scorer.ScorePercent(dst, pods.amounts(k), nil)) },
			func(dst []int64, k int) { rows(dst, c.ints, pods.ints[k], rowEntries) },
			func(dst []int64, k int) { plugin.all(dst, node, pods.kube[k], c.kube) })
	}
}

// kubeShape is the shape of RequestedToCapacityRatio, with scores up to 100.
var kubeShape = []kubePoint{{0, 0}, {80, 100}, {100, 50}}

// kubeRules makes the configuration in all forms.
func kubeRules(kind scoring.ScoringType, names []resourceName) (scoring.KubeConfig, []kubeEntry, []rowEntry) {
	config := scoring.KubeConfig{Type: kind}
	var entries []kubeEntry
	var rows []rowEntry
	for j, name := range names {
		weight := int64(1)
		if kind != scoring.BalancedAllocation {
			weight += int64(j % 3)
		}
		if name != "pods" {
			config.Resources = append(config.Resources, scoring.KubeResource{Name: string(name), Weight: weight})
			entries = append(entries, kubeEntry{name, weight})
			rows = append(rows, rowEntry{j, weight, isScalar(name)})
		}
	}
	if kind == scoring.RequestedToCapacityRatio {
		for _, p := range kubeShape {
			config.Shape = append(config.Shape, scoring.ShapePoint{Utilization: p.utilization, Score: p.score / 10})
		}
	}
	return config, entries, rows
}

// kubeLoops returns the row loop and the form with structs of a kind of score.
func kubeLoops(kind scoring.ScoringType) (rows func(dst []int64, nodes []*kubeRow, pod []int64, entries []rowEntry), node kubeScore) {
	switch kind {
	case scoring.LeastAllocated:
		return rowsKubeLeast, (*kubePlugin).least
	case scoring.BalancedAllocation:
		return rowsKubeBalanced, (*kubePlugin).balanced
	}
	return func(dst []int64, nodes []*kubeRow, pod []int64, entries []rowEntry) {
		rowsKubeRatio(dst, nodes, pod, entries, kubeShape)
	}, (*kubePlugin).ratio
}
