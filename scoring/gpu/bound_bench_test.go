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
	last     gpu.Request
}

type benchPod struct {
	row     int
	req     *gpu.Request
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
	req := &c.requests[c.draws[c.at%len(c.draws)]]
	if c.distinct {
		c.last = *req
		c.last.CPU += float64(c.at) / 1024
		req = &c.last
	}
	row, ok := bound.Best(req, nil, tie)
	pod := &c.pods[c.at%len(c.pods)]
	c.at++
	if pod.req != nil {
		_ = c.gpus.Release(pod.row, pod.req, pod.devices)
		_ = c.nodes.Forget(pod.row, vector.PodAmounts{Requested: pod.req.Amounts})
		pod.req = nil
	}
	if !ok || c.distinct {
		return
	}
	pod.row, pod.devices = row, bound.ChooseDevices(pod.devices, req, row)
	if len(pod.devices) == req.Count && c.gpus.Place(row, req, pod.devices) == nil {
		pod.req = req
		_ = c.nodes.Assume(row, vector.PodAmounts{Requested: req.Amounts})
	}
}

// BenchmarkBest measures decisions: impl=bound as they are, impl=kept with all scores
// kept, impl=pass with none. It is what worth is chosen by.
func BenchmarkBest(b *testing.B) {
	for k, scorer := range scorers(b) {
		for _, rows := range []int{32, 128, 500, 1213, 2500, 5000, 20000} {
			for _, requests := range []string{"again", "distinct"} {
				for _, impl := range []struct {
					name string
					from int
				}{{"kept", 0}, {"pass", 1 << 30}, {"bound", -1}} {
					b.Run(fmt.Sprintf("scorer=%s/nodes=%d/requests=%s/impl=%s", scorerNames[k], rows, requests, impl.name), func(b *testing.B) {
						if impl.from >= 0 {
							defer gpu.KeepScores(impl.from)()
						}
						c := newBenchCluster(rows)
						bound, tie := gpu.Bind(scorer, c.nodes, c.gpus), vector.TieSeeded(1)
						for range 2 * len(c.pods) {
							c.place(bound, tie)
						}
						c.distinct = requests == "distinct"
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
