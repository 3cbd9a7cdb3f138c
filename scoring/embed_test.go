package scoring_test

import (
	"errors"
	"math"
	"math/big"
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
	sra := &scoring.SRAConfig{Weight: 10, Resources: []string{strategyGPU}}
	strategy := compileStrategy(m, scoring.StrategyConfig{SRA: sra})
	ruled := func(rules map[string]scoring.FitRule, opts ...scoring.Option) *scoring.Strategy {
		return compileStrategy(m, scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Resources: rules}, SRA: sra}, opts...)
	}
	ruleless := ruled(map[string]scoring.FitRule{})
	load := compileLoad(scoring.LoadConfig{}, m)
	loadless := compileLoad(scoring.LoadConfig{Weights: map[string]float64{}}, m)
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
		{"no rules", ruleless, []int64{0, 100}},
		{"no rules, SRA off", ruleless.Fit(), []int64{0, 0}},
		{"rules of what the map lacks", ruled(map[string]scoring.FitRule{"x.com/npu": {Type: scoring.MostAllocated}}, scoring.AllowUnknown), []int64{0, 100}},
		{"a rule of what the pod doesn't request", ruled(map[string]scoring.FitRule{strategyGPU: {Type: scoring.MostAllocated}}), []int64{0, 50}},
		{"no rules, twice as dear", combine(t, scoring.Term{Scorer: ruleless, Weight: 2}), []int64{0, 100}},
		{"a load of nothing", loadless, []int64{0, 0}},
		{"a load of nothing, and of a capacity of 0", combine(t, scoring.Term{Scorer: strategy.Fit(), Weight: 1}, scoring.Term{Scorer: loadless, Weight: 9},
			scoring.Term{Scorer: compileLoad(scoring.LoadConfig{Capacity: strategyVec{}}, m), Weight: 9}), []int64{60, 80}},
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

// The rules of a pod decide what is highest, too.
func TestScorePercentOverride(t *testing.T) {
	m := strategyMap(t)
	nodes := m.NewNodes()
	setNode(nodes, "a", strategyVec{1000, 1000}, strategyVec{100, 500})
	pod := vector.PodAmounts{Requested: strategyVec{100, 100}}
	for _, c := range []struct {
		rules       map[string]scoring.FitRule
		annotations map[string]string
		want        int64
	}{
		{map[string]scoring.FitRule{}, map[string]string{scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"memory": 1}`}, 60},
		{nil, map[string]string{scoring.ScoringTypeAnnotation: "MostAllocated", scoring.WeightAnnotation: `{"memory": 0}`}, 0},
		{map[string]scoring.FitRule{}, nil, 0},
	} {
		override, _, err := scoring.ParsePodOverride(c.annotations, m)
		if err != nil {
			t.Fatal(err)
		}
		strategy := compileStrategy(m, scoring.StrategyConfig{Fit: scoring.StrategyFitConfig{Resources: c.rules}})
		got := []int64{-7}
		if err := scoring.Bind(strategy, nodes).WithOverride(override).ScorePercent(got, pod, nil); err != nil || got[0] != c.want {
			t.Errorf("%v, %v: %v, %v; want %d", c.rules, c.annotations, got, err, c.want)
		}
	}
}

// Percents are rounded once, next to halves too.
func TestPercentOf(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, span float64
		want    int64
	}{
		{0.49999999999999994, 100, 0}, {0.5, 100, 1}, {99.49999999999999, 100, 99}, {99.5, 100, 100}, {1.4999999999999998, 100, 1},
		{0, 0, 0}, {5e-324, 0, 0}, {0, 100, 0}, {-1, 100, 0}, {nan, 100, 0}, {inf, 100, 100}, {-inf, 100, 0}, {math.MaxFloat64, 100, 100}, {101, 100, 100},
		{5e-324, 1e-323, 50}, {0.005, 1, 1}, {4.999999999999999, 1000, 0},
	} {
		if got := scoring.PercentOf(c.x, c.span); got != c.want {
			t.Errorf("%v of %v: %d, not %d", c.x, c.span, got, c.want)
		}
	}
	r := testkit.Rand(5)
	for range testkit.Amount(t, 1e4, 1e5, 1e6) {
		span := []float64{100, 1, 3, 700, 1000, 1e6 * r.Float64(), float64(100 * r.IntN(1000))}[r.IntN(7)]
		x := span * (float64(r.IntN(200)) / 200)
		for range r.IntN(4) {
			x = math.Nextafter(x, inf)
		}
		for range r.IntN(4) {
			x = math.Nextafter(x, -inf)
		}
		want := int64(0)
		if x > 0 && span > 0 {
			// floor((200x + span) / 2span)
			a, b := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(span)
			q := a.Quo(a.Add(a.Mul(a, big.NewRat(200, 1)), b), b.Mul(b, big.NewRat(2, 1)))
			want = min(new(big.Int).Quo(q.Num(), q.Denom()).Int64(), 100)
		}
		if got := scoring.PercentOf(x, span); got != want {
			t.Fatalf("%v of %v: %d, not %d", x, span, got, want)
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
