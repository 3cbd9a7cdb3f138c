package gang

import "github.com/resvec/resvec/vector"

// reprieve is what is known of the victims, to take them back one by one. It notes
// nothing unless that is asked for.
type reprieve struct {
	on      bool
	victims []noted
	amounts []float64 // per victim: its row before it went, then what it releases
	first   []int32   // per row: the first of those that go from there, -1 for none
	kept    []int32   // the victims that go
	row     vector.ResourceVector
}

// noted is a victim, and the next that goes from its row or -1.
type noted struct{ row, next int32 }

// start makes v know of no victim.
func (v *reprieve) start(on bool, rows int) {
	v.on, v.victims, v.amounts, v.kept = on, v.victims[:0], v.amounts[:0], v.kept[:0]
	if !on {
		return
	}
	v.first = resized(v.first, rows)
	for r := range v.first {
		v.first[r] = -1
	}
}

// note notes the next victim. It keeps the row as it was before, because taking fractions
// away again does not give back the old bits.
func (v *reprieve) note(free *vector.Matrix, row int, amounts vector.ResourceVector) {
	if !v.on {
		return
	}
	v.victims = append(v.victims, noted{int32(row), -1})
	v.row = free.Row(v.row, row)
	v.amounts = append(v.amounts, v.row...)
	for j := range v.row {
		v.amounts = append(v.amounts, amounts.Get(j))
	}
}

// rowOf returns the row of victim i when all victims before it are gone, and next and
// those that go from the row after that. It adds in the order of the victims, so that
// the bits are the ones of a row from which only these went.
func (v *reprieve) rowOf(i int, next int32) vector.ResourceVector {
	n := len(v.row)
	v.row = append(v.row[:0], v.amounts[2*i*n:][:n]...)
	for ; next >= 0; next = v.victims[next].next {
		v.row.Add(v.released(int(next)))
	}
	return v.row
}

// released returns what victim i releases.
func (v *reprieve) released(i int) vector.ResourceVector {
	n := len(v.row)
	return v.amounts[(2*i+1)*n:][:n]
}

// keep says that victim i goes. It is before all others of which that is known, so the list
// of its row ascends.
func (v *reprieve) keep(i int) {
	row := v.victims[i].row
	v.victims[i].next, v.first[row] = v.first[row], int32(i)
	v.kept = append(v.kept, int32(i))
}
