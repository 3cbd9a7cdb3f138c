//go:build arm64 && !purego

package kernel

// listedPart is one call of andListed.
func listedPart(_ Impl, t test, dst *uint64, words int, data *float64, stride int, cols *int32, vals *float64, n int) {
	if t == testGE {
		andGENEON(dst, words, data, stride, cols, vals, n)
	} else {
		andLENEON(dst, words, data, stride, cols, vals, n)
	}
}

// sumPart is one call of andSum.
func sumPart(_ Impl, dst *uint64, words int, a *float64, aStride int, b *float64, bStride int, cols *int32, vals *float64, n int) {
	andSumGENEON(dst, words, a, aStride, b, bStride, cols, vals, n)
}

// codesPart is one call of andCodes.
func codesPart(_ Impl, dst *uint64, words int, codes *float32, stride int, cols *int32, vals *float32, n int) {
	andGE32NEON(dst, words, codes, stride, cols, vals, n)
}

// rowsPart is one call of andRows.
func rowsPart(_ Impl, t test, dst *uint64, words int, a *float64, aStride int, b *float64, bStride, n int) {
	if t == testRowsLE {
		andRowsLENEON(dst, words, a, aStride, b, bStride, n)
	} else {
		andRowsFitNEON(dst, words, a, aStride, b, bStride, n)
	}
}

// plan returns the implementation, and how many mask words and columns one call into
// assembly covers, however many words there are. A row
// has size bytes in a column, in all matrices together: 4, 8 or 16. cols is at least 1.
func plan(_, cols, size int) (impl Impl, words, width int) {
	const most = callBlocks * 8 // words*width*size of a call
	width = min(most/size, cols)
	return NEON, most / (width * size), width
}
