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
		{"Reciprocals", unsafe.Offsetof(e.Reciprocals), 48},
		{"Weight", unsafe.Offsetof(e.Weight), 80},
		{"Scale", unsafe.Offsetof(e.Scale), 88},
		{"lane", unsafe.Offsetof(e.Lane), 96},
		{"lane100", unsafe.Offsetof(e.Lane100), 104},
		{"lane52", unsafe.Offsetof(e.Lane52), 112},
		{"whole", unsafe.Offsetof(e.Whole), 120},
		{"size", unsafe.Sizeof(e), 128},
	} {
		if test.got != test.want {
			t.Errorf("%s at %d, want %d", test.name, test.got, test.want)
		}
	}
}
