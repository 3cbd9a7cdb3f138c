//go:build amd64 && !purego

package kernel

import (
	"math"
	"unsafe"
)

//go:generate env GOWORK=off go -C _asm run ./device -out ../device_amd64.s -stubs ../device_stubs_amd64.go -pkg kernel

// Groups returns the rows of the largest group of a list of offsets, and
// whether these ascend within 0 and rows.
func Groups(offsets []int32, rows int) (largest int, ok bool) {
	if active == Generic || len(offsets) <= fewOffsets {
		return groupsGeneric(offsets, rows)
	}
	raceRead(offsets)
	most, signs, last := int32(0), offsets[0], offsets[len(offsets)-1]
	for len(offsets) > fewOffsets {
		n := min(len(offsets)-1, callRows) &^ (groupLanes - 1)
		var result [2][groupLanes]int32
		if active == AVX512 {
			deviceGroupsAVX512(&result[0][0], &offsets[0], n)
		} else {
			deviceGroupsAVX2(&result[0][0], &offsets[0], n)
		}
		for i := range groupLanes {
			most, signs = max(most, result[0][i]), signs|result[1][i]
		}
		offsets = offsets[n:]
	}
	rest, sign := groupSizesGeneric(offsets)
	return int(max(most, rest)), signs|sign >= 0 && int(last) <= rows
}

// groupLanes is how many offsets deviceGroups takes at a time, and fewOffsets are
// read as fast without it.
const (
	groupLanes = 16
	fewOffsets = 4 * groupLanes
)

// DeviceScores sets dst[r] to the score of every selected row; other elements
// are not touched. The columns of the entries stand in matrices and have an
// element per element of dst. Their amounts are whole, and of magnitudes up to
// DeviceExact.
func DeviceScores(dst []int64, most bool, entries []DeviceEntry, rows []uint64) {
	if active == Generic || len(entries) > DeviceEntries {
		deviceScoresGeneric(dst, most, entries, rows)
		return
	}
	raceSelected(dst, rows)
	for k := range entries {
		raceReadSelected(entries[k].Total[:len(dst)], rows)
		raceReadSelected(entries[k].Free[:len(dst)], rows)
		if entries[k].Other != nil {
			raceReadSelected(entries[k].Other[:len(dst)], rows)
		}
	}
	list, count, mean := (*byte)(unsafe.Pointer(unsafe.SliceData(entries))), len(entries), 1
	if count == 1 && entries[0].Weight == 1 {
		mean = 0
	}
	step := chunkRows(3 * count)
	for lo := 0; lo < len(dst); lo += step {
		part := dst[lo:min(lo+step, len(dst))]
		word, distance := maskFrom(rows, lo)
		switch wide := active == AVX512; {
		case most && wide:
			deviceMostAVX512(&part[0], len(part), lo, list, count, mean, word, distance)
		case most:
			deviceMostAVX2(&part[0], len(part), lo, list, count, mean, word, distance)
		case wide:
			deviceLeastAVX512(&part[0], len(part), lo, list, count, mean, word, distance)
		default:
			deviceLeastAVX2(&part[0], len(part), lo, list, count, mean, word, distance)
		}
	}
}

// DeviceSums sets dst[k] to the sum of the rows offsets[k] to offsets[k+1]-1 for
// every selected k; other elements are not touched. The sums, also of parts of
// the rows, must be whole numbers below 2^53, so that their order does not
// matter. offsets has an element more than dst.
func DeviceSums(dst, column []float64, offsets []int32, groups []uint64) {
	if active == Generic {
		deviceSumsGeneric(dst, column, offsets, groups)
		return
	}
	raceSelected(dst, groups)
	raceReadGroups(column, offsets[:len(dst)+1], groups)
	for lo := 0; lo < len(dst); {
		part := dst[lo : lo+fewGroups(offsets[lo:len(dst)+1], callRows)]
		word, step := maskFrom(groups, lo)
		switch {
		case len(part) == 0: // the groups of a block are too large for one call
			part = dst[lo:min(lo+Block, len(dst))]
			deviceSumsGeneric(part, column, offsets[lo:], []uint64{blockRows(groups, lo, len(dst))})
		case active == AVX512:
			deviceSumsAVX512(&part[0], len(part), 0, unsafe.SliceData(column), &offsets[lo], word, step)
		default:
			deviceSumsAVX2(&part[0], len(part), 0, unsafe.SliceData(column), &offsets[lo], word, step)
		}
		lo += len(part)
	}
}

// SegmentSums sets dst[j*dstStride+k] to the sum of data[j*stride+r] over the rows
// offsets[k] to offsets[k+1]-1, added in their order, starting from +0, for each of the
// first cols columns. There is a group at least.
func SegmentSums(dst []float64, dstStride int, data []float64, stride, cols int, offsets []int32) {
	groups := len(offsets) - 1
	if active == Generic || cols < 4 {
		segmentSumsGeneric(dst, dstStride, data, stride, cols, offsets)
		return
	}
	raceFirstColumns(data[offsets[0]:], stride, cols, int(offsets[groups]-offsets[0]))
	for j := range cols {
		raceWrite(dst[j*dstStride:][:groups])
	}
	for lo := 0; lo < groups; {
		n := fewGroups(offsets[lo:], callQuotients/4)
		part := offsets[lo : lo+max(n, min(Block, groups-lo))+1]
		for j := 0; j < cols; j += 4 {
			j = min(j, cols-4) // the last four may be some that are done
			to, from := dst[j*dstStride+lo:], data[j*stride:]
			if n == 0 { // the groups of a block are too large for one call
				segmentSumsGeneric(to, dstStride, from, stride, 4, part)
			} else {
				segmentSumsAVX2(&to[0], dstStride, unsafe.SliceData(from), stride, &part[0], n)
			}
		}
		lo += len(part) - 1
	}
}

// fewGroups returns how many groups one call may sum, whole blocks or all, of rows rows
// at most; 0 when the first block is too large.
func fewGroups(offsets []int32, rows int32) int {
	last := len(offsets) - 1
	for n := 0; n < last; n += Block {
		if offsets[min(n+Block, last)]-offsets[0] > rows || n >= callRows {
			return n
		}
	}
	return last
}

// callRows is how many rows of one column a call reads at most.
const callRows = 1 << 15

// DeviceBound returns the greatest magnitude of the selected rows of a column,
// which stands in a matrix, or NaN when one of them is not a whole number.
func DeviceBound(column []float64, rows []uint64) float64 {
	if active == Generic {
		return deviceBoundGeneric(column, rows)
	}
	raceReadSelected(column, rows)
	greatest := 0.0
	for lo := 0; lo < len(column); lo += callRows {
		part := column[lo:min(lo+callRows, len(column))]
		word, step := maskFrom(rows, lo)
		var result [2][8]float64 // the greatest magnitudes, and bits that are not 0 for a fraction
		if active == AVX512 {
			deviceBoundAVX512(&result[0][0], &part[0], len(part), lo, word, step)
		} else {
			deviceBoundAVX2(&result[0][0], &part[0], len(part), lo, word, step)
		}
		for i, x := range result[0] {
			if result[1][i] != 0 || x > math.MaxFloat64 {
				return math.NaN()
			}
			greatest = max(greatest, x)
		}
	}
	return greatest
}
