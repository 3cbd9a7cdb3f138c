package quota

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/transform"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	credits     = corev1.ResourceName("kueue.x-k8s.io/credits")
	accelerator = corev1.ResourceName("example.com/accelerator-memory")
)

// poolRules is the transformation of the worked case: credits for GPUs, and memory for slices.
const poolRules = `transformations:
- {input: nvidia.com/a100, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 4}}
- {input: nvidia.com/t4, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 1}}
- {input: nvidia.com/mig-1g.5gb, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 1, example.com/accelerator-memory: 5Gi}}
`

func compiled(t testing.TB, text string) *transform.Transformation {
	t.Helper()
	cfg, _, err := transform.Parse([]byte(text), transform.ShapeAuto)
	if err != nil {
		t.Fatal(err)
	}
	return testkit.Must(transform.Compile(cfg, transform.Options{}))
}

// amountsOf makes "nvidia.com/a100:2 cpu:500m" a resource list; a100, t4, mig and mem are
// short.
func amountsOf(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, field := range strings.Fields(text) {
		name, amount, _ := strings.Cut(field, ":")
		switch name {
		case "a100", "t4":
			name = "nvidia.com/" + name
		case "mig":
			name = "nvidia.com/mig-1g.5gb"
		case "mem":
			name = "memory"
		case "credits":
			name = string(credits)
		}
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

func podOfRequests(requests string) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Resources: corev1.ResourceRequirements{Requests: amountsOf(requests)},
	}}}}
}

// pool is a ledger with queues that are limited in outputs.
type pool struct {
	testing.TB
	*Ledger
	cfg Config
}

func poolOf(t testing.TB, cfg Config, specs ...Queue) *pool {
	t.Helper()
	if cfg.Transformation == nil {
		cfg.Transformation = compiled(t, poolRules)
	}
	cfg.MissingUnlimited = true
	cfg.Outputs = []corev1.ResourceName{credits, accelerator}
	l := testkit.Must(New(cfg, cluster(map[string]string{"n": "A:4"}), specs))
	return &pool{t, l, cfg}
}

func queueOfCredits(name string, amount string) Queue {
	return Queue{Name: name, Capability: amountsOf("credits:" + amount)}
}

func (p *pool) job(id, queue, each string, n int) *JobRequest {
	p.Helper()
	var tasks []Task
	for range n {
		tasks = append(tasks, Task{ID: "x", Job: id, Queue: queue, Pod: podOfRequests(each)})
	}
	return resolved(p.ResolveJob(Job{ID: id, Queue: queue, Tasks: tasks}))
}

func (p *pool) task(id, job, queue, requests string) *TaskRequest {
	p.Helper()
	return resolved(p.ResolveTask(Task{ID: id, Job: job, Queue: queue, Pod: podOfRequests(requests)}))
}

// answered writes an answer: "yes", or the message.
func answered(a Answer, err error) string {
	if err == nil && !a.OK {
		return a.Refusal.Message()
	}
	return say(a, err)
}

func (p *pool) reserve(id, queue, each string, n int) string {
	p.Helper()
	return answered(p.Reserve(p.job(id, queue, each, n)))
}

func (p *pool) commit(id, job, queue, requests string) string {
	p.Helper()
	return answered(p.Commit(p.task(id, job, queue, requests)))
}

func (p *pool) want(got, want string) {
	p.Helper()
	if got != want {
		p.Errorf("got  %s\nwant %s", got, want)
	}
	testkit.Check(p.Check())
}

// room is what a queue has left of an output, for jobs.
func (p *pool) room(queue string, output corev1.ResourceName) Amount {
	s, _ := p.Queue(queue)
	u := s.Usage(string(output))
	return u.Capability - u.Allocated + u.Elastic - u.Inqueue
}

// usage writes allocated/held/elastic of credits.
func (p *pool) usage(queue string) string {
	s, _ := p.Queue(queue)
	u := s.Usage(string(credits))
	return fmt.Sprintf("%d/%d/%d", u.Allocated, u.Inqueue, u.Elastic)
}

// TestOutputsStory is the worked case of the specification: different GPUs share one pool of credits.
func TestOutputsStory(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	p.want(p.reserve("train", "q", "a100:1", 2), "yes")
	p.want(p.usage("q"), "0/8/0")
	p.want(p.reserve("three", "q", "t4:1", 3), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one`)
	var a Answer
	p.Enqueueable(&a, p.job("three", "q", "t4:1", 3))
	r := a.Refusal
	p.want(fmt.Sprint(r.Reason, r.Why, r.Resource, r.Best, r.Level, r.Requested, r.Room, r.Limit), "InsufficientScalarQuotaPromisedkueue.x-k8s.io/creditsq3 2 10")
	p.want(p.reserve("two", "q", "t4:1", 2), "yes")
	p.want(fmt.Sprint(p.room("q", credits)), "0")
	p.want(p.commit("train-0", "train", "q", "a100:1"), "yes")
	p.want(p.commit("train-1", "train", "q", "a100:1"), "yes")
	p.want(p.usage("q"), "8/2/0")
	p.want(p.commit("stranger", "other", "q", "t4:1"), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 1, room for 0 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one`)
	p.Release("train-0")
	p.want(fmt.Sprint(p.room("q", credits)), "4")

	data := p.Snapshot()
	p.want(p.reserve("one", "q", "a100:1", 1), "yes")
	p.want(fmt.Sprint(p.room("q", credits)), "0")

	// A restored ledger gives the same answers.
	for range 2 {
		l := testkit.Must(Restore(p.cfg, cluster(map[string]string{"n": "A:4"}), data))
		if again := l.Snapshot(); !bytes.Equal(again, data) {
			t.Errorf("restored %s\nof %s", again, data)
		}
		p.Ledger = l
		p.want(fmt.Sprint(p.room("q", credits)), "4")
		p.want(p.reserve("one", "q", "a100:1", 1), "yes")
		p.want(p.reserve("one more", "q", "t4:1", 1), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 1, room for 0 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one`)
	}
}

// TestOutputsCharge: what pods are charged, with factors, rounding, allowances, multipliers
// and direct requests, as transform.Charge has it.
func TestOutputsCharge(t *testing.T) {
	for _, c := range []struct{ name, rules, pod, want string }{
		{"nothing", poolRules, "cpu:1", "map[]"},
		{"two resources", poolRules, "a100:2 t4:1 cpu:4", "map[kueue.x-k8s.io/credits:9]"},
		{"two outputs", poolRules, "mig:3", "map[example.com/accelerator-memory:16106127360 kueue.x-k8s.io/credits:3]"},
		{"asked for directly", poolRules, "credits:2 t4:1", "map[kueue.x-k8s.io/credits:3]"},
		{"rounded up", "transformations: [{input: cpu, outputs: {kueue.x-k8s.io/credits: 500m}}]", "cpu:1", "map[kueue.x-k8s.io/credits:1]"},
		{"an allowance", "transformations: [{input: nvidia.com/t4, outputs: {kueue.x-k8s.io/credits: -4}}, {input: cpu, outputs: {kueue.x-k8s.io/credits: 1}}]", "t4:1 cpu:6", "map[kueue.x-k8s.io/credits:2]"},
		{"an allowance of more", "transformations: [{input: nvidia.com/t4, outputs: {kueue.x-k8s.io/credits: -4}}, {input: cpu, outputs: {kueue.x-k8s.io/credits: 1}}]", "t4:2 cpu:6", "map[]"},
		{"a multiplier", "transformations: [{input: example.com/mem, multiplyBy: nvidia.com/t4, outputs: {kueue.x-k8s.io/credits: 1}}]", "example.com/mem:3 t4:2", "map[kueue.x-k8s.io/credits:6]"},
		{"excluded", "transformations: [{input: nvidia.com/t4, outputs: {kueue.x-k8s.io/credits: 1}}]\nexcludeResourcePrefixes: [nvidia.com/]", "t4:2", "map[]"},
		{"no rule", "transformations: []", "credits:2 t4:2", "map[kueue.x-k8s.io/credits:2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := poolOf(t, Config{Transformation: compiled(t, c.rules)}, queueOfCredits("q", "100"))
			task := p.task("t", "j", "q", c.pod)
			p.want(fmt.Sprint(task.Need().Outputs), c.want)
			if task.Invalid() != "" {
				t.Error(task.Invalid())
			}
			p.want(fmt.Sprint(p.job("j", "q", c.pod, 1).Need().Outputs), c.want)
		})
	}
	// Each pod is rounded up alone.
	p := poolOf(t, Config{Transformation: compiled(t, "transformations: [{input: cpu, outputs: {kueue.x-k8s.io/credits: 500m}}]")}, queueOfCredits("q", "2"))
	p.want(p.reserve("j", "q", "cpu:1", 3), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 2, the total would be 3`)
	p.want(p.reserve("j", "q", "cpu:1", 2), "yes")
}

// TestOutputsInvalid: what can't be charged is refused before anything is.
func TestOutputsInvalid(t *testing.T) {
	demands := poolRules + "quotaCheckStrategy: BlockUndeclared\n"
	for _, c := range []struct{ name, rules, pod, want string }{
		{"negative input", poolRules, "a100:-1", "spec.containers[0].resources.requests[nvidia.com/a100] is -1: want 0 or more"},
		{"negative output", poolRules, "credits:-1", "spec.containers[0].resources.requests[kueue.x-k8s.io/credits] is -1: want 0 or more"},
		{"too much", poolRules, "a100:2251799813685248", "kueue.x-k8s.io/credits would be 9007199254740992: want less than 2^53"},
		{"out of all proportion", poolRules, "t4:1e400", "kueue.x-k8s.io/credits would be 1e400: want less than 2^53"},
		{"not known to quotas", demands, "a100:1 example.com/fpga:1", "example.com/fpga is 1, and no quota is of it, as the transformation demands (BlockUndeclared)"},
		{"not demanded", poolRules, "a100:1 example.com/fpga:1", ""},
		{"nothing of it", demands, "a100:1 example.com/fpga:0", ""},
		{"known to quotas", demands, "cpu:1 mem:1Gi a100:1", ""},
		{"the most", poolRules, "a100:2251799813685247 t4:3", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := poolOf(t, Config{Transformation: compiled(t, c.rules)}, queueOfCredits("q", "9007199254740991"))
			before := p.Snapshot()
			task := p.task("t", "j", "q", c.pod)
			p.want(task.Invalid(), c.want)
			job := p.job("j", "q", c.pod, 1)
			want := c.want
			if want != "" {
				want = `task "x": ` + want
			}
			p.want(job.Invalid(), want)
			if c.want == "" {
				return
			}
			for _, got := range []string{answered(p.Commit(task)), answered(p.Reserve(job)), answered(p.CommitAll([]*TaskRequest{p.task("s", "j", "q", "t4:1"), task}))} {
				if !strings.HasSuffix(got, ": the request is invalid: "+c.want) && !strings.HasSuffix(got, `: the request is invalid: task "x": `+c.want) {
					t.Error(got)
				}
			}
			if !bytes.Equal(before, p.Snapshot()) {
				t.Error("something was charged")
			}
		})
	}
	p := poolOf(t, Config{Transformation: compiled(t, demands)}, queueOfCredits("q", "10"))
	pod := podOfRequests("nvidia.com/gpu:1")
	pod.Annotations = map[string]string{NameAnnotation: "A"}
	r := resolved(p.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod}))
	p.want(r.Invalid(), "") // the quota of the card is one of the resource that carries it
	p = poolOf(t, Config{}, queueOfCredits("q", "10"))
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{MinResources: amountsOf("a100:-1")}, "minResources: nvidia.com/a100 is -1: want 0 or more"},
		{Job{MinResources: amountsOf("a100:1 nobody:-1")}, "minResources: nobody is -1: want 0 or more"},
		{Job{MinResources: amountsOf(":1")}, `minResources: "" is 1: want the name of a resource`},
		{Job{MinResources: amountsOf("a\xff:1")}, `minResources: "a\xff" is 1: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Request: amountsOf(":2")}}}, `task "x": request: "" is 2: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Pod: podOfRequests(":2")}}}, `task "x": the pod as a whole: "" is 2: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Pod: podOfRequests("nobody:-2")}}}, `task "x": spec.containers[0].resources.requests[nobody] is -2: want 0 or more`},
		{Job{MinResources: amountsOf("a100:2251799813685248")}, "minResources: kueue.x-k8s.io/credits would be 9007199254740992: want less than 2^53"},
		{Job{Tasks: []Task{{ID: "x", Request: amountsOf("a100:-1")}}}, `task "x": request: nvidia.com/a100 is -1: want 0 or more`},
		{Job{Tasks: []Task{{Request: amountsOf("t4:5000000000000000")}, {Request: amountsOf("t4:5000000000000000")}}}, "the sum of the job's kueue.x-k8s.io/credits is 2^53 units or more: want less"},
		{Job{Tasks: []Task{{Request: amountsOf("t4:4503599627370496")}, {Request: amountsOf("t4:4503599627370496")}}}, "the sum of the job's kueue.x-k8s.io/credits is 2^53 units or more: want less"},
		{Job{Tasks: []Task{{Request: amountsOf("t4:4503599627370496")}, {Request: amountsOf("t4:4503599627370495")}}}, ""},
		{Job{Tasks: slices.Repeat([]Task{{Request: amountsOf("t4:9007199254740991")}}, 4096)}, "the sum of the job's kueue.x-k8s.io/credits is 2^53 units or more: want less"},
	} {
		c.job.ID, c.job.Queue = "j", "q"
		r := resolved(p.ResolveJob(c.job))
		p.want(r.Invalid(), c.want)
	}
	for _, c := range []struct {
		min  Min
		want error
		says string
	}{
		{Min{Outputs: map[corev1.ResourceName]int64{credits: -1}}, ErrBadAmount, "min of kueue.x-k8s.io/credits is -1: want 0 to less than 2^53"},
		{Min{Outputs: map[corev1.ResourceName]int64{credits: 1 << 53}}, ErrBadAmount, "is 9007199254740992: want 0 to less than 2^53"},
		{Min{Outputs: map[corev1.ResourceName]int64{"example.com/ghost": 1}}, ErrBadAmount, "want one of Config.Outputs"},
		{Min{Outputs: map[corev1.ResourceName]int64{"cpu": 1}}, ErrBadAmount, "want it in CPU or Memory"},
	} {
		if _, _, err := p.ResolveJob(Job{ID: "j", Queue: "q", Min: &c.min}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Error(err)
		}
	}
	if _, err := testMap(nil, "cpu"); err == nil {
		t.Error(err)
	}
	if _, err := testMap(nil, ""); !errors.Is(err, ErrBadName) {
		t.Error(err)
	}
	var cfg Config
	for _, spec := range []Queue{queueOfCredits("q", "-1"), {Name: "q", Deserved: amountsOf("credits:9007199254740992")}, {Name: "q", Guarantee: amountsOf("credits:1e400")}} {
		if _, _, err := cfg.buildQueue(p.m, spec); !errors.Is(err, ErrBadAmount) {
			t.Error(spec, err)
		}
	}
}

// TestOutputsQueues: limits in outputs, and what isn't one.
func TestOutputsQueues(t *testing.T) {
	var cfg Config
	m := testkit.Must(testMap([]string{"A"}, credits, accelerator, credits))
	q, faults, err := cfg.buildQueue(m, Queue{Name: "q", Capability: amountsOf("credits:2500m example.com/accelerator-memory:0 nvidia.com/t4:1"), Guarantee: amountsOf("credits:1"), Deserved: amountsOf("credits:2")})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := outputIndex(m, credits)
	if got := fmt.Sprint(q.Capability[at], q.Guarantee[at], q.Deserved[at], faults); !strings.HasPrefix(got, `2 1 2 [quota: capability: resource "nvidia.com/t4"`) {
		t.Error(got)
	}
	if same, err := extendMap(m, []string{"A"}); err != nil || same != m {
		t.Error(err)
	}

	// A queue without a limit in an output is not limited in it; an explicit 0 is a limit.
	p := poolOf(t, Config{}, Queue{Name: "free"}, queueOfCredits("none", "0"), Queue{Name: "org", Capability: amountsOf("credits:6")},
		Queue{Name: "a", Parent: "org", Capability: amountsOf("credits:4"), Deserved: amountsOf("credits:2"), Guarantee: amountsOf("credits:1")}, Queue{Name: "b", Parent: "org"})
	p.want(p.reserve("1", "free", "a100:1", 100), "yes")
	p.want(p.reserve("2", "none", "t4:1", 1), `queue "none": insufficient quota of kueue.x-k8s.io/credits: requested 1, room for 0 of 0, the total would be 1`)
	p.want(p.reserve("2", "none", "cpu:1", 1), "yes")
	p.want(p.reserve("3", "a", "a100:1", 1), "yes")
	p.want(p.reserve("4", "b", "t4:1", 3), `queue "b": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 6 at queue "org", the total would be 7; part of the limit is held for other jobs, or for other items of this one`)
	p.want(p.commit("3-0", "3", "a", "a100:1"), "yes")
	if q, _ := p.Queue("a"); q.Share != 2 {
		t.Errorf("share %v", q.Share)
	}
	s, _ := p.Queue("a")
	u := s.Outputs[1]
	p.want(fmt.Sprint(u.Resource, u.Capability, u.RealCapability, u.Guarantee, u.Deserved, u.Allocated, u.Request), "kueue.x-k8s.io/credits4 4 1 2 4 4")

	// The catalog says nothing of outputs: a guarantee of a sibling takes from the parent.
	p = poolOf(t, Config{EnforceGuarantee: true}, Queue{Name: "org", Capability: amountsOf("credits:6")},
		Queue{Name: "a", Parent: "org", Capability: amountsOf("credits:6"), Guarantee: amountsOf("credits:4")}, Queue{Name: "b", Parent: "org"}, Queue{Name: "top"})
	p.want(p.reserve("1", "b", "t4:1", 3), `queue "b": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 2, the total would be 3; the limit is what guarantees leave of the 6 that queue "org" may use`)
	p.want(p.reserve("1", "a", "t4:1", 6), "yes")
	p.want(p.reserve("2", "top", "t4:1", 600), "yes")
}

// TestOutputsBesideCards: cards count as ever, whatever the transformation does with the
// resource that carries them.
func TestOutputsBesideCards(t *testing.T) {
	cfg := Config{Transformation: compiled(t, "transformations: [{input: nvidia.com/gpu, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 3}}, {input: cpu, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 1}}]")}
	p := poolOf(t, cfg, Queue{Name: "q", Cards: map[string]int64{"A": 2}, Capability: amountsOf("credits:10 cpu:3")})
	pod := podOfRequests("nvidia.com/gpu:1 cpu:1")
	pod.Spec.Containers[0].Resources.Limits = amountsOf("nvidia.com/gpu:1")
	pod.ObjectMeta = metav1.ObjectMeta{Annotations: map[string]string{NameAnnotation: "A"}}
	commit := func(id string) string {
		r := resolved(p.ResolveTask(Task{ID: id, Job: "j", Queue: "q", Pod: pod}))
		a, err := p.CommitOn(r, "n")
		if a.OK {
			return fmt.Sprint(r.Need(), a.Charged, len(a.Options))
		}
		return answered(a, err)
	}
	p.want(commit("1"), "{1000 0 [{[A] 1000 1000}] map[kueue.x-k8s.io/credits:4]} [A] 1")
	p.want(commit("2"), "{1000 0 [{[A] 1000 1000}] map[kueue.x-k8s.io/credits:4]} [A] 1")
	p.want(commit("3"), `queue "q": insufficient quota of card A: requested 1 card, room for 0 cards of 2 cards, the total would be 3 cards`)
	status, _ := p.Job("j")
	p.want(fmt.Sprint(status.Charged), "{2000 0 map[A:2000] map[kueue.x-k8s.io/credits:8]}")

	// A node that the pod is bound to confines cards, and no outputs.
	p.Release("2")
	for _, bound := range []Task{
		{ID: "2", Job: "j", Queue: "q", Pod: pod, Node: "n"},
		{ID: "2", Job: "j", Queue: "q", Pod: podOfRequests("cpu:1"), Node: "n"},
	} {
		r := resolved(p.ResolveTask(bound))
		p.want(r.Invalid(), "")
		p.want(answered(p.Commit(r)), "yes")
		p.Release("2")
	}
	elsewhere := resolved(p.ResolveTask(Task{ID: "2", Job: "j", Queue: "q", Pod: pod, Node: "m"}))
	p.want(elsewhere.Invalid(), `node "m" has none of A: it has no cards, or isn't known`)
	p.want(commit("2"), "{1000 0 [{[A] 1000 1000}] map[kueue.x-k8s.io/credits:4]} [A] 1")
	p.want(p.commit("4", "j", "q", "cpu:2"), `queue "q": insufficient quota of cpu: requested 2 cores, room for 1 core of 3 cores, the total would be 4 cores`)

	// An output that is named as a card is not that card.
	m := testkit.Must(testMap([]string{string(credits)}, credits))
	card, _ := cardIndex(m, string(credits))
	output, _ := outputIndex(m, credits)
	if card == output {
		t.Error("a card and an output share a dimension")
	}
}

// TestOutputsQuestions: gangs, copies and explanations know outputs.
func TestOutputsQuestions(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	fits := testkit.Must(p.JobCopies(p.job("j", "q", "a100:1", 1)))
	p.want(fmt.Sprint(fits.Copies, fits.Room[2:], fits.Next.Refusal.Message()), `2 [{0 kueue.x-k8s.io/credits  10 q 10}]queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 4, room for 2 of 10, the total would be 12; part of the limit is held for other jobs, or for other items of this one`)
	fits = testkit.Must(p.TaskCopies(p.task("t", "j", "q", "t4:3")))
	p.want(fmt.Sprint(fits.Copies, len(fits.Room), fits.Next.Refusal.Room), "3 3 1")

	gang := func(n int) (tasks []*TaskRequest) {
		for i := range n {
			tasks = append(tasks, p.task(fmt.Sprint("g", i), "g", "q", "a100:1"))
		}
		return tasks
	}
	p.want(answered(p.CommitAll(gang(3))), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 4, room for 2 of 10, the total would be 12`)
	p.want(p.usage("q"), "0/0/0")
	p.want(answered(p.CommitAll(gang(2))), "yes")
	p.want(answered(p.CommitAll(gang(2))), "repeat")
	p.want(answered(p.Commit(p.task("g0", "g", "q", "t4:1"))), `quota: id is in use with other content: task "g0": charged is 4 kueue.x-k8s.io/credits of job "g" in queue "q", requested 1 kueue.x-k8s.io/credits of job "g" in queue "q"`)
}

// TestOutputsOptions: refusals for want of an output leave the options to the cards.
func TestOutputsOptions(t *testing.T) {
	var events []Event
	cfg := Config{OnEvent: func(e Event) { events = append(events, e) }}
	p := poolOf(t, cfg, Queue{Name: "q", Cards: map[string]int64{"A": 2}, Capability: amountsOf("credits:3")})
	task := resolved(p.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A"}, Milli: 500}}, Request: amountsOf("a100:1")}))
	var a Answer
	p.AllocatableOn(&a, task, "n")
	p.want(fmt.Sprint(a.Options, a.Refusal.Resource), "[{0 A  2000 q 2000}]kueue.x-k8s.io/credits")
	p.want(p.commit("1", "j", "q", "t4:2"), "yes")
	e := events[len(events)-1]
	p.want(fmt.Sprint(e.Kind, e.Cards, e.Outputs), "Committedmap[] map[kueue.x-k8s.io/credits:2]")
}

// TestAnotherTransformation: a host that changes the transformation makes a new ledger, and the
// view of the cluster brings it to what is charged and held by the new one. Jobs that only
// wait are in it, too.
func TestAnotherTransformation(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "12"))
	p.want(p.reserve("runs", "q", "a100:1", 2), "yes")
	p.want(p.commit("runs-0", "runs", "q", "a100:1"), "yes")
	p.want(p.reserve("waits", "q", "a100:1", 1), "yes")
	p.want(p.usage("q"), "4/8/0")

	dear := compiled(t, "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 7}}]")
	if _, err := Restore(Config{MissingUnlimited: true, Transformation: dear}, nil, p.Snapshot()); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "transformation") {
		t.Error(err)
	}
	next := poolOf(t, Config{Transformation: dear}, queueOfCredits("q", "12"))
	pod := func(id string, phase TaskPhase) Task {
		return Task{ID: id, Pod: podOfRequests("a100:1"), Phase: phase, Node: "n"}
	}
	view := View{Jobs: []Job{
		{ID: "runs", Queue: "q", Phase: PhaseRunning, Tasks: []Task{pod("runs-0", TaskAllocated), pod("runs-1", TaskPending)}},
		{ID: "waits", Queue: "q", Phase: PhaseInqueue, Tasks: []Task{pod("waits-0", TaskPending)}},
		{ID: "before pods", Queue: "q", Phase: PhaseInqueue, MinResources: amountsOf("a100:2")},
		{ID: "not admitted", Queue: "q", Phase: PhasePending, Tasks: []Task{pod("not-0", TaskPending)}},
	}}
	report := testkit.Must(next.Reconcile(view))
	next.want(next.usage("q"), "7/28/0")
	next.want(fmt.Sprint(next.Over()), "[{0 kueue.x-k8s.io/credits OverCapacity -23 q 12}]")
	next.want(next.commit("x", "x", "q", "a100:1"), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 7, 23 over the limit of 12, the total would be 42; part of the limit is held for other jobs, or for other items of this one`)
	next.want(next.commit("waits-0", "waits", "q", "a100:1"), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 7, room for 5 of 12, the total would be 14`)
	next.Release("runs-0")
	next.want(next.commit("waits-0", "waits", "q", "a100:1"), "yes") // what it was promised
	if report = testkit.Must(next.Reconcile(View{Partial: true, Jobs: view.Jobs[1:2]})); report.Changed {
		t.Error("the view of before undid a commit", report)
	}
}

// TestOutputsFixed: no snapshot brings outputs to a ledger with others.
func TestOutputsFixed(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "12"))
	for _, outputs := range [][]corev1.ResourceName{nil, {credits}, {accelerator, credits, "example.com/more"}} {
		cfg := p.cfg
		cfg.Outputs = outputs
		if _, err := Restore(cfg, nil, p.Snapshot()); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "outputs") {
			t.Error(err)
		}
	}
}

// TestOutputsBound: the min of a job with ended tasks is at most what the others make.
func TestOutputsBound(t *testing.T) {
	for _, given := range []int64{3, 4, 5} {
		p := poolOf(t, Config{}, queueOfCredits("q", "9"))
		job := Job{ID: "j", Queue: "q", Phase: PhaseInqueue, Min: &Min{Outputs: map[corev1.ResourceName]int64{credits: given}}, Tasks: []Task{
			{ID: "0", Pod: podOfRequests("t4:1"), Phase: TaskSucceeded},
			{ID: "1", Pod: podOfRequests("a100:1"), Phase: TaskPending},
		}}
		testkit.Must(p.Reconcile(View{Jobs: []Job{job}}))
		p.want(p.usage("q"), fmt.Sprintf("0/%d/0", min(given, 4)))
	}
}

// TestOutputsManyItems: outputs don't count as lists of cards, of which a min may have 64.
func TestOutputsManyItems(t *testing.T) {
	var cards []string
	var known []device.Card
	capability := map[string]int64{}
	for i := range maxJobItems {
		name := fmt.Sprintf("X%02d", i)
		cards, known, capability[name] = append(cards, name), append(known, device.Card{Name: name}), 2
	}
	m := testkit.Must(testMap(cards, credits, accelerator))
	cfg := Config{MissingUnlimited: true, Transformation: compiled(t, "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 4, example.com/accelerator-memory: 7}}]")}
	q := resolved(cfg.buildQueue(m, Queue{Name: "q", Cards: capability}))
	l := testkit.Must(newBuilt(cfg, m, nil, []builtQueue{q}))
	testkit.Must(l.Declare(known))
	p := &pool{t, l, cfg}
	job := Job{ID: "j", Queue: "q"}
	for i, card := range cards {
		job.Tasks = append(job.Tasks, Task{ID: fmt.Sprint(i), Job: "j", Queue: "q", Pod: podOfRequests("a100:1"), Cards: []Item{{Alternatives: []string{card}, Milli: 1000}}})
	}
	r := resolved(p.ResolveJob(job))
	p.want(answered(p.Reserve(r)), "yes")
	task := resolved(p.ResolveTask(job.Tasks[maxJobItems-1]))
	p.want(answered(p.Commit(task)), "yes")
	p.want(p.usage("q"), "4/252/0")
	again, err := Restore(l.cfg, nil, p.Snapshot())
	if err != nil || !bytes.Equal(again.Snapshot(), p.Snapshot()) {
		t.Error(err)
	}
}
