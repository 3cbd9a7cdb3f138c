package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// avx512 selects lanes by mask registers; a byte of a mask word is the mask of
// a vector.
type avx512 struct {
	scores
	direction
}

func (avx512) isa() emit.ISA          { return emit.AVX512 }
func (avx512) vector() reg.VecVirtual { return ZMM() }

func (m avx512) each(mask, values reg.Register, f func(x reg.VecVirtual, selected reg.Register)) {
	for i := range 8 {
		x, selected := ZMM(), K()
		KMOVB(Mem{Base: mask, Disp: i}, selected)
		VMOVUPD_Z(Mem{Base: values, Disp: 64 * i}, selected, x)
		f(x, selected)
	}
}

func (m avx512) improve(best, x, _ reg.VecVirtual, selected reg.Register) {
	m.better(best, x, selected, best)
}

// better emits best = the better of best and x, which are equal or have a NaN
// in x where best stays. masked may name the lanes to change.
func (m avx512) better(best, x Op, masked ...Op) {
	ops := append([]Op{best, x}, masked...)
	switch {
	case m.float && m.direction == greatest:
		VMAXPD(ops...)
	case m.float:
		VMINPD(ops...)
	case m.direction == greatest:
		VPMAXSQ(ops...)
	default:
		VPMINSQ(ops...)
	}
}

// compare emits k = a (predicate) b for the selected lanes.
func (m avx512) compare(float, integer U8, ops ...Op) {
	if m.float {
		VCMPPD(append([]Op{float}, ops...)...)
	} else {
		VPCMPQ(append([]Op{integer}, ops...)...)
	}
}

func (m avx512) improveFrom(best, at, x, number reg.VecVirtual) {
	improved := K()
	if m.direction == greatest {
		m.compare(floatGT, intGT, best, x, improved)
	} else {
		m.compare(floatLT, intLT, best, x, improved)
	}
	VMOVDQA64(number, improved, at)
	m.better(best, x, best)
}

func (m avx512) firstOfBest(best, at reg.VecVirtual) {
	all, had, swapped := ZMM(), K(), ZMM()
	VMOVAPD(best, all)
	fold := func(v reg.VecVirtual, combine func()) {
		VSHUFF64X2(U8(0x4E), v, v, swapped)
		combine()
		VSHUFF64X2(U8(0xB1), v, v, swapped)
		combine()
		VPERMILPD(U8(0x55), v, swapped)
		combine()
	}
	fold(all, func() { m.better(all, swapped, all) })
	m.compare(floatEQ, intEQ, all, best, had)
	VMOVAPD(all, best)
	number := filled(m, none)
	VMOVDQA64(at, had, number)
	fold(number, func() { VPMINSQ(swapped, number, number) })
	VMOVDQA64(number, at)
}

func (m avx512) find(mask, values reg.Register, x reg.VecVirtual, row reg.Register) {
	selected, equal, bits := K(), K(), GP64()
	Label("find")
	KMOVB(Mem{Base: mask}, selected)
	m.compare(floatEQ, intEQ, Mem{Base: values}, x, selected, equal)
	KMOVB(equal, bits.As32())
	TESTQ(bits, bits)
	JNE(LabelRef("hit"))
	INCQ(mask)
	ADDQ(U8(64), values)
	ADDQ(U8(8), row)
	JMP(LabelRef("find"))
	Label("hit")
	BSFQ(bits, bits)
	ADDQ(bits, row)
}

func (m avx512) keep(dst, mask, values reg.Register, limit reg.VecVirtual) {
	// Eight byte stores are faster than joining eight mask registers.
	for i := range 8 {
		kept, x := K(), Mem{Base: values, Disp: 64 * i}
		KMOVB(Mem{Base: mask, Disp: i}, kept)
		if m.direction == greatest {
			m.compare(floatLE, intLE, x, limit, kept, kept) // limit <= x
		} else {
			m.compare(floatGE, intGE, x, limit, kept, kept)
		}
		KMOVB(kept, Mem{Base: dst, Disp: i})
	}
}

func (m avx512) countIfAbove(count, x reg.VecVirtual, y Mem, step reg.VecVirtual) {
	above := K()
	m.compare(floatGT, intGT, y, x, above)
	VPADDQ(step, count, above, count)
}
