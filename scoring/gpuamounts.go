package scoring

import (
	"math"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// GPURequestOf returns what a request, a vector of m, asks for: the cpu, and of
// GPUs a whole number, which is so many whole devices, or less than one, which is
// a part of one device. Models is left empty: vectors don't have them.
//
// The GPUs are those of the column [vectormap.GPU]. On a map made with
// [vectormap.NoFold] every other column for which
// [vectormap.ResourceVectorMap.IsGPU] holds counts too, and one of them at most
// may have an amount. Other resources, such as MIG profiles, are no devices here.
// Parts of several devices have no place in a vector: two halves are 1 there, a
// whole device.
//
// A mix such as 1.5 GPUs, amounts in several columns, and amounts that are NaN,
// infinite or negative are a [*BadAmountError], a request longer than m is
// [vector.ErrShape].
func GPURequestOf(m *vectormap.ResourceVectorMap, request vector.ResourceVector) (GPURequest, error) {
	needMap(m)
	g, err := gpuAmountOf(m, request, "request")
	if err != nil {
		return GPURequest{}, err
	}
	req := GPURequest{CPU: at(request, vectormap.CPU)}
	switch whole := math.Trunc(g.amount); {
	case g.amount == whole:
		req.Count = int(whole)
	case whole > 0:
		return GPURequest{}, g.fault("must be a whole number of GPUs, or less than one")
	default:
		req.Count, req.Milli = 1, g.milli
	}
	if req.Count > 0 && req.Milli == 0 {
		req.Milli = wholeGPU
	}
	if err := req.check(); err != nil {
		return GPURequest{}, err
	}
	return req, nil
}

// GPUNodeOf returns the GPUs of a node that has these allocatable amounts, a
// vector of m: all of them idle, and without pods. GPUs are counted by the rules
// of [GPURequestOf], and their number must be whole and at most 65536. What
// running pods have is taken away by [GPUState.Place], once the node has a row.
func GPUNodeOf(m *vectormap.ResourceVectorMap, allocatable vector.ResourceVector, model int32) (GPUNode, error) {
	needMap(m)
	g, err := gpuAmountOf(m, allocatable, "node")
	switch {
	case err != nil:
		return GPUNode{}, err
	case g.amount != math.Trunc(g.amount):
		return GPUNode{}, g.fault("must be a whole number of GPUs")
	}
	node := GPUNode{Model: model, Left: make([]float64, int(g.amount))}
	for d := range node.Left {
		node.Left[d] = wholeGPU
	}
	return node, nil
}

// TypicalPodOf returns the kind of pods that a request is of, for [TypicalPods];
// Models is shared.
func TypicalPodOf(req GPURequest) TypicalPod {
	return TypicalPod{CPU: req.CPU, Count: req.Count, Milli: req.Milli, Models: req.Models}
}

// mostNodeGPUs is the greatest number of GPUs that is taken for one.
const mostNodeGPUs = 1 << 16

// gpuAmount is an amount of GPUs.
type gpuAmount struct {
	amount, milli float64 // in GPUs, and in thousandths
	name          string  // of the column
	value         float64 // there
	owner         string
}

// fault says that the amount is bad.
func (g *gpuAmount) fault(reason string) error {
	return &BadAmountError{Resource: g.name, Value: g.value, owner: g.owner, reason: reason}
}

// gpuAmountOf returns the GPUs of a vector.
func gpuAmountOf(m *vectormap.ResourceVectorMap, v vector.ResourceVector, owner string) (gpuAmount, error) {
	g := gpuAmount{owner: owner}
	if len(v) > m.Len() {
		return g, vector.ErrShape
	}
	for i, x := range v {
		if x == 0 || !m.IsGPU(i) {
			continue
		}
		other := g.name
		g.name, g.value = m.Name(i), x
		switch {
		case !usable(x):
			return g, g.fault("")
		case other != "":
			return g, g.fault("must be 0 beside " + other)
		case m.Unit(i) == vectormap.UnitMilli:
			g.amount, g.milli = x/wholeGPU, x
		default:
			g.amount, g.milli = x, thousandths(x)
		}
		if g.amount > mostNodeGPUs {
			return g, g.fault("must be at most 65536 GPUs")
		}
	}
	return g, nil
}

// thousandths returns x times 1000, the whole number where x is the float64
// closest to a number of thousandths.
func thousandths(x float64) float64 {
	if n := math.Round(x * 1000); n/1000 == x {
		return n
	}
	return x * 1000
}
