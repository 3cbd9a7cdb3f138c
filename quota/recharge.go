package quota

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/transform"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// Another transformation, or an output more: what is there is charged anew, and so are requests
// that were resolved before.

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
	next, err := l.recharged(newOutputs(l.m, t, l.outs), nil, sums.add)
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
	waits map[string][]int64 // by task; nil: it can't be charged
}

// recharged works out what everything is charged under other outputs, in those of kept, which
// may be nil, as before. add adds up what a queue is charged and holds of a dimension, and
// reports whether the sum is small enough.
func (l *Ledger) recharged(next, kept *outputs, add func(q *book.Queue, dim int32, amount int64) bool) (*recharge, error) {
	uses, mins := map[*book.Task][]int64{}, map[*job][]int64{}
	waits := map[string][]int64{}
	all := func(corev1.ResourceName) bool { return true } // what is there already is charged in any case
	for _, id := range sorted(l.jobs) {
		j := l.jobs[id]
		charged := make([]int64, len(next.names))
		for t := range j.tasks() {
			had := next.amounts(func(add func(*book.Alternatives, int64)) {
				for i := range t.Charges {
					add(t.Charges[i].Alts, t.Charges[i].Amount)
				}
			})
			amounts, fault := next.charge(t.requests, all)
			if t.requests == nil {
				amounts = had
			}
			next.keep(kept, amounts, had)
			if fault != "" {
				return nil, fmt.Errorf("%w: task %q: %s", ErrOverflow, brief(t.id), fault)
			}
			uses[&t.Task] = amounts
			for i := range amounts {
				charged[i] = book.AddSaturated(charged[i], amounts[i])
			}
		}
		had := next.amounts(func(add func(*book.Alternatives, int64)) {
			for _, it := range j.Items {
				add(it.Alts, it.Min)
			}
		})
		amounts := had
		if list := l.pods[id]; list != nil {
			var fault string
			if amounts, fault = next.chargePods(list, all); fault != "" {
				return nil, fmt.Errorf("%w: job %q: %s", ErrOverflow, brief(id), fault)
			}
		}
		next.keep(kept, amounts, had)
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
			amounts = nil // it can't be charged, and is forgotten as one that a view has so
		}
		waits[id] = amounts
	}
	return &recharge{next, mins, uses, waits}, nil
}

// keep makes amounts in outputs that others, which may be nil, have the former ones.
func (o *outputs) keep(kept *outputs, amounts, former []int64) {
	for i, name := range o.names {
		if _, known := kept.index(name); known {
			amounts[i] = former[i]
		}
	}
}

// recharge charges everything as it was worked out. What then exceeds a limit is for the
// caller to mark.
func (l *Ledger) recharge(next *recharge) {
	l.outs = next.outs
	for j, amounts := range next.mins {
		j.Recharge(l.outs.replace(nil, amounts), func(t *book.Task) []book.UseItem { return l.outs.items(next.uses[t]) })
	}
	for id, amounts := range next.waits {
		w := l.waiting[id]
		if amounts == nil {
			delete(l.waiting, id)
			continue
		}
		w.use.Items = slices.DeleteFunc(slices.Clone(w.use.Items), func(it book.UseItem) bool { return isOutput(it.Alts) })
		w.use.Items = append(w.use.Items, l.outs.items(amounts)...)
	}
}

// wider works out what everything is charged in the outputs of a map that extends the
// ledger's. nil: there are no more outputs than before. A new output is added up over all
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
	return l.recharged(next, l.outs, func(_ *book.Queue, dim int32, amount int64) bool {
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
