package quota

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// snapshotFormat names the format of [Ledger.Snapshot].
const snapshotFormat = "resvec.quota/v1"

// Snapshot returns the state of the ledger as canonical JSON, for [Restore]:
// integers, cards by name, lists sorted by name or id, the keys of every object
// sorted, no white space. Equal states give equal bytes. The counters of refused
// operations and what follows from the catalogue are no part of it.
//
// The object has these keys:
//
//	config  what decides: countReleasing, enforceGuarantee, keys, missing, mix,
//	        parser, unlimitedCPUMemory, unnamed
//	format  "resvec.quota/v1"
//	jobs    id, queue, policy, reserved, seen, seq (of the reservation), min, and
//	        items: key, min, unit, and holds by card. Items marked implicit bind
//	        the tasks of a job without a min for their key to one card
//	known   the cards that may be asked for: card, resources
//	queues  name, parent, priority, state, orphan; capability, deserved and
//	        guarantee by dimension, "unlimited" for no limit. A capability that
//	        mentions everything is complete, and lists what isn't 0; else it lists
//	        what it mentions, and denied has the cards of entries with faults, and
//	        what is wrong with each
//	seq     the number of the last change
//	tasks   id, job, queue, state, seq, cpu, memory, covered (of those two), order
//	        (among the tasks of the job, in which they were committed) and charges:
//	        key, card, milli, covered, and item, the index of the job's item that
//	        it counts against. Tasks in state pending have no seq, no order, and
//	        of their charges key and milli
func (l *Ledger) Snapshot() []byte {
	l.rlock()
	defer l.mu.RUnlock()
	w := snapshotWriter{l: l, dims: l.dimsByName(), indices: map[*item]int{}}
	w.open('{')
	w.config(&l.cfg)
	w.key("format")
	w.text(snapshotFormat)
	w.key("jobs")
	w.open('[')
	for _, j := range l.sortedJobs() {
		w.job(j)
	}
	w.close(']')
	w.key("known")
	w.open('[')
	for _, card := range sorted(l.source.known) {
		w.known(card, l.source.known[card])
	}
	w.close(']')
	w.key("queues")
	w.open('[')
	for _, q := range l.ordered {
		w.queue(q)
	}
	w.close(']')
	w.key("seq")
	w.unsigned(l.seq)
	w.key("tasks")
	w.tasks()
	w.close('}')
	return w.out
}

// The names of the snapshot for the values of types.
var (
	missingNames = map[bool]string{false: "denies", true: "unlimited"}
	parserNames  = map[bool]string{false: "strict", true: "fail-to-zero"}
	unnamedNames = []string{UnnamedAsAny: "as-any", UnnamedRefuse: "refuse", UnnamedIgnore: "ignore"}
	mixNames     = []string{SameCard: "same-card", AnyMix: "any-mix"}
	stateNames   = []string{StateOpen: "open", StateClosing: "closing", StateClosed: "closed", StateUnknown: "unknown"}
	taskNames    = []string{taskPending: "pending", taskCommitted: "committed", taskConfirmed: "confirmed"}
)

// nameOf returns the name of a value; values without one share a name that no
// snapshot is restored with.
func nameOf[V ~uint8](names []string, v V) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "invalid"
}

// unlimitedText stands for [Unlimited].
const unlimitedText = "unlimited"

// snapshotWriter appends JSON. Callers write the keys of an object in order.
type snapshotWriter struct {
	l       *Ledger
	dims    []int         // in the order of their names
	indices map[*item]int // where the items of jobs stand that were written
	out     []byte
	more    bool // something of the list or object at hand was written
}

func (w *snapshotWriter) open(bracket byte) {
	w.comma()
	w.out, w.more = append(w.out, bracket), false
}

func (w *snapshotWriter) close(bracket byte) {
	w.out, w.more = append(w.out, bracket), true
}

func (w *snapshotWriter) comma() {
	if w.more {
		w.out = append(w.out, ',')
	}
	w.more = true
}

func (w *snapshotWriter) key(name string) {
	w.text(name)
	w.out, w.more = append(w.out, ':'), false
}

// text writes a string as encoding/json does.
func (w *snapshotWriter) text(s string) {
	w.comma()
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // of a string: no error
			w.out = append(w.out, quoted...)
			return
		}
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, s...)
	w.out = append(w.out, '"')
}

func (w *snapshotWriter) number(n int64) {
	w.comma()
	w.out = strconv.AppendInt(w.out, n, 10)
}

func (w *snapshotWriter) unsigned(n uint64) {
	w.comma()
	w.out = strconv.AppendUint(w.out, n, 10)
}

// The fields of objects.

func (w *snapshotWriter) textField(name, s string) {
	w.key(name)
	w.text(s)
}

func (w *snapshotWriter) numberField(name string, n int64) {
	w.key(name)
	w.number(n)
}

// flag writes a field that is there only if it is set.
func (w *snapshotWriter) flag(name string, set bool) {
	if set {
		w.key(name)
		w.comma()
		w.out = append(w.out, "true"...)
	}
}

func (w *snapshotWriter) config(c *Config) {
	s := configOf(c)
	w.key("config")
	w.open('{')
	w.flag("countReleasing", s.CountReleasing)
	w.flag("enforceGuarantee", s.EnforceGuarantee)
	w.key("keys")
	w.open('{')
	w.textField("deserved", s.Keys.Deserved)
	w.textField("guarantee", s.Keys.Guarantee)
	w.textField("name", s.Keys.Name)
	w.textField("quota", s.Keys.Quota)
	w.textField("request", s.Keys.Request)
	w.close('}')
	w.textField("missing", s.Missing)
	w.textField("mix", s.Mix)
	w.textField("parser", s.Parser)
	w.flag("unlimitedCPUMemory", s.UnlimitedCPUMemory)
	w.textField("unnamed", s.Unnamed)
	w.close('}')
}

func (w *snapshotWriter) known(card string, resources []corev1.ResourceName) {
	w.open('{')
	w.textField("card", card)
	w.key("resources")
	w.open('[')
	for _, name := range resources {
		w.text(string(name))
	}
	w.close(']')
	w.close('}')
}

func (w *snapshotWriter) queue(q *queue) {
	s := &q.spec
	complete := s.Capability != nil && s.Mentioned == nil
	w.open('{')
	w.key("capability")
	w.amounts(s.Capability, func(dim int, amount int64) bool {
		if complete {
			return amount != 0
		}
		_, mentioned := slices.BinarySearch(s.Mentioned, dim)
		return s.Capability != nil && mentioned
	})
	w.flag("complete", complete)
	w.denied(s.Denied)
	w.key("deserved")
	w.amounts(s.Deserved, notZero)
	w.key("guarantee")
	w.amounts(s.Guarantee, notZero)
	if len(s.Ignored) > 0 {
		w.key("ignored")
		w.open('[')
		for _, name := range slices.Sorted(slices.Values(s.Ignored)) {
			w.text(string(name))
		}
		w.close(']')
	}
	w.textField("name", s.Name)
	w.flag("orphan", q.orphan)
	w.textField("parent", s.Parent)
	w.numberField("priority", int64(s.Priority))
	w.textField("state", nameOf(stateNames, s.State))
	w.close('}')
}

func notZero(_ int, amount int64) bool { return amount != 0 }

// amounts writes the elements of a vector that are wanted, by name.
func (w *snapshotWriter) amounts(v []float64, wanted func(dim int, amount int64) bool) {
	w.open('{')
	for _, dim := range w.dims {
		amount := amountAt(v, dim)
		if !wanted(dim, amount) {
			continue
		}
		w.key(w.l.m.Name(dim))
		if amount == Unlimited {
			w.text(unlimitedText)
		} else {
			w.number(amount)
		}
	}
	w.close('}')
}

func (w *snapshotWriter) denied(cards map[int]string) {
	if len(cards) == 0 {
		return
	}
	w.key("denied")
	w.open('{')
	for _, dim := range w.dims {
		if text, ok := cards[dim]; ok {
			w.textField(w.l.m.Name(dim), text)
		}
	}
	w.close('}')
}

// dimsByName returns the dimensions in the order of their names.
func (l *Ledger) dimsByName() []int {
	dims := make([]int, l.m.Len())
	for i := range dims {
		dims[i] = i
	}
	slices.SortFunc(dims, func(a, b int) int { return strings.Compare(l.m.Name(a), l.m.Name(b)) })
	return dims
}

// job writes a job, and notes where its items stand.
func (w *snapshotWriter) job(j *job) {
	items := slices.Clone(j.items)
	slices.SortStableFunc(items, compareRecords)
	w.open('{')
	w.textField("id", j.id)
	w.key("items")
	w.open('[')
	for i, it := range items {
		w.indices[it] = i
		w.open('{')
		w.holds(it)
		w.flag("implicit", it.implicit)
		w.textField("key", it.alts.key)
		if !it.implicit {
			w.numberField("min", it.min)
			w.numberField("unit", it.unit)
		}
		w.close('}')
	}
	w.close(']')
	w.key("min")
	w.plain(j.min[dimCPU], j.min[dimMemory])
	w.textField("policy", nameOf(mixNames, j.mix))
	w.textField("queue", j.queue.spec.Name)
	w.flag("reserved", j.reserved)
	w.flag("seen", j.seen)
	w.key("seq")
	w.unsigned(j.seq)
	w.close('}')
}

// compareRecords orders the items of a record: those of the min as they are
// decided on, then those that only bind.
func compareRecords(a, b *item) int {
	switch {
	case a.implicit != b.implicit && b.implicit:
		return -1
	case a.implicit != b.implicit:
		return 1
	}
	return compareItems(jobItem{alts: a.alts, unit: a.unit}, jobItem{alts: b.alts, unit: b.unit})
}

func (w *snapshotWriter) plain(cpu, mem int64) {
	w.open('{')
	w.numberField("cpu", cpu)
	w.numberField("memory", mem)
	w.close('}')
}

func (w *snapshotWriter) holds(it *item) {
	w.key("holds")
	w.open('{')
	for _, at := range w.l.byName(it.alts) {
		if held := it.heldOn(at); held > 0 {
			w.numberField(w.l.cardName(it.alts.cards[at]), held)
		}
	}
	w.close('}')
}

// byName returns the indices of alternatives in the order of their names.
func (l *Ledger) byName(alts *alternatives) []int {
	at := make([]int, len(alts.cards))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int {
		return strings.Compare(l.cardName(alts.cards[a]), l.cardName(alts.cards[b]))
	})
	return at
}

// tasks writes charged and pending tasks, by id.
func (w *snapshotWriter) tasks() {
	l := w.l
	order := make(map[*task]int, len(l.tasks))
	ids := make([]string, 0, len(l.tasks)+len(l.waiting))
	for _, j := range l.jobs {
		at := 0
		for t := j.first; t != nil; t = t.next {
			order[t] = at
			at++
		}
	}
	for id := range l.tasks {
		ids = append(ids, id)
	}
	for id := range l.waiting {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	w.open('[')
	for _, id := range ids {
		if t := l.tasks[id]; t != nil {
			w.task(t, order[t])
		} else {
			w.waiting(l.waiting[id])
		}
	}
	w.close(']')
}

func (w *snapshotWriter) task(t *task, order int) {
	w.open('{')
	w.key("charges")
	w.open('[')
	for i := range t.charges {
		c := &t.charges[i]
		w.open('{')
		w.textField("card", w.l.cardName(c.card))
		w.numberField("covered", c.covered)
		if c.item != nil {
			w.numberField("item", int64(w.indices[c.item]))
		}
		w.textField("key", c.alts.key)
		w.numberField("milli", c.milli)
		w.close('}')
	}
	w.close(']')
	w.key("covered")
	w.plain(t.cpu.covered, t.mem.covered)
	w.numberField("cpu", t.cpu.amount)
	w.textField("id", t.id)
	w.textField("job", t.job.id)
	w.numberField("memory", t.mem.amount)
	w.numberField("order", int64(order))
	w.textField("queue", t.job.queue.spec.Name)
	w.key("seq")
	w.unsigned(t.seq)
	w.textField("state", nameOf(taskNames, t.state))
	w.close('}')
}

func (w *snapshotWriter) waiting(t *waitingTask) {
	w.open('{')
	w.key("charges")
	w.open('[')
	for i := range t.items {
		w.open('{')
		w.textField("key", t.items[i].alts.key)
		w.numberField("milli", t.items[i].milli)
		w.close('}')
	}
	w.close(']')
	w.numberField("cpu", t.cpu)
	w.textField("id", t.id)
	w.textField("job", t.job)
	w.numberField("memory", t.mem)
	w.textField("queue", t.queue)
	w.textField("state", nameOf(taskNames, taskPending))
	w.close('}')
}
