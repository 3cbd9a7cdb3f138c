package quota

import (
	"iter"
	"sync/atomic"
)

// counts is what a ledger has done. Questions that run at the same time all add to it, as all
// of them write to the ledger's lock.
type counts struct{ questions, operations, refused, snapshots atomic.Uint64 }

// Counters yields what the ledger has done since it was made, by names in the form of
// Prometheus:
//
//   - questions: of Enqueueable, Allocatable and AllocatableOn, each of a batch, and of
//     JobCopies and TaskCopies;
//   - operations: calls that may change the ledger, such as Reserve or SetQueues;
//   - refused: operations that were refused, which [QueueStatus] counts by queue and reason;
//   - snapshots: calls of Snapshot.
//
// Later versions may yield more. It takes no lock.
func (l *Ledger) Counters() iter.Seq2[string, uint64] {
	l.made()
	return func(yield func(string, uint64) bool) {
		_ = yield("questions", l.counts.questions.Load()) &&
			yield("operations", l.counts.operations.Load()) &&
			yield("refused", l.counts.refused.Load()) &&
			yield("snapshots", l.counts.snapshots.Load())
	}
}
