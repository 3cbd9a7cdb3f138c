package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// BenchmarkWithinRatio is BenchmarkProofRatio for a gang that has to stay within one of many
// racks, which ends by the sum of a resource in a rack. Anew is gang.Packer.InfeasibleIn.
//
//	ns/call       of a release and a question
//	anew-ns/call  of the same, anew
//	x_anew        how many times as fast as anew
func BenchmarkWithinRatio(b *testing.B) {
	for _, shapes := range []int{1, 2, 4, 64} {
		for _, nodes := range []int{10, 50} { // of a rack
			b.Run(fmt.Sprintf("shapes=%d/racks=%d", shapes, proofNodes/nodes), func(b *testing.B) {
				s := newWithinEviction(shapes, nodes)
				var proof gang.Proof
				var packer gang.Packer
				overlay := vector.NewOverlay(s.free)
				s.compare(b, &proof, &packer, overlay)
				measureProof(b, func() { s.prove(&proof) }, func() { s.ask(&packer, overlay) })
			})
		}
	}
}

// withinEviction is an eviction for a gang that has to stay within a rack.
type withinEviction struct {
	eviction
	racks gang.Domains
}

func newWithinEviction(shapes, nodes int) *withinEviction {
	s := &withinEviction{eviction: *newEviction(shapes, "sum")}
	v := make(vector.ResourceVector, packCols)
	for i := range proofMembers { // as much as a rack has at the end, and not all nodes
		for j, x := range s.requests.Row(nil, i) {
			v[j] = float64(int(x * float64(nodes) / proofNodes))
		}
		s.requests.SetRow(i, v)
	}
	s.racks.Offsets = append(s.racks.Offsets, 0)
	for i := range proofNodes {
		s.racks.Rows = append(s.racks.Rows, int32(i))
		if (i+1)%nodes == 0 {
			s.racks.Offsets = append(s.racks.Offsets, int32(i+1))
		}
	}
	return s
}

func (s *withinEviction) begin(p *gang.Proof) {
	p.Reset(s.free, s.requests, nil)
	p.Within(&s.racks)
}

// prove runs the loop with a proof and returns how often the gang was impossible.
func (s *withinEviction) prove(p *gang.Proof) (impossible int) {
	s.begin(p)
	for i, row := range s.rows {
		testkit.Check(p.Release(row, s.amounts[i]))
		if _, _, infeasible := p.InfeasibleIn(); infeasible {
			impossible++
		}
	}
	return impossible
}

// ask runs the loop anew.
func (s *withinEviction) ask(p *gang.Packer, o *vector.Overlay) (impossible int) {
	o.Rollback(vector.Mark{})
	for i, row := range s.rows {
		testkit.Check(o.AddToRow(row, s.amounts[i]))
		if _, _, infeasible := p.InfeasibleIn(o.Matrix(), s.requests, nil, &s.racks); infeasible {
			impossible++
		}
	}
	return impossible
}

// compare fails unless both give the same answers.
func (s *withinEviction) compare(b *testing.B, proof *gang.Proof, packer *gang.Packer, o *vector.Overlay) {
	s.begin(proof)
	reasons := make(map[gang.Reason]int)
	for i, row := range s.rows {
		_ = proof.Release(row, s.amounts[i])
		_ = o.AddToRow(row, s.amounts[i])
		got, at, _ := proof.InfeasibleIn()
		want, wanted, _ := packer.InfeasibleIn(o.Matrix(), s.requests, nil, &s.racks)
		if got != want || at != wanted {
			b.Fatalf("after %d: %+v in %d, want %+v in %d", i+1, got, at, want, wanted)
		}
		reasons[got.Reason]++
	}
	b.Log(reasons)
}
