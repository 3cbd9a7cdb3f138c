package quota

import (
	"iter"
	"sync/atomic"
)

// counts is what a ledger has done. Questions that run at the same time all add to it, as all
// of them write to the ledger's lock.
type counts struct{ questions, operations, refused, snapshots atomic.Uint64 }

// Counters yields what the ledger has done since it was made, by names for Prometheus:
// questions, each of a batch; operations, calls that may change it; refused of these;
// snapshots; maybe more later. It takes no lock.
func (l *Ledger) Counters() iter.Seq2[string, uint64] {
	l.made()
	return func(yield func(string, uint64) bool) {
		_ = yield("questions", l.counts.questions.Load()) &&
			yield("operations", l.counts.operations.Load()) &&
			yield("refused", l.counts.refused.Load()) &&
			yield("snapshots", l.counts.snapshots.Load())
	}
}
