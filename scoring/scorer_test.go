package scoring_test

import (
	"errors"
	"math"
	"testing"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

func TestValidateBatch(t *testing.T) {
	m := loadMap(t)
	other, err := vectormap.New([]string{"cpu", "memory"})
	if err != nil {
		t.Fatal(err)
	}
	inf, nan, negativeZero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	good := loadMatrix(m, vector.ResourceVector{1, 2}, vector.ResourceVector{0, negativeZero, math.MaxFloat64})
	for _, c := range []struct {
		name              string
		used, allocatable *vector.Matrix
		want              string
	}{
		{"good", good, good, ""},
		{"no rows", m.NewMatrix(0), m.NewMatrix(0), ""},
		{"NaN", loadMatrix(m, vector.ResourceVector{}, vector.ResourceVector{0, nan}), good, "scoring: row 1: memory: amount NaN is not a finite number: want 0 or more"},
		{"negative", good, loadMatrix(m, vector.ResourceVector{1, 1, -0.5}, vector.ResourceVector{}), "scoring: row 0: gpu: amount -0.5 is negative: want 0 or more"},
		{"lowest row first", loadMatrix(m, vector.ResourceVector{}, vector.ResourceVector{nan}), loadMatrix(m, vector.ResourceVector{0, 0, inf}, vector.ResourceVector{}),
			"scoring: row 0: gpu: amount +Inf is not a finite number: want 0 or more"},
		{"then the lowest column", loadMatrix(m, vector.ResourceVector{0, 0, nan}), loadMatrix(m, vector.ResourceVector{0, -inf}), "scoring: row 0: memory: amount -Inf is not a finite number: want 0 or more"},
		{"then used", loadMatrix(m, vector.ResourceVector{-1}), loadMatrix(m, vector.ResourceVector{-2}), "scoring: row 0: cpu: amount -1 is negative: want 0 or more"},
		{"number of rows", good, m.NewMatrix(1), "scoring: used has 2 rows, allocatable 1: vector: shapes differ"},
		{"schema", other.NewMatrix(2), good, "scoring: used is of another map: vector: schemas differ"},
		{"width", good, vector.NewMatrix(vector.Schema{}, 2, 2), "scoring: allocatable has 2 columns, the map 5: vector: shapes differ"},
	} {
		got := ""
		if err := scoring.ValidateBatch(m, c.used, c.allocatable); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestValidateBatchGolden looks for the first bad cell, row by row.
func TestValidateBatchGolden(t *testing.T) {
	m, r := loadMap(t), testkit.Rand(6)
	for range 500 {
		rows := 1 + r.IntN(5)
		used, allocatable := m.NewMatrix(rows), m.NewMatrix(rows)
		for range r.IntN(5) {
			x := []*vector.Matrix{used, allocatable}[r.IntN(2)]
			x.SetRow(r.IntN(rows), append(make(vector.ResourceVector, r.IntN(m.Len())), []float64{math.NaN(), math.Inf(-1), -1, 7}[r.IntN(4)]))
		}
		var want *vector.AmountError
		for row := rows - 1; row >= 0; row-- {
			for i := m.Len() - 1; i >= 0; i-- {
				for _, v := range []float64{allocatable.At(row, i), used.At(row, i)} {
					if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
						want = &vector.AmountError{Resource: m.Name(i), Amount: decimal.Format(v), Row: row}
					}
				}
			}
		}
		err := scoring.ValidateBatch(m, used, allocatable)
		var got *vector.AmountError
		if errors.As(err, &got) != (want != nil) || want != nil && (got.Resource != want.Resource || got.Amount != want.Amount || got.Row != want.Row) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
}

func TestBadAmountError(t *testing.T) {
	m := loadMap(t)
	_, err := compileLoad(t, scoring.LoadConfig{}, m).Score(vector.ResourceVector{1, -2, math.NaN()}, nil, nil)
	var bad *vector.AmountError
	if !errors.Is(err, vector.ErrNegative) || !errors.As(err, &bad) || bad.Resource != "memory" || bad.Amount != "-2" || bad.Row != -1 {
		t.Errorf("%v", err)
	}
	if got, want := err.Error(), "scoring: request: memory: amount -2 is negative: want 0 or more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestStatusString(t *testing.T) {
	for s, want := range map[scoring.Status]string{
		scoring.Scored: "Scored", scoring.NotRequested: "NotRequested", scoring.NotConfigured: "NotConfigured",
		scoring.MissingOnNode: "MissingOnNode", scoring.Inert: "Inert", scoring.OverCapacity: "OverCapacity",
		scoring.BadValue: "BadValue", scoring.BadValue + 1: "unknown",
	} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
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
			{Name: "fit", Weight: 0.5, Score: 100, Raw: 781.25, Normalize: scoring.NormalizeMinMax}}},
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
}

// TestExplanationFormat shows names and amounts as Kubernetes writes them.
func TestExplanationFormat(t *testing.T) {
	m, err := vectormap.New([]string{"nvidia.com/gpu"}, vectormap.Milli("nvidia.com/gpu"))
	if err != nil {
		t.Fatal(err)
	}
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
