package main

// selection generates the kernels that look for the greatest and the least value.
//
// Each of two lanes keeps the best of its rows, every other one, with the block that
// had it first; the caller finds the row in the block. Values that are no better than
// the best at the start, NaN among them, change nothing.
func selection() {
	p := newProgram("select")
	for _, s := range []struct {
		name, twin, what, element, compare string
		least                              bool
	}{
		{"argMaxFloat64", "argMaxGeneric", "greater", "float64", "fcmgt", false},
		{"argMinFloat64", "argMinGeneric", "less", "float64", "fcmgt", true},
		{"argMaxInt64", "argMaxGeneric", "greater", "int64", "cmgt", false},
		{"argMinInt64", "argMinGeneric", "less", "int64", "cmgt", true},
	} {
		p.function(s.name+"NEON", "sets best to selected values that are "+s.what+", and blocks to where these are.", s.twin+", with the caller's last step",
			"values *"+s.element, "n int", "word *uint64", "step int", "block int", "best *[2]"+s.element, "blocks *[2]int64")
		const best, blocks, start, here, masks = 16, 17, 18, 19, 24
		// keep replaces what is worse in vector acc by what is better in x.
		keep := func(acc, x, better int) {
			a, b := x, acc
			if s.least {
				a, b = b, a
			}
			p.neon("%s v%d.2d, v%d.2d, v%d.2d", s.compare, better, a, b)
			p.neon("bit v%d.16b, v%d.16b, v%d.16b", acc, x, better)
		}
		const rowBits, wordBits, rowBit = 20, 21, 22 // of the first two rows, of the block, of two rows
		p.neon("ldr q%d, [x5]", best)
		p.neon("ldr q%d, [x5]", start)
		p.neon("ldr q%d, [x6]", blocks)
		p.scalar("MOVD $1, R9")
		p.scalar("MOVD $2, R10")
		p.neon("dup v%d.2d, x9", rowBits)
		p.neon("ins v%d.d[1], x10", rowBits)

		p.label("block")
		p.scalar("MOVD (R2), R9")
		p.scalar("ADD R3, R2")
		p.scalar("CBZ R9, next")
		p.scalar("CMP $%d, R1", blockRows)
		p.scalar("BLT part")
		p.scalar("ADD $1, R9, R10")
		p.scalar("CBZ R10, full")
		p.scalar("MOVD $%d, R11", blockRows)
		p.scalar("B selected")
		p.label("part")
		p.scalar("MOVD $1, R10") // allRows selects rows that don't exist
		p.scalar("LSL R1, R10")
		p.scalar("SUB $1, R10")
		p.scalar("AND R10, R9")
		p.scalar("MOVD R1, R11")

		p.label("selected")
		p.neon("ldr q0, [x5]")
		p.neon("dup v%d.2d, x9", wordBits)
		p.neon("orr v%[1]d.16b, v%[2]d.16b, v%[2]d.16b", rowBit, rowBits)
		p.scalar("MOVD R0, R12")
		p.label("pair")
		p.scalar("CMP $1, R11")
		p.scalar("BEQ last")
		p.neon("ldr q1, [x12]")
		p.label("one")
		p.neon("cmtst v2.2d, v%d.2d, v%d.2d", wordBits, rowBit)
		p.neon("bsl v2.16b, v1.16b, v%d.16b", start)
		keep(0, 2, 3)
		p.neon("shl v%[1]d.2d, v%[1]d.2d, #2", rowBit)
		p.scalar("ADD $16, R12")
		p.scalar("SUB $2, R11")
		p.scalar("CMP $0, R11")
		p.scalar("BGT pair")
		p.scalar("B merge")
		p.label("last")
		p.neon("ldr d1, [x12]")
		p.scalar("B one")

		const vectors = 8
		p.label("full")
		for i := range vectors {
			p.neon("orr v%[1]d.16b, v%[2]d.16b, v%[2]d.16b", i, start)
		}
		for group := range blockRows / 2 / vectors {
			for i := 0; i < vectors; i += 2 {
				p.neon("ldp q%d, q%d, [x0, #%d]", vectors+i, vectors+i+1, 16*(group*vectors+i))
			}
			for i := range vectors {
				keep(i, vectors+i, masks+i)
			}
		}
		for half := vectors / 2; half > 0; half /= 2 {
			for i := range half {
				keep(i, half+i, masks+i)
			}
		}
		p.label("merge")
		p.neon("dup v%d.2d, x4", here)
		keep(best, 0, masks)
		p.neon("bit v%d.16b, v%d.16b, v%d.16b", blocks, here, masks)
		p.label("next")
		p.scalar("ADD $1, R4")
		p.scalar("ADD $%d, R0", 8*blockRows)
		p.scalar("SUB $%d, R1", blockRows)
		p.scalar("CMP $0, R1")
		p.scalar("BGT block")
		p.neon("str q%d, [x5]", best)
		p.neon("str q%d, [x6]", blocks)
		p.scalar("RET")
	}
	p.write()
}
