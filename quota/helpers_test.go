package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota/internal/book"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var inf = math.Inf(1)

var (
	allPhases     = []Phase{PhasePending, PhaseInqueue, PhaseRunning, "Unknown", "Completed"}
	allTaskPhases = []TaskPhase{
		"", TaskPending, TaskAllocated, "Binding", "Bound", TaskAllocated, TaskReleasing, TaskPipelined, TaskSucceeded, TaskFailed,
	}
)

// cluster is a catalog of made-up cards on nodes, all on one resource unless
// the card's name says otherwise, as in M@nvidia.com/mig-1g.5gb.
func cluster(nodes map[string]string) *device.Catalog {
	var inv device.Inventory
	for _, name := range sorted(nodes) {
		n := device.Node{Name: name}
		for _, entry := range strings.Fields(nodes[name]) {
			card, count, _ := strings.Cut(entry, ":")
			card, resource, found := strings.Cut(card, "@")
			if !found {
				resource = "nvidia.com/gpu"
			}
			c := testkit.Must(strconv.ParseInt(count, 10, 64))
			n.Cards = append(n.Cards, device.Card{Name: card, Resource: corev1.ResourceName(resource), Count: c})
		}
		inv.Nodes = append(inv.Nodes, n)
	}
	return inv.Catalog()
}

// amount parses 3, 2500m or inf into thousandths.
func amount(text string) int64 {
	if text == "inf" {
		return Unlimited
	}
	if milli, ok := strings.CutSuffix(text, "m"); ok {
		return testkit.Must(strconv.ParseInt(milli, 10, 64))
	}
	f := testkit.Must(strconv.ParseFloat(text, 64))
	return int64(f * 1000)
}

// parts splits "cpu:2 mem:3 A|B:4" into names and amounts; mem is in Gi.
func parts(text string) (names []string, amounts []int64) {
	for _, entry := range strings.Fields(text) {
		at := strings.LastIndex(entry, ":")
		n := amount(entry[at+1:])
		if entry[:at] == "mem" && n != Unlimited {
			n = n / 1000 << 30
		}
		names, amounts = append(names, entry[:at]), append(amounts, n)
	}
	return names, amounts
}

// vectorOf makes a vector and the mentioned dimensions of "cpu:2 mem:3 A:4".
func vectorOf(m *vectormap.ResourceVectorMap, text string) (v vector.ResourceVector, mentioned []int) {
	v, mentioned = m.NewVector(), []int{}
	names, amounts := parts(text)
	for i, name := range names {
		dim := map[string]int{"cpu": vectormap.CPU, "mem": vectormap.Memory}[name]
		if name != "cpu" && name != "mem" {
			var ok bool
			if dim, ok = cardIndex(m, name); !ok {
				panic("no card " + name)
			}
		}
		v[dim] = float64(amounts[i])
		if amounts[i] == Unlimited {
			v[dim] = inf
		}
		mentioned = append(mentioned, dim)
	}
	slices.Sort(mentioned)
	return v, mentioned
}

// testMap makes the map of a ledger with cards.
func testMap(cards []string, outputs ...corev1.ResourceName) (*vectormap.ResourceVectorMap, error) {
	m, err := newMap(outputs)
	if err != nil {
		return nil, err
	}
	return extendMap(m, cards)
}

// deny0 makes a 0 of the capability a limit.
func (q *builtQueue) deny0(dim int) {
	if q.denied == nil {
		q.denied = map[int]string{}
	}
	q.denied[dim] = ""
}

// newBuilt is New for queues in vectors of a map, which testMap made.
func newBuilt(cfg Config, m *vectormap.ResourceVectorMap, catalog *device.Catalog, queues []builtQueue) (*Ledger, error) {
	cfg.Outputs = outputsOf(m)
	l, err := newLedger(cfg)
	if err != nil {
		return nil, err
	}
	l.widen(m)
	if _, err := l.SetCatalog(catalog); err != nil {
		return nil, err
	}
	if _, _, err := l.setBuilt(queues, nil); err != nil {
		return nil, err
	}
	l.seq = 0
	return l, nil
}

func outputsOf(m *vectormap.ResourceVectorMap) (outputs []corev1.ResourceName) {
	for dim := range m.Len() {
		if output := outputOf(m, dim); output != "" {
			outputs = append(outputs, output)
		}
	}
	return outputs
}

// setBuilt is SetQueues for queues in vectors of a map; nil: the ledger's.
func (l *Ledger) setBuilt(queues []builtQueue, m *vectormap.ResourceVectorMap) (orphans []string, seq uint64, err error) {
	l.lock()
	queues = slices.Clone(queues)
	for i := range queues {
		queues[i].State = queues[i].State.known()
		queues[i].denied = maps.Clone(queues[i].denied)
	}
	var f faults
	f.tree(queues)
	if err = f.err(); err == nil {
		orphans, err = l.setQueues(queues, cmp.Or(m, l.m))
	}
	return orphans, l.unlock(err == nil), err
}

// buildQueue builds one queue by the dimensions of a map.
func (c *Config) buildQueue(m *vectormap.ResourceVectorMap, q Queue) (builtQueue, []entryError, error) {
	parent := q.Parent
	q.Parent = "" // which isn't among them
	_, built, notes, f := c.build(m, []Queue{q})
	built[0].Parent = parent
	return built[0], notes[0], f.err()
}

// validateBuilt is Validate for queues in vectors of a map.
func (c *Config) validateBuilt(queues []builtQueue, m *vectormap.ResourceVectorMap, catalog *device.Catalog) (errs, warnings field.ErrorList) {
	var f faults
	f.tree(queues)
	return f.list, c.warnings(m, queues, make([][]entryError, len(queues)), catalog)
}

// namedCards returns the cards that queues name.
func (c *Config) namedCards(queues []Queue) []string {
	m, _, _, _ := c.build(testkit.Must(testMap(nil)), queues)
	var cards []string
	for dim := range m.Len() {
		if card, is := cardOf(m, dim); is {
			cards = append(cards, card)
		}
	}
	return cards
}

// resolved returns what was resolved, or a queue that was built, without its notes.
func resolved[T, N any](v T, _ N, err error) T { return testkit.Must(v, err) }

// world is a ledger with short names.
type world struct {
	*testing.T
	*Ledger
}

// q is a queue in short: "q < parent", capability, and what else is set.
func q(m *vectormap.ResourceVectorMap, name, capability string) builtQueue {
	name, parent, _ := strings.Cut(name, " < ")
	queue := builtQueue{Name: name, Parent: parent}
	var mentioned []int
	queue.Capability, mentioned = vectorOf(m, capability)
	for _, dim := range mentioned {
		if queue.Capability[dim] == 0 {
			queue.deny0(dim)
		}
	}
	return queue
}

// qs are queues of name, capability pairs.
func qs(m *vectormap.ResourceVectorMap, pairs ...string) (queues []builtQueue) {
	for i := 0; i+1 < len(pairs); i += 2 {
		queues = append(queues, q(m, pairs[i], pairs[i+1]))
	}
	return queues
}

// newWorld makes a ledger over cards A B C H K V, all discovered, with queues
// given as name, capability pairs.
func newWorld(t *testing.T, cfg Config, pairs ...string) *world {
	t.Helper()
	m := testkit.Must(testMap([]string{"A", "B", "C", "H", "K", "V"}))
	return &world{t, testkit.Must(newBuilt(cfg, m, cluster(map[string]string{"n": "A:10 B:10 C:10 H:10 K:10 V:10"}), qs(m, pairs...)))}
}

// worldFrom makes a ledger as its users do.
func worldFrom(t *testing.T, cfg Config, catalog *device.Catalog, queues ...Queue) *world {
	t.Helper()
	return &world{t, testkit.Must(New(cfg, catalog, queues))}
}

// replace sets queues that can't be refused.
func (w *world) replace(queues ...builtQueue) (orphans []string) {
	w.Helper()
	orphans, _, err := w.setBuilt(queues, nil)
	return testkit.Must(orphans, err)
}

// task makes a request: "cpu:1 A|B:1".
func (w *world) task(id, job, queue, text string) *TaskRequest {
	r := &TaskRequest{id: id, job: job, queue: queue}
	names, amounts := parts(text)
	for i, name := range names {
		switch name {
		case "cpu":
			r.use.Plain[dimCPU] = amounts[i]
		case "mem":
			r.use.Plain[dimMemory] = amounts[i]
		default:
			r.use.Items = append(r.use.Items, book.UseItem{Alts: w.alts(name), Amount: amounts[i]})
		}
	}
	return r
}

func (w *world) alts(text string) *book.Alternatives {
	var cards []int32
	for _, name := range strings.Split(text, "|") {
		cards = append(cards, w.dims[name])
	}
	return w.intern(cards)
}

// job makes a request: "cpu:1 A:1 A|B:3"; "A|B:6/2" has units of 2.
func (w *world) job(id, queue, text string) *JobRequest {
	r := &JobRequest{id: id, queue: queue}
	r.min.AnyMix = w.cfg.AnyMix
	units := map[int]int64{}
	fields := strings.Fields(text)
	for i, f := range fields {
		if min, unit, ok := strings.Cut(f, "/"); ok {
			fields[i], units[i] = min, amount(unit)
		}
	}
	names, amounts := parts(strings.Join(fields, " "))
	for i, name := range names {
		switch name {
		case "cpu":
			r.min.Plain[dimCPU] = amounts[i]
		case "mem":
			r.min.Plain[dimMemory] = amounts[i]
		default:
			unit := units[i]
			if unit == 0 {
				unit = 1000
			}
			r.min.Items = append(r.min.Items, book.MinItem{Alts: w.alts(name), Amount: amounts[i], Unit: unit})
		}
	}
	slices.SortStableFunc(r.min.Items, compareItems)
	return r
}

// reserve reserves and says what came of it: "yes", "repeat", or the reason with
// room and limit in cards.
func (w *world) reserve(id, queue, text string) string {
	a, err := w.Reserve(w.job(id, queue, text))
	return say(a, err)
}

func (w *world) probe(queue, text string) string {
	var a Answer
	w.Enqueueable(&a, w.job("probe", queue, text))
	return say(a, nil)
}

func (w *world) commit(id, job, queue, text string, cards ...string) string {
	a, err := w.Commit(w.task(id, job, queue, text), cards...)
	if s := say(a, err); s != "yes" {
		return s
	}
	return strings.Join(a.Charged, " ")
}

// may lists the alternatives with room.
func (w *world) may(id, job, queue, text string) string {
	var a Answer
	w.Allocatable(&a, w.task(id, job, queue, text))
	var ok []string
	for _, o := range a.Options {
		if o.Why == "" {
			ok = append(ok, o.Resource)
		}
	}
	if !a.OK {
		return say(a, nil)
	}
	return strings.Join(ok, " ")
}

func say(a Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case a.Repeat:
		return "repeat"
	case a.OK:
		return "yes"
	}
	r := a.Refusal
	name := strings.TrimSuffix(strings.TrimPrefix(string(r.Reason), "Insufficient"), "Quota")
	switch r.Reason {
	case ReasonInsufficientCPUQuota, ReasonInsufficientMemoryQuota, ReasonInsufficientScalarQuota:
		return fmt.Sprintf("%s %d of %d at %s", name, r.Room, r.Limit, r.Level)
	case ReasonGetTaskRequestResourceFailed:
		return "GetTask"
	case ReasonEmptyQueueCapability:
		return "Empty"
	}
	return name
}

// state lists what a queue has in a card: allocated/held/elastic in milli.
func (w *world) state(queue, card string) string {
	c := w.queues[queue].Cells[w.dims[card]]
	return fmt.Sprintf("%d/%d/%d", c.Allocated, c.Held, c.Elastic)
}

// known leaves out the number of a change.
func known(_ uint64, known bool) bool { return known }

func (w *world) want(got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("got %q, want %q", got, want)
	}
}
