package quota_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/share"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/transform"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gpuNode is a node as GPU feature discovery labels it.
func gpuNode(name, product string, gpus int64) corev1.Node {
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"nvidia.com/gpu.product": product,
			"nvidia.com/gpu.count":   fmt.Sprint(gpus),
			"nvidia.com/gpu.memory":  "81920",
		}},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			"cpu":            resource.MustParse("64"),
			"memory":         resource.MustParse("256Gi"),
			"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI),
		}},
	}
}

// gpuPod is a pod that asks for GPUs on any of the cards that it names.
func gpuPod(cards string, gpus int64) *corev1.Pod {
	limits := corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI)}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{quota.NameAnnotation: cards}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Limits: limits},
		}}},
	}
}

// From the objects of a cluster to a pod that is charged.
func Example() {
	// What the cluster has: once per change of a node.
	nodes := []corev1.Node{
		gpuNode("node-1", "NVIDIA-A100-SXM4-80GB", 4),
		gpuNode("node-2", "NVIDIA-H100-80GB-HBM3", 4),
	}
	inventory, err := device.FromNodes(nodes, nil, device.Options{})
	if err != nil {
		log.Fatal(err)
	}
	catalog := inventory.Catalog()
	fmt.Println("cards:", catalog.Cards())

	// What queues may use: once per change of a queue.
	var cfg quota.Config
	queues := []quota.Queue{{
		Name: "team-a",
		Annotations: map[string]string{
			quota.QuotaAnnotation: `{"NVIDIA-A100-SXM4-80GB": 3, "NVIDIA-H100-80GB-HBM3": 4}`,
		},
		Capability: corev1.ResourceList{
			"cpu":            resource.MustParse("32"),
			"memory":         resource.MustParse("128Gi"),
			"nvidia.com/gpu": resource.MustParse("8"), // cards are not limited here
		},
	}}
	_, warnings := cfg.Validate(queues, catalog)
	for _, warning := range warnings { // for the log: what doesn't count, or a card that is denied
		fmt.Println(warning)
	}
	ledger, err := quota.New(cfg, catalog, queues)
	if err != nil {
		log.Fatal(err)
	}

	// A job comes, before it has pods: may it start? Then it has a promise.
	job, _, err := ledger.ResolveJob(quota.Job{
		ID: "train", Queue: "team-a",
		Annotations: map[string]string{
			quota.RequestAnnotation: `{"NVIDIA-A100-SXM4-80GB|NVIDIA-H100-80GB-HBM3": 2}`,
		},
		MinResources: corev1.ResourceList{"cpu": resource.MustParse("8")},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := ledger.Reserve(job)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("reserved:", answer.OK)

	// A pod of it comes: on which cards, and so on which nodes, may it run?
	task, _, err := ledger.ResolveTask(quota.Task{
		ID: "train-0", Job: "train", Queue: "team-a",
		Pod: gpuPod("NVIDIA-A100-SXM4-80GB|NVIDIA-H100-80GB-HBM3", 1),
	})
	if err != nil {
		log.Fatal(err)
	}
	ledger.Allocatable(&answer, task)
	for _, option := range answer.Options {
		fmt.Println(option.Resource, option.Why == "")
	}

	// The scheduler chose node-2. Now the pod is charged, and the promise is H100.
	answer, err = ledger.CommitOn(task, "node-2")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("charged:", answer.Charged)

	// What doesn't fit is refused, with numbers.
	other, _, err := ledger.ResolveJob(quota.Job{
		ID: "eval", Queue: "team-a",
		Annotations: map[string]string{quota.RequestAnnotation: `{"NVIDIA-H100-80GB-HBM3": 3}`},
	})
	if err != nil {
		log.Fatal(err)
	}
	if !ledger.Enqueueable(&answer, other) {
		fmt.Println(answer.Refusal.Message())
	}
	// Output:
	// cards: [NVIDIA-A100-SXM4-80GB NVIDIA-H100-80GB-HBM3]
	// queues[0].capability[nvidia.com/gpu]: Forbidden: queue "team-a": this limits no cards: write them into the quota annotation
	// reserved: true
	// NVIDIA-A100-SXM4-80GB true
	// NVIDIA-H100-80GB-HBM3 true
	// charged: [NVIDIA-H100-80GB-HBM3]
	// queue "team-a": insufficient quota of card NVIDIA-H100-80GB-HBM3: requested 3 cards, room for 2 cards of 4 cards, the total would be 5 cards; part of the limit is held for other jobs, or for other items of this one
}

// partsOf returns the cards of a pod that requests parts of GPUs, of one of these cards.
func partsOf(account *share.Account, need share.Requirement, cards ...string) ([]quota.Item, error) {
	part, err := account.GPURequest(nil, need, cards...) // the larger one of core and memory
	if err != nil {
		return nil, err
	}
	return []quota.Item{{Alternatives: cards, Milli: int64(part.Count) * int64(part.Milli)}}, nil
}

// Parts of a card: two pods that fit together, and one that doesn't.
func Example_parts() {
	const a100 = "NVIDIA-A100-SXM4-40GB"
	node := gpuNode("node-1", a100, 4)
	node.Labels["nvidia.com/gpu.memory"] = "40960"
	inventory, err := device.FromNodes([]corev1.Node{node}, nil, device.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var account share.Account
	if err := account.Set(0, share.States(&inventory.Nodes[0])); err != nil {
		log.Fatal(err)
	}
	l, err := quota.New(quota.Config{MissingUnlimited: true}, inventory.Catalog(), []quota.Queue{{Name: "team-a", Cards: map[string]int64{a100: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	charge := func(id string, requests corev1.ResourceList) {
		needs, err := share.Normalize(requests)
		if err != nil {
			log.Fatal(err)
		}
		cards, err := partsOf(&account, needs[0], a100)
		if err != nil {
			log.Fatal(err)
		}
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}}}
		task, _, err := l.ResolveTask(quota.Task{ID: id, Job: id, Queue: "team-a", Pod: pod, Cards: cards})
		if err != nil {
			log.Fatal(err)
		}
		answer, err := l.CommitOn(task, "node-1")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, cards[0].Milli, "milli-cards:", answer.OK)
		if !answer.OK {
			fmt.Println(answer.Refusal.Message())
			_, notes, err := l.ResolveTask(quota.Task{ID: id, Job: id, Queue: "team-a", Pod: pod})
			fmt.Println("without Cards:", notes, err)
		}
	}
	charge("p-1", corev1.ResourceList{"koordinator.sh/gpu": resource.MustParse("40")})
	charge("p-2", corev1.ResourceList{"koordinator.sh/gpu-memory": resource.MustParse("30Gi")})
	// Output:
	// p-1 400 milli-cards: true
	// p-2 750 milli-cards: false
	// queue "team-a": insufficient quota of card NVIDIA-A100-SXM4-40GB: requested 0.75 cards, room for 0.6 cards of 1 card, the total would be 1.15 cards
	// without Cards: [requests[koordinator.sh/gpu-memory]: Invalid value: the amount is 30Gi, a part of a device, and counts on no card: the task's Cards can say on which] <nil>
}

// A gang whose nodes are chosen before it is charged.
func Example_gangOnNodes() {
	nodes := []corev1.Node{gpuNode("node-1", "A100", 4), gpuNode("node-2", "H100", 4)}
	inventory, err := device.FromNodes(nodes, nil, device.Options{})
	if err != nil {
		log.Fatal(err)
	}
	l, err := quota.New(quota.Config{}, inventory.Catalog(), []quota.Queue{{Name: "team-a", Cards: map[string]int64{"A100": 4, "H100": 4}}})
	if err != nil {
		log.Fatal(err)
	}
	gang := func(nodes ...string) (tasks []*quota.TaskRequest) {
		for i, node := range nodes {
			task, _, err := l.ResolveTask(quota.Task{
				ID: fmt.Sprint("train-", i), Job: "train", Queue: "team-a", Node: node, Pod: gpuPod("A100|H100", 2),
			})
			if err != nil {
				log.Fatal(err)
			}
			tasks = append(tasks, task)
		}
		return tasks
	}
	for _, nodes := range [][]string{{"node-1", "node-2"}, {"node-2", "node-2"}} {
		answer, err := l.CommitAll(gang(nodes...))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(nodes, answer.OK, answer.Charged, answer.Refusal.Message())
		for _, option := range answer.Options {
			fmt.Println(answer.Task, option.Resource, option.Why)
		}
	}
	// Output:
	// [node-1 node-2] false [] queue "team-a": the tasks of the gang must be on one card: insufficient quota of card A100|H100: requested 2 cards, room on H100 for 4 cards of 4 cards; that is before the gang
	// train-1 A100 NotOnNode
	// train-1 H100 NotTogether
	// [node-2 node-2] true [H100 H100]
}

// The life of a reservation: the picture of the guide in numbers.
func Example_life() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
	fmt.Println("step         allocated held free")
	print := func(step string, done bool) {
		for queue := range l.Samples() {
			c := queue.Cards[0]
			fmt.Printf("%-12s %9d %4d %4d", step, c.Allocated/1000, c.Inqueue/1000, (c.Capability-c.Allocated-c.Inqueue)/1000)
		}
		if !done {
			fmt.Print(" refused")
		}
		fmt.Println()
	}
	reserve := func(id, request string) {
		a, err := l.Reserve(job(l, "team-a", id, request))
		if err != nil {
			log.Fatal(err)
		}
		print("Reserve "+id, a.OK)
	}
	commit := func(job string, ids ...string) {
		for _, id := range ids {
			if _, err := l.Commit(task(l, "team-a", job, id, "A100")); err != nil {
				log.Fatal(err)
			}
		}
		print("Commit "+strings.Join(ids, " "), true)
	}
	print("New", true)
	reserve("j", `{"A100": 4}`)
	commit("j", "j1", "j2")
	commit("j", "j3", "j4")
	reserve("k", `{"A100": 2}`)
	commit("x", "x1")
	_, done := l.Rollback("j1")
	print("Rollback j1", done)
	_, done = l.Release("j2")
	print("Release j2", done)
	// Output:
	// step         allocated held free
	// New                  0    0    5
	// Reserve j            0    4    1
	// Commit j1 j2         2    2    1
	// Commit j3 j4         4    0    1
	// Reserve k            4    0    1 refused
	// Commit x1            5    0    0
	// Rollback j1          4    1    0
	// Release j2           3    1    1
}

// A job that uses more than its min, and another one that is promised the same
// cards.
func Example_elastic() {
	l := newLedger(quota.Config{}, "team-a", `{"A100": 4}`)
	fmt.Println("step              allocated held")
	print := func(step string, answer quota.Answer, err error) {
		if err != nil {
			log.Fatal(err)
		}
		for queue := range l.Samples() {
			c := queue.Cards[0]
			fmt.Printf("%-17s %9d %4d", step, c.Allocated/1000, c.Inqueue/1000)
		}
		if !answer.OK {
			fmt.Print(" refused: ", answer.Options[0].Why)
		}
		fmt.Println()
	}
	reserve := func(id, request string) {
		a, err := l.Reserve(job(l, "team-a", id, request))
		print("Reserve "+id, a, err)
	}
	commit := func(job, id string) {
		a, err := l.Commit(task(l, "team-a", job, id, "A100"))
		print("Commit "+id, a, err)
	}
	reserve("j", `{"A100": 2}`)
	for _, id := range []string{"j1", "j2", "j3", "j4"} {
		commit("j", id)
	}
	reserve("k", `{"A100": 2}`)
	commit("k", "k1")
	for job := range l.Jobs("team-a") {
		for card, milli := range job.Elastic.Cards {
			fmt.Println(job.ID, "could do without", milli/1000, card, "of those of", job.Tasks)
		}
	}
	l.Release("j4") // evicted
	print("Release j4", quota.Answer{OK: true}, nil)
	commit("x", "x1")
	commit("k", "k1")
	// Output:
	// step              allocated held
	// Reserve j                 0    2
	// Commit j1                 1    1
	// Commit j2                 2    0
	// Commit j3                 3    0
	// Commit j4                 4    0
	// Reserve k                 4    2
	// Commit k1                 4    2 refused: OverCapacity
	// j could do without 2 A100 of those of [j1 j2 j3 j4]
	// Release j4                3    2
	// Commit x1                 3    2 refused: Promised
	// Commit k1                 4    1
}

// What becomes of a promise of four cards when one pod of the job runs.
func Example_view() {
	train := quota.Job{
		ID: "train", Queue: "team-a", Annotations: map[string]string{quota.RequestAnnotation: `{"A100": 4}`}, MinMember: 2,
	}
	running := gpuPod("A100", 1)
	running.UID, running.Spec.NodeName, running.Status.Phase = "uid-0", "node-1", corev1.PodRunning
	for _, phase := range []quota.Phase{quota.PhaseInqueue, quota.PhaseRunning} {
		for _, natural := range []bool{false, true} {
			l := newLedger(quota.Config{}, "team-a", `{"A100": 5}`)
			if _, err := l.Reserve(job(l, "team-a", "train", `{"A100": 4}`)); err != nil {
				log.Fatal(err)
			}
			train.Phase = phase
			seen, err := viewJob(l, train, []*corev1.Pod{running})
			if err != nil {
				log.Fatal(err)
			}
			what := "as reserved"
			if natural {
				what, seen.MinUnknown = "of the pods", false
			}
			if _, err := l.Reconcile(quota.View{Jobs: []quota.Job{seen}}); err != nil {
				log.Fatal(err)
			}
			status, _ := l.Job("train")
			fmt.Printf("%-7s min %s: charged %v held %v\n", phase, what, status.Charged.Cards, status.Held.Cards)
		}
	}
	// Output:
	// Inqueue min as reserved: charged map[A100:1000] held map[A100:3000]
	// Inqueue min of the pods: charged map[A100:1000] held map[]
	// Running min as reserved: charged map[A100:1000] held map[]
	// Running min of the pods: charged map[A100:1000] held map[]
}

// viewJob is what a ledger is told of a job and of those of its pods that are there.
// The pods say what is charged, and where; what the job needs stays as it was
// reserved or, if it wasn't in this ledger, is what its annotation and minResources
// say.
func viewJob(l *quota.Ledger, job quota.Job, pods []*corev1.Pod) (quota.Job, error) {
	seen := job // with Phase and MinMember
	seen.MinUnknown = true
	for _, pod := range pods {
		seen.Tasks = append(seen.Tasks, quota.Task{ID: string(pod.UID), Pod: pod}) // status: what the pod says
	}
	if status, _ := l.Job(job.ID); status.Reserved {
		return seen, nil
	}
	handle, _, err := l.ResolveJob(job) // without the pods, which would win over the annotation
	if err == nil && handle.Invalid() == "" {
		need := handle.Need()
		seen.Min, seen.MinUnknown = &need, false
	}
	return seen, err
}

// Different GPUs share one pool of credits.
func Example_outputs() {
	const credits = "kueue.x-k8s.io/credits"
	rules, _, err := transform.Parse([]byte(`
transformations:
- {input: nvidia.com/a100, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 4}}
- {input: nvidia.com/t4, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 1}}
`), transform.ShapeAuto)
	if err != nil {
		log.Fatal(err)
	}
	var cfg quota.Config
	if cfg.Transformation, err = transform.Compile(rules, transform.Options{}); err != nil {
		log.Fatal(err)
	}
	cfg.Outputs = []corev1.ResourceName{credits}
	ledger, err := quota.New(cfg, nil, []quota.Queue{{
		Name:       "team-a",
		Capability: corev1.ResourceList{credits: resource.MustParse("10")},
	}})
	if err != nil {
		log.Fatal(err)
	}
	reserve := func(id string, gpus corev1.ResourceList) {
		job, _, err := ledger.ResolveJob(quota.Job{ID: id, Queue: "team-a", MinResources: gpus})
		if err != nil {
			log.Fatal(err)
		}
		answer, err := ledger.Reserve(job)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, "needs", job.Need().Outputs[credits], "credits:", answer.OK)
		if !answer.OK {
			fmt.Println(answer.Refusal.Message())
		}
		fmt.Print(cfg.Transformation.Explain(gpus)) // which resource makes which part
	}
	reserve("train", corev1.ResourceList{"nvidia.com/a100": resource.MustParse("2")})
	reserve("eval", corev1.ResourceList{"nvidia.com/t4": resource.MustParse("3")})

	// Output:
	// train needs 8 credits: true
	// kueue.x-k8s.io/credits 8 retained 0, generated 8
	//                        8 nvidia.com/a100 2 x 4
	// nvidia.com/a100          replaced
	// eval needs 3 credits: false
	// queue "team-a": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one
	// kueue.x-k8s.io/credits 3 retained 0, generated 3
	//                        3 nvidia.com/t4 3 x 1
	// nvidia.com/t4            replaced
}

// totals makes jobs for a view of what a host knows of a queue that has sums, and no tasks.
func totals(queue string, allocated, elastic, inqueue quota.Amounts) []quota.Job {
	used := quota.Job{ID: queue + "/used", Queue: queue, Phase: quota.PhaseInqueue, Min: &quota.Min{
		CPU: allocated.CPU - elastic.CPU, Memory: allocated.Memory - elastic.Memory,
		Outputs: map[corev1.ResourceName]int64{},
	}}
	task := quota.Task{ID: queue + "/used", Phase: quota.TaskAllocated, Cards: []quota.Item{}, Request: corev1.ResourceList{
		"cpu":    *resource.NewMilliQuantity(allocated.CPU, resource.DecimalSI),
		"memory": *resource.NewQuantity(allocated.Memory, resource.BinarySI),
	}}
	for card, milli := range allocated.Cards {
		task.Cards = append(task.Cards, quota.Item{Alternatives: []string{card}, Milli: milli})
		used.Min.Items = append(used.Min.Items, quota.Item{Alternatives: []string{card}, Milli: milli - elastic.Cards[card]})
	}
	for output, amount := range allocated.Outputs {
		task.Request[output] = *resource.NewQuantity(amount, resource.DecimalSI)
		used.Min.Outputs[output] = amount - elastic.Outputs[output]
	}
	used.Tasks = []quota.Task{task}
	held := quota.Job{ID: queue + "/held", Queue: queue, Phase: quota.PhaseInqueue, Min: &quota.Min{
		CPU: inqueue.CPU, Memory: inqueue.Memory, Outputs: inqueue.Outputs,
	}}
	for card, milli := range inqueue.Cards {
		held.Min.Items = append(held.Min.Items, quota.Item{Alternatives: []string{card}, Milli: milli})
	}
	return []quota.Job{used, held}
}

// A ledger of a host that knows sums.
func Example_totals() {
	ledger := newLedger(quota.Config{MissingUnlimited: true}, "team-a", `{"A100": 8}`)
	_, err := ledger.Reconcile(quota.View{Jobs: totals("team-a",
		quota.Amounts{CPU: 6000, Cards: map[string]int64{"A100": 3500}},
		quota.Amounts{Cards: map[string]int64{"A100": 500}},
		quota.Amounts{Cards: map[string]int64{"A100": 2000}})})
	if err != nil {
		log.Fatal(err)
	}
	status, _ := ledger.Queue("team-a")
	a100 := status.Usage("A100")
	fmt.Println(status.CPU.Allocated, a100.Allocated, a100.Elastic, a100.Inqueue)

	// Output:
	// 6000 3500 500 2000
}

// TestTotalsOutputs: sums of outputs are known as others are.
func TestTotalsOutputs(t *testing.T) {
	const credits = "kueue.x-k8s.io/credits"
	cfg := quota.Config{MissingUnlimited: true, Outputs: []corev1.ResourceName{credits}}
	ledger, err := quota.New(cfg, nil, []quota.Queue{{Name: "q", Capability: corev1.ResourceList{credits: resource.MustParse("10")}}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int64) quota.Amounts {
		return quota.Amounts{Outputs: map[corev1.ResourceName]int64{credits: n}}
	}
	if _, err := ledger.Reconcile(quota.View{Jobs: totals("q", of(5), of(2), of(4))}); err != nil {
		t.Fatal(err)
	}
	status, _ := ledger.Queue("q")
	u := status.Usage(string(credits))
	if got := fmt.Sprint(u.Allocated, u.Elastic, u.Inqueue); got != "5 2 4" {
		t.Error(got)
	}
}
