package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// pair is a vector for the node with the pod and one without it.
type pair [2]reg.VecVirtual

// balanced generates the kernel of the balance between the resources. It keeps
// two fractions of every entry, with and without the pod; they are NaN where
// the node has none of the resource.
func balanced(m machine) {
	emit.Func("kubeBalanced", m.ISA, signature(", fractions *float64"),
		"scores by how evenly the pod makes a node's resources used.", "kubeGeneric")
	m = m.keeping(one, none, two, half, fifty, hundred, most46, magnitude)
	fractions := Load(Param("fractions"), GP64())
	rows(m, 1, func(k *kernel) []reg.VecVirtual {
		totals, n, end := pair{m.Zero(), m.Zero()}, m.Zero(), GP64()
		MOVQ(fractions, end)
		k.columns(func(entry reg.Register, u, a []reg.VecVirtual) {
			used, allocatable := u[0], a[0]
			requested := m.Vector()
			k.Add(Mem{Base: entry, Disp: entryLane}, used, requested)
			has := m.Compare(allocatable, lanes.NotEqual, m.filled(none))
			m.addWhere(has, m.filled(one), n)
			reciprocal := m.Vector()
			VDIVPD(allocatable, m.filled(one), reciprocal)
			for i, part := range (pair{requested, used}) {
				f := m.divide(part, allocatable, reciprocal)
				VMINPD(f, m.filled(one), f) // a NaN stays
				VMOVUPD(f, Mem{Base: end, Disp: 8 * m.Lanes * i})
				m.addWhere(has, f, totals[i])
			}
			ADDQ(U8(16*m.Lanes), end)
		})

		deviations := pair{m.Zero(), m.Zero()}
		k.twoFractions(fractions, end, n, deviations)
		k.standardDeviations(fractions, end, n, totals, deviations)
		// 50 + trunc((50 + with - without) / 2)
		score := m.points(deviations[0])
		VSUBPD(m.points(deviations[1]), score, score)
		VADDPD(m.filled(fifty), score, score)
		VMULPD(m.filled(half), score, score)
		m.truncate(score, score)
		VADDPD(m.filled(fifty), score, score)
		return []reg.VecVirtual{score}
	})
}

// divide returns x/y, given the rounded 1/y: the IEEE quotient for x and y that
// are 0 or of moderate magnitude, and NaN for y = 0; docs/proofs.md has the
// proof.
func (m machine) divide(x, y, reciprocal reg.VecVirtual) reg.VecVirtual {
	q, r := m.Vector(), m.Vector()
	VMULPD(reciprocal, x, q)
	VMOVAPD(x, r)
	VFNMADD231PD(y, q, r)
	VFMADD231PD(reciprocal, r, q)
	return q
}

// eachPair emits body for the two fractions of every entry, and the lanes in
// which they are numbers.
func (k *kernel) eachPair(name string, fractions, end reg.Register, body func(f pair, numbers reg.Register)) {
	at := GP64()
	MOVQ(fractions, at)
	JMP(LabelRef(name + "_entered"))
	Label(name + "_entry")
	f := pair{k.Vector(), k.Vector()}
	for i, v := range f {
		VMOVUPD(Mem{Base: at, Disp: 8 * k.Lanes * i}, v)
	}
	body(f, k.Compare(f[0], lanes.Ordered, f[0]))
	ADDQ(U8(16*k.Lanes), at)
	Label(name + "_entered")
	CMPQ(at, end)
	JLT(LabelRef(name + "_entry"))
}

// twoFractions sets the deviations of the lanes that have exactly two fractions.
func (k *kernel) twoFractions(fractions, end reg.Register, n reg.VecVirtual, deviations pair) {
	two := k.Compare(n, lanes.Equal, k.filled(two))
	k.skipWithout(two, "paired")
	differences := pair{k.Zero(), k.Zero()}
	k.eachPair("pair", fractions, end, func(f pair, numbers reg.Register) {
		for i, d := range differences {
			VSUBPD(d, f[i], f[i]) // in the end, the second less the first
			k.Choose(numbers, f[i], d)
		}
	})
	for i, d := range differences {
		VMULPD(k.filled(half), d, d)
		VANDPD(k.filled(magnitude), d, d)
		k.Choose(two, d, deviations[i])
	}
	Label("paired")
}

// standardDeviations sets the deviations of the lanes that have three fractions
// or more.
func (k *kernel) standardDeviations(fractions, end reg.Register, n reg.VecVirtual, totals, deviations pair) {
	several := k.Compare(n, lanes.Greater, k.filled(two))
	k.skipWithout(several, "measured")
	reciprocal := k.Vector()
	VDIVPD(n, k.filled(one), reciprocal)
	var means pair
	for i, total := range totals {
		means[i] = k.divide(total, n, reciprocal)
	}
	squares := pair{k.Zero(), k.Zero()}
	k.eachPair("square", fractions, end, func(f pair, numbers reg.Register) {
		for i, mean := range means {
			VSUBPD(mean, f[i], f[i])
			VMULPD(f[i], f[i], f[i])
			k.addWhere(numbers, f[i], squares[i])
		}
	})
	for i, s := range squares {
		deviation := k.divide(s, n, reciprocal)
		VSQRTPD(deviation, deviation)
		k.Choose(several, deviation, deviations[i])
	}
	Label("measured")
}

// points returns trunc((1 - deviation) * 100).
func (m machine) points(deviation reg.VecVirtual) reg.VecVirtual {
	p := m.Vector()
	VSUBPD(deviation, m.filled(one), p)
	VMULPD(m.filled(hundred), p, p)
	m.truncate(p, p)
	return p
}
