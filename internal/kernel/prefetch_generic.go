package kernel

import "unsafe"

// PrefetchLines is the number of cache lines that [Prefetch] asks for.
const PrefetchLines = 8

// Prefetch asks for the cache lines that hold what the pointers point to, where
// the CPU can, and doesn't wait for them. It reads nothing and cannot fault: a
// pointer may be nil, and what it points to may be changed by others meanwhile. It
// makes all waits one where an operation needs lines that are in no cache, and
// where one of them would tell where the next is.
func Prefetch(at *[PrefetchLines]unsafe.Pointer) {
	prefetch((*uintptr)(unsafe.Pointer(at)))
}

// prefetchGeneric does nothing, of which the result is the same.
func prefetchGeneric(*uintptr) {}
