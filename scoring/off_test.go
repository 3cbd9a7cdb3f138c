package scoring_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// Policies that are off are nil, and usable: they score 0 and let all pass.
func TestPoliciesOff(t *testing.T) {
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
	passed := new(vector.Mask)
	if err := proportional.Filter(passed, nodes, request, rows); err != nil || !passed.Equal(rows) {
		t.Errorf("Filter: %v, %v", passed.Words(), err)
	}
	if err := proportional.Filter(passed, nodes, request, nil); err != nil || passed.Count() != 3 {
		t.Errorf("Filter without a mask: %d rows, %v", passed.Count(), err)
	}
	if err := proportional.Filter(passed, nodes, nil, vector.NewMask(1)); !errors.Is(err, vector.ErrShape) || passed.Count() != 3 {
		t.Errorf("Filter by a short mask: %v, %d rows", err, passed.Count())
	}
	sum, err := scoring.Combine([]scoring.Term{{Scorer: sra, Weight: 1}, {Scorer: s, Weight: 2}})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := s.Score(request, node, node)
	if got, err := sum.Score(request, node, node); got != 2*want || err != nil {
		t.Errorf("a combination: %v, %v, want %v", got, err, 2*want)
	}
}
