package quota

import (
	"cmp"
	"math"

	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vectormap"
)

// The records of the book with what it doesn't know of them: their names, and what
// Reconcile has seen.

// queue is the book's record of a queue, with what was configured. A queue that is set
// again keeps its record: jobs and requests point to it.
type queue struct {
	book.Queue // its Tag is this record
	spec       builtQueue
	refusals   map[Reason]uint64
	named      *book.Set // what the quota of it or of a queue above names, faulty or not; nil: everything
	limited    *book.Set // of a leaf without a quota: what queues above name; nil: it has one
	unreadable bool      // the quota of it or of a queue above can't be read, which limits every card
}

// recordOf returns the record of a queue, which may be nil.
func recordOf(q *book.Queue) *queue {
	if q == nil {
		return nil
	}
	return q.Tag.(*queue)
}

// queueName returns the name of a queue; empty of nil.
func queueName(q *book.Queue) string {
	if q == nil {
		return ""
	}
	return recordOf(q).spec.Name
}

// job is the book's record of a job, with its id and with when it was reserved, by which
// Expire goes.
type job struct {
	book.Job
	id  string
	seq uint64 // of the reservation
}

// record returns what the book has of the job, which may be nil. So what a map doesn't have
// needs no test of its own.
func (j *job) record() *book.Job {
	if j == nil {
		return nil
	}
	return &j.Job
}

// task is the book's record of a charged task. What is pending has none, since it is in no
// sum.
type task struct {
	book.Task // its Tag is this record
	id, job   string
	seq       uint64
	state     taskState
	site      *site // where it is charged; nil: that isn't known
}

// taskOf returns the record of a task.
func taskOf(t *book.Task) *task { return t.Tag.(*task) }

// tasks returns the tasks of a job in commit order.
func (j *job) tasks() func(yield func(*task) bool) {
	return func(yield func(*task) bool) {
		for t := j.First; t != nil; t = t.Next {
			if !yield(taskOf(t)) {
				return
			}
		}
	}
}

// taskState says what a view has shown of a task. A charge that was confirmed and is
// missing has gone; one that was never confirmed may be too new for the view.
type taskState uint8

const (
	taskPending   taskState = iota // seen by Reconcile; counts in request only
	taskCommitted                  // charged, not yet seen
	taskConfirmed                  // charged and seen
)

// isOutput reports whether an item of the book is an output.
func isOutput(alts *book.Alternatives) bool { return alts.Anywhere }

// keyOf returns the names of alternatives, joined.
func keyOf(alts *book.Alternatives) string { return alts.Tag.(string) }

const (
	dimCPU    = book.CPU
	dimMemory = book.Memory
)

// The map has cpu and memory where the book has them.
var _ = [1]struct{}{}[vectormap.CPU-dimCPU|vectormap.Memory-dimMemory]

// limitExact is where integers stop being exact in a float64.
const limitExact = book.LimitExact

// maxJobItems is how many items a job may have.
const maxJobItems = book.MaxItems

// newJob makes a record.
func (l *Ledger) newJob(id string, q *book.Queue) *job {
	j := &job{id: id}
	// Until it is reserved: a task may be charged before its job has a min that says
	// otherwise.
	j.AnyMix = l.cfg.AnyMix
	l.jobs[id] = j
	l.book.AddJob(&j.Job, q)
	return j
}

// newTask makes a record of a task that is about to be charged.
func newTask(id, job string, j *book.Job, seq uint64, state taskState) *task {
	t := &task{id: id, job: job, seq: seq, state: state}
	t.Job, t.Tag = j, t
	return t
}

// forget drops what a job had if the book has dropped it.
func (l *Ledger) forget(j *job) {
	if j.Gone {
		delete(l.jobs, j.id)
	}
}

// exact reports whether an amount is one that a ledger can hold.
func exact(amount int64) bool { return 0 <= amount && amount < limitExact }

// addExact adds an amount, unless the sum would reach 2^53. So written the sum can't
// overflow before it is compared.
func addExact(to *int64, amount int64) bool {
	if *to > limitExact-1-amount {
		return false
	}
	*to += amount
	return true
}

func (q *builtQueue) guarantee(dim int) int64 { return amountAt(q.Guarantee, dim) }

// amountAt returns an element of a checked vector.
func amountAt(v []float64, dim int) int64 {
	switch {
	case dim >= len(v):
		return 0
	case math.IsInf(v[dim], 1):
		return Unlimited
	}
	return int64(v[dim])
}

// compareItems orders the items of a job: single cards by name, then the others by key and
// unit, then outputs by name. Items with one card come before those that have a choice,
// which can leave it to them.
func compareItems(a, b book.MinItem) int {
	place := func(alts *book.Alternatives) int {
		switch {
		case isOutput(alts):
			return 2
		case alts.Multi():
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(place(a.Alts), place(b.Alts)), cmp.Compare(keyOf(a.Alts), keyOf(b.Alts)), cmp.Compare(a.Unit, b.Unit))
}
