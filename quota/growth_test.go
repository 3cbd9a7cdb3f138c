package quota

import (
	"fmt"
	"strings"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
)

// TestGrowth: what is read, and what is changed at once, costs no more than its size.
func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		n       int
		prepare func(t *testing.T, n int) func()
	}{
		"restore jobs and tasks":             {500, restoreRecords},
		"restore a chain with jobs below":    {500, restoreChain},
		"commit, roll back, resize, release": {1000, largeJob},
		"leave out a deep tree":              {500, deepTree},
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Linear(t, c.n, func(n int) func() { return c.prepare(t, n) })
		})
	}
}

// restoreRecords takes a snapshot of many reserved jobs, with a task each, and restores it.
func restoreRecords(t *testing.T, n int) func() {
	w := gpus(t, Config{}, "q", "A:inf")
	for i := range n {
		id := fmt.Sprint(i)
		w.reserve(id, "q", "A:2")
		w.commit(id, id, "q", "A:1")
	}
	return func() { w.again() }
}

// restoreChain restores queues below queues, with all jobs at the end.
func restoreChain(t *testing.T, n int) func() {
	w := gpus(t, Config{}, "q", "A:inf")
	var text strings.Builder
	text.WriteString(`"queues":[{"name":"q0","state":"open"}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, `,{"name":"q%d","parent":"q%d","state":"closed","complete":true}`, i, i-1)
	}
	text.WriteString(`],"jobs":[{"id":"j0","queue":"q0","policy":"same-card","reserved":true}`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&text, `,{"id":"j%d","queue":"q%d","policy":"same-card","reserved":true,"min":{"cpu":1}}`, i, n)
	}
	text.WriteString("]")
	data := snapshotWith(t, text.String())
	return func() {
		if _, err := Restore(w.cfg, w.m, nil, data); err != nil {
			t.Error(err)
		}
	}
}

// deepTree leaves out queues below queues, with a job in each of those at the end, and
// takes them back.
func deepTree(t *testing.T, n int) func() {
	w := newWorld(t, Config{}, "q0", "A:inf")
	all := []Queue{q(w.m, "q0", "A:inf")}
	for i := range n {
		all = append(all, q(w.m, fmt.Sprintf("q%d < q%d", i+1, i), "A:inf"))
	}
	for i := range n {
		all = append(all, q(w.m, fmt.Sprintf("leaf%d < q%d", i, n), "A:inf"))
	}
	set := func(queues []Queue, orphans int) {
		if got, _, err := w.SetQueues(queues, nil); err != nil || len(got) != orphans {
			t.Errorf("%d orphans, want %d, error %v", len(got), orphans, err)
		}
	}
	set(all, 0)
	for i := range n {
		w.want(w.reserve(fmt.Sprint(i), fmt.Sprint("leaf", i), "A:1"), "yes")
	}
	return func() {
		set(all[:1], n)
		set(all, 0)
	}
}

// largeJob does to one job with many tasks what can be done to it.
func largeJob(t *testing.T, n int) func() {
	w := newWorld(t, Config{}, "q", "cpu:inf A:inf B:inf")
	w.want(w.reserve("j", "q", fmt.Sprintf("cpu:%d A:%d", n, n)), "yes")
	tasks, ids := make([]*TaskRequest, n), make([]string, n)
	for i := range n {
		ids[i] = fmt.Sprint(i)
		tasks[i] = w.task(ids[i], "j", "q", "cpu:1 A:1")
	}
	return func() {
		_, _ = w.CommitAll(tasks)
		w.Rollback(ids...)
		_, _ = w.CommitAll(tasks)
		_, _ = w.Resize(w.job("j", "q", "cpu:5 A:7"))
		w.Release(ids...)
		if len(w.tasks) > 0 {
			t.Errorf("%d tasks are left", len(w.tasks))
		}
	}
}
