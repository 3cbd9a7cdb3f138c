package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// ResolveTask works out what a task is charged.
//
// The pod's annotation lists acceptable cards; each has the amount of the resource
// that carries it: limits, else requests, of the pod as a whole, rounded up to whole cards
// with a [RoundedUp] note.
// Cards that nobody knows, that no resource of the pod carries, or that another
// resource carries than those before, are left out with a note. A resource of the
// pod that carries cards, none of which is left, is an item of its own as
// [Config.Unnamed] says. A card counts in one item only: singles come first, then
// the others in order, and what a later one loses is a [SharedCard] note. Under
// Config.UnlimitedCPUMemory a task with cards has no cpu and memory. A task that
// is bound to a node is charged, per item, on the first alternative that the node
// has.
//
// What stands in objects is never an error: a pod whose cards can't be told, or
// whose amounts no pod can have, makes a request that is refused with
// [GetTaskRequestResourceFailed]. Errors are a bad id ([ErrEmptyID], [ErrNotUTF8])
// and a count of Cards that is negative or too large ([ErrBadAmount]).
func (l *Ledger) ResolveTask(task Task) (*TaskRequest, []EntryError, error) {
	r := l.resolver()
	if err := checkTaskIDs(&task); err != nil {
		return nil, nil, err
	}
	t := &TaskRequest{id: task.ID, job: task.Job, queue: task.Queue, owner: l}
	if err := r.task(t, &task); err != nil {
		return nil, nil, err
	}
	if node := task.node(); node != "" && t.invalid == "" {
		r.bind(t, node)
	}
	t.settle()
	l.find(t)
	return t, r.notes, nil
}

// ResolveJob works out what a job needs before it may start: the sums of its live
// tasks' items by key, or, while these have none, the job's annotation; with it
// MinResources; and all that without the tasks that are gated. Under AnyMix tasks
// with different amounts of one key are items of their own. Of an annotation also
// those cards are known that the quota of the queue, or of one above it, has.
//
// Under Config.UnlimitedCPUMemory a job with cards needs no more cpu and memory
// than its live tasks without cards ask for.
//
// As in [Ledger.ResolveTask], what stands in objects is never an error: faults
// there, a live task that can't be resolved, and more than 64 items make a request
// that is refused. Errors are a bad id ([ErrEmptyID], [ErrNotUTF8]), and amounts of
// job.Min, or counts of a task's Cards, that nothing can have ([ErrBadAmount],
// [ErrOverflow]).
func (l *Ledger) ResolveJob(job Job) (*JobRequest, []EntryError, error) {
	b := jobBuilder{resolver: l.resolver(), job: &job}
	if err := checkJobIDs(&job); err != nil {
		return nil, nil, err
	}
	b.req = &JobRequest{id: job.ID, queue: job.Queue, mix: l.cfg.Mix, owner: l}
	if job.Mix != nil {
		if *job.Mix > AnyMix {
			panic("quota: unknown mix")
		}
		b.req.mix = *job.Mix
	}
	if err := b.build(); err != nil {
		return nil, nil, err
	}
	b.req.settle()
	l.findQueue(b.req)
	return b.req, b.notes, nil
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

// badName says what is wrong with a name that the ledger would keep, if anything.
// One that isn't UTF-8 would come back from a snapshot as another one.
func badName(name string) error {
	switch {
	case name == "":
		return ErrEmptyID
	case !utf8.ValidString(name):
		return ErrNotUTF8
	}
	return nil
}

// resolver is what a ledger knew when a resolution began.
type resolver struct {
	l     *Ledger
	found *discovery
	dims  map[string]int32
	cards []string // by dimension
	m     *vectormap.ResourceVectorMap
	notes []EntryError
	noted map[EntryError]bool
}

func (l *Ledger) resolver() *resolver {
	l.rlock()
	defer l.mu.RUnlock()
	return &resolver{l: l, found: l.source, dims: l.dims, cards: l.cards, m: l.m}
}

// note keeps a note, once.
func (r *resolver) note(notes ...EntryError) {
	for _, n := range notes {
		if r.noted[n] {
			continue
		}
		if r.noted == nil {
			r.noted = map[EntryError]bool{}
		}
		r.noted[n] = true
		r.notes = append(r.notes, n)
	}
}

// draft is an item on its way into a request.
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

// task fills in a request.
func (r *resolver) task(t *TaskRequest, task *Task) error {
	p, fault := r.pod(task.Pod)
	t.invalid = fault
	var drafts []draft
	if task.Cards != nil {
		var err error
		if drafts, err = r.claimed(t, task.Cards); err != nil {
			return err
		}
	} else if t.invalid == "" {
		drafts = r.carried(t, p, p.annotation(r.l.cfg.Keys), r.l.cfg.Unnamed)
	}
	r.finish(t, task, p, drafts)
	return nil
}

// finish makes a request of its parts.
func (r *resolver) finish(t *TaskRequest, task *Task, p podParts, drafts []draft) {
	r.separate(t, drafts)
	requests := task.Request
	if requests == nil {
		requests = p.requests
	}
	cpu, mem, fault := r.plainAmounts(requests)
	if fault != "" {
		t.fail("%s", fault)
	}
	switch {
	case t.invalid != "":
		t.items = nil
	case !r.l.cfg.UnlimitedCPUMemory || len(t.items) == 0:
		t.cpu, t.mem = cpu, mem
	}
}

// podParts is what counts of a pod. The zero value is that of no pod.
type podParts struct {
	pod      *corev1.Pod
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
	p.pod = pod
	carries := func(name corev1.ResourceName) bool { return len(r.found.carried[name]) > 0 }
	if fault := negativeIn(pod, carries); fault != "" {
		return p, fault
	}
	var limits corev1.ResourceList
	var rounded []EntryError
	p.requests, limits = vectormap.PodTotals(pod, vectormap.PodOptions{APIServerDefaults: true})
	for name, q := range limits {
		if !carries(name) {
			continue
		}
		if q.CmpInt64(maxCards) > 0 {
			return p, "the pod asks for too many cards"
		}
		whole := q.Value() // rounded up
		if q.CmpInt64(whole) != 0 {
			rounded = append(rounded, EntryError{string(name), RoundedUp})
		}
		p.cards = append(p.cards, podCards{name, whole})
	}
	slices.SortFunc(p.cards, func(a, b podCards) int { return cmp.Compare(a.resource, b.resource) })
	slices.SortFunc(rounded, func(a, b EntryError) int { return cmp.Compare(a.Name, b.Name) })
	r.note(rounded...)
	return p, ""
}

// annotation returns what the pod says of its cards; empty: nothing.
func (p *podParts) annotation(keys Keys) string {
	if p.pod == nil {
		return ""
	}
	return strings.TrimSpace(p.pod.Annotations[orDefault(keys.Name, NameAnnotation)])
}

// plainAmounts returns the cpu and memory of a list of requests, or what is wrong
// with them.
func (r *resolver) plainAmounts(list corev1.ResourceList) (cpu, mem int64, invalid string) {
	plain := make(corev1.ResourceList, 2)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := list[name]; ok {
			plain[name] = q
		}
	}
	if len(plain) == 0 {
		return 0, 0, ""
	}
	v, err := r.m.RequestVector(nil, plain, nil)
	if err != nil {
		return 0, 0, brief(err.Error())
	}
	return int64(v[vectormap.CPU]), int64(v[vectormap.Memory]), ""
}

// claimed makes items of cards that a caller lists.
func (r *resolver) claimed(t *TaskRequest, cards []CardCount) (drafts []draft, err error) {
	byKey := map[string]int{}
	for _, c := range cards {
		if c.Count < 0 || c.Count > maxCards {
			return nil, fmt.Errorf("%w: task %q: %d of %q", ErrBadAmount, brief(t.id), c.Count, brief(strings.Join(c.Cards, "|")))
		}
		names, notes := ParseAlternatives(strings.Join(c.Cards, "|"))
		r.note(notes...)
		if names == nil {
			t.fail("cards: %s", notes[0].text())
			continue
		}
		d := draft{names: names, milli: 1000 * c.Count}
		for i, name := range names {
			if _, known := r.found.known[name]; !known {
				r.note(EntryError{name, UnknownCard})
				continue
			}
			d.left = append(d.left, i)
		}
		key := d.key()
		at, again := byKey[key]
		switch {
		case len(d.left) == 0:
			t.fail("nobody knows any of %s", brief(strings.Join(names, "|")))
		case !again:
			byKey[key] = len(drafts)
			drafts = append(drafts, d)
		case !addExact(&drafts[at].milli, d.milli):
			return nil, overflow("task", t.id, d.milli, brief(key))
		}
	}
	return drafts, nil
}

// fail makes a request invalid, for the first reason there is.
func (t *TaskRequest) fail(format string, args ...any) {
	if t.invalid == "" {
		t.invalid = fmt.Sprintf(format, args...)
	}
}

// carried makes items of a pod and of its annotation.
func (r *resolver) carried(t *TaskRequest, p podParts, annotation string, unnamed Unnamed) (drafts []draft) {
	var resource corev1.ResourceName
	if annotation != "" {
		d := r.named(t, annotation, p.cards)
		resource = d.resource
		drafts = append(drafts, d)
	}
	for _, a := range p.cards {
		if a.count == 0 || a.resource == resource || unnamed == Ignore {
			continue
		}
		d := r.anyOf(a)
		if unnamed == Refuse || len(d.left) == 0 {
			t.fail("the pod names none of the cards of %s", a.resource)
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// named makes an item of the annotation's cards.
func (r *resolver) named(t *TaskRequest, text string, amounts []podCards) (d draft) {
	names, notes := ParseAlternatives(text)
	r.note(notes...)
	if names == nil {
		t.fail("annotation: %s", notes[0].text())
		return d
	}
	d.names = names
	for i, name := range names {
		resources, known := r.found.known[name]
		a, ok := choose(resources, amounts, d.resource)
		switch {
		case !known:
			r.note(EntryError{name, UnknownCard})
		case !ok:
			r.note(EntryError{name, NoResourceForCard})
		case d.left != nil && a.resource != d.resource:
			r.note(EntryError{name, DifferentResource})
		default:
			d.resource, d.milli = a.resource, 1000*a.count
			d.left = append(d.left, i)
		}
	}
	if d.left == nil {
		t.fail("the pod can have none of %s", brief(strings.Join(names, "|")))
	}
	return d
}

// choose returns that one of the resources of a card that the pod asks for: the
// given one, else the first by name, those of amount 0 last.
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

// anyOf makes an item of all cards of a resource that could be written.
func (r *resolver) anyOf(a podCards) draft {
	d := draft{milli: 1000 * a.count, resource: a.resource}
	for _, name := range r.found.carried[a.resource] {
		if name == strings.TrimSpace(name) && name != "" && !strings.Contains(name, "|") {
			d.left = append(d.left, len(d.names))
			d.names = append(d.names, name)
		}
	}
	return d
}

// separate makes items of drafts so that no card is in two of them.
func (r *resolver) separate(t *TaskRequest, drafts []draft) {
	taken := map[string]int{}
	for _, single := range []bool{true, false} {
		for i := range drafts {
			d := &drafts[i]
			if single != (len(d.left) == 1) || d.milli == 0 {
				continue
			}
			d.left = slices.DeleteFunc(d.left, func(k int) bool {
				by, isTaken := taken[d.names[k]]
				if isTaken && by != i {
					r.note(EntryError{d.names[k], SharedCard})
					return true
				}
				taken[d.names[k]] = i
				return false
			})
			if len(d.left) == 0 {
				t.fail("other items of the task have all of %s", brief(strings.Join(d.names, "|")))
				return
			}
		}
	}
	for i := range drafts {
		if d := &drafts[i]; d.milli > 0 {
			t.items = append(t.items, r.item(d))
		}
	}
}

// item makes an item of a draft whose cards are settled.
func (r *resolver) item(d *draft) taskItem {
	ti := taskItem{milli: d.milli, resource: d.resource}
	cards := make([]int32, len(d.left))
	for i, k := range d.left {
		cards[i] = r.dims[d.names[k]]
	}
	ti.alts = r.intern(cards)
	if len(d.left) < len(d.names) {
		ranks := make([]byte, len(d.left))
		for i, k := range d.left {
			ranks[i] = byte(min(k, 255))
		}
		ti.ranks = string(ranks)
	}
	return ti
}

func (r *resolver) intern(cards []int32) *alternatives {
	r.l.rlock()
	defer r.l.mu.RUnlock()
	return r.l.intern(cards)
}

// bind confines a request to the cards of the node that its task is bound to.
func (r *resolver) bind(t *TaskRequest, node string) {
	if len(t.items) == 0 {
		return
	}
	on := r.found.on(node, r.dims)
	t.bound = new(cardSet)
	for i := range t.items {
		at := slices.IndexFunc(t.items[i].alts.cards, on.has)
		if at < 0 {
			t.fail("node %s has none of %s", brief(node), brief(t.items[i].alts.key))
			t.cpu, t.mem, t.items = 0, 0, nil
			return
		}
		t.bound.add(t.items[i].alts.cards[at])
	}
}

// negativeIn names an amount below 0 of cpu, memory or a resource that carries
// cards, wherever in the pod it stands: a sum could hide it.
func negativeIn(pod *corev1.Pod, carries func(corev1.ResourceName) bool) string {
	look := func(list corev1.ResourceList) (found string) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			counts := name == corev1.ResourceCPU || name == corev1.ResourceMemory || carries(name)
			if q := list[name]; q.Sign() < 0 && counts {
				return fmt.Sprintf("the pod asks for %s of %s", brief(q.String()), name)
			}
		}
		return ""
	}
	lists := []corev1.ResourceList{pod.Spec.Overhead}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			lists = append(lists, containers[i].Resources.Requests, containers[i].Resources.Limits)
		}
	}
	if r := pod.Spec.Resources; r != nil {
		lists = append(lists, r.Requests, r.Limits)
	}
	for _, list := range lists {
		if found := look(list); found != "" {
			return found
		}
	}
	return ""
}
