package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/whatif/placement"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vector"
)

// TestFilters has random small clusters with taints, cordoned nodes, selectors and affinity
// placed by the library, as examples/whatif does, and asks the filters of the real
// scheduler about each pod and node on the way: both say the same, so every placement
// passes them, and a pod that is left out passes them nowhere.
func TestFilters(t *testing.T) {
	clusters := 1000
	if os.Getenv("RESVEC_LONG") != "" {
		clusters = 10_000
	}
	sim := simulate(t, builtin, nil)
	filters := sim.Profiles[corev1.DefaultSchedulerName]
	ctx := context.Background()
	placed, left, refused := 0, 0, 0
	for seed := range uint64(clusters) {
		s := constrainedSnapshot(rand.New(rand.NewPCG(seed, 5)))
		l := newLibrary(t, s)
		hosts := testkit.Must(placement.Hosts(s.nodes))
		on := make([][]*corev1.Pod, len(s.nodes))
		for _, pod := range s.bound {
			row, _ := l.state.Row(pod.Spec.NodeName)
			on[row] = append(on[row], pod)
		}
		for _, pod := range s.queued {
			filter, rows := placement.NewFilter(pod), vector.NewMask(len(hosts))
			for row := range hosts {
				if filter.Refuse(&hosts[row]).Reason == "" {
					rows.Set(row)
				}
			}
			d := testkit.Must(l.state.Decide(pod, l.of(pod), rows))
			state := framework.NewCycleState()
			_, status, _ := filters.RunPreFilterPlugins(ctx, state, pod)
			for row, node := range s.nodes {
				info := framework.NewNodeInfo(on[row]...)
				info.SetNode(node)
				passes := status.IsSuccess() && filters.RunFilterPlugins(ctx, state, pod, info).IsSuccess()
				if passes != d.Fits.Test(row) {
					t.Fatalf("cluster %d, %s on %s: %v here, %v by the scheduler\n%+v\n%+v", seed, pod.Name, node.Name, d.Fits.Test(row), passes, pod.Spec, node.Spec)
				}
				if !passes {
					refused++
				}
			}
			row := d.Choose(vector.TieSeeded(seed))
			if row < 0 {
				left++
				continue
			}
			l.put(pod, s.nodes[row].Name)
			on[row] = append(on[row], bound(pod.DeepCopy(), s.nodes[row].Name))
			placed++
		}
	}
	t.Logf("%d clusters: %d pods are placed, %d left out, %d nodes refused", clusters, placed, left, refused)
	if placed < clusters || left < clusters/2 || refused < clusters {
		t.Error("a dull test")
	}
}

// constrainedSnapshot is a cluster of up to six nodes and as many pods, with what keeps the
// ones from the others.
func constrainedSnapshot(w *rand.Rand) *snapshot {
	pick := func(list ...string) string { return list[w.IntN(len(list))] }
	chance := func(n int) bool { return w.IntN(n) == 0 }
	s := &snapshot{}
	for i := range 1 + w.IntN(6) {
		name := fmt.Sprint("node-", i)
		node := aNode(name, pick("a", "b"), fmt.Sprint("cpu=", 2+w.IntN(6)), "memory=8Gi", fmt.Sprint("pods=", 1+w.IntN(5)))
		if chance(3) {
			node.Labels["rank"] = fmt.Sprint(w.IntN(9))
		}
		for chance(3) {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: pick("gpu", "team"), Value: pick("", "x"),
				Effect: corev1.TaintEffect(pick("NoSchedule", "NoExecute", "PreferNoSchedule"))})
		}
		node.Spec.Unschedulable = chance(6)
		s.nodes = append(s.nodes, node)
		if chance(3) {
			s.bound = append(s.bound, bound(aPod(fmt.Sprint("old-", i), 0, "cpu=1"), name))
		}
	}
	for i := range 1 + w.IntN(6) {
		pod := aPod(fmt.Sprint("new-", i), 0, fmt.Sprintf("cpu=%dm", 500*w.IntN(8)), "memory=1Gi")
		for chance(2) {
			x := corev1.Toleration{Key: pick("gpu", "team", corev1.TaintNodeUnschedulable), Effect: corev1.TaintEffect(pick("", "NoSchedule", "NoExecute")),
				Operator: corev1.TolerationOperator(pick("Exists", "Equal", ""))}
			if x.Operator != corev1.TolerationOpExists {
				x.Value = pick("", "x")
			}
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, x)
		}
		if chance(10) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
		}
		if chance(3) {
			pod.Spec.NodeSelector = map[string]string{"zone": pick("a", "b", "c")}
		}
		if chance(3) {
			required := &corev1.NodeSelector{}
			for range 1 + w.IntN(2) {
				var term corev1.NodeSelectorTerm
				for range w.IntN(3) {
					e := corev1.NodeSelectorRequirement{Key: pick("zone", "rank"),
						Operator: corev1.NodeSelectorOperator(pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))}
					switch e.Operator {
					case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
						e.Values = []string{pick("a", "b", "3")}
					case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
						e.Key, e.Values = "rank", []string{pick("4", "four")}
					}
					term.MatchExpressions = append(term.MatchExpressions, e)
				}
				if chance(3) {
					term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name",
						Operator: corev1.NodeSelectorOperator(pick("In", "NotIn")), Values: []string{fmt.Sprint("node-", w.IntN(4))}}}
				}
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
			}
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		}
		s.queued = append(s.queued, pod)
	}
	return s
}
