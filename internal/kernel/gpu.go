package kernel

import (
	"math"
	"math/bits"
)

// The GPU kernels write a score per selected row of len(dst), and 0 for rows
// that can't host the pod. They have no assembly: vectors make a pass 3 times as fast,
// but a scorer keeps its scores, so that a decision gains little: 0.5 µs by DotProduct
// at 5,000 nodes.

// GPUTerms is what the formulas of the GPU policies take of a request and of
// their configuration. Amounts are millicores and thousandths of a device.
type GPUTerms struct {
	NeedCPU, NeedMilli float64 // rows with less CPU, or less in Enough, score 0
	SizeCPU, SizeGPU   float64 // of the largest node
	ByCPU, ByGPU       float64 // of the request: BestFit subtracts them, DotProduct multiplies by them
	Taken              float64 // the score of GPUPacking when idle devices are taken
	Class              uint64  // the bit of the pod's class
}

// GPURows is GPUTerms with the columns of the nodes, an element per row.
type GPURows struct {
	GPUTerms
	CPU     []float64
	Enough  []float64
	Total   []float64
	Classes []uint64 // the classes of pods that a row holds, a bit each

	// Ranks, of GPUPacking, has what is left of the devices: the greatest amount
	// of every row first, and -1 for devices that a row doesn't have. A pod takes
	// one device, or any number of whole ones.
	Ranks [][]float64
}

// gpuPolicy names a formula of the GPU family.
type gpuPolicy uint8

const (
	dotProduct gpuPolicy = iota
	bestFit
	clustering
	packing
)

// GPUDotProduct sets dst[r], for every selected row, to the score by
// DotProduct, or 0 where the pod doesn't fit.
func GPUDotProduct(dst []float64, g *GPURows, rows []uint64) { gpuScores(dst, dotProduct, g, rows) }

// GPUBestFit is GPUDotProduct for BestFit.
func GPUBestFit(dst []float64, g *GPURows, rows []uint64) { gpuScores(dst, bestFit, g, rows) }

// GPUClustering is GPUDotProduct for Clustering.
func GPUClustering(dst []float64, g *GPURows, rows []uint64) { gpuScores(dst, clustering, g, rows) }

// GPUPacking is GPUDotProduct for packing.
func GPUPacking(dst []float64, g *GPURows, rows []uint64) { gpuScores(dst, packing, g, rows) }

// fits reports whether a row can host the pod.
func (g *GPURows) fits(r int) bool {
	return g.CPU[r] >= g.NeedCPU && g.Enough[r] >= g.NeedMilli
}

// DotProduct is the score by what is left of the CPU and of all devices: where
// both are large, a pod that asks for much gets a low score.
func (t *GPUTerms) DotProduct(cpu, total float64) float64 {
	sum := float64((cpu/t.SizeCPU)*t.ByCPU) + float64((total/t.SizeGPU)*t.ByGPU)
	return math.Trunc(100 * (1 - float64(sum*0.5)))
}

// BestFit is the score by what is left after the pod.
func (t *GPUTerms) BestFit(cpu, total float64) float64 {
	sum := float64((cpu-t.ByCPU)/t.SizeCPU*0.5) + float64((total-t.ByGPU)/t.SizeGPU*0.5)
	return math.Trunc((1 - sum) * 100)
}

// Clustering is the score by what is left of all devices and the classes held.
func (t *GPUTerms) Clustering(total float64, classes uint64) float64 {
	score := math.Trunc(float64(max(t.SizeGPU-total, 0)*25) / t.SizeGPU)
	switch {
	case classes == 0:
		return score + 25
	case classes == t.Class:
		return score + 75
	case classes&t.Class != 0:
		return score + 50
	}
	return score
}

// GPUPackingIdle is the score of GPUPacking for a node of n idle devices.
func GPUPackingIdle(n int) float64 { return float64(max(33-n, n)) }

// GPUPackingTaken is its score when n of the devices taken are idle, n > 0.
func GPUPackingTaken(n int) float64 { return float64(max(50-n, 33)) }

// GPUPackingUsed is its score when all devices taken are in use; sum adds up
// GPUPackingPart.
func GPUPackingUsed(sum float64) float64 { return max(100-math.Trunc(sum/10), 50) }

// GPUPackingPart is what is left of a device, in percent.
func GPUPackingPart(left float64) float64 { return math.Trunc(left * 100 / 1000) }

// packing is the score of a row.
func (g *GPURows) packing(r int) float64 {
	const whole = 1000
	tightest, least, n := 0.0, 0.0, 0
	for _, column := range g.Ranks {
		x := column[r]
		if x >= g.NeedMilli {
			tightest = x
		}
		if x >= 0 {
			least = x
			n++
		}
	}
	switch {
	case least == whole:
		return GPUPackingIdle(n)
	case tightest == whole:
		return g.Taken
	}
	return GPUPackingUsed(GPUPackingPart(tightest))
}

// gpuScores sets dst to the scores of the selected rows that can host the pod,
// and to 0 for the other selected ones.
func gpuScores(dst []float64, p gpuPolicy, g *GPURows, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		for word := blockRows(rows, lo, len(dst)); word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			switch {
			case !g.fits(r):
				dst[r] = 0
			case p == dotProduct:
				dst[r] = g.DotProduct(g.CPU[r], g.Total[r])
			case p == bestFit:
				dst[r] = g.BestFit(g.CPU[r], g.Total[r])
			case p == clustering:
				dst[r] = g.Clustering(g.Total[r], g.Classes[r])
			default:
				dst[r] = g.packing(r)
			}
		}
	}
}
