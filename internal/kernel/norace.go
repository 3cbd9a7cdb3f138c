//go:build (amd64 || arm64) && !purego && !race

package kernel

// Without the race detector there is nothing to report; see race.go.

func raceRead[T any]([]T)                        {}
func raceWrite[T any]([]T)                       {}
func raceColumns[T any]([]T, int, []int32, int)  {}
func raceFirstColumns[T any]([]T, int, int, int) {}
