package gpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/scoring/internal/scorecache/cachetest"
	"github.com/resvec/resvec/vector"
)

// scorers are the scorers, by name.
var scorerNames = []string{"FGD", "DotProduct", "BestFit", "BestFit raw", "Packing", "Clustering"}

func scorers(t testing.TB) []*gpu.Scorer {
	t.Helper()
	typical := testkit.Must(gpu.TypicalPods([]gpu.TypicalPod{
		{CPU: 4, Count: 1, Milli: 500, Pods: 5}, {CPU: 8, Count: 1, Milli: 1000, Pods: 3},
		{CPU: 2, Pods: 2}, {CPU: 6, Count: 2, Milli: 1000, Models: []int32{1}, Pods: 2},
	}, 1))
	return []*gpu.Scorer{
		gpuCompile(t, gpu.CompileFGD, gpu.FGDConfig{Typical: typical}),
		gpuCompile(t, gpu.CompileDotProduct, gpu.DotProductConfig{}),
		gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{}),
		gpuCompile(t, gpu.CompileBestFit, gpu.BestFitConfig{Raw: true}),
		gpu.NewPacking(gpuMap()),
		gpuCompile(t, gpu.CompileClustering, gpu.ClusteringConfig{}),
	}
}

// boundWorld is a cluster that changes, a Bound that keeps scores, and the full pass.
type boundWorld struct {
	cachetest.Dice
	scorer *gpu.Scorer
	bytes  int64
	bound  *gpu.Bound
	nodes  *vector.Nodes
	gpus   *gpu.State
	named  int // nodes so far
	moved  int64

	req gpu.Request
}

func newBoundWorld(t testing.TB, r *rand.Rand, scorer int, bytes int64) *boundWorld {
	w := &boundWorld{Dice: cachetest.Dice{Rand: r}, scorer: scorers(t)[scorer], bytes: bytes}
	w.Reshape()
	return w
}

func (w *boundWorld) bind() {
	w.bound = gpu.Bind(w.scorer, w.nodes, w.gpus)
	w.bound.LimitCache(w.bytes)
}

func (w *boundWorld) Rows() int { return w.gpus.Rows() }

// set gives a row other amounts, or appends one.
func (w *boundWorld) set(row int) {
	w.moved++
	name := strconv.Itoa(w.named)
	if row < w.nodes.Len() {
		name = w.nodes.Name(row)
	} else {
		w.named++
	}
	amounts := vector.ResourceVector{float64(w.IntN(20)), float64(w.IntN(20))}
	if _, _, err := w.nodes.Set(name, w.moved, vector.NodeAmounts{Allocatable: amounts}); err != nil {
		panic(err)
	}
}

func (w *boundWorld) node() gpu.Node {
	n := gpu.Node{Model: int32(w.IntN(3)) - 1, Left: make([]float64, w.IntN(5))}
	for d := range n.Left {
		n.Left[d] = float64(w.IntN(5) * 250)
	}
	return n
}

// Reshape makes another cluster, or a few nodes come and go.
func (w *boundWorld) Reshape() {
	w.Mask = nil
	if w.gpus != nil && w.IntN(3) > 0 {
		for range w.IntN(20) {
			switch n := w.Rows(); {
			case n == 0 || w.IntN(2) == 0:
				w.set(n)
				w.gpus.AppendNode(w.node())
			case w.IntN(3) == 0:
				w.gpus.SetNode(w.IntN(n), gpu.Node{Left: make([]float64, w.IntN(12))})
			default:
				row := w.IntN(n)
				w.nodes.Delete(w.nodes.Name(row))
				w.gpus.RemoveRow(row)
			}
		}
		return
	}
	w.nodes, w.gpus = vector.NewNodes(vector.Schema{}, 2), new(gpu.State)
	for i := range w.IntN(300) {
		w.set(i)
		w.gpus.AppendNode(w.node())
	}
	w.bind()
}

func (w *boundWorld) Change() {
	n := w.Rows()
	if n == 0 {
		return
	}
	switch w.IntN(12) {
	case 0:
		gpus := w.gpus
		w.gpus = new(gpu.State)
		w.gpus.CopyFrom(gpus)
		w.bind()
	case 2, 3:
		w.ChangeMask(n)
	case 4:
		for range 1100 {
			w.set(w.IntN(n))
		}
	default:
		for range w.IntN(10) {
			r := w.Row(n)
			w.set(r)
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

func (w *boundWorld) Ask() {
	cpu := float64(w.IntN(3) * 3)
	w.req = gpu.Request{CPU: cpu, Amounts: vector.ResourceVector{cpu, float64(w.IntN(3) * 3)}}
	req := &w.req
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
		req.Amounts = nil
	case 7:
		switch w.IntN(8) {
		case 0:
			req.CPU = -1
		case 1:
			req.Amounts[1] = math.NaN()
		}
	}
}

// Full is a pass over golden nodes.
func (w *boundWorld) Full() (scores []float64, feasible *vector.Mask, err error) {
	feasible, scores = vector.NewMask(w.Rows()), cachetest.NoScores(w.Rows())
	if err := w.bound.Score(make([]float64, w.Rows()), &w.req, nil); err != nil {
		return scores, feasible, nil // no row can host it
	}
	for row := range w.Rows() {
		n := goldenNode{cpu: w.nodes.Free().At(row, 0), left: w.gpus.Devices(row), model: w.gpus.Model(row)}
		if (w.Mask == nil || w.Mask.Test(row)) && n.canHost(w.req) && w.req.Amounts.FitsIn(w.nodes.Free().Row(nil, row)) {
			feasible.Set(row)
		}
	}
	scorer, spread := w.scorer, false
	if _, err := scorer.Score(&w.req, 0, gpu.Node{}); err != nil {
		scorer, spread = rawBestFit, true
	}
	for row := range feasible.All() {
		node := gpu.Node{Model: w.gpus.Model(row), Left: w.gpus.Devices(row), Pods: w.gpus.Pods(row)}
		if scores[row], err = scorer.Score(&w.req, w.nodes.Free().At(row, 0), node); err != nil {
			return nil, nil, err
		}
	}
	if spread {
		fits := make([]bool, w.Rows())
		for row := range fits {
			fits[row] = feasible.Test(row)
		}
		goldenNormalize(scores, fits)
	}
	return scores, feasible, nil
}

var rawBestFit *gpu.Scorer

func (w *boundWorld) Best(tie vector.Tie) (int, float64, error) {
	row, ok := w.bound.Best(&w.req, w.Mask, tie)
	if ok != (row >= 0) {
		panic("ok is not what row says")
	}
	score := 0.0
	if ok {
		scores, _, err := w.Scores()
		if err != nil {
			return 0, 0, err
		}
		score = scores[row]
	}
	return w.Choose(row, score, nil)
}

func (w *boundWorld) TopK(k int, tie vector.Tie) ([]int32, error) {
	top := w.bound.TopK(nil, &w.req, w.Mask, k, tie)
	if top == nil { // for a bad request; vector.TopK returns an empty list
		top = vector.TopK(top, cachetest.NoScores(w.Rows()), vector.NewMask(w.Rows()), k, tie)
	}
	return top, nil
}

func (w *boundWorld) Scores() ([]float64, *vector.Mask, error) {
	fits, scores := new(vector.Mask), cachetest.NoScores(w.Rows())
	if w.bound.Fit(fits, &w.req, w.Mask); !fits.Any() {
		return scores, fits, nil
	}
	return scores, fits, w.bound.Score(scores, &w.req, fits)
}

func (w *boundWorld) Reset() { w.bind() }

// TestBoundEqualsFullPass compares answers with full passes, with kept scores and
// without.
func TestBoundEqualsFullPass(t *testing.T) {
	rawBestFit = scorers(t)[3]
	for _, from := range []int{-1, 0, 1 << 30} {
		if from >= 0 { // otherwise by what it is worth
			defer gpu.KeepScores(from)()
		}
		testkit.EachImpl(t, func(t *testing.T) {
			for k, name := range scorerNames {
				for _, bytes := range cachetest.Bounds {
					for seed := range uint64(testkit.Amount(t, 1, 1, 4)) {
						t.Run(fmt.Sprintf("%s/bytes=%d/seed=%d", name, bytes, seed), func(t *testing.T) {
							r := testkit.Rand(seed)
							cachetest.Run(t, newBoundWorld(t, r, k, bytes), r, 300)
						})
					}
				}
			}
		})
	}
}

func FuzzBound(f *testing.F) {
	rawBestFit = scorers(f)[3]
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
		if r.IntN(3) > 0 {
			defer gpu.KeepScores(r.IntN(200))()
		}
		cachetest.Run(t, newBoundWorld(t, r, r.IntN(len(scorerNames)), cachetest.Bounds[r.IntN(len(cachetest.Bounds))]), r, steps)
	})
}

// Several bound scorers read the same nodes and the same state at the same time.
func TestBoundsShareReaders(t *testing.T) {
	defer gpu.KeepScores(100)()
	r := testkit.Rand(3)
	w := newBoundWorld(t, r, 0, 0)
	for w.Rows() < 150 {
		w.set(w.Rows())
		w.gpus.AppendNode(w.node())
	}
	nodes, gpus := new(vector.Nodes), new(gpu.State)
	bounds := make([]*gpu.Bound, 2*len(scorerNames))
	w.nodes.Snapshot(nodes)
	gpus.CopyFrom(w.gpus)
	for i := range bounds {
		bounds[i] = gpu.Bind(scorers(t)[i%len(scorerNames)], nodes, gpus)
	}
	for range 20 {
		w.Change()
		w.nodes.Snapshot(nodes)
		gpus.CopyFrom(w.gpus)
		version := [2]uint64{nodes.Version(), gpus.Version()}
		w.Ask()
		rows, scores := make([]int, len(bounds)), make([][]float64, len(bounds))
		var done sync.WaitGroup
		for i, b := range bounds {
			done.Go(func() {
				req := w.req
				rows[i], _ = b.Best(&req, nil, vector.TieSeeded(7))
				scores[i] = make([]float64, nodes.Len())
				_ = b.Score(scores[i], &req, nil)
				if rows[i] >= 0 {
					b.ChooseDevices(nil, &req, rows[i])
					_, _ = b.Explain(&req, rows[i], nil)
				}
				b.Rejections(&req, nil)
			})
		}
		done.Wait()
		if version != [2]uint64{nodes.Version(), gpus.Version()} {
			t.Fatal("asking writes")
		}
		for i, k := len(scorerNames), 0; i < len(bounds); i, k = i+1, k+1 {
			if rows[i] != rows[k] || testkit.Difference(scores[i], scores[k]) >= 0 {
				t.Fatalf("%s: two answers", scorerNames[k])
			}
		}
	}
}

func TestBoundAllocs(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	const n = 500
	for _, from := range []int{0, n + 1} {
		defer gpu.KeepScores(from)()
		nodes, gpus := vector.NewNodes(vector.Schema{}, 3), gpu.NewState(make([]gpu.Node, n))
		for i := range n {
			if _, _, err := nodes.Set(strconv.Itoa(i), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{1e6}}); err != nil {
				t.Fatal(err)
			}
		}
		rank, cursor, mask, fits, i := make([]int32, n), 0, vector.NewMask(n), new(vector.Mask), 0
		scores := make([]float64, n)
		var top, devices []int32
		var requests []vector.ResourceVector
		for k := range 5 {
			requests = append(requests, vector.ResourceVector{float64(k)})
		}
		for _, bytes := range cachetest.Bounds {
			for k, scorer := range scorers(t) {
				bound := gpu.Bind(scorer, nodes, gpus)
				bound.LimitCache(bytes)
				step := func() {
					i++
					testkit.Check(nodes.Assume(i%n, vector.PodAmounts{Requested: requests[i%4]}))
					mask.Set(i % n)
					tie := vector.TieRank(rank)
					switch i / 7 % 4 {
					case 1:
						tie = vector.TieSeeded(uint64(i / 50))
					case 2:
						tie = vector.TieRoundRobin(&cursor)
					}
					amounts := requests[i%5]
					req := gpu.Request{CPU: amounts[0], Amounts: amounts}
					_, _ = bound.Best(&req, mask, tie)
					top = bound.TopK(top, &req, mask, 5, tie)
					bound.Fit(fits, &req, mask)
					_ = bound.Score(scores, &req, fits)
					devices = bound.ChooseDevices(devices, &req, i%n)
				}
				for range 300 {
					step()
				}
				if got := testing.AllocsPerRun(200, step); got != 0 {
					t.Errorf("%s, %d bytes, scores kept from %d rows on: %v allocations", scorerNames[k], bytes, from, got)
				}
			}
		}
	}
}

// TestRankRewritten: kept scores follow no rank that is rewritten in place, one in the order
// of the rows neither.
func TestRankRewritten(t *testing.T) {
	const n = 100
	defer gpu.KeepScores(0)()
	nodes, gpus := vector.NewNodes(vector.Schema{}, 3), gpu.NewState(make([]gpu.Node, n))
	for i := range n {
		if _, _, err := nodes.Set(strconv.Itoa(i), 0, vector.NodeAmounts{Allocatable: vector.ResourceVector{1e6}}); err != nil {
			t.Fatal(err)
		}
	}
	rank := make([]int32, n)
	for i := range rank {
		rank[i] = int32(i)
	}
	bound := gpu.Bind(scorers(t)[0], nodes, gpus)
	best := func() (row int) {
		for range 300 {
			row, _ = bound.Best(&gpu.Request{CPU: 1, Amounts: vector.ResourceVector{1}}, nil, vector.TieRank(rank))
		}
		return row
	}
	if row := best(); row != 0 {
		t.Fatalf("row %d", row)
	}
	slices.Reverse(rank)
	if text, _ := testkit.Recovered(func() { best() }).(string); !strings.Contains(text, "rewritten in place") {
		t.Errorf("panicked %q", text)
	}
}
