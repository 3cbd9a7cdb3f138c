package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// podsPerNode is how many pods a node takes.
const podsPerNode = 1001

// A cluster is an empty cluster, one row per node, and the requests that are
// made of it. It is not written once it is made.
type cluster struct {
	columns  columns
	nodes    []nodeShape
	capacity *vector.Matrix
	largest  vector.ResourceVector // the greatest cpu, memory and GPU of any node
	requests []request
}

// A request is one distinct pod request in the form of the schema.
type request struct {
	amounts vector.ResourceVector // what a node must have free
	devices int                   // how many devices it takes
	milli   float64               // of each of them
	allowed *vector.Mask          // the nodes of a model it takes; nil: any node
}

// newCluster puts a trace into the form of the library.
func newCluster(t *trace) (*cluster, error) {
	devices := 0
	for _, node := range t.nodes {
		devices = max(devices, int(node.gpus))
	}
	if n := len(t.nodes); n*devices > maxColumns {
		return nil, fmt.Errorf("%d nodes with up to %d devices: at most %d devices can be kept", n, devices, maxColumns)
	}
	columns, err := newColumns(devices)
	if err != nil {
		return nil, err
	}
	c := &cluster{columns: columns, nodes: t.nodes, capacity: columns.schema.NewMatrix(len(t.nodes))}
	for i, node := range t.nodes {
		c.capacity.SetRow(i, columns.node(node))
	}
	c.largest = vector.MaxColumns(nil, c.capacity, nil)[:vectormap.GPU+1]
	allowed := make(map[string]*vector.Mask)
	for _, pod := range t.requests {
		r := request{amounts: columns.pod(pod), devices: int(pod.gpus), milli: float64(pod.gpuMilli)}
		if pod.gpus > 0 && pod.spec != "" {
			if allowed[pod.spec] == nil {
				allowed[pod.spec] = nodesOf(t.nodes, pod.spec)
			}
			r.allowed = allowed[pod.spec]
		}
		c.requests = append(c.requests, r)
	}
	return c, nil
}

// nodesOf returns the nodes whose model is one of those that spec names.
func nodesOf(nodes []nodeShape, spec string) *vector.Mask {
	models := strings.Split(spec, "|")
	mask := vector.NewMask(len(nodes))
	for i, node := range nodes {
		if node.model != "" && slices.Contains(models, node.model) {
			mask.Set(i)
		}
	}
	return mask
}

// A placement is where a pod went: its node, or -1 when none could hold it, and
// its devices there.
type placement struct {
	node    int
	devices []int32
}

// verify re-counts from the placements alone what is used on every node and
// device, and checks that it and what free says add up to the capacity, with
// nothing below zero and no pod on a model that it does not take. It returns
// the sum of what is used, one amount per column.
func (c *cluster) verify(free *vector.Matrix, arrivals []int32, placements []placement) (vector.ResourceVector, error) {
	used := c.columns.schema.NewMatrix(len(c.nodes))
	amounts := c.columns.schema.NewVector()
	for i, p := range placements {
		if p.node < 0 {
			continue
		}
		r := &c.requests[arrivals[i]]
		if len(p.devices) != r.devices || r.allowed != nil && !r.allowed.Test(p.node) {
			return nil, fmt.Errorf("check failed: arrival %d is on devices it cannot use", i)
		}
		copy(amounts, r.amounts)
		clear(amounts[vectormap.Pods+1:])
		for _, j := range p.devices {
			c.columns.ofDevices(amounts)[j] = r.milli
		}
		if err := used.AddRow(p.node, amounts); err != nil {
			return nil, err
		}
	}
	row := c.columns.schema.NewVector()
	for i := range c.nodes {
		row = used.Row(row, i)
		for j := range row {
			row[j] = c.capacity.At(i, j) - row[j]
		}
		c.columns.derive(row)
		for j, left := range row {
			if left != free.At(i, j) || left < 0 {
				return nil, fmt.Errorf("check failed: node %d has %v of %s free, but its pods leave %v of %v",
					i, free.At(i, j), c.columns.schema.Name(j), left, c.capacity.At(i, j))
			}
		}
	}
	return vector.SumColumns(nil, used, nil), nil
}
