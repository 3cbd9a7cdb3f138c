// Command compare generates the compare kernels of package kernel: functions
// that clear, in a mask, the bits of the rows that fail in some column.
//
// Every function walks the mask and, within one step of it, the columns, with
// the verdict on the step's rows in registers: a mask word is read and written
// once however many columns there are, and a step that is or becomes all zero
// skips the columns that are left.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// The ordered compare predicates: a NaN on either side is false. The
// instructions have the limit, which is the register, on the left.
const (
	lessOrEqual    = U8(0x12) // LE_OQ: limit <= memory
	greaterOrEqual = U8(0x1d) // GE_OQ: limit >= memory
)

// test is what a kernel asks of an element, or of a pair of elements of two
// matrices.
type test struct {
	name, doc string
	matrices  int
	limits    bool // the columns come as a list, with a limit each
	// vector compares one vector: limit is the broadcast limit or, without
	// limits, a zero. verdict holds where "left predicate right" does.
	vector func(m machine, limit reg.VecVirtual, a, b Mem) (predicate U8, right Op, left reg.VecVirtual)
}

var tests = []test{
	{"andGE", "clears the bits of the rows that have a value below the limit of its column.", 1, true,
		func(_ machine, limit reg.VecVirtual, a, _ Mem) (U8, Op, reg.VecVirtual) {
			return lessOrEqual, a, limit
		}},
	{"andLE", "clears the bits of the rows that have a value above the limit of its column.", 1, true,
		func(_ machine, limit reg.VecVirtual, a, _ Mem) (U8, Op, reg.VecVirtual) {
			return greaterOrEqual, a, limit
		}},
	{"andSumGE", "clears the bits of the rows that have a sum below the limit of its column.", 2, true,
		func(m machine, limit reg.VecVirtual, a, b Mem) (U8, Op, reg.VecVirtual) {
			sum := m.register()
			VMOVUPD(a, sum)
			VADDPD(b, sum, sum)
			return lessOrEqual, sum, limit
		}},
	{"andRowsLE", "clears the bits of the rows that have a value of a above that of b.", 2, false,
		func(m machine, _ reg.VecVirtual, a, b Mem) (U8, Op, reg.VecVirtual) {
			value := m.register()
			VMOVUPD(a, value)
			return lessOrEqual, b, value
		}},
	{"andRowsFit", "clears the bits of the rows that have a positive value of a above that of b.", 2, false,
		func(m machine, zero reg.VecVirtual, a, b Mem) (U8, Op, reg.VecVirtual) {
			// a <= b or a <= 0 is a <= max(b, 0), where a NaN in b gives way
			// to the second operand of the maximum, the zero.
			limit := m.register()
			VMOVUPD(b, limit)
			VMAXPD(zero, limit, limit)
			return greaterOrEqual, a, limit
		}},
}

func main() {
	emit.File()
	for _, m := range []machine{avx2{}, avx512{}} {
		for _, t := range tests {
			generate(m, t)
		}
	}
	Generate()
}

// machine is an instruction set: how a step's verdict is kept.
type machine interface {
	isa() emit.ISA
	rows() int // rows of one step, as many bits of the mask
	width() int
	register() reg.VecVirtual
	begin()                                                     // every row of the step is kept
	keep(vector int, predicate U8, right Op, left reg.VecVirtual) // unless this fails
	verdict() reg.GPVirtual                                     // the step's bits
}

func generate(m machine, t test) {
	emit.Func(t.name, m.isa(), t.signature(), t.doc, t.name+"Generic")
	dst := Load(Param("dst"), GP64())
	left := Load(Param("words"), GP64())
	matrices, strides := t.loadMatrices()
	var cols, vals Register
	if t.limits {
		cols, vals = Load(Param("cols"), GP64()), Load(Param("vals"), GP64())
	}
	n := Load(Param("n"), GP64())
	_, _, _, _, _, _, _ = dst, left, matrices, strides, cols, vals, n
	_ = fmt.Sprint
}
