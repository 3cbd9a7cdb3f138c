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
				s.measure(b, new(gang.Proof), new(gang.Packer))
			})
		}
	}
}

// BenchmarkSpreadProofRatio is BenchmarkProofRatio for members that have to be apart, at most
// one in each of 40 sets of nodes.
func BenchmarkSpreadProofRatio(b *testing.B) {
	s := newEviction(1, "places")
	s.spread = gang.Spread{Most: 1, Domains: &gang.Domains{Offsets: vector.Offsets{0}}}
	for row := range int32(proofNodes) {
		if s.spread.Domains.Rows = append(s.spread.Domains.Rows, row); row%25 == 24 {
			s.spread.Domains.Offsets = append(s.spread.Domains.Offsets, row+1)
		}
	}
	packer := new(gang.Packer)
	testkit.Check(packer.Spread(s.spread))
	s.measure(b, new(gang.Proof), packer)
}

// measureProof measures releases, each with a question, to a proof and anew. Both return how
// often the gang was impossible.
func measureProof(b *testing.B, prove, ask func() int) {
	if got, want := prove(), ask(); got != want || got == 0 {
		b.Fatalf("impossible after %d releases, anew %d", got, want)
	}
	ours, anew := stopwatch.New(1, func(int) { prove() }), stopwatch.New(1, func(int) { ask() })
	if n := testing.AllocsPerRun(1, func() { prove() }); n != 0 {
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
	spread         gang.Spread
	rows           []int
	amounts        []vector.ResourceVector
	overlay        *vector.Overlay // of free
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
	s.overlay = vector.NewOverlay(s.free)
	return s
}

// measure asks for the whole gang, a packer that knows the spread anew.
func (s *eviction) measure(b *testing.B, proof *gang.Proof, packer *gang.Packer) {
	measureProof(b, func() int {
		proof.Reset(s.free, s.requests, nil)
		testkit.Check(proof.Spread(s.spread))
		return s.prove(proof, func() bool { return infeasible(proof) })
	}, func() int {
		return s.ask(func(now *vector.Matrix) bool { return s.infeasible(packer, now) })
	})
}

func infeasible(p *gang.Proof) bool {
	_, infeasible := p.Infeasible()
	return infeasible
}

// infeasible asks anew.
func (s *eviction) infeasible(p *gang.Packer, now *vector.Matrix) bool {
	_, infeasible := p.Infeasible(now, s.requests, nil, nil)
	return infeasible
}

// prove runs the loop with a proof that has begun, and returns how often the gang was
// impossible.
func (s *eviction) prove(p *gang.Proof, infeasible func() bool) (impossible int) {
	for i, row := range s.rows {
		testkit.Check(p.Release(row, s.amounts[i]))
		if infeasible() {
			impossible++
		}
	}
	return impossible
}

// ask runs the loop anew.
func (s *eviction) ask(infeasible func(now *vector.Matrix) bool) (impossible int) {
	s.overlay.Rollback(vector.Mark{})
	for i, row := range s.rows {
		testkit.Check(s.overlay.AddToRow(row, s.amounts[i]))
		if infeasible(s.overlay.Matrix()) {
			impossible++
		}
	}
	return impossible
}
