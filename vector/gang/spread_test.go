package gang_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// goldenApart reports whether no set takes too many members.
func goldenApart(s gang.Spread, rows int, placement []int32) bool {
	sets := setsOf(s, rows)
	members, pods := make([]int, len(sets)), make([]int, len(sets))
	for set, rows := range sets {
		for _, r := range placement {
			if slices.Contains(rows, r) {
				members[set]++
			}
		}
		pods[set] = members[set]
		if s.Running != nil {
			pods[set] += s.Running[set]
		}
	}
	for set := range sets {
		if members[set] > 0 && (s.Most > 0 && pods[set] > s.Most || s.Skew > 0 && pods[set]-slices.Min(pods) > s.Skew) {
			return false
		}
	}
	return true
}

// setsOf returns the rows of each set.
func setsOf(s gang.Spread, rows int) (sets [][]int32) {
	if s.Domains == nil {
		for r := range int32(rows) {
			sets = append(sets, []int32{r})
		}
		return sets
	}
	for set := 0; set+1 < len(s.Domains.Offsets); set++ {
		sets = append(sets, s.Domains.Rows[s.Domains.Offsets[set]:s.Domains.Offsets[set+1]])
	}
	return sets
}

// goldenPlaces returns how many members alike the selected rows hold.
func goldenPlaces(s gang.Spread, free *vector.Matrix, request vec, rows *vector.Mask) int64 {
	if s.Most == 0 {
		return vector.SumCopies(free, request, rows)
	}
	sets := setsOf(s, free.Rows())
	sums, places := make([]int64, len(sets)), int64(0)
	for r := range free.Rows() {
		copies := min(request.CopiesFit(free.Row(nil, r)), 1000)
		set := slices.IndexFunc(sets, func(rows []int32) bool { return slices.Contains(rows, int32(r)) })
		switch {
		case rows != nil && !rows.Test(r):
		case set < 0:
			places += copies
		default:
			sums[set] += copies
		}
	}
	for set, n := range sums {
		room := int64(s.Most)
		if s.Running != nil {
			room = max(room-int64(s.Running[set]), 0)
		}
		places += min(n, room)
	}
	return places
}

// someSpread returns a random Spread over so many rows.
func someSpread(r *rand.Rand, rows int) gang.Spread {
	s := gang.Spread{Most: r.IntN(4), Skew: max(r.IntN(4)-1, 0)}
	sets := rows
	if r.IntN(3) > 0 { // rows in one of some sets, or in none
		sets = r.IntN(min(rows, 12) + 2)
		s.Domains = &gang.Domains{Offsets: vector.Offsets{0}}
		in := make([]int, rows)
		for row := range in {
			in[row] = r.IntN(sets+1) - r.IntN(2)
		}
		for set := range sets {
			for row, x := range in {
				if x == set {
					s.Domains.Rows = append(s.Domains.Rows, int32(row))
				}
			}
			s.Domains.Offsets = append(s.Domains.Offsets, int32(len(s.Domains.Rows)))
		}
	}
	if r.IntN(2) == 0 {
		s.Running = make([]int, sets)
		for set := range s.Running {
			s.Running[set] = r.IntN(3)
		}
	}
	return s
}

func setSpread(t testing.TB, s gang.Spread, packers ...*gang.Packer) {
	t.Helper()
	for _, p := range packers {
		testkit.Check(p.Spread(s))
	}
}

// TestSpreadAgainstExhaustiveSearch: what is called impossible is, every placement keeps the
// members apart, and the answers are exact for members that are counted.
func TestSpreadAgainstExhaustiveSearch(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		smallCases(21, testkit.Amount(t, 600, 4000, 20000), packers, func(r *rand.Rand, k int, p *gang.Packer, c packCase) {
			c.spread = someSpread(r, c.free.Rows())
			setSpread(t, c.spread, p)
			checkCase(t, p, k%2 == 1, c)
		})
	})
}

// TestSpreadInDomains: each set by itself gives the same answers.
func TestSpreadInDomains(t *testing.T) {
	smallCases(22, testkit.Amount(t, 600, 4000, 20000), inPackers, func(r *rand.Rand, k int, pair [2]*gang.Packer, c packCase) {
		c.spread = someSpread(r, c.free.Rows())
		setSpread(t, c.spread, pair[:]...)
		checkDomains(t, pair[0], pair[1], gang.Search(k%3), c, someDomains(r, c.free.Rows()))
	})
}

// TestSpreadClosest: closest is the rack that holds the most workers beside the leader. Zones reach
// over racks, and each takes two members: the first rack holds two workers and no leader.
func TestSpreadClosest(t *testing.T) {
	var p gang.Packer
	zones := &gang.Domains{Rows: []int32{0, 2, 4, 1, 3, 5}, Offsets: vector.Offsets{0, 3, 6}}
	testkit.Check(p.Spread(gang.Spread{Most: 2, Domains: zones}))
	free := matrixOf(1, vec{1}, vec{1}, vec{3}, vec{0}, vec{0}, vec{0})
	why, infeasible := p.Infeasible(free, matrixOf(1, vec{2}, vec{1}, vec{1}, vec{1}), nil, racksOf(6, 2))
	if !infeasible || why.Domain != 1 {
		t.Errorf("%v, %+v, want rack 1", infeasible, why)
	}
}

func FuzzSpread(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed, options uint64) {
		r := testkit.Rand(seed)
		c := smallCase(r, seed%3 == 0)
		c.spread = someSpread(r, c.free.Rows())
		all := inPackers(vec{12, 13, 14}[:c.free.Cols()])
		k := int(options % uint64(len(all)))
		setSpread(t, c.spread, all[k][:]...)
		checkDomains(t, all[k][0], all[k][1], gang.Search(k%3), c, someDomains(r, c.free.Rows()))
		checkCase(t, all[k][0], false, c)
	})
}

// TestSpread: worked cases. Four rows have room for three members each.
func TestSpread(t *testing.T) {
	free := matrixOf(1, vec{3}, vec{3}, vec{3}, vec{3})
	racks := &gang.Domains{Rows: []int32{0, 1, 2}, Offsets: vector.Offsets{0, 2, 3}} // row 3 is in none
	ones := func(n int) *vector.Matrix {
		m := vector.NewMatrix(none, n, 1)
		for i := range n {
			m.SetRow(i, vec{1})
		}
		return m
	}
	short := func(member int, needed, available float64) gang.Infeasibility {
		return gang.Infeasibility{Reason: gang.InfeasibleSpread, Column: -1, Member: member, Needed: needed, Available: available}
	}
	for _, test := range []struct {
		name      string
		spread    gang.Spread
		requests  *vector.Matrix
		rows      *vector.Mask
		placement []int32
		why       gang.Infeasibility
	}{
		{"no limit", gang.Spread{}, ones(5), nil, []int32{0, 0, 0, 1, 1}, gang.Infeasibility{}},
		{"one a node", gang.Spread{Most: 1}, ones(4), nil, []int32{0, 1, 2, 3}, gang.Infeasibility{}},
		{"one a node, too many", gang.Spread{Most: 1}, ones(5), nil, nil, short(0, 5, 4)},
		{"one a node, too many anyway", gang.Spread{Most: 1}, ones(13), nil, nil,
			gang.Infeasibility{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 13, Available: 12}},
		{"some run already", gang.Spread{Most: 2, Running: []int{2, 1, 0, 7}}, ones(3), nil, []int32{1, 2, 2}, gang.Infeasibility{}},
		{"and one more", gang.Spread{Most: 2, Running: []int{2, 1, 0, 7}}, ones(4), nil, nil, short(0, 4, 3)},
		{"two a rack", gang.Spread{Most: 2, Domains: racks}, ones(7), nil, []int32{0, 0, 2, 2, 3, 3, 3}, gang.Infeasibility{}},
		{"two a rack, too many", gang.Spread{Most: 2, Domains: racks}, ones(8), nil, nil, short(0, 8, 7)},
		{"the row in no rack is not allowed", gang.Spread{Most: 2, Domains: racks}, ones(5), maskOf(4, 0, 1, 2), nil, short(0, 5, 4)},
		{"a rack runs some", gang.Spread{Most: 2, Domains: racks, Running: []int{1, 2}}, ones(4), nil, []int32{0, 3, 3, 3}, gang.Infeasibility{}},
		{"even", gang.Spread{Skew: 1}, ones(6), maskOf(4, 0, 1, 3), nil, short(0, 6, 3)}, // row 2 stays at 0
		{"even in racks", gang.Spread{Skew: 1, Domains: racks}, ones(6), maskOf(4, 0, 1, 2), []int32{0, 2, 0, 2, 0, 2}, gang.Infeasibility{}},
		{"uneven racks", gang.Spread{Skew: 1, Domains: racks, Running: []int{0, 2}}, ones(7), maskOf(4, 0, 1, 2),
			[]int32{0, 0, 0, 2, 1, 2, 1}, gang.Infeasibility{}},
		{"a small rack", gang.Spread{Skew: 1, Domains: racks}, ones(8), maskOf(4, 0, 1, 2), nil, short(0, 8, 7)},
		{"even, and few in each", gang.Spread{Skew: 1, Most: 2, Domains: racks}, ones(5), maskOf(4, 0, 1, 2), nil, short(0, 5, 4)},
		{"members that differ", gang.Spread{Most: 1}, matrixOf(1, vec{1}, vec{2}, vec{1}, vec{2}, vec{3}), nil, nil, short(-1, 5, 4)},
		{"a leader takes a place", gang.Spread{Most: 1}, matrixOf(1, vec{2}, vec{1}, vec{1}, vec{1}, vec{1}), nil, nil, short(-1, 5, 4)},
		{"a leader goes where others may be", gang.Spread{Most: 2, Domains: racks, Running: []int{0, 1}},
			matrixOf(1, vec{3}, vec{1}, vec{1}, vec{1}, vec{1}, vec{1}), nil, []int32{0, 1, 2, 3, 3, 3}, gang.Infeasibility{}},
	} {
		var p gang.Packer
		var proof gang.Proof
		setSpread(t, test.spread, &p)
		proof.Reset(free, test.requests, test.rows)
		testkit.Check(proof.Spread(test.spread))
		why, infeasible := p.Infeasible(free, test.requests, test.rows, nil)
		placement, _, ok := p.Place(nil, free, test.requests, test.rows, nil)
		if test.why != why || infeasible == ok || !slices.Equal(placement, test.placement) {
			t.Errorf("%s: %+v, %v, want %+v, %v", test.name, why, placement, test.why, test.placement)
		}
		if got, _ := proof.Infeasible(); got != why {
			t.Errorf("%s: the proof says %+v, want %+v", test.name, got, why)
		}
	}
}

// TestSpreadErrors: a fault is named, and the Spread stays as it was.
func TestSpreadErrors(t *testing.T) {
	free, requests := matrixOf(1, vec{2}, vec{2}), matrixOf(1, vec{1}, vec{1}, vec{1})
	var p gang.Packer
	var proof gang.Proof
	proof.Reset(free, requests, nil)
	setSpread(t, gang.Spread{Most: 1}, &p)
	testkit.Check(proof.Spread(gang.Spread{Most: 1}))
	shared := &gang.Domains{Rows: []int32{0, 1, 1}, Offsets: vector.Offsets{0, 2, 3}}
	for want, s := range map[string]gang.Spread{
		"gang: spread: Most: got -1, want 0 or more":                    {Most: -1},
		"gang: spread: Running[1]: got -2, want 0 to 2147483647":        {Most: 1, Running: []int{0, -2}},
		"gang: spread: Running: got 1 sets, want 2 as in Domains":       {Most: 1, Running: []int{0}, Domains: shared},
		"gang: spread: Domains: row 1 is in the sets 0 and 1, want one": {Most: 1, Domains: shared},
		"gang: spread: Running: got 2 sets, want 0 as in Domains":       {Most: 1, Running: []int{0, 0}, Domains: &gang.Domains{}},
		"gang: spread: Skew: got -1, want 0 or more":                    {Most: 1, Skew: -1},
		"gang: spread: Most: got -9, want 0 or more":                    {Most: -9, Running: []int{-1}, Domains: shared},
		"gang: spread: Running[0]: got -9, want 0 to 2147483647":        {Running: []int{-9}},
	} {
		for _, err := range []error{p.Spread(s), proof.Spread(s)} {
			if err == nil || err.Error() != want || !errors.Is(err, vector.ErrShape) {
				t.Errorf("%v, want %s", err, want)
			}
		}
		why, _ := p.Infeasible(free, requests, nil, nil)
		same, _ := proof.Infeasible()
		if why.Reason != gang.InfeasibleSpread || same != why {
			t.Errorf("after %s: %+v, %+v", want, why, same)
		}
	}
}

func TestSpreadPanics(t *testing.T) {
	free, requests := matrixOf(1, vec{2}, vec{2}), matrixOf(1, vec{1})
	var p gang.Packer
	var proof gang.Proof
	proof.Reset(free, requests, nil)
	wantPanic(t, "gang: offsets of domains do not ascend within their rows", func() {
		_ = p.Spread(gang.Spread{Most: 1, Domains: &gang.Domains{Offsets: vector.Offsets{0, 1}}})
	})
	wantPanic(t, "gang: rows of a domain do not ascend within the matrix", func() {
		_ = p.Spread(gang.Spread{Most: 1, Domains: &gang.Domains{Rows: []int32{1, 0}, Offsets: vector.Offsets{0, 2}}})
	})
	wantPanic(t, "gang: rows of a domain do not ascend within the matrix", func() { // no int32 counts so many
		_ = p.Spread(gang.Spread{Most: 1, Domains: &gang.Domains{Rows: []int32{math.MaxInt32}, Offsets: vector.Offsets{0, 1}}})
	})
	beyond := gang.Spread{Most: 1, Domains: &gang.Domains{Rows: []int32{2}, Offsets: vector.Offsets{0, 1}}}
	setSpread(t, beyond, &p)
	for _, ask := range []func(){
		func() { p.Infeasible(free, requests, nil, nil) },
		func() { p.Place(nil, free, requests, nil, nil) },
		func() { p.Infeasible(free, requests, nil, &gang.Domains{}) },
		func() { p.Place(nil, free, requests, nil, &gang.Domains{}) },
		func() { _, _ = p.Filter(nil, vector.NewOverlay(free), requests, nil, nil, nil) },
		func() { _ = proof.Spread(beyond) },
	} {
		wantPanic(t, "gang: rows of a domain do not ascend within the matrix", ask)
	}
	for _, running := range [][]int{{1}, {1, 1, 1}} {
		setSpread(t, gang.Spread{Most: 2, Running: running}, &p)
		wantPanic(t, "gang: running pods of another number of rows", func() { p.Infeasible(free, requests, nil, nil) })
		wantPanic(t, "gang: running pods of another number of rows", func() { _ = proof.Spread(gang.Spread{Most: 2, Running: running}) })
	}
	proof.Reset(free, requests, nil)
	_ = proof.Release(0, vec{1})
	wantPanic(t, "gang: spread after a change", func() { _ = proof.Spread(gang.Spread{Most: 1}) })
}

// TestSpreadOfGreatRows: a great number in a list takes no memory for each row before it, and
// rows behind the last set mean nothing.
func TestSpreadOfGreatRows(t *testing.T) {
	if testkit.RaceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	setSpread(t, gang.Spread{Most: 1, Domains: &gang.Domains{Rows: []int32{1 << 28}, Offsets: vector.Offsets{0, 1}}}, new(gang.Packer))
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<26 {
		t.Errorf("%d bytes for one row", after.TotalAlloc-before.TotalAlloc)
	}
	var p gang.Packer
	setSpread(t, gang.Spread{Most: 1, Domains: &gang.Domains{Rows: []int32{0, 1, math.MaxInt32 - 1}, Offsets: vector.Offsets{0, 2}}}, &p)
	if why, _ := p.Infeasible(matrixOf(1, vec{2}, vec{2}), matrixOf(1, vec{1}, vec{1}), nil, nil); why.Reason != gang.InfeasibleSpread {
		t.Errorf("%+v", why)
	}
}

// TestSpreadAfterMark: what held before the Spread says nothing about it.
func TestSpreadAfterMark(t *testing.T) {
	var p gang.Proof
	p.Reset(matrixOf(1, vec{2}, vec{0}), matrixOf(1, vec{1}, vec{1}), nil)
	if _, infeasible := p.Infeasible(); infeasible {
		t.Error("impossible without a Spread")
	}
	mark := p.Mark()
	testkit.Check(p.Spread(gang.Spread{Most: 1}))
	_ = p.Release(1, vec{1})
	if why, infeasible := p.Infeasible(); infeasible {
		t.Errorf("%+v, and each row has a member", why)
	}
	p.Rollback(mark)
	if why, _ := p.Infeasible(); why.Reason != gang.InfeasibleSpread {
		t.Errorf("%+v after the rollback", why)
	}
}

// TestSpreadInTurns: one Packer for gangs with and without, over matrices of any size.
func TestSpreadInTurns(t *testing.T) {
	r := testkit.Rand(23)
	var p gang.Packer
	for range testkit.Amount(t, 100, 300, 2000) {
		rows := 1 + r.IntN(200)
		free := vector.NewMatrix(none, rows, 1)
		for i := range rows {
			free.SetRow(i, vec{float64(r.IntN(5))})
		}
		requests := vector.NewMatrix(none, 1+r.IntN(rows), 1)
		for i := range requests.Rows() {
			requests.SetRow(i, vec{1})
		}
		var s gang.Spread
		if r.IntN(3) > 0 {
			s = someSpread(r, rows)
		}
		var fresh gang.Packer
		setSpread(t, s, &p, &fresh)
		for range 2 {
			got, _, ok := p.Place(nil, free, requests, nil, nil)
			want, _, wanted := fresh.Place(nil, free, requests, nil, nil)
			why, _ := p.Infeasible(free, requests, nil, nil)
			same, infeasible := fresh.Infeasible(free, requests, nil, nil)
			if ok != wanted || ok == infeasible || !slices.Equal(got, want) || why != same || ok && !goldenApart(s, rows, got) {
				t.Fatalf("%v %v, %+v, want %v %v, %+v", got, ok, why, want, wanted, same)
			}
		}
	}
}

func TestSpreadAllocations(t *testing.T) {
	for seed, identical := range []bool{true, false} {
		c := manyRows(1, identical)
		racks := tenSets(c.free.Rows())
		victims := c.victims.prepared()
		var amounts []vec
		for _, v := range victims {
			amounts = append(amounts, v)
		}
		for _, s := range []gang.Spread{{Most: 2}, {Most: 20, Domains: racks, Running: make([]int, 10)}} {
			p := gang.NewPacker(gang.Options{})
			var proof gang.Proof
			o := vector.NewOverlay(c.free)
			var dst []int32
			call := func() {
				setSpread(t, s, p)
				proof.Reset(c.free, c.requests, c.rows)
				testkit.Check(proof.Spread(s))
				for i, row := range c.victims.Rows {
					_ = proof.Release(int(row), amounts[i])
					proof.Infeasible()
				}
				dst = c.ask(t, p, dst, o, racks, victims)
			}
			call()
			wantNoAllocations(t, 2, call, fmt.Sprint(seed, s.Most))
		}
	}
}

// TestSpreadGrowth: with a Spread over rows, victims in one large set of rows cost the same each.
func TestSpreadGrowth(t *testing.T) {
	testkit.Linear(t, 500, func(n int) func() {
		free, requests := vector.NewMatrix(none, n, 1), vector.NewMatrix(none, n, 1)
		for i := range n {
			requests.SetRow(i, vec{1})
		}
		var p gang.Packer
		setSpread(t, gang.Spread{Most: 1}, &p)
		overlay, all := vector.NewOverlay(free), racksOf(n, n)
		return func() {
			got, err := p.Filter(nil, overlay, requests, nil, all, func(yield func(int, vector.ResourceVector) bool) {
				for row := range n {
					if !yield(row, vec{2}) {
						return
					}
				}
			})
			if err != nil || got.Prefix != n || got.LowerBound != n {
				t.Errorf("%d nodes: %+v, %v", n, got, err)
			}
		}
	})
}
