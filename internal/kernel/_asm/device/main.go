// Command device generates the kernels of package kernel for the scores of
// accelerators: the bound that their amounts keep, their sums by node, and the
// scores of devices or sums.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

func main() {
	emit.File()
	for _, m := range lanes.Machines {
		groups(machine{m})
		bound(machine{m})
		sums(machine{m})
		scores(machine{m}, "deviceLeast", "scores by the share that is free with the request.", false)
		scores(machine{m}, "deviceMost", "scores by the share that is used with the request.", true)
	}
	segmentSums()
	emit.Generate()
}

// Numbers that vectors are filled with.
var (
	one       = number("one", 1)
	hundred   = number("hundred", 100)
	two52     = number("two_52", 1<<52)
	magnitude = ConstData("magnitude", U64(math.MaxInt64))
	eight     = ConstData("eight", U32(8))
)

func number(name string, x float64) Mem { return ConstData(name, U64(math.Float64bits(x))) }

const (
	nearest  = U8(8) // rounding modes, without exceptions
	truncate = U8(11)
)

// machine is an instruction set as the kernels see it.
type machine struct{ lanes.Machine }

// groups generates the kernel of the sizes of groups, for a multiple of 16 of them.
// It stores 16 numbers to result, the greatest differences of two offsets, and then
// 16 that are negative where an offset or a difference is.
func groups(m machine) {
	const all = 16
	vectors := all / (2 * m.Lanes)
	emit.Func("deviceGroups", m.ISA, "func(result *int32, offsets *int32, n int)",
		"sets result to the greatest sizes of groups, and to what shows that offsets don't ascend.", "groupSizesGeneric")
	offsets, left := Load(Param("offsets"), GP64()), Load(Param("n"), GP64())
	var most, signs []reg.VecVirtual
	for range vectors {
		most, signs = append(most, m.Zero()), append(signs, m.Zero())
	}
	size := m.Vector()
	Label("next")
	for i := range vectors {
		from := Mem{Base: offsets, Disp: 8 * m.Lanes * i}
		VMOVUPD(from.Offset(4), size)
		VORPD(size, signs[i], signs[i])
		VPSUBD(from, size, size)
		VORPD(size, signs[i], signs[i])
		VPMAXSD(size, most[i], most[i])
	}
	ADDQ(U8(4*all), offsets)
	SUBQ(U8(all), left)
	JNZ(LabelRef("next"))
	result := Load(Param("result"), GP64())
	for i := range vectors {
		VMOVUPD(most[i], Mem{Base: result, Disp: 8 * m.Lanes * i})
		VMOVUPD(signs[i], Mem{Base: result, Disp: 4*all + 8*m.Lanes*i})
	}
	emit.Return()
}

// bound generates the kernel of the greatest magnitude. It stores two vectors to
// result: of the magnitudes, and of numbers that are not 0 where an amount has a
// fraction, or is NaN.
func bound(m machine) {
	const vectors = 4
	emit.Func("deviceBound", m.ISA, "func(result *float64, column *float64, n int, lo int, rows *uint64, step int)",
		"sets result to the greatest magnitudes, and to what shows that an amount is not whole.", "deviceBoundGeneric")
	column := lanes.Base("column")
	var greatest, fractions []reg.VecVirtual
	for range vectors {
		greatest, fractions = append(greatest, m.Zero()), append(fractions, m.Zero())
	}
	mask := m.Broadcast(magnitude)
	take := func(i int, x reg.VecVirtual) {
		fraction := m.Rounded(nearest, x)
		VSUBPD(fraction, x, fraction)
		VORPD(fraction, fractions[i], fractions[i])
		VANDPD(mask, x, x)
		VMAXPD(x, greatest[i], greatest[i])
	}
	lanes.EachRows(m.Machine, vectors, func(r lanes.Rows, bits reg.GPVirtual) {
		CMPL(bits.As32(), I32(int32(1<<(vectors*m.Lanes)-1)))
		JNE(LabelRef("some"))
		for i := range vectors {
			take(i, m.Load(m.Next(r.At(column), i)))
		}
		JMP(LabelRef("taken"))
		Label("some")
		for i := range vectors {
			take(i, m.LoadIn(m.SetAt(bits, i), m.Next(r.At(column), i)))
		}
		Label("taken")
	})
	result := Load(Param("result"), GP64())
	for i := 1; i < vectors; i++ {
		VMAXPD(greatest[i], greatest[0], greatest[0])
		VORPD(fractions[i], fractions[0], fractions[0])
	}
	VMOVUPD(greatest[0], Mem{Base: result})
	VMOVUPD(fractions[0], Mem{Base: result, Disp: 64})
	emit.Return()
}

// sums generates the kernel of the sums: it adds up as many groups at a time as a
// vector has lanes, a vector of rows after the other, and then the lanes.
func sums(m machine) {
	emit.Func("deviceSums", m.ISA, "func(dst *float64, n int, lo int, column *float64, offsets *int32, rows *uint64, step int)",
		"sums the rows of each group.", "deviceSumsGeneric")
	dst, column, offsets := lanes.Base("dst"), Load(Param("column"), GP64()), Load(Param("offsets"), GP64())
	size := m.half()
	VPBROADCASTD(eight, size)
	lanes.EachRows(m.Machine, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		group := r.Number()
		var parts []reg.VecVirtual
		for range m.Lanes {
			parts = append(parts, m.Vector())
		}

		// The usual case: eight rows each, and so one after the other.
		CMPL(bits.As32(), U8(1<<m.Lanes-1))
		JNE(LabelRef("any"))
		m.unlessAll(Mem{Base: offsets, Index: group, Scale: 4}, size, "any")
		at := GP64()
		MOVLQSX(Mem{Base: offsets, Index: group, Scale: 4}, at)
		LEAQ(Mem{Base: column, Index: at, Scale: 8}, at)
		for i, sum := range parts {
			VMOVUPD(Mem{Base: at, Disp: 64 * i}, sum)
			if !m.Wide() {
				VADDPD(Mem{Base: at, Disp: 64*i + 32}, sum, sum)
			}
		}
		VMOVUPD(m.across(parts), r.At(dst))
		JMP(LabelRef("stored"))
		Label("any")
		for i, sum := range parts {
			VXORPD(sum, sum, sum)
			label := string(rune('a' + i))
			TESTL(U32(1<<i), bits.As32())
			JZ(LabelRef("added_" + label))
			at, left := GP64(), GP64()
			MOVLQSX(Mem{Base: offsets, Index: group, Scale: 4, Disp: 4 * i}, at)
			MOVLQSX(Mem{Base: offsets, Index: group, Scale: 4, Disp: 4*i + 4}, left)
			SUBQ(at, left)
			LEAQ(Mem{Base: column, Index: at, Scale: 8}, at)
			SUBQ(U8(m.Lanes), left)
			JL(LabelRef("rest_" + label))
			Label("more_" + label)
			VADDPD(Mem{Base: at}, sum, sum)
			ADDQ(U8(8*m.Lanes), at)
			SUBQ(U8(m.Lanes), left)
			JGE(LabelRef("more_" + label))
			Label("rest_" + label)
			ADDQ(U8(m.Lanes), left)
			JZ(LabelRef("added_" + label))
			VADDPD(m.LoadIn(m.First(left), Mem{Base: at}), sum, sum)
			Label("added_" + label)
		}
		m.StoreIn(m.Set(bits), m.across(parts), r.At(dst))
		Label("stored")
	})
	emit.Return()
}

// half returns a vector of as many int32 as a vector of m has float64.
func (m machine) half() reg.VecVirtual {
	if m.Wide() {
		return YMM()
	}
	return XMM()
}

// unlessAll jumps to a label unless all of a vector of groups, whose offsets are
// at from, have a size.
func (m machine) unlessAll(from Mem, size reg.VecVirtual, label string) {
	sizes := m.half()
	VMOVDQU(from.Offset(4), sizes)
	VPSUBD(from, sizes, sizes)
	VPXOR(size, sizes, sizes)
	VPTEST(sizes, sizes)
	JNE(LabelRef(label))
}

// across returns the sum of the lanes of each vector, of which there are as many
// as lanes. They are lost.
func (m machine) across(v []reg.VecVirtual) reg.VecVirtual {
	if !m.Wide() {
		for i := 0; i < 4; i += 2 {
			VHADDPD(v[i+1], v[i], v[i])
		}
		low := m.Vector()
		VPERM2F128(U8(0x20), v[2], v[0], low)
		VPERM2F128(U8(0x31), v[2], v[0], v[0])
		VADDPD(low, v[0], v[0])
		return v[0]
	}
	for i := 0; i < 8; i += 2 {
		low := m.Vector()
		VUNPCKLPD(v[i+1], v[i], low)
		VUNPCKHPD(v[i+1], v[i], v[i])
		VADDPD(low, v[i], v[i])
	}
	for distance := 2; distance < 8; distance *= 2 {
		for i := 0; i < 8; i += 2 * distance {
			even := m.Vector()
			VSHUFF64X2(U8(0x88), v[i+distance], v[i], even)
			VSHUFF64X2(U8(0xDD), v[i+distance], v[i], v[i])
			VADDPD(even, v[i], v[i])
		}
	}
	return v[0]
}

// Offsets in the struct DeviceEntry of package kernel.
const (
	entryTotal   = 0
	entryFree    = 24
	entryOther   = 48
	entryRequest = 72
	entryWeight  = 80
	entrySize    = 88
)

// scores generates the kernel of the scores.
func scores(m machine, name, doc string, most bool) {
	emit.Func(name, m.ISA, "func(dst *int64, n int, lo int, list *byte, count int, mean int, rows *uint64, step int)", doc, "deviceScoresGeneric")
	dst, factor, least, magic := lanes.Base("dst"), m.Broadcast(hundred), m.Broadcast(one), m.Broadcast(two52)
	lanes.EachRows(m.Machine, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		sum, weights := m.Zero(), m.Zero()
		lanes.EachItem(entrySize, func(entry reg.Register) {
			column := func(offset int) Mem {
				base := GP64()
				MOVQ(Mem{Base: entry, Disp: offset}, base)
				return r.At(base)
			}
			total, free := m.Load(column(entryTotal)), m.Load(column(entryFree))
			request := m.Broadcast(Mem{Base: entry, Disp: entryRequest})
			other := GP64()
			MOVQ(Mem{Base: entry, Disp: entryOther}, other)
			TESTQ(other, other)
			JZ(LabelRef("requested"))
			m.complete(request, total, m.Load(r.At(other)), least)
			Label("requested")

			// What is left of the total, in percent.
			exists := m.Compare(total, lanes.Greater, m.Zero())
			orderly := m.Compare(free, lanes.LessOrEqual, total)
			VSUBPD(request, free, free)
			VMAXPD(m.Zero(), free, free)
			m.ClearOthers(orderly, free)
			if most {
				VSUBPD(free, total, free)
			}
			VMULPD(factor, free, free)
			VMAXPD(least, total, total)
			m.quotient(free, total)

			weight := m.Broadcast(Mem{Base: entry, Disp: entryWeight})
			m.ClearOthers(exists, weight)
			VFMADD231PD(weight, free, sum)
			VADDPD(weight, weights, weights)
		})
		mean := Load(Param("mean"), GP64())
		TESTQ(mean, mean)
		JZ(LabelRef("scored"))
		VMAXPD(least, weights, weights)
		m.quotient(sum, weights)
		Label("scored")
		VADDPD(magic, sum, sum)
		if m.Wide() {
			VPXORQ(magic, sum, sum)
		} else {
			VPXOR(magic, sum, sum)
		}
		m.StoreIn(m.Set(bits), sum, r.At(dst))
	})
	emit.Return()
}

// complete sets request, which is of other, to the same share of total, and to 0
// where there is nothing of other.
func (m machine) complete(request, total, other, least reg.VecVirtual) {
	exists := m.Compare(other, lanes.Greater, m.Zero())
	VMULPD(total, request, request)
	VMAXPD(least, other, other)
	m.quotient(request, other)
	m.ClearOthers(exists, request)
}

// quotient sets x to x/y, truncated, which is exact for whole numbers below 2^53:
// a quotient below a whole number is so by 1/y at least, and a division doesn't
// round it up to that.
func (m machine) quotient(x, y reg.VecVirtual) {
	VDIVPD(y, x, x)
	if m.Wide() {
		VRNDSCALEPD(truncate, x, x)
	} else {
		VROUNDPD(truncate, x, x)
	}
}

// segmentSums generates the kernel that sums the rows of each group of four columns,
// one row after the other. Two rows of four columns are loaded so that two
// instructions turn them. AVX-512 has no use for four lanes.
func segmentSums() {
	emit.Func("segmentSums", emit.AVX2, "func(dst *float64, dstStride int, data *float64, stride int, offsets *int32, n int)",
		"sums the rows of n >= 1 groups of four columns.", "segmentSumsGeneric")
	dst, data := Load(Param("dst"), GP64()), Load(Param("data"), GP64())
	offsets, left := Load(Param("offsets"), GP64()), Load(Param("n"), GP64())
	// column returns the place of a column at a base.
	strides := func(name string) func(base reg.Register, column int) Mem {
		one, three := Load(Param(name), GP64()), GP64()
		SHLQ(U8(3), one)
		LEAQ(Mem{Base: one, Index: one, Scale: 2}, three)
		return func(base reg.Register, column int) Mem {
			switch column {
			case 0:
				return Mem{Base: base}
			case 3:
				return Mem{Base: base, Index: three, Scale: 1}
			}
			return Mem{Base: base, Index: one, Scale: uint8(column)}
		}
	}
	in, out := strides("stride"), strides("dstStride")
	lo, hi, rows := GP64(), GP64(), GP64()
	MOVLQSX(Mem{Base: offsets}, lo)
	Label("group")
	MOVLQSX(Mem{Base: offsets, Disp: 4}, hi)
	at, sum := GP64(), YMM()
	LEAQ(Mem{Base: data, Index: lo, Scale: 8}, at)
	MOVQ(hi, rows)
	SUBQ(lo, rows)
	MOVQ(hi, lo)
	VXORPD(sum, sum, sum)
	SUBQ(U8(2), rows)
	JLT(LabelRef("single"))
	Label("pair")
	ac, bd, row := YMM(), YMM(), YMM()
	VMOVUPD(in(at, 0), ac.AsX())
	VMOVUPD(in(at, 1), bd.AsX())
	VINSERTF128(U8(1), in(at, 2), ac, ac)
	VINSERTF128(U8(1), in(at, 3), bd, bd)
	VUNPCKLPD(bd, ac, row)
	VADDPD(row, sum, sum)
	VUNPCKHPD(bd, ac, row)
	VADDPD(row, sum, sum)
	ADDQ(U8(16), at)
	SUBQ(U8(2), rows)
	JGE(LabelRef("pair"))
	Label("single")
	CMPQ(rows, I8(-1))
	JNE(LabelRef("store"))
	ab, cd := XMM(), XMM()
	VMOVSD(in(at, 0), ab)
	VMOVSD(in(at, 2), cd)
	VMOVHPD(in(at, 1), ab, ab)
	VMOVHPD(in(at, 3), cd, cd)
	whole := YMM()
	VINSERTF128(U8(1), cd, ab.AsY(), whole)
	VADDPD(whole, sum, sum)
	Label("store")
	high := XMM()
	VEXTRACTF128(U8(1), sum, high)
	VMOVLPD(sum.AsX(), out(dst, 0))
	VMOVHPD(sum.AsX(), out(dst, 1))
	VMOVLPD(high, out(dst, 2))
	VMOVHPD(high, out(dst, 3))
	ADDQ(U8(4), offsets)
	ADDQ(U8(8), dst)
	DECQ(left)
	JNZ(LabelRef("group"))
	emit.Return()
}
