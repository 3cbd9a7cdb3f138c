//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./ratio -out ../ratio_amd64.s -stubs ../ratio_stubs_amd64.go -pkg kernel

// foldPart is one call of foldColumns.
func foldPart(f fold, tame bool, dst *float64, rows int, column *float64, stride int, c *int32, t *float64, table *[2]float64, n int) {
	switch wide := active == AVX512; {
	case wide && f == foldSum && tame:
		normalizedSumTameAVX512(dst, rows, column, stride, c, table, n)
	case wide && f == foldSum:
		normalizedSumAVX512(dst, rows, column, stride, c, t, n)
	case wide && f == foldGreatest && tame:
		dominantShareTameAVX512(dst, rows, column, stride, c, table, n)
	case wide && f == foldGreatest:
		dominantShareAVX512(dst, rows, column, stride, c, t, n)
	case wide:
		weightedSumAVX512(dst, rows, column, stride, c, t, n)
	case f == foldSum && tame:
		normalizedSumTameAVX2(dst, rows, column, stride, c, table, n)
	case f == foldSum:
		normalizedSumAVX2(dst, rows, column, stride, c, t, n)
	case f == foldGreatest && tame:
		dominantShareTameAVX2(dst, rows, column, stride, c, table, n)
	case f == foldGreatest:
		dominantShareAVX2(dst, rows, column, stride, c, t, n)
	default:
		weightedSumAVX2(dst, rows, column, stride, c, t, n)
	}
}

// copiesPart is one call of copies.
func copiesPart(tame bool, dst *int64, rows int, column *float64, stride int, c *int32, t *float64, table *[2]float64, n int) {
	switch {
	case active == AVX512 && tame:
		copiesTameAVX512(dst, rows, column, stride, c, table, n)
	case active == AVX512:
		copiesAVX512(dst, rows, column, stride, c, t, n)
	case tame:
		copiesTameAVX2(dst, rows, column, stride, c, table, n)
	default:
		copiesAVX2(dst, rows, column, stride, c, t, n)
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
