package scoring_test

import (
	"errors"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// A predicate that is off is nil, and lets all nodes pass.
func TestProportionalOff(t *testing.T) {
	m := strategyMap(t)
	s := testkit.Must(scoring.CompileStrategy(scoring.StrategyConfig{}, m))
	proportional := s.Proportional()
	if proportional.Enabled() {
		t.Error("Proportional is on")
	}
	request, node := strategyVec{1}, strategyVec{5, 5}
	if r, err := proportional.Check(request, node, node); !r.OK || err != nil {
		t.Errorf("Check: %v, %v", r, err)
	}

	nodes, rows := m.NewNodes(), vector.NewMask(3)
	rows.Set(1)
	for _, name := range []string{"a", "b", "c"} {
		setNode(nodes, name, node, nil)
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
}
