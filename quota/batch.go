package quota

import (
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vector"
)

// EnqueueableBatch is Enqueueable for many jobs, each alone, on one state: bit i of dst,
// which is resized, is the answer to jobs[i].
func (l *Ledger) EnqueueableBatch(dst *vector.Mask, jobs []*JobRequest) (seq uint64) {
	for _, r := range jobs {
		l.serves(r.owner)
	}
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	// No reasons: most callers ask again about the few that they want to know more of.
	s.answer.Brief = true
	// All bits are 0 after it, as those of refused jobs stay.
	dst.Reset(len(jobs))
	l.counts.questions.Add(uint64(len(jobs)))
	for i, r := range jobs {
		q := l.queueOf(&r.queueAt, r.queue)
		if book.MayReserve(&s.answer, q, &r.min, l.ownOf(r, q), &s.plan) {
			dst.Set(i)
		}
	}
	return l.seq
}

// AllocatableBatch is EnqueueableBatch for Allocatable.
func (l *Ledger) AllocatableBatch(dst *vector.Mask, tasks []*TaskRequest) (seq uint64) {
	for _, t := range tasks {
		l.serves(t.owner)
	}
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	s.answer.Brief = true
	dst.Reset(len(tasks))
	// All at once: goroutines that ask in batches don't meet here for each task.
	l.counts.questions.Add(uint64(len(tasks)))
	for i, t := range tasks {
		if l.mayCharge(s, t, nil); s.answer.OK() {
			dst.Set(i)
		}
	}
	return l.seq
}
