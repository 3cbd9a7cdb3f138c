//go:build amd64 && !purego

package kernel

import "unsafe"

//go:generate env GOWORK=off go -C _asm run ./select -out ../select_amd64.s -stubs ../select_stubs_amd64.go -pkg kernel

func firstBest[T Number](values []T, rows []uint64, greatest bool) int {
	if active == Generic {
		return firstBestGeneric(values, rows, greatest)
	}
	raceRead(values)
	raceRead(rows)
	float, best := isFloat[T](), -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, n := unsafe.Pointer(&part[0]), len(part)
		word, step := maskFrom(rows, lo)
		var i int
		switch wide := active == AVX512; {
		case wide && float && greatest:
			i = argMaxFloat64AVX512((*float64)(first), n, word, step)
		case wide && float:
			i = argMinFloat64AVX512((*float64)(first), n, word, step)
		case wide && greatest:
			i = argMaxInt64AVX512((*int64)(first), n, word, step)
		case wide:
			i = argMinInt64AVX512((*int64)(first), n, word, step)
		case float && greatest:
			i = argMaxFloat64AVX2((*float64)(first), n, word, step)
		case float:
			i = argMinFloat64AVX2((*float64)(first), n, word, step)
		case greatest:
			i = argMaxInt64AVX2((*int64)(first), n, word, step)
		default:
			i = argMinInt64AVX2((*int64)(first), n, word, step)
		}
		if i >= 0 && (best < 0 || greatest && part[i] > values[best] || !greatest && part[i] < values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only NaN, and what no value is worse than
		return firstBestGeneric(values, rows, greatest)
	}
	return best
}

func maskBeyond[T Number](dst []uint64, values []T, rows []uint64, limit T, least bool) {
	if active == Generic {
		maskBeyondGeneric(dst, values, rows, limit, least)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	float := isFloat[T]()
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to, first, n := &dst[lo/Block:][:(len(part)+Block-1)/Block][0], unsafe.Pointer(&part[0]), len(part)
		word, step := maskFrom(rows, lo)
		switch wide := active == AVX512; {
		case wide && float && least:
			maskGEFloat64AVX512(to, (*float64)(first), n, word, step, float64(limit))
		case wide && float:
			maskLEFloat64AVX512(to, (*float64)(first), n, word, step, float64(limit))
		case wide && least:
			maskGEInt64AVX512(to, (*int64)(first), n, word, step, int64(limit))
		case wide:
			maskLEInt64AVX512(to, (*int64)(first), n, word, step, int64(limit))
		case float && least:
			maskGEFloat64AVX2(to, (*float64)(first), n, word, step, float64(limit))
		case float:
			maskLEFloat64AVX2(to, (*float64)(first), n, word, step, float64(limit))
		case least:
			maskGEInt64AVX2(to, (*int64)(first), n, word, step, int64(limit))
		default:
			maskLEInt64AVX2(to, (*int64)(first), n, word, step, int64(limit))
		}
	}
}

func tops[T Number](dst *[TopGroups]T, values []T, rows []uint64) {
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

func ranks[T Number](dst *[TopGroups]int64, values *[TopGroups]T, n int) {
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
