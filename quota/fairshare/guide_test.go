package fairshare

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestGuide has a story for each line of the table in docs/fairshare.md that says what a queue of
// some kind gets: 10 are divided between it, the queue, and other. Both want 10.
func TestGuide(t *testing.T) {
	guide := testkit.Must(os.ReadFile("../../docs/fairshare.md"))
	type v = vector.ResourceVector
	for _, test := range []struct {
		line  string
		o     Options
		queue Queue
		other Queue
		want  v // the queue's share, and other's
		why   string
	}{
		{"deserves nothing", Options{}, Queue{}, Queue{Deserved: v{4}}, v{3, 7}, "level 3/1 times weight 1"},
		{"has weight 0", Options{}, Queue{Deserved: v{3}, Weight: v{0}}, Queue{}, v{3, 7}, "weight 0"},
		{"deserves +Inf", Options{}, Queue{Deserved: v{inf}}, Queue{Weight: v{100}}, v{10, 0}, "all it wants"},
		{"has a guarantee", Options{ByWeight: true}, Queue{Guarantee: v{8}}, Queue{}, v{8, 2}, "its guarantee"},
		{"has a guarantee", Options{}, Queue{Guarantee: v{8}}, Queue{}, v{5, 5}, "level 5/1"},
		{"has a limit", Options{}, Queue{Limit: v{2}}, Queue{}, v{2, 8}, "its limit"},
		{"wants less than it deserves", Options{}, Queue{Deserved: v{12}}, Queue{}, v{10, 0}, "all it wants"},
	} {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, test.o))
		testkit.Check(tree.SetTotal(v{10}))
		var shares v
		for _, q := range []struct {
			name  string
			queue Queue
		}{{"queue", test.queue}, {"other", test.other}} {
			row := first(tree.Set(q.name, q.queue))
			testkit.Check(tree.SetUsage(row, Usage{Wanted: v{10}}))
		}
		tree.Divide()
		for _, row := range tree.All() {
			shares = append(shares, tree.Share(nil, row)[0])
		}
		row, _ := tree.Row("queue")
		if why := tree.Explain(row, 0).String(); !slices.Equal(shares, test.want) || !strings.Contains(why, test.why) {
			t.Errorf("%s: %v (%s), want %v (%s)", test.line, shares, why, test.want, test.why)
		}
		if !strings.Contains(string(guide), "\n| "+test.line+" |") {
			t.Errorf("no line %q in the guide", test.line)
		}
	}

	// A limit bounds what a parent wants, too; of a parent that is oversold children keep what they
	// deserve, or their part of it.
	for _, scale := range []bool{false, true} {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{Scale: scale}))
		testkit.Check(tree.SetTotal(v{10}))
		set := func(name string, q Queue, wanted float64) int {
			row := first(tree.Set(name, q))
			if wanted > 0 {
				testkit.Check(tree.SetUsage(row, Usage{Wanted: v{wanted}}))
			}
			return row
		}
		limited := set("limited", Queue{}, 0)
		set("its child", Queue{Parent: "limited", Limit: v{2}}, 10)
		parent := set("parent", Queue{Limit: v{4}}, 0)
		x := set("x", Queue{Parent: "parent", Deserved: v{6}}, 10)
		y := set("y", Queue{Parent: "parent", Deserved: v{2}}, 10)
		tree.Divide()
		want := v{2, 4, 6, 2}
		if scale {
			want = v{2, 4, 3, 1}
		}
		var got v
		for _, row := range []int{limited, parent, x, y} {
			got = append(got, tree.Share(nil, row)[0])
		}
		if !slices.Equal(got, want) || tree.Oversold(nil, parent)[0] != 4 || !strings.HasSuffix(tree.Explain(x, 0).String(), "queue parent is oversold by 4") {
			t.Errorf("oversold: %v, want %v; %s", got, want, tree.Explain(x, 0))
		}
	}
	for _, line := range []string{"has a parent that is oversold", "is protected, as it has no more than its share"} {
		if !strings.Contains(string(guide), "\n| "+line+" |") {
			t.Errorf("no line %q in the guide", line)
		}
	}
}

// TestProtectedQueue: a queue that may not lose anything is passed over, wherever it stands, and
// the search goes on behind it.
func TestProtectedQueue(t *testing.T) {
	type v = vector.ResourceVector
	for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
		tree := testkit.Must(NewTree(vector.Schema{}, 1, Options{Rules: rules}))
		testkit.Check(tree.SetTotal(v{12}))
		first(tree.Set("all", Queue{}))
		rows := map[string]int{}
		for _, q := range []struct {
			name     string
			has      float64
			deserved float64
		}{{"taker", 3, 4}, {"first", 8, 4}, {"protected", 4, 4}} {
			row := first(tree.Set(q.name, Queue{Parent: "all", Deserved: v{q.deserved}, Guarantee: v{q.deserved}}))
			testkit.Check(tree.SetUsage(row, Usage{Allocated: v{q.has}, Wanted: v{12}}))
			rows[q.name] = row
		}
		tree.Divide()
		claim := NewClaim(tree)
		if why, ok, err := claim.Begin(rows["taker"], Job{Request: v{1}}); !ok || err != nil {
			t.Fatal(rules, why, err)
		}
		list := []Victim{{rows["protected"], 0, v{1}}, {rows["first"], 1, v{4}}, {rows["protected"], 2, v{2}}}
		for range claim.Victims(list) {
		}
		if taken := claim.Taken(nil); !slices.Equal(taken, []int{1}) {
			t.Errorf("rules %d: taken in order: %v", rules, taken)
		}
		claim.Drop()
		first(claim.Begin(rows["taker"], Job{Request: v{1}}))
		if taken := claim.TakeAll(nil, list, true); !slices.Equal(taken, []int{1}) {
			t.Errorf("rules %d: taken in passing: %v", rules, taken)
		}
		claim.Drop()
	}
}
