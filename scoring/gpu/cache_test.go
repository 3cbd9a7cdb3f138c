package gpu_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/scorecache/cachetest"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// scorers are the scorers of GPUs.
func scorers(t testing.TB) []gpu.Scorer {
	t.Helper()
	m, err := vectormap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	typical, err := gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4, Count: 1, Milli: 500, Pods: 5}, {CPU: 8, Count: 1, Milli: 1000, Pods: 3},
		{CPU: 2, Pods: 2}, {CPU: 6, Count: 2, Milli: 1000, Models: []int32{1}, Pods: 2},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fgd, err1 := gpu.CompileFGD(gpu.FGDConfig{Typical: typical}, m)
	dot, err2 := gpu.CompileDotProduct(gpu.DotProductConfig{}, m)
	fit, err3 := gpu.CompileBestFit(gpu.BestFitConfig{}, m)
	raw, err4 := gpu.CompileBestFit(gpu.BestFitConfig{Raw: true}, m)
	packing := gpu.NewPacking(m)
	clustering, err5 := gpu.CompileClustering(gpu.ClusteringConfig{}, m)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []gpu.Scorer{fgd, dot, fit, raw, packing, clustering}
}

// cacheWorld is the world of a Cache.
type cacheWorld struct {
	cachetest.Dice
	cache  *gpu.Cache
	scorer gpu.Scorer
	free   *vector.Matrix
	gpus   *gpu.State
	query  gpu.Query
}

func newCacheWorld(t testing.TB, r *rand.Rand, scorer int, options scoring.CacheOptions) *cacheWorld {
	s := scorers(t)[scorer]
	w := &cacheWorld{Dice: cachetest.Dice{Rand: r}, scorer: s, cache: gpu.NewCache(s, options)}
	w.Reshape()
	return w
}

func (w *cacheWorld) Rows() int { return w.free.Rows() }

func (w *cacheWorld) amounts() vector.ResourceVector {
	return vector.ResourceVector{float64(w.IntN(20)), float64(w.IntN(20))}
}

// reshape makes another cluster.
func (w *cacheWorld) Reshape() {
	n := w.IntN(300)
	w.Mask = nil
	w.free = vector.NewMatrix(vector.Schema{}, n, 2)
	nodes := make([]gpu.Node, n)
	for i := range nodes {
		w.free.SetRow(i, w.amounts())
		nodes[i] = gpu.Node{Model: int32(w.IntN(3)) - 1, Left: make([]float64, w.IntN(5))}
		for d := range nodes[i].Left {
			nodes[i].Left[d] = float64(w.IntN(5) * 250)
		}
	}
	w.gpus = gpu.NewState(nodes)
}

func (w *cacheWorld) Change() {
	n := w.Rows()
	if n == 0 {
		return
	}
	switch w.IntN(12) {
	case 0:
		w.gpus = w.gpus.Clone()
	case 1:
		w.free.SetColumn(0, w.free.Column(1))
	case 2, 3:
		w.ChangeMask(n)
	case 4:
		for range 1100 {
			w.free.SetRow(w.IntN(n), w.amounts())
		}
	default:
		for range w.IntN(10) {
			r := w.Row(n)
			w.free.SetRow(r, w.amounts())
			req := &gpu.Request{Count: 1, Milli: 250}
			if left := w.gpus.Devices(r); len(left) > 0 {
				d := []int32{int32(w.IntN(len(left)))}
				if w.gpus.Place(r, req, d) != nil {
					_ = w.gpus.Release(r, req, d) // full
				}
			}
		}
	}
}

func (w *cacheWorld) Ask() {
	w.query = gpu.Query{Free: w.free, GPUs: w.gpus, Rows: w.Mask, Amounts: vector.ResourceVector{0, float64(w.IntN(3) * 3)}}
	req := &w.query.Request
	req.CPU = float64(w.IntN(3) * 3)
	w.query.Amounts[0] = req.CPU
	switch w.IntN(8) {
	case 0:
	case 1, 2:
		req.Count, req.Milli = 1, 500
	case 3:
		req.Count, req.Milli = 1+w.IntN(3), 1000
	case 4:
		req.Count, req.Milli, req.Models = 1, 250, []int32{1}
	case 5:
		req.Count, req.Milli, req.Models = 1, 250, []int32{0, 1}
	case 6:
		w.query.Amounts = nil
	case 7:
		if w.IntN(4) == 0 {
			req.CPU = -1
		}
	}
}

func (w *cacheWorld) Full() (scores []float64, feasible *vector.Mask, err error) {
	q := &w.query
	cpuLeft := q.Free.Column(vectormap.CPU)
	feasible = new(vector.Mask)
	vector.Fit(feasible, q.Free, q.Amounts)
	if q.Rows != nil {
		feasible.And(feasible, q.Rows)
	}
	q.GPUs.Fit(feasible, &q.Request, cpuLeft, feasible)
	scores = cachetest.NoScores(w.Rows())
	return scores, feasible, w.scorer.ScoreBatch(scores, &q.Request, cpuLeft, q.GPUs, feasible)
}

func (w *cacheWorld) Best(tie vector.Tie) (int, float64, error) {
	return w.Choose(w.cache.Best(&w.query, tie))
}

func (w *cacheWorld) TopK(k int, tie vector.Tie) ([]int32, error) {
	return w.cache.TopK(nil, &w.query, k, tie)
}
func (w *cacheWorld) Scores() ([]float64, *vector.Mask, error) { return w.cache.Scores(&w.query) }
func (w *cacheWorld) Stats() scoring.CacheStats                { return w.cache.Stats() }
func (w *cacheWorld) Reset()                                   { w.cache.Reset() }

func TestCacheEqualsFullPass(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for k, scorer := range scorers(t) {
			for _, bytes := range cachetest.Bounds {
				for seed := range uint64(testkit.Amount(t, 1, 2, 4)) {
					t.Run(fmt.Sprintf("%T/bytes=%d/seed=%d", scorer, bytes, seed), func(t *testing.T) {
						r := testkit.Rand(seed)
						cachetest.Run(t, newCacheWorld(t, r, k, scoring.CacheOptions{MaxBytes: bytes}), r, 300)
					})
				}
			}
		}
	})
}

func TestCacheErrors(t *testing.T) {
	gpus := gpu.NewState(make([]gpu.Node, 4))
	m := func(rows, cols int) *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, cols) }
	for name, q := range map[string]gpu.Query{
		"free":    {Free: m(3, 2), GPUs: gpus},
		"no cpu":  {Free: m(4, 0), GPUs: gpus},
		"amounts": {Free: m(4, 2), GPUs: gpus, Amounts: make(vector.ResourceVector, 3)},
		"rows":    {Free: m(4, 2), GPUs: gpus, Rows: vector.NewMask(3)},
	} {
		cache := gpu.NewCache(scorers(t)[0], scoring.CacheOptions{})
		if row, _, err := cache.Best(&q, vector.TieLowest()); row != -1 || !errors.Is(err, vector.ErrShape) {
			t.Errorf("%s: row %d, %v", name, row, err)
		}
	}
}

// Requests that are the same words in a row, but not the same request.
func TestCacheTellsRequestsApart(t *testing.T) {
	free := vector.NewMatrix(vector.Schema{}, 2, 3)
	free.SetRow(0, vector.ResourceVector{10, 10, 0})
	free.SetRow(1, vector.ResourceVector{10, 10, 10})
	gpus := gpu.NewState([]gpu.Node{{Model: 0, Left: []float64{1000}}, {Model: 1, Left: []float64{1000}}})
	cache := gpu.NewCache(scorers(t)[4], scoring.CacheOptions{})
	for _, test := range []struct {
		models  []int32
		amounts vector.ResourceVector
		want    int
	}{
		{[]int32{0}, vector.ResourceVector{1, 5}, 0},
		{nil, vector.ResourceVector{0, 1, 5}, 1},
		{[]int32{0, 1}, vector.ResourceVector{1, 5}, 0},
		{[]int32{1}, vector.ResourceVector{1, 5}, 1},
	} {
		q := &gpu.Query{Request: gpu.Request{Count: 1, Milli: 1000, Models: test.models}, Amounts: test.amounts, Free: free, GPUs: gpus}
		if row, _, err := cache.Best(q, vector.TieLowest()); row != test.want || err != nil {
			t.Errorf("models %v, amounts %v: row %d, %v, want %d", test.models, test.amounts, row, err, test.want)
		}
	}
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
	f.Fuzz(func(t *testing.T, data []byte) {
		steps := min(len(data)/8, 500)
		r := rand.New(&cachetest.Choices{Data: data, Then: rand.NewPCG(1, 1)})
		options := scoring.CacheOptions{MaxBytes: cachetest.Bounds[r.IntN(len(cachetest.Bounds))]}
		cachetest.Run(t, newCacheWorld(t, r, r.IntN(len(scorers(t))), options), r, steps)
	})
}

func TestCacheAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 500
	free, gpus := vector.NewMatrix(vector.Schema{}, n, 3), gpu.NewState(make([]gpu.Node, n))
	rank, cursor, mask, i := make([]int32, n), 0, vector.NewMask(n), 0
	var top []int32
	var requests []vector.ResourceVector
	for k := range 5 {
		requests = append(requests, vector.ResourceVector{float64(k)})
	}
	for _, bytes := range cachetest.Bounds {
		for _, scorer := range scorers(t) {
			cache := gpu.NewCache(scorer, scoring.CacheOptions{MaxBytes: bytes})
			step := func() {
				i++
				free.SetRow(i%n, requests[i%4])
				mask.Set(i % n)
				tie := vector.TieRank(rank)
				switch i / 7 % 4 {
				case 1:
					tie = vector.TieSeeded(uint64(i / 50))
				case 2:
					tie = vector.TieRoundRobin(&cursor)
				}
				amounts := requests[i%5]
				q := &gpu.Query{Request: gpu.Request{CPU: amounts[0]}, Amounts: amounts, Free: free, GPUs: gpus, Rows: mask}
				_, _, _ = cache.Best(q, tie)
				top, _ = cache.TopK(top, q, 5, tie)
				_, _, _ = cache.Scores(q)
			}
			for range 300 {
				step()
			}
			if got := testing.AllocsPerRun(200, step); got != 0 {
				t.Errorf("%T, MaxBytes %d: %v allocations", scorer, bytes, got)
			}
		}
	}
}
