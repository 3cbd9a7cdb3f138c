package fairshare

import "slices"

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
	jobs  []int32
	waits int // how many wait
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

func (l *line) grow(rows int) { l.leaves = grown(l.leaves, rows) }

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
	is := t.line.jobs[i] // a copy: change, below, may free the number
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
	// Amounts first: change may free the number, and with it the request.
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
	for leaf := range t.line.leaves {
		// The first behind the heap is the next to enter it, whichever that is.
		for q := &t.line.leaves[leaf]; q.waits < len(q.jobs); {
			t.change(q.jobs[q.waits], waits)
		}
	}
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
	q := &l.leaves[j.leaf]
	switch j.state {
	case waits:
		t.leave(id)
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
		t.swap(q.jobs, int(j.place), len(q.jobs)-1)
		q.jobs = q.jobs[:len(q.jobs)-1]
	}
	switch j.state = state; state {
	case waits:
		t.enter(id)
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

// enter takes a job that is behind the heap of its leaf into it.
func (t *Tree) enter(id int32) {
	q := &t.line.leaves[t.line.jobs[id].leaf]
	t.swap(q.jobs, int(t.line.jobs[id].place), q.waits)
	q.waits++
	t.rise(q.jobs, q.waits-1)
}

// leave takes a job out of the heap of its leaf, and puts it behind.
func (t *Tree) leave(id int32) {
	q, i := &t.line.leaves[t.line.jobs[id].leaf], int(t.line.jobs[id].place)
	q.waits--
	t.swap(q.jobs, i, q.waits)
	// The job that takes its place comes from another branch, so it may belong further in
	// either direction.
	if h := q.jobs[:q.waits]; i < len(h) {
		t.sink(h, i)
		t.rise(h, i)
	}
}

// reorder orders the jobs of a leaf anew: those without a priority or an age have its own, which
// has changed.
func (t *Tree) reorder(leaf int32) {
	h := t.line.waiting(leaf)
	for i := len(h)/2 - 1; i >= 0; i-- {
		t.sink(h, i)
	}
}
