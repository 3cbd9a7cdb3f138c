//go:build arm64 && !purego

package kernel_test

import (
	"os"
	"slices"
	"testing"

	"github.com/resvec/resvec/internal/kernel"
)

// TestAvailableNEON checks that NEON is used, so that no test skips it without a word,
// unless GODEBUG turns it off.
func TestAvailableNEON(t *testing.T) {
	const off = "cpu.asimd=off"
	switch os.Getenv("GODEBUG") {
	case "":
		if kernel.Active() != kernel.NEON {
			t.Errorf("active is %v", kernel.Active())
		}
	case off:
		if got := kernel.Available(); !slices.Equal(got, []kernel.Impl{kernel.Generic}) {
			t.Errorf("GODEBUG=%s: %v available", off, got)
		}
	default:
		t.Skip("GODEBUG is set")
	}
}
