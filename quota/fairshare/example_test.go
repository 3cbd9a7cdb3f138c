package fairshare_test

import (
	"fmt"
	"time"

	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
	"github.com/resvec/resvec/vectormap"
)

// Three teams share 12 GPUs through a day.
func Example() {
	gpus := func(x float64) vector.ResourceVector { return vector.ResourceVector{x} }
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "gpu"}})
	tree, err := fairshare.NewTree(schema, 1, fairshare.Options{})
	if err != nil {
		panic(err)
	}
	if err := tree.SetTotal(gpus(12)); err != nil {
		panic(err)
	}
	set := func(name string, q fairshare.Queue) int {
		row, _, err := tree.Set(name, q)
		if err != nil {
			panic(err)
		}
		return row
	}
	vision := set("vision", fairshare.Queue{Deserved: gpus(4)})
	speech := set("speech", fairshare.Queue{Deserved: gpus(4), Weight: []float64{2}})
	search := set("search", fairshare.Queue{Deserved: gpus(2), Limit: gpus(6)})
	show := func(when string) {
		tree.Divide()
		fmt.Println(when)
		for _, row := range []int{vision, speech, search} {
			fmt.Printf("  has %2v, %s\n", tree.Allocated(nil, row)[0], tree.Explain(row, 0))
		}
	}

	// In the morning only vision works, and takes everything.
	for range 6 {
		if _, err := tree.Wait(vision, fairshare.Job{Request: gpus(2)}); err != nil {
			panic(err)
		}
	}
	for _, id, ok := tree.Next(); ok; _, id, ok = tree.Next() {
		if err := tree.Admit(id); err != nil {
			panic(err)
		}
	}
	show("morning")

	// At noon speech wants 8. There is no room, so it asks whom to take from.
	job := fairshare.Job{Request: gpus(2)}
	for range 4 {
		if _, err := tree.Wait(speech, job); err != nil {
			panic(err)
		}
	}
	show("noon")
	running := make([]fairshare.Victim, 6)
	for i := range running {
		running[i] = fairshare.Victim{Queue: vision, Node: i, Amounts: gpus(2)}
	}
	claim := fairshare.NewClaim(tree)
	for leaf, id, ok := tree.Next(); ok; leaf, id, ok = tree.Next() {
		if _, ok, err := claim.Begin(leaf, job); !ok || err != nil {
			break
		}
		free := 0.0
		for _, amounts := range claim.Victims(running) {
			if free += amounts[0]; free >= 2 {
				break
			}
		}
		if free < 2 {
			claim.Drop()
			tree.Skip(id)
			continue
		}
		if _, ok := claim.Keep(nil); !ok {
			tree.Skip(id)
			continue
		}
		if err := tree.Admit(id); err != nil {
			panic(err)
		}
		running = running[1:] // the first of vision had to go, and waits again
		if _, err := tree.Wait(vision, job); err != nil {
			panic(err)
		}
	}
	show("after reclaim")
	_, ok, _ := claim.Begin(speech, job)
	why, may := claim.May(running[0])
	fmt.Println(ok, may, why)
	claim.Drop()

	// At night speech is done, and what it used today counts.
	for range 2 {
		if err := tree.Forget(speech, job); err != nil {
			panic(err)
		}
	}
	tree.Decay(12*time.Hour, 24*time.Hour)
	fmt.Printf("used: %.2f, %.2f\n", tree.History(nil, vision)[0], tree.History(nil, speech)[0])

	// Output:
	// morning
	//   has 12, queue vision: 12 of gpu: all it wants
	//   has  0, queue speech: 0 of gpu: all it wants
	//   has  0, queue search: 0 of gpu: all it wants
	// noon
	//   has 12, queue vision: 5 of gpu: level 4/3 times weight 1, wants 12
	//   has  0, queue speech: 7 of gpu: level 4/3 times weight 2, wants 8
	//   has  0, queue search: 0 of gpu: all it wants
	// after reclaim
	//   has  6, queue vision: 5 of gpu: level 4/3 times weight 1, wants 12
	//   has  6, queue speech: 7 of gpu: level 4/3 times weight 2, wants 8
	//   has  0, queue search: 0 of gpu: all it wants
	// true false queue speech would have 8 of gpu, more than its share 7
	// used: 1.76, 0.59
}

// A tree of the queues that kubectl prints.
func ExampleReadQueues() {
	text := []byte(`
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: vision}
spec:
  parentQueue: research
  resources:
    gpu: {quota: 2.5, limit: -1, overQuotaWeight: 1}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: research}
spec:
  resources:
    gpu: {quota: 4, limit: 6}
`)
	names, err := fairshare.ResourceNames(text)
	if err != nil {
		panic(err)
	}
	m, err := vectormap.New(names, vectormap.Milli("nvidia.com/gpu")) // for half a card
	if err != nil {
		panic(err)
	}
	tree, err := fairshare.NewTree(m.Schema(), m.Len(), fairshare.Options{Rules: fairshare.KAI})
	if err != nil {
		panic(err)
	}
	read := func() error {
		queues, err := fairshare.ReadQueues(text, m)
		if err != nil {
			return err
		}
		for _, q := range queues { // parents first
			if _, _, err := tree.Set(q.Name, q.Queue); err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(); err != nil {
		panic(err)
	}
	for name, row := range tree.All() {
		fmt.Println(name, tree.Parent(row) == 0)
	}
	// Output:
	// research true
	// vision false
}

// A host that keeps what runs by queue gives these lists: a claim looks at few of them. Node says
// which job a victim is, also to Keep and in Taken.
func ExampleClaim_VictimsOf() {
	gpus := func(n float64) vector.ResourceVector { return vector.ResourceVector{n} }
	tree, _ := fairshare.NewTree(vector.Schema{}, 1, fairshare.Options{})
	tree.SetTotal(gpus(8))
	a, _, _ := tree.Set("team-a", fairshare.Queue{Deserved: gpus(4)})
	b, _, _ := tree.Set("team-b", fairshare.Queue{Deserved: gpus(4)})
	tree.SetUsage(a, fairshare.Usage{Wanted: gpus(4)})
	tree.SetUsage(b, fairshare.Usage{Allocated: gpus(8)})
	tree.Divide()

	jobs := []string{"small", "large", "huge"}
	running := map[int][]fairshare.Victim{b: {
		{Node: 0, Amounts: gpus(1)},
		{Node: 1, Amounts: gpus(3)},
		{Node: 2, Amounts: gpus(4)},
	}}
	claim := fairshare.NewClaim(tree)
	if why, ok, err := claim.Begin(a, fairshare.Job{Request: gpus(3)}); !ok || err != nil {
		fmt.Println(why, err)
		return
	}
	free := 0.0
	for job, amounts := range claim.VictimsOf(func(leaf int) []fairshare.Victim { return running[leaf] }) {
		fmt.Println("takes", jobs[job])
		if free += amounts[0]; free >= 3 {
			break
		}
	}
	claim.Keep(func(job int) bool {
		left := free - running[b][job].Amounts[0] // without it
		if left < 3 {
			return false
		}
		free = left
		fmt.Println("spares", jobs[job])
		return true
	})
	for _, job := range claim.Taken(nil) {
		fmt.Println("evicts", jobs[job])
	}
	// Output:
	// takes small
	// takes large
	// spares small
	// evicts large
}

// What queues can lose at most goes to a gang.Proof: then a gang that nobody may make room for
// is refused before a victim is asked for. Here team-a has half of its share, and wants 2 more.
// team-c has 2 too many, but nothing of it is preemptible. If team-b lost 2 of its 3 it would have
// less than half of its own.
func ExampleClaim_Limits() {
	gpus := func(n float64) vector.ResourceVector { return vector.ResourceVector{n} }
	tree, _ := fairshare.NewTree(vector.Schema{}, 1, fairshare.Options{})
	tree.SetTotal(gpus(8))
	a, _, _ := tree.Set("team-a", fairshare.Queue{Deserved: gpus(4)})
	b, _, _ := tree.Set("team-b", fairshare.Queue{Deserved: gpus(3)})
	c, _, _ := tree.Set("team-c", fairshare.Queue{Deserved: gpus(1)})
	tree.SetUsage(a, fairshare.Usage{Allocated: gpus(2), Wanted: gpus(4)})
	tree.SetUsage(b, fairshare.Usage{Allocated: gpus(3)})
	tree.SetUsage(c, fairshare.Usage{Allocated: gpus(3), Unpreemptible: gpus(3)})
	tree.Divide()

	running := make([]fairshare.Victim, 3) // all on one node, that is full
	for i := range running {
		running[i] = fairshare.Victim{Queue: b, Amounts: gpus(1)}
	}
	free, requests := vector.NewMatrix(vector.Schema{}, 1, 1), vector.NewMatrix(vector.Schema{}, 1, 1)
	requests.SetRow(0, gpus(2))

	claim := fairshare.NewClaim(tree)
	if why, ok, err := claim.Begin(a, fairshare.Job{Request: gpus(2)}); !ok || err != nil {
		fmt.Println(why, err)
		return
	}
	var limits vector.Matrix
	owners := claim.Limits(&limits, nil, running)
	claim.Drop()
	fmt.Println("team-b can lose", limits.At(owners[0], 0))

	var proof gang.Proof
	proof.Reset(free, requests, nil)
	if err := proof.Limit(gang.Budgets{Limits: &limits}); err != nil {
		fmt.Println(err)
		return
	}
	for i, v := range running {
		if err := proof.ReleaseOf(owners[i], v.Node, v.Amounts); err != nil {
			fmt.Println(err)
			return
		}
	}
	_, infeasible := proof.Infeasible()
	fmt.Println("nobody can make room:", infeasible)
	// Output:
	// team-b can lose 1
	// nobody can make room: true
}
