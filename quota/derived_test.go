package quota

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota/internal/book"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vectormap"
)

// described is a ledger over a cluster of 100 cores, 200 Gi and ten of each card,
// with the queues of the specs.
func described(t *testing.T, cfg Config, specs ...Queue) *world {
	t.Helper()
	node := device.Node{Name: "n", CPUMilli: 100_000, MemoryBytes: 200 << 30}
	for _, card := range []string{"A", "H", "H200", "RX7900", "V100"} {
		node.Cards = append(node.Cards, device.Card{Name: card, Resource: "nvidia.com/gpu", Count: 10})
	}
	return worldFrom(t, cfg, (&device.Inventory{Nodes: []device.Node{node}}).Catalog(), specs...)
}

// status returns a queue's, which must be there.
func (w *world) status(name string) QueueStatus {
	w.Helper()
	s, ok := w.Queue(name)
	if !ok {
		w.Fatalf("no queue %s", name)
	}
	return s
}

// amounts returns a field of what a queue uses, by dimension.
func (w *world) amounts(s QueueStatus, name string) []float64 {
	v := w.m.NewVector()
	set := func(dim int32, u Usage) {
		amount := reflect.ValueOf(u).FieldByName(name).Int()
		if v[dim] = float64(amount); amount == Unlimited {
			v[dim] = inf
		}
	}
	set(dimCPU, s.CPU)
	set(dimMemory, s.Memory)
	for _, c := range s.Cards {
		set(w.dims[c.Resource], c)
	}
	return v
}

// show writes a vector in cores, Gi and cards: "10/20 A:3".
func (w *world) show(v []float64) string {
	text := fmt.Sprintf("%v/%v", v[vectormap.CPU]/1000, v[vectormap.Memory]/(1<<30))
	for dim, amount := range v {
		if card := w.cards[dim]; card != "" && amount != 0 {
			text += fmt.Sprintf(" %s:%v", card, amount/1000)
		}
	}
	return text
}

func quotaOf(text string) map[string]string { return map[string]string{QuotaAnnotation: text} }

func TestQueueDerivedAmounts(t *testing.T) {
	w := described(t, Config{}, Queue{
		Name: "q", Annotations: quotaOf(`{"V100":2,"RX7900":1,"H200":3}`),
		Capability: list("cpu=20 memory=40Gi"), Deserved: list("cpu=10 memory=20Gi"), Guarantee: list("cpu=5 memory=10Gi"),
	})
	s := w.status("q")
	w.want(w.show(w.amounts(s, "Capability")), "20/40 H200:3 RX7900:1 V100:2")
	w.want(w.show(w.amounts(s, "RealCapability")), "20/40 H200:3 RX7900:1 V100:2")
	w.want(w.show(w.amounts(s, "Deserved")), "10/20 H200:3 RX7900:1 V100:2")
	w.want(w.show(w.amounts(s, "Guarantee")), "5/10 H200:3 RX7900:1 V100:2")

	w = described(t, Config{}, Queue{Name: "q", Capability: list("cpu=4 memory=8Gi")})
	w.want(w.show(w.amounts(w.status("q"), "Capability")), "4/8")
	w = described(t, Config{MissingUnlimited: true}, Queue{Name: "q", Capability: list("cpu=8"), Annotations: quotaOf(`{"V100":2}`)})
	w.want(w.show(w.amounts(w.status("q"), "Capability")), "8/+Inf V100:2")
	w.want(w.show(w.amounts(w.status("q"), "RealCapability")), "8/200 V100:2")

	// Guarantees of siblings are left out, at the top and below a parent.
	w = described(t, Config{},
		Queue{Name: "p", Capability: list("cpu=60"), Guarantee: list("cpu=30"), Deserved: list("cpu=90")},
		Queue{Name: "r", Capability: list("cpu=100"), Guarantee: list("cpu=50"), Deserved: list("cpu=10")},
		Queue{Name: "a", Parent: "p", Capability: list("cpu=60"), Guarantee: list("cpu=10"), Deserved: list("cpu=60")},
		Queue{Name: "b", Parent: "p", Capability: list("cpu=20"), Guarantee: list("cpu=15"), Deserved: list("cpu=60")},
	)
	for _, c := range []struct{ queue, real, deserved string }{
		{"p", "50/200", "50/0"}, // min(60, 100-80+30); memory isn't mentioned and the parent's unlimited
		{"r", "70/0", "50/0"},   // min(100, 100-80+50); deserved at least the guarantee
		{"a", "35/0", "35/0"},   // min(60, 50-25+10)
		{"b", "20/0", "20/0"},
	} {
		s := w.status(c.queue)
		w.want(c.queue+" "+w.show(w.amounts(s, "RealCapability")[:2]), c.queue+" "+c.real)
		w.want(c.queue+" "+w.show(w.amounts(s, "Deserved")[:2]), c.queue+" "+c.deserved)
	}
	// More is guaranteed than there is.
	w = described(t, Config{},
		Queue{Name: "a", Capability: list("cpu=100"), Guarantee: list("cpu=80")},
		Queue{Name: "b", Capability: list("cpu=100"), Guarantee: list("cpu=70")},
	)
	w.want(w.show(w.amounts(w.status("a"), "RealCapability")), "80/0")
}

func TestQueueStatus(t *testing.T) {
	w := newWorld(t, Config{}, "org", "cpu:20 A:8 B:8", "x < org", "cpu:10 A:4 B:4", "y < org", "A:4", "old < org", "A:1")
	w.want(w.reserve("j", "x", "cpu:2 A:1 A|B:3"), "yes")
	w.want(w.commit("1", "j", "x", "cpu:3 A:1"), "A")
	w.want(w.reserve("k", "y", "A:1"), "yes")
	w.want(w.commit("2", "k", "y", "A:1"), "A") // nothing is held any more
	w.want(w.commit("3", "l", "old", "A:1"), "A")
	w.replace(qs(w.m, "org", "cpu:20 A:8 B:8", "x < org", "cpu:10 A:4 B:4", "y < org", "A:4")...)
	for _, c := range []struct{ queue, allocated, inqueue, elastic string }{
		{"x", "3/0 A:1", "0/0 A:3", "1/0"},
		{"y", "0/0 A:1", "0/0", "0/0"},
		{"old", "0/0 A:1", "0/0", "0/0"},
		{"org", "3/0 A:3", "0/0 A:3", "1/0"},
	} {
		s := w.status(c.queue)
		w.want(w.show(w.amounts(s, "Allocated")), c.allocated)
		w.want(w.show(w.amounts(s, "Inqueue")), c.inqueue)
		w.want(w.show(w.amounts(s, "Elastic")), c.elastic)
		w.want(w.show(w.amounts(s, "Request")), c.allocated)
		if s.Name != c.queue {
			t.Errorf("%s: %+v", c.queue, s)
		}
	}
	say := func(name string) string {
		return fmt.Sprintf("open %v reservations %d", w.queues[name].Open, w.status(name).Reservations)
	}
	w.want(say("x"), "open true reservations 1")
	w.want(say("y"), "open true reservations 0")
	w.want(say("org"), "open true reservations 1")
	w.want(say("old"), "open false reservations 0")
	if got := w.status("x").Usage("nope"); got != (Usage{Resource: "nope"}) {
		t.Errorf("a card that isn't there: %+v", got)
	}
	if _, ok := w.Queue("nope"); ok {
		t.Error("a queue that isn't there has a status")
	}
	// The caller may do with the status what he likes.
	w.status("x").Cards[0].Allocated = 7
	w.want(w.show(w.amounts(w.status("x"), "Allocated")), "3/0 A:1")
}

// TestRequest has pending tasks, as the last view left them.
func TestRequest(t *testing.T) {
	for _, c := range []struct{ reserve, commit, waits, want string }{
		{"", "", "cpu:1 mem:2 A:2", "1/2 A:2"},
		{"", "A:1", "A:2 B:1", "0/0 A:3 B:1"},
		{"", "", "A|B:1", "0/0 A:1"},               // no reservation: the first
		{"A|B:3", "", "A|B:1", "0/0 B:1"},          // held on B, A is too small
		{"A|B:3", "", "B|A:1", "0/0 B:1"},          //
		{"B:1", "", "A|B:1", "0/0 A:1"},            // what is held for others doesn't count
		{"A|B:3", "A|B:3", "A|B:1", "0/0 A:1 B:3"}, // nothing is held any more
	} {
		w := newWorld(t, Config{}, "org", "A:9 B:9", "q < org", "cpu:9 mem:9 A:2 B:9")
		if c.reserve != "" {
			w.want(w.reserve("j", "q", c.reserve), "yes")
		}
		if c.commit != "" {
			w.commit("1", "j", "q", c.commit)
		}
		r := w.task("2", "j", "q", c.waits)
		w.waiting["2"] = &TaskRequest{id: "2", job: "j", queue: "q", use: r.use}
		w.waiting["3"] = &TaskRequest{id: "3", job: "j", queue: "gone", use: book.Use{Items: r.use.Items}}
		w.want(w.show(w.amounts(w.status("q"), "Request")), c.want)
		w.want(w.show(w.amounts(w.status("org"), "Request")), c.want)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		deserved, cards, charges string
		want                     float64
	}{
		{"cpu=10 memory=16Gi", `{}`, "cpu:1 mem:8", 0.5},
		{"cpu=10 memory=16Gi", `{}`, "cpu:1 mem:16", 1},
		{"cpu=10 memory=16Gi", `{"V100":4}`, "cpu:1 mem:8 V100:3", 0.75},
		{"cpu=10 memory=16Gi", `{"V100":4}`, "", 0},
		{"cpu=40", `{"A":8}`, "cpu:8 A:6 H:1", 0.75}, // in A; nothing of H is deserved
		{"cpu=10 memory=20Gi", `{}`, "cpu:2 mem:2", 0.2},
		{"", `{}`, "cpu:2 mem:2", 0},
		{"cpu=2", `{}`, "cpu:5", 2.5},
	} {
		w := described(t, Config{DeservedKey: "deserved", GuaranteeKey: "guarantee"}, Queue{
			Name: "q", Capability: list("cpu=100 memory=200Gi"), Deserved: list(c.deserved),
			Annotations: map[string]string{QuotaAnnotation: `{"A":10,"H":10,"V100":10}`, "deserved": c.cards},
		})
		w.commit("1", "j", "q", c.charges)
		w.reserve("k", "q", "cpu:1 A:1") // holds don't count
		if got := w.status("q").Share; got != c.want {
			t.Errorf("%s of %s %s: share %v, want %v", c.charges, c.deserved, c.cards, got, c.want)
		}
	}
	w := described(t, Config{}, Queue{Name: "q", Capability: list("cpu=100 memory=200Gi")})
	w.commit("1", "j", "q", "cpu:3 mem:3")
	w.commit("2", "j", "q", "cpu:2 mem:2")
	w.Release("2")
	w.want(w.show(w.amounts(w.status("q"), "Allocated")), "3/3")
}

func TestCompareQueues(t *testing.T) {
	spec := func(name, parent string, priority int32) Queue {
		return Queue{Name: name, Parent: parent, Priority: priority, Capability: list("cpu=100"), Deserved: list("cpu=10")}
	}
	w := described(t, Config{},
		spec("d", "", 0), spec("c", "", 0), spec("b", "", 0), spec("a", "", 5),
		spec("p", "", 3), spec("p2", "p", 9), spec("p1", "p", 0), spec("r", "", 4), spec("r1", "r", 0),
	)
	for i, c := range []string{"a 9", "b 2", "c 4", "d 4", "p2 1"} {
		queue, cpu, _ := strings.Cut(c, " ")
		w.commit(fmt.Sprint(i), queue, queue, "cpu:"+cpu)
	}
	names := []string{"nope", "d", "p1", "c", "r1", "b", "p", "a", "r", "p2", "nil"}
	slices.SortFunc(names, w.CompareQueues)
	// Queues of the top by priority, share and name; those below after theirs.
	w.want(strings.Join(names, " "), "a r r1 p p2 p1 b c d nil nope")

	if !testkit.RaceEnabled {
		if n := testing.AllocsPerRun(100, func() { w.CompareQueues("p1", "r1") }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func FuzzCompareQueues(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(checkOrder)
}

// checkOrder compares every pair and every three queues of a random forest.
func checkOrder(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	var specs []Queue
	names := []string{"nope", "nil"}
	for i := range 2 + r.IntN(12) {
		spec := Queue{
			Name: fmt.Sprint("q", i), Priority: int32(r.IntN(2)),
			Capability: list("cpu=100"), Deserved: list(fmt.Sprintf("cpu=%d", r.IntN(3))),
		}
		if i > 0 && r.IntN(3) > 0 {
			spec.Parent = fmt.Sprint("q", r.IntN(i))
		}
		specs, names = append(specs, spec), append(names, spec.Name)
	}
	w := described(t, Config{}, specs...)
	for i := range 10 {
		id := fmt.Sprint(i)
		w.commit(id, id, names[r.IntN(len(names))], fmt.Sprintf("cpu:%d", r.IntN(3)))
	}
	sign := func(n int) int { return max(-1, min(1, n)) }
	for _, a := range names {
		for _, b := range names {
			ab := sign(w.CompareQueues(a, b))
			if ab != -sign(w.CompareQueues(b, a)) || (ab == 0) != (a == b) {
				t.Fatalf("%s, %s: %d and %d", a, b, ab, w.CompareQueues(b, a))
			}
			for _, c := range names {
				if ab < 0 && w.CompareQueues(b, c) < 0 && w.CompareQueues(a, c) >= 0 {
					t.Fatalf("%s before %s before %s, and not before it", a, b, c)
				}
			}
		}
	}
}
