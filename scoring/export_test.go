package scoring

import (
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// ScoreBatch is what a scorer does with the rows of nodes, over matrices that hold what
// nodes refuse, too. The operands are not checked.
func ScoreBatch(s Scorer, dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	words := wordsOf(rows)
	dst = dst[:allocatable.Rows()]
	if o, ok := own(s); ok {
		o.bind().scoreRows(dst, &amounts{request: request, requested: used, allocatable: allocatable}, words)
		return nil
	}
	switch s := s.(type) {
	case *combination:
		var scratch combineScratch
		scratch.resize(len(s.terms), len(dst))
		for k, column := range scratch.columns {
			if err := ScoreBatch(s.terms[k].Scorer, column, request, used, allocatable, rows); err != nil {
				return err
			}
		}
		s.combine(dst, scratch.columns, &scratch, words)
	default:
		var first error
		kernel.EachRow(len(dst), words, func(i int) {
			x, err := s.Score(request, used.Row(nil, i), allocatable.Row(nil, i))
			if first == nil {
				first = err
			}
			dst[i] = x
		})
		return first
	}
	return nil
}

// ScoreInts is ScoreBatch in whole numbers.
func ScoreInts(k *Kube, dst []int64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	kubeRows(k, dst[:allocatable.Rows()], &amounts{request: request, requested: used, allocatable: allocatable}, wordsOf(rows))
	return nil
}

// Combination is what Combine returns.
type Combination = combination

// Terms returns the terms.
func (c *combination) Terms() []Term { return c.terms }

// Normalized reports whether a term is normalized.
func (c *combination) Normalized() bool { return c.normalized }

// PercentOf rounds as ScorePercent does.
var PercentOf = percentOf

// CacheAll makes a bound scorer keep the scores of every request, whatever it costs.
func CacheAll(b *Bound) { b.cache.always = true }

// FilterMatrices is what a predicate does with the rows of nodes, over matrices that hold
// what nodes refuse, too.
func FilterMatrices(p *Proportional, dst *vector.Mask, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) {
	if rows == nil {
		dst.Reset(allocatable.Rows())
		dst.SetAll()
	} else {
		dst.CopyFrom(rows)
	}
	if !p.exempts(request) {
		p.and(dst, request, used, allocatable)
	}
}

// BestPruned reports whether the best row is found without scoring all that fit.
func BestPruned(b *Bound, pod vector.PodAmounts, rows *vector.Mask) bool {
	if !b.fit(pod, rows) {
		return false
	}
	_, ok := b.bestPruned(pod, vector.TieLowest())
	return ok
}

// Fit and SRA are a strategy with one of its parts.
func (s *Strategy) Fit() *Strategy { return &Strategy{compiled: s.compiled, fit: s.fit} }
func (s *Strategy) SRA() *Strategy {
	return &Strategy{compiled: s.compiled, fit: &strategyFit{m: s.m}, sra: s.sra}
}

// WithOverride returns the scorer with the rules of a pod, over single nodes.
func (s *Strategy) WithOverride(o *PodOverride) *Strategy { return s.withOverride(o) }

// PathsOf returns the paths of the faults in an error, and the unknown names.
var PathsOf = pathsOf
