package kernel

import (
	"math"
	"math/bits"
)

// groupsGeneric is Groups.
func groupsGeneric(offsets []int32, rows int) (largest int, ok bool) {
	if len(offsets) == 0 {
		return 0, true
	}
	most, signs := groupSizesGeneric(offsets)
	return int(most), signs >= 0 && int(offsets[len(offsets)-1]) <= rows
}

// groupSizesGeneric returns the greatest difference of two offsets that follow each
// other, at least 0, and a number that is negative if an offset or a difference is.
func groupSizesGeneric(offsets []int32) (most, signs int32) {
	last := offsets[0]
	signs = last
	for _, at := range offsets[1:] {
		size := at - last
		signs |= at | size
		most = max(most, size)
		last = at
	}
	return most, signs
}

// DeviceEntry is a resource that counts in the score of a device or of a node's
// devices together. The assembly knows the layout.
type DeviceEntry struct {
	Total, Free []float64 // an element per row

	// Other is the total of another resource; Request is of that one then, and
	// stands for the same share of Total, rounded down. nil: Request is of this
	// one.
	Other []float64

	Request float64 // 0 or more
	Weight  float64 // 0 to 100
}

// DeviceEntries is how many entries the assembly takes at most.
const DeviceEntries = 16

// Amounts have magnitudes up to DeviceExact, whose hundredfold is below 2^53.
// Requests, and where there is Other the product of Request and Total, are at most
// DeviceMost: what is used is below 2^53 then, too.
const (
	DeviceExact = 1 << 46
	DeviceMost  = 1<<53 - 1<<48
)

// deviceRow returns the score of row r, 0 to 100: the definition of the device
// family. The amounts are whole.
func deviceRow(most bool, entries []DeviceEntry, r int) int64 {
	var sum, weights int64
	for k := range entries {
		e := &entries[k]
		total := int64(e.Total[r])
		if total <= 0 {
			continue
		}
		if used, w := e.used(total, r), int64(e.Weight); most {
			sum += KubeMostStep(used, total) * w
			weights += w
		} else {
			sum += KubeLeastStep(used, total) * w
			weights += w
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// used returns what is used of row r with the request. Free above the total means
// full.
func (e *DeviceEntry) used(total int64, r int) int64 {
	free, request := int64(e.Free[r]), int64(e.Request)
	if free > total {
		return total
	}
	if e.Other != nil {
		if other := int64(e.Other[r]); other > 0 {
			request = request * total / other
		} else {
			request = 0
		}
	}
	return total - free + request
}

// deviceScoresGeneric sets dst[r] to deviceRow for every selected row.
func deviceScoresGeneric(dst []int64, most bool, entries []DeviceEntry, rows []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		for word := blockRows(rows, lo, len(dst)); word != 0; word &= word - 1 {
			r := lo + bits.TrailingZeros64(word)
			dst[r] = deviceRow(most, entries, r)
		}
	}
}

// deviceSumsGeneric sets dst[k] to the sum of the rows offsets[k] to
// offsets[k+1]-1 for every selected k. The sums, also of parts of the rows, are
// whole numbers below 2^53, so that their order does not matter.
func deviceSumsGeneric(dst, column []float64, offsets []int32, groups []uint64) {
	for lo := 0; lo < len(dst); lo += Block {
		for word := blockRows(groups, lo, len(dst)); word != 0; word &= word - 1 {
			k := lo + bits.TrailingZeros64(word)
			sum := 0.0
			for _, x := range column[offsets[k]:offsets[k+1]] {
				sum += x
			}
			dst[k] = sum
		}
	}
}

// segmentSumsGeneric is SegmentSums. Each sum waits for its last addition, so four of
// them at once take the time of one; as variables they stay in registers, which the
// elements of an array would not.
func segmentSumsGeneric(dst []float64, dstStride int, data []float64, stride, cols int, offsets []int32) {
	j := 0
	for ; j+4 <= cols; j += 4 {
		in, out := data[j*stride:], dst[j*dstStride:]
		inB, inC, inD := in[stride:], in[2*stride:], in[3*stride:]
		outB, outC, outD := out[dstStride:], out[2*dstStride:], out[3*dstStride:]
		lo := offsets[0]
		for k, hi := range offsets[1:] {
			columnA := in[lo:hi]
			columnB, columnC, columnD := inB[lo:hi][:len(columnA)], inC[lo:hi][:len(columnA)], inD[lo:hi][:len(columnA)]
			var a, b, c, d float64
			for i, x := range columnA {
				a += x
				b += columnB[i]
				c += columnC[i]
				d += columnD[i]
			}
			out[k], outB[k], outC[k], outD[k] = a, b, c, d
			lo = hi
		}
	}
	for ; j < cols; j++ {
		in, out := data[j*stride:], dst[j*dstStride:]
		deviceSumsGeneric(out[:len(offsets)-1], in, offsets, nil)
	}
}

// deviceBoundGeneric returns the greatest magnitude of the selected rows, or
// NaN when one of them is not a whole number.
func deviceBoundGeneric(column []float64, rows []uint64) float64 {
	greatest := 0.0
	for lo := 0; lo < len(column); lo += Block {
		word := blockRows(rows, lo, len(column))
		if word == ^uint64(0) {
			for _, x := range column[lo : lo+Block] {
				if y := math.Abs(x); !(y <= greatest && float64(int64(y)) == y) { // the rare case is a call
					greatest = deviceBoundOf(greatest, x)
				}
			}
			continue
		}
		for ; word != 0; word &= word - 1 {
			greatest = deviceBoundOf(greatest, column[lo+bits.TrailingZeros64(word)])
		}
	}
	return greatest
}

// deviceBoundOf returns the greater one of a bound and the magnitude of x, or NaN
// when x is not a whole number or the bound is NaN.
func deviceBoundOf(bound, x float64) float64 {
	if math.Trunc(x) != x || math.Abs(x) > math.MaxFloat64 {
		return math.NaN()
	}
	return max(bound, math.Abs(x))
}
