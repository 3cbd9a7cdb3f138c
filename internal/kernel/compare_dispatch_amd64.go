//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./compare -out ../compare_amd64.s -stubs ../compare_stubs_amd64.go -pkg kernel

// AndGE clears the bits of dst whose rows fail data[cols[k]*stride+r] >=
// vals[k] for some k. The mask covers len(dst) blocks.
func AndGE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andGEGeneric(dst, data, stride, cols, vals)
		return
	}
	vals = vals[:len(cols)]
	words, width := perCall(len(dst), len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if active == AVX512 {
				andGEAVX512(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			} else {
				andGEAVX2(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			}
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

// AndGE32 clears the bits of dst whose rows fail codes[cols[k]*stride+r] >=
// vals[k] for some k. It is AndGE for half the bytes.
func AndGE32(dst []uint64, codes []float32, stride int, cols []int32, vals []float32) {
	if active == Generic || len(cols) == 0 {
		andGEGeneric(dst, codes, stride, cols, vals)
		return
	}
	vals = vals[:len(cols)]
	words, width := perCall(len(dst), len(cols), 4)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if active == AVX512 {
				andGE32AVX512(&dst[0], w, &codes[0], stride, &cols[k], &vals[k], n)
			} else {
				andGE32AVX2(&dst[0], w, &codes[0], stride, &cols[k], &vals[k], n)
			}
		}
		dst, codes = dst[w:], codes[w*Block:]
	}
}

// AndLE clears the bits of dst whose rows fail data[cols[k]*stride+r] <=
// vals[k] for some k.
func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andLEGeneric(dst, data, stride, cols, vals)
		return
	}
	vals = vals[:len(cols)]
	words, width := perCall(len(dst), len(cols), 8)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if active == AVX512 {
				andLEAVX512(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			} else {
				andLEAVX2(&dst[0], w, &data[0], stride, &cols[k], &vals[k], n)
			}
		}
		dst, data = dst[w:], data[w*Block:]
	}
}

// AndSumGE clears the bits of dst whose rows fail a+b >= vals[k] in column
// cols[k] for some k.
func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	if active == Generic || len(cols) == 0 {
		andSumGEGeneric(dst, a, aStride, b, bStride, cols, vals)
		return
	}
	vals = vals[:len(cols)]
	words, width := perCall(len(dst), len(cols), 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < len(cols); k += width {
			n := min(width, len(cols)-k)
			if active == AVX512 {
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
	words, width := perCall(len(dst), cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			n := min(width, cols-k)
			if active == AVX512 {
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
	words, width := perCall(len(dst), cols, 16)
	for len(dst) > 0 {
		w := min(words, len(dst))
		for k := 0; k < cols; k += width {
			n := min(width, cols-k)
			if active == AVX512 {
				andRowsFitAVX512(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			} else {
				andRowsFitAVX2(&dst[0], w, &a[k*aStride], aStride, &b[k*bStride], bStride, n)
			}
		}
		dst, a, b = dst[w:], a[w*Block:], b[w*Block:]
	}
}

// callBlocks is the number of blocks of one column of float64s, 512 bytes each,
// that one call into assembly reads. Assembly can't be preempted: 160 KiB are
// some 15 microseconds even from a busy memory.
const callBlocks = 320

// perCall returns how many mask words and how many columns one call into
// assembly covers. A row has size bytes in a column, in all matrices together.
// cols is at least 1.
func perCall(words, cols, size int) (int, int) {
	if words*cols*size <= callBlocks*8 {
		return words, cols
	}
	return perLongCall(cols, size)
}

// perLongCall is perCall for a pass that one call can't cover. Far from L1,
// AVX2 is faster with two streams of 32 KiB at a time than with one per column;
// AVX-512 is not, having more work per word and pass.
func perLongCall(cols, size int) (int, int) {
	if active == AVX2 {
		width := min(16/size, 2)
		return 1024 / (width * size), width
	}
	return max(callBlocks*8/(cols*size), 1), cols
}
