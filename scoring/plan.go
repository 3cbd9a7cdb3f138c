package scoring

import (
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// A plan is a scorer over the nodes of a Bound, and what is kept for it.
type plan struct {
	scorer  Scorer
	rows    rowScorer // scorer, if it is one
	sra     *sraRows  // of an SRA; nil: none, or off
	scored  bool      // it counts scored amounts
	foreign bool      // rows is nil, or that of a term

	// Of a combination:
	sum     *combination
	terms   []plan
	scratch *combineScratch
}

// newPlan plans a scorer, and takes over its map.
func (b *Bound) newPlan(scorer Scorer, scored bool) plan {
	p := plan{scorer: scorer, scored: scored}
	if scored && b.nodes.Scored() == b.nodes.Requested() {
		panic(panicScored)
	}
	switch s := scorer.(type) {
	case *combination:
		p.sum, p.scratch = s, new(combineScratch)
		for k := range s.terms {
			t := b.newPlan(s.terms[k].Scorer, scored || s.terms[k].Scored)
			p.terms, p.foreign = append(p.terms, t), p.foreign || t.foreign
		}
	case rowScorer:
		p.rows = s
		if m := s.resources(); m != nil {
			b.m = m
		} else if s != rowScorer((*SRA)(nil)) {
			panic(panicZero)
		}
		p.sra = newSRARows(s)
	default:
		p.foreign = true
	}
	return p
}

// withOverride returns the plan with the rules of a pod.
func (p plan) withOverride(o *PodOverride) plan {
	switch s := p.scorer.(type) {
	case *Strategy:
		own := s.WithOverride(o)
		p.scorer, p.rows = own, own
	case *StrategyFit:
		own := s.WithOverride(o)
		p.scorer, p.rows = own, own
	}
	p.terms = slices.Clone(p.terms)
	for k := range p.terms {
		p.terms[k] = p.terms[k].withOverride(o)
	}
	return p
}

// normalized reports whether scores depend on which rows are selected.
func (p *plan) normalized() bool { return p.sum != nil && p.sum.normalized }

// countsScored reports whether a scorer counts scored amounts.
func (p *plan) countsScored() bool {
	if p.scored {
		return true
	}
	for k := range p.terms {
		if p.terms[k].countsScored() {
			return true
		}
	}
	return false
}

// only returns the plan whose scores p's are, nil for a sum.
func (p *plan) only() *plan {
	if p.sum == nil {
		return p
	}
	if t := p.sum.terms[0]; len(p.terms) == 1 && t.Weight == 1 && t.Normalize == NormalizeNone {
		return p.terms[0].only()
	}
	return nil
}

// request returns what the scorer counts a pod as.
func (p *plan) request(pod vector.PodAmounts) vector.ResourceVector {
	if p.scored && pod.Scored != nil {
		return pod.Scored
	}
	return pod.Requested
}

// requested returns what the scorer counts as requested.
func (p *plan) requested(nodes *vector.Nodes) *vector.Matrix {
	if p.scored {
		return nodes.Scored()
	}
	return nodes.Requested()
}

// amounts returns the operands of p.rows, valid until the next call.
func (p *plan) amounts(b *Bound, pod vector.PodAmounts) *amounts {
	a := &b.work.amounts
	*a = amounts{request: p.request(pod), requested: p.requested(b.nodes), allocatable: b.nodes.Allocatable(), nodes: b.nodes}
	if p.sra != nil {
		a.base = p.sra.now(a.allocatable, &b.work.changed)
	}
	return a
}

// score sets dst, of an element per row, where words selects the row. Only scorers of
// others fail, and may have written then.
func (p *plan) score(b *Bound, dst []float64, pod vector.PodAmounts, words []uint64) error {
	switch {
	case p.rows != nil:
		p.rows.scoreRows(dst, p.amounts(b, pod), words)
		return nil
	case p.sum == nil:
		return p.scoreEach(b, dst, pod, words)
	}
	p.scratch.resize(len(p.terms), len(dst))
	for k := range p.terms {
		if err := p.terms[k].score(b, p.scratch.columns[k], pod, words); err != nil {
			return err
		}
	}
	p.sum.combine(dst, p.scratch.columns, p.scratch, words)
	return nil
}

// scoreEach scores row by row.
func (p *plan) scoreEach(b *Bound, dst []float64, pod vector.PodAmounts, words []uint64) error {
	for r := range dst {
		if words != nil && words[r/kernel.Block]>>(r%kernel.Block)&1 == 0 {
			continue
		}
		requested, allocatable := p.row(b, r)
		x, err := p.scorer.Score(p.request(pod), requested, allocatable)
		if err != nil {
			return err
		}
		dst[r] = x
	}
	return nil
}

// row returns the amounts of a row, valid until the next call.
func (p *plan) row(b *Bound, r int) (requested, allocatable vector.ResourceVector) {
	node := &b.work.node
	node[0] = p.requested(b.nodes).Row(node[0], r)
	node[1] = b.nodes.Allocatable().Row(node[1], r)
	return node[0], node[1]
}

// explain explains a row of work.fits. Its total is right unless a term is normalized.
func (p *plan) explain(b *Bound, pod vector.PodAmounts, row int) (Explanation, error) {
	if p.sum == nil {
		requested, allocatable := p.row(b, row)
		return p.scorer.Explain(p.request(pod), requested, allocatable)
	}
	rescalings, words := make([]rescaling, len(p.terms)), b.work.fits.Words()
	explanations, total := make([]Explanation, len(p.terms)), 0.0
	for k := range p.terms {
		t := &p.terms[k]
		if mode := p.sum.terms[k].Normalize; mode != NormalizeNone {
			scores := make([]float64, b.len())
			if err := t.score(b, scores, pod, words); err != nil {
				return Explanation{}, err
			}
			rescalings[k] = rescalingOf(scores, words, mode)
		}
		var err error
		if explanations[k], err = t.explain(b, pod, row); err != nil {
			return Explanation{}, err
		}
		total += float64(p.sum.weights[k] * explanations[k].Total)
	}
	e := p.sum.join(explanations, rescalings)
	e.Total = total // for a combination that is a term of another
	return e, nil
}

// A rowScorer is a scorer of this package that is no sum of others: it scores many
// rows at a time.
type rowScorer interface {
	Scorer

	// resources returns the map that the scorer was compiled against, nil for none.
	resources() *vectormap.ResourceVectorMap

	// divisors returns the columns of what nodes have whose reciprocals save time.
	divisors() []int

	cost() rowCost

	// scoreRows sets dst, of an element per row, where words selects the row. The
	// operands are checked. words may be nil for all rows.
	scoreRows(dst []float64, a *amounts, words []uint64)
}

// amounts are the operands of a rowScorer.
type amounts struct {
	request                vector.ResourceVector
	requested, allocatable *vector.Matrix
	nodes                  *vector.Nodes // whose matrices these are; nil: none, and no reciprocals
	base                   []float64     // of the scorer's SRA, see sraRows; nil: it has none, or it is off
}

// reciprocals returns those of a column of allocatable; see [vector.Nodes.Reciprocals].
func (a *amounts) reciprocals(column int) (reciprocals []float64, whole bool) {
	if a.nodes == nil {
		return nil, false
	}
	return a.nodes.Reciprocals(column)
}
