package quota

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// Restore makes a ledger of what [Ledger.Snapshot] returned: it answers, changes
// and is snapshotted as that one. m has a dimension for every card of the
// snapshot, see [SnapshotCards]. The catalogue, which may be nil, is what was
// discovered since; what it doesn't have stays known. What exceeds a limit is
// marked as over. Unknown fields are ignored.
//
// Errors are [ErrFormat] for anything but a snapshot of this format, [ErrConfig]
// if cfg decides otherwise than the snapshot's (OnEvent doesn't decide),
// [ErrUnknownDimension] for a card that m doesn't have, and [ErrSnapshot], naming
// the place, for what no ledger can hold; sums that reach 2^53 are an
// [ErrOverflow] as well. data isn't kept.
func Restore(cfg Config, m *vectormap.ResourceVectorMap, catalogue Catalogue, data []byte) (*Ledger, error) {
	if m == nil {
		panic("quota: nil map")
	}
	doc, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	if doc.Seq >= uint64(limitExact) {
		return nil, broken("seq is %d", doc.Seq)
	}
	if err := doc.sameConfig(&cfg); err != nil {
		return nil, err
	}
	if err := checkMap(m); err != nil {
		return nil, err
	}
	l := newLedger(cfg, m)
	r := restorer{l: l, doc: doc, items: map[*job][]*item{}}
	if err := inOrder(r.known, r.queues, r.jobs, r.tasks, r.finish); err != nil {
		return nil, err
	}
	if err := l.setDiscovery(read(catalogue), nil, nil); err != nil {
		return nil, err
	}
	l.seq = doc.Seq
	return l, nil
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// SnapshotCards returns the cards that a snapshot names, sorted, for [NewMap].
// Errors are those of [Restore].
func SnapshotCards(data []byte) ([]string, error) {
	doc, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	add := func(cards ...string) {
		for _, card := range cards {
			if card != "" {
				names[card] = true
			}
		}
	}
	for i := range doc.Known {
		add(doc.Known[i].Card)
	}
	for i := range doc.Queues {
		q := &doc.Queues[i]
		for _, amounts := range []map[string]json.RawMessage{q.Capability, q.Deserved, q.Guarantee} {
			for name := range amounts {
				if card, ok := strings.CutPrefix(name, cardPrefix); ok {
					add(card)
				}
			}
		}
		for _, name := range q.Denied {
			if card, ok := strings.CutPrefix(name, cardPrefix); ok {
				add(card)
			}
		}
	}
	for i := range doc.Jobs {
		for k := range doc.Jobs[i].Items {
			add(strings.Split(doc.Jobs[i].Items[k].Key, "|")...)
		}
	}
	for i := range doc.Tasks {
		for k := range doc.Tasks[i].Charges {
			add(strings.Split(doc.Tasks[i].Charges[k].Key, "|")...)
			add(doc.Tasks[i].Charges[k].Card)
		}
	}
	return sorted(names), nil
}

// snapshotDoc is a snapshot as it is read.
type snapshotDoc struct {
	Format string
	Seq    uint64
	Config json.RawMessage
	Known  []snapshotCard
	Queues []snapshotQueue
	Jobs   []snapshotJob
	Tasks  []snapshotTask
}

type snapshotConfig struct {
	CountReleasing     bool
	EnforceGuarantee   bool
	Keys               Keys
	Missing            string
	Mix                string
	Parser             string
	UnlimitedCPUMemory bool
	Unnamed            string
}

type snapshotCard struct {
	Card      string
	Resources []corev1.ResourceName
}

type snapshotQueue struct {
	Name       string
	Parent     string
	Priority   int32
	State      string
	Orphan     bool
	Complete   bool
	Capability map[string]json.RawMessage
	Deserved   map[string]json.RawMessage
	Guarantee  map[string]json.RawMessage
	Denied     []string
	Ignored    []corev1.ResourceName
}

type snapshotJob struct {
	ID       string
	Queue    string
	Policy   string
	Reserved bool
	Seen     bool
	Seq      uint64
	Min      snapshotPlain
	Items    []snapshotItem
}

type snapshotPlain struct{ CPU, Memory int64 }

type snapshotItem struct {
	Key      string
	Implicit bool
	Min      int64
	Unit     int64
	Holds    map[string]int64
}

type snapshotTask struct {
	ID      string
	Job     string
	Queue   string
	State   string
	Seq     uint64
	Order   int
	CPU     int64
	Memory  int64
	Covered snapshotPlain
	Charges []snapshotCharge
}

type snapshotCharge struct {
	Key     string
	Card    string
	Milli   int64
	Covered int64
	Item    *int
}

// amountOf reads a whole number that a ledger can hold or, where that is allowed,
// "unlimited".
func amountOf(text json.RawMessage, limit bool) (amount float64, ok bool) {
	if limit && string(text) == `"`+unlimitedText+`"` {
		return math.Inf(1), true
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	return float64(n), err == nil && exact(n)
}

// configOf returns what of a configuration decides.
func configOf(c *Config) snapshotConfig {
	keys := c.Keys
	keys.Quota = orDefault(keys.Quota, QuotaAnnotation)
	keys.Request = orDefault(keys.Request, RequestAnnotation)
	keys.Name = orDefault(keys.Name, NameAnnotation)
	return snapshotConfig{
		CountReleasing: c.CountReleasing, EnforceGuarantee: c.EnforceGuarantee, Keys: keys,
		Missing: nameOf(missingNames, c.Missing), Mix: nameOf(mixNames, c.Mix), Parser: nameOf(parserNames, c.Parser),
		UnlimitedCPUMemory: c.UnlimitedCPUMemory, Unnamed: nameOf(unnamedNames, c.Unnamed),
	}
}

// readSnapshot reads the text. Whether it makes sense is for the restorer.
func readSnapshot(data []byte) (*snapshotDoc, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: not JSON", ErrFormat)
	}
	var head struct{ Format any }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: no object", ErrFormat)
	}
	if head.Format != snapshotFormat {
		return nil, fmt.Errorf("%w: %.80q, want %q", ErrFormat, fmt.Sprint(head.Format), snapshotFormat)
	}
	doc := new(snapshotDoc)
	if err := json.Unmarshal(data, doc); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			return nil, broken("%s, at byte %d: %.80s is no %v", strings.ToLower(typeErr.Field), typeErr.Offset, typeErr.Value, typeErr.Type)
		}
		return nil, broken("%v", err)
	}
	return doc, nil
}

// broken makes an [ErrSnapshot].
func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSnapshot}, args...)...)
}

// sameConfig compares the configuration with another one.
func (d *snapshotDoc) sameConfig(cfg *Config) error {
	var got snapshotConfig
	if err := json.Unmarshal(d.Config, &got); err != nil {
		return broken("config: %v", err)
	}
	want := configOf(cfg)
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"countReleasing", got.CountReleasing, want.CountReleasing},
		{"enforceGuarantee", got.EnforceGuarantee, want.EnforceGuarantee},
		{"keys", got.Keys, want.Keys},
		{"missing", got.Missing, want.Missing},
		{"mix", got.Mix, want.Mix},
		{"parser", got.Parser, want.Parser},
		{"unlimitedCPUMemory", got.UnlimitedCPUMemory, want.UnlimitedCPUMemory},
		{"unnamed", got.Unnamed, want.Unnamed},
	} {
		if f.got != f.want {
			return fmt.Errorf("%w: %s is %v there and %v here", ErrConfig, f.name, f.got, f.want)
		}
	}
	return nil
}

// valueOf finds a value by its name in a snapshot.
func valueOf[V ~uint8](names []string, name string) (V, bool) {
	at := slices.Index(names, name)
	return V(max(at, 0)), at >= 0
}

// exact reports whether an amount is one that a ledger can hold.
func exact(amount int64) bool { return 0 <= amount && amount < limitExact }

// restorer makes the records of a snapshot.
type restorer struct {
	l     *Ledger
	doc   *snapshotDoc
	items map[*job][]*item // as the snapshot numbers them
}

func (r *restorer) known() error {
	r.l.source = &discovery{known: map[string][]corev1.ResourceName{}}
	for i, k := range r.doc.Known {
		if _, err := r.card(k.Card, "known", i); err != nil {
			return err
		}
		if _, twice := r.l.source.known[k.Card]; twice {
			return broken("known[%d]: card %q is there twice", i, k.Card)
		}
		r.l.source.known[k.Card] = k.Resources
	}
	return nil
}

// card finds the dimension of a card.
func (r *restorer) card(name, list string, at int) (int32, error) {
	dim, ok := r.l.dims[name]
	if !ok {
		return 0, fmt.Errorf("%w: %q, in %s[%d] of the snapshot", ErrUnknownDimension, brief(name), list, at)
	}
	return dim, nil
}

func (r *restorer) queues() error {
	l := r.l
	queues := make([]Queue, len(r.doc.Queues))
	for i := range r.doc.Queues {
		q, err := r.queue(i, &r.doc.Queues[i])
		if err != nil {
			return err
		}
		queues[i] = q
	}
	if _, err := l.setQueues(queues, nil); err != nil {
		return broken("queues: %w", err)
	}
	for i := range r.doc.Queues {
		q := l.queues[queues[i].Name]
		q.orphan = r.doc.Queues[i].Orphan
	}
	for i := range queues {
		if q := l.queues[queues[i].Name]; q.parent != nil && q.parent.orphan && !q.orphan {
			return broken("queues[%d] %q: its parent is an orphan", i, queues[i].Name)
		}
	}
	l.link()
	return nil
}

func (r *restorer) queue(i int, s *snapshotQueue) (q Queue, err error) {
	state, ok := valueOf[State](stateNames, s.State)
	if !ok {
		return Queue{}, broken("queues[%d] %q: state %.80q", i, brief(s.Name), s.State)
	}
	q = Queue{Name: s.Name, Parent: s.Parent, Priority: s.Priority, State: state, Ignored: s.Ignored}
	var mentioned []int
	for _, v := range []struct {
		name    string
		amounts map[string]json.RawMessage
		dst     *vector.ResourceVector
		dims    *[]int
	}{
		{"capability", s.Capability, &q.Capability, &mentioned},
		{"deserved", s.Deserved, &q.Deserved, nil},
		{"guarantee", s.Guarantee, &q.Guarantee, nil},
	} {
		*v.dst = make(vector.ResourceVector, r.l.m.Len())
		for _, name := range sorted(v.amounts) {
			dim, ok := r.l.m.Index(name)
			if !ok {
				return Queue{}, fmt.Errorf("%w: %q, in queues[%d] of the snapshot", ErrUnknownDimension, brief(name), i)
			}
			if (*v.dst)[dim], ok = amountOf(v.amounts[name], v.dims != nil); !ok {
				return Queue{}, broken("queues[%d] %q: %s of %s is %.80s", i, brief(s.Name), v.name, name, v.amounts[name])
			}
			if v.dims != nil {
				*v.dims = append(*v.dims, dim)
			}
		}
	}
	if !s.Complete {
		q.Mentioned = sortedUnique(mentioned)
		if len(mentioned) == 0 {
			q.Capability = nil
		}
	}
	var denied []int
	for _, name := range s.Denied {
		dim, ok := r.l.m.Index(name)
		if !ok {
			return Queue{}, fmt.Errorf("%w: %q, in queues[%d] of the snapshot", ErrUnknownDimension, brief(name), i)
		}
		denied = append(denied, dim)
	}
	q.Denied = sortedUnique(denied)
	return q, nil
}

// sortedUnique returns what is in a list, in order; never nil.
func sortedUnique(list []int) []int {
	slices.Sort(list)
	return append([]int{}, slices.Compact(list)...)
}

func (r *restorer) jobs() error {
	for i := range r.doc.Jobs {
		if err := r.job(i, &r.doc.Jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) job(i int, s *snapshotJob) error {
	l := r.l
	fail := func(format string, args ...any) error {
		return broken("jobs[%d] %q: "+format, append([]any{i, brief(s.ID)}, args...)...)
	}
	q, mix, known := l.queues[s.Queue], Mix(0), false
	switch mix, known = valueOf[Mix](mixNames, s.Policy); {
	case s.ID == "":
		return fail("no id")
	case l.jobs[s.ID] != nil:
		return fail("the id is there twice")
	case q == nil:
		return fail("unknown queue %q", brief(s.Queue))
	case !known:
		return fail("policy %.80q", s.Policy)
	case s.Seq > r.doc.Seq:
		return fail("seq %d is to come", s.Seq)
	case !exact(s.Min.CPU) || !exact(s.Min.Memory):
		return fail("min of %d milli-cores and %d bytes", s.Min.CPU, s.Min.Memory)
	}
	j := l.newJob(s.ID, q)
	j.mix, j.reserved, j.seen, j.seq = mix, s.Reserved, s.Seen, s.Seq
	j.min = [2]int64{s.Min.CPU, s.Min.Memory}
	j.held = j.min // until tasks cover it
	for k := range s.Items {
		it, err := r.item(i, j, &s.Items[k])
		if err != nil {
			return fmt.Errorf("%w (items[%d] of job %q)", err, k, brief(s.ID))
		}
		if slices.ContainsFunc(j.items, func(other *item) bool {
			return other.alts == it.alts && other.unit == it.unit && other.implicit == it.implicit
		}) {
			return broken("jobs[%d]: %q in units of %d is there twice", i, brief(it.alts.key), it.unit)
		}
		j.items = append(j.items, it)
	}
	r.items[j] = slices.Clone(j.items)
	slices.SortStableFunc(j.items, compareRecords)
	return nil
}

func (r *restorer) item(i int, j *job, s *snapshotItem) (*item, error) {
	alts, err := r.alternatives(s.Key, "jobs", i)
	if err != nil {
		return nil, err
	}
	if s.Implicit {
		if j.mix == AnyMix || !alts.multi() || s.Min != 0 || s.Unit != 0 || len(s.Holds) > 0 {
			return nil, broken("jobs[%d]: %q can't be implicit", i, brief(s.Key))
		}
		it := implicitItem(alts)
		return &it, nil
	}
	if !exact(s.Min) || !exact(s.Unit) || s.Unit == 0 || !j.reserved {
		return nil, broken("jobs[%d]: %q: min %d in units of %d", i, brief(s.Key), s.Min, s.Unit)
	}
	it := newItem(alts, s.Min, s.Unit, j.mix)
	for _, name := range sorted(s.Holds) {
		dim, held := r.l.dims[name], s.Holds[name]
		at := alts.index(dim)
		if at < 0 || !exact(held) || held == 0 || !it.spreads && it.held > 0 {
			return nil, broken("jobs[%d]: %q: hold of %d on %q", i, brief(s.Key), held, brief(name))
		}
		if !it.spreads {
			it.at = int32(at)
		}
		it.hold(at, held)
	}
	return it, nil
}

// alternatives finds the cards of a key.
func (r *restorer) alternatives(key, list string, i int) (*alternatives, error) {
	if strings.Count(key, "|") >= max(maxAlternatives, len(r.l.dims)) { // unnamed cards may be more than 64
		return nil, broken("%s[%d]: %q has too many alternatives", list, i, brief(key))
	}
	var cards []int32
	for name := range strings.SplitSeq(key, "|") {
		dim, err := r.card(name, list, i)
		if err != nil {
			return nil, err
		}
		if slices.Contains(cards, dim) {
			return nil, broken("%s[%d]: %q names a card twice", list, i, brief(key))
		}
		cards = append(cards, dim)
	}
	return r.l.intern(cards), nil
}

func (r *restorer) tasks() error {
	order := make([]int, len(r.doc.Tasks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.doc.Tasks[a].Order, r.doc.Tasks[b].Order) })
	for _, i := range order {
		if err := r.task(i, &r.doc.Tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) task(i int, s *snapshotTask) error {
	l := r.l
	fail := func(format string, args ...any) error {
		return broken("tasks[%d] %q: "+format, append([]any{i, brief(s.ID)}, args...)...)
	}
	state, known := valueOf[taskState](taskNames, s.State)
	switch {
	case s.ID == "":
		return fail("no id")
	case l.tasks[s.ID] != nil || l.waiting[s.ID] != nil:
		return fail("the id is there twice")
	case !known:
		return fail("state %.80q", s.State)
	case !exact(s.CPU) || !exact(s.Memory):
		return fail("%d milli-cores and %d bytes", s.CPU, s.Memory)
	case state == taskPending:
		return r.waitingTask(i, s)
	}
	j := l.jobs[s.Job]
	switch {
	case j == nil:
		return fail("unknown job %q", brief(s.Job))
	case j.queue.spec.Name != s.Queue:
		return fail("queue %q, its job's is %q", brief(s.Queue), brief(j.queue.spec.Name))
	case s.Seq > r.doc.Seq:
		return fail("seq %d is to come", s.Seq)
	case s.Order != int(j.tasks):
		return fail("order %d, %d tasks of the job before", s.Order, j.tasks)
	case s.Covered.CPU < 0 || s.Covered.CPU > min(s.CPU, j.held[dimCPU]),
		s.Covered.Memory < 0 || s.Covered.Memory > min(s.Memory, j.held[dimMemory]):
		return fail("more covered than its job's min")
	}
	t := &task{id: s.ID, job: j, seq: s.Seq, state: state}
	t.cpu, t.mem = draw{s.CPU, s.Covered.CPU}, draw{s.Memory, s.Covered.Memory}
	j.held[dimCPU] -= t.cpu.covered
	j.held[dimMemory] -= t.mem.covered
	j.loose[dimCPU] = j.loose[dimCPU] || t.cpu.covered < t.cpu.amount
	j.loose[dimMemory] = j.loose[dimMemory] || t.mem.covered < t.mem.amount
	t.charges = t.buf[:0]
	for k := range s.Charges {
		c, err := r.charge(i, j, &s.Charges[k])
		if err != nil {
			return fmt.Errorf("%w (charges[%d] of task %q)", err, k, brief(s.ID))
		}
		t.charges = append(t.charges, c)
	}
	j.append(t)
	l.tasks[t.id] = t
	return nil
}

func (r *restorer) charge(i int, j *job, s *snapshotCharge) (c charge, err error) {
	if c.alts, err = r.alternatives(s.Key, "tasks", i); err != nil {
		return c, err
	}
	if c.card, err = r.card(s.Card, "tasks", i); err != nil {
		return c, err
	}
	if c.milli, c.covered = s.Milli, s.Covered; !exact(c.milli) || c.covered < 0 || c.covered > c.milli {
		return c, broken("tasks[%d]: %d milli-cards, %d covered", i, s.Milli, s.Covered)
	}
	if s.Item == nil {
		if s.Covered != 0 {
			return c, broken("tasks[%d]: covered by no item", i)
		}
		return c, nil
	}
	if *s.Item < 0 || *s.Item >= len(r.items[j]) {
		return c, broken("tasks[%d]: the job has no item %d", i, *s.Item)
	}
	it := r.items[j][*s.Item]
	if !it.spreads && it.held > 0 && it.alts.index(c.card) != int(it.at) || !it.accept(&c) {
		return c, broken("tasks[%d]: a charge on %q can't count against item %d", i, brief(s.Card), *s.Item)
	}
	it.loose = it.loose || c.covered < c.milli
	return c, nil
}

func (r *restorer) waitingTask(i int, s *snapshotTask) error {
	t := &waitingTask{id: s.ID, job: s.Job, queue: s.Queue, cpu: s.CPU, mem: s.Memory}
	if s.Job == "" || s.Queue == "" {
		return broken("tasks[%d] %q: no job or queue", i, brief(s.ID))
	}
	for k := range s.Charges {
		alts, err := r.alternatives(s.Charges[k].Key, "tasks", i)
		if err != nil {
			return err
		}
		if !exact(s.Charges[k].Milli) {
			return broken("tasks[%d] %q: %d milli-cards", i, brief(s.ID), s.Charges[k].Milli)
		}
		t.items = append(t.items, taskItem{alts: alts, milli: s.Charges[k].Milli})
	}
	r.l.waiting[t.id] = t
	return nil
}

// finish makes the sums, and looks for what contradicts itself.
func (r *restorer) finish() error {
	l := r.l
	sums := newRootSums(false)
	for i := range r.doc.Jobs {
		j := l.jobs[r.doc.Jobs[i].ID]
		var err error
		j.each(func(dim int32, allocated, held, _ int64) {
			if !sums.add(j.queue, dim, allocated+held) && err == nil {
				err = fmt.Errorf("%w: jobs[%d] %q: %w: %s", ErrSnapshot, i, brief(j.id), ErrOverflow, l.resource(int(dim)))
			}
		})
		if err != nil {
			return err
		}
	}
	l.total()
	l.limit()
	for i := range r.doc.Queues {
		q := l.queues[r.doc.Queues[i].Name]
		if q.orphan && q.jobs == 0 {
			return broken("queues[%d] %q: an orphan without jobs", i, brief(q.spec.Name))
		}
		if q.orphan && !r.doc.Queues[i].empty() {
			return broken("queues[%d] %q: an orphan that isn't closed and without a quota", i, brief(q.spec.Name))
		}
	}
	if found := l.check(); len(found) > 0 {
		return broken("%v", found[0])
	}
	return nil
}

// empty reports whether a queue is closed and has nothing to use, as orphans are.
func (q *snapshotQueue) empty() bool {
	return q.State == stateNames[Closed] && q.Complete && len(q.Denied) == 0 && len(q.Capability)+len(q.Deserved)+len(q.Guarantee) == 0
}

// rootSums adds up amounts by tree, where sums are largest.
type rootSums struct {
	fromCells bool               // starts with what is there
	sums      map[*queue][]int64 // of the tree of each queue that was asked for, and of those above it
}

func newRootSums(fromCells bool) *rootSums { return &rootSums{fromCells, map[*queue][]int64{}} }

// of returns the sums of a queue's tree, by dimension. However often it is called,
// it goes from each queue to its parent once.
func (s *rootSums) of(q *queue) []int64 {
	root, sums := q, s.sums[q]
	for sums == nil && root.parent != nil {
		root = root.parent
		sums = s.sums[root]
	}
	if sums == nil {
		sums = make([]int64, len(root.cells))
		if s.fromCells {
			for dim := range root.cells {
				sums[dim] = root.cells[dim].full()
			}
		}
		s.sums[root] = sums
	}
	for ; q != root; q = q.parent {
		s.sums[q] = sums
	}
	return sums
}

// add adds an amount of a queue, unless the sum would reach 2^53.
func (s *rootSums) add(q *queue, dim int32, amount int64) bool {
	sum := &s.of(q)[dim]
	if amount >= limitExact-*sum {
		return false
	}
	*sum += amount
	return true
}
