package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// formula is a score that is a weighted mean of the scores of the resources.
type formula struct {
	name, what string
	free       bool // the percentage of allocatable is of what is free, not of what is used
	table      bool // the percentage is looked up; 0 leaves the mean, which is rounded
}

var (
	least = formula{name: "kubeLeast", what: "free", free: true}
	most  = formula{name: "kubeMost", what: "used"}
	ratio = formula{name: "kubeRatio", what: "used, as table has it,", table: true}
)

// constants returns the numbers that stay in registers.
func (f formula) constants(m machine) []Mem {
	switch {
	case !m.Wide() && f.table:
		return nil // there are registers for nothing else
	case !m.Wide():
		return []Mem{hundred}
	case f.free:
		return []Mem{hundred, two52, big, hundredDown, shiftDown, bigHundred, none}
	case f.table:
		return []Mem{hundred, two52, big, hundredUp, shiftUp, bigHundred, low8}
	}
	return []Mem{hundred, two52, big, hundredUp, shiftUp, bigHundred}
}

// mean is the weighted mean of rows on the way.
type mean struct {
	*kernel
	formula
	sums, weights []reg.VecVirtual // integers with a table
	scores        []reg.VecVirtual // with mask registers: the table, 64 scores in each
	table         reg.Register     // else
}

// linear generates the kernel of f.
func linear(m machine, f formula) {
	other := ""
	if f.table {
		other = ", table *uint8"
	}
	emit.Func(f.name, m.ISA, signature(other),
		"scores by the share that is "+f.what+" with the pod.", "kubeGeneric")
	m = m.keeping(f.constants(m)...)
	a := &mean{formula: f}
	if f.table {
		a.keepTable(m)
	}
	vectors := 2
	if m.Wide() {
		vectors = 4
	}
	rows(m, vectors, func(k *kernel) []reg.VecVirtual {
		a.kernel = k
		a.sums, a.weights = k.zeros(), k.zeros()
		k.entries(a.kept, a.divided)
		for i, sum := range a.sums {
			w := a.weights[i]
			if f.table { // rounded: half of the weights more, and all doubled
				m.float(sum)
				m.float(w)
				VADDPD(sum, sum, sum)
				VADDPD(w, sum, sum)
				VADDPD(w, w, w)
			}
			VMAXPD(m.operand(one), w, w)
		}
		return m.quotients(a.sums, a.weights)
	})
}

// kept adds the scores of an entry with reciprocals.
func (a *mean) kept(entry, reciprocals reg.Register) {
	weight, used, request := a.weight(entry), GP64(), a.Vector()
	MOVQ(Mem{Base: entry, Disp: entryUsed}, used)
	if a.Wide() {
		VBROADCASTSD(Mem{Base: entry, Disp: entryLane52}, request)
	} else {
		VBROADCASTSD(Mem{Base: entry, Disp: entryLane}, request)
	}
	var before reg.VecVirtual // the percentages of the vector before
	var beforePresent reg.Register
	for i := range a.vectors {
		x, r := a.amount(used, i), a.Load(a.at(reciprocals, i))
		if a.Wide() {
			a.percentageWide(x, request, r)
		} else {
			a.percentage(x, request, r)
		}
		switch present := a.present(r); {
		case a.formula.table && a.Wide():
			VMINPD(a.operand(bigHundred), x, x)
			a.addWide(i, weight, x, present)
		case a.formula.table && i%2 == 0:
			VMINPD(a.operand(bigHundred), x, x)
			before, beforePresent = x, present
		case a.formula.table:
			VMINPD(a.operand(bigHundred), x, x)
			a.addPair(i-1, weight, []reg.VecVirtual{before, x}, []reg.Register{beforePresent, present})
		case a.free && a.Wide():
			VSUBPD(x, a.filled(bigHundred), x)
			VMAXPD(a.filled(none), x, x)
			a.add(i, weight, x, present)
		case a.free:
			VSUBPD(a.operand(big99), x, x)
			VMINPD(a.operand(none), x, x)
			a.subtract(i, weight, x, present)
		default:
			VMINPD(a.operand(bigHundred), x, x)
			VSUBPD(a.operand(big), x, x)
			a.add(i, weight, x, present)
		}
	}
}

// percentageWide turns what is used, x, into the percentage with the pod: a whole
// number added to big, rounded up for what is free and down otherwise. request is
// the request plus 2^52, so that the first sum is rounded up to a whole number. The
// factors of about 100 keep the quotient on the one side of a whole number that it is.
func (a *mean) percentageWide(x, request, r reg.VecVirtual) {
	factor, shift := hundredUp, shiftUp
	if a.free {
		factor, shift = hundredDown, shiftDown
	}
	VADDPD_RU_SAE(request, x, x)
	VFMSUB213PD(a.filled(shift), a.filled(factor), x)
	if a.free {
		VFMADD213PD_RU_SAE(a.filled(big), r, x)
	} else {
		VFMADD213PD_RD_SAE(a.filled(big), r, x)
	}
}

// percentage is percentageWide with the one rounding that there is, to nearest: of
// what is used the percentage is floor((100x + 1/2) / a), and what is left of 100 is
// 99 - floor((100x - 1/2) / a). The halves keep the quotients away from whole
// numbers.
func (a *mean) percentage(x, request, r reg.VecVirtual) {
	a.ceil(x, x)
	VADDPD(request, x, x)
	if a.free {
		VFMSUB213PD(a.operand(half), a.filled(hundred), x)
	} else {
		VFMADD213PD(a.operand(half), a.filled(hundred), x)
	}
	VFMSUB213PD(a.operand(half), r, x) // rounds to the floor from here
	VADDPD(a.operand(big), x, x)
}

// divided adds the scores of an entry without reciprocals.
func (a *mean) divided(entry reg.Register, used, allocatable []reg.VecVirtual) {
	if a.free {
		a.freeShare(entry, used, allocatable)
	} else {
		a.usedShare(entry, used, allocatable)
	}
	var present []reg.Register
	for _, x := range allocatable {
		present = append(present, a.present(x))
		if !a.Wide() { // where the node has nothing, the percentage of 1 is 0
			VMAXPD(a.operand(one), x, x)
		}
	}
	weight := a.weight(entry)
	switch {
	case !a.formula.table:
		for i, x := range a.quotients(used, allocatable) {
			a.add(i, weight, x, present[i])
		}
	case a.Wide():
		for i, x := range a.quotientBits(used, allocatable) {
			a.addWide(i, weight, x, present[i])
		}
	default:
		bits := a.quotients(used, allocatable)
		for _, x := range bits {
			VADDPD(a.operand(big), x, x)
		}
		a.addPair(0, weight, bits, present)
	}
}

// freeShare returns 100 * max(allocatable - used - request, 0) in used.
func (a *mean) freeShare(entry reg.Register, used, allocatable []reg.VecVirtual) {
	request, factor := Mem{Base: entry, Disp: entryLane100}, a.filled(hundred)
	for i, u := range used {
		VSUBPD(u, allocatable[i], u)
	}
	for _, u := range used {
		if a.Wide() {
			VFMSUB213PD_BCST(request, factor, u)
		} else {
			VFMSUB213PD(a.Broadcast(request), factor, u)
		}
	}
	for _, u := range used {
		VMAXPD(a.operand(none), u, u)
	}
}

// usedShare returns 100 * min(used + request, allocatable) in used.
func (a *mean) usedShare(entry reg.Register, used, allocatable []reg.VecVirtual) {
	for _, u := range used {
		a.Add(Mem{Base: entry, Disp: entryLane}, u, u)
	}
	for i, u := range used {
		VMINPD(allocatable[i], u, u)
	}
	for _, u := range used {
		VMULPD(a.filled(hundred), u, u)
	}
}

// weight returns the weight of an entry, an integer with a table.
func (a *mean) weight(entry reg.Register) reg.VecVirtual {
	if !a.formula.table {
		return a.Broadcast(Mem{Base: entry, Disp: entryWeight})
	}
	weight := a.Vector()
	VPBROADCASTQ(Mem{Base: entry, Disp: entryWhole}, weight)
	return weight
}

// present returns the lanes in which an amount, or a reciprocal, is not 0.
func (a *mean) present(x reg.VecVirtual) reg.Register {
	if a.Wide() {
		k := K()
		VPTESTMQ(x, x, k)
		return k
	}
	return a.Compare(x, lanes.NotEqual, a.operand(none))
}

// add adds a score to vector i where there is one.
func (a *mean) add(i int, weight, score reg.VecVirtual, present reg.Register) {
	if a.Wide() {
		VFMADD231PD(weight, score, present, a.sums[i])
		VADDPD(weight, a.weights[i], present, a.weights[i])
		return
	}
	VANDPD(weight, present, present)
	VFMADD231PD(present, score, a.sums[i])
	VADDPD(present, a.weights[i], a.weights[i])
}

// subtract is add for a score with the other sign, without mask registers.
func (a *mean) subtract(i int, weight, score reg.VecVirtual, present reg.Register) {
	VANDPD(weight, present, present)
	VFNMADD231PD(present, score, a.sums[i])
	VADDPD(present, a.weights[i], a.weights[i])
}

// addWide adds the scores that the table has for percentages, which are in the low
// bytes, where they are not 0 and present.
func (a *mean) addWide(i int, weight, percentage reg.VecVirtual, present reg.Register) {
	x := a.lookUpWide(percentage)
	VPTESTMQ(a.operand(low8), x, present, present)
	VPMADDUBSW(weight, x, x) // of the low bytes only, as the weight has no other
	VPADDQ(x, a.sums[i], present, a.sums[i])
	VPADDQ(weight, a.weights[i], present, a.weights[i])
}

// addPair is addWide for two vectors without mask registers.
func (a *mean) addPair(i int, weight reg.VecVirtual, percentages []reg.VecVirtual, present []reg.Register) {
	for j, x := range a.lookUp(percentages) {
		sum, weights, set := a.sums[i+j], a.weights[i+j], present[j]
		VPAND(set, x, x)
		VPCMPEQQ(a.operand(none), x, set)
		VPANDN(weight, set, set)
		VPADDQ(set, weights, weights)
		VPMULUDQ(weight, x, x)
		VPADDQ(x, sum, sum)
	}
}

// keepTable loads the table, or its address.
func (a *mean) keepTable(m machine) {
	table := Load(Param("table"), GP64())
	if !m.Wide() {
		a.table = table
		return
	}
	for i := range 2 {
		v := ZMM()
		VMOVDQU64(Mem{Base: table, Disp: 64 * i}, v)
		a.scores = append(a.scores, v)
	}
}

// lookUpWide returns the scores of percentages in the low bytes: it takes the eight
// scores around each, and turns its own to the low end.
func (a *mean) lookUpWide(percentage reg.VecVirtual) reg.VecVirtual {
	found := ZMM()
	VPSRLQ(U8(3), percentage, found)
	VPSLLQ(U8(3), percentage, percentage)
	VPERMI2Q(a.scores[1], a.scores[0], found)
	VPRORVQ(percentage, found, found)
	return found
}

// lookUp returns the scores of the percentages of two vectors: it takes the four
// scores around each, and shifts its own to the low end.
func (a *mean) lookUp(percentages []reg.VecVirtual) []reg.VecVirtual {
	// The low halves of both vectors, in the order of unpacking.
	all, index, shift := YMM(), YMM(), YMM()
	VSHUFPS(U8(0x88), percentages[1], percentages[0], all)
	VPSRLD(U8(2), all, index)
	var quarters [4]reg.VecVirtual
	for i := range quarters {
		quarters[i] = YMM()
		VPERMD(Mem{Base: a.table, Disp: 32 * i}, index, quarters[i])
	}
	VPSLLD(U8(28), index, shift)
	VBLENDVPS(shift, quarters[1], quarters[0], quarters[0])
	VBLENDVPS(shift, quarters[3], quarters[2], quarters[2])
	VPSLLD(U8(27), index, shift)
	VBLENDVPS(shift, quarters[2], quarters[0], quarters[0])
	found := quarters[0]
	VPSLLD(U8(30), all, all)
	VPSRLD(U8(27), all, all) // eight times the lowest two bits
	VPSRLVD(all, found, found)
	VPAND(a.operand(low8s), found, found)
	zero, low, high := YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPUNPCKLDQ(zero, found, low)
	VPUNPCKHDQ(zero, found, high)
	return []reg.VecVirtual{low, high}
}
