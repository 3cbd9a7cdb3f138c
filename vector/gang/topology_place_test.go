package gang_test

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// The golden model of topology: a plain recursive walk over a tree of pointers, with
// the numbers of places given.

// site is a domain, or at the bottom a row.
type site struct {
	path       string
	level      int
	children   []*site
	row        int // at the bottom, else -1
	places     int // of a row
	withLeader int // of a row: with the leader there; -1 when it does not fit
	room       int // of a domain: how many pods the set takes that it is, or is in; unlimited without one
}

const unlimited = math.MaxInt

// goldenTopology is a request without resources.
type goldenTopology struct {
	levels    []string
	count     int
	led       bool // one pod is a leader
	level     int  // that is searched first
	required  int  // the level of which one domain has to hold the gang, or -1
	several   bool // unconstrained
	sizes     map[int]int
	leastFree bool
	apart     int // the level of the sets of the Spread, after all levels without
}

// takes returns how many of so many pods a site takes, whole slices where those count. -1
// stays.
func (g *goldenTopology) takes(s *site, pods int, extra bool) int {
	if s.level < g.apart || s.level > g.apart && g.level <= g.apart || s.row >= 0 || s.room == unlimited || pods < 0 {
		return pods
	}
	room, size := s.room, 1
	if extra && g.led {
		if room--; room < 0 {
			return -1
		}
	}
	if outer, most := g.sliced(); s.level <= outer {
		size = most
	} else {
		for l := s.level; l < len(g.levels) && size == 1; l++ {
			size = max(g.sizes[l], 1)
		}
	}
	return min(pods, g.whole(room, size, extra))
}

// sliced returns the level of the slices and their size.
func (g *goldenTopology) sliced() (level, size int) {
	for l := range g.levels {
		if g.sizes[l] > 0 {
			return l, g.sizes[l]
		}
	}
	return len(g.levels) - 1, 1
}

// extra reports whether one site differs from the others: the one with the leader, or
// with the last slice, if that is smaller.
func (g *goldenTopology) extra() bool {
	_, size := g.sliced()
	return g.led || g.count%size > 0
}

// matters reports whether that is so also within the domains of a level.
func (g *goldenTopology) matters(level int) bool {
	for l := level + 1; l < len(g.levels); l++ {
		if g.sizes[l] > 0 && g.count%g.sizes[l] > 0 {
			return true
		}
	}
	return g.led
}

// whole returns how many of so many pods are in groups of a size, of which one is
// smaller when it is the last; -1 when that does not fit.
func (g *goldenTopology) whole(pods, size int, last bool) int {
	rest := 0
	if last && !g.led {
		rest = g.count % size
	}
	if pods < rest {
		return -1
	}
	return (pods-rest)/size*size + rest
}

// pods returns what a site holds: what is no whole inner slice within a child is not
// there. With extra it is what it holds with the leader or the last slice there, -1
// when that fits nowhere.
func (g *goldenTopology) pods(s *site, extra bool) int {
	if s.row >= 0 {
		if extra && g.led {
			return s.withLeader
		}
		return s.places
	}
	outer, outermost := g.sliced()
	part := func(c *site, extra bool) int {
		pods := g.pods(c, extra)
		size := g.sizes[c.level]
		switch {
		case c.row >= 0 || size == 0:
		case c.level > outer:
			return g.whole(pods, size, extra)
		case extra && g.whole(pods, outermost, true) < 0: // the last slice does not fit
			return -1
		}
		return pods
	}
	sum := 0
	for _, c := range s.children {
		sum += part(c, false)
	}
	if !extra {
		return g.takes(s, sum, false)
	}
	best := -1
	for _, c := range s.children {
		if with := part(c, true); with >= 0 {
			best = max(best, sum-part(c, false)+with)
		}
	}
	return g.takes(s, best, true)
}

// has returns what a site has: slices down to their level, and below whole inner ones.
func (g *goldenTopology) has(s *site, extra bool) int {
	outer, size := g.sliced()
	pods := g.pods(s, extra)
	switch {
	case pods < 0:
		return -1
	case s.row >= 0:
		return pods
	case s.level > outer:
		if inner := g.sizes[s.level]; inner > 0 {
			return g.whole(pods, inner, extra)
		}
		return pods
	case s.level == outer:
		if pods = g.whole(pods, size, extra); pods < 0 {
			return -1
		}
		return (pods + size - 1) / size
	}
	sum, best := 0, -1
	for _, c := range s.children {
		sum += g.has(c, false)
	}
	inSlices := func(slices int, extra bool) int {
		pods := -1
		if slices >= 0 {
			pods = g.takes(s, g.podsIn(slices, extra), extra)
		}
		if pods < 0 {
			return -1
		}
		return (pods + size - 1) / size
	}
	if !extra {
		return inSlices(sum, false)
	}
	for _, c := range s.children {
		if with := g.has(c, true); with >= 0 {
			best = max(best, sum-g.has(c, false)+with)
		}
	}
	return inSlices(best, true)
}

// podsIn returns how many pods so many slices are.
func (g *goldenTopology) podsIn(slices int, extra bool) int {
	_, size := g.sliced()
	if rest := g.count % size; extra && !g.led && rest > 0 {
		return slices*size - size + rest
	}
	return slices * size
}

// could returns how many pods fit into a site, with the leader there.
func (g *goldenTopology) could(s *site) int {
	without, with := g.podsIn(g.has(s, false), false), -1
	if n := g.has(s, true); n >= 0 {
		with = g.podsIn(n, true)
	}
	switch {
	case !g.extra():
		return min(without, g.count)
	case g.led:
		without = 0
	}
	return min(max(without, with), g.count)
}

// possible returns the numbers of pods that a site can hold, as a set of bits: without
// and with the extra. It is what the sizes say and nothing more.
func (g *goldenTopology) possible(s *site) (plain, extra uint64) {
	most := uint64(1)<<(g.count+1) - 1
	if s.row >= 0 {
		plain = most >> (g.count - min(s.places, g.count))
		switch {
		case !g.led:
			extra = plain
		case s.withLeader >= 0:
			extra = most >> (g.count - min(s.withLeader, g.count))
		}
		return plain, extra
	}
	sums := func(a, b uint64) (all uint64) {
		for ; b != 0; b &= b - 1 {
			all |= a << bits.TrailingZeros64(b)
		}
		return all & most
	}
	plain = 1
	for _, c := range s.children {
		p, e := g.possible(c)
		plain, extra = sums(plain, p), sums(plain, e)|sums(extra, p)
	}
	if size := g.sizes[max(s.level, 0)]; s.level >= 0 && size > 0 {
		for n := range g.count + 1 {
			if n%size > 0 {
				plain &^= 1 << n
			}
			if n%size != g.count%size {
				extra &^= 1 << n
			}
		}
	}
	if s.level >= 0 && s.room <= g.count { // also within a set: no part of it takes more
		plain &= 1<<(s.room+1) - 1
		if !g.led {
			extra &= 1<<(s.room+1) - 1
		} else {
			extra &= 1<<s.room - 1
		}
	}
	return plain, extra
}

// fits reports whether there is a placement.
func (g *goldenTopology) fits(root *site) bool {
	sites := []*site{root}
	if g.required >= 0 {
		sites = root.sitesAt(g.required)
	}
	return slices.ContainsFunc(sites, func(s *site) bool {
		plain, extra := g.possible(s)
		if g.extra() {
			plain = extra
		}
		return plain>>g.count&1 != 0
	})
}

// taken is a site with what it was given.
type taken struct {
	site  *site
	n     int
	extra bool
}

// choose takes sites, which stand in order, for need.
func (g *goldenTopology) choose(sites []*site, need int, extra, several bool) []taken {
	outer, _ := g.sliced()
	order := slices.Clone(sites)
	slices.SortStableFunc(order, func(a, b *site) int {
		by := g.has(b, false) - g.has(a, false)
		if g.leastFree {
			by = -by
		}
		if by == 0 && a.row < 0 && a.level <= outer {
			by = g.pods(a, false) - g.pods(b, false)
		}
		return by
	})
	// The order by what they have, or have with the extra, and then by pods.
	ranks := func(a, b *site, extra bool) int {
		by := g.has(b, extra) - g.has(a, extra)
		if g.leastFree {
			by = -by
		}
		if by == 0 && a.row < 0 && a.level <= outer {
			by = g.pods(a, extra) - g.pods(b, extra)
		}
		return by
	}
	extraOrder := slices.Clone(sites)
	slices.SortStableFunc(extraOrder, func(a, b *site) int { return ranks(a, b, extra) })
	// Of those that suffice alone the one with the fewest, then the first.
	var alone *site
	for _, s := range extraOrder {
		if g.has(s, extra) >= need && (alone == nil || g.has(s, extra) < g.has(alone, extra)) {
			alone = s
		}
	}
	if alone != nil {
		return []taken{{alone, need, extra}}
	}
	if !several {
		return nil
	}
	if !extra {
		return g.front(order, need)
	}
	// The place of the extra: the first in its order with as few sites as can be.
	var best []taken
	for _, s := range extraOrder {
		if g.has(s, true) < 0 {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(order), func(o *site) bool { return o == s })
		rest := g.front(others, need-g.has(s, true))
		if rest == nil {
			continue
		}
		if all := append([]taken{{s, g.has(s, true), true}}, rest...); best == nil || len(all) < len(best) && !g.leastFree {
			best = all
		}
	}
	return best
}

// front takes whole sites from the front, and the last that suffices with the fewest.
func (g *goldenTopology) front(order []*site, need int) []taken {
	out := []taken{}
	for i, s := range order {
		switch {
		case need <= 0:
			return out
		case g.has(s, false) == 0:
			continue
		case g.has(s, false) < need:
			out = append(out, taken{s, g.has(s, false), false})
			need -= g.has(s, false)
			continue
		}
		if !g.leastFree {
			for _, o := range order[i:] {
				if g.has(o, false) >= need && g.has(o, false) < g.has(s, false) {
					s = o
				}
			}
		}
		return append(out, taken{s, need, false})
	}
	if need > 0 {
		return nil
	}
	return out
}

// sitesAt returns the domains of a level in order.
func (s *site) sitesAt(level int) []*site {
	if s.level == level {
		return []*site{s}
	}
	var all []*site
	for _, c := range s.children {
		if c.row < 0 {
			all = append(all, c.sitesAt(level)...)
		}
	}
	return all
}

// rows returns the rows in a site.
func (s *site) rows() []int {
	if s.row >= 0 {
		return []int{s.row}
	}
	var all []int
	for _, c := range s.children {
		all = append(all, c.rows()...)
	}
	return all
}

// place returns pods by row and the leader's row, the level and how many domains; fits
// is false with what could be taken.
func (g *goldenTopology) place(root *site) (rows map[int]int, leader, level, domains, could int, fits bool) {
	outer, size := g.sliced()
	slicesWanted := (g.count + size - 1) / size
	var chosen []taken
	for level = g.level; ; level-- {
		several := g.several || g.required < 0 && level == 0
		chosen = g.choose(root.sitesAt(level), slicesWanted, g.extra(), several)
		if chosen != nil || several || g.required == level {
			break
		}
	}
	if chosen == nil {
		if g.required >= 0 {
			for _, s := range root.sitesAt(level) {
				could = max(could, g.could(s))
			}
		} else {
			could = g.could(&site{level: -1, row: -1, children: root.sitesAt(level)})
		}
		return nil, -1, level, 0, could, false
	}
	together := outer
	if level <= g.apart {
		together = min(together, g.apart)
	}
	for l := level; l < together; l++ {
		var children []*site
		for _, s := range root.sitesAt(l) {
			if slices.ContainsFunc(chosen, func(c taken) bool { return c.site == s }) {
				children = append(children, s.children...)
			}
		}
		chosen = g.choose(children, slicesWanted, g.extra(), true)
	}
	rows, leader = make(map[int]int), -1
	var spread func(s *site, pods int, extra bool)
	spread = func(s *site, pods int, extra bool) {
		if s.row >= 0 {
			if pods > 0 {
				rows[s.row] += pods
			}
			if extra {
				leader = s.row
			}
			return
		}
		if s.level == outer {
			pods = g.podsIn(pods, extra)
		}
		for _, c := range g.choose(s.children, pods, extra && (s.level < outer || g.matters(s.level)), true) {
			spread(c.site, c.n, c.extra)
		}
	}
	for _, c := range chosen {
		spread(c.site, c.n, c.extra)
	}
	for _, s := range root.sitesAt(level) { // not all that were chosen are used
		if slices.ContainsFunc(s.rows(), func(row int) bool { return rows[row] > 0 || row == leader }) {
			domains++
		}
	}
	return rows, leader, level, domains, g.count, true
}

// topologyCase is a small tree, by the values of each row.
type topologyCase struct {
	levels             []string
	names              []string
	values             [][]string // nil: in no domain
	free               *vector.Matrix
	rows               *vector.Mask
	request            gang.TopologyRequest
	places, withLeader []int

	spread gang.Spread
	apart  int // the level of its sets, after all levels for rows and without
}

func (c *topologyCase) String() string {
	var b strings.Builder
	for r, v := range c.values {
		fmt.Fprintf(&b, "%d %s %v: %d, %d\n", r, c.names[r], v, c.places[r], c.withLeader[r])
	}
	return fmt.Sprintf("%v\n%s%+v\nspread %+v of level %d", c.levels, b.String(), c.request, c.spread, c.apart)
}

// newTopologyCase returns a random case. The places are given by one resource, and the
// leader asks for another, too.
func newTopologyCase(r *rand.Rand) *topologyCase {
	c := new(topologyCase)
	c.levels = []string{"zone", "block", "rack", "host"}[r.IntN(4):]
	c.apart = len(c.levels)
	rows := r.IntN(14)
	c.free = vector.NewMatrix(none, rows, 2)
	if r.IntN(3) == 0 {
		c.rows = vector.NewMask(rows)
	}
	most := 1 + r.IntN(6)
	led := r.IntN(2) == 0
	if led {
		c.request.Leader = vec{float64(r.IntN(3)), 1}
	}
	for row := range rows {
		var values []string
		for l := range c.levels {
			values = append(values, fmt.Sprintf("%c%d", "zbrh"[4-len(c.levels)+l], r.IntN(1+r.IntN(3))))
		}
		if r.IntN(12) == 0 {
			values = nil
		}
		c.values = append(c.values, values)
		c.names = append(c.names, fmt.Sprintf("n%02d", (row*7+3)%rows))
		v := vec{float64(r.IntN(most + 1)), float64(r.IntN(2))}
		if r.IntN(40) == 0 {
			v[0] = inf
		}
		c.free.SetRow(row, v)
		places, withLeader := int(min(v[0], math.MaxInt32)), -1
		if led && v[0] >= c.request.Leader[0] && v[1] >= 1 {
			withLeader = int(min(v[0]-c.request.Leader[0], math.MaxInt32))
		}
		if c.rows != nil {
			if r.IntN(4) > 0 {
				c.rows.Set(row)
			} else {
				places, withLeader = 0, -1
			}
		}
		c.places, c.withLeader = append(c.places, places), append(c.withLeader, withLeader)
	}
	c.request.Request = vec{1}
	c.request.LeastFree = r.IntN(3) == 0
	level := c.levels[r.IntN(len(c.levels))]
	switch r.IntN(4) {
	case 0:
		c.request.Required = level
	case 1:
		c.request.Preferred = level
	case 2:
		c.request.Preferred = level
		c.request.Required = c.levels[r.IntN(slices.Index(c.levels, level)+1)]
	default:
		level = c.levels[0]
	}
	c.request.Count = r.IntN(2*rows*most/3 + 2)
	if r.IntN(2) == 0 {
		c.request.Slices = make(map[string]int)
		size := []int{1, 2, 3, 4, 6}[r.IntN(5)]
		if !led && r.IntN(2) == 0 {
			c.request.Tail = true
		} else {
			c.request.Count -= c.request.Count % size
		}
		for l := slices.Index(c.levels, level) + r.IntN(2); l < len(c.levels); l += 1 + r.IntN(2) {
			c.request.Slices[c.levels[l]] = size
			if size%2 == 0 && r.IntN(2) == 0 {
				size /= 2
			} else if r.IntN(2) == 0 {
				size = 1
			}
		}
	}
	return c
}

// topology makes the Topology of the case.
func (c *topologyCase) topology(t testing.TB) *gang.Topology {
	top := testkit.Must(gang.NewTopology(c.levels...))
	for row, values := range c.values {
		if values == nil {
			top.Unset(row)
		} else {
			testkit.Check(top.Set(row, c.names[row], values...))
		}
	}
	return top
}

// tree returns the golden tree of the case.
func (c *topologyCase) tree() *site {
	root := &site{level: -1, row: -1}
	for row, values := range c.values {
		if values == nil {
			continue
		}
		at := root
		for l, value := range values {
			path := at.path + "/" + value
			i := slices.IndexFunc(at.children, func(s *site) bool { return s.path == path })
			if i < 0 {
				i = len(at.children)
				at.children = append(at.children, &site{path: path, level: l, row: -1})
			}
			at = at.children[i]
			if at.room = unlimited; l >= c.apart {
				at.room = c.roomOf(row)
			}
		}
		at.children = append(at.children, &site{
			path: at.path + "/" + c.names[row], level: len(values), row: row, places: c.places[row], withLeader: c.withLeader[row],
		})
	}
	var order func(s *site)
	order = func(s *site) {
		slices.SortFunc(s.children, func(a, b *site) int { return strings.Compare(a.path, b.path) })
		for _, child := range s.children {
			order(child)
		}
	}
	order(root)
	return root
}

// golden returns the request for the golden model.
func (c *topologyCase) golden() *goldenTopology {
	q := c.request
	g := &goldenTopology{
		levels: c.levels, count: q.Count, led: q.Leader != nil, leastFree: q.LeastFree, sizes: make(map[int]int),
		required: slices.Index(c.levels, q.Required), several: q.Required == "" && q.Preferred == "", level: len(c.levels) - 1,
		apart: c.apart,
	}
	if g.several {
		g.level = min(g.level, c.apart)
	}
	for name, size := range q.Slices {
		g.sizes[slices.Index(c.levels, name)] = size
	}
	switch {
	case q.Preferred != "":
		g.level = slices.Index(c.levels, q.Preferred)
	case g.required >= 0:
		g.level = g.required
	case len(q.Slices) > 0:
		g.level = 0
	}
	return g
}

// checkTopology compares an answer with the golden model.
func checkTopology(t testing.TB, p *gang.Packer, c *topologyCase) {
	t.Helper()
	top := c.topology(t)
	got, err := p.PlaceTopology(gang.TopologyPlacement{}, c.free, c.request, c.rows, top)
	if err != nil {
		t.Fatalf("%v\n%v", err, c)
	}
	if c.request.Count == 0 && c.request.Leader == nil {
		if !got.Fits || len(got.Placement) != 0 || got.Leader != -1 {
			t.Fatalf("nobody: %+v\n%v", got, c)
		}
		return
	}
	g, tree := c.golden(), c.tree()
	if got.Fits != g.fits(tree) {
		t.Fatalf("%+v, but a placement exists: %v\n%v", got, !got.Fits, c)
	}
	rows, leader, level, domains, could, fits := g.place(tree)
	if got.Fits != fits || got.Level != level || got.Could != could || got.Leader != leader || got.Domains != domains {
		t.Fatalf("%+v, want fits %v, leader %d, level %d, %d domains, could %d\n%v", got, fits, leader, level, domains, could, c)
	}
	var want []int32
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		for range rows[row] {
			want = append(want, int32(row))
		}
	}
	if !slices.Equal(got.Placement, want) {
		t.Fatalf("placement %v, want %v\n%v", got.Placement, want, c)
	}
	c.checkInvariants(t, top, got)
}

// checkInvariants checks what has to hold whatever the rule of choosing.
func (c *topologyCase) checkInvariants(t testing.TB, top *gang.Topology, got gang.TopologyPlacement) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n%+v\n%v", append(args, got, c)...)
	}
	if !got.Fits {
		if len(got.Placement) != 0 || len(got.Rejections) != 2 {
			fail("a refusal with a placement or without numbers")
		}
		return
	}
	if len(got.Placement) != c.request.Count || !slices.IsSorted(got.Placement) {
		fail("%d pods", len(got.Placement))
	}
	all := slices.Clone(got.Placement)
	if got.Leader >= 0 {
		all = append(all, int32(got.Leader))
	}
	if !goldenApart(c.spread, c.free.Rows(), all) {
		fail("a set has too many pods")
	}
	perRow, perDomain := make(map[int32]int), make(map[int]int)
	within := make(map[int]bool)
	for _, r := range got.Placement {
		perRow[r]++
		for l := range c.levels {
			perDomain[top.Domain(int(r), l)]++
		}
		within[top.Domain(int(r), got.Level)] = true
	}
	for r, n := range perRow {
		places := c.places[r]
		if int(r) == got.Leader {
			places = c.withLeader[r]
		}
		if n > places {
			fail("%d pods on row %d", n, r)
		}
	}
	if got.Leader >= 0 {
		within[top.Domain(got.Leader, got.Level)] = true
	}
	if len(within) != got.Domains || (len(within) == 1) != within[got.Domain] {
		fail("in %d domains", len(within))
	}
	if required := slices.Index(c.levels, c.request.Required); required >= 0 && (len(within) > 1 || got.Level < required) {
		fail("in %d domains of level %d", len(within), got.Level)
	}
	for name, size := range c.request.Slices {
		smaller := make(map[int]int) // domains with a slice that is smaller
		for r := range perRow {
			d := top.Domain(int(r), slices.Index(c.levels, name))
			if n := perDomain[d]; n%size != 0 {
				smaller[d] = n % size
			}
		}
		for _, n := range smaller {
			if len(smaller) > 1 || n != c.request.Count%size {
				fail("slices of %v in domains of %s", smaller, name)
			}
		}
	}
}

// checkTopologyFilter compares the prefix with the one found by placing anew after every
// victim, and the victims that have to go with those left by placing anew without each.
func checkTopologyFilter(t testing.TB, p, other *gang.Packer, c *topologyCase, r *rand.Rand) {
	t.Helper()
	top := c.topology(t)
	var rows []int
	var amounts []vec
	for range r.IntN(12) {
		if c.free.Rows() > 0 {
			rows = append(rows, r.IntN(1+r.IntN(c.free.Rows())))
			amounts = append(amounts, vec{float64(r.IntN(8)) / 2, float64(r.IntN(2))}[:r.IntN(3)])
		}
	}
	request := c.request
	request.Reprieve = r.IntN(2) == 0
	taken := 0
	o := vector.NewOverlay(c.free)
	got := testkit.Must(p.FilterTopology(gang.TopologyPlacement{}, o, request, c.rows, top, func(yield func(int, vec) bool) {
		for i, row := range rows {
			if taken++; !yield(row, amounts[i]) {
				return
			}
		}
	}))
	without := func(victims []int32) gang.TopologyPlacement { // the answer when only these go
		after := vector.NewOverlay(c.free)
		for _, v := range victims {
			testkit.Check(after.AddToRow(rows[v], amounts[v]))
		}
		answer := testkit.Must(other.PlaceTopology(gang.TopologyPlacement{}, after.Matrix(), c.request, c.rows, top))
		return answer
	}
	var gone []int32
	want := without(gone)
	for len(gone) < len(rows) && !want.Fits {
		gone = append(gone, int32(len(gone)))
		want = without(gone)
	}
	prefix := len(gone)
	if !want.Fits {
		prefix = -1
	} else if request.Reprieve {
		for i := len(gone) - 1; i >= 0; i-- {
			if fewer := slices.Delete(slices.Clone(gone), i, i+1); without(fewer).Fits {
				gone = fewer
			}
		}
		want = without(gone)
		want.Victims = gone
		for i := range gone { // one after the other left out, not one of the rest can be
			if without(slices.Delete(slices.Clone(gone), i, i+1)).Fits {
				t.Fatalf("%v of %v need not go\n%v", gone[i], gone, c)
			}
		}
	}
	want.Prefix = prefix
	if fmt.Sprint(got) != fmt.Sprint(want) || want.Fits && taken != want.Prefix {
		t.Fatalf("%+v with %d victims taken, want %+v\nvictims %v %v\n%v", got, taken, want, rows, amounts, c)
	}
	if !slices.EqualFunc(contents(o.Matrix()), contents(c.free), slices.Equal[[]float64]) {
		t.Fatal("the overlay is not rolled back")
	}
}

func TestTopologyAgainstGolden(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(21)
		var p, other gang.Packer
		rounds := 20000
		if testkit.RaceEnabled || testing.Short() {
			rounds = 2000
		}
		for range rounds {
			c := newTopologyCase(r)
			checkTopology(t, &p, c)
			checkTopologyFilter(t, &p, &other, c, r)
		}
	})
}

func FuzzTopology(f *testing.F) {
	f.Add(uint64(1))
	var p, other gang.Packer
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := testkit.Rand(seed)
		c := newTopologyCase(r)
		checkTopology(t, &p, c)
		checkTopologyFilter(t, &p, &other, c, r)
	})
}
