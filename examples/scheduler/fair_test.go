package main

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/quota"
	"github.com/resvec/resvec/quota/fairshare"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestCycles lets pods of two queues come and go, in cycles that end when nothing moves: no
// books differ, and reclaim comes to an end.
func TestCycles(t *testing.T) {
	teams := config{rules: operator.rules, typical: operator.typical}
	for _, name := range []string{"a", "b", "c"} {
		q := operator.queues[0]
		q.Name = name
		teams.queues = append(teams.queues, q)
	}
	s := testkit.Must(newScheduler(teams, nil))
	s.bind = bindTo
	for _, n := range cluster() {
		testkit.Check(s.nodeSeen(n))
	}
	var waiting []*corev1.Pod
	objects := map[types.UID]*corev1.Pod{}
	for i := range 24 {
		p := newPod(fmt.Sprint("p", i), a100, amounts("4", "nvidia.com/gpu", fmt.Sprint(1+i%2)))
		switch {
		case i%8 == 0:
			p = newPod(fmt.Sprint("p", i), "", amounts("24", "", ""))
		case i%5 == 0:
			p = newPod(fmt.Sprint("p", i), a100+"|Tesla-T4-SHARED", amounts("2", "nvidia.com/gpu", "1"))
		}
		objects[p.UID] = inQueue(p, []string{"a", "b", "c"}[i/8])
		waiting = append(waiting, p)
		gone := 1
		for cycles := 0; gone > 0; cycles++ {
			if cycles > 50 {
				t.Fatalf("after pod %d there is no end to reclaim", i)
			}
			waits, evict, err := s.cycle(waiting)
			if err != nil {
				t.Fatal(err)
			}
			waiting = nil
			for _, id := range evict {
				testkit.Check(s.podGone(id))
				evicted(objects[id])
			}
			for _, p := range objects {
				if waits[p.UID] != nil || p.Spec.NodeName == "" {
					waiting = append(waiting, p)
				}
			}
			check(t, s)
			gone = len(evict)
		}
	}
	has := map[string]int{}
	for id := range s.pods {
		has[objects[id].Labels[queueLabel]]++
	}
	for _, name := range []string{"a", "b", "c"} {
		if has[name] < 2 {
			t.Errorf("queue %s has %d pods: %v", name, has[name], has)
		}
	}
}

// TestQueuesThatWent: what their jobs have counts in the tree, once, where the ledger counts it.
func TestQueuesThatWent(t *testing.T) {
	queue := func(name, parent string) quota.Queue {
		return quota.Queue{Name: name, Parent: parent, Capability: amounts("8", "", "")}
	}
	org, team, other := queue("org", ""), queue("team", "org"), queue("other", "org")
	ledger := testkit.Must(quota.New(quota.Config{}, nil, []quota.Queue{org, team, other, queue("alone", "")}))
	for _, name := range []string{"team", "other", "alone"} {
		job, _, err := ledger.ResolveJob(quota.Job{ID: name, Queue: name, MinResources: amounts("2", "", "")})
		if answer := testkit.Must(ledger.Reserve(testkit.Must(job, err))); !answer.OK {
			t.Fatal(answer.Refusal.Message())
		}
	}
	m := testkit.Must(vectormap.New(nil))
	for _, test := range []struct {
		queues []quota.Queue
		want   string
	}{
		{[]quota.Queue{org, team}, "org 4000 team 2000 other 2000 alone 2000 "},
		{[]quota.Queue{org}, "org 4000 alone 2000 "}, // a leaf now, which has it all
		{nil, "team 2000 other 2000 alone 2000 "},
	} {
		_, _, err := ledger.SetQueues(test.queues)
		testkit.Check(err)
		tree := testkit.Must(fairshare.NewTree(m.Schema(), m.Len(), fairshare.Options{}))
		testkit.Check(fill(tree, m, ledger, test.queues))
		got := ""
		for _, name := range []string{"org", "team", "other", "alone"} {
			if row, ok := tree.Row(name); ok {
				got += fmt.Sprint(name, " ", tree.Allocated(nil, row)[vectormap.CPU], " ")
			}
		}
		if got != test.want {
			t.Errorf("%d queues: %s, want %s", len(test.queues), got, test.want)
		}
	}
}
