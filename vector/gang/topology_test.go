package gang_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// worked is the tree of the worked cases: its levels are block, rack and host.
var worked = []struct {
	path string
	free float64
}{
	{"b1 r1 h1", 4}, {"b1 r1 h2", 3}, {"b1 r2 h3", 2}, {"b2 r3 h4", 5}, {"b2 r3 h5", 1}, {"b2 r4 h6", 4},
}

// workedTopology returns the tree with its rows in a given order, and the free amounts.
func workedTopology(t testing.TB, order []int) (*gang.Topology, *vector.Matrix) {
	t.Helper()
	top := testkit.Must(gang.NewTopology("block", "rack", "host"))
	free := vector.NewMatrix(none, len(order), 1)
	for row, i := range order {
		values := strings.Fields(worked[i].path)
		testkit.Check(top.Set(row, values[2], values...))
		free.SetRow(row, vec{worked[i].free})
	}
	return top, free
}

// described returns a placement as the worked cases are written.
func described(top *gang.Topology, got gang.TopologyPlacement) string {
	if !got.Fits {
		where := "together"
		if got.Domain >= 0 {
			where = strings.Join(top.Path(nil, got.Domain), "/")
		}
		return fmt.Sprintf("%s: %s could take %d", top.Levels()[got.Level], where, got.Could)
	}
	number := make(map[string]int)
	for _, r := range got.Placement {
		number[top.Path(nil, top.Domain(int(r), 2))[2]]++
	}
	var parts []string
	for _, host := range []string{"h1", "h2", "h3", "h4", "h5", "h6"} {
		if n := number[host]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", host, n))
		}
	}
	return strings.Join(parts, ", ")
}

func TestTopologyWorkedCases(t *testing.T) {
	for _, test := range []struct {
		name    string
		request gang.TopologyRequest
		want    string
	}{
		{"required rack", gang.TopologyRequest{Count: 5, Required: "rack"}, "h4 5"},
		{"required rack, the larger one", gang.TopologyRequest{Count: 7, Required: "rack"}, "h1 4, h2 3"},
		{"required rack, too many", gang.TopologyRequest{Count: 8, Required: "rack"}, "rack: b1/r1 could take 7"},
		{"preferred rack", gang.TopologyRequest{Count: 8, Preferred: "rack"}, "h1 4, h2 3, h3 1"},
		{"preferred block", gang.TopologyRequest{Count: 12, Preferred: "block"}, "h1 4, h2 3, h4 5"},
		{"unconstrained", gang.TopologyRequest{Count: 6}, "h4 5, h5 1"},
		{"unconstrained, least free", gang.TopologyRequest{Count: 6, LeastFree: true}, "h2 3, h3 2, h5 1"},
		{"slices in a block", gang.TopologyRequest{Count: 4, Required: "block", Slices: map[string]int{"rack": 2}}, "h1 4"},
		{"slices over blocks", gang.TopologyRequest{Count: 14, Preferred: "block", Slices: map[string]int{"rack": 2}}, "h1 4, h2 2, h3 2, h4 5, h5 1"},
		{"slices and a smaller one", gang.TopologyRequest{Count: 5, Required: "block", Slices: map[string]int{"rack": 2}, Tail: true}, "h1 4, h2 1"},
		{"slices and a smaller one on hosts", gang.TopologyRequest{Count: 9, Required: "block", Slices: map[string]int{"host": 2}, Tail: true}, "h1 4, h2 3, h3 2"},
		{"only a smaller slice", gang.TopologyRequest{Count: 3, Required: "rack", Slices: map[string]int{"rack": 8}, Tail: true}, "h6 3"},
		{"a smaller inner slice", gang.TopologyRequest{Count: 7, Required: "rack", Slices: map[string]int{"rack": 8, "host": 4}, Tail: true}, "h1 4, h2 3"},
		{"slices and a smaller one, too many", gang.TopologyRequest{Count: 11, Required: "block", Slices: map[string]int{"rack": 4}, Tail: true}, "block: b2 could take 8"},
		{"preferred block, too many", gang.TopologyRequest{Count: 20, Preferred: "block"}, "block: together could take 19"},
		{"required block, preferred rack", gang.TopologyRequest{Count: 7, Required: "block", Preferred: "rack"}, "h1 4, h2 3"},
		{"required block, preferred rack, which is too small", gang.TopologyRequest{Count: 8, Required: "block", Preferred: "rack"}, "h1 4, h2 3, h3 1"},
		{"required block, preferred host, too many", gang.TopologyRequest{Count: 11, Required: "block", Preferred: "host"}, "block: b2 could take 10"},
		{"required rack, preferred rack", gang.TopologyRequest{Count: 8, Required: "rack", Preferred: "rack"}, "rack: b1/r1 could take 7"},
		{"required host", gang.TopologyRequest{Count: 4, Required: "host"}, "h1 4"},
		{"required block", gang.TopologyRequest{Count: 9, Required: "block"}, "h1 4, h2 3, h3 2"},
		{"required block, least free", gang.TopologyRequest{Count: 3, Required: "block", LeastFree: true}, "h2 3"},
		{"preferred host", gang.TopologyRequest{Count: 6, Preferred: "host"}, "h4 5, h5 1"},
		{"all", gang.TopologyRequest{Count: 19}, "h1 4, h2 3, h3 2, h4 5, h5 1, h6 4"},
		{"one too many", gang.TopologyRequest{Count: 20}, "host: together could take 19"},
		{"inner slices", gang.TopologyRequest{Count: 8, Required: "block", Slices: map[string]int{"rack": 4, "host": 2}}, "h4 4, h6 4"},
		{"inner slices do not fit", gang.TopologyRequest{Count: 12, Preferred: "block", Slices: map[string]int{"rack": 6, "host": 3}}, "block: together could take 6"},
		{"slices of hosts anywhere", gang.TopologyRequest{Count: 12, Slices: map[string]int{"host": 4}}, "h1 4, h4 4, h6 4"},
	} {
		r := testkit.Rand(5)
		for range 6 { // whatever the order of the rows
			top, free := workedTopology(t, r.Perm(len(worked)))
			var p gang.Packer
			test.request.Request = vec{1}
			got, err := p.PlaceTopology(gang.TopologyPlacement{}, free, test.request, nil, top)
			if text := described(top, got); err != nil || text != test.want {
				t.Errorf("%s: %s, %v, want %s", test.name, text, err, test.want)
				break
			}
		}
	}
}

// TestTopologyDomainsUsed: of the domains that are taken at a coarse level not all need
// be used, where the least free come first.
func TestTopologyDomainsUsed(t *testing.T) {
	top := testkit.Must(gang.NewTopology("block", "rack"))
	for row, path := range []string{"b1 r1", "b1 r2", "b2 r3", "b3 r4", "b4 r5"} {
		testkit.Check(top.Set(row, path, strings.Fields(path)...))
	}
	free := matrixOf(1, vec{1}, vec{1}, vec{1}, vec{1}, vec{1})
	var p gang.Packer
	for _, test := range []struct{ pods, domains, domain int }{{4, 3, -1}, {2, 1, top.Domain(0, 0)}, {5, 4, -1}} {
		got, err := p.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{
			Count: test.pods, Request: vec{1}, Slices: map[string]int{"rack": 1}, LeastFree: true,
		}, nil, top)
		if err != nil || got.Domains != test.domains || got.Domain != test.domain {
			t.Errorf("%d pods: %+v, %v", test.pods, got, err)
		}
	}
}

// TestTopologyRefusal: a refusal has numbers.
func TestTopologyRefusal(t *testing.T) {
	top := testkit.Must(gang.NewTopology("rack"))
	free := matrixOf(2, vec{9, 1}, vec{1, 9}, vec{1, 1}, vec{0, 9}, vec{9, 9}, vec{0, 0})
	for row, rack := range []string{"a", "a", "a", "b", "b"} {
		testkit.Check(top.Set(row, fmt.Sprint(row), rack))
	}
	var p gang.Packer
	got, err := p.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{Count: 5, Request: vec{4, 2}, Leader: vec{0, 8}, Required: "rack"}, maskOf(6, 0, 1, 2, 3, 4, 5), top)
	if err != nil || got.Fits || got.Could != 2 || top.Path(nil, got.Domain)[0] != "b" || got.Leader != -1 ||
		!slices.Equal(got.Rejections, []int{3, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = p.PlaceTopology(got, free, gang.TopologyRequest{Count: 2, Request: vec{4, 2}, Leader: vec{0, 8}, Required: "rack"}, nil, top)
	if err != nil || !got.Fits || got.Leader != 3 || !slices.Equal(got.Placement, []int32{4, 4}) || got.Domains != 1 {
		t.Errorf("a leader and two: %+v, %v", got, err)
	}
	got, err = p.PlaceTopology(got, free, gang.TopologyRequest{Leader: vec{}, Required: "rack"}, nil, top)
	if err != nil || !got.Fits || len(got.Placement) != 0 || got.Leader < 0 {
		t.Errorf("only a leader: %+v, %v", got, err)
	}
	got, err = p.PlaceTopology(got, free, gang.TopologyRequest{Count: 3, Request: vec{nan}}, nil, top)
	if err != nil || got.Fits || got.Could != 0 || !slices.Equal(got.Rejections, []int{5, 0}) {
		t.Errorf("a request of NaN: %+v, %v", got, err)
	}
	got, err = p.PlaceTopology(got, free, gang.TopologyRequest{Count: 3}, nil, top)
	if err != nil || !got.Fits || got.Domains != 1 {
		t.Errorf("a request of nothing: %+v, %v", got, err)
	}
}

func TestTopologyErrors(t *testing.T) {
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, test := range []struct {
		levels []string
		want   string
	}{
		{nil, "gang: topology: 0 levels, want 1 to 16"},
		{many, "gang: topology: 17 levels, want 1 to 16"},
		{[]string{"block", ""}, "gang: topology: level 1 has no name"},
		{[]string{"block", "rack", "block"}, `gang: topology: level "block" is named twice`},
	} {
		if _, err := gang.NewTopology(test.levels...); err == nil || err.Error() != test.want || !errors.Is(err, vector.ErrShape) {
			t.Errorf("%v: %v, want %s", test.levels, err, test.want)
		}
	}
	_ = testkit.Must(gang.NewTopology(many[:16]...))

	top, free := workedTopology(t, []int{0, 1, 2, 3, 4, 5})
	before := contentsOf(top)
	for _, test := range []struct {
		err  error
		want string
	}{
		{top.Set(0, "n", "b", "r"), "row 0: 2 values for the levels block, rack, host"},
		{top.Set(6, "n"), "row 6: 0 values for the levels block, rack, host"},
		{top.Domains(new(gang.Domains), "pod"), `no level "pod" among block, rack, host`},
		{second(top.Level("")), `no level "" among block, rack, host`},
	} {
		if test.err == nil || test.err.Error() != "gang: topology: "+test.want || !errors.Is(test.err, vector.ErrShape) {
			t.Errorf("%v, want %s", test.err, test.want)
		}
	}
	for _, call := range []func(){
		func() { _ = top.Set(7, "n", "b", "r", "h") },
		func() { _ = top.Set(-1, "n", "b", "r", "h") },
		func() { _ = new(gang.Topology).Set(0, "n") },
		func() { top.Unset(7) },
		func() { new(gang.Topology).Unset(0) },
		func() { top.RemoveRow(6) },
		func() { top.RemoveRow(-2) },
	} {
		wantPanic(t, "gang: row out of range", call)
	}
	if after := contentsOf(top); after != before {
		t.Errorf("after errors:\n%s\nwant\n%s", after, before)
	}

	var p gang.Packer
	for _, test := range []struct {
		request gang.TopologyRequest
		want    string
	}{
		{gang.TopologyRequest{Count: 1, Required: "pod"}, `no level "pod" among block, rack, host`},
		{gang.TopologyRequest{Count: 1, Preferred: "pod"}, `no level "pod" among block, rack, host`},
		{gang.TopologyRequest{Count: 1, Slices: map[string]int{"rack": 1, "pod": 1, "cage": 1}}, `no level "cage" among block, rack, host`},
		{gang.TopologyRequest{Count: 1, Slices: map[string]int{"": 1}}, `no level "" among block, rack, host`},
		{gang.TopologyRequest{Count: 1, Required: "rack", Preferred: "block"}, `level "block" is preferred, which is coarser than "rack", which is required`},
		{gang.TopologyRequest{Count: 1, Required: "pod", Preferred: "rack"}, `no level "pod" among block, rack, host`},
		{gang.TopologyRequest{Count: 1, Required: "rack", Preferred: "pod"}, `no level "pod" among block, rack, host`},
		{gang.TopologyRequest{Count: 4, Required: "block", Preferred: "host", Slices: map[string]int{"rack": 2}}, `slices at level "rack", which is coarser than "host"`},
		{gang.TopologyRequest{Count: -1}, "a gang of -1 pods"},
		{gang.TopologyRequest{Count: 4, Slices: map[string]int{"rack": 0}}, `slices of 0 pods at level "rack"`},
		{gang.TopologyRequest{Count: 4, Required: "rack", Slices: map[string]int{"block": 2}}, `slices at level "block", which is coarser than "rack"`},
		{gang.TopologyRequest{Count: 5, Slices: map[string]int{"rack": 2}}, `5 pods are no whole slices of 2 at level "rack"`},
		{gang.TopologyRequest{Count: 5, Slices: map[string]int{"rack": 2}, Leader: vec{1}, Tail: true}, `a leader, and 5 pods that are no whole slices of 2 at level "rack"`},
		{gang.TopologyRequest{Count: 8, Slices: map[string]int{"rack": 4, "host": 3}}, `slices of 4 pods are no whole ones of 3 at level "host"`},
	} {
		_, err := p.PlaceTopology(gang.TopologyPlacement{}, free, test.request, nil, top)
		_, filterErr := p.FilterTopology(gang.TopologyPlacement{}, vector.NewOverlay(free), test.request, nil, top, nil)
		if err == nil || err.Error() != "gang: topology: "+test.want || !errors.Is(err, vector.ErrShape) || filterErr.Error() != err.Error() {
			t.Errorf("%+v: %v, want %s", test.request, err, test.want)
		}
	}
	if _, err := p.PlaceTopology(gang.TopologyPlacement{}, matrixOf(1, vec{1}), gang.TopologyRequest{}, nil, top); err == nil ||
		err.Error() != "gang: topology: 6 rows, but the matrix has 1" {
		t.Error(err)
	}
	wantPanic(t, "gang: mask lengths differ", func() {
		_, _ = p.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{}, vector.NewMask(5), top)
	})
	wantPanic(t, "gang: vector is longer than the matrix is wide", func() {
		_, _ = p.PlaceTopology(gang.TopologyPlacement{}, free, gang.TopologyRequest{Leader: vec{1, 1}}, nil, top)
	})
	wantPanic(t, "gang: no such domain", func() { top.Path(nil, 0) })
	wantPanic(t, "gang: no such domain", func() { top.Path(nil, 99) })
	wantPanic(t, "gang: level out of range", func() { top.Domain(0, 3) })
	wantPanic(t, "gang: row out of range", func() { top.Domain(6, 0) })
}

func second[T any](_ T, err error) error { return err }

// contentsOf writes a topology level by level: the domains in order with their rows.
func contentsOf(top *gang.Topology) string {
	var b strings.Builder
	var d gang.Domains
	for l, level := range top.Levels() {
		if err := top.Domains(&d, level); err != nil {
			return err.Error()
		}
		for k := range len(d.Offsets) - 1 {
			rows := d.Rows[d.Offsets[k]:d.Offsets[k+1]]
			fmt.Fprintf(&b, "%s %q %v\n", level, top.Path(nil, top.Domain(int(rows[0]), l)), rows)
		}
	}
	return b.String()
}

// TestTopologyUpdates: rows that come, go and move leave the same tree as one made anew.
func TestTopologyUpdates(t *testing.T) {
	r := testkit.Rand(3)
	for range 60 {
		levels := []string{"zone", "block", "rack"}[r.IntN(3):]
		top := testkit.Must(gang.NewTopology(levels...))
		type node struct {
			name   string
			values []string
		}
		var nodes []node
		set := func(row int) {
			n := node{name: fmt.Sprint("n", r.IntN(9))}
			for range levels {
				n.values = append(n.values, []string{"", "a", "b", "b1", "c"}[r.IntN(5)])
			}
			if row == len(nodes) {
				nodes = append(nodes, n)
			}
			nodes[row] = n
			testkit.Check(top.Set(row, n.name, n.values...))
		}
		for range 80 {
			switch k := r.IntN(10); {
			case k < 4 || len(nodes) == 0:
				set(len(nodes))
			case k < 6:
				set(r.IntN(len(nodes)))
			case k < 7: // nothing changes
				row := r.IntN(len(nodes))
				if nodes[row].values != nil {
					testkit.Check(top.Set(row, nodes[row].name, nodes[row].values...))
				}
			case k < 8:
				row := r.IntN(len(nodes))
				nodes[row].values = nil
				top.Unset(row)
			default:
				row, last, want := r.IntN(len(nodes)), len(nodes)-1, -1
				if row != last {
					want = last
				}
				nodes[row] = nodes[last]
				nodes = nodes[:last]
				if moved := top.RemoveRow(row); moved != want {
					t.Fatalf("row %d of %d: moved %d, want %d", row, last+1, moved, want)
				}
			}
			anew, _ := gang.NewTopology(levels...)
			for row, n := range nodes {
				if n.values == nil {
					anew.Unset(row)
				} else if err := anew.Set(row, n.name, n.values...); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := contentsOf(top), contentsOf(anew); got != want || top.Rows() != len(nodes) {
				t.Fatalf("%s\nwant\n%s", got, want)
			}
			// The order of rows within a domain shows where they are chosen.
			free := vector.NewMatrix(none, len(nodes), 1)
			for row := range nodes {
				free.SetRow(row, vec{float64(row % 3)})
			}
			request := gang.TopologyRequest{Count: r.IntN(5), Request: vec{1}}
			var p gang.Packer
			got, err := p.PlaceTopology(gang.TopologyPlacement{}, free, request, nil, top)
			want, _ := p.PlaceTopology(gang.TopologyPlacement{}, free, request, nil, anew)
			got.Domain, want.Domain = 0, 0 // numbers of their own
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%+v, want %+v, %v", got, want, err)
			}
		}
	}
}

// TestTopologyFewest: without slices as few domains are taken as can be at the level
// that is searched, and at each finer level as few of what was taken above, shown by
// trying all choices.
func TestTopologyFewest(t *testing.T) {
	r := testkit.Rand(13)
	var p gang.Packer
	for range 4000 {
		c := newTopologyCase(r)
		c.request.Slices, c.request.LeastFree = nil, false
		top := c.topology(t)
		got := testkit.Must(p.PlaceTopology(gang.TopologyPlacement{}, c.free, c.request, c.rows, top))
		g := c.golden()
		within := c.tree().sitesAt(got.Level)
		if !got.Fits {
			continue // whether rightly, TestTopologyAgainstGolden shows
		}
		if c.request.Count == 0 {
			continue
		}
		taken := append([]int32{}, got.Placement...)
		if got.Leader >= 0 {
			taken = append(taken, int32(got.Leader))
		}
		for l := got.Level; l < len(c.levels); l++ {
			used := make(map[*site]bool)
			for _, row := range taken {
				for _, s := range within {
					if s.path == "/"+strings.Join(top.Path(nil, top.Domain(int(row), l)), "/") {
						used[s] = true
					}
				}
			}
			if least := fewest(g, within); len(used) != least {
				t.Fatalf("level %d: %d domains, and %d are enough\n%+v\n%v", l, len(used), least, got, c)
			}
			var next []*site
			for _, s := range within {
				if used[s] {
					next = append(next, s.children...)
				}
			}
			within = next
		}
	}
}

// fewest returns with how few sites the gang has enough places, 0 when all are not
// enough.
func fewest(g *goldenTopology, sites []*site) int {
	best := 0
	for set := uint(1); set < 1<<len(sites); set++ {
		whole := &site{level: -1, row: -1}
		for i, s := range sites {
			if set>>i&1 != 0 {
				whole.children = append(whole.children, s)
			}
		}
		if n := len(whole.children); g.has(whole, g.led) >= g.count && (best == 0 || n < best) {
			best = n
		}
	}
	return best
}

func TestTopologyAllocations(t *testing.T) {
	top, free := bigTopology(t, 600)
	amounts := vec{1, 1, 1}
	victims := func(yield func(int, vec) bool) {
		for row := range 600 {
			if !yield(row, amounts) {
				return
			}
		}
	}
	o := vector.NewOverlay(free)
	var p gang.Packer
	var got gang.TopologyPlacement
	for _, request := range []gang.TopologyRequest{
		{Count: 30, Required: "rack"}, {Count: 30, Preferred: "host"}, {Count: 90}, {Count: 200, LeastFree: true},
		{Count: 64, Required: "block", Slices: map[string]int{"rack": 8, "host": 2}},
		{Count: 65, Required: "block", Slices: map[string]int{"rack": 8, "host": 2}, Tail: true},
		{Count: 40, Preferred: "rack", Required: "block", Leader: vec{2, 2, 2}}, {Count: 100000}, {Count: 1100, Required: "block"},
		{Count: 1100, Required: "block", Reprieve: true}, {Count: 2300, Leader: vec{2, 2, 2}, Reprieve: true},
	} {
		request.Request = vec{2, 1, 1}
		call := func() {
			got = testkit.Must(p.PlaceTopology(got, free, request, nil, top))
			got = testkit.Must(p.FilterTopology(got, o, request, nil, top, victims))
		}
		call()
		wantNoAllocations(t, 3, call, request)
	}
}

// bigTopology returns nodes in blocks, racks and hosts, with some room each.
func bigTopology(t testing.TB, rows int) (*gang.Topology, *vector.Matrix) {
	t.Helper()
	r := testkit.Rand(uint64(rows))
	top := testkit.Must(gang.NewTopology("block", "rack", "host"))
	free := vector.NewMatrix(none, rows, 3)
	for row, i := range r.Perm(rows) {
		host := fmt.Sprintf("h%05d", i)
		testkit.Check(top.Set(row, host, fmt.Sprintf("b%02d", i/256), fmt.Sprintf("r%04d", i/16), host))
		free.SetRow(row, vec{float64(r.IntN(9)), float64(r.IntN(9)), 8})
	}
	return top, free
}
