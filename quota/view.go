package quota

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/resvec/resvec/quota/internal/book"
)

// View is what an informer knows of jobs and tasks. A job in Jobs comes with all of its
// tasks; one that has gone without, pending, with their ids in Deleted. Jobs that a partial
// view doesn't have stay, with their tasks that aren't in Tasks or Deleted. An allocated
// task in another queue than its job's takes the job there. Of one that goes to another job
// list both: only the charges of the old one change.
type View struct {
	Partial bool     // it is of what an event is about
	Jobs    []Job    // their tasks that name no job or no queue are the job's
	Tasks   []Task   // of no job in Jobs, such as the pods of a Deployment
	Deleted []string // ids of tasks that are gone
}

// Report is what [Ledger.Reconcile] found and did, by job and task. What stays Unseen the
// caller gives back, up to the Seq of a report some rounds ago: tasks by [Ledger.Rollback],
// jobs by [Ledger.Expire].
type Report struct {
	Seq        uint64 `json:"seq"`                  // of the ledger now
	Changed    bool   `json:"changed"`              // anything; else Seq is what it was
	Imported   []Ref  `json:"imported,omitempty"`   // tasks charged, and jobs whose min was taken over, that the ledger didn't have
	Corrected  []Ref  `json:"corrected,omitempty"`  // tasks whose charges, and jobs whose queue, min or holds were made to agree
	RolledBack []Ref  `json:"rolledBack,omitempty"` // tasks that wait again
	Released   []Ref  `json:"released,omitempty"`   // tasks that have ended, or gone; jobs that have gone or are no longer admitted
	Mismatched []Ref  `json:"mismatched,omitempty"` // tasks on cards that they didn't ask for
	Unseen     []Ref  `json:"unseen,omitempty"`     // charges and reservations that the view doesn't show yet
	Failed     []Ref  `json:"failed,omitempty"`     // what couldn't be taken over: it stays as it is, or is charged what is known of it
}

// Ref names a task or, without one, a job.
type Ref struct {
	Job    string `json:"job,omitempty"`
	Task   string `json:"task,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`    // in Unseen: of the change that made the charge or the reservation
	Reason Reason `json:"reason,omitempty"` // in Failed
	Detail string `json:"detail,omitempty"` // in Failed: what is wrong; in Mismatched: the card that the task runs on
}

// fail notes what couldn't be taken over of a task or, without one, of a job.
func (r *Report) fail(job, task string, reason Reason, detail string) {
	r.Failed = append(r.Failed, Ref{Job: job, Task: task, Reason: reason, Detail: detail})
}

// sort puts the lists in order.
func (r *Report) sort() {
	compare := func(a, b Ref) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task)) }
	for _, list := range []*[]Ref{&r.Imported, &r.Corrected, &r.RolledBack, &r.Released} {
		slices.SortFunc(*list, compare)
		*list = slices.Compact(*list)
	}
	for _, list := range [][]Ref{r.Unseen, r.Mismatched, r.Failed} {
		// A task may be there for more than one thing, each of which was found in its
		// order.
		slices.SortStableFunc(list, compare)
	}
}

// reconciler is the work of one Reconcile. A view may be old, partial or wrong in places. What
// of it can be used is sorted out here, before the lock, so that a change of many pods holds
// up no decision longer than it must.
type reconciler struct {
	l       *Ledger
	rep     Report
	partial bool // the view is
	byID    map[string]*sightJob
	jobs    []*sightJob // by id
	tasks   map[string]*sightTask
	gone    map[string]bool    // the ids in Deleted
	ids     []string           // of the jobs that may change, sorted
	touched map[string][]*task // by job, of a partial view: those that it says something of
}

// listed returns a job that is in the view itself, nil for others.
func (r *reconciler) listed(job string) *sightJob {
	if v := r.byID[job]; v != nil && v.listed {
		return v
	}
	return nil
}

// taskIDs calls do with the ids of all tasks that the view says something of; twice with
// those that it has and that are gone.
func (r *reconciler) taskIDs(do func(id string)) {
	for id := range r.tasks {
		do(id)
	}
	for id := range r.gone {
		do(id)
	}
}

// leaves reports whether what the view doesn't have of a job stays as it is.
func (r *reconciler) leaves(job string) bool { return r.partial && r.listed(job) == nil }

// sightJob is a job that the view has, or of which it has tasks. Its Tasks name their job and
// queue, and come by id.
type sightJob struct {
	Job
	listed bool        // the job itself is in the view
	moves  bool        // it is in that queue, wherever the ledger has it
	moved  bool        // the ledger had it elsewhere
	min    *JobRequest // nil: not known
	tasks  []*sightTask
	ended  bool // some task has
	lost   bool // the queue isn't there
}

// sightTask is a task that the view has.
type sightTask struct {
	req   *TaskRequest
	on    *book.Set // of an allocated task: the cards of its node
	cards []int32   // of an allocated task: by item; -1: unknown, until assign finds one
	was   *task     // of an allocated task: what is charged for it already
	class class
}

// class is what a task's status comes to.
type class uint8

const (
	classAllocated class = iota
	classPending
	classAside // neither allocated nor waiting, and not ended
	classEnded
)

// class returns how a task counts. A task that is being deleted is as good as
// ended unless such tasks count.
func (l *Ledger) class(t *Task) class {
	switch s := t.phase(); {
	case t.ended():
		return classEnded
	case (s == TaskReleasing || s == TaskPipelined) && l.cfg.CountReleasing:
		return classAllocated
	case s == TaskReleasing:
		return classEnded
	case s == TaskPipelined:
		return classAside
	case s == TaskPending:
		return classPending
	}
	return classAllocated
}

// look resolves a view. It changes nothing, and all that can be wrong with a view
// comes out here. It holds no lock: the catalog is asked, and pods take their time.
func (r *reconciler) look(view *View) error {
	// An informer may have an event of a pod's end and an older list that has the pod: the
	// end counts.
	for _, id := range view.Deleted {
		r.gone[id] = true
	}
	jobs := r.byID
	for _, job := range view.Jobs {
		if err := checkJobIDs(&job); err != nil {
			return err
		}
		if jobs[job.ID] != nil {
			return conflict("job", job.ID, "it is in the view twice")
		}
		// The caller's list stays as it is.
		job.Phase, job.Tasks = cmp.Or(job.Phase, PhasePending), slices.Clone(job.Tasks)
		for i := range job.Tasks {
			// A pod in a job's list needn't repeat what the list says.
			t := &job.Tasks[i]
			t.Job, t.Queue = cmp.Or(t.Job, job.ID), cmp.Or(t.Queue, job.Queue)
			if t.Job != job.ID {
				return conflict("task", t.ID, fmt.Sprintf("it is with job %q and of job %q", brief(job.ID), brief(t.Job)))
			}
		}
		jobs[job.ID] = &sightJob{Job: job, listed: true, moves: true}
	}
	for _, t := range view.Tasks {
		j := jobs[t.Job]
		if j == nil {
			// Of a Deployment, say: its pods say which queue it is in.
			j = &sightJob{Job: Job{ID: t.Job, Queue: t.Queue}}
			jobs[t.Job] = j
		}
		t.Queue = cmp.Or(t.Queue, j.Queue)
		j.Tasks = append(j.Tasks, t)
	}
	for _, id := range sorted(jobs) {
		j := jobs[id]
		r.jobs = append(r.jobs, j)
		// Tasks are charged in this order, and the first may bind the job to a card: the
		// order of an informer's list must not decide that.
		slices.SortFunc(j.Tasks, func(a, b Task) int { return cmp.Compare(a.ID, b.ID) })
		for i := range j.Tasks {
			if err := r.lookAtTask(j, &j.Tasks[i]); err != nil {
				return err
			}
		}
	}
	// In the order of the view: of several errors the first is returned.
	for i := range view.Jobs {
		if err := r.lookAtMin(jobs[view.Jobs[i].ID]); err != nil {
			return err
		}
	}
	return nil
}

// An error is one of the whole view, such as a task that is there twice. What is wrong with
// one pod goes into the report.
func (r *reconciler) lookAtTask(j *sightJob, task *Task) error {
	if err := checkTaskIDs(task); err != nil {
		return err
	}
	switch {
	case r.tasks[task.ID] != nil:
		return conflict("task", task.ID, "it is in the view twice")
	case task.Queue != j.Queue:
		return conflict("task", task.ID, fmt.Sprintf("it is in queue %q, its job in %q", brief(task.Queue), brief(j.Queue)))
	}
	class := r.l.class(task)
	t, notes, err := r.l.sightOf(task, class)
	if errors.Is(err, ErrBadAmount) { // one that a caller lists, as of a claim: it stops no other task
		// The pod may be running all the same: what it uses is charged, without what the
		// caller lists.
		without := *task
		without.Cards = []Item{}
		var again error
		if t, notes, again = r.l.sightOf(&without, class); again == nil {
			// It is reported as Failed, with what was wrong.
			t.req.invalid, err = err.Error(), nil
		}
	}
	if err != nil {
		return err
	}
	t.class = class
	j.ended = j.ended || class != classAllocated && task.ended()
	// A task that runs says where its job is. One that waits says only where it would like to
	// be.
	j.moves = j.moves || class == classAllocated && !r.gone[task.ID]
	for _, n := range notes {
		if n.Code == codeCardMismatch {
			r.rep.Mismatched = append(r.rep.Mismatched, Ref{Job: task.Job, Task: task.ID, Detail: n.Name})
		}
	}
	if t.req.invalid != "" {
		r.rep.fail(task.Job, task.ID, ReasonGetTaskRequestResourceFailed, t.req.invalid)
	}
	r.tasks[task.ID] = t
	j.tasks = append(j.tasks, t)
	return nil
}

// sightOf resolves a task of a class.
func (l *Ledger) sightOf(task *Task, class class) (t *sightTask, notes []entryError, err error) {
	// It is charged what its node has, whatever it asked for.
	if class == classAllocated {
		return l.resolveRunning(task)
	}
	t = &sightTask{req: &TaskRequest{id: task.ID, job: task.Job, queue: task.Queue}}
	// It is given back by its id. What its objects say isn't read, so no fault in them can
	// keep a charge.
	if task.ended() {
		return t, nil, nil
	}
	r := l.resolver(task.Queue)
	if err = r.task(t.req, task); err == nil {
		r.addOutputs(t.req)
	}
	return t, nil, err
}

// lookAtMin resolves the min of a job. Where tasks of it have ended, it is no more
// cpu and memory than those that are left ask for: what has ended isn't reserved
// again.
func (r *reconciler) lookAtMin(j *sightJob) error {
	req, _, err := r.l.resolveJob(j.Job)
	switch {
	case err != nil && !errors.Is(err, ErrBadAmount):
		return err
	case j.MinUnknown: // whatever it says stays unused
		return nil
	case err != nil:
		r.rep.fail(j.ID, "", ReasonGetTaskRequestResourceFailed, err.Error())
		return nil
	case req.invalid != "":
		r.rep.fail(j.ID, "", ReasonGetTaskRequestResourceFailed, req.invalid)
		return nil
	}
	// The PodGroup asks for all tasks as long as it is there.
	if j.ended {
		req.bound(j.tasks)
	}
	j.min = req
	return nil
}

// bound makes the min of a job no more of cpu, memory and outputs than what tasks ask for.
func (r *JobRequest) bound(tasks []*sightTask) {
	var plain book.Plain
	most := map[*book.Alternatives]int64{}
	for _, t := range tasks {
		for dim, amount := range t.req.use.Plain {
			plain[dim] = book.AddSaturated(plain[dim], amount)
		}
		for _, it := range t.req.use.Items {
			most[it.Alts] = book.AddSaturated(most[it.Alts], it.Amount)
		}
	}
	for dim := range plain {
		r.min.Plain[dim] = min(r.min.Plain[dim], plain[dim])
	}
	for i := range r.min.Items {
		if it := &r.min.Items[i]; isOutput(it.Alts) {
			it.Amount = min(it.Amount, most[it.Alts])
		}
	}
	r.min.Items = slices.DeleteFunc(r.min.Items, func(it book.MinItem) bool { return it.Amount == 0 })
}
