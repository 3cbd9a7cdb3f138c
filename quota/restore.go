package quota

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// Restore makes a ledger of what [Ledger.Snapshot] returned. It answers and changes as
// that one. m has a dimension for every card and output of the snapshot; nil: the cards
// and outputs of the snapshot, and the cards of the catalog. The catalog, which may be
// nil, is what was discovered since; cards that it doesn't have stay known. What exceeds a
// limit is marked as over. Unknown fields are ignored. data isn't kept.
//
// Errors are [ErrFormat] for anything but a snapshot of this format, [ErrConfig] if cfg
// decides otherwise than the snapshot's (all but OnEvent decides) or m has other outputs,
// [ErrUnknownDimension] for a card that m doesn't have, and [ErrSnapshot], with the place, for what no ledger can hold. Sums that reach 2^53 are
// also an [ErrOverflow].
func Restore(cfg Config, m *vectormap.ResourceVectorMap, catalog Catalog, data []byte) (*Ledger, error) {
	if m != nil {
		isMap(m)
	}
	doc, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	if doc.Seq >= 1<<52 { // no ledger has counted that far, and this one goes on to count
		return nil, broken("seq is %d: want less than 2^52", doc.Seq)
	}
	if err := doc.sameConfig(&cfg); err != nil {
		return nil, err
	}
	found := read(catalog)
	if m == nil {
		if m, err = doc.newMap(sorted(found.cards)); err != nil {
			return nil, err
		}
	}
	if err := checkMap(m); err != nil {
		return nil, err
	}
	l := newLedger(cfg, m)
	if outputs := slices.Sorted(slices.Values(doc.Outputs)); !slices.Equal(outputs, l.outs.names) {
		return nil, fmt.Errorf("%w: the outputs are %s in the snapshot and %s in the map: want the same", ErrConfig, brief(fmt.Sprint(outputs)), brief(fmt.Sprint(l.outs.names)))
	}
	r := restorer{l: l, doc: doc, items: map[*job][]*book.Item{}}
	if err := inOrder(r.known, r.queues, r.jobs, r.tasks, r.finish); err != nil {
		return nil, err
	}
	if err := l.setDiscovery(found, nil, nil); err != nil {
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

// newMap makes a map of the cards and outputs that a snapshot has, and of other cards.
func (d *snapshotDoc) newMap(cards []string) (*vectormap.ResourceVectorMap, error) {
	m, err := NewMap(d.cards(), d.Outputs...)
	if err != nil {
		return nil, broken("%w", err)
	}
	return extendMap(m, cards)
}

// cards returns the cards that a snapshot names, sorted.
func (d *snapshotDoc) cards() []string {
	names := map[string]bool{}
	add := func(cards ...string) {
		for _, card := range cards {
			if card != "" {
				names[card] = true
			}
		}
	}
	for i := range d.Known {
		add(d.Known[i].Card)
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		for _, amounts := range []map[string]json.RawMessage{q.Capability, q.Deserved, q.Guarantee} {
			for name := range amounts {
				if card, ok := strings.CutPrefix(name, cardPrefix); ok {
					add(card)
				}
			}
		}
		for name := range q.Denied {
			if card, ok := strings.CutPrefix(name, cardPrefix); ok {
				add(card)
			}
		}
	}
	for i := range d.Jobs {
		for k := range d.Jobs[i].Items {
			if it := &d.Jobs[i].Items[k]; !it.Output {
				add(strings.Split(it.Key, "|")...)
			}
		}
	}
	for i := range d.Tasks {
		for k := range d.Tasks[i].Charges {
			if c := &d.Tasks[i].Charges[k]; !c.Output {
				add(strings.Split(c.Key, "|")...)
				add(c.Card)
			}
		}
	}
	return sorted(names)
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

// readSnapshot reads the text. Whether it makes sense is for the restorer.
func readSnapshot(data []byte) (*snapshotDoc, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: not JSON: %s", ErrFormat, jsonFault(data, 0))
	}
	var head struct{ Format json.RawMessage }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: %s: want a JSON object with the format %q", ErrFormat, kindOf(data), snapshotFormat)
	}
	var format string
	if err := json.Unmarshal(head.Format, &format); err != nil || format != snapshotFormat {
		written := cmp.Or(brief(string(head.Format)), "missing")
		return nil, fmt.Errorf("%w: the format is %s: want %q", ErrFormat, written, snapshotFormat)
	}
	doc := new(snapshotDoc)
	if err := json.Unmarshal(data, doc); err != nil {
		return nil, broken("%s", decodeFault(err, data))
	}
	return doc, nil
}

// kindOf says what a valid JSON text is.
func kindOf(text []byte) string {
	switch text = bytes.TrimLeft(text, " \t\r\n"); text[0] {
	case '[':
		return "a list"
	case '{':
		return "an object"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// decodeFault says which field of a JSON text has which value, and what it should
// have.
func decodeFault(err error, text []byte) string {
	var fault *json.UnmarshalTypeError
	if !errors.As(err, &fault) {
		return err.Error()
	}
	at := min(max(int(fault.Offset), 0), len(text))
	before := strings.ToValidUTF8(string(text[max(at-40, 0):at]), "")
	return fmt.Sprintf("%s is %s, in …%s at byte %d: want %s", cmp.Or(fault.Field, "the object"), withArticle(fault.Value), oneLine(before), at, wantType(fault.Type))
}

// withArticle makes a description of encoding/json, such as array or number -7, read
// like the others here.
func withArticle(value string) string {
	switch kind, rest, _ := strings.Cut(value, " "); kind {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "a boolean"
	case "number":
		if rest == "" {
			return "a number"
		}
		return "the number " + brief(rest)
	default:
		return "a " + brief(value)
	}
}

// wantType says what JSON a Go type is written as.
func wantType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantType(t.Elem())
	case reflect.Struct:
		var names []string
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
		return "an object with " + strings.Join(names, ", ")
	case reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Uint64:
		return "a whole number, not negative"
	}
	return "a whole number"
}

// broken makes an [ErrSnapshot].
func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSnapshot}, args...)...)
}

// outOf says that an amount is none that a ledger holds, and what is one.
func outOf(amount int64, unit string) string {
	return fmt.Sprintf("%d %s: want 0 to less than 2^53", amount, unit)
}

// sameConfig compares the configuration with another one.
func (d *snapshotDoc) sameConfig(cfg *Config) error {
	got, want := d.Config, configOf(cfg)
	if got == nil {
		return broken("there is no config: want an object")
	}
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"countReleasing", got.CountReleasing, want.CountReleasing},
		{"enforceGuarantee", got.EnforceGuarantee, want.EnforceGuarantee},
		{"keys.deserved", got.Keys.Deserved, want.Keys.Deserved},
		{"keys.guarantee", got.Keys.Guarantee, want.Keys.Guarantee},
		{"keys.name", got.Keys.Name, want.Keys.Name},
		{"keys.quota", got.Keys.Quota, want.Keys.Quota},
		{"keys.request", got.Keys.Request, want.Keys.Request},
		{"missing", got.Missing, want.Missing},
		{"mix", got.Mix, want.Mix},
		{"multiplier", got.Multiplier, want.Multiplier},
		{"parser", got.Parser, want.Parser},
		{"transformation", got.Transformation, want.Transformation},
		{"unlimitedCPUMemory", got.UnlimitedCPUMemory, want.UnlimitedCPUMemory},
		{"unnamed", got.Unnamed, want.Unnamed},
	} {
		if f.got != f.want {
			return fmt.Errorf("%w: %s is %s in the snapshot and %s here: want the same", ErrConfig, f.name, brief(fmt.Sprintf("%#v", f.got)), brief(fmt.Sprintf("%#v", f.want)))
		}
	}
	return nil
}

// valueOf finds a value by its name in a snapshot.
func valueOf[V ~uint8](names []string, name string) (V, bool) {
	at := slices.Index(names, name)
	return V(max(at, 0)), at >= 0
}

// restorer makes the records of a snapshot.
type restorer struct {
	l     *Ledger
	doc   *snapshotDoc
	items map[*job][]*book.Item // as the snapshot numbers them
}

func (r *restorer) known() error {
	r.l.source = &discovery{known: map[string][]corev1.ResourceName{}}
	for i, k := range r.doc.Known {
		at := place{list: "known", i: i}
		if _, err := r.card(k.Card, at); err != nil {
			return err
		}
		if _, twice := r.l.source.known[k.Card]; twice {
			return broken("%v: card %q is there twice: want it once", at, brief(k.Card))
		}
		r.l.source.known[k.Card] = k.Resources
	}
	return nil
}

// place is where something stands in a snapshot: an element of a list or, where within
// isn't empty, an element of a list in that one.
type place struct {
	list   string
	i      int
	within string
	k      int
}

// String writes the place as jobs[3].items[1].
func (p place) String() string {
	if p.within == "" {
		return fmt.Sprintf("%s[%d]", p.list, p.i)
	}
	return fmt.Sprintf("%s[%d].%s[%d]", p.list, p.i, p.within, p.k)
}

// card finds the dimension of a card.
func (r *restorer) card(name string, at place) (int32, error) {
	dim, ok := r.l.dims[name]
	if !ok {
		return 0, noDimension(name, at)
	}
	return dim, nil
}

func noDimension(name string, at place) error {
	return fmt.Errorf("%w: %q, in %v of the snapshot: make the map with it, or let Restore make the map", ErrUnknownDimension, brief(name), at)
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
		return broken("%w", err)
	}
	for i := range r.doc.Queues {
		q := l.queues[queues[i].Name]
		q.Orphan = r.doc.Queues[i].Orphan
	}
	for i := range queues {
		if q := l.queues[queues[i].Name]; q.Parent != nil && q.Parent.Orphan && !q.Orphan {
			return broken("queues[%d] %q: its parent %q is an orphan: want a queue that isn't", i, brief(queues[i].Name), brief(queueName(q.Parent)))
		}
	}
	l.link()
	return nil
}

func (r *restorer) queue(i int, s *snapshotQueue) (q Queue, err error) {
	state, ok := valueOf[State](stateNames, s.State)
	if !ok {
		return Queue{}, broken("queues[%d] %q: the state is %q: want one of %s", i, brief(s.Name), brief(s.State), some(stateNames))
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
				return Queue{}, noDimension(name, place{list: "queues", i: i})
			}
			if (*v.dst)[dim], ok = amountOf(v.amounts[name], v.dims != nil); !ok {
				unlimited := ""
				if v.dims != nil {
					unlimited = strconv.Quote(unlimitedText)
				}
				return Queue{}, broken("queues[%d] %q: %s of %s is %s: want %s",
					i, brief(s.Name), v.name, brief(name), brief(string(v.amounts[name])), wantAmount(r.l.m, dim, unlimited))
			}
			if v.dims != nil {
				*v.dims = append(*v.dims, dim)
			}
		}
	}
	q.Denied = make(map[int]string, len(s.Denied))
	for _, dim := range mentioned {
		if q.Capability[dim] == 0 {
			q.Denied[dim] = ""
		}
	}
	for _, name := range sorted(s.Denied) {
		dim, ok := r.l.m.Index(name)
		if !ok {
			return Queue{}, noDimension(name, place{list: "queues", i: i})
		}
		q.Denied[dim] = s.Denied[name]
	}
	return q, nil
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
	q, anyMix := l.queues[s.Queue], s.Policy == mixNames[true]
	switch {
	case s.ID == "":
		return fail("there is no id")
	case l.jobs[s.ID] != nil:
		return fail("the id is there twice")
	case q == nil:
		return fail("there is no queue %q", brief(s.Queue))
	case !anyMix && s.Policy != mixNames[false]:
		return fail("the policy is %q: want one of %s, %s", brief(s.Policy), mixNames[false], mixNames[true])
	case s.Seq > r.doc.Seq:
		return fail("seq is %d: want at most %d, the snapshot's", s.Seq, r.doc.Seq)
	case !exact(s.Min.CPU):
		return fail("min.cpu is %s", outOf(s.Min.CPU, "milli-cores"))
	case !exact(s.Min.Memory):
		return fail("min.memory is %s", outOf(s.Min.Memory, "bytes"))
	}
	j := l.newJob(s.ID, &q.Queue)
	j.AnyMix, j.Reserved, j.Seen, j.seq = anyMix, s.Reserved, s.Seen, s.Seq
	j.Min = [2]int64{s.Min.CPU, s.Min.Memory}
	j.Held = j.Min // until tasks cover it
	type kind struct {
		alts     *book.Alternatives
		unit     int64
		implicit bool
	}
	seen, mins, all := make(map[kind]bool, len(s.Items)), 0, 0
	for k := range s.Items {
		it, err := r.item(place{"jobs", i, "items", k}, j, &s.Items[k])
		if err != nil {
			return err
		}
		kind := kind{it.Alts, it.Unit, it.Implicit}
		if seen[kind] {
			return fail("items[%d]: %q in units of %d milli-cards is there twice: want it once", k, brief(keyOf(it.Alts)), it.Unit)
		}
		if !isOutput(it.Alts) {
			all++
			if !it.Implicit {
				mins++
			}
		}
		if mins > maxJobItems || all > 2*maxJobItems {
			return fail("items[%d]: %q is one item too many: want at most %d with a min, and %d in all", k, brief(keyOf(it.Alts)), maxJobItems, 2*maxJobItems)
		}
		seen[kind] = true
		j.Items = append(j.Items, it)
	}
	r.items[j] = slices.Clone(j.Items)
	slices.SortStableFunc(j.Items, compareRecords)
	return nil
}

func (r *restorer) item(where place, j *job, s *snapshotItem) (*book.Item, error) {
	alts, err := r.alternatives(s.Key, s.Output, where)
	if err != nil {
		return nil, err
	}
	if s.Implicit {
		const implicit = "%v: %q is implicit, and "
		switch {
		case j.AnyMix:
			return nil, broken(implicit+"the job's policy is %s: want %s", where, brief(s.Key), mixNames[true], mixNames[false])
		case !alts.Multi():
			return nil, broken(implicit+"has one card: want several", where, brief(s.Key))
		case s.Min != 0:
			return nil, broken(implicit+"min is %d milli-cards: want none", where, brief(s.Key), s.Min)
		case s.Unit != 0:
			return nil, broken(implicit+"unit is %d milli-cards: want none", where, brief(s.Key), s.Unit)
		case len(s.Holds) > 0:
			return nil, broken(implicit+"holds has %s: want none", where, brief(s.Key), some(sorted(s.Holds)))
		}
		return book.NewImplicit(alts), nil
	}
	switch {
	case !exact(s.Min):
		return nil, broken("%v: %q: min is %s", where, brief(s.Key), outOf(s.Min, "milli-cards"))
	case !exact(s.Unit) || s.Unit == 0:
		return nil, broken("%v: %q: unit is %d milli-cards: want 1 to less than 2^53", where, brief(s.Key), s.Unit)
	case !j.Reserved:
		return nil, broken("%v: %q: min is %d milli-cards, and the job is not reserved: want no min", where, brief(s.Key), s.Min)
	}
	it := book.NewItem(book.MinItem{Alts: alts, Amount: s.Min, Unit: s.Unit}, j.AnyMix)
	index := alts.Index
	if len(s.Holds) > 1 {
		index = alts.Places()
	}
	for _, name := range sorted(s.Holds) {
		at, held := index(r.l.dims[name]), s.Holds[name]
		if s.Output {
			at = slices.Index([]string{s.Key}, name)
		}
		const hold = "%v: %q: %d milli-cards are held on %q: want "
		switch {
		case at < 0:
			return nil, broken(hold+"one of the item's cards", where, brief(s.Key), held, brief(name))
		case !exact(held) || held == 0:
			return nil, broken(hold+"1 to less than 2^53", where, brief(s.Key), held, brief(name))
		case !it.Spreads && it.Held > 0:
			return nil, broken(hold+"all of it on one card, as policy %s says", where, brief(s.Key), held, brief(name), mixNames[false])
		}
		if !it.Spreads {
			it.At = int32(at)
		}
		it.Hold(at, held)
	}
	return it, nil
}

// alternatives finds the cards of a key, or the output.
func (r *restorer) alternatives(key string, output bool, at place) (*book.Alternatives, error) {
	if output {
		i, known := r.l.outs.index(corev1.ResourceName(key))
		if !known {
			return nil, noDimension(outputPrefix+key, at)
		}
		return r.l.outs.alts[i], nil
	}
	most := max(maxAlternatives, len(r.l.dims)) // unnamed cards may be more than 64
	if n := strings.Count(key, "|") + 1; n > most {
		return nil, broken("%v: %q has %d alternatives: want at most %d", at, brief(key), n, most)
	}
	var cards []int32
	var seen book.Set
	for name := range strings.SplitSeq(key, "|") {
		dim, err := r.card(name, at)
		if err != nil {
			return nil, err
		}
		if seen.Has(dim) {
			return nil, broken("%v: %q names %q twice: want it once", at, brief(key), brief(name))
		}
		seen.Add(dim)
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
		return fail("there is no id")
	case l.tasks[s.ID] != nil || l.waiting[s.ID] != nil:
		return fail("the id is there twice")
	case !known:
		return fail("the state is %q: want one of %s", brief(s.State), some(taskNames))
	case !exact(s.CPU):
		return fail("cpu is %s", outOf(s.CPU, "milli-cores"))
	case !exact(s.Memory):
		return fail("memory is %s", outOf(s.Memory, "bytes"))
	case state == taskPending:
		return r.waitingTask(i, s)
	}
	j := l.jobs[s.Job]
	switch {
	case j == nil:
		return fail("there is no job %q", brief(s.Job))
	case queueName(j.Queue) != s.Queue:
		return fail("the queue is %q: want its job's, %q", brief(s.Queue), brief(queueName(j.Queue)))
	case s.Seq > r.doc.Seq:
		return fail("seq is %d: want at most %d, the snapshot's", s.Seq, r.doc.Seq)
	case s.Order != int(j.Tasks):
		return fail("order is %d: want %d, after the job's other tasks", s.Order, j.Tasks)
	}
	const covered = "covered.%s is %d %s: want 0 to %d, which the task is charged and its job's min has left"
	if most := min(s.CPU, j.Held[dimCPU]); s.Covered.CPU < 0 || s.Covered.CPU > most {
		return fail(covered, "cpu", s.Covered.CPU, "milli-cores", most)
	}
	if most := min(s.Memory, j.Held[dimMemory]); s.Covered.Memory < 0 || s.Covered.Memory > most {
		return fail(covered, "memory", s.Covered.Memory, "bytes", most)
	}
	t := newTask(s.ID, s.Job, &j.Job, s.Seq, state)
	t.CPU = book.Draw{Amount: s.CPU, Covered: s.Covered.CPU}
	t.Memory = book.Draw{Amount: s.Memory, Covered: s.Covered.Memory}
	for k := range s.Charges {
		c, err := r.charge(place{"tasks", i, "charges", k}, j, &s.Charges[k])
		if err != nil {
			return err
		}
		t.Add(c)
	}
	j.Restore(&t.Task)
	l.tasks[t.id] = t
	return nil
}

func (r *restorer) charge(where place, j *job, s *snapshotCharge) (c book.Charge, err error) {
	if c.Alts, err = r.alternatives(s.Key, s.Output, where); err != nil {
		return c, err
	}
	if s.Output {
		if c.Card = c.Alts.Cards[0]; s.Card != s.Key {
			return c, broken("%v: card is %q: want %q, the output", where, brief(s.Card), brief(s.Key))
		}
	} else if c.Card, err = r.card(s.Card, where); err != nil {
		return c, err
	}
	switch c.Amount, c.Covered = s.Milli, s.Covered; {
	case !exact(c.Amount):
		return c, broken("%v: milli is %s", where, outOf(s.Milli, "milli-cards"))
	case c.Covered < 0 || c.Covered > c.Amount:
		return c, broken("%v: covered is %d milli-cards: want 0 to %d, the charge", where, s.Covered, s.Milli)
	}
	if s.Item == nil {
		if s.Covered != 0 {
			return c, broken("%v: covered is %d milli-cards, and there is no item: want 0, or the item's index", where, s.Covered)
		}
		return c, nil
	}
	if *s.Item < 0 || *s.Item >= len(r.items[j]) {
		return c, broken("%v: item is %d: want the index of one of the %d items of job %q", where, *s.Item, len(r.items[j]), brief(j.id))
	}
	it := r.items[j][*s.Item]
	const against = "%v: a charge on %q can't count against item %d: "
	switch at := it.Alts.Index(c.Card); {
	case at < 0:
		return c, broken(against+"want one of its cards, %s", where, brief(s.Card), *s.Item, some(strings.Split(keyOf(it.Alts), "|")))
	case !it.Spreads && it.Held > 0 && at != int(it.At):
		return c, broken(against+"what is held for it is on %q, and policy %s allows no other card", where, brief(s.Card), *s.Item,
			brief(r.l.cardName(it.Alts.Cards[it.At])), mixNames[false])
	case !it.Accept(&c):
		return c, broken(against+"its other charges are on %q, and policy %s allows no other card", where, brief(s.Card), *s.Item,
			brief(r.l.cardName(it.Alts.Cards[it.At])), mixNames[false])
	}
	return c, nil
}

func (r *restorer) waitingTask(i int, s *snapshotTask) error {
	t := &waitingTask{id: s.ID, job: s.Job, queue: s.Queue, use: book.Use{CPU: s.CPU, Memory: s.Memory}}
	switch {
	case s.Job == "":
		return broken("tasks[%d] %q: there is no job: want its id", i, brief(s.ID))
	case s.Queue == "":
		return broken("tasks[%d] %q: there is no queue: want its name", i, brief(s.ID))
	}
	for k := range s.Charges {
		at := place{"tasks", i, "charges", k}
		alts, err := r.alternatives(s.Charges[k].Key, s.Charges[k].Output, at)
		if err != nil {
			return err
		}
		if !exact(s.Charges[k].Milli) {
			return broken("%v: milli is %s", at, outOf(s.Charges[k].Milli, "milli-cards"))
		}
		t.use.Items = append(t.use.Items, book.UseItem{Alts: alts, Amount: s.Charges[k].Milli})
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
		j.Each(func(dim int32, allocated, held, _ int64) {
			if !sums.add(j.Queue, dim, allocated+held) && err == nil {
				err = broken("jobs[%d]: %w", i, l.overflowAt("job", j.id, allocated+held, dim))
			}
		})
		if err != nil {
			return err
		}
	}
	l.book.Total(l.records())
	l.limit()
	for i := range r.doc.Queues {
		q := l.queues[r.doc.Queues[i].Name]
		if q.Orphan && q.Jobs == 0 {
			return broken("queues[%d] %q: an orphan without jobs: want none", i, brief(q.spec.Name))
		}
		if q.Orphan && !r.doc.Queues[i].empty() {
			return broken("queues[%d] %q: an orphan that isn't closed and without a quota: want state %s and no amounts", i, brief(q.spec.Name), stateNames[StateClosed])
		}
	}
	if found := l.check(); len(found) > 0 {
		return broken("%v", found[0])
	}
	return nil
}

// empty reports whether a queue is closed and has nothing to use, as orphans are.
func (q *snapshotQueue) empty() bool {
	return q.State == stateNames[StateClosed] && len(q.Denied) == 0 && len(q.Capability)+len(q.Deserved)+len(q.Guarantee) == 0
}

// rootSums adds up amounts by tree, where sums are largest.
type rootSums struct {
	fromCells bool                    // starts with what is there
	sums      map[*book.Queue][]int64 // of the tree of each queue that was asked for, and of those above it
}

func newRootSums(fromCells bool) *rootSums { return &rootSums{fromCells, map[*book.Queue][]int64{}} }

// tree returns the sums of a queue's tree, by dimension. However often it is called,
// it goes from each queue to its parent once.
func (s *rootSums) tree(q *book.Queue) []int64 {
	root, sums := q, s.sums[q]
	for sums == nil && root.Parent != nil {
		root = root.Parent
		sums = s.sums[root]
	}
	if sums == nil {
		sums = make([]int64, len(root.Cells))
		if s.fromCells {
			for dim := range root.Cells {
				sums[dim] = root.Cells[dim].Full()
			}
		}
		s.sums[root] = sums
	}
	for ; q != root; q = q.Parent {
		s.sums[q] = sums
	}
	return sums
}

// add adds an amount of a queue, unless the sum would reach 2^53.
func (s *rootSums) add(q *book.Queue, dim int32, amount int64) bool {
	sum := &s.tree(q)[dim]
	if amount >= limitExact-*sum {
		return false
	}
	*sum += amount
	return true
}
