package gpu_test

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// goldenNode is a node of the golden models of the GPU scorers, which follow the
// definitions one by one.
type goldenNode struct {
	cpu   float64
	left  []float64
	model int32
	pods  map[int]int32 // by class
}

// node returns the node as the library takes it.
func (n goldenNode) node() gpu.Node {
	pods := make([]int32, len(n.left)+1)
	for class, count := range n.pods {
		pods[class] = count
	}
	return gpu.Node{Model: n.model, Left: n.left, Pods: pods}
}

// nodesOf returns nodes with this much CPU left.
func nodesOf(cpuLeft []float64) *vector.Nodes {
	nodes := vector.NewNodes(vector.Schema{}, 1)
	for i, cpu := range cpuLeft {
		if _, _, err := nodes.Set(strconv.Itoa(i), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{cpu}}); err != nil {
			panic(err)
		}
	}
	return nodes
}

func (n goldenNode) canHost(q gpu.Request) bool {
	return n.cpu >= q.CPU && n.able(q.Count, q.Milli, q.Models)
}

// able reports whether the devices can host a pod.
func (n goldenNode) able(count int, milli float64, models []int32) bool {
	if count == 0 {
		return true
	}
	if len(models) > 0 && (n.model < 0 || !slices.Contains(models, n.model)) {
		return false
	}
	return len(n.fitting(milli)) >= count
}

// fitting returns the devices with enough left.
func (n goldenNode) fitting(milli float64) []int32 {
	var list []int32
	for d, x := range n.left {
		if x >= milli {
			list = append(list, int32(d))
		}
	}
	return list
}

func (n goldenNode) total() float64 {
	sum := 0.0
	for _, x := range n.left {
		sum += x
	}
	return sum
}

// tightest returns the devices that a pod gets by tightest fit.
func (n goldenNode) tightest(q gpu.Request) []int32 {
	list := n.fitting(q.Milli)
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(n.left[a], n.left[b]) })
	return list[:q.Count]
}

// after returns the node with a pod on these devices.
func (n goldenNode) after(q gpu.Request, devices []int32) goldenNode {
	n.cpu -= q.CPU
	n.left = slices.Clone(n.left)
	for _, d := range devices {
		n.left[d] -= q.Milli
	}
	return n
}

// phi is the sum of weight times f over the kinds.
func (n goldenNode) phi(typical *gpu.Typical, weight func(p gpu.TypicalPod) float64) float64 {
	sum := 0.0
	for _, m := range typical.Pods() {
		f := n.total()
		if m.Count > 0 && n.cpu >= m.CPU && n.able(m.Count, m.Milli, m.Models) {
			f = 0
			for _, x := range n.left {
				if x < m.Milli {
					f += x
				}
			}
		}
		sum += float64(weight(m) * f)
	}
	return sum
}

// goldenFGD is FGD for kinds that have either numbers of pods or weights.
type goldenFGD struct {
	typical *gpu.Typical
	counted bool
	exact   bool
}

func (g goldenFGD) score(n goldenNode, q gpu.Request) (float64, []int32) {
	if !n.canHost(q) {
		return 0, nil
	}
	if q.Count != 1 || q.Milli >= 1000 {
		devices := n.tightest(q)
		return g.points(n, n.after(q, devices)), devices
	}
	best, device := math.Inf(-1), int32(-1)
	for _, d := range n.fitting(q.Milli) {
		if s := g.points(n, n.after(q, []int32{d})); s > best {
			best, device = s, d
		}
	}
	return best, []int32{device}
}

func (g goldenFGD) points(before, after goldenNode) float64 {
	weight, n := func(p gpu.TypicalPod) float64 { return p.Weight }, 1.0
	if g.counted {
		weight, n = func(p gpu.TypicalPod) float64 { return float64(p.Pods) }, 0
		for _, p := range g.typical.Pods() {
			n += float64(p.Pods)
		}
		n = max(n, 1)
	}
	d := (before.phi(g.typical, weight) - after.phi(g.typical, weight)) / n / 1000
	score := 100 / (1 + gpu.Exp(-d))
	if g.exact {
		return score
	}
	return math.Trunc(score)
}

func goldenDotProduct(n goldenNode, q gpu.Request, size gpu.NodeSize) float64 {
	if !n.canHost(q) {
		return 0
	}
	cpu := (n.cpu / size.CPU) * (q.CPU / size.CPU)
	gpu := (n.total() / size.GPU) * (float64(q.Count) * q.Milli / size.GPU)
	sum := float64(cpu) + float64(gpu)
	return math.Trunc(100 * (1 - sum/2))
}

func goldenBestFit(n goldenNode, q gpu.Request, size gpu.NodeSize) float64 {
	if !n.canHost(q) {
		return 0
	}
	request := float64(q.Count) * q.Milli
	cpu := (n.cpu - q.CPU) / size.CPU * 0.5
	gpu := (n.total() - float64(request)) / size.GPU * 0.5
	sum := float64(cpu) + float64(gpu)
	return math.Trunc((1 - sum) * 100)
}

// goldenNormalize spreads the scores of the nodes that can host the pod.
func goldenNormalize(scores []float64, feasible []bool) {
	var list []float64
	for i, x := range scores {
		if feasible[i] {
			list = append(list, x)
		}
	}
	for i, x := range scores {
		if !feasible[i] {
			continue
		}
		least, greatest := slices.Min(list), slices.Max(list)
		if scores[i] = 0; greatest > least {
			scores[i] = math.Trunc((x - least) * 100 / (greatest - least))
		}
	}
}

func goldenPacking(n goldenNode, q gpu.Request) float64 {
	if q.Count == 0 || !n.canHost(q) {
		return 0
	}
	if idle := len(n.fitting(1000)); idle == len(n.left) {
		return max(33-float64(idle), float64(idle))
	}
	idle, sum := 0, 0
	for _, d := range n.tightest(q) {
		if n.left[d] == 1000 {
			idle++
		}
		sum += int(n.left[d] * 100 / 1000)
	}
	if idle > 0 {
		return max(50-float64(idle), 33)
	}
	return float64(max(100-sum/10, 50))
}

func goldenClustering(n goldenNode, q gpu.Request, size float64) float64 {
	if q.Count == 0 || !n.canHost(q) {
		return 0
	}
	score := math.Trunc(25 * max(0, size-n.total()) / size)
	class := q.Count
	if q.Count == 1 && q.Milli < 1000 {
		class = 0
	}
	others := false
	for c, pods := range n.pods {
		others = others || c != class && pods > 0
	}
	switch holds := n.pods[class] > 0; {
	case holds && !others:
		return score + 75
	case holds:
		return score + 50
	case !others:
		return score + 25
	}
	return score
}
