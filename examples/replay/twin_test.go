package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// The golden model of the replay: a loop over structs with whole numbers that
// keeps nothing but the nodes, and knows nothing of the library.

// A twinNode is what is left of a node.
type twinNode struct {
	cpu, memory, total int64 // total is of the devices
	free               []int64
	idle               int
	pods               int
	model              string
	allowed            []bool        // per typical pod: it may use the model
	classes            map[int64]int // pods per class
}

// A twinPod is a typical pod.
type twinPod struct {
	podShape
	count int64
}

// A twin places pods one after the other.
type twin struct {
	policy         string
	nodes          []twinNode // canonical
	order          []int32    // canonical nodes by rank
	typical        []twinPod
	weight         int64 // of all typical pods
	mostCPU, mostG int64
	random         *rand.Rand
	redraw         bool // -ties random
}

func newTwin(tr *trace, policy string, seed int64, rule ties) *twin {
	w := &twin{policy: policy, typical: twinTypical(tr), mostCPU: 128000, mostG: 8000,
		random: rand.New(rand.NewPCG(uint64(seed), 3)), redraw: rule == tiesRandom}
	for _, m := range w.typical {
		w.weight += m.count
	}
	models := map[string][]bool{}
	for _, shape := range tr.nodes {
		if models[shape.model] == nil {
			for _, m := range w.typical {
				models[shape.model] = append(models[shape.model], twinAllowed(shape.model, m.spec))
			}
		}
		w.nodes = append(w.nodes, twinNode{
			cpu: shape.cpuMilli, memory: shape.memoryMiB, total: shape.gpus * 1000, model: shape.model, idle: int(shape.gpus),
			free: slices.Repeat([]int64{1000}, int(shape.gpus)), allowed: models[shape.model], classes: map[int64]int{},
		})
		w.mostCPU = max(w.mostCPU, shape.cpuMilli)
		w.mostG = max(w.mostG, shape.gpus*1000)
	}
	ranks := rand.New(rand.NewPCG(uint64(seed), 2)).Perm(len(tr.nodes))
	if rule == tiesShape {
		slices.Sort(ranks)
	}
	w.order = make([]int32, len(ranks))
	for node, rank := range ranks {
		w.order[rank] = int32(node)
	}
	return w
}

// twinAllowed reports whether a model satisfies a spec.
func twinAllowed(model, spec string) bool {
	return spec == "" || model != "" && slices.Contains(strings.Split(spec, "|"), model)
}

// twinTypical returns the typical pods of a list.
func twinTypical(tr *trace) []twinPod {
	counts := map[podShape]int64{}
	for _, id := range tr.pods {
		shape := tr.requests[id]
		shape.memoryMiB = 0
		counts[shape]++
	}
	var all []twinPod
	for shape, n := range counts {
		all = append(all, twinPod{shape, n})
	}
	slices.SortFunc(all, func(a, b twinPod) int {
		return -cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.cpuMilli, b.cpuMilli), cmp.Compare(a.gpuMilli, b.gpuMilli),
			cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.spec, b.spec))
	})
	reached := int64(0)
	for i, m := range all {
		if reached += m.count; 100*reached >= 95*int64(len(tr.pods)) {
			return all[:i+1]
		}
	}
	return all
}

func (n *twinNode) hosts(p podShape) bool {
	if p.cpuMilli > n.cpu || p.memoryMiB > n.memory || n.pods >= 1001 {
		return false
	}
	if p.gpus == 0 {
		return true
	}
	return twinAllowed(n.model, p.spec) && n.fitting(p.gpuMilli) >= p.gpus
}

// fitting returns how many devices have so much left.
func (n *twinNode) fitting(milli int64) (count int64) {
	for _, free := range n.free {
		if free >= milli {
			count++
		}
	}
	return count
}

// phi returns the weighted fragments of a node with so much CPU.
func (w *twin) phi(n *twinNode, cpu int64) (sum int64) {
	for i := range w.typical {
		m := &w.typical[i]
		f := n.total
		if m.gpus > 0 && n.allowed[i] && cpu >= m.cpuMilli {
			count, crumbs := int64(0), int64(0)
			for _, free := range n.free {
				if free >= m.gpuMilli {
					count++
				} else {
					crumbs += free
				}
			}
			if count >= m.gpus {
				f = crumbs
			}
		}
		sum += m.count * f
	}
	return sum
}

// fgd returns the score of a node and the devices that give it.
func (w *twin) fgd(n *twinNode, p podShape) (best int64, devices []int32) {
	before := w.phi(n, n.cpu)
	after := func(devices []int32) int64 {
		for _, j := range devices {
			n.free[j] -= p.gpuMilli
			n.total -= p.gpuMilli
		}
		x := w.phi(n, n.cpu-p.cpuMilli)
		for _, j := range devices {
			n.free[j] += p.gpuMilli
			n.total += p.gpuMilli
		}
		return int64(100 / (1 + math.Exp(-(float64(before-x)/float64(w.weight))/1000)))
	}
	if p.gpus != 1 || p.gpuMilli == 1000 {
		devices = n.tightest(p)
		return after(devices), devices
	}
	best = -1
	for j, free := range n.free {
		if free >= p.gpuMilli {
			if score := after([]int32{int32(j)}); score > best {
				best, devices = score, []int32{int32(j)}
			}
		}
	}
	return best, devices
}

// tightest returns the fitting devices with the least left.
func (n *twinNode) tightest(p podShape) (devices []int32) {
	for j, free := range n.free {
		if p.gpus > 0 && free >= p.gpuMilli {
			devices = append(devices, int32(j))
		}
	}
	slices.SortStableFunc(devices, func(a, b int32) int { return cmp.Compare(n.free[a], n.free[b]) })
	return devices[:p.gpus]
}

// class returns the class of a pod: 0 for a share.
func (p podShape) class() int64 {
	if p.gpus == 1 && p.gpuMilli < 1000 {
		return 0
	}
	return p.gpus
}

func (w *twin) score(n *twinNode, p podShape) int64 {
	switch w.policy {
	case "BestFit":
		cpu := float64(float64(n.cpu-p.cpuMilli)/float64(w.mostCPU)) * 0.5
		gpu := float64(float64(n.total-p.totalMilli())/float64(w.mostG)) * 0.5
		return int64((1 - (cpu + gpu)) * 100)
	case "DotProd":
		cpu := float64(float64(n.cpu)/float64(w.mostCPU)) * float64(float64(p.cpuMilli)/float64(w.mostCPU))
		gpu := float64(float64(n.total)/float64(w.mostG)) * float64(float64(p.totalMilli())/float64(w.mostG))
		return int64(100 * (1 - (float64(cpu)+float64(gpu))/2))
	case "GpuPacking":
		return n.packing(p)
	case "GpuClustering":
		return n.clustering(p, w.mostG)
	case "FGD":
		score, _ := w.fgd(n, p)
		return score
	}
	return 0
}

func (n *twinNode) packing(p podShape) int64 {
	if p.gpus == 0 {
		return 0
	}
	if n.idle == len(n.free) {
		return int64(max(33-n.idle, n.idle))
	}
	idle, left := int64(0), int64(0)
	for _, j := range n.tightest(p) {
		if n.free[j] == 1000 {
			idle++
		}
		left += 100 * n.free[j] / 1000
	}
	if idle > 0 {
		return max(50-idle, 33)
	}
	return max(100-left/10, 50)
}

func (n *twinNode) clustering(p podShape, mostG int64) int64 {
	if p.gpus == 0 {
		return 0
	}
	same, others := false, false
	for class, count := range n.classes {
		if count > 0 {
			same = same || class == p.class()
			others = others || class != p.class()
		}
	}
	base := 25 * (mostG - n.total) / mostG
	switch {
	case same && !others:
		return base + 75
	case same:
		return base + 50
	case !others:
		return base + 25
	}
	return base
}

// place returns the node and the devices of a pod, -1 when none takes it.
func (w *twin) place(p podShape) (node int, devices []int32) {
	var feasible []int32
	node, best, tied := -1, int64(-1), 0
	for _, i := range w.order {
		n := &w.nodes[i]
		if !n.hosts(p) {
			continue
		}
		feasible = append(feasible, i)
		switch s := w.score(n, p); {
		case s > best:
			node, best, tied = int(i), s, 1
		case s == best && w.redraw && w.policy != "Random":
			if tied++; w.random.IntN(tied) == 0 {
				node = int(i)
			}
		}
	}
	if node < 0 {
		return -1, nil
	}
	if w.policy == "Random" {
		node = int(feasible[w.random.IntN(len(feasible))])
	}
	n := &w.nodes[node]
	devices = w.devices(n, p)
	n.take(p, devices)
	return node, devices
}

func (w *twin) devices(n *twinNode, p podShape) []int32 {
	switch {
	case w.policy == "FGD":
		_, devices := w.fgd(n, p)
		return devices
	case w.policy == "Random" && p.gpus == 1 && p.gpuMilli < 1000:
		var fitting []int32
		for j, free := range n.free {
			if free >= p.gpuMilli {
				fitting = append(fitting, int32(j))
			}
		}
		return []int32{fitting[w.random.IntN(len(fitting))]}
	}
	return n.tightest(p)
}

func (n *twinNode) take(p podShape, devices []int32) {
	n.cpu -= p.cpuMilli
	n.memory -= p.memoryMiB
	n.total -= p.totalMilli()
	n.pods++
	if p.gpus > 0 {
		n.classes[p.class()]++
	}
	for _, j := range devices {
		if n.free[j] == 1000 {
			n.idle--
		}
		n.free[j] -= p.gpuMilli
	}
}
