package quota

import "github.com/resvec/resvec/quota/internal/book"

// Fits is how many copies of something would be admitted.
type Fits struct {
	Copies Amount     `json:"copies"`         // [Unlimited] if no limit stops them
	Room   []Headroom `json:"room,omitempty"` // before the first: cpu, memory, each alternative of each item, outputs; nil if the queue takes nothing
	Next   Answer     `json:"next"`           // to one copy more; OK if no limit stops them
}

// JobCopies counts how many new jobs like this one ReserveMany would reserve now, and says
// what stops the next: Unlimited if only a sum would, after more than a thousand. The work
// doesn't grow with their number.
func (l *Ledger) JobCopies(job *JobRequest) (f Fits, err error) {
	l.serves(job.owner)
	l.rlock()
	defer l.mu.RUnlock()
	if j := l.jobs[job.id].record(); j != nil && queueName(j.Queue) != job.queue {
		return f, elsewhere(job.id, j, job.queue)
	}
	q := l.queueOf(&job.queueAt, job.queue)
	l.counts.questions.Add(1)
	copies := book.ReserveCopies(q, &job.min)
	l.fillCopies(&f, &copies)
	l.fillJob(&f.Next, &copies.Next, job, q)
	return f, nil
}

// TaskCopies is JobCopies for new tasks of a job by CommitAll, with its holds.
func (l *Ledger) TaskCopies(task *TaskRequest) (f Fits, err error) {
	l.serves(task.owner)
	l.rlock()
	defer l.mu.RUnlock()
	q, j := l.queueOf(&task.queueAt, task.queue), l.jobOf(task)
	if j != nil && queueName(j.Queue) != task.queue {
		return f, elsewhere(task.job, j, task.queue)
	}
	l.counts.questions.Add(1)
	copies := book.ChargeCopies(q, j, l.anyMix(task), &task.use, task.bound)
	l.fillCopies(&f, &copies)
	l.fillTask(&f.Next, &copies.Next, task, q)
	return f, nil
}

// fillCopies fills in what the book found.
func (l *Ledger) fillCopies(f *Fits, is *book.Copies) {
	f.Copies = Amount(is.N)
	// None if the queue takes nothing.
	for i := range is.Options {
		f.Room = append(f.Room, l.room(&is.Options[i]))
	}
}
