// Command select generates the selection kernels of package kernel: the place
// of the greatest or least score, the greatest scores of some groups, and the mask of
// the scores beyond a limit.
//
// Scores have any alignment and any length. They are read by blocks of 64, with
// the mask word of the block; the loads of the last block are masked, so that
// nothing beyond the length is touched.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

func main() {
	emit.File()
	for _, isa := range []emit.ISA{emit.AVX2, emit.AVX512} {
		for _, s := range []scores{float64s, int64s} {
			for _, d := range []direction{greatest, least} {
				place(newMachine(isa, s, d), s, d)
				beyond(newMachine(isa, s, d), s, d)
			}
			tops(newMachine(isa, s, greatest), s)
			ranks(newMachine(isa, s, greatest), s)
		}
	}
	emit.Generate()
}

// place generates the kernel that finds the first selected score that no other
// beats. Each lane keeps the best score it has seen and the first block that
// had it. The lowest block among the best lanes is the place to look.
func place(m machine, s scores, d direction) {
	emit.Func("arg"+d.extreme+s.name, m.isa(),
		"func(values *"+s.element+", n int, rows *uint64, step int) int",
		"returns the first selected row with the "+d.adjective+" score, or -1 when none is "+d.beyond+" "+s.worstName[d]+".",
		"arg"+d.extreme+"Generic where one is")
	b := newBlocks()
	worst := filled(m, s.worst[d])
	best, at := m.vector(), filled(m, none)
	number, step := m.vector(), filled(m, one)
	VMOVAPD(worst, best)
	VXORPD(number, number, number)

	Label("block")
	mask := b.mask("whole")
	CMPQ(Mem{Base: mask}, I8(0))
	JEQ(LabelRef("skip"))
	here := m.vector()
	VMOVAPD(worst, here)
	m.each(mask, b.values, func(x reg.VecVirtual, selected reg.Register) {
		m.improve(here, x, worst, selected)
	})
	m.improveFrom(best, at, here, number)
	Label("skip")
	VPADDQ(step, number, number)
	b.next("block")

	m.firstOfBest(best, at)
	row := GP64()
	VMOVQ(at.AsX(), row)
	CMPQ(row, b.last)
	JGT(LabelRef("none"))
	b.seek(row)
	mask = b.mask("again")
	SHLQ(U8(6), row)
	m.find(mask, b.values, best, row)
	JMP(LabelRef("end"))
	Label("none")
	MOVQ(I32(-1), row)
	Label("end")
	Store(row, ReturnIndex(0))
	emit.Return()
}

// tops generates the kernel that finds the greatest scores of 32 groups. A group is the
// rows that are equal modulo 32: they pass by the same lane of the same register.
func tops(m machine, s scores) {
	const groups = 32
	emit.Func("tops"+s.name, m.isa(),
		"func(dst *"+s.element+", values *"+s.element+", n int, rows *uint64, step int)",
		"sets dst to the greatest selected scores of 32 groups, "+s.worstName[greatest]+" where there is none.",
		"topsGeneric")
	b := newBlocks()
	worst := filled(m, s.worst[greatest])
	var best []reg.VecVirtual
	for range groups * 8 / int(worst.Size()) {
		v := m.vector()
		VMOVAPD(worst, v)
		best = append(best, v)
	}
	Label("block")
	mask := b.mask("whole")
	CMPQ(Mem{Base: mask}, I8(0))
	JEQ(LabelRef("skip"))
	i := 0
	m.each(mask, b.values, func(x reg.VecVirtual, selected reg.Register) {
		m.improve(best[i%len(best)], x, worst, selected)
		i++
	})
	Label("skip")
	b.next("block")
	dst := Load(Param("dst"), GP64())
	for i, v := range best {
		VMOVUPD(v, Mem{Base: dst, Disp: i * int(v.Size())})
	}
	emit.Return()
}

// ranks generates the kernel that counts, for each of 32 scores, those above it. Each
// lane has the count of a score; every score passes by all of them.
func ranks(m machine, s scores) {
	const groups = 32
	emit.Func("ranks"+s.name, m.isa(),
		"func(dst *int64, values *"+s.element+", n int)",
		"sets dst to how many of the first n values, 1 at least, are above each of 32.",
		"ranksGeneric")
	values, next, left := Load(Param("values"), GP64()), GP64(), Load(Param("n"), GP64())
	MOVQ(values, next)
	step := filled(m, one)
	var counts []reg.VecVirtual
	for range groups * 8 / int(step.Size()) {
		v := m.vector()
		VXORPD(v, v, v)
		counts = append(counts, v)
	}
	x := m.vector()
	Label("value")
	VPBROADCASTQ(Mem{Base: next}, x)
	for i, v := range counts {
		m.countIfAbove(v, x, Mem{Base: values, Disp: i * int(v.Size())}, step)
	}
	ADDQ(U8(8), next)
	DECQ(left)
	JNE(LabelRef("value"))
	dst := Load(Param("dst"), GP64())
	for i, v := range counts {
		VMOVUPD(v, Mem{Base: dst, Disp: i * int(v.Size())})
	}
	emit.Return()
}

// beyond generates the kernel that marks the selected scores that are a limit
// or beyond it.
func beyond(m machine, s scores, d direction) {
	emit.Func("mask"+d.comparison+s.name, m.isa(),
		"func(dst *uint64, values *"+s.element+", n int, rows *uint64, step int, limit "+s.element+")",
		"marks the selected rows whose score is "+d.symbol+" limit.",
		"mask"+d.comparison+"Generic")
	b := newBlocks()
	dst := Load(Param("dst"), GP64())
	addr, err := Param("limit").Resolve()
	if err != nil {
		panic(err)
	}
	limit := filled(m, addr.Addr)

	Label("block")
	mask := b.mask("whole")
	word := GP64()
	MOVQ(Mem{Base: mask}, word)
	TESTQ(word, word)
	JNE(LabelRef("some"))
	MOVQ(word, Mem{Base: dst})
	JMP(LabelRef("stored"))
	Label("some")
	m.keep(dst, mask, b.values, limit)
	Label("stored")
	ADDQ(U8(8), dst)
	b.next("block")
	emit.Return()
}

// blocks walks over the scores, 64 at a time. A kernel that uses it has the
// parameters values, n >= 1, rows and step: the address of the first mask word
// and the distance in bytes to the next, which is 0 when one word stands for
// all.
type blocks struct {
	values, rows, step reg.Register
	number, last       reg.Register // of this block, and of the last one
	exist              reg.Register // the rows of the last block
	word               Mem          // the mask word of the last block
}

func newBlocks() *blocks {
	b := &blocks{
		values: Load(Param("values"), GP64()), rows: Load(Param("rows"), GP64()), step: Load(Param("step"), GP64()),
		number: GP64(), last: GP64(), exist: GP64(), word: AllocLocal(8),
	}
	Load(Param("n"), b.last)
	MOVQ(b.last, reg.RCX)
	NEGQ(reg.RCX)
	MOVQ(I32(-1), b.exist)
	SHRQ(reg.CL, b.exist)
	DECQ(b.last)
	SHRQ(U8(6), b.last)
	XORQ(b.number, b.number)
	return b
}

// mask returns the address of the mask word of this block: in the caller's
// mask, or in the frame for the last block, cut to the rows that exist.
func (b *blocks) mask(label string) reg.Register {
	at, word := GP64(), GP64()
	MOVQ(b.rows, at)
	CMPQ(b.number, b.last)
	JNE(LabelRef(label))
	MOVQ(Mem{Base: at}, word)
	ANDQ(b.exist, word)
	MOVQ(word, b.word)
	LEAQ(b.word, at)
	Label(label)
	return at
}

// next steps to the next block, and jumps to label unless there was none.
func (b *blocks) next(label string) {
	ADDQ(U32(8*64), b.values)
	ADDQ(b.step, b.rows)
	INCQ(b.number)
	CMPQ(b.number, b.last)
	JLE(LabelRef(label))
}

// seek goes to the block with the given number.
func (b *blocks) seek(number reg.Register) {
	offset := GP64()
	MOVQ(number, b.number)
	MOVQ(number, offset)
	SHLQ(U8(9), offset)
	ADDQ(Load(Param("values"), GP64()), offset)
	MOVQ(offset, b.values)
	IMULQ(number, b.step)
	Load(Param("rows"), b.rows)
	ADDQ(b.step, b.rows)
}
