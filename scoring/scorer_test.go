package scoring_test

import (
	"errors"
	"math"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// TestScorerErrors: what every scorer refuses of one node.
func TestScorerErrors(t *testing.T) {
	w := newBoundWorld(t, testkit.Rand(1), 0, true, false)
	long, negative := make(vector.ResourceVector, w.m.Len()+1), vector.ResourceVector{1, -2, math.NaN()}
	for i := range w.scorers {
		s := &w.scorers[i]
		if _, compiled := s.scorer.(loadScorer); !compiled {
			continue
		}
		for _, v := range [][3]vector.ResourceVector{{long, nil, nil}, {nil, long, nil}, {nil, nil, long}} {
			_, err1 := s.scorer.Score(v[0], v[1], v[2])
			_, err2 := s.scorer.Explain(v[0], v[1], v[2])
			if !errors.Is(err1, vector.ErrShape) || !errors.Is(err2, vector.ErrShape) {
				t.Errorf("%s of long vectors: %v, %v", s.name, err1, err2)
			}
		}
		_, err1 := s.scorer.Score(negative, nil, nil)
		_, err2 := s.scorer.Explain(negative, nil, nil)
		for _, err := range []error{err1, err2} {
			var bad *vector.AmountError
			if !errors.Is(err, vector.ErrNegative) || !errors.As(err, &bad) || bad.Resource != "memory" || bad.Amount != "-2" || bad.Row != -1 ||
				err.Error() != "scoring: request: memory: amount -2 is negative: want 0 or more" {
				t.Errorf("%s of a negative amount: %v", s.name, err)
			}
		}
	}
}

func TestExplanationString(t *testing.T) {
	for _, c := range []struct {
		name string
		e    scoring.Explanation
		want string
	}{
		{"nothing", scoring.Explanation{}, "total  0\n"},
		{"a reason", scoring.Explanation{Reason: "cpu is full"}, "total  0  cpu is full\n"},
		{"a term alone", scoring.Explanation{Total: 7.5, Terms: []scoring.TermExplanation{{Name: "plain", Weight: 0.5, Score: 15}}},
			"" +
				"total  7.5\n" +
				"plain  15  x 0.5\n"},
		{"normalized", scoring.Explanation{Total: 50, Terms: []scoring.TermExplanation{
			{Name: "fit", Weight: 0.5, Score: 100, Raw: 781.25}}},
			"" +
				"total  50\n" +
				"fit    781.25 -> 100  x 0.5\n"},
		{"two terms", scoring.Explanation{Total: 400.123456789, Terms: []scoring.TermExplanation{
			{Name: "fit", Weight: 1, Score: 400.123456789, Dims: []scoring.DimExplanation{
				{Name: "cpu", Request: 1000, Used: 2000, Allocatable: 4000, Type: "LeastAllocated", Weight: 1, Contribution: 400.123456789},
				{Name: "memory", Request: 1, Used: 274877906943, Allocatable: 1 << 50, Type: "MostAllocated", Weight: 2, Status: scoring.BadValue},
			}},
			{Name: "avoidance", Weight: -1},
		}}, "" +
			"total       400.123\n" +
			"fit         400.123  x 1\n" +
			"  resource  request  used          allocatable       rule            weight  points   status\n" +
			"  cpu       1000     2000          4000              LeastAllocated  1       400.123  Scored\n" +
			"  memory    1        274877906943  1125899906842624  MostAllocated   2       0        BadValue\n" +
			"avoidance   0        x -1\n"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
	if got := (scoring.BadValue + 1).String(); got != "unknown" {
		t.Errorf("a status that isn't one is %s", got)
	}
}

// TestExplanationFormat shows names and amounts as Kubernetes writes them.
func TestExplanationFormat(t *testing.T) {
	m := testkit.Must(vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu")))
	e := scoring.Explanation{Total: 75, Terms: []scoring.TermExplanation{{Name: "fit", Weight: 1, Score: 75, Dims: []scoring.DimExplanation{
		{Index: vectormap.CPU, Name: "cpu", Request: 1500, Used: 2000, Allocatable: 64000, Type: "LeastAllocated", Weight: 1, Contribution: 50},
		{Index: vectormap.Memory, Name: "memory", Request: 1 << 32, Used: 1<<32 + 1, Allocatable: math.Inf(1), Type: "MostAllocated", Weight: 2, Status: scoring.BadValue},
		{Index: vectormap.GPU, Name: "gpu", Request: 500, Used: math.NaN(), Allocatable: 8000, Type: "MostAllocated", Weight: 1, Contribution: 25},
		{Index: -1, Name: "normalization", Type: "MinMax", Weight: 1},
	}}}}
	const want = "" +
		"total             75\n" +
		"fit               75       x 1\n" +
		"  resource        request  used        allocatable  rule            weight  points  status\n" +
		"  cpu             1500m    2           64           LeastAllocated  1       50      Scored\n" +
		"  memory          4Gi      4294967297  unlimited    MostAllocated   2       0       BadValue\n" +
		"  nvidia.com/gpu  500m     NaN         8            MostAllocated   1       25      Scored\n" +
		"  normalization                                     MinMax          1       0       Scored\n"
	if got := e.Format(m); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
