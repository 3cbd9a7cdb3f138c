package quota

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
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
	doc, written, err := readSnapshot(data)
	if err != nil {
		return nil, err
	}
	// Amounts that were decided under other rules could contradict these: a job over two
	// cards, say, where a job must be on one.
	if place, err := compare(textOf(doc.Config), textOf(configOf(&cfg)), true); err != nil {
		return nil, fmt.Errorf("%w: config%s %w", ErrConfig, place, err)
	}
	l, err := newLedger(cfg)
	if err != nil {
		return nil, err
	}
	// Outputs must be the same: what runs is charged in those of the snapshot, and in no other.
	if place, err := compare(textOf(doc.Outputs), textOf(l.outs.names), true); err != nil {
		return nil, fmt.Errorf("%w: outputs%s %w", ErrConfig, place, err)
	}
	if m == nil {
		if m, err = extendMap(l.m, doc.cards()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
		}
	}
	// Records are made with all dimensions, so the steps need not widen them again.
	l.widen(m)
	if l.seq = doc.Seq; l.seq >= 1<<52 { // no ledger has counted that far, and this one goes on to count
		return nil, fmt.Errorf("%w: seq is %d: want less than 2^52", ErrSnapshot, l.seq)
	}
	// Nobody has the ledger yet, so an error leaves nothing behind.
	if err := l.restore(doc, written); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	// The snapshot's cards stay known, as after [Ledger.SetCatalog].
	if err := l.setDiscovery(catalog, nil); err != nil {
		return nil, err
	}
	return l, nil
}

// cards returns the cards that a snapshot has. A quota or a job may have one that isn't
// known any more, or never was. So no fault of the catalog can lose a charge: each has its
// dimension before those of the catalog are added.
func (d *snapshotDoc) cards() []string {
	cards := map[string]bool{}
	add := func(key string, isOutput bool) {
		if isOutput {
			return
		}
		for card := range strings.SplitSeq(key, "|") {
			cards[card] = true
		}
	}
	// An item may list a card that no node had when the job was resolved, as its quota did.
	for i := range d.Jobs {
		for _, it := range d.Jobs[i].Items {
			add(it.Key, it.Output)
		}
	}
	for i := range d.Tasks {
		for _, c := range d.Tasks[i].Charges {
			add(c.Key, c.Output)
			add(c.Card, c.Output)
		}
	}
	for i := range d.Queues {
		q := &d.Queues[i]
		for _, names := range []iter.Seq[string]{maps.Keys(q.Capability), maps.Keys(q.Deserved), maps.Keys(q.Guarantee), maps.Keys(q.Denied)} {
			for name := range names {
				if card, ok := strings.CutPrefix(name, cardPrefix); ok {
					cards[card] = true
				}
			}
		}
	}
	for i := range d.Known {
		cards[d.Known[i].Card] = true // by its name, which may have a | in it
	}
	delete(cards, "") // of tasks that wait; elsewhere it is a fault of the record
	return sorted(cards)
}

// restore makes the records of a snapshot. A text that was not written by a ledger must not
// make one that no ledger could have become. So the ledger writes what it has: that must be
// the snapshot again, and the ledger's own check must find nothing. Only what neither can
// see is looked for while a record is made. written is the text of doc.
func (l *Ledger) restore(doc *snapshotDoc, written json.RawMessage) error {
	// Without a catalog yet, which comes last: so a record is read by what the text says
	// alone. The resources of cards come from the text, too, since the catalog may have lost
	// them while jobs still name them.
	l.source = &discovery{known: map[string][]corev1.ResourceName{}}
	for i := range doc.Known {
		card := doc.Known[i].Card
		if _, twice := l.source.known[card]; twice || card == "" {
			return fmt.Errorf("known[%d].card is %q: want each card once, by its name", i, brief(card))
		}
		l.source.known[card] = doc.Known[i].Resources
	}
	queues := make([]builtQueue, len(doc.Queues))
	for i := range doc.Queues {
		var err error
		if queues[i], err = l.restoreQueue(&doc.Queues[i]); err != nil {
			return fmt.Errorf("queue %q: %w", brief(doc.Queues[i].Name), err)
		}
	}
	// The same checks as for queues of a caller.
	var f faults
	f.tree(queues)
	if err := f.err(); err != nil {
		return err
	}
	for i := range queues {
		q := &queue{spec: queues[i]}
		q.Tag, q.Cells, q.Orphan = q, make([]book.Cell, l.m.Len()), doc.Queues[i].Orphan
		l.queues[q.spec.Name] = q
	}
	l.link()
	for i := range doc.Jobs {
		if err := l.restoreJob(&doc.Jobs[i]); err != nil {
			return fmt.Errorf("job %q: %w", brief(doc.Jobs[i].ID), err)
		}
	}
	// Later rollbacks draw on the charges of a job in the order in which its tasks were
	// committed.
	tasks := slices.Clone(doc.Tasks)
	slices.SortStableFunc(tasks, func(a, b snapshotTask) int { return cmp.Compare(a.Order, b.Order) })
	for i := range tasks {
		if err := l.restoreTask(&tasks[i]); err != nil {
			return fmt.Errorf("task %q: %w", brief(tasks[i].ID), err)
		}
	}
	l.book.Total(l.records())
	if place, err := compare(written, textOf(l.document()), true); err != nil {
		return fmt.Errorf("%s %w", strings.TrimPrefix(place, "."), err)
	}
	return l.Check()
}

// dimension finds a dimension by its name in the map.
func (l *Ledger) dimension(name string) (int, error) {
	dim, ok := l.m.Index(name)
	if !ok {
		return 0, fmt.Errorf("there is no dimension %q", brief(name))
	}
	return dim, nil
}

// restoreQueue makes a queue as build would have: a 0 in its capability is one that was
// written, and a dimension that is missing was not. The texts of the annotations are not in
// the snapshot. What they came to is.
func (l *Ledger) restoreQueue(s *snapshotQueue) (builtQueue, error) {
	// What SetQueues left of a queue. Another orphan would be open again, or limit what runs.
	if s.Orphan {
		return builtQueue{Name: s.Name, Parent: s.Parent, Priority: s.Priority, State: StateClosed}, nil
	}
	q := builtQueue{
		Name: s.Name, Parent: s.Parent, Priority: s.Priority, State: cmp.Or(states[s.State], stateUnknown),
		denied: map[int]string{}, unreadable: s.Unreadable,
	}
	for _, v := range []struct {
		what string
		to   *vector.ResourceVector
		from map[string]any
	}{{listCapability, &q.Capability, s.Capability}, {"deserved", &q.Deserved, s.Deserved}, {"guarantee", &q.Guarantee, s.Guarantee}} {
		*v.to = l.m.NewVector()
		for _, name := range sorted(v.from) {
			dim, err := l.dimension(name)
			isCapability := v.what == listCapability
			amount, isNumber := v.from[name].(float64)
			switch {
			case err != nil:
				return q, err
			case v.from[name] == unlimitedText && isCapability:
				(*v.to)[dim] = math.Inf(1)
			case !isNumber || !exact(int64(amount)) || amount != math.Trunc(amount):
				return q, fmt.Errorf("%s of %q is %s: want 0 to less than 2^53, or of a capability unlimited", v.what, brief(name), brief(string(textOf(v.from[name]))))
			// A capability lists a 0 only where one was written, see queueDoc.
			case amount == 0 && isCapability:
				q.denied[dim] = ""
			default:
				(*v.to)[dim] = amount
			}
		}
	}
	for _, name := range sorted(s.Denied) {
		dim, err := l.dimension(name)
		if err != nil {
			return q, err
		}
		q.denied[dim] = s.Denied[name]
	}
	q.denyUnreadable(l.m)
	return q, nil
}

// restoreJob restores a job with its items, as if nothing of it were charged: the tasks come
// after all jobs, and take what they cover.
func (l *Ledger) restoreJob(s *snapshotJob) error {
	q := l.queues[s.Queue]
	switch {
	case s.ID == "" || l.jobs[s.ID] != nil:
		return errors.New("want an id that no other job has")
	case q == nil:
		return fmt.Errorf("there is no queue %q", brief(s.Queue))
	case s.Seq > l.seq:
		return fmt.Errorf("seq is %d: want at most %d, the snapshot's", s.Seq, l.seq)
	case !exact(s.Min.CPU) || !exact(s.Min.Memory):
		return fmt.Errorf("min is %d of cpu and %d of memory: want 0 to less than 2^53", s.Min.CPU, s.Min.Memory)
	}
	j := l.newJob(s.ID, &q.Queue)
	j.AnyMix, j.Reserved, j.Seen, j.seq = s.Policy == mixNames[true], s.Reserved, s.Seen, s.Seq
	j.Min = book.Plain{s.Min.CPU, s.Min.Memory}
	j.Held = j.Min // until tasks cover it
	for k := range s.Items {
		it, err := l.restoreItem(j, &s.Items[k])
		// Charges name items by their places. Two items with the same list and unit would
		// leave it open which one a charge counts against.
		if err == nil && k > 0 && compareRecords(j.Items[k-1], it) >= 0 {
			err = errors.New("want each item once, in the order in which they are decided on")
		}
		if err != nil {
			return fmt.Errorf("items[%d] %q: %w", k, brief(s.Items[k].Key), err)
		}
		j.Items = append(j.Items, it)
	}
	return nil
}

// restoreItem restores an item with its holds, behind those that its job has. Whether holds
// and charges come to the min is for the ledger's check, which knows both.
func (l *Ledger) restoreItem(j *job, s *snapshotItem) (*book.Item, error) {
	alts, err := l.alternatives(s.Key, s.Output)
	switch {
	case err != nil:
		return nil, err
	case s.Implicit && !j.Binds(alts):
		return nil, fmt.Errorf("it is implicit: want several cards, policy %s, and at most %d items", mixNames[false], 2*maxJobItems)
	case s.Implicit:
		return book.NewImplicit(alts), nil
	// Outputs come behind all cards.
	case !s.Output && len(j.Items) >= maxJobItems:
		return nil, fmt.Errorf("want at most %d items with a min", maxJobItems)
	case !exact(s.Min) || !exact(s.Unit) || s.Unit == 0:
		return nil, fmt.Errorf("min is %d and unit %d: want 0, and 1, to less than 2^53", s.Min, s.Unit)
	case !j.Reserved:
		return nil, errors.New("the job isn't reserved: want no min")
	}
	// How its holds are kept depends on the job's policy, which stands in the same record.
	it := book.NewItem(book.MinItem{Alts: alts, Amount: s.Min, Unit: s.Unit}, j.AnyMix)
	for at, dim := range alts.Cards {
		card := l.resource(int(dim))
		held := s.Holds[card]
		if !exact(held) {
			return nil, fmt.Errorf("holds has %d on %q: want 0 to less than 2^53", held, brief(card))
		}
		if held > 0 && !it.Spreads {
			it.At = int32(at)
		}
		if it.Hold(at, held); it.Held > s.Min {
			return nil, fmt.Errorf("more is held than min, %d", s.Min)
		}
	}
	return it, nil
}

// alternatives finds the cards of a key, or the output. Equal keys give one list, since
// charges and items are matched by its pointer.
func (l *Ledger) alternatives(key string, output bool) (*book.Alternatives, error) {
	if output {
		if _, err := l.dimension(outputPrefix + key); err != nil {
			return nil, err
		}
		at, _ := l.outs.index(corev1.ResourceName(key))
		return l.outs.alts[at], nil
	}
	var cards []int32
	var seen book.Set
	for name := range strings.SplitSeq(key, "|") {
		dim, err := l.dimension(cardPrefix + name)
		if err != nil {
			return nil, err
		}
		if seen.Has(int32(dim)) {
			return nil, fmt.Errorf("%q names %q twice", brief(key), brief(name))
		}
		seen.Add(int32(dim))
		cards = append(cards, int32(dim))
	}
	return l.intern(cards), nil
}

// restoreTask restores a charged task behind those of its job that are there already, or what
// a task asks for that was pending. That one is in no sum, so its job and its queue need not
// be there.
func (l *Ledger) restoreTask(s *snapshotTask) error {
	state := slices.Index(taskNames, s.State)
	var j *job // none of a task that waits
	if state != int(taskPending) {
		j = l.jobs[s.Job]
	}
	switch {
	case state < 0:
		return fmt.Errorf("state: %q is none of %s", brief(s.State), some(taskNames))
	case s.ID == "" || s.Job == "" || s.Queue == "":
		return errors.New("want an id, a job and a queue")
	case l.tasks[s.ID] != nil || l.waiting[s.ID] != nil:
		return errors.New("the id is there twice")
	case s.Seq > l.seq:
		return fmt.Errorf("seq is %d: want at most %d, the snapshot's", s.Seq, l.seq)
	case !exact(s.CPU) || !exact(s.Memory):
		return fmt.Errorf("cpu is %d and memory %d: want 0 to less than 2^53", s.CPU, s.Memory)
	case state != int(taskPending) && j == nil:
		return fmt.Errorf("there is no job %q", brief(s.Job))
	}
	charges := make([]book.Charge, len(s.Charges))
	for k := range charges {
		if err := l.restoreCharge(j, &charges[k], &s.Charges[k]); err != nil {
			return fmt.Errorf("charges[%d]: %w", k, err)
		}
		// Else it would count as one on a card, see onCards.
		if k > 0 && s.Charges[k-1].Output && !s.Charges[k].Output {
			return fmt.Errorf("charges[%d]: it is on a card: want outputs behind all cards", k)
		}
	}
	if j == nil {
		use := book.Use{Plain: book.Plain{s.CPU, s.Memory}}
		for k := range charges {
			use.Add(book.UseItem{Alts: charges[k].Alts, Amount: charges[k].Amount})
		}
		l.waiting[s.ID] = &TaskRequest{id: s.ID, job: s.Job, queue: s.Queue, use: use}
		return nil
	}
	t := newTask(s.ID, s.Job, &j.Job, s.Seq, taskState(state))
	t.Plain = [...]book.Coverage{dimCPU: {Amount: s.CPU, Covered: s.Covered.CPU}, dimMemory: {Amount: s.Memory, Covered: s.Covered.Memory}}
	t.Charges = charges
	// The hold of its job shrinks by what it covers, as it did when it was committed.
	j.Restore(&t.Task)
	l.tasks[t.id] = t
	// It runs there, or was committed there within what the node had.
	l.put(t, s.Node, true)
	return nil
}

// restoreCharge restores a charge; without a job, what it asks for. Without an item it covers
// nothing: the task runs where its job may not, or the job had no item for it.
func (l *Ledger) restoreCharge(j *job, c *book.Charge, s *snapshotCharge) (err error) {
	if c.Amount, c.Covered = s.Milli, s.Covered; !exact(s.Milli) {
		return fmt.Errorf("milli is %d: want 0 to less than 2^53", s.Milli)
	}
	if c.Alts, err = l.alternatives(s.Key, s.Output); err != nil || j == nil {
		return err
	}
	c.Card = c.Alts.Cards[0]
	if !s.Output {
		dim, err := l.dimension(cardPrefix + s.Card)
		if err != nil {
			return err
		}
		c.Card = int32(dim)
	}
	switch {
	case s.Item == nil:
		return nil
	case *s.Item < 0 || *s.Item >= len(j.Items):
		return fmt.Errorf("item is %d: want the index of one of the %d items of job %q", *s.Item, len(j.Items), brief(j.id))
	case !j.Items[*s.Item].Accept(c):
		return fmt.Errorf("a charge on %q can't count against item %d, %q: want a card of it, and under policy %s the one of its other charges",
			brief(s.Card), *s.Item, brief(keyOf(j.Items[*s.Item].Alts)), mixNames[false])
	}
	return nil
}
