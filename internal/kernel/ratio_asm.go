//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

// foldColumns folds the listed columns into dst. Every column has a number.
func foldColumns(f fold, dst, data []float64, stride int, cols []int32, numbers []float64, tame bool) {
	if active == Generic || len(cols) > mostColumns {
		foldColumnsGeneric(f, dst, data, stride, cols, numbers)
		return
	}
	raceColumns(data, stride, cols, len(dst))
	raceWrite(dst)
	var table divisors
	tame = tame && table.fill(numbers, len(dst))
	c, t, n, step := unsafe.SliceData(cols), unsafe.SliceData(numbers), len(cols), chunkRows(len(cols))
	for lo := 0; lo < len(dst); lo += step {
		part, column := dst[lo:min(lo+step, len(dst))], from(data, lo)
		foldPart(f, tame, &part[0], len(part), column, stride, c, t, &table[0], n)
	}
}

// copies sets dst to the least floors of the quotients.
func copies(dst []int64, data []float64, stride int, cols []int32, request []float64, tame bool) {
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
		copiesPart(tame, &part[0], len(part), column, stride, c, t, &table[0], n)
	}
}
