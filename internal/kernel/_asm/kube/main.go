// Command kube generates the kernels of package kernel for the scores of
// kube-scheduler's resource plugins.
//
// Every function goes through the groups of two vectors of rows that have a
// selected row, and for each through the resources. It computes in float64, which
// is exact for whole amounts up to 2^46, and reports the rows with other amounts,
// whose scores are then of no use. Where a resource has reciprocals, nothing is
// divided; docs/proofs.md says why that is exact.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

func main() {
	emit.File()
	for _, m := range lanes.Machines {
		linear(machine{Machine: m}, least)
		linear(machine{Machine: m}, most)
		linear(machine{Machine: m}, ratio)
		balanced(machine{Machine: m})
	}
	emit.Generate()
}

// Offsets in the struct KubeEntry of package kernel.
const (
	entryUsed        = 0
	entryAllocatable = 24
	entryReciprocals = 48
	entryWeight      = 80
	entryScale       = 88
	entryLane        = 96
	entryLane100     = 104
	entryLane52      = 112
	entryWhole       = 120
	entrySize        = 128
)

// signature returns the signature of a function with another parameter or none.
func signature(other string) string {
	return "func(dst *uint64, whole int, slow *uint64, n int, lo int, list *byte, count int, rows *uint64, step int" + other + ")"
}

// kernel is the function that is being generated. It works on a group of vectors
// of rows at a time.
type kernel struct {
	machine
	vectors int
	rows    lanes.Rows
	bad     []reg.VecVirtual // see beyond
}

// rows emits the loop over the groups of rows. score emits the code for one of
// them and returns the scores.
func rows(m machine, vectors int, score func(k *kernel) []reg.VecVirtual) {
	dst := lanes.Base("dst")
	lanes.EachRows(m.Machine, vectors, func(r lanes.Rows, bits reg.GPVirtual) {
		k := &kernel{machine: m, vectors: vectors, rows: r}
		k.bad = k.zeros()
		scores := score(k)
		whole := Load(Param("whole"), GP64())
		TESTQ(whole, whole)
		JEQ(LabelRef("store"))
		for _, v := range scores {
			m.integer(v)
		}
		Label("store")
		for i, v := range scores {
			m.StoreIn(m.SetAt(bits, i), v, k.at(dst, i))
		}
		k.report(bits)
	})
	emit.Return()
}

// at returns the place of a vector of the group in a column.
func (k *kernel) at(base reg.Register, i int) Mem { return k.Next(k.rows.At(base), i) }

// zeros returns a vector of +0 for every vector of the group.
func (k *kernel) zeros() []reg.VecVirtual {
	list := make([]reg.VecVirtual, k.vectors)
	for i := range list {
		list[i] = k.Zero()
	}
	return list
}

// report sets the bits of the selected rows that the function can't score.
func (k *kernel) report(bits reg.GPVirtual) {
	all := GP64()
	for i, v := range k.bad {
		bad := k.beyond(v)
		if i == 0 {
			all = bad
			continue
		}
		SHLQ(U8(i*k.Lanes), bad)
		ORQ(bad, all)
	}
	ANDQ(bits, all)
	JZ(LabelRef("scored"))
	row, slow := k.rows.Number(), Load(Param("slow"), GP64())
	SUBQ(Load(Param("lo"), GP64()), row)
	MOVQ(row, reg.RCX)
	SHLQ(reg.CL, all)
	SHRQ(U8(6), row)
	ORQ(all, Mem{Base: slow, Index: row, Scale: 8})
	Label("scored")
}

// entries emits, for every entry, kept where it has reciprocals, the column of which
// begins where it is told, and divided where it has none, with what is used and
// allocatable in whole units of Kubernetes.
func (k *kernel) entries(kept func(entry, reciprocals reg.Register), divided func(entry reg.Register, used, allocatable []reg.VecVirtual)) {
	lanes.EachItem(entrySize, func(entry reg.Register) {
		reciprocals := GP64()
		MOVQ(Mem{Base: entry, Disp: entryReciprocals}, reciprocals)
		TESTQ(reciprocals, reciprocals)
		JZ(LabelRef("divided"))
		kept(entry, reciprocals)
		JMP(LabelRef("counted"))

		Label("divided")
		used, allocatable := k.load(entry, entryUsed), k.load(entry, entryAllocatable)
		CMPL(Mem{Base: entry, Disp: entryScale + 4}, U32(0x3FF00000)) // 1, not 1000
		JEQ(LabelRef("scaled"))
		divisor := k.Broadcast(Mem{Base: entry, Disp: entryScale})
		for i := range used {
			VDIVPD(divisor, used[i], used[i])
			VDIVPD(divisor, allocatable[i], allocatable[i])
		}
		Label("scaled")
		for i := range used {
			k.ceil(used[i], used[i])
			k.ceil(allocatable[i], allocatable[i])
		}
		divided(entry, used, allocatable)
		Label("counted")
	})
}

// amount returns amounts of a column for vector i, and keeps track of the greatest;
// see beyond.
func (k *kernel) amount(column reg.Register, i int) reg.VecVirtual {
	v := k.Load(k.at(column, i))
	VPMAXUD(v, k.bad[i], k.bad[i])
	return v
}

// load returns the amounts of one column of the entry.
func (k *kernel) load(entry reg.Register, column int) []reg.VecVirtual {
	base := GP64()
	MOVQ(Mem{Base: entry, Disp: column}, base)
	list := make([]reg.VecVirtual, k.vectors)
	for i := range list {
		list[i] = k.amount(base, i)
	}
	return list
}
