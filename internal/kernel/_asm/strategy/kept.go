package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// strategyKept generates strategyFit for terms with reciprocals, of positive
// requests that are tame and weights from 1 to 2^64. The quotients are exact;
// docs/proofs.md has the proof. It stops where one need not be: at a NaN, be it of a
// reciprocal or of an amount, and at a used amount with a sign. The result is how
// many rows are done, whole blocks of them.
func strategyKept(m lanes.Machine, name, doc string, add bool) {
	more := ""
	if add {
		more = "base *float64, columns *byte, others int, "
	}
	emit.Func(name+"Kept", m.ISA,
		"func(dst *float64, n int, lo int, terms *byte, count int, weights float64, inverse float64, points float64, "+more+"rows *uint64, step int) (done int)",
		doc, name+"Generic")
	zero := m.Zero()
	vectors := 2
	if m.Wide() {
		vectors = 4
	}
	var at lanes.Rows
	lanes.EachRows(m, vectors, func(r lanes.Rows, bits reg.GPVirtual) {
		at = r
		sum, refused := make([]reg.VecVirtual, vectors), make([]reg.VecVirtual, vectors)
		present := make([]reg.Register, vectors)
		signs := m.Zero() // the signs of used amounts
		for i := range sum {
			sum[i], refused[i] = m.Zero(), m.Zero()
			if add {
				present[i] = m.SetAt(bits, i)
			}
		}
		term := Load(Param("terms"), GP64())
		left := Load(Param("count"), GP64())
		Label("term")
		column := func(at int) Mem {
			c := GP64()
			MOVQ(Mem{Base: term, Disp: at}, c)
			return r.At(c)
		}
		used, allocatable, reciprocals := column(termUsed), column(termAllocatable), column(termReciprocals)
		request, weight := m.Broadcast(Mem{Base: term, Disp: termRequest}), m.Broadcast(Mem{Base: term, Disp: termWeight})
		var before reg.VecVirtual // the used amounts of the vector before
		part := func(i int, least bool) {
			a, u, x, room := m.Load(m.Next(allocatable, i)), m.Load(m.Next(used, i)), m.Vector(), m.Vector()
			if add {
				m.Narrow(present[i], a, lanes.Greater, zero)
			}
			switch {
			case !m.Wide():
				VORPD(u, signs, signs)
			case i%2 == 0:
				before = u
			default:
				VPTERNLOGQ(U8(0xFE), before, u, signs) // joins all three
			}
			VADDPD(request, u, x)
			VSUBPD(x, a, room)
			has := m.Compare(a, lanes.NotEqual, zero)
			orIn(m, has, room, refused[i])
			if least {
				x = room
			}
			z, q := m.Load(m.Next(reciprocals, i)), m.Vector()
			VMULPD(weight, x, x)
			VMULPD(z, x, q)
			VFNMADD231PD(a, q, x)
			VFMADD231PD(z, x, q)
			addIn(m, has, q, sum[i])
		}
		kind := GP64()
		MOVQ(Mem{Base: term, Disp: termLeast}, kind)
		TESTQ(kind, kind)
		JZ(LabelRef("most"))
		for i := range sum {
			part(i, true)
		}
		JMP(LabelRef("next_term"))
		Label("most")
		for i := range sum {
			part(i, false)
		}
		Label("next_term")
		ADDQ(U8(termSize), term)
		DECQ(left)
		JNZ(LabelRef("term"))

		stopAt(m, "stop", signs, sum)
		if add {
			narrowToPresent(m, r, present, zero)
		}
		weights, inverse, points := m.Parameter("weights"), m.Parameter("inverse"), m.Parameter("points")
		for i, s := range sum {
			q := m.Vector()
			VMULPD(inverse, s, q)
			VFNMADD231PD(weights, q, s)
			VFMADD231PD(inverse, s, q)
			VMULPD(points, q, q)
			clearSigned(m, refused[i], q)
			if add {
				VADDPD(m.LoadIn(present[i], m.Next(r.At(lanes.Base("base")), i)), q, q)
			}
			m.StoreIn(m.SetAt(bits, i), q, m.Next(r.At(lanes.Base("dst")), i))
		}
	})
	Store(Load(Param("n"), GP64()), ReturnIndex(0))
	emit.Return()

	Label("stop")
	row := at.Number()
	SUBQ(Load(Param("lo"), GP64()), row)
	ANDQ(I8(-64), row)
	Store(row, ReturnIndex(0))
	emit.Return()
}

// orIn joins the bits of x to acc in the lanes of a set.
func orIn(m lanes.Machine, set reg.Register, x, acc reg.VecVirtual) {
	if m.Wide() {
		VORPD(x, acc, set, acc)
		return
	}
	v := YMM()
	VANDPD(x, set, v)
	VORPD(v, acc, acc)
}

// addIn adds x to acc in the lanes of a set. x is lost.
func addIn(m lanes.Machine, set reg.Register, x, acc reg.VecVirtual) {
	if m.Wide() {
		VADDPD(x, acc, set, acc)
		return
	}
	VANDPD(x, set, x)
	VADDPD(x, acc, acc)
}

// stopAt jumps to a label when one of the sums is NaN or a sign is set.
func stopAt(m lanes.Machine, label string, signs reg.VecVirtual, sum []reg.VecVirtual) {
	const unordered = U8(3)
	if m.Wide() {
		found := K()
		VPMOVQ2M(signs, found)
		for i := 0; i < len(sum); i += 2 {
			nan := K()
			VCMPPD(unordered, sum[i], sum[i+1], nan)
			KORB(nan, found, found)
		}
		KORTESTB(found, found)
	} else {
		nan, bits := YMM(), GP32()
		VCMPPD(unordered, sum[0], sum[1], nan)
		VORPD(signs, nan, nan)
		VMOVMSKPD(nan, bits)
		TESTL(bits, bits)
	}
	JNE(LabelRef(label))
}

// clearSigned sets x to +0 in the lanes where the sign of y is set.
func clearSigned(m lanes.Machine, y, x reg.VecVirtual) {
	if m.Wide() {
		signed := K()
		VPMOVQ2M(y, signed)
		VXORPD(x, x, signed, x)
		return
	}
	VBLENDVPD(y, m.Zero(), x, x)
}
