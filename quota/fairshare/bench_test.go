package fairshare

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// bigTree returns 10 x 10 x 100 queues in 8 columns that want more than there is.
func bigTree(tb testing.TB, o Options) *Tree {
	tb.Helper()
	return treeOf(tb, o, 10, 10, 100)
}

func treeOf(tb testing.TB, o Options, top, middle, leaves int) *Tree {
	tb.Helper()
	const cols = 8
	tree := testkit.Must(NewTree(vector.Schema{}, cols, o))
	r := rand.New(rand.NewPCG(1, 2))
	vec := func(n int) vector.ResourceVector {
		v := make(vector.ResourceVector, cols)
		for j := range v {
			v[j] = float64(r.IntN(n))
		}
		return v
	}
	total := make(vector.ResourceVector, cols)
	for j := range total {
		total[j] = float64(top * middle * leaves * 60_000)
	}
	testkit.Check(tree.SetTotal(total))
	set := func(name, parent string, deserved int) int {
		q := Queue{Parent: parent, Weight: []float64{float64(1 + r.IntN(5))}, Priority: int64(r.IntN(2))}
		if deserved > 0 {
			q.Deserved = vec(deserved)
		}
		return first(tree.Set(name, q))
	}
	for a := range top {
		top := fmt.Sprint("top", a)
		set(top, "", middle*leaves*20_000)
		for b := range middle {
			middle := fmt.Sprint(top, "-", b)
			set(middle, top, leaves*20_000)
			for c := range leaves {
				row := set(fmt.Sprint(middle, "-", c), middle, 20_000)
				testkit.Check(tree.SetUsage(row, Usage{Allocated: vec(60_000), Wanted: vec(200_000)}))
			}
		}
	}
	return tree
}

// first returns the first of two values that a test can't do without.
func first[A, B any](a A, _ B, err error) A { return testkit.Must(a, err) }

// BenchmarkDivide divides everything: 10,000 leaves in 3 levels, 8 columns.
func BenchmarkDivide(b *testing.B) {
	for _, rule := range []string{"above", "weight"} {
		tree := bigTree(b, Options{ByWeight: rule == "weight"})
		divideAll := func() {
			tree.tidy()
			tree.outdateAll()
			tree.Divide()
		}
		divideAll()
		p := portOf(tree)
		if rule == "weight" {
			p.proportion("")
		} else {
			p.divide("")
		}
		// The port rounds in every round, and gives odd units by another rule.
		for name, row := range tree.All() {
			for j, x := range tree.Share(nil, row) {
				if y := p.queues[name].shares[p.resources[j]].fairShare; math.Abs(x-y) > 100+x/1000 {
					b.Fatalf("share of %s in column %d is %v, the port's %v", name, j, x, y)
				}
			}
		}
		b.Run("rule="+rule+"/impl=resvec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				divideAll()
			}
		})
		b.Run("rule="+rule+"/impl=maps", func(b *testing.B) {
			for b.Loop() {
				if rule == "weight" {
					p.proportion("")
				} else {
					p.divide("")
				}
			}
		})
	}
}

// BenchmarkDivideAgain divides after one leaf wants more.
func BenchmarkDivideAgain(b *testing.B) {
	tree := bigTree(b, Options{})
	tree.Divide()
	row, _ := tree.Row("top3-4-5")
	usage := Usage{Allocated: tree.Allocated(nil, row), Wanted: tree.Wanted(nil, row)}
	b.Run("impl=changed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			usage.Wanted[2]++
			testkit.Check(tree.SetUsage(row, usage))
			tree.Divide()
		}
	})
	got := slices.Clone(tree.amounts)
	tree.outdateAll()
	tree.Divide()
	if !slices.Equal(got, tree.amounts) {
		b.Fatal("dividing what has changed is not dividing everything")
	}
	b.Run("impl=everything", func(b *testing.B) {
		for b.Loop() {
			usage.Wanted[2]++
			testkit.Check(tree.SetUsage(row, usage))
			tree.outdateAll()
			tree.Divide()
		}
	})
}

// BenchmarkNext gives the next job and admits it: 10,000 leaves with 10 jobs each.
func BenchmarkNext(b *testing.B) {
	for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
		b.Run(fmt.Sprintf("rules=%d/impl=resvec", rules), func(b *testing.B) {
			tree := bigTree(b, Options{Rules: rules})
			tree.Divide()
			job := Job{Request: vector.ResourceVector{1000, 2000, 1, 0, 3, 0, 0, 1}}
			wait := func() {
				for row := range len(tree.rows) {
					if row > 0 && tree.rows[row].children == 0 {
						for range 10 {
							testkit.Must(tree.Wait(row, job))
						}
					}
				}
			}
			wait()
			_, id, ok := tree.Next()
			b.ReportAllocs()
			for b.Loop() {
				if !ok { // all run
					b.StopTimer()
					wait()
					_, id, _ = tree.Next()
					b.StartTimer()
				}
				testkit.Check(tree.Admit(id))
				_, id, ok = tree.Next()
			}
		})
	}
	b.Run("rules=1/impl=maps", func(b *testing.B) {
		tree := bigTree(b, Options{Rules: KAI})
		tree.Divide()
		p := portOf(tree)
		p.divide("")
		jobs := map[string]map[string]float64{}
		for name := range p.queues {
			jobs[name] = map[string]float64{"resource-0": 1000, "resource-1": 2000, "resource-2": 1, "resource-4": 3, "resource-7": 1}
		}
		for b.Loop() {
			for name := p.next(jobs); name != ""; name = p.queues[name].parent {
				for r, x := range jobs[name] {
					p.queues[name].shares[r].allocated += x
				}
			}
		}
	})
}

// BenchmarkVictim asks whether one victim may be taken.
func BenchmarkVictim(b *testing.B) {
	for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
		tree := bigTree(b, Options{Rules: rules})
		tree.Divide()
		p, q := takerOf(b, tree)
		v := Victim{Queue: q, Amounts: vector.ResourceVector{1, 2, 0, 1}}
		claim := NewClaim(tree)
		_, ok, err := claim.Begin(p, Job{Request: vector.ResourceVector{1, 1}})
		testkit.Check(err)
		if !ok {
			continue // no leaf of this tree may take by these rules
		}
		why, want := claim.May(v)
		b.Run(fmt.Sprintf("rules=%d/impl=resvec", rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, got := claim.May(v); got != want {
					b.Fatal(why)
				}
			}
		})
		if rules != KAI {
			continue
		}
		old := portOf(tree)
		old.divide("")
		request, victim := map[string]float64{"resource-0": 1, "resource-1": 1}, map[string]float64{"resource-0": 1, "resource-1": 2, "resource-3": 1}
		taker, giver := tree.Name(p), tree.Name(q)
		if got := old.reclaimable(taker, giver, request, victim); got != want {
			b.Fatalf("taking is %v (%v), the port's %v", want, why, got)
		}
		b.Run(fmt.Sprintf("rules=%d/impl=maps", rules), func(b *testing.B) {
			for b.Loop() {
				old.reclaimable(taker, giver, request, victim)
			}
		})
	}
}

// takerOf returns a leaf that may take, and one far away from which it may, if there are any.
func takerOf(tb testing.TB, tree *Tree) (p, q int) {
	tb.Helper()
	claim := NewClaim(tree)
	defer claim.Drop()
	var leaves []int
	for _, row := range tree.All() {
		if _, err := tree.leaf(row); err == nil {
			leaves = append(leaves, row)
		}
	}
	p, q = leaves[0], leaves[len(leaves)-1]
	for _, p := range leaves[:len(leaves)/4] {
		if _, ok, err := claim.Begin(p, Job{Request: vector.ResourceVector{1, 1}}); !ok || err != nil {
			continue
		}
		for _, q := range leaves[len(leaves)/2:] {
			if _, ok := claim.May(Victim{Queue: q, Amounts: vector.ResourceVector{1, 2, 0, 1}}); ok {
				return p, q
			}
		}
	}
	return p, q
}

// BenchmarkReclaim makes room for a gang of 16 on 1,000 full nodes: victims of 4,000 in 200
// queues, in order, until gang.Packer finds room, and those given back that aren't needed.
func BenchmarkReclaim(b *testing.B) {
	const nodes, cols = 1000, 8
	tree := treeOf(b, Options{}, 4, 5, 10)
	taker, _ := tree.Row("top0-0-0")
	var victims []Victim
	i := 0
	for _, row := range tree.All() {
		if _, err := tree.leaf(row); err != nil {
			continue
		}
		usage := Usage{Allocated: make(vector.ResourceVector, cols), Wanted: vector.ResourceVector{200, 200}}
		for range 20 {
			if row != taker {
				victims = append(victims, Victim{Queue: row, Node: i % nodes, Amounts: vector.ResourceVector{1, 1}})
			}
			i++
		}
		if row != taker {
			usage.Allocated = vector.ResourceVector{20, 20}
		}
		testkit.Check(tree.SetUsage(row, usage))
	}
	testkit.Check(tree.SetTotal(vector.ResourceVector{4000, 4000}))
	for name, row := range tree.All() { // deserved amounts of nobody: all by weight
		first(tree.Set(name, Queue{Parent: tree.Name(tree.Parent(row))}))
	}
	tree.Divide()
	free := vector.NewMatrix(vector.Schema{}, nodes, cols)
	requests := vector.NewMatrix(vector.Schema{}, 16, cols)
	for i := range 16 {
		requests.SetRow(i, vector.ResourceVector{1, 1})
	}
	overlay := vector.NewOverlay(free)
	packer := gang.NewPacker(gang.Options{})
	claim := NewClaim(tree)
	job := Job{Request: vector.ResourceVector{16, 16}}
	var dst []int32
	b.Run("impl=resvec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mark := tree.Mark()
			why, ok, err := claim.Begin(taker, job)
			if !ok || err != nil {
				b.Fatal(why, err)
			}
			scenario := testkit.Must(packer.Filter(dst, overlay, requests, nil, nil, claim.Victims(victims)))
			why, ok = claim.Keep(func(int) bool { return false }) // all are alike, and the prefix is the shortest
			if !ok || scenario.Placement == nil || len(claim.Taken(nil)) != 16 {
				b.Fatal(why, ok, scenario)
			}
			tree.Rollback(mark)
		}
	})
	// The port asks about every victim in the caller's order.
	old := portOf(tree)
	old.divide("")
	request := map[string]float64{"resource-0": 16, "resource-1": 16}
	victim := map[string]float64{"resource-0": 1, "resource-1": 1}
	names := make([]string, len(victims))
	for i, v := range victims {
		names[i] = tree.Name(v.Queue)
	}
	b.Run("impl=maps", func(b *testing.B) {
		for b.Loop() {
			for i := range victims {
				old.reclaimable("top0-0-0", names[i], request, victim)
			}
		}
	})
}

// BenchmarkVictims takes 10 victims of 40,000, in 10,000 queues, of one list or of a list for each.
func BenchmarkVictims(b *testing.B) {
	for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
		tree := bigTree(b, Options{Rules: rules})
		tree.Divide()
		p, _ := takerOf(b, tree)
		var list []Victim
		byLeaf := make([][]Victim, len(tree.rows))
		for _, row := range tree.All() {
			if _, err := tree.leaf(row); err != nil || row == p {
				continue
			}
			amounts := tree.Allocated(nil, row)
			for j := range amounts {
				amounts[j] = math.Floor(amounts[j] / 4)
			}
			for range 4 {
				v := Victim{Queue: row, Node: len(list), Amounts: amounts}
				list, byLeaf[row] = append(list, v), append(byLeaf[row], v)
			}
		}
		claim, job := NewClaim(tree), Job{Request: vector.ResourceVector{1, 1}}
		if _, ok, err := claim.Begin(p, job); !ok || err != nil {
			continue // no leaf of this tree may take by these rules
		}
		take := func(victims iter.Seq2[int, vector.ResourceVector]) {
			n := 0
			for range victims {
				if n++; n == 10 {
					break
				}
			}
		}
		take(claim.Victims(list))
		want := claim.Taken(nil)
		claim.Drop()
		if len(want) < 10 {
			continue
		}
		for _, impl := range []string{"list", "leaves"} {
			b.Run(fmt.Sprintf("rules=%d/impl=%s", rules, impl), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _, err := claim.Begin(p, job)
					testkit.Check(err)
					victims := claim.Victims(list)
					if impl == "leaves" {
						victims = claim.VictimsOf(func(leaf int) []Victim { return byLeaf[leaf] })
					}
					take(victims)
				}
				if got := claim.Taken(nil); !slices.Equal(got, want) {
					b.Fatalf("taken %v, want %v", got, want)
				}
				claim.Drop()
			})
		}
	}
}

// BenchmarkDelete deletes a queue with its jobs, and sets it again, without a question in
// between: it costs that queue, however many others and other jobs there are.
func BenchmarkDelete(b *testing.B) {
	for _, top := range []int{1, 10} {
		tree := treeOf(b, Options{}, top, 10, 100)
		job := Job{Request: vector.ResourceVector{1}}
		for _, row := range tree.All() {
			if tree.rows[row].children == 0 {
				for range 10 {
					testkit.Must(tree.Wait(row, job))
				}
			}
		}
		b.Run(fmt.Sprintf("leaves=%d/jobs=%d", 1000*top, 10_000*top), func(b *testing.B) {
			for b.Loop() {
				if ok, err := tree.Delete("top0-3-7"); !ok || err != nil {
					b.Fatal(ok, err)
				}
				row := first(tree.Set("top0-3-7", Queue{Parent: "top0-3"}))
				for range 10 {
					id := testkit.Must(tree.Wait(row, job))
					tree.Skip(id)
				}
			}
		})
	}
}

// BenchmarkLimits bounds what 200 queues can lose to a claim, with 4,000 victims.
func BenchmarkLimits(b *testing.B) {
	for _, rules := range []Rules{Leximin, KAI, Volcano, Kueue} {
		tree := treeOf(b, Options{Rules: rules}, 4, 5, 10)
		tree.Divide()
		p, _ := takerOf(b, tree)
		var victims []Victim
		for _, row := range tree.All() {
			if _, err := tree.leaf(row); err == nil && row != p {
				amounts := tree.Allocated(nil, row)
				for j := range amounts {
					amounts[j] = math.Floor(amounts[j] / 20)
				}
				victims = append(victims, slices.Repeat([]Victim{{Queue: row, Amounts: amounts}}, 20)...)
			}
		}
		claim := NewClaim(tree)
		if _, ok, err := claim.Begin(p, Job{Request: vector.ResourceVector{1, 1}}); !ok || err != nil {
			continue // no leaf of this tree may take by these rules
		}
		var limits vector.Matrix
		var owners []int
		b.Run(fmt.Sprint("rules=", rules), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				owners = claim.Limits(&limits, owners[:0], victims)
			}
		})
		claim.Drop()
	}
}
