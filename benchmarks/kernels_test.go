package benchmarks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/resvec/resvec/vector"
)

// BenchmarkFit is [BenchmarkOperation] of the kernel that is asked most.
func BenchmarkFit(b *testing.B) { benchmark(b, fit) }

// BenchmarkOperation runs every operation by every contender on its own, for profiles and
// benchstat; what is quoted is measured by [BenchmarkRatio] and [BenchmarkScoringRatio].
func BenchmarkOperation(b *testing.B) {
	for _, op := range slices.Concat(operations, scoringOperations) {
		b.Run(op.name, func(b *testing.B) { benchmark(b, op) })
	}
}

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

// asked is an operation on one matrix that is asked one question after the other; answer
// returns the kernel's results, of which there are n.
func asked[T comparable](s shape, seed uint64, questions []vector.ResourceVector, n int, answer func(i int) T,
	kernel func(m *vector.Matrix, question vector.ResourceVector), rowloop func(dst []T, nodes []*rowNode, question []float64)) *subject {
	rows := amounts(seed, s)
	m, rowNodes, want := matrixOf(rows), newRowNodes(rows, nil, nil), make([]T, n)
	return &subject{
		results:  s.nodes,
		variants: len(questions),
		elements: s.elements(),
		kernel:   func(k int) { kernel(m, questions[k]) },
		rowloop:  func(k int) { rowloop(want, rowNodes, questions[k]) },
		check:    func() error { return same("the kernel", n, answer, at(want)) },
	}
}

// withStructs adds the struct form to an operation that was made by asked.
func withStructs[T comparable](of *subject, s shape, seed uint64, questions []vector.ResourceVector, answer func(i int) T,
	loop func(dst []T, nodes []*structResources, question *structResources)) *subject {
	structs, structQuestions, got := structsOf(amounts(seed, s)), structsOf(questions), make([]T, s.nodes)
	of.structmap = func(k int) { loop(got, structs, structQuestions[k]) }
	check := of.check
	of.check = func() error { return errors.Join(check(), same("structmap", s.nodes, at(got), answer)) }
	return of
}

func newFit(s shape) *subject {
	var mask vector.Mask
	requests := questions(s, 1, 2)
	of := asked(s, 1, requests, s.nodes, mask.Test, func(free *vector.Matrix, request vector.ResourceVector) { vector.Fit(&mask, free, request) }, rowsFit)
	return withStructs(of, s, 1, requests, mask.Test, structsFit)
}

func newLessEqual(s shape) *subject {
	var mask vector.Mask
	limits := questions(s, 16, 13)
	of := asked(s, 2, limits, s.nodes, mask.Test, func(requests *vector.Matrix, limit vector.ResourceVector) { vector.LessEqual(&mask, requests, limit) }, rowsLessEqual)
	return withStructs(of, s, 2, limits, mask.Test, structsLessEqual)
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
	got := make([]float64, s.nodes)
	return asked(s, 6, questions(s, 16, 20), s.nodes, at(got), func(m *vector.Matrix, question vector.ResourceVector) { vector.NormalizedSum(got, m, question) }, rowsNormalizedSum)
}

func newNormalizedSumRows(s shape) *subject {
	return newSharesOfRows(s, 7, vector.NormalizedSumRows, rowsNormalizedSumRows)
}

func newDominantResourceRows(s shape) *subject {
	return newSharesOfRows(s, 23, vector.DominantResourceRows, rowsDominantResourceRows)
}

// newSharesOfRows has one question only, as newWithin.
func newSharesOfRows(s shape, seed uint64, kernel func(dst []float64, m, totals *vector.Matrix), rowloop func(dst []float64, nodes []*rowNode)) *subject {
	rows, totalRows := amounts(seed, s), amounts(seed+1, s)
	nodes, rowNodes := nodesOf(rows, totalRows), newRowNodes(rows, nil, totalRows)
	got, want := make([]float64, s.nodes), make([]float64, s.nodes)
	return &subject{
		results:  s.nodes,
		variants: 1,
		elements: 2 * s.elements(),
		kernel:   func(int) { kernel(got, nodes.Requested(), nodes.Allocatable()) },
		rowloop:  func(int) { rowloop(want, rowNodes) },
		check:    func() error { return same("the kernel", s.nodes, at(got), at(want)) },
	}
}

func newDominantResource(s shape) *subject {
	got := make([]float64, s.nodes)
	return asked(s, 9, questions(s, 16, 12), s.nodes, at(got), func(m *vector.Matrix, question vector.ResourceVector) { vector.DominantResource(got, m, question) }, rowsDominantResource)
}

func newCopies(s shape) *subject {
	got, requests := make([]int64, s.nodes), questions(s, 1, 2)
	of := asked(s, 10, requests, s.nodes, at(got), func(m *vector.Matrix, request vector.ResourceVector) { vector.Copies(got, m, request) }, rowsCopies)
	return withStructs(of, s, 10, requests, at(got), structsCopies)
}

// newFitStrict compares with the row loop of newFit, whose rule is the strict one.
func newFitStrict(s shape) *subject {
	var mask vector.Mask
	return asked(s, 15, questions(s, 1, 2), s.nodes, mask.Test, func(free *vector.Matrix, request vector.ResourceVector) { vector.FitStrict(&mask, free, request) }, rowsFit)
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
	got := make([]uint64, s.nodes)
	return asked(s, 21, refused(s), s.nodes, at(got), func(m *vector.Matrix, question vector.ResourceVector) { vector.FailingColumns(got, m, question) }, rowsFailingColumns)
}

func newRejections(s shape) *subject {
	got := make([]int, s.cols)
	return asked(s, 22, refused(s), s.cols, at(got), func(m *vector.Matrix, question vector.ResourceVector) { vector.Rejections(got, m, question, nil) }, rowsRejections)
}

func newSumCopies(s shape) *subject {
	got := make([]int64, 1)
	return asked(s, 25, questions(s, 1, 2), 1, at(got), func(m *vector.Matrix, question vector.ResourceVector) { got[0] = vector.SumCopies(m, question, nil) }, func(dst []int64, nodes []*rowNode, question []float64) { dst[0] = rowsSumCopies(nodes, question) })
}

// noQuestion is for operations that have one answer only.
var noQuestion = make([]vector.ResourceVector, 1)

func newSumColumns(s shape) *subject {
	got := make([]float64, s.cols)
	return asked(s, 26, noQuestion, s.cols, at(got), func(m *vector.Matrix, _ vector.ResourceVector) { vector.SumColumns(got, m, nil) }, func(dst []float64, nodes []*rowNode, _ []float64) { rowsSum(dst, nodes) })
}

func newMaxColumns(s shape) *subject {
	got := make([]float64, s.cols)
	return asked(s, 27, noQuestion, s.cols, at(got), func(m *vector.Matrix, _ vector.ResourceVector) { vector.MaxColumns(got, m, nil) }, func(dst []float64, nodes []*rowNode, _ []float64) { rowsMax(dst, nodes) })
}

func newWeightedSum(s shape) *subject {
	got := make([]float64, s.nodes)
	return asked(s, 28, questions(s, 0.1, 0.2), s.nodes, at(got), func(m *vector.Matrix, question vector.ResourceVector) { vector.WeightedSum(got, m, question) }, rowsWeightedSum)
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
