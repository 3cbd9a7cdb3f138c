package quota

import (
	"errors"
	"fmt"
)

var (
	// ErrConflict says that an id is in use for something else.
	ErrConflict = errors.New("quota: id is in use with other content")

	// ErrReserved says that a job is reserved in that queue with another min, which
	// [Ledger.Resize] changes. It is an ErrConflict, too.
	ErrReserved = fmt.Errorf("%w: reserved with another min", ErrConflict)

	// ErrUnknownDimension says that a map has no dimension for a card or an output.
	ErrUnknownDimension = errors.New("quota: no dimension")

	// ErrOverflow says that a sum would reach 2^53.
	ErrOverflow = errors.New("quota: sum too large")

	// ErrBadAmount says that an amount is negative, no whole number, too large,
	// or not a multiple of its unit.
	ErrBadAmount = errors.New("quota: bad amount")

	// ErrBadName says that a name is empty, or no valid UTF-8 and couldn't be written down.
	ErrBadName = errors.New("quota: name is empty or not UTF-8")

	// ErrFormat says that a snapshot is of another format.
	ErrFormat = errors.New("quota: unknown snapshot format")

	// ErrConfig says that a snapshot was taken under another configuration.
	ErrConfig = errors.New("quota: snapshot of another configuration")

	// ErrSnapshot says that the content of a snapshot contradicts itself.
	ErrSnapshot = errors.New("quota: broken snapshot")
)
