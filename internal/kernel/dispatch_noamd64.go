//go:build !amd64 || purego

package kernel

// These kernels have assembly for amd64 only: NAME_amd64.go says what they do. Those
// with a type parameter stay calls, see there.

func Codes(dst []float32, src []float64) bool { return codesGeneric(dst, src) }

func Lacks(dst []float64, codes []float32, src []float64, request float64) bool {
	return lacksGeneric(dst, codes, src, request)
}

func AddRow(data []float64, codes []float32, stride int, v []float64, sign float64) bool {
	return addRowGeneric(data, codes, stride, v, sign)
}

func FitFew(data []float64, stride int, request []float64, rows int) uint64 {
	return fitFewGeneric(data, stride, request, rows)
}

//go:noinline
func Tops[T Number](dst *[TopGroups]T, values []T, rows []uint64) { topsGeneric(dst, values, rows) }

//go:noinline
func Ranks[T Number](dst *[TopGroups]int64, values *[TopGroups]T, n int) {
	ranksGeneric(dst, values, n)
}

//go:noinline
func MaskGE[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	maskGEGeneric(dst, values, rows, limit)
}

//go:noinline
func MaskLE[T Number](dst []uint64, values []T, rows []uint64, limit T) {
	maskLEGeneric(dst, values, rows, limit)
}

func NormalizedSumRows(dst, data []float64, stride int, total, _ []float64, totalStride int, cols int) {
	normalizedSumRowsGeneric(dst, data, stride, total, totalStride, cols)
}

func DominantShareRows(dst, data []float64, stride int, total, _ []float64, totalStride int, cols int) {
	dominantShareRowsGeneric(dst, data, stride, total, totalStride, cols)
}

func StrategyFit(dst []float64, lo int, terms []StrategyTerm, weights, points float64, rows []uint64) {
	strategyFitGeneric(dst, lo, terms, weights, points, rows)
}

func StrategySum(dst []float64, lo int, terms []StrategyTerm, weights, points float64, base []float64, columns [][]float64, rows []uint64) {
	strategySumGeneric(dst, lo, terms, weights, points, base, columns, rows)
}

func StrategyPeaks(dst []float64, rows int, terms []StrategyTerm, weights, points float64, base []float64, selected []uint64) bool {
	var lines [mostPeaks]peakTerm
	start, ok := peakTerms(&lines, terms, weights, points)
	return ok && strategyPeaksGeneric(dst, rows, lines[:len(terms)], start, base, selected)
}

func ScarceBase(dst []float64, lo int, terms []ScarceTerm, start, scale, total float64, rows []uint64) {
	scarceBaseGeneric(dst, lo, terms, start, scale, total, rows)
}

func SetPresent(dst, base []float64, lo int, columns [][]float64, rows []uint64) {
	setPresentGeneric(dst, base, lo, columns, rows)
}

func AndReserve(dst []uint64, rule *ReserveRule) { andReserveGeneric(dst, rule) }

func Load(dst []float64, dims []LoadDim, rule LoadRule, rows []uint64) {
	loadGeneric(dst, dims, rule, rows)
}

func Share(dst []float64, dims []LoadDim, rule ShareRule, rows []uint64) {
	shareGeneric(dst, dims, rule, rows)
}

func Combine(dst []float64, terms [][]float64, weights []float64, rows []uint64) {
	combineGeneric(dst, terms, weights, rows)
}

func Rescale(dst, src []float64, low, span float64, reverse bool, rows []uint64) {
	rescaleGeneric(dst, src, low, span, reverse, rows)
}

//go:noinline
func Kube[T Number](dst []T, t KubeType, entries []KubeEntry, table *KubeTable, rows []uint64) {
	kubeGeneric(dst, t, entries, table, rows)
}

func LinearSum(acc []float64, terms []LinearTerm) { linearSumGeneric(acc, terms) }

func LinearAmount(acc []float64, more bool, terms []LinearTerm, kept []float64, over float64) {
	linearAmountGeneric(acc, more, terms, kept, over)
}

func LinearCharge(acc []float64, more bool, terms []LinearTerm, kept []float64, over, unit float64, pods []float64) {
	linearChargeGeneric(acc, more, terms, kept, over, unit, pods)
}

func Groups(offsets []int32, rows int) (largest int, ok bool) { return groupsGeneric(offsets, rows) }

func DeviceScores(dst []int64, most bool, entries []DeviceEntry, rows []uint64) {
	deviceScoresGeneric(dst, most, entries, rows)
}

func DeviceSums(dst, column []float64, offsets []int32, groups []uint64) {
	deviceSumsGeneric(dst, column, offsets, groups)
}

func SegmentSums(dst []float64, dstStride int, data []float64, stride, cols int, offsets []int32) {
	segmentSumsGeneric(dst, dstStride, data, stride, cols, offsets)
}

func DeviceBound(column []float64, rows []uint64) float64 { return deviceBoundGeneric(column, rows) }

func SumWhole([]float64) (sum float64, exact bool) { return 0, false }
