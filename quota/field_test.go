package quota

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/resvec/resvec/device"
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
		for _, catalog := range []*device.Catalog{nil, cluster(nil)} {
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
	w := worldFrom(t, Config{}, nil, Queue{Name: "q", Annotations: quotaOf(`{"A100": 4, "H100": "2"}`)})
	job := resolved(w.ResolveJob(Job{ID: "j", Queue: "q", Annotations: asks(`{"H100": 1}`)}))
	a, err := w.Reserve(job)
	if err != nil || a.OK || a.Refusal.Why != ReasonUnreadableQuota || !strings.Contains(a.Refusal.Message(), `entry "H100": the count is "2": want a whole number`) {
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
		{"memory", fmt.Sprint(int64(Unlimited)), math.Inf(1), `quota: capability: resource "memory": the amount is 9223372036854775807, more than can be counted: it is no limit`},
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
		if len(notes) > 0 && notes[0].isNote() {
			note = notes[0].Error()
		}
		if queue.Capability[dim] != c.want || note != c.note || len(notes) > 1 {
			t.Errorf("%s of %s: %v, %v", c.amount, c.name, queue.Capability[dim], notes)
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
		{"no limit of a card", Config{}, []builtQueue{q(m, "q", "A:inf")}, ""},
		{"a plain tree, enforced", Config{EnforceGuarantee: true}, plain, "guarantee-below-children deserved-below-children deserved-below-children guarantee-below-children deserved-below-children"},
	} {
		errs, warnings := c.cfg.validateBuilt(c.queues, m, cluster(map[string]string{"n": "A:8"}))
		var origins []string
		for _, warning := range warnings {
			origins = append(origins, warning.Origin)
		}
		if got := strings.Join(origins, " "); len(errs) > 0 || got != c.origins {
			t.Errorf("%s: %v, %s", c.what, errs, got)
		}
	}
}

// TestValidateIgnoredAnnotation: the annotation of Volcano is one warning where another key
// takes its place, and none where it is read.
func TestValidateIgnoredAnnotation(t *testing.T) {
	queue := Queue{Name: "q", Annotations: map[string]string{QuotaAnnotation: `{"A": 1}`}}
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "[]"},
		{Config{QuotaKey: "x/cards", DeservedKey: QuotaAnnotation}, "[]"},
		{Config{QuotaKey: "x/cards"}, `[queues[0].annotations[volcano.sh/card.quota]: Invalid value: queue "q": the annotation counts for nothing: quotas are read from x/cards]`},
	} {
		if errs, warnings := c.cfg.Validate([]Queue{queue}, nil); len(errs) > 0 || fmt.Sprint(warnings) != c.want {
			t.Errorf("%v: %v, %v", c.cfg, errs, warnings)
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
		_, notes, err := w.resolveJob(c.job)
		got := ""
		if len(notes) > 0 && notes[0].isNote() {
			got = notes[0].Error()
		}
		if err != nil || got != c.want || len(notes) > 1 {
			t.Errorf("%s: %v, %v", c.what, notes, err)
		}
	}
}

// TestByteOutputs: outputs that Kubernetes has in bytes are written like memory.
func TestByteOutputs(t *testing.T) {
	cfg := Config{Outputs: []corev1.ResourceName{"ephemeral-storage", "example.com/credits"}}
	queue := Queue{Name: "q", Capability: list("ephemeral-storage=2Ti example.com/credits=2048"), Deserved: list("ephemeral-storage=3Ti")}
	w := worldFrom(t, cfg, nil, queue)
	reserve := func(min string) string {
		return answered(w.Reserve(resolved(w.ResolveJob(Job{ID: "j", Queue: "q", MinResources: list(min)}))))
	}
	w.want(reserve("ephemeral-storage=3Ti"), `queue "q": insufficient quota of ephemeral-storage: requested 3 Ti, room for 2 Ti of 2 Ti, the total would be 3 Ti`)
	w.want(reserve("ephemeral-storage=1Ti example.com/credits=5"), "yes")
	w.want(reserve("ephemeral-storage=1Gi example.com/credits=5"),
		ErrReserved.Error()+`: job "j": reserved is 1 Ti of ephemeral-storage and 5 example.com/credits, requested 1 Gi of ephemeral-storage and 5 example.com/credits: Resize changes it`)
	if _, warnings := cfg.Validate([]Queue{queue}, nil); len(warnings) != 1 || !strings.Contains(warnings[0].Error(), `"3 Ti": queue "q": above its capability, 2 Ti`) {
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
