package scoring_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// Policies that are off are nil, and usable: they score 0 and let all pass.
func TestNilPolicies(t *testing.T) {
	m := strategyMap(t)
	s, err := scoring.CompileStrategy(scoring.StrategyConfig{}, m)
	if err != nil {
		t.Fatal(err)
	}
	sra, proportional := s.SRA(), s.Proportional()
	if sra.Enabled() || len(sra.Warnings()) != 0 || proportional.Enabled() || len(proportional.Warnings()) != 0 {
		t.Errorf("SRA: %v, %v; Proportional: %v, %v", sra.Enabled(), sra.Warnings(), proportional.Enabled(), proportional.Warnings())
	}
	request, node := strategyVec{1}, strategyVec{5, 5}
	if x, err := sra.Score(request, node, node); x != 0 || err != nil {
		t.Errorf("Score: %v, %v", x, err)
	}
	if e, err := sra.Explain(request, node, node); e.Total != 0 || err != nil || len(e.Terms) != 1 || e.Terms[0].Name != "SRA" {
		t.Errorf("Explain: %v, %v", e, err)
	}
	if r, err := proportional.Check(request, node, node); !r.OK || err != nil {
		t.Errorf("Check: %v, %v", r, err)
	}

	nodes, rows := m.NewMatrix(3), vector.NewMask(3)
	rows.Set(1)
	for name, score := range map[string]func(dst []float64, rows *vector.Mask) error{
		"ScoreBatch":    func(dst []float64, rows *vector.Mask) error { return sra.ScoreBatch(dst, request, nodes, nodes, rows) },
		"Base":          func(dst []float64, rows *vector.Mask) error { return sra.Base(dst, nodes, rows) },
		"ScoreFromBase": func(dst []float64, rows *vector.Mask) error { return sra.ScoreFromBase(dst, request, nil, nodes, rows) },
	} {
		dst := []float64{7, 7, 7, 7}
		if err := score(dst, rows); err != nil || fmt.Sprint(dst) != "[7 0 7 7]" {
			t.Errorf("%s: %v, %v", name, dst, err)
		}
		if err := score(dst, nil); err != nil || fmt.Sprint(dst) != "[0 0 0 7]" {
			t.Errorf("%s of all rows: %v, %v", name, dst, err)
		}
		if err := score(dst[:2], nil); err == nil {
			t.Errorf("%s of a short dst: no error", name)
		}
	}
	sum, err := scoring.Combine([]scoring.Term{{Scorer: sra, Weight: 1}, {Scorer: s, Weight: 2}})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := s.Score(request, node, node)
	if got, err := sum.Score(request, node, node); got != 2*want || err != nil {
		t.Errorf("a combination: %v, %v, want %v", got, err, 2*want)
	}
	_, err = scoring.Combine([]scoring.Term{{Scorer: (*scoring.Kube)(nil), Weight: 1}})
	if err == nil || !strings.HasPrefix(err.Error(), "terms[0].scorer: Required") {
		t.Errorf("a nil scorer as a term: %v", err)
	}
}

// Nil where something is needed is a mistake of the program, and says which.
func TestNilPanics(t *testing.T) {
	m := strategyMap(t)
	s, err := scoring.CompileStrategy(scoring.StrategyConfig{SRA: &scoring.SRAConfig{Weight: 1}, Proportional: &scoring.ProportionalConfig{}}, m)
	if err != nil {
		t.Fatal(err)
	}
	nodes, dst := m.NewMatrix(1), make([]float64, 1)
	cache := scoring.NewCache(s, scoring.CacheOptions{})
	tie := vector.TieLowest()
	for want, calls := range map[string][]func(){
		"scoring: nil matrix": {
			func() { _ = s.ScoreBatch(dst, nil, nil, nodes, nil) },
			func() { _ = s.ScoreBatch(dst, nil, nodes, nil, nil) },
			func() { _ = s.ScoreFromBase(dst, nil, dst, nil, nodes, nil) },
			func() { _ = s.SRA().Base(dst, nil, nil) },
			func() { _ = (*scoring.SRA)(nil).ScoreBatch(dst, nil, nil, nil, nil) },
			func() { _ = s.Proportional().FilterBatch(vector.NewMask(1), nil, nil, nodes, nil) },
			func() { _ = (*scoring.Proportional)(nil).FilterBatch(vector.NewMask(1), nil, nil, nodes, nil) },
			func() { _ = scoring.ValidateBatch(m, nil, nodes) },
			func() { _, _, _ = cache.Best(&scoring.Query{Used: nodes}, tie) },
		},
		"scoring: nil mask as a destination": {
			func() { _ = s.Proportional().FilterBatch(nil, nil, nodes, nodes, nil) },
			func() { _ = (*scoring.Proportional)(nil).FilterBatch(nil, nil, nodes, nodes, nil) },
		},
		"scoring: nil map": {
			func() { _, _ = scoring.CompileStrategyFit(scoring.StrategyFitConfig{}, nil) },
			func() { _, _ = scoring.CompileSRA(scoring.SRAConfig{}, nil) },
			func() { _, _ = scoring.CompileProportional(scoring.ProportionalConfig{}, nil) },
			func() { _, _ = scoring.CompileStrategy(scoring.StrategyConfig{}, nil) },
			func() { _, _ = scoring.CompileKube(scoring.KubeConfig{}, nil) },
			func() { _, _ = scoring.CompileLoad(scoring.LoadConfig{}, nil) },
			func() { _, _ = scoring.CompileDRF(scoring.DRFConfig{}, nil) },
			func() { _, _ = scoring.ParsePodOverride(nil, nil) },
		},
		"scoring: nil receiver": {
			func() { _, _ = (*scoring.StrategyFit)(nil).Score(nil, nil, nil) },
			func() { (*scoring.Strategy)(nil).SRA() },
			func() { (*scoring.Kube)(nil).Warnings() },
			func() { _, _ = (*scoring.Load)(nil).Explain(nil, nil, nil) },
			func() { _ = (*scoring.DRF)(nil).ScoreBatch(nil, nil, nodes, nodes, nil) },
			func() { (*scoring.Combination)(nil).Terms() },
			func() { (*scoring.Cache)(nil).Reset() },
		},
		"scoring: nil query":  {func() { _, _, _ = cache.Scores(nil) }},
		"scoring: nil scorer": {func() { scoring.NewCache(nil, scoring.CacheOptions{}) }},
	} {
		for i, call := range calls {
			func() {
				defer func() {
					if got := recover(); got != want {
						t.Errorf("%s, call %d: %v", want, i, got)
					}
				}()
				call()
			}()
		}
	}
}

// A nil mask of rows selects all of them, everywhere.
func TestNilRows(t *testing.T) {
	m := strategyMap(t)
	var mask vector.Mask
	if err := (*scoring.Proportional)(nil).FilterBatch(&mask, nil, m.NewMatrix(3), m.NewMatrix(3), nil); err != nil || mask.Count() != 3 {
		t.Errorf("FilterBatch: %d rows, %v", mask.Count(), err)
	}
}
