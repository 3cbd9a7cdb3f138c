package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// topologyGangs are gangs placed in blocks of 1,024 nodes and racks of 16.
var topologyGangs = []struct {
	name    string
	request gang.TopologyRequest
}{
	{"16-in-a-rack", gang.TopologyRequest{Count: 16, Required: "rack"}},
	{"512-in-a-block", gang.TopologyRequest{Count: 512, Required: "block"}},
	{"512-near-a-rack", gang.TopologyRequest{Count: 512, Preferred: "rack"}},
	{"512-by-8-in-racks", gang.TopologyRequest{Count: 512, Required: "block", Slices: map[string]int{"rack": 8}}},
	{"512-anywhere", gang.TopologyRequest{Count: 512}},
	{"512-least-free", gang.TopologyRequest{Count: 512, LeastFree: true}},
	{"1+512-in-a-block", gang.TopologyRequest{Count: 512, Required: "block", Leader: vector.ResourceVector{1, 1, 1, 1, 1, 1, 1, 1}}},
}

// BenchmarkTopologyRatio measures what docs/performance.md quotes: placing a gang into
// a topology of block, rack and host against vector.Copies over the same nodes, which
// only says how many fit on each. One iteration runs both some times, in turn; the
// fastest sample of each counts.
//
//	ns/node         of a placement
//	copies-ns/node  of Copies
//	of_copies       how many times the time of Copies
func BenchmarkTopologyRatio(b *testing.B) {
	for _, nodes := range []int{1000, 5000, 50_000} {
		if tooLarge(nodes) {
			continue
		}
		for _, order := range []string{"sorted", "shuffled"} {
			c := newTopologyCluster(nodes, order == "shuffled")
			for _, work := range topologyGangs {
				b.Run(fmt.Sprintf("nodes=%d/order=%s/gang=%s", nodes, order, work.name), func(b *testing.B) {
					var p gang.Packer
					var found gang.TopologyPlacement
					request := work.request
					request.Request = c.request
					place := func() {
						var err error
						if found, err = p.PlaceTopology(found, c.free, request, nil, c.topology); err != nil {
							panic(err)
						}
					}
					place()
					if !found.Fits || len(found.Placement) != request.Count {
						b.Fatalf("%+v", found)
					}
					if n := testing.AllocsPerRun(1, place); n != 0 {
						b.Fatalf("%v allocations", n)
					}
					copies := make([]int64, nodes)
					ours := stopwatch.New(1, func(int) { place() })
					count := stopwatch.New(1, func(int) { vector.Copies(copies, c.free, c.request) })
					alternate(b, ours, count)
					b.ReportMetric(ours.Best/float64(nodes), "ns/node")
					b.ReportMetric(count.Best/float64(nodes), "copies-ns/node")
					b.ReportMetric(ours.Best/count.Best, "of_copies")
				})
			}
		}
	}
}

// BenchmarkTopologyRefused compares 1,000 gangs that are refused, because they have more
// pods than fit, with 1,000 that are placed.
//
//	ns/gang    of a refusal
//	of_placed  how many times the time of a placement
func BenchmarkTopologyRefused(b *testing.B) {
	const nodes, gangs = 5000, 1000
	c := newTopologyCluster(nodes, true)
	for _, work := range topologyGangs {
		b.Run(fmt.Sprintf("nodes=%d/gang=%s", nodes, work.name), func(b *testing.B) {
			var p gang.Packer
			var found gang.TopologyPlacement
			ask := func(count int) {
				request := work.request
				request.Request, request.Count = c.request, count
				for range gangs {
					var err error
					if found, err = p.PlaceTopology(found, c.free, request, nil, c.topology); err != nil {
						panic(err)
					}
					if found.Fits != (count == work.request.Count) {
						panic("refused instead of placed, or placed instead of refused")
					}
				}
			}
			placed := stopwatch.New(1, func(int) { ask(work.request.Count) })
			refused := stopwatch.New(1, func(int) { ask(8 * nodes * 8) })
			alternate(b, placed, refused)
			b.ReportMetric(refused.Best/gangs, "ns/gang")
			b.ReportMetric(refused.Best/placed.Best, "of_placed")
		})
	}
}

// topologyCluster is a cluster with up to 8 copies of a request free on each node.
type topologyCluster struct {
	topology *gang.Topology
	free     *vector.Matrix
	request  vector.ResourceVector
}

func newTopologyCluster(nodes int, shuffled bool) *topologyCluster {
	r := random(uint64(nodes))
	c := &topologyCluster{free: vector.NewMatrix(vector.Schema{}, nodes, packCols)}
	var err error
	if c.topology, err = gang.NewTopology("block", "rack", "host"); err != nil {
		panic(err)
	}
	for range packCols {
		c.request = append(c.request, 1000)
	}
	order := r.Perm(nodes)
	v := make(vector.ResourceVector, packCols)
	for row := range nodes {
		i := row
		if shuffled {
			i = order[row]
		}
		host := fmt.Sprintf("h%05d", i)
		testkit.Check(c.topology.Set(row, host, fmt.Sprintf("b%02d", i/1024), fmt.Sprintf("r%04d", i/16), host))
		for j := range v {
			v[j] = float64(1000*r.IntN(8) + r.IntN(1000) + 1000*j)
		}
		c.free.SetRow(row, v)
	}
	return c
}
