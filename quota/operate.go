package quota

import "fmt"

// Enqueueable reports whether a job's min can be promised to it now. dst, which may be
// nil, becomes the answer. It changes nothing.
func (l *Ledger) Enqueueable(dst *Answer, job *JobRequest) bool {
	job.of(l)
	l.rlock()
	defer l.mu.RUnlock()
	s := l.scratch()
	defer l.spare.Put(s)
	if dst == nil {
		dst = &s.answer
	}
	l.begin(dst)
	q := l.queueOf(&job.queueAt, job.queue)
	return l.decideJob(dst, job, q, l.ownOf(job, q), &s.plan)
}

// Allocatable reports whether a task can be charged now. dst, which may be nil, becomes
// the answer: its Options are all alternatives of all items, with room or with the
// reason. It changes nothing.
func (l *Ledger) Allocatable(dst *Answer, task *TaskRequest) bool {
	task.of(l)
	task.fetch()
	l.mu.RLock()
	ok := l.allocatable(dst, task, nil)
	l.mu.RUnlock()
	return ok
}

// allocatable decides on a task without charging it.
func (l *Ledger) allocatable(dst *Answer, task *TaskRequest, limit *cardSet) bool {
	if dst == nil {
		s := l.scratch()
		defer l.spare.Put(s)
		dst = &s.answer
	}
	l.begin(dst)
	var buf [4]pick
	l.decideTask(dst, task, limit, buf[:0])
	return dst.OK
}

// Reserve promises a job its min if it is Enqueueable: the min becomes holds. The same
// job with the same min again is a repeat. With another min it is an [ErrReserved],
// and [Ledger.Resize] changes it. A job that another queue has is an [ErrConflict].
func (l *Ledger) Reserve(job *JobRequest) (Answer, error) {
	job.of(l)
	job.fetch()
	l.lock()
	a, e, err := l.reserve(job, false, l.seq+1)
	l.unlock(a.changed(), e)
	return a, err
}

// Resize gives a reserved job another min, or reserves it. Holds are made anew; a card
// that the job's tasks are bound to stays. A refusal changes nothing.
func (l *Ledger) Resize(job *JobRequest) (Answer, error) {
	job.of(l)
	job.fetch()
	l.lock()
	a, e, err := l.reserve(job, true, l.seq+1)
	l.unlock(a.changed(), e)
	return a, err
}

// ReserveMany reserves jobs in order, each on top of those before it. A refusal doesn't
// stop it. The answers are in the same order. All changes have one number, the Seq of
// the answers to the jobs that were reserved; other answers have the number before. An
// error names the first job that has one; the others are decided as if that job weren't
// there.
func (l *Ledger) ReserveMany(jobs []*JobRequest) ([]Answer, error) {
	for _, job := range jobs {
		job.of(l)
	}
	l.lock()
	var first error
	var events []Event
	changed, seq := false, l.seq+1
	answers := make([]Answer, len(jobs))
	for i, job := range jobs {
		a, e, err := l.reserve(job, false, seq)
		if err != nil && first == nil {
			first = err
		}
		answers[i], changed = a, changed || a.changed()
		events = append(events, e...)
	}
	l.unlock(changed, events)
	return answers, first
}

// changed reports whether an operation with this answer changed the ledger.
func (a *Answer) changed() bool { return a.OK && !a.Repeat }

// unlock ends a change, tells what happened, and returns the number of the state.
func (l *Ledger) unlock(changed bool, events []Event) (seq uint64) {
	if len(l.emptied) > 0 {
		l.prune()
	}
	if changed {
		l.seq++
	}
	seq = l.seq
	l.mu.Unlock()
	for _, e := range events {
		l.cfg.OnEvent(e)
	}
	return seq
}

// reserve does the work of Reserve and Resize. seq is the number of the change.
func (l *Ledger) reserve(r *JobRequest, resize bool, seq uint64) (a Answer, events []Event, err error) {
	l.begin(&a)
	j := l.jobs[r.id]
	if j != nil && j.queue.spec.Name != r.queue {
		return Answer{Seq: l.seq}, nil, elsewhere(j, r.queue)
	}
	if j != nil && j.reserved {
		switch {
		case j.same(r):
			a.Repeat = true
			return a, nil, nil
		case !resize:
			return Answer{Seq: l.seq}, nil, fmt.Errorf("%w: job %q: reserved is %s, requested %s: Resize changes it", ErrReserved, brief(r.id), j.request().Need().words(), r.Need().words())
		}
	}
	s := l.scratch()
	defer l.spare.Put(s)
	p, q := &s.plan, l.queueOf(&r.queueAt, r.queue)
	if !l.decideJob(&a, r, q, j.in(q), p) {
		return a, l.refused(r.queue, r.id, "", &a), nil
	}
	if err := p.check(l, q, j, r.id); err != nil {
		return Answer{Seq: l.seq}, nil, err
	}
	kind := EventReserved
	if j == nil {
		j = l.newJob(r.id, q)
	} else if j.reserved {
		kind = EventResized
	}
	if !j.reserved {
		j.seq = seq
	}
	l.undoHolds(j)
	j.reserved, j.mix = true, r.mix
	l.make(j, p)
	a.Seq = seq
	return a, l.jobEvent(kind, seq, j), nil
}

// same reports whether a request is for what the job has.
func (j *job) same(r *JobRequest) bool {
	if r.invalid != "" || j.min[dimCPU] != r.cpu || j.min[dimMemory] != r.mem || j.mix != r.mix {
		return false
	}
	n := 0
	for _, it := range j.items {
		if it.implicit || it.min == 0 {
			continue
		}
		if n >= len(r.items) || r.items[n].alts != it.alts || r.items[n].milli != it.min || r.items[n].unit != it.unit {
			return false
		}
		n++
	}
	return n == len(r.items)
}

// check looks for sums that a plan would raise to 2^53.
func (p *plan) check(l *Ledger, q *queue, j *job, id string) error {
	for dim, d := range [...]draw{dimCPU: p.cpu, dimMemory: p.mem} {
		if d.amount > 0 && !q.canAdd(int32(dim), d.amount-d.covered-j.heldOn(int32(dim))) {
			return l.overflowAt("job", id, d.amount, int32(dim))
		}
	}
	for _, s := range p.sums {
		held := -j.heldOn(s.dim)
		for i := range p.items {
			held += p.items[i].heldIn(s.dim)
		}
		if !q.canAdd(s.dim, held) {
			return l.overflowAt("job", id, s.amount, s.dim)
		}
	}
	return nil
}

// heldOn returns what is held for the job, which may be nil, in a dimension.
func (j *job) heldOn(dim int32) (sum int64) {
	switch {
	case j == nil:
		return 0
	case dim == dimCPU:
		return j.held[dimCPU]
	case dim == dimMemory:
		return j.held[dimMemory]
	}
	for _, it := range j.items {
		sum += it.heldIn(dim)
	}
	return sum
}

// newJob makes a record.
func (l *Ledger) newJob(id string, q *queue) *job {
	j := &job{id: id, queue: q, mix: l.cfg.Mix}
	l.jobs[id] = j
	l.arrive(q)
	return j
}

// arrive counts a record that comes to a queue.
func (l *Ledger) arrive(q *queue) {
	l.arrivals++
	q.arrived = l.arrivals
	q.jobs++
}

// undoHolds takes everything out of the cells that comes from the job's min, as
// if it were not known.
func (l *Ledger) undoHolds(j *job) {
	if !j.reserved {
		return
	}
	q := j.queue
	q.add(dimCPU, 0, -j.held[dimCPU], 0)
	q.add(dimMemory, 0, -j.held[dimMemory], 0)
	for _, it := range j.items {
		for at, dim := range it.alts.cards {
			if held := it.heldOn(at); held > 0 {
				q.add(dim, 0, -held, 0)
			}
		}
	}
	for t := j.first; t != nil; t = t.next {
		t.addElastic(q, -1)
	}
}

// addElastic adds what is uncovered of the task, times sign.
func (t *task) addElastic(q *queue, sign int64) {
	if d := t.cpu.amount - t.cpu.covered; d > 0 {
		q.add(dimCPU, 0, 0, sign*d)
	}
	if d := t.mem.amount - t.mem.covered; d > 0 {
		q.add(dimMemory, 0, 0, sign*d)
	}
	for i := range t.charges {
		if d := t.charges[i].milli - t.charges[i].covered; d > 0 {
			q.add(t.charges[i].card, 0, 0, sign*d)
		}
	}
}

// make carries a plan out.
func (l *Ledger) make(j *job, p *plan) {
	q := j.queue
	j.min = [2]int64{p.cpu.amount, p.mem.amount}
	j.held = [2]int64{p.cpu.amount - p.cpu.covered, p.mem.amount - p.mem.covered}
	j.loose = [2]bool{}
	p.keep(j)
	for i := range p.redraws {
		t := p.redraws[i].task
		j.loose[dimCPU] = j.loose[dimCPU] || t.cpu.covered < t.cpu.amount
		j.loose[dimMemory] = j.loose[dimMemory] || t.mem.covered < t.mem.amount
		t.addElastic(q, 1)
	}
	q.add(dimCPU, 0, j.held[dimCPU], 0)
	q.add(dimMemory, 0, j.held[dimMemory], 0)
	for _, it := range j.items {
		for at, dim := range it.alts.cards {
			if held := it.heldOn(at); held > 0 {
				q.add(dim, 0, held, 0)
			}
		}
	}
	j.recount()
}

// Commit charges a task if it is Allocatable, also one of a job that is not reserved: so
// don't commit after a refused Reserve, or use [Ledger.CommitAll]. Each item is charged on the first of its
// alternatives that has room and is among cards, those of the chosen node; without
// cards, on the first that has room. What the job's min covers leaves its holds, which
// move to the charged card if they have to. The same task again is a repeat; with
// another content it is an [ErrConflict].
func (l *Ledger) Commit(task *TaskRequest, cards ...string) (Answer, error) {
	task.of(l)
	task.fetch()
	l.lock()
	return l.commitOne(task, l.limitTo(cards))
}

// CommitOn is [Ledger.Commit] restricted to the cards of a node, as
// [Ledger.AllocatableOn] is. Unlike Commit without cards, an unknown node, or one
// without cards, allows no card.
func (l *Ledger) CommitOn(task *TaskRequest, node string) (Answer, error) {
	task.of(l)
	task.fetch()
	return l.commitOne(task, l.lockOn(&l.mu, node))
}

// commitOne commits one task, ends the change that the caller began by locking
// the ledger, and tells what happened.
func (l *Ledger) commitOne(task *TaskRequest, limit *cardSet) (Answer, error) {
	a, t, err := l.commit(task, limit, l.seq+1, nil)
	var events []Event
	switch {
	case err != nil || a.Repeat:
	case a.OK:
		events = l.taskEvent(EventCommitted, a.Seq, t)
	default:
		events = l.refused(task.queue, task.job, task.id, &a)
	}
	l.unlock(a.changed(), events)
	return a, err
}

// limitTo makes a set of cards, nil for none given. Unknown names are not in it.
func (l *Ledger) limitTo(cards []string) *cardSet {
	if len(cards) == 0 {
		return nil
	}
	set := new(cardSet)
	for _, name := range cards {
		if dim, ok := l.dims[name]; ok {
			set.add(dim)
		}
	}
	return set
}

// commit decides on a task and charges it, and returns its record if it is charged
// now. undo, if not nil, learns what to do to take it back.
func (l *Ledger) commit(r *TaskRequest, limit *cardSet, seq uint64, undo *journal) (a Answer, t *task, err error) {
	l.begin(&a)
	if was := l.tasks[r.id]; was != nil {
		if !was.same(r) || limit != nil && !was.within(limit) {
			return Answer{Seq: l.seq}, nil, conflict("task", r.id, l.otherThan(was, r, limit))
		}
		a.Repeat, a.Charged = true, l.charged(was)
		return a, nil, nil
	}
	j := l.jobOf(r)
	if j != nil && j.queue.spec.Name != r.queue {
		return Answer{Seq: l.seq}, nil, elsewhere(j, r.queue)
	}
	var buf [4]pick
	picks := l.decideTask(&a, r, limit, buf[:0])
	if !a.OK {
		return a, nil, nil
	}
	q := l.queueOf(&r.queueAt, r.queue)
	if err := r.check(l, q, j, picks); err != nil {
		return Answer{Seq: l.seq}, nil, err
	}
	if j == nil {
		j = l.newJob(r.job, q)
		r.jobAt.Store(j)
		undo.newJob(j)
	}
	t = &task{id: r.id, job: j, seq: seq, state: taskCommitted}
	t.cpu = j.drawPlain(dimCPU, r.cpu, undo)
	t.mem = j.drawPlain(dimMemory, r.mem, undo)
	t.charges = t.buf[:0]
	for i, p := range picks {
		t.charges = append(t.charges, j.charge(r.items[i].alts, r.items[i].milli, p, undo))
	}
	j.append(t)
	j.recount()
	l.tasks[r.id] = t
	undo.newTask(t, l.waiting[t.id])
	delete(l.waiting, t.id)
	a.Seq, a.Charged = seq, l.charged(t)
	return a, t, nil
}

// elsewhere says that a job is in another queue.
func elsewhere(j *job, queue string) error {
	return conflict("job", j.id, fmt.Sprintf("it is in queue %q, not in %q", brief(j.queue.spec.Name), brief(queue)))
}

// otherThan says what a task is charged, and what is requested for it.
func (l *Ledger) otherThan(t *task, r *TaskRequest, limit *cardSet) string {
	if t.same(r) {
		return fmt.Sprintf("it is charged on %s, which is not among the cards of this commit", some(l.charged(t)))
	}
	was := Min{CPU: t.cpu.amount, Memory: t.mem.amount}
	for i := range t.charges {
		was.Items = append(was.Items, t.charges[i].alts.item(t.charges[i].milli, defaultUnit))
	}
	requested := r.invalid
	if requested == "" {
		requested = fmt.Sprintf("%s of job %q in queue %q", (&TaskRequest{cpu: r.cpu, mem: r.mem, items: r.items}).Need().words(), brief(r.job), brief(r.queue))
	}
	return fmt.Sprintf("charged is %s of job %q in queue %q, requested %s", was.words(), brief(t.job.id), brief(t.job.queue.spec.Name), requested)
}

// same reports whether a request is for what the task is charged.
func (t *task) same(r *TaskRequest) bool {
	if r.invalid != "" || t.job.id != r.job || t.job.queue.spec.Name != r.queue ||
		t.cpu.amount != r.cpu || t.mem.amount != r.mem || len(t.charges) != len(r.items) {
		return false
	}
	for i := range t.charges {
		if t.charges[i].alts != r.items[i].alts || t.charges[i].milli != r.items[i].milli {
			return false
		}
	}
	return true
}

// within reports whether all charges are on these cards.
func (t *task) within(limit *cardSet) bool {
	for i := range t.charges {
		if !limit.has(t.charges[i].card) {
			return false
		}
	}
	return true
}

// charged returns the cards that a task is charged on.
func (l *Ledger) charged(t *task) []string {
	if len(t.charges) == 0 {
		return nil
	}
	names := make([]string, len(t.charges))
	for i := range t.charges {
		names[i] = l.cardName(t.charges[i].card)
	}
	return names
}

// check looks for sums that the task would raise to 2^53.
func (t *TaskRequest) check(l *Ledger, q *queue, j *job, picks []pick) error {
	for dim, amount := range [...]int64{dimCPU: t.cpu, dimMemory: t.mem} {
		if amount > 0 && !q.canAdd(int32(dim), max(amount-j.heldOn(int32(dim)), 0)) {
			return l.overflowAt("task", t.id, amount, int32(dim))
		}
	}
	for i, p := range picks {
		if !q.canAdd(p.dim, p.adds(t.items[i].milli)) {
			return l.overflowAt("task", t.id, t.items[i].milli, p.dim)
		}
	}
	return nil
}

// adds returns what a charge adds to what its card has allocated and promised.
func (p *pick) adds(milli int64) int64 {
	switch {
	case p.it == nil:
		return milli
	case !p.it.spreads && p.at != int(p.it.at):
		return max(milli, p.it.held) // the hold moves here
	}
	return max(milli-p.it.heldOn(p.at), 0)
}

// drawPlain charges cpu or memory.
func (j *job) drawPlain(dim int32, amount int64, undo *journal) draw {
	covered := min(amount, j.held[dim])
	if amount > 0 {
		undo.need(j, dim)
		j.held[dim] -= covered
		j.loose[dim] = j.loose[dim] || covered < amount
		j.put(dim, amount, -covered, amount-covered, undo)
	}
	return draw{amount, covered}
}

// charge charges an item of a task on the picked card.
func (j *job) charge(alts *alternatives, milli int64, p pick, undo *journal) charge {
	c := charge{alts: alts, item: p.it, card: p.dim, at: int32(max(p.at, 0)), milli: milli}
	it := p.it
	if it == nil {
		if it = j.bind(alts); it != nil {
			c.item, c.at = it, int32(alts.index(p.dim))
			undo.newItem(j)
			it.at, it.charges = c.at, 1
		}
		j.put(p.dim, milli, 0, milli, undo)
		return c
	}
	undo.item(it)
	if !it.spreads {
		if from := int(it.at); from != p.at {
			j.move(it, from, p.at, it.held, undo)
			it.at = int32(p.at)
		}
	} else {
		j.gather(it, p.at, milli, undo)
	}
	it.charges++
	c.covered = min(milli, it.heldOn(p.at))
	it.hold(p.at, -c.covered)
	it.loose = it.loose || c.covered < milli
	j.put(p.dim, milli, -c.covered, milli-c.covered, undo)
	return c
}

// gather moves to an alternative what a charge lacks there, from the rightmost
// ones that hold.
func (j *job) gather(it *item, to int, milli int64, undo *journal) {
	lack := milli - it.spread[to]
	for from := len(it.spread) - 1; from >= 0 && lack > 0; from-- {
		if from == to || it.spread[from] == 0 {
			continue
		}
		n := min(lack, it.spread[from])
		j.move(it, from, to, n, undo)
		it.spread[from] -= n
		it.spread[to] += n
		lack -= n
	}
}

// move moves a hold between cards in the cells.
func (j *job) move(it *item, from, to int, amount int64, undo *journal) {
	if amount > 0 {
		j.put(it.alts.cards[from], 0, -amount, 0, undo)
		j.put(it.alts.cards[to], 0, amount, 0, undo)
	}
}

// put changes the cells of the job's queue; uncovered is elastic if the job's
// min is known.
func (j *job) put(dim int32, allocated, held, uncovered int64, undo *journal) {
	if !j.reserved {
		uncovered = 0
	}
	undo.cell(j.queue, dim, allocated, held, uncovered)
	j.queue.add(dim, allocated, held, uncovered)
}
