package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/resvec/resvec/internal/testkit"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// contestant is a scheduler that is measured.
type contestant struct {
	*simulation
	took []time.Duration
}

// The clusters are of equal nodes that can hold eight pods of the kind that
// arrives.
const perNode = 8

// shapes are kinds of pods.
var shapes = []struct {
	name    string
	amounts []string
	scored  string // the resources of the scoring strategy
}{
	{"cpu", []string{"cpu=4", "memory=16Gi"}, "[{name: cpu, weight: 1}, {name: memory, weight: 1}]"},
	{"gpu", []string{"cpu=4", "memory=16Gi", "ephemeral-storage=10Gi", "nvidia.com/gpu=1"},
		"[{name: cpu, weight: 1}, {name: memory, weight: 1}, {name: nvidia.com/gpu, weight: 5}]"},
}

// fills says how many pods a node holds.
var fills = []struct {
	name string
	pods func(node int) int
}{
	{"empty", func(int) int { return 0 }},
	{"half", func(int) int { return perNode / 2 }},
	{"nearly-full", func(node int) int {
		if node%100 == 7 {
			return perNode - 1
		}
		return perNode
	}},
}

// scoringBuiltin is a configuration of the built-in plugins.
const scoringBuiltin = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: LeastAllocated
        resources: RESOURCES
`

// BenchmarkSchedulePod measures one SchedulePod, from PreFilter to the choice, of
// the built-in plugins and of ours in turn, and reports medians in microseconds.
// Between two pods one node of the cluster changes.
func BenchmarkSchedulePod(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		for _, fill := range fills {
			for _, percentage := range []int{0, 100} {
				for _, shape := range shapes {
					b.Run(fmt.Sprintf("nodes=%d/fill=%s/percentage=%d/pod=%s", nodes, fill.name, percentage, shape.name), func(b *testing.B) {
						setting := fmt.Sprintf("\npercentageOfNodesToScore: %d\n", percentage)
						compete(b, nodes, fill.pods, shape.amounts, []competitor{
							{"default", theirs(shape.scored) + setting},
							{"resvecfit", ours(b, shape.scored) + setting},
							{"top100", ours(b, shape.scored, "topK: 100") + setting},
						})
					})
				}
			}
		}
	}
}

// theirs and ours are configurations that score the same resources.
func theirs(scored string) string { return strings.Replace(scoringBuiltin, "RESOURCES", scored, 1) }

func ours(b *testing.B, scored string, arguments ...string) string {
	return replaced(b, example(b, arguments...), "[{name: cpu, weight: 1}, {name: memory, weight: 1}]", scored)
}

// without is a configuration with neither the built-in plugins nor ours.
const without = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
`

// idle is a plugin that the framework asks as it asks ours, and that does nothing.
type idle struct{}

func newIdle(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return idle{}, nil }

func (idle) Name() string { return "Idle" }

func (idle) Filter(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) *fwk.Status {
	return nil
}

func (idle) Score(context.Context, fwk.CycleState, *corev1.Pod, fwk.NodeInfo) (int64, *fwk.Status) {
	return 0, nil
}

func (idle) ScoreExtensions() fwk.ScoreExtensions { return nil }

// BenchmarkBound measures how much there is to win where the framework looks for nodes
// itself: the built-in plugins against ours; ours with the scores of two plugins; a
// plugin that does nothing; and none at all.
func BenchmarkBound(b *testing.B) {
	for _, percentage := range []int{0, 100} {
		setting := fmt.Sprintf("\npercentageOfNodesToScore: %d\n", percentage)
		for _, shape := range shapes {
			b.Run(fmt.Sprintf("nodes=5000/fill=half/percentage=%d/pod=%s", percentage, shape.name), func(b *testing.B) {
				one := ours(b, shape.scored)
				compete(b, 5000, fills[1].pods, shape.amounts, []competitor{
					{"default", theirs(shape.scored) + setting},
					{"resvecfit", one + setting},
					{"two", replaced(b, one, "addToFit: true", "addToFit: false") + setting},
					{"idle", replaced(b, without, "multiPoint:", "multiPoint:\n      enabled: [{name: Idle, weight: 1}]") + setting},
					{"none", without + setting},
				})
			})
		}
	}
}

// BenchmarkVisitPercent measures where naming the nodes to visit stops to pay: with
// a share of the nodes that can hold the pod, in percent, which of all nodes are
// named, or none.
func BenchmarkVisitPercent(b *testing.B) {
	for _, share := range []int{2, 5, 10, 15, 20, 25, 30, 40, 50} {
		for _, percentage := range []int{0, 100} {
			b.Run(fmt.Sprintf("nodes=5000/share=%d/percentage=%d", share, percentage), func(b *testing.B) {
				setting := fmt.Sprintf("\npercentageOfNodesToScore: %d\n", percentage)
				pods := func(node int) int {
					if node*37%100 < share {
						return perNode - 1
					}
					return perNode
				}
				compete(b, 5000, pods, shapes[0].amounts, []competitor{
					{"default", builtin + setting},
					{"named", example(b, "visitPercent: 100") + setting},
					{"unnamed", example(b, "visitPercent: 0") + setting},
				})
			})
		}
	}
}

// competitor is a scheduler to be measured. The first two make the ratio.
type competitor struct{ name, configuration string }

func compete(b *testing.B, nodes int, pods func(int) int, amounts []string, competitors []competitor) {
	var all []*contestant
	for _, x := range competitors {
		c := &contestant{simulation: simulate(b, x.configuration, nil)}
		c.fill(nodes, pods, amounts)
		all = append(all, c)
	}
	ctx := klog.NewContext(context.Background(), logr.Discard())
	n := 0
	// Garbage that one leaves is collected in the turn of the next, so the order
	// changes from round to round.
	random := rand.New(rand.NewPCG(1, 2))
	round := func() {
		n++
		for _, i := range random.Perm(len(all)) {
			// The label separates the schedulers in a profile.
			pprof.Do(ctx, pprof.Labels("scheduler", competitors[i].name), func(ctx context.Context) {
				all[i].measure(ctx, b, arriving(b, n, amounts))
			})
		}
	}
	for range 3 {
		round()
	}
	for _, c := range all {
		c.took = nil
	}
	for b.Loop() {
		round()
	}
	medians := make([]float64, len(all))
	for i, c := range all {
		slices.Sort(c.took)
		medians[i] = float64(c.took[len(c.took)/2].Nanoseconds()) / 1e3
	}
	b.ReportMetric(0, "ns/op")
	for i, x := range competitors {
		b.ReportMetric(medians[i], x.name+"-µs")
	}
	b.ReportMetric(medians[0]/medians[1], "ratio")
}

// fill puts nodes and their pods into the scheduler's cache.
func (c *contestant) fill(nodes int, pods func(int) int, amounts []string) {
	logger := klog.Background()
	for i := range nodes {
		node := aNode("node-"+strconv.Itoa(i), strconv.Itoa(i%3), "cpu=32", "memory=128Gi", "pods=110",
			"ephemeral-storage=100Gi", "nvidia.com/gpu=8")
		node.Labels[corev1.LabelHostname] = node.Name
		node.Labels[corev1.LabelTopologyZone] = node.Labels["zone"]
		c.Cache.AddNode(logger, node)
		for k := range pods(i) {
			pod := bound(aPod(fmt.Sprintf("old-%d-%d", i, k), 0, amounts...), node.Name)
			testkit.Check(c.Cache.AddPod(logger, pod))
		}
	}
}

func arriving(b testing.TB, n int, amounts []string) *framework.QueuedPodInfo {
	pod := aPod("new-"+strconv.Itoa(n), 0, amounts...)
	pod.UID = types.UID(pod.Name)
	info := testkit.Must(framework.NewPodInfo(pod))
	return &framework.QueuedPodInfo{PodInfo: info}
}

// measure schedules a pod. It puts the pod on its node and takes it away again, so that
// the node has changed.
func (c *contestant) measure(ctx context.Context, b *testing.B, pod *framework.QueuedPodInfo) {
	profile, state := c.update(ctx, b), framework.NewCycleState()
	start := time.Now()
	result, err := c.SchedulePod(ctx, profile, state, pod)
	c.took = append(c.took, time.Since(start))
	if err != nil {
		b.Fatal(err)
	}
	placed := bound(pod.Pod.DeepCopy(), result.SuggestedHost)
	logger := klog.FromContext(ctx)
	testkit.Check(cmp.Or(c.Cache.AddPod(logger, placed), c.Cache.RemovePod(logger, placed)))
}
