package scoring

import (
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/document"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The annotations of a pod that [ParsePodOverride] reads.
const (
	// ScoringTypeAnnotation holds the one type of all rules.
	ScoringTypeAnnotation = "volcano.sh/resource-strategy-scoring-type"

	// WeightAnnotation holds a JSON object of integer weights by resource name.
	WeightAnnotation = "volcano.sh/resource-strategy-weight"
)

// maxAnnotations is the size in bytes of all annotations that Kubernetes lets an
// object have.
const maxAnnotations = 256 << 10

// PodOverride is a pod's own rule set, which replaces the rules of the fit of a
// [Strategy]; see [ParsePodOverride] and [Bound.WithOverride]. It is immutable and
// safe for concurrent use. A nil pointer overrides nothing.
type PodOverride struct {
	schema vector.Schema // of the map that it was parsed against
	rules  []fitRule     // ascending by index; a weight of 0 makes a dimension inert
}

// ParsePodOverride reads the rules that a pod's annotations ask for, Volcano's
// [ScoringTypeAnnotation] and [WeightAnnotation]. It is meant to be called once
// per pod. It returns nil when the type is absent or empty, whatever the weights
// are.
//
// The type holds for every resource with a weight; those without are not scored.
// A weight of 0 leaves a resource out as well, its capacity unchecked. Names are
// exact. Those of resources that m does not have are left out with a warning.
//
// An unknown type, absent weights, text that is not JSON, and names and weights
// that cannot be used are errors, all reported at once, sorted by path. With
// [Lenient] they are warnings: without a type or a JSON object of weights that can be
// used, the pod scores 0 on every node, and a name or a weight that cannot be used is
// left out, as if it were not there. Two names of one resource with different
// weights are an error always.
func ParsePodOverride(annotations map[string]string, m *vectormap.ResourceVectorMap, opts ...Option) (o *PodOverride, warnings field.ErrorList, err error) {
	kind := ScoringType(annotations[ScoringTypeAnnotation])
	if kind == "" {
		return nil, nil, nil
	}
	var faults, r report
	path := annotationPath(ScoringTypeAnnotation)
	knownType := kind == MostAllocated || kind == LeastAllocated
	if !knownType {
		faults.fail(field.NotSupported(field.NewPath(path), brief(string(kind)), fitTypes))
	}
	weights := overrideWeights(annotations[WeightAnnotation], m, &faults)
	for _, fault := range faults.Faults() {
		r.failOrWarn(options(opts), fault)
	}
	o = &PodOverride{schema: m.Schema(), rules: overrideRules(kind, weights, m, &r)}
	if !knownType {
		o.rules = nil // the pod scores 0 on every row
	}
	if warnings, err = r.finish(); err != nil {
		return nil, nil, err
	}
	return o, warnings, nil
}

func annotationPath(name string) string { return keyPath("metadata.annotations", name) }

// overrideWeights reads the weights by name. Those that cannot be used are
// noted, and left out.
func overrideWeights(text string, m *vectormap.ResourceVectorMap, faults *report) map[string]int64 {
	path := annotationPath(WeightAnnotation)
	if text == "" {
		faults.fail(field.Required(field.NewPath(path), "a JSON object of weights"))
		return nil
	}
	// null is no object, and no weight.
	o := document.Options{MaxSize: maxAnnotations, NullIsFault: true}
	x := document.ReadJSON(text, path, o, &faults.Report).Names()
	weights := map[string]int64{}
	for name, v := range x.All() {
		weight, how := v.Integer()
		_, known := m.Index(name)
		switch {
		case patternRefused(name) != "":
			faults.fail(invalid(v.Path(), name, patternRefused(name)))
		case !known && exactFault(name) != "":
			faults.fail(invalid(v.Path(), name, "a name "+exactFault(name)))
		case how != document.Clean || x.IsRepeated(name):
		case weight < 0:
			faults.fail(v.Invalid("must not be negative"))
		case weight > maxWeight:
			faults.fail(v.Invalid(overLimit))
		default:
			weights[name] = weight
		}
	}
	return weights
}

// overrideRules finds the dimensions of the weights.
func overrideRules(kind ScoringType, weights map[string]int64, m *vectormap.ResourceVectorMap, r *report) (rules []fitRule) {
	first := map[int]string{} // by index: the name that counts
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		path := keyPath(annotationPath(WeightAnnotation), name)
		index, known := r.lookup(m, AllowUnknown, path, name)
		if !known {
			continue
		}
		if other, met := first[index]; met {
			r.meet(path, m.Name(index), other, name, weights[other] == weights[name])
			continue
		}
		first[index] = name
		rules = append(rules, fitRule{index, name, kind, weights[name]})
	}
	slices.SortFunc(rules, func(a, b fitRule) int { return a.index - b.index })
	return rules
}
