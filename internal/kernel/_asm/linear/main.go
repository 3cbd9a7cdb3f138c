// Command linear generates the linear kernels of package kernel: sums of products
// of columns, and what becomes of such a sum as an amount or as a charge.
//
// Sums are kept in registers, some vectors of rows at a time, while the terms are
// walked, and until they are stored. The slices that are written are plain: their
// last vector is masked.
package main

import (
	"fmt"
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
		sum(m)
		amount(m)
		charge(m)
	}
	emit.Generate()
}

// Offsets in the struct LinearTerm of package kernel.
const termInput, termMultiplier, termAbsent, termFactor, termSize = 0, 24, 48, 56, 64

// unroll is how many vectors of rows are in flight.
const unroll = 8

// Rounding modes, without the exception for inexact results.
const toFloor, toCeiling = U8(0x09), U8(0x0A)

// Numbers that vectors are filled with, by their bits.
var (
	infinity = ConstData("infinity", U64(math.Float64bits(math.Inf(1))))
	two53    = ConstData("two_53", U64(math.Float64bits(1<<53)))
)

// Parameters that the kernels share. add is 0 where acc holds nothing yet, and
// divide where over is 1; kept may be nil.
const (
	rowParameters  = "acc *float64, n int, lo int, "
	listParameters = "list *byte, count int"
	keptParameters = ", kept *float64, over float64, divide int"
)

func sum(m lanes.Machine) {
	emit.Func("linearSum", m.ISA, "func("+rowParameters+listParameters+")", "adds products of columns.", "linearSumGeneric")
	g := newGenerator(m)
	lanes.EachVector(m, unroll, func(r lanes.Rows, vectors int, set reg.Register) {
		p := pass{g, r, vectors, set}
		ys := p.load(g.acc)
		p.terms(ys)
		p.store(ys)
	})
	emit.Return()
}

func amount(m lanes.Machine) {
	emit.Func("linearAmount", m.ISA, "func("+rowParameters+"add int, "+listParameters+keptParameters+")",
		"sums products of columns, and makes the sum an amount.", "linearAmountGeneric")
	g := newGenerator(m)
	lanes.EachVector(m, unroll, func(r lanes.Rows, vectors int, set reg.Register) {
		p := pass{g, r, vectors, set}
		ys := p.generated()
		kept := Load(Param("kept"), GP64())
		p.unless(kept, "nothing", func() {
			for i, y := range ys {
				VADDPD(p.at(kept, i), y, y)
			}
		})
		p.positive(ys)
		p.store(ys)
	})
	emit.Return()
}

func charge(m lanes.Machine) {
	emit.Func("linearCharge", m.ISA,
		"func("+rowParameters+"add int, "+listParameters+keptParameters+", unit float64, units int, pods *float64)",
		"sums products of columns, and makes the sum a charge; units is 0 where unit is 1, pods may be nil.", "linearChargeGeneric")
	g := newGenerator(m)
	lanes.EachVector(m, unroll/2, func(r lanes.Rows, vectors int, set reg.Register) {
		p := pass{g, r, vectors, set}
		ys := p.generated()
		p.roundUp(ys)
		for _, y := range ys {
			VMAXPD(y, g.zero, y) // y where it is a NaN
		}
		p.unless(Load(Param("units"), GP64()), "single", func() {
			unit := m.Parameter("unit")
			for _, y := range ys {
				VDIVPD(unit, y, y)
				VMULPD(unit, m.Rounded(toCeiling, y), y)
			}
		})
		p.bound(ys)
		pods := Load(Param("pods"), GP64())
		p.unless(pods, "one", func() {
			for i, y := range ys {
				n := m.LoadSet(set, p.at(pods, i))
				none := m.Compare(n, lanes.Equal, g.zero)
				m.Narrow(none, y, lanes.Ordered, y)
				m.Choose(none, g.zero, y)
				VMULPD(n, y, y)
			}
			p.bound(ys)
		})
		p.positive(ys)
		p.store(ys)
	})
	emit.Return()
}

// generator is what a kernel keeps in registers throughout.
type generator struct {
	lanes.Machine
	acc  reg.Register
	zero reg.VecVirtual
}

func newGenerator(m lanes.Machine) generator { return generator{m, lanes.Base("acc"), m.Zero()} }

// pass is one walk over the terms, for some vectors of rows.
type pass struct {
	generator
	rows    lanes.Rows
	vectors int
	set     reg.Register // the lanes of the only vector, or nil for all
}

// label returns a name that no other pass has.
func (p pass) label(name string) string { return fmt.Sprint(name, p.vectors) }

// at returns the place of the i-th vector.
func (p pass) at(base reg.Register, i int) Mem { return p.Next(p.rows.At(base), i) }

// unless emits body to be passed over when a register holds 0.
func (p pass) unless(x reg.Register, label string, body func()) {
	TESTQ(x, x)
	JZ(LabelRef(p.label(label)))
	body()
	Label(p.label(label))
}

// load returns the vectors of a plain slice.
func (p pass) load(base reg.Register) []reg.VecVirtual {
	vs := make([]reg.VecVirtual, p.vectors)
	for i := range vs {
		vs[i] = p.LoadSet(p.set, p.at(base, i))
	}
	return vs
}

func (p pass) store(ys []reg.VecVirtual) {
	for i, y := range ys {
		p.StoreSet(p.set, y, p.at(p.acc, i))
	}
}

// terms adds the terms to sums.
func (p pass) terms(sums []reg.VecVirtual) {
	item, left := Load(Param("list"), GP64()), Load(Param("count"), GP64())
	p.unless(left, "done", func() {
		Label(p.label("term"))
		input, multiplier := pointer(item, termInput), pointer(item, termMultiplier)
		factor := p.Broadcast(Mem{Base: item, Disp: termFactor})
		TESTQ(multiplier, multiplier)
		JZ(LabelRef(p.label("plain")))
		absent := p.Broadcast(Mem{Base: item, Disp: termAbsent})
		for i, sum := range sums {
			x := p.Load(p.at(multiplier, i))
			p.Choose(p.Compare(x, lanes.Equal, p.zero), absent, x)
			VMULPD(p.at(input, i), x, x)
			VMULPD(factor, x, x)
			VADDPD(x, sum, sum)
		}
		JMP(LabelRef(p.label("next")))
		Label(p.label("plain"))
		for i, sum := range sums {
			x := p.Machine.Vector()
			VMULPD(p.at(input, i), factor, x)
			VADDPD(x, sum, sum)
		}
		Label(p.label("next"))
		ADDQ(U8(termSize), item)
		DECQ(left)
		JNZ(LabelRef(p.label("term")))
	})
}

// pointer loads a pointer of a term.
func pointer(item reg.Register, offset int) reg.Register {
	x := GP64()
	MOVQ(Mem{Base: item, Disp: offset}, x)
	return x
}

// generated returns the sums over the parameter over, at least 0. A maximum
// instruction returns its second source, which Go writes first, for a NaN.
func (p pass) generated() []reg.VecVirtual {
	ys := make([]reg.VecVirtual, p.vectors)
	for i := range ys {
		ys[i] = p.Zero()
	}
	p.unless(Load(Param("add"), GP64()), "nothing_yet", func() {
		for i, x := range p.load(p.acc) {
			VMOVAPD(x, ys[i])
		}
	})
	p.terms(ys)
	p.unless(Load(Param("divide"), GP64()), "undivided", func() {
		over := p.Parameter("over")
		for _, y := range ys {
			VDIVPD(over, y, y)
		}
	})
	for _, y := range ys {
		VMAXPD(y, p.zero, y)
	}
	return ys
}

// roundUp rounds the sums of ys and what is kept up to integers, ys alone where
// what is kept is whole.
func (p pass) roundUp(ys []reg.VecVirtual) {
	kept := Load(Param("kept"), GP64())
	TESTQ(kept, kept)
	JNZ(LabelRef(p.label("kept")))
	for _, y := range ys {
		VMOVAPD(p.Rounded(toCeiling, y), y)
	}
	JMP(LabelRef(p.label("rounded")))
	Label(p.label("kept"))
	for i, y := range ys {
		x, sum := p.Load(p.at(kept, i)), p.Machine.Vector()
		whole := p.Compare(x, lanes.Equal, p.Rounded(toFloor, x))
		VADDPD(p.Rounded(toCeiling, y), x, sum)
		VADDPD(x, y, y)
		VMOVAPD(p.Rounded(toCeiling, y), y)
		p.Choose(whole, sum, y)
	}
	Label(p.label("rounded"))
}

// bound makes 2^53 and more infinite.
func (p pass) bound(ys []reg.VecVirtual) {
	infinite, most := p.Broadcast(infinity), p.Broadcast(two53)
	for _, y := range ys {
		p.Choose(p.Compare(y, lanes.GreaterOrEqual, most), infinite, y)
	}
}

// positive makes -0 +0.
func (p pass) positive(ys []reg.VecVirtual) {
	for _, y := range ys {
		VADDPD(p.zero, y, y)
	}
}
