package scoring_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/scorecache/cachetest"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
)

// cacheScorer is a Scorer for tests: coarse scores, so that many tie, and every
// kind of float64 among them. A request whose first amount is negative is an
// error.
type cacheScorer struct {
	salt float64
	rows *int // scored so far
}

func newCacheScorer(salt float64) *cacheScorer { return &cacheScorer{salt, new(int)} }

func (s *cacheScorer) Score(request, used, allocatable vector.ResourceVector) (float64, error) {
	switch x := s.salt + request.Get(0) + 2*used.Get(0) + 3*used.Get(1) + allocatable.Get(0); math.Mod(x, 13) {
	case 0:
		return math.Inf(-1), nil
	case 1:
		return math.NaN(), nil
	case 2:
		return math.Copysign(0, -1), nil
	case 3:
		return math.Inf(1), nil
	case 4, 5, 6, 7:
		return 0, nil
	default:
		return math.Floor(x / 7), nil
	}
}

func (s *cacheScorer) ScoreBatch(dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	if request.Get(0) < 0 {
		return &vector.AmountError{Resource: "cpu", Row: -1, Amount: "-1", Cause: vector.ErrNegative}
	}
	if used.Cols() != allocatable.Cols() {
		return vector.ErrShape
	}
	var u, a vector.ResourceVector
	for r := range used.Rows() {
		if rows == nil || rows.Test(r) {
			u, a = used.Row(u, r), allocatable.Row(a, r)
			dst[r], _ = s.Score(request, u, a)
			*s.rows++
		}
	}
	return nil
}

func (s *cacheScorer) Explain(request, used, allocatable vector.ResourceVector) (scoring.Explanation, error) {
	return scoring.Explanation{}, nil
}

// cacheSum returns a combination of test scorers, with these normalizations.
func cacheSum(t testing.TB, modes ...scoring.Normalization) *scoring.Combination {
	t.Helper()
	var terms []scoring.Term
	for k, mode := range modes {
		terms = append(terms, scoring.Term{Scorer: newCacheScorer(float64(5 * k)), Weight: float64(k + 1), Normalize: mode})
	}
	sum, err := scoring.Combine(terms)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// matrixCacheWorld is the world of a Cache.
type matrixCacheWorld struct {
	cachetest.Dice
	cache            *scoring.Cache
	scorer           scoring.Scorer
	free, used, size *vector.Matrix
	requests         []vector.ResourceVector
	large            bool // many rows, of which few change between equal requests
	query            scoring.Query
}

func newMatrixCacheWorld(r *rand.Rand, scorer scoring.Scorer, options scoring.CacheOptions) *matrixCacheWorld {
	w := &matrixCacheWorld{Dice: cachetest.Dice{Rand: r}, scorer: scorer, cache: scoring.NewCache(scorer, options)}
	w.large = w.IntN(2) == 0
	if w.large {
		w.requests = append(w.requests, w.amounts(), w.amounts())
	} else {
		for range 12 {
			w.requests = append(w.requests, w.amounts())
		}
		w.requests = append(w.requests, nil, vector.ResourceVector{0, 0}, vector.ResourceVector{2, math.NaN()},
			vector.ResourceVector{-1}, vector.ResourceVector{1, 1, 1, 1, 1})
	}
	w.replace(w.someRows())
	return w
}

// someRows returns a number of rows to begin with.
func (w *matrixCacheWorld) someRows() int {
	if w.large {
		return 1000 + w.IntN(1000)
	}
	return w.IntN(300)
}

func (w *matrixCacheWorld) amounts() vector.ResourceVector {
	return vector.ResourceVector{float64(w.IntN(8)), float64(w.IntN(8)), float64(w.IntN(3))}
}

// replace makes new matrices.
func (w *matrixCacheWorld) replace(rows int) {
	w.free, w.used, w.size = new(vector.Matrix), new(vector.Matrix), new(vector.Matrix)
	for _, m := range w.all() {
		m.Reset(vector.Schema{}, rows, 3)
		for r := range rows {
			m.SetRow(r, w.amounts())
		}
	}
	w.Mask = nil
}

func (w *matrixCacheWorld) all() []*vector.Matrix { return []*vector.Matrix{w.free, w.used, w.size} }

func (w *matrixCacheWorld) Rows() int { return w.free.Rows() }

func (w *matrixCacheWorld) Change() {
	n := w.Rows()
	event := w.IntN(20)
	if w.large {
		event += w.IntN(100)
	}
	switch m := w.all()[w.IntN(3)]; event {
	case 0:
		w.replace(n)
	case 1:
		m.SetColumn(1, make([]float64, n))
	case 2:
		for range 1100 * min(n, 1) { // more than a log remembers
			m.SetRow(w.IntN(n), w.amounts())
		}
	case 3, 4, 5:
		w.ChangeMask(n)
	case 6:
		w.used.Widen(vector.Schema{}, max(w.used.Cols(), w.size.Cols()+w.IntN(2)))
	case 7:
		w.size.Widen(vector.Schema{}, max(w.used.Cols(), w.size.Cols()))
	default:
		for range w.IntN(10) * min(n, 1) {
			w.all()[w.IntN(3)].SetRow(w.Row(n), w.amounts())
		}
	}
}

func (w *matrixCacheWorld) Reshape() {
	w.Mask = nil
	n := w.Rows()
	if w.IntN(8) == 0 {
		w.replace(w.someRows())
		return
	}
	r, resize, k := 0, w.IntN(4) == 0, w.IntN(3)
	if n > 0 {
		r = w.IntN(n)
	}
	for _, m := range w.all() {
		switch {
		case resize:
			m.Resize(n/2 + 50)
		case k == 0 && n > 0:
			m.RemoveRow(r)
		case k == 1 && n > 2: // back to the same number
			m.RemoveRow(r)
			m.RemoveRow(0)
			m.AppendRow(w.amounts())
			m.AppendRow(w.amounts())
		default:
			m.AppendRow(w.amounts())
		}
	}
}

func (w *matrixCacheWorld) Ask() {
	w.query = scoring.Query{Free: w.free, Used: w.used, Allocatable: w.size, Rows: w.Mask}
	w.query.Request = w.requests[w.IntN(len(w.requests))]
	if w.IntN(20) == 0 && len(w.query.Request) <= w.free.Cols() {
		w.query.Free = nil
	}
}

func (w *matrixCacheWorld) Full() (scores []float64, feasible *vector.Mask, err error) {
	q := &w.query
	if q.Free != nil && len(q.Request) > q.Free.Cols() {
		return nil, nil, vector.ErrShape
	}
	n := w.Rows()
	feasible = vector.NewMask(n)
	feasible.SetAll()
	if q.Free != nil {
		vector.Fit(feasible, q.Free, q.Request)
	}
	if q.Rows != nil {
		feasible.And(feasible, q.Rows)
	}
	scores = cachetest.NoScores(n)
	return scores, feasible, w.scorer.ScoreBatch(scores, q.Request, q.Used, q.Allocatable, feasible)
}

func (w *matrixCacheWorld) Best(tie vector.Tie) (int, float64, error) {
	return w.Choose(w.cache.Best(&w.query, tie))
}

func (w *matrixCacheWorld) TopK(k int, tie vector.Tie) ([]int32, error) {
	return w.cache.TopK(nil, &w.query, k, tie)
}
func (w *matrixCacheWorld) Scores() ([]float64, *vector.Mask, error) { return w.cache.Scores(&w.query) }
func (w *matrixCacheWorld) Stats() scoring.CacheStats                { return w.cache.Stats() }
func (w *matrixCacheWorld) Reset()                                   { w.cache.Reset() }

// cacheScorers are scorers for a Cache, of every kind that it tells apart.
func cacheScorers(t testing.TB) map[string]scoring.Scorer {
	return map[string]scoring.Scorer{
		"scorer":      newCacheScorer(0),
		"sum":         cacheSum(t, scoring.NormalizeNone, scoring.NormalizeNone),
		"normalized":  cacheSum(t, scoring.NormalizeMinMax, scoring.NormalizeNone, scoring.NormalizeReverse),
		"normalized1": cacheSum(t, scoring.NormalizeMax),
	}
}

func TestCacheEqualsFullPass(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for name, scorer := range cacheScorers(t) {
			for _, bytes := range cachetest.Bounds {
				for seed := range uint64(testkit.Amount(t, 1, 3, 8)) {
					t.Run(fmt.Sprintf("%s/bytes=%d/seed=%d", name, bytes, seed), func(t *testing.T) {
						r := testkit.Rand(seed)
						cachetest.Run(t, newMatrixCacheWorld(r, scorer, scoring.CacheOptions{MaxBytes: bytes}), r, 300)
					})
				}
			}
		}
	})
}

func FuzzCache(f *testing.F) {
	for n := range 20 {
		data := make([]byte, 1<<(n%11))
		r := testkit.Rand(uint64(n))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	scorers := cacheScorers(f)
	names := []string{"scorer", "sum", "normalized", "normalized1"}
	f.Fuzz(func(t *testing.T, data []byte) {
		steps := min(len(data)/8, 500)
		r := rand.New(&cachetest.Choices{Data: data, Then: rand.NewPCG(1, 1)})
		options := scoring.CacheOptions{MaxBytes: cachetest.Bounds[r.IntN(len(cachetest.Bounds))]}
		cachetest.Run(t, newMatrixCacheWorld(r, scorers[names[r.IntN(len(names))]], options), r, steps)
	})
}

func TestCacheWork(t *testing.T) {
	scorer := newCacheScorer(0)
	used, size := vector.NewMatrix(vector.Schema{}, 1000, 2), vector.NewMatrix(vector.Schema{}, 1000, 2)
	mask := vector.NewMask(1000)
	mask.SetAll()
	cache := scoring.NewCache(scorer, scoring.CacheOptions{})
	a, b := vector.ResourceVector{1}, vector.ResourceVector{2}
	set := func(m *vector.Matrix, rows ...int) func() {
		return func() {
			for _, r := range rows {
				m.SetRow(r, vector.ResourceVector{5})
			}
		}
	}
	for _, step := range []struct {
		name    string
		do      func()
		request vector.ResourceVector
		rows    *vector.Mask
		scored  int
	}{
		{"new request", func() {}, a, nil, 1000},
		{"again", func() {}, a, nil, 0},
		{"one row", set(used, 7), a, nil, 1},
		{"the same row thrice, in both", func() { set(used, 7, 7, 7)(); set(size, 7)() }, a, nil, 1},
		{"another request", set(used, 8), b, nil, 1000},
		{"the first again", func() {}, a, nil, 1},
		{"a mask of all", func() {}, a, mask, 0},
		{"a mask with one row less", func() { mask.Clear(3) }, a, mask, 0},
		{"a row outside the mask", set(used, 3), a, mask, 0},
		{"without mask", func() {}, a, nil, 1},
		{"rows that a log forgets", func() {
			for range 300 {
				set(used, 1, 2, 3)()
				cache.Best(&scoring.Query{Request: b, Used: used, Allocatable: size}, vector.TieLowest())
				set(used, 4, 5, 6)()
			}
		}, a, nil, 6 + 3 + 299*6},
		{"all at once", func() { used.SetColumn(1, make([]float64, 1000)) }, a, nil, 1000},
		{"a row more", func() { used.AppendRow(nil); size.AppendRow(nil) }, a, nil, 1},
		{"a row less", func() { used.RemoveRow(5); size.RemoveRow(5) }, a, nil, 1},
		{"a row less for the other", func() {}, b, nil, 1000},
		{"another matrix", func() { used = used.Slice(0, 1000); size = size.Slice(0, 1000) }, a, nil, 1000},
		{"a matrix without log", func() {}, a, nil, 1000},
	} {
		*scorer.rows = 0
		step.do()
		if _, _, err := cache.Best(&scoring.Query{Request: step.request, Used: used, Allocatable: size, Rows: step.rows}, vector.TieSeeded(1)); err != nil {
			t.Fatal(err)
		}
		if *scorer.rows != step.scored {
			t.Errorf("%s: scored %d rows, want %d", step.name, *scorer.rows, step.scored)
		}
	}
}

func TestCacheStats(t *testing.T) {
	used, size := vector.NewMatrix(vector.Schema{}, 640, 2), vector.NewMatrix(vector.Schema{}, 640, 2)
	cache := scoring.NewCache(newCacheScorer(0), scoring.CacheOptions{MaxBytes: 3 * 6000})
	ask := func(amount float64) {
		if _, _, err := cache.Best(&scoring.Query{Request: vector.ResourceVector{amount}, Used: used, Allocatable: size}, vector.TieLowest()); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		request              float64
		hits, misses, evicts uint64
		requests             int
	}{
		{1, 0, 1, 0, 1}, {2, 0, 2, 0, 2}, {1, 1, 2, 0, 2}, {3, 1, 3, 0, 3},
		{4, 1, 4, 1, 3}, // 2 goes, which was used before 1
		{1, 2, 4, 1, 3}, {3, 3, 4, 1, 3},
		{2, 3, 5, 2, 3}, // 4 goes
	} {
		ask(step.request)
		got := cache.Stats()
		want := scoring.CacheStats{Hits: step.hits, Misses: step.misses, Evictions: step.evicts, Requests: step.requests,
			Rescored: 640 * step.misses, Bytes: got.Bytes}
		if got != want || got.Bytes < int64(step.requests)*640*8 || got.Bytes > 3*6000 {
			t.Errorf("after %v: %+v, want %+v", step.request, got, want)
		}
	}
	cache.Reset()
	if got := cache.Stats(); got.Requests != 0 || got.Bytes != 0 || got.Misses != 5 {
		t.Errorf("after Reset: %+v", got)
	}
}

func TestCacheErrors(t *testing.T) {
	m := func(rows, cols int) *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, cols) }
	used, size, free := m(10, 2), m(10, 2), m(10, 2)
	good := scoring.Query{Request: vector.ResourceVector{1}, Free: free, Used: used, Allocatable: size}
	cache := scoring.NewCache(newCacheScorer(0), scoring.CacheOptions{})
	for name, test := range map[string]struct {
		change func(q *scoring.Query)
		want   error
	}{
		"used":                {func(q *scoring.Query) { q.Used = m(9, 2) }, vector.ErrShape},
		"allocatable":         {func(q *scoring.Query) { q.Allocatable = m(11, 2) }, vector.ErrShape},
		"width":               {func(q *scoring.Query) { q.Used = m(10, 3) }, vector.ErrShape},
		"free":                {func(q *scoring.Query) { q.Free = m(9, 2) }, vector.ErrShape},
		"rows":                {func(q *scoring.Query) { q.Rows = vector.NewMask(9) }, vector.ErrShape},
		"request beyond free": {func(q *scoring.Query) { q.Request = make(vector.ResourceVector, 3) }, vector.ErrShape},
		"request":             {func(q *scoring.Query) { q.Request = vector.ResourceVector{-1} }, vector.ErrNegative},
	} {
		if _, _, err := cache.Best(&good, vector.TieLowest()); err != nil {
			t.Fatal(err)
		}
		q := good
		test.change(&q)
		row, score, err := cache.Best(&q, vector.TieLowest())
		if row != -1 || score != 0 || !errors.Is(err, test.want) {
			t.Errorf("%s: Best is %d, %v, %v", name, row, score, err)
		}
		if got, err := cache.TopK([]int32{1, 2}, &q, 3, vector.TieLowest()); len(got) != 0 || !errors.Is(err, test.want) {
			t.Errorf("%s: TopK is %v, %v", name, got, err)
		}
		if scores, feasible, err := cache.Scores(&q); scores != nil || feasible != nil || !errors.Is(err, test.want) {
			t.Errorf("%s: Scores are %v, %v, %v", name, scores, feasible, err)
		}
	}
	// A known request, after the matrices came to differ in width.
	used.Widen(vector.Schema{}, 3)
	if _, _, err := cache.Best(&good, vector.TieLowest()); !errors.Is(err, vector.ErrShape) {
		t.Errorf("widened: %v", err)
	}
	size.Widen(vector.Schema{}, 3)
	if row, _, err := cache.Best(&good, vector.TieLowest()); err != nil || row != -1 {
		t.Errorf("widened both: row %d, %v", row, err)
	}
}

// A request that failed is forgotten, and its room used for another.
func TestCacheAfterError(t *testing.T) {
	used, size := vector.NewMatrix(vector.Schema{}, 100, 1), vector.NewMatrix(vector.Schema{}, 100, 1)
	for r := range 100 {
		used.SetRow(r, vector.ResourceVector{float64(r)})
	}
	cache := scoring.NewCache(plainScorer{}, scoring.CacheOptions{})
	best := func(amount float64, want int, fails bool) {
		t.Helper()
		q := &scoring.Query{Request: vector.ResourceVector{amount}, Used: used, Allocatable: size}
		row, score, err := cache.Best(q, vector.TieLowest())
		if row != want || err != nil != fails || !fails && score != float64(row)+amount {
			t.Errorf("request %v: row %d, score %v, %v", amount, row, score, err)
		}
	}
	best(1, 99, false)
	size.Widen(vector.Schema{}, 2)
	best(1, -1, true)
	used.Widen(vector.Schema{}, 2)
	for range 2 {
		best(2, 99, false)
		best(3, 99, false)
		best(1, 99, false)
	}
	if n := cache.Stats().Requests; n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestCachePanics(t *testing.T) {
	m := vector.NewMatrix(vector.Schema{}, 10, 2)
	q := &scoring.Query{Used: m, Allocatable: m}
	for _, test := range []struct {
		name, want string
		tie        vector.Tie
	}{
		{"no tie", "vector: tie rule not given", vector.Tie{}},
		{"rank", "vector: rank has another number of rows", vector.TieRank(make([]int32, 9))},
		{"cursor", "vector: round-robin tie without a cursor", vector.TieRoundRobin(nil)},
	} {
		for _, scorer := range cacheScorers(t) {
			cache := scoring.NewCache(scorer, scoring.CacheOptions{})
			for range 3 { // a first tie, a new one, one that came before
				func() {
					defer func() {
						if got := recover(); got != test.want {
							t.Errorf("%s: recovered %v", test.name, got)
						}
					}()
					cache.Best(q, test.tie)
				}()
				if _, _, err := cache.Best(q, vector.TieSeeded(3)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestCacheAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 500
	used, size, free := vector.NewMatrix(vector.Schema{}, n, 3), vector.NewMatrix(vector.Schema{}, n, 3), vector.NewMatrix(vector.Schema{}, n, 3)
	rank, cursor, mask, i := make([]int32, n), 0, vector.NewMask(n), 0
	var requests []vector.ResourceVector
	for k := range 5 {
		requests = append(requests, vector.ResourceVector{float64(k)})
	}
	var top []int32
	// change changes the operands and returns a request and a tie.
	change := func() (vector.ResourceVector, vector.Tie) {
		i++
		used.SetRow(i%n, requests[i%3])
		free.SetRow(i%n, requests[i%4])
		mask.Set(i % n)
		tie := vector.TieRank(rank)
		switch i / 7 % 4 {
		case 1:
			tie = vector.TieSeeded(uint64(i / 50))
		case 2:
			tie = vector.TieRoundRobin(&cursor)
		}
		return requests[i%5], tie
	}
	check := func(name string, bytes int64, step func()) {
		for range 300 {
			step()
		}
		if got := testing.AllocsPerRun(200, step); got != 0 {
			t.Errorf("%s, MaxBytes %d: %v allocations", name, bytes, got)
		}
	}
	scorers := map[string]scoring.Scorer{"scorer": plainScorer{}}
	for _, mode := range []scoring.Normalization{scoring.NormalizeNone, scoring.NormalizeMinMax} {
		sum, err := scoring.Combine([]scoring.Term{{Scorer: plainScorer{}, Weight: 1, Normalize: mode}, {Scorer: plainScorer{}, Weight: 2}})
		if err != nil {
			t.Fatal(err)
		}
		scorers["sum, normalized "+mode.String()] = sum
	}
	for _, bytes := range cachetest.Bounds {
		for name, scorer := range scorers {
			cache := scoring.NewCache(scorer, scoring.CacheOptions{MaxBytes: bytes})
			check(name, bytes, func() {
				request, tie := change()
				q := &scoring.Query{Request: request, Free: free, Used: used, Allocatable: size, Rows: mask}
				_, _, _ = cache.Best(q, tie)
				top, _ = cache.TopK(top, q, 5, tie)
				_, _, _ = cache.Scores(q)
			})
		}
	}
}

// plainScorer is a scorer that allocates nothing.
type plainScorer struct{ scoring.Scorer }

func (plainScorer) ScoreBatch(dst []float64, request vector.ResourceVector, used, allocatable *vector.Matrix, rows *vector.Mask) error {
	if used.Cols() != allocatable.Cols() {
		return vector.ErrShape
	}
	u := used.Column(0)
	for r := range rows.All() {
		dst[r] = u[r] + request.Get(0)
	}
	return nil
}
