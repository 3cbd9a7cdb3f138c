package scoring

import (
	"errors"
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/scoring/internal/scorecache"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Bound is a scorer bound to nodes by [Bind]. It answers for the nodes as they are when
// it is asked. What it keeps of them it brings up to date itself, at the cost of the rows
// that have changed.
//
//	scores := scoring.Bind(strategy, nodes)
//	row, ok := scores.Best(pod, nil, vector.TieSeeded(42))
//	err := nodes.Assume(row, pod)
//
// Rows select nodes, nil all of them. A pod is what [vector.Nodes.Assume] takes.
// Scorers score with what it requests and what is requested of the nodes; a [Term] can
// ask for the scored amounts of both instead.
//
// Where a pass over all nodes costs more, it keeps the scores of requests that come
// again, and scores only rows that have changed. The answers are the same. See
// [Bound.LimitCache].
//
// A Bound is for one goroutine. Only Place writes the nodes: several may be bound to one
// [vector.Nodes.Snapshot] and asked all else at the same time, as long as nobody writes or
// refreshes it. Warm, it allocates nothing but in Explain and for errors.
//
// A request or a mask of another size than the nodes is a mistake of the program: Best
// and TopK panic, the others return [vector.ErrShape]. After [vector.Nodes.Widen] bind a
// scorer that is compiled against the new map; otherwise Best and TopK panic, and the
// others return [vector.ErrSchema].
type Bound struct {
	nodes  *vector.Nodes
	m      *vectormap.ResourceVectorMap // nil: no scorer of this package
	plan   plan
	work   *workspace
	cache  *cache // nil: none, of a pod with rules of its own
	counts *scorecache.Counts

	placer *placer // nil: not used yet

	low, high float64 // the range of the scores, see ScorePercent
}

const (
	panicZero    = "scoring: scorer that no function of this package compiled"
	panicMap     = "scoring: nodes of another map than the scorer"
	panicScored  = "scoring: a term counts scored amounts, which the nodes do not keep; make them with vector.WithScored"
	panicRows    = "scoring: mask of another number of rows than the nodes"
	panicTie     = "scoring: tie rule not given"
	panicRequest = "scoring: request longer than the map"
)

// Bind binds a scorer to nodes, which then keep what makes it fast (see
// [vector.Nodes.KeepReciprocals]): all that costs a pass over the nodes is done here. It
// panics when the nodes are of another map than the scorer, or when a term of a
// combination counts scored amounts that the nodes don't keep. A copy of nodes must
// have been made before ([vector.Nodes.Snapshot]).
func Bind(scorer Scorer, nodes *vector.Nodes) *Bound {
	b := &Bound{nodes: nodes, work: new(workspace), counts: new(scorecache.Counts)}
	b.plan, b.m = newPlan(scorer, nodes, false)
	if b.checkNodes() != nil {
		panic(panicMap)
	}
	b.plan.keepReciprocals(nodes)
	b.low, b.high = b.plan.rangeOf()
	b.LimitCache(cacheBytes)
	return b
}

// WithOverride returns the scorer of a pod that brings its own rules, bound to the same
// nodes: they replace all rules of the fit of every [Strategy]; a plugin's weight
// still applies. It shares what b keeps, so it is cheap, and is for the same goroutine.
// A nil override returns b. It panics when the override was parsed against another map.
func (b *Bound) WithOverride(o *PodOverride) *Bound {
	if o == nil {
		return b
	}
	own := *b
	own.plan, own.cache, own.placer = b.plan.withOverride(o), nil, nil
	own.low, own.high = own.plan.rangeOf()
	return &own
}

// Best returns the best of the selected rows that can hold the pod, and whether there is
// one: it fits by the rule of [vector.Fit], scores, and picks as [vector.ArgMax] does.
// A pod that requests an amount that is negative, infinite or NaN has none; Score says
// what is wrong with it.
//
// Scores may be kept in the order of the tie. Where ranks change, give [vector.TieRank]
// another slice: one that is rewritten in place panics, sooner or later.
func (b *Bound) Best(pod vector.PodAmounts, rows *vector.Mask, tie vector.Tie) (row int, ok bool) {
	b.counts.Questions.Add(1)
	if !b.begin(pod, rows, tie) {
		return -1, false
	}
	if c := b.lookup(pod, rows, tie); c != nil {
		row, _, err := c.engine.Best(c, tie)
		c.done()
		return row, err == nil && row >= 0
	}
	if !b.fit(pod, rows) {
		return -1, false
	}
	if row, ok := b.bestPruned(pod, tie); ok {
		return row, true
	}
	if b.score(pod) != nil {
		return -1, false
	}
	row = vector.ArgMax(b.work.scores, &b.work.fits, tie)
	return row, row >= 0
}

// TopK sets dst to the k best of the selected rows that can hold the pod, the best
// first, as [vector.TopK] does, and returns it.
func (b *Bound) TopK(dst []int32, pod vector.PodAmounts, rows *vector.Mask, k int, tie vector.Tie) []int32 {
	b.counts.Questions.Add(1)
	if !b.begin(pod, rows, tie) {
		return dst[:0]
	}
	if c := b.lookup(pod, rows, tie); c != nil {
		dst, _ = c.engine.TopK(dst, c, k, tie) // empty with an error
		c.done()
		return dst
	}
	if !b.fit(pod, rows) || b.score(pod) != nil {
		return dst[:0]
	}
	return vector.TopK(dst, b.work.scores, &b.work.fits, k, tie)
}

// Score sets dst[r] for every selected row r, whether the pod fits there or not. Other
// elements of dst are not touched; it must have an element per row at least. Before it
// writes, it returns a [*vector.AmountError] for a pod that requests an amount that is
// negative, infinite or NaN.
func (b *Bound) Score(dst []float64, pod vector.PodAmounts, rows *vector.Mask) error {
	b.counts.Questions.Add(1)
	if err := b.check(len(dst), pod, rows); err != nil {
		return err
	}
	dst = dst[:b.len()]
	if !b.plan.fallible {
		return b.plan.score(b, dst, pod, wordsOf(rows))
	}
	w := b.work // a scorer of others may fail half-way
	w.scores = resized(w.scores, len(dst))
	if err := b.plan.score(b, w.scores, pod, wordsOf(rows)); err != nil {
		return err
	}
	kernel.EachRow(len(dst), wordsOf(rows), func(i int) { dst[i] = w.scores[i] })
	return nil
}

// ScorePercent is Score in percent of the highest score that there can be, rounded once
// to whole numbers from 0 to 100, halves up, as plugins of kube-scheduler return them. The
// scores of a [Kube] are such percents already; the scores of a [Strategy] with a plugin
// weight of 10 are divided by 10. A part that has no rules, or none of a resource of the
// map, adds nothing to the highest score. Of a combination whose scores can be negative it
// is the percent of the way from the lowest to the highest. NaN becomes 0.
//
// It is an error where scores have no bound: of a [Load] that is [Raw], of [DRF], and of
// types of other packages, unless they are normalized.
func (b *Bound) ScorePercent(dst []int64, pod vector.PodAmounts, rows *vector.Mask) error {
	b.counts.Questions.Add(1)
	if err := b.check(len(dst), pod, rows); err != nil {
		return err
	}
	low, span := b.low, b.high-b.low
	if span-span != 0 {
		return errNoRange
	}
	w, words := b.work, wordsOf(rows)
	dst = dst[:b.len()]
	if p := b.plan.only(); p != nil {
		if s, ok := p.rows.(intScorer); ok {
			s.scoreInts(dst, p.amounts(b, pod), words)
			return nil
		}
	}
	w.scores = resized(w.scores, len(dst))
	if err := b.plan.score(b, w.scores, pod, words); err != nil {
		return err
	}
	kernel.EachRow(len(dst), words, func(i int) { dst[i] = percentOf(w.scores[i]-low, span) })
	return nil
}

var errNoRange = errors.New("scoring: scores without bounds have no percentage: normalize them, or use Score")

// percentOf returns how many percent x is of span, cut to 0..100 and rounded once: halves
// are told from what is next to them by the rests of the products, as neither the quotient
// nor adding 0.5 is exact.
func percentOf(x, span float64) int64 {
	percent := float64(x*100) / span
	if !(percent > 0) || span == 0 { // or NaN, or scores that can only be 0
		return 0
	}
	below := math.Floor(min(percent, 100))
	half := below + 0.5
	p, h := float64(x*100), float64(half*span)
	if p > h || p == h && math.FMA(x, 100, -p) >= math.FMA(half, span, -h) {
		below++
	}
	return int64(min(below, 100))
}

// Explain returns the numbers that make the score of a row. Where a term is normalized,
// that is over the selected rows that can hold the pod, as in Best, and row must be one
// of these. A row that is not selected is [vector.ErrShape]; other errors are as in
// Score.
func (b *Bound) Explain(pod vector.PodAmounts, row int, rows *vector.Mask) (Explanation, error) {
	n := b.len()
	if err := b.check(n, pod, rows); err != nil {
		return Explanation{}, err
	}
	switch {
	case row < 0 || row >= n:
		return Explanation{}, shapeError("row %d of %d", row, n)
	case rows != nil && !rows.Test(row):
		return Explanation{}, shapeError("row %d is not selected by the mask", row)
	}
	w := b.work
	if !b.plan.normalized() {
		w.fits.Reset(n)
		w.fits.Set(row)
	} else if b.fit(pod, rows); !w.fits.Test(row) {
		return Explanation{}, shapeError("row %d cannot hold the pod", row)
	}
	if err := b.score(pod); err != nil {
		return Explanation{}, err
	}
	total := w.scores[row]
	e, err := b.plan.explain(b, pod, row)
	if err != nil {
		return Explanation{}, err
	}
	e.Total = total
	return e, nil
}

// begin checks the operands of a question that has no error for them. It reports false
// for a pod that requests what no node can have.
func (b *Bound) begin(pod vector.PodAmounts, rows *vector.Mask, tie vector.Tie) bool {
	if tie.Same(vector.Tie{}) {
		panic(panicTie)
	}
	if b.checkNodes() != nil {
		panic(panicMap)
	}
	if rows != nil && rows.Len() != b.len() {
		panic(panicRows)
	}
	if cols := b.nodes.Free().Cols(); len(pod.Requested) > cols || len(pod.Scored) > cols {
		panic(panicRequest)
	}
	return b.checkPod(pod) == nil
}

// check checks the operands of a question that has an error for them.
func (b *Bound) check(dst int, pod vector.PodAmounts, rows *vector.Mask) error {
	if err := b.checkNodes(); err != nil {
		return err
	}
	n := b.len()
	if rows != nil && rows.Len() != n {
		return shapeError("the mask has %d rows, the nodes %d", rows.Len(), n)
	}
	if dst < n {
		return shapeError("dst has %d elements, the nodes %d rows", dst, n)
	}
	for _, v := range [...]vector.ResourceVector{pod.Requested, pod.Scored} {
		if cols := b.nodes.Free().Cols(); len(v) > cols {
			return shapeError("request has %d amounts, the nodes %d columns", len(v), cols)
		}
	}
	return b.checkPod(pod)
}

// checkNodes checks that the nodes are of the scorer's map.
func (b *Bound) checkNodes() error {
	if b.m == nil {
		return nil
	}
	c := compiled{m: b.m}
	return c.checkMatrix("nodes", b.nodes.Free())
}

// checkPod checks the amounts of a pod.
func (b *Bound) checkPod(pod vector.PodAmounts) error {
	for _, v := range [...]vector.ResourceVector{pod.Requested, pod.Scored} {
		for i, x := range v {
			if !usable(x) {
				return badAmount(b.name(i), x)
			}
		}
	}
	return nil
}

// name returns the name of a column.
func (b *Bound) name(column int) string {
	i := 0
	for name := range b.nodes.Free().Schema().Names() {
		if i == column {
			return name
		}
		i++
	}
	return fmt.Sprint("column ", column) // of nodes without names
}

// workspace is the working memory of a question. It is shared by a Bound and the
// bounds that its WithOverride returns.
type workspace struct {
	fits    vector.Mask
	scores  []float64
	pruned  pruned
	node    [2]vector.ResourceVector // requested and allocatable of a row
	amounts amounts
}

func (b *Bound) len() int { return b.nodes.Free().Rows() }

// fit sets work.fits, and reports whether there are any.
func (b *Bound) fit(pod vector.PodAmounts, rows *vector.Mask) bool {
	w := b.work
	vector.FitAmong(&w.fits, b.nodes.Free(), pod.Requested, rows)
	return w.fits.Any()
}

// score sets work.scores of work.fits.
func (b *Bound) score(pod vector.PodAmounts) error {
	w := b.work
	w.scores = resized(w.scores, b.len())
	return b.plan.score(b, w.scores, pod, w.fits.Words())
}

// resized returns s with length n and undefined elements.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
