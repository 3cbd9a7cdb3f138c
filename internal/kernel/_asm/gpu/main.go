// Command gpu generates the GPU kernels of package kernel: scores of nodes by
// what is left of their CPU and GPUs.
//
// The scores are made a vector of rows at a time, stored in the lanes of the
// selected rows, and +0 in those that can't host the pod. Vectors without a
// selected row are passed over.
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
		dotProduct(m)
		bestFit(m)
		clustering(m)
		packing(m)
	}
	emit.Generate()
}

// Offsets in the struct GPURows of package kernel.
const (
	needCPU, needMilli, sizeCPU, sizeGPU, byCPU, byGPU, taken, class = 0, 8, 16, 24, 32, 40, 48, 56
	cpuLeft, enough, total, classes                                  = 64, 88, 112, 136

	sliceSize = 24
)

const (
	parameters    = "func(dst *float64, n int, lo int, terms *byte, rows *uint64, step int)"
	withRanks     = "func(dst *float64, n int, lo int, terms *byte, list *byte, count int, rows *uint64, step int)"
	notBelow      = U8(0x1D) // false when a NaN is on either side
	wholeGPU      = 1000
	truncate      = U8(3)
	truncateScale = U8(3) // the same for VRNDSCALEPD
)

// number is a vector of a constant in memory.
func number(m lanes.Machine, x float64) reg.VecVirtual { return m.Broadcast(constant(x)) }

var constants = map[float64]Mem{}

func constant(x float64) Mem {
	if _, ok := constants[x]; !ok {
		constants[x] = ConstData(name(x), U64(math.Float64bits(x)))
	}
	return constants[x]
}

// walk is a walk over the rows of a GPURows.
type walk struct {
	m                  lanes.Machine
	g                  reg.Register
	needCPU, needMilli reg.VecVirtual
	r                  lanes.Rows
}

// begin starts a kernel.
func begin(m lanes.Machine, name, signature, doc string) *walk {
	emit.Func(name, m.ISA, signature, doc, "gpuGeneric")
	w := &walk{m: m, g: Load(Param("terms"), GP64())}
	w.needCPU, w.needMilli = w.field(needCPU), w.field(needMilli)
	return w
}

// field returns a vector filled with a number of the struct.
func (w *walk) field(offset int) reg.VecVirtual {
	return w.m.Broadcast(Mem{Base: w.g, Disp: offset})
}

// column returns where the vector's rows are in a column of the struct.
func (w *walk) column(offset int) Mem {
	c := GP64()
	MOVQ(Mem{Base: w.g, Disp: offset}, c)
	return w.r.At(c)
}

// each emits body for every vector of rows: cpu is what is left, and body
// returns the scores.
func (w *walk) each(body func(cpu reg.VecVirtual) reg.VecVirtual) {
	dst := lanes.Base("dst")
	lanes.EachRows(w.m, 1, func(r lanes.Rows, bits reg.GPVirtual) {
		w.r = r
		group := w.m.Set(bits)
		cpu := w.m.LoadIn(group, w.column(cpuLeft))
		fits := w.m.Compare(cpu, notBelow, w.needCPU)
		w.m.Narrow(fits, w.m.Load(w.column(enough)), notBelow, w.needMilli)
		score := body(cpu)
		w.m.ClearOthers(fits, score)
		w.m.StoreIn(group, score, r.At(dst))
	})
	emit.Return()
}

// truncated rounds v towards zero.
func truncated(m lanes.Machine, v reg.VecVirtual) {
	if m.ISA == emit.AVX512 {
		VRNDSCALEPD(truncateScale, v, v)
	} else {
		VROUNDPD(truncate, v, v)
	}
}

func dotProduct(m lanes.Machine) {
	w := begin(m, "gpuDotProduct", parameters, "scores by the dot product of what is left and the request.")
	sizeCPU, sizeGPU, byCPU, byGPU := w.field(sizeCPU), w.field(sizeGPU), w.field(byCPU), w.field(byGPU)
	one, half, hundred := number(m, 1), number(m, 0.5), number(m, 100)
	w.each(func(cpu reg.VecVirtual) reg.VecVirtual {
		gpu := m.Load(w.column(total))
		VDIVPD(sizeCPU, cpu, cpu)
		VMULPD(byCPU, cpu, cpu)
		VDIVPD(sizeGPU, gpu, gpu)
		VMULPD(byGPU, gpu, gpu)
		VADDPD(gpu, cpu, cpu)
		VMULPD(half, cpu, cpu)
		VSUBPD(cpu, one, cpu)
		VMULPD(hundred, cpu, cpu)
		truncated(m, cpu)
		return cpu
	})
}

func bestFit(m lanes.Machine) {
	w := begin(m, "gpuBestFit", parameters, "scores by what is left after the pod.")
	sizeCPU, sizeGPU, byCPU, byGPU := w.field(sizeCPU), w.field(sizeGPU), w.field(byCPU), w.field(byGPU)
	one, half, hundred := number(m, 1), number(m, 0.5), number(m, 100)
	w.each(func(cpu reg.VecVirtual) reg.VecVirtual {
		gpu := m.Load(w.column(total))
		VSUBPD(byCPU, cpu, cpu)
		VDIVPD(sizeCPU, cpu, cpu)
		VMULPD(half, cpu, cpu)
		VSUBPD(byGPU, gpu, gpu)
		VDIVPD(sizeGPU, gpu, gpu)
		VMULPD(half, gpu, gpu)
		VADDPD(gpu, cpu, cpu)
		VSUBPD(cpu, one, cpu)
		VMULPD(hundred, cpu, cpu)
		truncated(m, cpu)
		return cpu
	})
}

func clustering(m lanes.Machine) {
	w := begin(m, "gpuClustering", parameters, "scores by the classes of pods that nodes hold.")
	size, own := w.field(sizeGPU), w.field(class)
	zero, some, among, only := m.Zero(), number(m, 25), number(m, 50), number(m, 75)
	w.each(func(reg.VecVirtual) reg.VecVirtual {
		score := m.Vector()
		VSUBPD(m.Load(w.column(total)), size, score)
		VMAXPD(zero, score, score)
		VMULPD(some, score, score)
		VDIVPD(size, score, score)
		truncated(m, score)

		held, bonus := m.Load(w.column(classes)), m.Zero()
		shared := m.Vector()
		VPANDQorD(m, own, held, shared)
		m.Choose(equal(m, shared, own), among, bonus)
		m.Choose(equal(m, held, own), only, bonus)
		m.Choose(equal(m, held, zero), some, bonus)
		VADDPD(bonus, score, score)
		return score
	})
}

// VPANDQorD is a bitwise and.
func VPANDQorD(m lanes.Machine, a, b, dst reg.VecVirtual) {
	if m.ISA == emit.AVX512 {
		VPANDQ(a, b, dst)
	} else {
		VPAND(a, b, dst)
	}
}

// equal returns the lanes in which two vectors have the same bits.
func equal(m lanes.Machine, a, b reg.VecVirtual) reg.Register {
	if m.ISA == emit.AVX512 {
		k := K()
		VPCMPEQQ(a, b, k)
		return k
	}
	v := YMM()
	VPCMPEQQ(a, b, v)
	return v
}

// packing walks the columns of ranks, the greatest amounts first.
func packing(m lanes.Machine) {
	w := begin(m, "gpuPacking", withRanks, "scores by how many idle devices nodes have and the pod takes.")
	zero, whole, one, ten, hundred := m.Zero(), number(m, wholeGPU), number(m, 1), number(m, 10), number(m, 100)
	w.each(func(reg.VecVirtual) reg.VecVirtual {
		tightest, least, n := m.Zero(), m.Zero(), m.Zero()
		lanes.EachItem(sliceSize, func(item reg.Register) {
			column := GP64()
			MOVQ(Mem{Base: item}, column)
			left := m.Load(w.r.At(column))
			m.Choose(m.Compare(left, notBelow, w.needMilli), left, tightest)
			present := m.Compare(left, notBelow, zero)
			m.Choose(present, left, least)
			count := m.Vector()
			VADDPD(one, n, count)
			m.Choose(present, count, n)
		})
		// In use: max(100 - R/10, 50).
		score := m.Vector()
		VMULPD(hundred, tightest, score)
		VDIVPD(whole, score, score)
		truncated(m, score)
		VDIVPD(ten, score, score)
		truncated(m, score)
		VSUBPD(score, hundred, score)
		VMAXPD(number(m, 50), score, score)
		m.Choose(m.Compare(tightest, lanes.Equal, whole), w.field(taken), score)
		// All idle: max(33 - n, n).
		rest := m.Vector()
		VSUBPD(n, number(m, 33), rest)
		VMAXPD(n, rest, rest)
		m.Choose(m.Compare(least, lanes.Equal, whole), rest, score)
		return score
	})
}

// name names a constant.
func name(x float64) string {
	switch x {
	case 0.5:
		return "half"
	case 1:
		return "one"
	case 10:
		return "ten"
	case 25:
		return "bonus_none"
	case 33:
		return "idle_node"
	case 50:
		return "fifty"
	case 75:
		return "bonus_only"
	case 100:
		return "hundred"
	case wholeGPU:
		return "whole_gpu"
	}
	panic("constant without a name")
}
