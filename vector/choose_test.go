package vector_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

func TestTopKWorked(t *testing.T) {
	scores := []float64{3, 7, 7, 1, 7, 7}
	cursor := 3
	for _, c := range []struct {
		name   string
		scores []float64
		rows   *vector.Mask
		k      int
		tie    vector.Tie
		want   []int32
	}{
		{"lowest, 1", scores, nil, 1, vector.TieLowest(), []int32{1}},
		{"lowest, 3", scores, nil, 3, vector.TieLowest(), []int32{1, 2, 4}},
		{"seeded", scores, nil, 6, vector.TieSeeded(42), []int32{4, 1, 2, 5, 0, 3}},
		{"round robin", scores, nil, 3, vector.TieRoundRobin(&cursor), []int32{4, 5, 1}},
		{"mask", scores, maskOf(6, 0, 3), 4, vector.TieLowest(), []int32{0, 3}},
		{"NaN", []float64{nan, 2, nan}, nil, 2, vector.TieLowest(), []int32{1}},
		{"rank", scores, nil, 4, vector.TieRank([]int32{0, 3, 2, 1, 5, 4}), []int32{2, 1, 5, 4}},
		{"equal ranks", scores, nil, 4, vector.TieRank([]int32{0, 3, 3, 0, 1, 3}), []int32{4, 1, 2, 5}},
		{"extreme ranks", scores, nil, 4, vector.TieRank([]int32{0, math.MaxInt32, math.MinInt32, 0, -1, 0}), []int32{2, 4, 5, 1}},
		{"k 0", scores, nil, 0, vector.TieLowest(), []int32{}},
		{"k negative", scores, nil, -5, vector.TieLowest(), []int32{}},
		{"k beyond the rows", scores, nil, math.MaxInt, vector.TieLowest(), []int32{1, 2, 4, 5, 0, 3}},
		{"empty mask", scores, maskOf(6), 3, vector.TieLowest(), []int32{}},
		{"only NaN", []float64{nan, nan}, nil, 3, vector.TieLowest(), []int32{}},
		{"no scores", nil, nil, 3, vector.TieLowest(), []int32{}},
		{"zeros are equal", []float64{zero, 0, -1, zero}, nil, 4, vector.TieLowest(), []int32{0, 1, 3, 2}},
		{"infinities", []float64{-inf, inf, nan, inf, -inf}, nil, 9, vector.TieLowest(), []int32{1, 3, 0, 4}},
	} {
		if got := vector.TopK(nil, c.scores, c.rows, c.k, c.tie); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if cursor != 5 {
		t.Errorf("the cursor is at %d, want 5", cursor)
	}
}

func TestArgMaxWorked(t *testing.T) {
	for _, c := range []struct {
		name     string
		scores   []float64
		rows     *vector.Mask
		max, min int
	}{
		{"ties", []float64{3, 7, 1, 7, 1}, nil, 1, 2},
		{"mask", []float64{3, 7, 1, 7, 1}, maskOf(5, 0, 3, 4), 3, 4},
		{"empty mask", []float64{3, 7}, maskOf(2), -1, -1},
		{"no scores", nil, nil, -1, -1},
		{"only NaN", []float64{nan, nan}, nil, -1, -1},
		{"NaN first", []float64{nan, 2, nan}, nil, 1, 1},
		{"only -Inf", []float64{nan, -inf, -inf}, nil, 1, 1},
		{"only +Inf", []float64{nan, inf, inf}, nil, 1, 1},
		{"zeros are equal", []float64{zero, 0}, nil, 0, 0},
		{"zeros are equal, +0 first", []float64{0, zero}, nil, 0, 0},
		{"denormals", []float64{0, tiny, -tiny}, nil, 1, 2},
	} {
		if got := vector.ArgMax(c.scores, c.rows, vector.TieLowest()); got != c.max {
			t.Errorf("%s: ArgMax = %d, want %d", c.name, got, c.max)
		}
		if got := vector.ArgMin(c.scores, c.rows, vector.TieLowest()); got != c.min {
			t.Errorf("%s: ArgMin = %d, want %d", c.name, got, c.min)
		}
	}
	extremes := []int64{math.MinInt64, math.MaxInt64, math.MinInt64, math.MaxInt64}
	if got := vector.ArgMax(extremes, maskOf(4, 2), vector.TieLowest()); got != 2 {
		t.Errorf("ArgMax of only MinInt64 = %d", got)
	}
	if got := vector.ArgMin(extremes, maskOf(4, 3), vector.TieLowest()); got != 3 {
		t.Errorf("ArgMin of only MaxInt64 = %d", got)
	}
	// Beyond 2^53, where float64 would tie.
	if got := vector.ArgMax([]int64{1 << 60, 1<<60 + 1}, nil, vector.TieLowest()); got != 1 {
		t.Errorf("ArgMax of neighbours = %d", got)
	}
	if got := vector.TopK(nil, []int64{1<<60 - 1, 1 << 60, 1<<60 + 1}, nil, 2, vector.TieLowest()); !slices.Equal(got, []int32{2, 1}) {
		t.Errorf("TopK of neighbours = %v", got)
	}
}

func TestTieOrder(t *testing.T) {
	cursor := -3 // of 5 rows: row 2
	rank := []int32{1, -7, 1, 0, math.MaxInt32}
	for _, c := range []struct {
		name string
		tie  vector.Tie
		want []int32
	}{
		{"lowest", vector.TieLowest(), []int32{0, 1, 2, 3, 4}},
		{"seeded", vector.TieSeeded(42), []int32{4, 1, 2, 3, 0}},
		{"rank", vector.TieRank(rank), []int32{1, 3, 0, 2, 4}},
		{"round robin", vector.TieRoundRobin(&cursor), []int32{2, 3, 4, 0, 1}},
	} {
		got := c.tie.Order([]int32{9}, 5)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if cursor != -3 {
			t.Fatalf("%s moved the cursor to %d", c.name, cursor)
		}
		// It is the order in which TopK lists equal scores.
		if top := vector.TopK(nil, make([]float64, 5), nil, 5, c.tie); !slices.Equal(got, top) {
			t.Errorf("%s: %v, TopK has %v", c.name, got, top)
		}
		cursor = -3
	}
	if got := vector.TieSeeded(1).Order([]int32{1, 2}, 0); len(got) != 0 {
		t.Errorf("the order of no rows is %v", got)
	}
}

func TestTieSame(t *testing.T) {
	a, b, c := []int32{1, 0, 2}, []int32{1, 0, 2}, []int32(nil)
	x, y := 0, 0
	ties := []vector.Tie{
		{}, vector.TieLowest(), vector.TieSeeded(0), vector.TieSeeded(1),
		vector.TieRank(a), vector.TieRank(b), vector.TieRank(c), vector.TieRank(a[:2]), vector.TieRank(a[1:]),
		vector.TieRoundRobin(&x), vector.TieRoundRobin(&y), vector.TieRoundRobin(nil),
	}
	for i, t1 := range ties {
		for j, t2 := range ties {
			if got := t1.Same(t2); got != (i == j) {
				t.Errorf("ties %d and %d: %v", i, j, got)
			}
		}
	}
	for i, tie := range ties {
		if got, want := tie.Cursor(), map[int]*int{9: &x, 10: &y}[i]; got != want {
			t.Errorf("tie %d: cursor %p, want %p", i, got, want)
		}
	}
}

func TestTieRoundRobinCursor(t *testing.T) {
	scores := []float64{5, 5, 5, 1}
	cursor := 0
	tie := vector.TieRoundRobin(&cursor)
	var got []int
	for range 7 {
		got = append(got, vector.ArgMax(scores, nil, tie))
	}
	if want := []int{0, 1, 2, 0, 1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("chosen %v, want %v", got, want)
	}
	for _, c := range []struct{ cursor, want, after int }{
		{0, 0, 1}, {2, 2, 3}, {3, 0, 1}, {4, 0, 1}, {6, 2, 3}, {-1, 0, 1}, {-2, 2, 3}, {-4, 0, 1},
		{math.MaxInt, 0, 1}, {math.MinInt, 0, 1},
	} {
		cursor = c.cursor
		if got := vector.ArgMax(scores, nil, tie); got != c.want || cursor != c.after {
			t.Errorf("cursor %d: row %d, then cursor %d, want %d, %d", c.cursor, got, cursor, c.want, c.after)
		}
	}
	cursor = 3
	if got := vector.ArgMin(scores, nil, tie); got != 3 || cursor != 0 {
		t.Errorf("the last row leaves the cursor at %d", cursor)
	}
	cursor = -7
	vector.ArgMax(scores, maskOf(4), tie)
	vector.ArgMax([]float64{nan}, nil, tie)
	vector.ArgMax([]float64(nil), nil, tie)
	vector.TopK(nil, scores, nil, 0, tie)
	vector.TopK(nil, scores, maskOf(4), 2, tie)
	if cursor != -7 {
		t.Errorf("the cursor moved to %d though nothing was chosen", cursor)
	}
}

func TestTopKReusesDst(t *testing.T) {
	dst := []int32{9, 9, 9, 9}
	got := vector.TopK(dst[:0], []int64{1, 2, 3}, nil, 2, vector.TieLowest())
	if !slices.Equal(got, []int32{2, 1}) || &got[0] != &dst[0] || dst[2] != 9 {
		t.Errorf("%v in %v", got, dst)
	}
}

// tieCase is a tie rule and the places it gives to rows.
type tieCase struct {
	name   string
	tie    vector.Tie
	places []uint64
	cursor *int
}

// tieCases returns every rule for n rows.
func tieCases(r *rand.Rand, n int) []tieCase {
	rank := make([]int32, n)
	for i, x := range r.Perm(n) {
		rank[i] = int32(x - n/2)
	}
	coarse := make([]int32, n) // many equal ranks
	for i := range coarse {
		coarse[i] = int32(r.IntN(3) - 1)
	}
	seed, cursor := r.Uint64(), r.IntN(2*n+3)-n
	place := 0
	if n > 0 {
		place = (cursor%n + n) % n
	}
	return []tieCase{
		{"lowest", vector.TieLowest(), testkit.LowestPlaces(n), nil},
		{"seeded", vector.TieSeeded(seed), testkit.SeededPlaces(seed, n), nil},
		{"rank", vector.TieRank(rank), testkit.RankPlaces(rank), nil},
		{"equal ranks", vector.TieRank(coarse), testkit.RankPlaces(coarse), nil},
		{"round robin", vector.TieRoundRobin(&cursor), testkit.RoundRobinPlaces(place, n), &cursor},
	}
}

// checkChoice checks ArgMax, ArgMin and TopK against sorting.
func checkChoice[T float64 | int64](t *testing.T, what string, scores []T, rows *vector.Mask, k int, c tieCase) {
	t.Helper()
	n := len(scores)
	start := 0
	if c.cursor != nil {
		start = *c.cursor
	}
	moved := func(rows []int) int { // where the cursor must be now
		if len(rows) == 0 {
			return start
		}
		return (rows[0] + 1) % n
	}
	check := func(op string, got, want []int, cursor int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s, tie %s: rows %v, want %v", what, op, c.name, got, want)
		}
		if c.cursor != nil {
			if *c.cursor != cursor {
				t.Errorf("%s: %s: cursor %d, want %d", what, op, *c.cursor, cursor)
			}
			*c.cursor = start
		}
	}
	one := func(r int) []int {
		if r < 0 {
			return nil
		}
		return []int{r}
	}
	down := testkit.Choose(scores, selects(rows), false, c.places)
	up := testkit.Choose(scores, selects(rows), true, c.places)
	check("ArgMax", one(vector.ArgMax(scores, rows, c.tie)), down[:min(1, len(down))], moved(down))
	check("ArgMin", one(vector.ArgMin(scores, rows, c.tie)), up[:min(1, len(up))], moved(up))
	var got []int
	for _, r := range vector.TopK(nil, scores, rows, k, c.tie) {
		got = append(got, int(r))
	}
	want := down[:max(min(k, len(down)), 0)]
	check(fmt.Sprint("TopK ", k), got, want, moved(want))
}

func TestChooseAgainstSorting(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(1)
		// Scores that end at a page that faults, at any alignment.
		floats, ints := testkit.Guarded[float64](t, 5000), testkit.Guarded[int64](t, 5000)
		run := func(n int) {
			fs, is := floats[len(floats)-n:], ints[len(ints)-n:]
			testkit.Fill(r, fs)
			for i := range is {
				is[i] = r.Int64N(4) - 2
				if r.IntN(20) == 0 {
					is[i] = []int64{math.MinInt64, math.MaxInt64, 1 << 53, 1<<53 + 1}[r.IntN(4)]
				}
			}
			for name, rows := range rowMasks(n) {
				for _, c := range tieCases(r, n) {
					k := []int{1, 2, 16, 32, 33, n, r.IntN(n + 2)}[r.IntN(7)]
					what := fmt.Sprintf("%d rows, mask %s", n, name)
					checkChoice(t, what, fs, rows, k, c)
					checkChoice(t, what, is, rows, k, c)
				}
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		for n := range 130 {
			run(n)
		}
		for _, n := range []int{511, 512, 513, 575, 576, 577, 1000, 4097} {
			run(n)
		}
	})
}
