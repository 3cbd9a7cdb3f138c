//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./compare -out ../compare_amd64.s -stubs ../compare_stubs_amd64.go -pkg kernel

// The compare kernels. Each clears, in dst, the bits of the rows that fail, and
// covers len(dst) blocks. Comparisons are ordered: a NaN on either side fails.

// AndGE clears the bits of dst, which stand for the rows from lo on, whose rows fail
// data[c*stride+r] >= amount for a column c of list. lower32 has the elements of data
// rounded down; it is not read for amounts that were listed as exact.
func AndGE(dst []uint64, data []float64, lower32 []float32, stride, lo int, list *RequestList) {
	if active == Generic {
		andGERequest(dst, data, lower32, stride, lo, list)
		return
	}
	if n := list.n32; n > 0 {
		part := lower32[lo:]
		raceColumns(part, stride, list.columns32[:n], len(dst)*Block)
		raceWrite(dst)
		impl, words, width := plan(len(dst), n, 4)
		for at := 0; at < len(dst); at += words {
			w := min(words, len(dst)-at)
			for k := 0; k < n; k += width {
				if cols := min(width, n-k); impl == AVX512 {
					andGE32AVX512(&dst[at], w, &part[at*Block], stride, &list.columns32[k], &list.amounts32[k], cols)
				} else {
					andGE32AVX2(&dst[at], w, &part[at*Block], stride, &list.columns32[k], &list.amounts32[k], cols)
				}
			}
		}
	}
	if n := list.n; n > 0 {
		part := data[lo:]
		raceColumns(part, stride, list.columns[:n], len(dst)*Block)
		raceWrite(dst)
		impl, words, width := plan(len(dst), n, 8)
		for at := 0; at < len(dst); at += words {
			w := min(words, len(dst)-at)
			for k := 0; k < n; k += width {
				if cols := min(width, n-k); impl == AVX512 {
					andGEAVX512(&dst[at], w, &part[at*Block], stride, &list.columns[k], &list.amounts[k], cols)
				} else {
					andGEAVX2(&dst[at], w, &part[at*Block], stride, &list.columns[k], &list.amounts[k], cols)
				}
			}
		}
	}
}

// AndLE clears the bits of dst whose rows fail data[cols[k]*stride+r] <=
// vals[k] for some k.
func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andLEGeneric(dst, data, stride, cols, vals)
		return
	}
	raceColumns(data, stride, cols, len(dst)*Block)
	raceWrite(dst)
	vals = vals[:len(cols)]
	impl, words, width := plan(len(dst), len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			if n := min(width, len(cols)-k); impl == AVX512 {
				andLEAVX512(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			} else {
				andLEAVX2(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			}
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

// AndSumGE clears the bits of dst whose rows fail a+b >= vals[k] in column
// cols[k] for some k, the sum rounded once.
func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
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
			if n := min(width, len(cols)-k); impl == AVX512 {
				andSumGEAVX512(&dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], n)
			} else {
				andSumGEAVX2(&dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], n)
			}
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// AndRowsLE clears the bits of dst whose rows fail a <= b in one of the first
// cols columns.
func AndRowsLE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	if active == Generic || cols == 0 {
		andRowsLEGeneric(dst, a, aStride, b, bStride, cols)
		return
	}
	raceFirstColumns(a, aStride, cols, len(dst)*Block)
	raceFirstColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	impl, words, width := plan(len(dst), cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			if n := min(width, cols-k); impl == AVX512 {
				andRowsLEAVX512(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			} else {
				andRowsLEAVX2(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			}
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// AndRowsFit clears the bits of dst whose rows fail (a <= b or a <= 0) in one
// of the first cols columns.
func AndRowsFit(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	if active == Generic || cols == 0 {
		andRowsFitGeneric(dst, a, aStride, b, bStride, cols)
		return
	}
	raceFirstColumns(a, aStride, cols, len(dst)*Block)
	raceFirstColumns(b, bStride, cols, len(dst)*Block)
	raceWrite(dst)
	impl, words, width := plan(len(dst), cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			if n := min(width, cols-k); impl == AVX512 {
				andRowsFitAVX512(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			} else {
				andRowsFitAVX2(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			}
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// FitFew returns which of the first rows rows hold request: those with data[j*stride+r]
// >= request[j] wherever that is not <= 0. Bits of other rows are undefined. It takes
// no list and writes no mask, which for FewRows rows is most of what AndGE costs.
func FitFew(data []float64, stride int, request []float64, rows int) uint64 {
	if active == Generic || len(request) == 0 || len(request) > mostColumns {
		return fitFewGeneric(data, stride, request, rows)
	}
	raceFirstColumns(data, stride, len(request), rows)
	return fitFewAVX2(&data[0], stride, &request[0], len(request))
}

// farBytes is the size of a pass that a last-level cache shared with others
// keep from one pass to the next. There memory is the limit: on a Zen 5 two streams
// of AVX2 loads read it up to twice as fast as AVX-512 does with any number of
// streams. In smaller passes AVX-512 is about as fast or faster.
const farBytes = 8 << 20

// plan returns the implementation that a pass over words mask words and cols
// columns takes, and how many of both one call into assembly covers. A row has
// size bytes in a column, in all matrices together: 4, 8 or 16. cols is at
// least 1.
func plan(words, cols, size int) (Impl, int, int) {
	const most = callBlocks * 8 // words*cols*size of a call
	const pair = 16
	total, impl := words*cols*size, active
	if impl == AVX512 && (total >= farBytes/Block || size == pair && pairsByAVX2) {
		impl = AVX2
	}
	switch {
	case total <= most:
		return impl, words, cols
	case impl == AVX2:
		width := min(16/size, 2, cols) // two streams, beyond L1
		return AVX2, most / (width * size), width
	}
	width := min(most/size, cols)
	return AVX512, most / (width * size), width
}
