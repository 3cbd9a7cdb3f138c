package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// EachVector walks over the rows of plain slices and emits body twice: for runs of
// whole vectors, so many at a time, without a set, and for the vectors that remain
// one by one, with the set of the lanes that exist. The kernel has the parameters
// n >= 0 and lo, the first row.
func EachVector(m Machine, unroll int, body func(r Rows, vectors int, set reg.Register)) {
	r, left := Rows{GP64()}, GP64()
	Load(Param("n"), left)
	Load(Param("lo"), r.offset)
	SHLQ(U8(3), r.offset)
	advance := func(vectors int) {
		ADDQ(U32(8*m.Lanes*vectors), r.offset)
		SUBQ(U32(m.Lanes*vectors), left)
	}
	Label("run")
	CMPQ(left, U32(m.Lanes*unroll))
	JLT(LabelRef("single"))
	body(r, unroll, nil)
	advance(unroll)
	JMP(LabelRef("run"))
	Label("single")
	TESTQ(left, left)
	JLE(LabelRef("end"))
	body(r, 1, m.First(left))
	advance(1)
	JMP(LabelRef("single"))
	Label("end")
}

// First returns the set of the first left lanes, of all when there are more.
func (m Machine) First(left reg.GPVirtual) reg.Register {
	bits := GP64()
	MOVQ(U32(m.Lanes), reg.RCX)
	CMPQ(left, reg.RCX)
	CMOVQLT(left, reg.RCX)
	MOVQ(U32(1), bits)
	SHLQ(reg.CL, bits)
	DECQ(bits)
	return m.Set(bits)
}

// LoadSet is LoadIn where there is a set, and Load where there is none.
func (m Machine) LoadSet(set reg.Register, from Mem) reg.VecVirtual {
	if set == nil {
		return m.Load(from)
	}
	return m.LoadIn(set, from)
}

// StoreSet is StoreIn where there is a set, and stores all lanes where there is
// none.
func (m Machine) StoreSet(set reg.Register, v reg.VecVirtual, to Mem) {
	if set == nil {
		VMOVUPD(v, to)
	} else {
		m.StoreIn(set, v, to)
	}
}

// Rounded returns v rounded to integers, by a rounding mode.
func (m Machine) Rounded(mode U8, v reg.VecVirtual) reg.VecVirtual {
	x := m.Vector()
	if m.Wide() {
		VRNDSCALEPD(mode, v, x)
	} else {
		VROUNDPD(mode, v, x)
	}
	return x
}
