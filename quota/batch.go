package quota

import "github.com/resvec/resvec/vector"

// EnqueueableBatch is Enqueueable for many jobs, each alone, on one state: bit i of dst,
// which is resized, is the answer to jobs[i].
func (l *Ledger) EnqueueableBatch(dst *vector.Mask, jobs []*JobRequest) (seq uint64) {
	for _, r := range jobs {
		l.serves(r.owner)
	}
	return l.batch(dst, len(jobs), func(s *scratch, i int) { l.mayReserve(s, jobs[i]) })
}

// AllocatableBatch is EnqueueableBatch for Allocatable.
func (l *Ledger) AllocatableBatch(dst *vector.Mask, tasks []*TaskRequest) (seq uint64) {
	for _, t := range tasks {
		l.serves(t.owner)
	}
	return l.batch(dst, len(tasks), func(s *scratch, i int) { l.mayCharge(s, tasks[i], nil) })
}

// batch sets the bits of those of n questions whose answer is yes.
func (l *Ledger) batch(dst *vector.Mask, n int, decide func(s *scratch, i int)) (seq uint64) {
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Reset(n)
	// All at once: goroutines that ask in batches don't meet here for each question.
	l.counts.questions.Add(uint64(n))
	for i := range n {
		if decide(s, i); s.answer.OK() {
			dst.Set(i)
		}
	}
	return l.seq
}
