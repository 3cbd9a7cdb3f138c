package gpu

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/scorecache"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Query asks a [Cache] about one pod.
type Query struct {
	Request Request               // of the pod
	Amounts vector.ResourceVector // of the pod, which have to fit into Free by the rule of [vector.Fit]

	// Free is what is left of every node. Its column [vectormap.CPU] is what
	// scorers take as what is left of the CPU.
	Free *vector.Matrix

	GPUs *State       // of the same rows
	Rows *vector.Mask // to choose from; nil means all
}

// Cache is a [scoring.Cache] for scorers of GPUs, with all that is said there: the
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
type Cache struct {
	scorer Scorer
	spread *BestFit // scorer, if its scores are to be spread
	query  Query    // at hand
	engine *scorecache.Engine
}

const (
	panicQuery  = "gpu: nil query"
	panicScorer = "gpu: nil scorer"
	panicMatrix = "gpu: nil matrix"
)

// NewCache returns an empty cache for a scorer.
func NewCache(scorer Scorer, options scoring.CacheOptions) *Cache {
	if scorer == nil {
		panic(panicScorer)
	}
	c, terms := &Cache{scorer: scorer}, 0
	if p, ok := scorer.(*BestFit); ok && !p.raw {
		raw := *p
		raw.raw = true
		c.scorer, c.spread, terms = &raw, p, 1
	}
	c.engine = scorecache.New(options.MaxBytes, terms)
	return c
}

// Best is [scoring.Cache.Best].
func (c *Cache) Best(q *Query, tie vector.Tie) (row int, score float64, err error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.Best((*cacheQuery)(c), tie)
}

// TopK is [scoring.Cache.TopK].
func (c *Cache) TopK(dst []int32, q *Query, k int, tie vector.Tie) ([]int32, error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.TopK(dst, (*cacheQuery)(c), k, tie)
}

// Scores is [scoring.Cache.Scores].
func (c *Cache) Scores(q *Query) (scores []float64, feasible *vector.Mask, err error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.All((*cacheQuery)(c))
}

// Stats returns the counts.
func (c *Cache) Stats() scoring.CacheStats {
	live(c != nil)
	return c.engine.Stats()
}

// Reset is [scoring.Cache.Reset].
func (c *Cache) Reset() {
	live(c != nil)
	c.engine.Reset()
}

// done lets go of the query.
func (c *Cache) done() { c.query = Query{} }

// cacheQuery is the query of a cache as the engine sees it.
type cacheQuery Cache

func (c *cacheQuery) Operands() (sources scorecache.Sources, n int, rows *vector.Mask, err error) {
	q := &c.query
	switch {
	case q.GPUs == nil:
		panic(panicOperand)
	case q.Free == nil:
		panic(panicMatrix)
	}
	n = q.GPUs.Rows()
	if q.Free.Rows() != n || q.Free.Cols() < max(len(q.Amounts), vectormap.CPU+1) || q.Rows != nil && q.Rows.Len() != n {
		return sources, 0, nil, fmt.Errorf("gpu: the query's operands have different numbers of rows, or too few columns: %w", vector.ErrShape)
	}
	return scorecache.Sources{q.Free, q.GPUs}, n, q.Rows, nil
}

func (c *cacheQuery) AppendKey(key []uint64) []uint64 {
	q := &c.query.Request
	key = append(key, math.Float64bits(q.CPU), uint64(q.Count), math.Float64bits(q.Milli), uint64(len(q.Models)))
	for _, m := range q.Models {
		key = append(key, uint64(m))
	}
	return scorecache.AppendBits(key, c.query.Amounts)
}

func (c *cacheQuery) Fit(rows *vector.Mask) {
	q := &c.query
	vector.FitAmong(rows, q.Free, q.Amounts, rows)
	q.GPUs.Fit(rows, &q.Request, q.Free.Column(vectormap.CPU), rows)
}

func (c *cacheQuery) Score(dst []float64, _ int, rows *vector.Mask) error {
	q := &c.query
	return c.scorer.ScoreBatch(dst, &q.Request, q.Free.Column(vectormap.CPU), q.GPUs, rows)
}

func (c *cacheQuery) Combine(dst []float64, terms [][]float64, rows *vector.Mask) {
	kernel.EachRow(len(dst), rows.Words(), func(row int) { dst[row] = terms[0][row] })
	q := &c.query
	c.spread.spread(dst, rows.Words(), &q.Request, q.Free.Column(vectormap.CPU), q.GPUs)
}
