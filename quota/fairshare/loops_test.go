package fairshare

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// cluster is one node and jobs that run on it or wait: what is needed to see whether reclaim
// comes to an end.
type cluster struct {
	tree  *Tree
	free  vector.ResourceVector
	jobs  []clusterJob
	claim *Claim
}

type clusterJob struct {
	leaf    int
	request vector.ResourceVector
	runs    bool
}

// row is a queue and its jobs: "parent > name: deserved; jobs", jobs that run with a *.
type clusterQueue struct {
	parent, name string
	deserved     vector.ResourceVector
	weight       float64
	jobs         []clusterJob
}

func newCluster(t testing.TB, rules Rules, total vector.ResourceVector, queues []clusterQueue) *cluster {
	t.Helper()
	tree := testkit.Must(NewTree(vector.Schema{}, len(total), Options{Rules: rules}))
	testkit.Check(tree.SetTotal(total))
	c := &cluster{tree: tree, free: slices.Clone(total), claim: NewClaim(tree)}
	for _, q := range queues {
		row := first(tree.Set(q.name, Queue{Parent: q.parent, Deserved: q.deserved, Weight: []float64{cmp.Or(q.weight, 1)}}))
		want := make(vector.ResourceVector, len(total))
		for _, j := range q.jobs {
			for k, x := range j.request {
				want[k] += x
			}
			j.leaf = row
			c.jobs = append(c.jobs, j)
		}
		if len(q.jobs) > 0 {
			testkit.Check(tree.SetUsage(row, Usage{Wanted: want}))
		}
	}
	tree.Divide()
	for i := range c.jobs {
		if c.jobs[i].runs {
			c.jobs[i].runs = false
			c.place(i)
		}
	}
	return c
}

// place lets a job run if there is room.
func (c *cluster) place(i int) bool {
	j := &c.jobs[i]
	if !j.request.FitsIn(c.free) {
		return false
	}
	c.free.Sub(j.request)
	j.runs = true
	testkit.Check(c.tree.Assume(j.leaf, Job{Request: j.request}))
	return true
}

// reclaim lets a job that waits take, and reports whether it has.
func (c *cluster) reclaim(i int) bool {
	j := c.jobs[i]
	_, ok, err := c.claim.Begin(j.leaf, Job{Request: j.request})
	if testkit.Check(err); !ok {
		return false
	}
	var list []Victim
	var of []int
	for k, v := range c.jobs {
		if v.runs && v.leaf != j.leaf {
			list, of = append(list, Victim{Queue: v.leaf, Amounts: v.request}), append(of, k)
		}
	}
	_, kept, room, ok := makeRoom(c.claim, c.claim.Victims(list), j.request, c.free, list)
	if !ok {
		return false
	}
	for _, v := range kept {
		c.jobs[of[v]].runs = false
	}
	c.free = room
	return c.place(i)
}

func (c *cluster) state() string {
	var s strings.Builder
	for _, j := range c.jobs {
		if j.runs {
			s.WriteByte('*')
		} else {
			s.WriteByte('-')
		}
	}
	return s.String()
}

// loops plays until nothing moves, and reports whether it comes to a state twice. A job that
// fits is placed before anybody takes; who takes is up to pick.
func (c *cluster) loops(pick func(n int) int) bool {
	seen := map[string]bool{c.state(): true}
	for {
		moved := false
		first := pick(len(c.jobs))
		for k := range c.jobs {
			if i := (first + k) % len(c.jobs); !c.jobs[i].runs && c.reclaim(i) {
				moved = true
				break
			}
		}
		if !moved {
			return false
		}
		for i := range c.jobs {
			if !c.jobs[i].runs {
				c.place(i)
			}
		}
		if seen[c.state()] {
			return true
		}
		seen[c.state()] = true
	}
}

func waitsFor(x ...float64) clusterJob { return clusterJob{request: x} }
func runsOn(x ...float64) clusterJob   { return clusterJob{request: x, runs: true} }

// TestSmallestLoops plays the smallest stories in which reclaim never ends.
func TestSmallestLoops(t *testing.T) {
	type v = vector.ResourceVector
	jobs := func(j ...clusterJob) []clusterJob { return j }
	for _, test := range []struct {
		name   string
		rules  Rules
		total  v
		queues []clusterQueue
	}{
		{"Volcano, flat", Volcano, v{2, 1}, []clusterQueue{
			{"", "a", v{1, 1}, 1, jobs(waitsFor(2, 1))},
			{"", "b", v{1, 1}, 1, jobs(runsOn(2, 1))},
		}},
		{"Volcano, tree", Volcano, v{2}, []clusterQueue{
			{"", "X", nil, 1, nil}, {"X", "x", v{1}, 1, jobs(waitsFor(1))},
			{"", "Y", nil, 1, nil}, {"Y", "y", v{2}, 1, jobs(runsOn(2))},
		}},
		{"Kueue", Kueue, v{4}, []clusterQueue{
			{"", "r", nil, 1, nil},
			{"r", "a", v{1}, 1, jobs(waitsFor(1), waitsFor(2))},
			{"r", "b", v{3}, 2, jobs(runsOn(4))},
		}},
		{"KAI, tree", KAI, v{1}, []clusterQueue{
			{"", "X", nil, 1, nil}, {"X", "x", v{1}, 1, jobs(runsOn(1))},
			{"", "Y", nil, 1, nil}, {"Y", "y", v{1}, 1, jobs(waitsFor(1))},
			{"", "Z", v{1}, 1, nil}, {"Z", "z", nil, 1, jobs(waitsFor(2))},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			first := func(int) int { return 0 }
			if !newCluster(t, test.rules, test.total, test.queues).loops(first) {
				t.Error("reclaim ends by the rules of", test.name)
			}
			if newCluster(t, Leximin, test.total, test.queues).loops(first) {
				t.Error("reclaim does not end by Leximin")
			}
		})
	}
}

// TestSimplerRulesLoop plays the smallest stories in which a simpler rule than Leximin comes back to
// where it began. Leximin refuses one step of each.
func TestSimplerRulesLoop(t *testing.T) {
	type v = vector.ResourceVector
	type queue struct {
		parent, name     string
		has, gets, wants v
	}
	type step struct {
		taker  string
		asks   v
		victim string
		gives  v
	}
	for _, test := range []struct {
		name   string
		total  v
		queues []queue
		steps  []step
		// allows is the simpler rule, asked when the victim has gone.
		allows func(c *modelClaim, a, b *modelQueue) bool
	}{
		{"only siblings count", v{9}, []queue{
			{"", "X", nil, v{6}, nil}, {"X", "x", v{4}, v{4}, v{4}}, {"X", "y", v{2}, v{2}, v{2}},
			{"", "Z", v{3}, v{6}, v{5}},
		}, []step{
			{"Z", v{2}, "y", v{2}}, // into what y had
			{"y", v{2}, "x", v{3}}, // 1 is left free
			{"x", v{3}, "Z", v{2}},
		}, func(c *modelClaim, a, b *modelQueue) bool { return c.isBetter([]*modelQueue{a, b}, []int{0}) }},
		{"only columns that the job asks for count", v{7, 5}, []queue{
			{"", "x", v{1, 0}, v{1, 0}, v{1, 0}}, {"", "y", v{0, 0}, v{2, 1}, v{2, 1}}, {"", "z", v{6, 1}, v{3, 1}, v{6, 5}}, // both are short
		}, []step{
			{"y", v{1, 1}, "x", v{1, 0}},
			{"x", v{1, 0}, "y", v{1, 1}},
		}, func(c *modelClaim, a, b *modelQueue) bool {
			return c.isBetter([]*modelQueue{a, b}, c.m.matters(c.q, func(int) bool { return false }))
		}},
	} {
		m := newModel(len(test.total), Options{})
		m.total = filled(test.total, m.cols, 0)
		m.divide() // the top's share
		for _, q := range test.queues {
			rank := int64(0)
			m.set(q.name, Queue{Parent: q.parent, Rank: &rank})
			is := m.queues[q.name]
			is.a, is.ask, is.f = filled(q.has, m.cols, 0), filled(q.wants, m.cols, 0), filled(q.gets, m.cols, 0)
		}
		refused := 0
		for _, s := range test.steps {
			taker := m.queues[s.taker]
			c, victim := m.claim(taker, filled(s.asks, m.cols, 0), false), modelVictim{m.queues[s.victim], filled(s.gives, m.cols, 0), 0}
			if !c.may(victim) {
				refused++
			}
			a, b := c.sides(victim.leaf)
			c.give(victim, -1)
			if !test.allows(c, a, b) {
				t.Errorf("%s: %s may not take from %s", test.name, s.taker, s.victim)
			}
			c.give(modelVictim{taker, c.q, 0}, 1)
		}
		for _, q := range test.queues {
			for j, x := range m.queues[q.name].a {
				if x.Cmp(rat(q.has.Get(j))) != 0 {
					t.Errorf("%s: in the end %s has %v, not %v", test.name, q.name, x, q.has)
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s: Leximin allows all steps", test.name)
		}
	}
}

// TestReclaimEnds searches random stories for endless reclaim. Leximin has none.
func TestReclaimEnds(t *testing.T) {
	n := cmp.Or(testkit.Environment(t, "RESVEC_LONG", 0)*100_000, 4_000)
	if testing.Short() {
		n = min(n, 1_000)
	}
	found := map[Rules]int{}
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		cols := 1 + r.IntN(2)
		vec := func(n int) vector.ResourceVector {
			v := make(vector.ResourceVector, cols)
			for j := range v {
				v[j] = float64(r.IntN(n))
			}
			return v
		}
		total := vec(4)
		for j := range total {
			total[j]++
		}
		queues := []clusterQueue{{"", "r", nil, 1, nil}}
		isTree := r.IntN(2) == 0
		for i := range 2 + r.IntN(2) {
			parent := "r"
			if isTree {
				parent = fmt.Sprint("p", i)
				queues = append(queues, clusterQueue{"r", parent, vec(2), float64(1 + r.IntN(2)), nil})
			}
			for k := range 1 + r.IntN(2) {
				q := clusterQueue{parent, fmt.Sprint("q", i, "-", k), vec(4), float64(1 + r.IntN(2)), nil}
				for range 1 + r.IntN(2) {
					q.jobs = append(q.jobs, clusterJob{request: vec(4), runs: r.IntN(2) == 0})
				}
				queues = append(queues, q)
			}
		}
		for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
			who := rand.New(rand.NewPCG(seed, 4))
			if newCluster(t, rules, total, queues).loops(who.IntN) {
				found[rules]++
				if rules == Leximin {
					t.Fatalf("seed %d: reclaim does not end: total %v, queues %v", seed, total, queues)
				}
			}
		}
	}
	for _, rules := range []Rules{KAI, Volcano, Kueue} {
		if found[rules] == 0 {
			t.Errorf("no loop by rules %d in %d stories", rules, n)
		}
	}
	t.Logf("loops in %d stories: KAI %d, Volcano %d, Kueue %d", n, found[KAI], found[Volcano], found[Kueue])
}
