package main

import (
	"cmp"
	_ "embed" // the tables of shapes
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// The shapes of the openb cluster and of its default pod list; data/README.md
// says where they come from.
var (
	//go:embed data/derived_node_shapes.csv
	embeddedNodes string
	//go:embed data/derived_pod_shapes.csv
	embeddedPods string
)

// A trace is a cluster and the pods to place on it, in canonical form: sorted,
// so that neither names nor the order of the rows of a file carry information,
// and a file and a table of its shapes give the same run.
type trace struct {
	nodes    []nodeShape // one per node, ascending
	requests []podShape  // the distinct requests, ascending
	pods     []int32     // one per pod, ascending: an index into requests
}

// loadTrace reads the node and pod lists from these files, or the embedded
// tables where a path is empty.
func loadTrace(nodeFile, podFile string) (*trace, error) {
	nodes, err := load(nodeFile, embeddedNodes, readNodes)
	if err != nil {
		return nil, err
	}
	pods, err := load(podFile, embeddedPods, readPods)
	if err != nil {
		return nil, err
	}
	return newTrace(nodes, pods), nil
}

// load reads a file, or the embedded text when path is empty.
func load[T comparable](path, embedded string, read func(string, io.Reader) (map[T]int, error)) (map[T]int, error) {
	if path == "" {
		return read("embedded table", strings.NewReader(embedded))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer file.Close()
	return read(path, file)
}

// newTrace expands counted shapes to their canonical form.
func newTrace(nodes map[nodeShape]int, pods map[podShape]int) *trace {
	t := &trace{requests: slices.SortedFunc(maps.Keys(pods), comparePods)}
	for _, shape := range slices.SortedFunc(maps.Keys(nodes), compareNodes) {
		t.nodes = append(t.nodes, slices.Repeat([]nodeShape{shape}, nodes[shape])...)
	}
	for id, shape := range t.requests {
		t.pods = append(t.pods, slices.Repeat([]int32{int32(id)}, pods[shape])...)
	}
	return t
}

// compareNodes orders nodes column by column.
func compareNodes(a, b nodeShape) int {
	return cmp.Or(
		cmp.Compare(a.cpuMilli, b.cpuMilli),
		cmp.Compare(a.memoryMiB, b.memoryMiB),
		cmp.Compare(a.gpus, b.gpus),
		cmp.Compare(a.model, b.model),
	)
}

// comparePods orders requests column by column.
func comparePods(a, b podShape) int {
	return cmp.Or(
		cmp.Compare(a.cpuMilli, b.cpuMilli),
		cmp.Compare(a.memoryMiB, b.memoryMiB),
		cmp.Compare(a.gpus, b.gpus),
		cmp.Compare(a.gpuMilli, b.gpuMilli),
		cmp.Compare(a.spec, b.spec),
	)
}

// streamArrivals is the stream of a seed that draws the arrivals.
const streamArrivals = 1

// arrivals returns all pods once, in the random order of a seed. Every policy
// of a seed sees the same order.
func (t *trace) arrivals(seed int64) []int32 {
	order := slices.Clone(t.pods)
	random := rand.New(rand.NewPCG(uint64(seed), streamArrivals))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}
