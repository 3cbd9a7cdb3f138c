//go:build amd64 && !purego && !race

package kernel

// See race_masked.go.

func raceSelected[T any]([]T, []uint64)            {}
func raceReadSelected[T any]([]T, []uint64)        {}
func raceReadGroups[T any]([]T, []int32, []uint64) {}
