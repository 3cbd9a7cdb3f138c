package quota

import (
	"cmp"
	"iter"
	"slices"
)

// JobStatus is what a ledger has of a job.
type JobStatus struct {
	ID       string   `json:"id"`
	Queue    string   `json:"queue"`
	Reserved bool     `json:"reserved"` // the job's min is known; else Min and Elastic are 0
	Min      Min      `json:"min,omitzero"`
	Held     Amounts  `json:"held,omitzero"`    // the part of Min that no charge covers
	Charged  Amounts  `json:"charged,omitzero"` // what the tasks are charged
	Elastic  Amounts  `json:"elastic,omitzero"` // the part of Charged beyond Min: it could go, and the job would still run
	Tasks    []string `json:"tasks,omitempty"`  // the ids of the charged tasks, in commit order
}

// Job returns how a job stands; false if the ledger has nothing of it.
func (l *Ledger) Job(id string) (JobStatus, bool) {
	l.rlock()
	defer l.mu.RUnlock()
	j := l.jobs[id]
	if j == nil {
		return JobStatus{}, false
	}
	return l.jobStatus(j), true
}

// Jobs returns the jobs of a queue and of those below it, by id; none if it isn't there.
// The work grows with all jobs of the ledger.
func (l *Ledger) Jobs(queue string) iter.Seq[JobStatus] {
	l.made()
	// A copy, so that the loop's body may ask the ledger, or change it.
	return func(yield func(JobStatus) bool) { slices.Values(l.jobsIn(queue))(yield) }
}

// jobsIn copies the jobs of a queue and of those below it. The ledger has them by id only:
// to keep them by queue, too, would cost every operation.
func (l *Ledger) jobsIn(queue string) (list []JobStatus) {
	l.rlock()
	defer l.mu.RUnlock()
	q := l.queues[queue]
	if q == nil {
		return nil
	}
	below := q.Below()
	for _, j := range l.jobs {
		if below[j.Queue] {
			list = append(list, l.jobStatus(j))
		}
	}
	// Out of a map they come in another order each time.
	slices.SortFunc(list, func(a, b JobStatus) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// jobStatus copies what there is of a job, so that no later change shows in it.
func (l *Ledger) jobStatus(j *job) JobStatus {
	s := JobStatus{ID: j.id, Queue: queueName(j.Queue), Reserved: j.Reserved}
	if j.Reserved {
		s.Min = needOf(j.MinNow())
	}
	j.Each(func(dim int32, allocated, held, elastic int64) {
		l.addTo(&s.Charged, dim, allocated)
		l.addTo(&s.Held, dim, held)
		l.addTo(&s.Elastic, dim, elastic)
	})
	// In commit order, in which later rollbacks draw on them.
	for t := range j.tasks() {
		s.Tasks = append(s.Tasks, t.id)
	}
	return s
}
