package scoring_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// columnScorer scores a node with its used amount of one resource, and fails
// when the pod requests the one behind it.
type columnScorer int

var errColumn = errors.New("refused")

func (c columnScorer) Score(request, used, _ vector.ResourceVector) (float64, error) {
	if request.Get(int(c)+1) > 0 {
		return 0, errColumn
	}
	return used.Get(int(c)), nil
}

func (c columnScorer) Explain(request, used, _ vector.ResourceVector) (scoring.Explanation, error) {
	x, err := c.Score(request, used, nil)
	if err != nil {
		return scoring.Explanation{}, err
	}
	return scoring.Explanation{Total: x, Terms: []scoring.TermExplanation{{
		Name: fmt.Sprint("column ", int(c)), Weight: 1, Score: x,
		Dims: []scoring.DimExplanation{{Index: int(c), Name: "used", Contribution: x}},
	}}}, nil
}

func combine(t testing.TB, terms ...scoring.Term) *scoring.Combination {
	t.Helper()
	c := testkit.Must(scoring.Combine(terms))
	return c.(*scoring.Combination)
}

// plainMatrix returns the matrix with these rows, without a schema.
func plainMatrix(cols int, rows ...[]float64) *vector.Matrix {
	m := vector.NewMatrix(vector.Schema{}, len(rows), cols)
	for i, v := range rows {
		m.SetRow(i, v)
	}
	return m
}

var normalizations = []scoring.Normalization{"", scoring.NormalizeMinMax, scoring.NormalizeMax, scoring.NormalizeReverse}

func TestNormalizeWorked(t *testing.T) {
	nan, none := math.NaN(), []int(nil)
	const minMax, most, reverse = scoring.NormalizeMinMax, scoring.NormalizeMax, scoring.NormalizeReverse
	for _, c := range []struct {
		mode   scoring.Normalization
		scores []float64
		out    []int // rows that are not selected
		want   []float64
	}{
		{most, []float64{200, 10}, none, []float64{100, 5}},
		{reverse, []float64{200, 10}, none, []float64{0, 95}},
		{most, []float64{0}, none, []float64{0}},
		{most, []float64{-5, -7, nan}, none, []float64{-5, -7, nan}},
		{reverse, []float64{-5, -7, nan}, none, []float64{100, 100, nan}},
		{minMax, []float64{5, 5}, none, []float64{0, 0}},
		{minMax, []float64{5, nan, 5}, none, []float64{0, nan, 0}},
		{minMax, []float64{0, 10, 5, nan}, none, []float64{0, 100, 50, nan}},
		{minMax, []float64{0, 10, 5, 99}, []int{3}, []float64{0, 100, 50, 99}},
		{minMax, []float64{0, 10, 5, 99}, []int{0, 1, 2, 3}, []float64{0, 10, 5, 99}},
		{minMax, []float64{nan, nan}, none, []float64{nan, nan}},
		{minMax, []float64{3, math.Inf(1)}, none, []float64{0, nan}},
		{most, []float64{200, 10, 400}, []int{2}, []float64{100, 5, 400}},
		{most, nil, none, nil},
		{"", []float64{200, 10}, none, []float64{200, 10}},
	} {
		got, rows := slices.Clone(c.scores), vector.NewMask(len(c.scores))
		rows.SetAll()
		for _, r := range c.out {
			rows.Clear(r)
		}
		scoring.NormalizeScores(got, rows, c.mode)
		if testkit.Difference(got, c.want) >= 0 {
			t.Errorf("%v of %v: got %v, want %v", c.mode, c.scores, got, c.want)
		}
		if c.out == nil {
			got = slices.Clone(c.scores)
			if scoring.NormalizeScores(got, nil, c.mode); testkit.Difference(got, c.want) >= 0 {
				t.Errorf("%v of %v without a mask: got %v, want %v", c.mode, c.scores, got, c.want)
			}
		}
	}
}

func TestNormalizeIntWorked(t *testing.T) {
	const least, greatest = math.MinInt64, math.MaxInt64
	const minMax, most, reverse = scoring.NormalizeMinMax, scoring.NormalizeMax, scoring.NormalizeReverse
	for _, c := range []struct {
		mode         scoring.Normalization
		scores, want []int64
	}{
		{most, []int64{200, 10}, []int64{100, 5}},
		{reverse, []int64{200, 10}, []int64{0, 95}},
		{most, []int64{0}, []int64{0}},
		{minMax, []int64{62, 34, 79}, []int64{62, 0, 100}},
		{minMax, []int64{62, 25, 98}, []int64{50, 0, 100}},
		{minMax, []int64{5, 5}, []int64{0, 0}},
		{most, []int64{7, -1, -7, -8}, []int64{100, -14, -100, -114}},
		{reverse, []int64{-1, 0}, []int64{100, 100}},
		{minMax, []int64{least, 0, greatest}, []int64{0, 50, 100}},
		{most, []int64{greatest, greatest / 2, least}, []int64{100, 49, -100}},
		{most, []int64{1, least}, []int64{100, least}},
		{reverse, []int64{1, least}, []int64{0, greatest}},
		{"", []int64{1, least}, []int64{1, least}},
		{minMax, nil, nil},
	} {
		got := slices.Clone(c.scores)
		if scoring.NormalizeScores(got, nil, c.mode); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v: got %v, want %v", c.mode, c.scores, got, c.want)
		}
	}
	got, rows := []int64{9, 5, 7}, vector.NewMask(2)
	rows.Set(1)
	if scoring.NormalizeScores(got, rows, most); !slices.Equal(got, []int64{9, 100, 7}) {
		t.Errorf("one row of three: got %v", got)
	}
}

func TestCombineWorked(t *testing.T) {
	// LeastAllocated and BalancedAllocation of kube-scheduler on two nodes.
	used := plainMatrix(2, []float64{37, 68}, []float64{50, 75})
	least, balanced := columnScorer(0), columnScorer(1)
	plain := combine(t, scoring.Term{Scorer: least, Weight: 1}, scoring.Term{Scorer: balanced, Weight: 2.5})
	wantScores(t, "plain", plain, nil, used, used, 207, 237.5)
	turned := combine(t, scoring.Term{Scorer: plain, Weight: -2}, scoring.Term{Scorer: least, Weight: 0})
	wantScores(t, "negative, and a combination inside", turned, nil, used, used, -414, -475)

	normalized := combine(t,
		scoring.Term{Scorer: least, Weight: 0.5, Normalize: scoring.NormalizeMinMax}, scoring.Term{Scorer: balanced, Weight: 2.5})
	got := make([]float64, 2)
	if err := scoring.ScoreBatch(normalized, got, nil, used, used, nil); err != nil || !slices.Equal(got, []float64{170, 237.5}) {
		t.Errorf("normalized: %v, %v", got, err)
	}
	if _, err := normalized.Score(nil, nil, nil); !errors.Is(err, scoring.ErrNeedsBatch) {
		t.Errorf("Score of a normalized term: %v", err)
	}
	if _, err := normalized.Explain(nil, nil, nil); !errors.Is(err, scoring.ErrNeedsBatch) {
		t.Errorf("Explain of a normalized term: %v", err)
	}
	if plain.Normalized() || !normalized.Normalized() || len(normalized.Terms()) != 2 {
		t.Error("Normalized or Terms is wrong")
	}
}

func TestCombineErrors(t *testing.T) {
	m := loadMap()
	load := compileLoad(scoring.LoadConfig{}, m)
	normalized := combine(t, scoring.Term{Scorer: load, Normalize: scoring.NormalizeMax})
	other := newLoadCase(t, testkit.Rand(1), 0, 2, func([]float64) {})
	elsewhere := compileLoad(scoring.LoadConfig{}, other.m)
	for _, c := range []struct {
		terms []scoring.Term
		want  []string
	}{
		{nil, []string{"terms"}},
		{[]scoring.Term{{Weight: math.NaN()}, {Scorer: load, Weight: math.Inf(-1), Normalize: "x"}},
			[]string{"terms[0].scorer", "terms[0].weight", "terms[1].normalize", "terms[1].weight"}},
		{[]scoring.Term{{Scorer: load}, {Scorer: normalized}}, []string{"terms[1].scorer"}},
		{[]scoring.Term{{Scorer: load}, {Scorer: columnScorer(0)}, {Scorer: elsewhere}}, []string{"terms[2].scorer"}},
		{[]scoring.Term{{Scorer: combine(t, scoring.Term{Scorer: load})}, {Scorer: elsewhere}}, []string{"terms[1].scorer"}},
	} {
		_, err := scoring.Combine(c.terms)
		if paths, _ := scoring.PathsOf(t, err); !slices.Equal(paths, c.want) {
			t.Errorf("errors at %q, want %q: %v", paths, c.want, err)
		}
	}
}

// A term that fails late fails the batch before dst is written.
func TestCombineFailsBeforeItWrites(t *testing.T) {
	nodes := plainNodes(t, 3, []float64{1, 2, 3}, []float64{1, 2, 3})
	c := combine(t, scoring.Term{Scorer: columnScorer(0), Weight: 1}, scoring.Term{Scorer: columnScorer(1), Weight: 1})
	dst := []float64{-1, -1}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{0, 0, 1}} // the second term refuses it
	scores := scoring.Bind(c, nodes)
	if err := scores.Score(dst, pod, nil); !errors.Is(err, errColumn) || dst[0] != -1 || dst[1] != -1 {
		t.Errorf("error %v, dst %v", err, dst)
	}
	if row, ok := scores.Best(pod, nil, vector.TieLowest()); ok || row != -1 {
		t.Errorf("the best row is %d", row)
	}
	if _, err := scores.Explain(pod, 0, nil); !errors.Is(err, errColumn) {
		t.Errorf("Explain of a row: %v", err)
	}
	if _, err := c.Score(pod.Requested, nil, nil); !errors.Is(err, errColumn) {
		t.Errorf("Score: %v", err)
	}
	if _, err := c.Explain(pod.Requested, nil, nil); !errors.Is(err, errColumn) {
		t.Errorf("Explain: %v", err)
	}
}

// plainNodes returns nodes without a schema of which these amounts are requested, and
// that have room for more.
func plainNodes(t testing.TB, cols int, requested ...[]float64) *vector.Nodes {
	t.Helper()
	nodes := vector.NewNodes(vector.Schema{}, cols)
	for i, v := range requested {
		amounts := vector.NodeAmounts{Requested: v, Allocatable: slices.Repeat([]float64{math.Inf(1)}, cols)}
		mustSet(nodes, fmt.Sprint(i), 1, amounts)
	}
	return nodes
}

// goldenCombination combines the used amounts of the columns.
func goldenCombination(c *scoring.Combination, used *vector.Matrix, selected func(int) bool, dst []float64) []float64 {
	want := slices.Clone(dst)
	for r := range used.Rows() {
		if selected(r) {
			want[r] = 0
		}
	}
	for k, term := range c.Terms() {
		scores := goldenNormalized(used.Column(k), selected, term.Normalize)
		for r, x := range scores {
			if product := term.Weight * x; selected(r) {
				want[r] += float64(product)
			}
		}
	}
	return want
}

// TestCombineGolden compares random combinations with the golden model.
func TestCombineGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(5)
		for n := range 200 {
			terms := make([]scoring.Term, 1+r.IntN(5)*r.IntN(10))
			used, column := vector.NewMatrix(vector.Schema{}, n, len(terms)), make([]float64, n)
			for k := range terms {
				terms[k] = scoring.Term{Scorer: columnScorer(k), Weight: r.NormFloat64()}
				if n%2 == 0 {
					terms[k].Normalize = normalizations[r.IntN(4)]
				}
				testkit.FillTame(r, column)
				if r.IntN(3) == 0 {
					testkit.Fill(r, column)
				}
				used.SetColumn(k, 0, column)
			}
			c, rows, dst := combine(t, terms...), vector.NewMask(n), make([]float64, n+2)
			testkit.FillMask(r, rows.Words())
			testkit.TrimMask(rows.Words(), n)
			want, got := goldenCombination(c, used, rows.Test, dst), slices.Clone(dst)
			err := scoring.ScoreBatch(c, got, nil, used, used, rows)
			if i := testkit.Difference(got, want); err != nil || i >= 0 {
				t.Fatalf("%d terms, %d rows: row %d, %v\n got %v\nwant %v", len(terms), n, i, err, got, want)
			}
			if !c.Normalized() {
				for i := range n {
					x, err := c.Score(nil, used.Row(nil, i), nil)
					if err != nil || rows.Test(i) && !testkit.Same(x, want[i]) {
						t.Fatalf("Score of row %d: %v, %v, want %v", i, x, err, want[i])
					}
				}
			}
		}
	})
}

func TestCombineExplain(t *testing.T) {
	nodes := plainNodes(t, 2, []float64{37, 68}, []float64{50, 75}, []float64{1, 1000})
	rows := vector.NewMask(3)
	rows.Set(0)
	rows.Set(1)
	least, balanced := columnScorer(0), columnScorer(1)
	inner := combine(t, scoring.Term{Scorer: least, Weight: 1}, scoring.Term{Scorer: balanced, Weight: 2, Name: "second"})
	for _, c := range []struct {
		name  string
		terms []scoring.Term
		row   int
		want  string
	}{
		{
			"plain", []scoring.Term{{Scorer: least, Weight: 1}, {Scorer: balanced, Weight: 2.5, Name: "balanced"}}, 0,
			"total 207\n" +
				"column 0 37 x 1\n" + explainedDims + "  used 0 0 0 0 37 Scored\n" +
				"balanced 68 x 2.5\n" + explainedDims + "  used 0 0 0 0 170 Scored\n",
		},
		{
			"nested", []scoring.Term{{Scorer: inner, Weight: 10, Name: "inner"}, {Scorer: inner, Weight: 1}}, 1,
			"total 2200\n" +
				"inner/column 0 50 x 10\n" + explainedDims + "  used 0 0 0 0 500 Scored\n" +
				"inner/second 75 x 20\n" + explainedDims + "  used 0 0 0 0 1500 Scored\n" +
				"column 0 50 x 1\n" + explainedDims + "  used 0 0 0 0 50 Scored\n" +
				"second 75 x 2\n" + explainedDims + "  used 0 0 0 0 150 Scored\n",
		},
		{
			"normalized", []scoring.Term{
				{Scorer: inner, Weight: 0.5, Normalize: scoring.NormalizeMinMax, Name: "inner"},
				{Scorer: balanced, Weight: 1, Normalize: scoring.NormalizeReverse},
				{Scorer: balanced, Weight: 1, Normalize: scoring.NormalizeMax},
			}, 1,
			"total 150\n" +
				"inner 200 -> 100 x 0.5\n" + explainedDims + "  used 0 0 0 column 0 0 92.5926 Scored\n" + "  used 0 0 0 second 0 277.778 Scored\n" +
				"  normalization 0 0 0 MinMax 1 -320.37 Scored\n" +
				"column 1 75 -> 0 x 1\n" + explainedDims + "  used 0 0 0 0 -100 Scored\n" + "  normalization 0 0 0 Reverse 1 100 Scored\n" +
				"column 1 75 -> 100 x 1\n" + explainedDims + "  used 0 0 0 0 100 Scored\n",
		},
	} {
		e := testkit.Must(scoring.Bind(combine(t, c.terms...), nodes).Explain(vector.PodAmounts{}, c.row, rows))
		if got := squeezed(e.String()); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		wantExplained(t, c.name, e, e.Total)
	}
}

const explainedDims = "  resource request used allocatable rule weight points status\n"

// The reasons of the terms are joined.
func TestCombineReasons(t *testing.T) {
	m := loadMap()
	spread := compileLoad(scoring.LoadConfig{Direction: scoring.Spread}, m)
	c := combine(t, scoring.Term{Scorer: spread, Weight: 1, Name: "a"}, scoring.Term{Scorer: spread, Weight: 1})
	e := testkit.Must(c.Explain(nil, vector.ResourceVector{3}, vector.ResourceVector{2}))
	if want := "a: the sum of the points, -50, is cut to 0; the sum of the points, -50, is cut to 0"; e.Reason != want {
		t.Errorf("reason %q, want %q", e.Reason, want)
	}
}

func TestNormalizePanics(t *testing.T) {
	for _, test := range []struct {
		want string
		f    func()
	}{
		{"scoring: unknown normalization", func() { scoring.NormalizeScores([]float64{1}, nil, "x") }},
		{"scoring: mask has more rows than there are scores", func() { scoring.NormalizeScores([]int64{1}, vector.NewMask(2), "") }},
	} {
		if got := testkit.Recovered(test.f); got != test.want {
			t.Errorf("recovered %v, want %q", got, test.want)
		}
	}
}
