package quota

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/resvec/resvec/internal/quantity"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// outputs are the outputs of a transformation that queues may be limited in. To the book
// an output is one card that is on every node. The value is replaced, never changed.
type outputs struct {
	transformation *transform.Transformation
	names          []corev1.ResourceName // by index
	alts           []*book.Alternatives  // by index; the same for as long as the ledger lives
	byName         map[corev1.ResourceName]int
	demands        bool // every resource of a pod must be known to quotas
}

// isOutput reports whether an item of the book is an output.
func isOutput(alts *book.Alternatives) bool { return alts.Anywhere }

// newOutputs returns the outputs of a map under a transformation, nil for none. Those that
// were there before, if any, keep their places.
func newOutputs(m *vectormap.ResourceVectorMap, t *transform.Transformation, before *outputs) *outputs {
	if t == nil {
		t = new(transform.Transformation)
	}
	o := &outputs{
		transformation: t, byName: map[corev1.ResourceName]int{},
		demands: t.Config().QuotaCheckStrategy == transform.BlockUndeclared,
	}
	for dim, name := range m.All() {
		output, is := outputOf(m, dim, name)
		if !is {
			continue
		}
		var alts *book.Alternatives
		if i, known := before.index(output); known {
			alts = before.alts[i]
		} else {
			alts = book.NewAlternatives([]int32{int32(dim)}, string(output))
			alts.Anywhere = true
		}
		o.byName[output] = len(o.names)
		o.names, o.alts = append(o.names, output), append(o.alts, alts)
	}
	return o
}

// index returns the index of an output.
func (o *outputs) index(name corev1.ResourceName) (int, bool) {
	if o == nil {
		return 0, false
	}
	i, known := o.byName[name]
	return i, known
}

// none reports whether there are no outputs. Otherwise an amount of any resource may
// count, if not under this transformation, then under the next one.
func (o *outputs) none() bool { return len(o.names) == 0 }

// charge returns what a pod is charged in each output. fault says what is wrong: an amount
// can't be charged, or the transformation demands a quota for each resource, and covers
// says that there is none for one of the pod's.
func (o *outputs) charge(requests corev1.ResourceList, covers func(corev1.ResourceName) bool) (amounts []int64, fault string) {
	amounts = make([]int64, len(o.names))
	if o.none() || len(requests) == 0 {
		return amounts, ""
	}
	made := o.transformation.Apply(requests)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		i, known := o.index(name)
		q := made[name]
		if !known {
			if o.demands && fault == "" && !q.IsZero() && !covers(name) {
				fault = fmt.Sprintf("%s is %s, and no quota is of it, as the transformation demands (%s)", brief(string(name)), brief(quantity.Text(q)), transform.BlockUndeclared)
			}
			continue
		}
		amount, err := transform.ChargeAmount(name, q, 1)
		if err != nil || !exact(amount) {
			return make([]int64, len(o.names)), fmt.Sprintf("%s would be %s: want less than 2^53", name, brief(quantity.Text(q)))
		}
		amounts[i] = amount
	}
	return amounts, fault
}

// items returns the amounts that are not 0 as items of a task.
func (o *outputs) items(amounts []int64) (items []book.UseItem) {
	for i, amount := range amounts {
		if amount > 0 {
			items = append(items, book.UseItem{Alts: o.alts[i], Amount: amount})
		}
	}
	return items
}

// pods are pods that request the same. Of pods that have ended since, n is negative.
type pods struct {
	requests corev1.ResourceList
	n        int64
}

// addPods adds pods to a list, which it copies.
func addPods(list []pods, requests corev1.ResourceList, n int64) []pods {
	list = slices.Clone(list)
	for i := range list {
		if sameRequests(list[i].requests, requests) {
			if list[i].n += n; list[i].n == 0 {
				return slices.Delete(list, i, i+1)
			}
			return list
		}
	}
	return append(list, pods{requests, n})
}

// samePods reports whether two lists are of the same pods.
func samePods(a, b []pods) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p pods) bool { return podsLike(b, p.requests) != p.n })
}

// podsLike returns how many pods of a list request the same.
func podsLike(list []pods, requests corev1.ResourceList) int64 {
	for _, p := range list {
		if sameRequests(p.requests, requests) {
			return p.n
		}
	}
	return 0
}

func sameRequests(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

// chargePods returns what pods are charged in each output.
func (o *outputs) chargePods(list []pods, covers func(corev1.ResourceName) bool) (amounts []int64, fault string) {
	sums := make([]wide, len(o.names))
	for _, p := range list {
		each, why := o.charge(p.requests, covers)
		if fault == "" {
			fault = why
		}
		for i, amount := range each {
			sums[i].addProduct(p.n, amount)
		}
	}
	amounts = make([]int64, len(o.names))
	for i := range sums {
		amount, ok := sums[i].exact()
		if !ok {
			return make([]int64, len(o.names)), cmp.Or(fault, fmt.Sprintf("%s of all pods would be %s: want less than 2^53", o.names[i], &sums[i]))
		}
		amounts[i] = max(amount, 0)
	}
	return amounts, fault
}

// wide is a sum of products of amounts: no sum of them leaves 128 bits.
type wide struct{ high, low uint64 }

// addProduct adds n times an amount, which isn't negative.
func (w *wide) addProduct(n, amount int64) {
	var carry uint64
	if n < 0 {
		high, low := bits.Mul64(uint64(-n), uint64(amount))
		w.low, carry = bits.Sub64(w.low, low, 0)
		w.high, _ = bits.Sub64(w.high, high, carry)
		return
	}
	high, low := bits.Mul64(uint64(n), uint64(amount))
	w.low, carry = bits.Add64(w.low, low, 0)
	w.high, _ = bits.Add64(w.high, high, carry)
}

// exact returns the sum, -1 if it is negative. ok: it is less than 2^53.
func (w *wide) exact() (sum int64, ok bool) {
	if int64(w.high) < 0 {
		return -1, true
	}
	return int64(w.low), w.high == 0 && w.low < uint64(limitExact)
}

// String writes the sum of amounts that aren't negative.
func (w *wide) String() string {
	sum := new(big.Int).SetUint64(w.high)
	return sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(w.low)).String()
}

// requestsOf returns what a task requests, of which a charge in outputs is made: what its
// pod as a whole requests, with the entries of Request, if that isn't nil, in the place of
// the pod's, and of its cpu and memory in any case.
func (t *Task) requestsOf(pod corev1.ResourceList) corev1.ResourceList {
	if t.Request == nil {
		return pod
	}
	list := maps.Clone(pod)
	if list == nil {
		list = corev1.ResourceList{}
	}
	delete(list, corev1.ResourceCPU)
	delete(list, corev1.ResourceMemory)
	maps.Copy(list, t.Request)
	return list
}

// badRequest says what of a list no output can be made of, if anything: a negative amount,
// or a name that a snapshot would not bring back.
func (o *outputs) badRequest(list corev1.ResourceList) string {
	if o.none() {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		switch text := brief(quantity.Text(q)); {
		case badName(string(name)) != nil:
			return fmt.Sprintf("%q is %s: want the name of a resource", brief(string(name)), text)
		case q.Sign() < 0:
			return fmt.Sprintf("%s is %s: want 0 or more", brief(string(name)), text)
		}
	}
	return ""
}

// covers reports whether quotas know a resource.
func (r *resolver) covers(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || len(r.found.carried[name]) > 0
}

// addOutputs adds to a request what the task is charged in outputs.
func (r *resolver) addOutputs(t *TaskRequest) {
	t.outs = r.outs
	amounts, fault := r.outs.charge(t.requests, r.covers)
	if fault != "" {
		t.fail("%s", fault)
	}
	for _, it := range r.outs.items(amounts) {
		t.use.Items = append(t.use.Items, it)
		t.sources = append(t.sources, source{})
	}
}

// chargeOutputs ends the making of a request with what it is charged in outputs. What is
// invalid is charged nothing.
func (r *resolver) chargeOutputs(t *TaskRequest) {
	valid := t.invalid == ""
	if r.addOutputs(t); t.invalid != "" {
		if valid {
			t.plain = t.withoutOutputs()
			t.plain.invalid = ""
		}
		t.use, t.sources = book.Use{}, nil
	}
	t.complete()
}

// outputs adds to the min of a job what it needs in outputs.
func (b *jobBuilder) outputs() error {
	b.req.outs = b.outs
	if b.outs.none() {
		return nil
	}
	if !b.live && len(b.job.MinResources) > 0 {
		switch fault := b.outs.badRequest(b.job.MinResources); {
		case fault == "":
			b.pods = []pods{{b.job.MinResources, 1}}
		case b.job.Min == nil:
			b.fail("minResources: %s", fault)
		}
	}
	amounts, fault := b.outs.chargePods(b.pods, b.covers)
	if given := b.job.Min; given != nil {
		own := make([]int64, len(b.outs.names))
		for _, name := range slices.Sorted(maps.Keys(given.Outputs)) {
			i, known := b.outs.index(name)
			switch amount := given.Outputs[name]; {
			case !known && slices.Contains(dimNames[:], string(name)):
				return fmt.Errorf("%w: %q, in the Outputs of the min of job %q: want it in CPU or Memory", ErrUnknownDimension, name, brief(b.req.id))
			case !known:
				return fmt.Errorf("%w: %q, in the Outputs of the min of job %q: %s", ErrUnknownDimension, brief(string(name)), brief(b.req.id), wantDimension)
			case !exact(amount):
				return fmt.Errorf("%w: job %q: min of %s is %d: want 0 to less than 2^53", ErrBadAmount, brief(b.req.id), name, amount)
			default:
				own[i] = amount
			}
		}
		if fault != "" || !slices.Equal(own, amounts) {
			b.pods = nil // they are not what it was made of; of a Need that is given back they are
		}
		amounts, fault = own, ""
	}
	b.uncharged(fault)
	for _, it := range b.outs.items(amounts) {
		b.items = append(b.items, book.MinItem{Alts: it.Alts, Amount: it.Amount, Unit: defaultUnit})
	}
	b.req.pods = b.pods
	return nil
}

// current returns a request as the present transformation has it: the request itself,
// unless the transformation has changed since it was resolved.
func (l *Ledger) current(t *TaskRequest) *TaskRequest {
	if t.outs == l.outs || t.outs == nil {
		return t
	}
	next := cmp.Or(t.plain, t).withoutOutputs()
	l.resolverLocked().chargeOutputs(next)
	return next
}

// withoutOutputs returns a copy of a request, which is not complete, without outputs.
func (t *TaskRequest) withoutOutputs() *TaskRequest {
	next := &TaskRequest{
		owner: t.owner, use: t.use, sources: slices.Clone(t.sources), bound: t.bound, invalid: t.invalid, requests: t.requests,
		id: t.id, job: t.job, queue: t.queue,
	}
	next.use.Items = slices.DeleteFunc(slices.Clone(t.use.Items), func(it book.UseItem) bool { return isOutput(it.Alts) })
	next.sources = next.sources[:len(next.use.Items)]
	return next
}

// currentJob is current for a job.
func (l *Ledger) currentJob(r *JobRequest) *JobRequest {
	if r.outs == l.outs || r.outs == nil {
		return r
	}
	plain := cmp.Or(r.plain, r)
	next := &JobRequest{owner: r.owner, min: plain.min, invalid: plain.invalid, pods: plain.pods, outs: l.outs, id: r.id, queue: r.queue}
	if next.pods != nil && next.invalid == "" {
		amounts, fault := l.outs.chargePods(next.pods, l.resolverLocked().covers)
		next.min.Items = l.outs.replace(next.min.Items, amounts)
		if fault != "" {
			next.refuse(fault)
		}
	}
	next.complete()
	return next
}

// replace returns the items of a min with other amounts of outputs, which come last.
func (o *outputs) replace(items []book.MinItem, amounts []int64) []book.MinItem {
	items = slices.DeleteFunc(slices.Clone(items), func(it book.MinItem) bool { return isOutput(it.Alts) })
	for _, it := range o.items(amounts) {
		items = append(items, book.MinItem{Alts: it.Alts, Amount: it.Amount, Unit: defaultUnit})
	}
	return items
}

// SetTransformation replaces the transformation that makes the outputs of what pods
// request; nil: they are what pods request under their names. All that is charged and
// held is charged and held anew, and what then exceeds a limit is marked as over. A min
// that [Job.Min] gave stays as it is, unless it is in outputs just what the job's tasks
// make: then it follows them. What is left of a min after the end of a task that it covered
// in part stays, too. A charge that was made before the ledger had outputs stays
// until Reconcile sees the task. seq is as of [Ledger.SetQueues]. A sum that would reach
// 2^53 is an [ErrOverflow] and changes nothing.
func (l *Ledger) SetTransformation(t *transform.Transformation) (seq uint64, err error) {
	l.lock()
	err = l.setTransformation(t)
	return l.unlock(err == nil, nil), err
}

func (l *Ledger) setTransformation(t *transform.Transformation) error {
	sums := newRootSums(false)
	next, err := l.recharged(newOutputs(l.m, t, l.outs), sums.add)
	if err != nil {
		return err
	}
	l.cfg.Transformation = t
	l.recharge(next)
	for _, q := range l.ordered {
		q.MarkAll()
	}
	return nil
}

// recharge is what everything is charged under other outputs.
type recharge struct {
	outs  *outputs
	mins  map[*job][]int64
	uses  map[*book.Task][]int64
	waits map[*waitingTask][]int64
}

// recharged works out what everything is charged under other outputs. add adds up what a
// queue is charged and holds of a dimension, and reports whether the sum is small enough.
func (l *Ledger) recharged(next *outputs, add func(q *book.Queue, dim int32, amount int64) bool) (*recharge, error) {
	uses, mins := map[*book.Task][]int64{}, map[*job][]int64{}
	waits := map[*waitingTask][]int64{}
	all := func(corev1.ResourceName) bool { return true } // what is there already is charged in any case
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		charged := make([]int64, len(next.names))
		for t := range j.tasks() {
			amounts, fault := next.charge(t.requests, all)
			if t.requests == nil {
				amounts = next.amounts(func(add func(*book.Alternatives, int64)) {
					for i := range t.Charges {
						add(t.Charges[i].Alts, t.Charges[i].Amount)
					}
				})
			}
			if fault != "" {
				return nil, fmt.Errorf("%w: task %q: %s", ErrOverflow, brief(t.id), fault)
			}
			uses[&t.Task] = amounts
			for i := range amounts {
				charged[i] = book.AddSaturated(charged[i], amounts[i])
			}
		}
		amounts := next.amounts(func(add func(*book.Alternatives, int64)) {
			for _, it := range j.Items {
				add(it.Alts, it.Min)
			}
		})
		if list := l.pods[id]; list != nil {
			var fault string
			if amounts, fault = next.chargePods(list, all); fault != "" {
				return nil, fmt.Errorf("%w: job %q: %s", ErrOverflow, brief(id), fault)
			}
		}
		mins[j] = amounts
		for i := range amounts {
			dim, most := next.alts[i].Cards[0], max(charged[i], amounts[i])
			if !add(j.Queue, dim, most) {
				return nil, overflow("job", id, unitPlain, most, string(next.names[i]))
			}
		}
	}
	for id, w := range l.waiting {
		if w.requests == nil {
			continue
		}
		amounts, fault := next.charge(w.requests, all)
		if fault != "" {
			return nil, fmt.Errorf("%w: task %q: %s", ErrOverflow, brief(id), fault)
		}
		waits[w] = amounts
	}
	return &recharge{next, mins, uses, waits}, nil
}

// recharge charges everything as it was worked out. What then exceeds a limit is for the
// caller to mark.
func (l *Ledger) recharge(next *recharge) {
	l.outs = next.outs
	for j, amounts := range next.mins {
		j.Recharge(l.outs.replace(nil, amounts), func(t *book.Task) []book.UseItem { return l.outs.items(next.uses[t]) })
	}
	for w, amounts := range next.waits {
		w.use.Items = slices.DeleteFunc(slices.Clone(w.use.Items), func(it book.UseItem) bool { return isOutput(it.Alts) })
		w.use.Items = append(w.use.Items, l.outs.items(amounts)...)
	}
}

// wider works out what everything is charged in the outputs of a map that extends the
// ledger's. nil: there are no more outputs than before. An output is added up over all
// queues: which of them come under the same one may change at the same time.
func (l *Ledger) wider(m *vectormap.ResourceVectorMap) (*recharge, error) {
	if m == l.m {
		return nil, nil
	}
	next := newOutputs(m, l.cfg.Transformation, l.outs)
	if len(next.names) == len(l.outs.names) {
		return nil, nil
	}
	sums := make([]int64, m.Len())
	return l.recharged(next, func(_ *book.Queue, dim int32, amount int64) bool {
		return int(dim) < l.m.Len() || addExact(&sums[dim], amount)
	})
}

// amounts returns what each calls add with, by output.
func (o *outputs) amounts(each func(add func(alts *book.Alternatives, amount int64))) []int64 {
	amounts := make([]int64, len(o.names))
	each(func(alts *book.Alternatives, amount int64) {
		if i := slices.Index(o.alts, alts); i >= 0 {
			amounts[i] += amount
		}
	})
	return amounts
}

// setPods notes what the min of a job is made of in outputs, without pods that have ended;
// nil: it was given.
func (l *Ledger) setPods(id string, list []pods) {
	switch {
	case len(list) == 0:
		delete(l.pods, id)
	case l.pods == nil:
		l.pods = map[string][]pods{id: list}
	default:
		l.pods[id] = list
	}
}

// ended takes a task that has ended from the pods of its job's min, if it was one of them.
func (l *Ledger) ended(t *task) {
	list := l.pods[t.job]
	if list == nil {
		return
	}
	within, beyond := t.covered(true)
	switch {
	case within && beyond:
		l.setPods(t.job, nil) // what is left of the min is made of no pods
		return
	case !within && !beyond: // it has no outputs, so its cards tell
		within, beyond = t.covered(false)
	}
	if !within && !beyond { // nor cards. A min of pods needn't have cpu and memory: then the number of tasks tells
		within = t.CPU.Covered > 0 || t.Memory.Covered > 0 || l.alike(t) <= podsLike(list, t.requests)
	}
	if within && t.requests != nil {
		l.setPods(t.job, addPods(list, t.requests, -1))
	}
}

// covered reports whether the job's min covers anything of a task's charges in outputs, or
// in cards, and whether it leaves anything uncovered.
func (t *task) covered(outputs bool) (within, beyond bool) {
	for i := range t.Charges {
		if c := &t.Charges[i]; isOutput(c.Alts) == outputs {
			within, beyond = within || c.Covered > 0, beyond || c.Covered < c.Amount
		}
	}
	return within, beyond
}

// alike counts the tasks of a task's job that request the same.
func (l *Ledger) alike(t *task) (n int64) {
	for other := range l.jobs[t.job].tasks() {
		if sameRequests(other.requests, t.requests) {
			n++
		}
	}
	return n
}

// chargedPods returns the pods of the tasks of a job whose min is what these are charged; nil
// where that isn't so.
func (j *job) chargedPods() (list []pods) {
	for t := range j.tasks() {
		for i := range t.Charges {
			if c := &t.Charges[i]; isOutput(c.Alts) && c.Covered < c.Amount {
				return nil
			}
		}
		if t.requests == nil {
			return nil
		}
		list = addPods(list, t.requests, 1)
	}
	return list
}

// keeps returns what a record keeps of what a task requests: nothing, unless there are
// outputs.
func (l *Ledger) keeps(requests corev1.ResourceList) corev1.ResourceList {
	if l.outs.none() {
		return nil
	}
	return requests
}

// output returns the output of a dimension; empty of others.
func (l *Ledger) output(dim int32) corev1.ResourceName {
	if name, is := outputOf(l.m, int(dim), l.m.Name(int(dim))); is {
		return name
	}
	return ""
}

// Explain says which resource that the task requests makes which part of its charge in
// outputs; nil if the ledger's map has no outputs.
func (t *TaskRequest) Explain() *transform.Explanation {
	if t.some().outs == nil || t.outs.none() {
		return nil
	}
	return t.outs.transformation.Explain(t.requests)
}

// Explain says which resources make which part of what the job needs in outputs: those of
// its tasks or, while there are none, of MinResources. Of pods that request the same it has
// how many they are, and the explanation of one: each total, rounded up to whole units, is
// charged that often. It is empty for what [Job.Min] gave, unless that is in outputs just what
// the tasks make.
func (r *JobRequest) Explain() iter.Seq2[int64, *transform.Explanation] {
	pods := r.some().pods
	return func(yield func(pods int64, one *transform.Explanation) bool) {
		for _, p := range pods {
			if !yield(p.n, r.outs.transformation.Explain(p.requests)) {
				return
			}
		}
	}
}

// boundOutputs makes the min of a job no more in outputs than what tasks ask for.
func (r *JobRequest) boundOutputs(tasks []*sightTask) {
	most := map[*book.Alternatives]int64{}
	for _, t := range tasks {
		for _, it := range t.req.use.Items {
			most[it.Alts] = book.AddSaturated(most[it.Alts], it.Amount)
		}
	}
	for i := range r.min.Items {
		if it := &r.min.Items[i]; isOutput(it.Alts) && it.Amount > most[it.Alts] {
			it.Amount, r.pods = most[it.Alts], nil // it is not what pods make any more
		}
	}
	r.min.Items = slices.DeleteFunc(r.min.Items, func(it book.MinItem) bool { return it.Amount == 0 })
	r.complete()
}
