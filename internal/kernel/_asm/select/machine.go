package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

// direction is which end of the order is wanted.
type direction struct {
	extreme, adjective, beyond string
	comparison, symbol         string
}

var (
	greatest = direction{"Max", "greatest", "above", "GE", ">="}
	least    = direction{"Min", "least", "below", "LE", "<="}
)

// scores is an element type.
type scores struct {
	name, element string
	float         bool
	worst         map[direction]Mem // the score that all others are better than
	worstName     map[direction]string
}

// Comparison predicates; for floats they are ordered and quiet.
const (
	floatEQ, floatLT, floatLE, floatGE, floatGT = 0x00, 0x11, 0x12, 0x1D, 0x1E
	intEQ, intLT, intLE, intGE, intGT           = 0, 1, 2, 5, 6
)

var (
	minInt64 = ConstData("min_int64", U64(1<<63))
	maxInt64 = ConstData("max_int64", U64(1<<63-1))
	negInf   = ConstData("neg_inf", U64(0xFFF0000000000000))
	posInf   = ConstData("pos_inf", U64(0x7FF0000000000000))
	one      = ConstData("one", U64(1))
	none     = maxInt64 // the block of a lane that has seen nothing

	float64s = scores{"Float64", "float64", true,
		map[direction]Mem{greatest: negInf, least: posInf}, map[direction]string{greatest: "-Inf", least: "+Inf"}}
	int64s = scores{"Int64", "int64", false,
		map[direction]Mem{greatest: minInt64, least: maxInt64}, map[direction]string{greatest: "MinInt64", least: "MaxInt64"}}
)

// machine is an instruction set with the operations of one kernel. A register
// called selected says which lanes of a vector count.
type machine interface {
	isa() emit.ISA
	vector() reg.VecVirtual
	// each calls f for every vector of the block at values, with the lanes that
	// its mask word selects. Only those are read.
	each(mask, values reg.Register, f func(x reg.VecVirtual, selected reg.Register))
	// improve replaces the lanes of best by the selected lanes of x that are
	// better; no score is worse than worst. It may change x.
	improve(best, x, worst reg.VecVirtual, selected reg.Register)
	// improveFrom replaces the lanes of best by the lanes of x that are better, and
	// the same lanes of at by lanes of number.
	improveFrom(best, at, x, number reg.VecVirtual)
	// firstOfBest fills best with its best lane, and at with the lowest number
	// among the lanes that had it.
	firstOfBest(best, at reg.VecVirtual)
	// find adds to row the place in the block of the first selected score that
	// equals x. There must be one.
	find(mask, values reg.Register, x reg.VecVirtual, row reg.Register)
	// keep stores the mask word at mask without the rows not beyond limit.
	keep(dst, mask, values reg.Register, limit reg.VecVirtual)
	// countIfAbove adds 1, which step has in every lane, to the lanes of count where
	// x is above y.
	countIfAbove(count, x reg.VecVirtual, y Mem, step reg.VecVirtual)
}

func newMachine(isa emit.ISA, s scores, d direction) machine {
	if isa == emit.AVX512 {
		return avx512{s, d}
	}
	return avx2{s, d}
}

// filled returns a vector with the number at from in every lane.
func filled(m machine, from Op) reg.VecVirtual {
	v := m.vector()
	VPBROADCASTQ(from, v)
	return v
}
