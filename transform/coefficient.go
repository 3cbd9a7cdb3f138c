package transform

import (
	"slices"

	"github.com/resvec/resvec/vector"
)

// Dims returns the lengths of the output and of the input map.
func (l *Linear) Dims() (outputs, inputs int) {
	return l.out.Len(), l.in.Len()
}

// Coefficient returns how much of an index of the output map one unit of an index of the
// input map makes, by all rules together, rounded, plus 1 where the input is kept as the
// output. With a nil src, rules with a multiplier count nothing; otherwise multipliers
// have their amounts in src, which may be shorter than the input map. If
// [Linear.IsLinear], the sum of coefficients times the amounts of a request without
// negative ones is what Apply returns, up to that rounding. An index out of range and a
// src longer than the input map panic.
//
// Package transform/transformmat shows the coefficients to gonum as a matrix.
func (l *Linear) Coefficient(src vector.ResourceVector, output, input int) float64 {
	if output < 0 || output >= l.out.Len() || input < 0 || input >= l.in.Len() {
		panic(panicIndex)
	}
	if len(src) > l.in.Len() {
		panic(panicColumns)
	}
	c, x := &l.columns[output], 0.0
	if k, ok := slices.BinarySearchFunc(c.terms, input, func(t addend, i int) int { return t.input - i }); ok {
		if t := &c.terms[k]; t.multiplier < 0 {
			x = t.factor / c.over
		} else if src != nil {
			x = t.times(src) * t.factor / c.over
		}
	}
	if c.kept == input {
		x++
	}
	return x
}
