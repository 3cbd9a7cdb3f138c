//go:build arm64 && !purego

package kernel

import (
	"math/bits"
	"unsafe"
)

func firstBest[T Number](values []T, rows []uint64, greatest bool) int {
	if active == Generic {
		return firstBestGeneric(values, rows, greatest)
	}
	raceRead(values)
	raceRead(rows)
	float, worst := isFloat[T](), least[T]()
	if !greatest {
		worst = -(worst + 1) // the greatest there is
	}
	best, blocks := [2]T{worst, worst}, [2]int64{-1, -1} // of even rows, and of odd ones
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, to, n, block := unsafe.Pointer(&part[0]), unsafe.Pointer(&best), len(part), lo/Block
		word, step := maskFrom(rows, lo)
		switch {
		case float && greatest:
			argMaxFloat64NEON((*float64)(first), n, word, step, block, (*[2]float64)(to), &blocks)
		case float:
			argMinFloat64NEON((*float64)(first), n, word, step, block, (*[2]float64)(to), &blocks)
		case greatest:
			argMaxInt64NEON((*int64)(first), n, word, step, block, (*[2]int64)(to), &blocks)
		default:
			argMinInt64NEON((*int64)(first), n, word, step, block, (*[2]int64)(to), &blocks)
		}
	}
	x, block := best[0], blocks[0]
	if odd := blocks[1]; block < 0 || greatest && best[1] > x || !greatest && best[1] < x || best[1] == x && odd >= 0 && odd < block {
		x, block = best[1], odd
	}
	if block < 0 { // nothing, only NaN, or what no value is worse than
		if empty(rows) {
			return -1
		}
		return firstBestGeneric(values, rows, greatest)
	}
	lo := int(block) * Block
	for word := blockRows(rows, lo, len(values)); word != 0; word &= word - 1 {
		if r := lo + bits.TrailingZeros64(word); values[r] == x {
			return r
		}
	}
	return -1 // never: the block has it
}
