package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// avx2 selects lanes by the sign bits of a vector: the mask word in every lane,
// shifted until the lane's own bit is on top.
type avx2 struct {
	scores
	direction
}

// toTop are the shifts that bring bits 0 to 3 of a word to the top.
var toTop = func() Mem {
	m := GLOBL("to_top", attr.RODATA|attr.NOPTR)
	for i, n := range []U64{63, 62, 61, 60} {
		DATA(8*i, n)
	}
	return m
}()

func (avx2) isa() emit.ISA          { return emit.AVX2 }
func (avx2) vector() reg.VecVirtual { return YMM() }

func (m avx2) each(mask, values reg.Register, f func(x reg.VecVirtual, selected reg.Register)) {
	shifts, word := YMM(), filled(m, Mem{Base: mask})
	VMOVDQU(toTop, shifts)
	for i := range 16 {
		x, selected := YMM(), YMM()
		VPSLLVQ(shifts, word, selected)
		VMASKMOVPD(Mem{Base: values, Disp: 32 * i}, selected, x)
		f(x, selected)
		if i < 15 {
			VPSRLQ(U8(4), word, word)
		}
	}
}

func (m avx2) improve(best, x, worst reg.VecVirtual, selected reg.Register) {
	VBLENDVPD(selected, x, worst, x)
	m.better(best, x)
}

// better emits best = the better of best and x, which are equal or have a NaN
// in x where best stays.
func (m avx2) better(best, x reg.VecVirtual) {
	switch {
	case m.float && m.direction == greatest:
		VMAXPD(best, x, best)
	case m.float:
		VMINPD(best, x, best)
	default:
		VBLENDVPD(m.isBetter(x, best), x, best, best)
	}
}

// isBetter returns ones in the lanes where x is better than y.
func (m avx2) isBetter(x, y reg.VecVirtual) reg.VecVirtual {
	better := YMM()
	switch {
	case m.float && m.direction == greatest:
		VCMPPD(U8(floatGT), y, x, better)
	case m.float:
		VCMPPD(U8(floatLT), y, x, better)
	case m.direction == greatest:
		VPCMPGTQ(y, x, better)
	default:
		VPCMPGTQ(x, y, better)
	}
	return better
}

// isEqual returns ones in the lanes where x equals y.
func (m avx2) isEqual(x, y reg.VecVirtual) reg.VecVirtual {
	equal := YMM()
	if m.float {
		VCMPPD(U8(floatEQ), y, x, equal)
	} else {
		VPCMPEQQ(y, x, equal)
	}
	return equal
}

func (m avx2) improveFrom(best, at, x, number reg.VecVirtual) {
	improved := m.isBetter(x, best)
	VBLENDVPD(improved, x, best, best)
	VBLENDVPD(improved, number, at, at)
}

func (m avx2) firstOfBest(best, at reg.VecVirtual) {
	all, swapped := YMM(), YMM()
	VMOVAPD(best, all)
	fold := func(v reg.VecVirtual, combine func()) {
		VPERM2F128(U8(1), v, v, swapped)
		combine()
		VPERMILPD(U8(5), v, swapped)
		combine()
	}
	fold(all, func() { m.better(all, swapped) })
	had, number := m.isEqual(all, best), filled(m, none)
	VMOVAPD(all, best)
	VBLENDVPD(had, at, number, at)
	fold(at, func() {
		lower := YMM()
		VPCMPGTQ(swapped, at, lower)
		VBLENDVPD(lower, swapped, at, at)
	})
}

func (m avx2) find(mask, values reg.Register, x reg.VecVirtual, row reg.Register) {
	shifts, word, y, selected, bits := YMM(), filled(m, Mem{Base: mask}), YMM(), YMM(), GP64()
	VMOVDQU(toTop, shifts)
	Label("find")
	VPSLLVQ(shifts, word, selected)
	VMASKMOVPD(Mem{Base: values}, selected, y)
	VPAND(selected, m.isEqual(y, x), selected)
	VMOVMSKPD(selected, bits.As32())
	TESTQ(bits, bits)
	JNE(LabelRef("hit"))
	VPSRLQ(U8(4), word, word)
	ADDQ(U8(32), values)
	ADDQ(U8(4), row)
	JMP(LabelRef("find"))
	Label("hit")
	BSFQ(bits, bits)
	ADDQ(bits, row)
}

func (m avx2) keep(dst, mask, values reg.Register, limit reg.VecVirtual) {
	kept, bits := GP64(), GP64()
	XORQ(kept, kept)
	i := 0
	m.each(mask, values, func(x reg.VecVirtual, _ reg.Register) {
		VMOVMSKPD(m.isBeyond(x, limit), bits.As32())
		SHLQ(U8(4*i), bits)
		ORQ(bits, kept)
		i++
	})
	ANDQ(Mem{Base: mask}, kept)
	MOVQ(kept, Mem{Base: dst})
}

// isBeyond returns a vector with the sign bit set where x is limit or beyond.
func (m avx2) isBeyond(x, limit reg.VecVirtual) reg.VecVirtual {
	beyond := YMM()
	switch {
	case m.float && m.direction == greatest:
		VCMPPD(U8(floatGE), limit, x, beyond)
	case m.float:
		VCMPPD(U8(floatLE), limit, x, beyond)
	default: // not worse
		worse, ones := m.isBetter(limit, x), YMM()
		VPCMPEQQ(ones, ones, ones)
		VPXOR(ones, worse, beyond)
	}
	return beyond
}

func (m avx2) countIfAbove(count, x reg.VecVirtual, y Mem, _ reg.VecVirtual) {
	above := YMM() // -1
	if m.float {
		VCMPPD(U8(floatGT), y, x, above)
	} else {
		VPCMPGTQ(y, x, above)
	}
	VPSUBQ(above, count, count)
}
