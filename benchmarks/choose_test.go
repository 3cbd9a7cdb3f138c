package benchmarks

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// chosenFlips is how many victims two scenarios in turn differ in.
const chosenFlips = 8

// BenchmarkChooseRatio goes through 10,000 scenarios, each a set of the 10,000 victims, in no
// order: gang.Proof.Choose and a question against the same changes to an Overlay and
// gang.Packer.Infeasible asked anew.
//
//	ns/call       of a scenario and a question
//	anew-ns/call  of the same, anew
//	x_anew        how many times as fast as anew
func BenchmarkChooseRatio(b *testing.B) {
	for _, shapes := range []int{1, 2, 4, 64} {
		b.Run(fmt.Sprintf("shapes=%d", shapes), func(b *testing.B) {
			s := newScenarios(shapes)
			var proof gang.Proof
			var packer gang.Packer
			measureProof(b, func() int {
				proof.Reset(s.free, s.requests, nil)
				s.prove(&proof, func() bool { return false }) // releases all
				return s.count(func(int) {}, func() bool {
					proof.Choose(s.set)
					return infeasible(&proof)
				})
			}, func() int {
				s.ask(func(*vector.Matrix) bool { return false })
				return s.count(func(i int) {
					if s.set.Test(i) {
						testkit.Check(s.overlay.AddToRow(s.rows[i], s.amounts[i]))
					} else {
						testkit.Check(s.overlay.SubFromRow(s.rows[i], s.amounts[i]))
					}
				}, func() bool { return s.infeasible(&packer, s.overlay.Matrix()) })
			})
		})
	}
}

type scenarios struct {
	eviction
	flips [][chosenFlips]int // the victims that go or come back
	set   *vector.Mask
}

func newScenarios(shapes int) *scenarios {
	s := &scenarios{eviction: *newEviction(shapes, "places"), set: vector.NewMask(proofReleases)}
	r := random(uint64(shapes))
	for range proofReleases {
		var flips [chosenFlips]int
		for k := range flips {
			flips[k] = r.IntN(proofReleases)
		}
		s.flips = append(s.flips, flips)
	}
	v := make(vector.ResourceVector, packCols)
	tight := map[int]float64{1: 0.92, 2: 0.92, 4: 0.97, 64: 1.02} // some scenarios have places for all
	for i := range proofMembers {
		for j, x := range s.requests.Row(nil, i) {
			v[j] = float64(int(x * tight[shapes]))
		}
		s.requests.SetRow(i, v)
	}
	return s
}

// count goes through the scenarios and returns in how many the gang is impossible. change
// hears of each victim that goes or comes back.
func (s *scenarios) count(change func(i int), infeasible func() bool) (impossible int) {
	s.set.SetAll()
	for _, flips := range s.flips {
		for _, i := range flips {
			if s.set.Test(i) {
				s.set.Clear(i)
			} else {
				s.set.Set(i)
			}
			change(i)
		}
		if infeasible() {
			impossible++
		}
	}
	return impossible
}
