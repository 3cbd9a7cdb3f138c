package quota

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// Restore makes a ledger that answers and changes as the one of which data is the
// [Ledger.Snapshot], of this version or an older one. catalog, which may be nil, is what
// was discovered since. An [ErrConfig] is a cfg that decides otherwise (OnEvent doesn't),
// an [ErrSnapshot] names the record.
func Restore(cfg Config, catalog *device.Catalog, data []byte) (*Ledger, error) {
	return restore(cfg, nil, catalog, data)
}

// restore is Restore over a map; nil: that of the cards that the snapshot has.
func restore(cfg Config, m *vectormap.ResourceVectorMap, catalog *device.Catalog, data []byte) (*Ledger, error) {
	doc, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	if err := sameConfig(reflect.ValueOf(doc.Config), reflect.ValueOf(configOf(&cfg)), ""); err != nil {
		return nil, err
	}
	l, err := newLedger(cfg)
	if err != nil {
		return nil, err
	}
	// Outputs must be the same: what runs is charged in those of the snapshot, and in no other.
	if outputs := slices.Sorted(slices.Values(doc.Outputs)); !slices.Equal(outputs, l.outs.names) {
		return nil, fmt.Errorf("%w: the outputs are %s in the snapshot and %s here: want the same", ErrConfig, brief(fmt.Sprint(outputs)), brief(fmt.Sprint(l.outs.names)))
	}
	if m == nil {
		if m, err = extendMap(l.m, doc.cards()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
	}
	// Records are made with all dimensions, so the steps need not widen them again.
	l.widen(m)
	r := restorer{l: l, doc: doc, items: map[*job][]*book.Item{}}
	// Each step refers to what those before it made. Nobody has the ledger yet, so an error
	// leaves nothing behind.
	for _, step := range []func() error{r.known, r.queues, r.jobs, r.tasks, r.sums, r.judge} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	// The snapshot's cards stay known, as after [Ledger.SetCatalog].
	if err := l.setDiscovery(catalog, nil); err != nil {
		return nil, err
	}
	// Last: the steps are no changes of the ledger that was written.
	l.seq = doc.Seq
	return l, nil
}

// broken makes an [ErrSnapshot] that names a record of a list.
func broken(list string, i int, id string, err error) error {
	return fmt.Errorf("%w: %s[%d] %q: %w", ErrSnapshot, list, i, brief(id), err)
}

// readSnapshot reads the text into the structs of a snapshot. Whether that makes sense is
// for the restorer.
func readSnapshot(data []byte) (*snapshotDoc, error) {
	var head map[string]json.RawMessage
	if !json.Valid(data) {
		return nil, fmt.Errorf("%w: not JSON: %s", ErrSnapshot, jsonFault(data, 0))
	}
	if err := json.Unmarshal(data, &head); err != nil || string(head["format"]) != strconv.Quote(snapshotFormat) {
		return nil, fmt.Errorf("%w: the format is %s: want %q", ErrSnapshot, cmp.Or(brief(string(head["format"])), "missing"), snapshotFormat)
	}
	doc := new(snapshotDoc)
	if place, err := decode(data, doc); err != nil {
		return nil, fmt.Errorf("%w: %s %w", ErrSnapshot, place, err)
	}
	if doc.Seq >= 1<<52 { // no ledger has counted that far, and this one goes on to count
		return nil, fmt.Errorf("%w: seq is %d: want less than 2^52", ErrSnapshot, doc.Seq)
	}
	return doc, nil
}

// sameConfig compares the configuration of a snapshot with another one. Amounts that were
// decided under other rules could contradict these: a job over two cards, say, where a job
// must be on one.
func sameConfig(got, want reflect.Value, place string) error {
	for i := range got.NumField() {
		key, _, _ := strings.Cut(got.Type().Field(i).Tag.Get("json"), ",")
		got, want := got.Field(i), want.Field(i)
		if got.Kind() == reflect.Struct {
			if err := sameConfig(got, want, key+"."); err != nil {
				return err
			}
		} else if !got.Equal(want) {
			return fmt.Errorf("%w: %s is %s in the snapshot and %s here: want the same", ErrConfig, place+key, brief(fmt.Sprintf("%#v", got)), brief(fmt.Sprintf("%#v", want)))
		}
	}
	return nil
}

// cards returns the cards that a snapshot has. A quota or a job may have one that isn't
// known any more, or never was. So no fault of the catalog can lose a charge: each has its
// dimension before those of the catalog are added.
func (d *snapshotDoc) cards() []string {
	known := map[string]bool{}
	add := func(key string) {
		for card := range strings.SplitSeq(key, "|") {
			known[card] = true
		}
	}
	for i := range d.Known {
		known[d.Known[i].Card] = true // by its name, which may have a | in it
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		for _, names := range []iter.Seq[string]{maps.Keys(q.Capability), maps.Keys(q.Deserved), maps.Keys(q.Guarantee), maps.Keys(q.Denied)} {
			for name := range names {
				if card, ok := strings.CutPrefix(name, cardPrefix); ok {
					known[card] = true
				}
			}
		}
	}
	// An item may list a card that no node had when the job was resolved, as its quota did.
	for i := range d.Jobs {
		for _, it := range d.Jobs[i].Items {
			if !it.Output {
				add(it.Key)
			}
		}
	}
	for i := range d.Tasks {
		for _, c := range d.Tasks[i].Charges {
			if !c.Output {
				add(c.Key)
				add(c.Card)
			}
		}
	}
	delete(known, "") // of tasks that wait
	return sorted(known)
}

// restorer makes the records of a snapshot. It refuses what can't be a record, and leaves
// it to the ledger's own check whether the amounts of the records agree.
//
// A text that was not written by a ledger must not make one that no ledger could have
// become. What a record can't be is found while it is made, in the place where it stands;
// what only all records together can't be, at the end.
type restorer struct {
	l     *Ledger
	doc   *snapshotDoc
	items map[*job][]*book.Item // as the snapshot numbers them
}

// valueOf finds a state by its name in a snapshot. An error lists them all: the text may
// have been edited by hand.
func valueOf(names []string, name string) (int, error) {
	at := slices.Index(names, name)
	if at < 0 {
		return 0, fmt.Errorf("state: %q is none of %s", brief(name), some(names))
	}
	return at, nil
}

// known restores the cards that may be asked for. Their resources come from the text, since
// the catalog may have lost them while jobs still name them.
func (r *restorer) known() error {
	// Without a catalog yet, which comes last: so a record is read by what the text says
	// alone.
	r.l.source = &discovery{known: map[string][]corev1.ResourceName{}}
	for i, k := range r.doc.Known {
		if k.Card == "" {
			return broken("known", i, k.Card, errors.New("card is empty"))
		}
		if _, twice := r.l.source.known[k.Card]; twice {
			return broken("known", i, k.Card, errors.New("the card is there twice"))
		}
		r.l.source.known[k.Card] = k.Resources
	}
	return nil
}

// card finds the dimension of a card.
func (r *restorer) card(name string) (int32, error) {
	dim, ok := r.l.dims[name]
	if !ok {
		return 0, noDimension(name)
	}
	return dim, nil
}

func noDimension(name string) error { return fmt.Errorf("there is no dimension %q", brief(name)) }

// queues restores the tree. Queues are linked twice: SetQueues takes them all for queues of a
// caller, but one with nothing but orphans below it is a leaf.
func (r *restorer) queues() error {
	l := r.l
	queues := make([]builtQueue, len(r.doc.Queues))
	for i := range r.doc.Queues {
		var err error
		if queues[i], err = r.queue(&r.doc.Queues[i]); err != nil {
			return broken("queues", i, r.doc.Queues[i].Name, err)
		}
	}
	// The same checks as for queues of a caller.
	var f faults
	f.tree(queues)
	if err := f.err(); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	if _, err := l.setQueues(queues, l.m); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	for i := range queues {
		l.queues[queues[i].Name].Orphan = r.doc.Queues[i].Orphan
	}
	for i := range queues {
		if q := l.queues[queues[i].Name]; !q.Orphan && q.Parent != nil && q.Parent.Orphan {
			return broken("queues", i, q.spec.Name, fmt.Errorf("the parent %q is an orphan", brief(q.spec.Parent)))
		}
	}
	l.link()
	return nil
}

// queue makes a queue as build would have: a 0 in its capability is one that was
// written, and a dimension that is missing was not.
func (r *restorer) queue(s *snapshotQueue) (q builtQueue, err error) {
	m := r.l.m
	// The texts of the annotations are not in the snapshot. What they came to is.
	q = builtQueue{Name: s.Name, Parent: s.Parent, Priority: s.Priority, ignored: s.Ignored, denied: map[int]string{}, unreadable: s.Unreadable}
	// By its place in a list of names, so that no other text can become a state.
	state, err := valueOf(stateNames, s.State)
	if err != nil {
		return q, err
	}
	q.State = states[state]
	// An orphan is what SetQueues left of a queue. Another one would be open again, or limit
	// what runs.
	if s.Orphan && (q.State != StateClosed || len(s.Capability)+len(s.Denied)+len(s.Unreadable)+len(s.Deserved)+len(s.Guarantee) > 0) {
		return q, errors.New("an orphan that isn't closed and without a quota")
	}
	for _, v := range []struct {
		to   *vector.ResourceVector
		from map[string]Amount
	}{{&q.Capability, s.Capability}, {&q.Deserved, s.Deserved}, {&q.Guarantee, s.Guarantee}} {
		*v.to = m.NewVector()
		for _, name := range sorted(v.from) {
			dim, ok := m.Index(name)
			switch amount := int64(v.from[name]); {
			case !ok:
				return q, noDimension(name)
			case amount == Unlimited && v.to != &q.Capability:
				return q, fmt.Errorf("%q can't be unlimited: only a capability can", brief(name))
			case amount == Unlimited:
				(*v.to)[dim] = math.Inf(1)
			// A capability lists a 0 only where one was written, see queueDoc.
			case amount == 0 && v.to == &q.Capability:
				q.denied[dim] = ""
			default:
				(*v.to)[dim] = float64(amount)
			}
		}
	}
	for _, name := range sorted(s.Denied) {
		dim, ok := m.Index(name)
		if !ok {
			return q, noDimension(name)
		}
		q.denied[dim] = s.Denied[name]
	}
	q.denyUnreadable(m)
	return q, nil
}

func (r *restorer) jobs() error {
	for i := range r.doc.Jobs {
		if err := r.job(&r.doc.Jobs[i]); err != nil {
			return broken("jobs", i, r.doc.Jobs[i].ID, err)
		}
	}
	return nil
}

// job restores a job with its items, as if nothing of it were charged: the tasks come after
// all jobs, and take what they cover.
func (r *restorer) job(s *snapshotJob) error {
	l := r.l
	q, anyMix := l.queues[s.Queue], s.Policy == mixNames[true]
	switch {
	case s.ID == "":
		return errors.New("there is no id")
	case l.jobs[s.ID] != nil:
		return errors.New("the id is there twice")
	case q == nil:
		return fmt.Errorf("there is no queue %q", brief(s.Queue))
	case s.Policy != mixNames[anyMix]:
		return fmt.Errorf("policy is %q: want %s or %s", brief(s.Policy), mixNames[false], mixNames[true])
	case s.Seq > r.doc.Seq:
		return fmt.Errorf("seq is %d: want at most %d, the snapshot's", s.Seq, r.doc.Seq)
	}
	// From here on the record is in the ledger, which an error throws away as a whole.
	j := l.newJob(s.ID, &q.Queue)
	j.AnyMix, j.Reserved, j.Seen, j.seq = anyMix, s.Reserved, s.Seen, s.Seq
	j.Min = book.Plain{s.Min.CPU, s.Min.Memory}
	j.Held = j.Min // until tasks cover it
	// Two items with the same list and unit would leave it open which one a charge counts
	// against, and more than the limits would outgrow the bits that say which are taken.
	mins, all := 0, 0
	for k := range s.Items {
		it, err := r.item(j, &s.Items[k])
		if err == nil && slices.ContainsFunc(j.Items, func(o *book.Item) bool {
			return o.Alts == it.Alts && o.Unit == it.Unit && o.Implicit == it.Implicit
		}) {
			err = errors.New("the item is there twice")
		}
		if err != nil {
			return fmt.Errorf("items[%d] %q: %w", k, brief(s.Items[k].Key), err)
		}
		if !isOutput(it.Alts) {
			all++
			if !it.Implicit {
				mins++
			}
		}
		if mins > maxJobItems || all > 2*maxJobItems {
			return fmt.Errorf("items[%d]: want at most %d items with a min, and %d in all", k, maxJobItems, 2*maxJobItems)
		}
		j.Items = append(j.Items, it)
	}
	// Charges name items by their places in the text, so these are kept; the record has the
	// items in the order in which they are decided on.
	r.items[j] = slices.Clone(j.Items)
	slices.SortStableFunc(j.Items, compareRecords)
	return nil
}

// item restores an item with its holds. Whether these and the charges come to the min is for
// the ledger's check, which knows both.
func (r *restorer) item(j *job, s *snapshotItem) (*book.Item, error) {
	alts, err := r.alternatives(s.Key, s.Output)
	switch {
	case err != nil:
		return nil, err
	// It only binds tasks to one card: AnyMix binds none, and a single card needs no binding.
	case s.Implicit && (j.AnyMix || !alts.Multi() || s.Min != 0 || s.Unit != 0 || len(s.Holds) > 0):
		return nil, fmt.Errorf("it is implicit: want several cards, policy %s, and no min, unit or holds", mixNames[false])
	case s.Implicit:
		return book.NewImplicit(alts), nil
	case s.Unit == 0:
		return nil, errors.New("unit is 0: want 1 to less than 2^53")
	case !j.Reserved:
		return nil, errors.New("the job isn't reserved: want no min")
	}
	// How its holds are kept depends on the job's policy, which stands in the same record.
	it := book.NewItem(book.MinItem{Alts: alts, Amount: s.Min, Unit: s.Unit}, j.AnyMix)
	if !it.Spreads && len(s.Holds) > 1 {
		return nil, fmt.Errorf("holds has %s: want one card, as policy %s says", some(sorted(s.Holds)), mixNames[false])
	}
	// By name once: a list may have hundreds of cards, and the text as many holds.
	places := make(map[string]int, len(alts.Cards))
	for at, dim := range alts.Cards {
		places[r.l.resource(int(dim))] = at
	}
	for _, name := range sorted(s.Holds) {
		at, ok := places[name]
		if !ok || s.Holds[name] == 0 {
			return nil, fmt.Errorf("%d is held on %q: want more than 0 on a card of the item", s.Holds[name], brief(name))
		}
		if !it.Spreads {
			it.At = int32(at)
		}
		if it.Hold(at, s.Holds[name]); it.Held > s.Min {
			return nil, fmt.Errorf("more is held than min, %d", s.Min)
		}
	}
	return it, nil
}

// alternatives finds the cards of a key, or the output. Equal keys give one list, since
// charges and items are matched by its pointer.
func (r *restorer) alternatives(key string, output bool) (*book.Alternatives, error) {
	if output {
		i, known := r.l.outs.index(corev1.ResourceName(key))
		if !known {
			return nil, noDimension(outputPrefix + key)
		}
		return r.l.outs.alts[i], nil
	}
	most := max(maxAlternatives, len(r.l.dims)) // unnamed cards may be more than 64
	if n := strings.Count(key, "|") + 1; n > most {
		return nil, fmt.Errorf("%q has %d alternatives: want at most %d", brief(key), n, most)
	}
	var cards []int32
	var seen book.Set
	for name := range strings.SplitSeq(key, "|") {
		dim, err := r.card(name)
		if err != nil {
			return nil, err
		}
		if seen.Has(dim) {
			return nil, fmt.Errorf("%q names %q twice", brief(key), brief(name))
		}
		seen.Add(dim)
		cards = append(cards, dim)
	}
	return r.l.intern(cards), nil
}

// tasks restores the tasks in the order in which they were committed. Later rollbacks draw
// on the charges of a job in this order.
func (r *restorer) tasks() error {
	// Indices, since a fault is reported by the place in the text.
	order := make([]int, len(r.doc.Tasks))
	for i := range order {
		order[i] = i
	}
	// Order counts within a job. Sorted by it, the tasks of each job come in theirs.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.doc.Tasks[a].Order, r.doc.Tasks[b].Order) })
	for _, i := range order {
		if err := r.task(&r.doc.Tasks[i]); err != nil {
			return broken("tasks", i, r.doc.Tasks[i].ID, err)
		}
	}
	return nil
}

// task restores a charged task behind those of its job that are there already.
func (r *restorer) task(s *snapshotTask) error {
	l := r.l
	at, err := valueOf(taskNames, s.State)
	switch {
	case err != nil:
		return err
	case s.ID == "" || s.Job == "" || s.Queue == "":
		return errors.New("want an id, a job and a queue")
	case l.tasks[s.ID] != nil || l.waiting[s.ID] != nil:
		return errors.New("the id is there twice")
	case taskState(at) == taskPending:
		return r.waitingTask(s)
	}
	j := l.jobs[s.Job]
	switch {
	case j == nil:
		return fmt.Errorf("there is no job %q", brief(s.Job))
	case queueName(j.Queue) != s.Queue:
		return fmt.Errorf("queue is %q: want its job's, %q", brief(s.Queue), brief(queueName(j.Queue)))
	case s.Seq > r.doc.Seq:
		return fmt.Errorf("seq is %d: want at most %d, the snapshot's", s.Seq, r.doc.Seq)
	case s.Order != int(j.Tasks):
		return fmt.Errorf("order is %d: want %d, after the job's other tasks", s.Order, j.Tasks)
	}
	t := newTask(s.ID, s.Job, &j.Job, s.Seq, taskState(at))
	t.Plain = [...]book.Coverage{dimCPU: {Amount: s.CPU, Covered: s.Covered.CPU}, dimMemory: {Amount: s.Memory, Covered: s.Covered.Memory}}
	for k := range s.Charges {
		c, err := r.charge(j, &s.Charges[k])
		if err != nil {
			return fmt.Errorf("charges[%d]: %w", k, err)
		}
		// Else it would count as one on a card, see onCards.
		if k > 0 && s.Charges[k-1].Output && !s.Charges[k].Output {
			return fmt.Errorf("charges[%d]: it is on a card: want outputs behind all cards", k)
		}
		t.Charges = append(t.Charges, c)
	}
	// The hold of its job shrinks by what it covers, as it did when it was committed.
	j.Restore(&t.Task)
	l.tasks[t.id] = t
	// It runs there, or was committed there within what the node had.
	l.put(t, s.Node, true)
	return nil
}

// charge restores a charge. Without an item it covers nothing: the task runs where its job
// may not, or the job had no item for it.
func (r *restorer) charge(j *job, s *snapshotCharge) (c book.Charge, err error) {
	c.Amount, c.Covered = s.Milli, s.Covered
	if c.Alts, err = r.alternatives(s.Key, s.Output); err != nil {
		return c, err
	}
	if !s.Output {
		c.Card, err = r.card(s.Card)
	} else if c.Card = c.Alts.Cards[0]; s.Card != s.Key {
		err = fmt.Errorf("card is %q: want the output %q", brief(s.Card), brief(s.Key))
	}
	switch {
	case err != nil || s.Item == nil:
		return c, err
	case *s.Item < 0 || *s.Item >= len(r.items[j]):
		return c, fmt.Errorf("item is %d: want the index of one of the %d items of job %q", *s.Item, len(r.items[j]), brief(j.id))
	}
	it := r.items[j][*s.Item]
	// A text that says otherwise would bind the job to two cards.
	if !it.Spreads && it.Held > 0 && it.Alts.Cards[it.At] != c.Card || !it.Accept(&c) {
		return c, fmt.Errorf("a charge on %q can't count against item %d, %q: want a card of it, and under policy %s the one of its holds and its other charges",
			brief(s.Card), *s.Item, brief(keyOf(it.Alts)), mixNames[false])
	}
	return c, nil
}

// waitingTask restores what a task asks for that was pending. It is in no sum, so its job
// and its queue need not be there.
func (r *restorer) waitingTask(s *snapshotTask) error {
	use := book.Use{Plain: book.Plain{s.CPU, s.Memory}}
	for k := range s.Charges {
		alts, err := r.alternatives(s.Charges[k].Key, s.Charges[k].Output)
		if err != nil {
			return fmt.Errorf("charges[%d]: %w", k, err)
		}
		use.Add(book.UseItem{Alts: alts, Amount: s.Charges[k].Milli})
	}
	r.l.waiting[s.ID] = &TaskRequest{id: s.ID, job: s.Job, queue: s.Queue, use: use}
	return nil
}

// sums adds up each tree before the ledger does, whose sums must not pass 2^63. Each amount
// of the text is below 2^53, and a text may have any number of them.
func (r *restorer) sums() error {
	sums := treeSums{dims: r.l.m.Len(), parents: map[string]string{}}
	for i := range r.doc.Queues {
		sums.parents[r.doc.Queues[i].Name] = r.doc.Queues[i].Parent
	}
	for i := range r.doc.Jobs {
		j := r.l.jobs[r.doc.Jobs[i].ID]
		var err error
		j.Each(func(dim int32, allocated, held, _ int64) {
			if _, ok := sums.add(r.doc.Jobs[i].Queue, dim, allocated+held); !ok && err == nil {
				err = overflow("job", j.id, unitOf(r.l.m, int(dim)), allocated+held, r.l.resource(int(dim)), 62)
			}
		})
		if err != nil {
			return broken("jobs", i, j.id, err)
		}
	}
	return nil
}

// judge makes the ledger's sums and limits, and has it check itself. What Check can find it
// needn't look for: a text that passes is as good as a ledger that grew.
func (r *restorer) judge() error {
	l := r.l
	// Limits come after the sums: they mark what exceeds them, as in a ledger that grew.
	l.book.Total(l.records())
	l.limit()
	for i := range r.doc.Queues {
		if q := l.queues[r.doc.Queues[i].Name]; q.Orphan && q.Jobs == 0 {
			return broken("queues", i, q.spec.Name, errors.New("an orphan without jobs"))
		}
	}
	found := l.check()
	if len(found) == 0 {
		return nil
	}
	// A wrong record makes wrong sums, too: name the record.
	worst := slices.MinFunc(found, func(a, b violation) int {
		return cmp.Or(cmp.Compare(min(1, len(b.task)), min(1, len(a.task))), cmp.Compare(min(1, len(b.job)), min(1, len(a.job))))
	})
	return fmt.Errorf("%w: %v", ErrSnapshot, worst)
}
