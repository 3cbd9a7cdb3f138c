//go:build amd64 && !purego

package roof

import "github.com/resvec/resvec/internal/kernel"

// assembly sums the first blocks of every stream.
func assembly(data []float64, blocks, stride, streams int) float64 {
	if kernel.Active() == kernel.AVX512 {
		return roofAVX512(&data[0], blocks, stride, streams)
	}
	return roofAVX2(&data[0], blocks, stride, streams)
}
