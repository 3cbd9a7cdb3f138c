package gang_test

import (
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// manyKinds returns a gang of members that all request something else, and rows of
// which row i holds member i and nothing more. One of the victims, which come in
// another order, makes that room on each row.
func manyKinds(members int) packCase {
	const cols = 3
	r := testkit.Rand(uint64(members))
	c := packCase{
		free:     vector.NewMatrix(none, members, cols),
		requests: vector.NewMatrix(none, members, cols),
		victims:  victimList{Rows: make([]int32, members), Amounts: vector.NewMatrix(none, members, cols)},
	}
	for i := range members {
		c.requests.SetRow(i, vec{float64(1000 + i), float64(500 + r.IntN(400)), 1})
	}
	for to, from := range r.Perm(members) {
		c.victims.Rows[to] = int32(from)
		c.victims.Amounts.SetRow(to, c.requests.Row(nil, from))
	}
	return c
}

// A gang of many kinds is not compared with everything, and what is proved about
// it holds all the same: it fits with all victims gone, and with one less it
// lacks a place for somebody.
func TestInfeasibleManyKinds(t *testing.T) {
	for _, members := range []int{31, 32, 33, 64, 65, 200} {
		c := manyKinds(members)
		p := gang.NewPacker(gang.Options{})
		rejected := func(after *vector.Matrix) bool {
			_, infeasible := p.Infeasible(after, c.requests, nil, nil)
			return infeasible
		}
		if after := released(c.free, c.victims, members); rejected(after) {
			t.Errorf("%d members: rejected, and each has a row of its own", members)
		}
		bound := goldenPrefix(c.free, c.victims, func(after *vector.Matrix) bool { return !rejected(after) })
		got, err := p.Filter(nil, vector.NewOverlay(c.free), c.requests, nil, nil, c.victims.all())
		if err != nil || bound != members || got.LowerBound != bound {
			t.Errorf("%d members: lower bound %d, %v; Infeasible rejects up to %d", members, got.LowerBound, err, bound)
		}

		// Room enough for the sums, in rows that hold nobody who requests most.
		roomy := vector.NewMatrix(none, 2*members, 3)
		for i := range roomy.Rows() {
			roomy.SetRow(i, vec{float64(1000 + members - 2), 2000, 1})
		}
		why, infeasible := p.Infeasible(roomy, c.requests, nil, nil)
		if want := (gang.Infeasibility{
			Reason: gang.InfeasibleMember, Column: 0, Member: members - 1,
			Needed: float64(1000 + members - 1), Available: float64(1000 + members - 2),
		}); !infeasible || why != want {
			t.Errorf("%d members: %+v, want %+v", members, why, want)
		}

		// One row fewer than members who need a row for themselves.
		roomy.Resize(members - 1)
		for i := range roomy.Rows() {
			roomy.SetRow(i, vec{1999, 1500, 9})
		}
		if why, _ := p.Infeasible(roomy, c.requests, nil, nil); why.Reason != gang.InfeasibleCopies {
			t.Errorf("%d members: %+v", members, why)
		}
	}
}
