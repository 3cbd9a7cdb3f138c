package benchmarks

import "math"

// kubeResource is the data structure of kube-scheduler, framework.Resource
// (pkg/scheduler/framework/types.go): fields, and a map of the scalar resources.
type kubeResource struct {
	milliCPU, memory, ephemeralStorage int64
	scalars                            map[resourceName]int64
}

func newKubeResource(names []resourceName, row []float64) *kubeResource {
	r := &kubeResource{scalars: map[resourceName]int64{}}
	for j, x := range row {
		switch names[j] {
		case "cpu":
			r.milliCPU = int64(x)
		case "memory":
			r.memory = int64(x)
		case "ephemeral-storage":
			r.ephemeralStorage = int64(x)
		default:
			if x != 0 {
				r.scalars[names[j]] = int64(x)
			}
		}
	}
	return r
}

func (r *kubeResource) get(name resourceName) int64 {
	switch name {
	case "cpu":
		return r.milliCPU
	case "memory":
		return r.memory
	case "ephemeral-storage":
		return r.ephemeralStorage
	}
	return r.scalars[name]
}

// kubeNode is framework.NodeInfo, as far as scores need it.
type kubeNode struct{ allocatable, requested *kubeResource }

// kubeEntry is an item of the plugin's configuration, kubeschedulerconfig's
// ResourceSpec.
type kubeEntry struct {
	name   resourceName
	weight int64
}

// kubePlugin is the plugin's resourceAllocationScorer (noderesources): the
// configured resources, and for each node the amounts of those that count,
// collected before they are scored. kube-scheduler makes the lists anew for each
// node; here they are kept.
type kubePlugin struct {
	entries []kubeEntry
	shape   []kubePoint

	requested, used, allocatable, weights []int64
	fractions                             []float64
}

type kubePoint struct{ utilization, score int64 }

func newKubePlugin(entries []kubeEntry, shape []kubePoint) *kubePlugin {
	n := len(entries)
	return &kubePlugin{
		entries: entries, shape: shape,
		requested: make([]int64, 0, n), used: make([]int64, 0, n),
		allocatable: make([]int64, 0, n), weights: make([]int64, 0, n),
		fractions: make([]float64, 0, n),
	}
}

// collect fills the lists with the resources of one node that count.
func (p *kubePlugin) collect(pod *kubeResource, node *kubeNode) {
	p.requested, p.used, p.allocatable, p.weights = p.requested[:0], p.used[:0], p.allocatable[:0], p.weights[:0]
	for _, e := range p.entries {
		amount := pod.get(e.name)
		if amount == 0 && isScalar(e.name) {
			continue
		}
		allocatable := node.allocatable.get(e.name)
		if allocatable == 0 {
			continue
		}
		used := node.requested.get(e.name)
		p.requested = append(p.requested, used+amount)
		p.used = append(p.used, used)
		p.allocatable = append(p.allocatable, allocatable)
		p.weights = append(p.weights, e.weight)
	}
}

// isScalar reports whether a resource is scored only if it is requested.
func isScalar(name resourceName) bool {
	return name != "cpu" && name != "memory" && name != "ephemeral-storage"
}

func (p *kubePlugin) least(pod *kubeResource, node *kubeNode) int64 {
	p.collect(pod, node)
	var score, weights int64
	for i, a := range p.allocatable {
		if x := p.requested[i]; x <= a {
			score += (a - x) * 100 / a * p.weights[i]
		}
		weights += p.weights[i]
	}
	if weights == 0 {
		return 0
	}
	return score / weights
}

func (p *kubePlugin) ratio(pod *kubeResource, node *kubeNode) int64 {
	p.collect(pod, node)
	var score, weights int64
	for i, a := range p.allocatable {
		if s := utilizationScore(p.shape, p.requested[i], a); s > 0 {
			score += s * p.weights[i]
			weights += p.weights[i]
		}
	}
	if weights == 0 {
		return 0
	}
	return int64(math.Round(float64(score) / float64(weights)))
}

// utilizationScore is the broken line of RequestedToCapacityRatio.
func utilizationScore(shape []kubePoint, requested, allocatable int64) int64 {
	utilization := int64(100)
	if requested <= allocatable {
		utilization = requested * 100 / allocatable
	}
	for i, to := range shape {
		if utilization <= to.utilization {
			if i == 0 {
				return to.score
			}
			from := shape[i-1]
			return from.score + (to.score-from.score)*(utilization-from.utilization)/(to.utilization-from.utilization)
		}
	}
	return shape[len(shape)-1].score
}

func (p *kubePlugin) balanced(pod *kubeResource, node *kubeNode) int64 {
	p.collect(pod, node)
	after := p.balance(p.requested)
	before := p.balance(p.used)
	return 50 + (50+after-before)/2
}

func (p *kubePlugin) balance(amounts []int64) int64 {
	p.fractions = p.fractions[:0]
	for i, a := range p.allocatable {
		p.fractions = append(p.fractions, min(1, float64(amounts[i])/float64(a)))
	}
	return balanceOf(p.fractions)
}

// balanceOf scores how even the fractions are: by their standard deviation.
func balanceOf(fractions []float64) int64 {
	deviation := 0.0
	switch n := float64(len(fractions)); n {
	case 0, 1:
		return 0
	case 2:
		deviation = math.Abs(fractions[0]-fractions[1]) / 2
	default:
		total := 0.0
		for _, f := range fractions {
			total += f
		}
		mean, sum := total/n, 0.0
		for _, f := range fractions {
			sum += float64((f - mean) * (f - mean)) // rounded, on every architecture
		}
		deviation = math.Sqrt(sum / n)
	}
	return int64((1 - deviation) * 100)
}

// kubeScore is one of the plugin's scores of a node.
type kubeScore func(p *kubePlugin, pod *kubeResource, node *kubeNode) int64

func (p *kubePlugin) all(dst []int64, score kubeScore, pod *kubeResource, nodes []*kubeNode) {
	for i, n := range nodes {
		dst[i] = score(p, pod, n)
	}
}

// kubeRow is a node as a row loop keeps it: a slice of whole amounts per kind.
type kubeRow struct{ allocatable, requested []int64 }

// rowEntry is an item of the configuration with the column that it names.
type rowEntry struct {
	column int
	weight int64
	scalar bool
}

func (e rowEntry) counts(pod, allocatable []int64) bool {
	return allocatable[e.column] != 0 && (!e.scalar || pod[e.column] != 0)
}

func rowsKubeLeast(dst []int64, nodes []*kubeRow, pod []int64, entries []rowEntry) {
	for i, n := range nodes {
		var score, weights int64
		for _, e := range entries {
			if !e.counts(pod, n.allocatable) {
				continue
			}
			if x, a := n.requested[e.column]+pod[e.column], n.allocatable[e.column]; x <= a {
				score += (a - x) * 100 / a * e.weight
			}
			weights += e.weight
		}
		dst[i] = 0
		if weights > 0 {
			dst[i] = score / weights
		}
	}
}

func rowsKubeRatio(dst []int64, nodes []*kubeRow, pod []int64, entries []rowEntry, shape []kubePoint) {
	for i, n := range nodes {
		var score, weights int64
		for _, e := range entries {
			if !e.counts(pod, n.allocatable) {
				continue
			}
			if s := utilizationScore(shape, n.requested[e.column]+pod[e.column], n.allocatable[e.column]); s > 0 {
				score += s * e.weight
				weights += e.weight
			}
		}
		dst[i] = 0
		if weights > 0 {
			dst[i] = int64(math.Round(float64(score) / float64(weights)))
		}
	}
}

func rowsKubeBalanced(dst []int64, nodes []*kubeRow, pod []int64, entries []rowEntry) {
	var after, before [16]float64
	for i, n := range nodes {
		k := 0
		for _, e := range entries {
			if !e.counts(pod, n.allocatable) {
				continue
			}
			a, u := float64(n.allocatable[e.column]), n.requested[e.column]
			after[k] = min(1, float64(u+pod[e.column])/a)
			before[k] = min(1, float64(u)/a)
			k++
		}
		dst[i] = 50 + (50+balanceOf(after[:k])-balanceOf(before[:k]))/2
	}
}
