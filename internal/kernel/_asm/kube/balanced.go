package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// pair is a vector for the node with the pod and one without it.
type pair [2]reg.VecVirtual

// balance is the kernel for the balance between the resources. It keeps two
// fractions of every entry for every vector of the group, with and without the pod;
// that with the pod is NaN where the node has none of the resource.
type balance struct {
	*kernel
	fractions, end reg.Register // of all entries
	totals         []pair
	counts         []reg.VecVirtual // how many fractions there are; without mask registers integers at first
}

// balanced generates the kernel.
func balanced(m machine) {
	emit.Func("kubeBalanced", m.ISA, signature(", fractions *float64"),
		"scores by how evenly the pod makes a node's resources used.", "kubeGeneric")
	if m.Wide() {
		m = m.keeping(one, none, two, half, fifty, hundred, two52, most46, magnitude, allBits)
	}
	b := &balance{fractions: Load(Param("fractions"), GP64())}
	vectors := 1
	if m.Wide() {
		vectors = 2 // to have something to do in the latencies of one
	}
	rows(m, vectors, func(k *kernel) []reg.VecVirtual {
		b.kernel, b.end = k, GP64()
		b.totals, b.counts = make([]pair, vectors), k.zeros()
		for i := range b.totals {
			b.totals[i] = pair{m.Zero(), m.Zero()}
		}
		MOVQ(b.fractions, b.end)
		k.entries(b.kept, b.divided)
		if !m.Wide() {
			m.float(b.counts[0])
		}
		deviations := make([]pair, vectors)
		for i := range deviations {
			deviations[i] = pair{m.Zero(), m.Zero()}
			b.twoFractions(i, deviations[i])
		}
		b.standardDeviations(deviations)
		return b.scores(deviations)
	})
}

// record returns how many bytes of fractions an entry has, and of one vector.
func (b *balance) record() (entry, vector int) {
	vector = 2 * 8 * b.Lanes
	return vector * b.vectors, vector
}

// kept takes an entry with reciprocals.
func (b *balance) kept(entry, reciprocals reg.Register) {
	used, allocatable := GP64(), GP64()
	MOVQ(Mem{Base: entry, Disp: entryUsed}, used)
	MOVQ(Mem{Base: entry, Disp: entryAllocatable}, allocatable)
	for i := range b.vectors {
		u, a, r := b.amount(used, i), b.Load(b.at(allocatable, i)), b.Load(b.at(reciprocals, i))
		if b.Wide() {
			VADDPD_RU_SAE(b.filled(two52), u, u)
			VSUBPD(b.filled(two52), u, u)
		} else {
			b.ceil(u, u)
		}
		b.take(entry, i, u, a, r, b.Compare(r, lanes.NotEqual, b.filled(none)))
	}
	b.next()
}

// divided takes an entry without reciprocals.
func (b *balance) divided(entry reg.Register, used, allocatable []reg.VecVirtual) {
	for i, a := range allocatable {
		has, r := b.Compare(a, lanes.NotEqual, b.filled(none)), b.Vector()
		VDIVPD(a, b.filled(one), r)
		b.take(entry, i, used[i], a, r, has)
	}
	b.next()
}

// take keeps and adds up the fractions of an entry for one vector, given the
// reciprocals of allocatable and where the node has some.
func (b *balance) take(entry reg.Register, i int, used, allocatable, reciprocals reg.VecVirtual, has reg.Register) {
	requested := b.Vector()
	b.Add(Mem{Base: entry, Disp: entryLane}, used, requested)
	if b.Wide() {
		b.addWhere(has, b.filled(one), b.counts[i])
	} else {
		VPSUBQ(has, b.counts[i], b.counts[i]) // has is -1 in its lanes
	}
	_, size := b.record()
	parts := pair{requested, used}
	for _, j := range []int{1, 0} {
		f := b.divide(parts[j], allocatable, reciprocals)
		VMINPD(b.filled(one), f, f)
		b.addWhere(has, f, b.totals[i][j])
		if j == 0 {
			b.spoilOthers(has, f)
		}
		VMOVUPD(f, Mem{Base: b.end, Disp: size*i + 8*b.Lanes*j})
	}
}

func (b *balance) next() {
	size, _ := b.record()
	ADDQ(U32(size), b.end)
}

// spoilOthers makes the lanes of v NaN that are not in a set, which is lost.
func (m machine) spoilOthers(set reg.Register, v reg.VecVirtual) {
	if m.Wide() {
		others := K()
		KNOTB(set, others)
		VMOVAPD(m.filled(allBits), others, v)
		return
	}
	VPCMPEQQ(m.filled(none), set, set)
	VORPD(set, v, v)
}

// divide returns x/y, given the rounded 1/y: the IEEE quotient for x and y that
// are 0 or of moderate magnitude; docs/proofs.md has the proof. With 0 for 1/0 it
// returns 0, and NaN with +Inf.
func (m machine) divide(x, y, reciprocal reg.VecVirtual) reg.VecVirtual {
	q, r := m.Vector(), m.Vector()
	VMULPD(reciprocal, x, q)
	VMOVAPD(x, r)
	VFNMADD231PD(y, q, r)
	VFMADD231PD(reciprocal, r, q)
	return q
}

// eachEntry emits body for every entry: f returns the two fractions for a vector,
// and the lanes in which they are numbers.
func (b *balance) eachEntry(name string, body func(f func(i int) (pair, reg.Register))) {
	at := GP64()
	size, vector := b.record()
	MOVQ(b.fractions, at)
	JMP(LabelRef(name + "_entered"))
	Label(name + "_entry")
	body(func(i int) (pair, reg.Register) {
		f := pair{b.Vector(), b.Vector()}
		for j, v := range f {
			VMOVUPD(Mem{Base: at, Disp: vector*i + 8*b.Lanes*j}, v)
		}
		return f, b.Compare(f[0], lanes.Ordered, f[0])
	})
	ADDQ(U32(size), at)
	Label(name + "_entered")
	CMPQ(at, b.end)
	JLT(LabelRef(name + "_entry"))
}

// twoFractions sets the deviations of the lanes of a vector that have exactly two
// fractions.
func (b *balance) twoFractions(i int, deviations pair) {
	two := b.Compare(b.counts[i], lanes.Equal, b.filled(two))
	name := fmt.Sprint("pair", i)
	b.skipWithout(two, name+"_done")
	differences := pair{b.Zero(), b.Zero()}
	b.eachEntry(name, func(f func(int) (pair, reg.Register)) {
		fractions, numbers := f(i)
		for j, d := range differences {
			VSUBPD(d, fractions[j], fractions[j]) // in the end, the second less the first
			b.Choose(numbers, fractions[j], d)
		}
	})
	for j, d := range differences {
		VMULPD(b.filled(half), d, d)
		VANDPD(b.filled(magnitude), d, d)
		b.Choose(two, d, deviations[j])
	}
	Label(name + "_done")
}

// standardDeviations sets the deviations of the lanes that have three fractions
// or more.
func (b *balance) standardDeviations(deviations []pair) {
	several := make([]reg.Register, b.vectors)
	for i, n := range b.counts {
		several[i] = b.Compare(n, lanes.Greater, b.filled(two))
	}
	any := several[0]
	for _, set := range several[1:] {
		any = b.Copy(any)
		b.Join(any, set)
	}
	b.skipWithout(any, "measured")
	reciprocals, means, squares := make([]reg.VecVirtual, b.vectors), make([]pair, b.vectors), make([]pair, b.vectors)
	for i, n := range b.counts {
		reciprocals[i] = b.Vector()
		VDIVPD(n, b.filled(one), reciprocals[i])
		for j, total := range b.totals[i] {
			means[i][j], squares[i][j] = b.divide(total, n, reciprocals[i]), b.Zero()
		}
	}
	b.eachEntry("square", func(f func(int) (pair, reg.Register)) {
		for i := range means {
			fractions, numbers := f(i)
			for j, x := range fractions {
				VSUBPD(means[i][j], x, x)
				VMULPD(x, x, x)
				b.addWhere(numbers, x, squares[i][j])
			}
		}
	})
	for i, n := range b.counts {
		for j, s := range squares[i] {
			deviation := b.divide(s, n, reciprocals[i])
			VSQRTPD(deviation, deviation)
			b.Choose(several[i], deviation, deviations[i][j])
		}
	}
	Label("measured")
}

// scores returns 50 + trunc((50 + with - without) / 2) of the points for the
// deviations with the pod and without it.
func (b *balance) scores(deviations []pair) []reg.VecVirtual {
	var list []reg.VecVirtual
	for _, d := range deviations {
		score := b.points(d[0])
		VSUBPD(b.points(d[1]), score, score)
		VADDPD(b.filled(fifty), score, score)
		VMULPD(b.filled(half), score, score)
		b.truncate(score, score)
		VADDPD(b.filled(fifty), score, score)
		list = append(list, score)
	}
	return list
}

// points returns trunc((1 - deviation) * 100).
func (m machine) points(deviation reg.VecVirtual) reg.VecVirtual {
	p := m.Vector()
	VSUBPD(deviation, m.filled(one), p)
	VMULPD(m.filled(hundred), p, p)
	m.truncate(p, p)
	return p
}
