package quota

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/quota/internal/book"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// The model test makes random operations on small worlds, on a ledger and on the
// golden one, and compares every answer and the state after each change. Longer
// runs, or the repeat of one that failed:
//
//	GOGC=800 QUOTA_MODEL_OPERATIONS=100000000 QUOTA_MODEL_SEED=7 go test -run TestModel -timeout 0 ./quota
const (
	modelOperations = "QUOTA_MODEL_OPERATIONS"
	modelSeed       = "QUOTA_MODEL_SEED"
)

// modelStory is how many operations one world lives.
const modelStory = 1000

func TestModel(t *testing.T) {
	operations := testkit.Environment(t, modelOperations, uint64(testkit.Amount(t, 20_000, 100_000, 1_000_000)))
	first := testkit.Environment(t, modelSeed, 1)
	stories := max(1, operations/modelStory)
	var mu sync.Mutex
	total := histogram{}
	t.Run("stories", func(t *testing.T) {
		const shards = 4
		for shard := range uint64(shards) {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				counts := histogram{}
				for seed := first + shard; seed < first+stories && !t.Failed(); seed += shards {
					newModel(t, seed, counts).run(modelStory)
				}
				mu.Lock()
				defer mu.Unlock()
				for what, n := range counts {
					total[what] += n
				}
			})
		}
	})
	if !t.Failed() {
		total.check(t, operations)
	}
}

// modelOrphan is counted for every orphan below another queue.
const modelOrphan = "an orphan below another queue"

// histogram counts operations by what came of them: "Commit: yes".
type histogram map[string]int

// check prints the histogram, and looks for what should have occurred.
func (h histogram) check(t *testing.T, operations uint64) {
	all, changes := 0, 0
	seen := map[string]bool{}
	for _, what := range slices.Sorted(maps.Keys(h)) {
		t.Logf("%9d %s", h[what], what)
		op, outcome, isOperation := strings.Cut(what, ": ")
		seen[op], seen[outcome] = true, true
		if !isOperation {
			continue
		}
		all += h[what]
		if outcome == "changed" {
			changes += h[what]
		}
	}
	t.Logf("%d of %d operations changed the state", changes, all)
	if changes*10 < all*4 {
		t.Errorf("only %d of %d operations changed the state", changes, all)
	}
	if operations < 100_000 {
		return
	}
	wanted := []string{"repeat", "conflict", string(ReasonTooLarge), modelOrphan}
	for _, op := range modelOps {
		wanted = append(wanted, op.name)
	}
	for _, row := range reasons[1:book.OverCapacity] {
		wanted = append(wanted, string(row.reason))
	}
	for _, what := range wanted {
		if !seen[what] {
			t.Errorf("%s never occurred", what)
		}
	}
}

// model is a random story, on a ledger and on the golden one.
type model struct {
	*testing.T
	*rand.Rand
	seed   uint64
	counts histogram
	l      *Ledger
	g      *golden
	m      *vectormap.ResourceVectorMap
	events []Event
	step   int
	what   string     // the present operation
	over   []Headroom // of the golden ledger: all of it must be in Over (7)
	queues []goldQueue
	places map[string]int // of the golden ledger's dimensions in the map
	large  bool           // amounts may be huge
	card   int64          // what a card is counted as: thousandths or, in a story of small amounts, 1
	leaves []string       // if several models use the ledger: where jobs are, by their id
	mask   vector.Mask

	// Requests are asked for again later, by the handles that they had.
	jobs   []*goldRequest
	tasks  []*goldRequest
	jobOf  map[*goldRequest]*JobRequest
	taskOf map[*goldRequest]*TaskRequest
}

// modelHandles is how many requests a story remembers.
const modelHandles = 16

// forget forgets all handles: they belong to one ledger.
func (m *model) forget() {
	m.jobs, m.tasks, m.jobOf, m.taskOf = nil, nil, map[*goldRequest]*JobRequest{}, map[*goldRequest]*TaskRequest{}
}

var modelCards = []string{"A", "B", "C", "D", "E", "F"}

// modelOutputs are what a ledger may have.
var modelOutputs = [][]string{goldOutputs, goldOutputs[:1], goldOutputs[1:], {}}

var modelNodes = []string{"n0", "n1", "n2"}

// modelClusters are the same cards on other nodes, or on none.
var modelClusters = func() (clusters []*device.Catalog) {
	for i := range 8 {
		nodes := map[string]string{}
		for n, name := range modelNodes {
			var cards []string
			for k, card := range modelCards {
				if (i+n+k)%3 != 0 && i > 0 {
					cards = append(cards, fmt.Sprintf("%s:%d", card, 1+(i*k+n)%5))
				}
			}
			nodes[name] = strings.Join(cards, " ")
		}
		clusters = append(clusters, cluster(nodes))
	}
	return clusters
}()

func newModel(t *testing.T, seed uint64, counts histogram) *model {
	m := &model{T: t, Rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, counts: counts, what: "New"}
	cfg := Config{
		AnyMix:           m.IntN(2) == 1,
		MissingUnlimited: m.IntN(2) == 1,
		EnforceGuarantee: m.IntN(4) == 0,
		CountReleasing:   m.IntN(4) == 0,

		UnlimitedCPUMemory: m.IntN(4) == 0,
	}
	if m.IntN(2) == 0 {
		cfg.OnEvent = func(e Event) { m.events = append(m.events, e) }
	}
	m.large = m.IntN(4) == 0
	if m.card = []int64{1000, 1000, 1}[m.IntN(3)]; m.card == 1 {
		cfg.EnforceGuarantee = false // of the nodes' cards, which are whole
	}
	cluster := modelClusters[m.IntN(len(modelClusters))]
	n := len(modelCards)
	if len(cluster.Cards()) == 0 {
		n -= m.IntN(3)
	}
	m.g = newGolden(cfg, modelOutputs[m.IntN(len(modelOutputs))])
	m.m = testkit.Must(testMap(nil, outputNames(m.g.outs)...))
	m.widen(modelCards[:n])
	m.g.setCatalog(cluster)
	m.newQueues()
	m.g.setQueues(m.queues)
	l, err := newBuilt(cfg, m.m, cluster, m.specs())
	if err != nil {
		m.fatal("%v", err)
	}
	m.l = l
	m.forget()
	return m
}

func (g *golden) setCatalog(c *device.Catalog) {
	totals := c.Totals()
	g.nodes = map[string]map[string]int64{}
	for _, node := range modelNodes {
		g.nodes[node] = map[string]int64{}
		for _, card := range c.CardsOf(node) {
			g.nodes[node][card.Name] = 1000 * card.Count
		}
	}
	g.total = map[string]int64{"cpu": totals.CPUMilli, "memory": totals.MemoryBytes}
	for _, card := range totals.Cards {
		g.total[card.Name], g.known[card.Name] = card.Milli, true
	}
}

func (m *model) fatal(format string, args ...any) {
	m.Helper()
	m.Fatalf("%s=%d, operation %d, %s: %s", modelSeed, m.seed, m.step, m.what, fmt.Sprintf(format, args...))
}

// run makes operations.
func (m *model) run(n int) {
	sum := 0
	for _, op := range modelOps {
		sum += op.weight
	}
	for m.step = 0; m.step < n; m.step++ {
		at := m.IntN(sum)
		for _, op := range modelOps {
			if at -= op.weight; at < 0 {
				m.what = op.name
				op := op.do(m)
				m.compare(op.ledger(), op.golden(m.g))
				break
			}
		}
		if m.step%128 == 127 {
			m.compareRecords("")
			m.compareRestored()
		}
	}
}

// modelResult is what came of an operation.
type modelResult struct {
	answers []Answer
	err     error
	text    string // what else was returned
	seq     uint64 // that the answer is of
	changed bool   // the ledger
	job     string // the only one whose record may have changed; empty: any
	outcome string // for the histogram, of what has no answers; empty: whether it changed something
}

// modelAsked is the result of a question.
func modelAsked(a Answer) modelResult { return modelResult{answers: []Answer{a}, seq: a.Seq} }

// modelAnswered is the result of a change with one answer.
func modelAnswered(a Answer, err error, job string) modelResult {
	return modelResult{answers: []Answer{a}, err: err, seq: a.Seq, changed: a.changed(), job: job}
}

// modelReturned is a result with nothing but a number and values.
func modelReturned(seq uint64, changed bool, values ...any) modelResult {
	return modelResult{text: fmt.Sprint(seq, values), seq: seq, changed: changed}
}

// number is the one that an operation has: of its change or, if there is none, of the state.
func (g *golden) number(changed bool) uint64 {
	if changed {
		return g.seq + 1
	}
	return g.seq
}

// modelOp is an operation with its arguments, to be made on the ledger and on the golden one.
type modelOp struct {
	ledger func() modelResult
	golden func(g *golden) modelResult
}

// modelOps are the operations and how often they are made. do draws the arguments.
var modelOps = []struct {
	name   string
	weight int
	do     func(m *model) modelOp
}{
	{"Enqueueable", 7, func(m *model) modelOp {
		r := m.job(m.jobID(m.IntN(3) == 0))
		handle := m.jobHandle(r)
		return modelOp{func() modelResult {
			var a Answer
			m.l.Enqueueable(&a, handle)
			return modelAsked(a)
		}, func(g *golden) modelResult {
			a, _ := g.enqueueable(r)
			return modelAsked(a)
		}}
	}},
	{"Allocatable", 7, (*model).allocatable},
	{"EnqueueableBatch", 2, func(m *model) modelOp {
		ask := func(handles []*JobRequest) uint64 { return m.l.EnqueueableBatch(&m.mask, handles) }
		return modelBatch(m, ask, func() (*JobRequest, func(g *golden) bool) {
			r := m.job(m.jobID(m.IntN(3) == 0))
			return m.jobHandle(r), func(g *golden) bool { a, _ := g.enqueueable(r); return a.OK }
		})
	}},
	{"AllocatableBatch", 2, func(m *model) modelOp {
		ask := func(handles []*TaskRequest) uint64 { return m.l.AllocatableBatch(&m.mask, handles) }
		return modelBatch(m, ask, func() (*TaskRequest, func(g *golden) bool) {
			r := m.task(m.taskID(m.IntN(9) == 0))
			return m.taskHandle(r), func(g *golden) bool { a, _ := g.allocatable(r, nil); return a.OK }
		})
	}},
	{"JobCopies", 1, func(m *model) modelOp {
		r := m.job(m.jobID(false))
		for m.tiny(r) {
			r = m.job(m.jobID(false))
		}
		handle := m.jobHandle(r)
		return m.copies(r, func() (Fits, error) { return m.l.JobCopies(handle) })
	}},
	{"TaskCopies", 1, func(m *model) modelOp {
		r := m.task(m.taskID(false))
		for m.tiny(r) {
			r = m.task(m.taskID(false))
		}
		handle := m.taskHandle(r)
		return m.copies(r, func() (Fits, error) { return m.l.TaskCopies(handle) })
	}},
	{"Reserve", 9, func(m *model) modelOp { return m.reserve(m.jobID(false), m.l.Reserve, false) }},
	{"Resize", 7, func(m *model) modelOp { return m.reserve(m.jobID(m.IntN(4) > 0), m.l.Resize, true) }},
	{"ReserveMany", 3, func(m *model) modelOp {
		var jobs []*goldRequest
		var handles []*JobRequest
		for range 1 + m.IntN(4) {
			r := m.job(m.jobID(false))
			jobs, handles = append(jobs, r), append(handles, m.jobHandle(r))
		}
		many := func(answers []Answer, err error) modelResult {
			r := modelResult{answers: answers, err: err}
			for _, a := range answers {
				r.seq, r.changed = max(r.seq, a.Seq), r.changed || a.changed()
			}
			return r
		}
		return modelOp{func() modelResult { return many(m.l.ReserveMany(handles)) }, func(g *golden) modelResult {
			var answers []Answer
			var first error
			for _, r := range jobs {
				a, err := g.reserve(r, false)
				answers, first = append(answers, a), cmp.Or(first, err)
			}
			return many(answers, first)
		}}
	}},
	{"Commit", 30, func(m *model) modelOp {
		r, cards := m.task(m.taskID(m.IntN(12) == 0)), m.node()
		handle, node := m.taskHandle(r), r.node
		ledger := func() (Answer, error) { return m.l.Commit(handle, cards...) }
		if m.IntN(5) == 0 {
			node = m.oneOf("n0", "n1", "n2", "gone")
			cards = m.cardsOf(node)
			ledger = func() (Answer, error) { return m.l.CommitOn(handle, node) }
		}
		return modelChange(r.job, ledger, func(g *golden) (Answer, error) { return g.commit(r, cards, node) })
	}},
	{"CommitAll", 6, func(m *model) modelOp {
		gang := m.gang()
		var handles []*TaskRequest
		for _, r := range gang {
			handles = append(handles, m.taskHandle(r))
		}
		ledger := func() (Answer, error) { return m.l.CommitAll(handles) }
		return modelChange("", ledger, func(g *golden) (Answer, error) { return g.commitAll(gang) })
	}},
	{"Rollback", 6, func(m *model) modelOp { return m.giveBack(m.l.Rollback, false) }},
	{"Release", 10, func(m *model) modelOp { return m.giveBack(m.l.Release, true) }},
	{"ReleaseJob", 3, func(m *model) modelOp {
		id := m.jobID(true)
		return modelOp{func() modelResult {
			seq, known := m.l.ReleaseJob(id)
			return modelReturned(seq, known, known)
		}, func(g *golden) modelResult {
			known := g.releaseJob(id)
			return modelReturned(g.number(known), known, known)
		}}
	}},
	{"Expire", 1, func(m *model) modelOp {
		now := seqOf(m.l)
		before := now - min(now, uint64(m.IntN(200)))
		return modelOp{func() modelResult {
			expired, seq := m.l.Expire(before)
			return modelReturned(seq, len(expired) > 0, expired)
		}, func(g *golden) modelResult {
			expired := g.expire(before)
			return modelReturned(g.number(len(expired) > 0), len(expired) > 0, expired)
		}}
	}},
	{"SetQueues", 3, func(m *model) modelOp { m.newQueues(); return m.setQueues() }},
	{"SetQueues, branch", 2, func(m *model) modelOp { m.cutBranch(); return m.setQueues() }},
	{"SetCatalog", 1, func(m *model) modelOp { // another one, which has all cards or none
		c := modelClusters[m.IntN(len(modelClusters))]
		return modelOp{func() modelResult {
			seq, err := m.l.SetCatalog(c)
			return modelReturned(seq, true, err)
		}, func(g *golden) modelResult {
			if len(c.Cards()) > 0 {
				m.widen(modelCards[len(m.g.cards):])
			}
			g.setCatalog(c)
			return modelReturned(g.number(true), true, error(nil))
		}}
	}},
	{"Restore", 1, func(m *model) modelOp { // and go on with what the snapshot has
		return modelOp{func() modelResult {
			m.l = m.compareRestored()
			m.forget()
			return modelResult{}
		}, func(*golden) modelResult { return modelResult{} }}
	}},
	{"Reconcile", 4, (*model).reconcile},
}

// modelChange is a change of one job, empty: of any, that has one answer.
func modelChange(job string, ledger func() (Answer, error), again func(g *golden) (Answer, error)) modelOp {
	return modelOp{func() modelResult {
		a, err := ledger()
		return modelAnswered(a, err, job)
	}, func(g *golden) modelResult {
		a, err := again(g)
		return modelAnswered(a, err, job)
	}}
}

func (m *model) reserve(id string, ledger func(*JobRequest) (Answer, error), resize bool) modelOp {
	r := m.job(id)
	handle := m.jobHandle(r)
	return modelChange(r.id, func() (Answer, error) { return ledger(handle) }, func(g *golden) (Answer, error) { return g.reserve(r, resize) })
}

func (m *model) giveBack(ledger func(ids ...string) (uint64, bool), ended bool) modelOp {
	ids := m.taskIDs()
	return modelOp{func() modelResult {
		seq, known := ledger(ids...)
		return modelReturned(seq, known, known)
	}, func(g *golden) modelResult {
		known, changed := g.giveBack(ended, ids)
		return modelReturned(g.number(changed), changed, known)
	}}
}

// difference is what two results of an operation differ in, "" if in nothing.
func (got *modelResult) difference(want modelResult) string {
	if !errors.Is(got.err, want.err) || (got.err == nil) != (want.err == nil) {
		return fmt.Sprintf("error %v, want %v", got.err, want.err)
	}
	if diff := difference(got.text, want.text); diff != "" {
		return "got " + diff
	}
	for i := range want.answers {
		g, w := got.answers[i], want.answers[i]
		g.Refusal.Detail, g.Refusal.facts = "", facts{}
		if g.OK != w.OK || g.Repeat != w.Repeat || g.Seq != w.Seq || g.Refusal != w.Refusal || g.Task != w.Task ||
			!slices.Equal(g.Options, w.Options) || !slices.Equal(g.Charged, w.Charged) {
			return fmt.Sprintf("got\n%+v, want\n%+v", g, w)
		}
	}
	return ""
}

// compare compares what came of an operation and the state, and counts it.
func (m *model) compare(got, want modelResult) {
	m.Helper()
	if diff := got.difference(want); diff != "" {
		m.fatal("%s", diff)
	}
	for i := range want.answers {
		m.counts[m.what+": "+m.outcome(&want.answers[i], want.err)]++
	}
	if want.changed {
		m.g.seq++
		want.outcome = cmp.Or(want.outcome, "changed")
	}
	if len(want.answers) == 0 {
		m.counts[m.what+": "+cmp.Or(want.outcome, "nothing")]++
	}
	m.compareSums()
	m.compareEvents(want.changed)
	if want.changed {
		if found := m.l.Check(); found != nil {
			m.fatal("%v", found)
		}
		m.compareRecords(want.job)
	}
}

// outcome is what came of a question or change with an answer.
func (m *model) outcome(a *Answer, err error) string {
	switch {
	case errors.Is(err, ErrConflict):
		return "conflict"
	case a.Refusal.Why == ReasonTooLarge:
		return string(ReasonTooLarge)
	case a.Repeat:
		return "repeat"
	case !a.OK:
		return string(a.Refusal.Reason)
	case a.Seq > m.g.seq:
		return "changed"
	}
	return "yes"
}

// Random requests.

func (m *model) oneOf(items ...string) string { return items[m.IntN(len(items))] }

// id is an id such as j7, mostly one of some or, if it shouldn't be, another.
func (m *model) id(kind string, n int, among bool, ids []string) string {
	id := fmt.Sprint(kind, m.IntN(n))
	switch {
	case m.IntN(10) == 0:
	case among && len(ids) > 0:
		return ids[m.IntN(len(ids))]
	case !among:
		for range 10 {
			if slices.Contains(ids, id) {
				id = fmt.Sprint(kind, m.IntN(n))
			}
		}
	}
	return id
}

// taskID is an id, mostly of a task that is charged or of one that isn't.
func (m *model) taskID(charged bool) string { return m.id("t", 40, charged, m.charged()) }

// charged are the ids of all tasks that are charged.
func (m *model) charged() (ids []string) {
	for _, j := range m.g.jobs {
		for _, t := range j.tasks {
			ids = append(ids, t.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// jobID is an id, mostly of a job that is reserved or of one that isn't.
func (m *model) jobID(reserved bool) string { return m.id("j", 14, reserved, m.reserved()) }

// reserved are the ids of jobs whose min is known.
func (m *model) reserved() (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(m.g.jobs)) {
		if m.g.jobs[id].reserved {
			ids = append(ids, id)
		}
	}
	return ids
}

// queue is the name of a queue, now and then of none.
func (m *model) queue() string {
	if m.IntN(80) == 0 || len(m.queues) == 0 {
		return "nope"
	}
	for range 4 {
		if q := m.queues[m.IntN(len(m.queues))].name; m.g.refuses(&goldRequest{queue: q}).Reason == "" && (len(m.g.queues[q].capability) > 0 || m.IntN(4) == 0) {
			return q
		}
	}
	return m.queues[m.IntN(len(m.queues))].name
}

var modelAlternatives = func() (lists [][]string) {
	for _, text := range []string{
		"A", "A", "B", "B", "C", "D", "E", "F", "A|B", "A|B", "A|B", "B|A", "A|B|C", "A|B|C", "B|C", "C|A", "D|E", "D|E", "D|E|F", "A|B|C|D|E|F", "x", "x", "y",
	} {
		lists = append(lists, strings.Split(text, "|"))
	}
	return lists
}()

// wants makes items that are different; of a task, they share no card.
func (m *model) wants(most int, task bool) (wants []goldItem) {
	used := map[string]bool{}
	for range most {
		want := m.want(task)
		uses := want.cards
		if !task {
			uses = []string{fmt.Sprint(goldKey(want.cards), want.unit)}
		}
		unknown := func(dim string) bool { return !slices.Contains(m.g.dims(), dim) }
		if slices.ContainsFunc(want.cards, unknown) || slices.ContainsFunc(uses, func(use string) bool { return used[use] }) {
			continue
		}
		for _, use := range uses {
			used[use] = true
		}
		wants = append(wants, want)
	}
	slices.SortStableFunc(wants, func(a, b goldItem) int { // outputs come last
		if !goldOutput(a.cards[0]) && !goldOutput(b.cards[0]) {
			return 0
		}
		return a.compare(b)
	})
	return wants
}

// want makes an item of a task or a min.
func (m *model) want(task bool) goldItem {
	want := goldItem{cards: modelAlternatives[m.IntN(len(modelAlternatives))], unit: m.card}
	output, several := goldOutput(want.cards[0]), len(want.cards) > 1
	switch n := int64(1 + m.IntN(4)); {
	case task:
		want.amount = max([...]int64{1000, 1000, 1000, 1000, 2000, 500, 3000, 1}[m.IntN(8)]*m.card/1000, 1)
	case output:
		want.unit, want.amount = 1000, n*m.card
	case several && m.IntN(4) == 0:
		want.unit *= 2
		want.amount = n * want.unit
	default:
		want.amount = n * want.unit
	}
	if !task && !several && m.IntN(8) == 0 {
		want.amount = 1
	}
	if m.large && m.IntN(8) == 0 {
		if want.amount = m.huge(); !task {
			want.amount -= want.amount % want.unit
		}
	}
	return want
}

// plain makes an amount of cpu or memory.
func (m *model) plain() int64 {
	if m.large && m.IntN(10) == 0 {
		return m.huge()
	}
	switch n := m.IntN(100); {
	case n < 60:
		return 0
	case n >= 95: // what a guard of more than nothing must let in
		return 1
	default:
		return int64(m.IntN(4)) * max(m.card/2, 1)
	}
}

// huge is an amount that has no room with another one.
func (m *model) huge() int64 {
	return [...]int64{1<<53 - 1, 1 << 52, 1<<52 - 1, 1 << 51}[m.IntN(4)] - int64(m.IntN(3))
}

// atLeaf gives a job its queue where every job has one.
func (m *model) atLeaf(r *goldRequest, job string) {
	if len(m.leaves) > 0 {
		r.queue = m.leaves[int(job[len(job)-1])%len(m.leaves)]
	}
}

func (m *model) job(id string) *goldRequest {
	if len(m.jobs) > 0 && m.IntN(12) == 0 {
		return m.jobs[m.IntN(len(m.jobs))]
	}
	r := &goldRequest{id: id, queue: m.queue(), anyMix: m.g.cfg.AnyMix, invalid: m.IntN(60) == 0, items: goldPlains(0, 0)}
	if m.IntN(8) == 0 {
		r.anyMix = !r.anyMix
	}
	if !r.invalid {
		r.items = append(goldPlains(m.plain(), m.plain()), m.wants(m.IntN(4), false)...)
	}
	if j := m.g.jobs[r.id]; j != nil && m.IntN(8) > 0 {
		r.queue = j.queue
		if m.IntN(8) == 0 && j.whole() { // what it has
			r.anyMix = j.anyMix
			r.items = slices.DeleteFunc(slices.Clone(j.items), func(want goldItem) bool { return want.amount == 0 && !goldPlain(want.cards[0]) })
		}
	}
	m.atLeaf(r, r.id)
	slices.SortFunc(r.items, goldItem.compare)
	return r
}

// whole reports whether ResolveJob takes the min of a job: what may be spread must
// consist of whole units.
func (j *goldJob) whole() bool {
	for _, it := range j.items {
		if j.spreads(it) && it.amount%it.unit != 0 {
			return false
		}
	}
	return true
}

func (m *model) task(id string) *goldRequest {
	if len(m.tasks) > 0 && (m.leaves != nil || m.IntN(12) == 0) {
		return m.tasks[m.IntN(len(m.tasks))]
	}
	r := &goldRequest{id: id, job: fmt.Sprint("j", m.IntN(14)), invalid: m.IntN(60) == 0, node: m.oneOf("n0", "n1", "n2", "gone", "", "", "", ""), items: goldPlains(0, 0)}
	if j, t := m.g.task(r.id); t != nil && m.IntN(3) > 0 { // the same again
		r.job, r.queue, r.items, r.invalid = j.id, j.queue, goldWants(t.charges), false
		return r
	}
	if m.IntN(3) > 0 {
		r.job = m.jobID(true)
	}
	r.queue = m.queue()
	m.atLeaf(r, r.job)
	if r.invalid {
		return r
	}
	plain, j := goldPlains(m.plain(), m.plain()), m.g.jobs[r.job]
	if j != nil && m.IntN(10) > 0 {
		r.queue = j.queue
	}
	var items []goldItem
	if j != nil {
		items = j.items[2:]
	}
	if len(items) > 0 && m.IntN(3) > 0 { // a task of one of its items
		it := items[m.IntN(len(items))]
		want := goldItem{cards: it.cards, amount: m.card}
		if len(it.cards) > 1 {
			want.amount = it.unit
		}
		if m.IntN(6) == 0 {
			want.cards = it.cards[m.IntN(len(it.cards)):]
		}
		r.items = append(plain, want)
	} else {
		r.items = append(plain, m.wants(m.IntN(3), true)...)
	}
	return r
}

// cardsOf are the cards of a node; none, and not nil, of one that isn't known.
func (m *model) cardsOf(node string) []string {
	return slices.AppendSeq([]string{}, maps.Keys(m.g.nodes[node]))
}

// node lists the cards of a chosen node, mostly none for any.
func (m *model) node() (cards []string) {
	if m.IntN(4) > 0 {
		return nil
	}
	for _, card := range m.g.cards {
		if m.IntN(2) == 0 {
			cards = append(cards, card)
		}
	}
	return cards
}

// Handles of requests.

func (m *model) alternatives(cards []string) *book.Alternatives {
	dims := make([]int32, len(cards))
	for i, card := range cards {
		if goldOutput(card) {
			at, _ := m.l.outs.index(corev1.ResourceName(card))
			return m.l.outs.alts[at]
		}
		dims[i] = m.l.dims[card]
	}
	return m.l.intern(dims)
}

func modelInvalid(r *goldRequest) string {
	if r.invalid {
		return "no card is known"
	}
	return ""
}

func (m *model) jobHandle(r *goldRequest) *JobRequest {
	if h := m.jobOf[r]; h != nil {
		return h
	}
	h := &JobRequest{id: r.id, queue: r.queue, fault: fault{invalid: modelInvalid(r)}}
	h.min = book.Min{Plain: book.Plain{r.items[0].amount, r.items[1].amount}, AnyMix: r.anyMix, Invalid: r.invalid}
	for _, want := range r.items[2:] {
		h.min.Items = append(h.min.Items, book.MinItem{Alts: m.alternatives(want.cards), Amount: want.amount, Unit: want.unit})
	}
	if len(m.jobs) < modelHandles {
		m.jobs, m.jobOf[r] = append(m.jobs, r), h
	}
	return h
}

func (m *model) taskHandle(r *goldRequest) *TaskRequest {
	if h := m.taskOf[r]; h != nil {
		return h
	}
	h := &TaskRequest{id: r.id, job: r.job, queue: r.queue, fault: fault{invalid: modelInvalid(r)}, node: r.node}
	h.use = book.Use{Plain: book.Plain{r.items[0].amount, r.items[1].amount}, Invalid: r.invalid}
	for _, want := range r.items[2:] {
		h.use.Items = append(h.use.Items, book.UseItem{Alts: m.alternatives(want.cards), Amount: want.amount})
	}
	if len(m.tasks) < modelHandles {
		m.tasks, m.taskOf[r] = append(m.tasks, r), h
	}
	return h
}

// Operations.

// modelBatch asks about a few requests, now and then about more than a mask has bits
// in a word. next returns a request, and what the golden ledger says to it.
func modelBatch[R any](m *model, ask func([]R) uint64, next func() (R, func(g *golden) bool)) modelOp {
	n := m.IntN(7)
	if m.IntN(16) == 0 {
		n = 60 + m.IntN(80)
	}
	var handles []R
	var asks []func(g *golden) bool
	for range n {
		handle, ask := next()
		handles, asks = append(handles, handle), append(asks, ask)
	}
	return modelOp{func() modelResult {
		var gots []bool
		seq := ask(handles)
		for i := range m.mask.Len() {
			gots = append(gots, m.mask.Test(i))
		}
		return modelReturned(seq, false, gots)
	}, func(g *golden) modelResult {
		var wants []bool
		for _, ask := range asks {
			wants = append(wants, ask(g))
		}
		want := modelReturned(g.seq, false, wants)
		switch yes, no := slices.Contains(wants, true), slices.Contains(wants, false); {
		case yes && no:
			want.outcome = "some"
		case yes:
			want.outcome = "all"
		default:
			want.outcome = "none"
		}
		return want
	}}
}

func (m *model) allocatable() modelOp {
	r := m.task(m.taskID(m.IntN(9) == 0))
	handle := m.taskHandle(r)
	ask := func(a *Answer) { m.l.Allocatable(a, handle) }
	var cards []string
	if m.IntN(5) == 0 {
		node := m.oneOf("n0", "n1", "n2", "gone")
		cards = m.cardsOf(node)
		ask = func(a *Answer) { m.l.AllocatableOn(a, handle, node) }
	}
	return modelOp{func() modelResult {
		var a Answer
		ask(&a)
		return modelAsked(a)
	}, func(g *golden) modelResult {
		a, _ := g.allocatable(r, cards)
		if m.leaves == nil {
			m.coveredHasRoom(r, &a)
		}
		return modelAsked(a)
	}}
}

// coveredHasRoom checks that while nothing is over and nothing elastic, a covered
// task of its item's key and unit has an alternative with room (6).
func (m *model) coveredHasRoom(r *goldRequest, a *Answer) {
	elastic := func(j *goldJob) bool {
		return slices.ContainsFunc(m.g.dims(), func(dim string) bool { return goldSumOf(dim, j).elastic > 0 })
	}
	if a.Refusal.Reason != ReasonInsufficientScalarQuota ||
		slices.ContainsFunc(a.Options, func(o Headroom) bool { return o.Why == ReasonNotOnNode }) ||
		len(m.over) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(m.g.jobs)), elastic) {
		return
	}
	j := m.g.record(r.queue, r.job)
	for i, item := range j.matches(r.items) {
		want := r.items[i]
		if item < 0 || goldKey(want.cards) != a.Refusal.Resource {
			continue
		}
		it := j.items[item]
		part := func(held int64) bool { return held%it.unit != 0 }
		if it.same(want) && (len(it.cards) == 1 || it.unit == want.amount) && it.held() >= want.amount &&
			!slices.ContainsFunc(slices.Collect(maps.Values(it.hold)), part) {
			m.fatal("a covered task of %s has no room: %+v", goldKey(want.cards), a.Refusal)
		}
	}
}

// tiny reports whether a request is for so little that too many copies fit.
func (m *model) tiny(r *goldRequest) bool {
	return slices.ContainsFunc(r.items, func(want goldItem) bool { return want.amount > 0 && want.amount < m.card/2 })
}

// copies counts copies of a request. Only their rooms' numbers are compared, and of the last
// answer no more than of a gang's.
func (m *model) copies(r *goldRequest, count func() (Fits, error)) modelOp {
	result := func(f Fits, err error) modelResult {
		if f.Next.Seq = m.g.seq; f.Next.OK {
			f.Next.Options, f.Next.Charged = nil, nil
		}
		rooms := slices.Clone(f.Room[:min(2, len(f.Room))])
		for i := range rooms {
			rooms[i].Why = ""
		}
		if err != nil {
			f = Fits{}
		}
		return modelResult{answers: []Answer{f.Next}, err: err, text: fmt.Sprint(f.Copies, rooms)}
	}
	return modelOp{func() modelResult { return result(count()) }, func(g *golden) modelResult { return result(g.copies(r)) }}
}

// gang makes tasks, mostly alike and with ids of their own.
func (m *model) gang() (gang []*goldRequest) {
	first, repeat := m.task(m.taskID(false)), m.IntN(12) == 0
	gang = append(gang, first)
	for range m.IntN(4) {
		r := *m.task(m.taskID(repeat))
		for n := 0; n < 10 && m.IntN(30) > 0 && slices.ContainsFunc(gang, func(o *goldRequest) bool { return o.id == r.id }); n++ {
			r.id = m.taskID(repeat)
		}
		if !repeat && m.IntN(3) > 0 {
			r.job, r.queue, r.items, r.invalid = first.job, first.queue, first.items, first.invalid
		}
		gang = append(gang, &r)
	}
	return gang
}

// taskIDs are those of a few tasks that are charged, now and then of more.
func (m *model) taskIDs() (ids []string) {
	n := 1 + m.IntN(2)
	if m.IntN(16) == 0 {
		n = 3 + m.IntN(6)
	}
	if m.leaves != nil { // whether something changed must be seen by what is returned
		n = 1
	}
	for range n {
		ids = append(ids, m.taskID(true))
	}
	return ids
}

// setQueues gives both ledgers the model's queues.
func (m *model) setQueues() modelOp {
	specs, queues := m.specs(), m.queues
	var cards []string
	var wide *vectormap.ResourceVectorMap
	if m.leaves == nil && m.IntN(10) == 0 {
		cards = modelCards[len(m.g.cards):min(len(m.g.cards)+1, len(modelCards))] // the next one, if any
		wide = m.wider(cards)
	}
	return modelOp{func() modelResult {
		orphans, seq, err := m.l.setBuilt(specs, wide)
		return modelReturned(seq, true, orphans, err)
	}, func(g *golden) modelResult {
		orphans := g.setQueues(queues)
		m.widen(cards)
		for _, name := range orphans {
			if g.queues[name].parent != "" {
				m.counts[modelOrphan]++
			}
		}
		return modelReturned(g.number(true), true, orphans, error(nil))
	}}
}

// cutBranch leaves out a queue and all below it, one with a parent and children if
// there is any.
func (m *model) cutBranch() {
	var all, middle []string
	for _, q := range m.queues {
		all = append(all, q.name)
		if q.parent != "" && slices.ContainsFunc(m.queues, func(child goldQueue) bool { return child.parent == q.name }) {
			middle = append(middle, q.name)
		}
	}
	if len(middle) == 0 {
		middle = all
	}
	if len(middle) == 0 {
		return
	}
	gone := map[string]bool{m.oneOf(middle...): true}
	var next []goldQueue
	for _, q := range m.queues { // parents have smaller names
		if gone[q.name] || gone[q.parent] {
			gone[q.name] = true
			continue
		}
		next = append(next, q)
	}
	m.queues = next
}

func outputNames(outs []string) (names []corev1.ResourceName) {
	for _, name := range outs {
		names = append(names, corev1.ResourceName(name))
	}
	return names
}

// wider returns a map that has more cards.
func (m *model) wider(cards []string) *vectormap.ResourceVectorMap {
	return testkit.Must(extendMap(m.m, cards))
}

// widen takes over more cards.
func (m *model) widen(cards []string) {
	m.g.cards = modelCards[:len(m.g.cards)+len(cards)]
	m.m = m.wider(cards)
	m.places = map[string]int{"cpu": vectormap.CPU, "memory": vectormap.Memory}
	for _, card := range m.g.cards {
		m.places[card], _ = cardIndex(m.m, card)
	}
	for _, output := range m.g.outs {
		m.places[output], _ = outputIndex(m.m, corev1.ResourceName(output))
	}
}

// newQueues makes a tree of up to 8 queues, most of them as they were before.
func (m *model) newQueues() {
	var next []goldQueue
	for i := range 8 {
		name := fmt.Sprint("q", i)
		at := slices.IndexFunc(m.queues, func(q goldQueue) bool { return q.name == name })
		switch {
		case at >= 0 && m.IntN(7) > 0:
			next = append(next, m.queues[at])
		case m.IntN(5) > 0:
			next = append(next, m.newQueue(name))
		}
	}
	parents := map[string]bool{"": true}
	for i := range next {
		if !parents[next[i].parent] {
			next[i].parent = ""
		}
		parents[next[i].name] = true
	}
	m.queues = next
}

func (m *model) newQueue(name string) goldQueue {
	q := goldQueue{name: name, priority: int32(m.IntN(3)), state: StateOpen, capability: map[string]int64{}, denied: map[string]bool{}, guarantee: map[string]int64{}}
	if m.IntN(8) == 0 {
		q.state = []State{StateOpen, StateClosing, StateClosed, stateUnknown}[m.IntN(4)]
	}
	if at := int(name[1] - '0'); at > 0 && m.IntN(3) > 0 { // below a queue with a smaller name
		q.parent = fmt.Sprint("q", m.IntN(min(at, 4)))
	}
	if m.IntN(12) == 0 { // nothing configured
		return q
	}
	for _, dim := range m.g.dims() {
		if m.IntN(8) == 0 {
			if len(dim) == 1 && !goldOutput(dim) && m.IntN(4) == 0 {
				q.denied[dim] = true
			}
			continue
		}
		q.capability[dim] = int64(m.IntN(12)) * m.card
		if m.IntN(12) == 0 || len(dim) > 1 && m.IntN(2) == 0 {
			q.capability[dim] = Unlimited
		}
		if m.IntN(8) == 0 {
			q.guarantee[dim] = int64(m.IntN(4)) * m.card
		}
	}
	return q
}

// specs makes the queues as a ledger takes them.
func (m *model) specs() (specs []builtQueue) {
	for _, q := range m.queues {
		spec := builtQueue{Name: q.name, Parent: q.parent, Priority: q.priority, State: q.state, Capability: m.m.NewVector(), Guarantee: m.m.NewVector()}
		for _, dim := range m.g.dims() {
			i := m.places[dim]
			if amount, ok := q.capability[dim]; ok {
				spec.Capability[i] = float64(amount)
				switch amount {
				case Unlimited:
					spec.Capability[i] = inf
				case 0:
					spec.deny0(i)
				}
			}
			if q.denied[dim] {
				spec.deny0(i)
				spec.denied[i] = "the count of " + dim + " is no number"
			}
			spec.Guarantee[i] = float64(q.guarantee[dim])
		}
		if len(q.capability) == 0 && m.IntN(2) == 0 {
			spec.Capability = nil
		}
		specs = append(specs, spec)
	}
	return specs
}

// Comparisons.

// compareEvents checks that a change, and nothing else but a refusal, has an event
// under its number.
func (m *model) compareEvents(changed bool) {
	m.Helper()
	noted := false
	for _, e := range m.events {
		if e.Kind == EventRefused {
			if e.Refusal.Reason == "" || e.Seq != m.g.seq && e.Seq+1 != m.g.seq {
				m.fatal("event %+v at %d", e, m.g.seq)
			}
			continue
		}
		noted = true
		if !changed || e.Seq != m.g.seq {
			m.fatal("event %+v at %d", e, m.g.seq)
		}
	}
	quiet := m.g.cfg.OnEvent == nil || strings.HasPrefix(m.what, "SetQueues") || m.what == "SetCatalog"
	if changed && !noted && !quiet {
		m.fatal("no event")
	}
	m.events = m.events[:0]
}

// compareSums compares all sums, limits and marks, and the numbers of records.
func (m *model) compareSums() {
	m.Helper()
	if m.l.seq != m.g.seq {
		m.fatal("seq %d, want %d", m.l.seq, m.g.seq)
	}
	if len(m.l.queues) != len(m.g.queues) || len(m.l.jobs) != len(m.g.jobs) || len(m.l.tasks) != len(m.charged()) {
		m.fatal("%d queues, %d jobs, %d tasks, want %d, %d, %d", len(m.l.queues), len(m.l.jobs), len(m.l.tasks), len(m.g.queues), len(m.g.jobs), len(m.charged()))
	}
	m.over = nil
	for _, name := range slices.Sorted(maps.Keys(m.g.queues)) {
		q := m.l.queues[name]
		if q == nil {
			m.fatal("no queue %s", name)
		}
		if len(q.Cells) != m.m.Len() {
			m.fatal("%s counts %d dimensions, want %d", name, len(q.Cells), m.m.Len())
		}
		jobs := m.g.under(name)
		if got, want := q.Holders, len(slices.DeleteFunc(slices.Clone(jobs), func(j *goldJob) bool { return !j.holds() })); got != want {
			m.fatal("%d jobs of %s hold something, want %d", got, name, want)
		}
		for _, dim := range m.g.dims() {
			limit, sum := m.g.limit(m.g.queues[name], dim), goldSumOf(dim, jobs...)
			at := m.places[dim]
			if got, want := q.Cells[at], (book.Cell{Limit: limit, Allocated: sum.allocated, Held: sum.held, Elastic: sum.elastic}); got != want {
				m.fatal("%s of %s: %+v, want %+v", dim, name, got, want)
			}
			if most := max(sum.allocated, sum.floor()); limit != Unlimited && most > limit {
				m.over = append(m.over, Headroom{Resource: dim, Why: ReasonOverCapacity, Room: Amount(limit - most), Level: name, Limit: Amount(limit)})
			}
		}
	}
	if got := m.l.Over(); !slices.Equal(got, m.over) {
		m.fatal("over %v, want %v", got, m.over)
	}
}

// difference shows where two texts begin to differ, "" if they don't.
func difference(got, want string) string {
	if got == want {
		return ""
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-500):min(len(s), at+300)] }
	return fmt.Sprintf("\n%s, want\n%s", around(got), around(want))
}

// compareRestored compares what a snapshot has with the golden ledger, and returns it.
func (m *model) compareRestored() *Ledger {
	m.Helper()
	snapshot := m.l.Snapshot()
	l, err := restore(m.l.cfg, m.m, m.l.source.catalog, snapshot)
	if err != nil {
		m.fatal("%v", err)
	}
	if diff := difference(stateOf(l), m.g.state()); diff != "" {
		m.fatal("state %s", diff)
	}
	if diff := difference(string(l.Snapshot()), string(snapshot)); diff != "" {
		m.fatal("snapshot of what was restored %s", diff)
	}
	return l
}

// compareRecords compares a job with its tasks, or all.
func (m *model) compareRecords(id string) {
	m.Helper()
	if id != "" {
		if got, want := goldOf(m.l, m.l.jobs[id]).text(), m.g.jobs[id].text(); got != want {
			m.fatal("job\n%s, want\n%s", got, want)
		}
		return
	}
	for id := range m.g.jobs {
		m.compareRecords(id)
	}
}

// stateOf is the state of a ledger as text, as golden.state has it.
func stateOf(l *Ledger) string {
	g := newGolden(Config{}, nil)
	g.seq = l.seq
	for name, q := range l.queues {
		g.queues[name] = &goldQueue{name: name, parent: queueName(q.Parent), priority: q.spec.Priority, state: q.spec.State, orphan: q.Orphan}
	}
	for id, j := range l.jobs {
		g.jobs[id] = goldOf(l, j)
	}
	for id, w := range l.waiting {
		r := goldRequest{id: id, job: w.job, queue: w.queue, items: goldWants(goldPlains(w.use.Plain[dimCPU], w.use.Plain[dimMemory]))}
		for _, item := range w.use.Items {
			r.items = append(r.items, goldItem{cards: l.names(item.Alts), amount: item.Amount})
		}
		g.waiting[id] = r
	}
	return g.state()
}

// names are the cards of alternatives, or an output.
func (l *Ledger) names(alts *book.Alternatives) (names []string) {
	for _, dim := range alts.Cards {
		names = append(names, l.resource(int(dim)))
	}
	return names
}

// goldOf is a job of a ledger as the golden one has it.
func goldOf(l *Ledger, j *job) *goldJob {
	if j == nil {
		return nil
	}
	g := &goldJob{goldRequest: goldRequest{id: j.id, queue: queueName(j.Queue), anyMix: j.AnyMix}, reserved: j.Reserved, seen: j.Seen, seq: j.seq}
	g.items = goldPlains(j.Min[dimCPU], j.Min[dimMemory])
	for dim, held := range j.Held {
		g.items[dim].add(g.items[dim].cards[0], held)
	}
	index := map[*book.Item]int{nil: goldNoItem}
	for _, it := range j.Items {
		if index[it] = goldBinds; it.Implicit {
			continue
		}
		index[it] = len(g.items)
		item := goldItem{cards: l.names(it.Alts), amount: it.Min, unit: it.Unit}
		for at, card := range item.cards {
			item.add(card, it.HeldAt(at))
		}
		g.items = append(g.items, item)
	}
	for t := range j.tasks() {
		task := goldTask{id: t.id, seq: t.seq, state: t.state}
		if t.site != nil {
			task.node = t.site.node
		}
		for dim, c := range t.Plain {
			cards := g.items[dim].cards
			task.charges = append(task.charges, goldItem{cards: cards, amount: c.Amount, card: cards[0], item: dim, covered: c.Covered})
		}
		for _, c := range t.Charges {
			task.charges = append(task.charges, goldItem{cards: l.names(c.Alts), amount: c.Amount, card: l.resource(int(c.Card)), item: index[c.Item], covered: c.Covered})
		}
		g.tasks = append(g.tasks, task)
	}
	return g
}
