package benchmarks

import (
	"errors"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

func BenchmarkLessEqual(b *testing.B)         { benchmark(b, lessEqual) }
func BenchmarkFit(b *testing.B)               { benchmark(b, fit) }
func BenchmarkFitSum(b *testing.B)            { benchmark(b, fitSum) }
func BenchmarkFitMatrix(b *testing.B)         { benchmark(b, fitMatrix) }
func BenchmarkNormalizedSum(b *testing.B)     { benchmark(b, normalizedSum) }
func BenchmarkNormalizedSumRows(b *testing.B) { benchmark(b, normalizedSumRows) }
func BenchmarkDominantResource(b *testing.B)  { benchmark(b, dominantResource) }
func BenchmarkCopies(b *testing.B)            { benchmark(b, copies) }
func BenchmarkArgMax(b *testing.B)            { benchmark(b, argMaxOf) }
func BenchmarkTopK(b *testing.B)              { benchmark(b, topKOf) }
func BenchmarkRowUpdate(b *testing.B)         { benchmark(b, rowUpdate) }
func BenchmarkSmallCall(b *testing.B)         { benchmark(b, smallCall) }

// nodes are the sizes of cluster: about the first-level cache, the second, the
// third and beyond, at 8 columns.
var nodes = []int{1000, 5000, 20000, 100000}

var (
	allShapes  = shapes(nodes, 4, 8, 16)
	ratioShape = shapes(nodes, 8)
	fewColumns = []shape{{1000, 8, 3}, {5000, 8, 3}, {20000, 8, 3}, {100000, 8, 3}}
)

var operations = []operation{
	fit, lessEqual, fitSum, fitMatrix, normalizedSum, normalizedSumRows,
	dominantResource, copies, argMaxOf, topKOf, rowUpdate, smallCall,
}

var (
	fit               = operation{"Fit", slices.Concat(allShapes, fewColumns), slices.Concat(allShapes, fewColumns), newFit}
	lessEqual         = operation{"LessEqual", allShapes, ratioShape, newLessEqual}
	fitSum            = operation{"FitSum", slices.Concat(allShapes, fewColumns), ratioShape, newFitSum}
	fitMatrix         = operation{"FitMatrix", allShapes, ratioShape, newFitMatrix}
	normalizedSum     = operation{"NormalizedSum", allShapes, ratioShape, newNormalizedSum}
	normalizedSumRows = operation{"NormalizedSumRows", allShapes, ratioShape, newNormalizedSumRows}
	dominantResource  = operation{"DominantResource", allShapes, ratioShape, newDominantResource}
	copies            = operation{"Copies", allShapes, ratioShape, newCopies}
	argMaxOf          = operation{"ArgMax", shapes(nodes, 1), shapes(nodes, 1), newArgMax}
	topKOf            = operation{"TopK", shapes(nodes, 1), shapes(nodes, 1), newTopK}
	rowUpdate         = operation{"RowUpdate", allShapes, ratioShape, newRowUpdate}

	// smallCall is Fit where the call itself is what costs.
	smallCall = operation{"SmallCall", shapes([]int{1, 4, 16, 64}, 4, 8, 16), shapes([]int{1, 4, 16, 64}, 8), newFit}
)

func newFit(s shape) *subject {
	rows, requests := amounts(1, s), questions(s, 1, 2)
	free, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	structs, structRequests := structsOf(rows), structsOf(requests)
	var mask vector.Mask
	want, structGot := make([]bool, s.nodes), make([]bool, s.nodes)
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  s.elements(),
		kernel:    func(k int) { vector.Fit(&mask, free, requests[k]) },
		rowloop:   func(k int) { rowsFit(want, rowNodes, requests[k]) },
		structmap: func(k int) { structsFit(structGot, structs, structRequests[k]) },
		check: func() error {
			return errors.Join(
				same("Fit", s.nodes, mask.Test, at(want)),
				same("structmap", s.nodes, at(structGot), at(want)))
		},
	}
}

func newLessEqual(s shape) *subject {
	rows, limits := amounts(2, s), questions(s, 16, 13)
	requests, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	structs, structLimits := structsOf(rows), structsOf(limits)
	var mask vector.Mask
	want, structGot := make([]bool, s.nodes), make([]bool, s.nodes)
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  s.elements(),
		kernel:    func(k int) { vector.LessEqual(&mask, requests, limits[k]) },
		rowloop:   func(k int) { rowsLessEqual(want, rowNodes, limits[k]) },
		structmap: func(k int) { structsLessEqual(structGot, structs, structLimits[k]) },
		check: func() error {
			return errors.Join(
				same("LessEqual", s.nodes, mask.Test, at(want)),
				same("structmap", s.nodes, at(structGot), at(want)))
		},
	}
}

func newFitSum(s shape) *subject {
	idleRows, releasingRows, requests := amounts(3, s), amounts(4, s), questions(s, 2, 8)
	rowNodes := newRowNodes(idleRows, releasingRows, nil)
	idle, releasing := matrixOf(idleRows), matrixOf(releasingRows)
	var mask vector.Mask
	want := make([]bool, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: 2 * s.elements(),
		kernel:   func(k int) { vector.FitSum(&mask, idle, releasing, requests[k]) },
		rowloop:  func(k int) { rowsFitSum(want, rowNodes, requests[k]) },
		check:    func() error { return same("FitSum", s.nodes, mask.Test, at(want)) },
	}
}

// newFitMatrix asks 64 questions at a time.
func newFitMatrix(s shape) *subject {
	const count = 64
	rows := amounts(5, s)
	requestRows := make([][]float64, count)
	for k := range requestRows {
		requestRows[k] = questionOf(s, k, 1, float64(2+k%3))
	}
	free, requests, rowNodes := matrixOf(rows), matrixOf(requestRows), newRowNodes(rows, nil, nil)
	masks := make([]vector.Mask, count)
	want := make([][]bool, count)
	for k := range want {
		want[k] = make([]bool, s.nodes)
	}
	return &subject{
		results:  s.nodes * count,
		variants: 1,
		kernel:   func(int) { vector.FitMatrix(masks, free, requests) },
		rowloop: func(int) {
			for k, request := range requestRows {
				rowsFit(want[k], rowNodes, request)
			}
		},
		check: func() error {
			for k := range masks {
				if err := same("FitMatrix", s.nodes, masks[k].Test, at(want[k])); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func newNormalizedSum(s shape) *subject {
	rows, totals := amounts(6, s), questions(s, 16, 20)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.NormalizedSum(got, m, totals[k]) },
		rowloop:  func(k int) { rowsNormalizedSum(want, rowNodes, totals[k]) },
		check:    func() error { return same("NormalizedSum", s.nodes, at(got), at(want)) },
	}
}

func newNormalizedSumRows(s shape) *subject {
	rows, totalRows := amounts(7, s), amounts(8, s)
	m, totals, rowNodes := matrixOf(rows), matrixOf(totalRows), newRowNodes(rows, nil, totalRows)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: 2 * s.elements(),
		kernel:   func(int) { vector.NormalizedSumRows(got, m, totals) },
		rowloop:  func(int) { rowsNormalizedSumRows(want, rowNodes) },
		check:    func() error { return same("NormalizedSumRows", s.nodes, at(got), at(want)) },
	}
}

func newDominantResource(s shape) *subject {
	rows, totals := amounts(9, s), questions(s, 16, 12)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.DominantResource(got, m, totals[k]) },
		rowloop:  func(k int) { rowsDominantResource(want, rowNodes, totals[k]) },
		check:    func() error { return same("DominantResource", s.nodes, at(got), at(want)) },
	}
}

func newCopies(s shape) *subject {
	rows, requests := amounts(10, s), questions(s, 1, 2)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]int64, s.nodes), make([]int64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.Copies(got, m, requests[k]) },
		rowloop:  func(k int) { rowsCopies(want, rowNodes, requests[k]) },
		check:    func() error { return same("Copies", s.nodes, at(got), at(want)) },
	}
}

// election is what a choice is made of: scores between 0 and 1, and in every
// variant another random half of the rows, as a mask and as booleans.
type election struct {
	scores   []float64
	masks    [variants]vector.Mask
	feasible [variants][]bool
}

func newElection(seed uint64, n int) *election {
	r, e := random(seed), &election{scores: make([]float64, n)}
	for i := range e.scores {
		e.scores[i] = r.Float64()
	}
	for k := range variants {
		e.masks[k].Resize(n)
		e.feasible[k] = make([]bool, n)
		for i := range n {
			if r.IntN(2) == 0 {
				e.masks[k].Set(i)
				e.feasible[k][i] = true
			}
		}
	}
	return e
}

func newArgMax(s shape) *subject {
	e := newElection(11, s.nodes)
	var got, want int
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { got = vector.ArgMax(e.scores, &e.masks[k], vector.TieLowest()) },
		rowloop:  func(k int) { want = argMax(e.scores, e.feasible[k]) },
		check:    func() error { return same("ArgMax", 1, at([]int{got}), at([]int{want})) },
	}
}

func newTopK(s shape) *subject {
	const count = 16
	e := newElection(12, s.nodes)
	got, want := make([]int32, count), make([]int32, count)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { got = vector.TopK(got, e.scores, &e.masks[k], count, vector.TieLowest()) },
		rowloop:  func(k int) { want = topK(want, e.scores, e.feasible[k], count) },
		check:    func() error { return same("TopK", count, at(got), at(want)) },
	}
}

// newRowUpdate puts a pod on each of 64 scattered nodes and takes it away.
func newRowUpdate(s shape) *subject {
	const count = 64
	rows, pod := amounts(13, s), unitOf(s.cols)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	r := random(14)
	var picks [variants][count]int
	for k := range picks {
		for p := range picks[k] {
			picks[k][p] = r.IntN(s.nodes)
		}
	}
	return &subject{
		results:  2 * count,
		variants: variants,
		kernel: func(k int) {
			for _, i := range picks[k] {
				if m.SubRow(i, pod) != nil || m.AddRow(i, pod) != nil {
					panic("benchmarks: the pod is not made of whole numbers")
				}
			}
		},
		rowloop: func(k int) {
			for _, i := range picks[k] {
				rowSub(rowNodes[i].idle, pod)
				rowAdd(rowNodes[i].idle, pod)
			}
		},
		check: func() error {
			var row vector.ResourceVector
			for i := range rowNodes {
				row = m.Row(row, i)
				if err := same("RowUpdate", s.cols, at(row), at(rowNodes[i].idle)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
