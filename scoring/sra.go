package scoring

import (
	"fmt"
	"maps"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// SRAConfig configures SRA, the avoidance of nodes that have scarce resources, a part of
// Volcano's plugin resource-strategy-fit: a node scores the higher the fewer of them it
// has, so that pods that need none stay off the nodes that have them. A score is from 0
// to 100 times Weight.
//
// A node has a resource when its allocatable amount is above 0. A node that
// lacks a resource that the pod requests, scarce or not, scores 0. Otherwise, with l the
// sum of the weights of the scarce resources that the node lacks and v the sum of all
// their weights, the score is
//
//	((100 * Weight) * l) / v
//
// in float64, where only the division rounds; it is 0 when v is. Used amounts don't
// matter, and to request a scarce resource doesn't remove its penalty.
type SRAConfig struct {
	Weight         int64            // 0 or less: off
	Resources      []string         // the scarce resources, exact names
	ResourceWeight map[string]int64 // by name; missing or negative: 1
}

// avoidance is an [SRAConfig] that is compiled.
type avoidance struct {
	m       *vectormap.ResourceVectorMap
	rules   []sraRule // ascending by index
	outside float64   // the sum of the weights of scarce names that are not in the map
	total   float64   // the sum of all weights
	weight  int64     // of the plugin; 0 is off
}

func compileSRA(cfg *SRAConfig, m *vectormap.ResourceVectorMap, o Option, r *report) *avoidance {
	rules, outside, total, weight := resolveSRA(cfg, m, o, r)
	return &avoidance{m: m, rules: rules, outside: float64(outside), total: float64(total), weight: weight}
}

// sraRule is the weight of one scarce resource.
type sraRule struct {
	index  int
	weight int64
}

// resolveSRA returns the weights of the scarce resources in the map, ascending
// by index, the sum of the weights of those that are not, the sum of all, and the
// weight of the policy, 0 when it is off.
func resolveSRA(cfg *SRAConfig, m *vectormap.ResourceVectorMap, o Option, r *report) (rules []sraRule, outside, total, weight int64) {
	names := r.unique(pathResources, cfg.Resources)
	weights := sraWeights(cfg, names, r)
	if weight = max(cfg.Weight, 0); weight == 0 {
		r.warn(invalid(pathSRAWeight, cfg.Weight, "sra is off"))
	}
	r.limitWeight(pathSRAWeight, weight)
	first := map[int]string{} // by index: the name that counts
	for _, name := range names {
		index, known := 0, false
		if patternRefused(name) != "" {
			r.failOrWarn(o, invalid(pathResources, name, patternRefused(name)))
		} else if weight > 0 { // a policy that is off asks for nothing
			index, known = r.lookup(m, o, pathResources, name)
		}
		if !known {
			outside += weights[name]
			continue
		}
		if other, met := first[index]; met {
			same := weights[other] == weights[name]
			path := pathResources
			if !same {
				path = keyPath(pathSRAWeights, name)
			}
			r.meet(path, m.Name(index), other, name, same)
			continue
		}
		first[index] = name
		rules = append(rules, sraRule{index, weights[name]})
	}
	slices.SortFunc(rules, func(a, b sraRule) int { return a.index - b.index })
	total = outside
	for _, rule := range rules {
		total += rule.weight
	}
	// The score is exact while 100 * weight * total is a float64.
	if weight > 0 && total > 1<<53/(100*weight) {
		r.fail(invalid(pathSRAWeight, weight, fmt.Sprintf("times 100 times the sum of resourceWeight, %d, must be at most 2^53", total)))
	}
	return rules, outside, total, weight
}

// sraWeights returns the weight of every name.
func sraWeights(cfg *SRAConfig, names []string, r *report) map[string]int64 {
	weights := make(map[string]int64, len(names))
	for _, name := range names {
		weights[name] = 1
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.ResourceWeight)) {
		path := keyPath(pathSRAWeights, name)
		if _, listed := weights[name]; !listed {
			r.warn(notListed(path, name))
			continue
		}
		weights[name] = r.atLeast(path, cfg.ResourceWeight[name], 0, 1)
		r.limitWeight(path, weights[name])
	}
	return weights
}

func (s *avoidance) score(request, allocatable vector.ResourceVector) float64 {
	for i, q := range request {
		if q > 0 && !(at(allocatable, i) > 0) {
			return 0
		}
	}
	absent := s.outside
	for k := range s.rules {
		if r := &s.rules[k]; !(at(allocatable, r.index) > 0) {
			absent += float64(r.weight)
		}
	}
	return s.points(absent)
}

// points returns the score for absent resources of this weight.
func (s *avoidance) points(absent float64) float64 {
	if s.weight == 0 || s.total == 0 {
		return 0
	}
	return float64(s.highest()*absent) / s.total
}

func (s *avoidance) highest() float64 { return float64(100 * s.weight) }

// boundSRA is an avoidance over the rows of nodes. It keeps the score that each node gives a pod
// whose resources it all has: that depends on what nodes have alone.
type boundSRA struct {
	*avoidance
	scores  []float64
	version uint64 // of the allocatable amounts
	started bool
	changed []int32
}

// base returns the scores by row, brought up to date.
func (s *boundSRA) base(allocatable *vector.Matrix) []float64 {
	n := allocatable.Rows()
	if s.started && s.version == allocatable.Version() && len(s.scores) == n {
		return s.scores
	}
	all := !s.started
	if !all { // all is true where the log of changes does not reach back that far
		s.changed, all = allocatable.Changed(s.changed, s.version)
	}
	s.scores = slices.Grow(s.scores, max(n-len(s.scores), 0))[:n]
	if all {
		s.setBase(s.scores, allocatable)
	} else {
		for _, r := range s.changed {
			s.scores[r] = s.rowBase(allocatable, int(r))
		}
	}
	s.version, s.started = allocatable.Version(), true
	return s.scores
}

// setBase sets dst to the base of all rows.
func (s *avoidance) setBase(dst []float64, allocatable *vector.Matrix) {
	switch {
	case s.total == 0:
		clear(dst)
	case len(s.rules) > batchColumns:
		for i := range dst {
			dst[i] = s.rowBase(allocatable, i)
		}
	default:
		var terms [batchColumns]kernel.ScarceTerm
		for k := range s.rules {
			r := &s.rules[k]
			terms[k] = kernel.ScarceTerm{Allocatable: allocatable.Column(r.index), Weight: float64(r.weight)}
		}
		kernel.ScarceBase(dst, 0, terms[:len(s.rules)], s.outside, s.highest(), s.total, nil)
	}
}

// rowBase returns the base of one row of the matrix.
func (s *avoidance) rowBase(allocatable *vector.Matrix, row int) float64 {
	absent := s.outside
	for k := range s.rules {
		if r := &s.rules[k]; !(allocatable.At(row, r.index) > 0) {
			absent += float64(r.weight)
		}
	}
	return s.points(absent)
}

// sraBatch is an avoidance made ready for one request and the amounts of nodes.
type sraBatch struct {
	base    []float64 // by row
	amounts amounts

	columns [batchColumns][]float64 // of what is requested and fit doesn't score
	n       int                     // of columns; more than batchColumns if some are left out
}

// init takes the fit whose scores will be added: what it scores needs no second look.
func (b *sraBatch) init(s *boundSRA, a *amounts, fit *fitBatch) {
	b.base, b.amounts = s.base(a.allocatable), *a
	for i, q := range a.request {
		if !(q > 0) || fit.scores(i) {
			continue
		}
		if b.n < batchColumns {
			b.columns[b.n] = a.allocatable.Column(i)
		}
		b.n++
	}
}

// wide reports whether there are too many columns for the kernels.
func (b *sraBatch) wide() bool { return b.n > batchColumns }

// set sets dst to the base in rows that have all that is requested, and to 0 in the
// others.
func (b *sraBatch) set(dst []float64, words []uint64) {
	base := b.base[:len(dst)]
	if b.wide() {
		kernel.EachRow(len(dst), words, func(i int) { dst[i] = b.presentRow(base[i], i) })
		return
	}
	kernel.SetPresent(dst, base, 0, b.columns[:b.n], words)
}

// setSum sets dst to the scores of fit plus what set sets it to.
func (b *sraBatch) setSum(dst []float64, fit *fitBatch, words []uint64) {
	base := b.base[:len(dst)]
	switch {
	case fit.none():
		b.set(dst, words)
	case fit.wide() || b.wide():
		kernel.EachRow(len(dst), words, func(i int) { dst[i] = fit.row(i) + b.presentRow(base[i], i) })
	default:
		kernel.StrategySum(dst, 0, fit.terms[:fit.n], fit.weights, fit.fit.scale(), base, b.columns[:b.n], words)
	}
}

// presentRow returns base if a row of the matrix has all that is requested.
func (b *sraBatch) presentRow(base float64, row int) float64 {
	for i, q := range b.amounts.request {
		if q > 0 && !(b.amounts.allocatable.At(row, i) > 0) {
			return 0
		}
	}
	return base
}

// explain returns the part of every scarce resource, and the resources that the
// pod requests.
func (s *avoidance) explain(request, requested, allocatable vector.ResourceVector) (term TermExplanation, reason string) {
	term = TermExplanation{Name: nameSRA, Weight: 1, Score: s.score(request, allocatable)}
	rules := s.rules
	for i := range s.m.Len() {
		d := dimension(s.m, i, request, requested, allocatable)
		present := d.Allocatable > 0
		switch scarce := len(rules) > 0 && rules[0].index == i; {
		case scarce:
			d.Type, d.Weight = scarceType, float64(rules[0].weight)
			if !present {
				d.Contribution = s.points(d.Weight)
			}
			if d.Weight == 0 {
				d.Status = Inert
			}
			rules = rules[1:]
		case d.Request > 0:
			d.Status = NotConfigured
		default:
			continue
		}
		if d.Request > 0 && !present {
			d.Status = MissingOnNode
			if reason == "" && s.points(s.total) > 0 {
				reason = d.Name + ": requested, and the node has none"
			}
		}
		term.Dims = append(term.Dims, d)
	}
	if s.outside > 0 {
		term.Dims = append(term.Dims, DimExplanation{
			Index: -1, Name: "not in the map", Type: scarceType, Weight: s.outside, Contribution: s.points(s.outside),
		})
	}
	return term, reason
}

const (
	nameSRA    = "SRA"
	scarceType = "Scarce" // of scarce resources in explanations
)
