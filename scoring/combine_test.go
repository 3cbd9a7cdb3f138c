package scoring_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
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

func (c columnScorer) ScoreBatch(dst []float64, request vector.ResourceVector, used, _ *vector.Matrix, rows *vector.Mask) error {
	for i := range used.Rows() {
		if rows == nil || rows.Test(i) {
			x, err := c.Score(request, used.Row(nil, i), nil)
			if err != nil {
				return err
			}
			dst[i] = x
		}
	}
	return nil
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
	c, err := scoring.Combine(terms)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plainMatrix returns the matrix with these rows, without a schema.
func plainMatrix(cols int, rows ...[]float64) *vector.Matrix {
	m := vector.NewMatrix(vector.Schema{}, len(rows), cols)
	for i, v := range rows {
		m.SetRow(i, v)
	}
	return m
}

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
		{scoring.NormalizeNone, []float64{200, 10}, none, []float64{200, 10}},
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
		{scoring.NormalizeNone, []int64{1, least}, []int64{1, least}},
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

// TestNormalizeGolden compares random batches with the golden model.
func TestNormalizeGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(4)
		for n := range 140 {
			for mode := range scoring.NormalizeReverse + 1 {
				scores, rows := make([]float64, n), vector.NewMask(n)
				switch r.IntN(3) {
				case 0:
					testkit.Fill(r, scores)
				case 1:
					testkit.FillTame(r, scores)
				}
				testkit.FillMask(r, rows.Words())
				testkit.TrimMask(rows.Words(), n)
				want := goldenNormalized(scores, rows.Test, mode)
				scoring.NormalizeScores(scores, rows, mode)
				if i := testkit.Difference(scores, want); i >= 0 {
					t.Fatalf("%v of %d scores: row %d is %v, want %v", mode, n, i, scores[i], want[i])
				}
			}
		}
	})
}

func FuzzNormalizeInt(f *testing.F) {
	f.Add(int64(math.MinInt64), int64(math.MaxInt64), int64(7))
	f.Add(int64(-1), int64(3), int64(2))
	f.Fuzz(func(t *testing.T, a, b, c int64) {
		scores := []int64{a, b, c}
		most, least := big.NewInt(max(a, b, c)), big.NewInt(min(a, b, c))
		for mode := scoring.NormalizeMinMax; mode <= scoring.NormalizeReverse; mode++ {
			got := slices.Clone(scores)
			scoring.NormalizeScores(got, nil, mode)
			for i, v := range scores {
				x, span := big.NewInt(v), new(big.Int).Set(most)
				if mode == scoring.NormalizeMinMax {
					x, span = x.Sub(x, least), span.Sub(span, least)
				}
				switch hundred := big.NewInt(100); {
				case mode == scoring.NormalizeMinMax && span.Sign() == 0:
				case mode == scoring.NormalizeMax && span.Sign() <= 0:
				case mode == scoring.NormalizeReverse && span.Sign() <= 0:
					x = hundred
				case mode == scoring.NormalizeReverse:
					x = hundred.Sub(hundred, x.Quo(x.Mul(x, hundred), span))
				default:
					x.Quo(x.Mul(x, hundred), span)
				}
				want := int64(math.MinInt64)
				if x.Sign() > 0 {
					want = math.MaxInt64
				}
				if x.IsInt64() {
					want = x.Int64()
				}
				if got[i] != want {
					t.Errorf("%v of %v: row %d is %d, want %d", mode, scores, i, got[i], want)
				}
			}
		}
	})
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
	if err := normalized.ScoreBatch(got, nil, used, used, nil); err != nil || !slices.Equal(got, []float64{170, 237.5}) {
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

// kubeScorer scores cpu and memory alike.
func kubeScorer(t *testing.T, m *vectormap.ResourceVectorMap, kind scoring.ScoringType) scoring.Scorer {
	t.Helper()
	k, err := scoring.CompileKube(scoring.KubeConfig{Type: kind, Resources: []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}}, m)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Real scorers of kube-scheduler give the same.
func TestCombineKube(t *testing.T) {
	m := loadMap(t)
	least, balanced := kubeScorer(t, m, scoring.LeastAllocated), kubeScorer(t, m, scoring.BalancedAllocation)
	pod, used := vector.ResourceVector{3000, 5000}, m.NewMatrix(2)
	allocatable := loadMatrix(m, vector.ResourceVector{4000, 10000}, vector.ResourceVector{6000, 10000})
	wantScores(t, "kube", combine(t, scoring.Term{Scorer: least, Weight: 1}, scoring.Term{Scorer: balanced, Weight: 2.5}), pod, used, allocatable, 207, 237.5)
	normalized := combine(t, scoring.Term{Scorer: least, Weight: 0.5, Normalize: scoring.NormalizeMinMax}, scoring.Term{Scorer: balanced, Weight: 2.5})
	got := make([]float64, 2)
	if err := normalized.ScoreBatch(got, pod, used, allocatable, nil); err != nil || !slices.Equal(got, []float64{170, 237.5}) {
		t.Errorf("normalized: %v, %v", got, err)
	}
}

func TestCombineErrors(t *testing.T) {
	m := loadMap(t)
	load := compileLoad(t, scoring.LoadConfig{}, m)
	normalized := combine(t, scoring.Term{Scorer: load, Normalize: scoring.NormalizeMax})
	other := newLoadCase(t, testkit.Rand(1), 0, 2, func([]float64) {})
	elsewhere := compileLoad(t, scoring.LoadConfig{}, other.m)
	for _, c := range []struct {
		terms []scoring.Term
		want  []string
	}{
		{nil, []string{"terms"}},
		{[]scoring.Term{{Weight: math.NaN()}, {Scorer: load, Weight: math.Inf(-1), Normalize: 9}},
			[]string{"terms[0].scorer", "terms[0].weight", "terms[1].normalize", "terms[1].weight"}},
		{[]scoring.Term{{Scorer: load}, {Scorer: normalized}}, []string{"terms[1].scorer"}},
		{[]scoring.Term{{Scorer: load}, {Scorer: columnScorer(0)}, {Scorer: elsewhere}}, []string{"terms[2].scorer"}},
		{[]scoring.Term{{Scorer: combine(t, scoring.Term{Scorer: load})}, {Scorer: elsewhere}}, []string{"terms[1].scorer"}},
	} {
		_, err := scoring.Combine(c.terms)
		if paths, _ := loadFaults(err); !slices.Equal(paths, c.want) {
			t.Errorf("errors at %q, want %q: %v", paths, c.want, err)
		}
	}
}

// A term that fails late fails the batch before dst is written.
func TestCombineFailsBeforeItWrites(t *testing.T) {
	used := plainMatrix(3, []float64{1, 2, 3})
	c := combine(t, scoring.Term{Scorer: columnScorer(0), Weight: 1}, scoring.Term{Scorer: columnScorer(1), Weight: 1})
	dst := []float64{-1}
	request := vector.ResourceVector{0, 0, 1} // the second term refuses it
	if err := c.ScoreBatch(dst, request, used, used, nil); !errors.Is(err, errColumn) || dst[0] != -1 {
		t.Errorf("error %v, dst %v", err, dst)
	}
	if _, err := c.Score(request, nil, nil); !errors.Is(err, errColumn) {
		t.Errorf("Score: %v", err)
	}
	if _, err := c.Explain(request, nil, nil); !errors.Is(err, errColumn) {
		t.Errorf("Explain: %v", err)
	}
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

// onlyColumn returns m with NaN in all columns but one.
func onlyColumn(m *vector.Matrix, column int) *vector.Matrix {
	only := vector.NewMatrix(vector.Schema{}, m.Rows(), m.Cols())
	nothing := slices.Repeat([]float64{math.NaN()}, m.Rows())
	for j := range m.Cols() {
		if j == column {
			only.SetColumn(j, m.Column(j))
		} else {
			only.SetColumn(j, nothing)
		}
	}
	return only
}

// TestCombineTerms: each term has a request and used amounts of its own, as those
// of kube-scheduler have.
func TestCombineTerms(t *testing.T) {
	m := loadMap(t)
	least, balanced := kubeScorer(t, m, scoring.LeastAllocated), kubeScorer(t, m, scoring.BalancedAllocation)
	allocatable := loadMatrix(m, vector.ResourceVector{4000, 10000}, vector.ResourceVector{6000, 10000})
	counted := scoring.TermRows{
		Request: vector.ResourceVector{1000, 5000},
		Used:    loadMatrix(m, vector.ResourceVector{2000}, vector.ResourceVector{3000}),
	}
	truly := scoring.TermRows{Request: vector.ResourceVector{500, 5000}, Used: m.NewMatrix(2)}
	both := []scoring.TermRows{counted, truly}

	want := make([]float64, 2)
	part := make([]float64, 2)
	for k, scorer := range []scoring.Scorer{least, balanced} {
		if err := scorer.ScoreBatch(part, both[k].Request, both[k].Used, allocatable, nil); err != nil {
			t.Fatal(err)
		}
		for row, x := range part {
			want[row] += float64(k+1) * x
		}
	}
	c := combine(t, scoring.Term{Scorer: least, Weight: 1}, scoring.Term{Scorer: balanced, Weight: 2})
	var scratch scoring.CombineScratch
	got := make([]float64, 2)
	if err := c.ScoreTermsBatch(&scratch, got, both, allocatable, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("batch %v, %v; want %v", got, err, want)
	}
	for row := range got {
		a := allocatable.Row(nil, row)
		one := []scoring.TermRow{{Request: counted.Request, Used: counted.Used.Row(nil, row)}, {Request: truly.Request}}
		if x, err := c.ScoreTerms(one, a); err != nil || x != want[row] {
			t.Errorf("row %d: %v, %v; want %v", row, x, err, want[row])
		}
		alone, err := c.ExplainTerms(one, a)
		if err != nil || alone.Total != want[row] {
			t.Errorf("row %d explained: %v, %v", row, alone, err)
		}
		inBatch, err := c.ExplainTermsBatch(row, both, allocatable, nil)
		if err != nil || inBatch.String() != alone.String() {
			t.Errorf("row %d of a batch: %v, %v; want %v", row, inBatch, err, alone)
		}
	}

	normalized := combine(t, scoring.Term{Scorer: least, Weight: 1, Normalize: scoring.NormalizeMax}, scoring.Term{Scorer: balanced, Weight: 2})
	if err := normalized.ScoreTermsBatch(&scratch, got, both, allocatable, nil); err != nil {
		t.Fatal(err)
	}
	e, err := normalized.ExplainTermsBatch(1, both, allocatable, nil)
	if err != nil || e.Total != got[1] || e.Terms[0].Raw != want[1]-2*e.Terms[1].Score {
		t.Errorf("normalized: %v, %v", e, err)
	}
	if _, err := normalized.ScoreTerms(make([]scoring.TermRow, 2), nil); !errors.Is(err, scoring.ErrNeedsBatch) {
		t.Errorf("a normalized term alone: %v", err)
	}

	for what, wrong := range map[string][]scoring.TermRows{
		"another size": {counted, {Request: truly.Request, Used: m.NewMatrix(3)}},
	} {
		got := []float64{-1, -1}
		if err := c.ScoreTermsBatch(&scratch, got, wrong, allocatable, nil); !errors.Is(err, vector.ErrShape) || got[0] != -1 {
			t.Errorf("%s: %v, %v", what, err, got)
		}
		if _, err := c.ExplainTermsBatch(0, wrong, allocatable, nil); !errors.Is(err, vector.ErrShape) {
			t.Errorf("%s explained: %v", what, err)
		}
	}
	if raceEnabled {
		return
	}
	if allocations := testing.AllocsPerRun(100, func() {
		_ = c.ScoreTermsBatch(&scratch, got, both, allocatable, nil)
		_ = c.ScoreBatchWith(&scratch, got, truly.Request, truly.Used, allocatable, nil)
		_, _ = c.Score(truly.Request, nil, nil)
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// TestCombineGolden compares random combinations with the golden model: in one
// go, with scratch, and from scores that the caller kept.
func TestCombineGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(5)
		var scratch scoring.CombineScratch
		for n := range 200 {
			terms := make([]scoring.Term, 1+r.IntN(5)*r.IntN(10))
			used, column := vector.NewMatrix(vector.Schema{}, n, len(terms)), make([]float64, n)
			scores := make([][]float64, len(terms))
			for k := range terms {
				terms[k] = scoring.Term{Scorer: columnScorer(k), Weight: r.NormFloat64()}
				if n%2 == 0 {
					terms[k].Normalize = scoring.Normalization(r.IntN(4))
				}
				testkit.FillTame(r, column)
				if r.IntN(3) == 0 {
					testkit.Fill(r, column)
				}
				used.SetColumn(k, column)
				scores[k] = slices.Clone(column)
			}
			c, rows, dst := combine(t, terms...), vector.NewMask(n), make([]float64, n+2)
			testkit.FillMask(r, rows.Words())
			testkit.TrimMask(rows.Words(), n)
			want := goldenCombination(c, used, rows.Test, dst)
			check := func(what string, got []float64, err error) {
				t.Helper()
				if i := testkit.Difference(got, want); err != nil || i >= 0 {
					t.Fatalf("%s of %d terms, %d rows: row %d, %v\n got %v\nwant %v", what, len(terms), n, i, err, got, want)
				}
			}
			got := slices.Clone(dst)
			check("ScoreBatch", got, c.ScoreBatch(got, nil, used, used, rows))
			got = slices.Clone(dst)
			check("ScoreBatchWith", got, c.ScoreBatchWith(&scratch, got, nil, used, used, rows))
			own := make([]scoring.TermRows, len(terms))
			for k := range own {
				own[k].Used = onlyColumn(used, k)
			}
			got = slices.Clone(dst)
			check("ScoreTermsBatch", got, c.ScoreTermsBatch(&scratch, got, own, used, rows))
			got = slices.Clone(dst)
			c.CombineScores(&scratch, got, scores, rows)
			check("CombineScores", got, nil)
			for k := range scores {
				if i := testkit.Difference(scores[k], used.Column(k)); i >= 0 {
					t.Fatalf("CombineScores changed term %d, row %d", k, i)
				}
			}
			if !c.Normalized() {
				for i := range n {
					x, err := c.Score(nil, used.Row(nil, i), nil)
					if err != nil || rows.Test(i) && !testkit.Same(x, want[i]) {
						t.Fatalf("Score of row %d: %v, %v, want %v", i, x, err, want[i])
					}
					one := make([]scoring.TermRow, len(terms))
					for k := range one {
						one[k].Used = own[k].Used.Row(nil, i)
					}
					if y, err := c.ScoreTerms(one, nil); err != nil || !testkit.Same(x, y) {
						t.Fatalf("ScoreTerms of row %d: %v, %v, want %v", i, y, err, x)
					}
				}
			}
		}
	})
}

// TestCombineConcurrently shares one combination between goroutines.
func TestCombineConcurrently(t *testing.T) {
	used := plainMatrix(2, []float64{37, 68}, []float64{50, 75})
	c := combine(t, scoring.Term{Scorer: columnScorer(0), Weight: 0.5, Normalize: scoring.NormalizeMinMax}, scoring.Term{Scorer: columnScorer(1), Weight: 2.5})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				dst := make([]float64, 2)
				if err := c.ScoreBatch(dst, nil, used, used, nil); err != nil || !slices.Equal(dst, []float64{170, 237.5}) {
					t.Errorf("%v, %v", dst, err)
				}
			}
		})
	}
	group.Wait()
}

func TestCombineExplain(t *testing.T) {
	used := plainMatrix(2, []float64{37, 68}, []float64{50, 75}, []float64{1, 1000})
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
		combination := combine(t, c.terms...)
		e, err := combination.ExplainBatch(c.row, nil, used, used, rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := squeezed(e.String()); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
		wantExplained(t, c.name, e, e.Total)
	}
	plain := combine(t, scoring.Term{Scorer: least, Weight: 1})
	for row, want := range map[int]string{
		-1: "scoring: row -1 of 3: vector: shapes differ",
		2:  "scoring: row 2 is not selected by the mask: vector: shapes differ",
		3:  "scoring: row 3 of 3: vector: shapes differ",
	} {
		if _, err := plain.ExplainBatch(row, nil, used, used, rows); !errors.Is(err, vector.ErrShape) || err.Error() != want {
			t.Errorf("row %d: %v, want %s", row, err, want)
		}
	}
	if _, err := plain.ExplainBatch(0, vector.ResourceVector{0, 1}, used, used, rows); !errors.Is(err, errColumn) {
		t.Errorf("a term that fails: %v", err)
	}
}

const explainedDims = "  resource request used allocatable rule weight points status\n"

// The reasons of the terms are joined.
func TestCombineReasons(t *testing.T) {
	m := loadMap(t)
	spread := compileLoad(t, scoring.LoadConfig{Direction: scoring.Spread}, m)
	c := combine(t, scoring.Term{Scorer: spread, Weight: 1, Name: "a"}, scoring.Term{Scorer: spread, Weight: 1})
	e, err := c.Explain(nil, vector.ResourceVector{3}, vector.ResourceVector{2})
	if err != nil {
		t.Fatal(err)
	}
	if want := "a: the sum of the points, -50, is cut to 0; the sum of the points, -50, is cut to 0"; e.Reason != want {
		t.Errorf("reason %q, want %q", e.Reason, want)
	}
}

func TestCombinePanics(t *testing.T) {
	c := combine(t, scoring.Term{Scorer: columnScorer(0), Weight: 1})
	var scratch scoring.CombineScratch
	for _, test := range []struct {
		want string
		f    func()
	}{
		{"scoring: unknown normalization", func() { scoring.NormalizeScores([]float64{1}, nil, 4) }},
		{"scoring: mask has more rows than there are scores", func() { scoring.NormalizeScores([]int64{1}, vector.NewMask(2), 0) }},
		{"scoring: another number of terms", func() { c.CombineScores(&scratch, nil, nil, nil) }},
		{"scoring: another number of terms", func() { _, _ = c.ScoreTerms(make([]scoring.TermRow, 2), nil) }},
		{"scoring: another number of terms", func() { _ = c.ScoreTermsBatch(&scratch, nil, nil, nil, nil) }},
		{"scoring: another number of terms", func() { _, _ = c.ExplainTerms(nil, nil) }},
		{"scoring: another number of terms", func() { _, _ = c.ExplainTermsBatch(0, nil, nil, nil) }},
		{"scoring: fewer scores than rows", func() { c.CombineScores(&scratch, make([]float64, 2), [][]float64{{1}}, nil) }},
		{"scoring: mask has more rows than there are scores", func() {
			c.CombineScores(&scratch, make([]float64, 2), [][]float64{{1, 2}}, vector.NewMask(3))
		}},
	} {
		func() {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("recovered %v, want %q", got, test.want)
				}
			}()
			test.f()
		}()
	}
}
