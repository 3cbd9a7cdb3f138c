package scoring

import (
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// A plan is a scorer over the nodes of a Bound: a sum of plans, rows of this package's own
// scorers, or a scorer of others, which is asked row by row.
type plan struct {
	scorer   Scorer
	rows     rowScorer // nil: a sum, or a scorer of others
	scored   bool      // it counts scored amounts
	fallible bool      // it is, or has a term that is, a scorer of others

	// Of a combination:
	sum     *combination
	terms   []plan
	scratch *combineScratch
}

// newPlan plans a scorer, and returns the map that it was compiled against, nil for none.
func newPlan(scorer Scorer, nodes *vector.Nodes, scored bool) (p plan, m *vectormap.ResourceVectorMap) {
	p = plan{scorer: scorer, scored: scored}
	if scored && !keepsScored(nodes) {
		panic(panicScored)
	}
	if s, isOwn := own(scorer); isOwn {
		if m = s.made(); m == nil {
			panic(panicZero)
		}
		p.rows = s.bind()
		return p, m
	}
	sum, isSum := scorer.(*combination)
	if !isSum {
		p.fallible = true
		return p, nil
	}
	p.sum, p.scratch = sum, new(combineScratch)
	for k := range sum.terms {
		t, of := newPlan(sum.terms[k].Scorer, nodes, scored || sum.terms[k].Scored)
		p.terms, p.fallible = append(p.terms, t), p.fallible || t.fallible
		if of != nil {
			m = of
		}
	}
	return p, m
}

// keepsScored reports whether nodes keep scored amounts.
func keepsScored(nodes *vector.Nodes) bool { return nodes.Scored() != nodes.Requested() }

// keepReciprocals has the nodes keep those that the plan can use.
func (p *plan) keepReciprocals(nodes *vector.Nodes) {
	if p.rows != nil {
		nodes.KeepReciprocals(p.rows.divisors()...)
	}
	for k := range p.terms {
		p.terms[k].keepReciprocals(nodes)
	}
}

// withOverride returns the plan with the rules of a pod.
func (p plan) withOverride(o *PodOverride) plan {
	if s, ok := p.rows.(ruleScorer); ok {
		p.rows = s.withRules(o)
		p.scorer = p.rows
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

// rangeOf returns the lowest and the highest score, of which one is infinite if there is no
// bound.
func (p *plan) rangeOf() (low, high float64) {
	switch {
	case p.rows != nil:
		return 0, p.rows.highest()
	case p.sum == nil:
		return 0, math.Inf(1)
	}
	for k := range p.terms {
		least, most := p.terms[k].rangeOf()
		switch mode := p.sum.terms[k].Normalize; {
		case mode == NormalizeMinMax || mode != "" && least >= 0:
			least, most = 0, 100
		case mode != "": // of scores below 0 it has no bound
			most = math.Inf(1)
		}
		switch w := p.sum.weights[k]; {
		case w > 0:
			low, high = low+float64(w*least), high+float64(w*most)
		case w < 0:
			low, high = low+float64(w*most), high+float64(w*least)
		}
	}
	return low, high
}

// only returns the plan whose scores p's are, nil for a sum.
func (p *plan) only() *plan {
	if p.sum == nil {
		return p
	}
	if t := p.sum.terms[0]; len(p.terms) == 1 && t.Weight == 1 && t.Normalize == "" {
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
		if mode := p.sum.terms[k].Normalize; mode != "" {
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
		// Rounded before it is added, as in the kernel: the same bits on every CPU.
		total += float64(p.sum.weights[k] * explanations[k].Total)
	}
	e := p.sum.join(explanations, rescalings)
	e.Total = total // for a combination that is a term of another
	return e, nil
}
