package scoring

import (
	"math"

	"github.com/resvec/resvec/internal/scorecache"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// GPUQuery asks a [GPUCache] about one pod.
type GPUQuery struct {
	Request GPURequest            // of the pod
	Amounts vector.ResourceVector // of the pod, which have to fit into Free by the rule of [vector.Fit]

	// Free is what is left of every node. Its column [vectormap.CPU] is what
	// scorers take as what is left of the CPU.
	Free *vector.Matrix

	GPUs *GPUState    // of the same rows
	Rows *vector.Mask // to choose from; nil means all
}

// GPUCache is a [Cache] for scorers of GPUs, with all that is said there: the
// sources of changes are Free and GPUs. The full pass that it equals is
//
//	cpuLeft := q.Free.Column(vectormap.CPU)
//	vector.Fit(&feasible, q.Free, q.Amounts)
//	feasible.And(&feasible, q.Rows)
//	q.GPUs.Fit(&feasible, &q.Request, cpuLeft, &feasible)
//	err := scorer.ScoreBatch(scores, &q.Request, cpuLeft, q.GPUs, &feasible)
//	row := vector.ArgMax(scores, &feasible, tie)
//
// The devices are then chosen by the scorer's ChooseDevices. A [BestFit] that is
// not raw counts as a normalized term.
type GPUCache struct {
	scorer GPUScorer
	spread *BestFit // scorer, if its scores are to be spread
	query  GPUQuery // at hand
	engine *scorecache.Engine
}

// NewGPUCache returns an empty cache for a scorer.
func NewGPUCache(scorer GPUScorer, options CacheOptions) *GPUCache {
	if scorer == nil {
		panic(panicScorer)
	}
	c, terms := &GPUCache{scorer: scorer}, 0
	if p, ok := scorer.(*BestFit); ok && !p.raw {
		raw := *p
		raw.raw = true
		c.scorer, c.spread, terms = &raw, p, 1
	}
	c.engine = scorecache.New(options.MaxBytes, terms)
	return c
}

// Best is [Cache.Best].
func (c *GPUCache) Best(q *GPUQuery, tie vector.Tie) (row int, score float64, err error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.Best((*gpuCacheQuery)(c), tie)
}

// TopK is [Cache.TopK].
func (c *GPUCache) TopK(dst []int32, q *GPUQuery, k int, tie vector.Tie) ([]int32, error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.TopK(dst, (*gpuCacheQuery)(c), k, tie)
}

// Scores is [Cache.Scores].
func (c *GPUCache) Scores(q *GPUQuery) (scores []float64, feasible *vector.Mask, err error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.All((*gpuCacheQuery)(c))
}

// Stats returns the counts.
func (c *GPUCache) Stats() CacheStats {
	live(c != nil)
	return c.engine.Stats()
}

// Reset is [Cache.Reset].
func (c *GPUCache) Reset() {
	live(c != nil)
	c.engine.Reset()
}

// done lets go of the query.
func (c *GPUCache) done() { c.query = GPUQuery{} }

// gpuCacheQuery is the query of a cache as the engine sees it.
type gpuCacheQuery GPUCache

func (c *gpuCacheQuery) Operands() (sources scorecache.Sources, n int, rows *vector.Mask, err error) {
	q := &c.query
	switch {
	case q.GPUs == nil:
		panic(panicGPUNil)
	case q.Free == nil:
		panic(panicMatrix)
	}
	n = q.GPUs.Rows()
	if q.Free.Rows() != n || q.Free.Cols() < max(len(q.Amounts), vectormap.CPU+1) || q.Rows != nil && q.Rows.Len() != n {
		return sources, 0, nil, vector.ErrShape
	}
	return scorecache.Sources{q.Free, q.GPUs}, n, q.Rows, nil
}

func (c *gpuCacheQuery) AppendKey(key []uint64) []uint64 {
	q := &c.query.Request
	key = append(key, math.Float64bits(q.CPU), uint64(q.Count), math.Float64bits(q.Milli), uint64(len(q.Models)))
	for _, m := range q.Models {
		key = append(key, uint64(m))
	}
	return scorecache.AppendBits(key, c.query.Amounts)
}

func (c *gpuCacheQuery) Fit(rows *vector.Mask) {
	q := &c.query
	vector.FitAmong(rows, q.Free, q.Amounts, rows)
	q.GPUs.Fit(rows, &q.Request, q.Free.Column(vectormap.CPU), rows)
}

func (c *gpuCacheQuery) Score(dst []float64, _ int, rows *vector.Mask) error {
	q := &c.query
	return c.scorer.ScoreBatch(dst, &q.Request, q.Free.Column(vectormap.CPU), q.GPUs, rows)
}

func (c *gpuCacheQuery) Combine(dst []float64, terms [][]float64, rows *vector.Mask) {
	eachSelected(len(dst), rows.Words(), func(row int) { dst[row] = terms[0][row] })
	q := &c.query
	c.spread.spread(dst, rows.Words(), &q.Request, q.Free.Column(vectormap.CPU), q.GPUs)
}
