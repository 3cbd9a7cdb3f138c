// Package roof measures the speed of memory: kernels that load and sum numbers
// and do nothing else. No kernel of the same implementation can be faster.
package roof

import "github.com/resvec/resvec/internal/kernel"

//go:generate env GOWORK=off go -C ../../../internal/kernel/_asm run ./roof -out ../../../benchmarks/internal/roof/roof_amd64.s -stubs ../../../benchmarks/internal/roof/roof_stubs_amd64.go -pkg roof

// Sum reads data as streams of equal length, side by side as the kernels read
// columns, and returns the sum of all elements. The order of the additions
// depends on the implementation in use. len(data) is a multiple of 64*streams;
// streams is at least 1.
func Sum(data []float64, streams int) float64 {
	stride := len(data) / streams
	if kernel.Active() < kernel.AVX2 {
		return sumGeneric(data, stride, streams)
	}
	var sum float64
	for blocks := stride / kernel.Block; blocks > 0; {
		n := min(blocks, max(callBlocks/streams, 1))
		sum += assembly(data, n, stride, streams)
		blocks, data = blocks-n, data[n*kernel.Block:]
	}
	return sum
}

// callBlocks is how many blocks one call into assembly reads, as in package kernel.
const callBlocks = 320

// sumGeneric adds up the first stride elements of every stream.
func sumGeneric(data []float64, stride, streams int) float64 {
	var sums [4]float64
	for s := range streams {
		for stream := data[s*stride:][:stride]; len(stream) >= 4; stream = stream[4:] {
			sums[0] += stream[0]
			sums[1] += stream[1]
			sums[2] += stream[2]
			sums[3] += stream[3]
		}
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
