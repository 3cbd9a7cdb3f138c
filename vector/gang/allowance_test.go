package gang_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// goldenGoing returns which victims go, in their order. set says in which set a row is, -1
// for none.
func goldenGoing(b gang.Budgets, victims victimList, set func(row int32) int) []bool {
	goes := make([]bool, len(victims.Rows))
	passed := make(map[int]bool) // victims
	for i, row := range victims.Rows {
		if set(row) < 0 {
			continue
		}
		owner := ownerOf(b, i)
		if goes[i] = true; owner < 0 {
			continue
		}
		same := func(k int) bool { return ownerOf(b, k) == owner && set(victims.Rows[k]) == set(row) }
		sum, anyPassed := make(vec, victims.Amounts.Cols()), false
		for k := range i {
			if goes[k] && same(k) {
				if anyPassed = anyPassed || passed[k]; !passed[k] {
					sum.Add(victims.Amounts.Row(nil, k))
				}
			}
		}
		sum.Add(victims.Amounts.Row(nil, i))
		if !sum.LessEqual(b.Limits.Row(nil, owner)) {
			goes[i], passed[i] = b.LastMayPass && !anyPassed, true
		}
	}
	return goes
}

func ownerOf(b gang.Budgets, i int) int {
	if i < len(b.Owners) {
		return int(b.Owners[i])
	}
	return -1
}

// someBudgets returns random budgets for so many victims.
func someBudgets(r *rand.Rand, scale func(r *rand.Rand, x float64) float64, cols, victims int) gang.Budgets {
	s := &budgetStory{r: r, scale: scale}
	b := gang.Budgets{Limits: vector.NewMatrix(none, 1+r.IntN(3), cols), LastMayPass: r.IntN(2) == 0}
	for owner := range b.Limits.Rows() {
		v := make(vec, cols)
		for j := range v {
			if v[j] = s.amount(7); r.IntN(4) == 0 {
				v[j] = inf
			}
		}
		b.Limits.SetRow(owner, v)
	}
	for range r.IntN(victims + 2) {
		b.Owners = append(b.Owners, int32(r.IntN(b.Limits.Rows()+1)-1))
	}
	return b
}

// TestFilterLimits compares filters with budgets with the definition: what the victims that go
// make room for, and all permitted sets of them.
func TestFilterLimits(t *testing.T) {
	all := packers(vec{9})
	all = append(all, gang.NewPacker(gang.Options{Search: gang.SearchLinear}), gang.NewPacker(gang.Options{Search: gang.SearchBound}))
	proved, feasible, later := 0, 0, 0
	for seed := range uint64(testkit.Amount(t, 300, 2000, 20000)) {
		r := testkit.Rand(seed)
		c := smallCase(r, r.IntN(2) == 0)
		n := len(c.victims.Rows)
		b := someBudgets(r, amountKinds[r.IntN(2)].scale, c.free.Cols(), n)
		var domains *gang.Domains
		if r.IntN(2) == 0 {
			domains = someDomains(r, c.free.Rows())
		}
		p := all[r.IntN(len(all))]
		testkit.Check(p.Limit(b))
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: "+format+"\ndomains %v\nfree %v\nrequests %v\nrows %v\nvictims %v of %v\nbudgets %v %+v", append(append([]any{seed}, args...),
				domains, contents(c.free), contents(c.requests), c.rows, contents(c.victims.Amounts), c.victims.Rows, contents(b.Limits), b)...)
		}
		masks := []*vector.Mask{c.rows}
		if domains != nil {
			masks = masks[:0]
			for k := range max(len(domains.Offsets)-1, 0) {
				masks = append(masks, maskOfDomain(domains, k, c.free.Rows(), c.rows))
			}
		}
		o := vector.NewOverlay(c.free)
		var got gang.Scenario
		var err error
		if domains == nil {
			got, err = p.Filter(nil, o, c.requests, c.rows, nil, c.victims.all())
		} else {
			got, err = p.Filter(nil, o, c.requests, c.rows, domains, c.victims.all())
		}
		if err != nil {
			fail("%v", err)
		}
		for j := range c.free.Cols() {
			if !sameBits(o.Matrix().Column(j), c.free.Column(j)) {
				fail("the overlay is not rolled back in column %d", j)
			}
		}

		// No permitted set of a shorter prefix makes room.
		golden := newGoldenGang(c.requests)
		story := &budgetStory{t: t, c: c, budgets: b}
		for i, row := range c.victims.Rows {
			m := budgetMove{owner: ownerOf(b, i), row: int(row), amounts: c.victims.Amounts.Row(nil, i)}
			story.moves = append(story.moves, m)
		}
		permitted := story.permitted
		for set := range 1 << max(got.LowerBound-1, 0) {
			if got.LowerBound == 0 {
				break
			}
			chosen := func(i int) bool { return set>>i&1 != 0 }
			if !permitted(chosen) {
				continue
			}
			for k, m := range masks {
				if golden.placeable(story.now(chosen), m) {
					fail("%+v: but %b makes room in set %d", got, set, k)
				}
			}
		}
		if (got.Infeasible.Reason != gang.NotProved) != (got.LowerBound == n+1) && len(masks) > 0 || got.Prefix > n {
			fail("inconsistent %+v", got)
		}
		if got.LowerBound == n+1 {
			proved++
		}

		// The victims that go are permitted and make room, and those of shorter prefixes don't
		// where that is exact.
		set := func(row int32) int {
			at := -1
			for k, m := range masks {
				if m == nil || m.Test(int(row)) {
					if at < 0 {
						at = k
					}
				}
			}
			return at
		}
		overlap := false
		for row := range c.free.Rows() {
			in := 0
			for _, m := range masks {
				if domains != nil && m.Test(row) {
					in++
				}
			}
			overlap = overlap || in > 1
		}
		if overlap {
			set = func(row int32) int {
				if slices.ContainsFunc(masks, func(m *vector.Mask) bool { return m.Test(int(row)) }) {
					return 0
				}
				return -1
			}
		}
		goes := goldenGoing(b, c.victims, set)
		if got.Prefix >= 0 {
			feasible++
			chosen := func(i int) bool { return slices.Contains(got.Victims, int32(i)) }
			var want []int32
			for i, g := range goes[:got.Prefix] {
				if m := masks[got.Domain]; g && (m == nil || m.Test(int(c.victims.Rows[i]))) {
					want = append(want, int32(i))
				}
			}
			if !slices.Equal(got.Victims, want) || !permitted(chosen) {
				fail("%+v: want victims %v", got, want)
			}
			if !golden.fits(story.now(chosen), masks[got.Domain], got.Placement) || got.LowerBound > got.Prefix {
				fail("invalid %+v", got)
			}
			if got.Prefix > got.LowerBound {
				later++
			}
		}
		if golden.exact() {
			least := -1
			for prefix := 0; prefix <= n && least < 0; prefix++ {
				after := story.now(func(i int) bool { return i < prefix && goes[i] })
				if slices.ContainsFunc(masks, func(m *vector.Mask) bool { return golden.placeable(after, m) }) {
					least = prefix
				}
			}
			if bound := p == all[len(all)-1]; bound && least != got.LowerBound {
				least = -1 // it takes no victim after the lower bound
			}
			if got.Prefix != least {
				fail("%+v, want prefix %d", got, least)
			}
		}
		testkit.Check(p.Limit(gang.Budgets{}))
	}
	t.Logf("%d proved, %d feasible, %d of them after the lower bound", proved, feasible, later)
	if proved == 0 || feasible == 0 || later == 0 {
		t.Error("too few of a kind")
	}
}

func TestPackerLimit(t *testing.T) {
	free := matrixOf(1, vec{1}, vec{0}, vec{4})
	requests := matrixOf(1, vec{4}, vec{4}, vec{4})
	victims := victimList{Rows: []int32{0, 0, 1, 1}, Amounts: matrixOf(1, vec{2}, vec{1}, vec{3}, vec{1})}
	limits := matrixOf(1, vec{3}, vec{inf})
	var p gang.Packer
	for _, test := range []struct {
		name string
		b    gang.Budgets
		want string
	}{
		{"none", gang.Budgets{}, "4 of [] from 4, not proved"},
		{"within the limits", gang.Budgets{Limits: limits, Owners: []int32{0, 0, 1, 1}}, "4 of [0 1 2 3] from 4, not proved"},
		{"too little", gang.Budgets{Limits: limits, Owners: []int32{0, 0, 0, 1}}, "-1 of [] from 5, budget"},
		{"the last may pass", gang.Budgets{Limits: limits, LastMayPass: true, Owners: []int32{0, 0, 0, 1}}, "4 of [0 1 2 3] from 4, not proved"},
		{"no owner", gang.Budgets{Limits: limits, Owners: []int32{0, 0, -1}}, "4 of [0 1 2 3] from 4, not proved"},
	} {
		testkit.Check(p.Limit(test.b))
		s, err := p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, victims.all())
		if got := fmt.Sprintf("%d of %v from %d, %v", s.Prefix, s.Victims, s.LowerBound, s.Infeasible.Reason); err != nil || got != test.want {
			t.Errorf("%s: %s, %v, want %s", test.name, got, err, test.want)
		}
	}
	for _, test := range []struct {
		b     gang.Budgets
		want  string
		cause error
	}{
		{gang.Budgets{Limits: matrixOf(1, vec{1}, vec{-1})}, "limits: row 1: column 0: amount -1 is negative: want 0 or more", vector.ErrNegative},
		{gang.Budgets{Limits: limits, Owners: []int32{0, 2}}, "limits: victim 1: no owner 2 among 2: vector: shapes differ", vector.ErrShape},
		{gang.Budgets{Limits: limits, Owners: []int32{-2}}, "limits: victim 0: no owner -2 among 2: vector: shapes differ", vector.ErrShape},
	} {
		if err := p.Limit(test.b); err == nil || err.Error() != test.want || !errors.Is(err, test.cause) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if s, err := p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, victims.all()); err != nil || len(s.Victims) != 4 {
		t.Errorf("after errors: %+v, %v", s, err)
	}
	_, err := p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, victimList{Rows: []int32{0, 3}, Amounts: matrixOf(1, vec{2}, vec{1})}.all())
	if err == nil || err.Error() != "victim 1: no row 3 among 3: vector: shapes differ" {
		t.Error(err)
	}
	top := testkit.Must(gang.NewTopology("rack"))
	testkit.Check(p.Limit(gang.Budgets{Limits: matrixOf(2, vec{1})}))
	const widths = "gang: matrices have different widths"
	wantPanic(t, widths, func() { p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, nil) })
	wantPanic(t, widths, func() {
		p.FilterTopology(gang.TopologyPlacement{}, vector.NewOverlay(free), gang.TopologyRequest{Count: 1, Request: vec{1}}, nil, top, nil)
	})
}

// TestTopologyLimits compares FilterTopology with budgets with placing anew after the victims
// that go.
func TestTopologyLimits(t *testing.T) {
	var p, other gang.Packer
	var got gang.TopologyPlacement
	found := 0
	for seed := range uint64(testkit.Amount(t, 300, 2000, 20000)) {
		r := testkit.Rand(seed)
		rows := 1 + r.IntN(6)
		free := vector.NewMatrix(none, rows, 1)
		top := testkit.Must(gang.NewTopology("rack"))
		rack := make([]int, rows)
		for row := range rows {
			free.SetRow(row, vec{float64(r.IntN(3))})
			rack[row] = r.IntN(4) - 1
			testkit.Check(top.Set(row, fmt.Sprint(row), fmt.Sprint(rack[row])))
			if rack[row] < 0 {
				top.Unset(row)
			}
		}
		victims := victimList{Amounts: vector.NewMatrix(none, 0, 1)}
		for range r.IntN(10) {
			victims.Rows = append(victims.Rows, int32(r.IntN(rows)))
			victims.Amounts.AppendRow(vec{float64(r.IntN(4))})
		}
		b := someBudgets(r, amountKinds[0].scale, 1, len(victims.Rows))
		request := gang.TopologyRequest{Count: 1 + r.IntN(5), Request: vec{float64(1 + r.IntN(2))}, Reprieve: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			request.Required = "rack"
		}
		set := func(row int32) int {
			if rack[row] >= 0 && request.Required == "" {
				return 0
			}
			return rack[row]
		}
		goes := goldenGoing(b, victims, set)
		placed := func(goes func(i int) bool) bool {
			after := vector.NewOverlay(free)
			for i, row := range victims.Rows {
				if goes(i) {
					testkit.Check(after.AddToRow(int(row), victims.Amounts.Row(nil, i)))
				}
			}
			answer, err := other.PlaceTopology(gang.TopologyPlacement{}, after.Matrix(), request, nil, top)
			return err == nil && answer.Fits
		}
		want := -1
		for n := 0; n <= len(goes) && want < 0; n++ {
			if placed(func(i int) bool { return i < n && goes[i] }) {
				want = n
			}
		}
		testkit.Check(p.Limit(b))
		got = testkit.Must(p.FilterTopology(got, vector.NewOverlay(free), request, nil, top, victims.all()))
		gone := func(i int) bool { return slices.Contains(got.Victims, int32(i)) }
		sound := true
		for _, v := range got.Victims {
			sound = sound && goes[v] && int(v) < want
			if request.Reprieve {
				sound = sound && !placed(func(i int) bool { return i != int(v) && gone(i) })
			}
		}
		if got.Prefix != want || got.Fits != (want >= 0) || !got.Fits && len(got.Victims) > 0 || !sound || got.Fits && !placed(gone) {
			t.Fatalf("seed %d: %+v, want prefix %d\nfree %v\nracks %v\nvictims %v of %v\nbudgets %v %+v\ngo %v\nrequest %+v", seed, got, want,
				contents(free), rack, contents(victims.Amounts), victims.Rows, contents(b.Limits), b, goes, request)
		}
		if want > 0 {
			found++
		}
	}
	if found == 0 {
		t.Error("no prefix was ever needed")
	}
}

func TestLimitAllocations(t *testing.T) {
	c := manyRows(1, true)
	limits := vector.NewMatrix(none, 50, c.free.Cols())
	for owner := range limits.Rows() {
		limits.SetRow(owner, vec{4000, 4000, 4000, 4000, 4000})
	}
	b := gang.Budgets{Limits: limits, Owners: make([]int32, len(c.victims.Rows))}
	for i := range b.Owners {
		b.Owners[i] = int32(i % 50)
	}
	racks := racksOf(c.free.Rows(), 350)
	victims, o := c.victims.prepared(), vector.NewOverlay(c.free)
	var p gang.Packer
	var dst []int32
	story := func() {
		_ = p.Limit(b)
		s, _ := p.Filter(dst, o, c.requests, c.rows, nil, victims)
		dst = s.Placement
		s, _ = p.Filter(dst, o, c.requests, c.rows, racks, victims)
		dst = s.Placement
	}
	story()
	wantNoAllocations(t, 2, story)
}
