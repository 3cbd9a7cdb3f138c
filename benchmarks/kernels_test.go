package benchmarks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

func BenchmarkLessEqual(b *testing.B)            { benchmark(b, lessEqual) }
func BenchmarkLessEqualRows(b *testing.B)        { benchmark(b, lessEqualRows) }
func BenchmarkFit(b *testing.B)                  { benchmark(b, fit) }
func BenchmarkFitSum(b *testing.B)               { benchmark(b, fitSum) }
func BenchmarkFitMatrix(b *testing.B)            { benchmark(b, fitMatrix) }
func BenchmarkNormalizedSum(b *testing.B)        { benchmark(b, normalizedSum) }
func BenchmarkNormalizedSumRows(b *testing.B)    { benchmark(b, normalizedSumRows) }
func BenchmarkDominantResource(b *testing.B)     { benchmark(b, dominantResource) }
func BenchmarkCopies(b *testing.B)               { benchmark(b, copies) }
func BenchmarkArgMax(b *testing.B)               { benchmark(b, argMaxOf) }
func BenchmarkTopK(b *testing.B)                 { benchmark(b, topKOf) }
func BenchmarkFitStrict(b *testing.B)            { benchmark(b, fitStrict) }
func BenchmarkFitRows(b *testing.B)              { benchmark(b, fitRows) }
func BenchmarkShortfall(b *testing.B)            { benchmark(b, shortfall) }
func BenchmarkFailingColumns(b *testing.B)       { benchmark(b, failingColumns) }
func BenchmarkRejections(b *testing.B)           { benchmark(b, rejections) }
func BenchmarkDominantResourceRows(b *testing.B) { benchmark(b, dominantResourceRows) }
func BenchmarkSumCopies(b *testing.B)            { benchmark(b, sumCopies) }
func BenchmarkSumColumns(b *testing.B)           { benchmark(b, sumColumns) }
func BenchmarkMaxColumns(b *testing.B)           { benchmark(b, maxColumns) }
func BenchmarkWeightedSum(b *testing.B)          { benchmark(b, weightedSum) }
func BenchmarkSegmentSum(b *testing.B)           { benchmark(b, segmentSum) }
func BenchmarkArgMaxInt64(b *testing.B)          { benchmark(b, argMaxInt64) }
func BenchmarkRowUpdate(b *testing.B)            { benchmark(b, rowUpdate) }
func BenchmarkSmallCall(b *testing.B)            { benchmark(b, smallCall) }

// nodes are the sizes of cluster: small ones, where a call costs more than its work,
// then about the first-level cache, the second, the third and beyond, at 8 columns.
var (
	smallNodes = []int{10, 50, 100, 200, 500}
	largeNodes = []int{1000, 5000, 20000, 100000}
	nodes      = slices.Concat(smallNodes, largeNodes)
)

var (
	allShapes  = slices.Concat(shapes(smallNodes, 8), shapes(largeNodes, 4, 8, 16))
	ratioShape = shapes(nodes, 8)
	midShape   = shapes(slices.Concat(smallNodes, []int{1000, 5000}), 8)
	fewColumns = fewRequested(nodes, 8, 3)
)

var operations = []operation{
	fit, lessEqual, fitSum, fitMatrix, normalizedSum, normalizedSumRows,
	dominantResource, copies, argMaxOf, topKOf, rowUpdate, smallCall,
	fitStrict, lessEqualRows, fitRows, shortfall, failingColumns, rejections, dominantResourceRows,
	sumCopies, sumColumns, maxColumns, weightedSum, segmentSum, argMaxInt64, bulkUpdate,
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

	fitStrict            = operation{"FitStrict", ratioShape, midShape, newFitStrict}
	lessEqualRows        = operation{"LessEqualRows", ratioShape, midShape, newLessEqualRows}
	fitRows              = operation{"FitRows", ratioShape, midShape, newFitRows}
	shortfall            = operation{"Shortfall", ratioShape, midShape, newShortfall}
	failingColumns       = operation{"FailingColumns", ratioShape, midShape, newFailingColumns}
	rejections           = operation{"Rejections", ratioShape, midShape, newRejections}
	dominantResourceRows = operation{"DominantResourceRows", ratioShape, midShape, newDominantResourceRows}
	sumCopies            = operation{"SumCopies", ratioShape, midShape, newSumCopies}
	sumColumns           = operation{"SumColumns", ratioShape, midShape, newSumColumns}
	maxColumns           = operation{"MaxColumns", ratioShape, midShape, newMaxColumns}
	weightedSum          = operation{"WeightedSum", ratioShape, midShape, newWeightedSum}
	segmentSum           = operation{"SegmentSum", ratioShape, midShape, newSegmentSum}
	argMaxInt64          = operation{"ArgMaxInt64", shapes(nodes, 1), shapes(slices.Concat(smallNodes, []int{1000, 5000}), 1), newArgMaxInt64}

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
	nodes, rowNodes := nodesOf(rows, totalRows), newRowNodes(rows, nil, totalRows)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: 2 * s.elements(),
		kernel:   func(int) { vector.NormalizedSumRows(got, nodes.Requested(), nodes.Allocatable()) },
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
	structs, structRequests := structsOf(rows), structsOf(requests)
	got, structGot, want := make([]int64, s.nodes), make([]int64, s.nodes), make([]int64, s.nodes)
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  s.elements(),
		kernel:    func(k int) { vector.Copies(got, m, requests[k]) },
		rowloop:   func(k int) { rowsCopies(want, rowNodes, requests[k]) },
		structmap: func(k int) { structsCopies(structGot, structs, structRequests[k]) },
		check: func() error {
			return errors.Join(
				same("Copies", s.nodes, at(got), at(want)),
				same("structmap", s.nodes, at(structGot), at(want)))
		},
	}
}

// newFitStrict compares with the row loop of newFit, whose rule is the strict one.
func newFitStrict(s shape) *subject {
	rows, requests := amounts(15, s), questions(s, 1, 2)
	free, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	var mask vector.Mask
	want := make([]bool, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.FitStrict(&mask, free, requests[k]) },
		rowloop:  func(k int) { rowsFit(want, rowNodes, requests[k]) },
		check:    func() error { return same("FitStrict", s.nodes, mask.Test, at(want)) },
	}
}

func newLessEqualRows(s shape) *subject { return newWithin(s, vector.LessEqualRows) }

func newFitRows(s shape) *subject {
	return newWithin(s, func(dst *vector.Mask, a, b *vector.Matrix) { vector.FitRows(dst, b, a) })
}

// newWithin compares two matrices row by row with a kernel that says where a is
// within b. The answers are the same in every call, so the CPU may learn the row
// loop's branches: the ratio is rather too low than too high.
func newWithin(s shape, kernel func(dst *vector.Mask, a, b *vector.Matrix)) *subject {
	rows, limitRows := amounts(16, s), amounts(17, s)
	r := random(18)
	for i, limit := range limitRows {
		for j := range limit {
			limit[j] += rows[i][j]
		}
		if r.IntN(8) == 0 {
			j := r.IntN(s.cols)
			limit[j] = rows[i][j] - 1
		}
	}
	m, limits, rowNodes := matrixOf(rows), matrixOf(limitRows), newRowNodes(rows, nil, limitRows)
	var mask vector.Mask
	want := make([]bool, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: 2 * s.elements(),
		kernel:   func(int) { kernel(&mask, m, limits) },
		rowloop:  func(int) { rowsWithin(want, rowNodes) },
		check:    func() error { return same("within", s.nodes, mask.Test, at(want)) },
	}
}

// refused returns requests for a pod that no node has room for: every node lacks
// about half of the resources. Only then somebody asks why.
func refused(s shape) []vector.ResourceVector { return questions(s, 9, 10) }

func newShortfall(s shape) *subject {
	rows, requests := amounts(19, s), refused(s)
	free, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	var got vector.Matrix
	want := emptyRows(s.nodes, s.cols)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.Shortfall(&got, free, requests[k]) },
		rowloop:  func(k int) { rowsShortfall(want, rowNodes, requests[k]) },
		check:    func() error { return sameRows("Shortfall", &got, want) },
	}
}

func newFailingColumns(s shape) *subject {
	rows, requests := amounts(21, s), refused(s)
	free, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]uint64, s.nodes), make([]uint64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.FailingColumns(got, free, requests[k]) },
		rowloop:  func(k int) { rowsFailingColumns(want, rowNodes, requests[k]) },
		check:    func() error { return same("FailingColumns", s.nodes, at(got), at(want)) },
	}
}

func newRejections(s shape) *subject {
	rows, requests := amounts(22, s), refused(s)
	free, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]int, s.cols), make([]int, s.cols)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { got = vector.Rejections(got, free, requests[k], nil) },
		rowloop:  func(k int) { rowsRejections(want, rowNodes, requests[k]) },
		check:    func() error { return same("Rejections", s.cols, at(got), at(want)) },
	}
}

// newDominantResourceRows has one question only, as newWithin.
func newDominantResourceRows(s shape) *subject {
	rows, totalRows := amounts(23, s), amounts(24, s)
	nodes, rowNodes := nodesOf(rows, totalRows), newRowNodes(rows, nil, totalRows)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: 2 * s.elements(),
		kernel:   func(int) { vector.DominantResourceRows(got, nodes.Requested(), nodes.Allocatable()) },
		rowloop:  func(int) { rowsDominantResourceRows(want, rowNodes) },
		check:    func() error { return same("DominantResourceRows", s.nodes, at(got), at(want)) },
	}
}

func newSumCopies(s shape) *subject {
	rows, requests := amounts(25, s), questions(s, 1, 2)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	var got, want int64
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { got = vector.SumCopies(m, requests[k], nil) },
		rowloop:  func(k int) { want = rowsSumCopies(rowNodes, requests[k]) },
		check:    func() error { return same("SumCopies", 1, at([]int64{got}), at([]int64{want})) },
	}
}

func newSumColumns(s shape) *subject {
	rows := amounts(26, s)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make(vector.ResourceVector, s.cols), make([]float64, s.cols)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: s.elements(),
		kernel:   func(int) { got = vector.SumColumns(got, m, nil) },
		rowloop:  func(int) { rowsSum(want, rowNodes) },
		check:    func() error { return same("SumColumns", s.cols, at(got), at(want)) },
	}
}

func newMaxColumns(s shape) *subject {
	rows := amounts(27, s)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make(vector.ResourceVector, s.cols), make([]float64, s.cols)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: s.elements(),
		kernel:   func(int) { got = vector.MaxColumns(got, m, nil) },
		rowloop:  func(int) { rowsMax(want, rowNodes) },
		check:    func() error { return same("MaxColumns", s.cols, at(got), at(want)) },
	}
}

func newWeightedSum(s shape) *subject {
	rows, weights := amounts(28, s), questions(s, 0.1, 0.2)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: variants,
		elements: s.elements(),
		kernel:   func(k int) { vector.WeightedSum(got, m, weights[k]) },
		rowloop:  func(k int) { rowsWeightedSum(want, rowNodes, weights[k]) },
		check:    func() error { return same("WeightedSum", s.nodes, at(got), at(want)) },
	}
}

// newSegmentSum adds up groups of eight rows, as the devices of a node.
func newSegmentSum(s shape) *subject {
	const size = 8
	rows := amounts(29, s)
	m, rowNodes := matrixOf(rows), newRowNodes(rows, nil, nil)
	var offsets []int32
	for i := 0; i <= s.nodes; i += size {
		offsets = append(offsets, int32(i))
	}
	var got vector.Matrix
	want := emptyRows(len(offsets)-1, s.cols)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: s.elements(),
		kernel:   func(int) { vector.SegmentSum(&got, m, offsets) },
		rowloop:  func(int) { rowsSegmentSum(want, rowNodes, offsets) },
		check:    func() error { return sameRows("SegmentSum", &got, want) },
	}
}

func emptyRows(rows, cols int) [][]float64 {
	all := make([][]float64, rows)
	for i := range all {
		all[i] = make([]float64, cols)
	}
	return all
}

// sameRows compares a matrix with rows.
func sameRows(what string, got *vector.Matrix, want [][]float64) error {
	var row vector.ResourceVector
	for i := range want {
		row = got.Row(row, i)
		if err := same(what, len(row), at(row), at(want[i])); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// election is what a choice is made of: scores, and in every variant another
// random half of the rows, as a mask, as booleans and as a list.
type election[T vector.Score] struct {
	scores   []T
	masks    [variants]vector.Mask
	feasible [variants][]bool
	lists    [variants][]nodeScore[T]
}

func newElection[T vector.Score](seed uint64, n int, score func(r *rand.Rand) T) *election[T] {
	r, e := random(seed), &election[T]{scores: make([]T, n)}
	for i := range e.scores {
		e.scores[i] = score(r)
	}
	for k := range variants {
		e.masks[k].Reset(n)
		e.feasible[k] = make([]bool, n)
		for i := range n {
			if r.IntN(2) == 0 {
				e.masks[k].Set(i)
				e.feasible[k][i] = true
				e.lists[k] = append(e.lists[k], nodeScore[T]{name: "node", row: int32(i), score: e.scores[i]})
			}
		}
	}
	return e
}

func newArgMax(s shape) *subject {
	return newElected(s, newElection(11, s.nodes, (*rand.Rand).Float64))
}

// newArgMaxInt64 chooses by scores as kube-scheduler has them, 0 to 100, of which
// many are equal.
func newArgMaxInt64(s shape) *subject {
	return newElected(s, newElection(33, s.nodes, func(r *rand.Rand) int64 { return r.Int64N(101) }))
}

func newElected[T vector.Score](s shape, e *election[T]) *subject {
	var got, listGot, want int
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  s.elements(),
		kernel:    func(k int) { got = vector.ArgMax(e.scores, &e.masks[k], vector.TieLowest()) },
		rowloop:   func(k int) { want = argMax(e.scores, e.feasible[k]) },
		structmap: func(k int) { listGot = listArgMax(e.lists[k]) },
		check: func() error {
			return errors.Join(
				same("ArgMax", 1, at([]int{got}), at([]int{want})),
				same("structmap", 1, at([]int{listGot}), at([]int{want})))
		},
	}
}

func newTopK(s shape) *subject {
	const count = 16
	e := newElection(12, s.nodes, (*rand.Rand).Float64)
	got := make([]int32, count)
	listGot, want := make([]nodeScore[float64], count), make([]nodeScore[float64], count)
	rowAt := func(best []nodeScore[float64]) func(int) int32 { return func(i int) int32 { return best[i].row } }
	return &subject{
		results:   s.nodes,
		variants:  variants,
		elements:  s.elements(),
		kernel:    func(k int) { got = vector.TopK(got, e.scores, &e.masks[k], count, vector.TieLowest()) },
		rowloop:   func(k int) { want = topK(want, e.scores, e.feasible[k], count) },
		structmap: func(k int) { listGot = listTopK(listGot, e.lists[k], count) },
		check: func() error {
			if len(got) != len(want) || len(listGot) != len(want) {
				return fmt.Errorf("TopK: %d and %d rows, and the row loop has %d", len(got), len(listGot), len(want))
			}
			return errors.Join(
				same("TopK", len(want), at(got), rowAt(want)),
				same("structmap", len(want), rowAt(listGot), rowAt(want)))
		},
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
				if m.SubFromRow(i, pod) != nil || m.AddToRow(i, pod) != nil {
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
			idle := make([][]float64, s.nodes)
			for i, n := range rowNodes {
				idle[i] = n.idle
			}
			return sameRows("RowUpdate", m, idle)
		},
	}
}
