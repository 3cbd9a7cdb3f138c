// Command ratio generates the ratio kernels of package kernel: sums, maxima and
// minima over quotients or products of columns.
//
// Every function works on 8 vectors of rows at a time, which it keeps in
// registers while it walks the columns, and ends with single vectors whose last
// store is masked. Columns are read in whole vectors, which stay inside a block
// of 64 rows.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/emit"
)

const unroll = 8

// machine is an instruction set as the passes below see it.
type machine struct {
	emit.ISA
	lanes  int // float64 per vector
	vector func() reg.VecVirtual
}

var machines = []machine{
	{emit.AVX2, 4, YMM},
	{emit.AVX512, 8, ZMM},
}

func main() {
	emit.File()
	for _, m := range machines {
		for _, f := range folds {
			shared(m, f, tame)
			shared(m, f, divide)
		}
		shared(m, sum, multiply)
		rows(m, sum)
		rows(m, greatest)
	}
	Generate()
}

// broadcast returns a vector with the number at from in every lane.
func (m machine) broadcast(from Mem) reg.VecVirtual {
	v := m.vector()
	VBROADCASTSD(from, v)
	return v
}

func (m machine) zero() reg.VecVirtual {
	v := m.vector()
	VXORPD(v, v, v)
	return v
}

// number returns the address of the constant bits, shared by its users.
func number(name string, bits uint64) Mem { return ConstData(name, U64(bits)) }

var (
	infinity    = number("infinity", 0x7FF0000000000000)
	maxInt64    = number("max_int64", 0x7FFFFFFFFFFFFFFF)
	two52       = number("two52", 0x4330000000000000)
	two32       = number("two32", 0x41F0000000000000)
	twoMinus32  = number("two_minus32", 0x3DF0000000000000)
	two63       = number("two63", 0x43E0000000000000)
	laneMasks   = slidingMask()
	laneMaskMid = 4 // the entry of laneMasks where the zeros start
)

// slidingMask returns four words of ones before four of zeros: a load that ends
// among the zeros is the mask of the first lanes.
func slidingMask() Mem {
	m := GLOBL("lane_masks", 8 /* RODATA */ |16 /* NOPTR */)
	for i := range 8 {
		ones := U64(0)
		if i < 4 {
			ones = ^ones
		}
		DATA(8*i, ones)
	}
	return m
}
