package quota

import (
	"fmt"
	"sync"

	"github.com/resvec/resvec/quota/internal/book"
)

// Enqueueable reports whether a job's min can be promised to it now. dst, which may be
// nil, becomes the answer. It changes nothing.
func (l *Ledger) Enqueueable(dst *Answer, job *JobRequest) bool {
	l.serves(job.owner)
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = dst == nil
	q := l.queueOf(&job.queueAt, job.queue)
	ok := book.MayReserve(&s.answer, q, &job.min, l.ownOf(job, q), &s.plan)
	if dst != nil {
		l.fillJob(dst, &s.answer, job, q)
	}
	return ok
}

// Allocatable reports whether a task that is not charged yet can be charged now. It
// doesn't look at ids: of a task that is charged it says whether there is room for
// another like it. dst, which may be nil, becomes the answer: its Options are all
// alternatives of all items, with room or with the reason. It changes nothing.
func (l *Ledger) Allocatable(dst *Answer, task *TaskRequest) bool {
	l.serves(task.owner)
	l.mu.RLock()
	ok := l.allocatable(dst, task, nil)
	l.mu.RUnlock()
	return ok
}

// AllocatableOn is [Ledger.Allocatable] restricted to the cards of a node. If the node
// has none of an item's alternatives, or isn't known, the reason is
// [ReasonGetTaskRequestResourceFailed]. If it has some, and none has room, the reason is
// [ReasonInsufficientScalarQuota].
func (l *Ledger) AllocatableOn(dst *Answer, task *TaskRequest, node string) bool {
	l.serves(task.owner)
	on := l.lockOn(l.mu.RLocker(), node)
	defer l.mu.RUnlock()
	return l.allocatable(dst, task, on)
}

// lockOn locks the ledger, which mu does for a question or a change, and returns the
// cards that a node has then. The catalog is asked while the ledger isn't locked, so
// it may have been replaced meanwhile; then the new one is asked.
func (l *Ledger) lockOn(mu sync.Locker, node string) *book.Set {
	mu.Lock()
	for {
		source, dims := l.source, l.dims
		if set := source.seen(node); set != nil {
			return set
		}
		mu.Unlock()
		set := source.on(node, dims)
		mu.Lock()
		if l.source == source {
			return set
		}
	}
}

// allocatable decides on a task without charging it.
func (l *Ledger) allocatable(dst *Answer, task *TaskRequest, cards *book.Set) bool {
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = dst == nil
	q, _ := l.mayCharge(s, task, cards)
	if dst != nil {
		l.fillTask(dst, &s.answer, task, q)
	}
	return s.answer.OK()
}

// mayCharge decides on a task. It returns its queue and job, which may be nil.
func (l *Ledger) mayCharge(s *scratch, t *TaskRequest, cards *book.Set) (*book.Queue, *book.Job) {
	q, j := l.queueOf(&t.queueAt, t.queue), l.jobOf(t)
	s.picks = book.MayCharge(&s.answer, q, j, &t.use, s.cards.Both(cards, t.bound), s.picks[:0])
	return q, j
}

// Reserve promises a job its min if it is Enqueueable: the min becomes holds. The same
// job with the same min again is a repeat. With another min it is an [ErrReserved],
// and [Ledger.Resize] changes it. A job that another queue has is an [ErrConflict].
func (l *Ledger) Reserve(job *JobRequest) (Answer, error) { return l.reserveOne(job, false) }

// Resize gives a reserved job another min, or reserves it. Holds are made anew; a card
// that the job's tasks are bound to stays. A refusal changes nothing. The same min again is
// a repeat.
func (l *Ledger) Resize(job *JobRequest) (Answer, error) { return l.reserveOne(job, true) }

func (l *Ledger) reserveOne(job *JobRequest, resize bool) (Answer, error) {
	l.serves(job.owner)
	l.lock()
	a, e, err := l.reserve(job, resize, l.seq+1)
	l.unlock(a.changed(), e)
	return a, err
}

// ReserveMany reserves jobs in order, each on top of those before it. A refusal doesn't
// stop it. The answers are in the same order. All changes have one number, the Seq of
// the answers to the jobs that were reserved; other answers have the number before. An
// error names the first job that has one; the others are decided as if that job weren't
// there.
func (l *Ledger) ReserveMany(jobs []*JobRequest) ([]Answer, error) {
	for _, job := range jobs {
		l.serves(job.owner)
	}
	l.lock()
	var first error
	var events []Event
	changed, seq := false, l.seq+1
	answers := make([]Answer, len(jobs))
	for i, job := range jobs {
		a, e, err := l.reserve(job, false, seq)
		if err != nil && first == nil {
			first = err
		}
		answers[i], changed = a, changed || a.changed()
		events = append(events, e...)
	}
	l.unlock(changed, events)
	return answers, first
}

// changed reports whether an operation with this answer changed the ledger.
func (a *Answer) changed() bool { return a.OK && !a.Repeat }

// reserve does the work of Reserve and Resize. seq is the number of the change.
func (l *Ledger) reserve(r *JobRequest, resize bool, seq uint64) (a Answer, events []Event, err error) {
	l.begin(&a)
	j := l.jobs[r.id]
	if j != nil && queueName(j.Queue) != r.queue {
		return Answer{Seq: l.seq}, nil, elsewhere(r.id, &j.Job, r.queue)
	}
	if j != nil && j.Reserved {
		switch {
		case j.Has(&r.min):
			a.Repeat = true
			return a, nil, nil
		case !resize:
			return Answer{Seq: l.seq}, nil, fmt.Errorf("%w: job %q: reserved is %s, requested %s: Resize changes it", ErrReserved, brief(r.id), needOf(j.MinNow()).words(), r.Need().words())
		}
	}
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = false
	q := l.queueOf(&r.queueAt, r.queue)
	if !book.MayReserve(&s.answer, q, &r.min, j.in(q), &s.plan) {
		l.fillJob(&a, &s.answer, r, q)
		return a, l.refused(r.queue, r.id, "", &a), nil
	}
	if dim, amount, is := s.plan.TooLarge(q, j.record()); is {
		return Answer{Seq: l.seq}, nil, l.overflowAt("job", r.id, amount, dim)
	}
	kind := EventReserved
	if j == nil {
		j = l.newJob(r.id, q)
	} else if j.Reserved {
		kind = EventResized
	}
	if !j.Reserved {
		j.seq = seq
	}
	j.Reserve(&s.plan, r.min.AnyMix)
	a.Seq = seq
	return a, l.jobEvent(kind, seq, j), nil
}

// Commit charges a task if it is Allocatable, also one of a job that is not reserved: so
// don't commit after a refused Reserve, or use [Ledger.CommitAll]. Each item is charged on
// the first of its alternatives that has room and is among cards, those of the chosen
// node; without cards, on the first that has room. What the job's min covers leaves its
// holds, which move to the charged card if they have to. The same task again is a repeat;
// with another content it is an [ErrConflict].
func (l *Ledger) Commit(task *TaskRequest, cards ...string) (Answer, error) {
	l.serves(task.owner)
	l.lock()
	return l.commitOne(task, l.cardSet(cards))
}

// CommitOn is [Ledger.Commit] restricted to the cards of a node, as
// [Ledger.AllocatableOn] is. Unlike Commit without cards, an unknown node, or one
// without cards, allows no card.
func (l *Ledger) CommitOn(task *TaskRequest, node string) (Answer, error) {
	l.serves(task.owner)
	return l.commitOne(task, l.lockOn(&l.mu, node))
}

// commitOne commits one task, ends the change that the caller began by locking
// the ledger, and tells what happened.
func (l *Ledger) commitOne(task *TaskRequest, cards *book.Set) (Answer, error) {
	a, t, err := l.commit(task, cards, l.seq+1, nil)
	var events []Event
	switch {
	case err != nil || a.Repeat:
	case a.OK:
		events = l.taskEvent(EventCommitted, a.Seq, t)
	default:
		events = l.refused(task.queue, task.job, task.id, &a)
	}
	l.unlock(a.changed(), events)
	return a, err
}

// cardSet makes a set of cards, nil for none given. Unknown names are not in it.
func (l *Ledger) cardSet(names []string) *book.Set {
	if len(names) == 0 {
		return nil
	}
	set := new(book.Set)
	for _, name := range names {
		if dim, ok := l.dims[name]; ok {
			set.Add(dim)
		}
	}
	return set
}

// commit decides on a task and charges it, and returns its record if it is charged
// now. undo, if not nil, learns what to do to take it back.
func (l *Ledger) commit(r *TaskRequest, cards *book.Set, seq uint64, undo *gang) (a Answer, t *task, err error) {
	l.begin(&a)
	if was := l.tasks[r.id]; was != nil {
		if !was.same(r) || cards != nil && !was.Within(cards) {
			return Answer{Seq: l.seq}, nil, conflict("task", r.id, l.otherThan(was, r, cards))
		}
		a.Repeat, a.Charged = true, l.chargedCards(was)
		return a, nil, nil
	}
	if j := l.jobOf(r); j != nil && queueName(j.Queue) != r.queue {
		return Answer{Seq: l.seq}, nil, elsewhere(r.job, j, r.queue)
	}
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = false
	q, j := l.mayCharge(s, r, cards)
	if !s.answer.OK() {
		l.fillTask(&a, &s.answer, r, q)
		return a, nil, nil
	}
	if dim, amount, is := r.use.TooLarge(q, j, s.picks); is {
		return Answer{Seq: l.seq}, nil, l.overflowAt("task", r.id, amount, dim)
	}
	l.fillTask(&a, &s.answer, r, q)
	if j == nil {
		made := l.newJob(r.job, q)
		j = &made.Job
		r.jobAt.Store(j)
		undo.newJob(made)
	}
	t = newTask(r.id, r.job, j, seq, taskCommitted)
	t.Charge(&r.use, s.picks, undo.book())
	l.tasks[r.id] = t
	undo.newTask(t, l.waiting[t.id])
	delete(l.waiting, t.id)
	a.Seq, a.Charged = seq, l.chargedCards(t)
	return a, t, nil
}

// elsewhere says that a job is in another queue.
func elsewhere(id string, j *book.Job, queue string) error {
	return conflict("job", id, fmt.Sprintf("it is in queue %q, not in %q", brief(queueName(j.Queue)), brief(queue)))
}

// otherThan says what a task is charged, and what is requested for it.
func (l *Ledger) otherThan(t *task, r *TaskRequest, cards *book.Set) string {
	if t.same(r) {
		return fmt.Sprintf("it is charged on %s, which is not among the cards of this commit", some(l.chargedCards(t)))
	}
	was := Min{CPU: t.CPU.Amount, Memory: t.Memory.Amount}
	for i := range t.Charges {
		was.add(t.Charges[i].Alts, t.Charges[i].Amount, defaultUnit)
	}
	requested := r.invalid
	if requested == "" {
		requested = fmt.Sprintf("%s of job %q in queue %q", (&TaskRequest{use: r.use}).Need().words(), brief(r.job), brief(r.queue))
	}
	return fmt.Sprintf("charged is %s of job %q in queue %q, requested %s", was.words(), brief(t.job), brief(queueName(t.Job.Queue)), requested)
}

// same reports whether a request is for what the task is charged.
func (t *task) same(r *TaskRequest) bool {
	return t.Is(&r.use) && t.job == r.job && queueName(t.Job.Queue) == r.queue
}

// chargedCards returns the cards that a task is charged on.
func (l *Ledger) chargedCards(t *task) []string {
	if len(t.Charges) == 0 {
		return nil
	}
	names := make([]string, 0, len(t.Charges))
	for i := range t.Charges {
		if c := &t.Charges[i]; !isOutput(c.Alts) {
			names = append(names, l.cardName(c.Card))
		}
	}
	return names
}
