// Command ratio generates the ratio kernels of package kernel: sums, maxima and
// minima over quotients or products of columns.
//
// Every function keeps the results of eight vectors of rows in registers while
// it walks the columns, and ends with single vectors, the stores of which are
// masked. Columns are read in whole vectors, which stay inside a block of 64
// rows.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

func main() {
	emit.File()
	for _, m := range machines {
		for _, f := range []fold{sum, greatest, least} {
			shared(m, f, byReciprocal)
			shared(m, f, byDivision)
		}
		shared(m, weighted, byWeight)
		for _, f := range []fold{sum, greatest} {
			ownTotals(m, f)
			keptReciprocals(m, f)
		}
	}
	emit.Generate()
}

// shared generates the kernel of f over a list of columns, each with a number
// that all rows share: what s makes of the two is folded.
func shared(m machine, f fold, s scaling) {
	emit.Func(f.name+s.suffix, m.ISA,
		"func(dst *"+f.element+", rows int, data *float64, stride int, cols *int32, "+s.parameter+", n int)",
		"is "+f.what+" "+s.what+".", f.twin+"Generic")
	dst := Load(Param("dst"), GP64())
	left := Load(Param("rows"), GP64())
	data := Load(Param("data"), GP64())
	stride := strideBytes("stride")
	cols := Load(Param("cols"), GP64())
	operands := Load(ParamIndex(5), GP64())
	n := Load(Param("n"), GP64())
	add := f.add
	if f.clean && !s.finite {
		zero := m.zero()
		add = func(q, acc reg.VecVirtual) {
			VMAXPD(zero, q, q) // a NaN, or anything negative, becomes +0
			f.add(q, acc)
		}
	}

	rowLoop(m, dst, left, data, func(vectors int) []reg.VecVirtual {
		acc := f.begin(m, vectors)
		k, operand := GP64(), GP64()
		MOVQ(operands, operand)
		XORQ(k, k)
		head, done := fmt.Sprint("column", vectors), fmt.Sprint("columns", vectors)
		JMP(LabelRef(done))
		Label(head)
		column := GP64()
		MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, column)
		IMULQ(stride, column)
		ADDQ(data, column)
		scale := s.load(m, operand)
		for i := range vectors {
			add(scale(m.at(column, i)), acc[i])
		}
		ADDQ(U8(s.size), operand)
		INCQ(k)
		Label(done)
		CMPQ(k, n)
		JLT(LabelRef(head))
		return acc
	}, f)
	emit.Return()
}

// ownTotals generates the kernel of f over the first columns of two matrices,
// amounts and totals. A quotient whose total is not positive becomes +0, which
// changes neither a sum that started from +0 nor a maximum that did.
func ownTotals(m machine, f fold) {
	emit.Func(f.name+"Rows", m.ISA,
		"func(dst *float64, rows int, data *float64, stride int, total *float64, totalStride int, n int)",
		"is "+f.what+" data/total where total > 0.", f.twin+"RowsGeneric")
	dst := Load(Param("dst"), GP64())
	left := Load(Param("rows"), GP64())
	data := Load(Param("data"), GP64())
	stride := strideBytes("stride")
	// Both matrices advance together: totals stand at a fixed distance.
	total := Load(Param("total"), GP64())
	totalStride := strideBytes("totalStride")
	n := Load(Param("n"), GP64())
	zero := m.zero()
	SUBQ(data, total)

	rowLoop(m, dst, left, data, func(vectors int) []reg.VecVirtual {
		acc := f.begin(m, vectors)
		k, column, totals := GP64(), GP64(), GP64()
		MOVQ(data, column)
		LEAQ(Mem{Base: data, Index: total, Scale: 1}, totals)
		MOVQ(n, k)
		head, done := fmt.Sprint("column", vectors), fmt.Sprint("columns", vectors)
		JMP(LabelRef(done))
		Label(head)
		for i := range vectors {
			f.add(m.positiveQuotient(m.at(column, i), m.at(totals, i), zero), acc[i])
		}
		ADDQ(stride, column)
		ADDQ(totalStride, totals)
		DECQ(k)
		Label(done)
		TESTQ(k, k)
		JNE(LabelRef(head))
		return acc
	}, f)
	emit.Return()
}

// keptReciprocals generates the kernel of f over the first columns of three
// matrices: amounts, totals, and the reciprocals of these, 0 where the total doesn't
// count. Where a reciprocal is NaN it stops, and returns the number of rows that are
// done. The quotients are exact for tame amounts; docs/proofs.md has the proof.
func keptReciprocals(m machine, f fold) {
	emit.Func(f.name+"RowsKept", m.ISA,
		"func(dst *float64, rows int, data *float64, stride int, total *float64, reciprocals *float64, totalStride int, n int) (done int)",
		"is "+f.what+" data/total where total > 0, up to a reciprocal that is NaN.", f.twin+"RowsGeneric")
	dst := Load(Param("dst"), GP64())
	left := Load(Param("rows"), GP64())
	data := Load(Param("data"), GP64())
	stride := strideBytes("stride")
	// The matrices advance together: totals and reciprocals stand at fixed distances.
	total := Load(Param("total"), GP64())
	reciprocals := Load(Param("reciprocals"), GP64())
	totalStride := strideBytes("totalStride")
	n := Load(Param("n"), GP64())
	SUBQ(total, reciprocals)
	SUBQ(data, total)

	rowLoop(m, dst, left, data, func(vectors int) []reg.VecVirtual {
		acc := f.begin(m, vectors)
		var greatest reg.VecVirtual
		if !f.keepsNaN {
			greatest = m.zero()
		}
		k, column, totals := GP64(), GP64(), GP64()
		MOVQ(data, column)
		LEAQ(Mem{Base: data, Index: total, Scale: 1}, totals)
		MOVQ(n, k)
		head, done := fmt.Sprint("column", vectors), fmt.Sprint("columns", vectors)
		JMP(LabelRef(done))
		Label(head)
		reciprocal := Mem{Base: totals, Index: reciprocals, Scale: 1}
		for i := range vectors {
			x, r, q := m.vector(), m.vector(), m.vector()
			VMOVUPD(m.at(column, i), x)
			VMOVUPD(reciprocal.Offset(8*m.lanes*i), r)
			VMULPD(r, x, q)
			VFNMADD231PD(m.at(totals, i), q, x) // x - total*q
			VFMADD231PD(r, x, q)                // the IEEE quotient
			if !f.keepsNaN {
				VPMAXUD(r, greatest, greatest) // of the upper halves; a NaN has the greatest
			}
			f.add(q, acc[i])
		}
		ADDQ(stride, column)
		ADDQ(totalStride, totals)
		DECQ(k)
		Label(done)
		TESTQ(k, k)
		JNE(LabelRef(head))
		if f.keepsNaN {
			m.jumpIfNaN("stop", acc...)
		} else {
			m.jumpIfNaN("stop", greatest)
		}
		return acc
	}, f)
	Store(Load(Param("rows"), GP64()), ReturnIndex(0))
	emit.Return()

	Label("stop")
	done := Load(Param("rows"), GP64())
	SUBQ(left, done)
	Store(done, ReturnIndex(0))
	emit.Return()
}

// unroll is how many vectors of rows are in flight.
const unroll = 8

// rowLoop emits pass for every run of unroll vectors of rows and then for every
// single vector, and stores what pass returns as f wants it.
func rowLoop(m machine, dst, left, data reg.Register, pass func(vectors int) []reg.VecVirtual, f fold) {
	const head, single, end = "vectors", "vector", "end"
	advance := func(vectors int) {
		ADDQ(U32(8*m.lanes*vectors), data)
		ADDQ(U32(8*m.lanes*vectors), dst)
		SUBQ(U32(m.lanes*vectors), left)
	}

	Label(head)
	CMPQ(left, U32(m.lanes*unroll))
	JLT(LabelRef(single))
	for i, acc := range pass(unroll) {
		VMOVUPD(f.result(m, acc), m.at(dst, i))
	}
	advance(unroll)
	JMP(LabelRef(head))

	Label(single)
	TESTQ(left, left)
	JLE(LabelRef(end))
	m.storeFirst(left, f.result(m, pass(1)[0]), Mem{Base: dst})
	advance(1)
	JMP(LabelRef(single))
	Label(end)
}

// strideBytes loads a stride and turns it into bytes.
func strideBytes(name string) reg.Register {
	stride := Load(Param(name), GP64())
	SHLQ(U8(3), stride)
	return stride
}
