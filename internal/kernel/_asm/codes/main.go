// Command codes generates the kernels of package kernel that write amounts: they
// round them down to float32 and look for those that are not tame.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

func main() {
	emit.File()
	for _, m := range lanes.Machines {
		codes(m)
		lacks(m)
	}
	addRow()
	emit.Generate()
}

// The bits of a float64, shifted left by one to lose the sign, belong to a tame
// number where, less tameFrom, they are below tameRange as an unsigned number. AVX2
// compares signed ones only, so the sign is turned there.
const (
	sign      = 1 << 63
	tameFrom  = (1023 - 500) << 53
	tameRange = 1000 << 53
)

var (
	from       = ConstData("tame_from", U64(tameFrom))
	fromTurned = ConstData("tame_from_turned", U64(tameFrom+sign))
	size       = ConstData("tame_range", U64(tameRange))
	sizeTurned = ConstData("tame_range_turned", U64(tameRange^sign))
	one        = ConstData("one_32", U32(1))
	inf        = ConstData("inf", U64(0x7FF0000000000000))
	magnitude  = ConstData("magnitude", U64(sign-1))
	exact      = ConstData("exact", U64(0x4340000000000000)) // 2^53
)

// coder makes vectors of float64 codes, and remembers whether all were tame.
type coder interface {
	code(x reg.VecVirtual) (codes reg.VecVirtual)
	store(codes reg.VecVirtual, set reg.Register, to Mem)
	outOfRange() reg.Register // 0 when all were tame
}

func newCoder(m lanes.Machine) coder {
	if m.Wide() {
		return newWide(m)
	}
	return newNarrow(m)
}

func codes(m lanes.Machine) {
	emit.Func("codes", m.ISA, "func(dst *float32, src *float64, n int) (outOfRange int)",
		"rounds down; outOfRange is 0 when all values are tame.", "codesGeneric")
	c := newCoder(m)
	dst, src, left := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), GP64()
	Load(Param("n"), left)
	advance := func(vectors int) {
		ADDQ(U32(8*m.Lanes*vectors), src)
		ADDQ(U32(4*m.Lanes*vectors), dst)
		SUBQ(U32(m.Lanes*vectors), left)
	}
	const unroll = 4
	Label("run")
	CMPQ(left, U32(m.Lanes*unroll))
	JLT(LabelRef("single"))
	for i := range unroll {
		VMOVUPS(c.code(m.Load(m.Next(Mem{Base: src}, i))), Mem{Base: dst, Disp: 4 * m.Lanes * i})
	}
	advance(unroll)
	JMP(LabelRef("run"))
	Label("single")
	TESTQ(left, left)
	JLE(LabelRef("end"))
	set := m.First(left)
	c.store(c.code(m.LoadIn(set, Mem{Base: src})), set, Mem{Base: dst})
	advance(1)
	JMP(LabelRef("single"))
	Label("end")
	Store(c.outOfRange(), ReturnIndex(0))
	emit.Return()
}

// lacks generates the kernel that writes what a request lacks in each element of a
// column, with the codes.
func lacks(m lanes.Machine) {
	emit.Func("lacks", m.ISA, "func(dst *float64, codes *float32, src *float64, n int, request float64) (outOfRange int)",
		"writes what request lacks, and its codes; outOfRange is 0 when all of it is tame.", "lacksGeneric")
	c, request, most := newCoder(m), m.Parameter("request"), m.Broadcast(inf)
	dst, codes, src, left := Load(Param("dst"), GP64()), Load(Param("codes"), GP64()), Load(Param("src"), GP64()), GP64()
	Load(Param("n"), left)
	lack := func(free reg.VecVirtual) reg.VecVirtual {
		short, x := m.Compare(request, lanes.NotLessOrEqual, free), m.Vector()
		VSUBPD(free, request, x)
		m.ClearOthers(short, x)
		VMINPD(most, x, x) // of a NaN and a number the number
		return x
	}
	advance := func(vectors int) {
		ADDQ(U32(8*m.Lanes*vectors), src)
		ADDQ(U32(8*m.Lanes*vectors), dst)
		ADDQ(U32(4*m.Lanes*vectors), codes)
		SUBQ(U32(m.Lanes*vectors), left)
	}
	const unroll = 2
	Label("run")
	CMPQ(left, U32(m.Lanes*unroll))
	JLT(LabelRef("single"))
	for i := range unroll {
		x := lack(m.Load(m.Next(Mem{Base: src}, i)))
		VMOVUPD(x, m.Next(Mem{Base: dst}, i))
		VMOVUPS(c.code(x), Mem{Base: codes, Disp: 4 * m.Lanes * i})
	}
	advance(unroll)
	JMP(LabelRef("run"))
	Label("single")
	TESTQ(left, left)
	JLE(LabelRef("end"))
	set := m.First(left)
	x := lack(m.LoadIn(set, Mem{Base: src}))
	m.ClearOthers(set, x) // what follows the last element is tame
	m.StoreIn(set, x, Mem{Base: dst})
	c.store(c.code(x), set, Mem{Base: codes})
	advance(1)
	JMP(LabelRef("single"))
	Label("end")
	Store(c.outOfRange(), ReturnIndex(0))
	emit.Return()
}

// wideCoder rounds down by an instruction.
type wideCoder struct {
	from, size reg.VecVirtual
	tame       reg.Register
}

func newWide(m lanes.Machine) *wideCoder {
	c := &wideCoder{m.Broadcast(from), m.Broadcast(size), K()}
	KXNORB(c.tame, c.tame, c.tame)
	return c
}

func (c *wideCoder) code(x reg.VecVirtual) reg.VecVirtual {
	codes, bits, offset, tame, zero := YMM(), ZMM(), ZMM(), K(), K()
	VCVTPD2PS_RD_SAE(x, codes)
	VPSLLQ(U8(1), x, bits)
	VPSUBQ(c.from, bits, offset)
	const less = 1
	VPCMPUQ(U8(less), c.size, offset, tame)
	VPTESTNMQ(bits, bits, zero)
	KORB(zero, tame, tame)
	KANDB(tame, c.tame, c.tame)
	return codes
}

func (c *wideCoder) store(codes reg.VecVirtual, set reg.Register, to Mem) { VMOVUPS(codes, set, to) }

func (c *wideCoder) outOfRange() reg.Register {
	outOfRange := GP64()
	KMOVB(c.tame, outOfRange.As32())
	XORQ(U32(1<<8-1), outOfRange)
	return outOfRange
}

// narrowCoder rounds to nearest, and goes one down where that is above.
type narrowCoder struct {
	from, size, zero, one, tame reg.VecVirtual
}

func newNarrow(m lanes.Machine) *narrowCoder {
	c := &narrowCoder{m.Broadcast(fromTurned), m.Broadcast(sizeTurned), m.Zero(), XMM(), YMM()}
	VBROADCASTSS(one, c.one)
	VPCMPEQQ(c.zero, c.zero, c.tame)
	return c
}

// round returns the codes.
func (c *narrowCoder) round(x reg.VecVirtual) reg.VecVirtual {
	codes, back, above := XMM(), YMM(), YMM()
	VCVTPD2PSY(x, codes)
	VCVTPS2PD(codes, back)
	VCMPPD(lanes.Greater, x, back, above)
	// The bits of a float32 grow with its magnitude.
	down := XMM()
	VPSRAD(U8(31), codes, down)
	VPOR(c.one, down, down)
	VPAND(half(above), down, down)
	VPSUBD(down, codes, codes)
	return codes
}

func (c *narrowCoder) code(x reg.VecVirtual) reg.VecVirtual {
	codes := c.round(x)
	bits, offset, tame, zero := YMM(), YMM(), YMM(), YMM()
	VPSLLQ(U8(1), x, bits)
	VPSUBQ(c.from, bits, offset)
	VPCMPGTQ(offset, c.size, tame)
	VPCMPEQQ(bits, c.zero, zero)
	VPOR(zero, tame, tame)
	VPAND(tame, c.tame, c.tame)
	return codes
}

// addRow generates the kernel that adds to one element of each column: four columns at
// a time, then one by one. It looks at all sums before it writes the first.
func addRow() {
	emit.Func("addRow", emit.AVX2, "func(data *float64, codes *float32, stride int, v *float64, n int, sign float64) (done int)",
		"adds sign times n amounts to the elements of a row; done is 0 when nothing is written.", "addRowGeneric")
	const lanesOfQuad = 4
	m := lanes.Machines[0]
	c, sign, magnitude, exact := newNarrow(m), m.Parameter("sign"), m.Broadcast(magnitude), m.Broadcast(exact)
	stride, two, three := Load(Param("stride"), GP64()), GP64(), GP64()
	at, v, left := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 1}, two)
	LEAQ(Mem{Base: two, Index: stride, Scale: 1}, three)
	column := func(base reg.Register, column, size int) Mem {
		if column == 0 {
			return Mem{Base: base}
		}
		return Mem{Base: base, Index: []reg.Register{stride, two, three}[column-1], Scale: uint8(size)}
	}
	// sums returns the amounts of some columns, 4 or 1, and the sums.
	sums := func(columns int) (x, sum reg.VecVirtual) {
		x, sum = YMM(), YMM()
		if columns == 1 {
			VMOVSD(Mem{Base: v}, x.AsX())
			VMOVSD(Mem{Base: at}, sum.AsX())
		} else {
			high := XMM()
			VMOVUPD(Mem{Base: v}, x)
			VMOVSD(column(at, 0, 8), sum.AsX())
			VMOVSD(column(at, 2, 8), high)
			VMOVHPD(column(at, 1, 8), sum.AsX(), sum.AsX())
			VMOVHPD(column(at, 3, 8), high, high)
			VINSERTF128(U8(1), high, sum, sum)
		}
		VMULPD(sign, x, x)
		VADDPD(x, sum, sum)
		return x, sum
	}
	// each emits body for all columns, four at a time and one by one.
	each := func(label string, body func(columns int)) {
		Load(Param("data"), at)
		Load(Param("v"), v)
		Load(Param("n"), left)
		next := func(columns int) {
			LEAQ(Mem{Base: at, Index: stride, Scale: 8}, at)
			ADDQ(U8(8*columns), v)
			if columns == lanesOfQuad {
				LEAQ(Mem{Base: at, Index: three, Scale: 8}, at)
			}
		}
		SUBQ(U8(lanesOfQuad), left)
		JLT(LabelRef(label + "_rest"))
		Label(label + "_four")
		body(lanesOfQuad)
		next(lanesOfQuad)
		SUBQ(U8(lanesOfQuad), left)
		JGE(LabelRef(label + "_four"))
		Label(label + "_rest")
		ADDQ(U8(lanesOfQuad), left)
		JZ(LabelRef(label + "_end"))
		Label(label + "_one")
		body(1)
		next(1)
		DECQ(left)
		JNZ(LabelRef(label + "_one"))
		Label(label + "_end")
	}

	good := YMM()
	VPCMPEQQ(good, good, good)
	each("check", func(columns int) {
		x, sum := sums(columns)
		for _, y := range []reg.VecVirtual{x, sum} {
			const truncate = U8(11)
			whole := m.Rounded(truncate, y)
			VCMPPD(lanes.Equal, whole, y, whole)
			VANDPD(whole, good, good)
			VANDPD(magnitude, y, y)
		}
		VMAXPD(x, sum, sum) // neither is a NaN, or it is not whole
		VCMPPD(lanes.Less, exact, sum, sum)
		VANDPD(sum, good, good)
	})
	bits := GP64()
	VMOVMSKPD(good, bits.As32())
	XORQ(U32(1<<lanesOfQuad-1), bits)
	JNZ(LabelRef("refused"))
	to := Load(Param("codes"), GP64())
	each("write", func(columns int) {
		_, sum := sums(columns)
		codes := c.round(sum)
		VMOVSD(sum.AsX(), Mem{Base: at})
		VMOVSS(codes, Mem{Base: to})
		if columns == lanesOfQuad {
			high := XMM()
			VEXTRACTF128(U8(1), sum, high)
			VMOVHPD(sum.AsX(), column(at, 1, 8))
			VMOVLPD(high, column(at, 2, 8))
			VMOVHPD(high, column(at, 3, 8))
			for i := 1; i < lanesOfQuad; i++ {
				VEXTRACTPS(U8(i), codes, column(to, i, 4))
			}
			LEAQ(Mem{Base: to, Index: three, Scale: 4}, to)
		}
		LEAQ(Mem{Base: to, Index: stride, Scale: 4}, to)
	})
	done := GP64()
	MOVQ(U32(1), done)
	Store(done, ReturnIndex(0))
	emit.Return()
	Label("refused")
	XORQ(done, done)
	Store(done, ReturnIndex(0))
	emit.Return()
}

// half returns four lanes of 32 bits for a set of four lanes of 64.
func half(set reg.VecVirtual) reg.VecVirtual {
	high, lanes := XMM(), XMM()
	VEXTRACTF128(U8(1), set, high)
	VSHUFPS(U8(0x88), high, set.AsX(), lanes)
	return lanes
}

func (c *narrowCoder) store(codes reg.VecVirtual, set reg.Register, to Mem) {
	VMASKMOVPS(codes, half(set.(reg.VecVirtual)), to)
}

func (c *narrowCoder) outOfRange() reg.Register {
	outOfRange := GP64()
	VMOVMSKPD(c.tame, outOfRange.As32())
	XORQ(U32(1<<4-1), outOfRange)
	return outOfRange
}
