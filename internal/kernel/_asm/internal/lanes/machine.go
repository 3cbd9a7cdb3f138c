// Package lanes holds the operations of the generators whose kernels take a
// vector of rows at a time, of which a row mask selects some lanes.
package lanes

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// Machine is an instruction set as the kernels see it. A set of lanes is a mask
// register with AVX-512, and a vector of ones and zeros with AVX2.
type Machine struct {
	emit.ISA
	Lanes  int // float64 per vector
	Vector func() reg.VecVirtual
}

// Machines are the instruction sets to generate for.
var Machines = []Machine{
	{emit.AVX2, 4, YMM},
	{emit.AVX512, 8, ZMM},
}

// Comparison predicates, quiet. Those that begin with a not are true when a NaN
// is on either side.
const (
	Equal             = U8(0x00)
	NotEqual          = U8(0x04)
	Ordered           = U8(0x07)
	Less              = U8(0x11)
	LessOrEqual       = U8(0x12)
	NotLess           = U8(0x15)
	NotLessOrEqual    = U8(0x16)
	NotGreaterOrEqual = U8(0x19)
	NotGreater        = U8(0x1A)
	GreaterOrEqual    = U8(0x1D)
	Greater           = U8(0x1E)
)

// lanesOf holds, for every number of four bits, the vector of its lanes.
var lanesOf Mem

// table emits lanesOf once.
func table() Mem {
	if lanesOf.Symbol.Name == "" {
		lanesOf = GLOBL("lanes_of", attr.RODATA|attr.NOPTR)
		for bits := range 16 {
			for lane := range 4 {
				DATA(32*bits+8*lane, U64(-uint64(bits>>lane&1)))
			}
		}
	}
	return lanesOf
}

// Wide reports whether the machine has mask registers.
func (m Machine) Wide() bool { return m.ISA == emit.AVX512 }

// Broadcast returns a vector with the number at from in every lane.
func (m Machine) Broadcast(from Mem) reg.VecVirtual {
	v := m.Vector()
	VBROADCASTSD(from, v)
	return v
}

// Parameter returns a vector filled with a float64 parameter.
func (m Machine) Parameter(name string) reg.VecVirtual { return m.Broadcast(parameter(name)) }

// Zero returns a vector of +0.
func (m Machine) Zero() reg.VecVirtual {
	v := m.Vector()
	VXORPD(v, v, v)
	return v
}

// Load returns the vector at from.
func (m Machine) Load(from Mem) reg.VecVirtual {
	v := m.Vector()
	VMOVUPD(from, v)
	return v
}

// Next returns the place of the i-th vector after the one at from.
func (m Machine) Next(from Mem, i int) Mem { return from.Offset(8 * m.Lanes * i) }

// Set returns the lanes whose bits are set in the low bits of a register, which
// has no others.
func (m Machine) Set(bits reg.GPVirtual) reg.Register {
	if m.Wide() {
		k := K()
		KMOVB(bits.As32(), k)
		return k
	}
	offset := GP64()
	MOVQ(bits, offset)
	SHLQ(U8(5), offset)
	return tableEntry(offset)
}

// SetAt is Set for the i-th of several vectors whose bits are in the register,
// the lowest for the first vector.
func (m Machine) SetAt(bits reg.GPVirtual, i int) reg.Register {
	shifted := GP64()
	MOVQ(bits, shifted)
	if m.Wide() {
		if i > 0 {
			SHRQ(U8(8*i), shifted)
		}
		return m.Set(shifted) // takes the low ones
	}
	switch shift := 4*i - 5; {
	case shift > 0:
		SHRQ(U8(shift), shifted)
	case shift < 0:
		SHLQ(U8(-shift), shifted)
	}
	ANDL(U32(15<<5), shifted.As32())
	return tableEntry(shifted)
}

// tableEntry returns the vector at an offset in lanesOf.
func tableEntry(offset reg.GPVirtual) reg.Register {
	lanes, v := GP64(), YMM()
	LEAQ(table(), lanes)
	VMOVDQU(Mem{Base: lanes, Index: offset, Scale: 1}, v)
	return v
}

// Bits returns a register with the bits of a set, and no others.
func (m Machine) Bits(set reg.Register) reg.GPVirtual {
	bits := GP64()
	if m.Wide() {
		KMOVB(set, bits.As32())
	} else {
		VMOVMSKPD(set, bits.As32())
	}
	return bits
}

// Empty returns the set without lanes.
func (m Machine) Empty() reg.Register {
	if m.Wide() {
		k := K()
		KXORB(k, k, k)
		return k
	}
	return m.Zero()
}

// Copy returns another register with a set.
func (m Machine) Copy(set reg.Register) reg.Register {
	if m.Wide() {
		k := K()
		KMOVB(set, k)
		return k
	}
	v := YMM()
	VMOVAPD(set, v)
	return v
}

// Join adds the lanes of other to a set.
func (m Machine) Join(set, other reg.Register) {
	if m.Wide() {
		KORB(other, set, set)
	} else {
		VORPD(other, set, set)
	}
}

// Compare returns the lanes in which left predicate right holds.
func (m Machine) Compare(left reg.VecVirtual, predicate U8, right Op) reg.Register {
	if m.Wide() {
		k := K()
		VCMPPD(predicate, right, left, k)
		return k
	}
	v := YMM()
	VCMPPD(predicate, right, left, v)
	return v
}

// Narrow removes from a set the lanes in which left predicate right doesn't hold.
func (m Machine) Narrow(set reg.Register, left reg.VecVirtual, predicate U8, right Op) {
	if m.Wide() {
		VCMPPD(predicate, right, left, set, set)
		return
	}
	v := YMM()
	VCMPPD(predicate, right, left, v)
	VANDPD(v, set, set)
}

// LoadIn returns the lanes of a set at from, and +0 in the others. Only the
// former are read.
func (m Machine) LoadIn(set reg.Register, from Mem) reg.VecVirtual {
	v := m.Vector()
	if m.Wide() {
		VMOVUPD_Z(from, set, v)
	} else {
		VMASKMOVPD(from, set, v)
	}
	return v
}

// StoreIn stores the lanes of a set.
func (m Machine) StoreIn(set reg.Register, v reg.VecVirtual, to Mem) {
	if m.Wide() {
		VMOVUPD(v, set, to)
	} else {
		VMASKMOVPD(v, set, to)
	}
}

// ClearOthers sets the lanes of v that are not in a set to +0.
func (m Machine) ClearOthers(set reg.Register, v reg.VecVirtual) {
	if m.Wide() {
		VMOVAPD_Z(v, set, v)
	} else {
		VANDPD(set, v, v)
	}
}

// Choose replaces the lanes of v that are in a set by the lanes of x.
func (m Machine) Choose(set reg.Register, x, v reg.VecVirtual) {
	if m.Wide() {
		VMOVAPD(x, set, v)
	} else {
		VBLENDVPD(set, x, v, v)
	}
}

// DivideIn divides a by b in the lanes of a set, and sets the others to +0.
func (m Machine) DivideIn(set reg.Register, a, b reg.VecVirtual) {
	if m.Wide() {
		VDIVPD_Z(b, a, set, a)
	} else {
		VDIVPD(b, a, a)
		VANDPD(set, a, a)
	}
}

// AddIn adds the number at from to v in the lanes of a set.
func (m Machine) AddIn(set reg.Register, from Mem, v reg.VecVirtual) {
	if m.Wide() {
		VADDPD_BCST(from, v, set, v)
	} else {
		x := m.Broadcast(from)
		VANDPD(set, x, x)
		VADDPD(x, v, v)
	}
}

// Add sets dst to v plus the number at from.
func (m Machine) Add(from Mem, v, dst reg.VecVirtual) {
	if m.Wide() {
		VADDPD_BCST(from, v, dst)
	} else {
		VADDPD(m.Broadcast(from), v, dst)
	}
}

// Multiply sets dst to v times the number at from.
func (m Machine) Multiply(from Mem, v, dst reg.VecVirtual) {
	if m.Wide() {
		VMULPD_BCST(from, v, dst)
	} else {
		VMULPD(m.Broadcast(from), v, dst)
	}
}
