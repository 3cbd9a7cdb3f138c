package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// machine is how an instruction set keeps the verdict on the rows of a step.
type machine interface {
	isa() emit.ISA
	take(e element)                       // what the matrices hold from now on
	rows() int                            // of one step
	width() int                           // of a vector register, in bytes
	register() reg.VecVirtual             // a vector register
	load(dst reg.GPVirtual) reg.GPVirtual // the step's mask; sets the zero flag
	begin(vector int, c comparison)       // the vector's rows are good where c holds
	keep(vector int, c comparison)        // and stay so where this c holds too
	finish(rows reg.GPVirtual)            // clears the bits of the others; sets the zero flag
	store(dst, rows reg.GPVirtual)
}

// element is what a matrix holds.
type element struct {
	goType    string
	size      int // in bytes
	compare   func(ops ...Op)
	broadcast func(ops ...Op)
}

var (
	float64s = element{"float64", 8, VCMPPD, VBROADCASTSD}
	float32s = element{"float32", 4, VCMPPS, VBROADCASTSS}
)

func (e *element) take(other element) { *e = other }

// avx512 keeps the verdict on 64 rows in opmasks, one per vector: four or, of
// float64s, eight. K0 can't qualify an instruction, so the verdict on the
// eighth vector is kept in a general register.
type avx512 struct {
	element
	last reg.GPVirtual
}

var opmasks = []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6, reg.K7, reg.K0}

func (*avx512) isa() emit.ISA            { return emit.AVX512 }
func (*avx512) rows() int                { return 64 }
func (*avx512) width() int               { return 64 }
func (*avx512) register() reg.VecVirtual { return ZMM() }

func (*avx512) load(dst reg.GPVirtual) reg.GPVirtual {
	rows := GP64()
	MOVQ(Mem{Base: dst}, rows)
	TESTQ(rows, rows)
	return rows
}

func (m *avx512) begin(vector int, c comparison) {
	k := opmasks[vector]
	m.compare(c.predicate, c.right, c.left, k)
	if k == reg.K0 {
		m.last = GP64()
		KMOVB(k, m.last.As32())
	}
}

func (m *avx512) keep(vector int, c comparison) {
	k := opmasks[vector]
	if k != reg.K0 {
		m.compare(c.predicate, c.right, c.left, k, k)
		return
	}
	good := GP32()
	m.compare(c.predicate, c.right, c.left, k)
	KMOVB(k, good)
	ANDL(good, m.last.As32())
}

func (m *avx512) finish(rows reg.GPVirtual) {
	k := opmasks
	if m.size == 8 {
		KMOVB(m.last.As32(), reg.K0)
		for i := range 4 {
			KUNPCKBW(k[2*i], k[2*i+1], k[2*i])
		}
		k = []reg.Register{k[0], k[2], k[4], k[6]}
	}
	KUNPCKWD(k[0], k[1], k[0])
	KUNPCKWD(k[2], k[3], k[2])
	KUNPCKDQ(k[0], k[2], k[0])
	good := GP64()
	KMOVQ(k[0], good)
	ANDQ(good, rows)
}

func (*avx512) store(dst, rows reg.GPVirtual) { MOVQ(rows, Mem{Base: dst}) }

// avx2 keeps the verdict on 64 rows or, of float64s, 32, in eight vectors, all
// ones in the lanes of the good rows.
type avx2 struct {
	element
	good       [8]reg.VecVirtual
	interleave Mem // makes pairs of bytes 0 4 1 5 2 6 3 7 out of 0 to 7, in both halves
	quarters   Mem // makes quads of bytes 0 4 1 5 2 6 3 7 out of 0 to 7
}

func newAVX2() *avx2 {
	m := &avx2{interleave: GLOBL("interleave", attr.RODATA|attr.NOPTR)}
	for i := range 16 {
		pair := interleaved(i)
		DATA(2*i, U16(2*pair|(2*pair+1)<<8))
	}
	m.quarters = GLOBL("quarters", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(4*i, U32(interleaved(i)))
	}
	return m
}

// interleaved returns which of 0 to 7 is at i in 0 4 1 5 2 6 3 7, repeated.
func interleaved(i int) int { return i%8/2 + i%2*4 }

func (*avx2) isa() emit.ISA            { return emit.AVX2 }
func (m *avx2) rows() int              { return 8 * 32 / m.size }
func (*avx2) width() int               { return 32 }
func (*avx2) register() reg.VecVirtual { return YMM() }

func (m *avx2) load(dst reg.GPVirtual) reg.GPVirtual {
	rows := GP64()
	if m.rows() == 64 {
		MOVQ(Mem{Base: dst}, rows)
		TESTQ(rows, rows)
		return rows
	}
	MOVL(Mem{Base: dst}, rows.As32())
	TESTL(rows.As32(), rows.As32())
	return rows
}

func (m *avx2) begin(vector int, c comparison) {
	m.good[vector] = YMM()
	m.compare(c.predicate, c.right, c.left, m.good[vector])
}

func (m *avx2) keep(vector int, c comparison) {
	good := YMM()
	m.compare(c.predicate, c.right, c.left, good)
	VANDPD(good, m.good[vector], m.good[vector])
}

// finish packs the vectors into bits, which beats eight VMOVMSKPD.
func (m *avx2) finish(rows reg.GPVirtual) {
	if m.rows() == 64 {
		m.finish64(rows)
	} else {
		m.finish32(rows)
	}
}

// finish64 packs vectors of 8 rows.
func (m *avx2) finish64(rows reg.GPVirtual) {
	g := m.good
	for i := 0; i < 8; i += 2 {
		VPACKSSDW(g[i+1], g[i], g[i])
	}
	order := YMM()
	VMOVDQU(m.quarters, order)
	var good [2]reg.GPVirtual
	for i := range good {
		low := g[4*i]
		VPACKSSWB(g[4*i+2], low, low) // rows 0-3 8-11 16-19 24-27 4-7 12-15 ...
		VPERMD(low, order, low)
		good[i] = GP64()
		VPMOVMSKB(low, good[i].As32())
	}
	SHLQ(U8(32), good[1])
	ORQ(good[0], good[1])
	ANDQ(good[1], rows)
}

// finish32 packs vectors of 4 rows. In brackets are the rows in the lower half
// of a register; those in the upper half are two further on.
func (m *avx2) finish32(rows reg.GPVirtual) {
	g := m.good
	for i := 0; i < 8; i += 2 {
		VSHUFPS(U8(0x88), g[i+1], g[i], g[i]) // [0 1] and [4 5] make [0 1 4 5]
	}
	VPACKSSDW(g[2], g[0], g[0]) // [0 1 4 5 8 9 12 13]
	VPACKSSDW(g[6], g[4], g[4]) // [16 17 20 21 ... 28 29]
	VPACKSSWB(g[4], g[0], g[0]) // [0 1 4 5 ... 28 29]
	// Exchange the middle quarters; then [0 1 4 5 8 9 12 13 2 3 6 7 ...] needs
	// its pairs interleaved.
	VPERMQ(U8(0xd8), g[0], g[0])
	VPSHUFB(m.interleave, g[0], g[0])
	good := GP32()
	VPMOVMSKB(g[0], good)
	ANDL(good, rows.As32())
}

func (m *avx2) store(dst, rows reg.GPVirtual) {
	if m.rows() == 64 {
		MOVQ(rows, Mem{Base: dst})
	} else {
		MOVL(rows.As32(), Mem{Base: dst})
	}
}
