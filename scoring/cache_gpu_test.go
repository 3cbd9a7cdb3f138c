package scoring_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// gpuCacheScorers are the scorers of GPUs.
func gpuCacheScorers(t testing.TB) []scoring.GPUScorer {
	t.Helper()
	m, err := vectormap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	typical, err := scoring.TypicalPods([]scoring.TypicalPod{
		{CPU: 4, Count: 1, Milli: 500, Pods: 5}, {CPU: 8, Count: 1, Milli: 1000, Pods: 3},
		{CPU: 2, Pods: 2}, {CPU: 6, Count: 2, Milli: 1000, Models: []int32{1}, Pods: 2},
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fgd, err1 := scoring.CompileFGD(scoring.FGDConfig{Typical: typical}, m)
	dot, err2 := scoring.CompileDotProduct(scoring.DotProductConfig{}, m)
	fit, err3 := scoring.CompileBestFit(scoring.BestFitConfig{}, m)
	raw, err4 := scoring.CompileBestFit(scoring.BestFitConfig{Raw: true}, m)
	packing, err5 := scoring.CompileGPUPacking(scoring.GPUPackingConfig{}, m)
	clustering, err6 := scoring.CompileGPUClustering(scoring.GPUClusteringConfig{}, m)
	for _, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return []scoring.GPUScorer{fgd, dot, fit, raw, packing, clustering}
}

// gpuCacheWorld is the world of a GPUCache.
type gpuCacheWorld struct {
	cacheDice
	cache  *scoring.GPUCache
	scorer scoring.GPUScorer
	free   *vector.Matrix
	gpus   *scoring.GPUState
	query  scoring.GPUQuery
}

func newGPUCacheWorld(t testing.TB, r *rand.Rand, scorer int, options scoring.CacheOptions) *gpuCacheWorld {
	s := gpuCacheScorers(t)[scorer]
	w := &gpuCacheWorld{cacheDice: cacheDice{Rand: r}, scorer: s, cache: scoring.NewGPUCache(s, options)}
	w.reshape()
	return w
}

func (w *gpuCacheWorld) rows() int { return w.free.Rows() }

func (w *gpuCacheWorld) amounts() vector.ResourceVector {
	return vector.ResourceVector{float64(w.IntN(20)), float64(w.IntN(20))}
}

// reshape makes another cluster.
func (w *gpuCacheWorld) reshape() {
	n := w.IntN(300)
	w.mask = nil
	w.free = vector.NewMatrix(vector.Schema{}, n, 2)
	nodes := make([]scoring.GPUNode, n)
	for i := range nodes {
		w.free.SetRow(i, w.amounts())
		nodes[i] = scoring.GPUNode{Model: int32(w.IntN(3)) - 1, Left: make([]float64, w.IntN(5))}
		for d := range nodes[i].Left {
			nodes[i].Left[d] = float64(w.IntN(5) * 250)
		}
	}
	w.gpus = scoring.NewGPUState(nodes)
}

func (w *gpuCacheWorld) change() {
	n := w.rows()
	if n == 0 {
		return
	}
	switch w.IntN(12) {
	case 0:
		w.gpus = w.gpus.Clone()
	case 1:
		w.free.SetColumn(0, w.free.Column(1))
	case 2, 3:
		w.changeMask(n)
	case 4:
		for range 1100 {
			w.free.SetRow(w.IntN(n), w.amounts())
		}
	default:
		for range w.IntN(10) {
			r := w.row(n)
			w.free.SetRow(r, w.amounts())
			req := &scoring.GPURequest{Count: 1, Milli: 250}
			if left := w.gpus.Devices(r); len(left) > 0 {
				d := []int32{int32(w.IntN(len(left)))}
				if w.gpus.Place(r, req, d) != nil {
					_ = w.gpus.Release(r, req, d) // full
				}
			}
		}
	}
}

func (w *gpuCacheWorld) ask() {
	w.query = scoring.GPUQuery{Free: w.free, GPUs: w.gpus, Rows: w.mask, Amounts: vector.ResourceVector{0, float64(w.IntN(3) * 3)}}
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

func (w *gpuCacheWorld) full() (scores []float64, feasible *vector.Mask, err error) {
	q := &w.query
	cpuLeft := q.Free.Column(vectormap.CPU)
	feasible = new(vector.Mask)
	vector.Fit(feasible, q.Free, q.Amounts)
	if q.Rows != nil {
		feasible.And(feasible, q.Rows)
	}
	q.GPUs.Fit(feasible, &q.Request, cpuLeft, feasible)
	scores = noCacheScores(w.rows())
	return scores, feasible, w.scorer.ScoreBatch(scores, &q.Request, cpuLeft, q.GPUs, feasible)
}

func (w *gpuCacheWorld) best(tie vector.Tie) (int, float64, error) {
	return w.choose(w.cache.Best(&w.query, tie))
}

func (w *gpuCacheWorld) topK(k int, tie vector.Tie) ([]int32, error) {
	return w.cache.TopK(nil, &w.query, k, tie)
}
func (w *gpuCacheWorld) scores() ([]float64, *vector.Mask, error) { return w.cache.Scores(&w.query) }
func (w *gpuCacheWorld) stats() scoring.CacheStats                { return w.cache.Stats() }
func (w *gpuCacheWorld) reset()                                   { w.cache.Reset() }

func TestGPUCacheEqualsFullPass(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for k, scorer := range gpuCacheScorers(t) {
			for _, bytes := range cacheBounds {
				for seed := range uint64(testkit.Amount(t, 1, 2, 4)) {
					t.Run(fmt.Sprintf("%T/bytes=%d/seed=%d", scorer, bytes, seed), func(t *testing.T) {
						r := testkit.Rand(seed)
						runCache(t, newGPUCacheWorld(t, r, k, scoring.CacheOptions{MaxBytes: bytes}), r, 300)
					})
				}
			}
		}
	})
}

func TestGPUCacheErrors(t *testing.T) {
	gpus := scoring.NewGPUState(make([]scoring.GPUNode, 4))
	m := func(rows, cols int) *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, cols) }
	for name, q := range map[string]scoring.GPUQuery{
		"free":    {Free: m(3, 2), GPUs: gpus},
		"no cpu":  {Free: m(4, 0), GPUs: gpus},
		"amounts": {Free: m(4, 2), GPUs: gpus, Amounts: make(vector.ResourceVector, 3)},
		"rows":    {Free: m(4, 2), GPUs: gpus, Rows: vector.NewMask(3)},
	} {
		cache := scoring.NewGPUCache(gpuCacheScorers(t)[0], scoring.CacheOptions{})
		if row, _, err := cache.Best(&q, vector.TieLowest()); row != -1 || err != vector.ErrShape {
			t.Errorf("%s: row %d, %v", name, row, err)
		}
	}
}

// Requests that are the same words in a row, but not the same request.
func TestGPUCacheTellsRequestsApart(t *testing.T) {
	free := vector.NewMatrix(vector.Schema{}, 2, 3)
	free.SetRow(0, vector.ResourceVector{10, 10, 0})
	free.SetRow(1, vector.ResourceVector{10, 10, 10})
	gpus := scoring.NewGPUState([]scoring.GPUNode{{Model: 0, Left: []float64{1000}}, {Model: 1, Left: []float64{1000}}})
	cache := scoring.NewGPUCache(gpuCacheScorers(t)[4], scoring.CacheOptions{})
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
		q := &scoring.GPUQuery{Request: scoring.GPURequest{Count: 1, Milli: 1000, Models: test.models}, Amounts: test.amounts, Free: free, GPUs: gpus}
		if row, _, err := cache.Best(q, vector.TieLowest()); row != test.want || err != nil {
			t.Errorf("models %v, amounts %v: row %d, %v, want %d", test.models, test.amounts, row, err, test.want)
		}
	}
}
