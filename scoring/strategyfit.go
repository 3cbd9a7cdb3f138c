package scoring

import (
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FitRule says how one resource, or one family of resources, is scored.
type FitRule struct {
	Type   ScoringType // MostAllocated or LeastAllocated
	Weight int64       // 0 or less: 1
}

// StrategyFitConfig configures the scoring part of Volcano's plugin resource-strategy-fit:
// it scores a node by how full (MostAllocated) or how empty (LeastAllocated) the pod
// would leave it, each resource by its own rule and weight. A score is from 0 to 100
// times Weight.
//
// Only resources that the pod requests and that have a rule count. With U requested,
// A allocatable, x = U + request and w the rule's weight, each adds
//
//	MostAllocated:  (x * w) / A
//	LeastAllocated: ((A - x) * w) / A
//
// in the order of the map. With s their sum and v the sum of their weights, the score is
//
//	(s / v) * (100 * Weight)
//
// in float64, each operation rounded, in the order of the parentheses. A resource that
// the node does not have adds nothing, but its weight counts. A node on which one of
// them would be more than full, or whose amounts of it are negative, NaN or infinite,
// scores 0; exactly full is fine. Without a resource that counts, every node
// scores 0.
type StrategyFitConfig struct {
	// Weight is the plugin's weight, resourceStrategyFitWeight: nil or a
	// negative one means 10, and 0 turns this part off.
	Weight *int64

	// Resources are the rules by resource name or pattern. nil means cpu and
	// memory, both LeastAllocated with weight 1; a map that is empty but not
	// nil has no rules, and every score is 0.
	Resources map[string]FitRule
}

// strategyFit is a [StrategyFitConfig] that is compiled.
type strategyFit struct {
	m      *vectormap.ResourceVectorMap
	rules  []fitRule // ascending by index
	weight int64     // of the plugin; 0 is off
}

func compileFit(cfg *StrategyFitConfig, m *vectormap.ResourceVectorMap, o Option, r *report) *strategyFit {
	rules, weight := resolveFit(cfg, m, o, r)
	return &strategyFit{m: m, rules: rules, weight: weight}
}

const defaultFitWeight = 10

// defaultRules returns the rules of a configuration that has none.
func defaultRules() map[string]FitRule {
	return map[string]FitRule{"cpu": {LeastAllocated, 1}, "memory": {LeastAllocated, 1}}
}

// fitRule is the rule of one dimension.
type fitRule struct {
	index  int
	key    string // of the configuration: a name or a pattern
	kind   ScoringType
	weight int64
}

// resolveFit returns the rules of the dimensions that have one, ascending by
// index, and the weight of the plugin.
func resolveFit(cfg *StrategyFitConfig, m *vectormap.ResourceVectorMap, o Option, r *report) (rules []fitRule, weight int64) {
	weight = defaultFitWeight
	if cfg.Weight != nil {
		weight = r.atLeast(pathFitWeight, *cfg.Weight, 0, defaultFitWeight)
		r.limitWeight(pathFitWeight, weight)
	}
	given := cfg.Resources
	if given == nil {
		given = defaultRules()
	}
	f := fitResolver{m: m, o: o, r: r, rules: checkRules(given, o, r), reported: map[[2]string]bool{}, folded: map[int][]string{}}
	f.findNames()
	for i := range m.Len() {
		if rule, ok := f.rule(i); ok {
			rules = append(rules, rule)
		}
	}
	return rules, weight
}

// checkRules returns the rules whose keys are valid, with types and weights put
// right.
func checkRules(given map[string]FitRule, o Option, r *report) map[string]FitRule {
	rules := make(map[string]FitRule, len(given))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		path := keyPath(pathResources, key)
		if fault := keyFault(key, o); fault != "" {
			r.failOrWarn(o, invalid(path, key, fault))
			continue
		}
		rule := given[key]
		if rule.Type != MostAllocated && rule.Type != LeastAllocated {
			r.failOrWarn(o, badType(path, rule.Type))
			rule.Type = LeastAllocated
		}
		if rule.Weight == 0 { // the zero value
			rule.Weight = 1
		}
		rule.Weight = r.atLeast(path+".weight", rule.Weight, 1, 1)
		r.limitWeight(path+".weight", rule.Weight)
		rules[key] = rule
	}
	return rules
}

// badType returns the error for a rule without a type that can be used.
func badType(rule string, kind ScoringType) *field.Error {
	path := field.NewPath(rule + ".type")
	if kind == "" {
		return field.Required(path, fmt.Sprintf("supported values: %q, %q", LeastAllocated, MostAllocated))
	}
	return field.NotSupported(path, brief(string(kind)), fitTypes)
}

var fitTypes = []ScoringType{LeastAllocated, MostAllocated}

// withOverride returns the part of a pod that brings its own rules.
func (f *strategyFit) withOverride(o *PodOverride) *strategyFit {
	if o.schema != f.m.Schema() {
		panic(panicOverride)
	}
	return &strategyFit{m: f.m, rules: o.rules, weight: f.weight}
}

const panicOverride = "scoring: override of another map"

func (f *strategyFit) score(request, requested, allocatable vector.ResourceVector) float64 {
	sum, weights := 0.0, 0.0
	for k := range f.rules {
		r := &f.rules[k]
		if !r.scores(request) {
			continue
		}
		part, ok := r.part(request[r.index], at(requested, r.index), at(allocatable, r.index))
		if !ok {
			return 0
		}
		sum += part
		weights += float64(r.weight)
	}
	return f.points(sum, weights)
}

// scores reports whether the rule's resource counts for a request.
func (r *fitRule) scores(request vector.ResourceVector) bool {
	return r.weight > 0 && at(request, r.index) > 0
}

// part returns what the rule adds to the sum, and false where the score is 0.
func (r *fitRule) part(request, requested, allocatable float64) (part float64, ok bool) {
	return kernel.StrategyPart(requested, allocatable, request, float64(r.weight), r.kind == LeastAllocated)
}

// points turns the sum over the resources that count, and the sum of their
// weights, into a score.
func (f *strategyFit) points(sum, weights float64) float64 {
	if weights == 0 || f.weight <= 0 {
		return 0
	}
	return float64(float64(sum/weights) * f.scale()) // SRA adds to it
}

// scale is the score of a resource that has all points.
func (f *strategyFit) scale() float64 { return float64(100 * f.weight) }

// highest is 0 where no rule can score: of resources that the map doesn't have, of none,
// or inert.
func (f *strategyFit) highest() float64 {
	if !slices.ContainsFunc(f.rules, func(r fitRule) bool { return r.weight > 0 }) {
		return 0
	}
	return f.scale()
}

// divisors has no columns for a part that is off: the nodes would keep their reciprocals
// for nothing.
func (f *strategyFit) divisors() []int {
	if f.weight == 0 {
		return nil
	}
	var columns []int
	for k := range f.rules {
		columns = append(columns, f.rules[k].index)
	}
	return columns
}

func (f *strategyFit) cost() rowCost { return rowCost{column: 0.2, most: float64(len(f.rules))} }

// batchColumns is how many columns the batch paths keep on the stack. A pod
// that requests more of them is scored row by row.
const batchColumns = 16

// fitBatch is a fit made ready for one request and the amounts of nodes.
type fitBatch struct {
	fit     *strategyFit
	amounts amounts

	terms   [batchColumns]kernel.StrategyTerm
	n       int     // of terms; more than batchColumns if some are left out
	weights float64 // the sum of all
}

func (b *fitBatch) init(f *strategyFit, a *amounts) {
	b.fit, b.amounts = f, *a
	for k := range f.rules {
		r := &f.rules[k]
		if !r.scores(a.request) {
			continue
		}
		if b.n < batchColumns {
			t := &b.terms[b.n]
			t.Used, t.Allocatable = a.requested.Column(r.index), a.allocatable.Column(r.index)
			t.Reciprocals, _ = a.reciprocals(r.index)
			t.Request, t.Weight = a.request[r.index], float64(r.weight)
			if r.kind == LeastAllocated {
				t.Least = ^uint64(0)
			}
		}
		b.n++
		b.weights += float64(r.weight)
	}
}

// none reports whether every score is 0 whatever the rows are.
func (b *fitBatch) none() bool { return b.n == 0 || b.fit.weight <= 0 }

// wide reports whether there are too many terms for the kernel.
func (b *fitBatch) wide() bool { return b.n > batchColumns }

// scores reports whether resource i is among the terms of a fit that scores
// anything.
func (b *fitBatch) scores(i int) bool {
	if b.none() {
		return false
	}
	for k := range b.fit.rules {
		if r := &b.fit.rules[k]; r.index == i {
			return r.scores(b.amounts.request)
		}
	}
	return false
}

// set scores the selected rows.
func (b *fitBatch) set(dst []float64, words []uint64) {
	switch {
	case b.none():
		kernel.EachRow(len(dst), words, func(i int) { dst[i] = 0 })
	case b.wide():
		kernel.EachRow(len(dst), words, func(i int) { dst[i] = b.row(i) })
	default:
		kernel.StrategyFit(dst, 0, b.terms[:b.n], b.weights, b.fit.scale(), words)
	}
}

// blockBounds is as in blockScorer, of the scores plus base, which is nil or at most most.
func (b *fitBatch) blockBounds(dst, base []float64, most float64, words []uint64) (slack float64, ok bool) {
	if b.none() || b.wide() {
		return 0, false
	}
	points := b.fit.scale()
	// Peaks multiply by reciprocals where scores divide. docs/proofs.md shows that the
	// two differ by no more than this slack.
	return 0x1p-44 * (points + most), kernel.StrategyPeaks(dst, b.amounts.allocatable.Rows(), b.terms[:b.n], b.weights, points, base, words)
}

// row scores one row of the matrices.
func (b *fitBatch) row(row int) float64 {
	sum, a := 0.0, &b.amounts
	for k := range b.fit.rules {
		r := &b.fit.rules[k]
		if !r.scores(a.request) {
			continue
		}
		part, ok := r.part(a.request[r.index], a.requested.At(row, r.index), a.allocatable.At(row, r.index))
		if !ok {
			return 0
		}
		sum += part
	}
	return b.fit.points(sum, b.weights)
}

// explain returns the part of every resource that the pod requests or that has
// a rule.
func (f *strategyFit) explain(request, requested, allocatable vector.ResourceVector) (term TermExplanation, reason string) {
	weights := 0.0
	for k := range f.rules {
		if r := &f.rules[k]; r.scores(request) {
			weights += float64(r.weight)
		}
	}
	term = TermExplanation{Name: "StrategyFit", Weight: 1, Score: f.score(request, requested, allocatable)}
	rules := f.rules
	for i := range f.m.Len() {
		d := dimension(f.m, i, request, requested, allocatable)
		switch ruled := len(rules) > 0 && rules[0].index == i; {
		case ruled:
			part := rules[0].explain(&d)
			d.Contribution = f.points(part, weights)
			rules = rules[1:]
		case d.Request > 0:
			d.Status = NotConfigured
		default:
			continue
		}
		if reason == "" && f.weight > 0 {
			reason = fitReason(&d)
		}
		term.Dims = append(term.Dims, d)
	}
	return term, reason
}

// explain sets what the rule makes of d, and returns its part of the sum.
func (r *fitRule) explain(d *DimExplanation) (part float64) {
	d.Type, d.Weight = string(r.kind), float64(r.weight)
	switch {
	case !(d.Request > 0):
		d.Status = NotRequested
	case r.weight == 0:
		d.Status = Inert
	case d.Allocatable == 0:
		d.Status = MissingOnNode
	case !usable(d.Used) || !usable(d.Allocatable):
		d.Status = BadValue
	default:
		ok := false
		if part, ok = r.part(d.Request, d.Used, d.Allocatable); !ok {
			d.Status = OverCapacity
		}
	}
	return part
}

// fitReason says why a resource makes the score 0, "" if it does not.
func fitReason(d *DimExplanation) string {
	switch d.Status {
	case OverCapacity:
		return d.Name + ": more than the node has"
	case BadValue:
		return d.Name + ": an amount of the node is NaN, infinite or negative"
	}
	return ""
}
