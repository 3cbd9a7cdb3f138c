//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./ratio -out ../ratio_amd64.s -stubs ../ratio_stubs_amd64.go -pkg kernel

// The ratio kernels write one result per row, len(dst) of them, columns added
// or compared in list order. A quotient is the IEEE quotient; no product is
// fused into a sum.

// NormalizedSum sets dst[r] to the sum of data/total over the listed columns;
// every total is > 0. tame promises that every value of the listed columns and
// every total is 0 or has a magnitude in [2^-500, 2^500].
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
		switch wide := active == AVX512; {
		case wide && tame:
			normalizedSumTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case wide:
			normalizedSumAVX512(&part[0], len(part), column, stride, c, t, n)
		case tame:
			normalizedSumTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		default:
			normalizedSumAVX2(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

// DominantShare sets dst[r] to the greatest of 0 and data/total over the
// listed columns; arguments as for NormalizedSum.
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
		switch wide := active == AVX512; {
		case wide && tame:
			dominantShareTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case wide:
			dominantShareAVX512(&part[0], len(part), column, stride, c, t, n)
		case tame:
			dominantShareTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		default:
			dominantShareAVX2(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

// Copies sets dst[r] to the least floor(data/request) over the listed columns,
// in 0..MaxInt64; every request is > 0 and finite. tame as for NormalizedSum.
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
		switch wide := active == AVX512; {
		case wide && tame:
			copiesTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case wide:
			copiesAVX512(&part[0], len(part), column, stride, c, t, n)
		case tame:
			copiesTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		default:
			copiesAVX2(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

// WeightedSum sets dst[r] to the sum of data*weights over the listed columns.
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
		if active == AVX512 {
			weightedSumAVX512(&part[0], len(part), column, stride, c, w, n)
		} else {
			weightedSumAVX2(&part[0], len(part), column, stride, c, w, n)
		}
	}
}

// NormalizedSumRows sets dst[r] to the sum of data/total over the first cols
// columns where the row's total is > 0. reciprocals, unless nil, has the
// [Reciprocals] of total, laid out like it, and promises that data is tame.
func NormalizedSumRows(dst, data []float64, stride int, total, reciprocals []float64, totalStride int, cols int) {
	if active == Generic || cols > mostColumns {
		normalizedSumRowsGeneric(dst, data, stride, total, totalStride, cols)
		return
	}
	kept, step := rowTotals(dst, data, stride, total, reciprocals, totalStride, cols)
	for lo := 0; lo < len(dst); {
		part := dst[lo:min(lo+step, len(dst))]
		column, totals := from(data, lo), from(total, lo)
		if kept {
			done, r := 0, from(reciprocals, lo)
			if active == AVX512 {
				done = normalizedSumRowsKeptAVX512(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			} else {
				done = normalizedSumRowsKeptAVX2(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			}
			if done == len(part) {
				lo += done
				continue
			}
			lo += done &^ (Block - 1)
			part = dst[lo:min(lo+Block, len(dst))] // which has a NaN: divide
			column, totals = from(data, lo), from(total, lo)
		}
		if active == AVX512 {
			normalizedSumRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		} else {
			normalizedSumRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		}
		lo += len(part)
	}
}

// DominantShareRows sets dst[r] to the greatest of 0 and data/total over the
// first cols columns where the row's total is > 0; arguments as for
// NormalizedSumRows.
func DominantShareRows(dst, data []float64, stride int, total, reciprocals []float64, totalStride int, cols int) {
	if active == Generic || cols > mostColumns {
		dominantShareRowsGeneric(dst, data, stride, total, totalStride, cols)
		return
	}
	kept, step := rowTotals(dst, data, stride, total, reciprocals, totalStride, cols)
	for lo := 0; lo < len(dst); {
		part := dst[lo:min(lo+step, len(dst))]
		column, totals := from(data, lo), from(total, lo)
		if kept {
			done, r := 0, from(reciprocals, lo)
			if active == AVX512 {
				done = dominantShareRowsKeptAVX512(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			} else {
				done = dominantShareRowsKeptAVX2(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			}
			if done == len(part) {
				lo += done
				continue
			}
			lo += done &^ (Block - 1)
			part = dst[lo:min(lo+Block, len(dst))] // which has a NaN: divide
			column, totals = from(data, lo), from(total, lo)
		}
		if active == AVX512 {
			dominantShareRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		} else {
			dominantShareRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		}
		lo += len(part)
	}
}

// rowTotals informs the race detector about a pass by the rows' own totals. It returns
// whether the pass uses the reciprocals, and how many rows one call takes.
func rowTotals(dst, data []float64, stride int, total, reciprocals []float64, totalStride, cols int) (kept bool, step int) {
	raceFirstColumns(data, stride, cols, len(dst))
	raceFirstColumns(total, totalStride, cols, len(dst))
	raceWrite(dst)
	keptStep := chunkRows(cols + (cols+1)/2) // three matrices, not two
	if reciprocals == nil || keptStep == 0 || len(dst)*cols > cachedQuotients {
		return false, chunkRows(cols)
	}
	raceFirstColumns(reciprocals, totalStride, cols, len(dst))
	return true, keptStep
}

// cachedQuotients is how many quotients make a pass that stays in the caches of a
// core. In larger ones memory is the limit: reading reciprocals then costs more
// than dividing does.
const cachedQuotients = 1 << 17
