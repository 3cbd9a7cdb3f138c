// Command load generates the load kernels of package kernel: weighted sums and
// maxima of quotients with their clamps, shares of queues, and what combines
// scores.
//
// The scores are made a vector of rows at a time, dimension by dimension, and
// stored in the lanes of the selected rows. Vectors without a selected row are
// passed over, since a mask may well be of the few rows that changed.
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
		sum(m, "loadSum", false)
		sum(m, "loadSumFixed", true)
		greatest(m, "loadGreatest", false)
		greatest(m, "loadGreatestFixed", true)
		share(m)
		combine(m)
		rescale(m)
	}
	emit.Generate()
}

// Offsets in the struct LoadDim of package kernel.
const (
	dimRequest, dimWeight, dimCapacity, dimUsed, dimAllocatable, dimSize = 0, 8, 16, 24, 48, 72

	sliceSize = 24
)

// The forms, LoadForm of package kernel.
const (
	pack = 1
)

// Numbers that vectors are filled with, by their bits.
var (
	one      = ConstData("one", U64(math.Float64bits(1)))
	hundred  = ConstData("hundred", U64(math.Float64bits(100)))
	infinity = ConstData("infinity", U64(math.Float64bits(math.Inf(1))))
)

const loadParameters = "func(dst *float64, n int, lo int, list *byte, count int, form int, rows *uint64, step int)"

// sum generates the weighted sum of the quotients, and what becomes of it.
func sum(m lanes.Machine, name string, fixed bool) {
	emit.Func(name, m.ISA, loadParameters, "sums weighted quotients.", "loadGeneric")
	zero, dst, f := m.Zero(), lanes.Base("dst"), newForms(m)
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		sum, weight := m.Zero(), m.Zero()
		lanes.EachItem(dimSize, func(dim reg.Register) {
			q, counted := quotient(m, r, dim, fixed, zero)
			VADDPD(q, sum, sum)
			m.AddIn(counted, Mem{Base: dim, Disp: dimWeight}, weight)
		})
		f.apply(sum, func() {
			m.ClearOthers(m.Compare(sum, lanes.Ordered, sum), sum)
		}, func() {
			VDIVPD(weight, sum, sum)
		})
		m.StoreIn(m.Set(bits), sum, r.At(dst))
	})
	emit.Return()
}

// greatest generates the greatest weighted quotient, and what becomes of it.
func greatest(m lanes.Machine, name string, fixed bool) {
	emit.Func(name, m.ISA, loadParameters, "finds the greatest weighted quotient.", "loadGeneric")
	zero, dst, f := m.Zero(), lanes.Base("dst"), newForms(m)
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		most, any, group := m.Zero(), m.Empty(), m.Set(bits)
		good := m.Copy(group)
		lanes.EachItem(dimSize, func(dim reg.Register) {
			q, counted := quotient(m, r, dim, fixed, zero)
			m.Join(any, counted)
			m.Narrow(good, q, lanes.Ordered, q)
			raise(most, q)
		})
		f.apply(most, func() {}, func() {})
		m.ClearOthers(any, most)
		m.ClearOthers(good, most)
		m.StoreIn(group, most, r.At(dst))
	})
	emit.Return()
}

// quotient returns ((used + request) / capacity) * weight of a dimension where
// the capacity is above 0, which is where it counts, and +0 elsewhere.
func quotient(m lanes.Machine, r lanes.Rows, dim reg.Register, fixed bool, zero reg.VecVirtual) (q reg.VecVirtual, counted reg.Register) {
	var capacity reg.VecVirtual
	if fixed {
		capacity = m.Broadcast(Mem{Base: dim, Disp: dimCapacity})
	} else {
		capacity = m.Load(column(r, dim, dimAllocatable))
	}
	counted = m.Compare(capacity, lanes.Greater, zero)
	q = m.Load(column(r, dim, dimUsed))
	m.Add(Mem{Base: dim, Disp: dimRequest}, q, q)
	m.DivideIn(counted, q, capacity)
	m.Multiply(Mem{Base: dim, Disp: dimWeight}, q, q)
	return q, counted
}

// column returns the vector's place in a column of a dimension.
func column(r lanes.Rows, dim reg.Register, offset int) Mem {
	c := GP64()
	MOVQ(Mem{Base: dim, Disp: offset}, c)
	return r.At(c)
}

// raise emits most = the greater of most and q. A maximum instruction returns
// its second source, which Go writes first, when the two are equal or one is a
// NaN: most, as the comparison of the twin does.
func raise(most, q reg.VecVirtual) { VMAXPD(most, q, most) }

// forms turns loads into what the parameter form says.
type forms struct {
	zero, one, hundred reg.VecVirtual
	form               reg.Register
}

func newForms(m lanes.Machine) forms {
	return forms{m.Zero(), m.Broadcast(one), m.Broadcast(hundred), Load(Param("form"), GP64())}
}

// apply emits code for all forms of the load x: rawly for the raw one; mean
// before the others.
func (f forms) apply(x reg.VecVirtual, rawly, mean func()) {
	CMPQ(f.form, I8(pack))
	JLT(LabelRef("raw"))
	mean()
	CMPQ(f.form, I8(pack))
	JEQ(LabelRef("pack"))
	VSUBPD(x, f.one, x)
	Label("pack")
	VMULPD(f.hundred, x, x)
	VMAXPD(f.zero, x, x) // 0 for a NaN and for -0
	VMINPD(f.hundred, x, x)
	JMP(LabelRef("formed"))
	Label("raw")
	rawly()
	Label("formed")
}

// share generates the greatest share of a queue.
func share(m lanes.Machine) {
	emit.Func("share", m.ISA,
		"func(dst *float64, n int, lo int, list *byte, count int, unlimited float64, zeroFactor float64, least float64, rows *uint64, step int)",
		"finds the greatest weighted share; capacities that are less than least don't count.", "shareGeneric")
	unlimited, zeroFactor, least := m.Parameter("unlimited"), m.Parameter("zeroFactor"), m.Parameter("least")
	zero, dst := m.Zero(), lanes.Base("dst")
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		most, group := m.Zero(), m.Set(bits)
		good := m.Copy(group)
		lanes.EachItem(dimSize, func(dim reg.Register) {
			capacity := m.Load(column(r, dim, dimAllocatable))
			m.Choose(m.Compare(capacity, lanes.Equal, unlimited), m.Broadcast(Mem{Base: dim, Disp: dimCapacity}), capacity)
			counted := m.Compare(capacity, lanes.NotLess, least)
			q, product := m.Load(column(r, dim, dimUsed)), m.Vector()
			m.Add(Mem{Base: dim, Disp: dimRequest}, q, q)
			VMULPD(zeroFactor, q, product)
			VDIVPD(capacity, q, q)
			m.Choose(m.Compare(capacity, lanes.Equal, zero), product, q)
			m.Multiply(Mem{Base: dim, Disp: dimWeight}, q, q)
			m.ClearOthers(counted, q)
			m.Narrow(good, q, lanes.Ordered, q)
			raise(most, q)
		})
		shares := m.Broadcast(infinity)
		m.Choose(good, most, shares)
		m.StoreIn(group, shares, r.At(dst))
	})
	emit.Return()
}

// combine generates the weighted sum of scores.
func combine(m lanes.Machine) {
	emit.Func("combine", m.ISA,
		"func(dst *float64, n int, lo int, list *byte, count int, weights *float64, rows *uint64, step int)",
		"sums weighted scores.", "combineGeneric")
	dst := lanes.Base("dst")
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		sum, group, weight := m.Zero(), m.Set(bits), Load(Param("weights"), GP64())
		lanes.EachItem(sliceSize, func(term reg.Register) {
			x := m.LoadIn(group, column(r, term, 0))
			m.Multiply(Mem{Base: weight}, x, x)
			VADDPD(x, sum, sum)
			ADDQ(U8(8), weight)
		})
		m.StoreIn(group, sum, r.At(dst))
	})
	emit.Return()
}

// rescale generates the linear function of scores.
func rescale(m lanes.Machine) {
	emit.Func("rescale", m.ISA,
		"func(dst *float64, src *float64, n int, lo int, low float64, span float64, reverse int, rows *uint64, step int)",
		"normalizes scores.", "rescaleGeneric")
	low, span, hundred := m.Parameter("low"), m.Parameter("span"), m.Broadcast(hundred)
	dst, src, reverse := lanes.Base("dst"), lanes.Base("src"), Load(Param("reverse"), GP64())
	lanes.EachRows(m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		group := m.Set(bits)
		x := m.LoadIn(group, r.At(src))
		VSUBPD(low, x, x)
		VMULPD(hundred, x, x)
		VDIVPD(span, x, x)
		TESTQ(reverse, reverse)
		JZ(LabelRef("straight"))
		VSUBPD(x, hundred, x)
		Label("straight")
		m.StoreIn(group, x, r.At(dst))
	})
	emit.Return()
}
