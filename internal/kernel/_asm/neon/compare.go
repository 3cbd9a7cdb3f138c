package main

import "fmt"

// element is the type of the numbers of a matrix.
type element struct {
	name  string
	shape string // of a vector
	size  int    // bytes
	lanes int
}

var (
	double = element{"float64", "2d", 8, 2}
	single = element{"float32", "4s", 4, 4}
)

// blockRows is the number of rows of a mask word.
const blockRows = 64

// v returns the name of a vector of these elements.
func (e element) v(number int) string { return fmt.Sprintf("v%d.%s", number, e.shape) }

// A comparison is a compare kernel.
type comparison struct {
	name, doc string
	element
	matrices int  // that it reads
	listed   bool // the columns, with a limit each
	// verdict sets vector x, an element of the first matrix, to all ones where the
	// row passes, and to zeros elsewhere; y is of the second matrix, or the limit.
	verdict func(p *program, x, y int)
}

var comparisons = []comparison{
	{"andGE", "a value below its column's limit", double, 1, true, func(p *program, x, y int) {
		p.neon("fcmge v%d.2d, v%d.2d, v%d.2d", x, x, y)
	}},
	{"andGE32", "a value below its column's limit", single, 1, true, func(p *program, x, y int) {
		p.neon("fcmge v%d.4s, v%d.4s, v%d.4s", x, x, y)
	}},
	{"andLE", "a value above its column's limit", double, 1, true, func(p *program, x, y int) {
		p.neon("fcmge v%d.2d, v%d.2d, v%d.2d", x, y, x)
	}},
	{"andSumGE", "a sum below its column's limit", double, 2, true, func(p *program, x, y int) {
		p.neon("fadd v%d.2d, v%d.2d, v%d.2d", x, x, y)
		p.neon("fcmge v%d.2d, v%d.2d, v%d.2d", x, x, limit)
	}},
	{"andRowsLE", "a value of a above b", double, 2, false, func(p *program, x, y int) {
		p.neon("fcmge v%d.2d, v%d.2d, v%d.2d", x, y, x)
	}},
	{"andRowsFit", "a positive value of a above b", double, 2, false, func(p *program, x, y int) {
		p.neon("fcmge v%d.2d, v%d.2d, v%d.2d", y, y, x)
		p.neon("fcmle v%d.2d, v%d.2d, #0.0", x, x)
		p.neon("orr v%d.16b, v%d.16b, v%d.16b", x, x, y)
	}},
}

// limit is the vector with the limit of a column, bits the vector with the bits of rows.
const (
	limit = 24
	bits  = 25
)

// compare generates the compare kernels.
//
// Each takes a word of the mask and all of the columns, 16 rows at a time: it compares
// them, narrows the verdicts, one lane each, to bytes, and keeps of the byte of row r
// the bit r%8. Sums of neighbours then make 64 bytes one word.
func compare() {
	p := newProgram("compare")
	for _, k := range comparisons {
		k.generate(p)
	}
	p.write()
}

func (k comparison) generate(p *program) {
	parameters := []string{"dst *uint64", "words int"}
	switch {
	case k.matrices == 2:
		parameters = append(parameters, "a *float64", "aStride int", "b *float64", "bStride int")
	case k.element == single:
		parameters = append(parameters, "codes *float32", "stride int")
	default:
		parameters = append(parameters, "data *float64", "stride int")
	}
	if k.listed {
		parameters = append(parameters, "cols *int32", "vals *"+k.element.name)
	}
	twin := k.name + "Generic"
	if k.element == single {
		twin = "andGEGeneric"
	}
	p.function(k.name+"NEON", "clears the bits of the rows that have "+k.doc+".", twin, append(parameters, "n int")...)
	n := len(parameters) // its register
	data, strides := []int{2, 4}[:k.matrices], []int{3, 5}[:k.matrices]
	const word, column, value, left, verdict = 9, 10, 11, 12, 13
	at := []int{14, 15}[:k.matrices]
	for _, r := range strides {
		p.scalar("LSL $%d, R%d", log2(k.size), r)
	}
	p.scalar("MOVD $0x8040201008040201, R%d", verdict)
	p.neon("dup v%d.2d, x%d", bits, verdict)

	p.label("word")
	p.scalar("MOVD (R0), R%d", word)
	p.scalar("CBZ R%d, next", word)
	p.scalar("MOVD R%d, R%d", n, left)
	if k.listed {
		p.scalar("MOVD R%d, R%d", n-2, column)
		p.scalar("MOVD R%d, R%d", n-1, value)
	} else {
		for i := range at {
			p.scalar("MOVD R%d, R%d", data[i], at[i])
		}
	}
	p.label("column")
	if k.listed {
		p.scalar("MOVW.P 4(R%d), R%d", column, verdict)
		for i := range at {
			p.scalar("MUL R%d, R%d, R%d", strides[i], verdict, at[i])
			p.scalar("ADD R%d, R%d", data[i], at[i])
		}
		p.neon("ld1r {%s}, [x%d]", k.v(limit), value)
		p.scalar("ADD $%d, R%d", k.size, value)
	}
	const group, parts = 16, 16 // rows that become a vector, and the first of these vectors
	for g := range blockRows / group {
		vectors := group / k.lanes
		for i := 0; i < vectors; i += 2 {
			for m := range at {
				p.neon("ldp q%d, q%d, [x%d, #%d]", 8*m+i, 8*m+i+1, at[m], g*group*k.size+16*i)
			}
		}
		for i := range vectors {
			y := limit
			if k.matrices == 2 {
				y = 8 + i
			}
			k.verdict(p, i, y)
		}
		for ; vectors > 1; vectors /= 2 {
			shape := map[int]string{8: "4s", 4: "8h", 2: "16b"}[vectors]
			for i := range vectors / 2 {
				p.neon("uzp1 v%[1]d.%[4]s, v%[2]d.%[4]s, v%[3]d.%[4]s", i, 2*i, 2*i+1, shape)
			}
		}
		p.neon("and v%d.16b, v0.16b, v%d.16b", parts+g, bits)
	}
	for _, sum := range [][3]int{{0, 0, 1}, {2, 2, 3}, {0, 0, 2}, {0, 0, 0}} {
		p.neon("addp v%d.16b, v%d.16b, v%d.16b", parts+sum[0], parts+sum[1], parts+sum[2])
	}
	p.neon("umov x%d, v%d.d[0]", verdict, parts)
	p.scalar("AND R%d, R%d", verdict, word)
	p.scalar("CBZ R%d, store", word)
	if !k.listed {
		for i := range at {
			p.scalar("ADD R%d, R%d", strides[i], at[i])
		}
	}
	p.scalar("SUB $1, R%d", left)
	p.scalar("CBNZ R%d, column", left)
	p.label("store")
	p.scalar("MOVD R%d, (R0)", word)
	p.label("next")
	p.scalar("ADD $8, R0")
	for _, r := range data {
		p.scalar("ADD $%d, R%d", blockRows*k.size, r)
	}
	p.scalar("SUB $1, R1")
	p.scalar("CBNZ R1, word")
	p.scalar("RET")
}

// log2 returns the exponent of a power of two.
func log2(n int) (exponent int) {
	for ; n > 1; n /= 2 {
		exponent++
	}
	return exponent
}
