package quota_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// gpuCluster is a cluster with 8 A100 on two nodes and 4 H100 on a third.
func gpuCluster() *device.Catalog {
	return testkit.Must(device.FromNodes([]corev1.Node{
		gpuNode("node-1", "A100", 4), gpuNode("node-2", "A100", 4), gpuNode("node-3", "H100", 4),
	}, nil, device.Options{})).Catalog()
}

// newQueues makes queues of names, "name" or "name < parent", and annotations, in
// turn.
func newQueues(namesAndQuotas ...string) (queues []quota.Queue) {
	for i := 0; i < len(namesAndQuotas); i += 2 {
		name, parent, _ := strings.Cut(namesAndQuotas[i], " < ")
		queues = append(queues, quota.Queue{
			Name: name, Parent: parent,
			Annotations: map[string]string{quota.QuotaAnnotation: namesAndQuotas[i+1]},
		})
	}
	return queues
}

// newLedger makes a ledger over gpuCluster and queues as newQueues makes them.
func newLedger(cfg quota.Config, namesAndQuotas ...string) *quota.Ledger {
	return testkit.Must(quota.New(cfg, gpuCluster(), newQueues(namesAndQuotas...)))
}

// job is a job that asks for cards before it has pods.
func job(l *quota.Ledger, queue, id, request string) *quota.JobRequest {
	handle, _, err := l.ResolveJob(quota.Job{
		ID: id, Queue: queue, Annotations: map[string]string{quota.RequestAnnotation: request},
	})
	return testkit.Must(handle, err)
}

// task is a pod of a job that asks for one GPU of any of the cards.
func task(l *quota.Ledger, queue, job, id, cards string) *quota.TaskRequest {
	handle, _, err := l.ResolveTask(quota.Task{ID: id, Job: job, Queue: queue, Pod: gpuPod(cards, 1)})
	return testkit.Must(handle, err)
}

// tell prints what an operation came to.
func tell(what string, answer quota.Answer, err error) {
	switch {
	case err != nil:
		fmt.Println(what, "failed:", err)
	case !answer.OK:
		fmt.Println(what, "refused:", answer.Refusal.Message())
	case len(answer.Charged) > 0:
		fmt.Println(what, "charged on", strings.Join(answer.Charged, ", "))
	default:
		fmt.Println(what, "accepted")
	}
}

// show prints what queues have of their cards.
func show(l *quota.Ledger) {
	for queue := range l.Samples() {
		for _, c := range queue.Cards {
			fmt.Printf("%s: %s allocated %dm, held %dm, of %dm\n", queue.Name, c.Resource, c.Allocated, c.Inqueue, c.Capability)
		}
	}
}

// What a pod asks for: cards that it names, or all that it could get. What can't be
// told is refused later, and Invalid says why.
func ExampleLedger_ResolveTask() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	for _, cards := range []string{"A100", "H100|B200|A100", "", "B200"} {
		handle, notes, err := l.ResolveTask(quota.Task{
			ID: "train-0", Job: "train", Queue: "team-a", Pod: gpuPod(cards, 2),
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q: %v %v %q\n", cards, handle.Need().Items, notes, handle.Invalid())
	}
	// Output:
	// "A100": [{[A100] 2000 1000}] [] ""
	// "H100|B200|A100": [{[H100 A100] 2000 1000}] [annotations[volcano.sh/card.name][B200]: Invalid value: no node has or had this card, and nobody declared it: known are A100, H100] ""
	// "": [{[A100 H100] 2000 1000}] [] ""
	// "B200": [] [annotations[volcano.sh/card.name][B200]: Invalid value: no node has or had this card, and nobody declared it: known are A100, H100] "volcano.sh/card.name: no card of \"B200\" is known: known are A100, H100"
}

// What a job needs: its annotation says so until it has pods with cards.
func ExampleLedger_ResolveJob() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	train := quota.Job{
		ID: "train", Queue: "team-a",
		Annotations:  map[string]string{quota.RequestAnnotation: `{"A100": 4}`},
		MinResources: corev1.ResourceList{"cpu": resource.MustParse("2")},
	}
	for range 3 {
		handle, _, err := l.ResolveJob(train)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(train.Tasks), "pods:", handle.Need())
		id := fmt.Sprint("train-", len(train.Tasks))
		train.Tasks = append(train.Tasks, quota.Task{ID: id, Pod: gpuPod("A100", 1)})
	}
	// Output:
	// 0 pods: {2000 0 [{[A100] 4000 1000}] map[]}
	// 1 pods: {2000 0 [{[A100] 1000 1000}] map[]}
	// 2 pods: {2000 0 [{[A100] 2000 1000}] map[]}
}

// A question changes nothing, so everyone is told yes; a promise counts.
func ExampleLedger_Enqueueable() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	fmt.Println(l.Enqueueable(nil, job(l, "team-a", "train", `{"A100": 4}`)))
	fmt.Println(l.Enqueueable(nil, job(l, "team-a", "eval", `{"A100": 2}`)))
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100": 4}`))
	tell("train", a, err)

	var answer quota.Answer // used again for the next question
	l.Enqueueable(&answer, job(l, "team-a", "eval", `{"A100": 2}`))
	r := answer.Refusal
	fmt.Println(r.Reason, "of", r.Resource, "requested", r.Requested, "room", r.Room, "limit", r.Limit)
	// Output:
	// true
	// true
	// train accepted
	// InsufficientScalarQuota of A100 requested 2000 room 1000 limit 5000
}

// An item with alternatives takes the first one with room for all of it.
func ExampleLedger_Reserve() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 3, "H100": 4}`)
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100|H100": 4}`))
	tell("train", a, err)
	a, err = l.Reserve(job(l, "team-a", "train", `{"A100|H100": 4}`))
	fmt.Println("again:", a.OK, "repeat:", a.Repeat)
	_, err = l.Reserve(job(l, "team-a", "train", `{"A100|H100": 2}`))
	fmt.Println("another min:", errors.Is(err, quota.ErrConflict))
	show(l)
	// Output:
	// train accepted
	// again: true repeat: true
	// another min: true
	// team-a: A100 allocated 0m, held 0m, of 3000m
	// team-a: H100 allocated 0m, held 4000m, of 4000m
}

// With AnyMix every card of an item may be of another kind.
func ExampleConfig_anyMix() {
	l := newLedger(quota.Config{AnyMix: true}, "team-a", `{"A100": 3, "H100": 4}`)
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100|H100": 4}`))
	tell("train", a, err)
	show(l)
	// Output:
	// train accepted
	// team-a: A100 allocated 0m, held 3000m, of 3000m
	// team-a: H100 allocated 0m, held 1000m, of 4000m
}

// A new min, all of it or nothing.
func ExampleLedger_Resize() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	for _, request := range []string{`{"A100": 2}`, `{"A100": 6}`, `{"A100": 5}`} {
		a, err := l.Resize(job(l, "team-a", "train", request))
		tell(request, a, err)
	}
	show(l)
	// Output:
	// {"A100": 2} accepted
	// {"A100": 6} refused: queue "team-a": insufficient quota of card A100: requested 6 cards, room for 5 cards of 5 cards, the total would be 6 cards
	// {"A100": 5} accepted
	// team-a: A100 allocated 0m, held 5000m, of 5000m
}

// Jobs in the order in which they are to be served; one that has to wait doesn't
// stop those behind it.
func ExampleLedger_ReserveMany() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	answers, err := l.ReserveMany([]*quota.JobRequest{
		job(l, "team-a", "first", `{"A100": 3}`),
		job(l, "team-a", "second", `{"A100": 3}`),
		job(l, "team-a", "third", `{"A100": 2}`),
	})
	for i, name := range []string{"first", "second", "third"} {
		tell(name, answers[i], err)
	}
	// Output:
	// first accepted
	// second refused: queue "team-a": insufficient quota of card A100: requested 3 cards, room for 2 cards of 5 cards, the total would be 6 cards; part of the limit is held for other jobs, or for other items of this one
	// third accepted
}

// Which cards a pod may have, and why not the others.
func ExampleLedger_Allocatable() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 3, "H100": 4}`)
	a, err := l.Reserve(job(l, "team-a", "train", `{"H100": 4}`))
	tell("train", a, err)

	var answer quota.Answer
	fmt.Println(l.Allocatable(&answer, task(l, "team-a", "notebook", "notebook-0", "H100|A100")))
	for _, o := range answer.Options {
		fmt.Printf("%s %v %q\n", o.Resource, o.Why == "", o.Why)
	}
	fmt.Println("node-1", l.AllocatableOn(&answer, task(l, "team-a", "notebook", "notebook-0", "H100|A100"), "node-1"))
	fmt.Println("node-3", l.AllocatableOn(&answer, task(l, "team-a", "notebook", "notebook-0", "H100|A100"), "node-3"))
	// Output:
	// train accepted
	// true
	// H100 false "Promised"
	// A100 true ""
	// node-1 true
	// node-3 false
}

// The pod goes to a node with H100, and what was held on A100 for its job moves
// there.
func ExampleLedger_Commit() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 4, "H100": 4}`)
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100|H100": 3}`))
	tell("train", a, err)
	show(l)
	a, err = l.Commit(task(l, "team-a", "train", "train-0", "A100|H100"), "H100")
	tell("train-0", a, err)
	show(l)
	// Output:
	// train accepted
	// team-a: A100 allocated 0m, held 3000m, of 4000m
	// team-a: H100 allocated 0m, held 0m, of 4000m
	// train-0 charged on H100
	// team-a: A100 allocated 0m, held 0m, of 4000m
	// team-a: H100 allocated 1000m, held 2000m, of 4000m
}

// All tasks of a gang or none, and without AnyMix all on one card.
func ExampleLedger_CommitAll() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 2, "H100": 4}`)
	gang := func(size int) (tasks []*quota.TaskRequest) {
		for i := range size {
			tasks = append(tasks, task(l, "team-a", "train", fmt.Sprint("train-", i), "A100|H100"))
		}
		return tasks
	}
	a, err := l.CommitAll(gang(5))
	tell("five", a, err)
	a, err = l.CommitAll(gang(3))
	tell("three", a, err)
	// Output:
	// five refused: queue "team-a": insufficient quota of card A100|H100: requested 1 card, room on H100 for 0 cards of 4 cards, the total would be 5 cards
	// three charged on H100, H100, H100
}

// A rollback keeps the promise for the next attempt; a release gives it back.
func ExampleLedger_Rollback() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 2}`)
	train0 := task(l, "team-a", "train", "train-0", "A100")
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100": 1}`))
	tell("train", a, err)
	a, err = l.Commit(train0)
	tell("train-0", a, err)
	seq, ok := l.Rollback("train-0")
	fmt.Println("rolled back:", ok, "by change", seq)
	show(l)
	a, err = l.Commit(train0)
	tell("train-0", a, err)
	seq, ok = l.Release("train-0")
	fmt.Println("released:", ok, "by change", seq)
	show(l)
	seq, ok = l.Release("train-0")
	fmt.Println("released again:", ok, "on state", seq)
	// Output:
	// train accepted
	// train-0 charged on A100
	// rolled back: true by change 3
	// team-a: A100 allocated 0m, held 1000m, of 2000m
	// train-0 charged on A100
	// released: true by change 5
	// team-a: A100 allocated 0m, held 0m, of 2000m
	// released again: false on state 5
}

// Two jobs were reserved by a scheduler that then crashed; what no view has shown
// since is given back.
func ExampleLedger_Expire() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	a, err := l.Reserve(job(l, "team-a", "old", `{"A100": 2}`))
	tell("old", a, err)
	before := a.Seq + 1
	a, err = l.Reserve(job(l, "team-a", "new", `{"A100": 2}`))
	tell("new", a, err)
	expired, seq := l.Expire(before)
	fmt.Println("expired:", expired, "by change", seq)
	show(l)
	// Output:
	// old accepted
	// new accepted
	// expired: [old] by change 3
	// team-a: A100 allocated 0m, held 2000m, of 5000m
}

// A queue that loses cards keeps what it uses, is over its limit, and gets nothing
// more; one that is deleted lives on as an orphan until its last job has gone.
func ExampleLedger_SetQueues() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 4}`, "team-b", `{"A100": 4}`)
	for _, queue := range []string{"team-a", "team-b"} {
		a, err := l.Reserve(job(l, queue, queue+"-job", `{"A100": 3}`))
		tell(queue, a, err)
	}
	orphans, _, err := l.SetQueues(newQueues("team-a", `{"A100": 2}`))
	fmt.Println("orphans:", orphans, err)
	for _, over := range l.Over() {
		fmt.Println(over.Level, over.Resource, "is over by", -over.Room)
	}
	l.ReleaseJob("team-b-job")
	_, exists := l.Queue("team-b")
	fmt.Println("team-b exists:", exists)
	// Output:
	// team-a accepted
	// team-b accepted
	// orphans: [team-b] <nil>
	// team-a A100 is over by 1000
	// team-b A100 is over by 3000
	// team-b exists: false
}

// Higher priority first, then the smaller share of what a queue deserves.
func ExampleLedger_CompareQueues() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 4}`, "team-b", `{"A100": 2}`)
	for _, queue := range []string{"team-a", "team-b"} {
		a, err := l.Commit(task(l, queue, queue+"-job", queue+"-0", "A100"))
		tell(queue, a, err)
		status, _ := l.Queue(queue)
		fmt.Println("share:", status.Share)
	}
	fmt.Println("team-a comes first:", l.CompareQueues("team-a", "team-b") < 0)
	// Output:
	// team-a charged on A100
	// share: 0.25
	// team-b charged on A100
	// share: 0.5
	// team-a comes first: true
}

// The earlier in the pod's list the better: A100 is full for the queue, so nodes
// with it get nothing.
func ExampleLedger_NodeScore() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 1, "H100": 4}`)
	either := task(l, "team-a", "notebook", "notebook-0", "A100|H100")
	fmt.Println(l.NodeScore(either, "node-1"), l.NodeScore(either, "node-3"))
	a, err := l.Commit(task(l, "team-a", "train", "train-0", "A100"))
	tell("train-0", a, err)
	fmt.Println(l.NodeScore(either, "node-1"), l.NodeScore(either, "node-3"))
	// Output:
	// 100 50
	// train-0 charged on A100
	// 0 50
}

// A scheduler that starts again goes on with the promises of the one before.
func ExampleRestore() {
	before := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	a, err := before.Reserve(job(before, "team-a", "train", `{"A100": 4}`))
	tell("train", a, err)
	data := before.Snapshot()

	after, err := quota.Restore(quota.Config{}, gpuCluster(), data)
	if err != nil {
		log.Fatal(err)
	}
	show(after)
	_, err = quota.Restore(quota.Config{AnyMix: true}, gpuCluster(), data)
	fmt.Println("with another policy:", errors.Is(err, quota.ErrConfig))
	// Output:
	// train accepted
	// team-a: A100 allocated 0m, held 4000m, of 5000m
	// with another policy: true
}

// What the informer hasn't seen yet is kept; what it has seen and that is gone is
// released; what runs without having been asked for is charged all the same.
func ExampleLedger_Reconcile() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 2}`)
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100": 2}`))
	tell("train", a, err)
	a, err = l.Commit(task(l, "team-a", "train", "train-0", "A100"))
	tell("train-0", a, err)

	// running is a view of pods that run on node-1.
	running := func(job string, ids ...string) (view quota.View) {
		for _, id := range ids {
			view.Tasks = append(view.Tasks, quota.Task{
				ID: id, Job: job, Queue: "team-a", Pod: gpuPod("A100", 1), Node: "node-1", Phase: quota.TaskAllocated,
			})
		}
		return view
	}
	ids := func(refs []quota.Ref) (ids []string) {
		for _, ref := range refs {
			ids = append(ids, ref.Job+"/"+ref.Task)
		}
		return ids
	}
	over := func(limits []quota.Headroom) (sum quota.Amount) {
		for _, o := range limits {
			sum -= o.Room
		}
		return sum
	}
	for _, view := range []quota.View{
		{}, // too early
		running("train", "train-0"),
		{}, // it has ended, and its object is gone
		running("notebook", "n-0", "n-1"),
	} {
		r, err := l.Reconcile(view)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("unseen", ids(r.Unseen), "released", ids(r.Released), "imported", ids(r.Imported), "over by", over(l.Over()))
	}
	// Output:
	// train accepted
	// train-0 charged on A100
	// unseen [train/ train/train-0] released [] imported [] over by 0
	// unseen [train/] released [] imported [] over by 0
	// unseen [train/] released [train/train-0] imported [] over by 0
	// unseen [train/] released [] imported [notebook/n-0 notebook/n-1] over by 1000
}

// How many more of it would be admitted, and what stops the next one.
func ExampleLedger_JobCopies() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5, "H100": 3}`)
	for _, request := range []string{`{"A100": 2}`, `{"A100|H100": 2}`, `{"A100": 1, "H100": 2}`} {
		fits, err := l.JobCopies(job(l, "team-a", "any", request))
		if err != nil {
			panic(err)
		}
		fmt.Println(request, fits.Copies, fits.Next.Refusal.Resource, fits.Next.Refusal.Room)
	}
	// Output:
	// {"A100": 2} 2 A100 1000
	// {"A100|H100": 2} 3 A100|H100 1000
	// {"A100": 1, "H100": 2} 1 H100 1000
}

// How a queue stands, in milli-cores and milli-cards.
func ExampleLedger_Queue() {
	l, err := quota.New(quota.Config{}, gpuCluster(), []quota.Queue{{
		Name:        "team-a",
		Annotations: map[string]string{quota.QuotaAnnotation: `{"A100": 5}`},
		Capability:  corev1.ResourceList{"cpu": resource.MustParse("32")},
	}})
	if err != nil {
		log.Fatal(err)
	}
	a, err := l.Reserve(job(l, "team-a", "train", `{"A100": 4}`))
	tell("train", a, err)

	status, _ := l.Queue("team-a")
	a100 := status.Usage("A100")
	fmt.Println("cpu:", status.CPU.Capability)
	fmt.Println("A100:", a100.Inqueue, "held of", a100.Capability)
	// Output:
	// train accepted
	// cpu: 32000
	// A100: 4000 held of 5000
}

// A bad entry drops only itself, and denies that card.
func ExampleQueue() {
	queues := []quota.Queue{{
		Name:        "team-a",
		Annotations: map[string]string{quota.QuotaAnnotation: `{"A100": 4, "H100": "2"}`},
		Capability:  corev1.ResourceList{"cpu": resource.MustParse("8"), "nvidia.com/gpu": resource.MustParse("4")},
	}}
	var cfg quota.Config
	_, warnings := cfg.Validate(queues, nil)
	for _, w := range warnings {
		fmt.Println(w)
	}
	l, err := quota.New(cfg, gpuCluster(), queues)
	if err != nil {
		log.Fatal(err)
	}
	status, _ := l.Queue("team-a")
	fmt.Println(status.CPU.Capability, status.Usage("A100").Capability, status.Usage("H100").Capability)
	// Output:
	// queues[0].capability[nvidia.com/gpu]: Invalid value: queue "team-a": quotas don't use this resource, only cpu, memory, cards by annotation and Config.Outputs
	// queues[0].annotations[volcano.sh/card.quota][H100]: Invalid value: queue "team-a": the count is "2": want a whole number of cards from 0 to 9007199254740, in digits
	// 8000 4000 0
}

// What is wrong with a tree of queues, and what is probably not meant.
func ExampleConfig_Validate() {
	errs, warnings := new(quota.Config).Validate(newQueues(
		"research", `{"A100": 10}`,
		"vision < research", `{"A100": 12}`,
		"speech < reserach", `{"A100": 2}`,
	), gpuCluster())
	for _, err := range errs {
		fmt.Println(err)
	}
	for _, w := range warnings {
		fmt.Println(w)
	}
	// Output:
	// queues[2].parent: Not found: "reserach": queue "speech": there is no queue "reserach" to be its parent: is "research" meant?
	// queues[0].guarantee[A100]: Invalid value: "10 cards": queue "research": below its children's guarantees, 12 cards
	// queues[0].deserved[A100]: Invalid value: "10 cards": queue "research": below what its children deserve, 12 cards
	// queues[1].capability[A100]: Invalid value: "12 cards": queue "vision": above its parent's capability, 10 cards
	// queues: Invalid value: "12 cards": the quotas of A100 are above what the cluster has, 8 cards
}

// Events come after each change, in the goroutine that made it.
func ExampleEvent() {
	cfg := quota.Config{OnEvent: func(e quota.Event) {
		fmt.Printf("%d %s %q %q %v %q\n", e.Seq, e.Kind, e.Job, e.Task, e.Cards, e.Refusal.Reason)
	}}
	l := newLedger(cfg, "team-a", `{"A100": 2}`)
	for _, err := range []error{
		second(l.Reserve(job(l, "team-a", "train", `{"A100": 2}`))),
		second(l.Commit(task(l, "team-a", "train", "train-0", "A100"))),
		second(l.Commit(task(l, "team-a", "notebook", "notebook-0", "A100"))),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 1 Reserved "train" "" map[A100:2000] ""
	// 2 Committed "train" "train-0" map[A100:1000] ""
	// 2 Refused "notebook" "notebook-0" map[] "InsufficientScalarQuota"
}

func second(_ quota.Answer, err error) error { return err }
