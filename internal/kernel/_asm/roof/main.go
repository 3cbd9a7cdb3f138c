// Command roof generates the kernels of package benchmarks/internal/roof, which read memory and do nothing else worth
// mentioning: the speed that no kernel of the same instruction set can exceed.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

func main() {
	emit.File()
	generate(emit.AVX2, 32, func() reg.VecVirtual { return YMM() })
	generate(emit.AVX512, 64, func() reg.VecVirtual { return ZMM() })
	emit.Generate()
}

// generate emits a function that walks blocks of 64 rows and, within one, the
// streams, as the compare kernels walk columns. It takes at least one block
// and at least one stream.
func generate(isa emit.ISA, width int, register func() reg.VecVirtual) {
	emit.Func("roof", isa, "func(data *float64, blocks int, stride int, streams int) float64",
		"returns some sum of the first 64*blocks elements of every stream.", "sumGeneric up to the order of the additions")
	data := Load(Param("data"), GP64())
	blocks := Load(Param("blocks"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(3), stride)
	streams := Load(Param("streams"), GP64())
	sums := make([]reg.VecVirtual, 8)
	for i := range sums {
		sums[i] = register()
		VXORPD(sums[i], sums[i], sums[i])
	}

	left, at := GP64(), GP64()
	Label("block")
	MOVQ(streams, left)
	MOVQ(data, at)
	Label("stream")
	for v := range 512 / width {
		VADDPD(Mem{Base: at, Disp: v * width}, sums[v%8], sums[v%8])
	}
	ADDQ(stride, at)
	DECQ(left)
	JNZ(LabelRef("stream"))
	ADDQ(U32(512), data)
	DECQ(blocks)
	JNZ(LabelRef("block"))

	for _, sum := range sums[1:] {
		VADDPD(sum, sums[0], sums[0])
	}
	upper := YMM()
	if isa == emit.AVX512 {
		VEXTRACTF64X4(U8(1), sums[0], upper)
		VADDPD(upper, sums[0].AsY(), sums[0].AsY())
	}
	sum := sums[0].AsX()
	VEXTRACTF128(U8(1), sums[0].AsY(), upper.AsX())
	VADDPD(upper.AsX(), sum, sum)
	VHADDPD(sum, sum, sum)
	Store(sum, ReturnIndex(0))
	emit.Return()
}
