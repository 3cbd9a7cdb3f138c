//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./ratio -out ../ratio_amd64.s -stubs ../ratio_stubs_amd64.go -pkg kernel

// NormalizedSum sets dst[r] to the sum of data/total over the listed columns;
// every total is > 0. tame promises that every value of the listed columns and
// every total is 0 or has a magnitude in [2^-500, 2^500].
func NormalizedSum(dst []float64, data []float64, stride int, cols []int32, total []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		normalizedSumGeneric(dst, data, stride, cols, total)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(total, len(dst))
	n, step := len(cols), chunkRows(len(cols))
	c, t := unsafe.SliceData(cols), unsafe.SliceData(total)
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		switch {
		case active == AVX512 && tame:
			normalizedSumTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case active == AVX512:
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
func DominantShare(dst []float64, data []float64, stride int, cols []int32, total []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		dominantShareGeneric(dst, data, stride, cols, total)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(total, len(dst))
	n, step := len(cols), chunkRows(len(cols))
	c, t := unsafe.SliceData(cols), unsafe.SliceData(total)
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		switch {
		case active == AVX512 && tame:
			dominantShareTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case active == AVX512:
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
	n, step := len(cols), chunkRows(len(cols))
	c, t := unsafe.SliceData(cols), unsafe.SliceData(request)
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		switch {
		case active == AVX512 && tame:
			copiesTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case active == AVX512:
			copiesAVX512(&part[0], len(part), column, stride, c, t, n)
		case tame:
			copiesTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		default:
			copiesAVX2(&part[0], len(part), column, stride, c, t, n)
		}
	}
}

// NormalizedSumRows sets dst[r] to the sum of data/total over the first cols
// columns where the row's total is > 0.
func NormalizedSumRows(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	if active == Generic || cols > mostColumns {
		normalizedSumRowsGeneric(dst, data, stride, total, totalStride, cols)
		return
	}
	raceFirstColumns(data, stride, cols, len(dst))
	raceFirstColumns(total, totalStride, cols, len(dst))
	raceWrite(dst)
	step := chunkRows(cols)
	for lo := 0; lo < len(dst); lo += step {
		part, column, totals := dst[lo:min(lo+step, len(dst))], from(data, lo), from(total, lo)
		if active == AVX512 {
			normalizedSumRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		} else {
			normalizedSumRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		}
	}
}

// DominantShareRows sets dst[r] to the greatest of 0 and data/total over the
// first cols columns where the row's total is > 0.
func DominantShareRows(dst []float64, data []float64, stride int, total []float64, totalStride int, cols int) {
	if active == Generic || cols > mostColumns {
		dominantShareRowsGeneric(dst, data, stride, total, totalStride, cols)
		return
	}
	raceFirstColumns(data, stride, cols, len(dst))
	raceFirstColumns(total, totalStride, cols, len(dst))
	raceWrite(dst)
	step := chunkRows(cols)
	for lo := 0; lo < len(dst); lo += step {
		part, column, totals := dst[lo:min(lo+step, len(dst))], from(data, lo), from(total, lo)
		if active == AVX512 {
			dominantShareRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		} else {
			dominantShareRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		}
	}
}

// WeightedSum sets dst[r] to the sum of data*weights over the listed columns.
func WeightedSum(dst []float64, data []float64, stride int, cols []int32, weights []float64) {
	if active == Generic || len(cols) > mostColumns {
		weightedSumGeneric(dst, data, stride, cols, weights)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	n, step := len(cols), chunkRows(len(cols))
	c, w := unsafe.SliceData(cols), unsafe.SliceData(weights)
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		if active == AVX512 {
			weightedSumAVX512(&part[0], len(part), column, stride, c, w, n)
		} else {
			weightedSumAVX2(&part[0], len(part), column, stride, c, w, n)
		}
	}
}

// callQuotients is how many quotients one call into assembly takes. Assembly
// can't be preempted: 2^14 divisions of amounts by totals that both come from
// memory, 256 KiB, take some 15 µs.
const callQuotients = 1 << 14

// mostColumns is the width beyond which a block of rows is more than one call
// may take. Sums run in column order, so that a call can't take a part of the
// columns; wider lists and matrices get the Go code, which can be preempted.
const mostColumns = callQuotients / Block

// chunkRows returns how many rows one call into assembly takes, a multiple of
// Block. cols is at most mostColumns.
func chunkRows(cols int) int {
	return callQuotients / max(cols, 1) &^ (Block - 1)
}

// from returns the address of row lo of the first column.
func from(data []float64, lo int) *float64 {
	return unsafe.SliceData(data[min(lo, len(data)):])
}

// divisors holds each total of a column list with its rounded reciprocal.
type divisors [32][2]float64

// fill reports whether the reciprocals are worth preparing for this many rows,
// and fit; the division that they replace gives the same result.
func (d *divisors) fill(totals []float64, rows int) bool {
	if rows < minReciprocal || len(totals) > len(d) {
		return false
	}
	for k, t := range totals {
		d[k] = [2]float64{t, 1 / t}
	}
	return true
}

// minReciprocal is the number of rows below which plain division is faster.
const minReciprocal = 32
