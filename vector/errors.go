package vector

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/resvec/resvec/internal/decimal"
)

// Errors for errors.Is. Only other packages return ErrSchema and ErrShape.
var (
	ErrSchema           = errors.New("vector: schemas differ")            // of two operands
	ErrShape            = errors.New("vector: shapes differ")             // an operand is too short or too long
	ErrNotRepresentable = errors.New("amount is not representable")       // NaN, infinite, too large, or not whole in the column's unit
	ErrNegative         = fmt.Errorf("negative: %w", ErrNotRepresentable) // an amount below 0
)

// AmountError reports an amount that is refused. Several come joined.
type AmountError struct {
	Resource string // by name; "column 3" where no schema names it
	Row      int    // of the matrix; -1 where there is none
	Amount   string // as it was written
	Reason   string // what is wrong with it, and what would be right
	Cause    error  // such as [ErrNotRepresentable], for errors.Is; nil where it is just too much
}

// Error names the row, the resource, the amount, and what would be right.
func (e *AmountError) Error() string {
	text := e.Resource + ": amount " + e.Amount + " " + e.Reason
	if e.Row >= 0 {
		text = "row " + strconv.Itoa(e.Row) + ": " + text
	}
	return text
}

// Unwrap returns Cause.
func (e *AmountError) Unwrap() error {
	return e.Cause
}

// The reasons why a matrix refuses an amount.
const (
	reasonFinite   = "is not a finite number"
	reasonWhole    = "is not a whole number of the column's unit"
	reasonLarge    = "is too large: want less than 2^53 of the column's unit"
	reasonSum      = "makes the row's amount too large: want less than 2^53 of the column's unit"
	reasonOverflow = "makes the row's amount infinite"
	reasonNegative = "is negative: want 0 or more"
	reasonTotal    = "is nothing that a node can have: want a number, or +Inf for unlimited"
)

// refusal reports amount x of column j, for row i.
func (m *Matrix) refusal(i, j int, x float64, reason string) *AmountError {
	e := &AmountError{
		Resource: fmt.Sprint("column ", j), Row: i, Amount: decimal.Format(x), Reason: reason, Cause: ErrNotRepresentable,
	}
	// Only an error asks for names, so no matrix keeps them.
	if columns := m.schema.Columns(); columns != nil {
		e.Resource = columns[j].Name
	}
	if reason == reasonNegative {
		e.Cause = ErrNegative
	}
	return e
}
