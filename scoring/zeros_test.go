package scoring_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// TestZeros: what is nil or a zero value works, or says in the words of the package
// that it can not.
func TestZeros(t *testing.T) {
	m := strategyMap(t, "gpu")
	nodes := m.NewNodes()
	setNode(nodes, "a", strategyVec{1, 1, 1, 1}, nil)
	strategy := compileStrategy(m, scoring.StrategyConfig{
		SRA: &scoring.SRAConfig{Weight: 1, Resources: []string{strategyGPU}}, Proportional: &scoring.ProportionalConfig{Resources: []string{strategyGPU}},
	})
	testkit.Zeros{
		Prefix: "scoring: ",
		Functions: []any{
			scoring.Bind, scoring.Combine, scoring.CompileDRF, scoring.CompileKube, scoring.CompileLoad,
			scoring.CompileProportional, scoring.CompileStrategy, scoring.NormalizeScores[float64], scoring.ParseArguments,
			scoring.ParseLoad, scoring.ParsePodOverride, scoring.ParseSchedulerConf,
			scoring.ParseScoringStrategy,
		},
		Types: []any{
			(*scoring.Bound)(nil), (*scoring.DRF)(nil), (*scoring.DRFConfig)(nil),
			(*scoring.DimExplanation)(nil), (*scoring.Explanation)(nil), (*scoring.FitRule)(nil),
			(*scoring.Kube)(nil), (*scoring.KubeConfig)(nil), (*scoring.KubeResource)(nil),
			(*scoring.Load)(nil), (*scoring.LoadConfig)(nil), (*scoring.Normalization)(nil),
			(*scoring.Option)(nil), (*scoring.PodOverride)(nil), (*scoring.Proportional)(nil),
			(*scoring.ProportionalConfig)(nil), (*scoring.Result)(nil),
			(*scoring.SRAConfig)(nil), (*scoring.ScoringType)(nil), (*scoring.ShapePoint)(nil),
			(*scoring.Status)(nil), (*scoring.Strategy)(nil), (*scoring.StrategyConfig)(nil),
			(*scoring.StrategyFitConfig)(nil), (*scoring.Term)(nil),
			(*scoring.TermExplanation)(nil),
		},
		Operands: []any{
			func() *scoring.Bound { return scoring.Bind(strategy, nodes) },
			func() *scoring.Strategy { return strategy },
			func() scoring.Scorer { return strategy },
			func() *scoring.Proportional { return strategy.Proportional() },
			func() *vector.Nodes { return nodes },
			func() *vectormap.ResourceVectorMap { return m },
			func() *vector.Mask { return vector.NewMask(1) },
			func() *vector.Matrix { return m.NewMatrix(1) },
			func() []float64 { return make([]float64, 1) },
			func() []int64 { return make([]int64, 1) },
			func() vector.Tie { return vector.TieLowest() },
		},
		Others: []any{(*scoring.Kube)(nil)},
	}.Run(t)
}
