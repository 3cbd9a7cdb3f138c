package scoring_test

import (
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
)

// The golden models of the strategy scorers, for one node.

// fitModel is a strategy fit.
type fitModel struct {
	rules  map[int]scoring.FitRule // by index
	weight float64                 // of the plugin
}

func (g *fitModel) score(request, used, allocatable strategyVec) float64 {
	var list []testkit.Load
	for i := range request {
		if rule, ok := g.rules[i]; ok && request[i] > 0 && rule.Weight != 0 {
			list = append(list, testkit.Load{
				Used: strategyAmount(used, i), Request: request[i], Capacity: strategyAmount(allocatable, i),
				Weight: float64(rule.Weight), Least: rule.Type == scoring.LeastAllocated,
			})
		}
	}
	if g.weight == 0 { // off, whatever an overflow has made of the sum
		return 0
	}
	return testkit.FitShare(list) * (100 * g.weight)
}

// sraModel is an avoidance of scarce resources.
type sraModel struct {
	weights map[int]float64 // by index
	outside float64         // the weights of names that are not in the map
	weight  float64         // of the plugin
}

func (g *sraModel) score(request, allocatable strategyVec) float64 {
	total := g.outside
	for _, w := range g.weights {
		total += w
	}
	absent := g.outside
	for i, w := range g.weights {
		if !(strategyAmount(allocatable, i) > 0) {
			absent += w
		}
	}
	for i, q := range request {
		if q > 0 && !(strategyAmount(allocatable, i) > 0) {
			return 0
		}
	}
	if g.weight <= 0 || total == 0 {
		return 0
	}
	return 100 * g.weight * absent / total
}

// reserveRule is one rule of a proportional predicate.
type reserveRule struct {
	primary, secondary int
	perUnit, scale     float64
}

// reserveModel is a proportional predicate with its rules in order.
type reserveModel struct{ rules []reserveRule }

func (g *reserveModel) check(request, used, allocatable strategyVec) scoring.Result {
	for _, r := range g.rules {
		if strategyAmount(request, r.primary) > 0 {
			return scoring.Result{OK: true, Exempt: true, Primary: -1, Secondary: -1}
		}
	}
	for _, r := range g.rules {
		devices, busy := strategyAmount(allocatable, r.primary), strategyAmount(used, r.primary)
		if devices <= 0 {
			continue
		}
		idle := devices - busy
		if idle < 0 {
			idle = 0
		}
		needed := idle * r.perUnit
		needed /= r.scale
		left := strategyAmount(allocatable, r.secondary) - strategyAmount(used, r.secondary)
		left -= strategyAmount(request, r.secondary)
		if !(left >= needed) {
			return scoring.Result{Primary: r.primary, Secondary: r.secondary, Needed: needed, Left: left}
		}
	}
	return scoring.Result{OK: true, Primary: -1, Secondary: -1}
}

// strategyAmount returns amount i of v, 0 beyond its end.
func strategyAmount(v strategyVec, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}
