package gang_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// someDomains returns random sets of rows, which overlap and may be empty.
func someDomains(r *rand.Rand, rows int) *gang.Domains {
	d := new(gang.Domains)
	sets := r.IntN(5)
	if sets > 0 || r.IntN(2) == 0 {
		d.Offsets = append(d.Offsets, 0)
	}
	for range sets {
		part := r.IntN(4)
		for row := range rows {
			if r.IntN(4) >= part {
				d.Rows = append(d.Rows, int32(row))
			}
		}
		d.Offsets = append(d.Offsets, int32(len(d.Rows)))
	}
	return d
}

// maskOfDomain returns the rows of a set that are eligible.
func maskOfDomain(d *gang.Domains, k, rows int, eligible *vector.Mask) *vector.Mask {
	m := vector.NewMask(rows)
	for _, r := range d.Rows[d.Offsets[k]:d.Offsets[k+1]] {
		if eligible == nil || eligible.Test(int(r)) {
			m.Set(int(r))
		}
	}
	return m
}

// checkDomains compares the answers for sets of rows with a loop over
// masks.
func checkDomains(t testing.TB, p, other *gang.Packer, search gang.Search, c packCase, d *gang.Domains) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\ndomains %v\nfree %v\nrequests %v\nrows %v\nvictims %v of %v", append(args, d,
			contents(c.free), contents(c.requests), c.rows, contents(c.victims.Amounts), c.victims.Rows)...)
	}
	masks := make([]*vector.Mask, max(len(d.Offsets)-1, 0))
	for k := range masks {
		masks[k] = maskOfDomain(d, k, c.free.Rows(), c.rows)
	}
	first := func(free *vector.Matrix) int { // that is not infeasible
		return slices.IndexFunc(masks, func(m *vector.Mask) bool {
			_, infeasible := other.Infeasible(free, c.requests, m, nil)
			return !infeasible
		})
	}
	why, infeasible := p.Infeasible(c.free, c.requests, c.rows, d)
	checkNearest(fail, other, c.free, c.requests, masks, c.spread, why, infeasible, first(c.free))

	place := func(free *vector.Matrix) ([]int32, int) {
		for k, m := range masks {
			if placement, _, ok := other.Place(nil, free, c.requests, m, nil); ok {
				return placement, k
			}
		}
		return nil, -1
	}
	placement, domain, _ := p.Place(nil, c.free, c.requests, c.rows, d)
	if want, wanted := place(c.free); domain != wanted || !slices.Equal(placement, want) {
		fail("Place: %v in %d, want %v in %d", placement, domain, want, wanted)
	}

	taken := 0
	got, err := p.Filter(nil, vector.NewOverlay(c.free), c.requests, c.rows, d, counting(c.victims.all(), &taken))
	if err != nil {
		fail("Filter: %v", err)
	}
	bound := goldenPrefix(c.free, c.victims, func(after *vector.Matrix) bool { return first(after) >= 0 })
	if bound < 0 {
		all := released(c.free, c.victims, len(c.victims.Rows))
		if got.Prefix != -1 || got.LowerBound != len(c.victims.Rows)+1 || taken != len(c.victims.Rows) {
			fail("infeasible to the end: %+v", got)
		}
		checkNearest(fail, other, all, c.requests, masks, c.spread, got.Infeasible, true, -1)
		if got.Domain != got.Infeasible.Domain {
			fail("Filter: %+v", got)
		}
		return
	}
	if got.LowerBound != bound || got.Infeasible.Reason != gang.NotProved {
		fail("Filter: %+v, want the lower bound %d", got, bound)
	}
	places := func(after *vector.Matrix) bool { _, k := place(after); return k >= 0 }
	want := goldenPrefix(c.free, c.victims, places)
	switch {
	case search == gang.SearchBound && want != bound:
		want = -1
	case search == gang.SearchBisect && got.Prefix >= 0: // any prefix that begins to work
		if want = got.Prefix; want > bound && places(released(c.free, c.victims, want-1)) {
			fail("Filter: prefix %d, but %d is enough", want, want-1)
		}
	}
	if got.Prefix != want {
		fail("Filter: %+v, want prefix %d", got, want)
	}
	if last := max(got.Prefix, bound); (search != gang.SearchBisect || c.golden().exact()) &&
		taken != last && !(want < 0 && search == gang.SearchLinear) {
		fail("%d victims taken for %+v", taken, got)
	}
	if got.Prefix < 0 {
		if got.Domain != -1 || len(got.Placement) != 0 {
			fail("Filter: %+v", got)
		}
		return
	}
	wantPlacement, wantDomain := place(released(c.free, c.victims, want))
	if got.Domain != wantDomain || !slices.Equal(got.Placement, wantPlacement) {
		fail("Filter: %+v, want %v in %d", got, wantPlacement, wantDomain)
	}
}

// checkNearest compares an answer about all sets with the answers for each.
func checkNearest(fail func(string, ...any), p *gang.Packer, free, requests *vector.Matrix, masks []*vector.Mask, spread gang.Spread, why gang.Infeasibility, infeasible bool, first int) {
	domain := why.Domain
	if infeasible != (first < 0) || !infeasible && why != (gang.Infeasibility{Domain: first}) {
		fail("%v, %+v; the first set that is not infeasible is %d", infeasible, why, first)
	}
	if !infeasible {
		return
	}
	if (domain < 0) != (len(masks) == 0) {
		fail("set %d of %d is closest", domain, len(masks))
	}
	if domain < 0 {
		return
	}
	if want, _ := p.Infeasible(free, requests, masks[domain], nil); fmt.Sprint(why) != fmt.Sprint(in(domain, want)) {
		fail("set %d: %+v, want %+v", domain, why, want)
	}
	for k, m := range masks {
		if goldenIdentical := newGoldenGang(requests); goldenIdentical.identical && spread.Skew == 0 {
			most := func(m *vector.Mask) int64 { return goldenPlaces(spread, free, goldenIdentical.requested[0], m) }
			if here, there := most(m), most(masks[domain]); here > there || here == there && k < domain {
				fail("set %d with %d places is closest, and %d has %d", domain, there, k, here)
			}
			continue
		} else if goldenIdentical.counted() {
			continue
		}
		other, _ := p.Infeasible(free, requests, m, nil)
		if why.Reason == gang.InfeasibleAggregate && (other.Reason != why.Reason || other.Column > why.Column ||
			other.Column == why.Column && (other.Available > why.Available || other.Available == why.Available && k < domain)) {
			fail("set %d is closest with %+v, and %d has %+v", domain, why, k, other)
		}
	}
}

// in returns why with a set that it is about.
func in(set int, why gang.Infeasibility) gang.Infeasibility {
	why.Domain = set
	return why
}

// counting counts the victims that are taken.
func counting(victims iter.Seq2[int, vec], taken *int) iter.Seq2[int, vec] {
	return func(yield func(int, vec) bool) {
		for row, amounts := range victims {
			*taken++
			if !yield(row, amounts) {
				return
			}
		}
	}
}

// inPackers returns pairs of equal packers.
func inPackers(total vec) (pairs [][2]*gang.Packer) {
	for k := range 12 {
		options := gang.Options{
			Total: total, ByDominantShare: k%2 == 1, Search: gang.Search(k % 3), Restarts: k % 4, Seed: uint64(k),
		}
		if k >= 4 {
			options.BestFit = []vector.Tie{vector.TieLowest(), vector.TieSeeded(5)}[k/2%2]
		}
		pairs = append(pairs, [2]*gang.Packer{gang.NewPacker(options), gang.NewPacker(options)})
	}
	return pairs
}

func TestPackerInDomains(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		smallCases(11, testkit.Amount(t, 600, 2000, 6000), inPackers, func(r *rand.Rand, k int, pair [2]*gang.Packer, c packCase) {
			checkDomains(t, pair[0], pair[1], gang.Search(k%3), c, someDomains(r, c.free.Rows()))
		})
	})
}

func FuzzPackerIn(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed, options uint64) {
		r := testkit.Rand(seed)
		c := smallCase(r, seed%3 == 0)
		all := inPackers(vec{12, 13, 14}[:c.free.Cols()])
		k := int(options % uint64(len(all)))
		checkDomains(t, all[k][0], all[k][1], gang.Search(k%3), c, someDomains(r, c.free.Rows()))
	})
}

// TestPackerInManyDomains: hundreds of rows in sets that share blocks of 64 rows.
func TestPackerInManyDomains(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 1, 1, 3)) {
		for _, kinds := range []int{1, 2, 4} {
			c := manyRows(seed, true)
			for i := range c.requests.Rows() {
				v := c.requests.Row(nil, i)
				switch {
				case kinds == 2 && i == 7, kinds == 4 && i%4 > 0:
					v[i%4] -= 40
					c.requests.SetRow(i, v)
				}
			}
			c.victims.Rows = c.victims.Rows[:900]
			amounts := vector.NewMatrix(none, 900, 5)
			for i := range 900 {
				amounts.SetRow(i, c.victims.Amounts.Row(nil, i))
			}
			c.victims.Amounts = amounts
			r := testkit.Rand(seed)
			var rows []vec // sets by which part of the rows they have
			for k := range 14 {
				rows = append(rows, nil)
				for row := range c.free.Rows() {
					if row%13 == k || k == 13 && r.IntN(40) == 0 {
						rows[k] = append(rows[k], float64(row))
					}
				}
			}
			d := &gang.Domains{Offsets: vector.Offsets{0}}
			for _, set := range rows {
				for _, row := range set {
					d.Rows = append(d.Rows, int32(row))
				}
				d.Offsets = append(d.Offsets, int32(len(d.Rows)))
			}
			requests := vector.NewMatrix(none, 6, 5)
			for i := range 6 {
				requests.SetRow(i, c.requests.Row(nil, i+3))
			}
			c.requests = requests
			zones := &gang.Domains{Offsets: vector.Offsets{0}} // 25 rows each, and the last rows are in none
			for row := range int32(680) {
				if zones.Rows = append(zones.Rows, row); row%25 == 24 {
					zones.Offsets = append(zones.Offsets, row+1)
				}
			}
			spreads := []gang.Spread{{}, {Most: 1}, {Most: 2, Skew: 1, Domains: zones}}
			for k, pair := range inPackers(vec{100, 100, 100, 100, 100}) {
				if k%5 == int(seed) {
					c.spread = spreads[k%len(spreads)]
					setSpread(t, c.spread, pair[:]...)
					checkDomains(t, pair[0], pair[1], gang.Search(k%3), c, d)
				}
			}
		}
	}
}

// TestPackerInTurns: the cursor of a round-robin tie moves as in a loop over masks.
func TestPackerInTurns(t *testing.T) {
	free := matrixOf(1, vec{4}, vec{4}, vec{4}, vec{4}, vec{4}, vec{4})
	requests := matrixOf(1, vec{3}, vec{2}, vec{2})
	d := &gang.Domains{Rows: []int32{0, 1, 2, 3, 5}, Offsets: vector.Offsets{0, 1, 5}}
	for start := range 8 {
		cursor := start
		p := gang.NewPacker(gang.Options{Total: vec{10}, BestFit: vector.TieRoundRobin(&cursor)})
		got, domain, _ := p.Place(nil, free, requests, nil, d)
		after := cursor
		cursor = start
		want, _, _ := p.Place(nil, free, requests, maskOf(6, 1, 2, 3, 5), nil)
		if domain != 1 || !slices.Equal(got, want) || after != cursor {
			t.Errorf("from %d: %v in %d and cursor %d, want %v and %d", start, got, domain, after, want, cursor)
		}
	}
}
