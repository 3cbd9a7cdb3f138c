//go:build unix

package testkit_test

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/resvec/resvec/internal/testkit"
)

// TestGuards touches the first byte on either side of guarded buffers of many
// lengths; the wrong side of each must fault.
func TestGuards(t *testing.T) {
	for _, n := range []int{0, 1, 7, 64, 511, 512, 513, 4096} {
		end := testkit.Guarded[float64](t, n)
		for i := range end {
			end[i] = 1
		}
		if !faults(unsafe.Add(unsafe.Pointer(unsafe.SliceData(end)), 8*n)) {
			t.Errorf("Guarded(%d): no fault behind the end", n)
		}
		front := testkit.GuardedFront[int32](t, n)
		for i := range front {
			front[i] = 1
		}
		if !faults(unsafe.Add(unsafe.Pointer(unsafe.SliceData(front)), -1)) {
			t.Errorf("GuardedFront(%d): no fault before the start", n)
		}
	}
}

// faults reports whether the byte at p can't be read.
func faults(p unsafe.Pointer) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() != nil }()
	sink = *(*byte)(p)
	return
}

var sink byte
