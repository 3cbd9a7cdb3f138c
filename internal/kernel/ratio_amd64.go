//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./ratio -out ../ratio_amd64.s -stubs ../ratio_stubs_amd64.go -pkg kernel

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
		switch wide := active == AVX512; {
		case wide && f == foldSum && tame:
			normalizedSumTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case wide && f == foldSum:
			normalizedSumAVX512(&part[0], len(part), column, stride, c, t, n)
		case wide && f == foldGreatest && tame:
			dominantShareTameAVX512(&part[0], len(part), column, stride, c, &table[0], n)
		case wide && f == foldGreatest:
			dominantShareAVX512(&part[0], len(part), column, stride, c, t, n)
		case wide:
			weightedSumAVX512(&part[0], len(part), column, stride, c, t, n)
		case f == foldSum && tame:
			normalizedSumTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		case f == foldSum:
			normalizedSumAVX2(&part[0], len(part), column, stride, c, t, n)
		case f == foldGreatest && tame:
			dominantShareTameAVX2(&part[0], len(part), column, stride, c, &table[0], n)
		case f == foldGreatest:
			dominantShareAVX2(&part[0], len(part), column, stride, c, t, n)
		default:
			weightedSumAVX2(&part[0], len(part), column, stride, c, t, n)
		}
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

// foldRows folds the quotients of the first columns of two matrices into dst.
func foldRows(f fold, dst, data []float64, stride int, total, reciprocals []float64, totalStride, cols int) {
	if active == Generic || cols > mostColumns {
		foldRowsGeneric(f, dst, data, stride, total, totalStride, cols)
		return
	}
	raceFirstColumns(data, stride, cols, len(dst))
	raceFirstColumns(total, totalStride, cols, len(dst))
	raceWrite(dst)
	step, keptStep := chunkRows(cols), chunkRows(cols+(cols+1)/2) // two matrices, or three
	kept := reciprocals != nil && keptStep > 0 && len(dst)*cols <= nearQuotients
	if kept {
		raceFirstColumns(reciprocals, totalStride, cols, len(dst))
		step = keptStep
	}
	for lo := 0; lo < len(dst); {
		part := dst[lo:min(lo+step, len(dst))]
		if kept {
			column, totals, r := from(data, lo), from(total, lo), from(reciprocals, lo)
			var done int
			switch wide := active == AVX512; {
			case wide && f == foldSum:
				done = normalizedSumRowsKeptAVX512(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			case wide:
				done = dominantShareRowsKeptAVX512(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			case f == foldSum:
				done = normalizedSumRowsKeptAVX2(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			default:
				done = dominantShareRowsKeptAVX2(&part[0], len(part), column, stride, totals, r, totalStride, cols)
			}
			if done == len(part) {
				lo += done
				continue
			}
			lo += done &^ (Block - 1)
			part = dst[lo:min(lo+Block, len(dst))] // which has a NaN: divide
		}
		column, totals := from(data, lo), from(total, lo)
		switch wide := active == AVX512; {
		case wide && f == foldSum:
			normalizedSumRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		case wide:
			dominantShareRowsAVX512(&part[0], len(part), column, stride, totals, totalStride, cols)
		case f == foldSum:
			normalizedSumRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		default:
			dominantShareRowsAVX2(&part[0], len(part), column, stride, totals, totalStride, cols)
		}
		lo += len(part)
	}
}

// nearQuotients is how many quotients make a pass that stays in the caches of a
// core. In larger ones memory sets the pace: reading reciprocals then costs more
// than dividing does.
const nearQuotients = 1 << 17
