//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./compare -out ../compare_amd64.s -stubs ../compare_stubs_amd64.go -pkg kernel

// listedPart is one call of andListed.
func listedPart(impl Impl, t test, dst *uint64, words int, data *float64, stride int, cols *int32, vals *float64, n int) {
	switch wide := impl == AVX512; {
	case wide && t == testGE:
		andGEAVX512(dst, words, data, stride, cols, vals, n)
	case wide:
		andLEAVX512(dst, words, data, stride, cols, vals, n)
	case t == testGE:
		andGEAVX2(dst, words, data, stride, cols, vals, n)
	default:
		andLEAVX2(dst, words, data, stride, cols, vals, n)
	}
}

// sumPart is one call of andSum.
func sumPart(impl Impl, dst *uint64, words int, a *float64, aStride int, b *float64, bStride int, cols *int32, vals *float64, n int) {
	if impl == AVX512 {
		andSumGEAVX512(dst, words, a, aStride, b, bStride, cols, vals, n)
	} else {
		andSumGEAVX2(dst, words, a, aStride, b, bStride, cols, vals, n)
	}
}

// codesPart is one call of andCodes.
func codesPart(impl Impl, dst *uint64, words int, codes *float32, stride int, cols *int32, vals *float32, n int) {
	if impl == AVX512 {
		andGE32AVX512(dst, words, codes, stride, cols, vals, n)
	} else {
		andGE32AVX2(dst, words, codes, stride, cols, vals, n)
	}
}

// rowsPart is one call of andRows.
func rowsPart(impl Impl, t test, dst *uint64, words int, a *float64, aStride int, b *float64, bStride, n int) {
	switch wide := impl == AVX512; {
	case wide && t == testRowsLE:
		andRowsLEAVX512(dst, words, a, aStride, b, bStride, n)
	case wide:
		andRowsFitAVX512(dst, words, a, aStride, b, bStride, n)
	case t == testRowsLE:
		andRowsLEAVX2(dst, words, a, aStride, b, bStride, n)
	default:
		andRowsFitAVX2(dst, words, a, aStride, b, bStride, n)
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
