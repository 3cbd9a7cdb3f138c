package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResolveTask works out what a task is charged. The pod's annotation lists acceptable
// cards, each with the amount of the resource that carries it: limits, else requests, of
// the pod as a whole, rounded up to whole cards. Cards that nobody knows, or that another
// resource carries than those before them, are left out. A resource that carries cards,
// none of which is listed, is an item of its own, as [Config.Unnamed] says. Parts of GPUs
// by Koordinator's names count only by task.Cards. A bound task is charged on the first
// alternative of its node. A fault in a pod makes a request that is refused; Invalid says
// why. The list has entries that don't count as written, and annotations that look as if they
// did, with codes as Origin. An error is a bad id or an amount of Cards.
func (l *Ledger) ResolveTask(task Task) (*TaskRequest, field.ErrorList, error) {
	t, notes, err := l.resolveTask(task)
	if err == nil && t.queueAt.Load() == nil {
		t.lost, t.meant = true, l.meantQueue(t.queue)
	}
	return t, listed(notes), err
}

// meantQueue asks which queue may be meant by a name; empty: none.
func (l *Ledger) meantQueue(name string) string {
	l.rlock()
	names := slices.Collect(maps.Keys(l.queues))
	l.mu.RUnlock()
	return meant(name, names) // without the lock: there may be thousands
}

func (l *Ledger) resolveTask(task Task) (*TaskRequest, []entryError, error) {
	r := l.resolver(task.Queue)
	if err := checkTaskIDs(&task); err != nil {
		return nil, nil, err
	}
	// A request is made also of a task that can't be charged: its refusal counts in its
	// queue.
	t := &TaskRequest{id: task.ID, job: task.Job, queue: task.Queue, owner: l}
	if err := r.task(t, &task); err != nil {
		return nil, nil, err
	}
	if node := task.node(); node != "" && t.invalid == "" {
		r.bind(t, node) // the cards: outputs are on no node
	}
	// Outputs come behind the cards, as onCards expects them.
	if r.addOutputs(t); t.invalid != "" { // what is invalid is charged nothing
		t.use, t.sources = book.Use{Invalid: true}, nil
	}
	// Decisions look these up, so that the first one needn't.
	l.rlock()
	defer l.mu.RUnlock()
	l.queueOf(&t.queueAt, t.queue)
	l.jobOf(t)
	return t, r.notes, nil
}

// ResolveJob works out what a job needs before it may start: the cards of its live tasks
// or, while they have none, of its annotation, and the cpu and memory of MinResources, less
// what is gated. Faults, and more than 64 items, make a request that is refused. An error
// is an amount or item of job.Min that nothing can have.
func (l *Ledger) ResolveJob(job Job) (*JobRequest, field.ErrorList, error) {
	r, notes, err := l.resolveJob(job)
	if err == nil && r.queueAt.Load() == nil {
		r.lost, r.meant = true, l.meantQueue(r.queue)
	}
	return r, listed(notes), err
}

func (l *Ledger) resolveJob(job Job) (*JobRequest, []entryError, error) {
	if err := checkJobIDs(&job); err != nil {
		return nil, nil, err
	}
	r := &JobRequest{id: job.ID, queue: job.Queue, owner: l}
	r.min.AnyMix = l.cfg.AnyMix
	if job.AnyMix != nil {
		r.min.AnyMix = *job.AnyMix
	}
	resolver := l.resolver(job.Queue)
	if err := resolver.job(r, &job); err != nil {
		return nil, nil, err
	}
	l.rlock()
	defer l.mu.RUnlock()
	l.queueOf(&r.queueAt, r.queue)
	return r, resolver.notes, nil
}

// listed returns entries as faults, each at its place.
func listed(entries []entryError) (list field.ErrorList) {
	for _, e := range entries {
		where := cardsField
		if entryCodes[e.Code].what == "resource" {
			where = "requests"
		}
		list = append(list, field.Invalid(e.below(nil, where), field.OmitValueType{}, e.detail()).WithOrigin(e.Code))
	}
	return list
}

// below returns the entry's place below a path. where is the list that one without a field
// is in.
func (e entryError) below(path *field.Path, where string) *field.Path {
	switch where = cmp.Or(e.Field, where); where {
	case cardsField, listCapability, "guarantee", "deserved", "min", "minResources", "requests":
		path = path.Child(where)
	default:
		path = path.Child("annotations").Key(brief(oneLine(where)))
	}
	if e.Name != "" {
		path = path.Key(brief(oneLine(e.Name)))
	}
	return path
}

// checkTaskIDs looks for bad names in a task.
func checkTaskIDs(t *Task) error {
	return cmp.Or(checkID("task", t.ID, "id", t.ID), checkID("task", t.ID, "job", t.Job), checkID("task", t.ID, "queue", t.Queue))
}

// checkJobIDs looks for bad names in a job.
func checkJobIDs(j *Job) error {
	return cmp.Or(checkID("job", j.ID, "id", j.ID), checkID("job", j.ID, "queue", j.Queue))
}

// checkID looks at a name in a task or job.
func checkID(what, of, field, id string) error {
	if err := badName(id); err != nil {
		return fmt.Errorf("%w: %s of %s %q is %q", err, field, what, brief(of), brief(id))
	}
	return nil
}

// resolver is what a ledger knew when a resolution began. None of that is changed later:
// what changes in a ledger is replaced. So it is read without a lock.
type resolver struct {
	l     *Ledger
	found *discovery
	dims  map[string]int32
	cards []string // by dimension
	m     *vectormap.ResourceVectorMap
	named *book.Set // the cards that a job may name, since a quota does; nil: all

	notes  []entryError
	noted  map[entryError]bool
	listed string // what knownCards returns, once it was asked for
}

// resolver begins a resolution for an object of a queue.
func (l *Ledger) resolver(queue string) *resolver {
	l.rlock()
	defer l.mu.RUnlock()
	r := &resolver{l: l, found: l.source, dims: l.dims, cards: l.cards, m: l.m}
	// Without a queue no quota says which cards there will be. That the queue isn't there is
	// what has to be said then, and not that a card isn't.
	if q := l.queues[queue]; q != nil {
		r.named = q.named
	}
	return r
}

// noteIn keeps notes on what stands somewhere, and returns them with that place.
func (r *resolver) noteIn(where string, notes ...entryError) []entryError {
	for i := range notes {
		notes[i].Field = where
	}
	r.note(notes...)
	return notes
}

// ignored notes which annotations of an object count for nothing.
func (r *resolver) ignored(annotations map[string]string, what, read string) {
	// A job hands its annotations down to its PodGroup, and a pod to the one that is made for it.
	r.note(ignored(annotations, r.l.keys, what, []string{read}, r.l.keys)...)
}

// cardsOn lists the cards of a node for a message.
func (r *resolver) cardsOn(on *book.Set) string {
	var names []string
	for _, name := range sorted(r.dims) {
		if on.Has(r.dims[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no cards, or isn't known"
	}
	return some(names)
}

// note keeps a note, once.
func (r *resolver) note(notes ...entryError) {
	for _, n := range notes {
		if r.noted[n] {
			continue
		}
		if r.noted == nil {
			r.noted = map[entryError]bool{}
		}
		r.noted[n] = true
		r.notes = append(r.notes, n)
	}
}

// draft is an item on its way into a request. Cards may be taken from it, see separate. The
// places of those that are left count from what was listed, as node scores do.
type draft struct {
	names    []string // all that were listed, cleaned
	left     []int    // those that are left, as indices of names
	milli    int64
	resource corev1.ResourceName // that carries the cards; empty: claims do
}

// key is that of the cards that are left.
func (d *draft) key() string {
	var names []string
	for _, i := range d.left {
		names = append(names, d.names[i])
	}
	return strings.Join(names, "|")
}

// task fills in a request. What a caller lists may be an error, what stands in a pod only
// makes the request invalid.
func (r *resolver) task(t *TaskRequest, task *Task) error {
	// A fault in the pod does not end it: what the caller lists in Cards is looked at all the
	// same, since that may be an error.
	p, fault := r.pod(task.Pod)
	t.invalid = fault
	var drafts []draft
	if task.Cards != nil {
		var err error
		if drafts, err = r.claimed(t, task.Cards); err != nil {
			return err
		}
	} else if t.invalid == "" {
		if task.Pod != nil {
			r.ignored(task.Pod.Annotations, "names of cards", r.l.cfg.nameKey())
		}
		drafts = r.carried(t, p, r.l.cfg.Unnamed)
		r.parts(t, p)
	}
	r.finish(t, task, p, drafts)
	return nil
}

// finish makes a request of its parts. Of several faults the first is reported.
func (r *resolver) finish(t *TaskRequest, task *Task, p podParts, drafts []draft) {
	// Cards come first: whether there are any decides if cpu and memory count.
	r.separate(t, drafts)
	requests, where := task.Request, "request"
	if requests == nil {
		requests, where = p.requests, "the pod as a whole"
	}
	if !r.l.outs.none() {
		t.requests = r.l.outs.requestsOf(task, p.requests)
	}
	if fault := r.l.outs.badRequest(t.requests); fault != "" {
		t.requests = nil // no output can be made of it, nor a record kept
		t.fail("%s: %s", where, fault)
	}
	plain, dim, fault := r.plainAmounts(requests)
	if fault != "" && task.Request == nil {
		// The container with the bad amount is named, if one has it: the sum of the pod is
		// nowhere to be seen.
		if one := r.faultIn(task.Pod, wantPlain(dim), func(name corev1.ResourceName, q *resource.Quantity) bool {
			_, bad, fault := r.plainAmounts(corev1.ResourceList{name: *q})
			return fault != "" && bad == dim
		}); one != "" {
			t.fail("%s", one)
		}
	}
	if fault != "" {
		t.fail("%s: %s", where, fault)
	}
	switch {
	case t.invalid != "":
		// Nothing of an invalid request can be charged, not even a part that is good.
		t.use.Items, t.sources = nil, nil
	// Else the task is bounded by its cards alone: the plugin's cardUnlimitedCpuMemory.
	case !r.l.cfg.UnlimitedCPUMemory || len(t.use.Items) == 0:
		t.use.Plain = plain
	}
}

// covers reports whether quotas know a resource.
func (r *resolver) covers(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourcePods || len(r.found.carried[name]) > 0
}

// addOutputs adds to a request what the task is charged in outputs.
func (r *resolver) addOutputs(t *TaskRequest) {
	amounts, fault := r.l.outs.charge(t.requests, r.covers)
	if fault != "" {
		t.fail("%s", fault)
	}
	for i, amount := range amounts {
		// None is charged 0: an item would have to be decided on, and could be refused.
		if amount > 0 {
			t.use.Add(book.UseItem{Alts: r.l.outs.alts[i], Amount: amount})
		}
	}
}

// podParts is what counts of a pod. The zero value is that of no pod.
type podParts struct {
	names    string // what the annotation says of its cards; empty: nothing
	requests corev1.ResourceList
	cards    []podCards // by resource
}

// podCards is an amount of a resource that carries cards.
type podCards struct {
	resource corev1.ResourceName
	count    int64
}

// pod reads a pod, which may be nil, and says what is wrong with it.
func (r *resolver) pod(pod *corev1.Pod) (p podParts, fault string) {
	if pod == nil {
		return p, ""
	}
	p.names = strings.TrimSpace(pod.Annotations[r.l.cfg.nameKey()])
	carries := func(name corev1.ResourceName) bool { return len(r.found.carried[name]) > 0 }
	if fault := r.faultIn(pod, "0 or more", func(name corev1.ResourceName, q *resource.Quantity) bool {
		return q.Sign() < 0 && (name == corev1.ResourceCPU || name == corev1.ResourceMemory || carries(name) || !r.l.outs.none())
	}); fault != "" {
		return p, fault
	}
	// Most pods write GPUs as limits alone, and the API server makes requests of these.
	var limits corev1.ResourceList
	p.requests, limits = vectormap.PodTotals(pod, vectormap.PodOptions{APIServerDefaults: true, UseStatusResources: !r.l.cfg.SpecOnly})
	// By name, as everywhere here: of several faults the same one is reported each time.
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		q := limits[name]
		if !carries(name) {
			continue
		}
		if tooMany(&q) {
			want := fmt.Sprintf("at most %d", int64(maxCards))
			one := r.faultIn(pod, want, func(of corev1.ResourceName, q *resource.Quantity) bool { return of == name && tooMany(q) })
			return p, cmp.Or(one, fmt.Sprintf("the pod as a whole requests %s of %s: want %s", brief(quantity.Text(q)), name, want))
		}
		// Nobody else can use the rest of a card.
		whole := q.Value() // rounded up
		if q.CmpInt64(whole) != 0 {
			r.note(entryError{Name: string(name), Code: codeRoundedUp, Value: quantity.Text(q)})
		}
		p.cards = append(p.cards, podCards{name, whole})
	}
	return p, ""
}

// tooMany reports whether an amount is more cards than a request may have. A pod says so,
// and no caller, so it makes a request that is refused.
func tooMany(q *resource.Quantity) bool {
	bounded := quantity.Bounded(*q)
	return bounded.CmpInt64(maxCards) > 0
}

// plainAmounts returns the cpu and memory of a list of requests, or what is wrong with one
// of them.
func (r *resolver) plainAmounts(list corev1.ResourceList) (plain book.Plain, bad int, fault string) {
	for dim, text := range dimNames {
		name := corev1.ResourceName(text)
		q, ok := list[name]
		if !ok {
			continue
		}
		// The map rounds requests up, as schedulers count them. It would take any resource
		// that it knows; here only two count.
		v, err := r.m.RequestVector(nil, corev1.ResourceList{name: q}, nil)
		if err != nil {
			return book.Plain{}, dim, fmt.Sprintf("%s is %s: want %s", text, brief(quantity.Text(q)), wantPlain(dim))
		}
		plain[dim] = int64(v[dim])
	}
	return plain, 0, ""
}

// wantPlain is what an amount of cpu or memory must be.
func wantPlain(dim int) string { return "0 to less than 2^53" + dimUnits[dim].whole }

// claimed makes items of cards that a caller lists. What the ledger can't count is an
// error, since the caller has made it up. A name that nobody knows is a fault of the
// request: a node with it may come.
func (r *resolver) claimed(t *TaskRequest, cards []Item) (drafts []draft, err error) {
	byKey := map[string]int{}
	where := fmt.Sprintf("task %q: cards", brief(t.id))
	for _, c := range cards {
		// As a text, so that the rules are those of an annotation.
		text := strings.Join(c.Alternatives, "|")
		switch {
		case !exact(c.Milli):
			return nil, badItem(where, text, "amount", c.Milli, "0 to less than 2^53")
		case c.Unit != 0 && c.Unit != defaultUnit:
			return nil, badItem(where, text, "unit", c.Unit, "0 or 1000: all of a task's item is on one card")
		}
		d := r.draft(t, cardsField, text, nil, true)
		d.milli = c.Milli
		// Lists that come to the same cards are one item: each is decided alone, and two could
		// both get the last card.
		key := d.key()
		at, again := byKey[key]
		switch {
		case len(d.left) == 0: // the request is invalid
		case !again:
			byKey[key] = len(drafts)
			drafts = append(drafts, d)
		case !addExact(&drafts[at].milli, d.milli):
			return nil, overflow("task", t.id, unitCards, d.milli, key, 53)
		}
	}
	return drafts, nil
}

// badItem is what is wrong with an item that a caller lists.
func badItem(where, key, what string, amount int64, want string) error {
	return fmt.Errorf("%w: %s: item %q: the %s is %d milli-cards: want %s", ErrBadAmount, where, brief(key), what, amount, want)
}

// carried makes items of a pod and of its annotation.
func (r *resolver) carried(t *TaskRequest, p podParts, unnamed UnnamedPolicy) (drafts []draft) {
	var resource corev1.ResourceName
	key := r.l.cfg.nameKey()
	if p.names != "" {
		d := r.draft(t, key, p.names, p.cards, false)
		// What the annotation has spoken of needs no item of its own.
		resource = d.resource
		drafts = append(drafts, d)
	}
	// In the order of names, so that equal pods have equal requests.
	for _, a := range p.cards {
		if a.count == 0 || a.resource == resource || unnamed == UnnamedIgnore {
			continue
		}
		// The annotation says nothing of this resource, yet the pod gets its cards.
		d := r.anyOf(a)
		switch {
		case len(d.left) == 0:
			t.fail("the pod requests %d of %s, whose cards have names that %s can't have: %s", a.count, a.resource, key, some(r.found.carried[a.resource]))
		case unnamed == UnnamedRefuse:
			t.fail("the pod requests %d of %s, and %s names no card of it: want one of %s", a.count, a.resource, key, some(d.names))
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// parts looks for parts of devices by Koordinator's names, which carry no cards: without Cards
// nothing is charged for them, and that should not go unseen.
func (r *resolver) parts(t *TaskRequest, p podParts) {
	if r.l.cfg.Unnamed == UnnamedIgnore || len(r.found.known) == 0 {
		return
	}
	var names []corev1.ResourceName
	for name, q := range p.requests {
		if strings.HasPrefix(string(name), "koordinator.sh/gpu") && q.Sign() > 0 && !r.covers(name) {
			names = append(names, name)
		}
	}
	// A pod's list is a map, and the first fault is the one that is shown.
	slices.Sort(names)
	for _, name := range names {
		q := p.requests[name]
		if r.l.cfg.Unnamed == UnnamedRefuse {
			t.fail("the pod requests %s of %s, a part of a device, and the task's Cards don't say of which card", brief(quantity.Text(q)), name)
		}
		r.note(entryError{Name: string(name), Code: codePartOfDevice, Value: brief(quantity.Text(q))})
	}
}

// draft makes an item of a list of cards, which stands somewhere. The resource that carries
// them is among those of the pod, with the amount, unless claims give the cards.
func (r *resolver) draft(t *TaskRequest, where, text string, amounts []podCards, claims bool) (d draft) {
	// What a tenant writes is no error: a fault makes the request invalid.
	names, notes := parseAlternatives(text)
	notes = r.noteIn(where, notes...)
	if names == nil {
		t.fail("%s", notes[0].text())
		return d
	}
	d.names = names
	var dropped []entryError
	for i, name := range names {
		resources, known := r.found.known[name]
		a, ok := choose(resources, amounts, d.resource)
		switch {
		case !known:
			dropped = append(dropped, unknown(where, name, some(r.found.names)))
		case !ok && !claims:
			dropped = append(dropped, entryError{Name: name, Code: codeNoResourceForCard, Field: where, Value: joined(resources)})
		// A pod gets every resource that it asks for, so alternatives must be of one.
		case d.left != nil && a.resource != d.resource:
			dropped = append(dropped, entryError{Name: name, Code: codeDifferentResource, Field: where, Value: string(a.resource)})
		default:
			// The first card that counts decides on the resource, and so on the amount.
			d.resource, d.milli = a.resource, 1000*a.count
			d.left = append(d.left, i)
		}
	}
	// Notes even if nothing is left: they say of each card why not.
	r.note(dropped...)
	if d.left == nil {
		// What is known may be carried by a resource that the pod could request.
		if at := slices.IndexFunc(dropped, func(e entryError) bool { return e.Code != codeUnknownCard }); at >= 0 {
			t.fail("%s", dropped[at].text())
		}
		t.fail("%s", noneKnown(where, names, some(r.found.names)))
	}
	return d
}

// joined lists resources for a message.
func joined(resources []corev1.ResourceName) string {
	names := make([]string, len(resources))
	for i, name := range resources {
		names[i] = string(name)
	}
	return strings.Join(names, " or ")
}

// unknown is the note on a card that isn't among the known ones.
func unknown(where, name, known string) entryError {
	return entryError{Name: brief(name), Code: codeUnknownCard, Field: where, Value: known}
}

// noneKnown says that no card of a list is among the known ones.
func noneKnown(where string, names []string, known string) string {
	return fmt.Sprintf("%s: no card of %q is known: known are %s", where, brief(strings.Join(names, "|")), known)
}

// choose returns that one of the resources of a card that the pod asks for: the given one,
// else the first by name, those of amount 0 last. A card may be carried by two resources,
// as where a cluster changes its device plugin. A pod asks for one of them.
func choose(resources []corev1.ResourceName, amounts []podCards, first corev1.ResourceName) (chosen podCards, ok bool) {
	for _, a := range amounts {
		switch {
		case !slices.Contains(resources, a.resource):
		case a.resource == first:
			return a, true
		case !ok || chosen.count == 0 && a.count > 0:
			chosen, ok = a, true
		}
	}
	return chosen, ok
}

// anyOf makes an item of all cards of a resource that could be written. A pod that names no
// card could get any of them from the device plugin, and so is charged as one that lists
// all.
func (r *resolver) anyOf(a podCards) draft {
	d := draft{milli: 1000 * a.count, resource: a.resource}
	for _, name := range r.found.carried[a.resource] {
		// Keys join names by |, so a name with that in it would read as two cards.
		if name == strings.TrimSpace(name) && name != "" && !strings.Contains(name, "|") {
			d.left = append(d.left, len(d.names))
			d.names = append(d.names, name)
		}
	}
	return d
}

// separate makes items of drafts so that no card is in two of them: the room for each item
// could then not be looked at alone. Those with one card have no other choice.
//
// For example A|B and A come to B and A. In the order in which they were written the first
// could take A, and the second would have none.
func (r *resolver) separate(t *TaskRequest, drafts []draft) {
	taken := map[string]int{}
	// Keys before any card is taken away: a note names an item by what was written.
	keys := make([]string, len(drafts))
	for i := range drafts {
		keys[i] = drafts[i].key()
	}
	for _, single := range []bool{true, false} {
		for i := range drafts {
			d := &drafts[i]
			if single != (len(d.left) == 1) || d.milli == 0 {
				continue
			}
			d.left = slices.DeleteFunc(d.left, func(k int) bool {
				by, isTaken := taken[d.names[k]]
				if isTaken && by != i {
					r.note(entryError{Name: d.names[k], Code: codeSharedCard, Value: brief(keys[by])})
					return true
				}
				taken[d.names[k]] = i
				return false
			})
			if len(d.left) == 0 {
				t.fail("other items of the task have all of %s: a card counts in one item only", brief(keys[i]))
				return
			}
		}
	}
	for i := range drafts {
		if d := &drafts[i]; d.milli > 0 {
			r.item(t, d)
		}
	}
}

// item makes an item of a draft whose cards are settled.
func (r *resolver) item(t *TaskRequest, d *draft) {
	from := source{resource: d.resource}
	cards := make([]int32, len(d.left))
	for i, k := range d.left {
		cards[i] = r.dims[d.names[k]]
	}
	// Node scores go by places in what the user wrote.
	if len(d.left) < len(d.names) {
		ranks := make([]byte, len(d.left))
		for i, k := range d.left {
			ranks[i] = byte(min(k, 255))
		}
		from.ranks = string(ranks)
	}
	t.use.Add(book.UseItem{Alts: r.l.interned.get(r.cards, cards), Amount: d.milli})
	t.sources = append(t.sources, from)
}

// bind confines a request to the cards of the node that its task is bound to. On the first
// alternative there, room or not: the pod has its devices.
func (r *resolver) bind(t *TaskRequest, node string) {
	if len(t.use.Items) == 0 {
		return
	}
	// The cards of now: the pod runs there, whatever the annotation hoped for.
	on := r.found.on(node).cards
	t.bound, t.node = new(book.Set), node
	for i := range t.use.Items {
		alts := t.use.Items[i].Alts
		at := slices.IndexFunc(alts.Cards, on.Has)
		if at < 0 {
			t.fail("node %q has none of %s: it has %s", brief(node), brief(keyOf(alts)), r.cardsOn(on))
			return
		}
		// One card per item, and no card is in two items: so the set says it for all of
		// them.
		t.bound.Add(alts.Cards[at])
	}
}

// faultIn names an amount that is bad, with its path, wherever in the pod it stands: a
// sum could hide it. want is what would be right.
func (r *resolver) faultIn(pod *corev1.Pod, want string, bad func(corev1.ResourceName, *resource.Quantity) bool) (fault string) {
	// The path comes in parts, with -1 for no index: it is needed for a fault only, and pods
	// are many.
	look := func(list corev1.ResourceList, of string, at int, field string) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if q := list[name]; fault == "" && bad(name, &q) {
				if at >= 0 {
					of = fmt.Sprintf("%s[%d]", of, at)
				}
				fault = fmt.Sprintf("%s%s[%s] is %s: want %s", of, field, name, brief(quantity.Text(q)), want)
			}
		}
	}
	spec := func(is *corev1.ResourceRequirements, of string, at int) {
		if is != nil {
			look(is.Requests, of, at, ".resources.requests")
			look(is.Limits, of, at, ".resources.limits")
		}
	}
	status := func(allocated corev1.ResourceList, actual *corev1.ResourceRequirements, of string, at int) {
		look(allocated, of, at, ".allocatedResources")
		if actual != nil {
			look(actual.Requests, of, at, ".resources.requests")
		}
	}
	look(pod.Spec.Overhead, "spec.overhead", -1, "")
	for i := range pod.Spec.Containers {
		spec(&pod.Spec.Containers[i].Resources, "spec.containers", i)
	}
	for i := range pod.Spec.InitContainers {
		spec(&pod.Spec.InitContainers[i].Resources, "spec.initContainers", i)
	}
	spec(pod.Spec.Resources, "spec", -1)
	if r.l.cfg.SpecOnly { // the status matters only where resized pods count by it
		return fault
	}
	status(pod.Status.AllocatedResources, pod.Status.Resources, "status", -1)
	for i, is := range pod.Status.ContainerStatuses {
		status(is.AllocatedResources, is.Resources, "status.containerStatuses", i)
	}
	for i, is := range pod.Status.InitContainerStatuses {
		status(is.AllocatedResources, is.Resources, "status.initContainerStatuses", i)
	}
	return fault
}
