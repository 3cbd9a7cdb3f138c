package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// Offsets in peakTerm.
const (
	peakUsed, peakReciprocals            = 0, 24
	peakFactor, peakOffset, peakTermSize = 48, 56, 64
)

var negInf = ConstData("neg_inf", U64(0xFFF0000000000000))

// strategyPeaks generates the greatest score of each block, nearly. It stores no scores:
// a block's greatest one stays in a vector, whose lanes are compared at its end.
func strategyPeaks(m lanes.Machine) {
	emit.Func("strategyPeaks", m.ISA,
		"func(dst *float64, n int, lo int, terms *byte, count int, start float64, base *float64, rows *uint64, step int) (doubt int)",
		"finds the greatest score of each block, nearly; doubt is not 0 when it can't.", "strategyPeaksGeneric")
	vectors := 2
	if m.Wide() {
		vectors = 4
	}
	dst, least, peak := Load(Param("dst"), GP64()), m.Broadcast(negInf), m.Vector()
	signs, odd := m.Zero(), m.Zero() // of used amounts; the sum of all sums, NaN if one is
	lanes.EachBlock(m, vectors, func() { VMOVAPD(least, peak) }, func(r lanes.Rows, bits reg.GPVirtual) {
		start := m.Parameter("start")
		sum := make([]reg.VecVirtual, vectors)
		for i := range sum {
			sum[i] = m.Vector()
			VMOVAPD(start, sum[i])
		}
		term, left := Load(Param("terms"), GP64()), Load(Param("count"), GP64())
		Label("peak_term")
		column := func(at int) Mem {
			c := GP64()
			MOVQ(Mem{Base: term, Disp: at}, c)
			return r.At(c)
		}
		used, reciprocals := column(peakUsed), column(peakReciprocals)
		factor, offset := m.Broadcast(Mem{Base: term, Disp: peakFactor}), m.Broadcast(Mem{Base: term, Disp: peakOffset})
		var before reg.VecVirtual // the used amounts of the vector before
		for i := range sum {
			u, x := m.Load(m.Next(used, i)), m.Vector()
			switch {
			case !m.Wide():
				VORPD(u, signs, signs)
			case i%2 == 0:
				before = u
			default:
				VPTERNLOGQ(U8(0xFE), before, u, signs) // joins all three
			}
			VMULPD(factor, u, x)
			VADDPD(offset, x, x)
			VMULPD(m.Next(reciprocals, i), x, x)
			VADDPD(x, sum[i], sum[i])
		}
		ADDQ(U8(peakTermSize), term)
		DECQ(left)
		JNZ(LabelRef("peak_term"))

		given := Load(Param("base"), GP64())
		TESTQ(given, given)
		JZ(LabelRef("based"))
		base := lanes.Base("base")
		for i, s := range sum {
			VADDPD(m.LoadIn(m.SetAt(bits, i), m.Next(r.At(base), i)), s, s)
		}
		Label("based")
		for i, s := range sum {
			VADDPD(s, odd, odd)
			set := m.SetAt(bits, i)
			if m.Wide() {
				VMAXPD(s, peak, set, peak)
				continue
			}
			VBLENDVPD(set, s, least, s)
			VMAXPD(s, peak, peak)
		}
	}, func() {
		half, quarter := YMM(), XMM()
		if m.Wide() {
			VEXTRACTF64X4(U8(1), peak, half)
			VMAXPD(half, peak.AsY(), half)
		} else {
			VMOVAPD(peak, half)
		}
		VEXTRACTF128(U8(1), half, quarter)
		VMAXPD(quarter, half.AsX(), quarter)
		other := XMM()
		VPERMILPD(U8(1), quarter, other)
		VMAXSD(other, quarter, quarter)
		VMOVSD(quarter, Mem{Base: dst})
		ADDQ(U8(8), dst)
	})
	const unordered = U8(3)
	doubt := m.Compare(odd, unordered, odd)
	if m.Wide() {
		signed := K()
		VPMOVQ2M(signs, signed)
		m.Join(doubt, signed)
	} else {
		m.Join(doubt, signs)
	}
	Store(m.Bits(doubt), ReturnIndex(0))
	emit.Return()
}
