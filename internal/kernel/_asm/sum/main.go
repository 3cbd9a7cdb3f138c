// Command sum generates the kernel that adds up whole numbers in any order, and says
// whether that was allowed.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

func main() {
	emit.File()
	magnitude := ConstData("magnitude", U64(1<<63-1)) // all bits but the sign
	toWhole := ConstData("to_whole", F64(1<<52))      // a sum with it has no fraction
	generate(emit.AVX2, 32, magnitude, toWhole, func() reg.VecVirtual { return YMM() })
	generate(emit.AVX512, 64, magnitude, toWhole, func() reg.VecVirtual { return ZMM() })
	emit.Generate()
}

// unit is how many values one turn of the loop reads, as in package kernel.
const unit = 32

// lanes is how many sums of vectors run side by side: an addition waits for the last one
// of its sum.
const lanes = 4

func generate(isa emit.ISA, width int, magnitude, toWhole Mem, register func() reg.VecVirtual) {
	emit.Func("sumWhole", isa, "func(values *float64, units int) (sum, largest float64, fraction uint64)",
		"returns the sum of 32*units values, their greatest magnitude, and bits that are 0 if all values are whole.",
		"sumWholeGeneric up to the order of the additions and which bits are set")
	at := Load(Param("values"), GP64())
	units := Load(Param("units"), GP64())
	zeros := func(n int) []reg.VecVirtual {
		all := make([]reg.VecVirtual, n)
		for i := range all {
			all[i] = register()
			VXORPD(all[i], all[i], all[i])
		}
		return all
	}
	sums, largest, fraction := zeros(lanes), zeros(lanes), zeros(1)[0]
	noSign, rounds := register(), register()
	VBROADCASTSD(magnitude, noSign)
	VBROADCASTSD(toWhole, rounds)

	Label("unit")
	for v := range unit * 8 / width {
		x, whole := register(), register()
		VMOVUPD(Mem{Base: at, Disp: v * width}, x)
		VADDPD(x, sums[v%lanes], sums[v%lanes])
		VANDPD(x, noSign, x)
		VMAXPD(x, largest[v%lanes], largest[v%lanes])
		VADDPD(x, rounds, whole)
		VSUBPD(rounds, whole, whole)
		if isa == emit.AVX512 {
			VPTERNLOGQ(U8(orDifference), x, whole, fraction)
		} else {
			VXORPD(x, whole, whole)
			VORPD(whole, fraction, fraction)
		}
	}
	ADDQ(U32(unit*8), at)
	DECQ(units)
	JNZ(LabelRef("unit"))

	Store(folded(isa, sums, func(x, y Op, dst reg.VecVirtual) { VADDPD(x, y, dst) }), ReturnIndex(0))
	Store(folded(isa, largest, func(x, y Op, dst reg.VecVirtual) { VMAXPD(x, y, dst) }), ReturnIndex(1))
	Store(folded(isa, []reg.VecVirtual{fraction}, func(x, y Op, dst reg.VecVirtual) { VORPD(x, y, dst) }), ReturnIndex(2))
	emit.Return()
}

// orDifference is the operand of VPTERNLOGQ for bits that the first has, or one of the
// other two.
const orDifference = 0xf6

// folded returns one of what all elements of some registers make.
func folded(isa emit.ISA, all []reg.VecVirtual, with func(x, y Op, dst reg.VecVirtual)) reg.Register {
	for n := len(all) / 2; n > 0; n /= 2 {
		for i := range n {
			with(all[n+i], all[i], all[i])
		}
	}
	upper := YMM()
	if isa == emit.AVX512 {
		VEXTRACTF64X4(U8(1), all[0], upper)
		with(upper, all[0].AsY(), all[0].AsY().(reg.VecVirtual))
	}
	x := all[0].AsX().(reg.VecVirtual)
	VEXTRACTF128(U8(1), all[0].AsY(), upper.AsX())
	with(upper.AsX(), x, x)
	VPERMILPD(U8(1), x, upper.AsX())
	with(upper.AsX(), x, x)
	return x
}
