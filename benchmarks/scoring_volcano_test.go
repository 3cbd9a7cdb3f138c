package benchmarks

import "math"

// The scorers of package scoring as a scheduler computes them node after node,
// on the structs and maps that it keeps. All of it preallocates, leaves a node
// as soon as its answer is known, and finds names, rules and requests prepared.

// resourceName is a map key as in the Kubernetes API: v1.ResourceName.
type resourceName string

// volcanoResource is the data structure of Volcano, api.Resource
// (pkg/scheduler/api/resource_info.go): two fields, and a map of the scalar
// resources. Amounts are in the units of the columns, so that both sides
// compute with the same numbers.
type volcanoResource struct {
	milliCPU, memory float64
	scalars          map[resourceName]float64
}

func newVolcanoResource(names []resourceName, row []float64) *volcanoResource {
	r := &volcanoResource{scalars: map[resourceName]float64{}}
	for j, x := range row {
		switch names[j] {
		case "cpu":
			r.milliCPU = x
		case "memory":
			r.memory = x
		default:
			if x != 0 {
				r.scalars[names[j]] = x
			}
		}
	}
	return r
}

// get is Resource.Get.
func (r *volcanoResource) get(name resourceName) float64 {
	switch name {
	case "cpu":
		return r.milliCPU
	case "memory":
		return r.memory
	}
	return r.scalars[name]
}

// fits is Resource.LessEqual with absent amounts as 0, in the order that fails
// first: fields, then the map.
func (r *volcanoResource) fits(idle *volcanoResource) bool {
	if r.milliCPU > idle.milliCPU || r.memory > idle.memory {
		return false
	}
	for name, x := range r.scalars {
		if x > idle.scalars[name] {
			return false
		}
	}
	return true
}

// volcanoNode is api.NodeInfo, as far as scores need it.
type volcanoNode struct {
	name                    string
	allocatable, used, idle *volcanoResource
	sra                     float64 // see prepareSRA
}

// volcanoTask is api.TaskInfo: the request, and the names in it.
type volcanoTask struct {
	request *volcanoResource
	names   []resourceName
}

func newVolcanoTask(names []resourceName, request []float64) *volcanoTask {
	t := &volcanoTask{request: newVolcanoResource(names, request)}
	for j, x := range request {
		if x > 0 {
			t.names = append(t.names, names[j])
		}
	}
	return t
}

// volcanoRule is what the plugin resource-strategy-fit keeps for a resource.
type volcanoRule struct {
	kind   string
	weight int
}

// volcanoPlugin is the configuration of the plugin resource-strategy-fit and of
// the sra and proportional policies as well: maps by name.
type volcanoPlugin struct {
	weight    int
	resources map[resourceName]volcanoRule

	sraWeight, sraTotal int
	scarce              map[resourceName]int

	proportional map[resourceName]volcanoRates
}

// volcanoRates is what an idle device reserves of cpu and memory, in their
// units.
type volcanoRates struct{ cpu, memory float64 }

// fit scores one node, resource after resource of the request.
func (p *volcanoPlugin) fit(task *volcanoTask, node *volcanoNode) float64 {
	score, weights := 0.0, 0
	for _, name := range task.names {
		rule, ok := p.resources[name]
		if !ok {
			continue
		}
		weights += rule.weight
		allocatable := node.allocatable.get(name)
		if allocatable == 0 {
			continue
		}
		sum := task.request.get(name) + node.used.get(name)
		if sum > allocatable {
			return 0
		}
		switch rule.kind {
		case "MostAllocated":
			score += sum * float64(rule.weight) / allocatable
		case "LeastAllocated":
			score += (allocatable - sum) * float64(rule.weight) / allocatable
		}
	}
	if weights == 0 {
		return 0
	}
	return score / float64(weights) * float64(100*p.weight)
}

// sra scores one node: 0 unless it has everything.
func (p *volcanoPlugin) sra(task *volcanoTask, node *volcanoNode) float64 {
	for _, name := range task.names {
		if node.allocatable.get(name) <= 0 {
			return 0
		}
	}
	return node.sra
}

// absent scores one node by what it lacks.
func (p *volcanoPlugin) absent(node *volcanoNode) float64 {
	absent := 0
	for name, weight := range p.scarce {
		if node.allocatable.get(name) <= 0 {
			absent += weight
		}
	}
	return float64(100*p.sraWeight*absent) / float64(p.sraTotal)
}

// proportionalFits checks one node: whether what its idle devices reserve stays
// free.
func (p *volcanoPlugin) proportionalFits(task *volcanoTask, node *volcanoNode) bool {
	for name := range p.proportional {
		if task.request.scalars[name] > 0 {
			return true
		}
	}
	for name, rates := range p.proportional {
		devices := node.allocatable.scalars[name]
		if devices <= 0 {
			continue
		}
		idle := max(0, devices-node.used.scalars[name])
		if node.allocatable.milliCPU-node.used.milliCPU-task.request.milliCPU < idle*rates.cpu ||
			node.allocatable.memory-node.used.memory-task.request.memory < idle*rates.memory {
			return false
		}
	}
	return true
}

func (p *volcanoPlugin) fitAll(dst []float64, task *volcanoTask, nodes []*volcanoNode) {
	for i, n := range nodes {
		dst[i] = p.fit(task, n)
	}
}

func (p *volcanoPlugin) sraAll(dst []float64, task *volcanoTask, nodes []*volcanoNode) {
	for i, n := range nodes {
		dst[i] = p.sra(task, n)
	}
}

func (p *volcanoPlugin) proportionalAll(dst []bool, task *volcanoTask, nodes []*volcanoNode) {
	for i, n := range nodes {
		dst[i] = p.proportionalFits(task, n)
	}
}

// decide is a whole decision, with the data structures that PredicateNodes,
// PrioritizeNodes and SelectBestNodeAndScore (pkg/scheduler/util) hand to each
// other: the list of the nodes that fit, their scores by name, and from those the
// nodes by score, of which it takes the first with the greatest. Lists and maps
// are kept from decision to decision. It returns nil when nothing fits.
func (v *volcanoScheduler) decide(task *volcanoTask) *volcanoNode {
	v.feasible = v.feasible[:0]
	for _, n := range v.nodes {
		if task.request.fits(n.idle) {
			v.feasible = append(v.feasible, n)
		}
	}
	clear(v.byName)
	for _, n := range v.feasible {
		v.byName[n.name] = v.plugin.fit(task, n) + v.plugin.sra(task, n)
	}
	clear(v.byScore)
	for _, n := range v.feasible {
		score := v.byName[n.name]
		list, ok := v.byScore[score]
		if !ok {
			list = v.newList()
			v.byScore[score] = list
		}
		v.lists[list] = append(v.lists[list], n)
	}
	var best *volcanoNode
	most := math.Inf(-1)
	for score, list := range v.byScore {
		if score > most {
			best, most = v.lists[list][0], score
		}
	}
	return best
}

// newList returns the number of an empty list, whose memory an earlier decision
// has used.
func (v *volcanoScheduler) newList() int {
	k := len(v.byScore)
	if k == len(v.lists) {
		v.lists = append(v.lists, nil)
	}
	v.lists[k] = v.lists[k][:0]
	return k
}

// volcanoScheduler is a session of Volcano, as far as one decision needs it.
type volcanoScheduler struct {
	plugin   *volcanoPlugin
	nodes    []*volcanoNode
	feasible []*volcanoNode
	byName   map[string]float64
	byScore  map[float64]int // numbers of lists
	lists    [][]*volcanoNode
}

func newVolcanoScheduler(plugin *volcanoPlugin, nodes []*volcanoNode) *volcanoScheduler {
	return &volcanoScheduler{
		plugin: plugin, nodes: nodes,
		feasible: make([]*volcanoNode, 0, len(nodes)),
		byName:   make(map[string]float64, len(nodes)),
		byScore:  map[float64]int{},
	}
}

// decideInOnePass is decide without lists and maps of scores.
func (p *volcanoPlugin) decideInOnePass(task *volcanoTask, nodes []*volcanoNode) *volcanoNode {
	var best *volcanoNode
	most := math.Inf(-1)
	for _, n := range nodes {
		if !task.request.fits(n.idle) {
			continue
		}
		if score := p.fit(task, n) + p.sra(task, n); score > most {
			best, most = n, score
		}
	}
	return best
}
