package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/resvec/resvec/internal/kernel/_asm/internal/lanes"
)

// Numbers that vectors are filled with, by their bits.
var (
	maxFloat = ConstData("max_float", U64(0x7FEFFFFFFFFFFFFF))
	// fixup, by four bits for each kind of number: quiet and signalling NaN, zero,
	// one, -Inf, +Inf, negative, positive: 3 is to become a NaN, 0 to stay.
	fixup = ConstData("fixup", U64(0x03330033))
)

// guard turns the parts of rows that score 0 into NaN, which no other part is:
// the sum is a NaN then.
type guard struct{ table, most reg.VecVirtual }

func newGuard(m lanes.Machine) guard {
	if m.Wide() {
		return guard{table: m.Broadcast(fixup)}
	}
	return guard{most: m.Broadcast(maxFloat)}
}

// poison makes y a NaN where used or room is negative, infinite or a NaN.
func (g guard) poison(m lanes.Machine, y, used, room, zero reg.VecVirtual) {
	if m.Wide() {
		VFIXUPIMMPD(U8(0), g.table, used, y)
		VFIXUPIMMPD(U8(0), g.table, room, y)
		return
	}
	for _, bad := range []reg.Register{
		m.Compare(used, lanes.NotGreaterOrEqual, zero), m.Compare(room, lanes.NotGreaterOrEqual, zero), m.Compare(room, lanes.NotLessOrEqual, g.most),
	} {
		VORPD(bad, y, y)
	}
}
