//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./codes -out ../codes_amd64.s -stubs ../codes_stubs_amd64.go -pkg kernel

// Codes sets dst to the Floor32 of src, which is as long, and reports whether a
// value is not Tame.
func Codes(dst []float32, src []float64) (outOfRange bool) {
	src = src[:len(dst)]
	if active == Generic || len(dst) == 0 {
		return codesGeneric(dst, src)
	}
	raceRead(src)
	raceWrite(dst)
	for lo := 0; lo < len(dst); lo += callQuotients {
		n := min(callQuotients, len(dst)-lo)
		odd := 0
		if active == AVX512 {
			odd = codesAVX512(&dst[lo], &src[lo], n)
		} else {
			odd = codesAVX2(&dst[lo], &src[lo], n)
		}
		outOfRange = outOfRange || odd != 0
	}
	return outOfRange
}

// Lacks sets dst to what request lacks in src, which is as long: request - src where
// request is not at most src, +Inf where that is a NaN, and 0 elsewhere. It sets
// codes, as long, to the Floor32 of dst and reports whether a value is not Tame.
func Lacks(dst []float64, codes []float32, src []float64, request float64) (outOfRange bool) {
	codes, src = codes[:len(dst)], src[:len(dst)]
	if active == Generic || len(dst) == 0 {
		return lacksGeneric(dst, codes, src, request)
	}
	raceRead(src)
	raceWrite(dst)
	raceWrite(codes)
	const most = callQuotients / 2 // 160 KiB
	for lo := 0; lo < len(dst); lo += most {
		n := min(most, len(dst)-lo)
		odd := 0
		if active == AVX512 {
			odd = lacksAVX512(&dst[lo], &codes[lo], &src[lo], n, request)
		} else {
			odd = lacksAVX2(&dst[lo], &codes[lo], &src[lo], n, request)
		}
		outOfRange = outOfRange || odd != 0
	}
	return outOfRange
}

// AddRow adds sign, 1 or -1, times v[j] to data[j*stride] and sets codes[j*stride] to the
// Floor32 of the sum, if all of the amounts and sums are whole numbers below 2^53 in
// magnitude. Otherwise it writes nothing and returns false.
func AddRow(data []float64, codes []float32, stride int, v []float64, sign float64) (ok bool) {
	if active == Generic || len(v) == 0 || len(v) > mostColumns {
		return addRowGeneric(data, codes, stride, v, sign)
	}
	raceRead(v)
	for j := range v {
		raceWrite(data[j*stride:][:1])
		raceWrite(codes[j*stride:][:1])
	}
	return addRowAVX2(&data[0], &codes[0], stride, &v[0], len(v), sign) != 0
}
