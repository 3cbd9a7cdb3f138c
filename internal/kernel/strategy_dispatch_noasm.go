//go:build !amd64 || purego

package kernel

// StrategyFit scores rows by what the terms say, times points over the sum of
// their weights. There is at least one term.
func StrategyFit(dst []float64, lo int, terms []StrategyTerm, weights, points float64, rows []uint64) {
	strategyFitGeneric(dst, lo, terms, weights, points, rows)
}

// StrategySum sets dst to what StrategyFit does, plus base in rows that have more
// than 0 of every term and of every column.
func StrategySum(dst []float64, lo int, terms []StrategyTerm, weights, points float64, base []float64, columns [][]float64, rows []uint64) {
	strategySumGeneric(dst, lo, terms, weights, points, base, columns, rows)
}

// ScarceBase weighs what the rows do not have.
func ScarceBase(dst []float64, lo int, terms []ScarceTerm, start, scale, total float64, rows []uint64) {
	scarceBaseGeneric(dst, lo, terms, start, scale, total, rows)
}

// SetPresent sets dst to base in rows that have more than 0 of every column,
// and to 0 in the others. dst may be base.
func SetPresent(dst, base []float64, lo int, columns [][]float64, rows []uint64) {
	setPresentGeneric(dst, base, lo, columns, rows)
}

// AndReserve clears the bits of dst whose rows fail the rule.
func AndReserve(dst []uint64, rule *ReserveRule) { andReserveGeneric(dst, rule) }
