package gpu_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/scorecache/cachetest"
	"github.com/resvec/resvec/scoring"
	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// deviceCluster is a cluster whose nodes have eight GPUs.
type deviceCluster struct {
	*cachetest.Cluster
	gpus   *gpu.State
	shares []gpu.Request // by request
}

func newDeviceCluster(rows int) *deviceCluster {
	c := &deviceCluster{Cluster: cachetest.NewCluster(rows)}
	nodes := make([]gpu.Node, rows)
	for i := range nodes {
		nodes[i] = gpu.Node{Model: int32(i % 6), Left: []float64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}}
	}
	c.gpus = gpu.NewState(nodes)
	for k, request := range c.Requests {
		share := gpu.Request{CPU: request[0], Count: 1, Milli: float64(100 * (1 + k%10))}
		switch {
		case k%7 == 3:
			share.Count, share.Milli = 0, 0
		case k%11 == 5:
			share.Count, share.Milli = 2, 1000
		case k%13 == 6:
			share.Models = []int32{1, 2}
		}
		c.shares = append(c.shares, share)
	}
	c.Move = func(pod *cachetest.Pod, sign int) {
		switch {
		case len(pod.Devices) == 0:
		case sign < 0:
			_ = c.gpus.Place(pod.Row, &c.shares[pod.Request], pod.Devices)
		default:
			_ = c.gpus.Release(pod.Row, &c.shares[pod.Request], pod.Devices)
		}
	}
	return c
}

// BenchmarkScoreCache measures decisions, as the benchmark of this name in package
// scoring does.
func BenchmarkScoreCache(b *testing.B) {
	for _, scorer := range scorers(b) {
		for _, rows := range []int{1213, 5000} {
			b.Run(fmt.Sprintf("scorer=%T/nodes=%d/impl=cache", scorer, rows), func(b *testing.B) {
				c, cache := newDeviceCluster(rows), gpu.NewCache(scorer, scoring.CacheOptions{})
				q := &gpu.Query{Free: c.Free, GPUs: c.gpus}
				var devices []int32
				c.Run(b, func(i int) {
					k := c.Draw(i)
					q.Request, q.Amounts = c.shares[k], c.Requests[k]
					row, _, _ := cache.Best(q, vector.TieRank(c.Rank))
					devices = devices[:0]
					if row >= 0 {
						devices = scorer.ChooseDevices(row, &q.Request, c.Free.Column(vectormap.CPU), c.gpus, devices)
					}
					c.Place(row, k, devices)
				})
				cachetest.Report(b, cache.Stats())
			})
			b.Run(fmt.Sprintf("scorer=%T/nodes=%d/impl=full", scorer, rows), func(b *testing.B) {
				c, scores, feasible := newDeviceCluster(rows), make([]float64, rows), new(vector.Mask)
				var devices []int32
				c.Run(b, func(i int) {
					k := c.Draw(i)
					cpuLeft := c.Free.Column(vectormap.CPU)
					vector.Fit(feasible, c.Free, c.Requests[k])
					c.gpus.Fit(feasible, &c.shares[k], cpuLeft, feasible)
					_ = scorer.ScoreBatch(scores, &c.shares[k], cpuLeft, c.gpus, feasible)
					row := vector.ArgMax(scores, feasible, vector.TieRank(c.Rank))
					devices = devices[:0]
					if row >= 0 {
						devices = scorer.ChooseDevices(row, &c.shares[k], cpuLeft, c.gpus, devices)
					}
					c.Place(row, k, devices)
				})
			})
		}
	}
}
