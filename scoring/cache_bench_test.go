package scoring_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// cacheCluster is a cluster of a size that is nearly full: a pod that comes makes
// the oldest go. Requests come again with a Zipf-like frequency, as in traces.
type cacheCluster struct {
	free, used, size *vector.Matrix
	gpus             *scoring.GPUState
	requests         []vector.ResourceVector
	shares           []scoring.GPURequest
	draws            []uint8
	rank             []int32
	pods             []cachePod
	at               int
}

type cachePod struct {
	row, request int
	devices      []int32
}

func newCacheCluster(rows int) *cacheCluster {
	const requests, perNode = 151, 4
	r := rand.New(rand.NewPCG(1, 2))
	matrix := func() *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, 4) }
	c := &cacheCluster{free: matrix(), used: matrix(), size: matrix(), pods: make([]cachePod, perNode*rows)}
	nodes := make([]scoring.GPUNode, rows)
	for i := range nodes {
		v := vector.ResourceVector{96000, 512 << 30, 8, 110}
		c.free.SetRow(i, v)
		c.size.SetRow(i, v)
		nodes[i] = scoring.GPUNode{Model: int32(i % 6), Left: []float64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}}
	}
	c.gpus = scoring.NewGPUState(nodes)
	for k := range requests {
		share := scoring.GPURequest{CPU: float64(1000 * (1 + k%23)), Count: 1, Milli: float64(100 * (1 + k%10))}
		switch {
		case k%7 == 3:
			share.Count, share.Milli = 0, 0
		case k%11 == 5:
			share.Count, share.Milli = 2, 1000
		case k%13 == 6:
			share.Models = []int32{1, 2}
		}
		c.shares = append(c.shares, share)
		c.requests = append(c.requests, vector.ResourceVector{share.CPU, float64((1 + k%40) << 31), 0, 1})
	}
	zipf := rand.NewZipf(r, 1.3, 4, requests-1)
	for range 1 << 16 {
		c.draws = append(c.draws, uint8(zipf.Uint64()))
	}
	for i := range c.pods {
		c.pods[i].row = -1
	}
	for _, p := range r.Perm(rows) {
		c.rank = append(c.rank, int32(p))
	}
	return c
}

// draw returns the request of decision i.
func (c *cacheCluster) draw(i int) int { return int(c.draws[i%len(c.draws)]) }

// place puts request k on a row, on no devices where there is no GPU scorer, and
// takes the oldest pod away.
func (c *cacheCluster) place(row, k int, devices []int32) {
	pod := &c.pods[c.at%len(c.pods)]
	c.at++
	c.move(pod, 1)
	pod.row, pod.request, pod.devices = row, k, append(pod.devices[:0], devices...)
	c.move(pod, -1)
}

// move takes a pod from its row, or gives it back.
func (c *cacheCluster) move(pod *cachePod, sign int) {
	request, share := c.requests[pod.request], &c.shares[pod.request]
	switch {
	case pod.row < 0: // no pod
	case sign < 0:
		_ = c.free.SubRow(pod.row, request)
		_ = c.used.AddRow(pod.row, request)
		if len(pod.devices) > 0 {
			_ = c.gpus.Place(pod.row, share, pod.devices)
		}
	default:
		_ = c.free.AddRow(pod.row, request)
		_ = c.used.SubRow(pod.row, request)
		if len(pod.devices) > 0 {
			_ = c.gpus.Release(pod.row, share, pod.devices)
		}
	}
}

// run measures decisions, after as many as fill the cluster.
func (c *cacheCluster) run(b *testing.B, decide func(i int)) {
	for i := range 2 * len(c.pods) {
		decide(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		decide(i)
	}
}

// reportCache says how many rows a cache looked at per decision.
func reportCache(b *testing.B, s scoring.CacheStats) {
	b.ReportMetric(float64(s.Rescored)/float64(s.Hits+s.Misses), "rows/op")
}

// BenchmarkScoreCache measures decisions: find a node for a pod, put the pod
// there, and let the oldest pod end. impl=full is the full pass that the cache
// equals.
func BenchmarkScoreCache(b *testing.B) {
	m, err := vectormap.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	fit, err := scoring.CompileStrategyFit(scoring.StrategyFitConfig{}, m)
	if err != nil {
		b.Fatal(err)
	}
	for _, rows := range []int{1213, 5000} {
		b.Run(fmt.Sprintf("scorer=StrategyFit/nodes=%d/impl=cache", rows), func(b *testing.B) {
			c, cache := newCacheCluster(rows), scoring.NewCache(fit, scoring.CacheOptions{})
			q := &scoring.Query{Free: c.free, Used: c.used, Allocatable: c.size}
			c.run(b, func(i int) {
				k := c.draw(i)
				q.Request = c.requests[k]
				row, _, _ := cache.Best(q, vector.TieRank(c.rank))
				c.place(row, k, nil)
			})
			reportCache(b, cache.Stats())
		})
		b.Run(fmt.Sprintf("scorer=StrategyFit/nodes=%d/impl=full", rows), func(b *testing.B) {
			c, scores, feasible := newCacheCluster(rows), make([]float64, rows), new(vector.Mask)
			c.run(b, func(i int) {
				k := c.draw(i)
				vector.Fit(feasible, c.free, c.requests[k])
				_ = fit.ScoreBatch(scores, c.requests[k], c.used, c.size, feasible)
				c.place(vector.ArgMax(scores, feasible, vector.TieRank(c.rank)), k, nil)
			})
		})
	}
	for _, scorer := range gpuCacheScorers(b) {
		for _, rows := range []int{1213, 5000} {
			b.Run(fmt.Sprintf("scorer=%T/nodes=%d/impl=cache", scorer, rows), func(b *testing.B) {
				c, cache := newCacheCluster(rows), scoring.NewGPUCache(scorer, scoring.CacheOptions{})
				q := &scoring.GPUQuery{Free: c.free, GPUs: c.gpus}
				var devices []int32
				c.run(b, func(i int) {
					k := c.draw(i)
					q.Request, q.Amounts = c.shares[k], c.requests[k]
					row, _, _ := cache.Best(q, vector.TieRank(c.rank))
					devices = devices[:0]
					if row >= 0 {
						devices = scorer.ChooseDevices(row, &q.Request, c.free.Column(vectormap.CPU), c.gpus, devices)
					}
					c.place(row, k, devices)
				})
				reportCache(b, cache.Stats())
			})
			b.Run(fmt.Sprintf("scorer=%T/nodes=%d/impl=full", scorer, rows), func(b *testing.B) {
				c, scores, feasible := newCacheCluster(rows), make([]float64, rows), new(vector.Mask)
				var devices []int32
				c.run(b, func(i int) {
					k := c.draw(i)
					cpuLeft := c.free.Column(vectormap.CPU)
					vector.Fit(feasible, c.free, c.requests[k])
					c.gpus.Fit(feasible, &c.shares[k], cpuLeft, feasible)
					_ = scorer.ScoreBatch(scores, &c.shares[k], cpuLeft, c.gpus, feasible)
					row := vector.ArgMax(scores, feasible, vector.TieRank(c.rank))
					devices = devices[:0]
					if row >= 0 {
						devices = scorer.ChooseDevices(row, &c.shares[k], cpuLeft, c.gpus, devices)
					}
					c.place(row, k, devices)
				})
			})
		}
	}
}
