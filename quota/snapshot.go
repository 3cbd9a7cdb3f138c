package quota

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/transform"
	corev1 "k8s.io/api/core/v1"
)

// snapshotFormat names the format of [Ledger.Snapshot].
const snapshotFormat = "resvec.quota/v1"

// Snapshot returns the state as canonical JSON, equal states as equal bytes, without what
// follows from the catalog and without counters of refusals.
func (l *Ledger) Snapshot() []byte {
	l.counts.snapshots.Add(1)
	// The text is made without the lock: document has copied what changes, and a large ledger
	// takes a while.
	return textOf(l.document())
}

// textOf returns a snapshot, or a part of one, as text.
func textOf(part any) json.RawMessage {
	data, err := json.Marshal(part)
	if err != nil {
		panic("quota: a snapshot has no form in JSON") // it is made of what always has one
	}
	return data
}

// snapshotDoc is a snapshot, for [Ledger.Snapshot] and [Restore] alike. Fields stand in the
// order of their names, here and below, so that the keys of the text are sorted. An int64 is
// an amount, 0 to less than 2^53, and a value of a queue an Amount. A field without omitempty
// is always written, and Restore wants it: a text without its tasks would lose what they are
// charged.
//
// Known are the cards that may be asked for, Outputs those of the map, and Seq is the number
// of the last change.
type snapshotDoc struct {
	Config  snapshotConfig        `json:"config"`
	Format  string                `json:"format"`
	Jobs    []snapshotJob         `json:"jobs"`
	Known   []snapshotCard        `json:"known"`
	Outputs []corev1.ResourceName `json:"outputs,omitempty"`
	Queues  []snapshotQueue       `json:"queues"`
	Seq     uint64                `json:"seq"`
	Tasks   []snapshotTask        `json:"tasks"`
}

// snapshotConfig is what of a configuration decides. Transformation is a list in YAML;
// Multiplier says where it reads multipliers.
type snapshotConfig struct {
	CountReleasing     bool         `json:"countReleasing,omitempty"`
	EnforceGuarantee   bool         `json:"enforceGuarantee,omitempty"`
	Keys               snapshotKeys `json:"keys"`
	Missing            string       `json:"missing"`
	Mix                string       `json:"mix"`
	Multiplier         string       `json:"multiplier,omitempty"`
	Parser             string       `json:"parser"`
	SpecOnly           bool         `json:"specOnly,omitempty"`
	Transformation     string       `json:"transformation,omitempty"`
	UnlimitedCPUMemory bool         `json:"unlimitedCPUMemory,omitempty"`
	Unnamed            string       `json:"unnamed"`
}

// snapshotKeys are the annotations. Those by default are written out, so that two
// configurations that read the same are the same.
type snapshotKeys struct {
	Deserved  string `json:"deserved"`
	Guarantee string `json:"guarantee"`
	Name      string `json:"name"`
	Quota     string `json:"quota"`
	Request   string `json:"request"`
}

// snapshotJob is a record of a job. Seq is that of the reservation; Policy says whether its
// items mix cards.
type snapshotJob struct {
	ID       string         `json:"id"`
	Items    []snapshotItem `json:"items"`
	Min      snapshotPlain  `json:"min"`
	Policy   string         `json:"policy"`
	Queue    string         `json:"queue"`
	Reserved bool           `json:"reserved,omitempty"`
	Seen     bool           `json:"seen,omitempty"`
	Seq      uint64         `json:"seq"`
}

// snapshotPlain is an amount of cpu, in milli-cores, and of memory, in bytes.
type snapshotPlain struct {
	CPU    int64 `json:"cpu"`
	Memory int64 `json:"memory"`
}

// snapshotItem is an item of a job, with what it holds by card. One that is implicit has no
// min: it binds the tasks of a job for its key to one card.
type snapshotItem struct {
	Holds    map[string]int64 `json:"holds"`
	Implicit bool             `json:"implicit,omitempty"`
	Key      string           `json:"key"`
	Min      int64            `json:"min"`
	Output   bool             `json:"output,omitempty"` // Key is one, not a card
	Unit     int64            `json:"unit"`
}

// snapshotCard is a known card, with the resources that carried it last: without these a
// pod that names it could not be resolved before a node has it again.
type snapshotCard struct {
	Card      string                `json:"card"`
	Resources []corev1.ResourceName `json:"resources"`
}

// snapshotQueue is a queue, with its amounts by dimension. What a capability doesn't list
// it says nothing of: a 0 there is meant, as a Denied without a text. Denied are the cards of
// entries with faults, and what is wrong with each; Unreadable is what is wrong with all.
type snapshotQueue struct {
	Capability map[string]any    `json:"capability"`
	Denied     map[string]string `json:"denied,omitempty"`
	Deserved   map[string]any    `json:"deserved"`
	Guarantee  map[string]any    `json:"guarantee"`
	Name       string            `json:"name"`
	Orphan     bool              `json:"orphan,omitempty"`
	Parent     string            `json:"parent"`
	Priority   int32             `json:"priority"`
	State      string            `json:"state"`
	Unreadable string            `json:"unreadable,omitempty"`
}

// snapshotTask is a task that is charged, or waits. Order is its place among the tasks of
// the job as they were committed, Covered what its job's min has of its cpu and memory. Of
// a task that waits Seq, Order and Covered are 0, and its charges have no card.
type snapshotTask struct {
	Charges []snapshotCharge `json:"charges"`
	Covered snapshotPlain    `json:"covered"`
	CPU     int64            `json:"cpu"`
	ID      string           `json:"id"`
	Job     string           `json:"job"`
	Memory  int64            `json:"memory"`
	Node    string           `json:"node,omitempty"` // that has the cards, if that is known
	Order   int              `json:"order"`
	Queue   string           `json:"queue"`
	Seq     uint64           `json:"seq"`
	State   string           `json:"state"`
}

// snapshotCharge is what a task is charged of one item, in milli-cards or units of an
// output. Covered is the part that its job's min has.
type snapshotCharge struct {
	Card    string `json:"card"`
	Covered int64  `json:"covered"`
	Item    *int   `json:"item,omitempty"` // the index of the job's; nil: it counts against none
	Key     string `json:"key"`
	Milli   int64  `json:"milli"`
	Output  bool   `json:"output,omitempty"` // Card and Key are one
}

// The names of the snapshot for the values of types.
var (
	// They stand in files, so they stay what they are. Numbers would not survive a new
	// value in the middle.
	missingNames = map[bool]string{false: "denies", true: "unlimited"}
	parserNames  = map[bool]string{false: "strict", true: "fail-to-zero"}
	unnamedNames = map[UnnamedPolicy]string{"": "as-any", UnnamedRefuse: "refuse", UnnamedIgnore: "ignore"}
	mixNames     = map[bool]string{false: "same-card", true: "any-mix"}
	states       = map[string]State{"open": StateOpen, "closing": StateClosing, "closed": StateClosed, "unknown": stateUnknown}
	taskNames    = []string{taskPending: "pending", taskCommitted: "committed", taskConfirmed: "confirmed"}
)

// document returns the state of the ledger. It shares nothing that changes.
func (l *Ledger) document() *snapshotDoc {
	l.rlock()
	defer l.mu.RUnlock()
	doc := &snapshotDoc{
		Config: configOf(&l.cfg), Format: snapshotFormat, Seq: l.seq, Outputs: slices.Sorted(slices.Values(l.outs.names)),
		Jobs: make([]snapshotJob, 0, len(l.jobs)), Known: []snapshotCard{},
		Queues: make([]snapshotQueue, 0, len(l.queues)), Tasks: make([]snapshotTask, 0, len(l.tasks)+len(l.waiting)),
	}
	for _, card := range sorted(l.source.known) {
		// An empty list, and not nil: Restore takes no null.
		doc.Known = append(doc.Known, snapshotCard{card, append([]corev1.ResourceName{}, l.source.known[card]...)})
	}
	for q := range l.byName() {
		doc.Queues = append(doc.Queues, l.queueDoc(q))
	}
	// Charges name the items of their jobs by index, so jobs are written first.
	indices := map[*book.Item]int{}
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		doc.Jobs = append(doc.Jobs, l.jobDoc(j, indices))
		order := 0
		for t := range j.tasks() {
			doc.Tasks = append(doc.Tasks, l.taskDoc(t, order, indices))
			order++
		}
	}
	// Waiting tasks count in what queues request, also after a restart.
	for _, w := range l.waiting {
		doc.Tasks = append(doc.Tasks, w.doc())
	}
	// By id, as all lists are sorted. Order keeps that of the commits.
	slices.SortFunc(doc.Tasks, func(a, b snapshotTask) int { return strings.Compare(a.ID, b.ID) })
	return doc
}

// afterExclusion is the multiplier of a snapshot whose transformation reads multipliers
// after exclusion.
const afterExclusion = "after-exclusion"

// transformationDoc writes a transformation, and where it reads multipliers; empty of none.
func transformationDoc(t *transform.Transformation) (text, multiplier string) {
	if t == nil || t.Equal(new(transform.Transformation)) {
		return "", ""
	}
	data, err := t.Config().Encode(transform.ShapeList)
	if err != nil {
		panic("quota: a transformation has no form as a list") // this shape has every feature
	}
	// The list doesn't say where multipliers are read. What it comes to by default does.
	if same, err := transform.Compile(t.Config(), transform.Options{}); err != nil || !same.Equal(t) {
		multiplier = afterExclusion
	}
	return string(data), multiplier
}

// configOf returns what of a configuration decides. OnEvent and Outputs are not in it: the
// one decides nothing, and the others stand in the snapshot by name.
func configOf(c *Config) snapshotConfig {
	text, multiplier := transformationDoc(c.Transformation)
	return snapshotConfig{
		Transformation: text, Multiplier: multiplier,
		CountReleasing: c.CountReleasing, EnforceGuarantee: c.EnforceGuarantee,
		SpecOnly: c.SpecOnly, UnlimitedCPUMemory: c.UnlimitedCPUMemory,
		Keys: snapshotKeys{
			Deserved: c.DeservedKey, Guarantee: c.GuaranteeKey,
			Name:    c.nameKey(),
			Quota:   c.quotaKey(),
			Request: c.requestKey(),
		},
		Missing: missingNames[c.MissingUnlimited], Parser: parserNames[c.FailToZero],
		Mix: mixNames[c.AnyMix], Unnamed: unnamedNames[c.Unnamed],
	}
}

// queueDoc returns a queue. A 0 of its capability that is meant stands there as a 0.
func (l *Ledger) queueDoc(q *queue) snapshotQueue {
	s := &q.spec
	doc := snapshotQueue{
		Capability: l.amountsDoc(s.Capability), Deserved: l.amountsDoc(s.Deserved), Guarantee: l.amountsDoc(s.Guarantee),
		Name: s.Name, Orphan: q.Orphan, Parent: queueName(q.Parent), Priority: s.Priority, State: strings.ToLower(string(s.State)), Unreadable: s.unreadable,
	}
	for dim, text := range s.denied {
		switch name := l.m.Name(dim); {
		case text == "" && doc.Capability[name] == nil:
			doc.Capability[name] = 0 // mentioned, and denied; what isn't 0 is mentioned anyway
		case text == "", text == s.unreadable: // the latter are all cards of a map, which may have forgotten ones
		default:
			if doc.Denied == nil {
				doc.Denied = map[string]string{}
			}
			doc.Denied[name] = text
		}
	}
	return doc
}

// amountsDoc returns the elements of a vector that are not 0, by name: a map that is extended
// has more of these.
func (l *Ledger) amountsDoc(v []float64) map[string]any {
	doc := map[string]any{}
	for dim := range v {
		if amount := amountAt(v, dim); amount != 0 {
			doc[l.m.Name(dim)] = Amount(amount)
		}
	}
	return doc
}

// jobDoc returns a job, and notes where its items stand.
func (l *Ledger) jobDoc(j *job, indices map[*book.Item]int) snapshotJob {
	doc := snapshotJob{
		ID: j.id, Items: make([]snapshotItem, 0, len(j.Items)), Min: snapshotPlain{j.Min[dimCPU], j.Min[dimMemory]},
		Policy: mixNames[j.AnyMix], Queue: queueName(j.Queue), Reserved: j.Reserved, Seen: j.Seen, Seq: j.seq,
	}
	// Two ledgers may have made the items of a job in different orders. Equal states have
	// equal bytes.
	items := slices.Clone(j.Items)
	slices.SortStableFunc(items, compareRecords)
	for i, it := range items {
		indices[it] = i
		doc.Items = append(doc.Items, snapshotItem{Holds: l.holdsDoc(it), Implicit: it.Implicit, Key: keyOf(it.Alts), Output: isOutput(it.Alts)})
		// An implicit item has no min and so no unit: zeros say that it only binds.
		if !it.Implicit {
			doc.Items[i].Min, doc.Items[i].Unit = it.Min, it.Unit
		}
	}
	return doc
}

// holdsDoc returns what is held for an item, by card.
func (l *Ledger) holdsDoc(it *book.Item) map[string]int64 {
	doc := map[string]int64{}
	for at, dim := range it.Alts.Cards {
		// Cards without a hold are left out: a list of alternatives may have all cards of a
		// resource.
		if held := it.HeldAt(at); held > 0 {
			doc[l.resource(int(dim))] = held
		}
	}
	return doc
}

// compareRecords orders the items of a record: those of the min as they are decided on,
// then those that only bind. Equal states have equal bytes, and charges name items by their
// places.
func compareRecords(a, b *book.Item) int {
	switch {
	case a.Implicit != b.Implicit && b.Implicit:
		return -1
	case a.Implicit != b.Implicit:
		return 1
	}
	return compareItems(book.MinItem{Alts: a.Alts, Unit: a.Unit}, book.MinItem{Alts: b.Alts, Unit: b.Unit})
}

// taskDoc returns a task. indices has the places of the items of its job.
func (l *Ledger) taskDoc(t *task, order int, indices map[*book.Item]int) snapshotTask {
	doc := snapshotTask{
		Charges: make([]snapshotCharge, len(t.Charges)), Covered: snapshotPlain{t.Plain[dimCPU].Covered, t.Plain[dimMemory].Covered},
		CPU: t.Plain[dimCPU].Amount, ID: t.id, Job: t.job, Memory: t.Plain[dimMemory].Amount, Order: order, Queue: queueName(t.Job.Queue),
		Seq: t.seq, State: taskNames[t.state],
	}
	if t.site != nil {
		doc.Node = t.site.node
	}
	for i := range t.Charges {
		c := &t.Charges[i]
		doc.Charges[i] = snapshotCharge{Card: l.resource(int(c.Card)), Covered: c.Covered, Key: keyOf(c.Alts), Milli: c.Amount, Output: isOutput(c.Alts)}
		if c.Item != nil {
			at := indices[c.Item]
			doc.Charges[i].Item = &at
		}
	}
	return doc
}

// doc returns a task that waits: it has charges as it asks for them, on no card yet.
func (t *TaskRequest) doc() snapshotTask {
	doc := snapshotTask{
		Charges: make([]snapshotCharge, len(t.use.Items)), CPU: t.use.Plain[dimCPU], ID: t.id, Job: t.job, Memory: t.use.Plain[dimMemory], Queue: t.queue,
		State: taskNames[taskPending],
	}
	for i := range t.use.Items {
		doc.Charges[i] = snapshotCharge{Key: keyOf(t.use.Items[i].Alts), Milli: t.use.Items[i].Amount, Output: isOutput(t.use.Items[i].Alts)}
	}
	return doc
}
