//go:build arm64 && !purego

package kernel

// foldPart is one call of foldColumns.
func foldPart(f fold, tame bool, dst *float64, rows int, column *float64, stride int, c *int32, t *float64, table *[2]float64, n int) {
	switch {
	case f == foldSum && tame:
		normalizedSumTameNEON(dst, rows, column, stride, c, table, n)
	case f == foldSum:
		normalizedSumNEON(dst, rows, column, stride, c, t, n)
	case f == foldGreatest && tame:
		dominantShareTameNEON(dst, rows, column, stride, c, table, n)
	case f == foldGreatest:
		dominantShareNEON(dst, rows, column, stride, c, t, n)
	default:
		weightedSumNEON(dst, rows, column, stride, c, t, n)
	}
}

// copiesPart is one call of copies.
func copiesPart(tame bool, dst *int64, rows int, column *float64, stride int, c *int32, t *float64, table *[2]float64, n int) {
	if tame {
		copiesTameNEON(dst, rows, column, stride, c, table, n)
	} else {
		copiesNEON(dst, rows, column, stride, c, t, n)
	}
}
