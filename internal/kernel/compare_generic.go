package kernel

import "math/bits"

// The compare kernels. Each clears, in dst, the bits of the rows that fail, and
// covers len(dst) blocks. Comparisons are ordered: a NaN on either side fails.

// AndGE clears the bits of dst whose rows fail data[cols[k]*stride+r] >=
// vals[k] for some k.
func AndGE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andListed(testGE, dst, data, stride, cols, vals)
}

// AndGE32 is AndGE for half the bytes.
func AndGE32(dst []uint64, codes []float32, stride int, cols []int32, vals []float32) {
	andCodes(dst, codes, stride, cols, vals)
}

// AndLE clears the bits of dst whose rows fail data[cols[k]*stride+r] <=
// vals[k] for some k.
func AndLE(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	andListed(testLE, dst, data, stride, cols, vals)
}

// AndSumGE clears the bits of dst whose rows fail a+b >= vals[k] in column
// cols[k] for some k.
func AndSumGE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	andSum(dst, a, aStride, b, bStride, cols, vals)
}

// AndRowsLE clears the bits of dst whose rows fail a <= b in one of the first
// cols columns.
func AndRowsLE(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRows(testRowsLE, dst, a, aStride, b, bStride, cols)
}

// AndRowsFit clears the bits of dst whose rows fail (a <= b or a <= 0) in one
// of the first cols columns.
func AndRowsFit(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	andRows(testRowsFit, dst, a, aStride, b, bStride, cols)
}

// test names what is asked of every row.
type test uint8

const (
	testGE test = iota
	testLE
	testRowsLE
	testRowsFit
)

// andListedGeneric is the tests of listed columns.
func andListedGeneric(t test, dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	if t == testGE {
		andGEGeneric(dst, data, stride, cols, vals)
	} else {
		andLEGeneric(dst, data, stride, cols, vals)
	}
}

// andRowsGeneric is the tests of the first columns of two matrices.
func andRowsGeneric(t test, dst []uint64, a []float64, aStride int, b []float64, bStride, cols int) {
	if t == testRowsLE {
		andRowsLEGeneric(dst, a, aStride, b, bStride, cols)
	} else {
		andRowsFitGeneric(dst, a, aStride, b, bStride, cols)
	}
}

// andGEGeneric keeps row r when data[cols[k]*stride+r] >= vals[k] for every k.
func andGEGeneric[F float32 | float64](dst []uint64, data []F, stride int, cols []int32, vals []F) {
	for k, c := range cols {
		column, limit := data[int(c)*stride:], vals[k]
		for w, word := range dst {
			if word == 0 {
				continue
			}
			block := (*[Block]F)(column[w*Block:])
			var keep uint64
			for i := 0; i < Block; i += 4 { // 1.5 times as fast as one by one, or as a call
				x := (*[4]F)(block[i:])
				keep |= (bit(x[0] >= limit) | bit(x[1] >= limit)<<1 | bit(x[2] >= limit)<<2 | bit(x[3] >= limit)<<3) << i
			}
			dst[w] = word & keep
		}
	}
}

// andLEGeneric keeps row r when data[cols[k]*stride+r] <= vals[k] for every k.
func andLEGeneric(dst []uint64, data []float64, stride int, cols []int32, vals []float64) {
	for k, c := range cols {
		column, limit := data[int(c)*stride:], vals[k]
		for w, word := range dst {
			if word == 0 {
				continue
			}
			block := (*[Block]float64)(column[w*Block:])
			var keep uint64
			for i := 0; i < Block; i += 4 { // 1.5 times as fast as one by one, or as a call
				x := (*[4]float64)(block[i:])
				keep |= (bit(x[0] <= limit) | bit(x[1] <= limit)<<1 | bit(x[2] <= limit)<<2 | bit(x[3] <= limit)<<3) << i
			}
			dst[w] = word & keep
		}
	}
}

// andSumGEGeneric keeps row r when a+b >= vals[k] in column cols[k] for every
// k, the sum rounded once.
func andSumGEGeneric(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) {
	for k, c := range cols {
		ca, cb, limit := a[int(c)*aStride:], b[int(c)*bStride:], vals[k]
		for w, word := range dst {
			if word == 0 {
				continue
			}
			xa, xb := (*[Block]float64)(ca[w*Block:]), (*[Block]float64)(cb[w*Block:])
			var keep uint64
			for i := 0; i < Block; i += 4 {
				x, y := (*[4]float64)(xa[i:]), (*[4]float64)(xb[i:])
				keep |= (bit(x[0]+y[0] >= limit) | bit(x[1]+y[1] >= limit)<<1 | bit(x[2]+y[2] >= limit)<<2 | bit(x[3]+y[3] >= limit)<<3) << i
			}
			dst[w] = word & keep
		}
	}
}

// andRowsLEGeneric keeps row r when a <= b in every one of the first cols
// columns.
func andRowsLEGeneric(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	for c := range cols {
		ca, cb := a[c*aStride:], b[c*bStride:]
		for w, word := range dst {
			if word == 0 {
				continue
			}
			xa, xb := (*[Block]float64)(ca[w*Block:]), (*[Block]float64)(cb[w*Block:])
			var keep uint64
			for i := 0; i < Block; i += 4 {
				x, y := (*[4]float64)(xa[i:]), (*[4]float64)(xb[i:])
				keep |= (bit(x[0] <= y[0]) | bit(x[1] <= y[1])<<1 | bit(x[2] <= y[2])<<2 | bit(x[3] <= y[3])<<3) << i
			}
			dst[w] = word & keep
		}
	}
}

// andRowsFitGeneric keeps row r when, in every one of the first cols columns,
// a <= b or a <= 0: the requested-only rule.
func andRowsFitGeneric(dst []uint64, a []float64, aStride int, b []float64, bStride int, cols int) {
	for c := range cols {
		ca, cb := a[c*aStride:], b[c*bStride:]
		for w, word := range dst {
			if word == 0 {
				continue
			}
			xa, xb := (*[Block]float64)(ca[w*Block:]), (*[Block]float64)(cb[w*Block:])
			var keep uint64
			for i := 0; i < Block; i += 4 {
				x, y := (*[4]float64)(xa[i:]), (*[4]float64)(xb[i:])
				keep |= (bit(x[0] <= y[0]) | bit(x[1] <= y[1])<<1 | bit(x[2] <= y[2])<<2 | bit(x[3] <= y[3])<<3) << i
			}
			for rest := word &^ keep; rest != 0; rest &= rest - 1 { // most rows fit
				i := bits.TrailingZeros64(rest)
				keep |= bit(xa[i] <= 0) << i
			}
			dst[w] = word & keep
		}
	}
}

// bit is 1 for true. The compiler turns it into a SETcc, without a branch.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
