package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// Numbers that vectors are filled with, by their bits.
var (
	none    = number("none", 0)
	one     = number("one", 0x3FF0000000000000)
	two     = number("two", 0x4000000000000000)
	half    = number("half", 0x3FE0000000000000)
	fifty   = number("fifty", 0x4049000000000000)
	hundred = number("hundred", 0x4059000000000000)

	// A little more than 100 and a little less, by two units in the last place, and
	// their products with 2^52.
	hundredUp   = number("hundred_up", 0x4059000000000002)
	hundredDown = number("hundred_down", 0x4058FFFFFFFFFFFE)
	shiftUp     = number("shift_up", 0x4399000000000002)
	shiftDown   = number("shift_down", 0x4398FFFFFFFFFFFE)

	// A whole number below 2^52 added to 2^52 shows in the low bits.
	two52 = number("two_52", 0x4330000000000000)

	// 2^52 + 2^51 plus a whole number shows it in the low bits, also one below 0.
	big        = number("big", 0x4338000000000000)
	big99      = number("big_99", 0x4338000000000063)
	bigHundred = number("big_hundred", 0x4338000000000064)

	// The upper half of 2^46 as a number, and the greatest number with it.
	upper46 = number("upper_46", 0x42D00000)
	most46  = number("most_46", 0x42D00000FFFFFFFF)

	magnitude = number("magnitude", 0x7FFFFFFFFFFFFFFF)
	low8      = number("low_8", 0xFF)
	low8s     = number("low_8s", 0xFF000000FF)
	allBits   = number("all_bits", 0xFFFFFFFFFFFFFFFF)
)

// number returns where a vector of four times the same bits is.
func number(name string, bits uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 4 {
		DATA(8*i, U64(bits))
	}
	return m
}

// machine is an instruction set as the kernels see it.
type machine struct {
	lanes.Machine
	kept map[Mem]reg.VecVirtual // numbers that stay in registers
}

// keeping returns m with numbers that stay in registers from here on.
func (m machine) keeping(numbers ...Mem) machine {
	m.kept = map[Mem]reg.VecVirtual{}
	for _, x := range numbers {
		m.kept[x] = m.Broadcast(x)
	}
	return m
}

// filled returns a vector of a number, not to be written to.
func (m machine) filled(x Mem) reg.VecVirtual {
	if v, ok := m.kept[x]; ok {
		return v
	}
	if x == none {
		return m.Zero()
	}
	return m.Broadcast(x)
}

// operand returns a vector of a number as the operand that may be in memory.
func (m machine) operand(x Mem) Op {
	if v, ok := m.kept[x]; ok {
		return v
	}
	if m.Wide() {
		return m.Broadcast(x)
	}
	return x
}

// ceil rounds up, and truncate toward zero.
func (m machine) ceil(x, dst reg.VecVirtual)     { m.round(2, x, dst) }
func (m machine) truncate(x, dst reg.VecVirtual) { m.round(3, x, dst) }

func (m machine) round(mode uint8, x, dst reg.VecVirtual) {
	if m.Wide() {
		VRNDSCALEPD(U8(mode), x, dst)
	} else {
		VROUNDPD(U8(mode), x, dst)
	}
}

// beyond returns a bit for every lane of v in which the upper half is above
// the upper half of 2^46. v is the maximum of the halves of amounts as unsigned numbers,
// so that these are the lanes with an amount from 2^46 + 2^26 on, a NaN, or a
// sign.
func (m machine) beyond(v reg.VecVirtual) reg.GPVirtual {
	bits := GP64()
	if m.Wide() {
		const above = 6
		set := K()
		VPCMPUQ(U8(above), m.filled(most46), v, set)
		KMOVB(set, bits.As32())
		return bits
	}
	VPSRLQ(U8(32), v, v)
	VPCMPGTQ(m.operand(upper46), v, v)
	VMOVMSKPD(v, bits.As32())
	return bits
}

// integer converts a whole x from 0 to below 2^52.
func (m machine) integer(x reg.VecVirtual) {
	if m.Wide() {
		VCVTTPD2QQ(x, x)
		return
	}
	VADDPD(m.operand(two52), x, x)
	VPXOR(m.operand(two52), x, x)
}

// float converts an integer from 0 to below 2^52.
func (m machine) float(x reg.VecVirtual) {
	if m.Wide() {
		VCVTQQ2PD(x, x)
		return
	}
	VPOR(m.operand(two52), x, x)
	VSUBPD(m.operand(two52), x, x)
}

// addWhere adds the lanes of x that are in a set to sum.
func (m machine) addWhere(set reg.Register, x, sum reg.VecVirtual) {
	if m.Wide() {
		VADDPD(x, sum, set, sum)
		return
	}
	part := m.Vector()
	VANDPD(x, set, part)
	VADDPD(part, sum, sum)
}

// skipWithout jumps to a label when a set is empty.
func (m machine) skipWithout(set reg.Register, label string) {
	if m.Wide() {
		KORTESTB(set, set)
	} else {
		VPTEST(set, set)
	}
	JEQ(LabelRef(label))
}

// quotients returns floor(x/y), for 0 <= x <= 100.5*y and a whole y from 1 to
// 2^47, both exact. x is lost.
//
// A quotient below a whole number is so by 1/y at least, and a division doesn't
// round it up to that.
func (m machine) quotients(x, y []reg.VecVirtual) []reg.VecVirtual {
	n := m.divided(x)
	for i, x := range x[:n] {
		VDIVPD(y[i], x, x)
		m.truncate(x, x)
	}
	if n == len(x) {
		return x
	}
	estimated := m.estimates(x[n:], y[n:])
	for _, z := range estimated {
		VSUBPD(m.filled(two52), z, z)
	}
	return append(x[:n:n], estimated...)
}

// quotientBits returns 2^52 + floor(x/y), on a machine with mask registers; x
// and y are as for quotients.
func (m machine) quotientBits(x, y []reg.VecVirtual) []reg.VecVirtual {
	n := m.divided(x)
	for i, x := range x[:n] {
		VDIVPD(y[i], x, x)
		VADDPD_RD_SAE(m.filled(two52), x, x)
	}
	return append(x[:n:n], m.estimates(x[n:], y[n:])...)
}

// divided returns how many of the vectors in flight are divided. Eight lanes
// take 16 cycles on Intel's CPUs, and 4 on AMD's, in which other instructions
// run: for every other vector a division is the faster way, or as fast.
func (m machine) divided(x []reg.VecVirtual) int {
	if m.Wide() {
		return len(x) / 2
	}
	return len(x)
}

// estimates is quotientBits without a division. The estimate of 1/y is off by
// 2^-14 of it at most, and the quotient with it by less than 0.01, so that it
// rounds to the floor or the number above. The remainder is exact, and negative
// for the latter. A sum with a part of it, rounded down, goes to the number
// below then and stays otherwise.
func (m machine) estimates(x, y []reg.VecVirtual) []reg.VecVirtual {
	magic := m.filled(two52)
	sums := make([]reg.VecVirtual, len(x))
	for i, x := range x {
		reciprocal, z, k := m.Vector(), m.Vector(), m.Vector()
		VRCP14PD(y[i], reciprocal)
		VMOVAPD(magic, z)
		VFMADD231PD(reciprocal, x, z)
		VSUBPD(magic, z, k)
		VFNMADD231PD(y[i], k, x)
		VFMADD231PD_RD_SAE(reciprocal, x, z)
		sums[i] = z
	}
	return sums
}
