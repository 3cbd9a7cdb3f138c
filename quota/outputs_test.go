package quota

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
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
	made, err := transform.Compile(cfg, transform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made
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

func poolOf(t testing.TB, cfg Config, specs ...QueueSpec) *pool {
	t.Helper()
	if cfg.Transformation == nil {
		cfg.Transformation = compiled(t, poolRules)
	}
	cfg.MissingUnlimited = true
	m, err := NewMap([]string{"A"}, credits, accelerator)
	if err != nil {
		t.Fatal(err)
	}
	var queues []Queue
	for _, spec := range specs {
		q, faults, err := cfg.BuildQueue(m, spec)
		if err != nil || len(faults) > 0 {
			t.Fatal(err, faults)
		}
		queues = append(queues, q)
	}
	l, err := New(cfg, m, cluster(map[string]string{"n": "A:4"}), queues)
	if err != nil {
		t.Fatal(err)
	}
	return &pool{t, l, cfg}
}

func queueOfCredits(name string, amount string) QueueSpec {
	return QueueSpec{Name: name, Capability: amountsOf("credits:" + amount)}
}

func (p *pool) job(id, queue, each string, n int) *JobRequest {
	p.Helper()
	var tasks []Task
	for range n {
		tasks = append(tasks, Task{ID: "x", Job: id, Queue: queue, Pod: podOfRequests(each)})
	}
	r, _, err := p.ResolveJob(Job{ID: id, Queue: queue, Tasks: tasks})
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *pool) task(id, job, queue, requests string) *TaskRequest {
	p.Helper()
	r, _, err := p.ResolveTask(Task{ID: id, Job: job, Queue: queue, Pod: podOfRequests(requests)})
	if err != nil {
		p.Fatal(err)
	}
	return r
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
	if err := p.Check(); err != nil {
		p.Error(err)
	}
}

// room is what a queue has left of an output, for jobs.
func (p *pool) room(queue string, output corev1.ResourceName) int64 {
	s, _ := p.Queue(queue)
	u := s.Output(output)
	return u.Capability - u.Allocated + u.Elastic - u.Inqueue
}

// usage writes allocated/held/elastic of credits.
func (p *pool) usage(queue string) string {
	s, _ := p.Queue(queue)
	u := s.Output(credits)
	return fmt.Sprintf("%d/%d/%d", u.Allocated, u.Inqueue, u.Elastic)
}

// The transformation design's poolRules: different GPUs share one pool of credits.
func TestOutputsStory(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	p.want(p.reserve("train", "q", "a100:1", 2), "yes")
	p.want(p.usage("q"), "0/8/0")
	p.want(p.reserve("three", "q", "t4:1", 3), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one`)
	var a Answer
	p.Enqueueable(&a, p.job("three", "q", "t4:1", 3))
	r := a.Refusal
	p.want(fmt.Sprint(r.Reason, r.Why, r.Output, r.Card, r.Best, r.Level, r.Requested, r.Room, r.Limit), "InsufficientScalarQuota Promisedkueue.x-k8s.io/creditsq3 2 10")
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
		l, err := Restore(p.cfg, p.Map(), cluster(map[string]string{"n": "A:4"}), data)
		if err != nil {
			t.Fatal(err)
		}
		if again := l.Snapshot(); !bytes.Equal(again, data) {
			t.Errorf("restored %s\nof %s", again, data)
		}
		p.Ledger = l
		p.want(fmt.Sprint(p.room("q", credits)), "4")
		p.want(p.reserve("one", "q", "a100:1", 1), "yes")
		p.want(p.reserve("one more", "q", "t4:1", 1), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 1, room for 0 of 10, the total would be 11; part of the limit is held for other jobs, or for other items of this one`)
	}
}

// Ten jobs at once for a room of four.
func TestOutputsConcurrent(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "4"))
	var yes atomic.Int64
	var wait sync.WaitGroup
	for i := range 10 {
		job := p.job(fmt.Sprint("j", i), "q", "t4:1", 1)
		wait.Go(func() {
			if a, err := p.Reserve(job); err == nil && a.OK {
				yes.Add(1)
			}
		})
	}
	wait.Wait()
	p.want(fmt.Sprint(yes.Load(), " ", p.usage("q")), "4 0/4/0")
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
	r, _, err := p.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: pod})
	if err != nil {
		t.Fatal(err)
	}
	p.want(r.Invalid(), "") // the quota of the card is one of the resource that carries it
	p = poolOf(t, Config{}, queueOfCredits("q", "10"))
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{MinResources: amountsOf("a100:-1")}, "minResources: nvidia.com/a100 is -1: want 0 or more"},
		{Job{MinResources: amountsOf("a100:1 nobody:-1")}, "minResources: nobody is -1: want 0 or more"}, // the next transformation may read it
		{Job{MinResources: amountsOf(":1")}, `minResources: "" is 1: want the name of a resource`},
		{Job{MinResources: amountsOf("a\xff:1")}, `minResources: "a\xff" is 1: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Request: amountsOf(":2")}}}, `task "x": request: "" is 2: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Pod: podOfRequests(":2")}}}, `task "x": the pod as a whole: "" is 2: want the name of a resource`},
		{Job{Tasks: []Task{{ID: "x", Pod: podOfRequests("nobody:-2")}}}, `task "x": spec.containers[0].resources.requests[nobody] is -2: want 0 or more`},
		{Job{MinResources: amountsOf("a100:2251799813685248")}, "kueue.x-k8s.io/credits would be 9007199254740992: want less than 2^53"},
		{Job{Tasks: []Task{{ID: "x", Request: amountsOf("a100:-1")}}}, `task "x": request: nvidia.com/a100 is -1: want 0 or more`},
		{Job{Tasks: []Task{{Request: amountsOf("t4:5000000000000000")}, {Request: amountsOf("t4:5000000000000000")}}}, "kueue.x-k8s.io/credits of all pods would be 10000000000000000: want less than 2^53"},
		{Job{Tasks: []Task{{Request: amountsOf("t4:4503599627370496")}, {Request: amountsOf("t4:4503599627370496")}}}, "kueue.x-k8s.io/credits of all pods would be 9007199254740992: want less than 2^53"},
		{Job{Tasks: []Task{{Request: amountsOf("t4:4503599627370496")}, {Request: amountsOf("t4:4503599627370495")}}}, ""},
		{Job{Tasks: slices.Repeat([]Task{{Request: amountsOf("t4:9007199254740991")}}, 4096)}, "kueue.x-k8s.io/credits of all pods would be 36893488147419099136: want less than 2^53"},
	} {
		c.job.ID, c.job.Queue = "j", "q"
		r, _, err := p.ResolveJob(c.job)
		if err != nil {
			t.Fatal(err)
		}
		p.want(r.Invalid(), c.want)
	}
	for _, c := range []struct {
		min  Min
		want error
		says string
	}{
		{Min{Outputs: map[corev1.ResourceName]int64{credits: -1}}, ErrBadAmount, "min of kueue.x-k8s.io/credits is -1: want 0 to less than 2^53"},
		{Min{Outputs: map[corev1.ResourceName]int64{credits: 1 << 53}}, ErrBadAmount, "is 9007199254740992: want 0 to less than 2^53"},
		{Min{Outputs: map[corev1.ResourceName]int64{"example.com/ghost": 1}}, ErrUnknownDimension, wantDimension},
		{Min{Outputs: map[corev1.ResourceName]int64{"cpu": 1}}, ErrUnknownDimension, "want it in CPU or Memory"},
	} {
		if _, _, err := p.ResolveJob(Job{ID: "j", Queue: "q", Min: &c.min}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Error(err)
		}
	}
	if _, err := NewMap(nil, "cpu"); !errors.Is(err, ErrUnknownDimension) {
		t.Error(err)
	}
	if _, err := NewMap(nil, ""); !errors.Is(err, ErrEmptyID) {
		t.Error(err)
	}
	var cfg Config
	for _, amount := range []string{"-1", "9007199254740992", "1e400"} {
		if _, _, err := cfg.BuildQueue(p.Map(), queueOfCredits("q", amount)); !errors.Is(err, ErrBadAmount) {
			t.Error(amount, err)
		}
	}
}

// TestOutputsRefusedByRules: what only the transformation refuses counts with the next one,
// without being resolved again.
func TestOutputsRefusedByRules(t *testing.T) {
	demands := compiled(t, poolRules+"quotaCheckStrategy: BlockUndeclared\n")
	p := poolOf(t, Config{Transformation: demands}, QueueSpec{Name: "q", Cards: map[string]int64{"A": 2}, Capability: amountsOf("credits:20")})
	const pod = "a100:1 cpu:1 example.com/fpga:1"
	task, job := p.task("t", "j", "q", pod), p.job("j", "q", pod, 2)
	given, _, err := p.ResolveJob(Job{ID: "given", Queue: "q", Tasks: []Task{{ID: "g", Pod: podOfRequests(pod)}}, Min: &Min{Outputs: map[corev1.ResourceName]int64{credits: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	bad := p.task("bad", "j", "q", "a100:1 cpu:-1 example.com/fpga:1")
	bound, _, err := p.ResolveTask(Task{ID: "bound", Job: "j", Queue: "q", Pod: podOfRequests(pod), Cards: []Item{{Alternatives: []string{"A", "B"}, Milli: 1000}}, Node: "n"})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() string {
		var tasks, jobs vector.Mask
		p.AllocatableBatch(&tasks, []*TaskRequest{task, bound, bad})
		p.EnqueueableBatch(&jobs, []*JobRequest{job})
		return fmt.Sprint(tasks.Test(0), tasks.Test(1), tasks.Test(2), jobs.Test(0))
	}
	p.want(answered(p.Reserve(given)), `queue "q": the request is invalid: task "g": example.com/fpga is 1, and no quota is of it, as the transformation demands (BlockUndeclared)`)
	for range 2 {
		p.want(ask(), "false false false false")
		p.want(fmt.Sprint(task.Need(), job.Need()), "{0 0 [] map[]} {0 0 [] map[]}")
		p.want(answered(p.Commit(task)), `queue "q": the request is invalid: example.com/fpga is 1, and no quota is of it, as the transformation demands (BlockUndeclared)`)
		if _, err := p.SetTransformation(compiled(t, poolRules)); err != nil {
			t.Fatal(err)
		}
		p.want(ask(), "true true false true")
		if _, err := p.SetTransformation(demands); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.SetTransformation(compiled(t, poolRules)); err != nil {
		t.Fatal(err)
	}
	p.want(answered(p.Reserve(job)), "yes")
	p.want(p.usage("q"), "0/8/0")
	p.want(answered(p.Commit(task)), "yes")
	p.want(p.usage("q"), "4/4/0")
	p.want(answered(p.Reserve(given)), "yes")
	p.want(p.usage("q"), "4/7/0")
	p.want(answered(p.Commit(bad)), `queue "q": the request is invalid: spec.containers[0].resources.requests[cpu] is -1: want 0 or more`)
}

// TestOutputsQueues: limits in outputs, and what isn't one.
func TestOutputsQueues(t *testing.T) {
	var cfg Config
	m, err := NewMap([]string{"A"}, credits, accelerator, credits)
	if err != nil {
		t.Fatal(err)
	}
	q, faults, err := cfg.BuildQueue(m, QueueSpec{Name: "q", Capability: amountsOf("credits:2500m example.com/accelerator-memory:0 nvidia.com/t4:1"), Guarantee: amountsOf("credits:1"), Deserved: amountsOf("credits:2")})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := outputIndex(m, credits)
	if got := fmt.Sprint(q.Capability[at], q.Guarantee[at], q.Deserved[at], faults, q.Ignored); !strings.HasPrefix(got, `2 1 2 [quota: resource "nvidia.com/t4"`) || !strings.HasSuffix(got, "[nvidia.com/t4]") {
		t.Error(got)
	}
	if same, err := extendMap(m, []string{"A"}, accelerator); err != nil || same != m {
		t.Error(err)
	}

	// A queue without a limit in an output is not limited in it; an explicit 0 is a limit.
	p := poolOf(t, Config{}, QueueSpec{Name: "free"}, queueOfCredits("none", "0"), QueueSpec{Name: "org", Capability: amountsOf("credits:6")},
		QueueSpec{Name: "a", Parent: "org", Capability: amountsOf("credits:4"), Deserved: amountsOf("credits:2"), Guarantee: amountsOf("credits:1")}, QueueSpec{Name: "b", Parent: "org"})
	p.want(p.reserve("1", "free", "a100:1", 100), "yes")
	p.want(p.reserve("2", "none", "t4:1", 1), `queue "none": insufficient quota of kueue.x-k8s.io/credits: requested 1, room for 0 of 0, the total would be 1`)
	p.want(p.reserve("2", "none", "cpu:1", 1), "yes")
	p.want(p.reserve("3", "a", "a100:1", 1), "yes")
	p.want(p.reserve("4", "b", "t4:1", 3), `queue "b": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 6 at queue "org", the total would be 7; part of the limit is held for other jobs, or for other items of this one`)
	p.want(p.commit("3-0", "3", "a", "a100:1"), "yes")
	if share, _ := p.Share("a"); share != 2 {
		t.Errorf("share %v", share)
	}
	s, _ := p.Queue("a")
	u := s.Outputs[1]
	p.want(fmt.Sprint(u.Output, u.Capability, u.RealCapability, u.Guarantee, u.Deserved, u.Allocated, u.Request), "kueue.x-k8s.io/credits4 4 1 2 4 4")

	// The catalog says nothing of outputs: a guarantee of a sibling takes from the parent.
	p = poolOf(t, Config{EnforceGuarantee: true}, QueueSpec{Name: "org", Capability: amountsOf("credits:6")},
		QueueSpec{Name: "a", Parent: "org", Capability: amountsOf("credits:6"), Guarantee: amountsOf("credits:4")}, QueueSpec{Name: "b", Parent: "org"}, QueueSpec{Name: "top"})
	p.want(p.reserve("1", "b", "t4:1", 3), `queue "b": insufficient quota of kueue.x-k8s.io/credits: requested 3, room for 2 of 2, the total would be 3`)
	p.want(p.reserve("1", "a", "t4:1", 6), "yes")
	p.want(p.reserve("2", "top", "t4:1", 600), "yes")
}

// TestOutputsBesideCards: cards count as ever, whatever the transformation does with the
// resource that carries them.
func TestOutputsBesideCards(t *testing.T) {
	cfg := Config{Transformation: compiled(t, "transformations: [{input: nvidia.com/gpu, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 3}}, {input: cpu, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 1}}]")}
	p := poolOf(t, cfg, QueueSpec{Name: "q", Cards: map[string]int64{"A": 2}, Capability: amountsOf("credits:10 cpu:3")})
	pod := podOfRequests("nvidia.com/gpu:1 cpu:1")
	pod.Spec.Containers[0].Resources.Limits = amountsOf("nvidia.com/gpu:1")
	pod.ObjectMeta = metav1.ObjectMeta{Annotations: map[string]string{NameAnnotation: "A"}}
	commit := func(id string) string {
		r, _, err := p.ResolveTask(Task{ID: id, Job: "j", Queue: "q", Pod: pod})
		if err != nil {
			t.Fatal(err)
		}
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
		r, _, err := p.ResolveTask(bound)
		if err != nil {
			t.Fatal(err)
		}
		p.want(r.Invalid(), "")
		p.want(answered(p.Commit(r)), "yes")
		p.Release("2")
	}
	elsewhere, _, err := p.ResolveTask(Task{ID: "2", Job: "j", Queue: "q", Pod: pod, Node: "m"})
	if err != nil {
		t.Fatal(err)
	}
	p.want(elsewhere.Invalid(), `node "m" has none of A: it has no cards, or isn't known`)
	p.want(commit("2"), "{1000 0 [{[A] 1000 1000}] map[kueue.x-k8s.io/credits:4]} [A] 1")
	p.want(p.commit("4", "j", "q", "cpu:2"), `queue "q": insufficient quota of cpu: requested 2 cores, room for 1 core of 3 cores, the total would be 4 cores`)

	// An output that is named as a card is not that card.
	m, err := NewMap([]string{string(credits)}, credits)
	if err != nil {
		t.Fatal(err)
	}
	card, _ := cardIndex(m, string(credits))
	output, _ := outputIndex(m, credits)
	if card == output {
		t.Error("a card and an output share a dimension")
	}
}

// TestOutputsQuestions: batches, gangs, copies and explanations know outputs.
func TestOutputsQuestions(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "10"))
	fits, err := p.JobCopies(p.job("j", "q", "a100:1", 1))
	if err != nil {
		t.Fatal(err)
	}
	p.want(fmt.Sprint(fits.Copies, fits.Outputs, fits.Next.Refusal.Message()), `2 [{0  kueue.x-k8s.io/credits true None 10 q 10}]queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 4, room for 2 of 10, the total would be 12; part of the limit is held for other jobs, or for other items of this one`)
	fits, err = p.TaskCopies(p.task("t", "j", "q", "t4:3"))
	if err != nil {
		t.Fatal(err)
	}
	p.want(fmt.Sprint(fits.Copies, len(fits.Cards), fits.Next.Refusal.Room), "3 0 1")

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

	var mask vector.Mask
	tasks := []*TaskRequest{p.task("a", "a", "q", "t4:2"), p.task("b", "b", "q", "t4:3"), p.task("c", "c", "q", "cpu:1")}
	p.AllocatableBatch(&mask, tasks)
	jobs := []*JobRequest{p.job("a", "q", "t4:1", 2), p.job("b", "q", "t4:1", 3), p.job("c", "q", "cpu:1", 1)}
	var jobMask vector.Mask
	p.EnqueueableBatch(&jobMask, jobs)
	for i := range tasks {
		if want := i != 1; mask.Test(i) != want || jobMask.Test(i) != want {
			t.Errorf("batch, %d: %v %v", i, mask.Test(i), jobMask.Test(i))
		}
	}

	p.want(p.task("a", "a", "q", "a100:2 t4:1").Explain().String(), compiled(t, poolRules).Explain(amountsOf("a100:2 t4:1")).String())
	parts := ""
	for pods, one := range p.job("a", "q", "a100:2", 3).Explain() {
		parts += fmt.Sprint(pods, " of ", one.Results[0].Terms[0].Input, "; ")
	}
	p.want(parts, "3 of nvidia.com/a100; ")
	mixed, _, err := p.ResolveJob(Job{ID: "j", Queue: "q", Tasks: []Task{{Request: amountsOf("a100:1")}, {Request: amountsOf("t4:1")}}})
	if err != nil {
		t.Fatal(err)
	}
	for n, one := range mixed.Explain() { // one who looks at the first only
		p.want(fmt.Sprint(n, one.Results[0].Terms[0].Input), "1nvidia.com/a100")
		break
	}
}

// TestOutputsOptions: refusals for want of an output leave the options to the cards.
func TestOutputsOptions(t *testing.T) {
	var events []Event
	cfg := Config{OnEvent: func(e Event) { events = append(events, e) }}
	p := poolOf(t, cfg, QueueSpec{Name: "q", Cards: map[string]int64{"A": 2}, Capability: amountsOf("credits:3")})
	task, _, err := p.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A"}, Milli: 500}}, Request: amountsOf("a100:1")})
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	p.AllocatableOn(&a, task, "n")
	p.want(fmt.Sprint(a.Options, a.Refusal.Output), "[{0 A  true None 2000 q 2000}]kueue.x-k8s.io/credits")
	p.want(p.commit("1", "j", "q", "t4:2"), "yes")
	e := events[len(events)-1]
	p.want(fmt.Sprint(e.Kind, e.Cards, e.Outputs), "Committed map[] map[kueue.x-k8s.io/credits:2]")
}

// TestSetTransformation: everything is charged anew, in one change.
func TestSetTransformation(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "12"), queueOfCredits("r", "100"))
	stale := p.task("late", "j", "q", "a100:1")
	staleToo := p.task("later", "l", "r", "a100:1")
	staleJob := p.job("k", "r", "a100:1", 2)
	p.want(p.reserve("j", "q", "a100:1", 3), "yes")
	p.want(p.commit("j0", "j", "q", "a100:1"), "yes")
	p.want(p.commit("j1", "j", "q", "a100:1"), "yes")
	p.Release("j1")
	p.want(p.usage("q"), "4/4/0")
	min := Min{Outputs: map[corev1.ResourceName]int64{credits: 7}}
	given, _, err := p.ResolveJob(Job{ID: "given", Queue: "r", Min: &min})
	if err != nil {
		t.Fatal(err)
	}
	p.want(answered(p.Reserve(given)), "yes")

	before, _ := p.Job("j")
	seq, err := p.SetTransformation(compiled(t, "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 7}}]"))
	if err != nil || seq != before.Seq+1 {
		t.Errorf("seq %d after %d, %v", seq, before.Seq, err)
	}
	p.want(p.usage("q"), "7/7/0")
	p.want(p.usage("r"), "0/7/0")
	p.want(fmt.Sprint(p.Over()), "[{q kueue.x-k8s.io/credits 14 12 2}]")
	p.want(p.commit("x", "x", "q", "a100:1"), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 7, room for -2 of 12, the total would be 21; part of the limit is held for other jobs, or for other items of this one`)
	// What was resolved before is charged by the transformation of now.
	p.want(answered(p.Commit(stale)), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 7, room for 5 of 12, the total would be 14`)
	p.want(answered(p.Commit(staleToo)), "yes")
	var mask vector.Mask
	p.AllocatableBatch(&mask, []*TaskRequest{stale, staleToo})
	p.want(fmt.Sprint(mask.Test(0), mask.Test(1), p.NodeScore(stale, "n")), "false true 0")
	p.EnqueueableBatch(&mask, []*JobRequest{staleJob, p.job("m", "q", "cpu:1", 1)})
	p.want(fmt.Sprint(mask.Test(0), mask.Test(1)), "true true")
	staleFits, _ := p.JobCopies(staleJob)
	p.want(fmt.Sprint(staleFits.Copies), "6")
	p.want(answered(p.CommitAll([]*TaskRequest{stale})), `queue "q": insufficient quota of kueue.x-k8s.io/credits: requested 7, room for 5 of 12, the total would be 14`)
	p.want(answered(p.Reserve(staleJob)), "yes")
	p.want(p.usage("r"), "7/21/0")
	p.want(answered(p.Reserve(staleJob)), "repeat")

	// A snapshot is of its transformation.
	data := p.Snapshot()
	if _, err := Restore(p.cfg, p.Map(), nil, data); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "transformation") {
		t.Error(err)
	}
	cfg := p.cfg
	cfg.Transformation, cfg.Recharge = compiled(t, poolRules), true
	at := p.seq
	l, err := Restore(cfg, nil, cluster(map[string]string{"n": "A:4"}), data)
	if err != nil {
		t.Fatal(err)
	}
	p.Ledger = l
	p.want(fmt.Sprint(p.seq-at), "1")
	data = p.Snapshot()
	l, err = Restore(cfg, nil, cluster(map[string]string{"n": "A:4"}), data) // the same one: no change
	if err != nil || !bytes.Equal(l.Snapshot(), data) {
		t.Error(err)
	}
	p.want(p.usage("q")+" "+p.usage("r"), "4/4/0 4/15/0")
	p.want(fmt.Sprint(p.Over()), "[]")

	// A sum that no ledger can hold changes nothing.
	data = p.Snapshot()
	if _, err := p.SetTransformation(compiled(t, "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 9007199254740991}}]")); !errors.Is(err, ErrOverflow) {
		t.Error(err)
	}
	if !bytes.Equal(data, p.Snapshot()) {
		t.Error("a refused transformation changed something")
	}
	if _, err := p.SetTransformation(nil); err != nil {
		t.Fatal(err)
	}
	p.want(p.usage("q")+" "+p.usage("r"), "0/0/0 0/7/0")
}

// TestSetTransformationAfterEnd: the min of a job doesn't grow again with what ended tasks had
// of it, however much of them that was.
func TestSetTransformationAfterEnd(t *testing.T) {
	half := "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 2}}]"
	for _, c := range []struct{ name, second, before, same, half string }{
		{"covered", "a100:1", "4/0/0", "4/0/0", "2/0/0"},
		{"covered in part", "a100:1 t4:2", "4/0/0", "4/0/0", "2/2/0"}, // the rest of the min is no pod's, and stays 4
		{"covered in part, and larger", "a100:2", "4/0/0", "4/0/0", "2/2/0"},
		{"without a charge", "cpu:1", "4/4/0", "4/4/0", "2/2/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := poolOf(t, Config{}, queueOfCredits("q", "100"))
			p.want(p.reserve("j", "q", "a100:1", 2), "yes")
			p.want(p.commit("first", "j", "q", "a100:1"), "yes")
			p.want(p.commit("second", "j", "q", c.second), "yes")
			p.Release("second")
			p.want(p.usage("q"), c.before)
			for text, want := range map[string]string{poolRules: c.same, half: c.half} {
				again, err := Restore(p.cfg, nil, cluster(map[string]string{"n": "A:4"}), p.Snapshot())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := again.SetTransformation(compiled(t, text)); err != nil {
					t.Fatal(err)
				}
				(&pool{t, again, p.cfg}).want((&pool{t, again, p.cfg}).usage("q"), want)
			}
		})
	}

	p := poolOf(t, Config{}, queueOfCredits("q", "100"))
	p.want(p.reserve("j", "q", "a100:1", 1), "yes")
	p.want(p.commit("first", "j", "q", "a100:1"), "yes")
	p.want(p.commit("beyond", "j", "q", "a100:1"), "yes")
	p.Release("beyond") // the min is still that of one pod
	if _, err := p.SetTransformation(compiled(t, half)); err != nil {
		t.Fatal(err)
	}
	p.want(p.usage("q"), "2/0/0")
}

// TestSetTransformationAfterEndWithout is TestSetTransformationAfterEnd where the ended task
// had no outputs: what the min covered of its cards tells, or of its cpu, or how many like it
// there are.
func TestSetTransformationAfterEndWithout(t *testing.T) {
	for _, c := range []struct{ each, ends, want string }{
		{"A:1 a100:1", "beyond", "4/0/0"},
		{"A:1 a100:1", "first", "4/0/4"},    // the min was its
		{"cpu:1 a100:1", "beyond", "4/0/0"}, // the job has no min of cpu
		{"cpu:1 a100:1", "first beyond", "0/0/0"},
		{"a100:1", "beyond", "4/0/0"},
		{"a100:1", "first", "4/0/4"},
	} {
		t.Run(c.each+" "+c.ends, func(t *testing.T) {
			p := poolOf(t, Config{Transformation: compiled(t, "transformations: []")},
				QueueSpec{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A":4}`}, Capability: amountsOf("credits:10")})
			task := func(id string) Task {
				pod := podOfRequests(strings.ReplaceAll(c.each, "A:1", "nvidia.com/gpu:1"))
				if strings.HasPrefix(c.each, "A:") {
					pod.Annotations = map[string]string{NameAnnotation: "A"}
				}
				return Task{ID: id, Job: "j", Queue: "q", Pod: pod}
			}
			job, _, err := p.ResolveJob(Job{ID: "j", Queue: "q", Tasks: []Task{task("x")}})
			if err != nil {
				t.Fatal(err)
			}
			p.want(answered(p.Reserve(job)), "yes")
			for _, id := range []string{"first", "beyond"} {
				r, _, err := p.ResolveTask(task(id))
				if err != nil {
					t.Fatal(err)
				}
				p.want(answered(p.Commit(r)), "yes")
			}
			p.Release(strings.Fields(c.ends)...)
			if _, err := p.SetTransformation(compiled(t, poolRules)); err != nil {
				t.Fatal(err)
			}
			p.want(p.usage("q"), c.want)
		})
	}
}

// TestSetTransformationOtherPods: Resize and Reconcile take over the tasks that make a min,
// also where it is as large as before.
func TestSetTransformationOtherPods(t *testing.T) {
	dear := "transformations: [{input: nvidia.com/t4, outputs: {kueue.x-k8s.io/credits: 2}}, {input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 6}}]"
	fours := func(p *pool) Job {
		var tasks []Task
		for i := range 4 {
			tasks = append(tasks, Task{ID: fmt.Sprint(i), Job: "j", Queue: "q", Pod: podOfRequests("t4:1"), Status: TaskPending})
		}
		return Job{ID: "j", Queue: "q", Tasks: tasks, Phase: PhaseInqueue}
	}
	for name, by := range map[string]func(t *testing.T, p *pool){
		"Resize": func(t *testing.T, p *pool) {
			before, _ := p.Job("j")
			a, err := p.Resize(p.job("j", "q", "t4:1", 4))
			p.want(answered(a, err), "yes")
			if a.Seq != before.Seq+1 {
				t.Errorf("seq %d after %d", a.Seq, before.Seq)
			}
			p.want(answered(p.Resize(p.job("j", "q", "t4:1", 4))), "repeat")
			p.want(answered(p.Reserve(p.job("j", "q", "a100:1", 1))), "repeat") // only Resize takes over
		},
		"Reconcile": func(t *testing.T, p *pool) {
			report, err := p.Reconcile(View{Jobs: []Job{fours(p)}})
			if err != nil || fmt.Sprint(report.Corrected) == "[]" {
				t.Error(err, report)
			}
			if report, err = p.Reconcile(View{Jobs: []Job{fours(p)}}); err != nil || report.Changed {
				t.Error("the same view changed something", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := poolOf(t, Config{}, queueOfCredits("q", "50"))
			p.want(p.reserve("j", "q", "a100:1", 1), "yes")
			p.want(answered(p.Reserve(p.job("j", "q", "t4:1", 4))), "repeat")
			by(t, p)
			p.want(p.usage("q"), "0/4/0")
			if _, err := p.SetTransformation(compiled(t, dear)); err != nil {
				t.Fatal(err)
			}
			p.want(p.usage("q"), "0/8/0")
		})
	}

	// A min that the caller gave follows the tasks if it is just what they make.
	for min, want := range map[int64]string{4: "0/6/0", 5: "0/5/0"} {
		p := poolOf(t, Config{}, queueOfCredits("q", "50"))
		job := Job{ID: "j", Queue: "q", Tasks: []Task{{ID: "x", Pod: podOfRequests("a100:1")}}, Min: &Min{Outputs: map[corev1.ResourceName]int64{credits: min}}}
		r, _, err := p.ResolveJob(job)
		if err != nil {
			t.Fatal(err)
		}
		explained := 0
		for range r.Explain() {
			explained++
		}
		p.want(answered(p.Reserve(r)), "yes")
		if _, err := p.SetTransformation(compiled(t, dear)); err != nil {
			t.Fatal(err)
		}
		p.want(p.usage("q"), want)
		p.want(fmt.Sprint(explained), map[int64]string{4: "1", 5: "0"}[min])
	}
}

// TestOutputsGrow: what is there is charged in an output that the map gets later.
func TestOutputsGrow(t *testing.T) {
	cfg := Config{MissingUnlimited: true, Transformation: compiled(t, poolRules)}
	m, err := NewMap([]string{"A"}, credits)
	if err != nil {
		t.Fatal(err)
	}
	queues := func(m *vectormap.ResourceVectorMap, limits string) []Queue {
		q, _, err := cfg.BuildQueue(m, QueueSpec{Name: "q", Capability: amountsOf(limits)})
		if err != nil {
			t.Fatal(err)
		}
		return []Queue{q}
	}
	l, err := New(cfg, m, cluster(map[string]string{"n": "A:4"}), queues(m, "credits:9"))
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{t, l, cfg}
	p.want(p.reserve("j", "q", "mig:1", 2), "yes")
	p.want(p.commit("0", "j", "q", "mig:1"), "yes")
	if _, err := p.Reconcile(View{Partial: true, Jobs: []Job{{ID: "w", Queue: "q", Tasks: []Task{{ID: "waits", Pod: podOfRequests("mig:1"), Status: TaskPending}}}}}); err != nil {
		t.Fatal(err)
	}
	early, job := p.task("0", "j", "q", "mig:1"), p.job("j", "q", "mig:1", 2)

	wide, err := p.ExtendMap(nil, accelerator)
	if err != nil {
		t.Fatal(err)
	}
	before := p.Snapshot()
	if _, _, err := p.SetQueues([]Queue{{Name: "q", Parent: "ghost"}}, wide); err == nil || !bytes.Equal(before, p.Snapshot()) {
		t.Error("a refused tree changed something", err)
	}
	if _, _, err := p.SetQueues(queues(wide, "credits:9 example.com/accelerator-memory:9Gi"), wide); err != nil {
		t.Fatal(err)
	}
	s, _ := p.Queue("q")
	u := s.Output(accelerator)
	p.want(fmt.Sprintf("%d/%d/%d", u.Allocated>>30, u.Inqueue>>30, u.Request>>30), "5/5/10")
	p.want(fmt.Sprint(p.Over()), fmt.Sprintf("[{q %s %d %d %d}]", accelerator, int64(10)<<30, int64(9)<<30, int64(1)<<30))
	p.want(answered(p.Commit(early)), "repeat")
	p.want(answered(p.Reserve(job)), "repeat")
	p.want(p.commit("x", "x", "q", "mig:1"), `queue "q": insufficient quota of example.com/accelerator-memory: requested 5368709120, room for -1073741824 of 9663676416, the total would be 16106127360; part of the limit is held for other jobs, or for other items of this one`)
	again, err := Restore(cfg, nil, cluster(map[string]string{"n": "A:4"}), p.Snapshot())
	if err != nil || !bytes.Equal(again.Snapshot(), p.Snapshot()) {
		t.Error(err)
	}

	// A sum that no ledger can hold changes nothing.
	most := amountsOf("huge:9007199254740991")
	for _, id := range []string{"one", "two"} {
		r, _, err := p.ResolveTask(Task{ID: id, Job: id, Queue: "q", Request: most})
		if err != nil {
			t.Fatal(err)
		}
		p.want(answered(p.Commit(r)), "yes")
	}
	if wide, err = p.ExtendMap(nil, "huge"); err != nil {
		t.Fatal(err)
	}
	before = p.Snapshot()
	for name, grow := range map[string]func() error{
		"SetQueues":  func() error { _, _, err := p.SetQueues(queues(wide, "credits:9"), wide); return err },
		"SetCatalog": func() error { _, err := p.SetCatalog(cluster(map[string]string{"n": "A:4"}), wide); return err },
		"Declare":    func() error { _, err := p.Declare(nil, wide); return err },
	} {
		if err := grow(); !errors.Is(err, ErrOverflow) || !strings.Contains(err.Error(), `job "two": 9007199254740991 of huge`) {
			t.Error(name, err)
		}
	}
	if !bytes.Equal(before, p.Snapshot()) {
		t.Error("a refused map changed something")
	}
	p.Release("two")
	if _, err := p.Declare(nil, wide); err != nil {
		t.Error(err)
	}
	s, _ = p.Queue("q")
	p.want(fmt.Sprint(s.Output("huge").Allocated, s.Output("ghost")), fmt.Sprint(int64(9007199254740991), Usage{Output: "ghost"}))
}

// TestOutputsGrowKeeps: an output more changes no charge in those that there were.
func TestOutputsGrowKeeps(t *testing.T) {
	grow := func(p *pool) {
		wide, err := p.ExtendMap(nil, "more")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Declare(nil, wide); err != nil {
			t.Error(err)
		}
	}
	p := poolOf(t, Config{}, QueueSpec{Name: "q"}, QueueSpec{Name: "r"})
	for _, queue := range []string{"q", "r"} { // no queue has the sum of both
		r, _, err := p.ResolveTask(Task{ID: queue, Job: queue, Queue: queue, Request: amountsOf("credits:9007199254740991")})
		if err != nil {
			t.Fatal(err)
		}
		p.want(answered(p.Commit(r)), "yes")
	}
	grow(p)

	p = poolOf(t, Config{}, queueOfCredits("q", "9"))
	p.want(p.commit("0", "j", "q", "a100:1"), "yes")
	if _, err := p.Reconcile(View{Partial: true, Tasks: []Task{{ID: "w", Job: "j", Queue: "q", Pod: podOfRequests("a100:1"), Status: TaskPending}}}); err != nil {
		t.Fatal(err)
	}
	restored := func(was, is string) *pool {
		text := strings.ReplaceAll(string(p.Snapshot()), was, is)
		if text == string(p.Snapshot()) {
			t.Fatal(was, text)
		}
		l, err := Restore(p.cfg, nil, cluster(map[string]string{"n": "A:4"}), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &pool{t, l, p.cfg}
	}
	dear := restored(`"milli":4`, `"milli":5`) // more than its requests make
	grow(dear)
	dear.want(dear.usage("q"), "5/0/0")
	unknown := restored(`"requests":{"nvidia.com/a100":"1"},`, "")
	if _, err := unknown.SetTransformation(compiled(t, "transformations: []")); err != nil {
		t.Fatal(err)
	}
	unknown.want(unknown.usage("q"), "4/0/0")
	status, _ := unknown.Queue("q")
	unknown.want(fmt.Sprint(status.Output(credits).Request), "8")
}

// TestOutputsBound: the min of a job with ended tasks is at most what the others make. One that
// is just that follows the transformation, and one that was cut to it does not.
func TestOutputsBound(t *testing.T) {
	for given, want := range map[int64]string{3: "0/3/0", 4: "0/0/0", 5: "0/4/0"} {
		p := poolOf(t, Config{}, queueOfCredits("q", "9"))
		job := Job{ID: "j", Queue: "q", Phase: PhaseInqueue, Min: &Min{Outputs: map[corev1.ResourceName]int64{credits: given}}, Tasks: []Task{
			{ID: "0", Pod: podOfRequests("t4:1"), Status: TaskSucceeded},
			{ID: "1", Pod: podOfRequests("a100:1"), Status: TaskPending},
		}}
		if _, err := p.Reconcile(View{Jobs: []Job{job}}); err != nil {
			t.Fatal(err)
		}
		p.want(p.usage("q"), fmt.Sprintf("0/%d/0", min(given, 4)))
		if _, err := p.SetTransformation(compiled(t, "transformations: []")); err != nil {
			t.Fatal(err)
		}
		p.want(p.usage("q"), want)
	}
}

// TestOutputsFirst: what was charged while the ledger had no outputs isn't known until a view
// has it, even if it requests nothing.
func TestOutputsFirst(t *testing.T) {
	cfg := Config{MissingUnlimited: true, Transformation: compiled(t, poolRules)}
	m, err := NewMap([]string{"A"})
	if err != nil {
		t.Fatal(err)
	}
	q, _, err := cfg.BuildQueue(m, QueueSpec{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A":4}`}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(cfg, m, cluster(map[string]string{"n": "A:4"}), []Queue{q})
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{t, l, cfg}
	task := func(id string) Task {
		pod := podOfRequests("nvidia.com/gpu:1 a100:1")
		pod.Annotations = map[string]string{NameAnnotation: "A"}
		return Task{ID: id, Job: "j", Queue: "q", Pod: pod, Status: TaskRunning, Node: "n"}
	}
	empty := Task{ID: "empty", Job: "e", Queue: "q", Cards: []Item{}, Status: TaskRunning, Node: "n"}
	job := func() *JobRequest {
		r, _, err := p.ResolveJob(Job{ID: "j", Queue: "q", Tasks: []Task{task("0"), task("1")}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p.want(answered(p.Reserve(job())), "yes")
	for _, task := range []Task{task("0"), empty} {
		r, _, err := p.ResolveTask(task)
		if err != nil {
			t.Fatal(err)
		}
		p.want(answered(p.Commit(r)), "yes")
	}
	wide, err := p.ExtendMap(nil, credits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Declare(nil, wide); err != nil {
		t.Fatal(err)
	}
	p.want(p.usage("q"), "0/0/0")
	p.want(answered(p.Resize(job())), "yes")
	p.want(p.usage("q"), "0/8/0")
	p.Release("0") // what it was charged is not known
	if text := string(p.Snapshot()); !strings.Contains(text, `"pods":[{"pods":2,`) || strings.Contains(text, `{"pods":-1`) {
		t.Error(text)
	}
	if report, err := p.Reconcile(View{Tasks: []Task{empty}, Partial: true}); err != nil || !report.Changed {
		t.Error("what the task requests was not taken over", err, report)
	}
	if text := string(p.Snapshot()); !strings.Contains(text, `"requests":{}`) {
		t.Error(text)
	}
	if report, err := p.Reconcile(View{Jobs: []Job{{ID: "j", Queue: "q", Phase: PhaseInqueue, Tasks: []Task{task("1")}}}, Tasks: []Task{empty}}); err != nil {
		t.Error(err, report)
	}
	p.want(p.usage("q"), "4/0/0")
}

// both rules make two outputs of an A100, of which the second comes first by name.
const bothRules = "transformations: [{input: nvidia.com/a100, strategy: Replace, outputs: {kueue.x-k8s.io/credits: 4, example.com/accelerator-memory: 7}}]"

// TestOutputsOrder: in whatever order the map got its outputs, requests are the same before and
// after another transformation, more outputs and a restart.
func TestOutputsOrder(t *testing.T) {
	cfg := Config{MissingUnlimited: true, Transformation: compiled(t, bothRules)}
	m, err := NewMap([]string{"A"}, credits)
	if err != nil {
		t.Fatal(err)
	}
	q, _, err := cfg.BuildQueue(m, queueOfCredits("q", "100"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(cfg, m, cluster(map[string]string{"n": "A:4"}), []Queue{q})
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{t, l, cfg}
	job, task := p.job("j", "q", "a100:1", 2), p.task("t", "j", "q", "a100:1")
	p.want(answered(p.Reserve(job))+" "+answered(p.Commit(task)), "yes yes")
	repeats := func() {
		t.Helper()
		p.want(answered(p.Reserve(job))+" "+answered(p.Resize(job))+" "+answered(p.Commit(task)), "repeat repeat repeat")
		p.want(p.reserve("j", "q", "a100:1", 2)+" "+p.commit("t", "j", "q", "a100:1"), "repeat repeat")
	}
	before := p.Snapshot()
	wide, err := p.ExtendMap(nil, accelerator)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Declare(nil, wide); err != nil {
		t.Fatal(err)
	}
	repeats()
	for _, text := range []string{poolRules, bothRules} {
		if _, err := p.SetTransformation(compiled(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	repeats()

	view := View{Partial: true, Tasks: []Task{{ID: "t", Job: "j", Queue: "q", Pod: podOfRequests("a100:1"), Status: TaskRunning, Node: "n"}}}
	if _, err := p.Reconcile(view); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*vectormap.ResourceVectorMap{nil, wide} { // nil: outputs by name
		again, err := Restore(cfg, m, cluster(map[string]string{"n": "A:4"}), p.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		if report, err := again.Reconcile(view); err != nil || report.Changed {
			t.Error("the same view changed something", err)
		}
		r, _, err := again.ResolveTask(Task{ID: "t", Job: "j", Queue: "q", Pod: podOfRequests("a100:1")})
		if err != nil {
			t.Fatal(err)
		}
		p.want(answered(again.Commit(r)), "repeat")
	}

	// A map with more outputs than the snapshot: all is charged in these, too.
	again, err := Restore(cfg, wide, cluster(map[string]string{"n": "A:4"}), before)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := again.Queue("q")
	p.want(fmt.Sprint(s.Output(accelerator).Allocated, s.Output(accelerator).Inqueue), "7 7")
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
	m, err := NewMap(cards, credits, accelerator)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{MissingUnlimited: true, Transformation: compiled(t, bothRules)}
	q, _, err := cfg.BuildQueue(m, QueueSpec{Name: "q", Cards: capability})
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(cfg, m, nil, []Queue{q})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Declare(known, nil); err != nil {
		t.Fatal(err)
	}
	p := &pool{t, l, cfg}
	job := Job{ID: "j", Queue: "q"}
	for i, card := range cards {
		job.Tasks = append(job.Tasks, Task{ID: fmt.Sprint(i), Job: "j", Queue: "q", Pod: podOfRequests("a100:1"), Cards: []Item{{Alternatives: []string{card}, Milli: 1000}}})
	}
	r, _, err := p.ResolveJob(job)
	if err != nil {
		t.Fatal(err)
	}
	p.want(answered(p.Reserve(r)), "yes")
	task, _, err := p.ResolveTask(job.Tasks[maxJobItems-1])
	if err != nil {
		t.Fatal(err)
	}
	p.want(answered(p.Commit(task)), "yes")
	p.want(p.usage("q"), "4/252/0")
	again, err := Restore(cfg, nil, nil, p.Snapshot())
	if err != nil || !bytes.Equal(again.Snapshot(), p.Snapshot()) {
		t.Error(err)
	}
}

// TestOutputsOfNothing: a task that requests nothing is known to do so, after a restart as well.
func TestOutputsOfNothing(t *testing.T) {
	p := poolOf(t, Config{}, QueueSpec{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A":4}`}})
	claim := func(id string) Task {
		return Task{ID: id, Job: "j", Queue: "q", Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}, Status: TaskRunning, Node: "n"}
	}
	view := View{Jobs: []Job{{ID: "j", Queue: "q", Phase: PhaseInqueue, Tasks: []Task{claim("0"), claim("1")}}}}
	if _, err := p.Reconcile(view); err != nil {
		t.Fatal(err)
	}
	again, err := Restore(p.cfg, nil, cluster(map[string]string{"n": "A:4"}), p.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Ledger{p.Ledger, again} {
		l.Release("0")
		left := View{Jobs: []Job{{ID: "j", Queue: "q", Phase: PhaseInqueue, Tasks: []Task{claim("1")}}}}
		if report, err := l.Reconcile(left); err != nil || report.Changed {
			t.Error("the view of what is there changed something", err, report)
		}
	}
}

// TestOutputsWithoutHolds: the min of a job that keeps no holds is made of the pods that it
// covers, and a task beyond it isn't one of them.
func TestOutputsWithoutHolds(t *testing.T) {
	for _, first := range []string{"transformations: []", poolRules} {
		quota := QueueSpec{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A":4}`}, Capability: amountsOf("credits:50")}
		p := poolOf(t, Config{Transformation: compiled(t, first)}, quota)
		view := func(pods ...string) {
			job := Job{ID: "j", Queue: "q", Phase: PhaseUnknown}
			for i, requests := range pods {
				job.Tasks = append(job.Tasks, Task{ID: fmt.Sprint(i), Pod: podOfRequests(requests), Status: TaskRunning, Node: "n"})
			}
			if _, err := p.Reconcile(View{Jobs: []Job{job}}); err != nil {
				t.Fatal(err)
			}
			if report, err := p.Reconcile(View{Jobs: []Job{job}}); err != nil || report.Changed {
				t.Error("the same view changed something", err)
			}
		}
		view("t4:1")
		view("t4:5")
		view("t4:5", "t4:1")
		if _, err := p.SetTransformation(compiled(t, poolRules)); err != nil {
			t.Fatal(err)
		}
		p.want(p.usage("q"), "6/0/0")

		// The first of two tasks is the min's; Expire leaves what is charged of it.
		p = poolOf(t, Config{Transformation: compiled(t, first)}, quota)
		pod := func(id string) Task {
			return Task{ID: id, Job: "k", Queue: "q", Pod: podOfRequests("a100:1"), Cards: []Item{{Alternatives: []string{"A"}, Milli: 1000}}}
		}
		job, _, err := p.ResolveJob(Job{ID: "k", Queue: "q", Tasks: []Task{pod("x"), {ID: "later", Pod: podOfRequests("cpu:1")}}, MinResources: amountsOf("cpu:1")})
		if err != nil {
			t.Fatal(err)
		}
		p.want(answered(p.Reserve(job)), "yes")
		for _, id := range []string{"0", "1"} {
			task, _, err := p.ResolveTask(pod(id))
			if err != nil {
				t.Fatal(err)
			}
			p.want(answered(p.Commit(task)), "yes")
		}
		if expired, _ := p.Expire(p.seq + 1); len(expired) != 1 {
			t.Error(expired)
		}
		if _, err := p.SetTransformation(compiled(t, poolRules)); err != nil {
			t.Fatal(err)
		}
		p.want(p.usage("q"), "8/0/4")
	}
}

// TestOutputsOfWaiting: a task that waits stops nobody from changing the transformation.
func TestOutputsOfWaiting(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "50"))
	huge := Task{ID: "huge", Job: "j", Queue: "q", Pod: podOfRequests("other:9007199254740992"), Status: TaskPending}
	if _, err := p.Reconcile(View{Partial: true, Tasks: []Task{huge}}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.SetTransformation(compiled(t, "transformations: [{input: other, outputs: {kueue.x-k8s.io/credits: 4}}]")); err != nil {
		t.Error(err)
	}
	p.want(fmt.Sprint(len(p.waiting)), "0")
}

// TestRestoreBrokenPods: what no ledger can have of the pods of a min.
func TestRestoreBrokenPods(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "50"))
	p.want(p.reserve("j", "q", "a100:1", 2), "yes")
	p.want(p.commit("0", "j", "q", "a100:1"), "yes")
	text := string(p.Snapshot())
	for _, c := range []struct{ was, is, want string }{
		{`"nvidia.com/a100":"1"`, `"nvidia.com/a100":"-1"`, `nvidia.com/a100 is "-1": want 0 or more`},
		{`"nvidia.com/a100":"1"`, `"":"1"`, `requests has ""`},
		{`"pods":2`, `"pods":0`, `pods is 0`},
		{`{"pods":2,"requests":{"nvidia.com/a100":"1"}}`, `{"pods":2,"requests":{"nvidia.com/a100":"1"}},{"pods":1,"requests":{"nvidia.com/a100":"1000m"}}`, `are there twice`},
		{`"seq":2,"tasks"`, `"seq":4503599627370496,"tasks"`, `want less than 2^52`},
	} {
		broken := strings.Replace(text, c.was, c.is, 1)
		if broken == text {
			t.Fatal(c.was, text)
		}
		if _, err := Restore(p.cfg, nil, cluster(map[string]string{"n": "A:4"}), []byte(broken)); !errors.Is(err, ErrSnapshot) && !errors.Is(err, ErrEmptyID) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", c.is, err)
		}
	}
	p = poolOf(t, Config{Transformation: compiled(t, "transformations: []")}, queueOfCredits("q", "50"))
	p.want(p.reserve("j", "q", "a100:1", 1), "yes") // nothing yet
	p.want(p.commit("0", "j", "q", "a100:1"), "yes")
	broken := strings.Replace(string(p.Snapshot()), `"reserved":true`, `"reserved":false`, 1)
	if _, err := Restore(p.cfg, nil, cluster(map[string]string{"n": "A:4"}), []byte(broken)); !errors.Is(err, ErrSnapshot) || !strings.Contains(err.Error(), "the job isn't reserved") {
		t.Error(err)
	}
}

// TestOutputsReconcile: what runs is charged what it requests.
func TestOutputsReconcile(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "6"))
	view := View{Jobs: []Job{{
		ID: "j", Queue: "q", Phase: PhaseInqueue,
		Tasks: []Task{
			{ID: "0", Pod: podOfRequests("a100:1"), Status: TaskRunning, Node: "n"},
			{ID: "1", Pod: podOfRequests("a100:1"), Status: TaskPending},
		},
	}}}
	report, err := p.Reconcile(view)
	if err != nil || len(report.Failed) > 0 {
		t.Fatal(err, report.Failed)
	}
	p.want(p.usage("q"), "4/4/0")
	p.want(fmt.Sprint(report.Over), "[{q kueue.x-k8s.io/credits 8 6 2}]")
	s, _ := p.Queue("q")
	p.want(fmt.Sprint(s.Outputs[1].Request), "8")
	if report, err = p.Reconcile(view); err != nil || report.Changed {
		t.Error("the same view changed something", err)
	}
	view.Jobs[0].Tasks[0].Pod = podOfRequests("t4:1")
	if report, err = p.Reconcile(view); err != nil || len(report.Corrected) == 0 {
		t.Error(err, report)
	}
	p.want(p.usage("q"), "1/4/0")
	view.Jobs[0].Tasks[0].Status = TaskSucceeded
	if _, err = p.Reconcile(view); err != nil {
		t.Error(err)
	}
	p.want(p.usage("q"), "0/4/0")
	view.Jobs[0].Tasks[0] = Task{ID: "0", Pod: podOfRequests("a100:-1"), Status: TaskRunning}
	if report, err = p.Reconcile(view); err != nil || len(report.Failed) != 2 {
		t.Error(err, report.Failed)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

// outputsAgree checks that what tasks are charged and jobs need is what the transformation
// makes of what they request.
func (p *pool) outputsAgree(by *transform.Transformation, requests map[string]string, jobs map[string]string) {
	p.Helper()
	charged := func(requests string) int64 {
		of, err := transform.Charge(by.Apply(amountsOf(requests)), 1)
		if err != nil {
			p.Fatal(err)
		}
		return of[credits]
	}
	want := map[string]int64{}
	for id, text := range requests {
		if t := p.tasks[id]; t != nil {
			want[t.job] += charged(text)
		}
	}
	for id := range jobs {
		status, ok := p.Job(id)
		if !ok {
			continue
		}
		if got := status.Charged.Outputs[credits]; got != want[id] {
			p.Fatalf("job %s is charged %d, want %d", id, got, want[id])
		}
	}
	if err := p.Check(); err != nil {
		p.Fatal(err)
	}
}

// TestOutputsRandom: random operations under changing transformations. What is charged is
// always what the present one makes of the requests, also after a restore.
func TestOutputsRandom(t *testing.T) {
	for seed := range uint64(testkit.Amount(t, 20, 60, 600)) {
		r := rand.New(rand.NewPCG(seed, 1))
		rules := func() *transform.Transformation {
			return compiled(t, fmt.Sprintf("transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: %dm}}, {input: cpu, strategy: Retain, outputs: {kueue.x-k8s.io/credits: %d}}]", 500*r.IntN(9), r.IntN(3)))
		}
		by := rules()
		p := poolOf(t, Config{Transformation: by, AnyMix: r.IntN(2) == 1}, queueOfCredits("q", "40"), queueOfCredits("r", "25"))
		requests, jobs := map[string]string{}, map[string]string{}
		var before []byte
		for range 150 {
			n, queue := r.IntN(8), []string{"q", "r"}[r.IntN(2)]
			job := fmt.Sprint("j", n)
			if at, ok := jobs[job]; ok {
				queue = at
			}
			text := fmt.Sprintf("a100:%d cpu:%d", r.IntN(3), r.IntN(3))
			id := fmt.Sprint("t", r.IntN(30))
			var err error
			switch r.IntN(10) {
			case 0, 1:
				if _, err = p.Resize(p.job(job, queue, text, 1+r.IntN(3))); err == nil {
					jobs[job] = queue
				}
			case 2, 3, 4, 5:
				if a, e := p.Commit(p.task(id, job, queue, text)); e == nil && a.OK && !a.Repeat {
					requests[id], jobs[job] = text, queue
				} else if e != nil && !errors.Is(e, ErrConflict) {
					err = e
				}
			case 6:
				p.Release(id)
			case 7:
				p.Rollback(id)
			case 8:
				by = rules()
				_, err = p.SetTransformation(by)
			case 9:
				before = p.Snapshot()
				p.cfg.Transformation = by
				p.Ledger, err = Restore(p.cfg, p.Map(), nil, before)
				if err == nil && !bytes.Equal(before, p.Snapshot()) {
					t.Fatalf("seed %d: restored\n%s\nof\n%s", seed, p.Snapshot(), before)
				}
			}
			if err != nil && !errors.Is(err, ErrConflict) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for job := range jobs {
				if _, ok := p.Job(job); !ok {
					delete(jobs, job)
				}
			}
			p.outputsAgree(by, requests, jobs)
		}
		// There and back again is where it was, but for the order of charges.
		if _, err := p.SetTransformation(by); err != nil {
			t.Fatal(err)
		}
		same := charges(p.Snapshot())
		if _, err := p.SetTransformation(rules()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.SetTransformation(by); err != nil {
			t.Fatal(err)
		}
		var a, b snapshotDoc
		for _, of := range []struct {
			text string
			doc  *snapshotDoc
		}{{same, &a}, {charges(p.Snapshot()), &b}} {
			if err := json.Unmarshal([]byte(of.text), of.doc); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(a.Jobs, b.Jobs) || !reflect.DeepEqual(a.Tasks, b.Tasks) {
			t.Fatalf("seed %d: there and back again:\n%s\nwas\n%s", seed, p.Snapshot(), same)
		}
	}
}

// TestOutputsStale: a request of before a transformation is what resolving it again makes
// it, whatever the transformations refuse.
func TestOutputsStale(t *testing.T) {
	refusals, changes := 0, 0
	for seed := range uint64(testkit.Amount(t, 100, 300, 3000)) {
		r := rand.New(rand.NewPCG(seed, 5))
		oneOf := func(texts ...string) string { return texts[r.IntN(len(texts))] }
		rules := func() *transform.Transformation {
			return compiled(t, fmt.Sprintf("transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: %s}}, {input: cpu, strategy: %s, outputs: {kueue.x-k8s.io/credits: %d, example.com/accelerator-memory: 1Gi}}]\n%s",
				oneOf("500m", "4", "3000000000000000", "-2"), oneOf("Retain", "Replace"), r.IntN(3), oneOf("", "quotaCheckStrategy: BlockUndeclared")))
		}
		p := poolOf(t, Config{Transformation: rules(), AnyMix: r.IntN(2) == 1, UnlimitedCPUMemory: r.IntN(4) == 0},
			QueueSpec{Name: "q", Cards: map[string]int64{"A": 9}, Capability: amountsOf("credits:40")})
		task := func(id string) Task {
			task := Task{ID: id, Job: "j", Queue: "q", Pod: podOfRequests(oneOf("a100:1", "a100:4 cpu:1", "cpu:2", "a100:1 cpu:-1", "cpu:1 example.com/fpga:1", "credits:3 example.com/fpga:0"))}
			if r.IntN(3) == 0 {
				task.Cards = []Item{{Alternatives: strings.Split(oneOf("A", "A|ghost", "ghost"), "|"), Milli: 1000}}
			}
			if r.IntN(4) == 0 {
				task.Node = oneOf("n", "n", "nowhere")
			}
			if r.IntN(4) == 0 {
				task.Request = amountsOf(oneOf("a100:3", "cpu:4"))
			}
			return task
		}
		tasks, job := []Task{task("t0"), task("t1"), task("t2")}, Job{ID: "j", Queue: "q"}
		if job.Tasks = tasks[:r.IntN(4)]; r.IntN(2) == 0 {
			job.MinResources = amountsOf(oneOf("a100:2", "cpu:3", "a100:1 example.com/fpga:1"))
		}
		resolve := func() (list []*TaskRequest, of *JobRequest) {
			for _, task := range tasks {
				r, _, err := p.ResolveTask(task)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, r)
			}
			of, _, err := p.ResolveJob(job)
			if err != nil {
				t.Fatal(err)
			}
			return list, of
		}
		text := func(list []*TaskRequest, of *JobRequest) (all string) {
			for _, r := range list {
				r = p.current(r)
				if all += fmt.Sprintf("%v %q %v %v\n", r.Need(), r.Invalid(), r.bound, len(r.sources)); r.Invalid() != "" {
					refusals++
				}
			}
			of = p.currentJob(of)
			_, fault, ofTask := strings.Cut(of.Invalid(), `": `) // which task was at fault isn't kept
			if !ofTask {
				fault = of.Invalid()
			}
			return all + fmt.Sprintf("%v %q %v", of.Need(), fault, of.min.AnyMix)
		}
		stale, staleJob := resolve()
		for range 4 {
			if _, err := p.SetTransformation(rules()); err != nil {
				t.Fatal(err)
			}
			got, want := text(stale, staleJob), text(resolve())
			if got != want {
				t.Fatalf("seed %d:\n%s\nresolved again\n%s", seed, got, want)
			}
			if again, againJob := resolve(); r.IntN(2) == 0 {
				stale, staleJob = again, againJob
				changes++
			}
		}
	}
	if refusals < 100 || changes < 100 {
		t.Errorf("%d refusals, %d changes", refusals, changes)
	}
}

// TestOutputsHostile: many goroutines, transformations that change, views and restores.
func TestOutputsHostile(t *testing.T) {
	p := poolOf(t, Config{}, queueOfCredits("q", "40"), queueOfCredits("r", "25"))
	rules := []*transform.Transformation{
		compiled(t, poolRules), compiled(t, "transformations: [{input: nvidia.com/a100, outputs: {kueue.x-k8s.io/credits: 3}}]"), nil,
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 2))
			var stale []*TaskRequest
			for i := range testkit.Amount(t, 300, 1000, 10_000) {
				job, queue := fmt.Sprint("j", r.IntN(9)), []string{"q", "r"}[r.IntN(2)]
				task := p.task(fmt.Sprint("t", r.IntN(40)), job, queue, fmt.Sprintf("a100:%d t4:%d", r.IntN(3), r.IntN(3)))
				if stale = append(stale, task); r.IntN(2) == 0 {
					task = stale[r.IntN(len(stale))]
				}
				switch r.IntN(9) {
				case 0:
					_, _ = p.Reserve(p.job(job, queue, "a100:1", 1+r.IntN(3)))
				case 1, 2, 3:
					_, _ = p.Commit(task)
				case 4:
					_, _ = p.CommitAll([]*TaskRequest{task, stale[0]})
				case 5:
					p.Release(task.ID())
				case 6:
					if _, err := p.Reconcile(View{Partial: true, Tasks: []Task{{ID: task.ID(), Job: job, Queue: queue, Pod: podOfRequests("t4:2"), Status: TaskRunning}}}); err != nil && !errors.Is(err, ErrConflict) {
						t.Error(err)
					}
				case 7:
					if _, err := p.SetTransformation(rules[r.IntN(len(rules))]); err != nil {
						t.Error(err)
					}
				case 8:
					data := p.Snapshot()
					cfg := p.cfg
					cfg.Transformation, cfg.Recharge = rules[r.IntN(len(rules))], true
					if again, err := Restore(cfg, nil, nil, data); err != nil || again.Check() != nil {
						t.Error(err)
					}
				}
				if err := p.Check(); i%10 == 0 && err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if _, err := p.SetTransformation(rules[0]); err != nil {
		t.Fatal(err)
	}
	charged := int64(0)
	for _, task := range p.tasks {
		of, err := transform.Charge(rules[0].Apply(task.requests), 1)
		if err != nil {
			t.Fatal(err)
		}
		charged += of[credits]
	}
	var sum int64
	for _, queue := range []string{"q", "r"} {
		s, _ := p.Queue(queue)
		sum += s.Outputs[1].Allocated
	}
	p.want(fmt.Sprint(sum), fmt.Sprint(charged))
}
