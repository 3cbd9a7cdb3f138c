//go:build arm64 && !purego

package kernel

import (
	"math/bits"
	"unsafe"
)

// The functions of select_amd64.go by NEON, as far as it has them.

//go:noinline
func ArgMax[T Number](values []T, rows []uint64) int {
	if active == Generic {
		return argMaxGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	worst := least[T]()
	best, blocks := [2]T{worst, worst}, [2]int64{-1, -1} // of even rows, and of odd ones
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, to, n, block := unsafe.Pointer(&part[0]), unsafe.Pointer(&best), len(part), lo/Block
		word, step := maskFrom(rows, lo)
		if isFloat[T]() {
			argMaxFloat64NEON((*float64)(first), n, word, step, block, (*[2]float64)(to), &blocks)
		} else {
			argMaxInt64NEON((*int64)(first), n, word, step, block, (*[2]int64)(to), &blocks)
		}
	}
	x, block := best[0], blocks[0]
	if odd := blocks[1]; block < 0 || best[1] > x || best[1] == x && odd >= 0 && odd < block {
		x, block = best[1], odd
	}
	if block < 0 && !empty(rows) { // only NaN, or what no value is less than
		return argMaxGeneric(values, rows)
	}
	return firstEqual(values, rows, int(block), x)
}

//go:noinline
func ArgMin[T Number](values []T, rows []uint64) int {
	if active == Generic {
		return argMinGeneric(values, rows)
	}
	raceRead(values)
	raceRead(rows)
	worst := -(least[T]() + 1)                           // the greatest there is
	best, blocks := [2]T{worst, worst}, [2]int64{-1, -1} // of even rows, and of odd ones
	for lo := 0; lo < len(values); lo += selectChunk {
		part := values[lo:min(lo+selectChunk, len(values))]
		first, to, n, block := unsafe.Pointer(&part[0]), unsafe.Pointer(&best), len(part), lo/Block
		word, step := maskFrom(rows, lo)
		if isFloat[T]() {
			argMinFloat64NEON((*float64)(first), n, word, step, block, (*[2]float64)(to), &blocks)
		} else {
			argMinInt64NEON((*int64)(first), n, word, step, block, (*[2]int64)(to), &blocks)
		}
	}
	x, block := best[0], blocks[0]
	if odd := blocks[1]; block < 0 || best[1] < x || best[1] == x && odd >= 0 && odd < block {
		x, block = best[1], odd
	}
	if block < 0 && !empty(rows) { // only NaN, or what no value is greater than
		return argMinGeneric(values, rows)
	}
	return firstEqual(values, rows, int(block), x)
}

// firstEqual returns the first selected row of a block whose value is x, or -1 if block
// is negative.
func firstEqual[T Number](values []T, rows []uint64, block int, x T) int {
	if block < 0 {
		return -1
	}
	lo := block * Block
	for word := blockRows(rows, lo, len(values)); word != 0; word &= word - 1 {
		if r := lo + bits.TrailingZeros64(word); values[r] == x {
			return r
		}
	}
	return -1 // never: the block has it
}
