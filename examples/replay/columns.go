package main

import (
	"fmt"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// columns are the places of the amounts in the schema. Beside the core
// resources there is a column for what each device has free, and two that
// follow from those and let one Fit answer for the devices too: how many are
// idle, for pods that take whole devices, and how much the emptiest one has
// free, for pods that take a part of one.
type columns struct {
	schema  *vectormap.ResourceVectorMap
	devices int // of the largest node
	device  int // the column of the first device; the others follow
	idle    int
	most    int
}

// The columns that follow from the devices.
const (
	idleName = "gpu-idle"
	mostName = "gpu-most"
)

// newColumns makes the schema for nodes of at most so many devices.
func newColumns(devices int) (columns, error) {
	names := make([]string, devices)
	for j := range names {
		names[j] = fmt.Sprintf("gpu-%03d", j) // sorted by name, so in this order
	}
	schema, err := vectormap.New(nil,
		vectormap.Milli("gpu"),
		vectormap.Literal(vectormap.UnitMilli, append(names, mostName)...),
		vectormap.Literal(vectormap.UnitWhole, idleName),
	)
	if err != nil {
		return columns{}, err
	}
	c := columns{schema: schema, devices: devices}
	c.device, _ = schema.Index(names[0])
	c.idle, _ = schema.Index(idleName)
	c.most, _ = schema.Index(mostName)
	return c, nil
}

// ofDevices returns the part of a row that is about its devices.
func (c *columns) ofDevices(row vector.ResourceVector) vector.ResourceVector {
	return row[c.device:][:c.devices]
}

// derive sets the columns that follow from the devices.
func (c *columns) derive(row vector.ResourceVector) {
	idle, most := 0, 0.0
	for _, free := range c.ofDevices(row) {
		most = max(most, free)
		if free == wholeGPU {
			idle++
		}
	}
	row[c.idle], row[c.most] = float64(idle), most
}

// node returns the amounts of an empty node.
func (c *columns) node(node nodeShape) vector.ResourceVector {
	row := c.schema.NewVector()
	row[vectormap.CPU] = float64(node.cpuMilli)
	row[vectormap.Memory] = float64(node.memoryMiB << 20)
	row[vectormap.GPU] = float64(node.gpus * wholeGPU)
	row[vectormap.Pods] = podsPerNode
	for j := range node.gpus {
		c.ofDevices(row)[j] = wholeGPU
	}
	c.derive(row)
	return row
}

// pod returns what a node must have free for a pod.
func (c *columns) pod(pod podShape) vector.ResourceVector {
	row := c.schema.NewVector()
	row[vectormap.CPU] = float64(pod.cpuMilli)
	row[vectormap.Memory] = float64(pod.memoryMiB << 20)
	row[vectormap.GPU] = float64(pod.totalMilli())
	row[vectormap.Pods] = 1
	if pod.gpuMilli == wholeGPU {
		row[c.idle] = float64(pod.gpus)
	} else {
		row[c.most] = float64(pod.gpuMilli)
	}
	return row
}
