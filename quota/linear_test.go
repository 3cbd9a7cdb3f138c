package quota

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// operation is one of a concurrent run, to be made again on the golden ledger.
type operation struct {
	what      string
	low, high uint64 // what the ledger's Seq was before and after
	got       modelResult
	again     func(g *golden) modelResult
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

// seqOf returns a Seq that a ledger has or had.
func seqOf(l *Ledger) uint64 {
	var a Answer
	l.Enqueueable(&a, &JobRequest{queue: "nope"})
	return a.Seq
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
			m.l = l
			for name := range golden.queues {
				if golden.refuses(&goldRequest{queue: name}).Reason == "" {
					m.leaves = append(m.leaves, name)
				}
			}
			slices.Sort(m.leaves)
			m.forget()
			var shared []*goldRequest
			for range 200 {
				m.tasks = nil // so that it is a new one
				task := m.task(fmt.Sprint("t", m.IntN(40)))
				shared = append(shared, task)
				m.taskHandle(task)
			}
			var wait sync.WaitGroup
			for i := range goroutines {
				wait.Go(func() {
					own := *m
					own.Rand = rand.New(rand.NewPCG(seed, uint64(i+1)))
					own.g = m.g.clone()
					own.forget()
					own.tasks, own.taskOf = shared, m.taskOf
					for range operations {
						if i == 0 && own.IntN(8) == 0 {
							r.operate(&own, administration)
							continue
						}
						r.operate(&own, linearOps)
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

// linearOps are what all goroutines do, and administration what only one does: so the queues are
// replaced in the order in which it has made them.
var (
	linearOps = strings.Fields("Commit Commit Commit Commit Commit Commit Commit Allocatable Enqueueable Reserve Reserve Resize " +
		"ReserveMany CommitAll Release Release Release Rollback ReleaseJob Snapshot")
	administration = strings.Fields("Reconcile SetQueues Expire")
)

// operate makes one of some operations.
func (r *run) operate(m *model, names []string) {
	op := operation{what: m.oneOf(names...), low: seqOf(r.l)}
	if op.what == "Snapshot" {
		then := testkit.Must(Restore(r.l.cfg, r.l.source.catalog, r.l.Snapshot()))
		op.got = modelResult{text: stateOf(then), seq: then.seq}
		op.again = func(g *golden) modelResult { return modelResult{text: g.state()} }
	}
	for _, is := range modelOps {
		if is.name == op.what {
			do := is.do(m)
			op.low = seqOf(r.l)
			op.got, op.again = do.ledger(), do.golden
		}
	}
	op.high = seqOf(r.l)
	r.note(op)
}

// replay makes the operations again in the order of Seq.
func (r *run) replay(t *testing.T, g *golden) {
	changes := map[uint64]operation{}
	questions := map[uint64][]operation{} // by the Seq of the state
	for _, op := range r.ops {
		if !op.got.changed {
			questions[op.got.seq] = append(questions[op.got.seq], op)
			if op.got.seq < op.low || op.got.seq > op.high {
				t.Fatalf("%s of %d to %d was decided on %d", op.what, op.low, op.high, op.got.seq)
			}
			continue
		}
		if other, twice := changes[op.got.seq]; twice {
			t.Fatalf("%s and %s are both number %d", op.what, other.what, op.got.seq)
		}
		changes[op.got.seq] = op
		if op.got.seq <= op.low || op.got.seq > op.high {
			t.Fatalf("%s of %d to %d is number %d", op.what, op.low, op.high, op.got.seq)
		}
	}
	total := uint64(len(changes))
	made := 0
	for g.seq = 0; ; g.seq++ {
		for _, op := range questions[g.seq] {
			if diff := op.got.difference(op.again(g)); diff != "" {
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
		if diff := op.got.difference(op.again(g)); diff != "" {
			t.Fatalf("%d: %s%s", g.seq+1, op.what, diff)
		}
	}
	if diff := difference(stateOf(r.l), g.state()); diff != "" {
		t.Fatalf("state%s", diff)
	}
	testkit.Check(r.l.Check())
	t.Logf("%d changes, %d questions and refusals", total, made)
}
