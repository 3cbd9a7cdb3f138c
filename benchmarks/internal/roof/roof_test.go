package roof_test

import (
	"fmt"
	"testing"

	"github.com/resvec/resvec/benchmarks/internal/roof"
	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// TestSum checks that every element is read once, with any number of streams:
// sums of small integers don't depend on the order.
func TestSum(t *testing.T) {
	testkit.EachImpl(t, func(t *testing.T) {
		for _, streams := range []int{1, 4, 8, 16} {
			data := testkit.GuardedMatrix(t, 23*kernel.Block, streams)
			want := 0.0
			for i := range data {
				data[i] = float64(i % 1009)
				want += data[i]
			}
			if got := roof.Sum(data, streams); got != want {
				t.Errorf("%d streams: got %v, want %v", streams, got, want)
			}
		}
	})
}

// BenchmarkSum reads as many bytes as the kernels of package kernel do in their
// benchmarks.
func BenchmarkSum(b *testing.B) {
	testkit.EachImplB(b, func(b *testing.B) {
		for _, shape := range [][2]int{{64, 8}, {1024, 4}, {4992, 4}, {4992, 8}, {4992, 16}, {99968, 8}, {999936, 8}} {
			nodes, cols := shape[0], shape[1]
			data := testkit.Matrix(nodes, cols)
			for i := range data {
				data[i] = float64(i % 8)
			}
			want := 3.5 * float64(len(data))
			for _, streams := range []int{1, cols} {
				b.Run(fmt.Sprintf("nodes=%d/cols=%d/streams=%d", nodes, cols, streams), func(b *testing.B) {
					b.SetBytes(int64(8 * len(data)))
					for b.Loop() {
						if roof.Sum(data, streams) != want {
							b.Fatal("wrong sum")
						}
					}
				})
			}
		}
	})
}
