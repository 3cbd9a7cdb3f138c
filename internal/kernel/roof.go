package kernel

// Roof reads data as streams of equal length, side by side as the kernels read
// columns, and returns some sum of the elements. Benchmarks, and nothing else,
// use it: it is the speed of memory, which no kernel of the same
// implementation can exceed. The order of the additions depends on the
// implementation. len(data) is a multiple of 64*streams; streams is at least 1.
func Roof(data []float64, streams int) float64 {
	return roof(data, len(data)/streams, streams)
}

// roofGeneric adds up the first stride elements of every stream.
func roofGeneric(data []float64, stride, streams int) float64 {
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
