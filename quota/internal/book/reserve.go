package book

// AddJob counts the record of a job that comes to its queue.
func (b *Book) AddJob(j *Job, q *Queue) {
	j.Queue = q
	q.Jobs++
}

// Drop removes the record of a job without charges and holds.
func (b *Book) Drop(j *Job) {
	j.Gone = true
	b.leave(j.Queue)
}

// leave counts a record that leaves a queue. An orphan goes with its last one, when the
// change ends.
func (b *Book) leave(q *Queue) {
	if q.Jobs--; q.Jobs == 0 && q.Orphan {
		b.emptied = append(b.emptied, q)
	}
}

// Reserve gives a job the min of a plan that [MayReserve] has made for it, instead of
// the one that it has.
//
// The old min goes out of the cells wholly and the new one comes in, since what a charge
// leaves uncovered, and so is elastic, may differ too.
func (j *Job) Reserve(p *Plan, anyMix bool) {
	j.undoHolds()
	j.Reserved, j.AnyMix = true, anyMix
	q := j.Queue
	j.Min = [2]int64{p.cpu.Amount, p.mem.Amount}
	j.Held = [2]int64{p.cpu.Amount - p.cpu.Covered, p.mem.Amount - p.mem.Covered}
	p.keep(j)
	j.relist()
	for i := range p.tasks {
		p.tasks[i].task.addElastic(q, 1)
	}
	j.addHolds(1)
	j.recount()
}

// addHolds adds what is held for the job to its queue, times sign.
func (j *Job) addHolds(sign int64) {
	q := j.Queue
	q.add(CPU, 0, sign*j.Held[CPU], 0)
	q.add(Memory, 0, sign*j.Held[Memory], 0)
	for _, it := range j.Items {
		for at, dim := range it.Alts.Cards {
			if held := it.HeldAt(at); held > 0 {
				q.add(dim, 0, sign*held, 0)
			}
		}
	}
}

// undoHolds takes everything out of the cells that comes from the job's min, as
// if it were not known.
func (j *Job) undoHolds() {
	if !j.Reserved {
		return
	}
	j.addHolds(-1)
	for t := j.First; t != nil; t = t.Next {
		t.addElastic(j.Queue, -1)
	}
}

// addElastic adds what is uncovered of the task, times sign.
func (t *Task) addElastic(q *Queue, sign int64) {
	t.each(func(_ *Item, dim int32, d *Coverage) {
		if d.lack() > 0 {
			q.add(dim, 0, 0, sign*d.lack())
		}
	})
}
