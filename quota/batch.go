package quota

import (
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/vector"
)

// EnqueueableBatch is [Ledger.Enqueueable] for many jobs, at a fraction of the cost and
// without the reasons. Bit i of dst is the answer to jobs[i]: each job alone, all on one
// state, whose number it returns. [Ledger.ReserveMany] decides on jobs on top of one
// another. dst is resized and must not be in use elsewhere; a job may be listed more
// than once. It changes nothing, and allocates nothing once dst is large enough.
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

// fetchBlocks asks for the queues of the next block of jobs, and for the requests of the
// one after that.
func fetchBlocks(jobs []*JobRequest) {
	var f fetcher
	for i, r := range jobs[:min(2*wordBits, len(jobs))] {
		switch {
		case r == nil:
		case i < wordBits:
			f.add(unsafe.Pointer(r.queueAt.Load()))
		default:
			f.add(unsafe.Pointer(r))
		}
	}
	f.flush()
}

// fetcher asks for cache lines, some at a time.
type fetcher struct {
	n  int
	at [kernel.PrefetchLines]unsafe.Pointer
}

func (f *fetcher) add(at unsafe.Pointer) {
	f.at[f.n] = at
	if f.n++; f.n == len(f.at) {
		f.flush()
	}
}

func (f *fetcher) flush() {
	kernel.Prefetch(&f.at)
	f.n = 0
}

// AllocatableBatch is [Ledger.Allocatable] for many tasks, without the reasons. Bit i of
// dst is the answer to tasks[i]: each task alone, all on one state, whose number it
// returns. dst is resized and must not be in use elsewhere; a task may be listed more
// than once. It changes nothing, and allocates nothing once dst is large enough.
func (l *Ledger) AllocatableBatch(dst *vector.Mask, tasks []*TaskRequest) (seq uint64) {
	if dst == nil {
		panic(nilMask)
	}
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Resize(len(tasks))
	words := dst.Words()
	for i, t := range tasks {
		fetchAhead(tasks, i)
		t.of(l)
		if l.allocatable(&s.answer, t, nil) {
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
			t.fetch()
		}
	}
}

// wordBits is how many jobs are decided on together: those of a word of a mask.
const wordBits = 64

// batch is what the jobs of a block ask for, and what there is of it where they ask:
// a row of each matrix per job, whose columns are cpu, memory and cards.
type batch struct {
	queues       [wordBits]*queue
	needs, rooms [columns * wordBits]float64
}

const (
	columnCPU = iota * wordBits
	columnMemory
	columnCards
	columns = iota
)

// enqueueable decides on the jobs of a block: bit i is that of jobs[i]. A job waits
// for the memory several times, for its request, its queue and its cells, each of
// which tells where the next one is; so each step is made for all jobs of a block
// before the next one, which leaves the waits to overlap.
func (l *Ledger) enqueueable(s *scratch, jobs []*JobRequest) (word uint64) {
	b := &s.batch
	for i, r := range jobs {
		r.of(l)
		b.queues[i] = l.queueOf(&r.queueAt, r.queue)
	}
	var rows [1]uint64
	for i, r := range jobs {
		q := b.queues[i]
		own := l.ownOf(r, q)
		if r.simple && own == nil && q.admits() == ReasonNone && !q.empty {
			rows[0] |= 1 << i
			continue
		}
		b.queues[i] = nil
		l.begin(&s.answer)
		if l.decideJob(&s.answer, r, q, own, &s.plan) {
			word |= 1 << i
		}
	}
	b.fetch(jobs)
	b.gather(jobs)
	kernel.AndRowsFit(rows[:], b.needs[:], wordBits, b.rooms[:], wordBits, columns)
	return word | rows[0]
}

// fetch asks for the cells that gather reads: cpu and memory, which are neighbours, and
// the first alternative, in the queue and in the one above it.
func (b *batch) fetch(jobs []*JobRequest) {
	var f fetcher
	for i, r := range jobs {
		if q := b.queues[i]; q != nil {
			card := r.buf[0].alts.cards[0]
			f.add(unsafe.Pointer(&q.cells[dimCPU]))
			f.add(unsafe.Pointer(&q.cells[card]))
			if q = q.parent; q != nil {
				f.add(unsafe.Pointer(&q.cells[card]))
			}
		}
	}
	f.flush()
}

// gather makes the rows of the requests that have a queue.
func (b *batch) gather(jobs []*JobRequest) {
	for i, r := range jobs {
		if q := b.queues[i]; q != nil {
			b.needs[columnCPU+i], b.rooms[columnCPU+i] = float64(r.cpu), float64(q.leastFree(dimCPU))
			b.needs[columnMemory+i], b.rooms[columnMemory+i] = float64(r.mem), float64(q.leastFree(dimMemory))
		}
	}
	for i, r := range jobs {
		if q := b.queues[i]; q != nil {
			it := &r.buf[0]
			b.needs[columnCards+i], b.rooms[columnCards+i] = float64(it.milli), float64(it.room(q, r.mix))
		}
	}
}

// room returns the most that an item alone could have: of one card, or whole units of
// all if it may be mixed.
func (it *jobItem) room(q *queue, mix Mix) (room int64) {
	for _, dim := range it.alts.cards {
		free := q.leastFree(dim)
		if it.alts.spreads(mix) {
			room = addSaturated(room, wholeUnits(free, 0, it.unit))
		} else {
			room = max(room, free)
		}
	}
	return room
}
