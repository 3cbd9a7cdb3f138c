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

	nodes, rows := m.NewNodes(), vector.NewMask(3)
	rows.Set(1)
	for _, name := range []string{"a", "b", "c"} {
		setNode(nodes, name, node, nil)
	}
	bound, dst, pod := scoring.Bind(sra, nodes), []float64{7, 7, 7, 7}, vector.PodAmounts{Requested: request}
	if err := bound.Score(dst, pod, rows); err != nil || fmt.Sprint(dst) != "[7 0 7 7]" {
		t.Errorf("bound: %v, %v", dst, err)
	}
	if err := bound.Score(dst, pod, nil); err != nil || fmt.Sprint(dst) != "[0 0 0 7]" {
		t.Errorf("bound, all rows: %v, %v", dst, err)
	}
	if err := bound.Score(dst[:2], pod, nil); err == nil {
		t.Error("bound, a short dst: no error")
	}
	if row, ok := bound.Best(pod, nil, vector.TieLowest()); row != 0 || !ok {
		t.Errorf("the best row is %d, %v", row, ok)
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
	nodes := m.NewNodes()
	for want, calls := range map[string][]func(){
		"scoring: nil matrix": {
			func() { _ = s.Proportional().FilterIdle(vector.NewMask(1), nodes, nil, nil, nil) },
			func() { _ = (*scoring.Proportional)(nil).FilterIdle(vector.NewMask(1), nodes, nil, nil, nil) },
		},
		"scoring: nil nodes": {
			func() { _ = s.Proportional().Filter(vector.NewMask(1), nil, nil, nil) },
			func() { _ = (*scoring.Proportional)(nil).Filter(vector.NewMask(1), nil, nil, nil) },
			func() { _ = s.Proportional().FilterIdle(vector.NewMask(1), nil, new(vector.Matrix), nil, nil) },
			func() { scoring.Bind(s, nil) },
		},
		"scoring: nil mask as a destination": {
			func() { _ = s.Proportional().Filter(nil, nodes, nil, nil) },
			func() { _ = (*scoring.Proportional)(nil).Filter(nil, nodes, nil, nil) },
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
			func() { _, _ = (*scoring.DRF)(nil).Score(nil, nil, nil) },
			func() { (*scoring.Bound)(nil).LimitCache(0) },
		},
		"scoring: nil scorer": {func() { scoring.Bind(nil, nodes) }},
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
