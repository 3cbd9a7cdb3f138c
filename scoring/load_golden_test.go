package scoring_test

import (
	"math"
	"slices"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
)

// The golden models of Load, DRF, NormalizeScores and Combination, for one row
// or one batch, with weights and amounts by index: slow, and as in the books.

// loadsOf returns one row, with what has no weight left out.
func loadsOf(weights, request, used, capacity []float64, counts func(i int) bool) (list []testkit.Load) {
	for i, w := range weights {
		if w > 0 && counts(i) {
			list = append(list, testkit.Load{Used: used[i], Request: request[i], Capacity: capacity[i], Weight: w})
		}
	}
	return list
}

// goldenLoad is the score of Load.
func goldenLoad(cfg scoring.LoadConfig, weights, request, used, allocatable []float64) float64 {
	if cfg.Capacity != nil {
		allocatable = make([]float64, len(weights))
		copy(allocatable, cfg.Capacity)
	}
	form := map[scoring.ScoringType]kernel.LoadForm{scoring.Raw: kernel.LoadRaw, scoring.Pack: kernel.LoadPack, scoring.Spread: kernel.LoadSpread, "": kernel.LoadSpread}[cfg.Direction]
	list := loadsOf(weights, request, used, allocatable, func(i int) bool { return request[i] > 0 || !cfg.OnlyRequested })
	return testkit.LoadScore(list, cfg.Metric == scoring.DominantResource, form)
}

// goldenDRF is the share of DRF.
func goldenDRF(cfg scoring.DRFConfig, weights, request, used, entitlement []float64) float64 {
	entitlement = slices.Clone(entitlement)
	list := loadsOf(weights, request, used, entitlement, func(i int) bool {
		if cfg.Unlimited == nil || entitlement[i] != *cfg.Unlimited {
			return true
		}
		entitlement[i] = cfg.Fallback.Get(i)
		return cfg.Fallback != nil
	})
	return testkit.DominantShare(list, cfg.ZeroFactor)
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
