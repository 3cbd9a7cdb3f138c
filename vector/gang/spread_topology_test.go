package gang_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// roomOf returns how many pods the set of a row takes, unlimited for a row in none.
func (c *topologyCase) roomOf(row int) int {
	for set, rows := range setsOf(c.spread, c.free.Rows()) {
		for _, r := range rows {
			if int(r) != row || c.spread.Most == 0 {
				continue
			}
			if c.spread.Running == nil {
				return c.spread.Most
			}
			return max(c.spread.Most-c.spread.Running[set], 0)
		}
	}
	return unlimited
}

// spreadOut gives c a random Spread over rows or over the domains of a level.
func (c *topologyCase) spreadOut(t testing.TB, r *rand.Rand) {
	rows := c.free.Rows()
	c.spread.Most = 1 + r.IntN(4)
	sets := rows
	if c.apart = r.IntN(len(c.levels) + 1); c.apart < len(c.levels) {
		var all gang.Domains
		testkit.Check(c.topology(t).Domains(&all, c.levels[c.apart]))
		c.spread.Domains = &gang.Domains{Offsets: vector.Offsets{0}}
		for set := 0; set+1 < len(all.Offsets); set++ {
			if r.IntN(5) == 0 {
				continue // it takes any number
			}
			c.spread.Domains.Rows = append(c.spread.Domains.Rows, all.Rows[all.Offsets[set]:all.Offsets[set+1]]...)
			c.spread.Domains.Offsets = append(c.spread.Domains.Offsets, int32(len(c.spread.Domains.Rows)))
		}
		sets = len(c.spread.Domains.Offsets) - 1
		c.spread.Most = 1 + r.IntN(8)
	}
	if r.IntN(2) == 0 {
		c.spread.Running = make([]int, sets)
		for set := range c.spread.Running {
			c.spread.Running[set] = r.IntN(4)
		}
	}
	if c.apart < len(c.levels) {
		// The finest level of which all sets are domains is the one that is taken, and rows
		// before all.
		c.apart = c.finestApart()
	}
	if c.apart == len(c.levels) {
		for row := range rows {
			room := c.roomOf(row)
			if c.places[row] = min(c.places[row], room); room == 0 {
				c.withLeader[row] = -1
			} else {
				c.withLeader[row] = min(c.withLeader[row], room-1)
			}
		}
	}
}

// finestApart returns the finest level of which the sets are domains, after all levels when
// they are rows.
func (c *topologyCase) finestApart() int {
	set := make([]int, c.free.Rows())
	for r := range set {
		set[r] = -1
	}
	largest := 0
	for k, rows := range setsOf(c.spread, c.free.Rows()) {
		largest = max(largest, len(rows))
		for _, r := range rows {
			set[r] = k
		}
	}
	if largest <= 1 {
		return len(c.levels)
	}
	for l := len(c.levels) - 1; ; l-- {
		setOf, domainOf, ok := make(map[string]int), make(map[int]string), true
		for r, values := range c.values {
			if values == nil {
				continue
			}
			path := ""
			for _, v := range values[:l+1] {
				path += "/" + v
			}
			if k, seen := setOf[path]; seen && k != set[r] {
				ok = false
			}
			if d, seen := domainOf[set[r]]; set[r] >= 0 && seen && d != path {
				ok = false
			}
			setOf[path], domainOf[set[r]] = set[r], path
		}
		if ok {
			return l
		}
	}
}

// TestTopologySpread: with members apart the answers are the golden model's, which are
// exact, and no set takes too many.
func TestTopologySpread(t *testing.T) {
	r := testkit.Rand(31)
	var p, other gang.Packer
	for range testkit.Amount(t, 2000, 20000, 100000) {
		c := newTopologyCase(r)
		c.spreadOut(t, r)
		setSpread(t, c.spread, &p, &other)
		checkTopology(t, &p, c)
		checkTopologyFilter(t, &p, &other, c, r)
	}
}

// TestTopologySpreadWorked: blocks b1 and b2 with racks r1, r2 and r3, r4; see worked.
func TestTopologySpreadWorked(t *testing.T) {
	top, free := workedTopology(t, []int{0, 1, 2, 3, 4, 5})
	var blocks, racks gang.Domains
	for level, d := range map[string]*gang.Domains{"block": &blocks, "rack": &racks} {
		testkit.Check(top.Domains(d, level))
	}
	for _, test := range []struct {
		spread  gang.Spread
		request gang.TopologyRequest
		want    string
	}{
		{gang.Spread{Most: 1}, gang.TopologyRequest{Count: 2, Required: "rack"}, "h1 1, h2 1"},
		{gang.Spread{Most: 1}, gang.TopologyRequest{Count: 3, Required: "rack"}, "rack: b1/r1 could take 2"},
		{gang.Spread{Most: 1}, gang.TopologyRequest{Count: 3, Preferred: "rack"}, "h1 1, h2 1, h3 1"},
		{gang.Spread{Most: 2, Running: []int{0, 2, 0, 0, 0, 0}}, gang.TopologyRequest{Count: 4, Required: "block"}, "h1 2, h3 2"},
		{gang.Spread{Most: 2, Domains: &racks}, gang.TopologyRequest{Count: 4, Required: "block"}, "h2 2, h3 2"},
		{gang.Spread{Most: 2, Domains: &racks}, gang.TopologyRequest{Count: 5, Required: "block"}, "block: b1 could take 4"},
		{gang.Spread{Most: 3, Domains: &racks}, gang.TopologyRequest{Count: 8}, "h2 3, h3 2, h4 3"},
		{gang.Spread{Most: 5, Domains: &blocks}, gang.TopologyRequest{Count: 10}, "h1 4, h2 1, h4 5"},
		{gang.Spread{Most: 5, Domains: &blocks}, gang.TopologyRequest{Count: 11}, "block: together could take 10"},
		{gang.Spread{Most: 5, Domains: &blocks}, gang.TopologyRequest{Count: 8, Slices: map[string]int{"rack": 2}}, "h1 4, h6 4"},
		{gang.Spread{Most: 5, Domains: &blocks}, gang.TopologyRequest{Count: 10, Slices: map[string]int{"rack": 2}}, "block: together could take 8"},
	} {
		var p gang.Packer
		setSpread(t, test.spread, &p)
		test.request.Request = vec{1}
		got := testkit.Must(p.PlaceTopology(gang.TopologyPlacement{}, free, test.request, nil, top))
		if got := described(top, got); got != test.want {
			t.Errorf("%+v, %+v: %s, want %s", test.spread, test.request, got, test.want)
		}
	}
	for want, spread := range map[string]gang.Spread{
		"gang: topology: a spread with a skew": {Most: 1, Skew: 1},
		`gang: topology: a spread over sets that are neither rows nor the domains of one level of ["block" "rack" "host"]`: {
			Most: 1, Domains: &gang.Domains{Rows: []int32{0, 2}, Offsets: vector.Offsets{0, 2}},
		},
	} {
		var p gang.Packer
		setSpread(t, spread, &p)
		_, err := p.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{Count: 1, Request: vec{1}}, nil, top)
		if err == nil || err.Error() != want || !errors.Is(err, vector.ErrShape) {
			t.Errorf("%v, want %s", err, want)
		}
		_, err = p.FilterTopology(gang.TopologyPlacement{}, vector.NewOverlay(free), gang.TopologyRequest{Count: 1, Request: vec{1}}, nil, top, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
