//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./roof -out ../roof_amd64.s -stubs ../roof_stubs_amd64.go -pkg kernel

func roof(data []float64, stride, streams int) float64 {
	if active == Generic {
		return roofGeneric(data, stride, streams)
	}
	var sum float64
	blocks := stride / Block
	for blocks > 0 {
		n := min(blocks, max(callBlocks/streams, 1))
		if active == AVX512 {
			sum += roofAVX512(&data[0], n, stride, streams)
		} else {
			sum += roofAVX2(&data[0], n, stride, streams)
		}
		blocks, data = blocks-n, data[n*Block:]
	}
	return sum
}
