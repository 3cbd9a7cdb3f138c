package quota

import (
	"cmp"
	"sync/atomic"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
)

// TaskRequest is a resolved task. [Ledger.ResolveTask] makes it for that ledger;
// another ledger panics. It may be used from several goroutines. Resolve again when the
// catalogue has changed. Nil panics. The zero value is of no queue.
type TaskRequest struct {
	// The first cache line says where a decision looks, so that it can ask for all of
	// it at once, and the second what for.
	queueAt atomic.Pointer[queue] // where they were found last
	jobAt   atomic.Pointer[job]
	cellsAt [kernel.PrefetchLines - 2]atomic.Pointer[cell] // for fetch alone

	owner    *Ledger // nil: any
	cpu, mem int64
	simple   bool        // it is valid, not bound, and buf is all that items has
	buf      [1]taskItem // of items, if it is simple

	items   []taskItem
	bound   *cardSet // the cards of the node that the task is bound to; nil: it isn't
	invalid string   // why the request can't be told; empty: it can

	id, job, queue string
	_              [16]byte // keeps the next request's lines lines
}

type taskItem struct {
	alts     *alternatives
	milli    int64
	resource corev1.ResourceName // that carries the cards; empty: claims do
	ranks    string              // places of alts in what the user listed, a byte each; empty: nothing was left out
}

// JobRequest is a resolved job. [Ledger.ResolveJob] makes it for that ledger; another
// ledger panics. It may be used from several goroutines. Nil panics. The zero value is of
// no queue.
type JobRequest struct {
	// What most decisions of a batch read is in the first cache line, as in a task's.
	queueAt  atomic.Pointer[queue]
	absent   atomic.Uint64 // what tells that the queue has no record of the job, see ownOf
	owner    *Ledger       // nil: any
	cpu, mem int64
	mix      Mix
	simple   bool       // it is valid, and buf is all that items has
	buf      [1]jobItem // of items, if it is simple

	items   []jobItem // singles by name, then the others by key and unit
	invalid string

	id, queue string
	_         [48]byte // keeps the next request's first line one line
}

type jobItem struct {
	alts        *alternatives
	milli, unit int64
}

// of panics unless l can use the request, which comes before the lock: a panic
// behind it would leave the ledger locked.
func (t *TaskRequest) of(l *Ledger) { l.serves(t.some().owner) }

// some returns the request, and panics if it is nil.
func (t *TaskRequest) some() *TaskRequest {
	if t == nil {
		panic("quota: nil request")
	}
	return t
}

// of is as that of a task.
func (r *JobRequest) of(l *Ledger) { l.serves(r.some().owner) }

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

const (
	dimCPU    = int32(vectormap.CPU)
	dimMemory = int32(vectormap.Memory)
)

// settle ends the making of a request: a single item comes into the request's own
// memory, where decisions find it sooner.
func (t *TaskRequest) settle() {
	t.items = beside(t.items, &t.buf)
	t.simple = len(t.items) == 1 && t.bound == nil && t.invalid == ""
}

// settle is as that of a task.
func (r *JobRequest) settle() {
	r.items = beside(r.items, &r.buf)
	r.simple = len(r.items) == 1 && r.invalid == ""
}

// beside returns items, a single one in a request's own memory.
func beside[T any](items []T, buf *[1]T) []T {
	if len(items) != 1 {
		return items
	}
	return append(buf[:0], items...)
}

// queueOf finds the queue of a handle.
func (l *Ledger) queueOf(at *atomic.Pointer[queue], name string) *queue {
	if q := at.Load(); q != nil && !q.gone {
		return q
	}
	return l.lookUpQueue(at, name)
}

// fetch asks for the memory that a decision is going to read: with many jobs it is in
// no cache, and one part would be waited for after the other. It comes before the
// lock, since it reads nothing but the request.
func (t *TaskRequest) fetch() {
	at := [kernel.PrefetchLines]unsafe.Pointer{unsafe.Pointer(t.queueAt.Load()), unsafe.Pointer(t.jobAt.Load())}
	for i := range t.cellsAt {
		at[2+i] = unsafe.Pointer(t.cellsAt[i].Load())
	}
	kernel.Prefetch(&at)
}

// fetch asks for the queue, which is needed when the job has been looked up.
func (r *JobRequest) fetch() {
	kernel.Prefetch(&[kernel.PrefetchLines]unsafe.Pointer{unsafe.Pointer(r.queueAt.Load())})
}

// find looks up what decisions on a task read, so that the first one needn't.
func (l *Ledger) find(t *TaskRequest) {
	l.rlock()
	defer l.mu.RUnlock()
	if q := l.lookUpQueue(&t.queueAt, t.queue); q != nil {
		t.near(q)
	}
	l.lookUpJob(t)
}

// findQueue is find for a job.
func (l *Ledger) findQueue(r *JobRequest) {
	l.rlock()
	defer l.mu.RUnlock()
	l.lookUpQueue(&r.queueAt, r.queue)
}

// near notes the cells that decisions read in a queue: those of cpu and memory, which
// are neighbours, and those of the alternatives of the first item, here and above, as
// far as there are places for them.
func (t *TaskRequest) near(q *queue) {
	first := &q.cells[dimCPU]
	if t.cellsAt[0].Load() == first {
		return
	}
	t.cellsAt[0].Store(first)
	if len(t.items) == 0 {
		return
	}
	n := 1
	for ; q != nil; q = q.parent {
		for _, dim := range t.items[0].alts.cards {
			if n == len(t.cellsAt) {
				return
			}
			t.cellsAt[n].Store(&q.cells[dim])
			n++
		}
	}
}

func (l *Ledger) lookUpQueue(at *atomic.Pointer[queue], name string) *queue {
	q := l.queues[name]
	if q != nil {
		at.Store(q)
	}
	return q
}

// jobOf finds the job of a task, nil if the ledger has nothing of it.
func (l *Ledger) jobOf(t *TaskRequest) *job {
	if j := t.jobAt.Load(); j != nil && !j.gone {
		return j
	}
	return l.lookUpJob(t)
}

func (l *Ledger) lookUpJob(t *TaskRequest) *job {
	j := l.jobs[t.job]
	if j != nil {
		t.jobAt.Store(j)
	}
	return j
}

// ownOf returns what the queue of a job, which may be nil, has of it already.
func (l *Ledger) ownOf(r *JobRequest, q *queue) *job {
	if q == nil || r.absent.Load() == q.arrived+1 {
		return nil
	}
	j := l.jobs[r.id].in(q)
	if j == nil {
		r.absent.Store(q.arrived + 1)
	}
	return j
}

// compareItems orders the items of a job: singles by name, then the others by key
// and unit.
func compareItems(a, b jobItem) int {
	if a.alts.multi() != b.alts.multi() {
		if b.alts.multi() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.alts.key, b.alts.key), cmp.Compare(a.unit, b.unit))
}
