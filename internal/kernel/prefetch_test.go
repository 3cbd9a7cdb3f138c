package kernel_test

import (
	"testing"
	"unsafe"

	"github.com/resvec/resvec/internal/kernel"
	"github.com/resvec/resvec/internal/testkit"
)

// Nothing is read or changed: nil and what ends at a page that isn't there are fine.
func TestPrefetch(t *testing.T) {
	last := testkit.Guarded[int64](t, 1)
	beyond := unsafe.Add(unsafe.Pointer(&last[0]), 8)
	last[0] = 5
	testkit.EachImpl(t, func(t *testing.T) {
		kernel.Prefetch(&[kernel.PrefetchLines]unsafe.Pointer{})
		kernel.Prefetch(&[kernel.PrefetchLines]unsafe.Pointer{unsafe.Pointer(&last[0]), nil, 7: beyond})
	})
	if last[0] != 5 {
		t.Error(last)
	}
}
