package fairshare

import (
	_ "embed"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// The worked cases, one a line. Fields that are absent stand for the defaults.
//
//go:embed testdata/cases.json
var casesJSON []byte

// amounts are numbers or "unlimited".
type amounts []float64

func (a *amounts) UnmarshalJSON(data []byte) error {
	var list []any
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*a = amounts{}
	for _, x := range list {
		if n, ok := x.(float64); ok {
			*a = append(*a, n)
		} else {
			*a = append(*a, math.Inf(1))
		}
	}
	return nil
}

// weights are one number or one per column.
type weights []float64

func (w *weights) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]float64)(w))
	}
	*w = weights{0}
	return json.Unmarshal(data, &(*w)[0])
}

type caseQueue struct {
	Name, Parent     string
	D, G, L, Lend    amounts
	W                weights
	Prio             int64
	Rank             *int64
	A, N, Want, Hist amounts
	U                *json.RawMessage
}

type caseJob struct {
	Request       amounts
	Priority, Age *int64
}

func (j *caseJob) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&j.Request, &j.Priority, &j.Age})
}

func (j *caseJob) job() Job {
	return Job{Request: vector.ResourceVector(j.Request), Priority: j.Priority, Age: j.Age}
}

type caseVictim struct {
	Leaf    string
	Amounts amounts
}

func (v *caseVictim) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&v.Leaf, &v.Amounts})
}

type worked struct {
	ID, Kind, Rule, Rules string
	Total                 amounts
	Scale                 bool
	K                     float64
	Queues                []caseQueue
	F, Oversold           map[string]amounts
	Groups                []int
	Jobs                  map[string][]caseJob
	Want                  json.RawMessage

	P             string
	Q             amounts
	Preemptible   *bool
	M             float64
	Mode          string
	Victims       []caseVictim
	Second        bool
	First, End    bool
	Allowed       []int
	Candidates    map[string][]amounts
	Free          amounts
	Taken, Kept   [][2]any
	OK            bool
	U, Halves     float64
	A             float64
	After, Result float64
}

var rulesByName = map[string]Rules{"kai": KAI, "volcano": Volcano, "kueue": Kueue, "leximin": Leximin, "": Leximin}

// tree builds the tree of a case, undivided.
func (c *worked) tree(t testing.TB) *Tree {
	t.Helper()
	tree := testkit.Must(NewTree(vector.Schema{}, len(c.Total), Options{
		Rules: rulesByName[c.Rules], ByWeight: c.Rule == "weight", Scale: c.Scale, History: c.K,
		Multiplier: c.M, Groups: c.Groups,
	}))
	testkit.Check(tree.SetTotal(vector.ResourceVector(c.Total)))
	for i, q := range c.Queues {
		rank := int64(i)
		if q.Rank != nil {
			rank = *q.Rank
		}
		row := first(tree.Set(q.Name, Queue{
			Parent: q.Parent, Deserved: vector.ResourceVector(q.D), Guarantee: vector.ResourceVector(q.G),
			Limit: vector.ResourceVector(q.L), Lending: vector.ResourceVector(q.Lend),
			Weight: q.W, Priority: q.Prio, Rank: &rank,
		}))
		if q.A == nil && q.Want == nil {
			continue
		}
		testkit.Check(tree.SetUsage(row, Usage{vector.ResourceVector(q.A), vector.ResourceVector(q.N), vector.ResourceVector(q.Want)}))
	}
	for _, q := range c.Queues {
		if q.U == nil {
			continue
		}
		row, _ := tree.Row(q.Name)
		var u amounts
		if json.Unmarshal(*q.U, &u) != nil {
			u = amounts{0}
			json.Unmarshal(*q.U, &u[0])
		}
		testkit.Check(tree.SetHistory(row, vector.ResourceVector(u)))
	}
	return tree
}

func (c *worked) checkShares(t *testing.T, tree *Tree) {
	t.Helper()
	for name, want := range c.F {
		row, _ := tree.Row(name)
		if got := tree.Share(nil, row); !slices.Equal(got, vector.ResourceVector(want)) {
			t.Errorf("share of %s is %v, want %v", name, got, want)
		}
	}
}

func TestWorkedCases(t *testing.T) {
	var cases []worked
	testkit.Check(json.Unmarshal(casesJSON, &cases))
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			if c.Kind == "history" && c.Queues == nil {
				testDecayCase(t, c)
				return
			}
			tree := c.tree(t)
			tree.Divide()
			c.checkShares(t, tree)
			switch c.Kind {
			case "division", "history":
				for _, q := range append(c.Queues, caseQueue{}) {
					want := make(vector.ResourceVector, len(c.Total))
					copy(want, c.Oversold[q.Name])
					row, _ := tree.Row(q.Name)
					if got := tree.Oversold(nil, row); !slices.Equal(got, want) {
						t.Errorf("oversold of %q is %v, want %v", q.Name, got, want)
					}
				}
			case "order":
				testOrderCase(t, c, tree)
			case "taking":
				testTakingCase(t, c, tree)
			}
		})
	}
}

func testDecayCase(t *testing.T, c worked) {
	tree, _ := NewTree(vector.Schema{}, 1, Options{})
	row, _, _ := tree.Set("q", Queue{})
	testkit.Check(tree.SetUsage(row, Usage{Allocated: vector.ResourceVector{c.A}}))
	testkit.Check(tree.SetHistory(row, vector.ResourceVector{c.U}))
	tree.Decay(time.Duration(c.Halves*1e12), 1e12)
	if got := tree.History(nil, row)[0]; math.Abs(got-c.After) > 1e-12*c.After {
		t.Errorf("usage is %v, want %v", got, c.After)
	}
}

func testOrderCase(t *testing.T, c worked, tree *Tree) {
	var want []string
	testkit.Check(json.Unmarshal(c.Want, &want))
	// A leaf's jobs come one at a time: their list is the order, whatever their priorities.
	next := func(name string) {
		if len(c.Jobs[name]) == 0 {
			return
		}
		row, _ := tree.Row(name)
		if _, err := tree.Wait(row, c.Jobs[name][0].job()); err != nil {
			t.Fatal(err)
		}
		c.Jobs[name] = c.Jobs[name][1:]
	}
	for _, q := range c.Queues {
		next(q.Name)
	}
	var got []string
	for {
		leaf, id, ok := tree.Next()
		if !ok {
			break
		}
		testkit.Check(tree.Admit(id))
		got = append(got, tree.Name(leaf))
		next(tree.Name(leaf))
	}
	if !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

func testTakingCase(t *testing.T, c worked, tree *Tree) {
	row, _ := tree.Row(c.P)
	claim := NewClaim(tree)
	before := stateOf(tree)
	_, first, err := claim.Begin(row, Job{Request: vector.ResourceVector(c.Q), Unpreemptible: c.Preemptible != nil && !*c.Preemptible})
	testkit.Check(err)
	if c.Mode != "order" {
		if first != c.First {
			t.Errorf("first is %v, want %v", first, c.First)
		}
		if !first {
			return
		}
		if c.Second {
			claim.Second()
		}
		list := []Victim{}
		for _, v := range c.Victims {
			q, _ := tree.Row(v.Leaf)
			list = append(list, Victim{Queue: q, Amounts: vector.ResourceVector(v.Amounts)})
		}
		if got := claim.TakeAll([]int{}, list, c.Mode == "passing"); !slices.Equal(got, c.Allowed) {
			t.Errorf("allowed %v, want %v", got, c.Allowed)
		}
		if why := claim.end(); (why.Reason == Allowed) != c.End {
			t.Errorf("end: %v, want %v", why, c.End)
		}
		claim.Drop()
		if !before.is(tree) {
			t.Error("a claim that is dropped leaves something behind")
		}
		return
	}
	var list []Victim
	var names [][2]any
	for _, q := range c.Queues {
		for i, v := range c.Candidates[q.Name] {
			r, _ := tree.Row(q.Name)
			list = append(list, Victim{Queue: r, Amounts: vector.ResourceVector(v)})
			names = append(names, [2]any{q.Name, float64(i)})
		}
	}
	named := func(list []int) [][2]any {
		out := [][2]any{}
		for _, i := range list {
			out = append(out, names[i])
		}
		return out
	}
	ok, taken, kept := false, []int(nil), []int(nil)
	if first {
		taken, kept, _, ok = makeRoom(claim, claim.Victims(list), vector.ResourceVector(c.Q), vector.ResourceVector(c.Free), list)
	}
	if ok != c.OK || !slices.Equal(named(taken), c.Taken) || !slices.Equal(named(kept), c.Kept) {
		t.Errorf("got %v, %v, %v; want %v, %v, %v", named(taken), named(kept), ok, c.Taken, c.Kept, c.OK)
	}
}

// makeRoom lets a claim that has begun take victims of a list, the worst queue's first, until what
// is asked for fits into what is free, and gives back those that it fits without. Without room it
// drops the claim, and keeps none. room is what is free then.
func makeRoom(claim *Claim, victims iter.Seq2[int, vector.ResourceVector], asks, free vector.ResourceVector, list []Victim) (taken, kept []int, room vector.ResourceVector, ok bool) {
	room = slices.Clone(free)
	for _, v := range victims {
		room.Add(v)
		if ok = asks.FitsIn(room); ok {
			break
		}
	}
	taken = claim.Taken(nil)
	if !ok {
		claim.Drop()
		return taken, nil, free, false
	}
	if _, ok = claim.Keep(func(i int) bool {
		room.Sub(list[i].Amounts)
		if asks.FitsIn(room) {
			return true
		}
		room.Add(list[i].Amounts)
		return false
	}); !ok {
		return taken, nil, free, false
	}
	return taken, claim.Taken(nil), room, true
}

// state is all that a rollback restores.
type state struct {
	usage   []int64
	history []float64
}

func stateOf(tree *Tree) state {
	return state{slices.Clone(tree.amounts), slices.Clone(tree.history)}
}

// is reports whether the tree is in this state. It may have more rows, which are free.
func (s state) is(tree *Tree) bool {
	return slices.Equal(s.usage, tree.amounts[:len(s.usage)]) && slices.Equal(s.history, tree.history[:len(s.history)])
}
