package scoring_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// BenchmarkStrategyDecision is a decision over 5,000 nodes of 8 resources: which
// fit, how good each is and the best of them.
func BenchmarkStrategyDecision(b *testing.B) {
	const nodes = 5000
	m, err := vectormap.New([]string{"nvidia.com/gpu", "example.com/foo", "example.com/bar", "example.com/baz"})
	if err != nil {
		b.Fatal(err)
	}
	s, err := scoring.CompileStrategy(scoring.StrategyConfig{
		Fit: scoring.StrategyFitConfig{Resources: map[string]scoring.FitRule{
			"cpu":            {Type: scoring.LeastAllocated, Weight: 1},
			"nvidia.com/gpu": {Type: scoring.MostAllocated, Weight: 2},
		}},
		SRA:          &scoring.SRAConfig{Weight: 10, Resources: []string{"nvidia.com/gpu", "example.com/foo"}},
		Proportional: &scoring.ProportionalConfig{Resources: []string{"nvidia.com/gpu"}},
	}, m)
	if err != nil {
		b.Fatal(err)
	}
	r := testkit.Rand(1)
	used, allocatable, free := m.NewMatrix(nodes), m.NewMatrix(nodes), m.NewMatrix(nodes)
	u, a := m.NewVector(), m.NewVector()
	for row := range nodes {
		for i := range a {
			a[i] = float64(16 + r.IntN(64))
			u[i] = float64(r.IntN(12))
		}
		used.SetRow(row, u)
		allocatable.SetRow(row, a)
		f := a.Clone()
		f.Sub(u)
		free.SetRow(row, f)
	}
	request := m.NewVector()
	for _, name := range []string{"cpu", "memory", "pods", "nvidia.com/gpu"} {
		i, _ := m.Index(name)
		request[i] = 1
	}
	cpuOnly := vector.ResourceVector{1}
	base, scores := make([]float64, nodes), make([]float64, nodes)
	if err := s.SRA().Base(base, allocatable, nil); err != nil {
		b.Fatal(err)
	}
	var rows, kept vector.Mask
	sum, few := 0, vector.NewMask(nodes)
	for row := 7; row < nodes; row += 1000 {
		few.Set(row)
	}
	testkit.EachImplB(b, func(b *testing.B) {
		b.Run("decision", func(b *testing.B) {
			for b.Loop() {
				vector.Fit(&rows, free, request)
				if err := s.ScoreFromBase(scores, request, base, used, allocatable, &rows); err != nil {
					b.Fatal(err)
				}
				sum += vector.ArgMax(scores, &rows, vector.TieLowest())
			}
		})
		b.Run("score/rows=5000", func(b *testing.B) {
			for b.Loop() {
				_ = s.ScoreFromBase(scores, request, base, used, allocatable, &rows)
			}
		})
		b.Run("score, own base/rows=5000", func(b *testing.B) {
			for b.Loop() {
				_ = s.ScoreBatch(scores, request, used, allocatable, &rows)
			}
		})
		b.Run("score/rows=5", func(b *testing.B) {
			for b.Loop() {
				_ = s.ScoreFromBase(scores, request, base, used, allocatable, few)
			}
		})
		b.Run("reserve/rows=5000", func(b *testing.B) {
			for b.Loop() {
				_ = s.Proportional().FilterBatch(&kept, cpuOnly, used, allocatable, nil)
			}
		})
	})
	u, a = used.Row(u, 7), allocatable.Row(a, 7)
	b.Run("row", func(b *testing.B) {
		for b.Loop() {
			_, _ = s.Score(request, u, a)
		}
	})
}
