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
func (j *Job) Reserve(p *Plan) { j.adopt(p, true) }

// adopt makes the min of a job that of a plan. All that the job has goes out of the cells and
// comes in again, since what a charge leaves uncovered, and so is elastic, may differ, too.
func (j *Job) adopt(p *Plan, reserved bool) {
	j.count(-1)
	j.Reserved, j.AnyMix = reserved, p.next.AnyMix
	j.Min, j.Held = p.next.Min, p.next.Held
	p.keep(j)
	j.relist()
	j.count(1)
}
