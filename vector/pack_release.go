package vector

import (
	"fmt"
	"math"
	"slices"
)

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
func whole(x float64) bool { return exact(x) && x == math.Trunc(x) }

// releaseError returns what is wrong with amounts that are not releasable.
func releaseError(m *Matrix, row int, amounts ResourceVector) error {
	if uint(row) >= uint(m.rows) {
		return fmt.Errorf("no row %d among %d: %w", row, m.rows, ErrShape)
	}
	for j, x := range amounts {
		integral := slices.Contains(m.integral, int32(j))
		switch {
		case !(math.Abs(x) <= math.MaxFloat64):
			return m.refusal(row, j, x, reasonFinite)
		case x < 0:
			return m.refusal(row, j, x, reasonNegative)
		case integral && x != math.Trunc(x):
			return m.refusal(row, j, x, reasonWhole)
		case integral && !exact(x):
			return m.refusal(row, j, x, reasonLarge)
		}
	}
	return nil
}
