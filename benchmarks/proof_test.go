package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/stopwatch"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// An eviction loop: 10,000 releases on 1,000 nodes of 8 resources, and after each the
// question whether a gang of 64 is still impossible.
const (
	proofNodes    = 1000
	proofReleases = 10_000
	proofMembers  = 64
)

// BenchmarkProofRatio measures what docs/performance.md quotes: a gang.Proof
// against asking gang.Packer.Infeasible anew after every release into an Overlay.
// One iteration runs the loop some times with the proof and once anew, in turn; the
// fastest sample of each counts. shapes says how many different requests the gang
// has, and 2 are a leader and workers. ends says which condition is the last to hold:
// the sum of a resource (the gang needs more than nodes in all), or places (many
// small gaps).
//
//	ns/call       of a release and a question
//	anew-ns/call  of the same, anew
//	x_anew        how many times as fast as anew
func BenchmarkProofRatio(b *testing.B) {
	for _, shapes := range []int{1, 2, 4, 64} {
		for _, ends := range []string{"sum", "places"} {
			b.Run(fmt.Sprintf("shapes=%d/ends=%s", shapes, ends), func(b *testing.B) {
				s := newEviction(shapes, ends)
				var proof gang.Proof
				var packer gang.Packer
				overlay := vector.NewOverlay(s.free)
				s.compare(b, &proof, &packer, overlay)
				measureProof(b, func() { s.prove(&proof) }, func() { s.ask(&packer, overlay) })
			})
		}
	}
}

// measureProof measures releases, each with a question, to a proof and anew.
func measureProof(b *testing.B, prove, ask func()) {
	ours, anew := stopwatch.New(1, func(int) { prove() }), stopwatch.New(1, func(int) { ask() })
	if n := testing.AllocsPerRun(1, prove); n != 0 {
		b.Fatalf("%v allocations", n)
	}
	for b.Loop() {
		for range 20 {
			ours.Sample()
		}
		anew.Sample()
	}
	b.ReportMetric(0, "ns/op") // of both together, which means nothing
	b.ReportMetric(ours.Best/proofReleases, "ns/call")
	b.ReportMetric(anew.Best/proofReleases, "anew-ns/call")
	b.ReportMetric(anew.Best/ours.Best, "x_anew")
}

// eviction is the loop.
type eviction struct {
	free, requests *vector.Matrix
	rows           []int
	amounts        []vector.ResourceVector
}

func newEviction(shapes int, ends string) *eviction {
	r := random(proofNodes)
	s := &eviction{
		free:     vector.NewMatrix(vector.Schema{}, proofNodes, packCols),
		requests: vector.NewMatrix(vector.Schema{}, proofMembers, packCols),
	}
	// After all releases a node has about 20,000 of everything.
	size := 18_000.0
	if ends == "sum" {
		size = 300_000
	}
	v := make(vector.ResourceVector, packCols)
	for i := range proofMembers {
		shape := random(uint64(i % shapes))
		for j := range v {
			v[j] = float64(int(size * (0.9 + 0.1*shape.Float64())))
		}
		s.requests.SetRow(i, v)
	}
	for i := range proofNodes {
		for j := range v {
			v[j] = float64(r.IntN(2000))
		}
		s.free.SetRow(i, v)
	}
	for range proofReleases {
		s.rows = append(s.rows, r.IntN(proofNodes))
		amounts := make(vector.ResourceVector, packCols)
		for j := range amounts {
			amounts[j] = float64(1000 + r.IntN(2000))
		}
		s.amounts = append(s.amounts, amounts)
	}
	return s
}

// prove runs the loop with a proof and returns how often the gang was impossible.
func (s *eviction) prove(p *gang.Proof) (impossible int) {
	p.Reset(s.free, s.requests, nil)
	for i, row := range s.rows {
		testkit.Check(p.Release(row, s.amounts[i]))
		if _, infeasible := p.Infeasible(); infeasible {
			impossible++
		}
	}
	return impossible
}

// ask runs the loop anew.
func (s *eviction) ask(p *gang.Packer, o *vector.Overlay) (impossible int) {
	o.Rollback(vector.Mark{})
	for i, row := range s.rows {
		testkit.Check(o.AddToRow(row, s.amounts[i]))
		if _, infeasible := p.Infeasible(o.Matrix(), s.requests, nil); infeasible {
			impossible++
		}
	}
	return impossible
}

// compare fails unless both give the same answers.
func (s *eviction) compare(b *testing.B, proof *gang.Proof, packer *gang.Packer, o *vector.Overlay) {
	o.Rollback(vector.Mark{})
	proof.Reset(s.free, s.requests, nil)
	reasons := make(map[gang.Reason]int)
	for i, row := range s.rows {
		_ = proof.Release(row, s.amounts[i])
		_ = o.AddToRow(row, s.amounts[i])
		got, _ := proof.Infeasible()
		want, _ := packer.Infeasible(o.Matrix(), s.requests, nil)
		if got != want {
			b.Fatalf("after %d: %+v, want %+v", i+1, got, want)
		}
		reasons[got.Reason]++
	}
	b.Log(reasons)
}
