package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows is where a walk over the selected rows is.
type Rows struct {
	offset reg.GPVirtual // of the vector in an array that begins with row 0, in bytes
}

// At returns the vector's place in such an array.
func (r Rows) At(base reg.Register) Mem { return Mem{Base: base, Index: r.offset, Scale: 1} }

// Number returns the row of the vector's first lane.
func (r Rows) Number() reg.GPVirtual {
	row := GP64()
	MOVQ(r.offset, row)
	SHRQ(U8(3), row)
	return row
}

// Base returns where row 0 would be in a parameter's array, which begins with
// row lo.
func Base(name string) reg.Register {
	base, lo := Load(Param(name), GP64()), Load(Param("lo"), GP64())
	SHLQ(U8(3), lo)
	SUBQ(lo, base)
	return base
}

// EachRows walks over the selected rows and emits body for some vectors of rows
// at a time, 32 rows at most, some of which are selected: those whose bits are
// set. The kernel has the parameters n >= 1, lo, rows and step: the address of the
// first mask word and the distance in bytes to the next, which is 0 when one word
// stands for all.
func EachRows(m Machine, vectors int, body func(r Rows, bits reg.GPVirtual)) {
	nothing := func() {}
	EachBlock(m, vectors, nothing, body, nothing)
}

// EachBlock is EachRows with what is emitted before and after every block of 64 rows,
// be there selected rows or not.
func EachBlock(m Machine, vectors int, begin func(), body func(r Rows, bits reg.GPVirtual), end func()) {
	r, lanes := Rows{GP64()}, vectors*m.Lanes
	word, mask, blocks, block := GP64(), GP64(), GP64(), GP64()
	Load(Param("rows"), mask)
	Load(Param("n"), blocks)
	exist := AllocLocal(8) // the rows of the last block
	MOVQ(blocks, reg.RCX)
	NEGQ(reg.RCX)
	MOVQ(I32(-1), word)
	SHRQ(reg.CL, word)
	MOVQ(word, exist)
	ADDQ(U8(63), blocks)
	SHRQ(U8(6), blocks)
	Load(Param("lo"), block)
	SHLQ(U8(3), block)

	Label("block")
	begin()
	MOVQ(Mem{Base: mask}, word)
	ADDQ(parameter("step"), mask)
	DECQ(blocks)
	JNZ(LabelRef("whole"))
	ANDQ(exist, word)
	Label("whole")
	TESTQ(word, word)
	JZ(LabelRef("next"))
	MOVQ(block, r.offset)
	Label("group")
	bits := GP64()
	MOVQ(word, bits)
	ANDL(U32(1<<lanes-1), bits.As32())
	JZ(LabelRef("skip"))
	body(r, bits)
	Label("skip")
	ADDQ(U32(8*lanes), r.offset)
	SHRQ(U8(lanes), word)
	JNZ(LabelRef("group"))
	Label("next")
	end()
	ADDQ(U32(8*64), block)
	TESTQ(blocks, blocks)
	JNZ(LabelRef("block"))
}

// EachItem emits body for every element of an array of structs of size bytes.
// The kernel has the parameters list, the address of the first, and count.
func EachItem(size int, body func(item reg.Register)) {
	item, left := Load(Param("list"), GP64()), Load(Param("count"), GP64())
	JMP(LabelRef("items"))
	Label("item")
	body(item)
	ADDQ(U8(size), item)
	DECQ(left)
	Label("items")
	TESTQ(left, left)
	JNZ(LabelRef("item"))
}

// parameter returns where a parameter is.
func parameter(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
