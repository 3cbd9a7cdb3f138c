//go:build amd64 && !purego

package kernel

import (
	"testing"
	"unsafe"
)

// TestDeviceLayout pins what the assembly knows of entries.
func TestDeviceLayout(t *testing.T) {
	var e DeviceEntry
	for _, test := range []struct {
		name      string
		got, want uintptr
	}{
		{"Total", unsafe.Offsetof(e.Total), 0},
		{"Free", unsafe.Offsetof(e.Free), 24},
		{"Other", unsafe.Offsetof(e.Other), 48},
		{"Request", unsafe.Offsetof(e.Request), 72},
		{"Weight", unsafe.Offsetof(e.Weight), 80},
		{"size", unsafe.Sizeof(e), 88},
	} {
		if test.got != test.want {
			t.Errorf("%s at %d, want %d", test.name, test.got, test.want)
		}
	}
}
