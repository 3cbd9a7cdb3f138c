package quota

import (
	"cmp"
	"sync/atomic"

	"github.com/resvec/resvec/quota/internal/book"
)

// Enqueueable reports whether a job's min can be promised to it now.
func (l *Ledger) Enqueueable(dst *Answer, job *JobRequest) bool {
	l.serves(job.owner)
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	l.counts.questions.Add(1)
	q := l.mayReserve(s, job)
	if dst != nil {
		l.fillJob(dst, &s.answer, job, q)
	}
	return s.answer.OK()
}

// mayReserve decides on a job. It returns its queue, which may be nil.
func (l *Ledger) mayReserve(s *scratch, r *JobRequest) *book.Queue {
	q := l.queueOf(&r.queueAt, r.queue)
	// What the job has already counts for it: a min that is covered needs no more room.
	book.MayReserve(&s.answer, q, &r.min, l.jobs[r.id].record().In(q), &s.plan)
	return q
}

// Allocatable reports whether a task can be charged now, or once more.
func (l *Ledger) Allocatable(dst *Answer, task *TaskRequest) bool {
	l.serves(task.owner)
	l.mu.RLock()
	ok := l.allocatable(dst, task, nil)
	l.mu.RUnlock()
	return ok
}

// AllocatableOn is Allocatable on the cards of a node. If that has none of an item's, or
// isn't known, the reason is GetTaskRequestResourceFailed.
func (l *Ledger) AllocatableOn(dst *Answer, task *TaskRequest, node string) bool {
	l.serves(task.owner)
	l.mu.RLock()
	defer l.mu.RUnlock()
	on := l.source.on(node).cards
	ok := l.allocatable(dst, task, on)
	if dst != nil {
		dst.Refusal.noteNode(node, on)
	}
	return ok
}

// allocatable decides on a task without charging it.
func (l *Ledger) allocatable(dst *Answer, task *TaskRequest, cards *book.Set) bool {
	s := l.scratch()
	defer l.spare.Put(s)
	l.counts.questions.Add(1)
	q, _ := l.mayCharge(s, task, cards)
	if dst != nil {
		l.fillTask(dst, &s.answer, task, q)
	}
	return s.answer.OK()
}

// mayCharge decides on a task. It returns its queue and job, which may be nil.
func (l *Ledger) mayCharge(s *scratch, t *TaskRequest, cards *book.Set) (*book.Queue, *book.Job) {
	q, j := l.queueOf(&t.queueAt, t.queue), l.jobOf(t)
	// A bound task stays on the cards of its node, whatever else the caller allows.
	s.picks = book.MayCharge(&s.answer, q, j, &t.use, s.cards.Both(cards, t.bound), s.picks[:0])
	return q, j
}

// Reserve promises a job its min if it is Enqueueable: the min becomes holds. The same min
// again is a repeat, another one an [ErrReserved].
func (l *Ledger) Reserve(job *JobRequest) (Answer, error) { return l.reserveOne(job, false) }

// Resize is Reserve with any min; holds are made anew, tasks' cards stay.
func (l *Ledger) Resize(job *JobRequest) (Answer, error) { return l.reserveOne(job, true) }

// reserveOne is Reserve or Resize, which differ only where the job has another min.
func (l *Ledger) reserveOne(job *JobRequest, resize bool) (Answer, error) {
	l.serves(job.owner)
	l.lock()
	a, err := l.reserve(job, resize)
	l.unlock(a.changed())
	return a, err
}

// ReserveMany reserves jobs in order, each on top of those before it, as one change. It
// goes on after refusals and errors, and returns the first error.
func (l *Ledger) ReserveMany(jobs []*JobRequest) ([]Answer, error) {
	// All of them before the lock, which a panic would keep.
	for _, job := range jobs {
		l.serves(job.owner)
	}
	l.lock()
	var first error
	changed := false
	answers := make([]Answer, len(jobs))
	for i, job := range jobs {
		a, err := l.reserve(job, false)
		if err != nil && first == nil {
			first = err
		}
		answers[i], changed = a, changed || a.changed()
	}
	l.unlock(changed)
	return answers, first
}

// changed reports whether an operation with this answer changed the ledger.
func (a *Answer) changed() bool { return a.OK && !a.Repeat }

// begin clears an answer for a decision on the present state. Slices are kept, so that a
// question that is asked often needs no new ones.
func (l *Ledger) begin(a *Answer) {
	*a = Answer{OK: true, Seq: l.seq, Options: a.Options[:0], Charged: a.Charged[:0]}
}

// reserve does the work of Reserve and Resize.
//
// A job that has charges already needs room only for what they don't cover. A min that is
// refused changes nothing, also with Resize: the job keeps what it has.
func (l *Ledger) reserve(r *JobRequest, resize bool) (a Answer, err error) {
	l.begin(&a)
	j := l.jobs[r.id]
	// By name, since the queue of the request may be gone. The job stays where it was
	// admitted.
	if j != nil && queueName(j.Queue) != r.queue {
		return Answer{Seq: l.seq}, elsewhere(r.id, &j.Job, r.queue)
	}
	if j != nil && j.Reserved {
		switch {
		case j.Has(&r.min):
			a.Repeat = true
			return a, nil
		case !resize:
			// Compared with the min of now: Release has shrunk it with each task that ended.
			is, want := needOf(j.MinNow()), r.Need()
			return Answer{Seq: l.seq}, &conflictError{ErrReserved, "job", r.id, func() string {
				return "reserved is " + is.words() + ", requested " + want.words() + ": Resize changes it"
			}}
		}
	}
	s := l.scratch()
	defer l.spare.Put(s)
	q := l.mayReserve(s, r)
	if !s.answer.OK() {
		l.fillJob(&a, &s.answer, r, q)
		l.refused(r.queue, r.id, "", &a)
		return a, nil
	}
	kind := EventReserved
	if j == nil {
		j = l.newJob(r.id, q)
	} else if j.Reserved {
		kind = EventResized
	}
	if !j.Reserved {
		// Only a new reservation has a new number: Expire goes by when a job was admitted.
		j.seq = l.seq + 1
	}
	j.Reserve(&s.plan)
	a.Seq++
	l.jobEvent(kind, j)
	return a, nil
}

// Commit charges a task if it is Allocatable, also one whose job isn't reserved: don't
// commit after a refused Reserve. Each item goes on its first alternative that has room and
// is among cards, if any are given; what the job's min covers leaves its holds, which move
// there if they have to. The same task again is a repeat, with other content an
// [ErrConflict].
func (l *Ledger) Commit(task *TaskRequest, cards ...string) (Answer, error) {
	l.serves(task.owner)
	l.lock()
	return l.commitOne(task, l.cardSet(cards), "")
}

// CommitOn is Commit restricted to a node's cards; an unknown node has none.
func (l *Ledger) CommitOn(task *TaskRequest, node string) (Answer, error) {
	l.serves(task.owner)
	l.lock()
	return l.commitOne(task, l.source.on(node).cards, node)
}

// commitOne commits one task, ends the change that the caller began by locking
// the ledger, and reports what happened. node is that whose cards these are, if any.
func (l *Ledger) commitOne(r *TaskRequest, cards *book.Set, node string) (Answer, error) {
	s := l.scratch()
	defer l.spare.Put(s)
	// The node that the caller chose comes before that of the pod.
	is, q, t := l.commit(s, r, cards, cmp.Or(node, r.node), nil)
	a, err := l.answerCommit(s, r, is, q, t)
	a.Refusal.noteNode(node, cards)
	switch is {
	case charged:
		delete(l.waiting, r.id)
		l.taskEvent(EventCommitted, t)
	case refused:
		l.refused(r.queue, r.job, r.id, &a)
	}
	l.unlock(is == charged)
	return a, err
}

// commitOutcome says how a commit ended. Its words are made after it: a gang may commit many tasks
// and take them all back. The last three are errors, which change nothing.
type commitOutcome uint8

const (
	charged      commitOutcome = iota
	repeated                   // it was charged before
	refused                    // the scratch has the answer
	otherTask                  // the id is of a task with another content
	onOtherCards               // it was charged before, but not on these cards
	inOtherQueue               // the job is
)

// commit decides on a task, into s, and charges it, on a node if that is known. It returns its
// queue, nil if there is none, and the task that is charged, now or before. undo, if not nil,
// learns how to take it back in the book. A charged task waits no more: the caller takes it
// off that list.
func (l *Ledger) commit(s *scratch, r *TaskRequest, cards *book.Set, node string, undo *book.Journal) (commitOutcome, *book.Queue, *task) {
	q, j := l.queueOf(&r.queueAt, r.queue), l.jobOf(r)
	// What is charged is not decided on again: limits may have been lowered since, and the
	// caller asks because its first call got no answer.
	if t := l.tasks[r.id]; t != nil {
		switch {
		case !t.Is(&r.use) || t.job != r.job || t.Job.Queue != q:
			return otherTask, q, t
		// The caller would believe that the task is on the node it chose.
		case cards != nil && !t.Within(cards):
			return onOtherCards, q, t
		}
		return repeated, q, t
	}
	if j != nil && j.Queue != q {
		return inOtherQueue, q, nil
	}
	l.mayCharge(s, r, cards)
	if !s.answer.OK() {
		return refused, q, nil
	}
	if j == nil {
		j = &l.newJob(r.job, q).Job
		// The next decision on this handle needs no look-up.
		r.jobAt.Store(j)
	}
	t := newTask(r.id, r.job, j, l.seq+1, taskCommitted)
	t.Charge(&r.use, s.picks, undo)
	l.tasks[r.id] = t
	l.put(t, node, false)
	return charged, q, t
}

// cardSet makes a set of cards, nil for none given. Unknown names are not in it.
func (l *Ledger) cardSet(names []string) *book.Set {
	if len(names) == 0 {
		return nil
	}
	// An empty set allows nothing, and a nil one everything: names that nobody knows must not
	// open a card.
	set := new(book.Set)
	for _, name := range names {
		if dim, ok := l.dims[name]; ok {
			set.Add(dim)
		}
	}
	return set
}

// serves panics if requests of a ledger, nil for any, are not for this one: their cards
// and their queue are of the other. Call it before locking: a panic would keep the lock.
func (l *Ledger) serves(owner *Ledger) {
	l.made()
	if owner != l && owner != nil {
		panic("quota: request of another ledger")
	}
}

// queueOf finds the queue of a handle, nil if there is none, and notes it there: most often
// it is noted already. One that has gone is looked up again by its name.
func (l *Ledger) queueOf(at *atomic.Pointer[book.Queue], name string) *book.Queue {
	q := at.Load()
	if q == nil || q.Gone {
		named := l.queues[name]
		if named == nil {
			return nil
		}
		q = &named.Queue
		at.Store(q)
	}
	return q
}

// jobOf finds the job of a task, nil if the ledger has nothing of it, as queueOf finds its
// queue.
func (l *Ledger) jobOf(t *TaskRequest) *book.Job {
	j := t.jobAt.Load()
	if j == nil || j.Gone {
		if j = l.jobs[t.job].record(); j != nil {
			t.jobAt.Store(j)
		}
	}
	return j
}
