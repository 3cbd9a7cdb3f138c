package benchmarks

import (
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// spreadNodes nodes have 8 free GPUs each in every twentieth node, so that a gang of
// spreadMembers fits unless its members have to be apart.
const (
	spreadNodes   = 1000
	spreadMembers = 100
)

// BenchmarkSpreadRatio refuses a gang whose members have to be apart: one on a node, or two in
// a rack of 40 nodes. The row loop simulates: it places them one by one on the first node that
// has room and whose node or rack takes another, and takes all of them back.
//
//	ns/call          of Infeasible
//	rowloop-ns/call  of the row loop
//	x_rowloop        how many times as fast as the row loop
func BenchmarkSpreadRatio(b *testing.B) {
	racks := &gang.Domains{Offsets: vector.Offsets{0}}
	for row := range int32(spreadNodes) {
		if racks.Rows = append(racks.Rows, row); row%40 == 39 {
			racks.Offsets = append(racks.Offsets, row+1)
		}
	}
	for _, test := range []struct {
		name   string
		spread gang.Spread
	}{
		{"apart=node", gang.Spread{Most: 1}},
		{"apart=rack", gang.Spread{Most: 2, Domains: racks}},
	} {
		b.Run(test.name, func(b *testing.B) { benchmarkSpread(b, test.spread) })
	}
}

func benchmarkSpread(b *testing.B, spread gang.Spread) {
	free := vector.NewMatrix(vector.Schema{}, spreadNodes, packCols)
	requests := vector.NewMatrix(vector.Schema{}, spreadMembers, packCols)
	member := vector.ResourceVector{4, 32, 0, 0, 1, 0, 0, 0}
	for row := range spreadNodes {
		v := vector.ResourceVector{64, 512, 0, 0, 0}
		if row%20 == 0 {
			v[4] = 8
		}
		free.SetRow(row, v)
	}
	for i := range spreadMembers {
		requests.SetRow(i, member)
	}
	var packer gang.Packer
	testkit.Check(packer.Spread(spread))
	want := gang.Infeasibility{Reason: gang.InfeasibleSpread, Column: -1, Needed: spreadMembers, Available: 50}
	ask := func() {
		if why, _ := packer.Infeasible(free, requests, nil); why != want {
			b.Fatalf("%+v", why)
		}
	}
	nodes := newRowNodes(rowsOf(free), nil, nil)
	placed, taken := make([]int, 0, spreadMembers), make([]int, spreadNodes) // by node or rack
	loop := func() {
		for range spreadMembers {
			row := firstApart(nodes, member, taken, spread)
			if row < 0 {
				break
			}
			rowSub(nodes[row].idle, member)
			placed = append(placed, row)
		}
		if len(placed) != int(want.Available) {
			b.Fatal(placed)
		}
		for _, row := range placed {
			rowAdd(nodes[row].idle, member)
		}
		placed = placed[:0]
		clear(taken)
	}
	ours, theirs := stopwatch.New(1, func(int) { ask() }), stopwatch.New(1, func(int) { loop() })
	if n := testing.AllocsPerRun(1, ask); n != 0 {
		b.Fatalf("%v allocations", n)
	}
	for b.Loop() {
		ours.Sample()
		theirs.Sample()
	}
	b.ReportMetric(0, "ns/op") // of both together, which means nothing
	b.ReportMetric(ours.Best, "ns/call")
	b.ReportMetric(theirs.Best, "rowloop-ns/call")
	b.ReportMetric(theirs.Best/ours.Best, "x_rowloop")
}

// firstApart returns the first node with room whose set takes another member, or -1.
func firstApart(nodes []*rowNode, request []float64, taken []int, spread gang.Spread) int {
	for row, node := range nodes {
		set := row
		if spread.Domains != nil {
			set = row / 40
		}
		if taken[set] < spread.Most && rowLessEqual(request, node.idle) {
			taken[set]++
			return row
		}
	}
	return -1
}

// BenchmarkSpreadProofRatio is BenchmarkProofRatio for members that have to be apart, at most
// one in each of 40 sets of nodes.
func BenchmarkSpreadProofRatio(b *testing.B) {
	s := newEviction(1, "places")
	spread := gang.Spread{Most: 1, Domains: &gang.Domains{Offsets: vector.Offsets{0}}}
	for row := range int32(proofNodes) {
		if spread.Domains.Rows = append(spread.Domains.Rows, row); row%25 == 24 {
			spread.Domains.Offsets = append(spread.Domains.Offsets, row+1)
		}
	}
	var proof gang.Proof
	var packer gang.Packer
	overlay := vector.NewOverlay(s.free)
	testkit.Check(packer.Spread(spread))
	prove := func() (impossible int) {
		proof.Reset(s.free, s.requests, nil)
		testkit.Check(proof.Spread(spread))
		for i, row := range s.rows {
			_ = proof.Release(row, s.amounts[i])
			if _, infeasible := proof.Infeasible(); infeasible {
				impossible++
			}
		}
		return impossible
	}
	if got, want := prove(), s.ask(&packer, overlay); got != want || got != proofReleases {
		b.Fatalf("impossible after %d releases, anew %d", got, want)
	}
	measureProof(b, func() { prove() }, func() { s.ask(&packer, overlay) })
}
