package provision

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

type vec = vector.ResourceVector

func matrix(rows ...vec) *vector.Matrix {
	m := vector.NewMatrix(vector.Schema{}, 0, 2)
	for _, row := range rows {
		m.AppendRow(row)
	}
	return m
}

func times(n int, row vec) (rows []vec) {
	for range n {
		rows = append(rows, row)
	}
	return rows
}

// randomProblem returns shapes, and pods of some kinds of which each fits on a shape. Some
// request nothing.
func randomProblem(r *rand.Rand, pods int) (shapes []Shape, requests *vector.Matrix) {
	for range 1 + r.IntN(3) {
		shapes = append(shapes, Shape{vec{float64(8 + r.IntN(9)), float64(r.IntN(17))}, float64(1 + r.IntN(5))})
	}
	var kinds []vec
	for range 1 + r.IntN(4) {
		k := vec{float64(r.IntN(9)), float64(r.IntN(9) * r.IntN(2))}
		if slices.ContainsFunc(shapes, func(s Shape) bool { return k.FitsIn(s.Room) }) {
			kinds = append(kinds, k)
		}
	}
	requests = matrix()
	for range pods * min(len(kinds), 1) {
		requests.AppendRow(kinds[r.IntN(len(kinds))])
	}
	return shapes, requests
}

// check fails unless each pod has a node of the plan, no node has more than it can hold,
// and the cost is right.
func check(t *testing.T, seed uint64, plan Plan, shapes []Shape, requests *vector.Matrix) {
	t.Helper()
	var free []vec
	cost := 0.0
	for i, n := range plan.Counts {
		cost += float64(n) * shapes[i].Cost
		for range n {
			room := shapes[i].Room.Clone()
			room.SetMax(vec{0, 0}) // less than 0 has room for nothing, and nothing fits
			free = append(free, room)
		}
	}
	if len(plan.Counts) != len(shapes) || len(plan.Placement) != requests.Rows() || cost != plan.Cost || plan.AtLeast > cost {
		t.Fatalf("seed %d: %+v for %d pods", seed, plan, requests.Rows())
	}
	for pod, node := range plan.Placement {
		free[node].Sub(requests.Row(nil, pod))
	}
	for node, amounts := range free {
		if slices.Min(amounts) < 0 {
			t.Fatalf("seed %d: node %d has %v left", seed, node, amounts)
		}
	}
}

// Small problems, for which every number of nodes and every assignment can be tried.
func TestAgainstAll(t *testing.T) {
	cheapest, proved, problems := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		shapes, requests := randomProblem(r, 1+r.IntN(6))
		plan, err := Cheapest(shapes, requests)
		if err != nil {
			t.Fatal(err)
		}
		check(t, seed, plan, shapes, requests)
		least := math.Inf(1)
		leastCost(&least, shapes, requests, make([]int, len(shapes)), 0)
		if plan.AtLeast > least || plan.Cost < least {
			t.Errorf("seed %d: from %v to %v, but the least cost is %v", seed, plan.AtLeast, plan.Cost, least)
		}
		problems++
		if plan.Cost == least {
			cheapest++
		}
		if plan.Cost == plan.AtLeast {
			proved++
		}
	}
	if cheapest < problems*9/10 || proved < problems/2 {
		t.Errorf("of %d plans %d cost the least and %d are proved to", problems, cheapest, proved)
	}
}

// randomGroups returns a problem with nodes that are there, and pods that may go to some
// nodes and shapes only; pods that fit on no shape only where wild is set.
func randomGroups(r *rand.Rand, pods int, wild bool) *Problem {
	p := &Problem{Free: matrix()}
	for range 1 + r.IntN(2) {
		p.Shapes = append(p.Shapes, Shape{vec{float64(4 + r.IntN(9)), float64(r.IntN(9))}, float64(1 + r.IntN(3))})
	}
	for range r.IntN(4) {
		p.Free.AppendRow(vec{float64(r.IntN(12) - 1), float64(r.IntN(8) - 1)})
	}
	for range 1 + r.IntN(3) {
		g := Pods{Requests: matrix()}
		if r.IntN(2) == 0 {
			g.Rows = vector.NewMask(p.Free.Rows())
			for row := range p.Free.Rows() {
				if r.IntN(2) == 0 {
					g.Rows.Set(row)
				}
			}
		}
		if r.IntN(2) == 0 {
			g.Shapes = make([]bool, len(p.Shapes))
			for i := range g.Shapes {
				g.Shapes[i] = r.IntN(3) > 0
			}
		}
		for range r.IntN(pods + 1) {
			request := vec{float64(r.IntN(9)), float64(r.IntN(6) * r.IntN(2))}
			fits := wild
			for i, s := range p.Shapes {
				fits = fits || (g.Shapes == nil || g.Shapes[i]) && request.FitsIn(s.Room)
			}
			if fits {
				g.Requests.AppendRow(request)
			}
		}
		p.Pods = append(p.Pods, g)
	}
	return p
}

// leastCostOf returns what the cheapest new nodes cost, +Inf where none help, by trying each
// node for each pod: one that is there, one that was bought, or one more of a shape.
func leastCostOf(p *Problem) float64 {
	type host struct {
		room  vec
		shape int // -1 for one that is there
	}
	least := math.Inf(1)
	var hosts []host
	for row := range p.Free.Rows() {
		hosts = append(hosts, host{p.Free.Row(nil, row), -1})
	}
	var place func(group, pod int, cost float64)
	place = func(group, pod int, cost float64) {
		if cost >= least {
			return
		}
		if group == len(p.Pods) {
			least = cost
			return
		}
		g := &p.Pods[group]
		if pod == g.Requests.Rows() {
			place(group+1, 0, cost)
			return
		}
		request := g.Requests.Row(nil, pod)
		on := func(i int, cost float64) {
			if room := hosts[i].room.Clone(); request.FitsIn(room) {
				hosts[i].room.Sub(request)
				place(group, pod+1, cost)
				hosts[i].room = room
			}
		}
		for i, h := range hosts {
			if h.shape < 0 && (g.Rows == nil || g.Rows.Test(i)) || h.shape >= 0 && (g.Shapes == nil || g.Shapes[h.shape]) {
				on(i, cost)
			}
		}
		for i, s := range p.Shapes {
			if g.Shapes == nil || g.Shapes[i] {
				hosts = append(hosts, host{s.Room.Clone(), i})
				on(len(hosts)-1, cost+s.Cost)
				hosts = hosts[:len(hosts)-1]
			}
		}
	}
	place(0, 0, 0)
	return least
}

// With nodes that are there and pods that may not go everywhere: the plan is valid, and no
// bound is above what the cheapest nodes cost, found by trying all.
func TestGroupsAgainstAll(t *testing.T) {
	cheapest, proved, free, problems := 0, 0, 0, 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 3))
		wild := seed%4 == 0
		p := randomGroups(r, 2, wild)
		least := leastCostOf(p)
		bound, err := p.AtLeast()
		if err != nil {
			t.Fatal(err)
		}
		if bound.AtLeast > least {
			t.Fatalf("seed %d: at least %v, but the least cost is %v", seed, bound.AtLeast, least)
		}
		if wild {
			continue
		}
		plan, err := p.Cheapest()
		if err != nil {
			t.Fatal(err)
		}
		checkGroups(t, seed, plan, p)
		if plan.AtLeast != min(bound.AtLeast, plan.Cost) || plan.Cost < least {
			t.Fatalf("seed %d: %+v, but a bound of %v, and the least cost is %v", seed, plan, bound.AtLeast, least)
		}
		problems++
		if plan.Cost == least {
			cheapest++
		}
		if plan.Cost == plan.AtLeast {
			proved++
		}
		if plan.Cost == 0 {
			free++
		}
	}
	if cheapest < problems*9/10 || proved < problems*3/4 || free < problems/10 {
		t.Errorf("of %d plans %d cost the least, %d are proved to, and %d cost nothing", problems, cheapest, proved, free)
	}
}

// checkGroups fails unless each pod of a plan is on a node to which it may go, and no node has
// more than it can hold.
func checkGroups(t *testing.T, seed uint64, plan Plan, p *Problem) {
	t.Helper()
	var room []vec
	var shape []int
	for row := range p.Free.Rows() {
		room, shape = append(room, p.Free.Row(nil, row)), append(shape, -1)
	}
	cost := 0.0
	for i, n := range plan.Counts {
		cost += float64(n) * p.Shapes[i].Cost
		for range n {
			room, shape = append(room, p.Shapes[i].Room.Clone()), append(shape, i)
		}
	}
	if cost != plan.Cost {
		t.Fatalf("seed %d: %+v costs %v", seed, plan, cost)
	}
	pod := 0
	for _, g := range p.Pods {
		for i := range g.Requests.Rows() {
			node := int(plan.Placement[pod])
			if s := shape[node]; s < 0 && g.Rows != nil && !g.Rows.Test(node) || s >= 0 && g.Shapes != nil && !g.Shapes[s] {
				t.Fatalf("seed %d: pod %d may not go to node %d", seed, pod, node)
			}
			request := g.Requests.Row(nil, i)
			if !request.FitsIn(room[node]) {
				t.Fatalf("seed %d: node %d has no room for pod %d", seed, node, pod)
			}
			room[node].Sub(request)
			pod++
		}
	}
}

// leastCost lowers least to the cost of the cheapest counts that hold the pods, given
// those of the shapes before i. No shape needs a node more than there are pods.
func leastCost(least *float64, shapes []Shape, requests *vector.Matrix, counts []int, i int) {
	cost := 0.0
	var free []vec
	for k, n := range counts {
		cost += float64(n) * shapes[k].Cost
		for range n {
			free = append(free, shapes[k].Room.Clone())
		}
	}
	switch {
	case cost >= *least:
	case i < len(shapes):
		for n := range requests.Rows() + 1 {
			counts[i] = n
			leastCost(least, shapes, requests, counts, i+1)
		}
		counts[i] = 0
	case assignable(requests, 0, free):
		*least = cost
	}
}

// assignable tries every node for every pod from one on.
func assignable(requests *vector.Matrix, pod int, free []vec) bool {
	if pod == requests.Rows() {
		return true
	}
	request := requests.Row(nil, pod)
	for _, room := range free {
		if !request.FitsIn(room) {
			continue
		}
		room.Sub(request)
		ok := assignable(requests, pod+1, free)
		room.Add(request)
		if ok {
			return true
		}
	}
	return false
}

// Larger problems: the plan is valid, costs no more than a shape alone, and the bound holds
// for these, too. One shape with pods that are alike has the true least number.
func TestCheapest(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		shapes, requests := randomProblem(r, r.IntN(40))
		plan, err := Cheapest(shapes, requests)
		if err != nil {
			t.Fatal(err)
		}
		check(t, seed, plan, shapes, requests)
		for i, s := range shapes {
			alone, err := Cheapest(shapes[i:i+1], requests)
			if err != nil {
				continue // some pod does not fit on it
			}
			check(t, seed, alone, shapes[i:i+1], requests)
			if plan.Cost > alone.Cost || plan.AtLeast > alone.Cost {
				t.Errorf("seed %d: %+v, but shape %d alone costs %v", seed, plan, i, alone.Cost)
			}
			if requests.Rows() == 0 {
				continue
			}
			alike := matrix(times(17, requests.Row(nil, 0))...)
			exact, err := Cheapest(shapes[i:i+1], alike)
			if err != nil || exact.Cost != exact.AtLeast || exact.Cost != s.Cost*math.Ceil(17/min(17, float64(alike.Row(nil, 0).CopiesFit(s.Room)))) {
				t.Errorf("seed %d: %+v, %v for 17 like %v on %v", seed, exact, err, alike.Row(nil, 0), s.Room)
			}
		}
	}
}

func TestPlans(t *testing.T) {
	inf := math.Inf(1)
	small, large, gpu := Shape{vec{4, 0}, 1}, Shape{vec{16, 0}, 3}, Shape{vec{8, 2}, 10}
	for _, c := range []struct {
		name     string
		shapes   []Shape
		requests []vec
		want     string // counts, cost, bound
		why      string // reason, column, member, needed, available
	}{
		{"nothing on nothing", nil, nil, "[] 0 0", ""},
		{"no pods", []Shape{small, large}, nil, "[0 0] 0 0", ""},
		{"pods that request nothing", []Shape{large, small}, times(3, vec{}), "[0 1] 1 1", "copies -1 0 3 9.22e+18"},
		{"nothing, and something", []Shape{large, small}, append(times(3, vec{}), vec{8}), "[1 0] 3 3", "copies -1 3 1 0.667"},
		{"one shape, by the sum", []Shape{small}, times(5, vec{2}), "[3] 3 3", "aggregate 0 -1 10 8"},
		{"one shape, by the copies", []Shape{large}, times(3, vec{9}), "[3] 9 9", "copies -1 0 3 2"},
		{"one shape, one node", []Shape{large}, times(3, vec{5}), "[1] 3 3", ""},
		{"the cheaper of two", []Shape{small, large}, times(8, vec{2}), "[0 1] 3 3", "aggregate 0 -1 16 5.33"},
		{"a rest is cheaper on a small one", []Shape{small, large}, times(10, vec{2}), "[1 1] 4 4", "aggregate 0 -1 20 5.33"},
		{"two devices", []Shape{small, gpu}, append(times(3, vec{1, 1}), times(4, vec{4})...), "[2 2] 22 20", "aggregate 1 -1 3 0.2"},
		{"shapes with nothing in common", []Shape{{vec{4, 0}, 1}, {vec{0, 2}, 10}}, append(times(3, vec{0, 1}), times(4, vec{4})...), "[4 2] 24 24",
			"aggregate 1 -1 3 0.2, aggregate 0 -1 16 4"},
		{"unlimited room", []Shape{{vec{4, inf}, 2}, gpu}, times(2, vec{1, 1 << 52}), "[1 0] 2 2", "aggregate 0 -1 2 2"},
		{"room that is not whole", []Shape{{vec{4.9, -3}, 1}, gpu}, times(3, vec{2.0}), "[2 0] 2 2", "aggregate 0 -1 6 4"},
		{"costs that are not whole", []Shape{{vec{4, 0}, 1.5}, {vec{16, 0}, 4.5}}, times(10, vec{2}), "[1 1] 6 5.625", "aggregate 0 -1 20 3.56"},
		{"a sum beyond 2^53", []Shape{{vec{1 << 52, 0}, 1}, gpu}, times(5, vec{1 << 52}), "[5 0] 5 5", "aggregate 0 -1 2.25e+16 4.5e+15"},
	} {
		plan, err := Cheapest(c.shapes, matrix(c.requests...))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		check(t, 0, plan, c.shapes, matrix(c.requests...))
		if got := fmt.Sprint(plan.Counts, plan.Cost, plan.AtLeast); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		var why []string
		for _, w := range plan.Why {
			why = append(why, fmt.Sprintf("%v %d %d %.3g %.3g", w.Reason, w.Column, w.Member, w.Needed, w.Available))
		}
		if got := strings.Join(why, ", "); got != c.why {
			t.Errorf("%s: why %q, want %q", c.name, got, c.why)
		}
	}
}

// What can't be computed with is an error that names the field and the value.
func TestErrors(t *testing.T) {
	ok := Shape{vec{4, 4}, 1}
	with := func(room vec, cost float64) []Shape { return []Shape{ok, {room, cost}} }
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "memory"}})
	named := vector.NewMatrix(schema, 1, 2)
	for _, c := range []struct {
		shapes   []Shape
		requests *vector.Matrix
		want     string
		is       error
	}{
		{with(vec{1, 1}, 0), matrix(), "provision: shapes[1].Cost: got 0, want a finite number above 0", nil},
		{with(vec{1, 1}, -2.5), matrix(), "provision: shapes[1].Cost: got -2.5, want a finite number above 0", nil},
		{with(vec{1, 1}, math.NaN()), matrix(), "provision: shapes[1].Cost: got NaN, want a finite number above 0", nil},
		{with(vec{1, 1}, math.Inf(1)), matrix(), "provision: shapes[1].Cost: got +Inf, want a finite number above 0", nil},
		{with(vec{1}, 1), matrix(), "provision: shapes[1].Room: got 1 amounts, want 2 as requests: vector: shapes differ", vector.ErrShape},
		{with(vec{1, math.NaN()}, 1), matrix(), "provision: shapes[1].Room: column 1: amount NaN is no number", vector.ErrNotRepresentable},
		{with(vec{1 << 53, 1}, 1), named, "provision: shapes[1].Room: cpu: amount 9.007199254740992e+15 is too large: want less than 2^53 of the column's unit", vector.ErrNotRepresentable},
		{with(vec{1, 1}, 1), matrix(vec{1, 1}, vec{0, -1}), "provision: requests: row 1: column 1: amount -1 is negative: want 0 or more", vector.ErrNegative},
		{with(vec{1, 1}, 1), matrix(vec{0.5}), "provision: requests: row 0: column 0: amount 0.5 is not a whole number below 2^53 of the column's unit", vector.ErrNotRepresentable},
		{with(vec{1, 1}, 1), matrix(vec{math.NaN()}), "provision: requests: row 0: column 0: amount NaN is not a whole number below 2^53 of the column's unit", vector.ErrNotRepresentable},
		{with(vec{1, 1}, 1), matrix(vec{math.Inf(1)}), "provision: requests: row 0: column 0: amount +Inf is not a whole number below 2^53 of the column's unit", vector.ErrNotRepresentable},
		{with(vec{8, 1}, 1), matrix(vec{1, 1}, vec{5, 2}), "provision: requests: row 1: got [5 2], which fits on no shape", nil},
		{nil, matrix(vec{1, 1}), "provision: requests: row 0: got [1 1], which fits on no shape", nil},
	} {
		plan, err := Cheapest(c.shapes, c.requests)
		if err == nil || err.Error() != c.want || c.is != nil && !errors.Is(err, c.is) || plan.Counts != nil {
			t.Errorf("got %+v, %v; want %s", plan, err, c.want)
		}
	}
}

// The same of nodes that are there, and of groups.
func TestProblemErrors(t *testing.T) {
	ok := []Shape{{vec{4, 4}, 1}}
	pods := func(p Pods) []Pods { return []Pods{{Requests: matrix(vec{1, 1})}, p} }
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{Shapes: ok, Pods: pods(Pods{})}, "provision: pods[1].Requests: it is nil"},
		{Problem{Shapes: ok, Pods: pods(Pods{Requests: vector.NewMatrix(vector.Schema{}, 1, 3)})}, "provision: pods[1].Requests: got 3 columns, want 2 as in pods[0]: vector: shapes differ"},
		{Problem{Shapes: ok, Free: vector.NewMatrix(vector.Schema{}, 1, 3), Pods: pods(Pods{Requests: matrix()})}, "provision: free: got 3 columns, want 2 as requests: vector: shapes differ"},
		{Problem{Shapes: ok, Free: matrix(vec{1, 1}, vec{math.NaN(), 1}), Pods: pods(Pods{Requests: matrix()})}, "provision: free: row 1: column 0: amount NaN is no number"},
		{Problem{Shapes: ok, Free: matrix(vec{1, 1}), Pods: pods(Pods{Requests: matrix(), Rows: vector.NewMask(2)})}, "provision: pods[1].Rows: got 2 rows, want 1 as in free: vector: shapes differ"},
		{Problem{Shapes: ok, Pods: pods(Pods{Requests: matrix(), Shapes: []bool{true, true}})}, "provision: pods[1].Shapes: got 2 shapes, want 1: vector: shapes differ"},
		{Problem{Shapes: ok, Pods: pods(Pods{Requests: matrix(vec{-1, 0})})}, "provision: pods[1].Requests: row 0: column 0: amount -1 is negative: want 0 or more"},
	} {
		for _, ask := range []func() error{
			func() error { _, err := c.p.Cheapest(); return err },
			func() error { _, err := c.p.AtLeast(); return err },
		} {
			if err := ask(); err == nil || err.Error() != c.want {
				t.Errorf("got %v; want %s", err, c.want)
			}
		}
	}
	closed := Problem{Shapes: ok, Free: matrix(vec{9, 9}), Pods: pods(Pods{Requests: matrix(vec{1, 1}), Shapes: []bool{false}})}
	if _, err := closed.Cheapest(); err == nil || err.Error() != "provision: pods[1].Requests: row 0: got [1 1], which fits on no shape" {
		t.Errorf("got %v", err)
	}
	if b, err := closed.AtLeast(); err != nil || b.AtLeast != 0 {
		t.Errorf("got %+v, %v: there is room", b, err)
	}
	closed.Free = matrix(vec{0, 9})
	if b, err := closed.AtLeast(); err != nil || !math.IsInf(b.AtLeast, 1) || len(b.Why) != 1 || b.Why[0].Domain != 1 || b.Why[0].Member != -1 && b.Why[0].Member != 1 {
		t.Errorf("got %+v, %v: no node helps", b, err)
	}
}

// Costs that differ by orders of magnitude are no reason to go on forever.
func TestExtremeCosts(t *testing.T) {
	shapes := []Shape{{vec{4, 0}, math.MaxFloat64}, {vec{0, 4}, math.SmallestNonzeroFloat64}}
	requests := matrix(vec{1, 0}, vec{0, 1})
	plan, err := Cheapest(shapes, requests)
	if err != nil || !slices.Equal(plan.Counts, []int{1, 1}) {
		t.Errorf("got %+v, %v", plan, err)
	}
}

// A plan is the same each time.
func TestDeterministic(t *testing.T) {
	shapes, requests := randomProblem(rand.New(rand.NewPCG(5, 5)), 30)
	want, err := Cheapest(shapes, requests)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got, _ := Cheapest(shapes, requests); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// The shapes and the requests stay as they were.
func TestOperandsStay(t *testing.T) {
	shapes := []Shape{{vec{4.5, 4}, 1}, {vec{9, 9}, 2}}
	requests := matrix(vec{1, 2}, vec{4, 8})
	plan, err := Cheapest(shapes, requests)
	if err != nil {
		t.Fatal(err)
	}
	if shapes[0].Room[0] != 4.5 || !slices.Equal(requests.Row(nil, 1), vec{4, 8}) {
		t.Errorf("changed: %v, %v", shapes, requests.Row(nil, 1))
	}
	if w := plan.Why; len(w) == 0 || w[0].Reason == gang.NotProved {
		t.Errorf("no reason: %+v", plan)
	}
}
