//go:build unix

package testkit

import (
	"testing"

	"golang.org/x/sys/unix"
)

// pages rounds size up to whole pages.
func pages(size int) int {
	page := unix.Getpagesize()
	return (size + page - 1) / page * page
}

// guarded maps pages(size) zero bytes between two pages that fault and returns
// the whole mapping and where the usable bytes start.
func guarded(t testing.TB, size int) (room []byte, at int) {
	t.Helper()
	page, usable := unix.Getpagesize(), pages(size)
	room, err := unix.Mmap(-1, 0, usable+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatalf("mmap: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(room); err != nil {
			t.Errorf("munmap: %v", err)
		}
	})
	for _, guard := range [][]byte{room[:page], room[page+usable:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatalf("mprotect: %v", err)
		}
	}
	return room, page
}
