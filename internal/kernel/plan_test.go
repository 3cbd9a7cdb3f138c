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
	old, oldPairs := active, pairsByAVX2
	defer func() { active, pairsByAVX2 = old, oldPairs }()
	for _, test := range []struct {
		active            Impl
		pairsByAVX2       bool
		rows, cols, size  int
		want              Impl
		wantWords, wantWd int
	}{
		{AVX512, false, 64, 8, 8, AVX512, 1, 8},       // one call
		{AVX512, false, 5056, 8, 8, AVX512, 40, 8},    // every column a stream
		{AVX512, false, 128, 5000, 8, AVX512, 1, 320}, // too wide for a call
		{AVX512, false, 131_008, 8, 8, AVX512, 40, 8}, // just below 8 MiB
		{AVX512, false, 131_072, 8, 8, AVX2, 160, 2},  // 8 MiB
		{AVX512, false, 131_072, 8, 4, AVX512, 80, 8}, // float32s
		{AVX512, false, 1_000_000, 8, 4, AVX2, 320, 2},
		{AVX512, false, 1_000_000, 8, 16, AVX2, 160, 1},  // two matrices
		{AVX512, false, 1_000_000, 1, 8, AVX512, 320, 1}, // 8 MB: below 8 MiB
		{AVX512, false, 1_100_000, 1, 8, AVX2, 320, 1},
		{AVX2, false, 5056, 8, 8, AVX2, 160, 2},
		{AVX2, false, 5056, 8, 16, AVX2, 160, 1},
		{AVX2, false, 64, 8, 8, AVX2, 1, 8},
		{AVX2, false, 1_000_000, 1, 8, AVX2, 320, 1},
		{AVX512, false, 64, 8, 16, AVX512, 1, 8}, // two matrices, cached
		{AVX512, false, 5056, 8, 16, AVX512, 20, 8},
		{AVX512, true, 64, 8, 16, AVX2, 1, 8},
		{AVX512, true, 5056, 8, 16, AVX2, 160, 1},
		{AVX512, true, 1_000_000, 8, 16, AVX2, 160, 1},
		{AVX512, true, 5056, 8, 8, AVX512, 40, 8}, // one matrix
		{AVX2, true, 5056, 8, 16, AVX2, 160, 1},
	} {
		active, pairsByAVX2 = test.active, test.pairsByAVX2
		words := (test.rows + Block - 1) / Block
		impl, w, width := plan(words, test.cols, test.size)
		if impl != test.want || w != test.wantWords || width != test.wantWd {
			t.Errorf("%v, pairs by AVX2 %v, %d rows, %d columns of %d bytes: got %v, %d words, %d columns, want %v, %d, %d",
				test.active, test.pairsByAVX2, test.rows, test.cols, test.size, impl, w, width, test.want, test.wantWords, test.wantWd)
		}
	}
}

// TestIsZen5 lists signatures of CPUs, as CPUID says them.
func TestIsZen5(t *testing.T) {
	for _, test := range []struct {
		name, vendor string
		signature    uint32
		want         bool
	}{
		{"Turin, Zen 5", "AuthenticAMD", 0x00b00f21, true},
		{"Turin Dense, Zen 5c", "AuthenticAMD", 0x00b10f10, true},
		{"Granite Ridge, Zen 5", "AuthenticAMD", 0x00b40f40, true},
		{"Genoa, Zen 4", "AuthenticAMD", 0x00a10f11, false},
		{"Milan, Zen 3", "AuthenticAMD", 0x00a00f11, false},
		{"Rome, Zen 2", "AuthenticAMD", 0x00830f10, false},
		{"Sapphire Rapids", "GenuineIntel", 0x000806f8, false},
		{"Granite Rapids", "GenuineIntel", 0x000a06d1, false},
		{"another vendor of that family", "GenuineIntel", 0x00b00f21, false},
		{"nothing", "", 0, false},
	} {
		if got := isZen5(test.vendor, test.signature); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
	name, signature := vendor()
	if len(name) != 12 || signature == 0 || pairsByAVX2 != isZen5(name, signature) {
		t.Errorf("vendor %q, signature %#x, pairs by AVX2 %v", name, signature, pairsByAVX2)
	}
	t.Logf("vendor %s, signature %#x, pairs by AVX2 %v", name, signature, pairsByAVX2)
}
