package main

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
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
