//go:build amd64 && !purego

package kernel

//go:generate env GOWORK=off go -C _asm run ./choose -out ../select_amd64.s -stubs ../select_stubs_amd64.go -pkg kernel

// ArgMaxFloat64 returns the first selected row with the greatest value, or -1
// when there is none.
func ArgMaxFloat64(values []float64, rows []uint64) int {
	if active == Generic {
		return argMaxGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		word, step := maskFrom(rows, lo)
		var i int
		if active == AVX512 {
			i = argMaxFloat64AVX512(&part[0], len(part), word, step)
		} else {
			i = argMaxFloat64AVX2(&part[0], len(part), word, step)
		}
		if i >= 0 && (best < 0 || part[i] > values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only -Inf and NaN
		return argMaxGeneric(values, rows)
	}
	return best
}

// ArgMinFloat64 returns the first selected row with the least value, or -1
// when there is none.
func ArgMinFloat64(values []float64, rows []uint64) int {
	if active == Generic {
		return argMinGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		word, step := maskFrom(rows, lo)
		var i int
		if active == AVX512 {
			i = argMinFloat64AVX512(&part[0], len(part), word, step)
		} else {
			i = argMinFloat64AVX2(&part[0], len(part), word, step)
		}
		if i >= 0 && (best < 0 || part[i] < values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only +Inf and NaN
		return argMinGeneric(values, rows)
	}
	return best
}

// ArgMaxInt64 returns the first selected row with the greatest value, or -1
// when there is none.
func ArgMaxInt64(values []int64, rows []uint64) int {
	if active == Generic {
		return argMaxGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		word, step := maskFrom(rows, lo)
		var i int
		if active == AVX512 {
			i = argMaxInt64AVX512(&part[0], len(part), word, step)
		} else {
			i = argMaxInt64AVX2(&part[0], len(part), word, step)
		}
		if i >= 0 && (best < 0 || part[i] > values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only MinInt64
		return argMaxGeneric(values, rows)
	}
	return best
}

// ArgMinInt64 returns the first selected row with the least value, or -1
// when there is none.
func ArgMinInt64(values []int64, rows []uint64) int {
	if active == Generic {
		return argMinGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	best := -1
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		word, step := maskFrom(rows, lo)
		var i int
		if active == AVX512 {
			i = argMinInt64AVX512(&part[0], len(part), word, step)
		} else {
			i = argMinInt64AVX2(&part[0], len(part), word, step)
		}
		if i >= 0 && (best < 0 || part[i] < values[best]) {
			best = lo + i
		}
	}
	if best < 0 && !empty(rows) { // only MaxInt64
		return argMinGeneric(values, rows)
	}
	return best
}

// MaskGEFloat64 sets dst to the selected rows whose value is >= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
func MaskGEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	if active == Generic {
		maskGEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to := dst[lo/Block:][:(len(part)+Block-1)/Block]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			maskGEFloat64AVX512(&to[0], &part[0], len(part), word, step, limit)
		} else {
			maskGEFloat64AVX2(&to[0], &part[0], len(part), word, step, limit)
		}
	}
}

// MaskLEFloat64 sets dst to the selected rows whose value is <= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
func MaskLEFloat64(dst []uint64, values []float64, rows []uint64, limit float64) {
	if active == Generic {
		maskLEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to := dst[lo/Block:][:(len(part)+Block-1)/Block]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			maskLEFloat64AVX512(&to[0], &part[0], len(part), word, step, limit)
		} else {
			maskLEFloat64AVX2(&to[0], &part[0], len(part), word, step, limit)
		}
	}
}

// MaskGEInt64 sets dst to the selected rows whose value is >= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
func MaskGEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	if active == Generic {
		maskGEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to := dst[lo/Block:][:(len(part)+Block-1)/Block]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			maskGEInt64AVX512(&to[0], &part[0], len(part), word, step, limit)
		} else {
			maskGEInt64AVX2(&to[0], &part[0], len(part), word, step, limit)
		}
	}
}

// MaskLEInt64 sets dst to the selected rows whose value is <= limit. dst
// has (len(values)+63)/64 words and may be rows itself.
func MaskLEInt64(dst []uint64, values []int64, rows []uint64, limit int64) {
	if active == Generic {
		maskLEGeneric(dst, values, rows, limit)
		return
	}
	raceRead(values)
	raceRead(rows)
	raceWrite(dst)
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		to := dst[lo/Block:][:(len(part)+Block-1)/Block]
		word, step := maskFrom(rows, lo)
		if active == AVX512 {
			maskLEInt64AVX512(&to[0], &part[0], len(part), word, step, limit)
		} else {
			maskLEInt64AVX2(&to[0], &part[0], len(part), word, step, limit)
		}
	}
}

// selectChunk is how many values one call into assembly takes, a multiple of
// Block: assembly can't be preempted, and 256 KiB are read in less than 20 µs.
const selectChunk = 1 << 15

// allRows stands for a mask that is nil.
var allRows = ^uint64(0)

// maskFrom returns the address of the mask word of row lo, and the distance in
// bytes to the next word.
func maskFrom(rows []uint64, lo int) (word *uint64, step int) {
	if rows == nil {
		return &allRows, 0
	}
	return &rows[lo/Block], 8
}

// empty reports whether rows selects nothing.
func empty(rows []uint64) bool {
	for _, word := range rows {
		if word != 0 {
			return false
		}
	}
	return rows != nil
}
