//go:build (amd64 || arm64) && !purego && race

package kernel

import (
	"runtime"
	"unsafe"
)

// The race detector doesn't see into assembly, so the kernels report to it which
// matrices, scores and masks a call reads and writes. Column lists are left
// out: callers make them up for the call.

// raceRead informs the race detector that s is read.
func raceRead[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceReadRange(address(s), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// raceWrite informs the race detector that s is written.
func raceWrite[T any](s []T) {
	if len(s) > 0 {
		runtime.RaceWriteRange(address(s), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// address returns the address of s[0] by a detour that keeps s from escaping:
// the compiler can't know that package runtime drops the pointer.
func address[T any](s []T) unsafe.Pointer {
	p := uintptr(unsafe.Pointer(&s[0]))
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// raceColumns informs the race detector that the first rows rows of the listed
// columns are read.
func raceColumns[T any](data []T, stride int, cols []int32, rows int) {
	for _, c := range cols {
		raceRead(data[int(c)*stride:][:rows])
	}
}

// raceFirstColumns is raceColumns for the first cols columns.
func raceFirstColumns[T any](data []T, stride, cols, rows int) {
	for c := range cols {
		raceRead(data[c*stride:][:rows])
	}
}
