package gang_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// The golden models: slow, and right by definition.

// goldenFits reports whether placement holds the gang, by the definition in
// Packer's comment.
func goldenFits(free, requests *vector.Matrix, rows *vector.Mask, placement []int32) bool {
	return newGoldenGang(requests).fits(free, rows, placement)
}

// golden returns the gang of c.
func (c *packCase) golden() goldenGang {
	g := newGoldenGang(c.requests)
	g.spread = c.spread
	return g
}

// goldenGang is a gang, read for the golden models.
type goldenGang struct {
	requested []vec // per member: its positive amounts
	leader    int   // the only one of its kind among members that are alike, or -1
	identical bool
	spread    gang.Spread
}

func newGoldenGang(requests *vector.Matrix) goldenGang {
	g := goldenGang{leader: -1}
	for i := range requests.Rows() {
		v := requests.Row(nil, i)
		for j, x := range v {
			if x <= 0 {
				v[j] = 0
			}
		}
		g.requested = append(g.requested, v)
	}
	g.identical = g.alikeBut(-1)
	for i := len(g.requested) - 1; i >= 0 && len(g.requested) > 1 && !g.identical; i-- {
		if g.alikeBut(i) {
			g.leader = i // of two members, the first
		}
	}
	return g
}

// alikeBut reports whether all members but one request the same.
func (g goldenGang) alikeBut(one int) bool {
	first := -1
	for i, v := range g.requested {
		switch {
		case i == one:
		case first < 0:
			first = i
		case !slices.Equal(v, g.requested[first]):
			return false
		}
	}
	return true
}

// counted reports whether rows hold the members by counting them.
func (g goldenGang) counted() bool { return g.identical || g.leader >= 0 }

// exact reports whether the answers about the gang are.
func (g goldenGang) exact() bool { return g.identical || g.leader >= 0 && g.spread.Skew == 0 }

func (g goldenGang) fits(free *vector.Matrix, rows *vector.Mask, placement []int32) bool {
	if len(placement) != len(g.requested) {
		return false
	}
	for _, r := range placement {
		if r < 0 || int(r) >= free.Rows() || rows != nil && !rows.Test(int(r)) {
			return false
		}
	}
	if !goldenApart(g.spread, free.Rows(), placement) {
		return false
	}
	for r := range free.Rows() {
		room, sum := free.Row(nil, r), make(vec, free.Cols())
		var worker vec
		workers := 0
		for i, at := range placement {
			switch {
			case int(at) != r:
			case i == g.leader:
				if !g.requested[i].FitsIn(room) {
					return false
				}
				for j, x := range g.requested[i] {
					if room[j] < inf {
						room[j] -= x
					}
				}
			default:
				worker = g.requested[i]
				workers++
				sum.Add(worker)
			}
		}
		if g.counted() && int64(workers) > worker.CopiesFit(room) || !g.counted() && !sum.FitsIn(room) {
			return false
		}
	}
	return true
}

// goldenPlaceable tries every placement.
func goldenPlaceable(free, requests *vector.Matrix, rows *vector.Mask) bool {
	return newGoldenGang(requests).placeable(free, rows)
}

func (g goldenGang) placeable(free *vector.Matrix, rows *vector.Mask) bool {
	placement := make([]int32, len(g.requested))
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(placement) {
			return g.fits(free, rows, placement)
		}
		for r := range free.Rows() {
			placement[i] = int32(r)
			if try(i + 1) {
				return true
			}
		}
		return false
	}
	return try(0)
}

// released returns free after the first n victims.
func released(free *vector.Matrix, victims victimList, n int) *vector.Matrix {
	after := new(vector.Matrix)
	after.CopyFrom(free)
	for i, r := range victims.Rows[:n] {
		addRow(after, int(r), victims.Amounts.Row(nil, i))
	}
	return after
}

// addRow is Matrix.AddToRow for sums that may become infinite, which that refuses.
func addRow(m *vector.Matrix, row int, v vec) {
	sum := m.Row(nil, row)
	sum.Add(v)
	m.SetRow(row, sum)
}

// victimList are victims: victim i runs on row Rows[i] and releases row i of Amounts.
type victimList struct {
	Rows    []int32
	Amounts *vector.Matrix
}

// all iterates over the victims. The amounts are valid until the next.
func (v victimList) all() iter.Seq2[int, vec] {
	return func(yield func(int, vec) bool) {
		var amounts vec
		for i, r := range v.Rows {
			if amounts = v.Amounts.Row(amounts, i); !yield(int(r), amounts) {
				return
			}
		}
	}
}

// prepared is all with the amounts of each victim at hand: iterating does not
// allocate.
func (v victimList) prepared() iter.Seq2[int, vec] {
	amounts := make([]vec, len(v.Rows))
	for i := range amounts {
		amounts[i] = v.Amounts.Row(nil, i)
	}
	return func(yield func(int, vec) bool) {
		for i, r := range v.Rows {
			if !yield(int(r), amounts[i]) {
				return
			}
		}
	}
}

// goldenPrefix returns the shortest prefix for which fits is true, or -1.
func goldenPrefix(free *vector.Matrix, victims victimList, fits func(after *vector.Matrix) bool) int {
	for n := range len(victims.Rows) + 1 {
		if fits(released(free, victims, n)) {
			return n
		}
	}
	return -1
}

// packCase is a small instance.
type packCase struct {
	free, requests *vector.Matrix
	rows           *vector.Mask
	victims        victimList
	spread         gang.Spread
}

// amountKinds are the numbers that small instances are made of. Scaling keeps
// the shapes and brings in rounding.
var amountKinds = []struct {
	name  string
	scale func(r *rand.Rand, x float64) float64
}{
	{"whole", func(_ *rand.Rand, x float64) float64 { return x }},
	{"tenths", func(_ *rand.Rand, x float64) float64 { return x / 10 }},
	{"thirds", func(_ *rand.Rand, x float64) float64 { return x / 3 }},
	{"large", func(_ *rand.Rand, x float64) float64 { return x * 0x1.8p50 }},
	{"beyond exact", func(r *rand.Rand, x float64) float64 { return x*(1<<53) + float64(2*r.IntN(3)) }},
	{"denormal", func(_ *rand.Rand, x float64) float64 { return x * 0x1.8p-1072 }},
	{"around 2^-1022", func(r *rand.Rand, x float64) float64 { return x*0x1p-1023 + float64(r.IntN(3))*0x1p-1074 }},
	{"huge", func(_ *rand.Rand, x float64) float64 { return x * 0x1p1020 }},
	{"last bits", func(r *rand.Rand, x float64) float64 { return x * (1 + float64(r.IntN(3))*0x1p-52) }},
	{"special", func(r *rand.Rand, x float64) float64 {
		if r.IntN(8) > 0 {
			return x
		}
		specials := testkit.Specials()
		return specials[r.IntN(len(specials))]
	}},
}

// smallCase returns a random instance of up to 4 rows and 5 members, close to the
// border between fitting and not.
func smallCase(r *rand.Rand, identical bool) packCase {
	scale := amountKinds[r.IntN(len(amountKinds))].scale
	rows, members, cols := r.IntN(5), r.IntN(6), 1+r.IntN(3)
	random := func(n, least, most int) *vector.Matrix {
		m := vector.NewMatrix(none, n, cols)
		for i := range n {
			v := make(vec, cols)
			for j := range v {
				v[j] = scale(r, float64(least+r.IntN(most-least+1)))
			}
			m.SetRow(i, v)
		}
		return m
	}
	c := packCase{free: random(rows, -2, 12), requests: random(members, -1, 6)}
	if identical {
		for i := range members {
			c.requests.SetRow(i, c.requests.Row(nil, 0))
		}
	} else if members > 2 && r.IntN(2) == 0 { // a leader and workers
		leader := r.IntN(members)
		for i := range members {
			if i != leader {
				c.requests.SetRow(i, c.requests.Row(nil, (leader+1)%members))
			}
		}
	}
	if r.IntN(3) == 0 {
		c.rows = vector.NewMask(rows)
		for i := range rows {
			if r.IntN(4) > 0 {
				c.rows.Set(i)
			}
		}
	}
	c.victims = victimList{Amounts: vector.NewMatrix(none, 0, cols)}
	if rows == 0 {
		return c
	}
	after := vector.NewOverlay(c.free)
	for range r.IntN(8) {
		row, v := r.IntN(rows), make(vec, cols)
		for j := range v {
			if v[j] = math.Abs(scale(r, float64(r.IntN(5)))); !(v[j] <= math.MaxFloat64) {
				v[j] = 0
			}
		}
		if after.AddToRow(row, v) != nil { // too much to be a number
			clear(v)
		}
		c.victims.Rows = append(c.victims.Rows, int32(row))
		c.victims.Amounts.AppendRow(v)
	}
	return c
}

// packers returns one Packer per combination of options.
func packers(total vec) []*gang.Packer {
	var all []*gang.Packer
	for order, total := range []vec{total, total, nil} {
		for _, bestFit := range []vector.Tie{{}, vector.TieSeeded(7)} {
			for _, search := range []gang.Search{gang.SearchBisect, gang.SearchLinear} {
				all = append(all, gang.NewPacker(gang.Options{
					Total: total, ByDominantShare: order == 1, BestFit: bestFit, Search: search,
					Restarts: 2 * order, Seed: 5,
				}))
			}
		}
	}
	return all
}

// checkCase compares everything a Packer says about a small instance with the
// golden models.
func checkCase(t testing.TB, p *gang.Packer, linear bool, c packCase) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\nfree %v\nrequests %v\nrows %v\nvictims %v of %v\nspread %+v", append(args,
			contents(c.free), contents(c.requests), c.rows, contents(c.victims.Amounts), c.victims.Rows, c.spread)...)
	}
	golden := c.golden()
	possible := golden.placeable(c.free, c.rows)
	why, infeasible := p.Infeasible(c.free, c.requests, c.rows, nil)
	if infeasible && possible {
		fail("rejects a gang that fits: %+v", why)
	}
	if infeasible != (why.Reason != gang.NotProved) {
		fail("Infeasible says %v with %+v", infeasible, why)
	}
	placement, _, ok := p.Place(nil, c.free, c.requests, c.rows, nil)
	if ok && !golden.fits(c.free, c.rows, placement) {
		fail("invalid placement %v", placement)
	}
	if golden.exact() && (ok != possible || infeasible == possible) {
		fail("members are counted: placed %v, infeasible %v, possible %v", ok, infeasible, possible)
	}
	checkFilter(t, p, linear, c, fail)
}

func checkFilter(t testing.TB, p *gang.Packer, linear bool, c packCase, fail func(string, ...any)) {
	t.Helper()
	o := vector.NewOverlay(c.free)
	got, err := p.Filter(nil, o, c.requests, c.rows, nil, c.victims.all())
	if err != nil {
		fail("Filter: %v", err)
	}
	for j := range c.free.Cols() {
		if !sameBits(o.Matrix().Column(j), c.free.Column(j)) {
			fail("the overlay is not rolled back in column %d", j)
		}
	}
	golden := c.golden()
	possible := func(after *vector.Matrix) bool { return golden.placeable(after, c.rows) }
	least := goldenPrefix(c.free, c.victims, possible)
	if least >= 0 && got.LowerBound > least {
		fail("lower bound %d, but %d victims are enough", got.LowerBound, least)
	}
	bound := goldenPrefix(c.free, c.victims, func(after *vector.Matrix) bool {
		_, infeasible := p.Infeasible(after, c.requests, c.rows, nil)
		return !infeasible
	})
	if proved := bound < 0; proved != (got.Infeasible.Reason != gang.NotProved) ||
		!proved && bound != got.LowerBound || proved && got.LowerBound != len(c.victims.Rows)+1 {
		fail("lower bound %+v, want prefix %d", got, bound)
	}
	all := released(c.free, c.victims, len(c.victims.Rows))
	if why, _ := p.Infeasible(all, c.requests, c.rows, nil); got.Infeasible.Reason != gang.NotProved && fmt.Sprint(why) != fmt.Sprint(got.Infeasible) {
		fail("%+v, want %+v", got.Infeasible, why)
	}
	places := func(n int) bool {
		_, _, ok := p.Place(nil, released(c.free, c.victims, n), c.requests, c.rows, nil)
		return ok
	}
	if got.Prefix >= 0 {
		after := released(c.free, c.victims, got.Prefix)
		if !golden.fits(after, c.rows, got.Placement) {
			fail("prefix %d: invalid placement %v", got.Prefix, got.Placement)
		}
		if got.Prefix > got.LowerBound && places(got.Prefix-1) {
			fail("prefix %d, but %d is enough", got.Prefix, got.Prefix-1)
		}
	}
	if golden.exact() && (got.Prefix != least || got.Prefix >= 0 && got.Prefix != got.LowerBound) {
		fail("members are counted: %+v, want prefix %d", got, least)
	}
	if linear {
		want := goldenPrefix(c.free, c.victims, func(after *vector.Matrix) bool {
			_, _, ok := p.Place(nil, after, c.requests, c.rows, nil)
			return ok
		})
		if got.Prefix != want {
			fail("linear search: prefix %d, want %d", got.Prefix, want)
		}
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// smallCases runs so many small cases, each with one of the packers for its number of columns.
func smallCases[P any](seed uint64, cases int, packers func(total vec) []P, run func(r *rand.Rand, k int, p P, c packCase)) {
	r := testkit.Rand(seed)
	var all [4][]P
	for cols := range all {
		all[cols] = packers(vec{12, 13, 14}[:cols])
	}
	for n := range cases {
		c := smallCase(r, n%3 == 0)
		k := n % len(all[0])
		run(r, k, all[c.free.Cols()][k], c)
	}
}

func TestPackerAgainstExhaustiveSearch(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		smallCases(1, testkit.Amount(t, 600, 3000, 6000), packers, func(_ *rand.Rand, k int, p *gang.Packer, c packCase) {
			checkCase(t, p, k%2 == 1, c)
		})
	})
}

func FuzzPacker(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, seed, options uint64) {
		c := smallCase(testkit.Rand(seed), seed%3 == 0)
		all := packers(vec{12, 13, 14}[:c.free.Cols()])
		k := int(options % uint64(len(all)))
		checkCase(t, all[k], k%2 == 1, c)
	})
}

// TestPackerMonotone adds room and rows to instances that are not rejected.
func TestPackerMonotone(t *testing.T) {
	r := testkit.Rand(2)
	var p gang.Packer
	for range 3000 {
		c := smallCase(r, false)
		if _, infeasible := p.Infeasible(c.free, c.requests, c.rows, nil); infeasible {
			continue
		}
		more := released(c.free, c.victims, len(c.victims.Rows))
		if why, infeasible := p.Infeasible(more, c.requests, c.rows, nil); infeasible {
			t.Fatalf("%+v after adding %v to %v", why, contents(c.victims.Amounts), contents(c.free))
		}
		if why, infeasible := p.Infeasible(c.free, c.requests, nil, nil); infeasible {
			t.Fatalf("%+v after adding rows to %v of %v", why, c.rows, contents(c.free))
		}
	}
}

// manyRows returns an instance with more than a few mask words.
func manyRows(seed uint64, identical bool) packCase {
	r := testkit.Rand(seed)
	const rows, members, pods, cols = 700, 40, 3000, 5
	c := packCase{
		free: vector.NewMatrix(none, rows, cols), requests: vector.NewMatrix(none, members, cols),
		rows:    vector.NewMask(rows),
		victims: victimList{Rows: make([]int32, pods), Amounts: vector.NewMatrix(none, pods, cols)},
	}
	random := func(m *vector.Matrix, least, most int) {
		v := make(vec, cols)
		for i := range m.Rows() {
			for j := range v {
				v[j] = float64(least + r.IntN(most-least))
			}
			m.SetRow(i, v)
		}
	}
	random(c.free, -20, 100)
	random(c.requests, 250, 300)
	random(c.victims.Amounts, 0, 90)
	for i := range c.victims.Rows {
		c.victims.Rows[i] = int32(r.IntN(rows))
	}
	for i := range rows {
		if r.IntN(9) > 0 {
			c.rows.Set(i)
		}
	}
	for i := range members {
		if identical {
			c.requests.SetRow(i, c.requests.Row(nil, 0))
		}
	}
	return c
}

// TestFilterAtScale checks what can be checked without exhaustive search.
func TestFilterAtScale(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for seed := range uint64(testkit.Amount(t, 1, 2, 4)) {
			for _, identical := range []bool{true, false} {
				c := manyRows(seed, identical)
				var want []int // prefixes of the first packers, by search
				for k, p := range packers(vec{100, 100, 100, 100, 100}) {
					o := vector.NewOverlay(c.free)
					got, err := p.Filter(nil, o, c.requests, c.rows, nil, c.victims.all())
					if err != nil || got.Prefix < 0 {
						t.Fatalf("%+v, %v", got, err)
					}
					after := released(c.free, c.victims, got.Prefix)
					if !goldenFits(after, c.requests, c.rows, got.Placement) {
						t.Fatalf("seed %d: invalid placement", seed)
					}
					before := released(c.free, c.victims, got.LowerBound-1)
					if _, infeasible := p.Infeasible(before, c.requests, c.rows, nil); !infeasible {
						t.Fatalf("seed %d: lower bound %d is not the least", seed, got.LowerBound)
					}
					if !slices.EqualFunc(contents(o.Matrix()), contents(c.free), slices.Equal[[]float64]) {
						t.Fatalf("seed %d: the overlay is not rolled back", seed)
					}
					if identical {
						sum := vector.SumCopies(released(c.free, c.victims, got.Prefix-1), c.requests.Row(nil, 0), c.rows)
						if got.Prefix != got.LowerBound || sum >= int64(c.requests.Rows()) {
							t.Fatalf("seed %d: prefix %d is not the least: %d copies before", seed, got.Prefix, sum)
						}
					}
					if want = append(want, got.Prefix); k%2 == 1 && want[k] > want[k-1] {
						t.Fatalf("seed %d: linear search finds %d, bisection %d", seed, want[k], want[k-1])
					}
				}
			}
		}
	})
}

func TestPlace(t *testing.T) {
	cursor := 5
	for _, test := range []struct {
		name     string
		options  gang.Options
		free     []vec
		requests []vec
		rows     []int // nil for all
		want     []int32
	}{
		{name: "first fit", free: []vec{{4}, {6}, {9}}, requests: []vec{{5}, {4}, {1}}, want: []int32{1, 0, 1}},
		{name: "large first", options: gang.Options{Total: vec{10}},
			free: []vec{{5}, {6}}, requests: []vec{{2}, {5}, {4}}, want: []int32{1, 0, 1}, rows: []int{0, 1}},
		{name: "by dominant share", options: gang.Options{Total: vec{10, 10}, ByDominantShare: true},
			free: []vec{{9, 9}}, requests: []vec{{3, 3}, {0, 5}}, want: []int32{0, 0}},
		{name: "best fit", options: gang.Options{Total: vec{10}, BestFit: vector.TieLowest()},
			free: []vec{{9}, {3}, {6}}, requests: []vec{{5}, {3}, {1}}, want: []int32{2, 1, 2}},
		{name: "best fit, ties by rank", options: gang.Options{
			Total: vec{10}, BestFit: vector.TieRank([]int32{2, 1, 0})},
			free: []vec{{4}, {4}, {4}}, requests: []vec{{4}, {3}, {1}}, want: []int32{2, 1, 1}},
		{name: "best fit, ties in turn", options: gang.Options{
			Total: vec{10}, BestFit: vector.TieRoundRobin(&cursor)},
			free: []vec{{4}, {4}, {4}}, requests: []vec{{4}, {4}}, want: []int32{2, 0}},
		{name: "best fit and a NaN", options: gang.Options{
			Total: vec{10, 10}, BestFit: vector.TieLowest()},
			free: []vec{{4, nan}, {1, 2}}, requests: []vec{{1}, {4}}, want: []int32{1, 0}},
		{name: "rows not selected", free: []vec{{9}, {9}}, requests: []vec{{1}}, rows: []int{1}, want: []int32{1}},
		{name: "unrequested and negative amounts", free: []vec{{-1, 5}}, requests: []vec{{0, 5}, {-3, -9}}, want: []int32{0, 0}},
		{name: "no members", free: []vec{{1}}, want: []int32{}},
		{name: "unlimited", free: []vec{{inf}}, requests: []vec{{large}, {large}}, want: []int32{0, 0}},
		{name: "too large", free: []vec{{4}, {6}}, requests: []vec{{7}}},
		{name: "together too large", free: []vec{{4}}, requests: []vec{{3}, {2}}},
		{name: "NaN", free: []vec{{4}}, requests: []vec{{nan}}},
		{name: "no rows", requests: []vec{{0}}},
	} {
		cols := max(len(test.options.Total), 1)
		for _, v := range slices.Concat(test.free, test.requests) {
			cols = max(cols, len(v))
		}
		var rows *vector.Mask
		if test.rows != nil {
			rows = maskOf(len(test.free), test.rows...)
		}
		got, _, ok := gang.NewPacker(test.options).Place(nil, matrixOf(cols, test.free...), matrixOf(cols, test.requests...), rows, nil)
		if ok != (test.want != nil) || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v, want %v", test.name, got, ok, test.want)
		}
	}
	if cursor != 1 {
		t.Errorf("the cursor is %d, want 1: after the row chosen last", cursor)
	}
}

// TestFirstFitIsNotMonotone: more room on a node breaks first fit.
func TestFirstFitIsNotMonotone(t *testing.T) {
	p := gang.NewPacker(gang.Options{Total: vec{20, 20}, Search: gang.SearchLinear})
	requests := matrixOf(2, vec{1, 6}, vec{4, 1}, vec{1, 0})
	less, more := matrixOf(2, vec{4, 3}, vec{1, 7}, vec{1, 0}), matrixOf(2, vec{4, 6}, vec{1, 7}, vec{1, 0})
	if got, _, ok := p.Place(nil, less, requests, nil, nil); !ok || !slices.Equal(got, []int32{1, 0, 2}) {
		t.Errorf("less room: %v, %v", got, ok)
	}
	if got, _, ok := p.Place(nil, more, requests, nil, nil); ok {
		t.Errorf("more room: %v", got)
	}
	if why, infeasible := p.Infeasible(more, requests, nil, nil); infeasible {
		t.Errorf("rejected, but {1, 0, 2} fits: %+v", why)
	}

	// The filter meets the same: one victim is not enough for the heuristic,
	// though none may be needed.
	victims := victimList{Rows: []int32{0, 1}, Amounts: matrixOf(2, vec{0, 3}, vec{3, 0})}
	got, err := p.Filter(nil, vector.NewOverlay(less), requests, nil, nil, victims.all())
	if err != nil || got.Prefix != 0 || got.LowerBound != 0 {
		t.Errorf("from less room: %+v, %v", got, err)
	}
	victims = victimList{Rows: []int32{1}, Amounts: matrixOf(2, vec{3, 0})}
	got, err = p.Filter(nil, vector.NewOverlay(more), requests, nil, nil, victims.all())
	if err != nil || got.Prefix != 1 || got.LowerBound != 0 || !slices.Equal(got.Placement, []int32{0, 1, 0}) {
		t.Errorf("from more room: %+v, %v", got, err)
	}

	// Two members are a leader and a worker, which are placed wherever they fit.
	for _, free := range []*vector.Matrix{matrixOf(2, vec{4, 4}, vec{2, 10}, vec{2, 0}), matrixOf(2, vec{4, 7}, vec{2, 10}, vec{2, 0})} {
		if got, _, ok := p.Place(nil, free, matrixOf(2, vec{1, 6}, vec{4, 1}), nil, nil); !ok || !slices.Equal(got, []int32{1, 0}) {
			t.Errorf("two members: %v, %v", got, ok)
		}
	}
}

// TestRestarts counts how many gangs fit that were cut out of the nodes with 15%
// to spare.
func TestRestarts(t *testing.T) {
	r := testkit.Rand(5)
	placed := map[int]int{}
	const rounds, nodes, cols = 100, 20, 4
	for range rounds {
		free, requests := vector.NewMatrix(none, nodes, cols), vector.NewMatrix(none, 0, cols)
		left, member := make(vec, cols), make(vec, cols)
		for i := range nodes {
			for j := range left {
				left[j] = float64(500 + r.IntN(500))
			}
			free.SetRow(i, left)
			for parts := 2 + r.IntN(4); parts > 0; parts-- {
				for j, x := range left {
					if parts > 1 {
						x *= min(1, r.Float64()*1.6/float64(parts))
					}
					left[j] -= x
					member[j] = math.Floor(x * 0.85)
				}
				requests.AppendRow(member)
			}
		}
		for _, restarts := range []int{0, 8, 32} {
			p := gang.NewPacker(gang.Options{Total: vec{1, 1, 1, 1}, Restarts: restarts, Seed: 1})
			got, _, ok := p.Place(nil, free, requests, nil, nil)
			if ok {
				placed[restarts]++
				if !goldenFits(free, requests, nil, got) {
					t.Fatal("invalid placement")
				}
			}
			if again, _, _ := p.Place(nil, free, requests, nil, nil); !slices.Equal(got, again) {
				t.Fatal("not deterministic")
			}
		}
	}
	t.Logf("placed of %d: %v by number of restarts", rounds, placed)
	if !(2*placed[0] < placed[8] && placed[8] < placed[32]) {
		t.Errorf("restarts do not help: %v", placed)
	}
}

func TestInfeasible(t *testing.T) {
	type why = gang.Infeasibility
	for _, test := range []struct {
		name     string
		free     []vec
		requests []vec
		rows     []int // nil for all
		want     why
	}{
		{name: "fits", free: []vec{{4, 4}}, requests: []vec{{2, 4}, {2, 0}}},
		{name: "the sum is short", free: []vec{{4, 4}, {4, 4}}, requests: []vec{{2, 4}, {2, 4}, {2, 1}},
			want: why{Reason: gang.InfeasibleAggregate, Column: 1, Member: -1, Needed: 9, Available: 8}},
		{name: "the sum is short by less than its rounding", free: []vec{{1.5}, {0}, {1.5 - 0x1p-52}, {0}}, requests: []vec{{1}, {1}, {1}},
			want: why{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 3, Available: 3}},
		{name: "a member is too large by the last bit", free: []vec{{0x1.3333333333332p-2}, {0x1.3333333333332p-2}}, requests: []vec{{0.1}, {0.3}},
			want: why{Reason: gang.InfeasibleMember, Column: 0, Member: 1, Needed: 0.3, Available: 0x1.3333333333332p-2}},
		{name: "debts of one row are not paid by another", free: []vec{{-5}, {4}}, requests: []vec{{2}, {2}}},
		{name: "negative requests make no room", free: []vec{{4}}, requests: []vec{{-5}, {5}},
			want: why{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 5, Available: 4}},
		{name: "rows not selected", free: []vec{{4}, {4}}, requests: []vec{{4}, {4}}, rows: []int{1},
			want: why{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 8, Available: 4}},
		{name: "NaN is no room", free: []vec{{nan}, {4}}, requests: []vec{{3}, {3}},
			want: why{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 6, Available: 4}},
		{name: "unlimited", free: []vec{{inf}, {-inf}}, requests: []vec{{large}, {large}, {inf}}},
		{name: "a member fits nowhere", free: []vec{{4, 9}, {4, 9}}, requests: []vec{{1, 1}, {5, 1}, {5, 1}}, rows: []int{0, 1},
			want: why{Reason: gang.InfeasibleAggregate, Column: 0, Member: -1, Needed: 11, Available: 8}},
		{name: "a member fits nowhere, by one resource", free: []vec{{4, 9}, {4, 9}}, requests: []vec{{1, 1}, {1, 1}, {5, 1}},
			want: why{Reason: gang.InfeasibleMember, Column: 0, Member: 2, Needed: 5, Available: 4}},
		{name: "a member fits nowhere, by two resources", free: []vec{{4, 1}, {1, 4}}, requests: []vec{{1, 1}, {3, 3}},
			want: why{Reason: gang.InfeasibleMember, Column: -1, Member: 1, Needed: 1, Available: 0}},
		{name: "NaN request", free: []vec{{inf}}, requests: []vec{{1}, {nan}},
			want: why{Reason: gang.InfeasibleMember, Column: 0, Member: 1, Needed: nan, Available: inf}},
		{name: "no rows", requests: []vec{{0}},
			want: why{Reason: gang.InfeasibleMember, Column: -1, Member: 0, Needed: 1, Available: 0}},
		{name: "copies of one request", free: []vec{{5}, {5}}, requests: []vec{{3}, {3}, {3}},
			want: why{Reason: gang.InfeasibleCopies, Column: -1, Member: 0, Needed: 3, Available: 2}},
		{name: "copies, larger members counted", free: []vec{{5}, {5}, {1}}, requests: []vec{{1}, {3}, {4}, {3}},
			want: why{Reason: gang.InfeasibleCopies, Column: -1, Member: 1, Needed: 3, Available: 2}},
		{name: "one amount of many shapes", free: []vec{{9, 5}, {9, 5}}, requests: []vec{{1, 3}, {2, 3}, {3, 3}},
			want: why{Reason: gang.InfeasibleCopies, Column: -1, Member: 0, Needed: 3, Available: 2}},
		{name: "one amount of incomparable shapes", free: []vec{{9, 9, 5}, {9, 9, 5}}, requests: []vec{{1, 2, 3}, {2, 1, 3}, {1, 3, 3}},
			want: why{Reason: gang.InfeasibleCopies, Column: 0, Member: -1, Needed: 3, Available: 2}},
	} {
		cols := 1
		for _, v := range slices.Concat(test.free, test.requests) {
			cols = max(cols, len(v))
		}
		var rows *vector.Mask
		if test.rows != nil {
			rows = maskOf(len(test.free), test.rows...)
		}
		var p gang.Packer
		got, infeasible := p.Infeasible(matrixOf(cols, test.free...), matrixOf(cols, test.requests...), rows, nil)
		if infeasible != (test.want.Reason != gang.NotProved) || fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestInfeasibleIsExact: whole numbers below 2^53 are judged to the last unit,
// in any order, and a rounded sum never rejects.
func TestInfeasibleIsExact(t *testing.T) {
	var p gang.Packer
	const most = 1<<53 - 1
	for _, test := range []struct {
		free, requests []vec
		want           bool
	}{
		{[]vec{{most - 3}, {2}}, []vec{{most - 3}, {2}}, false},
		{[]vec{{most - 3}, {2}}, []vec{{most - 4}, {1}, {2}}, false},
		{[]vec{{most - 3}, {2}}, []vec{{most - 4}, {4}}, true},
		{[]vec{{1 << 53}, {1}, {1}}, []vec{{1 << 53}, {1}, {1}}, false},
		{[]vec{{0.1}, {0.2}, {0.3}}, []vec{{0.1}, {0.2}, {0.3}}, false},
		{[]vec{{0.6}}, []vec{{0.1}, {0.2}, {0.3}}, false}, // 0.6000000000000001 by rounding: not placed, not rejected
		{[]vec{{large}, {large}}, []vec{{large}, {large}}, false},
		{[]vec{{tiny}, {tiny}}, []vec{{tiny}, {tiny}}, false},
		{[]vec{{tiny}}, []vec{{tiny}, {tiny}}, true},
	} {
		if why, got := p.Infeasible(matrixOf(1, test.free...), matrixOf(1, test.requests...), nil, nil); got != test.want {
			t.Errorf("%v on %v: infeasible is %v, %+v", test.requests, test.free, got, why)
		}
	}
}

// TestInfeasibleAllowsForRounding: eight tenths add up to less than eight times
// a tenth, so a row holds eight members by their sum and seven copies by the
// quotient.
func TestInfeasibleAllowsForRounding(t *testing.T) {
	requests := vector.NewMatrix(none, 8, 2)
	sum := vec{0, 0}
	for i := range 8 {
		requests.SetRow(i, vec{0.1, float64(i + 1)})
		sum.Add(requests.Row(nil, i))
	}
	if n := (vec{0.1, 1}).CopiesFit(sum); n != 7 {
		t.Fatalf("%d copies, want 7", n)
	}
	var p gang.Packer
	free := matrixOf(2, sum)
	why, infeasible := p.Infeasible(free, requests, nil, nil)
	if infeasible || !goldenFits(free, requests, nil, make([]int32, 8)) {
		t.Errorf("rejected: %+v", why)
	}
}

// TestFilterTurnsOnce: a round-robin cursor moves as if only the placement
// returned had been tried.
func TestFilterTurnsOnce(t *testing.T) {
	total := vec{100, 100, 100, 100, 100}
	bisected := 0
	for seed := range uint64(6) {
		c := manyRows(seed, false)
		for i := range c.free.Rows() {
			c.free.SetRow(i, vec{50, 50, 50, 50, 50}) // all tie
		}
		cursor, again := 123, 123
		options := gang.Options{Total: total, BestFit: vector.TieRoundRobin(&cursor)}
		got, err := gang.NewPacker(options).Filter(nil, vector.NewOverlay(c.free), c.requests, c.rows, nil, c.victims.all())
		if err != nil || got.Prefix < 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		if got.Prefix > got.LowerBound+1 {
			bisected++
		}
		options.BestFit = vector.TieRoundRobin(&again)
		after := released(c.free, c.victims, got.Prefix)
		want, _, _ := gang.NewPacker(options).Place(nil, after, c.requests, c.rows, nil)
		if !slices.Equal(got.Placement, want) || cursor != again {
			t.Errorf("seed %d: placement %v and cursor %d, want %v and %d", seed, got.Placement, cursor, want, again)
		}
	}
	if bisected == 0 {
		t.Error("no instance needed bisection")
	}
}

// TestFilterKeepsTheOverlay: changes made before are part of the free amounts
// and stay.
func TestFilterKeepsTheOverlay(t *testing.T) {
	o := vector.NewOverlay(matrixOf(1, vec{1}, vec{0.1}))
	testkit.Check(o.AddToRow(0, vec{1}))
	victims := victimList{Rows: []int32{1, 0, 1}, Amounts: matrixOf(1, vec{0.2}, vec{1}, vec{9})}
	var p gang.Packer
	got, err := p.Filter(nil, o, matrixOf(1, vec{3}), nil, nil, victims.all())
	if err != nil || got.Prefix != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	wantMatrix(t, "after the filter", o.Matrix(), [][]float64{{2}, {0.1}})
	o.Rollback(vector.Mark{})
	wantMatrix(t, "after rolling back", o.Matrix(), [][]float64{{1}, {0.1}})
}

// TestVictimErrors: whoever takes a victim refuses the same, with the same words, and
// changes nothing.
func TestVictimErrors(t *testing.T) {
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu", Integral: true}})
	free := vector.NewMatrix(schema, 3, 2)
	start := []vec{{1.5, 1}, {-2, -3}, {0, 0}}
	for row, v := range start {
		free.SetRow(row, v)
	}
	top := testkit.Must(gang.NewTopology("rack"))
	for row := range start {
		testkit.Check(top.Set(row, fmt.Sprint(row), "r"))
	}
	var p gang.Packer
	var proof gang.Proof
	proof.Reset(free, vector.NewMatrix(schema, 1, 2), nil)
	o := vector.NewOverlay(free)
	taken := 0
	victims := func(row int, amounts vec) iter.Seq2[int, vec] { // the second is at fault
		return func(yield func(int, vec) bool) {
			taken = 1
			if yield(0, vec{1, 1}) {
				taken++
				if yield(row, amounts) {
					taken++
				}
			}
		}
	}
	filter := func(requests ...vec) func(int, vec) error {
		return func(row int, amounts vec) error {
			_, err := p.Filter(nil, o, matrixOf(2, requests...), nil, nil, victims(row, amounts))
			return err
		}
	}
	callers := []struct {
		name   string
		prefix string
		call   func(int, vec) error
	}{
		{"Release", "", proof.Release},
		{"Filter, alike", "victim 1: ", filter(vec{9, 9})},
		{"Filter, a leader", "victim 1: ", filter(vec{9, 0}, vec{9, 9})},
		{"Filter", "victim 1: ", filter(vec{9, 0}, vec{9, 9}, vec{9, 2})},
		{"FilterTopology", "victim 1: ", func(row int, amounts vec) error {
			_, err := p.FilterTopology(gang.TopologyPlacement{}, o, gang.TopologyRequest{Count: 9, Request: vec{9, 9}}, nil, top, victims(row, amounts))
			return err
		}},
	}
	for _, test := range []struct {
		row      int
		amounts  vec
		resource string // with the amount at fault; empty without a row
		amount   float64
		want     string
	}{
		{1, vec{-1, 0}, "cpu", -1, "row 1: cpu: amount -1 is negative: want 0 or more"},
		{0, vec{nan, 0}, "cpu", nan, "row 0: cpu: amount NaN is not a finite number"},
		{1, vec{inf}, "cpu", inf, "row 1: cpu: amount +Inf is not a finite number"},
		{1, vec{-inf}, "cpu", -inf, "row 1: cpu: amount -Inf is not a finite number"},
		{1, vec{0.5, -0.5}, "gpu", -0.5, "row 1: gpu: amount -0.5 is negative: want 0 or more"},
		{2, vec{0, 0.5}, "gpu", 0.5, "row 2: gpu: amount 0.5 is not a whole number of the column's unit"},
		{2, vec{0, 1 << 53}, "gpu", 1 << 53, "row 2: gpu: amount 9007199254740992 is too large: want less than 2^53 of the column's unit"},
		{3, vec{1, 1}, "", 0, "no row 3 among 3: vector: shapes differ"},
		{-1, nil, "", 0, "no row -1 among 3: vector: shapes differ"},
	} {
		for _, c := range callers {
			err := c.call(test.row, test.amounts)
			var got *vector.AmountError
			if err == nil || err.Error() != c.prefix+test.want {
				t.Errorf("%s: %v, want %s", c.name, err, test.want)
			} else if isAmount := errors.As(err, &got); isAmount != errors.Is(err, vector.ErrNotRepresentable) || isAmount == errors.Is(err, vector.ErrShape) ||
				isAmount && (got.Row != test.row || got.Resource != test.resource || got.Amount != decimal.Format(test.amount)) {
				t.Errorf("%s: %+v", c.name, got)
			}
			if c.prefix != "" && taken != 2 {
				t.Errorf("%s: %d victims taken", c.name, taken)
			}
		}
	}
	wantMatrix(t, "after errors", o.Matrix(), contents(free))
	wantMatrix(t, "after errors", proof.Matrix(), contents(free))

	if got, err := p.Filter(nil, o, matrixOf(2, vec{2, 2}), nil, nil, victims(9, nil)); err != nil || got.Prefix != 1 || taken != 1 {
		t.Errorf("an answer before the victim at fault: %+v, %v, %d taken", got, err, taken)
	}
	proof.Reset(matrixOf(2, vec{1}), matrixOf(2, vec{2}), nil)
	if err := proof.Release(0, vec{0, -2}); err == nil || err.Error() != "row 0: column 1: amount -2 is negative: want 0 or more" {
		t.Errorf("without a schema: %v", err)
	}
}

func TestPackerPanics(t *testing.T) {
	var p gang.Packer
	free, requests := matrixOf(2, vec{1}, vec{1}), matrixOf(2, vec{1})
	wantPanic(t, "vector: round-robin tie without a cursor", func() {
		gang.NewPacker(gang.Options{BestFit: vector.TieRoundRobin(nil)}).Place(nil, free, requests, nil, nil)
	})
	wantPanic(t, "gang: undefined search", func() { gang.NewPacker(gang.Options{Search: gang.SearchBound + 1}) })
	wantPanic(t, "gang: matrices have different widths", func() { p.Place(nil, free, matrixOf(1, vec{1}), nil, nil) })
	wantPanic(t, "gang: mask lengths differ", func() { p.Place(nil, free, requests, vector.NewMask(3), nil) })
	wantPanic(t, "gang: mask lengths differ", func() { p.Infeasible(free, requests, vector.NewMask(3), nil) })
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() {
		gang.NewPacker(gang.Options{Total: vec{1, 1, 1}}).Place(nil, free, requests, nil, nil)
	})
	filter := func(row int, amounts vec) {
		_, _ = p.Filter(nil, vector.NewOverlay(free), requests, maskOf(2), nil, func(yield func(int, vec) bool) { yield(row, amounts) })
	}
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() { filter(0, vec{1, 1, 1}) })
	domains := &gang.Domains{Rows: []int32{0, 1, 0}, Offsets: vector.Offsets{0, 2, 3}}
	for _, in := range []func(*gang.Domains){
		func(d *gang.Domains) { p.Infeasible(free, requests, nil, d) },
		func(d *gang.Domains) { p.Place(nil, free, requests, nil, d) },
		func(d *gang.Domains) { _, _ = p.Filter(nil, vector.NewOverlay(free), requests, nil, d, nil) },
	} {
		in(domains)
		in(&gang.Domains{})
		for _, offsets := range []vector.Offsets{{0, 4}, {-1, 2}, {2, 1}} {
			wantPanic(t, "gang: offsets of domains do not ascend within their rows", func() {
				in(&gang.Domains{Rows: domains.Rows, Offsets: offsets})
			})
		}
		for _, rows := range [][]int32{{0, 2}, {-1, 0}, {1, 0}, {1, 1}} {
			wantPanic(t, "gang: rows of a domain do not ascend within the matrix", func() {
				in(&gang.Domains{Rows: rows, Offsets: vector.Offsets{0, 2}})
			})
		}
	}

	// A rank that does not match the rows is found before a victim is released.
	overlay := vector.NewOverlay(free)
	ranked := gang.NewPacker(gang.Options{BestFit: vector.TieRank([]int32{0})})
	wantPanic(t, "vector: rank has another number of rows", func() {
		_, _ = ranked.Filter(nil, overlay, matrixOf(2, vec{2}), nil, nil, victimList{Rows: []int32{0, 0}, Amounts: free}.all())
	})
	if overlay.Matrix().At(0, 0) != 1 {
		t.Error("the call that panicked has changed the overlay")
	}
}

func TestInfeasibleReasonString(t *testing.T) {
	for reason, want := range []string{"not proved", "aggregate", "member", "copies", "leader", "budget", "spread", "undefined"} {
		if got := gang.Reason(reason).String(); got != want {
			t.Errorf("%d: %q, want %q", reason, got, want)
		}
	}
}

// tenSets are sets that have every tenth row each.
func tenSets(rows int) *gang.Domains {
	sets := &gang.Domains{Offsets: vector.Offsets{0}}
	for k := range 10 {
		for row := k; row < rows; row += 10 {
			sets.Rows = append(sets.Rows, int32(row))
		}
		sets.Offsets = append(sets.Offsets, int32(len(sets.Rows)))
	}
	return sets
}

// ask asks p every question about the gang of c, and returns the storage of the answers.
func (c packCase) ask(t *testing.T, p *gang.Packer, dst []int32, o *vector.Overlay, sets *gang.Domains, victims iter.Seq2[int, vec]) []int32 {
	for _, domains := range []*gang.Domains{nil, sets} {
		got := testkit.Must(p.Filter(dst, o, c.requests, c.rows, domains, victims))
		dst, _, _ = p.Place(got.Placement, c.free, c.requests, c.rows, domains)
		p.Infeasible(c.free, c.requests, c.rows, domains)
	}
	return dst
}

func TestPackerAllocations(t *testing.T) {
	for _, identical := range []bool{true, false} {
		c := manyRows(1, identical)
		sets := tenSets(c.free.Rows())
		victims := c.victims.prepared()
		for k, p := range packers(vec{100, 100, 100, 100, 100}) {
			o := vector.NewOverlay(c.free)
			var dst []int32
			call := func() {
				dst = c.ask(t, p, dst, o, sets, victims)
			}
			call()
			wantNoAllocations(t, 2, call, k)
		}
	}
}

// TestPackersShareASnapshot lets workers with a Packer and an Overlay each read
// one matrix; the race detector watches.
func TestPackersShareASnapshot(t *testing.T) {
	c := manyRows(3, false)
	total := vec{100, 100, 100, 100, 100}
	answers := make([]gang.Scenario, 4)
	var workers sync.WaitGroup
	for i := range answers {
		workers.Go(func() {
			p := gang.NewPacker(gang.Options{Total: total, BestFit: vector.TieSeeded(3)})
			answers[i], _ = p.Filter(nil, vector.NewOverlay(c.free), c.requests, c.rows, nil, c.victims.all())
		})
	}
	workers.Wait()
	for _, got := range answers {
		if fmt.Sprint(got) != fmt.Sprint(answers[0]) || got.Prefix < 0 {
			t.Errorf("%+v, want %+v", got, answers[0])
		}
	}
}
