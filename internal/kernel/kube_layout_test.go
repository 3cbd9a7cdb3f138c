//go:build amd64 && !purego

package kernel

import (
	"testing"
	"unsafe"
)

// TestKubeLayout pins what the assembly knows of entries.
func TestKubeLayout(t *testing.T) {
	var e KubeEntry
	for _, test := range []struct {
		name      string
		got, want uintptr
	}{
		{"Used", unsafe.Offsetof(e.Used), 0},
		{"Allocatable", unsafe.Offsetof(e.Allocatable), 24},
		{"Weight", unsafe.Offsetof(e.Weight), 56},
		{"Scale", unsafe.Offsetof(e.Scale), 64},
		{"Lane", unsafe.Offsetof(e.Lane), 72},
		{"Lane100", unsafe.Offsetof(e.Lane100), 80},
		{"size", unsafe.Sizeof(e), 88},
	} {
		if test.got != test.want {
			t.Errorf("%s at %d, want %d", test.name, test.got, test.want)
		}
	}
}
