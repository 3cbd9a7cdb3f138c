// Command strategy generates the strategy kernels of package kernel: the sum of
// a strategy fit with its guards, the avoidance of scarce resources and the
// reserve for idle devices.
//
// The scores are made a vector of rows at a time, column by column, and stored
// in the lanes of the selected rows. Vectors without a selected row are passed
// over, since a mask may well be of the few rows that changed.
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
		strategyFit(m, "strategyFit", "scores rows by the terms.", false)
		strategyFit(m, "strategySum", "scores rows by the terms and by what they have.", true)
		strategyKept(m, "strategyFit", "scores rows by the terms, up to one that it can't.", false)
		strategyKept(m, "strategySum", "scores rows by the terms and by what they have, up to one that it can't.", true)
		strategyPeaks(m)
		scarceBase(m)
		setPresent(m)
		andReserve(m)
	}
	emit.Generate()
}

// Offsets in StrategyTerm, ScarceTerm, a list of slices and ReserveRule.
const (
	termUsed, termAllocatable, termReciprocals   = 0, 24, 48
	termRequest, termWeight, termLeast, termSize = 72, 80, 88, 96

	scarceAllocatable, scarceWeight, scarceSize = 0, 24, 32

	columnSize = 24

	rulePrimary, rulePrimaryUsed, ruleSecondary, ruleSecondaryUsed = 0, 24, 48, 72
	ruleRequest, rulePerUnit, ruleScale                            = 96, 104, 112
)

// strategyFit generates the sum over the terms and what becomes of it, and adds
// base where that is asked for. Two vectors at a time share what there is to do
// per term.
func strategyFit(m lanes.Machine, name, doc string, add bool) {
	more := ""
	if add {
		more = "base *float64, columns *byte, others int, "
	}
	emit.Func(name, m.ISA,
		"func(dst *float64, n int, lo int, terms *byte, count int, weights float64, points float64, "+more+"rows *uint64, step int)",
		doc, name+"Generic")
	weights, points := m.Parameter("weights"), m.Parameter("points")
	zero, guard := m.Zero(), newGuard(m)
	const vectors = 2
	lanes.EachRows(m, vectors, func(r lanes.Rows, bits reg.GPVirtual) {
		sum, present := make([]reg.VecVirtual, vectors), make([]reg.Register, vectors)
		for i := range sum {
			sum[i] = m.Vector()
			VMOVAPD(zero, sum[i])
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
		used, allocatable := column(termUsed), column(termAllocatable)
		for i := range sum {
			a, u := m.Load(m.Next(allocatable, i)), m.Load(m.Next(used, i))
			if add {
				m.Narrow(present[i], a, lanes.Greater, zero)
			}
			x, room := m.Vector(), m.Vector()
			m.Add(Mem{Base: term, Disp: termRequest}, u, x)
			VSUBPD(x, a, room)
			y := choose(m, Mem{Base: term, Disp: termLeast}, room, x)
			m.Multiply(Mem{Base: term, Disp: termWeight}, y, y)
			guard.poison(m, y, u, room, zero)
			m.DivideIn(m.Compare(a, lanes.NotEqual, zero), y, a)
			VADDPD(y, sum[i], sum[i])
		}
		ADDQ(U8(termSize), term)
		DECQ(left)
		JNZ(LabelRef("term"))

		if add {
			narrowToPresent(m, r, present, zero)
		}
		for i, s := range sum {
			ok := m.Compare(s, lanes.Ordered, s)
			VDIVPD(weights, s, s)
			VMULPD(points, s, s)
			m.ClearOthers(ok, s)
			if add {
				VADDPD(m.LoadIn(present[i], m.Next(r.At(lanes.Base("base")), i)), s, s)
			}
			m.StoreIn(m.SetAt(bits, i), s, m.Next(r.At(lanes.Base("dst")), i))
		}
	})
	emit.Return()
}

// scarceBase generates the weighing of what a row does not have.
func scarceBase(m lanes.Machine) {
	emit.Func("scarceBase", m.ISA,
		"func(dst *float64, n int, lo int, list *byte, count int, start float64, scale float64, total float64, rows *uint64, step int)",
		"weighs what rows don't have.", "scarceBaseGeneric")
	start, scale := m.Parameter("start"), m.Parameter("scale")
	total, zero := m.Parameter("total"), m.Zero()
	dst := lanes.Base("dst")
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		group, sum := m.Set(bits), m.Vector()
		VMOVAPD(start, sum)
		lanes.EachItem(scarceSize, func(term reg.Register) {
			column := GP64()
			MOVQ(Mem{Base: term, Disp: scarceAllocatable}, column)
			absent := m.Compare(m.Load(r.At(column)), lanes.NotGreater, zero)
			m.AddIn(absent, Mem{Base: term, Disp: scarceWeight}, sum)
		})
		VMULPD(scale, sum, sum)
		VDIVPD(total, sum, sum)
		m.StoreIn(group, sum, r.At(dst))
	})
	emit.Return()
}

// setPresent generates the choice between base and 0.
func setPresent(m lanes.Machine) {
	emit.Func("setPresent", m.ISA,
		"func(dst *float64, base *float64, n int, lo int, columns *byte, others int, rows *uint64, step int)",
		"sets dst to base where all columns are above 0, and to 0 elsewhere.", "setPresentGeneric")
	zero := m.Zero()
	dst, from := lanes.Base("dst"), lanes.Base("base")
	const vectors = 4
	lanes.EachRows(m, vectors, func(r lanes.Rows, bits reg.GPVirtual) {
		present := make([]reg.Register, vectors)
		for i := range present {
			present[i] = m.SetAt(bits, i)
		}
		narrowToPresent(m, r, present, zero)
		for i, set := range present {
			score := m.LoadIn(set, m.Next(r.At(from), i))
			m.StoreIn(m.SetAt(bits, i), score, m.Next(r.At(dst), i))
		}
	})
	emit.Return()
}

// narrowToPresent removes from the sets of consecutive vectors the rows that
// have not more than 0 of one of the columns, a parameter, of which there are
// others.
func narrowToPresent(m lanes.Machine, r lanes.Rows, sets []reg.Register, zero reg.VecVirtual) {
	list := Load(Param("columns"), GP64())
	left := Load(Param("others"), GP64())
	JMP(LabelRef("columns"))
	Label("column")
	column := GP64()
	MOVQ(Mem{Base: list}, column)
	for i, set := range sets {
		m.Narrow(set, zero, lanes.Less, m.Next(r.At(column), i))
	}
	ADDQ(U8(columnSize), list)
	DECQ(left)
	Label("columns")
	TESTQ(left, left)
	JNZ(LabelRef("column"))
}

// andReserve generates the check of one rule.
func andReserve(m lanes.Machine) {
	emit.Func("andReserve", m.ISA, "func(dst *uint64, words int, rule *byte)",
		"clears the bits of the rows that fail.", "andReserveGeneric")
	dst, words := Load(Param("dst"), GP64()), Load(Param("words"), GP64())
	rule := Load(Param("rule"), GP64())
	number := func(at int) reg.VecVirtual { return m.Broadcast(Mem{Base: rule, Disp: at}) }
	request, perUnit, scale, zero := number(ruleRequest), number(rulePerUnit), number(ruleScale), m.Zero()
	pointer := func(at int) reg.GPVirtual {
		p := GP64()
		MOVQ(Mem{Base: rule, Disp: at}, p)
		return p
	}
	primary, primaryUsed := pointer(rulePrimary), pointer(rulePrimaryUsed)
	secondary, secondaryUsed := pointer(ruleSecondary), pointer(ruleSecondaryUsed)
	scaled, one := GP64(), GP64() // 0 when the scale is 1
	MOVQ(Mem{Base: rule, Disp: ruleScale}, scaled)
	MOVQ(U64(math.Float64bits(1)), one)
	SUBQ(one, scaled)
	offset, word, turns := GP64(), GP64(), GP64()
	XORQ(offset, offset)

	Label("word")
	MOVQ(Mem{Base: dst}, word)
	TESTQ(word, word)
	JNZ(LabelRef("some"))
	ADDQ(U32(8*64), offset)
	JMP(LabelRef("next"))
	Label("some")
	MOVQ(U32(64/m.Lanes), turns)
	Label("group")
	// The group's bits are the low ones of the word, which turns around once.
	TESTL(U32(1<<m.Lanes-1), word.As32())
	JZ(LabelRef("skip"))
	at := func(column reg.Register) Mem { return Mem{Base: column, Index: offset, Scale: 1} }
	p := m.Load(at(primary))
	has := m.Compare(p, lanes.NotLessOrEqual, zero)
	needed, left := m.Vector(), m.Load(at(secondary))
	VSUBPD(at(primaryUsed), p, needed)
	VMAXPD(needed, zero, needed) // of equals, or of a NaN and a number, the idle amount
	VMULPD(perUnit, needed, needed)
	TESTQ(scaled, scaled)
	JZ(LabelRef("unscaled"))
	VDIVPD(scale, needed, needed)
	Label("unscaled")
	VSUBPD(at(secondaryUsed), left, left)
	VSUBPD(request, left, left)
	m.Narrow(has, left, lanes.NotGreaterOrEqual, needed)
	fail := m.Bits(has)
	NOTQ(fail)
	ANDQ(fail, word)
	Label("skip")
	RORQ(U8(m.Lanes), word)
	ADDQ(U32(8*m.Lanes), offset)
	DECQ(turns)
	JNZ(LabelRef("group"))
	MOVQ(word, Mem{Base: dst})
	Label("next")
	ADDQ(U8(8), dst)
	DECQ(words)
	JNZ(LabelRef("word"))
	emit.Return()
}

// choose returns x where the bits at least are ones, and otherwise where they
// are zeros. It may change otherwise.
func choose(m lanes.Machine, least Mem, x, otherwise reg.VecVirtual) reg.VecVirtual {
	if m.Wide() {
		VPTERNLOGQ_BCST(U8(0xD8), least, x, otherwise)
		return otherwise
	}
	VBLENDVPD(m.Broadcast(least), x, otherwise, otherwise)
	return otherwise
}
