// Package decimal writes numbers into messages.
package decimal

import (
	"math"
	"strconv"
)

// Format writes the digits that identify x, with an exponent only where x is far
// from 1.
func Format(x float64) string {
	format := byte('g')
	if a := math.Abs(x); 1e-6 <= a && a < 1e21 {
		format = 'f'
	}
	return strconv.FormatFloat(x, format, -1, 64)
}
