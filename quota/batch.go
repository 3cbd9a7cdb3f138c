package quota

import "github.com/resvec/resvec/vector"

// EnqueueableBatch sets dst to those of the jobs, by their places in the list, that
// are Enqueueable: each alone, on one and the same state, whose number it returns.
// It is [Ledger.Enqueueable] for many jobs at a fraction of the cost, without the
// reasons; ask that one for them. [Ledger.ReserveMany] decides on jobs on top of one
// another. dst, which it resizes, must not be in use elsewhere; a job may be listed
// more than once. It changes nothing, and allocates nothing once it has grown to the
// size of its work.
func (l *Ledger) EnqueueableBatch(dst *vector.Mask, jobs []*JobRequest) (seq uint64) {
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	dst.Resize(len(jobs))
	words := dst.Words()
	for i := range words {
		words[i] = l.enqueueable(s, jobs[i*wordBits:min((i+1)*wordBits, len(jobs))])
	}
	return l.seq
}

// wordBits is how many jobs are decided on together: those of a word of a mask.
const wordBits = 64

// batch is what the jobs of a block ask for. One job waits for the memory many times,
// for its request, its queue and its cells, each of which tells where the next one is;
// so each step is made for all jobs of a block before the next one, which leaves the
// waits to overlap.
type batch struct {
	queues [wordBits]*queue
	wants  []want
	rooms  []int64             // of the wants
	first  [wordBits + 1]int32 // of the wants of each job, and their number
}

// want is a dimension that a job asks for in a queue.
type want struct {
	q   *queue
	dim int32
}

// enqueueable decides on the jobs of a block: bit i is that of jobs[i].
func (l *Ledger) enqueueable(s *scratch, jobs []*JobRequest) (word uint64) {
	b := &s.batch
	open := b.find(l, jobs)
	b.wants = b.wants[:0]
	for i, r := range jobs {
		b.first[i] = int32(len(b.wants))
		if open>>i&1 == 0 {
			continue
		}
		q := b.queues[i]
		switch own := l.ownOf(r, q); {
		case own != nil:
			open &^= 1 << i
			l.begin(&s.answer)
			if l.decideJob(&s.answer, r, q, own, &s.plan) {
				word |= 1 << i
			}
		case r.cpu == 0 && r.mem == 0 && len(r.items) == 0:
			open &^= 1 << i
			word |= 1 << i
		case q.empty:
			open &^= 1 << i
		default:
			b.list(r, q)
		}
	}
	b.first[len(jobs)] = int32(len(b.wants))
	b.gather()
	for i, r := range jobs {
		if open>>i&1 != 0 && fits(r, b.wants[b.first[i]:b.first[i+1]], b.rooms[b.first[i]:]) {
			word |= 1 << i
		}
	}
	return word
}

// find looks up the queues, and returns the jobs that these are open for.
func (b *batch) find(l *Ledger, jobs []*JobRequest) (open uint64) {
	for i, r := range jobs {
		r.of(l)
		q := l.queueOf(&r.queueAt, r.queue)
		b.queues[i] = q
		if q.admits() == None && r.invalid == "" {
			open |= 1 << i
		}
	}
	return open
}

// list appends what a job asks for: cpu and memory, and every alternative.
func (b *batch) list(r *JobRequest, q *queue) {
	b.wants = append(b.wants, want{q, dimCPU}, want{q, dimMemory})
	for i := range r.items {
		for _, dim := range r.items[i].alts.cards {
			b.wants = append(b.wants, want{q, dim})
		}
	}
}

// gather looks up the room of every want, as floorRoom does.
func (b *batch) gather() {
	b.rooms = resized(b.rooms, len(b.wants))
	for k, w := range b.wants {
		room := Unlimited
		for q := w.q; q != nil; q = q.parent {
			room = min(room, q.free[w.dim])
		}
		b.rooms[k] = room
	}
}

// fits decides on a job by its wants and their rooms.
func fits(r *JobRequest, wants []want, rooms []int64) bool {
	if r.cpu > max(rooms[0], 0) || r.mem > max(rooms[1], 0) {
		return false
	}
	at := 2
	for i := range r.items {
		it := &r.items[i]
		end := at + len(it.alts.cards)
		left, unit := it.milli, it.milli
		if it.alts.spreads(r.mix) {
			unit = it.unit
		}
		for ; at < end && left > 0; at++ {
			if rooms[at] < unit {
				continue
			}
			n := left
			if n > rooms[at] {
				n = rooms[at] - rooms[at]%unit
			}
			left -= n
			for k := end; k < len(wants); k++ { // the job's other items come on top
				if wants[k].dim == wants[at].dim {
					rooms[k] -= n
				}
			}
		}
		if left > 0 {
			return false
		}
		at = end
	}
	return true
}
