//go:build arm64 && !purego

package kernel

import "unsafe"

// The functions of ratio_amd64.go by NEON, as far as it has them.

func NormalizedSum(dst, data []float64, stride int, cols []int32, total []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		normalizedSumGeneric(dst, data, stride, cols, total)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(total, len(dst))
	c, t, n, step := unsafe.SliceData(cols), unsafe.SliceData(total), len(cols), chunkRows(len(cols))
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		if tame {
			normalizedSumTameNEON(&part[0], len(part), column, stride, c, &table[0], n)
		} else {
			normalizedSumNEON(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

func DominantShare(dst, data []float64, stride int, cols []int32, total []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		dominantShareGeneric(dst, data, stride, cols, total)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(total, len(dst))
	c, t, n, step := unsafe.SliceData(cols), unsafe.SliceData(total), len(cols), chunkRows(len(cols))
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		if tame {
			dominantShareTameNEON(&part[0], len(part), column, stride, c, &table[0], n)
		} else {
			dominantShareNEON(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

func Copies(dst []int64, data []float64, stride int, cols []int32, request []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		copiesGeneric(dst, data, stride, cols, request)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(request, len(dst))
	c, t, n, step := unsafe.SliceData(cols), unsafe.SliceData(request), len(cols), chunkRows(len(cols))
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		if tame {
			copiesTameNEON(&part[0], len(part), column, stride, c, &table[0], n)
		} else {
			copiesNEON(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

func WeightedSum(dst, data []float64, stride int, cols []int32, weights []float64) {
	if active == Generic || len(cols) > mostColumns {
		weightedSumGeneric(dst, data, stride, cols, weights)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	c, w, n, step := unsafe.SliceData(cols), unsafe.SliceData(weights), len(cols), chunkRows(len(cols))
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		weightedSumNEON(&part[0], len(part), column, stride, c, w, n)
	}
}
