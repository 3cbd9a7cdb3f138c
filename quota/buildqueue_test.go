package quota

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// list makes a ResourceList of "cpu=4 memory=8Gi".
func list(text string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for _, entry := range strings.Fields(text) {
		name, amount, _ := strings.Cut(entry, "=")
		l[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return l
}

// amounts prints what a vector has, mentioned or not, as "cpu 4000, A 2000".
func amounts(m *vectormap.ResourceVectorMap, v []float64) string {
	var parts []string
	for dim, amount := range v {
		if amount != 0 {
			parts = append(parts, fmt.Sprintf("%s %v", strings.TrimPrefix(m.Name(dim), cardPrefix), amount))
		}
	}
	return strings.Join(parts, ", ")
}

func TestBuildQueue(t *testing.T) {
	m := testkit.Must(testMap([]string{"A", "B", "H200", "RX7900", "V100"}))
	quota := func(text string) map[string]string { return map[string]string{QuotaAnnotation: text} }
	const gi = 1 << 30
	for _, c := range []struct {
		name                            string
		keys                            Config
		spec                            Queue
		capability, guarantee, deserved string
		faults                          string
	}{
		{name: "one annotation for all three",
			spec:       Queue{Annotations: quota(`{"V100":2,"RX7900":1,"H200":3}`), Capability: list("cpu=20 memory=40Gi"), Deserved: list("cpu=10"), Guarantee: list("cpu=5 memory=10Gi")},
			capability: fmt.Sprintf("cpu 20000, memory %v, H200 3000, RX7900 1000, V100 2000", float64(40*gi)),
			guarantee:  fmt.Sprintf("cpu 5000, memory %v, H200 3000, RX7900 1000, V100 2000", float64(10*gi)),
			deserved:   "cpu 10000, H200 3000, RX7900 1000, V100 2000"},
		{name: "no annotation",
			spec:       Queue{Capability: list("cpu=4 memory=8Gi")},
			capability: fmt.Sprintf("cpu 4000, memory %v", float64(8*gi))},
		{name: "keys of their own",
			keys:       Config{DeservedKey: "d", GuaranteeKey: "g"},
			spec:       Queue{Annotations: map[string]string{QuotaAnnotation: `{"A":4}`, "d": `{"A":2,"B":"x"}`}},
			capability: "A 4000", deserved: "A 2000", faults: "[B WrongType]"},
		{name: "other entries of the lists",
			spec: Queue{Capability: list("nvidia.com/gpu=8 pods=5 cpu=1")}, capability: "cpu 1000",
			faults: "[nvidia.com/gpu IgnoredResource, pods IgnoredResource]"},
		{name: "cards in the place of the annotation",
			spec:       Queue{Annotations: quota(`{"A":4,"B":"x"}`), Cards: map[string]int64{"A": 1, " H200": 2}},
			capability: "A 1000, H200 2000", guarantee: "A 1000, H200 2000", deserved: "A 1000, H200 2000"},
		{name: "cards with other annotations",
			keys:       Config{DeservedKey: "d"},
			spec:       Queue{Annotations: map[string]string{"d": `{"B":1}`}, Cards: map[string]int64{"A": 3}},
			capability: "A 3000", guarantee: "A 3000", deserved: "B 1000"},
		{name: "no cards", spec: Queue{Annotations: quota(`{"A":4}`), Cards: map[string]int64{}}},
		{name: "no limit of one card", spec: Queue{Cards: map[string]int64{"A": 2, "B": Unlimited, "V100": maxCards + 1}},
			capability: "A 2000, B +Inf, V100 +Inf", guarantee: "A 2000", deserved: "A 2000", faults: "[B Unlimited, V100 Unlimited]"},
		{name: "no limit in the annotation", spec: Queue{Annotations: quota(`{"A":9223372036854775807,"B":99999999999999999999,"V100":9007199254740}`)},
			capability: "A +Inf, B +Inf, V100 9.00719925474e+15", guarantee: "V100 9.00719925474e+15", deserved: "V100 9.00719925474e+15", faults: "[A Unlimited, B Unlimited]"},
		{name: "no limit is nothing to deserve",
			keys:       Config{DeservedKey: "d"},
			spec:       Queue{Annotations: map[string]string{QuotaAnnotation: `{"A":9223372036854775807}`, "d": `{"A":9223372036854775807}`}},
			capability: "A +Inf", faults: "[A Unlimited, A TooLarge]"},
		{name: "a bad entry drops itself", spec: Queue{Annotations: quota(`{"A":2,"B":2.5}`)},
			capability: "A 2000", guarantee: "A 2000", deserved: "A 2000", faults: "[B NotInteger]"},
	} {
		cfg := c.keys
		c.spec.Name = "q"
		q, faults, err := cfg.buildQueue(m, c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, v := range []struct {
			what string
			got  []float64
			want string
		}{{"capability", q.Capability, c.capability}, {"guarantee", q.Guarantee, c.guarantee}, {"deserved", q.Deserved, c.deserved}} {
			if got := amounts(m, v.got); got != v.want {
				t.Errorf("%s: %s %s, want %s", c.name, v.what, got, v.want)
			}
		}
		if got := entries(nil, faults); got != c.faults {
			t.Errorf("%s: %s, want %s", c.name, got, c.faults)
		}
	}
}

// TestDenied checks that a fault opens nothing, also where what isn't mentioned
// is unlimited.
func TestDenied(t *testing.T) {
	m, _ := testMap([]string{"A", "B"})
	var cfg Config
	for text, want := range map[string]string{
		`{"A":4}`:         "A 4000 B inf",
		`{"A":4,"B":2.5}`: "A 4000 B 0",
		`{"A":4,"A":4}`:   "A 0 B inf",
		`{"A":4`:          "A 0 B 0",
		`[]`:              "A 0 B 0",
		`{"":4}`:          "A inf B inf",
		`{"A|B":4}`:       "A inf B inf",
	} {
		q := resolved(cfg.buildQueue(m, Queue{Name: "org", Annotations: map[string]string{QuotaAnnotation: text}}))
		l := testkit.Must(newBuilt(cfg, m, nil, []builtQueue{q, {Name: "x", Parent: "org"}}))
		var got []string
		for _, card := range []string{"A", "B"} {
			limit := fmt.Sprint(l.queues["org"].Cells[l.dims[card]].Limit)
			if limit == fmt.Sprint(int64(Unlimited)) {
				limit = "inf"
			}
			got = append(got, card+" "+limit)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// TestVerbatimNames: whatever the lenient parser takes from one queue, the cards of
// all queues make a map, and the queue can be built.
func TestVerbatimNames(t *testing.T) {
	cfg := Config{FailToZero: true}
	spec := Queue{Name: "q", Annotations: quotaOf(`{"":1,"A":2," ":3,"A|B":4,"\ud800":5,"C":-1}`)}
	m := testkit.Must(testMap(cfg.namedCards([]Queue{spec})))
	q, faults, err := cfg.buildQueue(m, spec)
	if want := []entryError{{Code: codeEmptyName, Field: QuotaAnnotation}, {Name: "C", Code: codeNegative, Field: QuotaAnnotation, Value: "-1"}}; err != nil || !slices.Equal(faults, want) {
		t.Fatal(faults, err)
	}
	l := testkit.Must(newBuilt(cfg, m, nil, []builtQueue{q}))
	again, err := Restore(cfg, nil, l.Snapshot())
	if err != nil || string(again.Snapshot()) != string(l.Snapshot()) {
		t.Errorf("restored otherwise: %v", err)
	}
}

func TestValidate(t *testing.T) {
	m, _ := testMap([]string{"A", "B"})
	queue := func(name, capability, guarantee string) builtQueue {
		x := q(m, name, capability)
		x.Guarantee, _ = vectorOf(m, guarantee)
		return x
	}
	l1, l2 := builtQueue{Name: "l1", Parent: "l2"}, builtQueue{Name: "l2", Parent: "l1"}
	errs, warnings := new(Config).validateBuilt([]builtQueue{
		queue("p", "A:4", "A:1"), queue("c1 < p", "A:6", "A:1"), queue("c2 < p", "A:1", "A:1"),
		queue("c2 < p", "A:1", ""), queue("n < nope", "", ""), l1, l2, queue("b", "B:3", "B:4"), {},
	}, m, cluster(map[string]string{"n": "A:3"}))
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	want := []string{
		`queues[3].name: Duplicate value: "c2"`,
		`queues[8].name: Required value: a queue needs a name`,
		`queues[4].parent: Not found: "nope": queue "n": there is no queue "nope" to be its parent`,
		`queues[5].parent: Invalid value: "l2": queue "l1": queues are parents of each other in a cycle: l1, l2`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("errors\n%s", strings.Join(got, "\n"))
	}
	got = nil
	for _, w := range warnings {
		got = append(got, w.Error())
	}
	want = []string{
		`queues[7].guarantee[B]: Invalid value: "4 cards": queue "b": above its capability, 3 cards`,
		`queues[1].capability[A]: Invalid value: "6 cards": queue "c1": above its parent's capability, 4 cards`,
		`queues[0].guarantee[A]: Invalid value: "1 card": queue "p": below its children's guarantees, 2 cards`,
		`queues[7].capability[B]: Invalid value: "3 cards": queue "b": no node has that card`,
		`queues: Invalid value: "4 cards": the quotas of A are above what the cluster has, 3 cards`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s", strings.Join(got, "\n"))
	}
	if _, err := newBuilt(Config{}, m, nil, []builtQueue{l1, l2}); err == nil {
		t.Error("a cycle was taken")
	}
}

// TestUnreadableQuota: a quota that can't be read denies a parent's cards, also those that
// come later, and after a restart.
func TestUnreadableQuota(t *testing.T) {
	cfg := Config{MissingUnlimited: true}
	l := testkit.Must(New(cfg, nil, []Queue{{Name: "org", Annotations: quotaOf(`{"A":4`)}, {Name: "q", Parent: "org", Cards: map[string]int64{"A": 1, "B": 1}}}))
	for range 2 {
		testkit.Must(l.Declare([]device.Card{{Name: "A"}, {Name: "B"}, {Name: "C"}}))
		w := &world{t, l}
		for _, card := range []string{"A", "B"} {
			w.want(w.probe("q", card+":1"), "Scalar 0 of 0 at org")
		}
		w.want(w.probe("q", "cpu:1"), "yes")
		status, _ := l.Queue("org")
		if got := status.Usage("C").Capability; got != 0 {
			t.Errorf("a later card is limited to %d", got)
		}
		l = testkit.Must(Restore(cfg, nil, l.Snapshot()))
	}
}

// TestUnreadableQuotaWithoutCards: a queue whose quota can't be read is none that says nothing
// and may use what the queues above allow, also while nobody knows a card.
func TestUnreadableQuotaWithoutCards(t *testing.T) {
	l := testkit.Must(New(Config{}, nil, []Queue{{Name: "org", Capability: list("cpu=4")}, {Name: "q", Parent: "org", Annotations: quotaOf("{")}}))
	w := &world{t, l}
	for range 2 {
		w.want(w.probe("q", "cpu:1"), "Empty")
		_, err := l.Declare([]device.Card{{Name: "A"}})
		testkit.Check(err)
	}
}

// TestFaultsWithoutHistory: what a faulty quota denies, what refusals say of it and what a
// snapshot has of it depend neither on cards that are forgotten nor on the order in which cards
// came.
func TestFaultsWithoutHistory(t *testing.T) {
	queues := []Queue{
		{Name: "org", Capability: list("cpu=4")},
		{Name: "whole", Parent: "org", Annotations: quotaOf(`{"A":4`)},
		{Name: "entries", Parent: "org", Annotations: quotaOf(`{"B":1.5,"A":2.5}`)},
		{Name: "above", Annotations: quotaOf(`{"A":4`)},
		{Name: "silent", Parent: "above"},
	}
	var want []string
	for i, first := range [][]string{nil, {"A"}, {"B"}, {"Old"}, {"B", "Old"}} {
		var old []Queue
		for _, card := range first {
			old = append(old, Queue{Name: card, Cards: map[string]int64{card: 1}})
		}
		l := testkit.Must(New(Config{}, nil, old))
		_, _, err := l.SetQueues(queues)
		testkit.Check(err)
		for range 2 {
			got := []string{string(l.Snapshot())}
			for _, queue := range []string{"whole", "entries", "silent"} {
				for _, need := range []Min{{CPU: 1000}, {Items: []Item{{Alternatives: []string{"Old"}, Milli: 1000}}}} {
					r, _, err := l.ResolveJob(Job{ID: "j", Queue: queue, Min: &need})
					testkit.Check(err)
					var a Answer
					if l.Enqueueable(&a, r) {
						t.Errorf("%v: %s has room", first, queue)
					}
					got = append(got, queue+": "+a.Refusal.Message())
				}
			}
			if i == 0 {
				want = got
			}
			for k := range got {
				if got[k] != want[k] {
					t.Errorf("%v:\n%s\n%s", first, got[k], want[k])
				}
			}
			l = testkit.Must(Restore(Config{}, nil, l.Snapshot()))
		}
	}
}

// TestEdgesOfAmounts: up to where an amount counts, what is rounded, and from where on there is
// no limit or a fault.
func TestEdgesOfAmounts(t *testing.T) {
	const most = 1<<53 - 1
	cfg := Config{Outputs: []corev1.ResourceName{"x"}, FailToZero: true, DeservedKey: "d"}
	for _, c := range []struct {
		queue  Queue
		want   int64 // the capability in what the queue is about; -1: a fault
		deny   bool
		faults string // with their values
	}{
		{Queue{Capability: list("x=0")}, 0, false, ""},
		{Queue{Capability: list("x=1500m")}, 1, false, "x RoundedDown 1500m, which is 1 units"},
		{Queue{Capability: list("x=-1m")}, -1, false, ""},
		{Queue{Capability: list("x=9007199254740991")}, most, false, ""},
		{Queue{Capability: list("x=9007199254740992")}, Unlimited, false, "x Unlimited 9007199254740992"},
		{Queue{Deserved: list("x=9007199254740991")}, Unlimited, false, ""},
		{Queue{Deserved: list("x=9007199254740992")}, -1, false, ""},
		{Queue{Guarantee: list("x=-1")}, -1, false, ""},
		{Queue{Capability: list("cpu=9007199254740991m")}, most, false, ""},
		{Queue{Capability: list("cpu=9007199254740992m")}, Unlimited, false, "cpu Unlimited 9007199254740992m"},
		{Queue{Deserved: list("cpu=9007199254740992m")}, -1, false, ""},
		{Queue{Capability: list("cpu=9007199254741")}, Unlimited, false, "cpu Unlimited 9007199254741"},
		{Queue{Deserved: list("memory=9007199254740992")}, -1, false, ""},
		{Queue{Deserved: list("cpu=9E")}, -1, false, ""},
		{Queue{Deserved: list("x=9E")}, -1, false, ""},
		{Queue{Guarantee: list("x=-9E")}, -1, false, ""},
		{Queue{Capability: list("memory=9007199254740991")}, most, false, ""},
		{Queue{Capability: list("memory=9007199254740992")}, Unlimited, false, "memory Unlimited 9007199254740992"},
		{Queue{Annotations: quotaOf(`{"A":9007199254740}`)}, 9007199254740000, false, ""},
		{Queue{Annotations: quotaOf(`{"A":9007199254741}`)}, Unlimited, false, "A Unlimited 9007199254741"},
		{Queue{Annotations: quotaOf(`{"A":0}`)}, 0, false, ""},
		{Queue{Annotations: quotaOf(`{"A":-7}`)}, 0, true, "A Negative -7"},
		{Queue{Annotations: quotaOf(`{"A":-9223372036854775808}`)}, 0, true, "A Negative -9223372036854775 or beyond"},
		{Queue{Annotations: map[string]string{QuotaAnnotation: `{"A":1}`, "d": `{"A":9007199254741}`}}, 1000, false, "A TooLarge 9007199254741"},
	} {
		c.queue.Name = "q"
		m, built, notes, f := cfg.build(testkit.Must(newMap(cfg.Outputs)), []Queue{c.queue})
		var faults []string
		for _, e := range notes[0] {
			faults = append(faults, e.Name+" "+e.Code+" "+e.Value)
		}
		if got := strings.Join(faults, ", "); got != c.faults || (len(f.list) > 0) != (c.want < 0) {
			t.Errorf("%+v: %s, %v", c.queue, got, f.list)
		}
		if c.want < 0 {
			continue
		}
		name := "x"
		for resource := range c.queue.Capability {
			name = string(resource)
		}
		if c.queue.Annotations != nil {
			name = "A"
		}
		status, _ := testkit.Must(New(cfg, nil, []Queue{c.queue})).Queue("q")
		if got := int64(status.Usage(name).Capability); got != c.want {
			t.Errorf("%+v: %d, want %d", c.queue, got, c.want)
		}
		dim, isCard := cardIndex(m, "A")
		if isCard && (built[0].denied[dim] != "") != c.deny {
			t.Errorf("%+v: denied %v", c.queue, built[0].denied)
		}
	}
}

// TestQueuesMeanwhile: the dimensions of a ledger grow while queues are read, and every queue
// gets the cards that it names.
func TestQueuesMeanwhile(t *testing.T) {
	l := testkit.Must(New(Config{}, nil, nil))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			testkit.Must(l.Declare([]device.Card{{Name: fmt.Sprint("d", i)}}))
		})
		all.Go(func() {
			card := fmt.Sprint("q", i)
			if _, _, err := l.SetQueues([]Queue{{Name: "q", Cards: map[string]int64{card: int64(i + 1)}}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	status, _ := l.Queue("q")
	named := 0
	for _, u := range status.Cards {
		if u.Capability > 0 {
			named++
			if want := fmt.Sprint("q", u.Capability/1000-1); u.Resource != want {
				t.Errorf("%s has the limit of %s", u.Resource, want)
			}
		}
	}
	if named != 1 || len(status.Cards) != 40 {
		t.Errorf("%d of %d cards are limited", named, len(status.Cards))
	}
	testkit.Check(l.Check())
}
