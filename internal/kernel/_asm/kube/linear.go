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

	// share returns the amounts whose percentage of allocatable counts, times
	// 100. It may use the vectors of used.
	share func(k *kernel, entry reg.Register, used, allocatable []reg.VecVirtual) []reg.VecVirtual

	table bool // the percentage is looked up; 0 leaves the mean, which is rounded
}

var (
	least = formula{name: "kubeLeast", what: "free", share: freeShare}
	most  = formula{name: "kubeMost", what: "used", share: usedShare}
	ratio = formula{name: "kubeRatio", what: "used, as table has it,", share: usedShare, table: true}
)

// freeShare returns 100 * max(allocatable - used - request, 0).
func freeShare(k *kernel, entry reg.Register, used, allocatable []reg.VecVirtual) []reg.VecVirtual {
	request, factor := Mem{Base: entry, Disp: entryLane100}, k.filled(hundred)
	for i, u := range used {
		VSUBPD(u, allocatable[i], u)
	}
	for _, u := range used {
		if k.Wide() {
			VFMSUB213PD_BCST(request, factor, u)
		} else {
			VFMSUB213PD(k.Broadcast(request), factor, u)
		}
	}
	for _, u := range used {
		VMAXPD(k.filled(none), u, u)
	}
	return used
}

// usedShare returns 100 * min(used + request, allocatable).
func usedShare(k *kernel, entry reg.Register, used, allocatable []reg.VecVirtual) []reg.VecVirtual {
	for _, u := range used {
		k.Add(Mem{Base: entry, Disp: entryLane}, u, u)
	}
	for i, u := range used {
		VMINPD(allocatable[i], u, u)
	}
	for _, u := range used {
		VMULPD(k.filled(hundred), u, u)
	}
	return used
}

// mean is the weighted mean of a row on the way.
type mean struct {
	machine
	sums, weights []reg.VecVirtual
	scores        []reg.VecVirtual // with mask registers: the table, 32 scores in each
	first         reg.Register     // the first of four words of 16 bits
	table         reg.Register     // else
}

// linear generates the kernel of f.
func linear(m machine, f formula) {
	other := ""
	if f.table {
		other = ", table *uint16"
	}
	emit.Func(f.name, m.ISA, signature(other),
		"scores by the share that is "+f.what+" with the pod.", "kubeGeneric")
	m = m.keeping(one, none, hundred, two52, most46)
	a := &mean{machine: m}
	if f.table {
		a.keepTable()
	}
	vectors := 1
	if m.Wide() {
		vectors = 2 // see divided
	}
	rows(m, vectors, func(k *kernel) []reg.VecVirtual {
		a.sums, a.weights = k.zeros(), k.zeros()
		k.columns(func(entry reg.Register, used, allocatable []reg.VecVirtual) {
			share, weight := f.share(k, entry, used, allocatable), Mem{Base: entry, Disp: entryWeight}
			if m.Wide() {
				a.addWide(share, allocatable, weight)
			} else {
				a.add(share[0], allocatable[0], weight)
			}
		})
		for i, sum := range a.sums {
			w := a.weights[i]
			if f.table { // rounded: half of the weights more, and all doubled
				VADDPD(sum, sum, sum)
				VADDPD(w, sum, sum)
				VADDPD(w, w, w)
			}
			VMAXPD(m.filled(one), w, w)
		}
		return m.quotients(a.sums, a.weights)
	})
}

// addWide adds the scores of shares to the mean where the node has the resource
// and, with a table, the score is not 0.
func (a *mean) addWide(share, allocatable []reg.VecVirtual, weight Mem) {
	var counts []reg.Register
	for _, x := range allocatable {
		k := K()
		VPTESTMQ(x, x, k)
		counts = append(counts, k)
	}
	var scores []reg.VecVirtual
	if a.scores == nil {
		scores = a.quotients(share, allocatable)
	} else {
		scores = a.quotientBits(share, allocatable)
		for i, x := range scores {
			a.lookUpWide(x)
			VPTESTMQ(x, x, counts[i], counts[i])
			VCVTQQ2PD(x, x)
		}
	}
	for i, x := range scores {
		VFMADD231PD_BCST(weight, x, counts[i], a.sums[i])
		VADDPD_BCST(weight, a.weights[i], counts[i], a.weights[i])
	}
}

// add is addWide with fewer registers. Where the node has nothing, the share is
// 0 and so is its percentage of 1.
func (a *mean) add(share, allocatable reg.VecVirtual, weight Mem) {
	whole := a.Vector()
	VMAXPD(a.filled(one), allocatable, whole)
	score := a.quotients([]reg.VecVirtual{share}, []reg.VecVirtual{whole})[0]
	counts, w := a.Compare(allocatable, lanes.NotEqual, a.filled(none)), a.Broadcast(weight)
	if a.table != nil {
		score = a.lookUp(score)
		VANDPD(a.Compare(score, lanes.NotEqual, a.filled(none)), counts, counts)
	}
	VANDPD(counts, w, w)
	VFMADD231PD(w, score, a.sums[0])
	VADDPD(w, a.weights[0], a.weights[0])
}

// keepTable loads the table, or its address.
func (a *mean) keepTable() {
	table := Load(Param("table"), GP64())
	if !a.Wide() {
		a.table = table
		return
	}
	bits := GP32()
	a.first = K()
	MOVL(U32(0x11111111), bits)
	KMOVD(bits, a.first)
	for i := range 4 {
		v := ZMM()
		VMOVDQU64(Mem{Base: table, Disp: 64 * i}, v)
		a.scores = append(a.scores, v)
	}
}

// lookUpWide replaces percentages, as quotientBits returns them, by the scores
// as integers.
func (a *mean) lookUpWide(low reg.VecVirtual) {
	high, upper := ZMM(), K()
	VMOVDQA64(low, high)
	VPTESTMQ_BCST(bit6, low, upper)
	VPERMI2W_Z(a.scores[1], a.scores[0], a.first, low)
	VPERMI2W_Z(a.scores[3], a.scores[2], a.first, high)
	VMOVDQA64(high, upper, low)
}

// lookUp returns the scores of percentages.
func (a *mean) lookUp(percentage reg.VecVirtual) reg.VecVirtual {
	index, all, found, low, score := XMM(), XMM(), XMM(), XMM(), YMM()
	VCVTTPD2DQY(percentage, index)
	VPBROADCASTD(low7, low)
	VPAND(low, index, index) // it is anything for a bad amount
	VPCMPEQD(all, all, all)
	VPXOR(found, found, found)
	VPGATHERDD(all, Mem{Base: a.table, Index: index, Scale: 2}, found)
	VPBROADCASTD(low16, low)
	VPAND(low, found, found)
	VCVTDQ2PD(found, score)
	return score
}
