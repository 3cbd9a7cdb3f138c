package peer

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

func TestMarkdown(t *testing.T) {
	r := Row{Peer: "P", Function: "f", Ours: "g", Work: "w", Goal: 50, Remark: "why"}
	equal := Row{Peer: "P", Function: "f", Ours: "g", Work: "w", Equal: "verdicts"}
	if got, want := equal.markdown("v1", 1000, 100), "| P v1 | `f` | `g` | w | 100 ns | 10× | equal: verdicts |"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.markdown("v1", 12_345.6, 100), "| P v1 | `f` | `g` | w | 100 ns | 123× | why |"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.markdown("v1", 1000, 100), "| P v1 | `f` | `g` | w | 100 ns | 10× of 50× | why |"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for ns, want := range map[float64]string{0.5: "0.50 ns", 9.994: "9.99 ns", 999.4: "999 ns", 999.6: "1.00 µs", 12e6: "12.0 ms", 3e12: "3000 s"} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%v) = %q, want %q", ns, got, want)
		}
	}
	for x, want := range map[float64]string{0.94: "0.9", 3: "3", 4.25: "4.2", 49.6: "50", 1234.5: "1234"} {
		if got := ratio(x); got != want {
			t.Errorf("ratio(%v) = %q, want %q", x, got, want)
		}
	}
}

// TestBench: both sides are asked every question, and compared after each.
func TestBench(t *testing.T) {
	asked, same := [2][3]int{}, [3]int{}
	result := testing.Benchmark(func(b *testing.B) {
		Row{
			Module: "k8s.io/api", Questions: 3,
			Their: func(k int) { asked[0][k]++ }, Our: func(k int) { asked[1][k]++ },
			Same: func(k int) error { same[k]++; return nil },
		}.Bench(b)
	})
	if result.Extra["x"] == 0 {
		t.Errorf("no ratio: %v", result)
	}
	for k := range 3 {
		if asked[0][k] == 0 || asked[1][k] == 0 || same[k] == 0 {
			t.Errorf("question %d: asked %v, compared %v", k, asked, same)
		}
	}
}

// TestPod: every kind of pod comes, and the same seed gives the same pod.
func TestPod(t *testing.T) {
	kinds := map[string]int{}
	Cases(t, func(r Random) error {
		pod := r.Pod("p", func() corev1.ResourceList { return r.List(Names, 30, r.Quantity) })
		count := func(kind string, is bool) {
			if is {
				kinds[kind]++
			}
		}
		count("no container", len(pod.Spec.Containers) == 0)
		count("several containers", len(pod.Spec.Containers) > 1)
		count("overhead", len(pod.Spec.Overhead) > 0)
		count("as a whole", pod.Spec.Resources != nil && len(pod.Spec.Resources.Requests) > 0)
		for _, c := range pod.Spec.InitContainers {
			count("init", c.RestartPolicy == nil)
			count("sidecar", c.RestartPolicy != nil)
		}
		return nil
	})
	if len(kinds) != 6 {
		t.Errorf("kinds of pods: %v", kinds)
	}
	list := func(seed uint64) corev1.ResourceList {
		return NewRandom(seed).List(Names, 50, NewRandom(seed).Quantity)
	}
	if !apiequality.Semantic.DeepEqual(list(7), list(7)) || apiequality.Semantic.DeepEqual(list(7), list(8)) {
		t.Error("a list does not depend on the seed alone")
	}
}
