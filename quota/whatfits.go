package quota

import "github.com/resvec/resvec/quota/internal/book"

// Fits is how many copies of something would be admitted.
type Fits struct {
	// Copies is how many there would be, [Unlimited] if no limit stops them.
	Copies int64

	// CPU, Memory, Cards and Outputs are the room before the first copy; zero if the queue
	// takes nothing. Cards has each alternative of each item.
	CPU, Memory    Room
	Cards, Outputs []Room

	// Next is the answer to one copy more; OK if no limit stops them. Its Task is
	// empty.
	Next Answer
}

// Shape is what [Ledger.WhatFits] counts copies of: a [*JobRequest] or a
// [*TaskRequest].
type Shape interface {
	of(l *Ledger)
	fits(l *Ledger) (Fits, error)
}

// WhatFits counts how many copies of a job or a task would be admitted now, and says
// what stops the next one. It changes nothing.
//
// Copies of a job are new jobs, reserved one after the other as by
// [Ledger.ReserveMany]. Copies of a task are new tasks of its job, committed together
// as by [Ledger.CommitAll], with what is held for the job. A job that another queue has
// is an [ErrConflict]. Only limits count: a sum may reach 2^53. The work grows with the
// number of alternatives and holds that the copies use up, and not with that of the
// copies. A nil shape panics.
func (l *Ledger) WhatFits(shape Shape) (Fits, error) {
	if shape == nil {
		panic("quota: nil shape")
	}
	shape.of(l)
	l.rlock()
	defer l.mu.RUnlock()
	return shape.fits(l)
}

// fits reserves copies on a copy of the queues.
func (r *JobRequest) fits(l *Ledger) (f Fits, err error) {
	r = l.currentJob(r)
	q := l.queueOf(&r.queueAt, r.queue)
	copies := book.ReserveCopies(q, &r.min)
	l.tellCopies(&f, &copies)
	l.tellJob(&f.Next, &copies.Next, r, q)
	return f, nil
}

// fits finds the largest gang.
func (t *TaskRequest) fits(l *Ledger) (f Fits, err error) {
	t = l.current(t)
	q, j := l.queueOf(&t.at.Queue, t.queue), l.jobOf(t)
	if j != nil && queueName(j.Queue) != t.queue {
		return f, elsewhere(t.job, j, t.queue)
	}
	copies := book.ChargeCopies(q, j, l.anyMix(t), &t.use, t.bound)
	l.tellCopies(&f, &copies)
	l.tellTask(&f.Next, &copies.Next, t, q)
	return f, nil
}

// tellCopies fills in what the book found.
func (l *Ledger) tellCopies(f *Fits, is *book.Copies) {
	f.Copies = is.N
	if is.CPU.Level != nil {
		f.CPU, f.Memory = l.room(&is.CPU, ""), l.room(&is.Memory, "")
	}
	for i := range is.Items {
		o := &is.Items[i]
		if output := l.output(o.Dim); output != "" {
			room := l.room(o, "")
			room.Output = output
			f.Outputs = append(f.Outputs, room)
			continue
		}
		f.Cards = append(f.Cards, l.room(o, l.cards[o.Dim]))
	}
}
