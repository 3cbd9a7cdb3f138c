//go:build !amd64 || purego

package kernel

// These kernels have assembly for amd64 only.

func codes(dst []float32, src []float64) bool { return codesGeneric(dst, src) }

func lacks(dst []float64, codes []float32, src []float64, request float64) bool {
	return lacksGeneric(dst, codes, src, request)
}

func addRow(data []float64, codes []float32, stride int, v []float64, sign float64) bool {
	return addRowGeneric(data, codes, stride, v, sign)
}

func fitFew(data []float64, stride int, request []float64, rows int) uint64 {
	return fitFewGeneric(data, stride, request, rows)
}

func tops[T Number](dst *[TopGroups]T, values []T, rows []uint64) { topsGeneric(dst, values, rows) }

func ranks[T Number](dst *[TopGroups]int64, values *[TopGroups]T, n int) {
	ranksGeneric(dst, values, n)
}

func maskBeyond[T Number](dst []uint64, values []T, rows []uint64, limit T, least bool) {
	maskBeyondGeneric(dst, values, rows, limit, least)
}

func foldRows(f fold, dst, data []float64, stride int, total, _ []float64, totalStride, cols int) {
	foldRowsGeneric(f, dst, data, stride, total, totalStride, cols)
}

func strategyFit(dst []float64, lo int, terms []StrategyTerm, weights, points float64, rows []uint64) {
	strategyFitGeneric(dst, lo, terms, weights, points, rows)
}

func strategySum(dst []float64, lo int, terms []StrategyTerm, weights, points float64, base []float64, columns [][]float64, rows []uint64) {
	strategySumGeneric(dst, lo, terms, weights, points, base, columns, rows)
}

func strategyPeaks(dst []float64, rows int, terms []peakTerm, start float64, base []float64, selected []uint64) bool {
	return strategyPeaksGeneric(dst, rows, terms, start, base, selected)
}

func scarceBase(dst []float64, lo int, terms []ScarceTerm, start, scale, total float64, rows []uint64) {
	scarceBaseGeneric(dst, lo, terms, start, scale, total, rows)
}

func setPresent(dst, base []float64, lo int, columns [][]float64, rows []uint64) {
	setPresentGeneric(dst, base, lo, columns, rows)
}

func andReserve(dst []uint64, rule *ReserveRule) { andReserveGeneric(dst, rule) }

func load(dst []float64, dims []LoadDim, rule LoadRule, rows []uint64) {
	loadGeneric(dst, dims, rule, rows)
}

func share(dst []float64, dims []LoadDim, rule ShareRule, rows []uint64) {
	shareGeneric(dst, dims, rule, rows)
}

func combine(dst []float64, terms [][]float64, weights []float64, rows []uint64) {
	combineGeneric(dst, terms, weights, rows)
}

func rescale(dst, src []float64, low, span float64, reverse bool, rows []uint64) {
	rescaleGeneric(dst, src, low, span, reverse, rows)
}

func kube[T Number](dst []T, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	kubeGeneric(dst, t, entries, table, rows)
}

func linear(acc []float64, op linearOp, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	linearGeneric(acc, op, more, terms, kept, over, unit, pods)
}

func groupSizes(offsets []int32) (most, signs int32) { return groupSizesGeneric(offsets) }

func deviceScores(dst []int64, most bool, entries []DeviceEntry, rows []uint64) {
	deviceScoresGeneric(dst, most, entries, rows)
}

func deviceSums(dst, column []float64, offsets []int32, groups []uint64) {
	deviceSumsGeneric(dst, column, offsets, groups)
}

func segmentSums(dst []float64, dstStride int, data []float64, stride, cols int, offsets []int32) {
	segmentSumsGeneric(dst, dstStride, data, stride, cols, offsets)
}

func deviceBound(column []float64, rows []uint64) float64 { return deviceBoundGeneric(column, rows) }

func prefetch(at *uintptr) { prefetchGeneric(at) }

func sumWhole([]float64) (sum float64, exact bool) { return 0, false }
