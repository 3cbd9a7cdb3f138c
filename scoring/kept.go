package scoring

import (
	"math"

	"github.com/resvec/resvec/scoring/internal/scorecache"
	"github.com/resvec/resvec/vector"
)

// kept are the scores that a Bound keeps by request, for [Bound.Best] and
// [Bound.TopK]: of pods that come again, only rows that have changed since are scored.
// Only where that costs less than a pass over all rows is it asked.
type kept struct {
	b      *Bound
	engine *scorecache.Engine // nil: not asked yet
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
	b.live()
	b.kept = &kept{b: b, limit: bytes}
}

// What it costs, in nanoseconds, on the machine of docs/performance.md. They decide
// about time only: the answers are the same.
const (
	passColumn  = 0.05 // a pass, per row and requested column: which rows fit
	leastPass   = 4000 // a pass that takes less is not worth an attempt to save it
	keptRow     = 12   // a row whose kept score is brought up to date, beside its scoring
	keptColumns = 4    // scoring one row by itself costs so many times its part in a pass
	keptTimes   = 8    // a request has to come so often before its scores are kept
	keptTies    = 32   // and a rule for ties, since an order of all rows is worked out
)

const keptBytes = 64 << 20

// cost returns what a pass costs per row, for a request of so many resources.
func (p *plan) cost(requested float64) float64 {
	switch {
	case p.rows != nil:
		c := p.rows.cost()
		return c.column * max(min(requested, c.most), c.least)
	case p.sum == nil:
		return 100 // a scorer of others
	}
	cost := 0.15 * float64(len(p.terms))
	for k := range p.terms {
		cost += p.terms[k].cost(requested)
		if p.sum.terms[k].Normalize != NormalizeNone {
			cost += 0.4
		}
	}
	return cost
}

// rowCost is what a scorer costs per row and resource in a pass. It scores the requested
// resources, least of them at least and most at most.
type rowCost struct{ column, least, most float64 }

// ask returns the kept scores, ready for a question, or nil when a pass over all rows is
// the better way.
func (b *Bound) ask(pod vector.PodAmounts, rows *vector.Mask, tie vector.Tie) *kept {
	k := b.kept
	if k == nil || k.limit == 0 {
		return nil
	}
	if k.always {
		k.start(pod, rows)
		return k
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
	if k.ties++; !tie.Same(k.tie) {
		k.tie, k.ties = tie, 0
	}
	if k.ties < keptTies {
		return nil
	}
	k.start(pod, rows)
	worth := scorecache.Worth{Times: keptTimes, Share: cost / (keptRow + keptColumns*cost)}
	if !k.engine.Worth(k, &worth) {
		k.done()
		return nil
	}
	return k
}

// start takes a question.
func (k *kept) start(pod vector.PodAmounts, rows *vector.Mask) {
	if k.engine == nil {
		terms := 0
		if k.b.plan.normalized() {
			terms = len(k.b.plan.terms)
		}
		k.engine = scorecache.New(k.limit, terms)
	}
	k.pod, k.rows = pod, rows
}

// done lets go of the question.
func (k *kept) done() { k.pod, k.rows = vector.PodAmounts{}, nil }

// Operands is part of the question as the engine sees it, as all below.
func (k *kept) Operands() (sources scorecache.Sources, n int, rows *vector.Mask, err error) {
	nodes := k.b.nodes
	sources = scorecache.Sources{nodes.Requested(), nodes.Allocatable()}
	if k.b.plan.countsScored() {
		sources[2] = nodes.Scored()
	}
	return sources, k.b.len(), k.rows, nil
}

func (k *kept) AppendKey(key []uint64) []uint64 {
	key = append(key, uint64(len(k.pod.Requested)))
	key = scorecache.AppendBits(key, k.pod.Requested)
	if k.b.plan.countsScored() && k.pod.Scored != nil {
		key = append(key, math.MaxUint64) // no amount, which would be NaN
		key = scorecache.AppendBits(key, k.pod.Scored)
	}
	return key
}

func (k *kept) Fit(rows *vector.Mask) {
	vector.FitAmong(rows, k.b.nodes.Free(), k.pod.Requested, rows)
}

func (k *kept) Score(dst []float64, term int, rows *vector.Mask) error {
	p := &k.b.plan
	if p.normalized() {
		p = &p.terms[term]
	}
	return p.score(k.b, dst, k.pod, rows.Words())
}

func (k *kept) Combine(dst []float64, terms [][]float64, rows *vector.Mask) {
	p := &k.b.plan
	p.scratch.resize(len(terms), len(dst))
	p.sum.combine(dst, terms, p.scratch, rows.Words())
}
