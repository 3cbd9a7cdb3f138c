package kernel

import "math/bits"

// FewRows is how many rows FitFew takes at most.
const FewRows = 16

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

// fitFewGeneric sets bit r for the rows below rows that hold request.
func fitFewGeneric(data []float64, stride int, request []float64, rows int) (fits uint64) {
	for r := range rows {
		holds, p := uint64(1), r
		for _, x := range request {
			if !(x <= 0) {
				holds &= bit(data[p] >= x)
			}
			p += stride
		}
		fits |= holds << r
	}
	return fits
}

// bit is 1 for true. The compiler turns it into a SETcc, without a branch.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
