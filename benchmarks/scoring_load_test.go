package benchmarks

import (
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
)

// newLoad scores nodes by how empty they would be, by all columns with weights 1 to 3.
func newLoad(s shape) *subject {
	c := newCluster(106, s, mixed)
	pods := c.newPods(allColumns(s.cols)...)
	config := scoring.LoadConfig{Direction: scoring.Spread, Weights: map[string]float64{}}
	weights := make([]float64, s.cols)
	for j, name := range c.names {
		weights[j] = float64(1 + j%3)
		config.Weights[string(name)] = weights[j]
	}
	load := scoring.Bind(testkit.Must(scoring.CompileLoad(config, c.m)), c.nodes)
	return scored(s, 2*s.elements(),
		func(dst []float64, k int) { testkit.Check(load.Score(dst, pods.amounts(k), nil)) },
		func(dst []float64, k int) {
			for i, n := range c.rows {
				dst[i] = rowLoad(n, pods.requests[k], weights)
			}
		},
		func(dst []float64, k int) {
			for i, n := range c.volcano {
				dst[i] = n.load(pods.volcano[k].request, c.names, weights)
			}
		})
}

// rowLoad scores one node.
func rowLoad(n *rowNode, request, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for j, w := range weights {
		if a := n.allocatable[j]; a > 0 {
			sum += float64((n.used[j] + request[j]) / a * w)
			total += w
		}
	}
	return emptiness(sum, total)
}

// load is rowLoad over the names of the resources.
func (n *volcanoNode) load(request *volcanoResource, names []resourceName, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for j, name := range names {
		if a := n.allocatable.get(name); a > 0 {
			sum += float64((n.used.get(name) + request.get(name)) / a * weights[j])
			total += weights[j]
		}
	}
	return emptiness(sum, total)
}

// emptiness turns a weighted sum of shares into a score of 0 to 100.
func emptiness(sum, weights float64) float64 {
	if weights == 0 {
		return 0
	}
	return max(0, min(100*(1-sum/weights), 100))
}

// newDRF computes the dominant shares of queues: what a node has is what a queue is
// entitled to.
func newDRF(s shape) *subject {
	c := newCluster(107, s, mixed)
	jobs := c.newPods(allColumns(s.cols)...)
	drf := scoring.Bind(testkit.Must(scoring.CompileDRF(scoring.DRFConfig{}, c.m)), c.nodes)
	return scored(s, 2*s.elements(),
		func(dst []float64, k int) { testkit.Check(drf.Score(dst, jobs.amounts(k), nil)) },
		func(dst []float64, k int) {
			for i, n := range c.rows {
				dst[i] = rowShare(n, jobs.requests[k])
			}
		},
		func(dst []float64, k int) {
			for i, n := range c.volcano {
				dst[i] = n.share(jobs.volcano[k].request, c.names)
			}
		})
}

// rowShare returns the dominant share of one queue.
func rowShare(n *rowNode, request []float64) float64 {
	share := 0.0
	for j, a := range n.allocatable {
		if a > 0 {
			if q := (n.used[j] + request[j]) / a; q > share {
				share = q
			}
		}
	}
	return share
}

// share is rowShare over the names of the resources, as Volcano's drf plugin
// (calculateShare) goes over the resources of the total.
func (n *volcanoNode) share(request *volcanoResource, names []resourceName) float64 {
	share := 0.0
	for _, name := range names {
		if a := n.allocatable.get(name); a > 0 {
			if q := (n.used.get(name) + request.get(name)) / a; q > share {
				share = q
			}
		}
	}
	return share
}
