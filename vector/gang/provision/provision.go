// Package provision says which new nodes hold pods at the least cost.
//
// Experimental: a minor version may change it, since a better bound may rest on something else
// than [Bound.Why] can say today.
//
// Pods that fit on no node need new ones. [Cheapest] is given the shapes that can be
// bought and what the pods request. It says how many nodes of each shape hold them all,
// where each pod goes, and below which cost it can't be done:
//
//	plan, err := provision.Cheapest(shapes, requests)
//	fmt.Println(plan.Counts, plan.Cost, plan.AtLeast)
//
// A [Problem] also has the nodes that are there, whose room costs nothing, and pods that may
// go to some nodes and shapes only.
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

// Pods are pods that may go to the same nodes.
type Pods struct {
	Requests *vector.Matrix // a row for each pod
	Rows     *vector.Mask   // of Problem.Free; nil is all
	Shapes   []bool         // of Problem.Shapes; nil is all
}

// Problem asks which new nodes hold pods. It is only read.
type Problem struct {
	Shapes []Shape

	// Free is what the nodes that are there have free, a row each; nil is no node.
	Free *vector.Matrix

	// Pods are numbered group by group.
	Pods []Pods
}

// Plan is new nodes that, with those that are there, hold all pods.
type Plan struct {
	Counts []int // the nodes of each shape

	// Placement is the node of each pod. The rows of Free come first, then the new nodes,
	// shape by shape.
	Placement []int32

	Cost float64 // of all new nodes
	Bound
}

// Bound is what new nodes cost at least, however the pods are packed.
type Bound struct {
	// AtLeast is proved: no plan costs less. Like Cost it is a sum in float64, exact where
	// costs are whole numbers. It is +Inf where no number of new nodes helps.
	AtLeast float64

	// Why is what AtLeast rests on. Domain is a group of pods: the reason counts these and
	// those that may go nowhere else than they; -1 stands for all pods. Member is a pod.
	//
	// With one shape it says why one node less can't hold the pods, as
	// [gang.Packer.Infeasible] does; it is empty where one node less is none at all.
	//
	// With several shapes each element must be bought: Needed of a resource (aggregate),
	// or places for Needed pods that request as much as Member (copies), besides what is
	// free on nodes that are there. Available is how much of it a cost of 1 buys at most. No
	// shape has room for two of the elements, so what they cost adds up to AtLeast, unless
	// the plan costs less.
	Why []gang.Infeasibility
}

// Cheapest looks for a cheap plan for pods that may go to all shapes, of which requests has
// a row each: [Problem.Cheapest] without nodes that are there.
func Cheapest(shapes []Shape, requests *vector.Matrix) (Plan, error) {
	return (&Problem{Shapes: shapes, Pods: []Pods{{Requests: requests}}}).Cheapest()
}

// Cheapest looks for a cheap plan. Equal problems have equal plans. Where the nodes that are
// there hold all pods, or there are none, it buys nothing.
//
// It fills what is free first. Then it opens the node that takes the largest part of what is
// left for its cost, again and again. It takes away nodes as long as the pods can be packed
// on the others, and compares with each shape that takes all pods alone. Pods that request
// the same and may go everywhere get the true least number of one shape.
//
// The error names the field and the value. A cost must be a finite number above 0. A
// room has an amount for each column, none of them NaN and the finite ones below 2^53; so
// has a free row. A request is a whole number from 0 to 2^53-1 of its unit, and each pod fits
// on a new node of some shape that it may go to. Amounts that are refused are a
// [*vector.AmountError].
func (p *Problem) Cheapest() (Plan, error) {
	q, err := newQuestion(p)
	if err == nil {
		err = q.checkFits()
	}
	if err != nil {
		return Plan{}, fmt.Errorf("provision: %w", err)
	}
	plan, bound := q.open(-1), q.bound()
	better := func(other Plan) {
		if other.Cost < plan.Cost {
			plan = other
		}
	}
	if len(q.shapes) > 1 && plan.Cost > bound.AtLeast {
		better(q.prune(plan))
	}
	for i := range q.shapes {
		if plan.Cost > bound.AtLeast && q.takesAll(i) {
			better(q.alone(i))
		}
	}
	plan.Bound = bound
	plan.AtLeast = min(plan.AtLeast, plan.Cost) // they are rounded differently
	return plan, nil
}

// AtLeast returns a bound: what every plan costs at least. Unlike in Cheapest pods may fit on
// no shape. Errors are as in Cheapest.
func (p *Problem) AtLeast() (Bound, error) {
	q, err := newQuestion(p)
	if err != nil {
		return Bound{}, fmt.Errorf("provision: %w", err)
	}
	return q.bound(), nil
}

// A question is a problem that was checked.
type question struct {
	shapes []Shape        // their rooms rounded down
	free   *vector.Matrix // rounded down
	groups []group
	kinds  []kind
	pods   int
}

// A group is pods that may go to the same nodes.
type group struct {
	requests *vector.Matrix
	first    int // the number of its first pod
	rows     *vector.Mask
	shapes   []bool
}

// A kind is the pods of a group that make one request. There are few kinds where there are
// many pods, and they are counted at once.
type kind struct {
	request vector.ResourceVector
	pods    []int
	group   int
}

func newQuestion(p *Problem) (*question, error) {
	q := &question{}
	cols := -1
	for i, pods := range p.Pods {
		switch {
		case pods.Requests == nil:
			return nil, fmt.Errorf("pods[%d].Requests: it is nil", i)
		case cols >= 0 && pods.Requests.Cols() != cols:
			return nil, fmt.Errorf("pods[%d].Requests: got %d columns, want %d as in pods[0]: %w", i, pods.Requests.Cols(), cols, vector.ErrShape)
		}
		cols = pods.Requests.Cols()
	}
	for i, s := range p.Shapes {
		if !(s.Cost > 0 && s.Cost <= math.MaxFloat64) {
			return nil, fmt.Errorf("shapes[%d].Cost: got %v, want a finite number above 0", i, s.Cost)
		}
		if cols >= 0 && len(s.Room) != cols {
			return nil, fmt.Errorf("shapes[%d].Room: got %d amounts, want %d as requests: %w", i, len(s.Room), cols, vector.ErrShape)
		}
		room, err := roundDown(s.Room, p.schema())
		if err != nil {
			return nil, fmt.Errorf("shapes[%d].Room: %w", i, err)
		}
		q.shapes = append(q.shapes, Shape{Room: room, Cost: s.Cost})
	}
	q.free = vector.NewMatrix(p.schema(), 0, max(cols, 0))
	if p.Free != nil {
		if cols >= 0 && p.Free.Cols() != cols {
			return nil, fmt.Errorf("free: got %d columns, want %d as requests: %w", p.Free.Cols(), cols, vector.ErrShape)
		}
		for row := range p.Free.Rows() {
			room, err := roundDown(p.Free.Row(nil, row), p.schema())
			if err != nil {
				return nil, fmt.Errorf("free: row %d: %w", row, err)
			}
			q.free.AppendRow(room)
		}
	}
	for i, pods := range p.Pods {
		g := group{requests: pods.Requests, first: q.pods, rows: vector.NewMask(q.free.Rows()), shapes: pods.Shapes}
		switch {
		case pods.Rows == nil:
			g.rows.SetAll()
		case pods.Rows.Len() != q.free.Rows():
			return nil, fmt.Errorf("pods[%d].Rows: got %d rows, want %d as in free: %w", i, pods.Rows.Len(), q.free.Rows(), vector.ErrShape)
		default:
			g.rows.CopyFrom(pods.Rows)
		}
		switch {
		case pods.Shapes == nil:
			g.shapes = slices.Repeat([]bool{true}, len(p.Shapes))
		case len(pods.Shapes) != len(p.Shapes):
			return nil, fmt.Errorf("pods[%d].Shapes: got %d shapes, want %d: %w", i, len(pods.Shapes), len(p.Shapes), vector.ErrShape)
		}
		if err := q.findKinds(i, &g, len(p.Pods) == 1); err != nil {
			return nil, err
		}
		q.groups = append(q.groups, g)
		q.pods += g.requests.Rows()
	}
	return q, nil
}

// schema returns the names of the columns, if the pods have any.
func (p *Problem) schema() vector.Schema {
	if len(p.Pods) == 0 {
		return vector.Schema{}
	}
	return p.Pods[0].Requests.Schema()
}

// roundDown returns amounts that pods can take: requests are whole numbers, so what is left of
// a whole number is of no use.
func roundDown(room vector.ResourceVector, schema vector.Schema) (vector.ResourceVector, error) {
	room = room.Clone()
	for j, x := range room {
		switch room[j] = math.Floor(x); {
		case math.IsNaN(x):
			return nil, refusal(schema, -1, j, x, "is no number")
		case x >= 1<<53 && !math.IsInf(x, 1), x <= -1<<53:
			return nil, refusal(schema, -1, j, x, "is too large: want less than 2^53 of the column's unit")
		}
	}
	return room, nil
}

// findKinds groups the pods of a group by their requests, in the order in which these appear.
func (q *question) findKinds(i int, g *group, only bool) error {
	field := "requests"
	if !only {
		field = fmt.Sprintf("pods[%d].Requests", i)
	}
	index := make(map[string]int)
	var key bytes.Buffer
	for row := range g.requests.Rows() {
		request := g.requests.Row(nil, row)
		key.Reset()
		for j, x := range request {
			switch {
			case x < 0:
				e := refusal(g.requests.Schema(), row, j, x, "is negative: want 0 or more")
				e.Cause = vector.ErrNegative
				return fmt.Errorf("%s: %w", field, e)
			case x != math.Trunc(x) || x >= 1<<53: // also NaN and infinite
				return fmt.Errorf("%s: %w", field, refusal(g.requests.Schema(), row, j, x, "is not a whole number below 2^53 of the column's unit"))
			}
			_ = binary.Write(&key, binary.NativeEndian, x+0) // -0 is 0; a buffer takes everything
		}
		k, known := index[key.String()]
		if !known {
			k = len(q.kinds)
			index[key.String()] = k
			q.kinds = append(q.kinds, kind{request: request, group: i})
		}
		q.kinds[k].pods = append(q.kinds[k].pods, q.pods+row)
	}
	return nil
}

// checkFits says which pod fits on no new node.
func (q *question) checkFits() error {
	for k := range q.kinds {
		if slices.ContainsFunc(indices(q.shapes), func(i int) bool { return q.fits(k, i) }) {
			continue
		}
		kind := &q.kinds[k]
		field, row := "requests", kind.pods[0]-q.groups[kind.group].first
		if len(q.groups) > 1 {
			field = fmt.Sprintf("pods[%d].Requests", kind.group)
		}
		return fmt.Errorf("%s: row %d: got %v, which fits on no shape", field, row, kind.request)
	}
	return nil
}

// fits reports whether pods of a kind fit on new nodes of a shape.
func (q *question) fits(kind, shape int) bool {
	k := &q.kinds[kind]
	return q.groups[k.group].shapes[shape] && k.request.FitsIn(q.shapes[shape].Room)
}

// takesAll reports whether every pod fits on new nodes of a shape.
func (q *question) takesAll(shape int) bool {
	for k := range q.kinds {
		if !q.fits(k, shape) {
			return false
		}
	}
	return true
}

func indices[T any](s []T) []int {
	all := make([]int, len(s))
	for i := range all {
		all[i] = i
	}
	return all
}

// refusal reports amount x of column j.
func refusal(schema vector.Schema, row, j int, x float64, reason string) *vector.AmountError {
	e := &vector.AmountError{
		Resource: fmt.Sprint("column ", j), Row: row, Amount: strconv.FormatFloat(x, 'g', -1, 64), Reason: reason,
		Cause: vector.ErrNotRepresentable,
	}
	if columns := schema.Columns(); columns != nil {
		e.Resource = columns[j].Name
	}
	return e
}
