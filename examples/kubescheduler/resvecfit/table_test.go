package resvecfit

import (
	"context"
	"fmt"
	"testing"

	"github.com/resvec/resvec/scoring"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// packing is a score plugin of one's own: MostAllocated of cpu, memory and GPUs.
type packing struct {
	handle fwk.Handle
	table  *NodeTable
	bound  *scoring.Bound
	scores []int64 // by row
}

func newPacking(handle fwk.Handle) (*packing, error) {
	table, err := NewNodeTable("nvidia.com/gpu")
	if err != nil {
		return nil, err
	}
	scorer, err := scoring.CompileKube(scoring.KubeConfig{Type: scoring.MostAllocated, Resources: []scoring.KubeResource{
		{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}, {Name: "nvidia.com/gpu", Weight: 1}}}, table.Map())
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
		if len(p.scores) != len(nodes) {
			p.scores = make([]int64, len(nodes))
		}
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

func tableNodes(n int) []fwk.NodeInfo {
	nodes := make([]fwk.NodeInfo, n)
	for i := range nodes {
		nodes[i] = newNode(fmt.Sprint("node-", i), amounts("cpu", "32", "memory", "128Gi", "nvidia.com/gpu", "8"),
			amounts("cpu", fmt.Sprint(i%30), "memory", fmt.Sprint(i%97, "Gi"), "nvidia.com/gpu", fmt.Sprint(i%8)))
	}
	return nodes
}

// BenchmarkNodeTable measures the scores of 3,000 nodes for a pod, one of which has
// changed, by a plugin of one's own: a loop that reads each node, and a NodeTable.
func BenchmarkNodeTable(b *testing.B) {
	nodes := tableNodes(3000)
	plugin, err := newPacking(&fakeHandle{nodes: nodes})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		gpus int64
	}{
		{"cpu", newPod("cpu", amounts("cpu", "2", "memory", "4Gi")), 0},
		{"gpu", newPod("gpu", amounts("cpu", "2", "memory", "4Gi", "nvidia.com/gpu", "1")), 1},
	} {
		want := make([]int64, len(nodes))
		for i, node := range nodes {
			want[i] = byHand(2000, 4<<30, c.gpus, node)
		}
		changed := nodes[77].(*fakeNode)
		b.Run("pod="+c.name+"/way=loop", func(b *testing.B) {
			got := make([]int64, len(nodes))
			for b.Loop() {
				changed.generation++
				for i, node := range nodes {
					got[i] = byHand(2000, 4<<30, c.gpus, node)
				}
			}
			check(b, got, want)
		})
		b.Run("pod="+c.name+"/way=table", func(b *testing.B) {
			got := make([]int64, len(nodes))
			for b.Loop() {
				changed.generation++
				if status := plugin.PreScore(ctx, nil, c.pod, nodes); !status.IsSuccess() {
					b.Fatal(status)
				}
				for i, node := range nodes {
					got[i], _ = plugin.Score(ctx, nil, c.pod, node)
				}
			}
			check(b, got, want)
		})
	}
}

func check(b *testing.B, got, want []int64) {
	b.Helper()
	for i := range want {
		if got[i] != want[i] {
			b.Fatalf("node %d: %d, want %d", i, got[i], want[i])
		}
	}
}

// TestNodeTable: the scores follow the nodes, which may come and go, and have resources
// without a column; a copy of a node has no row.
func TestNodeTable(t *testing.T) {
	handle := &fakeHandle{nodes: tableNodes(5)}
	plugin, err := newPacking(handle)
	if err != nil {
		t.Fatal(err)
	}
	pod := newPod("pod", amounts("cpu", "2", "memory", "4Gi", "nvidia.com/gpu", "1", "example.com/fpga", "1"))
	agree := func(when string) {
		t.Helper()
		if status := plugin.PreScore(context.Background(), nil, pod, nil); !status.IsSuccess() {
			t.Fatal(status)
		}
		for _, node := range handle.nodes {
			got, status := plugin.Score(context.Background(), nil, pod, node)
			if want := byHand(2000, 4<<30, 1, node); !status.IsSuccess() || got != want {
				t.Errorf("%s, %s: %d, %v, want %d", when, node.Node().Name, got, status, want)
			}
		}
	}
	agree("at first")
	handle.nodes[1].(*fakeNode).take(amounts("cpu", "20"))
	agree("one has changed")
	handle.nodes = append(handle.nodes[1:], newNode("new", amounts("cpu", "4", "memory", "8Gi", "nvidia.com/gpu", "1", "example.com/fpga", "2"), nil))
	agree("one has gone, one has come")
	again := *handle.nodes[0].(*fakeNode)
	if _, ok := plugin.table.Row(&again); ok {
		t.Error("a copy has a row")
	}
}
