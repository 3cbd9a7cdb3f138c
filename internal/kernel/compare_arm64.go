//go:build arm64 && !purego

package kernel

// The functions of compare_amd64.go by NEON.

func AndGE(dst []uint64, data []float64, lower32 []float32, stride, lo int, list *RequestList) {
	if active == Generic {
		andGERequest(dst, data, lower32, stride, lo, list)
		return
	}
	if n := list.n32; n > 0 {
		part := lower32[lo:]
		raceColumns(part, stride, list.columns32[:n], len(dst)*Block)
		raceWrite(dst)
		words, width := plan(n, 4)
		for at := 0; at < len(dst); at += words {
			w := min(words, len(dst)-at)
			for k := 0; k < n; k += width {
				andGE32NEON(&dst[at], w, &part[at*Block], stride, &list.columns32[k], &list.amounts32[k], min(width, n-k))
			}
		}
	}
	if n := list.n; n > 0 {
		part := data[lo:]
		raceColumns(part, stride, list.columns[:n], len(dst)*Block)
		raceWrite(dst)
		words, width := plan(n, 8)
		for at := 0; at < len(dst); at += words {
			w := min(words, len(dst)-at)
			for k := 0; k < n; k += width {
				andGENEON(&dst[at], w, &part[at*Block], stride, &list.columns[k], &list.amounts[k], min(width, n-k))
			}
		}
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
