package vector_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// goldenNodes is vector.Nodes as maps, without a thought of speed.
type goldenNodes struct {
	nodes    map[string]*goldenNode
	order    []string // by row
	cols     int
	integral bool // columns 1, 3, … take whole numbers only
	scored   bool
}

type goldenNode struct {
	generation                     int64
	stale                          bool
	allocatable, requested, scored []float64
}

func newGoldenNodes(cols int, integral, scored bool) *goldenNodes {
	return &goldenNodes{nodes: map[string]*goldenNode{}, cols: cols, integral: integral, scored: scored}
}

func (g *goldenNodes) clone() *goldenNodes {
	c := newGoldenNodes(g.cols, g.integral, g.scored)
	c.order = slices.Clone(g.order)
	for name, n := range g.nodes {
		c.nodes[name] = &goldenNode{n.generation, n.stale, slices.Clone(n.allocatable), slices.Clone(n.requested), slices.Clone(n.scored)}
	}
	return c
}

// goldenSchema is the schema of so many columns.
func goldenSchema(cols int, integral bool) vector.Schema {
	var columns []vector.SchemaColumn
	for j := range cols {
		columns = append(columns, vector.SchemaColumn{Name: fmt.Sprint("c", j), Integral: integral && j%2 == 1})
	}
	return vector.NewSchema(columns)
}

func (g *goldenNodes) padded(v vec) []float64 {
	row := make([]float64, g.cols)
	for j, x := range v {
		row[j] = x + 0 // -0 is 0
	}
	return row
}

// holds reports whether a row may hold requested amounts.
func (g *goldenNodes) holds(row []float64) bool {
	for j, x := range row {
		if math.IsNaN(x) || math.Abs(x) >= 1<<53 || g.integral && j%2 == 1 && x != math.Floor(x) {
			return false
		}
	}
	return true
}

func (g *goldenNodes) set(name string, generation int64, a vector.NodeAmounts) (changed, ok bool) {
	n := g.nodes[name]
	if n != nil && n.generation == generation && !n.stale {
		return false, true
	}
	if a.Scored == nil {
		a.Scored = a.Requested
	}
	total, requested, scored := g.padded(a.Allocatable), g.padded(a.Requested), g.padded(a.Scored)
	for j, x := range total {
		if math.IsNaN(x) || math.IsInf(x, -1) || g.integral && j%2 == 1 && x != math.Floor(x) {
			return false, false
		}
	}
	if !g.holds(requested) || !g.holds(scored) {
		return false, false
	}
	if n == nil {
		g.order = append(g.order, name)
	}
	g.nodes[name] = &goldenNode{generation, false, total, requested, scored}
	return true, true
}

func (g *goldenNodes) delete(name string) bool {
	i := slices.Index(g.order, name)
	if i < 0 {
		return false
	}
	last := len(g.order) - 1
	g.order[i] = g.order[last]
	g.order = g.order[:last]
	delete(g.nodes, name)
	return true
}

// move adds pods, or does nothing when one of them cannot be added.
func (g *goldenNodes) move(rows []int32, pods []vector.PodAmounts, sign float64) bool {
	trial := g.clone()
	for i, row := range rows {
		n, pod := trial.nodes[trial.order[row]], pods[i]
		if pod.Scored == nil {
			pod.Scored = pod.Requested
		}
		if !g.holds(pod.Requested) || g.scored && !g.holds(pod.Scored) {
			return false
		}
		for j, x := range pod.Requested {
			n.requested[j] += sign * x
		}
		for j, x := range pod.Scored {
			n.scored[j] += sign * x
		}
		if !g.holds(n.requested) || g.scored && !g.holds(n.scored) {
			return false
		}
	}
	*g = *trial
	return true
}

func (g *goldenNodes) widen(cols int) {
	g.cols = cols
	for _, n := range g.nodes {
		n.stale = true
		n.allocatable, n.requested, n.scored = g.padded(n.allocatable), g.padded(n.requested), g.padded(n.scored)
	}
}

// rows returns the amounts of every row.
func (g *goldenNodes) rows(of func(n *goldenNode) []float64) (rows [][]float64) {
	for _, name := range g.order {
		rows = append(rows, of(g.nodes[name]))
	}
	return rows
}

func (g *goldenNodes) free() [][]float64 {
	return g.rows(func(n *goldenNode) []float64 {
		row := make([]float64, g.cols)
		for j := range row {
			row[j] = n.allocatable[j] - n.requested[j]
		}
		return row
	})
}

// wantNodes fails the test unless n says what g says.
func wantNodes(t *testing.T, what string, n *vector.Nodes, g *goldenNodes) {
	t.Helper()
	requested := g.rows(func(n *goldenNode) []float64 { return n.requested })
	wantMatrix(t, what+": allocatable", n.Allocatable(), g.rows(func(n *goldenNode) []float64 { return n.allocatable }))
	wantMatrix(t, what+": requested", n.Requested(), requested)
	wantMatrix(t, what+": free", n.Free(), g.free())
	if g.scored {
		wantMatrix(t, what+": scored", n.Scored(), g.rows(func(n *goldenNode) []float64 { return n.scored }))
	} else if n.Scored() != n.Requested() {
		t.Fatalf("%s: scored amounts that are not kept", what)
	}
	if n.Len() != len(g.order) || n.Free().Cols() != g.cols || n.Names().Len() != len(g.order) {
		t.Fatalf("%s: %d rows, %d columns, %d names, want %d, %d", what, n.Len(), n.Free().Cols(), n.Names().Len(), len(g.order), g.cols)
	}
	for name, row := range n.All() {
		want := g.nodes[name]
		if want == nil || g.order[row] != name || n.Name(row) != name || n.Names().Name(row) != name {
			t.Fatalf("%s: row %d is %q, want %q", what, row, name, g.order[row])
		}
		if i, ok := n.Row(name); !ok || i != row {
			t.Fatalf("%s: Row(%q) = %d, %v, want %d", what, name, i, ok, row)
		}
		if i, ok := n.Names().Row(name); !ok || i != row {
			t.Fatalf("%s: Names().Row(%q) = %d, %v, want %d", what, name, i, ok, row)
		}
		for generation := range int64(4) {
			if got := n.Current(name, generation); got != (!want.stale && generation == want.generation) {
				t.Fatalf("%s: Current(%q, %d) = %v", what, name, generation, got)
			}
		}
	}
	if _, ok := n.Row("nobody"); ok || n.Current("nobody", 0) {
		t.Fatalf("%s: a row for nobody", what)
	}
	for j := range g.cols {
		kept, whole := n.Reciprocals(j)
		if kept == nil {
			continue
		}
		want := make([]float64, len(g.order))
		for i, name := range g.order {
			x := g.nodes[name].allocatable[j]
			want[i] = goldenReciprocal(x)
			if whole && !(x >= 0 && x <= 1<<44 && x == math.Trunc(x)) {
				t.Fatalf("%s: column %d with %v counts as whole", what, j, x)
			}
		}
		if !same(kept, want) {
			t.Fatalf("%s: reciprocals of column %d are %v, want %v", what, j, kept, want)
		}
	}
	if err := vector.ReciprocalInvariants(n); err != nil {
		t.Fatalf("%s: reciprocals: %v", what, err)
	}
	sums, shares := make([]float64, n.Len()), make([]float64, n.Len())
	vector.NormalizedSumRows(sums, n.Requested(), n.Allocatable())
	vector.DominantResourceRows(shares, n.Requested(), n.Allocatable())
	for i, name := range g.order {
		node := g.nodes[name]
		if sum := vec(node.requested).NormalizedSum(node.allocatable); !same(sums[i:i+1], vec{sum}) {
			t.Fatalf("%s: row %d uses %v, want %v", what, i, sums[i], sum)
		}
		if share := vec(node.requested).DominantResource(node.allocatable); !same(shares[i:i+1], vec{share}) {
			t.Fatalf("%s: row %d has the share %v, want %v", what, i, shares[i], share)
		}
	}
}

// goldenReciprocal is what Nodes keep of an amount.
func goldenReciprocal(x float64) float64 {
	switch {
	case x >= math.Ldexp(1, -400) && x <= math.Ldexp(1, 400):
		return 1 / x
	case x <= 0 && !math.IsInf(x, -1):
		return 0
	}
	return math.NaN()
}

// nodesHistory checks Changed of nodes and of their matrices.
type nodesHistory struct {
	states   []*goldenNodes
	versions []uint64
	matrices [4]history
}

func (h *nodesHistory) look(t *testing.T, n *vector.Nodes, g *goldenNodes) {
	for i, old := range h.states {
		rows, all := n.Changed(nil, h.versions[i])
		if all {
			continue
		}
		for row, name := range g.order {
			differs := row >= len(old.order) || old.order[row] != name || old.cols != g.cols ||
				fmt.Sprint(*old.nodes[name]) != fmt.Sprint(*g.nodes[name])
			if _, named := slices.BinarySearch(rows, int32(row)); differs && !named {
				t.Fatalf("row %d changed since version %d; Changed = %v", row, h.versions[i], rows)
			}
		}
	}
	if len(h.states) == 4 {
		h.states, h.versions = h.states[1:], h.versions[1:]
	}
	h.states, h.versions = append(h.states, g.clone()), append(h.versions, n.Version())
	for k, m := range []*vector.Matrix{n.Allocatable(), n.Requested(), n.Free(), n.Scored()} {
		now := &rowModel{contents(m), g.cols}
		h.matrices[k].check(t, m, now)
		h.matrices[k].note(m, now)
	}
}

// nodesStory plays a program on nodes and on the golden model.
func nodesStory(t *testing.T, p *program) {
	cols, integral, scored := 1+p.pick(4), p.pick(2) == 0, p.pick(2) == 0
	var opts []vector.NodesOption
	if scored {
		opts = append(opts, vector.WithScored())
	}
	n := vector.NewNodes(goldenSchema(cols, integral), cols, opts...)
	g := newGoldenNodes(cols, integral, scored)
	var logs, viewLogs nodesHistory
	var view, again vector.Nodes
	scoredOf := func() vec {
		if !scored || p.pick(2) == 0 {
			return nil
		}
		return p.vector(g.cols)
	}
	wantAnswer := func(err error, ok bool) {
		t.Helper()
		var amount *vector.AmountError
		if (err == nil) != ok || err != nil && (!errors.As(err, &amount) || !errors.Is(err, vector.ErrNotRepresentable)) {
			t.Fatalf("error %v where the model says %v", err, ok)
		}
	}
	for !p.done() {
		name, generation := fmt.Sprint("node", p.pick(70)), int64(p.pick(4))
		op := p.pick(16)
		if len(g.order) == 0 && op > 5 && op < 11 {
			op = 0
		}
		switch op {
		case 0, 1, 2, 3, 4:
			amounts := vector.NodeAmounts{Allocatable: p.vector(g.cols), Requested: p.vector(g.cols), Scored: scoredOf()}
			row, changed, err := n.Set(name, generation, amounts)
			wantChanged, ok := g.set(name, generation, amounts)
			wantAnswer(err, ok)
			if changed != wantChanged || err == nil && g.order[row] != name {
				t.Fatalf("Set(%q, %d) = %d, %v, want %v", name, generation, row, changed, wantChanged)
			}
		case 5:
			if got := n.Delete(name); got != g.delete(name) {
				t.Fatalf("Delete(%q) = %v", name, got)
			}
		case 6, 7, 8:
			row, sign := p.pick(len(g.order)), float64(1-2*p.pick(2))
			pod := vector.PodAmounts{Requested: p.vector(g.cols), Scored: scoredOf()}
			call := n.Assume
			if sign < 0 {
				call = n.Forget
			}
			wantAnswer(call(row, pod), g.move([]int32{int32(row)}, []vector.PodAmounts{pod}, sign))
		case 9, 10:
			var rows []int32
			var pods []vector.PodAmounts
			for range p.pick(6) {
				rows = append(rows, int32(p.pick(min(3, len(g.order)))))
				pods = append(pods, vector.PodAmounts{Requested: p.vector(g.cols), Scored: scoredOf()})
			}
			before := []uint64{n.Version(), n.Requested().Version(), n.Free().Version(), n.Scored().Version()}
			var err error
			if op == 9 {
				err = n.AssumeAll(rows, pods)
				wantAnswer(err, g.move(rows, pods, 1))
			} else {
				err = n.ForgetAll(rows, pods)
				wantAnswer(err, g.move(rows, pods, -1))
			}
			if after := []uint64{n.Version(), n.Requested().Version(), n.Free().Version(), n.Scored().Version()}; err != nil && !slices.Equal(before, after) {
				t.Fatal("a gang that was refused counts as a write")
			}
		case 11:
			if g.cols < 7 {
				wider := g.cols + p.pick(3)
				n.Widen(goldenSchema(wider, integral), wider)
				g.widen(wider)
			}
		case 12:
			if n.KeepReciprocals(p.pick(g.cols)); p.pick(3) == 0 {
				for j := range g.cols {
					n.KeepReciprocals(j)
				}
			}
		case 13, 14:
			n.Snapshot(&view)
			wantNodes(t, "copy", &view, g)
			viewLogs.look(t, &view, g)
			if view.Names() != n.Names() {
				t.Fatal("a copy has other names")
			}
			if p.pick(3) == 0 {
				view.KeepReciprocals(p.pick(g.cols), p.pick(g.cols))
			}
			if p.pick(4) == 0 {
				view.Snapshot(&again)
				wantNodes(t, "copy of a copy", &again, g)
			}
		case 15: // a copy of something else in between
			if p.pick(4) == 0 {
				other := vector.NewNodes(none, 2, opts...)
				mustSet(t, other, "x", 1, vector.NodeAmounts{Allocatable: vec{1}})
				other.Snapshot(&view)
			}
		}
		wantNodes(t, fmt.Sprint("after operation ", op), n, g)
		if p.pick(3) == 0 {
			logs.look(t, n, g)
		}
	}
	n.Snapshot(&view)
	wantNodes(t, "at the end", &view, g)
}

func TestNodesStories(t *testing.T) {
	r := testkit.Rand(3)
	stories := 60
	if testkit.RaceEnabled || testing.Short() {
		stories = 6
	}
	for range stories {
		data := make([]byte, 200+r.IntN(3000))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		nodesStory(t, &program{data: data})
	}
}

func FuzzNodes(f *testing.F) {
	addPrograms(f)
	f.Fuzz(func(t *testing.T, data []byte) { nodesStory(t, &program{data: data}) })
}

var cpuGPU = vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu", Integral: true}})

func mustSet(t testing.TB, n *vector.Nodes, name string, generation int64, a vector.NodeAmounts) int {
	t.Helper()
	row, _, err := n.Set(name, generation, a)
	testkit.Check(err)
	return row
}

// What a node may have and request, and what is free.
func TestNodesSet(t *testing.T) {
	for _, c := range []struct {
		name    string
		amounts vector.NodeAmounts
		free    vec // nil: refused
		wrong   string
	}{
		{"plain", vector.NodeAmounts{Allocatable: vec{8000, 4000}, Requested: vec{500, 1000}}, vec{7500, 3000}, ""},
		{"shorter vectors", vector.NodeAmounts{Allocatable: vec{8000}}, vec{8000, 0}, ""},
		{"nothing", vector.NodeAmounts{}, vec{0, 0}, ""},
		{"over-subscribed", vector.NodeAmounts{Allocatable: vec{1000, 1}, Requested: vec{3000, 2}}, vec{-2000, -1}, ""},
		{"unlimited", vector.NodeAmounts{Allocatable: vec{inf, inf}, Requested: vec{5, 7}}, vec{inf, inf}, ""},
		{"more than 2^53", vector.NodeAmounts{Allocatable: vec{1 << 60, 1 << 60}}, vec{1 << 60, 1 << 60}, ""},
		{"zeros have one sign", vector.NodeAmounts{Allocatable: vec{zero}, Requested: vec{zero}}, vec{0, 0}, ""},
		{"a fraction", vector.NodeAmounts{Allocatable: vec{0.5}, Requested: vec{0.25}}, vec{0.25, 0}, ""},

		{"NaN", vector.NodeAmounts{Allocatable: vec{nan}}, nil, "allocatable: cpu: amount NaN is nothing that a node can have"},
		{"-Inf", vector.NodeAmounts{Allocatable: vec{0, -inf}}, nil, "allocatable: gpu: amount -Inf is nothing that a node can have"},
		{"half a GPU", vector.NodeAmounts{Allocatable: vec{0, 0.5}}, nil, "allocatable: gpu: amount 0.5 is not a whole number"},
		{"NaN requested", vector.NodeAmounts{Requested: vec{nan}}, nil, "requested: cpu: amount NaN is not a finite number"},
		{"+Inf requested", vector.NodeAmounts{Allocatable: vec{inf}, Requested: vec{inf}}, nil, "requested: cpu: amount +Inf is not a finite number"},
		{"2^53 requested", vector.NodeAmounts{Requested: vec{1 << 53}}, nil, "requested: cpu: amount 9007199254740992 is too large"},
		{"half a GPU requested", vector.NodeAmounts{Requested: vec{0, 0.5}}, nil, "requested: gpu: amount 0.5 is not a whole number"},
		{"NaN scored", vector.NodeAmounts{Scored: vec{0, nan}}, nil, "scored: gpu: amount NaN is not a finite number"},
	} {
		n := vector.NewNodes(cpuGPU, 2, vector.WithScored())
		start := vector.NodeAmounts{Allocatable: vec{9, 9}, Requested: vec{1, 1}, Scored: vec{2, 2}}
		mustSet(t, n, "old", 7, start)
		versions := func() string {
			return fmt.Sprint(n.Version(), n.Allocatable().Version(), n.Requested().Version(), n.Free().Version(), n.Scored().Version(), n.Len(), n.Names())
		}
		before := versions()
		for _, name := range []string{"old", "new"} {
			row, changed, err := n.Set(name, 8, c.amounts)
			if c.free == nil {
				if err == nil || changed || !strings.HasPrefix(err.Error(), name+": "+c.wrong) || !errors.Is(err, vector.ErrNotRepresentable) {
					t.Errorf("%s: %v, %v", c.name, changed, err)
				}
				if versions() != before || !n.Current("old", 7) || !same(n.Free().Row(nil, 0), vec{8, 8}) {
					t.Errorf("%s: something was written", c.name)
				}
				continue
			}
			if err != nil || !changed || !same(n.Free().Row(nil, row), c.free) {
				t.Errorf("%s: %v, %v, free %v, want %v", c.name, changed, err, n.Free().Row(nil, row), c.free)
			}
		}
	}
}

// A generation is written once; 0 is one like others.
func TestNodesGenerations(t *testing.T) {
	n := vector.NewNodes(none, 1)
	a := vector.NodeAmounts{Allocatable: vec{4}, Requested: vec{1}}
	for _, c := range []struct {
		generation int64
		changed    bool
	}{{0, true}, {0, false}, {5, true}, {5, false}, {4, true}, {-1, true}, {math.MinInt64, true}, {0, true}} {
		if _, changed, err := n.Set("a", c.generation, a); err != nil || changed != c.changed || !n.Current("a", c.generation) {
			t.Errorf("generation %d: %v, %v", c.generation, changed, err)
		}
	}
	// An assumption outlives the old generation and not the new one.
	pod := vector.PodAmounts{Requested: vec{2}}
	testkit.Check(n.Assume(0, pod))
	if mustSet(t, n, "a", 0, a); n.Free().At(0, 0) != 1 {
		t.Errorf("the old generation took the pod away: %v free", n.Free().At(0, 0))
	}
	if mustSet(t, n, "a", 1, a); n.Free().At(0, 0) != 3 {
		t.Errorf("the new generation kept the pod: %v free", n.Free().At(0, 0))
	}
}

// Only what has become something else counts as changed.
func TestNodesChanged(t *testing.T) {
	n := vector.NewNodes(none, 2, vector.WithScored())
	a := vector.NodeAmounts{Allocatable: vec{8, 8}, Requested: vec{1, 1}, Scored: vec{2, 2}}
	for _, name := range []string{"a", "b", "c"} {
		mustSet(t, n, name, 1, a)
	}
	var view vector.Nodes
	n.Snapshot(&view)
	pod := vector.PodAmounts{Requested: vec{1}, Scored: vec{3}}
	for _, c := range []struct {
		what                                string
		do                                  func() error
		any, allocatable, requested, scored []int32
	}{
		{"the same generation", func() error { mustSet(t, n, "b", 1, vector.NodeAmounts{}); return nil }, nil, nil, nil, nil},
		{"a new one with the same amounts", func() error { mustSet(t, n, "b", 2, a); return nil }, []int32{1}, nil, nil, nil},
		{"a pod", func() error { return n.Assume(2, pod) }, []int32{2}, nil, []int32{2}, []int32{2}},
		{"a gang", func() error {
			return n.AssumeAll([]int32{2, 0, 2}, []vector.PodAmounts{pod, pod, pod})
		}, []int32{0, 2}, nil, []int32{0, 2}, []int32{0, 2}},
		{"scored amounts alone", func() error {
			mustSet(t, n, "b", 3, vector.NodeAmounts{Allocatable: vec{8, 8}, Requested: vec{1, 1}, Scored: vec{5}})
			return nil
		}, []int32{1}, nil, nil, []int32{1}},
		{"allocatable alone", func() error {
			mustSet(t, n, "b", 4, vector.NodeAmounts{Allocatable: vec{9, 8}, Requested: vec{1, 1}, Scored: vec{5}})
			return nil
		}, []int32{1}, []int32{1}, nil, nil},
		{"a row that moves", func() error { n.Delete("a"); return nil }, []int32{0}, []int32{0}, []int32{0}, []int32{0}},
	} {
		logs := func(n *vector.Nodes) []interface {
			Version() uint64
			Changed([]int32, uint64) ([]int32, bool)
		} {
			return []interface {
				Version() uint64
				Changed([]int32, uint64) ([]int32, bool)
			}{n, n.Allocatable(), n.Requested(), n.Scored(), n.Free()}
		}
		var since [2][]uint64
		for k, x := range []*vector.Nodes{n, &view} {
			for _, log := range logs(x) {
				since[k] = append(since[k], log.Version())
			}
		}
		testkit.Check(c.do())
		n.Snapshot(&view)
		free := slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.allocatable, c.requested))))
		for k, x := range []*vector.Nodes{n, &view} {
			for i, want := range [][]int32{c.any, c.allocatable, c.requested, c.scored, free} {
				if rows, all := logs(x)[i].Changed(nil, since[k][i]); all || !slices.Equal(rows, want) {
					t.Errorf("%s, nodes %d, log %d: %v, %v, want %v", c.what, k, i, rows, all, want)
				}
			}
		}
	}
}

// Assume and Forget of amounts that cannot be taken back, in every column.
func TestNodesRefusedPods(t *testing.T) {
	const most = 1<<53 - 1
	for _, c := range []struct {
		name   string
		pod    vector.PodAmounts
		forget bool
		wrong  string
	}{
		{"NaN", vector.PodAmounts{Requested: vec{nan}}, false, "requested: row 1: cpu: amount NaN is not a finite number"},
		{"+Inf", vector.PodAmounts{Requested: vec{inf}}, true, "requested: row 1: cpu: amount +Inf is not a finite number"},
		{"-Inf, gpu", vector.PodAmounts{Requested: vec{0, -inf}}, false, "requested: row 1: gpu: amount -Inf is not a finite number"},
		{"a fraction", vector.PodAmounts{Requested: vec{0.5, 0.5}}, false, "requested: row 1: gpu: amount 0.5 is not a whole number"},
		{"2^53", vector.PodAmounts{Requested: vec{1 << 53}}, false, "requested: row 1: cpu: amount 9007199254740992 is too large"},
		{"a sum of 2^53", vector.PodAmounts{Requested: vec{most}}, false, "requested: row 1: cpu: amount 9007199254740991 makes the row's amount too large"},
		{"a difference of -2^53", vector.PodAmounts{Requested: vec{-1, -most}}, false, "requested: row 1: gpu: amount -9007199254740991 makes the row's amount too large"},
		{"scored", vector.PodAmounts{Requested: vec{1}, Scored: vec{1, nan}}, false, "scored: row 1: gpu: amount NaN is not a finite number"},
		{"a scored sum", vector.PodAmounts{Scored: vec{most}}, false, "scored: row 1: cpu: amount 9007199254740991 makes the row's amount too large"},
	} {
		n := vector.NewNodes(cpuGPU, 2, vector.WithScored())
		for _, name := range []string{"a", "b"} {
			mustSet(t, n, name, 1, vector.NodeAmounts{Allocatable: vec{inf, 8}, Requested: vec{1, -1}, Scored: vec{1, 1}})
		}
		state := func() string {
			s := fmt.Sprintln(n.Version())
			for _, m := range []*vector.Matrix{n.Allocatable(), n.Requested(), n.Free(), n.Scored()} {
				s += fmt.Sprintln(m.Version(), contents(m))
			}
			return s
		}
		before := state()
		good := vector.PodAmounts{Requested: vec{2, 2}, Scored: vec{3}}
		one, all := n.Assume, n.AssumeAll
		if c.forget {
			one, all = n.Forget, n.ForgetAll
		}
		for what, err := range map[string]error{
			"one":    one(1, c.pod),
			"a gang": all([]int32{0, 0, 1, 0}, []vector.PodAmounts{good, good, c.pod, good}),
		} {
			prefix := "b: "
			if what == "a gang" {
				prefix = "pod 2: b: "
			}
			if err == nil || !strings.HasPrefix(err.Error(), prefix+c.wrong) || !errors.Is(err, vector.ErrNotRepresentable) {
				t.Errorf("%s, %s: %v", c.name, what, err)
			}
		}
		if after := state(); after != before {
			t.Errorf("%s: something was written:\n%s\nbefore:\n%s", c.name, after, before)
		}
	}
}

func TestNodesPanics(t *testing.T) {
	newNodes := func() *vector.Nodes {
		n := vector.NewNodes(cpuGPU, 2)
		mustSet(t, n, "a", 1, vector.NodeAmounts{Allocatable: vec{4, 4}})
		return n
	}
	const (
		row     = "vector: row out of range"
		long    = "vector: vector is longer than the matrix is wide"
		scored  = "vector: scored amounts for nodes that keep none"
		kind    = "vector: write to nodes that NewNodes did not make"
		rows    = "vector: not one row per pod"
		narrow  = "vector: a matrix cannot be narrowed"
		columns = "vector: schema has another number of columns"
	)
	three := vec{1, 1, 1}
	var view vector.Nodes
	newNodes().Snapshot(&view)
	pod := vector.PodAmounts{Requested: vec{1}}
	for _, c := range []struct {
		name, want string
		call       func(n *vector.Nodes)
	}{
		{"NewNodes", columns, func(*vector.Nodes) { vector.NewNodes(cpuGPU, 3) }},
		{"NewNodes negative", "vector: negative size", func(*vector.Nodes) { vector.NewNodes(none, -1) }},
		{"NewNodes option", "vector: option is nil", func(*vector.Nodes) { vector.NewNodes(none, 1, nil) }},
		{"Set allocatable", long, func(n *vector.Nodes) { _, _, _ = n.Set("b", 1, vector.NodeAmounts{Allocatable: three}) }},
		{"Set requested, unchanged", long, func(n *vector.Nodes) { _, _, _ = n.Set("a", 1, vector.NodeAmounts{Requested: three}) }},
		{"Set scored", scored, func(n *vector.Nodes) { _, _, _ = n.Set("b", 1, vector.NodeAmounts{Scored: vec{1}}) }},
		{"Name", row, func(n *vector.Nodes) { n.Name(1) }},
		{"Name of a copy", row, func(*vector.Nodes) { view.Name(-1) }},
		{"Name of nothing", row, func(*vector.Nodes) { new(vector.Nodes).Name(0) }},
		{"Assume row", row, func(n *vector.Nodes) { _ = n.Assume(1, pod) }},
		{"Forget row", row, func(n *vector.Nodes) { _ = n.Forget(-1, pod) }},
		{"Assume requested", long, func(n *vector.Nodes) { _ = n.Assume(0, vector.PodAmounts{Requested: three}) }},
		{"Assume scored", scored, func(n *vector.Nodes) { _ = n.Assume(0, vector.PodAmounts{Scored: vec{1}}) }},
		{"AssumeAll", rows, func(n *vector.Nodes) { _ = n.AssumeAll([]int32{0}, nil) }},
		{"AssumeAll row", row, func(n *vector.Nodes) { _ = n.AssumeAll([]int32{0, 1}, []vector.PodAmounts{pod, pod}) }},
		{"ForgetAll requested", long, func(n *vector.Nodes) {
			_ = n.ForgetAll([]int32{0, 0}, []vector.PodAmounts{pod, {Requested: three}})
		}},
		{"Widen", narrow, func(n *vector.Nodes) { n.Widen(none, 1) }},
		{"Widen schema", columns, func(n *vector.Nodes) { n.Widen(cpuGPU, 3) }},
		{"KeepReciprocals", "vector: column out of range", func(n *vector.Nodes) { n.KeepReciprocals(0, 2) }},
		{"Reciprocals", "vector: column out of range", func(n *vector.Nodes) { _, _ = n.Reciprocals(2) }},
		{"Snapshot onto itself", "vector: destination is the input", func(n *vector.Nodes) { n.Snapshot(n) }},
		{"Snapshot onto others", "vector: snapshot onto nodes that are written", func(n *vector.Nodes) { n.Snapshot(newNodes()) }},
		{"Set of a copy", kind, func(*vector.Nodes) { _, _, _ = view.Set("b", 1, vector.NodeAmounts{}) }},
		{"Assume on a copy", kind, func(*vector.Nodes) { _ = view.Assume(0, pod) }},
		{"AssumeAll on a copy", kind, func(*vector.Nodes) { _ = view.AssumeAll(nil, nil) }},
		{"Delete of a copy", kind, func(*vector.Nodes) { view.Delete("a") }},
		{"Widen a copy", kind, func(*vector.Nodes) { view.Widen(none, 3) }},
		{"Set of nothing", kind, func(*vector.Nodes) { _, _, _ = new(vector.Nodes).Set("b", 1, vector.NodeAmounts{}) }},
		{"a matrix", "vector: write to a read-only matrix", func(n *vector.Nodes) { n.Free().SetRow(0, nil) }},
		{"a matrix of a copy", "vector: write to a read-only matrix", func(*vector.Nodes) { view.Allocatable().SetRow(0, nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNodes()
			version := n.Version()
			wantPanic(t, c.want, func() { c.call(n) })
			if n.Version() != version || n.Len() != 1 || n.Free().At(0, 0) != 4 {
				t.Error("something was written")
			}
			mustSet(t, n, "b", 1, vector.NodeAmounts{}) // it is not locked
		})
	}
}

// Every kernel reads the matrices of nodes, with codes or without.
func TestNodesKernels(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		r := testkit.Rand(4)
		for range 200 {
			cols := 1 + r.IntN(20)
			n := vector.NewNodes(none, cols)
			v, w := make(vec, cols), make(vec, cols)
			for i := range r.IntN(200) {
				testkit.FillTame(r, v)
				testkit.FillTame(r, w)
				for j := range w {
					w[j] = math.Mod(w[j], 1<<30)
				}
				mustSet(t, n, fmt.Sprint(i), 1, vector.NodeAmounts{Allocatable: v, Requested: w})
			}
			request := make(vec, r.IntN(cols+1))
			testkit.FillTame(r, request)
			for j := range request {
				request[j] = math.Trunc(request[j] / 2)
			}
			for what, m := range map[string]*vector.Matrix{"allocatable": n.Allocatable(), "requested": n.Requested(), "free": n.Free()} {
				plain := vector.NewMatrix(none, 0, 0)
				plain.CopyFrom(m)
				testkit.Check(vector.Invariants(plain))
				var got, want vector.Mask
				vector.Fit(&got, m, request)
				vector.Fit(&want, plain, request)
				strict, wantStrict := new(vector.Mask), new(vector.Mask)
				vector.FitStrict(strict, m.Slice(0, m.Rows()), request)
				vector.FitStrict(wantStrict, plain, request)
				masks, wantMasks := make([]vector.Mask, 3), make([]vector.Mask, 3)
				requests := matrixOf(cols, request, v, w)
				vector.FitMatrix(masks, m, requests)
				vector.FitMatrix(wantMasks, plain, requests)
				if !got.Equal(&want) || !strict.Equal(wantStrict) || !masks[1].Equal(&wantMasks[1]) || !masks[2].Equal(&wantMasks[2]) {
					t.Fatalf("%s: another Fit", what)
				}
				for i := range m.Rows() {
					if got.Test(i) != request.FitsIn(m.Row(nil, i)) {
						t.Fatalf("%s: row %d", what, i)
					}
				}
				if a, b := vector.SumCopies(m, request, nil), vector.SumCopies(plain, request, nil); a != b {
					t.Fatalf("%s: %d copies, want %d", what, a, b)
				}
				o := vector.NewOverlay(m)
				wantMatrix(t, what+" as an overlay", o.Matrix(), contents(m))
			}
		}
	})
}

// One goroutine writes; readers have copies of their own, and share one. In every copy
// free = 10 and requested = allocatable - 10, scored = 2*requested, and the
// reciprocals belong to allocatable.
func TestNodesConcurrency(t *testing.T) {
	const readers, names, cycles = 4, 150, 30
	n := vector.NewNodes(none, 2, vector.WithScored())
	set := func(i, generation int) {
		x := float64(generation*names + i)
		mustSet(t, n, fmt.Sprint("node", i), int64(generation), vector.NodeAmounts{Allocatable: vec{x + 10, 10}, Requested: vec{x}, Scored: vec{2 * x}})
	}
	for i := range names {
		set(i, 0)
	}
	consistent := func(view *vector.Nodes, buffer []float64, mask *vector.Mask) error {
		vector.Fit(mask, view.Free(), vec{10, 10})
		if mask.Count() != view.Len() {
			return fmt.Errorf("%d of %d rows fit", mask.Count(), view.Len())
		}
		reciprocals, whole := view.Reciprocals(0)
		for i := range view.Len() {
			x := view.Requested().At(i, 0)
			if view.Allocatable().At(i, 0) != x+10 || view.Free().At(i, 0) != 10 || view.Scored().At(i, 0) != 2*x {
				return fmt.Errorf("row %d is torn: %v", i, x)
			}
			if reciprocals != nil && (reciprocals[i] != 1/(x+10) || !whole) {
				return fmt.Errorf("row %d: reciprocal %v of %v", i, reciprocals[i], x+10)
			}
			if row, ok := view.Row(view.Name(i)); !ok || row != i || !strings.HasPrefix(view.Name(i), "node") {
				return fmt.Errorf("row %d is %q", i, view.Name(i))
			}
		}
		vector.NormalizedSumRows(buffer[:view.Len()], view.Requested(), view.Allocatable())
		return nil
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	report := func(err error) bool {
		if err != nil {
			t.Error(err)
		}
		return err != nil
	}
	for range readers { // each with a copy of its own
		group.Go(func() {
			var view vector.Nodes
			var mask vector.Mask
			buffer := make([]float64, names)
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true
				default:
				}
				n.Snapshot(&view)
				view.KeepReciprocals(0)
				if report(consistent(&view, buffer, &mask)) {
					return
				}
				if row, ok := n.Row("node1"); ok && n.Current("node1", -1) {
					t.Errorf("row %d has a generation that was never given", row)
				}
				runtime.Gosched()
			}
		})
	}
	group.Go(func() { // several readers of one copy, who ask for reciprocals as they come
		var view vector.Nodes
		for stop := false; !stop; {
			select {
			case <-done:
				stop = true
			default:
			}
			n.Snapshot(&view)
			var inner sync.WaitGroup
			for range readers {
				inner.Go(func() {
					var mask vector.Mask
					view.KeepReciprocals(0, 1)
					report(consistent(&view, make([]float64, names), &mask))
				})
			}
			inner.Wait()
		}
	})
	pod := vector.PodAmounts{Requested: vec{0, 0}, Scored: vec{0, 0}}
	for generation := 1; generation <= cycles; generation++ {
		for i := range names {
			switch (i + generation) % 4 {
			case 0:
				set(i, generation)
			case 1:
				n.Delete(fmt.Sprint("node", i))
			case 2:
				if row, ok := n.Row(fmt.Sprint("node", i)); ok {
					if err := n.Assume(row, pod); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	close(done)
	group.Wait()
}

func TestNodesAllocations(t *testing.T) {
	n := vector.NewNodes(none, 8, vector.WithScored())
	v := vec{1, 2, 3, 4, 5, 6, 7, 8}
	for i := range 100 {
		mustSet(t, n, fmt.Sprint("node", i), 0, vector.NodeAmounts{Allocatable: v, Requested: v})
	}
	n.KeepReciprocals(0, 1)
	var view vector.Nodes
	n.Snapshot(&view)
	view.KeepReciprocals(2)
	var mask vector.Mask
	pod := vector.PodAmounts{Requested: v, Scored: v}
	rows, pods := []int32{1, 2, 1, 3}, []vector.PodAmounts{pod, pod, pod, pod}
	_ = n.AssumeAll(rows, pods)
	generation, amounts := int64(0), vector.NodeAmounts{Allocatable: vec{1, 2, 3}, Requested: v, Scored: v}
	var changed []int32
	for name, f := range map[string]func(){
		"Set": func() {
			generation++
			amounts.Allocatable[0]++
			_, _, _ = n.Set("node7", generation, amounts)
		},
		"Set, the same generation": func() { _, _, _ = n.Set("node8", 0, amounts) },
		"Assume and Forget": func() {
			_ = n.Assume(5, pod)
			_ = n.Forget(5, pod)
		},
		"a gang": func() {
			_ = n.AssumeAll(rows, pods)
			_ = n.ForgetAll(rows, pods)
		},
		"Snapshot": func() {
			_ = n.Assume(5, pod)
			n.Snapshot(&view)
		},
		"Snapshot, all": func() {
			for range 2 * vector.ChangeLogSize {
				_ = n.Assume(5, pod)
			}
			n.Snapshot(&view)
		},
		"look-ups": func() {
			row, _ := n.Row("node9")
			_ = n.Name(row) + n.Names().Name(row) + view.Name(row)
			n.Current("node9", 1)
		},
		"kernels": func() {
			vector.Fit(&mask, view.Free(), v)
			vector.Fit(&mask, view.Allocatable(), v)
			view.KeepReciprocals(2)
			_, _ = view.Reciprocals(2)
			changed, _ = view.Changed(changed, view.Version())
		},
	} {
		f()
		if got := testing.AllocsPerRun(20, f); got != 0 {
			t.Errorf("%s allocates %v times", name, got)
		}
	}
}

// Rows that were deleted and names that come again.
func TestNodesRowsMove(t *testing.T) {
	n := vector.NewNodes(none, 1)
	for i, name := range []string{"a", "b", "c"} {
		mustSet(t, n, name, int64(i), vector.NodeAmounts{Allocatable: vec{float64(i)}})
	}
	before := n.Names()
	mustSet(t, n, "b", 9, vector.NodeAmounts{})
	if n.Names() != before {
		t.Error("names changed without a row that came, went or moved")
	}
	if !n.Delete("a") || n.Delete("a") || n.Names() == before {
		t.Error("Delete")
	}
	if got := maps.Collect(n.All()); !maps.Equal(got, map[string]int{"c": 0, "b": 1}) {
		t.Errorf("%v", got)
	}
	if row := mustSet(t, n, "a", 0, vector.NodeAmounts{}); row != 2 || !n.Current("c", 2) {
		t.Errorf("a is row %d", row)
	}
	if row, ok := before.Row("a"); !ok || row != 0 {
		t.Error("old names changed")
	}
}

// A loop that adds rows may ask for the names each time: every name is put into few maps.
func TestNamesWork(t *testing.T) {
	const rows, doublings = 1 << 8, 8
	n := vector.NewNodes(none, 1)
	var names []*vector.Names
	built := 0
	for i := range rows {
		before := n.Names()
		mustSet(t, n, strconv.Itoa(i), 0, vector.NodeAmounts{})
		names = append(names, n.Names())
		built += vector.NamesBuilt(names[i], before)
	}
	if built > rows*doublings {
		t.Errorf("%d names put into maps for %d rows", built, rows)
	}
	for i, x := range names { // none has changed
		for j := range rows {
			if row, ok := x.Row(strconv.Itoa(j)); ok != (j <= i) || ok && row != j {
				t.Fatalf("names %d: %d has row %d, %v", i, j, row, ok)
			}
		}
	}
}

// A copy that was never made has nil names, which are empty.
func TestNilNames(t *testing.T) {
	var names *vector.Names
	wantPanic(t, "vector: row out of range", func() { names.Name(0) })
	if _, ok := names.Row("a"); ok || names.Len() != 0 {
		t.Error("nil names have a row")
	}
}
