package gpu

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// RequestOf returns what a request, a vector of m, asks for: the cpu, and of
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
// infinite or negative are a [*vector.AmountError], a request longer than m is
// [vector.ErrShape].
func RequestOf(m *vectormap.ResourceVectorMap, request vector.ResourceVector) (Request, error) {
	needMap(m)
	g, err := amountOf(m, request, "request")
	if err != nil {
		return Request{}, err
	}
	req := Request{CPU: request.Get(vectormap.CPU)}
	switch whole := math.Trunc(g.amount); {
	case g.amount == whole:
		req.Count = int(whole)
	case whole > 0:
		return Request{}, g.fault("must be a whole number of GPUs, or less than one")
	default:
		req.Count, req.Milli = 1, g.milli
	}
	if req.Count > 0 && req.Milli == 0 {
		req.Milli = wholeDevice
	}
	if err := req.check(); err != nil {
		return Request{}, err
	}
	return req, nil
}

// NodeOf returns the GPUs of a node that has these allocatable amounts, a
// vector of m: all of them idle, and without pods. GPUs are counted by the rules
// of [RequestOf], and their number must be whole and at most 65536. What
// running pods have is taken away by [State.Place], once the node has a row.
func NodeOf(m *vectormap.ResourceVectorMap, allocatable vector.ResourceVector, model int32) (Node, error) {
	needMap(m)
	g, err := amountOf(m, allocatable, "node")
	switch {
	case err != nil:
		return Node{}, err
	case g.amount != math.Trunc(g.amount):
		return Node{}, g.fault("must be a whole number of GPUs")
	}
	node := Node{Model: model, Left: make([]float64, int(g.amount))}
	for d := range node.Left {
		node.Left[d] = wholeDevice
	}
	return node, nil
}

// TypicalPodOf returns the kind of pods that a request is of, for [TypicalPods];
// Models is shared.
func TypicalPodOf(req Request) TypicalPod {
	return TypicalPod{CPU: req.CPU, Count: req.Count, Milli: req.Milli, Models: req.Models}
}

// mostDevices is the greatest number of GPUs that is taken for one.
const mostDevices = 1 << 16

// amount is an amount of GPUs.
type amount struct {
	amount, milli float64 // in GPUs, and in thousandths
	name          string  // of the column
	value         float64 // there
	owner         string
}

// fault says that the amount is bad.
func (g *amount) fault(reason string) error {
	return badAmount(g.owner, g.name, g.value, reason)
}

// amountOf returns the GPUs of a vector.
func amountOf(m *vectormap.ResourceVectorMap, v vector.ResourceVector, owner string) (amount, error) {
	g := amount{owner: owner}
	if len(v) > m.Len() {
		return g, fmt.Errorf("gpu: the %s has %d amounts, the map %d: %w", owner, len(v), m.Len(), vector.ErrShape)
	}
	for i, x := range v {
		if x == 0 || !m.IsGPU(i) {
			continue
		}
		other := g.name
		g.name, g.value = m.Name(i), x
		switch {
		case !usable(x):
			return g, g.fault(reasonAmount)
		case other != "":
			return g, g.fault("must be 0 beside " + other)
		case m.Unit(i) == vectormap.UnitMilli:
			g.amount, g.milli = x/wholeDevice, x
		default:
			g.amount, g.milli = x, thousandths(x)
		}
		if g.amount > mostDevices {
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

// badAmount says that an amount of a request or node is bad.
func badAmount(owner, resource string, x float64, reason string) error {
	e := &vector.AmountError{Resource: resource, Row: -1, Amount: decimal.Format(x), Reason: reason, Cause: vector.ErrNotRepresentable}
	if x < 0 {
		e.Cause = vector.ErrNegative
	}
	return fmt.Errorf("gpu: %s: %w", owner, e)
}
