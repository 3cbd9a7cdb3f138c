package quota

import (
	"fmt"
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
	if got := panicOf(func() { w.AllocatableBatch(&dst, []*TaskRequest{tasks[0], {owner: new(Ledger)}}) }); got != "quota: request of another ledger" {
		t.Error(got)
	}
	w.want(w.reserve("l", "y", "A:1"), "yes") // the panic has left no lock
}
