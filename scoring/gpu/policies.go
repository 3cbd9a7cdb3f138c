package gpu

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vectormap"
)

// The policies that the fragmentation study compares FGD with (Weng et al.,
// USENIX ATC 2023). They truncate scores to whole numbers and take the devices
// that fit tightest.

// DotProductConfig configures [CompileDotProduct].
type DotProductConfig struct {
	Size NodeSize // of the largest node
}

// CompileDotProduct returns the scorer that prefers nodes with little left of what the
// pod requests: 100 * (1 - (d_cpu + d_gpu) / 2), truncated, where d = (left / M) *
// (request / M) with the totals of node and pod and the size M of the largest node. Size
// must be positive and finite.
func CompileDotProduct(cfg DotProductConfig, m *vectormap.ResourceVectorMap) (*Scorer, error) {
	size, err := cfg.Size.resolve("size")
	if err != nil {
		return nil, err
	}
	return &Scorer{m: m, kind: dotProduct, size: size}, nil
}

// BestFitConfig configures [CompileBestFit].
type BestFitConfig struct {
	Size NodeSize // of the largest node

	// Raw keeps the scores as they are. Otherwise they are spread over 0 to 100,
	// as published: each less the least one, times 100, divided by the greatest
	// less the least and truncated, over the selected rows that can host the
	// pod; 0 when all are equal.
	Raw bool
}

// CompileBestFit returns the scorer that prefers nodes with little left after the pod:
// (1 - (e_cpu + e_gpu)) * 100, truncated, where e = ((left - request) / M) * 0.5 with
// the totals of node and pod and the size M of the largest node. Unless raw, scores
// depend on the selected rows, and the score of one node alone is [scoring.ErrNeedsBatch]. Size
// must be positive and finite.
func CompileBestFit(cfg BestFitConfig, m *vectormap.ResourceVectorMap) (*Scorer, error) {
	size, err := cfg.Size.resolve("size")
	if err != nil {
		return nil, err
	}
	return &Scorer{m: m, kind: bestFit, size: size, spread: !cfg.Raw}, nil
}

// NewPacking returns the scorer that prefers devices in use, then idle devices of nodes
// in use, then idle nodes. With the devices that fit tightest:
//
//   - no GPU requested: 0
//   - all n devices of the node are idle: max(33 - n, n)
//   - k of the devices taken are idle, k > 0: max(50 - k, 33)
//   - none is: max(100 - R/10, 50), where R is the sum of left*100/1000 over
//     them, in whole numbers
func NewPacking(m *vectormap.ResourceVectorMap) *Scorer {
	return &Scorer{m: m, kind: packing}
}

// ClusteringConfig configures [CompileClustering].
type ClusteringConfig struct {
	GPU float64 // of the largest node, in thousandths of a device; 0: 8000
}

// CompileClustering returns the scorer that keeps pods of one class together, pods that
// share a device or pods of k devices: 25 * max(0, M - T) / M in whole numbers, with the
// total T left of the node's devices and the size M of the largest node, and in addition
// 75 if the node holds pods of this class only, 50 if of others too, 25 if it holds no
// pod with a GPU. It is 0 for a pod without GPU. GPU must be positive and finite.
func CompileClustering(cfg ClusteringConfig, m *vectormap.ResourceVectorMap) (*Scorer, error) {
	size, err := NodeSize{GPU: cfg.GPU}.resolve("")
	if err != nil {
		return nil, err
	}
	return &Scorer{m: m, kind: clustering, size: size}, nil
}

// terms returns what the formulas take of a request.
func (s *Scorer) terms(req *Request) kernel.GPUTerms {
	t := kernel.GPUTerms{SizeCPU: s.size.CPU, SizeGPU: s.size.GPU}
	switch s.kind {
	case dotProduct:
		t.ByCPU, t.ByGPU = req.CPU/s.size.CPU, req.total()/s.size.GPU
	case bestFit:
		t.ByCPU, t.ByGPU = req.CPU, req.total()
	case packing:
		t.Taken = kernel.GPUPackingTaken(req.Count)
	case clustering:
		t.Class = classBit(req.class())
	}
	return t
}

// policyScore returns the score of a node that can host a request.
func (s *Scorer) policyScore(h *host, req *Request) float64 {
	terms := s.terms(req)
	switch {
	case s.kind == dotProduct:
		return terms.DotProduct(h.cpu, h.total)
	case s.kind == bestFit:
		return terms.BestFit(h.cpu, h.total)
	case req.Count == 0:
		return 0
	case s.kind == packing:
		return packingScore(h, req)
	}
	return terms.Clustering(h.total, h.classes(req.class()))
}

// packingScore is the score of packing for a pod with a GPU.
func packingScore(h *host, req *Request) float64 {
	idle := 0
	for _, x := range h.left {
		if x == wholeDevice {
			idle++
		}
	}
	switch {
	case idle == len(h.left):
		return kernel.GPUPackingIdle(idle)
	case req.Milli == wholeDevice:
		return kernel.GPUPackingTaken(req.Count)
	}
	var room [64]int32
	taken, sum := 0, 0.0
	for _, d := range h.tightest(room[:0], req) {
		if h.left[d] == wholeDevice {
			taken++
		}
		sum += kernel.GPUPackingPart(h.left[d])
	}
	if taken > 0 {
		return kernel.GPUPackingTaken(taken)
	}
	return kernel.GPUPackingUsed(sum)
}

// policyScores is scoreRows by the kernels. It reports false, having done nothing,
// where these don't do.
func (s *Scorer) policyScores(dst []float64, q *query, words []uint64) bool {
	req, gpus := q.req, q.gpus
	g := kernel.GPURows{GPUTerms: s.terms(req)}
	if !gpus.columns(&g, req, q.cpu) {
		return false
	}
	switch s.kind {
	case dotProduct:
		kernel.GPUDotProduct(dst, &g, words)
	case bestFit:
		kernel.GPUBestFit(dst, &g, words)
	case packing:
		if gpus.most > mostRanks || req.Count > 1 && req.Milli < wholeDevice {
			return false
		}
		if req.Count == 0 {
			g.NeedMilli = math.Inf(1) // every row scores 0
		}
		var ranks [mostRanks][]float64
		for k := range gpus.most {
			ranks[k] = gpus.summary.Column(1 + k)
		}
		g.Ranks = ranks[:gpus.most]
		kernel.GPUPacking(dst, &g, words)
	case clustering:
		if req.class() >= lastClass {
			return false
		}
		if req.Count == 0 {
			g.NeedMilli = math.Inf(1) // every row scores 0
		}
		kernel.GPUClustering(dst, &g, words)
	}
	gpus.clearOthers(dst, req, words)
	return true
}
