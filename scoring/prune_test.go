package scoring_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// peakWorlds are ways to make up a node for a pod that requests 1 of each resource, or
// 0.1.
var peakWorlds = []struct {
	name    string
	request float64
	alike   bool // many nodes have the best score
	node    func(r *rand.Rand, column int) (allocatable, requested float64)
}{
	{"whole", 1, false, func(r *rand.Rand, _ int) (a, u float64) { return float64(8 + r.IntN(4000)), float64(r.IntN(9)) }},
	{"any", 0.1, false, func(r *rand.Rand, _ int) (a, u float64) { return 1 + r.Float64(), r.Float64() }},
	{"alike", 1, true, func(*rand.Rand, int) (a, u float64) { return 10, 3 }},
	{"few kinds", 1, true, func(r *rand.Rand, _ int) (a, u float64) { return 10, float64(r.IntN(2)) }},
	{"nearly alike", 0.1, true, func(r *rand.Rand, _ int) (a, u float64) { return 10, 3 + 0x1p-50*float64(r.IntN(9)) }},
	{"absent", 1, false, func(r *rand.Rand, column int) (a, u float64) {
		return float64(r.IntN(min(column+1, 2)) * r.IntN(99)), 0
	}},
	// Full to the last bit: the pod may fit by what is free, and not by what is in use.
	{"full", 0.1, false, func(r *rand.Rand, _ int) (a, u float64) {
		if a = 1 + r.Float64(); r.IntN(8) > 0 {
			return a, a / 2 * r.Float64()
		}
		return a, (a - 0.1) * (1 - 0x1p-53*float64(r.IntN(5)))
	}},
	// Room that nodes have since less than nothing is in use. Only the last columns are
	// not scored.
	{"less than nothing", 1, false, func(r *rand.Rand, column int) (a, u float64) {
		if column < 4 || r.IntN(4) > 0 {
			return float64(8 + r.IntN(4000)), float64(r.IntN(9))
		}
		return -5, -20
	}},
	{"negative", 1, false, func(r *rand.Rand, _ int) (a, u float64) { return float64(r.IntN(4000)), float64(r.IntN(999) - 1) }},
	{"of all magnitudes", 0x1p-200, false, func(r *rand.Rand, _ int) (a, u float64) {
		a = math.Ldexp(1+r.Float64(), r.IntN(800)-400)
		return a, min(a/2, 0x1p52)
	}},
	{"unlimited", 1, false, func(r *rand.Rand, _ int) (a, u float64) {
		return []float64{math.Inf(1), 0x1p401, 100}[min(r.IntN(2000), 2)], float64(r.IntN(50))
	}},
}

// TestBestOfPeaks holds Best against the scores of all rows, in clusters so large that
// only some blocks are scored.
func TestBestOfPeaks(t *testing.T) {
	m := testkit.Must(vectormap.New([]string{"nvidia.com/gpu", "example.com/a", "example.com/b"}))
	rules := map[string]scoring.FitRule{
		"cpu": {Type: scoring.MostAllocated, Weight: 3}, "memory": {Type: scoring.LeastAllocated, Weight: 2},
		"pods": {Type: scoring.LeastAllocated, Weight: 1}, "nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 7},
	}
	strategy := compileStrategy(m, scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: rules},
		SRA: &scoring.SRAConfig{Weight: 5, Resources: []string{"nvidia.com/gpu", "example.com/b"}},
	})
	single := combine(t, scoring.Term{Scorer: strategy, Weight: 1})
	for _, world := range peakWorlds {
		t.Run(world.name, func(t *testing.T) {
			r, found := testkit.Rand(31), 0
			for range testkit.Amount(t, 6, 6, 40) {
				nodes := m.NewNodes()
				for i := range 300 + r.IntN(900) {
					amounts := vector.NodeAmounts{Allocatable: m.NewVector(), Requested: m.NewVector()}
					for j := range m.Len() {
						amounts.Allocatable[j], amounts.Requested[j] = world.node(r, j)
					}
					mustSet(nodes, fmt.Sprint(i), 1, amounts)
				}
				for _, s := range []scoring.Scorer{strategy, strategy.Fit(), single} {
					bound := scoring.Bind(s, nodes)
					bound.LimitCache(0)
					for range 8 {
						request := m.NewVector()
						for j := range request {
							request[j] = world.request * float64(min(r.IntN(4), 1))
						}
						if checkPeaks(t, bound, s, nodes, vector.PodAmounts{Requested: request}, r) {
							found++
						}
					}
				}
			}
			if found == 0 && !world.alike {
				t.Error("all rows were scored each time")
			}
		})
	}
}

// checkPeaks asks about a pod with every rule for ties. It reports whether some question
// was answered without scoring all rows.
func checkPeaks(t *testing.T, bound *scoring.Bound, s scoring.Scorer, nodes *vector.Nodes, pod vector.PodAmounts, r *rand.Rand) (found bool) {
	t.Helper()
	n := nodes.Len()
	fits, scores := vector.NewMask(n), make([]float64, n)
	rows := vector.NewMask(n)
	testkit.FillMask(r, rows.Words())
	testkit.TrimMask(rows.Words(), n)
	if r.IntN(2) == 0 {
		rows = nil
	}
	for i := range n {
		requested, allocatable := nodes.Requested().Row(nil, i), nodes.Allocatable().Row(nil, i)
		if rows != nil && !rows.Test(i) || !pod.Requested.FitsIn(nodes.Free().Row(nil, i)) {
			continue
		}
		fits.Set(i)
		var err error
		if scores[i], err = s.Score(pod.Requested, requested, allocatable); err != nil {
			t.Fatal(err)
		}
	}
	testkit.EachImpl(t, func(t *testing.T) {
		t.Helper()
		cursor := r.IntN(n)
		for _, tie := range []vector.Tie{vector.TieLowest(), vector.TieSeeded(9), vector.TieRoundRobin(&cursor)} {
			before := cursor
			want := vector.ArgMax(scores, fits, tie)
			after := cursor
			cursor = before
			got, ok := bound.Best(pod, rows, tie)
			if got != want || ok != (want >= 0) || cursor != after {
				t.Fatalf("pod %v: row %d, cursor %d; want %d, %d", pod.Requested, got, cursor, want, after)
			}
			found = scoring.BestPruned(bound, pod, rows) || found
		}
	})
	return found
}
