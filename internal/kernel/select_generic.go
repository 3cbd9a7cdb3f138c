package kernel

// Number is the element type of scores.
type Number interface{ float64 | int64 }

// The selection kernels read values of any alignment and any length. rows is a
// mask of (len(values)+63)/64 words without bits beyond the length, or nil for
// all rows. A NaN is never selected; -0 equals 0.

func selected(rows []uint64, r int) bool {
	return rows == nil || rows[r/Block]>>(r%Block)&1 != 0
}

// blockRows returns the mask of the block of rows from lo on, of n > lo rows in
// all.
func blockRows(rows []uint64, lo, n int) uint64 {
	exist := ^uint64(0) >> (Block - min(Block, n-lo))
	if rows == nil {
		return exist
	}
	return rows[lo/Block] & exist
}

// argMaxGeneric returns the first selected row with the greatest value, or -1
// when there is none.
func argMaxGeneric[T Number](values []T, rows []uint64) int {
	best := -1
	for r, x := range values {
		if selected(rows, r) && x == x && (best < 0 || x > values[best]) {
			best = r
		}
	}
	return best
}

// argMinGeneric returns the first selected row with the least value, or -1 when
// there is none.
func argMinGeneric[T Number](values []T, rows []uint64) int {
	best := -1
	for r, x := range values {
		if selected(rows, r) && x == x && (best < 0 || x < values[best]) {
			best = r
		}
	}
	return best
}

// maskGEGeneric sets bit r of dst when row r is selected and values[r] >=
// limit, and clears the other bits. dst has (len(values)+63)/64 words and may
// be rows itself.
func maskGEGeneric[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	for w := range dst {
		var keep uint64
		for i, x := range values[w*Block : min((w+1)*Block, len(values))] {
			keep |= bit(x >= limit) << i
		}
		if rows != nil {
			keep &= rows[w]
		}
		dst[w] = keep
	}
}

// maskLEGeneric is maskGEGeneric with values[r] <= limit.
func maskLEGeneric[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	for w := range dst {
		var keep uint64
		for i, x := range values[w*Block : min((w+1)*Block, len(values))] {
			keep |= bit(x <= limit) << i
		}
		if rows != nil {
			keep &= rows[w]
		}
		dst[w] = keep
	}
}
