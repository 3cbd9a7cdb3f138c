package fairshare

import (
	"iter"
	"slices"
)

// line is the jobs that wait, each leaf's in a heap: to add one or take any out costs the
// logarithm of their number, and nothing is sorted anew. What a rollback restores is the set
// of jobs, in any order in the heap; their order follows from the jobs alone.
type line struct {
	jobs     []job
	requests []int64   // of each job, a row
	heaps    [][]int32 // per row: the jobs that wait, the next at the front
	skipped  []int32   // jobs that were skipped, some of which may wait again
	gone     []int32   // jobs that are gone and may come back by a rollback
	free     []int32
	came     int64
}

type job struct {
	leaf          int32
	place         int32 // in the heap
	state         jobState
	unpreemptible bool
	hasPriority   bool
	hasAge        bool
	priority, age int64
	came          int64 // orders jobs that are equal otherwise
}

type jobState uint8

const (
	noJob     jobState = iota
	waits              // it is in the heap of its leaf
	isSkipped          // it isn't, but it counts as wanted
	hasGone            // it is admitted or withdrawn
)

const panicJob = "fairshare: no such job waits"

func (l *line) grow(rows int) { l.heaps = grown(l.heaps, rows) }

// jobsOf returns the jobs of a leaf that wait or were skipped, in no order. One that was
// skipped again may come twice.
func (l *line) jobsOf(leaf int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, id := range l.heaps[leaf] {
			if !yield(id) {
				return
			}
		}
		for _, id := range l.skipped {
			if l.jobs[id].state == isSkipped && l.jobs[id].leaf == leaf && !yield(id) {
				return
			}
		}
	}
}

func (t *Tree) request(id int32) []int64 { return t.line.requests[int(id)*t.cols:][:t.cols] }

// Wait lets a job wait in a leaf, and returns its number. What it requests is wanted from
// now on. With an error nothing has changed.
func (t *Tree) Wait(row int, j Job) (id int, err error) {
	leaf, err := t.leaf(row)
	if err != nil {
		return -1, err
	}
	if err := t.checkRequest(leaf, j.Request); err != nil {
		return -1, err
	}
	for k, x := range j.Request {
		a, w := t.used(leaf, allocated)[k], t.used(leaf, waiting)[k]+int64(x)
		if err := t.checkSum(leaf, k, a, max(t.used(leaf, asked)[k], a+w)); err != nil {
			return -1, err
		}
	}
	l := &t.line
	if n := len(l.free); n > 0 {
		id, l.free = int(l.free[n-1]), l.free[:n-1]
	} else {
		id = len(l.jobs)
		l.jobs = append(l.jobs, job{})
		l.requests = grown(l.requests, (id+1)*t.cols)
	}
	is := job{leaf: leaf, unpreemptible: j.Unpreemptible, came: l.came}
	l.came++
	if j.Priority != nil {
		is.priority, is.hasPriority = *j.Priority, true
	}
	if j.Age != nil {
		is.age, is.hasAge = *j.Age, true
	}
	l.jobs[id] = is
	for k := range t.cols {
		t.request(int32(id))[k] = int64(j.Request.Get(k))
	}
	t.change(int32(id), waits)
	t.wants(int32(id), 1)
	return id, nil
}

// wants adds the request of a job to what waits in its leaf, or takes it away.
func (t *Tree) wants(id int32, sign int64) {
	leaf := t.line.jobs[id].leaf
	for k, x := range t.request(id) {
		if x != 0 {
			t.setLeaf(leaf, k, t.used(leaf, allocated)[k], t.used(leaf, fixed)[k], t.used(leaf, asked)[k], t.used(leaf, waiting)[k]+sign*x)
		}
	}
}

// waitingJob panics on a number of no job that waits or was skipped.
func (t *Tree) waitingJob(id int) int32 {
	if uint(id) >= uint(len(t.line.jobs)) || t.line.jobs[id].state != waits && t.line.jobs[id].state != isSkipped {
		panic(panicJob)
	}
	return int32(id)
}

// Admit lets a job start: it waits no longer, and its leaf has what it requests. The number
// is free for another job then, as after Withdraw. To end the job, [Tree.Forget] it.
func (t *Tree) Admit(id int) {
	i := t.waitingJob(id)
	is := t.line.jobs[i]
	// What it wants and its sums stay what they are, so nothing can be too large.
	for k, x := range t.request(i) {
		if x == 0 {
			continue
		}
		n := t.used(is.leaf, fixed)[k]
		if is.unpreemptible {
			n += x
		}
		t.setLeaf(is.leaf, k, t.used(is.leaf, allocated)[k]+x, n, t.used(is.leaf, asked)[k], t.used(is.leaf, waiting)[k]-x)
	}
	t.change(i, hasGone)
}

// Withdraw lets a job wait no longer: its owner has deleted it.
func (t *Tree) Withdraw(id int) {
	i := t.waitingJob(id)
	t.wants(i, -1)
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
	l := &t.line
	for _, id := range l.skipped {
		if l.jobs[id].state == isSkipped {
			t.change(id, waits)
		}
	}
	l.skipped = l.skipped[:0]
}

// change brings a job into another state and remembers the old one.
func (t *Tree) change(id int32, state jobState) {
	t.saveJob(id, t.line.jobs[id].state)
	t.setState(id, state)
	if !t.journal.isOn {
		t.line.release()
	}
}

// setState brings a job into another state, also in a rollback.
func (t *Tree) setState(id int32, state jobState) {
	l, j := &t.line, &t.line.jobs[id]
	switch j.state {
	case waits:
		t.leave(id)
	case isSkipped: // a rollback takes the last first
		l.skipped = withoutLast(l.skipped, id)
	case hasGone:
		l.gone = withoutLast(l.gone, id)
	}
	if j.state = state; state == waits {
		h := &l.heaps[j.leaf]
		j.place = int32(len(*h))
		*h = append(*h, id)
		t.rise(*h, int(j.place))
	}
	switch state {
	case isSkipped: // also when Resume is rolled back
		l.skipped = append(l.skipped, id)
	case hasGone:
		l.gone = append(l.gone, id)
	case noJob: // its coming was rolled back
		l.free = append(l.free, id)
	}
	t.touch(j.leaf)
}

// withoutLast drops id from the end of a list, if it is there. Elsewhere it does no harm: the
// state of the job says that it isn't meant.
func withoutLast(list []int32, id int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == id {
		return list[:n-1]
	}
	return list
}

// release frees the numbers of jobs that can't come back.
func (l *line) release() {
	for _, id := range l.gone {
		if l.jobs[id].state == hasGone {
			l.jobs[id].state = noJob
			l.free = append(l.free, id)
		}
	}
	l.gone = l.gone[:0]
}

// drain removes all jobs of a leaf, and looks at no others that wait.
func (t *Tree) drain(leaf int32) {
	// Sorted, so that numbers are free again in an order that doesn't depend on the heap's.
	for _, id := range slices.Compact(slices.Sorted(t.line.jobsOf(leaf))) {
		t.setState(id, hasGone)
	}
	t.line.release()
}

// sooner reports whether a job of a leaf is served before another of it.
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

// rise moves the job at place i of a heap to the front as far as it belongs there.
func (t *Tree) rise(h []int32, i int) {
	for i > 0 && t.sooner(h[i], h[(i-1)/2]) {
		t.swap(h, i, (i-1)/2)
		i = (i - 1) / 2
	}
}

// sink moves it to the back as far as it belongs there.
func (t *Tree) sink(h []int32, i int) {
	for {
		k := 2*i + 1
		if k+1 < len(h) && t.sooner(h[k+1], h[k]) {
			k++
		}
		if k >= len(h) || !t.sooner(h[k], h[i]) {
			return
		}
		t.swap(h, i, k)
		i = k
	}
}

func (t *Tree) swap(h []int32, i, k int) {
	h[i], h[k] = h[k], h[i]
	t.line.jobs[h[i]].place, t.line.jobs[h[k]].place = int32(i), int32(k)
}

// leave takes a job out of the heap of its leaf.
func (t *Tree) leave(id int32) {
	j := &t.line.jobs[id]
	h, i := t.line.heaps[j.leaf], int(j.place)
	last := len(h) - 1
	t.swap(h, i, last)
	t.line.heaps[j.leaf] = h[:last]
	if i < last {
		t.sink(h[:last], i)
		t.rise(h[:last], i)
	}
}

// reorder orders all heaps anew: a leaf may have another priority or rank.
func (t *Tree) reorder() {
	for _, h := range t.line.heaps {
		for i := len(h)/2 - 1; i >= 0; i-- {
			t.sink(h, i)
		}
	}
}
