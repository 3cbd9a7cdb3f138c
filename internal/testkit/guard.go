package testkit

import (
	"testing"
	"unsafe"
)

// Plain is an element type of guarded buffers: fixed size, no pointers.
type Plain interface {
	~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Guarded returns n zero elements that end exactly at a page that faults when
// it is read or written, so an access beyond the end crashes the test. Every
// suffix of the result, buf[len(buf)-k:], has the same property, which lets a
// test of many lengths share one buffer. The memory is not Go's and goes away
// when the test ends. Where pages can't be protected it is a plain allocation.
func Guarded[T Plain](t testing.TB, n int) []T {
	t.Helper()
	var zero T
	size := n * int(unsafe.Sizeof(zero))
	room, at := guarded(t, size)
	return unsafe.Slice((*T)(unsafe.Pointer(&room[at+pages(size)-size])), n)
}

// GuardedFront returns n zero elements that start right after a page that
// faults, so an access before the start crashes the test. Otherwise it is like
// Guarded, with prefixes in the place of suffixes.
func GuardedFront[T Plain](t testing.TB, n int) []T {
	t.Helper()
	var zero T
	room, at := guarded(t, n*int(unsafe.Sizeof(zero)))
	return unsafe.Slice((*T)(unsafe.Pointer(&room[at])), n)
}

// GuardedMatrix returns the zero elements of a column-major matrix whose last
// column ends exactly at a page that faults. stride is a multiple of 64, so
// the columns start on 64-byte borders.
func GuardedMatrix(t testing.TB, stride, cols int) []float64 {
	t.Helper()
	checkStride(stride)
	return Guarded[float64](t, stride*cols)
}

// GuardedMatrixFront is GuardedMatrix with the page that faults before the
// first column.
func GuardedMatrixFront(t testing.TB, stride, cols int) []float64 {
	t.Helper()
	checkStride(stride)
	return GuardedFront[float64](t, stride*cols)
}

func checkStride(stride int) {
	if stride%64 != 0 {
		panic("testkit: stride is not a multiple of 64")
	}
}

// Matrix returns the zero elements of a column-major matrix in plain memory,
// starting on a 64-byte border. stride is a multiple of 64.
func Matrix(stride, cols int) []float64 { return matrix[float64](stride, cols) }

// Matrix32 is Matrix for float32 elements.
func Matrix32(stride, cols int) []float32 { return matrix[float32](stride, cols) }

func matrix[F float32 | float64](stride, cols int) []F {
	checkStride(stride)
	n, size := stride*cols, int(unsafe.Sizeof(F(0)))
	room := make([]F, n+64/size)
	skip := int(-uintptr(unsafe.Pointer(&room[0]))%64) / size
	return room[skip:][:n:n]
}
