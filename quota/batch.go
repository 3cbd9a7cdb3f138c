package quota

import "github.com/resvec/resvec/vector"

// EnqueueableBatch is Enqueueable for many jobs, each alone, on one state: bit i of dst,
// which is resized, is the answer to jobs[i].
func (l *Ledger) EnqueueableBatch(dst *vector.Mask, jobs []*JobRequest) (seq uint64) {
	for _, r := range jobs {
		l.serves(r.owner)
	}
	find := func(i int) { l.queueOf(&jobs[i].queueAt, jobs[i].queue) }
	return l.batch(dst, len(jobs), find, func(s *scratch, i int) { l.mayReserve(s, jobs[i]) })
}

// AllocatableBatch is EnqueueableBatch for Allocatable.
func (l *Ledger) AllocatableBatch(dst *vector.Mask, tasks []*TaskRequest) (seq uint64) {
	for _, t := range tasks {
		l.serves(t.owner)
	}
	find := func(i int) {
		l.queueOf(&tasks[i].queueAt, tasks[i].queue)
		l.jobOf(tasks[i])
	}
	return l.batch(dst, len(tasks), find, func(s *scratch, i int) { l.mayCharge(s, tasks[i], nil) })
}

// findAhead is how many questions find their records before the first of them is decided.
const findAhead = 256

// batch sets the bits of those of n questions whose answer is yes.
func (l *Ledger) batch(dst *vector.Mask, n int, find func(i int), decide func(s *scratch, i int)) (seq uint64) {
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Reset(n)
	// All at once: goroutines that ask in batches don't meet here for each question.
	l.counts.questions.Add(uint64(n))
	for i := range n {
		if i%findAhead == 0 {
			// The records lie anywhere in memory. It is asked for many of them at a time, and a
			// decision would wait for each of its own.
			for k := i; k < min(i+findAhead, n); k++ {
				find(k)
			}
		}
		if decide(s, i); s.answer.OK() {
			dst.Set(i)
		}
	}
	return l.seq
}
