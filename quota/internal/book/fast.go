package book

import (
	"sync/atomic"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
)

// This file is what is there for speed alone. Two benchmarks of package quota measure what
// it saves where little of what a decision reads is in a cache: BenchmarkAllocatableBatch
// for Handle, Fetcher and only, BenchmarkEnqueueableBatch for Batch. See
// docs/benchmarks.md.
//
// Batch decides as MayReserve does; FuzzEnqueueableBatch compares them. The layout of
// Job, Queue and the requests keeps what decisions read in whole cache lines; TestLayout
// keeps the layout.

// only returns the item that a task's alternatives count against, if it is all that the
// job has, and nil where Match has to look. Most jobs have one item, and it is in the
// first cache line of the job.
func (j *Job) only(alts *Alternatives, taken uint64) *Item {
	if j.single && j.one.Alts == alts && taken == 0 {
		return &j.one
	}
	return nil
}

// Handle is where decisions on a task look: it is a cache line, so that a decision can
// ask for all that it is going to read at once.
type Handle struct {
	Queue atomic.Pointer[Queue] // where they were found last
	Job   atomic.Pointer[Job]
	cells [kernel.PrefetchLines - 2]atomic.Pointer[Cell] // for Fetch alone
}

// Note notes the cells that decisions on a use read in a queue: those of cpu and memory,
// which are neighbours, and those of the alternatives of the first item, here and above,
// as far as there are places for them.
func (h *Handle) Note(q *Queue, u *Use) {
	first := &q.Cells[CPU]
	if h.cells[0].Load() == first {
		return
	}
	h.cells[0].Store(first)
	if len(u.Items) == 0 {
		return
	}
	n := 1
	for ; q != nil; q = q.Parent {
		for _, dim := range u.Items[0].Alts.Cards {
			if n == len(h.cells) {
				return
			}
			h.cells[n].Store(&q.Cells[dim])
			n++
		}
	}
}

// Fetch asks for the memory that a decision is going to read: with many jobs it is in
// no cache, and one part would be waited for after the other. It comes before the
// lock, since it reads nothing but the handle.
func (h *Handle) Fetch() {
	at := [kernel.PrefetchLines]unsafe.Pointer{unsafe.Pointer(h.Queue.Load()), unsafe.Pointer(h.Job.Load())}
	for i := range h.cells {
		at[2+i] = unsafe.Pointer(h.cells[i].Load())
	}
	kernel.Prefetch(&at)
}

// Fetcher asks for cache lines, some at a time.
type Fetcher struct {
	n  int
	at [kernel.PrefetchLines]unsafe.Pointer
}

// Add asks for a line, at the latest with the next Flush.
func (f *Fetcher) Add(at unsafe.Pointer) {
	f.at[f.n] = at
	if f.n++; f.n == len(f.at) {
		f.Flush()
	}
}

// Flush asks for the lines that were added.
func (f *Fetcher) Flush() {
	kernel.Prefetch(&f.at)
	f.n = 0
}

// Block is how many jobs are decided on together: those of a word of a mask.
const Block = 64

// Batch is what the jobs of a block ask for, and what there is of it where they ask:
// a row of each matrix per job, whose columns are cpu, memory and cards. Jobs without a
// queue are left out.
type Batch struct {
	Queues [Block]*Queue
	Mins   [Block]*Min

	needs, rooms [columns * Block]float64
}

const (
	columnCPU = iota * Block
	columnMemory
	columnCards
	columns = iota
)

// MayReserve decides on the first n jobs of a block that have a queue, each of which has
// one item and no record: bit i is that of job i. A job waits for memory several times: for
// its request, its queue and its cells, each of which says where the next one is. So each
// step is made for all jobs of a block before the next one, and the waits overlap.
func (b *Batch) MayReserve(n int) uint64 {
	b.fetch(n)
	var rows [1]uint64
	for i, q := range b.Queues[:n] {
		if q != nil {
			rows[0] |= 1 << i
		}
	}
	b.fillRows(n)
	kernel.AndRowsFit(rows[:], b.needs[:], Block, b.rooms[:], Block, columns)
	return rows[0]
}

// fetch asks for the cells that fillRows reads: cpu and memory, which are neighbours, and
// the first alternative, in the queue and in the one above it.
func (b *Batch) fetch(n int) {
	var f Fetcher
	for i, q := range b.Queues[:n] {
		if q != nil {
			card := b.Mins[i].Items[0].Alts.Cards[0]
			f.Add(unsafe.Pointer(&q.Cells[CPU]))
			f.Add(unsafe.Pointer(&q.Cells[card]))
			if q = q.Parent; q != nil {
				f.Add(unsafe.Pointer(&q.Cells[card]))
			}
		}
	}
	f.Flush()
}

// fillRows makes the rows of the jobs that have a queue.
func (b *Batch) fillRows(n int) {
	for i, q := range b.Queues[:n] {
		if q != nil {
			m := b.Mins[i]
			b.needs[columnCPU+i], b.rooms[columnCPU+i] = float64(m.CPU), float64(q.leastFloorFree(CPU))
			b.needs[columnMemory+i], b.rooms[columnMemory+i] = float64(m.Memory), float64(q.leastFloorFree(Memory))
		}
	}
	for i, q := range b.Queues[:n] {
		if q != nil {
			m := b.Mins[i]
			b.needs[columnCards+i], b.rooms[columnCards+i] = float64(m.Items[0].Amount), float64(m.Items[0].room(q, m.AnyMix))
		}
	}
}

// room returns the most that an item alone could have: of one card, or whole units of
// all if it may be mixed.
func (it *MinItem) room(q *Queue, anyMix bool) (room int64) {
	for _, dim := range it.Alts.Cards {
		free := q.leastFloorFree(dim)
		if it.Alts.spreads(anyMix) {
			room = AddSaturated(room, wholeUnits(free, 0, it.Unit))
		} else {
			room = max(room, free)
		}
	}
	return room
}

// leastFloorFree returns what the limits leave of the floor: floorRoom of a job that isn't
// there yet, without the level.
func (q *Queue) leastFloorFree(dim int32) int64 {
	free := q.Cells[dim].floorFree()
	for q = q.Parent; q != nil; q = q.Parent {
		free = min(free, q.Cells[dim].floorFree())
	}
	return free
}

// HotJob and HotQueue are how many bytes decisions read of a job and of a queue, from
// their beginning.
const (
	HotJob   = unsafe.Offsetof(Job{}.one) + unsafe.Offsetof(Item{}.Spread)
	HotQueue = unsafe.Offsetof(Queue{}.Real)
)
