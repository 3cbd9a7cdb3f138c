//go:build arm64 && !purego

package kernel

import "testing"

// TestPlan bounds what one call into assembly reads, for any number of columns.
func TestPlan(t *testing.T) {
	for cols := 1; cols <= 20_000; cols++ {
		for _, size := range []int{4, 8, 16} {
			words, width := plan(cols, size)
			if bytes := words * width * size * Block; words < 1 || width < 1 || width > cols || bytes > 160<<10 {
				t.Fatalf("%d columns of %d bytes: %d words, %d columns, %d bytes a call", cols, size, words, width, bytes)
			}
		}
	}
}
