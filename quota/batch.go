package quota

import (
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/quota/internal/book"
	"github.com/resvec/resvec/vector"
)

// EnqueueableBatch is [Ledger.Enqueueable] for many jobs, without the reasons. Bit i of
// dst is the answer to jobs[i]: each job alone, all on one state, whose number it returns.
// New jobs with one item are decided on 64 at a time, others one by one, at the cost of
// Enqueueable. [Ledger.ReserveMany] decides on jobs on top of one another. dst is resized
// and must not be in use elsewhere; a job may be listed more than once. It changes
// nothing. It allocates nothing once dst is large enough, for jobs that were resolved
// since [Ledger.SetTransformation]: what outputs make of older ones is worked out anew on
// each call.
func (l *Ledger) EnqueueableBatch(dst *vector.Mask, jobs []*JobRequest) (seq uint64) {
	if dst == nil {
		panic(nilMask)
	}
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Resize(len(jobs))
	words := dst.Words()
	for i := range words {
		fetchBlocks(jobs[min((i+1)*wordBits, len(jobs)):])
		words[i] = l.enqueueable(s, jobs[i*wordBits:min((i+1)*wordBits, len(jobs))])
	}
	return l.seq
}

const nilMask = "quota: nil mask"

// fetch asks for the queue, which is needed when the job has been looked up.
func (r *JobRequest) fetch() {
	kernel.Prefetch(&[kernel.PrefetchLines]unsafe.Pointer{unsafe.Pointer(r.queueAt.Load())})
}

// fetchBlocks asks for the queues of the next block of jobs, and for the requests of the
// one after that.
func fetchBlocks(jobs []*JobRequest) {
	var f book.Fetcher
	for i, r := range jobs[:min(2*wordBits, len(jobs))] {
		switch {
		case r == nil:
		case i < wordBits:
			f.Add(unsafe.Pointer(r.queueAt.Load()))
		default:
			f.Add(unsafe.Pointer(r))
			f.Add(unsafe.Pointer(&r.one))
		}
	}
	f.Flush()
}

// AllocatableBatch is [Ledger.Allocatable] for many tasks, without the reasons. Bit i of
// dst is the answer to tasks[i]: each task alone, all on one state, whose number it
// returns. dst is resized and must not be in use elsewhere; a task may be listed more
// than once. It changes nothing. What it allocates is as of EnqueueableBatch.
func (l *Ledger) AllocatableBatch(dst *vector.Mask, tasks []*TaskRequest) (seq uint64) {
	if dst == nil {
		panic(nilMask)
	}
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Resize(len(tasks))
	s.answer.Brief = true
	words := dst.Words()
	for i, t := range tasks {
		fetchAhead(tasks, i)
		t.mustServe(l)
		if l.mayCharge(s, l.current(t), nil); s.answer.OK() {
			words[i/wordBits] |= 1 << (i % wordBits)
		}
	}
	return l.seq
}

// aheadOwn and aheadReads are how many tasks ahead memory is requested: that of a
// request, and then that of what the request reads.
const (
	aheadOwn   = 2 * kernel.PrefetchLines
	aheadReads = kernel.PrefetchLines / 2
)

// fetchAhead asks for memory of tasks that come after a place: for that of requests
// some at a time, and for what one more task reads.
func fetchAhead(tasks []*TaskRequest, i int) {
	if i%kernel.PrefetchLines == 0 {
		var where, what [kernel.PrefetchLines]unsafe.Pointer
		for k, t := range tasks[min(i+aheadOwn, len(tasks)):min(i+aheadOwn+kernel.PrefetchLines, len(tasks))] {
			if t != nil {
				where[k], what[k] = unsafe.Pointer(t), unsafe.Pointer(&t.owner)
			}
		}
		kernel.Prefetch(&where)
		kernel.Prefetch(&what)
	}
	if i+aheadReads < len(tasks) {
		if t := tasks[i+aheadReads]; t != nil {
			t.at.Fetch()
		}
	}
}

// wordBits is how many jobs are decided on together: those of a word of a mask.
const wordBits = book.Block

// enqueueable decides on the jobs of a block: bit i is that of jobs[i].
func (l *Ledger) enqueueable(s *scratch, jobs []*JobRequest) (word uint64) {
	b := &s.batch
	s.answer.Brief = true
	for i, r := range jobs {
		r.mustServe(l)
		b.Queues[i], b.Mins[i] = l.queueOf(&r.queueAt, r.queue), &l.currentJob(r).min
	}
	for i, r := range jobs {
		q := b.Queues[i]
		own := l.ownOf(r, q)
		m := b.Mins[i]
		if len(m.Items) == 1 && !m.Invalid && own == nil && q.Admits() == book.Yes && !q.Empty {
			continue
		}
		b.Queues[i] = nil
		if book.MayReserve(&s.answer, q, m, own, &s.plan) {
			word |= 1 << i
		}
	}
	return word | b.MayReserve(len(jobs))
}
