package scoring

import (
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Term is one scorer of a combination; see [Combine].
type Term struct {
	Scorer Scorer

	// Weight is finite. With 0 the term counts nothing. Give a negative one to a scorer
	// whose lower scores are better, such as [DRF]. Mind the ranges: [Kube] and [Load]
	// score 0 to 100, a [Strategy] 0 to 100 times the weights of its configuration,
	// which are 10 for the fit by default, and none for SRA.
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

// Combine returns a weighted sum of scorers: 0 + Weight·score, term by term in list
// order, with scores normalized over the selected rows where a term says so. There must
// be one term at least, and the scorers must have been compiled against equal maps.
//
// A normalized score depends on the other rows: Score and Explain of a combination with a
// normalized term are [ErrNeedsBatch], and [Bind] makes of it what answers. Both score
// all terms with the same amounts, whatever [Term] says of scored ones.
//
// A combination can be a term of another one, unless it normalizes. Where it counts
// scored amounts, all its terms do.
//
// Errors are a field.ErrorList, as an aggregate, with the paths terms,
// terms[i].scorer, terms[i].weight and terms[i].normalize.
func Combine(terms []Term) (Scorer, error) {
	var r report
	path := field.NewPath("terms")
	if len(terms) == 0 {
		r.fail(field.Required(path, ""))
	}
	c := &combination{terms: append([]Term(nil), terms...)}
	var first vector.Schema
	for i, t := range terms {
		path := path.Index(i)
		if t.Scorer == nil {
			r.fail(field.Required(path.Child("scorer"), ""))
		}
		if inner, ok := t.Scorer.(*combination); ok && inner.normalized {
			r.fail(field.Invalid(path.Child("scorer"), t.Name, "a combination with a normalized term can't be a term"))
		}
		switch schema, isZero := schemaOf(t.Scorer); {
		case isZero:
			r.fail(field.Invalid(path.Child("scorer"), t.Name, "a scorer that no function of this package compiled"))
		case schema == vector.Schema{}:
		case first == (vector.Schema{}):
			first = schema
		case schema != first:
			r.fail(field.Invalid(path.Child("scorer"), t.Name, "compiled against another map than the scorers before it"))
		}
		if t.Weight-t.Weight != 0 {
			r.fail(field.Invalid(path.Child("weight"), t.Weight, "must be finite"))
		}
		if t.Normalize != "" && !slices.Contains(normalizations, t.Normalize) {
			r.fail(field.NotSupported(path.Child("normalize"), t.Normalize, normalizations))
		}
		c.weights = append(c.weights, t.Weight)
		c.normalized = c.normalized || t.Normalize != ""
	}
	if _, err := r.finish(); err != nil {
		return nil, err
	}
	return c, nil
}

// combination is what Combine returns.
type combination struct {
	terms      []Term
	weights    []float64
	normalized bool
}

// Score returns the score of one node, [ErrNeedsBatch] when a term is normalized.
func (c *combination) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	if c.normalized {
		return 0, ErrNeedsBatch
	}
	sum := 0.0
	for k := range c.terms {
		x, err := c.terms[k].Scorer.Score(request, requested, allocatable)
		if err != nil {
			return 0, err
		}
		// The conversion rounds the product: fused with the sum it could end in other
		// bits than on a CPU that has no such instruction.
		sum += float64(c.weights[k] * x)
	}
	return sum, nil
}

// combineScratch is the working memory of a combination: a score per term and row. The
// zero value is ready; it grows to what it is used for.
type combineScratch struct {
	room    []float64
	columns [][]float64
}

// resize makes room for terms columns of rows scores.
func (s *combineScratch) resize(terms, rows int) {
	// Whole cache lines, an odd number of them: columns a power of two apart
	// would share cache sets.
	stride := (rows+15)/16*16 + 8
	if cap(s.room) < terms*stride {
		s.room = make([]float64, terms*(stride+stride/4/16*16))
	}
	s.columns = s.columns[:0]
	for k := range terms {
		s.columns = append(s.columns, s.room[k*stride:][:rows:rows])
	}
}

// combine sets dst, where words selects the row, to the combination of the scores of all
// terms before they are normalized. It keeps the scores unless they are columns of the
// scratch, which is of the right size.
func (c *combination) combine(dst []float64, scores [][]float64, scratch *combineScratch, words []uint64) {
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
func (c *combination) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
	total, err := c.Score(request, requested, allocatable)
	if err != nil {
		return Explanation{}, err
	}
	explanations := make([]Explanation, len(c.terms))
	for k := range c.terms {
		if explanations[k], err = c.terms[k].Scorer.Explain(request, requested, allocatable); err != nil {
			return Explanation{}, err
		}
	}
	e := c.join(explanations, make([]rescaling, len(c.terms)))
	e.Total = total
	return e, nil
}

// join joins the explanations of the terms, each rescaled and weighted, without a total.
func (c *combination) join(explanations []Explanation, rescalings []rescaling) Explanation {
	var e Explanation
	var reasons []string
	for k, x := range explanations {
		t := &c.terms[k]
		if x.Reason != "" {
			reasons = append(reasons, strings.TrimPrefix(t.Name+": "+x.Reason, ": "))
		}
		if t.Normalize != "" {
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
		Name: t.Name, Weight: t.Weight, Score: float64(factor*x.Total) + offset, Raw: x.Total,
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
			Index: -1, Name: "normalization", Type: string(t.Normalize), Weight: 1, Contribution: t.Weight * offset,
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

// schemaOf returns the schema that s was compiled against, if it says so, and whether it is
// a zero value.
func schemaOf(s Scorer) (schema vector.Schema, isZero bool) {
	if c, isSum := s.(*combination); isSum {
		for k := range c.terms {
			if schema, _ = schemaOf(c.terms[k].Scorer); schema != (vector.Schema{}) {
				break
			}
		}
		return schema, false
	}
	o, isOwn := own(s)
	if !isOwn {
		return schema, false
	}
	m := o.made()
	if m == nil {
		return schema, true
	}
	return m.Schema(), false
}
