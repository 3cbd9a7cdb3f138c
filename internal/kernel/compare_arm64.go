//go:build arm64 && !purego

package kernel

// The functions of compare_amd64.go by NEON.

func AndGE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andGEGeneric(dst, data, stride, cols, vals)
		return
	}
	raceColumns(data, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	words, width := plan(len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			andGENEON(&dst[0], w, &data[0], stride, &cols[k], &vals[k], min(width, len(cols)-k))
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

func AndGE32(dst []uint64, codes []float32, stride int, cols []int32, vals []float32) {
	if active == Generic || len(cols) == 0 {
		andGEGeneric(dst, codes, stride, cols, vals)
		return
	}
	raceColumns(codes, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	words, width := plan(len(cols), 4)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			andGE32NEON(&dst[0], w, &codes[0], stride, &cols[k], &vals[k], min(width, len(cols)-k))
		}
		dst, codes = dst[w:], codes[w*Block:]
	}
}

func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andLEGeneric(dst, data, stride, cols, vals)
		return
	}
	raceColumns(data, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	words, width := plan(len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			andLENEON(&dst[0], w, &data[0], stride, &cols[k], &vals[k], min(width, len(cols)-k))
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andSumGEGeneric(dst, a, aStride, b, bStride, cols, vals)
		return
	}
	raceColumns(a, aStride, cols, len(dst)*Block)
	raceColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	words, width := plan(len(cols), 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			andSumGENEON(&dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], min(width, len(cols)-k))
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

func AndRowsLE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	if active == Generic || cols == 0 {
		andRowsLEGeneric(dst, a, aStride, b, bStride, cols)
		return
	}
	raceFirstColumns(a, aStride, cols, len(dst)*Block)
	raceFirstColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	words, width := plan(cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			andRowsLENEON(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, min(width, cols-k))
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

func AndRowsFit(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	if active == Generic || cols == 0 {
		andRowsFitGeneric(dst, a, aStride, b, bStride, cols)
		return
	}
	raceFirstColumns(a, aStride, cols, len(dst)*Block)
	raceFirstColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	words, width := plan(cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			andRowsFitNEON(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, min(width, cols-k))
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// plan returns how many mask words and columns one call into assembly covers. A row
// has size bytes in a column, in all matrices together: 4, 8 or 16. cols is at least 1.
func plan(cols, size int) (words, width int) {
	const most = callBlocks * 8 // words*width*size of a call
	width = min(most/size, cols)
	return most / (width * size), width
}
