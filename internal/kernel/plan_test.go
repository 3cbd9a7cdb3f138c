//go:build amd64 && !purego

package kernel

import "testing"

// TestPlan bounds what one call into assembly reads or divides, for any number
// of rows and columns.
func TestPlan(t *testing.T) {
	old := active
	defer func() { active = old }()
	for _, impl := range []Impl{AVX2, AVX512} {
		active = impl
		for _, words := range []int{1, 2, 3, 78, 320, 1563, 15625} {
			for cols := 1; cols <= 20_000; cols++ {
				for _, size := range []int{4, 8, 16} {
					_, w, width := plan(words, cols, size)
					if bytes := w * width * size * Block; w < 1 || width < 1 || width > cols || bytes > 160<<10 {
						t.Fatalf("%v, %d words, %d columns of %d bytes: %d words, %d columns, %d bytes a call", impl, words, cols, size, w, width, bytes)
					}
				}
			}
		}
	}
	for cols := range mostColumns + 1 {
		if rows := chunkRows(cols); rows < Block || rows%Block != 0 || rows*cols*16 > 256<<10 {
			t.Errorf("%d columns: %d rows a call", cols, rows)
		}
	}
}

// TestPlanFar lists which code a pass gets.
func TestPlanFar(t *testing.T) {
	old := active
	defer func() { active = old }()
	for _, test := range []struct {
		active            Impl
		rows, cols, size  int
		want              Impl
		wantWords, wantWd int
	}{
		{AVX512, 64, 8, 8, AVX512, 1, 8},       // one call
		{AVX512, 5056, 8, 8, AVX512, 40, 8},    // every column a stream
		{AVX512, 128, 5000, 8, AVX512, 1, 320}, // too wide for a call
		{AVX512, 131_008, 8, 8, AVX512, 40, 8}, // just below 8 MiB
		{AVX512, 131_072, 8, 8, AVX2, 160, 2},  // 8 MiB
		{AVX512, 131_072, 8, 4, AVX512, 80, 8}, // float32s
		{AVX512, 1_000_000, 8, 4, AVX2, 320, 2},
		{AVX512, 1_000_000, 8, 16, AVX2, 160, 1},  // two matrices
		{AVX512, 1_000_000, 1, 8, AVX512, 320, 1}, // 8 MB: below 8 MiB
		{AVX512, 1_100_000, 1, 8, AVX2, 320, 1},
		{AVX2, 5056, 8, 8, AVX2, 160, 2},
		{AVX2, 5056, 8, 16, AVX2, 160, 1},
		{AVX2, 64, 8, 8, AVX2, 1, 8},
		{AVX2, 1_000_000, 1, 8, AVX2, 320, 1},
	} {
		active = test.active
		words := (test.rows + Block - 1) / Block
		impl, w, width := plan(words, test.cols, test.size)
		if impl != test.want || w != test.wantWords || width != test.wantWd {
			t.Errorf("%v, %d rows, %d columns of %d bytes: got %v, %d words, %d columns, want %v, %d, %d",
				test.active, test.rows, test.cols, test.size, impl, w, width, test.want, test.wantWords, test.wantWd)
		}
	}
}
