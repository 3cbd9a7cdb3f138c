package vector

import (
	"errors"
	"fmt"
)

var (
	// ErrSchema says that two operands are indexed by different schemas. This
	// package panics on such a call; packages whose operands come from
	// configuration check first and return it.
	ErrSchema = errors.New("vector: schemas differ")

	// ErrShape says that an operand is too short, too long, or has another
	// number of rows. It is used like [ErrSchema].
	ErrShape = errors.New("vector: shapes differ")

	// ErrNotRepresentable says that an amount has no exact place in its
	// column: it is NaN, infinite, too large or not a whole number of the
	// column's unit. It is wrapped by errors that name the resource and the
	// amount, such as [*AmountError].
	ErrNotRepresentable = errors.New("amount is not representable")
)

// AmountError reports an amount that an integral column cannot take. It wraps
// [ErrNotRepresentable]. It is not vectormap's type of this name, which reports
// an amount that cannot be converted.
type AmountError struct {
	Resource string  // name of the column in the matrix's schema
	Column   int     // index of the column
	Amount   float64 // the amount refused, in the column's unit
}

// Error names the resource and the amount.
func (e *AmountError) Error() string {
	return fmt.Sprintf("vector: %s: amount %v is not a whole number of the column's unit", e.Resource, e.Amount)
}

// Unwrap returns [ErrNotRepresentable].
func (e *AmountError) Unwrap() error { return ErrNotRepresentable }
