//go:build (amd64 || arm64) && !purego

package kernel

// The comparisons of CPUs with assembly: what one call takes says plan, and the call for
// it is that of the CPU.

// andListed is andListedGeneric.
func andListed(t test, dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andListedGeneric(t, dst, data, stride, cols, vals)
		return
	}
	raceColumns(data, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	impl, words, width := plan(len(dst), len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			listedPart(impl, t, &dst[0], w, &data[0], stride, &cols[k], &vals[k], min(width, len(cols)-k))
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
	impl, words, width := plan(len(dst), len(cols), 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			sumPart(impl, &dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], min(width, len(cols)-k))
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
	impl, words, width := plan(len(dst), len(cols), 4)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			codesPart(impl, &dst[0], w, &codes[0], stride, &cols[k], &vals[k], min(width, len(cols)-k))
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
	impl, words, width := plan(len(dst), cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			rowsPart(impl, t, &dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, min(width, cols-k))
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}
