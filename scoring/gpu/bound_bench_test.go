package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
)

// benchCluster is a cluster that is nearly full: a pod that comes makes the oldest go.
// Requests come again with a Zipf-like frequency, as in traces.
type benchCluster struct {
	nodes    *vector.Nodes
	gpus     *gpu.State
	requests []gpu.Request
	draws    []uint8
	pods     []benchPod
	at       int
	distinct bool // no request comes twice
}

type benchPod struct {
	placed  bool
	row     int
	req     gpu.Request
	devices []int32
}

func newBenchCluster(rows int) *benchCluster {
	const perNode, kinds = 4, 151
	c := &benchCluster{nodes: vector.NewNodes(vector.Schema{}, 4), gpus: new(gpu.State), pods: make([]benchPod, perNode*rows)}
	for i := range rows {
		amounts := vector.NodeAmounts{Allocatable: vector.ResourceVector{96000, 512 << 30, 8, 110}}
		if _, _, err := c.nodes.Set(strconv.Itoa(i), 0, amounts); err != nil {
			panic(err)
		}
		c.gpus.AppendNode(gpu.Node{Model: int32(i % 6), Left: gpuDevices(8, 1000)})
	}
	for k := range kinds {
		amounts := vector.ResourceVector{float64(1000 * (1 + k%23)), float64((1 + k%40) << 31), 0, 1}
		req := gpu.Request{CPU: amounts[0], Count: 1, Milli: float64(100 * (1 + k%10)), Amounts: amounts}
		switch {
		case k%7 == 3:
			req.Count, req.Milli = 0, 0
		case k%11 == 5:
			req.Count, req.Milli = 2, 1000
		case k%13 == 6:
			req.Models = []int32{1, 2}
		}
		c.requests = append(c.requests, req)
	}
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.3, 4, kinds-1)
	for range 1 << 16 {
		c.draws = append(c.draws, uint8(zipf.Uint64()))
	}
	return c
}

// place places the next pod.
func (c *benchCluster) place(bound *gpu.Bound, tie vector.Tie) {
	req := c.requests[c.draws[c.at%len(c.draws)]]
	if c.distinct {
		req.CPU += float64(c.at) / 1024
	}
	row, ok := bound.Best(&req, nil, tie)
	pod := &c.pods[c.at%len(c.pods)]
	c.at++
	if pod.placed {
		_ = c.gpus.Release(pod.row, &pod.req, pod.devices)
		_ = c.nodes.Forget(pod.row, vector.PodAmounts{Requested: pod.req.Amounts})
		pod.placed = false
	}
	if !ok {
		return
	}
	pod.row, pod.req, pod.devices = row, req, bound.ChooseDevices(pod.devices, &req, row)
	if len(pod.devices) == req.Count && c.gpus.Place(row, &req, pod.devices) == nil {
		pod.placed = true
		_ = c.nodes.Assume(row, vector.PodAmounts{Requested: req.Amounts})
	}
}

// placeAll places the next n pods.
func (c *benchCluster) placeAll(n int, bound *gpu.Bound, tie vector.Tie) {
	for range n {
		c.place(bound, tie)
	}
}

// BenchmarkBest measures decisions: impl=bound as they are, impl=kept with all scores
// kept, impl=pass with none. It is what worth is chosen by.
func BenchmarkBest(b *testing.B) {
	sizes := []int{32, 128, 500, 1213, 2500, 5000, 20000}
	if testing.Short() {
		sizes = []int{32, 1213}
	}
	for k, scorer := range scorers(b) {
		for _, rows := range sizes {
			c, tie := newBenchCluster(rows), vector.TieSeeded(1)
			full := false
			for _, requests := range []string{"again", "distinct"} {
				for _, impl := range []struct {
					name string
					from int
				}{{"kept", 0}, {"pass", 1 << 30}, {"bound", -1}} {
					b.Run(fmt.Sprintf("scorer=%s/nodes=%d/requests=%s/impl=%s", scorerNames[k], rows, requests, impl.name), func(b *testing.B) {
						if !full { // once for all: eight pods a node, by passes that takes minutes
							full = true
							c.placeAll(2*len(c.pods), gpu.Bind(scorer, c.nodes, c.gpus), tie)
						}
						if impl.from >= 0 {
							defer gpu.KeepScores(impl.from)()
						}
						// The scores of many requests are kept by now, and there is no more credit
						// for the first visits of others.
						bound := gpu.Bind(scorer, c.nodes, c.gpus)
						c.distinct = false
						c.placeAll(500, bound, tie)
						if requests == "distinct" {
							c.distinct = true
							c.placeAll(500, bound, tie)
						}
						b.ReportAllocs()
						for b.Loop() {
							c.place(bound, tie)
						}
					})
				}
			}
		}
	}
}
