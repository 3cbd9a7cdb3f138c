//go:build arm64 && !purego

package kernel

// andListed is andListedGeneric.
func andListed(t test, dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andListedGeneric(t, dst, data, stride, cols, vals)
		return
	}
	raceColumns(data, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	words, width := plan(len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if t == testGE {
				andGENEON(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			} else {
				andLENEON(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			}
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

// andSum is andSumGEGeneric.
func andSum(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
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

// andCodes is andGEGeneric for float32s.
func andCodes(dst []uint64, codes []float32, stride int, cols []int32, vals []float32) {
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

// andRows is andRowsGeneric.
func andRows(t test, dst []uint64, a []float64, aStride int, b []float64, bStride, cols int) {
	if active == Generic || cols == 0 {
		andRowsGeneric(t, dst, a, aStride, b, bStride, cols)
		return
	}
	raceFirstColumns(a, aStride, cols, len(dst)*Block)
	raceFirstColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	words, width := plan(cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			d, ma, mb, n := &dst[0], &a[k*aStride], &b[k*bStride], min(width, cols-k)
			if t == testRowsLE {
				andRowsLENEON(d, w, ma, aStride, mb, bStride, n)
			} else {
				andRowsFitNEON(d, w, ma, aStride, mb, bStride, n)
			}
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
