package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// machine is an instruction set as the kernels see it.
type machine struct {
	emit.ISA
	lanes  int // float64 per vector
	vector func() reg.VecVirtual
}

var machines = []machine{
	{emit.AVX2, 4, YMM},
	{emit.AVX512, 8, ZMM},
}

// Numbers that vectors are filled with, by their bits.
var (
	infinity   = ConstData("infinity", U64(0x7FF0000000000000))
	maxInt64   = ConstData("max_int64", U64(0x7FFFFFFFFFFFFFFF))
	two52      = ConstData("two_52", U64(0x4330000000000000))
	two63      = ConstData("two_63", U64(0x43E0000000000000))
	two32      = ConstData("two_32", U64(0x41F0000000000000))
	twoMinus32 = ConstData("two_minus_32", U64(0x3DF0000000000000))

	// firstLanes holds four words of ones, then four of zeros: the vector k
	// words before its middle is the mask of the first k lanes.
	firstLanes = func() Mem {
		m := GLOBL("first_lanes", attr.RODATA|attr.NOPTR)
		for i, word := range []U64{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 0, 0, 0, 0} {
			DATA(8*i, word)
		}
		return m
	}()
)

// at returns the address of the i-th vector from base on.
func (m machine) at(base reg.Register, i int) Mem {
	return Mem{Base: base, Disp: i * m.lanes * 8}
}

// broadcast returns a vector with the number at from in every lane.
func (m machine) broadcast(from Mem) reg.VecVirtual {
	v := m.vector()
	VBROADCASTSD(from, v)
	return v
}

// zero returns a vector of +0.
func (m machine) zero() reg.VecVirtual {
	v := m.vector()
	VXORPD(v, v, v)
	return v
}

// storeFirst stores the lanes of v that stand for the first left rows; left is
// below 64.
func (m machine) storeFirst(left reg.Register, v reg.VecVirtual, to Mem) {
	if m.ISA == emit.AVX512 {
		bits, lanes := GP64(), K()
		MOVQ(left, reg.RCX)
		MOVQ(U32(1), bits)
		SHLQ(reg.CL, bits)
		DECQ(bits)
		KMOVB(bits.As32(), lanes)
		VMOVUPD(v, lanes, to)
		return
	}
	count, table, lanes := GP64(), GP64(), YMM()
	MOVQ(U32(4), count)
	CMPQ(left, count)
	CMOVQLT(left, count)
	NEGQ(count)
	LEAQ(firstLanes, table)
	VMOVDQU(Mem{Base: table, Index: count, Scale: 8, Disp: 32}, lanes)
	VMASKMOVPD(v, lanes, to)
}

// positiveQuotient returns x/total where total > 0, and +0 elsewhere.
func (m machine) positiveQuotient(x, total Mem, zero reg.VecVirtual) reg.VecVirtual {
	const greater = 0x1E // ordered, quiet
	t, q := m.vector(), m.vector()
	VMOVUPD(total, t)
	VMOVUPD(x, q)
	if m.ISA == emit.AVX512 {
		positive := K()
		VCMPPD(U8(greater), zero, t, positive)
		VDIVPD_Z(t, q, positive, q)
		return q
	}
	positive := m.vector()
	VCMPPD(U8(greater), zero, t, positive)
	VDIVPD(t, q, q)
	VANDPD(positive, q, q)
	return q
}

// integer returns the floor of q as int64, from 0 to MaxInt64.
func (m machine) integer(q reg.VecVirtual) reg.VecVirtual {
	VMAXPD(m.zero(), q, q)
	if m.ISA == emit.AVX512 {
		// As unsigned numbers, values of 2^64 and more become all ones.
		VCVTTPD2UQQ(q, q)
		VPMINUQ(m.broadcast(maxInt64), q, q)
		return q
	}
	// Split into 32-bit halves; a number below 2^52 shows its integer bits when
	// 2^52 is added.
	const (
		truncate       = 3
		greaterOrEqual = 0x1D // ordered, quiet
	)
	huge, high := m.vector(), m.vector()
	magic := m.broadcast(two52)
	VCMPPD(U8(greaterOrEqual), m.broadcast(two63), q, huge)
	VROUNDPD(U8(truncate), q, q)
	VMULPD(m.broadcast(twoMinus32), q, high)
	VROUNDPD(U8(truncate), high, high)
	VFNMADD231PD(m.broadcast(two32), high, q)
	for _, half := range []reg.VecVirtual{high, q} {
		VADDPD(magic, half, half)
		VXORPD(magic, half, half)
	}
	VPSLLQ(U8(32), high, high)
	VPOR(high, q, q)
	VBLENDVPD(huge, m.broadcast(maxInt64), q, q)
	return q
}

// jumpIfNaN jumps to a label when a vector has a NaN.
func (m machine) jumpIfNaN(label string, vectors ...reg.VecVirtual) {
	const unordered = U8(3)
	var any reg.Register
	for i := 0; i < len(vectors); i += 2 {
		x, y := vectors[i], vectors[min(i+1, len(vectors)-1)]
		var found reg.Register
		if m.ISA == emit.AVX512 {
			found = K()
		} else {
			found = m.vector()
		}
		VCMPPD(unordered, x, y, found)
		switch {
		case any == nil:
			any = found
		case m.ISA == emit.AVX512:
			KORB(found, any, any)
		default:
			VORPD(found, any, any)
		}
	}
	if m.ISA == emit.AVX512 {
		KORTESTB(any, any)
	} else {
		VPTEST(any, any)
	}
	JNE(LabelRef(label))
}
