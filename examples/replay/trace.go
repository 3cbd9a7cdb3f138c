package main

import (
	"cmp"
	_ "embed" // the tables of shapes
	"fmt"
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

// A trace is a cluster and the pods to place on it, some of which ask for GPUs,
// in canonical form: sorted,
// so that neither names nor the order of the rows of a file carry information,
// and a file and a table of its shapes give the same run.
type trace struct {
	nodes    []nodeShape // one per node, ascending
	requests []podShape  // the distinct requests, ascending
	pods     []int32     // one per pod, ascending: an index into requests
	capacity int64       // of all devices, in thousandths of one
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
		t.capacity += int64(nodes[shape]) * shape.gpus * wholeGPU
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

// The streams of random numbers that a seed has. All policies of a seed draw
// from the same first two; the third belongs to the policy itself.
const (
	streamArrivals = 1
	streamNodes    = 2
	streamPolicy   = 3
)

// stream returns a stream of a seed.
func stream(seed int64, number uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), number))
}

// nodeOrder returns the nodes in the order of a seed, which decides between
// nodes with equal scores.
func (t *trace) nodeOrder(seed int64) []int32 {
	order := make([]int32, len(t.nodes))
	for node, rank := range stream(seed, streamNodes).Perm(len(t.nodes)) {
		order[rank] = int32(node)
	}
	return order
}

// arrivals returns the pods of a seed in the order in which they arrive. They
// are all pods of the list, shuffled; then pods drawn from it are appended, or
// pods drawn from the order removed, until they ask for inflate times the
// capacity of the devices. As in the published runs, the draw that ends the
// appending is judged by one of its devices, so the demand may end above that.
func (t *trace) arrivals(seed int64, inflate float64) ([]int32, error) {
	random := stream(seed, streamArrivals)
	order := slices.Clone(t.pods)
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	total, target := t.demand(order), float64(inflate*float64(t.capacity))
	if float64(total) < target {
		return t.extend(order, total, target, random)
	}
	for float64(total) > target {
		i := random.IntN(len(order))
		total -= t.requests[order[i]].totalMilli()
		order = slices.Delete(order, i, i+1)
	}
	return order, nil
}

// extend appends pods drawn from the list to order, which asks for total, until
// one would exceed the target.
func (t *trace) extend(order []int32, total int64, target float64, random *rand.Rand) ([]int32, error) {
	for {
		id := t.pods[random.IntN(len(t.pods))]
		r := &t.requests[id]
		if float64(total+r.gpuMilli) > target {
			return order, nil
		}
		if len(order) == maxRows {
			return nil, fmt.Errorf("more than %d arrivals are needed to reach the demand of -inflate", maxRows)
		}
		order = append(order, id)
		total += r.totalMilli()
	}
}

// demand returns what pods ask of all devices together.
func (t *trace) demand(pods []int32) (milli int64) {
	for _, id := range pods {
		milli += t.requests[id].totalMilli()
	}
	return milli
}
