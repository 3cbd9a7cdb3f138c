package gang

import (
	"fmt"
	"math"

	"github.com/resvec/resvec/internal/decimal"
	"github.com/resvec/resvec/vector"
)

// checkVictim returns what is wrong with amounts to release on a row of m, as far as
// [vector.Overlay.AddToRow] does not say it. That allows negative amounts and panics without such
// a row, which a list of victims from a cache may have.
func checkVictim(m *vector.Matrix, row int, amounts vector.ResourceVector) error {
	checkVector(m, amounts)
	if uint(row) >= uint(m.Rows()) {
		return fmt.Errorf("no row %d among %d: %w", row, m.Rows(), vector.ErrShape)
	}
	for j, x := range amounts {
		switch {
		case x >= 0 && x <= math.MaxFloat64:
		case !(math.Abs(x) <= math.MaxFloat64):
			return refusal(m, row, j, x, "is not a finite number", vector.ErrNotRepresentable)
		default:
			return refusal(m, row, j, x, "is negative: want 0 or more", vector.ErrNegative)
		}
	}
	return nil
}

// refusal reports amount x of column j, for a row of m. It names the column where the matrix
// knows its name.
func refusal(m *vector.Matrix, row, j int, x float64, reason string, cause error) error {
	e := &vector.AmountError{
		Resource: fmt.Sprint("column ", j), Row: row, Amount: decimal.Format(x), Reason: reason, Cause: cause,
	}
	if columns := m.Schema().Columns(); columns != nil {
		e.Resource = columns[j].Name
	}
	return e
}
