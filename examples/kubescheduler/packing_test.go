package main

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/resvec/resvec/examples/kubescheduler/resvecfit"
	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/scoring"
)

// The plugin of the README of resvecfit, which has this code.

// packing is a score plugin: MostAllocated of cpu, memory and GPUs.
type packing struct {
	handle fwk.Handle
	table  *resvecfit.NodeTable
	bound  *scoring.Bound
	scores []int64 // by row
}

func newPacking(_ context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	table, err := resvecfit.NewNodeTable("nvidia.com/gpu")
	if err != nil {
		return nil, err
	}
	resources := []scoring.KubeResource{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}, {Name: "nvidia.com/gpu", Weight: 1}}
	scorer, err := scoring.CompileKube(scoring.KubeConfig{Type: scoring.MostAllocated, Resources: resources}, table.Map())
	if err != nil {
		return nil, err
	}
	return &packing{handle: handle, table: table, bound: scoring.Bind(scorer, table.Nodes())}, nil
}

func (p *packing) PreScore(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	nodes, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err == nil {
		err = p.table.Refresh(nodes)
	}
	if err == nil {
		p.scores = slices.Grow(p.scores[:0], len(nodes))[:len(nodes)]
		err = p.bound.ScorePercent(p.scores, p.table.Pod(pod), nil)
	}
	return fwk.AsStatus(err)
}

func (p *packing) Score(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	row, ok := p.table.Row(node)
	if !ok {
		return 0, fwk.NewStatus(fwk.Error, "a node is scored that is not of the snapshot")
	}
	return p.scores[row], nil
}

// SignPod adds nothing to what NodeResourcesFit signs, the requests. A plugin that scores and
// has no SignPod turns opportunistic batching off.
func (p *packing) SignPod(context.Context, *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}

func (p *packing) Name() string                         { return "Packing" }
func (p *packing) ScoreExtensions() fwk.ScoreExtensions { return nil } // scores are 0 to 100 already

// That is all of it.

var (
	_ fwk.PreScorePlugin = (*packing)(nil)
	_ fwk.ScorePlugin    = (*packing)(nil)
	_ fwk.SignPlugin     = (*packing)(nil)
)

const withPacking = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: Packing, weight: 10}]
  pluginConfig: # constraints of the system, the default, are another reason not to sign pods
  - {name: PodTopologySpread, args: {defaultingType: List}}
`

// TestPacking runs a scheduler with the plugin.
func TestPacking(t *testing.T) {
	amounts := []string{"cpu=32", "memory=128Gi", "pods=110", "nvidia.com/gpu=8"}
	sim := running(t, withPacking, nil, aNode("a", "z", amounts...), aNode("b", "z", amounts...), aNode("c", "z", amounts...))
	sim.create(t, bound(aPod("old", 0, "cpu=4", "memory=8Gi", "nvidia.com/gpu=6"), "b"))
	for _, name := range []string{"first", "second"} {
		sim.create(t, aPod(name, 0, "cpu=4", "nvidia.com/gpu=1"))
		eventually(t, name+" is placed", func() bool { return sim.pods(t)[name] != "" })
		if node := sim.pods(t)[name]; node != "b" {
			t.Errorf("%s is on %s", name, node)
		}
	}
	if sim.Profiles[corev1.DefaultSchedulerName].SignPod(context.Background(), aPod("pod", 0, "cpu=1")) == nil {
		t.Error("pods are not signed, so opportunistic batching is off")
	}
}

// byHand is the same as a loop that reads each node.
func byHand(cpu, memory, gpus int64, node fwk.NodeInfo) int64 {
	has, used := node.GetAllocatable(), node.GetRequested()
	sum, n := int64(0), int64(0)
	add := func(request, used, has int64) {
		if has == 0 {
			return
		}
		n++
		if request+used <= has {
			sum += (request + used) * 100 / has
		} else {
			sum += 100
		}
	}
	add(cpu, used.GetMilliCPU(), has.GetMilliCPU())
	add(memory, used.GetMemory(), has.GetMemory())
	if gpus > 0 {
		add(gpus, used.GetScalarResources()["nvidia.com/gpu"], has.GetScalarResources()["nvidia.com/gpu"])
	}
	return sum / n
}

// BenchmarkPacking measures the scores of 3,000 nodes of a scheduler's snapshot for a pod,
// one of which has changed: by a loop that reads each node, and by the plugin.
func BenchmarkPacking(b *testing.B) {
	sim := contestant{simulation: simulate(b, withPacking, nil)}
	sim.fill(3000, func(node int) int { return node % perNode }, []string{"cpu=3", "memory=11Gi", "nvidia.com/gpu=1"})
	ctx := context.Background()
	profile := sim.update(ctx, b)
	nodes := testkit.Must(profile.SnapshotSharedLister().NodeInfos().List())
	made := testkit.Must(newPacking(ctx, nil, profile))
	plugin := made.(*packing)
	changed, other := nodes[77].(*framework.NodeInfo), arriving(b, 0, []string{"cpu=1"}).PodInfo
	change := func() { // moves the generation, and leaves what the node holds
		changed.AddPodInfo(other)
		testkit.Check(changed.RemovePod(klog.Background(), other.Pod))
	}
	for _, c := range []struct {
		name    string
		amounts []string
		gpus    int64
	}{
		{"cpu", []string{"cpu=2", "memory=4Gi"}, 0},
		{"gpu", []string{"cpu=2", "memory=4Gi", "nvidia.com/gpu=1"}, 1},
	} {
		pod := aPod(c.name, 0, c.amounts...)
		want, got := make([]int64, len(nodes)), make([]int64, len(nodes))
		loop := func(scores []int64) {
			for i, node := range nodes {
				scores[i] = byHand(2000, 4<<30, c.gpus, node)
			}
		}
		loop(want)
		for _, way := range []struct {
			name string
			run  func()
		}{
			{"loop", func() { loop(got) }},
			{"table", func() {
				if status := plugin.PreScore(ctx, nil, pod, nodes); !status.IsSuccess() {
					b.Fatal(status)
				}
				for i, node := range nodes {
					got[i], _ = plugin.Score(ctx, nil, pod, node)
				}
			}},
		} {
			b.Run("pod="+c.name+"/way="+way.name, func(b *testing.B) {
				clear(got)
				for b.Loop() {
					change()
					way.run()
				}
				if !slices.Equal(got, want) {
					b.Fatal("the scores differ")
				}
			})
		}
	}
}
