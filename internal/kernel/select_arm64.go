//go:build arm64 && !purego

package kernel

func firstBest[T Number](values []T, rows []uint64, greatest bool) int {
	return firstBestGeneric(values, rows, greatest)
}
