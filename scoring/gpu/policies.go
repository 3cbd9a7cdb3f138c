package gpu

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// The policies that the fragmentation study compares FGD with (Weng et al.,
// USENIX ATC 2023). They truncate scores to whole numbers and take the devices
// that fit tightest.

// DotProductConfig configures [CompileDotProduct].
type DotProductConfig struct {
	Size NodeSize // of the largest node
}

// DotProduct prefers nodes of which little is left of what the pod asks for:
// 100 * (1 - (d_cpu + d_gpu) / 2), truncated, where d = (left / M) * (request /
// M) with the totals of node and pod and the size M of the largest node.
type DotProduct struct {
	compiled
	size NodeSize
}

// CompileDotProduct returns the scorer of a configuration; see [DotProduct].
// Size must be positive and finite.
func CompileDotProduct(cfg DotProductConfig, m *vectormap.ResourceVectorMap) (*DotProduct, error) {
	needMap(m)
	size, err := cfg.Size.resolve("size")
	if err != nil {
		return nil, err
	}
	return &DotProduct{compiled{m}, size}, nil
}

// terms returns what the formula takes of a request.
func (p *DotProduct) terms(req *Request) kernel.GPUTerms {
	return kernel.GPUTerms{
		SizeCPU: p.size.CPU, SizeGPU: p.size.GPU,
		ByCPU: req.CPU / p.size.CPU, ByGPU: req.total() / p.size.GPU,
	}
}

func (p *DotProduct) score(row int, req *Request, cpuLeft float64, gpus *State) float64 {
	if !gpus.canHost(row, req, cpuLeft) {
		return 0
	}
	terms := p.terms(req)
	return terms.DotProduct(cpuLeft, gpus.Total(row))
}

// Score implements [Scorer].
func (p *DotProduct) Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error) {
	live(p != nil)
	if err := check(req, cpuLeft, gpus); err != nil {
		return 0, err
	}
	return p.score(row, req, cpuLeft[row], gpus), nil
}

// ScoreBatch implements [Scorer].
func (p *DotProduct) ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	live(p != nil)
	if err := checkBatch(dst, req, cpuLeft, gpus, rows); err != nil {
		return err
	}
	dst = dst[:gpus.Rows()]
	words := wordsOf(rows)
	g := kernel.GPURows{GPUTerms: p.terms(req)}
	if !gpus.columns(&g, req, cpuLeft) {
		kernel.EachRow(len(dst), words, func(row int) {
			dst[row] = p.score(row, req, cpuLeft[row], gpus)
		})
		return nil
	}
	kernel.GPUDotProduct(dst, &g, words)
	gpus.clearOthers(dst, req, words)
	return nil
}

// ChooseDevices implements [Scorer].
func (p *DotProduct) ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	live(p != nil)
	return chooseTightest(row, req, cpuLeft, gpus, buf)
}

// Explain implements [Scorer].
func (p *DotProduct) Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error) {
	live(p != nil)
	score, err := p.Score(row, req, cpuLeft, gpus)
	if err != nil {
		return scoring.Explanation{}, err
	}
	terms := p.terms(req)
	cpu := 50 * (1 - cpuLeft[row]/p.size.CPU*terms.ByCPU)
	gpu := 50 * (1 - gpus.Total(row)/p.size.GPU*terms.ByGPU)
	return p.explanation(p, "DotProduct", "dot product", row, req, cpuLeft, gpus, score, cpu, gpu), nil
}

// BestFitConfig configures [CompileBestFit].
type BestFitConfig struct {
	Size NodeSize // of the largest node

	// Raw keeps the scores as they are. Otherwise they are spread over 0 to 100,
	// as published: each less the least one, times 100, divided by the greatest
	// less the least and truncated, over the selected rows that can host the
	// pod; 0 when all are equal. Both choose the same node.
	Raw bool
}

// BestFit prefers nodes with little left after the pod: (1 - (e_cpu + e_gpu)) *
// 100, truncated, where e = ((left - request) / M) * 0.5 with the totals of node
// and pod and the size M of the largest node. Unless raw, scores depend on the
// selected rows, and Score and Explain return [scoring.ErrNeedsBatch].
type BestFit struct {
	compiled
	size NodeSize
	raw  bool
}

// CompileBestFit returns the scorer of a configuration; see [BestFit]. Size must
// be positive and finite.
func CompileBestFit(cfg BestFitConfig, m *vectormap.ResourceVectorMap) (*BestFit, error) {
	needMap(m)
	size, err := cfg.Size.resolve("size")
	if err != nil {
		return nil, err
	}
	return &BestFit{compiled{m}, size, cfg.Raw}, nil
}

// terms returns what the formula takes of a request.
func (p *BestFit) terms(req *Request) kernel.GPUTerms {
	return kernel.GPUTerms{SizeCPU: p.size.CPU, SizeGPU: p.size.GPU, ByCPU: req.CPU, ByGPU: req.total()}
}

func (p *BestFit) score(row int, req *Request, cpuLeft float64, gpus *State) float64 {
	if !gpus.canHost(row, req, cpuLeft) {
		return 0
	}
	terms := p.terms(req)
	return terms.BestFit(cpuLeft, gpus.Total(row))
}

// Score implements [Scorer].
func (p *BestFit) Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error) {
	live(p != nil)
	if err := check(req, cpuLeft, gpus); err != nil {
		return 0, err
	}
	if !p.raw {
		return 0, scoring.ErrNeedsBatch
	}
	return p.score(row, req, cpuLeft[row], gpus), nil
}

// ScoreBatch implements [Scorer].
func (p *BestFit) ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	live(p != nil)
	if err := checkBatch(dst, req, cpuLeft, gpus, rows); err != nil {
		return err
	}
	dst = dst[:gpus.Rows()]
	words := wordsOf(rows)
	g := kernel.GPURows{GPUTerms: p.terms(req)}
	if gpus.columns(&g, req, cpuLeft) {
		kernel.GPUBestFit(dst, &g, words)
		gpus.clearOthers(dst, req, words)
	} else {
		kernel.EachRow(len(dst), words, func(row int) {
			dst[row] = p.score(row, req, cpuLeft[row], gpus)
		})
	}
	if !p.raw {
		p.spread(dst, words, req, cpuLeft, gpus)
	}
	return nil
}

// spread spreads the scores of the rows that can host a request over 0 to 100.
func (p *BestFit) spread(dst []float64, rows []uint64, req *Request, cpuLeft []float64, gpus *State) {
	least, greatest := math.Inf(1), math.Inf(-1)
	gpus.eachHost(rows, req, cpuLeft, func(row int) {
		least, greatest = min(least, dst[row]), max(greatest, dst[row])
	})
	gpus.eachHost(rows, req, cpuLeft, func(row int) {
		if least == greatest {
			dst[row] = 0
		} else {
			dst[row] = math.Trunc((dst[row] - least) * 100 / (greatest - least))
		}
	})
}

// ChooseDevices implements [Scorer].
func (p *BestFit) ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	live(p != nil)
	return chooseTightest(row, req, cpuLeft, gpus, buf)
}

// Explain implements [Scorer].
func (p *BestFit) Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error) {
	live(p != nil)
	score, err := p.Score(row, req, cpuLeft, gpus)
	if err != nil {
		return scoring.Explanation{}, err
	}
	cpu := 50 * (1 - (cpuLeft[row]-req.CPU)/p.size.CPU)
	gpu := 50 * (1 - (gpus.Total(row)-req.total())/p.size.GPU)
	return p.explanation(p, "BestFit", "best fit", row, req, cpuLeft, gpus, score, cpu, gpu), nil
}

// Packing prefers devices that are in use, then idle devices of nodes in use,
// then idle nodes. With the devices that fit tightest:
//
//   - no GPU requested: 0
//   - all n devices of the node are idle: max(33 - n, n)
//   - k of the devices taken are idle, k > 0: max(50 - k, 33)
//   - none is: max(100 - R/10, 50), where R is the sum of left*100/1000 over
//     them, in whole numbers
type Packing struct {
	compiled
}

// NewPacking returns the scorer; see [Packing].
func NewPacking(m *vectormap.ResourceVectorMap) *Packing {
	needMap(m)
	return &Packing{compiled{m}}
}

func (p *Packing) score(row int, req *Request, cpuLeft float64, gpus *State) float64 {
	if req.Count == 0 || !gpus.canHost(row, req, cpuLeft) {
		return 0
	}
	left := gpus.Devices(row)
	idle := 0
	for _, x := range left {
		if x == wholeDevice {
			idle++
		}
	}
	switch {
	case idle == len(left):
		return kernel.GPUPackingIdle(idle)
	case req.Milli == wholeDevice:
		return kernel.GPUPackingTaken(req.Count)
	}
	var room [64]int32
	taken, sum := 0, 0.0
	for _, d := range tightest(room[:0], left, req) {
		if left[d] == wholeDevice {
			taken++
		}
		sum += kernel.GPUPackingPart(left[d])
	}
	if taken > 0 {
		return kernel.GPUPackingTaken(taken)
	}
	return kernel.GPUPackingUsed(sum)
}

// Score implements [Scorer].
func (p *Packing) Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error) {
	live(p != nil)
	if err := check(req, cpuLeft, gpus); err != nil {
		return 0, err
	}
	return p.score(row, req, cpuLeft[row], gpus), nil
}

// ScoreBatch implements [Scorer].
func (p *Packing) ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	live(p != nil)
	if err := checkBatch(dst, req, cpuLeft, gpus, rows); err != nil {
		return err
	}
	dst = dst[:gpus.Rows()]
	words := wordsOf(rows)
	g := kernel.GPURows{GPUTerms: kernel.GPUTerms{Taken: kernel.GPUPackingTaken(req.Count)}}
	if !gpus.columns(&g, req, cpuLeft) || gpus.most > mostRanks || req.Count > 1 && req.Milli < wholeDevice {
		kernel.EachRow(len(dst), words, func(row int) {
			dst[row] = p.score(row, req, cpuLeft[row], gpus)
		})
		return nil
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
	gpus.clearOthers(dst, req, words)
	return nil
}

// ChooseDevices implements [Scorer].
func (p *Packing) ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	live(p != nil)
	return chooseTightest(row, req, cpuLeft, gpus, buf)
}

// Explain implements [Scorer].
func (p *Packing) Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error) {
	live(p != nil)
	score, err := p.Score(row, req, cpuLeft, gpus)
	if err != nil {
		return scoring.Explanation{}, err
	}
	return p.explanation(p, "Packing", "packing", row, req, cpuLeft, gpus, score, 0, score), nil
}

// ClusteringConfig configures [CompileClustering].
type ClusteringConfig struct {
	GPU float64 // of the largest node, in thousandths of a device; 0: 8000
}

// Clustering keeps pods of one class together, pods that share a device or
// pods of k devices: 25 * max(0, M - T) / M in whole numbers, with the total T
// left of the node's devices and the size M of the largest node, and in addition
// 75 if the node holds pods of this class only, 50 if of others too, 25 if it
// holds no pod with a GPU. It is 0 for a pod without GPU.
type Clustering struct {
	compiled
	size float64
}

// CompileClustering returns the scorer of a configuration; see
// [Clustering]. GPU must be positive and finite.
func CompileClustering(cfg ClusteringConfig, m *vectormap.ResourceVectorMap) (*Clustering, error) {
	needMap(m)
	size, err := NodeSize{GPU: cfg.GPU}.resolve("")
	if err != nil {
		return nil, err
	}
	return &Clustering{compiled{m}, size.GPU}, nil
}

// terms returns what the formula takes of a request.
func (p *Clustering) terms(req *Request) kernel.GPUTerms {
	return kernel.GPUTerms{SizeGPU: p.size, Class: classBit(req.class())}
}

func (p *Clustering) score(row int, req *Request, cpuLeft float64, gpus *State) float64 {
	if req.Count == 0 || !gpus.canHost(row, req, cpuLeft) {
		return 0
	}
	terms := p.terms(req)
	return terms.Clustering(gpus.Total(row), gpus.classesFor(row, req.class()))
}

// Score implements [Scorer].
func (p *Clustering) Score(row int, req *Request, cpuLeft []float64, gpus *State) (float64, error) {
	live(p != nil)
	if err := check(req, cpuLeft, gpus); err != nil {
		return 0, err
	}
	return p.score(row, req, cpuLeft[row], gpus), nil
}

// ScoreBatch implements [Scorer].
func (p *Clustering) ScoreBatch(dst []float64, req *Request, cpuLeft []float64, gpus *State, rows *vector.Mask) error {
	live(p != nil)
	if err := checkBatch(dst, req, cpuLeft, gpus, rows); err != nil {
		return err
	}
	dst = dst[:gpus.Rows()]
	words := wordsOf(rows)
	g := kernel.GPURows{GPUTerms: p.terms(req)}
	if !gpus.columns(&g, req, cpuLeft) || req.class() >= lastClass {
		kernel.EachRow(len(dst), words, func(row int) {
			dst[row] = p.score(row, req, cpuLeft[row], gpus)
		})
		return nil
	}
	if req.Count == 0 {
		g.NeedMilli = math.Inf(1) // every row scores 0
	}
	kernel.GPUClustering(dst, &g, words)
	gpus.clearOthers(dst, req, words)
	return nil
}

// ChooseDevices implements [Scorer].
func (p *Clustering) ChooseDevices(row int, req *Request, cpuLeft []float64, gpus *State, buf []int32) []int32 {
	live(p != nil)
	return chooseTightest(row, req, cpuLeft, gpus, buf)
}

// Explain implements [Scorer].
func (p *Clustering) Explain(row int, req *Request, cpuLeft []float64, gpus *State) (scoring.Explanation, error) {
	live(p != nil)
	score, err := p.Score(row, req, cpuLeft, gpus)
	if err != nil {
		return scoring.Explanation{}, err
	}
	return p.explanation(p, "Clustering", "clustering", row, req, cpuLeft, gpus, score, 0, score), nil
}
