package gpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vectormap"
)

// Request is what a pod requests; see [RequestOf].
type Request struct {
	CPU    float64 // millicores, also where Amounts has them
	Count  int     // devices; 0 for a pod without GPU, whose Milli and Models don't count
	Milli  float64 // thousandths of every device: 1000 for whole devices; more than 0 where Count is
	Models []int32 // the models that will do; empty: any

	// Amounts is all that the pod requests of a node, a vector of the map, which has
	// to fit in what the node has free by the rule of [vector.Fit]. Scores don't count
	// it. CPU and GPUs may be in it or not; nil: CPU and devices decide alone.
	Amounts vector.ResourceVector
}

// total returns what q takes of all devices together.
func (q *Request) total() float64 {
	if q.Count == 0 {
		return 0
	}
	return float64(float64(q.Count) * q.Milli)
}

// shares reports whether q is of a pod that shares a device.
func (q *Request) shares() bool { return q.Count == 1 && q.Milli < wholeDevice }

// class returns the class of a pod with a GPU.
func (q *Request) class() int {
	if q.shares() {
		return 0
	}
	return q.Count
}

// choosy reports whether q needs certain models.
func (q *Request) choosy() bool { return q.Count > 0 && len(q.Models) > 0 }

// valid reports whether the amounts but for Amounts make sense.
func (q *Request) valid() bool {
	if q.Count == 0 {
		return usable(q.CPU) && usable(q.Milli)
	}
	return usable(q.CPU) && q.Count > 0 && q.Milli > 0 && q.Milli <= wholeDevice
}

// badAmount returns the index of a bad one in Amounts, -1 for none.
func (q *Request) badAmount() int {
	for i, x := range q.Amounts {
		if !usable(x) {
			return i
		}
	}
	return -1
}

// check says what is wrong with the amounts.
func (q *Request) check() error {
	switch {
	case q.valid():
		return nil
	case !usable(q.CPU):
		return badAmount("request", "cpu", q.CPU, reasonAmount)
	case q.Count < 0:
		return badAmount("request", "gpu", float64(q.Count), reasonAmount)
	case q.Count == 0:
		return badAmount("request", "gpu", q.Milli, reasonAmount)
	}
	return badAmount("request", "gpu", q.Milli, reasonMilli)
}

const reasonAmount = "must be finite and not negative"

const reasonMilli = "must be more than 0 and at most 1000 thousandths of each device"

// allows reports whether a node of this model satisfies a list of models.
func allows(models []int32, model int32) bool {
	return len(models) == 0 || model >= 0 && slices.Contains(models, model)
}

// RequestOf returns what a request, a vector of m, asks for: the cpu, and of
// GPUs a whole number, which is so many whole devices, or less than one, which is
// a part of one device. Amounts is the vector itself, and Models is left empty:
// vectors don't have them.
//
// The GPUs are in the column [vectormap.GPU]. On a map made with
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
	g, err := amountOf(m, request, "request")
	if err != nil {
		return Request{}, err
	}
	req := Request{CPU: request.Get(vectormap.CPU), Amounts: request}
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
	unit          vectormap.Unit
	owner         string
}

// fault says that the amount is bad.
func (g *amount) fault(reason string) error {
	if g.unit == vectormap.UnitMilli {
		reason += ": the map counts thousandths"
	}
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
		g.name, g.value, g.unit = m.Name(i), x, m.Unit(i)
		switch {
		case !usable(x):
			return g, g.fault(reasonAmount)
		case other != "":
			return g, g.fault("must be 0 where there is " + other)
		case g.unit == vectormap.UnitMilli:
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
