package main

import (
	"fmt"
	"strings"

	"github.com/resvec/resvec/scoring/gpu"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

const (
	podsPerNode = 1001 // how many pods a node takes
	coverage    = 0.95 // how much of the pods the typical ones are
	noModel     = -1   // satisfies no list of models
)

// A cluster is an empty cluster and the requests that are made of it, in the
// form of the library. It is not written once it is made.
type cluster struct {
	*trace
	schema  *vectormap.ResourceVectorMap
	kinds   []request        // the distinct requests, by the trace's index
	models  map[string]int32 // numbers of the models that nodes or pods name
	largest gpu.NodeSize     // the greatest CPU and GPUs of any node, or of the study's nodes
	typical *gpu.Typical
}

// A request is one distinct pod request.
type request struct {
	amounts vector.ResourceVector // what it takes from a node
	gpu     gpu.Request           // its CPU and devices, and what else a node must have
	total   int64                 // of all its devices, in thousandths
}

// newCluster puts a trace into the form of the library.
func newCluster(t *trace) (*cluster, error) {
	devices := int64(0)
	for _, node := range t.nodes {
		devices = max(devices, node.gpus)
	}
	if n := int64(len(t.nodes)); n*devices > maxColumns {
		return nil, fmt.Errorf("%d nodes with up to %d devices: at most %d devices can be kept", n, devices, maxColumns)
	}
	schema, err := vectormap.New(nil, vectormap.Milli("gpu"))
	if err != nil {
		return nil, err
	}
	c := &cluster{
		trace:   t,
		schema:  schema,
		models:  map[string]int32{"": noModel},
		largest: gpu.NodeSize{CPU: 128000, GPU: 8 * wholeGPU},
	}
	for _, node := range t.nodes {
		c.largest.CPU = max(c.largest.CPU, float64(node.cpuMilli))
		c.largest.GPU = max(c.largest.GPU, float64(node.gpus*wholeGPU))
		c.model(node.model)
	}
	for _, pod := range t.requests {
		c.kinds = append(c.kinds, c.request(pod))
	}
	c.typical, err = gpu.TypicalPods(c.typicalPods(), coverage)
	return c, err
}

// typicalPods returns the requests and how many pods make each of them.
func (c *cluster) typicalPods() []gpu.TypicalPod {
	all := make([]gpu.TypicalPod, len(c.kinds))
	for id, r := range c.kinds {
		all[id] = gpu.TypicalPodOf(r.gpu)
		all[id].Spec = c.requests[id].spec
	}
	for _, id := range c.trace.pods {
		all[id].Pods++
	}
	return all
}

// model returns the number of a model.
func (c *cluster) model(name string) int32 {
	number, ok := c.models[name]
	if !ok {
		number = int32(len(c.models))
		c.models[name] = number
	}
	return number
}

// request returns the request of a pod.
func (c *cluster) request(pod podShape) request {
	r := request{amounts: c.schema.NewVector(), total: pod.totalMilli()}
	r.amounts[vectormap.Memory] = float64(pod.memoryMiB << 20)
	r.amounts[vectormap.Pods] = 1
	rest := r.amounts.Clone()
	r.amounts[vectormap.CPU] = float64(pod.cpuMilli)
	r.amounts[vectormap.GPU] = float64(pod.totalMilli())
	r.gpu = gpu.Request{
		CPU:   float64(pod.cpuMilli),
		Count: int(pod.gpus),
		Milli: float64(pod.gpuMilli),

		Amounts: rest,
	}
	if pod.spec != "" {
		for name := range strings.SplitSeq(pod.spec, "|") {
			r.gpu.Models = append(r.gpu.Models, c.model(name))
		}
	}
	return r
}

// amounts returns what a node has.
func (c *cluster) amounts(node nodeShape) vector.ResourceVector {
	row := c.schema.NewVector()
	row[vectormap.CPU] = float64(node.cpuMilli)
	row[vectormap.Memory] = float64(node.memoryMiB << 20)
	row[vectormap.GPU] = float64(node.gpus * wholeGPU)
	row[vectormap.Pods] = podsPerNode
	return row
}
