//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./select -out ../select_amd64.s -stubs ../select_stubs_amd64.go -pkg kernel

// The selection kernels read values of any alignment and any length. rows is a
// mask of (len(values)+63)/64 words without bits beyond the length, or nil for
// all rows. A NaN is never selected; -0 equals 0.
//
// They stay calls: inlined into another package, the generic functions in them
// would make the arguments escape.

// ArgMax returns the first selected row with the greatest value, or -1 when there
// is none.
//
//go:noinline
func ArgMax[T Number](values []T, rows []uint64) int {
	if active == Generic {
		return argMaxGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, n, i := unsafe.Pointer(&part[0]), len(part), -1
		word, step := maskFrom(rows, lo)
		switch wide, float := active == AVX512, isFloat[T](); {
		case wide && float:
			i = argMaxFloat64AVX512((*float64)(first), n, word, step)
		case wide:
			i = argMaxInt64AVX512((*int64)(first), n, word, step)
		case float:
			i = argMaxFloat64AVX2((*float64)(first), n, word, step)
		default:
			i = argMaxInt64AVX2((*int64)(first), n, word, step)
		}
		if i >= 0 && (best < 0 || part[i] > values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only NaN, and what no value is less than
		return argMaxGeneric(values, rows)
	}
	return best
}

// ArgMin returns the first selected row with the least value, or -1 when there
// is none.
//
//go:noinline
func ArgMin[T Number](values []T, rows []uint64) int {
	if active == Generic {
		return argMinGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, n, i := unsafe.Pointer(&part[0]), len(part), -1
		word, step := maskFrom(rows, lo)
		switch wide, float := active == AVX512, isFloat[T](); {
		case wide && float:
			i = argMinFloat64AVX512((*float64)(first), n, word, step)
		case wide:
			i = argMinInt64AVX512((*int64)(first), n, word, step)
		case float:
			i = argMinFloat64AVX2((*float64)(first), n, word, step)
		default:
			i = argMinInt64AVX2((*int64)(first), n, word, step)
		}
		if i >= 0 && (best < 0 || part[i] < values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only NaN, and what no value is greater than
		return argMinGeneric(values, rows)
	}
	return best
}

// MaskGE sets dst to the selected rows whose value is >= limit. dst has
// (len(values)+63)/64 words and may be rows itself.
//
//go:noinline
func MaskGE[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	if active == Generic {
		maskGEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to, first, n := &dst[lo/Block:][:(len(part)+Block-1)/Block][0], unsafe.Pointer(&part[0]), len(part)
		word, step := maskFrom(rows, lo)
		switch wide, float := active == AVX512, isFloat[T](); {
		case wide && float:
			maskGEFloat64AVX512(to, (*float64)(first), n, word, step, float64(limit))
		case wide:
			maskGEInt64AVX512(to, (*int64)(first), n, word, step, int64(limit))
		case float:
			maskGEFloat64AVX2(to, (*float64)(first), n, word, step, float64(limit))
		default:
			maskGEInt64AVX2(to, (*int64)(first), n, word, step, int64(limit))
		}
	}
}

// MaskLE sets dst to the selected rows whose value is <= limit. dst has
// (len(values)+63)/64 words and may be rows itself.
//
//go:noinline
func MaskLE[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	if active == Generic {
		maskLEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to, first, n := &dst[lo/Block:][:(len(part)+Block-1)/Block][0], unsafe.Pointer(&part[0]), len(part)
		word, step := maskFrom(rows, lo)
		switch wide, float := active == AVX512, isFloat[T](); {
		case wide && float:
			maskLEFloat64AVX512(to, (*float64)(first), n, word, step, float64(limit))
		case wide:
			maskLEInt64AVX512(to, (*int64)(first), n, word, step, int64(limit))
		case float:
			maskLEFloat64AVX2(to, (*float64)(first), n, word, step, float64(limit))
		default:
			maskLEInt64AVX2(to, (*int64)(first), n, word, step, int64(limit))
		}
	}
}

// Tops sets dst[g] to the greatest selected value of the rows that are g modulo
// TopGroups, -Inf or the least int64 where there is none.
//
//go:noinline
func Tops[T Number](dst *[TopGroups]T, values []T, rows []uint64) {
	if active == Generic || len(values) == 0 || len(values) > selectChunk {
		topsGeneric(dst, values, rows)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst[:])
	to, first, n := unsafe.Pointer(dst), unsafe.Pointer(&values[0]), len(values)
	word, step := maskFrom(rows, 0)
	switch wide, float := active == AVX512, isFloat[T](); {
	case wide && float:
		topsFloat64AVX512((*float64)(to), (*float64)(first), n, word, step)
	case wide:
		topsInt64AVX512((*int64)(to), (*int64)(first), n, word, step)
	case float:
		topsFloat64AVX2((*float64)(to), (*float64)(first), n, word, step)
	default:
		topsInt64AVX2((*int64)(to), (*int64)(first), n, word, step)
	}
}

// Ranks sets dst[i] to how many of the first n values, 1 at least, are above value i.
//
//go:noinline
func Ranks[T Number](dst *[TopGroups]int64, values *[TopGroups]T, n int) {
	if active == Generic {
		ranksGeneric(dst, values, n)
		return
	}
	raceRead(values[:])
	raceWrite(dst[:])
	from := unsafe.Pointer(values)
	switch wide, float := active == AVX512, isFloat[T](); {
	case wide && float:
		ranksFloat64AVX512(&dst[0], (*float64)(from), n)
	case wide:
		ranksInt64AVX512(&dst[0], (*int64)(from), n)
	case float:
		ranksFloat64AVX2(&dst[0], (*float64)(from), n)
	default:
		ranksInt64AVX2(&dst[0], (*int64)(from), n)
	}
}
