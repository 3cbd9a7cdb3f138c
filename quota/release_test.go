package quota

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// Tasks that are rolled back together, in any order, leave what they do one after the
// other, in theirs: sums, holds, and what is covered of every other task.
func TestRollbackTogether(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		anyMix, need, ids := r.IntN(2) == 1, fmt.Sprint("cpu:", r.IntN(5), " A|B:", 1+r.IntN(6)), []string(nil)
		fresh := func() *world {
			w := newWorld(t, Config{AnyMix: anyMix}, "q", "cpu:100 mem:100 A:100 B:100")
			w.want(w.reserve("j", "q", need), "yes")
			return w
		}
		together, single := fresh(), fresh()
		for i := range 2 + r.IntN(9) {
			id, item := fmt.Sprint("t", i), []string{"A|B", "A|B", "B|A", "A"}[r.IntN(4)]
			text := fmt.Sprintf("cpu:%d mem:1 %s:%d", r.IntN(3), item, 1+r.IntN(3))
			if together.commit(id, "j", "q", text) != single.commit(id, "j", "q", text) {
				t.Fatal("the same commit has two answers")
			}
			ids = append(ids, id)
		}
		ids = ids[r.IntN(2):]
		r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		ids = ids[:1+r.IntN(len(ids))]
		together.Rollback(ids...)
		r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
		for _, id := range ids {
			single.Rollback(id)
		}
		if diff := difference(goldOf(together.Ledger, together.jobs["j"]).text(), goldOf(single.Ledger, single.jobs["j"]).text()); diff != "" {
			t.Fatalf("seed %d, %v: %s", seed, ids, diff)
		}
		for _, w := range []*world{together, single} {
			if found := w.Check(); found != nil {
				t.Fatalf("seed %d, %v: %v", seed, ids, found)
			}
		}
	}
}

// BenchmarkRollback takes the tasks of a job back at once, with a large one behind
// them that its min doesn't cover. The time per task must not grow with their number.
func BenchmarkRollback(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			w := newWorld(&testing.T{}, Config{}, "q", "cpu:inf A:inf")
			if got := w.reserve("j", "q", fmt.Sprintf("cpu:%d A:%d", n, n)); got != "yes" {
				b.Fatal(got)
			}
			ids := make([]string, n)
			tasks := make([]*TaskRequest, n)
			for i := range ids {
				ids[i] = fmt.Sprint("t", i)
				tasks[i] = w.task(ids[i], "j", "q", "cpu:1 A:1")
			}
			last := w.task("last", "j", "q", fmt.Sprintf("cpu:%d A:%d", n, n))
			for b.Loop() {
				b.StopTimer()
				w.Release("last")
				if got := say(w.Resize(w.job("j", "q", fmt.Sprintf("cpu:%d A:%d", n, n)))); got != "yes" && got != "repeat" {
					b.Fatal(got)
				}
				for _, t := range tasks {
					if a, err := w.Commit(t); !a.OK {
						b.Fatal(a, err)
					}
				}
				if a, err := w.Commit(last); !a.OK {
					b.Fatal(a, err)
				}
				b.StartTimer()
				if !known(w.Rollback(ids...)) {
					b.Fatal("not all were charged")
				}
			}
			if got, want := w.state("q", "A"), fmt.Sprintf("%d/0/0", n*1000); got != want {
				b.Fatalf("%s, want %s", got, want)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}

// BenchmarkRollbackOne rolls tasks of a job back and commits them again: in a job of ten times
// as many it takes no longer.
func BenchmarkRollbackOne(b *testing.B) {
	for _, n := range []int{4000, 40_000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			l, tasks := elastic(b, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				rollBack(b, l, tasks[i*7919%n])
			}
			testkit.Check(l.Check())
		})
	}
}
