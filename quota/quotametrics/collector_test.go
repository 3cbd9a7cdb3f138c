package quotametrics

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ledger makes a ledger over 8 cards of each name, with a quota of each queue.
func ledger(t testing.TB, cards []string, quotas map[string]string) *quota.Ledger {
	t.Helper()
	var queues []quota.Queue
	for name, text := range quotas {
		queues = append(queues, quota.Queue{Name: name, Annotations: map[string]string{quota.QuotaAnnotation: text}})
	}
	node := device.Node{Name: "n"}
	for _, card := range cards {
		node.Cards = append(node.Cards, device.Card{Name: card, Resource: "nvidia.com/gpu", Count: 8})
	}
	l := testkit.Must(quota.New(quota.Config{}, (&device.Inventory{Nodes: []device.Node{node}}).Catalog(), queues))
	return l
}

func reserve(t testing.TB, l *quota.Ledger, id, queue, card string, count int64) bool {
	t.Helper()
	job, _, err := l.ResolveJob(quota.Job{ID: id, Queue: queue, Min: &quota.Min{
		Items: []quota.Item{{Alternatives: strings.Split(card, "|"), Milli: 1000 * count}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := testkit.Must(l.Reserve(job))
	return a.OK
}

func commit(t testing.TB, l *quota.Ledger, id, job, queue, card string) bool {
	t.Helper()
	task, _, err := l.ResolveTask(quota.Task{ID: id, Job: job, Queue: queue, Cards: []quota.Item{{Alternatives: strings.Split(card, "|"), Milli: 1000}}})
	if err != nil {
		t.Fatal(err)
	}
	a := testkit.Must(l.Commit(task))
	return a.OK
}

// registered collects through a registry that checks everything it can.
func registered(source Source) *prometheus.Registry {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector(source))
	return registry
}

const firstExample = `
# HELP volcano_queue_card_allocated Cards that tasks of the queue use.
# TYPE volcano_queue_card_allocated gauge
volcano_queue_card_allocated{card="A",queue_name="q"} 4
# HELP volcano_queue_card_capacity Cards that the queue may use at most.
# TYPE volcano_queue_card_capacity gauge
volcano_queue_card_capacity{card="A",queue_name="q"} 5
# HELP volcano_queue_card_deserved Cards that the queue deserves.
# TYPE volcano_queue_card_deserved gauge
volcano_queue_card_deserved{card="A",queue_name="q"} 5
# HELP volcano_queue_card_inqueue Cards that are held for jobs of the queue.
# TYPE volcano_queue_card_inqueue gauge
volcano_queue_card_inqueue{card="A",queue_name="q"} 0
# HELP volcano_queue_card_rejections_total Operations on the queue that were refused.
# TYPE volcano_queue_card_rejections_total counter
volcano_queue_card_rejections_total{queue_name="q",reason="InsufficientScalarQuota"} 1
# HELP volcano_queue_card_request Cards that tasks of the queue use or, pending, ask for.
# TYPE volcano_queue_card_request gauge
volcano_queue_card_request{card="A",queue_name="q"} 4
# HELP volcano_queue_card_reservations Jobs of the queue that something is held for.
# TYPE volcano_queue_card_reservations gauge
volcano_queue_card_reservations{queue_name="q"} 0
# HELP volcano_queue_card_share The greatest part that the queue uses of what it deserves in a dimension.
# TYPE volcano_queue_card_share gauge
volcano_queue_card_share{queue_name="q"} 0.8
`

// TestFirstExample is the design's first example up to the refused job; questions
// that are refused don't count.
func TestFirstExample(t *testing.T) {
	l := ledger(t, []string{"A"}, map[string]string{"q": `{"A":5}`})
	registry := registered(l)
	reserve(t, l, "j", "q", "A", 4)
	for i := range 4 {
		if !commit(t, l, fmt.Sprint(i), "j", "q", "A") {
			t.Fatal("refused")
		}
	}
	if reserve(t, l, "k", "q", "A", 2) {
		t.Fatal("not refused")
	}
	job, _, err := l.ResolveJob(quota.Job{ID: "k", Queue: "q", Min: &quota.Min{Items: []quota.Item{{Alternatives: []string{"A"}, Milli: 2000}}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if l.Enqueueable(nil, job) {
			t.Fatal("not refused")
		}
	}
	for range 2 {
		if err := testutil.GatherAndCompare(registry, strings.NewReader(firstExample)); err != nil {
			t.Error(err)
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

// series returns the series of a registry as "name queue label", sorted.
func series(t *testing.T, registry *prometheus.Registry) (all []string) {
	t.Helper()
	families := testkit.Must(registry.Gather())
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "volcano_queue_card_")
		for _, m := range family.GetMetric() {
			text := name
			for _, l := range slices.Backward(m.GetLabel()) {
				text += fmt.Sprintf(" %s=%q", l.GetName(), l.GetValue())
			}
			all = append(all, text)
		}
	}
	return all
}

// TestSeriesComeAndGo: a card without a quota has series while it has amounts; no
// key that a user wrote becomes a label; queues that aren't there share one name.
func TestSeriesComeAndGo(t *testing.T) {
	l := ledger(t, []string{"A", "B", "C"}, map[string]string{"q": `{"A":2,"B":0}`, "r": ``})
	registry := registered(l)
	before := series(t, registry)
	want := []string{
		`allocated queue_name="q" card="A"`, `allocated queue_name="q" card="B"`,
		`capacity queue_name="q" card="A"`, `capacity queue_name="q" card="B"`,
		`deserved queue_name="q" card="A"`, `deserved queue_name="q" card="B"`,
		`inqueue queue_name="q" card="A"`, `inqueue queue_name="q" card="B"`,
		`request queue_name="q" card="A"`, `request queue_name="q" card="B"`,
		`reservations queue_name="q"`, `reservations queue_name="r"`,
		`share queue_name="q"`, `share queue_name="r"`,
	}
	slices.Sort(before)
	slices.Sort(want)
	if !slices.Equal(before, want) {
		t.Errorf("%s", strings.Join(before, "\n"))
	}
	if !commit(t, l, "1", "j", "q", "A|B|C") || !reserve(t, l, "k", "q", "B|A", 1) {
		t.Fatal("refused")
	}
	for i := range 100 {
		reserve(t, l, fmt.Sprint("job ", i), fmt.Sprint("queue ", i), "A|C", 9)
		reserve(t, l, fmt.Sprint("job ", i), "q", "C|A", int64(9+i))
	}
	after := series(t, registry)
	for _, s := range after {
		if strings.Contains(s, "|") {
			t.Errorf("a key became a label: %s", s)
		}
	}
	if len(after) != len(want)+2 { // and rejections of q, and of queues that aren't there
		t.Errorf("%s", strings.Join(after, "\n"))
	}
	l.Release("1")
	l.ReleaseJob("k")
	if now := series(t, registry); !slices.Equal(now, after) {
		t.Errorf("%s", strings.Join(now, "\n"))
	}
}

type samples []quota.QueueStatus

func (s samples) Samples() iter.Seq[quota.QueueStatus] { return slices.Values(s) }

// TestAnySource shows what no ledger yields: names that aren't UTF-8.
func TestAnySource(t *testing.T) {
	registry := registered(samples{
		{Name: "", Rejections: map[quota.Reason]uint64{quota.ReasonUnknownQueue: 3}},
		{Name: "\xff", Share: 1.5, Cards: []quota.Usage{{Resource: "A\xfe", Capability: quota.Unlimited, Allocated: 1500}}},
		{Name: "\xfe", Reservations: 2},
	})
	err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP volcano_queue_card_allocated Cards that tasks of the queue use.
# TYPE volcano_queue_card_allocated gauge
volcano_queue_card_allocated{card="\"A\\xfe\"",queue_name="\"\\xff\""} 1.5
# HELP volcano_queue_card_rejections_total Operations on the queue that were refused.
# TYPE volcano_queue_card_rejections_total counter
volcano_queue_card_rejections_total{queue_name="",reason="UnknownQueue"} 3
# HELP volcano_queue_card_reservations Jobs of the queue that something is held for.
# TYPE volcano_queue_card_reservations gauge
volcano_queue_card_reservations{queue_name="\"\\xfe\""} 2
volcano_queue_card_reservations{queue_name="\"\\xff\""} 0
`), "volcano_queue_card_allocated", "volcano_queue_card_reservations", "volcano_queue_card_rejections_total")
	if err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(NewCollector(samples{{Name: "q", Cards: []quota.Usage{{Resource: "A", Capability: quota.Unlimited}}}}), "volcano_queue_card_capacity"); n != 0 {
		t.Errorf("unlimited capacity has %d series", n)
	}
}

// TestConcurrent collects while the ledger changes; whatever state is shown, what
// is used and held together is what was reserved.
func TestConcurrent(t *testing.T) {
	l := ledger(t, []string{"A"}, map[string]string{"q": `{"A":100}`})
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range 100 {
			id := fmt.Sprint(i)
			reserve(t, l, id, "q", "A", 1)
			commit(t, l, id, id, "q", "A")
		}
	}()
	for going := true; going; {
		select {
		case <-done:
			going = false
		default:
		}
		for s := range l.Samples() {
			c := s.Cards[0]
			if c.Inqueue > 1000 || c.Inqueue != quota.Amount(s.Reservations)*1000 {
				t.Fatalf("%+v", s)
			}
		}
	}
	if n := testutil.CollectAndCount(NewCollector(l)); n != 7 {
		t.Errorf("%d series", n)
	}
}

func TestNilSource(t *testing.T) {
	defer func() {
		if got := recover(); got != "quotametrics: nil source" {
			t.Errorf("panic %v", got)
		}
	}()
	NewCollector(nil)
}

// TestSeveralLedgers registers two with a label of their own.
func TestSeveralLedgers(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, name := range []string{"east", "west"} {
		l := ledger(t, []string{"A"}, map[string]string{"q": `{"A":5}`})
		prometheus.WrapRegistererWith(prometheus.Labels{"ledger": name}, registry).MustRegister(NewCollector(l))
	}
	if n, err := testutil.GatherAndCount(registry, "volcano_queue_card_capacity"); n != 2 || err != nil {
		t.Errorf("%d series, %v", n, err)
	}
}

// BenchmarkCollect is one collection from 10,000 queues with quotas for four of 64
// cards and ten reservations each.
func BenchmarkCollect(b *testing.B) {
	const queues = 10_000
	cards := make([]string, 64)
	for i := range cards {
		cards[i] = fmt.Sprintf("card-%02d", i)
	}
	quotas := map[string]string{}
	for i := range queues {
		quotas[fmt.Sprintf("queue-%04d", i)] = fmt.Sprintf(`{%q:99,%q:99,%q:99,%q:99}`, cards[i%64], cards[(i+7)%64], cards[(i+13)%64], cards[(i+31)%64])
	}
	l := ledger(b, cards, quotas)
	for i := range 10 * queues {
		if !reserve(b, l, fmt.Sprint("job-", i), fmt.Sprintf("queue-%04d", i%queues), cards[i%queues%64], 1) {
			b.Fatal("refused")
		}
	}
	want := queues * (4*5 + 2)
	b.Run("samples", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for s := range l.Samples() {
				n += 5*len(s.Cards) + 2
			}
			if n != want {
				b.Fatalf("%d series", n)
			}
		}
	})
	b.Run("collect", func(b *testing.B) {
		c := NewCollector(l)
		for b.Loop() {
			if n := testutil.CollectAndCount(c); n != want {
				b.Fatalf("%d series", n)
			}
		}
	})
}

// TestOutputs: outputs are in whole units, whatever their queue is limited in.
func TestOutputs(t *testing.T) {
	var queues []quota.Queue
	for name, capability := range map[string]corev1.ResourceList{
		"free": nil, "q": {"example.com/credits": resource.MustParse("10")},
	} {
		queues = append(queues, quota.Queue{Name: name, Capability: capability, Deserved: capability})
	}
	l := testkit.Must(quota.New(quota.Config{Outputs: []corev1.ResourceName{"example.com/credits"}}, nil, queues))
	task, _, err := l.ResolveTask(quota.Task{ID: "t", Job: "j", Queue: "q", Request: corev1.ResourceList{"example.com/credits": resource.MustParse("3")}})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := l.Commit(task); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	const want = `
# HELP resvec_queue_output_allocated Units of the output that tasks of the queue use.
# TYPE resvec_queue_output_allocated gauge
resvec_queue_output_allocated{output="example.com/credits",queue_name="free"} 0
resvec_queue_output_allocated{output="example.com/credits",queue_name="q"} 3
# HELP resvec_queue_output_capacity Units of the output that the queue may use at most.
# TYPE resvec_queue_output_capacity gauge
resvec_queue_output_capacity{output="example.com/credits",queue_name="q"} 10
# HELP resvec_queue_output_deserved Units of the output that the queue deserves.
# TYPE resvec_queue_output_deserved gauge
resvec_queue_output_deserved{output="example.com/credits",queue_name="free"} 0
resvec_queue_output_deserved{output="example.com/credits",queue_name="q"} 10
`
	if err := testutil.CollectAndCompare(NewCollector(l), strings.NewReader(want),
		"resvec_queue_output_allocated", "resvec_queue_output_capacity", "resvec_queue_output_deserved"); err != nil {
		t.Error(err)
	}
}
