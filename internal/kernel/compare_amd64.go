//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./compare -out ../compare_amd64.s -stubs ../compare_stubs_amd64.go -pkg kernel

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
			n := min(width, len(cols)-k)
			switch wide := impl == AVX512; {
			case wide && t == testGE:
				andGEAVX512(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			case wide:
				andLEAVX512(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			case t == testGE:
				andGEAVX2(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			default:
				andLEAVX2(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
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
	impl, words, width := plan(len(dst), len(cols), 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if impl == AVX512 {
				andSumGEAVX512(&dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], n)
			} else {
				andSumGEAVX2(&dst[0], w, &a[0], aStride, &b[0], bStride, &cols[k], &vals[k], n)
			}
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
			n := min(width, len(cols)-k)
			if impl == AVX512 {
				andGE32AVX512(&dst[0], w, &codes[0], stride, &cols[k], &vals[k], n)
			} else {
				andGE32AVX2(&dst[0], w, &codes[0], stride, &cols[k], &vals[k], n)
			}
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
			d, ma, mb, n := &dst[0], &a[k*aStride], &b[k*bStride], min(width, cols-k)
			switch {
			case impl == AVX512 && t == testRowsLE:
				andRowsLEAVX512(d, w, ma, aStride, mb, bStride, n)
			case impl == AVX512:
				andRowsFitAVX512(d, w, ma, aStride, mb, bStride, n)
			case t == testRowsLE:
				andRowsLEAVX2(d, w, ma, aStride, mb, bStride, n)
			default:
				andRowsFitAVX2(d, w, ma, aStride, mb, bStride, n)
			}
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// fitFew is fitFewGeneric. Columns beyond what a call may take are for the Go code.
func fitFew(data []float64, stride int, request []float64, rows int) uint64 {
	if active == Generic || len(request) == 0 || len(request) > mostColumns {
		return fitFewGeneric(data, stride, request, rows)
	}
	raceFirstColumns(data, stride, len(request), rows)
	return fitFewAVX2(&data[0], stride, &request[0], len(request))
}

// farBytes is the size of a pass that a last-level cache shared with others
// won't hold from one time to the next. Memory sets the pace there: on a Zen 5
// two streams of AVX2 loads draw on it up to twice as fast as AVX-512 compares
// in any number of streams. In smaller passes AVX-512 is about as fast or faster.
const farBytes = 8 << 20

// plan returns the implementation that a pass over words mask words and cols
// columns takes, and how many of both one call into assembly covers. A row has
// size bytes in a column, in all matrices together: 4, 8 or 16. cols is at
// least 1.
func plan(words, cols, size int) (Impl, int, int) {
	const most = callBlocks * 8 // words*cols*size of a call
	total := words * cols * size
	if total <= most {
		return active, words, cols
	}
	if active == AVX2 || total >= farBytes/Block {
		width := min(16/size, 2, cols) // two streams, beyond L1
		return AVX2, most / (width * size), width
	}
	width := min(most/size, cols)
	return AVX512, most / (width * size), width
}
