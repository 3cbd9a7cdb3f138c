package vector_test

import (
	"fmt"
	"slices"

	"github.com/resvec/resvec/vector"
)

// The columns of the examples are cpu (milli-CPU), memory (bytes) and gpu.

// cluster returns the free amounts of four nodes.
func cluster() *vector.Matrix {
	free := vector.NewMatrix(vector.Schema{}, 4, 3)
	free.SetRow(0, vector.ResourceVector{64000, 256e9, 8})
	free.SetRow(1, vector.ResourceVector{4000, 128e9, 8})
	free.SetRow(2, vector.ResourceVector{64000, 256e9, 0})
	free.SetRow(3, vector.ResourceVector{32000, 64e9, 2})
	return free
}

func ExampleResourceVector() {
	node := vector.ResourceVector{64000, 256e9, 8}
	pod := vector.ResourceVector{1000, 4e9, 0.5}
	fmt.Println("fits:", pod.FitsIn(node), pod.LessEqual(node))
	fmt.Println("copies:", pod.CopiesFit(node))
	fmt.Println("load:", pod.NormalizedSum(node))
	share, index := pod.DominantResourceIndex(node)
	fmt.Println("dominant:", share, "of resource", index)

	used := pod.Clone()
	used.Add(pod)
	fmt.Println("two of them:", used)
	// Output:
	// fits: true true
	// copies: 16
	// load: 0.09375
	// dominant: 0.0625 of resource 2
	// two of them: [2000 8e+09 1]
}

func ExampleResourceVector_FitsIn() {
	// The node is over-subscribed in its third resource.
	free := vector.ResourceVector{4000, 8e9, -1}
	pod := vector.ResourceVector{1000, 1e9}
	fmt.Println("requested resources only:", pod.FitsIn(free))
	fmt.Println("every resource:", pod.LessEqual(free))
	// Output:
	// requested resources only: true
	// every resource: false
}

func ExampleResourceVector_Shortfall() {
	free := vector.ResourceVector{4000, 8e9, 1}
	request := vector.ResourceVector{6000, 4e9, 2}
	fmt.Println(request.Shortfall(nil, free))
	// Output: [2000 0 1]
}

func ExampleMatrix() {
	m := vector.NewMatrix(vector.Schema{}, 2, 3) // two nodes, three resources
	m.SetRow(0, vector.ResourceVector{64000, 256e9, 8})
	m.AppendRow(vector.ResourceVector{32000}) // the rest is 0
	if err := m.SubFromRow(0, vector.ResourceVector{1000, 4e9, 1}); err != nil {
		fmt.Println(err)
	}
	moved := m.RemoveRow(1)
	fmt.Println("row", moved, "moved to row 1")
	for i := range m.Rows() {
		fmt.Println(m.Row(nil, i))
	}
	fmt.Println("cpu:", m.Column(0))
	// Output:
	// row 2 moved to row 1
	// [63000 2.52e+11 7]
	// [32000 0 0]
	// cpu: [63000 32000]
}

func ExampleMatrix_AddToRow() {
	// An integral column takes whole numbers only, so that sums stay exact.
	schema := vector.NewSchema([]vector.SchemaColumn{{Name: "cpu", Integral: true}})
	m := vector.NewMatrix(schema, 1, 1)
	fmt.Println(m.AddToRow(0, vector.ResourceVector{300}))
	fmt.Println(m.AddToRow(0, vector.ResourceVector{0.5}))
	// Output:
	// <nil>
	// row 0: cpu: amount 0.5 is not a whole number of the column's unit
}

func ExampleMatrix_Changed() {
	m := cluster()
	since := m.Version()
	m.SetRow(2, nil)
	m.SetRow(0, nil)
	rows, all := m.Changed(nil, since)
	fmt.Println(rows, all)
	// Output: [0 2] false
}

func ExampleMatrix_Slice() {
	m := vector.NewMatrix(vector.Schema{}, 1000, 1)
	for lo := 0; lo < m.Rows(); lo += 448 { // a multiple of 64 for each goroutine
		part := m.Slice(lo, min(lo+448, m.Rows()))
		fmt.Println(lo, part.Rows())
	}
	// Output:
	// 0 448
	// 448 448
	// 896 104
}

func ExampleFit() {
	free := cluster()
	var fit vector.Mask
	vector.Fit(&fit, free, vector.ResourceVector{8000, 32e9, 1})
	fmt.Println("nodes with room:", slices.Collect(fit.All()))
	// Output: nodes with room: [0 3]
}

func ExampleFitSum() {
	idle, releasing := cluster(), vector.NewMatrix(vector.Schema{}, 4, 3)
	releasing.SetRow(1, vector.ResourceVector{4000})
	var fit vector.Mask
	vector.FitSum(&fit, idle, releasing, vector.ResourceVector{8000, 32e9, 1})
	fmt.Println("room now or soon:", slices.Collect(fit.All()))
	// Output: room now or soon: [0 1 3]
}

func ExampleFitMatrix() {
	pods := vector.NewMatrix(vector.Schema{}, 2, 3)
	pods.SetRow(0, vector.ResourceVector{48000})
	pods.SetRow(1, vector.ResourceVector{1000, 0, 8})
	fit := make([]vector.Mask, pods.Rows())
	vector.FitMatrix(fit, cluster(), pods)
	for pod := range fit {
		fmt.Println("pod", pod, "fits on", slices.Collect(fit[pod].All()))
	}
	// Output:
	// pod 0 fits on [0 2]
	// pod 1 fits on [0 1]
}

func ExampleLessEqual() {
	// Which of many queues stay within one cap.
	usage := vector.NewMatrix(vector.Schema{}, 3, 2)
	usage.SetRow(0, vector.ResourceVector{10, 1})
	usage.SetRow(1, vector.ResourceVector{10, 3})
	usage.SetRow(2, vector.ResourceVector{20, 1})
	var within vector.Mask
	vector.LessEqual(&within, usage, vector.ResourceVector{10, 2})
	fmt.Println(slices.Collect(within.All()))
	// Output: [0]
}

func ExampleMask() {
	fits, ready := vector.NewMask(6), vector.NewMask(6)
	for _, row := range []int{0, 2, 5} {
		fits.Set(row)
	}
	ready.SetAll()
	ready.Clear(2)
	var candidates vector.Mask
	candidates.And(fits, ready)
	for row := range candidates.All() {
		fmt.Println("node", row)
	}
	// Output:
	// node 0
	// node 5
}

func ExampleNormalizedSum() {
	load := make([]float64, 4)
	vector.NormalizedSum(load, cluster(), vector.ResourceVector{64000, 256e9, 8})
	fmt.Println(load)
	// Output: [3 1.5625 2 1]
}

func ExampleDominantResourceRows() {
	capacity, used := cluster(), vector.NewMatrix(vector.Schema{}, 4, 3)
	used.SetRow(0, vector.ResourceVector{16000, 64e9, 6})
	used.SetRow(3, vector.ResourceVector{8000})
	share := make([]float64, 4)
	vector.DominantResourceRows(share, used, capacity)
	fmt.Println(share)
	// Output: [0.75 0 0 0.25]
}

func ExampleCopies() {
	free, worker := cluster(), vector.ResourceVector{8000, 16e9, 1}
	copies := make([]int64, free.Rows())
	vector.Copies(copies, free, worker)
	fmt.Println("per node:", copies)
	fmt.Println("in all:", vector.SumCopies(free, worker, nil))
	// Output:
	// per node: [8 0 0 2]
	// in all: 10
}

func ExampleRejections() {
	names := []string{"cpu", "memory", "gpu"}
	free, request := cluster(), vector.ResourceVector{8000, 100e9, 1}
	for j, n := range vector.Rejections(nil, free, request, nil) {
		if n > 0 {
			fmt.Println(n, "nodes: insufficient", names[j])
		}
	}
	// Output:
	// 1 nodes: insufficient cpu
	// 1 nodes: insufficient memory
	// 1 nodes: insufficient gpu
}

func ExampleFailingColumns() {
	free := cluster()
	failing := make([]uint64, free.Rows())
	vector.FailingColumns(failing, free, vector.ResourceVector{8000, 100e9, 1})
	for node, columns := range failing {
		fmt.Printf("node %d: %03b\n", node, columns)
	}
	// Output:
	// node 0: 000
	// node 1: 001
	// node 2: 100
	// node 3: 010
}

func ExampleShortfall() {
	var missing vector.Matrix
	vector.Shortfall(&missing, cluster(), vector.ResourceVector{8000, 32e9, 4})
	fmt.Println(missing.Row(nil, 3))
	// Output: [0 0 2]
}

func ExampleMaxColumns() {
	free := cluster()
	fmt.Println("total:", vector.SumColumns(nil, free, nil))
	fmt.Println("largest:", vector.MaxColumns(nil, free, nil))
	fmt.Println("smallest:", vector.MinColumns(nil, free, nil))
	// Output:
	// total: [164000 7.04e+11 18]
	// largest: [64000 2.56e+11 8]
	// smallest: [4000 6.4e+10 0]
}

func ExampleWeightedSum() {
	points := make([]float64, 4)
	vector.WeightedSum(points, cluster(), vector.ResourceVector{0.001, 0, 10})
	fmt.Println(points)
	// Output: [144 84 64 52]
}

func ExampleSegmentSum() {
	// Nodes 0 and 1 are in one rack, nodes 2 and 3 in another.
	var racks vector.Matrix
	vector.SegmentSum(&racks, cluster(), []int32{0, 2, 4})
	for rack := range racks.Rows() {
		fmt.Println(racks.Row(nil, rack))
	}
	// Output:
	// [68000 3.84e+11 16]
	// [96000 3.2e+11 2]
}

func ExampleTopK() {
	scores := []float64{3, 7, 7, 1, 7, 7}
	fmt.Println(vector.TopK(nil, scores, nil, 3, vector.TieLowest()))
	fmt.Println(vector.TopK(nil, scores, nil, 3, vector.TieSeeded(42)))
	cursor := 3
	fmt.Println(vector.TopK(nil, scores, nil, 3, vector.TieRoundRobin(&cursor)), cursor)
	// Output:
	// [1 2 4]
	// [4 1 2]
	// [4 5 1] 5
}

func ExampleArgMax() {
	// The fullest node that has room.
	free, request := cluster(), vector.ResourceVector{8000, 32e9, 1}
	var fit vector.Mask
	vector.Fit(&fit, free, request)
	room := make([]float64, free.Rows())
	vector.NormalizedSum(room, free, vector.ResourceVector{64000, 256e9, 8})
	fmt.Println(vector.ArgMin(room, &fit, vector.TieLowest()))
	fmt.Println(vector.ArgMax(room, &fit, vector.TieLowest()))
	// Output:
	// 3
	// 0
}

func ExampleOverlay() {
	free := cluster()
	o := vector.NewOverlay(free)
	request := vector.ResourceVector{8000, 32e9, 4}
	fmt.Println("now:", vector.SumCopies(o.Matrix(), request, nil))

	mark := o.Mark()
	if err := o.AddToRow(3, vector.ResourceVector{0, 0, 6}); err != nil { // evict a pod from node 3
		fmt.Println(err)
	}
	fmt.Println("with the victim gone:", vector.SumCopies(o.Matrix(), request, nil))
	o.Rollback(mark)
	fmt.Println("taken back:", vector.SumCopies(o.Matrix(), request, nil))
	// Output:
	// now: 2
	// with the victim gone: 4
	// taken back: 2
}

// A cycle: rows that moved are set, a copy is refreshed, a pod is placed and assumed.
func ExampleNodes() {
	nodes := vector.NewNodes(vector.Schema{}, 2) // cpu and GPUs; a map makes them with its schema
	for _, n := range []struct {
		name       string
		generation int64
		has, used  vector.ResourceVector
	}{
		{"node-a", 17, vector.ResourceVector{64000, 8}, vector.ResourceVector{60000, 2}},
		{"node-b", 4, vector.ResourceVector{32000, 4}, vector.ResourceVector{1000, 1}},
	} {
		if _, _, err := nodes.Set(n.name, n.generation, vector.NodeAmounts{Allocatable: n.has, Requested: n.used}); err != nil {
			fmt.Println(err)
		}
	}
	pod := vector.PodAmounts{Requested: vector.ResourceVector{8000, 1}}

	var view vector.Nodes // a reader's own copy, refreshed every cycle
	nodes.Snapshot(&view)
	var fits vector.Mask
	vector.Fit(&fits, view.Free(), pod.Requested)
	chosen := view.Name(fits.First())
	fmt.Println("goes to", chosen)

	if row, ok := nodes.Row(chosen); ok { // rows move when nodes are deleted
		if err := nodes.Assume(row, pod); err != nil {
			fmt.Println(err)
		}
		fmt.Println("left:", nodes.Free().Row(nil, row), "before:", view.Free().Row(nil, row))
	}
	fmt.Println("unchanged:", nodes.Current("node-b", 4))
	// Output:
	// goes to node-b
	// left: [23000 2] before: [31000 3]
	// unchanged: true
}
