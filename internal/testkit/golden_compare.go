package testkit

// The golden models of the compare kernels: whether one row is kept, with the
// rows read one by one. m is column-major with the given stride.

// Keep clears the bits of dst whose rows keep refuses. It asks about every row
// of every word, set or not.
func Keep(dst []uint64, keep func(row int) bool) {
	for row := range len(dst) * 64 {
		if !keep(row) {
			dst[row/64] &^= 1 << (row % 64)
		}
	}
}

// GE keeps a row whose value in column cols[k] is at least vals[k], for all k.
func GE[F float32 | float64](m []F, stride int, cols []int32, vals []F) func(row int) bool {
	return func(row int) bool {
		for k, col := range cols {
			if !(m[int(col)*stride+row] >= vals[k]) {
				return false
			}
		}
		return true
	}
}

// LE keeps a row whose value in column cols[k] is at most vals[k], for all k.
func LE(m []float64, stride int, cols []int32, vals []float64) func(row int) bool {
	return func(row int) bool {
		for k, col := range cols {
			if !(m[int(col)*stride+row] <= vals[k]) {
				return false
			}
		}
		return true
	}
}

// SumGE keeps a row whose sum a+b in column cols[k] is at least vals[k], for
// all k.
func SumGE(a []float64, aStride int, b []float64, bStride int, cols []int32, vals []float64) func(row int) bool {
	return func(row int) bool {
		for k, col := range cols {
			sum := a[int(col)*aStride+row] + b[int(col)*bStride+row]
			if !(sum >= vals[k]) {
				return false
			}
		}
		return true
	}
}

// RowsLE keeps a row whose values in a are at most those in b, in each of the
// first cols columns.
func RowsLE(a []float64, aStride int, b []float64, bStride int, cols int) func(row int) bool {
	return func(row int) bool {
		for col := range cols {
			if !(a[col*aStride+row] <= b[col*bStride+row]) {
				return false
			}
		}
		return true
	}
}

// RowsFit keeps a row whose values in a are at most those in b, or at most
// zero, in each of the first cols columns.
func RowsFit(a []float64, aStride int, b []float64, bStride int, cols int) func(row int) bool {
	return func(row int) bool {
		for col := range cols {
			request, free := a[col*aStride+row], b[col*bStride+row]
			if request <= 0 {
				continue
			}
			if !(request <= free) {
				return false
			}
		}
		return true
	}
}
