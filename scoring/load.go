package scoring

import (
	"cmp"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The metrics and directions, the defaults first.
var (
	loadMetrics    = []ScoringType{NormalizedSum, DominantResource}
	loadDirections = []ScoringType{Spread, Pack, Raw}
	loadForms      = []kernel.LoadForm{kernel.LoadSpread, kernel.LoadPack, kernel.LoadRaw} // of the directions
)

// LoadConfig configures [CompileLoad]. [ParseLoad] reads it from a document.
type LoadConfig struct {
	Metric    ScoringType // NormalizedSum or DominantResource; empty: NormalizedSum
	Direction ScoringType // Spread, Pack or Raw; empty: Spread

	// Weights are the weights by resource name, exact names only, finite and
	// not negative. nil means 1 for every resource of the map; otherwise a
	// resource that is not listed, or listed with 0, is left out.
	Weights map[string]float64

	// Capacity is what the amounts of every node are divided by, for example the
	// totals of a cluster. It is padded with zeros. nil: what the node itself has.
	Capacity vector.ResourceVector

	// OnlyRequested leaves out what the pod does not ask for.
	OnlyRequested bool
}

// Load scores nodes by how loaded they would be with the pod. With x = requested +
// request and c the capacity, over the resources with weight w > 0 and c > 0 in
// ascending order,
//
//	NormalizedSum:    s = Σ (x/c)·w,         m = s / Σ w
//	DominantResource: s = max(0, (x/c)·w),   m = s
//
// and the score is s (Raw), 100·m (Pack) or 100·(1−m) (Spread), the last two cut
// to 0..100. Without any such resource it is 0, whatever the direction, and so it
// is where a quotient, or the sum, is NaN. With weights of 1, Raw is the
// NormalizedSum and the DominantResource of KAI-Scheduler's vectors.
//
// A Load is immutable and safe for concurrent use.
type Load struct {
	compiled
	metric        ScoringType
	direction     ScoringType
	form          kernel.LoadForm // the direction
	weights       dimWeights
	dims          []loadDim
	fixed         bool // the capacities are in dims
	onlyRequested bool
}

var _ Scorer = (*Load)(nil)

// CompileLoad returns the scorer for a configuration, which may change
// afterwards. Errors are a field.ErrorList, as an aggregate, with the paths
// metric, direction, weights["name"] and capacity[i], and a
// [*vectormap.UnknownResourcesError].
func CompileLoad(cfg LoadConfig, m *vectormap.ResourceVectorMap, opts ...Option) (*Load, error) {
	var r report
	metric, direction := cmp.Or(cfg.Metric, loadMetrics[0]), cmp.Or(cfg.Direction, loadDirections[0])
	if !slices.Contains(loadMetrics, metric) {
		r.fail(field.NotSupported(field.NewPath(pathMetric), brief(string(metric)), loadMetrics))
	}
	form := slices.Index(loadDirections, direction)
	if form < 0 {
		r.fail(field.NotSupported(field.NewPath(pathDirection), brief(string(direction)), loadDirections))
	}
	weights := compileWeights(cfg.Weights, m, options(opts), &r)
	checkCapacities("capacity", cfg.Capacity, m, &r)
	warnings, err := r.finish()
	if err != nil {
		return nil, err
	}
	l := &Load{
		compiled: compiled{m, warnings}, metric: metric, direction: direction, form: loadForms[form],
		weights: weights, dims: weights.dims(), fixed: cfg.Capacity != nil, onlyRequested: cfg.OnlyRequested,
	}
	for k := range l.dims {
		l.dims[k].capacity = at(cfg.Capacity, l.dims[k].index)
	}
	return l, nil
}

// Score returns the score of one node.
func (l *Load) Score(request, requested, allocatable vector.ResourceVector) (float64, error) {
	if err := l.checkRow(request, requested, allocatable); err != nil {
		return 0, err
	}
	var row kernel.LoadRow
	for k := range l.dims {
		d := &l.dims[k]
		l.add(&row, d, at(request, d.index), at(requested, d.index), at(allocatable, d.index))
	}
	return l.result(&row), nil
}

// add adds one resource to the load of a row.
func (l *Load) add(row *kernel.LoadRow, d *loadDim, request, requested, allocatable float64) {
	if l.onlyRequested && !(request > 0) {
		return
	}
	if l.fixed {
		allocatable = d.capacity
	}
	row.Add(requested+request, allocatable, d.weight)
}

func (l *Load) result(row *kernel.LoadRow) float64 {
	if l.metric == DominantResource {
		return row.Greatest(l.form)
	}
	return row.Sum(l.form)
}

func (l *Load) scoreRows(dst []float64, a *amounts, words []uint64) {
	var list loadList
	for k := range l.dims {
		d := &l.dims[k]
		if l.onlyRequested && !(at(a.request, d.index) > 0) {
			continue
		}
		if !list.append(d, a) {
			l.scoreEach(dst, a, words)
			return
		}
	}
	rule := kernel.LoadRule{Greatest: l.metric == DominantResource, Fixed: l.fixed, Form: l.form}
	kernel.Load(dst, list.dims[:list.n], rule, words)
}

func (l *Load) self() Scorer { return l }

func (l *Load) bind() rowScorer { return l }

// highest is 0 where no resource can count.
func (l *Load) highest() float64 {
	switch {
	case l.direction == Raw:
		return math.Inf(1)
	case !slices.ContainsFunc(l.dims, func(d loadDim) bool { return !l.fixed || d.capacity > 0 }):
		return 0
	}
	return 100
}

func (l *Load) divisors() []int { return nil }

func (l *Load) cost() rowCost {
	c := rowCost{column: 0.3, least: float64(len(l.dims)), most: float64(len(l.dims))}
	if l.onlyRequested {
		c.least = 0
	}
	return c
}

// scoreEach is scoreRows for any number of resources.
func (l *Load) scoreEach(dst []float64, a *amounts, words []uint64) {
	kernel.EachRow(len(dst), words, func(i int) {
		var row kernel.LoadRow
		for k := range l.dims {
			d := &l.dims[k]
			l.add(&row, d, at(a.request, d.index), a.requested.At(i, d.index), a.allocatable.At(i, d.index))
		}
		dst[i] = l.result(&row)
	})
}

// Explain returns the part of every resource in the score of one node: of those
// that count, and of those that are requested. Allocatable is the capacity that
// was used. With DominantResource the greatest resource has all points.
// A Reason is set when the score was cut to 0 or 100, or is 0 because of a NaN.
func (l *Load) Explain(request, requested, allocatable vector.ResourceVector) (Explanation, error) {
	score, err := l.Score(request, requested, allocatable)
	if err != nil {
		return Explanation{}, err
	}
	next := 0 // in l.dims
	dims, counted := l.weights.explain(l.m, request, requested, allocatable, func(d *DimExplanation) (float64, bool) {
		d.Type = string(l.direction)
		if l.fixed {
			d.Allocatable = l.dims[next].capacity
		}
		next++
		v := d.Used + d.Request
		counts := d.Allocatable > 0 && (!l.onlyRequested || d.Request > 0)
		if counts && v > d.Allocatable {
			d.Status = OverCapacity
		}
		return float64(v/d.Allocatable) * d.Weight, counts
	})
	e := Explanation{Total: score, Reason: dropNaN(dims, counted)}
	if l.metric == DominantResource {
		if d := keepGreatest(dims, counted); d != nil {
			switch l.direction {
			case Pack:
				d.Contribution = 100 * d.Contribution
			case Spread:
				d.Contribution = 100 * (1 - d.Contribution)
			}
		}
	} else {
		l.sumPoints(dims, counted)
	}
	if e.Reason == "" {
		e.Reason = cutReason(dims, score)
	}
	e.Terms = []TermExplanation{{Name: string(l.metric), Weight: 1, Score: score, Dims: dims}}
	return e, nil
}

// sumPoints turns the terms of a sum into points.
func (l *Load) sumPoints(dims []DimExplanation, counted []int) {
	weight := 0.0
	for _, k := range counted {
		weight += dims[k].Weight
	}
	for _, k := range counted {
		switch d := &dims[k]; l.direction {
		case Pack:
			d.Contribution = 100 * (d.Contribution / weight)
		case Spread:
			d.Contribution = 100 * ((d.Weight - d.Contribution) / weight)
		}
	}
}
