package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fold is how the quotients of a row become its result.
type fold struct {
	name, twin, what string
	element          string // type of dst

	from     *Mem // where the accumulators start; nil is +0
	clean    bool // a NaN counts as 0
	keepsNaN bool // a NaN makes the result one
	add      func(q, acc reg.VecVirtual)
	result   func(m machine, acc reg.VecVirtual) reg.VecVirtual
}

var (
	sum = fold{
		name: "normalizedSum", twin: "normalizedSum", what: "the sum of", element: "float64",
		keepsNaN: true,
		add:      func(q, acc reg.VecVirtual) { VADDPD(q, acc, acc) },
		result:   unchanged,
	}
	weighted = fold{
		name: "weightedSum", twin: "weightedSum", what: "the sum of", element: "float64",
		add:    sum.add,
		result: unchanged,
	}
	// A maximum or minimum instruction returns its second source, which Go
	// writes first, when the two are equal or one is a NaN: the accumulator, as
	// the twin's comparison does.
	greatest = fold{
		name: "dominantShare", twin: "dominantShare", what: "the greatest of 0 and", element: "float64",
		add:    func(q, acc reg.VecVirtual) { VMAXPD(acc, q, acc) },
		result: unchanged,
	}
	least = fold{
		name: "copies", twin: "copies", what: "the least floor of", element: "int64",
		from:   &infinity,
		clean:  true,
		add:    func(q, acc reg.VecVirtual) { VMINPD(acc, q, acc) },
		result: machine.integer,
	}
)

func unchanged(_ machine, acc reg.VecVirtual) reg.VecVirtual { return acc }

// begin returns accumulators in their first state.
func (f fold) begin(m machine, n int) []reg.VecVirtual {
	acc := make([]reg.VecVirtual, n)
	for i := range acc {
		if f.from == nil {
			acc[i] = m.zero()
		} else {
			acc[i] = m.broadcast(*f.from)
		}
	}
	return acc
}

// scaling is what happens to an element of a column before it is folded.
type scaling struct {
	suffix, what, parameter string
	size                    uint64 // bytes per column at the parameter
	finite                  bool   // never makes a NaN

	// load fetches the numbers of a column and returns the code for a vector.
	load func(m machine, from reg.Register) func(x Mem) reg.VecVirtual
}

var (
	byWeight = scaling{
		what: "data*weights", parameter: "weights *float64", size: 8,
		load: func(m machine, from reg.Register) func(x Mem) reg.VecVirtual {
			w := m.broadcast(Mem{Base: from})
			return func(x Mem) reg.VecVirtual {
				product := m.vector()
				VMULPD(x, w, product)
				return product
			}
		},
	}
	byDivision = scaling{
		what: "data/total", parameter: "total *float64", size: 8,
		load: func(m machine, from reg.Register) func(x Mem) reg.VecVirtual {
			total := m.broadcast(Mem{Base: from})
			return func(x Mem) reg.VecVirtual {
				q := m.vector()
				VMOVUPD(x, q)
				VDIVPD(total, q, q)
				return q
			}
		},
	}
	// byReciprocal is exact for tame numbers; docs/proofs.md has the proof.
	byReciprocal = scaling{
		suffix: "Tame", what: "data/total, for tame numbers", parameter: "total *[2]float64", size: 16, finite: true,
		load: func(m machine, from reg.Register) func(x Mem) reg.VecVirtual {
			total := m.broadcast(Mem{Base: from})
			reciprocal := m.broadcast(Mem{Base: from, Disp: 8})
			return func(x Mem) reg.VecVirtual {
				r, q := m.vector(), m.vector()
				VMOVUPD(x, r)
				VMULPD(reciprocal, r, q)
				VFNMADD231PD(total, q, r)     // r = x - total*q
				VFMADD231PD(reciprocal, r, q) // q + r*reciprocal, the IEEE quotient
				return q
			}
		},
	}
)
