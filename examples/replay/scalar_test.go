package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A scalar is the replay as one would write it without the library: one thread,
// a struct per node, which keeps its score for every request until it changes.
// Everything is allocated before the first decision. It is what the benchmark
// measures the library against, so it does no work that the decisions don't
// take.
type scalar struct {
	policy   string
	nodes    []scalarNode // by rank
	requests []scalarRequest
	typical  []scalarTypical
	weight   int64
	feasible []int32 // scratch space of Random
	random   *rand.Rand
	phi      int64 // of all nodes
}

type scalarNode struct {
	cpu, memory, total int64
	phi                int64
	version            uint32
	pods               int32
	model              int32
	devices, idle      int32
	free               [8]int32
	classes            [9]int32
	kept               []scalarScore // by request
}

type scalarRequest struct {
	cpu, memory, total int64
	devices, milli     int32
	allowed            []bool // by model; nil: all
}

type scalarTypical struct {
	scalarRequest
	count int64
}

type scalarScore struct {
	version uint32
	score   int16 // -1: the node cannot host it
	device  int16 // of a share under FGD
}

const scalarNever = math.MaxUint32

// newScalar returns a replay of a trace whose nodes have eight devices at most
// and no more CPU or GPUs than openb's.
func newScalar(tr *trace, policy string, seed int64) *scalar {
	models := map[string]int32{}
	for _, node := range tr.nodes {
		if _, ok := models[node.model]; !ok {
			models[node.model] = int32(len(models))
		}
	}
	request := func(p podShape) scalarRequest {
		r := scalarRequest{cpu: p.cpuMilli, memory: p.memoryMiB, total: p.totalMilli(), devices: int32(p.gpus), milli: int32(p.gpuMilli)}
		if p.gpus > 0 && p.spec != "" {
			r.allowed = make([]bool, len(models))
			for name, model := range models {
				r.allowed[model] = twinAllowed(name, p.spec)
			}
		}
		return r
	}
	s := &scalar{
		policy:   policy,
		nodes:    make([]scalarNode, len(tr.nodes)),
		feasible: make([]int32, 0, len(tr.nodes)),
		random:   stream(seed, streamPolicy),
	}
	for _, m := range twinTypical(tr) {
		s.typical = append(s.typical, scalarTypical{request(m.podShape), m.count})
		s.weight += m.count
	}
	for rank, node := range tr.nodeOrder(seed) {
		shape := tr.nodes[node]
		n := &s.nodes[rank]
		*n = scalarNode{cpu: shape.cpuMilli, memory: shape.memoryMiB, total: shape.gpus * wholeGPU,
			model: models[shape.model], devices: int32(shape.gpus), idle: int32(shape.gpus)}
		for j := range shape.gpus {
			n.free[j] = wholeGPU
		}
		n.phi = s.fragments(n, n.cpu)
		s.phi += n.phi
		n.kept = slices.Repeat([]scalarScore{{version: scalarNever}}, len(tr.requests))
	}
	for _, p := range tr.requests {
		s.requests = append(s.requests, request(p))
	}
	return s
}

// place places a pod and returns the rank of its node, -1 when none takes it,
// and its first device, -1 when it has none.
func (s *scalar) place(id int32) (rank, device int) {
	r := &s.requests[id]
	rank = -1
	if s.policy == "Random" {
		rank = s.draw(id)
	} else {
		best := int16(-1)
		for i := range s.nodes {
			if k := s.score(&s.nodes[i], id); k.score > best {
				best, rank = k.score, i
			}
		}
	}
	if rank < 0 {
		return -1, -1
	}
	n := &s.nodes[rank]
	return rank, s.take(n, r, &n.kept[id])
}

// draw returns one of the nodes that can host a request.
func (s *scalar) draw(id int32) int {
	s.feasible = s.feasible[:0]
	for i := range s.nodes {
		if s.score(&s.nodes[i], id).score >= 0 {
			s.feasible = append(s.feasible, int32(i))
		}
	}
	if len(s.feasible) == 0 {
		return -1
	}
	return int(s.feasible[s.random.IntN(len(s.feasible))])
}

// score returns the score of a node for a request, as kept or as it is now.
func (s *scalar) score(n *scalarNode, id int32) *scalarScore {
	k := &n.kept[id]
	if k.version != n.version {
		s.rescore(k, n, &s.requests[id])
	}
	return k
}

func (s *scalar) rescore(k *scalarScore, n *scalarNode, r *scalarRequest) {
	*k = scalarScore{version: n.version, score: -1, device: -1}
	if !n.hosts(r) {
		return
	}
	switch s.policy {
	case "Random":
		k.score = 0
	case "BestFit":
		k.score = int16((25_600_000 - 100*(n.cpu-r.cpu) - 1600*(n.total-r.total)) / 256_000)
	case "DotProd":
		const m = 128_000 * 128_000
		k.score = int16((200*m - 100*(n.cpu*r.cpu+256*n.total*r.total)) / (2 * m))
	case "GpuPacking":
		k.score = n.packing(r)
	case "GpuClustering":
		k.score = n.clustering(r)
	case "FGD":
		s.descend(k, n, r)
	}
}

func (n *scalarNode) hosts(r *scalarRequest) bool {
	if n.cpu < r.cpu || n.memory < r.memory || n.pods >= podsPerNode {
		return false
	}
	if r.devices == 0 {
		return true
	}
	if r.allowed != nil && !r.allowed[n.model] {
		return false
	}
	fitting := int32(0)
	for _, free := range n.free[:n.devices] {
		if free >= r.milli {
			fitting++
		}
	}
	return fitting >= r.devices
}

// fragments returns the weighted fragments of a node with so much CPU.
func (s *scalar) fragments(n *scalarNode, cpu int64) (sum int64) {
	for i := range s.typical {
		m := &s.typical[i]
		if m.devices == 0 || cpu < m.cpu || m.allowed != nil && !m.allowed[n.model] {
			sum += m.count * n.total
			continue
		}
		fitting, crumbs := int32(0), int64(0)
		for _, free := range n.free[:n.devices] {
			if free >= m.milli {
				fitting++
			} else {
				crumbs += int64(free)
			}
		}
		if fitting < m.devices {
			crumbs = n.total
		}
		sum += m.count * crumbs
	}
	return sum
}

// descend scores a node by how much less fragmented it gets.
func (s *scalar) descend(k *scalarScore, n *scalarNode, r *scalarRequest) {
	after := *n
	after.total -= r.total
	score := func() int16 {
		less := float64(n.phi-s.fragments(&after, n.cpu-r.cpu)) / float64(s.weight)
		return int16(100 / (1 + math.Exp(-less/1000)))
	}
	if r.devices != 1 || r.milli == wholeGPU {
		taken := int32(0)
		for j := range after.free[:n.devices] {
			if taken < r.devices && after.free[j] == wholeGPU {
				after.free[j] = 0
				taken++
			}
		}
		k.score = score()
		return
	}
	for j := range after.free[:n.devices] {
		if after.free[j] < r.milli {
			continue
		}
		after.free[j] -= r.milli
		if x := score(); x > k.score {
			k.score, k.device = x, int16(j)
		}
		after.free[j] += r.milli
	}
}

// tightest returns the fitting device with the least left.
func (n *scalarNode) tightest(milli int32) int {
	best := -1
	for j, free := range n.free[:n.devices] {
		if free >= milli && (best < 0 || free < n.free[best]) {
			best = j
		}
	}
	return best
}

func (n *scalarNode) packing(r *scalarRequest) int16 {
	switch {
	case r.devices == 0:
		return 0
	case n.idle == n.devices:
		return int16(max(33-n.devices, n.devices))
	case r.milli == wholeGPU:
		return int16(max(50-r.devices, 33))
	}
	left := n.free[n.tightest(r.milli)]
	if left == wholeGPU {
		return 49
	}
	return int16(max(100-left*100/wholeGPU/10, 50))
}

func (n *scalarNode) clustering(r *scalarRequest) int16 {
	if r.devices == 0 {
		return 0
	}
	same, others := false, false
	for class, pods := range n.classes {
		if pods > 0 {
			same = same || int32(class) == r.class()
			others = others || int32(class) != r.class()
		}
	}
	score := int16(25 * (8000 - n.total) / 8000)
	switch {
	case same && !others:
		score += 75
	case same:
		score += 50
	case !others:
		score += 25
	}
	return score
}

func (r *scalarRequest) class() int32 {
	if r.devices == 1 && r.milli < wholeGPU {
		return 0
	}
	return r.devices
}

// take takes a pod's request from a node and returns its first device.
func (s *scalar) take(n *scalarNode, r *scalarRequest, k *scalarScore) (device int) {
	device = -1
	switch {
	case r.devices == 0:
	case r.milli == wholeGPU:
		for j, taken := 0, int32(0); taken < r.devices; j++ {
			if n.free[j] == wholeGPU {
				if n.free[j] = 0; taken == 0 {
					device = j
				}
				taken++
			}
		}
		n.idle -= r.devices
	default:
		device = s.device(n, r, k)
		if n.free[device] == wholeGPU {
			n.idle--
		}
		n.free[device] -= r.milli
	}
	n.cpu -= r.cpu
	n.memory -= r.memory
	n.total -= r.total
	n.pods++
	if r.devices > 0 {
		n.classes[r.class()]++
	}
	n.version++
	s.phi -= n.phi
	n.phi = s.fragments(n, n.cpu)
	s.phi += n.phi
	return device
}

// device chooses the device of a share.
func (s *scalar) device(n *scalarNode, r *scalarRequest, k *scalarScore) int {
	switch s.policy {
	case "FGD":
		return int(k.device)
	case "Random":
		fitting := 0
		for _, free := range n.free[:n.devices] {
			if free >= r.milli {
				fitting++
			}
		}
		for j, left := 0, s.random.IntN(fitting); ; j++ {
			if n.free[j] >= r.milli {
				if left == 0 {
					return j
				}
				left--
			}
		}
	}
	return n.tightest(r.milli)
}
