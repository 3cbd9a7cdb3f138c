package scoring

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What Load and DRF share.

// loadDim is a resource of positive weight.
type loadDim struct {
	index  int
	weight float64

	// capacity is of all rows (Load), or stands for one that is unlimited
	// (DRF).
	capacity float64
}

// loadList is the operands of a load kernel.
type loadList struct {
	n    int
	dims [32]kernel.LoadDim
}

// append lists a resource, and reports false when there is no room.
func (l *loadList) append(d *loadDim, a *amounts) bool {
	if l.n == len(l.dims) {
		return false
	}
	k := &l.dims[l.n] // which is written in place: a literal would be copied
	k.Request, k.Weight, k.Capacity = at(a.request, d.index), d.weight, d.capacity
	k.Used, k.Allocatable = a.requested.Column(d.index), a.allocatable.Column(d.index)
	l.n++
	return true
}

// dimWeights is the weights of a configuration by index.
type dimWeights struct {
	weight []float64
	listed []bool // nil: all of them
}

// compileWeights resolves weights by name; nil means 1 for every resource.
func compileWeights(byName map[string]float64, m *vectormap.ResourceVectorMap, o Option, r *report) dimWeights {
	w := dimWeights{weight: make([]float64, m.Len())}
	if byName == nil {
		for i := range w.weight {
			w.weight[i] = 1
		}
		return w
	}
	w.listed = make([]bool, m.Len())
	names := make([]string, m.Len()) // that gave the weights
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		x, path := byName[name], keyPath(pathWeights, name)
		if !usable(x) {
			r.fail(invalid(path, x, "must be finite and not negative"))
		}
		switch i, known := r.lookup(m, o, path, name); {
		case !known:
		case w.listed[i]:
			r.meet(path, m.Name(i), names[i], name, w.weight[i] == x)
		default:
			w.weight[i], w.listed[i], names[i] = x, true, name
		}
	}
	return w
}

// dims returns the resources of positive weight, ascending.
func (w dimWeights) dims() []loadDim {
	var dims []loadDim
	for i, x := range w.weight {
		if x > 0 {
			dims = append(dims, loadDim{index: i, weight: x})
		}
	}
	return dims
}

// checkCapacities checks a vector of a configuration.
func checkCapacities(name string, v vector.ResourceVector, m *vectormap.ResourceVectorMap, r *report) {
	path := field.NewPath(name)
	if len(v) > m.Len() {
		r.fail(field.TooMany(path, len(v), m.Len()))
		v = v[:m.Len()]
	}
	for i, x := range v {
		if !usable(x) {
			r.fail(field.Invalid(path.Index(i), x, m.Name(i)+" must be finite and not negative"))
		}
	}
}

// explain returns the resources that count or are requested, and which of them
// count. For a resource of positive weight, count returns its weighted term,
// which becomes its contribution, and whether it counts; it may change the
// explanation, its status too.
func (w dimWeights) explain(m *vectormap.ResourceVectorMap, request, requested, allocatable vector.ResourceVector,
	count func(d *DimExplanation) (term float64, counts bool)) (dims []DimExplanation, counted []int) {
	for i, x := range w.weight {
		d := dimension(m, i, request, requested, allocatable)
		d.Weight = x
		counts := false
		switch {
		case x > 0:
			d.Contribution, counts = count(&d)
			switch {
			case counts && !usable(d.Used), !counts && d.Status == Scored && !usable(d.Allocatable):
				d.Status = BadValue
			case !counts && d.Status == Scored:
				d.Status = MissingOnNode
			}
			if counts {
				counted = append(counted, len(dims))
			} else {
				d.Contribution = 0
			}
		case w.listed[i]:
			d.Status = Inert
		default:
			d.Status = NotConfigured
		}
		if counts || d.Request > 0 {
			dims = append(dims, d)
		}
	}
	return dims, counted
}

// dropNaN sets contributions that are NaN to 0, and returns a reason that names
// the first, empty without one.
func dropNaN(dims []DimExplanation, counted []int) (reason string) {
	for _, k := range counted {
		if d := &dims[k]; d.Contribution != d.Contribution {
			d.Contribution, d.Status = 0, BadValue
			if reason == "" {
				reason = d.Name + ": the share is not a number"
			}
		}
	}
	return reason
}

// keepGreatest sets every contribution but the greatest, the first of equal
// ones, to 0. The greatest is 0 at least.
func keepGreatest(dims []DimExplanation, counted []int) (greatest *DimExplanation) {
	for _, k := range counted {
		d := &dims[k]
		if greatest == nil || d.Contribution > greatest.Contribution {
			greatest, d = d, greatest
		}
		if d != nil {
			d.Contribution = 0
		}
	}
	if greatest != nil {
		greatest.Contribution = max(greatest.Contribution, 0)
	}
	return greatest
}

// cutReason returns why a score is not the sum of its contributions, empty when
// it is.
func cutReason(dims []DimExplanation, score float64) string {
	sum, size := 0.0, 0.0
	for _, d := range dims {
		sum += d.Contribution
		size += math.Abs(d.Contribution)
	}
	if sum == score || math.Abs(sum-score) <= 1e-12*size && size <= math.MaxFloat64 {
		return ""
	}
	return fmt.Sprintf("the sum of the points, %.6g, is cut to %g", sum, score)
}
