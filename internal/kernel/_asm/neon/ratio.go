package main

// ratio generates the ratio kernels whose totals all rows share.
//
// Every function keeps the results of 16 rows in registers while it walks the columns,
// then of two rows at a time, and of the last one. Columns are read in whole vectors,
// which stay inside a block of 64 rows.
func ratio() {
	p := newProgram("ratio")
	for _, f := range folds {
		for _, tame := range []bool{true, false} {
			f.generate(p, tame)
		}
	}
	weighted.generate(p, false)
	p.write()
}

// A fold is what becomes of the quotients of a row.
type fold struct {
	name, what string
	element    string // of dst
	infinite   bool   // starts from +Inf, not 0
	add        string // the instruction that folds one in
	weighted   bool   // products, not quotients
	finish     func(p *program, acc int)
}

var folds = []fold{
	{name: "normalizedSum", what: "the sum of", element: "float64", add: "fadd"},
	// A quotient is a quiet NaN or none, so that a number wins.
	{name: "dominantShare", what: "the greatest of 0 and", element: "float64", add: "fmaxnm"},
	// A NaN stays one. Of a NaN and 0 the maximum is 0; the conversion saturates.
	{name: "copies", what: "the least floor of", element: "int64", infinite: true, add: "fmin", finish: func(p *program, acc int) {
		p.neon("fmaxnm v%[1]d.2d, v%[1]d.2d, v%[2]d.2d", acc, zero)
		p.neon("fcvtzs v%[1]d.2d, v%[1]d.2d", acc)
	}},
}

var weighted = fold{name: "weightedSum", what: "the sum of", element: "float64", add: "fadd", weighted: true}

// Vectors: amounts from 0 on, quotients from 8 on, results from 16 on, and what all
// rows share.
const (
	quotients  = 8
	results    = 16
	total      = 24
	reciprocal = 25
	zero       = 26
)

func (f fold) generate(p *program, tame bool) {
	name, doc, parameter := f.name, f.what+" data/total", "total *float64"
	switch {
	case tame:
		name, doc, parameter = name+"Tame", doc+", for tame numbers", "total *[2]float64"
	case f.weighted:
		doc, parameter = f.what+" data*weights", "weights *float64"
	}
	p.function(name+"NEON", "is "+doc+".", f.name+"Generic",
		"dst *"+f.element, "rows int", "data *float64", "stride int", "cols *int32", parameter, "n int")
	const dst, rows, data, stride, cols, numbers, n = 0, 1, 2, 3, 4, 5, 6
	const column, number, left, at = 9, 10, 11, 12
	p.scalar("LSL $3, R%d", stride)
	p.neon("movi v%d.2d, #0", zero)
	if f.infinite {
		p.scalar("MOVD $0x7FF0000000000000, R13")
	}
	// columns emits the walk over the columns for some vectors of rows.
	columns := func(label string, vectors int) {
		for i := range vectors {
			if f.infinite {
				p.neon("dup v%d.2d, x13", results+i)
			} else {
				p.neon("movi v%d.2d, #0", results+i)
			}
		}
		p.scalar("MOVD R%d, R%d", cols, column)
		p.scalar("MOVD R%d, R%d", numbers, number)
		p.scalar("MOVD R%d, R%d", n, left)
		p.scalar("CBZ R%d, %s_done", left, label)
		p.label(label + "_column")
		p.scalar("MOVW.P 4(R%d), R%d", column, at)
		p.scalar("MUL R%d, R%d, R%d", stride, at, at)
		p.scalar("ADD R%d, R%d", data, at)
		p.neon("ld1r {v%d.2d}, [x%d]", total, number)
		p.scalar("ADD $8, R%d", number)
		if tame {
			p.neon("ld1r {v%d.2d}, [x%d]", reciprocal, number)
			p.scalar("ADD $8, R%d", number)
		}
		if vectors == 1 {
			p.neon("ldr q0, [x%d]", at)
		}
		for i := 0; i+1 < vectors; i += 2 {
			p.neon("ldp q%d, q%d, [x%d, #%d]", i, i+1, at, 16*i)
		}
		each := func(f string) { // arguments: amount, quotient, result
			for i := range vectors {
				p.neon(f, i, quotients+i, results+i)
			}
		}
		switch {
		case tame: // the IEEE quotient for tame numbers; docs/proofs.md has the proof
			each("fmul v%[2]d.2d, v%[1]d.2d, v25.2d")
			each("fmls v%[1]d.2d, v%[2]d.2d, v24.2d") // the amount less total*quotient
			each("fmla v%[2]d.2d, v%[1]d.2d, v25.2d")
		case f.weighted:
			each("fmul v%[2]d.2d, v%[1]d.2d, v24.2d")
		default:
			each("fdiv v%[2]d.2d, v%[1]d.2d, v24.2d")
		}
		each(f.add + " v%[3]d.2d, v%[3]d.2d, v%[2]d.2d")
		p.scalar("SUB $1, R%d", left)
		p.scalar("CBNZ R%d, %s_column", left, label)
		p.label(label + "_done")
		if f.finish != nil {
			for i := range vectors {
				f.finish(p, results+i)
			}
		}
	}
	const vectors = 8
	p.label("many")
	p.scalar("CMP $%d, R%d", 2*vectors, rows)
	p.scalar("BLT few")
	columns("many", vectors)
	for i := 0; i < vectors; i += 2 {
		p.neon("stp q%d, q%d, [x%d, #%d]", results+i, results+i+1, dst, 16*i)
	}
	p.scalar("ADD $%d, R%d", 16*vectors, dst)
	p.scalar("ADD $%d, R%d", 16*vectors, data)
	p.scalar("SUB $%d, R%d", 2*vectors, rows)
	p.scalar("B many")
	p.label("few")
	p.scalar("CBZ R%d, end", rows)
	columns("few", 1)
	p.scalar("CMP $1, R%d", rows)
	p.scalar("BEQ last")
	p.neon("str q%d, [x%d]", results, dst)
	p.scalar("ADD $16, R%d", dst)
	p.scalar("ADD $16, R%d", data)
	p.scalar("SUB $2, R%d", rows)
	p.scalar("B few")
	p.label("last")
	p.neon("str d%d, [x%d]", results, dst)
	p.label("end")
	p.scalar("RET")
}
