package quota

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota/internal/book"

	corev1 "k8s.io/api/core/v1"
)

// many makes 10,000 queues below 100 parents, over 64 cards, each with a charge.
func many(tb testing.TB) (*Ledger, []string) {
	var cards, names []string
	for i := range 64 {
		cards = append(cards, fmt.Sprintf("card-%02d", i))
	}
	m := testkit.Must(testMap(cards))
	var queues []builtQueue
	for i := range 100 {
		queues = append(queues, builtQueue{Name: fmt.Sprintf("p%02d", i)})
	}
	for i := range 10_000 {
		v := m.NewVector()
		for dim := range v {
			v[dim] = 1e6
		}
		queues = append(queues, builtQueue{Name: fmt.Sprintf("q%04d", i), Parent: fmt.Sprintf("p%02d", i%100), Capability: v, Guarantee: v, Deserved: v})
		names = append(names, queues[len(queues)-1].Name)
	}
	l := testkit.Must(newBuilt(Config{}, m, nil, queues))
	for i, name := range names {
		r := &TaskRequest{id: name, job: name, queue: name, use: book.Use{Plain: book.Plain{dimCPU: int64(1 + i*37%1000)}}}
		if a, err := l.Commit(r); err != nil || !a.OK {
			tb.Fatal(a.Refusal.Message(), err)
		}
	}
	return l, names
}

// BenchmarkCompareQueues compares two of 10,000 queues with 66 dimensions.
func BenchmarkCompareQueues(b *testing.B) {
	l, names := many(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		a, c := names[i*7919%len(names)], names[(i*104729+1)%len(names)]
		if n := l.CompareQueues(a, c); n == 0 && a != c {
			b.Fatal("a tie")
		}
	}
}

// BenchmarkSetQueues sets 10,000 queues with guarantees and their limits.
func BenchmarkSetQueues(b *testing.B) {
	l, _ := many(b)
	var queues []builtQueue
	for _, q := range l.ordered {
		queues = append(queues, q.spec)
	}
	for b.Loop() {
		if orphans, _, err := l.setBuilt(queues, nil); err != nil || len(orphans) > 0 {
			b.Fatal(orphans, err)
		}
	}
}

// BenchmarkReconcile tells a ledger of 10,000 queues, and as many tasks that run and
// that wait, that one task was resized: by a view of everything, and by one of the task.
func BenchmarkReconcile(b *testing.B) {
	l, names := many(b)
	var view View
	for _, name := range names {
		view.Tasks = append(view.Tasks, Task{
			ID: name, Job: name, Queue: name, Phase: TaskAllocated, Request: resourceList("cpu:1"), Cards: []Item{},
		}, Task{
			ID: "waits-" + name, Job: name, Queue: name, Phase: TaskPending, Request: resourceList("cpu:1"), Cards: []Item{},
		})
	}
	testkit.Must(l.Reconcile(view))
	sizes := []corev1.ResourceList{resourceList("cpu:1"), resourceList("cpu:2")}
	k := 0
	for _, c := range []struct {
		name string
		View
	}{{"all", view}, {"partial", View{Partial: true, Tasks: view.Tasks[14:15]}}} {
		b.Run("view="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k = 1 - k
				view.Tasks[14].Request = sizes[k]
				rep, err := l.Reconcile(c.View)
				if err != nil || len(rep.Corrected) != 1 || len(rep.Imported)+len(rep.Released)+len(rep.Unseen) != 0 {
					b.Fatal("one task is not corrected", err)
				}
			}
		})
	}
}
