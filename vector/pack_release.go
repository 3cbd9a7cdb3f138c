package vector

import (
	"fmt"
	"math"
	"slices"
)

// ReleaseError reports an amount that cannot be released or taken, by a victim of
// [Packer.Filter] or on a [Proof]. It wraps [ErrShape] when there is no such row,
// and [ErrNotRepresentable] when the amount is one that no row could release.
type ReleaseError struct {
	Victim   int     // index of the victim; -1 on a Proof
	Row      int     // the row
	Column   int     // index of the column; -1 when there is no such row
	Resource string  // name of the column; empty without a schema
	Amount   float64 // the amount refused
	There    float64 // what is there, when Amount is more than that

	rows  int
	fault releaseFault
}

type releaseFault uint8

const (
	faultRow releaseFault = iota
	faultNumber
	faultNegative
	faultWhole
	faultMore
)

// Error names the victim, the row, the resource and the amount.
func (e *ReleaseError) Error() string {
	where := "vector: "
	if e.Victim >= 0 {
		where += fmt.Sprintf("victim %d: ", e.Victim)
	}
	if e.fault == faultRow {
		return fmt.Sprintf("%sno row %d among %d", where, e.Row, e.rows)
	}
	resource := e.Resource
	if resource == "" {
		resource = fmt.Sprintf("column %d", e.Column)
	}
	where += fmt.Sprintf("row %d: %s: amount %v ", e.Row, resource, e.Amount)
	switch e.fault {
	case faultNegative:
		return where + "is negative"
	case faultWhole:
		return where + "is not a whole number of the column's unit"
	case faultMore:
		return where + fmt.Sprintf("is more than the %v there", e.There)
	}
	return where + "is not a finite number"
}

// Unwrap returns [ErrShape], [ErrNotRepresentable] or nil.
func (e *ReleaseError) Unwrap() error {
	switch e.fault {
	case faultRow:
		return ErrShape
	case faultMore:
		return nil
	}
	return ErrNotRepresentable
}

const infinityBits = 0x7FF << 52

// releasable reports whether amounts can be released on a row of m, whatever is
// there.
func releasable(m *Matrix, row int, amounts ResourceVector) bool {
	most := uint64(0) // bits of positive numbers compare as they do; infinity, NaN and a sign are more
	for _, x := range amounts {
		most = max(most, math.Float64bits(x))
	}
	if most >= infinityBits {
		for _, x := range amounts {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return false
			}
		}
	}
	for _, j := range m.integral {
		if int(j) < len(amounts) && !whole(amounts[j]) {
			return false
		}
	}
	return uint(row) < uint(m.rows)
}

// whole reports whether an integral column takes x, which is not negative.
func whole(x float64) bool { return x < 1<<53 && x == math.Trunc(x) }

// releaseError returns what is wrong with amounts that are not releasable.
func releaseError(m *Matrix, victim, row int, amounts ResourceVector) *ReleaseError {
	e := &ReleaseError{Victim: victim, Row: row, Column: -1, rows: m.rows}
	if uint(row) >= uint(m.rows) {
		return e
	}
	for j, x := range amounts {
		switch {
		case !(math.Abs(x) <= math.MaxFloat64):
			e.fault = faultNumber
		case x < 0:
			e.fault = faultNegative
		case slices.Contains(m.integral, int32(j)) && !whole(x):
			e.fault = faultWhole
		default:
			continue
		}
		return e.in(m, j, x)
	}
	return e
}

// in sets the column and the amount.
func (e *ReleaseError) in(m *Matrix, j int, x float64) *ReleaseError {
	e.Column, e.Amount = j, x
	if columns := m.schema.Columns(); columns != nil {
		e.Resource = columns[j].Name
	}
	return e
}
