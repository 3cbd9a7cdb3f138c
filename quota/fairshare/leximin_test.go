package fairshare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// treeOfParts builds a tree of lines such as "X > x: 1/2 0/3; 2 0": a queue below X, which has 1 of its
// share of 2 in one column and 0 of 3 in the other, and a victim of (2, 0). Each queue wants the more
// of what it has and its share, or what is written, such as "wants 9 9". Shares are what is deserved:
// the weights are 0.
func treeOfParts(t testing.TB, total vector.ResourceVector, lines ...string) (tree *Tree, victims []Victim) {
	t.Helper()
	tree = testkit.Must(NewTree(vector.NewSchema([]vector.SchemaColumn{{Name: "h100"}, {Name: "cpu"}}[:len(total)]), len(total), Options{}))
	testkit.Check(tree.SetTotal(total))
	numbers := func(text string) (v vector.ResourceVector) {
		for _, x := range strings.Fields(text) {
			v = append(v, testkit.Must(strconv.ParseFloat(x, 64)))
		}
		return v
	}
	split := func(line string) (parent, name string, list []string) {
		head, tail, _ := strings.Cut(line, ": ")
		if parent, name, _ = strings.Cut(head, " > "); name == "" {
			parent, name = "", head
		}
		return parent, name, strings.Split(tail, "; ")
	}
	for _, line := range lines {
		parent, name, list := split(line)
		var has, gets vector.ResourceVector
		for _, part := range strings.Fields(list[0]) {
			a, f, _ := strings.Cut(part, "/")
			has, gets = append(has, numbers(a)...), append(gets, numbers(f)...)
		}
		row := first(tree.Set(name, Queue{Parent: parent, Deserved: gets, Weight: vector.ResourceVector{0}}))
		wants := slices.Clone(has)
		for j, f := range gets {
			wants[j] = max(wants[j], f)
		}
		for _, job := range list[1:] {
			if text, ok := strings.CutPrefix(job, "wants "); ok {
				wants = numbers(text)
			} else {
				victims = append(victims, Victim{Queue: row, Amounts: numbers(job)})
			}
		}
		if !slices.ContainsFunc(lines, func(other string) bool { return strings.HasPrefix(other, name+" > ") }) {
			testkit.Check(tree.SetUsage(row, Usage{Allocated: has, Wanted: wants}))
		}
	}
	tree.Divide()
	for _, line := range lines { // what is written is what it has, and gets
		_, name, list := split(line)
		row, _ := tree.Row(name)
		var is []string
		for j := range total {
			is = append(is, fmt.Sprint(tree.Allocated(nil, row)[j], "/", tree.Share(nil, row)[j]))
		}
		if got := strings.Join(is, " "); got != list[0] {
			t.Fatalf("%s: is %s", line, got)
		}
	}
	return tree, victims
}

// TestLeximinTakes has who may take from whom, and the two fractions of refusals. The taker is the
// queue x, and its victims are those of the lines, in order.
func TestLeximinTakes(t *testing.T) {
	type v = vector.ResourceVector
	const yes = "allowed"
	for _, test := range []struct {
		name  string
		total v
		asks  v
		lines []string
		want  []string
	}{
		{"all it wants of one column is no reason to have nothing of another", v{10, 30}, v{1, 0},
			[]string{"x: 0/5 30/30", "c: 10/5 0/0; 1 0"}, []string{yes}},
		{"with cpu in both jobs", v{10, 201}, v{1, 1},
			[]string{"x: 0/5 100/101", "c: 10/5 100/100; 1 1"}, []string{yes}},
		{"nor is a column of which nothing is there", v{8, 0}, v{1, 0},
			[]string{"x: 0/4 1/0", "c: 8/4 0/0; 1 0"}, []string{yes}},
		{"jobs larger than what is too much", v{16}, v{4},
			[]string{"red: 16/12; 8", "x: 0/4"}, []string{yes}},
		{"the same in a pool", v{16}, v{4},
			[]string{"pool: 16/16", "pool > red: 16/12; 8", "pool > x: 0/4"}, []string{yes}},
		{"jobs of 2, 3 too many", v{8}, v{3},
			[]string{"red: 8/5; 2; 2", "x: 0/3"}, []string{yes, yes}},
		{"who has more of its share than the giver would", v{16}, v{1},
			[]string{"red: 16/12; 8", "x: 3/4"}, []string{"queue red would have 8/12 of h100, less than the 3/4 that queue x has"}},
		{"above a poor leaf there may be a rich department", v{20}, v{1},
			[]string{"X: 9/10", "X > x: 0/5", "X > o: 9/5", "Y: 8/10", "Y > y: 7/5; 1", "Y > z: 1/5"},
			[]string{"queue Y would have 7/10 of h100, less than the 9/10 that queue X has"}},
		{"one job of all it has", v{3}, v{2}, []string{"red: 3/1; 3", "x: 0/2"}, []string{yes}},
		{"what a rich department would lose is a poor leaf's", v{20}, v{2},
			[]string{"X: 5/10", "X > x: 0/5", "X > o: 5/5", "Y: 15/10", "Y > y: 2/2; 2", "Y > y2: 13/8; 2"},
			[]string{"queue y would have 0/2 of h100, less than the 5/10 that queue X has", yes}},
		{"cpu is plenty", v{15, 1000}, v{1, 10}, []string{"x: 2/5 20/50", "c: 13/10 20/50; 1 10"}, []string{yes}},
		{"cpu is short", v{15, 100}, v{1, 0}, []string{"x: 2/5 50/50", "c: 13/10 20/50; 1 10; wants 20 60"},
			[]string{"queue c would have 10/50 of cpu, less than the 2/5 of h100 that queue x has"}},
		{"only cpu is short, and only h100 asked for", v{15, 100}, v{1, 0}, []string{"x: 2/5 50/50", "c: 10/10 50/50; 1 10; wants 10 60"},
			[]string{"queue c would have 40/50 of cpu, which is short, and queue x more only of what isn't: it has 2/5 of h100"}},
		{"nothing is asked for", v{8}, v{0}, []string{"red: 8/4; 2", "x: 0/4"}, []string{"queue x would have no more of its share than before"}},
		{"the share is all there is to have", v{8}, v{3}, []string{"red: 6/4; 2", "x: 2/4"}, []string{"queue x would have 5 of h100, more than its share 4"}},
		{"no better than before", v{8}, v{2}, []string{"red: 4/4; 2", "x: 2/4"}, []string{"queue red would have 2/4 of h100, as little as the 2/4 that queue x has"}},
	} {
		tree, victims := treeOfParts(t, test.total, test.lines...)
		x, _ := tree.Row("x")
		claim := NewClaim(tree)
		first(claim.Begin(x, Job{Request: test.asks}))
		for i, v := range victims {
			if why, _ := claim.Take(v); why.String() != test.want[i] {
				t.Errorf("%s: victim %d: %s, want %s", test.name, i, why, test.want[i])
			}
		}
		if why := claim.end(); why.Reason != Allowed {
			t.Errorf("%s: at the end: %s", test.name, why)
		}
		claim.Drop()
	}
}

// TestPoolTakesAndKeeps: in a pool that is full the poor queue takes, and what it has taken isn't
// taken back.
func TestPoolTakesAndKeeps(t *testing.T) {
	type v = vector.ResourceVector
	tree, victims := treeOfParts(t, v{16}, "pool: 16/16", "pool > red: 16/12; 8", "pool > green: 0/4")
	red, _ := tree.Row("red")
	green, _ := tree.Row("green")
	claim := NewClaim(tree)
	first(claim.Begin(green, Job{Request: v{4}}))
	if why, ok := claim.Take(victims[0]); !ok {
		t.Error(why)
	}
	if why, ok := claim.Keep(nil); !ok {
		t.Error(why)
	}
	testkit.Check(tree.Assume(green, Job{Request: v{4}}))
	first(claim.Begin(red, Job{Request: v{8}}))
	if why, _ := claim.May(Victim{Queue: green, Amounts: v{4}}); why.String() != "queue red would have 16 of h100, more than its share 12" {
		t.Error(why)
	}
	claim.Drop()
}

// TestAskedOnceMore: who was refused by the taker's department alone, which is full, is asked again
// when a queue of this department has given.
func TestAskedOnceMore(t *testing.T) {
	type v = vector.ResourceVector
	tree, victims := treeOfParts(t, v{21}, "X: 9/10", "X > p: 4/6", "X > s: 5/4; 1", "Y: 12/11", "Y > y: 12/11; 1; 1")
	p, _ := tree.Row("p")
	claim := NewClaim(tree)
	first(claim.Begin(p, Job{Request: v{2}}))
	free := 0.0
	for _, amounts := range claim.Victims(victims) {
		if free += amounts[0]; free == 2 {
			break
		}
	}
	why, refused := claim.Refused()
	if taken := claim.Taken(nil); !slices.Equal(taken, []int{0, 2}) && !slices.Equal(taken, []int{0, 1}) || why.Reason != AboveShare || refused == 0 {
		t.Errorf("taken %v, %d are refused: %v", taken, refused, why)
	}
	if why, ok := claim.Keep(nil); !ok {
		t.Error(why)
	}
}

// TestTiesCostTheSame: a victim whose fills are just as low is refused by sorting what changes, and
// that is no more for having asked others before.
func TestTiesCostTheSame(t *testing.T) {
	type v = vector.ResourceVector
	lines := []string{"x: 1/4"}
	for i := range 50 {
		lines = append(lines, fmt.Sprintf("q%d: 2/4; 1", i))
	}
	tree, victims := treeOfParts(t, v{204}, lines...)
	x, _ := tree.Row("x")
	claim := NewClaim(tree)
	first(claim.Begin(x, Job{Request: v{1}}))
	for _, victim := range victims {
		if why, _ := claim.Take(victim); why.Reason != AsLowAsTaker {
			t.Error(why)
		}
		if sorted, rows := len(claim.fills.was), len(claim.fills.rows); sorted != 2 || rows != 2 {
			t.Fatalf("%d fills were sorted, %d rows remembered", sorted, rows)
		}
	}
	if n := testing.AllocsPerRun(10, func() { claim.May(victims[7]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	claim.Drop()
}

// TestLeximinOrder: of two queues that ask for so much the one to serve is the first.
func TestLeximinOrder(t *testing.T) {
	type v = vector.ResourceVector
	for _, test := range []struct {
		name     string
		total    v
		lines    []string
		one, two v // what the first and the second ask for
	}{
		{"only what the jobs want counts, and of that what is short", v{8, 1000}, []string{"b: 3/5 3/20", "a: 0/5 30/35"}, v{1, 1}, v{1, 1}},
		{"who stays within its share", v{10}, []string{"b: 0/2", "a: 6/8"}, v{4}, v{2}},
		{"who has least without the job", v{20}, []string{"b: 1/10", "a: 0/10"}, v{1}, v{8}},
		{"as much without, and less with the job", v{20}, []string{"b: 1/10", "a: 1/10"}, v{2}, v{1}},
	} {
		tree, _ := treeOfParts(t, test.total, test.lines...)
		for i, asks := range []v{test.one, test.two} {
			row, _ := tree.Row([]string{"b", "a"}[i])
			testkit.Must(tree.Wait(row, Job{Request: asks}))
		}
		if leaf, _, _ := tree.Next(); tree.Name(leaf) != "a" {
			t.Errorf("%s: the first is %s", test.name, tree.Name(leaf))
		}
	}
}

// TestShortageChangesTheOrder: what is short below a queue can change with what one of its children
// wants, or with the total; then all of them are ordered anew.
func TestShortageChangesTheOrder(t *testing.T) {
	type v = vector.ResourceVector
	tree, _ := treeOfParts(t, v{8, 10}, "a: 1/4 3/5", "b: 2/4 1/5", "c: 0/0 0/0")
	for _, name := range []string{"a", "b"} {
		row, _ := tree.Row(name)
		testkit.Must(tree.Wait(row, Job{Request: v{1, 1}}))
	}
	next := func(when, want string) {
		t.Helper()
		if leaf, _, _ := tree.Next(); tree.Name(leaf) != want {
			t.Errorf("%s: the next is %s, want %s", when, tree.Name(leaf), want)
		}
	}
	next("nothing is short", "b")
	c, _ := tree.Row("c")
	mark := tree.Mark()
	id := testkit.Must(tree.Wait(c, Job{Request: v{1}}))
	tree.Skip(id)
	next("h100 is short", "a")
	tree.Withdraw(id)
	next("h100 is no longer short", "b")
	tree.Rollback(mark)
	next("after a rollback", "b")
	testkit.Check(tree.SetUsage(c, Usage{Wanted: v{1, 1}}))
	next("both are short", "b")
	testkit.Check(tree.SetTotal(v{8, 11}))
	tree.Divide()
	next("there is one cpu more", "a")
}
