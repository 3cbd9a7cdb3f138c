package scoring

import (
	"math"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DRFConfig configures [CompileDRF].
type DRFConfig struct {
	// Weights are as in [LoadConfig].
	Weights map[string]float64

	// Unlimited is the amount that says that a queue's entitlement to a resource
	// has no limit, often -1. nil: there is none.
	Unlimited *float64

	// Fallback takes the place of an unlimited entitlement, for example the totals
	// of the cluster. It is padded with zeros. nil: the resource is left out for
	// that queue.
	Fallback vector.ResourceVector

	// ZeroFactor is what an amount is multiplied by where the entitlement is 0,
	// since it can't be divided; KAI-Scheduler uses 1000. 0 means that the
	// resource is left out for that queue.
	ZeroFactor float64
}

// DRF computes the dominant share of queues, by which dominant resource fairness
// (Ghodsi et al., NSDI 2011) orders them: lower is better, and the next job is
// the job of the queue with the least share. A row is a queue, requested is what it has,
// allocatable its entitlement, and request the candidate job, or nil for none.
//
// The share is the greatest (x/c)·w over the resources with weight w > 0, 0 at
// least, with x = requested + request and c the entitlement, or its replacement (see
// [DRFConfig]). A negative c is left out. NaN, as an amount or as a quotient,
// makes the share +Inf: such a queue comes last.
//
// A DRF is immutable and safe for concurrent use.
type DRF struct {
	compiled
	weights dimWeights
	dims    []loadDim
	rule    kernel.ShareRule
}

var _ Scorer = (*DRF)(nil)

// CompileDRF returns the scorer for a configuration, which may change
// afterwards. Errors are a field.ErrorList, as an aggregate, with the paths
// weights["name"], unlimited, fallback[i] and zeroFactor, and a
// [*vectormap.UnknownResourcesError].
func CompileDRF(cfg DRFConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*DRF, error) {
	var r report
	weights := compileWeights(cfg.Weights, m, options(opts), &r)
	checkCapacities("fallback", cfg.Fallback, m, &r)
	if !usable(cfg.ZeroFactor) {
		r.fail(field.Invalid(field.NewPath("zeroFactor"), cfg.ZeroFactor, "must be finite and not negative"))
	}
	rule := kernel.ShareRule{Unlimited: math.NaN(), ZeroFactor: cfg.ZeroFactor}
	switch path := field.NewPath("unlimited"); {
	case cfg.Unlimited == nil && cfg.Fallback != nil:
		r.warn(field.Required(path, "without it, fallback has no effect"))
	case cfg.Unlimited == nil:
	case *cfg.Unlimited != *cfg.Unlimited:
		r.fail(field.Invalid(path, *cfg.Unlimited, "must be a number"))
	default:
		rule.Unlimited = *cfg.Unlimited
	}
	warnings, err := r.finish()
	if err != nil {
		return nil, err
	}
	d := &DRF{compiled{m, warnings}, weights, weights.dims(), rule}
	for k := range d.dims {
		d.dims[k].capacity = skipped
		if cfg.Fallback != nil {
			d.dims[k].capacity = at(cfg.Fallback, d.dims[k].index)
		}
	}
	return d, nil
}

// skipped is an entitlement that is left out.
const skipped = -1

// Score returns the share of one queue.
func (d *DRF) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	if err := d.checkRow(request, requested, allocatable); err != nil {
		return 0, err
	}
	var row kernel.LoadRow
	for k := range d.dims {
		dim := &d.dims[k]
		v := at(requested, dim.index) + at(request, dim.index)
		d.rule.Add(&row, v, at(allocatable, dim.index), dim.weight, dim.capacity)
	}
	return row.Share(), nil
}

func (d *DRF) scoreRows(dst []float64, a *amounts, words []uint64) {
	var list loadList
	for k := range d.dims {
		if !list.append(&d.dims[k], a) {
			d.scoreEach(dst, a, words)
			return
		}
	}
	kernel.Share(dst, list.dims[:list.n], d.rule, words)
}

func (d *DRF) self() Scorer { return d }

func (d *DRF) bind() rowScorer { return d }

func (d *DRF) highest() float64 { return math.Inf(1) }

func (d *DRF) divisors() []int { return nil }

func (d *DRF) cost() rowCost {
	n := float64(len(d.dims))
	return rowCost{column: 0.35, least: n, most: n}
}

// scoreEach is scoreRows for any number of resources.
func (d *DRF) scoreEach(dst []float64, a *amounts, words []uint64) {
	kernel.EachRow(len(dst), words, func(i int) {
		var row kernel.LoadRow
		for k := range d.dims {
			dim := &d.dims[k]
			v := a.requested.At(i, dim.index) + at(a.request, dim.index)
			d.rule.Add(&row, v, a.allocatable.At(i, dim.index), dim.weight, dim.capacity)
		}
		dst[i] = row.Share()
	})
}

// Explain returns the resources that count for one queue, or that the job
// requests; the greatest has all points. A Reason is set when the share
// is +Inf because of a NaN.
func (d *DRF) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
	score, err := d.Score(request, requested, allocatable)
	if err != nil {
		return Explanation{}, err
	}
	next := 0 // in d.dims, which have the order in which explain asks
	dims, counted := d.weights.explain(d.m, request, requested, allocatable, func(x *DimExplanation) (float64, bool) {
		dim := &d.dims[next]
		next++
		x.Type = "DRF"
		if x.Allocatable == d.rule.Unlimited && dim.capacity == skipped {
			x.Status = Inert
		}
		return d.rule.Term(x.Used+x.Request, x.Allocatable, dim.weight, dim.capacity)
	})
	e := Explanation{Total: score, Reason: dropNaN(dims, counted)}
	keepGreatest(dims, counted)
	e.Terms = []TermExplanation{{Name: "DRF", Weight: 1, Score: score, Dims: dims}}
	return e, nil
}
