package scoring_test

import (
	"fmt"
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
	n := m.NewNodes()
	u, a := m.NewVector(), m.NewVector()
	for row := range nodes {
		for i := range a {
			a[i] = float64(16 + r.IntN(64))
			u[i] = float64(r.IntN(12))
		}
		setNode(n, fmt.Sprint(row), a, u)
	}
	pod := vector.PodAmounts{Requested: m.NewVector()}
	for _, name := range []string{"cpu", "memory", "pods", "nvidia.com/gpu"} {
		i, _ := m.Index(name)
		pod.Requested[i] = 1
	}
	cpuOnly := vector.ResourceVector{1}
	var rows, kept vector.Mask
	scores, points := scoring.Bind(s, n), make([]float64, nodes)
	scores.LimitCache(0)
	sum, few := 0, vector.NewMask(nodes)
	for row := 7; row < nodes; row += 1000 {
		few.Set(row)
	}
	vector.Fit(&rows, n.Free(), pod.Requested)
	testkit.EachImplB(b, func(b *testing.B) {
		b.Run("decision", func(b *testing.B) {
			for b.Loop() {
				row, _ := scores.Best(pod, nil, vector.TieLowest())
				sum += row
			}
		})
		b.Run("score/rows=5000", func(b *testing.B) {
			for b.Loop() {
				_ = scores.Score(points, pod, &rows)
			}
		})
		b.Run("score/rows=5", func(b *testing.B) {
			for b.Loop() {
				_ = scores.Score(points, pod, few)
			}
		})
		b.Run("reserve/rows=5000", func(b *testing.B) {
			for b.Loop() {
				_ = s.Proportional().Filter(&kept, n, cpuOnly, nil)
			}
		})
	})
	u, a = n.Requested().Row(u, 7), n.Allocatable().Row(a, 7)
	b.Run("row", func(b *testing.B) {
		for b.Loop() {
			_, _ = s.Score(pod.Requested, u, a)
		}
	})
}
