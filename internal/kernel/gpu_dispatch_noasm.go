//go:build !amd64 || purego

package kernel

// GPUDotProduct sets dst[r], for every selected row, to the score by
// DotProduct, or 0 where the pod doesn't fit.
func GPUDotProduct(dst []float64, g *GPURows, rows []uint64) { gpuDotProductGeneric(dst, g, rows) }

// GPUBestFit is GPUDotProduct for BestFit.
func GPUBestFit(dst []float64, g *GPURows, rows []uint64) { gpuBestFitGeneric(dst, g, rows) }

// GPUClustering is GPUDotProduct for Clustering.
func GPUClustering(dst []float64, g *GPURows, rows []uint64) { gpuClusteringGeneric(dst, g, rows) }

// GPUPacking is GPUDotProduct for packing.
func GPUPacking(dst []float64, g *GPURows, rows []uint64) { gpuPackingGeneric(dst, g, rows) }
