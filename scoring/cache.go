package scoring

import (
	"iter"
	"math"

	"github.com/resvec/resvec/scoring/internal/scorecache"
	"github.com/resvec/resvec/vector"
)

// cache keeps scores by request, for [Bound.Best] and [Bound.TopK]: of pods that come
// again, only rows that have changed since are scored. It is used where that costs less
// than a pass over all rows.
type cache struct {
	b      *Bound
	engine *scorecache.Engine // nil: not used yet
	limit  int64              // bytes
	always bool               // for tests: whatever it costs
	tie    vector.Tie         // of the last question
	ties   int                // so many questions in a row had it

	pod  vector.PodAmounts // of the question at hand
	rows *vector.Mask
}

// LimitCache bounds the memory of the scores that b keeps for requests that come again,
// 64 MiB unless it is called. A request takes some 9 bytes per node, or 8 per node and
// term of a combination that normalizes. What does not fit is forgotten, the request
// that was not asked about for the longest time first. With 0 nothing is kept.
func (b *Bound) LimitCache(bytes int64) {
	b.cache = &cache{b: b, limit: bytes}
}

// Counters yields what b, and the scorers made by [Bound.WithOverride], have done since [Bind], by
// names in the form of Prometheus:
//
//   - questions: of Best, TopK, Score and ScorePercent, and pods of Place;
//   - kept_scores_used: of these, answered with scores that were kept;
//   - kept_scores_made: answered by scoring all rows, to keep the scores;
//   - kept_scores_rows: rows that were scored to be kept;
//   - kept_scores_forgotten: requests whose scores were given up for want of memory.
//
// Later versions may yield more. It may be called while b is in use, by any goroutine.
func (b *Bound) Counters() iter.Seq2[string, uint64] { return b.counts.All() }

// What it costs, in nanoseconds, on the machine of docs/performance.md. They decide
// about time only: the answers are the same.
const (
	passColumn   = 0.05 // a pass, per row and requested column: which rows fit
	leastPass    = 4000 // a pass that takes less is not worth an attempt to save it
	cacheRow     = 12   // to bring the kept score of a row up to date, without its scoring
	cacheColumns = 4    // scoring one row by itself costs so many times its part in a pass
	cacheTimes   = 8    // a request has to come so often before its scores are kept
	cacheTies    = 32   // and a rule for ties, since an order of all rows is worked out
)

const cacheBytes = 64 << 20

// cost returns what a pass costs per row, for a request of so many resources.
func (p *plan) cost(requested float64) float64 {
	switch {
	case p.rows != nil:
		x := p.rows.cost()
		return x.column * max(min(requested, x.most), x.least)
	case p.sum == nil:
		return 100 // a scorer of others
	}
	cost := 0.15 * float64(len(p.terms))
	for k := range p.terms {
		cost += p.terms[k].cost(requested)
		if p.sum.terms[k].Normalize != "" {
			cost += 0.4
		}
	}
	return cost
}

// lookup returns the cache, ready for a question, or nil where a pass over all rows costs
// less.
func (b *Bound) lookup(pod vector.PodAmounts, rows *vector.Mask, tie vector.Tie) *cache {
	c := b.cache
	if c == nil || c.limit == 0 {
		return nil
	}
	if c.always {
		c.start(pod, rows)
		return c
	}
	requested := 0.0
	for _, x := range pod.Requested {
		if x > 0 {
			requested++
		}
	}
	cost := b.plan.cost(requested)
	pass := cost + passColumn*requested
	if pass*float64(b.len()) < leastPass {
		return nil
	}
	// Scores are kept in the order of a tie: they pay when it stays the same.
	if c.ties++; !tie.Same(c.tie) {
		c.tie, c.ties = tie, 0
	}
	if c.ties < cacheTies {
		return nil
	}
	c.start(pod, rows)
	worth := scorecache.Worth{Times: cacheTimes, Share: cost / (cacheRow + cacheColumns*cost)}
	if !c.engine.Worth(c, &worth) {
		c.done()
		return nil
	}
	return c
}

// start takes a question.
func (c *cache) start(pod vector.PodAmounts, rows *vector.Mask) {
	if c.engine == nil {
		terms := 0
		if c.b.plan.normalized() {
			terms = len(c.b.plan.terms)
		}
		c.engine = scorecache.New(c.limit, terms, c.b.counts)
	}
	c.pod, c.rows = pod, rows
}

// done lets go of the question.
func (c *cache) done() { c.pod, c.rows = vector.PodAmounts{}, nil }

// Operands is part of the question as the engine sees it, as all below.
func (c *cache) Operands() (sources scorecache.Sources, n int, rows *vector.Mask, err error) {
	nodes := c.b.nodes
	sources = scorecache.Sources{nodes.Requested(), nodes.Allocatable()}
	if c.b.plan.countsScored() {
		sources[2] = nodes.Scored()
	}
	return sources, c.b.len(), c.rows, nil
}

func (c *cache) AppendKey(key []uint64) []uint64 {
	key = append(key, uint64(len(c.pod.Requested)))
	key = scorecache.AppendBits(key, c.pod.Requested)
	if c.b.plan.countsScored() && c.pod.Scored != nil {
		key = append(key, math.MaxUint64) // no amount, which would be NaN
		key = scorecache.AppendBits(key, c.pod.Scored)
	}
	return key
}

func (c *cache) Fit(rows *vector.Mask) {
	vector.FitAmong(rows, c.b.nodes.Free(), c.pod.Requested, rows)
}

func (c *cache) Score(dst []float64, term int, rows *vector.Mask) error {
	p := &c.b.plan
	if p.normalized() {
		p = &p.terms[term]
	}
	return p.score(c.b, dst, c.pod, rows.Words())
}

func (c *cache) Combine(dst []float64, terms [][]float64, rows *vector.Mask) {
	p := &c.b.plan
	p.scratch.resize(len(terms), len(dst))
	p.sum.combine(dst, terms, p.scratch, rows.Words())
}
