package scoring

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Term is one scorer of a [Combination].
type Term struct {
	Scorer Scorer

	// Weight is finite. A negative one turns a scorer around whose lower scores
	// are better, such as [DRF].
	Weight float64

	// Normalize rescales the scores over the selected rows before they are
	// weighted.
	Normalize Normalization

	// Scored counts the scored amounts of pods and nodes ([vector.WithScored]) in the
	// place of the requested ones, where the scorer is bound to nodes. kube-scheduler
	// does so for the strategies of NodeResourcesFit, and not for
	// NodeResourcesBalancedAllocation.
	Scored bool

	// Name is shown by explanations in the place of the scorer's own; it may be
	// empty.
	Name string
}

// Combination is a weighted sum of scorers: 0 + Weight·score, term by term in
// list order, with scores normalized over the selected rows where a term says
// so. Such a normalized score depends on the other rows, so that Score and
// Explain of a combination with a normalized term are [ErrNeedsBatch]; use
// ScoreBatch and [Combination.ExplainBatch].
//
// All terms score with one request and one matrix of used amounts, but in the
// methods that are named after terms: these take one of each for every term, in
// their order, and panic on another number.
//
// A Combination is safe for concurrent use.
type Combination struct {
	terms      []Term
	weights    []float64
	normalized bool
	scratch    *sync.Pool // of *CombineScratch
}

var _ Scorer = (*Combination)(nil)

// Combine returns the weighted sum of terms, of which there must be one at least.
// The scorers must have been compiled against equal maps. A combination can be a
// term of another one, unless it normalizes.
//
// Errors are a field.ErrorList, as an aggregate, with the paths terms,
// terms[i].scorer, terms[i].weight and terms[i].normalize.
func Combine(terms []Term) (*Combination, error) {
	var r report
	path := field.NewPath("terms")
	if len(terms) == 0 {
		r.fail(field.Required(path, ""))
	}
	c := &Combination{terms: append([]Term(nil), terms...)}
	var first vector.Schema
	for i, t := range terms {
		path := path.Index(i)
		absent := isNil(t.Scorer)
		if absent {
			r.fail(field.Required(path.Child("scorer"), ""))
		}
		if inner, ok := t.Scorer.(*Combination); ok && !absent && inner.Normalized() {
			r.fail(field.Invalid(path.Child("scorer"), t.Name, "a combination with a normalized term can't be a term"))
		}
		schema, known := vector.Schema{}, false
		if !absent {
			schema, known = schemaOf(t.Scorer)
		}
		switch {
		case !known:
		case first.IsZero():
			first = schema
		case schema != first:
			r.fail(field.Invalid(path.Child("scorer"), t.Name, "compiled against another map than the scorers before it"))
		}
		if t.Weight-t.Weight != 0 {
			r.fail(field.Invalid(path.Child("weight"), t.Weight, "must be finite"))
		}
		if t.Normalize > NormalizeReverse {
			r.fail(field.NotSupported(path.Child("normalize"), uint8(t.Normalize), []string{"None", "MinMax", "Max", "Reverse"}))
		}
		c.weights = append(c.weights, t.Weight)
		c.normalized = c.normalized || t.Normalize != NormalizeNone
	}
	if _, err := r.finish(); err != nil {
		return nil, err
	}
	c.scratch = &sync.Pool{New: func() any { return new(CombineScratch) }}
	return c, nil
}

// WithOverride returns the combination of a pod that brings its own rules: those
// of every term that is a [Strategy] or a [StrategyFit], or a combination with
// such terms, are replaced; see [StrategyFit.WithOverride]. A nil override
// returns c.
func (c *Combination) WithOverride(o *PodOverride) *Combination {
	live(c != nil)
	if o == nil {
		return c
	}
	own := *c
	own.terms = slices.Clone(c.terms)
	for k := range own.terms {
		t := &own.terms[k]
		switch s := t.Scorer.(type) {
		case *Strategy:
			t.Scorer = s.WithOverride(o)
		case *StrategyFit:
			t.Scorer = s.WithOverride(o)
		case *Combination:
			t.Scorer = s.WithOverride(o)
		}
	}
	return &own
}

// Terms returns the terms. The caller must not change them.
func (c *Combination) Terms() []Term {
	live(c != nil)
	return c.terms
}

// Normalized reports whether a term is normalized, so that a score needs a
// batch.
func (c *Combination) Normalized() bool {
	live(c != nil)
	return c.normalized
}

// TermRow is what a term scores one node with, where terms differ in that.
type TermRow struct{ Request, Used vector.ResourceVector }

// TermRows is what a term scores nodes with, where terms differ in that. So
// kube-scheduler has LeastAllocated count 100m of cpu and 200Mi of memory for every
// container that requests none, in the pod and in what is used, and
// BalancedAllocation the true amounts.
type TermRows struct {
	Request vector.ResourceVector
	Used    *vector.Matrix
}

// of returns what term k has, of a list for every term, or of one for all of them.
func of[T TermRow | TermRows](list []T, k int) T { return list[min(k, len(list)-1)] }

// Score returns the score of one node, [ErrNeedsBatch] when a term is normalized.
func (c *Combination) Score(request, used, allocatable vector.ResourceVector) (float64, error) {
	live(c != nil)
	return c.score([]TermRow{{request, used}}, allocatable)
}

// ScoreTerms is Score with a request and used amounts for every term.
func (c *Combination) ScoreTerms(terms []TermRow, allocatable vector.ResourceVector) (float64, error) {
	live(c != nil)
	if len(terms) != len(c.terms) {
		panic(panicTerms)
	}
	return c.score(terms, allocatable)
}

func (c *Combination) score(terms []TermRow, allocatable vector.ResourceVector) (float64, error) {
	if c.normalized {
		return 0, ErrNeedsBatch
	}
	sum := 0.0
	for k := range c.terms {
		t := of(terms, k)
		x, err := c.terms[k].Scorer.Score(t.Request, t.Used, allocatable)
		if err != nil {
			return 0, err
		}
		sum += float64(c.weights[k] * x)
	}
	return sum, nil
}

// CombineScratch is the working memory of one call at a time: a score per term
// and row. The zero value is ready; it grows to what it is used for.
type CombineScratch struct {
	room    []float64
	columns [][]float64
}

// resize makes room for terms columns of rows scores.
func (s *CombineScratch) resize(terms, rows int) {
	// Whole cache lines, an odd number of them: columns a power of two apart
	// would share cache sets.
	stride := (rows+15)/16*16 + 8
	if cap(s.room) < terms*stride {
		s.room = make([]float64, terms*stride)
	}
	s.columns = s.columns[:0]
	for k := range terms {
		s.columns = append(s.columns, s.room[k*stride:][:rows:rows])
	}
}

// ScoreBatch scores the selected nodes; see [Scorer]. It keeps its working memory
// in a pool; [Combination.ScoreBatchWith] takes that of the caller.
func (c *Combination) ScoreBatch(dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	live(c != nil)
	scratch := c.scratch.Get().(*CombineScratch)
	err := c.ScoreBatchWith(scratch, dst, request, used, allocatable, rows)
	c.scratch.Put(scratch)
	return err
}

// ScoreBatchWith is ScoreBatch with the caller's working memory.
func (c *Combination) ScoreBatchWith(scratch *CombineScratch, dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	live(c != nil)
	return c.scoreBatch(scratch, dst, []TermRows{{request, used}}, allocatable, rows)
}

// ScoreTermsBatch is ScoreBatchWith with a request and used amounts for every term.
func (c *Combination) ScoreTermsBatch(scratch *CombineScratch, dst []float64, terms []TermRows, allocatable *vector.Matrix, rows *vector.Mask) error {
	live(c != nil)
	if len(terms) != len(c.terms) {
		panic(panicTerms)
	}
	return c.scoreBatch(scratch, dst, terms, allocatable, rows)
}

// checkTerms is checkMatrices for the used amounts of all terms.
func checkTerms(terms []TermRows, allocatable *vector.Matrix, rows *vector.Mask) error {
	for k := range terms {
		if err := checkMatrices(terms[k].Used, allocatable, rows); err != nil {
			return err
		}
	}
	return nil
}

func (c *Combination) scoreBatch(scratch *CombineScratch, dst []float64, terms []TermRows, allocatable *vector.Matrix, rows *vector.Mask) error {
	if err := checkTerms(terms, allocatable, rows); err != nil {
		return err
	}
	n := allocatable.Rows()
	if err := checkElements("dst", len(dst), n); err != nil {
		return err
	}
	scratch.resize(len(c.terms), n)
	for k, column := range scratch.columns {
		t := of(terms, k)
		if err := c.terms[k].Scorer.ScoreBatch(column, t.Request, t.Used, allocatable, rows); err != nil {
			return err
		}
	}
	c.combine(dst[:n], scratch.columns, scratch, wordsOf(rows))
	return nil
}

const (
	panicTerms  = "scoring: another number of terms"
	panicScores = "scoring: fewer scores than rows"
)

// CombineScores sets dst[r], for every selected row, to the combination of
// scores[k][r], the scores of the terms before they are normalized: for callers
// that keep these and know what changed. The scores stay as they are. There must
// be one slice per term. dst and the slices have an element per row at least, and
// dst is not one of them; rows are as many as the mask has, or with a nil mask, as
// dst has.
func (c *Combination) CombineScores(scratch *CombineScratch, dst []float64, scores [][]float64, rows *vector.Mask) {
	live(c != nil)
	if len(scores) != len(c.terms) {
		panic(panicTerms)
	}
	dst = upTo(dst, rows)
	for _, s := range scores {
		if len(s) < len(dst) {
			panic(panicScores)
		}
	}
	scratch.resize(len(scores), len(dst))
	c.combine(dst, scores, scratch, wordsOf(rows))
}

// combine is CombineScores with checked arguments and scratch of the right size;
// scores may be its columns, which are then overwritten.
func (c *Combination) combine(dst []float64, scores [][]float64, scratch *CombineScratch, words []uint64) {
	for k, s := range scores {
		s = s[:len(dst)]
		if r := rescalingOf(s, words, c.terms[k].Normalize); r.kind != unchanged {
			r.apply(scratch.columns[k], s, words)
		} else {
			scratch.columns[k] = s
		}
	}
	kernel.Combine(dst, scratch.columns, c.weights, words)
}

// Explain returns the terms of the score of one node, [ErrNeedsBatch] when one is
// normalized. Contributions are weighted, so that they add up to the total.
func (c *Combination) Explain(request, used, allocatable vector.ResourceVector) (Explanation, error) {
	live(c != nil)
	return c.explainRow([]TermRow{{request, used}}, allocatable)
}

// ExplainTerms is Explain with a request and used amounts for every term.
func (c *Combination) ExplainTerms(terms []TermRow, allocatable vector.ResourceVector) (Explanation, error) {
	live(c != nil)
	if len(terms) != len(c.terms) {
		panic(panicTerms)
	}
	return c.explainRow(terms, allocatable)
}

func (c *Combination) explainRow(terms []TermRow, allocatable vector.ResourceVector) (Explanation, error) {
	total, err := c.score(terms, allocatable)
	if err != nil {
		return Explanation{}, err
	}
	return c.explain(total, terms, allocatable, make([]rescaling, len(c.terms)))
}

// ExplainBatch returns the terms of the score that ScoreBatch gives a row. A row
// that is not selected is [vector.ErrShape]. A normalized term is one term
// whatever its scorer is made of, and Raw is its score before. What its
// normalization adds to every row has a line among the resources, with the Index
// -1.
func (c *Combination) ExplainBatch(row int, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) (Explanation, error) {
	live(c != nil)
	return c.explainBatch(row, []TermRows{{request, used}}, allocatable, rows)
}

// ExplainTermsBatch is ExplainBatch with a request and used amounts for every term.
func (c *Combination) ExplainTermsBatch(row int, terms []TermRows, allocatable *vector.Matrix, rows *vector.Mask) (Explanation, error) {
	live(c != nil)
	if len(terms) != len(c.terms) {
		panic(panicTerms)
	}
	return c.explainBatch(row, terms, allocatable, rows)
}

func (c *Combination) explainBatch(row int, terms []TermRows, allocatable *vector.Matrix, rows *vector.Mask) (Explanation, error) {
	if err := checkTerms(terms, allocatable, rows); err != nil {
		return Explanation{}, err
	}
	n := allocatable.Rows()
	switch {
	case row < 0 || row >= n:
		return Explanation{}, shapeError("row %d of %d", row, n)
	case rows != nil && !rows.Test(row):
		return Explanation{}, shapeError("row %d is not selected by the mask", row)
	}
	total, rescalings := make([]float64, n), make([]rescaling, len(c.terms))
	if err := c.scoreBatch(new(CombineScratch), total, terms, allocatable, rows); err != nil {
		return Explanation{}, err
	}
	scores := make([]float64, n)
	for k, t := range c.terms {
		if t.Normalize == NormalizeNone {
			continue
		}
		its := of(terms, k)
		if err := t.Scorer.ScoreBatch(scores, its.Request, its.Used, allocatable, rows); err != nil {
			return Explanation{}, err
		}
		rescalings[k] = rescalingOf(scores, wordsOf(rows), t.Normalize)
	}
	var own []TermRow
	for _, t := range terms {
		own = append(own, TermRow{t.Request, t.Used.Row(nil, row)})
	}
	return c.explain(total[row], own, allocatable.Row(nil, row), rescalings)
}

// explain explains one node.
func (c *Combination) explain(total float64, terms []TermRow, allocatable vector.ResourceVector, rescalings []rescaling) (Explanation, error) {
	explanations := make([]Explanation, len(c.terms))
	for k := range c.terms {
		var err error
		its := of(terms, k)
		if explanations[k], err = c.terms[k].Scorer.Explain(its.Request, its.Used, allocatable); err != nil {
			return Explanation{}, err
		}
	}
	e := c.join(explanations, rescalings)
	e.Total = total
	return e, nil
}

// join joins the explanations of the terms, each rescaled and weighted, without a total.
func (c *Combination) join(explanations []Explanation, rescalings []rescaling) Explanation {
	var e Explanation
	var reasons []string
	for k, x := range explanations {
		t := &c.terms[k]
		if x.Reason != "" {
			reasons = append(reasons, strings.TrimPrefix(t.Name+": "+x.Reason, ": "))
		}
		if t.Normalize != NormalizeNone {
			e.Terms = append(e.Terms, t.explainNormalized(&x, rescalings[k]))
			continue
		}
		for _, term := range x.Terms {
			if t.Name != "" && len(x.Terms) > 1 {
				term.Name = t.Name + "/" + term.Name
			} else if t.Name != "" {
				term.Name = t.Name
			}
			term.Weight *= t.Weight
			scaleContributions(term.Dims, t.Weight)
			e.Terms = append(e.Terms, term)
		}
	}
	e.Reason = strings.Join(reasons, "; ")
	return e
}

// explainNormalized makes one term of the explanation of a scorer.
func (t *Term) explainNormalized(x *Explanation, r rescaling) TermExplanation {
	factor, offset := r.linear()
	term := TermExplanation{
		Name: t.Name, Weight: t.Weight, Score: float64(factor*x.Total) + offset, Raw: x.Total, Normalize: t.Normalize,
	}
	var names []string
	for _, inner := range x.Terms {
		names = append(names, inner.Name)
		if len(x.Terms) > 1 { // say whose each resource is
			for k := range inner.Dims {
				d := &inner.Dims[k]
				d.Type = strings.TrimSuffix(inner.Name+" "+d.Type, " ")
			}
		}
		term.Dims = append(term.Dims, inner.Dims...)
	}
	if term.Name == "" {
		term.Name = strings.Join(names, "+")
	}
	scaleContributions(term.Dims, t.Weight*factor)
	if offset != 0 {
		term.Dims = append(term.Dims, DimExplanation{
			Index: -1, Name: "normalization", Type: t.Normalize.String(), Weight: 1, Contribution: t.Weight * offset,
		})
	}
	return term
}

// scaleContributions multiplies contributions in place.
func scaleContributions(dims []DimExplanation, factor float64) {
	for k := range dims {
		dims[k].Contribution *= factor
	}
}

// isNil reports whether there is no scorer; an SRA may be nil.
func isNil(s Scorer) bool {
	if _, isSRA := s.(*SRA); isSRA || s == nil {
		return s == nil
	}
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// schemaOf returns the schema that s was compiled against, if it says so.
func schemaOf(s Scorer) (schema vector.Schema, known bool) {
	switch s := s.(type) {
	case *SRA:
		if s != nil {
			return s.schema(), true
		}
	case interface{ schema() vector.Schema }:
		return s.schema(), true
	case *Combination:
		for k := range s.terms {
			if schema, known = schemaOf(s.terms[k].Scorer); known {
				return schema, true
			}
		}
	}
	return vector.Schema{}, false
}
