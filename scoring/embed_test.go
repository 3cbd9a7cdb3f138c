package scoring_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Types of other packages that embed a scorer of this one, and add 1 to its scores.
type (
	moreFit    struct{ *scoring.Strategy }
	moreKube   struct{ *scoring.Kube }
	moreLoad   struct{ scoring.Load }
	moreScorer struct{ scoring.Scorer }
)

func more(x float64, err error) (float64, error) { return x + 1, err }

func (s moreFit) Score(q, u, a vector.ResourceVector) (float64, error) {
	return more(s.Strategy.Score(q, u, a))
}

func (s moreKube) Score(q, u, a vector.ResourceVector) (float64, error) {
	return more(s.Kube.Score(q, u, a))
}

func (s *moreLoad) Score(q, u, a vector.ResourceVector) (float64, error) {
	return more(s.Load.Score(q, u, a))
}

func (s moreScorer) Score(q, u, a vector.ResourceVector) (float64, error) {
	return more(s.Scorer.Score(q, u, a))
}

// A type that embeds a scorer has its unexported methods, too. It is asked by its own
// Score all the same: alone, as a term, as a term of a term, with the rules of a pod, and
// where scores are kept.
func TestEmbeddedScorers(t *testing.T) {
	m := strategyMap(t, "gpu")
	nodes := m.NewNodes()
	setNode(nodes, "a", strategyVec{1000, 1000, 4, 10}, strategyVec{100, 500, 1, 1})
	setNode(nodes, "b", strategyVec{2000, 1000, 0, 10}, strategyVec{100, 200, 0, 1})
	setNode(nodes, "c", strategyVec{4000, 1000, 2, 10}, strategyVec{700, 900, 2, 1})
	pod := vector.PodAmounts{Requested: strategyVec{100, 100}}
	strategy := compileStrategy(m, scoring.StrategyConfig{SRA: &scoring.SRAConfig{Weight: 2, Resources: []string{strategyGPU}}})
	kube := testkit.Must(scoring.CompileKube(scoring.KubeConfig{Type: scoring.MostAllocated, Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}}}, m))
	load := compileLoad(scoring.LoadConfig{}, m)
	override, _, err := scoring.ParsePodOverride(map[string]string{
		scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"cpu":1}`,
	}, m)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ own, more scoring.Scorer }{
		"Strategy":      {strategy.Fit(), moreFit{strategy.Fit()}},
		"Kube":          {kube, moreKube{kube}},
		"copy of Load":  {load, &moreLoad{*load}},
		"any Scorer":    {strategy, moreScorer{strategy}},
		"a combination": {combine(t, scoring.Term{Scorer: kube, Weight: 1}), moreScorer{combine(t, scoring.Term{Scorer: kube, Weight: 1})}},
	} {
		var plain []float64
		for row := range nodes.Len() {
			x := testkit.Must(c.own.Score(pod.Requested, nodes.Requested().Row(nil, row), nodes.Allocatable().Row(nil, row)))
			plain = append(plain, x+1)
		}
		check := func(how string, b *scoring.Bound, want []float64) {
			t.Helper()
			got := make([]float64, nodes.Len())
			if err := b.Score(got, pod, nil); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, %v, want %v", name, how, got, err, want)
			}
			best := vector.ArgMax(want, nil, vector.TieLowest())
			if row, ok := b.Best(pod, nil, vector.TieLowest()); !ok || row != best {
				t.Errorf("%s, %s: best row %d, want %d", name, how, row, best)
			}
			if err := b.ScorePercent(make([]int64, nodes.Len()), pod, nil); err == nil {
				t.Errorf("%s, %s: it has a range", name, how)
			}
		}
		bound := scoring.Bind(c.more, nodes)
		check("alone", bound, plain)
		check("overridden", bound.WithOverride(override), plain)
		cached := scoring.Bind(c.more, nodes)
		scoring.CacheAll(cached)
		check("cached", cached, plain)
		check("cached again", cached, plain)

		term := combine(t, scoring.Term{Scorer: c.more, Weight: 1})
		check("a term", scoring.Bind(term, nodes), plain)
		check("a term, overridden", scoring.Bind(term, nodes).WithOverride(override), plain)
		twice := make([]float64, len(plain))
		for row, x := range plain {
			twice[row] = x + x
		}
		sum := combine(t, scoring.Term{Scorer: term, Weight: 1}, scoring.Term{Scorer: c.more, Weight: 1})
		check("twice", scoring.Bind(sum, nodes), twice)
		check("twice, overridden", scoring.Bind(sum, nodes).WithOverride(override), twice)
	}
}

// Percents are of the highest score that there can be.
func TestScorePercent(t *testing.T) {
	m := strategyMap(t, "gpu")
	nodes := m.NewNodes()
	setNode(nodes, "a", strategyVec{1000, 1000, 4, 10}, strategyVec{100, 500, 1, 1})
	setNode(nodes, "b", strategyVec{2000, 1000, 0, 10}, strategyVec{100, 200, 0, 1})
	pod := vector.PodAmounts{Requested: strategyVec{100, 100}}
	off := int64(0)
	strategy := compileStrategy(m, scoring.StrategyConfig{SRA: &scoring.SRAConfig{Weight: 10, Resources: []string{strategyGPU}}})
	load := compileLoad(scoring.LoadConfig{}, m)
	raw := compileLoad(scoring.LoadConfig{Direction: scoring.Raw}, m)
	for _, c := range []struct {
		name   string
		scorer scoring.Scorer
		want   []int64 // nil: there is no range
	}{
		// Fits of (0.8+0.4)/2 and (0.9+0.7)/2 of 1000, and 0 or 1000 of SRA.
		{"fit", strategy.Fit(), []int64{60, 80}},
		{"SRA", strategy.SRA(), []int64{0, 100}},
		{"strategy", strategy, []int64{30, 90}},
		{"off", compileStrategy(m, scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Weight: &off}}), []int64{0, 0}},
		{"one term", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: 1}), []int64{60, 80}},
		{"a weight", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: 0.25}), []int64{60, 80}},
		{"less is better", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: -1}), []int64{40, 20}},
		{"a sum", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: 1}, scoring.Term{Scorer: strategy.SRA(), Weight: 3}), []int64{15, 95}},
		{"weight 0", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: 1}, scoring.Term{Scorer: raw, Weight: 0}), []int64{60, 80}},
		{"raw", raw, nil},
		{"DRF", compileDRF(scoring.DRFConfig{}, m), nil},
		{"of another package", usedScorer(0), nil},
		{"a sum with raw", combine(t, scoring.Term{Scorer: load, Weight: 1}, scoring.Term{Scorer: raw, Weight: -1}), nil},
		{"raw, normalized", combine(t, scoring.Term{Scorer: raw, Weight: 7, Normalize: scoring.NormalizeMinMax}), []int64{100, 0}},
		{"raw, by the greatest", combine(t, scoring.Term{Scorer: raw, Weight: 7, Normalize: scoring.NormalizeMax}), []int64{100, 43}},
		{"below 0, by the greatest", combine(t, scoring.Term{Scorer: combine(t, scoring.Term{Scorer: load, Weight: -1}), Weight: 1, Normalize: scoring.NormalizeMax}), nil},
	} {
		got := []int64{-7, -7}
		switch err := scoring.Bind(c.scorer, nodes).ScorePercent(got, pod, nil); {
		case c.want == nil:
			if err == nil || !slices.Equal(got, []int64{-7, -7}) {
				t.Errorf("%s: %v, %v, want an error", c.name, got, err)
			}
		case err != nil || !slices.Equal(got, c.want):
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

// A zero value is no term, and a nil interface neither.
func TestCombineWithoutScorer(t *testing.T) {
	for _, s := range []scoring.Scorer{nil, new(scoring.Kube), new(scoring.Strategy)} {
		if _, err := scoring.Combine([]scoring.Term{{Scorer: s, Weight: 1}}); len(vectormap.Faults(nil, err)) != 1 || errors.Is(err, vector.ErrShape) {
			t.Errorf("%T: %v", s, err)
		}
	}
}
