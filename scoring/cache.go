package scoring

import (
	"github.com/resvec/resvec/internal/scorecache"
	"github.com/resvec/resvec/vector"
)

// CacheOptions bounds a [Cache], or one of package scoring/gpu. The zero value is
// ready to use.
type CacheOptions struct {
	// MaxBytes bounds the memory for the scores of all requests together; 0 is
	// 64 MiB. A request takes some 9 bytes per node; with a [Combination] that
	// normalizes terms, 8 per node and term. When they don't fit, the one that
	// was not asked about for the longest time goes. The request at hand stays,
	// whatever its size, and some 50 bytes per node that a cache needs beside
	// the scores are not counted.
	MaxBytes int64
}

// CacheStats counts what a cache has done since it was made.
type CacheStats = scorecache.Stats

// Query asks a [Cache] about one pod.
type Query struct {
	Request vector.ResourceVector // of the pod

	// Free is what the pod has to fit into, by the rule of [vector.Fit]; rows
	// where it does not fit are left out. nil leaves out none.
	Free *vector.Matrix

	Used, Allocatable *vector.Matrix // as in [Scorer]

	// Rows are the rows to choose from; nil means all. It is the place for
	// what other predicates say, a [Proportional] for one.
	Rows *vector.Mask
}

// Cache keeps the scores of a cluster for the requests that come up again and
// again, and brings them up to date when one of these is asked about: only rows
// that have changed in between are scored. Pods of one workload have equal
// requests, and placing a pod changes one row, so that nearly all work of a full
// pass is saved.
//
// Every answer has the rows and bits of the full pass over the same operands:
//
//	vector.Fit(&feasible, q.Free, q.Request)
//	feasible.And(&feasible, q.Rows)
//	err := scorer.ScoreBatch(scores, q.Request, q.Used, q.Allocatable, &feasible)
//	row := vector.ArgMax(scores, &feasible, tie)
//
// Its errors are those of ScoreBatch, and [vector.ErrShape] when the numbers of
// rows differ or the request is wider than Free.
//
// A cache answers for its scorer only. A pod with rules of its own has another
// scorer, see [Strategy.WithOverride]: score it by a full pass, or keep a cache
// per override where many pods share one.
//
// # Operands
//
// A cache learns of changes from the logs of the matrices (see
// [vector.Matrix.Changed]), which it knows by their address and holds on to. So
// keep one cache per set of matrices: the matrices of a snapshot that is
// refreshed, say. A query with others scores every row of every request again,
// and so do more writes since the last query than a log remembers, and a matrix
// without a log, as [vector.Matrix.Slice] returns. The matrices must be written
// through their methods. The bits of Rows may change between queries in any way;
// rows that come in are scored, at the cost of comparing the masks.
//
// Requests are told apart by their bits. The score of a row must depend on the
// operands of that row alone, as [Scorer] demands; a [Combination] that
// normalizes terms is the exception, and known.
//
// # Ties
//
// The order of a [vector.TieSeeded] or [vector.TieRank] is worked out once and
// kept: a rank must not be changed while it is used with a cache; pass another
// slice instead. Use one tie with one cache where possible. Another tie gets its
// order when it comes twice in a row, and until then, as with a seed per pod,
// every choice looks at all scores.
//
// # Cost
//
// With C rows changed since the request was last asked about, a query fits and
// scores C rows, and finds the best one among the maxima of blocks of 64 rows.
// Blocks are looked through again where the best row became worse. A combination
// with a normalized term keeps the scores of its terms; combining and choosing
// takes a pass over all rows. [Cache.TopK] always takes one.
//
// That is worth it for scorers like [FGD] and for combinations of many terms. A
// scorer whose batch takes about a nanosecond per row, [StrategyFit] for one, is
// about as fast without a cache; BenchmarkScoreCache compares the two.
//
// A warm cache allocates nothing. A Cache is made by [NewCache], must not be
// copied, and is not safe for concurrent use: keep one per goroutine that makes
// decisions. The matrices must not be written during a call.
type Cache struct {
	scorer  Scorer
	sum     *Combination   // scorer, if it is one
	scratch CombineScratch // for it
	query   Query          // at hand
	engine  *scorecache.Engine
	terms   int // whose scores the engine keeps; 0: whole scores
}

// NewCache returns an empty cache for a scorer.
func NewCache(scorer Scorer, options CacheOptions) *Cache {
	if isNil(scorer) {
		panic(panicScorer)
	}
	c := &Cache{scorer: scorer}
	if sum, ok := scorer.(*Combination); ok {
		c.sum = sum
		if sum.Normalized() {
			c.terms = len(sum.Terms())
		}
	}
	c.engine = scorecache.New(options.MaxBytes, c.terms)
	return c
}

// Best returns the row to choose for a pod, and its score. The row is -1, and
// the score 0, when no row is feasible, or every score is NaN, or there is an
// error.
func (c *Cache) Best(q *Query, tie vector.Tie) (row int, score float64, err error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.Best((*cacheQuery)(c), tie)
}

// TopK sets dst to the k best rows as [vector.TopK] does, and returns it. dst is
// overwritten and grown when its capacity is short; it is empty beside an error.
func (c *Cache) TopK(dst []int32, q *Query, k int, tie vector.Tie) ([]int32, error) {
	live(c != nil)
	if q == nil {
		panic(panicQuery)
	}
	c.query = *q
	defer c.done()
	return c.engine.TopK(dst, (*cacheQuery)(c), k, tie)
}

// Scores returns the score of every row, NaN where the pod does not fit or Rows
// has no bit, and the set of the other rows. Both are views for reading, valid
// until the next call.
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
func (c *Cache) Stats() CacheStats {
	live(c != nil)
	return c.engine.Stats()
}

// Reset forgets all requests and lets go of the matrices. The counts stay.
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
	if err := checkMatrices(q.Used, q.Allocatable, q.Rows); err != nil {
		return sources, 0, nil, err
	}
	n = q.Allocatable.Rows()
	sources = scorecache.Sources{q.Used, q.Allocatable}
	switch {
	case q.Free == nil:
		return sources, n, q.Rows, nil
	case q.Free.Rows() != n:
		return sources, 0, nil, shapeError("free has %d rows, allocatable %d", q.Free.Rows(), n)
	case q.Free.Cols() < len(q.Request):
		return sources, 0, nil, shapeError("request has %d amounts, free %d columns", len(q.Request), q.Free.Cols())
	}
	sources[2] = q.Free
	return sources, n, q.Rows, nil
}

func (c *cacheQuery) AppendKey(key []uint64) []uint64 {
	return scorecache.AppendBits(key, c.query.Request)
}

func (c *cacheQuery) Fit(rows *vector.Mask) {
	if c.query.Free != nil {
		vector.FitAmong(rows, c.query.Free, c.query.Request, rows)
	}
}

func (c *cacheQuery) Score(dst []float64, term int, rows *vector.Mask) error {
	q := &c.query
	switch {
	case c.terms > 0:
		return c.sum.terms[term].Scorer.ScoreBatch(dst, q.Request, q.Used, q.Allocatable, rows)
	case c.sum != nil:
		return c.sum.ScoreBatchWith(&c.scratch, dst, q.Request, q.Used, q.Allocatable, rows)
	}
	return c.scorer.ScoreBatch(dst, q.Request, q.Used, q.Allocatable, rows)
}

func (c *cacheQuery) Combine(dst []float64, terms [][]float64, rows *vector.Mask) {
	c.sum.CombineScores(&c.scratch, dst, terms, rows)
}
