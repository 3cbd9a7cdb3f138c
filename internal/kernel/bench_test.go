package kernel_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// benchmarkShapes are numbers of nodes and columns: one word, L1, L2, L3 and
// beyond.
var benchmarkShapes = [][2]int{{64, 8}, {1024, 4}, {4992, 4}, {4992, 8}, {4992, 16}, {99968, 8}, {999936, 8}}

func eachShape(b *testing.B, size int, f func(b *testing.B, nodes, cols int)) {
	for _, shape := range benchmarkShapes {
		b.Run(fmt.Sprintf("nodes=%d/cols=%d", shape[0], shape[1]), func(b *testing.B) {
			b.SetBytes(int64(size * shape[0] * shape[1]))
			f(b, shape[0], shape[1])
		})
	}
}

// pool returns a matrix of free amounts of at least 10, except that every 97th
// node has 5 in its last column.
func pool(nodes, cols int) []float64 {
	r := testkit.Rand(1)
	data := testkit.Matrix(nodes, cols)
	for i := range data {
		data[i] = 10 + 20*r.Float64()
	}
	for i := 0; i < nodes; i += 97 {
		data[(cols-1)*nodes+i] = 5
	}
	return data
}

func BenchmarkAndGE(b *testing.B) {
	benchmarkAndGE(b, 8, func(dst []uint64, o operands) { andGE(dst, o, o.vals, true) })
}

func BenchmarkAndGE32(b *testing.B) {
	benchmarkAndGE(b, 4, func(dst []uint64, o operands) { andGE(dst, o, o.limits, false) })
}

// benchmarkAndGE asks for 10 of everything. size is the size of an element.
func benchmarkAndGE(b *testing.B, size int, run func(dst []uint64, o operands)) {
	testkit.EachImplB(b, func(b *testing.B) {
		eachShape(b, size, func(b *testing.B, nodes, cols int) {
			o := operands{a: pool(nodes, cols), codes: testkit.Matrix32(nodes, cols), stride: nodes}
			dst := make([]uint64, nodes/kernel.Block)
			for c := range cols {
				o.cols, o.vals = append(o.cols, int32(c)), append(o.vals, 10)
			}
			o.round()
			for b.Loop() {
				for w := range dst {
					dst[w] = math.MaxUint64
				}
				run(dst, o)
			}
			fit := 0
			for _, word := range dst {
				fit += bits.OnesCount64(word)
			}
			if want := nodes - (nodes+96)/97; fit != want {
				b.Errorf("%d nodes fit, want %d", fit, want)
			}
		})
	})
}

// BenchmarkRows sums the quotients by totals of the rows, with their reciprocals and
// without.
func BenchmarkRows(b *testing.B) {
	testkit.EachImplB(b, func(b *testing.B) {
		for _, shape := range [][2]int{{64, 8}, {1024, 8}, {4992, 8}, {19968, 8}, {99968, 8}} {
			nodes, cols := shape[0], shape[1]
			data, totals, kept := pool(nodes, cols), pool(nodes, cols), testkit.Matrix(nodes, cols)
			kernel.Reciprocals(kept, totals)
			dst, want := make([]float64, nodes), make([]float64, nodes)
			kernel.NormalizedSumRows(want, data, nodes, totals, nil, nodes, cols)
			for _, c := range []struct {
				name        string
				reciprocals []float64
				run         func(dst, data []float64, stride int, total, reciprocals []float64, totalStride, cols int)
			}{
				{"NormalizedSumRows/kept", kept, kernel.NormalizedSumRows}, {"NormalizedSumRows/divided", nil, kernel.NormalizedSumRows},
				{"DominantShareRows/kept", kept, kernel.DominantShareRows}, {"DominantShareRows/divided", nil, kernel.DominantShareRows},
			} {
				b.Run(fmt.Sprintf("%s/nodes=%d/cols=%d", c.name, nodes, cols), func(b *testing.B) {
					for b.Loop() {
						c.run(dst, data, nodes, totals, c.reciprocals, nodes, cols)
					}
				})
			}
		}
	})
}

// BenchmarkCodes makes the codes of one column.
func BenchmarkCodes(b *testing.B) {
	testkit.EachImplB(b, func(b *testing.B) {
		for _, n := range []int{512, 4992, 99968} {
			b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
				src, dst := pool(n, 1), make([]float32, n)
				b.SetBytes(int64(8 * n))
				for b.Loop() {
					if kernel.Codes(dst, src) {
						b.Fatal("outOfRange")
					}
				}
			})
		}
	})
}

// BenchmarkLinearAmount adds eight terms, two of which have a multiplier, to what is
// kept.
func BenchmarkLinearAmount(b *testing.B) {
	testkit.EachImplB(b, func(b *testing.B) {
		for _, n := range []int{512, 4992} {
			b.Run(fmt.Sprintf("nodes=%d/terms=8", n), func(b *testing.B) {
				a := sums{data: pool(n, 8), stride: n, terms: make([]kernel.LinearTerm, 8), before: make([]float64, n), keeps: true, over: 1}
				a.bind()
				for k := range a.terms {
					if a.terms[k].Factor = 1; k > 3 {
						a.terms[k].Multiplier = nil
					}
				}
				b.SetBytes(int64(8 * n * len(a.terms)))
				for b.Loop() {
					kernel.LinearAmount(a.before, false, a.terms, a.kept(), a.over)
				}
			})
		}
	})
}
