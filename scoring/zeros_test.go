package scoring_test

import (
	"reflect"
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
	strategy := compileStrategy(t, m, scoring.StrategyConfig{
		SRA: &scoring.SRAConfig{Weight: 1, Resources: []string{strategyGPU}}, Proportional: &scoring.ProportionalConfig{Resources: []string{strategyGPU}},
	})
	testkit.Zeros{
		Prefix: "scoring: ",
		Functions: map[string]any{
			"Bind": scoring.Bind, "Combine": scoring.Combine,
			"CompileDRF": scoring.CompileDRF, "CompileKube": scoring.CompileKube, "CompileLoad": scoring.CompileLoad,
			"CompileProportional": scoring.CompileProportional, "CompileSRA": scoring.CompileSRA,
			"CompileStrategy": scoring.CompileStrategy, "CompileStrategyFit": scoring.CompileStrategyFit,
			"NormalizeScores": scoring.NormalizeScores[float64], "ParseArguments": scoring.ParseArguments,
			"ParseLoad":          scoring.ParseLoad,
			"ParsePodOverride":   scoring.ParsePodOverride,
			"ParseSchedulerConf": scoring.ParseSchedulerConf, "ParseScoringStrategy": scoring.ParseScoringStrategy,
		},
		Types: []any{
			(*scoring.Bound)(nil), (*scoring.DRF)(nil), (*scoring.DRFConfig)(nil),
			(*scoring.DimExplanation)(nil), (*scoring.Explanation)(nil), (*scoring.FitRule)(nil),
			(*scoring.Kube)(nil), (*scoring.KubeConfig)(nil), (*scoring.KubeResource)(nil), (*scoring.Load)(nil),
			(*scoring.LoadConfig)(nil), (*scoring.Normalization)(nil), (*scoring.Option)(nil),
			(*scoring.PodOverride)(nil), (*scoring.Proportional)(nil),
			(*scoring.ProportionalConfig)(nil),
			(*scoring.Result)(nil), (*scoring.SRA)(nil), (*scoring.SRAConfig)(nil), (*scoring.ScoringType)(nil),
			(*scoring.ShapePoint)(nil), (*scoring.Status)(nil), (*scoring.Strategy)(nil), (*scoring.StrategyConfig)(nil),
			(*scoring.StrategyFit)(nil), (*scoring.StrategyFitConfig)(nil), (*scoring.Term)(nil), (*scoring.TermExplanation)(nil),
		},
		Operand: func(typ reflect.Type) any {
			switch typ {
			case reflect.TypeFor[*scoring.Bound]():
				return scoring.Bind(strategy, nodes)
			case reflect.TypeFor[*scoring.Strategy](), reflect.TypeFor[scoring.Scorer]():
				return strategy
			case reflect.TypeFor[*scoring.SRA]():
				return strategy.SRA()
			case reflect.TypeFor[*scoring.Proportional]():
				return strategy.Proportional()
			case reflect.TypeFor[*vector.Nodes]():
				return nodes
			case reflect.TypeFor[*vectormap.ResourceVectorMap]():
				return m
			case reflect.TypeFor[*vector.Mask]():
				return vector.NewMask(1)
			case reflect.TypeFor[*vector.Matrix]():
				return m.NewMatrix(1)
			case reflect.TypeFor[[]float64]():
				return make([]float64, 1)
			case reflect.TypeFor[[]int64]():
				return make([]int64, 1)
			case reflect.TypeFor[vector.Tie]():
				return vector.TieLowest()
			}
			return nil
		},
		Others: []any{(*scoring.Kube)(nil)},
	}.Run(t)
}
