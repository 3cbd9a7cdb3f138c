package quota

import (
	"fmt"
	"sync/atomic"

	"github.com/resvec/resvec/quota/internal/book"
	corev1 "k8s.io/api/core/v1"
)

// TaskRequest is a resolved task. It panics in another ledger than its own. Resolve again
// when the catalog has changed. The zero value is of no queue.
type TaskRequest struct {
	// What decisions read comes first.
	owner *Ledger // nil: any
	// Questions write them while they only read the ledger. A record that has gone says so,
	// and is looked up again by its name.
	queueAt atomic.Pointer[book.Queue] // where they were found last
	jobAt   atomic.Pointer[book.Job]
	bound   *book.Set // the cards of the node that the task is bound to; nil: it isn't
	use     book.Use

	id, job, queue string
	node           string   // that the task is bound to; empty: it isn't, or has no cards
	sources        []source // of the items
	fault
	requests corev1.ResourceList // what the items that are outputs were made of
}

// source is where an item of a task comes from.
type source struct {
	resource corev1.ResourceName // that carries the cards; empty: claims do
	ranks    string              // places of the cards in what the user listed, a byte each; empty: nothing was left out
}

// JobRequest is a resolved job, as [TaskRequest] is a resolved task.
type JobRequest struct {
	// What decisions read comes first.
	owner     *Ledger                    // nil: any
	queueAt   atomic.Pointer[book.Queue] // where it was found last
	id, queue string
	min       book.Min

	fault
}

// fault is what is wrong with a request.
type fault struct {
	invalid string // empty: it is valid
	lost    bool   // its queue wasn't there when it was resolved
	meant   string // asks which queue is, if one has a similar name
}

// fail makes a request invalid, for the first reason there is. The first is what the user
// can mend first; others may follow from it.
func (f *fault) fail(format string, args ...any) {
	if f.invalid == "" {
		f.invalid = fmt.Sprintf(format, args...)
	}
}

// text says what is wrong with a request of a queue, nil until it was found. That it wasn't comes
// first: which cards are known, for one, hangs on the queue.
func (f *fault) text(queue string, found *book.Queue) string {
	if f.invalid == "" || !f.lost || found != nil {
		return f.invalid
	}
	return noQueue(queue, f.meant) + "; " + f.invalid
}
