package quota

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Cases that people who run clusters have met.

// TestNoTotals: without totals nothing is limited by them.
func TestNoTotals(t *testing.T) {
	for _, enforce := range []bool{false, true} {
		cfg := Config{EnforceGuarantee: enforce}
		m := testkit.Must(testMap(nil))
		queue := q(m, "q", "cpu:10")
		queue.Deserved, _ = vectorOf(m, "cpu:8")
		for _, catalog := range []Catalog{nil, cluster(nil)} {
			l := testkit.Must(newBuilt(cfg, m, catalog, []builtQueue{queue}))
			w := &world{t, l}
			w.want(w.commit("1", "j", "q", "cpu:6"), "")
			if status, _ := w.Queue("q"); status.Share != 0.75 {
				t.Errorf("share %v", status.Share)
			}
			w.want(w.probe("q", "cpu:4"), "yes")
			w.want(w.probe("q", "cpu:5"), "CPU 4000 of 10000 at q")
		}
	}
}

// TestLeafWithoutQuota: a leaf that says nothing is limited by the queues above it, in what
// they say something of.
func TestLeafWithoutQuota(t *testing.T) {
	w := newWorld(t, Config{}, "org", "cpu:4 A:2", "leaf < org", "", "team < org", "", "deep < team", "", "alone", "")
	for _, queue := range []string{"leaf", "deep"} {
		w.want(w.probe(queue, "cpu:4 A:2"), "yes")
		w.want(w.probe(queue, "A:3"), "Scalar 2000 of 2000 at org")
		w.want(w.probe(queue, "B:1"), "Scalar 0 of 0 at "+queue)
	}
	w.want(w.reserve("j", "leaf", "A:1"), "yes")
	w.want(w.probe("deep", "A:2"), "Scalar 1000 of 2000 at org")
	w.want(w.probe("alone", "A:1"), "Empty")
}

// TestFaultyQuotaNamesCards: a card that a queue names in a faulty entry is known, and the
// refusal says what is wrong.
func TestFaultyQuotaNamesCards(t *testing.T) {
	var cfg Config
	specs := []Queue{{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A100": 4, "H100": "2"}`}}}
	m := testkit.Must(testMap(cfg.namedCards(specs)))
	queue, faults, err := cfg.buildQueue(m, specs[0])
	if err != nil || codes(faults) != "H100 WrongType" {
		t.Fatal(codes(faults), err)
	}
	l := testkit.Must(newBuilt(cfg, m, nil, []builtQueue{queue}))
	job, _, err := l.ResolveJob(Job{ID: "j", Queue: "q", Annotations: asks(`{"H100": 1}`)})
	if err != nil || job.Invalid() != "" {
		t.Fatal(job.Invalid(), err)
	}
	a, err := l.Reserve(job)
	if err != nil || a.OK || a.Refusal.Why != reasonUnreadableQuota || !strings.Contains(a.Refusal.Message(), `entry "H100": the count is "2": want a whole number`) {
		t.Errorf("%s: %s, %v", a.Refusal.Why, a.Refusal.Message(), err)
	}
}

// TestOddQuantities: thousandths of what is counted in whole units are noted, with value and
// unit; more than can be counted is no limit.
func TestOddQuantities(t *testing.T) {
	m := testkit.Must(testMap(nil, "nvidia.com/gpu", "ephemeral-storage"))
	for _, c := range []struct {
		name, amount string
		want         float64
		note         string
	}{
		{"memory", "512m", 0, `quota: capability: resource "memory": the amount is 512m, which is 0 bytes: is the suffix m, for thousandths, meant?`},
		{"nvidia.com/gpu", "500m", 0, `quota: capability: resource "nvidia.com/gpu": the amount is 500m, which is 0 units: is the suffix m, for thousandths, meant?`},
		{"ephemeral-storage", "40m", 0, `quota: capability: resource "ephemeral-storage": the amount is 40m, which is 0 bytes: is the suffix m, for thousandths, meant?`},
		{"cpu", "500m", 500, ""},
		{"memory", "80Gi", 80 << 30, ""},
		{"cpu", "10P", math.Inf(1), `quota: capability: resource "cpu": the amount is 10P, more than can be counted: it is no limit`},
		{"memory", "8Pi", math.Inf(1), `quota: capability: resource "memory": the amount is 8Pi, more than can be counted: it is no limit`},
		{"ephemeral-storage", "1Ei", math.Inf(1), `quota: capability: resource "ephemeral-storage": the amount is 1Ei, more than can be counted: it is no limit`},
		{"memory", fmt.Sprint(Unlimited), math.Inf(1), `quota: capability: resource "memory": the amount is 9223372036854775807, more than can be counted: it is no limit`},
	} {
		queue, notes, err := new(Config).buildQueue(m, Queue{Name: "q", Capability: corev1.ResourceList{corev1.ResourceName(c.name): resource.MustParse(c.amount)}})
		if err != nil {
			t.Errorf("%s: %v", c.amount, err)
			continue
		}
		dim, ok := m.Index(c.name)
		if !ok || c.name == "nvidia.com/gpu" {
			dim, _ = outputIndex(m, corev1.ResourceName(c.name))
		}
		note := ""
		if len(notes) > 0 && notes[0].IsNote() {
			note = notes[0].Error()
		}
		if queue.Capability[dim] != c.want || note != c.note || len(notes) > 1 {
			t.Errorf("%s of %s: %v, %v", c.amount, c.name, queue.Capability[dim], notes)
		}
	}
}

// TestUnlimitedCard: a limit can be left out for one card, however the quota is written.
func TestUnlimitedCard(t *testing.T) {
	m := testkit.Must(testMap([]string{"A", "B"}))
	for _, spec := range []Queue{
		{Cards: map[string]int64{"A": Unlimited, "B": 2}},
		{Cards: map[string]int64{"A": maxCards + 1, "B": 2}},
		{Annotations: map[string]string{QuotaAnnotation: `{"A": 99999999999999999999, "B": 2}`}},
	} {
		spec.Name = "q"
		var cfg Config
		queue, notes, err := cfg.buildQueue(m, spec)
		if err != nil || len(notes) != 1 || !notes[0].IsNote() || !strings.Contains(notes[0].Error(), `entry "A": the amount is `) {
			t.Fatal(notes, err)
		}
		if errs, warnings := cfg.validateBuilt([]builtQueue{queue}, m, cluster(map[string]string{"n": "A:8 B:8"})); len(errs)+len(warnings) > 0 {
			t.Error(errs, warnings)
		}
		l := testkit.Must(newBuilt(cfg, m, cluster(map[string]string{"n": "A:8 B:8"}), []builtQueue{queue}))
		w := &world{t, l}
		w.want(w.reserve("j", "q", "A:1000000"), "yes")
		w.want(w.probe("q", "B:3"), "Scalar 2000 of 2000 at q")
		status, _ := w.Queue("q")
		if u := status.Usage("A"); u.Capability != Unlimited || u.Deserved != 0 || u.Guarantee != 0 {
			t.Errorf("%+v", u)
		}
	}
}

// TestValidateCodes: what isn't meant is one warning, with a code; a plain tree has none.
func TestValidateCodes(t *testing.T) {
	m := testkit.Must(testMap([]string{"A"}))
	with := func(q builtQueue, deserved string) builtQueue {
		q.Deserved, _ = vectorOf(m, deserved)
		return q
	}
	plain := []builtQueue{{Name: "root"}, with(q(m, "a < root", "cpu:4 mem:4 A:4"), "cpu:4 mem:4 A:4"), with(q(m, "b < root", "cpu:4"), "cpu:4")}
	plain[1].Guarantee, _ = vectorOf(m, "cpu:1 A:1")
	for _, c := range []struct {
		what    string
		cfg     Config
		queues  []builtQueue
		origins string
	}{
		{"deserved above capability", Config{}, []builtQueue{with(q(m, "q", "cpu:4"), "cpu:5")}, "deserved-above-capability"},
		{"children's deserved above the parent's", Config{}, []builtQueue{with(q(m, "p", "cpu:8"), "cpu:4"), with(q(m, "a < p", "cpu:4"), "cpu:3"), with(q(m, "b < p", "cpu:4"), "cpu:3")}, "deserved-below-children"},
		{"a plain tree", Config{}, plain, ""},
		{"a plain tree, enforced", Config{EnforceGuarantee: true}, plain, "guarantee-below-children deserved-below-children deserved-below-children guarantee-below-children deserved-below-children"},
	} {
		errs, warnings := c.cfg.validateBuilt(c.queues, m, nil)
		var origins []string
		for _, warning := range warnings {
			origins = append(origins, warning.Origin)
		}
		if got := strings.Join(origins, " "); len(errs) > 0 || got != c.origins {
			t.Errorf("%s: %v, %s", c.what, errs, got)
		}
	}
}

// TestRestoreEmptyCardName: no map can have it, so it is the snapshot's fault.
func TestRestoreEmptyCardName(t *testing.T) {
	w := newWorld(t, Config{})
	for _, name := range []string{"", "A|", "|"} {
		data := strings.Replace(string(w.Snapshot()), `{"card":"B"`, fmt.Sprintf(`{"card":%q`, name), 1)
		if _, err := Restore(w.cfg, nil, []byte(data)); name == "" && !errors.Is(err, ErrSnapshot) || name != "" && err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestUnnamedMinResources: cards that nobody names are noted while nothing counts them.
func TestUnnamedMinResources(t *testing.T) {
	w := fleet(t, Config{}, "q", "A100:8 H100:8 cpu:100")
	for _, c := range []struct {
		what string
		job  Job
		want string
	}{
		{"nobody", Job{}, `quota: minResources: resource "nvidia.com/gpu": the amount is 1k, and no card is named: it counts when the job's annotation names cards, or its pods are there`},
		{"the annotation", Job{Annotations: asks(`{"A100": 1}`)}, ""},
		{"a pod", Job{Tasks: []Task{{ID: "t", Pod: podOf("A100", "gpu:1")}}}, ""},
	} {
		c.job.ID, c.job.Queue, c.job.MinResources = "j", "q", resourceList("gpu:1000")
		_, notes, err := w.ResolveJob(c.job)
		got := ""
		if len(notes) > 0 && notes[0].IsNote() {
			got = notes[0].Error()
		}
		if err != nil || got != c.want || len(notes) > 1 {
			t.Errorf("%s: %v, %v", c.what, notes, err)
		}
	}
}

// TestByteOutputs: outputs that Kubernetes has in bytes are written like memory.
func TestByteOutputs(t *testing.T) {
	m := testkit.Must(testMap(nil, "ephemeral-storage", "hugepages-2Mi", "example.com/credits"))
	list := func(ephemeral, pages, credits string) corev1.ResourceList {
		return corev1.ResourceList{"ephemeral-storage": resource.MustParse(ephemeral), "hugepages-2Mi": resource.MustParse(pages), "example.com/credits": resource.MustParse(credits)}
	}
	queue := resolved(new(Config).buildQueue(m, Queue{Name: "q", Capability: list("2Ti", "1Gi", "2048")}))
	l := testkit.Must(newBuilt(Config{}, m, nil, []builtQueue{queue}))
	for _, c := range []struct {
		list corev1.ResourceList
		want string
	}{
		{list("3Ti", "0", "0"), "ephemeral-storage: requested 3 Ti, room for 2 Ti of 2 Ti, the total would be 3 Ti"},
		{list("0", "1536Mi", "0"), "hugepages-2Mi: requested 1536 Mi, room for 1 Gi of 1 Gi, the total would be 1536 Mi"},
		{list("0", "0", "4096"), "example.com/credits: requested 4096, room for 2048 of 2048, the total would be 4096"},
	} {
		job := resolved(l.ResolveJob(Job{ID: "j", Queue: "q", MinResources: c.list}))
		a, err := l.Reserve(job)
		if got := a.Refusal.Message(); err != nil || got != `queue "q": insufficient quota of `+c.want {
			t.Errorf("%s, %v", got, err)
		}
	}
	for _, amount := range []string{"1Ti", "1Gi"} {
		job, _, err := l.ResolveJob(Job{ID: "k", Queue: "q", MinResources: list(amount, "0", "5")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = l.Reserve(job); amount == "1Gi" {
			if want := "reserved is 1 Ti of ephemeral-storage and 5 example.com/credits, requested 1 Gi of ephemeral-storage and 5 example.com/credits: Resize changes it"; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Error(err)
			}
		}
	}
	queue.Deserved = m.NewVector()
	dim, _ := outputIndex(m, "ephemeral-storage")
	queue.Deserved[dim] = 3 << 40
	if _, warnings := new(Config).validateBuilt([]builtQueue{queue}, m, nil); len(warnings) != 1 || !strings.Contains(warnings[0].Error(), `"3 Ti": queue "q": above its capability, 2 Ti`) {
		t.Error(warnings)
	}
}

// TestNodeWithoutCards: the refusal names the node, also one that nobody knows.
func TestNodeWithoutCards(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:4 B:4")
	testkit.Must(w.SetCatalog(cluster(map[string]string{"a": "A:4", "b": "B:4"})))
	for node, want := range map[string]string{
		"b":    `queue "q": node "b" has none of the cards A|C`,
		"gone": `queue "q": node "gone" has none of the cards A|C: it has no cards, or isn't known`,
	} {
		a := testkit.Must(w.CommitOn(w.task("t", "j", "q", "A|C:1"), node))
		w.want(a.Refusal.Message(), want)
		w.AllocatableOn(&a, w.task("t", "j", "q", "A|C:1"), node)
		w.want(a.Refusal.Message(), want)
	}
	a := testkit.Must(w.Commit(w.task("t", "j", "q", "A|C:1"), "B"))
	w.want(a.Refusal.Message(), `queue "q": the node has none of the cards A|C`)
}

// TestReleaseLastTask: a job keeps what it holds, and its reservation, until it is released.
func TestReleaseLastTask(t *testing.T) {
	w := newWorld(t, Config{}, "q", "A:4")
	w.want(w.reserve("j", "q", "A:2"), "yes")
	w.want(w.commit("1", "j", "q", "A:1"), "A")
	if _, known := w.Release("1"); !known {
		t.Fatal("unknown")
	}
	w.want(w.state("q", "A"), "0/1000/0")
	if job, ok := w.Job("j"); !ok || !job.Reserved {
		t.Error("the job has gone")
	}
	if _, known := w.ReleaseJob("j"); !known {
		t.Error("unknown")
	}
	w.want(w.state("q", "A"), "0/0/0")
}
