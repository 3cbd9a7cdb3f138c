//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./gpu -out ../gpu_amd64.s -stubs ../gpu_stubs_amd64.go -pkg kernel

// GPUDotProduct sets dst[r], for every selected row, to the score by
// DotProduct, or 0 where the pod doesn't fit.
func GPUDotProduct(dst []float64, g *GPURows, rows []uint64) {
	if active == Generic {
		gpuDotProductGeneric(dst, g, rows)
		return
	}
	raceGPU(dst, g, rows)
	for lo := 0; lo < len(dst); lo += gpuRows {
		part := dst[lo:min(lo+gpuRows, len(dst))]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			gpuDotProductAVX512(&part[0], len(part), lo, g.address(), word, step)
		} else {
			gpuDotProductAVX2(&part[0], len(part), lo, g.address(), word, step)
		}
	}
}

// GPUBestFit is GPUDotProduct for BestFit.
func GPUBestFit(dst []float64, g *GPURows, rows []uint64) {
	if active == Generic {
		gpuBestFitGeneric(dst, g, rows)
		return
	}
	raceGPU(dst, g, rows)
	for lo := 0; lo < len(dst); lo += gpuRows {
		part := dst[lo:min(lo+gpuRows, len(dst))]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			gpuBestFitAVX512(&part[0], len(part), lo, g.address(), word, step)
		} else {
			gpuBestFitAVX2(&part[0], len(part), lo, g.address(), word, step)
		}
	}
}

// GPUClustering is GPUDotProduct for Clustering.
func GPUClustering(dst []float64, g *GPURows, rows []uint64) {
	if active == Generic {
		gpuClusteringGeneric(dst, g, rows)
		return
	}
	raceGPU(dst, g, rows)
	raceReadSelected(g.Classes[:len(dst)], rows)
	for lo := 0; lo < len(dst); lo += gpuRows {
		part := dst[lo:min(lo+gpuRows, len(dst))]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			gpuClusteringAVX512(&part[0], len(part), lo, g.address(), word, step)
		} else {
			gpuClusteringAVX2(&part[0], len(part), lo, g.address(), word, step)
		}
	}
}

// GPUPacking is GPUDotProduct for packing.
func GPUPacking(dst []float64, g *GPURows, rows []uint64) {
	if active == Generic || len(g.Ranks) > mostRanks {
		gpuPackingGeneric(dst, g, rows)
		return
	}
	raceGPU(dst, g, rows)
	for _, column := range g.Ranks {
		raceReadSelected(column[:len(dst)], rows)
	}
	list, count := (*byte)(unsafe.Pointer(unsafe.SliceData(g.Ranks))), len(g.Ranks)
	for lo := 0; lo < len(dst); lo += gpuRows {
		part := dst[lo:min(lo+gpuRows, len(dst))]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			gpuPackingAVX512(&part[0], len(part), lo, g.address(), list, count, word, step)
		} else {
			gpuPackingAVX2(&part[0], len(part), lo, g.address(), list, count, word, step)
		}
	}
}

// gpuRows is how many rows one call into assembly takes: with mostRanks columns
// it reads 176 KiB.
const gpuRows = 16 * Block

// mostRanks is how many columns of ranks assembly takes.
const mostRanks = 18

// address returns where g is.
func (g *GPURows) address() *byte { return (*byte)(unsafe.Pointer(g)) }

// raceGPU tells the race detector what every kernel reads and writes.
func raceGPU(dst []float64, g *GPURows, rows []uint64) {
	raceReadSelected(g.CPU[:len(dst)], rows)
	raceReadSelected(g.Enough[:len(dst)], rows)
	raceReadSelected(g.Total[:len(dst)], rows)
	raceSelected(dst, rows)
}
