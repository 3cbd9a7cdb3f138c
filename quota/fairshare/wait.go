package fairshare

import (
	"container/heap"
	"slices"
)

// line is the jobs that wait, those of each leaf in a heap: to add one or take any out costs
// the logarithm of their number, and nothing is sorted anew. What a rollback restores is the
// set of jobs, in any order in the heap; their order follows from the jobs alone.
type line struct {
	jobs     []job
	requests []int64    // of each job, a row
	leaves   []leafLine // per row
	gone     []int32    // jobs that are gone and may come back by a rollback
	free     []int32
	came     int64
}

// leafLine is the jobs of a leaf: those that wait, a heap with the next at the front, and
// behind them those that were skipped. So a job that is skipped, or waits again, moves by one
// swap, and a leaf knows its own jobs.
type leafLine struct {
	t     *Tree
	jobs  []int32
	waits int // how many wait
}

// A leafLine is a heap.Interface. Push takes the first job behind the heap, and Pop leaves one
// there.
func (q *leafLine) Len() int           { return q.waits }
func (q *leafLine) Less(i, k int) bool { return q.t.sooner(q.jobs[i], q.jobs[k]) }
func (q *leafLine) Push(any)           { q.waits++ }
func (q *leafLine) Pop() any           { q.waits--; return nil }

func (q *leafLine) Swap(i, k int) {
	q.jobs[i], q.jobs[k] = q.jobs[k], q.jobs[i]
	q.t.line.jobs[q.jobs[i]].place, q.t.line.jobs[q.jobs[k]].place = int32(i), int32(k)
}

// waiting returns the jobs of a leaf that wait, the next at the front.
func (l *line) waiting(leaf int32) []int32 {
	q := &l.leaves[leaf]
	return q.jobs[:q.waits]
}

type job struct {
	leaf          int32
	place         int32 // among the jobs of its leaf
	state         jobState
	unpreemptible bool
	hasPriority   bool
	hasAge        bool
	priority, age int64
	came          int64 // orders jobs that are equal otherwise
}

// jobState is where a job is. Only these changes are journalled: amounts follow from them and from
// the request, which a job keeps as long as its number.
type jobState uint8

const (
	noJob     jobState = iota
	waits              // in the heap of its leaf
	isSkipped          // behind the heap: it counts as wanted, and isn't served
	hasGone            // it is admitted or withdrawn
)

const panicJob = "fairshare: no such job waits"

func (t *Tree) requested(id int32) []int64 { return t.line.requests[int(id)*t.cols:][:t.cols] }

// Wait lets a job wait in a leaf, and returns its number. What it requests is wanted from
// now on. With an error nothing has changed.
func (t *Tree) Wait(row int, j Job) (id int, err error) {
	leaf, request, err := t.request(row, &j)
	if err != nil {
		return -1, err
	}
	if err := t.moveAll(leaf, func(k int) delta { return delta{waiting: request[k]} }); err != nil {
		return -1, err
	}
	l := &t.line
	// Numbers are used again, the last one first, so that they stay small and their memory in cache.
	if n := len(l.free); n > 0 {
		id, l.free = int(l.free[n-1]), l.free[:n-1]
	} else {
		id = len(l.jobs)
		l.jobs = append(l.jobs, job{})
		l.requests = grown(l.requests, (id+1)*t.cols)
	}
	is := job{leaf: leaf, unpreemptible: j.Unpreemptible, came: l.came}
	l.came++
	// Where there is none the leaf's counts at the time of asking: it may change while the job
	// waits.
	if j.Priority != nil {
		is.priority, is.hasPriority = *j.Priority, true
	}
	if j.Age != nil {
		is.age, is.hasAge = *j.Age, true
	}
	l.jobs[id] = is
	copy(t.requested(int32(id)), request)
	t.change(int32(id), waits)
	return id, nil
}

// waitingJob panics on a number of no job that waits or was skipped.
func (t *Tree) waitingJob(id int) int32 {
	if uint(id) >= uint(len(t.line.jobs)) || t.line.jobs[id].state != waits && t.line.jobs[id].state != isSkipped {
		panic(panicJob)
	}
	return int32(id)
}

// Admit lets a job start: it waits no longer, and its leaf has what it requests. The number
// is free for another job then, as after Withdraw. To end the job, [Tree.Forget] it. With an
// error, an [*vector.AmountError], nothing has changed: what a queue has counts above it also
// beyond its limit, what it wants doesn't, so a sum can be too large only now.
func (t *Tree) Admit(id int) error {
	i := t.waitingJob(id)
	is, request := &t.line.jobs[i], t.requested(i)
	keeps := number(is.unpreemptible)
	err := t.moveAll(is.leaf, func(k int) delta {
		return delta{allocated: request[k], fixed: keeps * request[k], waiting: -request[k]}
	})
	if err == nil {
		t.change(i, hasGone)
	}
	return err
}

// Withdraw lets a job wait no longer: its owner has deleted it.
func (t *Tree) Withdraw(id int) {
	i := t.waitingJob(id)
	// Amounts first: change may free the number, and with it the request.
	for k, x := range t.requested(i) {
		_ = t.move(t.line.jobs[i].leaf, k, delta{waiting: -x})
	}
	t.change(i, hasGone)
}

// Skip passes over a job that cannot start now, so that [Tree.Next] gives another. It is
// still wanted. It waits again after [Tree.Resume].
func (t *Tree) Skip(id int) {
	i := t.waitingJob(id)
	if t.line.jobs[i].state == waits {
		t.change(i, isSkipped)
	}
}

// Resume lets all jobs wait again that were skipped: a new cycle begins.
func (t *Tree) Resume() {
	for leaf := range t.line.leaves {
		// The first behind the heap is the next to enter it, whichever that is.
		for q := &t.line.leaves[leaf]; q.waits < len(q.jobs); {
			t.change(q.jobs[q.waits], waits)
		}
	}
}

// change brings a job into another state and remembers the old one.
func (t *Tree) change(id int32, state jobState) {
	t.journal.note(change{ofJob, id, int64(t.line.jobs[id].state)})
	t.setState(id, state)
	if !t.journal.isOn {
		t.line.release()
	}
}

// setState brings a job into another state, also in a rollback.
func (t *Tree) setState(id int32, state jobState) {
	l, j := &t.line, &t.line.jobs[id]
	q := &l.leaves[j.leaf]
	q.t = t
	switch j.state {
	case waits:
		heap.Remove(q, int(j.place))
	case hasGone: // a rollback takes the last first
		if n := len(l.gone); n > 0 && l.gone[n-1] == id {
			l.gone = l.gone[:n-1]
		}
	}
	isHere := func(s jobState) bool { return s == waits || s == isSkipped }
	switch {
	case isHere(state) && !isHere(j.state):
		j.place = int32(len(q.jobs))
		q.jobs = append(q.jobs, id)
	case isHere(j.state) && !isHere(state): // it is behind the heap now
		q.Swap(int(j.place), len(q.jobs)-1)
		q.jobs = q.jobs[:len(q.jobs)-1]
	}
	switch j.state = state; state {
	case waits:
		q.Swap(int(j.place), q.waits)
		heap.Push(q, nil)
	case hasGone:
		l.gone = append(l.gone, id)
	case noJob: // its coming was rolled back
		l.free = append(l.free, id)
	}
	t.touch(j.leaf)
}

// release frees the numbers of jobs that can't come back. While there are marks, a number may
// not go to another job: a rollback would bring back the old one under it.
func (l *line) release() {
	for _, id := range l.gone {
		if l.jobs[id].state == hasGone {
			l.jobs[id].state = noJob
			l.free = append(l.free, id)
		}
	}
	l.gone = l.gone[:0]
}

// drain removes all jobs of a leaf, and looks at no others.
func (t *Tree) drain(leaf int32) {
	// Sorted, so that numbers are free again in an order that doesn't depend on the heap's.
	for _, id := range slices.Sorted(slices.Values(t.line.leaves[leaf].jobs)) {
		t.setState(id, hasGone)
	}
	t.line.release()
}

// sooner reports whether a job of a leaf is served before another of it. No two jobs are equal, as
// each has come at another time: the order doesn't depend on where in the heap they are.
func (t *Tree) sooner(a, b int32) bool {
	x, y := &t.line.jobs[a], &t.line.jobs[b]
	if p, q := t.priorityOf(x), t.priorityOf(y); p != q {
		return p > q
	}
	if p, q := t.ageOf(x), t.ageOf(y); p != q {
		return p < q
	}
	return x.came < y.came
}

func (t *Tree) priorityOf(j *job) int64 {
	if j.hasPriority {
		return j.priority
	}
	return t.rows[j.leaf].priority
}

func (t *Tree) ageOf(j *job) int64 {
	if j.hasAge {
		return j.age
	}
	return t.rows[j.leaf].rank
}
