package fairshare

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// permitted calls keep with each set of victims that a claim may end with, as bits: it takes
// them in every order, also by Kueue's second round, and gives back every subset.
func permitted(t *testing.T, claim *Claim, leaf int, job Job, list []Victim, keep func(set uint)) {
	type state struct {
		taken    uint
		isSecond bool
		gave     uint // by the second round
	}
	type step int // of a victim, or -1 to begin the second round
	replay := func(path []step) {
		first(claim.Begin(leaf, job))
		for _, i := range path {
			if i < 0 {
				claim.Second()
			} else if why, ok := claim.take(list[i], int(i)); !ok {
				t.Fatal(why)
			}
		}
	}
	seen := map[state]bool{}
	var visit func(s state, path []step)
	visit = func(s state, path []step) {
		if seen[s] {
			return
		}
		seen[s] = true
		for kept := s.taken; ; kept = (kept - 1) & s.taken {
			mark := claim.t.Mark()
			replay(path)
			if _, ok := claim.Keep(func(i int) bool { return kept>>i&1 == 0 }); ok {
				keep(kept)
			}
			claim.t.Rollback(mark)
			if kept == 0 {
				break
			}
		}
		for i := range list {
			if s.taken>>i&1 == 1 {
				continue
			}
			replay(path)
			_, ok := claim.May(list[i])
			claim.Drop()
			if ok {
				next := state{s.taken | 1<<i, s.isSecond, s.gave}
				if s.isSecond {
					next.gave |= 1 << list[i].Queue
				}
				visit(next, append(slices.Clone(path), step(i)))
			}
		}
		if claim.t.options.Rules == Kueue && !s.isSecond {
			visit(state{s.taken, true, 0}, append(slices.Clone(path), -1))
		}
	}
	visit(state{}, nil)
}

// contested returns a small random tree that is nearly full, a leaf of it that has little, and
// what the others could give.
func contested(t *testing.T, seed uint64) (p *pair, leaf int, job Job, list []Victim) {
	p = &pair{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 11)), scale: 8}
	p.cols = 1 + p.r.IntN(2)
	o := Options{Rules: Rules(seed % 4), ByWeight: p.r.IntN(4) == 0, Multiplier: []float64{0, 1.5}[p.r.IntN(2)]}
	if p.r.IntN(2) == 0 {
		o.Groups = make([]int, p.cols)
	}
	p.m = newModel(p.cols, o)
	p.tree = testkit.Must(NewTree(vector.Schema{}, p.cols, o))
	for n := range 2 + p.r.IntN(6) {
		p.set(fmt.Sprint("q", n))
	}
	leaf, _ = p.leaf()
	total := make(vector.ResourceVector, p.cols)
	for name, row := range p.tree.All() {
		if len(p.m.children(name)) > 0 {
			continue
		}
		u := Usage{Allocated: p.vector(0), Wanted: vector.ResourceVector{9, 9}[:p.cols]}
		if row == leaf && p.r.IntN(3) > 0 {
			u.Allocated = nil
		}
		testkit.Check(p.tree.SetUsage(row, u))
		total.Add(u.Allocated)
		// Of many victims that are one unit each, some sets are just what may go.
		for k := p.r.IntN(4); k > 0 && row != leaf && len(list) < 5; k-- {
			v := make(vector.ResourceVector, p.cols)
			for j := range v {
				v[j] = min(u.Allocated.Get(j), float64(p.r.IntN(4)))
				u.Allocated[j] -= v[j]
			}
			list = append(list, Victim{Queue: row, Amounts: v})
		}
	}
	testkit.Check(p.tree.SetTotal(total))
	p.tree.Divide()
	for range p.cols {
		job.Request = append(job.Request, float64(p.r.IntN(3)))
	}
	return p, leaf, job, list
}

// TestLimits compares limits with all sets of victims that a claim may end with, in random
// stories: no such set is beyond them. It counts how many of the others are.
func TestLimits(t *testing.T) {
	n := cmp.Or(testkit.Environment(t, "RESVEC_LONG", 0)*40_000, 4_000)
	if testing.Short() {
		n = min(n, 400)
	}
	var sets, refused, beyond [4]int
	for seed := range n {
		p, row, job, list := contested(t, seed)
		claim := NewClaim(p.tree)
		before := stateOf(p.tree)
		_, ok, err := claim.Begin(row, job)
		testkit.Check(err)
		if !ok {
			continue
		}
		var limits vector.Matrix
		owners := claim.Limits(&limits, nil, list)
		claim.Drop()
		if !before.is(p.tree) {
			p.fatal("limits leave something behind")
		}
		may := map[uint]bool{}
		permitted(t, claim, row, job, list, func(set uint) { may[set] = true })
		for set := range uint(1) << len(list) {
			sum := vector.NewMatrix(p.tree.schema, limits.Rows(), p.cols)
			for i, v := range list {
				if set>>i&1 == 1 {
					testkit.Check(sum.AddToRow(owners[i], v.Amounts))
				}
			}
			isBeyond := false
			for j := range p.cols {
				for o, x := range sum.Column(j) {
					isBeyond = isBeyond || x > limits.At(o, j)
				}
			}
			rules := p.tree.options.Rules
			sets[rules]++
			if !may[set] {
				refused[rules]++
				if isBeyond {
					beyond[rules]++
				}
			} else if isBeyond {
				p.fatal("rules ", rules, ": the set ", set, " of ", list, " is permitted, and beyond the limits ", limits.Elements(), " of ", owners)
			}
		}
	}
	for rules := range beyond {
		t.Logf("rules %d: of %d sets %d are refused, %d of them by the limits", rules, sets[rules], refused[rules], beyond[rules])
		if beyond[rules]*3 < refused[rules] {
			t.Errorf("rules %d: the limits refuse %d of %d sets that are refused", rules, beyond[rules], refused[rules])
		}
	}
}

// TestLimitsOfEachRule has limits to check by hand: of b, whose jobs all have the size of its
// victim, for a job of a.
func TestLimitsOfEachRule(t *testing.T) {
	type v = vector.ResourceVector
	for _, test := range []struct {
		name              string
		rules             Rules
		deserved, total   v // of a and of b
		has, victim, want v
	}{
		{"KAI: 3 above 4, the last may cross", KAI, v{4, 4}, v{8, 8}, v{7, 1}, v{3, 0}, v{2 + 3, inf}},
		{"KAI: above in both", KAI, v{4, 4}, v{8, 8}, v{7, 7}, v{3, 3}, v{inf, inf}},
		{"KAI: above in none", KAI, v{4, 4}, v{8, 8}, v{4, 4}, v{3, 3}, v{0, 0}},
		{"Volcano: as KAI", Volcano, v{4, 4}, v{8, 8}, v{7, 1}, v{3, 0}, v{2 + 3, inf}},
		{"Volcano: best effort may always go", Volcano, v{4, 0}, v{8, 8}, v{2, 7}, v{0, 3}, v{0, inf}},
		{"Kueue: 3 borrowed, the last may cross", Kueue, v{4, 4}, v{8, 8}, v{7, 1}, v{3, 0}, v{2 + 3, inf}},
		{"Leximin: a has nothing, so b may lose all", Leximin, v{4, 4}, v{8, 8}, v{7, 1}, v{3, 0}, v{inf, inf}},
	} {
		tree := testkit.Must(NewTree(vector.Schema{}, 2, Options{Rules: test.rules}))
		testkit.Check(tree.SetTotal(test.total))
		first(tree.Set("r", Queue{}))
		a := first(tree.Set("a", Queue{Parent: "r", Deserved: test.deserved}))
		b := first(tree.Set("b", Queue{Parent: "r", Deserved: test.deserved}))
		testkit.Check(tree.SetUsage(a, Usage{Wanted: v{8, 8}}))
		testkit.Check(tree.SetUsage(b, Usage{Allocated: test.has, Wanted: v{8, 8}}))
		tree.Divide()
		claim := NewClaim(tree)
		if _, ok, err := claim.Begin(a, Job{Request: v{2, 0}}); !ok || err != nil {
			t.Fatal(test.name, ok, err)
		}
		var limits vector.Matrix
		owners := claim.Limits(&limits, []int{7}, []Victim{{Queue: b, Amounts: test.victim}, {Queue: a}, {Queue: b, Amounts: test.victim}})
		of := 1
		if test.victim[0] > test.want[0] {
			of = 0 // even one is too much
		}
		if !slices.Equal(owners, []int{7, of, 0, of}) {
			t.Errorf("%s: owners %v", test.name, owners)
		}
		if got := limits.Row(nil, 1); !slices.Equal(got, test.want) || !slices.Equal(limits.Row(nil, 0), v{0, 0}) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		claim.Drop()
	}
}

// TestLimitsOfLeximin: b may not lose so much of a column that it has less of its share than a has of
// what it asks for. Columns that are short come first.
func TestLimitsOfLeximin(t *testing.T) {
	type v = vector.ResourceVector
	for _, test := range []struct {
		name               string
		a, b, share, wants v // what they have, the share of a, which is all that it wants, and what b wants of 8
		asks, want         v
	}{
		{"a has 1 of 4 of the first, and the second isn't short", v{1, 2}, v{7, 4}, v{4, 2}, v{8, 4}, v{2, 0}, v{7 - 1, inf}},
		{"both are short", v{1, 4}, v{7, 4}, v{4, 4}, v{8, 8}, v{2, 0}, v{7 - 1, 4 - 1}},
		{"rounded up: 1 of 3 is 2 of 5", v{1, 4}, v{7, 4}, v{3, 4}, v{8, 8}, v{2, 0}, v{7 - 2, 4 - 2}},
		{"of what is short nothing below the share, for what isn't", v{4, 0}, v{6, 4}, v{4, 4}, v{8, 4}, v{0, 1}, v{6 - 4, inf}},
		{"a has its share", v{4, 0}, v{6, 0}, v{4, 0}, v{8, 0}, v{1, 0}, v{0, 0}},
		{"a asks for nothing", v{1, 0}, v{7, 0}, v{4, 0}, v{8, 0}, v{0, 0}, v{0, 0}},
	} {
		tree := testkit.Must(NewTree(vector.Schema{}, 2, Options{}))
		testkit.Check(tree.SetTotal(v{8, 8}))
		a := first(tree.Set("a", Queue{Deserved: test.share, Weight: v{0}}))
		b := first(tree.Set("b", Queue{Deserved: v{8 - test.share[0], 8 - test.share[1]}, Weight: v{0}}))
		testkit.Check(tree.SetUsage(a, Usage{Allocated: test.a, Wanted: test.share}))
		testkit.Check(tree.SetUsage(b, Usage{Allocated: test.b, Wanted: test.wants}))
		tree.Divide()
		claim := NewClaim(tree)
		first(claim.Begin(a, Job{Request: test.asks}))
		var limits vector.Matrix
		claim.Limits(&limits, nil, []Victim{{Queue: b, Amounts: test.b}})
		if got := limits.Row(nil, 1); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		claim.Drop()
	}
}

// A victim that alone is beyond the limits of its owner may never go: as a has 2 of 4, b may not be
// left with less than that.
func TestLimitsOfLargeVictims(t *testing.T) {
	v := func(x float64) vector.ResourceVector { return vector.ResourceVector{x} }
	tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{}))
	testkit.Check(tree.SetTotal(v(8)))
	a := first(tree.Set("a", Queue{Deserved: v(4)}))
	b := first(tree.Set("b", Queue{Deserved: v(4)}))
	testkit.Check(tree.SetUsage(a, Usage{Allocated: v(2), Wanted: v(4)}))
	testkit.Check(tree.SetUsage(b, Usage{Allocated: v(8)}))
	tree.Divide()
	claim := NewClaim(tree)
	first(claim.Begin(a, Job{Request: v(2)}))
	list := []Victim{{Queue: b, Amounts: v(7)}, {Queue: b, Amounts: v(5)}, {Queue: b, Amounts: v(1)}}
	var limits vector.Matrix
	if owners := claim.Limits(&limits, nil, list); !slices.Equal(owners, []int{0, 1, 1}) || limits.At(1, 0) != 6 {
		t.Errorf("owners %v, limit %v", owners, limits.At(1, 0))
	}
	if got := claim.TakeAll(nil, list, true); !slices.Equal(got, []int{1}) {
		t.Errorf("taken %v", got)
	}
	claim.Drop()
}

// Of what a queue keeps to itself it can lose much that its parent never sees: two victims of 5
// cost the cohort b 3 each, and both may go while it borrows 5 of its 9.
func TestLimitsOfWhatIsKept(t *testing.T) {
	v := func(x float64) vector.ResourceVector { return vector.ResourceVector{x} }
	tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{Rules: Kueue}))
	set := func(name, parent string, deserved, lending, has float64) int {
		row := first(tree.Set(name, Queue{Parent: parent, Deserved: v(deserved), Lending: v(lending)}))
		if has > 0 {
			testkit.Check(tree.SetUsage(row, Usage{Allocated: v(has)}))
		}
		return row
	}
	set("r", "", 0, inf, 0)
	a := set("a", "r", 1, inf, 0)
	set("b", "r", 0, inf, 0)
	x, y := set("x", "b", 4, 2, 5), set("y", "b", 4, 2, 5)
	set("z", "b", 0, inf, 3)
	list := []Victim{{Queue: x, Amounts: v(5)}, {Queue: y, Amounts: v(5)}}
	claim := NewClaim(tree)
	first(claim.Begin(a, Job{Request: v(1)}))
	var limits vector.Matrix
	claim.Limits(&limits, nil, list)
	if got := claim.TakeAll(nil, list, false); len(got) != 2 {
		t.Errorf("taken %v", got)
	}
	if got := testkit.Recovered(func() { claim.Limits(&limits, nil, list) }); got != "fairshare: limits after a victim was taken" {
		t.Error(got)
	}
	// 4 leave b above its quota of 4, 5 may cross it, and x and y keep 2 each.
	if got := limits.At(1, 0); got != 4+5+2+2 {
		t.Errorf("limit %v", got)
	}
	claim.Drop()
}
