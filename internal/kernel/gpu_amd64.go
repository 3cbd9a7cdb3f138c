//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./gpu -out ../gpu_amd64.s -stubs ../gpu_stubs_amd64.go -pkg kernel

func gpu(dst []float64, p gpuPolicy, g *GPURows, rows []uint64) {
	if active == Generic || p == packing && len(g.Ranks) > mostRanks {
		gpuGeneric(dst, p, g, rows)
		return
	}
	raceGPU(dst, p, g, rows)
	terms := (*byte)(unsafe.Pointer(g))
	list, count := (*byte)(unsafe.Pointer(unsafe.SliceData(g.Ranks))), len(g.Ranks)
	for lo := 0; lo < len(dst); lo += gpuRows {
		part := dst[lo:min(lo+gpuRows, len(dst))]
		word, step := maskFrom(rows, lo)
		switch wide := active == AVX512; {
		case wide && p == dotProduct:
			gpuDotProductAVX512(&part[0], len(part), lo, terms, word, step)
		case wide && p == bestFit:
			gpuBestFitAVX512(&part[0], len(part), lo, terms, word, step)
		case wide && p == clustering:
			gpuClusteringAVX512(&part[0], len(part), lo, terms, word, step)
		case wide:
			gpuPackingAVX512(&part[0], len(part), lo, terms, list, count, word, step)
		case p == dotProduct:
			gpuDotProductAVX2(&part[0], len(part), lo, terms, word, step)
		case p == bestFit:
			gpuBestFitAVX2(&part[0], len(part), lo, terms, word, step)
		case p == clustering:
			gpuClusteringAVX2(&part[0], len(part), lo, terms, word, step)
		default:
			gpuPackingAVX2(&part[0], len(part), lo, terms, list, count, word, step)
		}
	}
}

// gpuRows is how many rows one call into assembly takes: with mostRanks columns
// it reads 176 KiB.
const gpuRows = 16 * Block

// mostRanks is how many columns of ranks assembly takes.
const mostRanks = 18

// raceGPU tells the race detector what a kernel reads and writes.
func raceGPU(dst []float64, p gpuPolicy, g *GPURows, rows []uint64) {
	raceReadSelected(g.CPU[:len(dst)], rows)
	raceReadSelected(g.Enough[:len(dst)], rows)
	switch p {
	case clustering:
		raceReadSelected(g.Total[:len(dst)], rows)
		raceReadSelected(g.Classes[:len(dst)], rows)
	case packing:
		for _, column := range g.Ranks {
			raceReadSelected(column[:len(dst)], rows)
		}
	default:
		raceReadSelected(g.Total[:len(dst)], rows)
	}
	raceSelected(dst, rows)
}
