//go:build !unix

package testkit

import (
	"testing"
	"unsafe"
)

const border = 4096

// pages rounds size up to whole pages.
func pages(size int) int { return (size + border - 1) / border * border }

// guarded returns pages(size) zero bytes that start on a page border inside a
// plain allocation, and where they start. Nothing faults around them.
func guarded(_ testing.TB, size int) (room []byte, at int) {
	room = make([]byte, pages(size)+2*border)
	return room, int(-uintptr(unsafe.Pointer(&room[0])) % border)
}
