package main

import "testing"

// encodings has every instruction once, as the assembler of LLVM encodes it.
var encodings = []struct {
	text string
	word uint32
}{
	{"add v31.2d, v5.2d, v17.2d", 0x4EF184BF},
	{"addp v31.16b, v5.16b, v17.16b", 0x4E31BCBF},
	{"and v31.16b, v5.16b, v17.16b", 0x4E311CBF},
	{"bit v31.16b, v5.16b, v17.16b", 0x6EB11CBF},
	{"bsl v31.16b, v5.16b, v17.16b", 0x6E711CBF},
	{"cmgt v31.2d, v5.2d, v17.2d", 0x4EF134BF},
	{"cmtst v31.2d, v5.2d, v17.2d", 0x4EF18CBF},
	{"fadd v31.2d, v5.2d, v17.2d", 0x4E71D4BF},
	{"fcmge v31.2d, v5.2d, v17.2d", 0x6E71E4BF},
	{"fcmge v31.4s, v5.4s, v17.4s", 0x6E31E4BF},
	{"fcmgt v31.2d, v5.2d, v17.2d", 0x6EF1E4BF},
	{"fdiv v31.2d, v5.2d, v17.2d", 0x6E71FCBF},
	{"fmaxnm v31.2d, v5.2d, v17.2d", 0x4E71C4BF},
	{"fmin v31.2d, v5.2d, v17.2d", 0x4EF1F4BF},
	{"fmla v31.2d, v5.2d, v17.2d", 0x4E71CCBF},
	{"fmls v31.2d, v5.2d, v17.2d", 0x4EF1CCBF},
	{"fmul v31.2d, v5.2d, v17.2d", 0x6E71DCBF},
	{"orr v31.16b, v5.16b, v17.16b", 0x4EB11CBF},
	{"uzp1 v31.16b, v5.16b, v17.16b", 0x4E1118BF},
	{"uzp1 v31.8h, v5.8h, v17.8h", 0x4E5118BF},
	{"uzp1 v31.4s, v5.4s, v17.4s", 0x4E9118BF},
	{"fcmle v31.2d, v5.2d, #0.0", 0x6EE0D8BF},
	{"fcvtzs v31.2d, v5.2d", 0x4EE1B8BF},
	{"dup v31.2d, x5", 0x4E080CBF},
	{"ins v31.d[1], x5", 0x4E181CBF},
	{"umov x12, v5.d[0]", 0x4E083CAC},
	{"movi v31.2d, #0", 0x6F00E41F},
	{"shl v31.2d, v5.2d, #63", 0x4F7F54BF},
	{"ld1r {v31.2d}, [x11]", 0x4D40CD7F},
	{"ld1r {v31.4s}, [x11]", 0x4D40C97F},
	{"ldr q31, [x11, #4080]", 0x3DC3FD7F},
	{"str q31, [x11, #4080]", 0x3D83FD7F},
	{"ldr d31, [x11, #4080]", 0xFD47F97F},
	{"str d31, [x11, #4080]", 0xFD07F97F},
	{"ldp q30, q9, [x11, #1008]", 0xAD5FA57E},
	{"stp q30, q9, [x11, #992]", 0xAD1F257E},
}

func TestEncode(t *testing.T) {
	if len(encodings) != len(words) {
		t.Errorf("%d instructions, %d of them tested", len(words), len(encodings))
	}
	for _, e := range encodings {
		if word, err := encode(e.text); err != nil || word != e.word {
			t.Errorf("%s: %#x, %v, want %#x", e.text, word, err, e.word)
		}
	}
}

// TestEncodeRefuses: what can't be encoded is an error, and no other instruction.
func TestEncodeRefuses(t *testing.T) {
	for _, text := range []string{
		"fadd v0.4s, v0.4s, v0.4s", "fadd v0.2d, v0.2d", "fadd v0.2d, v0.2d, v32.2d", "shl v0.2d, v0.2d, #64",
		"ldr q0, [x1, #8]", "ldr q0, [x1, #65536]", "ldp q0, q1, [x1, #1024]", "ld1r {v0.2d}, [x1, #8]",
		"ldr q0, [x31]", "ldr q0, 8", "fadd", "",
	} {
		if word, err := encode(text); err == nil {
			t.Errorf("%s: %#x", text, word)
		}
	}
}
