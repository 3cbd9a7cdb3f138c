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
			overlay := vector.NewOverlay(s.free)
			if got, want := s.choose(&proof), s.change(&packer, overlay); got != want || got == 0 || got == proofReleases {
				b.Fatalf("impossible in %d scenarios, anew in %d", got, want)
			} else {
				b.Logf("impossible in %d", got)
			}
			measureProof(b, func() { s.choose(&proof) }, func() { s.change(&packer, overlay) })
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

// choose returns in how many scenarios the gang is impossible.
func (s *scenarios) choose(p *gang.Proof) (impossible int) {
	p.Reset(s.free, s.requests, nil)
	for i, row := range s.rows {
		testkit.Check(p.Release(row, s.amounts[i]))
		s.set.Set(i)
	}
	for _, flips := range s.flips {
		for _, i := range flips {
			if s.set.Test(i) {
				s.set.Clear(i)
			} else {
				s.set.Set(i)
			}
		}
		p.Choose(s.set)
		if _, infeasible := p.Infeasible(); infeasible {
			impossible++
		}
	}
	return impossible
}

// change is choose anew.
func (s *scenarios) change(p *gang.Packer, o *vector.Overlay) (impossible int) {
	o.Rollback(vector.Mark{})
	for i, row := range s.rows {
		testkit.Check(o.AddToRow(row, s.amounts[i]))
		s.set.Set(i)
	}
	for _, flips := range s.flips {
		for _, i := range flips {
			var err error
			if s.set.Test(i) {
				s.set.Clear(i)
				err = o.SubFromRow(s.rows[i], s.amounts[i])
			} else {
				s.set.Set(i)
				err = o.AddToRow(s.rows[i], s.amounts[i])
			}
			if err != nil {
				panic(err)
			}
		}
		if _, infeasible := p.Infeasible(o.Matrix(), s.requests, nil); infeasible {
			impossible++
		}
	}
	return impossible
}
