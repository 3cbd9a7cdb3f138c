package fairshare

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// queueOf is a row of a table: deserved, limit, weight, wanted and priority in one column.
type queueOf struct {
	name          string
	d, l, w, want float64
	priority      int64
}

var inf = math.Inf(1)

// flat returns a tree of top queues.
func flat(t testing.TB, total float64, o Options, queues ...queueOf) *Tree {
	t.Helper()
	tree := testkit.Must(NewTree(vector.NewSchema([]vector.SchemaColumn{{Name: "gpu"}}), 1, o))
	testkit.Check(tree.SetTotal(vector.ResourceVector{total}))
	for _, q := range queues {
		row := first(tree.Set(q.name, Queue{Deserved: vector.ResourceVector{q.d}, Limit: vector.ResourceVector{q.l}, Weight: []float64{q.w}, Priority: q.priority}))
		testkit.Check(tree.SetUsage(row, Usage{Wanted: vector.ResourceVector{q.want}}))
	}
	tree.Divide()
	return tree
}

func sharesOf(tree *Tree) (all []float64) {
	for _, row := range tree.All() {
		all = append(all, tree.Share(nil, row)[0])
	}
	return all
}

func TestSharesAndWhatBoundsThem(t *testing.T) {
	for _, test := range []struct {
		name     string
		o        Options
		total    float64
		queues   []queueOf
		want     []float64
		oversold float64
		bounds   []string
	}{
		{"odd unit to the lower rank", Options{}, 10, []queueOf{{"a", 2, inf, 1, 10, 0}, {"b", 2, inf, 3, 10, 0}}, []float64{4, 6}, 0,
			[]string{"queue a: 4 of gpu: level 3/2 times weight 1, wants 10", "queue b: 6 of gpu: level 3/2 times weight 3, wants 10"}},
		{"one wants less", Options{}, 10, []queueOf{{"a", 0, inf, 1, 3, 0}, {"b", 0, inf, 1, 10, 0}, {"c", 0, inf, 1, 10, 0}}, []float64{3, 4, 3}, 0,
			[]string{"queue a: 3 of gpu: all it wants", "", ""}},
		{"priority first", Options{}, 10, []queueOf{{"a", 0, inf, 1, 10, 0}, {"b", 0, inf, 1, 10, 5}}, []float64{0, 10}, 0,
			[]string{"queue a: 0 of gpu: wants 10, and queues of higher priority leave nothing", "queue b: 10 of gpu: all it wants"}},
		{"promises", Options{}, 10, []queueOf{{"a", 6, inf, 1, 10, 0}, {"b", 6, inf, 1, 10, 0}}, []float64{6, 6}, 2,
			[]string{"queue a: 6 of gpu: the total is oversold by 2", "queue b: 6 of gpu: the total is oversold by 2"}},
		{"promises, scaled", Options{Scale: true}, 10, []queueOf{{"a", 6, inf, 1, 10, 0}, {"b", 6, inf, 1, 10, 0}}, []float64{5, 5}, 2, []string{"queue a: 5 of gpu: the total is oversold by 2", ""}},
		{"limit and weight 0", Options{}, 10, []queueOf{{"a", 0, 4, 1, 10, 0}, {"b", 0, inf, 0, 10, 0}}, []float64{4, 0}, 0,
			[]string{"queue a: 4 of gpu: its limit", "queue b: 0 of gpu: weight 0, wants 10"}},
		{"unlimited deserved", Options{}, 10, []queueOf{{"a", inf, inf, 1, 7, 0}, {"b", 2, inf, 1, 10, 0}}, []float64{7, 3}, 0, []string{"", ""}},
		{"nothing beyond", Options{}, 4, []queueOf{{"a", 2, inf, 1, 9, 0}, {"b", 2, inf, 1, 9, 0}}, []float64{2, 2}, 0,
			[]string{"queue a: 2 of gpu: deserves 2, wants 9, nothing is left beyond", ""}},
		{"odd units stay in their priority", Options{}, 3, []queueOf{{"a", 0, inf, 1, 3, 1}, {"b", 0, inf, 1, 3, 1}, {"c", 0, inf, 1, 1, 0}}, []float64{2, 1, 0}, 0, []string{"", "", ""}},
		{"three odd units", Options{}, 10, []queueOf{{"a", 0, inf, 6, 99, 0}, {"b", 0, inf, 6, 99, 0}, {"c", 0, inf, 2, 99, 0}}, []float64{4, 4, 2}, 0, []string{"", "", ""}},
		{"Alabama paradox", Options{}, 11, []queueOf{{"a", 0, inf, 6, 99, 0}, {"b", 0, inf, 6, 99, 0}, {"c", 0, inf, 2, 99, 0}}, []float64{5, 5, 1}, 0, []string{"", "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := flat(t, test.total, test.o, test.queues...)
			if got := sharesOf(tree); !slices.Equal(got, test.want) {
				t.Errorf("shares %v, want %v", got, test.want)
			}
			if got := tree.Oversold(nil, 0)[0]; got != test.oversold {
				t.Errorf("oversold %v, want %v", got, test.oversold)
			}
			before := slices.Clone(tree.amounts)
			for i, q := range test.queues {
				row, _ := tree.Row(q.name)
				if got := tree.Explain(row, 0).String(); test.bounds[i] != "" && got != test.bounds[i] {
					t.Errorf("%s, want %s", got, test.bounds[i])
				}
			}
			if !slices.Equal(tree.amounts, before) {
				t.Error("an explanation changes shares")
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	gpu := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu"}, {Name: "gpu"}})
	second := func(x float64) vector.ResourceVector { return vector.ResourceVector{0, x} }
	set := func(name string, q Queue) func(*Tree) error {
		return func(tree *Tree) error { _, _, err := tree.Set(name, q); return err }
	}
	three, tenth := 3.001, 0.1 // sums of constants would be exact
	for _, test := range []struct {
		name string
		try  func(tree *Tree) error
		want []string
	}{
		{"NaN", set("q", Queue{Deserved: second(math.NaN())}), []string{"queue q", "deserved", "gpu", "NaN"}},
		{"negative", set("q", Queue{Limit: second(-1)}), []string{"queue q", "limit", "gpu", "-1"}},
		{"2^53", set("q", Queue{Lending: second(1 << 53)}), []string{"queue q", "lending", "gpu", "9007199254740992"}},
		{"fraction", set("q", Queue{Guarantee: second(0.5)}), []string{"queue q", "guarantee", "gpu", "0.5"}},
		{"deserved above limit", set("q", Queue{Deserved: second(3), Limit: second(2)}), []string{"queue q", "deserved", "gpu", "3", "2"}},
		{"guarantee above limit", set("q", Queue{Guarantee: second(3), Limit: second(2)}), []string{"queue q", "guarantee", "gpu", "3"}},
		{"infinite guarantee", set("q", Queue{Guarantee: second(inf)}), []string{"queue q", "guarantee", "gpu"}},
		{"weight", set("q", Queue{Weight: []float64{1, 0.0005}}), []string{"queue q", "weight", "gpu", "0.0005"}},
		{"negative weight", set("q", Queue{Weight: []float64{1, -1}}), []string{"queue q", "weight", "gpu", "-1"}},
		{"large weight", set("q", Queue{Weight: []float64{1, 1e6 + 1}}), []string{"queue q", "weight", "gpu", "1000001"}},
		{"sum of weights", set("q", Queue{Weight: []float64{1, three + 1}}), []string{"queue q", "weight", "gpu", "4.0009999999999994", "math.Round(x*1000)/1000 is 4.001"}},
		{"sum of many weights", set("q", Queue{Weight: []float64{1, tenth + tenth + tenth}}), []string{"weight", "0.30000000000000004", "is 0.3"}},
		{"sum of guarantees", set("q", Queue{Guarantee: second(1 << 52)}), []string{"queue q", "guarantee", "gpu"}},
		{"unknown parent", set("q", Queue{Parent: "z"}), []string{"queue q", "parent z"}},
		{"itself", set("p", Queue{Parent: "p"}), []string{"queue p", "parent p"}},
		{"cycle", set("p", Queue{Parent: "leaf"}), []string{"queue p", "parent leaf"}},
		{"parent with something", set("q", Queue{Parent: "full"}), []string{"queue q", "parent full"}},
		{"limit of an only child", set("large", Queue{Parent: "large parent"}), []string{"queue", "wanted", "gpu"}},
		{"no name", set("", Queue{}), []string{"without a name"}},
		{"delete a parent", func(tree *Tree) error { _, err := tree.Delete("p"); return err }, []string{"queue p"}},
		{"total", func(tree *Tree) error { return tree.SetTotal(second(inf)) }, []string{"total", "gpu", "+Inf"}},
		{"usage of a parent", func(tree *Tree) error { return tree.SetUsage(1, Usage{}) }, []string{"queue p", "leaf"}},
		{"wanted", func(tree *Tree) error { return tree.SetUsage(2, Usage{Wanted: second(-2)}) }, []string{"queue leaf", "wanted", "gpu", "-2"}},
		{"more unpreemptible", func(tree *Tree) error { return tree.SetUsage(2, Usage{Unpreemptible: second(2)}) }, []string{"queue leaf", "unpreemptible", "gpu", "2"}},
		{"sum of wanted", func(tree *Tree) error { return tree.SetUsage(2, Usage{Wanted: second(1<<53 - 3)}) }, []string{"wanted", "gpu", "9007199254740994"}},
		{"sum assumed", func(tree *Tree) error { return tree.Assume(2, Job{Request: second(1<<53 - 1)}) }, []string{"wanted", "gpu"}},
		{"sum of the second column", func(tree *Tree) error {
			return tree.Assume(2, Job{Request: vector.ResourceVector{3, 1<<53 - 1}})
		}, []string{"wanted", "gpu"}},
		{"sum waiting", func(tree *Tree) error { _, err := tree.Wait(2, Job{Request: second(1<<53 - 1)}); return err }, []string{"wanted", "gpu"}},
		{"forget too much", func(tree *Tree) error { return tree.Forget(3, Job{Request: second(6)}) }, []string{"queue full", "request", "gpu", "6"}},
		{"request", func(tree *Tree) error { return tree.Assume(3, Job{Request: second(math.NaN())}) }, []string{"queue full", "request", "gpu", "NaN"}},
		{"job", func(tree *Tree) error { _, err := tree.Wait(3, Job{Request: second(0.25)}); return err }, []string{"queue full", "request", "gpu", "0.25"}},
		{"history", func(tree *Tree) error { return tree.SetHistory(2, second(math.NaN())) }, []string{"queue leaf", "history", "gpu", "NaN"}},
		{"claim", func(tree *Tree) error { _, _, err := NewClaim(tree).Begin(3, Job{Request: second(-1)}); return err }, []string{"queue full", "request", "gpu", "-1"}},
		{"move of too much", set("large", Queue{Parent: "p"}), []string{"wanted", "gpu"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree := testkit.Must(NewTree(gpu, 2, Options{}))
			testkit.Check(tree.SetTotal(second(10)))
			set := func(name string, q Queue) int {
				return first(tree.Set(name, q))
			}
			set("p", Queue{})
			set("leaf", Queue{Parent: "p"})
			full := set("full", Queue{Guarantee: second(1 << 52)})
			testkit.Check(tree.SetUsage(full, Usage{Allocated: second(5)}))
			if test.name == "move of too much" {
				testkit.Check(tree.SetUsage(2, Usage{Wanted: second(1<<53 - 10)}))
				testkit.Check(tree.SetUsage(set("large", Queue{Limit: second(0)}), Usage{Wanted: second(1<<53 - 10)}))
			}
			if test.name == "limit of an only child" {
				set("large parent", Queue{})
				large := set("large", Queue{Parent: "large parent", Limit: second(0)})
				testkit.Check(tree.SetUsage(2, Usage{Wanted: second(1<<53 - 10)}))
				testkit.Check(tree.SetUsage(large, Usage{Wanted: second(1<<53 - 10)}))
				testkit.Check(tree.SetHistory(large, second(5)))
			}
			tree.Divide()
			before := stateOf(tree)
			rows := slices.Clone(tree.rows)
			err := test.try(tree)
			if err == nil {
				t.Fatal("no error")
			}
			var amount *vector.AmountError
			if !errors.As(err, &amount) && !errors.Is(err, ErrStructure) {
				t.Errorf("error %v is of no known type", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not name %q", err, part)
				}
			}
			tree.Divide()
			if !before.is(tree) || !slices.Equal(tree.rows[:len(rows)], rows) {
				t.Error("something has changed")
			}
		})
	}
	for _, o := range []Options{{Rules: 9}, {History: -1}, {History: math.NaN()}, {Multiplier: 0.5}, {Multiplier: 1.00001}, {Groups: []int{1}}} {
		if _, err := NewTree(vector.Schema{}, 2, o); err == nil {
			t.Errorf("options %+v are taken", o)
		}
	}
	if _, err := NewTree(vector.Schema{}, 1, Options{Multiplier: three + 1}); err == nil || !strings.HasSuffix(err.Error(), "is 4.001") {
		t.Error(err)
	}
}

// TestSumsOfTerms: siblings may not be guaranteed 2^53 together, nor, where lending adds it up, may
// all queues deserve that. A queue that would make it so doesn't come, or stays as it was.
func TestSumsOfTerms(t *testing.T) {
	half := vector.ResourceVector{1 << 52}
	for _, test := range []struct {
		rules Rules
		a, b  Queue
		want  string
	}{
		{KAI, Queue{Guarantee: half}, Queue{Guarantee: half}, "queue b: guarantee: column 0: amount 4503599627370496 " + reasonSum},
		{KAI, Queue{Guarantee: half}, Queue{Parent: "a", Guarantee: half}, ""},
		{KAI, Queue{Deserved: half}, Queue{Deserved: half}, ""},
		{Kueue, Queue{Deserved: half}, Queue{Parent: "a", Deserved: half}, "queue b: deserved: column 0: amount 4503599627370496 " + reasonSum},
		{Kueue, Queue{Deserved: vector.ResourceVector{inf}}, Queue{Deserved: half}, ""},
	} {
		for _, isKnown := range []bool{false, true} {
			tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{Rules: test.rules}))
			first(tree.Set("a", test.a))
			if isKnown {
				first(tree.Set("b", Queue{}))
			}
			n := tree.Len()
			_, _, err := tree.Set("b", test.b)
			if got := fmt.Sprint(err); test.want == "" && err != nil || test.want != "" && got != test.want {
				t.Errorf("%v and %v: %s", test.a, test.b, got)
			}
			if err == nil {
				continue
			}
			if tree.Len() != n || tree.came != int64(n) {
				t.Errorf("%d queues, want %d", tree.Len(), n)
			}
			first(tree.Set("b", Queue{Guarantee: vector.ResourceVector{1}}))
		}
	}
}

// TestHistoryHalves checks what decay gives where that is exact, and elsewhere that the
// relative error is below 2^-52: its h-th power is 2^-a then, within h times as much.
func TestHistoryHalves(t *testing.T) {
	for _, test := range []struct {
		a, h uint64
		want float64
	}{
		{0, 5, 1}, {5, 5, 0.5}, {15, 5, 0.125}, {5 * 1074, 5, math.SmallestNonzeroFloat64}, {5 * 5000, 5, 0}, {1, 1 << 63, 1},
	} {
		if got := halved(test.a, test.h); got != test.want {
			t.Errorf("halved(%d, %d) is %v, want %v", test.a, test.h, got, test.want)
		}
	}
	for _, h := range []uint64{3, 7, 101, 997} {
		for a := uint64(1); a < 3*h; a += 1 + h/200 {
			got := new(big.Float).SetPrec(200).SetFloat64(halved(a, h))
			power := new(big.Float).SetPrec(200).SetInt64(1)
			for range h {
				power.Mul(power, got)
			}
			power.SetMantExp(power, int(a))
			off, _ := power.Sub(power, big.NewFloat(1)).Float64()
			if math.Abs(off) > float64(h)*0x1p-52 {
				t.Errorf("halved(%d, %d) is off by %v of 2^-52", a, h, off/float64(h)*0x1p52)
			}
		}
	}
}

// TestTrialsOfJobs checks skipping, resuming and withdrawing, and the numbers of jobs.
func TestTrialsOfJobs(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, inf, 1, 0, 0}, queueOf{"b", 0, inf, 1, 0, 0})
	a, _ := tree.Row("a")
	wait := func(x float64) int {
		return testkit.Must(tree.Wait(a, Job{Request: vector.ResourceVector{x}}))
	}
	first, second := wait(3), wait(4)
	tree.Divide()
	if got := sharesOf(tree); !slices.Equal(got, []float64{7, 0}) {
		t.Errorf("shares %v", got)
	}
	expect := func(want int) {
		t.Helper()
		if _, id, ok := tree.Next(); ok != (want >= 0) || id != want {
			t.Errorf("next is %d, want %d", id, want)
		}
	}
	expect(first)
	tree.Skip(first)
	tree.Skip(first)
	expect(second)
	mark := tree.Mark()
	testkit.Check(tree.Admit(second))
	expect(-1)
	tree.Resume()
	expect(first)
	tree.Rollback(mark)
	expect(second)
	tree.Commit()
	tree.Withdraw(first)
	if got := tree.Wanted(nil, a)[0]; got != 4 {
		t.Errorf("wanted is %v, want 4", got)
	}
	tree.Resume()
	expect(second)
	if third := wait(1); third != first {
		t.Errorf("a new job has number %d, want %d", third, first)
	}
	if ok, err := tree.Delete("a"); !ok || err != nil {
		t.Error(ok, err)
	}
	expect(-1)
	if tree.Len() != 1 || tree.Wanted(nil, 0)[0] != 0 {
		t.Error("a queue that is deleted leaves something behind")
	}
}

func TestPanics(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, inf, 1, 5, 0})
	one := Job{Request: vector.ResourceVector{1}}
	old := tree.Mark()
	tree.Commit()
	outer := tree.Mark()
	testkit.Check(tree.Assume(1, one))
	inner := tree.Mark()
	tree.Rollback(outer)
	testkit.Check(tree.Assume(1, one))
	testkit.Check(tree.Assume(1, one))
	const mark = "fairshare: mark is no longer in the tree's history"
	for _, test := range []struct {
		want string
		call func()
	}{
		{panicRow, func() { tree.Name(9) }},
		{panicVector, func() { tree.SetTotal(vector.ResourceVector{1, 2}) }},
		{panicColumn, func() { tree.Explain(0, -1) }},
		{panicColumn, func() { tree.Explain(0, 1) }},
		{panicJob, func() { tree.Admit(3) }},
		{mark, func() { tree.Rollback(Mark{}) }},
		{mark, func() { tree.Rollback(old) }},
		{mark, func() { tree.Rollback(inner) }},
		{"fairshare: claim that has not begun", func() { NewClaim(tree).May(Victim{Queue: 1}) }},
		{"fairshare: time that cannot pass", func() { tree.Decay(1, 0) }},
		{"fairshare: schema of another width", func() { NewTree(tree.schema, 2, Options{}) }},
	} {
		if got := testkit.Recovered(test.call); got != test.want {
			t.Errorf("panic %v, want %s", got, test.want)
		}
	}
}

// Who tries something for ever, and takes it back, needs no more memory.
func TestTrialsForEver(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, inf, 1, 5, 0})
	for range 100 {
		mark := tree.Mark()
		testkit.Check(tree.Assume(1, Job{Request: vector.ResourceVector{1}}))
		tree.Rollback(mark)
	}
	if n := len(tree.journal.changes); n != 1 {
		t.Errorf("%d changes are left", n)
	}
}

// TestAllocations checks that nothing allocates once it has grown.
func TestAllocations(t *testing.T) {
	tree := treeOf(t, Options{History: 0.5}, 3, 3, 5)
	p, q := takerOf(t, tree)
	claim := NewClaim(tree)
	request, victim := vector.ResourceVector{1, 1}, vector.ResourceVector{1, 2}
	victims := []Victim{{Queue: q, Amounts: victim}}
	var share vector.ResourceVector
	run := func() {
		mark := tree.Mark()
		testkit.Check(tree.Assume(p, Job{Request: request}))
		id := testkit.Must(tree.Wait(q, Job{Request: request}))
		tree.Divide()
		if leaf, id, ok := tree.Next(); ok {
			share = tree.Share(share, leaf)
			tree.Skip(id)
		}
		tree.Withdraw(id)
		if _, ok, _ := claim.Begin(p, Job{Request: request}); ok {
			for range claim.Victims(victims) {
				break
			}
			claim.Keep(nil)
		}
		tree.Rollback(mark)
		tree.Commit()
		tree.outdateAll()
		tree.Divide()
	}
	run()
	if n := testing.AllocsPerRun(20, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The least priority has no negative, and is served last all the same.
func TestLeastPriorityIsServedLast(t *testing.T) {
	one := vector.ResourceVector{1}
	for _, rules := range []Rules{Leximin, KAI, Volcano} {
		tree := flat(t, 10, Options{Rules: rules}, queueOf{"a", 0, inf, 1, 10, math.MinInt64}, queueOf{"b", 0, inf, 1, 10, 0})
		for row := 1; row <= 2; row++ {
			testkit.Must(tree.Wait(row, Job{Request: one}))
		}
		// Saturations are the same only if the shares are.
		copy(tree.used(1, share), tree.used(2, share))
		if leaf, _, _ := tree.Next(); leaf != 2 {
			t.Errorf("rules %d: row %d is served first", rules, leaf)
		}
	}
	tree := flat(t, 10, Options{Rules: Kueue}, queueOf{"a", 5, inf, 1, 0, 0}, queueOf{"b", 5, inf, 1, 0, 0})
	least := int64(math.MinInt64)
	testkit.Must(tree.Wait(1, Job{Request: one, Priority: &least}))
	testkit.Must(tree.Wait(2, Job{Request: one}))
	if leaf, _, _ := tree.Next(); leaf != 2 {
		t.Errorf("Kueue: row %d is served first", leaf)
	}
}

// A candidate that is of no leaf is passed over, and doesn't end the search.
func TestCandidateOfAParent(t *testing.T) {
	tree := flat(t, 4, Options{}, queueOf{"a", 0, inf, 1, 0, 0}, queueOf{"b", 0, inf, 1, 0, 0}, queueOf{"c", 0, inf, 1, 0, 0})
	x := first(tree.Set("x", Queue{Parent: "a"}))
	testkit.Check(tree.SetUsage(x, Usage{Allocated: vector.ResourceVector{9}})) // a is the worst
	testkit.Check(tree.SetUsage(2, Usage{Allocated: vector.ResourceVector{3}}))
	testkit.Check(tree.SetUsage(3, Usage{Wanted: vector.ResourceVector{2}}))
	tree.Divide()
	one := vector.ResourceVector{1}
	claim := NewClaim(tree)
	_, ok, err := claim.Begin(3, Job{Request: one})
	testkit.Check(err)
	if !ok {
		t.Fatal("may take from nobody")
	}
	for range claim.Victims([]Victim{{Queue: 0, Amounts: one}, {Queue: 1, Amounts: one}, {Queue: 2, Amounts: one}}) {
	}
	if got := claim.Taken(nil); !slices.Equal(got, []int{2}) {
		t.Errorf("taken %v, want the one of b", got)
	}
	claim.Drop()
}

// What a division of everything has changed is divided, too: the next has nothing to do.
func TestDivideLeavesNothingToDo(t *testing.T) {
	tree := flat(t, 4, Options{}, queueOf{"a", 0, inf, 1, 0, 0})
	x := first(tree.Set("x", Queue{Parent: "a"}))
	testkit.Check(tree.SetUsage(x, Usage{Wanted: vector.ResourceVector{3}}))
	tree.Divide()
	if tree.Share(nil, x)[0] != 3 {
		t.Errorf("share %v", tree.Share(nil, x))
	}
	for _, row := range tree.shape.parents {
		if columns := tree.stale[row]; columns != 0 {
			t.Errorf("queue %s is out of date in columns %b", tree.Name(int(row)), columns)
		}
	}
}

// TestRollbackBehindDivide: what a rollback takes back may be a division alone, of amounts from
// before the mark. It is out of date again then, also where only what is oversold is another.
func TestRollbackBehindDivide(t *testing.T) {
	for _, total := range []float64{0, 4} {
		tree := flat(t, total, Options{Scale: true}, queueOf{"a", 3, inf, 1, 0, 0})
		a, _ := tree.Row("a")
		testkit.Check(tree.SetUsage(a, Usage{Wanted: vector.ResourceVector{3}}))
		mark := tree.Mark()
		tree.Divide()
		want := stateOf(tree)
		tree.Rollback(mark)
		tree.Divide()
		if !want.is(tree) {
			t.Errorf("of %v: share %v, %v oversold", total, tree.Share(nil, a), tree.Oversold(nil, 0))
		}
	}
}

// TestSkippedForGood: jobs that were skipped and have gone leave nothing behind, also where
// nobody ever resumes; a queue that goes looks at its own jobs.
func TestSkippedForGood(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, inf, 1, 0, 0}, queueOf{"b", 0, inf, 1, 0, 0})
	a, _ := tree.Row("a")
	for k := range 1000 {
		id := testkit.Must(tree.Wait(a, Job{Request: vector.ResourceVector{1}}))
		tree.Skip(id)
		if k%2 == 0 {
			tree.Withdraw(id)
			continue
		}
		testkit.Check(tree.Admit(id))
		testkit.Check(tree.Forget(a, Job{Request: vector.ResourceVector{1}}))
	}
	if l := &tree.line; len(l.jobs) > 1 || cap(l.leaves[a].jobs) > 8 {
		t.Errorf("%d jobs, and %d of the leaf", len(l.jobs), cap(l.leaves[a].jobs))
	}
	tree.Resume()
	if _, _, ok := tree.Next(); ok {
		t.Error("a job that has gone waits again")
	}
}

// TestClaims checks what a claim says of refused victims, what becomes of one that is more
// than what is preemptible, and that nobody changes the tree while it is open.
func TestClaims(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, inf, 1, 10, 0}, queueOf{"b", 0, inf, 1, 10, 0}, queueOf{"c", 0, inf, 1, 0, 0})
	a, _ := tree.Row("a")
	b, _ := tree.Row("b")
	c, _ := tree.Row("c")
	v := func(x float64) vector.ResourceVector { return vector.ResourceVector{x} }
	testkit.Check(tree.SetUsage(a, Usage{Allocated: v(9), Unpreemptible: v(8), Wanted: v(10)}))
	testkit.Check(tree.SetUsage(c, Usage{Allocated: v(0), Wanted: v(0)}))
	tree.Divide() // 5 and 5
	claim := NewClaim(tree)
	begin := func() {
		t.Helper()
		if _, ok, err := claim.Begin(b, Job{Request: v(4)}); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	begin()
	list := []Victim{{Queue: a, Amounts: v(4)}, {Queue: a, Amounts: v(5)}, {Queue: a, Amounts: v(1)}}
	n := 0
	for range claim.Victims(list) {
		n++
	}
	why, refused := claim.Refused()
	if taken := claim.Taken(nil); n != 2 || refused != 1 || !slices.Equal(taken, []int{0, 2}) ||
		why.String() != "queue a would have 0/5 of gpu, as little as the 0/5 that queue b has" {
		t.Errorf("%d victims, %v; %d are refused: %v", n, taken, refused, why)
	}
	if _, ok := claim.Keep(nil); !ok {
		t.Fatal("not kept")
	}
	begin()
	for i, want := range []Reason{SameQueue, AsLowAsTaker, AsLowAsTaker} {
		claim.Take([]Victim{{Queue: b}, {Queue: a, Amounts: v(4)}, {Queue: b}}[i])
		if why, n := claim.Refused(); why.Reason != want || n != i+1 {
			t.Errorf("%d are refused: %v", n, why)
		}
	}
	claim.Drop()
	// 4 are left, of which no more than 4 are not preemptible.
	testkit.Check(tree.Forget(a, Job{Request: v(4), Unpreemptible: true}))

	testkit.Check(tree.SetUsage(a, Usage{Allocated: v(10), Wanted: v(10)}))
	for name, call := range map[string]func(){
		"May":  func() { claim.May(list[2]) },
		"Take": func() { claim.Take(list[2]) },
		"Keep": func() { claim.Keep(nil) },
		"Drop": claim.Drop,
	} {
		begin()
		testkit.Check(tree.Assume(c, Job{Request: v(1)}))
		if got := testkit.Recovered(call); got != "fairshare: tree has changed while a claim was open" {
			t.Errorf("%s: %v", name, got)
		}
		testkit.Check(tree.Forget(c, Job{Request: v(1)}))
	}

	// What is refused is no change.
	first(tree.Set("c", Queue{Guarantee: v(1)}))
	tree.Divide()
	begin()
	most := v(1<<53 - 1)
	_, errWait := tree.Wait(a, Job{Request: most})
	_, _, errSet := tree.Set("a", Queue{Guarantee: most})
	for i, err := range []error{tree.Assume(a, Job{Request: most}), tree.SetUsage(c, Usage{Wanted: most}), errWait, errSet} {
		if err == nil {
			t.Error(i, "is no error")
		}
	}
	if _, ok := claim.May(list[2]); !ok {
		t.Error("the claim sees a change")
	}
	claim.Drop()
}

// TestAdmitTooMuch: what a queue wants beyond its limit doesn't count above it, but what it has
// does. So the sums of two jobs that wait may be too large when both are admitted.
func TestAdmitTooMuch(t *testing.T) {
	tree := flat(t, 10, Options{}, queueOf{"a", 0, 1, 1, 0, 0}, queueOf{"b", 0, 1, 1, 0, 0})
	var ids [2]int
	for i := range ids {
		row, _ := tree.Row([]string{"a", "b"}[i])
		ids[i] = testkit.Must(tree.Wait(row, Job{Request: vector.ResourceVector{1 << 52}, Unpreemptible: true}))
	}
	testkit.Check(tree.Admit(ids[0]))
	tree.Divide()
	before := stateOf(tree)
	err := tree.Admit(ids[1])
	var amount *vector.AmountError
	if !errors.As(err, &amount) || !strings.Contains(err.Error(), "is the sum of all queues") {
		t.Error(err)
	}
	if !before.is(tree) {
		t.Error("something has changed")
	}
	tree.Withdraw(ids[1]) // it still waits
}

// By weight, a share at the guarantee has one of three reasons, and a queue that shares alone
// has a level, too.
func TestExplainByWeight(t *testing.T) {
	for _, test := range []struct {
		total, guarantee, weight, other float64
		cause                           Cause
		text                            string
	}{
		{0, 0, 1, 5, ByGuarantee, "queue a: 0 of column 0: its guarantee, its part by weight is no more, wants 9"},
		{8, 6, 1, 9, ByGuarantee, "queue a: 6 of column 0: its guarantee, its part by weight is no more, wants 9"},
		{1, 0, 1, 9, ByLevel, "queue a: 0 of column 0: level 1/2 times weight 1, wants 9"},
		{3, 1, 1, 9, ByLevel, "queue a: 1 of column 0: level 3/2 times weight 1, wants 9"},
		{5, 2, 0.5, 0, ByLevel, "queue a: 5 of column 0: level 10/1 times weight 0.5, wants 9"},
		{5, 2, 0, 9, ByZero, "queue a: 2 of column 0: weight 0, wants 9"},
	} {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{ByWeight: true}))
		testkit.Check(tree.SetTotal(vector.ResourceVector{test.total}))
		b := first(tree.Set("b", Queue{}))
		a := first(tree.Set("a", Queue{Guarantee: vector.ResourceVector{test.guarantee}, Weight: []float64{test.weight}}))
		testkit.Check(tree.SetUsage(a, Usage{Wanted: vector.ResourceVector{9}}))
		testkit.Check(tree.SetUsage(b, Usage{Wanted: vector.ResourceVector{test.other}}))
		tree.Divide()
		if got := tree.Explain(a, 0); got.Cause != test.cause || got.String() != test.text {
			t.Errorf("total %v, guarantee %v: %v, want %v", test.total, test.guarantee, got, test.text)
		}
	}
}

// What others are guaranteed bounds a share, whatever the weights are; and a guarantee may be more
// than what is wanted.
func TestExplainGuarantees(t *testing.T) {
	type v = vector.ResourceVector
	for _, test := range []struct {
		total, guarantee, wants, others, theyWant float64 // of a, and of b
		want                                      []string
	}{
		{3, 0, 5, 2, 3, []string{"queue a: 1 of column 0: wants 5, and others are guaranteed 2", "queue b: 2 of column 0: its guarantee, its part by weight is no more, wants 3"}},
		{3, 0, 5, 2, 0, []string{"queue a: 1 of column 0: wants 5, and others are guaranteed 2", "queue b: 2 of column 0: its guarantee, its part by weight is no more, wants 0"}},
		{3, 1, 5, 2, 2, []string{"queue a: 1 of column 0: wants 5, and others are guaranteed 2", "queue b: 2 of column 0: all it wants"}},
		{2, 1, 0, 2, 9, []string{"queue a: 1 of column 0: its guarantee, its part by weight is no more, wants 0", "queue b: 2 of column 0: the total is oversold by 1"}},
		{9, 0, 5, 2, 3, []string{"queue a: 5 of column 0: all it wants", "queue b: 3 of column 0: all it wants"}},
	} {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{ByWeight: true}))
		testkit.Check(tree.SetTotal(v{test.total}))
		a := first(tree.Set("a", Queue{Guarantee: v{test.guarantee}}))
		b := first(tree.Set("b", Queue{Guarantee: v{test.others}}))
		testkit.Check(tree.SetUsage(a, Usage{Wanted: v{test.wants}}))
		testkit.Check(tree.SetUsage(b, Usage{Wanted: v{test.theyWant}}))
		tree.Divide()
		for i, row := range []int{a, b} {
			if got := tree.Explain(row, 0).String(); got != test.want[i] {
				t.Errorf("total %v: %s, want %s", test.total, got, test.want[i])
			}
		}
	}
}

// Weights in effect can be so small that a weight of 1 gets more than fits 64 bits: the level is
// exact all the same, and compares with others.
func TestExplainHugeLevels(t *testing.T) {
	const total = 1 << 40
	var levels []Ratio
	for _, test := range []struct {
		past float64 // of the total, of both
		text string
	}{
		{1 - 1e-9, "level 549755813888000000000/1 times weight 1e-09, wants 1099511627776"},
		{1 - 3e-9, "level 549755813888000000000/3 times weight 3e-09, wants 1099511627776"},
		{0.5, "level 549755813888/1 times weight 1, wants 1099511627776"},
	} {
		tree := flat(t, total, Options{History: 1}, queueOf{"a", 0, inf, 1, total, 0}, queueOf{"b", 0, inf, 1, total, 0})
		for row := 1; row <= 2; row++ {
			testkit.Check(tree.SetHistory(row, vector.ResourceVector{total * test.past}))
		}
		if test.past == 0.5 { // then nobody has used too much
			for row := 1; row <= 2; row++ {
				testkit.Check(tree.SetHistory(row, nil))
			}
		}
		tree.Divide()
		e := tree.Explain(1, 0)
		if got := e.String(); got != "queue a: 549755813888 of gpu: "+test.text {
			t.Errorf("%s, want %s", got, test.text)
		}
		if x := e.Level.Float64() * e.Weight; math.Abs(x/e.Share-1) > 1e-12 {
			t.Errorf("level times weight is %v, want %v", x, e.Share)
		}
		levels = append(levels, e.Level)
	}
	for i := range levels[1:] {
		if levels[i].Compare(levels[i+1]) != 1 || levels[i+1].Compare(levels[i]) != -1 {
			t.Errorf("levels %v and %v", levels[i], levels[i+1])
		}
	}
}

// Names of any length and with any character stand in one line of a text or an error, cut.
func TestNamesInOneLine(t *testing.T) {
	type v = vector.ResourceVector
	long, odd := strings.Repeat("n", 70_000), "a\nb\r\u2028c\x1b[31m"
	tree := testkit.Must(NewTree(vector.NewSchema([]vector.SchemaColumn{{Name: "gpu\n" + long}}), 1, Options{}))
	testkit.Check(tree.SetTotal(v{8}))
	parent := first(tree.Set(long, Queue{Limit: v{9}}))
	a := first(tree.Set(odd, Queue{Parent: long, Deserved: v{4}}))
	b := first(tree.Set("b\n"+long, Queue{Parent: long, Deserved: v{4}}))
	testkit.Check(tree.SetUsage(a, Usage{Allocated: v{2}, Wanted: v{4}}))
	testkit.Check(tree.SetUsage(b, Usage{Allocated: v{4}, Wanted: v{9}}))
	tree.Divide()
	var texts []string
	fails := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("no error")
			return
		}
		texts = append(texts, err.Error())
	}
	set := func(name string, q Queue) {
		t.Helper()
		_, _, err := tree.Set(name, q)
		fails(err)
	}
	for _, row := range []int{0, parent, a, b} {
		texts = append(texts, tree.Explain(row, 0).String())
	}
	claim := NewClaim(tree)
	first(claim.Begin(a, Job{Request: v{2}}))
	why, _ := claim.May(Victim{Queue: b, Amounts: v{4}})
	same, _ := claim.May(Victim{Queue: a})
	claim.Drop()
	texts = append(texts, why.String(), same.String())
	if why.Queue != odd || why.Other != "b\n"+long {
		t.Error("a refusal doesn't have the names themselves")
	}
	set(odd, Queue{Parent: "unknown\n" + long})
	set(odd, Queue{Parent: odd})
	set("c"+long, Queue{Parent: "b\n" + long})
	set(odd, Queue{Parent: long, Limit: v{-1}})
	set(odd, Queue{Parent: long, Deserved: v{4}, Weight: v{math.NaN()}})
	fails(tree.SetUsage(parent, Usage{}))
	fails(tree.SetUsage(a, Usage{Wanted: v{1<<53 - 1}}))
	_, err := tree.Delete(long)
	fails(err)
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\u2028' }) || len(text) > 1500 {
			t.Errorf("%d bytes: %.400q", len(text), text)
		}
	}
}

// A queue below itself is told so, also when it has something.
func TestCycleOfOccupied(t *testing.T) {
	tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{}))
	first(tree.Set("a", Queue{}))
	b := first(tree.Set("b", Queue{Parent: "a"}))
	testkit.Check(tree.SetUsage(b, Usage{Allocated: vector.ResourceVector{1}}))
	for _, q := range [][2]string{{"a", "a"}, {"a", "b"}, {"b", "b"}} {
		_, changed, err := tree.Set(q[0], Queue{Parent: q[1]})
		want := "fairshare: no place in the tree: queue " + q[0] + ": parent " + q[1] + " is the queue itself, or below it"
		if changed || !errors.Is(err, ErrStructure) || err.Error() != want {
			t.Errorf("queue %s below %s: %v, want %s", q[0], q[1], err, want)
		}
	}
}

// Beyond 64 columns two of them share the bit that says what to divide again.
func TestManyColumns(t *testing.T) {
	const cols = 70
	tree := testkit.Must(NewTree(vector.Schema{}, cols, Options{}))
	total := slices.Repeat(vector.ResourceVector{10}, cols)
	testkit.Check(tree.SetTotal(total))
	first(tree.Set("p", Queue{}))
	a := first(tree.Set("a", Queue{Parent: "p"}))
	b := first(tree.Set("b", Queue{Parent: "p"}))
	testkit.Check(tree.SetUsage(a, Usage{Wanted: total}))
	tree.Divide()
	for _, j := range []int{1, 65} {
		wanted := make(vector.ResourceVector, cols)
		wanted[j] = 10
		testkit.Check(tree.SetUsage(b, Usage{Wanted: wanted}))
		tree.Divide()
		want := slices.Clone(total)
		want[j] = 5
		if got := tree.Share(nil, a); !slices.Equal(got, want) {
			t.Errorf("column %d: %v", j, got)
		}
	}
}
