package packing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

// randomProblem returns pods of some kinds and shapes that hold each of them.
func randomProblem(r *rand.Rand) *Problem {
	p := &Problem{Requests: vector.NewMatrix(vector.Schema{}, 0, 2)}
	for range 1 + r.IntN(3) {
		p.Shapes = append(p.Shapes, Shape{
			Room: vector.ResourceVector{float64(8 + r.IntN(9)), float64(8 + r.IntN(9))}, Cost: float64(1 + r.IntN(5))})
	}
	for range 1 + r.IntN(4) {
		k := Kind{Request: vector.ResourceVector{float64(1 + r.IntN(8)), float64(r.IntN(9))}}
		for range 1 + r.IntN(8) {
			k.Pods = append(k.Pods, p.Requests.Rows())
			p.Requests.AppendRow(k.Request)
		}
		p.Kinds = append(p.Kinds, k)
	}
	return p
}

// room returns what is free on the nodes when the pods are where rows says.
func room(p *Problem, nodes *vector.Matrix, rows []int32) *vector.Matrix {
	for pod, row := range rows {
		if err := nodes.SubFromRow(int(row), p.Requests.Row(nil, pod)); err != nil {
			panic(err)
		}
	}
	return nodes
}

func TestPack(t *testing.T) {
	for seed := range uint64(300) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 1)))
		alone := make([]Alone, len(p.Shapes))
		for i, s := range p.Shapes {
			alone[i] = PackAlone(p.Requests, s.Room)
			nodes := vector.NewMatrix(vector.Schema{}, 0, 2)
			for range alone[i].Nodes {
				nodes.AppendRow(s.Room)
			}
			valid(t, seed, p, nodes, alone[i].Rows)
			if alone[i].Proved < 1 || alone[i].Proved > alone[i].Nodes {
				t.Errorf("seed %d: %d nodes, %d are proved", seed, alone[i].Nodes, alone[i].Proved)
			}
		}
		mix := p.Pack(alone)
		nodes, cost := vector.NewMatrix(vector.Schema{}, 0, 2), 0.0
		for i, count := range mix.Counts {
			cost += float64(count) * p.Shapes[i].Cost
			for range count {
				nodes.AppendRow(p.Shapes[i].Room)
			}
		}
		valid(t, seed, p, nodes, mix.Rows)
		if cost != mix.Cost || mix.Proved > mix.Cost {
			t.Errorf("seed %d: the cost is %v, not %v; %v is proved", seed, cost, mix.Cost, mix.Proved)
		}
		for i, a := range alone {
			if float64(a.Nodes)*p.Shapes[i].Cost < mix.Cost {
				t.Errorf("seed %d: %d nodes of shape %d alone cost less", seed, a.Nodes, i)
			}
			if mix.Proved > float64(a.Nodes)*p.Shapes[i].Cost {
				t.Errorf("seed %d: %v is proved, and shape %d alone costs less", seed, mix.Proved, i)
			}
		}
	}
}

// valid checks that every pod has a node, and that no node has more than it can hold.
func valid(t *testing.T, seed uint64, p *Problem, nodes *vector.Matrix, rows []int32) {
	t.Helper()
	if len(rows) != p.Requests.Rows() || slices.Min(rows) < 0 || int(slices.Max(rows)) >= nodes.Rows() {
		t.Fatalf("seed %d: %d pods on rows %v of %d", seed, p.Requests.Rows(), rows, nodes.Rows())
	}
	free := room(p, nodes, rows)
	for row := range free.Rows() {
		if amounts := free.Row(nil, row); slices.Min(amounts) < 0 {
			t.Errorf("seed %d: node %d has %v left", seed, row, amounts)
		}
	}
}

func TestPackNothing(t *testing.T) {
	if a := PackAlone(vector.NewMatrix(vector.Schema{}, 0, 2), vector.ResourceVector{1, 1}); a.Nodes != 0 || a.Proved != 0 || len(a.Rows) != 0 {
		t.Errorf("%+v", a)
	}
}
