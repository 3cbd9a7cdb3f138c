package quota

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// operation is one of a concurrent run, to be made again on the golden ledger.
type operation struct {
	what      string
	seq       uint64 // its own, of a change; else that of the state it was decided on
	change    bool
	low, high uint64 // what seq was before and after
	again     func(g *golden) string
	got       string // what it came to
}

// run is a ledger that several goroutines use.
type run struct {
	l   *Ledger
	mu  sync.Mutex
	ops []operation
}

func (r *run) note(op operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
}

// now returns a Seq that the ledger has or had.
func (r *run) now() uint64 {
	var a Answer
	r.l.Enqueueable(&a, &JobRequest{queue: "nope"})
	return a.Seq
}

// text is an answer, to be compared.
func (a Answer) text(err error) string {
	for _, known := range []error{ErrConflict, ErrBadAmount} {
		if errors.Is(err, known) {
			err = known
		}
	}
	a.Refusal.Detail, a.Refusal.facts = "", facts{}
	return fmt.Sprint(a.OK, a.Repeat, a.Seq, a.Refusal, a.Task, a.Options, a.Charged, err)
}

// What many goroutines do at once comes to the same as the same operations, one
// after the other in the order of their Seq, on the golden ledger: answers, and
// the snapshot at the end and in between. Every Seq lies in the time of its
// operation.
func TestLinearizable(t *testing.T) {
	first := testkit.Environment(t, modelSeed, 0)
	for seed := first; seed < first+uint64(testkit.Amount(t, 4, 4, 20)); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			goroutines, operations := 8, 400
			if testkit.RaceEnabled {
				operations = 150
			}
			r := &run{}
			m := newModel(t, seed, histogram{})
			cfg := m.g.cfg
			cfg.OnEvent = func(Event) {} // the model's is for one goroutine
			l := testkit.Must(newBuilt(cfg, m.m, m.l.source.catalog, m.specs()))
			r.l = l
			golden := m.g.clone()
			var handles []*TaskRequest // shared by all
			var requests []*goldRequest
			m.l = l
			m.leaves = nil
			for name := range golden.queues {
				if golden.refuses(&goldRequest{queue: name}).Reason == "" {
					m.leaves = append(m.leaves, name)
				}
			}
			slices.Sort(m.leaves)
			for range 200 {
				request := m.task(fmt.Sprint("t", m.IntN(40)))
				requests, handles = append(requests, request), append(handles, m.taskHandle(request))
			}
			var wait sync.WaitGroup
			for i := range goroutines {
				wait.Go(func() {
					own := *m
					own.Rand = rand.New(rand.NewPCG(seed, uint64(i+1)))
					own.g = m.g.clone()
					own.forget()
					for range operations {
						if i == 0 && own.IntN(8) == 0 {
							r.administer(&own)
							continue
						}
						at := own.IntN(len(handles))
						r.operate(&own, requests[at], handles[at])
					}
				})
			}
			wait.Wait()
			r.replay(t, golden)
		})
	}
}

// TestBatchConcurrent asks from several goroutines while others change the
// ledger: every answer is that of one state.
func TestBatchConcurrent(t *testing.T) {
	w := newWorld(t, Config{}, "org", "A:8", "x < org", "A:8", "y < org", "A:8")
	var jobs []*JobRequest
	for range 100 {
		jobs = append(jobs, w.job("a", "x", "A:4"), w.job("b", "y", "A:4"))
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			var dst vector.Mask
			for range 50 {
				if w.EnqueueableBatch(&dst, jobs); dst.Count() != 0 && dst.Count() != len(jobs) {
					t.Errorf("%d of %d", dst.Count(), len(jobs))
				}
			}
		})
	}
	for range 50 {
		w.want(w.reserve("c", "x", "A:6"), "yes")
		w.ReleaseJob("c")
	}
	wait.Wait()
}

// operate makes one operation.
func (r *run) operate(m *model, task *goldRequest, handle *TaskRequest) {
	op := operation{low: r.now()}
	id, cards := task.id, m.node()
	one := func(what string, a Answer, err error, again func(g *golden) (Answer, error)) {
		op.what, op.seq, op.change, op.got = what, a.Seq, a.changed(), a.text(err)
		op.again = func(g *golden) string { return textOf(again(g)) }
	}
	known := func(what string, seq uint64, known bool, again func(g *golden) bool) {
		op.what, op.seq, op.change, op.got = what, seq, known, fmt.Sprint(known)
		op.again = func(g *golden) string { return fmt.Sprint(again(g)) }
	}
	switch n := m.IntN(20); {
	case n < 7:
		a, err := r.l.Commit(handle, cards...)
		one("Commit", a, err, func(g *golden) (Answer, error) { return g.commit(task, cards, task.node) })
	case n < 8:
		var a Answer
		r.l.Allocatable(&a, handle)
		one("Allocatable", a, nil, func(g *golden) (Answer, error) { a, _ := g.allocatable(task, nil); return a, nil })
		op.change = false
	case n < 9:
		job := m.job(fmt.Sprint("j", m.IntN(14)))
		var a Answer
		r.l.Enqueueable(&a, m.jobHandle(job))
		one("Enqueueable", a, nil, func(g *golden) (Answer, error) { a, _ := g.enqueueable(job); return a, nil })
		op.change = false
	case n < 12:
		job, resize := m.job(fmt.Sprint("j", m.IntN(14))), n == 11
		reserve := r.l.Reserve
		if resize {
			reserve = r.l.Resize
		}
		a, err := reserve(m.jobHandle(job))
		one("Reserve", a, err, func(g *golden) (Answer, error) { return g.reserve(job, resize) })
	case n < 13:
		r.reserveMany(m, &op)
	case n < 14:
		r.commitAll(m, &op)
	case n < 17:
		seq, was := r.l.Release(id)
		known("Release", seq, was, func(g *golden) bool { was, _ := g.giveBack(true, []string{id}); return was })
	case n < 18:
		seq, was := r.l.Rollback(id)
		known("Rollback", seq, was, func(g *golden) bool { was, _ := g.giveBack(false, []string{id}); return was })
	case n < 19:
		job := fmt.Sprint("j", m.IntN(14))
		seq, was := r.l.ReleaseJob(job)
		known("ReleaseJob", seq, was, func(g *golden) bool { return g.releaseJob(job) })
	default:
		then := testkit.Must(Restore(r.l.cfg, r.l.source.catalog, r.l.Snapshot()))
		op.what, op.seq, op.got, op.again = "Snapshot", then.seq, stateOf(then), (*golden).state
	}
	op.high = r.now()
	r.note(op)
}

func textOf(a Answer, err error) string { return a.text(err) }

func (r *run) reserveMany(m *model, op *operation) {
	var jobs []*goldRequest
	var handles []*JobRequest
	for i := range 3 {
		jobs = append(jobs, m.job(fmt.Sprint("j", (m.IntN(14)+i)%14)))
		handles = append(handles, m.jobHandle(jobs[i]))
	}
	answers, err := r.l.ReserveMany(handles)
	op.what = "ReserveMany"
	for _, a := range answers {
		op.seq, op.change = max(op.seq, a.Seq), op.change || a.changed()
		op.got += a.text(nil)
	}
	op.got += textOf(Answer{}, err)
	op.again = func(g *golden) (text string) {
		var first error
		for _, job := range jobs {
			a, err := g.reserve(job, false)
			first = cmp.Or(first, err)
			text += a.text(nil)
		}
		return text + textOf(Answer{}, first)
	}
}

func (r *run) commitAll(m *model, op *operation) {
	var tasks []*goldRequest
	var handles []*TaskRequest
	same := m.task("")
	for i := range 3 {
		task := *same
		task.id = fmt.Sprint("t", (m.IntN(13)*3 + i))
		tasks = append(tasks, &task)
		handles = append(handles, m.taskHandle(&task))
	}
	a, err := r.l.CommitAll(handles)
	op.what, op.seq, op.change = "CommitAll", a.Seq, a.changed()
	op.got = a.text(err)
	op.again = func(g *golden) string {
		a, err := g.commitAll(tasks)
		if a.OK { // of a gang no options
			a.Options = nil
		}
		return a.text(err)
	}
}

// administer changes the queues, or lets holds expire: only one goroutine does,
// so the numbers of its changes are those that nothing else has, in order.
func (r *run) administer(m *model) {
	if m.IntN(4) == 0 {
		view, seen := m.view(m.IntN(2) == 0)
		op := operation{what: "Reconcile", low: r.now()}
		report := func(rep Report) string {
			return fmt.Sprint(rep.Seq, rep.Imported, rep.Corrected, rep.RolledBack, rep.Released, rep.Unseen)
		}
		rep, err := r.l.Reconcile(view)
		if err != nil {
			return // sums are only estimated
		}
		op.seq, op.change, op.got, op.high = rep.Seq, rep.Changed, report(rep), r.now()
		op.again = func(g *golden) string {
			return report(g.reconcile(seen))
		}
		r.note(op)
		return
	}
	if m.IntN(2) == 0 {
		m.newQueues()
		queues := slices.Clone(m.queues)
		op := operation{what: "SetQueues", low: r.now()}
		orphans, seq, err := r.l.setBuilt(m.specs(), nil)
		op.seq, op.change, op.got, op.high = seq, err == nil, textOf(Answer{Charged: orphans}, err), r.now()
		op.again = func(g *golden) string {
			return textOf(Answer{Charged: g.setQueues(queues)}, nil)
		}
		r.note(op)
		return
	}
	op := operation{what: "Expire", low: r.now()}
	before := op.low / 2
	expired, seq := r.l.Expire(before)
	op.seq, op.change, op.got, op.high = seq, len(expired) > 0, fmt.Sprint(expired), r.now()
	op.again = func(g *golden) string { return fmt.Sprint(g.expire(before)) }
	r.note(op)
}

// replay makes the operations again in the order of Seq.
func (r *run) replay(t *testing.T, g *golden) {
	changes := map[uint64]operation{}
	questions := map[uint64][]operation{} // by the Seq of the state
	for _, op := range r.ops {
		if !op.change {
			questions[op.seq] = append(questions[op.seq], op)
			if op.seq < op.low || op.seq > op.high {
				t.Fatalf("%s of %d to %d was decided on %d", op.what, op.low, op.high, op.seq)
			}
			continue
		}
		if other, twice := changes[op.seq]; twice {
			t.Fatalf("%s and %s are both number %d", op.what, other.what, op.seq)
		}
		changes[op.seq] = op
		if op.seq <= op.low || op.seq > op.high {
			t.Fatalf("%s of %d to %d is number %d", op.what, op.low, op.high, op.seq)
		}
	}
	total := uint64(len(changes))
	made := 0
	for g.seq = 0; ; g.seq++ {
		for _, op := range questions[g.seq] {
			if diff := difference(op.got, op.again(g)); diff != "" {
				t.Fatalf("%d: %s%s", g.seq, op.what, diff)
			}
			made++
		}
		if g.seq == total {
			break
		}
		op, ok := changes[g.seq+1]
		if !ok {
			t.Fatalf("nobody made change %d", g.seq+1)
		}
		if diff := difference(op.got, op.again(g)); diff != "" {
			t.Fatalf("%d: %s%s", g.seq+1, op.what, diff)
		}
	}
	if diff := difference(stateOf(r.l), g.state()); diff != "" {
		t.Fatalf("state%s", diff)
	}
	testkit.Check(r.l.Check())
	t.Logf("%d changes, %d questions and refusals", total, made)
}
