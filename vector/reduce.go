package vector

import (
	"math/bits"

	"github.com/resvec/resvec/internal/kernel"
)

// SumColumns sets dst to the sum of the selected rows, added in order from +0.
func SumColumns(dst ResourceVector, m *Matrix, rows *Mask) ResourceVector {
	selected := selection(rows, m.Rows())
	dst = resized(dst, m.cols)
	// A selection is walked in row order: partial sums of blocks would round differently.
	if selected != nil {
		for j := range dst {
			dst[j] = sumColumn(m.Column(j), selected)
		}
		return dst
	}
	var ordered [4]int // columns in which the order matters
	n := 0
	for j := range dst {
		// Sums of whole numbers are exact in any order, which assembly uses. Others are added
		// in order, four columns at a time.
		sum, exact := kernel.SumWhole(m.Column(j))
		if exact {
			dst[j] = sum
			continue
		}
		ordered[n] = j
		if n++; n == len(ordered) {
			sum4Columns(dst, m, &ordered)
			n = 0
		}
	}
	for _, j := range ordered[:n] {
		dst[j] = sumColumn(m.Column(j), nil)
	}
	return dst
}

// sum4Columns sums four columns. Each sum waits for its last addition, so
// four of them at once take the time of one; as variables they stay in registers,
// which the elements of an array would not.
func sum4Columns(dst ResourceVector, m *Matrix, columns *[4]int) {
	// Slices of one length spare a bounds check per addition.
	columnA := m.Column(columns[0])
	columnB, columnC, columnD := m.Column(columns[1])[:len(columnA)], m.Column(columns[2])[:len(columnA)], m.Column(columns[3])[:len(columnA)]
	var a, b, c, d float64
	for i := range columnA {
		a += columnA[i]
		b += columnB[i]
		c += columnC[i]
		d += columnD[i]
	}
	dst[columns[0]], dst[columns[1]], dst[columns[2]], dst[columns[3]] = a, b, c, d
}

// MaxColumns sets dst to the greatest amount of each column over the selected rows, never
// NaN or -0; with nothing left it is -Inf.
func MaxColumns(dst ResourceVector, m *Matrix, rows *Mask) ResourceVector {
	selected := selection(rows, m.Rows())
	dst = resized(dst, m.cols)
	for j := range dst {
		dst[j] = kernel.Max(m.Column(j), selected)
	}
	return dst
}

// MinColumns is [MaxColumns] for the least; with nothing left it is +Inf.
func MinColumns(dst ResourceVector, m *Matrix, rows *Mask) ResourceVector {
	selected := selection(rows, m.Rows())
	dst = resized(dst, m.cols)
	for j := range dst {
		dst[j] = kernel.Min(m.Column(j), selected)
	}
	return dst
}

// sumColumn adds the selected values in order.
func sumColumn(column []float64, selected []uint64) float64 {
	sum := 0.0
	if selected == nil {
		for _, x := range column {
			sum += x
		}
		return sum
	}
	for w, word := range selected {
		// Rows are skipped and not multiplied by 0: they may hold NaN or an infinite amount.
		for ; word != 0; word &= word - 1 {
			sum += column[w*kernel.Block+bits.TrailingZeros64(word)]
		}
	}
	return sum
}

// WeightedSum sets dst[i] to the sum of row i times weights, in order from +0, each
// product rounded before it is added. Columns of weight 0 are not read.
func WeightedSum(dst []float64, m *Matrix, weights ResourceVector) {
	dst = m.checkDst(dst)
	m.checkVector(weights)
	var list ratioList
	for j, w := range weights {
		// 0 times an infinite amount is NaN, and who weighs a column with 0 does not want it.
		if w == 0 {
			continue
		}
		// As with ratios, a sum cannot go on in a second call.
		if list.n == ratioListSize {
			m.weightedSumByRow(dst, weights)
			return
		}
		list.columns[list.n], list.amounts[list.n] = int32(j), w
		list.n++
	}
	kernel.WeightedSum(dst, m.data, m.stride, list.columns[:list.n], list.amounts[:list.n])
}

// weightedSumByRow is WeightedSum of more columns than a list takes.
func (m *Matrix) weightedSumByRow(dst []float64, weights ResourceVector) {
	for i := range dst {
		sum := 0.0
		for j, w := range weights {
			if w != 0 {
				// The conversion keeps the compiler from fusing both into one rounding.
				sum += float64(m.data[j*m.stride+i] * w)
			}
		}
		dst[i] = sum
	}
}

// Offsets says where groups of rows stand, such as the devices of each node: group k is
// the rows Offsets[k] to Offsets[k+1]-1, maybe none.
type Offsets []int32

// SegmentSum sets row k of dst to the sum of group k of m, in order from +0.
func SegmentSum(dst, m *Matrix, offsets Offsets) {
	groups := max(len(offsets)-1, 0)
	if _, ok := kernel.Groups(offsets, m.Rows()); !ok {
		panic("vector: offsets do not ascend within the rows")
	}
	// Group k is written before later groups are read.
	if dst.shares(m) {
		panic(panicDstInput)
	}
	dst.checkWritable()
	dst.reshape(m.schema, groups, m.cols)
	if groups > 0 {
		kernel.SegmentSums(dst.data, dst.stride, m.data, m.stride, m.cols, offsets)
	}
	for j := range dst.cols {
		// Storage is reused: beyond the groups it may hold anything, and kernels read it as 0.
		clear(dst.data[j*dst.stride:][groups:dst.stride])
		clear(dst.lower32[j*dst.stride:][groups:dst.stride])
		dst.outOfRange[j] = false
		dst.inspectPart(j, 0, dst.rows)
	}
}
