// Command compare generates the compare kernels of package kernel: functions
// that clear, in a mask, the bits of the rows that fail in some column.
//
// Every function walks the mask in steps and, within a step, the columns, with
// the verdict on the step's rows in registers, so that a mask word is read and
// written once. A step that has no row to begin with skips its columns. A step
// that has none left after the first column skips the others, but to find out
// costs as much as a column in L1; it is done only after a step that ended
// empty. Pools of nodes that lie together gain from it, and a matrix in which
// most rows are kept doesn't notice.
package main

import (
	"fmt"
	"math/bits"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

func main() {
	emit.File()
	for _, m := range []machine{newAVX2(), &avx512{}} {
		for _, t := range tests {
			generate(m, t)
		}
	}
	fitFew()
	emit.Generate()
}

// fitFew generates the kernel for a handful of rows, where the lists and masks of the
// others would be most of the time: every column is compared, one that is not
// requested with what it has anyway. AVX-512 has no use for so few.
func fitFew() {
	emit.Func("fitFew", emit.AVX2, "func(data *float64, stride int, request *float64, n int) (rows uint64)",
		"returns which of the first 16 rows hold a request of n >= 1 columns.", "fitFewGeneric")
	data, stride := Load(Param("data"), GP64()), Load(Param("stride"), GP64())
	request, left := Load(Param("request"), GP64()), Load(Param("n"), GP64())
	SHLQ(U8(3), stride)
	zero := YMM()
	VXORPD(zero, zero, zero)
	var fits [4]reg.VecVirtual
	for i := range fits {
		fits[i] = YMM()
		VPCMPEQQ(zero, zero, fits[i])
	}
	Label("column")
	x, none := YMM(), YMM()
	VBROADCASTSD(Mem{Base: request}, x)
	VCMPPD(lessOrEqual, zero, x, none)
	for i := range fits {
		has := YMM()
		VCMPPD(lessOrEqual, Mem{Base: data, Disp: 32 * i}, x, has)
		VORPD(none, has, has)
		VANDPD(has, fits[i], fits[i])
	}
	ADDQ(U8(8), request)
	ADDQ(stride, data)
	DECQ(left)
	JNZ(LabelRef("column"))
	rows := GP64()
	for i := range fits {
		bits := GP64()
		VMOVMSKPD(fits[i], bits.As32())
		if i == 0 {
			MOVQ(bits, rows)
			continue
		}
		SHLQ(U8(4*i), bits)
		ORQ(bits, rows)
	}
	Store(rows, ReturnIndex(0))
	emit.Return()
}

// test is what a kernel asks of every element of a column.
type test struct {
	name, doc string
	element   element
	matrices  []string // one or two
	limits    bool     // the columns come as a list, each with a limit
	// verdict returns the operands of a compare instruction that is true for
	// the elements to keep. limit is the column's limit in every lane or,
	// without limits, zero.
	verdict func(m machine, limit reg.VecVirtual, at []Mem) comparison
}

// comparison is true where left predicate right holds.
type comparison struct {
	left      reg.VecVirtual
	predicate U8
	right     Op
}

// The ordered predicates: false when a NaN is on either side.
const (
	lessOrEqual    = U8(0x12)
	greaterOrEqual = U8(0x1d)
)

var tests = []test{
	{
		"andGE", "clears the bits of the rows that have a value below its column's limit.",
		float64s, []string{"data"}, true,
		atLeast,
	},
	{
		"andGE32", "clears the bits of the rows that have a value below its column's limit.",
		float32s, []string{"codes"}, true,
		atLeast,
	},
	{
		"andLE", "clears the bits of the rows that have a value above its column's limit.",
		float64s, []string{"data"}, true,
		func(_ machine, limit reg.VecVirtual, at []Mem) comparison {
			return comparison{limit, greaterOrEqual, at[0]}
		},
	},
	{
		"andSumGE", "clears the bits of the rows that have a sum below its column's limit.",
		float64s, []string{"a", "b"}, true,
		func(m machine, limit reg.VecVirtual, at []Mem) comparison {
			sum := m.register()
			VMOVUPD(at[0], sum)
			VADDPD(at[1], sum, sum)
			return comparison{limit, lessOrEqual, sum}
		},
	},
	{
		"andRowsLE", "clears the bits of the rows that have a value of a above b.",
		float64s, []string{"a", "b"}, false,
		func(m machine, _ reg.VecVirtual, at []Mem) comparison {
			value := m.register()
			VMOVUPD(at[0], value)
			return comparison{value, lessOrEqual, at[1]}
		},
	},
	{
		"andRowsFit", "clears the bits of the rows that have a positive value of a above b.",
		float64s, []string{"a", "b"}, false,
		func(m machine, zero reg.VecVirtual, at []Mem) comparison {
			// a <= b or a <= 0 is a <= max(b, 0): of a NaN and a number the
			// maximum is the second operand, here the zero.
			limit := m.register()
			VMOVUPD(at[1], limit)
			VMAXPD(zero, limit, limit)
			return comparison{limit, greaterOrEqual, at[0]}
		},
	},
}

// atLeast is the verdict of the kernels that keep the values from the limit up.
func atLeast(_ machine, limit reg.VecVirtual, at []Mem) comparison {
	return comparison{limit, lessOrEqual, at[0]}
}

// signature is the Go signature of the test's function.
func (t test) signature() string {
	s := "func(dst *uint64, words int"
	for _, name := range t.matrices {
		s += fmt.Sprintf(", %s *%s, %s int", name, t.element.goType, strideOf(name))
	}
	if t.limits {
		s += ", cols *int32, vals *" + t.element.goType
	}
	return s + ", n int)"
}

// strideOf returns the parameter that holds the stride of a matrix.
func strideOf(matrix string) string {
	if matrix == "a" || matrix == "b" {
		return matrix + "Stride"
	}
	return "stride"
}

// generate emits the kernel of a test. It takes at least one word and at least
// one column.
func generate(m machine, t test) {
	m.take(t.element)
	emit.Func(t.name, m.isa(), t.signature(), t.doc, strings.TrimSuffix(t.name, "32")+"Generic")
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	steps := Load(Param("words"), GP64())
	c := loadColumns(t)
	if m.rows() == 32 {
		SHLQ(U8(1), steps) // two a word
	}
	limit := m.register()
	if !t.limits {
		VXORPD(limit, limit, limit)
	}

	column := func(keep func(vector int, c comparison)) {
		at := c.pointers()
		if t.limits {
			t.element.broadcast(c.limit(), limit)
		}
		for v := range m.rows() * t.element.size / m.width() {
			keep(v, t.verdict(m, limit, offset(at, v*m.width())))
		}
	}
	previous := GP64() // zero after a step that ended empty
	MOVQ(I32(-1), previous)

	Label("step")
	rows := m.load(dst)
	JZ(LabelRef("next"))
	c.first()
	Label("begin")
	column(m.begin)
	c.next()
	JE(LabelRef("last"))
	TESTQ(previous, previous)
	JZ(LabelRef("check"))
	Label("column")
	column(m.keep)
	c.next()
	JNE(LabelRef("column"))
	Label("last")
	m.finish(rows)
	Label("store")
	m.store(dst, rows)
	MOVQ(rows, previous)
	Label("next")
	ADDQ(U8(m.rows()/8), dst)
	c.advance(m.rows() * t.element.size)
	DECQ(steps)
	JNZ(LabelRef("step"))
	emit.Return()

	Label("check")
	m.finish(rows) // of the first column
	JZ(LabelRef("store"))
	INCQ(previous) // don't check again
	JMP(LabelRef("begin"))
}

// offset returns the operands moved on by some bytes.
func offset(at []Mem, bytes int) []Mem {
	moved := make([]Mem, len(at))
	for i, mem := range at {
		moved[i] = mem.Offset(bytes)
	}
	return moved
}

// columns walks the columns of one step.
type columns struct {
	base, stride []reg.Register // per matrix; stride in bytes
	cols, vals   reg.Register   // the list, if there is one
	n, k         reg.GPVirtual
	size         int             // of an element, in bytes
	column       []reg.GPVirtual // per matrix, the current column
}

func loadColumns(t test) *columns {
	c := &columns{k: GP64(), size: t.element.size}
	for _, name := range t.matrices {
		c.base = append(c.base, Load(Param(name), GP64()))
		stride := Load(Param(strideOf(name)), GP64())
		SHLQ(U8(bits.TrailingZeros(uint(c.size))), stride)
		c.stride = append(c.stride, stride)
		c.column = append(c.column, GP64())
	}
	if t.limits {
		c.cols = Load(Param("cols"), GP64())
		c.vals = Load(Param("vals"), GP64())
	}
	c.n = Load(Param("n"), GP64()).(reg.GPVirtual)
	return c
}

// first goes to the first column.
func (c *columns) first() {
	XORL(c.k.As32(), c.k.As32())
	if c.cols == nil {
		for i, column := range c.column {
			MOVQ(c.base[i], column)
		}
	}
}

// pointers returns where the step's rows of the current column are.
func (c *columns) pointers() []Mem {
	var at []Mem
	for i, column := range c.column {
		at = append(at, Mem{Base: column})
		if c.cols != nil {
			MOVLQSX(Mem{Base: c.cols, Index: c.k, Scale: 4}, column)
			IMULQ(c.stride[i], column)
			ADDQ(c.base[i], column)
		}
	}
	return at
}

// limit returns where the current column's limit is.
func (c *columns) limit() Mem {
	return Mem{Base: c.vals, Index: c.k, Scale: uint8(c.size)}
}

// next goes to the next column; the flags say equal if there is none.
func (c *columns) next() {
	if c.cols == nil {
		for i, column := range c.column {
			ADDQ(c.stride[i], column)
		}
	}
	INCQ(c.k)
	CMPQ(c.k, c.n)
}

// advance moves on to the rows of the next step.
func (c *columns) advance(bytes int) {
	for _, base := range c.base {
		ADDQ(U32(bytes), base)
	}
}
