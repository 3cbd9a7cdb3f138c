package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
)

// wishes are what pods ask the other plugins that score for.
var wishes = []struct {
	name string
	wish func(*corev1.Pod)
}{
	{"nothing", func(*corev1.Pod) {}},
	{"spread", func(pod *corev1.Pod) {
		for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			})
		}
	}},
	{"affinity", func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}},
			}}},
		}}
	}},
	{"image", func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "model:v1" }},
}

// BenchmarkTopK measures what Args.TopK costs: in how many decisions, in percent, the
// total score of the chosen node is less than the best of all nodes, and by how many
// points in the mean of all decisions and at most; and the same for the default
// percentageOfNodesToScore. A decision is scored by all default plugins on all nodes. The
// best node gets the pod. An iteration is one decision.
//
// It also counts in how many decisions a bound proves that the 100 nodes with the best
// scores are enough: no other node can win, whatever the other plugins may give it.
func BenchmarkTopK(b *testing.B) {
	choosers := []competitor{{"sampled", example(b, "visitPercent: 0") + "\npercentageOfNodesToScore: 0\n"}}
	for _, k := range []int{20, 50, 100, 200, 500} {
		choosers = append(choosers, competitor{fmt.Sprint("k", k), example(b, fmt.Sprint("topK: ", k)) + "\npercentageOfNodesToScore: 100\n"})
	}
	for _, wish := range wishes {
		b.Run("nodes=5000/wish="+wish.name, func(b *testing.B) {
			ctx := klog.NewContext(context.Background(), logr.Discard())
			all := mixed(b, example(b, "visitPercent: 0")+"\npercentageOfNodesToScore: 100\n")
			sims, losses := make([]*simulation, len(choosers)), make([]loss, len(choosers))
			for i, c := range choosers {
				sims[i] = mixed(b, c.configuration)
			}
			r := rand.New(rand.NewPCG(3, 4))
			n, proved := 0, 0
			for b.Loop() {
				info := arriving(b, n, shapes[n%2].amounts)
				n++
				info.Pod.Labels = map[string]string{"app": "web"}
				wish.wish(info.Pod)
				best, totals, own := all.totals(ctx, b, info.Pod, r)
				if all.isBound(own, totals, 100) {
					proved++
				}
				for i, sim := range sims {
					profile := sim.update(ctx, b)
					result := testkit.Must(sim.SchedulePod(ctx, profile, framework.NewCycleState(), info))
					total, fits := totals[result.SuggestedHost]
					if !fits {
						b.Fatalf("%s chose %s, which does not fit", choosers[i].name, result.SuggestedHost)
					}
					losses[i].add(totals[best] - total)
				}
				for _, sim := range append(sims, all) {
					testkit.Check(sim.Cache.AddPod(klog.FromContext(ctx), bound(info.Pod.DeepCopy(), best)))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(100*float64(proved)/float64(n), "bound-%")
			for i, c := range choosers {
				b.ReportMetric(100*float64(losses[i].worse)/float64(n), c.name+"-%")
				b.ReportMetric(float64(losses[i].sum)/float64(n), c.name+"-mean")
				b.ReportMetric(float64(losses[i].most), c.name+"-most")
			}
		})
	}
}

// loss is by how much decisions are worse than the best.
type loss struct {
	worse     int
	sum, most int64
}

func (l *loss) add(points int64) {
	if points > 0 {
		l.worse++
	}
	l.sum += points
	l.most = max(l.most, points)
}

// mixed returns a scheduler of a cluster whose nodes differ in what they hold, their zone,
// disks, images and a taint that says better not.
func mixed(b *testing.B, configuration string) *simulation {
	b.Helper()
	sim := simulate(b, configuration, nil)
	r := rand.New(rand.NewPCG(1, 2))
	logger := klog.Background()
	for i := range 5000 {
		name := "node-" + strconv.Itoa(i)
		node := aNode(name, strconv.Itoa(i%3), "cpu=32", "memory=128Gi", "pods=110", "ephemeral-storage=100Gi", "nvidia.com/gpu=8")
		node.Labels[corev1.LabelHostname] = name
		node.Labels[corev1.LabelTopologyZone] = node.Labels["zone"]
		if r.IntN(5) == 0 {
			node.Labels["disk"] = "ssd"
		}
		if r.IntN(20) == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "old", Effect: corev1.TaintEffectPreferNoSchedule}}
		}
		if r.IntN(10) == 0 {
			node.Status.Images = []corev1.ContainerImage{{Names: []string{"model:v1"}, SizeBytes: 4 << 30}}
		}
		sim.Cache.AddNode(logger, node)
		for k := range r.IntN(perNode) {
			pod := bound(aPod(fmt.Sprintf("old-%d-%d", i, k), 0, fmt.Sprint("cpu=", 1+r.IntN(4)), fmt.Sprint("memory=", 1+r.IntN(16), "Gi")), name)
			if r.IntN(4) == 0 {
				pod.Labels = map[string]string{"app": "web"}
			}
			testkit.Check(sim.Cache.AddPod(logger, pod))
		}
	}
	return sim
}

// isBound reports whether no node but the k with the best scores of the plugin can have the
// best total: the greatest score of the others, with all that the other plugins may give,
// is no more than the best total among the k.
func (s *simulation) isBound(own, totals map[string]int64, k int) bool {
	names := slices.SortedFunc(maps.Keys(own), func(x, y string) int { return cmp.Compare(own[y], own[x]) })
	if len(names) <= k {
		return true
	}
	var others int64
	for _, plugin := range s.Profiles["default-scheduler"].ListPlugins().Score.Enabled {
		if plugin.Name != resvecfit.Name {
			others += fwk.MaxScore * int64(plugin.Weight)
		}
	}
	var most int64
	for _, name := range names[:k] {
		most = max(most, totals[name])
	}
	return own[names[k]]+others <= most
}

// totals returns the total scores of all nodes that fit and what of each is the plugin's
// own, and one of those with the best total, as random as the scheduler's.
func (s *simulation) totals(ctx context.Context, b *testing.B, pod *corev1.Pod, r *rand.Rand) (best string, totals, own map[string]int64) {
	b.Helper()
	profile, state := s.update(ctx, b), framework.NewCycleState()
	_, status, _ := profile.RunPreFilterPlugins(ctx, state, pod)
	nodes, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil || !status.IsSuccess() {
		b.Fatal(err, status)
	}
	var fits []fwk.NodeInfo
	for _, node := range nodes {
		if profile.RunFilterPlugins(ctx, state, pod, node).IsSuccess() {
			fits = append(fits, node)
		}
	}
	if status := profile.RunPreScorePlugins(ctx, state, pod, fits); !status.IsSuccess() {
		b.Fatal(status)
	}
	scores, status := profile.RunScorePlugins(ctx, state, pod, fits)
	if !status.IsSuccess() {
		b.Fatal(status)
	}
	totals, own = make(map[string]int64, len(scores)), make(map[string]int64, len(scores))
	ties := 0
	for _, score := range scores {
		totals[score.Name] = score.TotalScore
		for _, part := range score.Scores {
			if part.Name == resvecfit.Name {
				own[score.Name] = part.Score
			}
		}
		switch {
		case best == "" || score.TotalScore > totals[best]:
			best, ties = score.Name, 1
		case score.TotalScore == totals[best]:
			if ties++; r.IntN(ties) == 0 {
				best = score.Name
			}
		}
	}
	return best, totals, own
}
