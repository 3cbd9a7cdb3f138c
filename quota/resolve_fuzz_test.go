package quota

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// hostilePod makes a pod of a seed: any number of containers of any kind, amounts
// from a list and from the fuzzer.
func hostilePod(rng *rand.Rand, cards, quantity string) *corev1.Pod {
	amounts := []string{"0", "1", "2", "4", "1500m", "1n", "-1", "9007199254740", "9007199254741", "9E", "1e18", quantity}
	names := []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "nvidia.com/other", "pods", ""}
	list := func() corev1.ResourceList {
		list := corev1.ResourceList{}
		for range rng.IntN(4) {
			text := amounts[rng.IntN(len(amounts))]
			if rng.IntN(3) > 0 {
				text = amounts[rng.IntN(4)]
			}
			if q, ok := podQuantity(text); ok {
				list[names[rng.IntN(len(names))]] = q
			}
		}
		return list
	}
	always := corev1.ContainerRestartPolicyAlways
	containers := func() (containers []corev1.Container) {
		for range rng.IntN(3) {
			c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(), Limits: list()}}
			if rng.IntN(3) == 0 {
				c.RestartPolicy = &always
			}
			containers = append(containers, c)
		}
		return containers
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: containers(), InitContainers: containers()}}
	if rng.IntN(3) == 0 {
		pod.Spec.Overhead = list()
	}
	if rng.IntN(3) == 0 {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: list(), Limits: list()}
	}
	if rng.IntN(4) == 0 {
		pod.Spec.NodeName = []string{"a", "h", "both", "gone"}[rng.IntN(4)]
	}
	if rng.IntN(4) > 0 {
		pod.Annotations = map[string]string{NameAnnotation: cards}
	}
	if rng.IntN(5) == 0 {
		pod.Spec.SchedulingGates = make([]corev1.PodSchedulingGate, 1)
	}
	pod.Status.Phase = []corev1.PodPhase{"", "Running", "Succeeded", "Failed", "?"}[rng.IntN(5)]
	return pod
}

// podQuantity parses an amount, unless the parser itself takes minutes: where there
// is a long exponent and more than one digit before it.
func podQuantity(text string) (resource.Quantity, bool) {
	if digits, exponent, ok := strings.Cut(strings.ToUpper(text), "E"); ok && len(exponent) > 4 {
		if len(digits) != 1 || exponent[0] == '-' {
			return resource.Quantity{}, false
		}
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// sound checks what holds for every need: amounts in range, no card in two items
// of a task, nothing in an invalid one.
func sound(need Min, invalid string, disjoint bool) error {
	seen := map[string]bool{}
	if invalid != "" && (need.CPU != 0 || need.Memory != 0 || need.Items != nil || need.Outputs != nil) {
		return fmt.Errorf("invalid, but %v", need)
	}
	for _, amount := range []int64{need.CPU, need.Memory, need.Outputs[credits]} {
		if amount < 0 || amount >= limitExact {
			return fmt.Errorf("amount %d", amount)
		}
	}
	for _, it := range need.Items {
		if it.Milli <= 0 || it.Milli >= limitExact || it.Unit <= 0 || it.Unit != defaultUnit && it.Milli%it.Unit != 0 || len(it.Alternatives) == 0 {
			return fmt.Errorf("item %v", it)
		}
		for _, card := range it.Alternatives {
			if disjoint && seen[card] {
				return fmt.Errorf("%s is in two items", card)
			}
			seen[card] = true
		}
	}
	return nil
}

func FuzzResolve(f *testing.F) {
	for _, cards := range []string{"A100", "A100|H100", "Ghost", " |A100||H100|A100", "M|A100", "X|Y", "X", strings.Repeat("A|", 99), "\xff|\x00"} {
		for _, request := range []string{"", `{"A100":2,"A100|H100":1}`, `{"A100":-1}`, `{"A100|Ghost":9007199254740,"A100":9007199254740}`, `{"A100":2.5}`, "null", "{"} {
			f.Add(uint64(len(cards)*len(request)), uint8(len(request)), cards, request, "1e9999")
		}
	}
	for seed := range uint64(8) {
		f.Add(seed, uint8(0), "A100", "", "1e99999999")
	}
	f.Fuzz(func(t *testing.T, seed uint64, options uint8, cards, request, quantity string) {
		if len(cards) <= 1<<12 && len(request) <= 1<<12 && len(quantity) <= 40 {
			resolveHostile(t, seed, options, cards, request, quantity)
		}
	})
}

// The fuzzer's inputs reach every outcome.
func TestResolveHostile(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(1536) {
		cards := []string{"A100", "A100|H100", "H100|X|Ghost", "M|A100"}[seed%4]
		for _, outcome := range resolveHostile(t, seed, uint8(seed/4), cards, `{"A100":2,"A100|H100":1}`, "3") {
			outcomes[outcome]++
		}
	}
	t.Log(outcomes)
	for _, outcome := range []string{"job invalid", "job reserved", "job refused", "task invalid", "task charged", "task refused"} {
		if outcomes[outcome] < 40 {
			t.Errorf("%s: %d times", outcome, outcomes[outcome])
		}
	}
}

// resolveHostile resolves a job of random pods and carries it out, and returns what
// came of it.
func resolveHostile(t *testing.T, seed uint64, options uint8, cards, request, quantity string) (outcomes []string) {
	t.Helper()
	cfg := Config{
		Unnamed: []UnnamedPolicy{"", UnnamedRefuse, UnnamedIgnore}[options%3], AnyMix: options>>2%2 == 1, FailToZero: options>>3%2 == 1,
		UnlimitedCPUMemory: options>>4%2 == 1,
	}
	w := worldOf(t, cfg, map[string]string{
		"a": "A100:8 M@nvidia.com/mig-1g.5gb:7 X:1 Y:1", "h": "H100:8", "both": "A100:4 H100:4 X@nvidia.com/other:1 Z@nvidia.com/other:2",
	}, "q", [...]string{"cpu:inf mem:3 A100:1 H100:2 M:1 X:1 Y:1", "cpu:inf mem:inf A100:9007199254 H100:9007199254 M:50 X:50 Y:50 Z:50 Quoted:3"}[options>>5%2])
	if options>>6%2 == 1 { // the queue is also limited in an output
		wide := testkit.Must(testMap(sorted(w.dims), credits))
		spec := w.queues["q"].spec
		capability := wide.NewVector()
		for dim, name := range w.m.All() {
			at, _ := wide.Index(name)
			capability[at] = spec.Capability[dim]
		}
		at, _ := outputIndex(wide, credits)
		capability[at], spec.Capability, spec.Guarantee, spec.Deserved = 1000, capability, nil, nil
		cfg.Transformation = compiled(t, "transformations: [{input: nvidia.com/gpu, multiplyBy: pods, outputs: {kueue.x-k8s.io/credits: 2}}, {input: cpu, strategy: Replace, outputs: {kueue.x-k8s.io/credits: -1}}]\nquotaCheckStrategy: "+[]string{"IgnoreUndeclared", "BlockUndeclared"}[options>>7])
		w.Ledger = testkit.Must(newBuilt(cfg, wide, w.source.catalog, []builtQueue{spec}))
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	job := Job{
		ID: "j", Queue: "q", Annotations: map[string]string{RequestAnnotation: request},
		MinResources: hostilePod(rng, "", quantity).Spec.Overhead,
	}
	for i := range rng.IntN(6) {
		task := Task{ID: fmt.Sprint(i), Job: "j", Queue: "q", Pod: hostilePod(rng, cards, quantity), Phase: allTaskPhases[rng.IntN(10)]}
		if rng.IntN(5) == 0 {
			task.Cards = []Item{{[]string{cards}, 1000, 0}, {[]string{"A100", "H100"}, 2000, 0}, {[]string{"A100"}, 500 * rng.Int64N(5), 0}}
		}
		job.Tasks = append(job.Tasks, task)
	}
	r, notes, err := w.resolveJob(job)
	if err != nil {
		t.Fatalf("no error comes of objects: %v", err)
	}
	testkit.Check(sound(r.Need(), r.Invalid(), false))
	again, notes2, _ := w.resolveJob(job)
	if !reflect.DeepEqual(r.min.Items, again.min.Items) || !reflect.DeepEqual(notes, notes2) || r.invalid != again.invalid {
		t.Fatalf("%v, then %v", r, again)
	}
	a, err := w.Reserve(r)
	outcomes = append(outcomes, outcome(t, "job", r.invalid, a, err))
	for _, task := range job.Tasks {
		r, _, err := w.ResolveTask(task)
		if err != nil {
			t.Fatalf("no error comes of objects: %v", err)
		}
		testkit.Check(sound(r.Need(), r.Invalid(), true))
		a, err := w.Commit(r)
		outcomes = append(outcomes, outcome(t, "task", r.invalid, a, err))
		if s := w.NodeScore(r, "both"); s < 0 || s > 100 {
			t.Fatal(s)
		}
		if running, _, err := w.resolveRunning(&task); err != nil {
			t.Fatal(running, err)
		}
	}
	for _, q := range w.queues {
		for dim, c := range q.Cells {
			if c.Allocated < 0 || c.Held < 0 || c.Elastic < 0 || c.Limit != Unlimited && max(c.Allocated, c.Floor()) > c.Limit {
				t.Fatalf("%s: %+v", w.m.Name(dim), c)
			}
		}
	}
	return outcomes
}

// outcome says what came of an operation, and fails if that isn't possible.
func outcome(t *testing.T, what, invalid string, a Answer, err error) string {
	t.Helper()
	failed := a.Refusal.Reason == ReasonGetTaskRequestResourceFailed
	switch {
	case err != nil:
		return what + " error"
	case invalid != "" && failed:
		return what + " invalid"
	case invalid != "" || failed:
		t.Fatalf("%s: %q: %+v", what, invalid, a)
	case !a.OK:
		return what + " refused"
	case what == "job":
		return what + " reserved"
	}
	return what + " charged"
}
