package cachetest

import (
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/scorecache"
	"github.com/resvec/resvec/vector"
)

// Cluster is a cluster for benchmarks that is nearly full: a pod that comes makes
// the oldest go. Requests come again with a Zipf-like frequency, as in traces.
type Cluster struct {
	Free, Used, Size *vector.Matrix
	Requests         []vector.ResourceVector
	Rank             []int32

	// Move is called for a pod that comes to a row, with the sign -1, or that goes,
	// with 1; nil for no more than the matrices.
	Move func(pod *Pod, sign int)

	draws []uint8
	pods  []Pod
	at    int
}

// Pod is a pod on a row.
type Pod struct {
	Row, Request int
	Devices      []int32
}

// Requests is the number of requests that there are.
const Requests = 151

// NewCluster returns a cluster of so many rows that is empty.
func NewCluster(rows int) *Cluster {
	const perNode = 4
	r := rand.New(rand.NewPCG(1, 2))
	matrix := func() *vector.Matrix { return vector.NewMatrix(vector.Schema{}, rows, 4) }
	c := &Cluster{Free: matrix(), Used: matrix(), Size: matrix(), pods: make([]Pod, perNode*rows)}
	for i := range rows {
		v := vector.ResourceVector{96000, 512 << 30, 8, 110}
		c.Free.SetRow(i, v)
		c.Size.SetRow(i, v)
	}
	for k := range Requests {
		c.Requests = append(c.Requests, vector.ResourceVector{float64(1000 * (1 + k%23)), float64((1 + k%40) << 31), 0, 1})
	}
	zipf := rand.NewZipf(r, 1.3, 4, Requests-1)
	for range 1 << 16 {
		c.draws = append(c.draws, uint8(zipf.Uint64()))
	}
	for i := range c.pods {
		c.pods[i].Row = -1
	}
	for _, p := range r.Perm(rows) {
		c.Rank = append(c.Rank, int32(p))
	}
	return c
}

// Draw returns the request of decision i.
func (c *Cluster) Draw(i int) int { return int(c.draws[i%len(c.draws)]) }

// Place puts request k on a row and its devices, and takes the oldest pod away.
func (c *Cluster) Place(row, k int, devices []int32) {
	pod := &c.pods[c.at%len(c.pods)]
	c.at++
	c.move(pod, 1)
	pod.Row, pod.Request, pod.Devices = row, k, append(pod.Devices[:0], devices...)
	c.move(pod, -1)
}

// move takes a pod from its row, or gives it back.
func (c *Cluster) move(pod *Pod, sign int) {
	request := c.Requests[pod.Request]
	switch {
	case pod.Row < 0: // no pod
		return
	case sign < 0:
		_ = c.Free.SubRow(pod.Row, request)
		_ = c.Used.AddRow(pod.Row, request)
	default:
		_ = c.Free.AddRow(pod.Row, request)
		_ = c.Used.SubRow(pod.Row, request)
	}
	if c.Move != nil {
		c.Move(pod, sign)
	}
}

// Run measures decisions, after as many as fill the cluster.
func (c *Cluster) Run(b *testing.B, decide func(i int)) {
	for i := range 2 * len(c.pods) {
		decide(i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		decide(i)
	}
}

// Report says how many rows a cache looked at per decision.
func Report(b *testing.B, s scorecache.Stats) {
	b.ReportMetric(float64(s.Rescored)/float64(s.Hits+s.Misses), "rows/op")
}
