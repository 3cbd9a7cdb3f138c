package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// BenchmarkWithinRatio is BenchmarkProofRatio for a gang that has to stay within one of many
// racks, which ends by the sum of a resource in a rack. Anew is gang.Packer.Infeasible.
//
//	ns/call       of a release and a question
//	anew-ns/call  of the same, anew
//	x_anew        how many times as fast as anew
func BenchmarkWithinRatio(b *testing.B) {
	for _, shapes := range []int{1, 2, 4, 64} {
		for _, nodes := range []int{10, 50} { // of a rack
			b.Run(fmt.Sprintf("shapes=%d/racks=%d", shapes, proofNodes/nodes), func(b *testing.B) {
				s, racks := newWithinEviction(shapes, nodes)
				var proof gang.Proof
				var packer gang.Packer
				measureProof(b, func() int {
					proof.Reset(s.free, s.requests, nil)
					proof.Within(racks)
					return s.prove(&proof, func() bool {
						_, infeasible := proof.Infeasible()
						return infeasible
					})
				}, func() int {
					return s.ask(func(now *vector.Matrix) bool {
						_, infeasible := packer.Infeasible(now, s.requests, nil, racks)
						return infeasible
					})
				})
			})
		}
	}
}

// newWithinEviction returns an eviction for a gang that has to stay within a rack.
func newWithinEviction(shapes, nodes int) (s *eviction, racks *gang.Domains) {
	s = newEviction(shapes, "sum")
	v := make(vector.ResourceVector, packCols)
	for i := range proofMembers { // as much as a rack has at the end, and not all nodes
		for j, x := range s.requests.Row(nil, i) {
			v[j] = float64(int(x * float64(nodes) / proofNodes))
		}
		s.requests.SetRow(i, v)
	}
	racks = &gang.Domains{Offsets: vector.Offsets{0}}
	for i := range proofNodes {
		racks.Rows = append(racks.Rows, int32(i))
		if (i+1)%nodes == 0 {
			racks.Offsets = append(racks.Offsets, int32(i+1))
		}
	}
	return s, racks
}
