package resvecfit

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/internal/testkit"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// TestNodeTable: the rows follow the nodes, which may come and go, and have resources
// without a column; a copy of a node, and one that has changed, have no row.
func TestNodeTable(t *testing.T) {
	table := testkit.Must(NewNodeTable("nvidia.com/gpu"))
	var nodes []fwk.NodeInfo
	for i := range 5 {
		nodes = append(nodes, newNode(fmt.Sprint("node-", i), amounts("cpu", "32", "memory", "128Gi", "nvidia.com/gpu", "8"),
			amounts("cpu", fmt.Sprint(i), "nvidia.com/gpu", fmt.Sprint(i%8))))
	}
	agree := func(when string) {
		t.Helper()
		testkit.Check(table.Refresh(nodes))
		gpu, _ := table.Map().Index("nvidia.com/gpu")
		for _, node := range nodes {
			row, ok := table.Row(node)
			if !ok {
				t.Fatalf("%s: %s has no row", when, node.Node().Name)
			}
			has, used := table.Nodes().Allocatable(), table.Nodes().Requested()
			const name = corev1.ResourceName("nvidia.com/gpu")
			got := []float64{has.At(row, vectormap.CPU), used.At(row, vectormap.CPU), has.At(row, gpu), used.At(row, gpu)}
			want := []int64{node.GetAllocatable().GetMilliCPU(), node.GetRequested().GetMilliCPU(),
				node.GetAllocatable().GetScalarResources()[name], node.GetRequested().GetScalarResources()[name]}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %v, want %v", when, node.Node().Name, got, want)
			}
		}
	}
	agree("at first")
	changed := nodes[1].(*fakeNode)
	changed.take(amounts("cpu", "20"))
	if _, ok := table.Row(changed); ok {
		t.Error("a node that has changed has a row")
	}
	agree("one has changed")
	nodes = append(nodes[1:], newNode("new", amounts("cpu", "4", "memory", "8Gi", "nvidia.com/gpu", "1", "example.com/fpga", "2"), nil))
	agree("one has gone, one has come")
	again := *nodes[0].(*fakeNode)
	if _, ok := table.Row(&again); ok {
		t.Error("a copy has a row")
	}
	if _, ok := table.Map().Index("example.com/fpga"); ok {
		t.Errorf("the columns are %v", table.Map())
	}
	pod := table.Pod(newPod("pod", amounts("cpu", "2", "nvidia.com/gpu", "1", "example.com/fpga", "1")))
	gpu, _ := table.Map().Index("nvidia.com/gpu")
	if got := []float64{pod.Requested[vectormap.CPU], pod.Requested[gpu], pod.Requested[vectormap.Pods], pod.Scored[vectormap.Memory]}; fmt.Sprint(got) != "[2000 1 1 2.097152e+08]" {
		t.Errorf("the pod is %v", pod)
	}
}
