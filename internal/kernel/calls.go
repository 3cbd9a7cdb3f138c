//go:build (amd64 || arm64) && !purego

package kernel

import "unsafe"

// What one call into assembly takes, and what it is given, on every CPU.

// callBlocks is the number of blocks of one column of float64s, 512 bytes each,
// that one call into assembly reads. Assembly can't be preempted: 160 KiB are
// some 15 microseconds even from a busy memory.
const callBlocks = 320

// callQuotients is how many quotients one call into assembly takes. Assembly
// can't be preempted: 2^14 divisions of amounts by totals that both come from
// memory, 256 KiB, take some 15 µs.
const callQuotients = 1 << 14

// mostColumns is the width beyond which a block of rows is more than one call
// may take. Sums run in column order, so that a call can't take a part of the
// columns; wider lists and matrices get the Go code, which can be preempted.
const mostColumns = callQuotients / Block

// chunkRows returns how many rows one call into assembly takes, a multiple of
// Block. cols is at most mostColumns.
func chunkRows(cols int) int {
	return callQuotients / max(cols, 1) &^ (Block - 1)
}

// from returns the address of row lo of the first column.
func from(data []float64, lo int) *float64 {
	return unsafe.SliceData(data[min(lo, len(data)):])
}

// divisors holds each total of a column list with its rounded reciprocal.
type divisors [32][2]float64

// fill reports whether the reciprocals are worth preparing for this many rows,
// and fit; the division that they replace gives the same result.
func (d *divisors) fill(totals []float64, rows int) bool {
	if rows < minReciprocal || len(totals) > len(d) {
		return false
	}
	for k, t := range totals {
		d[k] = [2]float64{t, 1 / t}
	}
	return true
}

// minReciprocal is the number of rows below which plain division is faster.
const minReciprocal = 32

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

// isFloat reports whether T is float64.
func isFloat[T Number]() bool { return T(1)/2 != 0 }

// empty reports whether rows selects nothing.
func empty(rows []uint64) bool {
	for _, word := range rows {
		if word != 0 {
			return false
		}
	}
	return rows != nil
}
