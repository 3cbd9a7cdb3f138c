// Package provision says which new nodes hold pods at the least cost.
//
// Experimental: a minor version may change it, since a better bound may rest on something else
// than [Plan.Why] can say today.
//
// Pods that fit on no node need new ones. [Cheapest] is given the shapes that can be
// bought and what the pods request. It says how many nodes of each shape hold them all,
// where each pod goes, and below which cost it can't be done:
//
//	plan, err := provision.Cheapest(shapes, requests)
//	fmt.Println(plan.Counts, plan.Cost, plan.AtLeast)
//
// Vector bin packing is NP-hard, so the plan need not be the cheapest. AtLeast says how
// far from it the plan can be at most: where it equals the cost, no plan is cheaper.
package provision

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/resvec/resvec/vector"
	"github.com/resvec/resvec/vector/gang"
)

// Shape is a kind of node, of which any number can be bought.
type Shape struct {
	// Room is what a new node has for the pods: what is allocatable, less what runs on
	// every node. +Inf is unlimited, and less than 0 has room for nothing.
	Room vector.ResourceVector

	// Cost is what a node costs, more than 0. The unit is the caller's.
	Cost float64
}

// Plan is new nodes that hold all pods.
type Plan struct {
	Counts    []int   // the nodes of each shape
	Placement []int32 // the node of each pod; nodes are numbered shape by shape
	Cost      float64 // of all nodes

	// AtLeast is a proved bound: no plan costs less. Like Cost it is a sum in float64,
	// exact where costs are whole numbers.
	AtLeast float64

	// Why is what AtLeast rests on. With one shape it says why one node less can't hold
	// the pods, as [gang.Packer.Infeasible] does; it is empty where AtLeast is one node.
	//
	// With several shapes each element must be bought: Needed of a resource (aggregate),
	// or places for Needed pods that request as much as Member (copies). Available is how
	// much of it a cost of 1 buys at most. No shape has room for two of the elements, so
	// what they cost adds up to AtLeast, unless the plan costs less.
	Why []gang.Infeasibility
}

// Cheapest looks for a cheap plan for pods, of which requests has a row each. Equal
// inputs give equal plans. Without pods there are no nodes.
//
// With one shape it packs the pods by best fit, and searches for the least number of
// nodes for which that succeeds, from the least that isn't proved to be too few. Pods
// that request the same get the true least number. With several shapes it opens the node
// that takes the largest part of what is left for its cost, again and again. It takes
// away nodes as long as the pods can be packed on the others, and compares with each
// shape that holds all pods alone.
//
// The error names the field and the value. A cost must be a finite number above 0. A
// room has an amount for each column, none of them NaN and the finite ones below 2^53. A
// request is a whole number from 0 to 2^53-1 of its unit, and each pod fits on a new node
// of some shape. Amounts that are refused are a [*vector.AmountError].
func Cheapest(shapes []Shape, requests *vector.Matrix) (Plan, error) {
	p, err := newProblem(shapes, requests)
	if err != nil {
		return Plan{}, fmt.Errorf("provision: %w", err)
	}
	switch {
	case requests.Rows() == 0:
		return Plan{Counts: make([]int, len(shapes))}, nil
	case len(shapes) == 1:
		return p.alone(0), nil
	}
	return p.mix(), nil
}

// A problem is a question that was checked.
type problem struct {
	shapes   []Shape // their rooms rounded down
	kinds    []kind
	requests *vector.Matrix
}

// A kind is the pods that make one request. There are few kinds where there are many pods,
// and they are filled in at once.
type kind struct {
	request vector.ResourceVector
	pods    []int
}

func newProblem(shapes []Shape, requests *vector.Matrix) (*problem, error) {
	p := &problem{requests: requests}
	for i, s := range shapes {
		if !(s.Cost > 0 && s.Cost <= math.MaxFloat64) {
			return nil, fmt.Errorf("shapes[%d].Cost: got %v, want a finite number above 0", i, s.Cost)
		}
		if len(s.Room) != requests.Cols() {
			return nil, fmt.Errorf("shapes[%d].Room: got %d amounts, want %d as requests: %w", i, len(s.Room), requests.Cols(), vector.ErrShape)
		}
		// Requests are whole numbers, so what is left of a whole number is of no use.
		room := s.Room.Clone()
		for j, x := range room {
			switch room[j] = math.Floor(x); {
			case math.IsNaN(x):
				return nil, fmt.Errorf("shapes[%d].Room: %w", i, refusal(requests, -1, j, x, "is no number"))
			case x >= 1<<53 && !math.IsInf(x, 1), x <= -1<<53:
				return nil, fmt.Errorf("shapes[%d].Room: %w", i, refusal(requests, -1, j, x, "is too large: want less than 2^53 of the column's unit"))
			}
		}
		p.shapes = append(p.shapes, Shape{Room: room, Cost: s.Cost})
	}
	return p, p.findKinds()
}

// findKinds groups the pods by their requests, in the order in which these appear.
func (p *problem) findKinds() error {
	index := make(map[string]int)
	var key bytes.Buffer
	for i := range p.requests.Rows() {
		request := p.requests.Row(nil, i)
		key.Reset()
		for j, x := range request {
			switch {
			case x < 0:
				e := refusal(p.requests, i, j, x, "is negative: want 0 or more")
				e.Cause = vector.ErrNegative
				return fmt.Errorf("requests: %w", e)
			case x != math.Trunc(x) || x >= 1<<53: // also NaN and infinite
				return fmt.Errorf("requests: %w", refusal(p.requests, i, j, x, "is not a whole number below 2^53 of the column's unit"))
			}
			_ = binary.Write(&key, binary.NativeEndian, x+0) // -0 is 0; a buffer takes everything
		}
		k, known := index[key.String()]
		if !known {
			if !slices.ContainsFunc(p.shapes, func(s Shape) bool { return request.FitsIn(s.Room) }) {
				return fmt.Errorf("requests: row %d: got %v, which fits on no shape", i, request)
			}
			k = len(p.kinds)
			index[key.String()] = k
			p.kinds = append(p.kinds, kind{request: request})
		}
		p.kinds[k].pods = append(p.kinds[k].pods, i)
	}
	return nil
}

// refusal reports amount x of column j.
func refusal(m *vector.Matrix, row, j int, x float64, reason string) *vector.AmountError {
	e := &vector.AmountError{
		Resource: fmt.Sprint("column ", j), Row: row, Amount: strconv.FormatFloat(x, 'g', -1, 64), Reason: reason,
		Cause: vector.ErrNotRepresentable,
	}
	if columns := m.Schema().Columns(); columns != nil {
		e.Resource = columns[j].Name
	}
	return e
}

// restarts is how many other orders of the pods are tried where one does not do.
const restarts = 8

// packer returns a packer of the pods. Their sum is the scale: what all of them together
// want most of decides which is large, and needs fewer nodes than a scale of what nodes
// have.
func (p *problem) packer() *gang.Packer {
	return gang.NewPacker(gang.Options{
		Total: vector.SumColumns(nil, p.requests, nil), ByDominantShare: true,
		BestFit: vector.TieLowest(), Restarts: restarts, Seed: 1,
	})
}
