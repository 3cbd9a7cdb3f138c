package quota

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/resvec/resvec/vector"
)

func TestEnqueueableBatch(t *testing.T) {
	w := newWorld(t, Config{}, "a", "cpu:4 A:2", "b", "A:4")
	var jobs []*JobRequest
	var want strings.Builder
	for _, c := range []struct{ queue, min, want string }{
		{"a", "A:2", "1"},
		{"a", "A:4", "0"},
		{"a", "cpu:4", "1"},
		{"b", "A:4", "1"},
		{"b", "cpu:4", "0"},
		{"b", "A|B:4", "1"},

		{"a", "", "1"},
		{"b", "B|A:4", "1"},
		{"b", "B|C:1", "0"},
		{"a", "A:1 A|B:1", "1"}, // on top of each other
		{"a", "A:2 A|B:1", "0"},
		{"nope", "A:1", "0"},
	} {
		jobs = append(jobs, w.job("probe", c.queue, c.min))
		want.WriteString(c.want)
	}
	invalid := w.job("probe", "a", "A:1")
	invalid.invalid = "no card is known"
	invalid.min.Invalid = true
	jobs = append(jobs, invalid)
	want.WriteString("0")

	dst := vector.NewMask(1000)
	dst.SetAll()
	if seq := w.EnqueueableBatch(dst, jobs); seq != 0 || dst.Len() != len(jobs) {
		t.Errorf("seq %d, %d answers", seq, dst.Len())
	}
	w.want(bitsOf(dst), want.String())
	w.want(w.reserve("j", "b", "A:3"), "yes")
	if seq := w.EnqueueableBatch(dst, jobs[3:4]); seq != 1 || dst.Test(0) {
		t.Error("the reservation isn't seen")
	}
	if w.EnqueueableBatch(dst, nil); dst.Len() != 0 {
		t.Errorf("%d answers to nothing", dst.Len())
	}
}

// bitsOf writes a mask as zeros and ones.
func bitsOf(m *vector.Mask) string {
	var s strings.Builder
	for i := range m.Len() {
		if m.Test(i) {
			s.WriteByte('1')
		} else {
			s.WriteByte('0')
		}
	}
	return s.String()
}

func TestEnqueueableBatchMix(t *testing.T) {
	w := newWorld(t, Config{AnyMix: true}, "org", "A:4 H:4", "x < org", "A:3 B:5 H:4", "y < org", "A:2 B:2 C:2")
	for _, c := range []struct{ queue, min, want string }{
		{"x", "A|H:7", "1"},
		{"x", "A|H:8", "0"},
		{"x", "A|B:8/2", "0"},
		{"x", "A|B:6/2", "1"},
		{"y", "A|B:3 B|C:3", "1"},
		{"y", "A|B:3 B|C:4", "0"},
		{"y", "A:2 A|B:3", "0"},
		{"org", "A:1", "0"},
	} {
		var dst vector.Mask
		w.EnqueueableBatch(&dst, []*JobRequest{w.job("probe", c.queue, c.min)})
		if got := bitsOf(&dst); got != c.want || c.want == "1" != (w.probe(c.queue, c.min) == "yes") {
			t.Errorf("%s in %s: %s, alone %s, want %s", c.min, c.queue, got, w.probe(c.queue, c.min), c.want)
		}
	}
}

// FuzzEnqueueableBatch changes a ledger at random and compares the batch with one job
// at a time after every change.
func FuzzEnqueueableBatch(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint8(50))
	}
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		z := newBatchFuzz(t, seed)
		for range steps {
			z.change()
			z.compare()
		}
	})
}

// batchFuzz is a ledger and requests of all kinds.
type batchFuzz struct {
	*world
	*rand.Rand
	queues []Queue
	jobs   []*JobRequest
	tasks  int
	dst    vector.Mask
}

var (
	batchQueues = []string{"org", "x", "y", "z", "later"}
	batchLists  = []string{"A", "B", "C", "A|B", "B|A", "B|C", "C|H|A", "A|B|C|H|K"}
)

func newBatchFuzz(t *testing.T, seed uint64) *batchFuzz {
	z := &batchFuzz{Rand: rand.New(rand.NewPCG(seed, 2))}
	cfg := Config{AnyMix: z.IntN(2) == 1, MissingUnlimited: z.IntN(2) == 1, EnforceGuarantee: z.IntN(2) == 0}
	z.world = newWorld(t, cfg)
	z.setQueues()
	for i := range 130 {
		r := z.job(fmt.Sprint("j", z.IntN(20)), batchQueues[z.IntN(len(batchQueues))], z.min())
		r.min.AnyMix = z.IntN(2) == 1
		if i%16 == 0 {
			r.invalid, r.min.Invalid = "unknown", true
		}
		z.jobs = append(z.jobs, r)
	}
	return z
}

// min draws what a job asks for; amounts of several cards are multiples of two units.
func (z *batchFuzz) min() string {
	var s []string
	if z.IntN(2) == 0 {
		s = append(s, fmt.Sprintf("cpu:%d", z.IntN(6)))
	}
	if z.IntN(4) == 0 {
		s = append(s, fmt.Sprintf("mem:%d", z.IntN(6)))
	}
	for _, k := range z.Perm(len(batchLists))[:z.IntN(4)] {
		unit := 1 + z.IntN(2)
		s = append(s, fmt.Sprintf("%s:%d/%d", batchLists[k], unit*(1+z.IntN(3)), unit))
	}
	return strings.Join(s, " ")
}

func (z *batchFuzz) setQueues() {
	z.queues = z.queues[:0]
	for _, name := range batchQueues {
		if z.IntN(8) == 0 {
			continue
		}
		capability := ""
		for _, k := range z.Perm(8)[:z.IntN(7)] {
			amount := fmt.Sprint(z.IntN(9))
			if z.IntN(6) == 0 {
				amount = "inf"
			}
			capability += fmt.Sprintf(" %s:%s", []string{"cpu", "mem", "A", "B", "C", "H", "K", "V"}[k], amount)
		}
		queue := q(z.m, name, capability)
		queue.State = State(z.IntN(10) / 9)
		if (name == "x" || name == "y") && len(z.queues) > 0 && z.queues[0].Name == "org" {
			queue.Parent = "org"
		}
		if z.IntN(4) == 0 {
			queue.Guarantee, _ = vectorOf(z.m, fmt.Sprintf("A:%d", z.IntN(4)))
		}
		z.queues = append(z.queues, queue)
	}
	if _, _, err := z.SetQueues(z.queues, nil); err != nil {
		z.Fatal(err)
	}
}

// change changes the ledger.
func (z *batchFuzz) change() {
	r := z.jobs[z.IntN(len(z.jobs))]
	id := fmt.Sprint("t", z.IntN(z.tasks+1))
	switch z.IntN(9) {
	case 0, 1:
		_, _ = z.Reserve(r)
	case 2:
		_, _ = z.Resize(r)
	case 3, 4:
		z.tasks++
		task := z.task(fmt.Sprint("t", z.tasks), r.id, r.queue, "cpu:1 "+batchLists[z.IntN(len(batchLists))]+":1")
		_, _ = z.Commit(task)
	case 5:
		z.Release(id)
	case 6:
		z.Rollback(id)
	case 7:
		z.ReleaseJob(r.id)
	case 8:
		z.setQueues()
	}
}

func (z *batchFuzz) compare() {
	z.Shuffle(len(z.jobs), func(i, k int) { z.jobs[i], z.jobs[k] = z.jobs[k], z.jobs[i] })
	jobs := z.jobs[:z.IntN(len(z.jobs)+1)]
	seq := z.EnqueueableBatch(&z.dst, jobs)
	var a Answer
	for i, r := range jobs {
		if z.Enqueueable(&a, r) != z.dst.Test(i) || a.Seq != seq {
			z.Fatalf("job %s in %s, %+v: %+v alone, seq %d; %v in a batch, seq %d", r.id, r.queue, r.min.Items, a, a.Seq, z.dst.Test(i), seq)
		}
	}
	if found := z.Check(); found != nil {
		z.Fatal(found)
	}
}

// TestEnqueueableBatchShares asks from several goroutines while others change the
// ledger: every answer is that of one state.
func TestEnqueueableBatchShares(t *testing.T) {
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

// A list of tasks is decided on as each of them is, wherever in it they stand.
func TestAllocatableBatch(t *testing.T) {
	w := newWorld(t, Config{}, "org", "cpu:9 A:8", "x < org", "cpu:9 A:3 B:1", "y < org", "A:8")
	w.want(w.reserve("j", "x", "A:2"), "yes")
	var tasks []*TaskRequest
	for i := range 200 {
		tasks = append(tasks, w.task(fmt.Sprint(i), []string{"j", "k"}[i%2], []string{"x", "y", "nope"}[i%3], []string{"A:1", "A:2", "A|B:3", "cpu:1", ""}[i%5]))
	}
	var dst vector.Mask
	var a Answer
	for _, n := range []int{200, 0, 1, 7, 8, 9, 63, 64, 65, 200} {
		if seq := w.AllocatableBatch(&dst, tasks[:n]); seq != 1 || dst.Len() != n {
			t.Errorf("seq %d, %d tasks", seq, dst.Len())
		}
		for i, task := range tasks[:n] {
			if w.Allocatable(&a, task) != dst.Test(i) {
				t.Errorf("%d of %d: %v, alone %+v", i, n, dst.Test(i), a)
			}
		}
	}
	for what, tasks := range map[string][]*TaskRequest{
		"quota: nil request":               {tasks[0], nil},
		"quota: request of another ledger": {{owner: new(Ledger)}},
	} {
		func() {
			defer func() {
				if r := recover(); r != what {
					t.Errorf("%v, want %s", r, what)
				}
			}()
			w.AllocatableBatch(&dst, tasks)
		}()
	}
	w.want(w.reserve("l", "y", "A:1"), "yes") // the panics have left no lock
}

func TestQuestionsDontAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool forgets at random under the race detector")
	}
	for _, anyMix := range []bool{false, true} {
		w := newWorld(t, Config{AnyMix: anyMix}, "org", "A:4 B:4 C:4", "x < org", "cpu:4 A:4 B:4 C:4")
		w.want(w.reserve("j", "x", "A|B:3 C:2"), "yes")
		w.want(w.commit("1", "j", "x", "A|B:1"), "A")
		jobs := []*JobRequest{
			w.job("k", "x", "cpu:1 A|B:2 B|C:1 C:1"), w.job("k", "x", "A|B|C:9"), w.job("j", "x", "A|B:4"),
			w.job("k", "nope", "A:1"), w.job("k", "x", "cpu:9"),
		}
		tasks := []*TaskRequest{w.task("2", "j", "x", "A|B:1"), w.task("2", "k", "x", "A|B:9 C:1"), w.task("2", "k", "org", "C:1")}
		var dst vector.Mask
		var a Answer
		ask := func() {
			w.EnqueueableBatch(&dst, jobs)
			for _, r := range jobs {
				w.Enqueueable(&a, r)
				w.Enqueueable(nil, r)
			}
			for _, r := range tasks {
				w.Allocatable(&a, r)
				w.Allocatable(nil, r)
			}
		}
		if n := testing.AllocsPerRun(100, ask); n != 0 {
			t.Errorf("%v: %v allocations", anyMix, n)
		}
	}
}
