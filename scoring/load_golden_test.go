package scoring_test

import (
	"math"

	"github.com/resvec/resvec/scoring"
)

// The golden models of Load, DRF, NormalizeScores and Combination, for one row
// or one batch, with weights and amounts by index: slow, and as in the books.

// goldenLoad is the score of Load.
func goldenLoad(cfg scoring.LoadConfig, weights, request, used, allocatable []float64) float64 {
	var quotients, counted []float64
	for i, w := range weights {
		c := allocatable[i]
		if cfg.Capacity != nil {
			c = cfg.Capacity.Get(i)
		}
		if w > 0 && c > 0 && (request[i] > 0 || !cfg.OnlyRequested) {
			quotients = append(quotients, (used[i]+request[i])/c*w)
			counted = append(counted, w)
		}
	}
	sum, weight, greatest := 0.0, 0.0, 0.0
	for k, q := range quotients {
		if math.IsNaN(q) {
			return 0
		}
		sum += q
		weight += counted[k]
		if q > greatest {
			greatest = q
		}
	}
	load, mean := sum, sum/weight
	if cfg.Metric == scoring.DominantResource {
		load, mean = greatest, greatest
	}
	if len(quotients) == 0 || math.IsNaN(load) {
		return 0
	}
	var points float64
	switch cfg.Direction {
	case scoring.Raw:
		return load
	case scoring.Pack:
		points = 100 * mean
	case scoring.Spread, "":
		points = 100 * (1 - mean)
	}
	switch {
	case math.IsNaN(points) || points <= 0:
		return 0
	case points >= 100:
		return 100
	}
	return points
}

// goldenDRF is the share of DRF.
func goldenDRF(cfg scoring.DRFConfig, weights, request, used, entitlement []float64) float64 {
	share := 0.0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		v, c := used[i]+request[i], entitlement[i]
		if cfg.Unlimited != nil && c == *cfg.Unlimited {
			if cfg.Fallback == nil {
				continue
			}
			c = cfg.Fallback.Get(i)
		}
		var q float64
		switch {
		case c < 0, c == 0 && cfg.ZeroFactor == 0:
			continue
		case c == 0:
			q = v * cfg.ZeroFactor * w
		default:
			q = v / c * w
		}
		if math.IsNaN(q) {
			return math.Inf(1)
		}
		if q > share {
			share = q
		}
	}
	return share
}

// goldenNormalized returns the selected scores normalized, the others as they are.
func goldenNormalized(scores []float64, selected func(row int) bool, mode scoring.Normalization) []float64 {
	most, least := math.Inf(-1), math.Inf(1)
	for r, x := range scores {
		if selected(r) && !math.IsNaN(x) {
			if x > most {
				most = x
			}
			if x < least {
				least = x
			}
		}
	}
	most, least = most+0, least+0 // not -0
	normalized := make([]float64, len(scores))
	for r, x := range scores {
		if normalized[r] = x; !selected(r) || math.IsNaN(x) {
			continue
		}
		switch mode {
		case scoring.NormalizeMinMax:
			if x = 0; most != least {
				x = (scores[r] - least) * 100 / (most - least)
			}
		case scoring.NormalizeMax:
			if most > 0 {
				x = x * 100 / most
			}
		case scoring.NormalizeReverse:
			if most > 0 {
				x = 100 - x*100/most
			} else {
				x = 100
			}
		}
		normalized[r] = x
	}
	return normalized
}
