package quota

import (
	"cmp"
	"sync/atomic"

	"github.com/resvec/resvec/quota/internal/book"
	corev1 "k8s.io/api/core/v1"
)

// TaskRequest is a resolved task. [Ledger.ResolveTask] makes it for that ledger;
// another ledger panics. It may be used from several goroutines. Resolve again when the
// catalog has changed, or the map has got its first outputs. A new transformation counts without
// that. Nil panics. The zero value is of no queue.
type TaskRequest struct {
	// The first cache line says where a decision looks, so that it can ask for all of
	// it at once, and the second what for, up to the length of use.Items.
	at    book.Handle
	owner *Ledger         // nil: any
	one   [1]book.UseItem // behind use.Items, if there is one
	use   book.Use

	bound   *book.Set // the cards of the node that the task is bound to; nil: it isn't
	sources []source  // of the items
	invalid string    // why the request is invalid; empty: it is valid

	id, job, queue string

	// requests are what the items that are outputs were made of, by outs; nil outs: of a
	// test.
	requests corev1.ResourceList
	outs     *outputs
	plain    *TaskRequest // without outputs, if nothing but these is invalid; nil otherwise
}

// source is where an item of a task comes from.
type source struct {
	resource corev1.ResourceName // that carries the cards; empty: claims do
	ranks    string              // places of the cards in what the user listed, a byte each; empty: nothing was left out
}

// JobRequest is a resolved job. [Ledger.ResolveJob] makes it for that ledger; another
// ledger panics. It may be used from several goroutines. Nil panics. The zero value is of
// no queue.
type JobRequest struct {
	// What most decisions of a batch read is in the first two cache lines.
	queueAt atomic.Pointer[book.Queue]
	absent  atomic.Uint64 // what tells that the queue has no record of the job, see ownOf
	owner   *Ledger       // nil: any
	min     book.Min
	one     [1]book.MinItem // behind min.Items, if there is one

	invalid   string
	id, queue string
	pods      []pods      // what the items that are outputs were made of, by outs; nil: they were given
	outs      *outputs    // nil: of a test
	plain     *JobRequest // as that of a task
	_         [8]byte     // keeps the next request's first line one line
}

// mustServe panics unless l can use the request, which comes before the lock: a panic
// behind it would leave the ledger locked.
func (t *TaskRequest) mustServe(l *Ledger) { l.serves(t.some().owner) }

// some returns the request, and panics if it is nil.
func (t *TaskRequest) some() *TaskRequest {
	if t == nil {
		panic("quota: nil request")
	}
	return t
}

// mustServe is as that of a task.
func (r *JobRequest) mustServe(l *Ledger) { l.serves(r.some().owner) }

// some returns the request, and panics if it is nil.
func (r *JobRequest) some() *JobRequest {
	if r == nil {
		panic("quota: nil request")
	}
	return r
}

// serves panics if requests of a ledger, nil for any, are not for this one: their
// cards and their queue are those of the other.
func (l *Ledger) serves(owner *Ledger) {
	l.made()
	if owner != l && owner != nil {
		panic("quota: request of another ledger")
	}
}

// complete ends the making of a request: a single item comes into the request's own
// memory, where decisions find it sooner.
func (t *TaskRequest) complete() {
	t.use.Items = inline(t.use.Items, &t.one)
	t.use.Invalid = t.invalid != ""
}

// complete is as that of a task.
func (r *JobRequest) complete() {
	r.min.Items = inline(r.min.Items, &r.one)
	r.min.Invalid = r.invalid != ""
}

// inline returns items, a single one in a request's own memory.
func inline[T any](items []T, buf *[1]T) []T {
	if len(items) != 1 {
		return items
	}
	return append(buf[:0], items...)
}

// queueOf finds the queue of a handle.
func (l *Ledger) queueOf(at *atomic.Pointer[book.Queue], name string) *book.Queue {
	if q := at.Load(); q != nil && !q.Gone {
		return q
	}
	return l.lookUpQueue(at, name)
}

// find looks up what decisions on a task read, so that the first one needn't.
func (l *Ledger) find(t *TaskRequest) {
	l.rlock()
	defer l.mu.RUnlock()
	if q := l.lookUpQueue(&t.at.Queue, t.queue); q != nil {
		t.at.Note(q, &t.use)
	}
	l.lookUpJob(t)
}

// findQueue is find for a job.
func (l *Ledger) findQueue(r *JobRequest) {
	l.rlock()
	defer l.mu.RUnlock()
	l.lookUpQueue(&r.queueAt, r.queue)
}

func (l *Ledger) lookUpQueue(at *atomic.Pointer[book.Queue], name string) *book.Queue {
	q := l.queues[name]
	if q == nil {
		return nil
	}
	at.Store(&q.Queue)
	return &q.Queue
}

// jobOf finds the job of a task, nil if the ledger has nothing of it.
func (l *Ledger) jobOf(t *TaskRequest) *book.Job {
	if j := t.at.Job.Load(); j != nil && !j.Gone {
		return j
	}
	return l.lookUpJob(t)
}

func (l *Ledger) lookUpJob(t *TaskRequest) *book.Job {
	j := l.jobs[t.job]
	if j == nil {
		return nil
	}
	t.at.Job.Store(&j.Job)
	return &j.Job
}

// ownOf returns what the queue of a job, which may be nil, has of it already.
func (l *Ledger) ownOf(r *JobRequest, q *book.Queue) *book.Job {
	if q == nil || r.absent.Load() == q.Arrived()+1 {
		return nil
	}
	j := l.jobs[r.id].in(q)
	if j == nil {
		r.absent.Store(q.Arrived() + 1)
	}
	return j
}

// compareItems orders the items of a job: single cards by name, then the others by key
// and unit, then outputs by name.
func compareItems(a, b book.MinItem) int {
	if isOutput(a.Alts) != isOutput(b.Alts) {
		if isOutput(b.Alts) {
			return -1
		}
		return 1
	}
	if a.Alts.Multi() != b.Alts.Multi() {
		if b.Alts.Multi() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(keyOf(a.Alts), keyOf(b.Alts)), cmp.Compare(a.Unit, b.Unit))
}
